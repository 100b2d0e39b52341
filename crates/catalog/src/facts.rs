//! The fact tables: the catalog rows of a new cluster, embedded as text (`crates/catalog/facts`,
//! written by `xtask facts`). `bootstrap` creates a data directory from them; tests of higher
//! crates use them as a catalog without storage.

mod files;
mod text;

pub use text::{parse, text_rows};

use crate::rows::{CatalogRow, PgAttribute, PgType};
use ids::Oid;
use types::{Datum, DatumRef};

/// A fact table.
#[derive(Clone, Copy)]
pub struct FactTable {
    pub oid: Oid,
    pub schema: &'static str,
    pub name: &'static str,
    text: &'static str,
}

/// All fact tables: system catalogs and the tables of `information_schema`.
pub fn tables() -> impl Iterator<Item = FactTable> {
    files::FILES.iter().map(|&(oid, schema, name, text)| FactTable {
        oid: Oid(oid),
        schema,
        name,
        text,
    })
}

/// The fact table with this OID.
pub fn table(oid: Oid) -> Option<FactTable> {
    tables().find(|t| t.oid == oid)
}

/// Number, name and description of the token types of the default text search parser.
pub fn search_tokens() -> impl Iterator<Item = (i32, &'static str, &'static str)> {
    include_str!("../facts/tokens.txt").lines().filter_map(|line| {
        let (number, rest) = line.split_once('\t')?;
        let (name, text) = rest.split_once('\t')?;
        Some((number.parse().ok()?, name, text))
    })
}

/// Columns of a catalog that refer to columns of another one.
#[derive(Clone, Copy, Debug)]
pub struct ForeignKey {
    pub table: Oid,
    /// The names of the referring columns, with commas between them.
    pub columns: &'static str,
    pub referenced: Oid,
    pub referenced_columns: &'static str,
    /// The last column is an array of references.
    pub is_array: bool,
    /// The last column may be 0, or contain 0, in place of a reference.
    pub is_optional: bool,
}

/// The references between catalogs (`pg_get_catalog_foreign_keys`).
pub fn foreign_keys() -> impl Iterator<Item = ForeignKey> {
    include_str!("../facts/foreign_keys.txt").lines().filter_map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[table, columns, referenced, referenced_columns, is_array, is_optional] =
            fields.as_slice()
        else {
            return None;
        };
        Some(ForeignKey {
            table: Oid(table.parse().ok()?),
            columns,
            referenced: Oid(referenced.parse().ok()?),
            referenced_columns,
            is_array: is_array == "t",
            is_optional: is_optional == "t",
        })
    })
}

/// Column types of `pg_attribute`, needed to read `pg_attribute` itself. A test compares them with
/// its rows.
const ATTRIBUTE_TYPES: [u32; 26] = [
    26, 19, 26, 23, 21, 21, 23, 23, 23, 16, 18, 18, 18, 16, 16, 16, 18, 18, 16, 16, 23, 26, 1034,
    1009, 1009, 2277,
];

impl FactTable {
    /// The rows as datums of the given column types.
    pub fn datums(&self, types: &[Oid]) -> impl Iterator<Item = Vec<Datum>> {
        self.edited(types, |_, _| None)
    }

    /// Like [`FactTable::datums`], with the texts that `edit` returns for the types and texts of
    /// values in their place.
    pub fn edited(
        &self,
        types: &[Oid],
        edit: impl Fn(Oid, &str) -> Option<String>,
    ) -> impl Iterator<Item = Vec<Datum>> {
        let types = types.to_vec();
        text_rows(self.text).map(move |fields| {
            assert_eq!(fields.len(), types.len(), "{}: number of columns", self.name);
            let value = |ty: Oid, text: &str| {
                let edited = edit(ty, text);
                let text = edited.as_deref().unwrap_or(text);
                parse(ty, text)
                    .unwrap_or_else(|| panic!("{}: no value of type {ty}: {text}", self.name))
            };
            let columns = fields.iter().zip(&types);
            columns
                .map(|(field, &ty)| match field {
                    None => Datum::Null,
                    Some(text) => value(ty, text),
                })
                .collect()
        })
    }
}

/// Column types of a table, from `pg_attribute`; a domain is replaced by its base type.
pub fn column_types(relation: Oid) -> Vec<Oid> {
    let table = table(PgAttribute::RELATION).expect("pg_attribute is among the facts");
    // Parse only the needed fields: parsing every row completely would dominate the time of `init`.
    let relation = relation.to_string();
    let field = |line: &str, number: i16| {
        let text = line.split('\t').nth(number as usize - 1)?;
        text.parse::<i64>().ok()
    };
    let mut columns: Vec<(i64, Oid)> = table
        .text
        .lines()
        .filter(|line| line.split('\t').next() == Some(&relation))
        .filter_map(|line| {
            let number = field(line, PgAttribute::attnum).filter(|n| *n > 0)?;
            Some((number, Oid(field(line, PgAttribute::atttypid)? as u32)))
        })
        .collect();
    columns.sort();
    let mut types: Vec<Oid> = columns.into_iter().map(|c| c.1).collect();
    if types.iter().any(|&t| t >= Oid::FIRST_UNPINNED) {
        let known = rows::<PgType>();
        for ty in types.iter_mut().filter(|t| **t >= Oid::FIRST_UNPINNED) {
            *ty = known.iter().find(|k| k.oid == *ty).map_or(*ty, |k| k.typbasetype);
        }
    }
    types
}

fn row_from<R: CatalogRow>(datums: Vec<Datum>) -> R {
    let refs: Vec<DatumRef<'_>> = datums.iter().map(Datum::as_ref).collect();
    R::from_row(&refs).unwrap_or_else(|e| panic!("facts of {}: {e}", R::NAME))
}

/// All rows of a catalog.
pub fn rows<R: CatalogRow>() -> Vec<R> {
    if R::RELATION == PgAttribute::RELATION {
        let table = table(R::RELATION).expect("pg_attribute is among the facts");
        return table.datums(&ATTRIBUTE_TYPES.map(Oid)).map(row_from).collect();
    }
    let table = table(R::RELATION).unwrap_or_else(|| panic!("no facts of {}", R::NAME));
    table.datums(&column_types(R::RELATION)).map(row_from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::PgClass;

    #[test]
    fn attribute_types_agree_with_pg_attribute() {
        assert_eq!(column_types(PgAttribute::RELATION), ATTRIBUTE_TYPES.map(Oid));
    }

    #[test]
    fn every_table_can_be_read() {
        for table in tables() {
            let _ = table.datums(&column_types(table.oid)).count();
        }
    }

    #[test]
    fn well_known_rows_are_there() {
        let class = rows::<PgClass>().into_iter().find(|c| c.oid == Oid(1259)).unwrap();
        assert_eq!(class.relname, "pg_class");
        assert_eq!(class.relnatts, 33);
        let int4 = rows::<PgType>().into_iter().find(|t| t.oid == Oid(23)).unwrap();
        assert!(int4.typbyval && int4.typlen == 4 && int4.typname == "int4");
    }
}
