//! Session start: the startup packet, authentication, checks of role and database, settings.
//! Counterpart: postmaster/postmaster.c
//! (`ProcessStartupPacket`), utils/init/postinit.c, libpq/auth.c.

use crate::instance::{Instance, SessionHandle};
use crate::session::Session;
use crate::state::State;
use catalog::rows::{CatalogRow, PgAuthid, PgDatabase, PgDbRoleSetting, indexes};
use catalog::{CatSession, Row};
use client::EarlyOutput;
use client::activity::VisibleActivity;
use client::auth::{self, Authenticated, Refused, StoredSecret};
use client::connection::Connection;
use client::transport::{Addresses, Encryption, TlsAcceptor, Transport};
use engine::{Backend, Isolation};
use ids::Oid;
use ids::builtin::role::BOOTSTRAP_SUPERUSER;
use parameters::LogOrigin;
use parameters::canonical;
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use settings::hba::{AuthContext, Rules};
use settings::ident::Maps;
use settings::{SessionValues, Source, Value};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::{StartupPacket, StartupParameters, backend};

/// The database `template1`, whose catalog caches are used for the lookup of roles before the
/// session's database is known.
const TEMPLATE1: Oid = Oid(1);
/// Maximum length of the name of a role or database in bytes.
const NAME_BYTES_MAX: usize = 63;
fn fatal(error: PgError) -> PgError {
    if error.fields().severity < Severity::Fatal { error.severity(Severity::Fatal) } else { error }
}

/// The log origin of a connection that is not authenticated yet.
fn unauthenticated_origin(transport: &dyn Transport, start: i64) -> LogOrigin {
    LogOrigin {
        host: transport.peer().map_or("[local]".to_owned(), |(a, _)| a.to_string()),
        port: transport.peer().map(|(_, port)| port),
        session_start: start,
        kind: crate::instance::CLIENT,
        ..LogOrigin::default()
    }
}

/// Serves a connection from its first byte to its end. Returns true if it became a session.
pub fn serve(instance: &Arc<Instance>, transport: Box<dyn Transport>) -> bool {
    let mut origin = unauthenticated_origin(&*transport, instance.engine.env().clock.unix_micros());
    let base = instance.base();
    let mut conn = Connection::new(transport);
    let span = u64::try_from(base.int("authentication_timeout")).unwrap_or(60);
    conn.set_deadline(Instant::now().checked_add(Duration::from_secs(span)));
    if base.bool("log_connections") {
        origin.pid = instance.new_pid();
        let port = origin.port.map_or(String::new(), |p| format!(" port={p}"));
        let message = format!("connection received: host={}{port}", origin.host);
        log_message(instance, &origin, message);
    }
    let start = match first_packet(&mut conn, instance.tls().as_deref()) {
        Ok(Some(StartupPacket::Cancel { pid, key })) => {
            instance.cancel(pid, key);
            return false;
        }
        Ok(Some(StartupPacket::Startup(start))) => start,
        Ok(Some(StartupPacket::Unsupported(version))) => {
            let error = wire::refuse_version(&mut conn.out, version);
            instance.log.write(&origin, &error, None);
            let _ = conn.flush();
            return false;
        }
        Ok(_) => return false,
        Err(e) => {
            refuse(instance, &mut conn, &origin, e);
            return false;
        }
    };
    open_session(instance, conn, origin, &start)
}

/// Refuses a client with error 57P03, before the server accepts connections.
pub fn refuse_not_ready(
    transport: Box<dyn Transport>,
    message: &str,
    tls: Option<&dyn TlsAcceptor>,
) {
    let mut conn = Connection::new(transport);
    conn.set_deadline(Instant::now().checked_add(Duration::from_secs(5)));
    match first_packet(&mut conn, tls) {
        Ok(Some(StartupPacket::Startup(_))) => {
            let error = PgError::new(SqlState::CANNOT_CONNECT_NOW, message);
            backend::report(&mut conn.out, &error.severity(Severity::Fatal));
        }
        Ok(Some(StartupPacket::Unsupported(version))) => {
            wire::refuse_version(&mut conn.out, version);
        }
        Err(e) if e.fields().severity > Severity::Log => {
            backend::report(&mut conn.out, &fatal(e));
        }
        _ => return,
    }
    let _ = conn.flush();
}

fn log_message(instance: &Instance, origin: &LogOrigin, message: String) {
    let report = PgError::new(SqlState::SUCCESSFUL_COMPLETION, message).severity(Severity::Log);
    instance.log.write(origin, &report, None);
}

/// Ends a connection that does not become a session.
fn refuse(
    instance: &Instance,
    conn: &mut Connection,
    origin: &LogOrigin,
    refused: impl Into<Refused>,
) {
    let Refused { error, detail } = refused.into();
    if error.message().is_empty() {
        return;
    }
    if error.fields().severity == Severity::Log {
        return instance.log.write(origin, &error, None);
    }
    let error = fatal(error);
    backend::report(&mut conn.out, &error);
    let logged = match detail {
        Some(detail) => error.detail(detail),
        None => error,
    };
    instance.log.write(origin, &logged, None);
    let _ = conn.flush();
}

/// Reads packets up to the startup packet or cancel request; `None` if the client closed the
/// connection. A TCP connection is encrypted if the client requests TLS and there is an acceptor.
/// GSS encryption is declined.
fn first_packet(
    conn: &mut Connection,
    tls: Option<&dyn TlsAcceptor>,
) -> Result<Option<StartupPacket>> {
    let (mut ssl, mut gss) = (false, false);
    loop {
        match StartupPacket::decode(conn.inbox.pending())? {
            None => match conn.fill() {
                Ok(true) => {}
                _ => return Ok(None),
            },
            Some((packet, len)) => {
                conn.inbox.consume(len);
                let mut acceptor = None;
                match packet {
                    StartupPacket::SslRequest if !ssl => {
                        ssl = true;
                        acceptor = tls.filter(|_| conn.transport.peer().is_some());
                    }
                    StartupPacket::GssRequest if !gss => gss = true,
                    StartupPacket::SslRequest | StartupPacket::GssRequest => {
                        return Err(wire::violation("unsupported frontend protocol"));
                    }
                    other => return Ok(Some(other)),
                }
                if !conn.inbox.pending().is_empty() {
                    return Err(wire::violation("received unencrypted data after SSL request")
                        .detail(
                            "This could be either a client-software bug or evidence of an \
                        attempted man-in-the-middle attack.",
                        ));
                }
                conn.out.push(if acceptor.is_some() { b'S' } else { b'N' });
                conn.flush()?;
                if let Some(acceptor) = acceptor {
                    conn.encrypt(acceptor)?;
                }
            }
        }
    }
}

fn open_session(
    instance: &Arc<Instance>,
    mut conn: Connection,
    mut origin: LogOrigin,
    start: &StartupParameters,
) -> bool {
    let handle = match instance.check_admission().and_then(|()| {
        check_parameters(start)?;
        let (hangup, client_output) = (conn.transport.hangup(), conn.transport.client_output());
        let addresses = Addresses { peer: conn.transport.peer(), local: conn.transport.local() };
        instance.register(hangup, client_output, addresses, origin.pid)
    }) {
        Ok(handle) => handle,
        Err(e) => {
            refuse(instance, &mut conn, &origin, e);
            return false;
        }
    };
    origin.pid = handle.pid;
    let registered = Registered { instance, pid: handle.pid };
    conn.waiter = Some(handle.waiter.clone());
    if let Some(encryption) = conn.transport.encryption() {
        handle.activity.change(|shown| shown.encryption = Some(encryption));
    }
    let unknown = &start.unknown;
    if start.minor > 0 || !unknown.is_empty() {
        backend::negotiate_protocol_version(&mut conn.out, 0, unknown);
    }
    origin.user = start.user.clone().unwrap_or_default();
    origin.database =
        start.database.clone().filter(|d| !d.is_empty()).unwrap_or_else(|| origin.user.clone());
    // CREATE ROLE and CREATE DATABASE truncate longer names.
    for name in [&mut origin.user, &mut origin.database] {
        name.truncate(stdx::clip(name, NAME_BYTES_MAX).len());
    }
    let begun = begin_session(instance, &handle, &mut conn, &mut origin, start);
    let became_session = begun.is_ok();
    match begun {
        Err(e) => refuse(instance, &mut conn, &origin, e),
        Ok(mut state) => {
            let database = state.backend.database();
            state.activity.client = origin.clone();
            state.server = Some((instance.clone(), handle.clone()));
            state.early = handle.client_output.clone().map(EarlyOutput::new);
            let (user, proc) = (state.roles.login_user, state.backend.txn.proc());
            handle.activity.change(|shown| {
                shown.database = database;
                shown.user = user;
                shown.proc = Some(proc);
            });
            conn.set_deadline(None);
            let mut session = Session::new(state, instance.clone(), handle.clone(), conn);
            session.state.apply_all_settings();
            let now = session.state.now();
            session.state.backend.stats.connected(now);
            session.send_notices();
            session.begin_reporting();
            backend::backend_key_data(&mut session.conn.out, handle.pid, handle.key);
            // The error that ended the session has been sent to the client and logged.
            let _ = session.run();
            session.leave();
            if session.state.store.named("log_disconnections").as_bool() {
                log_disconnection(instance, &session.state.activity.client);
            }
        }
    }
    drop(registered);
    became_session
}

/// Serves the only session of a single-user process, as the bootstrap superuser, in any database.
/// Counterpart: `PostgresSingleUserMain`.
pub fn serve_alone(
    instance: &Arc<Instance>,
    database: &str,
    transport: Box<dyn Transport>,
) -> Result<()> {
    let handle = instance.register_internal("standalone backend");
    let _registered = Registered { instance, pid: handle.pid };
    let mut state = begin_internal_session(instance, &handle, None)?;
    state.backend.begin(Isolation::ReadCommitted);
    let rows = state.cat().scan_all::<PgDatabase>()?;
    state.catalog.abort(&mut state.backend)?;
    drop(state);
    let found = rows.iter().find(|row| row.datname == database).map(|row| row.oid);
    instance.set_database_names(rows.iter().map(|r| (r.oid, r.datname.to_string())).collect());
    let oid = found.ok_or_else(|| {
        fatal(pg_err!(UNDEFINED_DATABASE, "database \"{database}\" does not exist"))
    })?;
    let state = begin_internal_session(instance, &handle, Some((oid, database))).map_err(fatal)?;
    let mut session =
        Session::new(state, instance.clone(), handle.clone(), Connection::new(transport));
    session.state.apply_all_settings();
    // The error that ends a session has been reported.
    let _ = session.run();
    session.leave();
    Ok(())
}

fn log_disconnection(instance: &Instance, origin: &LogOrigin) {
    let millis = (instance.engine.env().clock.unix_micros() - origin.session_start) / 1000;
    let (hours, minutes) = (millis / 3_600_000, millis / 60_000 % 60);
    let (seconds, rest) = (millis / 1000 % 60, millis % 1000);
    let port = origin.port.map_or(String::new(), |p| format!(" port={p}"));
    let message = format!(
        "disconnection: session time: {hours}:{minutes:02}:{seconds:02}.{rest:03} user={} \
        database={} host={}{port}",
        origin.user, origin.database, origin.host
    );
    log_message(instance, origin, message);
}

/// Removes the session from the instance's list on drop, also after a panic.
pub(crate) struct Registered<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) pid: i32,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.instance.unregister(self.pid);
    }
}

fn check_parameters(start: &StartupParameters) -> Result<()> {
    if start.user.as_deref().is_none_or(str::is_empty) {
        return Err(pg_err!(
            INVALID_AUTHORIZATION_SPECIFICATION,
            "no PostgreSQL user name specified in startup packet"
        )
        .severity(Severity::Fatal));
    }
    Ok(())
}

/// Authenticates the client, checks its privilege to connect, and builds the session's state.
fn begin_session(
    instance: &Arc<Instance>,
    handle: &Arc<SessionHandle>,
    conn: &mut Connection,
    origin: &mut LogOrigin,
    start: &StartupParameters,
) -> Result<State, Refused> {
    let (user, database) = (origin.user.clone(), origin.database.clone());
    let storage = instance.engine.storage();
    // Roles and databases are in shared catalogs, so the caches of any database can be used.
    let backend =
        Backend::connect(storage, handle.pid, Oid::INVALID, Oid::INVALID, handle.waiter.clone())?;
    let first = CatSession::new(instance.catalogs.database(TEMPLATE1), Oid::INVALID);
    let store = SessionValues::new(instance.base());
    let mut state = State::new(backend, first, instance.catalogs.clone(), database.clone(), store);
    state.backend_pid = handle.pid;
    state.backend.begin(Isolation::ReadCommitted);
    check_replication(start)?;
    let proved = {
        let mut facts = AuthFacts { state: &mut state, instance };
        auth::authenticate(&mut facts, conn, &database, &user, false)?
    };
    backend::authentication_ok(&mut conn.out);
    let encryption = conn.transport.encryption();
    log_authorization(instance, origin, &state.store, start, (&proved, encryption.as_deref()));
    let role = check_role(instance, &mut state, &user)?;
    let db = check_database(instance, &mut state, &database, &role)?;
    let text_encoding = catalog::unsupported::check_database(&db)?;
    let oid = db.oid;
    enter_database(instance, &mut state, oid, &database, text_encoding)?;
    state.collect_statements(instance);
    state.notices.extend(catalog::locales::database_version_warning(&db));
    set_login_user(&mut state, role.oid, role.rolsuper, &user);
    stored_settings(&mut state, oid, role.oid)?;
    state.backend.begin(Isolation::ReadCommitted);
    startup_settings(&mut state, start, role.rolsuper)?;
    state.catalog.abort(&mut state.backend)?;
    check_libraries(&state.store)?;
    Ok(state)
}

/// Makes a database the current one of the session. The session's transaction is ended.
fn enter_database(
    instance: &Arc<Instance>,
    state: &mut State,
    oid: Oid,
    name: &str,
    text_encoding: types::settings::Encoding,
) -> Result<()> {
    // LOCK ORDER: CREATE DATABASE locks its template, and DROP DATABASE the database that it drops.
    // This lock makes the session wait for these commands. Then the session looks up the database
    // again, and publishes its own database before it releases the lock.
    let tag = lmgr::LockTag::object(Oid::INVALID, PgDatabase::RELATION, oid, 0);
    state.backend.lock(tag, lmgr::LockMode::RowExclusive)?;
    let again = state.cat().scan(indexes::PG_DATABASE_OID_INDEX, &[oid.into()])?.pop();
    let Some(db) = again.filter(|d| d.datname == name) else {
        return Err(pg_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist")
            .detail("It seems to have just been dropped or renamed."));
    };
    if commands::database::is_invalid(&db) {
        let message = format!("cannot connect to invalid database \"{name}\"");
        return Err(commands::database::invalid(message));
    }
    let directory = engine::relmap::database_path((db.dattablespace, db.oid));
    let ours = state.store.named("server_version").as_text().to_owned();
    let disk = state.backend.storage().env.disk.clone();
    engine::version::check_database(&*disk, name, &directory, &ours)?;
    instance.engine.relmaps().load((db.dattablespace, db.oid))?;
    state.backend.set_database(db.oid, db.dattablespace);
    state.catalog.abort(&mut state.backend)?;

    state.catalog = CatSession::new(instance.catalogs.database(db.oid), state.catalog.user);
    state.catalog.tablespace = db.dattablespace;
    state.catalog.encoding = db.encoding;
    let ctype = db.datctype.as_str();
    state.values.types.encoding = text_encoding;
    state.values.types.ctype_is_c = matches!(ctype, "C" | "POSIX");
    state.catalog.ctype_is_ascii = state.values.types.ctype_is_c
        || state.values.types.encoding != types::settings::Encoding::Utf8;
    state.catalog.open_default_locale(&db)?;
    state.values.types.default_locale = state.catalog.default_locale().cloned();
    let encoding = catalog::encoding::name(db.encoding);
    state.store.set_dynamic_default("server_encoding", Value::Text(encoding.into()));
    state.store.set_dynamic_default("client_encoding", Value::Text(encoding.into()));
    state.store.set_dynamic_default("lc_collate", Value::Text(db.datcollate.as_str().into()));
    state.store.set_dynamic_default("lc_ctype", Value::Text(ctype.into()));
    Ok(())
}

fn set_login_user(state: &mut State, role: Oid, superuser: bool, name: &str) {
    state.catalog.set_user(role);
    state.catalog.session_user = role;
    state.roles.login_user = role;
    state.roles.login_superuser = superuser;
    state.roles.session_superuser = superuser;
    state.roles.superuser = superuser;
    state.store.set_internal("is_superuser", Value::Bool(superuser));
    state.store.set_internal("session_authorization", Value::Text(name.into()));
}

/// Builds an internal session of the server. It runs as the bootstrap superuser, in any database,
/// even in one that does not allow connections, or without a database (`None`). It begins outside a
/// transaction.
pub(crate) fn begin_internal_session(
    instance: &Arc<Instance>,
    handle: &Arc<SessionHandle>,
    database: Option<(Oid, &str)>,
) -> Result<State> {
    let storage = instance.engine.storage();
    let (none, waiter) = (Oid::INVALID, handle.waiter.clone());
    let backend = Backend::connect(storage, handle.pid, none, none, waiter)?;
    let first = CatSession::new(instance.catalogs.database(TEMPLATE1), BOOTSTRAP_SUPERUSER);
    let store = SessionValues::new(instance.base());
    let name = database.map_or("", |(_, name)| name).to_owned();
    let mut state = State::new(backend, first, instance.catalogs.clone(), name, store);
    state.backend_pid = handle.pid;
    state.backend.begin(Isolation::ReadCommitted);
    let superuser = state.cat().role_name(BOOTSTRAP_SUPERUSER)?;
    if let Some((oid, name)) = database {
        let row = state.cat().scan(indexes::PG_DATABASE_OID_INDEX, &[oid.into()])?.pop();
        let row =
            row.ok_or_else(|| pg_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist"))?;
        // Autovacuum must also process databases whose encoding or locale is not supported; it
        // reads no text there.
        let text_encoding = catalog::unsupported::check_database(&row);
        let text_encoding = text_encoding.unwrap_or(types::settings::Encoding::SqlAscii);
        enter_database(instance, &mut state, oid, name, text_encoding)?;
    } else {
        state.catalog.abort(&mut state.backend)?;
    }
    set_login_user(&mut state, BOOTSTRAP_SUPERUSER, true, &superuser);
    if let Some((oid, _)) = database {
        stored_settings(&mut state, oid, BOOTSTRAP_SUPERUSER)?;
    }
    state.activity.client = LogOrigin {
        pid: handle.pid,
        session_start: instance.engine.env().clock.unix_micros(),
        kind: handle.kind,
        ..LogOrigin::default()
    };
    state.server = Some((instance.clone(), handle.clone()));
    let proc = state.backend.txn.proc();
    handle.activity.change(|shown| {
        shown.database = database.map_or(Oid::INVALID, |(oid, _)| oid);
        shown.proc = Some(proc);
    });
    Ok(state)
}

/// Error 58P01 if settings name libraries that should be loaded, because libraries cannot be
/// loaded. Counterpart: `process_session_preload_libraries`.
fn check_libraries(store: &SessionValues) -> Result<()> {
    let session = settings::words(store.named("session_preload_libraries").as_text());
    let local = settings::words(store.named("local_preload_libraries").as_text());
    let local = local.map(|name| match name.contains('/') {
        true => name.to_owned(),
        false => format!("$libdir/plugins/{name}"),
    });
    match session.map(str::to_owned).chain(local).next() {
        Some(name) => Err(no_library(&name)),
        None => Ok(()),
    }
}

/// Error 58P01 for a library.
/// True if the library is linked into the server.
pub fn is_library(name: &str) -> bool {
    contrib::libraries::library(name).is_some()
}

pub fn no_library(name: &str) -> PgError {
    pg_err!(UNDEFINED_FILE, "could not access file \"{name}\": No such file or directory")
        .severity(Severity::Fatal)
}

fn check_replication(start: &StartupParameters) -> Result<()> {
    let Some((_, value)) = start.other.iter().find(|(n, _)| n == "replication") else {
        return Ok(());
    };
    match value.to_ascii_lowercase().as_str() {
        "false" | "off" | "no" | "0" | "f" | "n" => Ok(()),
        "true" | "on" | "yes" | "1" | "t" | "y" | "database" => {
            Err(PgError::unsupported("replication"))
        }
        _ => Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "invalid value for parameter \"replication\": \"{value}\""
        )
        .hint("Valid values are: \"false\", 0, \"true\", 1, \"database\".")),
    }
}

/// Writes the messages of `log_connections` after authentication.
fn log_authorization(
    instance: &Instance,
    origin: &LogOrigin,
    store: &SessionValues,
    start: &StartupParameters,
    (proved, encryption): (&Authenticated, Option<&Encryption>),
) {
    if !store.named("log_connections").as_bool() {
        return;
    }
    if let Some((identity, method)) = &proved.identity {
        let file = store.named("hba_file").as_text();
        let line = proved.line;
        let message = format!(
            "connection authenticated: identity=\"{identity}\" method={method} ({file}:{line})"
        );
        log_message(instance, origin, message);
    }
    let mut message =
        format!("connection authorized: user={} database={}", origin.user, origin.database);
    if let Some((_, name)) = start.other.iter().find(|(n, _)| n == "application_name") {
        message.push_str(&format!(" application_name={name}"));
    }
    if let Some(Encryption { version, cipher, bits, .. }) = encryption {
        message
            .push_str(&format!(" SSL enabled (protocol={version}, cipher={cipher}, bits={bits})"));
    }
    log_message(instance, origin, message);
}

/// Checks that the role may log in, and its connection limit.
fn check_role(instance: &Instance, state: &mut State, user: &str) -> Result<Row<PgAuthid>> {
    let Some(role) = state.cat().find_role(user)? else {
        return Err(pg_err!(INVALID_AUTHORIZATION_SPECIFICATION, "role \"{user}\" does not exist"));
    };
    if !role.rolcanlogin {
        return Err(pg_err!(
            INVALID_AUTHORIZATION_SPECIFICATION,
            "role \"{user}\" is not permitted to log in"
        ));
    }
    if role.rolsuper {
        return Ok(role);
    }
    if let Ok(limit) = usize::try_from(role.rolconnlimit)
        && count(instance, |shown| shown.user == role.oid) >= limit
    {
        return Err(pg_err!(TOO_MANY_CONNECTIONS, "too many connections for role \"{user}\""));
    }
    instance.check_reserved()?;
    Ok(role)
}

fn count(instance: &Instance, which: impl Fn(&VisibleActivity) -> bool) -> usize {
    let clients = instance.sessions();
    clients.iter().filter(|s| s.is_client() && which(&s.activity.get())).count()
}

/// Checks that the role may connect to the database, and the database's connection limit.
fn check_database(
    instance: &Instance,
    state: &mut State,
    database: &str,
    role: &Row<PgAuthid>,
) -> Result<Row<PgDatabase>> {
    let Some(db) = state.cat().find_database(database)? else {
        return Err(pg_err!(UNDEFINED_DATABASE, "database \"{database}\" does not exist"));
    };
    if !db.datallowconn {
        return Err(pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "database \"{database}\" is not currently accepting connections"
        ));
    }
    if role.rolsuper {
        return Ok(db);
    }
    let wanted = catalog::acl::CONNECT;
    if !state.cat().has_privilege(
        role.oid,
        db.datdba,
        db.datacl.as_deref(),
        catalog::acl::Kind::Database,
        wanted,
    )? {
        return Err(pg_err!(
            INSUFFICIENT_PRIVILEGE,
            "permission denied for database \"{database}\""
        )
        .detail("User does not have CONNECT privilege."));
    }
    if let Ok(limit) = usize::try_from(db.datconnlimit)
        && count(instance, |shown| shown.database == db.oid) >= limit
    {
        return Err(pg_err!(
            TOO_MANY_CONNECTIONS,
            "too many connections for database \"{database}\""
        ));
    }
    Ok(db)
}

/// Applies the settings of ALTER DATABASE SET and ALTER ROLE SET. Invalid values get a warning.
fn stored_settings(state: &mut State, database: Oid, role: Oid) -> Result<()> {
    let levels = [
        (Oid::INVALID, Oid::INVALID, Source::Global),
        (database, Oid::INVALID, Source::Database),
        (Oid::INVALID, role, Source::User),
        (database, role, Source::DatabaseUser),
    ];
    state.backend.begin(Isolation::ReadCommitted);
    let rows = state.cat().scan_all::<PgDbRoleSetting>()?;
    for (database, role, source) in levels {
        let found = rows.iter().find(|r| r.setdatabase == database && r.setrole == role);
        for setting in found.and_then(|r| r.setconfig.as_ref()).into_iter().flatten() {
            let Some((name, value)) = setting.as_str().split_once('=') else { continue };
            let value = match state.store.base().registry.find(name) {
                Some(id) => {
                    let registry = state.store.base().registry.clone();
                    canonical(&state.store, registry.setting(id), value)
                }
                None => Ok(value.to_owned()),
            };
            // The privilege to set the parameter was checked when the value was stored.
            let set = value.and_then(|v| begin_with(state, name, &v, source, true));
            if let Err(e) = set {
                state.notices.push(e.severity(Severity::Warning));
            }
        }
    }
    state.catalog.abort(&mut state.backend)
}

/// Applies the settings of the startup packet and of its `options` (`-c name=value`,
/// `--name=value`).
fn startup_settings(state: &mut State, start: &StartupParameters, superuser: bool) -> Result<()> {
    // `options` is applied first, at any position in the packet, so that settings with an entry of
    // their own override it.
    let mut options = start.other.iter().filter(|(name, _)| name == "options");
    let mut given: Vec<(String, String)> = Vec::new();
    if let Some((_, words)) = options.next_back() {
        given.extend(command_line(words)?);
    }
    let named = start.other.iter().filter(|(n, _)| n != "options" && n != "replication");
    given.extend(named.cloned());
    for (name, value) in given {
        let registry = state.store.base().registry.clone();
        let value = match registry.find(&name) {
            Some(id) => canonical(&state.store, registry.setting(id), &value)?,
            None => value,
        };
        begin_with(state, &name, &value, Source::Client, superuser)?;
    }
    Ok(())
}

/// Sets a parameter at the start of a session, in a transaction.
fn begin_with(
    state: &mut State,
    name: &str,
    value: &str,
    source: Source,
    superuser: bool,
) -> Result<()> {
    state.check_at_start(name, value)?;
    if name.eq_ignore_ascii_case("session_authorization") {
        // The session user remains the role that logged in.
        return Ok(());
    }
    let allowed = superuser || state.may_set(name)?;
    state.store.set_startup(name, value, source, allowed)
}

/// Splits `options` into settings. Words are separated by whitespace; a backslash escapes the next
/// character.
fn command_line(options: &str) -> Result<Vec<(String, String)>> {
    let mut words: Vec<String> = Vec::new();
    let mut word = None::<String>;
    let mut chars = options.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    let mut found = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if let Some((name, value)) = letter(&word, &mut words)? {
            found.push((name.to_owned(), value));
            continue;
        }
        let setting = match word.strip_prefix("--") {
            Some(rest) => Some(rest.to_owned()),
            None if word == "-c" => words.next(),
            None => word.strip_prefix("-c").map(str::to_owned),
        };
        if let Some(name) = setting.as_deref().filter(|s| !s.contains('=')) {
            let dashes = if word.starts_with("--") { "--" } else { "-c " };
            return Err(pg_err!(SYNTAX_ERROR, "{dashes}{name} requires a value"));
        }
        let pair = setting.as_deref().and_then(|s| s.split_once('='));
        let (name, value) = pair.ok_or_else(|| {
            pg_err!(SYNTAX_ERROR, "invalid command-line argument for server process: {word}")
                .hint("Try \"postgres --help\" for more information.")
        })?;
        found.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(found)
}

/// The setting of a one-letter server option (`-e`, `-S 1MB`, `-fs`).
fn letter(
    word: &str,
    rest: &mut impl Iterator<Item = String>,
) -> Result<Option<(&'static str, String)>> {
    let mut chars = word.chars();
    let (Some('-'), Some(letter)) = (chars.next(), chars.next()) else { return Ok(None) };
    let attached = chars.as_str();
    let mut value = || match attached {
        "" => rest.next().unwrap_or_default(),
        text => text.to_owned(),
    };
    Ok(Some(match letter {
        'e' => ("DateStyle", "euro".to_owned()),
        'B' => ("shared_buffers", value()),
        'F' => ("fsync", "false".to_owned()),
        'h' => ("listen_addresses", value()),
        'i' => ("listen_addresses", "*".to_owned()),
        'k' => ("unix_socket_directories", value()),
        'N' => ("max_connections", value()),
        'p' => ("port", value()),
        's' => ("log_statement_stats", "true".to_owned()),
        'S' => ("work_mem", value()),
        'P' => ("ignore_system_indexes", "true".to_owned()),
        'O' => ("allow_system_table_mods", "true".to_owned()),
        'W' => ("post_auth_delay", value()),
        'f' => {
            let method = value();
            let name = match method.as_str() {
                "s" => "enable_seqscan",
                "i" => "enable_indexscan",
                "o" => "enable_indexonlyscan",
                "b" => "enable_bitmapscan",
                "t" => "enable_tidscan",
                "n" => "enable_nestloop",
                "m" => "enable_mergejoin",
                "h" => "enable_hashjoin",
                _ => {
                    return Err(pg_err!(
                        SYNTAX_ERROR,
                        "invalid command-line argument for server process: {word}"
                    ));
                }
            };
            (name, "false".to_owned())
        }
        _ => return Ok(None),
    }))
}

/// The facts that authentication needs.
struct AuthFacts<'a> {
    state: &'a mut State,
    instance: &'a Instance,
}

impl AuthContext for AuthFacts<'_> {
    fn is_member(&mut self, user: &str, group: &str) -> bool {
        let mut ask = || -> Result<bool> {
            let (Some(user), Some(group)) =
                (self.state.cat().find_role(user)?, self.state.cat().find_role(group)?)
            else {
                return Ok(false);
            };
            // In this context a superuser is not a member of every role.
            self.state.cat().is_member_nosuper(user.oid, group.oid, false)
        };
        ask().unwrap_or(false)
    }

    fn is_own_address(&mut self, address: IpAddr) -> bool {
        self.instance.files().is_some_and(|f| f.is_own_address(address))
    }

    fn is_own_network(&mut self, address: IpAddr) -> bool {
        self.instance.files().is_some_and(|f| f.is_own_network(address))
    }
}

impl auth::Facts for AuthFacts<'_> {
    fn rules(&self) -> Arc<Rules> {
        self.instance.hba()
    }

    fn maps(&self) -> Arc<Maps> {
        self.instance.ident()
    }

    fn secret(&mut self, role: &str) -> Result<Option<StoredSecret>> {
        let role = self.state.cat().find_role(role)?;
        Ok(role.map(|role| StoredSecret {
            text: role.rolpassword.as_ref().map(|text| text.as_str().to_owned()),
            is_expired: role.rolvaliduntil.is_some_and(|until| until < self.state.now()),
        }))
    }

    fn random(&self, bytes: &mut [u8]) {
        self.instance.engine.env().random.fill(bytes);
    }

    fn mock_nonce(&self) -> [u8; 32] {
        self.instance.engine.control().get().mock_authentication_nonce
    }
}
