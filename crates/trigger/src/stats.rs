//! Statistics of the triggers that fired in a statement, for EXPLAIN ANALYZE. Counterpart:
//! explain.c (`ExplainPrintTriggers`).

use executor::{OpenRel, Trigger};
use ids::Oid;

/// Executions of a trigger during the statement.
#[derive(Clone, Debug)]
pub struct TriggerStats {
    pub trigger: String,
    pub constraint: Option<String>,
    pub relation: String,
    /// The table is shown, because triggers of several tables may have fired.
    pub shows_relation: bool,
    pub time_us: u64,
    pub calls: u64,
}

struct Count {
    trigger: Oid,
    constraint: Oid,
    name: String,
    calls: u64,
    time_us: u64,
}

/// Counts by table, in the order of the tables' first triggers.
#[derive(Default)]
pub(crate) struct Counts(Vec<(Oid, String, Vec<Count>)>);

impl Counts {
    pub(crate) fn add(&mut self, rel: &OpenRel, trigger: &Trigger, time_us: u64) {
        let table = rel.table.oid;
        let known = self.0.iter().position(|(oid, ..)| *oid == table);
        let at = known.unwrap_or_else(|| {
            // All triggers of the table, in the order of their names.
            let count = |t: &Trigger| Count {
                trigger: t.oid,
                constraint: t.constraint,
                name: t.name.to_string(),
                calls: 0,
                time_us: 0,
            };
            let counts = rel.triggers.list.iter().map(count).collect();
            self.0.push((table, rel.table.name.to_string(), counts));
            self.0.len() - 1
        });
        if let Some(c) = self.0[at].2.iter_mut().find(|c| c.trigger == trigger.oid) {
            c.calls += 1;
            c.time_us += time_us;
        }
    }

    /// The counted triggers with the OIDs of their constraints: those of the statement's result
    /// relations first, then those of other tables, which referential actions have changed.
    pub(crate) fn finish(mut self, results: &[Oid]) -> Vec<(TriggerStats, Oid)> {
        let rank = |oid: Oid| results.iter().position(|r| *r == oid).unwrap_or(results.len());
        self.0.sort_by_key(|(oid, ..)| rank(*oid));
        let shows_relation =
            results.len() > 1 || self.0.iter().any(|(oid, ..)| !results.contains(oid));
        let mut out = Vec::new();
        for (_, relation, counts) in self.0 {
            for c in counts.into_iter().filter(|c| c.calls > 0) {
                let stats = TriggerStats {
                    trigger: c.name,
                    constraint: None,
                    relation: relation.clone(),
                    shows_relation,
                    time_us: c.time_us,
                    calls: c.calls,
                };
                out.push((stats, c.constraint));
            }
        }
        out
    }
}
