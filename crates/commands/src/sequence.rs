//! CREATE and ALTER SEQUENCE, and the sequences of serial and identity columns.
//!
//! Counterpart: the command half of sequence.c.

mod parameters;

use crate::relation::{NewColumn, NewRelation};
use catalog::rows::{CatalogRow, PgClass, PgSequence};
use catalog::{ObjectAddress, cache};
use clusterwide::tablespace;
use define::creation;
use engine::sequence::{self, SequenceFile};
use ids::code::DepType;
use ids::{Oid, Persistence, RelKind};
use page::sequence::SequenceData;
use parameters::parameters;
use parse::ast::{AlterSeqStmt, CreateSeqStmt, DefElem, Node};
use pgerror::{PgError, Result, bail, pg_err};
use types::oids;
use utility::host::{CommandHost, notice};
use utility::{class, names};

/// CREATE SEQUENCE.
pub fn create_sequence(host: &mut dyn CommandHost, stmt: &CreateSeqStmt, sql: &str) -> Result<()> {
    let (schema, persistence) = creation::creation_target(host, &stmt.sequence)?;
    let name = &*stmt.sequence.relname;
    if stmt.if_not_exists && host.catalog().relation_in(schema, name)?.is_some() {
        host.notice(notice(pg_err!(
            DUPLICATE_TABLE,
            "relation \"{name}\" already exists, skipping"
        )));
        return Ok(());
    }
    let owner = names::user(host);
    let new = NewSequence { name, schema, persistence, owner, identity: stmt.for_identity };
    let oid = create(host, &new, &stmt.options, sql)?;
    let owned = stmt.options.iter().find(|d| &*d.defname == "owned_by");
    if let Some(Node::List(list)) = owned.and_then(|d| d.arg.as_ref()) {
        let parts: Vec<&str> = list.iter().filter_map(Node::as_str).collect();
        own(host, oid, &parts)?;
    }
    Ok(())
}

/// A sequence to be created.
pub struct NewSequence<'a> {
    pub name: &'a str,
    pub schema: Oid,
    pub persistence: Persistence,
    pub owner: Oid,
    /// True if it belongs to an identity column.
    pub identity: bool,
}

/// Creates a sequence. Counterpart: `DefineSequence`.
pub fn create(
    host: &mut dyn CommandHost,
    new: &NewSequence<'_>,
    defs: &[DefElem],
    sql: &str,
) -> Result<Oid> {
    let NewSequence { name, schema, persistence, owner, identity } = *new;
    let params = parameters(host, defs, None, identity, sql)?;
    let column = |name: &str, ty: Oid| NewColumn {
        not_null: true,
        ..NewColumn::new(name, ty, -1, Oid::INVALID)
    };
    let columns = [
        column("last_value", oids::INT8),
        column("log_cnt", oids::INT8),
        column("is_called", oids::BOOL),
    ];
    let spec = NewRelation {
        name,
        namespace: schema,
        kind: RelKind::Sequence,
        persistence,
        owner,
        tablespace: tablespace::of_relation(
            host,
            None,
            persistence == ids::Persistence::Temporary,
        )?,
        access_method: Oid::INVALID,
        columns: &columns,
        options: None,
    };
    let oid = crate::relation::create(host, &spec)?;
    let row = host.catalog().class(oid)?;
    let file = class::file_of(host, &row);
    let seq = SequenceFile { file, persistence, name };
    sequence::create(host.backend(), seq, params.data)?;
    let mut cat = host.catalog();
    cat.insert(&PgSequence { seqrelid: oid, ..params.row })?;
    cat.increment_command_counter()?;
    Ok(oid)
}

/// ALTER SEQUENCE with options.
pub fn alter_sequence(host: &mut dyn CommandHost, stmt: &AlterSeqStmt, sql: &str) -> Result<()> {
    let found = names::find(host, &stmt.sequence, names::mode::SHARE_ROW_EXCLUSIVE)?;
    let Some(oid) = found else {
        if stmt.missing_ok {
            let shown = &stmt.sequence.relname;
            host.notice(notice(pg_err!(
                SUCCESSFUL_COMPLETION,
                "relation \"{shown}\" does not exist, skipping"
            )));
            return Ok(());
        }
        return Err(names::missing(host, &stmt.sequence)?);
    };
    let rel = host.catalog().relation(oid)?;
    if rel.kind() != RelKind::Sequence {
        bail!(WRONG_OBJECT_TYPE, "\"{}\" is not a sequence", rel.name());
    }
    names::must_own_relation(host, &rel)?;
    change(host, oid, &stmt.options, stmt.for_identity, sql)
}

/// Applies options to a sequence; if its data row changes, it gets new files.
pub fn change(
    host: &mut dyn CommandHost,
    oid: Oid,
    defs: &[DefElem],
    identity: bool,
    sql: &str,
) -> Result<()> {
    let what = format_args!("sequence {oid}");
    let old = host.catalog().get(cache::SEQRELID, &[oid.into()], what)?;
    let class = host.catalog().class(oid)?;
    let persistence = class.relpersistence;
    let name = class.relname.to_string();
    let file = class::file_of(host, &class);
    let data = sequence::read(host.backend(), SequenceFile { file, persistence, name: &name })?;
    let params = parameters(host, defs, Some((old.row.clone(), data)), identity, sql)?;
    if params.changed {
        let file = class::new_files(host, oid)?;
        let seq = SequenceFile { file, persistence, name: &name };
        sequence::create(host.backend(), seq, params.data)?;
    }
    if let Some(parts) = &params.owned_by {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        own(host, oid, &parts)?;
    }
    let mut cat = host.catalog();
    cat.update(&old, &params.row)?;
    cat.invalidate_relation(oid, false);
    cat.increment_command_counter()
}

/// Restarts a sequence in new files. Counterpart: `ResetSequence`.
pub fn restart(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let what = format_args!("sequence {oid}");
    let row = host.catalog().get(cache::SEQRELID, &[oid.into()], what)?;
    let class = host.catalog().class(oid)?;
    let file = class::new_files(host, oid)?;
    let data = SequenceData { last_value: row.seqstart, log_count: 0, is_called: false };
    let name = class.relname.to_string();
    let seq = SequenceFile { file, persistence: class.relpersistence, name: &name };
    sequence::create(host.backend(), seq, data)
}

/// OWNED BY. Counterpart: `process_owned_by`.
fn own(host: &mut dyn CommandHost, sequence: Oid, parts: &[&str]) -> Result<()> {
    let this = ObjectAddress::relation(sequence);
    let [table @ .., column] = parts else { return Ok(()) };
    for row in host.catalog().dependencies_of(this)? {
        if row.refclassid == PgClass::RELATION
            && matches!(row.deptype, DepType::Auto | DepType::Internal)
        {
            if row.deptype == DepType::Internal {
                let sequence = host.catalog().relation(sequence)?;
                let table = host.catalog().relation(row.refobjid)?;
                return Err(pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "cannot change ownership of identity sequence"
                )
                .detail(format!(
                    "Sequence \"{}\" is linked to table \"{}\".",
                    sequence.name(),
                    table.name()
                )));
            }
            host.catalog().delete(&row)?;
        }
    }
    if table.is_empty() {
        if *column != "none" {
            return Err(pg_err!(SYNTAX_ERROR, "invalid OWNED BY option")
                .hint("Specify OWNED BY table.column or OWNED BY NONE."));
        }
        return Ok(());
    }
    let rv = names::range_var_of(table)?;
    let rel = names::open(host, &rv, names::mode::ACCESS_SHARE)?;
    if !matches!(
        rel.kind(),
        RelKind::Table | RelKind::ForeignTable | RelKind::View | RelKind::PartitionedTable
    ) {
        let message = format!("sequence cannot be owned by relation \"{}\"", rel.name());
        return Err(
            pg_err!(WRONG_OBJECT_TYPE, "{message}").detail(class::kind_not_supported(rel.kind()))
        );
    }
    let class = host.catalog().class(sequence)?;
    if rel.class.relowner != class.relowner {
        bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "sequence must have same owner as table it is linked to"
        );
    }
    if rel.class.relnamespace != class.relnamespace {
        bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "sequence must be in same schema as table it is linked to"
        );
    }
    let Some(a) = rel.column(column) else {
        bail!(UNDEFINED_COLUMN, "column \"{column}\" of relation \"{}\" does not exist", rel.name())
    };
    own_column(host, sequence, rel.oid(), a.attnum, false)
}

/// Makes the sequence depend on a column, as an internal part if the column is an identity.
pub fn own_column(
    host: &mut dyn CommandHost,
    sequence: Oid,
    table: Oid,
    column: ids::AttrNo,
    identity: bool,
) -> Result<()> {
    let kind = if identity { DepType::Internal } else { DepType::Auto };
    let mut cat = host.catalog();
    let (this, column) = (ObjectAddress::relation(sequence), ObjectAddress::column(table, column));
    cat.record_dependency(this, column, kind)?;
    cat.increment_command_counter()
}

/// The sequences owned by the columns of a table, or by one column.
pub fn owned_by(
    host: &mut dyn CommandHost,
    table: Oid,
    column: Option<ids::AttrNo>,
) -> Result<Vec<Oid>> {
    let of = match column {
        Some(c) => ObjectAddress::column(table, c),
        None => ObjectAddress::relation(table),
    };
    let mut out = Vec::new();
    for row in host.catalog().dependents_of(of)? {
        if row.classid != PgClass::RELATION
            || row.refobjsubid == 0
            || !matches!(row.deptype, DepType::Auto | DepType::Internal)
        {
            continue;
        }
        let class = host.catalog().find_class(row.objid)?;
        if class.ok_or_else(|| PgError::internal("the dependent relation does not exist"))?.relkind
            == RelKind::Sequence
        {
            out.push(row.objid);
        }
    }
    Ok(out)
}

/// Copies the sequence's data row into new files of another persistence. Counterpart:
/// `SequenceChangePersistence`.
pub fn change_persistence(host: &mut dyn CommandHost, oid: Oid, wanted: Persistence) -> Result<()> {
    let class = host.catalog().class(oid)?;
    let name = class.relname.to_string();
    let file = class::file_of(host, &class);
    let old = SequenceFile { file, persistence: class.relpersistence, name: &name };
    let data = sequence::read(host.backend(), old)?;
    let mut cat = host.catalog();
    let row = class::row(&mut cat, oid)?;
    let new = PgClass { relpersistence: wanted, ..row.row.clone() };
    let persistence = new.relpersistence;
    let file = class::replace_files(host, &row, new)?;
    sequence::create(host.backend(), SequenceFile { file, persistence, name: &name }, data)
}
