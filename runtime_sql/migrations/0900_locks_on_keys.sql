-- Locks on keys are those of HOLDLOCK, too. The rows say nothing: a fresh table serves as well.
DROP FUNCTION IF EXISTS ssb_internal.lock_duplicate(oid, text);
DROP FUNCTION IF EXISTS ssb_internal.forget_duplicate_locks();
DROP TABLE IF EXISTS ssb.duplicate_lock;
