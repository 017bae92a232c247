-- Compiled by pgsb 0.1.0 from shop.down.sql: change those, not this text.
-- It needs the runtime of that version, or a newer one (pgsb install --parts broker, pgsb upgrade).

-- shop.down.sql:1

-- The way back, in the opposite order.
DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb_internal.drop_module('PROCEDURE', 'dbo.servecounter');
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb_internal.drop_relation('TABLE', 'dbo.sold');
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.drop_service('//Shop/Counter');
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.drop_service('//Shop/Customer');
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.drop_queue('dbo.counterqueue');
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.drop_queue('dbo.customerqueue');
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.drop_contract('//Shop/Ordering');
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.drop_message_type('//Shop/Receipt');
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.drop_message_type('//Shop/Order');
END;
$call$;

