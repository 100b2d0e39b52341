//! The direct sub-expressions of each node: those in its fields, in the order of declaration.

use crate::expr::{
    AggSplit, Aggref, ArrayCoerceExpr, ArrayExpr, BoolExpr, BoolOp, BoolTestKind, BooleanTest,
    CaseExpr, CaseTestExpr, CaseWhen, CoalesceExpr, CoerceToDomain, CoerceToDomainValue,
    CoerceViaIo, CoercionForm, CollateExpr, Const, ConvertRowtypeExpr, CurrentOfExpr, Expr,
    FieldSelect, FieldStore, FuncExpr, GroupingFunc, Location, MinMaxExpr, NamedArgExpr,
    NextValueExpr, NullTest, OpExpr, Param, ParamKind, RelabelType, RowCompareExpr, RowCompareKind,
    RowExpr, ScalarArrayOpExpr, SetToDefault, SqlValueFunction, SqlValueKind, SubLink, SubLinkKind,
    SubPlan, SubscriptingRef, TargetEntry, Var, WindowFunc, XmlExpr, XmlOp,
};
use crate::query::{Query, SortGroupClause};
use ids::Oid;
use ids::code::AggKind;
use stdx::Nested;

/// A node, or a field of one.
pub(super) trait Children {
    /// Calls `f` on each expression in it that is not within another one.
    fn each<'a>(&'a self, f: &mut dyn FnMut(&'a Expr));

    fn each_mut(&mut self, f: &mut dyn FnMut(&mut Expr));
}

impl Children for Expr {
    fn each<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        f(self);
    }

    fn each_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        f(self);
    }
}

impl<T: Children> Children for Vec<T> {
    fn each<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        for item in self {
            item.each(f);
        }
    }

    fn each_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        for item in self {
            item.each_mut(f);
        }
    }
}

impl<T: Children> Children for Option<T> {
    fn each<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        if let Some(item) = self {
            item.each(f);
        }
    }

    fn each_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        if let Some(item) = self {
            item.each_mut(f);
        }
    }
}

macro_rules! nodes {
    ($(
        $(#[$doc:meta])*
        $node:ident {
            $($(#[$field_doc:meta])* $field:ident $(($name:literal))?: $ty:ty $(as $codec:ident)?,)*
        }
    )*) => {$(
        impl Children for $node {
            fn each<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
                $(self.$field.each(f);)*
            }

            fn each_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
                $(self.$field.each_mut(f);)*
            }
        }
    )*};
}

expression_nodes!(nodes);

impl Children for GroupingFunc {
    fn each<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        self.args.each(f);
    }

    fn each_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.args.each_mut(f);
    }
}

impl Children for SubPlan {
    fn each<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        self.testexpr.each(f);
        self.args.each(f);
    }

    fn each_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.testexpr.each_mut(f);
        self.args.each_mut(f);
    }
}

/// Types that contain no expression of the same query level.
macro_rules! leaves {
    ($($ty:ty),* $(,)?) => {$(
        impl Children for $ty {
            fn each<'a>(&'a self, _: &mut dyn FnMut(&'a Expr)) {}

            fn each_mut(&mut self, _: &mut dyn FnMut(&mut Expr)) {}
        }
    )*};
}

leaves! {
    Var, Const, Nested<Query>, SortGroupClause, Oid, bool, i16, i32, u32, String, Location,
    AggKind, AggSplit, BoolOp, BoolTestKind, CoercionForm, ParamKind, RowCompareKind, SqlValueKind,
    SubLinkKind, XmlOp,
}
