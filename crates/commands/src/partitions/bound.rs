//! FOR VALUES and DEFAULT: the bound of a new partition.
//!
//! Counterpart: `transformPartitionBound`, `check_new_partition_bound`, `StorePartitionBound`.

use catalog::rows::{PgClass, PgPartitionedTable, Text};
use catalog::{RelDesc, cache};
use deparse::{Deparser, Style};
use eval::EvalState;
use ids::code::PartStrategy;
use ids::{Oid, RelKind};
use parse::ast::{Node, PartitionBoundSpec, PartitionCmd};
use partition::{Bound, Conflict, Detached, Place};
use pgerror::{PgError, Result, bail, pg_err};
use plan::Expr;
use plan::expr::{Const, Location};
use plan::nodetree::{BoundPlaces, PartitionBound, RangeDatum, write_partition_bound};
use utility::host::CommandHost;
use utility::{class, exprs};

/// An analysed bound.
pub struct NewBound {
    pub bound: PartitionBound,
    places: BoundPlaces,
    /// Positions of the values of a list.
    values: Vec<i32>,
}

/// A key column of the partitioned table, as in messages.
struct KeyColumn {
    name: String,
    ty: Oid,
    typmod: i32,
    collation: Oid,
}

/// Analyses the bound of a partition of `parent`.
pub fn transform(
    host: &mut dyn CommandHost,
    parent: &RelDesc,
    spec: &PartitionBoundSpec,
    sql: &str,
) -> Result<NewBound> {
    let key = partition::partition_key(&mut host.catalog(), parent)?;
    let mut places = BoundPlaces {
        strategy: key.strategy as u8,
        location: spec.location,
        ..BoundPlaces::default()
    };
    let mut values = Vec::new();
    if spec.is_default {
        if key.strategy == PartStrategy::Hash {
            bail!(
                INVALID_TABLE_DEFINITION,
                "a hash-partitioned table may not have a default partition"
            );
        }
        return Ok(NewBound { bound: PartitionBound::Default, places, values });
    }
    if spec.strategy != key.strategy as u8 {
        let kind = match key.strategy {
            PartStrategy::Hash => "hash",
            PartStrategy::List => "list",
            PartStrategy::Range => "range",
        };
        let message = format!("invalid bound specification for a {kind} partition");
        return Err(PgError::new(pgerror::SqlState::INVALID_TABLE_DEFINITION, message)
            .at(parse::position(sql, spec.location)));
    }
    let bound = match key.strategy {
        PartStrategy::Hash => {
            if spec.modulus <= 0 {
                bail!(
                    INVALID_TABLE_DEFINITION,
                    "modulus for hash partition must be an integer value greater than zero"
                );
            }
            if spec.remainder >= spec.modulus {
                bail!(
                    INVALID_TABLE_DEFINITION,
                    "remainder for hash partition must be less than modulus"
                );
            }
            PartitionBound::Hash { modulus: spec.modulus, remainder: spec.remainder }
        }
        PartStrategy::List => {
            let columns = key_columns(host, parent, &key)?;
            let column = columns.first().ok_or_else(|| PgError::internal("key without column"))?;
            let mut list: Vec<Expr> = Vec::with_capacity(spec.listdatums.len());
            for node in &spec.listdatums {
                let value = value(host, node, column, sql)?;
                if !list.contains(&value) {
                    values.push(location(node));
                    list.push(value);
                }
            }
            PartitionBound::List(list)
        }
        PartStrategy::Range => {
            let columns = key_columns(host, parent, &key)?;
            for (word, list) in [("FROM", &spec.lowerdatums), ("TO", &spec.upperdatums)] {
                if list.len() != columns.len() {
                    bail!(
                        INVALID_TABLE_DEFINITION,
                        "{word} must specify exactly one value per partitioning column"
                    );
                }
            }
            places.from = spec.lowerdatums.iter().map(location).collect();
            places.to = spec.upperdatums.iter().map(location).collect();
            let from = range_end(host, &spec.lowerdatums, &columns, sql)?;
            let to = range_end(host, &spec.upperdatums, &columns, sql)?;
            PartitionBound::Range { from, to }
        }
    };
    Ok(NewBound { bound, places, values })
}

fn key_columns(
    host: &mut dyn CommandHost,
    parent: &RelDesc,
    key: &partition::PartitionKey,
) -> Result<Vec<KeyColumn>> {
    let mut out = Vec::with_capacity(key.columns.len());
    for c in &key.columns {
        let name = match parent.attribute(c.attno) {
            Some(a) => a.attname.to_string(),
            None => {
                let d = Deparser::new(host, Style::PLAIN).with_relation(parent.oid())?;
                d.expression(&c.expr)?
            }
        };
        out.push(KeyColumn { name, ty: c.ty, typmod: c.typmod, collation: c.collation });
    }
    Ok(out)
}

/// One end of a range. After MINVALUE or MAXVALUE only the same may follow.
fn range_end(
    host: &mut dyn CommandHost,
    nodes: &[Node],
    columns: &[KeyColumn],
    sql: &str,
) -> Result<Vec<RangeDatum>> {
    let mut out = Vec::with_capacity(nodes.len());
    for (node, column) in nodes.iter().zip(columns) {
        out.push(match unbounded(node) {
            Some(datum) => datum,
            None => {
                let value = value(host, node, column, sql)?;
                if matches!(&value, Expr::Const(c) if c.is_null()) {
                    bail!(INVALID_OBJECT_DEFINITION, "cannot specify NULL in range bound");
                }
                RangeDatum::Value(value)
            }
        });
    }
    let word = |d: &RangeDatum| match d {
        RangeDatum::Least => Some("MINVALUE"),
        RangeDatum::Greatest => Some("MAXVALUE"),
        RangeDatum::Value(_) => None,
    };
    for (n, pair) in out.windows(2).enumerate() {
        if let Some(first) = word(&pair[0])
            && word(&pair[1]) != Some(first)
        {
            let e =
                pg_err!(DATATYPE_MISMATCH, "every bound following {first} must also be {first}");
            return Err(e.at(parse::position(sql, location(&nodes[n + 1]))));
        }
    }
    Ok(out)
}

/// MINVALUE and MAXVALUE, which are parsed as column references.
fn unbounded(node: &Node) -> Option<RangeDatum> {
    let Node::ColumnRef(r) = node else { return None };
    match r.fields.as_slice() {
        [Node::String(name)] => match &**name {
            "minvalue" => Some(RangeDatum::Least),
            "maxvalue" => Some(RangeDatum::Greatest),
            _ => None,
        },
        _ => None,
    }
}

/// The value of an expression in a bound, as a constant of the type of the key column.
fn value(host: &mut dyn CommandHost, node: &Node, column: &KeyColumn, sql: &str) -> Result<Expr> {
    let mut cat = analyze::SessionLookup::new(host);
    let coerced =
        analyze::ddl::partition_bound_value(&mut cat, node, sql, column.ty, column.typmod)?;
    let place = location(node);
    let Some(e) = coerced else {
        let shown = host.catalog().format_type(column.ty)?;
        return Err(pg_err!(
            DATATYPE_MISMATCH,
            "specified value cannot be cast to type {shown} for column \"{}\"",
            column.name
        )
        .at(parse::position(sql, place)));
    };
    if let Expr::Const(mut c) = e {
        c.constcollid = column.collation;
        c.location = Location(place);
        return Ok(Expr::Const(c));
    }
    let e = host.planner().fold(e)?;
    let program = exprs::compile(host.facts(), &e, &[])?;
    let mut state = EvalState::default();
    let value = exprs::value(&program, &mut state, host.expressions(), &[])?;
    let row = host.catalog().type_row(column.ty)?;
    Ok(Expr::Const(Const {
        consttype: column.ty,
        consttypmod: column.typmod,
        constcollid: column.collation,
        constlen: row.typlen,
        constbyval: row.typbyval,
        value,
        location: Location(place),
    }))
}

/// The position of an expression in the statement: that of its leftmost part. Counterpart:
/// `exprLocation`.
fn location(node: &Node) -> i32 {
    let leftmost = |a: i32, b: i32| match (a, b) {
        (-1, other) | (other, -1) => other,
        (a, b) => a.min(b),
    };
    match node {
        Node::ColumnRef(n) => n.location,
        Node::ParamRef(n) => n.location,
        Node::AConst(n) => n.location,
        Node::AExpr(n) => leftmost(n.location, n.lexpr.as_ref().map_or(-1, location)),
        Node::TypeCast(n) => leftmost(leftmost(location(&n.arg), n.type_name.location), n.location),
        Node::CollateClause(n) => n.arg.as_ref().map_or(n.location, location),
        Node::FuncCall(n) => leftmost(n.location, n.args.first().map_or(-1, location)),
        Node::AArrayExpr(n) => n.location,
        Node::BoolExpr(n) => leftmost(n.location, n.args.first().map_or(-1, location)),
        Node::RowExpr(n) => n.location,
        Node::CoalesceExpr(n) => n.location,
        Node::SqlValueFunction(n) => n.location,
        Node::SubLink(n) => n.location,
        Node::CaseExpr(n) => n.location,
        Node::NullTest(n) => n.location,
        Node::AIndirection(n) => location(&n.arg),
        _ => -1,
    }
}

/// Error 42P17 if the bound of the new partition is empty or overlaps that of another one.
pub fn check(
    host: &mut dyn CommandHost,
    name: &str,
    parent: &RelDesc,
    new: &NewBound,
    sql: &str,
) -> Result<()> {
    let desc = partition::partition_desc(&mut host.catalog(), parent, Detached::Include)?;
    let Some(conflict) = partition::conflict(&desc, &Bound::of(&new.bound)?) else {
        return Ok(());
    };
    let mut name_of = |n: usize| -> Result<String> {
        Ok(host.catalog().class(desc.partitions[n].oid)?.relname.to_string())
    };
    let factor = |detail: String| {
        pg_err!(
            INVALID_OBJECT_DEFINITION,
            "every hash partition modulus must be a factor of the next larger modulus"
        )
        .detail(detail)
    };
    let modulus = match new.bound {
        PartitionBound::Hash { modulus, .. } => modulus,
        _ => 0,
    };
    let places = &new.places;
    let at = |list: &[i32], n: usize| list.get(n).copied().unwrap_or(-1);
    let (error, location) = match conflict {
        Conflict::Default(n) => {
            let other = name_of(n)?;
            let e = pg_err!(
                INVALID_OBJECT_DEFINITION,
                "partition \"{name}\" conflicts with existing default partition \"{other}\""
            );
            (e, places.location)
        }
        Conflict::Empty { column } => {
            let PartitionBound::Range { from, to } = &new.bound else { return Ok(()) };
            let (from, to) = (deparse::range_bound(host, from)?, deparse::range_bound(host, to)?);
            let e = pg_err!(
                INVALID_OBJECT_DEFINITION,
                "empty range bound specified for partition \"{name}\""
            )
            .detail(format!(
                "Specified lower bound {from} is greater than or equal to upper bound {to}."
            ));
            (e, at(&places.from, column))
        }
        Conflict::Overlap { with, place } => {
            let other = name_of(with)?;
            let e = pg_err!(
                INVALID_OBJECT_DEFINITION,
                "partition \"{name}\" would overlap partition \"{other}\""
            );
            let location = match place {
                Place::Whole => places.location,
                Place::Value(n) => at(&new.values, n),
                Place::Lower(n) => at(&places.from, n),
                Place::Upper(n) => at(&places.to, n),
            };
            (e, location)
        }
        Conflict::NotAFactor { modulus: greater, of } => {
            let other = name_of(of)?;
            return Err(factor(format!(
                "The new modulus {modulus} is not a factor of {greater}, the modulus of existing \
                 partition \"{other}\"."
            )));
        }
        Conflict::NotAMultiple { modulus: smaller, of } => {
            let other = name_of(of)?;
            return Err(factor(format!(
                "The new modulus {modulus} is not divisible by {smaller}, the modulus of existing \
                 partition \"{other}\"."
            )));
        }
    };
    Err(error.at(parse::position(sql, location)))
}

/// The default partition of a table, which a new partition takes rows from; it is locked.
pub fn lock_default(host: &mut dyn CommandHost, parent: &RelDesc) -> Result<Option<Oid>> {
    let default = default_of(host, parent)?;
    if let Some(oid) = default {
        host.lock_relation(oid, utility::names::mode::ACCESS_EXCLUSIVE)?;
    }
    Ok(default)
}

/// The default partition of a table.
pub fn default_of(host: &mut dyn CommandHost, parent: &RelDesc) -> Result<Option<Oid>> {
    let desc = partition::partition_desc(&mut host.catalog(), parent, Detached::Omit)?;
    Ok(desc.default.map(|n| desc.partitions[n].oid))
}

/// Stores the bound in the partition's row.
pub fn store(host: &mut dyn CommandHost, child: Oid, parent: Oid, new: &NewBound) -> Result<()> {
    let mut cat = host.catalog();
    let row = class::row(&mut cat, child)?;
    let text = Text::from(write_partition_bound(&new.bound, &new.places));
    let mut class = PgClass { relispartition: true, relpartbound: Some(text), ..row.row.clone() };
    if row.relkind == RelKind::Table {
        class.relhassubclass = false;
    }
    cat.update(&row, &class)?;
    if matches!(new.bound, PartitionBound::Default) {
        set_default(host, parent, child)?;
    }
    let mut cat = host.catalog();
    cat.increment_command_counter()?;
    cat.invalidate_relation(parent, false);
    cat.increment_command_counter()?;
    let parent = host.catalog().relation(parent)?;
    if let Some(default) = default_of(host, &parent)? {
        host.catalog().invalidate_relation(default, false);
    }
    Ok(())
}

/// Stores the default partition of a table; the invalid OID for none. Counterpart:
/// `update_default_partition_oid`.
pub fn set_default(host: &mut dyn CommandHost, parent: Oid, default: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let row = cat.search(cache::PARTRELID, &[parent.into()])?;
    let row = row.ok_or_else(|| PgError::internal("partitioned table without a key"))?;
    cat.update(&row, &PgPartitionedTable { partdefid: default, ..row.row.clone() })?;
    Ok(())
}

/// The bound in ATTACH PARTITION.
pub fn of_command(cmd: &PartitionCmd) -> Result<&PartitionBoundSpec> {
    cmd.bound.as_deref().ok_or_else(|| PgError::internal("ATTACH PARTITION without a bound"))
}
