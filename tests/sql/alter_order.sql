-- The order of the subcommands of ALTER TABLE: catalogs, then one pass over the rows, then foreign keys. The first error shows it.
CREATE TABLE ao (a int, b int, c text); INSERT INTO ao VALUES (1, NULL, 'x'), (1, 2, 'y'), (NULL, 3, 'z')
CREATE TABLE ao_key (k int PRIMARY KEY); INSERT INTO ao_key VALUES (1)
ALTER TABLE ao ADD UNIQUE (a), ALTER b SET NOT NULL
ALTER TABLE ao ALTER b SET NOT NULL, ADD UNIQUE (a)
ALTER TABLE ao ALTER b SET NOT NULL, ALTER a SET NOT NULL
ALTER TABLE ao ADD CHECK (b > 2), ALTER a SET NOT NULL
ALTER TABLE ao ADD CHECK (b > 2), ADD UNIQUE (a)
ALTER TABLE ao ADD CHECK (b > 2), ALTER nope SET NOT NULL
ALTER TABLE ao ALTER b SET NOT NULL, ADD CHECK (nope > 2)
ALTER TABLE ao ALTER b SET NOT NULL, ADD FOREIGN KEY (a) REFERENCES nope
ALTER TABLE ao ADD FOREIGN KEY (b) REFERENCES ao_key, ADD CHECK (c = 'x')
ALTER TABLE ao ADD CHECK (c = 'x'), ADD FOREIGN KEY (b) REFERENCES ao_key
ALTER TABLE ao ADD FOREIGN KEY (b) REFERENCES ao_key, ALTER a SET NOT NULL
ALTER TABLE ao ADD PRIMARY KEY (a)
ALTER TABLE ao ADD PRIMARY KEY (b)
ALTER TABLE ao ADD PRIMARY KEY (nope)
ALTER TABLE ao ADD PRIMARY KEY (c), ADD PRIMARY KEY (c)
ALTER TABLE ao ADD PRIMARY KEY (c), ADD CHECK (a > 1)
ALTER TABLE ao ADD d int NOT NULL, ADD UNIQUE (a)
ALTER TABLE ao ADD UNIQUE (a), ADD d int NOT NULL
ALTER TABLE ao ADD d int NOT NULL DEFAULT 5, ADD UNIQUE (d)
ALTER TABLE ao ADD d int DEFAULT 5 CHECK (d > 5), ADD UNIQUE (a)
ALTER TABLE ao ADD d int DEFAULT 5 REFERENCES ao_key, ALTER b SET NOT NULL
ALTER TABLE ao ALTER a TYPE int8, ADD UNIQUE (a), ALTER b SET NOT NULL
ALTER TABLE ao ALTER a TYPE int8 USING a / 0, ADD UNIQUE (a)
ALTER TABLE ao ALTER c TYPE int USING c::int, ALTER nope SET NOT NULL
ALTER TABLE ao ADD CONSTRAINT ck CHECK (b > 2) NOT VALID, VALIDATE CONSTRAINT ck
ALTER TABLE ao ADD CONSTRAINT ck CHECK (b > 2) NOT VALID
ALTER TABLE ao VALIDATE CONSTRAINT ck, ALTER a SET NOT NULL
ALTER TABLE ao ALTER a SET NOT NULL, VALIDATE CONSTRAINT ck
ALTER TABLE ao DROP CONSTRAINT ck, ADD CONSTRAINT ck CHECK (b > 1)
SELECT conname, contype, convalidated, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'ao'::regclass ORDER BY 1
UPDATE ao SET a = b + 10, b = coalesce(b, 9) WHERE b IS DISTINCT FROM 2; UPDATE ao SET a = 5 WHERE a IS NULL
ALTER TABLE ao ALTER a SET NOT NULL, ADD PRIMARY KEY (c), ADD UNIQUE (b), ADD d int DEFAULT 1 REFERENCES ao_key, ADD e int UNIQUE CHECK (e > 0), ALTER b SET DEFAULT 7
SELECT conname, contype, convalidated, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'ao'::regclass ORDER BY 1
CREATE TABLE ao_ref (r text REFERENCES ao, s int REFERENCES ao (b)); INSERT INTO ao_ref VALUES ('x', 9)
ALTER TABLE ao ALTER c TYPE varchar(10), ALTER b TYPE int8, ALTER d TYPE int8, ADD f int DEFAULT (random() * 0)::int
ALTER TABLE ao ALTER b TYPE int, ADD UNIQUE (d)
SELECT conrelid::regclass, conname, contype, convalidated, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid IN ('ao'::regclass, 'ao_ref'::regclass) ORDER BY 1, 2
SELECT indexrelid::regclass, indisvalid, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'ao'::regclass ORDER BY 1::text
SET enable_seqscan = off; SELECT * FROM ao WHERE b > 0 ORDER BY b; SELECT * FROM ao WHERE c > '' ORDER BY c
RESET enable_seqscan
INSERT INTO ao_ref VALUES ('nope', 1)
DELETE FROM ao WHERE c = 'x'
ALTER TABLE ao ALTER b TYPE text USING 'v' || b
ALTER TABLE ao ALTER b TYPE int8 USING 1
DROP TABLE ao, ao_ref, ao_key CASCADE
