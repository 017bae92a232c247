-- Its result has another type.
DROP FUNCTION IF EXISTS ssb_internal.next_set(integer, uuid, integer, bigint, bigint, bigint[], integer, bigint, bigint, bigint[], bigint[],
                                              bigint[], text[], uuid[]);
