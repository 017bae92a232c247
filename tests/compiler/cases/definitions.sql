-- case: message types and contracts
CREATE MESSAGE TYPE [//a] AUTHORIZATION dbo VALIDATION = WELL_FORMED_XML;
CREATE MESSAGE TYPE [//b];
ALTER MESSAGE TYPE [//b] VALIDATION = EMPTY;
CREATE CONTRACT [//c] ([//a] SENT BY INITIATOR, [//b] SENT BY ANY);
DROP CONTRACT [//c];
DROP MESSAGE TYPE [//a];
-- expect
SELECT ssb.create_message_type('//a', validation => 'WELL_FORMED_XML', owner => 'dbo');

SELECT ssb.create_message_type('//b');

SELECT ssb.alter_message_type('//b', 'EMPTY');

SELECT ssb.create_contract('//c', message_types => ARRAY['//a', '//b']::text[], sent_by => ARRAY['INITIATOR', 'ANY']::text[]);

SELECT ssb.drop_contract('//c');

SELECT ssb.drop_message_type('//a');
-- shows


-- case: queues with all their options
CREATE QUEUE dbo.Plain;
CREATE QUEUE dbo.Rich WITH STATUS = ON, RETENTION = OFF,
    ACTIVATION (STATUS = ON, PROCEDURE_NAME = dbo.reader, MAX_QUEUE_READERS = 3, EXECUTE AS OWNER),
    POISON_MESSAGE_HANDLING (STATUS = OFF) ON [PRIMARY];
ALTER QUEUE dbo.Rich WITH ACTIVATION (DROP);
ALTER QUEUE dbo.Plain REBUILD WITH (MAXDOP = 2);
DROP QUEUE dbo.Plain;
-- expect
SELECT ssb.create_queue('dbo.plain', spelling => 'Plain');

SELECT ssb.create_queue('dbo.rich', status => true, retention => false, activation_status => true, activation_procedure => 'dbo.reader', max_queue_readers => 3, execute_as => 'OWNER', poison_message_handling => false, spelling => 'Rich');

SELECT ssb.alter_queue('dbo.rich', drop_activation => true);

SELECT ssb.maintain_queue('dbo.plain', 'REBUILD');

SELECT ssb.drop_queue('dbo.plain');
-- shows


-- case: services, routes, bindings, priorities
CREATE QUEUE dbo.q;
CREATE SERVICE [//s] ON QUEUE dbo.q ([DEFAULT]);
ALTER SERVICE [//s] (DROP CONTRACT [DEFAULT]);
CREATE ROUTE r WITH SERVICE_NAME = N'//s', ADDRESS = N'LOCAL', LIFETIME = 600;
ALTER ROUTE r WITH ADDRESS = N'TCP://far:4022';
CREATE USER u WITHOUT LOGIN;
CREATE REMOTE SERVICE BINDING b TO SERVICE N'//s' WITH USER = u, ANONYMOUS = ON;
CREATE BROKER PRIORITY p FOR CONVERSATION SET (CONTRACT_NAME = [DEFAULT], LOCAL_SERVICE_NAME = ANY, PRIORITY_LEVEL = 8);
ALTER BROKER PRIORITY p FOR CONVERSATION SET (PRIORITY_LEVEL = DEFAULT);
CREATE EVENT NOTIFICATION n ON QUEUE dbo.q FOR QUEUE_ACTIVATION TO SERVICE N'//s', N'current database';
DROP EVENT NOTIFICATION n ON QUEUE dbo.q;
DROP BROKER PRIORITY p;
DROP REMOTE SERVICE BINDING b;
DROP ROUTE r;
DROP SERVICE [//s];
-- expect
SELECT ssb.create_queue('dbo.q');

SELECT ssb.create_service('//s', queue => 'dbo.q', contracts => ARRAY['DEFAULT']::text[]);

SELECT ssb.alter_service('//s', drop_contracts => ARRAY['DEFAULT']::text[]);

SELECT ssb.create_route('r', address => 'LOCAL', service_name => '//s', lifetime => 600);

SELECT ssb.alter_route('r', address => 'TCP://far:4022');

SELECT ssb.create_principal('u', 'USER');

SELECT ssb.create_remote_service_binding('b', to_service => '//s', user_name => 'u', anonymous => true);

SELECT ssb.create_broker_priority('p', contract => 'DEFAULT', priority_level => 8);

SELECT ssb.alter_broker_priority('p', default_level => true);

SELECT ssb.create_event_notification('n', events => ARRAY['QUEUE_ACTIVATION']::text[], scope => 'QUEUE', to_service => '//s', broker_instance => 'current database', queue => 'dbo.q');

SELECT ssb.drop_event_notification('n', 'QUEUE', queue => 'dbo.q');

SELECT ssb.drop_broker_priority('p');

SELECT ssb.drop_remote_service_binding('b');

SELECT ssb.drop_route('r');

SELECT ssb.drop_service('//s');
-- shows


-- case: databases
CREATE DATABASE Trader1;
GO
ALTER DATABASE Trader1 SET ENABLE_BROKER WITH ROLLBACK IMMEDIATE;
ALTER DATABASE Trader1 SET TRUSTWORTHY ON;
USE Trader1;
CREATE QUEUE orders;
CREATE MESSAGE TYPE m;
GO
USE master;
DROP DATABASE Trader1;
-- expect
SELECT ssb.create_database('Trader1');

SELECT ssb.alter_database('Trader1', 'ENABLE_BROKER');

SELECT ssb.alter_database('Trader1', 'TRUSTWORTHY', 'ON');

SELECT ssb.use_database('Trader1');

SELECT ssb.create_queue('trader1_dbo.orders');

SELECT ssb.create_message_type('m', database => 'trader1');

SELECT ssb.use_database('master');

SELECT ssb.drop_database('Trader1');
-- shows


-- case: keys, certificates, endpoints
CREATE MASTER KEY ENCRYPTION BY PASSWORD = N'it''s secret';
CREATE CERTIFICATE c WITH SUBJECT = N'x', EXPIRY_DATE = N'20300101' ACTIVE FOR BEGIN_DIALOG = OFF;
ALTER CERTIFICATE c WITH PRIVATE KEY (ENCRYPTION BY PASSWORD = 'p');
ALTER CERTIFICATE c WITH ACTIVE FOR BEGIN_DIALOG = ON;
ALTER CERTIFICATE c REMOVE PRIVATE KEY;
BACKUP CERTIFICATE c TO FILE = 'c:\no\such\folder\c.cer' WITH PRIVATE KEY (FILE = 'c.pvk', ENCRYPTION BY PASSWORD = 'q', DECRYPTION BY PASSWORD = 'p');
CREATE CERTIFICATE f FROM FILE = '/no/such/file.cer' WITH PRIVATE KEY (FILE = 'c.pvk', DECRYPTION BY PASSWORD = 'q', ENCRYPTION BY PASSWORD = 'p');
CREATE CERTIFICATE g FROM BINARY = 0x308;
OPEN MASTER KEY DECRYPTION BY PASSWORD = 'wrong';
ALTER MASTER KEY ADD ENCRYPTION BY PASSWORD = 'second';
ALTER MASTER KEY DROP ENCRYPTION BY SERVICE MASTER KEY;
ALTER MASTER KEY FORCE REGENERATE WITH ENCRYPTION BY PASSWORD = 'third';
CLOSE MASTER KEY;
SELECT CERTPROPERTY(CERT_ID('c'), 'Subject') AS subject, DATALENGTH(CERTPRIVATEKEY(CERT_ID('c'), 'x')) AS length;
CREATE ENDPOINT e STATE = STARTED AS TCP (LISTENER_PORT = 4022) FOR SERVICE_BROKER (AUTHENTICATION = WINDOWS);
DROP ENDPOINT e;
CREATE ENDPOINT e AS TCP (LISTENER_PORT /* one */ = 4022, LISTENER_IP = ( '::1' )) FOR SERVICE_BROKER (ENCRYPTION = SUPPORTED
    ALGORITHM /* in this order */ AES RC4, MESSAGE_FORWARDING = ENABLED -- these
);
DROP ENDPOINT e;
-- expect
SELECT ssb.create_master_key(password => 'it''s secret');

SELECT ssb.create_certificate('c', subject => 'x', expiry_date => sys.convert_datetime('20300101'), active_for_begin_dialog => false);

SELECT ssb.alter_certificate('c', has_private_key_options => true, encryption => 'p');

SELECT ssb.alter_certificate('c', active_for_begin_dialog => true);

SELECT ssb.alter_certificate('c', remove_private_key => true);

SELECT ssb.backup_certificate('c', E'c:\\no\\such\\folder\\c.cer', private_key_file => 'c.pvk', decryption => 'p', encryption => 'q');

SELECT ssb.create_certificate('f', file => '/no/such/file.cer', private_key_file => 'c.pvk', decryption => 'q', encryption => 'p');

SELECT ssb.create_certificate('g', bytes => E'\\x0308'::bytea);

SELECT ssb.open_master_key(password => 'wrong');

SELECT ssb.add_master_key_encryption(password => 'second');

SELECT ssb.drop_master_key_encryption();

SELECT ssb.regenerate_master_key(password => 'third', force => true);

SELECT ssb.close_master_key();

SELECT sys.certproperty(sys.cert_id('c'), 'Subject') AS subject, sys.datalength(sys.certprivatekey(sys.cert_id('c'), 'x')) AS length;

SELECT ssb.create_endpoint('e', state => 'STARTED', listener_port => 4022, authentication => 'WINDOWS');

SELECT ssb.drop_endpoint('e');

SELECT ssb.create_endpoint('e', listener_port => 4022, listener_ip => '::1', encryption => 'SUPPORTED', algorithm => 'AES RC4', message_forwarding => true);

SELECT ssb.drop_endpoint('e');
-- shows
Msg 15246, Level 16, State 1, Line 6
Cannot dump the private key of certificate 'c' because the private key cannot be found.
Msg 15208, Level 16, State 1, Line 7
The certificate, asymmetric key, or private key file is not valid or does not exist; or you do not have permissions for it.
Msg 15297, Level 16, State 1, Line 8
The certificate, asymmetric key, or private key data is invalid.
Msg 15313, Level 16, State 1, Line 9
The key is not encrypted using the specified decryptor.
Msg 15315, Level 16, State 1, Line 13
The key 'master key' is not open. Please open the key before using it.
subject length
------- ------
x       NULL

(1 row affected)

-- case: server roles
CREATE LOGIN u WITH PASSWORD = 'x';
CREATE SERVER ROLE ops;
ALTER SERVER ROLE ops ADD MEMBER u;
ALTER SERVER ROLE [sysadmin] ADD MEMBER u;
ALTER SERVER ROLE dbcreator DROP MEMBER u;
DROP SERVER ROLE ops;
-- expect
SELECT ssb.create_principal('u', 'LOGIN');

SELECT ssb.create_principal('ops', 'ROLE');

SELECT ssb.add_member('ops', 'u');

SELECT ssb.drop_principal('ops', 'ROLE');
-- shows
Msg 15144, Level 16, State 1, Line 6
The role has members. It must be empty before it can be dropped.

-- case: permissions
CREATE USER u WITHOUT LOGIN;
CREATE ROLE readers;
ALTER ROLE readers ADD MEMBER u;
CREATE QUEUE dbo.q;
CREATE SERVICE s ON QUEUE dbo.q;
GRANT SEND ON SERVICE::s TO u;
GRANT RECEIVE ON dbo.q TO u WITH GRANT OPTION;
DENY SEND ON SERVICE::s TO public;
REVOKE SEND ON SERVICE::s FROM u;
ALTER AUTHORIZATION ON SERVICE::s TO u;
-- expect
SELECT ssb.create_principal('u', 'USER');

SELECT ssb.create_principal('readers', 'ROLE');

SELECT ssb.add_member('readers', 'u');

SELECT ssb.create_queue('dbo.q');

SELECT ssb.create_service('s', queue => 'dbo.q');

SELECT ssb.grant_permission(ARRAY['SEND']::text[], 'SERVICE', 's', ARRAY['u']::text[]);

SELECT ssb.grant_permission(ARRAY['RECEIVE']::text[], 'OBJECT', 'dbo.q', ARRAY['u']::text[], grant_option => true);

SELECT ssb.deny_permission(ARRAY['SEND']::text[], 'SERVICE', 's', ARRAY['public']::text[]);

SELECT ssb.revoke_permission(ARRAY['SEND']::text[], 'SERVICE', 's', ARRAY['u']::text[]);

SELECT ssb.alter_authorization('SERVICE', 's', 'u');
-- shows


-- case: definitions inside control flow
IF NOT EXISTS (SELECT * FROM sys.service_queues WHERE name = N'q')
    CREATE QUEUE dbo.q;
IF EXISTS (SELECT * FROM sys.service_queues WHERE name = N'q')
    DROP QUEUE dbo.q;
-- expect
DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    detail text;
    hint text;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        condition boolean;
    BEGIN
        condition := NULL;
        BEGIN
            condition := coalesce(NOT EXISTS (SELECT * FROM sys.service_queues WHERE lower(name) = 'q'), false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF condition THEN
            BEGIN
                PERFORM ssb.create_queue('dbo.q');
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
                session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM, detail, 'CREATE', hint);
                EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END IF;
        condition := NULL;
        BEGIN
            condition := coalesce(EXISTS (SELECT * FROM sys.service_queues WHERE lower(name) = 'q'), false);
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        IF condition THEN
            BEGIN
                PERFORM ssb.drop_queue('dbo.q');
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
                session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM, detail, 'DROP', hint);
                EXIT batch WHEN session.leaving;
            END;
            IF session.autocommit THEN COMMIT; PERFORM ssb_internal.pin_search_path(); END IF;
        END IF;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows


-- case: an error of one definition does not keep the next from running
CREATE QUEUE dbo.q;
CREATE QUEUE dbo.q;
CREATE QUEUE dbo.r;
-- expect
SELECT ssb.create_queue('dbo.q');

SELECT ssb.create_queue('dbo.q');

SELECT ssb.create_queue('dbo.r');
-- shows
Msg 2714, Level 16, State 6, Line 2
There is already an object named 'q' in the database.

-- case: an endpoint changes its owner, and a role's name may hold words
CREATE LOGIN Ann WITH PASSWORD = 'x';
CREATE ENDPOINT e STATE = STARTED AS TCP (LISTENER_PORT = 4022) FOR SERVICE_BROKER (AUTHENTICATION = WINDOWS);
ALTER ENDPOINT e AUTHORIZATION Ann STATE = STOPPED;
GO
SELECT e.state_desc, p.name AS owner FROM sys.endpoints AS e JOIN sys.server_principals AS p ON p.principal_id = e.principal_id WHERE e.name = 'e';
DROP ENDPOINT e;
DROP LOGIN Ann;
GO
CREATE ROLE [x ADD MEMBER y];
CREATE USER z WITHOUT LOGIN;
ALTER ROLE [x ADD MEMBER y] ADD MEMBER z;
ALTER ROLE [x ADD MEMBER y] DROP MEMBER z;
SELECT COUNT(*) AS members FROM sys.database_role_members AS m JOIN sys.database_principals AS r ON r.principal_id = m.role_principal_id WHERE r.name = 'x ADD MEMBER y';
DROP ROLE [x ADD MEMBER y];
DROP USER z;
-- expect
SELECT ssb.create_principal('Ann', 'LOGIN');

SELECT ssb.create_endpoint('e', state => 'STARTED', listener_port => 4022, authentication => 'WINDOWS');

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb.alter_endpoint('e', state => 'STOPPED');

PERFORM ssb.alter_authorization('ENDPOINT', 'e', 'Ann');

END;
$whole$;

SELECT e.state_desc, p.name AS owner
FROM sys.endpoints AS e
JOIN sys.server_principals AS p ON p.principal_id = e.principal_id
WHERE lower(e.name) = 'e';

SELECT ssb.drop_endpoint('e');

SELECT ssb.drop_principal('Ann', 'LOGIN');

SELECT ssb.create_principal('x ADD MEMBER y', 'ROLE');

SELECT ssb.create_principal('z', 'USER');

SELECT ssb.add_member('x ADD MEMBER y', 'z');

SELECT ssb.drop_member('x ADD MEMBER y', 'z');

SELECT count(*) AS members
FROM sys.database_role_members AS m
JOIN sys.database_principals AS r ON r.principal_id = m.role_principal_id
WHERE lower(r.name) = 'x add member y';

SELECT ssb.drop_principal('x ADD MEMBER y', 'ROLE');

SELECT ssb.drop_principal('z', 'USER');
-- shows
state_desc owner
---------- -----
STOPPED    Ann

(1 row affected)

members
-------
      0

(1 row affected)
