//! Evaluation over batches: one column per node for constants, columns, strict calls and boolean
//! connectives; all else runs row by row under the selection.

use crate::host::{CallContext, Host};
use crate::program::*;
use crate::row::{RowInput, RowRef, eval};
use pgerror::Result;
use smallvec::SmallVec;
use types::{Batch, Column, DatumRef};

/// Rows of a batch, by index, ascending.
pub type Selection = Vec<u16>;

impl Program {
    /// The values for the selected rows of `input` (all rows where `sel` is `None`), in order. The rows
    /// are at hand as [`Source::Scan`].
    pub fn eval_batch(
        &self,
        st: &mut EvalState,
        host: &mut dyn Host,
        input: &Batch,
        sel: Option<&[u16]>,
    ) -> Result<Column> {
        st.prepare(self);
        st.depth = 0;
        node_batch(&self.root, self.by_val, st, host, input, sel)
    }
}

/// The rows of `input` (among `sel`) for which the condition is true.
pub fn select_true(
    program: &Program,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    sel: Option<&[u16]>,
) -> Result<Selection> {
    st.prepare(program);
    st.depth = 0;
    match &program.root {
        Node::And(args) => {
            let mut chosen: Option<Selection> = sel.map(<[u16]>::to_vec);
            // An argument that is NULL for a row still lets later ones be evaluated in row order; for
            // a filter NULL and false are the same, so both end the row here.
            for arg in args {
                let next = true_rows(arg, st, host, input, chosen.as_deref())?;
                if next.is_empty() {
                    return Ok(next);
                }
                chosen = Some(next);
            }
            Ok(chosen.unwrap_or_else(|| (0..input.len as u16).collect()))
        }
        root => true_rows(root, st, host, input, sel),
    }
}

fn true_rows(
    node: &Node,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    sel: Option<&[u16]>,
) -> Result<Selection> {
    if let Node::Const(d) = node {
        let holds = !d.is_null() && d.as_ref().as_bool();
        return Ok(if holds { all_rows(input, sel) } else { Vec::new() });
    }
    let col = node_batch(node, true, st, host, input, sel)?;
    let hit = |i: usize| {
        let v = col.get(i);
        !v.is_null() && v.as_bool()
    };
    Ok(match sel {
        Some(rows) => rows.iter().enumerate().filter(|&(i, _)| hit(i)).map(|(_, &r)| r).collect(),
        None => (0..input.len).filter(|&i| hit(i)).map(|i| i as u16).collect(),
    })
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
                Some(rows) => gather(col, rows),
            })
        }
        Node::Call(call) => call_batch(call, by_val, st, host, input, sel),
        _ => rows_batch(node, by_val, st, host, input, sel),
    }
}

/// The chosen rows of a column.
fn gather(col: &Column, rows: &[u16]) -> Column {
    col.gather(rows)
}

/// An argument of a call: a column computed, a column of the input, or one value for all rows.
enum Arg<'a> {
    Computed(Column),
    Input(&'a Column),
    Same(DatumRef<'a>),
}

fn call_batch(
    call: &Call,
    by_val: bool,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    sel: Option<&[u16]>,
) -> Result<Column> {
    // Where an argument is not itself a column form, nested side effects keep row order.
    if !call.args.iter().all(is_column_form) {
        let mut out = Column::new(by_val);
        for i in 0..row_count(input, sel) {
            let row = sel.map_or(i, |s| s[i] as usize);
            let at = RowInput::scan(RowRef::Batch(input, row));
            let v = crate::row::eval_call_at(call, st, host, &at)?;
            out.push(v.as_ref());
        }
        return Ok(out);
    }
    let mut args: SmallVec<[Arg<'_>; 3]> = SmallVec::new();
    for arg in &call.args {
        args.push(match arg {
            Node::Const(d) => Arg::Same(d.as_ref()),
            Node::Slot(Slot { source: Source::Scan, column }) => {
                Arg::Input(&input.columns[*column])
            }
            Node::Call(inner) => {
                Arg::Computed(node_batch(arg, call_by_val(inner), st, host, input, sel)?)
            }
            _ => unreachable!("checked by is_column_form"),
        });
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
    for i in 0..row_count(input, sel) {
        let row = sel.map_or(i, |s| s[i] as usize);
        refs.clear();
        let mut null = false;
        for arg in &args {
            let v = match arg {
                Arg::Computed(c) => c.get(i),
                Arg::Input(c) => c.get(row),
                Arg::Same(d) => *d,
            };
            null |= v.is_null();
            refs.push(v);
        }
        if null && call.strict {
            out.push_null();
        } else {
            out.push((call.f)(&mut cx, &refs)?.as_ref());
        }
    }
    Ok(out)
}

/// May the node be evaluated for all rows before its parent is, without a visible difference? Its
/// errors may come earlier, but the statement fails all the same.
fn is_column_form(node: &Node) -> bool {
    match node {
        Node::Const(_) | Node::Slot(Slot { source: Source::Scan, .. }) => true,
        Node::Call(c) => c.result_by_val.is_some() && c.args.iter().all(is_column_form),
        _ => false,
    }
}

fn call_by_val(call: &Call) -> bool {
    call.result_by_val.unwrap_or(true)
}

fn rows_batch(
    node: &Node,
    by_val: bool,
    st: &mut EvalState,
    host: &mut dyn Host,
    input: &Batch,
    sel: Option<&[u16]>,
) -> Result<Column> {
    let mut out = Column::new(by_val);
    for i in 0..row_count(input, sel) {
        let row = sel.map_or(i, |s| s[i] as usize);
        let at = RowInput::scan(RowRef::Batch(input, row));
        let v = eval(node, st, host, &at)?;
        out.push(v.as_ref());
    }
    Ok(out)
}
