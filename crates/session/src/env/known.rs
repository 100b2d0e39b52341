//! Planner facts that a session keeps between statements.

use catalog::RelDesc;
use hashbrown::HashMap;
use ids::{AttrNo, Oid};
use planner::{ColumnStats, OperatorInfo, RelationInfo};
use std::sync::Arc;

/// Maximum number of entries in each cache; then it is cleared.
const KNOWN_MAX: usize = 1000;

/// Cached planner facts, with the catalog rows and descriptors that they were made from.
#[derive(Default)]
pub(crate) struct PlannerCache {
    pub relations: HashMap<Oid, KnownRel>,
    pub operators: HashMap<Oid, Arc<OperatorInfo>>,
    pub stats: HashMap<(Oid, AttrNo), KnownStats>,
}

pub(super) type KnownStats = (catalog::Row<catalog::rows::PgStatistic>, Arc<ColumnStats>);

pub(crate) struct KnownRel {
    pub desc: Arc<RelDesc>,
    pub blocks: u32,
    /// The descriptors of the indexes in `facts`, in the same order.
    pub indexes: Vec<Arc<RelDesc>>,
    pub facts: Arc<RelationInfo>,
}

impl PlannerCache {
    pub(super) fn keep_relation(&mut self, relid: Oid, known: KnownRel) {
        if self.relations.len() >= KNOWN_MAX {
            self.relations.clear();
        }
        self.relations.insert(relid, known);
    }

    pub(super) fn keep_stats(&mut self, column: (Oid, AttrNo), known: KnownStats) {
        if self.stats.len() >= KNOWN_MAX {
            self.stats.clear();
        }
        self.stats.insert(column, known);
    }
}
