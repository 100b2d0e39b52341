//! Analysed expressions, with the node and field names of PostgreSQL. Counterpart:
//! nodes/primnodes.h.

use crate::query::{Query, SortGroupClause};
use ids::builtin::{collation, ty};
use ids::code::AggKind;
use ids::{AttrNo, Oid};
use stdx::Nested;
use types::Datum;

/// Byte offset in the query text; -1 where unknown. Never part of a node's equality.
#[derive(Clone, Copy, Debug)]
pub struct Location(pub i32);

impl Location {
    pub const UNKNOWN: Location = Location(-1);

    /// The offset, if known.
    pub fn offset(self) -> Option<usize> {
        usize::try_from(self.0).ok()
    }
}

impl Default for Location {
    fn default() -> Location {
        Location::UNKNOWN
    }
}

impl PartialEq for Location {
    fn eq(&self, _: &Location) -> bool {
        true
    }
}

impl Eq for Location {}

/// An expression after analysis: every name resolved, every type known.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    Var(Var),
    Const(Const),
    Param(Param),
    Aggref(Box<Aggref>),
    GroupingFunc(Box<GroupingFunc>),
    WindowFunc(Box<WindowFunc>),
    SubscriptingRef(Box<SubscriptingRef>),
    FuncExpr(Box<FuncExpr>),
    NamedArg(Box<NamedArgExpr>),
    OpExpr(Box<OpExpr>),
    /// `IS DISTINCT FROM`: not strict, `opno` is the equality operator.
    Distinct(Box<OpExpr>),
    /// `NULLIF`: `opno` is the equality operator.
    NullIf(Box<OpExpr>),
    ScalarArrayOp(Box<ScalarArrayOpExpr>),
    Bool(Box<BoolExpr>),
    SubLink(Box<SubLink>),
    SubPlan(Box<SubPlan>),
    FieldSelect(Box<FieldSelect>),
    FieldStore(Box<FieldStore>),
    Relabel(Box<RelabelType>),
    CoerceViaIo(Box<CoerceViaIo>),
    ArrayCoerce(Box<ArrayCoerceExpr>),
    ConvertRowtype(Box<ConvertRowtypeExpr>),
    Collate(Box<CollateExpr>),
    Case(Box<CaseExpr>),
    CaseTest(CaseTestExpr),
    Array(Box<ArrayExpr>),
    Row(Box<RowExpr>),
    RowCompare(Box<RowCompareExpr>),
    Coalesce(Box<CoalesceExpr>),
    MinMax(Box<MinMaxExpr>),
    SqlValue(SqlValueFunction),
    Xml(Box<XmlExpr>),
    NullTest(Box<NullTest>),
    BooleanTest(Box<BooleanTest>),
    CoerceToDomain(Box<CoerceToDomain>),
    CoerceToDomainValue(CoerceToDomainValue),
    SetToDefault(SetToDefault),
    CurrentOf(CurrentOfExpr),
    NextValue(NextValueExpr),
}

/// Column of a range-table entry. In finished plans `varno` may be one of the special numbers
/// below; `varattno` is then a position in the child's target list or among the index's columns.
#[derive(Clone, PartialEq, Debug)]
pub struct Var {
    /// 1-based index into the range table.
    pub varno: i32,
    /// Column number; 0 is the whole row, negative a system column.
    pub varattno: AttrNo,
    pub vartype: Oid,
    pub vartypmod: i32,
    pub varcollid: Oid,
    /// Query levels up from here.
    pub varlevelsup: u32,
    pub location: Location,
}

impl Var {
    /// The inner child's output.
    pub const INNER: i32 = -1;
    /// The outer (or only) child's output.
    pub const OUTER: i32 = -2;
    /// The columns of the index being scanned (index-only scans).
    pub const INDEX: i32 = -3;
}

#[derive(Clone, PartialEq, Debug)]
pub struct Const {
    pub consttype: Oid,
    pub consttypmod: i32,
    pub constcollid: Oid,
    pub constlen: i16,
    pub constbyval: bool,
    /// `Datum::Null` for NULL.
    pub value: Datum,
    pub location: Location,
}

impl Const {
    pub fn is_null(&self) -> bool {
        self.value.is_null()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamKind {
    /// `$n` of the statement.
    Extern,
    /// Set by another part of the plan.
    Exec,
    /// Output column of a sub-select, within a SubLink's test expression.
    Sublink,
    /// Column of a multi-assignment's sub-select.
    MultiExpr,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    pub paramkind: ParamKind,
    /// 1-based for `Extern`, 0-based for `Exec`.
    pub paramid: i32,
    pub paramtype: Oid,
    pub paramtypmod: i32,
    pub paramcollid: Oid,
    pub location: Location,
}

/// How an aggregate's transition and final functions are split between plan nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AggSplit {
    #[default]
    Simple,
    InitialSerial,
    FinalDeserial,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Aggref {
    pub aggfnoid: Oid,
    pub aggtype: Oid,
    pub aggcollid: Oid,
    pub inputcollid: Oid,
    pub aggtranstype: Oid,
    pub aggargtypes: Vec<Oid>,
    pub aggdirectargs: Vec<Expr>,
    pub args: Vec<TargetEntry>,
    pub aggorder: Vec<SortGroupClause>,
    pub aggdistinct: Vec<SortGroupClause>,
    pub aggfilter: Option<Expr>,
    pub aggstar: bool,
    pub aggvariadic: bool,
    /// `n` normal, `o` ordered-set, `h` hypothetical-set.
    pub aggkind: AggKind,
    pub agglevelsup: u32,
    pub aggsplit: AggSplit,
    pub aggno: i32,
    pub aggtransno: i32,
    pub location: Location,
}

#[derive(Clone, Debug)]
pub struct GroupingFunc {
    pub args: Vec<Expr>,
    /// Not compared by `==`, as in PostgreSQL: two calls with equal arguments are computed once
    /// above the aggregation.
    pub refs: Vec<u32>,
    pub agglevelsup: u32,
    pub location: Location,
}

impl PartialEq for GroupingFunc {
    fn eq(&self, other: &GroupingFunc) -> bool {
        self.args == other.args && self.agglevelsup == other.agglevelsup
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct WindowFunc {
    pub winfnoid: Oid,
    pub wintype: Oid,
    pub wincollid: Oid,
    pub inputcollid: Oid,
    pub args: Vec<Expr>,
    pub aggfilter: Option<Expr>,
    pub winref: u32,
    pub winstar: bool,
    pub winagg: bool,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SubscriptingRef {
    pub refcontainertype: Oid,
    pub refelemtype: Oid,
    pub refrestype: Oid,
    pub reftypmod: i32,
    pub refcollid: Oid,
    pub refupperindexpr: Vec<Option<Expr>>,
    /// Empty unless this is a slice.
    pub reflowerindexpr: Vec<Option<Expr>>,
    pub refexpr: Expr,
    /// The value assigned, in an assignment.
    pub refassgnexpr: Option<Expr>,
}

/// How a coercion is shown when the expression is printed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum CoercionForm {
    /// `f(x)`
    #[default]
    ExplicitCall,
    /// `x::t`
    ExplicitCast,
    /// Not at all.
    ImplicitCast,
    /// Special SQL syntax such as `EXTRACT(…)`.
    SqlSyntax,
}

#[derive(Clone, PartialEq, Debug)]
pub struct FuncExpr {
    pub funcid: Oid,
    pub funcresulttype: Oid,
    pub funcretset: bool,
    pub funcvariadic: bool,
    pub funcformat: CoercionForm,
    pub funccollid: Oid,
    pub inputcollid: Oid,
    pub args: Vec<Expr>,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct NamedArgExpr {
    pub arg: Expr,
    pub name: String,
    pub argnumber: i32,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct OpExpr {
    pub opno: Oid,
    /// `pg_proc` OID of the operator's function; invalid until the planner fills it in.
    pub opfuncid: Oid,
    pub opresulttype: Oid,
    pub opretset: bool,
    pub opcollid: Oid,
    pub inputcollid: Oid,
    /// One (prefix) or two.
    pub args: Vec<Expr>,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ScalarArrayOpExpr {
    pub opno: Oid,
    pub opfuncid: Oid,
    pub hashfuncid: Oid,
    pub negfuncid: Oid,
    /// `ANY` if true, else `ALL`.
    pub use_or: bool,
    pub inputcollid: Oid,
    /// The scalar and the array.
    pub args: Vec<Expr>,
    pub location: Location,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BoolOp {
    And,
    Or,
    Not,
}

#[derive(Clone, PartialEq, Debug)]
pub struct BoolExpr {
    pub boolop: BoolOp,
    pub args: Vec<Expr>,
    pub location: Location,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SubLinkKind {
    Exists,
    All,
    Any,
    RowCompare,
    Expr,
    MultiExpr,
    Array,
    /// `WITH` query; in SubPlans only.
    Cte,
}

/// A sub-select within an expression, before planning.
#[derive(Clone, PartialEq, Debug)]
pub struct SubLink {
    pub kind: SubLinkKind,
    /// Number of a `MultiExpr` sublink, else 0.
    pub id: i32,
    /// The comparison over `Param { paramkind: Sublink }`, for ANY, ALL and row comparison.
    pub testexpr: Option<Expr>,
    /// The operator as written, for printing.
    pub oper_name: Vec<String>,
    pub subselect: Nested<Query>,
    /// The array type of `ARRAY(…)`, else invalid. It is not stored: analysis, or the reader of a
    /// stored tree, looks it up in the catalogs.
    pub array_type: Oid,
    pub location: Location,
}

/// A sub-select within an expression, after planning.
#[derive(Clone, PartialEq, Debug)]
pub struct SubPlan {
    pub kind: SubLinkKind,
    pub testexpr: Option<Expr>,
    /// Exec parameters set from the sub-select's columns, for `testexpr` or as an init plan's
    /// results.
    pub param_ids: Vec<i32>,
    /// 1-based index into `PlannedStmt::subplans`.
    pub plan_id: u32,
    pub plan_name: String,
    pub first_col_type: Oid,
    pub first_col_typmod: i32,
    pub first_col_collation: Oid,
    /// Hash the sub-select's output instead of scanning it.
    pub use_hash_table: bool,
    /// The caller treats NULL as false: a comparison that is NULL means "no match".
    pub unknown_eq_false: bool,
    /// Exec parameters that this node computes and leaves for others (init plans).
    pub set_param: Vec<i32>,
    /// Exec parameters to set before each run …
    pub par_param: Vec<i32>,
    /// … from these expressions.
    pub args: Vec<Expr>,
    pub startup_cost: f64,
    pub per_call_cost: f64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct FieldSelect {
    pub arg: Expr,
    pub fieldnum: AttrNo,
    pub resulttype: Oid,
    pub resulttypmod: i32,
    pub resultcollid: Oid,
}

#[derive(Clone, PartialEq, Debug)]
pub struct FieldStore {
    pub arg: Expr,
    pub newvals: Vec<Expr>,
    pub fieldnums: Vec<AttrNo>,
    pub resulttype: Oid,
}

/// A binary-compatible relabelling.
#[derive(Clone, PartialEq, Debug)]
pub struct RelabelType {
    pub arg: Expr,
    pub resulttype: Oid,
    pub resulttypmod: i32,
    pub resultcollid: Oid,
    pub relabelformat: CoercionForm,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CoerceViaIo {
    pub arg: Expr,
    pub resulttype: Oid,
    pub resultcollid: Oid,
    pub coerceformat: CoercionForm,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ArrayCoerceExpr {
    pub arg: Expr,
    /// The element's coercion, over a `CaseTest`.
    pub elemexpr: Expr,
    pub resulttype: Oid,
    pub resulttypmod: i32,
    pub resultcollid: Oid,
    pub coerceformat: CoercionForm,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ConvertRowtypeExpr {
    pub arg: Expr,
    pub resulttype: Oid,
    pub convertformat: CoercionForm,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CollateExpr {
    pub arg: Expr,
    pub coll_oid: Oid,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CaseExpr {
    pub casetype: Oid,
    pub casecollid: Oid,
    /// The value tested, in `CASE x WHEN …`; the conditions refer to it by `CaseTest`.
    pub arg: Option<Expr>,
    pub args: Vec<CaseWhen>,
    pub defresult: Option<Expr>,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CaseWhen {
    pub expr: Expr,
    pub result: Expr,
    pub location: Location,
}

/// Placeholder for the value that an enclosing node tests or iterates over.
#[derive(Clone, PartialEq, Debug)]
pub struct CaseTestExpr {
    pub typeid: Oid,
    pub typmod: i32,
    pub collation: Oid,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ArrayExpr {
    pub array_typeid: Oid,
    pub array_collid: Oid,
    pub element_typeid: Oid,
    pub elements: Vec<Expr>,
    /// The elements are themselves arrays.
    pub multidims: bool,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct RowExpr {
    pub args: Vec<Expr>,
    pub row_typeid: Oid,
    pub row_format: CoercionForm,
    pub colnames: Vec<String>,
    pub location: Location,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RowCompareKind {
    Lt = 1,
    Le = 2,
    Eq = 3,
    Ge = 4,
    Gt = 5,
    Ne = 6,
}

#[derive(Clone, PartialEq, Debug)]
pub struct RowCompareExpr {
    pub rctype: RowCompareKind,
    pub opnos: Vec<Oid>,
    pub opfamilies: Vec<Oid>,
    pub inputcollids: Vec<Oid>,
    pub largs: Vec<Expr>,
    pub rargs: Vec<Expr>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CoalesceExpr {
    pub coalescetype: Oid,
    pub coalescecollid: Oid,
    pub args: Vec<Expr>,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct MinMaxExpr {
    pub minmaxtype: Oid,
    pub minmaxcollid: Oid,
    pub inputcollid: Oid,
    /// `GREATEST` if true, else `LEAST`.
    pub greatest: bool,
    pub args: Vec<Expr>,
    pub location: Location,
}

/// SQL value functions, which are written without parentheses. The order is PostgreSQL's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SqlValueKind {
    CurrentDate,
    CurrentTime,
    CurrentTimeN,
    CurrentTimestamp,
    CurrentTimestampN,
    Localtime,
    LocaltimeN,
    Localtimestamp,
    LocaltimestampN,
    CurrentRole,
    CurrentUser,
    User,
    SessionUser,
    CurrentCatalog,
    CurrentSchema,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SqlValueFunction {
    pub op: SqlValueKind,
    pub typeid: Oid,
    pub typmod: i32,
    pub location: Location,
}

/// Kind of an SQL/XML expression. The order is PostgreSQL's: it is stored as a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum XmlOp {
    Concat,
    Element,
    Forest,
    Parse,
    Pi,
    Root,
    Serialize,
    IsDocument,
}

/// An SQL/XML expression in a stored definition. It can be deparsed but not executed.
#[derive(Clone, PartialEq, Debug)]
pub struct XmlExpr {
    pub op: XmlOp,
    /// Name of an element or a processing instruction.
    pub name: Option<String>,
    /// Attributes, or the parts of a forest; `arg_names` has a name for each.
    pub named_args: Vec<Expr>,
    pub arg_names: Vec<String>,
    pub args: Vec<Expr>,
    /// `CONTENT`, else `DOCUMENT`.
    pub content: bool,
    /// Result type of `XMLSERIALIZE`.
    pub typeid: Oid,
    pub typmod: i32,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct NullTest {
    pub arg: Expr,
    /// `IS NOT NULL` if true.
    pub is_not: bool,
    /// The argument is composite: test its fields.
    pub argisrow: bool,
    pub location: Location,
}

/// The order is PostgreSQL's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BoolTestKind {
    IsTrue,
    IsNotTrue,
    IsFalse,
    IsNotFalse,
    IsUnknown,
    IsNotUnknown,
}

#[derive(Clone, PartialEq, Debug)]
pub struct BooleanTest {
    pub arg: Expr,
    pub booltesttype: BoolTestKind,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CoerceToDomain {
    pub arg: Expr,
    pub resulttype: Oid,
    pub resulttypmod: i32,
    pub resultcollid: Oid,
    pub coercionformat: CoercionForm,
    pub location: Location,
}

/// `VALUE` in a domain's check.
#[derive(Clone, PartialEq, Debug)]
pub struct CoerceToDomainValue {
    pub typeid: Oid,
    pub typmod: i32,
    pub collation: Oid,
    pub location: Location,
}

/// `DEFAULT` in INSERT or UPDATE, before rewriting.
#[derive(Clone, PartialEq, Debug)]
pub struct SetToDefault {
    pub typeid: Oid,
    pub typmod: i32,
    pub collation: Oid,
    pub location: Location,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CurrentOfExpr {
    pub cvarno: i32,
    pub cursor_name: Option<String>,
    pub cursor_param: i32,
}

/// `nextval` of an identity column's sequence, without a permission check.
#[derive(Clone, PartialEq, Debug)]
pub struct NextValueExpr {
    pub seqid: Oid,
    pub typeid: Oid,
}

#[derive(Clone, PartialEq, Debug)]
pub struct TargetEntry {
    pub expr: Expr,
    /// Output column, or target column of an INSERT or UPDATE.
    pub resno: AttrNo,
    pub resname: Option<String>,
    /// Non-zero if referred to by a sort, group or distinct clause.
    pub ressortgroupref: u32,
    /// Source table and column of a plain column, else invalid and 0.
    pub resorigtbl: Oid,
    pub resorigcol: AttrNo,
    /// Not part of the result.
    pub resjunk: bool,
}

impl Expr {
    /// The type of the value. Counterpart: `exprType`.
    pub fn type_oid(&self) -> Oid {
        match self {
            Expr::Var(n) => n.vartype,
            Expr::Const(n) => n.consttype,
            Expr::Param(n) => n.paramtype,
            Expr::Aggref(n) => n.aggtype,
            Expr::GroupingFunc(_) => ty::INT4,
            Expr::WindowFunc(n) => n.wintype,
            Expr::SubscriptingRef(n) => n.refrestype,
            Expr::FuncExpr(n) => n.funcresulttype,
            Expr::NamedArg(n) => n.arg.type_oid(),
            Expr::OpExpr(n) | Expr::Distinct(n) => n.opresulttype,
            Expr::NullIf(n) => n.args.first().map_or(n.opresulttype, Expr::type_oid),
            Expr::ScalarArrayOp(_) | Expr::Bool(_) | Expr::RowCompare(_) => ty::BOOL,
            Expr::NullTest(_) | Expr::BooleanTest(_) | Expr::CurrentOf(_) => ty::BOOL,
            Expr::SubLink(n) => n.type_oid(),
            Expr::SubPlan(n) => match n.kind {
                SubLinkKind::Expr => n.first_col_type,
                // The planner sets `first_col_type` to the array type for ARRAY(…).
                SubLinkKind::Array => n.first_col_type,
                SubLinkKind::MultiExpr => ty::RECORD,
                _ => ty::BOOL,
            },
            Expr::FieldSelect(n) => n.resulttype,
            Expr::FieldStore(n) => n.resulttype,
            Expr::Relabel(n) => n.resulttype,
            Expr::CoerceViaIo(n) => n.resulttype,
            Expr::ArrayCoerce(n) => n.resulttype,
            Expr::ConvertRowtype(n) => n.resulttype,
            Expr::Collate(n) => n.arg.type_oid(),
            Expr::Case(n) => n.casetype,
            Expr::CaseTest(n) => n.typeid,
            Expr::Array(n) => n.array_typeid,
            Expr::Row(n) => n.row_typeid,
            Expr::Coalesce(n) => n.coalescetype,
            Expr::MinMax(n) => n.minmaxtype,
            Expr::SqlValue(n) => n.typeid,
            Expr::Xml(n) => match n.op {
                XmlOp::IsDocument => ty::BOOL,
                XmlOp::Serialize => ty::TEXT,
                _ => ty::XML,
            },
            Expr::CoerceToDomain(n) => n.resulttype,
            Expr::CoerceToDomainValue(n) => n.typeid,
            Expr::SetToDefault(n) => n.typeid,
            Expr::NextValue(n) => n.typeid,
        }
    }

    /// The type modifier; -1 where none is known. Counterpart: `exprTypmod`.
    pub fn typmod(&self) -> i32 {
        /// The common modifier of all, if they agree on type and modifier.
        fn common<'a>(of_type: Oid, mut all: impl Iterator<Item = &'a Expr>) -> i32 {
            let Some(first) = all.next() else { return -1 };
            let typmod = first.typmod();
            if typmod < 0 || first.type_oid() != of_type {
                return -1;
            }
            if all.all(|e| e.type_oid() == of_type && e.typmod() == typmod) { typmod } else { -1 }
        }
        match self {
            Expr::Var(n) => n.vartypmod,
            Expr::Const(n) => n.consttypmod,
            Expr::Param(n) => n.paramtypmod,
            Expr::SubscriptingRef(n) => n.reftypmod,
            Expr::FuncExpr(n) => n.length_coercion().unwrap_or(-1),
            Expr::NamedArg(n) => n.arg.typmod(),
            Expr::NullIf(n) => n.args.first().map_or(-1, Expr::typmod),
            Expr::SubLink(n) => match n.kind {
                SubLinkKind::Expr | SubLinkKind::Array => {
                    n.subselect.target_list.first().map_or(-1, |t| t.expr.typmod())
                }
                _ => -1,
            },
            Expr::SubPlan(n) => match n.kind {
                SubLinkKind::Expr | SubLinkKind::Array => n.first_col_typmod,
                _ => -1,
            },
            Expr::FieldSelect(n) => n.resulttypmod,
            Expr::Relabel(n) => n.resulttypmod,
            Expr::ArrayCoerce(n) => n.resulttypmod,
            Expr::Collate(n) => n.arg.typmod(),
            Expr::Case(n) => match &n.defresult {
                Some(def) => {
                    common(n.casetype, std::iter::once(def).chain(n.args.iter().map(|w| &w.result)))
                }
                None => common(n.casetype, n.args.iter().map(|w| &w.result)),
            },
            Expr::CaseTest(n) => n.typmod,
            Expr::Array(n) if !n.multidims => common(n.element_typeid, n.elements.iter()),
            Expr::Array(n) => common(n.array_typeid, n.elements.iter()),
            Expr::Coalesce(n) => common(n.coalescetype, n.args.iter()),
            Expr::MinMax(n) => common(n.minmaxtype, n.args.iter()),
            Expr::SqlValue(n) => n.typmod,
            Expr::CoerceToDomain(n) => n.resulttypmod,
            Expr::CoerceToDomainValue(n) => n.typmod,
            Expr::SetToDefault(n) => n.typmod,
            _ => -1,
        }
    }

    /// The collation of the value; invalid if the type has none. Counterpart: `exprCollation`.
    pub fn collation(&self) -> Oid {
        match self {
            Expr::Var(n) => n.varcollid,
            Expr::Const(n) => n.constcollid,
            Expr::Param(n) => n.paramcollid,
            Expr::Aggref(n) => n.aggcollid,
            Expr::WindowFunc(n) => n.wincollid,
            Expr::SubscriptingRef(n) => n.refcollid,
            Expr::FuncExpr(n) => n.funccollid,
            Expr::NamedArg(n) => n.arg.collation(),
            Expr::OpExpr(n) | Expr::Distinct(n) | Expr::NullIf(n) => n.opcollid,
            Expr::SubLink(n) => match n.kind {
                SubLinkKind::Expr | SubLinkKind::Array => {
                    n.subselect.target_list.first().map_or(Oid::INVALID, |t| t.expr.collation())
                }
                _ => Oid::INVALID,
            },
            Expr::SubPlan(n) => match n.kind {
                SubLinkKind::Expr | SubLinkKind::Array => n.first_col_collation,
                _ => Oid::INVALID,
            },
            Expr::FieldSelect(n) => n.resultcollid,
            Expr::Relabel(n) => n.resultcollid,
            Expr::CoerceViaIo(n) => n.resultcollid,
            Expr::ArrayCoerce(n) => n.resultcollid,
            Expr::Collate(n) => n.coll_oid,
            Expr::Case(n) => n.casecollid,
            Expr::CaseTest(n) => n.collation,
            Expr::Array(n) => n.array_collid,
            Expr::Coalesce(n) => n.coalescecollid,
            Expr::MinMax(n) => n.minmaxcollid,
            // current_user and the like have type name, whose collation is C.
            Expr::SqlValue(n) if n.typeid == ty::NAME => collation::C,
            Expr::Xml(n) if n.op == XmlOp::Serialize => collation::DEFAULT,
            Expr::CoerceToDomain(n) => n.resultcollid,
            Expr::CoerceToDomainValue(n) => n.collation,
            Expr::SetToDefault(n) => n.collation,
            _ => Oid::INVALID,
        }
    }

    /// Where the expression begins in the text, as errors report it. Counterpart: `exprLocation`,
    /// without its search for the leftmost part.
    pub fn location(&self) -> Location {
        match self {
            Expr::Var(n) => n.location,
            Expr::Const(n) => n.location,
            Expr::Param(n) => n.location,
            Expr::Aggref(n) => n.location,
            Expr::GroupingFunc(n) => n.location,
            Expr::WindowFunc(n) => n.location,
            Expr::SubscriptingRef(n) => n.refexpr.location(),
            Expr::FuncExpr(n) => leftmost(n.location, n.args.iter()),
            Expr::NamedArg(n) => leftmost(n.location, std::iter::once(&n.arg)),
            Expr::OpExpr(n) | Expr::Distinct(n) | Expr::NullIf(n) => {
                leftmost(n.location, n.args.iter())
            }
            Expr::ScalarArrayOp(n) => leftmost(n.location, n.args.iter()),
            Expr::Bool(n) => leftmost(n.location, n.args.iter()),
            Expr::SubLink(n) => leftmost(n.location, n.testexpr.iter()),
            Expr::FieldSelect(n) => n.arg.location(),
            Expr::FieldStore(n) => n.arg.location(),
            Expr::Relabel(n) => leftmost(n.location, std::iter::once(&n.arg)),
            Expr::CoerceViaIo(n) => leftmost(n.location, std::iter::once(&n.arg)),
            Expr::ArrayCoerce(n) => leftmost(n.location, std::iter::once(&n.arg)),
            Expr::ConvertRowtype(n) => leftmost(n.location, std::iter::once(&n.arg)),
            Expr::Collate(n) => n.arg.location(),
            Expr::Case(n) => n.location,
            Expr::Array(n) => n.location,
            Expr::Row(n) => n.location,
            Expr::RowCompare(n) => n.largs.first().map_or(Location::UNKNOWN, Expr::location),
            Expr::Coalesce(n) => n.location,
            Expr::MinMax(n) => n.location,
            Expr::SqlValue(n) => n.location,
            Expr::Xml(n) => leftmost(n.location, n.args.iter()),
            Expr::NullTest(n) => leftmost(n.location, std::iter::once(&n.arg)),
            Expr::BooleanTest(n) => leftmost(n.location, std::iter::once(&n.arg)),
            Expr::CoerceToDomain(n) => leftmost(n.location, std::iter::once(&n.arg)),
            Expr::CoerceToDomainValue(n) => n.location,
            Expr::SetToDefault(n) => n.location,
            Expr::SubPlan(_) | Expr::CaseTest(_) | Expr::CurrentOf(_) | Expr::NextValue(_) => {
                Location::UNKNOWN
            }
        }
    }
}

/// The smaller known offset of a node's own location and its first argument's.
fn leftmost<'a>(own: Location, mut args: impl Iterator<Item = &'a Expr>) -> Location {
    let first = args.next().map_or(Location::UNKNOWN, Expr::location);
    match (own.0 >= 0, first.0 >= 0) {
        (true, true) => Location(own.0.min(first.0)),
        (true, false) => own,
        _ => first,
    }
}

impl FuncExpr {
    /// The type modifier that a length coercion function applies: a cast whose second argument is
    /// an integer constant. Counterpart: `exprIsLengthCoercion`.
    pub fn length_coercion(&self) -> Option<i32> {
        if self.funcformat != CoercionForm::ExplicitCast
            && self.funcformat != CoercionForm::ImplicitCast
        {
            return None;
        }
        match &self.args[..] {
            [_, Expr::Const(c)] | [_, Expr::Const(c), _] if c.consttype == ty::INT4 => {
                match c.value {
                    Datum::Word(word) => Some(word as i32),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

impl SubLink {
    /// The type of the value.
    pub fn type_oid(&self) -> Oid {
        match self.kind {
            SubLinkKind::Expr => {
                self.subselect.target_list.first().map_or(Oid::INVALID, |t| t.expr.type_oid())
            }
            SubLinkKind::Array => self.array_type,
            SubLinkKind::MultiExpr => ty::RECORD,
            _ => ty::BOOL,
        }
    }
}
