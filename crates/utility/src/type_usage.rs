//! Finds stored values of a type. A type whose representation will change must not be used by
//! columns of tables that are not rewritten.
//!
//! Counterpart: `find_composite_type_dependencies`.

use crate::host::CommandHost;
use crate::stored;
use analyze::SessionLookup;
use catalog::rows::{
    CatalogRow, Name, PgAttribute, PgCast, PgClass, PgOperator, PgProc, PgType, indexes,
};
use catalog::{ObjectAddress, RelDesc};
use ids::code::DepType;
use ids::{Oid, RelKind};
use pgerror::{Result, bail};

/// A dependent that prevents the change: a column (`table.column`), or an object whose expressions
/// use the type.
enum Dependent {
    Column(String),
    Object(String),
}

impl Dependent {
    fn shown(&self) -> String {
        match self {
            Dependent::Column(name) => format!("column \"{name}\""),
            Dependent::Object(name) => name.clone(),
        }
    }
}

/// The first dependent that contains values of the type, or expressions over them. `seen` are the
/// types that have been visited.
fn find_dependent(
    host: &mut dyn CommandHost,
    ty: Oid,
    seen: &mut Vec<Oid>,
) -> Result<Option<Dependent>> {
    if seen.contains(&ty) {
        return Ok(None);
    }
    seen.push(ty);
    for d in host.catalog().dependents_of(ObjectAddress::of::<PgType>(ty))? {
        let this = ObjectAddress { class: d.classid, object: d.objid, sub: d.objsubid };
        // Follows arrays, domains, ranges and nested row types.
        let mut within = None;
        match d.classid {
            PgType::RELATION => within = Some(d.objid),
            PgClass::RELATION => {
                let Some(class) = host.catalog().find_class(d.objid)? else { continue };
                let column = column_of(host, &class, d.objsubid, ty)?;
                match (class.relkind, column) {
                    (
                        RelKind::Table
                        | RelKind::MaterializedView
                        | RelKind::PartitionedTable
                        | RelKind::Index
                        | RelKind::PartitionedIndex,
                        Some(column),
                    ) => {
                        return Ok(Some(Dependent::Column(format!("{}.{column}", class.relname))));
                    }
                    (RelKind::Index | RelKind::PartitionedIndex, None) => {
                        return host
                            .catalog()
                            .describe_object(this)
                            .map(|o| Some(Dependent::Object(o)));
                    }
                    (RelKind::CompositeType, Some(_)) => within = Some(class.reltype),
                    _ => {}
                }
            }
            // These objects look up their function on each use.
            PgCast::RELATION | PgOperator::RELATION => {}
            PgProc::RELATION if !body_uses(host, d.objid, ty)? => {}
            _ if d.deptype == DepType::Normal => {
                return host.catalog().describe_object(this).map(|o| Some(Dependent::Object(o)));
            }
            _ => {}
        }
        if let Some(ty) = within
            && let Some(found) = find_dependent(host, ty, seen)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The column whose type is `ty`. An index depends on the type as a whole; then the result is one
/// of its columns of that type.
fn column_of(
    host: &mut dyn CommandHost,
    class: &PgClass,
    number: i32,
    ty: Oid,
) -> Result<Option<Name>> {
    let mut cat = host.catalog();
    let all = cat.scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &[class.oid.into()])?;
    let fits = |a: &PgAttribute| match number {
        0 => a.attnum > 0 && a.atttypid == ty,
        number => i32::from(a.attnum) == number,
    };
    Ok(all.iter().find(|a| !a.attisdropped && fits(a)).map(|a| a.attname))
}

/// True if the function's body or a parameter default refers to the type. Argument types do not
/// count.
fn body_uses(host: &mut dyn CommandHost, function: Oid, ty: Oid) -> Result<bool> {
    let row = host.catalog().function(function)?;
    let mut needs = Vec::new();
    let mut lookup = SessionLookup::new(host);
    if let Some(body) = &row.prosqlbody {
        for query in &analyze::stored::body(&mut lookup, body.as_str())?.0 {
            stored::query_references(query, &mut needs);
        }
    }
    if let Some(defaults) = &row.proargdefaults {
        for e in &analyze::stored::exprs(&mut lookup, defaults.as_str())? {
            stored::references(e, Oid::INVALID, &mut needs);
        }
    }
    Ok(needs.contains(&ObjectAddress::of::<PgType>(ty)))
}

/// Error 0A000 if a table column contains values of the type, directly or nested, or if an
/// expression produces them.
pub fn check_type(host: &mut dyn CommandHost, ty: Oid, shown: &str) -> Result<()> {
    match find_dependent(host, ty, &mut Vec::new())? {
        Some(user) => bail!(
            FEATURE_NOT_SUPPORTED,
            "cannot alter type \"{shown}\" because {} uses it",
            user.shown()
        ),
        None => Ok(()),
    }
}

/// As [`check_type`], for the row type of a relation.
pub fn check_row_type(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    let Some(ty) = rel.class.reltype.valid() else { return Ok(()) };
    if rel.kind() == RelKind::CompositeType {
        return check_type(host, ty, rel.name());
    }
    match find_dependent(host, ty, &mut Vec::new())? {
        Some(user) => bail!(
            FEATURE_NOT_SUPPORTED,
            "cannot alter table \"{}\" because {} uses its row type",
            rel.name(),
            user.shown()
        ),
        None => Ok(()),
    }
}
