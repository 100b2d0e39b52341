//! Memory usage of wide values: a statement over many of them must not have all of them in memory
//! at the same time. The test measures the server's peak resident memory, which Linux can reset.

use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};

const ROWS: usize = 600;
const WIDTH: usize = 50_000;
/// The values have a total size of 30 MB. The largest measured growth is 17 MB, for the two
/// statements that create them.
const GROWTH_MAX_KB: usize = 20_000;

const STATEMENTS: [&str; 16] = [
    "SELECT repeat('x', WIDTH) FROM generate_series(1, ROWS)",
    "CREATE TABLE wide AS SELECT i, repeat('x', WIDTH) AS t FROM generate_series(1, ROWS) i",
    "SELECT sum(length(t || 'y')) FROM wide",
    "ANALYZE wide",
    "COPY wide TO '/dev/null'",
    "SELECT count(*) FROM wide WHERE upper(t) <> ''",
    "CREATE TABLE copy AS SELECT * FROM wide WHERE i < 3; INSERT INTO copy SELECT * FROM wide",
    "ALTER TABLE wide ADD COLUMN r float DEFAULT random()",
    "UPDATE wide SET t = t || 'z'",
    "CREATE FUNCTION wide_rows() RETURNS SETOF text LANGUAGE sql AS 'SELECT t FROM wide'",
    "SELECT count(*) FROM wide_rows()",
    "SELECT max(length(w)) FROM (SELECT wide_rows() AS w) s",
    "CREATE FUNCTION wide_set() RETURNS SETOF wide LANGUAGE plpgsql AS
        'BEGIN RETURN QUERY SELECT * FROM wide; END'",
    "SELECT count(*), max(length(t)) FROM wide_set()",
    "DO 'DECLARE r wide; s record; BEGIN FOR r IN SELECT * FROM wide LOOP s := r; END LOOP; END'",
    "DO 'DECLARE c NO SCROLL CURSOR FOR SELECT * FROM wide; s wide;
        BEGIN FOR r IN c LOOP s := r; END LOOP; END'",
];

pub(crate) fn kilobytes(pid: u32, what: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix(what)).expect("a line of the kernel's");
    line.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

#[test]
fn wide_rows_are_not_all_kept_in_memory() {
    let dir = TempDir::new("memory");
    let data = dir.path().join("data");
    norsu::init(&data);
    let server = Norsu::start(&data, &["-c", "shared_buffers=4MB"]);
    let mut client = server.connect("postgres");
    client.must("SET work_mem = '1MB'");
    let mut too_much = Vec::new();
    for statement in STATEMENTS {
        let sql = statement.replace("ROWS", &ROWS.to_string()).replace("WIDTH", &WIDTH.to_string());
        std::fs::write(format!("/proc/{}/clear_refs", server.pid()), "5").unwrap();
        let before = kilobytes(server.pid(), "VmRSS:");
        client.must(&sql);
        let peak = kilobytes(server.pid(), "VmHWM:");
        let growth = peak.saturating_sub(before);
        println!("{growth} kB more: {sql}");
        if growth > GROWTH_MAX_KB {
            too_much.push(format!("{sql}: {before} kB, then {peak} kB"));
        }
    }
    assert!(too_much.is_empty(), "{}", too_much.join("\n"));
    server.stop(&data);
}

/// Many messages of functions: those that nobody gets, and those that the client gets during a
/// statement that also returns rows, writes, or fires triggers.
const MESSAGES: [&str; 4] = [
    "SELECT messages(NUMBER, 'debug')",
    "SELECT messages(NUMBER, 'notice')",
    "SELECT i, messages(NUMBER / 10, 'notice') FROM generate_series(1, 10) i",
    "INSERT INTO noted SELECT i FROM generate_series(1, NUMBER) i",
];
const NUMBER: usize = 100_000;
/// The messages have a total size of 30 MB.
const MESSAGES_MAX_KB: usize = 10_000;

#[test]
fn messages_are_not_all_kept_in_memory() {
    let dir = TempDir::new("messages");
    let data = dir.path().join("data");
    norsu::init(&data);
    let server = Norsu::start(&data, &["-c", "shared_buffers=4MB"]);
    let mut client = server.connect("postgres");
    client.must(
        "CREATE FUNCTION messages(n int, level text) RETURNS int LANGUAGE plpgsql AS $$
        BEGIN
            FOR i IN 1..n LOOP
                IF level = 'debug' THEN RAISE DEBUG '% %', i, repeat('x', 200);
                ELSE RAISE NOTICE '% %', i, repeat('x', 200); END IF;
            END LOOP;
            RETURN n;
        END $$",
    );
    client.must(
        "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE NOTICE '% %', new.i, repeat('x', 200); RETURN new; END $$",
    );
    client.must("CREATE TABLE noted(i int)");
    client.must(
        "CREATE TRIGGER n AFTER INSERT ON noted FOR EACH ROW WHEN (new.i % 2 = 0)
        EXECUTE FUNCTION note()",
    );
    client.must("SELECT messages(1000, 'notice')");
    let mut too_much = Vec::new();
    for statement in MESSAGES {
        let sql = statement.replace("NUMBER", &NUMBER.to_string());
        std::fs::write(format!("/proc/{}/clear_refs", server.pid()), "5").unwrap();
        let before = kilobytes(server.pid(), "VmRSS:");
        client.must(&sql);
        let growth = kilobytes(server.pid(), "VmHWM:").saturating_sub(before);
        println!("{growth} kB more: {sql}");
        if growth > MESSAGES_MAX_KB {
            too_much.push(format!("{sql}: {growth} kB more"));
        }
    }
    assert!(too_much.is_empty(), "{}", too_much.join("\n"));
    server.stop(&data);
}
