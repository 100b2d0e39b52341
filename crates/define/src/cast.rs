//! CREATE CAST.
//!
//! Counterpart: functioncmds.c (`CreateCast`), pg_cast.c.

use crate::routine::lookup::{find, type_of};
use analyze::typename::{is_true_array, type_name_text};
use analyze::{Analyzer, Params, SessionLookup};
use catalog::rows::{PgCast, PgProc, PgType, indexes};
use catalog::{ObjectAddress, Row};
use ids::Oid;
use ids::code::{CastContext, CastMethod, DepType, ProKind, TypType};
use parse::ast::{CoercionContext, CreateCastStmt, ObjectType, ObjectWithArgs, TypeName};
use pgerror::{PgError, Result, Severity, SqlState, bail, pg_err};
use types::oids;
use utility::host::CommandHost;
use utility::names;

/// The source and the target type.
struct Ends {
    source: Row<PgType>,
    target: Row<PgType>,
}

fn invalid(message: &str) -> PgError {
    PgError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

/// A type that can have casts.
fn cast_type(host: &mut dyn CommandHost, name: &TypeName, what: &str) -> Result<Row<PgType>> {
    let oid = type_of(host, name)?;
    let row = host.catalog().type_row(oid)?;
    if row.typtype == TypType::Pseudo {
        let shown = type_name_text(name);
        bail!(WRONG_OBJECT_TYPE, "{what} data type {shown} is a pseudo-type");
    }
    Ok(row)
}

fn binary_coercible(host: &mut dyn CommandHost, from: Oid, to: Oid) -> Result<bool> {
    let mut lookup = SessionLookup::new(host);
    let mut cx = Analyzer::new(&mut lookup, "", Params::Fixed(Vec::new()));
    cx.binary_coercible(from, to)
}

impl Ends {
    /// 42501 unless the user owns one of the types and may use both.
    fn check_privileges(&self, host: &mut dyn CommandHost) -> Result<()> {
        let (source, target) = (self.source.oid, self.target.oid);
        let owns = names::is_owner(host, self.source.typowner)?
            || names::is_owner(host, self.target.typowner)?;
        if !owns {
            let source = host.catalog().format_type(source)?;
            let target = host.catalog().format_type(target)?;
            bail!(INSUFFICIENT_PRIVILEGE, "must be owner of type {source} or type {target}");
        }
        names::check_type_privilege(host, source)?;
        names::check_type_privilege(host, target)
    }

    /// Casts of domains are never used.
    fn warn_of_domains(&self, host: &mut dyn CommandHost) {
        let ends = [(&self.source, "source"), (&self.target, "target")];
        if let Some((_, what)) = ends.iter().find(|(row, _)| row.typtype == TypType::Domain) {
            host.notice(
                pg_err!(
                    WRONG_OBJECT_TYPE,
                    "cast will be ignored because the {what} data type is a domain"
                )
                .severity(Severity::Warning),
            );
        }
    }

    /// The function, and the number of its arguments.
    fn function(&self, host: &mut dyn CommandHost, name: &ObjectWithArgs) -> Result<(Oid, i16)> {
        let oid = find(host, name, ObjectType::Function, false)?
            .ok_or_else(|| PgError::internal("routine was not found"))?;
        let f = host.catalog().function(oid)?;
        let args = &f.proargtypes.0;
        if !(1..=3).contains(&args.len()) {
            return Err(invalid("cast function must take one to three arguments"));
        }
        if !binary_coercible(host, self.source.oid, args[0])? {
            return Err(invalid(
                "argument of cast function must match or be binary-coercible from source data type",
            ));
        }
        if args.get(1).is_some_and(|&ty| ty != oids::INT4) {
            return Err(invalid("second argument of cast function must be type integer"));
        }
        if args.get(2).is_some_and(|&ty| ty != oids::BOOL) {
            return Err(invalid("third argument of cast function must be type boolean"));
        }
        if !binary_coercible(host, f.prorettype, self.target.oid)? {
            return Err(invalid(
                "return data type of cast function must match or be binary-coercible to target \
                 data type",
            ));
        }
        if f.prokind != ProKind::Function {
            return Err(invalid("cast function must be a normal function"));
        }
        if f.proretset {
            return Err(invalid("cast function must not return a set"));
        }
        Ok((oid, f.pronargs))
    }

    /// Checks that values of one type can be taken for those of the other.
    fn check_same_representation(&self, host: &mut dyn CommandHost) -> Result<()> {
        if !names::is_superuser(host)? {
            bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to create a cast WITHOUT FUNCTION");
        }
        let form = |row: &PgType| (row.typlen, row.typbyval, row.typalign);
        if form(&self.source) != form(&self.target) {
            return Err(invalid("source and target data types are not physically compatible"));
        }
        let ends = [&self.source, &self.target];
        let is = |kind: TypType| ends.iter().any(|row| row.typtype == kind);
        if is(TypType::Composite) {
            return Err(invalid("composite data types are not binary-compatible"));
        }
        if is(TypType::Enum) {
            return Err(invalid("enum data types are not binary-compatible"));
        }
        if ends.iter().any(|row| is_true_array(row)) {
            return Err(invalid("array data types are not binary-compatible"));
        }
        if is(TypType::Domain) {
            return Err(invalid("domain data types must not be marked binary-compatible"));
        }
        Ok(())
    }
}

/// CREATE CAST.
pub fn create(host: &mut dyn CommandHost, stmt: &CreateCastStmt) -> Result<()> {
    let source = cast_type(host, &stmt.sourcetype, "source")?;
    let target = cast_type(host, &stmt.targettype, "target")?;
    let ends = Ends { source, target };
    ends.check_privileges(host)?;
    ends.warn_of_domains(host);
    let (function, arguments) = match &stmt.func {
        Some(name) => ends.function(host, name)?,
        None => (Oid::INVALID, 0),
    };
    let method = match (function.is_valid(), stmt.inout) {
        (true, _) => CastMethod::Function,
        (false, true) => CastMethod::InOut,
        (false, false) => {
            ends.check_same_representation(host)?;
            CastMethod::Binary
        }
    };
    let (source, target) = (ends.source.oid, ends.target.oid);
    if source == target && arguments < 2 {
        return Err(invalid("source data type and target data type are the same"));
    }
    let mut cat = host.catalog();
    let keys = [source.into(), target.into()];
    if !cat.scan(indexes::PG_CAST_SOURCE_TARGET_INDEX, &keys)?.is_empty() {
        let (source, target) = (cat.format_type(source)?, cat.format_type(target)?);
        bail!(DUPLICATE_OBJECT, "cast from type {source} to type {target} already exists");
    }
    let oid = cat.new_oid(indexes::PG_CAST_OID_INDEX)?;
    cat.insert(&PgCast {
        oid,
        castsource: source,
        casttarget: target,
        castfunc: function,
        castcontext: match stmt.context {
            CoercionContext::Implicit => CastContext::Implicit,
            CoercionContext::Assignment => CastContext::Assignment,
            CoercionContext::Plpgsql | CoercionContext::Explicit => CastContext::Explicit,
        },
        castmethod: method,
    })?;
    let this = ObjectAddress::of::<PgCast>(oid);
    let other = Some(target).filter(|ty| *ty != source);
    let ends = [Some(source), other].into_iter().flatten().map(ObjectAddress::of::<PgType>);
    let function = function.valid().map(ObjectAddress::of::<PgProc>);
    for object in ends.chain(function) {
        cat.record_dependency(this, object, DepType::Normal)?;
    }
    cat.increment_command_counter()
}
