//! Reads expression nodes: those of `crate::nodes` field by field, and the others by hand.

use super::field::{CallArguments, Greatest, NeverSplit, NotStored, NumberedBool, ReadField};
use super::{constant, variable};
use crate::expr::{
    Aggref, ArrayCoerceExpr, ArrayExpr, BoolExpr, BooleanTest, CaseExpr, CaseTestExpr, CaseWhen,
    CoalesceExpr, CoerceToDomain, CoerceToDomainValue, CoerceViaIo, CollateExpr, Const,
    ConvertRowtypeExpr, CurrentOfExpr, FieldSelect, FieldStore, FuncExpr, GroupingFunc, MinMaxExpr,
    NamedArgExpr, NextValueExpr, NullTest, OpExpr, Param, RelabelType, RowCompareExpr, RowExpr,
    ScalarArrayOpExpr, SetToDefault, SqlValueFunction, SubLink, SubscriptingRef, TargetEntry, Var,
    WindowFunc, XmlExpr,
};
use crate::nodetree::text::NodeTree;
use pgerror::Result;

/// A node that is read from its stored form.
pub(super) trait ReadNode: Sized {
    fn read(n: &NodeTree) -> Result<Self>;
}

impl<T: ReadNode> ReadNode for Box<T> {
    fn read(n: &NodeTree) -> Result<Box<T>> {
        Ok(Box::new(T::read(n)?))
    }
}

macro_rules! stored_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

macro_rules! read_field {
    ($n:ident, $name:expr) => {
        ReadField::read_field($n, $name)?
    };
    ($n:ident, $name:expr, $codec:ident) => {
        $codec::read($n, $name)?
    };
}

macro_rules! readers {
    ($(
        $(#[$doc:meta])*
        $node:ident {
            $($(#[$field_doc:meta])* $field:ident $(($name:literal))?: $ty:ty $(as $codec:ident)?,)*
        }
    )*) => {$(
        impl ReadNode for $node {
            // Not inlined, because the frame of the recursion would have room for every node.
            #[inline(never)]
            fn read(n: &NodeTree) -> Result<$node> {
                Ok($node {
                    $($field: read_field!(n, stored_name!($field $($name)?) $(, $codec)?),)*
                })
            }
        }
    )*};
}

expression_nodes!(readers);

impl ReadNode for Var {
    fn read(n: &NodeTree) -> Result<Var> {
        variable(n)
    }
}

impl ReadNode for Const {
    fn read(n: &NodeTree) -> Result<Const> {
        constant(n)
    }
}

impl ReadNode for GroupingFunc {
    fn read(n: &NodeTree) -> Result<GroupingFunc> {
        Ok(GroupingFunc {
            args: n.exprs("args")?,
            refs: n.numbers("refs")?,
            agglevelsup: n.int("agglevelsup")?,
            location: n.location(),
        })
    }
}
