//! CREATE, DROP and ALTER DATABASE.
//!
//! The template is locked against new connections while it is copied; a dropped database is locked
//! exclusively. Files are created before the row is committed and removed before its deletion is
//! committed. A crash in between leaves files without a row, or, during the removal, a row that is
//! marked invalid.
//!
//! Counterpart: dbcommands.c.

use crate::tablespace;
use catalog::rows::{CatalogRow, Name, PgDatabase, PgShdepend, Text, indexes};
use catalog::{ObjectAddress, collations, encoding, locales};
use define::object::owner;
use engine::StatsKind;
use engine::{DbKey, SourceRelation};
use ids::code::CollProvider;
use ids::{Oid, Persistence, RelFile};
use lmgr::{LockMode, LockTag};
use parse::ast::{
    AlterDatabaseSetStmt, AlterDatabaseStmt, CreatedbStmt, DefElem, DropdbStmt, Node, RoleSpec,
    RoleSpecType,
};
use pgerror::{PgError, Result, Severity, bail, pg_err};
use std::time::Duration;
use utility::host::{CommandHost, notice};
use utility::{names, options};

/// The lock tag of a database object.
fn tag(database: Oid) -> LockTag {
    LockTag::object(Oid::INVALID, PgDatabase::RELATION, database, 0)
}

fn at(error: PgError, def: &DefElem) -> PgError {
    match u32::try_from(def.location) {
        Ok(place) => error.at(place + 1),
        Err(_) => error,
    }
}

fn missing(name: &str) -> PgError {
    pg_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist")
}

/// The database with this name, locked. Repeats the lookup if the database was renamed meanwhile.
fn locked(
    host: &mut dyn CommandHost,
    name: &str,
    mode: LockMode,
) -> Result<Option<catalog::Row<PgDatabase>>> {
    loop {
        let Some(oid) = host.catalog().find_database(name)?.map(|r| r.oid) else {
            return Ok(None);
        };
        host.backend().lock(tag(oid), mode)?;
        let rows = host.catalog().scan(indexes::PG_DATABASE_OID_INDEX, &[oid.into()])?;
        if let Some(row) = rows.into_iter().find(|r| r.datname == name) {
            return Ok(Some(row));
        }
        host.backend().unlock(tag(oid), mode);
    }
}

/// Other users of a database.
#[derive(Clone, Copy, Default)]
struct Users {
    sessions: usize,
    prepared: usize,
}

/// Error 55006 if other sessions or prepared transactions use the database; waits a few seconds for
/// sessions that are exiting. Counterpart: `CountOtherDBBackends`.
fn check_unused(host: &mut dyn CommandHost, database: Oid, what: &str) -> Result<()> {
    let mut users = Users::default();
    for _ in 0..50 {
        host.backend().check_interrupts()?;
        let be = host.backend();
        let txns = &be.storage().txns;
        users.sessions = txns.sessions_of(database, Some(be.txn.proc()));
        users.prepared = txns.prepared_of(database);
        if users.sessions == 0 && users.prepared == 0 {
            return Ok(());
        }
        host.terminate_workers(database);
        host.pause(Duration::from_millis(100))?;
    }
    let message = format!("{what} is being accessed by other users");
    Err(pg_err!(OBJECT_IN_USE, "{message}").detail(users.describe()))
}

/// Error 55006 if prepared transactions use the database. DROP DATABASE with FORCE terminates
/// sessions, but cannot end prepared transactions.
/// Counterpart: `TerminateOtherDBBackends`.
fn check_not_prepared(host: &mut dyn CommandHost, database: Oid, name: &str) -> Result<()> {
    let prepared = host.backend().storage().txns.prepared_of(database);
    if prepared == 0 {
        return Ok(());
    }
    let message = format!("database \"{name}\" is being used by prepared transactions");
    let users = Users { sessions: 0, prepared };
    Err(pg_err!(OBJECT_IN_USE, "{message}").detail(users.describe()))
}

impl Users {
    /// Counterpart: `errdetail_busy_db`.
    fn describe(self) -> String {
        let Users { sessions, prepared } = self;
        match (sessions, prepared) {
            (1, 0) => "There is 1 other session using the database.".to_string(),
            (n, 0) => format!("There are {n} other sessions using the database."),
            (0, 1) => "There is 1 prepared transaction using the database.".to_string(),
            (0, n) => format!("There are {n} prepared transactions using the database."),
            (n, m) => format!(
                "There are {n} other session(s) and {m} prepared transaction(s) using the database."
            ),
        }
    }
}

/// `pg_database.datconnlimit` of an invalid database, whose DROP is in progress or has failed.
/// Counterpart: `DATCONNLIMIT_INVALID_DB`.
pub const INVALID: i32 = -2;

/// True if the database is marked invalid.
pub fn is_invalid(row: &PgDatabase) -> bool {
    row.datconnlimit == INVALID
}

/// Error 55000: an invalid database can only be dropped.
pub fn invalid(message: String) -> PgError {
    pg_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "{message}")
        .hint("Use DROP DATABASE to drop invalid databases.")
}

/// The options of CREATE DATABASE.
#[derive(Default)]
struct Options<'a> {
    tablespace: Option<&'a DefElem>,
    owner: Option<&'a DefElem>,
    template: Option<&'a DefElem>,
    encoding: Option<&'a DefElem>,
    locale: Option<&'a DefElem>,
    collate: Option<&'a DefElem>,
    ctype: Option<&'a DefElem>,
    icu_locale: Option<&'a DefElem>,
    provider: Option<&'a DefElem>,
    is_template: Option<&'a DefElem>,
    allow: Option<&'a DefElem>,
    limit: Option<&'a DefElem>,
    collversion: Option<&'a DefElem>,
    strategy: Option<&'a DefElem>,
    oid: Option<&'a DefElem>,
}

fn sorted<'a>(host: &mut dyn CommandHost, defs: &'a [DefElem]) -> Result<Options<'a>> {
    let mut out = Options::default();
    for d in defs {
        let place = match &*d.defname {
            "tablespace" => &mut out.tablespace,
            "owner" => &mut out.owner,
            "template" => &mut out.template,
            "encoding" => &mut out.encoding,
            "locale" => &mut out.locale,
            "lc_collate" => &mut out.collate,
            "lc_ctype" => &mut out.ctype,
            "icu_locale" => &mut out.icu_locale,
            "locale_provider" => &mut out.provider,
            "is_template" => &mut out.is_template,
            "allow_connections" => &mut out.allow,
            "connection_limit" => &mut out.limit,
            "collation_version" => &mut out.collversion,
            "strategy" => &mut out.strategy,
            "oid" => &mut out.oid,
            "location" => {
                host.notice(
                    pg_err!(FEATURE_NOT_SUPPORTED, "LOCATION is not supported anymore")
                        .hint("Consider using tablespaces instead.")
                        .severity(Severity::Warning),
                );
                continue;
            }
            other => {
                return Err(at(pg_err!(SYNTAX_ERROR, "option \"{other}\" not recognized"), d));
            }
        };
        if place.is_some() {
            return Err(at(pg_err!(SYNTAX_ERROR, "conflicting or redundant options"), d));
        }
        *place = Some(d);
    }
    if let Some(d) = out.locale
        && (out.collate.is_some() || out.ctype.is_some())
    {
        return Err(at(pg_err!(SYNTAX_ERROR, "conflicting or redundant options"), d)
            .detail("LOCALE cannot be specified together with LC_COLLATE or LC_CTYPE."));
    }
    Ok(out)
}

/// The option's value; `None` for DEFAULT.
fn given(def: Option<&DefElem>) -> Result<Option<String>> {
    match def {
        Some(d) if d.arg.is_some() => Ok(Some(options::text(d)?)),
        _ => Ok(None),
    }
}

fn connection_limit(def: &DefElem) -> Result<i32> {
    let limit = options::integer(def)?;
    match i32::try_from(limit) {
        Ok(limit) if limit >= -1 => Ok(limit),
        _ => bail!(INVALID_PARAMETER_VALUE, "invalid connection limit: {limit}"),
    }
}

fn encoding_of(def: &DefElem) -> Result<i32> {
    let refused = |e: i32| !(0..=encoding::LAST_SERVER).contains(&e);
    match &def.arg {
        Some(Node::Integer(n)) => {
            if refused(*n) {
                let e = pg_err!(UNDEFINED_OBJECT, "{n} is not a valid encoding code");
                return Err(at(e, def));
            }
            Ok(*n)
        }
        _ => {
            let name = options::text(def)?;
            match encoding::number(&name).filter(|e| !refused(*e)) {
                Some(e) => Ok(e),
                None => {
                    let e = pg_err!(UNDEFINED_OBJECT, "{name} is not a valid encoding name");
                    Err(at(e, def))
                }
            }
        }
    }
}

/// CREATE DATABASE.
pub fn create_database(host: &mut dyn CommandHost, stmt: &CreatedbStmt) -> Result<()> {
    host.prevent_in_transaction_block("CREATE DATABASE")?;
    let name = stdx::clip(&stmt.dbname, 63).to_string();
    let opts = sorted(host, &stmt.options)?;
    let wanted_oid = opts.oid.map(|d| reserved_oid(d, &name)).transpose()?;
    let owner = match given(opts.owner)? {
        Some(name) => role_named(host, &name)?,
        None => names::user(host),
    };
    let wanted_encoding = match opts.encoding {
        Some(d) if d.arg.is_some() => Some(encoding_of(d)?),
        _ => None,
    };
    let datistemplate = match opts.is_template {
        Some(d) if d.arg.is_some() => options::boolean(d)?,
        _ => false,
    };
    let datallowconn = match opts.allow {
        Some(d) if d.arg.is_some() => options::boolean(d)?,
        _ => true,
    };
    let datconnlimit = match opts.limit {
        Some(d) if d.arg.is_some() => connection_limit(d)?,
        _ => -1,
    };
    provider_of(&opts)?;
    if !may_create_databases(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied to create database");
    }
    names::must_be_member(host, owner)?;

    let template = given(opts.template)?.unwrap_or_else(|| "template1".to_string());
    let source = template_database(host, &template)?;
    let by_copy = is_by_copy(&opts)?;
    let encoding = wanted_encoding.unwrap_or(source.encoding);
    let was = Locales::of(&source);
    let new = new_locales(host, &opts, &was, encoding)?;
    // Only for template0 is it known that it contains no data that depends on the collation.
    if template != "template0" {
        check_against_template(&was, &new)?;
    }
    let datcollversion = collation_version(&opts, &source, &new)?;
    let dattablespace = match given(opts.tablespace)? {
        Some(name) => tablespace_named(host, &name)?,
        None => source.dattablespace,
    };
    if host.catalog().find_database(&name)?.is_some() {
        bail!(DUPLICATE_DATABASE, "database \"{name}\" already exists");
    }
    check_unused(host, source.oid, &format!("source database \"{template}\""))?;
    let row = PgDatabase {
        oid: new_oid(host, wanted_oid)?,
        datname: Name::new(&name),
        datdba: owner,
        encoding,
        datistemplate,
        datallowconn,
        datconnlimit,
        dattablespace,
        datlocprovider: new.provider,
        datcollate: Text::from(new.collate),
        datctype: Text::from(new.ctype),
        daticulocale: new.icu.map(Text::from),
        datcollversion,
        datacl: None,
        ..source.row.clone()
    };
    insert(host, &row, &source, by_copy)
}

/// The OID that the statement gives.
fn reserved_oid(d: &DefElem, name: &str) -> Result<Oid> {
    let oid = options::integer(d)?;
    let oid =
        u32::try_from(oid).map_err(|_| pg_err!(INVALID_PARAMETER_VALUE, "OID out of range"))?;
    if oid < 16384 && name != "template0" && name != "postgres" {
        bail!(INVALID_PARAMETER_VALUE, "OIDs less than 16384 are reserved for system objects");
    }
    Ok(Oid(oid))
}

fn provider_of(opts: &Options<'_>) -> Result<Option<CollProvider>> {
    let Some(provider) = given(opts.provider)? else { return Ok(None) };
    match provider.to_ascii_lowercase().as_str() {
        "libc" => Ok(Some(CollProvider::Libc)),
        "icu" => Ok(Some(CollProvider::Icu)),
        _ => bail!(INVALID_OBJECT_DEFINITION, "unrecognized locale provider: {provider}"),
    }
}

/// The database to be copied, locked. Error 42501 unless the user may copy it.
fn template_database(
    host: &mut dyn CommandHost,
    template: &str,
) -> Result<catalog::Row<PgDatabase>> {
    let Some(source) = locked(host, template, LockMode::Share)? else {
        bail!(UNDEFINED_DATABASE, "template database \"{template}\" does not exist")
    };
    if is_invalid(&source) {
        let message = format!("cannot use invalid database \"{template}\" as template");
        return Err(invalid(message));
    }
    if !source.datistemplate && !names::is_owner(host, source.datdba)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied to copy database \"{template}\"");
    }
    Ok(source)
}

/// True if STRATEGY specifies that files are copied, instead of pages being logged one by one.
fn is_by_copy(opts: &Options<'_>) -> Result<bool> {
    let Some(word) = given(opts.strategy)? else { return Ok(false) };
    match word.to_ascii_lowercase().as_str() {
        "wal_log" => Ok(false),
        "file_copy" => Ok(true),
        _ => Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid create database strategy \"{word}\"")
            .hint("Valid strategies are \"wal_log\" and \"file_copy\".")),
    }
}

/// The locale settings of a database.
struct Locales {
    encoding: i32,
    provider: CollProvider,
    collate: String,
    ctype: String,
    icu: Option<String>,
}

impl Locales {
    fn of(row: &PgDatabase) -> Locales {
        Locales {
            encoding: row.encoding,
            provider: row.datlocprovider,
            collate: row.datcollate.as_str().to_owned(),
            ctype: row.datctype.as_str().to_owned(),
            icu: row.daticulocale.as_ref().map(|t| t.as_str().to_owned()),
        }
    }

    /// The name of the locale that orders texts.
    fn order(&self) -> &str {
        match &self.icu {
            Some(icu) if self.provider == CollProvider::Icu => icu,
            _ => &self.collate,
        }
    }
}

/// The locales of the new database.
fn new_locales(
    host: &mut dyn CommandHost,
    opts: &Options<'_>,
    source: &Locales,
    encoding: i32,
) -> Result<Locales> {
    let locale = given(opts.locale)?;
    let collate = given(opts.collate)?.or_else(|| locale.clone());
    let ctype = given(opts.ctype)?.or(locale);
    // C and POSIX are the same locale.
    let canonical = |name: String| if name == "POSIX" { "C".to_owned() } else { name };
    let collate = canonical(collate.unwrap_or_else(|| source.collate.clone()));
    let ctype = canonical(ctype.unwrap_or_else(|| source.ctype.clone()));
    for locale in [&collate, &ctype] {
        if !host.locale_exists(locale) {
            bail!(WRONG_OBJECT_TYPE, "invalid locale name: \"{locale}\"");
        }
    }
    let superuser = names::is_superuser(host)?;
    for (locale, word) in [(&ctype, "LC_CTYPE"), (&collate, "LC_COLLATE")] {
        collations::check_encoding(locale, word, encoding, superuser)?;
    }
    let provider = provider_of(opts)?.unwrap_or(source.provider);
    let mut icu = given(opts.icu_locale)?;
    if provider == CollProvider::Icu {
        icu = icu.or_else(|| source.icu.clone());
        if encoding != encoding::UTF8 {
            bail!(
                INVALID_PARAMETER_VALUE,
                "encoding \"{}\" is not supported with ICU provider",
                encoding::name(encoding)
            );
        }
        match &icu {
            None => bail!(INVALID_PARAMETER_VALUE, "ICU locale must be specified"),
            Some(name) => locales::check_icu(name)?,
        }
    } else if icu.is_some() {
        bail!(
            INVALID_OBJECT_DEFINITION,
            "ICU locale cannot be specified unless locale provider is ICU"
        );
    }
    Ok(Locales { encoding, provider, collate, ctype, icu })
}

/// The collation version of the new database. Error XX000 if that of the template is not the
/// present one.
fn collation_version(
    opts: &Options<'_>,
    source: &PgDatabase,
    locales: &Locales,
) -> Result<Option<Text>> {
    if let Some(version) = given(opts.collversion)? {
        return Ok(Some(Text::from(version)));
    }
    let actual = collations::actual_version(locales.provider, locales.order());
    let Some(recorded) = &source.datcollversion else { return Ok(actual.map(Text::from)) };
    let template = source.datname.as_str();
    let Some(actual) = actual else {
        let message = format!(
            "template database \"{template}\" has a collation version, but no actual collation \
             version could be determined"
        );
        return Err(PgError::internal(message));
    };
    let recorded = recorded.as_str();
    if actual == recorded {
        return Ok(Some(Text::from(actual)));
    }
    let quoted = catalog::format_type::quote_identifier(template);
    let message = format!("template database \"{template}\" has a collation version mismatch");
    Err(PgError::internal(message)
        .detail(format!(
            "The template database was created using collation version {recorded}, but the \
             operating system provides version {actual}."
        ))
        .hint(format!(
            "Rebuild all objects in the template database that use the default collation and run \
             ALTER DATABASE {quoted} REFRESH COLLATION VERSION, or build PostgreSQL with the right \
             library version."
        )))
}

/// Inserts the database and copies its files.
fn insert(
    host: &mut dyn CommandHost,
    row: &PgDatabase,
    source: &PgDatabase,
    by_copy: bool,
) -> Result<()> {
    let mut cat = host.catalog();
    cat.insert(row)?;
    cat.record_owner(ObjectAddress::of::<PgDatabase>(row.oid), row.datdba)?;
    copy_shared_dependencies(host, source.oid, row.oid)?;
    let from: DbKey = (source.dattablespace, source.oid);
    let to: DbKey = (row.dattablespace, row.oid);
    host.backend().lock(tag(row.oid), LockMode::AccessShare)?;
    let engine = host.engine();
    if by_copy {
        engine.create_database_by_copy(host.backend(), from, to)?;
    } else {
        let relations = relations_of(host, from)?;
        engine.create_database(host.backend(), from, to, &relations)?;
    }
    host.backend().force_sync_commit();
    Ok(())
}

fn role_named(host: &mut dyn CommandHost, name: &str) -> Result<Oid> {
    let spec = RoleSpec {
        roletype: match name {
            "current_user" => RoleSpecType::CurrentUser,
            "current_role" => RoleSpecType::CurrentRole,
            "session_user" => RoleSpecType::SessionUser,
            _ => RoleSpecType::Name,
        },
        rolename: Some(name.into()),
        ..RoleSpec::default()
    };
    names::role_oid(host, &spec)
}

/// Counterpart: `have_createdb_privilege`.
fn may_create_databases(host: &mut dyn CommandHost) -> Result<bool> {
    if names::is_superuser(host)? {
        return Ok(true);
    }
    let user = names::user(host);
    Ok(host.catalog().role_row(user)?.is_some_and(|r| r.rolcreatedb))
}

/// Error 22023 if data of the template would have another encoding or order in the new database.
fn check_against_template(source: &Locales, new: &Locales) -> Result<()> {
    let differs = |message: String, what: &str| {
        Err(pg_err!(INVALID_PARAMETER_VALUE, "{message}").hint(format!(
            "Use the same {what} as in the template database, or use template0 as template."
        )))
    };
    if new.encoding != source.encoding {
        let (new, was) = (encoding::name(new.encoding), encoding::name(source.encoding));
        let message = format!(
            "new encoding ({new}) is incompatible with the encoding of the template database \
             ({was})"
        );
        return differs(message, "encoding");
    }
    if new.collate != source.collate {
        let message = format!(
            "new collation ({}) is incompatible with the collation of the template database ({})",
            new.collate, source.collate
        );
        return differs(message, "collation");
    }
    if new.ctype != source.ctype {
        let message = format!(
            "new LC_CTYPE ({}) is incompatible with the LC_CTYPE of the template database ({})",
            new.ctype, source.ctype
        );
        return differs(message, "LC_CTYPE");
    }
    if new.provider != source.provider {
        let name = |p| if p == CollProvider::Icu { "icu" } else { "libc" };
        let message = format!(
            "new locale provider ({}) does not match locale provider of the template database ({})",
            name(new.provider),
            name(source.provider)
        );
        return differs(message, "locale provider");
    }
    if let (Some(icu), Some(was)) = (&new.icu, &source.icu)
        && icu != was
    {
        let message = format!(
            "new ICU locale ({icu}) is incompatible with the ICU locale of the template database \
             ({was})"
        );
        return differs(message, "ICU locale");
    }
    Ok(())
}

fn tablespace_named(host: &mut dyn CommandHost, name: &str) -> Result<Oid> {
    let row = host.catalog().find_tablespace(name)?;
    let row =
        row.ok_or_else(|| pg_err!(UNDEFINED_OBJECT, "tablespace \"{name}\" does not exist"))?;
    tablespace::may_create_in(host, &row)?;
    if row.oid == RelFile::GLOBAL_TABLESPACE {
        bail!(INVALID_PARAMETER_VALUE, "pg_global cannot be used as default tablespace");
    }
    Ok(row.oid)
}

/// The requested OID, or a free one without leftover files.
fn new_oid(host: &mut dyn CommandHost, wanted: Option<Oid>) -> Result<Oid> {
    let engine = host.engine();
    if let Some(oid) = wanted {
        if let Some(row) = host.catalog().database(oid)? {
            bail!(
                INVALID_PARAMETER_VALUE,
                "database OID {oid} is already in use by database \"{}\"",
                row.datname
            );
        }
        if engine.has_database_files(oid)? {
            bail!(
                INVALID_PARAMETER_VALUE,
                "data directory with the specified OID {oid} already exists"
            );
        }
        return Ok(oid);
    }
    loop {
        let oid = host.catalog().new_oid(indexes::PG_DATABASE_OID_INDEX)?;
        if !engine.has_database_files(oid)? {
            return Ok(oid);
        }
    }
}

/// Counterpart: `copyTemplateDependencies`.
fn copy_shared_dependencies(host: &mut dyn CommandHost, from: Oid, to: Oid) -> Result<()> {
    let mut cat = host.catalog();
    for row in cat.scan(indexes::PG_SHDEPEND_DEPENDER_INDEX, &[from.into()])? {
        cat.insert(&PgShdepend { dbid: to, ..row.row.clone() })?;
    }
    Ok(())
}

/// The relations with storage in the catalogs of a database. Counterpart:
/// `ScanSourceDatabasePgClass`.
fn relations_of(host: &mut dyn CommandHost, db: DbKey) -> Result<Vec<SourceRelation>> {
    let engine = host.engine();
    let mut out = Vec::new();
    for class in host.classes_of(db)? {
        let stored = class.relkind.has_storage();
        if !stored
            || class.relpersistence == Persistence::Temporary
            || class.reltablespace == RelFile::GLOBAL_TABLESPACE
        {
            continue;
        }
        let number = match class.relfilenode.valid() {
            Some(number) => number,
            None => engine.relmaps().lookup(db, class.oid)?.ok_or_else(|| {
                PgError::internal(format!("relation mapping not found for {}", class.oid))
            })?,
        };
        let tablespace = class.reltablespace.valid().unwrap_or(db.0);
        let file = RelFile::new(tablespace, db.1, number);
        out.push(SourceRelation { file, unlogged: class.relpersistence == Persistence::Unlogged });
    }
    Ok(out)
}

/// DROP DATABASE.
pub fn drop_database(host: &mut dyn CommandHost, stmt: &DropdbStmt) -> Result<()> {
    host.prevent_in_transaction_block("DROP DATABASE")?;
    let name = &*stmt.dbname;
    let mut force = false;
    for d in &stmt.options {
        match &*d.defname {
            "force" => force = true,
            other => {
                let e = pg_err!(SYNTAX_ERROR, "unrecognized DROP DATABASE option \"{other}\"");
                return Err(at(e, d));
            }
        }
    }
    let Some(row) = locked(host, name, LockMode::AccessExclusive)? else {
        if !stmt.missing_ok {
            return Err(missing(name));
        }
        host.notice(notice(pg_err!(
            SUCCESSFUL_COMPLETION,
            "database \"{name}\" does not exist, skipping"
        )));
        return Ok(());
    };
    let oid = row.oid;
    must_own(host, &row)?;
    if row.datistemplate {
        bail!(WRONG_OBJECT_TYPE, "cannot drop a template database");
    }
    if oid == host.backend().database() {
        bail!(OBJECT_IN_USE, "cannot drop the currently open database");
    }
    if force {
        check_not_prepared(host, oid, name)?;
        host.terminate_sessions(oid)?;
    }
    check_unused(host, oid, &format!("database \"{name}\""))?;
    // The removal of files cannot be rolled back. The row is marked invalid durably before the
    // first file is removed. If the statement fails, it can only be repeated.
    let mut cat = host.catalog();
    let mark = |row: &mut PgDatabase| row.datconnlimit = INVALID;
    if !cat.update_in_place(indexes::PG_DATABASE_OID_INDEX, &[oid.into()], mark)? {
        return Err(PgError::internal(format!("cache lookup failed for database {oid}")));
    }
    let wal = host.backend().storage().wal.clone();
    wal.flush(wal.inserted())?;
    let mut cat = host.catalog();
    cat.delete(&row)?;
    let keys = [oid.into(), PgDatabase::RELATION.into()];
    for row in cat.scan(indexes::PG_SHDESCRIPTION_O_C_INDEX, &keys)? {
        cat.delete(&row)?;
    }
    let index = indexes::PG_DB_ROLE_SETTING_DATABASEID_ROL_INDEX;
    for row in cat.scan(index, &[oid.into()])? {
        cat.delete(&row)?;
    }
    for row in cat.scan(indexes::PG_SHDEPEND_DEPENDER_INDEX, &[oid.into()])? {
        cat.delete(&row)?;
    }
    cat.delete_shared_dependencies(ObjectAddress::of::<PgDatabase>(oid))?;
    host.backend().count_dropped(StatsKind::Database, oid, false);
    let engine = host.engine();
    engine.drop_database(host.backend(), oid)?;
    host.forget_database(oid);
    host.backend().force_sync_commit();
    Ok(())
}

/// Error 42501 unless the user owns the database with this name.
pub fn must_own_named(host: &mut dyn CommandHost, name: &str) -> Result<()> {
    let row = find(host, name)?;
    must_own(host, &row)
}

fn must_own(host: &mut dyn CommandHost, row: &PgDatabase) -> Result<()> {
    if !names::is_owner(host, row.datdba)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of database {}", row.datname);
    }
    Ok(())
}

/// ALTER DATABASE with options, and SET TABLESPACE.
pub fn alter_database(host: &mut dyn CommandHost, stmt: &AlterDatabaseStmt) -> Result<()> {
    let name = &*stmt.dbname;
    let (mut template, mut allow, mut limit, mut tablespace) = (None, None, None, None);
    for d in &stmt.options {
        let place = match &*d.defname {
            "is_template" => &mut template,
            "allow_connections" => &mut allow,
            "connection_limit" => &mut limit,
            "tablespace" => &mut tablespace,
            other => {
                return Err(at(pg_err!(SYNTAX_ERROR, "option \"{other}\" not recognized"), d));
            }
        };
        if place.is_some() {
            return Err(at(pg_err!(SYNTAX_ERROR, "conflicting or redundant options"), d));
        }
        *place = Some(d);
    }
    if let Some(d) = tablespace {
        if stmt.options.len() != 1 {
            return Err(at(
                pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "option \"{}\" cannot be specified with other options",
                    d.defname
                ),
                d,
            ));
        }
        host.prevent_in_transaction_block("ALTER DATABASE SET TABLESPACE")?;
        let to = options::text(d)?;
        return move_database(host, name, &to);
    }
    let limit = match limit {
        Some(d) => Some(connection_limit(d)?),
        None => None,
    };
    let oid = find(host, name)?.oid;
    // The row is locked until the end of the transaction, so that a concurrent drop is detected.
    let row = host.catalog().scan_locked(indexes::PG_DATABASE_OID_INDEX, &[oid.into()])?;
    let row = row.ok_or_else(|| missing(name))?;
    if is_invalid(&row) {
        let message = format!("cannot alter invalid database \"{name}\"");
        return Err(invalid(message).severity(Severity::Fatal));
    }
    must_own(host, &row)?;
    let mut new = row.row.clone();
    if let Some(d) = template {
        new.datistemplate = options::boolean(d)?;
    }
    if let Some(d) = allow {
        new.datallowconn = options::boolean(d)?;
        if !new.datallowconn && new.oid == host.backend().database() {
            bail!(INVALID_PARAMETER_VALUE, "cannot disallow connections for current database");
        }
    }
    if let Some(limit) = limit {
        new.datconnlimit = limit;
    }
    let mut cat = host.catalog();
    cat.update(&row, &new)?;
    Ok(())
}

fn find(host: &mut dyn CommandHost, name: &str) -> Result<catalog::Row<PgDatabase>> {
    host.catalog().find_database(name)?.ok_or_else(|| missing(name))
}

/// ALTER DATABASE … SET TABLESPACE. Counterpart: `movedb`.
fn move_database(host: &mut dyn CommandHost, name: &str, to: &str) -> Result<()> {
    let row = locked(host, name, LockMode::AccessExclusive)?.ok_or_else(|| missing(name))?;
    must_own(host, &row)?;
    if row.oid == host.backend().database() {
        bail!(OBJECT_IN_USE, "cannot change the tablespace of the currently open database");
    }
    let tablespace = tablespace_named(host, to)?;
    if tablespace == row.dattablespace {
        return Ok(());
    }
    check_unused(host, row.oid, &format!("database \"{name}\""))?;
    let from: DbKey = (row.dattablespace, row.oid);
    let engine = host.engine();
    engine.move_database(host.backend(), from, (tablespace, row.oid))?;
    let mut cat = host.catalog();
    cat.update(&row, &PgDatabase { dattablespace: tablespace, ..row.row.clone() })?;
    host.backend().force_sync_commit();
    // A session-level lock excludes new connections while the files exist in both tablespaces.
    let held = tag(row.oid);
    host.backend().session_lock(held, LockMode::AccessExclusive, lmgr::WaitPolicy::Wait)?;
    let done = host.next_transaction().and_then(|()| engine.drop_database_in(host.backend(), from));
    host.forget_database(row.oid);
    host.backend().session_unlock(held, LockMode::AccessExclusive);
    host.backend().force_sync_commit();
    done
}

/// ALTER DATABASE … SET and RESET.
pub fn alter_database_set(host: &mut dyn CommandHost, stmt: &AlterDatabaseSetStmt) -> Result<()> {
    let row = find(host, &stmt.dbname)?;
    host.backend().lock(tag(row.oid), LockMode::AccessShare)?;
    must_own(host, &row)?;
    crate::setting::alter(host, row.oid, Oid::INVALID, &stmt.setstmt)
}

/// ALTER DATABASE … RENAME TO. Counterpart: `RenameDatabase`.
pub fn rename(host: &mut dyn CommandHost, old: &str, new: &str) -> Result<()> {
    let row = locked(host, old, LockMode::AccessExclusive)?.ok_or_else(|| missing(old))?;
    must_own(host, &row)?;
    if !may_create_databases(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied to rename database");
    }
    if host.catalog().find_database(new)?.is_some() {
        bail!(DUPLICATE_DATABASE, "database \"{new}\" already exists");
    }
    if row.oid == host.backend().database() {
        bail!(FEATURE_NOT_SUPPORTED, "current database cannot be renamed");
    }
    check_unused(host, row.oid, &format!("database \"{old}\""))?;
    let mut cat = host.catalog();
    cat.update(&row, &PgDatabase { datname: Name::new(new), ..row.row.clone() })?;
    cat.increment_command_counter()
}

/// Checks that the user may change the database's owner. Counterpart: the checks of
/// `AlterDatabaseOwner`.
pub fn may_change_owner(host: &mut dyn CommandHost, row: &PgDatabase, owner: Oid) -> Result<()> {
    must_own(host, row)?;
    names::must_be_member(host, owner)?;
    if !may_create_databases(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied to change owner of database");
    }
    Ok(())
}

/// ALTER DATABASE … REFRESH COLLATION VERSION.
pub fn refresh_collation(host: &mut dyn CommandHost, name: &str) -> Result<()> {
    let row = find(host, name)?;
    must_own(host, &row)?;
    let locales = Locales::of(&row);
    let new = collations::actual_version(locales.provider, locales.order());
    let old = row.datcollversion.as_ref().map(Text::as_str);
    if define::collation::changes_version(host, old, new.as_deref())? {
        let datcollversion = new.map(Text::from);
        host.catalog().update(&row, &PgDatabase { datcollversion, ..row.row.clone() })?;
    }
    Ok(())
}

/// OWNER TO of a database.
pub fn set_owner(host: &mut dyn CommandHost, name: &str, owner: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let Some(row) = cat.find_database(name)? else {
        bail!(UNDEFINED_DATABASE, "database \"{name}\" does not exist")
    };
    if row.datdba == owner {
        return Ok(());
    }
    may_change_owner(host, &row, owner)?;
    let datacl = owner::acl_of(row.datacl.clone(), row.datdba, owner);
    host.catalog().update(&row, &PgDatabase { datdba: owner, datacl, ..row.row.clone() })?;
    owner::record(host, ObjectAddress::of::<PgDatabase>(row.oid), owner)
}
