//! WITH. Counterpart: parser/parse_cte.c.

use crate::rawwalk::each_table;
use crate::relation::Column;
use crate::state::Analyzer;
use crate::ty;
use parse::ast::{self, Node, SelectStmt};
use pgerror::{Result, bail, pg_err};
use plan::expr::Location;
use plan::query::{CmdType, CommonTableExpr, CteMaterialize, Query};

impl Analyzer<'_> {
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
            let modifies = matches!(
                cte.ctequery,
                Node::InsertStmt(_)
                    | Node::UpdateStmt(_)
                    | Node::DeleteStmt(_)
                    | Node::MergeStmt(_)
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
                self.level().future_ctes.remove(0);
                let index = self.level_ref().ctes.len();
                // Visible only once it is done.
                let (entry, done) = self.start_cte(cte, false);
                let query = self.analyze_cte_query(cte, None)?;
                let level = self.level();
                level.ctes.push(entry);
                level.ctes_done.push(done);
                self.finish_cte(index, query, cte)?;
            }
            return Ok(());
        }
        // Recursive: all see each other; analyse them in the order of their dependencies.
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
                let stuck = (0..names.len()).find(|i| !order.contains(i)).unwrap_or(0);
                let e = pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "mutual recursion between WITH items is not implemented"
                );
                return Err(self.at(e, with.ctes[stuck].location));
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
            query: Box::new(Query::default()),
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
        if cte.search_clause.is_some() || cte.cycle_clause.is_some() {
            bail!(FEATURE_NOT_SUPPORTED, "SEARCH and CYCLE clauses are not supported");
        }
        let mut query = self.nested(|cx| {
            cx.level().in_cte = in_cte;
            cx.statement(&cte.ctequery)
        })?;
        query.can_set_tag = query.command_type == CmdType::Select;
        Ok(query)
    }

    fn finish_cte(&mut self, index: usize, query: Query, cte: &ast::CommonTableExpr) -> Result<()> {
        let columns = Self::query_columns(&query);
        let known = self.level_ref().ctes[index].clone();
        if known.recursive && !known.coltypes.is_empty() {
            for (i, column) in columns.iter().enumerate() {
                let Some(&had) = known.coltypes.get(i) else { break };
                if had != column.ty {
                    let (had, has) = (self.format_type(had), self.format_type(column.ty));
                    let e = pg_err!(
                        DATATYPE_MISMATCH,
                        "recursive query \"{}\" column {} has type {had} in non-recursive term but \
                         type {has} overall",
                        cte.ctename,
                        i + 1
                    )
                    .hint("Cast the output of the non-recursive term to the correct type.");
                    let place = query.result_columns().nth(i).map(|t| t.expr.location());
                    return Err(self.at(e, place.unwrap_or_default()));
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
                    return Err(e);
                }
            }
        } else {
            self.describe_cte(0, index, columns)?;
        }
        let level = self.level();
        *level.ctes[index].query = query;
        level.ctes_done[index] = true;
        Ok(())
    }

    /// Sets the columns of the WITH item `index`, `up` levels away.
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
            let place = cte.location;
            return Err(self.at(e, place));
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

    /// A recursive item must be `non-recursive UNION [ALL] recursive`, with one reference to itself in a
    /// plain place of the second. Counterpart: `checkWellFormedRecursion`.
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
        for (present, what) in [
            (!select.sort_clause.is_empty(), "ORDER BY"),
            (select.limit_offset.is_some(), "OFFSET"),
            (select.limit_count.is_some(), "LIMIT"),
            (!select.locking_clause.is_empty(), "FOR UPDATE/SHARE"),
        ] {
            if present {
                let e = pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "{what} in a recursive query is not implemented"
                );
                return Err(self.at(e, cte.location));
            }
        }
        if let Some(place) = reference(left, name) {
            let e = pg_err!(
                INVALID_RECURSION,
                "recursive reference to query \"{name}\" must not appear within its non-recursive \
                 term"
            );
            return Err(self.at(e, place));
        }
        let mut places = Places { name, plain: Vec::new(), bad: None };
        places.select(right);
        if let Some((what, place)) = places.bad {
            let e = pg_err!(
                INVALID_RECURSION,
                "recursive reference to query \"{name}\" must not appear within {what}"
            );
            return Err(self.at(e, place));
        }
        if let [_, second, ..] = places.plain[..] {
            let e = pg_err!(
                INVALID_RECURSION,
                "recursive reference to query \"{name}\" must not appear more than once"
            );
            return Err(self.at(e, second));
        }
        if places.plain.is_empty() {
            return Err(form(self));
        }
        Ok(())
    }
}

fn reference(select: &SelectStmt, name: &str) -> Option<i32> {
    let node = Node::SelectStmt(Box::new(select.clone()));
    let mut place = None;
    each_table(&node, &mut Vec::new(), &mut |v| {
        if &*v.relname == name && place.is_none() {
            place = Some(v.location);
        }
    });
    place
}

/// Where a recursive term refers to itself.
struct Places<'n> {
    name: &'n str,
    plain: Vec<i32>,
    bad: Option<(&'static str, i32)>,
}

impl Places<'_> {
    fn find(&self, node: &Node) -> Option<i32> {
        let mut place = None;
        each_table(node, &mut Vec::new(), &mut |v| {
            if &*v.relname == self.name && place.is_none() {
                place = Some(v.location);
            }
        });
        place
    }

    fn select(&mut self, s: &SelectStmt) {
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
        // Everywhere but in FROM it is a sub-select.
        let mut rest = s.clone();
        rest.from_clause.clear();
        self.forbid_one(&rest, "a subquery");
    }

    fn forbid_select(&mut self, l: &SelectStmt, r: &SelectStmt, what: &'static str) {
        self.forbid_one(l, what);
        self.forbid_one(r, what);
    }

    fn forbid_one(&mut self, s: &SelectStmt, what: &'static str) {
        if let Some(place) = reference(s, self.name) {
            self.bad.get_or_insert((what, place));
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
                if let Some(place) = j.quals.as_ref().and_then(|q| self.find(q)) {
                    self.bad.get_or_insert(("a subquery", place));
                }
            }
            // A sub-select in FROM may hold the reference.
            Node::RangeSubselect(r) => {
                if let Node::SelectStmt(s) = &r.subquery {
                    let before = self.plain.len();
                    self.select(s);
                    if outer && let Some(&place) = self.plain.get(before) {
                        self.bad.get_or_insert(("an outer join", place));
                    }
                }
            }
            other => {
                if let Some(place) = self.find(other) {
                    self.bad.get_or_insert(("a subquery", place));
                }
            }
        }
    }
}
