//! Tests of counting, flushing and the file.

use crate::{
    Change, Consistency, DatabaseField as D, FileError, FunctionField as F, Key, Kind,
    RelationField as R, RelationStats, SessionStats, Stats, TrackFunctions, parse, serialize,
};
use ids::Oid;
use std::time::Duration;
use sync::Arc;

const DATABASE: Oid = Oid(5);
const TABLE: Oid = Oid(16384);
const KEY: Key = Key { database: DATABASE, object: TABLE };
const SECOND: i64 = 1_000_000;

fn session() -> SessionStats {
    SessionStats::new(Arc::default(), DATABASE, 1)
}

fn insert(session: &mut SessionStats, nesting: usize, rows: u32) {
    session.change(TABLE, false, nesting, Change::Insert(rows));
}

/// Inserted, updated and deleted rows, live and dead ones, changes since ANALYZE.
fn flushed(session: &mut SessionStats) -> [i64; 6] {
    session.flush(SECOND);
    let values = session.shared().relation(KEY).unwrap_or_default();
    [R::Inserted, R::Updated, R::Deleted, R::Live, R::Dead, R::ChangedSinceAnalyze]
        .map(|field| values[field])
}

#[test]
fn rows_of_an_aborted_transaction_are_dead() {
    let mut session = session();
    insert(&mut session, 1, 10);
    session.end_transaction(true);
    assert_eq!(flushed(&mut session), [10, 0, 0, 10, 0, 10]);
    insert(&mut session, 1, 3);
    session.change(TABLE, false, 1, Change::Update { hot: true });
    session.change(TABLE, false, 1, Change::Delete);
    session.end_transaction(false);
    assert_eq!(flushed(&mut session), [13, 1, 1, 10, 4, 10]);
    let values = session.shared().relation(KEY).unwrap_or_default();
    assert_eq!((values[R::HotUpdated], values[R::InsertedSinceVacuum]), (1, 13));
    let database = session.shared().database(DATABASE).unwrap_or_default();
    assert_eq!((database[D::Commits], database[D::Rollbacks], database[D::Inserted]), (1, 1, 13));
}

#[test]
fn levels_follow_subtransactions() {
    let mut session = session();
    insert(&mut session, 2, 1);
    // Released to a level without counts of its own, then rolled back with it.
    insert(&mut session, 3, 2);
    session.end_subtransaction(3, true);
    insert(&mut session, 3, 4);
    session.end_subtransaction(3, false);
    assert_eq!(session.unflushed(TABLE).map(|n| (n.inserted, n.dead)), Some((7, 4)));
    session.end_subtransaction(2, true);
    insert(&mut session, 1, 8);
    let other = Oid(16385);
    session.change(other, false, 2, Change::Insert(16));
    session.change(TABLE, false, 2, Change::Delete);
    session.end_subtransaction(2, true);
    session.end_transaction(true);
    assert_eq!(flushed(&mut session), [15, 0, 1, 10, 5, 12]);
    let key = Key { object: other, ..KEY };
    assert_eq!(session.shared().relation(key).map(|values| values[R::Live]), Some(16));
}

#[test]
fn truncation_can_be_rolled_back() {
    let mut session = session();
    insert(&mut session, 1, 5);
    session.truncate(TABLE, false, 2);
    insert(&mut session, 2, 2);
    session.end_subtransaction(2, false);
    session.end_transaction(true);
    // Rows inserted after a truncation that is rolled back do not count, as in PostgreSQL.
    assert_eq!(flushed(&mut session), [5, 0, 0, 5, 0, 5]);
    session.truncate(TABLE, false, 1);
    insert(&mut session, 1, 3);
    session.end_transaction(true);
    assert_eq!(flushed(&mut session)[3..5], [3, 0]);
}

#[test]
fn entries_follow_the_transactions_of_their_objects() {
    let mut session = session();
    session.created(Kind::Relation, TABLE, false, 1);
    insert(&mut session, 1, 1);
    assert!(session.shared().exists(Kind::Relation, KEY));
    session.end_transaction(false);
    assert!(!session.shared().exists(Kind::Relation, KEY));
    session.flush(SECOND);
    assert!(!session.shared().exists(Kind::Relation, KEY));
    insert(&mut session, 1, 1);
    session.dropped(Kind::Relation, TABLE, false, 2);
    session.end_subtransaction(2, false);
    session.dropped(Kind::Function, Oid(7), false, 1);
    let drops: Vec<_> = session.drops(true).collect();
    assert_eq!(drops, [(Kind::Function, Key { object: Oid(7), ..KEY })]);
    session.end_transaction(true);
    assert!(session.shared().exists(Kind::Relation, KEY));
}

#[test]
fn counts_are_flushed_once_a_second() {
    let mut session = session();
    session.relation(TABLE, false).scans += 1;
    assert_eq!(session.report(10 * SECOND, false), None);
    session.relation(TABLE, false).scans += 1;
    let scans = |session: &SessionStats| session.shared().relation(KEY).map(|v| v[R::Scans]);
    assert_eq!(session.report(10 * SECOND + 5, false), Some(Duration::from_secs(10)));
    assert_eq!(scans(&session), Some(1));
    session.force_next_flush();
    assert_eq!(session.report(10 * SECOND + 6, false), None);
    assert_eq!(scans(&session), Some(2));
    session.set_track_counts(false);
    session.relation(TABLE, false).scans += 1;
    session.set_track_counts(true);
    session.relation(TABLE, false).returned += 1;
    assert_eq!(session.report(12 * SECOND, false), None);
    assert_eq!(scans(&session), Some(2));
}

#[test]
fn reads_are_consistent_within_a_transaction() {
    let mut session = session();
    let stats = session.shared().clone();
    let set = |scans: i64| {
        stats.report_vacuum(KEY, scans, 0, false, 1);
    };
    let now = || 77;
    let read = |session: &mut SessionStats| {
        session.fetch_relation(TABLE, &now).map(|values| values[R::Live])
    };
    set(1);
    assert_eq!(read(&mut session), Some(1));
    set(2);
    assert_eq!(read(&mut session), Some(1));
    session.end_transaction(true);
    assert_eq!(read(&mut session), Some(2));
    session.set_consistency(Consistency::None);
    set(3);
    assert_eq!(read(&mut session), Some(3));
    session.set_consistency(Consistency::Snapshot);
    assert_eq!(session.fetch_database(DATABASE, &now), None);
    set(4);
    assert_eq!((read(&mut session), session.snapshot_time()), (Some(3), Some(77)));
    session.clear_snapshot();
    assert_eq!(read(&mut session), Some(4));
}

#[test]
fn analyze_omits_rows_that_count_again_at_the_commit() {
    let mut session = session();
    insert(&mut session, 1, 10);
    session.report_analyze(KEY, (30, 2), true, false, 9);
    session.end_transaction(true);
    assert_eq!(flushed(&mut session)[3..], [30, 2, 10]);
}

#[test]
fn functions_are_measured_without_those_they_call() {
    let mut session = session();
    assert!(session.begin_call(Oid(1), TrackFunctions::All).is_none());
    session.track_functions = TrackFunctions::Procedural;
    assert!(session.begin_call(Oid(1), TrackFunctions::All).is_none());
    let outer = session.begin_call(Oid(1), TrackFunctions::Procedural).expect("tracked");
    let inner = session.begin_call(Oid(2), TrackFunctions::Procedural).expect("tracked");
    sync::sleep(Duration::from_millis(2));
    session.end_call(inner);
    session.end_call(outer);
    let of = |n| session.unflushed_function(Oid(n)).expect("called");
    let (outer, inner) = (of(1), of(2));
    assert_eq!((outer[F::Calls], inner[F::Calls]), (1, 1));
    assert!(inner[F::SelfTime] == inner[F::TotalTime] && inner[F::SelfTime] >= 2000);
    assert_eq!(outer[F::TotalTime] - outer[F::SelfTime], inner[F::TotalTime]);
}

#[test]
fn the_file_contains_all_entries() {
    let mut session = session();
    session.relation(TABLE, false).scans += 7;
    session.relation(Oid(1262), true).scans += 9;
    session.connected(5);
    session.flush(SECOND);
    let stats = session.shared();
    stats.fixed.lock().wal[0] = 42;
    let fixed = stats.fixed.lock().clone();
    let bytes = serialize(stats, &fixed);
    // The format, the counters without an object, four entries, the end.
    let (relation, database) = (13 + 21 * 8, 13 + 30 * 8);
    assert_eq!(bytes.len(), 4 + 136 + 32 + 56 + 512 + 72 + 2 * relation + database + 1);
    let read = Stats::default();
    assert_eq!(parse(&read, &bytes), Ok(()));
    assert_eq!(read.relation(KEY).map(|values| values[R::Scans]), Some(7));
    let shared = Key { database: Oid::INVALID, object: Oid(1262) };
    assert_eq!(read.relation(shared).map(|values| values[R::Scans]), Some(9));
    assert_eq!(read.database(DATABASE).map(|values| values[D::Sessions]), Some(1));
    assert_eq!(read.fixed.lock().wal[0], 42);
    for damaged in [&bytes[..bytes.len() - 1], &bytes[1..], &[bytes.as_slice(), b"x"].concat()] {
        let read = Stats::default();
        assert_eq!(parse(&read, damaged), Err(FileError));
        assert!(!read.exists(Kind::Relation, KEY));
    }
}

#[test]
fn thresholds_are_those_of_postgresql() {
    let thresholds = crate::thresholds::Thresholds {
        vacuum_rows: 50,
        vacuum_scale: 0.2,
        insert_rows: 1000,
        insert_scale: 0.2,
        analyze_rows: 50,
        analyze_scale: 0.1,
    };
    let needs = |dead, inserted, changed, rows: f32| {
        let mut values = RelationStats::default();
        values[R::Dead] = dead;
        values[R::InsertedSinceVacuum] = inserted;
        values[R::ChangedSinceAnalyze] = changed;
        let needs = thresholds.needs(&values, rows);
        (needs.vacuum, needs.analyze)
    };
    assert_eq!(needs(50, 1000, 50, -1.0), (false, false));
    assert_eq!(needs(51, 0, 0, -1.0), (true, false));
    assert_eq!(needs(0, 1001, 51, 0.0), (true, true));
    assert_eq!(needs(250, 1200, 150, 1000.0), (false, false));
    assert_eq!(needs(251, 0, 151, 1000.0), (true, true));
    let disabled = crate::thresholds::Thresholds { insert_rows: -1, ..thresholds };
    let mut values = RelationStats::default();
    values[R::InsertedSinceVacuum] = 1 << 40;
    assert!(!disabled.needs(&values, 0.0).vacuum);
}
