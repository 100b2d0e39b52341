//! Memory usage of wide values: a statement over many of them must not have all of them in memory
//! at the same time. The test measures the server's peak resident memory, which Linux can reset.

use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};

const ROWS: usize = 600;
const WIDTH: usize = 50_000;
/// The values have a total size of 30 MB. The largest measured growth is 17 MB, for the two
/// statements that create them.
const GROWTH_MAX_KB: usize = 20_000;

const STATEMENTS: [&str; 12] = [
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
