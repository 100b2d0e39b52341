//! INSERT, UPDATE, DELETE. Counterpart: parser/analyze.c, parser/parse_target.c,
//! `transformOnConflictArbiter`.

use crate::relation::{Column, alias_of};
use crate::state::{Analyzer, ExprKind, Target};
use crate::target::entry;
use crate::ty;
use catalog::RelDesc as Relation;
use ids::{AttrNo, Oid, RelKind};
use parse::ast::{self, Node};
use pgerror::{Result, bail, pg_err};
use plan::expr::{Expr, Location, SubscriptingRef, TargetEntry, Var};
use plan::query::{
    Alias, CmdType, InferenceElem, OnConflictAction, OnConflictExpr, Override, Query, RteKind, acl,
};

/// A column that an INSERT names.
pub(crate) struct InsertColumn {
    pub(crate) name: String,
    pub(crate) number: AttrNo,
    indirection: Vec<Node>,
    location: i32,
}

impl Analyzer<'_> {
    /// Opens the target table and makes it the first range table entry. Counterpart:
    /// `setTargetTable`.
    pub(crate) fn target_table(
        &mut self,
        name: &ast::RangeVar,
        inh: bool,
        also_source: bool,
        perms: u32,
    ) -> Result<()> {
        if name.schemaname.is_none() && self.cat.transition_table(&name.relname).is_some() {
            bail!(
                FEATURE_NOT_SUPPORTED,
                "relation \"{}\" cannot be the target of a modifying statement",
                name.relname
            );
        }
        let relation = self.open_table(name, 3)?;
        self.check_has_rows(&relation, name)?;
        let alias = name.alias.as_deref().map(alias_of);
        let item = self.add_relation_rte(&relation, alias, inh, 3)?;
        let rte = self.level().rte_mut(item.rtindex);
        rte.required_perms = perms;
        rte.in_from_cl = false;
        if also_source {
            self.add_ns_item(item.clone(), true, true, true);
        }
        self.level().target = Some(Target { rtindex: item.rtindex, relation, nsitem: item });
        Ok(())
    }

    /// Notes that the statement inserts values into a column of the target.
    pub(crate) fn note_inserted(&mut self, number: AttrNo) {
        let rtindex = self.level_ref().target.as_ref().map_or(1, |t| t.rtindex);
        note(&mut self.level().rte_mut(rtindex).inserted_cols, number);
    }

    fn target_column(&mut self, name: &str, system: bool, location: i32) -> Result<AttrNo> {
        let Some(target) = self.level_ref().target.clone() else {
            bail!(INTERNAL_ERROR, "no target table")
        };
        if let Some(attribute) = target.relation.column(name) {
            return Ok(attribute.attnum);
        }
        if let Some((number, _)) = crate::relation::system_column(name).filter(|_| system) {
            return Ok(number);
        }
        let e = pg_err!(
            UNDEFINED_COLUMN,
            "column \"{name}\" of relation \"{}\" does not exist",
            target.relation.class.relname
        );
        Err(self.at(e, location))
    }

    pub(crate) fn insert_stmt(&mut self, s: &ast::InsertStmt) -> Result<Query> {
        let mut query = Query { command_type: CmdType::Insert, ..Query::default() };
        self.level().is_insert = true;
        if let Some(with) = &s.with_clause {
            self.with_clause(with, &mut query)?;
        }
        query.override_ = match s.overriding {
            ast::OverridingKind::NotSet => Override::NotSet,
            ast::OverridingKind::UserValue => Override::UserValue,
            ast::OverridingKind::SystemValue => Override::SystemValue,
        };
        let update = s
            .on_conflict_clause
            .as_ref()
            .is_some_and(|c| c.action == ast::OnConflictAction::Update);
        let perms = acl::INSERT | if update { acl::UPDATE } else { 0 };
        // The source cannot refer to the target table.
        let source = match &s.select_stmt {
            Some(Node::SelectStmt(select)) => Some(&**select),
            Some(_) => bail!(INTERNAL_ERROR, "unexpected source of INSERT"),
            None => None,
        };
        let plain_values = source.filter(|v| {
            !v.values_lists.is_empty()
                && v.sort_clause.is_empty()
                && v.limit_offset.is_none()
                && v.limit_count.is_none()
                && v.locking_clause.is_empty()
                && v.with_clause.is_none()
        });
        self.target_table(&s.relation, false, false, perms)?;
        let columns = self.insert_columns(&s.cols)?;
        let exprs: Vec<Expr> = match (source, plain_values) {
            (None, _) => Vec::new(),
            (Some(_), Some(values)) if values.values_lists.len() == 1 => {
                let list =
                    self.expression_list(&values.values_lists[0], ExprKind::ValuesSingle, true)?;
                self.insert_row(list, &columns, !s.cols.is_empty(), false)?
            }
            (Some(_), Some(values)) => self.insert_rows(values, &columns, !s.cols.is_empty())?,
            (Some(select), None) => {
                let node = Node::SelectStmt(Box::new(select.clone()));
                let sub = self.nested(|cx| {
                    cx.level().resolve_unknowns = false;
                    cx.statement(&node)
                })?;
                let described: Vec<TargetEntry> = sub.result_columns().cloned().collect();
                let alias = Alias { aliasname: "*SELECT*".into(), colnames: Vec::new() };
                let item = self.add_subquery_rte(sub, Some(alias), false, false)?;
                self.add_ns_item(item.clone(), true, false, false);
                let mut list = Vec::with_capacity(described.len());
                let mut open = Vec::new();
                for (i, t) in described.into_iter().enumerate() {
                    let literal = t.expr.type_oid() == ty::UNKNOWN
                        && matches!(t.expr, Expr::Const(_) | Expr::Param(_));
                    if let (true, Expr::Param(p)) = (literal, &t.expr) {
                        open.push((i, p.paramid));
                    }
                    list.push(if literal {
                        t.expr
                    } else {
                        Expr::Var(Var {
                            varno: item.rtindex,
                            varattno: (i + 1) as AttrNo,
                            vartype: t.expr.type_oid(),
                            vartypmod: t.expr.typmod(),
                            varcollid: t.expr.collation(),
                            varlevelsup: 0,
                            location: t.expr.location(),
                        })
                    });
                }
                let row = self.insert_row(list, &columns, !s.cols.is_empty(), false)?;
                self.decide_source_params(item.rtindex, &open)?;
                row
            }
        };
        let rtindex = self.level_ref().target.as_ref().map_or(1, |t| t.rtindex);
        for (e, column) in exprs.into_iter().zip(&columns) {
            query.target_list.push(entry(e, column.number, Some(column.name.clone()), false));
            note(&mut self.level().rte_mut(rtindex).inserted_cols, column.number);
        }
        query.result_relation = rtindex;
        // ON CONFLICT and RETURNING may refer to the target's columns.
        if (s.on_conflict_clause.is_some() || !s.returning_list.is_empty())
            && let Some(target) = self.level_ref().target.clone()
        {
            self.level().namespace.clear();
            self.add_ns_item(target.nsitem, false, true, true);
        }
        if let Some(clause) = &s.on_conflict_clause {
            query.on_conflict = Some(Box::new(self.on_conflict(clause)?));
        }
        query.returning_list = self.returning(&s.returning_list)?;
        self.finish_modification(query, None)
    }

    /// Sets the types of parameters in the target list of the source to those that the target
    /// columns have determined. `open` has the position in the target list and the number of each
    /// parameter.
    fn decide_source_params(&mut self, rtindex: i32, open: &[(usize, i32)]) -> Result<()> {
        for &(index, id) in open {
            let crate::state::Params::Variable(types) = &self.params else { return Ok(()) };
            let decided = types.get(id as usize - 1).copied().unwrap_or(ty::UNKNOWN);
            let collation = self.type_collation(decided)?;
            let rte = self.level().rte_mut(rtindex);
            let RteKind::Subquery { subquery, .. } = &mut rte.kind else { return Ok(()) };
            let mut shown = subquery.target_list.iter_mut().filter(|t| !t.resjunk);
            if let Some(Expr::Param(param)) = shown.nth(index).map(|t| &mut t.expr) {
                param.paramtype = decided;
                param.paramcollid = collation;
            }
        }
        Ok(())
    }

    pub(crate) fn finish_modification(
        &mut self,
        mut query: Query,
        qual: Option<Expr>,
    ) -> Result<Query> {
        self.finish(&mut query, qual);
        self.assign_query_collations(&mut query)?;
        Ok(query)
    }

    pub(crate) fn insert_columns(&mut self, cols: &[ast::ResTarget]) -> Result<Vec<InsertColumn>> {
        let Some(target) = self.level_ref().target.clone() else {
            bail!(INTERNAL_ERROR, "no target table")
        };
        if cols.is_empty() {
            return Ok(target
                .relation
                .attributes
                .iter()
                .filter(|a| !a.attisdropped)
                .map(|a| InsertColumn {
                    name: a.attname.to_string(),
                    number: a.attnum,
                    indirection: Vec::new(),
                    location: -1,
                })
                .collect());
        }
        let mut out: Vec<InsertColumn> = Vec::with_capacity(cols.len());
        for col in cols {
            let name = col.name.as_deref().unwrap_or("");
            let number = self.target_column(name, false, col.location)?;
            // A column may be named twice only for assignments to different fields or elements.
            let whole = col.indirection.is_empty();
            let again =
                out.iter().any(|c| c.number == number && (whole || c.indirection.is_empty()));
            if again {
                let e = pg_err!(DUPLICATE_COLUMN, "column \"{name}\" specified more than once");
                return Err(self.at(e, col.location));
            }
            out.push(InsertColumn {
                name: name.to_string(),
                number,
                indirection: col.indirection.clone(),
                location: col.location,
            });
        }
        Ok(out)
    }

    /// Coerces values to the types of the columns, or of the fields and elements that are assigned.
    /// With `strip` the result has the values alone, and the caller adds the nodes that assign to
    /// fields and elements.
    pub(crate) fn insert_row(
        &mut self,
        list: Vec<Expr>,
        columns: &[InsertColumn],
        named: bool,
        strip: bool,
    ) -> Result<Vec<Expr>> {
        if list.len() > columns.len() {
            let e = pg_err!(SYNTAX_ERROR, "INSERT has more expressions than target columns");
            return Err(self.at(e, &list[columns.len()]));
        }
        if named && list.len() < columns.len() {
            let e = pg_err!(SYNTAX_ERROR, "INSERT has more target columns than expressions");
            let e = match &list[..] {
                [Expr::Row(row)] if row.args.len() == columns.len() => e.hint(
                    "The insertion source is a row expression containing the same number of \
                     columns expected by the INSERT. Did you accidentally use extra parentheses?",
                ),
                _ => e,
            };
            return Err(self.at(e, columns[list.len()].location));
        }
        let mut out = Vec::with_capacity(list.len());
        for (e, column) in list.into_iter().zip(columns) {
            let location = if column.location >= 0 { column.location } else { e.location().0 };
            let value = self.assigned_expr(
                e,
                ExprKind::InsertTarget,
                &column.name,
                column.number,
                &column.indirection,
                location,
            )?;
            out.push(if strip { assigned_value(value) } else { value });
        }
        Ok(out)
    }

    /// VALUES with several rows becomes a range table entry.
    fn insert_rows(
        &mut self,
        values: &ast::SelectStmt,
        columns: &[InsertColumn],
        named: bool,
    ) -> Result<Vec<Expr>> {
        let mut rows: Vec<Vec<Expr>> = Vec::with_capacity(values.values_lists.len());
        let mut width = None;
        for list in &values.values_lists {
            let row = self.expression_list(list, ExprKind::Values, true)?;
            if *width.get_or_insert(row.len()) != row.len() {
                let e = pg_err!(SYNTAX_ERROR, "VALUES lists must all be the same length");
                let location = row.first().map_or(-1, |e| e.location().0);
                return Err(self.at(e, location));
            }
            let mut row = self.insert_row(row, columns, named, true)?;
            for e in &mut row {
                self.assign_collations(e)?;
            }
            rows.push(row);
        }
        let described: Vec<Column> = rows[0]
            .iter()
            .enumerate()
            .map(|(i, e)| Column {
                name: format!("column{}", i + 1),
                ty: e.type_oid(),
                typmod: e.typmod(),
                collation: Oid::INVALID,
                dropped: false,
            })
            .collect();
        let lateral = rows.iter().flatten().any(|e| crate::walk::contains_vars_of_level(e, 0));
        let item = self.add_values_rte(rows, described, None, lateral, true)?;
        self.add_ns_item(item.clone(), true, false, false);
        let list = self.expand_item(&item, 0, -1).into_iter().map(|(_, e)| e).collect();
        self.insert_row(list, columns, named, false)
    }

    fn on_conflict(&mut self, clause: &ast::OnConflictClause) -> Result<OnConflictExpr> {
        let Some(target) = self.level_ref().target.clone() else {
            bail!(INTERNAL_ERROR, "no target table")
        };
        let action = match clause.action {
            ast::OnConflictAction::Update => OnConflictAction::Update,
            _ => OnConflictAction::Nothing,
        };
        let mut out = OnConflictExpr {
            action,
            arbiter_elems: Vec::new(),
            arbiter_where: None,
            constraint: Oid::INVALID,
            on_conflict_set: Vec::new(),
            on_conflict_where: None,
            excl_rel_index: 0,
            excl_rel_tlist: Vec::new(),
        };
        if action == OnConflictAction::Update && clause.infer.is_none() {
            let e = pg_err!(
                SYNTAX_ERROR,
                "ON CONFLICT DO UPDATE requires inference specification or constraint name"
            )
            .hint("For example, ON CONFLICT (column_name).");
            return Err(self.at(e, clause.location));
        }
        if target.relation.class.oid < Oid::FIRST_NORMAL
            && target.relation.class.relnamespace == ty::PG_CATALOG
        {
            bail!(FEATURE_NOT_SUPPORTED, "ON CONFLICT is not supported with system catalog tables");
        }
        // Errors in the inference clause may suggest a column of EXCLUDED, so it is analysed after
        // EXCLUDED is added to the range table.
        let mut infer = clause.infer.as_ref();
        if action == OnConflictAction::Update {
            // EXCLUDED: the row proposed for insertion.
            let alias = Alias { aliasname: "excluded".into(), colnames: Vec::new() };
            let item = self.add_relation_rte(&target.relation, Some(alias), false, 3)?;
            let rte = self.level().rte_mut(item.rtindex);
            rte.required_perms = 0;
            rte.in_from_cl = false;
            if let RteKind::Relation { relkind, .. } = &mut rte.kind {
                *relkind = RelKind::CompositeType;
            }
            out.excl_rel_index = item.rtindex;
            out.excl_rel_tlist = excluded_columns(&target.relation, item.rtindex);
            if let Some(infer) = infer.take() {
                self.arbiter(infer, &target, &mut out)?;
            }
            self.add_ns_item(item, false, true, true);
            out.on_conflict_set = self.update_targets(&clause.target_list)?;
            out.on_conflict_where =
                self.where_clause(clause.where_clause.as_ref(), ExprKind::Where, "WHERE")?;
            // RETURNING does not see EXCLUDED.
            self.level().namespace.pop();
        }
        if let Some(infer) = infer {
            self.arbiter(infer, &target, &mut out)?;
        }
        Ok(out)
    }

    fn arbiter(
        &mut self,
        infer: &ast::InferClause,
        target: &Target,
        out: &mut OnConflictExpr,
    ) -> Result<()> {
        for elem in &infer.index_elems {
            let ordered = elem.ordering != ast::SortByDir::Default;
            if ordered || elem.nulls_ordering != ast::SortByNulls::Default {
                let what = if ordered { "ASC/DESC" } else { "NULLS FIRST/LAST" };
                let e = pg_err!(
                    INVALID_COLUMN_REFERENCE,
                    "{what} is not allowed in ON CONFLICT clause"
                );
                return Err(self.at(e, infer.location));
            }
            let node = match (&elem.expr, &elem.name) {
                (Some(e), _) => e.clone(),
                (None, Some(name)) => Node::ColumnRef(Box::new(ast::ColumnRef {
                    fields: vec![Node::String(name.clone())],
                    location: infer.location,
                })),
                (None, None) => bail!(
                    INTERNAL_ERROR,
                    "conflict target element has neither a name nor an expression"
                ),
            };
            let expr = self.expr_in(&node, ExprKind::IndexExpression)?;
            let infercollid = if elem.collation.is_empty() {
                Oid::INVALID
            } else {
                self.collation(&elem.collation, expr.location().0)?
            };
            let inferopclass = if elem.opclass.is_empty() {
                Oid::INVALID
            } else {
                self.opclass(ty::BTREE_AM, "btree", &elem.opclass)?
            };
            out.arbiter_elems.push(InferenceElem { expr, infercollid, inferopclass });
        }
        out.arbiter_where =
            self.where_clause(infer.where_clause.as_ref(), ExprKind::IndexPredicate, "WHERE")?;
        if let Some(name) = &infer.conname {
            let relid = target.relation.class.oid;
            let Some(constraint) = self.cat.constraint_named(relid, name)? else {
                let e = pg_err!(
                    UNDEFINED_OBJECT,
                    "constraint \"{name}\" for table \"{}\" does not exist",
                    target.relation.class.relname
                );
                return Err(e);
            };
            out.constraint = constraint.oid;
            // ON CONFLICT ON CONSTRAINT needs SELECT privilege on the columns of the constraint's
            // index.
            let rte = self.level().rte_mut(target.rtindex);
            rte.required_perms |= acl::SELECT;
            for key in constraint.keys {
                note(&mut rte.selected_cols, key);
            }
        }
        Ok(())
    }

    /// An operator class by name.
    pub fn opclass(&mut self, am: Oid, am_name: &str, names: &[ast::Name]) -> Result<Oid> {
        let (schema, name) = self.deconstruct(names)?;
        if let Some(schema) = schema {
            let namespace = self.namespace(schema)?;
            if let Some(row) = self.cat.opclass_named(am, name, namespace)? {
                return Ok(row.oid);
            }
        } else {
            for &namespace in self.cat.search_path()?.iter() {
                if let Some(row) = self.cat.opclass_named(am, name, namespace)? {
                    return Ok(row.oid);
                }
            }
        }
        Err(pg_err!(
            UNDEFINED_OBJECT,
            "operator class \"{}\" does not exist for access method \"{am_name}\"",
            crate::typename::dotted(names)
        ))
    }

    fn returning(&mut self, list: &[ast::ResTarget]) -> Result<Vec<TargetEntry>> {
        if list.is_empty() {
            return Ok(Vec::new());
        }
        let before = std::mem::replace(&mut self.level().next_resno, 1);
        let mut out = self.target_list(list, ExprKind::Returning)?;
        if out.is_empty() {
            let e = pg_err!(SYNTAX_ERROR, "RETURNING must have at least one column");
            return Err(self.at(e, list[0].location));
        }
        self.mark_origins(&mut out);
        self.resolve_unknowns(&mut out)?;
        self.level().next_resno = before;
        Ok(out)
    }

    pub(crate) fn update_stmt(&mut self, s: &ast::UpdateStmt) -> Result<Query> {
        let mut query = Query { command_type: CmdType::Update, ..Query::default() };
        if let Some(with) = &s.with_clause {
            self.with_clause(with, &mut query)?;
        }
        self.target_table(&s.relation, s.relation.inh, true, acl::UPDATE)?;
        self.transform_from_beside_target(&s.from_clause)?;
        let qual = self.where_clause(s.where_clause.as_ref(), ExprKind::Where, "WHERE")?;
        query.returning_list = self.returning(&s.returning_list)?;
        query.target_list = self.update_targets(&s.target_list)?;
        query.result_relation = self.level_ref().target.as_ref().map_or(1, |t| t.rtindex);
        self.finish_modification(query, qual)
    }

    /// FROM of UPDATE and USING of DELETE. Their functions and sub-selects must not refer to the
    /// target, not even with LATERAL; such a reference has its own error message.
    fn transform_from_beside_target(&mut self, from: &[Node]) -> Result<()> {
        for item in &mut self.level().namespace {
            item.lateral_only = true;
            item.lateral_ok = false;
        }
        let result = self.transform_from(from);
        for item in &mut self.level().namespace {
            item.lateral_only = false;
            item.lateral_ok = true;
        }
        result
    }

    pub(crate) fn update_targets(&mut self, list: &[ast::ResTarget]) -> Result<Vec<TargetEntry>> {
        let Some(target) = self.level_ref().target.clone() else {
            bail!(INTERNAL_ERROR, "no target table")
        };
        let mut out = self.target_list(list, ExprKind::UpdateSource)?;
        let natts = target.relation.attributes.len() as AttrNo;
        // The hidden sub-selects of multiple assignments are numbered after all columns.
        let mut next = natts + 1;
        let mut origin = list.iter();
        for t in &mut out {
            if t.resjunk {
                t.resno = next;
                t.resname = None;
                next += 1;
                continue;
            }
            let Some(raw) = origin.next() else {
                bail!(INTERNAL_ERROR, "UPDATE target count mismatch")
            };
            let name = raw.name.as_deref().unwrap_or("");
            let number = self.target_column(name, true, raw.location)?;
            let e = crate::target::take(&mut t.expr);
            t.expr = self.assigned_expr(
                e,
                ExprKind::UpdateTarget,
                name,
                number,
                &raw.indirection,
                raw.location,
            )?;
            t.resno = number;
            t.resname = Some(name.to_string());
            note(&mut self.level().rte_mut(target.rtindex).updated_cols, number);
        }
        Ok(out)
    }

    pub(crate) fn delete_stmt(&mut self, s: &ast::DeleteStmt) -> Result<Query> {
        let mut query = Query { command_type: CmdType::Delete, ..Query::default() };
        if let Some(with) = &s.with_clause {
            self.with_clause(with, &mut query)?;
        }
        self.target_table(&s.relation, s.relation.inh, true, acl::DELETE)?;
        self.transform_from_beside_target(&s.using_clause)?;
        let qual = self.where_clause(s.where_clause.as_ref(), ExprKind::Where, "WHERE")?;
        query.returning_list = self.returning(&s.returning_list)?;
        query.result_relation = self.level_ref().target.as_ref().map_or(1, |t| t.rtindex);
        self.finish_modification(query, qual)
    }
}

/// Removes the nodes that assign to a field or element; the result is the assigned value.
fn assigned_value(mut e: Expr) -> Expr {
    loop {
        e = match e {
            Expr::CoerceToDomain(c) if is_assignment(&c.arg) => c.arg,
            Expr::FieldStore(mut f) if f.newvals.len() == 1 => f.newvals.remove(0),
            Expr::SubscriptingRef(s) => match *s {
                SubscriptingRef { refassgnexpr: Some(value), .. } => value,
                other => return Expr::SubscriptingRef(Box::new(other)),
            },
            other => return other,
        };
    }
}

fn is_assignment(e: &Expr) -> bool {
    match e {
        Expr::FieldStore(_) => true,
        Expr::SubscriptingRef(s) => s.refassgnexpr.is_some(),
        _ => false,
    }
}

fn note(list: &mut Vec<AttrNo>, number: AttrNo) {
    if !list.contains(&number) {
        list.push(number);
    }
}

/// The columns of EXCLUDED and its whole-row reference. Counterpart:
/// `BuildOnConflictExcludedTargetlist`.
pub(crate) fn excluded_columns(relation: &Relation, rti: i32) -> Vec<TargetEntry> {
    let mut out = Vec::with_capacity(relation.attributes.len() + 1);
    for attribute in &relation.attributes {
        let e = if attribute.attisdropped {
            crate::coerce::null_const(ty::INT4, 4, true)
        } else {
            Expr::Var(Var {
                varno: rti,
                varattno: attribute.attnum,
                vartype: attribute.atttypid,
                vartypmod: attribute.atttypmod,
                varcollid: attribute.attcollation,
                varlevelsup: 0,
                location: Location::UNKNOWN,
            })
        };
        out.push(entry(e, attribute.attnum, Some(attribute.attname.to_string()), false));
    }
    let whole = Expr::Var(Var {
        varno: rti,
        varattno: 0,
        vartype: relation.class.reltype,
        vartypmod: -1,
        varcollid: Oid::INVALID,
        varlevelsup: 0,
        location: Location::UNKNOWN,
    });
    out.push(entry(whole, 0, None, true));
    out
}
