-- Extensions with few functions: triggers of spi and tcn, dictionaries, intagg, sounds of words
create schema em
set search_path = em, public
create extension [[autoinc¦insert_username¦moddatetime¦tcn¦dict_int¦dict_xsyn¦intagg¦fuzzystrmatch]]
create table em_t (id int primary key, n int, u text, d timestamptz, ts timestamp, bad date)
create sequence em_s
create trigger inc before insert or update on em_t for each row execute function autoinc(n, em_s)
create trigger usr before insert or update on em_t for each row execute function insert_username(u)
create trigger tim before update on em_t for each row execute function moddatetime(d)
create trigger tim2 before update on em_t for each row execute function moddatetime(ts)
insert into em_t (id, n) values (1, null), (2, 0), (3, 7)
select id, n, u, d, ts from em_t order by id
update em_t set n = null where id = 3
begin
update em_t set bad = '2020-01-01'
select id, n, u, d = now(), ts = now()::timestamp from em_t order by id
commit
create trigger bad1 [[after insert¦before delete¦before insert]] on em_t for each [[row¦statement]] execute function [[autoinc(n, em_s)¦moddatetime(d)¦insert_username(u)]]
insert into em_t (id) values (4)
delete from em_t where id = 1
drop trigger bad1 on em_t
create trigger bad1 before update on em_t for each row execute function [[autoinc()¦autoinc(n)¦autoinc(nosuch, em_s)¦autoinc(u, em_s)¦autoinc(n, nosuch)¦moddatetime()¦moddatetime(nosuch)¦moddatetime(bad)¦moddatetime(d, d)¦insert_username()¦insert_username(id)¦insert_username(nosuch)]]
update em_t set n = 0 where id = 2
drop trigger bad1 on em_t
select [[autoinc¦insert_username¦moddatetime¦triggered_change_notification]]()
create trigger note after insert or update or delete on em_t for each row execute function triggered_change_notification()
listen tcn
listen other
insert into em_t (id, n) values (10, 1)
update em_t set id = 11 where id = 10
delete from em_t where id = 11
drop trigger note on em_t
create trigger note [[before insert on em_t for each row¦after insert on em_t for each statement]] execute function triggered_change_notification([[¦other¦a, b]])
insert into em_t (id, n) values (12, 1)
drop trigger note on em_t
create table em_k (a text, "b c" int, d int, primary key ("b c", a))
create trigger note after insert or update or delete on em_k for each row execute function triggered_change_notification('other')
insert into em_k values ('it''s', 1), ('x"y', 2)
delete from em_k
alter table em_k drop constraint em_k_pkey
insert into em_k values ('a', 1)
unlisten *
drop table em_k
drop table em_t
select ts_lexize('intdict', '[[511673¦129¦40865854¦-12345678¦+123¦12¦¦abc]]')
alter text search dictionary intdict ([[maxlen = 4, rejectlong = true¦absval = true¦maxlen = 0¦maxlen = -1¦maxlen = x¦rejectlong = 3¦nosuch = 1¦absval = false, maxlen = 100, rejectlong = no]])
select ts_lexize('intdict', '[[511673¦-12345678¦+123¦12]]')
alter text search dictionary xsyn (rules = 'xsyn_sample', keeporig = [[true¦false]], matchorig = [[true¦false]], keepsynonyms = [[true¦false]], matchsynonyms = [[true¦false]])
select ts_lexize('xsyn', '[[supernova¦sn¦SN¦grb¦foo¦]]')
alter text search dictionary xsyn ([[rules = 'nosuch'¦nosuch = 1¦keeporig = 3]])
create text search dictionary em_x (template = xsyn_template)
select ts_lexize('em_x', 'supernova')
select int_array_aggregate(x) from generate_series(1, 5) x
select * from int_array_enum('{3,1,2}')
select int_array_enum('{}'::int[])
select dmetaphone('[[¦a¦gumbo¦Smith¦Schmidt¦Thomas¦Jose¦san jose¦Xavier¦Wicz¦Filipowicz¦van der berg¦McHugh¦caesar¦chianti¦Czerny¦focaccia¦bacchus¦accident¦Arnow¦Wasserman¦Uomo¦cabrillo¦gallegos¦bough¦laugh¦Ghislane¦tagliaro¦biaggi¦danger¦ranger¦island¦sugar¦school¦Schenker¦resnais¦artois¦breaux¦zhao¦Zola¦rogier¦hochmeier¦é¦日本¦O''Brien]]')
select dmetaphone_alt('[[¦a¦gumbo¦Smith¦Schmidt¦Thomas¦Jose¦san jose¦Xavier¦Wicz¦Filipowicz¦van der berg¦McHugh¦caesar¦chianti¦Czerny¦focaccia¦bacchus¦accident¦Arnow¦Wasserman¦Uomo¦cabrillo¦gallegos¦bough¦laugh¦Ghislane¦tagliaro¦biaggi¦danger¦ranger¦island¦sugar¦school¦Schenker¦resnais¦artois¦breaux¦zhao¦Zola¦rogier¦hochmeier¦é¦日本¦O''Brien]]')
select md5(string_agg(w || dmetaphone(w) || dmetaphone_alt(w), ',' order by w)) from (select '[[a¦b¦c¦d¦e¦f¦g¦h¦i¦j¦k¦l¦m¦n¦o¦p¦q¦r¦s¦t¦u¦v¦w¦x¦y¦z]]' || chr(x) || chr(y) || s w from generate_series(97, 122) x, generate_series(97, 122) y, unnest(array['', 'e', 'er', 'h', ' g', 'ia', 'z']) s) w
drop schema em cascade
reset search_path
