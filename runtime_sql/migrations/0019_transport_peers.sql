-- Messages that may leave know their peer, and those of a dialog lie together in its index.
CREATE TABLE IF NOT EXISTS ssb.transport_peer (
    peer_id        integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    address        text    NOT NULL,
    mirror_address text
);
ALTER TABLE ssb.transmission ADD COLUMN IF NOT EXISTS peer_id integer;
ALTER TABLE ssb.remote_conversation ADD COLUMN IF NOT EXISTS peer_id integer;
DROP INDEX IF EXISTS ssb.transmission_by_priority;
INSERT INTO ssb.transport_peer (address, mirror_address)
SELECT DISTINCT r.address, r.mirror_address FROM ssb.remote_conversation AS r WHERE r.address IS NOT NULL AND r.peer_id IS NULL;
UPDATE ssb.remote_conversation AS r SET peer_id = p.peer_id, retry_at = NULL
  FROM ssb.transport_peer AS p
 WHERE p.address = r.address AND p.mirror_address IS NOT DISTINCT FROM r.mirror_address;
UPDATE ssb.transmission AS t SET peer_id = r.peer_id FROM ssb.remote_conversation AS r WHERE r.endpoint_id = t.endpoint_id;
-- Replaced by functions with other parameters.
DROP FUNCTION IF EXISTS ssb_internal.messages_to_send(text, text, integer, bigint, bigint[]), ssb_internal.transport_addresses(),
    ssb_internal.settle_sent(jsonb), ssb_internal.take_set(jsonb, integer[], bigint[], text[], text[], bytea[], boolean);
