-- Queries of utility statements with variables and parameters.
CREATE TABLE uq (a int, t text);
INSERT INTO uq SELECT g, 'v' || g FROM generate_series(1, 5) g;
DO $$ DECLARE x int := 3; BEGIN
  EXECUTE 'CREATE TABLE uq1 AS SELECT a, $2 AS y FROM uq WHERE a >= $1' USING x, 'p'::text;
  EXECUTE 'CREATE TEMP TABLE uq2 AS SELECT $1 AS one' USING x;
END $$;
SELECT * FROM uq1 ORDER BY a;
SELECT * FROM uq2;
DO $$ DECLARE x int := 3; r record; t text; BEGIN
  FOR r IN EXPLAIN (COSTS OFF) SELECT * FROM uq WHERE a = x LOOP RAISE NOTICE '%', r; END LOOP;
  FOR r IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT * FROM uq WHERE a = $1' USING x LOOP
    RAISE NOTICE '%', r;
  END LOOP;
  EXECUTE 'EXPLAIN (COSTS OFF) SELECT a + $1 FROM uq' INTO t USING x;
  RAISE NOTICE '%', t;
  FOR r IN EXPLAIN (COSTS OFF) CREATE TABLE uq9 AS SELECT x AS a LOOP RAISE NOTICE '%', r; END LOOP;
END $$;
CREATE FUNCTION uq_explain(v uq) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE lim int := 2; BEGIN
  RETURN QUERY EXPLAIN (COSTS OFF) SELECT * FROM uq WHERE a < v.a ORDER BY t LIMIT lim;
END $$;
SELECT * FROM uq_explain((4, 'x')::uq);
SELECT * FROM uq_explain((1, 'x')::uq);
DO $$ DECLARE x int := 3; r record; BEGIN
  EXECUTE 'DECLARE uqc CURSOR FOR SELECT a FROM uq WHERE a > $1 ORDER BY a' USING x;
  FOR r IN FETCH ALL FROM uqc LOOP RAISE NOTICE '%', r; END LOOP;
END $$;
DO $$ BEGIN EXECUTE 'CREATE TABLE uq3 AS SELECT $2 AS a' USING 1; END $$;
DO $$ BEGIN EXECUTE 'CREATE TABLE uq3 AS SELECT nothing FROM uq WHERE a = $1' USING 1; END $$;
DO $$ DECLARE x int := 1; r record; BEGIN
  FOR r IN EXPLAIN SELECT nothing FROM uq WHERE a = x LOOP NULL; END LOOP;
END $$;
DROP TABLE uq, uq1 CASCADE;
