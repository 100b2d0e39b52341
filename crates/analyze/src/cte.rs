//! WITH queries (common table expressions). Counterpart: parser/parse_cte.c.

use crate::raw_walk::each_table;
use crate::relation::Column;
use crate::sort::raw_location;
use crate::state::{Analyzer, ExprKind};
use crate::ty;
use ids::Oid;
use parse::ast::{self, Node, SelectStmt};
use pgerror::{PgError, Result, SqlState, bail, pg_err};
use plan::expr::Location;
use plan::query::{
    CommonTableExpr, CteCycle, CteMaterialize, CteSearch, Query, RteKind, SetOpNode,
};
use stdx::Nested;

impl Analyzer<'_> {
    /// Analyses the WITH clause of `query`. Counterpart: `transformWithClause`.
    pub fn with_clause(&mut self, with: &ast::WithClause, query: &mut Query) -> Result<()> {
        query.has_recursive = with.recursive;
        for (i, cte) in with.ctes.iter().enumerate() {
            if with.ctes[..i].iter().any(|c| c.ctename == cte.ctename) {
                let e = pg_err!(
                    DUPLICATE_ALIAS,
                    "WITH query name \"{}\" specified more than once",
                    cte.ctename
                );
                return Err(self.at(e, cte.location));
            }
            if matches!(cte.ctequery, Node::MergeStmt(_)) {
                let e = pg_err!(FEATURE_NOT_SUPPORTED, "MERGE not supported in WITH query");
                return Err(self.at(e, cte.location));
            }
            let modifies = matches!(
                cte.ctequery,
                Node::InsertStmt(_) | Node::UpdateStmt(_) | Node::DeleteStmt(_)
            );
            if modifies {
                if self.levels.len() > 1 {
                    let e = pg_err!(
                        FEATURE_NOT_SUPPORTED,
                        "WITH clause containing a data-modifying statement must be at the top level"
                    );
                    return Err(self.at(e, cte.location));
                }
                query.has_modifying_cte = true;
                self.level().has_modifying_cte = true;
            }
        }
        if !with.recursive {
            self.level().future_ctes = with.ctes.iter().map(|c| c.ctename.to_string()).collect();
            for cte in &with.ctes {
                let index = self.level_ref().ctes.len();
                // A WITH query is visible only after its own analysis.
                let (entry, done) = self.start_cte(cte, false);
                let query = self.analyze_cte_query(cte, None)?;
                self.level().future_ctes.remove(0);
                let level = self.level();
                level.ctes.push(entry);
                level.ctes_done.push(done);
                self.finish_cte(index, query, cte)?;
            }
            return Ok(());
        }
        // Recursive: the queries may refer to each other; they are analysed in the order of their
        // dependencies.
        let names: Vec<&str> = with.ctes.iter().map(|c| &*c.ctename).collect();
        let mut needs: Vec<Vec<usize>> = Vec::with_capacity(names.len());
        for cte in &with.ctes {
            let mut mine = Vec::new();
            each_table(&cte.ctequery, &mut Vec::new(), &mut |v| {
                if let Some(i) = names.iter().position(|n| *n == &*v.relname) {
                    mine.push(i);
                }
            });
            needs.push(mine);
        }
        let mut order: Vec<usize> = Vec::with_capacity(names.len());
        while order.len() < names.len() {
            let next = (0..names.len()).find(|i| {
                !order.contains(i) && needs[*i].iter().all(|n| n == i || order.contains(n))
            });
            let Some(next) = next else {
                let in_cycle = (0..names.len()).find(|i| !order.contains(i)).unwrap_or(0);
                let e = pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "mutual recursion between WITH items is not implemented"
                );
                return Err(self.at(e, with.ctes[in_cycle].location));
            };
            order.push(next);
        }
        let base = self.level_ref().ctes.len();
        for &i in &order {
            let recursive = needs[i].contains(&i);
            let (entry, done) = self.start_cte(&with.ctes[i], recursive);
            let level = self.level();
            level.ctes.push(entry);
            level.ctes_done.push(done);
        }
        for (at, &i) in order.iter().enumerate() {
            let cte = &with.ctes[i];
            let index = base + at;
            if needs[i].contains(&i) {
                self.check_recursion(cte)?;
            }
            let query = self.analyze_cte_query(cte, Some(index))?;
            self.finish_cte(index, query, cte)?;
        }
        Ok(())
    }

    fn start_cte(
        &mut self,
        cte: &ast::CommonTableExpr,
        recursive: bool,
    ) -> (CommonTableExpr, bool) {
        let entry = CommonTableExpr {
            ctename: cte.ctename.to_string(),
            aliascolnames: cte.aliascolnames.iter().map(|n| n.to_string()).collect(),
            materialized: match cte.ctematerialized {
                ast::CteMaterialize::Default => CteMaterialize::Default,
                ast::CteMaterialize::Always => CteMaterialize::Always,
                ast::CteMaterialize::Never => CteMaterialize::Never,
            },
            query: Nested::new(Query::default()),
            search: None,
            cycle: None,
            recursive,
            refcount: 0,
            colnames: Vec::new(),
            coltypes: Vec::new(),
            coltypmods: Vec::new(),
            colcollations: Vec::new(),
            location: Location(cte.location),
        };
        (entry, false)
    }

    fn analyze_cte_query(
        &mut self,
        cte: &ast::CommonTableExpr,
        in_cte: Option<usize>,
    ) -> Result<Query> {
        let search = cte.search_clause.as_deref().map(search_clause);
        let cycle = match &cte.cycle_clause {
            Some(clause) => Some(self.cycle_clause(clause)?),
            None => None,
        };
        if let Some(index) = in_cte {
            let entry = &mut self.level().ctes[index];
            (entry.search, entry.cycle) = (search.map(Box::new), cycle.map(Box::new));
        }
        let mut query = self.nested(|cx| {
            cx.level().in_cte = in_cte;
            cx.statement(&cte.ctequery)
        })?;
        query.can_set_tag = false;
        Ok(query)
    }

    fn finish_cte(&mut self, index: usize, query: Query, cte: &ast::CommonTableExpr) -> Result<()> {
        let columns = Self::query_columns(&query);
        let known = self.level_ref().ctes[index].clone();
        if known.recursive && !known.coltypes.is_empty() {
            for (i, column) in columns.iter().enumerate() {
                let Some(&had) = known.coltypes.get(i) else { break };
                let modifier = known.coltypmods.get(i).copied().unwrap_or(-1);
                if had != column.ty || modifier != column.typmod {
                    let had = crate::typename::format_type(self.cat, had, Some(modifier))?;
                    let has =
                        crate::typename::format_type(self.cat, column.ty, Some(column.typmod))?;
                    let e = pg_err!(
                        DATATYPE_MISMATCH,
                        "recursive query \"{}\" column {} has type {had} in non-recursive term but \
                         type {has} overall",
                        cte.ctename,
                        i + 1
                    )
                    .hint("Cast the output of the non-recursive term to the correct type.");
                    let location = query.result_columns().nth(i).map(|t| t.expr.location());
                    return Err(self.at(e, location.unwrap_or_default()));
                }
                if known.colcollations.get(i) != Some(&column.collation) {
                    let name = |cx: &mut Self, oid| -> Result<String> {
                        Ok(cx
                            .cat
                            .collation_row(oid)?
                            .map_or_else(|| "(null)".into(), |c| c.collname.to_string()))
                    };
                    let had = name(self, known.colcollations[i])?;
                    let has = name(self, column.collation)?;
                    let e = pg_err!(
                        COLLATION_MISMATCH,
                        "recursive query \"{}\" column {} has collation \"{had}\" in non-recursive \
                         term but collation \"{has}\" overall",
                        cte.ctename,
                        i + 1
                    )
                    .hint("Use the COLLATE clause to set the collation of the non-recursive term.");
                    let location = query.result_columns().nth(i).map(|t| t.expr.location());
                    return Err(self.at(e, location.unwrap_or_default()));
                }
            }
        } else {
            self.describe_cte(0, index, columns)?;
        }
        self.check_search_cycle(index, &query, cte)?;
        let level = self.level();
        *level.ctes[index].query = query;
        level.ctes_done[index] = true;
        Ok(())
    }

    /// Coerces the mark values of CYCLE to a common type. Counterpart: the beginning of
    /// `analyzeCTE`.
    fn cycle_clause(&mut self, clause: &ast::CteCycleClause) -> Result<CteCycle> {
        let mut marks = Vec::new();
        for node in [&clause.cycle_mark_value, &clause.cycle_mark_default].into_iter().flatten() {
            marks.push(self.expr_in(node, ExprKind::CycleMark)?);
        }
        let mark_type = self.select_common_type(&marks, Some("CYCLE"))?;
        for mark in &mut marks {
            let e = crate::target::take(mark);
            *mark = self.coerce_to_common(e, mark_type, "CYCLE")?;
        }
        let mark_typmod = Self::common_typmod(&marks, mark_type);
        let mark_collation = self.select_common_collation(&mut marks, true)?;
        let eq = self.sort_operators(mark_type)?.eq;
        let neop = match eq.valid() {
            Some(eq) => self.cat.operator_row(eq)?.map(|o| o.oprnegate).unwrap_or_default(),
            None => Oid::INVALID,
        };
        if !neop.is_valid() {
            let shown = self.format_type(mark_type);
            let which = if eq.is_valid() { "inequality" } else { "equality" };
            bail!(UNDEFINED_FUNCTION, "could not identify an {which} operator for type {shown}");
        }
        let (Some(mark_default), Some(mark_value)) = (marks.pop(), marks.pop()) else {
            bail!(INTERNAL_ERROR, "CYCLE without its marks")
        };
        Ok(CteCycle {
            col_list: clause.cycle_col_list.iter().map(|n| n.to_string()).collect(),
            mark_column: clause
                .cycle_mark_column
                .as_ref()
                .map(|n| n.to_string())
                .unwrap_or_default(),
            mark_value,
            mark_default,
            path_column: clause
                .cycle_path_column
                .as_ref()
                .map(|n| n.to_string())
                .unwrap_or_default(),
            mark_type,
            mark_typmod,
            mark_collation,
            mark_neop: neop,
            location: Location(clause.location),
        })
    }

    /// Checks SEARCH and CYCLE against the columns of the WITH query. Counterpart: the end of
    /// `analyzeCTE`.
    fn check_search_cycle(
        &mut self,
        index: usize,
        query: &Query,
        cte: &ast::CommonTableExpr,
    ) -> Result<()> {
        let (search, cycle) = (cte.search_clause.as_deref(), cte.cycle_clause.as_deref());
        if search.is_none() && cycle.is_none() {
            return Ok(());
        }
        let entry = self.level_ref().ctes[index].clone();
        if !entry.recursive {
            let e = pg_err!(SYNTAX_ERROR, "WITH query is not recursive");
            return Err(self.at(e, cte.location));
        }
        if let Some(SetOpNode::Op(op)) = query.set_operations.as_deref() {
            for (side, node) in [("left", &op.larg), ("right", &op.rarg)] {
                let plain = match &**node {
                    SetOpNode::Leaf(rti) => match &query.rte(*rti).kind {
                        RteKind::Subquery { subquery, .. } => subquery.set_operations.is_none(),
                        _ => false,
                    },
                    SetOpNode::Op(_) => false,
                };
                if !plain {
                    let code = match side {
                        "left" => SqlState::FEATURE_NOT_SUPPORTED,
                        _ => SqlState::SYNTAX_ERROR,
                    };
                    return Err(PgError::new(
                        code,
                        format!(
                            "with a SEARCH or CYCLE clause, the {side} side of the UNION must be a \
                             SELECT"
                        ),
                    ));
                }
            }
        }
        let names = &entry.colnames;
        let known = |n: &str| names.iter().any(|c| c == n);
        let list = |what: &str, list: &[ast::Name], location: i32| -> Result<()> {
            for (i, name) in list.iter().enumerate() {
                let e = if !known(name) {
                    pg_err!(SYNTAX_ERROR, "{what} column \"{name}\" not in WITH query column list")
                } else if list[..i].contains(name) {
                    pg_err!(DUPLICATE_COLUMN, "{what} column \"{name}\" specified more than once")
                } else {
                    continue;
                };
                return Err(self.at(e, location));
            }
            Ok(())
        };
        let unused = |what: &str, name: &str, location: i32| -> Result<()> {
            if !known(name) {
                return Ok(());
            }
            let e = pg_err!(
                SYNTAX_ERROR,
                "{what} column name \"{name}\" already used in WITH query column list"
            );
            Err(self.at(e, location))
        };
        let sequence = entry.search.as_ref().map(|s| s.seq_column.as_str());
        if let (Some(s), Some(name)) = (search, sequence) {
            list("search", &s.search_col_list, s.location)?;
            unused("search sequence", name, s.location)?;
        }
        if let (Some(c), Some(clause)) = (cycle, &entry.cycle) {
            let (mark, path) = (clause.mark_column.as_str(), clause.path_column.as_str());
            list("cycle", &c.cycle_col_list, c.location)?;
            unused("cycle mark", mark, c.location)?;
            unused("cycle path", path, c.location)?;
            let both = |a: &str, b: &str, location: i32| {
                let e = pg_err!(SYNTAX_ERROR, "{a} column name and {b} column name are the same");
                Err(self.at(e, location))
            };
            if mark == path {
                return both("cycle mark", "cycle path", c.location);
            }
            if let (Some(s), Some(sequence)) = (search, sequence) {
                if sequence == mark {
                    return both("search sequence", "cycle mark", s.location);
                }
                if sequence == path {
                    return both("search sequence", "cycle path", s.location);
                }
            }
        }
        Ok(())
    }

    /// Sets the columns of the WITH query `index` of the level `up` levels above.
    pub fn describe_cte(&mut self, up: u32, index: usize, columns: Vec<Column>) -> Result<()> {
        let cte = &mut self.level_up(up).ctes[index];
        let given = cte.aliascolnames.len();
        cte.colnames.clone_from(&cte.aliascolnames);
        cte.coltypes.clear();
        cte.coltypmods.clear();
        cte.colcollations.clear();
        let recursive = cte.recursive;
        let available = columns.len();
        if given > available {
            let e = pg_err!(
                INVALID_COLUMN_REFERENCE,
                "WITH query \"{}\" has {available} columns available but {given} columns specified",
                cte.ctename
            );
            let location = cte.location;
            return Err(self.at(e, location));
        }
        for (i, column) in columns.into_iter().enumerate() {
            if i >= given {
                cte.colnames.push(column.name);
            }
            // A literal in the non-recursive term is text.
            let literal = recursive && column.ty == ty::UNKNOWN;
            cte.coltypes.push(if literal { ty::TEXT } else { column.ty });
            cte.coltypmods.push(if literal { -1 } else { column.typmod });
            cte.colcollations.push(if literal { ty::DEFAULT_COLLATION } else { column.collation });
        }
        Ok(())
    }

    /// A recursive query must be `non-recursive UNION [ALL] recursive`, with one reference to
    /// itself in the second term, outside outer joins' nullable sides and sub-selects. Counterpart:
    /// `checkWellFormedRecursion`.
    fn check_recursion(&mut self, cte: &ast::CommonTableExpr) -> Result<()> {
        let name = &cte.ctename;
        let select = match &cte.ctequery {
            Node::SelectStmt(s) => s,
            _ => {
                let e = pg_err!(
                    INVALID_RECURSION,
                    "recursive query \"{name}\" must not contain data-modifying statements"
                );
                return Err(self.at(e, cte.location));
            }
        };
        let form = |cx: &Self| {
            let e = pg_err!(
                INVALID_RECURSION,
                "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] \
                 recursive-term"
            );
            cx.at(e, cte.location)
        };
        let (ast::SetOperation::Union, Some(left), Some(right)) =
            (select.op, &select.larg, &select.rarg)
        else {
            return Err(form(self));
        };
        if let Some(location) = reference(left, name) {
            let e = pg_err!(
                INVALID_RECURSION,
                "recursive reference to query \"{name}\" must not appear within its non-recursive \
                 term"
            );
            return Err(self.at(e, location));
        }
        let mut references = RecursiveReferences { name, plain: Vec::new(), bad: None };
        references.select(right);
        if let Some(with) = &select.with_clause {
            // The WITH clause of the query itself belongs to neither term.
            for inner in &with.ctes {
                references.sublink(&inner.ctequery);
            }
        }
        let sort = select.sort_clause.first().map(|s| raw_location(&s.node));
        for (location, what) in [
            (sort, "ORDER BY"),
            (select.limit_offset.as_ref().map(raw_location), "OFFSET"),
            (select.limit_count.as_ref().map(raw_location), "LIMIT"),
            (select.locking_clause.first().map(|_| -1), "FOR UPDATE/SHARE"),
        ] {
            if let Some(location) = location
                && references.bad.is_none()
            {
                let e = pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "{what} in a recursive query is not implemented"
                );
                return Err(self.at(e, location));
            }
        }
        if let Some((what, location)) = references.bad {
            let e = pg_err!(
                INVALID_RECURSION,
                "recursive reference to query \"{name}\" must not appear within {what}"
            );
            return Err(self.at(e, location));
        }
        if let [_, second, ..] = references.plain[..] {
            let e = pg_err!(
                INVALID_RECURSION,
                "recursive reference to query \"{name}\" must not appear more than once"
            );
            return Err(self.at(e, second));
        }
        if references.plain.is_empty() {
            return Err(form(self));
        }
        Ok(())
    }
}

fn search_clause(clause: &ast::CteSearchClause) -> CteSearch {
    CteSearch {
        col_list: clause.search_col_list.iter().map(|n| n.to_string()).collect(),
        breadth_first: clause.search_breadth_first,
        seq_column: clause.search_seq_column.as_ref().map(|n| n.to_string()).unwrap_or_default(),
        location: Location(clause.location),
    }
}

fn reference(select: &SelectStmt, name: &str) -> Option<i32> {
    let node = Node::SelectStmt(Box::new(select.clone()));
    let mut location = None;
    each_table(&node, &mut Vec::new(), &mut |v| {
        if &*v.relname == name && location.is_none() {
            location = Some(v.location);
        }
    });
    location
}

/// The references of a recursive term to its own query.
struct RecursiveReferences<'n> {
    name: &'n str,
    plain: Vec<i32>,
    bad: Option<(&'static str, i32)>,
}

impl RecursiveReferences<'_> {
    fn find(&self, node: &Node) -> Option<i32> {
        let mut location = None;
        each_table(node, &mut Vec::new(), &mut |v| {
            if &*v.relname == self.name && location.is_none() {
                location = Some(v.location);
            }
        });
        location
    }

    /// A reference in a sub-select is an error.
    fn sublink(&mut self, node: &Node) {
        if let Some(location) = self.find(node) {
            self.bad.get_or_insert(("a subquery", location));
        }
    }

    fn select(&mut self, s: &SelectStmt) {
        if let Some(with) = &s.with_clause {
            // An inner WITH query of that name hides the outer one: everywhere with RECURSIVE, else
            // after its definition.
            let hidden = with.ctes.iter().position(|c| &*c.ctename == self.name);
            let seen = match hidden {
                Some(_) if with.recursive => 0,
                Some(at) => at + 1,
                None => with.ctes.len(),
            };
            for inner in &with.ctes[..seen] {
                match &inner.ctequery {
                    Node::SelectStmt(query) => self.select(query),
                    other => self.sublink(other),
                }
            }
            if hidden.is_some() {
                return;
            }
        }
        if let (Some(l), Some(r)) = (&s.larg, &s.rarg) {
            match s.op {
                ast::SetOperation::Intersect if s.all => self.forbid_select(l, r, "INTERSECT"),
                ast::SetOperation::Except => {
                    if s.all {
                        self.forbid_select(l, r, "EXCEPT");
                    } else {
                        self.select(l);
                        self.forbid_one(r, "EXCEPT");
                    }
                }
                _ => {
                    self.select(l);
                    self.select(r);
                }
            }
            return;
        }
        for item in &s.from_clause {
            self.from(item, false);
        }
        // A reference outside FROM is in a sub-select.
        let mut rest = s.clone();
        rest.from_clause.clear();
        rest.with_clause = None;
        self.forbid_one(&rest, "a subquery");
    }

    fn forbid_select(&mut self, l: &SelectStmt, r: &SelectStmt, what: &'static str) {
        self.forbid_one(l, what);
        self.forbid_one(r, what);
    }

    fn forbid_one(&mut self, s: &SelectStmt, what: &'static str) {
        if let Some(location) = reference(s, self.name) {
            self.bad.get_or_insert((what, location));
        }
    }

    fn from(&mut self, node: &Node, outer: bool) {
        match node {
            Node::RangeVar(v) if v.schemaname.is_none() && &*v.relname == self.name => {
                if outer {
                    self.bad.get_or_insert(("an outer join", v.location));
                } else {
                    self.plain.push(v.location);
                }
            }
            Node::JoinExpr(j) => {
                let (l, r) = match j.jointype {
                    ast::JoinType::Left => (outer, true),
                    ast::JoinType::Right => (true, outer),
                    ast::JoinType::Full => (true, true),
                    _ => (outer, outer),
                };
                self.from(&j.larg, l);
                self.from(&j.rarg, r);
                if let Some(location) = j.quals.as_ref().and_then(|q| self.find(q)) {
                    self.bad.get_or_insert(("a subquery", location));
                }
            }
            // A sub-select in FROM may contain the reference.
            Node::RangeSubselect(r) => {
                if let Node::SelectStmt(s) = &r.subquery {
                    let before = self.plain.len();
                    self.select(s);
                    if outer && let Some(&location) = self.plain.get(before) {
                        self.bad.get_or_insert(("an outer join", location));
                    }
                }
            }
            other => {
                if let Some(location) = self.find(other) {
                    self.bad.get_or_insert(("a subquery", location));
                }
            }
        }
    }
}
