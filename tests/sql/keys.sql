-- PRIMARY KEY and UNIQUE constraints: equal ones, columns that occur twice, the order of errors.
CREATE SCHEMA keys; SET search_path = keys
CREATE TABLE k1 (a int, b int)
ALTER TABLE k1 ADD [[UNIQUE (a, a)¦UNIQUE (zz, zz)¦UNIQUE (zz)¦PRIMARY KEY (a, b, a)¦PRIMARY KEY (a, b, zz, a)¦UNIQUE (a, zz, a)]]
ALTER TABLE k1 ADD UNIQUE (a), ADD UNIQUE (a), ADD UNIQUE (a) INCLUDE (a)
CREATE TABLE y0 (a int [[unique¦constraint n unique¦primary key¦unique deferrable¦unique nulls not distinct]] [[unique¦constraint m unique¦unique with (fillfactor=50)¦unique deferrable initially deferred]], unique (a)); SELECT conname, pg_get_constraintdef(oid), conindid::regclass FROM pg_constraint WHERE conrelid = 'y0'::regclass ORDER BY conname; SELECT reloptions FROM pg_class WHERE relname LIKE 'y0\_%' ORDER BY relname; DROP TABLE y0
CREATE TABLE y3 (a int, b int, unique (a, b), unique (b, a), unique (a, b) deferrable, constraint foo unique (a, b), constraint bar unique (a, b), unique (a) include (b), unique (a) include (b), unique (a))
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid IN ('y3'::regclass, 'k1'::regclass) ORDER BY conname COLLATE "C"
CREATE TABLE t3 (b int unique, a int, primary key (b), unique (a), constraint u unique (a)); SELECT conname FROM pg_constraint WHERE conrelid = 't3'::regclass ORDER BY conname
ALTER TABLE t3 ADD c int UNIQUE UNIQUE, ADD d int CONSTRAINT du UNIQUE UNIQUE, ADD UNIQUE (a); SELECT conname FROM pg_constraint WHERE conrelid = 't3'::regclass ORDER BY conname
CREATE TABLE t4 (a int, [[unique (b, b)¦unique (a, a), unique (zz)¦unique (zz), unique (a, a)¦unique (a) include (zz)¦primary key (a), primary key (a)¦primary key (a, a), unique (zz)]])
CREATE TABLE t5 [[(a text generated always as identity, b nosuch)¦(a text generated always as identity, b int, unique (c))¦(a text generated always as identity)¦(b int generated always as (c) stored, c text generated always as (b) stored)]]
CREATE TABLE IF NOT EXISTS k1 AS SELECT * FROM nosuch
CREATE [[TABLE¦MATERIALIZED VIEW]] k1 AS SELECT [[* FROM nosuch¦1]]
ALTER TABLE k1 ALTER [[nocol¦a]] TYPE int USING nosuch()
CREATE INDEX i2 ON k1 ((b IS NULL)) WHERE [[true¦true and b > 0¦null]]; SELECT pg_get_indexdef('i2'::regclass), indpred IS NULL FROM pg_index WHERE indexrelid = 'i2'::regclass; DROP INDEX i2
CREATE DOMAIN dm AS int CONSTRAINT dk CHECK (value > 0)
ALTER DOMAIN dm [[RENAME CONSTRAINT nok TO dl¦DROP CONSTRAINT nok¦VALIDATE CONSTRAINT nok]]
DROP SCHEMA keys CASCADE
