//! The log as a whole: written by many threads and read back; PostgreSQL's log read by
//! [`WalReader`], and Norsu's log read by `pg_waldump`.

use crate::*;
use ids::{BlockNo, Fork, Lsn, Oid, RelFile, Xid};
use page::PageBuf;
use std::process::Command;
use sync::Arc;
use vfs::{Disk, Env, MemDisk, Op, SeededRandom};

const BIN: &str = "/usr/lib/postgresql/15/bin";
const SEGMENT: u32 = 1 << 20;
const SYSTEM: u64 = 0x1234_5678_9abc_def0;
const REL: RelFile = RelFile::new(Oid(1663), Oid(5), Oid(16384));
/// The payload is not a heap record, but `pg_waldump` prints any with this manager.
const KIND: RmgrId = RmgrId::LogicalMsg;

fn memory() -> (Arc<MemDisk>, Env) {
    let disk = Arc::new(MemDisk::new());
    let mut env = Env::memory(1);
    env.disk = disk.clone();
    disk.create_dir("pg_wal").unwrap();
    disk.sync_dir(".").unwrap();
    disk.sync_dir("pg_wal").unwrap();
    (disk, env)
}

fn config() -> WalConfig {
    let mut config = WalConfig::new(SEGMENT, SYSTEM);
    config.buffers = 8;
    config
}

fn fresh(env: &Env, config: WalConfig) -> Arc<Wal> {
    let start = Lsn(u64::from(config.segment_size));
    let wal = Wal::new(env.clone(), config);
    let start = WalStart { timeline: 1, end: start, prev: Lsn(0), redo: start, overwrite: false };
    wal.start(start).unwrap();
    wal
}

fn reader(disk: Arc<dyn Disk>) -> WalReader {
    let mut reader = WalReader::new(disk, SEGMENT, 1, Some(SYSTEM));
    reader.seek(Lsn(u64::from(SEGMENT)));
    reader
}

/// A message record: (thread, number, length) and filler that depends on them.
fn message(thread: u32, number: u32, len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(12 + len);
    for n in [thread, number, len as u32] {
        bytes.extend_from_slice(&n.to_le_bytes());
    }
    bytes.extend((0..len).map(|i| (i as u32).wrapping_mul(thread + 3).wrapping_add(number) as u8));
    bytes
}

fn write_message(wal: &Wal, builder: &mut RecordBuilder, bytes: &[u8], xid: u32) -> Inserted {
    builder.reset(KIND, 0);
    builder.main(bytes);
    wal.insert(builder, &[], Xid(xid)).unwrap()
}

#[test]
fn many_writers_share_one_log() {
    let (disk, env) = memory();
    let wal = fresh(&env, config());
    let threads: Vec<_> = (0..6u32)
        .map(|thread| {
            let wal = wal.clone();
            sync::spawn("writer", move || {
                let random = SeededRandom::new(u64::from(thread));
                let mut builder = RecordBuilder::new(KIND, 0);
                let mut mine = Vec::new();
                for number in 0..400 {
                    // Some are longer than the ring of 8 pages.
                    let len = match random.below(40) {
                        0 => random.below(100_000),
                        1..10 => random.below(9000),
                        _ => random.below(200),
                    };
                    let bytes = message(thread, number, len as usize);
                    let at = write_message(&wal, &mut builder, &bytes, thread + 10);
                    if random.below(8) == 0 {
                        wal.flush(at.end).unwrap();
                        assert!(wal.flushed() >= at.end);
                    }
                    if random.below(100) == 0 {
                        wal.begin_checkpoint();
                    }
                    mine.push((at, bytes));
                }
                mine
            })
            .unwrap()
        })
        .collect();
    let mut written: Vec<_> = threads.into_iter().flat_map(|t| t.join().unwrap()).collect();
    wal.flush(wal.inserted()).unwrap();
    written.sort_by_key(|(at, _)| at.start);
    let mut reader = reader(disk);
    for (at, bytes) in &written {
        let record = reader.read().unwrap().expect("every record is there");
        assert_eq!((record.start, record.end), (at.start, at.end));
        assert_eq!(record.main(), bytes);
    }
    assert!(reader.read().unwrap().is_none(), "and no other");
    assert_eq!(reader.next_lsn(), wal.inserted());
    assert_eq!(wal.stats().records, 2400);
}

#[test]
fn flushed_records_survive_every_crash() {
    for seed in 0..60 {
        let (disk, env) = memory();
        let wal = fresh(&env, config());
        let random = SeededRandom::new(seed);
        let mut builder = RecordBuilder::new(KIND, 0);
        let (mut all, mut durable) = (Vec::new(), 0);
        for number in 0..random.below(300) as u32 {
            let len = if random.below(10) == 0 { random.below(20_000) } else { random.below(300) };
            let bytes = message(1, number, len as usize);
            let at = write_message(&wal, &mut builder, &bytes, 3);
            all.push((at, bytes));
            if random.below(6) == 0 {
                wal.flush(at.end).unwrap();
                durable = all.len();
            }
        }
        let crashed: Arc<dyn Disk> = Arc::new(disk.crash(seed));
        let mut read = reader(crashed.clone());
        let mut found = 0;
        while let Some(record) = read.read().unwrap() {
            assert_eq!(record.start, all[found].0.start, "seed {seed}");
            assert_eq!(record.main(), all[found].1);
            found += 1;
        }
        assert!(found >= durable, "seed {seed}: {found} of {durable} durable records");
        // Continue there, as recovery would, and read all of it back.
        let aborted = read.aborted_contrecord();
        let env = Env { disk: crashed.clone(), ..env };
        let wal = Wal::new(env, config());
        if found == 0 && read.last_lsn() == Lsn(0) {
            continue;
        }
        let end = aborted.map_or(read.next_lsn(), |(_, page)| page);
        let prev = read.last_lsn();
        let redo = Lsn(u64::from(SEGMENT));
        let overwrite = aborted.is_some();
        wal.start(WalStart { timeline: 1, end, prev, redo, overwrite }).unwrap();
        let after = message(2, seed as u32, 500);
        let at = write_message(&wal, &mut builder, &after, 4);
        wal.flush(at.end).unwrap();
        let mut read = reader(crashed);
        for _ in 0..found {
            read.read().unwrap().expect("old records stay");
        }
        assert_eq!(read.read().unwrap().expect("the new one").main(), after);
        assert_eq!(read.overwritten_contrecord(), aborted.map(|(start, _)| start));
        assert!(read.read().unwrap().is_none());
    }
}

/// A record ends at a page boundary, and the record on the next page loses its rest.
#[test]
fn a_record_at_the_start_of_a_page_can_be_overwritten() {
    let (disk, env) = memory();
    let wal = fresh(&env, config());
    let mut builder = RecordBuilder::new(KIND, 0);
    let first = write_message(&wal, &mut builder, &message(1, 0, 100), 3);
    let page = layout::WAL_PAGE as u64;
    // Header of the record, of its long main data, and of the message.
    let room = page - first.end.0 % page - 24 - 5 - 12;
    let filler = write_message(&wal, &mut builder, &message(1, 1, room as usize), 3);
    assert_eq!(filler.end.0 % page, 0);
    let lost = write_message(&wal, &mut builder, &message(1, 2, 20_000), 3);
    assert_eq!(lost.start, filler.end + layout::SHORT_HEADER as u64);
    wal.flush(lost.end).unwrap();
    let path = wal.layout().path(1, wal.layout().segment_of(lost.start));
    let file = disk.open(&path, vfs::OpenMode::ReadWrite).unwrap();
    let rest = wal.layout().offset_in_segment(filler.end) + page;
    file.write_all_at(&vec![0; 4 * layout::WAL_PAGE], rest).unwrap();
    drop((file, wal));

    let mut read = reader(disk.clone());
    while read.read().unwrap().is_some() {}
    assert_eq!(read.next_lsn(), filler.end);
    let (start, end) = read.aborted_contrecord().expect("half a record");
    assert_eq!(start, lost.start);
    let wal = Wal::new(env, config());
    let (prev, redo) = (read.last_lsn(), Lsn(u64::from(SEGMENT)));
    wal.start(WalStart { timeline: 1, end, prev, redo, overwrite: true }).unwrap();
    let at = write_message(&wal, &mut builder, &message(2, 0, 500), 4);
    wal.flush(at.end).unwrap();
    let mut read = reader(disk);
    for _ in 0..2 {
        read.read().unwrap().expect("old records stay");
    }
    assert_eq!(read.read().unwrap().expect("the new one").main(), message(2, 0, 500));
    assert_eq!(read.overwritten_contrecord(), Some(lost.start));
}

#[test]
fn switch_fills_the_segment_and_a_second_one_does_nothing() {
    let (disk, env) = memory();
    let wal = fresh(&env, config());
    let mut builder = RecordBuilder::new(KIND, 0);
    write_message(&wal, &mut builder, b"first", 3);
    let end = wal.switch().unwrap();
    assert_eq!(wal.inserted(), Lsn(2 * u64::from(SEGMENT)));
    assert!(end < wal.inserted() && wal.flushed() == wal.inserted());
    assert_eq!(wal.switch().unwrap(), wal.inserted());
    let at = write_message(&wal, &mut builder, b"second", 3);
    assert_eq!(at.start, Lsn(2 * u64::from(SEGMENT) + 40));
    wal.flush(at.end).unwrap();
    let mut read = reader(disk);
    assert_eq!(read.read().unwrap().unwrap().main(), b"first");
    let switch = read.read().unwrap().unwrap();
    assert_eq!(desc::identify(RmgrId::Xlog, switch.header.info), "SWITCH");
    assert_eq!(read.read().unwrap().unwrap().main(), b"second");
}

#[test]
fn first_failed_fsync_is_final() {
    let (disk, env) = memory();
    let panics = Arc::new(sync::atomic::AtomicU32::new(0));
    let mut config = config();
    let counted = panics.clone();
    config.on_panic = Arc::new(move |_| {
        counted.fetch_add(1, sync::atomic::Ordering::Relaxed);
    });
    let wal = fresh(&env, config);
    let mut builder = RecordBuilder::new(KIND, 0);
    let at = write_message(&wal, &mut builder, b"one", 3);
    wal.flush(at.end).unwrap();
    let at = write_message(&wal, &mut builder, b"two", 3);
    disk.fail_nth(Op::Sync, 1, 5);
    let error = wal.flush(at.end).unwrap_err();
    assert_eq!(error.fields().severity, pgerror::Severity::Panic);
    assert!(error.message().starts_with("could not fdatasync file"), "{error}");
    assert!(wal.flush(at.end).is_err(), "no second try");
    builder.reset(KIND, 0);
    assert!(wal.insert(&mut builder, &[], Xid(3)).is_err());
    assert_eq!(panics.load(sync::atomic::Ordering::Relaxed), 1);
    assert!(wal.flushed() < at.end);
}

#[test]
fn images_follow_the_redo_pointer() {
    let (disk, env) = memory();
    let wal = fresh(&env, config());
    let mut builder = RecordBuilder::new(RmgrId::Heap, 0);
    let mut page = PageBuf::new();
    let mut expect = Vec::new();
    for round in 0..6 {
        builder.reset(RmgrId::Heap, 0);
        builder.block(0, REL, Fork::Main, BlockNo(1), RegFlags::NONE).block_data(0, b"x");
        let lsn = page.lsn();
        let at = wal.insert(&mut builder, &[(0, page.page())], Xid(3)).unwrap();
        expect.push(lsn <= wal.redo_ptr());
        page.set_lsn(at.end);
        if round % 2 == 1 {
            let redo = wal.begin_checkpoint();
            assert_eq!((redo, wal.redo_ptr()), (wal.next_start(), redo));
        }
    }
    assert_eq!(expect, [true, false, true, false, true, false]);
    wal.flush(wal.inserted()).unwrap();
    let mut read = reader(disk);
    for image in expect {
        let record = read.read().unwrap().unwrap();
        assert_eq!(record.block(0).unwrap().applies_image(), image);
        assert_eq!(record.block_data(0).is_none(), image);
    }
}

#[test]
fn segments_are_recycled_and_removed() {
    let (disk, env) = memory();
    let mut settings = config();
    settings.min_wal_size = 3 * u64::from(SEGMENT);
    settings.max_wal_size = 4 * u64::from(SEGMENT);
    let wal = fresh(&env, settings);
    let mut builder = RecordBuilder::new(KIND, 0);
    for _ in 0..6 {
        write_message(&wal, &mut builder, b"filler", 3);
        wal.switch().unwrap();
    }
    let at = write_message(&wal, &mut builder, b"end", 3);
    wal.flush(at.end).unwrap();
    let redo = wal.begin_checkpoint();
    let counts = wal.remove_old_segments(redo, 0.0, false).unwrap();
    // Segments 1 to 6 are old; the base is 7, and min_wal_size reaches to 7 + 3 - 1.
    assert_eq!((counts.recycled, counts.removed), (2, 4));
    let mut names: Vec<_> =
        disk.list("pg_wal").unwrap().into_iter().map(|entry| entry.name).collect();
    names.sort();
    let expected: Vec<_> = (7..=9).map(|n| wal.layout().file_name(1, n)).collect();
    assert_eq!(names, expected);
    // The old pages in a recycled file are not read as part of the log.
    let mut read = WalReader::new(disk, SEGMENT, 1, Some(SYSTEM));
    read.seek(Lsn(7 * u64::from(SEGMENT)));
    assert!(read.read().unwrap().is_some());
    assert!(read.read().unwrap().is_none());
}

/// A directory owned by the user `postgres`, removed on drop.
struct TempDir(String);

impl TempDir {
    fn new(name: &str) -> TempDir {
        let path = format!("/tmp/norsu-wal-{name}-{}", std::process::id());
        run("rm", &["-rf", &path]);
        run("install", &["-d", "-o", "postgres", &path]);
        TempDir(path)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Inserts one record of about `pages` pages; returns its end.
fn write_pages(wal: &Wal, pages: usize) -> Lsn {
    let mut builder = RecordBuilder::new(KIND, 0);
    let bytes = message(1, 1, pages * layout::WAL_PAGE);
    write_message(wal, &mut builder, &bytes, 3).end
}

#[test]
fn the_walwriter_flushes_by_volume_and_by_time() {
    let (disk, mut env) = memory();
    let clock = Arc::new(vfs::ManualClock::new());
    env.clock = clock.clone();
    let mut config = config();
    config.buffers = 64;
    config.writer_flush_after = 8;
    let wal = fresh(&env, config);
    let delay = wal.config().writer_delay;
    clock.advance(delay);
    write_pages(&wal, 2);
    // The first round flushes.
    assert!(wal.background_flush().unwrap());
    let flushed = wal.flushed();
    assert!(flushed > Lsn(u64::from(SEGMENT)));
    // A small amount within the delay: written, not flushed.
    write_pages(&wal, 3);
    let syncs = disk.count(Op::Sync);
    assert!(wal.background_flush().unwrap());
    assert!(wal.written() > flushed);
    assert_eq!((wal.flushed(), disk.count(Op::Sync)), (flushed, syncs));
    assert!(!wal.background_flush().unwrap(), "there is nothing more to write");
    // The volume limit is reached.
    write_pages(&wal, 6);
    assert!(wal.background_flush().unwrap());
    assert!(wal.flushed().0 > flushed.0 + 8 * layout::WAL_PAGE as u64);
    assert_eq!(disk.count(Op::Sync), syncs + 1);
    // The delay is over.
    write_pages(&wal, 1);
    assert!(wal.background_flush().unwrap());
    assert_eq!(disk.count(Op::Sync), syncs + 1);
    clock.advance(delay);
    assert!(wal.background_flush().unwrap());
    assert_eq!(disk.count(Op::Sync), syncs + 2);
    // With 0 every write is flushed.
    wal.configure(|config| config.writer_flush_after = 0);
    write_pages(&wal, 1);
    assert!(wal.background_flush().unwrap());
    assert_eq!(disk.count(Op::Sync), syncs + 3);
}

/// True if the waiter has been woken since the last call.
fn woken(waiter: &sync::wait::Waiter) -> bool {
    let at_once = sync::wait::Deadline::after(std::time::Duration::ZERO);
    waiter.park(sync::wait::WaitEvent::WalWriterMain, at_once) == sync::wait::Woken::Notified
}

#[test]
fn asynchronous_commits_wake_the_walwriter_when_there_is_enough_to_flush() {
    let (_, env) = memory();
    let mut config = config();
    config.buffers = 256;
    config.writer_flush_after = 8;
    let wal = fresh(&env, config);
    wal.note_async_commit(write_pages(&wal, 3));
    assert!(!woken(wal.background_waiter()));
    wal.note_async_commit(write_pages(&wal, 6));
    assert!(woken(wal.background_waiter()));
    wal.background_flush().unwrap();
    wal.note_async_commit(write_pages(&wal, 1));
    assert!(!woken(wal.background_waiter()));
    wal.configure(|config| config.writer_flush_after = 0);
    wal.note_async_commit(wal.inserted());
    assert!(woken(wal.background_waiter()));
}

#[test]
fn filling_a_segment_wakes_the_checkpointer() {
    let (_, env) = memory();
    let wal = fresh(&env, config());
    let pages = SEGMENT as usize / layout::WAL_PAGE;
    wal.flush(write_pages(&wal, pages - 8)).unwrap();
    assert_eq!(wal.segments_since_redo(), 0);
    assert!(!woken(wal.checkpointer_waiter()));
    wal.flush(write_pages(&wal, 16)).unwrap();
    assert_eq!(wal.segments_since_redo(), 1);
    assert!(woken(wal.checkpointer_waiter()));
    assert!(wal.take_segment_filled() && !wal.take_segment_filled());
    wal.begin_checkpoint();
    assert_eq!(wal.segments_since_redo(), 0);
    wal.switch().unwrap();
    assert_eq!(wal.segments_since_redo(), 1);
    assert!(woken(wal.checkpointer_waiter()));
}

/// While the next segment is not needed, a lack of space for it is no error. The flush that needs
/// it fails.
#[test]
fn a_segment_that_cannot_be_created_in_advance_is_no_error_until_it_is_needed() {
    const ENOSPC: i32 = 28;
    let (disk, env) = memory();
    let wal = fresh(&env, config());
    let pages = SEGMENT as usize / layout::WAL_PAGE;
    wal.flush(write_pages(&wal, pages / 2)).unwrap();
    disk.fail_all_on(Op::Write, "xlogtemp", ENOSPC);
    let tried = disk.count(Op::Write);
    assert!(!wal.background_flush().unwrap());
    assert!(disk.count(Op::Write) > tried, "it was tried");
    let tried = disk.count(Op::Write);
    assert!(!wal.background_flush().unwrap());
    assert_eq!(disk.count(Op::Write), tried, "it was tried once");
    assert!(!wal.failed());
    let end = write_pages(&wal, 1);
    wal.flush(end).unwrap();
    let error = loop {
        let mut builder = RecordBuilder::new(KIND, 0);
        builder.main(&message(1, 1, layout::WAL_PAGE));
        let inserted = wal.insert(&mut builder, &[], Xid(3));
        if let Err(e) = inserted.and_then(|at| wal.flush(at.end)) {
            break e;
        }
    };
    assert_eq!(error.fields().severity, pgerror::Severity::Panic);
    assert!(error.fields().message.starts_with("could not write to file \"pg_wal/xlogtemp"));
    assert!(wal.failed());
}

fn run(program: &str, args: &[&str]) -> String {
    let out = Command::new(program).args(args).output().expect(program);
    assert!(
        out.status.success(),
        "{program} {args:?}: {}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn as_postgres(program: &str, args: &[&str]) -> String {
    let path = format!("{BIN}/{program}");
    let mut all = vec!["-u", "postgres", "--", &path];
    all.extend_from_slice(args);
    run("runuser", &all)
}

/// `pg_waldump` finds the records of Norsu's log at the positions that insertion returned.
#[test]
fn pg_waldump_reads_the_log_of_norsu() {
    let dir = TempDir::new("ours");
    let env = Env::os(&dir.0);
    env.disk.create_dir("pg_wal").unwrap();
    let wal = fresh(&env, config());
    let page = PageBuf::new();
    let mut builder = RecordBuilder::new(RmgrId::Xlog, 0xB0);
    let mut expected = Vec::new();
    for number in 0..300u32 {
        let at = if number % 3 == 0 {
            // XLOG FPI
            builder.reset(RmgrId::Xlog, 0xB0);
            let compressions = [Compression::Off, Compression::Pglz, Compression::Lz4];
            builder.set_compression(Some(compressions[number as usize / 3 % 3]));
            let flags = RegFlags::FORCE_IMAGE | RegFlags::STANDARD;
            builder.block(0, REL, Fork::Main, BlockNo(number), flags);
            wal.insert(&mut builder, &[(0, page.page())], Xid(0)).unwrap()
        } else {
            // XLOG NEXTOID
            builder.reset(RmgrId::Xlog, 0x30);
            builder.main(&number.to_le_bytes());
            wal.insert(&mut builder, &[], Xid(0)).unwrap()
        };
        expected.push(at);
    }
    wal.flush(wal.inserted()).unwrap();
    let mut reader = WalReader::new(env.disk.clone(), SEGMENT, 1, Some(SYSTEM));
    reader.seek(expected[0].start);
    let mut ours = Vec::new();
    while let Some(record) = reader.read().unwrap() {
        assert_eq!(record.start, expected[ours.len()].start);
        ours.push(desc::line_prefix(record));
    }
    let start = expected[0].start.to_string();
    let end = wal.inserted().to_string();
    let dump = run(
        &format!("{BIN}/pg_waldump"),
        &["-p", &format!("{}/pg_wal", dir.0), "-s", &start, "-e", &end],
    );
    let theirs: Vec<_> = dump.lines().collect();
    assert_eq!(theirs.len(), ours.len());
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!(theirs.starts_with(ours.as_str()), "{theirs}\n{ours}");
    }
}

/// The log of a PostgreSQL cluster after a mixed workload, record by record as `pg_waldump` prints
/// it.
#[test]
fn the_log_of_postgres_is_printed_as_by_pg_waldump() {
    let dir = TempDir::new("real");
    let data = format!("{}/data", dir.0);
    as_postgres("initdb", &["-D", &data, "-A", "trust", "--wal-segsize=1", "-k", "--no-sync"]);
    let socket =
        format!("-k {} -h '' -c wal_compression=pglz -c fsync=off -c wal_keep_size=1GB", dir.0);
    let log = format!("{}/log", dir.0);
    as_postgres("pg_ctl", &["-D", &data, "-w", "-l", &log, "-o", &socket, "start"]);
    let stop = || {
        as_postgres("pg_ctl", &["-D", &data, "-w", "-m", "fast", "stop"]);
    };
    let work = std::panic::catch_unwind(|| {
        let psql = |sql: &str| {
            as_postgres(
                "psql",
                &["-h", &dir.0, "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-c", sql],
            );
        };
        psql(
            "create table t(a int primary key, b text, c int[]); \
             insert into t select i, repeat('x', i % 500), array[i] from generate_series(1,5000) \
             i; update t set b = b || 'y' where a % 3 = 0; delete from t where a % 5 = 0; create \
             index on t(b); create index on t using gin(c); create index on t using hash(a); \
             create index on t using brin(a); create sequence s; select nextval('s');",
        );
        psql("set wal_compression = lz4; update t set b = 'z' || b");
        psql("vacuum freeze t");
        psql("create database other");
        psql("checkpoint");
        psql("select pg_switch_wal()");
        psql("begin; savepoint a; insert into t values (0); rollback to a; commit");
        as_postgres("pgbench", &["-h", &dir.0, "-i", "-q", "postgres"]);
        as_postgres("pgbench", &["-h", &dir.0, "-c", "4", "-t", "100", "-n", "postgres"]);
    });
    stop();
    assert!(work.is_ok());
    let control = as_postgres("pg_controldata", &[&data]);
    let field = |name: &str| {
        let line = control.lines().find(|line| line.starts_with(name)).expect(name);
        line[name.len()..].trim().to_owned()
    };
    let disk: Arc<dyn Disk> = Env::os(&data).disk;
    let bytes = vfs::read_file(&*disk, control::CONTROL_FILE).unwrap();
    let ours = ControlFile::decode(&bytes).unwrap();
    assert_eq!(ours.encode(), bytes, "written back byte for byte");
    assert_eq!(field("Database system identifier:"), ours.system_id.to_string());
    assert_eq!(field("Latest checkpoint location:"), ours.check_point.to_string());
    assert_eq!(field("Latest checkpoint's REDO location:"), ours.check_point_copy.redo.to_string());
    let next = ours.check_point_copy.next_xid;
    assert_eq!(field("Latest checkpoint's NextXID:"), format!("{}:{}", next.epoch(), next.xid()));
    assert_eq!(field("Bytes per WAL segment:"), ours.wal_segment_size.to_string());
    assert_eq!(field("max_connections setting:"), ours.max_connections.to_string());
    assert_eq!(ours.state, DbState::ShutDowned);

    let mut names: Vec<String> = disk
        .list("pg_wal")
        .unwrap()
        .into_iter()
        .map(|entry| entry.name)
        .filter(|name| layout::is_segment_name(name))
        .collect();
    names.sort();
    // Recycled files have later names; the first file is the oldest of the log.
    let layout = layout::Layout::new(ours.wal_segment_size);
    let (timeline, first) = layout.parse_file_name(&names[0]).unwrap();
    let mut reader =
        WalReader::new(disk.clone(), ours.wal_segment_size, timeline, Some(ours.system_id));
    let start = reader.find_next_record(layout.segment_start(first)).unwrap().expect("a record");
    let mut lines = Vec::new();
    while let Some(record) = reader.read().unwrap() {
        lines.push((desc::line_prefix(record), desc::block_lines(record)));
    }
    let dump = Command::new(format!("{BIN}/pg_waldump"))
        .args(["-p", &format!("{data}/pg_wal"), "--bkp-details", "-s", &start.to_string()])
        .output()
        .unwrap();
    let dump = String::from_utf8_lossy(&dump.stdout).into_owned();
    let mut records = Vec::new();
    for line in dump.lines() {
        if line.starts_with("rmgr:") {
            records.push((line.to_owned(), String::new()));
        } else {
            let last: &mut (String, String) = records.last_mut().unwrap();
            last.1.push_str(line);
            last.1.push('\n');
        }
    }
    assert!(records.len() > 5000, "{} records", records.len());
    for (ours, theirs) in lines.iter().zip(&records) {
        let name_ends = theirs.0[ours.0.len().min(theirs.0.len())..].chars().next();
        assert!(
            theirs.0.starts_with(&ours.0) && matches!(name_ends, None | Some(' ' | ';')),
            "{}\n{}",
            ours.0,
            theirs.0
        );
        assert_eq!(ours.1.trim_end(), theirs.1.trim_end(), "{}", theirs.0);
    }
    assert_eq!(lines.len(), records.len());
}
