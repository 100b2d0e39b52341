-- ALTER … SET SCHEMA for all kinds of objects.
create schema moved_a
create schema moved_b
create table moved_a.t(i int primary key, j serial)
create view moved_a.v as select 1 as x
create materialized view moved_a.mv as select 1 as x
create sequence moved_a.s
create index ai on moved_a.t(i)
create function moved_a.f(int) returns int language sql as 'select 1'
create procedure moved_a.p() language sql as ''
create aggregate moved_a.ag(int) (sfunc = int4pl, stype = int)
create type moved_a.e as enum ('x')
create type moved_a.c as (x int)
create type moved_a.r as range (subtype = int)
create domain moved_a.d as int
create collation moved_a.co from "C"
create operator moved_a.@@@ (leftarg = int, rightarg = int, function = int4pl)
create operator family moved_a.of using btree
create operator class moved_a.oc for type int using hash as operator 1 =(int4,int4)
create text search dictionary moved_a.tsd (template = simple)
create text search configuration moved_a.tsc (copy = simple)
create statistics moved_a.st on i, j from moved_a.t
create temp table tt(i int)
create temp view tv as select 1 as x
create temp sequence ts
alter table moved_a.t set schema moved_a
alter table moved_a.t set schema pg_temp
alter table moved_a.t set schema pg_toast
alter table moved_a.t set schema pg_catalog
alter table moved_a.t set schema information_schema
alter table moved_a.t set schema nosuch
alter table if exists moved_a.nosuch set schema moved_b
alter table moved_a.nosuch set schema moved_b
alter table tt set schema moved_a
alter table tt set schema pg_temp
alter view tv set schema moved_b
alter sequence ts set schema moved_b
alter table moved_a.t set schema moved_b
alter table moved_b.t set schema moved_a
alter index moved_a.ai set schema moved_b
alter sequence moved_a.t_j_seq set schema moved_b
alter table moved_a.ai set schema moved_b
alter table moved_a.v set schema moved_b
alter view moved_b.v set schema moved_a
alter view moved_a.t set schema moved_b
alter sequence moved_a.v set schema moved_b
alter materialized view moved_a.v set schema moved_b
alter materialized view moved_a.mv set schema moved_b
alter materialized view moved_b.mv set schema moved_a
alter sequence moved_a.s set schema moved_b
alter sequence moved_b.s set schema moved_a
alter table moved_a.c set schema moved_b
alter type moved_a.t set schema moved_b
alter type moved_a.c set schema moved_b
alter type moved_b.c set schema moved_a
alter type moved_a._t set schema moved_b
alter sequence moved_a.s set schema pg_temp
alter view moved_a.v set schema pg_temp
alter view moved_a.v set schema pg_toast
alter materialized view moved_a.mv set schema pg_toast
alter view moved_a.v set schema moved_a
alter sequence moved_a.s set schema moved_a
alter function moved_a.f set schema moved_a
alter function moved_a.f set schema pg_temp
alter function moved_a.f set schema pg_toast
alter function moved_a.f set schema pg_catalog
alter function pg_catalog.f set schema moved_a
alter function moved_a.f set schema nosuch
alter function moved_a.f set schema moved_b
alter function moved_b.f(int) set schema moved_a
alter procedure moved_a.p set schema moved_a
alter procedure moved_a.p set schema moved_b
alter routine moved_b.p set schema moved_a
alter aggregate moved_a.ag(int) set schema moved_a
alter aggregate moved_a.ag(int) set schema moved_b
alter aggregate moved_b.ag(int) set schema moved_a
alter function moved_a.p set schema moved_b
alter procedure moved_a.f set schema moved_b
alter aggregate moved_a.f(int) set schema moved_b
alter function moved_a.nosuch set schema moved_b
alter type moved_a.e set schema moved_a
alter type moved_a.e set schema pg_temp
alter type moved_a.e set schema pg_toast
alter type moved_a.e set schema moved_b
alter type moved_b.e set schema moved_a
alter type moved_a.r set schema moved_b
alter type moved_b.r set schema moved_a
alter type moved_a.d set schema moved_b
alter type moved_b.d set schema moved_a
alter domain moved_a.d set schema moved_b
alter domain moved_b.d set schema moved_a
alter domain moved_a.e set schema moved_b
alter type moved_a.nosuch set schema moved_b
alter domain moved_a.d set schema moved_a
alter type moved_a._e set schema moved_b
alter type moved_a.c set schema moved_a
alter type moved_a.rmultirange set schema moved_b
alter collation moved_a.co set schema moved_a
alter collation moved_a.co set schema pg_temp
alter collation moved_a.co set schema pg_toast
alter collation moved_a.co set schema moved_b
alter collation moved_b.co set schema moved_a
alter collation moved_a.nosuch set schema moved_b
alter operator moved_a.@@@ (int, int) set schema moved_a
alter operator moved_a.@@@ (int, int) set schema pg_temp
alter operator moved_a.@@@ (int, int) set schema moved_b
alter operator moved_b.@@@ (int, int) set schema moved_a
alter operator moved_a.@@@ (int, text) set schema moved_b
alter operator moved_a.@@@ (none, int) set schema moved_b
alter operator family moved_a.of using btree set schema moved_a
alter operator family moved_a.of using btree set schema pg_temp
alter operator family moved_a.of using btree set schema moved_b
alter operator family moved_b.of using btree set schema moved_a
alter operator family moved_a.nosuch using btree set schema moved_a
alter operator class moved_a.oc using hash set schema moved_a
alter operator class moved_a.oc using hash set schema moved_b
alter operator class moved_b.oc using hash set schema moved_a
alter operator class moved_a.oc using nosuch set schema moved_a
alter text search dictionary moved_a.tsd set schema moved_a
alter text search dictionary moved_a.tsd set schema pg_temp
alter text search dictionary moved_a.tsd set schema moved_b
alter text search dictionary moved_b.tsd set schema moved_a
alter text search configuration moved_a.tsc set schema moved_a
alter text search configuration moved_a.tsc set schema moved_b
alter text search configuration moved_b.tsc set schema moved_a
alter text search parser moved_a.nosuch set schema moved_b
alter text search template moved_a.nosuch set schema moved_b
alter statistics moved_a.st set schema moved_a
alter statistics moved_a.st set schema moved_b
alter statistics moved_b.st set schema moved_a
alter statistics moved_a.st set schema pg_toast
alter statistics moved_a.nosuch set schema moved_b
alter conversion moved_a.nosuch set schema moved_b
create extension hstore schema moved_a
alter extension hstore set schema moved_a
alter extension hstore set schema moved_b
alter extension hstore set schema pg_temp
alter extension hstore set schema pg_toast
alter extension hstore set schema nosuch
alter extension nosuch set schema moved_a
alter function moved_b.hstore_to_json(moved_b.hstore) set schema moved_a
alter type moved_b.hstore set schema moved_a
alter operator moved_b.-> (moved_b.hstore, text) set schema moved_a
alter extension hstore set schema moved_a
alter extension hstore set schema moved_b
create extension plpgsql
alter extension plpgsql set schema moved_a
create table moved_b.t(i int)
alter table moved_a.t set schema moved_b
create function moved_b.f(int) returns int language sql as 'select 2'
alter function moved_a.f(int) set schema moved_b
create type moved_b.e as enum()
alter type moved_a.e set schema moved_b
create domain moved_b.d as int
alter domain moved_a.d set schema moved_b
create collation moved_b.co from "C"
alter collation moved_a.co set schema moved_b
create operator moved_b.@@@ (leftarg = int, rightarg = int, function = int4pl)
create operator family moved_b.of using btree
alter operator family moved_a.of using btree set schema moved_b
create operator class moved_b.oc for type int using hash as operator 1 =(int4,int4)
alter operator class moved_a.oc using hash set schema moved_b
create text search dictionary moved_b.tsd (template = simple)
alter text search dictionary moved_a.tsd set schema moved_b
create text search configuration moved_b.tsc (copy = simple)
alter text search configuration moved_a.tsc set schema moved_b
create statistics moved_b.st on i, j from moved_a.t
alter statistics moved_a.st set schema moved_b
create sequence moved_b.s
alter sequence moved_a.s set schema moved_b
create view moved_b.v as select 1 as x
alter view moved_a.v set schema moved_b
create procedure moved_b.p() language sql as ''
alter procedure moved_a.p() set schema moved_b
create aggregate moved_b.ag(int) (sfunc = int4pl, stype = int)
alter aggregate moved_a.ag(int) set schema moved_b
drop table moved_b.t
create type moved_b.t as (x int)
alter table moved_a.t set schema moved_b
drop type moved_b.t
create table moved_b.ai(i int)
alter table moved_a.t set schema moved_b
drop table moved_b.ai
create table moved_b.t_pkey(x int)
alter table moved_a.t set schema moved_b
create role rs
grant usage on schema moved_a, moved_b to rs
set role rs
alter table moved_a.t set schema moved_b
alter function moved_a.f(int) set schema moved_b
alter type moved_a.e set schema moved_b
alter domain moved_a.d set schema moved_b
alter collation moved_a.co set schema moved_b
alter operator moved_a.@@@ (int,int) set schema moved_b
alter operator family moved_a.of using btree set schema moved_b
alter operator class moved_a.oc using hash set schema moved_b
alter text search dictionary moved_a.tsd set schema moved_b
alter text search configuration moved_a.tsc set schema moved_b
alter statistics moved_a.st set schema moved_b
alter extension hstore set schema moved_a
alter sequence moved_a.s set schema moved_b
alter view moved_a.v set schema moved_b
alter table pg_class set schema moved_a
alter function abs(int) set schema moved_a
alter type int4 set schema moved_a
reset role
create schema own
alter schema own owner to rs
grant create on schema own to rs
set role rs
create table own.t(i int)
create function own.f() returns int language sql as 'select 1'
create type own.e as enum()
create collation own.co from "C"
create statistics own.st on (i+1) from own.t
alter table own.t set schema moved_b
alter function own.f set schema moved_b
alter type own.e set schema moved_b
alter collation own.co set schema moved_b
alter statistics own.st set schema moved_b
reset role
alter table pg_class set schema moved_a
alter table pg_toast.pg_toast_1255 set schema moved_a
create table moved_a.part(i int) partition by list(i)
create table moved_a.part1 partition of moved_a.part for values in (1)
alter table moved_a.part set schema moved_b
alter table moved_b.part set schema moved_a
alter schema moved_a rename to pg_x
alter schema moved_a rename to moved_b
alter schema nosuch rename to c
alter schema moved_a owner to nosuch
drop schema moved_a, moved_b, own cascade
drop role rs
