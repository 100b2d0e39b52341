//! Equivalence classes with constants: a column that equals a column that equals a constant equals
//! the constant. Counterpart: equivclass.c, for classes with constants; see `equivalence` for
//! classes of columns.

use crate::selectivity::strip;
use crate::state::Planner;
use ids::Oid;
use pgerror::Result;
use plan::expr::{BoolOp, BoolTestKind, Expr, Location, NullTest, OpExpr};
use plan::query::{FromExpr, JoinTreeNode, JoinType, Query};
use querytree::quals::JoinItem;
use querytree::vars::{conjuncts, contains_subplans, relids_of};
use types::oids;

/// Equivalence class: expressions that are equal by one operator in all rows that satisfy the
/// conditions.
pub(crate) struct Class {
    pub opno: Oid,
    pub collation: Oid,
    /// Columns, in the form in which the conditions contain them.
    columns: Vec<Expr>,
    /// Constants and parameters, each with the condition that contains it.
    values: Vec<(Expr, Expr)>,
    /// Equalities between two columns.
    pub equalities: Vec<Expr>,
}

impl Class {
    /// The value that all columns equal: a constant, or else the last of the different parameters.
    fn value(&self) -> Option<Expr> {
        let mut different: Vec<&Expr> = Vec::new();
        for (v, _) in &self.values {
            if matches!(v, Expr::Const(_)) {
                return Some(v.clone());
            }
            if !different.contains(&v) {
                different.push(v);
            }
        }
        different.last().map(|v| (*v).clone())
    }
}

impl Planner<'_> {
    /// Expressions that have one value in all rows of the level, by its conditions. There are none
    /// with grouping sets, which replace grouping columns by NULL.
    pub(crate) fn constant_exprs(&mut self, query: &Query) -> Result<Vec<Expr>> {
        if !query.grouping_sets.is_empty() {
            return Ok(Vec::new());
        }
        let mut quals = Vec::new();
        top_quals(&query.jointree, &mut quals);
        self.fixed_by(&quals)
    }

    /// Pairs of columns that are equal in all rows of the level, by the equality of their default
    /// sort order.
    pub(crate) fn equal_columns(&mut self, query: &Query) -> Result<Vec<(Expr, Expr)>> {
        let mut out = Vec::new();
        if !query.grouping_sets.is_empty() {
            return Ok(out);
        }
        let mut quals = Vec::new();
        top_quals(&query.jointree, &mut quals);
        for q in &quals {
            let Expr::OpExpr(op) = q else { continue };
            let [a @ Expr::Var(_), b @ Expr::Var(_)] = op.args.as_slice() else { continue };
            if a != b
                && a.type_oid() == b.type_oid()
                && [a, b].iter().all(|e| e.collation() == op.inputcollid)
                && self.host.default_operators(a.type_oid())?.eq == op.opno
            {
                out.push((a.clone(), b.clone()));
            }
        }
        Ok(out)
    }

    /// Expressions that have one value in all rows that satisfy the conditions.
    pub(crate) fn fixed_by(&mut self, quals: &[Expr]) -> Result<Vec<Expr>> {
        let mut out = Vec::new();
        for q in quals {
            match q {
                Expr::OpExpr(op) => {
                    let [a, b] = op.args.as_slice() else { continue };
                    for (e, value) in [(a, b), (b, a)] {
                        // By another collation, different strings may be equal.
                        let alike = op.inputcollid == e.collation();
                        if alike
                            && !relids_of(e).is_empty()
                            && relids_of(value).is_empty()
                            && !contains_subplans(value)
                            && self.host.operator(op.opno)?.can_merge
                            && eval::volatility(q, self.host)? != eval::Volatility::Volatile
                        {
                            out.push(e.clone());
                            // A relabelled column is constant too, if the operator is also the
                            // equality of the column's own type.
                            let bare = strip(e);
                            if bare != e
                                && bare.collation() == op.inputcollid
                                && self.host.default_operators(bare.type_oid())?.eq == op.opno
                            {
                                out.push(bare.clone());
                            }
                        }
                    }
                }
                Expr::Var(v) if v.vartype == oids::BOOL => out.push(q.clone()),
                Expr::Bool(b) if b.boolop == BoolOp::Not => {
                    out.extend(b.args.iter().filter(|a| matches!(a, Expr::Var(_))).cloned());
                }
                Expr::BooleanTest(t)
                    if matches!(t.booltesttype, BoolTestKind::IsTrue | BoolTestKind::IsFalse)
                        && matches!(t.arg, Expr::Var(_)) =>
                {
                    out.push(t.arg.clone());
                }
                _ => {}
            }
        }
        Ok(out)
    }

    /// Replaces `x = x` by `x IS NOT NULL` if the operator is a strict mergejoinable equality.
    /// Counterpart: `process_equivalence`.
    pub(crate) fn equal_to_itself(&mut self, q: &mut Expr) -> Result<()> {
        let Expr::OpExpr(op) = &*q else { return Ok(()) };
        let [a, b] = op.args.as_slice() else { return Ok(()) };
        if a != b || relids_of(a).is_empty() {
            return Ok(());
        }
        let info = self.host.operator(op.opno)?;
        let volatile = eval::volatility(a, self.host)? == eval::Volatility::Volatile;
        if info.can_merge && info.strict && !volatile {
            *q = Expr::NullTest(Box::new(NullTest {
                arg: a.clone(),
                is_not: true,
                argisrow: false,
                location: Location::UNKNOWN,
            }));
        }
        Ok(())
    }

    /// Adds `column = constant` for every column of a class with a constant, and removes the
    /// equalities between its columns and duplicates. If a class has two different constants, FALSE
    /// is added; if it has two parameters, the condition that they are equal. Counterpart:
    /// `generate_base_implied_equalities_const`.
    pub(crate) fn add_class_constants(&mut self, quals: &[Expr]) -> Result<Vec<Expr>> {
        let mut classes: Vec<Class> = Vec::new();
        let mut rest = Vec::with_capacity(quals.len());
        for q in quals {
            match self.equality(q)? {
                Some(op) => add(&mut classes, op, q),
                None => rest.push(q.clone()),
            }
        }
        if classes.iter().all(|c| c.values.len() + c.equalities.len() < 2) {
            return Ok(quals.to_vec());
        }
        for class in classes {
            match class.value() {
                Some(value) => self.add_constants(&class, &value, &mut rest)?,
                None => rest.extend(class.equalities),
            }
        }
        Ok(rest)
    }

    /// Adds `column = value` for every column of a class, and `other = value` for its other values:
    /// without columns, such a condition is tested once.
    fn add_constants(&mut self, class: &Class, value: &Expr, out: &mut Vec<Expr>) -> Result<()> {
        for column in &class.columns {
            let written = |(v, q): &&(Expr, Expr)| v == value && column_of(q) == Some(column);
            out.push(match class.values.iter().find(written) {
                Some((_, q)) => q.clone(),
                None => self.equal(class.opno, class.collation, column, value)?,
            });
        }
        let cmp = self.host.type_compare(value.type_oid(), class.collation)?;
        let mut seen = vec![value];
        for (other, _) in &class.values {
            if seen.contains(&other) {
                continue;
            }
            seen.push(other);
            if let (Expr::Const(a), Expr::Const(b)) = (value, other) {
                if cmp.order(a.value.as_ref(), b.value.as_ref(), class.collation).is_ne() {
                    // The conditions are contradictory.
                    out.push(eval::bool_const(Some(false)));
                    break;
                }
            } else {
                out.push(self.equal(class.opno, class.collation, other, value)?);
            }
        }
        Ok(())
    }

    /// For an outer, semi or anti join: conditions on its inner side that follow from constants on
    /// its outer side, and the remaining join conditions. Counterpart:
    /// `reconsider_outer_join_clause`.
    pub(crate) fn constants_across(&mut self, join: &JoinItem) -> Result<(Vec<Expr>, Vec<Expr>)> {
        let (mut inner, mut on) = (Vec::new(), Vec::new());
        if join.jointype == JoinType::Full {
            return Ok((inner, join.quals.clone()));
        }
        let right = join.right.relids();
        let mut known = Vec::new();
        for q in self.add_class_constants(&join.left.quals)? {
            if let Some(op) = self.equality(&q)?
                && let (Some(column), Some(value)) = (column_of(&q), value_of(op))
            {
                known.push((op.opno, op.inputcollid, column.clone(), value.clone()));
            }
        }
        for q in &join.quals {
            let follows = match self.equality(q)? {
                Some(op) if !known.is_empty() => {
                    known.iter().find_map(|(opno, collation, column, value)| {
                        if *opno != op.opno || *collation != op.inputcollid {
                            return None;
                        }
                        let other = match (&op.args[0] == column, &op.args[1] == column) {
                            (true, false) => &op.args[1],
                            (false, true) => &op.args[0],
                            _ => return None,
                        };
                        let inner = is_column(other) && relids_of(other).is_subset(&right);
                        inner.then(|| (other.clone(), value.clone()))
                    })
                }
                _ => None,
            };
            match follows {
                Some((column, value)) => {
                    let Expr::OpExpr(op) = q else { continue };
                    inner.push(self.equal(op.opno, op.inputcollid, &column, &value)?);
                }
                None => on.push(q.clone()),
            }
        }
        Ok((inner, on))
    }

    /// The condition as an operator expression, if it is `column = column` or `column = value` with
    /// operands of one type and a mergejoinable operator.
    pub(crate) fn equality<'q>(&mut self, q: &'q Expr) -> Result<Option<&'q OpExpr>> {
        let Expr::OpExpr(op) = q else { return Ok(None) };
        let [a, b] = op.args.as_slice() else { return Ok(None) };
        let fits = match (is_column(a), is_column(b)) {
            (true, true) => a != b,
            (true, false) => is_value(b),
            (false, true) => is_value(a),
            (false, false) => false,
        };
        if !fits || a.type_oid() != b.type_oid() {
            return Ok(None);
        }
        let info = self.host.operator(op.opno)?;
        let plain = info.can_merge && info.left == info.right;
        Ok(plain.then_some(&**op))
    }

    pub(crate) fn equal(
        &mut self,
        opno: Oid,
        collation: Oid,
        column: &Expr,
        value: &Expr,
    ) -> Result<Expr> {
        let opfuncid = self.host.operator(opno)?.code;
        Ok(Expr::OpExpr(Box::new(OpExpr {
            opno,
            opfuncid,
            opresulttype: oids::BOOL,
            opretset: false,
            opcollid: Oid::INVALID,
            inputcollid: collation,
            args: vec![column.clone(), value.clone()],
            location: Location::UNKNOWN,
        })))
    }
}

pub(crate) fn is_column(e: &Expr) -> bool {
    matches!(strip(e), Expr::Var(v) if v.varlevelsup == 0 && v.varattno > 0)
}

fn is_value(e: &Expr) -> bool {
    match strip(e) {
        Expr::Const(c) => !c.is_null(),
        Expr::Param(_) => true,
        _ => false,
    }
}

/// The column of a `column = value` condition.
fn column_of(q: &Expr) -> Option<&Expr> {
    let Expr::OpExpr(op) = q else { return None };
    op.args.iter().find(|a| is_column(a))
}

fn value_of(op: &OpExpr) -> Option<&Expr> {
    op.args.iter().find(|a| is_value(a))
}

/// Adds an equality to the class that has one of its columns; merges classes that it connects.
pub(crate) fn add(classes: &mut Vec<Class>, op: &OpExpr, q: &Expr) {
    let columns: Vec<Expr> = op.args.iter().filter(|a| is_column(a)).cloned().collect();
    let mut class = Class {
        opno: op.opno,
        collation: op.inputcollid,
        columns: columns.clone(),
        values: Vec::new(),
        equalities: Vec::new(),
    };
    match value_of(op) {
        Some(value) => class.values.push((value.clone(), q.clone())),
        None => class.equalities.push(q.clone()),
    }
    let joined = |c: &Class| {
        c.opno == op.opno
            && c.collation == op.inputcollid
            && c.columns.iter().any(|have| columns.contains(have))
    };
    let mut at = classes.len();
    for i in (0..classes.len()).rev() {
        if joined(&classes[i]) {
            let old = classes.remove(i);
            at = i;
            for column in old.columns {
                if !class.columns.contains(&column) {
                    class.columns.push(column);
                }
            }
            class.values.splice(0..0, old.values);
            class.equalities.splice(0..0, old.equalities);
        }
    }
    classes.insert(at, class);
}

/// Adds the conditions that all rows of the level satisfy: those of WHERE and inner joins.
fn top_quals(from: &FromExpr, out: &mut Vec<Expr>) {
    if let Some(q) = &from.quals {
        conjuncts(q.clone(), out);
    }
    from.fromlist.iter().for_each(|n| node_quals(n, out));
}

fn node_quals(node: &JoinTreeNode, out: &mut Vec<Expr>) {
    match node {
        JoinTreeNode::Rtr(_) => {}
        JoinTreeNode::From(f) => top_quals(f, out),
        JoinTreeNode::Join(j) if j.jointype == JoinType::Inner => {
            if let Some(q) = &j.quals {
                conjuncts(q.clone(), out);
            }
            node_quals(&j.larg, out);
            node_quals(&j.rarg, out);
        }
        JoinTreeNode::Join(_) => {}
    }
}
