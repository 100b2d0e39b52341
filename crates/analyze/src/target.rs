//! Target lists: expansion of `*`, column names, assignments. Counterpart: parser/parse_target.c.

use crate::coerce::Context;
use crate::state::{Analyzer, ExprKind};
use crate::ty;
use catalog::rows::PgAttribute;
use ids::{AttrNo, Oid};
use parse::ast::{self, Node};
use pgerror::{Result, bail, pg_err};
use plan::expr::{
    CaseTestExpr, CoercionForm, Expr, FieldSelect, FieldStore, Location, SetToDefault, TargetEntry,
};
use plan::query::RteKind;

/// A target list entry without sort or group reference.
pub fn entry(expr: Expr, resno: AttrNo, resname: Option<String>, resjunk: bool) -> TargetEntry {
    TargetEntry {
        expr,
        resno,
        resname,
        ressortgroupref: 0,
        resorigtbl: Oid::INVALID,
        resorigcol: 0,
        resjunk,
    }
}

/// The target of an assignment with subscripts or fields: a column or variable, or a field or
/// element of one.
pub(crate) struct AssignmentTarget<'a> {
    /// The name for errors: that of the column or field.
    pub(crate) name: &'a str,
    pub(crate) is_element: bool,
    pub(crate) ty: Oid,
    pub(crate) typmod: i32,
    pub(crate) collation: Oid,
    pub(crate) context: Context,
}

impl AssignmentTarget<'_> {
    /// The value of the target before the assignment.
    fn old_value(&self) -> Expr {
        let AssignmentTarget { ty: typeid, typmod, collation, .. } = *self;
        Expr::CaseTest(CaseTestExpr { typeid, typmod, collation })
    }
}

impl Analyzer<'_> {
    /// Assigns the next number of a result column.
    pub fn next_resno(&mut self) -> AttrNo {
        let level = self.level();
        let resno = level.next_resno;
        // A list that is too long is refused at its end.
        level.next_resno = resno.saturating_add(1);
        resno
    }

    /// Analyses a target list and expands `*`, except in the source list of UPDATE. Counterpart:
    /// `transformTargetList`.
    pub fn target_list(
        &mut self,
        list: &[ast::ResTarget],
        kind: ExprKind,
    ) -> Result<Vec<TargetEntry>> {
        let mut out = Vec::with_capacity(list.len());
        for target in list {
            let Some(val) = &target.val else {
                bail!(INTERNAL_ERROR, "target list entry without a value")
            };
            if kind != ExprKind::UpdateSource
                && let Some(expanded) = self.expand_star(val, kind)?
            {
                for (name, e) in expanded {
                    let resno = self.next_resno();
                    out.push(entry(e, resno, Some(name), false));
                }
                continue;
            }
            out.push(self.target_entry(val, kind, target.name.as_deref())?);
        }
        let mut extra = std::mem::take(&mut self.level().multiassigns);
        if !extra.is_empty() {
            out.append(&mut extra);
        }
        Ok(out)
    }

    /// Analyses one entry of a target list. Counterpart: `transformTargetEntry`.
    pub fn target_entry(
        &mut self,
        node: &Node,
        kind: ExprKind,
        name: Option<&str>,
    ) -> Result<TargetEntry> {
        let e = match node {
            Node::SetToDefault(d) if kind == ExprKind::UpdateSource => default_marker(d),
            _ => self.expr_in(node, kind)?,
        };
        let name = name.map_or_else(|| figure_colname(node, &e), str::to_string);
        let resno = self.next_resno();
        Ok(entry(e, resno, Some(name), false))
    }

    /// Expands `*`, `t.*` and `(expr).*` to names and expressions; `None` for other nodes.
    pub fn expand_star(
        &mut self,
        node: &Node,
        kind: ExprKind,
    ) -> Result<Option<Vec<(String, Expr)>>> {
        match node {
            Node::ColumnRef(c) if matches!(c.fields.last(), Some(Node::AStar)) => {
                self.with_kind(kind, |cx| cx.expand_column_star(c)).map(Some)
            }
            Node::AIndirection(i) if matches!(i.indirection.last(), Some(Node::AStar)) => {
                let mut inner = i.clone();
                inner.indirection.pop();
                let base = if inner.indirection.is_empty() {
                    inner.arg.clone()
                } else {
                    Node::AIndirection(inner)
                };
                let e = self.expr_in(&base, kind)?;
                self.expand_row(e).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn expand_column_star(&mut self, c: &ast::ColumnRef) -> Result<Vec<(String, Expr)>> {
        let names: Vec<&str> = c.fields.iter().filter_map(Node::as_str).collect();
        let location = c.location;
        if names.is_empty() {
            let items: Vec<_> = self
                .level_ref()
                .namespace
                .iter()
                .filter(|n| n.cols_visible && !n.lateral_only)
                .cloned()
                .collect();
            if items.is_empty() {
                let e = pg_err!(SYNTAX_ERROR, "SELECT * with no tables specified is not valid");
                return Err(self.at(e, location));
            }
            let mut out = Vec::new();
            for item in items {
                out.extend(self.expand_item(&item, 0, location));
            }
            return Ok(out);
        }
        let (schema, table) = match names[..] {
            [table] => (None, table),
            [schema, table] => (Some(schema), table),
            [_, schema, table] => (Some(schema), table),
            _ => {
                let e = pg_err!(
                    SYNTAX_ERROR,
                    "improper qualified name (too many dotted names): {}.*",
                    names.join(".")
                );
                return Err(self.at(e, location));
            }
        };
        if let Some(e) = self.variable_before_column(&names, location)? {
            return self.expand_row(e);
        }
        let item = self.namespace_item(schema, table, location)?;
        let variable = self.variable_after_column(&names, item.is_some(), location)?;
        match item {
            Some((up, item)) => Ok(self.expand_item(&item, up, location)),
            None => match variable {
                Some(e) => self.expand_row(e),
                None => Err(self.missing_table(schema, table, location)),
            },
        }
    }

    /// The fields of a composite value. Counterpart: `ExpandRowReference`.
    fn expand_row(&mut self, e: Expr) -> Result<Vec<(String, Expr)>> {
        if let Expr::Var(v) = &e
            && v.varattno == 0
        {
            let (rtindex, up, location) = (v.varno, v.varlevelsup, v.location.0);
            let item = self.level_up(up).namespace.iter().find(|n| n.rtindex == rtindex).cloned();
            if let Some(item) = item {
                return Ok(self.expand_item(&item, up, location));
            }
        }
        let Some(columns) = self.rowtype_columns(&e)? else {
            let name = self.format_type(e.type_oid());
            return Err(pg_err!(WRONG_OBJECT_TYPE, "type {name} is not composite"));
        };
        Ok(columns
            .into_iter()
            .enumerate()
            .filter(|(_, c)| !c.dropped)
            .map(|(i, c)| {
                let field = FieldSelect {
                    arg: e.clone(),
                    fieldnum: (i + 1) as AttrNo,
                    resulttype: c.ty,
                    resulttypmod: c.typmod,
                    resultcollid: c.collation,
                };
                (c.name, Expr::FieldSelect(Box::new(field)))
            })
            .collect())
    }

    /// Expressions without names, as in VALUES and ROW. Expands `*`; allows DEFAULT with
    /// `allow_default`.
    pub fn expression_list(
        &mut self,
        list: &[Node],
        kind: ExprKind,
        allow_default: bool,
    ) -> Result<Vec<Expr>> {
        let mut out = Vec::with_capacity(list.len());
        for node in list {
            if let Some(expanded) = self.expand_star(node, kind)? {
                out.extend(expanded.into_iter().map(|(_, e)| e));
                continue;
            }
            out.push(match node {
                Node::SetToDefault(d) if allow_default => default_marker(d),
                _ => self.expr_in(node, kind)?,
            });
        }
        Ok(out)
    }

    /// Coerces result columns of unknown type to text.
    pub fn resolve_unknowns(&mut self, targets: &mut [TargetEntry]) -> Result<()> {
        for target in targets {
            if target.expr.type_oid() != ty::UNKNOWN {
                continue;
            }
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

    /// Sets the source table and column of result columns that are plain column references.
    /// Counterpart: `markTargetListOrigins`.
    pub fn mark_origins(&self, targets: &mut [TargetEntry]) {
        for target in targets {
            let (table, column) = self.origin(&target.expr, 0);
            target.resorigtbl = table;
            target.resorigcol = column;
        }
    }

    fn origin(&self, e: &Expr, extra: u32) -> (Oid, AttrNo) {
        let none = (Oid::INVALID, 0);
        let Expr::Var(v) = e else { return none };
        let at = self.levels.len() as i64 - 1 - i64::from(v.varlevelsup) - i64::from(extra);
        let Some(level) = usize::try_from(at).ok().and_then(|at| self.levels.get(at)) else {
            return none;
        };
        let Some(rte) = level.rtable.get(v.varno as usize - 1) else { return none };
        if v.varattno <= 0 {
            return match rte.kind {
                RteKind::Relation { relid, .. } => (relid, v.varattno),
                _ => none,
            };
        }
        match &rte.kind {
            RteKind::Relation { relid, .. } => (*relid, v.varattno),
            RteKind::Subquery { subquery, .. } => {
                let column = subquery.result_columns().nth(v.varattno as usize - 1);
                column.map_or(none, |t| (t.resorigtbl, t.resorigcol))
            }
            RteKind::Join { joinaliasvars, .. } => joinaliasvars
                .get(v.varattno as usize - 1)
                .map_or(none, |e| self.origin(e, v.varlevelsup + extra)),
            RteKind::Cte { ctename, ctelevelsup, self_reference: false, .. } => {
                let at = at - i64::from(*ctelevelsup);
                let level = usize::try_from(at).ok().and_then(|at| self.levels.get(at));
                let cte = level.and_then(|l| l.ctes.iter().find(|c| c.ctename == *ctename));
                let column =
                    cte.and_then(|c| c.query.result_columns().nth(v.varattno as usize - 1));
                column.map_or(none, |t| (t.resorigtbl, t.resorigcol))
            }
            _ => none,
        }
    }

    /// Coerces a value for assignment to a column of the target table, or to a field or element of
    /// it. Counterpart: `transformAssignedExpr`.
    pub fn assigned_expr(
        &mut self,
        mut e: Expr,
        kind: ExprKind,
        column: &str,
        number: AttrNo,
        indirection: &[Node],
        location: i32,
    ) -> Result<Expr> {
        let Some(target) = self.level_ref().target.clone() else {
            bail!(INTERNAL_ERROR, "an assignment without a target table")
        };
        if number <= 0 {
            let e = pg_err!(FEATURE_NOT_SUPPORTED, "cannot assign to system column \"{column}\"");
            return Err(self.at(e, location));
        }
        let attribute = target.relation.attributes[number as usize - 1].clone();
        let (attrtype, typmod) = (attribute.atttypid, attribute.atttypmod);
        // DEFAULT has the column's type; a field or element has no default.
        if let Expr::SetToDefault(d) = &mut e {
            d.typeid = attrtype;
            d.typmod = typmod;
            d.collation = attribute.attcollation;
            match indirection.first() {
                None => return Ok(e),
                Some(Node::AIndices(_)) => {
                    let e =
                        pg_err!(FEATURE_NOT_SUPPORTED, "cannot set an array element to DEFAULT");
                    return Err(self.at(e, location));
                }
                Some(_) => {
                    let e = pg_err!(FEATURE_NOT_SUPPORTED, "cannot set a subfield to DEFAULT");
                    return Err(self.at(e, location));
                }
            }
        }
        let from = e.type_oid();
        if !indirection.is_empty() {
            // The base value is NULL in INSERT, and the old value in UPDATE.
            let base = if kind == ExprKind::InsertTarget {
                let row = self.type_row(attrtype)?;
                Expr::Const(plan::expr::Const {
                    consttype: attrtype,
                    consttypmod: typmod,
                    constcollid: attribute.attcollation,
                    constlen: row.typlen,
                    constbyval: row.typbyval,
                    value: types::Datum::Null,
                    location: Location::UNKNOWN,
                })
            } else {
                Expr::Var(plan::expr::Var {
                    varno: target.rtindex,
                    varattno: number,
                    vartype: attrtype,
                    vartypmod: typmod,
                    varcollid: attribute.attcollation,
                    varlevelsup: 0,
                    location: Location(location),
                })
            };
            let target = AssignmentTarget {
                name: column,
                is_element: false,
                ty: attrtype,
                typmod,
                collation: attribute.attcollation,
                context: Context::Assignment,
            };
            return self.assign_into(base, &target, indirection, e, location);
        }
        let position = e.location();
        let coerced = self.coerce_to_target(
            e,
            attrtype,
            typmod,
            Context::Assignment,
            CoercionForm::ImplicitCast,
            Location::UNKNOWN,
        )?;
        match coerced {
            Some(e) => Ok(e),
            None => {
                let (to, from) = (self.format_type(attrtype), self.format_type(from));
                let e = pg_err!(
                    DATATYPE_MISMATCH,
                    "column \"{column}\" is of type {to} but expression is of type {from}"
                )
                .hint("You will need to rewrite or cast the expression.");
                Err(self.at(e, position))
            }
        }
    }

    /// The new value of an array or composite value with one element or field replaced.
    /// Counterpart: `transformAssignmentIndirection`.
    pub(crate) fn assign_into(
        &mut self,
        base: Expr,
        target: &AssignmentTarget<'_>,
        indirection: &[Node],
        rhs: Expr,
        location: i32,
    ) -> Result<Expr> {
        let subscripts: Vec<&ast::AIndices> = indirection
            .iter()
            .map_while(|n| if let Node::AIndices(i) = n { Some(&**i) } else { None })
            .collect();
        if !subscripts.is_empty() {
            let rest = &indirection[subscripts.len()..];
            let part = self.subscripts_on(base, &subscripts)?;
            return self.assign_element(part, target, rest, rhs, location);
        }
        match indirection.split_first() {
            None => {
                let AssignmentTarget { is_element, ty, typmod, .. } = *target;
                self.coerce_part(rhs, (ty, typmod), target, is_element, location)
            }
            Some((Node::String(field), rest)) => {
                let (attribute, row) = self.assigned_field(target, field, location)?;
                let field = AssignmentTarget {
                    name: field,
                    is_element: false,
                    ty: attribute.atttypid,
                    typmod: attribute.atttypmod,
                    collation: attribute.attcollation,
                    context: target.context,
                };
                let value = self.assign_into(field.old_value(), &field, rest, rhs, location)?;
                let store = Expr::FieldStore(Box::new(FieldStore {
                    arg: base,
                    newvals: vec![value],
                    fieldnums: vec![attribute.attnum],
                    resulttype: row.0,
                }));
                if row.0 == target.ty {
                    return Ok(store);
                }
                self.coerce_to_domain(
                    store,
                    row,
                    target.ty,
                    Context::Implicit,
                    CoercionForm::ImplicitCast,
                    Location(location),
                    false,
                )
            }
            Some(_) => {
                let e =
                    pg_err!(FEATURE_NOT_SUPPORTED, "row expansion via \"*\" is not supported here");
                Err(self.at(e, location))
            }
        }
    }

    /// Assigns to the element or slice `part` of the container in `target`, or with more
    /// indirection to a part of the element.
    fn assign_element(
        &mut self,
        part: Expr,
        target: &AssignmentTarget<'_>,
        rest: &[Node],
        rhs: Expr,
        location: i32,
    ) -> Result<Expr> {
        let AssignmentTarget { name, ty, typmod, collation, context, .. } = *target;
        let (container, container_typmod) = self.base_type_and_typmod(ty, typmod)?;
        let Expr::SubscriptingRef(mut part) = part else {
            bail!(INTERNAL_ERROR, "subscript analysis returned no subscripting node")
        };
        let needed =
            if part.reflowerindexpr.is_empty() { part.refrestype } else { part.refcontainertype };
        let value = if rest.is_empty() {
            self.coerce_part(rhs, (needed, container_typmod), target, true, location)?
        } else {
            let element = AssignmentTarget {
                name,
                is_element: true,
                ty: needed,
                typmod: container_typmod,
                collation,
                context,
            };
            self.assign_into(element.old_value(), &element, rest, rhs, location)?
        };
        part.refassgnexpr = Some(value);
        part.refrestype = part.refcontainertype;
        part.reftypmod = container_typmod;
        let result = Expr::SubscriptingRef(part);
        if container == ty {
            return Ok(result);
        }
        let coerced = self.coerce_to_target(
            result,
            ty,
            typmod,
            context,
            CoercionForm::ImplicitCast,
            Location::UNKNOWN,
        )?;
        coerced.ok_or_else(|| pg_err!(CANNOT_COERCE, "cannot cast to the column's domain"))
    }

    /// The attribute that `field` of the composite value in `target` names, and the composite type
    /// with its type modifier.
    fn assigned_field(
        &mut self,
        target: &AssignmentTarget<'_>,
        field: &str,
        location: i32,
    ) -> Result<(PgAttribute, (Oid, i32))> {
        let name = target.name;
        let row = self.base_type_and_typmod(target.ty, target.typmod)?;
        let relid = self.composite_relation(row.0)?;
        let relation = self.cat.relation(relid)?;
        let Some(relation) = relation.filter(|_| relid.is_valid()) else {
            let shown = self.format_type(target.ty);
            let e = pg_err!(
                DATATYPE_MISMATCH,
                "cannot assign to field \"{field}\" of column \"{name}\" because its type {shown} \
                 is not a composite type"
            );
            return Err(self.at(e, location));
        };
        let Some(attribute) = relation.column(field).cloned() else {
            let shown = self.format_type(target.ty);
            let e = pg_err!(
                UNDEFINED_COLUMN,
                "cannot assign to field \"{field}\" of column \"{name}\" because there is no such \
                 column in data type {shown}"
            );
            return Err(self.at(e, location));
        };
        Ok((attribute, row))
    }

    fn coerce_part(
        &mut self,
        rhs: Expr,
        (ty, typmod): (Oid, i32),
        target: &AssignmentTarget<'_>,
        is_element: bool,
        location: i32,
    ) -> Result<Expr> {
        let (from, name) = (rhs.type_oid(), target.name);
        let coerced = self.coerce_to_target(
            rhs,
            ty,
            typmod,
            target.context,
            CoercionForm::ImplicitCast,
            Location::UNKNOWN,
        )?;
        if let Some(e) = coerced {
            return Ok(e);
        }
        let (to, from) = (self.format_type(ty), self.format_type(from));
        let e = if is_element {
            pg_err!(
                DATATYPE_MISMATCH,
                "subscripted assignment to \"{name}\" requires type {to} but expression is of type \
                 {from}"
            )
        } else {
            pg_err!(
                DATATYPE_MISMATCH,
                "subfield \"{name}\" is of type {to} but expression is of type {from}"
            )
        };
        Err(self.at(e.hint("You will need to rewrite or cast the expression."), location))
    }
}

/// The keyword DEFAULT as an expression. It has no type before the target column is known.
pub fn default_marker(d: &ast::SetToDefault) -> Expr {
    Expr::SetToDefault(SetToDefault {
        typeid: ty::UNKNOWN,
        typmod: -1,
        collation: Oid::INVALID,
        location: Location(d.location),
    })
}

/// Moves an expression out and leaves a NULL constant in its place.
pub fn take(e: &mut Expr) -> Expr {
    std::mem::replace(e, crate::coerce::null_const(ty::UNKNOWN, -2, false))
}

/// The name of a column without an alias. `analyzed` is the analysed expression of `node`.
/// Counterpart: `FigureColname`.
pub fn figure_colname(node: &Node, analyzed: &Expr) -> String {
    figure(node, Some(analyzed)).map_or_else(|| "?column?".into(), |f| f.0)
}

/// The name of an index column that is an expression. Counterpart: `FigureIndexColname`.
pub fn figure_index_column(node: &Node) -> String {
    figure(node, None).map_or_else(|| "expr".into(), |f| f.0)
}

/// The column name of the sub-select at this location.
fn column_of_subselect(analyzed: &Expr, location: i32) -> Option<String> {
    let mut name = None;
    plan::walk::any(analyzed, &mut |e| {
        if let Expr::SubLink(link) = e
            && link.location.0 == location
        {
            name = link.subselect.result_columns().next().and_then(|c| c.resname.clone());
        }
        name.is_some()
    });
    name
}

/// A name and its strength: 2 is certain, 1 is used only if there is no certain one. Counterpart:
/// `FigureColnameInternal`.
fn figure(node: &Node, analyzed: Option<&Expr>) -> Option<(String, u8)> {
    let strong = |s: &str| Some((s.to_string(), 2));
    match node {
        Node::ColumnRef(c) => c.fields.iter().rev().find_map(Node::as_str).and_then(strong),
        Node::AIndirection(i) => match i.indirection.iter().rev().find_map(Node::as_str) {
            Some(name) => strong(name),
            None => figure(&i.arg, analyzed),
        },
        Node::FuncCall(f) => f.funcname.last().and_then(|n| strong(n)),
        Node::AExpr(e) if e.kind == ast::AExprKind::Nullif => strong("nullif"),
        Node::TypeCast(c) => match figure(&c.arg, analyzed) {
            Some(name) if name.1 > 1 => Some(name),
            other => c.type_name.names.last().map(|n| (n.to_string(), 1)).or(other),
        },
        Node::CollateClause(c) => c.arg.as_ref().and_then(|e| figure(e, analyzed)),
        Node::GroupingFunc(_) => strong("grouping"),
        Node::MultiAssignRef(_) => None,
        Node::SubLink(s) => match s.sub_link_type {
            ast::SubLinkType::Exists => strong("exists"),
            ast::SubLinkType::Array => strong("array"),
            // The name of the sub-select's column, even if it is the default name.
            ast::SubLinkType::Expr => strong(&column_of_subselect(analyzed?, s.location)?),
            _ => None,
        },
        Node::CaseExpr(c) => match c.defresult.as_ref().and_then(|e| figure(e, analyzed)) {
            Some(name) if name.1 > 1 => Some(name),
            _ => Some(("case".into(), 1)),
        },
        Node::AArrayExpr(_) => strong("array"),
        Node::RowExpr(_) => strong("row"),
        Node::CoalesceExpr(_) => strong("coalesce"),
        Node::MinMaxExpr(m) if m.op == ast::MinMaxOp::Greatest => strong("greatest"),
        Node::MinMaxExpr(_) => strong("least"),
        Node::SqlValueFunction(v) => {
            use ast::SqlValueFunctionOp as Op;
            strong(match v.op {
                Op::CurrentDate => "current_date",
                Op::CurrentTime | Op::CurrentTimeN => "current_time",
                Op::CurrentTimestamp | Op::CurrentTimestampN => "current_timestamp",
                Op::Localtime | Op::LocaltimeN => "localtime",
                Op::Localtimestamp | Op::LocaltimestampN => "localtimestamp",
                Op::CurrentRole => "current_role",
                Op::CurrentUser => "current_user",
                Op::User => "user",
                Op::SessionUser => "session_user",
                Op::CurrentCatalog => "current_catalog",
                Op::CurrentSchema => "current_schema",
            })
        }
        _ => None,
    }
}
