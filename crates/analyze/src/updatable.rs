//! Automatically updatable views: INSERT, UPDATE and DELETE on a simple view are rewritten to its
//! base relation.
//! Counterpart: `rewriteTargetView` and `view_query_is_auto_updatable` of rewriteHandler.c.

use crate::lookup::Lookup;
use crate::state::Analyzer;
use crate::stored;
use catalog::RelDesc as Relation;
use ids::{AttrNo, Oid, RelKind};
use pgerror::{PgError, Result, bail, pg_err};
use plan::expr::{BoolExpr, BoolOp, CoercionForm, Expr, Location, RowExpr, TargetEntry, Var};
use plan::query::{CmdType, JoinTreeNode, Query, RteKind, WcoKind, WithCheckOption};

/// The reason why a view with this query is not automatically updatable; `None` if it is.
pub fn not_updatable(query: &Query, columns: bool) -> Option<&'static str> {
    let base = "Views that do not select from a single table or view are not automatically \
                updatable.";
    if !query.distinct_clause.is_empty() {
        return Some("Views containing DISTINCT are not automatically updatable.");
    }
    if !query.group_clause.is_empty() || !query.grouping_sets.is_empty() {
        return Some("Views containing GROUP BY are not automatically updatable.");
    }
    if query.having_qual.is_some() {
        return Some("Views containing HAVING are not automatically updatable.");
    }
    if query.set_operations.is_some() {
        return Some(
            "Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable.",
        );
    }
    if !query.cte_list.is_empty() {
        return Some("Views containing WITH are not automatically updatable.");
    }
    if query.limit_offset.is_some() || query.limit_count.is_some() {
        return Some("Views containing LIMIT or OFFSET are not automatically updatable.");
    }
    if query.has_aggs {
        return Some("Views that return aggregate functions are not automatically updatable.");
    }
    if query.has_window_funcs {
        return Some("Views that return window functions are not automatically updatable.");
    }
    if query.has_target_srfs {
        return Some("Views that return set-returning functions are not automatically updatable.");
    }
    let Some(rti) = base_of(query) else { return Some(base) };
    match &query.rte(rti).kind {
        RteKind::Relation { tablesample: Some(_), .. } => {
            return Some("Views containing TABLESAMPLE are not automatically updatable.");
        }
        RteKind::Relation {
            relkind:
                RelKind::Table | RelKind::ForeignTable | RelKind::View | RelKind::PartitionedTable,
            ..
        } => {}
        _ => return Some(base),
    }
    let any = query.target_list.iter().any(|t| column_not_updatable(t, rti).is_none());
    if columns && !any {
        return Some("Views that have no updatable columns are not automatically updatable.");
    }
    None
}

/// The range table index of the view's base relation.
fn base_of(query: &Query) -> Option<i32> {
    match query.jointree.fromlist.as_slice() {
        [JoinTreeNode::Rtr(rti)] => Some(*rti),
        _ => None,
    }
}

/// The reason why a view's column is not updatable; `None` if it is.
fn column_not_updatable(t: &TargetEntry, base: i32) -> Option<&'static str> {
    let not_a_column =
        "View columns that are not columns of their base relation are not updatable.";
    if t.resjunk {
        return Some(not_a_column);
    }
    match &t.expr {
        Expr::Var(v) if v.varno == base && v.varlevelsup == 0 => match v.varattno {
            0 => Some("View columns that return whole-row references are not updatable."),
            n if n < 0 => Some("View columns that refer to system columns are not updatable."),
            _ => None,
        },
        _ => Some(not_a_column),
    }
}

/// The commands for which a view has INSTEAD OF triggers, enabled or not, as bits `1 << command` of
/// `CmdType`. Counterpart: `view_has_instead_trigger`.
pub(crate) fn instead_triggers(relation: &Relation) -> i32 {
    /// The `tgtype` bits of INSTEAD OF row triggers, and the `tgtype` bit of each command.
    const INSTEAD_EACH_ROW: i16 = 64 | 1;
    const COMMANDS: [(i16, i32); 3] = [(4, 1 << 3), (8, 1 << 4), (16, 1 << 2)];
    let mut found = 0;
    for t in relation.triggers.iter().filter(|t| t.tgtype & INSTEAD_EACH_ROW == INSTEAD_EACH_ROW) {
        let commands = COMMANDS.iter().filter(|(bit, _)| t.tgtype & bit != 0);
        found |= commands.fold(0, |all, (_, command)| all | command);
    }
    found
}

/// The commands that can change a relation, as bits `1 << command` of `CmdType`. Tables allow all
/// commands. Other relations allow the commands of unconditional INSTEAD rules (and of INSTEAD OF
/// triggers, with `triggers`); views also those that their base relation allows. With `columns`,
/// only changes of these columns count. Counterpart: `relation_is_updatable`.
pub fn updatable_commands(
    cat: &mut dyn Lookup,
    relid: Oid,
    columns: Option<&[AttrNo]>,
    triggers: bool,
    depth: u32,
) -> Result<i32> {
    const DELETE: i32 = 1 << 4;
    const ALL: i32 = 1 << 2 | 1 << 3 | DELETE;
    let Some(relation) = cat.relation(relid)? else { return Ok(0) };
    if matches!(relation.class.relkind, RelKind::Table | RelKind::PartitionedTable) {
        return Ok(ALL);
    }
    let mut found = 0;
    for rule in relation.rules.iter().filter(|r| r.is_instead) {
        if matches!(rule.ev_qual.as_str(), "" | "<>") {
            found |= 1 << (rule.ev_type - b'0') & ALL;
        }
    }
    if triggers {
        found |= instead_triggers(&relation);
    }
    if found == ALL || relation.class.relkind != RelKind::View || depth >= 100 {
        return Ok(found);
    }
    let Some(rule) = cat.view_rule(relid)? else { return Ok(found) };
    let query = &*rule.query;
    let Some(base) = base_of(query).filter(|_| not_updatable(query, false).is_none()) else {
        return Ok(found);
    };
    let asked = |t: &&TargetEntry| columns.is_none_or(|c| c.contains(&t.resno));
    let plain =
        query.target_list.iter().filter(asked).filter(|t| column_not_updatable(t, base).is_none());
    let below: Vec<AttrNo> = plain
        .filter_map(|t| match &t.expr {
            Expr::Var(v) => Some(v.varattno),
            _ => None,
        })
        .collect();
    let own = if below.is_empty() { DELETE } else { ALL };
    let RteKind::Relation { relid, .. } = query.rte(base).kind else { return Ok(found) };
    Ok(found | own & updatable_commands(cat, relid, Some(&below), triggers, depth + 1)?)
}

/// Error 55000 for a view that is not updatable, with the reason.
pub fn not_updatable_error(view: &str, command: CmdType, reason: Option<&str>) -> PgError {
    let (verb, act, event) = match command {
        CmdType::Insert => ("insert into", "inserting into", "INSERT"),
        CmdType::Update => ("update", "updating", "UPDATE"),
        _ => ("delete from", "deleting from", "DELETE"),
    };
    let e =
        pg_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "cannot {verb} view \"{view}\"").hint(format!(
            "To enable {act} the view, provide an INSTEAD OF {event} trigger or an unconditional \
             ON {event} DO INSTEAD rule."
        ));
    match reason {
        Some(reason) => e.detail(reason),
        None => e,
    }
}

/// Calls `f` for the variables of range table entry `rti` at any depth of the expression, with the
/// number of sub-selects that enclose them.
fn each_var(e: &mut Expr, rti: i32, f: &mut dyn FnMut(&mut Expr, u32)) {
    crate::walk::expr_deep_mut(e, 0, &mut |e, up| {
        if let Expr::Var(v) = e
            && v.varno == rti
            && v.varlevelsup == up
        {
            f(e, up);
            return false;
        }
        true
    });
}

pub(crate) fn renumber(e: &mut Expr, from: i32, to: i32) {
    each_var(e, from, &mut |e, _| {
        if let Expr::Var(v) = e {
            v.varno = to;
        }
    });
}

/// The expression moved `by` query levels inwards.
fn shift_levels(mut e: Expr, by: u32) -> Expr {
    if by > 0 {
        crate::walk::expr_deep_mut(&mut e, 0, &mut |e, up| {
            if let Expr::Var(v) = e
                && v.varlevelsup >= up
            {
                v.varlevelsup += by;
            }
            true
        });
    }
    e
}

fn replace_relation(node: &mut JoinTreeNode, from: i32, to: i32) {
    match node {
        JoinTreeNode::Rtr(rti) if *rti == from => *rti = to,
        JoinTreeNode::Rtr(_) => {}
        JoinTreeNode::Join(join) => {
            replace_relation(&mut join.larg, from, to);
            replace_relation(&mut join.rarg, from, to);
        }
        JoinTreeNode::From(list) => {
            list.fromlist.iter_mut().for_each(|n| replace_relation(n, from, to));
        }
    }
}

/// The conditions of a security-barrier view that the planner recognizes among those of the query:
/// all but sub-selects, which it transforms.
fn barrier_of(quals: &Expr) -> Expr {
    let mut parts = plan::walk::conjuncts(quals.clone());
    parts.retain(|e| !plan::walk::any(e, &mut |e| matches!(e, Expr::SubLink(_))));
    let all = parts.into_iter().map(Some).reduce(both).flatten();
    all.unwrap_or_else(|| crate::coerce::bool_const(true))
}

fn both(a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Expr::Bool(Box::new(BoolExpr {
            boolop: BoolOp::And,
            args: vec![a, b],
            location: Location::UNKNOWN,
        }))),
        (a, b) => a.or(b),
    }
}

/// The `check_option` of a view: true for cascaded, false for local, `None` without one.
fn check_option(view: &Relation) -> Option<bool> {
    let options = view.class.reloptions.as_ref()?;
    let mut pairs = options.iter().filter_map(|o| o.as_str().split_once('='));
    pairs.find(|(n, _)| *n == "check_option").map(|(_, v)| v.eq_ignore_ascii_case("cascaded"))
}

/// Errors if the query sets a column of the view that is not a column of the base relation, entry
/// `base` of the view's query `action`.
fn check_columns(query: &Query, action: &Query, base: i32, view: &str) -> Result<()> {
    let verb = if query.command_type == CmdType::Insert { "insert into" } else { "update" };
    let conflict = query.on_conflict.iter().flat_map(|c| &c.on_conflict_set);
    for t in query.target_list.iter().chain(conflict).filter(|t| !t.resjunk) {
        let of = action.target_list.iter().find(|v| v.resno == t.resno);
        if let Some(why) = of.and_then(|v| column_not_updatable(v, base)) {
            let column = of.and_then(|v| v.resname.clone()).unwrap_or_default();
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot {verb} column \"{column}\" of view \"{view}\""
            )
            .detail(why));
        }
    }
    Ok(())
}

/// Replaces references to the view, range table entry `view`, by the expressions of its columns.
fn replace_columns(query: &mut Query, view: i32, columns: &[TargetEntry]) -> Result<()> {
    let mut unknown = false;
    crate::walk::query_deep_mut(query, 0, &mut |e, up| {
        let Expr::Var(v) = &*e else { return true };
        if v.varno != view || v.varlevelsup != up {
            return true;
        }
        match column_or_row(columns, v) {
            Some(new) => *e = shift_levels(new, up),
            None => unknown = true,
        }
        false
    });
    if unknown {
        return Err(PgError::internal("reference to a column that the view does not have"));
    }
    Ok(())
}

/// The expression of a column of the view, or its whole row.
fn column_or_row(columns: &[TargetEntry], v: &Var) -> Option<Expr> {
    let mut shown = columns.iter().filter(|t| !t.resjunk);
    if v.varattno != 0 {
        return shown.find(|t| t.resno == v.varattno).map(|t| t.expr.clone());
    }
    let (args, colnames) =
        shown.map(|t| (t.expr.clone(), t.resname.clone().unwrap_or_default())).unzip();
    Some(Expr::Row(Box::new(RowExpr {
        args,
        row_typeid: v.vartype,
        row_format: CoercionForm::ImplicitCast,
        colnames,
        location: v.location,
    })))
}

impl Analyzer<'_> {
    /// Replaces the view by its base relation as the target of the query.
    pub(crate) fn replace_target_view(&mut self, query: &mut Query, view: &Relation) -> Result<()> {
        let (relid, name) = (view.class.oid, view.class.relname);
        let command = query.command_type;
        self.check_restricted(view)?;
        let Some(rule) = self.cat.view_rule(relid)? else {
            bail!(INTERNAL_ERROR, "view \"{name}\" has no rule")
        };
        let mut action = (*rule.query).clone();
        stored::expand_calls(self.cat, &mut action)?;
        if let Some(reason) = not_updatable(&action, command != CmdType::Delete) {
            return Err(not_updatable_error(name.as_str(), command, Some(reason)));
        }
        let Some(base) = base_of(&action) else {
            return Err(not_updatable_error(name.as_str(), command, None));
        };
        if matches!(query.jointree.quals, Some(Expr::CurrentOf(_))) {
            bail!(FEATURE_NOT_SUPPORTED, "WHERE CURRENT OF on a view is not implemented");
        }
        self.add_view_defaults(query, view)?;
        check_columns(query, &action, base, name.as_str())?;
        let old = query.result_relation;
        let new = query.rtable.len() as i32 + 1;
        for t in &mut action.target_list {
            renumber(&mut t.expr, base, new);
        }
        let mut quals = action.jointree.quals.take();
        if let Some(e) = &mut quals {
            renumber(e, base, new);
        }
        let column_of = |n: AttrNo| {
            action.target_list.iter().find(|t| t.resno == n).and_then(|t| match &t.expr {
                Expr::Var(v) if v.varno == new => Some(v.varattno),
                _ => None,
            })
        };
        let mut entry = action.rte(base).clone();
        let asked = query.rte(old).clone();
        if let RteKind::Relation { relid, rellockmode, .. } = &mut entry.kind {
            *rellockmode = 3;
            self.cat.lock_relation(*relid, 3)?;
        }
        // The privileges on the base relation of a view with security_invoker are checked for the
        // current user, even if the view is accessed through another view.
        entry.check_as_user = match rule.security_invoker {
            true => Oid::INVALID,
            false => view.class.relowner,
        };
        // The view's owner needs the same privileges on the base relation that the statement
        // requires on the view: SELECT only if the statement reads it.
        entry.required_perms = asked.required_perms;
        entry.inserted_cols = asked.inserted_cols.iter().filter_map(|n| column_of(*n)).collect();
        entry.updated_cols = asked.updated_cols.iter().filter_map(|n| column_of(*n)).collect();
        entry.in_from_cl = asked.in_from_cl;
        query.rtable.push(entry);
        query.has_sub_links |= action.has_sub_links;

        replace_columns(query, old, &action.target_list)?;
        let mut barriers = std::mem::take(&mut query.rtable[old as usize - 1].security_quals);
        if let Some(quals) = quals.as_ref().filter(|_| rule.security_barrier) {
            barriers.insert(0, barrier_of(quals));
        }
        if command != CmdType::Insert {
            query.rtable[new as usize - 1].security_quals = barriers;
        }
        for t in query.target_list.iter_mut().filter(|t| !t.resjunk) {
            if let Some(n) = column_of(t.resno) {
                t.resno = n;
            }
        }
        query.target_list.sort_by_key(|t| (t.resjunk, t.resno));
        if let Some(mut conflict) = query.on_conflict.take() {
            for t in conflict.on_conflict_set.iter_mut().filter(|t| !t.resjunk) {
                if let Some(n) = column_of(t.resno) {
                    t.resno = n;
                }
            }
            query.on_conflict = Some(conflict);
            self.replace_excluded(query, &action.target_list, new)?;
        }
        query.result_relation = new;
        for node in &mut query.jointree.fromlist {
            replace_relation(node, old, new);
        }
        if command != CmdType::Delete {
            self.add_check(query, view, &quals);
        }
        if command != CmdType::Insert {
            let before = query.jointree.quals.take();
            query.jointree.quals = both(before, quals);
        }
        Ok(())
    }

    /// Makes EXCLUDED the row that is proposed for the base relation, range table entry `base`.
    /// `columns` are the view's columns over it.
    fn replace_excluded(
        &mut self,
        query: &mut Query,
        columns: &[TargetEntry],
        base: i32,
    ) -> Result<()> {
        let old = query.on_conflict.as_ref().map_or(0, |c| c.excl_rel_index);
        let RteKind::Relation { relid, .. } = query.rte(base).kind else { return Ok(()) };
        let Some(table) = self.cat.relation(relid)?.filter(|_| old > 0) else { return Ok(()) };
        let mut entry = query.rte(old).clone();
        if let RteKind::Relation { relid: of, .. } = &mut entry.kind {
            *of = relid;
        }
        let names = table.attributes.iter().map(|a| match a.attisdropped {
            true => String::new(),
            false => a.attname.to_string(),
        });
        entry.eref.colnames = names.collect();
        query.rtable.push(entry);
        let new = query.rtable.len() as i32;
        let mut columns = columns.to_vec();
        columns.iter_mut().for_each(|t| renumber(&mut t.expr, base, new));
        if let Some(c) = &mut query.on_conflict {
            // The target list of EXCLUDED is rebuilt.
            c.excl_rel_tlist.clear();
        }
        replace_columns(query, old, &columns)?;
        if let Some(c) = &mut query.on_conflict {
            c.excl_rel_index = new;
            c.excl_rel_tlist = crate::dml::excluded_columns(&table, new);
        }
        Ok(())
    }

    /// Applies the defaults of the view's own columns.
    fn add_view_defaults(&mut self, query: &mut Query, view: &Relation) -> Result<()> {
        if let Some(conflict) = &mut query.on_conflict {
            self.set_to_view_defaults(&mut conflict.on_conflict_set, view)?;
        }
        if query.command_type != CmdType::Insert {
            return self.set_to_view_defaults(&mut query.target_list, view);
        }
        for a in view.attributes.iter().filter(|a| a.atthasdef && !a.attisdropped) {
            let index = query.target_list.iter().position(|t| !t.resjunk && t.resno == a.attnum);
            let missing = match index {
                None => true,
                Some(i) => matches!(query.target_list[i].expr, Expr::SetToDefault(_)),
            };
            let Some(e) = self.build_default(view, a)? else { continue };
            if !missing {
                if let Some(i) = index {
                    default_in_values(query, i, &e);
                }
                continue;
            }
            let entry = crate::target::entry(e, a.attnum, Some(a.attname.to_string()), false);
            match index {
                Some(i) => query.target_list[i] = entry,
                None => query.target_list.push(entry),
            }
        }
        Ok(())
    }

    /// Replaces DEFAULT of an UPDATE by the defaults of the view's columns, or by NULL. (An INSERT
    /// uses the defaults of the table for columns that have none in the view.)
    fn set_to_view_defaults(&mut self, list: &mut [TargetEntry], view: &Relation) -> Result<()> {
        for t in list.iter_mut().filter(|t| !t.resjunk) {
            if !matches!(t.expr, Expr::SetToDefault(_)) {
                continue;
            }
            let a = &view.attributes[t.resno as usize - 1];
            t.expr = match self.build_default(view, a)? {
                Some(default) => default,
                None => self.typed_null(a)?,
            };
        }
        Ok(())
    }

    /// Adds the condition of WITH CHECK OPTION: new rows must be visible through the view.
    fn add_check(&mut self, query: &mut Query, view: &Relation, quals: &Option<Expr>) {
        let own = check_option(view);
        // A cascaded option applies to the views below too.
        let inherited = query.with_check_options.first().is_some_and(|w| w.cascaded);
        if own.is_none() && !inherited {
            return;
        }
        let cascaded = inherited || own == Some(true);
        if !cascaded && quals.is_none() {
            return;
        }
        let check = WithCheckOption {
            kind: WcoKind::ViewCheck,
            relname: view.class.relname.to_string(),
            polname: None,
            qual: quals.clone(),
            cascaded,
        };
        query.with_check_options.insert(0, check);
    }
}

/// If a target takes its value from a VALUES list, replaces DEFAULT in that column by this
/// expression.
fn default_in_values(query: &mut Query, target: usize, default: &Expr) {
    let Expr::Var(v) = crate::sort::strip_implicit(&query.target_list[target].expr) else { return };
    let (rti, column) = (v.varno as usize - 1, v.varattno as usize - 1);
    let Some(RteKind::Values { values_lists, .. }) = query.rtable.get_mut(rti).map(|r| &mut r.kind)
    else {
        return;
    };
    for e in values_lists.iter_mut().filter_map(|row| row.get_mut(column)) {
        if matches!(e, Expr::SetToDefault(_)) {
            *e = default.clone();
        }
    }
}
