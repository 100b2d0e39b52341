//! Index conditions: from a plan's expressions to the values that an index is searched for.
//! Counterpart: nodeIndexscan.c (ExecIndexBuildScanKeys).

use crate::node::{NoScanColumns, compile};
use crate::run::Run;
use engine::IndexDesc;
use engine::index::{Direction, ScanKey, ScanOp};
use eval::{EvalState, Program, RowInput};
use pgerror::{PgError, Result};
use plan::expr::*;
use plan::node::{IndexProbe, ScanDirection};
use std::sync::Arc;
use types::array::ArrayRef;
use types::compare::CompareFn;
use types::{Datum, TypeInfo};

enum Condition {
    Compare { column: usize, op: ScanOp, cmp: Option<CompareFn>, value: Program },
    Any { column: usize, cmp: Option<CompareFn>, array: Program, elem: TypeInfo },
    Null { column: usize, is_not: bool },
}

/// A compiled probe.
pub(crate) struct Probe {
    pub index: Arc<IndexDesc>,
    pub direction: Direction,
    conditions: Vec<Condition>,
    st: EvalState,
}

impl Probe {
    pub(crate) fn new(probe: &IndexProbe, run: &mut Run<'_>) -> Result<Probe> {
        let index = run.sv.open_index(probe.indexid)?;
        let mut conditions = Vec::with_capacity(probe.index_qual.len());
        for q in &probe.index_qual {
            conditions.push(match q {
                Expr::OpExpr(op) => {
                    let column = column_of(&op.args[0])?;
                    let (what, cmp) = run.sv.index_operator(op.opno, probe.indexid, column)?;
                    let value = compile(&op.args[1], &mut NoScanColumns, run)?;
                    Condition::Compare { column, op: what, cmp, value }
                }
                Expr::ScalarArrayOp(op) => {
                    let column = column_of(&op.args[0])?;
                    let (what, cmp) = run.sv.index_operator(op.opno, probe.indexid, column)?;
                    if what != ScanOp::Equal {
                        return Err(PgError::unsupported(
                            "index condition with an inequality to ANY",
                        ));
                    }
                    let array = compile(&op.args[1], &mut NoScanColumns, run)?;
                    let elem = run.sv.as_facts().type_info(op.args[1].type_oid())?.elem;
                    let elem = run.sv.as_facts().type_info(elem)?;
                    Condition::Any { column, cmp, array, elem }
                }
                Expr::NullTest(n) => {
                    Condition::Null { column: column_of(&n.arg)?, is_not: n.is_not }
                }
                _ => return Err(PgError::internal("index condition of an unknown form")),
            });
        }
        let direction = match probe.direction {
            ScanDirection::Forward => Direction::Forward,
            ScanDirection::Backward => Direction::Backward,
        };
        Ok(Probe { index, direction, conditions, st: EvalState::default() })
    }

    /// The conditions with the values of the moment; `None` where one of them can match nothing.
    pub(crate) fn keys(&mut self, run: &mut Run<'_>) -> Result<Option<Vec<ScanKey>>> {
        let mut keys = Vec::with_capacity(self.conditions.len());
        for c in &self.conditions {
            keys.push(match c {
                Condition::Compare { column, op, cmp, value } => {
                    let v = value.eval_row(&mut self.st, run, &RowInput::EMPTY)?.into_owned();
                    if v.is_null() {
                        return Ok(None);
                    }
                    ScanKey::Compare { column: *column, op: *op, value: v, cmp: *cmp }
                }
                Condition::Any { column, cmp, array, elem } => {
                    let v = array.eval_row(&mut self.st, run, &RowInput::EMPTY)?.into_owned();
                    if v.is_null() {
                        return Ok(None);
                    }
                    let values: Vec<Datum> = ArrayRef::new(v.as_ref())
                        .iter(elem)
                        .filter(|e| !e.is_null())
                        .map(types::DatumRef::to_owned)
                        .collect();
                    if values.is_empty() {
                        return Ok(None);
                    }
                    ScanKey::Any { column: *column, values, cmp: *cmp }
                }
                Condition::Null { column, is_not: false } => ScanKey::IsNull { column: *column },
                Condition::Null { column, is_not: true } => ScanKey::IsNotNull { column: *column },
            });
        }
        Ok(Some(keys))
    }
}

fn column_of(e: &Expr) -> Result<usize> {
    match e {
        Expr::Var(v) if v.varno == Var::INDEX && v.varattno > 0 => Ok(v.varattno as usize - 1),
        Expr::Relabel(r) => column_of(&r.arg),
        _ => Err(PgError::internal("index condition without an index column")),
    }
}
