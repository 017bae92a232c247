-- One-way streams over reused dialogs. A dialog per message costs several messages
-- more; one dialog for ever can never be ended. So a key (a customer, a session, a
-- table) keeps a dialog for some time or some messages; then a closing message goes
-- out on it, a new dialog takes over, and the target answers the closing message by
-- ending its side.
--
-- Nothing is lost: whoever sends locks the key's row first, so no message follows
-- the closing one on its dialog. Nothing is reordered: the new dialog joins the old
-- one's conversation group on both sides, and a group's messages are received in
-- turn. For that the target's group must be free at the moment of the change: while
-- a reader holds it, the old dialog is used on. So a sender never waits for a reader.
CREATE TABLE IF NOT EXISTS ssb.recycled_dialog (
    key          text        NOT NULL,
    database_id  integer     NOT NULL,
    from_service text        NOT NULL,
    to_service   text        NOT NULL,
    contract     text        NOT NULL,
    closing_type text        NOT NULL,
    handle       uuid,                                 -- NULL: the next message begins a dialog
    begun_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    sent         bigint      NOT NULL DEFAULT 0,
    PRIMARY KEY (key, from_service, to_service, contract, database_id)
);
CREATE INDEX IF NOT EXISTS recycled_dialog_by_handle ON ssb.recycled_dialog (handle);

-- Sends one message on the key's dialog and returns the dialog's handle. The dialog
-- is changed for a new one after max_age or max_messages, whichever comes first;
-- closing_type must be a message type of the contract that needs no body. Whether the dialogs are encrypted is as
-- with BEGIN DIALOG. NULL for one of these options is its default.
--
-- Locks  the key's row, then as SEND
CREATE OR REPLACE FUNCTION ssb.send_recycled(key text, from_service text, to_service text, contract text,
    message_type text, body bytea, max_age interval DEFAULT '1 hour', max_messages bigint DEFAULT 10000,
    closing_type text DEFAULT 'EndOfStream', database text DEFAULT NULL, encryption boolean DEFAULT true)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    v_database_id integer := ssb_internal.database_id_of(database);
    v_dialog ssb.recycled_dialog;
    v_near ssb.conversation_endpoint;
    v_far ssb.conversation_endpoint;
    v_handle uuid;
BEGIN
    -- As far as a conversation timer reaches: 68 years.
    max_age := make_interval(secs => greatest(0, least(date_part('epoch', coalesce(max_age, '1 hour')), 2147483647)));
    max_messages := coalesce(max_messages, 10000);
    closing_type := coalesce(closing_type, 'EndOfStream');
    IF key IS NULL THEN
        PERFORM ssb_internal.raise_error(15004, 'Name cannot be NULL.', 16, 1, 'The key of a recycled dialog is missing.');
    ELSIF num_nulls(from_service, to_service, contract) > 0 THEN
        -- BEGIN DIALOG says which.
        PERFORM ssb.begin_dialog(from_service, to_service, contract, database => database);
    END IF;
    INSERT INTO ssb.recycled_dialog AS d (key, database_id, from_service, to_service, contract, closing_type)
    VALUES (key, v_database_id, from_service, to_service, contract, closing_type)
    ON CONFLICT DO NOTHING;
    SELECT d.* INTO STRICT v_dialog FROM ssb.recycled_dialog AS d
     WHERE d.key = key AND d.database_id = v_database_id AND d.from_service = from_service
       AND d.to_service = to_service AND d.contract = contract
       FOR UPDATE;
    SELECT e.* INTO v_near FROM ssb.conversation_endpoint AS e WHERE e.conversation_handle = v_dialog.handle;
    v_handle := CASE WHEN v_near.endpoint_id IS NOT NULL AND ssb_internal.endpoint_state(v_near) IN ('SO', 'CO')
                     THEN v_dialog.handle END;
    IF v_handle IS NOT NULL AND (v_dialog.sent >= max_messages OR v_dialog.begun_at + max_age <= clock_timestamp()) THEN
        SELECT f.* INTO v_far FROM ssb.conversation_endpoint AS f
          JOIN ssb.conversation_endpoint AS l ON l.endpoint_id = f.lock_id
         WHERE f.endpoint_id = v_near.far_endpoint_id AND NOT v_near.has_waiting AND f.closed_at IS NULL
           FOR NO KEY UPDATE OF l SKIP LOCKED;
        IF FOUND THEN
            PERFORM ssb.send(v_handle, v_dialog.closing_type);
            v_handle := NULL;
        END IF;
    END IF;
    IF v_handle IS NOT NULL THEN
        PERFORM ssb_internal.send_or_signal(v_handle, message_type, body);
        UPDATE ssb.recycled_dialog AS d SET sent = d.sent + 1
         WHERE d.key = key AND d.database_id = v_database_id AND d.from_service = from_service
           AND d.to_service = to_service AND d.contract = contract;
        RETURN v_handle;
    END IF;

    v_handle := ssb.begin_dialog(from_service, to_service, contract, encryption => encryption, database => database,
                                 related_conversation => CASE WHEN v_near.closed_at IS NULL THEN v_near.conversation_handle END);
    PERFORM ssb_internal.send_or_signal(v_handle, message_type, body);
    IF v_far.endpoint_id IS NOT NULL THEN
        -- Before anybody can see the target's new side: it waits for its turn behind the old one.
        PERFORM ssb_internal.note_joined(v_far.lock_id);
        UPDATE ssb.queue AS q SET has_groups = true WHERE q.queue_id = v_far.queue_id AND NOT q.has_groups;
        UPDATE ssb.conversation_endpoint AS f
           SET lock_id = v_far.lock_id, conversation_group_id = v_far.conversation_group_id
          FROM ssb.conversation_endpoint AS e
         WHERE e.conversation_handle = v_handle AND f.endpoint_id = e.far_endpoint_id AND f.service_id = v_far.service_id;
    END IF;
    -- So that a key on which nothing is sent any more is closed as well.
    PERFORM ssb.begin_conversation_timer(v_handle, greatest(1, ceil(date_part('epoch', max_age)))::integer);
    UPDATE ssb.recycled_dialog AS d
       SET handle = v_handle, begun_at = clock_timestamp(), sent = 1, closing_type = closing_type
     WHERE d.key = key AND d.database_id = v_database_id AND d.from_service = from_service
       AND d.to_service = to_service AND d.contract = contract;
    RETURN v_handle;
END;
$$;

CREATE OR REPLACE FUNCTION ssb.send_recycled(key text, from_service text, to_service text, contract text,
    message_type text, body text, max_age interval DEFAULT '1 hour', max_messages bigint DEFAULT 10000,
    closing_type text DEFAULT 'EndOfStream', database text DEFAULT NULL, encryption boolean DEFAULT true)
RETURNS uuid
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ssb.send_recycled(key, from_service, to_service, contract, message_type, ssb.nvarchar_bytes(body),
                             max_age, max_messages, closing_type, database, encryption);
$$;

-- The initiator's service program: ends dialogs that the target has ended, and closes
-- those whose time is over. As a queue's activation procedure it finds the queue by
-- itself. An Error message makes the key begin anew with its next message.
CREATE OR REPLACE PROCEDURE ssb.end_recycled_dialogs(queue text DEFAULT NULL)
LANGUAGE plpgsql
AS $$
#variable_conflict use_variable
DECLARE
    v_queue text := coalesce(queue, ssb_internal.activated_queue());
BEGIN
    LOOP
        EXIT WHEN ssb_internal.end_recycled_dialog(v_queue) OPERATOR(pg_catalog.=) 0;
        COMMIT;
    END LOOP;
END;
$$;

-- One message of that program; returns how many there were, 0 or 1.
CREATE OR REPLACE FUNCTION ssb_internal.end_recycled_dialog(queue text)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_message ssb.message;
    v_dialog ssb.recycled_dialog;
BEGIN
    SELECT m.* INTO v_message FROM ssb.receive(queue, 1) AS m;
    IF NOT FOUND THEN
        RETURN 0;
    ELSIF v_message.message_type_name IN ('http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog',
                                          'http://schemas.microsoft.com/SQL/ServiceBroker/Error') THEN
        PERFORM ssb.end_conversation(v_message.conversation_handle);
    ELSIF v_message.message_type_name = 'http://schemas.microsoft.com/SQL/ServiceBroker/DialogTimer' THEN
        -- A sender locks the key first and the conversation then; we have the conversation
        -- already, so we may not wait for the key.
        SELECT d.* INTO v_dialog FROM ssb.recycled_dialog AS d
         WHERE d.handle = v_message.conversation_handle FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
            PERFORM ssb.send(v_dialog.handle, v_dialog.closing_type);
            DELETE FROM ssb.recycled_dialog AS d WHERE d.handle = v_dialog.handle;
        ELSIF EXISTS (SELECT FROM ssb.recycled_dialog AS d WHERE d.handle = v_message.conversation_handle) THEN
            PERFORM ssb.begin_conversation_timer(v_message.conversation_handle, 1);
        END IF;
    END IF;
    RETURN 1;
END;
$$;
