//! Joins in FROM: the columns of a join, USING and NATURAL, and what names are visible in and above
//! it. Counterpart: parser/parse_clause.c, `transformFromClauseItem`.

use crate::coerce::{Context, relabel};
use crate::expr::op_name;
use crate::from::{FromItem, lateral_state};
use crate::relation::{JoinColumns, alias_of};
use crate::state::{Analyzer, ExprKind, NsColumn, NsItem};
use ids::Oid;
use parse::ast;
use pgerror::{Result, bail, pg_err};
use plan::expr::{BoolExpr, BoolOp, CoalesceExpr, CoercionForm, Expr, Location, Var};
use plan::query::{Alias, JoinExpr, JoinTreeNode, JoinType};

/// The columns that USING or NATURAL merges: their indexes in both sides.
#[derive(Default)]
struct MergedColumns {
    left: Vec<usize>,
    right: Vec<usize>,
}

impl Analyzer<'_> {
    pub(crate) fn join_expr(&mut self, n: &ast::JoinExpr) -> Result<FromItem> {
        let jointype = join_type(n)?;
        let (left, right) = self.join_sides(n, jointype)?;
        let using = using_names(n, &left.item, &right.item);
        let mut columns = JoinColumns::default();
        let mut merged = MergedColumns::default();
        let mut quals = None;
        if n.is_natural || !using.is_empty() {
            let sides = (&left.item, &right.item);
            let pairs = self.merge_columns(jointype, &using, sides, &mut merged, &mut columns)?;
            quals = self.using_condition(pairs)?;
        }
        columns.merged = columns.names.len();
        self.add_columns_of_side(&left.item, &merged.left, &mut columns, |c| &mut c.left);
        self.add_columns_of_side(&right.item, &merged.right, &mut columns, |c| &mut c.right);

        let mut namespace = left.namespace;
        namespace.extend(right.namespace);
        if let Some(on) = &n.quals {
            lateral_state(&mut namespace, false, true);
            let before = std::mem::replace(&mut self.level().namespace, namespace.clone());
            let result = self.where_clause(Some(on), ExprKind::JoinOn, "JOIN/ON");
            self.level().namespace = before;
            quals = result?;
        }
        let alias = n.alias.as_deref().map(alias_of);
        let using_alias = n.join_using_alias.as_deref().map(alias_of);
        let using_alias = using_alias.map(|a| Alias {
            aliasname: a.aliasname,
            colnames: columns.names[..columns.merged].to_vec(),
        });
        let mut item = self.add_join_rte(jointype, columns, using_alias.clone(), alias.clone())?;
        for (i, column) in item.columns.iter_mut().enumerate() {
            // Tables below a join with an alias cannot be referenced by name. Stored queries must
            // not refer to them either.
            if column.varno == 0 || alias.is_some() {
                column.varno = item.rtindex;
                column.varattno = i as i16 + 1;
            }
        }
        let node = JoinTreeNode::Join(Box::new(JoinExpr {
            jointype,
            is_natural: n.is_natural,
            larg: left.node,
            rarg: right.node,
            using_clause: using.iter().map(|u| u.to_string()).collect(),
            join_using_alias: using_alias.clone(),
            quals,
            alias: alias.clone(),
            rtindex: item.rtindex,
        }));
        let namespace = self.join_namespace(&mut item, namespace, using_alias, alias.is_some())?;
        Ok(FromItem { node, item, namespace })
    }

    /// Both sides of a join. The right side may refer to the left one with LATERAL, in the join
    /// types whose left side is the outer one.
    fn join_sides(
        &mut self,
        n: &ast::JoinExpr,
        jointype: JoinType,
    ) -> Result<(FromItem, FromItem)> {
        let left = self.transform_from_item(&n.larg)?;
        let mut visible = left.namespace.clone();
        lateral_state(&mut visible, true, matches!(jointype, JoinType::Inner | JoinType::Left));
        let before = self.level_ref().namespace.len();
        self.level().namespace.append(&mut visible);
        let right = self.transform_from_item(&n.rarg);
        self.level().namespace.truncate(before);
        let right = right?;
        self.check_namespace_conflicts(&left.namespace, &right.namespace)?;
        Ok((left, right))
    }

    /// Adds the merged columns; returns the pairs of columns that are equal.
    fn merge_columns(
        &mut self,
        jointype: JoinType,
        using: &[ast::Name],
        (left, right): (&NsItem, &NsItem),
        merged: &mut MergedColumns,
        columns: &mut JoinColumns,
    ) -> Result<Vec<(Var, Var)>> {
        let mut pairs = Vec::new();
        for (i, name) in using.iter().enumerate() {
            if using[..i].contains(name) {
                return Err(pg_err!(
                    DUPLICATE_COLUMN,
                    "column name \"{name}\" appears more than once in USING clause"
                ));
            }
            let l = using_column(left, name, "left")?;
            let r = using_column(right, name, "right")?;
            merged.left.push(l);
            merged.right.push(r);
            let l_var = self.var(&left.columns[l], 0, -1);
            let r_var = self.var(&right.columns[r], 0, -1);
            self.mark_selected(&l_var);
            self.mark_selected(&r_var);
            // The common type is found before the operator is looked up.
            let value =
                self.merged_column(jointype, Expr::Var(l_var.clone()), Expr::Var(r_var.clone()))?;
            let column = match &value {
                Expr::Var(v) if *v == l_var => left.columns[l].clone(),
                Expr::Var(v) if *v == r_var => right.columns[r].clone(),
                // A computed column of the join; its range table index is filled in later.
                other => NsColumn {
                    varno: 0,
                    varattno: (columns.columns.len() + 1) as i16,
                    vartype: other.type_oid(),
                    vartypmod: other.typmod(),
                    varcollid: other.collation(),
                    hidden: false,
                },
            };
            columns.names.push(name.to_string());
            columns.columns.push(column);
            columns.aliasvars.push(value);
            columns.left.push((l + 1) as i32);
            columns.right.push((r + 1) as i32);
            pairs.push((l_var, r_var));
        }
        Ok(pairs)
    }

    /// The condition that the columns of each pair are equal.
    fn using_condition(&mut self, pairs: Vec<(Var, Var)>) -> Result<Option<Expr>> {
        let mut parts = Vec::with_capacity(pairs.len());
        for (l, r) in pairs {
            let e = self.with_kind(ExprKind::JoinUsing, |cx| {
                cx.make_op(&op_name("="), Some(Expr::Var(l)), Expr::Var(r), -1)
            })?;
            parts.push(self.coerce_to_boolean(e, "JOIN/USING")?);
        }
        let mut quals = match parts.len() {
            0 => None,
            1 => parts.pop(),
            _ => Some(Expr::Bool(Box::new(BoolExpr {
                boolop: BoolOp::And,
                args: parts,
                location: Location::UNKNOWN,
            }))),
        };
        if let Some(quals) = &mut quals {
            self.assign_collations(quals)?;
        }
        Ok(quals)
    }

    /// Adds the columns of one side that are not merged; `own` are their numbers in that side.
    fn add_columns_of_side(
        &mut self,
        item: &NsItem,
        merged: &[usize],
        columns: &mut JoinColumns,
        own: fn(&mut JoinColumns) -> &mut Vec<i32>,
    ) {
        for (i, (name, column)) in item.colnames.iter().zip(&item.columns).enumerate() {
            if merged.contains(&i) || column.varno == 0 {
                continue;
            }
            columns.names.push(name.clone());
            columns.columns.push(column.clone());
            columns.aliasvars.push(Expr::Var(self.var(column, 0, -1)));
            own(columns).push((i + 1) as i32);
        }
    }

    /// The namespace above a join, from that of its sides. An alias hides all items within. Without
    /// one, the items keep their names, but their columns are found through the join.
    fn join_namespace(
        &mut self,
        item: &mut NsItem,
        mut namespace: Vec<NsItem>,
        using_alias: Option<Alias>,
        has_alias: bool,
    ) -> Result<Vec<NsItem>> {
        if let Some(using_alias) = using_alias {
            let mut merged = item.clone();
            merged.columns.truncate(using_alias.colnames.len());
            merged.name = using_alias.aliasname;
            merged.colnames = using_alias.colnames;
            merged.rel_visible = true;
            merged.cols_visible = false;
            self.check_namespace_conflicts(&namespace, std::slice::from_ref(&merged))?;
            namespace.push(merged);
        }
        if has_alias {
            namespace.clear();
        }
        for inner in &mut namespace {
            inner.cols_visible = false;
        }
        item.rel_visible = has_alias;
        item.cols_visible = true;
        namespace.push(item.clone());
        Ok(namespace)
    }

    /// The merged column of USING. Counterpart: `buildMergedJoinVar`.
    fn merged_column(&mut self, jointype: JoinType, left: Expr, right: Expr) -> Result<Expr> {
        let both = [left, right];
        let common = self.select_common_type(&both, Some("JOIN/USING"))?;
        let typmod = Self::common_typmod(&both, common);
        let mut sides = Vec::with_capacity(2);
        for side in both {
            let (from, from_typmod) = (side.type_oid(), side.typmod());
            sides.push(if from != common {
                self.coerce_type(
                    side,
                    common,
                    typmod,
                    Context::Implicit,
                    CoercionForm::ImplicitCast,
                    Location::UNKNOWN,
                )?
            } else if from_typmod != typmod {
                relabel(side, common, typmod, CoercionForm::ImplicitCast, Location::UNKNOWN)
            } else {
                side
            });
        }
        let (Some(right), Some(left)) = (sides.pop(), sides.pop()) else {
            bail!(INTERNAL_ERROR, "merged join column without a left or right side")
        };
        let mut merged = match jointype {
            JoinType::Right => right,
            JoinType::Full => Expr::Coalesce(Box::new(CoalesceExpr {
                coalescetype: common,
                coalescecollid: Oid::INVALID,
                args: vec![left, right],
                location: Location::UNKNOWN,
            })),
            // Both sides are equal; a side without a conversion is preferred.
            JoinType::Inner if !matches!(left, Expr::Var(_)) && matches!(right, Expr::Var(_)) => {
                right
            }
            _ => left,
        };
        self.assign_collations(&mut merged)?;
        Ok(merged)
    }
}

fn join_type(n: &ast::JoinExpr) -> Result<JoinType> {
    Ok(match n.jointype {
        ast::JoinType::Inner => JoinType::Inner,
        ast::JoinType::Left => JoinType::Left,
        ast::JoinType::Full => JoinType::Full,
        ast::JoinType::Right => JoinType::Right,
        _ => bail!(INTERNAL_ERROR, "unexpected kind of join"),
    })
}

/// The names of the columns to merge.
fn using_names(n: &ast::JoinExpr, left: &NsItem, right: &NsItem) -> Vec<ast::Name> {
    if !n.is_natural {
        return n.using_clause.clone();
    }
    let shared = |name: &&String| !name.is_empty() && right.colnames.contains(name);
    left.colnames.iter().filter(shared).map(|c| c.as_str().into()).collect()
}

fn using_column(item: &NsItem, name: &str, side: &str) -> Result<usize> {
    let mut hits = (0..item.colnames.len()).filter(|&i| item.colnames[i] == name);
    let Some(first) = hits.next() else {
        return Err(pg_err!(
            UNDEFINED_COLUMN,
            "column \"{name}\" specified in USING clause does not exist in {side} table"
        ));
    };
    if hits.next().is_some() {
        return Err(pg_err!(
            AMBIGUOUS_COLUMN,
            "common column name \"{name}\" appears more than once in {side} table"
        ));
    }
    Ok(first)
}
