//! Statements ready to run: analysed once, planned when needed, checked against the catalogs each time.
//!
//! The first five executions with parameters plan for the values at hand; then the cheaper of the general plan and the
//! average of those decides. Counterpart: plancache.c, prepare.c.

use crate::core::Core;
use crate::rows;
use analyze::SessionLookup;
use ids::Oid;
use parse::RawStmt;
use parse::ast::Node;
use pgerror::{Result, pg_err};
use plan::PlannedStmt;
use plan::query::{Query, RteKind};
use std::sync::Arc;
use sync::Mutex;
use types::Datum;
use wire::FieldDescription;

/// Executions that are planned for their values before a general plan is thought of.
const CUSTOM_PLANS_FIRST: u32 = 5;

/// What a statement is once analysed.
#[derive(Clone)]
pub(crate) struct Analyzed {
    /// `None` for a utility statement, which is carried by its raw tree.
    pub(crate) query: Option<Arc<Query>>,
    /// Result columns; `None` if it returns no rows.
    pub(crate) fields: Option<Arc<[FieldDescription]>>,
    generation: u64,
    search_path: String,
    user: Oid,
}

#[derive(Default)]
struct Plans {
    generic: Option<Arc<PlannedStmt>>,
    generation: u64,
    custom_count: u32,
    custom_cost: f64,
}

/// See the module's text.
pub(crate) struct Prepared {
    pub(crate) sql: Arc<str>,
    /// `None`: an empty query string.
    pub(crate) raw: Option<Arc<RawStmt>>,
    pub(crate) param_types: Vec<Oid>,
    analyzed: Mutex<Arc<Analyzed>>,
    plans: Mutex<Plans>,
    /// Made by PREPARE, not by a Parse message.
    pub(crate) from_sql: bool,
}

impl Analyzed {
    fn new(core: &Core, query: Option<Query>, fields: Option<Vec<FieldDescription>>) -> Analyzed {
        Analyzed {
            query: query.map(Arc::new),
            fields: fields.map(Arc::from),
            generation: core.catalog.catalog.generation(),
            search_path: core.catalog.search_path().to_owned(),
            user: core.catalog.user,
        }
    }

    fn is_current(&self, core: &Core) -> bool {
        self.query.is_none()
            || (self.generation == core.catalog.catalog.generation()
                && core.catalog.overlay.is_clean()
                && self.user == core.catalog.user
                && self.search_path == core.catalog.search_path())
    }
}

/// Result columns of a query.
pub(crate) fn query_fields(
    core: &mut Core,
    query: &Query,
) -> Result<Option<Vec<FieldDescription>>> {
    use plan::query::CmdType;
    match query.command_type {
        CmdType::Select => rows::describe(core, &query.target_list).map(Some),
        _ if !query.returning_list.is_empty() => {
            rows::describe(core, &query.returning_list).map(Some)
        }
        _ => Ok(None),
    }
}

impl Prepared {
    /// Analyses a statement; types of parameters that are not given are found out.
    pub(crate) fn new(
        core: &mut Core,
        sql: Arc<str>,
        raw: Option<RawStmt>,
        mut param_types: Vec<Oid>,
        utility_fields: Option<Vec<FieldDescription>>,
    ) -> Result<Prepared> {
        let mut query = None;
        let mut fields = utility_fields;
        if let Some(raw) = raw.as_ref().filter(|r| analyze::is_query(&r.stmt)) {
            let mut lookup = SessionLookup::new(core);
            let q = analyze::analyze_variable(&mut lookup, raw, &sql, &mut param_types)?;
            fields = query_fields(core, &q)?;
            query = Some(analyze::rewrite(&mut SessionLookup::new(core), q)?);
        }
        let analyzed = Analyzed::new(core, query, fields);
        Ok(Prepared {
            sql,
            raw: raw.map(Arc::new),
            param_types,
            analyzed: Mutex::new(Arc::new(analyzed)),
            plans: Mutex::new(Plans::default()),
            from_sql: false,
        })
    }

    /// The statement's tree.
    pub(crate) fn node(&self) -> Option<&Node> {
        self.raw.as_ref().map(|r| &r.stmt)
    }

    /// The analysed statement, made anew if what it was made from has changed.
    pub(crate) fn analyzed(&self, core: &mut Core) -> Result<Arc<Analyzed>> {
        let known = self.analyzed.lock().clone();
        if known.is_current(core) {
            return Ok(known);
        }
        let Some(raw) = &self.raw else { return Ok(known) };
        let mut lookup = SessionLookup::new(core);
        let query = analyze::analyze(&mut lookup, raw, &self.sql, &self.param_types)?;
        let fields = query_fields(core, &query)?;
        let same = match (&fields, &known.fields) {
            (Some(new), Some(old)) => same_rows(new, old),
            (None, None) => true,
            _ => false,
        };
        if !same {
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "cached plan must not change result type"));
        }
        let query = analyze::rewrite(&mut SessionLookup::new(core), query)?;
        let fresh = Arc::new(Analyzed::new(core, Some(query), fields));
        *self.analyzed.lock() = fresh.clone();
        *self.plans.lock() = Plans::default();
        Ok(fresh)
    }

    /// The plan for these values, its relations locked.
    pub(crate) fn plan(&self, core: &mut Core, params: &Arc<[Datum]>) -> Result<Arc<PlannedStmt>> {
        loop {
            let analyzed = self.analyzed(core)?;
            let query = analyzed.query.as_ref().expect("only queries are planned");
            let generation = core.catalog.catalog.generation();
            let cached = self.plans.lock().generic.clone();
            let known = cached.filter(|_| self.plans.lock().generation == generation);
            let mode = core.store.named("plan_cache_mode").as_text().to_owned();
            let Some(plan) = self.choose(core, query, known, params, &mode)? else { continue };
            return Ok(plan);
        }
    }

    /// `None`: something changed while locks were waited for; once more from the start.
    fn choose(
        &self,
        core: &mut Core,
        query: &Query,
        known: Option<Arc<PlannedStmt>>,
        params: &Arc<[Datum]>,
        mode: &str,
    ) -> Result<Option<Arc<PlannedStmt>>> {
        let generation = core.catalog.catalog.generation();
        let (count, cost) = {
            let plans = self.plans.lock();
            (plans.custom_count, plans.custom_cost)
        };
        let custom = !params.is_empty()
            && match mode {
                "force_generic_plan" => false,
                "force_custom_plan" => true,
                _ => count < CUSTOM_PLANS_FIRST,
            };
        if custom {
            return self.custom(core, query, params).map(Some);
        }
        let plan = match known {
            Some(plan) => plan,
            None => {
                let plan = Arc::new(planner::plan_query(query, core)?);
                if core.catalog.overlay.is_clean() {
                    let mut plans = self.plans.lock();
                    plans.generic = Some(plan.clone());
                    plans.generation = generation;
                }
                plan
            }
        };
        if !params.is_empty() && mode == "auto" {
            let average = cost / f64::from(count.max(1));
            if plan.plan_tree.info.total_cost > average {
                return self.custom(core, query, params).map(Some);
            }
        }
        lock_relations(core, &plan)?;
        // Whoever held a lock may have changed the table.
        let current = core.catalog.catalog.generation() == generation;
        Ok(current.then_some(plan))
    }

    fn custom(
        &self,
        core: &mut Core,
        query: &Query,
        params: &Arc<[Datum]>,
    ) -> Result<Arc<PlannedStmt>> {
        lock_query(core, query)?;
        core.params = params.clone();
        let plan = planner::plan_query(query, core);
        core.params = Arc::from([]);
        let plan = plan?;
        let relations = plan.relation_oids.len() as f64;
        let planning = 1000.0 * core.costs.cpu_operator * (relations + 1.0);
        let mut plans = self.plans.lock();
        plans.custom_count = plans.custom_count.saturating_add(1);
        plans.custom_cost += plan.plan_tree.info.total_cost + planning;
        Ok(Arc::new(plan))
    }
}

/// Locks what analysis would have locked. Counterpart: `AcquireExecutorLocks`.
fn lock_relations(core: &mut Core, plan: &PlannedStmt) -> Result<()> {
    for entry in &plan.rtable {
        if let RteKind::Relation { relid, rellockmode, .. } = entry.kind {
            core.lock_relation(relid, rellockmode)?;
        }
    }
    Ok(())
}

fn lock_query(core: &mut Core, query: &Query) -> Result<()> {
    for entry in &query.rtable {
        match &entry.kind {
            RteKind::Relation { relid, rellockmode, .. } => {
                core.lock_relation(*relid, *rellockmode)?;
            }
            RteKind::Subquery { subquery, .. } => lock_query(core, subquery)?,
            _ => {}
        }
    }
    Ok(())
}

fn same_rows(new: &[FieldDescription], old: &[FieldDescription]) -> bool {
    new.len() == old.len()
        && new
            .iter()
            .zip(old)
            .all(|(a, b)| a.name == b.name && a.type_oid == b.type_oid && a.typmod == b.typmod)
}
