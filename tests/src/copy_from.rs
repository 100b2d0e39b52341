//! COPY FROM with rows that do not contain all columns, on both servers.

use crate::pair::Pair;
use testkit::client::{Client, Reply};

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

/// Escapes can give bytes that are no valid text, and `\.` within a line ends only the data that a
/// client sends.
#[test]
fn escapes_and_end_markers_within_lines() {
    let pair = Pair::start("copies_escapes", "C", &[]);
    let texts: [&[u8]; 17] = [
        b"a\\x00b\n",
        b"a\\0\n",
        b"a\\xff\n",
        b"\\303\\251\n",
        b"\\303x\n",
        b"\\xc3\\xa9\\\xc3\xa9\n",
        b"\\N\n\\M\n",
        b"a\\.\nb\n",
        b"a\nb\\.\nc\n",
        b" \\.\nc\n",
        b"a\r\nb\\.\r\nc\r\n",
        b"a\n\\.\nc\n",
        b"a\n\\.x\nc\n",
        b"a\n\\.",
        b"a\\.",
        b"a\n\\.\r\nc\n",
        b"a\r\n\\.\nc\r\n",
    ];
    let file = pair.dir().join("escapes");
    let [ours, theirs] = [pair.ours.sockets(), pair.real.sockets()].map(|sockets| {
        let mut client = Client::connect(sockets, "postgres").expect("a connection");
        client.must("CREATE TABLE escapes (t text, n serial)");
        texts.map(|text| {
            std::fs::write(&file, text).expect("the file is written");
            let error = |reply: Reply| reply.error.map(|e| (e.code, e.message, e.context));
            let sent = client.copy_in("COPY escapes (t) FROM STDIN", text).expect("an answer");
            let csv = "COPY escapes (t) FROM STDIN (FORMAT csv)";
            let csv = client.copy_in(csv, text).expect("an answer");
            let copy = format!("COPY escapes (t) FROM '{}'", file.display());
            let read = client.query(&copy).expect("an answer");
            let rows = client.rows("SELECT t FROM escapes ORDER BY n");
            client.must("TRUNCATE escapes");
            ([sent, csv, read].map(error), rows)
        })
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours[8].1, ["a", "b", "a", "b\\.", "c", "a", "b", "c"]);
}
