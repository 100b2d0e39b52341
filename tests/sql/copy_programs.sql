-- COPY with programs, in other encodings, and with ignored columns.
CREATE TABLE cp (a int, b text)
COPY cp FROM PROGRAM 'printf "1\tx\n2\ty\n"'
SELECT * FROM cp ORDER BY a
COPY cp TO PROGRAM 'cat > /dev/null[[¦; true¦; exit 3¦; nosuchprogram 2> /dev/null¦; /etc/passwd 2> /dev/null¦; kill -9 $$¦; kill -TERM $$¦; exec false]]'
COPY cp FROM PROGRAM '[[exit 3¦printf "7\tq\n"; exit 4¦nosuchprogram 2> /dev/null¦/etc/passwd 2> /dev/null¦kill -9 $$¦kill -TERM $$¦¦printf "x\ty\n"¦printf "1\n"¦printf "1\ta\n\\\\.\n"; exit 3¦printf "1\ta\tb\n"]]'
COPY cp FROM PROGRAM 'printf "3\tz\n\\\\.\n"; yes'
COPY (SELECT generate_series(1, 100000)) TO PROGRAM '[[cat > /dev/null¦exec sleep 0; exit 5]]'
COPY cp TO PROGRAM 'cat > /dev/null' WITH (FORMAT [[csv¦binary]])
COPY cp FROM PROGRAM 'printf "b,a\nu,5\n"' WITH (FORMAT csv, HEADER [[true¦match]])
SELECT * FROM cp ORDER BY a, b
SET statement_timeout = '200ms'
COPY cp FROM PROGRAM 'exec sleep 60'
COPY cp TO PROGRAM 'exec sleep 60'
COPY (SELECT generate_series(1, 100000)) TO PROGRAM 'exec sleep 60'
RESET statement_timeout
CREATE ROLE cp_role
GRANT ALL ON cp TO cp_role
SET ROLE cp_role
COPY cp FROM PROGRAM 'true'
RESET ROLE
GRANT pg_execute_server_program TO cp_role
SET ROLE cp_role
COPY cp FROM PROGRAM 'printf "9\tn\n"'
COPY cp TO '/tmp/cp_role'
RESET ROLE
DROP OWNED BY cp_role
DROP ROLE cp_role
TRUNCATE cp
INSERT INTO cp VALUES (1, 'é'), (2, 'aß'), (3, 'z')
COPY cp TO PROGRAM 'test "$(od -An -tx1 | tr -d " \n")" = [[3109e90a320961df0a33097a0a]]' ENCODING '[[latin1¦WIN1252¦iso_8859_15¦utf8]]'
COPY (SELECT '[[€¦Ж¦é¦a]]') TO PROGRAM 'cat > /dev/null' ENCODING '[[latin1¦latin9¦win1252¦koi8r¦iso_8859_5¦sql_ascii¦utf8]]'
COPY cp TO STDOUT ENCODING 'nope'
COPY cp TO PROGRAM 'cat > /dev/null' (ENCODING 'latin1', FORMAT csv, HEADER, FORCE_QUOTE *)
TRUNCATE cp
COPY cp FROM PROGRAM 'printf "1\t\351\n2\t\344b\n"' ENCODING '[[latin1¦win1252¦koi8r¦utf8¦sql_ascii]]'
COPY cp FROM PROGRAM 'printf "1\ta\n2\t\201\n3\tz\n"' ENCODING '[[win1252¦latin1¦win1253]]'
COPY cp FROM PROGRAM 'printf "1\ta\n2\t\000\n3\tz\n"' ENCODING '[[win1252¦utf8]]'
COPY cp FROM PROGRAM 'printf "x\t\351\n"' ENCODING 'latin1'
COPY cp FROM PROGRAM 'printf "1,\"\351\n\"\n"' (ENCODING 'latin1', FORMAT csv)
SELECT * FROM cp ORDER BY a, b
TRUNCATE cp
COPY cp FROM PROGRAM 'printf "1\ta\n"' (CONVERT_SELECTIVELY [[(a)¦(b)¦(a, b)¦(c)¦¦'b']])
COPY cp FROM PROGRAM 'printf "x\ta\n"' (CONVERT_SELECTIVELY (b))
COPY cp (a) FROM PROGRAM 'printf "1\n"' (CONVERT_SELECTIVELY (b))
COPY cp FROM PROGRAM 'printf "1\n"' (CONVERT_SELECTIVELY (a))
COPY cp TO PROGRAM 'cat > /dev/null' (CONVERT_SELECTIVELY (b))
SELECT * FROM cp ORDER BY a, b
SET statement_timeout = '200ms'
COPY (SELECT pg_sleep(60)) TO PROGRAM 'cat > /dev/null'
RESET statement_timeout
-- The progress that pg_stat_progress_copy shows.
create table copy_shown (a int)
create function copy_progress() returns trigger language plpgsql as $$ declare r record; begin for r in select relid::regclass, command, type, bytes_processed, bytes_total, tuples_processed, tuples_excluded, datname = current_database() from pg_stat_progress_copy where pid = pg_backend_pid() loop raise notice '% %', tg_when, r; end loop; return null; end $$
create trigger copy_after after insert on copy_shown execute function copy_progress()
copy copy_shown from program 'printf "1\n2\n3\n"'
copy copy_shown from program 'printf "1\n2\n3\n"' where a > 1
copy copy_shown from program 'printf "1\nx\n"'
insert into copy_shown values (1)
select count(*) from pg_stat_progress_copy
drop table copy_shown
drop function copy_progress
