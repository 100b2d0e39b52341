//! Aggregates, GROUPING and window functions: their query level, the clauses that allow them, and
//! the columns that must be grouped. Counterpart: parser/parse_agg.c.

use crate::state::{Analyzer, ExprKind};
use crate::walk::{contains_aggs, expr_deep, expr_deep_mut};
use ids::code::AggKind;
use ids::{AttrNo, Oid};
use parse::ast;
use pgerror::{Result, pg_err};
use plan::expr::{Aggref, Expr, GroupingFunc, Location, TargetEntry, Var, WindowFunc};
use plan::query::{GroupingSet, GroupingSetKind, Query, RteKind};

impl Analyzer<'_> {
    /// Completes an aggregate call. `args` are the direct and, for ordered-set aggregates, the
    /// aggregated arguments.
    pub fn aggregate_call(
        &mut self,
        mut agg: Aggref,
        mut args: Vec<Expr>,
        call: &ast::FuncCall,
    ) -> Result<Expr> {
        let row = self.cat.aggregate(agg.aggfnoid)?;
        agg.aggkind = row.as_ref().map_or(AggKind::Normal, |r| r.aggkind);
        agg.aggargtypes = args.iter().map(Expr::type_oid).collect();
        let mut tlist: Vec<TargetEntry> = Vec::new();
        if agg.aggkind != AggKind::Normal {
            let direct = args.len() - call.agg_order.len().min(args.len());
            let aggregated = args.split_off(direct);
            agg.aggdirectargs = args;
            for (i, e) in aggregated.into_iter().enumerate() {
                tlist.push(entry(e, (i + 1) as AttrNo));
            }
            for (i, item) in call.agg_order.iter().enumerate() {
                self.add_to_sort_list(i, item, &mut tlist, &mut agg.aggorder)?;
            }
        } else {
            for (i, e) in args.into_iter().enumerate() {
                tlist.push(entry(e, (i + 1) as AttrNo));
            }
            if !call.agg_order.is_empty() {
                // The sort keys of an aggregate are not numbered as columns of the query's target
                // list.
                let next = self.level().next_resno;
                let order = self.sort_clause(&call.agg_order, &mut tlist, ExprKind::OrderBy, true);
                self.level().next_resno = next;
                agg.aggorder = order?;
            }
            if call.agg_distinct {
                agg.aggdistinct = self.distinct_clause(&mut tlist, &agg.aggorder, true)?;
                for clause in &agg.aggdistinct {
                    if clause.sortop.is_valid() {
                        continue;
                    }
                    let target =
                        tlist.iter().find(|t| t.ressortgroupref == clause.tle_sort_group_ref);
                    let (ty, position) = target.map_or((Oid::INVALID, Location::UNKNOWN), |t| {
                        (t.expr.type_oid(), t.expr.location())
                    });
                    let name = self.format_type(ty);
                    let e = pg_err!(
                        UNDEFINED_FUNCTION,
                        "could not identify an ordering operator for type {name}"
                    )
                    .detail("Aggregates with DISTINCT must be able to sort their inputs.");
                    return Err(self.at(e, position));
                }
            }
        }
        agg.args = tlist;
        let location = agg.location.0;
        let mut parts: Vec<&Expr> = agg.args.iter().map(|t| &t.expr).collect();
        parts.extend(&agg.aggfilter);
        let level = self.aggregate_level(&parts, &agg.aggdirectargs, location)?;
        agg.agglevelsup = level;
        self.check_aggregate_placement(level, location, false)?;
        Ok(Expr::Aggref(Box::new(agg)))
    }

    /// Analyses `GROUPING(…)`. Counterpart: `transformGroupingFunc`.
    pub fn grouping_func(&mut self, n: &ast::GroupingFunc) -> Result<Expr> {
        if n.args.len() > 31 {
            let e = pg_err!(TOO_MANY_ARGUMENTS, "GROUPING must have fewer than 32 arguments");
            return Err(self.at(e, n.location));
        }
        let mut args = Vec::with_capacity(n.args.len());
        for arg in &n.args {
            args.push(self.expr(arg)?);
        }
        let parts: Vec<&Expr> = args.iter().collect();
        let level = self.aggregate_level(&parts, &[], n.location)?;
        self.check_aggregate_placement(level, n.location, true)?;
        Ok(Expr::GroupingFunc(Box::new(GroupingFunc {
            args,
            refs: Vec::new(),
            agglevelsup: level,
            location: Location(n.location),
        })))
    }

    /// The query level of an aggregate: the innermost level of the variables in its arguments,
    /// counted upwards from the current one. Counterpart: `check_agg_arguments`.
    fn aggregate_level(&mut self, args: &[&Expr], direct: &[Expr], location: i32) -> Result<u32> {
        let (mut min_var, mut min_agg): (Option<u32>, Option<(u32, Location)>) = (None, None);
        let mut window = None;
        let mut set = None;
        // The innermost WITH query that is referenced, except those that the sub-selects define.
        let mut min_cte: Option<(u32, String)> = None;
        for arg in args {
            expr_deep(arg, 0, &mut |e, up| {
                match e {
                    Expr::Var(v) if v.varlevelsup >= up => {
                        let level = v.varlevelsup - up;
                        min_var = Some(min_var.map_or(level, |m| m.min(level)));
                    }
                    Expr::Aggref(a) if a.agglevelsup >= up => {
                        let level = a.agglevelsup - up;
                        if min_agg.is_none_or(|m| level < m.0) {
                            min_agg = Some((level, a.location));
                        }
                        return false;
                    }
                    Expr::GroupingFunc(a) if a.agglevelsup >= up => {
                        let level = a.agglevelsup - up;
                        if min_agg.is_none_or(|m| level < m.0) {
                            min_agg = Some((level, a.location));
                        }
                        return false;
                    }
                    Expr::SubLink(s) => outer_ctes(&s.subselect, up + 1, &mut |level, name| {
                        if min_cte.as_ref().is_none_or(|m| level < m.0) {
                            min_cte = Some((level, name.to_owned()));
                        }
                    }),
                    Expr::WindowFunc(w) if up == 0 => window = window.or(Some(w.location)),
                    Expr::FuncExpr(f) if up == 0 && f.funcretset => {
                        set = set.or(Some(f.location));
                    }
                    Expr::OpExpr(o) if up == 0 && o.opretset => set = set.or(Some(o.location)),
                    _ => {}
                }
                true
            });
        }
        if let Some(set) = set {
            let e = pg_err!(
                FEATURE_NOT_SUPPORTED,
                "aggregate function calls cannot contain set-returning function calls"
            )
            .hint("You might be able to move the set-returning function into a LATERAL FROM item.");
            return Err(self.at(e, set));
        }
        let level = match (min_var, min_agg) {
            (None, None) => 0,
            (Some(v), None) => v,
            (None, Some(a)) => a.0,
            (Some(v), Some(a)) => v.min(a.0),
        };
        if let Some((cte_level, name)) = min_cte
            && cte_level < level
        {
            let e = pg_err!(FEATURE_NOT_SUPPORTED, "outer-level aggregate cannot use a nested CTE")
                .detail(format!("CTE \"{name}\" is below the aggregate's semantic level."));
            return Err(self.at(e, location));
        }
        if level == 0
            && let Some(window) = window
        {
            let e = pg_err!(
                GROUPING_ERROR,
                "aggregate function calls cannot contain window function calls"
            );
            return Err(self.at(e, window));
        }
        if let Some((agg_level, position)) = min_agg
            && agg_level == level
        {
            let e = pg_err!(GROUPING_ERROR, "aggregate function calls cannot be nested");
            let position = if position.0 >= 0 { position.0 } else { location };
            return Err(self.at(e, position));
        }
        self.check_direct_arguments(direct, level)?;
        Ok(level)
    }

    /// Direct arguments may contain only outer or grouped columns.
    fn check_direct_arguments(&mut self, direct: &[Expr], level: u32) -> Result<()> {
        for arg in direct {
            let mut bad = None;
            expr_deep(arg, 0, &mut |e, up| {
                match e {
                    Expr::Var(v) if v.varlevelsup >= up && v.varlevelsup - up < level => {
                        bad = Some((true, v.location));
                    }
                    Expr::Aggref(a) if a.agglevelsup >= up && a.agglevelsup - up <= level => {
                        bad = Some((false, a.location));
                    }
                    _ => {}
                }
                bad.is_none()
            });
            if let Some((var, location)) = bad {
                let e = if var {
                    pg_err!(
                        GROUPING_ERROR,
                        "outer-level aggregate cannot contain a lower-level variable in its direct \
                         arguments"
                    )
                } else {
                    pg_err!(GROUPING_ERROR, "aggregate function calls cannot be nested")
                };
                return Err(self.at(e, location));
            }
        }
        Ok(())
    }

    /// Reports an error if the clause under analysis `up` levels above does not allow aggregates.
    /// Sets `has_aggs` of that level.
    fn check_aggregate_placement(&mut self, up: u32, location: i32, grouping: bool) -> Result<()> {
        let level = self.level_up(up);
        level.has_aggs = true;
        let lateral = level.lateral_active;
        let what = if grouping { "grouping operations" } else { "aggregate functions" };
        let clause = match level.expr_kind {
            ExprKind::None
            | ExprKind::Other
            | ExprKind::Having
            | ExprKind::WindowPartition
            | ExprKind::WindowOrder
            | ExprKind::SelectTarget
            | ExprKind::OrderBy
            | ExprKind::DistinctOn => return Ok(()),
            ExprKind::FromSubselect => {
                if !lateral {
                    return Ok(());
                }
                let e = pg_err!(
                    GROUPING_ERROR,
                    "{what} are not allowed in FROM clause of their own query level"
                );
                return Err(self.at(e, location));
            }
            ExprKind::WindowFrameRange => "window RANGE",
            ExprKind::WindowFrameRows => "window ROWS",
            ExprKind::WindowFrameGroups => "window GROUPS",
            other => other.phrase(),
        };
        let e = pg_err!(GROUPING_ERROR, "{what} are not allowed in {clause}");
        Err(self.at(e, location))
    }

    /// Completes a window function call. Counterpart: `transformWindowFuncCall`.
    pub fn window_call(&mut self, mut window: WindowFunc, over: &ast::WindowDef) -> Result<Expr> {
        let location = window.location.0;
        if self.level_ref().has_window_funcs {
            let inner = window.args.iter().chain(&window.aggfilter);
            for arg in inner {
                let mut nested = Option::None;
                plan::walk::any(arg, &mut |e| match e {
                    Expr::WindowFunc(w) => {
                        nested = Some(w.location);
                        true
                    }
                    _ => false,
                });
                if let Some(position) = nested {
                    let e = pg_err!(WINDOWING_ERROR, "window function calls cannot be nested");
                    return Err(self.at(e, position));
                }
            }
        }
        if let Some(set) = window.args.iter().find_map(crate::coerce::set_in) {
            let e = pg_err!(
                FEATURE_NOT_SUPPORTED,
                "window function calls cannot contain set-returning function calls"
            )
            .hint("You might be able to move the set-returning function into a LATERAL FROM item.");
            return Err(self.at(e, set.0));
        }
        let clause = match self.kind() {
            ExprKind::None
            | ExprKind::Other
            | ExprKind::SelectTarget
            | ExprKind::OrderBy
            | ExprKind::DistinctOn => Option::None,
            ExprKind::WindowPartition
            | ExprKind::WindowOrder
            | ExprKind::WindowFrameRange
            | ExprKind::WindowFrameRows
            | ExprKind::WindowFrameGroups => Some("window definitions"),
            other => Some(other.phrase()),
        };
        if let Some(clause) = clause {
            let e = pg_err!(WINDOWING_ERROR, "window functions are not allowed in {clause}");
            return Err(self.at(e, location));
        }
        let level = self.level();
        if let Some(name) = &over.name {
            match level.windows.iter().position(|w| w.name.as_ref() == Some(name)) {
                Some(i) => window.winref = (i + 1) as u32,
                Option::None => {
                    let e = pg_err!(UNDEFINED_OBJECT, "window \"{name}\" does not exist");
                    return Err(self.at(e, over.location));
                }
            }
        } else {
            let same = level.windows.iter().position(|w| w.name.is_none() && same_window(w, over));
            let index = match same {
                Some(i) => i,
                Option::None => {
                    level.windows.push(over.clone());
                    level.windows.len() - 1
                }
            };
            window.winref = (index + 1) as u32;
        }
        level.has_window_funcs = true;
        Ok(Expr::WindowFunc(Box::new(window)))
    }

    /// Checks that in a grouped query every column is grouped or within an aggregate. Counterpart:
    /// `parseCheckAggregates`.
    pub fn check_aggregates(&mut self, query: &mut Query) -> Result<()> {
        // Sets of references of all grouping sets; a column counts as grouped if it is in all of
        // them.
        let sets = expand_grouping_sets(&query.grouping_sets);
        if let Some(sets) = &sets
            && sets.len() > 4096
        {
            return Err(pg_err!(
                STATEMENT_TOO_COMPLEX,
                "too many grouping sets present (maximum 4096)"
            ));
        }
        let common: Option<Vec<u32>> = sets.as_ref().map(|sets| {
            let first = sets.first().cloned().unwrap_or_default();
            first.into_iter().filter(|r| sets.iter().all(|s| s.contains(r))).collect()
        });
        // A single set that is not empty is a plain GROUP BY.
        if let (Some(sets), Some(common)) = (&sets, &common)
            && !query.group_clause.is_empty()
            && (sets.len() == 1
                || query.group_distinct && sets.iter().all(|s| s.len() == common.len()))
        {
            query.grouping_sets.clear();
        }
        let mut groups: Vec<(u32, Expr)> = Vec::new();
        for clause in &query.group_clause {
            let target =
                query.target_list.iter().find(|t| t.ressortgroupref == clause.tle_sort_group_ref);
            if let Some(target) = target {
                groups.push((clause.tle_sort_group_ref, target.expr.clone()));
            }
        }
        // Columns of joins are compared as the columns that they refer to.
        let has_joins = query.rtable.iter().any(|r| matches!(r.kind, RteKind::Join { .. }));
        if has_joins {
            for (_, e) in &mut groups {
                flatten_joins(e, query);
            }
        }
        let mut check = Ungrouped {
            groups: &groups,
            common: common.as_deref(),
            sets: sets.is_some(),
            have_nonvar: groups.iter().any(|g| !matches!(g.1, Expr::Var(_))),
            direct: false,
            dependent: Vec::new(),
        };
        let mut targets = std::mem::take(&mut query.target_list);
        let mut having = query.having_qual.take();
        let mut listed: Vec<&mut Expr> = targets.iter_mut().map(|t| &mut t.expr).collect();
        let mut result = self.check_exprs(&mut listed, query, has_joins, &mut check);
        if result.is_ok()
            && let Some(having) = &mut having
        {
            result = self.check_exprs(&mut [having], query, has_joins, &mut check);
        }
        let deps = std::mem::take(&mut check.dependent);
        query.target_list = targets;
        query.having_qual = having;
        query.constraint_deps.extend(deps);
        result?;
        let recursive = |r: &plan::query::RangeTblEntry| {
            matches!(r.kind, RteKind::Cte { self_reference: true, .. })
        };
        if self.level_ref().has_aggs && query.rtable.iter().any(recursive) {
            let mut location = None;
            let exprs = query.target_list.iter().map(|t| &t.expr).chain(&query.having_qual);
            for e in exprs {
                crate::walk::expr_deep(e, 0, &mut |e, up| {
                    if let Expr::Aggref(a) = e
                        && a.agglevelsup == up
                    {
                        location = location.or(Some(a.location));
                    }
                    true
                });
            }
            let e = pg_err!(
                INVALID_RECURSION,
                "aggregate functions are not allowed in a recursive query's recursive term"
            );
            return Err(self.at(e, location.unwrap_or_default()));
        }
        Ok(())
    }

    /// Checks a list of expressions. Calls of GROUPING in all of them are resolved first, so that
    /// their errors come before those of ungrouped columns.
    fn check_exprs(
        &mut self,
        exprs: &mut [&mut Expr],
        query: &Query,
        has_joins: bool,
        check: &mut Ungrouped<'_>,
    ) -> Result<()> {
        for expr in exprs.iter_mut() {
            self.finish_grouping(expr, query, check)?;
        }
        for expr in exprs.iter() {
            if has_joins {
                let mut flat = (**expr).clone();
                flatten_joins(&mut flat, query);
                self.check_ungrouped(&flat, 0, query, check)?;
            } else {
                self.check_ungrouped(expr, 0, query, check)?;
            }
        }
        Ok(())
    }

    /// Replaces the arguments of GROUPING by references to grouping columns.
    fn finish_grouping(
        &mut self,
        expr: &mut Expr,
        query: &Query,
        check: &Ungrouped<'_>,
    ) -> Result<()> {
        let mut bad = None;
        expr_deep_mut(expr, 0, &mut |e, up| {
            if let Expr::GroupingFunc(g) = e {
                if g.agglevelsup == up && bad.is_none() {
                    g.refs.clear();
                    for arg in &g.args {
                        let mut arg = arg.clone();
                        flatten_joins_up(&mut arg, query, up);
                        // In a sub-select, only plain columns are compared.
                        let comparable = up == 0 || matches!(arg, Expr::Var(_));
                        let mut groups = check.groups.iter().filter(|_| comparable);
                        let found = groups.find(|(_, e)| same_at(e, &arg, up));
                        match found {
                            Some((reference, _)) => g.refs.push(*reference),
                            None => {
                                bad = Some(arg.location());
                                break;
                            }
                        }
                    }
                }
                return false;
            }
            true
        });
        match bad {
            Some(location) => {
                let e = pg_err!(
                    GROUPING_ERROR,
                    "arguments to GROUPING must be grouping expressions of the associated query \
                     level"
                );
                Err(self.at(e, location))
            }
            None => Ok(()),
        }
    }

    fn check_ungrouped(
        &mut self,
        expr: &Expr,
        up: u32,
        query: &Query,
        check: &mut Ungrouped<'_>,
    ) -> Result<()> {
        match expr {
            Expr::Const(_) | Expr::Param(_) => return Ok(()),
            Expr::Aggref(a) => {
                if a.agglevelsup == up {
                    // Only the direct arguments must use grouped columns of this level.
                    let before = std::mem::replace(&mut check.direct, true);
                    for arg in &a.aggdirectargs {
                        self.check_ungrouped(arg, up, query, check)?;
                    }
                    check.direct = before;
                    return Ok(());
                }
                if a.agglevelsup > up {
                    return Ok(());
                }
            }
            Expr::GroupingFunc(g) if g.agglevelsup >= up => return Ok(()),
            _ => {}
        }
        if check.have_nonvar && up == 0 {
            let hit = check.groups.iter().any(|(reference, e)| {
                check.common.is_none_or(|c| c.contains(reference) || check.sets) && e == expr
            });
            if hit && !matches!(expr, Expr::Var(_)) {
                return Ok(());
            }
        }
        if let Expr::Var(v) = expr {
            if v.varlevelsup != up {
                return Ok(());
            }
            let grouped = check.groups.iter().any(|(_, e)| match e {
                Expr::Var(g) => {
                    g.varno == v.varno && g.varattno == v.varattno && g.varlevelsup == 0
                }
                _ => false,
            });
            if grouped || self.depends_on_group(v, query, check)? {
                return Ok(());
            }
            let rte = query.rte(v.varno);
            let column = match v.varattno {
                0 => "*".to_string(),
                n if n > 0 => rte.eref.colnames.get(n as usize - 1).cloned().unwrap_or_default(),
                n => system_name(n).to_string(),
            };
            let table = &rte.eref.aliasname;
            let e = if up == 0 {
                let e = pg_err!(
                    GROUPING_ERROR,
                    "column \"{table}.{column}\" must appear in the GROUP BY clause or be used in \
                     an aggregate function"
                );
                if check.direct {
                    e.detail(
                        "Direct arguments of an ordered-set aggregate must use only grouped \
                         columns.",
                    )
                } else {
                    e
                }
            } else {
                pg_err!(
                    GROUPING_ERROR,
                    "subquery uses ungrouped column \"{table}.{column}\" from outer query"
                )
            };
            return Err(self.at(e, v.location));
        }
        let mut children: Vec<&Expr> = Vec::new();
        plan::walk::each_child(expr, &mut |c| children.push(c));
        for child in children {
            self.check_ungrouped(child, up, query, check)?;
        }
        if let Expr::SubLink(link) = expr {
            // The sub-select's references to columns of this level.
            let mut found: Vec<(Expr, u32)> = Vec::new();
            crate::walk::query_deep(&link.subselect, up + 1, &mut |e, level| {
                match e {
                    Expr::Aggref(a) if a.agglevelsup >= level => return false,
                    Expr::GroupingFunc(a) if a.agglevelsup >= level => return false,
                    Expr::Var(v) if v.varlevelsup == level => found.push((e.clone(), level)),
                    _ => {}
                }
                true
            });
            for (e, level) in found {
                self.check_ungrouped(&e, level, query, check)?;
            }
        }
        Ok(())
    }

    /// Whether the column is functionally dependent on the GROUP BY columns, because they contain
    /// its table's primary key.
    fn depends_on_group(
        &mut self,
        v: &Var,
        query: &Query,
        check: &mut Ungrouped<'_>,
    ) -> Result<bool> {
        let RteKind::Relation { relid, .. } = query.rte(v.varno).kind else { return Ok(false) };
        // With several grouping sets, only columns that are in all of them count.
        let grouped: Vec<AttrNo> = check
            .groups
            .iter()
            .filter(|(r, _)| check.common.is_none_or(|c| c.contains(r)))
            .filter_map(|(_, e)| match e {
                Expr::Var(g) if g.varno == v.varno && g.varlevelsup == 0 => Some(g.varattno),
                _ => None,
            })
            .collect();
        if grouped.is_empty() {
            return Ok(false);
        }
        let Some(key) = self.cat.primary_key(relid)? else { return Ok(false) };
        if key.deferrable || !key.keys.iter().all(|k| grouped.contains(k)) {
            return Ok(false);
        }
        if !check.dependent.contains(&key.oid) {
            check.dependent.push(key.oid);
        }
        Ok(true)
    }

    /// Whether the query groups or aggregates rows, so that [`Self::check_aggregates`] must run.
    pub fn needs_group_check(query: &Query) -> bool {
        query.has_aggs
            || !query.group_clause.is_empty()
            || !query.grouping_sets.is_empty()
            || query.having_qual.is_some()
    }

    /// Whether the expression contains an aggregate of its own query level.
    pub fn has_aggregates(expr: &Expr) -> bool {
        contains_aggs(expr)
    }
}

struct Ungrouped<'g> {
    groups: &'g [(u32, Expr)],
    common: Option<&'g [u32]>,
    sets: bool,
    have_nonvar: bool,
    direct: bool,
    /// Primary key constraints that functional dependencies rely on.
    dependent: Vec<Oid>,
}

/// Whether `inner`, an expression `up` query levels below, is equal to `outer`.
fn same_at(outer: &Expr, inner: &Expr, up: u32) -> bool {
    if up == 0 {
        return outer == inner;
    }
    let mut shifted = outer.clone();
    expr_deep_mut(&mut shifted, 0, &mut |e, level| {
        if let Expr::Var(v) = e
            && v.varlevelsup >= level
        {
            v.varlevelsup += up;
        }
        true
    });
    shifted == *inner
}

/// Replaces references to join columns by the columns that the join columns refer to.
pub fn flatten_joins(expr: &mut Expr, query: &Query) {
    flatten_joins_up(expr, query, 0);
}

fn flatten_joins_up(expr: &mut Expr, query: &Query, up: u32) {
    expr_deep_mut(expr, up, &mut |e, level| {
        loop {
            let Expr::Var(v) = e else { return true };
            if v.varlevelsup != level || v.varattno <= 0 {
                return true;
            }
            let Some(rte) = query.rtable.get(v.varno as usize - 1) else { return true };
            let RteKind::Join { joinaliasvars, .. } = &rte.kind else { return true };
            let Some(alias) = joinaliasvars.get(v.varattno as usize - 1) else { return true };
            let (location, mut alias) = (v.location, alias.clone());
            if level > 0 {
                expr_deep_mut(&mut alias, 0, &mut |e, inner| {
                    if let Expr::Var(v) = e
                        && v.varlevelsup >= inner
                    {
                        v.varlevelsup += level;
                    }
                    true
                });
            }
            if let Expr::Var(v) = &mut alias {
                v.location = location;
            }
            *e = alias;
        }
    });
}

fn entry(expr: Expr, resno: AttrNo) -> TargetEntry {
    TargetEntry {
        expr,
        resno,
        resname: None,
        ressortgroupref: 0,
        resorigtbl: Oid::INVALID,
        resorigcol: 0,
        resjunk: false,
    }
}

/// The name of a system column.
pub fn system_name(number: AttrNo) -> &'static str {
    match number {
        -1 => "ctid",
        -2 => "xmin",
        -3 => "cmin",
        -4 => "xmax",
        -5 => "cmax",
        _ => "tableoid",
    }
}

/// Reports the WITH queries of level 0 and above that `query`, `depth` levels below level 0,
/// references. Sub-selects in its expressions are not visited.
fn outer_ctes(query: &Query, depth: u32, found: &mut dyn FnMut(u32, &str)) {
    for rte in &query.rtable {
        match &rte.kind {
            RteKind::Cte { ctename, ctelevelsup, .. } if *ctelevelsup >= depth => {
                found(ctelevelsup - depth, ctename);
            }
            RteKind::Subquery { subquery, .. } => outer_ctes(subquery, depth + 1, found),
            _ => {}
        }
    }
    for cte in &query.cte_list {
        outer_ctes(&cte.query, depth + 1, found);
    }
}

/// Whether two unnamed window definitions are equal, apart from their locations.
fn same_window(a: &ast::WindowDef, b: &ast::WindowDef) -> bool {
    fn bare(w: &ast::WindowDef) -> String {
        strip_locations(&format!(
            "{:?}{:?}{:?}{}{:?}{:?}",
            w.refname,
            w.partition_clause,
            w.order_clause,
            w.frame_options,
            w.start_offset,
            w.end_offset
        ))
    }
    bare(a) == bare(b)
}

/// A tree's text without its `location: n` parts.
fn strip_locations(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("location: ") {
        out.push_str(&rest[..at]);
        let after = &rest[at + 10..];
        let end = after.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(after.len());
        rest = &after[end..];
    }
    out.push_str(rest);
    out
}

/// All grouping sets as lists of references; `None` without grouping sets.
pub fn expand_grouping_sets(sets: &[GroupingSet]) -> Option<Vec<Vec<u32>>> {
    if sets.is_empty() {
        return None;
    }
    // The result is the cross product of the items of GROUP BY.
    let mut result: Vec<Vec<u32>> = vec![Vec::new()];
    for set in sets {
        let expanded = expand_one(set);
        let mut next = Vec::with_capacity(result.len() * expanded.len());
        for left in &result {
            for right in &expanded {
                let mut both = left.clone();
                for r in right {
                    if !both.contains(r) {
                        both.push(*r);
                    }
                }
                next.push(both);
                if next.len() > 4097 {
                    return Some(next);
                }
            }
        }
        result = next;
    }
    Some(result)
}

fn expand_one(set: &GroupingSet) -> Vec<Vec<u32>> {
    let refs_of =
        |part: &GroupingSet| -> Vec<u32> { expand_one(part).into_iter().flatten().collect() };
    match set.kind {
        GroupingSetKind::Empty => vec![Vec::new()],
        GroupingSetKind::Simple => vec![set.refs.clone()],
        GroupingSetKind::Rollup => (0..=set.content.len())
            .rev()
            .map(|n| set.content[..n].iter().flat_map(&refs_of).collect())
            .collect(),
        GroupingSetKind::Cube => {
            let n = set.content.len().min(12);
            (0..1usize << n)
                .rev()
                .map(|mask| {
                    (0..n)
                        .filter(|i| mask & (1 << (n - 1 - i)) != 0)
                        .flat_map(|i| refs_of(&set.content[i]))
                        .collect()
                })
                .collect()
        }
        GroupingSetKind::Sets => set.content.iter().flat_map(expand_one).collect(),
    }
}
