-- Tablespaces of relations, LIKE, and catalog entries about rows, names of index columns and missing values.
create table a (x int);
create table t (a int primary key, b text) tablespace pg_global;
create table t (a int primary key using index tablespace pg_global, b text);
set default_tablespace='pg_global'; create table t0 (a int); show default_tablespace; create index on a(x); select spcname from pg_tablespace s, pg_class c where relname='t0' and s.oid=reltablespace; create materialized view mmm as select 1; create table ctt as select 1; create temp table ttt (a int); create table u (a int unique); reset default_tablespace;
alter table a set tablespace pg_global; create index i on a (x) tablespace pg_global; create index i on a(x); alter index i set tablespace pg_global; create table cc tablespace pg_global as select 1; create materialized view mv tablespace pg_global as select 1; create database d tablespace pg_global; reindex (tablespace pg_global) table a; alter database postgres set tablespace pg_global;
create role tsr; grant create on schema public to tsr; grant all on table a to tsr; set role tsr; create table tt (a int) tablespace pg_default; create table tt2 (a int) tablespace pg_global; alter table tt set tablespace pg_global; reset role; drop table tt; revoke all on schema public from tsr; revoke all on a from tsr; drop role tsr;
alter table pg_class set tablespace pg_default; alter sequence if exists zz set tablespace x; create sequence zz; alter table zz set tablespace pg_default;
drop table a cascade;
create table a (x int primary key, y int unique, z int, unique (z,y) include (x) with (fillfactor=70)); comment on index a_pkey is 'pki'; comment on constraint a_pkey on a is 'pkc'; comment on index a_y_key is 'yk';create statistics st on x,y from a; comment on statistics st is 'stc';
create table b (like a including all, primary key (y));
create table b (like a including all, like a including all);
create table b (like a including indexes, unique (y), w int primary key);
create table b (like a including indexes, unique (y), w int unique);
\d b
create table c (q int unique, like a including all, unique (y));
\d c
select conname, conkey, conindid::regclass, obj_description(conindid,'pg_class'), obj_description(oid,'pg_constraint') from pg_constraint where conrelid='c'::regclass order by 1; select obj_description(oid,'pg_statistic_ext') from pg_statistic_ext where stxrelid='c'::regclass;
alter table a rename y to yy; alter index a_y_key rename column y to y2; \d a_y_key
create table d (like a including all); \d d
\d d_pkey
\d d_yy_key
create table e (like a including indexes, yy2 int references a(yy)); \d e
create table f (like a including all, foreign key (x) references f(yy)); \d f
create table dfr (a int unique deferrable initially deferred, b int unique nulls not distinct); create table dfr2 (like dfr including all); \d dfr2
create table arr (a int[], b text[][]); create table arr2 (like arr); create table arr3 as table arr; select relname, attname, attndims from pg_attribute, pg_class c where attrelid = c.oid and relname like 'arr_' and attnum > 0 order by 1, 2;
create domain dom as text collate "POSIX" check (value > 'a'); select pg_get_constraintdef(oid) from pg_constraint where contypid='dom'::regtype; 
create table cm(a int); alter table cm add b int default 3; vacuum full cm; select attname, atthasmissing from pg_attribute where attrelid='cm'::regclass and attnum>0; create table cm2 as select 1 a; alter table cm2 add b int default 5, add primary key (a); cluster cm2 using cm2_pkey; select attname, atthasmissing from pg_attribute where attrelid='cm2'::regclass and attnum>0; create view sv as select xmin::text, tableoid from cm2; select refobjsubid from pg_depend where classid='pg_rewrite'::regclass and refobjid='cm2'::regclass order by 1;
create table e1 (a int primary key, t text); vacuum e1; select relname, reltuples from pg_class where relname in ('e1','e1_pkey') order by 1; vacuum full e1;  select relname, reltuples from pg_class where relname in ('e1','e1_pkey') order by 1; reindex table e1;  select relname, reltuples from pg_class where relname in ('e1','e1_pkey') order by 1; truncate e1; analyze e1;  select relname, reltuples from pg_class where relname in ('e1','e1_pkey') order by 1; create index e1i on e1(t);  select relname, reltuples from pg_class where relname like 'e1%' order by 1; insert into e1 select g, 'x' from generate_series(1,100) g; reindex table e1;  select relname, reltuples from pg_class where relname like 'e1%' order by 1; delete from e1; vacuum e1;  select relname, reltuples from pg_class where relname like 'e1%' order by 1;
create materialized view mv as select g a from generate_series(1,0) g; create unique index mvi on mv(a) where a is not null; select relname, reltuples from pg_class where relname like 'mv%' order by 1;
