-- How the daemon hears that something wants to leave.
--
-- NOTIFY costs a commit more than its own: PostgreSQL lets one transaction of the whole server at a time commit that has notified, and
-- each waits for the disk alone. So those who send to a peer for which the daemon reads set after set anyway tell nobody.
--
--   sender                                         daemon
--   shares (1397965384, peer), to the end          stops: takes its peer's bit back,
--   of its transaction                             looks that nobody shares (1397965384, peer),
--   bit is set: it will be read                    and reads once more
--   else NOTIFY                                    before it waits for NOTIFY
--
-- A sender that has seen the bit holds the lock until its messages are seen by everybody; one that comes later sees that there is no bit.
-- Anybody may take an advisory lock: who holds it alone makes senders notify, who shares it makes the daemon look once more each second.
--
-- Called by  SEND, END CONVERSATION, changes of routes; the daemon

-- Wakes the daemon's transport, which looks for which peer. One for a transaction, however much that sends.
CREATE OR REPLACE FUNCTION ssb_internal.announce_departure()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_notify('ssb_transport', '') WHERE current_setting('ssb.two_phase', true) IS DISTINCT FROM 'on';
END;
$$;

-- Whether the daemon reads set after set for a peer.
CREATE OR REPLACE FUNCTION ssb_internal.is_streaming_to(p_peer_id integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN p_peer_id BETWEEN 1 AND 62
           AND (coalesce(pg_sequence_last_value('ssb.transport_streaming'), 0) >> (p_peer_id - 1)) % 2 = 1;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.is_streaming_to(integer) FROM PUBLIC;

-- Wakes it where it has to be told, for this peer.
-- Locks  (1397965384, peer), shared
CREATE OR REPLACE FUNCTION ssb_internal.announce_departure_to(p_peer_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- First looks that lock nothing: most of the time nothing streams.
    IF coalesce(pg_sequence_last_value('ssb.transport_streaming'), 0) <> 0 THEN
        IF ssb_internal.is_streaming_to(p_peer_id) AND pg_try_advisory_xact_lock_shared(1397965384, p_peer_id) THEN
            IF ssb_internal.is_streaming_to(p_peer_id) THEN
                RETURN;
            END IF;
        END IF;
    END IF;
    PERFORM pg_notify('ssb_transport', p_peer_id::text) WHERE current_setting('ssb.two_phase', true) IS DISTINCT FROM 'on';
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.announce_departure_to(integer) FROM PUBLIC;

-- The daemon reads set after set for this peer from now on.
--
-- Called by  daemon/transport.py
CREATE OR REPLACE FUNCTION ssb_internal.start_streaming(p_peer_id integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_peer_id BETWEEN 1 AND 62 AND NOT ssb_internal.is_streaming_to(p_peer_id) THEN
        PERFORM setval('ssb.transport_streaming',
                       coalesce(pg_sequence_last_value('ssb.transport_streaming'), 0) | (1::bigint << (p_peer_id - 1)));
    END IF;
    RETURN p_peer_id BETWEEN 1 AND 62;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.start_streaming(integer) FROM PUBLIC;

-- … and no more: it has to be told. True: by everybody, after one more look. False: transactions that told nothing are not over.
-- NULL: for any peer, as when a daemon begins.
--
-- Called by  daemon/transport.py
CREATE OR REPLACE FUNCTION ssb_internal.stop_streaming(p_peer_id integer)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_streaming bigint := coalesce(pg_sequence_last_value('ssb.transport_streaming'), 0);
    v_left bigint := coalesce(v_streaming & ~(1::bigint << (p_peer_id - 1)), 0);
BEGIN
    IF v_left <> v_streaming THEN
        PERFORM setval('ssb.transport_streaming', v_left);
    END IF;
    RETURN p_peer_id IS NULL OR pg_try_advisory_xact_lock(1397965384, p_peer_id);
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.stop_streaming(integer) FROM PUBLIC;
