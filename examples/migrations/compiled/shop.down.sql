-- The way back, in the opposite order.
SELECT ssb.drop_module('PROCEDURE', 'dbo.servecounter');

SELECT ssb.drop_relation('TABLE', 'dbo.sold');

SELECT ssb.drop_service('//Shop/Counter');

SELECT ssb.drop_service('//Shop/Customer');

SELECT ssb.drop_queue('dbo.counterqueue');

SELECT ssb.drop_queue('dbo.customerqueue');

SELECT ssb.drop_contract('//Shop/Ordering');

SELECT ssb.drop_message_type('//Shop/Receipt');

SELECT ssb.drop_message_type('//Shop/Order');

