//! ADD GENERATED … AS IDENTITY, SET GENERATED, DROP IDENTITY.
//!
//! Counterpart: `ATExecAddIdentity`, `ATExecSetIdentity`, `ATExecDropIdentity`.

use super::attribute::column;
use crate::{create_table, sequence};
use catalog::{ObjectAddress, RelDesc};
use define::deletion;
use ids::code::{ColumnIdentity, DepType};
use parse::ast::{AlterTableCmd, ConstrType, DefElem, Node};
use pgerror::{PgError, Result, bail, pg_err};
use utility::class;
use utility::host::{CommandHost, notice};

/// ADD GENERATED … AS IDENTITY.
pub fn add(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    cmd: &AlterTableCmd,
    sql: &str,
) -> Result<()> {
    let Some(Node::Constraint(c)) = &cmd.def else {
        return Err(PgError::internal("ADD IDENTITY without a definition"));
    };
    debug_assert_eq!(c.contype, ConstrType::Identity);
    let a = column(rel, cmd)?;
    let (name, table) = (a.attname.as_str(), rel.name());
    if !create_table::is_sequence_type(a.atttypid) {
        bail!(INVALID_PARAMETER_VALUE, "identity column type must be smallint, integer, or bigint");
    }
    if !a.attnotnull {
        bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "column \"{name}\" of relation \"{table}\" must be declared NOT NULL before identity \
             can be added"
        );
    }
    if a.attidentity != ColumnIdentity::No {
        bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "column \"{name}\" of relation \"{table}\" is already an identity column"
        );
    }
    if a.atthasdef {
        bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "column \"{name}\" of relation \"{table}\" already has a default value"
        );
    }
    let class = &rel.class.row;
    let mut options = vec![create_table::type_option(a.atttypid)];
    options.extend(c.options.iter().cloned());
    let column = crate::relation::NewColumn::new(name, a.atttypid, -1, ids::Oid::INVALID);
    let mut columns = [create_table::Column {
        column,
        default: None,
        stored_default: None,
        generated: false,
        sequence: Some((options, true)),
    }];
    let made = create_table::create_sequences(
        host,
        &mut columns,
        table,
        class.relnamespace,
        class.relpersistence,
        class.relowner,
        sql,
    )?;
    create_table::report_sequences(host, "ALTER TABLE", table, &columns, &made)?;
    let (number, when) = (a.attnum, c.generated_when);
    class::change_column(host, rel.oid(), number, |a| a.attidentity = when)?;
    for (seq, _, identity) in made {
        sequence::own_column(host, seq, rel.oid(), number, identity)?;
    }
    Ok(())
}

/// SET GENERATED and changes of the sequence options.
pub fn set(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    cmd: &AlterTableCmd,
    sql: &str,
) -> Result<()> {
    let a = column(rel, cmd)?;
    if a.attidentity == ColumnIdentity::No {
        bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "column \"{}\" of relation \"{}\" is not an identity column",
            a.attname,
            rel.name()
        );
    }
    let mut when = None;
    let mut options: Vec<DefElem> = Vec::new();
    if let Some(Node::List(list)) = &cmd.def {
        for node in list.iter() {
            let Node::DefElem(d) = node else { continue };
            match (&*d.defname, &d.arg) {
                ("generated", Some(Node::Integer(letter))) => {
                    if when.is_some() {
                        bail!(SYNTAX_ERROR, "conflicting or redundant options");
                    }
                    when = u8::try_from(*letter).ok().and_then(ColumnIdentity::from_char);
                }
                _ => options.push((**d).clone()),
            }
        }
    }
    let number = a.attnum;
    if !options.is_empty() {
        for seq in sequence::owned_by(host, rel.oid(), Some(number))? {
            host.lock_relation(seq, utility::names::mode::SHARE_ROW_EXCLUSIVE)?;
            sequence::change(host, seq, &options, true, sql)?;
        }
    }
    match when {
        Some(when) => class::change_column(host, rel.oid(), number, |a| a.attidentity = when),
        None => Ok(()),
    }
}

/// DROP IDENTITY.
pub fn drop(host: &mut dyn CommandHost, rel: &RelDesc, cmd: &AlterTableCmd) -> Result<()> {
    let a = column(rel, cmd)?;
    if a.attidentity == ColumnIdentity::No {
        let message = format!(
            "column \"{}\" of relation \"{}\" is not an identity column",
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
    let owned = sequence::owned_by(host, rel.oid(), Some(number))?;
    class::change_column(host, rel.oid(), number, |a| a.attidentity = ColumnIdentity::No)?;
    for seq in owned {
        // The sequence is an internal part of the column, so `drop_objects` would refuse to drop
        // it.
        let this = ObjectAddress::relation(seq);
        let mut cat = host.catalog();
        for d in cat.dependencies_of(this)? {
            if d.deptype == DepType::Internal {
                cat.delete(&d)?;
            }
        }
        cat.increment_command_counter()?;
        deletion::drop_objects(host, &[this], catalog::depend::DropBehavior::Restrict, true)?;
    }
    Ok(())
}
