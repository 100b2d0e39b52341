-- Deferred trigger events of tables and constraints that are dropped or changed before the end of the transaction.
CREATE SCHEMA pending; SET search_path = pending
create table p(a int primary key); create table c(a int references p deferrable initially deferred)
begin; insert into c values (1); drop table p cascade; commit
ROLLBACK
select * from c
create table p2(a int primary key); create table c2(a int references p2 deferrable initially deferred)
begin; insert into c2 values (1); drop table c2; commit
ROLLBACK
create table c2(a int constraint cc references p2 deferrable initially deferred)
begin; insert into c2 values (1); alter table c2 drop constraint cc; commit
ROLLBACK
alter table c2 add constraint cc foreign key (a) references p2 deferrable initially deferred
delete from c2
alter table c2 add constraint cc foreign key (a) references p2 deferrable initially deferred
begin; insert into c2 values (1); truncate c2; commit
ROLLBACK
begin; insert into c2 values (1); alter table c2 alter a type bigint; commit
ROLLBACK
begin; insert into c2 values (1); alter table c2 add column b int default 5; commit
ROLLBACK
begin; insert into c2 values (1); alter table c2 add column b2 int default random(); commit
ROLLBACK
begin; insert into c2 values (1); savepoint s; drop table c2; rollback to s; commit
ROLLBACK
begin; savepoint s; insert into c2 values (1); rollback to s; commit
ROLLBACK
begin; insert into c2 values (1); alter table c2 rename a to z; commit
ROLLBACK
begin; insert into c2 values (1); create index on c2(a); commit
ROLLBACK
begin; insert into c2 values (1); cluster c2; commit
ROLLBACK
begin; insert into c2 values (1); drop index c2_a_idx; commit
ROLLBACK
begin; insert into c2 values (1); reindex table c2; commit
ROLLBACK
begin; insert into c2 values (1); alter table c2 alter constraint cc not deferrable; commit
ROLLBACK
begin; insert into c2 values (1); alter table c2 drop column a; commit
ROLLBACK
begin; insert into p2 values (1); insert into c2 values (1); delete from p2; drop table c2; commit
ROLLBACK
begin; insert into p2 values (1); truncate p2, c2; commit
ROLLBACK
create table u (a int unique deferrable initially deferred)
begin; insert into u values (1),(1); drop table u; commit
ROLLBACK
begin; insert into u values (1),(1); alter table u drop constraint u_a_key; commit
ROLLBACK
create table u1 (a int unique deferrable initially deferred)
begin; insert into u1 values (1),(1); alter table u1 drop constraint u1_a_key; commit
ROLLBACK
begin; insert into u1 values (1),(1); truncate u1; commit
ROLLBACK
create table u2 (a int constraint k unique deferrable initially deferred)
begin; insert into u2 values (1),(1); alter table u2 alter a type bigint; commit
ROLLBACK
begin; insert into u2 values (1),(1); truncate u2; commit
ROLLBACK
begin; insert into u2 values (1),(1); reindex table u2; commit
ROLLBACK
begin; insert into u2 values (1),(1); set constraints k immediate; commit
ROLLBACK
begin; insert into u2 values (1),(1); savepoint a; truncate u2; rollback to a; commit
ROLLBACK
SET client_min_messages = error; DROP SCHEMA pending CASCADE
