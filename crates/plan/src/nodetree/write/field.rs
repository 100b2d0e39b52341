//! Writes fields of expression nodes, by their type or by a codec that `crate::nodes` names.

use super::Writer;
use super::expr::WriteNode;
use crate::expr::{
    AggSplit, BoolOp, BoolTestKind, CaseWhen, CoercionForm, Expr, Location, ParamKind,
    RowCompareKind, SqlValueKind, SubLinkKind, TargetEntry, XmlOp,
};
use crate::query::{Query, SortGroupClause};
use ids::code::AggKind;
use ids::{AttrNo, Oid};
use stdx::Nested;

/// A type that determines the stored form of a field.
pub(super) trait WriteField {
    fn write_field(&self, w: &mut Writer, name: &str);
}

macro_rules! fields {
    ($($ty:ty: |$value:ident, $w:ident, $name:ident| $write:expr;)*) => {$(
        impl WriteField for $ty {
            fn write_field(&self, $w: &mut Writer, $name: &str) {
                let $value = self;
                $write
            }
        }
    )*};
}

fields! {
    bool: |v, w, name| w.bool(name, *v);
    AttrNo: |v, w, name| w.num(name, v);
    i32: |v, w, name| w.num(name, v);
    u32: |v, w, name| w.num(name, v);
    Oid: |v, w, name| w.num(name, v);
    String: |v, w, name| w.string(name, Some(v));
    Option<String>: |v, w, name| w.string(name, v.as_deref());
    Expr: |v, w, name| w.expr(name, v);
    Option<Expr>: |v, w, name| w.opt_expr(name, v.as_ref());
    Vec<AttrNo>: |v, w, name| w.numbers(name, 'i', v);
    Vec<Oid>: |v, w, name| w.oids(name, v);
    Vec<String>: |v, w, name| w.strings(name, v);
    Vec<Expr>: |v, w, name| w.exprs(name, v);
    Vec<Option<Expr>>: |v, w, name| w.opt_exprs(name, v);
    Vec<TargetEntry>: |v, w, name| w.targets(name, v);
    Vec<SortGroupClause>: |v, w, name| w.sort_groups(name, v);
    Vec<CaseWhen>: |v, w, name| {
        w.list(name, v, |w, when| w.node("CASEWHEN", |w| when.write(w)));
    };
    Nested<Query>: |v, w, name| {
        w.name(name);
        w.put_query(v);
    };
    Location: |v, w, _name| w.location(*v);
    AggKind: |v, w, name| w.char(name, v.to_char());
    CoercionForm: |v, w, name| w.form(name, *v);
    BoolOp: |v, w, name| w.num(name, match v {
        BoolOp::And => "and",
        BoolOp::Or => "or",
        BoolOp::Not => "not",
    });
}

/// Enums that are stored as the number of the value.
macro_rules! numbers {
    ($($ty:ident)*) => {$(
        impl WriteField for $ty {
            fn write_field(&self, w: &mut Writer, name: &str) {
                w.num(name, *self as i32);
            }
        }
    )*};
}

numbers! { ParamKind SubLinkKind BoolTestKind XmlOp SqlValueKind RowCompareKind }

/// A flag that is stored as 0 or 1.
pub(super) struct NumberedBool;

impl NumberedBool {
    pub(super) fn write(value: &bool, w: &mut Writer, name: &str) {
        w.num(name, i32::from(*value));
    }
}

/// `GREATEST` is stored as 0, `LEAST` as 1.
pub(super) struct Greatest;

impl Greatest {
    pub(super) fn write(value: &bool, w: &mut Writer, name: &str) {
        w.num(name, i32::from(!value));
    }
}

/// Analysis marks an argument that comes from a default by a NamedArg with an empty name.
/// PostgreSQL does not store such arguments.
pub(super) struct CallArguments;

impl CallArguments {
    pub(super) fn write(args: &[Expr], w: &mut Writer, name: &str) {
        let stored = |a: &&Expr| !matches!(a, Expr::NamedArg(n) if n.name.is_empty());
        w.exprs(name, &args.iter().filter(stored).cloned().collect::<Vec<_>>());
    }
}

/// Aggregates are split by the planner, so that a stored one is not.
pub(super) struct NeverSplit;

impl NeverSplit {
    pub(super) fn write(_: &AggSplit, w: &mut Writer, name: &str) {
        w.num(name, 0);
    }
}

/// An OID that the reader of the tree looks up.
pub(super) struct NotStored;

impl NotStored {
    pub(super) fn write(_: &Oid, _: &mut Writer, _: &str) {}
}
