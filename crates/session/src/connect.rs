//! The beginning of a connection: encryption asked for and declined, who and what database, may he, the session.
//! Counterpart: postmaster.c (`ProcessStartupPacket`), postinit.c, auth.c.

use crate::connection::Connection;
use crate::core::Core;
use crate::instance::{Instance, Speaker};
use crate::session::Session;
use crate::setcmd::canonical;
use crate::transport::Transport;
use catalog::CatSession;
use catalog::rows::{CatalogRow, PgDatabase, indexes};
use engine::{Backend, Isolation};
use ids::Oid;
use pgerror::{PgError, Result, Severity, pg_err};
use settings::hba::{self, Method, Peer, Roles};
use settings::{Source, Store, Value};
use std::sync::Arc;
use std::time::Duration;

use wire::{StartupPacket, StartupParameters, backend};

/// `template1`, over whose catalogs roles are looked up before the database is known.
const TEMPLATE1: Oid = Oid(1);

fn fatal(error: PgError) -> PgError {
    if error.fields().severity < Severity::Fatal { error.severity(Severity::Fatal) } else { error }
}

/// Serves a connection from its first byte to its end.
pub fn serve(instance: &Arc<Instance>, transport: Box<dyn Transport>) {
    let speaker = Speaker {
        host: transport.peer().map_or("[local]".to_owned(), |(a, _)| a.to_string()),
        port: transport.peer().map(|(_, port)| port),
        session_start: instance.engine.env().clock.unix_micros(),
        kind: "client backend",
        ..Speaker::default()
    };
    let mut conn = Connection::new(transport);
    let span = instance.base().int("authentication_timeout");
    conn.set_timeout(Some(Duration::from_secs(u64::try_from(span).unwrap_or(60))));
    let start = match first_packet(&mut conn) {
        Ok(Some(StartupPacket::Cancel { pid, key })) => return instance.cancel(pid, key),
        Ok(Some(StartupPacket::Startup(start))) => start,
        Ok(_) => return,
        Err(e) => return refuse(instance, &mut conn, &speaker, e),
    };
    open_session(instance, conn, speaker, &start);
}

fn refuse(instance: &Instance, conn: &mut Connection, speaker: &Speaker, error: PgError) {
    let error = fatal(error);
    instance.log.write(speaker, &error, None);
    backend::report(&mut conn.out, &error);
    let _ = conn.flush();
}

/// Reads packets until one says what the client wants; `None` if it has gone.
fn first_packet(conn: &mut Connection) -> Result<Option<StartupPacket>> {
    let (mut ssl, mut gss) = (false, false);
    loop {
        match StartupPacket::decode(conn.inbox.pending())? {
            None => match conn.fill() {
                Ok(true) => {}
                _ => return Ok(None),
            },
            Some((packet, len)) => {
                conn.inbox.consume(len);
                match packet {
                    StartupPacket::SslRequest if !ssl => ssl = true,
                    StartupPacket::GssRequest if !gss => gss = true,
                    StartupPacket::SslRequest | StartupPacket::GssRequest => {
                        return Err(wire::violation("unsupported frontend protocol"));
                    }
                    other => return Ok(Some(other)),
                }
                if !conn.inbox.pending().is_empty() {
                    return Err(wire::violation("received unencrypted data after SSL request")
                        .detail("This could be either a client-software bug or evidence of an attempted man-in-the-middle attack."));
                }
                conn.out.push(b'N');
                conn.flush()?;
            }
        }
    }
}

fn open_session(
    instance: &Arc<Instance>,
    mut conn: Connection,
    mut speaker: Speaker,
    start: &StartupParameters,
) {
    let handle = match instance.check_admission().and_then(|()| {
        check_parameters(start)?;
        instance.register(conn.transport.hangup(), true)
    }) {
        Ok(handle) => handle,
        Err(e) => return refuse(instance, &mut conn, &speaker, e),
    };
    speaker.pid = handle.pid;
    let registered = Registered { instance, pid: handle.pid };
    let unknown = &start.unknown;
    if start.minor > 0 || !unknown.is_empty() {
        backend::negotiate_protocol_version(&mut conn.out, 0, unknown);
    }
    speaker.user = start.user.clone().unwrap_or_default();
    speaker.database =
        start.database.clone().filter(|d| !d.is_empty()).unwrap_or_else(|| speaker.user.clone());
    match authenticate(instance, &handle, &mut conn, &mut speaker, start) {
        Err(e) => refuse(instance, &mut conn, &speaker, e),
        Ok((core, superuser)) => {
            let mut session =
                Session::new(core, instance.clone(), handle.clone(), conn, speaker, superuser);
            backend::authentication_ok(&mut session.conn.out);
            session.apply_all_settings();
            session.begin_reporting();
            backend::backend_key_data(&mut session.conn.out, handle.pid, handle.key);
            // The error that ends a session has been reported to client and log.
            let _ = session.run();
            session.leave();
        }
    }
    drop(registered);
}

/// Takes the session out of the list, also when it ends by a panic.
struct Registered<'a> {
    instance: &'a Instance,
    pid: i32,
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

/// Membership questions of `pg_hba.conf`.
struct Members<'a>(&'a mut Core);

impl Roles for Members<'_> {
    fn is_member(&mut self, user: &str, group: &str) -> bool {
        let mut ask = || -> Result<bool> {
            let (Some(user), Some(group)) =
                (self.0.cat().find_role(user)?, self.0.cat().find_role(group)?)
            else {
                return Ok(false);
            };
            self.0.cat().is_member(user.oid, group.oid, false)
        };
        ask().unwrap_or(false)
    }
}

/// Checks who it is, and makes what the session needs.
fn authenticate(
    instance: &Arc<Instance>,
    handle: &Arc<crate::instance::SessionHandle>,
    conn: &mut Connection,
    speaker: &mut Speaker,
    start: &StartupParameters,
) -> Result<(Core, bool)> {
    let (user, database) = (speaker.user.clone(), speaker.database.clone());
    let storage = instance.engine.storage();
    // Roles and databases are shared catalogs: any database's caches will do.
    let backend =
        Backend::connect(storage, handle.pid, Oid::INVALID, Oid::INVALID, handle.waiter.clone())?;
    let first = CatSession::new(instance.catalogs.database(TEMPLATE1), Oid::INVALID);
    let store = Store::new(instance.base());
    let mut core = Core::new(backend, first, instance.catalogs.clone(), database.clone(), store);
    core.backend_pid = handle.pid;
    core.backend.begin(Isolation::ReadCommitted);
    check_rules(instance, conn, &mut core, &database, &user)?;
    let Some(role) = core.cat().find_role(&user)? else {
        return Err(pg_err!(INVALID_AUTHORIZATION_SPECIFICATION, "role \"{user}\" does not exist"));
    };
    if !role.rolcanlogin {
        return Err(pg_err!(
            INVALID_AUTHORIZATION_SPECIFICATION,
            "role \"{user}\" is not permitted to log in"
        ));
    }
    let Some(db) = core.cat().find_database(&database)? else {
        return Err(pg_err!(UNDEFINED_DATABASE, "database \"{database}\" does not exist"));
    };
    if !db.datallowconn {
        return Err(pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "database \"{database}\" is not currently accepting connections"
        ));
    }
    types::locale::check_order(db.datcollate.as_str())?;
    // CREATE DATABASE locks its template, DROP DATABASE what it drops: wait for them, look again, and be
    // counted before the lock goes.
    let tag = lmgr::LockTag::object(Oid::INVALID, PgDatabase::RELATION, db.oid, 0);
    core.backend.lock(tag, lmgr::LockMode::RowExclusive)?;
    let again = core.cat().scan(indexes::PG_DATABASE_OID_INDEX, &[db.oid.into()])?.pop();
    let Some(db) = again.filter(|d| d.datname == database.as_str()) else {
        return Err(pg_err!(UNDEFINED_DATABASE, "database \"{database}\" does not exist")
            .detail("It seems to have just been dropped or renamed."));
    };
    core.backend.txn.set_database(db.oid, db.dattablespace);
    core.catalog.abort(&mut core.backend)?;

    core.catalog = CatSession::new(instance.catalogs.database(db.oid), role.oid);
    core.catalog.tablespace = db.dattablespace;
    core.catalog.encoding = db.encoding;
    let ctype = db.datctype.as_str();
    core.types.ctype_is_c = matches!(ctype, "C" | "POSIX");
    core.store.set_internal("is_superuser", Value::Bool(role.rolsuper));
    core.store.set_internal("session_authorization", Value::Text(user.as_str().into()));
    let encoding = catalog::encoding::name(db.encoding);
    core.store.set_internal("server_encoding", Value::Text(encoding.into()));
    core.store.set_internal("client_encoding", Value::Text(encoding.into()));
    core.store.set_internal("lc_collate", Value::Text(db.datcollate.as_str().into()));
    core.store.set_internal("lc_ctype", Value::Text(ctype.into()));
    startup_settings(&mut core.store, start, role.rolsuper)?;
    Ok((core, role.rolsuper))
}

fn check_rules(
    instance: &Instance,
    conn: &Connection,
    core: &mut Core,
    database: &str,
    user: &str,
) -> Result<()> {
    let peer = Peer { address: conn.transport.peer().map(|(a, _)| a), encrypted: false };
    let rules = instance.hba();
    let rule = rules.find(peer, database, user, false, &mut Members(core));
    match rule.map(|r| r.method) {
        Some(Method::Trust) => Ok(()),
        Some(Method::Peer) => match conn.transport.peer_user() {
            Some(name) if name == user => Ok(()),
            _ => Err(pg_err!(
                INVALID_AUTHORIZATION_SPECIFICATION,
                "Peer authentication failed for user \"{user}\""
            )),
        },
        Some(Method::Reject) => Err(hba::refusal(true, peer, database, user)),
        None => Err(hba::refusal(false, peer, database, user)),
        Some(other) => Err(PgError::unsupported(format!("authentication method {other:?}"))),
    }
}

/// Parameters in the startup packet, and in its `options` (`-c name=value`, `--name=value`).
fn startup_settings(store: &mut Store, start: &StartupParameters, superuser: bool) -> Result<()> {
    let mut given: Vec<(String, String)> = Vec::new();
    for (name, value) in &start.other {
        match name.as_str() {
            "options" => given.extend(command_line(value)?),
            "replication" => {
                if !matches!(value.as_str(), "false" | "off" | "no" | "0") {
                    return Err(PgError::unsupported("replication"));
                }
            }
            _ => given.push((name.clone(), value.clone())),
        }
    }
    for (name, value) in given {
        let registry = store.base().registry.clone();
        let value = match registry.find(&name) {
            Some(id) => canonical(store, registry.setting(id), &value)?,
            None => value,
        };
        store.set_startup(&name, &value, Source::Client, superuser)?;
    }
    Ok(())
}

/// Words are separated by spaces; a backslash takes the next character as it is.
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
        let setting = match word.strip_prefix("--") {
            Some(rest) => Some(rest.to_owned()),
            None if word == "-c" => words.next(),
            None => word.strip_prefix("-c").map(str::to_owned),
        };
        let pair = setting.as_deref().and_then(|s| s.split_once('='));
        let (name, value) = pair.ok_or_else(|| {
            pg_err!(SYNTAX_ERROR, "invalid command-line argument for server process: {word}")
        })?;
        found.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(found)
}
