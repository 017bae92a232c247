-- Of a severity in a variable RAISERROR is told whether it has WITH LOG.
DROP FUNCTION IF EXISTS ssb_internal.raiserror(ssb.session, integer, text, integer, integer, text[], boolean, integer);
