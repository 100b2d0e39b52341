//! Sub-plans of expressions and init plans. Counterpart: nodeSubplan.c.

use crate::depend::Dependencies;
use crate::node::Node;
use crate::run::{ExecParam, Run};
use eval::{Host, Val};
use hashbrown::HashTable;
use pgerror::{PgError, Result, bail};
use plan::Expr;
use plan::expr::{SubLinkKind, SubPlan};
use rowops::keys::{Key, Keys};
use types::{Batch, Datum, DatumRef};

/// A running sub-plan.
pub(crate) struct SubState {
    node: Node,
    started: bool,
    hashed: Option<HashedSet>,
    /// Dependencies of the hashed rows, or of the result of an init plan or `WITH` query.
    dependencies: Dependencies,
}

/// The output of a hashed sub-plan.
struct HashedSet {
    /// Hashing and equality of the values looked up.
    outer: Keys,
    table: HashTable<(u64, Vec<Datum>)>,
    /// Rows with a NULL in a key column.
    partial: Vec<Vec<Datum>>,
    empty: bool,
}

/// Runs `f` while the sub-plan is removed from the state, so that `f` can use the state. Builds the
/// node tree of the sub-plan at first use.
fn with_sub<T>(
    run: &mut Run<'_>,
    plan_id: u32,
    f: impl FnOnce(&mut SubState, &mut Run<'_>) -> Result<T>,
) -> Result<T> {
    let index = plan_id as usize - 1;
    let mut sub = match run.st.subs[index].take() {
        Some(s) => s,
        None => {
            let desc = run.st.desc.plan.clone();
            let node = (run.st.build)(&desc.subplans[index], run)?;
            let dependencies = Dependencies::new(&[&desc.subplans[index]], &[], run);
            Box::new(SubState { node, started: false, hashed: None, dependencies })
        }
    };
    let result = f(&mut sub, run);
    // The expressions of a batch that failed are evaluated again, row by row. What nodes have kept
    // of the failed computation is incomplete.
    if result.is_ok() {
        run.st.subs[index] = Some(sub);
    }
    result
}

/// Resets all sub-plans: see [`crate::node::Exec::reset`].
pub(crate) fn reset_all(run: &mut Run<'_>) -> Result<bool> {
    let mut all = true;
    for index in 0..run.st.subs.len() {
        let Some(mut sub) = run.st.subs[index].take() else { continue };
        sub.started = false;
        sub.hashed = None;
        all &= sub.node.reset(run)?;
        run.st.subs[index] = Some(sub);
    }
    Ok(all)
}

/// Starts a `WITH` query; rescans it if it has run before.
pub(crate) fn start_over(run: &mut Run<'_>, plan_id: u32) -> Result<()> {
    with_sub(run, plan_id, restart)
}

/// The next rows of a `WITH` query.
pub(crate) fn next_of(run: &mut Run<'_>, plan_id: u32, want: usize) -> Result<Option<Batch>> {
    with_sub(run, plan_id, |sub, run| {
        sub.started = true;
        sub.dependencies.computation().isolated().perform(run, |run| sub.node.next(run, want))
    })
}

fn restart(sub: &mut SubState, run: &mut Run<'_>) -> Result<()> {
    if std::mem::replace(&mut sub.started, true) {
        sub.node.rescan(run)?;
    }
    Ok(())
}

/// Runs an init plan and sets its parameters.
pub(crate) fn run_init_plan(run: &mut Run<'_>, plan: &SubPlan) -> Result<()> {
    // While it runs, its own parameters are unset rather than pending, which prevents infinite
    // recursion.
    for &id in &plan.set_param {
        run.st.exec[id as usize] = ExecParam::Unset;
    }
    let values = with_sub(run, plan.plan_id, |sub, run| {
        sub.dependencies.computation().isolated().perform(run, |run| {
            restart(sub, run)?;
            match plan.kind {
                SubLinkKind::Exists => Ok(vec![Datum::bool(any_row(sub, run)?)]),
                SubLinkKind::Array => Ok(vec![collect_array(sub, run, plan)?]),
                _ => Ok(single_row(sub, run)?.unwrap_or_default()),
            }
        })
    })?;
    for (i, &id) in plan.set_param.iter().enumerate() {
        // No new version is needed, because no node has read the parameter since it became pending.
        let v = values.get(i).cloned().unwrap_or_default();
        run.st.exec[id as usize] = ExecParam::Set(Val::of_param(v));
    }
    Ok(())
}

/// Runs a sub-plan for the current row: see [`Host::subplan`].
pub(crate) fn run_subplan(
    run: &mut Run<'_>,
    plan: &SubPlan,
    outer: &[Datum],
    test: &mut dyn FnMut(&mut dyn Host) -> Result<Datum>,
) -> Result<Datum> {
    run.interrupts()?;
    if plan.use_hash_table {
        return run_hashed(run, plan, outer);
    }
    with_sub(run, plan.plan_id, |sub, run| {
        restart(sub, run)?;
        match plan.kind {
            SubLinkKind::Exists => Ok(Datum::bool(any_row(sub, run)?)),
            SubLinkKind::Expr => {
                let row = single_row(sub, run)?.unwrap_or_default();
                // Other expressions read further columns through these parameters.
                for (i, &id) in plan.set_param.iter().enumerate() {
                    run.set_param(id, row.get(i).cloned().unwrap_or_default());
                }
                Ok(row.into_iter().next().unwrap_or_default())
            }
            SubLinkKind::Array => collect_array(sub, run, plan),
            SubLinkKind::RowCompare => match single_row(sub, run)? {
                None => Ok(Datum::Null),
                Some(row) => {
                    set_columns(run, plan, row.iter().map(Datum::as_ref));
                    test(run)
                }
            },
            SubLinkKind::Any | SubLinkKind::All => quantified(sub, run, plan, test),
            SubLinkKind::MultiExpr | SubLinkKind::Cte => {
                Err(PgError::internal("sub-select of this kind in an expression"))
            }
        }
    })
}

fn set_columns<'v>(run: &mut Run<'_>, plan: &SubPlan, values: impl Iterator<Item = DatumRef<'v>>) {
    for (&id, v) in plan.param_ids.iter().zip(values) {
        run.set_param(id, v.to_owned());
    }
}

fn quantified(
    sub: &mut SubState,
    run: &mut Run<'_>,
    plan: &SubPlan,
    test: &mut dyn FnMut(&mut dyn Host) -> Result<Datum>,
) -> Result<Datum> {
    let deciding = plan.kind == SubLinkKind::Any;
    let mut unknown = false;
    // The first rows may decide.
    let mut ask = 1;
    while let Some(b) = sub.node.next(run, ask)? {
        run.interrupts()?;
        ask = (4 * ask).min(64);
        for r in 0..b.len {
            set_columns(run, plan, b.row(r));
            let v = test(run)?;
            if v.is_null() {
                unknown = true;
            } else if v.as_ref().as_bool() == deciding {
                return Ok(Datum::bool(deciding));
            }
        }
    }
    Ok(if unknown { Datum::Null } else { Datum::bool(!deciding) })
}

fn any_row(sub: &mut SubState, run: &mut Run<'_>) -> Result<bool> {
    while let Some(b) = sub.node.next(run, 1)? {
        if b.len > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn single_row(sub: &mut SubState, run: &mut Run<'_>) -> Result<Option<Vec<Datum>>> {
    let mut found: Option<Vec<Datum>> = None;
    while let Some(b) = sub.node.next(run, 2)? {
        for r in 0..b.len {
            if found.is_some() {
                bail!(
                    CARDINALITY_VIOLATION,
                    "more than one row returned by a subquery used as an expression"
                );
            }
            found = Some(b.row_owned(r));
        }
    }
    Ok(found)
}

fn collect_array(sub: &mut SubState, run: &mut Run<'_>, plan: &SubPlan) -> Result<Datum> {
    let mut values = Vec::new();
    while let Some(b) = sub.node.next(run, types::BATCH_ROWS_MAX)? {
        for r in 0..b.len {
            values.push(b.get(r, 0).to_owned());
        }
    }
    let array = run.sv.as_facts().type_info(plan.first_col_type)?;
    let elem = run.sv.as_facts().type_info(array.elem)?;
    // If the values are arrays of the result type, they become slices of an array with one more
    // dimension.
    let shown = &run.st.desc.plan.subplans[plan.plan_id as usize - 1].info.target_list;
    let column = shown.iter().find(|t| !t.resjunk).map(|t| t.expr.type_oid());
    if column == Some(plan.first_col_type) {
        return eval::array_of_arrays(elem, &values);
    }
    eval::array_of(&elem, &values)
}

/// Hashed sub-plan, such as `x IN (uncorrelated sub-select)`: its rows are hashed once.
fn run_hashed(run: &mut Run<'_>, plan: &SubPlan, outer: &[Datum]) -> Result<Datum> {
    with_sub(run, plan.plan_id, |sub, run| {
        if sub.dependencies.changed(run) {
            sub.hashed = None;
        }
        if sub.hashed.is_none() {
            sub.dependencies.record(run);
            sub.hashed = Some(sub.dependencies.computation().perform(run, |run| {
                restart(sub, run)?;
                HashedSet::build(sub, plan, run)
            })?);
        }
        let Some(set) = &sub.hashed else { return Ok(Datum::Null) };
        let found = set.contains(run, outer)?;
        // The caller treats NULL as false.
        Ok(if found.is_null() && plan.unknown_eq_false { Datum::bool(false) } else { found })
    })
}

impl HashedSet {
    fn build(sub: &mut SubState, plan: &SubPlan, run: &mut Run<'_>) -> Result<HashedSet> {
        let mut parts = Vec::new();
        plan.testexpr.iter().for_each(|t| eval::hashed_parts(t, &mut parts));
        let (mut inner, mut outer) = (Vec::new(), Vec::new());
        // The column of the sub-select that each comparison reads. Inlined functions may compare a
        // column several times.
        let mut columns = Vec::with_capacity(parts.len());
        for op in parts {
            let Expr::Param(column) = &op.args[1] else {
                return Err(PgError::internal("hashed comparison without a column"));
            };
            let column = plan.param_ids.iter().position(|id| *id == column.paramid);
            columns.push(column.ok_or_else(|| PgError::internal("column without a parameter"))?);
            outer.push(Key::new(op.args[0].type_oid(), op.opno, op.inputcollid, run.sv)?);
            inner.push(Key::new(op.args[1].type_oid(), op.opno, op.inputcollid, run.sv)?);
        }
        let mut set = HashedSet {
            outer: Keys(outer),
            table: HashTable::new(),
            partial: Vec::new(),
            empty: true,
        };
        let inner = Keys(inner);
        while let Some(b) = sub.node.next(run, types::BATCH_ROWS_MAX)? {
            run.interrupts()?;
            for r in 0..b.len {
                set.empty = false;
                let row: Vec<Datum> = columns.iter().map(|c| b.get(r, *c).to_owned()).collect();
                match inner.hash(row.iter().map(Datum::as_ref), false, run.sv)? {
                    None => set.partial.push(row),
                    Some(h) => {
                        set.table.insert_unique(h, (h, row), |e| e.0);
                    }
                }
            }
        }
        Ok(set)
    }

    /// True, false, or NULL if a NULL on either side makes the result unknown.
    fn contains(&self, run: &mut Run<'_>, key: &[Datum]) -> Result<Datum> {
        if self.empty {
            return Ok(Datum::bool(false));
        }
        let hash = self.outer.hash(key.iter().map(Datum::as_ref), false, run.sv)?;
        if let Some(h) = hash {
            for (_, row) in self.table.iter_hash(h).filter(|e| e.0 == h) {
                let (a, b) = (key.iter().map(Datum::as_ref), row.iter().map(Datum::as_ref));
                if self.outer.equal(a, b, run.sv)? {
                    return Ok(Datum::bool(true));
                }
            }
        }
        // A row that is equal in all columns where neither side is NULL makes the result unknown.
        for row in &self.partial {
            if self.may_equal(run, key, row)? {
                return Ok(Datum::Null);
            }
        }
        if hash.is_none() {
            for (_, row) in &self.table {
                if self.may_equal(run, key, row)? {
                    return Ok(Datum::Null);
                }
            }
        }
        Ok(Datum::bool(false))
    }

    fn may_equal(&self, run: &mut Run<'_>, key: &[Datum], row: &[Datum]) -> Result<bool> {
        for (i, k) in self.outer.0.iter().enumerate() {
            let one = Keys(vec![k.clone()]);
            if !key[i].is_null()
                && !row[i].is_null()
                && !one.equal(
                    std::iter::once(key[i].as_ref()),
                    std::iter::once(row[i].as_ref()),
                    run.sv,
                )?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
