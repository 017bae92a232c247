-- Compiled by pgsb 0.1.0 from shop.up.sql: change those, not this text.
-- It needs the runtime of that version, or a newer one (pgsb install --parts all, pgsb upgrade).

DO $$ BEGIN PERFORM ssb_internal.require_parts('all'); END $$;

-- shop.up.sql:1

-- What the application needs: a counter that answers orders.
DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.create_message_type('//Shop/Order', validation => 'WELL_FORMED_XML');
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.create_message_type('//Shop/Receipt', validation => 'NONE');
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.create_contract('//Shop/Ordering', message_types => ARRAY['//Shop/Order', '//Shop/Receipt']::text[], sent_by => ARRAY['INITIATOR', 'TARGET']::text[]);
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.create_queue('dbo.customerqueue', spelling => 'CustomerQueue');
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.create_queue('dbo.counterqueue', spelling => 'CounterQueue');
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.create_service('//Shop/Customer', queue => 'dbo.customerqueue');
END;
$call$;

DO $call$
#variable_conflict use_column
BEGIN
    PERFORM ssb.create_service('//Shop/Counter', queue => 'dbo.counterqueue', contracts => ARRAY['//Shop/Ordering']::text[]);
END;
$call$;

DO $whole$
#variable_conflict use_column
BEGIN

CREATE TABLE dbo.sold (
    product varchar(50) NOT NULL,
    soldat timestamp(3) NOT NULL DEFAULT sys.getdate()
);

PERFORM ssb_internal.keep_spelling('dbo.sold', 'Sold', p_columns => ARRAY['Product', 'SoldAt']);

END;
$whole$;

-- shop.up.sql:15

DO $whole$
#variable_conflict use_column
BEGIN

PERFORM ssb_internal.prepare_module('CREATE', 'PROCEDURE', 'dbo.servecounter', 'ssb.session');

-- Serves every order that waits, each in a transaction of its own.
CREATE OR REPLACE PROCEDURE dbo.servecounter(INOUT session ssb.session DEFAULT NULL)
LANGUAGE plpgsql AS $ServeCounter$
#variable_conflict use_column
DECLARE
    caller ssb.session;
    detail text;
BEGIN
    CALL ssb_internal.enter(session, caller, 'ServeCounter');
    <<servecounter>>
    DECLARE
        dialog uuid;
        type varchar(128);
        "order" sys.xml;
        product varchar(50);
        received record;
    BEGIN
        EXIT servecounter WHEN session.leaving;  -- nested deeper than 32
        session.nocount := ssb_internal.no_count(true);
        LOOP
            session := ssb_internal.begin_transaction(session);
            dialog := NULL;
            BEGIN
                SELECT conversation_handle, message_type_name, sys.xml_of(message_body) AS value_3
                FROM ssb.receive('dbo.counterqueue', 1)
                INTO received;
                IF FOUND THEN
                    dialog := received.conversation_handle;
                    type := received.message_type_name;
                    "order" := received.value_3;
                END IF;
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 12, SQLSTATE, SQLERRM); EXIT servecounter WHEN session.leaving;
            END;
            IF dialog IS NULL THEN
                CALL ssb_internal.commit_transaction(session, 19);
                EXIT servecounter WHEN session.leaving;
                session := ssb_internal.return_without_code(session);
                EXIT servecounter;
            END IF;
            IF type = '//Shop/Order' THEN
                BEGIN
                    product := sys.xml_value("order", '(/order/@product)[1]')::varchar(50);
                EXCEPTION WHEN OTHERS THEN
                    session := ssb_internal.failed(session, 24, SQLSTATE, SQLERRM); EXIT servecounter WHEN session.leaving;
                END;
                BEGIN
                    INSERT INTO dbo.sold (product) VALUES (product);
                    IF session.tells_identity THEN session.identity := ssb_internal.identity_told('dbo.sold', false, NULL); END IF;
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
                    session := ssb_internal.failed(session, 25, SQLSTATE, SQLERRM, detail, 'INSERT');
                    EXIT servecounter WHEN session.leaving;
                END;
                BEGIN
                    PERFORM ssb.send(dialog, '//Shop/Receipt', 'Thank you for buying ' || product);
                EXCEPTION WHEN OTHERS THEN
                    session := ssb_internal.failed(session, 26, SQLSTATE, SQLERRM); EXIT servecounter WHEN session.leaving;
                END;
            END IF;
            BEGIN
                PERFORM ssb.end_conversation(dialog);
            EXCEPTION WHEN OTHERS THEN
                session := ssb_internal.failed(session, 28, SQLSTATE, SQLERRM); EXIT servecounter WHEN session.leaving;
            END;
            CALL ssb_internal.commit_transaction(session, 29);
            EXIT servecounter WHEN session.leaving;
        END LOOP;
    END servecounter;
    session := ssb_internal.leave(session, caller);
END;
$ServeCounter$;

PERFORM ssb_internal.keep_module_spelling('dbo.servecounter', 'ServeCounter');

END;
$whole$;

