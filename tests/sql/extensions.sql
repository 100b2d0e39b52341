create extension nosuch
create extension "[[¦a--b¦-a¦b-¦a/b]]"
create extension citext version '0.1'
create extension citext schema nosuch
create extension citext schema public schema public
create extension plpgsql schema public
begin; drop extension plpgsql; create extension plpgsql schema public
rollback
create schema ext_s
create extension citext schema ext_s
create extension citext
create extension if not exists citext
select extname, extrelocatable, extversion, extconfig, extcondition, nspname from pg_extension e join pg_namespace n on n.oid = extnamespace where extname = 'citext'
select classid::regclass, count(*), min(deptype), max(deptype) from pg_depend where refclassid = 'pg_extension'::regclass and refobjid = (select oid from pg_extension where extname = 'citext') group by 1 order by 1::text
select pg_describe_object(classid, objid, objsubid) a, pg_describe_object(refclassid, refobjid, refobjsubid) b, deptype from pg_depend where refobjid >= 16384 and (classid, objid) in (select classid, objid from pg_depend where refclassid = 'pg_extension'::regclass) and deptype in ('n', 'a', 'e', 'i') and pg_describe_object(classid, objid, objsubid) ~ 'citext' order by 1, 2, 3
select pg_describe_object(classid, objid, objsubid) a, pg_describe_object(refclassid, refobjid, refobjsubid) b, deptype from pg_depend where classid in ('pg_amop'::regclass, 'pg_amproc'::regclass) and objid >= 16384 order by 1, 2, 3
select typname, typlen, typbyval, typtype, typcategory, typispreferred, typisdefined, typdelim, typrelid, typsubscript, typelem = 0, typarray = 0, typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze, typalign, typstorage, typcollation, typdefault, typacl from pg_type where typname in ('citext', '_citext') order by 1
select proname, pg_get_function_arguments(oid), pg_get_function_result(oid), prolang, prosrc, probin, provolatile, proisstrict, proparallel, proretset, procost, prorows, prokind from pg_proc where pronamespace = 'ext_s'::regnamespace and prolang <> 14 order by 1, 2
select proname, pg_get_function_arguments(oid), pg_get_function_result(oid), prolang, probin, provolatile, proisstrict, proparallel, proretset, procost, prorows from pg_proc where pronamespace = 'ext_s'::regnamespace and prolang = 14 order by 1, 2
select oprname, oprkind, oprcanmerge, oprcanhash, oprleft::regtype, oprright::regtype, oprresult::regtype, oprcom::regoperator, oprnegate::regoperator, oprcode, oprrest, oprjoin from pg_operator where oprnamespace = 'ext_s'::regnamespace order by 1, 4, 5, 6
select castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext, castmethod from pg_cast where oid >= 16384 order by 1::text, 2::text
select amname, opcname, opcintype::regtype, opcdefault, opckeytype::regtype, opfname from pg_opclass c join pg_am a on a.oid = opcmethod join pg_opfamily f on f.oid = opcfamily where c.oid >= 16384 order by 1, 2
select aggkind, aggtransfn, aggcombinefn, aggsortop::regoperator, aggtranstype::regtype, agginitval, aggfnoid::regprocedure from pg_aggregate where aggfnoid >= 16384 order by 7::text
select obj_description(oid, 'pg_extension') from pg_extension where extname = 'citext'
set search_path = public, ext_s
select 'a'::citext = 'A'::citext, 'a'::citext < 'B'::citext, 'Z'::citext > 'a', citext_cmp('aB', 'Ac'), citext_hash('Abc') = citext_hash('aBC'), citext_hash_extended('Abc', 7), max(x), min(x) from (values ('b'::citext), ('A'), ('C')) v(x)
create table ext_c (id int, c citext primary key, d citext[])
insert into ext_c values (1, 'Abc', '{A,b}'), (2, 'abd', '{a,B}'), (3, 'ZZ', null)
insert into ext_c values (4, 'aBC', null)
select * from ext_c order by c
select * from ext_c where c = 'ABD'
select c, count(*) from (select c from ext_c union all select upper(c)::citext from ext_c) x group by c order by c
select distinct d from ext_c order by 1
set enable_seqscan = off
explain (costs off) select * from ext_c where c = 'ABD'
explain (costs off) select * from ext_c where c > 'ABD' order by c
select * from ext_c where c >= 'ABD' order by c desc
reset enable_seqscan
create index ext_ch on ext_c using hash (c)
create index ext_cd on ext_c (d)
set enable_seqscan = off
select id from ext_c where d = '{a,b}' order by 1
select id from ext_c where c = 'abD'
reset enable_seqscan
set enable_hashjoin = [[off¦on]]; set enable_mergejoin = [[off¦on]]; select a.id, b.id from ext_c a join ext_c b on a.c = upper(b.c::text)::citext order by 1, 2; reset enable_hashjoin; reset enable_mergejoin
select 'aBc'::citext ~ 'B', 'aBc'::citext ~~ '%bC', 'aBc'::citext ~* 'x', 'abc'::citext !~~ 'A_C', 'aBc' ~ 'b'::citext, regexp_replace('fooBAR'::citext, 'o+B', 'x'), regexp_match('xAy'::citext, 'a'), regexp_matches('xAy'::citext, 'a(y)', 'g'), split_part('aXbxc'::citext, 'x', 2), replace('aXbx'::citext, 'x', '-'), translate('abAB'::citext, 'a', 'z'), strpos('xyZ'::citext, 'z'), regexp_split_to_array('1A2a3'::citext, 'a')
select replace('a.b.c'::citext, '.', '+'), split_part('a.b.c'::citext, '.', 3), 'x'::bpchar(3)::citext || '|', true::citext, '1.2.3.4/24'::inet::citext
drop type citext
drop function citext_eq(citext, citext)
alter extension citext update
alter extension citext update to '1.6'
alter extension citext update to '9.9'
alter extension nosuch update
alter extension citext set schema public
select citext('x'::bpchar)
select typnamespace::regnamespace from pg_type where typname in ('citext', '_citext')
select extnamespace::regnamespace from pg_extension where extname = 'citext'
alter extension citext set schema ext_s
alter extension citext set schema nosuch
alter extension plpgsql set schema public
create function ext_f() returns int language sql as 'select 1'
alter extension citext add function ext_f()
alter extension citext add function ext_f()
drop function ext_f()
alter extension citext drop function ext_f()
alter extension citext drop function ext_f()
drop function ext_f()
alter extension nosuch add function ext_f()
alter extension citext add schema ext_s
alter extension citext add schema public
alter extension citext drop schema public
alter extension citext add database postgres
comment on extension citext is 'x'
select obj_description(oid, 'pg_extension') from pg_extension where extname = 'citext'
drop extension citext
drop extension citext cascade
drop extension if exists citext
drop extension citext
drop schema ext_s
reset search_path
create role ext_u
set role ext_u
create extension citext
create extension pg_prewarm
reset role
grant create on database postgres to ext_u
grant create on schema public to ext_u
set role ext_u
create extension citext
create extension pg_prewarm
select extowner::regrole from pg_extension where extname = 'citext'
select distinct proowner = 10 from pg_proc where proname like 'citext%'
drop extension citext
reset role
revoke create on database postgres from ext_u
revoke create on schema public from ext_u
drop role ext_u
create function ext_g() returns int language c as '$libdir/nosuch'
create function ext_g() returns int language c as '$libdir/nosuch', 'x'
create function ext_g() returns int language c
create function ext_g() returns int language nosuch as 'x'
begin; create extension citext; drop extension citext; create extension citext; rollback; select count(*) from pg_extension where extname = 'citext'
begin; create extension "uuid-ossp"; select uuid_generate_v3(uuid_ns_dns(), 'a'), uuid_generate_v5(uuid_ns_url(), 'é'), uuid_nil(), uuid_ns_oid(), uuid_ns_x500(); select length(uuid_generate_v4()::text), substr(uuid_generate_v4()::text, 15, 1), substr(uuid_generate_v1()::text, 15, 1), substr(uuid_generate_v1mc()::text, 15, 1), uuid_generate_v4() = uuid_generate_v4(); rollback
create extension fuzzystrmatch
select levenshtein('GUMBO', 'GAMBOL'), levenshtein('GUMBO', 'GAMBOL', 2, 1, 1), levenshtein_less_equal('extensive', 'exhaustive', [[-1¦0¦2¦4¦9]]), levenshtein_less_equal('a', 'xyz', 1, 2, 3, [[1¦5]]), levenshtein('', 'abc'), levenshtein('é', 'e'), levenshtein('abc', '', 3, 2, 1)
select levenshtein(repeat('a', 256), 'b')
select levenshtein([['', 'abcdef'¦'ab', 'abcdef'¦'ab', 'cd'¦'abcdef', '']], [[2147483647, 10, -2147483648¦2147483647, 2147483647, 2147483647¦-5, -4, -3]])
select levenshtein_less_equal('abc[[¦defgh]]', '[[¦xyz¦abd]]', 1, 1, 1, [[3¦2147483647]]), levenshtein('日本語の文', '日本文語')
select w, soundex(w), text_soundex(w), difference(w, 'Robert'), metaphone(w, [[1¦4¦20]]) from (values ('Robert'), ('Rupert'), ('Thompson'), ('Knight'), ('Wright'), ('school'), ('Schwartz'), ('Christmas'), ('science'), ('Xerxes'), ('pneumonia'), ('judge'), ('laugh'), ('signed'), ('gnome'), ('Aesop'), ('whisper'), ('wonder'), ('accept'), ('succumb'), ('thumb'), ('nation'), ('mission'), ('cello'), ('o''hara'), (' 12'), (''), ('ächt'), ('bough'), ('edge'), ('phone'), ('queen'), ('you'), ('zoo'), ('cia'), ('chris'), ('physics'), ('hall'), ('ah'), ('pick')) v(w)
select metaphone(repeat('a', 256), 4)
select metaphone('a', 256)
select metaphone('a', 0)
select metaphone('', 0)
drop extension fuzzystrmatch
