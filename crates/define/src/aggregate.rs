//! CREATE AGGREGATE.
//!
//! Counterpart: aggregatecmds.c, pg_aggregate.c.

use crate::routine::{self, Parameters, lookup::type_of, signature};
use crate::typerow;
use analyze::{Analyzer, FuncDetail, Params, SessionLookup, ty};
use catalog::rows::{Name, OidVector, PgAggregate, PgOperator, PgProc, Text, indexes};
use catalog::{ObjectAddress, acl};
use ids::Oid;
use ids::code::{AggKind, DepType, FinalModify, ParallelSafety, ProKind, TypType, Volatility};
use parse::ast::{
    self, CreateFunctionStmt, DefElem, DefineStmt, FunctionParameter, Node, TypeName,
};
use pgerror::{PgError, Result, Severity, bail, pg_err};
use types::oids;
use utility::host::CommandHost;
use utility::{names, options};

const INTERNAL_LANGUAGE: Oid = Oid(12);
/// Maximum number of arguments; the transition function has one more.
const ARGUMENTS_MAX: usize = 99;

/// The options of one implementation: of plain aggregation, or of moving window frames.
#[derive(Default)]
struct Implementation {
    transition: Option<Vec<ast::Name>>,
    last: Option<Vec<ast::Name>>,
    last_extra: bool,
    last_modify: Option<FinalModify>,
    state: Option<TypeName>,
    space: i32,
    init: Option<String>,
}

/// The options of the statement.
#[derive(Default)]
struct Options {
    plain: Implementation,
    moving: Implementation,
    combine: Option<Vec<ast::Name>>,
    serialize: Option<Vec<ast::Name>>,
    deserialize: Option<Vec<ast::Name>>,
    inverse: Option<Vec<ast::Name>>,
    sort_operator: Option<Vec<ast::Name>>,
    base: Option<TypeName>,
    hypothetical: bool,
    parallel: Option<String>,
}

fn invalid(message: &str) -> PgError {
    PgError::new(pgerror::SqlState::INVALID_FUNCTION_DEFINITION, message)
}

/// Counterpart: `extractModify`.
fn modify(d: &DefElem) -> Result<FinalModify> {
    Ok(match options::text(d)?.as_str() {
        "read_only" => FinalModify::ReadOnly,
        "shareable" => FinalModify::Shareable,
        "read_write" => FinalModify::ReadWrite,
        _ => bail!(
            SYNTAX_ERROR,
            "parameter \"{}\" must be READ_ONLY, SHAREABLE, or READ_WRITE",
            d.defname
        ),
    })
}

fn space(d: &DefElem) -> Result<i32> {
    match &d.arg {
        Some(Node::Integer(n)) => Ok(*n),
        None => bail!(SYNTAX_ERROR, "{} requires a numeric value", d.defname),
        Some(_) => bail!(SYNTAX_ERROR, "{} requires an integer value", d.defname),
    }
}

impl Options {
    fn read(host: &mut dyn CommandHost, defs: &[DefElem]) -> Result<Options> {
        let mut o = Options::default();
        for d in defs {
            match &*d.defname {
                "sfunc" | "sfunc1" => o.plain.transition = Some(options::qualified(d)?),
                "finalfunc" => o.plain.last = Some(options::qualified(d)?),
                "combinefunc" => o.combine = Some(options::qualified(d)?),
                "serialfunc" => o.serialize = Some(options::qualified(d)?),
                "deserialfunc" => o.deserialize = Some(options::qualified(d)?),
                "msfunc" => o.moving.transition = Some(options::qualified(d)?),
                "minvfunc" => o.inverse = Some(options::qualified(d)?),
                "mfinalfunc" => o.moving.last = Some(options::qualified(d)?),
                "finalfunc_extra" => o.plain.last_extra = options::boolean(d)?,
                "mfinalfunc_extra" => o.moving.last_extra = options::boolean(d)?,
                "finalfunc_modify" => o.plain.last_modify = Some(modify(d)?),
                "mfinalfunc_modify" => o.moving.last_modify = Some(modify(d)?),
                "sortop" => o.sort_operator = Some(options::qualified(d)?),
                "basetype" => o.base = Some(options::type_name(d)?),
                "hypothetical" => o.hypothetical = options::boolean(d)?,
                "stype" | "stype1" => o.plain.state = Some(options::type_name(d)?),
                "sspace" => o.plain.space = space(d)?,
                "mstype" => o.moving.state = Some(options::type_name(d)?),
                "msspace" => o.moving.space = space(d)?,
                "initcond" | "initcond1" => o.plain.init = Some(options::text(d)?),
                "minitcond" => o.moving.init = Some(options::text(d)?),
                "parallel" => o.parallel = Some(options::text(d)?),
                other => host.notice(
                    pg_err!(SYNTAX_ERROR, "aggregate attribute \"{other}\" not recognized")
                        .severity(Severity::Warning),
                ),
            }
        }
        Ok(o)
    }

    /// Checks that the required options are there.
    fn check(&self) -> Result<()> {
        let (plain, moving) = (&self.plain, &self.moving);
        let given = [
            (moving.transition.is_some(), "msfunc"),
            (self.inverse.is_some(), "minvfunc"),
            (moving.last.is_some(), "mfinalfunc"),
            (moving.space != 0, "msspace"),
            (moving.init.is_some(), "minitcond"),
        ];
        if plain.state.is_none() {
            return Err(invalid("aggregate stype must be specified"));
        }
        if plain.transition.is_none() {
            return Err(invalid("aggregate sfunc must be specified"));
        }
        if moving.state.is_some() {
            return match given[..2].iter().find(|(given, _)| !given) {
                Some((_, name)) => Err(invalid(&format!(
                    "aggregate {name} must be specified when mstype is specified"
                ))),
                None => Ok(()),
            };
        }
        match given.iter().find(|(given, _)| *given) {
            Some((_, name)) => {
                Err(invalid(&format!("aggregate {name} must not be specified without mstype")))
            }
            None => Ok(()),
        }
    }
}

/// A function of the aggregate that was found.
struct Found {
    oid: Oid,
    result: Oid,
    strict: bool,
}

/// Finds a function for these argument types, which must not need coercions. Counterpart:
/// `lookup_agg_function`.
fn find(
    host: &mut dyn CommandHost,
    names: &[ast::Name],
    input: &[Oid],
    variadic: Oid,
) -> Result<Found> {
    let mut lookup = SessionLookup::new(host);
    let mut cx = Analyzer::new(&mut lookup, "", Params::Fixed(Vec::new()));
    let shown = names.iter().map(|n| &**n).collect::<Vec<_>>().join(".");
    let detail = cx.func_detail(names, &[], input, false, false, false, false)?;
    let FuncDetail::Found(f) = detail else { return Err(missing(&mut cx, &shown, input)) };
    if f.kind != ProKind::Function {
        return Err(missing(&mut cx, &shown, input));
    }
    if f.retset {
        let signature = cx.function_signature(&shown, input);
        bail!(DATATYPE_MISMATCH, "function {signature} returns a set");
    }
    if variadic == oids::ANY && f.vatype != oids::ANY {
        let signature = cx.function_signature(&shown, input);
        bail!(
            DATATYPE_MISMATCH,
            "function {signature} must accept VARIADIC ANY to be used in this aggregate"
        );
    }
    let mut declared = f.declared.clone();
    // Polymorphic types that are passed on as they are tell nothing of the result.
    let is_open = |(given, wanted): (&Oid, &Oid)| !ty::is_polymorphic(*wanted) || given == wanted;
    let result = match input.iter().zip(&declared).all(is_open) {
        true => f.rettype,
        false => cx.enforce_generics(input, &mut declared, f.rettype, true)?,
    };
    for (&given, &wanted) in input.iter().zip(&declared) {
        if !cx.binary_coercible(given, wanted)? {
            let signature = cx.function_signature(&shown, &declared);
            bail!(DATATYPE_MISMATCH, "function {signature} requires run-time type coercion");
        }
    }
    let row = host.catalog().function(f.oid)?;
    let user = names::user(host);
    let list = row.proacl.as_deref();
    if !host.catalog().has_privilege(user, row.proowner, list, acl::Kind::Function, acl::EXECUTE)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied for function {}", row.proname);
    }
    Ok(Found { oid: f.oid, result, strict: row.proisstrict })
}

fn missing(cx: &mut Analyzer<'_>, name: &str, input: &[Oid]) -> PgError {
    let signature = cx.function_signature(name, input);
    pg_err!(UNDEFINED_FUNCTION, "function {signature} does not exist")
}

/// 42804 where a function does not return this type.
fn check_result(
    host: &mut dyn CommandHost,
    (what, names): (&str, &[ast::Name]),
    found: Oid,
    wanted: Oid,
) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    let shown = names.iter().map(|n| &**n).collect::<Vec<_>>().join(".");
    let ty = host.catalog().format_type(wanted)?;
    bail!(DATATYPE_MISMATCH, "return type of {what} function {shown} is not {ty}")
}

/// The type of the state, with its checks.
fn state_type(host: &mut dyn CommandHost, name: &TypeName, init: Option<&str>) -> Result<Oid> {
    let state = type_of(host, name)?;
    let is_pseudo = host.catalog().type_row(state)?.typtype == TypType::Pseudo;
    if is_pseudo && !ty::is_polymorphic(state) {
        let usable = state == oids::INTERNAL && names::is_superuser(host)?;
        if !usable {
            let shown = host.catalog().format_type(state)?;
            return Err(invalid(&format!("aggregate transition data type cannot be {shown}")));
        }
    }
    if let Some(init) = init.filter(|_| !is_pseudo) {
        host.functions().type_input(state, init.as_bytes(), -1)?;
    }
    Ok(state)
}

/// The arguments of the aggregate.
struct Arguments {
    kind: AggKind,
    /// Number of direct arguments of an ordered-set aggregate.
    direct: usize,
    parameters: Parameters,
}

impl Arguments {
    fn new(
        host: &mut dyn CommandHost,
        stmt: &DefineStmt,
        options: &Options,
        sql: &str,
    ) -> Result<Arguments> {
        let (mut kind, mut direct) = (AggKind::Normal, 0);
        let mut list: Vec<FunctionParameter> = Vec::new();
        if !stmt.oldstyle {
            if let Some(Node::Integer(n)) = stmt.args.get(1)
                && let Ok(n) = usize::try_from(*n)
            {
                (kind, direct) = (AggKind::OrderedSet, n);
            }
            if let Some(Node::List(args)) = stmt.args.first() {
                list.extend(args.iter().filter_map(|node| match node {
                    Node::FunctionParameter(p) => Some((**p).clone()),
                    _ => None,
                }));
            }
        }
        if options.hypothetical {
            if kind == AggKind::Normal {
                return Err(invalid("only ordered-set aggregates can be hypothetical"));
            }
            kind = AggKind::Hypothetical;
        }
        options.check()?;
        match (&options.base, stmt.oldstyle) {
            (None, true) => return Err(invalid("aggregate input type must be specified")),
            (Some(base), true) => {
                let any = analyze::typename::type_name_text(base).eq_ignore_ascii_case("any");
                if !any {
                    let arg_type = base.clone();
                    list.push(FunctionParameter { arg_type, ..FunctionParameter::default() });
                }
            }
            (Some(_), false) => {
                return Err(invalid(
                    "basetype is redundant with aggregate input type specification",
                ));
            }
            (None, false) => {}
        }
        let function = CreateFunctionStmt { parameters: list, ..CreateFunctionStmt::default() };
        let parameters = routine::parameters(host, &function, sql)?;
        let arguments = Arguments { kind, direct, parameters };
        arguments.check()?;
        Ok(arguments)
    }

    fn input(&self) -> &[Oid] {
        &self.parameters.input
    }

    fn variadic(&self) -> Oid {
        self.parameters.variadic
    }

    fn check(&self) -> Result<()> {
        let input = self.input();
        if input.len() > ARGUMENTS_MAX {
            bail!(TOO_MANY_ARGUMENTS, "aggregates cannot have more than {ARGUMENTS_MAX} arguments");
        }
        if self.kind != AggKind::Normal
            && self.variadic().is_valid()
            && self.variadic() != oids::ANY
        {
            bail!(
                FEATURE_NOT_SUPPORTED,
                "a variadic ordered-set aggregate must use VARIADIC type ANY"
            );
        }
        if self.kind != AggKind::Hypothetical || self.direct >= input.len() {
            return Ok(());
        }
        let aggregated = input.len() - self.direct;
        let matches = !self.variadic().is_valid()
            && self.direct >= aggregated
            && input[self.direct - aggregated..self.direct] == input[self.direct..];
        if !matches {
            return Err(invalid(
                "a hypothetical-set aggregate must have direct arguments matching its aggregated \
                 arguments",
            ));
        }
        Ok(())
    }

    /// The argument types of a transition function.
    fn of_transition(&self, state: Oid) -> Vec<Oid> {
        let input = self.input();
        let first = match self.kind {
            AggKind::Normal => 0,
            _ if self.direct < input.len() => self.direct,
            // The variadic argument stands for direct and for aggregated ones.
            _ => input.len().saturating_sub(1),
        };
        std::iter::once(state).chain(input[first..].iter().copied()).collect()
    }

    /// The argument types of a final function, and its variadic type.
    fn of_final(&self, state: Oid, extra: bool) -> (Vec<Oid>, Oid) {
        let input = self.input();
        let count = if extra { input.len() } else { self.direct };
        let variadic = match !extra && self.direct < input.len() {
            true => Oid::INVALID,
            false => self.variadic(),
        };
        (std::iter::once(state).chain(input[..count].iter().copied()).collect(), variadic)
    }
}

/// The functions of one implementation.
struct Functions {
    state: Oid,
    transition: Found,
    last: Oid,
    result: Oid,
}

impl Implementation {
    fn find(&self, host: &mut dyn CommandHost, args: &Arguments, state: Oid) -> Result<Functions> {
        let names = self.transition.as_deref().unwrap_or_default();
        let transition = find(host, names, &args.of_transition(state), args.variadic())?;
        check_result(host, ("transition", names), transition.result, state)?;
        if transition.strict && self.init.is_none() {
            let fits = match args.input().first() {
                Some(&first) => {
                    let mut lookup = SessionLookup::new(host);
                    Analyzer::new(&mut lookup, "", Params::Fixed(Vec::new()))
                        .binary_coercible(first, state)?
                }
                None => false,
            };
            if !fits {
                return Err(invalid(
                    "must not omit initial value when transition function is strict and \
                     transition type is not compatible with input type",
                ));
            }
        }
        Ok(Functions { state, transition, last: Oid::INVALID, result: state })
    }

    /// Finds the final function, which determines the result type.
    fn find_last(
        &self,
        host: &mut dyn CommandHost,
        args: &Arguments,
        found: &mut Functions,
    ) -> Result<()> {
        let Some(names) = &self.last else { return Ok(()) };
        let (input, variadic) = args.of_final(found.state, self.last_extra);
        let last = find(host, names, &input, variadic)?;
        if self.last_extra && last.strict {
            return Err(invalid("final function with extra arguments must not be declared STRICT"));
        }
        (found.last, found.result) = (last.oid, last.result);
        Ok(())
    }
}

/// The functions that only some aggregates have.
#[derive(Default)]
struct Others {
    combine: Oid,
    serialize: Oid,
    deserialize: Oid,
    inverse: Oid,
    sort_operator: Oid,
}

impl Others {
    fn find_partial(
        &mut self,
        host: &mut dyn CommandHost,
        options: &Options,
        state: Oid,
    ) -> Result<()> {
        if let Some(names) = &options.combine {
            let found = find(host, names, &[state, state], Oid::INVALID)?;
            check_result(host, ("combine", names), found.result, state)?;
            if state == oids::INTERNAL && found.strict {
                return Err(invalid(
                    "combine function with transition type internal must not be declared STRICT",
                ));
            }
            self.combine = found.oid;
        }
        if let Some(names) = &options.serialize {
            let found = find(host, names, &[oids::INTERNAL], Oid::INVALID)?;
            check_result(host, ("serialization", names), found.result, oids::BYTEA)?;
            self.serialize = found.oid;
        }
        if let Some(names) = &options.deserialize {
            let found = find(host, names, &[oids::BYTEA, oids::INTERNAL], Oid::INVALID)?;
            check_result(host, ("deserialization", names), found.result, oids::INTERNAL)?;
            self.deserialize = found.oid;
        }
        Ok(())
    }

    fn find_inverse(
        &mut self,
        host: &mut dyn CommandHost,
        options: &Options,
        args: &Arguments,
        moving: &Functions,
    ) -> Result<()> {
        let names = options.inverse.as_deref().unwrap_or_default();
        let found = find(host, names, &args.of_transition(moving.state), args.variadic())?;
        check_result(host, ("inverse transition", names), found.result, moving.state)?;
        if found.strict != moving.transition.strict {
            return Err(invalid(
                "strictness of aggregate's forward and inverse transition functions must match",
            ));
        }
        self.inverse = found.oid;
        Ok(())
    }

    fn find_sort_operator(
        &mut self,
        host: &mut dyn CommandHost,
        options: &Options,
        args: &Arguments,
    ) -> Result<()> {
        let Some(names) = &options.sort_operator else { return Ok(()) };
        let &[only] = args.input() else {
            return Err(invalid(
                "sort operator can only be specified for single-argument aggregates",
            ));
        };
        let mut lookup = SessionLookup::new(host);
        let mut cx = Analyzer::new(&mut lookup, "", Params::Fixed(Vec::new()));
        self.sort_operator = cx.exact_operator(names, only, only)?;
        Ok(())
    }
}

/// CREATE AGGREGATE.
pub fn create(host: &mut dyn CommandHost, stmt: &DefineStmt, sql: &str) -> Result<()> {
    let (schema, name) = typerow::new_name(host, &stmt.defnames)?;
    let options = Options::read(host, &stmt.definition)?;
    let args = Arguments::new(host, stmt, &options, sql)?;
    let Some(state) = &options.plain.state else {
        return Err(invalid("aggregate stype must be specified"));
    };
    let state = state_type(host, state, options.plain.init.as_deref())?;
    check_serialization(host, &options, state)?;
    let moving_state = match &options.moving.state {
        Some(name) => Some(state_type(host, name, options.moving.init.as_deref())?),
        None => None,
    };
    let parallel = parallel_safety(options.parallel.as_deref())?;
    for state in std::iter::once(state).chain(moving_state) {
        signature::check_state(host, args.input(), state)?;
    }
    let mut plain = options.plain.find(host, &args, state)?;
    let mut others = Others::default();
    let mut moving = match moving_state {
        Some(state) => {
            let moving = options.moving.find(host, &args, state)?;
            others.find_inverse(host, &options, &args, &moving)?;
            Some(moving)
        }
        None => None,
    };
    options.plain.find_last(host, &args, &mut plain)?;
    others.find_partial(host, &options, state)?;
    signature::check(host, args.input(), &[], plain.result)?;
    if let Some(moving) = &mut moving {
        options.moving.find_last(host, &args, moving)?;
        if moving.result != plain.result {
            let of_moving = host.catalog().format_type(moving.result)?;
            let of_plain = host.catalog().format_type(plain.result)?;
            return Err(invalid(&format!(
                "moving-aggregate implementation returns type {of_moving}, but plain \
                 implementation returns type {of_plain}"
            )));
        }
    }
    others.find_sort_operator(host, &options, &args)?;
    for ty in [Some(plain.state), moving_state, Some(plain.result)].into_iter().flatten() {
        names::check_type_privilege(host, ty)?;
    }
    let row = function_row(host, (schema, &name), &args, plain.result, parallel);
    let oid = routine::insert(host, row, stmt.replace, &args.parameters, Vec::new())?;
    let aggregate = aggregate_row(oid, &options, &args, (&plain, moving.as_ref()), &others);
    store(host, &name, aggregate)
}

/// Serialization functions come in pairs, for states of type internal.
fn check_serialization(host: &mut dyn CommandHost, options: &Options, state: Oid) -> Result<()> {
    if options.serialize.is_none() && options.deserialize.is_none() {
        return Ok(());
    }
    if options.serialize.is_none() || options.deserialize.is_none() {
        return Err(invalid(
            "must specify both or neither of serialization and deserialization functions",
        ));
    }
    if state != oids::INTERNAL {
        let shown = host.catalog().format_type(oids::INTERNAL)?;
        return Err(invalid(&format!(
            "serialization functions may be specified only when the aggregate transition data \
             type is {shown}"
        )));
    }
    Ok(())
}

fn parallel_safety(given: Option<&str>) -> Result<ParallelSafety> {
    Ok(match given {
        None | Some("unsafe") => ParallelSafety::Unsafe,
        Some("safe") => ParallelSafety::Safe,
        Some("restricted") => ParallelSafety::Restricted,
        Some(_) => {
            bail!(SYNTAX_ERROR, "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE")
        }
    })
}

fn function_row(
    host: &mut dyn CommandHost,
    (schema, name): (Oid, &str),
    args: &Arguments,
    result: Oid,
    parallel: ParallelSafety,
) -> PgProc {
    let p = &args.parameters;
    PgProc {
        oid: Oid::INVALID,
        proname: Name::new(name),
        pronamespace: schema,
        proowner: names::user(host),
        prolang: INTERNAL_LANGUAGE,
        procost: 1.0,
        prorows: 0.0,
        provariadic: p.variadic,
        prosupport: Oid::INVALID,
        prokind: ProKind::Aggregate,
        prosecdef: false,
        proleakproof: false,
        proisstrict: false,
        proretset: false,
        provolatile: Volatility::Immutable,
        proparallel: parallel,
        pronargs: p.input.len() as i16,
        pronargdefaults: 0,
        prorettype: result,
        proargtypes: OidVector(p.input.clone().into()),
        proallargtypes: p.all.clone(),
        proargmodes: p.modes.clone(),
        proargnames: p.names.clone(),
        proargdefaults: None,
        protrftypes: None,
        prosrc: Text::from("aggregate_dummy"),
        probin: None,
        prosqlbody: None,
        proconfig: None,
        proacl: None,
    }
}

fn aggregate_row(
    oid: Oid,
    options: &Options,
    args: &Arguments,
    (plain, moving): (&Functions, Option<&Functions>),
    others: &Others,
) -> PgAggregate {
    let default =
        if args.kind == AggKind::Normal { FinalModify::ReadOnly } else { FinalModify::ReadWrite };
    let text = |value: &Option<String>| value.as_deref().map(Text::from);
    PgAggregate {
        aggfnoid: oid,
        aggkind: args.kind,
        aggnumdirectargs: args.direct as i16,
        aggtransfn: plain.transition.oid,
        aggfinalfn: plain.last,
        aggcombinefn: others.combine,
        aggserialfn: others.serialize,
        aggdeserialfn: others.deserialize,
        aggmtransfn: moving.map_or(Oid::INVALID, |m| m.transition.oid),
        aggminvtransfn: others.inverse,
        aggmfinalfn: moving.map_or(Oid::INVALID, |m| m.last),
        aggfinalextra: options.plain.last_extra,
        aggmfinalextra: options.moving.last_extra,
        aggfinalmodify: options.plain.last_modify.unwrap_or(default),
        aggmfinalmodify: options.moving.last_modify.unwrap_or(default),
        aggsortop: others.sort_operator,
        aggtranstype: plain.state,
        aggtransspace: options.plain.space,
        aggmtranstype: moving.map_or(Oid::INVALID, |m| m.state),
        aggmtransspace: options.moving.space,
        agginitval: text(&options.plain.init),
        aggminitval: text(&options.moving.init),
    }
}

/// Inserts or replaces the row of `pg_aggregate`, and records the dependencies on the functions.
fn store(host: &mut dyn CommandHost, name: &str, new: PgAggregate) -> Result<()> {
    let mut cat = host.catalog();
    let old = cat.scan(indexes::PG_AGGREGATE_FNOID_INDEX, &[new.aggfnoid.into()])?.pop();
    match old {
        Some(old) if old.aggkind != new.aggkind => {
            let is = match old.aggkind {
                AggKind::Normal => "an ordinary aggregate function",
                AggKind::OrderedSet => "an ordered-set aggregate",
                _ => "a hypothetical-set aggregate",
            };
            return Err(pg_err!(WRONG_OBJECT_TYPE, "cannot change routine kind")
                .detail(format!("\"{name}\" is {is}.")));
        }
        Some(old) if old.aggnumdirectargs != new.aggnumdirectargs => {
            return Err(invalid(
                "cannot change number of direct arguments of an aggregate function",
            ));
        }
        Some(old) => {
            cat.update(&old, &new)?;
        }
        None => {
            cat.insert(&new)?;
        }
    }
    let this = ObjectAddress::of::<PgProc>(new.aggfnoid);
    let functions = [
        new.aggtransfn,
        new.aggfinalfn,
        new.aggcombinefn,
        new.aggserialfn,
        new.aggdeserialfn,
        new.aggmtransfn,
        new.aggminvtransfn,
        new.aggmfinalfn,
    ];
    let functions = functions.into_iter().filter(|f| f.is_valid()).map(ObjectAddress::of::<PgProc>);
    let operator = new.aggsortop.valid().map(ObjectAddress::of::<PgOperator>);
    let objects: Vec<ObjectAddress> = functions.chain(operator).collect();
    cat.record_dependencies(this, &objects, DepType::Normal)?;
    cat.increment_command_counter()
}
