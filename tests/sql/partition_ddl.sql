CREATE FUNCTION part_shape(pattern text) RETURNS TABLE (relname text, relkind "char", sub bool, part bool, toast bool, bound text, key text, parents text) LANGUAGE sql AS $$ SELECT c.relname, c.relkind, c.relhassubclass, c.relispartition, c.reltoastrelid <> 0, pg_get_expr(c.relpartbound, c.oid), pg_get_partkeydef(c.oid), (SELECT string_agg(i.inhparent::regclass || ':' || i.inhseqno || ':' || i.inhdetachpending, ',' ORDER BY i.inhseqno) FROM pg_inherits i WHERE i.inhrelid = c.oid) FROM pg_class c WHERE c.relname ~ pattern AND c.relnamespace = 'public'::regnamespace ORDER BY 1 $$
CREATE FUNCTION part_columns(pattern text) RETURNS TABLE (rel text, attname text, typ text, nn bool, def text, loc bool, inh int, ident "char", gen "char", stor "char", comp "char") LANGUAGE sql AS $$ SELECT a.attrelid::regclass::text, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attislocal, a.attinhcount, a.attidentity, a.attgenerated, a.attstorage, a.attcompression FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum JOIN pg_class c ON c.oid = a.attrelid WHERE c.relname ~ pattern AND a.attnum > 0 AND c.relkind IN ('r', 'p') ORDER BY 1, a.attnum $$
CREATE FUNCTION part_constraints(pattern text) RETURNS TABLE (rel text, conname text, contype "char", def text, loc bool, inh int, noinh bool, valid bool, parent text, idx text, refs text) LANGUAGE sql AS $$ SELECT conrelid::regclass::text, conname, contype, pg_get_constraintdef(oid), conislocal, coninhcount, connoinherit, convalidated, (SELECT p.conrelid::regclass || '.' || p.conname FROM pg_constraint p WHERE p.oid = c.conparentid), CASE WHEN conindid <> 0 THEN conindid::regclass::text END, CASE WHEN confrelid <> 0 THEN confrelid::regclass::text END FROM pg_constraint c WHERE conrelid::regclass::text ~ pattern ORDER BY 1, 2 $$
CREATE FUNCTION part_depends(pattern text) RETURNS TABLE (obj text, ref text, deptype "char") LANGUAGE sql AS $$ SELECT regexp_replace(pg_describe_object(classid, objid, objsubid), 'Trigger_([ac])_\d+', 'Trigger_\1', 'g'), regexp_replace(pg_describe_object(refclassid, refobjid, refobjsubid), 'Trigger_([ac])_\d+', 'Trigger_\1', 'g'), deptype FROM pg_depend WHERE pg_describe_object(classid, objid, objsubid) ~ pattern AND pg_describe_object(classid, objid, objsubid) !~ 'toast' ORDER BY 1, 2, 3 $$
CREATE FUNCTION part_triggers(pattern text) RETURNS TABLE (rel text, tgname text, foid text, tgtype int2, enabled "char", internal bool, constr text, other text, idx text, parent text, attr text, qual text) LANGUAGE sql AS $$ SELECT t.tgrelid::regclass::text, regexp_replace(t.tgname, '_\d+$', ''), t.tgfoid::regproc::text, t.tgtype, t.tgenabled, t.tgisinternal, (SELECT c.conrelid::regclass || '.' || c.conname FROM pg_constraint c WHERE c.oid = t.tgconstraint), CASE WHEN t.tgconstrrelid <> 0 THEN t.tgconstrrelid::regclass::text END, CASE WHEN t.tgconstrindid <> 0 THEN t.tgconstrindid::regclass::text END, (SELECT p.tgrelid::regclass || '.' || regexp_replace(p.tgname, '_\d+$', '') FROM pg_trigger p WHERE p.oid = t.tgparentid), t.tgattr::text, CASE WHEN t.tgisinternal THEN NULL ELSE pg_get_triggerdef(t.oid) END FROM pg_trigger t WHERE t.tgrelid::regclass::text ~ pattern ORDER BY 1, 2, 3, 7 $$
CREATE TABLE pl (a text, b int) PARTITION BY LIST (a)
CREATE TABLE pl1 PARTITION OF pl FOR VALUES IN ('x', NULL, 'y', 'x')
CREATE TABLE pl2 PARTITION OF pl FOR VALUES IN ('z', 'y')
CREATE TABLE pl2 PARTITION OF pl FOR VALUES IN (NULL)
CREATE TABLE pl2 PARTITION OF pl FOR VALUES IN ('z')
CREATE TABLE pld PARTITION OF pl DEFAULT
CREATE TABLE pld2 PARTITION OF pl DEFAULT
CREATE TABLE pl3 PARTITION OF pl FOR VALUES FROM (1) TO (2)
CREATE TABLE pl3 PARTITION OF pl FOR VALUES WITH (MODULUS 3, REMAINDER 1)
SELECT * FROM part_shape('^pl')
SELECT c.relname, pg_get_partition_constraintdef(c.oid) FROM pg_class c WHERE relname ~ '^pl' ORDER BY 1
SELECT partstrat, partnatts, partdefid::regclass, partattrs, partclass, partcollation, partexprs FROM pg_partitioned_table WHERE partrelid = 'pl'::regclass
CREATE TABLE pr (a int, b text, c int) PARTITION BY RANGE (a, lower(b), (c % 7))
CREATE TABLE pr1 PARTITION OF pr FOR VALUES FROM (MINVALUE, MINVALUE, MINVALUE) TO (10, 'm', 3)
CREATE TABLE pr2 PARTITION OF pr FOR VALUES FROM (10, 'm', 3) TO (20, MAXVALUE, MAXVALUE) PARTITION BY HASH (c)
CREATE TABLE pr3 PARTITION OF pr FOR VALUES FROM (15, 'm', 3) TO (30, MAXVALUE, MAXVALUE)
CREATE TABLE pr3 PARTITION OF pr FOR VALUES FROM (30, 'm', 3) TO (30, 'm', 3)
CREATE TABLE pr3 PARTITION OF pr FOR VALUES FROM (30, MINVALUE, 3) TO (40, 'm', 3)
CREATE TABLE pr3 PARTITION OF pr FOR VALUES FROM (30, 'a', 3) TO (40, MAXVALUE, 3)
CREATE TABLE pr3 PARTITION OF pr FOR VALUES FROM (30, 'a') TO (40, MAXVALUE, 3)
CREATE TABLE pr3 PARTITION OF pr FOR VALUES FROM (30, 'a', 3) TO (40, MAXVALUE)
CREATE TABLE pr3 PARTITION OF pr FOR VALUES FROM (30, NULL, 3) TO (40, 'b', 4)
CREATE TABLE pr3 PARTITION OF pr FOR VALUES FROM ('q', 'a', 3) TO (40, 'b', 4)
CREATE TABLE pr3 PARTITION OF pr FOR VALUES FROM (true, 'a', 3) TO (40, 'b', 4)
CREATE TABLE pr3 PARTITION OF pr FOR VALUES FROM (a, 'a', 3) TO (40, 'b', 4)
CREATE TABLE pr3 PARTITION OF pr FOR VALUES FROM (2 * 15 + length('abc'), upper('a'), 3) TO (40.6, 'b', '4')
CREATE TABLE pr2h0 PARTITION OF pr2 FOR VALUES WITH (MODULUS 4, REMAINDER 0)
CREATE TABLE pr2h1 PARTITION OF pr2 FOR VALUES WITH (MODULUS 8, REMAINDER 1)
CREATE TABLE pr2h2 PARTITION OF pr2 FOR VALUES WITH (MODULUS 12, REMAINDER 1)
CREATE TABLE pr2h2 PARTITION OF pr2 FOR VALUES WITH (MODULUS 3, REMAINDER 1)
CREATE TABLE pr2h2 PARTITION OF pr2 FOR VALUES WITH (MODULUS 2, REMAINDER 1)
CREATE TABLE pr2h2 PARTITION OF pr2 FOR VALUES WITH (MODULUS 2, REMAINDER 2)
CREATE TABLE pr2h2 PARTITION OF pr2 FOR VALUES WITH (MODULUS 0, REMAINDER 2)
CREATE TABLE pr2h2 PARTITION OF pr2 DEFAULT
CREATE TABLE pr2h2 PARTITION OF pr2 FOR VALUES WITH (MODULUS 8, REMAINDER 5)
SELECT * FROM part_shape('^pr')
SELECT c.relname, pg_get_partition_constraintdef(c.oid) FROM pg_class c WHERE relname ~ '^pr[123]$' ORDER BY 1
SELECT regexp_replace(pg_get_partition_constraintdef('pr2h0'::regclass), '''\d+''', 'N')
SELECT relid, parentrelid, isleaf, level FROM pg_partition_tree('pr') ORDER BY level, relid::text
SELECT relid FROM pg_partition_ancestors('pr2h1')
SELECT pg_partition_root('pr2h1'), pg_partition_root('pl')
SELECT * FROM part_depends('\m(pl|pl1|pld|pr|pr1|pr2|pr2h0)\M')
CREATE TABLE bad1 (a int) PARTITION BY LIST (a, a)
CREATE TABLE bad1 (a int) PARTITION BY LIST (z)
CREATE TABLE bad1 (a int) PARTITION BY LIST (xmin)
CREATE TABLE bad1 (a int) PARTITION BY LIST ((1))
CREATE TABLE bad1 (a int) PARTITION BY LIST ((random()))
CREATE TABLE bad1 (a int) PARTITION BY LIST ((sum(a)))
CREATE TABLE bad1 (a int) PARTITION BY LIST ((SELECT 1))
CREATE TABLE bad1 (a int) PARTITION BY LIST ((row(a)))
CREATE TABLE bad1 (a point) PARTITION BY [[RANGE¦HASH]] (a)
CREATE TABLE bad1 (a int, b int GENERATED ALWAYS AS (a + 1) STORED) PARTITION BY RANGE ([[b¦(b + 1)¦(bad1)]])
CREATE TABLE bad1 (a int COLLATE "C") PARTITION BY LIST (a)
CREATE TABLE bad1 (a int) PARTITION BY LIST (a COLLATE "C")
CREATE TABLE bad1 (a int) PARTITION BY LIST (a text_ops)
CREATE TABLE bad1 (a int) PARTITION BY LIST (a nope_ops)
CREATE TABLE bad1 (a int) PARTITION BY LIST (a) WITH (fillfactor = 50)
CREATE TABLE bad1 (a int) PARTITION BY NOPE (a)
CREATE TABLE bad1 PARTITION OF pl1 FOR VALUES IN ('q')
CREATE TABLE bad1 () INHERITS (pl)
CREATE TABLE bad1 () INHERITS (pl1)
CREATE TABLE bad1 () INHERITS (pl1) PARTITION BY LIST (a)
CREATE TEMP TABLE bad1 PARTITION OF pl FOR VALUES IN ('q')
CREATE TABLE bad1 PARTITION OF pl (nope DEFAULT 1) FOR VALUES IN ('q')
CREATE TABLE bad1 PARTITION OF pl (b GENERATED ALWAYS AS IDENTITY) FOR VALUES IN ('q')
CREATE TABLE popt PARTITION OF pl (b NOT NULL DEFAULT 7, CONSTRAINT popt_check CHECK (b > 0)) FOR VALUES IN ('popt')
SELECT * FROM part_columns('^(pl|popt)')
SELECT * FROM part_constraints('^(pl|popt)')
DROP TABLE pld
SELECT partdefid FROM pg_partitioned_table WHERE partrelid = 'pl'::regclass
SELECT c.relname, pg_get_partition_constraintdef(c.oid) FROM pg_class c WHERE relname ~ '^pl' ORDER BY 1
DROP TABLE pl, pr
SELECT * FROM part_shape('^(pl|pr|popt)')
CREATE TABLE ia (a int NOT NULL, b text DEFAULT 'x', CONSTRAINT ia_pos CHECK (a > 0), CHECK (a < 100) NO INHERIT)
CREATE TABLE ib (b text DEFAULT 'y', c int)
CREATE TABLE ic (d int) INHERITS (ia)
CREATE TABLE id2 () INHERITS (ia, ib)
CREATE TABLE id2 (b text DEFAULT 'z') INHERITS (ia, ib)
CREATE TABLE ie (c int, a int, CONSTRAINT ia_pos CHECK (a > 0)) INHERITS (ia)
CREATE TABLE if1 (a text) INHERITS (ia)
CREATE TABLE if1 (a int, CONSTRAINT ia_pos CHECK (a > 1)) INHERITS (ia)
CREATE TABLE if1 () INHERITS (ia, ia)
CREATE TABLE if1 () INHERITS (nope)
CREATE TABLE if1 (LIKE ia INCLUDING ALL) INHERITS (ia)
CREATE TABLE ig () INHERITS (ic, id2)
SELECT * FROM part_shape('^i[a-g]')
SELECT * FROM part_columns('^i[a-g]')
SELECT * FROM part_constraints('^i[a-g]')
SELECT * FROM part_depends('\m(ia|ib|ic|id2|ie|if1|ig)\M')
ALTER TABLE ia ADD COLUMN n int DEFAULT 5
ALTER TABLE ONLY ia ADD COLUMN m int
ALTER TABLE ic ADD COLUMN d2 int
ALTER TABLE ia ADD COLUMN d2 int
ALTER TABLE ia ADD COLUMN d text
ALTER TABLE ia ADD COLUMN s serial
ALTER TABLE ia ADD COLUMN g int GENERATED ALWAYS AS IDENTITY
ALTER TABLE ia ADD COLUMN g int GENERATED ALWAYS AS (a * 2) STORED CHECK (g > 0)
ALTER TABLE ic DROP COLUMN a
ALTER TABLE ic ALTER COLUMN a TYPE bigint
ALTER TABLE ic RENAME COLUMN a TO z
ALTER TABLE ONLY ia RENAME COLUMN a TO z
ALTER TABLE ONLY ia ALTER COLUMN n TYPE bigint
ALTER TABLE ia ALTER COLUMN n TYPE bigint
ALTER TABLE ia RENAME COLUMN n TO nn
ALTER TABLE ia ALTER COLUMN nn SET DEFAULT 9
ALTER TABLE ia ALTER COLUMN nn SET NOT NULL
ALTER TABLE ONLY ia ALTER COLUMN nn DROP NOT NULL
ALTER TABLE ia ALTER COLUMN b SET STORAGE external
ALTER TABLE ia ALTER COLUMN b SET STATISTICS 50
ALTER TABLE ia ADD CONSTRAINT ia_nn CHECK (nn > 0)
ALTER TABLE ONLY ia ADD CONSTRAINT ia_only CHECK (nn > 1)
ALTER TABLE ONLY ia ADD CONSTRAINT ia_only CHECK (nn > 1) NO INHERIT
ALTER TABLE ic ADD CONSTRAINT ia_nn CHECK (nn > 0)
ALTER TABLE ic ADD CONSTRAINT ia_nn CHECK (nn > 5)
ALTER TABLE ie DROP CONSTRAINT ia_nn
ALTER TABLE ie RENAME CONSTRAINT ia_nn TO q
ALTER TABLE ia RENAME CONSTRAINT ia_nn TO ia_mm
ALTER TABLE ia ADD CONSTRAINT ia_nv CHECK (a <> 50) NOT VALID
ALTER TABLE ONLY ia VALIDATE CONSTRAINT ia_nv
ALTER TABLE ia VALIDATE CONSTRAINT ia_nv
SELECT * FROM part_columns('^i[a-g]')
SELECT * FROM part_constraints('^i[a-g]')
ALTER TABLE ia DROP CONSTRAINT ia_mm
ALTER TABLE ONLY ia DROP CONSTRAINT ia_nv
ALTER TABLE ONLY ia DROP COLUMN nn
ALTER TABLE ia DROP COLUMN d2
ALTER TABLE ia DROP COLUMN b
ALTER TABLE ia DROP COLUMN nope
ALTER TABLE ia DROP COLUMN IF EXISTS nope
SELECT * FROM part_columns('^i[a-g]')
SELECT * FROM part_constraints('^i[a-g]')
ALTER TABLE ic NO INHERIT ia
ALTER TABLE ic NO INHERIT ia
ALTER TABLE ia INHERIT ie
ALTER TABLE ic INHERIT ia
ALTER TABLE ic INHERIT ia
ALTER TABLE ib INHERIT ia
SELECT * FROM part_shape('^i[a-g]')
SELECT * FROM part_columns('^ic')
DROP TABLE ia
DROP TABLE ia, ib CASCADE
CREATE TABLE pt (a int, b text NOT NULL, c int DEFAULT 3, CONSTRAINT pt_c CHECK (c > 0)) PARTITION BY LIST (a)
CREATE TABLE pa (c int, a int, b text)
ALTER TABLE pt ATTACH PARTITION pa FOR VALUES IN (1)
ALTER TABLE pa ALTER COLUMN b SET NOT NULL
ALTER TABLE pt ATTACH PARTITION pa FOR VALUES IN (1)
ALTER TABLE pa ADD CONSTRAINT pt_c CHECK (c > 0)
INSERT INTO pa VALUES (1, 1, 'x'), (2, 2, 'y')
ALTER TABLE pt ATTACH PARTITION pa FOR VALUES IN (1)
ALTER TABLE pt ATTACH PARTITION pa FOR VALUES IN (1, 2)
ALTER TABLE pt ATTACH PARTITION pa FOR VALUES IN (3)
ALTER TABLE pa ADD COLUMN d int
ALTER TABLE pa DROP COLUMN c
ALTER TABLE pa DROP CONSTRAINT pt_c
ALTER TABLE pa ALTER COLUMN b DROP NOT NULL
ALTER TABLE pa NO INHERIT pt
ALTER TABLE pa INHERIT pt
ALTER TABLE pa ATTACH PARTITION pt FOR VALUES IN (3)
CREATE TABLE pe (a int, b text NOT NULL, c int DEFAULT 3, d int, CONSTRAINT pt_c CHECK (c > 0))
ALTER TABLE pt ATTACH PARTITION pe FOR VALUES IN (4)
ALTER TABLE pe DROP COLUMN d
INSERT INTO pe VALUES (77, 'q')
ALTER TABLE pt ATTACH PARTITION pe DEFAULT
CREATE TABLE pf PARTITION OF pt FOR VALUES IN (77)
CREATE TABLE pf PARTITION OF pt FOR VALUES IN (78)
SELECT * FROM part_shape('^p[aeft]$')
SELECT * FROM part_columns('^p[aeft]$')
SELECT * FROM part_constraints('^p[aeft]$')
SELECT * FROM part_depends('\m(pt|pa|pe|pf)\M')
ALTER TABLE pt DROP COLUMN a
ALTER TABLE pt ALTER COLUMN a TYPE bigint
ALTER TABLE ONLY pt DROP COLUMN c
ALTER TABLE ONLY pt ADD COLUMN z int
ALTER TABLE ONLY pt ALTER COLUMN b DROP NOT NULL
ALTER TABLE ONLY pt DROP CONSTRAINT pt_c
ALTER TABLE ONLY pt ALTER COLUMN c SET NOT NULL
ALTER TABLE pt ADD COLUMN z int DEFAULT 4 NOT NULL
ALTER TABLE pt ALTER COLUMN c TYPE bigint
ALTER TABLE pt RENAME COLUMN c TO cc
ALTER TABLE pt DETACH PARTITION pa
ALTER TABLE pt DETACH PARTITION pa
ALTER TABLE pt DETACH PARTITION pf CONCURRENTLY
ALTER TABLE pt DETACH PARTITION pf FINALIZE
ALTER TABLE pt DETACH PARTITION pe
SELECT * FROM part_shape('^p[aeft]$')
SELECT * FROM part_columns('^p[aeft]$')
SELECT * FROM part_constraints('^p[aeft]$')
ALTER TABLE pt DETACH PARTITION pf CONCURRENTLY
SELECT * FROM part_constraints('^pf$')
DROP TABLE pt, pa, pe, pf
CREATE TABLE px (a int, b int, c text) PARTITION BY RANGE (a)
CREATE TABLE px1 PARTITION OF px FOR VALUES FROM (0) TO (10)
CREATE TABLE px2 PARTITION OF px FOR VALUES FROM (10) TO (20) PARTITION BY LIST (b)
CREATE TABLE px21 PARTITION OF px2 FOR VALUES IN (1)
CREATE INDEX ON px (b)
CREATE UNIQUE INDEX ON px (b)
CREATE UNIQUE INDEX ON px (b, a)
ALTER TABLE px ADD PRIMARY KEY (b)
ALTER TABLE px ADD PRIMARY KEY (a, b)
ALTER TABLE px ADD PRIMARY KEY (a, b)
ALTER TABLE px ADD UNIQUE (a)
CREATE INDEX CONCURRENTLY ON px (c)
CREATE INDEX px_only ON ONLY px (c, lower(c)) WHERE c IS NOT NULL
CREATE INDEX px1_only ON px1 (c, lower(c)) WHERE c IS NOT NULL
CREATE INDEX px2_only ON px2 (c, lower(c)) WHERE c IS NOT NULL
SELECT indexrelid::regclass, indisvalid, indisready, indislive, indisunique, indisprimary FROM pg_index WHERE indrelid::regclass::text ~ '^px' ORDER BY indexrelid::regclass::text
ALTER INDEX px_only ATTACH PARTITION px1_only
SELECT indexrelid::regclass, indisvalid FROM pg_index WHERE indexrelid = 'px_only'::regclass
ALTER INDEX px_only ATTACH PARTITION px2_only
SELECT indexrelid::regclass, indisvalid FROM pg_index WHERE indexrelid = 'px_only'::regclass
ALTER INDEX px_only ATTACH PARTITION px2_only
ALTER INDEX px_only ATTACH PARTITION px1_b_idx
ALTER INDEX px_only ATTACH PARTITION nope
ALTER INDEX px_only ATTACH PARTITION px1
CREATE TABLE px3 PARTITION OF px FOR VALUES FROM (20) TO (30)
CREATE TABLE px4 (LIKE px)
CREATE INDEX px4_b ON px4 (b)
ALTER TABLE px ATTACH PARTITION px4 FOR VALUES FROM (30) TO (40)
SELECT * FROM part_shape('^px')
SELECT * FROM part_constraints('^px')
SELECT * FROM part_depends('\mpx')
SELECT indexrelid::regclass, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid::regclass::text ~ '^px' ORDER BY indexrelid::regclass::text
DROP INDEX px1_b_idx
DROP INDEX px_b_idx
ALTER TABLE px1 DROP CONSTRAINT px1_pkey
ALTER TABLE px DETACH PARTITION px1
SELECT * FROM part_shape('^px')
SELECT * FROM part_constraints('^px')
ALTER TABLE px DROP CONSTRAINT px_pkey
ALTER INDEX px_only RENAME TO px_ren
REINDEX INDEX px_ren
REINDEX TABLE px
TRUNCATE ONLY px
TRUNCATE px
DROP TABLE px, px1
CREATE TABLE fpk (a int, b int, PRIMARY KEY (a, b)) PARTITION BY RANGE (a)
CREATE TABLE fpk1 PARTITION OF fpk FOR VALUES FROM (0) TO (10)
CREATE TABLE fpk2 PARTITION OF fpk FOR VALUES FROM (10) TO (20) PARTITION BY LIST (b)
CREATE TABLE fpk21 PARTITION OF fpk2 FOR VALUES IN (1)
CREATE TABLE fk (x int, a int, b int) PARTITION BY LIST (x)
CREATE TABLE fk1 PARTITION OF fk FOR VALUES IN (1)
ALTER TABLE ONLY fk ADD FOREIGN KEY (a, b) REFERENCES fpk
ALTER TABLE fk ADD FOREIGN KEY (a, b) REFERENCES fpk NOT VALID
ALTER TABLE fk ADD FOREIGN KEY (a, b) REFERENCES fpk ON DELETE CASCADE ON UPDATE CASCADE
CREATE TABLE fk2 PARTITION OF fk FOR VALUES IN (2) PARTITION BY HASH (a)
CREATE TABLE fk20 PARTITION OF fk2 FOR VALUES WITH (MODULUS 1, REMAINDER 0)
CREATE TABLE fk3 (b int, x int, a int, CONSTRAINT own FOREIGN KEY (a, b) REFERENCES fpk ON DELETE CASCADE ON UPDATE CASCADE)
ALTER TABLE fk ATTACH PARTITION fk3 FOR VALUES IN (3)
CREATE TABLE fpk3 PARTITION OF fpk FOR VALUES FROM (20) TO (30)
CREATE TABLE fpk4 (b int, a int, PRIMARY KEY (a, b))
ALTER TABLE fpk ATTACH PARTITION fpk4 FOR VALUES FROM (30) TO (40)
SELECT * FROM part_shape('^f(pk|k)')
SELECT * FROM part_constraints('^f(pk|k)')
SELECT * FROM part_triggers('^f(pk|k)')
SELECT * FROM part_depends('\mf(pk|k)')
ALTER TABLE fk1 DROP CONSTRAINT fk_a_b_fkey
ALTER TABLE fpk DETACH PARTITION fpk4
ALTER TABLE fk DETACH PARTITION fk3
ALTER TABLE fk DETACH PARTITION fk2
SELECT * FROM part_constraints('^f(pk|k)')
SELECT * FROM part_triggers('^f(pk|k)')
SELECT * FROM part_depends('\mf(pk|k)')
ALTER TABLE fk DROP CONSTRAINT fk_a_b_fkey
SELECT * FROM part_constraints('^f(pk|k)')
DROP TABLE fk, fk2, fk3
DROP TABLE fpk, fpk4
CREATE FUNCTION part_trig() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'
CREATE TABLE tg (a int, b text, c int) PARTITION BY LIST (a)
CREATE TABLE tg1 PARTITION OF tg FOR VALUES IN (1)
CREATE TABLE tg2 (c int, b text, a int)
ALTER TABLE tg ATTACH PARTITION tg2 FOR VALUES IN (2)
CREATE TRIGGER tga AFTER INSERT OR UPDATE OF c ON tg FOR EACH ROW WHEN (NEW.c > 0) EXECUTE FUNCTION part_trig(1, 'x')
CREATE TRIGGER tgs AFTER INSERT ON tg FOR EACH STATEMENT EXECUTE FUNCTION part_trig()
CREATE TRIGGER tgb BEFORE UPDATE ON tg FOR EACH ROW EXECUTE FUNCTION part_trig()
CREATE CONSTRAINT TRIGGER tgc AFTER UPDATE ON tg DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION part_trig()
CREATE TRIGGER tgi INSTEAD OF UPDATE ON tg FOR EACH ROW EXECUTE FUNCTION part_trig()
CREATE TRIGGER tgt AFTER UPDATE ON tg REFERENCING NEW TABLE AS n FOR EACH ROW EXECUTE FUNCTION part_trig()
CREATE TRIGGER tgt AFTER UPDATE ON tg1 REFERENCING NEW TABLE AS n FOR EACH ROW EXECUTE FUNCTION part_trig()
CREATE TABLE tg3 PARTITION OF tg FOR VALUES IN (3) PARTITION BY LIST (c)
CREATE TABLE tg31 PARTITION OF tg3 FOR VALUES IN (1)
SELECT * FROM part_triggers('^tg')
SELECT * FROM part_depends('\mtg')
ALTER TRIGGER tga ON tg1 RENAME TO q
ALTER TRIGGER tga ON tg RENAME TO tgq
ALTER TABLE tg DISABLE TRIGGER tgq
ALTER TABLE ONLY tg DISABLE TRIGGER tgb
ALTER TABLE tg1 ENABLE ALWAYS TRIGGER tgq
DROP TRIGGER tgq ON tg1
SELECT * FROM part_triggers('^tg')
ALTER TABLE tg DETACH PARTITION tg2
DROP TRIGGER tgb ON tg
CREATE OR REPLACE TRIGGER tgq AFTER INSERT ON tg FOR EACH ROW EXECUTE FUNCTION part_trig()
SELECT * FROM part_triggers('^tg')
DROP TABLE tg, tg2
CREATE TYPE tt_type AS (a int, b text)
CREATE TABLE tt OF tt_type
CREATE TABLE tt2 OF tt_type (PRIMARY KEY (a), b WITH OPTIONS DEFAULT 'z' CHECK (b <> ''))
CREATE TABLE tt3 OF tt_type (c WITH OPTIONS DEFAULT 1)
CREATE TABLE tt3 OF tt_type (a WITH OPTIONS NOT NULL, a WITH OPTIONS NOT NULL)
CREATE TABLE tt3 OF tt_type (a WITH OPTIONS GENERATED ALWAYS AS IDENTITY)
CREATE TABLE tt3 OF int4
CREATE TABLE tt3 OF nope
CREATE TABLE IF NOT EXISTS tt OF tt_type
ALTER TABLE tt ADD COLUMN c int
ALTER TABLE tt DROP COLUMN b
ALTER TABLE tt ALTER COLUMN b TYPE int
ALTER TABLE tt RENAME COLUMN b TO c
ALTER TYPE tt_type ADD ATTRIBUTE c int
ALTER TYPE tt_type ADD ATTRIBUTE c int CASCADE
ALTER TYPE tt_type RENAME ATTRIBUTE c TO d
ALTER TYPE tt_type RENAME ATTRIBUTE c TO d CASCADE
ALTER TYPE tt_type ALTER ATTRIBUTE d TYPE bigint CASCADE
ALTER TYPE tt_type DROP ATTRIBUTE d CASCADE
SELECT relname, reloftype::regtype FROM pg_class WHERE relname ~ '^tt\d*$' ORDER BY 1
SELECT * FROM part_columns('^tt')
SELECT * FROM part_depends('\mtt')
ALTER TABLE tt NOT OF
ALTER TABLE tt NOT OF
ALTER TABLE tt OF tt_type
CREATE TABLE tt3 (a int, b int)
ALTER TABLE tt3 OF tt_type
CREATE TABLE tt4 () INHERITS (tt)
ALTER TABLE tt2 INHERIT tt
DROP TYPE tt_type
DROP TYPE tt_type CASCADE
DROP TABLE tt3
CREATE TABLE hp (a int, b text) PARTITION BY HASH (a, b)
SELECT satisfies_hash_partition('hp'::regclass, 4, r, 1, 'x'::text) FROM generate_series(0, 3) r ORDER BY r
SELECT satisfies_hash_partition('hp'::regclass, 4, 0, 1)
SELECT satisfies_hash_partition('hp'::regclass, 4, 0, 'x'::text, 1)
SELECT satisfies_hash_partition('hp'::regclass, 0, 0, 1, 'x'::text)
SELECT satisfies_hash_partition('hp'::regclass, 4, -1, 1, 'x'::text)
SELECT satisfies_hash_partition('hp'::regclass, 4, 5, 1, 'x'::text)
SELECT satisfies_hash_partition('hp'::regclass, 4, 0, variadic array[1, 2])
SELECT satisfies_hash_partition('pg_class'::regclass, 4, 0, 1)
SELECT satisfies_hash_partition(0, 4, 0, NULL)
SELECT satisfies_hash_partition('hp'::regclass, NULL, 0, 1, 'x'::text)
DROP TABLE hp
CREATE TABLE ak (a int PRIMARY KEY, b int) PARTITION BY RANGE (a)
CREATE TABLE ak1 PARTITION OF ak FOR VALUES FROM (0) TO (10)
CREATE TABLE af (a int) PARTITION BY LIST (a)
CREATE TABLE af1 PARTITION OF af FOR VALUES IN (1)
ALTER TABLE af ADD CONSTRAINT af_fk FOREIGN KEY (a) REFERENCES ak
ALTER TABLE af1 ALTER CONSTRAINT af_fk DEFERRABLE
ALTER TABLE af ALTER CONSTRAINT af_fk DEFERRABLE INITIALLY DEFERRED
SELECT conrelid::regclass, conname, condeferrable, condeferred FROM pg_constraint WHERE conrelid IN ('af'::regclass, 'af1'::regclass) ORDER BY 1, 2
SELECT tgrelid::regclass, tgfoid::regproc, tgdeferrable, tginitdeferred FROM pg_trigger WHERE tgrelid::regclass::text ~ '^a[fk]1?$' ORDER BY 1, 2
COMMENT ON INDEX ak_pkey IS 'of all'
COMMENT ON INDEX ak1_pkey IS 'of one'
ALTER TABLE af DROP CONSTRAINT af_fk
CREATE INDEX ak_a ON ak (b, (a + 1))
COMMENT ON INDEX ak_a IS 'of an expression'
ALTER TABLE ak ALTER COLUMN b TYPE bigint
CREATE TABLE ak2 PARTITION OF ak FOR VALUES FROM (10) TO (20)
SELECT relname, obj_description(oid, 'pg_class') FROM pg_class WHERE relname ~ '^ak' ORDER BY 1
ALTER TABLE ak DETACH PARTITION ak1 CONCURRENTLY
SELECT * FROM part_shape('^ak')
SELECT * FROM part_constraints('^ak')
ALTER TABLE ak CLUSTER ON ak_a
ALTER TABLE ak SET WITHOUT CLUSTER
CREATE TRIGGER tgr AFTER INSERT ON af1 FOR EACH ROW EXECUTE FUNCTION part_trig()
CREATE TRIGGER tgr AFTER INSERT ON af FOR EACH ROW EXECUTE FUNCTION part_trig('x')
CREATE OR REPLACE TRIGGER tgr AFTER INSERT ON af FOR EACH ROW EXECUTE FUNCTION part_trig('x')
CREATE OR REPLACE TRIGGER tgr AFTER INSERT ON af1 FOR EACH ROW EXECUTE FUNCTION part_trig()
SELECT * FROM part_triggers('^af')
TRUNCATE ONLY af
TRUNCATE af
DROP TABLE af, ak, ak1
CREATE TABLE rw (a int PRIMARY KEY, b text, c int) PARTITION BY RANGE (a)
CREATE TABLE rw1 (c int, b text, a int NOT NULL)
ALTER TABLE rw ATTACH PARTITION rw1 FOR VALUES FROM (0) TO (50)
CREATE TABLE rw2 PARTITION OF rw DEFAULT
CREATE INDEX rw_abc ON rw (a, b, c)
CREATE UNIQUE INDEX rw_ca ON rw (c, a)
INSERT INTO rw SELECT i, i, i FROM generate_series(1, 99) i
ALTER TABLE rw ALTER COLUMN c TYPE numeric, ALTER COLUMN b TYPE int USING b::int + c
SELECT tableoid::regclass, sum(b), sum(c), count(*) FROM rw GROUP BY 1 ORDER BY 3
SELECT b, c FROM rw WHERE c = 7 AND a = 7
ALTER TABLE rw ALTER COLUMN b TYPE point
ALTER TABLE rw ADD COLUMN d float DEFAULT random(), ADD UNIQUE (d, a)
SELECT count(d) FROM rw
INSERT INTO rw VALUES (7)
ALTER TABLE rw ADD CHECK (c < 99)
ALTER TABLE rw ALTER COLUMN c SET NOT NULL, ADD CHECK (c < 100)
ALTER TABLE rw DETACH PARTITION rw2
CREATE TABLE rw3 PARTITION OF rw FOR VALUES FROM (90) TO (100)
ALTER TABLE rw ATTACH PARTITION rw2 DEFAULT
ALTER TABLE rw ATTACH PARTITION rw2 FOR VALUES FROM (50) TO (100)
DROP TABLE rw3
ALTER TABLE rw ATTACH PARTITION rw2 FOR VALUES FROM (50) TO (100)
TRUNCATE rw
SELECT count(*) FROM rw
DROP TABLE rw
CREATE TABLE up (a int, b text, c int) PARTITION BY RANGE (a)
CREATE TABLE up1 (x int, c int, y int, b text, a int) PARTITION BY LIST (c)
ALTER TABLE up1 DROP COLUMN x, DROP COLUMN y
ALTER TABLE up ATTACH PARTITION up1 FOR VALUES FROM (0) TO (10)
CREATE TABLE up11 (a int, z int, c int, b text)
ALTER TABLE up11 DROP COLUMN z
ALTER TABLE up1 ATTACH PARTITION up11 FOR VALUES IN (5)
CREATE TABLE up12 PARTITION OF up1 DEFAULT PARTITION BY HASH (b, a)
CREATE TABLE up120 PARTITION OF up12 FOR VALUES WITH (MODULUS 2, REMAINDER 0)
CREATE TABLE up121 PARTITION OF up12 FOR VALUES WITH (MODULUS 2, REMAINDER 1)
INSERT INTO up SELECT i, 'b' || i, i % 6 FROM generate_series(0, 9) i
SELECT tableoid::regclass, a, b, c FROM up ORDER BY a
UPDATE up SET c = 5 WHERE a IN (1, 2)
SELECT tableoid::regclass, a, b, c FROM up ORDER BY a
INSERT INTO up VALUES (11, 'x', 5)
DROP TABLE up
CREATE TABLE ap (a int PRIMARY KEY)
CREATE TABLE aq (a int REFERENCES ap) PARTITION BY LIST (a)
ALTER TABLE aq ATTACH PARTITION ap FOR VALUES IN (1)
DROP TABLE aq, ap
