//! Catalog rows as Rust structs: one struct per catalog (`PgClass`, `PgAttribute`, …), one field
//! per column, `Option` for nullable columns. The structs are written by `xtask facts` from a
//! running PostgreSQL 15.
//!
//! Each field name is also an associated constant with the attribute number: `PgClass::relname` is
//! 2.

pub mod array;
pub mod indexes;
mod tables;
mod values;

pub use tables::{
    PgAggregate, PgAm, PgAmop, PgAmproc, PgAttrdef, PgAttribute, PgAuthMembers, PgAuthid, PgCast,
    PgClass, PgCollation, PgConstraint, PgConversion, PgDatabase, PgDbRoleSetting, PgDefaultAcl,
    PgDepend, PgDescription, PgEnum, PgEventTrigger, PgExtension, PgForeignDataWrapper,
    PgForeignServer, PgForeignTable, PgIndex, PgInherits, PgInitPrivs, PgLanguage, PgLargeobject,
    PgLargeobjectMetadata, PgNamespace, PgOpclass, PgOperator, PgOpfamily, PgParameterAcl,
    PgPartitionedTable, PgPolicy, PgProc, PgPublication, PgPublicationNamespace, PgPublicationRel,
    PgRange, PgReplicationOrigin, PgRewrite, PgSeclabel, PgSequence, PgShdepend, PgShdescription,
    PgShseclabel, PgStatistic, PgStatisticExt, PgStatisticExtData, PgSubscription,
    PgSubscriptionRel, PgTablespace, PgTransform, PgTrigger, PgTsConfig, PgTsConfigMap, PgTsDict,
    PgTsParser, PgTsTemplate, PgType, PgUserMapping,
};
pub use values::{AclItem, AnyArray, Int2Vector, Name, OidVector, Text, Value};

use ids::Oid;
use pgerror::Result;
use types::{Datum, DatumRef};

/// A row of a catalog.
pub trait CatalogRow: Sized + Clone + Send + Sync + 'static {
    /// OID of the catalog.
    const RELATION: Oid;
    const NAME: &'static str;
    const COLUMNS: &'static [&'static str];

    /// The struct for a row; missing trailing columns are NULL.
    fn from_row(row: &[DatumRef<'_>]) -> Result<Self>;

    fn to_row(&self) -> Vec<Datum>;
}

/// An index of a catalog.
pub struct Index<R> {
    pub oid: Oid,
    pub keys: &'static [ids::AttrNo],
    row: std::marker::PhantomData<fn() -> R>,
}

impl<R> Index<R> {
    const fn new(oid: u32, keys: &'static [ids::AttrNo]) -> Index<R> {
        Index { oid: Oid(oid), keys, row: std::marker::PhantomData }
    }
}

impl<R> Clone for Index<R> {
    fn clone(&self) -> Index<R> {
        *self
    }
}

impl<R> Copy for Index<R> {}

macro_rules! row {
    ($name:ident = $table:literal $oid:literal { $($field:ident: $ty:ty,)* }) => {
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $(pub $field: $ty,)*
        }

        #[allow(non_upper_case_globals)]
        const _: () = {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum Column { $($field,)* }

            impl $name {
                $(pub const $field: ids::AttrNo = Column::$field as ids::AttrNo + 1;)*
            }
        };

        impl $crate::rows::CatalogRow for $name {
            const RELATION: Oid = Oid($oid);
            const NAME: &'static str = $table;
            const COLUMNS: &'static [&'static str] = &[$(stringify!($field)),*];

            fn from_row(row: &[types::DatumRef<'_>]) -> pgerror::Result<Self> {
                let mut columns = row.iter();
                Ok($name {
                    $($field: $crate::rows::values::Value::from_datum(
                        columns.next().copied().unwrap_or_default(),
                    ).ok_or_else(|| $crate::rows::malformed($table, stringify!($field)))?,)*
                })
            }

            fn to_row(&self) -> Vec<types::Datum> {
                vec![$($crate::rows::values::Value::to_datum(&self.$field)),*]
            }
        }
    };
}
use row;

#[cold]
fn malformed(table: &str, column: &str) -> pgerror::PgError {
    pgerror::PgError::new(
        pgerror::SqlState::DATA_CORRUPTED,
        format!("unexpected value in column \"{column}\" of catalog \"{table}\""),
    )
}

#[cfg(test)]
mod tests;
