create type bt_a
create type bt_a
select typname, typlen, typbyval, typtype, typcategory, typisdefined, typinput, typoutput, typarray, typalign, typstorage from pg_type where typname = 'bt_a'
create table bt_t (x bt_a)
select null::bt_a
drop type bt_a
drop type bt_a
create type bt_a (input = int4in, output = int4out)
create type bt_s
create function bt_s_in(cstring) returns bt_s language internal immutable strict as 'textin'
create function bt_s_out(bt_s) returns cstring language internal immutable strict as 'textout'
alter function bt_s_out(bt_s) cost 5
comment on function bt_s_out(bt_s) is 'out'
create function bt_new_in(cstring) returns bt_new language internal immutable strict as 'textin'
create function bt_new2(bt_new2) returns int language internal immutable strict as 'textin'
drop type bt_new
drop type bt_new cascade
drop function bt_s_out(bt_s)
drop type bt_s cascade
create type bt_a
create function bt_in(cstring) returns bt_a language internal immutable strict as 'textin'
create function bt_out(bt_a) returns cstring language internal immutable strict as 'textout'
create function bt_sql(bt_a) returns int language sql as 'select 1'
create function bt_sql() returns bt_a language sql as 'select 1'
create type bt_a ([[output = bt_out¦input = bt_in¦input = bt_in, output = bt_in¦input = nosuch, output = bt_out¦input = bt_in, output = bt_out, foo = 1, alignment = bad¦input = bt_in, output = bt_out, storage = bad¦input = bt_in, output = bt_out, input = bt_in¦input = bt_in, output = bt_out, typmod_out = bt_out¦input = bt_in, output = bt_out, internallength = 3, passedbyvalue¦input = bt_in, output = bt_out, internallength = 8, passedbyvalue¦input = bt_in, output = bt_out, alignment = char¦input = bt_in, output = bt_out, internallength = 8, storage = extended¦input = bt_in, output = bt_out, internallength = 0¦input = bt_in, output = bt_out, category = 'é'¦input = bt_in, output = bt_out, element = int4¦input = bt_in, output = bt_out, subscript = array_subscript_handler¦input = bt_in, output = bt_out, element = anyelement¦input = bt_in, output = bt_out, internallength = x¦input = bt_in, output = bt_out, receive = bt_in¦input = bt_in, output = bt_out, like = nosuch]])
create type bt_a (internallength = variable, input = bt_in, output = bt_out, storage = extended, category = 'S', default = 'xyz', delimiter = ';', collatable = true)
select typname, typlen, typbyval, typtype, typcategory, typispreferred, typisdefined, typdelim, typelem = 0, typarray = 0, typinput, typoutput, typreceive, typsend, typanalyze, typalign, typstorage, typcollation, typdefault from pg_type where typname in ('bt_a', '_bt_a') order by 1
select pg_describe_object(classid, objid, objsubid) a, pg_describe_object(refclassid, refobjid, refobjsubid) b, deptype from pg_depend where pg_describe_object(classid, objid, objsubid) ~ 'bt_' order by 1, 2, 3
create table bt_t (x bt_a, y bt_a[], z int default 1)
insert into bt_t (z) values (2)
insert into bt_t values ('abc', '{a;b}', 3), ('q', null, 4)
select * from bt_t order by z
select x::text from bt_t
select x || 'a' from bt_t
select * from bt_t order by x
select x = x from bt_t
select distinct x from bt_t
create index on bt_t (x)
create function bt_eq(bt_a, bt_a) returns bool language internal immutable strict as 'texteq'
create function bt_ne(bt_a, bt_a) returns bool language internal immutable strict as 'textne'
create function bt_lt(bt_a, bt_a) returns bool language internal immutable strict as 'text_lt'
create function bt_le(bt_a, bt_a) returns bool language internal immutable strict as 'text_le'
create function bt_gt(bt_a, bt_a) returns bool language internal immutable strict as 'text_gt'
create function bt_ge(bt_a, bt_a) returns bool language internal immutable strict as 'text_ge'
create function bt_cmp(bt_a, bt_a) returns int language internal immutable strict as 'bttextcmp'
create function bt_hash(bt_a) returns int language internal immutable strict as 'hashtext'
create operator < (function = bt_lt, leftarg = bt_a, rightarg = bt_a, commutator = >, negator = >=, restrict = scalarltsel, join = scalarltjoinsel)
select oprname, oprcode, oprcom::regoperator, oprnegate::regoperator from pg_operator where oprleft = 'bt_a'::regtype order by 1
select 'a'::bt_a > 'b'::bt_a
create operator > (function = bt_gt, leftarg = bt_a, rightarg = bt_a, commutator = <, negator = <=)
create operator >= (procedure = bt_ge, leftarg = bt_a, rightarg = bt_a, commutator = <=, negator = <)
create operator <= (function = bt_le, leftarg = bt_a, rightarg = bt_a, commutator = >=, negator = >)
create operator = (function = bt_eq, leftarg = bt_a, rightarg = bt_a, commutator = =, negator = <>, restrict = eqsel, join = eqjoinsel, hashes, merges)
create operator <> (function = bt_ne, leftarg = bt_a, rightarg = bt_a, commutator = <>, negator = =, restrict = neqsel, join = neqjoinsel)
select oprname, oprkind, oprcanmerge, oprcanhash, oprcom::regoperator, oprnegate::regoperator, oprresult::regtype, oprcode, oprrest, oprjoin from pg_operator where oprleft = 'bt_a'::regtype order by 1
create operator class bt_ops default for type bt_a using btree as operator 1 <, operator 2 <=, operator 3 =, operator 4 >=, operator 5 >, function 1 bt_cmp(bt_a, bt_a)
create operator class bt_hops default for type bt_a using hash as operator 1 =, function 1 bt_hash(bt_a)
select * from bt_t order by x
select x, count(*) from bt_t group by x order by x desc
select max(z) from bt_t group by x order by 1
select distinct x from bt_t order by 1
create index bt_i on bt_t (x)
create index bt_h on bt_t using hash (x)
create unique index bt_u on bt_t (x, z)
set enable_seqscan = off
explain (costs off) select z from bt_t where x = 'q'
select z from bt_t where x = 'q'
explain (costs off) select z from bt_t where x > 'b' order by x
select z from bt_t where x > 'b' order by x
reset enable_seqscan
set enable_[[hashjoin¦mergejoin¦nestloop]] = off; select a.z, b.z from bt_t a join bt_t b on a.x = b.x order by 1, 2; reset all
select pg_describe_object(classid, objid, objsubid) a, pg_describe_object(refclassid, refobjid, refobjsubid) b, deptype from pg_depend where classid in ('pg_operator'::regclass, 'pg_opclass'::regclass, 'pg_opfamily'::regclass, 'pg_amop'::regclass, 'pg_amproc'::regclass) and objid >= 16384 order by 1, 2, 3
create operator class bt_ops default for type bt_a using btree as operator 1 <
create operator class bt_ops2 default for type bt_a using btree as operator 1 <
create operator class bt_ops3 for type bt_a using [[nosuch¦heap]] as operator 1 <
create operator class bt_ops3 for type nosuch using btree as operator 1 <
create operator class bt_ops3 for type bt_a using btree family nosuch as operator 1 <
create operator class bt_ops3 for type bt_a using btree as [[operator 6 <¦operator 0 <¦function 6 bt_cmp(bt_a, bt_a)¦function 1 bt_eq(bt_a, bt_a)¦function 1 bt_hash(bt_a)¦function 2 bt_hash(bt_a)¦function 3 bt_cmp(bt_a, bt_a)¦function 4 bt_cmp(bt_a, bt_a)¦operator 1 <, operator 1 <=¦function 1 bt_cmp(bt_a, bt_a), function 1 bt_cmp(bt_a, bt_a)¦operator 1 < for order by text_ops¦storage int4¦storage bt_a, storage bt_a¦operator 1 @@@¦operator 1 - (none, int4)¦operator 1 + (int4, int4)¦function 1 nosuch(int)¦function 5 bt_hash(bt_a)]]
create operator family bt_f using btree
create operator family bt_f using btree
create operator family bt_f using hash
alter operator family bt_f using btree add operator 1 < (bt_a, bt_a), function 1 (bt_a, bt_a) bt_cmp(bt_a, bt_a)
alter operator family bt_f using btree add operator 1 < (bt_a, bt_a)
alter operator family bt_f using btree add function 1 (bt_a, bt_a) bt_cmp(bt_a, bt_a)
alter operator family bt_f using btree add operator 1 <
alter operator family bt_f using btree add storage int
alter operator family nosuch using btree add operator 1 < (bt_a, bt_a)
select pg_describe_object(classid, objid, objsubid) a, pg_describe_object(refclassid, refobjid, refobjsubid) b, deptype from pg_depend where pg_describe_object(classid, objid, objsubid) ~ 'bt_f' order by 1, 2, 3
alter operator family bt_f using btree drop operator 1 (bt_a, bt_a), function 1 (bt_a)
alter operator family bt_f using btree drop operator 1 (bt_a)
alter operator family bt_f using btree drop function 9 (bt_a, bt_a)
drop operator family bt_f using btree
drop operator family bt_f using hash
comment on operator < (bt_a, bt_a) is 'lt'
comment on operator class bt_ops using btree is 'ops'
alter operator class bt_ops using btree rename to bt_ops9
alter operator < (bt_a, bt_a) set (restrict = none, join = scalarltjoinsel)
alter operator < (bt_a, bt_a) set (restrict = nosuch)
alter operator < (bt_a, bt_a) set ([[foo = 1¦leftarg = int4]])
alter operator < (bt_a, nosuch) set (restrict = none)
select oprrest, oprjoin from pg_operator where oprleft = 'bt_a'::regtype and oprname = '<'
create operator [[< (leftarg = bt_a, rightarg = bt_a)¦< (function = nosuch, leftarg = bt_a, rightarg = bt_a)¦< (function = bt_lt, leftarg = bt_a, rightarg = bt_a)¦### (function = bt_lt, leftarg = bt_a)¦### (function = bt_lt)¦### (function = bt_hash, rightarg = bt_a, commutator = ###)¦### (function = bt_hash, rightarg = bt_a, negator = ###)¦### (function = bt_lt, leftarg = bt_a, rightarg = bt_a, negator = ###)¦### (function = bt_cmp, leftarg = bt_a, rightarg = bt_a, hashes)¦### (function = bt_cmp, leftarg = bt_a, rightarg = bt_a, restrict = eqsel)¦### (function = bt_lt, leftarg = setof bt_a, rightarg = bt_a)¦### (function = bt_lt, leftarg = bt_a, rightarg = bt_a, restrict = bt_lt)¦nosuch.### (function = bt_lt, leftarg = bt_a, rightarg = bt_a)¦### (function = bt_lt, leftarg = bt_a, rightarg = bt_a, frob = 1, restrict = nosuch)]]
drop operator < (bt_a, bt_a)
drop operator class bt_ops9 using btree
drop operator < (bt_a, bt_a) cascade
select oprname, oprcom::regoperator, oprnegate::regoperator from pg_operator where oprleft = 'bt_a'::regtype and oprname in ('>', '>=') order by 1
drop type bt_a
drop type bt_a cascade
select count(*) from pg_operator where oid >= 16384
select count(*) from pg_opclass where oid >= 16384
drop table bt_t
drop operator family bt_ops using btree
drop operator family bt_hops using hash
create operator class abs_ops for type int4 using btree as operator 1 >, operator 2 >=, operator 3 =, operator 4 <=, operator 5 <, function 1 btint4cmp(int4, int4)
create table bt_r (i int)
drop table bt_r
drop operator family abs_ops using btree cascade
create operator +++ (function = int4pl, leftarg = int4, rightarg = int4, commutator = +++)
select 1 +++ 2, 1 operator(public.+++) 5
create operator !!! (function = int4um, rightarg = int4)
select !!! 5
create view bt_v as select 1 +++ 2 x, !!! 3 y
select pg_get_viewdef('bt_v')
drop operator +++ (int, int)
drop view bt_v
drop operator +++ (int, int)
drop operator !!! (none, int)
drop operator !!! (none, int)
create role bt_u
grant create on schema public to bt_u
set role bt_u
create type bt_z
create operator class bt_z for type int4 using btree as operator 1 <
create operator family bt_z using btree
create operator +++ (function = int4pl, leftarg = int4, rightarg = int4)
create language bt_z handler plpgsql_call_handler
reset role
drop owned by bt_u
revoke create on schema public from bt_u
drop role bt_u
create language bt_l handler nosuch
create language bt_l handler int4in
create language bt_l handler plpgsql_call_handler inline plpgsql_inline_handler validator plpgsql_validator
create language bt_l handler plpgsql_call_handler
select lanname, lanispl, lanpltrusted, lanplcallfoid::regproc, laninline::regproc, lanvalidator::regproc from pg_language where lanname = 'bt_l'
create function bt_lf() returns int language bt_l as 'begin return 1; end'
select bt_lf()
drop language bt_l
drop language bt_l cascade
create conversion bt_c for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8
create conversion bt_c for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8
create default conversion bt_c2 for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8
create default conversion bt_c3 for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8
create conversion bt_c4 for '[[NOSUCH¦SQL_ASCII]]' to 'UTF8' from iso8859_1_to_utf8
create conversion bt_c4 for 'LATIN1' to '[[NOSUCH¦SQL_ASCII]]' from iso8859_1_to_utf8
create conversion bt_c4 for 'LATIN1' to 'UTF8' from nosuch
select conname, conforencoding, contoencoding, conproc, condefault from pg_conversion where oid >= 16384 order by 1
comment on conversion bt_c is 'c'
alter conversion bt_c rename to bt_c9
drop conversion bt_c9
drop conversion bt_c2
