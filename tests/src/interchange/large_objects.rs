//! Large objects on both servers: each server must recover from the other's log, and read the
//! objects that the other one has written.

use super::recovery_rounds::{Rounds, recover_in_turn};
use vfs::SeededRandom;

/// `work` has the digests of the objects.
const TABLES: &str = "CREATE TABLE work (loid oid PRIMARY KEY, digest text); \
    CREATE FUNCTION make(n int, k int) RETURNS void LANGUAGE plpgsql AS $$ DECLARE o oid; BEGIN \
      o := lo_from_bytea(0, convert_to(repeat(md5(k::text), n), 'UTF8')); \
      INSERT INTO work VALUES (o, md5(lo_get(o))); END $$; \
    CREATE FUNCTION pick(k int) RETURNS oid STABLE LANGUAGE sql AS \
      'SELECT loid FROM work ORDER BY md5(loid::text || k) LIMIT 1'; \
    CREATE FUNCTION put(k int, at bigint, n int) RETURNS void LANGUAGE plpgsql AS $$ \
      DECLARE o oid := pick(k); BEGIN IF o IS NOT NULL THEN \
      PERFORM lo_put(o, at, convert_to(repeat(md5(k::text), n), 'UTF8')); \
      UPDATE work SET digest = md5(lo_get(o)) WHERE loid = o; END IF; END $$; \
    CREATE FUNCTION cut(k int, size bigint) RETURNS void LANGUAGE plpgsql AS $$ \
      DECLARE o oid := pick(k); fd int; BEGIN IF o IS NOT NULL THEN \
      fd := lo_open(o, 131072); PERFORM lo_truncate64(fd, size); PERFORM lo_close(fd); \
      UPDATE work SET digest = md5(lo_get(o)) WHERE loid = o; END IF; END $$";

fn check(query: &mut dyn FnMut(&str) -> String) {
    let wrong = query("SELECT count(*) FROM work WHERE digest IS DISTINCT FROM md5(lo_get(loid))");
    assert_eq!(wrong.trim(), "0");
    let wrong = query(
        "SELECT count(*) FROM work w FULL JOIN pg_largeobject_metadata m ON m.oid = w.loid \
         WHERE w.loid IS NULL OR m.oid IS NULL",
    );
    assert_eq!(wrong.trim(), "0");
    let orphans = query(
        "SELECT count(*) FROM pg_largeobject WHERE loid NOT IN (SELECT loid FROM work) \
         OR length(data) > 2048",
    );
    assert_eq!(orphans.trim(), "0");
    let made = query("SELECT count(*) > 3, sum(length(lo_get(loid))) > 10000 FROM work");
    assert_eq!(made.trim().replace('\t', "|"), "t|t");
}

/// Random statements of a session.
fn work(random: &SeededRandom, steps: u64, run: &mut dyn FnMut(&str)) {
    for _ in 0..steps {
        let (key, count) = (random.below(1000), random.below(800));
        let at = random.below(40_000);
        run(&match random.below(10) {
            0..=3 => format!("SELECT make({count}, {key})"),
            4 | 5 => format!("SELECT put({key}, {at}, {})", count / 4),
            6 => format!("SELECT cut({key}, {at})"),
            7 => format!(
                "BEGIN; SELECT put({key}, {at}, 50); SAVEPOINT a; SELECT make(5, 5); \
                 ROLLBACK TO a; SELECT put({count}, 0, 1); {}",
                if count % 2 == 0 { "COMMIT" } else { "ROLLBACK" }
            ),
            8 => format!(
                "WITH gone AS (DELETE FROM work WHERE loid = pick({key}) \
                 AND (SELECT count(*) FROM work) > 6 RETURNING loid) \
                 SELECT lo_unlink(loid) FROM gone"
            ),
            _ => "VACUUM pg_largeobject, pg_largeobject_metadata".to_owned(),
        });
    }
}

#[test]
fn servers_recover_large_objects_from_each_others_log() {
    recover_in_turn(&Rounds {
        name: "lobjects",
        seed: 17,
        manager: "heap",
        tables: TABLES,
        unlogged: None,
        checkpoint: "VACUUM FULL pg_largeobject",
        work,
        check,
    });
}
