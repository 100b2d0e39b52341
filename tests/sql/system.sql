-- System functions: information about the server, its objects and its values.
SELECT pg_size_pretty([[0¦1¦-1¦10239¦10240¦20479¦1048575¦10485247¦10485248¦-10485760¦9223372036854775807]]::[[bigint¦numeric]]), pg_size_pretty([[1e20¦-1e30¦0.5¦10240.7]]::numeric)
SELECT pg_size_bytes('[[1¦ 2 kB ¦1.5MB¦-.5gb¦1e2tb¦3 PB¦10 bytes¦1.e3¦¦x¦1 b¦1e kb¦+1kB¦1e-1MB¦9999 PB¦1 kB x]]')
SELECT num_nulls([[1¦null¦1, null, 'x'¦null, null¦variadic array[1, null]¦variadic null::int[]]]), num_nonnulls([[1¦null¦1, null, 'x'¦variadic array[1, null]]])
SELECT num_nulls()
SELECT parse_ident('[[a¦a.b¦"A b".c¦ a . "b""c" ¦a.b.c(int)¦a.¦.a¦"¦""¦1a¦a b¦ÄÖ.x$1¦_x¦]]'[[¦, false]])
SELECT convert_to('[[aé¦¦€]]', '[[UTF8¦LATIN1¦latin9¦WIN1252¦SQL_ASCII¦nope]]')
SELECT convert_from('\x[[61¦e9¦c3a9¦ff¦80¦00¦]]', '[[UTF8¦LATIN1¦WIN1252¦KOI8R¦SQL_ASCII¦nope]]')
SELECT convert('\x[[61¦c3a9¦c1¦d0a9]]', '[[UTF8¦LATIN1¦KOI8R]]', '[[UTF8¦LATIN9¦WIN1251]]')
SELECT length('\xc3a9', '[[UTF8¦LATIN1¦nope]]'), length('\xff', 'UTF8')
SELECT to_ascii('x')
SELECT amname, p, pg_indexam_has_property(a.oid, p) FROM pg_am a, unnest(array['can_order','CAN_UNIQUE','can_multi_col','can_exclude','can_include','bogus']) p ORDER BY 1, 2
CREATE TABLE sys_t (a int PRIMARY KEY, b text COLLATE "C", c numeric)
CREATE INDEX sys_i ON sys_t (b DESC, c NULLS FIRST, (a + 1)) INCLUDE (a) WHERE c > 10
SELECT p, pg_index_has_property('[[sys_i¦sys_t¦sys_t_pkey]]'::regclass, p) FROM unnest(array['clusterable','index_scan','bitmap_scan','backward_scan','bogus']) p ORDER BY 1
SELECT n, p, pg_index_column_has_property('sys_i', n, p) FROM generate_series(0, 5) n, unnest(array['asc','desc','nulls_first','nulls_last','orderable','distance_orderable','returnable','search_array','search_nulls','bogus']) p ORDER BY 1, 2
SELECT pg_get_indexdef('sys_i'::regclass, [[0¦1¦2¦3¦4¦5]], [[true¦false]])
SELECT n, pg_indexam_progress_phasename(403, n) FROM generate_series(0, 6) n ORDER BY 1
SELECT i, pg_encoding_to_char(i), pg_encoding_max_length(i) FROM generate_series(-1, 43) i ORDER BY 1
SELECT pg_describe_object('[[pg_class¦pg_proc¦pg_type¦pg_operator¦pg_namespace¦pg_cast¦pg_am¦pg_authid¦pg_collation¦pg_opclass]]'::regclass, [[1259¦11¦23¦96¦403¦10¦1¦100¦424242]], [[0¦1¦99]])
SELECT * FROM pg_identify_object('[[pg_class¦pg_proc¦pg_type¦pg_operator¦pg_namespace¦pg_am¦pg_authid¦pg_collation]]'::regclass, [[1259¦11¦23¦96¦403¦10¦1¦100¦424242]], [[0¦1]])
SELECT * FROM pg_identify_object_as_address('[[pg_class¦pg_proc¦pg_type¦pg_operator]]'::regclass, [[1259¦31¦23¦96]], [[0¦1]])
SELECT pg_identify_object('pg_class'::regclass, 'sys_t'::regclass, [[0¦2]]), pg_describe_object('pg_class'::regclass, 'sys_t'::regclass, [[0¦2]])
SELECT pg_describe_object(refclassid, refobjid, refobjsubid), deptype FROM pg_depend WHERE objid = '[[sys_i¦sys_t¦sys_t_pkey]]'::regclass ORDER BY 1, 2
SELECT pg_identify_object('pg_constraint'::regclass, oid, 0) FROM pg_constraint WHERE conrelid = 'sys_t'::regclass
SELECT count(*), count(pg_describe_object(classid, objid, objsubid)) > 0 FROM pg_depend WHERE classid = 'pg_amop'::regclass
SELECT pg_describe_object('pg_amop'::regclass, oid, 0) FROM pg_amop WHERE amopfamily = 1976 ORDER BY 1
SELECT pg_describe_object('pg_amproc'::regclass, oid, 0) FROM pg_amproc WHERE amprocfamily = 1976 ORDER BY 1
SELECT pg_[[collation¦opclass¦opfamily¦conversion¦ts_config¦ts_dict¦ts_parser¦ts_template¦statistics_obj]]_is_visible([[100¦1978¦1976¦4403¦3748¦3765¦3722¦3727¦424242]])
SELECT [[age('3'::xid) > 0¦age('2'::xid)¦mxid_age('1') >= 0¦mxid_age('0')¦length(timeofday()) > 20¦current_query()]]
SELECT pg_snapshot_xmin('12:18:14,16'), pg_snapshot_xmax('12:18:14,16'), pg_visible_in_snapshot('[[11¦14¦15¦18]]', '12:18:14,16')
SELECT '[[12:13:¦12:18:14,16¦31:12:¦0:1:¦12:13:0¦12:16:14,13¦12:16:14,14¦x]]'::pg_snapshot
SELECT x FROM pg_snapshot_xip('12:18:14,16') x ORDER BY 1
SELECT txid_snapshot_xmin('12:18:14,16'), pg_xact_status('[[1¦2]]'), pg_visible_in_snapshot(pg_current_xact_id(), pg_current_snapshot())
SELECT pg_xact_status('99999999999')
SELECT * FROM pg_get_multixact_members('[[0¦4294967295]]')
SELECT pg_collation_for([['a'::text¦'a'¦'a' collate "C"¦1]])
SELECT has_server_privilege('[[x¦postgres', 'x]]', 'usage')
SELECT has_foreign_data_wrapper_privilege('x', '[[usage¦foo]]')
SELECT has_parameter_privilege('[[work_mem¦Work_Mem]]', '[[set¦alter system¦SET, ALTER SYSTEM¦set with grant option¦foo]]'), has_parameter_privilege('pg_monitor', 'work_mem', 'set')
SELECT has_column_privilege('[[postgres¦pg_monitor¦nobody]]', [['sys_t'¦'sys_t'::regclass]], [[1::int2¦'b'¦'x'¦9::int2]], '[[select¦update¦foo]]')
SELECT row_security_active('sys_t'), row_security_active('[[sys_t¦nope]]'::text)
SELECT count(*) FROM pg_prepared_statements WHERE name = 'sys_p'
PREPARE sys_p(int, text) AS SELECT $1, $2
SELECT name, statement, parameter_types, from_sql FROM pg_prepared_statements WHERE name = 'sys_p'
DEALLOCATE sys_p
BEGIN
DECLARE sys_c [[¦no scroll ¦scroll ¦binary ]]CURSOR FOR SELECT 1
SELECT name, statement, is_holdable, is_binary FROM pg_cursors
CLOSE ALL
COMMIT
SELECT * FROM pg_available_extensions WHERE name = 'nope'
SELECT name FROM pg_config ORDER BY 1
SELECT * FROM pg_timezone_abbrevs WHERE abbrev IN ('UTC', 'CET', 'IST', 'ACDT') ORDER BY 1
SELECT name, is_dst FROM pg_timezone_names WHERE name IN ('UTC', 'Asia/Tokyo') ORDER BY 1
SELECT get_current_ts_config(), count(*) FROM ts_token_type('default')
SELECT * FROM ts_token_type([[3722¦1]]) ORDER BY 1 LIMIT 3
SELECT * FROM pg_options_to_table(array['a=1', 'b', 'c=d=e']) ORDER BY 1
SELECT pg_filenode_relation(0, pg_relation_filenode('sys_t')) = 'sys_t'::regclass, pg_filenode_relation(0, 1)
SELECT pg_get_replica_identity_index('sys_t'), pg_relation_is_updatable('[[sys_t¦pg_roles¦pg_class_oid_index]]'::regclass, [[true¦false]]), pg_column_is_updatable('sys_t', [[1¦0]]::int2, true)
SELECT pg_tablespace_location([[0¦1663¦1664]]), pg_tablespace_size('pg_global') > 0, pg_tablespace_size([[1663¦99999]]) > 0
SELECT pg_tablespace_databases([[1664¦424242]])
SELECT length(pg_read_file('PG_VERSION')), pg_read_file('PG_VERSION', 0, [[2¦-1]]), pg_read_binary_file('PG_VERSION', 1, 10)
SELECT pg_read_file('[[nope¦PG_VERSION]]', 0, 10, [[true¦false]])
SELECT pg_ls_dir('[[global¦nope]]') x ORDER BY 1 LIMIT 0
SELECT x FROM pg_ls_dir('.'[[¦, false, true]]) x WHERE x IN ('.', '..', 'base', 'global', 'PG_VERSION') ORDER BY 1
SELECT size, isdir FROM pg_stat_file('[[PG_VERSION¦nope]]'[[¦, true]])
SELECT count(*) > 0 FROM pg_ls_waldir()
SELECT count(*) FROM pg_ls_[[tmpdir¦archive_statusdir¦logicalsnapdir¦logicalmapdir]]()
SELECT pg_ls_replslotdir('x')
SELECT [[pg_stat_reset¦pg_stat_clear_snapshot¦pg_stat_force_next_flush]]() IS NULL
SELECT pg_stat_reset_shared('[[bgwriter¦wal¦x]]')
SELECT pg_extension_config_dump('sys_t', '')
SELECT count(*) FROM pg_stat_[[archiver¦wal¦wal_receiver¦subscription¦subscription_stats¦replication_slots]]
SELECT archived_count, failed_count FROM pg_stat_archiver
SELECT pg_trigger_depth(), pg_safe_snapshot_blocking_pids(0), pg_advisory_unlock_all(), pg_my_temp_schema()
SELECT count(*) FROM pg_walfile_name_offset('0/1000001')
SELECT * FROM pg_walfile_name_offset('0/1000001')
SELECT pg_walfile_name_offset('0/1000001')
SELECT pg_control_version, catalog_version_no FROM pg_control_system()
SELECT pg_get_statisticsobjdef_expressions(1), pg_get_statisticsobjdef(1)
SELECT pg_xact_commit_timestamp('3')
SELECT aclinsert('{}', '=r/postgres')
DROP TABLE sys_t
SELECT * FROM information_schema._pg_expandarray([[array[5,6,7]¦'[3:4]={a,b}'::text[]¦'{{1,2},{3,4}}'::int[]¦'{}'::int[]¦null::int[]¦'1 2 4'::int2vector¦3]]) ORDER BY 2
SELECT (information_schema._pg_expandarray([[array['x','y']¦'7 8'::oidvector]])).*
SELECT (k).x, (k).n, pg_typeof((k).x) FROM (SELECT information_schema._pg_expandarray('[[{1,2}¦{}]]'::int8[]) AS k) q ORDER BY 2
CREATE FUNCTION sys_f(anyelement, n int, OUT x anyelement, OUT y anyarray) RETURNS SETOF record LANGUAGE sql AS 'SELECT $1, array[$1, $1] FROM generate_series(1, n)'
SELECT * FROM sys_f([[1.5¦'a'::text¦date '2020-01-01'¦null::int]], 2)
SELECT s, (s).y[2], pg_typeof((s).y) FROM sys_f([[true¦'a'::name]], 2) s
DROP FUNCTION sys_f
CREATE FUNCTION sys_f(anyarray, OUT a anyelement, OUT b anyarray) LANGUAGE sql AS 'SELECT $1[1], $1'
SELECT *, pg_typeof(a) FROM sys_f([['{x}'::text[]¦array[1,2]]]) WITH ORDINALITY
DROP FUNCTION sys_f
CREATE FUNCTION sys_f(anyarray) RETURNS TABLE (e anyelement, i int) LANGUAGE sql AS 'SELECT e, o::int FROM unnest($1) WITH ORDINALITY u(e, o)'
SELECT *, pg_typeof(e) FROM sys_f([['{x,y}'::text[]¦array[1.5]]])
DROP FUNCTION sys_f
BEGIN; SET LOCAL [[wal_compression¦synchronous_commit¦client_min_messages¦log_min_messages]] = '[[on¦off¦true¦No¦1¦0¦debug¦info¦pglz¦LZ4¦zstd¦remote_write¦lzma]]'; SHOW wal_compression; SHOW synchronous_commit; SHOW client_min_messages; SHOW log_min_messages; ROLLBACK
ROLLBACK
BEGIN; SET LOCAL [[log_statement_stats¦log_planner_stats]] = on; SET LOCAL [[log_parser_stats¦log_executor_stats¦log_statement_stats]] = [[on¦off]]; ROLLBACK
ROLLBACK
SELECT set_config('log_planner_stats', 'on', true), set_config('log_statement_stats', 'on', true)
SET wal_consistency_checking = '[[heap, foo¦xlog¦heap,,¦Transaction]]'
BEGIN; SET LOCAL wal_consistency_checking = '[[Heap, BTREE¦all¦"heap"¦]]'; SHOW wal_consistency_checking; ROLLBACK
SET [[commit_delay = 100001¦commit_delay = '1ms'¦commit_siblings = 1001¦backend_flush_after = '4MB'¦wal_sync_method = fsync¦max_wal_size = '1GB'¦wal_buffers = 1¦wal_skip_threshold = -1]]
ALTER SYSTEM SET [[checkpoint_timeout = 5¦checkpoint_timeout = '25h'¦checkpoint_completion_target = 1.5¦max_wal_size = '1MB'¦bgwriter_delay = 5¦bgwriter_lru_multiplier = 11¦wal_buffers = '3GB'¦wal_writer_delay = 0¦wal_sync_method = fsync_writethrough¦wal_compression = gzip¦checkpoint_flush_after = 257¦checkpoint_segments = 3]]
SELECT [[pg_walfile_name¦pg_walfile_name_offset]]('[[0/0¦0/1¦0/1000000¦0/1000001¦1/2345678¦FFFFFFFF/FFFFFFFF]]')
SELECT pg_wal_lsn_diff('[[0/0¦1/0¦FFFFFFFF/FFFFFFFF]]', '[[0/0¦0/FFFFFFFF¦FFFFFFFF/FFFFFFFF]]')
SELECT [[pg_promote()¦pg_wal_replay_pause()¦pg_wal_replay_resume()¦pg_is_wal_replay_paused()¦pg_get_wal_replay_pause_state()¦pg_last_wal_replay_lsn()¦pg_last_wal_receive_lsn()]]
EXPLAIN ([[wal¦analyze, wal off, costs off, timing off, summary off¦wal 'foo']]) SELECT 1
-- Statistics of columns with NULLs or wide values, of arrays of any type, and of types without equality.
CREATE TABLE sampled AS SELECT g AS id, CASE WHEN g % 3 = 0 THEN g END AS third, CASE WHEN g % 2 = 0 THEN repeat(g::text, 5000) ELSE g::text END AS wide, '{}'::json AS j FROM generate_series(1, 100) g
ALTER TABLE sampled ADD b bool DEFAULT true, ADD i int DEFAULT 7, ADD t text DEFAULT 'late', ADD l int[] DEFAULT '{1,NULL}', ADD n numeric DEFAULT 1.5
ANALYZE sampled, pg_attribute
SELECT attname, null_frac, n_distinct, correlation FROM pg_stats WHERE tablename = 'sampled' ORDER BY attname
SELECT n_distinct, most_common_vals, histogram_bounds, correlation FROM pg_stats WHERE tablename = 'pg_attribute' AND attname = 'attmissingval'
DROP TABLE sampled
-- Dependencies on roles in pg_shdepend, for ownership and privileges, also after changes of the owner.
CREATE ROLE noted1; CREATE ROLE noted2; CREATE TABLE noted (a int, b int); CREATE TYPE noted_type AS (a int); CREATE PROCEDURE noted_proc() LANGUAGE sql AS ''
GRANT SELECT (a), UPDATE (b) ON noted TO noted1 WITH GRANT OPTION; GRANT EXECUTE ON PROCEDURE noted_proc() TO noted2; GRANT INSERT (a) ON noted TO noted2
ALTER TABLE noted OWNER TO noted1; ALTER TYPE noted_type OWNER TO noted1
SELECT pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, 0), deptype FROM pg_shdepend WHERE refobjid::regrole::text LIKE 'noted%' ORDER BY 1, 2, 3
DROP ROLE [[noted1¦noted2]]
GRANT nope1 TO nope2; REVOKE nope1 FROM nope2
DROP OWNED BY noted1[[¦, noted2]]; DROP ROLE noted1[[¦, noted2]]
DROP PROCEDURE noted_proc; DROP ROLE noted2
-- Void is a value, not NULL.
select pg_sleep(0) is null, pg_sleep(0.01) is null, pg_sleep_for('0') is null, pg_sleep_until(now()) is null;
select count(pg_sleep(0)), count(setseed(0.5)), count(pg_advisory_xact_lock(1)), count(pg_notify('a', 'b'));
