select * from a
select * from a where z = 3
select * from a order by y
select * from a order by y desc nulls last, z
select * from a order by x limit 5
select * from e e1 full join e e2 on e1.k = e2.k
select * from a where z not in (select k from e)
with c as materialized (select * from e where k > 3) select * from c where v < 8
with c as (select * from e where k > 3) select * from c where v < 8
with recursive r(n) as (select 1 union all select n+1 from r where n < 10) select * from r
select * from generate_series(1,3) g
select * from generate_series(1,3) g(i) where i > 1
select * from (values (1,'a'),(2,'b')) v(i,t)
select * from (values (1,'a'),(2,'b')) v(i,t) where i > 1
select 1
select x from a union all select k from e
select x from a union select k from e
select * from av where x < 10
select * from a where ctid = '(0,1)'
select * from a where y is null or z is not null
select * from a where x between 5 and 10 and z <> 2
select case when z > 3 then 'a' else 'b' end from a where coalesce(y,'q') <> 'q'
select * from s2.a
select "Odd" from s2.a where "Odd" > 'b'
insert into e values (1,2)
insert into e values (1,2),(3,4)
insert into a values (1,'b') on conflict (x) do update set y = excluded.y where a.z > 2
update a set y = upper(y) where z = 3 returning *
delete from e where k = 3
delete from b using e where e.k = b.x and e.v > 3
select * from e order by k + v
select k % 3, count(*) from e group by k % 3
select k % 3 as m, count(*) from e group by 1 order by 2 desc
select current_date, now(), x from a where y = current_user::text
select * from e limit 3 offset 2
select exists(select 1 from e where k = 3)
select x from a where x > 990 order by x desc
select t.* from a t where t.z in (1,2)
