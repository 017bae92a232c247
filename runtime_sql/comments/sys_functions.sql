-- What \df+ sys.* shows: a sentence for each function of schema sys, which its overloads share. Scripts call most of them by the
-- name of T-SQL; the others are what compiled text or another function calls.
-- Read by ssb_internal.describe_routines (comments/describe.sql); functions that are not installed are passed over.
DO $$ BEGIN PERFORM ssb_internal.describe_routines('sys', $words$
convert_bigint, convert_int, convert_smallint, convert_tinyint: CAST and CONVERT to the integer type of that name: blanks and a sign are read, fractions cut; error 245 or an overflow's otherwise.
convert_bit: CAST and CONVERT to bit: 0, or 1 for any other number; of texts TRUE and FALSE too.
convert_decimal: CAST and CONVERT to decimal: rounded to the scale; error 8115 where the precision is too small.
convert_money, convert_smallmoney: CAST and CONVERT to the money type of that name: four decimals, currency signs and commas are read.
convert_float, convert_real: CAST and CONVERT to the floating-point type of that name.
convert_uniqueidentifier: CAST and CONVERT to uniqueidentifier; what follows the 36 characters is ignored.
convert_varchar, convert_nvarchar: CAST and CONVERT to the string type of that name, in a style; length NULL: (max).
convert_char, convert_nchar: CAST and CONVERT to the string type of that name, in a style, filled with blanks.
convert_varbinary, convert_binary: CAST and CONVERT to the binary type of that name; style 1 and 2 read hexadecimal text.
convert_date, convert_time, convert_datetime, convert_datetime2, convert_smalldatetime, convert_datetimeoffset: CAST and CONVERT to the date or time type of that name, in a style; error 241 for what is none, 242 outside its range.
try_convert_bigint, try_convert_int, try_convert_smallint, try_convert_tinyint, try_convert_bit, try_convert_decimal, try_convert_money, try_convert_smallmoney, try_convert_float, try_convert_real, try_convert_uniqueidentifier, try_convert_varchar, try_convert_nvarchar, try_convert_char, try_convert_nchar, try_convert_varbinary, try_convert_binary, try_convert_date, try_convert_time, try_convert_datetime, try_convert_datetime2, try_convert_smalldatetime, try_convert_datetimeoffset: TRY_CAST and TRY_CONVERT to the type of that name: as CONVERT, but NULL where that is an error.
parse_bigint, parse_int, parse_smallint, parse_tinyint, parse_decimal, parse_money, parse_smallmoney, parse_float, parse_real, parse_date, parse_time, parse_datetime, parse_datetime2, parse_smalldatetime, parse_datetimeoffset: PARSE to the type of that name, by the rules of a culture; error 9819 where the text is none.
try_parse_bigint, try_parse_int, try_parse_smallint, try_parse_tinyint, try_parse_decimal, try_parse_money, try_parse_smallmoney, try_parse_float, try_parse_real, try_parse_date, try_parse_time, try_parse_datetime, try_parse_datetime2, try_parse_smalldatetime, try_parse_datetimeoffset: TRY_PARSE to the type of that name: as PARSE, but NULL where that is an error.
nvarchar_to_varbinary, nvarchar_to_binary: CONVERT of an nvarchar with a style to the binary type of that name.
try_nvarchar_to_varbinary, try_nvarchar_to_binary: TRY_CONVERT of an nvarchar with a style to the binary type of that name.
clock_to_varchar: CONVERT to varchar of a datetimeoffset whose wall clock is known.
datetime2_to_varchar, datetimeoffset_to_varchar, time_to_varchar, money_to_varchar: CONVERT to varchar of a value of the type of that name.
try_money_to_varchar: TRY_CONVERT to varchar of a money: NULL where it is too long.
short_xml_text: CAST and CONVERT of xml to a string type with a length: error 6354 where the text is longer; with attempt, NULL.
isnull: ISNULL where neither type is known: the second value takes the type of the first.

read_integer, read_decimal, read_float, read_money, read_number, read_hex, read_uniqueidentifier, read_bit: Part of the conversions: reads a text; NULL for what is none.
read_integer_of, read_number_of, read_bit_of, uniqueidentifier_of, bit_of: Part of the conversions: reads a text, or raises the error of CONVERT.
try_read_integer: Part of the conversions: reads an integer within limits; NULL for what is none.
without_currency, money_of_digits, in_parentheses, money_of, fit_money, is_within_money: Part of the conversions to money.
decimal_of, fit_decimal, small_integer, tinyint_result, integer_of_bytes, decimal_of_bytes, exact_decimal: Part of the conversions to numbers.
datetime_number, datetime_of_number, datetime_of_bytes, moment_in_bytes, moment_of_bytes, of_little_endian, moment_within, moment_from, is_moment_within: Part of the conversions between datetime, numbers and bytes.
four_digit_year, month_number, date_order, read_datetime, read_datetime_as, read_any_datetime_as, is_default_datetime, default_datetime, round_datetime, round_smalldatetime, round_moment: Part of the conversions from text to dates.
fraction_text, date_in_style, clock_in_style, date_and_clock, datetime_text, offset_text, datetimeoffset_text: Part of the conversions from dates to text.
scientific, with_exponent, float_digits, float_text, number_text, hex_text, uuid_text: Part of the conversions from numbers and bytes to text.
varchar_of, text_of, try_text_of, text_of_utf16, text_of_cp1252: Part of the conversions from bytes to text.
first_bytes, last_bytes, zeros, swap_uuid_bytes, bytes_of_text, bytes_of_decimal, bytes_of_datetime, bytes_of_smalldatetime, bytes_of_datetime2, bytes_of_datetimeoffset, bytes_of_date, bytes_of_time, time_width, little_endian: Part of the conversions to bytes.
culture, known_culture: What a culture does with numbers and dates: NULL, or error 9818, for an unknown one.
parse_number, parse_moment, parse_failed: Part of PARSE.

getdate: GETDATE() and CURRENT_TIMESTAMP: the clock now, in the session's time zone, to the millisecond.
getutcdate: GETUTCDATE(): the clock now, UTC, to the millisecond.
sysdatetime: SYSDATETIME(): the clock now, in the session's time zone, to the microsecond.
sysutcdatetime: SYSUTCDATETIME(): the clock now, UTC, to the microsecond.
sysdatetimeoffset: SYSDATETIMEOFFSET(): the moment now.
current_timezone: CURRENT_TIMEZONE(): the session's time zone.
dateadd: DATEADD: so many parts later. A month that is too short gives its last day.
datediff: DATEDIFF: how many boundaries of the part lie between two moments.
datediff_big: DATEDIFF_BIG: how many boundaries of the part lie between two moments, as bigint.
datepart: DATEPART: a part of a date, as a number.
datename: DATENAME: a part of a date, as text; months and days in English.
datetrunc: DATETRUNC: the beginning of the part.
date_bucket: DATE_BUCKET: the beginning of the bucket of so many parts, counted from an origin.
eomonth: EOMONTH: the last day of the month, so many months on.
year, month, day: YEAR, MONTH and DAY of a date.
isdate: ISDATE: 1 where CONVERT to datetime would succeed.
datefromparts, datetimefromparts, smalldatetimefromparts, datetime2fromparts, timefromparts, datetimeoffsetfromparts: The function of that name: a date or time made of its parts; error 289 where it is none.
switchoffset, switchoffset_clock: SWITCHOFFSET: the same moment with another offset; _clock: its wall clock.
todatetimeoffset, todatetimeoffset_clock: TODATETIMEOFFSET: a wall clock with an offset; _clock: the wall clock.
at_time_zone, at_time_zone_clock: AT TIME ZONE, with Windows' names of zones and IANA's; _clock: the wall clock there.
datefirst: @@DATEFIRST: the first day of the week, 1 for Monday to 7.
language, langid: @@LANGUAGE and @@LANGID: what SET LANGUAGE chose.
set_date_option: SET DATEFIRST, SET DATEFORMAT and SET LANGUAGE.
dateadd_other, dateadd_within, is_date_within, datediff_other, datepart_other, datetrunc_other, date_part_text, date_part_name, full_date_part, datediff_int, is_int, moment_of: Part of the functions of dates.
weekday_from, week_from, weekday_number, week_number: Part of DATEPART: day of the week and week of the year.
moment_from_parts, micros_of_fractions: Part of the functions that make dates of their parts.
offset_minutes, time_zone: Part of the functions of time zones.

len: LEN: characters without the blanks at the end.
datalength, datalength_utf16: DATALENGTH: bytes, of text as the instance keeps it, or UTF-16.
left, right: LEFT and RIGHT: so many characters; error 536 for a negative number.
substring: SUBSTRING: from a place on, counted from 1; error 537 for a negative length.
charindex: CHARINDEX: the place of a text in another, from 1; 0: it is not there.
patindex: PATINDEX: the place where a pattern fits, from 1; 0: nowhere.
like: LIKE, for patterns that are not known before.
like_before_blanks: LIKE of what is not Unicode: blanks at the end of the value may be left out.
stuff: STUFF: puts a text in the place of another; NULL outside of the string.
replicate: REPLICATE: the same text many times.
space: SPACE: so many blanks.
replace, replace_ci: REPLACE; _ci: where case does not count.
lower, upper: LOWER and UPPER.
ltrim, rtrim, trim: LTRIM, RTRIM and TRIM of blanks.
reverse: REVERSE: the characters from the end.
ascii, char: ASCII and CHAR: the code in Windows-1252, and its character.
unicode, nchar: UNICODE and NCHAR: the code point, and its character.
quotename: QUOTENAME: in brackets unless another quote is given; NULL for more than 128 characters.
parsename: PARSENAME: part 1 of a name is the object, 2 the schema, 3 the database, 4 the server.
str: STR: a number to the right of so many characters; asterisks where it is too long.
translate: TRANSLATE: character by character; error 9828 for lists of different lengths.
string_split: STRING_SPLIT: a row for each piece.
string_escape: STRING_ESCAPE: for JSON.
soundex, difference: SOUNDEX: four characters for how a word sounds; DIFFERENCE: how many of them agree.
format: FORMAT: a value in a .NET format and a culture.
formatmessage, formatmessage_of: FORMATMESSAGE and RAISERROR's texts: arguments in the places of a text, or of a message's.
concat_stored: CONCAT and CONCAT_WS in computed columns.
moment_stored: CAST and CONVERT of strings to dates and times in computed columns.
write, check_write: UPDATE … SET column.WRITE.
hashbytes: HASHBYTES: MD5, SHA, SHA1, SHA2_256, SHA2_512; NULL for another name.
checksum, binary_checksum: CHECKSUM and BINARY_CHECKSUM: equal for equal lists, but other numbers than SQL Server's.
checksum_agg: CHECKSUM_AGG: of all rows, in any order.
crypt_gen_random: CRYPT_GEN_RANDOM: random bytes.
fn_varbintohexstr, fn_varbintohexsubstring: Bytes as hexadecimal text.
month_names, day_names, short_name, format_moment, format_time, format_number, format_number_custom, plain_number, group_digits: Part of FORMAT.
digits_of: Part of FORMATMESSAGE.
sha1, builtin_hash, other_hash, checksum_agg_step: Part of HASHBYTES and CHECKSUM_AGG.
invalid_length: Part of LEFT, RIGHT and SUBSTRING: their error.
pattern_body, regex_literal, is_plain_pattern, plain_pattern_body, ends_in_percent, anchored_body, like_regex, one_percent_in_front, before_match: Part of LIKE and PATINDEX: the regular expression of a pattern.
without_accents: A text as collations compare it that ignore accents.

round: ROUND: to so many digits; with a third argument it cuts.
ceiling, floor, sign: CEILING, FLOOR and SIGN.
power: POWER: of an integer an integer, cut.
sqrt, square, exp, log, log10: The function of that name; error 3623 outside of its domain.
rand: RAND: a number from 0 to 1; after a seed always the same ones, but not SQL Server's.
isnumeric: ISNUMERIC: 1 for what converts to any of the number types.
generate_series: GENERATE_SERIES: from start to stop, by 1 or -1 unless a step is given.
add, subtract: + and - where the types of the operands are not known before.
shift: LEFT_SHIFT and RIGHT_SHIFT.
bit_count: BIT_COUNT: how many bits are 1.
get_bit, set_bit: GET_BIT and SET_BIT: places count from 0, at the right.
avg, avg_int: AVG: of integers an integer, cut.
min, max: MIN and MAX of uniqueidentifier and binary values.
first_present, last_present: FIRST_VALUE and LAST_VALUE … IGNORE NULLS.
percentile_cont, percentile_disc: PERCENTILE_CONT and PERCENTILE_DISC.
percent_of_rows: TABLESAMPLE (n ROWS) as a percentage.
top_count: TOP (n): error 1060 for NULL.
power_cut, invalid_float: Part of the functions of numbers: their errors.
number_of_bits, low_bits, check_bit_place, check_bit, bit_width: Part of the functions of bits.
avg_int_step, avg_int_join, avg_int_result, avg_integer_result, avg_bigint_step, avg_bigint_result, avg_numeric_step, avg_numeric_result: Part of AVG.
lesser, greater: Part of MIN and MAX.
earlier_value, later_value: Part of FIRST_VALUE and LAST_VALUE … IGNORE NULLS.

isjson: ISJSON: 1 for an object or array, or for the kind that is given.
json_value: JSON_VALUE: a scalar at a path, as text.
json_query: JSON_QUERY: an object or array at a path, as it is written.
json_modify: JSON_MODIFY: the text with another value at a path.
json_path_exists: JSON_PATH_EXISTS: 1 where the path leads to something.
openjson, openjson_rows: OPENJSON: a row for each member or element; _rows: for a WITH clause.
json_atom, json_bit, json_auto: FOR JSON: a value, and the rows of several tables.
try_json, read_json, json_path_steps, json_at, json_find, json_set, json_modify_with: Part of the functions of JSON.

xml_of, try_xml_of: CAST and CONVERT to xml; try_: NULL where that is an error.
xml_to_text, xml_to_bytes: CAST of xml to text and to bytes.
xml_is_well_formed: VALIDATION = WELL_FORMED_XML: several roots are allowed, an empty body is not.
xml_value, xml_query, xml_exist, xml_nodes: The method of an xml value: value(), query(), exist() and nodes().
xml_modify: The method modify() of an xml value: the changed value.
xml_base64, xml_boolean: value() as varbinary and as bit.
prepare_document, prepare_document_with, document, document_namespaces, remove_document: sp_xml_preparedocument and sp_xml_removedocument: keeps a document and its namespaces in the session, gives them by its number, and forgets them.
xml_atom, xml_escaped, xml_attribute, xml_leaf, xml_element, xml_group, xml_comment, xml_instruction, xml_name, xml_of_content, xml_auto, xml_nested, xml_explicit: FOR XML: a piece of what it writes.

db_id, db_name: DB_ID and DB_NAME: number and name of a T-SQL database; without an argument the session's.
original_db_name: ORIGINAL_DB_NAME(): the session's T-SQL database.
schema_id, schema_name: SCHEMA_ID and SCHEMA_NAME: number and name of a schema.
object_id, object_name, object_schema_name: OBJECT_ID, OBJECT_NAME and OBJECT_SCHEMA_NAME; NULL for what does not exist.
object_definition: OBJECT_DEFINITION: the T-SQL text where that was kept, else PostgreSQL's.
type_id, type_name: TYPE_ID and TYPE_NAME: number and name of a type.
col_name, col_length: COL_NAME and COL_LENGTH: name, and length in bytes, of a column.
index_col: INDEX_COL: name of a column of an index.
columnproperty, objectproperty, objectpropertyex, indexproperty, indexkey_property, typeproperty, databaseproperty, databasepropertyex, serverproperty, sessionproperty, collationproperty, connectionproperty, loginproperty, fileproperty, filegroupproperty, fulltextserviceproperty: The function of that name; NULL for a property or a thing that is not known.
sql_variant_property: SQL_VARIANT_PROPERTY of a value whose type is known before.
stats_date: STATS_DATE: when PostgreSQL analyzed the table last.
file_name, file_idex, filegroup_name, filegroup_id: FILE_NAME, FILE_IDEX, FILEGROUP_NAME and FILEGROUP_ID, of sys.database_files and sys.filegroups.
has_dbaccess: HAS_DBACCESS: 1 where the database exists, else NULL.
has_perms_by_name: HAS_PERMS_BY_NAME: 1 where the caller has the permission, 0 where not, NULL for what does not exist.
user_name, user_id, database_principal_id: USER_NAME, USER_ID and DATABASE_PRINCIPAL_ID: name and number of a user; without an argument the caller.
suser_name, suser_id, suser_sid, suser_sname: SUSER_NAME, SUSER_ID, SUSER_SID and SUSER_SNAME: a login, which is a PostgreSQL role.
system_user, original_login: SYSTEM_USER and ORIGINAL_LOGIN(): the login now, and that of the connection.
is_member, is_rolemember, is_srvrolemember: IS_MEMBER, IS_ROLEMEMBER and IS_SRVROLEMEMBER: 1, 0, or NULL for a role that does not exist.
host_name, host_id, app_name, program_name: HOST_NAME (the client's address), HOST_ID, APP_NAME and PROGRAM_NAME.
servername, servicename, version, max_connections: @@SERVERNAME, @@SERVICENAME, @@VERSION and @@MAX_CONNECTIONS.
lock_timeout: @@LOCK_TIMEOUT: milliseconds; -1: no limit.
dbts: @@DBTS: the rowversion that was given out last.
current_transaction_id: CURRENT_TRANSACTION_ID().
newsequentialid: NEWSEQUENTIALID(): greater than every one before on this server.
context_info, set_context_info: CONTEXT_INFO() and SET CONTEXT_INFO.
session_context, set_session_context: SESSION_CONTEXT and sp_set_session_context.
identity, scope_identity: @@IDENTITY and SCOPE_IDENTITY(): the identity value that the session made last.
ident_current, ident_seed, ident_incr: IDENT_CURRENT, IDENT_SEED and IDENT_INCR of a table.
check_identity: DBCC CHECKIDENT.
advance_identity: Part of SET IDENTITY_INSERT ON: values beyond the last one push it on.
identity_of, identity_sequence, ident_sequence: Part of the functions of identity columns.
getapplock, releaseapplock: sp_getapplock and sp_releaseapplock: 0 or 1: done, negative: not.
applock_mode, applock_test: APPLOCK_MODE and APPLOCK_TEST: what the session holds, and whether it would get a lock.
trigger_nestlevel: TRIGGER_NESTLEVEL: triggers on the call stack.
eventdata: EVENTDATA(): what fired the DDL trigger, as XML.
addmessage, altermessage, dropmessage: sp_addmessage, sp_altermessage and sp_dropmessage.
known_messages, message_text: The system's messages that are known here, and RAISERROR's text of a number.
change_extended_property: sp_addextendedproperty, sp_updateextendedproperty and sp_dropextendedproperty.
fn_my_permissions: fn_my_permissions: what the caller may do with one thing, and with its columns.
fn_listextendedproperty: fn_listextendedproperty: the properties of one thing, or of all of a kind.
cert_id, certencoded, certprivatekey, certproperty: CERT_ID, CERTENCODED, CERTPRIVATEKEY and CERTPROPERTY of a certificate.
dm_exec_sql_text: The text of a statement, by its handle.
dm_exec_input_buffer: The statement of a session.
dm_exec_query_plan: No rows: each PostgreSQL session keeps its own plans.
dm_exec_cursors: No rows: a session's cursors are its own affair.
dm_io_virtual_file_stats: No rows: PostgreSQL's pg_stat_io has such figures.
dm_db_index_physical_stats: Every index, and none fragmented.
dm_sql_referenced_entities, dm_sql_referencing_entities: No rows: pg_depend knows what depends on what.
fold: A T-SQL name as PostgreSQL keeps it: in lower case, and shortened to 63 bytes.
name_parts: The parts of a dotted T-SQL name, without quotes.
schema_in_database, tsql_schema: The PostgreSQL schema of a T-SQL one, and the other way round.
known_objects, type_numbers, indexes_of, column_of, column_bytes, user_of_role: Part of the functions of metadata.

not_null, unique_key, check_row, fitting, ignore_duplicate_key: Constraints of table variables, which compiled text calls.
without_rows, with_rows: What DELETE and UPDATE leave of a table variable, which compiled text calls.
leave_out_duplicate, begin_leaving_out: Trigger functions of IGNORE_DUP_KEY = ON.
lock_key: A lock on a key that no row has (IGNORE_DUP_KEY, HOLDLOCK), which compiled text calls.
set_rowversion: Trigger function of rowversion columns.
set_system_period, keep_history, refuse_change: Trigger functions of system-versioned tables.
$words$); END $$;
