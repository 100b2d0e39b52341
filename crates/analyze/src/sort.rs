//! ORDER BY, GROUP BY, DISTINCT, LIMIT and window definitions. Counterpart: parser/parse_clause.c,
//! second half.

use crate::coerce::{Context, is_null_const};
use crate::state::{Analyzer, ExprKind};
use crate::target::{entry, take};
use crate::ty;
use ids::Oid;
use ids::strategy::btree;
use parse::ast::{self, Node, Value};
use pgerror::{Result, bail, pg_err};
use plan::expr::{CoercionForm, Expr, Location, TargetEntry};
use plan::query::{GroupingSet, GroupingSetKind, SortGroupClause, WindowClause};

/// FRAMEOPTION bits of PostgreSQL.
pub mod frame {
    pub const RANGE: i32 = 0x2;
    pub const ROWS: i32 = 0x4;
    pub const GROUPS: i32 = 0x8;
    pub const START_OFFSET: i32 = 0x800 | 0x2000;
    pub const END_OFFSET: i32 = 0x1000 | 0x4000;
    pub const DEFAULTS: i32 = 0x2 | 0x20 | 0x400;
}

impl Analyzer<'_> {
    /// Resolves an item of ORDER BY, GROUP BY or DISTINCT ON by the rules of SQL92: a result column
    /// by name or number, else an expression. Returns the index in the target list. Counterpart:
    /// `findTargetlistEntrySQL92`.
    fn find_target_sql92(
        &mut self,
        node: &Node,
        tlist: &mut Vec<TargetEntry>,
        kind: ExprKind,
    ) -> Result<usize> {
        if let Node::ColumnRef(c) = node
            && let [Node::String(name)] = &c.fields[..]
        {
            // GROUP BY prefers a column of FROM.
            let input = kind == ExprKind::GroupBy
                && self
                    .with_kind(kind, |cx| cx.unqualified_column(name, true, c.location))?
                    .is_some();
            if !input {
                let mut found: Option<usize> = None;
                for (i, t) in tlist.iter().enumerate() {
                    if t.resjunk || t.resname.as_deref() != Some(name) {
                        continue;
                    }
                    match found {
                        Some(f) if tlist[f].expr != t.expr => {
                            let e = pg_err!(
                                AMBIGUOUS_COLUMN,
                                "{} \"{name}\" is ambiguous",
                                kind.name()
                            );
                            return Err(self.at(e, c.location));
                        }
                        Some(_) => {}
                        None => found = Some(i),
                    }
                }
                if let Some(i) = found {
                    self.check_target_sql92(&tlist[i], kind)?;
                    return Ok(i);
                }
            }
        }
        if let Node::AConst(c) = node {
            let Value::Integer(wanted) = c.val else {
                let e = pg_err!(SYNTAX_ERROR, "non-integer constant in {}", kind.name());
                return Err(self.at(e, c.location));
            };
            let mut position = 0;
            for (i, t) in tlist.iter().enumerate() {
                if t.resjunk {
                    continue;
                }
                position += 1;
                if position == wanted {
                    self.check_target_sql92(&tlist[i], kind)?;
                    return Ok(i);
                }
            }
            let e = pg_err!(
                INVALID_COLUMN_REFERENCE,
                "{} position {wanted} is not in select list",
                kind.name()
            );
            return Err(self.at(e, c.location));
        }
        self.find_target_sql99(node, tlist, kind)
    }

    /// Checks that a target found by name or number is allowed in the clause.
    fn check_target_sql92(&mut self, target: &TargetEntry, kind: ExprKind) -> Result<()> {
        if kind != ExprKind::GroupBy {
            return Ok(());
        }
        if self.level_ref().has_aggs && crate::walk::contains_aggs(&target.expr) {
            let mut location = Location::UNKNOWN;
            plan::walk::any(&target.expr, &mut |e| match e {
                Expr::Aggref(a) => {
                    location = a.location;
                    true
                }
                _ => false,
            });
            let e = pg_err!(GROUPING_ERROR, "aggregate functions are not allowed in GROUP BY");
            return Err(self.at(e, location));
        }
        if self.level_ref().has_window_funcs && crate::walk::contains_window(&target.expr) {
            let mut location = Location::UNKNOWN;
            plan::walk::any(&target.expr, &mut |e| match e {
                Expr::WindowFunc(a) => {
                    location = a.location;
                    true
                }
                _ => false,
            });
            let e = pg_err!(WINDOWING_ERROR, "window functions are not allowed in GROUP BY");
            return Err(self.at(e, location));
        }
        Ok(())
    }

    /// The target list entry equal to an expression. If there is none, adds a hidden (junk) one.
    /// Counterpart: `findTargetlistEntrySQL99`.
    fn find_target_sql99(
        &mut self,
        node: &Node,
        tlist: &mut Vec<TargetEntry>,
        kind: ExprKind,
    ) -> Result<usize> {
        let e = self.expr_in(node, kind)?;
        let bare = strip_implicit(&e);
        if let Some(i) = tlist.iter().position(|t| strip_implicit(&t.expr) == bare) {
            return Ok(i);
        }
        // Numbers continue those of the given list, which belongs to a query or to an aggregate's
        // arguments.
        let resno = tlist.iter().map(|t| t.resno).max().unwrap_or(0).saturating_add(1);
        let level = self.level();
        level.next_resno = level.next_resno.max(resno.saturating_add(1));
        tlist.push(entry(e, resno, None, true));
        Ok(tlist.len() - 1)
    }

    /// Analyses ORDER BY; adds junk columns to `tlist` as needed. Counterpart:
    /// `transformSortClause`.
    pub fn sort_clause(
        &mut self,
        items: &[ast::SortBy],
        tlist: &mut Vec<TargetEntry>,
        kind: ExprKind,
        sql99: bool,
    ) -> Result<Vec<SortGroupClause>> {
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            let index = if sql99 {
                self.find_target_sql99(&item.node, tlist, kind)?
            } else {
                self.find_target_sql92(&item.node, tlist, kind)?
            };
            self.add_to_sort_list(index, item, tlist, &mut out)?;
        }
        Ok(out)
    }

    fn literal_to_text(&mut self, target: &mut TargetEntry) -> Result<()> {
        if target.expr.type_oid() == ty::UNKNOWN {
            let e = take(&mut target.expr);
            target.expr = self.coerce_type(
                e,
                ty::TEXT,
                -1,
                Context::Implicit,
                CoercionForm::ImplicitCast,
                Location::UNKNOWN,
            )?;
        }
        Ok(())
    }

    /// Counterpart: `addTargetToSortList`.
    pub fn add_to_sort_list(
        &mut self,
        index: usize,
        item: &ast::SortBy,
        tlist: &mut [TargetEntry],
        list: &mut Vec<SortGroupClause>,
    ) -> Result<()> {
        self.literal_to_text(&mut tlist[index])?;
        let ty = tlist[index].expr.type_oid();
        let location = if item.location >= 0 { item.location } else { raw_location(&item.node) };
        let (sortop, eqop, hashable, reverse) = match item.sortby_dir {
            ast::SortByDir::Default | ast::SortByDir::Asc => {
                let ops = self.need_sort_operators(ty, true, true, false);
                let ops = self.with_position(ops, location)?;
                (ops.lt, ops.eq, ops.hashable, false)
            }
            ast::SortByDir::Desc => {
                let ops = self.need_sort_operators(ty, false, true, true);
                let ops = self.with_position(ops, location)?;
                (ops.gt, ops.eq, ops.hashable, true)
            }
            ast::SortByDir::Using => {
                let op = self.compatible_operator(&item.use_op, ty, ty);
                let op = self.with_position(op, location)?;
                let found = self.equality_for_ordering(op.oid)?;
                let Some((eq, reverse)) = found else {
                    let e = pg_err!(
                        WRONG_OBJECT_TYPE,
                        "operator {} is not a valid ordering operator",
                        crate::typename::dotted(&item.use_op)
                    )
                    .hint(
                        "Ordering operators must be \"<\" or \">\" members of btree operator \
                         families.",
                    );
                    return Err(self.at(e, location));
                };
                let hashable = self.cat.operator_row(eq)?.is_some_and(|o| o.oprcanhash);
                (op.oid, eq, hashable, reverse)
            }
        };
        let nulls_first = match item.sortby_nulls {
            ast::SortByNulls::Default => reverse,
            ast::SortByNulls::First => true,
            ast::SortByNulls::Last => false,
        };
        let reference = tlist[index].ressortgroupref;
        let commuted = self.cat.operator_row(sortop)?.map_or(Oid::INVALID, |o| o.oprcom);
        let there = reference != 0
            && list.iter().any(|c| {
                c.tle_sort_group_ref == reference && (c.sortop == sortop || c.sortop == commuted)
            });
        if !there {
            let tle_sort_group_ref = assign_ref(index, tlist);
            list.push(SortGroupClause { tle_sort_group_ref, eqop, sortop, nulls_first, hashable });
        }
        Ok(())
    }

    /// The equality operator of an ordering operator's family, and whether the ordering is
    /// descending.
    fn equality_for_ordering(&mut self, op: Oid) -> Result<Option<(Oid, bool)>> {
        for amop in self.cat.amops_of_operator(op)? {
            if amop.amopmethod != ty::BTREE_AM
                || !matches!(amop.amopstrategy, btree::LESS | btree::GREATER)
            {
                continue;
            }
            let eq = self.cat.opfamily_member(
                amop.amopfamily,
                amop.amoplefttype,
                amop.amoprighttype,
                btree::EQUAL,
            )?;
            if let Some(eq) = eq {
                return Ok(Some((eq, amop.amopstrategy == btree::GREATER)));
            }
        }
        Ok(None)
    }

    /// Counterpart: `addTargetToGroupList`.
    fn add_to_group_list(
        &mut self,
        index: usize,
        tlist: &mut [TargetEntry],
        list: &mut Vec<SortGroupClause>,
        location: i32,
    ) -> Result<()> {
        self.literal_to_text(&mut tlist[index])?;
        let reference = tlist[index].ressortgroupref;
        if reference != 0 && list.iter().any(|c| c.tle_sort_group_ref == reference) {
            return Ok(());
        }
        let ty = tlist[index].expr.type_oid();
        let position = if location >= 0 { location } else { tlist[index].expr.location().0 };
        let ops = self.need_sort_operators(ty, false, true, false);
        let ops = self.with_position(ops, position)?;
        list.push(SortGroupClause {
            tle_sort_group_ref: assign_ref(index, tlist),
            eqop: ops.eq,
            sortop: ops.lt,
            nulls_first: false,
            hashable: ops.hashable,
        });
        Ok(())
    }

    /// GROUP BY: the clauses and the grouping sets. Counterpart: `transformGroupClause`.
    pub fn group_clause(
        &mut self,
        items: &[Node],
        tlist: &mut Vec<TargetEntry>,
        sort: &[SortGroupClause],
        kind: ExprKind,
        sql99: bool,
    ) -> Result<(Vec<SortGroupClause>, Vec<GroupingSet>)> {
        let mut clauses = Vec::new();
        // `()` among other items has no effect; alone it means one group of all rows.
        let is_empty =
            |n: &Node| matches!(n, Node::GroupingSet(s) if s.kind == ast::GroupingSetKind::Empty);
        let only_empty = items.iter().all(is_empty);
        let mut has_sets = false;
        let mut sets: Vec<GroupingSet> = Vec::new();
        let mut seen = Vec::new();
        for (i, item) in items.iter().enumerate() {
            if is_empty(item) && !(only_empty && i == 0) {
                has_sets = true;
                continue;
            }
            if let Node::GroupingSet(set) = item {
                has_sets = true;
                sets.push(self.grouping_set(set, &mut clauses, tlist, sort, kind, sql99)?);
                continue;
            }
            for column in flat_items(item) {
                let r = self.group_item(column, &mut clauses, tlist, sort, kind, sql99)?;
                if !seen.contains(&r) {
                    seen.push(r);
                    sets.push(simple_set(vec![r], [column]));
                }
            }
        }
        if !has_sets {
            sets.clear();
        }
        Ok((clauses, sets))
    }

    fn group_item(
        &mut self,
        node: &Node,
        clauses: &mut Vec<SortGroupClause>,
        tlist: &mut Vec<TargetEntry>,
        sort: &[SortGroupClause],
        kind: ExprKind,
        sql99: bool,
    ) -> Result<u32> {
        let index = if sql99 {
            self.find_target_sql99(node, tlist, kind)?
        } else {
            self.find_target_sql92(node, tlist, kind)?
        };
        let reference = tlist[index].ressortgroupref;
        if reference != 0 {
            if clauses.iter().any(|c| c.tle_sort_group_ref == reference) {
                return Ok(reference);
            }
            // A column of ORDER BY is grouped with the same operators.
            if let Some(c) = sort.iter().find(|c| c.tle_sort_group_ref == reference) {
                clauses.push(c.clone());
                return Ok(reference);
            }
        }
        self.add_to_group_list(index, tlist, clauses, raw_location(node))?;
        Ok(tlist[index].ressortgroupref)
    }

    #[allow(clippy::too_many_arguments)]
    fn grouping_set(
        &mut self,
        set: &ast::GroupingSet,
        clauses: &mut Vec<SortGroupClause>,
        tlist: &mut Vec<TargetEntry>,
        sort: &[SortGroupClause],
        kind: ExprKind,
        sql99: bool,
    ) -> Result<GroupingSet> {
        let mut content = Vec::new();
        for part in &set.content {
            if let Node::GroupingSet(inner) = part {
                let inner = self.grouping_set(inner, clauses, tlist, sort, kind, sql99)?;
                match inner.kind {
                    // Sets within sets are sets of the outer ones.
                    GroupingSetKind::Sets => content.extend(inner.content),
                    _ => content.push(inner),
                }
                continue;
            }
            let columns = flat_items(part);
            let mut refs = Vec::new();
            for column in &columns {
                let known = clauses.len();
                let r = self.group_item(column, clauses, tlist, sort, kind, sql99)?;
                // In sorted input, the NULLs of a smaller set follow the rows that it combines.
                clauses[known..].iter_mut().for_each(|c| c.nulls_first = false);
                if !refs.contains(&r) {
                    refs.push(r);
                }
            }
            content.push(simple_set(refs, columns));
        }
        let kind = match set.kind {
            ast::GroupingSetKind::Empty => GroupingSetKind::Empty,
            ast::GroupingSetKind::Simple => GroupingSetKind::Simple,
            ast::GroupingSetKind::Rollup => GroupingSetKind::Rollup,
            ast::GroupingSetKind::Cube => GroupingSetKind::Cube,
            ast::GroupingSetKind::Sets => GroupingSetKind::Sets,
        };
        if kind == GroupingSetKind::Cube && content.len() > 12 {
            let e = pg_err!(TOO_MANY_COLUMNS, "CUBE is limited to 12 elements");
            return Err(self.at(e, set.location));
        }
        Ok(GroupingSet { kind, refs: Vec::new(), content, location: Location(set.location) })
    }

    /// Plain DISTINCT: all columns, those of ORDER BY first.
    pub fn distinct_clause(
        &mut self,
        tlist: &mut [TargetEntry],
        sort: &[SortGroupClause],
        is_agg: bool,
    ) -> Result<Vec<SortGroupClause>> {
        let mut out = Vec::new();
        for clause in sort {
            let target = tlist.iter().find(|t| t.ressortgroupref == clause.tle_sort_group_ref);
            if let Some(target) = target.filter(|t| t.resjunk) {
                let e = if is_agg {
                    pg_err!(
                        INVALID_COLUMN_REFERENCE,
                        "in an aggregate with DISTINCT, ORDER BY expressions must appear in \
                         argument list"
                    )
                } else {
                    pg_err!(
                        INVALID_COLUMN_REFERENCE,
                        "for SELECT DISTINCT, ORDER BY expressions must appear in select list"
                    )
                };
                return Err(self.at(e, &target.expr));
            }
            out.push(clause.clone());
        }
        for i in 0..tlist.len() {
            if !tlist[i].resjunk {
                self.add_to_group_list(i, tlist, &mut out, -1)?;
            }
        }
        if out.is_empty() {
            let e = if is_agg {
                pg_err!(SYNTAX_ERROR, "an aggregate with DISTINCT must have at least one argument")
            } else {
                pg_err!(SYNTAX_ERROR, "SELECT DISTINCT must have at least one column")
            };
            return Err(e);
        }
        Ok(out)
    }

    /// DISTINCT ON.
    pub fn distinct_on_clause(
        &mut self,
        items: &[Node],
        tlist: &mut Vec<TargetEntry>,
        sort: &[SortGroupClause],
    ) -> Result<Vec<SortGroupClause>> {
        let mut refs = Vec::with_capacity(items.len());
        for item in items {
            let index = self.find_target_sql92(item, tlist, ExprKind::DistinctOn)?;
            refs.push(assign_ref(index, tlist));
        }
        let places: Vec<i32> = items.iter().map(raw_location).collect();
        let known = refs.clone();
        let mismatch = |cx: &Self, r: u32| {
            let location = known.iter().position(|k| *k == r).map(|i| places[i]);
            let e = pg_err!(
                INVALID_COLUMN_REFERENCE,
                "SELECT DISTINCT ON expressions must match initial ORDER BY expressions"
            );
            cx.at(e, location.unwrap_or_default())
        };
        let mut out: Vec<SortGroupClause> = Vec::new();
        let mut skipped: Option<u32> = None;
        for clause in sort {
            if refs.contains(&clause.tle_sort_group_ref) {
                if skipped.is_some() {
                    return Err(mismatch(self, clause.tle_sort_group_ref));
                }
                out.push(clause.clone());
            } else {
                skipped = Some(clause.tle_sort_group_ref);
            }
        }
        for r in refs {
            if out.iter().any(|c| c.tle_sort_group_ref == r) {
                continue;
            }
            if skipped.is_some() {
                return Err(mismatch(self, r));
            }
            let Some(index) = tlist.iter().position(|t| t.ressortgroupref == r) else { continue };
            self.add_to_group_list(index, tlist, &mut out, -1)?;
        }
        Ok(out)
    }

    /// LIMIT and OFFSET.
    pub fn limit_clause(
        &mut self,
        clause: Option<&Node>,
        kind: ExprKind,
        with_ties: bool,
    ) -> Result<Option<Expr>> {
        let Some(clause) = clause else { return Ok(None) };
        let e = self.expr_in(clause, kind)?;
        let e = self.coerce_to_specific(e, ty::INT8, kind.name())?;
        self.no_variables(&e, kind.name())?;
        if with_ties && is_null_const(&e) {
            bail!(
                INVALID_ROW_COUNT_IN_LIMIT_CLAUSE,
                "row count cannot be null in FETCH FIRST ... WITH TIES clause"
            );
        }
        Ok(Some(e))
    }

    fn no_variables(&mut self, e: &Expr, construct: &str) -> Result<()> {
        if crate::walk::contains_vars_of_level(e, 0) {
            let mut location = Location::UNKNOWN;
            crate::walk::expr_deep(e, 0, &mut |e, up| {
                if let Expr::Var(v) = e
                    && v.varlevelsup == up
                    && location.0 < 0
                {
                    location = v.location;
                }
                true
            });
            let e = pg_err!(
                INVALID_COLUMN_REFERENCE,
                "argument of {construct} must not contain variables"
            );
            return Err(self.at(e, location));
        }
        Ok(())
    }

    /// Analyses the windows that window functions of the target list use. Counterpart:
    /// `transformWindowDefinitions`.
    pub fn window_definitions(
        &mut self,
        tlist: &mut Vec<TargetEntry>,
    ) -> Result<Vec<WindowClause>> {
        let defs = self.level_ref().windows.clone();
        let mut out: Vec<WindowClause> = Vec::with_capacity(defs.len());
        for def in &defs {
            let window = self.window_definition(def, &out, tlist)?;
            out.push(window);
        }
        Ok(out)
    }

    /// One window; `before` are those of the clauses before it.
    fn window_definition(
        &mut self,
        def: &ast::WindowDef,
        before: &[WindowClause],
        tlist: &mut Vec<TargetEntry>,
    ) -> Result<WindowClause> {
        if let Some(name) = &def.name
            && before.iter().any(|w| w.name.as_deref() == Some(name))
        {
            let e = pg_err!(WINDOWING_ERROR, "window \"{name}\" is already defined");
            return Err(self.at(e, def.location));
        }
        let base = match &def.refname {
            Some(name) => {
                let found = before.iter().find(|w| w.name.as_deref() == Some(name)).cloned();
                let Some(found) = found else {
                    let e = pg_err!(UNDEFINED_OBJECT, "window \"{name}\" does not exist");
                    return Err(self.at(e, def.location));
                };
                Some(found)
            }
            None => None,
        };
        let order = self.sort_clause(&def.order_clause, tlist, ExprKind::WindowOrder, true)?;
        let (partition, _) = self.group_clause(
            &def.partition_clause,
            tlist,
            &order,
            ExprKind::WindowPartition,
            true,
        )?;
        let mut window = WindowClause {
            name: def.name.as_ref().map(|n| n.to_string()),
            refname: def.refname.as_ref().map(|r| r.to_string()),
            partition_clause: partition,
            order_clause: order,
            frame_options: def.frame_options,
            start_offset: None,
            end_offset: None,
            start_in_range_func: Oid::INVALID,
            end_in_range_func: Oid::INVALID,
            in_range_coll: Oid::INVALID,
            in_range_asc: false,
            in_range_nulls_first: false,
            winref: before.len() as u32 + 1,
            copied_order: false,
        };
        if let Some(base) = base
            && let Err(e) = inherit_window(&mut window, base, def)
        {
            return Err(self.at(e, def.location));
        }
        let range_key = self.range_key(&mut window, def, tlist)?;
        if def.frame_options & frame::GROUPS != 0 && window.order_clause.is_empty() {
            let e = pg_err!(WINDOWING_ERROR, "GROUPS mode requires an ORDER BY clause");
            return Err(self.at(e, def.location));
        }
        if let Some(offset) = &def.start_offset {
            let (e, func) = self.frame_offset(def.frame_options, range_key, offset)?;
            window.start_offset = Some(e);
            window.start_in_range_func = func;
        }
        if let Some(offset) = &def.end_offset {
            let (e, func) = self.frame_offset(def.frame_options, range_key, offset)?;
            window.end_offset = Some(e);
            window.end_in_range_func = func;
        }
        Ok(window)
    }

    /// For RANGE with an offset: the operator family and the type of the sort key there.
    fn range_key(
        &mut self,
        window: &mut WindowClause,
        def: &ast::WindowDef,
        tlist: &[TargetEntry],
    ) -> Result<Option<(Oid, Oid)>> {
        let has_offset = def.frame_options & (frame::START_OFFSET | frame::END_OFFSET) != 0;
        if def.frame_options & frame::RANGE == 0 || !has_offset {
            return Ok(None);
        }
        let [clause] = &window.order_clause[..] else {
            let e = pg_err!(
                WINDOWING_ERROR,
                "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column"
            );
            return Err(self.at(e, def.location));
        };
        let key = tlist
            .iter()
            .find(|t| t.ressortgroupref == clause.tle_sort_group_ref)
            .map(|t| t.expr.collation());
        let amop = self
            .cat
            .amops_of_operator(clause.sortop)?
            .into_iter()
            .find(|a| a.amopmethod == ty::BTREE_AM);
        let (Some(collation), Some(amop)) = (key, amop) else { return Ok(None) };
        window.in_range_nulls_first = clause.nulls_first;
        window.in_range_coll = collation;
        window.in_range_asc = amop.amopstrategy == btree::LESS;
        Ok(Some((amop.amopfamily, amop.amoplefttype)))
    }

    fn frame_offset(
        &mut self,
        options: i32,
        range_key: Option<(Oid, Oid)>,
        node: &Node,
    ) -> Result<(Expr, Oid)> {
        let (kind, name) = if options & frame::ROWS != 0 {
            (ExprKind::WindowFrameRows, "ROWS")
        } else if options & frame::GROUPS != 0 {
            (ExprKind::WindowFrameGroups, "GROUPS")
        } else {
            (ExprKind::WindowFrameRange, "RANGE")
        };
        let e = self.expr_in(node, kind)?;
        if kind != ExprKind::WindowFrameRange {
            let e = self.coerce_to_specific(e, ty::INT8, name)?;
            self.no_variables(&e, name)?;
            return Ok((e, Oid::INVALID));
        }
        let Some(key) = range_key else { bail!(INTERNAL_ERROR, "RANGE offset without a key") };
        let (ty, func) = self.in_range_function(key, &e)?;
        let e = self.coerce_to_specific(e, ty, name)?;
        self.no_variables(&e, name)?;
        Ok((e, func))
    }

    /// The type to which a RANGE offset is coerced, and the in_range function (support function 3)
    /// for it. `family` and `key_type` are those of the sort key.
    fn in_range_function(
        &mut self,
        (family, key_type): (Oid, Oid),
        offset: &Expr,
    ) -> Result<(Oid, Oid)> {
        let (offset_type, location) = (offset.type_oid(), offset.location());
        let preferred = if offset_type == ty::UNKNOWN { key_type } else { offset_type };
        let mut tries = vec![preferred];
        let others = [ty::INT8, ty::INT4, ty::INT2, ty::INTERVAL, ty::FLOAT8, ty::NUMERIC];
        tries.extend(others.into_iter().filter(|&other| other != preferred));
        let (mut functions, mut matching) = (0, Vec::new());
        for candidate in tries {
            let func = self.cat.opfamily_proc(family, key_type, candidate, 3)?;
            let Some(func) = func else { continue };
            functions += 1;
            if self.can_coerce(&[offset_type], &[candidate], Context::Implicit)? {
                matching.push((candidate, func));
            }
        }
        let (key, shown) = (self.format_type(key_type), self.format_type(offset_type));
        let error = match &matching[..] {
            &[found] => return Ok(found),
            &[found, ..] if found.0 == preferred => return Ok(found),
            [] if functions == 0 => pg_err!(
                FEATURE_NOT_SUPPORTED,
                "RANGE with offset PRECEDING/FOLLOWING is not supported for column type {key}"
            ),
            [] => pg_err!(
                FEATURE_NOT_SUPPORTED,
                "RANGE with offset PRECEDING/FOLLOWING is not supported for column type {key} and \
                 offset type {shown}"
            )
            .hint("Cast the offset value to an appropriate type."),
            _ => pg_err!(
                FEATURE_NOT_SUPPORTED,
                "RANGE with offset PRECEDING/FOLLOWING has multiple interpretations for column \
                 type {key} and offset type {shown}"
            )
            .hint("Cast the offset value to the exact intended type."),
        };
        Err(self.at(error, location))
    }
}

/// The columns of an item of GROUP BY: those of a row, nested rows included, or the item itself.
fn flat_items(item: &Node) -> Vec<&Node> {
    match item {
        Node::RowExpr(row) if row.row_format == ast::CoercionForm::ImplicitCast => {
            row.args.iter().flat_map(flat_items).collect()
        }
        Node::List(list) => list.iter().flat_map(flat_items).collect(),
        other => vec![other],
    }
}

/// A simple grouping set with the references `refs`. The location is that of the first of the raw
/// expressions `nodes` that has one.
fn simple_set<'a>(refs: Vec<u32>, nodes: impl IntoIterator<Item = &'a Node>) -> GroupingSet {
    let location = nodes.into_iter().map(raw_location).find(|&location| location >= 0);
    GroupingSet {
        kind: GroupingSetKind::Simple,
        refs,
        content: Vec::new(),
        location: location.map_or(Location::UNKNOWN, Location),
    }
}

/// The target's reference number, a new one if it has none. Counterpart: `assignSortGroupRef`.
pub fn assign_ref(index: usize, tlist: &mut [TargetEntry]) -> u32 {
    if tlist[index].ressortgroupref == 0 {
        let highest = tlist.iter().map(|t| t.ressortgroupref).max().unwrap_or(0);
        tlist[index].ressortgroupref = highest + 1;
    }
    tlist[index].ressortgroupref
}

/// The expression without implicit coercions.
pub fn strip_implicit(e: &Expr) -> &Expr {
    let implicit = CoercionForm::ImplicitCast;
    match e {
        Expr::FuncExpr(f) if f.funcformat == implicit => f.args.first().map_or(e, strip_implicit),
        Expr::Relabel(n) if n.relabelformat == implicit => strip_implicit(&n.arg),
        Expr::CoerceViaIo(n) if n.coerceformat == implicit => strip_implicit(&n.arg),
        Expr::ArrayCoerce(n) if n.coerceformat == implicit => strip_implicit(&n.arg),
        Expr::ConvertRowtype(n) if n.convertformat == implicit => strip_implicit(&n.arg),
        Expr::CoerceToDomain(n) if n.coercionformat == implicit => strip_implicit(&n.arg),
        other => other,
    }
}

/// The location of a raw expression, for errors. Counterpart: `exprLocation`.
pub fn raw_location(node: &Node) -> i32 {
    let least = |a: i32, b: i32| if a < 0 || (b >= 0 && b < a) { b } else { a };
    match node {
        Node::ColumnRef(n) => n.location,
        Node::ParamRef(n) => n.location,
        Node::AConst(n) => n.location,
        Node::AExpr(n) => {
            n.lexpr.as_ref().map_or(n.location, |l| least(n.location, raw_location(l)))
        }
        Node::TypeCast(n) => {
            let arg = raw_location(&n.arg);
            least(least(arg, n.type_name.location), n.location)
        }
        Node::CollateClause(n) => n.arg.as_ref().map_or(n.location, raw_location),
        Node::FuncCall(n) => {
            n.args.first().map_or(n.location, |a| least(n.location, raw_location(a)))
        }
        Node::BoolExpr(n) => {
            n.args.first().map_or(n.location, |a| least(n.location, raw_location(a)))
        }
        Node::AIndirection(n) => raw_location(&n.arg),
        Node::SubLink(n) => {
            n.testexpr.as_ref().map_or(n.location, |t| least(n.location, raw_location(t)))
        }
        Node::CaseExpr(n) => n.location,
        Node::RowExpr(n) => n.location,
        Node::AArrayExpr(n) => n.location,
        Node::CoalesceExpr(n) => n.location,
        Node::MinMaxExpr(n) => n.location,
        Node::SqlValueFunction(n) => n.location,
        Node::NullTest(n) => least(n.location, raw_location(&n.arg)),
        Node::BooleanTest(n) => least(n.location, raw_location(&n.arg)),
        Node::GroupingFunc(n) => n.location,
        Node::NamedArgExpr(n) => n.location,
        _ => -1,
    }
}

/// Copies the clauses that a window inherits from the window that it refers to.
fn inherit_window(
    window: &mut WindowClause,
    base: WindowClause,
    def: &ast::WindowDef,
) -> Result<()> {
    let name = window.refname.as_deref().unwrap_or_default();
    if !window.partition_clause.is_empty() {
        return Err(pg_err!(
            WINDOWING_ERROR,
            "cannot override PARTITION BY clause of window \"{name}\""
        ));
    }
    if !base.order_clause.is_empty() && !window.order_clause.is_empty() {
        return Err(pg_err!(
            WINDOWING_ERROR,
            "cannot override ORDER BY clause of window \"{name}\""
        ));
    }
    if base.frame_options != frame::DEFAULTS {
        // OVER w may refer to a window with a frame clause, OVER (w …) may not.
        let e =
            pg_err!(WINDOWING_ERROR, "cannot copy window \"{name}\" because it has a frame clause");
        let plain = def.name.is_none()
            && window.order_clause.is_empty()
            && base.order_clause.is_empty()
            && def.frame_options == frame::DEFAULTS;
        return Err(if plain { e.hint("Omit the parentheses in this OVER clause.") } else { e });
    }
    window.partition_clause = base.partition_clause;
    if !base.order_clause.is_empty() {
        window.order_clause = base.order_clause;
        window.copied_order = true;
    }
    Ok(())
}
