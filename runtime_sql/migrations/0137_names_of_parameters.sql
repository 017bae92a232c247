-- Its parameters have the names that docs/api.md tells: queue, back, step.
DROP FUNCTION IF EXISTS ssb.queue_history(text, interval, interval);
