//! Where values of a type are stored: a type whose values are about to look different must not be within the rows of
//! tables that stay as they are. Counterpart: `find_composite_type_dependencies`.

use crate::host::CommandHost;
use catalog::rows::*;
use catalog::{ObjectAddress, RelDesc};
use ids::{AttrNo, Oid};
use pgerror::{Result, bail};

/// A column of a table, as messages name it: `table.column`. `seen`: types that were looked for already.
fn column_with(host: &mut dyn CommandHost, ty: Oid, seen: &mut Vec<Oid>) -> Result<Option<String>> {
    if seen.contains(&ty) {
        return Ok(None);
    }
    seen.push(ty);
    for d in host.catalog().dependents_of(ObjectAddress::of::<PgType>(ty))? {
        // Arrays, domains and ranges; rows within rows.
        let mut within = None;
        if d.classid == PgType::RELATION {
            within = Some(d.objid);
        } else if d.classid == PgClass::RELATION
            && d.objsubid > 0
            && let Some(class) = host.catalog().find_class(d.objid)?
        {
            let column = host.catalog().attribute(d.objid, d.objsubid as AttrNo)?;
            let Some(column) = column.filter(|c| !c.attisdropped) else { continue };
            match class.relkind {
                b'r' | b'm' | b'p' => {
                    return Ok(Some(format!("{}.{}", class.relname, column.attname)));
                }
                b'c' => within = Some(class.reltype),
                _ => {}
            }
        }
        if let Some(ty) = within
            && let Some(found) = column_with(host, ty, seen)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// 0A000 where a column of a table holds values of the type, or holds them in its own.
pub fn check_type(host: &mut dyn CommandHost, ty: Oid, shown: &str) -> Result<()> {
    match column_with(host, ty, &mut Vec::new())? {
        Some(column) => bail!(
            FEATURE_NOT_SUPPORTED,
            "cannot alter type \"{shown}\" because column \"{column}\" uses it"
        ),
        None => Ok(()),
    }
}

/// The same for the rows of a relation.
pub fn check_row_type(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    let Some(ty) = rel.class.reltype.valid() else { return Ok(()) };
    if rel.kind() == b'c' {
        return check_type(host, ty, rel.name());
    }
    match column_with(host, ty, &mut Vec::new())? {
        Some(column) => bail!(
            FEATURE_NOT_SUPPORTED,
            "cannot alter table \"{}\" because column \"{column}\" uses its row type",
            rel.name()
        ),
        None => Ok(()),
    }
}
