//! Costs of hash joins. Counterpart: costsize.c (`final_cost_hashjoin`), selfuncs.c
//! (`estimate_hash_bucket_stats`), `ExecChooseHashTableSize`.

use crate::rel::clamp_rows;
use crate::state::{Planner, PlannerInfo};
use crate::width::table_size;
use pgerror::Result;
use plan::expr::Expr;
use querytree::path::Path;
use querytree::vars::relids_of;
use std::rc::Rc;

/// Added to the cost of a path whose method is disabled.
pub(crate) const DISABLE_COST: f64 = 1e10;

/// The least fraction of the rows that is assumed to be in one bucket if nothing is known about the
/// values of the key.
const GUESSED_FRACTION: f64 = 0.1;

/// The clauses of a hash join, with the outer side's operand on the left; and the other conditions.
#[derive(Default)]
pub(crate) struct HashClauses {
    pub clauses: Vec<Rc<Expr>>,
    /// Cost of the test of the clauses for one pair of rows.
    pub clauses_cost: f64,
    pub others: Vec<Rc<Expr>>,
    /// Cost of the test of the other conditions for one row.
    pub others_cost: f64,
}

/// The distribution of the values of a key of the hashed side.
pub(crate) struct HashKey {
    /// The number of different values; `None` if nothing is known.
    distinct: Option<f64>,
    /// Frequency of the most common value; 0 if it is not known.
    common: f64,
    /// Frequency of an average value.
    average: f64,
}

impl HashKey {
    /// Fraction of the rows in the bucket that is looked up on average.
    fn bucket_fraction(&self, buckets: f64) -> f64 {
        let Some(distinct) = self.distinct else { return self.common.max(GUESSED_FRACTION) };
        let mut fraction = 1.0 / distinct.min(buckets);
        if self.average > 0.0 && self.common > self.average {
            fraction *= self.common / self.average;
        }
        fraction.clamp(1e-6, 1.0)
    }
}

/// Number of buckets in all batches of the hash table.
fn bucket_count(rows: f64, width: i32, memory: f64) -> f64 {
    const POINTER: f64 = 8.0;
    const BUCKETS_MIN: f64 = 1024.0;
    let power = |n: f64| n.max(1.0).log2().ceil().exp2();
    let most = (memory / POINTER).log2().floor().exp2();
    let buckets = power(rows.ceil().min(most)).max(BUCKETS_MIN);
    let bytes = table_size(rows, width);
    if bytes + buckets * POINTER <= memory {
        return buckets;
    }
    let buckets = power(memory / (bytes / rows + POINTER)).min(most);
    let batches = power((bytes / (memory - buckets * POINTER).max(1.0)).ceil()).max(2.0);
    buckets * batches
}

impl Planner<'_> {
    /// The distributions of the inner sides of the clauses.
    pub(crate) fn hash_keys(
        &mut self,
        root: &PlannerInfo,
        clauses: &[Rc<Expr>],
    ) -> Result<Vec<HashKey>> {
        let mut keys = Vec::with_capacity(clauses.len());
        for clause in clauses {
            let Expr::OpExpr(op) = &**clause else { continue };
            let Some(inner) = op.args.get(1) else { continue };
            let v = self.variable_stats(root, crate::selectivity::strip(inner))?;
            let stats = v.stats.as_deref();
            let common = stats.and_then(|s| s.mcv_freq.first()).copied().unwrap_or(0.0);
            let nulls = stats.map_or(0.0, |s| s.null_frac);
            let relids = relids_of(inner);
            let rel = relids.first().filter(|_| relids.len() == 1).and_then(|n| root.rels.get(&n));
            let kept = match rel {
                Some(rel) if rel.tuples > 0.0 => rel.rows / rel.tuples,
                _ => 1.0,
            };
            let distinct = (!v.is_default).then(|| clamp_rows(v.distinct * kept));
            keys.push(HashKey { distinct, common, average: (1.0 - nulls) / v.distinct.max(1.0) });
        }
        Ok(keys)
    }

    /// Startup and total cost of a hash join of an outer and an inner path that returns `rows`
    /// rows. `once` is set if the search for partners of an outer row ends at the first one: the
    /// fraction of the outer rows that have one, and that of the inner rows that is searched.
    pub(crate) fn hash_join_cost(
        &self,
        (outer, inner): (&Path, &Path),
        hash: &HashClauses,
        (keys, once): (&[HashKey], Option<(f64, f64)>),
        rows: f64,
    ) -> (f64, f64) {
        let c = self.host.costs();
        let bytes = table_size(inner.rows, inner.width);
        // Rows that exceed the memory are written and read once.
        let spill = match bytes > c.hash_mem {
            true => 2.0 * (bytes + table_size(outer.rows, outer.width)) / 8192.0 * c.seq_page,
            false => 0.0,
        };
        let buckets = bucket_count(inner.rows, inner.width, c.hash_mem);
        let fraction = keys.iter().map(|k| k.bucket_fraction(buckets)).fold(1.0, f64::min);
        // Pairs of rows in the same bucket. Half of them are assumed to have different hash values.
        let pairs = match once {
            None => 0.5 * outer.rows * clamp_rows(inner.rows * fraction),
            Some((matched, share)) => {
                let matched = (outer.rows * matched).round();
                let others = outer.rows - matched;
                0.5 * matched * clamp_rows(inner.rows * fraction * share)
                    + 0.05 * others * clamp_rows(inner.rows / buckets)
            }
        };
        let count = hash.clauses.len() as f64;
        let disabled = if c.enable_hashjoin { 0.0 } else { DISABLE_COST };
        let startup = outer.startup
            + inner.total
            + inner.rows * (c.cpu_operator * count + c.cpu_tuple)
            + disabled;
        let total = startup
            + (outer.total - outer.startup)
            + outer.rows * c.cpu_operator * count
            + pairs * hash.clauses_cost
            + rows * (c.cpu_tuple + hash.others_cost)
            + spill;
        (startup, total)
    }
}
