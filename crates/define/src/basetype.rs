//! CREATE TYPE of shell types and base types; ALTER TYPE … SET is in `alter_type`.
//!
//! Counterpart: typecmds.c (`DefineType`), pg_type.c (`TypeShellMake`, `TypeCreate`).

use crate::default_acl;
use crate::routine::lookup::{exact, find_exact, shown, type_of};
use crate::typerow::{array_type_name, array_type_row, name_is_free, new_name};
use catalog::rows::{Name, PgCollation, PgNamespace, PgProc, PgType, Text, indexes};
use catalog::{CatCx, ObjectAddress, Row};
use ids::Oid;
use ids::builtin::{collation, proc};
use ids::code::{Align, ColumnStorage, DepType, TypCategory, TypType, Volatility};
use parse::ast::{self, DefElem, DefineStmt, ObjectType};
use pgerror::{PgError, Result, Severity, SqlState, bail, pg_err};
use types::oids;
use utility::host::CommandHost;
use utility::{names, options};

fn invalid(message: &str) -> PgError {
    PgError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

/// The row of a type of which only the name is known.
pub fn shell_row(oid: Oid, name: &str, schema: Oid, owner: Oid) -> PgType {
    PgType {
        oid,
        typname: Name::new(name),
        typnamespace: schema,
        typowner: owner,
        typlen: 4,
        typbyval: true,
        typtype: TypType::Pseudo,
        typcategory: TypCategory(b'P'),
        typispreferred: false,
        typisdefined: false,
        typdelim: b',',
        typrelid: Oid::INVALID,
        typsubscript: Oid::INVALID,
        typelem: Oid::INVALID,
        typarray: Oid::INVALID,
        typinput: proc::SHELL_IN,
        typoutput: proc::SHELL_OUT,
        typreceive: Oid::INVALID,
        typsend: Oid::INVALID,
        typmodin: Oid::INVALID,
        typmodout: Oid::INVALID,
        typanalyze: Oid::INVALID,
        typalign: Align::Int,
        typstorage: ColumnStorage::Plain,
        typnotnull: false,
        typbasetype: Oid::INVALID,
        typtypmod: -1,
        typndims: 0,
        typcollation: Oid::INVALID,
        typdefaultbin: None,
        typdefault: None,
        typacl: None,
    }
}

/// Creates a shell type. Counterpart: `TypeShellMake`.
pub fn create_shell(host: &mut dyn CommandHost, schema: Oid, name: &str) -> Result<Oid> {
    let owner = names::user(host);
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_TYPE_OID_INDEX)?;
    let row = shell_row(oid, name, schema, owner);
    cat.insert(&row)?;
    record_dependencies(&mut cat, &row)?;
    cat.increment_command_counter()?;
    Ok(oid)
}

/// Records what the type depends on. Counterpart: `GenerateTypeDependencies`.
pub(crate) fn record_dependencies(cat: &mut CatCx<'_>, row: &PgType) -> Result<()> {
    let this = ObjectAddress::of::<PgType>(row.oid);
    let functions = [
        row.typinput,
        row.typoutput,
        row.typreceive,
        row.typsend,
        row.typmodin,
        row.typmodout,
        row.typanalyze,
        row.typsubscript,
    ];
    let mut objects = vec![ObjectAddress::of::<PgNamespace>(row.typnamespace)];
    let functions = functions.iter().filter(|f| f.is_valid());
    objects.extend(functions.map(|f| ObjectAddress::of::<PgProc>(*f)));
    if let Some(element) = row.typelem.valid() {
        objects.push(ObjectAddress::of::<PgType>(element));
    }
    if let Some(collation) = row.typcollation.valid() {
        objects.push(ObjectAddress::of::<PgCollation>(collation));
    }
    cat.record_owner(this, row.typowner)?;
    cat.record_dependencies(this, &objects, DepType::Normal)
}

/// The attributes of CREATE TYPE, by name.
#[derive(Default)]
struct Attributes<'a>(Vec<(&'static str, &'a DefElem)>);

const NAMES: &[&str] = &[
    "like",
    "internallength",
    "input",
    "output",
    "receive",
    "send",
    "typmod_in",
    "typmod_out",
    "analyze",
    "subscript",
    "category",
    "preferred",
    "delimiter",
    "element",
    "default",
    "passedbyvalue",
    "alignment",
    "storage",
    "collatable",
];

impl<'a> Attributes<'a> {
    fn read(host: &mut dyn CommandHost, defs: &'a [DefElem], sql: &str) -> Result<Attributes<'a>> {
        let mut a = Attributes::default();
        for d in defs {
            let name = if &*d.defname == "analyse" { "analyze" } else { &*d.defname };
            let Some(known) = NAMES.iter().find(|n| **n == name) else {
                host.notice(
                    pg_err!(SYNTAX_ERROR, "type attribute \"{}\" not recognized", d.defname)
                        .severity(Severity::Warning)
                        .at(parse::position(sql, d.location)),
                );
                continue;
            };
            if a.get(known).is_some() {
                return Err(pg_err!(SYNTAX_ERROR, "conflicting or redundant options")
                    .at(parse::position(sql, d.location)));
            }
            a.0.push((known, d));
        }
        Ok(a)
    }

    fn get(&self, name: &str) -> Option<&'a DefElem> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, d)| *d)
    }

    fn text(&self, name: &str) -> Result<Option<String>> {
        self.get(name).map(options::text).transpose()
    }

    fn boolean(&self, name: &str) -> Result<Option<bool>> {
        self.get(name).map(options::boolean).transpose()
    }

    fn function(&self, name: &str) -> Result<Option<Vec<ast::Name>>> {
        self.get(name).map(options::qualified).transpose()
    }
}

fn alignment(text: &str) -> Result<Align> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "double" | "float8" | "pg_catalog.float8" => Align::Double,
        "int4" | "pg_catalog.int4" => Align::Int,
        "int2" | "pg_catalog.int2" => Align::Short,
        "char" | "pg_catalog.bpchar" => Align::Char,
        _ => bail!(INVALID_PARAMETER_VALUE, "alignment \"{text}\" not recognized"),
    })
}

/// The storage strategy with this name.
pub fn storage(text: &str) -> Result<ColumnStorage> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "plain" => ColumnStorage::Plain,
        "external" => ColumnStorage::External,
        "extended" => ColumnStorage::Extended,
        "main" => ColumnStorage::Main,
        _ => bail!(INVALID_PARAMETER_VALUE, "storage \"{text}\" not recognized"),
    })
}

/// The physical form of the values.
struct Form {
    len: i16,
    by_value: bool,
    align: Align,
    storage: ColumnStorage,
}

impl Form {
    fn read(host: &mut dyn CommandHost, a: &Attributes<'_>) -> Result<Form> {
        let (align, storage_of) = (Align::Int, ColumnStorage::Plain);
        let mut form = Form { len: -1, by_value: false, align, storage: storage_of };
        if let Some(like) = a.get("like") {
            let oid = type_of(host, &options::type_name(like)?)?;
            let row = host.catalog().type_row(oid)?;
            form = Form {
                len: row.typlen,
                by_value: row.typbyval,
                align: row.typalign,
                storage: row.typstorage,
            };
        }
        if let Some(d) = a.get("internallength") {
            form.len = options::type_length(d)?;
        }
        if let Some(by_value) = a.boolean("passedbyvalue")? {
            form.by_value = by_value;
        }
        if let Some(text) = a.text("alignment")? {
            form.align = alignment(&text)?;
        }
        if let Some(text) = a.text("storage")? {
            form.storage = storage(&text)?;
        }
        Ok(form)
    }

    /// Counterpart: the checks of `TypeCreate`.
    fn check(&self) -> Result<()> {
        let letter = match self.align {
            Align::Char => 'c',
            Align::Short => 's',
            Align::Int => 'i',
            Align::Double => 'd',
        };
        let len = self.len;
        if !(len > 0 || len == -1 || len == -2) {
            return Err(invalid(&format!("invalid type internal size {len}")));
        }
        if self.by_value {
            let wanted = match len {
                1 => Align::Char,
                2 => Align::Short,
                4 => Align::Int,
                8 => Align::Double,
                _ => {
                    return Err(invalid(&format!(
                        "internal size {len} is invalid for passed-by-value type"
                    )));
                }
            };
            if self.align != wanted {
                return Err(invalid(&format!(
                    "alignment \"{letter}\" is invalid for passed-by-value type of size {len}"
                )));
            }
        } else {
            let fits = match len {
                -1 => matches!(self.align, Align::Int | Align::Double),
                -2 => self.align == Align::Char,
                _ => true,
            };
            if !fits {
                return Err(invalid(&format!(
                    "alignment \"{letter}\" is invalid for variable-length type"
                )));
            }
        }
        if self.storage != ColumnStorage::Plain && len != -1 {
            return Err(invalid("fixed-size types must have storage PLAIN"));
        }
        Ok(())
    }
}

/// What a support function of a type must be.
struct Wanted<'a> {
    /// The kind in messages.
    what: &'static str,
    /// The lists of argument types that it may have.
    args: &'a [&'a [Oid]],
    result: Oid,
    /// A warning is given if it is volatile.
    warns: Option<&'static str>,
}

/// Counterpart: `findTypeInputFunction` and its siblings.
fn support(
    host: &mut dyn CommandHost,
    names: &[ast::Name],
    wanted: &Wanted<'_>,
) -> Result<Row<PgProc>> {
    let mut found: Option<Row<PgProc>> = None;
    for args in wanted.args {
        let Some(row) = find_exact(host, names, args)? else { continue };
        if found.is_some() {
            bail!(
                AMBIGUOUS_FUNCTION,
                "type {} function {} has multiple matches",
                wanted.what,
                shown(names)
            );
        }
        found = Some(row);
    }
    let Some(row) = found else {
        let args = wanted.args.first().copied().unwrap_or_default();
        return exact(host, names, args);
    };
    let name = shown(names);
    let what = match wanted.what {
        what @ ("typmod_in" | "typmod_out") => what.to_owned(),
        what => format!("type {what}"),
    };
    if row.prorettype != wanted.result {
        let ty = host.catalog().format_type(wanted.result)?;
        return Err(invalid(&format!("{what} function {name} must return type {ty}")));
    }
    if let Some(what) = wanted.warns.filter(|_| row.provolatile == Volatility::Volatile) {
        let message = format!("{what} function {name} should not be volatile");
        host.notice(invalid(&message).severity(Severity::Warning));
    }
    Ok(row)
}

/// The functions of the type.
struct Functions {
    input: Oid,
    output: Oid,
    receive: Oid,
    send: Oid,
    typmod_in: Oid,
    typmod_out: Oid,
    analyze: Oid,
    subscript: Oid,
}

impl Functions {
    fn find(host: &mut dyn CommandHost, a: &Attributes<'_>, ty: Oid) -> Result<Functions> {
        let Some(input) = a.function("input")? else {
            return Err(invalid("type input function must be specified"));
        };
        let Some(output) = a.function("output")? else {
            return Err(invalid("type output function must be specified"));
        };
        if a.get("typmod_in").is_none() && a.get("typmod_out").is_some() {
            return Err(invalid(
                "type modifier output function is useless without a type modifier input function",
            ));
        }
        let input = attribute_function(host, "input", ty, &input)?;
        let output = attribute_function(host, "output", ty, &output)?;
        let mut optional = |name: &str| match a.function(name)? {
            Some(names) => attribute_function(host, name, ty, &names),
            None => Ok(Oid::INVALID),
        };
        let (receive, send) = (optional("receive")?, optional("send")?);
        let (typmod_in, typmod_out) = (optional("typmod_in")?, optional("typmod_out")?);
        let (analyze, subscript) = (optional("analyze")?, optional("subscript")?);
        Ok(Functions { input, output, receive, send, typmod_in, typmod_out, analyze, subscript })
    }
}

/// The function that an attribute of the type `ty` names.
pub(crate) fn attribute_function(
    host: &mut dyn CommandHost,
    attribute: &str,
    ty: Oid,
    names: &[ast::Name],
) -> Result<Oid> {
    const TEXT: &[&[Oid]] = &[&[oids::CSTRING], &[oids::CSTRING, oids::OID, oids::INT4]];
    const BINARY: &[&[Oid]] = &[&[oids::INTERNAL], &[oids::INTERNAL, oids::OID, oids::INT4]];
    const INTERNAL: &[&[Oid]] = &[&[oids::INTERNAL]];
    let own: &[&[Oid]] = &[&[ty]];
    let (what, args, result, warns): (_, &[&[Oid]], _, _) = match attribute {
        "input" => ("input", TEXT, ty, Some("type input")),
        "output" => ("output", own, oids::CSTRING, Some("type output")),
        "receive" => ("receive", BINARY, ty, Some("type receive")),
        "send" => ("send", own, oids::BYTEA, Some("type send")),
        "typmod_in" => {
            ("typmod_in", &[&[oids::CSTRING_ARRAY]], oids::INT4, Some("type modifier input"))
        }
        "typmod_out" => {
            ("typmod_out", &[&[oids::INT4]], oids::CSTRING, Some("type modifier output"))
        }
        "analyze" => ("analyze", INTERNAL, oids::BOOL, None),
        _ => ("subscripting", INTERNAL, oids::INTERNAL, None),
    };
    let found = support(host, names, &Wanted { what, args, result, warns })?.oid;
    if attribute == "subscript" && found == proc::ARRAY_SUBSCRIPT_HANDLER {
        let name = shown(names);
        return Err(invalid(&format!(
            "user-defined types cannot use subscripting function {name}"
        )));
    }
    Ok(found)
}

/// CREATE TYPE name, and CREATE TYPE name (…).
pub fn create(host: &mut dyn CommandHost, stmt: &DefineStmt, sql: &str) -> Result<()> {
    if !names::is_superuser(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to create a base type");
    }
    let (schema, name) = new_name(host, &stmt.defnames)?;
    let shell = match host.catalog().type_in(schema, &name)? {
        Some(oid) => Some(host.catalog().type_row(oid)?).filter(|row| !row.typisdefined),
        None => None,
    };
    if shell.is_none() {
        name_is_free(host, schema, &name)?;
    }
    // The grammar gives no list of attributes for a shell type.
    if stmt.definition.is_empty() {
        if shell.is_some() {
            bail!(DUPLICATE_OBJECT, "type \"{name}\" already exists");
        }
        return create_shell(host, schema, &name).map(|_| ());
    }
    let Some(shell) = shell else {
        return Err(pg_err!(DUPLICATE_OBJECT, "type \"{name}\" does not exist").hint(
            "Create the type as a shell type, then create its I/O functions, then do a full \
             CREATE TYPE.",
        ));
    };
    let a = Attributes::read(host, &stmt.definition, sql)?;
    let form = Form::read(host, &a)?;
    let category = category(&a)?;
    let element = match a.get("element") {
        Some(d) => element_type(host, d)?,
        None => Oid::INVALID,
    };
    let functions = Functions::find(host, &a, shell.oid)?;
    let subscript = match functions.subscript.valid() {
        None if element.is_valid() => raw_subscript(host, &form, element)?,
        _ => functions.subscript,
    };
    form.check()?;
    let collation = match a.boolean("collatable")? {
        Some(true) => collation::DEFAULT,
        _ => Oid::INVALID,
    };
    if !names::is_owner(host, shell.typowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of type {name}");
    }
    let row = PgType {
        typlen: form.len,
        typbyval: form.by_value,
        typtype: TypType::Base,
        typcategory: category,
        typispreferred: a.boolean("preferred")?.unwrap_or(false),
        typisdefined: true,
        typdelim: a.text("delimiter")?.and_then(|t| t.bytes().next()).unwrap_or(b','),
        typsubscript: subscript,
        typelem: element,
        typinput: functions.input,
        typoutput: functions.output,
        typreceive: functions.receive,
        typsend: functions.send,
        typmodin: functions.typmod_in,
        typmodout: functions.typmod_out,
        typanalyze: functions.analyze,
        typalign: form.align,
        typstorage: form.storage,
        typcollation: collation,
        typdefault: a.text("default")?.map(Text::from),
        ..shell.row.clone()
    };
    complete(host, &shell, row)
}

fn category(a: &Attributes<'_>) -> Result<TypCategory> {
    let Some(text) = a.text("category")? else { return Ok(TypCategory::USER) };
    let first = text.bytes().next().unwrap_or(0);
    if !(32..=126).contains(&first) {
        bail!(INVALID_PARAMETER_VALUE, "invalid type category \"{text}\": must be simple ASCII");
    }
    Ok(TypCategory(first))
}

fn element_type(host: &mut dyn CommandHost, d: &DefElem) -> Result<Oid> {
    let oid = type_of(host, &options::type_name(d)?)?;
    if host.catalog().type_row(oid)?.typtype == TypType::Pseudo {
        let ty = host.catalog().format_type(oid)?;
        bail!(DATATYPE_MISMATCH, "array element type cannot be {ty}");
    }
    Ok(oid)
}

/// The subscripting function of types that are arrays of fixed length.
fn raw_subscript(host: &mut dyn CommandHost, form: &Form, element: Oid) -> Result<Oid> {
    let fixed = form.len > 0 && !form.by_value;
    if !fixed || host.catalog().type_row(element)?.typlen <= 0 {
        bail!(
            INVALID_PARAMETER_VALUE,
            "element type cannot be specified without a subscripting function"
        );
    }
    Ok(proc::RAW_ARRAY_SUBSCRIPT_HANDLER)
}

/// Replaces the shell by the type, and creates its array type.
pub(crate) fn complete(
    host: &mut dyn CommandHost,
    shell: &Row<PgType>,
    mut row: PgType,
) -> Result<()> {
    let (schema, owner) = (row.typnamespace, row.typowner);
    let array = host.catalog().new_oid(indexes::PG_TYPE_OID_INDEX)?;
    row.typarray = array;
    row.typacl = default_acl::of_new_object(host, ObjectType::Type, owner, schema)?;
    let this = ObjectAddress::of::<PgType>(row.oid);
    let mut cat = host.catalog();
    cat.update(shell, &row)?;
    cat.delete_dependencies(this, true)?;
    cat.delete_shared_dependencies(this)?;
    record_dependencies(&mut cat, &row)?;
    drop(cat);
    default_acl::record_acl_dependencies(host, this, row.typacl.as_deref(), owner)?;
    host.catalog().increment_command_counter()?;
    let name = row.typname.to_string();
    let array_name = array_type_name(host, &name, schema)?;
    let array_row = array_type_row(array, &array_name, &row);
    let mut cat = host.catalog();
    cat.insert(&array_row)?;
    cat.record_dependency(ObjectAddress::of::<PgType>(array), this, DepType::Internal)?;
    cat.increment_command_counter()
}

/// Whether the name can be that of a shell type: no array, no modifiers, no `%TYPE`.
pub fn is_plain(name: &ast::TypeName) -> bool {
    !name.pct_type && name.array_bounds.is_empty() && name.typmods.is_empty()
}

/// The shell type with this name; `None` if the name denotes no type, or a defined one.
pub fn shell_type(host: &mut dyn CommandHost, name: &ast::TypeName) -> Result<Option<Oid>> {
    let (schema, last) = match name.names.as_slice() {
        _ if !is_plain(name) => return Ok(None),
        [.., schema, last] => (Some(&**schema), &**last),
        [last] => (None, &**last),
        [] => return Ok(None),
    };
    if let Some(schema) = schema
        && host.catalog().find_namespace(schema)?.is_none()
    {
        return Ok(None);
    }
    let Some(oid) = host.catalog().find_type_by_name(schema, last)? else { return Ok(None) };
    let row = host.catalog().type_row(oid)?;
    Ok((!row.typisdefined).then_some(oid))
}
