//! What an access method is: name, capabilities, storage parameters, and how it opens an index.
//!
//! Counterpart: `IndexAmRoutine` in amapi.h, `relopt_parse_elt` tables in reloptions.c.

use crate::{Index, IndexDef, StrategyNumber};
use bufmgr::BufferPool;
use ids::Oid;
use pgerror::Result;
use std::any::Any;
use sync::Arc;

/// What the indexes of a method can do. Counterpart: the flags of `IndexAmRoutine`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// Number of strategies; 0: the operator classes define them.
    pub strategies: u16,
    /// The strategy that means equality; invalid if there is none for all operator classes.
    pub equality: StrategyNumber,
    /// Scans return rows in index order, and columns have ASC, DESC, NULLS FIRST, NULLS LAST.
    pub ordered: bool,
    /// Scans can be ordered by the distance to a value.
    pub ordered_by_operator: bool,
    /// Scans can run backward.
    pub backward: bool,
    pub unique: bool,
    pub multicolumn: bool,
    /// A scan needs no condition on the first column.
    pub optional_key: bool,
    /// A scan accepts [`crate::ScanKey::Any`].
    pub search_array: bool,
    /// A scan accepts [`crate::ScanKey::IsNull`] and [`crate::ScanKey::IsNotNull`].
    pub search_nulls: bool,
    /// A scan accepts [`crate::ScanKey::Row`].
    pub search_rows: bool,
    /// CLUSTER may use an index.
    pub clusterable: bool,
    /// Columns of INCLUDE.
    pub include: bool,
    /// Scans return the index tuples in the layout of the definition, so that index-only scans are
    /// possible.
    pub index_only: bool,
    /// Plain index scans, row by row.
    pub plain_scan: bool,
    pub bitmap_scan: bool,
    /// Scans have [`crate::IndexScan::mark`] and [`crate::IndexScan::restore`].
    pub mark_restore: bool,
    /// The rows found may fail the conditions: the executor checks those of items with
    /// [`crate::ScanItem::recheck`].
    pub lossy: bool,
    /// Exclusion constraints.
    pub exclude: bool,
}

impl Capabilities {
    /// A method that can do nothing; the start of each method's own list.
    pub const NONE: Capabilities = Capabilities {
        strategies: 0,
        equality: StrategyNumber::INVALID,
        ordered: false,
        ordered_by_operator: false,
        backward: false,
        unique: false,
        multicolumn: false,
        optional_key: false,
        search_array: false,
        search_nulls: false,
        search_rows: false,
        clusterable: false,
        include: false,
        index_only: false,
        plain_scan: false,
        bitmap_scan: false,
        mark_restore: false,
        lossy: false,
        exclude: false,
    };
}

/// How the planner estimates the cost of a scan. Counterpart: `amcostestimate`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CostModel {
    /// By the tuples within the bounds of the key, with a descent. `btcostestimate`.
    BTree,
    /// By selectivity only. `hashcostestimate`.
    Hash,
    /// By the number of keys of the queries. `gincostestimate`.
    Gin,
    /// By selectivity, with a descent. `gistcostestimate`.
    Gist,
    /// All pages and entries are read. `blcostestimate`.
    Whole,
}

/// What a support function returns, by which the catalogs resolve it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SupportKind {
    /// Three-way comparison: [`crate::SupportFunction::Compare`].
    Compare,
    /// A hash of 32 bits: [`crate::SupportFunction::Hash`].
    Hash,
    /// Whether equality implies equal bytes: [`crate::SupportFunction::EqualImage`].
    EqualImage,
    /// Three-way comparison of the keys of a GIN index: [`crate::SupportFunction::Compare`]; if the
    /// operator class has none, that of the key's type.
    CompareKeys,
    /// Another function of a GIN index: [`crate::SupportFunction::Gin`].
    Gin { optional: bool },
    /// A function of a GiST index: [`crate::SupportFunction::Gist`].
    Gist { optional: bool },
    /// Not used by index operations.
    Unused,
}

/// A storage parameter.
#[derive(Clone, Copy, Debug)]
pub struct StorageOption {
    pub name: &'static str,
    pub kind: OptionKind,
}

/// The values that a storage parameter accepts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum OptionKind {
    Bool,
    /// Least and greatest value.
    Int(i64, i64),
    Real(f64, f64),
    Words(&'static [&'static str]),
}

/// The facts of a method, also of one that is not implemented.
#[derive(Debug)]
pub struct MethodInfo {
    /// `pg_am.oid` of a built-in method; that of an extension's method is in the catalogs only.
    pub oid: Oid,
    pub name: &'static str,
    pub capabilities: Capabilities,
    /// The type in which the method stores all keys, if it is not that of the column or of the
    /// operator class. Counterpart: `amkeytype`.
    pub key_type: Oid,
    pub options: &'static [StorageOption],
    /// By support function number, from 1.
    pub support: &'static [SupportKind],
    pub cost: CostModel,
    /// Names of the phases of a build, from number 1. Counterpart: `ambuildphasename`.
    pub build_phases: &'static [&'static str],
}

/// State of a method that the sessions of an instance share.
pub type AmState = Arc<dyn Any + Send + Sync>;

/// An access method. The only value of an implementation is a constant; what its indexes share in
/// one instance is in an [`AmState`].
pub trait IndexAm: Send + Sync {
    fn info(&self) -> &'static MethodInfo;

    /// Makes the method's state for an instance. `seed` is a random number.
    fn new_state(&self, seed: u64) -> AmState {
        let _ = seed;
        Arc::new(())
    }

    /// Opens an index, whose file is in `pool`. Does not read the file. The handle is shared by the
    /// sessions that share the definition. `state` is that of [`IndexAm::new_state`].
    fn open(
        &self,
        pool: &BufferPool,
        def: &Arc<IndexDef>,
        state: &AmState,
    ) -> Result<Arc<dyn Index>>;
}
