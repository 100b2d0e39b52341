//! Functions and procedures in language SQL. A body is analysed and planned completely at the first
//! call with given argument types. It is cached until the catalogs or the environment of its
//! analysis change.
//!
//! Counterpart: executor/functions.c.

pub(crate) mod bodies;
mod inline;
mod rows;
mod validate;

pub(crate) use inline::{inline, inline_set, may_inline};

use super::Call;
use super::language::{Language, ReadyRows, RunningSet};
use super::outputs::{argument_names, fields, outputs};
use crate::nested::{self, Nested, Utility};
use crate::plancache::Parked;
use crate::portal::declare::{check_cursor, check_cursor_query};
use crate::query;
use crate::state::State;
use analyze::SessionLookup;
use analyze::function::{self, ResultForm};
use bodies::{Body, Command, Planned, Step};
use catalog::Row;
use catalog::rows::PgProc;
use eval::{Callee, Volatility};
use executor::spi::{self, QuerySnapshot};
use ids::Oid;
use ids::code::ProKind;
use parse::RawStmt;
use parse::ast::Node;
use pgerror::{PgError, Result, bail};
use plan::query::Query;
use std::sync::Arc;
use types::{Datum, DatumRef, oids};

pub(crate) struct Sql;

impl Language for Sql {
    fn callee(&self, _: &mut State, row: &PgProc) -> Result<Callee> {
        Ok(if row.proretset { Callee::HostSet } else { Callee::Host })
    }

    fn validate(&self, state: &mut State, row: &Row<PgProc>, sql: &str) -> Result<()> {
        validate::validate(state, row, sql)
    }

    fn call(&self, state: &mut State, call: &Call<'_>) -> Result<Datum> {
        let (body, rows) = run(state, call, &[], Some(1))?;
        let first = rows.into_iter().next();
        match (first, &body.form) {
            (_, ResultForm::Discarded) | (None, _) => Ok(Datum::Null),
            (Some(first), _) => value(state, &body, first),
        }
    }

    fn call_set(
        &self,
        state: &mut State,
        call: &Call<'_>,
        columns: &[function::Column],
    ) -> Result<RunningSet> {
        if call.row.proretset {
            return rows::start(state, call, columns);
        }
        let (body, rows) = run(state, call, columns, Some(1))?;
        let value = match rows.into_iter().next() {
            Some(fields) if body.form != ResultForm::Discarded => value(state, &body, fields)?,
            _ => Datum::Null,
        };
        Ok(RunningSet { whole: true, rows: ReadyRows::one(value) })
    }

    fn call_procedure(&self, state: &mut State, call: &Call<'_>) -> Result<Option<Vec<Datum>>> {
        let (body, rows) = run(state, call, &[], Some(1))?;
        if body.form == ResultForm::Discarded {
            return Ok(None);
        }
        let width = body.types.len();
        Ok(Some(rows.into_iter().next().unwrap_or_else(|| vec![Datum::Null; width])))
    }
}

/// True for a polymorphic pseudo-type and for `"any"`.
fn is_polymorphic(ty: Oid) -> bool {
    ty == oids::ANY || analyze::ty::is_polymorphic(ty)
}

/// Converts a row of the last statement to the function's value.
fn value(state: &mut State, body: &Body, mut fields: Vec<Datum>) -> Result<Datum> {
    if body.form == ResultForm::Scalar {
        return Ok(if fields.is_empty() { Datum::Null } else { fields.swap_remove(0) });
    }
    if body.result == oids::RECORD {
        return eval::make_named_record(state, &body.names, &body.types, &fields);
    }
    eval::make_row(state, body.result, &fields)
}

/// The arguments as the body's parameters.
fn parameters(args: &[DatumRef<'_>]) -> Arc<[Datum]> {
    args.iter().map(|a| DatumRef::to_owned(*a)).collect()
}

/// Runs `work` with these parameters.
fn with_parameters<T>(
    state: &mut State,
    params: Arc<[Datum]>,
    work: impl FnOnce(&mut State) -> Result<T>,
) -> Result<T> {
    let saved = std::mem::replace(&mut state.params, params);
    let result = work(state);
    state.params = saved;
    result
}

/// Runs the body. Returns at most `limit` rows of the last statement.
fn run(
    state: &mut State,
    call: &Call<'_>,
    columns: &[function::Column],
    limit: Option<usize>,
) -> Result<(Arc<Body>, Vec<Vec<Datum>>)> {
    let params = parameters(call.args);
    with_parameters(state, params.clone(), |state| {
        let body = startup(state, call, columns)?;
        let mut rows = Vec::new();
        let last = body.steps.len().saturating_sub(1);
        for (i, step) in body.steps.iter().enumerate() {
            let limit = limit
                .filter(|_| i == last && body.form != ResultForm::Discarded)
                .filter(|_| step.stoppable().is_some());
            rows = run_step(state, (call.row, &body), (i, step), params.clone(), limit)?;
        }
        Ok((body, rows))
    })
}

/// The body of a call, with the checks before its first statement.
fn startup(state: &mut State, call: &Call<'_>, columns: &[function::Column]) -> Result<Arc<Body>> {
    let row = call.row;
    let context = || format!("SQL function \"{}\" during startup", row.proname.as_str());
    let body = find(state, row, (call.arg_types, call.collation), columns)
        .map_err(|e| within(e, row).context(context()))?;
    if row.provolatile != Volatility::Volatile {
        for step in &body.steps {
            let checked = match step {
                Step::Query(query) => spi::check_read_only(&query.plan),
                Step::Utility(command) => Err(nested::writes(&command.raw.stmt)),
            };
            checked.map_err(|e| e.context(context()))?;
        }
    }
    Ok(body)
}

/// Converts the position of an error in the text of a body to an internal position with that text.
fn within(mut e: PgError, row: &PgProc) -> PgError {
    let fields = e.fields_mut();
    if let Some(position) = fields.position.take() {
        fields.internal_position = Some(position);
        fields.internal_query = Some(row.prosrc.as_str().to_owned());
    }
    e
}

/// Runs a statement of a body. A volatile function gets a new snapshot for each statement, in which
/// its own changes and newly committed changes are visible.
fn run_step(
    state: &mut State,
    (row, body): (&PgProc, &Body),
    (number, step): (usize, &Step),
    params: Arc<[Datum]>,
    limit: Option<usize>,
) -> Result<Vec<Vec<Datum>>> {
    let notices = state.notices.len();
    let level = state.calls.contexts.push_sql_function(body.name.clone(), number, notices);
    let result = match step {
        Step::Query(planned) => {
            let rows_max = limit.unwrap_or(usize::MAX);
            let query = spi::Query { rows_max, ..query_of(row, planned, params) };
            run_query(state, (body, planned), query)
        }
        Step::Utility(Command {
            raw: RawStmt { stmt: Node::CallStmt(stmt), .. }, types, ..
        }) => state.call_in_function(stmt, (row, types), &params).map(|()| Vec::new()),
        Step::Utility(command) => {
            let sql = row.prosrc.as_str();
            let query = command.query.as_ref().map(|query| (query, &params));
            let command = Utility { raw: &command.raw, sql, read_only: false, query };
            Nested::new(state).run(&command).map(|_| Vec::new())
        }
    };
    state.calls.contexts.note(&mut state.notices);
    state.calls.contexts.truncate(level);
    result.map_err(|e| in_statement(e, row, number))
}

/// Runs the query of a statement, in the execution of the last call if there is one.
fn run_query(
    state: &mut State,
    (body, step): (&Body, &Planned),
    query: spi::Query,
) -> Result<Vec<Vec<Datum>>> {
    // A statement before this one may have changed the catalogs.
    let is_current = |state: &State| body.generation == state.catalog.catalog.generation();
    let parked = match is_current(state) {
        true => state.take_parked(&step.parked, &step.plan)?,
        false => None,
    };
    let (rows, finished) = query::run_counted(state, spi::Query { parked, ..query }, true)?;
    if is_current(state) {
        state.park(&step.parked, finished.execution)?;
    }
    Ok(rows)
}

/// The execution of a statement of a body.
fn query_of(row: &PgProc, step: &Planned, params: Arc<[Datum]>) -> spi::Query {
    let is_volatile = row.provolatile == Volatility::Volatile;
    let snapshot = if is_volatile { QuerySnapshot::NewCommand } else { QuerySnapshot::Active };
    let query = spi::Query::new(step.plan.clone(), params).under(snapshot);
    spi::Query { read_only: !is_volatile, ..query }
}

/// Adds the context line of an error in statement `number` (0-based).
fn in_statement(e: PgError, row: &PgProc, number: usize) -> PgError {
    e.context(format!("SQL function \"{}\" statement {}", row.proname.as_str(), number + 1))
}

/// The body for these argument types and the collation of the call, from the cache or newly
/// created.
fn find(
    state: &mut State,
    row: &Row<PgProc>,
    (arg_types, collation): (&[Oid], Oid),
    columns: &[function::Column],
) -> Result<Arc<Body>> {
    let types = argument_types(row, arg_types);
    let key = ((row.oid, collation), types, columns.to_vec());
    let environment = state.environment()?;
    if let Some(body) = state.caches.bodies.find(&key)
        && body.environment == environment
        && body.user == state.catalog.user
        && body.generation == state.catalog.catalog.generation()
    {
        for step in &body.steps {
            if let Step::Query(query) = step {
                state.take_locks(&query.locks)?;
            }
        }
        if body.generation == state.catalog.catalog.generation() {
            return Ok(body);
        }
    }
    let body = Arc::new(make(state, row, (&key.1, collation), columns)?);
    state.caches.bodies.keep(key, body.clone());
    Ok(body)
}

/// The parameter types; a polymorphic one has the type of the argument.
fn argument_types(row: &PgProc, actual: &[Oid]) -> Vec<Oid> {
    let declared = row.proargtypes.iter().copied();
    let types = declared.enumerate().map(|(i, d)| match actual.get(i) {
        Some(&actual) if is_polymorphic(d) && actual.is_valid() => actual,
        _ => d,
    });
    types.collect()
}

/// An analysed statement of a body.
enum Statement {
    Query(Box<Query>),
    Utility(Command),
}

impl Statement {
    fn query(&self) -> Option<&Query> {
        match self {
            Statement::Query(query) => Some(query),
            Statement::Utility(_) => None,
        }
    }
}

/// The analysed statements of a body, coerced to the function's result type.
struct Analysed {
    statements: Vec<Statement>,
    form: ResultForm,
    result: Oid,
    /// Names, types and type modifiers of the fields of a composite result.
    fields: Option<Vec<(String, Oid, i32)>>,
}

impl Analysed {
    /// The statement of a body that has only one, which is a query.
    fn single_query(self) -> Option<Query> {
        match <[Statement; 1]>::try_from(self.statements) {
            Ok([Statement::Query(query)]) => Some(*query),
            _ => None,
        }
    }
}

fn analyse(
    state: &mut State,
    row: &Row<PgProc>,
    (types, collation): (&[Oid], Oid),
    columns: &[function::Column],
) -> Result<Analysed> {
    let mut statements = match &row.prosqlbody {
        Some(body) => {
            let queries = analyze::stored::body(&mut SessionLookup::new(state), body.as_str())?.0;
            queries.into_iter().map(|q| Statement::Query(Box::new(q))).collect()
        }
        None => statements_of(state, row, (types, collation))?,
    };
    let outputs = outputs(state, row, types)?;
    let result = match &outputs {
        Some(list) if list.len() == 1 && row.prokind != ProKind::Procedure => list[0].1,
        _ if is_polymorphic(row.prorettype) => {
            let mut declared = row.proargtypes.to_vec();
            let mut lookup = SessionLookup::new(state);
            let mut cx =
                analyze::Analyzer::new(&mut lookup, "", analyze::Params::Fixed(Vec::new()));
            cx.enforce_generics(types, &mut declared, row.prorettype, true)?
        }
        _ => row.prorettype,
    };
    let fields = fields(state, result, outputs, columns)?;
    let wanted: Option<Vec<function::Column>> =
        fields.as_ref().map(|list| list.iter().map(|f| (f.1, f.2)).collect());
    let form = function::coerce_result(
        &mut SessionLookup::new(state),
        match statements.last_mut() {
            Some(Statement::Query(query)) => Some(query),
            _ => None,
        },
        result,
        wanted.as_deref(),
        row.prokind == ProKind::Procedure,
    )?;
    let rewritten = statements.into_iter().map(|statement| match statement {
        Statement::Query(query) => {
            let query = analyze::rewrite(&mut SessionLookup::new(state), *query)?;
            Ok(Statement::Query(Box::new(query)))
        }
        utility => Ok(utility),
    });
    Ok(Analysed { statements: rewritten.collect::<Result<_>>()?, form, result, fields })
}

fn make(
    state: &mut State,
    row: &Row<PgProc>,
    types: (&[Oid], Oid),
    columns: &[function::Column],
) -> Result<Body> {
    // Read before any catalog: catalog changes after this point make the body stale.
    let generation = state.catalog.catalog.generation();
    let environment = state.environment()?;
    let Analysed { statements, form, result, fields } = analyse(state, row, types, columns)?;
    let (names, types) = match fields {
        Some(list) => list.into_iter().map(|f| (f.0, f.1)).unzip(),
        None => {
            let last = statements.last().and_then(Statement::query).map(|q| {
                match q.returning_list.is_empty() {
                    true => &q.target_list,
                    false => &q.returning_list,
                }
            });
            let shown = last.into_iter().flatten().filter(|t| !t.resjunk);
            shown.map(|t| (t.resname.clone().unwrap_or_default(), t.expr.type_oid())).unzip()
        }
    };
    let mut steps = Vec::with_capacity(statements.len());
    for statement in statements {
        let q = match statement {
            Statement::Query(q) => q,
            Statement::Utility(command) => {
                steps.push(Step::Utility(command));
                continue;
            }
        };
        let mut locks = Vec::new();
        state.collect_locks(&q, &mut locks)?;
        // Parameter values are removed, so that the plan is generic.
        let saved = std::mem::replace(&mut state.params, Arc::from([]));
        let plan = query::plan_query(state, &q);
        state.params = saved;
        let plan = plan?;
        let reads_ahead = spi::is_at_most(state, &plan, Volatility::Stable)?;
        let (plan, locks, parked) = (Arc::new(plan), locks.into(), Parked::default());
        steps.push(Step::Query(Planned { plan, locks, reads_ahead, parked }));
    }
    let user = state.catalog.user;
    let name = row.proname.as_str().into();
    Ok(Body { generation, environment, user, name, steps, form, result, types, names })
}

/// Analyses the statements of a body given as text.
fn statements_of(state: &mut State, row: &PgProc, types: (&[Oid], Oid)) -> Result<Vec<Statement>> {
    let text = row.prosrc.as_str();
    let names = argument_names(row);
    let mut statements = Vec::new();
    let analyse = |state: &mut State, node: &Node| {
        let (lookup, name) = (&mut SessionLookup::new(state), row.proname.as_str());
        analyze::function_statement(lookup, node, text, name, types, &names)
    };
    // The query of a utility statement.
    let kept = |state: &mut State, node: &Node, depth: u32| {
        let query = analyse(state, node)?;
        let query = analyze::rewrite(&mut SessionLookup::new(state), query)?;
        let raw = Arc::new(RawStmt::within(node.clone(), depth));
        state.keep_analysed((text.into(), raw), query, types.0)
    };
    for raw in parse::parse(text)? {
        check_statement(&raw.stmt)?;
        if analyze::is_query(&raw.stmt) {
            let mut query = analyse(state, &raw.stmt)?;
            (query.source.location, query.source.len) = (raw.location, raw.len);
            state.identify_query(&mut query, text, false);
            statements.push(Statement::Query(Box::new(query)));
            continue;
        }
        let query = match &raw.stmt {
            Node::CreateTableAsStmt(create) if analyze::is_query(&create.query) => {
                Some(kept(state, &create.query, raw.depth)?)
            }
            Node::DeclareCursorStmt(cursor) if analyze::is_query(&cursor.query) => {
                check_cursor(cursor)?;
                let query = kept(state, &cursor.query, raw.depth)?;
                check_cursor_query(cursor)?;
                Some(query)
            }
            Node::CallStmt(call) => {
                let (lookup, name) = (&mut SessionLookup::new(state), row.proname.as_str());
                let called = analyze::call_in_function(lookup, call, text, name, types.0, &names)?;
                validate::refuse_outputs(state, called.0)?;
                None
            }
            _ => None,
        };
        let types = types.0.into();
        statements.push(Statement::Utility(Command { raw, query, types }));
    }
    Ok(statements)
}

/// Error 0A000 for a statement that no function in SQL can contain.
fn check_statement(stmt: &Node) -> Result<()> {
    match stmt {
        Node::CopyStmt(copy) if copy.filename.is_none() => {
            bail!(FEATURE_NOT_SUPPORTED, "cannot COPY to/from client in an SQL function")
        }
        Node::TransactionStmt(_) => {
            let what = define::tag::command_tag(stmt);
            bail!(FEATURE_NOT_SUPPORTED, "{what} is not allowed in an SQL function")
        }
        _ => Ok(()),
    }
}
