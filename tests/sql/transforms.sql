-- CREATE TRANSFORM, functions with transforms, ALTER TYPE SET
create schema tr
set search_path = tr, public
create function tr_from(internal) returns internal language internal immutable as 'prsd_lextype'
create function tr_volatile(internal) returns internal language internal as 'prsd_lextype'
create function tr_to(internal) returns int language internal immutable strict as 'int4recv'
create function tr_two(internal, int) returns internal language internal immutable as 'prsd_lextype'
create transform for [[int¦nosuch¦anyelement¦information_schema.cardinal_number]] language [[sql¦nosuch]] (from sql with function tr_from(internal), to sql with function tr_to(internal))
create transform for int language sql (from sql with function tr_from(internal))
create or replace transform for int language sql (from sql with function tr_from(internal))
create transform for text language sql ([[from sql with function tr_volatile(internal)¦from sql with function tr_to(internal)¦to sql with function tr_to(internal)¦to sql with function tr_from(internal)¦from sql with function nosuch(internal)¦from sql with function tr_two(internal, int)¦from sql with function abs(int)]])
select trftype::regtype, lanname, trffromsql::regproc, trftosql::regproc from pg_transform t join pg_language l on l.oid = trflang
select pg_describe_object(refclassid, refobjid, 0), deptype from pg_depend where classid = 'pg_transform'::regclass order by 1
select pg_identify_object('pg_transform'::regclass, oid, 0), pg_describe_object('pg_transform'::regclass, oid, 0) from pg_transform
comment on transform for int language sql is 'a transform'
create function tr_f(int) returns int transform for type [[int¦text¦int[]]] language sql as 'select $1'
select pg_get_functiondef('tr_f'::regproc), protrftypes from pg_proc where proname = 'tr_f'
drop transform for int language sql
drop function tr_f
drop transform [[if exists ¦]]for [[int¦text]] language sql
drop transform if exists for int language nosuch
create type tr_a
create function tr_in(cstring) returns tr_a language internal immutable strict as 'textin'
create function tr_out(tr_a) returns cstring language internal immutable strict as 'textout'
create function tr_recv(internal) returns tr_a language internal stable strict as 'textrecv'
create function tr_send(tr_a) returns bytea language internal stable strict as 'textsend'
create function tr_tin(cstring[]) returns int language internal immutable strict as 'varchartypmodin'
create function tr_tout(int) returns cstring language internal immutable strict as 'varchartypmodout'
create type tr_a (internallength = variable, input = tr_in, output = tr_out, storage = plain)
create domain tr_d as tr_a
create domain tr_dd as tr_d
alter type tr_a set ([[storage = extended¦storage = main¦storage = plain¦storage = bad¦storage = external, send = tr_send¦receive = tr_recv¦receive = tr_in¦receive = none¦receive = tr_recv, typmod_in = tr_tin, typmod_out = tr_tout, analyze = array_typanalyze¦analyze = none, subscript = raw_array_subscript_handler¦subscript = array_subscript_handler¦input = tr_in¦nosuch = 1¦category = 'X'¦send = nosuch]])
select typname, typstorage, typreceive, typsend, typmodin, typmodout, typanalyze, typsubscript from pg_type where typnamespace = 'tr'::regnamespace order by 1
select pg_describe_object(classid, objid, 0), pg_describe_object(refclassid, refobjid, 0), deptype from pg_depend where classid = 'pg_type'::regclass and objid in (select oid from pg_type where typnamespace = 'tr'::regnamespace) order by 1, 2, 3
alter type [[tr_d¦_tr_a¦int4¦nosuch]] set (storage = plain)
create table tr_t (a int)
alter type tr_t set (storage = main)
create role tr_user
set role tr_user
alter type tr_a set (storage = [[main¦extended]])
alter type tr_a set (send = none)
create transform for text language sql (from sql with function tr.tr_from(internal))
reset role
drop role tr_user
drop schema tr cascade
reset search_path
