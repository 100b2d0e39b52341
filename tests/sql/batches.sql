-- Index scans of large values end where their rows do.
create table ba_w (id int primary key, t text)
insert into ba_w select g, repeat('a', 300000) from generate_series(1, 60) g
begin; set local enable_seqscan = off; set local enable_sort = off; set local enable_bitmapscan = off; select count(*), sum(length(t)) from (select * from ba_w order by id offset 0) s; select count(length(t)) from ba_w where id > 3; select id from ba_w order by id desc limit 2 offset 50; rollback
