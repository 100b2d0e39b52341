//! Column attributes: defaults, storage, statistics targets.
//!
//! Counterpart: `ATExecColumnDefault`, `ATExecSetStatistics`, `ATExecSetStorage` and others of
//! tablecmds.c.

use crate::{create_table, extstats};
use catalog::depend::DropOrigin;
use catalog::rows::{PgAttrdef, PgAttribute, Text, indexes};
use catalog::{ObjectAddress, RelDesc};
use define::{deletion, event};
use ids::code::{ColumnGenerated, ColumnIdentity};
use ids::{AttrNo, Oid, RelKind};
use parse::ast::{AlterTableCmd, AlterTableType, DefElem, Node};
use pgerror::{PgError, Result, bail, pg_err};
use utility::host::{CommandHost, notice};
use utility::{class, options};

/// SET DEFAULT and DROP DEFAULT.
pub fn set_default(host: &mut dyn CommandHost, rel: &RelDesc, cmd: &AlterTableCmd) -> Result<()> {
    must_be(
        rel,
        &[RelKind::Table, RelKind::View, RelKind::PartitionedTable, RelKind::ForeignTable],
        "ALTER COLUMN ... SET DEFAULT",
    )?;
    let a = column(rel, cmd)?.clone();
    if a.attidentity != ColumnIdentity::No {
        let e = pg_err!(
            SYNTAX_ERROR,
            "column \"{}\" of relation \"{}\" is an identity column",
            a.attname,
            rel.name()
        );
        return Err(match cmd.def {
            Some(_) => e,
            None => e.hint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead."),
        });
    }
    if a.attgenerated != ColumnGenerated::No {
        let e = pg_err!(
            SYNTAX_ERROR,
            "column \"{}\" of relation \"{}\" is a generated column",
            a.attname,
            rel.name()
        );
        return Err(match cmd.def {
            Some(_) => e,
            None => e.hint("Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead."),
        });
    }
    let Some(node) = &cmd.def else {
        note_default(host, rel.oid(), a.attnum)?;
        return remove_default(host, rel.oid(), a.attnum);
    };
    remove_default(host, rel.oid(), a.attnum)?;
    let new = crate::relation::NewColumn::new(
        a.attname.as_str(),
        a.atttypid,
        a.atttypmod,
        a.attcollation,
    );
    if let Some(e) = create_table::default_expr(host, rel.oid(), &new, node, false, "")? {
        create_table::set_default(host, rel.oid(), a.attnum, &e, false)?;
    }
    Ok(())
}

fn default_of(
    host: &mut dyn CommandHost,
    table: Oid,
    number: AttrNo,
) -> Result<Option<ObjectAddress>> {
    let keys = [table.into(), number.into()];
    let old = host.catalog().scan(indexes::PG_ATTRDEF_ADRELID_ADNUM_INDEX, &keys)?.pop();
    Ok(old.map(|old| ObjectAddress::of::<PgAttrdef>(old.oid)))
}

/// Notes for event triggers that DROP DEFAULT drops the default.
fn note_default(host: &mut dyn CommandHost, table: Oid, number: AttrNo) -> Result<()> {
    let Some(object) = default_of(host, table, number)? else { return Ok(()) };
    event::dropped::note(host, object, DropOrigin::NAMED)
}

/// Drops a column's default if it has one.
pub fn remove_default(host: &mut dyn CommandHost, table: Oid, number: AttrNo) -> Result<()> {
    let Some(object) = default_of(host, table, number)? else { return Ok(()) };
    // A generation expression is an internal part of its column, so `drop_objects` would refuse to
    // drop it.
    deletion::drop_one(host, object)
}

/// DROP EXPRESSION: turns a generated column into an ordinary one.
pub fn drop_expression(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    cmd: &AlterTableCmd,
) -> Result<()> {
    must_be(rel, TABLES_AND_FOREIGN, "ALTER COLUMN ... DROP EXPRESSION")?;
    let a = column(rel, cmd)?;
    if a.attgenerated != ColumnGenerated::Stored {
        let message = format!(
            "column \"{}\" of relation \"{}\" is not a stored generated column",
            a.attname,
            rel.name()
        );
        if cmd.missing_ok {
            host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{message}, skipping")));
            return Ok(());
        }
        bail!(OBJECT_NOT_IN_PREREQUISITE_STATE, "{message}");
    }
    let number = a.attnum;
    class::change_column(host, rel.oid(), number, |a| a.attgenerated = ColumnGenerated::No)?;
    remove_default(host, rel.oid(), number)
}

fn word<'a>(cmd: &'a AlterTableCmd, what: &str) -> Result<&'a str> {
    match &cmd.def {
        Some(Node::String(s)) => Ok(s),
        _ => Err(PgError::internal(format!("{what} without a name"))),
    }
}

/// SET STATISTICS, SET (…), SET STORAGE, SET COMPRESSION.
pub fn set(host: &mut dyn CommandHost, rel: &RelDesc, cmd: &AlterTableCmd) -> Result<()> {
    let oid = rel.oid();
    match cmd.subtype {
        AlterTableType::SetStatistics => set_statistics(host, rel, cmd),
        AlterTableType::SetStorage => {
            must_be(
                rel,
                &[
                    RelKind::Table,
                    RelKind::MaterializedView,
                    RelKind::PartitionedTable,
                    RelKind::ForeignTable,
                ],
                "ALTER COLUMN ... SET STORAGE",
            )?;
            let a = column(rel, cmd)?;
            let name = word(cmd, "SET STORAGE")?;
            let storage = create_table::storage_for(host, name, a.atttypid)?;
            let number = a.attnum;
            class::change_column(host, oid, number, |a| a.attstorage = storage)?;
            on_indexes(host, rel, number, |a| a.attstorage = storage)?;
            crate::toast::add_toast(host, oid, None)
        }
        AlterTableType::SetCompression => {
            must_be(
                rel,
                &[RelKind::Table, RelKind::MaterializedView, RelKind::PartitionedTable],
                "ALTER COLUMN ... SET COMPRESSION",
            )?;
            let a = column(rel, cmd)?;
            let name = word(cmd, "SET COMPRESSION")?;
            let letter = create_table::compression_for(host, name, a.atttypid)?;
            let number = a.attnum;
            class::change_column(host, oid, number, |a| a.attcompression = letter)?;
            on_indexes(host, rel, number, |a| a.attcompression = letter)
        }
        _ => {
            must_be(
                rel,
                &[
                    RelKind::Table,
                    RelKind::MaterializedView,
                    RelKind::PartitionedTable,
                    RelKind::ForeignTable,
                ],
                "ALTER COLUMN ... SET",
            )?;
            let a = column(rel, cmd)?;
            let reset = cmd.subtype == AlterTableType::ResetOptions;
            let list = attribute_options(a.attoptions.as_deref(), &cmd.def, reset)?;
            class::change_column(host, oid, a.attnum, |a| a.attoptions = list)
        }
    }
}

fn set_statistics(host: &mut dyn CommandHost, rel: &RelDesc, cmd: &AlterTableCmd) -> Result<()> {
    must_be(
        rel,
        &[
            RelKind::Table,
            RelKind::MaterializedView,
            RelKind::Index,
            RelKind::PartitionedTable,
            RelKind::PartitionedIndex,
            RelKind::ForeignTable,
        ],
        "ALTER COLUMN ... SET STATISTICS",
    )?;
    let a = column(rel, cmd)?;
    let number = a.attnum;
    let target = extstats::statistics_target(host, cmd.def.as_ref())?;
    if let Some(part) = &rel.index {
        let place = number as usize - 1;
        if place >= part.row.indnkeyatts as usize {
            bail!(
                FEATURE_NOT_SUPPORTED,
                "cannot alter statistics on included column \"{}\" of index \"{}\"",
                a.attname,
                rel.name()
            );
        }
        if part.row.indkey.get(place).is_some_and(|k| *k != 0) {
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot alter statistics on non-expression column \"{}\" of index \"{}\"",
                a.attname,
                rel.name()
            )
            .hint("Alter statistics on table column instead."));
        }
    }
    class::change_column(host, rel.oid(), number, |a| a.attstattarget = target)
}

/// Applies the change to the columns of indexes over the column. Counterpart:
/// `SetIndexStorageProperties`.
fn on_indexes(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    number: AttrNo,
    apply: impl Fn(&mut PgAttribute),
) -> Result<()> {
    for i in &rel.indexes {
        for (place, column) in i.indkey.iter().enumerate() {
            if *column == number {
                class::change_column(host, i.indexrelid, place as AttrNo + 1, &apply)?;
            }
        }
    }
    Ok(())
}

fn attribute_options(
    old: Option<&[Text]>,
    def: &Option<Node>,
    reset: bool,
) -> Result<Option<Vec<Text>>> {
    let defs: Vec<&DefElem> = match def {
        Some(Node::List(list)) => list
            .iter()
            .filter_map(|n| match n {
                Node::DefElem(d) => Some(&**d),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let mut list: Vec<Text> = old.map(<[Text]>::to_vec).unwrap_or_default();
    for d in defs {
        let name = &*d.defname;
        if !matches!(name, "n_distinct" | "n_distinct_inherited") {
            bail!(INVALID_PARAMETER_VALUE, "unrecognized parameter \"{name}\"");
        }
        list.retain(|t| t.as_str().split('=').next() != Some(name));
        if reset {
            if d.arg.is_some() {
                bail!(SYNTAX_ERROR, "RESET must not include values for parameters");
            }
            continue;
        }
        let value = options::text(d)?;
        let number: f64 = value.parse().map_err(|_| {
            pg_err!(
                INVALID_PARAMETER_VALUE,
                "invalid value for floating point option \"{name}\": {value}"
            )
        })?;
        if !(-1.0..=f64::MAX).contains(&number) {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "value {value} out of bounds for option \"{name}\""
            )
            .detail(format!(
                "Valid values are between \"{:.6}\" and \"{:.6}\".",
                -1.0,
                f64::MAX
            )));
        }
        list.push(Text::from(format!("{name}={value}")));
    }
    Ok((!list.is_empty()).then_some(list))
}

/// The column of a subcommand, given by name or (for indexes) by number.
pub fn column<'a>(rel: &'a RelDesc, cmd: &AlterTableCmd) -> Result<&'a PgAttribute> {
    let Some(name) = cmd.name.as_deref() else {
        let found = rel.attribute(cmd.num).filter(|a| !a.attisdropped);
        return found.ok_or_else(|| {
            pg_err!(
                UNDEFINED_COLUMN,
                "column number {} of relation \"{}\" does not exist",
                cmd.num,
                rel.name()
            )
        });
    };
    match rel.column(name) {
        Some(a) => Ok(a),
        None if crate::relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == name) => {
            bail!(FEATURE_NOT_SUPPORTED, "cannot alter system column \"{name}\"")
        }
        None => bail!(
            UNDEFINED_COLUMN,
            "column \"{name}\" of relation \"{}\" does not exist",
            rel.name()
        ),
    }
}

/// Tables with rows of the database.
pub const TABLES: &[RelKind] = &[RelKind::Table, RelKind::PartitionedTable];
pub const TABLES_AND_FOREIGN: &[RelKind] =
    &[RelKind::Table, RelKind::PartitionedTable, RelKind::ForeignTable];
pub const TABLES_AND_MATVIEWS: &[RelKind] = &[RelKind::Table, RelKind::MaterializedView];
/// The kinds of relations that ADD COLUMN and DROP COLUMN accept.
pub const WITH_COLUMNS: &[RelKind] =
    &[RelKind::Table, RelKind::PartitionedTable, RelKind::CompositeType, RelKind::ForeignTable];

/// Error 42809 unless the relation's kind is one of `kinds`.
pub fn must_be(rel: &RelDesc, kinds: &[RelKind], action: &str) -> Result<()> {
    if kinds.contains(&rel.kind()) {
        return Ok(());
    }
    Err(pg_err!(
        WRONG_OBJECT_TYPE,
        "ALTER action {action} cannot be performed on relation \"{}\"",
        rel.name()
    )
    .detail(class::kind_not_supported(rel.kind())))
}
