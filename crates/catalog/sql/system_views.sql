-- The system views, in Norsu's own text. `xtask facts` loads them into PostgreSQL 15 and records the
-- parse trees; names and columns are PostgreSQL's, as documented. Statements are separated by empty
-- lines.

-- Roles

CREATE VIEW pg_roles AS
  SELECT a.rolname, a.rolsuper, a.rolinherit, a.rolcreaterole, a.rolcreatedb, a.rolcanlogin,
         a.rolreplication, a.rolconnlimit, '********'::text AS rolpassword, a.rolvaliduntil,
         a.rolbypassrls, s.setconfig AS rolconfig, a.oid
  FROM pg_authid a LEFT JOIN pg_db_role_setting s ON s.setrole = a.oid AND s.setdatabase = 0;

CREATE VIEW pg_shadow AS
  SELECT a.rolname AS usename, a.oid AS usesysid, a.rolcreatedb AS usecreatedb,
         a.rolsuper AS usesuper, a.rolreplication AS userepl, a.rolbypassrls AS usebypassrls,
         a.rolpassword AS passwd, a.rolvaliduntil AS valuntil, s.setconfig AS useconfig
  FROM pg_authid a LEFT JOIN pg_db_role_setting s ON s.setrole = a.oid AND s.setdatabase = 0
  WHERE a.rolcanlogin;

REVOKE ALL ON pg_shadow FROM public;

CREATE VIEW pg_group AS
  SELECT a.rolname AS groname, a.oid AS grosysid,
         ARRAY(SELECT m.member FROM pg_auth_members m WHERE m.roleid = a.oid) AS grolist
  FROM pg_authid a WHERE NOT a.rolcanlogin;

CREATE VIEW pg_user AS
  SELECT usename, usesysid, usecreatedb, usesuper, userepl, usebypassrls,
         '********'::text AS passwd, valuntil, useconfig
  FROM pg_shadow;

-- Objects

CREATE VIEW pg_policies AS
  SELECT n.nspname AS schemaname, c.relname AS tablename, p.polname AS policyname,
         CASE p.polpermissive WHEN true THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END AS permissive,
         CASE WHEN p.polroles = '{0}'::oid[] THEN '{public}'::name[]
              ELSE ARRAY(SELECT r.rolname FROM pg_authid r WHERE r.oid = ANY (p.polroles)
                         ORDER BY r.rolname) END AS roles,
         CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE'
                       WHEN 'd' THEN 'DELETE' WHEN '*' THEN 'ALL' END AS cmd,
         pg_get_expr(p.polqual, p.polrelid) AS qual,
         pg_get_expr(p.polwithcheck, p.polrelid) AS with_check
  FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
       LEFT JOIN pg_namespace n ON n.oid = c.relnamespace;

CREATE VIEW pg_rules AS
  SELECT n.nspname AS schemaname, c.relname AS tablename, r.rulename,
         pg_get_ruledef(r.oid) AS definition
  FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
       LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE r.rulename <> '_RETURN';

CREATE VIEW pg_views AS
  SELECT n.nspname AS schemaname, c.relname AS viewname, pg_get_userbyid(c.relowner) AS viewowner,
         pg_get_viewdef(c.oid) AS definition
  FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'v';

CREATE VIEW pg_tables AS
  SELECT n.nspname AS schemaname, c.relname AS tablename, pg_get_userbyid(c.relowner) AS tableowner,
         t.spcname AS tablespace, c.relhasindex AS hasindexes, c.relhasrules AS hasrules,
         c.relhastriggers AS hastriggers, c.relrowsecurity AS rowsecurity
  FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
       LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
  WHERE c.relkind IN ('r', 'p');

CREATE VIEW pg_matviews AS
  SELECT n.nspname AS schemaname, c.relname AS matviewname,
         pg_get_userbyid(c.relowner) AS matviewowner, t.spcname AS tablespace,
         c.relhasindex AS hasindexes, c.relispopulated AS ispopulated,
         pg_get_viewdef(c.oid) AS definition
  FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
       LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
  WHERE c.relkind = 'm';

CREATE VIEW pg_indexes AS
  SELECT n.nspname AS schemaname, c.relname AS tablename, i.relname AS indexname,
         t.spcname AS tablespace, pg_get_indexdef(i.oid) AS indexdef
  FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
       LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
       LEFT JOIN pg_tablespace t ON t.oid = i.reltablespace
  WHERE c.relkind IN ('r', 'm', 'p') AND i.relkind IN ('i', 'I');

CREATE VIEW pg_sequences AS
  SELECT n.nspname AS schemaname, c.relname AS sequencename,
         pg_get_userbyid(c.relowner) AS sequenceowner, s.seqtypid::regtype AS data_type,
         s.seqstart AS start_value, s.seqmin AS min_value, s.seqmax AS max_value,
         s.seqincrement AS increment_by, s.seqcycle AS cycle, s.seqcache AS cache_size,
         CASE WHEN has_sequence_privilege(c.oid, 'SELECT,USAGE')
              THEN pg_sequence_last_value(c.oid) END AS last_value
  FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
       LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'S' AND NOT pg_is_other_temp_schema(n.oid);

-- Planner statistics. `stakindN` contains the kind of the statistics in slot N.

CREATE VIEW pg_stats WITH (security_barrier) AS
  SELECT n.nspname AS schemaname, c.relname AS tablename, a.attname, s.stainherit AS inherited,
         s.stanullfrac AS null_frac, s.stawidth AS avg_width, s.stadistinct AS n_distinct,
         CASE 1 WHEN s.stakind1 THEN s.stavalues1 WHEN s.stakind2 THEN s.stavalues2
                WHEN s.stakind3 THEN s.stavalues3 WHEN s.stakind4 THEN s.stavalues4
                WHEN s.stakind5 THEN s.stavalues5 END AS most_common_vals,
         CASE 1 WHEN s.stakind1 THEN s.stanumbers1 WHEN s.stakind2 THEN s.stanumbers2
                WHEN s.stakind3 THEN s.stanumbers3 WHEN s.stakind4 THEN s.stanumbers4
                WHEN s.stakind5 THEN s.stanumbers5 END AS most_common_freqs,
         CASE 2 WHEN s.stakind1 THEN s.stavalues1 WHEN s.stakind2 THEN s.stavalues2
                WHEN s.stakind3 THEN s.stavalues3 WHEN s.stakind4 THEN s.stavalues4
                WHEN s.stakind5 THEN s.stavalues5 END AS histogram_bounds,
         CASE 3 WHEN s.stakind1 THEN s.stanumbers1[1] WHEN s.stakind2 THEN s.stanumbers2[1]
                WHEN s.stakind3 THEN s.stanumbers3[1] WHEN s.stakind4 THEN s.stanumbers4[1]
                WHEN s.stakind5 THEN s.stanumbers5[1] END AS correlation,
         CASE 4 WHEN s.stakind1 THEN s.stavalues1 WHEN s.stakind2 THEN s.stavalues2
                WHEN s.stakind3 THEN s.stavalues3 WHEN s.stakind4 THEN s.stavalues4
                WHEN s.stakind5 THEN s.stavalues5 END AS most_common_elems,
         CASE 4 WHEN s.stakind1 THEN s.stanumbers1 WHEN s.stakind2 THEN s.stanumbers2
                WHEN s.stakind3 THEN s.stanumbers3 WHEN s.stakind4 THEN s.stanumbers4
                WHEN s.stakind5 THEN s.stanumbers5 END AS most_common_elem_freqs,
         CASE 5 WHEN s.stakind1 THEN s.stanumbers1 WHEN s.stakind2 THEN s.stanumbers2
                WHEN s.stakind3 THEN s.stanumbers3 WHEN s.stakind4 THEN s.stanumbers4
                WHEN s.stakind5 THEN s.stanumbers5 END AS elem_count_histogram
  FROM pg_statistic s JOIN pg_class c ON c.oid = s.starelid
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = s.staattnum
       LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, 'select')
    AND (NOT c.relrowsecurity OR NOT row_security_active(c.oid));

REVOKE ALL ON pg_statistic FROM public;

CREATE VIEW pg_stats_ext WITH (security_barrier) AS
  SELECT cn.nspname AS schemaname, c.relname AS tablename, sn.nspname AS statistics_schemaname,
         s.stxname AS statistics_name, pg_get_userbyid(s.stxowner) AS statistics_owner,
         (SELECT array_agg(a.attname ORDER BY a.attnum)
          FROM unnest(s.stxkeys) k(number)
               JOIN pg_attribute a ON a.attrelid = s.stxrelid AND a.attnum = k.number) AS attnames,
         pg_get_statisticsobjdef_expressions(s.oid) AS exprs, s.stxkind AS kinds,
         d.stxdinherit AS inherited, d.stxdndistinct AS n_distinct,
         d.stxddependencies AS dependencies, m.most_common_vals, m.most_common_val_nulls,
         m.most_common_freqs, m.most_common_base_freqs
  FROM pg_statistic_ext s JOIN pg_class c ON c.oid = s.stxrelid
       JOIN pg_statistic_ext_data d ON d.stxoid = s.oid
       LEFT JOIN pg_namespace cn ON cn.oid = c.relnamespace
       LEFT JOIN pg_namespace sn ON sn.oid = s.stxnamespace
       LEFT JOIN LATERAL (
         SELECT array_agg(i.values) AS most_common_vals, array_agg(i.nulls) AS most_common_val_nulls,
                array_agg(i.frequency) AS most_common_freqs,
                array_agg(i.base_frequency) AS most_common_base_freqs
         FROM pg_mcv_list_items(d.stxdmcv) i) m ON d.stxdmcv IS NOT NULL
  WHERE pg_has_role(c.relowner, 'USAGE') AND (NOT c.relrowsecurity OR NOT row_security_active(c.oid));

CREATE VIEW pg_stats_ext_exprs WITH (security_barrier) AS
  SELECT cn.nspname AS schemaname, c.relname AS tablename, sn.nspname AS statistics_schemaname,
         s.stxname AS statistics_name, pg_get_userbyid(s.stxowner) AS statistics_owner, x.expr,
         d.stxdinherit AS inherited, (x.a).stanullfrac AS null_frac, (x.a).stawidth AS avg_width,
         (x.a).stadistinct AS n_distinct,
         CASE 1 WHEN (x.a).stakind1 THEN (x.a).stavalues1 WHEN (x.a).stakind2 THEN (x.a).stavalues2
                WHEN (x.a).stakind3 THEN (x.a).stavalues3 WHEN (x.a).stakind4 THEN (x.a).stavalues4
                WHEN (x.a).stakind5 THEN (x.a).stavalues5 END AS most_common_vals,
         CASE 1 WHEN (x.a).stakind1 THEN (x.a).stanumbers1 WHEN (x.a).stakind2 THEN (x.a).stanumbers2
                WHEN (x.a).stakind3 THEN (x.a).stanumbers3 WHEN (x.a).stakind4 THEN (x.a).stanumbers4
                WHEN (x.a).stakind5 THEN (x.a).stanumbers5 END AS most_common_freqs,
         CASE 2 WHEN (x.a).stakind1 THEN (x.a).stavalues1 WHEN (x.a).stakind2 THEN (x.a).stavalues2
                WHEN (x.a).stakind3 THEN (x.a).stavalues3 WHEN (x.a).stakind4 THEN (x.a).stavalues4
                WHEN (x.a).stakind5 THEN (x.a).stavalues5 END AS histogram_bounds,
         CASE 3 WHEN (x.a).stakind1 THEN (x.a).stanumbers1[1]
                WHEN (x.a).stakind2 THEN (x.a).stanumbers2[1]
                WHEN (x.a).stakind3 THEN (x.a).stanumbers3[1]
                WHEN (x.a).stakind4 THEN (x.a).stanumbers4[1]
                WHEN (x.a).stakind5 THEN (x.a).stanumbers5[1] END AS correlation,
         CASE 4 WHEN (x.a).stakind1 THEN (x.a).stavalues1 WHEN (x.a).stakind2 THEN (x.a).stavalues2
                WHEN (x.a).stakind3 THEN (x.a).stavalues3 WHEN (x.a).stakind4 THEN (x.a).stavalues4
                WHEN (x.a).stakind5 THEN (x.a).stavalues5 END AS most_common_elems,
         CASE 4 WHEN (x.a).stakind1 THEN (x.a).stanumbers1 WHEN (x.a).stakind2 THEN (x.a).stanumbers2
                WHEN (x.a).stakind3 THEN (x.a).stanumbers3 WHEN (x.a).stakind4 THEN (x.a).stanumbers4
                WHEN (x.a).stakind5 THEN (x.a).stanumbers5 END AS most_common_elem_freqs,
         CASE 5 WHEN (x.a).stakind1 THEN (x.a).stanumbers1 WHEN (x.a).stakind2 THEN (x.a).stanumbers2
                WHEN (x.a).stakind3 THEN (x.a).stanumbers3 WHEN (x.a).stakind4 THEN (x.a).stanumbers4
                WHEN (x.a).stakind5 THEN (x.a).stanumbers5 END AS elem_count_histogram
  FROM pg_statistic_ext s JOIN pg_class c ON c.oid = s.stxrelid
       LEFT JOIN pg_statistic_ext_data d ON d.stxoid = s.oid
       LEFT JOIN pg_namespace cn ON cn.oid = c.relnamespace
       LEFT JOIN pg_namespace sn ON sn.oid = s.stxnamespace
       JOIN LATERAL (SELECT unnest(pg_get_statisticsobjdef_expressions(s.oid)) AS expr,
                            unnest(d.stxdexpr) AS a) x ON x.expr IS NOT NULL
  WHERE pg_has_role(c.relowner, 'USAGE') AND (NOT c.relrowsecurity OR NOT row_security_active(c.oid));

REVOKE ALL ON pg_statistic_ext_data FROM public;

CREATE VIEW pg_publication_tables AS
  SELECT p.pubname, n.nspname AS schemaname, c.relname AS tablename,
         (SELECT array_agg(a.attname ORDER BY a.attnum) FROM pg_attribute a
          WHERE a.attrelid = g.relid AND a.attnum = ANY (g.attrs)) AS attnames,
         pg_get_expr(g.qual, g.relid) AS rowfilter
  FROM pg_publication p, LATERAL pg_get_publication_tables(p.pubname::text) g,
       pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid = g.relid;

-- The state of the server

CREATE VIEW pg_locks AS
  SELECT l.* FROM pg_lock_status() l;

CREATE VIEW pg_cursors AS
  SELECT c.* FROM pg_cursor() c;

CREATE VIEW pg_available_extensions AS
  SELECT e.name, e.default_version, x.extversion AS installed_version, e.comment
  FROM pg_available_extensions() e LEFT JOIN pg_extension x ON x.extname = e.name;

CREATE VIEW pg_available_extension_versions AS
  SELECT e.name, e.version, x.extname IS NOT NULL AS installed, e.superuser, e.trusted,
         e.relocatable, e.schema, e.requires, e.comment
  FROM pg_available_extension_versions() e
       LEFT JOIN pg_extension x ON x.extname = e.name AND x.extversion = e.version;

CREATE VIEW pg_prepared_xacts AS
  SELECT p.transaction, p.gid, p.prepared, r.rolname AS owner, d.datname AS database
  FROM pg_prepared_xact() p LEFT JOIN pg_authid r ON r.oid = p.ownerid
       LEFT JOIN pg_database d ON d.oid = p.dbid;

CREATE VIEW pg_prepared_statements AS
  SELECT s.* FROM pg_prepared_statement() s;

CREATE VIEW pg_seclabels AS
  SELECT l.objoid, l.classoid, l.objsubid,
         CASE WHEN l.objsubid <> 0 THEN 'column'
              WHEN l.classoid = 'pg_class'::regclass THEN
                CASE (SELECT relkind FROM pg_class WHERE oid = l.objoid)
                  WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view'
                  WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence'
                  WHEN 'f' THEN 'foreign table' END
              ELSE (pg_identify_object(l.classoid, l.objoid, l.objsubid)).type END AS objtype,
         CASE l.classoid
           WHEN 'pg_class'::regclass THEN (SELECT relnamespace FROM pg_class WHERE oid = l.objoid)
           WHEN 'pg_proc'::regclass THEN (SELECT pronamespace FROM pg_proc WHERE oid = l.objoid)
           WHEN 'pg_type'::regclass THEN (SELECT typnamespace FROM pg_type WHERE oid = l.objoid)
           WHEN 'pg_namespace'::regclass THEN l.objoid END AS objnamespace,
         (pg_identify_object(l.classoid, l.objoid, l.objsubid)).identity COLLATE "C" AS objname,
         l.provider, l.label
  FROM pg_seclabel l
  UNION ALL
  SELECT l.objoid, l.classoid, 0, (pg_identify_object(l.classoid, l.objoid, 0)).type, NULL::oid,
         (pg_identify_object(l.classoid, l.objoid, 0)).identity COLLATE "C", l.provider, l.label
  FROM pg_shseclabel l;

CREATE VIEW pg_settings AS
  SELECT s.* FROM pg_show_all_settings() s;

CREATE RULE pg_settings_u AS ON UPDATE TO pg_settings WHERE new.name = old.name
  DO SELECT set_config(old.name, new.setting, 'f');

CREATE RULE pg_settings_n AS ON UPDATE TO pg_settings DO INSTEAD NOTHING;

GRANT SELECT, UPDATE ON pg_settings TO public;

CREATE VIEW pg_file_settings AS
  SELECT s.* FROM pg_show_all_file_settings() s;

REVOKE ALL ON pg_file_settings FROM public;

REVOKE EXECUTE ON FUNCTION pg_show_all_file_settings() FROM public;

CREATE VIEW pg_hba_file_rules AS
  SELECT r.* FROM pg_hba_file_rules() r;

REVOKE ALL ON pg_hba_file_rules FROM public;

REVOKE EXECUTE ON FUNCTION pg_hba_file_rules() FROM public;

CREATE VIEW pg_ident_file_mappings AS
  SELECT m.* FROM pg_ident_file_mappings() m;

REVOKE ALL ON pg_ident_file_mappings FROM public;

REVOKE EXECUTE ON FUNCTION pg_ident_file_mappings() FROM public;

CREATE VIEW pg_timezone_abbrevs AS
  SELECT z.* FROM pg_timezone_abbrevs() z;

CREATE VIEW pg_timezone_names AS
  SELECT z.* FROM pg_timezone_names() z;

CREATE VIEW pg_config AS
  SELECT c.* FROM pg_config() c;

REVOKE ALL ON pg_config FROM public;

REVOKE EXECUTE ON FUNCTION pg_config() FROM public;

CREATE VIEW pg_shmem_allocations AS
  SELECT a.* FROM pg_get_shmem_allocations() a;

REVOKE ALL ON pg_shmem_allocations FROM public;

GRANT SELECT ON pg_shmem_allocations TO pg_read_all_stats;

REVOKE EXECUTE ON FUNCTION pg_get_shmem_allocations() FROM public;

GRANT EXECUTE ON FUNCTION pg_get_shmem_allocations() TO pg_read_all_stats;

CREATE VIEW pg_backend_memory_contexts AS
  SELECT m.* FROM pg_get_backend_memory_contexts() m;

REVOKE ALL ON pg_backend_memory_contexts FROM public;

GRANT SELECT ON pg_backend_memory_contexts TO pg_read_all_stats;

REVOKE EXECUTE ON FUNCTION pg_get_backend_memory_contexts() FROM public;

GRANT EXECUTE ON FUNCTION pg_get_backend_memory_contexts() TO pg_read_all_stats;

-- Statistics of tables and indexes

CREATE VIEW pg_stat_all_tables AS
  SELECT c.oid AS relid, n.nspname AS schemaname, c.relname,
         pg_stat_get_numscans(c.oid) AS seq_scan,
         pg_stat_get_tuples_returned(c.oid) AS seq_tup_read,
         i.scans AS idx_scan,
         i.fetched + pg_stat_get_tuples_fetched(c.oid) AS idx_tup_fetch,
         pg_stat_get_tuples_inserted(c.oid) AS n_tup_ins,
         pg_stat_get_tuples_updated(c.oid) AS n_tup_upd,
         pg_stat_get_tuples_deleted(c.oid) AS n_tup_del,
         pg_stat_get_tuples_hot_updated(c.oid) AS n_tup_hot_upd,
         pg_stat_get_live_tuples(c.oid) AS n_live_tup,
         pg_stat_get_dead_tuples(c.oid) AS n_dead_tup,
         pg_stat_get_mod_since_analyze(c.oid) AS n_mod_since_analyze,
         pg_stat_get_ins_since_vacuum(c.oid) AS n_ins_since_vacuum,
         pg_stat_get_last_vacuum_time(c.oid) AS last_vacuum,
         pg_stat_get_last_autovacuum_time(c.oid) AS last_autovacuum,
         pg_stat_get_last_analyze_time(c.oid) AS last_analyze,
         pg_stat_get_last_autoanalyze_time(c.oid) AS last_autoanalyze,
         pg_stat_get_vacuum_count(c.oid) AS vacuum_count,
         pg_stat_get_autovacuum_count(c.oid) AS autovacuum_count,
         pg_stat_get_analyze_count(c.oid) AS analyze_count,
         pg_stat_get_autoanalyze_count(c.oid) AS autoanalyze_count
  FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
       CROSS JOIN LATERAL (
         SELECT sum(pg_stat_get_numscans(x.indexrelid))::bigint AS scans,
                sum(pg_stat_get_tuples_fetched(x.indexrelid))::bigint AS fetched
         FROM pg_index x WHERE x.indrelid = c.oid) i
  WHERE c.relkind IN ('r', 't', 'm', 'p');

CREATE VIEW pg_stat_xact_all_tables AS
  SELECT c.oid AS relid, n.nspname AS schemaname, c.relname,
         pg_stat_get_xact_numscans(c.oid) AS seq_scan,
         pg_stat_get_xact_tuples_returned(c.oid) AS seq_tup_read,
         i.scans AS idx_scan,
         i.fetched + pg_stat_get_xact_tuples_fetched(c.oid) AS idx_tup_fetch,
         pg_stat_get_xact_tuples_inserted(c.oid) AS n_tup_ins,
         pg_stat_get_xact_tuples_updated(c.oid) AS n_tup_upd,
         pg_stat_get_xact_tuples_deleted(c.oid) AS n_tup_del,
         pg_stat_get_xact_tuples_hot_updated(c.oid) AS n_tup_hot_upd
  FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
       CROSS JOIN LATERAL (
         SELECT sum(pg_stat_get_xact_numscans(x.indexrelid))::bigint AS scans,
                sum(pg_stat_get_xact_tuples_fetched(x.indexrelid))::bigint AS fetched
         FROM pg_index x WHERE x.indrelid = c.oid) i
  WHERE c.relkind IN ('r', 't', 'm', 'p');

CREATE VIEW pg_stat_sys_tables AS
  SELECT * FROM pg_stat_all_tables
  WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast';

CREATE VIEW pg_stat_xact_sys_tables AS
  SELECT * FROM pg_stat_xact_all_tables
  WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast';

CREATE VIEW pg_stat_user_tables AS
  SELECT * FROM pg_stat_all_tables
  WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast';

CREATE VIEW pg_stat_xact_user_tables AS
  SELECT * FROM pg_stat_xact_all_tables
  WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast';

CREATE VIEW pg_statio_all_tables AS
  SELECT c.oid AS relid, n.nspname AS schemaname, c.relname,
         pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid) AS heap_blks_read,
         pg_stat_get_blocks_hit(c.oid) AS heap_blks_hit,
         i.read AS idx_blks_read, i.hit AS idx_blks_hit,
         pg_stat_get_blocks_fetched(t.oid) - pg_stat_get_blocks_hit(t.oid) AS toast_blks_read,
         pg_stat_get_blocks_hit(t.oid) AS toast_blks_hit,
         ti.read AS tidx_blks_read, ti.hit AS tidx_blks_hit
  FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
       LEFT JOIN pg_class t ON t.oid = c.reltoastrelid
       CROSS JOIN LATERAL (
         SELECT sum(pg_stat_get_blocks_fetched(x.indexrelid)
                    - pg_stat_get_blocks_hit(x.indexrelid))::bigint AS read,
                sum(pg_stat_get_blocks_hit(x.indexrelid))::bigint AS hit
         FROM pg_index x WHERE x.indrelid = c.oid) i
       CROSS JOIN LATERAL (
         SELECT sum(pg_stat_get_blocks_fetched(x.indexrelid)
                    - pg_stat_get_blocks_hit(x.indexrelid))::bigint AS read,
                sum(pg_stat_get_blocks_hit(x.indexrelid))::bigint AS hit
         FROM pg_index x WHERE x.indrelid = t.oid) ti
  WHERE c.relkind IN ('r', 't', 'm');

CREATE VIEW pg_statio_sys_tables AS
  SELECT * FROM pg_statio_all_tables
  WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast';

CREATE VIEW pg_statio_user_tables AS
  SELECT * FROM pg_statio_all_tables
  WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast';

CREATE VIEW pg_stat_all_indexes AS
  SELECT c.oid AS relid, i.oid AS indexrelid, n.nspname AS schemaname, c.relname,
         i.relname AS indexrelname, pg_stat_get_numscans(i.oid) AS idx_scan,
         pg_stat_get_tuples_returned(i.oid) AS idx_tup_read,
         pg_stat_get_tuples_fetched(i.oid) AS idx_tup_fetch
  FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
       LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 't', 'm');

CREATE VIEW pg_stat_sys_indexes AS
  SELECT * FROM pg_stat_all_indexes
  WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast';

CREATE VIEW pg_stat_user_indexes AS
  SELECT * FROM pg_stat_all_indexes
  WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast';

CREATE VIEW pg_statio_all_indexes AS
  SELECT c.oid AS relid, i.oid AS indexrelid, n.nspname AS schemaname, c.relname,
         i.relname AS indexrelname,
         pg_stat_get_blocks_fetched(i.oid) - pg_stat_get_blocks_hit(i.oid) AS idx_blks_read,
         pg_stat_get_blocks_hit(i.oid) AS idx_blks_hit
  FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
       LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 't', 'm');

CREATE VIEW pg_statio_sys_indexes AS
  SELECT * FROM pg_statio_all_indexes
  WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast';

CREATE VIEW pg_statio_user_indexes AS
  SELECT * FROM pg_statio_all_indexes
  WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast';

CREATE VIEW pg_statio_all_sequences AS
  SELECT c.oid AS relid, n.nspname AS schemaname, c.relname,
         pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid) AS blks_read,
         pg_stat_get_blocks_hit(c.oid) AS blks_hit
  FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'S';

CREATE VIEW pg_statio_sys_sequences AS
  SELECT * FROM pg_statio_all_sequences
  WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast';

CREATE VIEW pg_statio_user_sequences AS
  SELECT * FROM pg_statio_all_sequences
  WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast';

-- Activity

CREATE VIEW pg_stat_activity AS
  SELECT s.datid, d.datname, s.pid, s.leader_pid, s.usesysid, r.rolname AS usename,
         s.application_name, s.client_addr, s.client_hostname, s.client_port, s.backend_start,
         s.xact_start, s.query_start, s.state_change, s.wait_event_type, s.wait_event, s.state,
         s.backend_xid, s.backend_xmin, s.query_id, s.query, s.backend_type
  FROM pg_stat_get_activity(NULL) s LEFT JOIN pg_database d ON d.oid = s.datid
       LEFT JOIN pg_authid r ON r.oid = s.usesysid;

CREATE VIEW pg_stat_replication AS
  SELECT s.pid, s.usesysid, r.rolname AS usename, s.application_name, s.client_addr,
         s.client_hostname, s.client_port, s.backend_start, s.backend_xmin, w.state, w.sent_lsn,
         w.write_lsn, w.flush_lsn, w.replay_lsn, w.write_lag, w.flush_lag, w.replay_lag,
         w.sync_priority, w.sync_state, w.reply_time
  FROM pg_stat_get_activity(NULL) s JOIN pg_stat_get_wal_senders() w ON w.pid = s.pid
       LEFT JOIN pg_authid r ON r.oid = s.usesysid;

CREATE VIEW pg_stat_slru AS
  SELECT s.* FROM pg_stat_get_slru() s;

CREATE VIEW pg_stat_wal_receiver AS
  SELECT w.* FROM pg_stat_get_wal_receiver() w WHERE w.pid IS NOT NULL;

CREATE VIEW pg_stat_recovery_prefetch AS
  SELECT p.* FROM pg_stat_get_recovery_prefetch() p;

CREATE VIEW pg_stat_subscription AS
  SELECT u.oid AS subid, u.subname, s.pid, s.relid, s.received_lsn, s.last_msg_send_time,
         s.last_msg_receipt_time, s.latest_end_lsn, s.latest_end_time
  FROM pg_subscription u LEFT JOIN pg_stat_get_subscription(NULL) s ON s.subid = u.oid;

CREATE VIEW pg_stat_ssl AS
  SELECT s.pid, s.ssl, s.sslversion AS version, s.sslcipher AS cipher, s.sslbits AS bits,
         s.ssl_client_dn AS client_dn, s.ssl_client_serial AS client_serial,
         s.ssl_issuer_dn AS issuer_dn
  FROM pg_stat_get_activity(NULL) s WHERE s.client_port IS NOT NULL;

CREATE VIEW pg_stat_gssapi AS
  SELECT s.pid, s.gss_auth AS gss_authenticated, s.gss_princ AS principal, s.gss_enc AS encrypted
  FROM pg_stat_get_activity(NULL) s WHERE s.client_port IS NOT NULL;

CREATE VIEW pg_replication_slots AS
  SELECT s.slot_name, s.plugin, s.slot_type, s.datoid, d.datname AS database, s.temporary, s.active,
         s.active_pid, s.xmin, s.catalog_xmin, s.restart_lsn, s.confirmed_flush_lsn, s.wal_status,
         s.safe_wal_size, s.two_phase
  FROM pg_get_replication_slots() s LEFT JOIN pg_database d ON d.oid = s.datoid;

CREATE VIEW pg_stat_replication_slots AS
  SELECT u.slot_name, u.spill_txns, u.spill_count, u.spill_bytes, u.stream_txns, u.stream_count,
         u.stream_bytes, u.total_txns, u.total_bytes, u.stats_reset
  FROM pg_replication_slots s, LATERAL pg_stat_get_replication_slot(s.slot_name::text) u
  WHERE s.datoid IS NOT NULL;

CREATE VIEW pg_stat_database AS
  SELECT d.oid AS datid, d.datname,
         CASE WHEN d.oid = 0 THEN 0 ELSE pg_stat_get_db_numbackends(d.oid) END AS numbackends,
         pg_stat_get_db_xact_commit(d.oid) AS xact_commit,
         pg_stat_get_db_xact_rollback(d.oid) AS xact_rollback,
         pg_stat_get_db_blocks_fetched(d.oid) - pg_stat_get_db_blocks_hit(d.oid) AS blks_read,
         pg_stat_get_db_blocks_hit(d.oid) AS blks_hit,
         pg_stat_get_db_tuples_returned(d.oid) AS tup_returned,
         pg_stat_get_db_tuples_fetched(d.oid) AS tup_fetched,
         pg_stat_get_db_tuples_inserted(d.oid) AS tup_inserted,
         pg_stat_get_db_tuples_updated(d.oid) AS tup_updated,
         pg_stat_get_db_tuples_deleted(d.oid) AS tup_deleted,
         pg_stat_get_db_conflict_all(d.oid) AS conflicts,
         pg_stat_get_db_temp_files(d.oid) AS temp_files,
         pg_stat_get_db_temp_bytes(d.oid) AS temp_bytes,
         pg_stat_get_db_deadlocks(d.oid) AS deadlocks,
         pg_stat_get_db_checksum_failures(d.oid) AS checksum_failures,
         pg_stat_get_db_checksum_last_failure(d.oid) AS checksum_last_failure,
         pg_stat_get_db_blk_read_time(d.oid) AS blk_read_time,
         pg_stat_get_db_blk_write_time(d.oid) AS blk_write_time,
         pg_stat_get_db_session_time(d.oid) AS session_time,
         pg_stat_get_db_active_time(d.oid) AS active_time,
         pg_stat_get_db_idle_in_transaction_time(d.oid) AS idle_in_transaction_time,
         pg_stat_get_db_sessions(d.oid) AS sessions,
         pg_stat_get_db_sessions_abandoned(d.oid) AS sessions_abandoned,
         pg_stat_get_db_sessions_fatal(d.oid) AS sessions_fatal,
         pg_stat_get_db_sessions_killed(d.oid) AS sessions_killed,
         pg_stat_get_db_stat_reset_time(d.oid) AS stats_reset
  FROM (SELECT 0::oid AS oid, NULL::name AS datname
        UNION ALL SELECT oid, datname FROM pg_database) d;

CREATE VIEW pg_stat_database_conflicts AS
  SELECT d.oid AS datid, d.datname,
         pg_stat_get_db_conflict_tablespace(d.oid) AS confl_tablespace,
         pg_stat_get_db_conflict_lock(d.oid) AS confl_lock,
         pg_stat_get_db_conflict_snapshot(d.oid) AS confl_snapshot,
         pg_stat_get_db_conflict_bufferpin(d.oid) AS confl_bufferpin,
         pg_stat_get_db_conflict_startup_deadlock(d.oid) AS confl_deadlock
  FROM pg_database d;

CREATE VIEW pg_stat_user_functions AS
  SELECT p.oid AS funcid, n.nspname AS schemaname, p.proname AS funcname,
         pg_stat_get_function_calls(p.oid) AS calls,
         pg_stat_get_function_total_time(p.oid) AS total_time,
         pg_stat_get_function_self_time(p.oid) AS self_time
  FROM pg_proc p LEFT JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE p.prolang <> 12 AND pg_stat_get_function_calls(p.oid) IS NOT NULL;

CREATE VIEW pg_stat_xact_user_functions AS
  SELECT p.oid AS funcid, n.nspname AS schemaname, p.proname AS funcname,
         pg_stat_get_xact_function_calls(p.oid) AS calls,
         pg_stat_get_xact_function_total_time(p.oid) AS total_time,
         pg_stat_get_xact_function_self_time(p.oid) AS self_time
  FROM pg_proc p LEFT JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE p.prolang <> 12 AND pg_stat_get_xact_function_calls(p.oid) IS NOT NULL;

CREATE VIEW pg_stat_archiver AS
  SELECT a.* FROM pg_stat_get_archiver() a;

CREATE VIEW pg_stat_bgwriter AS
  SELECT pg_stat_get_bgwriter_timed_checkpoints() AS checkpoints_timed,
         pg_stat_get_bgwriter_requested_checkpoints() AS checkpoints_req,
         pg_stat_get_checkpoint_write_time() AS checkpoint_write_time,
         pg_stat_get_checkpoint_sync_time() AS checkpoint_sync_time,
         pg_stat_get_bgwriter_buf_written_checkpoints() AS buffers_checkpoint,
         pg_stat_get_bgwriter_buf_written_clean() AS buffers_clean,
         pg_stat_get_bgwriter_maxwritten_clean() AS maxwritten_clean,
         pg_stat_get_buf_written_backend() AS buffers_backend,
         pg_stat_get_buf_fsync_backend() AS buffers_backend_fsync,
         pg_stat_get_buf_alloc() AS buffers_alloc,
         pg_stat_get_bgwriter_stat_reset_time() AS stats_reset;

CREATE VIEW pg_stat_wal AS
  SELECT w.* FROM pg_stat_get_wal() w;

-- Progress of long commands: the numbers of phases and parameters are those of commands/progress.h.

CREATE VIEW pg_stat_progress_analyze AS
  SELECT p.pid, p.datid, d.datname, p.relid,
         CASE p.param1 WHEN 0 THEN 'initializing' WHEN 1 THEN 'acquiring sample rows'
                       WHEN 2 THEN 'acquiring inherited sample rows'
                       WHEN 3 THEN 'computing statistics'
                       WHEN 4 THEN 'computing extended statistics'
                       WHEN 5 THEN 'finalizing analyze' END AS phase,
         p.param2 AS sample_blks_total, p.param3 AS sample_blks_scanned,
         p.param4 AS ext_stats_total, p.param5 AS ext_stats_computed,
         p.param6 AS child_tables_total, p.param7 AS child_tables_done,
         p.param8::oid AS current_child_table_relid
  FROM pg_stat_get_progress_info('ANALYZE') p LEFT JOIN pg_database d ON d.oid = p.datid;

CREATE VIEW pg_stat_progress_vacuum AS
  SELECT p.pid, p.datid, d.datname, p.relid,
         CASE p.param1 WHEN 0 THEN 'initializing' WHEN 1 THEN 'scanning heap'
                       WHEN 2 THEN 'vacuuming indexes' WHEN 3 THEN 'vacuuming heap'
                       WHEN 4 THEN 'cleaning up indexes' WHEN 5 THEN 'truncating heap'
                       WHEN 6 THEN 'performing final cleanup' END AS phase,
         p.param2 AS heap_blks_total, p.param3 AS heap_blks_scanned,
         p.param4 AS heap_blks_vacuumed, p.param5 AS index_vacuum_count,
         p.param6 AS max_dead_tuples, p.param7 AS num_dead_tuples
  FROM pg_stat_get_progress_info('VACUUM') p LEFT JOIN pg_database d ON d.oid = p.datid;

CREATE VIEW pg_stat_progress_cluster AS
  SELECT p.pid, p.datid, d.datname, p.relid,
         CASE p.param1 WHEN 1 THEN 'CLUSTER' WHEN 2 THEN 'VACUUM FULL' END AS command,
         CASE p.param2 WHEN 0 THEN 'initializing' WHEN 1 THEN 'seq scanning heap'
                       WHEN 2 THEN 'index scanning heap' WHEN 3 THEN 'sorting tuples'
                       WHEN 4 THEN 'writing new heap' WHEN 5 THEN 'swapping relation files'
                       WHEN 6 THEN 'rebuilding index'
                       WHEN 7 THEN 'performing final cleanup' END AS phase,
         p.param3::oid AS cluster_index_relid, p.param4 AS heap_tuples_scanned,
         p.param5 AS heap_tuples_written, p.param6 AS heap_blks_total,
         p.param7 AS heap_blks_scanned, p.param8 AS index_rebuild_count
  FROM pg_stat_get_progress_info('CLUSTER') p LEFT JOIN pg_database d ON d.oid = p.datid;

CREATE VIEW pg_stat_progress_create_index AS
  SELECT p.pid, p.datid, d.datname, p.relid, p.param7::oid AS index_relid,
         CASE p.param1 WHEN 1 THEN 'CREATE INDEX' WHEN 2 THEN 'CREATE INDEX CONCURRENTLY'
                       WHEN 3 THEN 'REINDEX' WHEN 4 THEN 'REINDEX CONCURRENTLY' END AS command,
         CASE p.param10
           WHEN 0 THEN 'initializing' WHEN 1 THEN 'waiting for writers before build'
           WHEN 2 THEN 'building index'
                       || coalesce(': ' || pg_indexam_progress_phasename(p.param9::oid, p.param11), '')
           WHEN 3 THEN 'waiting for writers before validation'
           WHEN 4 THEN 'index validation: scanning index'
           WHEN 5 THEN 'index validation: sorting tuples'
           WHEN 6 THEN 'index validation: scanning table'
           WHEN 7 THEN 'waiting for old snapshots'
           WHEN 8 THEN 'waiting for readers before marking dead'
           WHEN 9 THEN 'waiting for readers before dropping' END AS phase,
         p.param4 AS lockers_total, p.param5 AS lockers_done, p.param6 AS current_locker_pid,
         p.param16 AS blocks_total, p.param17 AS blocks_done, p.param12 AS tuples_total,
         p.param13 AS tuples_done, p.param14 AS partitions_total, p.param15 AS partitions_done
  FROM pg_stat_get_progress_info('CREATE INDEX') p LEFT JOIN pg_database d ON d.oid = p.datid;

CREATE VIEW pg_stat_progress_basebackup AS
  SELECT p.pid,
         CASE p.param1 WHEN 0 THEN 'initializing'
                       WHEN 1 THEN 'waiting for checkpoint to finish'
                       WHEN 2 THEN 'estimating backup size'
                       WHEN 3 THEN 'streaming database files'
                       WHEN 4 THEN 'waiting for wal archiving to finish'
                       WHEN 5 THEN 'transferring wal files' END AS phase,
         nullif(p.param2, -1) AS backup_total, p.param3 AS backup_streamed,
         p.param4 AS tablespaces_total, p.param5 AS tablespaces_streamed
  FROM pg_stat_get_progress_info('BASEBACKUP') p;

CREATE VIEW pg_stat_progress_copy AS
  SELECT p.pid, p.datid, d.datname, p.relid,
         CASE p.param5 WHEN 1 THEN 'COPY FROM' WHEN 2 THEN 'COPY TO' END AS command,
         CASE p.param6 WHEN 1 THEN 'FILE' WHEN 2 THEN 'PROGRAM' WHEN 3 THEN 'PIPE'
                       WHEN 4 THEN 'CALLBACK' END AS type,
         p.param1 AS bytes_processed, p.param2 AS bytes_total, p.param3 AS tuples_processed,
         p.param4 AS tuples_excluded
  FROM pg_stat_get_progress_info('COPY') p LEFT JOIN pg_database d ON d.oid = p.datid;

-- Foreign data and replication

CREATE VIEW pg_user_mappings AS
  SELECT m.oid AS umid, s.oid AS srvid, s.srvname, m.umuser,
         CASE m.umuser WHEN 0 THEN 'public' ELSE r.rolname END AS usename,
         CASE WHEN m.umuser <> 0 AND r.rolname = current_user
                   AND (pg_has_role(s.srvowner, 'USAGE') OR has_server_privilege(s.oid, 'USAGE'))
                OR m.umuser = 0 AND pg_has_role(s.srvowner, 'USAGE')
                OR (SELECT u.rolsuper FROM pg_authid u WHERE u.rolname = current_user)
              THEN m.umoptions END AS umoptions
  FROM pg_user_mapping m JOIN pg_foreign_server s ON s.oid = m.umserver
       LEFT JOIN pg_authid r ON r.oid = m.umuser;

REVOKE ALL ON pg_user_mapping FROM public;

CREATE VIEW pg_replication_origin_status AS
  SELECT o.* FROM pg_show_replication_origin_status() o;

REVOKE ALL ON pg_replication_origin_status FROM public;

REVOKE ALL ON pg_subscription FROM public;

GRANT SELECT (oid, subdbid, subskiplsn, subname, subowner, subenabled, subbinary, substream,
              subtwophasestate, subdisableonerr, subslotname, subsynccommit, subpublications)
  ON pg_subscription TO public;

CREATE VIEW pg_stat_subscription_stats AS
  SELECT u.oid AS subid, u.subname, s.apply_error_count, s.sync_error_count, s.stats_reset
  FROM pg_subscription u, LATERAL pg_stat_get_subscription_stats(u.oid) s;

