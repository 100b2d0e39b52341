-- Functions that few clients call.
create table versions (a int)
select currtid2('versions', '(0,1)')
insert into versions values (1), (2)
select currtid2('versions', '[[(0,1)¦(0,0)¦(0,9)¦(7,1)¦(4294967295,1)]]')
update versions set a = a + 10 where a = 1
update versions set a = a + 10 where a = 11
select currtid2('versions', '(0,1)'), currtid2('public.versions', '(0,2)')
select currtid2('"versions"', null), currtid2(null, '(0,1)')
delete from versions where a = 21
select currtid2('versions', '(0,1)')
create index versions_index on versions (a)
select currtid2('versions_index', '(0,1)')
create view versions_view as select a, ctid from versions
create view versions_view_view as select ctid from versions_view
create view versions_plain as select a from versions
create view versions_false as select 1 as ctid
create view versions_computed as select coalesce(ctid) as ctid from versions
select currtid2('[[versions_view¦versions_view_view¦versions_plain¦versions_false¦versions_computed]]', '(0,2)')
create type versions_type as (a int)
create sequence versions_sequence
create table versions_parts (a int) partition by list (a)
create materialized view versions_stored as select * from versions
select currtid2('[[versions_type¦versions_sequence¦versions_parts¦versions_stored¦nosuch¦nosuch.versions¦a.b.c.d¦"¦]]', '(0,1)')
create role versions_other
set role versions_other
select currtid2('versions', '(0,1)')
reset role
drop role versions_other
drop table versions, versions_parts cascade
drop type versions_type
drop sequence versions_sequence
select to_ascii(chr(i)::bytea::text, 'LATIN1') from generate_series(33, 60) i
select to_ascii('[[é¦Ä€¦abc¦]]', '[[LATIN1¦LATIN2¦latin-9¦windows1250¦UTF8¦EUC_JP¦nosuch]]')
select to_ascii('é', [[8¦9¦16¦29¦6¦1¦0¦99¦-1]])
select to_ascii('x')
select gin_compare_jsonb('b', 'a'), gin_compare_jsonb('a', 'a')
select pg_dependencies_in('x')
select pg_ndistinct_in('x')
select pg_mcv_list_in('x')
create table sent (a int, b int)
insert into sent select i % 3, i % 6 from generate_series(1, 30) i
create statistics sent_statistics (ndistinct, dependencies, mcv) on a, b from sent
analyze sent
select pg_ndistinct_send(stxdndistinct), pg_dependencies_send(stxddependencies), length(pg_mcv_list_send(stxdmcv)) from pg_statistic_ext_data join pg_statistic_ext on oid = stxoid where stxname = 'sent_statistics'
drop table sent
select "RI_FKey_[[check_ins¦check_upd¦cascade_del¦cascade_upd¦restrict_del¦restrict_upd¦setnull_del¦setnull_upd¦setdefault_del¦setdefault_upd¦noaction_del¦noaction_upd]]"()
select unique_key_recheck()
-- Support functions.
create function supported(int) returns setof int language sql as 'select $1' support generate_series_int4_support
select prosupport, pg_get_functiondef(oid) from pg_proc where proname = 'supported'
alter function supported support [[array_unnest_support¦pg_catalog.generate_series_int8_support¦nosuch¦int4in¦internal_in¦textlike_support]]
select prosupport from pg_proc where proname = 'supported'
select supported(3)
create function support_of(internal) returns internal language internal as 'textlike_support'
alter function supported support support_of
drop function support_of
create or replace function supported(int) returns setof int language sql as 'select $1'
select prosupport from pg_proc where proname = 'supported'
drop function support_of
create procedure supported_procedure() language sql as '' support textlike_support
create role supporting
set role supporting
create function pg_temp.supported(int) returns setof int language sql as 'select $1' support generate_series_int4_support
reset role
drop role supporting
drop function supported
select * from pg_get_catalog_foreign_keys() order by fktable, fkcols, pktable
select name, ident, parent, level, total_bytes > 100, total_bytes = used_bytes + free_bytes, total_nblocks > 0 from pg_backend_memory_contexts where level = 0
