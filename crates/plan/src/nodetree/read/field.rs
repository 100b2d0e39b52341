//! Reads fields of expression nodes, by their type or by a codec that `crate::nodes` names.

use super::expr::ReadNode;
use super::{node, query, sort_group, target};
use crate::expr::{
    AggSplit, BoolOp, BoolTestKind, CaseWhen, CoercionForm, Expr, Location, ParamKind,
    RowCompareKind, SqlValueKind, SubLinkKind, TargetEntry, XmlOp,
};
use crate::nodetree::text::NodeTree;
use crate::query::{Query, SortGroupClause};
use ids::code::AggKind;
use ids::{AttrNo, Oid};
use pgerror::Result;
use stdx::Nested;

/// A type that determines the stored form of a field.
pub(super) trait ReadField: Sized {
    fn read_field(n: &NodeTree, name: &str) -> Result<Self>;
}

macro_rules! fields {
    ($($ty:ty: |$n:ident, $name:ident| $read:expr;)*) => {$(
        impl ReadField for $ty {
            fn read_field($n: &NodeTree, $name: &str) -> Result<$ty> {
                $read
            }
        }
    )*};
}

fields! {
    bool: |n, name| n.bool(name);
    AttrNo: |n, name| n.int(name);
    i32: |n, name| n.int(name);
    u32: |n, name| n.int(name);
    Oid: |n, name| n.oid(name);
    String: |n, name| n.string(name);
    Option<String>: |n, name| n.opt_string(name);
    Expr: |n, name| n.expr(name);
    Option<Expr>: |n, name| n.opt_expr(name);
    Vec<AttrNo>: |n, name| n.numbers(name);
    Vec<Oid>: |n, name| n.oids(name);
    Vec<String>: |n, name| n.strings(name);
    Vec<Expr>: |n, name| n.exprs(name);
    Vec<Option<Expr>>: |n, name| n.opt_exprs(name);
    Vec<TargetEntry>: |n, name| n.list(name, target);
    Vec<SortGroupClause>: |n, name| n.list(name, sort_group);
    Vec<CaseWhen>: |n, name| n.list(name, |t| CaseWhen::read(node(t, "")?));
    Nested<Query>: |n, name| Ok(Nested::new(query(n.value(name)?)?));
    AggKind: |n, name| n.code(name, AggKind::from_char);
    CoercionForm: |n, name| n.form(name);
    BoolOp: |n, name| Ok(match n.word(name)? {
        "and" => BoolOp::And,
        "or" => BoolOp::Or,
        _ => BoolOp::Not,
    });
    RowCompareKind: |n, name| Ok(match n.int::<i32>(name)? {
        1 => RowCompareKind::Lt,
        2 => RowCompareKind::Le,
        3 => RowCompareKind::Eq,
        4 => RowCompareKind::Ge,
        5 => RowCompareKind::Gt,
        _ => RowCompareKind::Ne,
    });
}

impl ReadField for Location {
    fn read_field(n: &NodeTree, _: &str) -> Result<Location> {
        Ok(n.location())
    }
}

/// Enums that are stored as the position of the value.
macro_rules! positions {
    ($($ty:ident: $($value:ident)*;)*) => {$(
        impl ReadField for $ty {
            fn read_field(n: &NodeTree, name: &str) -> Result<$ty> {
                n.pick(name, &[$($ty::$value),*])
            }
        }
    )*};
}

positions! {
    ParamKind: Extern Exec Sublink MultiExpr;
    SubLinkKind: Exists All Any RowCompare Expr MultiExpr Array Cte;
    BoolTestKind: IsTrue IsNotTrue IsFalse IsNotFalse IsUnknown IsNotUnknown;
    XmlOp: Concat Element Forest Parse Pi Root Serialize IsDocument;
    SqlValueKind: CurrentDate CurrentTime CurrentTimeN CurrentTimestamp CurrentTimestampN Localtime
        LocaltimeN Localtimestamp LocaltimestampN CurrentRole CurrentUser User SessionUser
        CurrentCatalog CurrentSchema;
}

/// A flag that is stored as 0 or 1.
pub(super) struct NumberedBool;

impl NumberedBool {
    pub(super) fn read(n: &NodeTree, name: &str) -> Result<bool> {
        Ok(n.int::<i32>(name)? == 1)
    }
}

/// `GREATEST` is stored as 0, `LEAST` as 1.
pub(super) struct Greatest;

impl Greatest {
    pub(super) fn read(n: &NodeTree, name: &str) -> Result<bool> {
        Ok(n.int::<i32>(name)? == 0)
    }
}

/// Arguments of a call, all of which are read.
pub(super) struct CallArguments;

impl CallArguments {
    pub(super) fn read(n: &NodeTree, name: &str) -> Result<Vec<Expr>> {
        n.exprs(name)
    }
}

/// Aggregates are split by the planner, so that a stored one is not.
pub(super) struct NeverSplit;

impl NeverSplit {
    pub(super) fn read(_: &NodeTree, _: &str) -> Result<AggSplit> {
        Ok(AggSplit::Simple)
    }
}

/// An OID that the reader of the tree looks up.
pub(super) struct NotStored;

impl NotStored {
    pub(super) fn read(_: &NodeTree, _: &str) -> Result<Oid> {
        Ok(Oid::INVALID)
    }
}
