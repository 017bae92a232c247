-- Only messages that wait here for a service are found by its name: made anew, without those that leave (schema/messages.sql).
DROP INDEX IF EXISTS ssb.transmission_by_service;
