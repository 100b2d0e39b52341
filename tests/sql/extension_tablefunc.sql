create extension tablefunc
create table ct (id int, rowclass text, rowid text, attribute text, val text)
insert into ct values (1, 'group1', 'test1', 'att1', 'val1'), (2, 'group1', 'test1', 'att2', 'val2'), (3, 'group1', 'test1', 'att3', 'val3'), (4, 'group1', 'test1', 'att4', 'val4'), (5, 'group1', 'test2', 'att1', 'val5'), (6, 'group1', 'test2', 'att2', 'val6'), (7, 'group1', 'test2', 'att3', 'val7'), (8, 'group1', 'test2', 'att4', 'val8'), (9, 'group2', 'test3', 'att1', null), (10, 'group2', 'test3', 'att2', 'val2'), (11, 'group1', null, 'att3', 'val9'), (12, 'group1', null, 'att4', 'val10')
select * from crosstab[[2¦3¦4]]('select rowid, attribute, val from ct where rowclass = ''group[[1¦2]]'' and (attribute = ''att2'' or attribute = ''att3'') order by 1, 2')
select * from crosstab('select rowid, attribute, val from ct where rowclass = ''group1'' order by 1, 2') as c(rowid text, [[att1 text¦att1 text, att2 text¦att1 text, att2 text, att3 text, att4 text, att5 text¦att1 int¦att1 varchar]])
select * from crosstab('select rowid, attribute, val from ct where rowclass = ''group1'' order by 1, 2', [[1¦4¦0]]) as c(rowid text, att1 text, att2 text)
select * from crosstab('[[select rowid, attribute from ct¦select 1, rowid, attribute, val from ct¦select id, attribute, val from ct¦select rowid, attribute, val from ct where false¦¦select rowid from¦select rowid, attribute, 1/0 from ct¦insert into ct values (1) returning rowid, attribute, val¦select 1; select rowid, attribute, val from ct order by 1, 2]]') as c(rowid text, att1 text)
select crosstab[[('select rowid, attribute, val from ct order by 1, 2')¦2('select rowid, attribute, val from ct order by 1, 2')¦('select rowid, attribute, val from ct', 'select ''att1''')]]
select (crosstab3('select rowid, attribute, val from ct order by 1, 2')).*
create function crosstab_out(text, out rowid text, out att1 text, out att2 text, out att3 text) returns setof record as '$libdir/tablefunc', 'crosstab' language c stable strict
select * from crosstab_out('select rowid, attribute, val from ct where rowclass = ''group1'' order by 1, 2')
create table cth (rowid text, rowdt timestamp, attribute text, val text)
insert into cth values ('test1', '01 March 2003', 'temperature', '42'), ('test1', '01 March 2003', 'test_result', 'PASS'), ('test1', '01 March 2003', 'volts', '2.6987'), ('test2', '02 March 2003', 'temperature', '53'), ('test2', '02 March 2003', 'test_result', 'FAIL'), ('test2', '02 March 2003', 'test_startdate', '01 March 2003'), ('test2', '02 March 2003', 'volts', '3.1234'), (null, '25 October 2007', 'temperature', '57'), (null, null, null, 'x')
select * from crosstab('select rowid, rowdt, attribute, val from cth order by 1', '[[select distinct attribute from cth where attribute is not null order by 1¦select ''temperature'' union all select ''volts'' union all select ''nothing'' union all select ''test_result''¦values (''volts''), (''volts''), (''a''), (''b'')¦select null::text¦select attribute from cth where false¦select rowid, val from cth¦¦values (repeat(''x'', 70)), (repeat(''x'', 80)), (''a''), (''b'')]]') as c(rowid text, rowdt timestamp, [[a text, b text, c text, d text¦temperature int4, test_result text, test_startdate timestamp, volts float8¦a text, b text]])
select * from crosstab('select rowid, [[attribute, val¦attribute¦rowdt, val, attribute, val]] from cth order by 1', 'values (''temperature''), (''volts'')') as c([[rowid text¦rowid text, a text, b text]])
select * from crosstab('select rowid, attribute, val from cth where false', 'select 1') as c(rowid text, a text)
create table tree (keyid int, parent_keyid int, pos int)
insert into tree values (1, null, 0), (2, 1, 0), (3, 1, 0), (4, 2, 1), (5, 2, 0), (6, 4, 0), (7, 3, 0), (8, 6, 0), (9, 5, 0)
select * from connectby('tree', 'keyid', 'parent_keyid', '[[2¦1¦9¦99]]', [[0¦1¦2¦-1]], '[[~¦->¦]]') as t(keyid int, parent_keyid int, level int, branch text)
select * from connectby('tree', 'keyid', 'parent_keyid', '2', [[0¦1]]) as t(keyid int, parent_keyid int, level int)
select * from connectby('tree', 'keyid', 'parent_keyid', '[[pos¦keyid desc¦nosuch]]', '2', 0, '~') as t(keyid int, parent_keyid int, level int, branch text, pos int) order by pos
select * from connectby('tree', 'keyid', 'parent_keyid', 'pos', '2', 0) as t(keyid int, parent_keyid int, level int, pos int) order by pos
select * from connectby('tree', 'keyid', 'parent_keyid', '2', 0, '~') as t([[keyid text, parent_keyid int, level int, branch text¦keyid float8, parent_keyid float8, level int, branch text¦keyid int, parent_keyid int, level text, branch text¦keyid int, parent_keyid int, level int, branch int¦keyid int, parent_keyid int, level int¦keyid int]])
select * from connectby('tree', 'keyid', 'parent_keyid', 'pos', '2', 0[[, '~'¦]]) as t(keyid int, parent_keyid int, level int, [[branch text, pos text¦pos text¦branch text¦branch text, pos int¦pos int]])
select * from connectby('tree', '[[1; --¦NULL::int, 1::int; --¦1::int, NULL::int; --¦NULL::int, NULL::int; --¦nosuch¦keyid::int8]]', 'parent_keyid', '2', 0) as t(keyid int, parent_keyid int, level int)
select * from connectby('[[nosuch¦tree, ct¦(select * from tree) s]]', 'keyid', 'parent_keyid', '2', 0) as t(keyid int, parent_keyid int, level int)
insert into tree values (10, 9, 0), (11, 10, 0), (9, 11, 0)
select * from connectby('tree', 'keyid', 'parent_keyid', '2', [[0¦4]], '~') as t(keyid int, parent_keyid int, level int, branch text)
select connectby('tree', 'keyid', 'parent_keyid', '2', 0)
select count(*), min(x) is null, avg(x) is null from normal_rand([[10¦0¦1¦-1]], 5.0, 0.5) x
select count(*) filter (where x between 4.5 and 5.5) between 550 and 800 from normal_rand(1000, 5.0, 0.5) x
