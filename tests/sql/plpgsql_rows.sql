create table plw_t(a int, b text); create table plw_log(n serial, m text)
create function plw_f() returns trigger language plpgsql as $$ begin raise notice '% % % old.a=% new.a=% old=% new=%', tg_when, tg_op, tg_level, old.a, new.a, old, new; raise notice '% %', old is null, new.b is null; if tg_level = 'STATEMENT' then return null; elsif tg_op = 'DELETE' then return old; end if; return new; end $$
create trigger plw_1 before insert or update or delete or truncate on plw_t for each statement execute function plw_f(); create trigger plw_2 after insert or update or delete or truncate on plw_t for each statement execute function plw_f(); create trigger plw_3 before insert or update or delete on plw_t for each row execute function plw_f(); create trigger plw_4 after insert or update or delete on plw_t for each row execute function plw_f()
insert into plw_t values (1, 'x'), (2, null)
update plw_t set a = a + 10, b = b || '!' where a = 1
delete from plw_t where a = 2
insert into plw_t select 1 where false
truncate plw_t
create procedure plw_p(n int, inout x int, inout y int) language plpgsql as $$ begin raise notice '% % %', n, x, y; x := 1; end $$
create function plw_g() returns trigger language plpgsql as $$ begin call plw_p(2, new.a, old.a); raise notice '% % %', new.a, new, old; new.b := 'set'; raise notice '%', new; return new; end $$
create table plw_s(a int, b text); create trigger plw_g before insert on plw_s for each statement execute function plw_g(); insert into plw_s values (7, 'y'); table plw_s
create or replace function plw_g() returns trigger language plpgsql as $$ begin raise notice '%', new.nosuch; return null; end $$
insert into plw_s values (8, 'y')
create or replace function plw_g() returns trigger language plpgsql as $$ declare r record; begin select new.a, old.b as ob, new.*, (select count(*) from plw_s where b = new.b) c into r; raise notice '%', r; execute 'select $1.a, $2' into r using new, old; raise notice '%', r; return null; end $$
insert into plw_s values (9, 'z')
drop trigger plw_1 on plw_t; drop trigger plw_2 on plw_t; drop trigger plw_3 on plw_t; drop trigger plw_4 on plw_t
create function plw_sys() returns trigger language plpgsql as $$ begin raise notice '% % new: % % % %', tg_when, tg_op, new.ctid, new.tableoid::regclass, new.xmin is null, new.cmin is null; raise notice '% % old: % % % %', tg_when, tg_op, old.ctid, old.tableoid::regclass, old.xmin is null, old.cmax is null; if tg_op = 'DELETE' then return old; end if; return new; end $$
create trigger plw_1 before insert or update or delete on plw_t for each row execute function plw_sys(); create trigger plw_2 after insert or update or delete on plw_t for each row execute function plw_sys(); create trigger plw_3 after insert or update or delete or truncate on plw_t for each statement execute function plw_sys()
insert into plw_t values (1, 'x'), (2, 'y')
update plw_t set a = a + 1
delete from plw_t where a = 2
begin; insert into plw_t values (5, 'z'); update plw_t set b = 'zz' where a = 5; delete from plw_t; rollback
truncate plw_t
drop trigger plw_1 on plw_t; drop trigger plw_2 on plw_t; drop trigger plw_3 on plw_t
create function plw_h() returns trigger language plpgsql as $$ declare t tid; r record; n int; begin select new.ctid, new.tableoid = 'plw_t'::regclass as same, new.xmin::text = (txid_current() % 4294967296)::text as own into r; raise notice '%', r; execute 'select count(*) from plw_t where ctid = $1' into n using new.ctid; raise notice '%', n; t := old.ctid; raise notice '% % %', t, pg_typeof(new.xmin), pg_typeof(old.tableoid); return null; end $$
create trigger plw_h after insert or update on plw_t for each row execute function plw_h(); insert into plw_t values (1, 'a'); update plw_t set b = 'b'
create or replace function plw_h() returns trigger language plpgsql as $$ begin new.ctid := '(1,1)'; return new; end $$
insert into plw_t values (2, 'a')
do $$ declare r plw_t; begin raise notice '% %', r.ctid, r.tableoid; r.a := 1; raise notice '% %', r.ctid, r.tableoid; r.xmin := 5; end $$
do $$ declare r record; begin select 1 as a into r; raise notice '%', r.oid; end $$
do $$ declare r record; begin raise notice '%', r.ctid; end $$
do $$ declare r record; begin select '(1,2)'::tid as ctid, 5 as xmin into r; r.ctid := '(3,4)'; r.xmin := r.xmin + 1; raise notice '% %', r, r.ctid; end $$
drop trigger plw_h on plw_t; delete from plw_t; create function plw_w() returns trigger language plpgsql as $$ begin raise notice '% % %', tg_name, tg_op, coalesce(new.a, old.a); if tg_op = 'DELETE' then return old; end if; return new; end $$
create trigger plw_w[[0¦1¦2¦3¦4]] [[before¦after]] [[insert¦update]] on plw_t for each row when ([[new¦old]].ctid is not null and [[new¦old]].tableoid = 'plw_t'::regclass) execute function plw_w()
truncate plw_t; insert into plw_t values (1, 'x'), (2, 'y'), (3, 'z')
create trigger plw_x1 after update on plw_t for each row when (old.ctid <> new.ctid and old.tableoid = new.tableoid and new.xmin is not null and old.a < 3) execute function plw_w(); create trigger plw_x2 before update on plw_t for each row when (old.ctid = '(0,2)') execute function plw_w(); create trigger plw_x3 after delete on plw_t for each row when (old.xmax <> '0' and old.b = 'y') execute function plw_w(); create trigger plw_x4 after insert on plw_t for each row when (new.ctid > '(0,1)') execute function plw_w()
update plw_t set a = a + 1; delete from plw_t; insert into plw_t values (7, 'q')
create view plw_v as select a, b from plw_t; create function plw_i() returns trigger language plpgsql as $$ begin raise notice '% % % %', tg_op, old.a, new.ctid, old.ctid; return coalesce(new, old); end $$
create trigger plw_i instead of insert or update or delete on plw_v for each row execute function plw_i(); insert into plw_v values (1, 'x'); update plw_v set a = 8; delete from plw_v
drop view plw_v; drop table plw_t, plw_s, plw_log; drop function plw_f, plw_g, plw_sys, plw_h, plw_w, plw_i; drop procedure plw_p
create type plw_c as (x int, y text); create domain plw_d as plw_c check ((value).x > 0); create type plw_e as (x bigint, y varchar(3))
do $$ declare r plw_c; q record; s plw_c; d plw_d; e plw_e; begin q := r; raise notice '% %', q is null, r; r.x := 1; q := r; q.x := q.x + 1; s := q; s.y := 'own'; raise notice '% % % %', r, q, s, q = r; d := s; d.x := 5; e := s; raise notice '% % %', d, e, pg_typeof(e); q := row(1, 'a', 2); s := q; raise notice '%', s; r := r; q := null; s := q; raise notice '% %', s, s is null; s.y := 'abcd'; e := s; end $$
do $$ declare r plw_c; d plw_d; begin r.x := 7; d := r; r.x := -1; d := r; end $$
do $$ declare r record; q record; begin q := r; raise notice '%', q is null; select 1 as a, 'x' as b into r; q := r; r.a := 2; raise notice '% %', q, r; q.b := q.a || r.b; raise notice '%', q.b; q := null; q.b := 'x'; end $$
do $$ declare r plw_c not null := (1, 'x'); q plw_c; begin r := (2, 'y'); r := q; end $$
create function plw_n(n int) returns int language plpgsql as $$ declare r plw_c; q record; begin r.x := n; r.y := 'abc' || n; q := r; q.x := q.x + 1; return q.x % 10; end $$
select sum(plw_n(g)) from generate_series(1, 1000) g
do $$ declare r plw_c; begin for i in 1..3 loop r.x := i; raise notice '%', r; if i = 1 then alter type plw_c add attribute z int; elsif i = 2 then r := null; end if; end loop; exception when others then raise notice '%', sqlstate; end $$
drop function plw_n; drop domain plw_d; drop type plw_c, plw_e
