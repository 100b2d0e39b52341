//! Expressions and names.

use super::enums::{
    AExprKind, BoolExprType, BoolTestType, CoercionForm, DefElemAction, FunctionParameterMode,
    MinMaxOp, NullTestType, RoleSpecType, SqlValueFunctionOp, SubLinkType,
};
use super::query::{SortBy, WindowDef};
use super::{Name, Node};

/// A possibly qualified name, `a.b.c` or `a.*`: strings, then perhaps a star.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ColumnRef {
    pub fields: Vec<Node>,
    pub location: i32,
}

/// `$n`; number 0 is `?`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ParamRef {
    pub number: i32,
    pub location: i32,
}

/// An operator expression: prefix operators have no left side; see [`AExprKind`].
#[derive(Clone, PartialEq, Debug)]
pub struct AExpr {
    pub kind: AExprKind,
    pub name: Vec<Name>,
    pub lexpr: Option<Node>,
    pub rexpr: Node,
    pub rexpr_list_start: i32,
    pub rexpr_list_end: i32,
    pub location: i32,
}

/// A literal.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AConst {
    pub val: Value,
    pub location: i32,
}

/// `CAST(arg AS type)`, `arg::type` or `type 'literal'`.
#[derive(Clone, PartialEq, Debug)]
pub struct TypeCast {
    pub arg: Node,
    pub type_name: TypeName,
    pub location: i32,
}

/// `arg COLLATE name`; in column definitions without an argument.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CollateClause {
    pub arg: Option<Node>,
    pub collname: Vec<Name>,
    pub location: i32,
}

/// A function, aggregate or window function call.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FuncCall {
    pub funcname: Vec<Name>,
    pub args: Vec<Node>,
    pub agg_order: Vec<SortBy>,
    pub agg_filter: Option<Node>,
    pub over: Option<Box<WindowDef>>,
    pub agg_within_group: bool,
    pub agg_star: bool,
    pub agg_distinct: bool,
    pub func_variadic: bool,
    pub funcformat: CoercionForm,
    pub location: i32,
}

/// `name => arg` in a call.
#[derive(Clone, PartialEq, Debug)]
pub struct NamedArgExpr {
    pub arg: Node,
    pub name: Name,
    pub location: i32,
}

/// `[uidx]` or `[lidx:uidx]`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AIndices {
    pub is_slice: bool,
    pub lidx: Option<Node>,
    pub uidx: Option<Node>,
}

/// Subscripts, field names and stars after an expression.
#[derive(Clone, PartialEq, Debug)]
pub struct AIndirection {
    pub arg: Node,
    pub indirection: Vec<Node>,
}

/// `ARRAY[…]`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AArrayExpr {
    pub elements: Vec<Node>,
    pub list_start: i32,
    pub list_end: i32,
    pub location: i32,
}

/// AND and OR (flattened, two or more arguments), NOT (one).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BoolExpr {
    pub boolop: BoolExprType,
    pub args: Vec<Node>,
    pub location: i32,
}

/// A sub-select in an expression; `oper_name` is empty for IN.
#[derive(Clone, PartialEq, Debug)]
pub struct SubLink {
    pub sub_link_type: SubLinkType,
    pub testexpr: Option<Node>,
    pub oper_name: Vec<Name>,
    pub subselect: Node,
    pub location: i32,
}

/// `arg IS [NOT] NULL`.
#[derive(Clone, PartialEq, Debug)]
pub struct NullTest {
    pub arg: Node,
    pub nulltesttype: NullTestType,
    pub location: i32,
}

/// `arg IS [NOT] TRUE`, and so on.
#[derive(Clone, PartialEq, Debug)]
pub struct BooleanTest {
    pub arg: Node,
    pub booltesttype: BoolTestType,
    pub location: i32,
}

/// CASE with or without a test argument.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CaseExpr {
    pub arg: Option<Node>,
    pub args: Vec<CaseWhen>,
    pub defresult: Option<Node>,
    pub location: i32,
}

/// One WHEN of a CASE.
#[derive(Clone, PartialEq, Debug)]
pub struct CaseWhen {
    pub expr: Node,
    pub result: Node,
    pub location: i32,
}

/// `ROW(…)` or `(a, b)`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RowExpr {
    pub args: Vec<Node>,
    pub row_format: CoercionForm,
    pub location: i32,
}

/// `COALESCE(…)`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CoalesceExpr {
    pub args: Vec<Node>,
    pub location: i32,
}

/// `GREATEST(…)`, `LEAST(…)`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MinMaxExpr {
    pub op: MinMaxOp,
    pub args: Vec<Node>,
    pub location: i32,
}

/// `CURRENT_DATE` and similar functions; `typmod` is the precision, -1 if none was given.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SqlValueFunction {
    pub op: SqlValueFunctionOp,
    pub typmod: i32,
    pub location: i32,
}

/// `GROUPING(…)`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GroupingFunc {
    pub args: Vec<Node>,
    pub location: i32,
}

/// DEFAULT as a value in INSERT and UPDATE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SetToDefault {
    pub location: i32,
}

/// `WHERE CURRENT OF cursor`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CurrentOfExpr {
    pub cursor_name: Option<Name>,
    pub cursor_param: i32,
}

/// The `colno`-th (from 1) column of a row assigned to several targets.
#[derive(Clone, PartialEq, Debug)]
pub struct MultiAssignRef {
    pub source: Node,
    pub colno: i32,
    pub ncolumns: i32,
}

/// A type as written; array bounds are integers, -1 where open.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TypeName {
    pub names: Vec<Name>,
    pub setof: bool,
    pub pct_type: bool,
    pub typmods: Vec<Node>,
    pub array_bounds: Vec<Node>,
    pub location: i32,
}

/// An option: a name with an optional value and namespace.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DefElem {
    pub defnamespace: Option<Name>,
    pub defname: Name,
    pub arg: Option<Node>,
    pub defaction: DefElemAction,
    pub location: i32,
}

/// A role by name, or CURRENT_USER and similar keywords.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RoleSpec {
    pub roletype: RoleSpecType,
    pub rolename: Option<Name>,
    pub location: i32,
}

/// A function, operator or aggregate with its argument types; `None` stands for NONE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ObjectWithArgs {
    pub objname: Vec<Name>,
    pub objargs: Vec<Option<TypeName>>,
    pub objfuncargs: Vec<FunctionParameter>,
    pub args_unspecified: bool,
}

/// A parameter in CREATE FUNCTION.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FunctionParameter {
    pub name: Option<Name>,
    pub arg_type: TypeName,
    pub mode: FunctionParameterMode,
    pub defexpr: Option<Node>,
    pub location: i32,
}

/// The value of a literal. A number is an integer if it fits 32 bits, else its text.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Value {
    #[default]
    Null,
    Integer(i32),
    Float(Name),
    Boolean(bool),
    String(Name),
    /// `b` or `x`, followed by the digits.
    BitString(Name),
}
