//! Loops whose bodies only assign expressions over the slots and branch on such conditions. After
//! some iterations such a body is made a list of [`Step`]s, which run without the checks that
//! statements need in general: nothing in the body can change the catalogs, report notices, or
//! handle errors.

use crate::exec::Flow;
use crate::frame::Frame;
use crate::host::Host;
use crate::instance::Kind;
use crate::leaves::Fast;
use crate::tree::{SqlNo, Stmt, StmtKind, VarNo};
use pgerror::{PgError, Result};
use std::sync::Arc;
use types::oids;

/// Number of iterations after which a body becomes steps; a power of two.
const TIGHT_AFTER: u32 = 16;

/// Line and kind of a statement.
type Place = (u32, &'static str);

/// A condition, with its piece of SQL.
struct Test {
    sql: SqlNo,
    fast: Arc<Fast>,
}

/// A statement.
enum Step<'f> {
    Assign {
        place: Place,
        var: VarNo,
        sql: SqlNo,
        fast: Arc<Fast>,
    },
    If {
        place: Place,
        arms: Box<[(Test, Steps<'f>)]>,
        otherwise: Steps<'f>,
    },
    /// EXIT or CONTINUE.
    Leave {
        place: Place,
        condition: Option<Test>,
        flow: Flow<'f>,
    },
}

type Steps<'f> = Box<[Step<'f>]>;

/// The iterations of a loop that does nothing but run its body and compute a counter or a condition
/// of the same kind as those in steps.
#[derive(Default)]
pub(crate) struct Iterations<'f> {
    count: u32,
    steps: Option<Steps<'f>>,
}

impl<'f> Frame<'f> {
    /// Runs the body of a loop.
    #[inline]
    pub(crate) fn iteration(
        &mut self,
        host: &mut dyn Host,
        iterations: &mut Iterations<'f>,
        body: &'f [Stmt],
    ) -> Result<Flow<'f>> {
        if let Some(steps) = &iterations.steps {
            return self.run_steps(host, steps);
        }
        let flow = self.statements(host, body)?;
        iterations.count = iterations.count.saturating_add(1);
        // Branches that have not run yet prevent it, so it is tried again.
        if iterations.count >= TIGHT_AFTER && iterations.count.is_power_of_two() {
            iterations.steps = self.steps(body);
        }
        Ok(flow)
    }

    /// As [`Frame::iteration`], of a loop with a condition.
    #[inline]
    pub(crate) fn iteration_while(
        &mut self,
        host: &mut dyn Host,
        iterations: &mut Iterations<'f>,
        (condition, body): (SqlNo, &'f [Stmt]),
    ) -> Result<Flow<'f>> {
        if iterations.count == 0 && self.condition(condition).is_none() {
            // The condition may do anything.
            return self.statements(host, body);
        }
        self.iteration(host, iterations, body)
    }

    /// The statements as steps; `None` if there are others, or some that have not run yet.
    #[cold]
    fn steps(&self, list: &'f [Stmt]) -> Option<Steps<'f>> {
        list.iter().map(|stmt| self.step(stmt)).collect()
    }

    fn step(&self, stmt: &'f Stmt) -> Option<Step<'f>> {
        let place = (stmt.line, stmt.name);
        Some(match &stmt.kind {
            StmtKind::Assign { target, value } if self.instance.sql[*value].is_assigned_fast => {
                let fast = self.fast(*value)?;
                Step::Assign { place, var: *target, sql: *value, fast: fast.clone() }
            }
            StmtKind::If(stmt) => {
                let arm = |(condition, _, body): &'f (SqlNo, u32, Vec<Stmt>)| {
                    Some((self.condition(*condition)?, self.steps(body)?))
                };
                let arms = stmt.arms.iter().map(arm).collect::<Option<_>>()?;
                Step::If { place, arms, otherwise: self.steps(&stmt.otherwise)? }
            }
            StmtKind::Exit { is_exit, label, condition } => {
                let condition = match condition {
                    Some(condition) => Some(self.condition(*condition)?),
                    None => None,
                };
                let label = label.as_deref();
                let flow = if *is_exit { Flow::Exit(label) } else { Flow::Continue(label) };
                Step::Leave { place, condition, flow }
            }
            _ => return None,
        })
    }

    /// The expression, if it is valid now, reads variables only, and calls built-in functions only.
    fn fast(&self, sql: SqlNo) -> Option<&Arc<Fast>> {
        let prepared = self.instance.sql[sql].prepared.as_ref()?;
        match &prepared.kind {
            Kind::Simple { fast: Some(fast), calls_users: false, .. }
                if prepared.stamp == self.stamp
                    && prepared.loads.is_empty()
                    && self.code.entered(sql) == 0 =>
            {
                Some(fast)
            }
            _ => None,
        }
    }

    fn condition(&self, sql: SqlNo) -> Option<Test> {
        let fast = self.fast(sql)?;
        let prepared = self.instance.sql[sql].prepared.as_ref()?;
        let is_bool = matches!(prepared.kind, Kind::Simple { ty: oids::BOOL, .. });
        (is_bool && fast.words().is_some()).then(|| Test { sql, fast: fast.clone() })
    }

    fn run_steps(&mut self, host: &mut dyn Host, steps: &[Step<'f>]) -> Result<Flow<'f>> {
        for step in steps {
            match step {
                Step::Assign { place, var, sql, fast } => {
                    let parts = &mut self.instance.sql[*sql].parts;
                    if let Err(e) = fast.assign(host, parts, &mut self.vals, *var) {
                        return Err(self.step_failed(host, *place, *sql, e));
                    }
                }
                Step::If { place, arms, otherwise } => {
                    let mut chosen = otherwise;
                    for (test, body) in arms {
                        if self.holds(host, *place, test)? {
                            chosen = body;
                            break;
                        }
                    }
                    match self.run_steps(host, chosen)? {
                        Flow::Next => {}
                        flow => return Ok(flow),
                    }
                }
                Step::Leave { place, condition, flow } => {
                    let leaves = match condition {
                        Some(test) => self.holds(host, *place, test)?,
                        None => true,
                    };
                    if leaves {
                        return Ok(*flow);
                    }
                }
            }
        }
        Ok(Flow::Next)
    }

    #[inline]
    fn holds(&mut self, host: &mut dyn Host, place: Place, test: &Test) -> Result<bool> {
        let parts = &mut self.instance.sql[test.sql].parts;
        match test.fast.holds(host, parts, &mut self.vals) {
            Ok(holds) => Ok(holds),
            Err(e) => Err(self.step_failed(host, place, test.sql, e)),
        }
    }

    /// The error of a step, as that of the statement.
    #[cold]
    fn step_failed(
        &mut self,
        host: &mut dyn Host,
        place: Place,
        sql: SqlNo,
        e: PgError,
    ) -> PgError {
        self.place.stmt = Some(place);
        let e = self.failed(host, sql, e);
        self.report(e)
    }
}
