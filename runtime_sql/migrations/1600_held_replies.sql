-- Replies to a claim whose messages go by TRUNCATE are written once: they are held until then.
DROP FUNCTION IF EXISTS ssb_internal.answer_claim(integer, regclass, bigint[], boolean);
DROP FUNCTION IF EXISTS ssb_internal.truncate_claimed(integer, bigint);
