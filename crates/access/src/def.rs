//! The definition of an index, as the catalogs give it.
//!
//! Counterpart: the index part of `RelationData` in rel.h.

use crate::layout::TupleLayout;
use ids::{Oid, Persistence, RelFile};
use locale::Locale;
use page::tupdesc::Attr;
use pgerror::{PgError, Result};
use std::sync::Arc;
use types::compare::Comparer;
use types::hash::Hasher;

/// A support function of an operator class, resolved by the catalogs as the method's
/// [`crate::SupportKind`] states.
#[derive(Clone, Debug)]
pub enum SupportFunction {
    Compare(Comparer),
    Hash(Hasher),
    EqualImage(bool),
    /// A function of an operator class of GIN indexes, other than the comparison of its keys, and
    /// the locale of the database's default collation.
    Gin(types::gin::Function, Option<Arc<Locale>>),
    /// A function of an operator class of GiST indexes, and what it needs to know of the column.
    Gist(types::gist::Function, Arc<types::gist::Traits>),
}

impl SupportFunction {
    pub fn comparer(&self) -> Option<&Comparer> {
        match self {
            SupportFunction::Compare(cmp) => Some(cmp),
            _ => None,
        }
    }

    pub fn hasher(&self) -> Option<&Hasher> {
        match self {
            SupportFunction::Hash(hasher) => Some(hasher),
            _ => None,
        }
    }
}

/// A support function with its number (`pg_amproc.amprocnum`).
#[derive(Clone, Debug)]
pub struct Support {
    pub number: u16,
    /// `pg_proc.oid`.
    pub oid: Oid,
    pub function: SupportFunction,
}

/// A column of an index.
#[derive(Clone, Debug)]
pub struct IndexColumn {
    /// How the definition stores values: `pg_attribute` of the index. The type is the operator
    /// class's storage type, if it has one.
    pub attr: Attr,
    pub collation: Oid,
    pub desc: bool,
    pub nulls_first: bool,
    /// The operator class's functions for its input type; none for included columns.
    pub support: Vec<Support>,
}

impl IndexColumn {
    /// A column in ascending order, with support function 1 only.
    pub fn new(attr: Attr, collation: Oid, function: SupportFunction) -> IndexColumn {
        let support = vec![Support { number: 1, oid: Oid::INVALID, function }];
        IndexColumn { attr, collation, desc: false, nulls_first: false, support }
    }

    pub fn support(&self, number: u16) -> Option<&SupportFunction> {
        self.support.iter().find(|s| s.number == number).map(|s| &s.function)
    }
}

/// The definition of an index. Its file and options do not change while it exists: a change makes
/// a new definition.
#[derive(Clone, Debug)]
pub struct IndexDef {
    pub file: RelFile,
    pub persistence: Persistence,
    /// For messages.
    pub name: Box<str>,
    pub table_name: Box<str>,
    /// Key columns, then included ones.
    pub columns: Vec<IndexColumn>,
    pub key_count: usize,
    /// No two live rows may have equal keys.
    pub unique: bool,
    /// NULLs conflict with each other in the unique check.
    pub nulls_not_distinct: bool,
    /// Storage parameters that are set.
    pub options: Vec<(Box<str>, Box<str>)>,
    /// The layout of index tuples with these columns.
    pub layout: TupleLayout,
    /// The layout of the tuples that index-only scans return, if it is another one.
    pub fetched: Option<TupleLayout>,
}

impl IndexDef {
    /// An index without options that is not unique.
    pub fn new(
        file: RelFile,
        persistence: Persistence,
        names: (&str, &str),
        columns: Vec<IndexColumn>,
        key_count: usize,
    ) -> IndexDef {
        let (name, table_name) = names;
        IndexDef {
            file,
            persistence,
            name: name.into(),
            table_name: table_name.into(),
            layout: TupleLayout::new(columns.iter().map(|c| &c.attr)),
            columns,
            key_count,
            unique: false,
            nulls_not_distinct: false,
            options: Vec::new(),
            fetched: None,
        }
    }

    /// The layout of the tuples that index-only scans return.
    pub fn fetched_layout(&self) -> &TupleLayout {
        self.fetched.as_ref().unwrap_or(&self.layout)
    }

    /// True if index-only scans can return the column, if the method has them: a GiST index must
    /// store the values themselves, or have a function that makes them from its keys.
    pub fn is_returnable(&self, column: usize) -> bool {
        let Some(own) = self.columns.get(column).filter(|_| column < self.key_count) else {
            return true;
        };
        let is_gist = matches!(own.support(1), Some(SupportFunction::Gist(..)));
        !is_gist || own.support(9).is_some() || own.support(3).is_none()
    }

    /// The value of a storage parameter that is set.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(n, _)| **n == *name).map(|(_, v)| &**v)
    }

    /// The key columns.
    pub fn keys(&self) -> &[IndexColumn] {
        &self.columns[..self.key_count]
    }

    /// The comparison of a key column's values: support function 1 of an ordered method.
    pub fn comparer(&self, column: usize) -> Result<&Comparer> {
        let function = self.columns.get(column).and_then(|c| c.support(1));
        function.and_then(SupportFunction::comparer).ok_or_else(|| self.lacks("comparison", column))
    }

    /// The hash function of a key column's values: support function 1 of a hash index.
    pub fn hasher(&self, column: usize) -> Result<&Hasher> {
        let function = self.columns.get(column).and_then(|c| c.support(1));
        function.and_then(SupportFunction::hasher).ok_or_else(|| self.lacks("hash", column))
    }

    #[cold]
    fn lacks(&self, what: &str, column: usize) -> PgError {
        let (name, column) = (&self.name, column + 1);
        PgError::internal(format!("no {what} function for column {column} of index \"{name}\""))
    }
}

/// True if a storage parameter's value means true.
pub fn is_on(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    let prefix = |word: &str, min: usize| value.len() >= min && word.starts_with(&value);
    value == "1" || prefix("true", 1) || prefix("yes", 1) || prefix("on", 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_on_by_the_prefixes_that_postgresql_accepts() {
        for on in ["on", "ON", "t", "true", "y", "yes", "1"] {
            assert!(is_on(on), "{on}");
        }
        for off in ["o", "off", "f", "no", "0", ""] {
            assert!(!is_on(off), "{off}");
        }
    }
}
