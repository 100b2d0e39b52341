select '[[(1,2)¦1,2¦ ( 1 , 2 ) ¦(1,2¦1,2)¦(1 2)¦(1,2,3)¦()¦¦(NaN,inf)¦(1e400,2)¦(1e-400,1)¦(1,2) x¦(a,b)¦[1,2]¦((1,2))]]'::point
select '[[(1,2),(3,4)¦[(1,2),(3,4)]¦((1,2),(3,4))¦1,2,3,4¦[1,2,3,4]¦(1,2,3,4)¦((1,2),(3,4)¦[(1,2),(3,4)¦(1,2),(3,4)]¦(1,2)¦[(1,2),(3,4),(5,6)]¦¦((1,2),3,4)¦[(1,2) (3,4)]]]'::[[lseg¦box¦path¦polygon¦line]]
select '[[{1,2,3}¦{0,0,3}¦{1e-7,1e-7,3}¦{1,2}¦{1,2,3¦ { 1 , 2 , 3 } ¦(1,1),(1,1)¦(0,0),(0,5)¦(0,5),(3,5)¦(0,0),(3,9)¦{NaN,2,3}¦{1,2,3,4}¦[1,2,3]¦{-1,1,-0}]]'::line
select '[[((0,0),(1,1),(1,0))¦[(0,0),(1,1),(1,0)]¦(0,0),(1,1),(1,0)¦0,0,1,1,1,0¦(0,0,1,1,1,0)¦(1,1)¦[(1,1)]¦((1,1))¦(1,2),3¦[]¦()¦[(0,0),(1,1),(1,0)¦((0,0),(1,1),(1,0)]¦(,),(2,3)¦((0,0),(1,1),(1,0)) x¦((NaN,0),(1,inf))]]'::[[path¦polygon]]
select '[[<(1,2),3>¦((1,2),3)¦(1,2),3¦1,2,3¦(1,2,3)¦<(1,2),-1>¦<(1,2),NaN>¦<(1,2),inf>¦<1,2,3>¦<(1,2),3¦<(1,2)>¦<(1,2),3> x¦((1,2),3¦¦<(1 2),3>]]'::circle
select point '[[(1,2)¦(-3.5,1e10)¦(NaN,0)]]', box '(3,4),(1,2)', array['(1,2),(3,4)'::box, '(5,6),(7,8)'], '{(1,2),(3,4);(5,6),(7,8)}'::box[], array['(1,2)'::point]
select point_send('(1,2)'), lseg_send('[(1,2),(3,4)]'), box_send('(1,2),(3,4)'), line_send('{1,2,3}'), path_send('[(1,2),(3,4)]'), path_send('((1,2),(3,4))'), poly_send('((1,2),(3,4))'), circle_send('<(1,2),3>')
create table gpoint (id int, f1 point)
insert into gpoint values (1, '(0,0)'), (2, '(-10,0)'), (3, '(-3,4)'), (4, '(5.1,34.5)'), (5, '(-5,-12)'), (6, '(1e-300,-1e-300)'), (7, '(1e300,Inf)'), (8, '(Inf,1e300)'), (9, '(NaN,NaN)'), (10, '(10,10)'), (11, '(1.0000005,1)'), (12, null)
create table glseg (id int, s lseg)
insert into glseg values (1, '[(1,2),(3,4)]'), (2, '(0,0),(6,6)'), (3, '[10,-10,-3,-4]'), (4, '[-1e6,2e2,3e5,-4e1]'), (5, '[(11,22),(33,44)]'), (6, '[(-10,2),(-10,3)]'), (7, '[(0,-20),(30,-20)]'), (8, '[(NaN,1),(NaN,90)]'), (9, '[(1,1),(1,1)]'), (10, '[(0,2),(4,2)]')
create table gbox (id int, b box)
insert into gbox values (1, '(2.0,2.0,0.0,0.0)'), (2, '(1.0,1.0,3.0,3.0)'), (3, '((-8,2),(-2,-10))'), (4, '(2.5,2.5,2.5,3.5)'), (5, '(3.0,3.0,3.0,3.0)'), (6, '(NaN,1,2,3)'), (7, '(-1e300,-1e300,1e300,1e300)')
create table gline (id int, s line)
insert into gline values (1, '{0,-1,5}'), (2, '{1,0,5}'), (3, '{0,3,0}'), (4, '(0,0),(6,6)'), (5, '10,-10,-5,-4'), (6, '[-1e6,2e2,3e5,-4e1]'), (7, '{3,NaN,5}'), (8, '{NaN,NaN,NaN}'), (9, '(1,3),(2,3)'), (10, '{2,-2,0}')
create table gpath (id int, f1 path)
insert into gpath values (1, '[(1,2),(3,4)]'), (2, '((1,2),(3,4))'), (3, '[(0,0),(3,0),(4,5),(1,6)]'), (4, '((1,2),(3,4),(5,0))'), (5, '[(11,12),(13,14)]'), (6, '((10,20))'), (7, '[(1,1)]'), (8, '((NaN,1),(2,2),(3,0))')
create table gpoly (id int, f1 polygon)
insert into gpoly values (1, '(2.0,0.0),(2.0,4.0),(0.0,0.0)'), (2, '(3.0,1.0),(3.0,3.0),(1.0,0.0)'), (3, '(1,2),(3,4),(5,6)'), (4, '(7,8),(5,6),(3,4),(1,2)'), (5, '(1,2),(7,8),(5,6),(3,-4)'), (6, '(0.0,0.0)'), (7, '(0.0,1.0),(0.0,1.0)'), (8, '((0,0),(10,0),(10,10),(5,5),(0,10))'), (9, '((1,1),(2,1),(2,2),(1,2))'), (10, '((2,1),(2,2),(1,2),(1,1))'), (11, '((-10,-10),(10,-10),(10,10),(-10,10))'), (12, '((4,4),(6,4),(6,8),(4,8))')
create table gcircle (id int, f1 circle)
insert into gcircle values (1, '<(5,1),3>'), (2, '<(1,2),100>'), (3, '<(1,3),5>'), (4, '<(1,2),3>'), (5, '<(100,200),10>'), (6, '<(100,1),115>'), (7, '<(3,5),0>'), (8, '<(3,5),NaN>'), (9, '<(1,2),3.0000001>')
select a.id, b.id, a.f1 [[<<¦>>¦<<|¦|>>¦>^¦<^¦~=¦<>¦?|¦?-¦<->¦+¦-¦*]] b.f1 from gpoint a, gpoint b where a.id not in (7, 8) and b.id not in (7, 8)
select a.id, a.f1 / p, slope(a.f1, p), a.f1 [[+¦-¦*¦<->]] p from gpoint a, (values (point '(2,-3)'), ('(1e-10,5)')) v(p) where a.id < 6
select a.id, b.id, a.f1 [[/¦*¦+¦<->]] b.f1 from gpoint a, gpoint b where a.id = [[1¦5¦6¦7¦9]] and b.id = [[1¦7¦8¦9¦10]]
select a.id, b.id, a.s [[=¦<>¦<¦<=¦>¦>=¦?#¦#¦?||¦?-|¦<->¦##]] b.s from glseg a, glseg b
select id, ?| s, ?- s, @-@ s, @@ s, length(s), s::point, center(s::box) from glseg, lateral (select s::point) x
select id, ?| s, ?- s, @-@ s, @@ s, length(s) from glseg
select p.id, s.id, p.f1 [[<->¦##¦<@]] s.s from gpoint p, glseg s where p.id not in (7, 8)
select p.id, s.id, s.s <-> p.f1 from gpoint p, glseg s where p.id not in (7, 8)
select a.id, b.id, a.s [[=¦?#¦#¦?||¦?-|¦<->]] b.s from gline a, gline b
select id, ?| s, ?- s, isvertical(s), ishorizontal(s) from gline
select p.id, l.id, p.f1 [[<->¦##¦<@]] l.s from gpoint p, gline l where p.id not in (7, 8)
select p.id, l.id, l.s <-> p.f1 from gpoint p, gline l where p.id not in (7, 8)
select s.id, l.id, s.s [[<->¦?#¦<@]] l.s from glseg s, gline l
select s.id, l.id, l.s [[<->¦##]] s.s from glseg s, gline l
select line(p.f1, q.f1) from gpoint p, gpoint q where p.id = [[1¦2¦11¦10]] and q.id = [[1¦3¦5¦10]]
select lseg(p.f1, q.f1), box(p.f1, q.f1), circle(p.f1, 2.5), box(p.f1) from gpoint p, gpoint q
select a.id, b.id, a.b [[&&¦&<¦&>¦<<¦>>¦<=¦<¦=¦>¦>=¦~=¦<@¦@>¦<<|¦&<|¦|&>¦|>>¦<^¦>^¦#¦<->]] b.b from gbox a, gbox b where a.id <> 7 and b.id <> 7
select bound_box(a.b, b.b) from gbox a, gbox b
select id, @@ b, area(b), width(b), height(b), diagonal(b), polygon(b), circle(b), center(b), b::point, b::lseg from gbox where id <> 7
select [[area(b)¦b = b¦b + '(1e308,0)'::point¦width(b)¦circle(b)¦polygon(b)]] from gbox where id = 7
select id, b [[+¦-¦*¦/]] point '[[(2,1)¦(-1,0.5)¦(0,0)¦(NaN,1)]]' from gbox where id <> 7
select p.id, x.id, p.f1 [[<->¦##¦<@]] x.b from gpoint p, gbox x where p.id not in (6, 7, 8) and x.id <> 7
select p.id, x.id, x.b [[<->¦@>]] p.f1 from gpoint p, gbox x where p.id not in (6, 7, 8) and x.id <> 7
select s.id, x.id, s.s [[<->¦##¦<@¦?#]] x.b from glseg s, gbox x where x.id <> 7
select s.id, x.id, x.b <-> s.s from glseg s, gbox x where x.id <> 7
select l.id, x.id, l.s ?# x.b from gline l, gbox x where x.id <> 7
select id, isopen(f1), isclosed(f1), npoints(f1), # f1, length(f1), @-@ f1, area(f1), popen(f1), pclose(f1) from gpath
select polygon(f1) from gpath where id = [[1¦2¦4¦6]]
select a.id, b.id, a.f1 [[?#¦+¦<->¦<¦>¦=¦<=¦>=]] b.f1 from gpath a, gpath b
select id, f1 [[+¦-¦*¦/]] point '[[(2,1)¦(0,0)]]' from gpath
select p.id, x.id, p.f1 [[<->¦<@]] x.f1 from gpoint p, gpath x where p.id not in (6, 7, 8)
select p.id, x.id, x.f1 [[<->¦@>]] p.f1 from gpoint p, gpath x where p.id not in (6, 7, 8)
select a.id, b.id, a.f1 [[<<¦>>¦&<¦&>¦<<|¦|>>¦&<|¦|&>¦~=¦<@¦@>¦&&¦<->]] b.f1 from gpoly a, gpoly b
select id, npoints(f1), # f1, @@ f1, box(f1), circle(f1), path(f1), f1::point, f1::box from gpoly
select p.id, x.id, p.f1 [[<->¦<@]] x.f1 from gpoint p, gpoly x where p.id not in (6, 7, 8)
select p.id, x.id, x.f1 [[<->¦@>]] p.f1 from gpoint p, gpoly x where p.id not in (6, 7, 8)
select a.id, b.id, a.f1 [[<<¦>>¦&<¦&>¦<<|¦|>>¦&<|¦|&>¦~=¦<@¦@>¦&&¦=¦<>¦<¦<=¦>¦>=¦<->]] b.f1 from gcircle a, gcircle b
select id, area(f1), diameter(f1), radius(f1), center(f1), @@ f1, box(f1), f1::point from gcircle
select id, f1 [[+¦-¦*¦/]] point '[[(2,1)¦(0,0)¦(-1,3)]]' from gcircle
select polygon([[12¦2¦1¦5]], f1) from gcircle where id = [[1¦7¦8]]
select polygon(f1) from gcircle where id = [[1¦7]]
select p.id, c.id, p.f1 [[<->¦<@]] c.f1 from gpoint p, gcircle c where p.id not in (6, 7, 8)
select p.id, c.id, c.f1 [[<->¦@>]] p.f1 from gpoint p, gcircle c where p.id not in (6, 7, 8)
select c.id, x.id, c.f1 <-> x.f1, x.f1 <-> c.f1 from gcircle c, gpoly x
select point(1, 2), point(circle '<(1,2),3>'), point(box '(1,1),(3,3)'), point(lseg '[(0,0),(2,2)]'), point(polygon '((0,0),(2,2))'), '(1,2)'::point::box
select * from gpoint order by f1
select distinct f1 from gbox
select f1[0], f1[1], f1[2] from gpoint where id < 5
update gpoint set f1[1] = 7.5 where id = 1 returning f1
select id from gpoint where f1 [[<@ box '(-5,-5),(5,5)'¦~= '(0,7.5)'¦<@ polygon '((0,0),(20,0),(20,20))'¦<@ circle '<(0,0),5>']]
select id from gpoint where f1 is not null and id not in (6, 7, 8, 9) order by f1 <-> '(1,1)', id
create table geo_wide (p polygon, q path)
insert into geo_wide select polygon(2000, '<(0,0),5>'::circle), path(polygon(1000, '<(0,0),5>'::circle))
select npoints(p), npoints(q), area(q) > 78, p @> '((0,0),(1,1),(1,0))'::polygon from geo_wide
