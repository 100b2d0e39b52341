-- EXECUTE is required for functions in constraints, generated columns, indexes, partition keys, conditions of triggers
-- and domains, of the current user and when they are first evaluated.
CREATE ROLE er_r; CREATE SCHEMA er; GRANT USAGE, CREATE ON SCHEMA er TO er_r; SET search_path TO er, public
CREATE FUNCTION er_sql(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 < 100'; CREATE FUNCTION er_f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END'; CREATE FUNCTION er_d(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END'; CREATE FUNCTION er_w(int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END'; CREATE FUNCTION er_t() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE FUNCTION er_e() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 5; END'; CREATE FUNCTION er_o(int, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 = $2; END'
CREATE OPERATOR === (leftarg = int, rightarg = int, procedure = er_o)
CREATE DOMAIN er_dom AS int CHECK (er_d(VALUE)); CREATE DOMAIN er_dom2 AS er_dom; CREATE DOMAIN er_domo AS int CHECK (VALUE === VALUE)
CREATE TABLE er_c1 (a int CHECK (er_sql(a))); CREATE TABLE er_c2 (a int CHECK (er_f(a) > 0)); CREATE TABLE er_c3 (a int CHECK (a === 5)); CREATE TABLE er_x (a int); CREATE INDEX ON er_x (er_f(a)); CREATE TABLE er_p (a int); CREATE INDEX ON er_p (a) WHERE er_f(a) > 0; CREATE TABLE er_g (a int, b int GENERATED ALWAYS AS (er_f(a)) STORED); CREATE TABLE er_td (a er_dom); CREATE TABLE er_ta (a er_dom2[]); CREATE TABLE er_tde (a int DEFAULT er_e(), b int); CREATE TABLE er_tw (a int); CREATE TRIGGER t BEFORE INSERT ON er_tw FOR EACH ROW WHEN (er_w(NEW.a)) EXECUTE FUNCTION er_t(); CREATE TABLE er_tp (a int) PARTITION BY RANGE (er_f(a)); CREATE TABLE er_tp1 PARTITION OF er_tp FOR VALUES FROM (0) TO (100); CREATE TABLE er_own (a int)
INSERT INTO er_c1 VALUES (1); INSERT INTO er_c2 VALUES (1); INSERT INTO er_x VALUES (1); INSERT INTO er_p VALUES (1); INSERT INTO er_g VALUES (1); INSERT INTO er_td VALUES (1); INSERT INTO er_tp VALUES (1); INSERT INTO er_own VALUES (1)
GRANT ALL ON ALL TABLES IN SCHEMA er TO er_r; REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA er FROM public; ALTER TABLE er_own OWNER TO er_r
SET ROLE er_r
INSERT INTO [[er_c1¦er_c2¦er_c3¦er_x¦er_p¦er_g¦er_td¦er_tw¦er_tp¦er_tp1]] VALUES (1)
INSERT INTO [[er_c1¦er_c2¦er_c3¦er_x¦er_p¦er_tw¦er_tp¦er_tp1]] SELECT 1 WHERE false
INSERT INTO [[er_c2¦er_x]] VALUES (1) ON CONFLICT DO NOTHING
UPDATE [[er_c1¦er_c2¦er_x¦er_p¦er_g¦er_td¦er_tp]] SET a = 2
UPDATE [[er_c1¦er_c2¦er_x¦er_p¦er_tp]] SET a = 2 WHERE false
UPDATE er_td SET a = a; SELECT a::er_dom FROM er_td
SELECT [[5::er_dom¦5::er_dom2¦'5'::er_dom¦NULL::er_dom¦5::er_domo¦'{5}'::er_dom[]¦ARRAY[1]::er_dom[]¦row(5)::er_td¦json_populate_record(NULL::er_td, '{"a":5}')]]
SELECT a::er_dom FROM er_x
INSERT INTO er_ta VALUES ('{1}'); INSERT INTO er_tde (b) VALUES (1); INSERT INTO er_tde VALUES (1, 1); UPDATE er_tde SET a = DEFAULT
CREATE TEMP TABLE er_tmp (a er_dom DEFAULT 5); INSERT INTO er_tmp DEFAULT VALUES; INSERT INTO er_tmp VALUES (NULL)
ALTER TABLE er_own [[ADD CHECK (er_f(a) > 0)¦ADD b er_dom DEFAULT 6¦ADD b int GENERATED ALWAYS AS (er_f(a)) STORED¦ADD c int DEFAULT er_e()¦ALTER a TYPE int USING er_f(a)]]
CREATE INDEX ON er_own [[(er_f(a))¦(a) WHERE er_f(a) > 0]]
ANALYZE er_own
RESET ROLE; GRANT EXECUTE ON FUNCTION er_f, er_d TO er_r; SET ROLE er_r
INSERT INTO [[er_c1¦er_c2¦er_x¦er_p¦er_g¦er_td¦er_tp¦er_tp1]] VALUES (1)
SELECT [[5::er_dom¦'5'::er_dom]]
RESET ROLE; REVOKE EXECUTE ON FUNCTION er_f, er_d FROM er_r; SET ROLE er_r
INSERT INTO [[er_c1¦er_c2¦er_x¦er_p¦er_g¦er_td¦er_tp¦er_tp1]] VALUES (1)
SELECT [[5::er_dom¦'5'::er_dom]]
-- REFERENCES on single columns.
RESET ROLE; CREATE TABLE er_pk (a int PRIMARY KEY, b int, UNIQUE (a, b)); GRANT REFERENCES (a) ON er_pk TO er_r; SET ROLE er_r
CREATE TABLE er_fk (x int[[ REFERENCES er_pk (a)¦ REFERENCES er_pk¦, y int, FOREIGN KEY (x, y) REFERENCES er_pk (a, b)]])
DROP TABLE IF EXISTS er_fk; CREATE TABLE er_fk (x int); ALTER TABLE er_fk ADD FOREIGN KEY (x) REFERENCES er_pk (a); ALTER TABLE er_fk ADD FOREIGN KEY (x) REFERENCES er_pk (b); DROP TABLE er_fk
ALTER DEFAULT PRIVILEGES IN SCHEMA er GRANT SELECT ON TABLES TO er_r; ALTER DEFAULT PRIVILEGES IN SCHEMA er REVOKE SELECT ON TABLES FROM er_r
RESET ROLE; RESET search_path; SET client_min_messages TO warning; DROP SCHEMA er CASCADE; DROP ROLE er_r; RESET client_min_messages
