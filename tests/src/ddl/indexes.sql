-- Indexes over expressions, whole rows and parts of tables: names of keys in errors, and plans.
create table ki (a int, b text); insert into ki values (1,'A'),(2,'a');
create unique index on ki (lower(b));
create unique index on ki (lower(b), (a-a));
delete from ki where a=2;
create unique index on ki (lower(b), (a-a));
insert into ki values (1,'a');
create unique index on ki ((a+1)) include (b);
insert into ki values (1,'b'); 
insert into ki values (3,'A') on conflict (lower(b), (a-a)) do nothing;
drop table ki;
create table ki (a int, b text, "C d" int); insert into ki values (1,'A',1);
create unique index on ki (lower(b), "C d"); alter table ki add unique (a) deferrable initially deferred;
create unique index on ki ((ki.*));
insert into ki values (2,'a',1); begin; insert into ki values (1,'z',1); commit;
copy ki from stdin;
3	a	1
\.
insert into ki values (1,'A',1);
drop table ki;
create table wr (a int, d text, b text); insert into wr select g, 'd', 'x'||g from generate_series(1,5) g;
create function wz(wr) returns int language sql immutable as 'select $1.a';
create function wt(wr) returns text language sql immutable as 'select $1::text';
create index wi1 on wr (wz(wr)); create index wi2 on wr ((wr.*)); create index wi3 on wr (wt(wr)) where wr.* is not null;
\d wr
insert into wr values (6,'e','x6'); update wr set b='y3' where a=3; update wr set a=30 where a=3; delete from wr where a=1;
set enable_seqscan=off;
explain (costs off) select * from wr where wt(wr) = '(4,d,x4)' and wr.* is not null;
select * from wr where wt(wr) = '(4,d,x4)' and wr.* is not null; select * from wr where wr = row(30,'d','y3')::wr; select a from wr where wr.* > row(4,'','')::wr order by wr;
alter table wr drop column d; 
\d wr
alter table wr add column e int;
\d wr
select * from wr order by a;
insert into wr values (7,'x7',1); update wr set e = 3 where a = 6; 
select * from wr where wr = row(7,'x7',1)::wr; 
reindex table wr; vacuum wr;
select * from wr where wr = row(6,'x6',3)::wr; select * from wr where wz(wr) = 7;
create unique index wi4 on wr ((wr.*)); insert into wr values (7,'x7',1);
reset enable_seqscan;
create table pi (a int, st text); insert into pi select g, case when g%100=0 then 'x' else 'y' end from generate_series(1,10000) g; create index on pi (a) where st = 'x'; analyze pi;
explain (costs off) select * from pi where st = 'x' and a < 1000;
explain (costs off) select * from pi where st = 'x' and a < 1000 for update;
explain (costs off) delete from pi where st = 'x' and a < 1000;
explain (costs off) select a from pi where st = 'x' and a < 1000;
drop table pi;
create table pj (a int, b int, st text); insert into pj select g, g%7, case when g%100=0 then 'x' when g % 50 = 0 then null else 'y' end from generate_series(1,20000) g; create index pj_x on pj (a) where st = 'x'; create index pj_n on pj (b) where st is null; create index pj_c on pj (a,b) where a > 19000; create index pj_o on pj (b) where st = 'x' or st is null; vacuum analyze pj;
explain (costs off) select a from pj where st = 'x';
explain (costs off) select a from pj where st = 'x' order by a;
explain (costs off) select count(*) from pj where st = 'x';
explain (costs off) select b from pj where st is null and b = 3;
explain (costs off) select b from pj where st is null;
explain (costs off) select a,b from pj where a > 19500;
explain (costs off) select a,b from pj where a > 19000;
explain (costs off) select a,b from pj where a > 19900 and b = 1;
explain (costs off) select * from pj where a = 19990;
explain (costs off) select b from pj where (st = 'x' or st is null) and b = 2;
explain (costs off) select b from pj where st = 'x' and b = 2;
explain (costs off) select t1.a from pj t1 join pj t2 on t1.a = t2.b where t1.st = 'x' and t2.a < 20;
explain (costs off) update pj set b = 1 where st = 'x' and a < 500;
explain (costs off) select * from pj where st = 'x' and a < 5000 and b = 1;
drop table pj;
set client_min_messages = warning; drop table wr cascade;
