//! Prepared statements of a session: a text, and the statement of the plan cache for it in the
//! current environment.
//!
//! The statement is looked up again when catalogs, search path, user or settings have changed. Its
//! result columns must not differ from those that were described to the client. Counterpart:
//! utils/cache/plancache.c (revalidation), commands/prepare.c.

mod planning;

use crate::plancache::Statement;
use crate::plancache::plans::{CustomPlans, Generic};
use client::rows::RowWriter;
use executor::Execution;
use ids::Oid;
use parse::RawStmt;
use parse::ast::Node;
use plan::PlannedStmt;
use std::sync::Arc;
use sync::Mutex;
use sync::atomic::{AtomicU64, Ordering::Relaxed};
use wire::{FieldDescription, Formats};

/// The state of a session for a statement: its generic plan, if it was chosen, and a parked
/// execution of that plan.
#[derive(Default)]
pub(crate) struct Ready {
    pub(crate) statement: Option<Arc<Statement>>,
    generic: Option<Arc<Generic>>,
    pub(crate) parked: Option<ParkedExecution>,
    /// The custom plans of a named statement; `None` if the counts of all sessions decide.
    named: Option<CustomPlans>,
}

/// A parked execution, which has ended and can be run again, and the writer of its rows.
pub(crate) struct ParkedExecution {
    pub(crate) run: Execution,
    pub(crate) writer: RowWriter,
    /// The column formats of the writer.
    pub(crate) formats: Formats,
}

/// Executions of plans with a higher cost are not parked: building them is cheap compared with
/// running them, and their state may be large.
pub(crate) const KEPT_COST_MAX: f64 = 1000.0;

/// A prepared statement.
pub(crate) struct Prepared {
    pub(crate) sql: Arc<str>,
    /// `None` for an empty query string.
    pub(crate) raw: Option<Arc<RawStmt>>,
    pub(crate) is_query: bool,
    pub(crate) param_types: Arc<[Oid]>,
    /// Result columns; `None` if it returns no rows.
    pub(crate) fields: Option<Arc<[FieldDescription]>>,
    ready: Mutex<Ready>,
    /// The text consists of this statement only, so that it can be the cache key.
    pub(crate) whole: bool,
    /// Parameter types as declared by the client.
    declared: Box<[Oid]>,
    /// Created by PREPARE instead of a Parse message.
    pub(crate) from_sql: bool,
    /// Number of executions of generic and of custom plans.
    runs: [AtomicU64; 2],
}

impl Ready {
    pub(crate) fn new(statement: Arc<Statement>) -> Ready {
        Ready { statement: Some(statement), ..Ready::default() }
    }

    /// Replaces the statement. The counts of custom plans are kept.
    fn replace_statement(&mut self, statement: Arc<Statement>) {
        *self = Ready { named: self.named, ..Ready::new(statement) };
    }

    /// True if an ended execution of that plan should be parked.
    pub(crate) fn should_park(&self, plan: &Arc<PlannedStmt>) -> bool {
        let known = self.generic.as_ref().is_some_and(|g| Arc::ptr_eq(&g.plan, plan));
        known && plan.plan_tree.info.total_cost < KEPT_COST_MAX
    }
}

impl Prepared {
    /// The prepared statement for an analysed statement and the declared parameter types.
    pub(crate) fn of(statement: Arc<Statement>, declared: &[Oid]) -> Prepared {
        // These are copies, because a shared reference count would cause contention on its cache
        // line.
        Prepared {
            sql: Arc::from(&*statement.sql),
            raw: Some(statement.raw.clone()),
            is_query: true,
            param_types: Arc::from(&*statement.param_types),
            fields: statement.fields.as_ref().map(|f| Arc::from(&**f)),
            ready: Mutex::new(Ready::new(statement)),
            whole: true,
            declared: declared.into(),
            from_sql: false,
            runs: Default::default(),
        }
    }

    /// The same statement under a name, with its own choice of plans and numbers of executions.
    pub(crate) fn named(&self) -> Prepared {
        let statement = self.ready.lock().statement.clone();
        let named = Some(CustomPlans::default());
        Prepared {
            sql: self.sql.clone(),
            raw: self.raw.clone(),
            is_query: self.is_query,
            param_types: self.param_types.clone(),
            fields: self.fields.clone(),
            ready: Mutex::new(Ready { statement, named, ..Ready::default() }),
            whole: self.whole,
            declared: self.declared.clone(),
            from_sql: self.from_sql,
            runs: Default::default(),
        }
    }

    /// True if these are the declared parameter types.
    pub(crate) fn is_declared(&self, types: &[u32]) -> bool {
        self.declared.len() == types.len()
            && self.declared.iter().zip(types).all(|(a, b)| a.0 == *b)
    }

    /// The statement's tree.
    pub(crate) fn node(&self) -> Option<&Node> {
        self.raw.as_ref().map(|r| &r.stmt)
    }

    /// Number of executions of generic and of custom plans.
    pub(crate) fn plans_used(&self) -> (u64, u64) {
        (self.runs[0].load(Relaxed), self.runs[1].load(Relaxed))
    }
}
