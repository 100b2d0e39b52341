//! Evaluation over batches. Frequent node kinds (columns, constants, calls, boolean operators,
//! CASE, COALESCE) compute one column per node; all others are evaluated row by row for the
//! selected rows.
//!
//! No counterpart in PostgreSQL, which evaluates one row at a time.

use crate::elements;
use crate::host::{CallContext, Host};
use crate::kernels::{Rows, WordComparison};
use crate::nodes;
use crate::program::{Call, CaseArm, EvalState, Node, Program, Slot, Source};
use crate::row::{RowInput, RowRef, Val, eval};
use pgerror::Result;
use smallvec::SmallVec;
use types::{BATCH_BYTES_MAX, Batch, Column, ColumnData, DatumRef};

/// Row numbers of a batch, ascending.
pub type Selection = Vec<u16>;

impl Program {
    /// The values for the selected rows of `input` (all rows if `sel` is `None`), in order. Columns
    /// of `input` are [`Source::Scan`].
    pub fn eval_batch(
        &self,
        st: &mut EvalState,
        host: &mut dyn Host,
        input: &Batch,
        sel: Option<&[u16]>,
    ) -> Result<Column> {
        self.column(st, host, input, sel, COLUMN_BYTES_MAX)
    }

    /// As [`Self::eval_batch`], but returns `None` if the values exceed `WIDE_BYTES`: the caller
    /// then evaluates fewer rows at a time. Never `None` for one row.
    pub fn eval_bounded(
        &self,
        st: &mut EvalState,
        host: &mut dyn Host,
        input: &Batch,
        sel: Option<&[u16]>,
    ) -> Result<Option<Column>> {
        let column = self.column(st, host, input, sel, WIDE_BYTES);
        if column.is_err() && std::mem::take(&mut st.too_wide) {
            return Ok(None);
        }
        column.map(Some)
    }

    /// The values; fails with `too_wide` set if they exceed `bytes_max` in total.
    fn column(
        &self,
        st: &mut EvalState,
        host: &mut dyn Host,
        input: &Batch,
        sel: Option<&[u16]>,
        bytes_max: usize,
    ) -> Result<Column> {
        st.prepare(self);
        st.depth = 0;
        st.too_wide = false;
        let column = node_batch(&self.root, self.by_val, st, host, input, sel);
        if column.is_err() && std::mem::take(&mut st.too_wide) {
            // Row by row, intermediate values are freed after each row.
            st.depth = 0;
            return rows_batch(&self.root, self.by_val, st, host, input, sel, bytes_max);
        }
        column
    }
}

/// Limit for a column that is computed at once. Several times the size of a batch, so that rows of
/// ordinary width never reach it.
const WIDE_BYTES: usize = 4 * BATCH_BYTES_MAX;

/// The largest size of a column.
const COLUMN_BYTES_MAX: usize = u32::MAX as usize / 2;

/// The error that stops the evaluation of a column that has become too large before its last row:
/// the caller then evaluates fewer rows at a time. Values already computed are computed again. This
/// has no visible effect, because volatile functions are not evaluated by column.
#[cold]
fn too_wide(st: &mut EvalState) -> pgerror::PgError {
    st.too_wide = true;
    types::limits::out_of_memory(WIDE_BYTES)
}

/// True if the column has more than `bytes` bytes of variable-width data.
fn is_wider(column: &Column, bytes: usize) -> bool {
    matches!(&column.data, ColumnData::Bytes(b) if b.bytes() > bytes)
}

/// The rows of `input` (among `sel`) for which the condition is true.
pub fn select_true(
    program: &Program,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    sel: Option<&[u16]>,
) -> Result<Selection> {
    let mut rows = sel.map(<[u16]>::to_vec).unwrap_or_default();
    select(program, st, host, input, sel.is_none(), &mut rows)?;
    Ok(rows)
}

/// As [`select_true`] over all rows, reusing the vector `rows`.
pub fn select_into(
    program: &Program,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    rows: &mut Selection,
) -> Result<()> {
    rows.clear();
    select(program, st, host, input, true, rows)
}

/// Reduces `rows` to those for which the condition is true. With `all`, `rows` is empty and the
/// condition is tested for all rows of `input`.
fn select(
    program: &Program,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    mut all: bool,
    rows: &mut Selection,
) -> Result<()> {
    st.prepare(program);
    st.depth = 0;
    let conditions = match &program.root {
        Node::Quals(args) => args.as_slice(),
        root => std::slice::from_ref(root),
    };
    for node in conditions {
        if !select_simple(node, host, input, all, rows)? {
            st.too_wide = false;
            let sel = (!all).then_some(&rows[..]);
            let chosen = match true_rows(node, st, host, input, sel) {
                Err(_) if std::mem::take(&mut st.too_wide) => {
                    st.depth = 0;
                    rows_where_true(&rows_batch(node, true, st, host, input, sel, WIDE_BYTES)?, sel)
                }
                chosen => chosen?,
            };
            *rows = chosen;
        }
        all = false;
        if rows.is_empty() {
            return Ok(());
        }
    }
    if all {
        rows.extend(0..input.len as u16);
    }
    Ok(())
}

/// Fast path for a comparison of a fixed-width column with a constant or parameter. Returns false
/// if the condition has another form.
fn select_simple(
    node: &Node,
    host: &mut dyn Host,
    input: &Batch,
    all: bool,
    rows: &mut Selection,
) -> Result<bool> {
    let Node::Call(call) = node else { return Ok(false) };
    let Some(WordComparison { select: kernels, .. }) = call.words else { return Ok(false) };
    let (column, constant, kernel) = match (&call.args[0], &call.args[1]) {
        (Node::Slot(Slot { source: Source::Scan, column }), c) => (*column, c, kernels[0]),
        (c, Node::Slot(Slot { source: Source::Scan, column })) => (*column, c, kernels[1]),
        _ => return Ok(false),
    };
    let column = &input.columns[column];
    let ColumnData::Word(words) = &column.data else { return Ok(false) };
    if input.len == 0 {
        return Ok(true);
    }
    let constant = match constant {
        Node::Const(d) => Val::Ref(d.as_ref()),
        Node::ExternParam(id) => host.extern_param(*id)?,
        Node::ExecParam(id) => host.exec_param(*id)?,
        _ => return Ok(false),
    };
    let DatumRef::Word(constant) = constant.as_ref() else {
        rows.clear();
        return Ok(true);
    };
    kernel(words, constant, if all { Rows::All(words.len(), rows) } else { Rows::Of(rows) });
    if let Some(nulls) = column.nulls.as_ref().filter(|n| n.any()) {
        rows.retain(|&r| !nulls.get(r as usize));
    }
    Ok(true)
}

fn true_rows(
    node: &Node,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    sel: Option<&[u16]>,
) -> Result<Selection> {
    match node {
        Node::Const(d) => {
            let is_true = !d.is_null() && d.as_ref().as_bool();
            Ok(if is_true { all_rows(input, sel) } else { Vec::new() })
        }
        Node::Or(args) => {
            // Each argument is evaluated only for rows for which no earlier one was true.
            let mut left = all_rows(input, sel);
            let mut hits: Selection = Vec::new();
            for arg in args {
                if left.is_empty() {
                    break;
                }
                let next = true_rows(arg, st, host, input, Some(&left))?;
                if next.is_empty() {
                    continue;
                }
                let mut found = next.iter().peekable();
                left.retain(|r| found.next_if_eq(&r).is_none());
                hits.extend(next);
            }
            hits.sort_unstable();
            Ok(hits)
        }
        Node::And(args) => {
            let rows = all_rows(input, sel);
            eval_and(args, st, host, input, rows).map(|t| t.true_rows)
        }
        Node::ScalarArray { call, use_or, elements: Some(elements), .. }
            if call.strict && is_column_form(&call.args[0]) =>
        {
            let arg = Arg::of(&call.args[0], st, host, input, sel)?;
            let mut cx = CallContext {
                host,
                collation: call.collation,
                arg_types: &call.arg_types,
                result_type: call.result_type,
                variadic_array: false,
                extra: &mut st.extras[call.site],
            };
            let mut rows = all_rows(input, sel);
            let value = |i, r: u16| arg.get(i, r.into());
            elements::retain(elements, *use_or, call, &mut rows, value, &mut cx)?;
            Ok(rows)
        }
        Node::NullTest { arg, is_not, row: false } if is_column_form(arg) => {
            let arg = Arg::of(arg, st, host, input, sel)?;
            let mut at = 0..;
            let mut rows = all_rows(input, sel);
            rows.retain(|&r| {
                at.next().is_some_and(|i| arg.get(i, r as usize).is_null() != *is_not)
            });
            Ok(rows)
        }
        _ => {
            let col = node_batch(node, true, st, host, input, sel)?;
            Ok(rows_where_true(&col, sel))
        }
    }
}

/// The rows for which a condition is true, and those for which it is NULL; both ascending.
struct ConditionResult {
    true_rows: Selection,
    null_rows: Selection,
}

impl ConditionResult {
    fn without_nulls(true_rows: Selection) -> ConditionResult {
        ConditionResult { true_rows, null_rows: Vec::new() }
    }
}

fn eval_condition(
    node: &Node,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    rows: &[u16],
) -> Result<ConditionResult> {
    match node {
        Node::NullTest { row: false, .. } => {
            true_rows(node, st, host, input, Some(rows)).map(ConditionResult::without_nulls)
        }
        Node::And(args) => eval_and(args, st, host, input, rows.to_vec()),
        Node::Or(args) => eval_or(args, st, host, input, rows),
        Node::ScalarArray { call, elements: Some(elements), .. }
            if call.strict
                && !elements.all.is_empty()
                && !elements.has_null
                && matches!(call.args[0], Node::Slot(Slot { source: Source::Scan, .. })) =>
        {
            // The condition is NULL exactly for the rows whose scalar operand is NULL.
            let true_rows = true_rows(node, st, host, input, Some(rows))?;
            let Node::Slot(slot) = &call.args[0] else {
                return Ok(ConditionResult::without_nulls(true_rows));
            };
            let null_rows = match input.columns[slot.column].nulls.as_ref().filter(|n| n.any()) {
                None => Vec::new(),
                Some(nulls) => {
                    rows.iter().copied().filter(|&r| nulls.get(usize::from(r))).collect()
                }
            };
            Ok(ConditionResult { true_rows, null_rows })
        }
        _ => {
            let column = node_batch(node, true, st, host, input, Some(rows))?;
            let true_rows = rows_where_true(&column, Some(rows));
            let null_rows = match column.nulls.as_ref().filter(|n| n.any()) {
                None => Vec::new(),
                Some(nulls) => {
                    let null = |(i, _): &(usize, &u16)| nulls.get(*i);
                    rows.iter().enumerate().filter(null).map(|(_, r)| *r).collect()
                }
            };
            Ok(ConditionResult { true_rows, null_rows })
        }
    }
}

/// Evaluates an AND. NULL does not end it: later arguments are evaluated for such a row as well,
/// and may raise errors.
fn eval_and(
    args: &[Node],
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    rows: Selection,
) -> Result<ConditionResult> {
    let mut all = ConditionResult::without_nulls(rows);
    for arg in args {
        if all.null_rows.is_empty() {
            if all.true_rows.is_empty() {
                break;
            }
            all = eval_condition(arg, st, host, input, &all.true_rows)?;
            continue;
        }
        let next = eval_condition(arg, st, host, input, &merged(&all.true_rows, &all.null_rows))?;
        let possible = merged(&next.true_rows, &next.null_rows);
        all.true_rows.retain(|r| next.true_rows.binary_search(r).is_ok());
        all.null_rows = without(&possible, &all.true_rows);
    }
    Ok(all)
}

/// Evaluates an OR. Each argument is evaluated only for rows for which no earlier one was true.
fn eval_or(
    args: &[Node],
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    rows: &[u16],
) -> Result<ConditionResult> {
    let mut any = ConditionResult::without_nulls(Vec::new());
    let mut left = rows.to_vec();
    for arg in args {
        if left.is_empty() {
            break;
        }
        let next = eval_condition(arg, st, host, input, &left)?;
        left = without(&left, &next.true_rows);
        any.true_rows = merged(&any.true_rows, &next.true_rows);
        any.null_rows = merged(&any.null_rows, &next.null_rows);
    }
    any.null_rows.retain(|r| any.true_rows.binary_search(r).is_err());
    Ok(any)
}

/// The union of two selections.
fn merged(a: &[u16], b: &[u16]) -> Selection {
    let mut rows = [a, b].concat();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// The rows of one selection that are not in another.
fn without(rows: &[u16], removed: &[u16]) -> Selection {
    let mut removed = removed.iter().peekable();
    rows.iter().filter(|&r| removed.next_if_eq(&r).is_none()).copied().collect()
}

/// The rows for which a boolean column is true; its entry `i` belongs to row `sel[i]`.
fn rows_where_true(col: &Column, sel: Option<&[u16]>) -> Selection {
    let ColumnData::Word(words) = &col.data else { return Vec::new() };
    let nulls = col.nulls.as_ref().filter(|n| n.any());
    let mut out = vec![0u16; words.len()];
    let mut n = 0;
    // Branch-free: each row number is written, and `n` advances only if the row qualifies.
    match (nulls, sel) {
        (None, None) => {
            for (i, &w) in words.iter().enumerate() {
                out[n] = i as u16;
                n += usize::from(w != 0);
            }
        }
        (None, Some(rows)) => {
            for (&r, &w) in rows.iter().zip(words) {
                out[n] = r;
                n += usize::from(w != 0);
            }
        }
        (Some(nulls), sel) => {
            for (i, &w) in words.iter().enumerate() {
                out[n] = sel.map_or(i as u16, |s| s[i]);
                n += usize::from(w != 0 && !nulls.get(i));
            }
        }
    }
    out.truncate(n);
    out
}

fn all_rows(input: &Batch, sel: Option<&[u16]>) -> Selection {
    match sel {
        Some(rows) => rows.to_vec(),
        None => (0..input.len as u16).collect(),
    }
}

fn row_count(input: &Batch, sel: Option<&[u16]>) -> usize {
    sel.map_or(input.len, <[u16]>::len)
}

fn node_batch(
    node: &Node,
    by_val: bool,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    sel: Option<&[u16]>,
) -> Result<Column> {
    match node {
        Node::Slot(Slot { source: Source::Scan, column }) => {
            let col = &input.columns[*column];
            Ok(match sel {
                None => col.clone(),
                Some(rows) => col.gather(rows),
            })
        }
        Node::Extend { arg, signed } => {
            let column = node_batch(arg, true, st, host, input, sel)?;
            Ok(crate::relabel::extend_column(column, *signed))
        }
        Node::Call(call) => call_batch(call, by_val, st, host, input, sel),
        Node::Const(_) | Node::ExternParam(_) | Node::ExecParam(_) | Node::Once { .. }
            if row_count(input, sel) > 0 =>
        {
            let mut one = Column::new(by_val);
            eval(node, st, host, &RowInput::EMPTY)?.push_to(&mut one);
            let mut out = Column::new(by_val);
            out.push_from(&one, 0, row_count(input, sel));
            Ok(out)
        }
        Node::Case { arms, default, by_val: Some(by_val), .. }
            if row_count(input, sel) >= CASE_ROWS_MIN =>
        {
            stdx::stack::deep(|| {
                case_batch(arms, default.as_deref(), *by_val, st, host, input, sel)
            })
        }
        Node::Coalesce { args, by_val }
            if args.iter().all(is_column_form) && row_count(input, sel) >= CASE_ROWS_MIN =>
        {
            stdx::stack::deep(|| coalesce_batch(args, *by_val, st, host, input, sel))
        }
        Node::CoerceIo { arg, output, input: parse, by_val: Some(by_val) }
            if is_column_form(arg) =>
        {
            let arg = Arg::of(arg, st, host, input, sel)?;
            let n = row_count(input, sel);
            let mut out = Column::new(*by_val);
            for i in 0..n {
                let v = arg.get(i, sel.map_or(i, |s| s[i].into()));
                out.push(nodes::through_text(v, output, parse, st, host)?.as_ref());
                if is_wider(&out, WIDE_BYTES) && i + 1 < n {
                    return Err(too_wide(st));
                }
            }
            Ok(out)
        }
        Node::Not(arg) if is_column_form(arg) => {
            let mut col = node_batch(arg, true, st, host, input, sel)?;
            if let ColumnData::Word(words) = &mut col.data {
                words.iter_mut().for_each(|w| *w = u64::from(*w == 0));
            }
            Ok(col)
        }
        _ => rows_batch(node, by_val, st, host, input, sel, WIDE_BYTES),
    }
}

/// A CASE over fewer rows is evaluated row by row, because each arm needs a selection of its own.
const CASE_ROWS_MIN: usize = 8;

/// Each arm's condition is evaluated for the rows that no earlier arm matched, and its result for
/// the rows that the arm matches.
fn case_batch(
    arms: &[CaseArm],
    default: Option<&Node>,
    by_val: bool,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    sel: Option<&[u16]>,
) -> Result<Column> {
    let rows = all_rows(input, sel);
    let mut left = rows.clone();
    // The rows that each arm matched, with their values.
    let mut matched: Vec<(Selection, Arg<'_>)> = Vec::new();
    for arm in arms {
        if left.is_empty() {
            break;
        }
        let hits = true_rows(&arm.cond, st, host, input, Some(&left))?;
        if !hits.is_empty() {
            left = without(&left, &hits);
            let values = Arg::of(&arm.result, st, host, input, Some(&hits))?;
            matched.push((hits, values));
        }
    }
    if !left.is_empty() {
        let values = match default {
            Some(node) => Arg::of(node, st, host, input, Some(&left))?,
            None => Arg::Same(DatumRef::Null),
        };
        matched.push((left, values));
    }
    gathered(&matched, &rows, by_val, st, input)
}

/// Merges values that were computed for subsets of the rows into one column in the order of `rows`.
/// Each part is a selection with its values; if a row is in several parts, the last one counts.
fn gathered(
    parts: &[(Selection, Arg<'_>)],
    rows: &[u16],
    by_val: bool,
    st: &mut EvalState,
    input: &Batch,
) -> Result<Column> {
    // For each row of the batch its part, and its position within the part.
    let mut positions = vec![(0u32, 0u16); input.len];
    for (part, (hits, _)) in parts.iter().enumerate() {
        for (i, &row) in hits.iter().enumerate() {
            positions[usize::from(row)] = (part as u32, i as u16);
        }
    }
    let mut out = Column::new(by_val);
    for (n, &row) in rows.iter().enumerate() {
        let (part, i) = positions[usize::from(row)];
        out.push(parts[part as usize].1.get(i.into(), row.into()));
        if is_wider(&out, WIDE_BYTES) && n + 1 < rows.len() {
            return Err(too_wide(st));
        }
    }
    Ok(out)
}

/// Each argument is evaluated for the rows for which all earlier ones were NULL.
fn coalesce_batch(
    args: &[Node],
    by_val: bool,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    sel: Option<&[u16]>,
) -> Result<Column> {
    let rows = all_rows(input, sel);
    let mut left = rows.clone();
    // The rows that each argument was evaluated for, with their values.
    let mut parts: Vec<(Selection, Arg<'_>)> = Vec::with_capacity(args.len() + 1);
    for arg in args {
        if left.is_empty() {
            break;
        }
        let values = Arg::of(arg, st, host, input, Some(&left))?;
        let mut nulls = left.clone();
        let mut position = 0usize..;
        nulls.retain(|&row| {
            let i = position.next().unwrap_or_default();
            values.get(i, row.into()).is_null()
        });
        parts.push((std::mem::replace(&mut left, nulls), values));
    }
    gathered(&parts, &rows, by_val, st, input)
}

/// An argument of a call: a computed column, a column of the input, or one value for all rows.
enum Arg<'a> {
    Computed(Column),
    Input(&'a Column),
    Same(DatumRef<'a>),
    Param(Val<'a>),
}

impl<'a> Arg<'a> {
    fn of(
        node: &'a Node,
        st: &mut EvalState,
        host: &mut dyn Host,
        input: &'a Batch,
        sel: Option<&[u16]>,
    ) -> Result<Arg<'a>> {
        Ok(match node {
            Node::Const(d) => Arg::Same(d.as_ref()),
            Node::ExternParam(id) => Arg::Param(host.extern_param(*id)?),
            Node::ExecParam(id) => Arg::Param(host.exec_param(*id)?),
            Node::Slot(Slot { source: Source::Scan, column }) => {
                Arg::Input(&input.columns[*column])
            }
            Node::Once { .. } if row_count(input, sel) > 0 => {
                Arg::Param(eval(node, st, host, &RowInput::EMPTY)?)
            }
            node => Arg::Computed(node_batch(node, node_by_val(node), st, host, input, sel)?),
        })
    }

    /// The value for the `i`-th selected row, which is row `row` of the input.
    #[inline]
    fn get(&self, i: usize, row: usize) -> DatumRef<'_> {
        match self {
            Arg::Computed(c) => c.get(i),
            Arg::Input(c) => c.get(row),
            Arg::Same(d) => *d,
            Arg::Param(d) => d.as_ref(),
        }
    }

    /// The argument of a kernel: a column of the selected rows, or a column of one row that is used
    /// for all of them. `None` for a NULL constant or parameter, whose column would have no known
    /// representation; the result is then NULL for all rows.
    fn into_column(self, sel: Option<&[u16]>) -> Option<std::borrow::Cow<'a, Column>> {
        use std::borrow::Cow;
        let one = |v: DatumRef<'_>| -> Option<Column> {
            let data = match v {
                DatumRef::Null => return None,
                DatumRef::Word(w) => ColumnData::Word(vec![w]),
                DatumRef::Bytes(b) => {
                    let mut bytes = types::BytesColumn::default();
                    bytes.push(b);
                    ColumnData::Bytes(bytes)
                }
            };
            Some(Column { data, nulls: None })
        };
        Some(match (self, sel) {
            (Arg::Computed(c), _) => Cow::Owned(c),
            (Arg::Input(c), None) => Cow::Borrowed(c),
            (Arg::Input(c), Some(rows)) => Cow::Owned(c.gather(rows)),
            (Arg::Same(v), _) => Cow::Owned(one(v)?),
            (Arg::Param(v), _) => Cow::Owned(one(v.as_ref())?),
        })
    }
}

fn call_batch(
    call: &Call,
    by_val: bool,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    sel: Option<&[u16]>,
) -> Result<Column> {
    let n = row_count(input, sel);
    // If an argument cannot be evaluated by column, its side effects must keep row order.
    if !call.args.iter().all(is_column_form) {
        let mut out = Column::new(by_val);
        for i in 0..n {
            let row = sel.map_or(i, |s| s[i] as usize);
            let at = RowInput::scan(RowRef::Batch(input, row));
            crate::row::eval_call_at(call, st, host, &at)?.push_to(&mut out);
            if is_wider(&out, WIDE_BYTES) && i + 1 < n {
                return Err(too_wide(st));
            }
        }
        return Ok(out);
    }
    if n == 0 {
        return Ok(Column::new(by_val));
    }
    let mut args: SmallVec<[Arg<'_>; 3]> = SmallVec::new();
    for arg in &call.args {
        args.push(Arg::of(arg, st, host, input, sel)?);
    }
    if let Some(kernel) = call.kernel {
        let right = args.pop().and_then(|a| a.into_column(sel));
        let left = args.pop().and_then(|a| a.into_column(sel));
        return match (left, right) {
            (Some(l), Some(r)) => kernel(&l, &r, n, None),
            _ => Ok(all_null(by_val, n)),
        };
    }
    let mut cx = CallContext {
        host,
        collation: call.collation,
        arg_types: &call.arg_types,
        result_type: call.result_type,
        variadic_array: call.variadic_array,
        extra: &mut st.extras[call.site],
    };
    let mut out = Column::new(by_val);
    let mut refs: SmallVec<[DatumRef<'_>; 3]> = SmallVec::new();
    for i in 0..n {
        let row = sel.map_or(i, |s| s[i] as usize);
        refs.clear();
        let mut null = false;
        for arg in &args {
            let v = arg.get(i, row);
            null |= v.is_null();
            refs.push(v);
        }
        if null && call.strict {
            out.push_null();
        } else {
            let value = (call.f)(&mut cx, &refs)?;
            types::limits::check_value(&value)?;
            if types::limits::is_long(&value) {
                types::fn_context::SessionContext::check_interrupts(&cx)?;
            }
            out.push_owned(value);
            if is_wider(&out, WIDE_BYTES) && i + 1 < n {
                return Err(too_wide(st));
            }
        }
    }
    Ok(out)
}

fn all_null(by_val: bool, n: usize) -> Column {
    let mut out = Column::new(by_val);
    (0..n).for_each(|_| out.push_null());
    out
}

/// True if the node may be evaluated for all rows before its parent is, without a visible
/// difference. An error may be raised for an earlier row of the batch than in row order, but the
/// statement fails either way.
fn is_column_form(node: &Node) -> bool {
    match node {
        Node::Const(_)
        | Node::ExternParam(_)
        | Node::ExecParam(_)
        | Node::Once { .. }
        | Node::Slot(Slot { source: Source::Scan, .. }) => true,
        Node::Call(c) => c.result_by_val.is_some() && c.args.iter().all(is_column_form),
        Node::Not(arg) | Node::Extend { arg, .. } => is_column_form(arg),
        Node::Case { by_val, .. } => by_val.is_some(),
        Node::Coalesce { args, .. } => args.iter().all(is_column_form),
        Node::CoerceIo { arg, by_val, .. } => by_val.is_some() && is_column_form(arg),
        _ => false,
    }
}

/// True if the arms of a CASE may be evaluated one after the other, each for all its rows. This
/// requires that nothing in them is volatile.
pub(crate) fn is_case_by_column(arms: &[CaseArm], default: Option<&Node>) -> bool {
    arms.iter().all(|arm| is_condition_form(&arm.cond) && is_column_form(&arm.result))
        && default.is_none_or(is_column_form)
}

fn is_condition_form(node: &Node) -> bool {
    match node {
        Node::And(args) | Node::Or(args) => args.iter().all(is_condition_form),
        Node::Not(arg) => is_condition_form(arg),
        Node::NullTest { arg, row: false, .. } => is_column_form(arg),
        Node::ScalarArray { call, elements: Some(_), .. } => {
            call.strict && is_column_form(&call.args[0])
        }
        _ => is_column_form(node),
    }
}

/// True if the value of a node in column form is passed by value.
fn node_by_val(node: &Node) -> bool {
    match node {
        Node::Call(c) => c.result_by_val.unwrap_or(true),
        Node::Case { by_val, .. } | Node::CoerceIo { by_val, .. } => by_val.unwrap_or(true),
        Node::Coalesce { by_val, .. } => *by_val,
        Node::Once { node, .. } => node_by_val(node),
        _ => true,
    }
}

fn rows_batch(
    node: &Node,
    by_val: bool,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    sel: Option<&[u16]>,
    bytes_max: usize,
) -> Result<Column> {
    let mut out = Column::new(by_val);
    let n = row_count(input, sel);
    for i in 0..n {
        let row = sel.map_or(i, |s| s[i] as usize);
        let at = RowInput::scan(RowRef::Batch(input, row));
        let v = eval(node, st, host, &at)?;
        v.push_to(&mut out);
        if is_wider(&out, bytes_max) && i + 1 < n {
            return Err(too_wide(st));
        }
    }
    Ok(out)
}
