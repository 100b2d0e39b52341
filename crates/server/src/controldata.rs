//! `norsu controldata`: prints the control file in the format of pg_controldata, for programs that
//! parse its output.
//!
//! Counterpart: pg_controldata.c.

use crate::call::Call;
use crate::failure::{Failure, Outcome};
use crate::listen::reason;
use crate::options::{self, AcceptedOption};
use types::zone::Zone;
use wal::control::{CONTROL_FILE, ControlFile, DbState};

const OPTIONS: [AcceptedOption; 3] =
    [('D', "pgdata", true), ('V', "version", false), ('?', "help", false)];

const HELP: &str = "\
{command} shows the control file of a data directory.

Usage:
  {command} [OPTION] [DATADIR]

Options:
 [-D, --pgdata=]DATADIR  the data directory (default: the environment variable PGDATA)
  -V, --version          show the version, then exit
  -?, --help             show this help, then exit
";

/// Runs `norsu controldata` or `pg_controldata`.
pub(crate) fn run(call: &Call<'_>) -> Outcome {
    let given = options::parse(call.args, &OPTIONS, false)?;
    if given.has("help") {
        return call.print_help(HELP);
    }
    if given.has("version") {
        return call.print_version("pg_controldata");
    }
    if let Some(extra) = given.rest.get(usize::from(!given.has("pgdata"))) {
        return Err(Failure::usage(format!(
            "too many command-line arguments (first is \"{extra}\")"
        )));
    }
    let named = given.value("pgdata").or(given.rest.first().map(String::as_str));
    let data = options::data_directory(named)?
        .ok_or_else(|| Failure::usage("no data directory specified"))?;
    let path = format!("{data}/{CONTROL_FILE}");
    let bytes = std::fs::read(&path).map_err(|e| {
        let reason = reason(&e);
        Failure::new(format!("could not open file \"{path}\" for reading: {reason}"))
    })?;
    let file = ControlFile::decode(&bytes)?;
    for (name, value) in lines(&file) {
        println!("{:<38}{value}", format!("{name}:"));
    }
    Ok(0)
}

fn state(state: DbState) -> &'static str {
    match state {
        DbState::Startup => "starting up",
        DbState::ShutDowned => "shut down",
        DbState::ShutDownedInRecovery => "shut down in recovery",
        DbState::ShutDowning => "shutting down",
        DbState::InCrashRecovery => "in crash recovery",
        DbState::InArchiveRecovery => "in archive recovery",
        DbState::InProduction => "in production",
    }
}

/// Formats like C's `%c`, in the time zone of the environment.
fn time(seconds: i64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let zone = std::env::var("TZ").ok().and_then(|tz| Zone::named(&tz)).unwrap_or_else(Zone::utc);
    let local = seconds + i64::from(zone.at_unix(seconds).0);
    let (days, day) = (local.div_euclid(86_400), local.rem_euclid(86_400));
    let (year, month, date) = crate::log::civil(days);
    format!(
        "{} {} {date:>2} {:02}:{:02}:{:02} {year}",
        DAYS[days.rem_euclid(7) as usize],
        MONTHS[(month - 1) as usize],
        day / 3600,
        day / 60 % 60,
        day % 60
    )
}

fn lines(f: &ControlFile) -> Vec<(&'static str, String)> {
    let c = &f.check_point_copy;
    let on = |b: bool| (if b { "on" } else { "off" }).to_owned();
    let yes = |b: bool| (if b { "yes" } else { "no" }).to_owned();
    let level = ["minimal", "replica", "logical"].get(f.wal_level as usize);
    let segment = wal::layout::Layout::new(f.wal_segment_size);
    let nonce: String = f.mock_authentication_nonce.iter().map(|b| format!("{b:02x}")).collect();
    vec![
        ("pg_control version number", "1300".to_owned()),
        ("Catalog version number", "202209061".to_owned()),
        ("Database system identifier", f.system_id.to_string()),
        ("Database cluster state", state(f.state).to_owned()),
        ("pg_control last modified", time(f.time)),
        ("Latest checkpoint location", f.check_point.to_string()),
        ("Latest checkpoint's REDO location", c.redo.to_string()),
        (
            "Latest checkpoint's REDO WAL file",
            segment.file_name(c.timeline, segment.segment_of(c.redo)),
        ),
        ("Latest checkpoint's TimeLineID", c.timeline.to_string()),
        ("Latest checkpoint's PrevTimeLineID", c.prev_timeline.to_string()),
        ("Latest checkpoint's full_page_writes", on(c.full_page_writes)),
        ("Latest checkpoint's NextXID", format!("{}:{}", c.next_xid.epoch(), c.next_xid.xid().0)),
        ("Latest checkpoint's NextOID", c.next_oid.0.to_string()),
        ("Latest checkpoint's NextMultiXactId", c.next_multi.0.to_string()),
        ("Latest checkpoint's NextMultiOffset", c.next_multi_offset.to_string()),
        ("Latest checkpoint's oldestXID", c.oldest_xid.0.to_string()),
        ("Latest checkpoint's oldestXID's DB", c.oldest_xid_db.0.to_string()),
        ("Latest checkpoint's oldestActiveXID", c.oldest_active_xid.0.to_string()),
        ("Latest checkpoint's oldestMultiXid", c.oldest_multi.0.to_string()),
        ("Latest checkpoint's oldestMulti's DB", c.oldest_multi_db.0.to_string()),
        ("Latest checkpoint's oldestCommitTsXid", c.oldest_commit_ts_xid.0.to_string()),
        ("Latest checkpoint's newestCommitTsXid", c.newest_commit_ts_xid.0.to_string()),
        ("Time of latest checkpoint", time(c.time)),
        ("Fake LSN counter for unlogged rels", f.unlogged_lsn.to_string()),
        ("Minimum recovery ending location", f.min_recovery_point.to_string()),
        ("Min recovery ending loc's timeline", f.min_recovery_point_tli.to_string()),
        ("Backup start location", f.backup_start_point.to_string()),
        ("Backup end location", f.backup_end_point.to_string()),
        ("End-of-backup record required", yes(f.backup_end_required)),
        ("wal_level setting", (*level.unwrap_or(&"unrecognized wal_level")).to_owned()),
        ("wal_log_hints setting", on(f.wal_log_hints)),
        ("max_connections setting", f.max_connections.to_string()),
        ("max_worker_processes setting", f.max_worker_processes.to_string()),
        ("max_wal_senders setting", f.max_wal_senders.to_string()),
        ("max_prepared_xacts setting", f.max_prepared_xacts.to_string()),
        ("max_locks_per_xact setting", f.max_locks_per_xact.to_string()),
        ("track_commit_timestamp setting", on(f.track_commit_timestamp)),
        ("Maximum data alignment", "8".to_owned()),
        ("Database block size", "8192".to_owned()),
        ("Blocks per segment of large relation", "131072".to_owned()),
        ("WAL block size", "8192".to_owned()),
        ("Bytes per WAL segment", f.wal_segment_size.to_string()),
        ("Maximum length of identifiers", "64".to_owned()),
        ("Maximum columns in an index", "32".to_owned()),
        ("Maximum size of a TOAST chunk", "1996".to_owned()),
        ("Size of a large-object chunk", "2048".to_owned()),
        ("Date/time type storage", "64-bit integers".to_owned()),
        ("Float8 argument passing", "by value".to_owned()),
        ("Data page checksum version", f.data_checksum_version.to_string()),
        ("Mock authentication nonce", nonce),
    ]
}
