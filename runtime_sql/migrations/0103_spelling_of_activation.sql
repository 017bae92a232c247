-- sys.service_queues shows the procedure's name as it is spelled when the procedure is gone, too.
ALTER TABLE ssb.queue ADD COLUMN IF NOT EXISTS activation_spelling text;
