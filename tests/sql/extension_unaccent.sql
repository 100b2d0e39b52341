create schema ua
create extension unaccent schema ua
select ua.unaccent('[[foobar¦¦ёлка¦ЁЖИК¦˃˖˗˜¦Hôtel de la Mer¦Œuvre ǅ ½ ℃¦naïve café¦日本¦à]]')
set search_path = ua, public
select unaccent('unaccent', '[[foobar¦ЁЖИК¦Hôtel]]'), unaccent('ua.unaccent', 'é'), unaccent('unaccent'::regdictionary, null)
select unaccent(t) from (values ('é'), (null), ('ø'), ('')) v (t)
select ts_lexize('unaccent', '[[foobar¦ёлка¦ЁЖИК¦˃˖˗˜¦À]]')
select unaccent('simple', 'ABC'), unaccent('english_stem', 'houses'), unaccent('english_stem', 'the')
select unaccent('nope', 'x')
create text search dictionary ua_d (template = unaccent[[¦, rules = 'unaccent', nope = 1¦, rules = 'no_such_file'¦, rules = 'x', rules = 'y'¦, stopwords = 'english']])
create text search dictionary ua_d (template = unaccent, rules = 'unaccent')
create text search configuration ua_c (copy = simple)
alter text search configuration ua_c alter mapping for hword, hword_part, word with ua_d, simple
select to_tsvector('ua_c', 'Hôtel de la Mer, ÉTÉ'), to_tsquery('ua_c', 'hotel & été'), to_tsvector('ua_c', 'Hôtels') @@ to_tsquery('ua_c', 'Hotels')
select ts_headline('ua_c', 'Hôtel de la Mer', to_tsquery('ua_c', 'Hotels & mer'))
create table ua_t (t text)
insert into ua_t values ('Élan'), ('elan'), ('Zoë'), (null)
select t from ua_t where unaccent(lower(t)) = 'elan' order by t collate "C"
create index on ua_t (unaccent(t))
create function ua_immutable(text) returns text language sql immutable as $$ select ua.unaccent('ua.unaccent', $1) $$
create index on ua_t (ua_immutable(t))
select count(*) from ua_t where ua_immutable(t) = 'Zoe'
select proname, provolatile, proparallel, prosrc from pg_proc where proname like 'unaccent%' order by oid
select tmplname, tmplinit::regproc, tmpllexize::regproc from pg_ts_template where tmplname = 'unaccent'
select dictname, dictinitoption from pg_ts_dict where dictname in ('unaccent', 'ua_d') order by 1
drop extension unaccent
drop text search configuration ua_c
drop text search dictionary ua_d
drop table ua_t
drop function ua_immutable
drop text search dictionary unaccent
drop extension unaccent
reset search_path
drop schema ua
