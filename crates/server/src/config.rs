//! Loads settings from configuration files and the command line, and derives the engine's
//! configuration.

use engine::EngineConfig;
use pgerror::{PgError, Severity};
use session::FileSetting;
use settings::conf::{Entry, Files, parse_file};
use settings::{Registry, ServerValues, Source, Value, hba, ident};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use vfs::Env;

/// File access for the configuration parser.
pub(crate) struct OsFiles;

impl Files for OsFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn list(&self, path: &str) -> io::Result<Vec<String>> {
        let entries = std::fs::read_dir(path)?;
        entries.map(|e| e.map(|e| e.file_name().to_string_lossy().into_owned())).collect()
    }
}

/// Minimum memory limit in bytes. Statements could not run with less memory.
const MEMORY_LIMIT_MIN: usize = 64 << 20;

/// The sources of the configuration: directories and command line.
#[derive(Clone)]
pub(crate) struct Origins {
    pub(crate) data: String,
    /// Directory of the configuration files: the data directory, unless `data_directory` names
    /// another one.
    pub(crate) config: String,
    pub(crate) given: Vec<(String, String)>,
}

/// The settings loaded from the files and the command line.
pub(crate) struct Loaded {
    pub(crate) base: ServerValues,
    pub(crate) reports: Vec<PgError>,
    entries: Vec<Entry>,
    /// Invalid entries by index.
    wrong: Vec<(usize, PgError)>,
    faults: Vec<(String, u32, String)>,
    /// A file with an error.
    pub(crate) faulty: Option<String>,
    /// True if no setting may be applied, because a file is unreadable or contains a syntax error
    /// or unknown name.
    pub(crate) unusable: bool,
}

/// Minimum number of WAL buffer pages.
const WAL_BUFFERS_MIN: i64 = 4;

/// The limit of process memory in bytes, without shared buffers: `norsu.memory_limit`, or three
/// quarters of the memory of the machine or container. Thread stacks take address space in
/// addition.
pub(crate) fn memory_limit(base: &ServerValues) -> usize {
    let bytes = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    if let Ok(megabytes) = u64::try_from(base.int("norsu.memory_limit")) {
        return bytes(megabytes << 20).max(MEMORY_LIMIT_MIN);
    }
    let buffers = u64::try_from(base.int("shared_buffers")).unwrap_or(0) * 8192;
    let machine = vfs::MachineMemory::read();
    let resident = machine.resident_max().map(|total| total / 4 * 3);
    let addresses = machine.address_space.map(|total| total / 2);
    match resident.into_iter().chain(addresses).min() {
        Some(total) => bytes(total.saturating_sub(buffers).max(total / 4)).max(MEMORY_LIMIT_MIN),
        None => usize::MAX,
    }
}

/// The data directory: the value of `data_directory` in the configuration of `directory`, else
/// `directory` itself. `given` is the command line.
pub(crate) fn data_directory(
    directory: &str,
    given: &[(String, String)],
) -> Result<String, crate::failure::Failure> {
    let said = |name: &str| {
        let last = given.iter().rev().find(|(n, _)| n.eq_ignore_ascii_case(name));
        last.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
    };
    let file = said("config_file").unwrap_or_else(|| format!("{directory}/postgresql.conf"));
    let written = || {
        let entries = parse_file(&OsFiles, &file).entries;
        let last = entries.iter().rev().find(|e| e.name.eq_ignore_ascii_case("data_directory"));
        last.map(|e| e.value.clone()).filter(|value| !value.is_empty())
    };
    match said("data_directory").or_else(written) {
        Some(other) => crate::options::absolute(&other),
        None => Ok(directory.to_owned()),
    }
}

/// Default of `max_stack_depth` in kB, if the platform allows it, and its minimum.
const STACK_KB_DEFAULT: i64 = 2048;
const STACK_KB_MIN: i64 = 100;

/// Loads the current settings, and collects the errors in the files.
pub(crate) fn load(origins: &Origins) -> Result<Loaded, PgError> {
    let stack = vfs::process::stack_limit();
    let registry = Registry::load().with_stack_limit(stack);
    let mut base = ServerValues::new(Arc::new(registry));
    for (name, value) in &origins.given {
        base.set(name, value, Source::CommandLine)?;
    }
    let data = &origins.data;
    let beside = |name: &str| format!("{}/{name}", origins.config);
    let config = match base.text("config_file") {
        "" => beside("postgresql.conf"),
        path => path.to_owned(),
    };
    let mut parsed = parse_file(&OsFiles, &config);
    let auto = format!("{data}/postgresql.auto.conf");
    if std::fs::metadata(&auto).is_ok() {
        let more = parse_file(&OsFiles, &auto);
        parsed.errors.extend(more.errors);
        parsed.entries.extend(more.entries);
        parsed.error_lines.extend(more.error_lines);
    }
    let mut reports = parsed.errors;
    let entries = parsed.entries;
    let mut wrong = base.apply_file(&entries);
    wrong.extend(canonicalize(&mut base, &entries)?);
    let unknown = |e: &PgError| e.code() == pgerror::SqlState::UNDEFINED_OBJECT;
    let unusable = !parsed.error_lines.is_empty() || wrong.iter().any(|(_, e)| unknown(e));
    let faulty = match (parsed.error_lines.first(), wrong.first()) {
        // PostgreSQL reports this file by its base name.
        (Some((file, ..)), _) if *file == auto => Some("postgresql.auto.conf".to_owned()),
        (Some((file, ..)), _) => Some(file.clone()),
        (None, Some((i, _))) => Some(entries[*i].file.to_string()),
        (None, None) => None,
    };
    reports.extend(wrong.iter().map(|(_, e)| e.clone()));
    for entry in &entries {
        if let Some((name, value)) = base.registry.replacement_of(&entry.name, &entry.value) {
            reports.push(
                PgError::new(
                    pgerror::SqlState::WARNING_DEPRECATED_FEATURE,
                    format!(
                        "parameter \"{}\" in file \"{}\" line {} has been retired; \"{name}\" is \
                         set to {value}",
                        entry.name, entry.file, entry.line
                    ),
                )
                .severity(Severity::Warning),
            );
        }
    }
    base.set_internal("config_file", Value::Text(config.into()));
    base.set_internal("data_directory", Value::Text(data.as_str().into()));
    for (name, file) in [("hba_file", "pg_hba.conf"), ("ident_file", "pg_ident.conf")] {
        match base.text(name) {
            "" => base.set_internal(name, Value::Text(beside(file).into())),
            // The path is made absolute, because the server changes to its data directory.
            path => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
                let id = base.registry.get(name)?;
                base.rewrite(id, &path.to_string_lossy());
            }
        }
    }
    let id = base.registry.get("max_stack_depth")?;
    if base.origin(id).source == Source::Default {
        let kb = stack.unwrap_or(i64::MAX).min(STACK_KB_DEFAULT);
        base.set_dynamic_default("max_stack_depth", Value::Int(kb.max(STACK_KB_MIN)));
    }
    if base.text("timezone_abbreviations").is_empty() {
        base.set_dynamic_default("timezone_abbreviations", Value::Text("Default".into()));
    }
    if base.int("wal_buffers") == -1 {
        // 1/32 of shared buffers, between 64 kB and one segment.
        let pages = (base.int("shared_buffers") / 32).clamp(8, 2048);
        base.set_dynamic_default("wal_buffers", Value::Int(pages));
    } else if base.int("wal_buffers") < WAL_BUFFERS_MIN {
        let id = base.registry.get("wal_buffers")?;
        base.correct(id, Value::Int(WAL_BUFFERS_MIN));
    }
    Ok(Loaded { base, reports, entries, wrong, faults: parsed.error_lines, faulty, unusable })
}

/// Checks values that need more than syntax and range checks, and converts them to canonical form.
fn canonicalize(
    base: &mut ServerValues,
    entries: &[Entry],
) -> Result<Vec<(usize, PgError)>, PgError> {
    let mut wrong = Vec::new();
    for name in [
        "DateStyle",
        "TimeZone",
        "log_timezone",
        "application_name",
        "search_path",
        "wal_consistency_checking",
        "client_encoding",
        "timezone_abbreviations",
    ]
    .into_iter()
    .chain(settings::LOCALES)
    {
        let id = base.registry.get(name)?;
        if base.origin(id).source == Source::Default {
            continue;
        }
        let text = base.text(name).to_owned();
        match session::canonical_value("ISO, MDY", base.registry.setting(id), &text) {
            Ok(new) => base.rewrite(id, &new),
            Err(e) if base.origin(id).source == Source::File => {
                base.reset_invalid(id);
                let at = entries.iter().rposition(|e| e.name.eq_ignore_ascii_case(name));
                wrong.push((at.unwrap_or(0), e.severity(Severity::Log)));
            }
            Err(e) => return Err(e),
        }
    }
    Ok(wrong)
}

impl Loaded {
    /// The rows of `pg_file_settings`, compared with the current values.
    pub(crate) fn rows(&self, current: &ServerValues) -> Vec<FileSetting> {
        let registry = &current.registry;
        let mut rows: Vec<FileSetting> = self
            .faults
            .iter()
            .map(|(file, line, error)| FileSetting {
                file: file.clone(),
                line: *line,
                name: None,
                value: None,
                applied: false,
                error: Some(error.clone()),
            })
            .collect();
        for (i, entry) in self.entries.iter().enumerate() {
            let wrong = self.wrong.iter().find(|(at, _)| *at == i).map(|(_, e)| e);
            let error = match (wrong, registry.find(&entry.name)) {
                (Some(e), _) if e.code() == pgerror::SqlState::UNDEFINED_OBJECT => {
                    Some("unrecognized configuration parameter")
                }
                (Some(_), _) => Some("setting could not be applied"),
                (None, Some(id))
                    if registry.setting(id).context == settings::Context::Postmaster
                        && current.origin(id).value != self.base.origin(id).value
                        && !settings::is_overridden(&self.entries, i) =>
                {
                    Some("setting could not be applied")
                }
                _ => None,
            };
            let overridden = settings::is_overridden(&self.entries, i);
            rows.push(FileSetting {
                file: entry.file.to_string(),
                line: entry.line,
                name: Some(entry.name.clone()),
                value: Some(entry.value.clone()),
                applied: error.is_none() && !overridden && !self.unusable,
                error: error.map(str::to_owned),
            });
        }
        rows
    }
}

/// The contents of an authentication file and a reader of the files it includes. `what` names the
/// file in error messages.
pub(crate) fn auth_file(
    path: &str,
    what: &str,
) -> Result<(String, impl Fn(&str) -> Option<String>), PgError> {
    let text = std::fs::read(path).map_err(|e| {
        let reason = e.to_string();
        let reason = reason.split(" (os error").next().unwrap_or_default();
        PgError::new(
            pgerror::SqlState::CONFIG_FILE_ERROR,
            format!("could not open {what} file \"{path}\": {reason}"),
        )
        .severity(Severity::Log)
    })?;
    let directory = path.rsplit_once('/').map_or("", |(d, _)| d).to_owned();
    let include = move |name: &str| {
        let path =
            if name.starts_with('/') { name.to_owned() } else { format!("{directory}/{name}") };
        std::fs::read_to_string(path).ok()
    };
    Ok((String::from_utf8_lossy(&text).into_owned(), include))
}

/// Loads the rules of `pg_hba.conf`. Reports for the log are passed to `report`.
pub(crate) fn load_hba(
    base: &ServerValues,
    report: &mut dyn FnMut(&PgError),
) -> Result<hba::Rules, Vec<PgError>> {
    let path = base.text("hba_file");
    let (text, include) = auth_file(path, "configuration").map_err(|e| vec![e])?;
    let rules = hba::parse(path, &text, &include)?;
    if !base.bool("ssl") {
        rules.without_ssl(path).for_each(|unmatched| report(&unmatched));
    }
    Ok(rules)
}

/// Loads the maps of `pg_ident.conf`.
pub(crate) fn load_ident(base: &ServerValues) -> Result<ident::Maps, Vec<PgError>> {
    let path = base.text("ident_file");
    let (text, include) = auth_file(path, "usermap").map_err(|e| vec![e])?;
    ident::parse(path, &text, &include)
}

/// The WAL is decoded by one thread, which limits the useful number of redo workers.
const REDO_WORKERS_DEFAULT_MAX: usize = 4;

/// The engine's configuration derived from the settings.
pub(crate) fn engine_config(
    base: &ServerValues,
    env: Env,
    log: engine::LogSink,
    on_panic: Arc<dyn Fn(&PgError) + Send + Sync>,
) -> EngineConfig {
    let millis = |name: &str| Duration::from_millis(u64::try_from(base.int(name)).unwrap_or(0));
    let seconds = |name: &str| Duration::from_secs(u64::try_from(base.int(name)).unwrap_or(0));
    let megabytes = |name: &str| u64::try_from(base.int(name)).unwrap_or(0) << 20;
    let count = |name: &str| u32::try_from(base.int(name)).unwrap_or(0);
    let mut config = EngineConfig::new(env);
    config.shared_buffers = base.int("shared_buffers") as usize;
    config.wal.buffers = base.int("wal_buffers") as usize;
    config.wal.level = match base.text("wal_level") {
        "minimal" => wal::WalLevel::Minimal,
        "logical" => wal::WalLevel::Logical,
        _ => wal::WalLevel::Replica,
    };
    config.wal.sync_method = match base.text("wal_sync_method") {
        "fsync" | "fsync_writethrough" => wal::SyncMethod::Fsync,
        "open_datasync" | "open_sync" => wal::SyncMethod::OpenDatasync,
        _ => wal::SyncMethod::Fdatasync,
    };
    config.wal.fsync = base.bool("fsync");
    config.wal.track_io_timing = base.bool("track_wal_io_timing");
    config.wal.full_page_writes = base.bool("full_page_writes");
    config.wal.compression = match base.text("wal_compression") {
        "off" => wal::Compression::Off,
        "lz4" => wal::Compression::Lz4,
        "zstd" => wal::Compression::Zstd,
        _ => wal::Compression::Pglz,
    };
    config.wal.consistency_checking = wal::RmgrId::mask(base.text("wal_consistency_checking"));
    config.wal.min_wal_size = megabytes("min_wal_size");
    config.wal.max_wal_size = megabytes("max_wal_size");
    config.wal.wal_keep_size = megabytes("wal_keep_size");
    config.wal.init_zero = base.bool("wal_init_zero");
    config.wal.recycle = base.bool("wal_recycle");
    config.wal.writer_delay = millis("wal_writer_delay");
    config.wal.writer_flush_after = count("wal_writer_flush_after");
    config.wal_log_hints = base.bool("wal_log_hints");
    config.background.checkpoint_timeout = seconds("checkpoint_timeout");
    config.background.checkpoint_completion_target = base.real("checkpoint_completion_target");
    config.background.checkpoint_warning = seconds("checkpoint_warning");
    config.background.checkpoint_flush_after = count("checkpoint_flush_after");
    config.background.bgwriter_flush_after = count("bgwriter_flush_after");
    config.background.log_checkpoints = base.bool("log_checkpoints");
    config.background.bgwriter_delay = millis("bgwriter_delay");
    config.background.bgwriter_lru_maxpages = base.int("bgwriter_lru_maxpages") as usize;
    config.background.bgwriter_lru_multiplier = base.real("bgwriter_lru_multiplier");
    config.log_startup_progress_interval = millis("log_startup_progress_interval");
    config.max_connections = count("max_connections");
    config.max_worker_processes = count("max_worker_processes");
    config.max_wal_senders = count("max_wal_senders");
    config.max_prepared_xacts = count("max_prepared_transactions");
    config.max_locks_per_xact = count("max_locks_per_transaction");
    config.archiving = base.text("archive_mode") != "off";
    config.track_commit_timestamp = base.bool("track_commit_timestamp");
    config.zero_damaged_pages = base.bool("zero_damaged_pages");
    config.ignore_checksum_failure = base.bool("ignore_checksum_failure");
    config.ignore_invalid_pages = base.bool("ignore_invalid_pages");
    config.scan_rings = base.bool("norsu.scan_rings");
    config.redo_workers = match base.int("norsu.redo_workers") {
        // The decoding thread is not counted, because it needs much less time.
        -1 if sync::cores() > 1 => sync::cores().min(REDO_WORKERS_DEFAULT_MAX),
        n => usize::try_from(n).unwrap_or(0),
    };
    let limit = vfs::process::raise_open_files();
    let sessions = u64::from(config.max_connections);
    let files = limit.saturating_sub(sessions + 64).clamp(64, 100_000);
    config.open_files_max = (files as usize).min(base.int("max_files_per_process") as usize);
    // A connection that is about to be refused needs a slot too.
    config.txn.slots = (config.max_connections + config.max_worker_processes + 32) as usize;
    config.txn.autovacuum_freeze_max_age = count("autovacuum_freeze_max_age");
    config.txn.autovacuum_multixact_freeze_max_age = count("autovacuum_multixact_freeze_max_age");
    config.log = log;
    config.on_panic = on_panic;
    config
}
