//! LIKE in CREATE TABLE. Counterpart: `transformTableLikeClause`, `expandTableLikeClause`.

use crate::create_table::{Column, Constraints};
use crate::host::CommandHost;
use crate::names;
use crate::relation::NewColumn;
use parse::ast::TableLikeClause;
use pgerror::{PgError, Result, bail};

const COMPRESSION: u32 = 1 << 1;
const CONSTRAINTS: u32 = 1 << 2;
const DEFAULTS: u32 = 1 << 3;
const GENERATED: u32 = 1 << 4;
const IDENTITY: u32 = 1 << 5;
const INDEXES: u32 = 1 << 6;
const STORAGE: u32 = 1 << 8;

/// The columns of the other table.
pub fn add(
    host: &mut dyn CommandHost,
    like: &TableLikeClause,
    columns: &mut Vec<Column>,
    _constraints: &mut Constraints,
) -> Result<()> {
    let rel = names::open(host, &like.relation, names::mode::ACCESS_SHARE)?;
    if !matches!(rel.kind(), b'r' | b'v' | b'm' | b'c' | b'f' | b'p') {
        bail!(WRONG_OBJECT_TYPE, "relation \"{}\" is invalid in LIKE clause", rel.name());
    }
    names::table_rights(host, &rel, catalog::acl::SELECT)?;
    // ALL is every bit; what is not there need not be copied.
    let all = like.options == i32::MAX as u32;
    if like.options & INDEXES != 0 && !rel.indexes.is_empty() && !all
        || all && !rel.indexes.is_empty()
    {
        return Err(PgError::unsupported("LIKE INCLUDING INDEXES"));
    }
    if like.options & CONSTRAINTS != 0 && !rel.checks.is_empty() {
        return Err(PgError::unsupported("LIKE INCLUDING CONSTRAINTS"));
    }
    for a in rel.attributes.iter().filter(|a| !a.attisdropped) {
        let mut c = NewColumn::new(a.attname.as_str(), a.atttypid, a.atttypmod, a.attcollation);
        c.ndims = a.attndims;
        c.not_null = a.attnotnull;
        if like.options & STORAGE != 0 {
            c.storage = Some(a.attstorage);
        }
        if like.options & COMPRESSION != 0 {
            c.compression = a.attcompression;
        }
        let generated = a.attgenerated == b's';
        if generated && like.options & GENERATED != 0 {
            return Err(PgError::unsupported("LIKE INCLUDING GENERATED"));
        }
        if a.attidentity != 0 && like.options & IDENTITY != 0 {
            return Err(PgError::unsupported("LIKE INCLUDING IDENTITY"));
        }
        let stored = match rel.default(a.attnum) {
            Some(text) if like.options & DEFAULTS != 0 && !generated => {
                Some(plan::nodetree::read_expr(text.as_str())?)
            }
            _ => None,
        };
        columns.push(Column {
            column: c,
            default: None,
            stored_default: stored,
            generated: false,
            sequence: None,
        });
    }
    Ok(())
}
