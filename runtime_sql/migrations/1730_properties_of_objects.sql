-- What follows an altered object are extended properties of objects alone: whoever called it said of which class.
DROP FUNCTION IF EXISTS ssb_internal.move_properties(integer, bigint, bigint, integer, integer);
