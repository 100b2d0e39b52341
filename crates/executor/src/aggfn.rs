//! One aggregate call: its arguments, its transition state per group, its final value.
//! Counterpart: nodeAgg.c (advance_transition_function, finalize_aggregate).

use crate::node::{NoScanColumns, compile};
use crate::ordered::{OrderedSet, Sorted};
use crate::run::Run;
use eval::{CallContext, EvalState, HostCall, Program, Resolve, RowInput, select_true};
use ids::Oid;
use ids::code::AggKind;
use pgerror::{PgError, Result, bail};
use plan::expr::{AggSplit, Aggref};
use rowops::keys::{Key, Keys, check_collation};
use rowops::services::{AggFn, AggInfo, FinalCall};
use rowops::sorter::{SortColumn, Sorter, WordKind};
use smallvec::SmallVec;
use std::any::Any;
use std::sync::Arc;
use types::{AggState, BATCH_ROWS_MAX, Batch, Column, Datum, DatumRef};

/// The types of the arguments, without those of ORDER BY only.
pub(crate) fn argument_types(agg: &Aggref) -> Vec<Oid> {
    agg.args.iter().filter(|a| !a.resjunk).map(|a| a.expr.type_oid()).collect()
}

fn direct_types(agg: &Aggref) -> Vec<Oid> {
    agg.aggdirectargs.iter().map(plan::expr::Expr::type_oid).collect()
}

/// An aggregate call, apart from the states of its groups. Counterpart: `AggStatePerTransData`.
pub(crate) struct AggCall {
    info: Arc<AggInfo>,
    ordered_set: Option<OrderedSet>,
    /// The reason why the final function of the ordered set refuses the call.
    mismatch: Option<&'static str>,
    args: Vec<(Program, EvalState)>,
    direct: Vec<(Program, EvalState)>,
    filter: Option<(Program, EvalState)>,
    arg_types: Vec<Oid>,
    /// The type of the state, followed by `arg_types`.
    trans_types: Vec<Oid>,
    /// The types of the state, the direct arguments and the arguments.
    final_types: Vec<Oid>,
    collation: Oid,
    result_type: Oid,
    /// Sort order of the input rows, as positions in the argument list.
    order: Vec<SortColumn>,
    distinct: Option<Distinct>,
    /// Number of arguments of the aggregate. The arguments after them are only sort keys.
    count: usize,
    extra: Option<Box<dyn Any + Send>>,
    /// An empty batch whose columns are the arguments.
    args_template: Batch,
}

/// State of one aggregate in one group.
pub(crate) struct AggValue {
    plain: Datum,
    /// `plain` has no value yet: the first input becomes the state of a strict transition function.
    unset: bool,
    /// Number of rows in the state, for moving aggregates. Counterpart: `transValueCount`.
    row_count: i64,
    internal: AggState,
    /// Input rows of an aggregate with ORDER BY, DISTINCT or WITHIN GROUP.
    sorter: Option<Box<Sorter>>,
}

impl AggValue {
    fn is_null(&self, f: AggFn) -> bool {
        match f {
            AggFn::Plain { .. } | AggFn::Session { .. } => self.plain.is_null(),
            AggFn::Internal { .. } => self.internal.is_null(),
        }
    }
}

/// For min and max over text without a collation: replaces the transition function by one that
/// raises the error as soon as two values are compared. Other aggregates do not use the collation
/// of their input.
fn undetermined(agg: &Aggref, info: Arc<AggInfo>, run: &mut Run<'_>) -> Result<Arc<AggInfo>> {
    let compares = ["_larger", "_smaller"].iter().any(|end| info.trans_name.ends_with(end));
    if !compares {
        return Ok(info);
    }
    let ty = agg.args.first().map_or(Oid::INVALID, |a| a.expr.type_oid());
    if agg.inputcollid.is_valid() {
        return collated(agg, info, run);
    }
    let (base, _) = run.sv.base_type(ty)?;
    if !eval::compares_text(base) {
        return Ok(info);
    }
    let f = |_: &mut dyn types::fn_context::FnContext, _: &[DatumRef<'_>]| -> Result<Datum> {
        Err(eval::undetermined_collation("comparison"))
    };
    let trans = AggFn::Plain { f, strict: info.trans.is_strict() };
    // The name is empty, so that `Acc::new` chooses no specialized representation.
    Ok(Arc::new(AggInfo { trans, trans_name: String::new(), ..(*info).clone() }))
}

/// As [`undetermined`], for a collation with a locale: the transition function that compares by it.
fn collated(agg: &Aggref, info: Arc<AggInfo>, run: &mut Run<'_>) -> Result<Arc<AggInfo>> {
    let locale = run.sv.as_facts().collation_locale(agg.inputcollid)?;
    let function = types::collated::function(&info.trans_name).zip(locale);
    let Some(f) = function.and_then(|(f, locale)| f.under(&locale)) else { return Ok(info) };
    let trans = AggFn::Plain { f, strict: info.trans.is_strict() };
    Ok(Arc::new(AggInfo { trans, trans_name: String::new(), ..(*info).clone() }))
}

/// The comparison of the arguments for DISTINCT.
struct Distinct {
    /// The columns of the arguments, in the order of `keys`.
    columns: Vec<usize>,
    keys: Keys,
}

impl Distinct {
    /// Whether two rows of arguments are equal.
    fn equal(&self, a: (&Batch, usize), b: (&Batch, usize), run: &mut Run<'_>) -> Result<bool> {
        let left = self.columns.iter().map(|&column| a.0.get(a.1, column));
        let right = self.columns.iter().map(|&column| b.0.get(b.1, column));
        self.keys.equal(left, right, run.sv)
    }
}

impl AggCall {
    /// `cols` resolves columns of the input rows; `group` resolves columns of a group's first row,
    /// over which direct arguments are evaluated once per group.
    pub(crate) fn new(
        agg: &Aggref,
        cols: &mut dyn Resolve,
        group: &mut dyn Resolve,
        run: &mut Run<'_>,
    ) -> Result<AggCall> {
        if agg.aggkind == AggKind::Normal {
            let types = argument_types(agg);
            let info = match agg.aggsplit {
                AggSplit::Simple => run.sv.aggregate(agg.aggfnoid, &types)?,
                split => run.sv.aggregate_part(agg.aggfnoid, &types, split)?,
            };
            return AggCall::with_info(agg, info, None, (cols, group), run);
        }
        if let Some(last) = run.sv.ordered_set_final(agg.aggfnoid)? {
            let set = OrderedSet::of(&last)?;
            let info = Arc::new(ordered_set_info(agg));
            let mut call = AggCall::with_info(agg, info, Some(set), (cols, group), run)?;
            call.mismatch = set.mismatch(&last, agg);
            return Ok(call);
        }
        // Other transition functions get the rows as they come, and sort them if they need to.
        let mut types = direct_types(agg);
        types.extend(argument_types(agg));
        let info = run.sv.aggregate(agg.aggfnoid, &types)?;
        let mut call = AggCall::with_info(agg, info, None, (cols, group), run)?;
        call.order.clear();
        Ok(call)
    }

    /// The moving-aggregate variant, for window frames whose start moves.
    pub(crate) fn moving(
        agg: &Aggref,
        info: Arc<AggInfo>,
        cols: &mut dyn Resolve,
        run: &mut Run<'_>,
    ) -> Result<AggCall> {
        AggCall::with_info(agg, info, None, (cols, &mut NoScanColumns), run)
    }

    fn with_info(
        agg: &Aggref,
        info: Arc<AggInfo>,
        ordered_set: Option<OrderedSet>,
        (cols, group): (&mut dyn Resolve, &mut dyn Resolve),
        run: &mut Run<'_>,
    ) -> Result<AggCall> {
        let mut info = undetermined(agg, info, run)?;
        // The specialized representations of states have the initial values and the final functions
        // of the built-in aggregates.
        let special = agg.aggfnoid < Oid::FIRST_NORMAL && agg.aggsplit == AggSplit::Simple;
        if !special && !info.trans_name.is_empty() {
            info = Arc::new(AggInfo { trans_name: String::new(), ..(*info).clone() });
        }
        let mut args = Vec::new();
        for a in &agg.args {
            args.push((compile(&a.expr, cols, run)?, EvalState::default()));
        }
        let mut direct = Vec::new();
        for a in &agg.aggdirectargs {
            direct.push((compile(a, group, run)?, EvalState::default()));
        }
        let filter = match &agg.aggfilter {
            Some(f) => Some((compile(f, cols, run)?, EvalState::default())),
            None => None,
        };
        let argument_of = |r: u32| agg.args.iter().position(|t| t.ressortgroupref == r);
        let mut order = Vec::new();
        // DISTINCT sorts by its columns; ORDER BY comes first where both are given.
        for c in agg.aggorder.iter().chain(&agg.aggdistinct) {
            let Some(column) = argument_of(c.tle_sort_group_ref) else { continue };
            if order.iter().any(|o: &SortColumn| o.column == column) || !c.sortop.is_valid() {
                continue;
            }
            let ty = agg.args[column].expr.type_oid();
            let collation = agg.args[column].expr.collation();
            let (cmp, descending) = run.sv.sort_operator(c.sortop, ty, collation)?;
            check_collation(ty, collation, "comparison", run.sv)?;
            order.push(SortColumn {
                column,
                word: WordKind::of(ty, &cmp),
                cmp,
                collation,
                descending,
                nulls_first: c.nulls_first,
            });
        }
        let distinct = if agg.aggdistinct.is_empty() {
            None
        } else {
            let (mut columns, mut keys) = (Vec::new(), Vec::new());
            for c in &agg.aggdistinct {
                if let Some(column) = argument_of(c.tle_sort_group_ref) {
                    let e = &agg.args[column].expr;
                    columns.push(column);
                    keys.push(Key::new(e.type_oid(), c.eqop, e.collation(), run.sv)?);
                }
            }
            Some(Distinct { columns, keys: Keys(keys) })
        };
        let arg_types: Vec<Oid> = agg.args.iter().map(|a| a.expr.type_oid()).collect();
        let mut trans_types = vec![agg.aggtranstype.valid().unwrap_or(info.trans_type)];
        let mut final_types = trans_types.clone();
        final_types.extend(direct_types(agg));
        final_types.extend(&arg_types);
        trans_types.extend(&arg_types);
        let args_template = Batch::new(args.iter().map(|(p, _): &(Program, EvalState)| p.by_val));
        Ok(AggCall {
            args_template,
            count: agg.args.iter().filter(|a| !a.resjunk).count(),
            info,
            ordered_set,
            mismatch: None,
            args,
            direct,
            filter,
            arg_types,
            trans_types,
            final_types,
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
            row_count: 0,
            internal: AggState::default(),
            sorter: None,
        }
    }

    /// The rows of a batch (among `rows`) that pass the FILTER clause; `None` if there is none.
    pub(crate) fn filtered(
        &mut self,
        run: &mut Run<'_>,
        input: &Batch,
        rows: Option<&[u16]>,
    ) -> Result<Option<Vec<u16>>> {
        match &mut self.filter {
            Some((f, st)) => select_true(f, st, run, input, rows).map(Some),
            None => Ok(None),
        }
    }

    /// Number of arguments, sort columns included.
    pub(crate) fn arg_count(&self) -> usize {
        self.args.len()
    }

    /// The input column, if argument `i` is a plain column; `None` if it must be computed.
    pub(crate) fn arg_column(&self, i: usize) -> Option<usize> {
        self.args[i].0.scan_column()
    }

    /// Argument `i` for the rows of a batch; `None` if the values are too large for one column.
    pub(crate) fn arg_values(
        &mut self,
        i: usize,
        run: &mut Run<'_>,
        input: &Batch,
        rows: Option<&[u16]>,
    ) -> Result<Option<Column>> {
        let (p, st) = &mut self.args[i];
        p.eval_bounded(st, run, input, rows)
    }

    /// Argument `i` for the rows of a batch, without a limit on the size.
    pub(crate) fn all_values(
        &mut self,
        i: usize,
        run: &mut Run<'_>,
        input: &Batch,
        rows: Option<&[u16]>,
    ) -> Result<Column> {
        let (p, st) = &mut self.args[i];
        p.eval_batch(st, run, input, rows)
    }

    /// True if each row advances the state directly, without a sort.
    pub(crate) fn is_simple(&self) -> bool {
        self.ordered_set.is_none() && self.order.is_empty() && self.distinct.is_none()
    }

    /// True if rows can be removed from the state by an inverse transition.
    pub(crate) fn is_moving(&self) -> bool {
        self.info.inverse.is_some()
    }

    pub(crate) fn trans_name(&self) -> &str {
        &self.info.trans_name
    }

    pub(crate) fn final_name(&self) -> &str {
        &self.info.final_name
    }

    /// Whether equal inputs lead to the same state, which the final functions do not modify.
    /// Counterpart: `find_compatible_trans`.
    pub(crate) fn has_state_of(&self, other: &AggCall) -> bool {
        let (a, b) = (&self.info, &other.info);
        a.is_shareable
            && b.is_shareable
            && a.trans_function.is_valid()
            && a.trans_function == b.trans_function
            && self.trans_types == other.trans_types
            && self.count == other.count
            && a.init == b.init
            && self.ordered_set.is_none()
            && other.ordered_set.is_none()
    }

    pub(crate) fn collation(&self) -> Oid {
        self.collation
    }

    /// Advances the state by the arguments of one row. Returns an estimate of the number of bytes
    /// by which the state has grown.
    pub(crate) fn add_values(
        &mut self,
        value: &mut AggValue,
        run: &mut Run<'_>,
        row: &[DatumRef<'_>],
    ) -> Result<usize> {
        let bytes = |row: &[DatumRef<'_>]| {
            let each = row.iter().map(|v| match v {
                DatumRef::Bytes(b) => b.len() + 16,
                _ => 8,
            });
            each.sum::<usize>()
        };
        if self.sorts_rows() {
            let mut one = self.args_template.clone();
            one.push_row(row);
            return self.add_rows(value, run, &one, 0, 1);
        }
        self.step(value, run, row)?;
        // Only states of type internal can grow with the number of rows.
        Ok(match self.info.trans {
            AggFn::Internal { .. } => bytes(row),
            AggFn::Plain { .. } | AggFn::Session { .. } => 0,
        })
    }

    /// True if the rows are sorted before they reach the state.
    pub(crate) fn sorts_rows(&self) -> bool {
        !self.is_simple()
    }

    /// Adds rows `from..to` of the arguments to the group's sort; returns their size in bytes.
    pub(crate) fn add_rows(
        &mut self,
        value: &mut AggValue,
        run: &mut Run<'_>,
        rows: &Batch,
        from: usize,
        to: usize,
    ) -> Result<usize> {
        let without_nulls = self.ordered_set.is_some_and(OrderedSet::skips_nulls)
            && rows.columns.first().is_some_and(|c| (from..to).any(|r| c.is_null(r)));
        let sorter = match &mut value.sorter {
            Some(s) => s,
            slot => {
                let memory = run.sv.work_mem();
                slot.insert(Box::new(Sorter::new(self.order.clone(), memory, None)))
            }
        };
        if from == 0 && to == rows.len && !without_nulls {
            sorter.push(run.sv, rows)?;
            return Ok(rows.memory());
        }
        let mut part = rows.empty_like();
        if without_nulls {
            let mut live: Vec<u16> = (from as u16..to as u16).collect();
            live.retain(|&r| !rows.columns[0].is_null(r.into()));
            part.extend_rows(rows, &live);
        } else {
            part.extend_range(rows, from, to);
        }
        sorter.push(run.sv, &part)?;
        Ok(part.memory())
    }

    fn step(
        &mut self,
        value: &mut AggValue,
        run: &mut Run<'_>,
        row: &[DatumRef<'_>],
    ) -> Result<()> {
        let args = &row[..self.count.min(row.len())];
        let moving = self.info.inverse.is_some();
        let strict = self.info.trans.is_strict();
        if strict && args.iter().any(|v| v.is_null()) {
            return Ok(());
        }
        if strict && value.unset && !self.info.trans.is_internal() {
            // The first value becomes the state.
            value.plain = args.first().map(|v| DatumRef::to_owned(*v)).unwrap_or_default();
            value.unset = false;
            value.row_count = 1;
            return Ok(());
        }
        if !self.transition(self.info.trans, value, run, args)? {
            return Ok(());
        }
        value.row_count += 1;
        if moving && value.is_null(self.info.trans) {
            bail!(
                NULL_VALUE_NOT_ALLOWED,
                "moving-aggregate transition function must not return null"
            );
        }
        Ok(())
    }

    /// Removes the arguments of one row from the state by the inverse transition function. Returns
    /// false if that is impossible and the frame must be aggregated again.
    pub(crate) fn retract(
        &mut self,
        value: &mut AggValue,
        run: &mut Run<'_>,
        row: &[DatumRef<'_>],
    ) -> Result<bool> {
        let args = &row[..self.count.min(row.len())];
        let Some(inverse) = self.info.inverse else { return Ok(false) };
        if inverse.is_strict() && args.iter().any(|v| v.is_null()) {
            return Ok(true);
        }
        if value.row_count <= 0 || value.is_null(inverse) {
            return Err(PgError::internal(
                "aggregate transition value is NULL before inverse transition",
            ));
        }
        if value.row_count == 1 {
            // The state of an empty frame must be the initial state, which may be NULL.
            *value = self.start();
            return Ok(true);
        }
        self.transition(inverse, value, run, args)?;
        value.row_count -= 1;
        Ok(!value.is_null(inverse))
    }

    /// Calls a transition function. Returns false if it is strict and the state is NULL.
    fn transition(
        &mut self,
        f: AggFn,
        value: &mut AggValue,
        run: &mut Run<'_>,
        args: &[DatumRef<'_>],
    ) -> Result<bool> {
        match f {
            AggFn::Internal { f, .. } => {
                // An internal state is not passed as an argument.
                let mut cx = CallContext {
                    host: run,
                    collation: self.collation,
                    arg_types: &self.arg_types,
                    result_type: self.result_type,
                    variadic_array: false,
                    extra: &mut self.extra,
                };
                f(&mut cx, &mut value.internal, args)?;
            }
            AggFn::Plain { f, strict } => {
                if strict && value.plain.is_null() {
                    return Ok(false);
                }
                let new = {
                    let mut refs: SmallVec<[DatumRef<'_>; 4]> = SmallVec::new();
                    refs.push(value.plain.as_ref());
                    refs.extend_from_slice(args);
                    let mut cx = CallContext {
                        host: run,
                        collation: self.collation,
                        arg_types: &self.trans_types,
                        result_type: self.info.trans_type,
                        variadic_array: false,
                        extra: &mut self.extra,
                    };
                    f(&mut cx, &refs)?
                };
                value.plain = new;
                value.unset = false;
            }
            AggFn::Session { function, strict } => {
                if strict && value.plain.is_null() {
                    return Ok(false);
                }
                let new = {
                    let mut refs: SmallVec<[DatumRef<'_>; 4]> = SmallVec::new();
                    refs.push(value.plain.as_ref());
                    refs.extend_from_slice(args);
                    run.sv.call_host(&HostCall {
                        function,
                        collation: self.collation,
                        result_type: self.info.trans_type,
                        arg_types: &self.trans_types,
                        args: &refs,
                    })?
                };
                value.plain = new;
                value.unset = false;
            }
        }
        Ok(true)
    }

    /// The final value of a group; `group` is its first row. The state remains usable, because
    /// window frames call this function repeatedly.
    pub(crate) fn finish(
        &mut self,
        value: &mut AggValue,
        group: &RowInput<'_>,
        run: &mut Run<'_>,
    ) -> Result<Datum> {
        let mut direct = Vec::new();
        for (p, st) in &mut self.direct {
            direct.push(p.eval_row(st, run, group)?.into_owned());
        }
        if let Some(message) = self.mismatch {
            return Err(PgError::internal(message));
        }
        if let Some(set) = self.ordered_set {
            let rows = Sorted::new(value.sorter.take(), &self.order, run)?;
            return set.value(rows, &direct, self.result_type, run);
        }
        if let Some(mut sorter) = value.sorter.take() {
            sorter.finish(run.sv)?;
            let mut last: Option<(Batch, usize)> = None;
            while let Some(batch) = sorter.next(BATCH_ROWS_MAX)? {
                run.interrupts()?;
                for r in 0..batch.len {
                    if let (Some(distinct), Some((b, l))) = (&self.distinct, &last) {
                        let previous = if r > 0 { (&batch, r - 1) } else { (b, *l) };
                        if distinct.equal(previous, (&batch, r), run)? {
                            continue;
                        }
                    }
                    let row: SmallVec<[DatumRef<'_>; 4]> = batch.row(r).collect();
                    self.step(value, run, &row)?;
                    if last.is_none() {
                        last = Some((Batch::default(), 0));
                    }
                }
                let end = batch.len.saturating_sub(1);
                last = Some((batch, end));
            }
        }
        let mut plain = std::mem::take(&mut value.plain);
        let result = self.final_value(&plain, &mut value.internal, &direct, run);
        std::mem::swap(&mut plain, &mut value.plain);
        result
    }

    /// The final value of a state without direct arguments. The state is `plain` or, for type
    /// internal, `internal`.
    pub(crate) fn finish_state(
        &mut self,
        plain: &Datum,
        internal: &mut AggState,
        run: &mut Run<'_>,
    ) -> Result<Datum> {
        self.final_value(plain, internal, &[], run)
    }

    /// The final function's result for a state and the values of the direct arguments.
    fn final_value(
        &mut self,
        plain: &Datum,
        internal: &mut AggState,
        direct: &[Datum],
        run: &mut Run<'_>,
    ) -> Result<Datum> {
        let Some(finalfn) = self.info.finalfn else { return Ok(plain.clone()) };
        let (strict, state_is_null) = match finalfn {
            FinalCall::Internal { strict, .. } => (strict, internal.is_null()),
            FinalCall::Plain { strict, .. } | FinalCall::Session { strict, .. } => {
                (strict, plain.is_null())
            }
        };
        if strict && (state_is_null || direct.iter().any(Datum::is_null)) {
            return Ok(Datum::Null);
        }
        let mut args: SmallVec<[DatumRef<'_>; 4]> = SmallVec::new();
        if !matches!(finalfn, FinalCall::Internal { .. }) {
            args.push(plain.as_ref());
        }
        args.extend(direct.iter().map(Datum::as_ref));
        // Extra arguments are NULL.
        let extra = if self.info.final_extra { self.count } else { 0 };
        args.extend(std::iter::repeat_n(DatumRef::Null, extra));
        let mut call =
            |run: &mut Run<'_>, f: &mut dyn FnMut(&mut CallContext<'_>) -> Result<Datum>| {
                f(&mut CallContext {
                    host: run,
                    collation: self.collation,
                    arg_types: &self.final_types,
                    result_type: self.result_type,
                    variadic_array: false,
                    extra: &mut self.extra,
                })
            };
        match finalfn {
            FinalCall::Internal { f, .. } => call(run, &mut |cx| f(cx, internal, &args)),
            FinalCall::Plain { f, .. } => call(run, &mut |cx| f(cx, &args)),
            FinalCall::Session { function, .. } => run.sv.call_host(&HostCall {
                function,
                collation: self.collation,
                result_type: self.result_type,
                arg_types: &self.final_types,
                args: &args,
            }),
        }
    }
}

/// `AggInfo` of an ordered-set aggregate, whose only state is its rows.
fn ordered_set_info(agg: &Aggref) -> AggInfo {
    AggInfo {
        name: String::new(),
        trans_name: String::new(),
        trans: AggFn::Plain { f: |_, _| Ok(Datum::Null), strict: false },
        finalfn: None,
        final_name: String::new(),
        combine: None,
        final_extra: false,
        trans_type: agg.aggtype,
        trans_by_val: false,
        trans_collation: Oid::INVALID,
        init: Datum::Null,
        inverse: None,
        final_read_only: true,
        is_shareable: false,
        trans_function: Oid::INVALID,
    }
}
