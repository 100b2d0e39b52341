-- Triggers of constraints: modes, savepoints, held cursors, EXPLAIN ANALYZE, rows written twice by one statement.
CREATE SCHEMA triggers; SET search_path = triggers
-- set constraints
create table p(id int primary key, n text)
create table c(id int primary key, p int constraint cp references p deferrable initially deferred, v int)
create table c2(id int primary key, p int constraint cp2 references p, v int)
insert into p values (1,'a'),(2,'b')
begin
set constraints cp2 immediate
set constraints cp2 deferred
rollback
begin
set constraints all immediate
insert into c values (1, 9, 0)
rollback
begin
insert into c values (1, 9, 0)
savepoint s
set constraints all immediate
rollback to s
commit
begin
insert into c values (1, 9, 0)
savepoint s
insert into p values (9)
set constraints all immediate
rollback to s
commit
begin
insert into c values (1, 9, 0)
savepoint s
insert into p values (9)
set constraints all immediate
release s
commit
table c
delete from c
delete from p where id = 9
begin
insert into c values (1,9,0)
update c set v = 1
savepoint s
update c set v = 2
rollback to s
commit
begin
insert into c values (1,9,0)
update c set v = 1
insert into p values (9)
commit
table c
delete from c
delete from p where id=9
set constraints nosuch immediate
-- held cursors
create function ins() returns int language sql as 'insert into c values (5, 77, 0) returning id'
begin
declare k cursor with hold for select ins()
commit
table c
-- unique deferrable
create table u(id int unique deferrable initially deferred, v int)
begin
insert into u values (1,1),(1,2)
update u set id = 2 where v = 2
commit
table u
insert into u values (1,3)
begin
insert into u values (1,4)
update u set v = 5 where v = 4
commit
begin
insert into u values (1,4)
delete from u where v = 4
commit
update u set id = id + 1
table u
explain (analyze, costs off, timing off, summary off) insert into u values (10, 1)
explain (analyze, costs off, timing off, summary off) insert into u values (11, 1), (11,2)
create table ui(id int unique deferrable, v int)
explain (analyze, costs off, timing off, summary off) insert into ui values (11, 1)
explain (analyze, costs off, timing off, summary off) update ui set v = 2
-- explain
explain (analyze, costs off, timing off, summary off) insert into c2 values (1, 1, 0), (2, null, 0)
explain (analyze, costs off, timing off, summary off) update c2 set p = 2 where id = 1
explain (analyze, costs off, timing off, summary off) update c2 set p = 2 where id = 1
explain (analyze, costs off, timing off, summary off) update c2 set v = 2 where id = 1
begin
insert into c2 values (3, 1, 0)
explain (analyze, costs off, timing off, summary off) update c2 set v = 2 where id = 3
rollback
create table ca(id int primary key, p int references p on delete cascade on update cascade)
create table cb(id int primary key, a int references ca on delete cascade on update set null)
create table za(id int primary key, p int references p on delete set null on update cascade)
insert into p values (50)
insert into ca values (1,50),(2,50)
insert into cb values (1,1),(2,2)
insert into za values (1,50)
explain (analyze, costs off, timing off, summary off) update p set id = 51 where id = 50
explain (analyze, costs off, timing off, summary off) delete from p where id = 51
explain (analyze, costs off, timing off, summary off) with x as (insert into p values (60) returning id) insert into ca select 60, id from x
-- key comparison
create table pn(k numeric primary key)
create table cn(k numeric references pn on update cascade, v int)
insert into pn values (1.0)
insert into cn values (1.00, 1)
update pn set k = 1.000
table cn
explain (analyze, costs off, timing off, summary off) update cn set k = 1.0
explain (analyze, costs off, timing off, summary off) update pn set k = 1.0
-- rows written twice
create table s(id int primary key, up int references s, n int)
insert into s values (1, 2, 0), (2, 1, 0)
insert into s values (3, 4, 0)
create function upd(int) returns int language sql as 'update c2 set v = v + 1 where id = $1 returning v'
insert into c2 values (20, 1, 0) returning upd(20)
create function upd2(int) returns int language sql as 'update c2 set v = v + 1 where id = $1 - 1 returning v'
insert into c2 select g, 99, upd2(g) from generate_series(30, 31) g
table c2
with i as (insert into c2 values (40, 99, 0) returning id), j as (update c2 set v = 3 where id = 40) select * from i
insert into c2 values (50, 1, 0) on conflict (id) do update set p = 98
insert into c2 values (50, 1, 0) on conflict (id) do update set p = 98
insert into c2 values (51, 97, 0) on conflict (id) do update set p = 1
-- Several rows of one statement that violate and repair a constraint
create table pair(a int primary key, b int references pair(a) on delete cascade on update cascade)
insert into pair values (1, 2), (2, 3), (3, 1)
update pair set a = a + 10
select * from pair order by a
delete from pair where a = 11
select * from pair
-- Changes of the type of the key, and equal values with different representations
create table pc(k text collate "C" primary key)
create table cc(k varchar(10) references pc on update cascade on delete set null, v int)
insert into pc values ('a'), ('b ')
insert into cc values ('a', 1), ('b ', 2), (null, 3)
update cc set k = k
update cc set k = 'c' where v = 3
update pc set k = 'A' where k = 'a'
delete from pc where k = 'b '
select * from cc order by v
create table pf(k float8 primary key)
create table cf(k float8 references pf on update cascade)
insert into pf values ('-0'), ('nan')
insert into cf values (0), ('nan'), ('-0')
update pf set k = 0 where k = 0
select k::text from cf order by k, 1
update cf set k = '-0' where k = 0
explain (analyze, costs off, timing off, summary off) update cf set k = 0 where k = 0
-- Equal numbers with another scale cascade; partial keys
create table pm(a int, b int, unique (a, b))
create table cm(a int, b int, v int, foreign key (a, b) references pm(a, b) match full on update set null (a) on delete set default)
create table cm(a int, b int default 7, v int, foreign key (a, b) references pm(a, b) on update set null on delete set default (b))
insert into pm values (1, 1), (1, 7), (null, 5), (2, null)
insert into cm values (1, 1, 0), (1, null, 0), (null, 4, 0), (3, null, 0)
delete from pm where b = 1
update pm set b = 6 where b = 7
update pm set b = 9 where a is null
select * from cm order by a, b
-- The modes at the end of the statement and of the transaction apply
begin
set constraints cp immediate
insert into c values (90, 1, 0), (91, 55, 0)
rollback
begin
insert into c values (91, 55, 0)
set constraints triggers.cp immediate
commit
begin
insert into c values (91, 55, 0)
savepoint a
set constraints cp immediate
rollback to a
savepoint b
insert into p values (55)
set constraints cp immediate
release b
delete from p where id = 55
set constraints all deferred
delete from p where id = 55
commit
select * from c order by id
begin
insert into u values (500, 1)
savepoint a
insert into u values (500, 2)
rollback to a
set constraints all immediate
insert into u values (500, 3)
rollback
begin
insert into u values (600, 1), (600, 2)
delete from u where v = 1 and id = 600
update u set v = 7 where id = 600
commit
begin
insert into u values (600, 1)
update u set v = 8 where id = 600
commit
select * from u where id = 600 order by v
-- The tables of a check are locked in each transaction
begin
insert into c2 values (70, 1, 0)
select relation::regclass::text, mode from pg_locks where locktype = 'relation' and relation = 'p'::regclass order by mode
rollback
begin
insert into c2 values (70, 1, 0)
select relation::regclass::text, mode from pg_locks where locktype = 'relation' and relation = 'p'::regclass order by mode
savepoint a
rollback to a
insert into c2 values (71, 1, 0)
select relation::regclass::text, mode from pg_locks where locktype = 'relation' and relation = 'p'::regclass order by mode
rollback
begin
delete from p where id = 2
select relation::regclass::text, mode from pg_locks where locktype = 'relation' and relation in ('ca'::regclass, 'c2'::regclass, 'za'::regclass) order by 1, 2
rollback
-- The tables that constraints lock
create table lp(id int primary key)
create table l1(p int references lp on delete set default)
create table l2(p int references lp on delete set null on update cascade)
create table l3(p int references lp on delete restrict)
insert into lp values (1), (2), (3)
insert into l1 values (null)
insert into l2 values (1)
delete from lp where id = 3
begin
delete from lp where id = 1
select relation::regclass::text, mode from pg_locks where locktype = 'relation' and relation in ('lp'::regclass, 'l1'::regclass, 'l2'::regclass, 'l3'::regclass) order by 1, 2
rollback
begin
insert into l3 values (2)
select relation::regclass::text, mode from pg_locks where locktype = 'relation' and relation in ('lp'::regclass, 'l1'::regclass, 'l2'::regclass, 'l3'::regclass) order by 1, 2
rollback
-- Pending events of a table prevent changes of its definition
begin
insert into c values (92, 1, 0)
alter table c add column w int
rollback
begin
insert into c values (92, 1, 0)
set constraints all immediate
alter table c add column w int
truncate c
rollback
-- Functions that write in checks
create table log(n int)
create function note(int) returns boolean language sql as 'insert into log values ($1) returning true'
create table noted(n int check (note(n)), p int references p)
insert into noted values (1, 1), (2, 99)
insert into noted values (1, 1), (2, 2)
select * from log
update noted set n = n + 10
select * from log
drop schema triggers cascade
