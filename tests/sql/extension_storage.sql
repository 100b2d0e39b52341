-- Extensions that examine storage: pgstattuple, pg_freespacemap, pg_visibility, pg_buffercache, amcheck
create schema es
set search_path = es, public
create extension [[pgstattuple¦pg_freespacemap¦pg_visibility¦pg_buffercache¦amcheck]]
create table es_t (id int primary key, t text)
create table es_e (a int)
create index es_h on es_t using hash (id)
create index es_g on es_t using gin (to_tsvector('simple', t))
create view es_v as select 1 a
create table es_p (a int) partition by range (a)
create sequence es_s
insert into es_t select i, repeat('x', i % 50) from generate_series(1, 1000) i
vacuum es_t
select * from pgstattuple('es_t'[[::regclass¦]])
select * from pg_visibility_map_summary('es_t')
select * from pg_visibility_map('es_t')
select * from pg_visibility('es_t')
select * from pg_visibility('es_t', [[0¦1¦1000¦-1¦4294967295¦4294967294]])
select * from pg_visibility_map('es_t', [[0¦1¦1000¦-1]])
delete from es_t where id % 3 = 0
select * from pgstattuple('es_t')
select table_len, dead_tuple_count, dead_tuple_len from pgstattuple_approx('es_t')
select * from pgstattuple_approx('es_e')
select * from pg_visibility_map('es_t')
begin
insert into es_t values (5000, 'x')
select tuple_count, dead_tuple_count from pgstattuple('es_t')
rollback
select tuple_count, dead_tuple_count from pgstattuple('es_t')
vacuum es_t
select tuple_count, dead_tuple_count, dead_tuple_len from pgstattuple('es_t')
select blkno, avail > 0 from pg_freespace('es_t')
select pg_freespace('es_t', [[0¦100¦-1¦4294967295]])
vacuum freeze es_t
select * from pg_visibility_map_summary('es_t')
select count(*) from pg_check_frozen('es_t')
select count(*) from pg_check_visible('es_t')
select pgstattuple('[[es_e¦es_s¦es_v¦es_p¦es_g¦es_h¦nosuch¦es_t_pkey]]')
select version, tree_level, root_block_no, internal_pages, leaf_pages, empty_pages, deleted_pages from pgstatindex('es_t_pkey')
select pgstatindex('[[es_t¦es_h¦es_v¦nosuch¦es_t_pkey]]')
select pg_relpages('[[es_t¦es_e¦es_v¦es_p¦nosuch¦es_t_pkey]]')
select pg_relpages('es_t'::regclass)
select version, pending_pages, pending_tuples from pgstatginindex('es_g')
select pgstatginindex('es_t_pkey')
select version, bucket_pages, overflow_pages, bitmap_pages, unused_pages, live_items, dead_items from pgstathashindex('es_h')
select pgstathashindex('[[es_t_pkey¦es_t]]')
select [[pg_freespace('es_v', 0)¦pg_visibility_map_summary('es_v')¦pg_visibility('es_t_pkey', 0)¦pg_check_visible('es_p')¦pgstattuple_approx('es_t_pkey')¦pgstattuple_approx('es_p')¦pg_freespace(0, 0)¦pg_visibility(0, 0)]]
select count(*) = setting::int from pg_buffercache, pg_settings where name = 'shared_buffers' group by setting
select count(*) > 0 from pg_buffercache b join pg_class c on b.relfilenode = pg_relation_filenode(c.oid) and b.reldatabase = (select oid from pg_database where datname = current_database()) where c.relname = 'es_t' and relforknumber = 0
select bt_index_check('es_t_pkey')
select bt_index_check('es_t_pkey', [[true¦false]])
select bt_index_parent_check('es_t_pkey', [[true¦false]])
select bt_index_parent_check('es_t_pkey', true, true)
select bt_index_check('[[es_t¦es_h¦es_g¦es_v]]')
create index es_part on es_t (t) where id > 100
select bt_index_check('es_part', true)
select * from verify_heapam('es_t')
select * from verify_heapam('es_t', [[skip := 'all-frozen'¦skip := 'bad'¦skip := null¦startblock := -1¦endblock := 1000000¦startblock := 0, endblock := 1¦on_error_stop := true, check_toast := true]])
select * from verify_heapam('[[es_e¦es_v¦es_t_pkey¦es_s¦es_p]]')
create role es_r
set role es_r
select [[es.pg_relpages('es.es_t')¦es.pg_freespace('es.es_t', 0)¦es.bt_index_check('es.es_t_pkey')]]
select * from es.pg_buffercache
reset role
drop role es_r
drop schema es cascade
reset search_path
