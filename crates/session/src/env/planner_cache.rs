//! Planner facts that a session caches between statements.

use catalog::RelDesc;
use hashbrown::HashMap;
use ids::{AttrNo, Oid};
use planner::{ColumnStats, ExtendedStats, OperatorInfo, RelationInfo};
use std::sync::Arc;

/// Maximum number of entries in each cache. A full cache is cleared.
const CACHE_ENTRIES_MAX: usize = 10_000;

/// Cached planner facts, with the catalog rows and descriptors from which they were computed.
#[derive(Default)]
pub(crate) struct PlannerCache {
    pub relations: HashMap<Oid, CachedRelation>,
    pub operators: HashMap<Oid, Arc<OperatorInfo>>,
    /// By table, column, and whether the statistics are those of the table with its children.
    pub stats: HashMap<(Oid, AttrNo, bool), CachedStatistics>,
    /// By statistics object, and whether the data are those of the table with its children.
    pub extended: HashMap<(Oid, bool), CachedExtended>,
    /// The plan that is being made must not be kept, because a decision in it depends on the
    /// snapshots of the moment.
    pub transient: bool,
    /// A query of a constraint is being planned, which sees the latest state of partitions.
    pub of_constraint: bool,
}

pub(super) type CachedStatistics = (catalog::Row<catalog::rows::PgStatistic>, Arc<ColumnStats>);

pub(super) type CachedExtended =
    (catalog::Row<catalog::rows::PgStatisticExtData>, Arc<ExtendedStats>);

pub(crate) struct CachedRelation {
    pub desc: Arc<RelDesc>,
    pub blocks: u32,
    /// The descriptors of the indexes in `facts`, in the same order.
    pub indexes: Vec<Arc<RelDesc>>,
    pub facts: Arc<RelationInfo>,
}

impl PlannerCache {
    pub(super) fn cache_relation(&mut self, relid: Oid, cached: CachedRelation) {
        if self.relations.len() >= CACHE_ENTRIES_MAX {
            self.relations.clear();
        }
        self.relations.insert(relid, cached);
    }

    pub(super) fn cache_statistics(
        &mut self,
        column: (Oid, AttrNo, bool),
        cached: CachedStatistics,
    ) {
        if self.stats.len() >= CACHE_ENTRIES_MAX {
            self.stats.clear();
        }
        self.stats.insert(column, cached);
    }
}
