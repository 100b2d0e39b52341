-- A temporary schema is removed if the transaction or savepoint that created it is rolled back. Each file is run in one session.
BEGIN; CREATE TEMP TABLE made (a int); SELECT count(*) FROM made; [[ROLLBACK¦SELECT 1 / 0¦SAVEPOINT s; SELECT count(*) FROM made; RELEASE s]]; SELECT count(*) FROM made
ROLLBACK
SAVEPOINT s; CREATE TEMP TABLE made (a int); ROLLBACK
BEGIN; SAVEPOINT s; [[¦SAVEPOINT t; ]]CREATE TEMP TABLE made (a int); [[¦RELEASE s; SAVEPOINT s; ]]ROLLBACK TO s; CREATE TEMP TABLE made (a int); SELECT nspname ~ '^pg_temp_[0-9]+$' FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE relname = 'made'
ROLLBACK
CREATE TEMP TABLE failing AS SELECT 1 / 0
CREATE TEMP TABLE made (a int, b text); INSERT INTO made VALUES (1, 'x'); SELECT * FROM pg_temp.made
SELECT nspname ~ '^pg_temp_[0-9]+$', pg_my_temp_schema() = n.oid FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE relname = 'made'
SELECT nspname ~ '^pg_toast_temp_[0-9]+$', nspowner FROM pg_class c JOIN pg_class t ON t.oid = c.reltoastrelid JOIN pg_namespace n ON n.oid = t.relnamespace WHERE c.relname = 'made'
SELECT relname FROM pg_class WHERE NOT EXISTS (SELECT 1 FROM pg_namespace n WHERE n.oid = relnamespace) ORDER BY 1
DROP TABLE pg_temp.made; DROP TABLE IF EXISTS pg_temp.made
