//! Partition keys, constraints and bounds as text.
//!
//! Counterpart: ruleutils.c: `pg_get_partkeydef`, `pg_get_partition_constraintdef` and
//! `PartitionBoundSpec` in `get_rule_expr`.

use crate::object::{expr_of, looks_like_function, opclass_suffix};
use crate::{Deparser, Style};
use analyze::session::{Host, SessionLookup};
use analyze::stored;
use analyze::stored::malformed;
use catalog::cache;
use ids::Oid;
use ids::code::PartStrategy;
use partition::{conjunction, partition_qual};
use pgerror::Result;
use plan::expr::Expr;
use plan::nodetree::{PartitionBound, RangeDatum};

/// `LIST (a)`, `RANGE (lower(b), c)`; `None` for a relation that is not partitioned.
pub fn partition_key(host: &mut dyn Host, oid: Oid) -> Result<Option<String>> {
    let Some(row) = host.catalog().search(cache::PARTRELID, &[oid.into()])? else {
        return Ok(None);
    };
    let mut exprs = match &row.partexprs {
        Some(text) => stored::exprs(&mut SessionLookup::new(host), text.as_str())?,
        None => Vec::new(),
    }
    .into_iter();
    let strategy = match row.partstrat {
        PartStrategy::Hash => "HASH",
        PartStrategy::List => "LIST",
        PartStrategy::Range => "RANGE",
    };
    let mut parts = Vec::new();
    for (i, &attno) in row.partattrs.iter().enumerate() {
        let (mut text, ty, collation) = if attno != 0 {
            let a = host.catalog().attribute(oid, attno)?.ok_or_else(malformed)?;
            let name = host.catalog().session.quoting.identifier(a.attname.as_str());
            (name, a.atttypid, a.attcollation)
        } else {
            let e = exprs.next().ok_or_else(malformed)?;
            let text = expr_of(host, &e, oid, Style::indented(false))?;
            let text = if looks_like_function(&e) { text } else { format!("({text})") };
            (text, e.type_oid(), e.collation())
        };
        let wanted = row.partcollation.get(i).copied().unwrap_or_default();
        if wanted.is_valid() && wanted != collation {
            let name = Deparser::new(host, Style::PLAIN).collation_name(wanted)?;
            text.push_str(&format!(" COLLATE {name}"));
        }
        if let Some(&class) = row.partclass.get(i) {
            text.push_str(&opclass_suffix(&mut host.catalog(), class, ty)?);
        }
        parts.push(text);
    }
    Ok(Some(format!("{strategy} ({})", parts.join(", "))))
}

/// The partition constraint as a condition; `None` if the relation is not a partition or accepts
/// all rows.
pub fn partition_constraint(host: &mut dyn Host, oid: Oid) -> Result<Option<String>> {
    let conditions = partition_qual(&mut host.catalog(), oid)?;
    if conditions.is_empty() {
        return Ok(None);
    }
    expr_of(host, &conjunction(conditions), oid, Style::indented(false)).map(Some)
}

/// `FOR VALUES …` or `DEFAULT`.
pub(super) fn partition_bound(host: &mut dyn Host, bound: &PartitionBound) -> Result<String> {
    Ok(match bound {
        PartitionBound::Default => "DEFAULT".to_owned(),
        PartitionBound::Hash { modulus, remainder } => {
            format!("FOR VALUES WITH (modulus {modulus}, remainder {remainder})")
        }
        PartitionBound::List(values) => {
            let mut parts = Vec::with_capacity(values.len());
            for value in values {
                parts.push(bare(host, value)?);
            }
            format!("FOR VALUES IN ({})", parts.join(", "))
        }
        PartitionBound::Range { from, to } => {
            format!("FOR VALUES FROM ({}) TO ({})", end(host, from)?, end(host, to)?)
        }
    })
}

/// One end of a range, in parentheses.
pub fn range_bound(host: &mut dyn Host, columns: &[RangeDatum]) -> Result<String> {
    Ok(format!("({})", end(host, columns)?))
}

fn end(host: &mut dyn Host, columns: &[RangeDatum]) -> Result<String> {
    let mut parts = Vec::with_capacity(columns.len());
    for column in columns {
        parts.push(match column {
            RangeDatum::Least => "MINVALUE".to_owned(),
            RangeDatum::Greatest => "MAXVALUE".to_owned(),
            RangeDatum::Value(value) => bare(host, value)?,
        });
    }
    Ok(parts.join(", "))
}

/// A constant without a type label; it has the type of the column.
fn bare(host: &mut dyn Host, value: &Expr) -> Result<String> {
    let Expr::Const(c) = value else { return Err(malformed()) };
    let mut d = Deparser::new(host, Style::PLAIN);
    d.constant(c, -1)?;
    Ok(d.out)
}
