-- What a procedure in pg_temp was written for is told by a key, and not by all of its body.
DROP FUNCTION IF EXISTS ssb_internal.is_own_trampoline(text, text);
