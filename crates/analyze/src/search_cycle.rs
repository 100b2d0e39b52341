//! SEARCH and CYCLE of a recursive WITH query. The clauses are expanded into the query: both terms
//! are wrapped in a query that computes the sequence, mark and path columns. Counterpart:
//! rewrite/rewriteSearchCycle.c.

use crate::relation::new_rte;
use crate::state::Analyzer;
use crate::ty;
use ids::builtin::operator::RECORD_EQ;
use ids::builtin::proc::{ARRAY_CAT, INT8INC};
use ids::{AttrNo, Oid};
use pgerror::{Result, bail, pg_err};
use plan::expr::{
    ArrayExpr, CaseExpr, CaseWhen, CoercionForm, Const, Expr, FieldSelect, FuncExpr, Location,
    OpExpr, RowExpr, ScalarArrayOpExpr, TargetEntry, Var,
};
use plan::levels::shift_levels_query;
use plan::query::{
    Alias, CmdType, CommonTableExpr, FromExpr, JoinTreeNode, Query, RteKind, SetOpNode,
};
use stdx::Nested;

/// An added column of the WITH query.
struct Extra {
    name: String,
    /// Its expression in the non-recursive term.
    first: Expr,
    /// Its expression in the recursive term, which has the previous row.
    next: Expr,
}

/// Names, types, modifiers and collations of the columns that the clauses append to those of the
/// WITH query.
pub fn extra_columns(cte: &CommonTableExpr) -> Vec<(String, Oid, i32, Oid)> {
    let mut out = Vec::new();
    if let Some(s) = &cte.search {
        let ty = if s.breadth_first { ty::RECORD } else { ty::RECORD_ARRAY };
        out.push((s.seq_column.clone(), ty, -1, Oid::INVALID));
    }
    if let Some(c) = &cte.cycle {
        out.push((c.mark_column.clone(), c.mark_type, c.mark_typmod, c.mark_collation));
        out.push((c.path_column.clone(), ty::RECORD_ARRAY, -1, Oid::INVALID));
    }
    out
}

/// `ROW(…)` of these columns of range table entry 1, after the value `before` if there is one.
fn row(cte: &CommonTableExpr, columns: &[Var], names: &[String], before: Option<Expr>) -> Expr {
    // Analysis has checked the names.
    let index_of = |n: &String| cte.colnames.iter().position(|c| c == n).unwrap_or_default();
    let column = |n: &String| Expr::Var(columns[index_of(n)].clone());
    let own = before.iter().map(|_| "*DEPTH*".to_owned());
    Expr::Row(Box::new(RowExpr {
        colnames: own.chain(names.iter().cloned()).collect(),
        args: before.clone().into_iter().chain(names.iter().map(column)).collect(),
        row_typeid: ty::RECORD,
        row_format: CoercionForm::ImplicitCast,
        location: Location::UNKNOWN,
    }))
}

fn array_of(row: Expr) -> Expr {
    Expr::Array(Box::new(ArrayExpr {
        array_typeid: ty::RECORD_ARRAY,
        array_collid: Oid::INVALID,
        element_typeid: ty::RECORD,
        elements: vec![row],
        multidims: false,
        location: Location::UNKNOWN,
    }))
}

fn call(funcid: Oid, result: Oid, args: Vec<Expr>) -> Expr {
    Expr::FuncExpr(Box::new(FuncExpr {
        funcid,
        funcresulttype: result,
        funcretset: false,
        funcvariadic: false,
        funcformat: CoercionForm::ExplicitCall,
        funccollid: Oid::INVALID,
        inputcollid: Oid::INVALID,
        args,
        location: Location::UNKNOWN,
    }))
}

fn column(number: usize, ty: Oid, typmod: i32, collation: Oid) -> Var {
    Var {
        varno: 1,
        varattno: number as AttrNo,
        vartype: ty,
        vartypmod: typmod,
        varcollid: collation,
        varlevelsup: 0,
        location: Location::UNKNOWN,
    }
}

/// The expressions of the added columns in the non-recursive and the recursive term. `old` has the
/// added columns of the previous row.
fn extras(cte: &CommonTableExpr, columns: &[Var], old: &[Var]) -> Vec<Extra> {
    let mut out = Vec::new();
    let mut old = old.iter().cloned().map(Expr::Var);
    let mut old =
        || old.next().unwrap_or_else(|| crate::coerce::null_const(ty::UNKNOWN, -2, false));
    if let Some(s) = &cte.search {
        let before = old();
        let (first, next) = match s.breadth_first {
            true => {
                let zero = Expr::Const(Const {
                    consttype: ty::INT8,
                    consttypmod: -1,
                    constcollid: Oid::INVALID,
                    constlen: 8,
                    constbyval: true,
                    value: types::Datum::int8(0),
                    location: Location::UNKNOWN,
                });
                let depth = Expr::FieldSelect(Box::new(FieldSelect {
                    arg: before,
                    fieldnum: 1,
                    resulttype: ty::INT8,
                    resulttypmod: -1,
                    resultcollid: Oid::INVALID,
                }));
                let deeper = call(INT8INC, ty::INT8, vec![depth]);
                (
                    row(cte, columns, &s.col_list, Some(zero)),
                    row(cte, columns, &s.col_list, Some(deeper)),
                )
            }
            false => {
                let here = array_of(row(cte, columns, &s.col_list, None));
                let longer = call(ARRAY_CAT, ty::RECORD_ARRAY, vec![before, here.clone()]);
                (here, longer)
            }
        };
        out.push(Extra { name: s.seq_column.clone(), first, next });
    }
    if let Some(c) = &cte.cycle {
        let (_, path) = (old(), old());
        let here = row(cte, columns, &c.col_list, None);
        let in_path = Expr::ScalarArrayOp(Box::new(ScalarArrayOpExpr {
            opno: RECORD_EQ,
            opfuncid: Oid::INVALID,
            hashfuncid: Oid::INVALID,
            negfuncid: Oid::INVALID,
            use_or: true,
            inputcollid: Oid::INVALID,
            args: vec![here.clone(), path.clone()],
            location: Location::UNKNOWN,
        }));
        let mark = Expr::Case(Box::new(CaseExpr {
            casetype: c.mark_type,
            casecollid: c.mark_collation,
            arg: None,
            args: vec![CaseWhen {
                expr: in_path,
                result: c.mark_value.clone(),
                location: Location::UNKNOWN,
            }],
            defresult: Some(c.mark_default.clone()),
            location: Location::UNKNOWN,
        }));
        out.push(Extra { name: c.mark_column.clone(), first: c.mark_default.clone(), next: mark });
        let longer = call(ARRAY_CAT, ty::RECORD_ARRAY, vec![path, array_of(here.clone())]);
        out.push(Extra { name: c.path_column.clone(), first: array_of(here), next: longer });
    }
    out
}

/// Wraps a term in a query that returns the term's columns and the added ones.
fn wrap_term(
    name: &str,
    part: Query,
    columns: &[Var],
    names: &[String],
    added: Vec<(String, Expr)>,
    quals: Option<Expr>,
) -> Query {
    let mut part = part;
    shift_levels_query(&mut part, 1, 1);
    let alias = Alias { aliasname: name.to_owned(), colnames: names.to_vec() };
    let kind = RteKind::Subquery {
        subquery: Nested::new(part),
        security_barrier: false,
        relid: Oid::INVALID,
    };
    let own = columns.iter().zip(names).map(|(v, n)| (n.clone(), Expr::Var(v.clone())));
    let targets = own.chain(added).enumerate();
    Query {
        command_type: CmdType::Select,
        can_set_tag: true,
        rtable: vec![new_rte(kind, Some(alias.clone()), alias)],
        jointree: FromExpr { fromlist: vec![JoinTreeNode::Rtr(1)], quals },
        target_list: targets
            .map(|(i, (n, e))| crate::target::entry(e, i as AttrNo + 1, Some(n), false))
            .collect(),
        ..Query::default()
    }
}

/// Makes the recursive term pass the added columns of the previous row through: those of its range
/// table entry `own`, after `count` columns. Returns the columns.
fn pass_through(
    next: &mut Query,
    own: i32,
    count: usize,
    added: &[(String, Oid, i32, Oid)],
) -> Vec<Var> {
    let mut old = Vec::with_capacity(added.len());
    for (i, (name, ty, typmod, collation)) in added.iter().enumerate() {
        let var = column(count + i + 1, *ty, *typmod, *collation);
        old.push(var.clone());
        let resno = next.target_list.len() as AttrNo + 1;
        let var = Expr::Var(Var { varno: own, ..var });
        let e = crate::target::entry(var, resno, Some(name.clone()), false);
        // Before the hidden (junk) columns.
        let index = next.target_list.iter().position(|t| t.resjunk);
        next.target_list.insert(index.unwrap_or(next.target_list.len()), e);
    }
    for (i, t) in next.target_list.iter_mut().enumerate() {
        t.resno = i as AttrNo + 1;
    }
    old
}

/// The condition that a row of the previous step closes no cycle. `old`: the added columns.
fn stop_condition(cte: &CommonTableExpr, old: &[Var]) -> Option<Expr> {
    let cycle = cte.cycle.as_ref()?;
    let mark = old[usize::from(cte.search.is_some())].clone();
    Some(Expr::OpExpr(Box::new(OpExpr {
        opno: cycle.mark_neop,
        opfuncid: Oid::INVALID,
        opresulttype: ty::BOOL,
        opretset: false,
        opcollid: Oid::INVALID,
        inputcollid: cycle.mark_collation,
        args: vec![Expr::Var(mark), cycle.mark_value.clone()],
        location: Location::UNKNOWN,
    })))
}

impl Analyzer<'_> {
    /// Expands SEARCH and CYCLE of the WITH query into its query and removes the clauses.
    pub(crate) fn expand_search_cycle(&mut self, cte: &mut CommonTableExpr) -> Result<()> {
        if cte.search.is_none() && cte.cycle.is_none() {
            return Ok(());
        }
        let count = cte.colnames.len();
        let added = extra_columns(cte);
        let query = &mut *cte.query;
        let Some(tree) = query.set_operations.as_deref_mut() else {
            bail!(INTERNAL_ERROR, "recursive query without UNION")
        };
        let SetOpNode::Op(op) = tree else {
            bail!(INTERNAL_ERROR, "recursive query without UNION")
        };
        let (SetOpNode::Leaf(left), SetOpNode::Leaf(right)) = (&*op.larg, &*op.rarg) else {
            bail!(INTERNAL_ERROR, "SEARCH or CYCLE over a tree of set operations")
        };
        let (left, right) = (*left, *right);
        let take = |query: &mut Query, rti: i32| match &mut query.rtable[rti as usize - 1].kind {
            RteKind::Subquery { subquery, .. } => Ok(std::mem::take(&mut **subquery)),
            _ => Err(pgerror::PgError::internal("term of a recursive query is not a subquery")),
        };
        let term_columns = |part: &Query| -> Vec<Var> {
            let list = part.result_columns().enumerate();
            let var = |(i, t): (usize, &TargetEntry)| {
                column(i + 1, t.expr.type_oid(), t.expr.typmod(), t.expr.collation())
            };
            list.map(var).collect()
        };
        for (_, ty, typmod, collation) in &added {
            op.col_types.push(*ty);
            op.col_typmods.push(*typmod);
            op.col_collations.push(*collation);
            if !op.all {
                let ops = self.need_sort_operators(*ty, false, true, false)?;
                op.group_clauses.push(ops.set_operation_clause(*ty, true));
            }
        }
        let first = take(&mut cte.query, left)?;
        let mut next = take(&mut cte.query, right)?;
        // The recursive term passes the added columns of the previous row through.
        let own = next.rtable.iter().position(|r| {
            matches!(&r.kind, RteKind::Cte { ctename, self_reference: true, .. }
                if *ctename == cte.ctename)
        });
        let Some(own) = own else {
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{}\" must \
                 be at the top level of its right-hand SELECT",
                cte.ctename
            ));
        };
        let first_columns = term_columns(&first);
        let mut next_columns = term_columns(&next);
        let old = pass_through(&mut next, own as i32 + 1, count, &added);
        let stop = stop_condition(cte, &old);
        let names = cte.colnames.clone();
        let start = extras(cte, &first_columns, &old);
        let start = start.into_iter().map(|x| (x.name, x.first)).collect();
        let follow = extras(cte, &next_columns, &old);
        let follow = follow.into_iter().map(|x| (x.name, x.next)).collect();
        next_columns.truncate(count);
        let mut next_names = names.clone();
        next_names.extend(added.iter().map(|a| a.0.clone()));
        let first = wrap_term("*TLOCRN*", first, &first_columns, &names, start, None);
        let mut next = wrap_term("*TROCRN*", next, &next_columns, &names, follow, stop);
        next.rtable[0].eref.colnames.clone_from(&next_names);
        next.rtable[0].alias = Some(next.rtable[0].eref.clone());
        let query = &mut *cte.query;
        for (rti, part) in [(left, first), (right, next)] {
            let rte = &mut query.rtable[rti as usize - 1];
            rte.eref.colnames.extend(added.iter().map(|a| a.0.clone()));
            if let RteKind::Subquery { subquery, .. } = &mut rte.kind {
                **subquery = part;
            }
        }
        for (i, (name, ty, typmod, collation)) in added.into_iter().enumerate() {
            let mut var = column(count + i + 1, ty, typmod, collation);
            var.varno = left;
            let resno = query.target_list.len() as AttrNo + 1;
            let e = crate::target::entry(Expr::Var(var), resno, Some(name.clone()), false);
            query.target_list.push(e);
            cte.colnames.push(name);
            cte.coltypes.push(ty);
            cte.coltypmods.push(typmod);
            cte.colcollations.push(collation);
        }
        cte.search = None;
        cte.cycle = None;
        Ok(())
    }
}
