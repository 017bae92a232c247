-- It can raise what was reported.
DROP PROCEDURE IF EXISTS ssb_internal.end_batch(ssb.session, boolean, boolean);
