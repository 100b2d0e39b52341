//! Equivalence classes of columns: adds the equalities between all pairs of a class, so that each
//! pair is available as a join condition. Counterpart: equivclass.c
//! (`generate_join_implied_equalities`).
//!
//! The columns of a class that belong to a joined set are equal there. So a join of two sets must
//! test only one pair of each class that has columns on both sides.

use crate::constants::{add, is_column};
use crate::state::{Planner, PlannerInfo};
use pgerror::Result;
use plan::expr::Expr;
use querytree::path::{MatchedQual, Ordered, PathKey};
use querytree::relids::Relids;
use querytree::vars::relids_of;
use std::rc::Rc;

/// The number of pairs is quadratic. Larger classes keep only the conditions of the query.
const COLUMNS_MAX: usize = 16;

impl Planner<'_> {
    /// Adds the implied equalities between columns to the conditions. The pairs of a class are in
    /// the order of its columns, so that the first pair across a join has the first column of each
    /// side.
    pub(crate) fn add_class_equalities(
        &mut self,
        root: &mut PlannerInfo,
        quals: Vec<Expr>,
    ) -> Result<Vec<Expr>> {
        let mut classes = Vec::new();
        let mut rest = Vec::with_capacity(quals.len());
        for q in &quals {
            match self.equality(q)? {
                // By another collation, different texts may be equal.
                Some(op)
                    if op.args.iter().all(is_column)
                        && op.args.iter().all(|a| a.collation() == op.inputcollid) =>
                {
                    add(&mut classes, op, q);
                }
                _ => rest.push(q.clone()),
            }
        }
        let spread = classes.iter().any(|c| c.equalities.len() >= 2);
        for class in classes {
            let mut columns: Vec<&Expr> = Vec::new();
            for equality in &class.equalities {
                let Expr::OpExpr(op) = equality else { continue };
                for a in &op.args {
                    if !columns.contains(&a) {
                        columns.push(a);
                    }
                }
            }
            if columns.len() > COLUMNS_MAX {
                rest.extend(class.equalities);
                continue;
            }
            let number = root.class_count;
            root.class_count += 1;
            root.class_columns.extend(columns.iter().map(|c| ((*c).clone(), number)));
            if class.equalities.len() < 2 {
                rest.extend(class.equalities);
                continue;
            }
            for (i, a) in columns.iter().enumerate() {
                for b in &columns[i + 1..] {
                    let written = class.equalities.iter().find(|t| is_between(t, a, b)).cloned();
                    let pair = match written {
                        Some(pair) => pair,
                        None => self.equal(class.opno, class.collation, a, b)?,
                    };
                    root.class_equalities.push((pair.clone(), number));
                    rest.push(pair);
                }
            }
        }
        Ok(if spread { rest } else { quals })
    }
}

fn is_between(equality: &Expr, a: &Expr, b: &Expr) -> bool {
    let Expr::OpExpr(op) = equality else { return false };
    matches!(op.args.as_slice(), [x, y] if (x == a && y == b) || (x == b && y == a))
}

impl PlannerInfo {
    /// The class of an equality between two of its columns.
    pub(crate) fn class_of_equality(&self, q: &Expr) -> Option<usize> {
        let of_parents = self.over_parents(q);
        let q = of_parents.as_ref().unwrap_or(q);
        self.class_equalities.iter().find(|(pair, _)| pair == q).map(|(_, number)| *number)
    }

    /// The class of a column.
    pub(crate) fn column_class(&self, e: &Expr) -> Option<usize> {
        let of_parents = self.over_parents(e);
        let e = of_parents.as_ref().unwrap_or(e);
        self.class_columns.iter().find(|(column, _)| column == e).map(|(_, number)| *number)
    }

    pub(crate) fn ordered(&self, e: &Rc<Expr>) -> Ordered {
        Ordered { expr: e.clone(), class: self.column_class(e) }
    }

    /// Sets the classes of sort keys.
    pub(crate) fn classify(&self, order: &mut [PathKey]) {
        order.iter_mut().for_each(|k| k.class = self.column_class(&k.expr));
    }

    /// Removes all but the first condition of each class.
    pub(crate) fn first_of_classes(&self, quals: &mut Vec<Expr>) {
        if self.class_equalities.is_empty() {
            return;
        }
        let mut seen = Vec::new();
        quals.retain(|q| match self.class_of_equality(q) {
            Some(class) if seen.contains(&class) => false,
            Some(class) => {
                seen.push(class);
                true
            }
            None => true,
        });
    }

    /// True if an index scan of an inner side tests a condition of this class with a column of
    /// `outer`.
    pub(crate) fn class_is_tested_by(
        &self,
        quals: &[MatchedQual],
        outer: &Relids,
        class: usize,
    ) -> bool {
        quals.iter().any(|m| {
            !m.lossy && m.class == Some(class) && !relids_of(&m.original).is_disjoint(outer)
        })
    }
}
