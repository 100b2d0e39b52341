//! Deparses queries. Counterpart: ruleutils.c (`get_query_def`).

use crate::names::Scope;
use crate::object::looks_like_function;
use crate::{Deparser, JOIN, STD, VAR};
use analyze::stored::malformed;
use ids::builtin::proc::ARRAY_UNNEST;
use pgerror::{PgError, Result};
use plan::expr::{CoercionForm, Expr, ParamKind, SubLink, SubLinkKind, TargetEntry};
use plan::query::{
    CmdType, CteMaterialize, FromExpr, GroupingSet, GroupingSetKind, JoinExpr, JoinTreeNode,
    JoinType, LimitOption, LockStrength, LockWaitPolicy, OnConflictAction, Override, Query,
    RangeTblFunction, RteKind, SetOpNode, SetOperation, TableSample,
};
use stdx::stack::deep;

impl Deparser<'_> {
    /// Writes a query at the current indentation. `columns` gives the names of the result columns.
    /// Without `named` the column names do not matter to a reader of the result, so that some
    /// aliases are omitted.
    pub(super) fn query(
        &mut self,
        q: &Query,
        columns: Option<&[String]>,
        named: bool,
    ) -> Result<()> {
        self.deeper()?;
        let scope = Scope::of_query(self.host, q, &self.scopes)?;
        // In a function body, an unqualified column name could also mean an argument.
        let inside = !self.scopes.is_empty() || !self.function_name.is_empty();
        let prefix = inside || q.rtable.len() != 1;
        let saved = (self.prefix, self.indent);
        self.prefix = prefix;
        self.scopes.push(scope);
        stdx::stack::deep(|| self.command(q, columns, named))?;
        self.scopes.pop();
        (self.prefix, self.indent) = saved;
        self.depth -= 1;
        Ok(())
    }

    fn command(&mut self, q: &Query, columns: Option<&[String]>, named: bool) -> Result<()> {
        match q.command_type {
            CmdType::Select => self.select(q, columns, named)?,
            CmdType::Insert => self.insert(q, named)?,
            CmdType::Update => self.update(q, named)?,
            CmdType::Delete => self.delete(q, named)?,
            CmdType::Nothing => self.put("NOTHING"),
            CmdType::Utility => self.notify(q)?,
            _ => return Err(PgError::unsupported("text of this kind of statement")),
        }
        Ok(())
    }

    fn notify(&mut self, q: &Query) -> Result<()> {
        let notify = q.notify.as_ref().ok_or_else(malformed)?;
        self.keyword("", 0, STD, 1);
        self.put(&format!("NOTIFY {}", self.quoting.identifier(&notify.channel)));
        if let Some(payload) = &notify.payload {
            self.put(&format!(", {}", self.quoting.literal(payload)));
        }
        Ok(())
    }

    fn with_clause(&mut self, q: &Query) -> Result<()> {
        if q.cte_list.is_empty() {
            return Ok(());
        }
        if self.style.indent {
            self.indent += STD;
            self.put(" ");
        }
        self.put(if q.has_recursive { "WITH RECURSIVE " } else { "WITH " });
        for (i, cte) in q.cte_list.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            self.put_name(&cte.ctename);
            if !cte.aliascolnames.is_empty() {
                self.names(&cte.aliascolnames);
            }
            self.put(" AS ");
            self.put(match cte.materialized {
                CteMaterialize::Default => "",
                CteMaterialize::Always => "MATERIALIZED ",
                CteMaterialize::Never => "NOT MATERIALIZED ",
            });
            self.put("(");
            if self.style.indent {
                self.keyword("", 0, 0, 0);
            }
            self.query(&cte.query, None, true)?;
            if self.style.indent {
                self.keyword("", 0, 0, 0);
            }
            self.put(")");
            if let Some(s) = &cte.search {
                let order = if s.breadth_first { "BREADTH" } else { "DEPTH" };
                self.put(&format!(" SEARCH {order} FIRST BY "));
                self.bare_names(&s.col_list);
                self.put(" SET ");
                self.put_name(&s.seq_column);
            }
            if let Some(c) = &cte.cycle {
                self.put(" CYCLE ");
                self.bare_names(&c.col_list);
                self.put(" SET ");
                self.put_name(&c.mark_column);
                let is_bool = |e: &Expr, want: u64| {
                    matches!(e, Expr::Const(k) if k.consttype == types::oids::BOOL
                        && !k.is_null() && k.value.as_ref().word() == want)
                };
                if !(is_bool(&c.mark_value, 1) && is_bool(&c.mark_default, 0)) {
                    self.put(" TO ");
                    self.expr(&c.mark_value, false)?;
                    self.put(" DEFAULT ");
                    self.expr(&c.mark_default, false)?;
                }
                self.put(" USING ");
                self.put_name(&c.path_column);
            }
        }
        if self.style.indent {
            self.indent -= STD;
            self.keyword("", 0, 0, 0);
        } else {
            self.put(" ");
        }
        Ok(())
    }

    fn bare_names(&mut self, names: &[String]) {
        for (i, n) in names.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            self.put_name(n);
        }
    }

    fn names(&mut self, names: &[String]) {
        self.put("(");
        self.bare_names(names);
        self.put(")");
    }

    fn select(&mut self, q: &Query, columns: Option<&[String]>, named: bool) -> Result<()> {
        self.with_clause(q)?;
        let set_operation = q.set_operations.as_deref();
        match set_operation {
            Some(op) => self.set_operation(op, q, columns, named)?,
            None => self.basic_select(q, columns, named)?,
        }
        if !q.sort_clause.is_empty() {
            self.keyword(" ORDER BY ", -STD, STD, 1);
            self.order_by(&q.sort_clause, &q.target_list, set_operation.is_some())?;
        }
        if let Some(offset) = &q.limit_offset {
            self.keyword(" OFFSET ", -STD, STD, 0);
            self.expr(offset, false)?;
        }
        if let Some(count) = &q.limit_count {
            if q.limit_option == LimitOption::WithTies {
                self.keyword(" FETCH FIRST ", -STD, STD, 0);
                self.parens(!matches!(count, Expr::Const(_)), |d| d.expr(count, false))?;
                self.put(" ROWS WITH TIES");
            } else {
                self.keyword(" LIMIT ", -STD, STD, 0);
                match count {
                    Expr::Const(c) if c.is_null() => self.put("ALL"),
                    e => self.expr(e, false)?,
                }
            }
        }
        if q.has_for_update {
            for mark in q.row_marks.iter().filter(|m| !m.pushed_down) {
                let text = match mark.strength {
                    LockStrength::None => return Err(malformed()),
                    LockStrength::ForKeyShare => " FOR KEY SHARE",
                    LockStrength::ForShare => " FOR SHARE",
                    LockStrength::ForNoKeyUpdate => " FOR NO KEY UPDATE",
                    LockStrength::ForUpdate => " FOR UPDATE",
                };
                self.keyword(text, -STD, STD, 0);
                if let Some(name) = self.refname(mark.rti) {
                    self.put(" OF ");
                    self.put_name(&name);
                }
                self.put(match mark.wait_policy {
                    LockWaitPolicy::Block => "",
                    LockWaitPolicy::Skip => " SKIP LOCKED",
                    LockWaitPolicy::Error => " NOWAIT",
                });
            }
        }
        Ok(())
    }

    fn refname(&self, rti: i32) -> Option<String> {
        let entry = self.scopes.last()?.entries.get(rti as usize - 1)?;
        entry.refname.clone()
    }

    fn basic_select(&mut self, q: &Query, columns: Option<&[String]>, named: bool) -> Result<()> {
        if self.style.indent {
            self.indent += STD;
            self.put(" ");
        }
        if let Some(lists) = simple_values(q, columns) {
            return self.values(lists);
        }
        self.put(if q.is_return { "RETURN" } else { "SELECT" });
        if !q.distinct_clause.is_empty() {
            if q.has_distinct_on {
                self.put(" DISTINCT ON (");
                for (i, key) in q.distinct_clause.iter().enumerate() {
                    if i > 0 {
                        self.put(", ");
                    }
                    self.sort_key(key.tle_sort_group_ref, &q.target_list, false)?;
                }
                self.put(")");
            } else {
                self.put(" DISTINCT");
            }
        }
        self.targets(&q.target_list, columns, named)?;
        self.put_from(q, " FROM ")?;
        self.where_clause(&q.jointree)?;
        if !q.group_clause.is_empty() || !q.grouping_sets.is_empty() {
            self.keyword(" GROUP BY ", -STD, STD, 1);
            if q.group_distinct {
                self.put("DISTINCT ");
            }
            if q.grouping_sets.is_empty() {
                for (i, key) in q.group_clause.iter().enumerate() {
                    if i > 0 {
                        self.put(", ");
                    }
                    self.sort_key(key.tle_sort_group_ref, &q.target_list, false)?;
                }
            } else {
                for (i, set) in q.grouping_sets.iter().enumerate() {
                    if i > 0 {
                        self.put(", ");
                    }
                    self.grouping_set(set, &q.target_list, true)?;
                }
            }
        }
        if let Some(having) = &q.having_qual {
            self.keyword(" HAVING ", -STD, STD, 0);
            self.expr(having, false)?;
        }
        self.window_clause(q)
    }

    fn where_clause(&mut self, from: &FromExpr) -> Result<()> {
        if let Some(quals) = &from.quals {
            self.keyword(" WHERE ", -STD, STD, 1);
            self.expr(quals, false)?;
        }
        Ok(())
    }

    fn grouping_set(
        &mut self,
        set: &GroupingSet,
        targets: &[TargetEntry],
        top: bool,
    ) -> Result<()> {
        let (word, mut top_inside) = match set.kind {
            GroupingSetKind::Empty => {
                self.put("()");
                return Ok(());
            }
            GroupingSetKind::Simple => {
                let paren = !top || set.refs.len() != 1;
                return self.parens(paren, |d| {
                    for (i, &r) in set.refs.iter().enumerate() {
                        if i > 0 {
                            d.put(", ");
                        }
                        d.sort_key(r, targets, false)?;
                    }
                    Ok(())
                });
            }
            GroupingSetKind::Rollup => ("ROLLUP(", true),
            GroupingSetKind::Cube => ("CUBE(", true),
            GroupingSetKind::Sets => ("GROUPING SETS (", false),
        };
        top_inside &= set.kind != GroupingSetKind::Sets;
        self.put(word);
        for (i, part) in set.content.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            self.grouping_set(part, targets, top_inside)?;
        }
        self.put(")");
        Ok(())
    }

    /// Writes an element of a list to a separate string, so that the caller can decide where to
    /// break the line.
    fn to_separate_text(&mut self, f: impl FnOnce(&mut Self) -> Result<()>) -> Result<String> {
        let saved = std::mem::take(&mut self.out);
        let result = f(self);
        let part = std::mem::replace(&mut self.out, saved);
        result.map(|()| part)
    }

    /// A target list or RETURNING list. Counterpart: `get_target_list`.
    fn targets(
        &mut self,
        list: &[TargetEntry],
        columns: Option<&[String]>,
        named: bool,
    ) -> Result<()> {
        let mut multiline = false;
        for (i, target) in list.iter().filter(|t| !t.resjunk).enumerate() {
            self.put(if i == 0 { " " } else { ", " });
            let text = self.to_separate_text(|d| {
                let written = match &target.expr {
                    Expr::Var(v) => d.variable(v, 0, true)?,
                    e => {
                        d.expr(e, true)?;
                        // Without `named`, no alias is needed to hide the name `?column?`.
                        if named { None } else { Some("?column?".to_owned()) }
                    }
                };
                let name = match columns.and_then(|c| c.get(i)) {
                    Some(name) => Some(name),
                    None => target.resname.as_ref(),
                };
                if let Some(name) = name
                    && written.as_ref() != Some(name)
                {
                    d.put(" AS ");
                    d.put_name(name);
                }
                Ok(())
            })?;
            if self.style.indent && self.wrap >= 0 {
                let breaks = text.starts_with('\n');
                if breaks {
                    self.trim_spaces();
                } else if i > 0
                    && (self.line_length() + text.len() > self.wrap as usize || multiline)
                {
                    self.keyword("", -STD, STD, VAR);
                }
                multiline = text.get(usize::from(breaks)..).is_some_and(|t| t.contains('\n'));
            }
            self.put(&text);
        }
        Ok(())
    }

    /// UNION, INTERSECT and EXCEPT. Counterpart: `get_setop_query`.
    fn set_operation(
        &mut self,
        node: &SetOpNode,
        q: &Query,
        columns: Option<&[String]>,
        named: bool,
    ) -> Result<()> {
        self.deeper()?;
        match node {
            SetOpNode::Leaf(rti) => {
                let RteKind::Subquery { subquery, .. } = &q.rte(*rti).kind else {
                    return Err(malformed());
                };
                let paren = !subquery.cte_list.is_empty()
                    || !subquery.sort_clause.is_empty()
                    || !subquery.row_marks.is_empty()
                    || subquery.limit_offset.is_some()
                    || subquery.limit_count.is_some();
                self.parens(paren, |d| d.query(subquery, columns, named))?;
            }
            SetOpNode::Op(op) => {
                // The same operation repeated is left-associative and needs no parentheses.
                let paren = match &*op.larg {
                    SetOpNode::Op(left) => left.op != op.op || left.all != op.all,
                    SetOpNode::Leaf(_) => false,
                };
                if paren {
                    self.put("(");
                    self.keyword("", STD, 0, 0);
                }
                deep(|| self.set_operation(&op.larg, q, columns, named))?;
                if paren {
                    self.keyword(") ", -STD, 0, 0);
                } else if self.style.indent {
                    self.keyword("", 0, 0, 0);
                } else {
                    self.put(" ");
                }
                self.put(match op.op {
                    SetOperation::Union => "UNION ",
                    SetOperation::Intersect => "INTERSECT ",
                    SetOperation::Except => "EXCEPT ",
                });
                if op.all {
                    self.put("ALL ");
                }
                let paren = matches!(&*op.rarg, SetOpNode::Op(_));
                let inner = if paren { STD } else { 0 };
                if paren {
                    self.put("(");
                }
                self.keyword("", inner, 0, 0);
                deep(|| self.set_operation(&op.rarg, q, columns, false))?;
                if self.style.indent {
                    self.indent -= inner;
                }
                if paren {
                    self.keyword(")", 0, 0, 0);
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn values(&mut self, lists: &[Vec<Expr>]) -> Result<()> {
        self.put("VALUES ");
        for (i, list) in lists.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            self.put("(");
            for (j, e) in list.iter().enumerate() {
                if j > 0 {
                    self.put(",");
                }
                self.top_level(e, false)?;
            }
            self.put(")");
        }
        Ok(())
    }

    fn put_from(&mut self, q: &Query, prefix: &str) -> Result<()> {
        let mut first = true;
        for item in &q.jointree.fromlist {
            if let JoinTreeNode::Rtr(rti) = item
                && !q.rte(*rti).in_from_cl
            {
                continue;
            }
            if first {
                self.keyword(prefix, -STD, STD, 2);
                first = false;
                self.put_from_item(q, item)?;
                continue;
            }
            self.put(", ");
            let text = self.to_separate_text(|d| d.put_from_item(q, item))?;
            if self.style.indent && self.wrap >= 0 {
                if text.starts_with('\n') {
                    self.trim_spaces();
                } else if self.line_length() + text.len() > self.wrap as usize {
                    self.keyword("", -STD, STD, VAR);
                }
            }
            self.put(&text);
        }
        Ok(())
    }

    fn put_from_item(&mut self, q: &Query, item: &JoinTreeNode) -> Result<()> {
        self.deeper()?;
        match item {
            JoinTreeNode::Rtr(rti) => self.table(q, *rti)?,
            JoinTreeNode::Join(j) => self.join(q, j)?,
            JoinTreeNode::From(_) => return Err(malformed()),
        }
        self.depth -= 1;
        Ok(())
    }

    fn table(&mut self, q: &Query, rti: i32) -> Result<()> {
        let rte = q.rte(rti);
        if rte.lateral {
            self.put("LATERAL ");
        }
        let refname = self.refname(rti).unwrap_or_default();
        let mut alias = rte.alias.is_some();
        let mut definitions = None;
        match &rte.kind {
            RteKind::Relation { relid, .. } => {
                if !rte.inh {
                    self.put("ONLY ");
                }
                let name = self.relation_name(*relid)?;
                self.put(&name);
                alias |= self.host.catalog().class(*relid)?.relname != refname.as_str();
            }
            RteKind::Subquery { subquery, .. } => {
                self.put("(");
                self.query(subquery, None, true)?;
                self.put(")");
                alias = true;
            }
            RteKind::Function { functions, funcordinality } => {
                definitions = self.functions_in_from(functions, *funcordinality)?;
                if *funcordinality {
                    self.put(" WITH ORDINALITY");
                }
                alias = true;
            }
            RteKind::Values { values_lists, .. } => {
                self.put("(");
                self.values(values_lists)?;
                self.put(")");
                alias = true;
            }
            RteKind::Cte { ctename, .. } => {
                self.put_name(ctename);
                alias |= *ctename != refname;
            }
            RteKind::TableFunc(t) => self.table_func(t)?,
            RteKind::Join { .. } | RteKind::Result => return Err(malformed()),
        }
        let entry = self.scopes.last().and_then(|s| s.entries.get(rti as usize - 1)).cloned();
        let entry = entry.unwrap_or_default();
        if alias || entry.columns.print_aliases {
            self.put(" ");
            self.put_name(&refname);
        }
        if let Some(f) = definitions {
            self.column_definitions(f, Some(&entry.columns.names))?;
        } else if entry.columns.print_aliases {
            let names: Vec<String> = entry.columns.shown.into_iter().map(|c| c.0).collect();
            if !names.is_empty() {
                self.names(&names);
            }
        }
        match &rte.kind {
            RteKind::Relation { tablesample: Some(sample), .. } => self.table_sample(sample),
            _ => Ok(()),
        }
    }

    /// Writes a function item of FROM, without its alias. Returns the function whose column
    /// definition list follows the alias.
    fn functions_in_from<'q>(
        &mut self,
        functions: &'q [RangeTblFunction],
        ordinality: bool,
    ) -> Result<Option<&'q RangeTblFunction>> {
        match functions {
            [only] if only.funccolnames.is_empty() || !ordinality => {
                self.from_function(&only.funcexpr)?;
                if !only.funccolnames.is_empty() {
                    return Ok(Some(only));
                }
            }
            many if many.len() > 1 && many.iter().all(is_unnest) => {
                self.put("UNNEST(");
                for (i, f) in many.iter().enumerate() {
                    if i > 0 {
                        self.put(", ");
                    }
                    if let Expr::FuncExpr(call) = &f.funcexpr {
                        call.args.iter().try_for_each(|e| self.expr(e, true))?;
                    }
                }
                self.put(")");
            }
            many => {
                self.put("ROWS FROM(");
                for (i, f) in many.iter().enumerate() {
                    if i > 0 {
                        self.put(", ");
                    }
                    self.from_function(&f.funcexpr)?;
                    if !f.funccolnames.is_empty() {
                        self.put(" AS ");
                        self.column_definitions(f, None)?;
                    }
                }
                self.put(")");
            }
        }
        Ok(None)
    }

    fn table_sample(&mut self, sample: &TableSample) -> Result<()> {
        let (name, _) = self.function_name(sample.tsmhandler, false)?;
        self.put(&format!(" TABLESAMPLE {name} ("));
        self.list(&sample.args, false)?;
        self.put(")");
        if let Some(seed) = &sample.repeatable {
            self.put(" REPEATABLE (");
            self.expr(seed, false)?;
            self.put(")");
        }
        Ok(())
    }

    /// Writes a function in FROM. An expression that is not a function call, after simplification
    /// or inlining, is written as CAST, which the grammar accepts there. Counterpart:
    /// `get_rule_expr_funccall`.
    fn from_function(&mut self, e: &Expr) -> Result<()> {
        if looks_like_function(e) {
            return self.top_level(e, true);
        }
        self.put("CAST(");
        self.top_level(e, false)?;
        let name = self.type_name(e.type_oid(), e.typmod())?;
        self.put(&format!(" AS {name})"));
        Ok(())
    }

    /// The column definition list `(a integer, b text)` of a function that returns anonymous rows.
    fn column_definitions(
        &mut self,
        f: &RangeTblFunction,
        names: Option<&[Option<String>]>,
    ) -> Result<()> {
        self.put("(");
        for (i, given) in f.funccolnames.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            let name = names.and_then(|n| n.get(i)).cloned().flatten();
            self.put_name(name.as_ref().unwrap_or(given));
            let ty = self.type_name(f.funccoltypes[i], f.funccoltypmods[i])?;
            self.put(&format!(" {ty}"));
            let collation = f.funccolcollations.get(i).copied().unwrap_or_default();
            if collation.is_valid()
                && self.host.catalog().type_row(f.funccoltypes[i])?.typcollation != collation
            {
                let name = self.collation_name(collation)?;
                self.put(&format!(" COLLATE {name}"));
            }
        }
        self.put(")");
        Ok(())
    }

    fn join(&mut self, q: &Query, j: &JoinExpr) -> Result<()> {
        let paren_right = self.style.pretty
            && !matches!(&j.rarg, JoinTreeNode::Rtr(_))
            && !matches!(&j.rarg, JoinTreeNode::Join(r) if r.alias.is_some());
        let paren = !self.style.pretty || j.alias.is_some();
        if paren {
            self.put("(");
        }
        self.put_from_item(q, &j.larg)?;
        let word = match j.jointype {
            JoinType::Inner if j.quals.is_some() => " JOIN ",
            JoinType::Inner => " CROSS JOIN ",
            JoinType::Left => " LEFT JOIN ",
            JoinType::Full => " FULL JOIN ",
            JoinType::Right => " RIGHT JOIN ",
            JoinType::Semi | JoinType::Anti => return Err(malformed()),
        };
        self.keyword(word, -STD, STD, JOIN);
        self.parens(paren_right, |d| d.put_from_item(q, &j.rarg))?;
        if !j.using_clause.is_empty() {
            self.put(" USING ");
            let entry = self.scopes.last().and_then(|s| s.entries.get(j.rtindex as usize - 1));
            let columns = entry.map_or(&[][..], |e| &e.columns.names);
            let merged: Vec<String> =
                columns.iter().flatten().take(j.using_clause.len()).cloned().collect();
            self.names(&merged);
            if let Some(alias) = &j.join_using_alias {
                self.put(" AS ");
                self.put_name(&alias.aliasname);
            }
        } else if let Some(quals) = &j.quals {
            self.put(" ON ");
            self.open();
            self.expr(quals, false)?;
            self.close();
        } else if j.jointype != JoinType::Inner {
            self.put(" ON TRUE");
        }
        if paren {
            self.put(")");
        }
        if j.alias.is_some() {
            let entry = self.scopes.last().and_then(|s| s.entries.get(j.rtindex as usize - 1));
            let entry = entry.cloned().unwrap_or_default();
            self.put(" ");
            self.put_name(&entry.refname.unwrap_or_default());
            if entry.columns.print_aliases {
                let names: Vec<String> = entry.columns.shown.into_iter().map(|c| c.0).collect();
                self.names(&names);
            }
        }
        Ok(())
    }

    /// Writes the target table of INSERT, UPDATE or DELETE.
    fn target_table(&mut self, q: &Query, word: &str) -> Result<()> {
        let rte = q.rte(q.result_relation);
        let RteKind::Relation { relid, .. } = &rte.kind else { return Err(malformed()) };
        if self.style.indent {
            self.put(" ");
            self.indent += STD;
        }
        self.put(word);
        if q.command_type != CmdType::Insert && !rte.inh {
            self.put("ONLY ");
        }
        let name = self.relation_name(*relid)?;
        self.put(&name);
        if let Some(name) = self.refname(q.result_relation)
            && (rte.alias.is_some() || self.host.catalog().class(*relid)?.relname != name.as_str())
        {
            self.put(" AS ");
            self.put_name(&name);
        }
        Ok(())
    }

    fn returning(&mut self, q: &Query, named: bool) -> Result<()> {
        if !q.returning_list.is_empty() {
            self.keyword(" RETURNING", -STD, STD, 1);
            self.targets(&q.returning_list, None, named)?;
        }
        Ok(())
    }

    fn insert(&mut self, q: &Query, named: bool) -> Result<()> {
        self.with_clause(q)?;
        self.target_table(q, "INSERT INTO ")?;
        self.put(" ");
        let target = match &q.rte(q.result_relation).kind {
            RteKind::Relation { relid, .. } => *relid,
            _ => return Err(malformed()),
        };
        let source = q.jointree.fromlist.iter().find_map(|n| match n {
            JoinTreeNode::Rtr(rti) if *rti != q.result_relation => Some(&q.rte(*rti).kind),
            _ => None,
        });
        if !q.target_list.is_empty() {
            self.put("(");
            for (i, t) in q.target_list.iter().filter(|t| !t.resjunk).enumerate() {
                if i > 0 {
                    self.put(", ");
                }
                let name = self.column_name(target, t.resno)?;
                self.put(&name);
                self.indirection(&t.expr)?;
            }
            self.put(") ");
        }
        match q.override_ {
            Override::NotSet => {}
            Override::SystemValue => self.put("OVERRIDING SYSTEM VALUE "),
            Override::UserValue => self.put("OVERRIDING USER VALUE "),
        }
        match source {
            Some(RteKind::Subquery { subquery, .. }) => self.query(subquery, None, false)?,
            Some(RteKind::Values { values_lists, .. }) => self.values(values_lists)?,
            _ if q.target_list.is_empty() => self.put("DEFAULT VALUES"),
            _ => {
                self.keyword("VALUES (", -STD, STD, 2);
                for (i, t) in q.target_list.iter().filter(|t| !t.resjunk).enumerate() {
                    if i > 0 {
                        self.put(", ");
                    }
                    self.top_level(strip_assignment(&t.expr), false)?;
                }
                self.put(")");
            }
        }
        if let Some(c) = &q.on_conflict {
            self.put(" ON CONFLICT");
            if !c.arbiter_elems.is_empty() {
                self.put("(");
                let saved = std::mem::replace(&mut self.prefix, false);
                for (i, e) in c.arbiter_elems.iter().enumerate() {
                    if i > 0 {
                        self.put(", ");
                    }
                    let paren = !matches!(e.expr, Expr::Var(_) | Expr::FuncExpr(_));
                    self.parens(paren, |d| d.expr(&e.expr, false))?;
                    if e.infercollid.is_valid() {
                        let name = self.collation_name(e.infercollid)?;
                        self.put(&format!(" COLLATE {name}"));
                    }
                }
                self.put(")");
                if let Some(w) = &c.arbiter_where {
                    self.keyword(" WHERE ", -STD, STD, 1);
                    self.expr(w, false)?;
                }
                self.prefix = saved;
            } else if c.constraint.is_valid() {
                let row = self.host.catalog().constraint(c.constraint)?.ok_or_else(malformed)?;
                self.put(" ON CONSTRAINT ");
                self.put_name(row.conname.as_str());
            }
            if c.action == OnConflictAction::Nothing {
                self.put(" DO NOTHING");
            } else {
                self.put(" DO UPDATE SET ");
                self.assignments(target, &c.on_conflict_set)?;
                if let Some(w) = &c.on_conflict_where {
                    self.keyword(" WHERE ", -STD, STD, 1);
                    self.expr(w, false)?;
                }
            }
        }
        self.returning(q, named)
    }

    fn update(&mut self, q: &Query, named: bool) -> Result<()> {
        self.with_clause(q)?;
        self.target_table(q, "UPDATE ")?;
        self.put(" SET ");
        let RteKind::Relation { relid, .. } = &q.rte(q.result_relation).kind else {
            return Err(malformed());
        };
        self.assignments(*relid, &q.target_list)?;
        self.put_from(q, " FROM ")?;
        self.where_clause(&q.jointree)?;
        self.returning(q, named)
    }

    fn assignments(&mut self, relation: ids::Oid, targets: &[TargetEntry]) -> Result<()> {
        // A multiple assignment from a sub-select is a SubLink in a junk entry; its columns are
        // parameters.
        let mut sublinks = targets.iter().filter_map(|t| match &t.expr {
            Expr::SubLink(s) if t.resjunk && s.kind == SubLinkKind::MultiExpr => Some(&**s),
            _ => None,
        });
        let mut open: Option<(&SubLink, usize)> = None;
        for (i, t) in targets.iter().filter(|t| !t.resjunk).enumerate() {
            if i > 0 {
                self.put(", ");
            }
            let source = strip_assignment(&t.expr);
            let multi = matches!(source, Expr::Param(p) if p.paramkind == ParamKind::MultiExpr);
            if multi && open.is_none() {
                let link = sublinks.next().ok_or_else(malformed)?;
                let count = link.subselect.target_list.iter().filter(|t| !t.resjunk).count();
                open = Some((link, count));
                self.put("(");
            }
            let name = self.column_name(relation, t.resno)?;
            self.put(&name);
            self.indirection(&t.expr)?;
            if let Some((link, left)) = open {
                if left > 1 {
                    open = Some((link, left - 1));
                    continue;
                }
                open = None;
                self.put(") = ");
                self.expr(&Expr::SubLink(Box::new(link.clone())), false)?;
                continue;
            }
            self.put(" = ");
            self.expr(source, false)?;
        }
        Ok(())
    }

    /// Writes the subscripts and fields of an assignment target.
    pub(super) fn indirection(&mut self, e: &Expr) -> Result<()> {
        match e {
            Expr::SubscriptingRef(s) => {
                let Some(value) = &s.refassgnexpr else { return Ok(()) };
                for (i, upper) in s.refupperindexpr.iter().enumerate() {
                    self.put("[");
                    if let Some(lower) = s.reflowerindexpr.get(i) {
                        if let Some(lower) = lower {
                            self.expr(lower, false)?;
                        }
                        self.put(":");
                    }
                    if let Some(upper) = upper {
                        self.expr(upper, false)?;
                    }
                    self.put("]");
                }
                self.indirection(value)
            }
            Expr::FieldStore(f) => {
                let (Some(&field), Some(value)) = (f.fieldnums.first(), f.newvals.first()) else {
                    return Err(malformed());
                };
                let desc = self.host.functions().row_desc(f.resulttype, -1)?;
                let name = desc.columns.get(field as usize - 1).map(|c| c.name.clone());
                self.put(".");
                self.put_name(&name.unwrap_or_default());
                self.indirection(value)
            }
            Expr::CoerceToDomain(c) if c.coercionformat == CoercionForm::ImplicitCast => {
                self.indirection(&c.arg)
            }
            _ => Ok(()),
        }
    }

    fn delete(&mut self, q: &Query, named: bool) -> Result<()> {
        self.with_clause(q)?;
        self.target_table(q, "DELETE FROM ")?;
        self.put_from(q, " USING ")?;
        self.where_clause(&q.jointree)?;
        self.returning(q, named)
    }
}

/// Whether the call is `unnest` of one array. Several such calls are written as one `unnest` with
/// several arguments.
fn is_unnest(f: &RangeTblFunction) -> bool {
    f.funccolnames.is_empty()
        && matches!(&f.funcexpr, Expr::FuncExpr(call) if call.funcid == ARRAY_UNNEST)
}

/// The assigned value, without the nodes that store it in a field or element.
pub(super) fn strip_assignment(e: &Expr) -> &Expr {
    match e {
        Expr::SubscriptingRef(s) => s.refassgnexpr.as_ref().map_or(e, strip_assignment),
        Expr::FieldStore(f) => f.newvals.first().map_or(e, strip_assignment),
        Expr::CoerceToDomain(c)
            if matches!(&c.arg, Expr::SubscriptingRef(_) | Expr::FieldStore(_)) =>
        {
            strip_assignment(&c.arg)
        }
        e => e,
    }
}

/// The VALUES lists, if the query is only `VALUES …` with the default column names.
fn simple_values<'q>(q: &'q Query, columns: Option<&[String]>) -> Option<&'q [Vec<Expr>]> {
    let mut found = None;
    for rte in &q.rtable {
        match &rte.kind {
            RteKind::Values { values_lists, .. } if rte.in_from_cl && found.is_none() => {
                found = Some((values_lists, rte));
            }
            RteKind::Relation { .. } if !rte.in_from_cl => {}
            _ => return None,
        }
    }
    let (lists, rte) = found?;
    if q.target_list.len() != rte.eref.colnames.len() {
        return None;
    }
    for (i, t) in q.target_list.iter().enumerate() {
        let shown = match columns {
            Some(c) => c.get(i),
            None => t.resname.as_ref(),
        };
        if t.resjunk || shown != rte.eref.colnames.get(i) {
            return None;
        }
    }
    Some(lists)
}
