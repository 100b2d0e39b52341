//! Deparses expressions. Counterpart: ruleutils.c (`get_rule_expr`).

use crate::Deparser;
use crate::query::strip_assignment;
use analyze::stored::malformed;
use ids::Oid;
use ids::code::TypType;
use ids::stored::{StoredFacet, described};
use pgerror::{PgError, Result};
use plan::expr::{
    BoolExpr, BoolOp, BoolTestKind, BooleanTest, CaseExpr, CoercionForm, Const, CurrentOfExpr,
    Expr, NullTest, OpExpr, Param, ParamKind, RowExpr, ScalarArrayOpExpr, SqlValueFunction,
    SqlValueKind, SubLink, SubLinkKind, SubscriptingRef, Var,
};
use plan::query::RteKind;
use types::oids;

impl Deparser<'_> {
    /// Writes an expression. With `implicit`, implicit casts are shown too.
    pub(super) fn expr(&mut self, e: &Expr, implicit: bool) -> Result<()> {
        self.deeper()?;
        stdx::stack::deep(|| self.expr_inner(e, implicit))?;
        self.depth -= 1;
        Ok(())
    }

    /// Writes an operand of `parent`, in parentheses where the pretty style needs them.
    /// Counterpart: `get_rule_expr_paren`.
    pub(super) fn operand(&mut self, e: &Expr, implicit: bool, parent: &Expr) -> Result<()> {
        let paren = self.style.pretty && !is_simple(self, e, parent)?;
        if paren {
            self.out.push('(');
        }
        self.expr(e, implicit)?;
        if paren {
            self.out.push(')');
        }
        Ok(())
    }

    pub(super) fn list(&mut self, list: &[Expr], implicit: bool) -> Result<()> {
        for (i, e) in list.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            self.expr(e, implicit)?;
        }
        Ok(())
    }

    /// Writes an element of a top-level list of a clause. A whole-row reference gets a cast to its
    /// type. Counterpart: `get_rule_expr_toplevel`.
    pub(super) fn top_level(&mut self, e: &Expr, implicit: bool) -> Result<()> {
        match e {
            Expr::Var(v) => self.variable(v, 0, true).map(|_| ()),
            Expr::Row(r) if self.row_of_join(r).is_some() => {
                self.row(r)?;
                self.put("::record");
                Ok(())
            }
            e => self.expr(e, implicit),
        }
    }

    fn expr_inner(&mut self, e: &Expr, implicit: bool) -> Result<()> {
        match e {
            Expr::Var(v) => self.variable(v, 0, false).map(|_| ())?,
            Expr::Const(c) => self.constant(c, 0)?,
            Expr::Param(p) => self.param(p)?,
            Expr::Aggref(a) => self.aggregate(a)?,
            Expr::GroupingFunc(g) => self.call("GROUPING", &g.args)?,
            Expr::WindowFunc(w) => self.window_function(w)?,
            Expr::SubscriptingRef(s) => self.subscripting(s, e, implicit)?,
            Expr::FuncExpr(f) => self.function(f, e, implicit)?,
            Expr::NamedArg(n) => {
                self.put_name(&n.name);
                self.put(" => ");
                self.expr(&n.arg, implicit)?;
            }
            Expr::OpExpr(o) => self.operator(o, e)?,
            Expr::Distinct(o) => {
                let [left, right] = &o.args[..] else { return Err(malformed()) };
                self.open();
                self.operand(left, true, e)?;
                self.put(" IS DISTINCT FROM ");
                self.operand(right, true, e)?;
                self.close();
            }
            Expr::NullIf(o) => self.call("NULLIF", &o.args)?,
            Expr::ScalarArrayOp(o) => self.array_comparison(o, e)?,
            Expr::Bool(b) => self.boolean(b, e)?,
            Expr::SubLink(s) => self.sublink(s, e)?,
            Expr::SubPlan(s) => self.put(&match s.use_hash_table {
                true => format!("(hashed {})", s.plan_name),
                false => format!("({})", s.plan_name),
            }),
            Expr::FieldSelect(f) => {
                let paren = !matches!(f.arg, Expr::SubscriptingRef(_) | Expr::FieldSelect(_));
                self.parens(paren, |d| d.expr(&f.arg, true))?;
                let name = self.field_name(&f.arg, f.fieldnum)?;
                self.put(".");
                self.put_name(&name);
            }
            // A FieldStore occurs only in an assignment, whose target has been written already.
            Expr::FieldStore(f) => match &f.newvals[..] {
                [only] => self.expr(only, implicit)?,
                many => {
                    self.put("ROW(");
                    self.list(many, implicit)?;
                    self.put(")");
                }
            },
            Expr::Relabel(_)
            | Expr::CoerceViaIo(_)
            | Expr::ArrayCoerce(_)
            | Expr::ConvertRowtype(_)
            | Expr::CoerceToDomain(_) => self.conversion(e, implicit)?,
            Expr::Collate(c) => {
                self.open();
                self.operand(&c.arg, implicit, e)?;
                let name = self.collation_name(c.coll_oid)?;
                self.put(&format!(" COLLATE {name}"));
                self.close();
            }
            Expr::Case(c) => self.case(c)?,
            Expr::CaseTest(_) => self.put("CASE_TEST_EXPR"),
            Expr::Array(a) => {
                self.put("ARRAY[");
                self.list(&a.elements, true)?;
                self.put("]");
                if a.elements.is_empty() {
                    let name = self.type_name(a.array_typeid, -1)?;
                    self.put(&format!("::{name}"));
                }
            }
            Expr::Row(r) => self.row(r)?,
            Expr::RowCompare(r) => {
                let op = r.opnos.first().ok_or_else(malformed)?;
                self.put("(ROW(");
                self.list(&r.largs, true)?;
                let name = self.operator_name(*op)?;
                self.put(&format!(") {name} ROW("));
                self.list(&r.rargs, true)?;
                self.put("))");
            }
            Expr::Coalesce(c) => self.call("COALESCE", &c.args)?,
            Expr::MinMax(m) => {
                self.call(if m.greatest { "GREATEST" } else { "LEAST" }, &m.args)?;
            }
            Expr::SqlValue(v) => self.put(&sql_value_name(v)),
            Expr::Xml(x) => self.xml(x, e)?,
            Expr::NullTest(n) => self.null_test(n, e)?,
            Expr::BooleanTest(b) => self.boolean_test(b, e)?,
            Expr::CoerceToDomainValue(_) => self.put("VALUE"),
            Expr::SetToDefault(_) => self.put("DEFAULT"),
            Expr::CurrentOf(c) => self.current_of(c),
            Expr::NextValue(n) => {
                let name = self.relation_name(n.seqid)?;
                self.put(&format!("nextval({}::regclass)", self.quoting.literal(&name)));
            }
        }
        Ok(())
    }

    /// `name(args)`.
    fn call(&mut self, name: &str, args: &[Expr]) -> Result<()> {
        self.put(name);
        self.put("(");
        self.list(args, true)?;
        self.put(")");
        Ok(())
    }

    fn param(&mut self, p: &Param) -> Result<()> {
        if p.paramkind == ParamKind::Exec {
            if !self.plan_param(p)? {
                self.put(&format!("${}", p.paramid));
            }
            return Ok(());
        }
        match self.param_names.get(p.paramid as usize - 1) {
            Some(name) if p.paramkind == ParamKind::Extern && !name.is_empty() => {
                let name = self.quoting.identifier(name);
                // The name is qualified if a column could have the same name.
                let owner = match self.scopes.iter().all(|s| s.entries.is_empty()) {
                    true => String::new(),
                    false => self.function_name.clone(),
                };
                self.put(&format!("{owner}{name}"));
            }
            _ => self.put(&format!("${}", p.paramid)),
        }
        Ok(())
    }

    fn subscripting(&mut self, s: &SubscriptingRef, whole: &Expr, implicit: bool) -> Result<()> {
        if let Expr::CaseTest(_) = s.refexpr {
            // The target of the assignment, which has been written already, is the container.
            if let Some(value) = &s.refassgnexpr {
                return self.expr(value, implicit);
            }
        }
        let paren = !matches!(s.refexpr, Expr::Var(_) | Expr::FieldSelect(_));
        self.parens(paren, |d| d.expr(&s.refexpr, implicit))?;
        match &s.refassgnexpr {
            // Only EXPLAIN shows an assignment outside of INSERT and UPDATE.
            Some(value) => {
                self.indirection(whole)?;
                self.put(" := ");
                self.expr(strip_assignment(value), implicit)
            }
            None => self.subscripts(s),
        }
    }

    /// `left op ANY (right)`.
    fn array_comparison(&mut self, o: &ScalarArrayOpExpr, e: &Expr) -> Result<()> {
        let [left, right] = &o.args[..] else { return Err(malformed()) };
        self.open();
        self.operand(left, true, e)?;
        let name = self.operator_name(o.opno)?;
        self.put(&format!(" {name} {} (", if o.use_or { "ANY" } else { "ALL" }));
        self.operand(right, true, e)?;
        // Without a cast, `op ANY (SELECT …)` would mean a comparison with each row.
        if let Expr::SubLink(s) = right
            && s.kind == SubLinkKind::Expr
        {
            let name = self.type_name(right.type_oid(), right.typmod())?;
            self.put(&format!("::{name}"));
        }
        self.put(")");
        self.close();
        Ok(())
    }

    /// Nodes that convert their argument to another type.
    fn conversion(&mut self, e: &Expr, implicit: bool) -> Result<()> {
        let (arg, ty, form) = match e {
            // The planner adds a `RelabelType` without effect to mark a grouping expression.
            Expr::Relabel(n)
                if n.resulttype == n.arg.type_oid()
                    && n.resulttypmod == n.arg.typmod()
                    && n.resultcollid == n.arg.collation() =>
            {
                return self.expr(&n.arg, implicit);
            }
            Expr::Relabel(n) => (&n.arg, (n.resulttype, n.resulttypmod), n.relabelformat),
            Expr::CoerceViaIo(n) => (&n.arg, (n.resulttype, -1), n.coerceformat),
            Expr::ArrayCoerce(n) => (&n.arg, (n.resulttype, n.resulttypmod), n.coerceformat),
            Expr::ConvertRowtype(n) => (&n.arg, (n.resulttype, -1), n.convertformat),
            Expr::CoerceToDomain(n) => (&n.arg, (n.resulttype, n.resulttypmod), n.coercionformat),
            _ => return Err(malformed()),
        };
        self.coercion(arg, ty, form, e, implicit)
    }

    /// The alias of the join whose whole row this is.
    fn row_of_join(&self, r: &RowExpr) -> Option<String> {
        let first = match r.args.first() {
            Some(Expr::Var(first)) if r.row_format == CoercionForm::ImplicitCast => first,
            _ => return None,
        };
        let level = self.scopes.len().checked_sub(first.varlevelsup as usize + 1)?;
        let scope = self.scopes.get(level)?;
        let at = usize::try_from(first.varno - 1).ok()?;
        let rte = scope.query.as_ref()?.rtable.get(at)?;
        if !matches!(rte.kind, RteKind::Join { .. }) || rte.eref.colnames != r.colnames {
            return None;
        }
        let is_column = |(i, e): (usize, &Expr)| {
            matches!(e, Expr::Var(v) if v.varno == first.varno
                && v.varlevelsup == first.varlevelsup
                && usize::try_from(v.varattno) == Ok(i + 1))
        };
        let whole = r.args.iter().enumerate().all(is_column);
        whole.then(|| scope.entries.get(at)?.refname.clone())?
    }

    fn row(&mut self, r: &RowExpr) -> Result<()> {
        if let Some(alias) = self.row_of_join(r) {
            self.put_name(&alias);
            self.put(".*");
            return Ok(());
        }
        // By the present fields of the type: dropped ones are omitted, added ones are NULL.
        let dropped = self.dropped_fields(r.row_typeid)?;
        self.put("ROW(");
        let mut separator = "";
        for i in 0..r.args.len().max(dropped.len()) {
            if dropped.get(i) == Some(&true) {
                continue;
            }
            self.put(separator);
            separator = ", ";
            match r.args.get(i) {
                Some(arg) => self.top_level(arg, true)?,
                None => self.put("NULL"),
            }
        }
        self.put(")");
        if r.row_format == CoercionForm::ExplicitCast {
            let name = self.type_name(r.row_typeid, -1)?;
            self.put(&format!("::{name}"));
        }
        Ok(())
    }

    fn null_test(&mut self, n: &NullTest, e: &Expr) -> Result<()> {
        self.open();
        self.operand(&n.arg, true, e)?;
        // A test of the row value itself, not of its fields.
        let row = !n.argisrow && self.is_row_type(n.arg.type_oid())?;
        self.put(match (n.is_not, row) {
            (false, false) => " IS NULL",
            (true, false) => " IS NOT NULL",
            (false, true) => " IS NOT DISTINCT FROM NULL",
            (true, true) => " IS DISTINCT FROM NULL",
        });
        self.close();
        Ok(())
    }

    fn boolean_test(&mut self, b: &BooleanTest, e: &Expr) -> Result<()> {
        self.open();
        self.operand(&b.arg, false, e)?;
        self.put(match b.booltesttype {
            BoolTestKind::IsTrue => " IS TRUE",
            BoolTestKind::IsNotTrue => " IS NOT TRUE",
            BoolTestKind::IsFalse => " IS FALSE",
            BoolTestKind::IsNotFalse => " IS NOT FALSE",
            BoolTestKind::IsUnknown => " IS UNKNOWN",
            BoolTestKind::IsNotUnknown => " IS NOT UNKNOWN",
        });
        self.close();
        Ok(())
    }

    fn current_of(&mut self, c: &CurrentOfExpr) {
        match &c.cursor_name {
            Some(name) => {
                self.put("CURRENT OF ");
                self.put_name(name);
            }
            None => self.put(&format!("CURRENT OF ${}", c.cursor_param)),
        }
    }

    pub(super) fn parens(
        &mut self,
        yes: bool,
        f: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if yes {
            self.out.push('(');
        }
        f(self)?;
        if yes {
            self.out.push(')');
        }
        Ok(())
    }

    /// Writes a column reference. Returns the unqualified column name if it is a plain column.
    /// Counterpart: `get_variable`.
    pub(super) fn variable(&mut self, v: &Var, levels: u32, top: bool) -> Result<Option<String>> {
        if v.varno < 0
            && let Some(written) = self.child_column(v, top)
        {
            return written;
        }
        if let Some(column) = self.column_of_parent(v) {
            return self.variable(&column, levels, top);
        }
        let up = (v.varlevelsup + levels) as usize;
        let scope = self.scopes.len().checked_sub(up + 1).and_then(|i| self.scopes.get(i));
        let entry = scope.and_then(|s| s.entries.get((v.varno as usize).wrapping_sub(1)));
        let Some(entry) = entry else {
            return Err(PgError::internal(format!("bogus varno: {}", v.varno)));
        };
        if entry.refname.is_none()
            && v.varattno > 0
            && let Some(Expr::Var(inner)) = entry.join_columns.get(v.varattno as usize - 1)
        {
            let inner = inner.clone();
            return self.variable(&inner, up as u32, top);
        }
        if let Some((facet, varattno)) = described(v.varattno) {
            let name = match facet {
                StoredFacet::Size => "pg_column_size",
                StoredFacet::Compression => "pg_column_compression",
            };
            self.put(name);
            self.put("(");
            self.variable(&Var { varattno, ..v.clone() }, levels, false)?;
            self.put(")");
            return Ok(Some(name.to_owned()));
        }
        let name = match v.varattno {
            0 => None,
            n if n > 0 => match entry.columns.name(n as usize - 1) {
                Some(c) => Some(c.clone()),
                _ => Some("?dropped?column?".to_owned()),
            },
            n => Some(system_column(n).to_owned()),
        };
        if let Some(refname) = entry.refname.clone()
            && (self.prefix || name.is_none())
        {
            self.put_name(&refname);
            self.put(".");
        }
        match &name {
            Some(n) => self.put_name(n),
            None => {
                self.put("*");
                if top {
                    let ty = self.type_name(v.vartype, v.vartypmod)?;
                    self.put(&format!("::{ty}"));
                }
            }
        }
        Ok(name)
    }

    /// Writes a constant. The type label is omitted if `label` is negative, written if the parser
    /// would infer another type if it is 0, and always written if it is 1. Counterpart:
    /// `get_const_expr`.
    pub(super) fn constant(&mut self, c: &Const, label: i32) -> Result<()> {
        if c.is_null() {
            self.put("NULL");
            if label >= 0 {
                self.type_label(c)?;
            }
            return Ok(());
        }
        let text = self.host.functions().type_output(c.consttype, c.value.as_ref())?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let mut needs_label = !matches!(c.consttype, oids::BOOL | oids::UNKNOWN);
        match c.consttype {
            oids::INT4 => {
                needs_label = text.starts_with('-');
                if needs_label {
                    self.put(&format!("'{text}'"));
                } else {
                    self.put(&text);
                }
            }
            oids::NUMERIC => {
                let plain = text.starts_with(|c: char| c.is_ascii_digit())
                    && text.contains(['e', 'E', '.']);
                if plain {
                    self.put(&text);
                } else {
                    self.put(&format!("'{text}'"));
                }
                needs_label = !plain || c.consttypmod >= 0;
            }
            oids::BOOL => self.put(if text == "t" { "true" } else { "false" }),
            _ => self.put(&self.quoting.literal(&text)),
        }
        if label < 0 {
            return Ok(());
        }
        if needs_label || label > 0 {
            self.type_label(c)?;
        }
        Ok(())
    }

    fn type_label(&mut self, c: &Const) -> Result<()> {
        let name = self.type_name(c.consttype, c.consttypmod)?;
        self.put(&format!("::{name}"));
        if c.constcollid.is_valid() {
            let natural = self.host.catalog().type_row(c.consttype)?.typcollation;
            if natural != c.constcollid {
                let name = self.collation_name(c.constcollid)?;
                self.put(&format!(" COLLATE {name}"));
            }
        }
        Ok(())
    }

    fn operator(&mut self, o: &OpExpr, e: &Expr) -> Result<()> {
        self.open();
        let name = self.operator_name(o.opno)?;
        match &o.args[..] {
            [left, right] => {
                self.operand(left, true, e)?;
                self.put(&format!(" {name} "));
                self.operand(right, true, e)?;
            }
            [only] => {
                self.put(&format!("{name} "));
                self.operand(only, true, e)?;
            }
            _ => return Err(malformed()),
        }
        self.close();
        Ok(())
    }

    fn boolean(&mut self, b: &BoolExpr, e: &Expr) -> Result<()> {
        self.open();
        let word = match b.boolop {
            BoolOp::And => " AND ",
            BoolOp::Or => " OR ",
            BoolOp::Not => {
                self.put("NOT ");
                ""
            }
        };
        for (i, arg) in b.args.iter().enumerate() {
            if i > 0 {
                self.put(word);
            }
            self.operand(arg, false, e)?;
        }
        self.close();
        Ok(())
    }

    /// Writes a cast to a type and modifier.
    pub(super) fn cast(&mut self, arg: &Expr, to: (Oid, i32), parent: &Expr) -> Result<()> {
        match arg {
            // The type label of the cast serves as that of the constant.
            Expr::Const(c) if c.consttype == to.0 && c.consttypmod == -1 => self.constant(c, -1)?,
            _ => {
                self.open();
                self.operand(arg, false, parent)?;
                self.close();
            }
        }
        let name = self.type_name(to.0, to.1)?;
        self.put(&format!("::{name}"));
        Ok(())
    }

    fn coercion(
        &mut self,
        arg: &Expr,
        to: (Oid, i32),
        form: CoercionForm,
        e: &Expr,
        implicit: bool,
    ) -> Result<()> {
        if form == CoercionForm::ImplicitCast && !implicit {
            return self.operand(arg, false, e);
        }
        self.cast(arg, to, e)
    }

    fn case(&mut self, c: &CaseExpr) -> Result<()> {
        self.keyword("CASE", 0, crate::VAR, 0);
        if let Some(arg) = &c.arg {
            self.put(" ");
            self.expr(arg, true)?;
        }
        for when in &c.args {
            let mut test = &when.expr;
            if c.arg.is_some()
                && let Expr::OpExpr(o) = test
                && let [left, right] = &o.args[..]
                && matches!(strip_implicit(left), Expr::CaseTest(_))
            {
                test = right;
            }
            if !self.style.indent {
                self.put(" ");
            }
            self.keyword("WHEN ", 0, 0, 0);
            self.expr(test, false)?;
            self.put(" THEN ");
            self.expr(&when.result, true)?;
        }
        if !self.style.indent {
            self.put(" ");
        }
        if let Some(e) = &c.defresult {
            self.keyword("ELSE ", 0, 0, 0);
            self.expr(e, true)?;
            if !self.style.indent {
                self.put(" ");
            }
        }
        self.keyword("END", -crate::VAR, 0, 0);
        Ok(())
    }

    fn subscripts(&mut self, s: &SubscriptingRef) -> Result<()> {
        for (i, upper) in s.refupperindexpr.iter().enumerate() {
            self.put("[");
            if !s.reflowerindexpr.is_empty() {
                if let Some(Some(lower)) = s.reflowerindexpr.get(i) {
                    self.expr(lower, false)?;
                }
                self.put(":");
            }
            if let Some(upper) = upper {
                self.expr(upper, false)?;
            }
            self.put("]");
        }
        Ok(())
    }

    fn sublink(&mut self, s: &SubLink, whole: &Expr) -> Result<()> {
        self.put(if s.kind == SubLinkKind::Array { "ARRAY(" } else { "(" });
        let mut op = None;
        match &s.testexpr {
            None => {}
            Some(Expr::OpExpr(o)) => {
                self.operand(o.args.first().ok_or_else(malformed)?, true, whole)?;
                op = Some(o.opno);
            }
            Some(Expr::Bool(b)) => {
                self.put("(");
                for (i, arg) in b.args.iter().enumerate() {
                    let Expr::OpExpr(o) = arg else { return Err(malformed()) };
                    if i > 0 {
                        self.put(", ");
                    }
                    self.expr(o.args.first().ok_or_else(malformed)?, true)?;
                    op = op.or(Some(o.opno));
                }
                self.put(")");
            }
            Some(Expr::RowCompare(r)) => {
                self.put("(");
                self.list(&r.largs, true)?;
                self.put(")");
                op = r.opnos.first().copied();
            }
            Some(_) => return Err(malformed()),
        }
        let op = match op {
            Some(op) => self.operator_name(op)?,
            None => String::new(),
        };
        let mut paren = true;
        match s.kind {
            SubLinkKind::Exists => self.put("EXISTS "),
            SubLinkKind::Any if op == "=" => self.put(" IN "),
            SubLinkKind::Any => self.put(&format!(" {op} ANY ")),
            SubLinkKind::All => self.put(&format!(" {op} ALL ")),
            SubLinkKind::RowCompare => self.put(&format!(" {op} ")),
            _ => paren = false,
        }
        self.parens(paren, |d| d.query(&s.subselect, None, false))?;
        self.put(")");
        Ok(())
    }

    fn is_row_type(&mut self, ty: Oid) -> Result<bool> {
        if ty == oids::RECORD {
            return Ok(true);
        }
        let mut cat = self.host.catalog();
        let (base, _) = cat.base_type(ty)?;
        Ok(cat.type_row(base)?.typtype == TypType::Composite)
    }
}

impl Deparser<'_> {
    /// For each field of a composite type, whether it was dropped; empty for anonymous rows.
    fn dropped_fields(&mut self, ty: ids::Oid) -> Result<Vec<bool>> {
        if ty == oids::RECORD {
            return Ok(Vec::new());
        }
        let mut cat = self.host.catalog();
        let relation = cat.type_row(ty)?.typrelid;
        let desc = cat.relation(relation)?;
        Ok(desc.attributes.iter().map(|a| a.attisdropped).collect())
    }
}

fn strip_implicit(e: &Expr) -> &Expr {
    use CoercionForm::ImplicitCast;
    match e {
        Expr::FuncExpr(f) if f.funcformat == ImplicitCast => match f.args.first() {
            Some(arg) => strip_implicit(arg),
            None => e,
        },
        Expr::Relabel(n) if n.relabelformat == ImplicitCast => strip_implicit(&n.arg),
        Expr::CoerceViaIo(n) if n.coerceformat == ImplicitCast => strip_implicit(&n.arg),
        Expr::ArrayCoerce(n) if n.coerceformat == ImplicitCast => strip_implicit(&n.arg),
        Expr::ConvertRowtype(n) if n.convertformat == ImplicitCast => strip_implicit(&n.arg),
        Expr::CoerceToDomain(n) if n.coercionformat == ImplicitCast => strip_implicit(&n.arg),
        e => e,
    }
}

pub(super) fn system_column(number: ids::AttrNo) -> &'static str {
    match number {
        -1 => "ctid",
        -2 => "xmin",
        -3 => "cmin",
        -4 => "xmax",
        -5 => "cmax",
        -6 => "tableoid",
        _ => "?column?",
    }
}

fn sql_value_name(v: &SqlValueFunction) -> String {
    match v.op {
        SqlValueKind::CurrentDate => "CURRENT_DATE".to_owned(),
        SqlValueKind::CurrentTime => "CURRENT_TIME".to_owned(),
        SqlValueKind::CurrentTimeN => format!("CURRENT_TIME({})", v.typmod),
        SqlValueKind::CurrentTimestamp => "CURRENT_TIMESTAMP".to_owned(),
        SqlValueKind::CurrentTimestampN => format!("CURRENT_TIMESTAMP({})", v.typmod),
        SqlValueKind::Localtime => "LOCALTIME".to_owned(),
        SqlValueKind::LocaltimeN => format!("LOCALTIME({})", v.typmod),
        SqlValueKind::Localtimestamp => "LOCALTIMESTAMP".to_owned(),
        SqlValueKind::LocaltimestampN => format!("LOCALTIMESTAMP({})", v.typmod),
        SqlValueKind::CurrentRole => "CURRENT_ROLE".to_owned(),
        SqlValueKind::CurrentUser => "CURRENT_USER".to_owned(),
        SqlValueKind::User => "USER".to_owned(),
        SqlValueKind::SessionUser => "SESSION_USER".to_owned(),
        SqlValueKind::CurrentCatalog => "CURRENT_CATALOG".to_owned(),
        SqlValueKind::CurrentSchema => "CURRENT_SCHEMA".to_owned(),
    }
}

/// The precedence of an arithmetic operator: 1 for sums, 2 for products, 0 for other operators.
fn precedence(d: &mut Deparser<'_>, o: &OpExpr) -> Result<u8> {
    if o.args.len() != 2 {
        return Ok(0);
    }
    let name = d.host.catalog().operator(o.opno)?.oprname;
    Ok(match name.as_str() {
        "+" | "-" => 1,
        "*" | "/" | "%" => 2,
        _ => 0,
    })
}

/// Whether the expression can be an operand of its parent without parentheses. Counterpart:
/// `isSimpleNode`.
fn is_simple(d: &mut Deparser<'_>, e: &Expr, parent: &Expr) -> Result<bool> {
    use CoercionForm::ExplicitCall;
    // The parent's own parentheses or brackets enclose the operand.
    let enclosed = matches!(
        parent,
        Expr::SubscriptingRef(_)
            | Expr::Array(_)
            | Expr::Row(_)
            | Expr::Coalesce(_)
            | Expr::MinMax(_)
            | Expr::Xml(_)
            | Expr::NullIf(_)
            | Expr::Aggref(_)
            | Expr::GroupingFunc(_)
            | Expr::WindowFunc(_)
            | Expr::Case(_)
    ) || matches!(parent, Expr::FuncExpr(f) if f.funcformat == ExplicitCall);
    Ok(match e {
        Expr::Var(_)
        | Expr::Const(_)
        | Expr::Param(_)
        | Expr::CoerceToDomainValue(_)
        | Expr::SetToDefault(_)
        | Expr::CurrentOf(_)
        | Expr::SubscriptingRef(_)
        | Expr::Array(_)
        | Expr::Row(_)
        | Expr::Coalesce(_)
        | Expr::MinMax(_)
        | Expr::Xml(_)
        | Expr::SqlValue(_)
        | Expr::NextValue(_)
        | Expr::NullIf(_)
        | Expr::Aggref(_)
        | Expr::GroupingFunc(_)
        | Expr::WindowFunc(_)
        | Expr::FuncExpr(_)
        | Expr::Case(_) => true,
        Expr::FieldSelect(_) => !matches!(parent, Expr::FieldSelect(_)),
        Expr::FieldStore(_) => !matches!(parent, Expr::FieldStore(_)),
        Expr::CoerceToDomain(n) => is_simple(d, &n.arg, e)?,
        Expr::Relabel(n) => is_simple(d, &n.arg, e)?,
        Expr::CoerceViaIo(n) => is_simple(d, &n.arg, e)?,
        Expr::ArrayCoerce(n) => is_simple(d, &n.arg, e)?,
        Expr::ConvertRowtype(n) => is_simple(d, &n.arg, e)?,
        Expr::OpExpr(o) => match parent {
            Expr::OpExpr(p) => {
                let (own, above) = (precedence(d, o)?, precedence(d, p)?);
                match (own, above) {
                    (0, _) | (_, 0) => false,
                    (own, above) if own != above => own > above,
                    // Operators are left-associative.
                    _ => p.args.first().is_some_and(|first| std::ptr::eq(first, e)),
                }
            }
            Expr::Bool(_) => true,
            _ => enclosed,
        },
        Expr::SubLink(_) | Expr::NullTest(_) | Expr::BooleanTest(_) | Expr::Distinct(_) => {
            matches!(parent, Expr::Bool(_)) || enclosed
        }
        Expr::Bool(b) => match parent {
            Expr::Bool(p) => match b.boolop {
                BoolOp::Not | BoolOp::And => p.boolop != BoolOp::Not,
                BoolOp::Or => p.boolop == BoolOp::Or,
            },
            _ => enclosed,
        },
        _ => false,
    })
}
