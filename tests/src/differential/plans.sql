select * from t10 where a = 5
select * from t100 where a = 5
select * from t1k where a = 5
select * from t10k where a = 5
select * from t100k where a = 5
select * from t1k where b = 5
select * from t10k where b = 5
select * from t100k where b = 5
select * from t100k where a between 5 and 50
select * from t100k where a > 50000
select * from t100k where a > 5
select * from t100k where a in (1, 2, 3)
select * from t100k where b in (1, 2, 3)
select * from t100k where a = 3 or b = 4
select * from t100k where b = 4 and a < 1000
select * from t100k where b = 4 and a < 1000 and c = 'x'
select count(*) from t100k
select count(*) from t100k where b = 5
select b, count(*) from t100k group by b
select b, count(*) from t100k group by b order by b
select a, count(*) from t100k group by a
select * from t100k order by b limit 10
select * from t100k order by a desc limit 10
select * from t100k order by c
select * from t1k x join t100k y on x.a = y.b where x.b = 5
select * from t10k x where a not in (select b from t100k)
select distinct b from t100k
select distinct b, c from t100k order by b, c
select max(a), min(b) from t100k
select a from t100k where a < 100
select * from t10k where a = 2 and a = 2
update t100k set c = 'y' where a = 7
delete from t100k where b = 7
select * from t10k where c like 'row 1%' and a < 50
select * from t10k where c like '%9' and b = 5
select * from t10k where c ~ '77' order by a
select sum(b) over (partition by b order by a) from t10k
select rank() over (order by a), a from t100k
select * from t1k union select * from t100
select * from t10k x, t1k y where x.a = y.a and x.a = 5 and y.a = 5
select * from t10k x join t10k y on x.a = y.b join t10k z on y.a = z.a where x.a = 3
