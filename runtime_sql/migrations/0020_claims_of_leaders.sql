-- It is told the leader's claim: END has removed the leader by then.
DROP FUNCTION IF EXISTS ssb_internal.hand_over_group(bigint);
