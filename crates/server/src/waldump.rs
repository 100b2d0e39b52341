//! `norsu waldump`: prints WAL records or statistics about them in the format of pg_waldump, for
//! machines without PostgreSQL.
//!
//! Counterpart: pg_waldump.c, xlogstats.c.

use crate::call::Call;
use crate::failure::{Failure, Outcome};
use crate::options::{self, AcceptedOption, CommandLine};
use ids::{Fork, Lsn, Oid, RelFile};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use types::zone::Zone;
use vfs::OsDisk;
use vfs::process::{self, Signal};
use wal::layout::{Layout, PageHeader, is_segment_name};
use wal::{DecodedRecord, RmgrId, WalReader, desc};

const OPTIONS: [AcceptedOption; 20] = [
    ('b', "bkp-details", false),
    ('B', "block", true),
    ('e', "end", true),
    ('f', "follow", false),
    ('F', "fork", true),
    ('n', "limit", true),
    ('p', "path", true),
    ('P', "progress", false),
    ('q', "quiet", false),
    ('r', "rmgr", true),
    ('R', "relation", true),
    ('s', "start", true),
    ('t', "timeline", true),
    ('w', "fullpage", false),
    ('x', "xid", true),
    ('z', "stats", false),
    (' ', "stats-by", true),
    ('D', "pgdata", true),
    ('V', "version", false),
    ('?', "help", false),
];

const HELP: &str = "\
{command} decodes and displays write-ahead logs for debugging.

Usage:
  {command} [OPTION]... [STARTSEG [ENDSEG]]

Options:
  -b, --bkp-details      details of page images
  -B, --block=N          with --relation, only records that modify block N
  -e, --end=RECPTR       stop at this location
  -f, --follow           wait for more at the end of the log
  -F, --fork=FORK        only records that modify blocks of the fork (main, fsm, vm, init)
  -n, --limit=N          number of records
  -p, --path=PATH        directory of the segments, or a data directory
  -P, --progress         show progress on stderr
  -q, --quiet            no output but errors
  -r, --rmgr=RMGR        only records of the resource manager; \"list\" lists them
  -R, --relation=T/D/R   only records that modify blocks of the relation
  -s, --start=RECPTR     start at this location
  -t, --timeline=TLI     timeline (default: 1, or that of the last segment named)
  -w, --fullpage         only records with a page image
  -x, --xid=XID          only records of the transaction
  -z, --stats[=record]   statistics instead of records
  -V, --version          show the version, then exit
  -?, --help             show this help, then exit
";

fn usage(message: impl Into<String>) -> Failure {
    Failure::usage(message)
}

/// Runs `norsu waldump` or `pg_waldump`.
pub(crate) fn run(call: &Call<'_>) -> Outcome {
    // Signals are handled by polling, so that statistics can be printed after an interrupt.
    process::block_signals();
    // The option parser does not support optional values.
    let args: Vec<String> = call
        .args
        .iter()
        .map(|a| match a.strip_prefix("--stats=") {
            Some(by) => format!("--stats-by={by}"),
            None => a.clone(),
        })
        .collect();
    let given = options::parse(&args, &OPTIONS, false)?;
    if given.has("help") {
        return call.print_help(HELP);
    }
    if given.has("version") {
        return call.print_version("pg_waldump");
    }
    if given.value("rmgr") == Some("list") {
        RmgrId::ALL.iter().for_each(|r| println!("{}", r.name()));
        return Ok(0);
    }
    if args.is_empty() {
        return Err(usage("no arguments specified"));
    }
    let filter = Filter::of(&given)?;
    let by_record = match given.value("stats-by") {
        None => false,
        Some("record") => true,
        Some(other) => {
            return Err(usage(format!("unrecognized value for option --stats: {other}")));
        }
    };
    let stats = given.has("stats") || given.has("stats-by");
    let limit = match given.value("limit") {
        None => u64::MAX,
        // Zero and negative limits mean no limit, as in pg_waldump.
        Some(n) => match scan(n) {
            Some(n) => u64::try_from(n as i32).ok().filter(|n| *n > 0).unwrap_or(u64::MAX),
            None => return Err(usage(format!("invalid value \"{n}\" for option -n/--limit"))),
        },
    };
    let how = OutputOptions {
        stats: stats.then_some(by_record),
        details: given.has("bkp-details"),
        quiet: given.has("quiet"),
        progress: given.has("progress"),
        follow: given.has("follow"),
        limit,
    };
    let range = Range::of(&given)?;
    dump(&range, &filter, &how)
}

/// The leading number of a text, truncated to 32 bits, as parsed by C's `sscanf`.
fn scan(text: &str) -> Option<u32> {
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let value = digits[..end].parse::<u64>().ok()?.min(u64::from(u32::MAX)) as u32;
    Some(if negative { value.wrapping_neg() } else { value })
}

fn number(text: &str, what: &str) -> Result<u32, Failure> {
    scan(text).ok_or_else(|| usage(format!("invalid {what}: \"{text}\"")))
}

fn location(given: &CommandLine, name: &str) -> Result<Option<Lsn>, Failure> {
    let Some(text) = given.value(name) else { return Ok(None) };
    Lsn::parse(text).map(Some).ok_or_else(|| usage(format!("invalid WAL location: \"{text}\"")))
}

/// Output options.
struct OutputOptions {
    /// Print statistics; per record type if true.
    stats: Option<bool>,
    details: bool,
    quiet: bool,
    progress: bool,
    /// Wait for more WAL at the end.
    follow: bool,
    limit: u64,
}

/// The conditions on displayed records.
#[derive(Default)]
struct Filter {
    managers: Vec<RmgrId>,
    xid: Option<u32>,
    relation: Option<RelFile>,
    block: Option<u32>,
    fork: Option<Fork>,
    image: bool,
}

impl Filter {
    fn of(given: &CommandLine) -> Result<Filter, Failure> {
        let mut filter = Filter { image: given.has("fullpage"), ..Filter::default() };
        for (_, name) in given.options.iter().filter(|(n, _)| *n == "rmgr") {
            let found = RmgrId::ALL.into_iter().find(|r| r.name().eq_ignore_ascii_case(name));
            filter.managers.push(
                found
                    .ok_or_else(|| usage(format!("resource manager \"{name}\" does not exist")))?,
            );
        }
        if let Some(xid) = given.value("xid") {
            filter.xid = Some(number(xid, "transaction ID specification")?);
        }
        if let Some(block) = given.value("block") {
            filter.block = Some(number(block, "block number")?);
        }
        if let Some(text) = given.value("relation") {
            let invalid = || {
                usage(format!("invalid relation specification: \"{text}\""))
                    .detail("Expecting \"tablespace OID/database OID/relation filenode\".")
            };
            let parts: Result<Vec<u32>, _> = text.split('/').map(str::parse).collect();
            let [tablespace, database, relnumber] = parts.map_err(|_| invalid())?[..] else {
                return Err(invalid());
            };
            let [tablespace, database, relnumber] = [tablespace, database, relnumber].map(Oid);
            filter.relation = Some(RelFile { tablespace, database, relnumber });
        }
        if let Some(name) = given.value("fork") {
            let fork = match name {
                "main" => Fork::Main,
                "fsm" => Fork::Fsm,
                "vm" => Fork::Vm,
                "init" => Fork::Init,
                _ => return Err(usage(format!("invalid fork name: \"{name}\""))),
            };
            filter.fork = Some(fork);
        }
        if filter.block.is_some() && filter.relation.is_none() {
            return Err(usage("option -B/--block requires option -R/--relation to be specified"));
        }
        Ok(filter)
    }

    fn matches(&self, record: &DecodedRecord) -> bool {
        let of_manager = |r| self.managers.is_empty() || self.managers.contains(&r);
        if !record.header.rmgr().map_or(self.managers.is_empty(), of_manager) {
            return false;
        }
        if self.xid.is_some_and(|xid| xid != record.header.xid.0) {
            return false;
        }
        let blocks = self.relation.is_some() || self.fork.is_some();
        if blocks {
            let hit = record.blocks().any(|(_, b)| {
                self.relation.is_none_or(|r| r == b.rel)
                    && self.fork.is_none_or(|f| f == b.fork)
                    && self.block.is_none_or(|n| n == b.block.0)
            });
            if !hit {
                return false;
            }
        }
        !self.image || record.blocks().any(|(_, b)| b.image.is_some())
    }
}

/// The WAL range to read.
struct Range {
    directory: String,
    segment_size: u32,
    timeline: u32,
    start: Lsn,
    end: Option<Lsn>,
}

impl Range {
    fn of(given: &CommandLine) -> Result<Range, Failure> {
        let first = given.rest.first().map(String::as_str);
        let mut timeline = match given.value("timeline") {
            Some(text) => number(text, "timeline specification")?,
            None => 1,
        };
        let (mut start, mut end) = (location(given, "start")?, location(given, "end")?);
        if given.rest.len() > 2 {
            let extra = &given.rest[2];
            return Err(usage(format!("too many command-line arguments (first is \"{extra}\")")));
        }
        if let Some(directory) = given.value("path").or(given.value("pgdata"))
            && let Err(e) = std::fs::read_dir(directory)
        {
            let e = e.to_string();
            let reason = e.split(" (os error").next().unwrap_or_default();
            return Err(usage(format!("could not open directory \"{directory}\": {reason}")));
        }
        let (named, first) = match first.and_then(|f| f.rsplit_once('/')) {
            Some((directory, name)) => (Some(directory), Some(name)),
            None => (given.value("path").or(given.value("pgdata")), first),
        };
        let directory = log_directory(named, first)?;
        let example = match first {
            Some(name) => format!("{directory}/{name}"),
            None => any_segment(&directory)?,
        };
        let segment_size = segment_size(&example)?;
        let layout = Layout::new(segment_size);
        if let Some(name) = first {
            let (of, segment) = parse_segment(layout, name)?;
            timeline = of;
            let begin = layout.segment_start(segment);
            let last = match given.rest.get(1) {
                Some(name) => {
                    let name = name.rsplit('/').next().unwrap_or(name);
                    let last;
                    (timeline, last) = parse_segment(layout, name)?;
                    last
                }
                None => segment,
            };
            if last < segment {
                let (first, last) = (name, &given.rest[1]);
                return Err(usage(format!("ENDSEG {last} is before STARTSEG {first}")));
            }
            match start {
                None => start = Some(begin),
                Some(at) if layout.segment_of(at) != segment => {
                    return Err(usage(format!(
                        "start WAL location {at} is not inside file \"{name}\""
                    )));
                }
                Some(_) => {}
            }
            let limit = layout.segment_start(last + 1);
            if let Some(end) = end.filter(|e| layout.segment_of(*e) != last && *e != limit) {
                let name = given.rest.last().map_or("", String::as_str);
                return Err(usage(format!("end WAL location {end} is not inside file \"{name}\"")));
            }
            end = end.or(Some(limit));
        }
        let start = start.ok_or_else(|| usage("no start WAL location given"))?;
        Ok(Range { directory, segment_size, timeline, start, end })
    }
}

fn parse_segment(layout: Layout, name: &str) -> Result<(u32, u64), Failure> {
    layout
        .parse_file_name(name)
        .ok_or_else(|| Failure::new(format!("could not open file \"{name}\"")))
}

/// The directory of the segments: the given one, or its `pg_wal`.
fn log_directory(named: Option<&str>, first: Option<&str>) -> Result<String, Failure> {
    let environment = std::env::var("PGDATA").ok();
    let tried: Vec<String> = match named {
        Some(directory) => vec![directory.to_owned(), format!("{directory}/pg_wal")],
        None => {
            [Some(".".to_owned()), Some("pg_wal".to_owned()), environment.map(|d| d + "/pg_wal")]
                .into_iter()
                .flatten()
                .collect()
        }
    };
    let fits = |directory: &&String| match first {
        Some(name) => Path::new(&format!("{directory}/{name}")).exists(),
        None => any_segment(directory).is_ok(),
    };
    match (tried.iter().find(fits), first) {
        (Some(directory), _) => options::absolute(directory),
        (None, Some(name)) => Err(Failure::new(format!("could not locate WAL file \"{name}\""))),
        (None, None) => Err(Failure::new("could not find any WAL file")),
    }
}

fn any_segment(directory: &str) -> Result<String, Failure> {
    let entries = std::fs::read_dir(directory)
        .map_err(|e| Failure::new(format!("could not open directory \"{directory}\": {e}")))?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
    names.retain(|n| is_segment_name(n));
    names.sort();
    let name = names.first().ok_or_else(|| Failure::new("could not find any WAL file"))?;
    Ok(format!("{directory}/{name}"))
}

/// The segment size, from the first page header of a segment.
fn segment_size(path: &str) -> Result<u32, Failure> {
    let mut header = [0; 40];
    let read = |path: &str, header: &mut [u8]| {
        io::Read::read_exact(&mut std::fs::File::open(path)?, header)
    };
    read(path, &mut header)
        .map_err(|e| Failure::new(format!("could not read file \"{path}\": {e}")))?;
    let size = PageHeader::read(&header).long.map_or(0, |(_, size, _)| size);
    if !size.is_power_of_two() || !(1 << 20..=1 << 30).contains(&size) {
        return Err(Failure::new(format!(
            "WAL segment size must be a power of two between 1 MB and 1 GB, but the WAL \
             file \"{path}\" header specifies {size} bytes"
        )));
    }
    Ok(size)
}

/// Interval between checks for new WAL in follow mode.
const FOLLOW_PAUSE: Duration = Duration::from_secs(1);
/// Number of records between checks for an interrupt.
const RECORDS_PER_INTERRUPT_CHECK: u64 = 1024;

/// Waits for the given time; returns true after an interrupt. Other signals terminate the program
/// at once.
fn interrupted(span: Duration) -> bool {
    match process::wait_signal(span) {
        None => false,
        Some(Signal::Interrupt) => true,
        Some(_) => process::exit_now(1),
    }
}

fn dump(range: &Range, filter: &Filter, how: &OutputOptions) -> Outcome {
    let disk = Arc::new(OsDisk::new(&range.directory));
    let mut reader = WalReader::new(disk, range.segment_size, range.timeline, None);
    reader.read_from_directory("");
    let Some(first) = reader.find_next_record(range.start)? else {
        let why = reader.end_reason();
        return Err(Failure::new(format!(
            "could not find a valid record after {}: {why}",
            range.start
        )));
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    // A closed pipe (a pager that exited) is not an error.
    let check_output = |result: io::Result<()>| match result {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        Err(e) => Err(Failure::new(format!("could not write to stdout: {e}"))),
        Ok(()) => Ok(false),
    };
    let in_header = range.start.0.is_multiple_of(u64::from(range.segment_size));
    if first != range.start && !in_header && !how.quiet {
        let skipped = first.0 - range.start.0;
        let unit = if skipped == 1 { "byte" } else { "bytes" };
        let line = format!(
            "first record is after {}, at {first}, skipping over {skipped} {unit}\n",
            range.start
        );
        check_output(out.write_all(line.as_bytes()))?;
    }
    reader.seek(first);
    let zone = Zone::named(&crate::init::time_zone()).unwrap_or_else(Zone::utc);
    let time = |micros| timestamp(&zone, micros);
    let mut counts = Counts::default();
    let mut progress = how.progress.then(|| Progress::new(first, range.end));
    let (mut shown, mut read) = (0, 0u64);
    let (mut last, mut end) = (first, first);
    let whole = loop {
        if shown >= how.limit || range.end.is_some_and(|end| reader.next_lsn() >= end) {
            break true;
        }
        read += 1;
        if read % RECORDS_PER_INTERRUPT_CHECK == 0 && interrupted(Duration::ZERO) {
            break true;
        }
        let Some(record) = reader.read()? else {
            if !how.follow {
                break false;
            }
            if check_output(out.flush())? {
                return Ok(0);
            }
            if interrupted(FOLLOW_PAUSE) {
                break true;
            }
            continue;
        };
        // A record that extends beyond the end location is not shown.
        if range.end.is_some_and(|end| record.end > end) {
            break true;
        }
        (last, end) = (record.start, record.end);
        if let Some(progress) = &mut progress {
            progress.at(record.end);
        }
        if !filter.matches(record) {
            continue;
        }
        shown += 1;
        match how.stats {
            Some(by_record) => counts.add(record, by_record),
            None if how.quiet => {}
            None => {
                let mut line = desc::line_prefix(record);
                line.push(' ');
                line.push_str(&engine::describe(record, &time));
                if how.details {
                    line.push('\n');
                    line.push_str(&desc::block_lines(record));
                } else {
                    line.push_str(&desc::blocks_inline(record));
                    line.push('\n');
                }
                if check_output(out.write_all(line.as_bytes()))? {
                    return Ok(0);
                }
            }
        }
    };
    if let Some(by_record) = how.stats.filter(|_| !how.quiet) {
        check_output(out.write_all(counts.table(first, end, by_record).as_bytes()))?;
    }
    check_output(out.flush())?;
    if whole {
        return Ok(0);
    }
    Err(Failure::new(format!("error in WAL record at {last}: {}", reader.end_reason())))
}

/// `2024-01-31 12:00:00.123456 CET` for microseconds since 2000-01-01.
fn timestamp(zone: &Zone, micros: i64) -> String {
    let seconds = micros / 1_000_000 + 946_684_800;
    let (east, _, name) = zone.at_unix(seconds);
    let local = seconds + i64::from(east);
    let (days, day) = (local.div_euclid(86_400), local.rem_euclid(86_400));
    let (year, month, date) = crate::log::civil(days);
    let (hour, minute, second) = (day / 3600, day / 60 % 60, day % 60);
    format!(
        "{year}-{month:02}-{date:02} {hour:02}:{minute:02}:{second:02}.{:06} {name}",
        micros % 1_000_000
    )
}

/// Reports the read position once per second.
struct Progress {
    first: Lsn,
    end: Option<Lsn>,
    next: Instant,
}

impl Progress {
    fn new(first: Lsn, end: Option<Lsn>) -> Progress {
        Progress { first, end, next: Instant::now() + Duration::from_secs(1) }
    }

    fn at(&mut self, lsn: Lsn) {
        if Instant::now() < self.next {
            return;
        }
        self.next += Duration::from_secs(1);
        let done = (lsn.0 - self.first.0) / 1024;
        match self.end.map(|end| (end.0 - self.first.0) / 1024) {
            Some(all) => eprintln!("{done}/{all} kB ({}%) read", done * 100 / all.max(1)),
            None => eprintln!("{done} kB read"),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Count {
    records: u64,
    bytes: u64,
    images: u64,
}

/// Counts by resource manager and record type.
#[derive(Default)]
struct Counts(BTreeMap<(u8, u8), Count>);

impl Counts {
    fn add(&mut self, record: &DecodedRecord, by_record: bool) {
        let header = &record.header;
        let mut kind = header.info >> 4;
        // The top bit of a transaction record's info only marks additional data.
        if header.rmgr() == Some(RmgrId::Xact) {
            kind &= 7;
        }
        let count = self.0.entry((header.rmid, if by_record { kind } else { 0 })).or_default();
        let images = desc::image_len(record);
        count.records += 1;
        count.bytes += u64::from(header.total_len - images);
        count.images += u64::from(images);
    }

    fn table(&self, first: Lsn, end: Lsn, by_record: bool) -> String {
        let mut total = Count::default();
        for count in self.0.values() {
            total.records += count.records;
            total.bytes += count.bytes;
            total.images += count.images;
        }
        let mut out = format!("WAL statistics between {first} and {end}:\n");
        let line = |cells: [&str; 9]| {
            let [name, a, b, c, d, e, f, g, h] = cells;
            format!("{name:<27} {a:>20} {b:>8} {c:>20} {d:>8} {e:>20} {f:>8} {g:>20} {h:>8}\n")
        };
        let share = "(%)";
        let heads = ["Record size", "FPI size", "Combined size"];
        out += &line(["Type", "N", share, heads[0], share, heads[1], share, heads[2], share]);
        let rule = |s: &str| "-".repeat(s.len());
        let rules = heads.map(rule);
        out += &line(["----", "-", "---", &rules[0], "---", &rules[1], "---", &rules[2], "---"]);
        let percent = |n: u64, of: u64| if of == 0 { 0.0 } else { n as f64 * 100.0 / of as f64 };
        let mut row = |name: String, count: Count| {
            let sum = count.bytes + count.images;
            out += &format!(
                "{name:<27} {:>20} ({:>6.2}) {:>20} ({:>6.2}) {:>20} ({:>6.2}) {sum:>20} \
                 ({:>6.2})\n",
                count.records,
                percent(count.records, total.records),
                count.bytes,
                percent(count.bytes, total.bytes),
                count.images,
                percent(count.images, total.images),
                percent(sum, total.bytes + total.images),
            );
        };
        if by_record {
            for (&(manager, kind), count) in &self.0 {
                let name = match RmgrId::from_u8(manager) {
                    Some(id) => format!("{}/{}", id.name(), desc::identify(id, kind << 4)),
                    None => format!("custom{manager:03}/UNKNOWN ({:x})", kind << 4),
                };
                row(name, *count);
            }
        } else {
            for id in RmgrId::ALL {
                row(id.name().to_owned(), self.0.get(&(id as u8, 0)).copied().unwrap_or_default());
            }
            for (&(manager, _), count) in
                self.0.iter().filter(|(k, _)| RmgrId::from_u8(k.0).is_none())
            {
                row(format!("custom{manager:03}"), *count);
            }
        }
        let sum = total.bytes + total.images;
        let dashes = "--------";
        out += &format!(
            "{:<27} {dashes:>20} {:>8} {dashes:>20} {:>8} {dashes:>20} {:>8} {dashes:>20}\n",
            "", "", "", ""
        );
        let bracket = |n: u64| format!("[{:.2}%]", percent(n, sum));
        out += &format!(
            "{:<27} {:>20} {:>8} {:>20} {:<9}{:>20} {:<9}{sum:>20} {:<6}\n",
            "Total",
            total.records,
            "",
            total.bytes,
            bracket(total.bytes),
            total.images,
            bracket(total.images),
            "[100%]"
        );
        out
    }
}
