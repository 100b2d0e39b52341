//! ADD COLUMN.
//!
//! A default that is the same for all rows is computed once and stored with the column
//! (`attmissingval`); existing rows, which lack the column, then have this value. Any other default
//! requires a table rewrite.
//!
//! Counterpart: `ATExecAddColumn`, `StoreAttrDefault`.

use super::attribute::{WITH_COLUMNS, must_be};
use super::queue::{Scope, Work};
use super::rewrite;
use crate::create_table::{self, Column, Constraints};
use crate::sequence;
use analyze::SessionLookup;
use catalog::RelDesc;
use catalog::rows::{AnyArray, PgAttribute, PgClass};
use eval::{EvalState, Volatility};
use ids::code::TypType;
use ids::{AttrNo, Oid, RelKind};
use parse::ast::{AlterTableCmd, ColumnDef, ConstrType, Node};
use pgerror::{PgError, Result, bail, pg_err};
use plan::Expr;
use plan::expr::NextValueExpr;
use std::sync::Arc;
use types::Datum;
use utility::host::{CommandHost, notice};
use utility::{class, columns, exprs};

/// Adds a column to one table, and returns it; `None` if the table has the column already.
pub fn add(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    (cmd, scope): (&AlterTableCmd, Scope),
    work: &mut Work,
    sql: &str,
) -> Result<Option<Column>> {
    must_be(rel, WITH_COLUMNS, "ADD COLUMN")?;
    let Some(Node::ColumnDef(def)) = &cmd.def else {
        return Err(PgError::internal("ADD COLUMN without a column"));
    };
    let name = def.colname.as_deref().unwrap_or("");
    if crate::relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == name) {
        bail!(DUPLICATE_COLUMN, "column name \"{name}\" conflicts with a system column name");
    }
    if scope.recursing
        && !rel.class.reloftype.is_valid()
        && let Some(own) = rel.column(name)
    {
        merge(host, rel, def, own)?;
        return Ok(None);
    }
    if rel.column(name).is_some() {
        let message = format!("column \"{name}\" of relation \"{}\" already exists", rel.name());
        if cmd.missing_ok {
            host.notice(notice(pg_err!(DUPLICATE_COLUMN, "{message}, skipping")));
            return Ok(None);
        }
        bail!(DUPLICATE_COLUMN, "{message}");
    }
    if rel.attributes.len() >= crate::relation::COLUMNS_MAX {
        bail!(TOO_MANY_COLUMNS, "tables can have at most {} columns", crate::relation::COLUMNS_MAX);
    }
    let mut constraints = Constraints::default();
    let mut new = create_table::column(host, def, rel.name(), &mut constraints, sql)?;
    create_table::repeat_notices(host, def)?;
    crate::relation::check_column_type(host, &new.column, rel.kind(), rel.class.reltype)?;
    // The columns of a typed table are its own.
    if scope.recursing && !rel.class.reloftype.is_valid() {
        (new.column.is_local, new.column.inhcount) = (false, 1);
    }
    let oid = rel.oid();
    let class = &rel.class.row;
    let persistence = class.relpersistence;
    let single = std::slice::from_mut(&mut new);
    let (table, schema, owner) = (rel.name(), class.relnamespace, class.relowner);
    let made =
        create_table::create_sequences(host, single, table, schema, persistence, owner, sql)?;
    create_table::report_sequences(host, "ALTER TABLE", table, single, &made)?;
    let number = rel.attributes.len() as AttrNo + 1;
    if constraints.keys.iter().any(|k| k.contype == ConstrType::Primary) {
        if rel.indexes.iter().any(|i| i.indisprimary) {
            bail!(
                INVALID_TABLE_DEFINITION,
                "multiple primary keys for table \"{}\" are not allowed",
                rel.name()
            );
        }
        new.column.not_null = true;
    }
    let row = crate::relation::attribute_row(host, oid, number, &new.column)?;
    let row = crate::relation::with_version(host, &rel.attributes, row);
    let mut cat = host.catalog();
    cat.insert(&row)?;
    let class_row = class::row(&mut cat, oid)?;
    cat.update(&class_row, &PgClass { relnatts: number, ..class_row.row.clone() })?;
    crate::relation::record_column_type(host, oid, &row)?;
    host.catalog().increment_command_counter()?;
    let mut default = None;
    if let Some(node) = &new.default {
        let e = create_table::default_expr(host, oid, &new.column, node, new.generated, "")?;
        if let Some(e) = e {
            create_table::set_default(host, oid, number, &e, new.generated)?;
            host.catalog().increment_command_counter()?;
            default = Some(e);
        }
    }
    for (seq, _, identity) in &made {
        sequence::own_column(host, *seq, oid, number, *identity)?;
    }
    if rel.kind() == RelKind::Table {
        let sequence = made.iter().find(|m| m.2).map(|m| m.0);
        values(host, oid, &row, default, new.generated, sequence, work)?;
        crate::toast::add_toast(host, oid, None)?;
    }
    let keys = create_table::distinct_keys(&constraints.keys);
    let later = [keys, constraints.checks, constraints.foreign];
    later.into_iter().flatten().for_each(|c| work.push_constraint(c, scope));
    Ok(Some(new))
}

/// A child has the column already: it is inherited too from now on.
fn merge(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    def: &ColumnDef,
    own: &PgAttribute,
) -> Result<()> {
    let name = own.attname.as_str();
    let (ty, typmod, collation) =
        analyze::ddl::column_type(&mut SessionLookup::new(host), def, "")?;
    let table = rel.name();
    if (ty, typmod) != (own.atttypid, own.atttypmod) {
        bail!(
            DATATYPE_MISMATCH,
            "child table \"{table}\" has different type for column \"{name}\""
        );
    }
    if collation != own.attcollation {
        let mut cat = host.catalog();
        let (a, b) =
            (cat.collation(collation)?.collname, cat.collation(own.attcollation)?.collname);
        return Err(pg_err!(
            COLLATION_MISMATCH,
            "child table \"{table}\" has different collation for column \"{name}\""
        )
        .detail(format!("\"{a}\" versus \"{b}\"")));
    }
    class::change_column(host, rel.oid(), own.attnum, |a| a.attinhcount += 1)?;
    let message = format!("merging definition of column \"{name}\" for child \"{table}\"");
    host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{message}")));
    Ok(())
}

/// Sets the value of the new column for existing rows.
fn values(
    host: &mut dyn CommandHost,
    oid: Oid,
    column: &PgAttribute,
    default: Option<Expr>,
    generated: bool,
    identity: Option<Oid>,
    work: &mut Work,
) -> Result<()> {
    let number = column.attnum;
    if column.attnotnull {
        work.rewrite.verify_not_null = true;
    }
    if let Some(seqid) = identity {
        let typeid = column.atttypid;
        let next = Expr::NextValue(NextValueExpr { seqid, typeid });
        work.rewrite.values.push((number, next));
        work.rewrite.forced = true;
        work.rewrite.reasons |= rewrite::reason::DEFAULT;
        return Ok(());
    }
    let domain = host.catalog().type_row(column.atttypid)?.typtype == TypType::Domain;
    let constrained = domain && columns::has_constraints(host, column.atttypid)?;
    let default = match default {
        None if domain && !generated => columns::column_default(host, oid, number)?,
        given => given,
    };
    let Some(expr) = default else {
        if constrained {
            // The rewrite checks that the domain accepts NULL.
            let e = columns::null_in_domain(host, column)?;
            work.rewrite.values.push((number, e));
            work.rewrite.forced = true;
            work.rewrite.reasons |= rewrite::reason::DEFAULT;
        }
        return Ok(());
    };
    if generated {
        work.rewrite.generated.push((number, expr));
        work.rewrite.forced = true;
        work.rewrite.reasons |= rewrite::reason::DEFAULT;
        return Ok(());
    }
    let expr = host.planner().fold(expr)?;
    let steady = eval::volatility(&expr, host.facts())? != Volatility::Volatile;
    if !steady || constrained || work.rewrite.is_needed() {
        work.rewrite.values.push((number, expr));
        work.rewrite.forced = true;
        let is_cause = !steady || constrained;
        work.rewrite.reasons |= if is_cause { rewrite::reason::DEFAULT } else { 0 };
        return Ok(());
    }
    let program = exprs::compile(host.facts(), &expr, &[])?;
    let mut state = EvalState::default();
    let value = exprs::value(&program, &mut state, host.expressions(), &[])?;
    // The expression is needed if another subcommand causes a rewrite.
    work.rewrite.values.push((number, expr));
    set_missing(host, oid, column, value)
}

/// Stores the value of the column for rows that do not contain it. Counterpart: `SetAttrMissing`.
pub fn set_missing(
    host: &mut dyn CommandHost,
    oid: Oid,
    column: &PgAttribute,
    value: Datum,
) -> Result<()> {
    if value.is_null() {
        return Ok(());
    }
    let info = host.functions().type_info(column.atttypid)?;
    let array = types::array::build_1d(&info, &[value])?;
    let types::DatumRef::Bytes(bytes) = array.as_ref() else {
        return Err(PgError::internal("array without bytes"));
    };
    let array = AnyArray(bytes.into());
    class::change_column(host, oid, column.attnum, |a| {
        a.atthasmissing = true;
        a.attmissingval = Some(array);
    })
}
