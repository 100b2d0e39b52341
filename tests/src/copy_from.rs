//! COPY FROM with rows that do not contain all columns, on both servers.

use crate::pair::Pair;
use testkit::client::Client;

const SETUP: &str = "
    CREATE SEQUENCE numbers;
    CREATE DOMAIN numbered AS int DEFAULT nextval('numbers');
    CREATE DOMAIN beneath AS numbered;
    CREATE DOMAIN steady AS numeric(8,2) NOT NULL DEFAULT '12.12';
    CREATE DOMAIN plain AS int;
    CREATE TABLE gaps (a numbered, b int, c steady, d beneath, e plain, f int DEFAULT 7,
        g numbered DEFAULT NULL, h int GENERATED ALWAYS AS (b + 1) STORED,
        i int GENERATED ALWAYS AS IDENTITY, j text);
    ALTER TABLE gaps DROP COLUMN j;";

#[test]
fn missing_columns_have_their_defaults_or_those_of_their_types() {
    let pair = Pair::start("copies", "C", &[]);
    let [ours, theirs] = [pair.ours.sockets(), pair.real.sockets()].map(|sockets| {
        let mut client = Client::connect(sockets, "postgres").expect("a connection");
        client.must(SETUP);
        let reply = client.copy_in("COPY gaps (b) FROM STDIN", b"42\n43\n").expect("an answer");
        assert!(reply.error.is_none(), "{:?}", reply.error);
        client.rows("SELECT * FROM gaps ORDER BY b")
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours[0], "1|42|12.12|2|NULL|7|NULL|43|1");
}

#[test]
fn rows_without_columns_are_empty_lines() {
    let pair = Pair::start("copies_empty", "C", &[]);
    let [ours, theirs] = [pair.ours.sockets(), pair.real.sockets()].map(|sockets| {
        let mut client = Client::connect(sockets, "postgres").expect("a connection");
        client.must("CREATE TABLE bare ()");
        let texts: [(&str, &[u8]); 4] =
            [("", b"\n\n"), ("", b"x\n"), (" CSV", b"\n"), (" CSV", b",\n")];
        texts.map(|(format, text)| {
            let reply = client.copy_in(&format!("COPY bare FROM STDIN{format}"), text);
            let error = reply.expect("an answer").error.map(|e| (e.code, e.message, e.context));
            (error, client.rows("SELECT count(*) FROM bare"))
        })
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours[0], (None, vec!["2".to_string()]));
}

/// Previous rows are visible to conditions and defaults that read the table; to CHECK constraints,
/// only rows written before the buffered ones are visible.
#[test]
fn functions_see_the_rows_before() {
    let pair = Pair::start("copies_volatile", "C", &[]);
    let [ours, theirs] = [pair.ours.sockets(), pair.real.sockets()].map(|sockets| {
        let mut client = Client::connect(sockets, "postgres").expect("a connection");
        client.must(
            "CREATE TABLE seen (id int, n bigint DEFAULT 0, s serial);
             CREATE FUNCTION total() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM seen';",
        );
        let steps = [
            ("", "COPY seen (id) FROM STDIN WHERE total() < 3"),
            ("ALTER TABLE seen ALTER n SET DEFAULT total()", "COPY seen (id) FROM STDIN"),
            ("ALTER TABLE seen ADD CHECK (total() < 10)", "COPY seen (id) FROM STDIN"),
            ("ALTER TABLE seen ALTER n SET DEFAULT 0", "COPY seen (id) FROM STDIN (FORMAT csv)"),
            ("TRUNCATE seen; CREATE UNIQUE INDEX ON seen ((id % 4))", "COPY seen (id) FROM STDIN"),
        ];
        steps.map(|(before, copy)| {
            client.must(before);
            let reply = client.copy_in(copy, b"1\n2\n3\n4\n5\n");
            let error = reply.expect("an answer").error.map(|e| (e.code, e.message, e.context));
            (error, client.rows("SELECT * FROM seen ORDER BY s"))
        })
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours[0].1.len(), 3);
}
