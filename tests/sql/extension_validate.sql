-- amvalidate: operator classes of the catalogs and of users, and what they lack
select opcname, amname, amvalidate(o.oid) from pg_opclass o join pg_am a on a.oid = o.opcmethod where o.oid < 16384 order by 1, 2, o.oid
select amvalidate([[0¦1¦null¦403]])
create schema av
set search_path = av, public
create extension [[bloom¦btree_gin¦citext¦cube¦hstore¦intarray¦ltree¦pg_trgm¦seg]]
select opcname, amname, amvalidate(o.oid) from pg_opclass o join pg_am a on a.oid = o.opcmethod where opcnamespace = 'av'::regnamespace order by 1, 2, opcintype::regtype::text
create function av_cmp(int, int) returns int language sql immutable as 'select $1 - $2'
create function av_bad(int) returns int language sql immutable as 'select $1'
create operator class av_less for type int using btree as operator 1 <, function 1 av_cmp(int, int)
create operator class av_none for type int using btree as operator 1 <, operator 2 <=, operator 3 =, operator 4 >=, operator 5 >
create operator class av_full for type int using btree as operator 1 <, operator 2 <=, operator 3 =, operator 4 >=, operator 5 >, function 1 av_cmp(int, int)
create operator family av_mixed using btree
alter operator family av_mixed using btree add operator 1 <(int4, int8), operator 3 =(int4, int8), function 1 btint48cmp(int4, int8)
create operator class av_mixed4 for type int using btree family av_mixed as operator 1 <, operator 2 <=, operator 3 =, operator 4 >=, operator 5 >, function 1 btint4cmp(int4, int4)
create operator class av_hash for type int using hash as function 1 av_bad(int)
create operator class av_hash2 for type int using hash as operator 1 =
create operator class av_hash3 for type int using hash as operator 1 =, function 1 av_bad(int), function 2 hashint4extended(int4, int8)
create operator class av_gin for type int[] using gin as operator 1 &&, storage int
create operator class av_gin2 for type int[] using gin as operator 1 &&, function 2 ginarrayextract(anyarray, internal, internal), function 3 ginqueryarrayextract(anyarray, internal, int2, internal, internal, internal, internal), function 6 ginarraytriconsistent(internal, int2, anyarray, int4, internal, internal, internal), storage int
create operator class av_bloom for type int using bloom as operator 1 =
create operator class av_bloom2 for type int using bloom as operator 1 =, function 1 hashint4(int4)
create operator class av_gist for type point using gist as operator 1 <<
create operator class av_spgist for type point using spgist as operator 1 <<
create operator class av_brin for type int using brin as operator 1 <, operator 2 <=, function 1 brin_minmax_opcinfo(internal)
select opcname, amvalidate(oid) from pg_opclass where opcname = '[[av_less¦av_none¦av_full¦av_mixed4¦av_hash¦av_hash2¦av_hash3¦av_gin¦av_gin2¦av_bloom¦av_bloom2¦av_gist¦av_spgist¦av_brin]]'
drop schema av cascade
reset search_path
