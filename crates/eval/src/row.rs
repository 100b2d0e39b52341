//! Evaluation of one row. Counterpart: execExprInterp.c.

use crate::depth::{DEPTH_MAX, too_deep};
use crate::host::{CallContext, Host, HostCall};
use crate::nodes;
use crate::program::{Call, CaseArm, EvalState, Node, Program, Slot, Source};
use crate::variables::Variables;
use pgerror::{PgError, Result};
use plan::expr::BoolTestKind;
use smallvec::SmallVec;
use std::sync::Arc;
use types::{Batch, Column, Datum, DatumRef, SHARED_BYTES_MIN, SharedBytes};

/// One input row.
#[derive(Clone, Copy)]
pub enum RowRef<'a> {
    /// No row: all columns are NULL (the null-extended side of an outer join).
    Nulls,
    Batch(&'a Batch, usize),
    Owned(&'a [Datum]),
    Refs(&'a [DatumRef<'a>]),
    /// The variables of a function.
    Variables(&'a Variables),
}

impl<'a> RowRef<'a> {
    /// The value of a column.
    #[inline]
    pub fn get(&self, column: usize) -> DatumRef<'a> {
        match *self {
            RowRef::Nulls => DatumRef::Null,
            RowRef::Batch(b, row) => b.columns[column].get(row),
            RowRef::Owned(d) => d[column].as_ref(),
            RowRef::Refs(d) => d[column],
            RowRef::Variables(v) => v.get(column).as_ref(),
        }
    }

    /// Appends the value of a column to a column of a batch; the long values of batches are shared.
    #[inline]
    pub fn push_to(&self, column: usize, out: &mut Column) {
        match *self {
            RowRef::Batch(b, row) => out.push_from(&b.columns[column], row, 1),
            _ => out.push(self.get(column)),
        }
    }
}

/// The input rows of an evaluation.
#[derive(Clone, Copy)]
pub struct RowInput<'a> {
    pub scan: RowRef<'a>,
    pub outer: RowRef<'a>,
    pub inner: RowRef<'a>,
}

impl<'a> RowInput<'a> {
    /// No input rows, for expressions without columns.
    pub const EMPTY: RowInput<'static> =
        RowInput { scan: RowRef::Nulls, outer: RowRef::Nulls, inner: RowRef::Nulls };

    /// Input from the scanned row only.
    pub fn scan(row: RowRef<'a>) -> RowInput<'a> {
        RowInput { scan: row, outer: RowRef::Nulls, inner: RowRef::Nulls }
    }

    /// True if the source has no row (the null-extended side of an outer join).
    pub(crate) fn is_missing(&self, source: Source) -> bool {
        let row = match source {
            Source::Scan => &self.scan,
            Source::Outer => &self.outer,
            Source::Inner => &self.inner,
        };
        matches!(row, RowRef::Nulls)
    }

    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> DatumRef<'a> {
        match slot.source {
            Source::Scan => self.scan.get(slot.column),
            Source::Outer => self.outer.get(slot.column),
            Source::Inner => self.inner.get(slot.column),
        }
    }

    /// The variables of a function, if the slot is one of them.
    #[inline]
    pub(crate) fn variables(&self, slot: Slot) -> Option<&'a Variables> {
        match (slot.source, self.scan) {
            (Source::Scan, RowRef::Variables(variables)) => Some(variables),
            _ => None,
        }
    }
}

/// A result: borrowed from an input row or the program, or owned.
#[derive(Clone, Debug)]
pub enum Val<'a> {
    Ref(DatumRef<'a>),
    Own(Datum),
    /// A long value that is used more than once.
    Shared(SharedBytes),
    /// A long value among those of the statement's parameters.
    Param(Arc<[Datum]>, usize),
}

impl<'a> Val<'a> {
    /// The result NULL.
    pub const NULL: Val<'static> = Val::Ref(DatumRef::Null);

    /// The value, borrowed.
    #[inline]
    pub fn as_ref(&self) -> DatumRef<'_> {
        match self {
            Val::Ref(r) => *r,
            Val::Own(d) => d.as_ref(),
            Val::Shared(value) => DatumRef::Bytes(value),
            Val::Param(values, i) => values[*i].as_ref(),
        }
    }

    /// Whether the value is NULL.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.as_ref().is_null()
    }

    /// Appends the value to a column. A long value that is owned is not copied.
    #[inline]
    pub(crate) fn push_to(self, column: &mut Column) {
        match self {
            Val::Ref(r) => column.push(r),
            Val::Own(d) => column.push_owned(d),
            Val::Shared(value) => column.push_shared(value),
            Val::Param(values, i) => column.push(values[i].as_ref()),
        }
    }

    /// The value as an owned datum; copies a borrowed one.
    pub fn into_owned(self) -> Datum {
        match self {
            Val::Ref(r) => r.to_owned(),
            Val::Own(d) => d,
            Val::Shared(value) => Datum::Bytes(Arc::unwrap_or_clone(value)),
            Val::Param(values, i) => values[i].clone(),
        }
    }

    /// The value of a parameter that is used more than once: a long one is shared.
    pub fn of_param(value: Datum) -> Val<'static> {
        match value {
            Datum::Bytes(b) if b.len() >= SHARED_BYTES_MIN => Val::Shared(Arc::new(b)),
            value => Val::Own(value),
        }
    }

    /// One of the values of parameters; a long one is shared.
    pub fn param_of(values: &Arc<[Datum]>, i: usize) -> Option<Val<'static>> {
        Some(match values.get(i)? {
            Datum::Bytes(b) if b.len() >= SHARED_BYTES_MIN => Val::Param(values.clone(), i),
            value => Val::Own(value.clone()),
        })
    }

    pub(crate) fn bool(v: bool) -> Val<'static> {
        Val::Ref(DatumRef::Word(u64::from(v)))
    }
}

impl Program {
    /// The value for these input rows.
    pub fn eval_row<'a>(
        &'a self,
        st: &mut EvalState,
        host: &mut dyn Host,
        input: &RowInput<'a>,
    ) -> Result<Val<'a>> {
        st.prepare(self);
        st.depth = 0;
        eval(&self.root, st, host, input)
    }

    /// As [`Program::eval_row`], of the new value of a part of a value: `old` is the present one.
    pub fn eval_change<'a>(
        &'a self,
        old: Datum,
        st: &mut EvalState,
        host: &mut dyn Host,
        input: &RowInput<'a>,
    ) -> Result<Datum> {
        st.prepare(self);
        st.depth = 0;
        crate::arrays::with_placeholder(old, &self.root, st, host, input)
    }

    /// True if the condition is true (neither false nor NULL).
    pub fn test_row(
        &self,
        st: &mut EvalState,
        host: &mut dyn Host,
        input: &RowInput<'_>,
    ) -> Result<bool> {
        let v = self.eval_row(st, host, input)?;
        let v = v.as_ref();
        Ok(!v.is_null() && v.as_bool())
    }
}

pub(crate) fn eval<'a>(
    node: &'a Node,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    match node {
        Node::Slot(slot) => Ok(Val::Ref(input.get(*slot))),
        Node::Const(d) => Ok(Val::Ref(d.as_ref())),
        Node::ExternParam(id) => host.extern_param(*id),
        Node::ExecParam(id) => host.exec_param(*id),
        Node::Placeholder => Ok(Val::Own(st.placeholders.last().cloned().unwrap_or(Datum::Null))),
        Node::Call(call) => eval_call(call, st, host, input),
        _ => eval_deeper(node, st, host, input),
    }
}

/// A call one level deeper. `eval_row` sets the depth, so it need not be restored after an error.
fn eval_call<'a>(
    call: &'a Call,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    st.depth += 1;
    let value = match st.depth > DEPTH_MAX {
        true => Err(too_deep()),
        false => eval_call_at(call, st, host, input),
    };
    st.depth -= 1;
    value
}

/// Any other compound node one level deeper. Not inlined, so that the result is made in the memory
/// of the caller; see [`owned`].
#[inline(never)]
fn eval_deeper<'a>(
    node: &'a Node,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    st.depth += 1;
    let value = match st.depth > DEPTH_MAX {
        true => Err(too_deep()),
        false => eval_compound(node, st, host, input),
    };
    st.depth -= 1;
    value
}

#[inline(never)]
fn eval_compound<'a>(
    node: &'a Node,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    match node {
        Node::Once { node, site } => once(node, *site, st, host),
        Node::Quals(args) => quals(args, st, host, input),
        Node::And(args) => and_or(args, false, st, host, input),
        Node::Or(args) => and_or(args, true, st, host, input),
        Node::Not(arg) => {
            let v = eval(arg, st, host, input)?;
            let v = v.as_ref();
            Ok(if v.is_null() { Val::NULL } else { Val::bool(!v.as_bool()) })
        }
        Node::Case { arg, arms, default, .. } => {
            match chosen_result(arg.as_deref(), arms, st, host, input)?.or(default.as_deref()) {
                Some(result) => eval(result, st, host, input),
                None => Ok(Val::NULL),
            }
        }
        Node::Coalesce { args, .. } => {
            for arg in args {
                let v = eval(arg, st, host, input)?;
                if !v.is_null() {
                    return Ok(v);
                }
            }
            Ok(Val::NULL)
        }
        Node::MinMax { args, greatest, cmp, collation } => {
            let mut best: Val<'a> = Val::NULL;
            for arg in args {
                let v = eval(arg, st, host, input)?;
                if v.is_null() {
                    continue;
                }
                let better = best.is_null() || {
                    let ord = cmp.order(v.as_ref(), best.as_ref(), *collation);
                    if *greatest { ord.is_gt() } else { ord.is_lt() }
                };
                if better {
                    best = v;
                }
            }
            Ok(best)
        }
        Node::Extend { arg, signed } => {
            let v = eval(arg, st, host, input)?;
            Ok(match v.as_ref() {
                DatumRef::Word(w) => Val::Own(Datum::Word(types::datum::extended(w, *signed))),
                _ => v,
            })
        }
        Node::NullTest { arg, is_not, row } => {
            let v = eval(arg, st, host, input)?;
            let hit = if *row && !v.is_null() {
                crate::rows::null_test(host, v.as_ref(), *is_not)?
            } else {
                v.is_null() != *is_not
            };
            Ok(Val::bool(hit))
        }
        Node::BoolTest { arg, kind } => {
            let v = eval(arg, st, host, input)?;
            let v = v.as_ref();
            let truth = if v.is_null() { None } else { Some(v.as_bool()) };
            Ok(Val::bool(match kind {
                BoolTestKind::IsTrue => truth == Some(true),
                BoolTestKind::IsNotTrue => truth != Some(true),
                BoolTestKind::IsFalse => truth == Some(false),
                BoolTestKind::IsNotFalse => truth != Some(false),
                BoolTestKind::IsUnknown => truth.is_none(),
                BoolTestKind::IsNotUnknown => truth.is_some(),
            }))
        }
        Node::Distinct(call) => {
            let a = eval(&call.args[0], st, host, input)?;
            let b = eval(&call.args[1], st, host, input)?;
            Ok(Val::bool(match (a.is_null(), b.is_null()) {
                (true, true) => false,
                (false, false) => {
                    let equal = invoke(call, st, host, &[a.as_ref(), b.as_ref()])?;
                    if equal.is_null() {
                        return Ok(Val::NULL);
                    }
                    !equal.as_ref().as_bool()
                }
                _ => true,
            }))
        }
        Node::NullIf(call) => {
            let a = eval(&call.args[0], st, host, input)?;
            let b = eval(&call.args[1], st, host, input)?;
            if a.is_null() || b.is_null() {
                return Ok(a);
            }
            let equal = invoke(call, st, host, &[a.as_ref(), b.as_ref()])?;
            let equal = !equal.is_null() && equal.as_ref().as_bool();
            Ok(if equal { Val::NULL } else { a })
        }
        Node::HostCall { .. } => eval_host_call(node, st, host, input),
        Node::Missing { name } => Err(PgError::unsupported(format!("function {name}"))),
        _ => nodes::eval_infrequent(node, st, host, input),
    }
}

/// A value that is kept for later rows, and the node that it belongs to.
struct Kept {
    node: Arc<Node>,
    value: Val<'static>,
}

/// The largest value that is kept for later rows.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// The value of a [`Node::Once`]. Several programs may use one state, so the node is kept with the
/// value.
fn once(
    node: &Arc<Node>,
    site: usize,
    st: &mut EvalState,
    host: &mut dyn Host,
) -> Result<Val<'static>> {
    let kept = st.extras[site].as_ref().and_then(|kept| kept.downcast_ref::<Kept>());
    if let Some(kept) = kept.filter(|kept| Arc::ptr_eq(&kept.node, node)) {
        return Ok(kept.value.clone());
    }
    let value = eval(node, st, host, &RowInput::EMPTY)?.into_owned();
    let is_kept = !matches!(&value, Datum::Bytes(b) if b.len() > KEPT_BYTES_MAX);
    let value = Val::of_param(value);
    if is_kept {
        st.extras[site] = Some(Box::new(Kept { node: node.clone(), value: value.clone() }));
    }
    Ok(value)
}

/// Conditions that are implicitly ANDed: false if any of them is not true.
fn quals<'a>(
    args: &'a [Node],
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    for arg in args {
        let v = eval(arg, st, host, input)?;
        let v = v.as_ref();
        if v.is_null() || !v.as_bool() {
            return Ok(Val::bool(false));
        }
    }
    Ok(Val::bool(true))
}

/// The result of the first arm of a CASE whose condition is true.
#[inline(always)]
fn chosen_result<'a>(
    arg: Option<&'a Node>,
    arms: &'a [CaseArm],
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Option<&'a Node>> {
    if let Some(arg) = arg {
        let v = eval(arg, st, host, input)?.into_owned();
        st.placeholders.push(v);
    }
    let mut chosen = Ok(None);
    for arm in arms {
        match eval(&arm.cond, st, host, input) {
            Ok(c) if !c.is_null() && c.as_ref().as_bool() => {
                chosen = Ok(Some(&arm.result));
                break;
            }
            Ok(_) => {}
            Err(e) => {
                chosen = Err(e);
                break;
            }
        }
    }
    if arg.is_some() {
        st.placeholders.pop();
    }
    chosen
}

fn eval_host_call<'a>(
    node: &'a Node,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    let Node::HostCall { function, strict, collation, result_type, arg_types, args } = node else {
        return Err(PgError::internal("call of a function by the session expected"));
    };
    // The values of columns and constants are read where they are.
    let direct = |arg: &'a Node| match arg {
        Node::Slot(slot) => Some(input.get(*slot)),
        Node::Const(value) => Some(value.as_ref()),
        _ => None,
    };
    let mut vals: SmallVec<[Val<'a>; 4]> = SmallVec::new();
    for arg in args {
        if direct(arg).is_none() {
            vals.push(eval(arg, st, host, input)?);
        }
    }
    let mut computed = vals.iter().map(Val::as_ref);
    let mut refs: SmallVec<[DatumRef<'_>; 4]> = SmallVec::new();
    for arg in args {
        refs.push(match direct(arg) {
            Some(value) => value,
            None => computed.next().unwrap_or_default(),
        });
    }
    if *strict && refs.iter().any(|value| value.is_null()) {
        return Ok(Val::NULL);
    }
    let call = HostCall {
        function: *function,
        collation: *collation,
        result_type: *result_type,
        arg_types,
        args: &refs,
    };
    host.call_host(&call).map(Val::Own)
}

/// AND (`or` false) or OR with three-valued logic, stopping at the deciding argument.
fn and_or<'a>(
    args: &'a [Node],
    or: bool,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    let mut unknown = false;
    for arg in args {
        let v = eval(arg, st, host, input)?;
        let v = v.as_ref();
        if v.is_null() {
            unknown = true;
        } else if v.as_bool() == or {
            return Ok(Val::bool(or));
        }
    }
    Ok(if unknown { Val::NULL } else { Val::bool(!or) })
}

/// An argument of which only the header is read.
fn header<'a>(slot: Slot, input: &RowInput<'a>) -> Val<'a> {
    Val::Ref(match input.variables(slot) {
        Some(variables) => variables.header(slot.column).as_ref(),
        None => input.get(slot),
    })
}

#[inline(never)]
pub(crate) fn eval_call_at<'a>(
    call: &'a Call,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    // Calls of one and two arguments, which are most, without moving the arguments.
    match &call.args[..] {
        [arg] => {
            let value = argument(call, arg, st, host, input)?;
            let value = value.as_ref();
            if call.strict && value.is_null() {
                return Ok(Val::NULL);
            }
            call_function(call, st, host, &[value])
        }
        [left, right] => {
            let left = argument(call, left, st, host, input)?;
            let right = argument(call, right, st, host, input)?;
            let (left, right) = (left.as_ref(), right.as_ref());
            if call.strict && (left.is_null() || right.is_null()) {
                return Ok(Val::NULL);
            }
            call_function(call, st, host, &[left, right])
        }
        _ => eval_long_call(call, st, host, input),
    }
}

#[inline]
fn argument<'a>(
    call: &Call,
    arg: &'a Node,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    match arg {
        Node::Slot(slot) if call.reads_header => Ok(header(*slot, input)),
        Node::Slot(slot) => Ok(Val::Ref(input.get(*slot))),
        Node::Const(value) => Ok(Val::Ref(value.as_ref())),
        arg => eval(arg, st, host, input),
    }
}

/// A call of any number of arguments.
fn eval_long_call<'a>(
    call: &'a Call,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &RowInput<'a>,
) -> Result<Val<'a>> {
    let mut vals: SmallVec<[Val<'a>; 4]> = SmallVec::new();
    let mut null = false;
    for arg in &call.args {
        let value = argument(call, arg, st, host, input)?;
        null |= value.is_null();
        vals.push(value);
    }
    if null && call.strict {
        return Ok(Val::NULL);
    }
    let refs: SmallVec<[DatumRef<'_>; 4]> = vals.iter().map(Val::as_ref).collect();
    call_function(call, st, host, &refs)
}

/// Calls the function with these arguments; the caller has handled NULLs for strict functions.
#[inline]
fn call_function(
    call: &Call,
    st: &mut EvalState,
    host: &mut dyn Host,
    args: &[DatumRef<'_>],
) -> Result<Val<'static>> {
    let mut cx = CallContext {
        host,
        collation: call.collation,
        arg_types: &call.arg_types,
        result_type: call.result_type,
        variadic_array: call.variadic_array,
        extra: &mut st.extras[call.site],
    };
    owned((call.f)(&mut cx, args), &cx)
}

/// The result of a function. The kinds of values are distinguished because copying a value that was
/// just written as a whole waits for its parts to leave the store buffer.
#[inline]
pub(crate) fn owned(
    result: Result<Datum>,
    cx: &dyn types::fn_context::SessionContext,
) -> Result<Val<'static>> {
    match result {
        Ok(Datum::Null) => Ok(Val::NULL),
        Ok(Datum::Word(word)) => Ok(Val::Own(Datum::Word(word))),
        Ok(Datum::Bytes(bytes)) => {
            if bytes.len() >= types::limits::LONG_BYTES {
                types::limits::check_length(bytes.len())?;
                cx.check_interrupts()?;
            }
            Ok(Val::Own(Datum::Bytes(bytes)))
        }
        Err(e) => Err(e),
    }
}

/// Calls the function with these arguments, as [`call_function`], or lets the session run it.
pub(crate) fn invoke(
    call: &Call,
    st: &mut EvalState,
    host: &mut dyn Host,
    args: &[DatumRef<'_>],
) -> Result<Datum> {
    if let Some(function) = call.hosted {
        return host.call_host(&HostCall {
            function,
            collation: call.collation,
            result_type: call.result_type,
            arg_types: &call.arg_types,
            args,
        });
    }
    call_function(call, st, host, args).map(Val::into_owned)
}
