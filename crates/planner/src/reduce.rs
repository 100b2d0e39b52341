//! Outer-join reduction: an outer join becomes an inner join if conditions above it reject the
//! null-extended rows, and an anti join if they reject all others. Counterpart: prepjointree.c
//! (`reduce_outer_joins`), clauses.c (`find_nonnullable_vars`, `find_forced_null_vars`).

use crate::state::{Planner, PlannerInfo};
use ids::AttrNo;
use pgerror::Result;
use plan::expr::{BoolOp, BoolTestKind, Expr, Var};
use plan::query::{FromExpr, JoinExpr, JoinTreeNode, JoinType};
use plan::walk;
use querytree::relids::Relids;
use querytree::unused::null_for;
use querytree::vars::node_relids;
use querytree::vars::{conjunction, conjuncts, substitute};
use std::collections::BTreeSet;
use types::array::ArrayRef;

/// Columns by range-table index and number.
type Columns = BTreeSet<(i32, AttrNo)>;

/// Consequences of the conditions above a node of the join tree.
#[derive(Clone, Default)]
struct Above {
    /// Relations that must not be null-extended.
    nonnull: Relids,
    /// Columns that must be NULL.
    nulls: Columns,
}

/// True for the constants false and NULL.
fn is_never_true(condition: &Expr) -> bool {
    matches!(condition, Expr::Const(c) if c.is_null() || !c.value.as_ref().as_bool())
}

/// Maps a column to the element of a set: the relation, or the column itself.
type Key<K> = fn(&Var) -> K;

impl Planner<'_> {
    pub(crate) fn reduce_outer_joins(&mut self, root: &mut PlannerInfo) -> Result<()> {
        let from = &root.query.jointree;
        if !from.fromlist.iter().any(has_outer_join) {
            return Ok(());
        }
        let above = self.with_quals(&Above::default(), from.quals.as_ref())?;
        // `null_columns` does not replace lateral references to the right side of a new anti join,
        // so there are no reductions to anti joins with LATERAL.
        let lateral = root.query.rtable.iter().any(|rte| rte.lateral);
        let mut emptied = Relids::new();
        let mut from = std::mem::take(&mut root.query.jointree);
        for node in &mut from.fromlist {
            self.reduce_node(node, &above, (!lateral).then_some(&mut emptied))?;
        }
        root.query.jointree = from;
        if !emptied.is_empty() {
            self.null_columns(root, &emptied)?;
        }
        Ok(())
    }

    fn with_quals(&mut self, above: &Above, quals: Option<&Expr>) -> Result<Above> {
        let mut all = above.clone();
        if let Some(q) = quals {
            all.nonnull.extend(self.nonnullable(q)?);
            forced_nulls(q, &mut all.nulls);
        }
        Ok(all)
    }

    /// Reduces the joins of a node. With `emptied`, also creates anti joins and adds their right
    /// sides to it.
    fn reduce_node(
        &mut self,
        node: &mut JoinTreeNode,
        above: &Above,
        mut emptied: Option<&mut Relids>,
    ) -> Result<()> {
        let j = match node {
            JoinTreeNode::Rtr(_) => return Ok(()),
            JoinTreeNode::From(f) => {
                let inner = self.with_quals(above, f.quals.as_ref())?;
                for n in &mut f.fromlist {
                    self.reduce_node(n, &inner, emptied.as_deref_mut())?;
                }
                return Ok(());
            }
            JoinTreeNode::Join(j) => j,
        };
        let left = node_relids(&j.larg);
        let right = node_relids(&j.rarg);
        let rejects = |side: &Relids| !side.is_disjoint(&above.nonnull);
        j.jointype = match j.jointype {
            JoinType::Left if rejects(&right) => JoinType::Inner,
            JoinType::Right if rejects(&left) => JoinType::Inner,
            JoinType::Full => match (rejects(&left), rejects(&right)) {
                (true, true) => JoinType::Inner,
                // Rows without a match on the left are rejected: a left join remains.
                (true, false) => JoinType::Left,
                (false, true) => JoinType::Right,
                (false, false) => JoinType::Full,
            },
            other => other,
        };
        if j.jointype == JoinType::Right {
            std::mem::swap(&mut j.larg, &mut j.rarg);
            j.jointype = JoinType::Left;
        }
        let own = self.with_quals(&Above::default(), j.quals.as_ref())?;
        if j.jointype == JoinType::Left
            && let (Some(emptied), Some(q)) = (emptied.as_deref_mut(), &j.quals)
        {
            let right = node_relids(&j.rarg);
            let tested = self.nonnullable_by(q, |v| (v.varno, v.varattno))?;
            if tested.intersection(&above.nulls).any(|(rti, _)| right.contains(rti)) {
                j.jointype = JoinType::Anti;
                emptied.extend(right);
            }
        }
        let (l, r) = match j.jointype {
            JoinType::Inner | JoinType::Semi => {
                let both = self.with_quals(above, j.quals.as_ref())?;
                (both.clone(), both)
            }
            // The ON clause filters only the right side.
            JoinType::Left | JoinType::Anti => (above.clone(), own),
            _ => (Above::default(), Above::default()),
        };
        self.reduce_node(&mut j.larg, &l, emptied.as_deref_mut())?;
        // On the right side of a new anti join no further ones are created: the join's conditions
        // refer to its columns.
        let emptied = emptied.filter(|_| j.jointype != JoinType::Anti);
        self.reduce_node(&mut j.rarg, &r, emptied)?;
        if matches!(j.jointype, JoinType::Left | JoinType::Anti)
            && j.quals.as_ref().is_some_and(is_never_true)
        {
            // No row of the right side is read.
            let fromlist = vec![std::mem::replace(&mut j.rarg, JoinTreeNode::Rtr(0))];
            let quals = Some(eval::bool_const(Some(false)));
            j.rarg = JoinTreeNode::From(Box::new(FromExpr { fromlist, quals }));
        }
        Ok(())
    }

    /// Replaces the columns of relations on the right side of new anti joins by NULL, except within
    /// these joins.
    fn null_columns(&mut self, root: &mut PlannerInfo, emptied: &Relids) -> Result<()> {
        let mut query = std::mem::take(&mut root.query);
        let entries = std::mem::take(&mut query.rtable);
        let mut inside = Vec::new();
        query.jointree.fromlist.iter_mut().for_each(|n| take_inside(n, emptied, &mut inside));
        let mut changed = Ok(());
        walk::query_exprs_mut(&mut query, &mut |e| {
            let mut any = false;
            substitute(e, &mut |e| match e {
                Expr::Var(v) if v.varlevelsup == 0 && emptied.contains(&v.varno) => {
                    any = true;
                    Some(null_for(e))
                }
                _ => None,
            });
            if any && changed.is_ok() {
                let present = |rti| root.not_null_extended.contains(&rti);
                match self.host.fold_query(e.clone(), &present) {
                    Ok(folded) => *e = folded,
                    Err(error) => changed = Err(error),
                }
            }
        });
        inside.reverse();
        query.jointree.fromlist.iter_mut().for_each(|n| put_back(n, emptied, &mut inside));
        drop_true(&mut query.jointree);
        query.rtable = entries;
        root.query = query;
        changed
    }

    /// Relations for which the condition cannot be true when all their columns are NULL.
    pub(crate) fn nonnullable(&mut self, expr: &Expr) -> Result<Relids> {
        Ok(self.nonnullable_by(expr, |v| v.varno)?.into_iter().collect())
    }

    /// Relations or columns for which the condition cannot be true when they are NULL.
    fn nonnullable_by<K: Ord + Copy>(&mut self, expr: &Expr, key: Key<K>) -> Result<BTreeSet<K>> {
        Ok(match expr {
            Expr::Bool(b) if b.boolop == BoolOp::And => {
                let mut out = BTreeSet::new();
                for a in &b.args {
                    out.extend(self.nonnullable_by(a, key)?);
                }
                out
            }
            Expr::Bool(b) if b.boolop == BoolOp::Or => {
                let mut out: Option<BTreeSet<K>> = None;
                for a in &b.args {
                    let n = self.nonnullable_by(a, key)?;
                    out = Some(match out {
                        None => n,
                        Some(o) => o.intersection(&n).copied().collect(),
                    });
                }
                out.unwrap_or_default()
            }
            Expr::NullTest(n) if n.is_not && !n.argisrow => self.strict_in(&n.arg, key)?,
            Expr::BooleanTest(n)
                if matches!(n.booltesttype, BoolTestKind::IsTrue | BoolTestKind::IsFalse) =>
            {
                self.strict_in(&n.arg, key)?
            }
            // The result for NULL is false or NULL.
            Expr::ScalarArrayOp(n) if n.use_or && self.host.operator(n.opno)?.strict => {
                match n.args.first() {
                    Some(a) => self.strict_in(a, key)?,
                    None => BTreeSet::new(),
                }
            }
            _ => self.strict_in(expr, key)?,
        })
    }

    /// Relations or columns for which the expression is NULL when they are.
    fn strict_in<K: Ord + Copy>(&mut self, expr: &Expr, key: Key<K>) -> Result<BTreeSet<K>> {
        let mut out = BTreeSet::new();
        match expr {
            Expr::Var(v) if v.varlevelsup == 0 && v.varattno > 0 => {
                out.insert(key(v));
            }
            Expr::OpExpr(n) if self.host.operator(n.opno)?.strict => {
                for a in &n.args {
                    out.extend(self.strict_in(a, key)?);
                }
            }
            Expr::FuncExpr(n) if !n.funcretset && self.host.function(n.funcid)?.strict => {
                for a in &n.args {
                    out.extend(self.strict_in(a, key)?);
                }
            }
            Expr::ScalarArrayOp(n) => {
                // With an empty array the result is true or false, regardless of the left operand.
                if let [a, array] = n.args.as_slice()
                    && has_elements(array)
                    && self.host.operator(n.opno)?.strict
                {
                    out.extend(self.strict_in(a, key)?);
                }
            }
            Expr::Bool(b) if b.boolop == BoolOp::Not => {
                for a in &b.args {
                    out.extend(self.strict_in(a, key)?);
                }
            }
            Expr::Relabel(n) => out = self.strict_in(&n.arg, key)?,
            Expr::Collate(n) => out = self.strict_in(&n.arg, key)?,
            Expr::CoerceViaIo(n) => out = self.strict_in(&n.arg, key)?,
            _ => {}
        }
        Ok(out)
    }
}

/// True if the array is known to have elements. Counterpart: `is_strict_saop`.
fn has_elements(array: &Expr) -> bool {
    match array {
        Expr::Const(c) => !c.is_null() && ArrayRef::or_empty(c.value.as_ref()).count() > 0,
        Expr::Array(a) => !a.multidims && !a.elements.is_empty(),
        _ => false,
    }
}

fn has_outer_join(node: &JoinTreeNode) -> bool {
    match node {
        JoinTreeNode::Rtr(_) => false,
        JoinTreeNode::From(f) => f.fromlist.iter().any(has_outer_join),
        JoinTreeNode::Join(j) => {
            !matches!(j.jointype, JoinType::Inner)
                || has_outer_join(&j.larg)
                || has_outer_join(&j.rarg)
        }
    }
}

/// Adds the columns that must be NULL if the condition is true.
fn forced_nulls(expr: &Expr, out: &mut Columns) {
    match expr {
        Expr::NullTest(n) if !n.is_not && !n.argisrow => {
            if let Expr::Var(v) = &n.arg
                && v.varlevelsup == 0
                && v.varattno > 0
            {
                out.insert((v.varno, v.varattno));
            }
        }
        Expr::Bool(b) if b.boolop == BoolOp::And => {
            b.args.iter().for_each(|a| forced_nulls(a, out));
        }
        _ => {}
    }
}

/// The right side and the condition of an anti join.
type Inside = (JoinTreeNode, Option<Expr>);

fn is_emptied(j: &JoinExpr, emptied: &Relids) -> bool {
    j.jointype == JoinType::Anti && node_relids(&j.rarg).is_subset(emptied)
}

/// Detaches the conditions and right sides of the anti joins whose right side is within `emptied`.
fn take_inside(node: &mut JoinTreeNode, emptied: &Relids, out: &mut Vec<Inside>) {
    match node {
        JoinTreeNode::Rtr(_) => {}
        JoinTreeNode::From(f) => {
            f.fromlist.iter_mut().for_each(|n| take_inside(n, emptied, out));
        }
        JoinTreeNode::Join(j) => {
            if is_emptied(j, emptied) {
                // `put_back` recognizes the join by this entry.
                let Some(first) = node_relids(&j.rarg).first() else { return };
                let right = std::mem::replace(&mut j.rarg, JoinTreeNode::Rtr(first));
                out.push((right, j.quals.take()));
            } else {
                take_inside(&mut j.rarg, emptied, out);
            }
            take_inside(&mut j.larg, emptied, out);
        }
    }
}

/// Reattaches what [`take_inside`] detached; `inside` has it in reverse order.
fn put_back(node: &mut JoinTreeNode, emptied: &Relids, inside: &mut Vec<Inside>) {
    match node {
        JoinTreeNode::Rtr(_) => {}
        JoinTreeNode::From(f) => {
            f.fromlist.iter_mut().for_each(|n| put_back(n, emptied, inside));
        }
        JoinTreeNode::Join(j) => {
            if is_emptied(j, emptied) {
                if let Some((right, quals)) = inside.pop() {
                    (j.rarg, j.quals) = (right, quals);
                }
            } else {
                put_back(&mut j.rarg, emptied, inside);
            }
            put_back(&mut j.larg, emptied, inside);
        }
    }
}

/// Removes conditions that have become constant true.
fn drop_true(from: &mut FromExpr) {
    let Some(quals) = from.quals.take() else { return };
    let mut parts = Vec::new();
    conjuncts(quals, &mut parts);
    parts.retain(|p| !matches!(p, Expr::Const(c) if !c.is_null() && c.value.as_ref().as_bool()));
    from.quals = conjunction(parts);
}
