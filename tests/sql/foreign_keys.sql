-- Foreign keys: collations of the columns, and the order in which names are looked up.
CREATE SCHEMA keys; SET search_path = keys
create table pk1(a text collate "C" primary key, b text collate "POSIX" unique)
create table fk1(a text collate "POSIX" references pk1, b text collate "C" references pk1(b))
insert into pk1 values ('x','y')
insert into fk1 values ('x','y'),(null,null)
insert into fk1 values ('z','y')
insert into fk1 values ('x','q')
delete from pk1
update pk1 set a='k'
update pk1 set b='k'
create table fk2(a text collate "POSIX", b text collate "C")
insert into fk2 values ('x','y')
alter table fk2 add foreign key (a) references pk1
alter table fk2 add foreign key (b) references pk1(b)
insert into fk2 values ('xx','yy')
alter table fk2 add constraint nv foreign key (a) references pk1 not valid
alter table fk2 validate constraint nv
alter table fk2 add constraint nv2 foreign key (b, a) references pk1(b,a)
alter table fk2 add constraint nv3 foreign key (b) references pk1(b) on delete cascade on update cascade
delete from fk2 where a='xx'
alter table fk2 add constraint nv3 foreign key (b) references pk1(b) on delete cascade on update cascade
create table pk2(a text collate "POSIX" primary key, b varchar(5) collate "C" unique, unique(a,b))
create table fk3(a varchar(10) collate "C", b text, c name)
insert into pk2 values ('1','1'),('2','2')
insert into fk3 values ('1','1','1'),('2','2','2')
alter table fk3 add constraint f1 foreign key (a,b) references pk2(a,b) on delete cascade on update cascade
alter table fk3 add constraint f2 foreign key (c) references pk2(b) on delete set null on update set default
alter table fk3 add constraint f3 foreign key (c) references pk2(a) on delete set null on update set default
update pk2 set a='3' where a='1'
update pk2 set b='3' where b='1'
delete from pk2
create table fkn(a int, foreign key (nope) references pk2)
create table fkn(a int, foreign key (a) references nopk(nope))
create table fkn(a int, foreign key (nope) references nopk(nope))
create table fkn(a int, foreign key (nope) references pk2(nope2))
create table fkn(a int, foreign key (a,nope) references pk2(nope2))
create table fkn(a int, foreign key (a,a) references pk2(a))
create table fkn(a int, foreign key (a,a) references pk2(a,a))
create table fkn(a int, foreign key (a) references pk2(a,b))
create table fkn(a int, foreign key (a) references pk2(ctid))
create table fkn(a int, foreign key (ctid) references pk2(a))
create table fkn(a int, foreign key (a) references pg_class)
create table fkn(a int, foreign key (a) references pg_class(oid))
create table fkn(a int, foreign key (a) references pk2)
create table fkn(a text, foreign key (a) references fk2)
create table fkn(a text, foreign key (a) references fk2(a))
create temp table fkt(a text, foreign key (a) references pk2(a))
create view fkv as select 1 a
create table fkn(a text, foreign key (a) references fkv(a))
create table fkn(a text, foreign key (a) references fkv)
create table fkn(a text, constraint c1 foreign key (a) references pk2, constraint c1 foreign key (a) references pk2)
create table fkn(a text, constraint c1 foreign key (a) references nopk, constraint c1 foreign key (a) references pk2)
create table fkn(a text, constraint c1 check (a > 'x'), constraint c1 foreign key (a) references pk2)
create table fkn(a text constraint c1 references pk2 constraint c1 references pk2)
create table fkn(a text)
alter table fkn add constraint c1 foreign key (a) references pk2
alter table fkn add constraint c1 foreign key (a) references pk2
alter table fkn add constraint c1 foreign key (nope) references pk2
alter table fkn add constraint c1 foreign key (a) references nopk
alter table fkn add constraint c1 foreign key (a) references pk2(nope)
alter table fkn add constraint c1 foreign key (a) references fk2(a)
alter table fkn add constraint c1 check (a > 'x')
alter table fkn add constraint c1 check (nope > 'x')
alter table fkn add constraint c1 unique (a)
alter table fkn add constraint c2 foreign key (a) references pk2 on delete set null (a, nope)
alter table fkn add constraint c2 foreign key (a) references pk2 on delete set null (b)
create table fkm(a int, b text)
alter table fkm add constraint c2 foreign key (b) references pk2 on delete set null (a)
alter table fkm add constraint c2 foreign key (a) references pk2
alter table fkm add foreign key (b) references pk2, add foreign key (b) references pk2(b)
alter table fkm add constraint fkm_b_fkey foreign key (b) references pk2, add constraint fkm_b_fkey foreign key (b) references pk2(b)
select conname, contype, conkey, confkey, conpfeqop::regoperator[] from pg_constraint where conrelid='fkm'::regclass order by 1
drop table fkn, fkm, fk3, fk2, fk1, pk1, pk2 cascade
-- TRUNCATE reports the references to the tables in their order.
CREATE TABLE tr_a (a int PRIMARY KEY); CREATE TABLE tr_b (b int REFERENCES tr_a); CREATE TABLE tr_c (c int PRIMARY KEY); CREATE TABLE tr_d (d int REFERENCES tr_c); CREATE TABLE tr_e (e int REFERENCES tr_a, f int REFERENCES tr_c)
TRUNCATE [[tr_a¦tr_c, tr_a¦tr_a, tr_c¦tr_c, tr_a, tr_d¦tr_c, tr_a, tr_d, tr_b¦tr_a, tr_b¦tr_e, tr_a, tr_b¦tr_a, tr_b, tr_c, tr_d, tr_e]]
TRUNCATE tr_c, tr_a CASCADE
DROP TABLE tr_a, tr_b, tr_c, tr_d, tr_e
-- Referencing columns whose types are cast to that of the referenced column.
create table pk9(a numeric primary key, b float8 unique, c text unique, d timestamptz unique)
create table fk9(a int references pk9 on update cascade, b numeric references pk9(b), c char(4) references pk9(c), d date references pk9(d))
insert into pk9 values (1,1.5,'x','2024-01-01'),(2,2.5,'y','2024-01-02')
insert into fk9 values (1,1.5,'x','2024-01-01'),(null,null,null,null)
update fk9 set a=a, b=b, c=c, d=d
update fk9 set a=a+[[1¦2]]
update fk9 set b=b+1.0
update fk9 set b=2.50
update fk9 set b=b+1
update fk9 set c='y   '
update fk9 set c='q'
update fk9 set d=d+1
update fk9 set d=d+1
update pk9 set a=7 where a=2
begin; alter table fk9 alter constraint fk9_a_fkey deferrable initially deferred; update fk9 set a=8, b=1.500 where a=7; commit
table fk9
-- Locks of tables and indexes.
create table lk_pk (a int primary key, b int unique); create index on lk_pk (b, a); create table lk_fk (a int unique, b int); create index on lk_fk (b)
begin; alter table lk_fk add foreign key ([[a¦b]]) references lk_pk [[¦(a)¦(b)]]; select c.relname, l.mode, count(*) from pg_locks l join pg_class c on l.relation = c.oid where l.pid = pg_backend_pid() and c.relname like 'lk%' group by 1, 2 order by 1, 2; rollback
begin; alter table lk_fk add constraint lk_nv foreign key (a) references lk_pk ([[a¦b]]) not valid; select c.relname, l.mode, count(*) from pg_locks l join pg_class c on l.relation = c.oid where l.pid = pg_backend_pid() and c.relname like 'lk%' group by 1, 2 order by 1, 2; rollback
alter table lk_fk add constraint lk_nv foreign key (a) references lk_pk not valid
begin; alter table lk_fk validate constraint lk_nv; select c.relname, l.mode, count(*) from pg_locks l join pg_class c on l.relation = c.oid where l.pid = pg_backend_pid() and c.relname like 'lk%' group by 1, 2 order by 1, 2; rollback
begin; [[create table lk_new (a int references lk_pk)¦alter table lk_fk add column z int, add foreign key (z) references lk_pk¦alter table lk_fk drop constraint lk_nv]]; select c.relname, l.mode, count(*) from pg_locks l join pg_class c on l.relation = c.oid where l.pid = pg_backend_pid() and c.relname like 'lk%' group by 1, 2 order by 1, 2; rollback
drop table lk_fk, lk_pk
DROP SCHEMA keys CASCADE
