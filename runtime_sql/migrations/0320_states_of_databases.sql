-- Of ONLINE, OFFLINE and EMERGENCY a database has one, of MULTI_USER, RESTRICTED_USER and SINGLE_USER too. What ALTER DATABASE
-- recorded before had no effect, and kept them all.
UPDATE ssb.database AS d SET options = d.options - '{EMERGENCY,MULTI_USER,OFFLINE,ONLINE,RESTRICTED_USER,SINGLE_USER}'::text[];
