//! Expressions: from the raw parse tree to the typed expression tree. Counterpart:
//! parser/parse_expr.c, parser/parse_node.c.

use crate::coerce::{Context, null_const, returns_set};
use crate::state::{Analyzer, ExprKind, Params};
use crate::ty;
use ids::Oid;
use parse::ast::{self, AExprKind, Node, Value};
use pgerror::{Result, bail, pg_err};
use plan::expr::{
    ArrayExpr, BoolExpr, BoolOp, BoolTestKind, BooleanTest, CaseExpr, CaseTestExpr, CaseWhen,
    CoalesceExpr, CoercionForm, CollateExpr, Const, CurrentOfExpr, Expr, Location, MinMaxExpr,
    NamedArgExpr, NullTest, RowExpr, SqlValueFunction, SqlValueKind,
};
use stdx::stack::deep;
use types::Datum;

/// An unqualified operator name as a name list of the grammar.
pub fn op_name(name: &str) -> Vec<ast::Name> {
    vec![name.into()]
}

impl Analyzer<'_> {
    /// Analyses an expression of a given kind of clause.
    pub fn expr_in(&mut self, node: &Node, kind: ExprKind) -> Result<Expr> {
        self.with_kind(kind, |cx| cx.expr(node))
    }

    /// Counterpart: `transformExprRecurse`.
    pub fn expr(&mut self, node: &Node) -> Result<Expr> {
        self.cat.check_interrupts()?;
        deep(|| self.expr_node(node))
    }

    fn expr_node(&mut self, node: &Node) -> Result<Expr> {
        match node {
            Node::ColumnRef(n) => self.column_ref(n),
            Node::ParamRef(n) => self.param_ref(n),
            Node::AConst(n) => self.constant(n),
            Node::AIndirection(n) => self.indirection(n),
            Node::AArrayExpr(n) => self.array_expr(n, Oid::INVALID, Oid::INVALID, -1),
            Node::TypeCast(n) => self.type_cast(n),
            Node::CollateClause(n) => self.collate_clause(n),
            Node::AExpr(n) => self.a_expr(n),
            Node::BoolExpr(n) => self.bool_expr(n),
            Node::FuncCall(n) => self.func_call(n),
            Node::MultiAssignRef(n) => self.multi_assign_ref(n),
            Node::GroupingFunc(n) => self.grouping_func(n),
            Node::NamedArgExpr(n) => Ok(Expr::NamedArg(Box::new(NamedArgExpr {
                arg: self.expr(&n.arg)?,
                name: n.name.to_string(),
                argnumber: -1,
                location: Location(n.location),
            }))),
            Node::SubLink(n) => self.sub_link(n),
            Node::CaseExpr(n) => self.case_expr(n),
            Node::RowExpr(n) => self.row_expr(n, false),
            Node::CoalesceExpr(n) => self.coalesce_expr(n),
            Node::MinMaxExpr(n) => self.min_max_expr(n),
            Node::SqlValueFunction(n) => self.sql_value(n),
            Node::NullTest(n) => {
                let arg = self.expr(&n.arg)?;
                let argisrow = self.is_rowtype(arg.type_oid())?;
                Ok(Expr::NullTest(Box::new(NullTest {
                    arg,
                    is_not: n.nulltesttype == ast::NullTestType::IsNotNull,
                    argisrow,
                    location: Location(n.location),
                })))
            }
            Node::BooleanTest(n) => self.boolean_test(n),
            Node::CurrentOfExpr(n) => self.current_of(n),
            Node::SetToDefault(n) => {
                let e = pg_err!(SYNTAX_ERROR, "DEFAULT is not allowed in this context");
                Err(self.at(e, n.location))
            }
            Node::AStar => bail!(SYNTAX_ERROR, "row expansion via \"*\" is not supported here"),
            other => Err(pg_err!(
                INTERNAL_ERROR,
                "unrecognized node in an expression: {}",
                node_kind(other)
            )),
        }
    }

    fn constant(&mut self, n: &ast::AConst) -> Result<Expr> {
        let location = Location(n.location);
        let plain = |consttype, constlen, constbyval, value| {
            Expr::Const(Const {
                consttype,
                consttypmod: -1,
                constcollid: Oid::INVALID,
                constlen,
                constbyval,
                value,
                location,
            })
        };
        Ok(match &n.val {
            Value::Null => plain(ty::UNKNOWN, -2, false, Datum::Null),
            Value::Integer(v) => plain(ty::INT4, 4, true, Datum::int4(*v)),
            Value::Float(text) => match text.parse::<i64>() {
                Ok(v) => match i32::try_from(v) {
                    Ok(v) => plain(ty::INT4, 4, true, Datum::int4(v)),
                    Err(_) => plain(ty::INT8, 8, true, Datum::int8(v)),
                },
                Err(_) => {
                    let row = self.type_row(ty::NUMERIC)?;
                    let value = self.cat.input(&row, text, -1);
                    let value = self.with_position(value, n.location)?;
                    plain(ty::NUMERIC, -1, false, value)
                }
            },
            Value::Boolean(v) => plain(ty::BOOL, 1, true, Datum::bool(*v)),
            Value::String(text) => plain(ty::UNKNOWN, -2, false, Datum::text(text)),
            Value::BitString(text) => {
                let row = self.type_row(ty::BIT)?;
                let value = self.cat.input(&row, text, -1);
                let value = self.with_position(value, n.location)?;
                plain(ty::BIT, -1, false, value)
            }
        })
    }

    fn param_ref(&mut self, n: &ast::ParamRef) -> Result<Expr> {
        // `$n` in a function in SQL is its argument.
        self.param(n.number, n.location)
    }

    /// Counterpart: `transformColumnRef`.
    pub fn column_ref(&mut self, n: &ast::ColumnRef) -> Result<Expr> {
        let message = match self.kind() {
            ExprKind::ColumnDefault => Some("cannot use column reference in DEFAULT expression"),
            ExprKind::PartitionBound => {
                Some("cannot use column reference in partition bound expression")
            }
            _ => Option::None,
        };
        if let Some(message) = message {
            let e = pg_err!(FEATURE_NOT_SUPPORTED, "{message}");
            return Err(self.at(e, n.location));
        }
        let mut names: Vec<&str> = Vec::with_capacity(n.fields.len());
        let mut star = false;
        for field in &n.fields {
            match field {
                Node::String(s) => names.push(s),
                _ => star = true,
            }
        }
        let location = n.location;
        if let Some(value) = self.variable_before_column(&names, location)? {
            return Ok(value);
        }
        let found = match star {
            true => self.whole_row_named(&names, location)?,
            false => self.column_named(&names, location)?,
        };
        match self.variable_after_column(&names, found.is_ok(), location)? {
            Some(value) => Ok(value),
            None => found,
        }
    }

    /// A whole-row reference. `*` as a target list item has been expanded before.
    fn whole_row_named(&mut self, names: &[&str], location: i32) -> Result<Result<Expr>> {
        let found = match *names {
            [table] => self.namespace_item(None, table, location)?,
            [schema, table] => self.namespace_item(Some(schema), table, location)?,
            _ => None,
        };
        if let Some((up, item)) = found {
            return self.whole_row(&item, up, location).map(Ok);
        }
        let table = names.last().copied().unwrap_or("");
        Ok(Err(self.missing_table(None, table, location)))
    }

    /// A reference to a column, or to a row by the name of its table. The inner `Err` is the error
    /// for a reference that is not found.
    fn column_named(&mut self, names: &[&str], location: i32) -> Result<Result<Expr>> {
        match *names {
            [column] => {
                if let Some(found) = self.unqualified_column(column, false, location)? {
                    return Ok(Ok(found));
                }
                if column == "value"
                    && let Some(value) = self.domain_value()
                {
                    let mut value = value;
                    if let Expr::CoerceToDomainValue(v) = &mut value {
                        v.location = Location(location);
                    }
                    return Ok(Ok(value));
                }
                // A table name alone is a whole-row reference.
                if let Some((up, item)) = self.namespace_item(None, column, location)? {
                    return self.whole_row(&item, up, location).map(Ok);
                }
                Ok(Err(self.missing_column(None, column, location)))
            }
            [table, column] => self.column_of_table(None, table, column, location),
            [schema, table, column] => self.column_of_table(Some(schema), table, column, location),
            [catalog, schema, table, column] => {
                if catalog != self.cat.database_name()? {
                    let e = pg_err!(
                        FEATURE_NOT_SUPPORTED,
                        "cross-database references are not implemented: {}",
                        names.join(".")
                    );
                    return Ok(Err(self.at(e, location)));
                }
                self.column_of_table(Some(schema), table, column, location)
            }
            _ => {
                let e = pg_err!(
                    SYNTAX_ERROR,
                    "improper qualified name (too many dotted names): {}",
                    names.join(".")
                );
                Ok(Err(self.at(e, location)))
            }
        }
    }

    fn column_of_table(
        &mut self,
        schema: Option<&str>,
        table: &str,
        column: &str,
        location: i32,
    ) -> Result<Result<Expr>> {
        match self.namespace_item(schema, table, location)? {
            Some((up, item)) => self.item_field(&item, up, table, column, location),
            None => Ok(Err(self.missing_table(schema, table, location))),
        }
    }

    /// `item.column`, or a function of one argument in attribute notation. The inner `Err` is the
    /// error if there is neither.
    fn item_field(
        &mut self,
        item: &crate::state::NsItem,
        up: u32,
        table: &str,
        column: &str,
        location: i32,
    ) -> Result<Result<Expr>> {
        if let Some(found) = self.column_of_item(item, up, column, location)? {
            return Ok(Ok(found));
        }
        let whole = self.whole_row(item, up, location)?;
        let names = op_name(column);
        Ok(match self.func_or_column(&names, vec![whole], None, false, location)? {
            Some(found) => Ok(found),
            None => Err(self.missing_column(Some(table), column, location)),
        })
    }

    fn domain_value(&self) -> Option<Expr> {
        self.levels.iter().rev().find_map(|l| l.domain_value.clone())
    }

    fn type_cast(&mut self, n: &ast::TypeCast) -> Result<Expr> {
        let (row, typmod) = self.typename(&n.type_name)?;
        let target = row.oid;
        // A cast around ARRAY[] decides its element type.
        let arg = match &n.arg {
            Node::AArrayExpr(array) => {
                let (base, base_typmod) = self.base_type_and_typmod(target, typmod)?;
                let element = self.element_type(base)?;
                if element.is_valid() {
                    self.array_expr(array, base, element, base_typmod)?
                } else {
                    self.expr(&n.arg)?
                }
            }
            other => self.expr(other)?,
        };
        let from = arg.type_oid();
        if from == Oid::INVALID {
            return Ok(arg);
        }
        let location = if n.location >= 0 { n.location } else { n.type_name.location };
        let arg_location = arg.location();
        let coerced = self.coerce_to_target(
            arg,
            target,
            typmod,
            Context::Explicit,
            CoercionForm::ExplicitCast,
            Location(location),
        )?;
        match coerced {
            Some(e) => Ok(e),
            None => {
                let (from, to) = (self.format_type(from), self.format_type(target));
                let e = pg_err!(CANNOT_COERCE, "cannot cast type {from} to {to}");
                let position = if location >= 0 { location } else { arg_location.0 };
                Err(self.at(e, position))
            }
        }
    }

    fn collate_clause(&mut self, n: &ast::CollateClause) -> Result<Expr> {
        let Some(arg) = &n.arg else { bail!(INTERNAL_ERROR, "COLLATE without an argument") };
        let arg = self.expr(arg)?;
        let argtype = arg.type_oid();
        if argtype != ty::UNKNOWN && !self.type_collation(argtype)?.is_valid() {
            let name = self.format_type(argtype);
            let e = pg_err!(DATATYPE_MISMATCH, "collations are not supported by type {name}");
            return Err(self.at(e, n.location));
        }
        let coll_oid = self.collation(&n.collname, n.location)?;
        Ok(Expr::Collate(Box::new(CollateExpr { arg, coll_oid, location: Location(n.location) })))
    }

    fn bool_expr(&mut self, n: &ast::BoolExpr) -> Result<Expr> {
        let (boolop, name) = match n.boolop {
            ast::BoolExprType::And => (BoolOp::And, "AND"),
            ast::BoolExprType::Or => (BoolOp::Or, "OR"),
            ast::BoolExprType::Not => (BoolOp::Not, "NOT"),
        };
        let mut args = Vec::with_capacity(n.args.len());
        for arg in &n.args {
            let arg = self.expr(arg)?;
            args.push(self.coerce_to_boolean(arg, name)?);
        }
        Ok(Expr::Bool(Box::new(BoolExpr { boolop, args, location: Location(n.location) })))
    }

    fn a_expr(&mut self, n: &ast::AExpr) -> Result<Expr> {
        match n.kind {
            AExprKind::Op | AExprKind::Like | AExprKind::Ilike | AExprKind::Similar => {
                self.a_expr_op(n)
            }
            AExprKind::OpAny | AExprKind::OpAll => {
                let left = self.required(&n.lexpr)?;
                let right = self.expr(&n.rexpr)?;
                let any = n.kind == AExprKind::OpAny;
                self.make_scalar_array_op(&n.name, any, left, right, n.location)
            }
            AExprKind::Distinct | AExprKind::NotDistinct => self.a_expr_distinct(n),
            AExprKind::Nullif => self.a_expr_nullif(n),
            AExprKind::In => self.a_expr_in(n),
            AExprKind::Between
            | AExprKind::NotBetween
            | AExprKind::BetweenSym
            | AExprKind::NotBetweenSym => self.a_expr_between(n),
        }
    }

    fn required(&mut self, node: &Option<Node>) -> Result<Expr> {
        match node {
            Some(node) => self.expr(node),
            None => Err(pg_err!(INTERNAL_ERROR, "operator without a left operand")),
        }
    }

    fn a_expr_op(&mut self, n: &ast::AExpr) -> Result<Expr> {
        let Some(lexpr) = &n.lexpr else {
            let right = self.expr(&n.rexpr)?;
            return self.make_op(&n.name, None, right, n.location);
        };
        let is_null = |e: &Node| matches!(e, Node::AConst(c) if c.val == Value::Null);
        if let [name] = &n.name[..]
            && **name == *"="
            && (is_null(lexpr) || is_null(&n.rexpr))
            && self.cat.transform_null_equals()
        {
            let arg = self.expr(if is_null(lexpr) { &n.rexpr } else { lexpr })?;
            let argisrow = self.is_rowtype(arg.type_oid())?;
            return Ok(Expr::NullTest(Box::new(NullTest {
                arg,
                is_not: false,
                argisrow,
                location: Location(n.location),
            })));
        }
        match (lexpr, &n.rexpr) {
            // `(a, b) = (SELECT …)`
            (Node::RowExpr(_), Node::SubLink(link))
                if link.sub_link_type == ast::SubLinkType::Expr =>
            {
                let mut link = link.clone();
                link.sub_link_type = ast::SubLinkType::RowCompare;
                link.testexpr = Some(lexpr.clone());
                link.oper_name.clone_from(&n.name);
                link.location = n.location;
                self.sub_link(&link)
            }
            (Node::RowExpr(l), Node::RowExpr(r)) => {
                let left = self.row_items(l)?;
                let right = self.row_items(r)?;
                self.row_comparison(&n.name, left, right, n.location)
            }
            _ => {
                let left = self.expr(lexpr)?;
                let right = self.expr(&n.rexpr)?;
                self.make_op(&n.name, Some(left), right, n.location)
            }
        }
    }

    fn row_items(&mut self, row: &ast::RowExpr) -> Result<Vec<Expr>> {
        match self.row_expr(row, true)? {
            Expr::Row(row) => Ok(row.args),
            other => Ok(vec![other]),
        }
    }

    fn a_expr_distinct(&mut self, n: &ast::AExpr) -> Result<Expr> {
        let negate = n.kind == AExprKind::NotDistinct;
        let Some(lexpr) = &n.lexpr else { bail!(INTERNAL_ERROR, "IS DISTINCT lacks an operand") };
        // A comparison with the literal NULL becomes a null test.
        for (null, other) in [(&n.rexpr, lexpr), (lexpr, &n.rexpr)] {
            if matches!(null, Node::AConst(c) if c.val == Value::Null) {
                let arg = self.expr(other)?;
                return Ok(Expr::NullTest(Box::new(NullTest {
                    arg,
                    is_not: !negate,
                    argisrow: false,
                    location: Location(n.location),
                })));
            }
        }
        let result = match (lexpr, &n.rexpr) {
            (Node::RowExpr(l), Node::RowExpr(r)) => {
                let left = self.row_items(l)?;
                let right = self.row_items(r)?;
                self.row_distinct(&n.name, left, right, n.location)?
            }
            _ => match (self.expr(lexpr)?, self.expr(&n.rexpr)?) {
                // Whole-row references to joins are row expressions after analysis.
                (Expr::Row(left), Expr::Row(right)) => {
                    self.row_distinct(&n.name, left.args, right.args, n.location)?
                }
                (left, right) => self.make_distinct(&n.name, left, right, n.location)?,
            },
        };
        if !negate {
            return Ok(result);
        }
        Ok(Expr::Bool(Box::new(BoolExpr {
            boolop: BoolOp::Not,
            args: vec![result],
            location: Location(n.location),
        })))
    }

    fn make_distinct(
        &mut self,
        names: &[ast::Name],
        left: Expr,
        right: Expr,
        location: i32,
    ) -> Result<Expr> {
        let Expr::OpExpr(op) = self.make_op(names, Some(left), right, location)? else {
            bail!(INTERNAL_ERROR, "operator analysis returned no operator expression")
        };
        if op.opresulttype != ty::BOOL {
            let e =
                pg_err!(DATATYPE_MISMATCH, "IS DISTINCT FROM requires = operator to yield boolean");
            return Err(self.at(e, location));
        }
        if op.opretset {
            let e = pg_err!(DATATYPE_MISMATCH, "IS DISTINCT FROM must not return a set");
            return Err(self.at(e, location));
        }
        Ok(Expr::Distinct(op))
    }

    fn row_distinct(
        &mut self,
        names: &[ast::Name],
        left: Vec<Expr>,
        right: Vec<Expr>,
        location: i32,
    ) -> Result<Expr> {
        if left.len() != right.len() {
            let e = pg_err!(SYNTAX_ERROR, "unequal number of entries in row expressions");
            return Err(self.at(e, location));
        }
        let mut result: Option<Expr> = None;
        for (l, r) in left.into_iter().zip(right) {
            let one = self.make_distinct(names, l, r, location)?;
            result = Some(match result {
                None => one,
                Some(before) => Expr::Bool(Box::new(BoolExpr {
                    boolop: BoolOp::Or,
                    args: vec![before, one],
                    location: Location(location),
                })),
            });
        }
        Ok(result.unwrap_or_else(|| crate::coerce::bool_const(false)))
    }

    fn a_expr_nullif(&mut self, n: &ast::AExpr) -> Result<Expr> {
        let left = self.required(&n.lexpr)?;
        let right = self.expr(&n.rexpr)?;
        let Expr::OpExpr(mut op) = self.make_op(&n.name, Some(left), right, n.location)? else {
            bail!(INTERNAL_ERROR, "operator analysis returned no operator expression")
        };
        if op.opresulttype != ty::BOOL {
            let e = pg_err!(DATATYPE_MISMATCH, "NULLIF requires = operator to yield boolean");
            return Err(self.at(e, n.location));
        }
        if op.opretset {
            let e = pg_err!(DATATYPE_MISMATCH, "NULLIF must not return a set");
            return Err(self.at(e, n.location));
        }
        op.opresulttype = op.args[0].type_oid();
        Ok(Expr::NullIf(op))
    }

    /// `x IN (a, b)`: the items without variables become one `= ANY (array)`, the others
    /// comparisons joined by OR. For NOT IN the same with `<> ALL` and AND.
    fn a_expr_in(&mut self, n: &ast::AExpr) -> Result<Expr> {
        let use_or = n.name.first().is_none_or(|op| &**op != "<>");
        let Some(lexpr) = &n.lexpr else { bail!(INTERNAL_ERROR, "IN lacks its operand") };
        let items = n.rexpr.as_list().unwrap_or(&[]);
        let left = self.expr(lexpr)?;
        let (mut plain, mut variable) = (Vec::new(), Vec::new());
        let mut varies = Vec::with_capacity(items.len());
        for item in items {
            let e = self.expr(item)?;
            let varying = contains_vars(&e);
            varies.push(varying);
            if varying { variable.push(e) } else { plain.push(e) }
        }
        let mut result: Option<Expr> = None;
        if plain.len() > 1 {
            let mut all = vec![left.clone()];
            all.append(&mut plain);
            // The common type of all items; anonymous rows have no array type.
            let mut scalar = self.select_common_type(&all, None)?;
            for e in &all {
                let (from, to) = (e.type_oid(), scalar);
                if to.is_valid() && !self.can_coerce(&[from], &[to], Context::Implicit)? {
                    scalar = Oid::INVALID;
                }
            }
            let array = if scalar.is_valid() && scalar != ty::RECORD {
                self.array_type(scalar)?
            } else {
                Oid::INVALID
            };
            plain = all.split_off(1);
            if array.is_valid() {
                varies.retain(|&varies| varies);
                let mut elements = Vec::with_capacity(plain.len());
                for e in plain.drain(..) {
                    elements.push(self.coerce_to_common(e, scalar, "IN")?);
                }
                let array = Expr::Array(Box::new(ArrayExpr {
                    array_typeid: array,
                    array_collid: Oid::INVALID,
                    element_typeid: scalar,
                    elements,
                    multidims: false,
                    location: Location::UNKNOWN,
                }));
                result = Some(self.make_scalar_array_op(
                    &n.name,
                    use_or,
                    left.clone(),
                    array,
                    n.location,
                )?);
            }
        }
        // Items that are not in the array keep their order.
        let (mut plain, mut variable) = (plain.into_iter(), variable.into_iter());
        let next = |varies| if varies { variable.next() } else { plain.next() };
        for right in varies.into_iter().filter_map(next) {
            let one = match (lexpr, &right) {
                (Node::RowExpr(_), Expr::Row(r)) => {
                    let left_items = match left.clone() {
                        Expr::Row(l) => l.args,
                        other => vec![other],
                    };
                    self.row_comparison(&n.name, left_items, r.args.clone(), n.location)?
                }
                _ => self.make_op(&n.name, Some(left.clone()), right, n.location)?,
            };
            let one = self.coerce_to_boolean(one, "IN")?;
            result = Some(match result {
                None => one,
                Some(before) => flat_bool(
                    if use_or { BoolOp::Or } else { BoolOp::And },
                    before,
                    one,
                    n.location,
                ),
            });
        }
        result.ok_or_else(|| pg_err!(INTERNAL_ERROR, "IN without a list"))
    }

    /// Rewrites BETWEEN as comparisons.
    fn a_expr_between(&mut self, n: &ast::AExpr) -> Result<Expr> {
        let Some(value) = &n.lexpr else { bail!(INTERNAL_ERROR, "BETWEEN lacks its operand") };
        let Some([low, high]) = n.rexpr.as_list() else {
            bail!(INTERNAL_ERROR, "BETWEEN lacks its bounds")
        };
        let compare = |op: &str, a: &Node, b: &Node| {
            Node::AExpr(Box::new(ast::AExpr {
                kind: AExprKind::Op,
                name: op_name(op),
                lexpr: Some(a.clone()),
                rexpr: b.clone(),
                rexpr_list_start: -1,
                rexpr_list_end: -1,
                location: n.location,
            }))
        };
        let join = |boolop, a, b| {
            Node::BoolExpr(Box::new(ast::BoolExpr {
                boolop,
                args: vec![a, b],
                location: n.location,
            }))
        };
        use ast::BoolExprType::{And, Or};
        let inside =
            |a: &Node, b: &Node| join(And, compare(">=", value, a), compare("<=", value, b));
        let outside = |a: &Node, b: &Node| join(Or, compare("<", value, a), compare(">", value, b));
        let tree = match n.kind {
            AExprKind::Between => inside(low, high),
            AExprKind::NotBetween => outside(low, high),
            AExprKind::BetweenSym => join(Or, inside(low, high), inside(high, low)),
            _ => join(And, outside(low, high), outside(high, low)),
        };
        self.expr(&tree)
    }

    fn func_call(&mut self, n: &ast::FuncCall) -> Result<Expr> {
        let mut args = Vec::with_capacity(n.args.len());
        for arg in &n.args {
            args.push(self.expr(arg)?);
        }
        if n.agg_within_group {
            for item in &n.agg_order {
                args.push(self.expr_in(&item.node, ExprKind::OrderBy)?);
            }
        }
        let names = self.function_alias(&n.funcname);
        let found = self.func_or_column(&names, args, Some(n), false, n.location)?;
        found
            .ok_or_else(|| pg_err!(INTERNAL_ERROR, "function call analysis returned no expression"))
    }

    /// Maps function names from before PostgreSQL 10 to the present ones, for old scripts.
    fn function_alias(&self, names: &[ast::Name]) -> Vec<ast::Name> {
        let Some((last, schema)) = names.split_last() else { return names.to_vec() };
        let new = match &**last {
            "pg_current_xlog_location" => "pg_current_wal_lsn",
            "pg_current_xlog_insert_location" => "pg_current_wal_insert_lsn",
            "pg_xlog_location_diff" => "pg_wal_lsn_diff",
            "pg_switch_xlog" => "pg_switch_wal",
            "pg_xlogfile_name" => "pg_walfile_name",
            _ => return names.to_vec(),
        };
        let mut out = schema.to_vec();
        out.push(new.into());
        out
    }

    fn case_expr(&mut self, n: &ast::CaseExpr) -> Result<Expr> {
        let mut test = None;
        let arg = match &n.arg {
            Some(arg) => {
                let mut arg = self.expr(arg)?;
                // A literal of unknown type becomes text.
                if arg.type_oid() == ty::UNKNOWN {
                    arg = self.coerce_to_common(arg, ty::TEXT, "CASE")?;
                }
                // The conditions get the collation of the test expression as an implicit one.
                self.assign_collations(&mut arg)?;
                test = Some(CaseTestExpr {
                    typeid: arg.type_oid(),
                    typmod: arg.typmod(),
                    collation: arg.collation(),
                });
                Some(arg)
            }
            None => None,
        };
        let mut conditions = Vec::with_capacity(n.args.len());
        let mut results = Vec::with_capacity(n.args.len() + 1);
        let srfs_before = self.level_ref().srf_calls;
        for when in &n.args {
            let condition = match &test {
                Some(test) => {
                    let value = self.expr(&when.expr)?;
                    let left = Expr::CaseTest(test.clone());
                    self.make_op(&op_name("="), Some(left), value, when.location)?
                }
                None => self.expr(&when.expr)?,
            };
            conditions.push((self.coerce_to_boolean(condition, "CASE/WHEN")?, when.location));
            results.push(self.expr(&when.result)?);
        }
        let default = match &n.defresult {
            Some(node) => self.expr(node)?,
            None => null_const(ty::UNKNOWN, -2, false),
        };
        // The ELSE result comes first when the common type is selected.
        let mut all = vec![default];
        all.append(&mut results);
        let casetype = self.select_common_type(&all, Some("CASE"))?;
        let mut coerced = Vec::with_capacity(all.len());
        for (i, e) in all.into_iter().enumerate() {
            let construct = if i == 0 { "CASE/ELSE" } else { "CASE/WHEN" };
            coerced.push(self.coerce_to_common(e, casetype, construct)?);
        }
        self.no_srfs_since(srfs_before, "CASE", n.location, &coerced)?;
        let mut coerced = coerced.into_iter();
        let defresult = coerced.next();
        let args = conditions
            .into_iter()
            .zip(coerced)
            .map(|((expr, location), result)| CaseWhen {
                expr,
                result,
                location: Location(location),
            })
            .collect();
        Ok(Expr::Case(Box::new(CaseExpr {
            casetype,
            casecollid: Oid::INVALID,
            arg,
            args,
            defresult,
            location: Location(n.location),
        })))
    }

    /// Refuses set-returning functions in CASE and COALESCE, which evaluate their arguments
    /// conditionally. `before` is the level's count of set-returning calls before the arguments.
    fn no_srfs_since(
        &mut self,
        before: u32,
        construct: &str,
        location: i32,
        parts: &[Expr],
    ) -> Result<()> {
        if self.level_ref().srf_calls == before {
            return Ok(());
        }
        let position = parts.iter().find(|p| returns_set(p)).map_or(location, |p| p.location().0);
        let e = pg_err!(
            FEATURE_NOT_SUPPORTED,
            "set-returning functions are not allowed in {construct}"
        )
        .hint("You might be able to move the set-returning function into a LATERAL FROM item.");
        Err(self.at(e, position))
    }

    fn coalesce_expr(&mut self, n: &ast::CoalesceExpr) -> Result<Expr> {
        let before = self.level_ref().srf_calls;
        let mut args = Vec::with_capacity(n.args.len());
        for arg in &n.args {
            args.push(self.expr(arg)?);
        }
        let coalescetype = self.select_common_type(&args, Some("COALESCE"))?;
        let args = self.all_to_common(args, coalescetype, "COALESCE")?;
        self.no_srfs_since(before, "COALESCE", n.location, &args)?;
        Ok(Expr::Coalesce(Box::new(CoalesceExpr {
            coalescetype,
            coalescecollid: Oid::INVALID,
            args,
            location: Location(n.location),
        })))
    }

    /// Coerces expressions to their common type. `construct` names the clause in errors.
    pub fn all_to_common(
        &mut self,
        exprs: Vec<Expr>,
        target: Oid,
        construct: &str,
    ) -> Result<Vec<Expr>> {
        let mut out = Vec::with_capacity(exprs.len());
        for e in exprs {
            out.push(self.coerce_to_common(e, target, construct)?);
        }
        Ok(out)
    }

    fn min_max_expr(&mut self, n: &ast::MinMaxExpr) -> Result<Expr> {
        let greatest = n.op == ast::MinMaxOp::Greatest;
        let name = if greatest { "GREATEST" } else { "LEAST" };
        let mut args = Vec::with_capacity(n.args.len());
        for arg in &n.args {
            args.push(self.expr(arg)?);
        }
        let minmaxtype = self.select_common_type(&args, Some(name))?;
        let args = self.all_to_common(args, minmaxtype, name)?;
        Ok(Expr::MinMax(Box::new(MinMaxExpr {
            minmaxtype,
            minmaxcollid: Oid::INVALID,
            inputcollid: Oid::INVALID,
            greatest,
            args,
            location: Location(n.location),
        })))
    }

    fn sql_value(&mut self, n: &ast::SqlValueFunction) -> Result<Expr> {
        use ast::SqlValueFunctionOp as Op;
        let (op, typeid) = match n.op {
            Op::CurrentDate => (SqlValueKind::CurrentDate, ty::DATE),
            Op::CurrentTime => (SqlValueKind::CurrentTime, ty::TIMETZ),
            Op::CurrentTimeN => (SqlValueKind::CurrentTimeN, ty::TIMETZ),
            Op::CurrentTimestamp => (SqlValueKind::CurrentTimestamp, ty::TIMESTAMPTZ),
            Op::CurrentTimestampN => (SqlValueKind::CurrentTimestampN, ty::TIMESTAMPTZ),
            Op::Localtime => (SqlValueKind::Localtime, ty::TIME),
            Op::LocaltimeN => (SqlValueKind::LocaltimeN, ty::TIME),
            Op::Localtimestamp => (SqlValueKind::Localtimestamp, ty::TIMESTAMP),
            Op::LocaltimestampN => (SqlValueKind::LocaltimestampN, ty::TIMESTAMP),
            Op::CurrentRole => (SqlValueKind::CurrentRole, ty::NAME),
            Op::CurrentUser => (SqlValueKind::CurrentUser, ty::NAME),
            Op::User => (SqlValueKind::User, ty::NAME),
            Op::SessionUser => (SqlValueKind::SessionUser, ty::NAME),
            Op::CurrentCatalog => (SqlValueKind::CurrentCatalog, ty::NAME),
            Op::CurrentSchema => (SqlValueKind::CurrentSchema, ty::NAME),
        };
        let mut typmod = n.typmod;
        if typmod > 6 {
            let (name, zone) = match typeid {
                ty::TIME => ("TIME", ""),
                ty::TIMETZ => ("TIME", " WITH TIME ZONE"),
                ty::TIMESTAMP => ("TIMESTAMP", ""),
                _ => ("TIMESTAMP", " WITH TIME ZONE"),
            };
            self.cat.notice(
                pg_err!(
                    INVALID_PARAMETER_VALUE,
                    "{name}({typmod}){zone} precision reduced to maximum allowed, 6"
                )
                .severity(pgerror::Severity::Warning),
            );
            typmod = 6;
        }
        Ok(Expr::SqlValue(SqlValueFunction { op, typeid, typmod, location: Location(n.location) }))
    }

    fn boolean_test(&mut self, n: &ast::BooleanTest) -> Result<Expr> {
        use ast::BoolTestType as T;
        let (booltesttype, name) = match n.booltesttype {
            T::IsTrue => (BoolTestKind::IsTrue, "IS TRUE"),
            T::IsNotTrue => (BoolTestKind::IsNotTrue, "IS NOT TRUE"),
            T::IsFalse => (BoolTestKind::IsFalse, "IS FALSE"),
            T::IsNotFalse => (BoolTestKind::IsNotFalse, "IS NOT FALSE"),
            T::IsUnknown => (BoolTestKind::IsUnknown, "IS UNKNOWN"),
            T::IsNotUnknown => (BoolTestKind::IsNotUnknown, "IS NOT UNKNOWN"),
        };
        let arg = self.expr(&n.arg)?;
        let arg = self.coerce_to_boolean(arg, name)?;
        Ok(Expr::BooleanTest(Box::new(BooleanTest {
            arg,
            booltesttype,
            location: Location(n.location),
        })))
    }

    fn current_of(&mut self, n: &ast::CurrentOfExpr) -> Result<Expr> {
        let cvarno = match &self.level_ref().target {
            Some(target) => target.rtindex,
            None => bail!(INTERNAL_ERROR, "CURRENT OF outside UPDATE and DELETE"),
        };
        let mut cursor_name = n.cursor_name.as_ref().map(|c| c.to_string());
        let mut cursor_param = n.cursor_param;
        // The name may be that of a variable with the name of the cursor.
        if let (Params::Scope(scope), Some(name)) = (&self.params, &cursor_name)
            && let Some(variable) = scope.named(&[name])?
            && variable.ty == types::oids::REFCURSOR
        {
            (cursor_name, cursor_param) = (None, variable.number);
        }
        Ok(Expr::CurrentOf(CurrentOfExpr { cvarno, cursor_name, cursor_param }))
    }

    fn row_expr(&mut self, n: &ast::RowExpr, allow_default: bool) -> Result<Expr> {
        let args = self.expression_list(&n.args, self.kind(), allow_default)?;
        if args.len() > 1664 {
            let e = pg_err!(TOO_MANY_COLUMNS, "ROW expressions can have at most 1664 entries");
            return Err(self.at(e, n.location));
        }
        let colnames = (1..=args.len()).map(|i| format!("f{i}")).collect();
        let row_format = match n.row_format {
            ast::CoercionForm::ImplicitCast => CoercionForm::ImplicitCast,
            _ => CoercionForm::ExplicitCall,
        };
        Ok(Expr::Row(Box::new(RowExpr {
            args,
            row_typeid: ty::RECORD,
            row_format,
            colnames,
            location: Location(n.location),
        })))
    }
}

/// Joins two conditions, flattening a chain of the same kind.
fn flat_bool(boolop: BoolOp, left: Expr, right: Expr, location: i32) -> Expr {
    match left {
        Expr::Bool(mut b) if b.boolop == boolop && b.location.0 == location => {
            b.args.push(right);
            Expr::Bool(b)
        }
        left => Expr::Bool(Box::new(BoolExpr {
            boolop,
            args: vec![left, right],
            location: Location(location),
        })),
    }
}

/// Whether the expression contains variables of this query level.
fn contains_vars(expr: &Expr) -> bool {
    crate::walk::contains_vars_of_level(expr, 0)
}

fn node_kind(node: &Node) -> String {
    let text = format!("{node:?}");
    text.split(['(', ' ', '{']).next().unwrap_or("?").to_string()
}
