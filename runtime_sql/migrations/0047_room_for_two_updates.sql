-- A dialog's row is written twice with its first message: when that leaves, and when it has arrived. With room for a second version of
-- all of a page's rows no index has to be written.
ALTER TABLE ssb.remote_conversation SET (fillfactor = 45);
