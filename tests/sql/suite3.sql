-- Differences found by PostgreSQL's regression suite: defaults and checks of domains, prepared transactions, constraint names, comments.
CREATE SCHEMA suite3; SET search_path = suite3
create sequence s1; create domain ddef4 int default nextval('s1'); create domain ddef5 numeric(8,2) not null default '12.12'
create domain plain int; create domain over4 ddef4
create table d(a ddef4, b int, c ddef5, e over4, f plain, g int generated always as (b + 1) stored, h int generated always as identity)
create table e(b int); insert into e values (1), (2)
alter table e add column a ddef4
alter table e add column c ddef5
alter table e add column f plain, add column g ddef4 default 7, add column h over4
select * from e order by b
create domain word as text check (value <> 'foo') default 'foo'
alter table e add column w word
alter table e add column w word default 'bar'
create table nothing(b int)
alter table nothing add column w word
create domain dinter varchar(4) check (substring(value, 1, 1) = 'x')
create domain dtop dinter check (substring(value, 2, 1) = '1')
select [['yz23'¦'xz23'¦'y123'¦'x123']]::dtop
create domain sorted int constraint zz check (value > 5) constraint aa check (value > 3) not null constraint mm check (value is not null)
select [[1¦4¦6¦null]]::sorted
alter domain sorted add constraint ab check (value > 1)
select [[1¦2¦4¦6]]::sorted
create domain beneath int constraint b check (value > 5); create domain above beneath not null constraint a check (value is not null)
select [[null¦1¦9]]::above
prepare transaction 'x'
begin; prepare transaction 'x'
select 1
begin; savepoint a; prepare transaction 'x'
rollback
begin; select 1/0
prepare transaction 'x'
select 1
[[commit¦rollback]] prepared 'x'
begin; [[commit¦rollback]] prepared 'x'
rollback
create table tt(c int); alter table tt add constraint foo check (c > 1)
alter table tt add constraint foo unique (c)
alter table tt add constraint foo primary key (c)
create table dup(c int constraint bar check (c > 1), constraint bar unique (c))
create [[table¦unlogged table]] pg_catalog.new_table(a int)
create view pg_catalog.new_view as select 1
create sequence pg_catalog.new_sequence
create type pg_catalog.new_type as (a int)
create table ct(a int, b int unique, constraint p1 primary key (a))
comment on index p1 is 'index'; comment on constraint p1 on ct is 'constraint'; comment on index ct_b_key is 'unique'
alter table ct alter a type bigint, alter b type bigint
select obj_description('p1'::regclass, 'pg_class'), obj_description('ct_b_key'::regclass, 'pg_class'), obj_description(oid, 'pg_constraint') from pg_constraint where conname = 'p1'
reindex (concurrently) system postgres
create type mood as enum ('a')
grant usage on domain mood to public
revoke usage on domain int4 from public
grant usage on type mood to public
create table ident(a int generated always as identity)
alter sequence ident_a_seq owned by none
DROP SCHEMA suite3 CASCADE
