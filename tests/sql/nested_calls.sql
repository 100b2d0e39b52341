-- The tested value of CASE gets a collation only once.
SELECT CASE CASE 'a' COLLATE "C" WHEN 'a' THEN 'b' END WHEN 'b' COLLATE "POSIX" THEN 'c' COLLATE "C" ELSE 'd' END
SELECT CASE 'a' WHEN 'a' COLLATE "C" THEN 'x' END < 'y', CASE lower('A') WHEN 'a' THEN upper('b') END COLLATE "C"
SELECT extract(day FROM make_interval(days => extract(day FROM make_interval(weeks => 1, days => 2))::int, hours => 30))
