//! The declaration of a function for its compilation, and types by name. Counterpart: `do_compile`
//! of pl_comp.c.

use crate::state::State;
use analyze::{Analyzer, NameConflict, Params, SessionLookup};
use catalog::Row;
use catalog::rows::PgProc;
use eval::Volatility;
use ids::Oid;
use ids::code::{ArgMode, ProKind, TypType};
use pgerror::{PgError, Result, bail, pg_err};
use plpgsql::tree::{CodeKind, Extra, ResultType, TypeKind, VarType};
use plpgsql::{Argument, Code, Settings, Source, TypeSource};
use std::sync::Arc;
use types::fn_context::RowDesc;
use types::{Datum, RegKind, oids};

/// The types of the input arguments and the result of a call.
pub(super) struct Types {
    pub(super) args: Vec<Oid>,
    pub(super) result: Oid,
    /// The collation of the call, which is that of variables of types with a collation.
    pub(super) collation: Oid,
}

impl Types {
    /// The types by which a new polymorphic function is checked.
    pub(super) fn sample(row: &PgProc) -> Types {
        let args = row.proargtypes.iter().map(|ty| plpgsql::sample(*ty)).collect();
        Types { args, result: plpgsql::sample(row.prorettype), collation: Oid::INVALID }
    }
}

/// Error 0A000 for pseudo-types that functions of the language cannot have. Counterpart:
/// `plpgsql_validator`.
pub(super) fn check_types(state: &mut State, row: &PgProc) -> Result<()> {
    let result = row.prorettype;
    let allowed = [oids::TRIGGER, oids::EVENT_TRIGGER, oids::RECORD, oids::VOID];
    let is_pseudo = |state: &mut State, ty| -> Result<bool> {
        Ok(!analyze::ty::is_polymorphic(ty) && state.cat().type_row(ty)?.typtype == TypType::Pseudo)
    };
    if !allowed.contains(&result) && is_pseudo(state, result)? {
        let shown = state.cat().format_type(result)?;
        bail!(FEATURE_NOT_SUPPORTED, "PL/pgSQL functions cannot return type {shown}");
    }
    for &ty in row.proargtypes.iter() {
        if ty != oids::RECORD && is_pseudo(state, ty)? {
            let shown = state.cat().format_type(ty)?;
            bail!(FEATURE_NOT_SUPPORTED, "PL/pgSQL functions cannot accept type {shown}");
        }
    }
    Ok(())
}

/// Compiles a function for calls with these types. `is_new`: the function is being created.
pub(super) fn compile(
    state: &mut State,
    row: &Row<PgProc>,
    types: &Types,
    is_new: bool,
) -> Result<Arc<Code>> {
    let kind = match (row.prokind, row.prorettype) {
        (ProKind::Procedure, _) => CodeKind::Procedure,
        (_, oids::TRIGGER) => CodeKind::Trigger,
        (_, oids::EVENT_TRIGGER) => CodeKind::EventTrigger,
        _ => CodeKind::Function,
    };
    if matches!(kind, CodeKind::Trigger | CodeKind::EventTrigger) && !row.proargtypes.is_empty() {
        return Err(no_arguments(row.proname.as_str(), kind));
    }
    let signature = sysfn::reg::name_of(state, RegKind::Procedure, row.oid)?;
    let settings = settings(state);
    let args = arguments(state, row, types, is_new)?;
    let result = match kind {
        CodeKind::Trigger => oids::RECORD,
        CodeKind::EventTrigger => oids::VOID,
        _ => types.result,
    };
    let ty = var_type(state, (result, -1), types.collation)?;
    let source = Source {
        name: row.proname.as_str(),
        signature: signature.as_deref().unwrap_or(row.proname.as_str()),
        text: row.prosrc.as_str(),
        kind,
        args,
        result: ResultType { ty, is_set: row.proretset },
        polymorphic_result: analyze::ty::is_polymorphic(row.prorettype),
        read_only: row.provolatile != Volatility::Volatile,
        is_new,
    };
    let collation = types.collation;
    let function = plpgsql::compile(&source, &settings, &mut Catalog { state, collation })?;
    Ok(Arc::new(Code::new(function)))
}

/// The error for a trigger function with declared arguments.
fn no_arguments(name: &str, kind: CodeKind) -> PgError {
    let hint = "The arguments of the trigger can be accessed through TG_NARGS and TG_ARGV instead.";
    let e = match kind {
        CodeKind::EventTrigger => pg_err!(
            INVALID_FUNCTION_DEFINITION,
            "event trigger functions cannot have declared arguments"
        ),
        _ => {
            pg_err!(INVALID_FUNCTION_DEFINITION, "trigger functions cannot have declared arguments")
                .hint(hint)
        }
    };
    e.context(format!("compilation of PL/pgSQL function \"{name}\" near line 1"))
}

/// Compiles the code of DO.
pub(super) fn compile_inline(state: &mut State, text: &str) -> Result<Arc<Code>> {
    let settings = settings(state);
    let source = Source {
        name: "inline_code_block",
        signature: "inline_code_block",
        text,
        kind: CodeKind::Inline,
        args: Vec::new(),
        result: ResultType { ty: VarType::scalar(oids::VOID), is_set: false },
        polymorphic_result: false,
        read_only: false,
        is_new: true,
    };
    let statement = state.activity.statement.clone();
    let before = state.notices.len();
    let mut catalog = Catalog { state, collation: Oid::INVALID };
    let function = plpgsql::compile(&source, &settings, &mut catalog);
    place_notices(state, before, statement.as_deref().unwrap_or_default(), text);
    let function = function.map_err(|e| {
        let sql = statement.as_deref().unwrap_or_default();
        match define::routine::transpose::transposed(e, sql, text) {
            Ok(e) | Err(e) => e,
        }
    })?;
    Ok(Arc::new(Code::new(function)))
}

/// Converts the positions of the notices from number `from` on to positions in the statement that
/// contains the code.
pub(super) fn place_notices(state: &mut State, from: usize, sql: &str, text: &str) {
    for notice in state.notices.iter_mut().skip(from) {
        let (Ok(placed) | Err(placed)) =
            define::routine::transpose::transposed(notice.clone(), sql, text);
        *notice = placed;
    }
}

/// The parameters in their order.
fn arguments<'r>(
    state: &mut State,
    row: &'r PgProc,
    types: &Types,
    is_new: bool,
) -> Result<Vec<Argument<'r>>> {
    let all: &[Oid] = match &row.proallargtypes {
        Some(all) => all,
        None => &row.proargtypes,
    };
    let outputs = crate::function::outputs::outputs(state, row, &types.args)?.unwrap_or_default();
    let mut outputs = outputs.into_iter().map(|(_, ty)| ty);
    let mut inputs = types.args.iter().copied();
    let mut args = Vec::with_capacity(all.len());
    for (i, &declared) in all.iter().enumerate() {
        let mode = row.proargmodes.as_ref().and_then(|m| m.get(i)).copied();
        let mode = mode.unwrap_or(ArgMode::In);
        let output = if mode.is_output() { outputs.next() } else { None };
        let input = if mode.is_input() { inputs.next() } else { None };
        let ty = input.or(output).unwrap_or(declared);
        let ty = if is_new { plpgsql::sample(ty) } else { ty };
        let name = row.proargnames.as_ref().and_then(|n| n.get(i));
        args.push(Argument {
            name: name.map_or("", |n| n.as_str()),
            ty: var_type(state, (ty, -1), types.collation)?,
            is_input: mode.is_input(),
            is_output: mode.is_output(),
        });
    }
    Ok(args)
}

fn settings(state: &mut State) -> Settings {
    let conflict = match state.store.named("plpgsql.variable_conflict").as_text() {
        "use_variable" => NameConflict::UseVariable,
        "use_column" => NameConflict::UseColumn,
        _ => NameConflict::Error,
    };
    let extra = extra(state);
    Settings {
        lexer: state.values.resolved.lexer,
        conflict,
        print_strict_params: state.store.named("plpgsql.print_strict_params").as_bool(),
        extra,
    }
}

/// The additional checks that the settings enable. Their values were checked when they were set.
pub(super) fn extra(state: &State) -> Extra {
    let enabled =
        |name: &str| plpgsql::checks(state.store.named(name).as_text()).unwrap_or_default();
    Extra { warnings: enabled("plpgsql.extra_warnings"), errors: enabled("plpgsql.extra_errors") }
}

/// A type for variables of a call with this collation. Counterpart: `build_datatype`.
fn var_type(state: &mut State, (oid, typmod): (Oid, i32), collation: Oid) -> Result<VarType> {
    let row = state.cat().type_row(oid)?;
    if !row.typisdefined {
        let name = row.typname.as_str();
        bail!(WRONG_OBJECT_TYPE, "type \"{name}\" is only a shell");
    }
    let kind = match row.typtype {
        TypType::Composite => TypeKind::Row,
        TypType::Domain => {
            let (base, _) = state.cat().base_type(oid)?;
            match state.type_facts(base)?.relid.is_valid() {
                true => TypeKind::Row,
                false => TypeKind::Scalar,
            }
        }
        TypType::Pseudo if oid == oids::RECORD => TypeKind::Row,
        TypType::Pseudo => TypeKind::Pseudo,
        _ => TypeKind::Scalar,
    };
    let own = row.typcollation;
    let collation = if own.is_valid() && collation.is_valid() { collation } else { own };
    Ok(VarType { oid, typmod, collation, kind })
}

/// The catalogs as source of types.
struct Catalog<'c> {
    state: &'c mut State,
    /// The collation of the call.
    collation: Oid,
}

impl Catalog<'_> {
    fn relation(&mut self, names: &[String]) -> Result<Option<Oid>> {
        match names {
            [name] => self.state.cat().find_relation(None, name),
            [schema, name] => self.state.cat().find_relation(Some(schema), name),
            _ => Ok(None),
        }
    }
}

impl TypeSource for Catalog<'_> {
    fn named(&mut self, text: &str) -> Result<VarType> {
        let name = parse::parse_type_name(text)
            .map_err(|e| e.context(format!("invalid type name \"{text}\"")))?;
        let mut lookup = SessionLookup::new(self.state);
        let mut cx = Analyzer::new(&mut lookup, text, Params::Fixed(Vec::new()));
        let (row, typmod) = cx.typename(&name)?;
        var_type(self.state, (row.oid, typmod), self.collation)
    }

    fn of_column(&mut self, names: &[String]) -> Result<Option<VarType>> {
        let Some((column, table)) = names.split_last() else { return Ok(None) };
        let Some(relation) = self.relation(table)? else { return Ok(None) };
        let desc = self.state.cat().relation(relation)?;
        let found = desc
            .attributes
            .iter()
            .find(|a| !a.attisdropped && a.attname.as_str() == column.as_str());
        match found {
            Some(a) => var_type(self.state, (a.atttypid, a.atttypmod), self.collation).map(Some),
            None => Ok(None),
        }
    }

    fn of_row(&mut self, names: &[String]) -> Result<VarType> {
        let shown = names.join(".");
        let Some(relation) = self.relation(names)? else {
            bail!(UNDEFINED_TABLE, "relation \"{shown}\" does not exist");
        };
        let ty = self.state.cat().class(relation)?.reltype;
        if !ty.is_valid() {
            bail!(WRONG_OBJECT_TYPE, "relation \"{shown}\" does not have a composite type");
        }
        var_type(self.state, (ty, -1), self.collation)
    }

    fn collation(&mut self, names: &[String]) -> Result<Oid> {
        let names: Vec<parse::ast::Name> = names.iter().map(|n| n.as_str().into()).collect();
        let mut lookup = SessionLookup::new(self.state);
        let mut cx = Analyzer::new(&mut lookup, "", Params::Fixed(Vec::new()));
        cx.collation(&names, -1)
    }

    fn name_of(&mut self, ty: Oid) -> Result<String> {
        self.state.cat().format_type(ty)
    }

    fn warn(&mut self, warning: PgError) {
        self.state.notices.push(warning);
    }
}

/// A row of a set as a value; `fields` are without dropped columns.
pub(super) fn row_value(
    state: &mut State,
    result: Oid,
    desc: &RowDesc,
    fields: &[Datum],
) -> Result<Datum> {
    if result != oids::RECORD {
        let (base, _) = state.cat().base_type(result)?;
        return eval::make_row(state, base, fields);
    }
    let names: Vec<String> = desc.columns.iter().map(|c| c.name.clone()).collect();
    let types: Vec<Oid> = desc.columns.iter().map(|c| c.ty).collect();
    eval::make_named_record(state, &names, &types, fields)
}

/// The error of code that is compiled when it is called: its position is one in the code.
pub(super) fn in_code(mut e: PgError, text: &str) -> PgError {
    let fields = e.fields_mut();
    if let Some(position) = fields.position.take() {
        fields.internal_position = Some(position);
        fields.internal_query = Some(text.to_owned());
    }
    e
}
