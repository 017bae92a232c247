-- case: message type, bare
CREATE MESSAGE TYPE Ping
-- expect
CreateMessageType name=Ping

-- case: message type, every validation
create message type [//a/b] authorization dbo validation = none
CREATE MESSAGE TYPE e VALIDATION = EMPTY;
CREATE MESSAGE TYPE "w" VALIDATION = WELL_FORMED_XML
CREATE MESSAGE TYPE v VALIDATION = VALID_XML WITH SCHEMA COLLECTION sales.Orders
-- expect
CreateMessageType name=[//a/b] owner=dbo validation=NONE
CreateMessageType name=e validation=EMPTY
CreateMessageType name=w validation=WELL_FORMED_XML
CreateMessageType name=v validation=VALID_XML schema_collection=sales.Orders

-- case: alter message type
ALTER MESSAGE TYPE [//a/b] VALIDATION = VALID_XML WITH SCHEMA COLLECTION c
ALTER MESSAGE TYPE x VALIDATION = NONE
-- expect
AlterMessageType name=[//a/b] validation=VALID_XML schema_collection=c
AlterMessageType name=x validation=NONE

-- case: contract
CREATE CONTRACT [//a/c] AUTHORIZATION dbo
  ([//a/Request] SENT BY INITIATOR, [//a/Reply] SENT BY TARGET, [DEFAULT] SENT BY ANY)
-- expect
CreateContract name=[//a/c] owner=dbo messages=(ContractMessage(message_type=[//a/Request] sent_by=INITIATOR), ContractMessage(message_type=[//a/Reply] sent_by=TARGET), ContractMessage(message_type=DEFAULT sent_by=ANY))

-- case: queue, bare
CREATE QUEUE q
-- expect
CreateQueue name=q

-- case: queue, every option
CREATE QUEUE Trader1.dbo.q WITH STATUS = OFF, RETENTION = ON,
  ACTIVATION (STATUS = ON, PROCEDURE_NAME = Trader1..p, MAX_QUEUE_READERS = 10, EXECUTE AS SELF),
  POISON_MESSAGE_HANDLING (STATUS = OFF)
  ON [DEFAULT]
-- expect
CreateQueue name=Trader1.dbo.q options=QueueOptions(status=False retention=True activation=Activation(status=True procedure=Trader1..p max_queue_readers=10 execute_as=ExecuteAsClause(principal=SELF)) poison=PoisonMessageHandling(status=False)) filegroup=DEFAULT

-- case: queue, options without commas
CREATE QUEUE q WITH STATUS = ON RETENTION = OFF ACTIVATION (PROCEDURE_NAME = p MAX_QUEUE_READERS = 1 EXECUTE AS N'Ann')
-- expect
CreateQueue name=q options=QueueOptions(status=True retention=False activation=Activation(procedure=p max_queue_readers=1 execute_as=ExecuteAsClause(principal=USER user=N'Ann')))

-- case: queue named like a keyword
CREATE QUEUE status WITH STATUS = ON ON activation
CREATE QUEUE dbo.receive
-- expect
CreateQueue name=status options=QueueOptions(status=True) filegroup=activation
CreateQueue name=dbo.receive

-- case: alter queue
ALTER QUEUE q WITH ACTIVATION (DROP)
ALTER QUEUE dbo.q WITH STATUS = ON , ACTIVATION (EXECUTE AS OWNER)
ALTER QUEUE q WITH POISON_MESSAGE_HANDLING (STATUS = ON)
ALTER QUEUE q REBUILD
ALTER QUEUE q REBUILD WITH (MAXDOP = 2)
ALTER QUEUE q REORGANIZE WITH (LOB_COMPACTION = ON)
ALTER QUEUE q MOVE TO "default"
-- expect
AlterQueue name=q options=QueueOptions(activation=Activation(drop=True))
AlterQueue name=dbo.q options=QueueOptions(status=True activation=Activation(execute_as=ExecuteAsClause(principal=OWNER)))
AlterQueue name=q options=QueueOptions(poison=PoisonMessageHandling(status=True))
MaintainQueue name=q action=REBUILD
MaintainQueue name=q action=REBUILD max_degree=2
MaintainQueue name=q action=REORGANIZE lob_compaction=True
MaintainQueue name=q action=MOVE filegroup=default

-- case: queue, options beyond SQL Server's
CREATE QUEUE q WITH ACTIVATION (STATUS = ON, PROGRAM = N'billing', MAX_QUEUE_READERS = 2),
  POISON_MESSAGE_HANDLING (STATUS = ON, MAX_ROLLBACKS = 8, QUARANTINE = ON)
ALTER QUEUE q WITH POISON_MESSAGE_HANDLING (QUARANTINE = OFF)
-- expect
CreateQueue name=q options=QueueOptions(activation=Activation(status=True program=N'billing' max_queue_readers=2) poison=PoisonMessageHandling(status=True max_rollbacks=8 quarantine=True))
AlterQueue name=q options=QueueOptions(poison=PoisonMessageHandling(quarantine=False))

-- case: service
CREATE SERVICE [//a/s] ON QUEUE q
CREATE SERVICE s2 AUTHORIZATION ann ON QUEUE dbo.q ([//a/c], [DEFAULT])
-- expect
CreateService name=[//a/s] queue=q
CreateService name=s2 owner=ann queue=dbo.q contracts=([//a/c], DEFAULT)

-- case: alter service
ALTER SERVICE s ON QUEUE q2
ALTER SERVICE s (ADD CONTRACT c1, DROP CONTRACT [//a/c])
ALTER SERVICE s ON QUEUE q2 (ADD CONTRACT c)
-- expect
AlterService name=s queue=q2
AlterService name=s add_contracts=(c1) drop_contracts=([//a/c])
AlterService name=s queue=q2 add_contracts=(c)

-- case: route
CREATE ROUTE r WITH ADDRESS = 'LOCAL'
CREATE ROUTE r2 AUTHORIZATION dbo WITH SERVICE_NAME = '//a/s', BROKER_INSTANCE = 'D8D4D268-00A3-4C62-8F91-634B89C1E315',
  LIFETIME = 600, ADDRESS = N'TCP://h:4022', MIRROR_ADDRESS = 'TCP://m:4022'
ALTER ROUTE r WITH ADDRESS = 'TRANSPORT'
-- expect
CreateRoute name=r options=RouteOptions(address='LOCAL')
CreateRoute name=r2 owner=dbo options=RouteOptions(service_name='//a/s' broker_instance='D8D4D268-00A3-4C62-8F91-634B89C1E315' lifetime=600 address=N'TCP://h:4022' mirror_address='TCP://m:4022')
AlterRoute name=r options=RouteOptions(address='TRANSPORT')

-- case: remote service binding
CREATE REMOTE SERVICE BINDING b AUTHORIZATION dbo TO SERVICE '//a/s' WITH USER = ann, ANONYMOUS = ON
CREATE REMOTE SERVICE BINDING b2 TO SERVICE N's' WITH USER = [Proxy:ann]
ALTER REMOTE SERVICE BINDING b WITH USER = bob
ALTER REMOTE SERVICE BINDING b WITH ANONYMOUS = OFF
-- expect
CreateRemoteServiceBinding name=b owner=dbo service='//a/s' user=ann anonymous=True
CreateRemoteServiceBinding name=b2 service=N's' user=[Proxy:ann]
AlterRemoteServiceBinding name=b user=bob
AlterRemoteServiceBinding name=b anonymous=False

-- case: broker priority
CREATE BROKER PRIORITY p FOR CONVERSATION
CREATE BROKER PRIORITY p FOR CONVERSATION SET (CONTRACT_NAME = c, LOCAL_SERVICE_NAME = s, REMOTE_SERVICE_NAME = N'r', PRIORITY_LEVEL = 9)
CREATE BROKER PRIORITY p FOR CONVERSATION SET (CONTRACT_NAME = ANY LOCAL_SERVICE_NAME = ANY REMOTE_SERVICE_NAME = ANY PRIORITY_LEVEL = DEFAULT)
ALTER BROKER PRIORITY p FOR CONVERSATION SET (PRIORITY_LEVEL = 1)
-- expect
CreateBrokerPriority name=p
CreateBrokerPriority name=p options=PriorityOptions(contract=c local_service=s remote_service=N'r' level=9)
CreateBrokerPriority name=p options=PriorityOptions(any_contract=True any_local_service=True any_remote_service=True default_level=True)
AlterBrokerPriority name=p options=PriorityOptions(level=1)

-- case: endpoint
CREATE ENDPOINT e AUTHORIZATION sa STATE = STARTED AS TCP (LISTENER_PORT = 4022, LISTENER_IP = ALL)
  FOR SERVICE_BROKER (AUTHENTICATION = WINDOWS KERBEROS CERTIFICATE c, ENCRYPTION = REQUIRED ALGORITHM AES RC4
    MESSAGE_FORWARDING = ENABLED, MESSAGE_FORWARD_SIZE = 10)
ALTER ENDPOINT e STATE = STOPPED
ALTER ENDPOINT e AS TCP (LISTENER_PORT = 4023)
ALTER ENDPOINT e FOR SERVICE_BROKER (ENCRYPTION = DISABLED)
-- expect
CreateEndpoint name=e owner=sa state=STARTED protocol=TCP protocol_options=(EndpointOption(name=LISTENER_PORT value=`4022`), EndpointOption(name=LISTENER_IP value=`ALL`)) payload=SERVICE_BROKER payload_options=(EndpointOption(name=AUTHENTICATION value=`WINDOWS KERBEROS CERTIFICATE c`), EndpointOption(name=ENCRYPTION value=`REQUIRED ALGORITHM AES RC4`), EndpointOption(name=MESSAGE_FORWARDING value=`ENABLED`), EndpointOption(name=MESSAGE_FORWARD_SIZE value=`10`))
AlterEndpoint name=e state=STOPPED
AlterEndpoint name=e protocol=TCP protocol_options=(EndpointOption(name=LISTENER_PORT value=`4023`))
AlterEndpoint name=e payload=SERVICE_BROKER payload_options=(EndpointOption(name=ENCRYPTION value=`DISABLED`))

-- case: endpoints that cannot run, and options that none has
CREATE ENDPOINT m AS TCP (LISTENER_PORT = 7022 LISTENER_IP = (10.0.75.1)) FOR DATABASE_MIRRORING (ROLE = ALL)
CREATE ENDPOINT t STATE = STOPPED AS TCP (LISTENER_PORT = 5, LISTENER_IP = ('::1')) FOR TSQL ()
CREATE ENDPOINT e AS TCP (LISTENER_PORT = {) FOR SERVICE_BROKER ()
CREATE ENDPOINT e AS TCP (LISTENER_PORT = 4022, LISTENER_PORT = 4023) FOR SERVICE_BROKER (ENCRYPTION = MAYBE)
CREATE ENDPOINT e AS TCP (LISTENER_PORT = 4022, PORT = 1) FOR SERVICE_BROKER (MESSAGE_FORWARDING = ON)
ALTER ENDPOINT e FOR SERVICE_BROKER (AUTHENTICATION = NONE, MESSAGE_FORWARD_SIZE = 1.5)
-- expect
1:1: An endpoint FOR DATABASE_MIRRORING cannot run on PostgreSQL.
2:1: An endpoint FOR TSQL cannot run on PostgreSQL.
3:43: 102: Incorrect syntax near '{'. | expected a port's number
4:49: 102: Incorrect syntax near 'LISTENER_PORT'. | this option is given twice
4:104: 102: Incorrect syntax near 'MAYBE'. | expected DISABLED, SUPPORTED or REQUIRED
5:49: 102: Incorrect syntax near 'PORT'. | expected LISTENER_PORT or LISTENER_IP
5:100: 156: Incorrect syntax near the keyword 'ON'. | expected ENABLED or DISABLED
6:55: 102: Incorrect syntax near 'NONE'. | expected WINDOWS or CERTIFICATE with a name, or both
6:84: 102: Incorrect syntax near '1.5'. | expected a number of megabytes

-- case: event notification
CREATE EVENT NOTIFICATION n ON QUEUE dbo.q FOR QUEUE_ACTIVATION TO SERVICE 's', 'current database'
CREATE EVENT NOTIFICATION n ON DATABASE WITH FAN_IN FOR CREATE_TABLE, DDL_TABLE_EVENTS TO SERVICE N'//a/s', N'D8D4D268-00A3-4C62-8F91-634B89C1E315'
CREATE EVENT NOTIFICATION n ON SERVER FOR BROKER_QUEUE_DISABLED TO SERVICE 's', 'CURRENT DATABASE'
DROP EVENT NOTIFICATION n, m ON QUEUE q
DROP EVENT NOTIFICATION n ON DATABASE
-- expect
CreateEventNotification name=n scope=EventScope(kind=QUEUE queue=dbo.q) events=(QUEUE_ACTIVATION) service='s' broker_instance='current database'
CreateEventNotification name=n scope=EventScope(kind=DATABASE) fan_in=True events=(CREATE_TABLE, DDL_TABLE_EVENTS) service=N'//a/s' broker_instance=N'D8D4D268-00A3-4C62-8F91-634B89C1E315'
CreateEventNotification name=n scope=EventScope(kind=SERVER) events=(BROKER_QUEUE_DISABLED) service='s' broker_instance='CURRENT DATABASE'
DropStatement kind=EVENT NOTIFICATION names=(n, m) on=EventScope(kind=QUEUE queue=q)
DropStatement kind=EVENT NOTIFICATION names=(n) on=EventScope(kind=DATABASE)

-- case: xml schema collection
DECLARE @x xml
CREATE XML SCHEMA COLLECTION dbo.c AS N'<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"/>'
CREATE XML SCHEMA COLLECTION c AS @x
ALTER XML SCHEMA COLLECTION c ADD '<a/>'
DROP XML SCHEMA COLLECTION dbo.c
-- expect
Declare declarations=(VariableDeclaration(variable=@x type=xml))
CreateXmlSchemaCollection name=dbo.c schemas=`N'<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"/>'`
CreateXmlSchemaCollection name=c schemas=`@x`
AlterXmlSchemaCollection name=c schemas=`'<a/>'`
DropStatement kind=XML SCHEMA COLLECTION names=(dbo.c)

-- case: certificate
CREATE CERTIFICATE c WITH SUBJECT = 'me', START_DATE = '20260101', EXPIRY_DATE = N'20301231' ACTIVE FOR BEGIN_DIALOG = OFF
CREATE CERTIFICATE c AUTHORIZATION ann ENCRYPTION BY PASSWORD = 'secret' WITH SUBJECT = 'me'
CREATE CERTIFICATE c FROM FILE = 'c:\x.cer' WITH PRIVATE KEY (FILE = 'c:\x.pvk', DECRYPTION BY PASSWORD = 'p') ACTIVE FOR BEGIN_DIALOG = ON
CREATE CERTIFICATE c FROM BINARY = 0x3082
ALTER CERTIFICATE c WITH ACTIVE FOR BEGIN_DIALOG = ON
ALTER CERTIFICATE c REMOVE PRIVATE KEY
BACKUP CERTIFICATE c TO FILE = 'x.cer'
DROP CERTIFICATE c
CREATE CERTIFICATE c WITH START_DATE = '20260101', SUBJECT = 'me'
-- expect
CreateCertificate name=c subject='me' start_date='20260101' expiry_date=N'20301231' active_for_begin_dialog=False
CreateCertificate name=c owner=ann password='secret' subject='me'
CreateCertificate name=c file='c:\\x.cer' private_key=PrivateKeyOptions(file=StringLiteral(span=Span(start=285, end=295), value='c:\\x.pvk', national=False), binary=None, decryption=StringLiteral(span=Span(start=322, end=325), value='p', national=False), encryption=None) active_for_begin_dialog=True
CreateCertificate name=c binary=0x3082
AlterCertificate name=c active_for_begin_dialog=True
AlterCertificate name=c remove_private_key=True
BackupCertificate name=c file='x.cer'
DropStatement kind=CERTIFICATE names=(c)
CreateCertificate name=c subject='me' start_date='20260101'

-- case: master keys
CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'p'
CREATE MASTER KEY
OPEN MASTER KEY DECRYPTION BY PASSWORD = 'p'
ALTER MASTER KEY ADD ENCRYPTION BY SERVICE MASTER KEY
ALTER MASTER KEY DROP ENCRYPTION BY SERVICE MASTER KEY
ALTER MASTER KEY FORCE REGENERATE WITH ENCRYPTION BY PASSWORD = 'p'
BACKUP MASTER KEY TO FILE = 'f' ENCRYPTION BY PASSWORD = 'p'
RESTORE MASTER KEY FROM FILE = 'f' DECRYPTION BY PASSWORD = 'p' ENCRYPTION BY PASSWORD = 'q' FORCE
CLOSE MASTER KEY
ALTER SERVICE MASTER KEY REGENERATE
DROP MASTER KEY
-- expect
MasterKeyStatement action=CREATE password='p'
MasterKeyStatement action=CREATE
MasterKeyStatement action=OPEN password='p'
MasterKeyStatement action=ADD
MasterKeyStatement action=DROP
MasterKeyStatement action=REGENERATE password='p' force=True
MasterKeyStatement action=BACKUP password='p' file='f'
MasterKeyStatement action=RESTORE password='q' decryption='p' file='f' force=True
MasterKeyStatement action=CLOSE
MasterKeyStatement action=REGENERATE service=True
DropStatement kind=MASTER KEY

-- case: symmetric keys
CREATE SYMMETRIC KEY k WITH ALGORITHM = AES_256 ENCRYPTION BY CERTIFICATE c
OPEN SYMMETRIC KEY k DECRYPTION BY CERTIFICATE c
CLOSE SYMMETRIC KEY k
CLOSE ALL SYMMETRIC KEYS
DROP SYMMETRIC KEY k
CREATE ASYMMETRIC KEY a WITH ALGORITHM = RSA_2048 ENCRYPTION BY PASSWORD = 'p'
DROP ASYMMETRIC KEY a REMOVE PROVIDER KEY
-- expect
AdministrativeStatement kind=CREATE SYMMETRIC KEY text=`CREATE SYMMETRIC KEY k WITH ALGORITHM = AES_256 ENCRYPTION BY CERTIFICATE c`
AdministrativeStatement kind=OPEN SYMMETRIC KEY text=`OPEN SYMMETRIC KEY k DECRYPTION BY CERTIFICATE c`
AdministrativeStatement kind=CLOSE SYMMETRIC KEY text=`CLOSE SYMMETRIC KEY k`
AdministrativeStatement kind=CLOSE ALL SYMMETRIC KEYS text=`CLOSE ALL SYMMETRIC KEYS`
DropStatement kind=SYMMETRIC KEY names=(k)
AdministrativeStatement kind=CREATE ASYMMETRIC KEY text=`CREATE ASYMMETRIC KEY a WITH ALGORITHM = RSA_2048 ENCRYPTION BY PASSWORD = 'p'`
DropStatement kind=ASYMMETRIC KEY names=(a)
warning 1:1: CREATE SYMMETRIC KEY has no effect on PostgreSQL.
warning 2:1: OPEN SYMMETRIC KEY has no effect on PostgreSQL.
warning 3:1: CLOSE SYMMETRIC KEY has no effect on PostgreSQL.
warning 4:1: CLOSE ALL SYMMETRIC KEYS has no effect on PostgreSQL.
warning 6:1: CREATE ASYMMETRIC KEY has no effect on PostgreSQL.

-- case: drops
DROP MESSAGE TYPE a, [//b]
DROP CONTRACT c DROP QUEUE dbo.q DROP SERVICE s; DROP ROUTE r
DROP REMOTE SERVICE BINDING b DROP BROKER PRIORITY p
DROP ENDPOINT e
-- expect
DropStatement kind=MESSAGE TYPE names=(a, //b)
DropStatement kind=CONTRACT names=(c)
DropStatement kind=QUEUE names=(dbo.q)
DropStatement kind=SERVICE names=(s)
DropStatement kind=ROUTE names=(r)
DropStatement kind=REMOTE SERVICE BINDING names=(b)
DropStatement kind=BROKER PRIORITY names=(p)
DropStatement kind=ENDPOINT names=(e)

-- case: authorization
ALTER AUTHORIZATION ON SERVICE::[//a/s] TO ann
ALTER AUTHORIZATION ON MESSAGE TYPE::m TO dbo
ALTER AUTHORIZATION ON CONTRACT :: c TO [public]
ALTER AUTHORIZATION ON dbo.q TO SCHEMA OWNER
ALTER AUTHORIZATION ON OBJECT::dbo.q TO ann
ALTER AUTHORIZATION ON REMOTE SERVICE BINDING::b TO ann
ALTER AUTHORIZATION ON ROUTE::r TO ann
ALTER AUTHORIZATION ON XML SCHEMA COLLECTION::dbo.c TO ann
ALTER AUTHORIZATION ON DATABASE::Trader1 TO sa
-- expect
AlterAuthorization securable=Securable(kind=SERVICE name=//a/s) owner=ann
AlterAuthorization securable=Securable(kind=MESSAGE TYPE name=m) owner=dbo
AlterAuthorization securable=Securable(kind=CONTRACT name=c) owner=public
AlterAuthorization securable=Securable(kind=OBJECT name=dbo.q)
AlterAuthorization securable=Securable(kind=OBJECT name=dbo.q) owner=ann
AlterAuthorization securable=Securable(kind=REMOTE SERVICE BINDING name=b) owner=ann
AlterAuthorization securable=Securable(kind=ROUTE name=r) owner=ann
AlterAuthorization securable=Securable(kind=XML SCHEMA COLLECTION name=dbo.c) owner=ann
AlterAuthorization securable=Securable(kind=DATABASE name=Trader1) owner=sa

-- case: permissions
GRANT SEND ON SERVICE::[//a/s] TO PUBLIC
GRANT RECEIVE ON dbo.q TO ann, bob
GRANT RECEIVE, SELECT ON OBJECT::q TO ann WITH GRANT OPTION AS dbo
DENY CONTROL ON MESSAGE TYPE :: [//a/m] TO ann CASCADE
REVOKE REFERENCES ON CONTRACT::c FROM ann
REVOKE GRANT OPTION FOR EXECUTE ON OBJECT::dbo.p TO ann CASCADE AS dbo
GRANT CREATE QUEUE, CREATE SERVICE, CREATE XML SCHEMA COLLECTION, VIEW DEFINITION TO ann
GRANT ALL PRIVILEGES ON t TO ann
GRANT CONNECT ON ENDPOINT::e TO [public]
GRANT IMPERSONATE ON USER::ann TO bob
GRANT TAKE OWNERSHIP ON SCHEMA::dbo TO bob
GRANT EXEC ON XML SCHEMA COLLECTION::dbo.c TO bob
GRANT ALTER ON REMOTE SERVICE BINDING::b TO bob
GRANT CONTROL ON CERTIFICATE::c TO bob
GRANT VIEW SERVER STATE TO bob
GRANT CREATE TABLE TO bob
-- expect
Permission action=GRANT permissions=(PermissionName(name=SEND)) securable=Securable(kind=SERVICE name=//a/s) principals=(PUBLIC)
Permission action=GRANT permissions=(PermissionName(name=RECEIVE)) securable=Securable(kind=OBJECT name=dbo.q) principals=(ann, bob)
Permission action=GRANT permissions=(PermissionName(name=RECEIVE), PermissionName(name=SELECT)) securable=Securable(kind=OBJECT name=q) principals=(ann) with_grant_option=True grantor=dbo
Permission action=DENY permissions=(PermissionName(name=CONTROL)) securable=Securable(kind=MESSAGE TYPE name=//a/m) principals=(ann) cascade=True
Permission action=REVOKE permissions=(PermissionName(name=REFERENCES)) securable=Securable(kind=CONTRACT name=c) principals=(ann)
Permission action=REVOKE permissions=(PermissionName(name=EXECUTE)) securable=Securable(kind=OBJECT name=dbo.p) principals=(ann) grant_option_for=True cascade=True grantor=dbo
Permission action=GRANT permissions=(PermissionName(name=CREATE QUEUE), PermissionName(name=CREATE SERVICE), PermissionName(name=CREATE XML SCHEMA COLLECTION), PermissionName(name=VIEW DEFINITION)) principals=(ann)
Permission action=GRANT permissions=(PermissionName(name=ALL)) securable=Securable(kind=OBJECT name=t) principals=(ann)
Permission action=GRANT permissions=(PermissionName(name=CONNECT)) securable=Securable(kind=ENDPOINT name=e) principals=(public)
Permission action=GRANT permissions=(PermissionName(name=IMPERSONATE)) securable=Securable(kind=USER name=ann) principals=(bob)
Permission action=GRANT permissions=(PermissionName(name=TAKE OWNERSHIP)) securable=Securable(kind=SCHEMA name=dbo) principals=(bob)
Permission action=GRANT permissions=(PermissionName(name=EXEC)) securable=Securable(kind=XML SCHEMA COLLECTION name=dbo.c) principals=(bob)
Permission action=GRANT permissions=(PermissionName(name=ALTER)) securable=Securable(kind=REMOTE SERVICE BINDING name=b) principals=(bob)
Permission action=GRANT permissions=(PermissionName(name=CONTROL)) securable=Securable(kind=CERTIFICATE name=c) principals=(bob)
Permission action=GRANT permissions=(PermissionName(name=VIEW SERVER STATE)) principals=(bob)
Permission action=GRANT permissions=(PermissionName(name=CREATE TABLE)) principals=(bob)

-- case: database options
ALTER DATABASE Trader1 SET ENABLE_BROKER
ALTER DATABASE [Trader1] SET NEW_BROKER WITH ROLLBACK IMMEDIATE;
ALTER DATABASE CURRENT SET DISABLE_BROKER
ALTER DATABASE d SET ERROR_BROKER_CONVERSATIONS WITH NO_WAIT
ALTER DATABASE d SET HONOR_BROKER_PRIORITY ON
ALTER DATABASE d SET TRUSTWORTHY ON, RECOVERY SIMPLE, COMPATIBILITY_LEVEL = 150
ALTER DATABASE d SET SINGLE_USER WITH ROLLBACK AFTER 5 SECONDS
ALTER DATABASE d SET QUERY_STORE = ON (OPERATION_MODE = READ_WRITE)
ALTER DATABASE d MODIFY NAME = e
ALTER DATABASE d COLLATE Latin1_General_CI_AS
ALTER DATABASE d ADD FILE (NAME = f, FILENAME = 'f.ndf') TO FILEGROUP g
ALTER DATABASE d MODIFY FILE (NAME = f, SIZE = 10MB)
ALTER DATABASE d REMOVE FILE f
-- expect
AlterDatabase name=Trader1 action=SET options=(DatabaseOption(name=ENABLE_BROKER)) text=`ALTER DATABASE Trader1 SET ENABLE_BROKER`
AlterDatabase name=Trader1 action=SET options=(DatabaseOption(name=NEW_BROKER)) termination=ROLLBACK IMMEDIATE text=`ALTER DATABASE [Trader1] SET NEW_BROKER WITH ROLLBACK IMMEDIATE`
AlterDatabase action=SET options=(DatabaseOption(name=DISABLE_BROKER)) text=`ALTER DATABASE CURRENT SET DISABLE_BROKER`
AlterDatabase name=d action=SET options=(DatabaseOption(name=ERROR_BROKER_CONVERSATIONS)) termination=NO_WAIT text=`ALTER DATABASE d SET ERROR_BROKER_CONVERSATIONS WITH NO_WAIT`
AlterDatabase name=d action=SET options=(DatabaseOption(name=HONOR_BROKER_PRIORITY value=ON)) text=`ALTER DATABASE d SET HONOR_BROKER_PRIORITY ON`
AlterDatabase name=d action=SET options=(DatabaseOption(name=TRUSTWORTHY value=ON), DatabaseOption(name=RECOVERY value=SIMPLE), DatabaseOption(name=COMPATIBILITY_LEVEL value=150)) text=`ALTER DATABASE d SET TRUSTWORTHY ON, RECOVERY SIMPLE, COMPATIBILITY_LEVEL = 150`
AlterDatabase name=d action=SET options=(DatabaseOption(name=SINGLE_USER)) termination=ROLLBACK AFTER 5 SECONDS text=`ALTER DATABASE d SET SINGLE_USER WITH ROLLBACK AFTER 5 SECONDS`
AlterDatabase name=d action=SET options=(DatabaseOption(name=QUERY_STORE value=ON (OPERATION_MODE = READ_WRITE))) text=`ALTER DATABASE d SET QUERY_STORE = ON (OPERATION_MODE = READ_WRITE)`
AlterDatabase name=d action=MODIFY NAME new_name=e text=`ALTER DATABASE d MODIFY NAME = e`
AlterDatabase name=d action=COLLATE text=`ALTER DATABASE d COLLATE Latin1_General_CI_AS`
AlterDatabase name=d action=ADD FILE text=`ALTER DATABASE d ADD FILE (NAME = f, FILENAME = 'f.ndf') TO FILEGROUP g`
AlterDatabase name=d action=MODIFY FILE text=`ALTER DATABASE d MODIFY FILE (NAME = f, SIZE = 10MB)`
AlterDatabase name=d action=REMOVE FILE text=`ALTER DATABASE d REMOVE FILE f`

-- case: create database
CREATE DATABASE d
CREATE DATABASE [a b] ON PRIMARY (NAME = n, FILENAME = 'f.mdf', SIZE = 5MB) LOG ON (NAME = l, FILENAME = 'l.ldf') COLLATE Latin1_General_CI_AS
  WITH TRUSTWORTHY ON, DB_CHAINING OFF
CREATE DATABASE d ON (FILENAME = 'f.mdf') FOR ATTACH WITH ENABLE_BROKER
CREATE DATABASE s ON (NAME = n, FILENAME = 'x.ss') AS SNAPSHOT OF d
DROP DATABASE IF EXISTS d, s
USE Trader1
USE [a b];
-- expect
CreateDatabase name=d text=`CREATE DATABASE d`
CreateDatabase name=[a b] text=`CREATE DATABASE [a b] ON PRIMARY (NAME = n, FILENAME = 'f.mdf', SIZE = 5MB) LOG ON (NAME = l, FILENAME = 'l.ldf') COLLATE Latin1_General_CI_AS WITH TRUSTWORTHY ON, DB_CHAINING OFF` trustworthy=True
CreateDatabase name=d text=`CREATE DATABASE d ON (FILENAME = 'f.mdf') FOR ATTACH WITH ENABLE_BROKER` enable_broker=ENABLE_BROKER
CreateDatabase name=s text=`CREATE DATABASE s ON (NAME = n, FILENAME = 'x.ss') AS SNAPSHOT OF d` snapshot_of=d
DropStatement kind=DATABASE names=(d, s) if_exists=True
Use database=Trader1
Use database=[a b]
