//! CREATE and ALTER TEXT SEARCH DICTIONARY, CONFIGURATION, PARSER and TEMPLATE. Counterpart:
//! tsearchcmds.c.

use crate::routine::lookup::find;
use crate::typerow::new_name;
use catalog::format_type::quote_identifier;
use catalog::rows::{
    Name, PgNamespace, PgProc, PgTsConfig, PgTsConfigMap, PgTsDict, PgTsParser, PgTsTemplate, Text,
    indexes,
};
use catalog::{ObjectAddress, Row, cache};
use dictionaries::{construct, options_of, template_of};
use ids::Oid;
use ids::code::DepType;
use parse::ast::{
    AlterTsConfigurationStmt, AlterTsDictionaryStmt, DefElem, DefineStmt, Name as AstName, Node,
    ObjectType, ObjectWithArgs, TypeName,
};
use pgerror::{PgError, Result, Severity, SqlState, bail};
use types::oids;
use types::textsearch::dict::{Options, Setting, options as option_list};
use utility::host::CommandHost;
use utility::{names, options};

/// Whether CREATE of such objects is in this module.
pub fn is_defined(kind: ObjectType) -> bool {
    matches!(
        kind,
        ObjectType::Tsdictionary
            | ObjectType::Tsconfiguration
            | ObjectType::Tsparser
            | ObjectType::Tstemplate
    )
}

/// CREATE TEXT SEARCH ….
pub fn create(host: &mut dyn CommandHost, stmt: &DefineStmt) -> Result<()> {
    match stmt.kind {
        ObjectType::Tsdictionary => create_dictionary(host, stmt),
        ObjectType::Tsconfiguration => create_configuration(host, stmt),
        ObjectType::Tsparser => create_parser(host, stmt),
        _ => create_template(host, stmt),
    }
}

/// The parts of a qualified name. Counterpart: `defGetQualifiedName`.
fn qualified(d: &DefElem) -> Result<Vec<AstName>> {
    match &d.arg {
        Some(Node::TypeName(t)) => Ok(t.names.clone()),
        Some(Node::String(s)) => Ok(vec![s.clone()]),
        Some(Node::List(list)) => Ok(parts(list)),
        None => bail!(SYNTAX_ERROR, "{} requires a parameter", d.defname),
        Some(_) => bail!(SYNTAX_ERROR, "argument of {} must be a name", d.defname),
    }
}

fn parts(list: &[Node]) -> Vec<AstName> {
    list.iter().filter_map(Node::as_str).map(AstName::from).collect()
}

/// A class of text search objects.
#[derive(Clone, Copy)]
enum Class {
    Dictionary,
    Configuration,
    Parser,
    Template,
}

impl Class {
    fn noun(self) -> &'static str {
        match self {
            Class::Dictionary => "text search dictionary",
            Class::Configuration => "text search configuration",
            Class::Parser => "text search parser",
            Class::Template => "text search template",
        }
    }

    /// The object with this name; 42704 if there is none.
    fn find(self, host: &mut dyn CommandHost, name: &[AstName]) -> Result<Oid> {
        let list: Vec<&str> = name.iter().map(|p| &**p).collect();
        let rv = names::range_var_of(&list)?;
        names::check_database(host, &rv)?;
        let (schema, plain) = (rv.schemaname.as_deref(), &*rv.relname);
        let mut cat = host.catalog();
        let found = match self {
            Class::Dictionary => cat.find_ts_dict(schema, plain),
            Class::Configuration => cat.find_ts_config(schema, plain),
            Class::Parser => cat.find_ts_parser(schema, plain),
            Class::Template => cat.find_ts_template(schema, plain),
        }?;
        match found {
            Some(oid) => Ok(oid),
            None => {
                bail!(UNDEFINED_OBJECT, "{} \"{}\" does not exist", self.noun(), list.join("."))
            }
        }
    }

    /// 42501 unless the user owns the object.
    fn must_own(self, host: &mut dyn CommandHost, owner: Oid, name: &[AstName]) -> Result<()> {
        if names::is_owner(host, owner)? {
            return Ok(());
        }
        let list: Vec<&str> = name.iter().map(|p| &**p).collect();
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of {} {}", self.noun(), list.join("."))
    }
}

fn must_be_superuser(host: &mut dyn CommandHost, action: &str) -> Result<()> {
    match names::is_superuser(host)? {
        true => Ok(()),
        false => bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to {action}"),
    }
}

fn incomplete(message: &str) -> PgError {
    PgError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

/// Records what a new object depends on.
fn record(
    host: &mut dyn CommandHost,
    this: ObjectAddress,
    schema: Oid,
    others: &[ObjectAddress],
) -> Result<()> {
    let mut cat = host.catalog();
    cat.record_dependency(this, ObjectAddress::of::<PgNamespace>(schema), DepType::Normal)?;
    let mut seen: Vec<ObjectAddress> = Vec::new();
    for other in others {
        if !seen.contains(other) {
            cat.record_dependency(this, *other, DepType::Normal)?;
            seen.push(*other);
        }
    }
    Ok(())
}

// Dictionaries

fn setting(d: &DefElem) -> Result<Setting> {
    let text = options::text(d)?;
    Ok(match &d.arg {
        Some(Node::Integer(_) | Node::Float(_)) => Setting::Number(text),
        _ => Setting::Text(text),
    })
}

/// An error if the template does not accept the options.
fn check_options(host: &mut dyn CommandHost, template: Oid, options: &Options) -> Result<()> {
    let name = format!("text search template {template}");
    let keys = [template.into()];
    let row: Row<PgTsTemplate> = host.catalog().get(cache::TSTEMPLATEOID, &keys, name)?;
    if !row.tmplinit.is_valid() {
        if options.is_empty() {
            return Ok(());
        }
        let name = row.tmplname;
        bail!(SYNTAX_ERROR, "text search template \"{}\" does not accept options", name.as_str());
    }
    let template = template_of(host, template)?;
    let disk = host.backend().storage().env.disk.clone();
    construct(host, disk, template, options).map(|_| ())
}

fn written(options: &Options) -> Option<Text> {
    (!options.is_empty()).then(|| Text::from(option_list::write(options, quote_identifier)))
}

fn create_dictionary(host: &mut dyn CommandHost, stmt: &DefineStmt) -> Result<()> {
    let (schema, name) = new_name(host, &stmt.defnames)?;
    let mut template = None;
    let mut options = Options::new();
    for d in &stmt.definition {
        match &*d.defname {
            "template" => template = Some(Class::Template.find(host, &qualified(d)?)?),
            name => options.push((name.to_owned(), setting(d)?)),
        }
    }
    let template = template.ok_or_else(|| incomplete("text search template is required"))?;
    check_options(host, template, &options)?;
    let owner = names::user(host);
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_TS_DICT_OID_INDEX)?;
    cat.insert(&PgTsDict {
        oid,
        dictname: Name::new(&name),
        dictnamespace: schema,
        dictowner: owner,
        dicttemplate: template,
        dictinitoption: written(&options),
    })?;
    let this = ObjectAddress::of::<PgTsDict>(oid);
    cat.record_owner(this, owner)?;
    record(host, this, schema, &[ObjectAddress::of::<PgTsTemplate>(template)])?;
    host.catalog().increment_command_counter()
}

/// ALTER TEXT SEARCH DICTIONARY.
pub fn alter_dictionary(host: &mut dyn CommandHost, stmt: &AlterTsDictionaryStmt) -> Result<()> {
    let oid = Class::Dictionary.find(host, &stmt.dictname)?;
    let what = format!("text search dictionary {oid}");
    let row: Row<PgTsDict> = host.catalog().get(cache::TSDICTOID, &[oid.into()], what)?;
    Class::Dictionary.must_own(host, row.dictowner, &stmt.dictname)?;
    let mut options = options_of(&row)?;
    for d in &stmt.options {
        options.retain(|(name, _)| *name != *d.defname);
        if d.arg.is_some() {
            options.push((d.defname.to_string(), setting(d)?));
        }
    }
    check_options(host, row.dicttemplate, &options)?;
    let mut cat = host.catalog();
    let changed = PgTsDict { dictinitoption: written(&options), ..row.row.clone() };
    cat.update(&row, &changed)?;
    cat.increment_command_counter()
}

// Configurations

fn mappings(host: &mut dyn CommandHost, configuration: Oid) -> Result<Vec<Row<PgTsConfigMap>>> {
    host.catalog().scan(indexes::PG_TS_CONFIG_MAP_INDEX, &[configuration.into()])
}

/// Records what a configuration depends on.
fn record_configuration(host: &mut dyn CommandHost, row: &PgTsConfig, replace: bool) -> Result<()> {
    let this = ObjectAddress::of::<PgTsConfig>(row.oid);
    if replace {
        host.catalog().delete_dependencies(this, true)?;
        host.catalog().delete_shared_dependencies(this)?;
    }
    host.catalog().record_owner(this, row.cfgowner)?;
    host.catalog().increment_command_counter()?;
    let mut others = vec![ObjectAddress::of::<PgTsParser>(row.cfgparser)];
    let maps = mappings(host, row.oid)?;
    others.extend(maps.iter().map(|m| ObjectAddress::of::<PgTsDict>(m.mapdict)));
    record(host, this, row.cfgnamespace, &others)?;
    host.catalog().increment_command_counter()
}

fn create_configuration(host: &mut dyn CommandHost, stmt: &DefineStmt) -> Result<()> {
    let (schema, name) = new_name(host, &stmt.defnames)?;
    let (mut parser, mut source) = (None, None);
    for d in &stmt.definition {
        match &*d.defname {
            "parser" => parser = Some(Class::Parser.find(host, &qualified(d)?)?),
            "copy" => source = Some(Class::Configuration.find(host, &qualified(d)?)?),
            other => bail!(
                SYNTAX_ERROR,
                "text search configuration parameter \"{other}\" not recognized"
            ),
        }
    }
    if parser.is_some() && source.is_some() {
        bail!(SYNTAX_ERROR, "cannot specify both PARSER and COPY options");
    }
    if let Some(source) = source {
        let what = format!("text search configuration {source}");
        let keys = [source.into()];
        let row: Row<PgTsConfig> = host.catalog().get(cache::TSCONFIGOID, &keys, what)?;
        parser = Some(row.cfgparser);
    }
    let parser = parser.ok_or_else(|| incomplete("text search parser is required"))?;
    let owner = names::user(host);
    let oid = host.catalog().new_oid(indexes::PG_TS_CONFIG_OID_INDEX)?;
    let row = PgTsConfig {
        oid,
        cfgname: Name::new(&name),
        cfgnamespace: schema,
        cfgowner: owner,
        cfgparser: parser,
    };
    host.catalog().insert(&row)?;
    if let Some(source) = source {
        for map in mappings(host, source)? {
            host.catalog().insert(&PgTsConfigMap { mapcfg: oid, ..map.row.clone() })?;
        }
    }
    record_configuration(host, &row, false)
}

/// The numbers of token types, without repetitions; 22023 if there is no such type.
fn token_types(list: &[AstName]) -> Result<Vec<(i32, &AstName)>> {
    let mut out: Vec<(i32, &AstName)> = Vec::new();
    for name in list {
        let found = catalog::facts::search_tokens().find(|(_, alias, _)| *alias == &**name);
        let Some((number, ..)) = found else {
            bail!(INVALID_PARAMETER_VALUE, "token type \"{name}\" does not exist");
        };
        if !out.iter().any(|(n, _)| *n == number) {
            out.push((number, name));
        }
    }
    Ok(out)
}

/// ALTER TEXT SEARCH CONFIGURATION … MAPPING.
pub fn alter_configuration(
    host: &mut dyn CommandHost,
    stmt: &AlterTsConfigurationStmt,
) -> Result<()> {
    let oid = Class::Configuration.find(host, &stmt.cfgname)?;
    let what = format!("text search configuration {oid}");
    let row: Row<PgTsConfig> = host.catalog().get(cache::TSCONFIGOID, &[oid.into()], what)?;
    Class::Configuration.must_own(host, row.cfgowner, &stmt.cfgname)?;
    let kinds = token_types(&stmt.tokentype)?;
    if stmt.dicts.is_empty() {
        drop_mappings(host, oid, &kinds, stmt.missing_ok)?;
    } else {
        set_mappings(host, oid, &kinds, stmt)?;
    }
    record_configuration(host, &row.row, true)
}

fn delete_mappings(host: &mut dyn CommandHost, configuration: Oid, kind: i32) -> Result<bool> {
    let mut any = false;
    for map in mappings(host, configuration)? {
        if map.maptokentype == kind {
            host.catalog().delete(&map)?;
            any = true;
        }
    }
    Ok(any)
}

fn drop_mappings(
    host: &mut dyn CommandHost,
    configuration: Oid,
    kinds: &[(i32, &AstName)],
    missing_ok: bool,
) -> Result<()> {
    for (kind, name) in kinds {
        if delete_mappings(host, configuration, *kind)? {
            continue;
        }
        let message = format!("mapping for token type \"{name}\" does not exist");
        if !missing_ok {
            bail!(UNDEFINED_OBJECT, "{message}");
        }
        let notice = PgError::new(SqlState::SUCCESSFUL_COMPLETION, message + ", skipping");
        host.notice(notice.severity(Severity::Notice));
    }
    Ok(())
}

fn set_mappings(
    host: &mut dyn CommandHost,
    configuration: Oid,
    kinds: &[(i32, &AstName)],
    stmt: &AlterTsConfigurationStmt,
) -> Result<()> {
    if stmt.replaces {
        for (kind, _) in kinds {
            delete_mappings(host, configuration, *kind)?;
        }
        host.catalog().increment_command_counter()?;
    }
    let mut dictionaries = Vec::new();
    for name in &stmt.dicts {
        let name = if let Node::List(list) = name { parts(list) } else { Vec::new() };
        dictionaries.push(Class::Dictionary.find(host, &name)?);
    }
    if stmt.replace {
        let [old, new] = dictionaries[..] else {
            return Err(PgError::internal("two dictionaries were expected"));
        };
        for map in mappings(host, configuration)? {
            let chosen = kinds.is_empty() || kinds.iter().any(|(n, _)| *n == map.maptokentype);
            if chosen && map.mapdict == old {
                let changed = PgTsConfigMap { mapdict: new, ..map.row.clone() };
                host.catalog().update(&map, &changed)?;
            }
        }
        return Ok(());
    }
    for (kind, _) in kinds {
        for (i, dictionary) in dictionaries.iter().enumerate() {
            let number = i as i32 + 1;
            host.catalog().insert(&PgTsConfigMap {
                mapcfg: configuration,
                maptokentype: *kind,
                mapseqno: number,
                mapdict: *dictionary,
            })?;
        }
    }
    Ok(())
}

// Parsers and templates

/// The function with parameters of these built-in types, and this result.
fn function(
    host: &mut dyn CommandHost,
    d: &DefElem,
    arguments: &[&str],
    result: Oid,
) -> Result<Oid> {
    let name = qualified(d)?;
    let type_name = |ty: &&str| TypeName {
        names: vec!["pg_catalog".into(), (*ty).into()],
        location: -1,
        ..TypeName::default()
    };
    let wanted = ObjectWithArgs {
        objname: name.clone(),
        objargs: arguments.iter().map(|ty| Some(type_name(ty))).collect(),
        ..ObjectWithArgs::default()
    };
    let oid = find(host, &wanted, ObjectType::Function, false)?
        .ok_or_else(|| PgError::internal("routine was not found"))?;
    let row = host.catalog().function(oid)?;
    if row.prorettype != result {
        let shown = name.iter().map(|p| &**p).collect::<Vec<_>>().join(".");
        let list = arguments.join(", ").replace("int4", "integer");
        let result = host.catalog().format_type(result)?;
        bail!(INVALID_OBJECT_DEFINITION, "function {shown}({list}) should return type {result}");
    }
    Ok(oid)
}

fn create_parser(host: &mut dyn CommandHost, stmt: &DefineStmt) -> Result<()> {
    const INTERNAL: &str = "internal";
    must_be_superuser(host, "create text search parsers")?;
    let (schema, name) = new_name(host, &stmt.defnames)?;
    // Start, gettoken, end, headline, lextypes.
    let mut functions = [Oid::INVALID; 5];
    for d in &stmt.definition {
        let (slot, arguments): (usize, &[&str]) = match &*d.defname {
            "start" => (0, &[INTERNAL, "int4"]),
            "gettoken" => (1, &[INTERNAL, INTERNAL, INTERNAL]),
            "end" => (2, &[INTERNAL]),
            "headline" => (3, &[INTERNAL, INTERNAL, "tsquery"]),
            "lextypes" => (4, &[INTERNAL]),
            other => {
                bail!(SYNTAX_ERROR, "text search parser parameter \"{other}\" not recognized")
            }
        };
        let result = if slot == 2 { oids::VOID } else { oids::INTERNAL };
        functions[slot] = function(host, d, arguments, result)?;
    }
    for (slot, what) in [(0, "start"), (1, "gettoken"), (2, "end"), (4, "lextypes")] {
        if !functions[slot].is_valid() {
            return Err(incomplete(&format!("text search parser {what} method is required")));
        }
    }
    let oid = host.catalog().new_oid(indexes::PG_TS_PARSER_OID_INDEX)?;
    host.catalog().insert(&PgTsParser {
        oid,
        prsname: Name::new(&name),
        prsnamespace: schema,
        prsstart: functions[0],
        prstoken: functions[1],
        prsend: functions[2],
        prsheadline: functions[3],
        prslextype: functions[4],
    })?;
    let others: Vec<ObjectAddress> =
        functions.iter().filter_map(|f| f.valid()).map(ObjectAddress::of::<PgProc>).collect();
    record(host, ObjectAddress::of::<PgTsParser>(oid), schema, &others)?;
    host.catalog().increment_command_counter()
}

fn create_template(host: &mut dyn CommandHost, stmt: &DefineStmt) -> Result<()> {
    const INTERNAL: &str = "internal";
    must_be_superuser(host, "create text search templates")?;
    let (schema, name) = new_name(host, &stmt.defnames)?;
    let (mut init, mut lexize) = (Oid::INVALID, Oid::INVALID);
    for d in &stmt.definition {
        match &*d.defname {
            "init" => init = function(host, d, &[INTERNAL], oids::INTERNAL)?,
            "lexize" => lexize = function(host, d, &[INTERNAL; 4], oids::INTERNAL)?,
            other => {
                bail!(SYNTAX_ERROR, "text search template parameter \"{other}\" not recognized")
            }
        }
    }
    if !lexize.is_valid() {
        return Err(incomplete("text search template lexize method is required"));
    }
    let oid = host.catalog().new_oid(indexes::PG_TS_TEMPLATE_OID_INDEX)?;
    host.catalog().insert(&PgTsTemplate {
        oid,
        tmplname: Name::new(&name),
        tmplnamespace: schema,
        tmplinit: init,
        tmpllexize: lexize,
    })?;
    let others: Vec<ObjectAddress> =
        [init, lexize].iter().filter_map(|f| f.valid()).map(ObjectAddress::of::<PgProc>).collect();
    record(host, ObjectAddress::of::<PgTsTemplate>(oid), schema, &others)?;
    host.catalog().increment_command_counter()
}
