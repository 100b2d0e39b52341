//! Analysis of the pieces of SQL of a function, at their first evaluation. Counterpart:
//! `exec_prepare_plan`, `exec_simple_check_plan` of pl_exec.c, the parser hooks of pl_comp.c.

use crate::elements::{ArrayChange, ChangeState};
use crate::frame::Frame;
use crate::host::{Analysed, Host};
use crate::instance::{Kind, Load, Prepared};
use crate::leaves::{Fast, States};
use crate::tree::{NameKind, Sql, SqlMode, SqlNo, VarKind, VarNo};
use analyze::system_column;
use analyze::{NameConflict, ParamScope, Params, SessionLookup, Variable};
use eval::{Compiler, FoldEnv, Program, Resolve, Slot, Source, Volatility};
use ids::{AttrNo, Oid};
use parse::RawStmt;
use parse::ast::Node;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{Expr, ParamKind, Var};
use plan::query::{CmdType, Query};
use std::cell::RefCell;
use std::sync::Arc;
use types::fn_context::{RowColumn, RowDesc, SessionContext, TypeCatalog};
use types::oids;

/// Maximum number of attempts to find a current analysis. The locks of all attempts are kept.
const TRIES: u32 = 3;

/// The type that a value must have, with its modifier.
pub(crate) type Wanted = Option<(Oid, i32)>;

/// The variables that a piece of SQL may name.
pub(crate) struct Scope<'a, 'f> {
    frame: &'a Frame<'f>,
    innermost: Option<usize>,
    /// The row types of composite variables that have no value yet.
    declared: Vec<(VarNo, Arc<RowDesc>)>,
    /// The variables that it has named.
    used: RefCell<Vec<(VarNo, Oid)>>,
}

impl std::fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "variables of {}", self.frame.code.function.signature)
    }
}

impl Scope<'_, '_> {
    fn variable(&self, var: VarNo, names: usize) -> Result<Variable> {
        let function = &self.frame.code.function;
        let (ty, typmod, collation) = match &function.vars[var].kind {
            VarKind::Scalar { ty, .. } => match self.frame.instance.case_types.get(&var) {
                Some(&actual) => (actual, ty.typmod, Oid::INVALID),
                None => (ty.oid, ty.typmod, ty.collation),
            },
            VarKind::Record { ty, record } if ty.oid == oids::RECORD => {
                (self.frame.records[*record].row_type(), -1, Oid::INVALID)
            }
            VarKind::Record { ty, .. } => (ty.oid, ty.typmod, Oid::INVALID),
            VarKind::Field { record, name } => self.column(*record, name)?,
            VarKind::Row(_) => return Err(PgError::internal("reference to a list of variables")),
        };
        let mut used = self.used.borrow_mut();
        if !used.iter().any(|(known, _)| *known == var) {
            used.push((var, ty));
        }
        Ok(Variable { number: var as i32 + 1, ty, typmod, collation, names })
    }

    /// Type, type modifier and collation of a field of a record variable.
    fn column(&self, record: VarNo, field: &str) -> Result<(Oid, i32, Oid)> {
        let function = &self.frame.code.function;
        let VarKind::Record { record: number, .. } = &function.vars[record].kind else {
            return Err(PgError::internal("field of a variable that is no record"));
        };
        let name = &function.vars[record].name;
        let known = self.frame.records[*number].desc.as_ref();
        let declared = self.declared.iter().find(|(var, _)| *var == record).map(|(_, desc)| desc);
        let Some(desc) = known.or(declared) else { return Err(not_assigned(name)) };
        match desc.columns.iter().find(|c| !c.is_dropped() && c.name == field) {
            Some(column) => Ok((column.ty, column.typmod, column.collation)),
            None => match system_column(field) {
                Some((_, ty)) => Ok((ty, -1, Oid::INVALID)),
                None => Err(no_field(name, field)),
            },
        }
    }
}

/// The error for a record variable without a structure.
pub(crate) fn not_assigned(name: &str) -> PgError {
    pg_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "record \"{name}\" is not assigned yet")
        .detail("The tuple structure of a not-yet-assigned record is indeterminate.")
}

pub(crate) fn no_field(record: &str, field: &str) -> PgError {
    pg_err!(UNDEFINED_COLUMN, "record \"{record}\" has no field \"{field}\"")
}

impl ParamScope for Scope<'_, '_> {
    fn numbered(&self, number: i32) -> Option<Oid> {
        let items = &self.frame.code.function.names;
        let name = format!("${number}");
        match crate::names::find(items, self.innermost, &[&name], false)?.0 {
            NameKind::Scalar(var) | NameKind::Record(var) if var as i32 + 1 == number => {
                self.variable(var, 1).ok().map(|v| v.ty)
            }
            _ => None,
        }
    }

    fn collation_of(&self, number: i32) -> Oid {
        let var = usize::try_from(number - 1).ok();
        match var.and_then(|var| self.frame.code.function.vars.get(var)).map(|v| &v.kind) {
            Some(VarKind::Scalar { ty, .. }) => ty.collation,
            _ => Oid::INVALID,
        }
    }

    fn named(&self, names: &[&str]) -> Result<Option<Variable>> {
        let items = &self.frame.code.function.names;
        let Some((kind, used)) = crate::names::find(items, self.innermost, names, false) else {
            return Ok(None);
        };
        match kind {
            NameKind::Scalar(var) | NameKind::Record(var) if used == names.len() => {
                self.variable(var, used).map(Some)
            }
            NameKind::Record(var) if used + 1 == names.len() => {
                let vars = &self.frame.code.function.vars;
                let field = vars.iter().position(|v| match &v.kind {
                    VarKind::Field { record, name } => *record == var && name == names[used],
                    _ => false,
                });
                match field {
                    Some(field) => self.variable(field, names.len()).map(Some),
                    None => Err(no_field(&vars[var].name, names[used])),
                }
            }
            _ => Ok(None),
        }
    }

    fn conflict(&self) -> NameConflict {
        self.frame.code.function.conflict
    }

    fn conflict_detail(&self) -> &'static str {
        "It could refer to either a PL/pgSQL variable or a table column."
    }
}

/// The host as context of constant folding.
struct Folding<'h>(&'h mut dyn Host);

impl FoldEnv for Folding<'_> {
    fn facts(&mut self) -> &mut dyn eval::Facts {
        self.0
    }

    fn host(&mut self) -> &mut dyn eval::Host {
        self.0
    }
}

/// Resolves the columns of an expression, which are the variables of a function.
struct Slots<'a>(&'a [VarNo]);

impl Resolve for Slots<'_> {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        let at = usize::try_from(var.varattno - 1).ok().and_then(|at| self.0.get(at));
        let column = *at.ok_or_else(|| PgError::internal("variable without a slot"))?;
        Ok(Slot { source: Source::Scan, column })
    }
}

impl Frame<'_> {
    /// The analysed piece of SQL, valid for the current state of the catalogs. The relations of a
    /// query are locked.
    pub(crate) fn prepared(
        &mut self,
        host: &mut dyn Host,
        sql: SqlNo,
        wanted: Wanted,
    ) -> Result<Arc<Prepared>> {
        for _ in 0..TRIES {
            let prepared = self.analysed(host, sql, wanted)?;
            match &prepared.kind {
                Kind::Query { statement, .. } | Kind::UtilityQuery { statement, .. }
                    if !host.lock(statement)? =>
                {
                    self.refresh(host)?;
                }
                _ => return Ok(prepared),
            }
        }
        // The catalogs keep changing, but the statement's own relations do not, because they are
        // locked.
        self.analysed(host, sql, wanted)
    }

    fn analysed(
        &mut self,
        host: &mut dyn Host,
        sql: SqlNo,
        wanted: Wanted,
    ) -> Result<Arc<Prepared>> {
        let stamp = self.stamp;
        let known = self.instance.sql[sql].prepared.as_ref();
        if let Some(known) = known.filter(|p| p.stamp == stamp) {
            return Ok(known.clone());
        }
        let code = self.code;
        let own = !self.instance.case_types.is_empty();
        let shared = if own { None } else { code.find(sql, stamp) };
        let prepared = match shared {
            Some(shared) => shared,
            None => {
                let text = &code.function.sql[sql];
                let made = self.analyse(host, text, wanted);
                let made = Arc::new(made.map_err(|e| in_sql(e, &text.text, text.mode))?);
                if !own {
                    code.share(sql, &made);
                }
                made
            }
        };
        let state = &mut self.instance.sql[sql];
        state.eval = eval::EvalState::default();
        state.change = ChangeState::default();
        state.parts = States::default();
        state.is_assigned_fast = false;
        state.prepared = Some(prepared.clone());
        Ok(prepared)
    }

    fn analyse(&self, host: &mut dyn Host, sql: &Sql, wanted: Wanted) -> Result<Prepared> {
        let options = parse::Options { mode: sql.mode.parser(), ..host.lexer() };
        let mut notices = Vec::new();
        let parsed = parse::parse_with_notices(&sql.text, options, &mut notices);
        for notice in notices {
            SessionContext::notice(host, in_sql(notice, &sql.text, sql.mode));
        }
        let mut statements = parsed?;
        let Some(raw) = statements.pop().filter(|_| statements.is_empty()) else {
            return Err(PgError::internal("query does not contain exactly one statement"));
        };
        let declared = self.declared_rows(host)?;
        let scope =
            Scope { frame: self, innermost: sql.scope, declared, used: RefCell::new(Vec::new()) };
        let query = match &raw.stmt {
            Node::PlAssignStmt(stmt) => {
                let mut lookup = SessionLookup::new(host);
                analyze::plpgsql::assignment(&mut lookup, stmt, &sql.text, &scope)?
            }
            Node::CallStmt(stmt) => {
                let call =
                    crate::procedures::analyse(host, stmt, &sql.text, Params::Scope(&scope))?;
                let used = scope.used.into_inner();
                let loads = self.loads(host, &used)?;
                let slots: Vec<VarNo> = used.iter().map(|(var, _)| *var).collect();
                let kind = self.compile_call(host, call, &slots)?;
                return Ok(Prepared { stamp: self.stamp, loads, kind, columns: Arc::default() });
            }
            stmt => match query_in(stmt).or_else(|| Some(stmt).filter(|s| analyze::is_query(s))) {
                Some(query) => {
                    let mut lookup = SessionLookup::new(host);
                    analyze::analyze_in_scope(&mut lookup, query, &sql.text, &scope)?
                }
                None => {
                    return Ok(Prepared {
                        stamp: self.stamp,
                        loads: Box::new([]),
                        kind: Kind::Utility(Box::new(raw)),
                        columns: Arc::default(),
                    });
                }
            },
        };
        let used = scope.used.into_inner();
        if query_in(&raw.stmt).is_some() {
            return self.complete_utility(host, (sql, raw), query, used);
        }
        self.complete(host, (sql, raw), query, used, wanted)
    }

    /// The row types of composite variables without a value.
    fn declared_rows(&self, host: &mut dyn Host) -> Result<Vec<(VarNo, Arc<RowDesc>)>> {
        let mut rows = Vec::new();
        for (var, variable) in self.code.function.vars.iter().enumerate() {
            if let VarKind::Record { ty, record } = &variable.kind
                && ty.oid != oids::RECORD
                && self.records[*record].desc.is_none()
            {
                rows.push((var, TypeCatalog::row_desc(host, ty.oid, -1)?));
            }
        }
        Ok(rows)
    }

    fn complete(
        &self,
        host: &mut dyn Host,
        (sql, raw): (&Sql, RawStmt),
        query: Query,
        used: Vec<(VarNo, Oid)>,
        wanted: Wanted,
    ) -> Result<Prepared> {
        let columns = Arc::new(describe(&query));
        let mut query = query;
        host.identify_statement(&mut query, &sql.text);
        let query = analyze::rewrite(&mut SessionLookup::new(host), query)?;
        let loads = self.loads(host, &used)?;
        let slots: Vec<VarNo> = used.iter().map(|(var, _)| *var).collect();
        let kind = match sql.mode {
            SqlMode::Statement => None,
            _ => simple_expression(&query),
        };
        let kind = match kind {
            Some(expr) => {
                let variable = crate::elements::variable(&expr).map(|(var, ..)| var);
                let is_record = |var: &VarNo| {
                    matches!(self.code.function.vars[*var].kind, VarKind::Record { .. })
                };
                let mut kind = compile(host, expr, &slots, wanted)?;
                if let Kind::Simple { record, .. } = &mut kind {
                    *record = variable.filter(is_record);
                }
                kind
            }
            None => {
                let command = query.command_type;
                let streams = command == CmdType::Select && !query.has_modifying_cte;
                let query = renumbered(query, &slots);
                let param_types = used.iter().map(|(_, ty)| *ty).collect();
                let sql = sql.text.clone();
                let statement = host.prepare(Analysed { query, raw, sql, param_types })?;
                Kind::Query { statement, params: slots.into(), command, streams }
            }
        };
        Ok(Prepared { stamp: self.stamp, loads, kind, columns })
    }

    /// CREATE TABLE AS or EXPLAIN. The query is analysed again when it runs, unless it names
    /// variables.
    fn complete_utility(
        &self,
        host: &mut dyn Host,
        (sql, raw): (&Sql, RawStmt),
        query: Query,
        used: Vec<(VarNo, Oid)>,
    ) -> Result<Prepared> {
        let (stamp, columns) = (self.stamp, Arc::default());
        if used.is_empty() {
            let kind = Kind::Utility(Box::new(raw));
            return Ok(Prepared { stamp, loads: Box::new([]), kind, columns });
        }
        let query = analyze::rewrite(&mut SessionLookup::new(host), query)?;
        let loads = self.loads(host, &used)?;
        let slots: Vec<VarNo> = used.iter().map(|(var, _)| *var).collect();
        let query = renumbered(query, &slots);
        let param_types = used.iter().map(|(_, ty)| *ty).collect();
        let (text, copy) = (sql.text.clone(), raw.clone());
        let statement = host.prepare(Analysed { query, raw: copy, sql: text, param_types })?;
        let kind = Kind::UtilityQuery { raw: Box::new(raw), statement, params: slots.into() };
        Ok(Prepared { stamp, loads, kind, columns })
    }

    /// The number of the column of a record with this name.
    fn column_of(&self, record: VarNo, name: &str) -> Option<usize> {
        let VarKind::Record { record, .. } = self.code.function.vars[record].kind else {
            return None;
        };
        let desc = self.records[record].desc.as_ref()?;
        desc.columns.iter().position(|c| !c.is_dropped() && c.name == name)
    }

    /// What must be copied to slots before these variables are read: records first, because arrays
    /// are moved out of them.
    fn loads(&self, host: &mut dyn Host, used: &[(VarNo, Oid)]) -> Result<Box<[Load]>> {
        let mut loads = Vec::new();
        for &(slot, _) in used {
            if let VarKind::Record { .. } = self.code.function.vars[slot].kind {
                loads.push(Load::Record { slot });
            }
        }
        for &(slot, ty) in used {
            if let VarKind::Field { record, name } = &self.code.function.vars[slot].kind {
                let at = self.column_of(*record, name).unwrap_or_default();
                let info = eval::Facts::type_info(host, ty)?;
                let is_array = info.elem.is_valid() && info.len == -1;
                loads.push(Load::Field { slot, record: *record, ty, at, is_array });
            }
        }
        Ok(loads.into())
    }
}

/// The result columns of a query.
pub(crate) fn describe(query: &Query) -> RowDesc {
    let columns = query.result_columns().map(|target| RowColumn {
        name: target.resname.clone().unwrap_or_default(),
        ty: target.expr.type_oid(),
        typmod: target.expr.typmod(),
        collation: target.expr.collation(),
        dropped: None,
    });
    RowDesc::new(columns.collect(), 0)
}

/// The expression that a query computes, if it does nothing else.
fn simple_expression(query: &Query) -> Option<Expr> {
    let plain = query.computes_targets_only();
    match &query.target_list[..] {
        [target] if plain => Some(target.expr.clone()),
        _ => None,
    }
}

/// Compiles an expression whose parameters are variables; `slots` are those that it names.
fn compile(host: &mut dyn Host, expr: Expr, slots: &[VarNo], wanted: Wanted) -> Result<Kind> {
    host.check_functions(&expr)?;
    let expr = eval::fold(expr, &mut Folding(host))?;
    let expr = match wanted {
        Some((ty, typmod)) if (expr.type_oid(), expr.typmod()) != (ty, typmod) => {
            let converted = converted(host, expr, ty, typmod)?;
            // A value that cannot be converted is an error of the assignment.
            eval::fold(converted.clone(), &mut Folding(host)).unwrap_or(converted)
        }
        _ => expr,
    };
    // Functions in SQL have been inlined: `text || integer` calls one that is not immutable itself.
    let mutable = eval::volatility(&expr, host)? != Volatility::Immutable;
    let (ty, typmod) = (expr.type_oid(), expr.typmod());
    let calls_users = calls_users(host, &expr)?;
    let change = ArrayChange::compile(host, &expr, slots)?.map(Box::new);
    let fast = match mutable || change.is_some() {
        true => None,
        false => Fast::compile(host, &expr, slots)?.map(Arc::new),
    };
    let program = program(host, expr, slots)?;
    let record = None;
    Ok(Kind::Simple { program, fast, change, ty, typmod, mutable, calls_users, record })
}

/// True if the expression may call functions that were created by users.
fn calls_users(host: &mut dyn Host, expr: &Expr) -> Result<bool> {
    let checks_domain = plan::walk::any(expr, &mut |e| matches!(e, Expr::CoerceToDomain(_)));
    let called = eval::called([expr], host)?;
    Ok(checks_domain || called.iter().any(|f| *f >= Oid::FIRST_NORMAL))
}

/// Compiles an expression whose parameters are variables to one over the slots.
pub(crate) fn program(host: &mut dyn Host, mut expr: Expr, slots: &[VarNo]) -> Result<Program> {
    plan::walk::deep_expr_mut(&mut expr, 0, &mut |e, _| {
        if let Expr::Param(p) = e
            && p.paramkind == ParamKind::Extern
        {
            let at = slots.iter().position(|s| *s as i32 + 1 == p.paramid).unwrap_or_default();
            *e = Expr::Var(Var {
                varno: 1,
                varattno: at as AttrNo + 1,
                vartype: p.paramtype,
                vartypmod: p.paramtypmod,
                varcollid: p.paramcollid,
                varlevelsup: 0,
                location: p.location,
            });
        }
        true
    });
    Compiler::new(host, &mut Slots(slots)).compile(&expr)
}

/// The value of an expression as a value of another type. Rows are converted when they are
/// assigned.
fn converted(host: &mut dyn Host, expr: Expr, ty: Oid, typmod: i32) -> Result<Expr> {
    let from = expr.type_oid();
    let same = from == ty && typmod < 0;
    if same || from == oids::RECORD || ty == oids::RECORD || from == oids::VOID {
        return Ok(expr);
    }
    let cast = analyze::plpgsql::cast(&mut SessionLookup::new(host), expr.clone(), ty, typmod)?;
    Ok(cast.unwrap_or(expr))
}

/// Numbers the parameters of a query from 1, in the order of `slots`.
pub(crate) fn renumbered(mut query: Query, slots: &[VarNo]) -> Query {
    plan::walk::deep_query_mut(&mut query, 0, &mut |e, _| {
        if let Expr::Param(p) = e
            && p.paramkind == ParamKind::Extern
        {
            let at = slots.iter().position(|s| *s as i32 + 1 == p.paramid);
            p.paramid = at.map_or(0, |at| at as i32 + 1);
        }
        if let Expr::CurrentOf(c) = e
            && c.cursor_name.is_none()
        {
            let at = slots.iter().position(|s| *s as i32 + 1 == c.cursor_param);
            c.cursor_param = at.map_or(0, |at| at as i32 + 1);
        }
        true
    });
    query
}

/// The error of a piece of SQL: with its position in the text, or with a context.
pub(crate) fn in_sql(mut e: PgError, text: &str, mode: SqlMode) -> PgError {
    let fields = e.fields_mut();
    if let Some(position) = fields.position.take() {
        fields.internal_position = Some(position);
        fields.internal_query = Some(text.to_owned());
        return e;
    }
    e.context(mode.context(text))
}

/// The query of CREATE TABLE AS, EXPLAIN or DECLARE CURSOR.
pub(crate) fn query_in(stmt: &Node) -> Option<&Node> {
    let query = match stmt {
        Node::CreateTableAsStmt(create) => &create.query,
        Node::DeclareCursorStmt(cursor) => &cursor.query,
        Node::ExplainStmt(explain) => match query_in(&explain.query) {
            Some(query) => query,
            None => &explain.query,
        },
        _ => return None,
    };
    Some(query).filter(|query| analyze::is_query(query))
}
