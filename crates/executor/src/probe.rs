//! Index conditions: compiles them to scan keys and evaluates the comparison values. Counterpart:
//! nodeIndexscan.c (ExecIndexBuildScanKeys).
//!
//! Most values are constants or parameters. These are passed to the index by reference, so that a
//! rescan with other values allocates nothing.

use crate::node::{NoScanColumns, compile};
use crate::run::{ExecParam, Run, RunState};
use engine::IndexDesc;
use engine::index::strategy::btree;
use engine::index::{Direction, RowMember, ScanKey, StrategyNumber, SupportFunction};
use eval::{EvalState, Host, Program, RowInput};
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{
    Expr, ParamKind, RelabelType, RowCompareExpr, RowCompareKind, ScalarArrayOpExpr, Var,
};
use plan::node::{IndexProbe, ScanDirection};
use smallvec::SmallVec;
use std::sync::Arc;
use types::array::ArrayRef;
use types::compare::Comparer;
use types::datum::four_bytes_signed;
use types::{Datum, DatumRef, TypeInfo};

/// The value of a comparison.
enum Source {
    Const(Datum),
    /// `$id`.
    Extern(i32),
    Exec(i32),
    /// An expression with its current value.
    Program(Box<Program>, Datum),
}

enum Condition {
    Compare {
        column: usize,
        strategy: StrategyNumber,
        support: Option<SupportFunction>,
        value: Source,
    },
    Any {
        column: usize,
        strategy: StrategyNumber,
        support: Option<SupportFunction>,
        /// The comparison is an equality, not an inequality on an ordered index.
        equality: bool,
        /// Order of the elements; `None` for an equality with values of the column's type.
        order: Option<Comparer>,
        collation: Oid,
        array: Program,
        elem: TypeInfo,
        values: Vec<Datum>,
    },
    Null {
        column: usize,
        is_not: bool,
    },
    Row {
        strategy: StrategyNumber,
        members: Vec<Member>,
    },
}

/// A column of a row comparison.
struct Member {
    column: usize,
    cmp: Option<Comparer>,
    value: Source,
}

/// A compiled probe.
pub(crate) struct Probe {
    pub index: Arc<IndexDesc>,
    pub direction: Direction,
    conditions: Vec<Condition>,
    st: EvalState,
    /// All conditions are comparisons or NULL tests, so a scan can be restarted with new values
    /// only.
    pub by_values: bool,
}

impl Condition {
    fn any(op: &ScalarArrayOpExpr, index: &IndexDesc, run: &mut Run<'_>) -> Result<Condition> {
        let column = column_of(&op.args[0])?;
        let (strategy, support) = run.sv.index_operator(op.opno, index.oid, column)?;
        let array = compile(&op.args[1], &mut NoScanColumns, run)?;
        let elem = run.sv.as_facts().type_info(op.args[1].type_oid())?.elem;
        let elem = run.sv.as_facts().type_info(elem)?;
        let capabilities = index.capabilities();
        let equality = strategy == capabilities.equality;
        let order = match (&support, equality) {
            (None, true) => None,
            _ if !capabilities.ordered => None,
            _ => Some(run.sv.as_facts().type_compare(elem.oid, op.inputcollid)?),
        };
        Ok(Condition::Any {
            column,
            strategy,
            support,
            equality,
            order,
            collation: op.inputcollid,
            array,
            elem,
            values: Vec::new(),
        })
    }

    fn row(r: &RowCompareExpr, index: Oid, run: &mut Run<'_>) -> Result<Condition> {
        let strategy = match r.rctype {
            RowCompareKind::Lt => btree::LESS,
            RowCompareKind::Le => btree::LESS_EQUAL,
            RowCompareKind::Ge => btree::GREATER_EQUAL,
            RowCompareKind::Gt => btree::GREATER,
            _ => return Err(PgError::internal("row comparison of an unknown kind")),
        };
        let mut members = Vec::with_capacity(r.opnos.len());
        for ((own, value), &opno) in r.largs.iter().zip(&r.rargs).zip(&r.opnos) {
            let column = column_of(own)?;
            let (_, support) = run.sv.index_operator(opno, index, column)?;
            let cmp = support.as_ref().and_then(SupportFunction::comparer).cloned();
            members.push(Member { column, cmp, value: Source::new(value, run)? });
        }
        Ok(Condition::Row { strategy, members })
    }
}

impl Source {
    fn new(e: &Expr, run: &mut Run<'_>) -> Result<Source> {
        Ok(match e {
            Expr::Const(c) => Source::Const(c.value.clone()),
            Expr::Param(p) if p.paramkind == ParamKind::Extern => Source::Extern(p.paramid),
            Expr::Param(p) if p.paramkind == ParamKind::Exec => Source::Exec(p.paramid),
            Expr::Relabel(r) if !changes_word(r) => return Source::new(&r.arg, run),
            e => Source::Program(Box::new(compile(e, &mut NoScanColumns, run)?), Datum::Null),
        })
    }

    /// Evaluates the value if it is an expression; false if it is NULL.
    fn refresh(&mut self, st: &mut EvalState, run: &mut Run<'_>) -> Result<bool> {
        Ok(match self {
            Source::Const(v) => !v.is_null(),
            Source::Extern(id) => match run.st.extern_param(*id) {
                Some(v) => !v.is_null(),
                None => !run.extern_param(*id)?.is_null(),
            },
            Source::Exec(id) => {
                run.note_read(*id)?;
                match &run.st.exec[*id as usize] {
                    ExecParam::Set(v) => !v.is_null(),
                    _ => !run.exec_param(*id)?.is_null(),
                }
            }
            Source::Program(p, value) => {
                *value = p.eval_row(st, run, &RowInput::EMPTY)?.into_owned();
                !value.is_null()
            }
        })
    }

    fn get<'a>(&'a self, st: &'a RunState) -> DatumRef<'a> {
        match self {
            Source::Const(v) | Source::Program(_, v) => v.as_ref(),
            Source::Extern(id) => st.extern_param(*id).map_or(DatumRef::Null, Datum::as_ref),
            Source::Exec(id) => match &st.exec[*id as usize] {
                ExecParam::Set(v) => v.as_ref(),
                _ => DatumRef::Null,
            },
        }
    }
}

impl Probe {
    pub(crate) fn new(probe: &IndexProbe, run: &mut Run<'_>) -> Result<Probe> {
        let index = run.sv.open_index(probe.indexid)?;
        let mut conditions = Vec::with_capacity(probe.index_qual.len());
        let mut by_values = true;
        for q in &probe.index_qual {
            conditions.push(match q {
                Expr::OpExpr(op) => {
                    let column = column_of(&op.args[0])?;
                    let (strategy, support) =
                        run.sv.index_operator(op.opno, probe.indexid, column)?;
                    let value = Source::new(&op.args[1], run)?;
                    Condition::Compare { column, strategy, support, value }
                }
                Expr::ScalarArrayOp(op) => {
                    by_values = false;
                    Condition::any(op, &index, run)?
                }
                Expr::NullTest(n) => {
                    Condition::Null { column: column_of(&n.arg)?, is_not: n.is_not }
                }
                Expr::RowCompare(r) => {
                    by_values = false;
                    Condition::row(r, probe.indexid, run)?
                }
                _ => return Err(PgError::internal("index condition of an unknown kind")),
            });
        }
        let direction = match probe.direction {
            ScanDirection::Forward => Direction::Forward,
            ScanDirection::Backward => Direction::Backward,
        };
        Ok(Probe { index, direction, conditions, st: EvalState::default(), by_values })
    }

    /// Evaluates the values. Returns false if no row can satisfy the conditions.
    pub(crate) fn refresh(&mut self, run: &mut Run<'_>) -> Result<bool> {
        for c in &mut self.conditions {
            match c {
                Condition::Compare { value, .. } => {
                    if !value.refresh(&mut self.st, run)? {
                        return Ok(false);
                    }
                }
                Condition::Any {
                    strategy,
                    equality,
                    order,
                    collation,
                    array,
                    elem,
                    values,
                    ..
                } => {
                    let v = array.eval_row(&mut self.st, run, &RowInput::EMPTY)?;
                    if v.is_null() {
                        return Ok(false);
                    }
                    values.clear();
                    let elements = ArrayRef::new(v.as_ref())?;
                    let live = elements.iter(elem).filter(|e| !e.is_null());
                    values.extend(live.map(DatumRef::to_owned));
                    if values.is_empty() {
                        return Ok(false);
                    }
                    if !*equality {
                        keep_least_restrictive(values, *strategy, order.as_ref(), *collation);
                    }
                }
                Condition::Null { .. } => {}
                Condition::Row { members, .. } => {
                    for (i, member) in members.iter_mut().enumerate() {
                        // A NULL after the first member: the columns before it still restrict the
                        // scan.
                        if !member.value.refresh(&mut self.st, run)? && i == 0 {
                            return Ok(false);
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    /// The current values, one per condition, for restarting a scan `by_values`.
    pub(crate) fn values<'a>(&'a self, st: &'a RunState) -> SmallVec<[DatumRef<'a>; 4]> {
        let value = |c: &'a Condition| match c {
            Condition::Compare { value, .. } => value.get(st),
            _ => DatumRef::Null,
        };
        self.conditions.iter().map(value).collect()
    }

    /// The conditions with their current values.
    pub(crate) fn scan_keys(&self, st: &RunState) -> Vec<ScanKey> {
        let key = |c: &Condition| match c {
            Condition::Compare { column, strategy, support, value } => {
                let value = value.get(st).to_owned();
                ScanKey::Compare {
                    column: *column,
                    strategy: *strategy,
                    value,
                    support: support.clone(),
                }
            }
            Condition::Any { column, strategy, support, equality: false, values, .. } => {
                let value = values.first().cloned().unwrap_or_default();
                ScanKey::Compare {
                    column: *column,
                    strategy: *strategy,
                    value,
                    support: support.clone(),
                }
            }
            Condition::Any { column, support, order, values, .. } => {
                let (support, order) = (support.clone(), order.clone());
                ScanKey::Any { column: *column, values: values.clone(), support, order }
            }
            Condition::Null { column, is_not: false } => ScanKey::IsNull { column: *column },
            Condition::Null { column, is_not: true } => ScanKey::IsNotNull { column: *column },
            Condition::Row { strategy, members } => {
                let member = |m: &Member| RowMember {
                    column: m.column,
                    value: m.value.get(st).to_owned(),
                    cmp: m.cmp.clone(),
                };
                ScanKey::Row { strategy: *strategy, members: members.iter().map(member).collect() }
            }
        };
        self.conditions.iter().map(key).collect()
    }

    /// The scans whose union returns the rows that satisfy the conditions. There is one for each
    /// combination of array elements if the access method does not accept arrays. Used by bitmap
    /// scans. Counterpart: `ExecIndexAdvanceArrayKeys`.
    pub(crate) fn scans(&self, st: &RunState) -> Vec<Vec<ScanKey>> {
        let mut scans = vec![self.scan_keys(st)];
        if self.index.capabilities().search_array {
            return scans;
        }
        for (n, condition) in self.conditions.iter().enumerate() {
            let Condition::Any { column, strategy, support, values, .. } = condition else {
                continue;
            };
            let with = |keys: &Vec<ScanKey>, value: &Datum| {
                let mut keys = keys.clone();
                keys[n] = ScanKey::Compare {
                    column: *column,
                    strategy: *strategy,
                    value: value.clone(),
                    support: support.clone(),
                };
                keys
            };
            let all = scans.iter().flat_map(|keys| values.iter().map(move |v| (keys, v)));
            scans = all.map(|(keys, value)| with(keys, value)).collect();
        }
        scans
    }

    /// Removes the values.
    pub(crate) fn reset(&mut self) {
        for c in &mut self.conditions {
            match c {
                Condition::Compare { value: Source::Program(_, v), .. } => *v = Datum::Null,
                Condition::Any { values, .. } => values.clear(),
                Condition::Row { members, .. } => members.iter_mut().for_each(|m| {
                    if let Source::Program(_, v) = &mut m.value {
                        *v = Datum::Null;
                    }
                }),
                _ => {}
            }
        }
    }
}

/// For an inequality with ANY, keeps only the least restrictive element. Counterpart: nbtutils.c
/// (`_bt_preprocess_array_keys`).
fn keep_least_restrictive(
    values: &mut Vec<Datum>,
    strategy: StrategyNumber,
    order: Option<&Comparer>,
    collation: Oid,
) {
    let Some(order) = order else { return };
    let farther = match strategy {
        btree::LESS | btree::LESS_EQUAL => std::cmp::Ordering::Greater,
        _ => std::cmp::Ordering::Less,
    };
    let farthest = std::mem::take(values).into_iter().reduce(|a, b| {
        if order.order(b.as_ref(), a.as_ref(), collation) == farther { b } else { a }
    });
    values.extend(farthest);
}

/// Whether the relabelling may be one that changes the word of a value of four bytes.
fn changes_word(r: &RelabelType) -> bool {
    let to = four_bytes_signed(r.resulttype);
    to.is_some() && four_bytes_signed(r.arg.type_oid()) != to
}

fn column_of(e: &Expr) -> Result<usize> {
    match e {
        Expr::Var(v) if v.varno == Var::INDEX && v.varattno > 0 => Ok(v.varattno as usize - 1),
        Expr::Relabel(r) => column_of(&r.arg),
        _ => Err(PgError::internal("index condition without an index column")),
    }
}
