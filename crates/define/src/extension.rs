//! CREATE EXTENSION, ALTER EXTENSION … UPDATE, ADD and DROP, for the extensions that are linked in.
//!
//! The statements of an extension's script run like any others. Meanwhile every new object becomes
//! a member of the extension (`catalog::extension`). A version without a script of its own is made
//! of another one by update scripts.
//!
//! Counterpart: extension.c.

use crate::object::address;
use catalog::acl;
use catalog::object::ObjectClass;
use catalog::rows::{CatalogRow, Name, PgClass, PgExtension, PgNamespace, Text, indexes};
use catalog::{ObjectAddress, Row};
use contrib::control::{self, Extension, Update, available, check_name};
use ids::Oid;
use ids::builtin::role;
use ids::code::DepType;
use parse::ast::{
    AlterExtensionContentsStmt, AlterExtensionStmt, CreateExtensionStmt, DefElem, Node, ObjectType,
};
use pgerror::{PgError, Result, bail, pg_err};
use utility::host::{CommandHost, notice};
use utility::{names, options};

/// Runs one statement of a script; the text is that to which positions in the tree refer.
pub type Runner<'a> = dyn FnMut(&mut dyn CommandHost, &Node, &str) -> Result<()> + 'a;

/// 42704 for a language that does not exist.
pub fn no_language(name: &str) -> PgError {
    let e = pg_err!(UNDEFINED_OBJECT, "language \"{name}\" does not exist");
    match control::find(name) {
        Some(_) => e.hint("Use CREATE EXTENSION to load the language into the database."),
        None => e,
    }
}

/// The options of CREATE EXTENSION.
#[derive(Default)]
struct Options {
    schema: Option<String>,
    version: Option<String>,
    cascade: bool,
}

impl Options {
    fn read(defs: &[DefElem], sql: &str) -> Result<Options> {
        let mut o = Options::default();
        for (i, d) in defs.iter().enumerate() {
            if defs[..i].iter().any(|other| other.defname == d.defname) {
                return Err(pg_err!(SYNTAX_ERROR, "conflicting or redundant options")
                    .at(parse::position(sql, d.location)));
            }
            match &*d.defname {
                "schema" => o.schema = Some(options::text(d)?),
                "new_version" => o.version = Some(options::text(d)?),
                "cascade" => o.cascade = options::boolean(d)?,
                other => return Err(PgError::internal(format!("unrecognized option: {other}"))),
            }
        }
        Ok(o)
    }
}

/// CREATE EXTENSION.
pub fn create(
    host: &mut dyn CommandHost,
    stmt: &CreateExtensionStmt,
    sql: &str,
    run: &mut Runner<'_>,
) -> Result<()> {
    let name = &*stmt.extname;
    check_name(name)?;
    if host.catalog().find_extension(name)?.is_some() {
        if stmt.if_not_exists {
            host.notice(notice(pg_err!(
                DUPLICATE_OBJECT,
                "extension \"{name}\" already exists, skipping"
            )));
            return Ok(());
        }
        bail!(DUPLICATE_OBJECT, "extension \"{name}\" already exists");
    }
    if host.catalog().session.creating_extension.is_some() {
        bail!(FEATURE_NOT_SUPPORTED, "nested CREATE EXTENSION is not supported");
    }
    let options = Options::read(&stmt.options, sql)?;
    Creation { options, parents: Vec::new() }.create(host, name, run).map(|_| ())
}

/// The creation of an extension and of those that it needs.
struct Creation {
    options: Options,
    /// The extensions that need the present one.
    parents: Vec<&'static str>,
}

impl Creation {
    fn create(
        &mut self,
        host: &mut dyn CommandHost,
        name: &str,
        run: &mut Runner<'_>,
    ) -> Result<Oid> {
        let known = available(name)?;
        let version = self.options.version.take().filter(|_| self.parents.is_empty());
        let version = version.as_deref().unwrap_or(known.version);
        let Some((base, first, updates)) = known.installation(version) else {
            bail!(
                INVALID_PARAMETER_VALUE,
                "extension \"{name}\" has no installation script nor update path for version \
                 \"{version}\""
            );
        };
        let (schema, schema_name) = self.schema(host, known)?;
        let mut required = Vec::new();
        for other in known.requires {
            required.push(self.required(host, known, other, run)?);
        }
        let owner = names::user(host);
        let this = insert(host, known, base, (owner, schema), &required)?;
        let mut path = vec![schema];
        for oid in &required {
            let row = host.catalog().scan(indexes::PG_EXTENSION_OID_INDEX, &[(*oid).into()])?.pop();
            path.extend(row.map(|row| row.extnamespace));
        }
        path.dedup();
        let script = Script { known, extension: this, schema: &schema_name, path, owner };
        script.run(host, first, run)?;
        script.update(host, &updates, run)?;
        Ok(this)
    }

    /// The schema for the objects, which is created if the extension has a schema of its own.
    fn schema(&self, host: &mut dyn CommandHost, known: &Extension) -> Result<(Oid, String)> {
        let given = self.options.schema.as_deref();
        if let Some(schema) = given {
            host.catalog().namespace(schema)?;
        }
        if let Some(fixed) = known.schema {
            if given.is_some_and(|given| given != fixed) && self.parents.is_empty() {
                bail!(
                    FEATURE_NOT_SUPPORTED,
                    "extension \"{}\" must be installed in schema \"{fixed}\"",
                    known.name
                );
            }
            return Ok((host.catalog().namespace(fixed)?, fixed.to_owned()));
        }
        if let Some(schema) = given {
            return Ok((host.catalog().namespace(schema)?, schema.to_owned()));
        }
        let oid = host.catalog().search_path()?.creation;
        let Some(name) = host.catalog().namespace_name(oid)? else {
            bail!(UNDEFINED_SCHEMA, "no schema has been selected to create in")
        };
        Ok((oid, name.to_string()))
    }

    /// An extension that another one needs; it is created with CASCADE.
    fn required(
        &mut self,
        host: &mut dyn CommandHost,
        known: &'static Extension,
        name: &str,
        run: &mut Runner<'_>,
    ) -> Result<Oid> {
        if let Some(row) = host.catalog().find_extension(name)? {
            return Ok(row.oid);
        }
        if !self.options.cascade {
            return Err(pg_err!(
                UNDEFINED_OBJECT,
                "required extension \"{name}\" is not installed"
            )
            .hint("Use CREATE EXTENSION ... CASCADE to install required extensions too."));
        }
        if self.parents.contains(&known.name) {
            bail!(
                INVALID_RECURSION,
                "cyclic dependency detected between extensions \"{name}\" and \"{}\"",
                known.name
            );
        }
        host.notice(notice(pg_err!(
            SUCCESSFUL_COMPLETION,
            "installing required extension \"{name}\""
        )));
        self.parents.push(known.name);
        let made = self.create(host, name, run);
        self.parents.pop();
        made
    }
}

/// Inserts the row of the extension, with its dependencies and comment. Counterpart:
/// `InsertExtensionTuple`.
fn insert(
    host: &mut dyn CommandHost,
    known: &Extension,
    version: &str,
    (owner, schema): (Oid, Oid),
    required: &[Oid],
) -> Result<Oid> {
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_EXTENSION_OID_INDEX)?;
    cat.insert(&PgExtension {
        oid,
        extname: Name::new(known.name),
        extowner: owner,
        extnamespace: schema,
        extrelocatable: known.relocatable,
        extversion: Text::from(version),
        extconfig: None,
        extcondition: None,
    })?;
    let this = ObjectAddress::of::<PgExtension>(oid);
    cat.record_owner(this, owner)?;
    let mut objects = vec![ObjectAddress::of::<PgNamespace>(schema)];
    objects.extend(required.iter().map(|oid| ObjectAddress::of::<PgExtension>(*oid)));
    cat.record_dependencies(this, &objects, DepType::Normal)?;
    cat.increment_command_counter()?;
    cat.set_comment(this, Some(known.comment))?;
    cat.increment_command_counter()?;
    Ok(oid)
}

/// 42501 if the user may not create or update the extension. True if its script is to run as the
/// bootstrap superuser.
fn needs_superuser(host: &mut dyn CommandHost, known: &Extension) -> Result<bool> {
    if names::is_superuser(host)? {
        return Ok(false);
    }
    let (user, database) = (names::user(host), host.backend().database());
    if let Some(row) = host.catalog().database(database)?.filter(|_| known.trusted) {
        let (kind, list) = (acl::Kind::Database, row.datacl.as_deref());
        if host.catalog().has_privilege(user, row.datdba, list, kind, acl::CREATE)? {
            return Ok(true);
        }
    }
    let name = known.name;
    let hint = match known.trusted {
        true => "Must have CREATE privilege on current database to create this extension.",
        false => "Must be superuser to create this extension.",
    };
    Err(pg_err!(INSUFFICIENT_PRIVILEGE, "permission denied to create extension \"{name}\"")
        .hint(hint))
}

/// The execution of a script.
struct Script<'a> {
    known: &'static Extension,
    extension: Oid,
    /// The schema of the objects.
    schema: &'a str,
    /// The schemas that are searched: that of the objects, and those of required extensions.
    path: Vec<Oid>,
    owner: Oid,
}

impl Script<'_> {
    /// Runs the scripts of updates; each makes its version the extension's.
    fn update(
        &self,
        host: &mut dyn CommandHost,
        updates: &[&Update],
        run: &mut Runner<'_>,
    ) -> Result<()> {
        for update in updates {
            let mut cat = host.catalog();
            let keys = [self.extension.into()];
            let row = cat.scan(indexes::PG_EXTENSION_OID_INDEX, &keys)?.pop();
            let row = row.ok_or_else(|| PgError::internal("extension without a row"))?;
            let extversion = Text::from(update.to);
            cat.update(&row, &PgExtension { extversion, ..row.row.clone() })?;
            cat.increment_command_counter()?;
            drop(cat);
            self.run(host, update.script, run)?;
        }
        Ok(())
    }

    fn run(&self, host: &mut dyn CommandHost, script: &str, run: &mut Runner<'_>) -> Result<()> {
        let as_superuser = needs_superuser(host, self.known)?;
        let mut schemas = Vec::new();
        for schema in &self.path {
            let name = host.catalog().namespace_name(*schema)?.unwrap_or_default();
            schemas.push(quoted(name.as_str()));
        }
        schemas.push("pg_temp".to_owned());
        let text = self.text(host, script)?;
        let statements = parse::parse(&text)?;
        let before = host.catalog().session.search_path().to_owned();
        host.catalog().session.set_search_path(&schemas.join(", "));
        if as_superuser {
            host.catalog().session.set_user(role::BOOTSTRAP_SUPERUSER);
        }
        host.catalog().session.creating_extension = Some(self.extension);
        let made = statements.iter().try_for_each(|raw| run(host, &raw.stmt, &text));
        let cat = host.catalog();
        cat.session.creating_extension = None;
        if as_superuser {
            cat.session.set_user(self.owner);
        }
        cat.session.set_search_path(&before);
        made
    }

    /// The script with the names of the library, the schema and the owner.
    fn text(&self, host: &mut dyn CommandHost, script: &str) -> Result<String> {
        let owner = host.catalog().role_name(self.owner)?;
        Ok(script
            .replace("MODULE_PATHNAME", self.known.library)
            .replace("@extschema@", &quoted(self.schema))
            .replace("@extowner@", &quoted(&owner)))
    }
}

/// An identifier in quotes.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The extension with this name, which the user must own.
fn owned(host: &mut dyn CommandHost, name: &str) -> Result<Row<PgExtension>> {
    let Some(row) = host.catalog().find_extension(name)? else {
        bail!(UNDEFINED_OBJECT, "extension \"{name}\" does not exist")
    };
    if !names::is_owner(host, row.extowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of extension {name}");
    }
    Ok(row)
}

/// ALTER EXTENSION … UPDATE.
pub fn update(
    host: &mut dyn CommandHost,
    stmt: &AlterExtensionStmt,
    run: &mut Runner<'_>,
) -> Result<()> {
    let name = &*stmt.extname;
    if host.catalog().session.creating_extension.is_some() {
        bail!(FEATURE_NOT_SUPPORTED, "nested ALTER EXTENSION is not supported");
    }
    let row = owned(host, name)?;
    let known = available(name)?;
    let given = stmt.options.iter().find(|d| &*d.defname == "new_version");
    let target = match given {
        Some(d) => options::text(d)?,
        None => known.version.to_owned(),
    };
    let present = row.extversion.as_str();
    if target == present {
        host.notice(notice(pg_err!(
            SUCCESSFUL_COMPLETION,
            "version \"{target}\" of extension \"{name}\" is already installed"
        )));
        return Ok(());
    }
    let Some(updates) = known.path(present, &target) else {
        bail!(
            INVALID_PARAMETER_VALUE,
            "extension \"{name}\" has no update path from version \"{present}\" to version \
             \"{target}\""
        )
    };
    let schema = host.catalog().namespace_name(row.extnamespace)?.unwrap_or_default();
    let script = Script {
        known,
        extension: row.oid,
        schema: schema.as_str(),
        path: vec![row.extnamespace],
        owner: names::user(host),
    };
    script.update(host, &updates, run)
}

/// ALTER EXTENSION … ADD and DROP.
pub fn change_contents(
    host: &mut dyn CommandHost,
    stmt: &AlterExtensionContentsStmt,
) -> Result<()> {
    let name = stmt.extname.as_deref().unwrap_or_default();
    let Some(node) = &stmt.object else {
        return Err(PgError::internal("statement without an object"));
    };
    let extension = owned(host, name)?;
    let forbidden = matches!(
        stmt.objtype,
        ObjectType::Database
            | ObjectType::Extension
            | ObjectType::Index
            | ObjectType::Publication
            | ObjectType::Role
            | ObjectType::StatisticExt
            | ObjectType::Subscription
            | ObjectType::Tablespace
    );
    if forbidden {
        bail!(INVALID_OBJECT_DEFINITION, "cannot add an object of this type to an extension");
    }
    let found = address::resolve(host, stmt.objtype, node, false)?;
    let object = found.ok_or_else(|| PgError::internal("object was not found"))?;
    if let Some(class) = ObjectClass::of(object.class) {
        let row = host.catalog().object_row(class, object.object)?;
        let shown = row.name().map(|n| n.to_string()).unwrap_or_default();
        address::must_own_row(host, &row, &shown)?;
    }
    let mut cat = host.catalog();
    let described = cat.describe_object(object)?;
    let member = cat.dependencies_of(object)?;
    let member = member.into_iter().find(|d| d.deptype == DepType::Extension);
    let this = ObjectAddress::of::<PgExtension>(extension.oid);
    if stmt.action > 0 {
        if let Some(of) = member {
            let of = cat.object_row(class_of_extensions()?, of.refobjid)?.name()?;
            bail!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "{described} is already a member of extension \"{of}\""
            );
        }
        if object == ObjectAddress::of::<PgNamespace>(extension.extnamespace) {
            bail!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot add schema \"{}\" to extension \"{name}\" because the schema contains the \
                 extension",
                cat.namespace_name(extension.extnamespace)?.unwrap_or_default()
            );
        }
        cat.record_dependency(object, this, DepType::Extension)?;
        cat.increment_command_counter()?;
        return initial_privileges(host, object, true);
    }
    match member.filter(|d| d.refobjid == extension.oid) {
        Some(row) => cat.delete(&row)?,
        None => bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "{described} is not a member of extension \"{name}\""
        ),
    }
    cat.increment_command_counter()?;
    if object.class == PgClass::RELATION {
        remove_config(host, &extension, object.object)?;
    }
    initial_privileges(host, object, false)
}

/// Records the privileges of an object that becomes a member of an extension as initial ones, or
/// removes the record. Counterpart: `recordExtObjInitPriv`, `removeExtObjInitPriv`.
fn initial_privileges(
    host: &mut dyn CommandHost,
    object: ObjectAddress,
    member: bool,
) -> Result<()> {
    let mut cat = host.catalog();
    let Some(class) = ObjectClass::of(object.class) else { return Ok(()) };
    let row = cat.object_row(class, object.object)?;
    let Some((acl, _)) = row.acl()? else { return Ok(()) };
    if object.class == PgClass::RELATION {
        let index = indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX;
        for column in cat.scan(index, &[object.object.into()])? {
            let whole = column.attisdropped || column.attnum < 1;
            let acl = column.attacl.as_deref().filter(|_| member);
            if !whole && (acl.is_some() || !member) {
                let sub = i32::from(column.attnum);
                cat.set_initial_privileges(ObjectAddress { sub, ..object }, acl)?;
            }
        }
    }
    let acl = acl.as_deref().filter(|_| member);
    if acl.is_some() || !member {
        cat.set_initial_privileges(object, acl)?;
    }
    cat.increment_command_counter()
}

/// Removes a table that leaves the extension from `pg_extension.extconfig`, the list of the
/// extension's tables whose rows pg_dump writes.
/// Counterpart: `extension_config_remove`.
fn remove_config(
    host: &mut dyn CommandHost,
    extension: &Row<PgExtension>,
    table: Oid,
) -> Result<()> {
    let mut tables = extension.extconfig.clone().unwrap_or_default();
    let Some(at) = tables.iter().position(|t| *t == table) else { return Ok(()) };
    let mut conditions = extension.extcondition.clone().unwrap_or_default();
    tables.remove(at);
    if at < conditions.len() {
        conditions.remove(at);
    }
    let any = !tables.is_empty();
    let mut cat = host.catalog();
    let new = PgExtension {
        extconfig: any.then_some(tables),
        extcondition: any.then_some(conditions),
        ..extension.row.clone()
    };
    cat.update(extension, &new)?;
    cat.increment_command_counter()
}

fn class_of_extensions() -> Result<&'static ObjectClass> {
    let class = ObjectClass::of(PgExtension::RELATION);
    class.ok_or_else(|| PgError::internal("no class of extensions"))
}
