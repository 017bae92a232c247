-- T-SQL types that PostgreSQL has no name for.
--
-- sys.bit  scripts compare it with 0 and 1, psql shows 0 and 1.
-- sys.xml  xml where the server has libxml, so that psql and other tools know
--          what they see; text elsewhere. Every XML function here works on the
--          text, so answers are the same with and without libxml.
DO $$
BEGIN
    IF to_regtype('sys.bit') IS NULL THEN
        CREATE DOMAIN sys.bit AS smallint CONSTRAINT "bit is 0 or 1" CHECK (VALUE IN (0, 1));
    END IF;
    IF to_regtype('sys.xml') IS NULL THEN
        BEGIN
            PERFORM '<a/>'::xml;
            CREATE DOMAIN sys.xml AS xml;
        EXCEPTION WHEN feature_not_supported THEN
            CREATE DOMAIN sys.xml AS text;
        END;
    END IF;
    -- A row of RECEIVE: the columns of a queue, in the order of the CREATE QUEUE page.
    IF to_regtype('ssb.message') IS NULL THEN
        CREATE TYPE ssb.message AS (
            status                  smallint,
            priority                smallint,
            queuing_order           bigint,
            conversation_group_id   uuid,
            conversation_handle     uuid,
            message_sequence_number bigint,
            service_name            text,
            service_id              integer,
            service_contract_name   text,
            service_contract_id     integer,
            message_type_name       text,
            message_type_id         integer,
            validation              char(2),
            message_body            bytea,
            message_enqueue_time    timestamp(3)
        );
    END IF;
END;
$$;
