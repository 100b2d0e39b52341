//! Reads partition bounds (`PartitionBoundSpec`).

use super::super::text::{Tree, malformed, parse};
use crate::expr::Expr;
use pgerror::Result;

/// Bound of a partition (`pg_class.relpartbound`).
pub enum PartitionBound {
    Default,
    Hash { modulus: i32, remainder: i32 },
    List(Vec<Expr>),
    Range { from: Vec<RangeDatum>, to: Vec<RangeDatum> },
}

/// One column of a range bound: MINVALUE, a value or MAXVALUE.
pub enum RangeDatum {
    Least,
    Value(Expr),
    Greatest,
}

/// Reads a partition bound; `None` if the text is not one.
pub fn read_partition_bound(text: &str) -> Result<Option<PartitionBound>> {
    if !text.starts_with("{PARTITIONBOUNDSPEC ") {
        return Ok(None);
    }
    let Tree::Node(n) = parse(text)? else { return Ok(None) };
    if n.bool("is_default")? {
        return Ok(Some(PartitionBound::Default));
    }
    Ok(Some(match n.char("strategy")? {
        b'h' => PartitionBound::Hash { modulus: n.int("modulus")?, remainder: n.int("remainder")? },
        b'l' => PartitionBound::List(n.exprs("listdatums")?),
        b'r' => PartitionBound::Range {
            from: n.list("lowerdatums", range_datum)?,
            to: n.list("upperdatums", range_datum)?,
        },
        other => return Err(malformed(format_args!("strategy {other} of a partition"))),
    }))
}

fn range_datum(tree: &Tree) -> Result<RangeDatum> {
    let Tree::Node(n) = tree else { return Err(malformed("a range datum is not a node")) };
    Ok(match n.int::<i32>("kind")? {
        -1 => RangeDatum::Least,
        0 => RangeDatum::Value(n.expr("value")?),
        _ => RangeDatum::Greatest,
    })
}
