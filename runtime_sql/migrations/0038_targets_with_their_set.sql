-- What it did is a part of ssb_internal.take_plain.
DROP FUNCTION IF EXISTS ssb_internal.make_targets_for_remote(jsonb, boolean, bigint[], bigint[], integer[], integer[]);
-- It is asked without those that look themselves.
DROP FUNCTION IF EXISTS ssb_internal.transport_peers();
