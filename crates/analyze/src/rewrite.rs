//! The rewriter, between analysis and planning: fills in column defaults of INSERT and UPDATE,
//! checks their targets and replaces views by their queries.
//!
//! Counterpart: rewrite/rewriteHandler.c. Rules other than a view's SELECT rule are refused.

use crate::coerce::{Context, null_const};
use crate::lookup::Lookup;
use crate::state::{Analyzer, Params};
use crate::{stored, ty, updatable};
use catalog::RelDesc as Relation;
use catalog::rows::PgAttribute;
use catalog::unsupported::Change;
use ids::code::{ColumnGenerated, ColumnIdentity, TypType};
use ids::{AttrNo, Oid, RelKind};
use pgerror::{Result, bail, pg_err};
use plan::expr::{CoercionForm, Const, Expr, Location, NextValueExpr, TargetEntry, Var};
use plan::query::{CmdType, JoinTreeNode, Override, Query, RangeTblEntry, RteKind};
use std::sync::Arc;
use stdx::Nested;

/// Rewrites an analysed query for the planner. Counterpart: `QueryRewrite`.
pub fn rewrite(cat: &mut dyn Lookup, mut query: Query) -> Result<Query> {
    let mut cx = Analyzer::new(cat, "", Params::Fixed(Vec::new()));
    cx.rewrite_modification(&mut query)?;
    for i in 0..query.cte_list.len() {
        let mut inner = std::mem::take(&mut *query.cte_list[i].query);
        cx.rewrite_modification(&mut inner)?;
        *query.cte_list[i].query = inner;
    }
    cx.expand_views(&mut query, &mut Vec::new())?;
    Ok(query)
}

/// The default of a column as an expression of the column's type; `None` if it has none.
/// Counterpart: `build_column_default`.
pub fn column_default(
    cat: &mut dyn Lookup,
    relation: &Relation,
    number: AttrNo,
) -> Result<Option<Expr>> {
    let mut cx = Analyzer::new(cat, "", Params::Fixed(Vec::new()));
    cx.build_default(relation, &relation.attributes[number as usize - 1])
}

/// Whether INSERT sets the column to its default. `slot` is the target entry that the statement has
/// for the column, if any; `values` is the VALUES list from which the rows come. Error 428C9 if the
/// statement sets a column that accepts only its default.
fn inserts_default(
    a: &PgAttribute,
    slot: Option<&TargetEntry>,
    override_: Override,
    values: Option<&(i32, RangeTblEntry)>,
) -> Result<bool> {
    if slot.is_none_or(|t| matches!(t.expr, Expr::SetToDefault(_))) {
        return Ok(true);
    }
    // A column of VALUES that is DEFAULT in every row counts as omitted.
    let all_default = || {
        let (Some((rti, rte)), Some(t)) = (values, slot) else { return false };
        let Expr::Var(v) = &t.expr else { return false };
        let RteKind::Values { values_lists, .. } = &rte.kind else { return false };
        v.varno == *rti
            && values_lists
                .iter()
                .all(|row| matches!(row.get(v.varattno as usize - 1), Some(Expr::SetToDefault(_))))
    };
    let name = a.attname;
    if a.attidentity == ColumnIdentity::Always {
        if override_ == Override::UserValue || all_default() {
            return Ok(true);
        }
        if override_ != Override::SystemValue {
            return Err(pg_err!(
                GENERATED_ALWAYS,
                "cannot insert a non-DEFAULT value into column \"{name}\""
            )
            .detail(format!("Column \"{name}\" is an identity column defined as GENERATED ALWAYS."))
            .hint("Use OVERRIDING SYSTEM VALUE to override."));
        }
    }
    if a.attidentity == ColumnIdentity::ByDefault && override_ == Override::UserValue {
        return Ok(true);
    }
    if a.attgenerated != ColumnGenerated::No && !all_default() {
        return Err(pg_err!(
            GENERATED_ALWAYS,
            "cannot insert a non-DEFAULT value into column \"{name}\""
        )
        .detail(format!("Column \"{name}\" is a generated column.")));
    }
    Ok(a.attgenerated != ColumnGenerated::No)
}

/// Whether UPDATE sets the column to its default. Error 428C9 if it sets a column that accepts only
/// its default to another value.
fn updates_to_default(a: &PgAttribute, slot: Option<&TargetEntry>) -> Result<bool> {
    let Some(t) = slot else { return Ok(false) };
    if matches!(t.expr, Expr::SetToDefault(_)) {
        return Ok(true);
    }
    let name = a.attname;
    let detail = if a.attidentity == ColumnIdentity::Always {
        format!("Column \"{name}\" is an identity column defined as GENERATED ALWAYS.")
    } else if a.attgenerated != ColumnGenerated::No {
        format!("Column \"{name}\" is a generated column.")
    } else {
        return Ok(false);
    };
    Err(pg_err!(GENERATED_ALWAYS, "column \"{name}\" can only be updated to DEFAULT")
        .detail(detail))
}

impl Analyzer<'_> {
    pub(crate) fn build_default(
        &mut self,
        relation: &Relation,
        a: &PgAttribute,
    ) -> Result<Option<Expr>> {
        if a.attidentity != ColumnIdentity::No {
            let Some(seqid) = self.cat.identity_sequence(relation.class.oid, a.attnum)? else {
                bail!(INTERNAL_ERROR, "no owned sequence found");
            };
            return Ok(Some(Expr::NextValue(NextValueExpr { seqid, typeid: a.atttypid })));
        }
        let text = match a.atthasdef {
            true => self.cat.column_default(relation.class.oid, a.attnum)?,
            false => None,
        };
        let expr = match text {
            Some(text) => {
                let mut e = stored::expr(self.cat, &text)?;
                stored::expand_calls_in(self.cat, &mut e)?;
                Some(e)
            }
            // A generated column does not use the default of its type.
            None if a.attgenerated != ColumnGenerated::No => None,
            None => self.type_default(a.atttypid)?,
        };
        let Some(expr) = expr else { return Ok(None) };
        let from = expr.type_oid();
        let coerced = self.coerce_to_target(
            expr,
            a.atttypid,
            a.atttypmod,
            Context::Assignment,
            CoercionForm::ImplicitCast,
            Location::UNKNOWN,
        )?;
        match coerced {
            Some(mut e) => {
                self.assign_collations(&mut e)?;
                Ok(Some(e))
            }
            None => {
                let (to, from) = (self.format_type(a.atttypid), self.format_type(from));
                Err(pg_err!(
                    DATATYPE_MISMATCH,
                    "column \"{}\" is of type {to} but default expression is of type {from}",
                    a.attname
                )
                .hint("You will need to rewrite or cast the expression."))
            }
        }
    }

    /// The default of a domain or a base type. Counterpart: `get_typdefault`.
    fn type_default(&mut self, mut oid: Oid) -> Result<Option<Expr>> {
        loop {
            let row = self.type_row(oid)?;
            if let Some(text) = &row.typdefaultbin {
                let mut e = stored::expr(self.cat, text.as_str())?;
                stored::expand_calls_in(self.cat, &mut e)?;
                return Ok(Some(e));
            }
            if let Some(text) = &row.typdefault
                && row.typtype == TypType::Base
            {
                let value = self.cat.input(&row, text.as_str(), -1)?;
                return Ok(Some(Expr::Const(Const {
                    consttype: oid,
                    consttypmod: -1,
                    constcollid: row.typcollation,
                    constlen: row.typlen,
                    constbyval: row.typbyval,
                    value,
                    location: Location::UNKNOWN,
                })));
            }
            if row.typtype != TypType::Domain {
                return Ok(None);
            }
            oid = row.typbasetype;
        }
    }

    /// Fills in the defaults of MERGE's actions.
    fn rewrite_merge(&mut self, query: &mut Query) -> Result<()> {
        let RteKind::Relation { relid, .. } = query.rte(query.result_relation).kind else {
            return Ok(());
        };
        let Some(relation) = self.cat.relation(relid)? else {
            bail!(INTERNAL_ERROR, "could not open relation with OID {relid}")
        };
        for mut action in std::mem::take(&mut query.merge_actions) {
            match action.command_type {
                CmdType::Update => self.cat.check_published(&relation, Change::Update)?,
                CmdType::Delete => self.cat.check_published(&relation, Change::Delete)?,
                _ => {}
            }
            if matches!(action.command_type, CmdType::Insert | CmdType::Update) {
                self.cat.check_new_rows(&relation)?;
                let list = std::mem::take(&mut action.target_list);
                let (command, override_) = (action.command_type, action.override_);
                action.target_list =
                    self.rewrite_targets(list, command, override_, &relation, None)?;
            }
            query.merge_actions.push(action);
        }
        Ok(())
    }

    fn rewrite_modification(&mut self, query: &mut Query) -> Result<()> {
        if query.command_type == CmdType::Merge {
            return self.rewrite_merge(query);
        }
        if !matches!(query.command_type, CmdType::Insert | CmdType::Update | CmdType::Delete) {
            return Ok(());
        }
        let relation = loop {
            let RteKind::Relation { relid, .. } = query.rte(query.result_relation).kind else {
                return Ok(());
            };
            let Some(relation) = self.cat.relation(relid)? else {
                bail!(INTERNAL_ERROR, "could not open relation with OID {relid}")
            };
            self.check_target(&relation, query)?;
            if relation.class.relkind != RelKind::View
                || updatable::instead_triggers(&relation) & 1 << query.command_type as i32 != 0
            {
                break relation;
            }
            self.replace_target_view(query, &relation)?;
        };
        if query.command_type == CmdType::Delete {
            return Ok(());
        }
        let values = match query.command_type {
            CmdType::Insert => values_source(query),
            _ => None,
        };
        let targets = std::mem::take(&mut query.target_list);
        query.target_list = self.rewrite_targets(
            targets,
            query.command_type,
            query.override_,
            &relation,
            values.map(|rti| (rti, query.rte(rti).clone())),
        )?;
        if let Some(rti) = values {
            self.rewrite_values(query, rti, &relation)?;
        }
        if let Some(mut conflict) = query.on_conflict.take() {
            let set = std::mem::take(&mut conflict.on_conflict_set);
            conflict.on_conflict_set =
                self.rewrite_targets(set, CmdType::Update, Override::NotSet, &relation, None)?;
            query.on_conflict = Some(conflict);
        }
        Ok(())
    }

    /// An error if the rows of this relation cannot be changed.
    fn check_target(&mut self, relation: &Relation, query: &Query) -> Result<()> {
        let name = relation.class.relname;
        let command = query.command_type;
        let changes = match command {
            CmdType::Insert => b'3',
            CmdType::Update => b'2',
            _ => b'4',
        };
        let conflict = query.on_conflict.is_some();
        let rewrites = |kind| kind == changes || conflict && kind == b'2';
        if relation.rules.iter().any(|r| rewrites(r.ev_type)) {
            bail!(FEATURE_NOT_SUPPORTED, "rules on \"{name}\" are not supported");
        }
        match command {
            CmdType::Update => self.cat.check_published(relation, Change::Update)?,
            CmdType::Delete => self.cat.check_published(relation, Change::Delete)?,
            _ => {}
        }
        if command != CmdType::Delete {
            self.cat.check_new_rows(relation)?;
        }
        let kind = relation.class.relkind;
        if matches!(kind, RelKind::MaterializedView | RelKind::Sequence | RelKind::Toast) {
            // PostgreSQL reports the kind when the plan is executed, after the check of privileges.
            let required = query.rte(query.result_relation).required_perms;
            self.cat.check_privileges(relation, required)?;
        }
        match kind {
            RelKind::Table | RelKind::PartitionedTable | RelKind::View => Ok(()),
            RelKind::MaterializedView => {
                bail!(WRONG_OBJECT_TYPE, "cannot change materialized view \"{name}\"")
            }
            RelKind::Sequence => bail!(WRONG_OBJECT_TYPE, "cannot change sequence \"{name}\""),
            RelKind::Toast => bail!(WRONG_OBJECT_TYPE, "cannot change TOAST relation \"{name}\""),
            RelKind::ForeignTable => {
                bail!(FEATURE_NOT_SUPPORTED, "foreign table \"{name}\" is not supported")
            }
            _ => bail!(WRONG_OBJECT_TYPE, "cannot change relation \"{name}\""),
        }
    }

    /// Builds a target list with one entry per column, in attribute order, with defaults filled in.
    /// Counterpart: `rewriteTargetListIU`.
    fn rewrite_targets(
        &mut self,
        targets: Vec<TargetEntry>,
        command: CmdType,
        override_: Override,
        relation: &Relation,
        values: Option<(i32, RangeTblEntry)>,
    ) -> Result<Vec<TargetEntry>> {
        let mut by_column: Vec<Option<TargetEntry>> = vec![None; relation.attributes.len()];
        let mut junk = Vec::new();
        for t in targets {
            if t.resjunk {
                junk.push(t);
                continue;
            }
            let slot = &mut by_column[t.resno as usize - 1];
            *slot = Some(match slot.take() {
                None => t,
                Some(before) => combine(before, t, &relation.attributes)?,
            });
        }
        let mut out = Vec::new();
        for (a, slot) in relation.attributes.iter().zip(by_column) {
            if a.attisdropped {
                continue;
            }
            let name = a.attname;
            let apply = match command {
                CmdType::Insert => inserts_default(a, slot.as_ref(), override_, values.as_ref())?,
                _ => updates_to_default(a, slot.as_ref())?,
            };
            // The executor computes generated columns.
            if a.attgenerated != ColumnGenerated::No {
                continue;
            }
            if !apply {
                out.extend(slot);
                continue;
            }
            let expr = match self.build_default(relation, a)? {
                Some(e) => e,
                // The planner fills omitted columns with NULL. A domain may refuse NULL, so it
                // needs an expression.
                None if command == CmdType::Insert
                    && self.type_row(a.atttypid)?.typtype != TypType::Domain =>
                {
                    continue;
                }
                None => self.typed_null(a)?,
            };
            out.push(crate::target::entry(expr, a.attnum, Some(name.to_string()), false));
        }
        let first = relation.attributes.len() as AttrNo + 1;
        for (resno, mut t) in (first..).zip(junk) {
            t.resno = resno;
            out.push(t);
        }
        Ok(out)
    }

    /// NULL of a column's type, with the checks of its domain.
    pub(crate) fn typed_null(&mut self, a: &PgAttribute) -> Result<Expr> {
        let (base, typmod) = self.base_type_and_typmod(a.atttypid, a.atttypmod)?;
        let row = self.type_row(base)?;
        let null = null_const(base, row.typlen, row.typbyval);
        self.coerce_to_domain(
            null,
            (base, typmod),
            a.atttypid,
            Context::Implicit,
            CoercionForm::ImplicitCast,
            Location::UNKNOWN,
            false,
        )
    }

    /// Replaces DEFAULT in rows of VALUES. Counterpart: `rewriteValuesRTE`.
    fn rewrite_values(&mut self, query: &mut Query, rti: i32, relation: &Relation) -> Result<()> {
        let RteKind::Values { values_lists, .. } = &query.rte(rti).kind else { return Ok(()) };
        let wanted = values_lists.iter().flatten().any(|e| matches!(e, Expr::SetToDefault(_)));
        if !wanted {
            return Ok(());
        }
        let width = values_lists.first().map_or(0, Vec::len);
        // The target column of each column of VALUES.
        let mut target_columns: Vec<Option<AttrNo>> = vec![None; width];
        for t in &query.target_list {
            if let Expr::Var(v) = crate::sort::strip_implicit(&t.expr)
                && v.varno == rti
            {
                target_columns[v.varattno as usize - 1] = Some(t.resno);
            }
        }
        let mut defaults: Vec<Expr> = Vec::with_capacity(width);
        for (i, number) in target_columns.into_iter().enumerate() {
            defaults.push(match number {
                Some(number) => {
                    let a = relation.attributes[number as usize - 1].clone();
                    match self.build_default(relation, &a)? {
                        Some(e) => e,
                        None => self.typed_null(&a)?,
                    }
                }
                // The column is not used.
                None => {
                    let RteKind::Values { values_lists, .. } = &query.rte(rti).kind else { break };
                    let ty = match values_lists.iter().find_map(|row| row.get(i)) {
                        Some(e) => e.type_oid(),
                        None => ty::TEXT,
                    };
                    let row = self.type_row(ty)?;
                    null_const(ty, row.typlen, row.typbyval)
                }
            });
        }
        let rte = &mut query.rtable[rti as usize - 1];
        if let RteKind::Values { values_lists, .. } = &mut rte.kind {
            for row in values_lists {
                for (e, default) in row.iter_mut().zip(&defaults) {
                    if matches!(e, Expr::SetToDefault(_)) {
                        *e = default.clone();
                    }
                }
            }
        }
        Ok(())
    }

    /// Replaces the views that a query reads, at all levels. Counterpart: `fireRIRrules`.
    fn expand_views(&mut self, query: &mut Query, active: &mut Vec<Oid>) -> Result<()> {
        self.cat.check_interrupts()?;
        stdx::stack::deep(|| self.expand_views_here(query, active))
    }

    fn expand_views_here(&mut self, query: &mut Query, active: &mut Vec<Oid>) -> Result<()> {
        let mut read: Vec<i32> = Vec::new();
        for item in &query.jointree.fromlist {
            relation_leaves(item, &mut read);
        }
        for i in 0..query.rtable.len() {
            let rti = (i + 1) as i32;
            match &query.rtable[i].kind {
                RteKind::Relation { relid, relkind: RelKind::View, .. } if read.contains(&rti) => {
                    let relid = *relid;
                    if rti == query.result_relation {
                        self.split_target(query, relid)?;
                    }
                    self.expand_view(query, i, relid, active)?;
                }
                RteKind::Subquery { .. } => {
                    if let RteKind::Subquery { subquery, .. } = &mut query.rtable[i].kind {
                        let mut inner = std::mem::take(&mut **subquery);
                        self.expand_views(&mut inner, active)?;
                        **subquery = inner;
                    }
                }
                _ => {}
            }
        }
        for cte in &mut query.cte_list {
            self.expand_search_cycle(cte)?;
            let mut inner = std::mem::take(&mut *cte.query);
            self.expand_views(&mut inner, active)?;
            *cte.query = inner;
        }
        if query.has_sub_links {
            let mut result = Ok(());
            each_sublink(query, &mut |inner| {
                if result.is_ok() {
                    result = self.expand_views(inner, active);
                }
            });
            result?;
        }
        Ok(())
    }

    /// Error 55000 for a user-defined view, if `restrict_nonsystem_relation_kind` includes views.
    pub(crate) fn check_restricted(&mut self, view: &Relation) -> Result<()> {
        if view.class.oid >= Oid::FIRST_NORMAL && self.cat.views_are_restricted() {
            bail!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "access to non-system view \"{}\" is restricted",
                view.class.relname
            );
        }
        Ok(())
    }

    fn expand_view(
        &mut self,
        query: &mut Query,
        index: usize,
        relid: Oid,
        active: &mut Vec<Oid>,
    ) -> Result<()> {
        let Some(relation): Option<Arc<Relation>> = self.cat.relation(relid)? else {
            bail!(INTERNAL_ERROR, "could not open relation with OID {relid}")
        };
        if active.contains(&relid) {
            bail!(
                INVALID_OBJECT_DEFINITION,
                "infinite recursion detected in rules for relation \"{}\"",
                relation.class.relname
            );
        }
        self.check_restricted(&relation)?;
        let Some(rule) = self.cat.view_rule(relid)? else {
            bail!(INTERNAL_ERROR, "view \"{}\" has no rule", relation.class.relname)
        };
        let mut action = (*rule.query).clone();
        stored::expand_calls(self.cat, &mut action)?;
        self.lock_tables(&action)?;
        if !rule.security_invoker {
            check_as(&mut action, relation.class.relowner);
        }
        let rti = (index + 1) as i32;
        if let Some(mark) = query.row_marks.iter().find(|m| m.rti == rti) {
            // Row marks are added before nested views are expanded, because a lock requires its
            // privileges on each of them too.
            crate::select::lock_query(&mut action, mark.strength, mark.wait_policy);
        }
        active.push(relid);
        self.expand_views(&mut action, active)?;
        active.pop();
        // The required privileges on the view itself move to the rule's range table entry for OLD.
        let rte = &mut query.rtable[index];
        if let Some(old) = action.rtable.first_mut() {
            old.required_perms = rte.required_perms;
            old.check_as_user = rte.check_as_user;
            old.selected_cols = std::mem::take(&mut rte.selected_cols);
            old.inserted_cols = std::mem::take(&mut rte.inserted_cols);
            old.updated_cols = std::mem::take(&mut rte.updated_cols);
        }
        rte.required_perms = 0;
        rte.check_as_user = Oid::INVALID;
        rte.inh = false;
        rte.kind = RteKind::Subquery {
            subquery: Nested::new(action),
            security_barrier: rule.security_barrier,
            relid,
        };
        Ok(())
    }

    /// Adds a second range-table entry for a view that is changed by INSTEAD OF triggers. The first
    /// entry is the target of the changes, the second one is read. All references to the view,
    /// except those in RETURNING and in check options, which concern the new row, are changed to
    /// the second one. Counterpart: `ApplyRetrieveRule`, for the result relation.
    fn split_target(&mut self, query: &mut Query, view: Oid) -> Result<()> {
        let Some(relation) = self.cat.relation(view)? else {
            bail!(INTERNAL_ERROR, "could not open relation with OID {view}")
        };
        let read = query.result_relation;
        let target = query.rtable.len() as i32 + 1;
        let rte = &mut query.rtable[read as usize - 1];
        query.result_relation = target;
        let old = rte.clone();
        // Privileges are checked once.
        rte.required_perms = 0;
        rte.selected_cols.clear();
        rte.inserted_cols.clear();
        rte.updated_cols.clear();
        query.rtable.push(old);
        for t in &mut query.returning_list {
            crate::updatable::renumber(&mut t.expr, read, target);
        }
        for qual in query.with_check_options.iter_mut().filter_map(|w| w.qual.as_mut()) {
            crate::updatable::renumber(qual, read, target);
        }
        let row = Expr::Var(Var {
            varno: read,
            varattno: 0,
            vartype: relation.class.reltype,
            vartypmod: -1,
            varcollid: Oid::INVALID,
            varlevelsup: 0,
            location: Location::UNKNOWN,
        });
        let resno = query.target_list.len() as AttrNo + 1;
        let name = Some("wholerow".to_owned());
        query.target_list.push(crate::target::entry(row, resno, name, true));
        Ok(())
    }

    /// Locks the tables of a stored query with the lock modes that its analysis would take.
    /// Counterpart: `AcquireRewriteLocks`.
    fn lock_tables(&mut self, query: &Query) -> Result<()> {
        let mut tables = Vec::new();
        gather_tables(query, &mut tables);
        let mut links = query.clone();
        if query.has_sub_links {
            each_sublink(&mut links, &mut |inner| gather_tables(inner, &mut tables));
        }
        for (relid, mode) in tables {
            self.cat.lock_relation(relid, mode)?;
        }
        Ok(())
    }
}

fn gather_tables(query: &Query, out: &mut Vec<(Oid, i32)>) {
    for rte in &query.rtable {
        match &rte.kind {
            RteKind::Relation { relid, rellockmode, .. } => out.push((*relid, *rellockmode)),
            RteKind::Subquery { subquery, .. } => gather_tables(subquery, out),
            _ => {}
        }
    }
    for cte in &query.cte_list {
        gather_tables(&cte.query, out);
    }
}

/// Calls `f` for the sub-selects in the query's own expressions, not for those nested in them.
fn each_sublink(query: &mut Query, f: &mut dyn FnMut(&mut Query)) {
    crate::walk::query_deep_mut(query, 0, &mut |e, up| {
        if let Expr::SubLink(link) = e
            && up == 0
        {
            f(&mut link.subselect);
        }
        up == 0
    });
}

/// Privileges on the tables of a view are checked for the view's owner.
fn check_as(query: &mut Query, owner: Oid) {
    for rte in &mut query.rtable {
        rte.check_as_user = owner;
        if let RteKind::Subquery { subquery, .. } = &mut rte.kind {
            check_as(subquery, owner);
        }
    }
    for cte in &mut query.cte_list {
        check_as(&mut cte.query, owner);
    }
    if query.has_sub_links {
        each_sublink(query, &mut |inner| check_as(inner, owner));
    }
}

fn relation_leaves(node: &JoinTreeNode, out: &mut Vec<i32>) {
    match node {
        JoinTreeNode::Rtr(rti) => out.push(*rti),
        JoinTreeNode::Join(join) => {
            relation_leaves(&join.larg, out);
            relation_leaves(&join.rarg, out);
        }
        JoinTreeNode::From(from) => from.fromlist.iter().for_each(|n| relation_leaves(n, out)),
    }
}

/// The range table index of the VALUES list of a multi-row INSERT.
fn values_source(query: &Query) -> Option<i32> {
    query.jointree.fromlist.iter().find_map(|n| match n {
        JoinTreeNode::Rtr(rti) if matches!(query.rte(*rti).kind, RteKind::Values { .. }) => {
            Some(*rti)
        }
        _ => None,
    })
}

/// Merges two assignments to fields or elements of one column: the second takes the result of the
/// first as input. Counterpart: `process_matched_tle`.
fn combine(
    before: TargetEntry,
    mut next: TargetEntry,
    columns: &[PgAttribute],
) -> Result<TargetEntry> {
    let twice = || {
        pg_err!(
            SYNTAX_ERROR,
            "multiple assignments to same column \"{}\"",
            columns[next.resno as usize - 1].attname
        )
    };
    let (before_expr, next_expr) = (before.expr, std::mem::replace(&mut next.expr, nothing()));
    // The constraints of a domain are checked once, after all its assignments.
    next.expr = match (before_expr, next_expr) {
        (Expr::CoerceToDomain(a), Expr::CoerceToDomain(mut b)) if a.resulttype == b.resulttype => {
            b.arg = nest_assignments(a.arg, b.arg).ok_or_else(twice)?;
            Expr::CoerceToDomain(b)
        }
        (a, b) => nest_assignments(a, b).ok_or_else(twice)?,
    };
    Ok(next)
}

fn nothing() -> Expr {
    null_const(ty::UNKNOWN, -2, false)
}

/// The expression whose other fields or elements an assignment keeps.
fn assignment_input(e: &Expr) -> Option<&Expr> {
    match e {
        Expr::FieldStore(f) => Some(&f.arg),
        Expr::SubscriptingRef(s) if s.refassgnexpr.is_some() => Some(&s.refexpr),
        _ => None,
    }
}

/// Nests the first assignment in the second. `None` unless both assign to fields or elements of the
/// same value.
fn nest_assignments(first: Expr, mut second: Expr) -> Option<Expr> {
    let mut bottom = assignment_input(&first)?;
    while let Some(below) = assignment_input(bottom) {
        bottom = below;
    }
    if first.type_oid() != second.type_oid() || assignment_input(&second)? != bottom {
        return None;
    }
    match (&mut second, first) {
        (Expr::FieldStore(n), Expr::FieldStore(mut first)) => {
            first.newvals.append(&mut n.newvals);
            first.fieldnums.append(&mut n.fieldnums);
            return Some(Expr::FieldStore(first));
        }
        (Expr::FieldStore(n), first) => n.arg = first,
        (Expr::SubscriptingRef(n), first) => n.refexpr = first,
        _ => return None,
    }
    Some(second)
}
