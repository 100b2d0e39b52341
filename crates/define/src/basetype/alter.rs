//! ALTER TYPE … SET: properties of base types. Counterpart: typecmds.c (`AlterType`,
//! `AlterTypeRecurse`).

use super::{Wanted, invalid, storage, support};
use crate::routine::lookup::type_of;
use catalog::rows::{CatalogRow, PgProc, PgType};
use catalog::{ObjectAddress, Row};
use ids::Oid;
use ids::builtin::proc;
use ids::code::{ColumnStorage, DepType, TypType};
use parse::ast::{AlterTypeStmt, DefElem, TypeName};
use pgerror::{Result, bail};
use types::oids;
use utility::host::CommandHost;
use utility::{names, options};

/// Attributes of CREATE TYPE that cannot be changed later.
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

/// The new properties; `None` leaves one unchanged, an invalid OID removes a function.
#[derive(Default)]
struct Changes {
    storage: Option<ColumnStorage>,
    receive: Option<Oid>,
    send: Option<Oid>,
    typmod_in: Option<Oid>,
    typmod_out: Option<Oid>,
    analyze: Option<Oid>,
    subscript: Option<Oid>,
}

impl Changes {
    /// The type's row with the changes.
    fn apply(&self, row: &PgType) -> PgType {
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

/// ALTER TYPE … SET.
pub fn alter(host: &mut dyn CommandHost, stmt: &AlterTypeStmt) -> Result<()> {
    let name = TypeName { names: stmt.type_name.clone(), location: -1, ..TypeName::default() };
    let oid = type_of(host, &name)?;
    let row = host.catalog().type_row(oid)?;
    let mut changes = Changes::default();
    let mut only_superuser = false;
    for d in &stmt.options {
        match &*d.defname {
            "storage" => {
                let new = storage(&options::text(d)?)?;
                if new != ColumnStorage::Plain && row.typlen != -1 {
                    return Err(invalid("fixed-size types must have storage PLAIN"));
                }
                // Values that are out of line cannot become plain.
                match (new, row.typstorage) {
                    (ColumnStorage::Plain, ColumnStorage::Plain) => {}
                    (ColumnStorage::Plain, _) => {
                        return Err(invalid("cannot change type's storage to PLAIN"));
                    }
                    (_, ColumnStorage::Plain) => only_superuser = true,
                    _ => {}
                }
                changes.storage = Some(new);
            }
            other if FIXED.contains(&other) => {
                bail!(SYNTAX_ERROR, "type attribute \"{other}\" cannot be changed")
            }
            _ => {
                function(host, d, oid, &mut changes)?;
                only_superuser = true;
            }
        }
    }
    if only_superuser {
        if !names::is_superuser(host)? {
            bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to alter a type");
        }
    } else if !names::is_owner(host, row.typowner)? {
        let shown = host.catalog().format_type(oid)?;
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of type {shown}");
    }
    let is_array = row.typelem.is_valid() && row.typsubscript == proc::ARRAY_SUBSCRIPT_HANDLER;
    if row.typtype != TypType::Base || is_array {
        let shown = host.catalog().format_type(oid)?;
        bail!(WRONG_OBJECT_TYPE, "{shown} is not a base type");
    }
    change(host, &row, &changes)
}

/// Reads an option that names a function, or NONE.
fn function(host: &mut dyn CommandHost, d: &DefElem, ty: Oid, changes: &mut Changes) -> Result<()> {
    let long_receive = [oids::INTERNAL, oids::OID, oids::INT4];
    let receive: [&[Oid]; 2] = [&long_receive[..1], &long_receive];
    let own: &[&[Oid]] = &[&[ty]];
    let (of, wanted) = match &*d.defname {
        "receive" => {
            let (args, warns) = (&receive[..], Some("type receive"));
            (&mut changes.receive, Wanted { what: "receive", args, result: ty, warns })
        }
        "send" => {
            let (args, warns) = (own, Some("type send"));
            (&mut changes.send, Wanted { what: "send", args, result: oids::BYTEA, warns })
        }
        "typmod_in" => {
            let args: &[&[Oid]] = &[&[oids::CSTRING_ARRAY]];
            let warns = Some("type modifier input");
            let wanted = Wanted { what: "typmod_in", args, result: oids::INT4, warns };
            (&mut changes.typmod_in, wanted)
        }
        "typmod_out" => {
            let args: &[&[Oid]] = &[&[oids::INT4]];
            let warns = Some("type modifier output");
            let wanted = Wanted { what: "typmod_out", args, result: oids::CSTRING, warns };
            (&mut changes.typmod_out, wanted)
        }
        "analyze" => {
            let args: &[&[Oid]] = &[&[oids::INTERNAL]];
            let wanted = Wanted { what: "analyze", args, result: oids::BOOL, warns: None };
            (&mut changes.analyze, wanted)
        }
        "subscript" => {
            let args: &[&[Oid]] = &[&[oids::INTERNAL]];
            let wanted = Wanted { what: "subscripting", args, result: oids::INTERNAL, warns: None };
            (&mut changes.subscript, wanted)
        }
        other => bail!(SYNTAX_ERROR, "type attribute \"{other}\" not recognized"),
    };
    *of = Some(match &d.arg {
        Some(_) => support(host, &options::qualified(d)?, &wanted)?.oid,
        None => Oid::INVALID,
    });
    Ok(())
}

/// Changes a type, its array type, and the domains over it.
fn change(host: &mut dyn CommandHost, row: &Row<PgType>, changes: &Changes) -> Result<()> {
    store(host, row, changes)?;
    let modifiers = Changes {
        typmod_in: changes.typmod_in,
        typmod_out: changes.typmod_out,
        ..Changes::default()
    };
    if row.typarray.is_valid() && row.typtype == TypType::Base {
        let array = host.catalog().type_row(row.typarray)?;
        store(host, &array, &modifiers)?;
    }
    // Domains have functions of their own for receiving, modifiers and subscripts.
    let of_domains = Changes {
        storage: changes.storage,
        send: changes.send,
        analyze: changes.analyze,
        ..Changes::default()
    };
    for domain in host.catalog().scan_all::<PgType>()? {
        if domain.typtype == TypType::Domain && domain.typbasetype == row.oid {
            let domain = host.catalog().type_row(domain.oid)?;
            change(host, &domain, &of_domains)?;
        }
    }
    Ok(())
}

fn store(host: &mut dyn CommandHost, row: &Row<PgType>, changes: &Changes) -> Result<()> {
    let new = changes.apply(row);
    let functions = |r: &PgType| {
        [r.typreceive, r.typsend, r.typmodin, r.typmodout, r.typanalyze, r.typsubscript]
    };
    let mut cat = host.catalog();
    cat.update(row, &new)?;
    let this = ObjectAddress::of::<PgType>(row.oid);
    for (old, new) in functions(row).into_iter().zip(functions(&new)) {
        if old == new {
            continue;
        }
        for record in cat.dependencies_of(this)? {
            if record.refclassid == PgProc::RELATION && record.refobjid == old {
                cat.delete(&record)?;
            }
        }
        if new.is_valid() {
            cat.record_dependency(this, ObjectAddress::of::<PgProc>(new), DepType::Normal)?;
        }
    }
    cat.increment_command_counter()
}
