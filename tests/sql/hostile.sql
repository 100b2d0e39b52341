-- Type names in texts: invalid names are refused, and lists of them are limited.
SELECT '[[int, 5¦int as x¦int from pg_class¦setof int¦int[¦a"b¦¦ ¦nosuch¦int%type¦pg_class.oid%type¦int) x¦int;¦"int4"¦ int4 []¦nosuch[]¦numeric(5,2)]]'::regtype
SELECT to_regtype('[[setof int¦nosuch¦a.b.c.d¦int4¦]]')
SELECT to_regprocedure('abs([[int¦int,¦ int4 ¦"int4"¦"a,b"¦numeric(10,2)¦numeric(10¦setof int¦¦,¦,int]])')
SELECT to_regprocedure('[[f¦f(¦f)¦f(int)x¦abs)int4(¦"f("(int)¦array_append(anyarray[],int)¦abs(int) ¦ abs (int)]]')
SELECT 'abs([[none¦int as x¦int int]])'::regprocedure
SELECT to_regoperator('[[+¦-]]([[int,none¦NONE,int¦"none",int¦int,int,int¦int¦¦int,int¦none,none]])')
SELECT ('[[f¦abs]](' || repeat('int,', [[98¦99¦100¦100000]]) || 'int)')::regprocedure
