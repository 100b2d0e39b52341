//! Resolution of a routine reference with or without argument types.
//!
//! Counterpart: `LookupFuncWithArgs` of parse_func.c.

use crate::basetype::shell_type;
use analyze::SessionLookup;
use catalog::rows::{PgProc, indexes};
use catalog::{Row, acl};
use ids::Oid;
use ids::code::ProKind;
use parse::ast::{FunctionParameterMode, Name, Node, ObjectType, ObjectWithArgs, TypeName};
use pgerror::{PgError, Result, SqlState, bail, pg_err};
use utility::host::CommandHost;
use utility::names;

pub(super) fn noun(kind: ObjectType) -> &'static str {
    match kind {
        ObjectType::Procedure => "procedure",
        ObjectType::Aggregate => "aggregate",
        ObjectType::Routine => "routine",
        _ => "function",
    }
}

/// The result of a search.
enum Found {
    None,
    One(Oid),
    Several,
}

struct Search<'a> {
    schema: Option<Oid>,
    name: &'a str,
}

impl Search<'_> {
    /// The routines with this name and their positions in the search path, in path order. Routines
    /// in the temporary schema are found only by a qualified name.
    fn candidates(&self, host: &mut dyn CommandHost) -> Result<Vec<(usize, catalog::Row<PgProc>)>> {
        let temp = host.catalog().session.temp_namespace;
        let path = host.catalog().search_path()?;
        let place = |f: &PgProc| match self.schema {
            Some(s) => (f.pronamespace == s).then_some(0),
            None if temp.is_valid() && f.pronamespace == temp => None,
            None => path.schemas.iter().position(|p| *p == f.pronamespace),
        };
        let index = indexes::PG_PROC_PRONAME_ARGS_NSP_INDEX;
        let list = host.catalog().scan(index, &[self.name.into()])?;
        let mut placed: Vec<(usize, catalog::Row<PgProc>)> =
            list.into_iter().filter_map(|f| place(&f).map(|p| (p, f))).collect();
        placed.sort_by_key(|(p, _)| *p);
        Ok(placed)
    }

    /// Without argument types: the only routine with this name and kind. The first routine in the
    /// path hides later ones with equal argument types.
    fn only(&self, host: &mut dyn CommandHost, kind: ObjectType) -> Result<Found> {
        let mut seen: Vec<catalog::Row<PgProc>> = Vec::new();
        for (_, f) in self.candidates(host)? {
            if !seen.iter().any(|o| o.proargtypes == f.proargtypes) {
                seen.push(f);
            }
        }
        seen.retain(|f| is_of_kind(f, kind));
        Ok(match seen.as_slice() {
            [] => Found::None,
            [f] => Found::One(f.oid),
            _ => Found::Several,
        })
    }

    /// Searches by all argument types or by the input argument types. A routine of the wrong kind
    /// hides later ones too.
    fn by_types(
        &self,
        host: &mut dyn CommandHost,
        kind: ObjectType,
        args: &[Oid],
        outputs: bool,
    ) -> Result<Found> {
        let fits = |f: &PgProc| match &f.proallargtypes {
            Some(all) if outputs => *all == args,
            _ => *f.proargtypes.0 == *args,
        };
        let list = self.candidates(host)?;
        let mut fitting = list.iter().filter(|(_, f)| fits(f));
        let Some((place, first)) = fitting.next() else { return Ok(Found::None) };
        if fitting.any(|(p, _)| p == place) {
            return Ok(Found::Several);
        }
        Ok(if is_of_kind(first, kind) { Found::One(first.oid) } else { Found::None })
    }

    /// The SQL standard identifies a procedure by all arguments, PostgreSQL by its input arguments.
    /// Without argument modes both interpretations are tried, and both must find the same routine.
    fn search(
        &self,
        host: &mut dyn CommandHost,
        kind: ObjectType,
        object: &ObjectWithArgs,
        args: &[Oid],
    ) -> Result<Found> {
        if object.args_unspecified {
            return self.only(host, kind);
        }
        let by_input = self.by_types(host, ObjectType::Routine, args, false)?;
        let procedures = matches!(kind, ObjectType::Procedure | ObjectType::Routine);
        let plain = object.objfuncargs.iter().all(|p| p.mode == FunctionParameterMode::Default);
        if !procedures || object.objfuncargs.is_empty() || !plain {
            return Ok(by_input);
        }
        Ok(match (by_input, self.by_types(host, kind, args, true)?) {
            (Found::One(a), Found::One(b)) if a != b => Found::Several,
            (found, Found::None) => found,
            (_, found) => found,
        })
    }
}

fn is_of_kind(f: &PgProc, kind: ObjectType) -> bool {
    match kind {
        ObjectType::Procedure => f.prokind == ProKind::Procedure,
        ObjectType::Routine => true,
        _ => f.prokind != ProKind::Procedure,
    }
}

/// The type of an argument, which may be a shell type. As in PostgreSQL, errors have no position.
fn argument(host: &mut dyn CommandHost, t: &TypeName) -> Result<Oid> {
    match shell_type(host, t)? {
        Some(shell) => Ok(shell),
        None => type_of(host, t),
    }
}

/// The error message for the first argument type that does not exist; `None` if all exist.
pub(super) fn missing_argument(
    host: &mut dyn CommandHost,
    object: &ObjectWithArgs,
) -> Result<Option<String>> {
    for t in object.objargs.iter().flatten() {
        if let Err(e) = argument(host, t) {
            let known = [SqlState::UNDEFINED_OBJECT, SqlState::INVALID_SCHEMA_NAME];
            return if known.contains(&e.code()) {
                Ok(Some(e.message().to_string()))
            } else {
                Err(e)
            };
        }
    }
    Ok(None)
}

/// The routine that a statement names; `None` if it does not exist and `missing_ok` is set.
pub fn find(
    host: &mut dyn CommandHost,
    object: &ObjectWithArgs,
    kind: ObjectType,
    missing_ok: bool,
) -> Result<Option<Oid>> {
    let parts: Vec<&str> = object.objname.iter().map(|n| &**n).collect();
    let (schema, name) = match parts.as_slice() {
        [.., schema, name] => (Some(*schema), *name),
        [name] => (None, *name),
        [] => return Err(PgError::internal("routine without a name")),
    };
    let shown = catalog::namespace::qualified(schema, name);
    if missing_ok && missing_argument(host, object)?.is_some() {
        return Ok(None);
    }
    let mut args = Vec::new();
    for t in object.objargs.iter().flatten() {
        args.push(argument(host, t)?);
    }
    let schema = match schema {
        Some(schema) => match host.catalog().usable_namespace(schema)? {
            Some(oid) => Some(oid),
            None if missing_ok => return Ok(None),
            None => bail!(INVALID_SCHEMA_NAME, "schema \"{schema}\" does not exist"),
        },
        None => None,
    };
    let what = noun(kind);
    let found = Search { schema, name }.search(host, kind, object, &args)?;
    match found {
        Found::One(oid) => {
            check_kind(host, oid, kind, &shown, &args)?;
            Ok(Some(oid))
        }
        Found::Several => {
            let e = pg_err!(AMBIGUOUS_FUNCTION, "{what} name \"{shown}\" is not unique");
            if !object.args_unspecified {
                return Err(e);
            }
            Err(e.hint(format!("Specify the argument list to select the {what} unambiguously.")))
        }
        Found::None if missing_ok => Ok(None),
        Found::None if object.args_unspecified => {
            let what = if kind == ObjectType::Routine { "function" } else { what };
            let article = if kind == ObjectType::Aggregate { "an" } else { "a" };
            bail!(UNDEFINED_FUNCTION, "could not find {article} {what} named \"{shown}\"")
        }
        Found::None => {
            let what = if kind == ObjectType::Routine { "function" } else { what };
            let signature = signature(host, &shown, &args)?;
            if kind == ObjectType::Aggregate && args.is_empty() {
                bail!(UNDEFINED_FUNCTION, "aggregate {shown}(*) does not exist");
            }
            bail!(UNDEFINED_FUNCTION, "{what} {signature} does not exist")
        }
    }
}

/// The parts of a name, joined by dots. Counterpart: `NameListToString`.
pub fn shown(names: &[Name]) -> String {
    names.iter().map(|n| &**n).collect::<Vec<_>>().join(".")
}

/// The routine with this name and exactly these argument types, without coercions; `None` if there
/// is none. Counterpart: `LookupFuncName`.
pub fn find_exact(
    host: &mut dyn CommandHost,
    names: &[Name],
    args: &[Oid],
) -> Result<Option<Row<PgProc>>> {
    let (schema, name) = match names {
        [.., schema, name] => (Some(host.catalog().namespace(schema)?), &**name),
        [name] => (None, &**name),
        [] => return Err(PgError::internal("routine without a name")),
    };
    let found = Search { schema, name }.by_types(host, ObjectType::Routine, args, false)?;
    match found {
        Found::One(oid) => host.catalog().function(oid).map(Some),
        Found::None => Ok(None),
        Found::Several => bail!(AMBIGUOUS_FUNCTION, "function name \"{}\" is not unique", name),
    }
}

/// As [`find_exact`]; error 42883 if there is no such routine.
pub fn exact(host: &mut dyn CommandHost, names: &[Name], args: &[Oid]) -> Result<Row<PgProc>> {
    match find_exact(host, names, args)? {
        Some(row) => Ok(row),
        None => {
            let signature = signature(host, &shown(names), args)?;
            bail!(UNDEFINED_FUNCTION, "function {signature} does not exist")
        }
    }
}

/// Error 42501 unless the user may execute the routine; `shown` is its name in the message.
pub fn check_execute(host: &mut dyn CommandHost, row: &PgProc, shown: &str) -> Result<()> {
    let user = names::user(host);
    let list = row.proacl.as_deref();
    if !host.catalog().has_privilege(user, row.proowner, list, acl::Kind::Function, acl::EXECUTE)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied for function {shown}");
    }
    Ok(())
}

/// `name(type, …)`.
pub fn signature(host: &mut dyn CommandHost, shown: &str, args: &[Oid]) -> Result<String> {
    let mut list = Vec::new();
    for ty in args {
        list.push(host.catalog().format_type(*ty)?);
    }
    Ok(format!("{shown}({})", list.join(", ")))
}

/// Error 42809 if the routine is of another kind. Aggregates count as functions.
fn check_kind(
    host: &mut dyn CommandHost,
    oid: Oid,
    kind: ObjectType,
    shown: &str,
    args: &[Oid],
) -> Result<()> {
    let is = host.catalog().function(oid)?.prokind;
    let wrong = match kind {
        ObjectType::Function => is == ProKind::Procedure,
        ObjectType::Procedure => is != ProKind::Procedure,
        ObjectType::Aggregate => is != ProKind::Aggregate,
        _ => false,
    };
    if !wrong {
        return Ok(());
    }
    let signature = signature(host, shown, args)?;
    match kind {
        ObjectType::Function => bail!(WRONG_OBJECT_TYPE, "{signature} is not a function"),
        ObjectType::Procedure => bail!(WRONG_OBJECT_TYPE, "{signature} is not a procedure"),
        _ => bail!(WRONG_OBJECT_TYPE, "function {signature} is not an aggregate"),
    }
}

/// As [`find`]; an error if the routine does not exist.
pub fn named(host: &mut dyn CommandHost, object: Option<&Node>, kind: ObjectType) -> Result<Oid> {
    let Some(Node::ObjectWithArgs(object)) = object else {
        return Err(PgError::internal("statement without a routine"));
    };
    let found = find(host, object, kind, false)?;
    found.ok_or_else(|| PgError::internal("routine was not found"))
}

/// The type with this name. Errors have no position.
pub fn type_of(host: &mut dyn CommandHost, name: &TypeName) -> Result<Oid> {
    Ok(analyze::ddl::type_name(&mut SessionLookup::new(host), name, "")?.0)
}

/// Error 42501 unless the user owns the routine.
pub fn must_own(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let what = noun_of(host.catalog().function(oid)?.prokind);
    must_own_as(host, oid, what)
}

/// The kind of a routine in messages.
pub fn noun_of(kind: ProKind) -> &'static str {
    match kind {
        ProKind::Aggregate => "aggregate",
        ProKind::Procedure => "procedure",
        _ => "function",
    }
}

/// As [`must_own`]; `what` is the kind that the message names.
pub fn must_own_as(host: &mut dyn CommandHost, oid: Oid, what: &str) -> Result<()> {
    let row = host.catalog().function(oid)?;
    if !names::is_owner(host, row.proowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of {what} {}", row.proname);
    }
    Ok(())
}
