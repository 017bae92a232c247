-- The contract of dynamic routing and its message types have SQL Server's names.
UPDATE ssb.contract AS c SET name = c.name || 'Notice' WHERE c.contract_id = 1 AND c.name LIKE '%/BrokerConfiguration';
UPDATE ssb.message_type AS t SET name = replace(t.name, '/BrokerConfiguration/', '/BrokerConfigurationNotice/')
 WHERE t.message_type_id BETWEEN 4 AND 7;
UPDATE ssb.contract_message_usage AS u
   SET message_type_name = replace(u.message_type_name, '/BrokerConfiguration/', '/BrokerConfigurationNotice/')
 WHERE u.contract_id = 1;
-- It leaves one with other parameters beside the new one.
DROP FUNCTION IF EXISTS ssb.send_recycled(text, text, text, text, text, bytea, interval, bigint, text, text),
    ssb.send_recycled(text, text, text, text, text, text, interval, bigint, text, text);
