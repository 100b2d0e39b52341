//! A power failure at each disk operation of the commit of a transaction that gives system catalogs
//! new files, in particular between the relation map and the commit record: then the new files are
//! in use although the transaction is aborted.

use super::check;
use super::harness::{Harness, template};
use crate::crash::run::InjectedFault;
use std::collections::BTreeSet;
use vfs::SeededRandom;

struct Case {
    /// Creates the table `w` and rewrites a catalog, without COMMIT.
    transaction: &'static str,
    /// A relation that gets a new file.
    relation: &'static str,
    /// Rewrites the catalog again.
    again: &'static str,
}

const CASES: [Case; 3] = [
    Case {
        transaction: "BEGIN; CREATE TABLE w AS SELECT * FROM v; REINDEX TABLE pg_class; \
                      CLUSTER pg_class USING pg_class_oid_index; COMMENT ON TABLE w IS 'w'",
        relation: "pg_class",
        again: "VACUUM FULL pg_class",
    },
    Case {
        transaction: "BEGIN; CLUSTER pg_type USING pg_type_oid_index; \
                      CREATE TABLE w AS SELECT * FROM v",
        relation: "pg_type",
        again: "REINDEX TABLE pg_type",
    },
    Case {
        transaction: "BEGIN; CREATE TABLE w AS SELECT * FROM v; REINDEX TABLE pg_database",
        relation: "pg_database_oid_index",
        again: "VACUUM FULL pg_database",
    },
];

/// More than a commit has disk operations.
const OPERATIONS_MAX: u64 = 100;

/// Fails before the operation with this number. Returns whether the relation has another file after
/// recovery, and whether the table exists; `None` if the commit has fewer operations.
fn fail_at(case: &Case, n: u64) -> Option<(bool, bool)> {
    let what = format!("{}, operation {n}", case.transaction);
    let random = SeededRandom::new(n);
    let mut harness =
        Harness::new(template(), &random, n, InjectedFault::Nothing).expect("a harness");
    harness.buffers(400);
    harness.open().expect("the server starts");
    let mut client = harness.connect().expect("a session");
    client.must("CREATE TABLE v AS SELECT g AS id FROM generate_series(1, 100) g");
    client.must("CHECKPOINT");
    let file = format!("SELECT pg_relation_filenode('{}')", case.relation);
    let before = client.value(&file);
    client.must(case.transaction);
    harness.disk.crash_at_change(n, n);
    client.must("COMMIT");
    if !harness.end_planned(vec![client]).unwrap_or_else(|e| panic!("{what}: {e}")) {
        return None;
    }
    let mut client = harness.connect().expect("a session");
    let is_moved = client.value(&file) != before;
    let is_made = client.value("SELECT to_regclass('w') IS NOT NULL") == "t";
    if is_made {
        assert_eq!(client.value("SELECT count(*) FROM w"), "100", "{what}");
    }
    // The catalogs can be changed and rewritten again.
    client.must("DROP TABLE IF EXISTS w; CREATE TABLE w (id int)");
    client.must(case.again);
    assert_eq!(client.value("SELECT count(*) FROM v"), "100", "{what}");
    drop(client);
    let checked = check::structure(harness.engine(), n.is_multiple_of(16));
    checked.unwrap_or_else(|e| panic!("{what}: {e}"));
    harness.close().unwrap_or_else(|e| panic!("{what}: {e}"));
    Some((is_moved, is_made))
}

#[test]
fn crashes_around_the_relation_map_leave_usable_catalogs() {
    for case in &CASES {
        let mut found = BTreeSet::new();
        let mut n = 1;
        while let Some(state) = fail_at(case, n) {
            found.insert(state);
            n += 1;
            assert!(n < OPERATIONS_MAX, "{}: too many operations", case.transaction);
        }
        println!("{}: {n} operations, {found:?}", case.transaction);
        for state in [(false, false), (true, false), (true, true)] {
            assert!(found.contains(&state), "{}: {state:?}: {found:?}", case.transaction);
        }
        assert!(!found.contains(&(false, true)), "{}: {found:?}", case.transaction);
    }
}
