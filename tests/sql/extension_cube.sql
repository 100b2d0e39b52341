create extension cube
select '[[1¦(1,2)¦1,2¦(1,2),(3,4)¦[(1,2),(3,4)]¦()¦(),()¦(1),(1)¦ ( 1 , 2 ) , ( 3 , 4 ) ¦1e10,-1.5,.5,5.¦inf,-Infinity,NaN¦¦(1,2¦1,2)¦(1,2),(3)¦[(1)]¦abc¦1 2¦1,,2¦(1,2)(3,4)¦[(1,2),(3,4)¦1e400¦+1¦1e¦(3,1),(1,3)]]'::cube
select cube(1), cube(1, 2), cube(1, 1), cube('{1,2}'::float8[]), cube('{1,2}'::float8[], '{3,4}'::float8[]), cube('{1,2}'::float8[], '{1,2}'::float8[]), cube('(1,2)'::cube, 3), cube('(1,2),(3,4)'::cube, 5), cube('(1,2)'::cube, 5, 6), cube('(1,2),(3,4)'::cube, 5, 5)
select cube('{1,NULL}'::float8[])
select cube('{1,2}'::float8[], '{1}'::float8[])
select cube(array_fill(0::float8, array[101]))
select a.c, b.c, a.c = b.c, a.c <> b.c, a.c < b.c, a.c <= b.c, a.c > b.c, a.c >= b.c, cube_cmp(a.c, b.c), a.c && b.c, a.c @> b.c, a.c <@ b.c, cube_union(a.c, b.c), cube_inter(a.c, b.c), a.c <-> b.c, a.c <#> b.c, a.c <=> b.c from (values ('1'::cube), ('(1,2)'), ('(0,0),(5,5)'), ('(2,3),(1,1)'), ('(-1,-2,-3),(1,2,3)'), ('()'), ('(1,0)')) a(c), (values ('1'::cube), ('(1,2)'), ('(0,0),(5,5)'), ('(3,7,1)'), ('()')) b(c) order by 1, 2
select c, cube_dim(c), cube_size(c), cube_is_point(c), cube_ll_coord(c, 1), cube_ur_coord(c, 2), cube_ll_coord(c, 9), cube_ll_coord(c, 0), c ~> 1, c ~> 2, c ~> -3, c ~> 99, cube_enlarge(c, 1, 3), cube_enlarge(c, -1, 1), cube_enlarge(c, 0, 5), cube_send(c) from (values ('1'::cube), ('(1,2)'), ('(0,0),(5,5)'), ('(2,3),(1,1)'), ('(-1,-2,-3),(1,2,3)'), ('()')) v(c) order by 1
select '(1,2),(3,4)'::cube -> [[1¦4¦5¦0¦-1]], '(1,2)'::cube -> [[1¦4¦5]]
select '(1,2)'::cube ~> 0
select cube_subset('(1,3,5),(6,7,8)', '{3,1,1,2}'), cube_subset('(1,3,5)', '{3,1}'), cube_subset('(1,3,5)', '{}')
select cube_subset('(1,3,5)', '{4}')
select cube_subset('(1,3,5)', '{1,NULL}')
create table cu_t (id int, c cube)
insert into cu_t select i, cube(array[i % 5, i % 3]::float8[], array[i % 7, 2]::float8[]) from generate_series(1, 40) i
select c, count(*) from cu_t group by c order by c limit 10
create index on cu_t (c)
set enable_seqscan = off
select id from cu_t where c = '(1,1),(1,2)' order by id
select id from cu_t order by c <-> '(3,3)', id limit 5
reset enable_seqscan
drop table cu_t
drop extension cube
