//! Where values of a type are stored: a type whose values are about to look different must not be
//! within the rows of tables that stay as they are. Counterpart:
//! `find_composite_type_dependencies`.

use crate::host::CommandHost;
use crate::stored;
use analyze::SessionLookup;
use catalog::depend::Dependency;
use catalog::rows::*;
use catalog::{ObjectAddress, RelDesc};
use ids::Oid;
use pgerror::{Result, bail};

/// What stands in the way: a column, as messages name it (`table.column`), or an object whose
/// expressions use the type.
enum User {
    Column(String),
    Object(String),
}

impl User {
    fn shown(&self) -> String {
        match self {
            User::Column(name) => format!("column \"{name}\""),
            User::Object(name) => name.clone(),
        }
    }
}

/// Who has values of the type, or expressions over them. `seen`: types that were looked for
/// already.
fn user_of(host: &mut dyn CommandHost, ty: Oid, seen: &mut Vec<Oid>) -> Result<Option<User>> {
    if seen.contains(&ty) {
        return Ok(None);
    }
    seen.push(ty);
    for d in host.catalog().dependents_of(ObjectAddress::of::<PgType>(ty))? {
        let this = ObjectAddress { class: d.classid, object: d.objid, sub: d.objsubid };
        // Arrays, domains and ranges; rows within rows.
        let mut within = None;
        match d.classid {
            PgType::RELATION => within = Some(d.objid),
            PgClass::RELATION => {
                let Some(class) = host.catalog().find_class(d.objid)? else { continue };
                let column = column_of(host, &class, d.objsubid, ty)?;
                match (class.relkind, column) {
                    (b'r' | b'm' | b'p' | b'i' | b'I', Some(column)) => {
                        return Ok(Some(User::Column(format!("{}.{column}", class.relname))));
                    }
                    (b'i' | b'I', None) => {
                        return host.catalog().describe_object(this).map(|o| Some(User::Object(o)));
                    }
                    (b'c', Some(_)) => within = Some(class.reltype),
                    _ => {}
                }
            }
            // What they call is looked up anew each time.
            PgCast::RELATION | PgOperator::RELATION => {}
            PgProc::RELATION if !body_uses(host, d.objid, ty)? => {}
            _ if d.deptype == Dependency::Normal as u8 => {
                return host.catalog().describe_object(this).map(|o| Some(User::Object(o)));
            }
            _ => {}
        }
        if let Some(ty) = within
            && let Some(found) = user_of(host, ty, seen)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The column that needs the type; of an index, which needs it as a whole, one that is of the type.
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

/// Does the function's body, or a default of its, refer to the type? That its arguments are of it
/// does not count.
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

/// 0A000 where a column of a table holds values of the type, or holds them in its own, or an
/// expression makes them.
pub fn check_type(host: &mut dyn CommandHost, ty: Oid, shown: &str) -> Result<()> {
    match user_of(host, ty, &mut Vec::new())? {
        Some(user) => bail!(
            FEATURE_NOT_SUPPORTED,
            "cannot alter type \"{shown}\" because {} uses it",
            user.shown()
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
    match user_of(host, ty, &mut Vec::new())? {
        Some(user) => bail!(
            FEATURE_NOT_SUPPORTED,
            "cannot alter table \"{}\" because {} uses its row type",
            rel.name(),
            user.shown()
        ),
        None => Ok(()),
    }
}
