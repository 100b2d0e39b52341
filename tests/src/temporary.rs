//! Temporary tables of other sessions, and their removal when a session ends.

use crate::pair::Pair;
use testkit::client::Client;

/// Answers of a session to statements on another session's temporary table, without the number of
/// the schema.
fn answers(connect: impl Fn() -> Client) -> Vec<String> {
    let mut owner = connect();
    owner.must("CREATE TEMP TABLE mine (a int GENERATED ALWAYS AS IDENTITY, b serial, t text)");
    owner.must("CREATE INDEX mine_a ON mine (a)");
    owner.must("INSERT INTO mine (t) SELECT repeat('x', 3000) FROM generate_series(1, 200)");
    owner.must("DELETE FROM mine WHERE a < 50");
    let schema = owner.value("SELECT pg_my_temp_schema()::regnamespace");
    let mut other = connect();
    let mut out = Vec::new();
    for made_own in [false, true] {
        if made_own {
            other.must("CREATE TEMP TABLE own (a int)");
        }
        for statement in [
            "SELECT count(*) FROM S.mine",
            "SELECT * FROM S.mine WHERE a = 7",
            "INSERT INTO S.mine (t) VALUES ('y')",
            "UPDATE S.mine SET t = 'z'",
            "DELETE FROM S.mine",
            "COPY S.mine TO STDOUT",
            "TRUNCATE S.mine",
            "CREATE INDEX ON S.mine (t)",
            "REINDEX TABLE S.mine",
            "CLUSTER S.mine USING mine_a",
            "ALTER TABLE S.mine ALTER a TYPE bigint",
            "VACUUM S.mine",
            "VACUUM FULL S.mine",
            "ANALYZE S.mine",
            "VACUUM",
            "ANALYZE",
            "SELECT relname, relpersistence FROM pg_class WHERE relname = 'mine'",
        ] {
            let reply = other.query(&statement.replace("S.", &format!("{schema}."))).unwrap();
            let said = match &reply.error {
                Some(error) => error.message.clone(),
                None => format!("{:?}", reply.text()),
            };
            out.push(format!("{statement}: {} {said}", reply.code()));
        }
    }
    out.push(owner.value("SELECT count(*) || ' ' || sum(length(t)) FROM mine"));
    owner.must("INSERT INTO mine (t) VALUES ('more')");
    drop(owner);
    // All temporary tables of the ended session must be removed.
    for _ in 0..200 {
        let left = other.value("SELECT count(*) FROM pg_class WHERE relname LIKE 'mine%'");
        if left == "0" {
            return out;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{:?}", other.rows("SELECT relname FROM pg_class WHERE relname LIKE 'mine%'"));
}

#[test]
fn temporary_tables_of_other_sessions_are_not_accessible() {
    let pair = Pair::start("temporary", "C", &[]);
    let ours = answers(|| pair.ours.connect("postgres"));
    let real = answers(|| pair.real.connect("postgres"));
    assert_eq!(ours, real);
}
