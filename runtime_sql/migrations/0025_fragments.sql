-- Large messages travel in fragments.
ALTER TABLE ssb.remote_conversation ADD COLUMN IF NOT EXISTS sent_bytes bigint NOT NULL DEFAULT 0;
-- Indexes of the transmission queue that only statements about a dialog, or about a service, may use.
DROP INDEX IF EXISTS ssb.transmission_by_endpoint, ssb.transmission_by_service;
CREATE INDEX transmission_by_endpoint ON ssb.transmission (endpoint_id, transmission_id) WHERE endpoint_id IS NOT NULL;
CREATE INDEX transmission_by_service ON ssb.transmission (to_service, endpoint_id) WHERE to_service IS NOT NULL;
-- Replaced by functions with other parameters.
DROP FUNCTION IF EXISTS ssb_internal.secure_dialogs(bigint[]),
    ssb_internal.next_set(integer, uuid, integer, bigint, bigint[], integer, bigint, bigint, bigint[], bigint[], bigint[], text[]),
    ssb_internal.take_set(jsonb, integer[], bigint[], text[], text[], bytea[], boolean),
    ssb_internal.take_opened(jsonb, integer[], bigint[], text[], text[], bytea[]);
