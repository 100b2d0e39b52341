//! ALTER TYPE … SET: properties of base types.
//!
//! Counterpart: typecmds.c (`AlterType`, `AlterTypeRecurse`).

use crate::basetype::{attribute_function, record_dependencies, storage};
use crate::routine::lookup::type_of;
use crate::typerow;
use analyze::typename::is_true_array;
use catalog::rows::{PgProc, PgType, indexes};
use catalog::{ObjectAddress, Row};
use ids::Oid;
use ids::code::{ColumnStorage, DepType, TypType};
use parse::ast::{AlterTypeStmt, DefElem, TypeName};
use pgerror::{PgError, Result, SqlState, bail};
use utility::host::CommandHost;
use utility::{names, options};

/// Attributes that CREATE TYPE sets for good.
const FIXED: &[&str] = &[
    "input",
    "output",
    "internallength",
    "passedbyvalue",
    "alignment",
    "like",
    "category",
    "preferred",
    "default",
    "element",
    "delimiter",
    "collatable",
];

/// The properties that are set; an invalid OID removes a function.
#[derive(Clone, Default)]
struct Changes {
    storage: Option<ColumnStorage>,
    receive: Option<Oid>,
    send: Option<Oid>,
    typmod_in: Option<Oid>,
    typmod_out: Option<Oid>,
    analyze: Option<Oid>,
    subscript: Option<Oid>,
}

fn invalid(message: &str) -> PgError {
    PgError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

/// ALTER TYPE … SET.
pub fn set(host: &mut dyn CommandHost, stmt: &AlterTypeStmt) -> Result<()> {
    let name = TypeName { names: stmt.type_name.clone(), location: -1, ..TypeName::default() };
    let oid = type_of(host, &name)?;
    let row = host.catalog().type_row(oid)?;
    let mut changes = Changes::default();
    let mut needs_superuser = false;
    for option in &stmt.options {
        needs_superuser |= changes.read(host, option, &row)?;
    }
    if !needs_superuser {
        typerow::must_own(host, &row)?;
    } else if !names::is_superuser(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to alter a type");
    }
    if row.typtype != TypType::Base || is_true_array(&row) {
        let shown = host.catalog().format_type(row.oid)?;
        bail!(WRONG_OBJECT_TYPE, "{shown} is not a base type");
    }
    apply(host, row, &changes)?;
    host.catalog().increment_command_counter()
}

impl Changes {
    /// Reads an option; true if only superusers may set it.
    fn read(&mut self, host: &mut dyn CommandHost, option: &DefElem, row: &PgType) -> Result<bool> {
        let name = match &*option.defname {
            "analyse" => "analyze",
            name => name,
        };
        let slot = match name {
            "storage" => return self.read_storage(option, row),
            "receive" => &mut self.receive,
            "send" => &mut self.send,
            "typmod_in" => &mut self.typmod_in,
            "typmod_out" => &mut self.typmod_out,
            "analyze" => &mut self.analyze,
            "subscript" => &mut self.subscript,
            name if FIXED.contains(&name) => {
                bail!(SYNTAX_ERROR, "type attribute \"{name}\" cannot be changed")
            }
            name => bail!(SYNTAX_ERROR, "type attribute \"{name}\" not recognized"),
        };
        *slot = Some(match &option.arg {
            Some(_) => {
                let function = options::qualified(option)?;
                attribute_function(host, name, row.oid, &function)?
            }
            None => Oid::INVALID,
        });
        Ok(true)
    }

    fn read_storage(&mut self, option: &DefElem, row: &PgType) -> Result<bool> {
        let new = storage(&options::text(option)?)?;
        let plain = ColumnStorage::Plain;
        if new != plain && row.typlen != -1 {
            return Err(invalid("fixed-size types must have storage PLAIN"));
        }
        // Values may be compressed or stored elsewhere only if the type's functions expect it.
        let needs_superuser = new != plain && row.typstorage == plain;
        if new == plain && row.typstorage != plain {
            return Err(invalid("cannot change type's storage to PLAIN"));
        }
        self.storage = Some(new);
        Ok(needs_superuser)
    }

    /// The part that domains of the type inherit.
    fn of_domains(&self) -> Option<Changes> {
        let (storage, send, analyze) = (self.storage, self.send, self.analyze);
        let any = storage.is_some() || send.is_some() || analyze.is_some();
        any.then(|| Changes { storage, send, analyze, ..Changes::default() })
    }

    fn new_row(&self, row: &PgType) -> PgType {
        PgType {
            typstorage: self.storage.unwrap_or(row.typstorage),
            typreceive: self.receive.unwrap_or(row.typreceive),
            typsend: self.send.unwrap_or(row.typsend),
            typmodin: self.typmod_in.unwrap_or(row.typmodin),
            typmodout: self.typmod_out.unwrap_or(row.typmodout),
            typanalyze: self.analyze.unwrap_or(row.typanalyze),
            typsubscript: self.subscript.unwrap_or(row.typsubscript),
            ..row.clone()
        }
    }
}

/// Changes a type, its array type and its domains.
fn apply(host: &mut dyn CommandHost, row: Row<PgType>, changes: &Changes) -> Result<()> {
    let new = changes.new_row(&row);
    let this = ObjectAddress::of::<PgType>(new.oid);
    let mut cat = host.catalog();
    cat.update(&row, &new)?;
    cat.delete_dependencies(this, true)?;
    cat.delete_shared_dependencies(this)?;
    record_dependencies(&mut cat, &new)?;
    if let Some(base) = new.typbasetype.valid() {
        cat.record_dependency(this, ObjectAddress::of::<PgType>(base), DepType::Normal)?;
    }
    drop(cat);
    let owner = new.typowner;
    crate::default_acl::record_acl_dependencies(host, this, new.typacl.as_deref(), owner)?;
    if let Some(array) = new.typarray.valid()
        && (changes.typmod_in.is_some() || changes.typmod_out.is_some())
    {
        apply_to_array(host, array, &new)?;
    }
    let Some(inherited) = changes.of_domains() else { return Ok(()) };
    let all = host.catalog().scan_all::<PgType>()?;
    for domain in all {
        if domain.typtype == TypType::Domain && domain.typbasetype == new.oid {
            apply(host, domain, &inherited)?;
        }
    }
    Ok(())
}

/// Gives an array type the functions of type modifiers of its elements.
fn apply_to_array(host: &mut dyn CommandHost, array: Oid, element: &PgType) -> Result<()> {
    let mut cat = host.catalog();
    let Some(row) = cat.scan(indexes::PG_TYPE_OID_INDEX, &[array.into()])?.pop() else {
        return Err(PgError::internal(format!("cache lookup failed for type {array}")));
    };
    let (typmodin, typmodout) = (element.typmodin, element.typmodout);
    cat.update(&row, &PgType { typmodin, typmodout, ..row.row.clone() })?;
    let this = ObjectAddress::of::<PgType>(array);
    cat.delete_dependencies(this, true)?;
    for function in [typmodin, typmodout].iter().filter_map(|f| f.valid()) {
        cat.record_dependency(this, ObjectAddress::of::<PgProc>(function), DepType::Normal)?;
    }
    let element = ObjectAddress::of::<PgType>(element.oid);
    cat.record_dependency(this, element, DepType::Internal)
}
