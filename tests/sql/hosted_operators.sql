-- Operators whose functions are not built in, with arrays, NULLIF and IS DISTINCT FROM.
create function hosted_eq(a int, b int) returns boolean language plpgsql immutable strict as $$ begin return abs(a) = abs(b); end $$
create function hosted_lax(a int, b int) returns boolean language plpgsql as $$ begin return coalesce(a, 0) = coalesce(b, 0); end $$
create function hosted_sql(a text, b text) returns boolean language sql immutable as $$ select lower(a) = lower(b) $$
create operator ==== (leftarg = int, rightarg = int, function = hosted_eq, commutator = ====)
create operator =~~~ (leftarg = int, rightarg = int, function = hosted_lax)
create operator =**= (leftarg = text, rightarg = text, function = hosted_sql)
select a, [[a ==== any ('{1,-2,7}')¦a ==== all ('{1,-1}')¦a ==== any (array[a, 5])¦a ==== any (null::int[])¦a ==== any ('{}')]] from (values (1), (2), (-7), (3), (null)) v(a)
select a, [[a =~~~ any ('{1,null}')¦a =~~~ all (array[null, 0])¦a =~~~ any (array[a])]] from (values (1), (0), (null)) v(a)
select t from (values ('A'), ('b'), ('c'), (null)) v(t) where t =**= any ('{a,B}') order by t
select count(*) from generate_series(-20, 20) i where i ==== any ('{1,2,3,4,5,6,7,8,9,10,11,12}')
select 1 where 1 ==== any (select 2 union select -1)
create domain hosted_int as int
create function hosted_domain_eq(a hosted_int, b hosted_int) returns boolean language plpgsql immutable strict as $$ begin return a % 10 = b % 10; end $$
create operator = (leftarg = hosted_int, rightarg = hosted_int, function = hosted_domain_eq)
select nullif(a::hosted_int, 13::hosted_int), a::hosted_int is distinct from 13::hosted_int, a::hosted_int is not distinct from b::hosted_int from (values (3, 23), (4, null), (null, null), (5, 6)) v(a, b)
select case a::hosted_int when 13::hosted_int then 'three' else 'other' end, a::hosted_int in (13::hosted_int, 14::hosted_int) from (values (3), (4), (5), (null)) v(a)
select (a::hosted_int, 1) = (13::hosted_int, 1), (a::hosted_int, 1) <> (13::hosted_int, 1) from (values (3), (4), (null)) v(a)
create function hosted_error(a int, b int) returns boolean language plpgsql as $$ begin return 1 / a = b; end $$
create operator =!!= (leftarg = int, rightarg = int, function = hosted_error)
select a =!!= any ('{1}') from (values (1), (0)) v(a)
revoke execute on function hosted_eq from public
create role hosted_other
set role hosted_other
select 1 ==== any ('{1}')
select a ==== any ('{1}') from (values (1)) v(a)
reset role
drop role hosted_other
create table hosted_check (a int check (a ==== any ('{1,2}')))
insert into hosted_check values (-1), (2)
insert into hosted_check values (3)
create function hosted_null(a hosted_int, b hosted_int) returns boolean language plpgsql as $$ begin return nullif(a::int = b::int, a::int > 5); end $$
drop operator = (hosted_int, hosted_int)
create operator = (leftarg = hosted_int, rightarg = hosted_int, function = hosted_null)
select a::hosted_int is distinct from b::hosted_int, nullif(a::hosted_int, b::hosted_int), a::hosted_int = any (array[b::hosted_int, 7::hosted_int]) from (values (3, 3), (3, 4), (6, 6), (6, 7), (null, 6)) v(a, b)
