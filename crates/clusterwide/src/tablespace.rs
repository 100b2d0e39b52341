//! CREATE, DROP and ALTER TABLESPACE.
//!
//! Counterpart: tablespace.c.

use catalog::rows::{CatalogRow, Name, PgTablespace, Text, indexes};
use catalog::{ObjectAddress, acl};
use define::object::owner;
use ids::{Oid, RelFile};
use parse::ast::{AlterTableSpaceOptionsStmt, CreateTableSpaceStmt, DefElem, DropTableSpaceStmt};
use pgerror::{Result, bail, pg_err};
use utility::host::{CommandHost, notice};
use utility::{names, options};

/// Maximum length of a location in bytes, so that the paths of relation files below it are not too
/// long.
const LOCATION_MAX: usize = 1024 - 68;

/// Applies SET or RESET options.
fn changed(old: Option<Vec<Text>>, defs: &[DefElem], reset: bool) -> Result<Option<Vec<Text>>> {
    let mut list = old.unwrap_or_default();
    for d in defs {
        let name = &*d.defname;
        if reset && d.arg.is_some() {
            bail!(SYNTAX_ERROR, "RESET must not include values for parameters");
        }
        let known = [
            "random_page_cost",
            "seq_page_cost",
            "effective_io_concurrency",
            "maintenance_io_concurrency",
        ];
        if !reset && !known.contains(&name) {
            bail!(INVALID_PARAMETER_VALUE, "unrecognized parameter \"{name}\"");
        }
        list.retain(|t| t.as_str().split('=').next() != Some(name));
        if !reset {
            let value = options::text(d)?;
            if value.trim().parse::<f64>().is_err() {
                let kind = if name.ends_with("cost") { "floating point" } else { "integer" };
                bail!(
                    INVALID_PARAMETER_VALUE,
                    "invalid value for {kind} option \"{name}\": {value}"
                );
            }
            list.push(Text::from(format!("{name}={value}")));
        }
    }
    Ok((!list.is_empty()).then_some(list))
}

/// CREATE TABLESPACE.
pub fn create(host: &mut dyn CommandHost, stmt: &CreateTableSpaceStmt) -> Result<()> {
    host.prevent_in_transaction_block("CREATE TABLESPACE")?;
    let name = stdx::clip(&stmt.tablespacename, 63).to_string();
    if !names::is_superuser(host)? {
        return Err(pg_err!(
            INSUFFICIENT_PRIVILEGE,
            "permission denied to create tablespace \"{name}\""
        )
        .hint("Must be superuser to create a tablespace."));
    }
    let owner = match &stmt.owner {
        Some(role) => names::role_oid(host, role)?,
        None => names::user(host),
    };
    let in_place = host.setting("allow_in_place_tablespaces") == "on" && stmt.location.is_empty();
    let location = stmt.location.trim_end_matches('/').to_string();
    if location.contains('\'') {
        bail!(INVALID_NAME, "tablespace location cannot contain single quotes");
    }
    if !in_place && !location.starts_with('/') {
        bail!(INVALID_OBJECT_DEFINITION, "tablespace location must be an absolute path");
    }
    if location.len() > LOCATION_MAX {
        bail!(INVALID_OBJECT_DEFINITION, "tablespace location \"{location}\" is too long");
    }
    if name.starts_with("pg_") {
        return Err(pg_err!(RESERVED_NAME, "unacceptable tablespace name \"{name}\"")
            .detail("The prefix \"pg_\" is reserved for system tablespaces."));
    }
    if host.catalog().find_tablespace(&name)?.is_some() {
        bail!(DUPLICATE_OBJECT, "tablespace \"{name}\" already exists");
    }
    let spcoptions = changed(None, &stmt.options, false)?;
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_TABLESPACE_OID_INDEX)?;
    cat.insert(&PgTablespace {
        oid,
        spcname: Name::new(&name),
        spcowner: owner,
        spcacl: None,
        spcoptions,
    })?;
    cat.record_owner(ObjectAddress::of::<PgTablespace>(oid), owner)?;
    let engine = host.engine();
    engine.create_tablespace(host.backend(), oid, &location)?;
    host.backend().force_sync_commit();
    Ok(())
}

fn find(host: &mut dyn CommandHost, name: &str) -> Result<catalog::Row<PgTablespace>> {
    let row = host.catalog().find_tablespace(name)?;
    row.ok_or_else(|| pg_err!(UNDEFINED_OBJECT, "tablespace \"{name}\" does not exist"))
}

fn must_own(host: &mut dyn CommandHost, row: &PgTablespace) -> Result<()> {
    if !names::is_owner(host, row.spcowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of tablespace {}", row.spcname);
    }
    Ok(())
}

/// DROP TABLESPACE.
pub fn drop(host: &mut dyn CommandHost, stmt: &DropTableSpaceStmt) -> Result<()> {
    host.prevent_in_transaction_block("DROP TABLESPACE")?;
    let name = &*stmt.tablespacename;
    let Some(row) = host.catalog().find_tablespace(name)? else {
        if !stmt.missing_ok {
            bail!(UNDEFINED_OBJECT, "tablespace \"{name}\" does not exist");
        }
        host.notice(notice(pg_err!(
            SUCCESSFUL_COMPLETION,
            "tablespace \"{name}\" does not exist, skipping"
        )));
        return Ok(());
    };
    must_own(host, &row)?;
    if row.oid == RelFile::DEFAULT_TABLESPACE || row.oid == RelFile::GLOBAL_TABLESPACE {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied for tablespace {name}");
    }
    let this = ObjectAddress::of::<PgTablespace>(row.oid);
    let keys = [this.class.into(), this.object.into()];
    let mut cat = host.catalog();
    let mut dependents = cat.scan(indexes::PG_SHDEPEND_REFERENCE_INDEX, &keys)?;
    dependents.sort_by_key(|u| (u.objid, u.classid, u.objsubid, u.deptype));
    if !dependents.is_empty() {
        let detail = crate::role::shared_dependents(&mut cat, &dependents)?;
        return Err(pg_err!(
            DEPENDENT_OBJECTS_STILL_EXIST,
            "tablespace \"{name}\" cannot be dropped because some objects depend on it"
        )
        .detail(detail));
    }
    cat.delete(&row)?;
    let keys = [row.oid.into(), PgTablespace::RELATION.into()];
    for row in cat.scan(indexes::PG_SHDESCRIPTION_O_C_INDEX, &keys)? {
        cat.delete(&row)?;
    }
    cat.delete_shared_dependencies(this)?;
    let engine = host.engine();
    if !engine.drop_tablespace(host.backend(), row.oid)? {
        bail!(OBJECT_NOT_IN_PREREQUISITE_STATE, "tablespace \"{name}\" is not empty");
    }
    host.backend().force_sync_commit();
    Ok(())
}

/// ALTER TABLESPACE … SET and RESET.
pub fn set_options(host: &mut dyn CommandHost, stmt: &AlterTableSpaceOptionsStmt) -> Result<()> {
    let row = find(host, &stmt.tablespacename)?;
    must_own(host, &row)?;
    let spcoptions = changed(row.spcoptions.clone(), &stmt.options, stmt.is_reset)?;
    let mut cat = host.catalog();
    cat.update(&row, &PgTablespace { spcoptions, ..row.row.clone() })?;
    Ok(())
}

/// ALTER TABLESPACE … RENAME TO.
pub fn rename(host: &mut dyn CommandHost, old: &str, new: &str) -> Result<()> {
    let row = find(host, old)?;
    must_own(host, &row)?;
    if new.starts_with("pg_") {
        return Err(pg_err!(RESERVED_NAME, "unacceptable tablespace name \"{new}\"")
            .detail("The prefix \"pg_\" is reserved for system tablespaces."));
    }
    if host.catalog().find_tablespace(new)?.is_some() {
        bail!(DUPLICATE_OBJECT, "tablespace \"{new}\" already exists");
    }
    let mut cat = host.catalog();
    cat.update(&row, &PgTablespace { spcname: Name::new(new), ..row.row.clone() })?;
    Ok(())
}

/// `reltablespace` of a new relation: the named tablespace or the one of `default_tablespace`,
/// which does not apply to temporary relations; 0 for the database's default. Counterpart:
/// `GetDefaultTablespace` and the checks in `DefineRelation` and `DefineIndex`.
pub fn of_relation(host: &mut dyn CommandHost, name: Option<&str>, temporary: bool) -> Result<Oid> {
    let row = match name {
        Some(name) => find(host, name)?,
        None if temporary => return Ok(Oid::INVALID),
        None => {
            let name = host.setting("default_tablespace");
            match host.catalog().find_tablespace(&name)? {
                Some(row) => row,
                None => return Ok(Oid::INVALID),
            }
        }
    };
    let own = host.catalog().session.tablespace;
    if row.oid == own {
        return Ok(Oid::INVALID);
    }
    may_create_in(host, &row)?;
    if row.oid == RelFile::GLOBAL_TABLESPACE {
        bail!(
            INVALID_PARAMETER_VALUE,
            "only shared relations can be placed in pg_global tablespace"
        );
    }
    Ok(row.oid)
}

/// As [`of_relation`], for a partitioned table or index. The database's default must not be named,
/// because it could not be distinguished from no tablespace.
pub fn of_partitioned(
    host: &mut dyn CommandHost,
    name: Option<&str>,
    temporary: bool,
) -> Result<Oid> {
    let found = of_relation(host, name, temporary)?;
    if found.is_valid() {
        return Ok(found);
    }
    let name = match name {
        Some(name) => name.to_owned(),
        None if temporary => return Ok(found),
        None => host.setting("default_tablespace"),
    };
    if host.catalog().find_tablespace(&name)?.is_some() {
        bail!(FEATURE_NOT_SUPPORTED, "cannot specify default tablespace for partitioned relations");
    }
    Ok(found)
}

/// The tablespace of an index that is recreated in its old tablespace, without a privilege check; 0
/// for the database's default.
pub fn named_unchecked(host: &mut dyn CommandHost, name: &str) -> Result<Oid> {
    let oid = find(host, name)?.oid;
    Ok(if oid == host.catalog().session.tablespace { Oid::INVALID } else { oid })
}

/// Error 42501 unless the user has CREATE on the tablespace.
pub fn may_create_in(host: &mut dyn CommandHost, row: &PgTablespace) -> Result<()> {
    let (user, list) = (names::user(host), row.spcacl.as_deref());
    let kind = acl::Kind::Tablespace;
    if !host.catalog().has_privilege(user, row.spcowner, list, kind, acl::CREATE)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied for tablespace {}", row.spcname);
    }
    Ok(())
}

/// The name of a relation's tablespace; 0 is the default of the database.
pub fn name_of(host: &mut dyn CommandHost, tablespace: Oid) -> Result<parse::ast::Name> {
    let oid = tablespace.valid().unwrap_or(host.catalog().session.tablespace);
    let row = host.catalog().scan(indexes::PG_TABLESPACE_OID_INDEX, &[oid.into()])?.pop();
    let row: catalog::Row<PgTablespace> =
        row.ok_or_else(|| pg_err!(UNDEFINED_OBJECT, "tablespace with OID {oid} does not exist"))?;
    Ok(row.spcname.as_str().into())
}

/// OWNER TO of a tablespace.
pub fn set_owner(host: &mut dyn CommandHost, name: &str, owner: Oid) -> Result<()> {
    let row = find(host, name)?;
    if !names::is_owner(host, row.spcowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of tablespace {name}");
    }
    names::must_be_member(host, owner)?;
    let spcacl = owner::acl_of(row.spcacl.clone(), row.spcowner, owner);
    host.catalog().update(&row, &PgTablespace { spcowner: owner, spcacl, ..row.row.clone() })?;
    owner::record(host, ObjectAddress::of::<PgTablespace>(row.oid), owner)
}
