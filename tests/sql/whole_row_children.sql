-- Whole rows of tables with children are not read from an index alone.
CREATE TABLE wrc (id int, s text)
CREATE TABLE wrc1 (more int) INHERITS (wrc)
CREATE INDEX ON wrc1 (id)
INSERT INTO wrc VALUES (1, 'top')
INSERT INTO wrc1 SELECT g, 'low' || g, g FROM generate_series(2, 5) g
SET enable_seqscan = off
SELECT max(t::text) FROM wrc AS t
SELECT t, row_to_json(t) FROM wrc AS t WHERE id NOT IN (SELECT 3) ORDER BY id
SELECT count(t), count(t.id) FROM wrc AS t WHERE id > 2
SELECT u.id, (SELECT max(t::text) FROM wrc AS t WHERE t.id <> u.id) FROM wrc AS u ORDER BY 1
SELECT max(t.id) FROM wrc AS t WHERE t IS NOT NULL
RESET enable_seqscan
DROP TABLE wrc CASCADE
