//! FROM: tables, sub-selects, functions and joins. Counterpart: parser/parse_clause.c, first half.

use crate::lookup::Relation;
use crate::relation::{Column, alias_of, ordinality_column};
use crate::state::{Analyzer, ExprKind, NsItem, ROW_COLUMNS_MAX};
use crate::ty;
use ids::code::TypType;
use ids::{Oid, RelKind};
use parse::ast::{self, Node};
use pgerror::{Result, bail, pg_err};
use plan::expr::Expr;
use plan::query::{JoinTreeNode, RangeTblFunction, RteKind, TableSample};

/// An analysed FROM item: its join tree node, its own namespace item, and all namespace items that
/// it adds to the level.
pub(crate) struct FromItem {
    pub(crate) node: JoinTreeNode,
    pub(crate) item: NsItem,
    pub(crate) namespace: Vec<NsItem>,
}

/// The class of the result type of a function in FROM.
pub(crate) enum TypeFuncClass {
    Scalar(Column),
    Composite(Vec<Column>),
    Record,
    Other,
}

/// A function call in FROM.
struct FromCall {
    expr: Expr,
    /// The function's name, as a column name.
    name: String,
    column_definitions: Vec<ast::ColumnDef>,
}

pub(crate) fn lateral_state(items: &mut [NsItem], only: bool, ok: bool) {
    for item in items {
        item.lateral_only = only;
        item.lateral_ok = ok;
    }
}

impl Analyzer<'_> {
    /// Counterpart: `transformFromClause`.
    pub fn transform_from(&mut self, items: &[Node]) -> Result<()> {
        for node in items {
            let mut item = self.transform_from_item(node)?;
            let present = std::mem::take(&mut self.level().namespace);
            let conflict = self.check_namespace_conflicts(&present, &item.namespace);
            let level = self.level();
            level.namespace = present;
            conflict?;
            lateral_state(&mut item.namespace, true, true);
            level.joinlist.push(item.node);
            level.namespace.append(&mut item.namespace);
        }
        lateral_state(&mut self.level().namespace, false, true);
        Ok(())
    }

    pub(crate) fn transform_from_item(&mut self, node: &Node) -> Result<FromItem> {
        let item = match node {
            Node::RangeVar(n) => self.range_var(n)?,
            Node::RangeSubselect(n) => self.range_subselect(n)?,
            Node::RangeFunction(n) => self.range_function(n)?,
            Node::RangeTableSample(n) => return self.range_table_sample(n),
            Node::JoinExpr(n) => return self.join_expr(n),
            _ => bail!(FEATURE_NOT_SUPPORTED, "this kind of FROM item is not supported"),
        };
        Ok(FromItem { node: JoinTreeNode::Rtr(item.rtindex), namespace: vec![item.clone()], item })
    }

    fn range_var(&mut self, n: &ast::RangeVar) -> Result<NsItem> {
        let alias = n.alias.as_deref().map(alias_of);
        if n.schemaname.is_none()
            && let Some((up, index)) = self.find_cte(&n.relname)
        {
            let item = self.add_cte_rte(up, index, alias, n.location);
            return self.with_position(item, n.location);
        }
        if n.schemaname.is_none()
            && let Some(table) = self.cat.transition_table(&n.relname)
        {
            let item = self.add_transition_table_rte(&n.relname, alias, table);
            return self.with_position(item, n.location);
        }
        let name = alias.as_ref().map_or(&*n.relname, |a| &a.aliasname);
        // FOR UPDATE and the other row locking clauses take a stronger table lock.
        let lock = if self.is_locked(name) { 2 } else { 1 };
        let relation = self.open_table(n, lock)?;
        self.check_has_rows(&relation, n)?;
        self.add_relation_rte(&relation, alias, n.inh, lock)
    }

    /// Error 42809 for an index or a composite type, which have no rows to read or change.
    pub(crate) fn check_has_rows(&self, relation: &Relation, name: &ast::RangeVar) -> Result<()> {
        let what = match relation.class.relkind {
            RelKind::Index | RelKind::PartitionedIndex => "an index",
            RelKind::CompositeType => "a composite type",
            _ => return Ok(()),
        };
        let e = pg_err!(WRONG_OBJECT_TYPE, "\"{}\" is {what}", name.relname);
        Err(self.at(e, name.location))
    }

    /// Whether a FOR UPDATE clause of this or an enclosing query level locks the FROM item of this
    /// name.
    fn is_locked(&self, name: &str) -> bool {
        let level = self.level_ref();
        level.locked_from_parent
            || level.locking.iter().any(|l| {
                l.locked_rels.is_empty() || l.locked_rels.iter().any(|r| &*r.relname == name)
            })
    }

    fn range_subselect(&mut self, n: &ast::RangeSubselect) -> Result<NsItem> {
        let alias = n.alias.as_deref().map(alias_of);
        let locked = alias.as_ref().is_some_and(|a| self.is_locked(&a.aliasname));
        let lateral_before = std::mem::replace(&mut self.level().lateral_active, n.lateral);
        let query = self.with_kind(ExprKind::FromSubselect, |cx| {
            cx.nested(|cx| {
                cx.level().locked_from_parent = locked;
                cx.statement(&n.subquery)
            })
        });
        self.level().lateral_active = lateral_before;
        let query = query?;
        if query.command_type != plan::query::CmdType::Select {
            bail!(INTERNAL_ERROR, "unexpected non-SELECT command in subquery in FROM");
        }
        self.add_subquery_rte(query, alias, n.lateral, true)
    }

    fn range_function(&mut self, n: &ast::RangeFunction) -> Result<NsItem> {
        let lateral_before = std::mem::replace(&mut self.level().lateral_active, true);
        let result = self.range_function_inner(n);
        self.level().lateral_active = lateral_before;
        result
    }

    fn range_function_inner(&mut self, n: &ast::RangeFunction) -> Result<NsItem> {
        let mut calls = self.calls_in_from(n)?;
        if let Some(first) = n.coldeflist.first() {
            if let Err(e) = check_column_definitions(n, calls.len()) {
                return Err(self.at(e, first.location));
            }
            calls[0].column_definitions.clone_from(&n.coldeflist);
        }
        let alias = n.alias.as_deref().map(alias_of);
        // The only column of a single function is named after the alias.
        let column_name = alias.as_ref().filter(|_| calls.len() == 1).map(|a| a.aliasname.clone());
        let first_name = calls.first().map(|c| c.name.clone()).unwrap_or_default();
        let mut functions = Vec::with_capacity(calls.len());
        let mut columns = Vec::new();
        for call in calls {
            let (function, mut described) = self.function_in_from(call, column_name.as_deref())?;
            columns.append(&mut described);
            functions.push(function);
        }
        if n.ordinality {
            columns.push(ordinality_column());
        }
        if columns.len() > ROW_COLUMNS_MAX as usize {
            let e = pg_err!(
                TOO_MANY_COLUMNS,
                "functions in FROM can return at most {ROW_COLUMNS_MAX} columns"
            );
            return Err(match functions.first() {
                Some(f) => self.at(e, &f.funcexpr),
                None => e,
            });
        }
        let lateral = n.lateral
            || functions.iter().any(|f| crate::walk::contains_vars_of_level(&f.funcexpr, 0));
        self.add_function_rte(&first_name, functions, columns, alias, n.ordinality, lateral)
    }

    /// The analysed calls of a function item, in order.
    fn calls_in_from(&mut self, n: &ast::RangeFunction) -> Result<Vec<FromCall>> {
        let mut calls = Vec::new();
        for function in &n.functions {
            for call in split_unnest(function) {
                let e = self.expr_in(&call, ExprKind::FromFunction)?;
                // A set-returning function must be the outermost call.
                if let Expr::FuncExpr(f) = &e
                    && let Some(arg) = f.args.iter().find(|a| crate::coerce::returns_set(a))
                {
                    let e = pg_err!(
                        FEATURE_NOT_SUPPORTED,
                        "set-returning functions must appear at top level of FROM"
                    );
                    return Err(self.at(e, arg));
                }
                calls.push(FromCall {
                    name: crate::target::figure_colname(&call, &e),
                    expr: e,
                    column_definitions: function.coldeflist.clone(),
                });
            }
        }
        Ok(calls)
    }

    /// The range table function of a call, and its columns. `column_name`: the name of the column
    /// of a scalar result, if it is not the function's.
    fn function_in_from(
        &mut self,
        call: FromCall,
        column_name: Option<&str>,
    ) -> Result<(RangeTblFunction, Vec<Column>)> {
        let FromCall { expr: mut funcexpr, name, column_definitions } = call;
        self.assign_collations(&mut funcexpr)?;
        let location = funcexpr.location();
        let class = self.type_func_class(&funcexpr)?;
        let mut function = RangeTblFunction {
            funcexpr,
            funccolcount: 0,
            funccolnames: Vec::new(),
            funccoltypes: Vec::new(),
            funccoltypmods: Vec::new(),
            funccolcollations: Vec::new(),
        };
        if let Some(first) = column_definitions.first()
            && !matches!(class, TypeFuncClass::Record)
        {
            let message = unneeded_definitions(&class, function.funcexpr.type_oid());
            let e = pg_err!(SYNTAX_ERROR, "{message}");
            return Err(self.at(e, first.location));
        }
        let described = match class {
            TypeFuncClass::Composite(columns) => columns,
            TypeFuncClass::Scalar(mut column) => {
                if column.name.is_empty() {
                    column.name = column_name.unwrap_or(&name).to_owned();
                }
                vec![column]
            }
            TypeFuncClass::Record => {
                if column_definitions.is_empty() {
                    let e = pg_err!(
                        SYNTAX_ERROR,
                        "a column definition list is required for functions returning \"record\""
                    );
                    return Err(self.at(e, location));
                }
                let described = self.column_definitions(&column_definitions)?;
                for column in &described {
                    function.funccolnames.push(column.name.clone());
                    function.funccoltypes.push(column.ty);
                    function.funccoltypmods.push(column.typmod);
                    function.funccolcollations.push(column.collation);
                }
                described
            }
            TypeFuncClass::Other => {
                let ty = self.format_type(function.funcexpr.type_oid());
                let e = pg_err!(
                    DATATYPE_MISMATCH,
                    "function \"{name}\" in FROM has unsupported return type {ty}"
                );
                return Err(self.at(e, location));
            }
        };
        function.funccolcount = described.len() as i32;
        Ok((function, described))
    }

    fn column_definitions(&mut self, defs: &[ast::ColumnDef]) -> Result<Vec<Column>> {
        let mut out: Vec<Column> = Vec::with_capacity(defs.len());
        for def in defs {
            let name = def.colname.as_deref().unwrap_or("").to_string();
            let Some(type_name) = &def.type_name else {
                bail!(SYNTAX_ERROR, "column \"{name}\" has no type")
            };
            if type_name.setof {
                let e =
                    pg_err!(INVALID_TABLE_DEFINITION, "column \"{name}\" cannot be declared SETOF");
                return Err(self.at(e, def.location));
            }
            if out.iter().any(|c| c.name == name) {
                let e =
                    pg_err!(DUPLICATE_COLUMN, "column name \"{name}\" specified more than once");
                return Err(self.at(e, def.location));
            }
            let (row, typmod) = self.typename(type_name)?;
            let collation = match &def.coll_clause {
                Some(clause) => self.collation(&clause.collname, clause.location)?,
                None => row.typcollation,
            };
            out.push(Column { name, ty: row.oid, typmod, collation, dropped: false });
        }
        Ok(out)
    }

    /// The columns of one function of a range-table entry.
    pub fn function_columns(&mut self, function: &RangeTblFunction) -> Result<Vec<Column>> {
        if !function.funccolnames.is_empty() {
            return Ok((0..function.funccolnames.len())
                .map(|i| Column {
                    name: function.funccolnames[i].clone(),
                    ty: function.funccoltypes[i],
                    typmod: function.funccoltypmods[i],
                    collation: function.funccolcollations[i],
                    dropped: false,
                })
                .collect());
        }
        Ok(match self.type_func_class(&function.funcexpr)? {
            TypeFuncClass::Scalar(column) => vec![column],
            TypeFuncClass::Composite(columns) => columns,
            _ => Vec::new(),
        })
    }

    /// Counterpart: `get_expr_result_type`.
    pub(crate) fn type_func_class(&mut self, expr: &Expr) -> Result<TypeFuncClass> {
        let result = expr.type_oid();
        if let Expr::FuncExpr(f) = expr
            && let Some(columns) = self.out_columns(f)?
        {
            return Ok(match columns.len() {
                1 => TypeFuncClass::Scalar(
                    columns.into_iter().next().unwrap_or_else(ordinality_column),
                ),
                _ => TypeFuncClass::Composite(columns),
            });
        }
        if result == ty::RECORD {
            if let Expr::Row(row) = expr {
                let columns = row.args.iter().enumerate().map(|(i, e)| Column {
                    name: row.colnames.get(i).cloned().unwrap_or_else(|| format!("f{}", i + 1)),
                    ty: e.type_oid(),
                    typmod: e.typmod(),
                    collation: e.collation(),
                    dropped: false,
                });
                return Ok(TypeFuncClass::Composite(columns.collect()));
            }
            return Ok(TypeFuncClass::Record);
        }
        let relid = self.composite_relation(result)?;
        if relid.is_valid()
            && let Some(relation) = self.cat.relation(relid)?
        {
            return Ok(TypeFuncClass::Composite(Self::relation_columns(&relation)));
        }
        let row = self.type_row(result)?;
        let pseudo = row.typtype == TypType::Pseudo && !matches!(result, ty::CSTRING | ty::VOID);
        if pseudo {
            return Ok(TypeFuncClass::Other);
        }
        Ok(TypeFuncClass::Scalar(Column {
            name: String::new(),
            ty: result,
            typmod: expr.typmod(),
            collation: expr.collation(),
            dropped: false,
        }))
    }

    /// The OUT parameters of a function, polymorphic ones resolved by the call; `None` without any.
    fn out_columns(&mut self, f: &plan::expr::FuncExpr) -> Result<Option<Vec<Column>>> {
        let Some(proc) = self.cat.proc_row(f.funcid)? else { return Ok(None) };
        let (Some(types), Some(modes)) = (&proc.proallargtypes, &proc.proargmodes) else {
            return Ok(None);
        };
        let mut names = Vec::new();
        let mut result = Vec::new();
        for (i, &mode) in modes.iter().enumerate() {
            if mode.is_output() {
                let name = proc
                    .proargnames
                    .as_ref()
                    .and_then(|n| n.get(i))
                    .map(|n| n.as_str().to_string())
                    .filter(|n| !n.is_empty());
                names.push(name.unwrap_or_else(|| format!("column{}", names.len() + 1)));
                result.push(types[i]);
            }
        }
        if result.is_empty() {
            return Ok(None);
        }
        let actual: Vec<Oid> = f.args.iter().map(Expr::type_oid).collect();
        let mut columns = Vec::with_capacity(result.len());
        for (name, ty) in names.into_iter().zip(result) {
            let ty = if ty::is_polymorphic(ty) {
                let mut declared = proc.proargtypes.to_vec();
                declared.truncate(actual.len());
                self.enforce_generics(&actual, &mut declared, ty, false)?
            } else {
                ty
            };
            let collation = self.type_collation(ty)?;
            // The column of a function with one OUT parameter keeps the parameter's name. The table
            // alias names the column only if the parameter has no name.
            columns.push(Column { name, ty, typmod: -1, collation, dropped: false });
        }
        Ok(Some(columns))
    }

    fn range_table_sample(&mut self, n: &ast::RangeTableSample) -> Result<FromItem> {
        let location = match &n.relation {
            Node::RangeVar(rv) => rv.location,
            _ => n.location,
        };
        let from = self.transform_from_item(&n.relation)?;
        let JoinTreeNode::Rtr(rtindex) = from.node else {
            bail!(INTERNAL_ERROR, "TABLESAMPLE of a join")
        };
        let is_table = matches!(
            self.level_ref().rte(rtindex).kind,
            RteKind::Relation {
                relkind: RelKind::Table | RelKind::MaterializedView | RelKind::PartitionedTable,
                ..
            }
        );
        if !is_table {
            let e = pg_err!(
                FEATURE_NOT_SUPPORTED,
                "TABLESAMPLE clause can only be applied to tables and materialized views"
            );
            return Err(self.at(e, location));
        }
        let names: Vec<&str> = n.method.iter().map(|m| &**m).collect();
        let Some(tsmhandler) = self.cat.tablesample_handler(&names)? else {
            let e =
                pg_err!(UNDEFINED_OBJECT, "tablesample method {} does not exist", names.join("."));
            return Err(self.at(e, n.location));
        };
        if n.args.len() != 1 {
            let e = pg_err!(
                INVALID_TABLESAMPLE_ARGUMENT,
                "tablesample method {} requires 1 argument, not {}",
                names.join("."),
                n.args.len()
            );
            return Err(self.at(e, n.location));
        }
        let e = self.expr_in(&n.args[0], ExprKind::FromFunction)?;
        let mut percent = self.coerce_to_specific(e, ty::FLOAT4, "TABLESAMPLE")?;
        self.assign_collations(&mut percent)?;
        let repeatable = match &n.repeatable {
            Some(node) => {
                let e = self.expr_in(node, ExprKind::FromFunction)?;
                let mut e = self.coerce_to_specific(e, ty::FLOAT8, "REPEATABLE")?;
                self.assign_collations(&mut e)?;
                Some(e)
            }
            None => None,
        };
        if let RteKind::Relation { tablesample, .. } = &mut self.level().rte_mut(rtindex).kind {
            *tablesample =
                Some(Box::new(TableSample { tsmhandler, args: vec![percent], repeatable }));
        }
        Ok(from)
    }

    /// The condition of WHERE, HAVING, ON and similar clauses. Counterpart: `transformWhereClause`.
    pub fn where_clause(
        &mut self,
        clause: Option<&Node>,
        kind: ExprKind,
        construct: &str,
    ) -> Result<Option<Expr>> {
        let Some(clause) = clause else { return Ok(None) };
        let e = self.expr_in(clause, kind)?;
        Ok(Some(self.coerce_to_boolean(e, construct)?))
    }
}

/// Errors if a column definition list may not follow this item, which has `calls` calls.
fn check_column_definitions(n: &ast::RangeFunction, calls: usize) -> Result<()> {
    if calls != 1 {
        return Err(if n.is_rowsfrom {
            pg_err!(
                SYNTAX_ERROR,
                "ROWS FROM() with multiple functions cannot have a column definition list"
            )
            .hint("Put a separate column definition list for each function inside ROWS FROM().")
        } else {
            pg_err!(
                SYNTAX_ERROR,
                "UNNEST() with multiple arguments cannot have a column definition list"
            )
            .hint(
                "Use separate UNNEST() calls inside ROWS FROM(), and attach a column definition \
                 list to each one.",
            )
        });
    }
    if n.ordinality {
        return Err(pg_err!(
            SYNTAX_ERROR,
            "WITH ORDINALITY cannot be used with a column definition list"
        )
        .hint("Put the column definition list inside ROWS FROM()."));
    }
    Ok(())
}

/// The message that a function needs no column definition list; its result has this type and class.
fn unneeded_definitions(class: &TypeFuncClass, result: Oid) -> &'static str {
    match class {
        TypeFuncClass::Composite(_) if result == ty::RECORD => {
            "a column definition list is redundant for a function with OUT parameters"
        }
        TypeFuncClass::Composite(_) => {
            "a column definition list is redundant for a function returning a named composite type"
        }
        _ => "a column definition list is only allowed for functions returning \"record\"",
    }
}

/// `unnest(a, b)` in FROM is expanded to one call for each argument, as in ROWS FROM.
fn split_unnest(function: &ast::RangeFunctionItem) -> Vec<Node> {
    if let Node::FuncCall(call) = &function.func {
        let plain = call.funcname.len() == 1
            && &*call.funcname[0] == "unnest"
            && call.args.len() > 1
            && call.agg_order.is_empty()
            && call.agg_filter.is_none()
            && call.over.is_none()
            && !call.agg_star
            && !call.agg_distinct
            && !call.func_variadic
            && function.coldeflist.is_empty();
        if plain {
            return call
                .args
                .iter()
                .map(|arg| {
                    let mut one = call.clone();
                    one.funcname = vec!["pg_catalog".into(), "unnest".into()];
                    one.args = vec![arg.clone()];
                    Node::FuncCall(one)
                })
                .collect();
        }
    }
    vec![function.func.clone()]
}
