//! Start-up, operation and shutdown of a server.
//!
//! Counterpart: postmaster.c.

mod arguments;

use crate::call::Call;
use crate::config::{self, Origins};
use crate::failure::{Failure, Outcome};
use crate::listen;
use crate::lockfile::{self, LockFile};
use crate::log::StderrLog;
use crate::notify;
use crate::options;
use crate::reload::{ServerFiles, reload};
use crate::threads::{ConnectionGate, Threads};
use crate::tls;
use crate::user;
use crate::workers::Workers;
use engine::Engine;
use pgerror::{PgError, Severity, SqlState};
use session::{Admission, Config, Instance, Log, LogOrigin, TlsAcceptor};
use settings::{Registry, ServerValues, Value};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use sync::atomic::{AtomicBool, Ordering};
use vfs::Env;
use vfs::process::{self, Signal};
use wal::control::{CONTROL_FILE, ControlFile};

pub(crate) use arguments::OPTIONS;

/// Unit of `shared_buffers` in bytes.
const BLOCK_BYTES: u64 = 8192;

/// Line numbers in `postmaster.pid`, from 0.
const LINE_SOCKET: usize = 4;
const LINE_ADDRESS: usize = 5;
const LINE_STATUS: usize = 7;

/// The checked configuration of a data directory.
pub(crate) struct Prepared {
    pub(crate) origins: Origins,
    pub(crate) base: ServerValues,
    pub(crate) log: Arc<StderrLog>,
}

/// Runs `norsu start` or `postgres`.
pub(crate) fn run(call: &Call<'_>) -> Outcome {
    match call.args.first().map(String::as_str) {
        Some("--single") => return crate::single::run(call),
        Some(mode @ ("--boot" | "--check" | "--forkboot")) => {
            return Err(Failure::usage(format!(
                "{mode} is not supported: init creates the catalogs"
            )));
        }
        _ => {}
    }
    let given = options::parse(call.args, &arguments::OPTIONS, true)?;
    if given.has("help") {
        return call.print_help(arguments::HELP);
    }
    if given.has("version") {
        return call.print_version("postgres");
    }
    if given.has("describe-config") {
        arguments::describe(&Registry::load());
        return Ok(0);
    }
    if let Some(extra) = given.rest.first() {
        return Err(Failure::usage(format!("invalid argument: \"{extra}\"")));
    }
    if let Some(name) = given.value("show") {
        return show(call, &given, name);
    }
    refuse_root(call)?;
    let Prepared { origins, base, log } = prepare(call, &given)?;
    serve(&origins, base, &log, call)
}

/// PostgreSQL's server does not run as root.
pub(crate) fn refuse_root(call: &Call<'_>) -> Result<(), Failure> {
    if call.is_by_name() && process::effective_user() == 0 {
        return Err(Failure::bare(
            "\"root\" execution of the PostgreSQL server is not permitted.\n\
             The server must be started under an unprivileged user ID to prevent\n\
             possible system security compromise.  See the documentation for\n\
             more information on how to properly start the server.",
        ));
    }
    Ok(())
}

/// `postgres -C NAME`: prints the value of a parameter.
fn show(call: &Call<'_>, given: &options::CommandLine, name: &str) -> Outcome {
    let (origins, config::Loaded { mut base, .. }) = load(call, given)?;
    // Properties of the data directory are known without a running server.
    if let Some(control) = control_file(&origins.data) {
        let checksums = control.data_checksum_version != 0;
        base.set_dynamic_default("data_checksums", Value::Bool(checksums));
        base.set_dynamic_default("wal_segment_size", Value::Int(control.wal_segment_size.into()));
    }
    let id = base.registry.get(name).map_err(refuse_early)?;
    println!("{}", base.registry.setting(id).plain(&base.origin(id).value));
    Ok(0)
}

/// The directory of the configuration files, and the data directory.
fn directories(
    call: &Call<'_>,
    given: &options::CommandLine,
    settings: &[(String, String)],
) -> Result<(String, String), Failure> {
    if let Some(config) = options::data_directory(given.value("pgdata"))? {
        let data = config::data_directory(&config, settings)?;
        if let Err(e) = std::fs::metadata(&config)
            && config == data
        {
            let command = if call.is_by_name() { "initdb or pg_basebackup" } else { "norsu init" };
            let reason = listen::reason(&e);
            return Err(Failure::new(format!("could not access directory \"{config}\": {reason}"))
                .hint(format!("Run {command} to initialize a PostgreSQL data directory."))
                .status(2));
        }
        return Ok((config, data));
    }
    let name = call.name;
    let Some((_, file)) = settings.iter().rev().find(|(n, _)| n == "config_file") else {
        return Err(Failure::bare(format!(
            "{name} does not know where to find the server configuration file.\nYou must specify \
             the --config-file or -D invocation option or set the PGDATA environment variable."
        ))
        .status(2));
    };
    check_config_file(file)?;
    let data = config::data_directory("", settings)?;
    if data.is_empty() {
        return Err(Failure::bare(format!(
            "{name} does not know where to find the database system data.\nThis can be specified \
             as \"data_directory\" in \"{file}\", or by the -D invocation option, or by the PGDATA \
             environment variable."
        ))
        .status(2));
    }
    Ok((data.clone(), data))
}

fn check_config_file(file: &str) -> Result<(), Failure> {
    match std::fs::metadata(file) {
        Err(e) if e.kind() == ErrorKind::NotFound => Err(Failure::new(format!(
            "could not access the server configuration file \"{file}\": No such file or directory"
        ))
        .status(2)),
        _ => Ok(()),
    }
}

fn load(
    call: &Call<'_>,
    given: &options::CommandLine,
) -> Result<(Origins, config::Loaded), Failure> {
    let settings = arguments::settings(given).map_err(|wrong| match wrong {
        arguments::Wrong::Setting(e) => refuse_early(e),
        arguments::Wrong::Argument(e) => e,
    })?;
    let (config, data) = directories(call, given, &settings)?;
    user::become_owner(&data)?;
    let origins = Origins { data, config, given: settings };
    let mut loaded = config::load(&origins).map_err(refuse_early)?;
    check_config_file(loaded.base.text("config_file"))?;
    let mode = check_directory(&origins.data)?;
    loaded.base.set_dynamic_default("data_directory_mode", Value::Int(mode.into()));
    Ok((origins, loaded))
}

/// Checks the directory without changing it, and loads its configuration.
pub(crate) fn prepare(call: &Call<'_>, given: &options::CommandLine) -> Result<Prepared, Failure> {
    let (origins, config::Loaded { base, reports, faulty, .. }) = load(call, given)?;
    let log = Arc::new(StderrLog::new(&base, Env::os(&origins.data).clock));
    for report in &reports {
        log.write(&LogOrigin::default(), report, None);
    }
    if let Some(file) = faulty {
        let message = format!("configuration file \"{file}\" contains errors");
        return Err(refuse(&*log, PgError::new(SqlState::CONFIG_FILE_ERROR, message)));
    }
    let data = &origins.data;
    let version = std::fs::read(format!("{data}/PG_VERSION"));
    engine::version::check_version(data, version, crate::version::SERVER_VERSION)
        .map_err(|e| refuse(&*log, e))?;
    let control = format!("{data}/{CONTROL_FILE}");
    if let Err(e) = std::fs::File::open(&control) {
        let reason = e.to_string();
        let reason = reason.split(" (os error").next().unwrap_or_default();
        let message = format!(
            "could not find the database system\nExpected to find it in the directory \"{data}\",\n\
             but could not open file \"{control}\": {reason}"
        );
        return Err(Failure::new(message).status(2));
    }
    let (reserved, all) = (base.int("superuser_reserved_connections"), base.int("max_connections"));
    if reserved >= all {
        return Err(Failure::new(format!(
            "superuser_reserved_connections ({reserved}) must be less than max_connections ({all})"
        )));
    }
    check_combinations(&base).map_err(|e| refuse(&*log, e))?;
    check_resources(&base).map_err(|e| refuse(&*log, e))?;
    warn_of_root(&*log);
    Ok(Prepared { origins, base, log })
}

/// A server that is started as root on a directory of root remains root.
fn warn_of_root(log: &dyn Log) {
    if process::effective_user() == 0 {
        let report = PgError::new(SqlState::WARNING, "the server is running as root")
            .severity(Severity::Warning)
            .detail("COPY and functions can access all files of this machine.")
            .hint(
                "Give the data directory to a user without privileges: the server then runs as \
                 that user.",
            );
        log.write(&LogOrigin::default(), &report, None);
    }
}

/// Rejects invalid combinations of settings. Counterpart: `PostmasterMain`.
fn check_combinations(base: &ServerValues) -> pgerror::Result<()> {
    let wrong = |what: &str| Err(PgError::new(SqlState::INTERNAL_ERROR, what));
    if base.text("wal_level") != "minimal" {
        return Ok(());
    }
    if base.text("archive_mode") != "off" {
        return wrong("WAL archival cannot be enabled when wal_level is \"minimal\"");
    }
    if base.int("max_wal_senders") > 0 {
        return wrong(
            "WAL streaming (max_wal_senders > 0) requires wal_level \"replica\" or \"logical\"",
        );
    }
    Ok(())
}

/// Rejects settings that need unavailable resources: libraries and memory.
fn check_resources(base: &ServerValues) -> pgerror::Result<()> {
    let mut names = settings::words(base.text("shared_preload_libraries"));
    if let Some(name) = names.find(|name| !session::is_library(name)) {
        return Err(session::no_library(name)
            .hint("Remove it from \"shared_preload_libraries\": this server loads no libraries."));
    }
    let wanted = u64::try_from(base.int("shared_buffers")).unwrap_or(0) * BLOCK_BYTES;
    match vfs::MachineMemory::read().resident_max() {
        Some(there) if wanted > there => Err(pgerror::pg_err!(
            OUT_OF_MEMORY,
            "\"shared_buffers\" asks for {} MB, but the server has {} MB of memory",
            wanted >> 20,
            there >> 20
        )
        .hint("Reduce \"shared_buffers\"; a quarter of the memory is a usual value.")),
        _ => Ok(()),
    }
}

/// Collects statistics of statements, if the configuration names their library.
fn load_statements(instance: &Instance, log: &dyn Log) -> Option<Arc<statements::Registry>> {
    let base = instance.base();
    let mut names = settings::words(base.text("shared_preload_libraries"));
    names.find(|name| *name == "pg_stat_statements")?;
    let max = usize::try_from(base.int("pg_stat_statements.max")).unwrap_or(0).max(1);
    let registry = statements::Registry::new(max, instance.started);
    let disk = &*instance.engine.env().disk;
    if base.bool("pg_stat_statements.save") && !statements::load(&registry, disk) {
        note(log, "ignoring invalid data in file \"pg_stat/pg_stat_statements.stat\"");
    }
    instance.collect_statements(registry.clone());
    Some(registry)
}

/// Keeps the statistics of statements for the next start. If that fails, it begins without them.
fn save_statements(instance: &Instance, registry: Option<&statements::Registry>) {
    let Some(registry) = registry else { return };
    if instance.base().bool("pg_stat_statements.save") {
        let _ = statements::save(registry, &*instance.engine.env().disk);
    }
}

/// The decoded control file, if it is valid.
fn control_file(data: &str) -> Option<ControlFile> {
    ControlFile::decode(&std::fs::read(format!("{data}/{CONTROL_FILE}")).ok()?).ok()
}

/// Checks owner and permissions of the directory. Returns the permissions of directories of new
/// files.
fn check_directory(data: &str) -> Result<u32, Failure> {
    let meta = std::fs::metadata(data).map_err(|e| {
        if e.kind() == std::io::ErrorKind::NotFound {
            Failure::new(format!("data directory \"{data}\" does not exist"))
        } else {
            Failure::new(format!("could not read permissions of directory \"{data}\": {e}"))
        }
    })?;
    if !meta.is_dir() {
        return Err(Failure::new(format!(
            "specified data directory \"{data}\" is not a directory"
        )));
    }
    if meta.uid() != process::effective_user() {
        let wrong = format!("data directory \"{data}\" has wrong ownership");
        return Err(refuse_early(
            PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, wrong)
                .hint("The server must be started by the user that owns the data directory."),
        ));
    }
    if meta.mode() & 0o027 != 0 {
        let wrong = format!("data directory \"{data}\" has invalid permissions");
        return Err(refuse_early(
            PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, wrong)
                .detail("Permissions should be u=rwx (0700) or u=rwx,g=rx (0750)."),
        ));
    }
    process::set_umask(meta.mode() & 0o040 != 0);
    Ok(meta.mode() & 0o777)
}

/// Checks that the control file is valid and its segment size is compatible with the settings. Done
/// before anything in the directory is changed.
fn check_control(data: &str, base: &ServerValues) -> pgerror::Result<()> {
    let bytes = std::fs::read(format!("{data}/{CONTROL_FILE}")).map_err(|e| {
        // Reading a directory fails in another step in PostgreSQL, which opens the file for
        // writing.
        let step = if e.kind() == ErrorKind::IsADirectory { "open file" } else { "read file" };
        vfs::io_error(step, CONTROL_FILE, &e).severity(Severity::Panic)
    })?;
    let segment = i64::from(ControlFile::decode(&bytes)?.wal_segment_size);
    for name in ["min_wal_size", "max_wal_size"] {
        // In megabytes; a partial segment does not count.
        if (base.int(name) << 20) / segment < 2 {
            return Err(PgError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("\"{name}\" must be at least twice \"wal_segment_size\""),
            ));
        }
    }
    Ok(())
}

/// Logs the reason why the server does not start.
pub(crate) fn refuse(log: &dyn Log, error: PgError) -> Failure {
    let error = match error.fields().severity < Severity::Fatal {
        true => error.severity(Severity::Fatal),
        false => error,
    };
    log.write(&LogOrigin::default(), &error, None);
    Failure::logged()
}

/// As [`refuse`], before the log settings are known.
fn refuse_early(error: PgError) -> Failure {
    let clock = Env::os(".").clock;
    refuse(&StderrLog::new(&ServerValues::new(Arc::new(Registry::load())), clock), error)
}

/// As [`refuse`], after start-up has begun.
fn fail_startup(log: &dyn Log, error: PgError) -> Failure {
    let failure = refuse(log, error);
    note(log, "database system is shut down");
    failure
}

pub(crate) fn note(log: &dyn Log, message: &str) {
    let report = PgError::new(SqlState::SUCCESSFUL_COMPLETION, message).severity(Severity::Log);
    log.write(&LogOrigin::default(), &report, None);
}

/// Environment variable of a server restarted in place: times of its crashes, in seconds since
/// 1970-01-01.
const CRASHES: &str = "NORSU_CRASHES";
/// Maximum number of crashes within the time span. More are attributed to the data: another restart
/// would crash again.
const CRASHES_MAX: usize = 5;
const CRASHES_SPAN_SECONDS: i64 = 300;

/// The recent crash times including `now`, for the next start; `None` if there are too many.
fn crashes_so_far(before: &str, now: i64) -> Option<String> {
    let mut crashes: Vec<i64> = before.split(',').filter_map(|time| time.parse().ok()).collect();
    crashes.push(now);
    crashes.retain(|time| (0..CRASHES_SPAN_SECONDS).contains(&(now - time)));
    let shown: Vec<String> = crashes.iter().map(i64::to_string).collect();
    (crashes.len() < CRASHES_MAX).then(|| shown.join(","))
}

/// Handles a PANIC: the program is re-executed, which starts recovery, or exits. It also exits if
/// recovery itself failed, since the next attempt would fail too.
fn panic_handler(
    log: &Arc<StderrLog>,
    restart: bool,
    ready: &Arc<AtomicBool>,
    instance: &Arc<OnceLock<Weak<Instance>>>,
    all: &[String],
) -> Arc<dyn Fn(&PgError) + Send + Sync> {
    let (log, args, ready) = (log.clone(), all.to_vec(), ready.clone());
    let instance = instance.clone();
    let once = sync::Mutex::new(());
    let before = std::env::var(CRASHES).unwrap_or_default();
    Arc::new(move |error| {
        // The first caller ends the process; other threads block here.
        let _first = once.lock();
        match instance.get().and_then(Weak::upgrade) {
            Some(instance) => {
                let (origin, statement) = instance.log_origin_of_thread();
                log.write(&origin, error, statement.as_deref());
                instance.report_crash(error);
            }
            None => log.write(&LogOrigin { kind: "startup", ..LogOrigin::default() }, error, None),
        }
        if !ready.load(Ordering::Acquire) {
            note(&*log, "aborting startup due to startup process failure");
        } else if !restart {
            note(&*log, "shutting down because restart_after_crash is off");
        } else if let Some(crashes) = crashes_so_far(&before, log.now()) {
            note(&*log, "all server processes terminated; reinitializing");
            let mut command = std::process::Command::new("/proc/self/exe");
            if let Some((program, rest)) = args.split_first() {
                command.arg0(program).args(rest);
            }
            command.env(CRASHES, crashes);
            let failed = command.exec();
            note(&*log, &format!("could not restart: {failed}"));
        } else {
            let message = format!(
                "not restarting: the server has crashed {CRASHES_MAX} times within \
                 {CRASHES_SPAN_SECONDS} seconds"
            );
            note(&*log, &message);
        }
        note(&*log, "database system is shut down");
        process::exit_now(1);
    })
}

fn serve(
    origins: &Origins,
    mut base: ServerValues,
    log: &Arc<StderrLog>,
    call: &Call<'_>,
) -> Outcome {
    process::block_signals();
    let data = &origins.data;
    let env = Env::os(data);
    let start = env.clock.unix_seconds();
    let port = base.int("port").to_string();
    let lines = vec![std::process::id().to_string(), data.clone(), start.to_string(), port];
    let mut lock =
        LockFile::create(format!("{data}/postmaster.pid"), lines).map_err(|e| refuse(&**log, e))?;
    check_control(data, &base).map_err(|e| fail_startup(&**log, e))?;
    lockfile::check_shared_memory(data).map_err(|e| refuse(&**log, e))?;
    let tls = load_tls(&base, data, log)?;
    let mut report = |r: &PgError| log.write(&LogOrigin::default(), r, None);
    let hba = config::load_hba(&base, &mut report).map_err(|errors| {
        for e in &errors {
            log.write(&LogOrigin::default(), e, None);
        }
        fail_startup(&**log, PgError::internal("could not load pg_hba.conf"))
    })?;
    let ident = config::load_ident(&base).map(Arc::new).unwrap_or_else(|errors| {
        for e in &errors {
            log.write(&LogOrigin::default(), e, None);
        }
        Arc::default()
    });
    note(&**log, &format!("starting norsu (PostgreSQL {})", crate::version::SERVER_VERSION));
    let listeners = listen::open(&base, data, start)?;
    for line in &listeners.lines {
        note(&**log, line);
    }
    write_options(data, call).map_err(|e| {
        log.write(&LogOrigin::default(), &e, None);
        Failure::logged()
    })?;
    let pid_file = PidFile::create(base.text("external_pid_file"), &**log);
    lock.set(LINE_SOCKET, &listeners.first_directory);
    lock.set(LINE_ADDRESS, &listeners.first_address);
    lock.set(LINE_STATUS, "starting");

    let ready = Arc::new(AtomicBool::new(false));
    let restart = base.bool("restart_after_crash");
    let known = Arc::new(OnceLock::new());
    let on_panic = panic_handler(log, restart, &ready, &known, call.all);
    let handler = on_panic.clone();
    let sink: engine::LogSink = {
        let log = log.clone();
        Arc::new(move |report| log.write(&LogOrigin::default(), report, None))
    };
    let kept = listeners;
    let gate = Arc::new(ConnectionGate::new(tls.clone()));
    for listener in &kept.listeners {
        let (listener, gate) = (listener.clone(), gate.clone());
        sync::spawn_with_stack("listener", 256 << 10, move || accept(&listener, &gate))
            .map_err(|e| Failure::new(format!("could not start a listener: {e}")))?;
    }
    let engine_config =
        move |base: &_| config::engine_config(base, env.clone(), sink.clone(), on_panic.clone());
    sync::memory::set_limit(config::memory_limit(&base));
    let engine = Engine::open(engine_config(&base)).map_err(|e| fail_startup(&**log, e))?;
    // Sessions need it for every lookup, and replay may have rewritten it.
    engine.relmaps().load(engine::relmap::SHARED).map_err(|e| fail_startup(&**log, e))?;
    let (checksums, segment_size) = engine.creation_options();
    base.set_dynamic_default("data_checksums", Value::Bool(checksums));
    base.set_dynamic_default("wal_segment_size", Value::Int(segment_size.into()));
    let config = Config { base: Arc::new(base), hba: Arc::new(hba), ident };
    let instance = Instance::new(engine.clone(), config, log.clone());
    let _ = known.set(Arc::downgrade(&instance));
    let statements = load_statements(&instance, &**log);
    let workers = Workers::start(&instance, &handler)
        .map_err(|e| Failure::new(format!("could not start background workers: {e}")))?;
    instance.set_tls(tls);
    let files = ServerFiles { origins: origins.clone(), instance: Arc::downgrade(&instance) };
    instance.set_files(Arc::new(files));
    instance.set_admission(Admission::Open);
    gate.open(Threads::new(instance.clone()));
    ready.store(true, Ordering::Release);
    note(&**log, "database system is ready to accept connections");
    lock.set(LINE_STATUS, "ready   ");
    notify::send("READY=1");

    let immediate = handle_signals(&instance, log, &mut lock, &|| {
        reload(origins, &instance, log, &engine_config);
    });
    notify::send("STOPPING=1");
    if !immediate {
        instance.engine.announce_shutdown();
        workers.stop();
        save_statements(&instance, statements.as_deref());
        engine.shutdown()?;
    }
    // The port must be free when the data directory is unlocked.
    for listener in &kept.listeners {
        listener.close();
    }
    drop(kept);
    drop(pid_file);
    drop(lock);
    // Idle threads of sessions and listeners need no cleanup.
    process::exit_now(0)
}

/// The acceptor of encrypted connections, if `ssl` is on.
fn load_tls(
    base: &ServerValues,
    data: &str,
    log: &Arc<StderrLog>,
) -> Result<Option<Arc<dyn TlsAcceptor>>, Failure> {
    if !base.bool("ssl") {
        return Ok(None);
    }
    let mut reports = Vec::new();
    let loaded = tls::load(base, data, &mut reports);
    reports.iter().for_each(|r| log.write(&LogOrigin::default(), r, None));
    loaded.map(|acceptor| Some(acceptor as _)).map_err(|e| fail_startup(&**log, e))
}

/// `external_pid_file`: the process ID for external supervisors. Removed on drop.
struct PidFile(Option<String>);

impl PidFile {
    /// A write error is logged and does not prevent the start.
    fn create(path: &str, log: &dyn Log) -> PidFile {
        if path.is_empty() {
            return PidFile(None);
        }
        let readable = std::fs::Permissions::from_mode(0o644);
        let written = std::fs::write(path, format!("{}\n", std::process::id()))
            .and_then(|()| std::fs::set_permissions(path, readable));
        if let Err(e) = written {
            note(log, &format!("could not write external PID file \"{path}\": {e}"));
        }
        PidFile(Some(path.to_owned()))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// `postmaster.opts`: the command line, for a restart.
fn write_options(data: &str, call: &Call<'_>) -> pgerror::Result<()> {
    let named = call.is_by_name().then(|| call.sibling(call.name)).flatten();
    let program = named.or_else(|| std::fs::read_link("/proc/self/exe").ok());
    let mut text = program.map_or_else(String::new, |p| p.to_string_lossy().into_owned());
    for arg in call.all.iter().skip(1) {
        text.push_str(&format!(" \"{arg}\""));
    }
    let file = "postmaster.opts";
    std::fs::write(format!("{data}/{file}"), text + "\n")
        .map_err(|e| vfs::io_error("create file", file, &e).severity(Severity::Log))
}

fn accept(listener: &listen::Listener, gate: &ConnectionGate) {
    loop {
        match listener.accept() {
            Ok(stream) => gate.enter(stream),
            // Out of file descriptors or memory: the connection stays in the backlog until some are
            // free.
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// Handles signals until the server is to shut down; returns true for an immediate shutdown.
fn handle_signals(
    instance: &Arc<Instance>,
    log: &Arc<StderrLog>,
    lock: &mut LockFile,
    reload: &dyn Fn(),
) -> bool {
    let mut ending = false;
    loop {
        if ending && instance.wait_empty(Duration::from_millis(20)) {
            return false;
        }
        let span = if ending { Duration::from_millis(20) } else { Duration::from_secs(60) };
        match process::wait_signal(span) {
            Some(Signal::Terminate) if !ending => {
                notify::send("STOPPING=1");
                note(&**log, "received smart shutdown request");
                lock.set(LINE_STATUS, "stopping");
                instance.set_admission(Admission::Closing);
                instance.terminate_workers(None);
                ending = true;
            }
            Some(Signal::Interrupt) => {
                note(&**log, "received fast shutdown request");
                lock.set(LINE_STATUS, "stopping");
                instance.set_admission(Admission::Closed);
                note(&**log, "aborting any active transactions");
                instance.terminate_all();
                ending = true;
            }
            Some(Signal::Quit) => {
                note(&**log, "received immediate shutdown request");
                return true;
            }
            Some(Signal::Hangup) => {
                notify::send("RELOADING=1");
                reload();
                notify::send("READY=1");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_crashes_stop_restarts() {
        let mut before = String::new();
        for n in 1..CRASHES_MAX as i64 {
            before = crashes_so_far(&before, 1000 + n).expect("not yet too many");
        }
        assert_eq!(crashes_so_far(&before, 1010), None);
        // Old crashes and malformed entries are ignored.
        let later = 1001 + CRASHES_SPAN_SECONDS;
        assert_eq!(crashes_so_far(&before, later), Some(format!("1002,1003,1004,{later}")));
        assert_eq!(crashes_so_far("x,,9999", 5), Some("5".to_owned()));
    }
}
