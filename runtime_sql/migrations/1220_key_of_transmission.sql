-- The transmission queue has one index less: what waits for a dialog is found by the primary key, in the order of its numbers.
ALTER TABLE IF EXISTS ssb.transmission
    DROP CONSTRAINT IF EXISTS transmission_pkey,
    ADD CONSTRAINT transmission_pkey PRIMARY KEY (endpoint_id, message_sequence_number, transmission_id);
DROP INDEX IF EXISTS ssb.transmission_by_endpoint;
