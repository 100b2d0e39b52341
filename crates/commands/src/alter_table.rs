//! ALTER TABLE. Counterpart: the `ATExec…` functions of tablecmds.c.

use crate::create_table::{self, Constraints};
use crate::host::{CommandHost, notice};
use crate::{constraint, drop, names, options, sequence};
use catalog::rows::*;
use catalog::{ObjectAddress, RelDesc};
use ids::{AttrNo, Oid};
use parse::ast::{
    self, AlterTableCmd, AlterTableStmt, AlterTableType, ConstrType, Constraint, Node, ObjectType,
};
use pgerror::{PgError, Result, bail, pg_err};
use plan::Expr;
use std::sync::Arc;

/// ALTER TABLE, INDEX, SEQUENCE, VIEW with subcommands.
pub fn alter_table(host: &mut dyn CommandHost, stmt: &AlterTableStmt, sql: &str) -> Result<()> {
    let lock = stmt.cmds.iter().map(lock_of).max().unwrap_or(names::mode::ACCESS_EXCLUSIVE);
    let Some(oid) = names::find(host, &stmt.relation, lock)? else {
        if stmt.missing_ok {
            let shown = names::shown(&stmt.relation);
            host.notice(notice(pg_err!(
                SUCCESSFUL_COMPLETION,
                "relation \"{shown}\" does not exist, skipping"
            )));
            return Ok(());
        }
        return Err(names::missing(host, &stmt.relation)?);
    };
    let rel = host.catalog().relation(oid)?;
    names::must_own_relation(host, &rel)?;
    names::not_a_catalog(&rel)?;
    if stmt.objtype == ObjectType::View && rel.kind() != b'v' {
        bail!(WRONG_OBJECT_TYPE, "\"{}\" is not a view", rel.name());
    }
    // Passes: what drops things comes before what adds, columns before constraints.
    let mut cmds: Vec<&AlterTableCmd> = stmt.cmds.iter().collect();
    cmds.sort_by_key(|c| pass_of(c));
    for cmd in cmds {
        subcommand(host, oid, cmd, sql)?;
        host.catalog().increment_command_counter()?;
    }
    Ok(())
}

fn lock_of(cmd: &AlterTableCmd) -> i32 {
    use AlterTableType::*;
    match cmd.subtype {
        AddConstraint => match &cmd.def {
            Some(Node::Constraint(c)) if c.contype == ConstrType::Foreign => {
                names::mode::SHARE_ROW_EXCLUSIVE
            }
            _ => names::mode::ACCESS_EXCLUSIVE,
        },
        SetStatistics | ValidateConstraint | SetRelOptions | ResetRelOptions | SetOptions
        | ResetOptions => names::mode::SHARE_UPDATE_EXCLUSIVE,
        _ => names::mode::ACCESS_EXCLUSIVE,
    }
}

/// Counterpart: `AlterTablePass`.
fn pass_of(cmd: &AlterTableCmd) -> i32 {
    use AlterTableType::*;
    match cmd.subtype {
        DropColumn | DropConstraint | DropNotNull | DropExpression | DropIdentity => 0,
        AlterColumnType => 1,
        AddColumn => 5,
        ColumnDefault | AddIdentity => 7,
        AddConstraint => match &cmd.def {
            Some(Node::Constraint(c)) if c.contype == ConstrType::Foreign => 10,
            Some(Node::Constraint(c)) if c.contype == ConstrType::Check => 8,
            _ => 9,
        },
        _ => 6,
    }
}

fn column<'a>(rel: &'a RelDesc, cmd: &AlterTableCmd) -> Result<&'a PgAttribute> {
    let name = cmd.name.as_deref().unwrap_or("");
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

fn must_be_table(rel: &RelDesc, action: &str) -> Result<()> {
    if rel.kind() == b'r' {
        return Ok(());
    }
    let what = match rel.kind() {
        b'v' => "views",
        b'm' => "materialized views",
        b'S' => "sequences",
        b'i' | b'I' => "indexes",
        b'c' => "composite types",
        b'f' => "foreign tables",
        _ => "partitioned tables",
    };
    Err(pg_err!(
        WRONG_OBJECT_TYPE,
        "ALTER action {action} cannot be performed on relation \"{}\"",
        rel.name()
    )
    .detail(format!("This operation is not supported for {what}.")))
}

fn subcommand(host: &mut dyn CommandHost, oid: Oid, cmd: &AlterTableCmd, sql: &str) -> Result<()> {
    use AlterTableType::*;
    let rel = host.catalog().relation(oid)?;
    match cmd.subtype {
        AddConstraint => {
            must_be_table(&rel, "ADD CONSTRAINT")?;
            match &cmd.def {
                Some(Node::Constraint(c)) => add_constraint(host, &rel, c, sql),
                _ => Err(PgError::unsupported("this constraint")),
            }
        }
        DropConstraint => drop_constraint(host, &rel, cmd),
        SetNotNull => {
            must_be_table(&rel, "ALTER COLUMN ... SET NOT NULL")?;
            let number = column(&rel, cmd)?.attnum;
            set_not_null(host, &rel, &[number])
        }
        DropNotNull => drop_not_null(host, &rel, cmd),
        ColumnDefault => set_default(host, &rel, cmd, sql),
        AddColumn => add_column(host, &rel, cmd, sql),
        DropColumn => drop_column(host, &rel, cmd),
        SetRelOptions | ResetRelOptions => set_options(host, &rel, cmd),
        ChangeOwner => {
            let Some(role) = &cmd.newowner else {
                return Err(PgError::internal("OWNER TO without a role"));
            };
            let owner = names::role_oid(host, role)?;
            change_owner(host, oid, owner, true)
        }
        SetStatistics => {
            let number = column(&rel, cmd)?.attnum;
            let target = match &cmd.def {
                Some(Node::Integer(n)) => (*n).clamp(-1, 10_000),
                _ => -1,
            };
            change_column(host, oid, number, |a| a.attstattarget = target)
        }
        SetStorage => {
            let a = column(&rel, cmd)?;
            let name = match &cmd.def {
                Some(Node::String(s)) => s,
                _ => return Err(PgError::internal("SET STORAGE without a name")),
            };
            let letter = create_table::storage_letter(host, name, a.atttypid)?;
            change_column(host, oid, a.attnum, |a| a.attstorage = letter)
        }
        SetCompression => {
            let a = column(&rel, cmd)?;
            let name = match &cmd.def {
                Some(Node::String(s)) => s,
                _ => return Err(PgError::internal("SET COMPRESSION without a name")),
            };
            let letter = create_table::compression(name)?;
            change_column(host, oid, a.attnum, |a| a.attcompression = letter)
        }
        ValidateConstraint => Err(PgError::unsupported("VALIDATE CONSTRAINT")),
        other => Err(PgError::unsupported(format!("ALTER TABLE subcommand {other:?}"))),
    }
}

/// Changes a column's row.
pub fn change_column(
    host: &mut dyn CommandHost,
    table: Oid,
    number: AttrNo,
    change: impl FnOnce(&mut PgAttribute),
) -> Result<()> {
    let mut cat = host.catalog();
    let keys = [table.into(), number.into()];
    let row = cat.scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &keys)?.pop();
    let row = row.ok_or_else(|| PgError::internal("column without a row"))?;
    let mut new = row.row.clone();
    change(&mut new);
    cat.update(&row, &new)?;
    cat.increment_command_counter()
}

fn add_constraint(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    c: &Constraint,
    sql: &str,
) -> Result<()> {
    let oid = rel.oid();
    match c.contype {
        ConstrType::Check => constraint::add_checks(host, oid, &[c], true, sql),
        ConstrType::Foreign => constraint::add_foreign_key(host, oid, c, true),
        ConstrType::Primary | ConstrType::Unique => {
            if c.indexname.is_some() {
                return Err(PgError::unsupported("constraints over an existing index"));
            }
            if c.contype == ConstrType::Primary {
                let mut numbers = Vec::new();
                for name in &c.keys {
                    match rel.column(name) {
                        Some(a) => numbers.push(a.attnum),
                        None => bail!(
                            UNDEFINED_COLUMN,
                            "column \"{name}\" of relation \"{}\" does not exist",
                            rel.name()
                        ),
                    }
                }
                if rel.indexes.iter().any(|i| i.indisprimary) {
                    bail!(
                        INVALID_TABLE_DEFINITION,
                        "multiple primary keys for table \"{}\" are not allowed",
                        rel.name()
                    );
                }
                set_not_null(host, rel, &numbers)?;
            }
            create_table::add_keys(host, oid, std::slice::from_ref(c), sql)
        }
        _ => Err(PgError::unsupported("this constraint")),
    }
}

/// Makes columns NOT NULL after looking at the rows.
fn set_not_null(host: &mut dyn CommandHost, rel: &Arc<RelDesc>, columns: &[AttrNo]) -> Result<()> {
    for &number in columns {
        let Some(a) = rel.attribute(number) else { continue };
        if a.attnotnull {
            continue;
        }
        let var = Expr::Var(plan::expr::Var {
            varno: 1,
            varattno: number,
            vartype: a.atttypid,
            vartypmod: a.atttypmod,
            varcollid: a.attcollation,
            varlevelsup: 0,
            location: plan::expr::Location::UNKNOWN,
        });
        if constraint::find_row(host, rel, &var, |v| v.is_null())? {
            let schema = host.catalog().namespace_name(rel.class.relnamespace)?;
            return Err(pg_err!(
                NOT_NULL_VIOLATION,
                "column \"{}\" of relation \"{}\" contains null values",
                a.attname,
                rel.name()
            )
            .table(schema.unwrap_or_default().as_str(), rel.name())
            .column(a.attname.as_str()));
        }
        change_column(host, rel.oid(), number, |a| a.attnotnull = true)?;
    }
    Ok(())
}

fn drop_not_null(host: &mut dyn CommandHost, rel: &RelDesc, cmd: &AlterTableCmd) -> Result<()> {
    let a = column(rel, cmd)?;
    if a.attidentity != 0 {
        bail!(
            SYNTAX_ERROR,
            "column \"{}\" of relation \"{}\" is an identity column",
            a.attname,
            rel.name()
        );
    }
    if !a.attnotnull {
        return Ok(());
    }
    if rel.primary_key().is_some_and(|i| i.indkey.contains(&a.attnum)) {
        bail!(INVALID_TABLE_DEFINITION, "column \"{}\" is in a primary key", a.attname);
    }
    change_column(host, rel.oid(), a.attnum, |a| a.attnotnull = false)
}

fn set_default(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    cmd: &AlterTableCmd,
    sql: &str,
) -> Result<()> {
    let a = column(rel, cmd)?.clone();
    if a.attidentity != 0 {
        bail!(
            SYNTAX_ERROR,
            "column \"{}\" of relation \"{}\" is an identity column",
            a.attname,
            rel.name()
        );
    }
    if a.attgenerated != 0 {
        bail!(
            SYNTAX_ERROR,
            "column \"{}\" of relation \"{}\" is a generated column",
            a.attname,
            rel.name()
        );
    }
    remove_default(host, rel.oid(), a.attnum)?;
    let Some(node) = &cmd.def else { return Ok(()) };
    let new = crate::relation::NewColumn::new(
        a.attname.as_str(),
        a.atttypid,
        a.atttypmod,
        a.attcollation,
    );
    if let Some(e) = create_table::default_expr(host, rel.oid(), &new, node, false, sql)? {
        create_table::set_default(host, rel.oid(), a.attnum, &e, false)?;
    }
    Ok(())
}

/// Drops a column's default if it has one.
fn remove_default(host: &mut dyn CommandHost, table: Oid, number: AttrNo) -> Result<()> {
    let keys = [table.into(), number.into()];
    let old = host.catalog().scan(indexes::PG_ATTRDEF_ADRELID_ADNUM_INDEX, &keys)?.pop();
    let Some(old) = old else { return Ok(()) };
    let object = ObjectAddress::of::<PgAttrdef>(old.oid);
    drop::drop_objects(host, &[object], catalog::depend::DropBehavior::Restrict, true)
}

fn drop_constraint(host: &mut dyn CommandHost, rel: &RelDesc, cmd: &AlterTableCmd) -> Result<()> {
    let name = cmd.name.as_deref().unwrap_or("");
    let keys = [rel.oid().into(), Oid::INVALID.into(), name.into()];
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    let Some(row) = host.catalog().scan(index, &keys)?.pop() else {
        let message =
            format!("constraint \"{name}\" of relation \"{}\" does not exist", rel.name());
        if cmd.missing_ok {
            host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{message}, skipping")));
            return Ok(());
        }
        bail!(UNDEFINED_OBJECT, "{message}");
    };
    if row.contype == b'f' && row.confrelid.is_valid() && row.confrelid != rel.oid() {
        host.lock_relation(row.confrelid, names::mode::ACCESS_EXCLUSIVE)?;
    }
    let object = ObjectAddress::of::<PgConstraint>(row.oid);
    drop::drop_objects(host, &[object], drop::behavior(cmd.behavior), false)
}

fn drop_column(host: &mut dyn CommandHost, rel: &RelDesc, cmd: &AlterTableCmd) -> Result<()> {
    let name = cmd.name.as_deref().unwrap_or("");
    if !matches!(rel.kind(), b'r' | b'c') {
        must_be_table(rel, "DROP COLUMN")?;
    }
    let Some(a) = rel.column(name) else {
        if crate::relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == name) {
            bail!(FEATURE_NOT_SUPPORTED, "cannot drop system column \"{name}\"");
        }
        let message = format!("column \"{name}\" of relation \"{}\" does not exist", rel.name());
        if cmd.missing_ok {
            host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{message}, skipping")));
            return Ok(());
        }
        bail!(UNDEFINED_COLUMN, "{message}");
    };
    let object = ObjectAddress::column(rel.oid(), a.attnum);
    drop::drop_objects(host, &[object], drop::behavior(cmd.behavior), false)
}

/// A new column, for tables whose rows need not be written again: without rows, or where the column
/// begins as NULL.
fn add_column(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    cmd: &AlterTableCmd,
    sql: &str,
) -> Result<()> {
    must_be_table(rel, "ADD COLUMN")?;
    let Some(Node::ColumnDef(def)) = &cmd.def else {
        return Err(PgError::internal("ADD COLUMN without a column"));
    };
    let name = def.colname.as_deref().unwrap_or("");
    if rel.column(name).is_some() {
        let message = format!("column \"{name}\" of relation \"{}\" already exists", rel.name());
        if cmd.missing_ok {
            host.notice(notice(pg_err!(DUPLICATE_COLUMN, "{message}, skipping")));
            return Ok(());
        }
        bail!(DUPLICATE_COLUMN, "{message}");
    }
    if crate::relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == name) {
        bail!(DUPLICATE_COLUMN, "column name \"{name}\" conflicts with a system column name");
    }
    if rel.attributes.len() >= crate::relation::COLUMNS_MAX {
        bail!(TOO_MANY_COLUMNS, "tables can have at most {} columns", crate::relation::COLUMNS_MAX);
    }
    let mut constraints = Constraints::default();
    let mut new = create_table::column(host, def, rel.name(), &mut constraints, sql)?;
    let oid = rel.oid();
    let class = &rel.class.row;
    let persistence = sequence::persistence_of(class);
    let single = std::slice::from_mut(&mut new);
    let (table, schema, owner) = (rel.name(), class.relnamespace, class.relowner);
    let made = create_table::make_sequences(host, single, table, schema, persistence, owner, sql)?;
    let number = rel.attributes.len() as AttrNo + 1;
    if let Some(key) = constraints.keys.iter().find(|k| k.contype == ConstrType::Primary)
        && key.keys.iter().any(|k| **k == *name)
    {
        new.column.not_null = true;
    }
    let needs_values = new.default.is_some() || new.column.identity != 0;
    let not_null = new.column.not_null;
    let has_rows = {
        let true_ = Expr::Const(plan::expr::Const {
            consttype: types::oids::BOOL,
            consttypmod: -1,
            constcollid: Oid::INVALID,
            constlen: 1,
            constbyval: true,
            value: types::Datum::bool(true),
            location: plan::expr::Location::UNKNOWN,
        });
        constraint::find_row(host, rel, &true_, |_| true)?
    };
    if has_rows && not_null && !needs_values {
        bail!(
            NOT_NULL_VIOLATION,
            "column \"{name}\" of relation \"{}\" contains null values",
            rel.name()
        );
    }
    if has_rows && needs_values {
        return Err(PgError::unsupported("ADD COLUMN with a default on a table with rows"));
    }
    let row = crate::relation::attribute_row(host, oid, number, &new.column)?;
    let mut cat = host.catalog();
    cat.insert(&row)?;
    let class_row = crate::relation::class(&mut cat, oid)?;
    cat.update(&class_row, &PgClass { relnatts: number, ..class_row.row.clone() })?;
    crate::relation::record_column_type(host, oid, &row)?;
    host.catalog().increment_command_counter()?;
    if let Some(node) = &new.default {
        let e = create_table::default_expr(host, oid, &new.column, node, new.generated, sql)?;
        if let Some(e) = e {
            create_table::set_default(host, oid, number, &e, new.generated)?;
            host.catalog().increment_command_counter()?;
        }
    }
    crate::relation::add_toast(host, oid, None)?;
    for (seq, _, identity) in made {
        sequence::own_column(host, seq, oid, number, identity)?;
    }
    let checks: Vec<&Constraint> = constraints.checks.iter().collect();
    constraint::add_checks(host, oid, &checks, true, sql)?;
    create_table::add_keys(host, oid, &constraints.keys, sql)?;
    for foreign in &constraints.foreign {
        constraint::add_foreign_key(host, oid, foreign, true)?;
    }
    Ok(())
}

fn set_options(host: &mut dyn CommandHost, rel: &RelDesc, cmd: &AlterTableCmd) -> Result<()> {
    let defs: Vec<ast::DefElem> = match &cmd.def {
        Some(Node::List(list)) => list
            .iter()
            .filter_map(|n| match n {
                Node::DefElem(d) => Some((**d).clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let reset = cmd.subtype == AlterTableType::ResetRelOptions;
    for (oid, toast) in [(rel.oid(), false), (rel.class.reltoastrelid, true)] {
        if !oid.is_valid() || toast && !defs.iter().any(|d| d.defnamespace.is_some()) {
            continue;
        }
        let mut cat = host.catalog();
        let row = crate::relation::class(&mut cat, oid)?;
        let old = row.reloptions.as_deref();
        let reloptions = options::changed(old, &defs, rel.kind(), toast, reset)?;
        cat.update(&row, &PgClass { reloptions, ..row.row.clone() })?;
        cat.increment_command_counter()?;
    }
    Ok(())
}

/// Gives a relation, its row type, indexes, TOAST table and owned sequences to another role.
/// Counterpart: `ATExecChangeOwner`.
pub fn change_owner(host: &mut dyn CommandHost, oid: Oid, owner: Oid, check: bool) -> Result<()> {
    let rel = host.catalog().relation(oid)?;
    if rel.class.relowner == owner {
        return Ok(());
    }
    if check && !names::is_superuser(host)? {
        names::must_own_relation(host, &rel)?;
        names::must_be_member(host, owner)?;
    }
    let mut cat = host.catalog();
    let row = crate::relation::class(&mut cat, oid)?;
    let relacl = row.relacl.clone().map(|list| {
        let to = |o: Oid| if o == row.relowner { owner } else { o };
        list.into_iter()
            .map(|a| AclItem { grantee: to(a.grantee), grantor: to(a.grantor), ..a })
            .collect()
    });
    cat.update(&row, &PgClass { relowner: owner, relacl, ..row.row.clone() })?;
    if !matches!(rel.kind(), b'i' | b'I' | b't') {
        let this = ObjectAddress::relation(oid);
        for d in cat.scan(
            indexes::PG_SHDEPEND_DEPENDER_INDEX,
            &[cat_database(&cat).into(), PgClass::RELATION.into(), oid.into(), 0i32.into()],
        )? {
            if d.deptype == b'o' {
                cat.delete(&d)?;
            }
        }
        cat.record_owner(this, owner)?;
    }
    if let Some(ty) = rel.class.reltype.valid() {
        for ty in [Some(ty), cat.find_type(ty)?.map(|t| t.typarray)].into_iter().flatten() {
            if let Some(row) = cat.find_type(ty)? {
                cat.update(&row, &PgType { typowner: owner, ..row.row.clone() })?;
            }
        }
    }
    cat.increment_command_counter()?;
    let mut parts: Vec<Oid> = rel.indexes.iter().map(|i| i.indexrelid).collect();
    parts.extend(rel.class.reltoastrelid.valid());
    parts.extend(sequence::owned_by(host, oid, None)?);
    for part in parts {
        change_owner(host, part, owner, false)?;
    }
    Ok(())
}

fn cat_database(cat: &catalog::CatCx<'_>) -> Oid {
    cat.session.catalog.database()
}
