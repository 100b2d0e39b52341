//! Creation of relations: files, `pg_class`, `pg_attribute`, the row type and its array type.
//!
//! Counterpart: heap.c (`heap_create_with_catalog`), pg_type.c.

use catalog::ObjectAddress;
use catalog::lookup::{BTREE_AM, HEAP_AM};
use catalog::rows::{
    Name, PgAm, PgAttribute, PgClass, PgCollation, PgNamespace, PgType, Text, indexes,
};
use define::{default_acl, typerow};
use engine::StatsKind;
use engine::storage::create_relation_files;
use ids::builtin::proc;
use ids::code::{
    Align, ColumnGenerated, ColumnIdentity, ColumnStorage, DepType, ReplicaIdentity, TypCategory,
    TypType,
};
use ids::{AttrNo, Oid, Persistence, RelKind, Xid};
use lmgr::{LockMode, LockTag};
use parse::ast::ObjectType;
use pgerror::{Result, bail, pg_err};
use types::oids;
use utility::class;
use utility::host::CommandHost;

/// Maximum number of columns of a table. Counterpart: `MaxHeapAttributeNumber`.
pub const COLUMNS_MAX: usize = 1600;

/// A column of a new relation.
#[derive(Clone, Debug)]
pub struct NewColumn {
    pub name: String,
    pub ty: Oid,
    pub typmod: i32,
    pub collation: Oid,
    pub ndims: i32,
    pub not_null: bool,
    pub identity: ColumnIdentity,
    pub generated: ColumnGenerated,
    /// `attstorage`, if it differs from the type's default.
    pub storage: Option<ColumnStorage>,
    pub compression: u8,
    /// It is defined in the statement, and not only inherited.
    pub is_local: bool,
    /// The number of parents that have it.
    pub inhcount: i32,
}

impl NewColumn {
    pub fn new(name: impl Into<String>, ty: Oid, typmod: i32, collation: Oid) -> NewColumn {
        NewColumn {
            name: name.into(),
            ty,
            typmod,
            collation,
            ndims: 0,
            not_null: false,
            identity: ColumnIdentity::No,
            generated: ColumnGenerated::No,
            storage: None,
            compression: 0,
            is_local: true,
            inhcount: 0,
        }
    }
}

/// The definition of a new relation.
pub struct NewRelation<'a> {
    pub name: &'a str,
    pub namespace: Oid,
    pub kind: RelKind,
    pub persistence: Persistence,
    pub owner: Oid,
    /// 0 for the database's default tablespace.
    pub tablespace: Oid,
    /// The access method of a table; 0 for heap, and for relations of other kinds.
    pub access_method: Oid,
    pub columns: &'a [NewColumn],
    pub options: Option<Vec<Text>>,
}

/// Error 42P22 for a query column of a collatable type whose expression has conflicting collations.
/// `message` formats the error from the column name and type.
pub fn check_collations(
    host: &mut dyn CommandHost,
    columns: &[NewColumn],
    message: impl Fn(&str, &str) -> String,
) -> Result<()> {
    for c in columns.iter().filter(|c| !c.collation.is_valid()) {
        if host.catalog().type_row(c.ty)?.typcollation.is_valid() {
            let ty = host.catalog().format_type(c.ty)?;
            return Err(pg_err!(INDETERMINATE_COLLATION, "{}", message(&c.name, &ty))
                .hint("Use the COLLATE clause to set the collation explicitly."));
        }
    }
    Ok(())
}

/// Refuses types that a column cannot have. Counterpart: `CheckAttributeType`.
pub fn check_column_type(
    host: &mut dyn CommandHost,
    column: &NewColumn,
    kind: RelKind,
    row_type: Oid,
) -> Result<()> {
    utility::names::check_type_privilege(host, column.ty)?;
    let mut within: Vec<Oid> = row_type.valid().into_iter().collect();
    check_containment(host, column.ty, &mut within)?;
    check_storable(host, &column.name, column.ty)?;
    let row = host.catalog().type_row(column.ty)?;
    if !column.collation.is_valid() && row.typcollation.is_valid() && kind != RelKind::View {
        let shown = host.catalog().format_type(column.ty)?;
        return Err(pg_err!(
            INVALID_TABLE_DEFINITION,
            "no collation was derived for column \"{}\" with collatable type {shown}",
            column.name
        )
        .hint("Use the COLLATE clause to set the collation explicitly."));
    }
    Ok(())
}

/// Error 42P16 for pseudo-types, including anonymous records, whose values have no meaning in other
/// sessions.
pub fn check_storable(host: &mut dyn CommandHost, column: &str, ty: Oid) -> Result<()> {
    if host.catalog().type_row(ty)?.typtype == TypType::Pseudo {
        let shown = host.catalog().format_type(ty)?;
        bail!(INVALID_TABLE_DEFINITION, "column \"{column}\" has pseudo-type {shown}");
    }
    Ok(())
}

/// Error 42P16 if a row type contains itself. `within` are the enclosing row types. Counterpart:
/// the recursion of `CheckAttributeType`.
fn check_containment(host: &mut dyn CommandHost, ty: Oid, within: &mut Vec<Oid>) -> Result<()> {
    let row = host.catalog().type_row(ty)?;
    match row.typtype {
        TypType::Domain => return check_containment(host, row.typbasetype, within),
        TypType::Composite if within.contains(&ty) => {
            let shown = host.catalog().format_type(ty)?;
            bail!(
                INVALID_TABLE_DEFINITION,
                "composite type {shown} cannot be made a member of itself"
            );
        }
        TypType::Composite => {
            let desc = host.catalog().relation(row.typrelid)?;
            within.push(ty);
            for a in desc.attributes.iter().filter(|a| !a.attisdropped) {
                check_containment(host, a.atttypid, within)?;
            }
            within.pop();
        }
        TypType::Range | TypType::Multirange => {
            let mut cat = host.catalog();
            let range = match row.typtype {
                TypType::Range => cat.range(ty)?,
                _ => cat.range_of_multirange(ty)?,
            };
            if let Some(range) = range {
                return check_containment(host, range.rngsubtype, within);
            }
        }
        _ if row.typelem.is_valid() && analyze::typename::is_true_array(&row) => {
            return check_containment(host, row.typelem, within);
        }
        _ => {}
    }
    Ok(())
}

fn check_columns(host: &mut dyn CommandHost, columns: &[NewColumn], kind: RelKind) -> Result<()> {
    if columns.len() > COLUMNS_MAX {
        bail!(TOO_MANY_COLUMNS, "tables can have at most {COLUMNS_MAX} columns");
    }
    for (i, column) in columns.iter().enumerate() {
        if columns[i + 1..].iter().any(|c| c.name == column.name) {
            bail!(DUPLICATE_COLUMN, "column \"{}\" specified more than once", column.name);
        }
    }
    for column in columns {
        if kind != RelKind::View
            && kind != RelKind::CompositeType
            && SYSTEM_COLUMNS.iter().any(|s| s.0 == column.name)
        {
            bail!(
                DUPLICATE_COLUMN,
                "column name \"{}\" conflicts with a system column name",
                column.name
            );
        }
        check_column_type(host, column, kind, Oid::INVALID)?;
    }
    Ok(())
}

/// Name, attribute number and type of each system column.
pub const SYSTEM_COLUMNS: [(&str, AttrNo, Oid); 6] = [
    ("ctid", -1, oids::TID),
    ("xmin", -2, oids::XID),
    ("cmin", -3, oids::CID),
    ("xmax", -4, oids::XID),
    ("cmax", -5, oids::CID),
    ("tableoid", -6, oids::OID),
];

/// The `pg_attribute` row of a new column.
pub fn attribute_row(
    host: &mut dyn CommandHost,
    relation: Oid,
    number: AttrNo,
    column: &NewColumn,
) -> Result<PgAttribute> {
    let ty = host.catalog().type_row(column.ty)?;
    Ok(PgAttribute {
        attrelid: relation,
        attname: Name::new(&column.name),
        atttypid: column.ty,
        attstattarget: -1,
        attlen: ty.typlen,
        attnum: number,
        attndims: column.ndims,
        attcacheoff: -1,
        atttypmod: column.typmod,
        attbyval: ty.typbyval,
        attalign: ty.typalign,
        attstorage: column.storage.unwrap_or(ty.typstorage),
        attcompression: column.compression,
        attnotnull: column.not_null,
        atthasdef: false,
        atthasmissing: false,
        attidentity: column.identity,
        attgenerated: column.generated,
        attisdropped: false,
        attislocal: column.is_local,
        attinhcount: column.inhcount,
        attcollation: column.collation,
        attacl: None,
        attoptions: None,
        attfdwoptions: None,
        attmissingval: None,
    })
}

/// The row of a column that is added to `others`. It gets a version option if they have one, that
/// is, if the table was created by a server that stores it.
pub fn with_version(
    host: &mut dyn CommandHost,
    others: &[PgAttribute],
    row: PgAttribute,
) -> PgAttribute {
    if catalog::row_type_version(others.iter()) == 0 {
        return row;
    }
    let lsn = host.backend().storage().wal.inserted();
    PgAttribute {
        attoptions: Some(vec![format!("{}{}", catalog::VERSION_OPTION, lsn.0).into()]),
        ..row
    }
}

/// A `pg_class` row with the initial values of a relation of this kind.
pub fn class_row(spec: &NewRelation<'_>, oid: Oid) -> PgClass {
    let in_catalog = spec.namespace == catalog::namespace::PG_CATALOG;
    let has_file = spec.kind.has_storage();
    PgClass {
        oid,
        relname: Name::new(spec.name),
        relnamespace: spec.namespace,
        reltype: Oid::INVALID,
        reloftype: Oid::INVALID,
        relowner: spec.owner,
        relam: match spec.kind {
            RelKind::Table | RelKind::Toast | RelKind::MaterializedView => {
                spec.access_method.valid().unwrap_or(HEAP_AM)
            }
            RelKind::Index => BTREE_AM,
            _ => Oid::INVALID,
        },
        relfilenode: if has_file { oid } else { Oid::INVALID },
        reltablespace: spec.tablespace,
        relpages: if spec.kind == RelKind::Sequence { 1 } else { 0 },
        reltuples: match spec.kind {
            RelKind::Sequence => 1.0,
            RelKind::Index | RelKind::PartitionedIndex => 0.0,
            _ => -1.0,
        },
        relallvisible: 0,
        reltoastrelid: Oid::INVALID,
        relhasindex: false,
        relisshared: false,
        relpersistence: spec.persistence,
        relkind: spec.kind,
        relnatts: spec.columns.len() as i16,
        relchecks: 0,
        relhasrules: false,
        relhastriggers: false,
        relhassubclass: false,
        relrowsecurity: false,
        relforcerowsecurity: false,
        relispopulated: true,
        relreplident: match spec.kind {
            RelKind::Table | RelKind::MaterializedView | RelKind::PartitionedTable
                if !in_catalog =>
            {
                ReplicaIdentity::Default
            }
            _ => ReplicaIdentity::Nothing,
        },
        relispartition: false,
        relrewrite: Oid::INVALID,
        relfrozenxid: Xid::INVALID,
        relminmxid: Xid::INVALID,
        relacl: None,
        reloptions: spec.options.clone(),
        relpartbound: None,
    }
}

/// Error 42501 for user relations in system schemas. Counterpart: `heap_create`.
fn check_namespace(host: &mut dyn CommandHost, spec: &NewRelation<'_>) -> Result<()> {
    let schema = match spec.namespace {
        _ if matches!(spec.kind, RelKind::Index | RelKind::Toast) => return Ok(()),
        catalog::namespace::PG_CATALOG => "pg_catalog",
        catalog::namespace::PG_TOAST => "pg_toast",
        _ => return Ok(()),
    };
    if host.setting("allow_system_table_mods") == "on" {
        return Ok(());
    }
    Err(pg_err!(INSUFFICIENT_PRIVILEGE, "permission denied to create \"{schema}.{}\"", spec.name)
        .detail("System catalog modifications are currently disallowed."))
}

/// Creates a relation with everything except constraints, defaults and a TOAST table. It is locked
/// exclusively, and visible to the next command.
pub fn create(host: &mut dyn CommandHost, spec: &NewRelation<'_>) -> Result<Oid> {
    let is_part = matches!(spec.kind, RelKind::Index | RelKind::PartitionedIndex | RelKind::Toast);
    let temporary = spec.persistence == Persistence::Temporary;
    if temporary && !is_part && host.catalog().session.restricted {
        bail!(
            INSUFFICIENT_PRIVILEGE,
            "cannot create temporary table within security-restricted operation"
        );
    }
    check_columns(host, spec.columns, spec.kind)?;
    if host.catalog().relation_in(spec.namespace, spec.name)?.is_some() {
        bail!(DUPLICATE_TABLE, "relation \"{}\" already exists", spec.name);
    }
    check_namespace(host, spec)?;
    let has_type = !matches!(
        spec.kind,
        RelKind::Sequence | RelKind::Toast | RelKind::Index | RelKind::PartitionedIndex
    );
    if has_type {
        typerow::check_row_type_name(host, spec.namespace, spec.name)?;
    }
    let (oid, mut class) = new_class(host, spec)?;
    let database = host.backend().database();
    host.backend().lock(LockTag::relation(database, oid), LockMode::AccessExclusive)?;
    if spec.kind.has_table_am() {
        (class.relfrozenxid, class.relminmxid) = class::oldest_ids(host);
    }
    if class.relfilenode.is_valid() {
        let file = class::file_of(host, &class);
        create_relation_files(host.backend(), file, spec.persistence)?;
    }
    let (mut row_type, mut array_type) = (Oid::INVALID, Oid::INVALID);
    if has_type {
        array_type = host.catalog().new_oid(indexes::PG_TYPE_OID_INDEX)?;
        row_type = host.catalog().new_oid(indexes::PG_TYPE_OID_INDEX)?;
        class.reltype = row_type;
    }
    let objtype = match spec.kind {
        RelKind::Table
        | RelKind::View
        | RelKind::MaterializedView
        | RelKind::PartitionedTable
        | RelKind::ForeignTable => Some(ObjectType::Table),
        RelKind::Sequence => Some(ObjectType::Sequence),
        _ => None,
    };
    if let Some(objtype) = objtype {
        class.relacl = default_acl::of_new_object(host, objtype, spec.owner, spec.namespace)?;
    }
    host.catalog().insert(&class)?;
    if !spec.kind.has_storage() {
        host.catalog().record_tablespace(oid, spec.tablespace)?;
    }
    host.backend().count_created(StatsKind::Relation, oid, class.relisshared);
    if has_type {
        add_types(host, spec, oid, row_type, array_type)?;
    }
    add_attributes(host, spec, oid)?;
    if !matches!(spec.kind, RelKind::CompositeType | RelKind::Toast) {
        let mut cat = host.catalog();
        let this = ObjectAddress::relation(oid);
        cat.record_owner(this, spec.owner)?;
        let schema = ObjectAddress::of::<PgNamespace>(spec.namespace);
        cat.record_dependency(this, schema, DepType::Normal)?;
        if class.relam.is_valid() {
            let method = ObjectAddress::of::<PgAm>(class.relam);
            cat.record_dependency(this, method, DepType::Normal)?;
        }
        default_acl::record_acl_dependencies(host, this, class.relacl.as_deref(), spec.owner)?;
    }
    host.catalog().increment_command_counter()?;
    Ok(oid)
}

/// The `pg_type` row of a relation's row type.
pub fn row_type_row(oid: Oid, name: &str, schema: Oid, owner: Oid, relation: Oid) -> PgType {
    PgType {
        oid,
        typname: Name::new(name),
        typnamespace: schema,
        typowner: owner,
        typlen: -1,
        typbyval: false,
        typtype: TypType::Composite,
        typcategory: TypCategory::COMPOSITE,
        typispreferred: false,
        typisdefined: true,
        typdelim: b',',
        typrelid: relation,
        typsubscript: Oid::INVALID,
        typelem: Oid::INVALID,
        typarray: Oid::INVALID,
        typinput: proc::RECORD_IN,
        typoutput: proc::RECORD_OUT,
        typreceive: proc::RECORD_RECV,
        typsend: proc::RECORD_SEND,
        typmodin: Oid::INVALID,
        typmodout: Oid::INVALID,
        typanalyze: Oid::INVALID,
        typalign: Align::Double,
        typstorage: ColumnStorage::Extended,
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

fn add_types(
    host: &mut dyn CommandHost,
    spec: &NewRelation<'_>,
    relation: Oid,
    row_type: Oid,
    array_type: Oid,
) -> Result<()> {
    let array_name = typerow::array_type_name(host, spec.name, spec.namespace)?;
    // A table's row type has no ACL of its own.
    let typacl = match spec.kind {
        RelKind::CompositeType => {
            default_acl::of_new_object(host, ObjectType::Type, spec.owner, spec.namespace)?
        }
        _ => None,
    };
    let row = PgType {
        typarray: array_type,
        typacl,
        ..row_type_row(row_type, spec.name, spec.namespace, spec.owner, relation)
    };
    let array = typerow::array_type_row(array_type, &array_name, &row);
    let ty = ObjectAddress::of::<PgType>;
    let mut cat = host.catalog();
    cat.insert(&row)?;
    let class = ObjectAddress::relation(relation);
    if spec.kind == RelKind::CompositeType {
        cat.record_dependency(class, ty(row_type), DepType::Internal)?;
        let schema = ObjectAddress::of::<PgNamespace>(spec.namespace);
        cat.record_dependency(ty(row_type), schema, DepType::Normal)?;
        cat.record_owner(ty(row_type), spec.owner)?;
        drop(cat);
        default_acl::record_acl_dependencies(
            host,
            ty(row_type),
            row.typacl.as_deref(),
            spec.owner,
        )?;
        cat = host.catalog();
    } else {
        cat.record_dependency(ty(row_type), class, DepType::Internal)?;
    }
    cat.insert(&array)?;
    cat.record_dependency(ty(array_type), ty(row_type), DepType::Internal)
}

fn add_attributes(host: &mut dyn CommandHost, spec: &NewRelation<'_>, oid: Oid) -> Result<()> {
    for (i, column) in spec.columns.iter().enumerate() {
        let row = attribute_row(host, oid, i as AttrNo + 1, column)?;
        host.catalog().insert(&row)?;
        record_column_type(host, oid, &row)?;
    }
    if matches!(spec.kind, RelKind::View | RelKind::CompositeType) {
        return Ok(());
    }
    for (name, number, ty) in SYSTEM_COLUMNS {
        let column = NewColumn { not_null: true, ..NewColumn::new(name, ty, -1, Oid::INVALID) };
        let mut row = attribute_row(host, oid, number, &column)?;
        row.attstattarget = 0;
        host.catalog().insert(&row)?;
    }
    Ok(())
}

/// Records the dependencies of a column on its type and collation.
pub fn record_column_type(
    host: &mut dyn CommandHost,
    relation: Oid,
    column: &PgAttribute,
) -> Result<()> {
    let this = ObjectAddress::column(relation, column.attnum);
    let mut cat = host.catalog();
    let ty = ObjectAddress::of::<PgType>(column.atttypid);
    cat.record_dependency(this, ty, DepType::Normal)?;
    if column.attcollation.is_valid() {
        let collation = ObjectAddress::of::<PgCollation>(column.attcollation);
        cat.record_dependency(this, collation, DepType::Normal)?;
    }
    Ok(())
}

/// A `pg_class` row for a new relation, whose OID is also its file number. A number for which a
/// crash has left files is skipped.
pub(crate) fn new_class(
    host: &mut dyn CommandHost,
    spec: &NewRelation<'_>,
) -> Result<(Oid, PgClass)> {
    loop {
        let oid = host.catalog().new_oid(indexes::PG_CLASS_OID_INDEX)?;
        let class = class_row(spec, oid);
        if !class.relfilenode.is_valid() || class::is_free(host, &class, spec.persistence)? {
            return Ok((oid, class));
        }
    }
}
