//! Writes expression nodes: those of `crate::nodes` field by field, and the others by hand.

use super::Writer;
use super::field::{CallArguments, Greatest, NeverSplit, NotStored, NumberedBool, WriteField};
use crate::expr::{
    Aggref, ArrayCoerceExpr, ArrayExpr, BoolExpr, BooleanTest, CaseExpr, CaseTestExpr, CaseWhen,
    CoalesceExpr, CoerceToDomain, CoerceToDomainValue, CoerceViaIo, CollateExpr, Const,
    ConvertRowtypeExpr, CurrentOfExpr, FieldSelect, FieldStore, FuncExpr, GroupingFunc, MinMaxExpr,
    NamedArgExpr, NextValueExpr, NullTest, OpExpr, Param, RelabelType, RowCompareExpr, RowExpr,
    ScalarArrayOpExpr, SetToDefault, SqlValueFunction, SubLink, SubPlan, SubscriptingRef,
    TargetEntry, Var, WindowFunc, XmlExpr,
};

/// A node that writes its fields.
pub(super) trait WriteNode {
    fn write(&self, w: &mut Writer);
}

impl<T: WriteNode> WriteNode for Box<T> {
    fn write(&self, w: &mut Writer) {
        T::write(self, w);
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

macro_rules! write_field {
    ($value:expr, $w:ident, $name:expr) => {
        $value.write_field($w, $name)
    };
    ($value:expr, $w:ident, $name:expr, $codec:ident) => {
        $codec::write(&$value, $w, $name)
    };
}

macro_rules! writers {
    ($(
        $(#[$doc:meta])*
        $node:ident {
            $($(#[$field_doc:meta])* $field:ident $(($name:literal))?: $ty:ty $(as $codec:ident)?,)*
        }
    )*) => {$(
        impl WriteNode for $node {
            // Not inlined, because the frame of the recursion would have room for every node.
            #[inline(never)]
            fn write(&self, w: &mut Writer) {
                $(write_field!(self.$field, w, stored_name!($field $($name)?) $(, $codec)?);)*
            }
        }
    )*};
}

expression_nodes!(writers);

impl WriteNode for Var {
    fn write(&self, w: &mut Writer) {
        w.num("varno", self.varno);
        w.num("varattno", self.varattno);
        w.num("vartype", self.vartype);
        w.num("vartypmod", self.vartypmod);
        w.num("varcollid", self.varcollid);
        w.num("varlevelsup", self.varlevelsup);
        w.num("varnosyn", self.varno);
        w.num("varattnosyn", self.varattno);
        w.location(self.location);
    }
}

impl WriteNode for Const {
    fn write(&self, w: &mut Writer) {
        w.constant(self);
    }
}

impl WriteNode for GroupingFunc {
    fn write(&self, w: &mut Writer) {
        w.exprs("args", &self.args);
        w.numbers("refs", 'i', &self.refs);
        w.name("cols");
        w.out.push_str("<>");
        w.num("agglevelsup", self.agglevelsup);
        w.location(self.location);
    }
}

/// SubPlans occur only in plans, which are never stored.
impl WriteNode for SubPlan {
    fn write(&self, _: &mut Writer) {}
}
