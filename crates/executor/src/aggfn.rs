//! One aggregate function: its arguments, its state per group, its result.
//! Counterpart: nodeAgg.c (advance_transition_function, finalize_aggregate).

use crate::keys::{Key, Keys};
use crate::node::*;
use crate::ordered::OrderedSet;
use crate::run::Run;
use crate::services::{AggFn, AggInfo, FinalCall};
use crate::sort::SortColumn;
use eval::{CallContext, EvalState, Program, Resolve, RowInput};
use ids::Oid;
use pgerror::Result;
use plan::expr::Aggref;
use std::any::Any;
use std::sync::Arc;
use types::{AggState, Datum, DatumRef};

/// What all groups share.
pub(crate) struct AggCall {
    info: Arc<AggInfo>,
    ordered_set: Option<OrderedSet>,
    args: Vec<(Program, EvalState)>,
    direct: Vec<(Program, EvalState)>,
    filter: Option<(Program, EvalState)>,
    arg_types: Vec<Oid>,
    /// As `arg_types`, behind the state's type.
    trans_types: Vec<Oid>,
    collation: Oid,
    result_type: Oid,
    /// Sort of the input rows, by place among the arguments.
    order: Vec<SortColumn>,
    distinct: Option<Keys>,
    /// Number of arguments proper; further ones only sort.
    count: usize,
    extra: Option<Box<dyn Any + Send>>,
}

/// State of one aggregate in one group.
pub(crate) struct AggValue {
    plain: Datum,
    /// `plain` has no value yet: the first input becomes it.
    unset: bool,
    internal: AggState,
    /// Rows kept for sorting or telling apart.
    rows: Vec<Vec<Datum>>,
}

impl AggCall {
    pub(crate) fn new(agg: &Aggref, cols: &mut dyn Resolve, run: &mut Run<'_>) -> Result<AggCall> {
        let ordered_set = match agg.aggkind {
            b'n' => None,
            _ => Some(OrderedSet::of(&run.sv.function(agg.aggfnoid)?.name)?),
        };
        let info = match ordered_set {
            None => run.sv.aggregate(agg.aggfnoid)?,
            Some(_) => Arc::new(kept_rows(agg)),
        };
        let mut args = Vec::new();
        for a in &agg.args {
            args.push((compile(&a.expr, cols, run)?, EvalState::default()));
        }
        let mut direct = Vec::new();
        for a in &agg.aggdirectargs {
            direct.push((compile(a, cols, run)?, EvalState::default()));
        }
        let filter = match &agg.aggfilter {
            Some(f) => Some((compile(f, cols, run)?, EvalState::default())),
            None => None,
        };
        let place = |r: u32| agg.args.iter().position(|t| t.ressortgroupref == r);
        let mut order = Vec::new();
        // DISTINCT sorts by its columns; ORDER BY comes first where both are given.
        for c in agg.aggorder.iter().chain(&agg.aggdistinct) {
            let Some(column) = place(c.tle_sort_group_ref) else { continue };
            if order.iter().any(|o: &SortColumn| o.column == column) || !c.sortop.is_valid() {
                continue;
            }
            let (cmp, descending) = run.sv.sort_operator(c.sortop)?;
            let collation = agg.args[column].expr.collation();
            order.push(SortColumn {
                column,
                cmp,
                collation,
                descending,
                nulls_first: c.nulls_first,
            });
        }
        let distinct = if agg.aggdistinct.is_empty() {
            None
        } else {
            let mut keys = Vec::new();
            for c in &agg.aggdistinct {
                if let Some(column) = place(c.tle_sort_group_ref) {
                    let e = &agg.args[column].expr;
                    keys.push(Key::new(e.type_oid(), c.eqop, e.collation(), run)?);
                }
            }
            Some(Keys(keys))
        };
        let arg_types: Vec<Oid> = agg.args.iter().map(|a| a.expr.type_oid()).collect();
        let mut trans_types = vec![agg.aggtranstype.valid().unwrap_or(info.trans_type)];
        trans_types.extend(&arg_types);
        Ok(AggCall {
            count: agg.args.iter().filter(|a| !a.resjunk).count(),
            info,
            ordered_set,
            args,
            direct,
            filter,
            arg_types,
            trans_types,
            collation: agg.inputcollid,
            result_type: agg.aggtype,
            order,
            distinct,
            extra: None,
        })
    }

    pub(crate) fn start(&self) -> AggValue {
        AggValue {
            plain: self.info.init.clone(),
            unset: self.info.init.is_null(),
            internal: AggState::default(),
            rows: Vec::new(),
        }
    }

    /// Takes the row at hand into the group's state.
    pub(crate) fn add(
        &mut self,
        value: &mut AggValue,
        run: &mut Run<'_>,
        input: &RowInput<'_>,
    ) -> Result<()> {
        if let Some((f, st)) = &mut self.filter
            && !f.test_row(st, run, input)?
        {
            return Ok(());
        }
        let mut row = Vec::with_capacity(self.args.len());
        for (p, st) in &mut self.args {
            row.push(p.eval_row(st, run, input)?.into_owned());
        }
        if let Some(set) = self.ordered_set {
            if !(set.skips_nulls() && row.first().is_some_and(Datum::is_null)) {
                value.rows.push(row);
            }
            return Ok(());
        }
        if !self.order.is_empty() || self.distinct.is_some() {
            value.rows.push(row);
            return Ok(());
        }
        self.step(value, run, &row)
    }

    fn step(&mut self, value: &mut AggValue, run: &mut Run<'_>, row: &[Datum]) -> Result<()> {
        let args = &row[..self.count.min(row.len())];
        let strict = match self.info.trans {
            AggFn::Plain { strict, .. } | AggFn::Internal { strict, .. } => strict,
        };
        if strict && args.iter().any(Datum::is_null) {
            return Ok(());
        }
        match self.info.trans {
            AggFn::Internal { f, .. } => {
                let refs: Vec<DatumRef<'_>> = args.iter().map(Datum::as_ref).collect();
                // The state is not among the arguments.
                let mut cx = CallContext {
                    host: run,
                    collation: self.collation,
                    arg_types: &self.arg_types,
                    result_type: self.result_type,
                    extra: &mut self.extra,
                };
                f(&mut cx, &mut value.internal, &refs)
            }
            AggFn::Plain { f, .. } => {
                if strict && value.unset {
                    // The first value is the state.
                    value.plain = args.first().cloned().unwrap_or_default();
                    value.unset = false;
                    return Ok(());
                }
                if strict && value.plain.is_null() {
                    return Ok(());
                }
                let mut refs = Vec::with_capacity(args.len() + 1);
                refs.push(value.plain.as_ref());
                refs.extend(args.iter().map(Datum::as_ref));
                let mut cx = CallContext {
                    host: run,
                    collation: self.collation,
                    arg_types: &self.trans_types,
                    result_type: self.info.trans_type,
                    extra: &mut self.extra,
                };
                let new = f(&mut cx, &refs)?;
                value.plain = new;
                value.unset = false;
                Ok(())
            }
        }
    }

    /// The group's result. The state stays usable (window frames ask repeatedly).
    pub(crate) fn finish(&mut self, value: &mut AggValue, run: &mut Run<'_>) -> Result<Datum> {
        if let Some(set) = self.ordered_set {
            let mut direct = Vec::new();
            for (p, st) in &mut self.direct {
                direct.push(p.eval_row(st, run, &RowInput::EMPTY)?.into_owned());
            }
            self.sort(&mut value.rows);
            return set.value(&value.rows, &self.order, &direct, self.result_type, run);
        }
        if !value.rows.is_empty() {
            let mut rows = std::mem::take(&mut value.rows);
            self.sort(&mut rows);
            let mut last: Option<Vec<Datum>> = None;
            for row in rows {
                if let (Some(keys), Some(prev)) = (&self.distinct, &last) {
                    let n = self.count;
                    let a = prev[..n].iter().map(Datum::as_ref);
                    let b = row[..n].iter().map(Datum::as_ref);
                    if keys.equal(a, b, run)? {
                        continue;
                    }
                }
                self.step(value, run, &row)?;
                last = Some(row);
            }
        }
        let mut extra_args = Vec::new();
        for (p, st) in &mut self.direct {
            extra_args.push(p.eval_row(st, run, &RowInput::EMPTY)?.into_owned());
        }
        if self.info.final_extra {
            extra_args.resize(self.direct.len() + self.count, Datum::Null);
        }
        let refs: Vec<DatumRef<'_>> = extra_args.iter().map(Datum::as_ref).collect();
        match &self.info.finalfn {
            None => Ok(value.plain.clone()),
            Some(FinalCall::Internal { f, strict }) => {
                if *strict && value.internal.is_null() {
                    return Ok(Datum::Null);
                }
                let mut cx = CallContext {
                    host: run,
                    collation: self.collation,
                    arg_types: &self.trans_types,
                    result_type: self.result_type,
                    extra: &mut self.extra,
                };
                f(&mut cx, &mut value.internal, &refs)
            }
            Some(FinalCall::Plain { f, strict }) => {
                if *strict && value.plain.is_null() {
                    return Ok(Datum::Null);
                }
                let mut args = vec![value.plain.as_ref()];
                args.extend(refs);
                let mut cx = CallContext {
                    host: run,
                    collation: self.collation,
                    arg_types: &self.trans_types,
                    result_type: self.result_type,
                    extra: &mut self.extra,
                };
                f(&mut cx, &args)
            }
        }
    }

    fn sort(&self, rows: &mut [Vec<Datum>]) {
        rows.sort_by(|a, b| {
            for c in &self.order {
                let o = c.order(a[c.column].as_ref(), b[c.column].as_ref());
                if o.is_ne() {
                    return o;
                }
            }
            std::cmp::Ordering::Equal
        });
    }
}

/// An ordered-set aggregate has no state but its rows.
fn kept_rows(agg: &Aggref) -> AggInfo {
    AggInfo {
        name: String::new(),
        trans: AggFn::Plain { f: |_, _| Ok(Datum::Null), strict: false },
        finalfn: None,
        combine: None,
        final_extra: false,
        trans_type: agg.aggtype,
        trans_by_val: false,
        trans_collation: Oid::INVALID,
        init: Datum::Null,
    }
}
