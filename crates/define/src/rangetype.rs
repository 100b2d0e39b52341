//! CREATE TYPE … AS RANGE: the range type, its multirange type, their constructors, and the cast
//! from the one to the other.
//!
//! Counterpart: typecmds.c (`DefineRange`), pg_range.c.

use crate::basetype::{complete, shell_row};
use crate::routine::lookup::{check_execute, find_exact, shown, signature, type_of};
use crate::routine::{Parameters, insert};
use crate::typerow::{insert_with_array, name_is_free, new_name};
use analyze::{Analyzer, Params, SessionLookup};
use catalog::ObjectAddress;
use catalog::rows::{
    OidVector, PgCast, PgCollation, PgOpclass, PgProc, PgRange, PgType, Text, indexes,
};
use ids::Oid;
use ids::builtin::{am, language, proc, role};
use ids::code::{
    Align, ArgMode, CastContext, CastMethod, ColumnStorage, DepType, ParallelSafety, ProKind,
    TypCategory, TypType, Volatility,
};
use parse::ast::{self, CreateRangeStmt, DefElem};
use pgerror::{PgError, Result, SqlState, bail, pg_err};
use types::oids;
use utility::host::CommandHost;
use utility::{names, options};

/// Suffix of the name of a multirange type whose range type's name does not contain "range".
const MULTIRANGE: &str = "_multirange";
/// Longest name of a range type before that suffix, as in PostgreSQL.
const PREFIX_BYTES_MAX: usize = 52;

const ATTRIBUTES: [&str; 6] = [
    "subtype",
    "subtype_opclass",
    "collation",
    "canonical",
    "subtype_diff",
    "multirange_type_name",
];

/// The attributes of the statement, in the order of [`ATTRIBUTES`].
struct Attributes<'a> {
    given: [Option<&'a DefElem>; ATTRIBUTES.len()],
    subtype: Oid,
    /// Schema and name of the multirange type.
    multirange: Option<(Oid, String)>,
}

impl<'a> Attributes<'a> {
    fn read(host: &mut dyn CommandHost, stmt: &'a CreateRangeStmt, sql: &str) -> Result<Self> {
        let mut a =
            Attributes { given: Default::default(), subtype: Oid::INVALID, multirange: None };
        for d in &stmt.params {
            let Some(at) = ATTRIBUTES.iter().position(|n| **n == *d.defname) else {
                bail!(SYNTAX_ERROR, "type attribute \"{}\" not recognized", d.defname);
            };
            if a.given[at].replace(d).is_some() {
                return Err(pg_err!(SYNTAX_ERROR, "conflicting or redundant options")
                    .at(parse::position(sql, d.location)));
            }
            match ATTRIBUTES[at] {
                "subtype" => a.subtype = type_of(host, &options::type_name(d)?)?,
                "multirange_type_name" => {
                    let parts = options::qualified(d)?;
                    a.multirange = Some(match parts.as_slice() {
                        [schema, name] => {
                            let schema = crate::creation::target_schema(host, schema)?;
                            (schema, stdx::clip(name, 63).to_string())
                        }
                        _ => new_name(host, &parts)?,
                    });
                }
                _ => {}
            }
        }
        if !a.subtype.is_valid() {
            bail!(SYNTAX_ERROR, "type attribute \"subtype\" is required");
        }
        Ok(a)
    }

    /// The qualified name that an attribute gives.
    fn name(&self, attribute: &str) -> Result<Option<Vec<ast::Name>>> {
        let at = ATTRIBUTES.iter().position(|n| *n == attribute);
        at.and_then(|at| self.given[at]).map(options::qualified).transpose()
    }
}

/// The B-tree operator class with this name.
fn named_class(host: &mut dyn CommandHost, name: &[ast::Name]) -> Result<Oid> {
    let (schema, last) = match name {
        [.., schema, last] => (Some(&**schema), &**last),
        [last] => (None, &**last),
        [] => return Err(PgError::internal("operator class without a name")),
    };
    if let Some(schema) = schema {
        host.catalog().namespace(schema)?;
    }
    match host.catalog().find_opclass(am::BTREE, schema, last)? {
        Some(oid) => Ok(oid),
        None => bail!(
            UNDEFINED_OBJECT,
            "operator class \"{}\" does not exist for access method \"btree\"",
            shown(name)
        ),
    }
}

/// The operator class that orders the bounds. Counterpart: `findRangeSubOpclass`.
fn operator_class(
    host: &mut dyn CommandHost,
    name: Option<Vec<ast::Name>>,
    subtype: Oid,
) -> Result<Oid> {
    if let Some(name) = name {
        let class = named_class(host, &name)?;
        let input = host.catalog().opclass(class)?.opcintype;
        if !host.catalog().is_binary_coercible(subtype, input)? {
            let ty = host.catalog().format_type(subtype)?;
            bail!(
                DATATYPE_MISMATCH,
                "operator class \"{}\" does not accept data type {ty}",
                shown(&name)
            );
        }
        return Ok(class);
    }
    let (base, _) = host.catalog().base_type(subtype)?;
    if let Some(class) = host.catalog().default_opclass(base, am::BTREE)? {
        return Ok(class);
    }
    let ty = host.catalog().format_type(subtype)?;
    Err(pg_err!(
        UNDEFINED_OBJECT,
        "data type {ty} has no default operator class for access method \"btree\""
    )
    .hint(
        "You must specify an operator class for the range type or define a default operator class \
         for the subtype.",
    ))
}

/// The collation of the bounds; the invalid OID if the subtype has none.
fn collation(
    host: &mut dyn CommandHost,
    name: Option<Vec<ast::Name>>,
    subtype: Oid,
) -> Result<Oid> {
    let own = host.catalog().type_row(subtype)?.typcollation;
    match name {
        Some(_) if !own.is_valid() => bail!(
            WRONG_OBJECT_TYPE,
            "range collation specified but subtype does not support collation"
        ),
        Some(name) => {
            let mut lookup = SessionLookup::new(host);
            Analyzer::new(&mut lookup, "", Params::Fixed(Vec::new())).collation(&name, -1)
        }
        None => Ok(own),
    }
}

/// A support function, which must be immutable and return this type. `what` and `returns` are words
/// of messages.
fn support(
    host: &mut dyn CommandHost,
    name: &[ast::Name],
    args: &[Oid],
    (what, result, returns): (&str, Oid, &str),
) -> Result<Oid> {
    let text = signature(host, &shown(name), args)?;
    let Some(row) = find_exact(host, name, args)? else {
        bail!(UNDEFINED_FUNCTION, "function {text} does not exist")
    };
    let invalid = |problem: String| {
        let message = format!("range {what} function {text} must {problem}");
        PgError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
    };
    if row.prorettype != result {
        return Err(invalid(format!("return {returns}")));
    }
    if row.provolatile != Volatility::Immutable {
        return Err(invalid("be immutable".to_owned()));
    }
    check_execute(host, &row, row.proname.as_str())?;
    Ok(row.oid)
}

/// The function that makes the canonical form of ranges; the invalid OID if none is given. `shell`:
/// the type, if it exists.
fn canonical_function(
    host: &mut dyn CommandHost,
    name: Option<Vec<ast::Name>>,
    shell: Option<Oid>,
) -> Result<Oid> {
    match (name, shell) {
        (None, _) => Ok(Oid::INVALID),
        (Some(_), None) => Err(pg_err!(
            INVALID_OBJECT_DEFINITION,
            "cannot specify a canonical function without a pre-created shell type"
        )
        .hint(
            "Create the type as a shell type, then create its canonicalization function, then do \
             a full CREATE TYPE.",
        )),
        (Some(name), Some(ty)) => support(host, &name, &[ty], ("canonical", ty, "range type")),
    }
}

/// The row of a new range type or multirange type.
fn type_row(
    oid: Oid,
    (schema, name): (Oid, &str),
    align: Align,
    kind: TypType,
    owner: Oid,
) -> PgType {
    let (input, output, receive, send, analyze) = match kind {
        TypType::Range => (
            proc::RANGE_IN,
            proc::RANGE_OUT,
            proc::RANGE_RECV,
            proc::RANGE_SEND,
            proc::RANGE_TYPANALYZE,
        ),
        _ => (
            proc::MULTIRANGE_IN,
            proc::MULTIRANGE_OUT,
            proc::MULTIRANGE_RECV,
            proc::MULTIRANGE_SEND,
            proc::MULTIRANGE_TYPANALYZE,
        ),
    };
    PgType {
        typlen: -1,
        typbyval: false,
        typtype: kind,
        typcategory: TypCategory::RANGE,
        typisdefined: true,
        typinput: input,
        typoutput: output,
        typreceive: receive,
        typsend: send,
        typanalyze: analyze,
        typalign: align,
        typstorage: ColumnStorage::Extended,
        ..shell_row(oid, name, schema, owner)
    }
}

/// The name of the multirange type of a range type. Counterpart: `makeMultirangeTypeName`.
fn multirange_name(host: &mut dyn CommandHost, schema: Oid, range: &str) -> Result<String> {
    let name = match range.find("range") {
        Some(at) => format!("{}multi{}", &range[..at], &range[at..]),
        None => format!("{}{MULTIRANGE}", stdx::clip(range, PREFIX_BYTES_MAX)),
    };
    let name = stdx::clip(&name, 63).to_string();
    if host.catalog().type_in(schema, &name)?.is_some() {
        return Err(pg_err!(DUPLICATE_OBJECT, "type \"{name}\" already exists")
            .detail(format!("Failed while creating a multirange type for type \"{range}\"."))
            .hint(
                "You can manually specify a multirange type name using the \
                 \"multirange_type_name\" attribute.",
            ));
    }
    Ok(name)
}

/// Creates a constructor of the type, which goes away with it.
fn constructor(
    host: &mut dyn CommandHost,
    row: &PgType,
    source: &str,
    (args, variadic): (&[Oid], Oid),
) -> Result<Oid> {
    let is_variadic = variadic.is_valid();
    let mut p = Parameters::none();
    p.input = args.to_vec();
    p.all = is_variadic.then(|| args.to_vec());
    p.modes = is_variadic.then(|| vec![ArgMode::Variadic]);
    let new = PgProc {
        oid: Oid::INVALID,
        proname: row.typname,
        pronamespace: row.typnamespace,
        proowner: role::BOOTSTRAP_SUPERUSER,
        prolang: language::INTERNAL,
        procost: 1.0,
        prorows: 0.0,
        provariadic: variadic,
        prosupport: Oid::INVALID,
        prokind: ProKind::Function,
        prosecdef: false,
        proleakproof: false,
        proisstrict: row.typtype == TypType::Multirange,
        proretset: false,
        provolatile: Volatility::Immutable,
        proparallel: ParallelSafety::Safe,
        pronargs: args.len() as i16,
        pronargdefaults: 0,
        prorettype: row.oid,
        proargtypes: OidVector(args.into()),
        proallargtypes: p.all.clone(),
        proargmodes: p.modes.clone(),
        proargnames: None,
        proargdefaults: None,
        protrftypes: None,
        prosrc: Text::from(source),
        probin: None,
        prosqlbody: None,
        proconfig: None,
        proacl: None,
    };
    let oid = insert(host, new, false, &p, Vec::new())?;
    let (this, ty) = (ObjectAddress::of::<PgProc>(oid), ObjectAddress::of::<PgType>(row.oid));
    host.catalog().record_dependency(this, ty, DepType::Internal)?;
    Ok(oid)
}

/// Inserts the `pg_range` row with its dependencies. Counterpart: `RangeCreate`.
fn insert_range(host: &mut dyn CommandHost, row: &PgRange) -> Result<()> {
    let this = ObjectAddress::of::<PgType>(row.rngtypid);
    let mut objects = vec![
        ObjectAddress::of::<PgType>(row.rngsubtype),
        ObjectAddress::of::<PgOpclass>(row.rngsubopc),
    ];
    objects.extend(row.rngcollation.valid().map(ObjectAddress::of::<PgCollation>));
    let functions = [row.rngcanonical.valid(), row.rngsubdiff.valid()];
    objects.extend(functions.into_iter().flatten().map(ObjectAddress::of::<PgProc>));
    let mut cat = host.catalog();
    cat.insert(row)?;
    cat.record_dependencies(this, &objects, DepType::Normal)?;
    let multirange = ObjectAddress::of::<PgType>(row.rngmultitypid);
    cat.record_dependency(multirange, this, DepType::Internal)?;
    cat.increment_command_counter()
}

/// Creates the cast from the range type to the multirange type, which goes away with either.
fn insert_cast(host: &mut dyn CommandHost, range: Oid, multirange: Oid, via: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_CAST_OID_INDEX)?;
    cat.insert(&PgCast {
        oid,
        castsource: range,
        casttarget: multirange,
        castfunc: via,
        castcontext: CastContext::Explicit,
        castmethod: CastMethod::Function,
    })?;
    let this = ObjectAddress::of::<PgCast>(oid);
    let ends = [range, multirange].map(ObjectAddress::of::<PgType>);
    let mut objects = vec![ObjectAddress::of::<PgProc>(via)];
    objects.extend(ends);
    // PostgreSQL records the latest objects first; errors name the first one.
    objects.sort_by_key(|o| std::cmp::Reverse(o.object));
    cat.record_dependencies(this, &objects, DepType::Internal)?;
    cat.increment_command_counter()
}

/// The array type of a type.
fn array_of(host: &mut dyn CommandHost, ty: Oid) -> Result<Oid> {
    Ok(host.catalog().type_row(ty)?.typarray)
}

/// CREATE TYPE … AS RANGE.
pub fn create(host: &mut dyn CommandHost, stmt: &CreateRangeStmt, sql: &str) -> Result<()> {
    let (schema, name) = new_name(host, &stmt.type_name)?;
    let shell = match host.catalog().type_in(schema, &name)? {
        Some(oid) => Some(host.catalog().type_row(oid)?).filter(|row| !row.typisdefined),
        None => None,
    };
    if shell.is_none() {
        name_is_free(host, schema, &name)?;
    }
    let a = Attributes::read(host, stmt, sql)?;
    let subtype = host.catalog().type_row(a.subtype)?;
    if subtype.typtype == TypType::Pseudo {
        let ty = host.catalog().format_type(a.subtype)?;
        bail!(DATATYPE_MISMATCH, "range subtype cannot be {ty}");
    }
    let class = operator_class(host, a.name("subtype_opclass")?, a.subtype)?;
    let collation = collation(host, a.name("collation")?, a.subtype)?;
    let canonical = canonical_function(host, a.name("canonical")?, shell.as_ref().map(|s| s.oid))?;
    let subdiff = match a.name("subtype_diff")? {
        Some(name) => {
            let wanted = ("subtype diff", oids::FLOAT8, "type double precision");
            support(host, &name, &[a.subtype; 2], wanted)?
        }
        None => Oid::INVALID,
    };
    let align = if subtype.typalign == Align::Double { Align::Double } else { Align::Int };
    let owner = names::user(host);
    let oid = match &shell {
        Some(shell) => shell.oid,
        None => host.catalog().new_oid(indexes::PG_TYPE_OID_INDEX)?,
    };
    let range = type_row(oid, (schema, &name), align, TypType::Range, owner);
    match &shell {
        Some(shell) => complete(host, shell, range.clone())?,
        None => insert_with_array(host, range.clone())?,
    }
    let (multirange_schema, multirange_name) = match a.multirange {
        Some((schema, name)) => {
            name_is_free(host, schema, &name)?;
            (schema, name)
        }
        None => (schema, multirange_name(host, schema, &name)?),
    };
    let multirange_oid = host.catalog().new_oid(indexes::PG_TYPE_OID_INDEX)?;
    let names = (multirange_schema, multirange_name.as_str());
    let multirange = type_row(multirange_oid, names, align, TypType::Multirange, owner);
    insert_with_array(host, multirange.clone())?;
    insert_range(
        host,
        &PgRange {
            rngtypid: oid,
            rngsubtype: a.subtype,
            rngmultitypid: multirange_oid,
            rngcollation: collation,
            rngsubopc: class,
            rngcanonical: canonical,
            rngsubdiff: subdiff,
        },
    )?;
    constructors(host, &range, &multirange, a.subtype)
}

/// Creates the constructors and the cast.
fn constructors(
    host: &mut dyn CommandHost,
    range: &PgType,
    multirange: &PgType,
    subtype: Oid,
) -> Result<()> {
    let none = Oid::INVALID;
    let args = [subtype, subtype, oids::TEXT];
    constructor(host, range, "range_constructor2", (&args[..2], none))?;
    constructor(host, range, "range_constructor3", (&args, none))?;
    constructor(host, multirange, "multirange_constructor0", (&[], none))?;
    let cast = constructor(host, multirange, "multirange_constructor1", (&[range.oid], none))?;
    let array = array_of(host, range.oid)?;
    constructor(host, multirange, "multirange_constructor2", (&[array], range.oid))?;
    insert_cast(host, range.oid, multirange.oid, cast)
}
