create extension intarray
select '{1,2,3}'::int[] @> '[[{1}¦{4}¦{}¦{3,1,1}]]', '{1}' <@ '{1,2}'::int[], '{1,2}'::int[] && '{2,3}', '{}'::int[] && '{}', '{1,2}'::int[] | '{2,3}'::int[], '{2,1,1}'::int[] & '{1,5,2}', '{1,2,3}'::int[] - '{2}'::int[], '{1,2,2,3}'::int[] - 2, '{3,1}'::int[] + 2, '{3,1}'::int[] + '{1}'::int[], '{3,1}'::int[] | 2
select # '{1,2,3}'::int[], '{4,5,6}'::int[] # 5, icount('{}'), sort('{3,1,2}'), sort('{3,1,2}', '[[asc¦DESC¦Asc]]'), sort_asc('{2,1}'), sort_desc('{1,2}'), uniq('{1,1,2,1}'), idx('{1,5,5}', 5), idx('{1}', 9), idx('{}', 9), intset(7), sort('[0:2]={3,1,2}'), uniq('[5:7]={1,1,2}'), sort('{{3,1},{2,0}}')
select subarray('{1,2,3,4,5}', [[1¦2¦0¦-2¦9¦-9]]), subarray('{1,2,3,4,5}', 2, [[1¦2¦0¦-1¦-9¦9]])
select sort('{1,2}', 'up')
select sort('{1,NULL}')
select '{1,NULL}'::int[] @> '{1}'
select '{1}'::int[] && '{NULL}'::int[]
select '[[1¦1&2¦1|2|3¦!1&(2|!3)¦!!5¦1 & 2 | 3 & 4¦(1|2)&(3|4)¦-5¦!(1&2)&(1|2)¦010¦1&¦&1¦(1¦1)¦a¦1 2¦¦99999999999¦-¦2147483647¦1|(2&3)|4]]'::query_int
select q, '{1,2,5}'::int[] @@ q, q ~~ '{3}'::int[] from unnest(array['1', '1&2', '1&3', '3|5', '!3', '!(1|3)', '1&!2|5', '(1|3)&(2|4)']::query_int[]) q
create table ia_t (id int, a int[])
insert into ia_t select i, array[i % 5, i % 3, i] from generate_series(1, 40) i
select id from ia_t where a @> '{1,2}' order by id
select id from ia_t where a @@ '1&2&!11' order by id
select count(*) from ia_t where a && '{4,2}'
explain (costs off) select id from ia_t where a @> '{1,2}'
drop table ia_t
drop extension intarray
