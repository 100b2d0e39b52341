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

macro_rules! enumeration {
    ($($(#[$doc:meta])* $variant:ident($ty:ty) $($label:literal)*,)*) => {
        /// An expression after analysis: every name resolved, every type known.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Expr {
            $($(#[$doc])* $variant($ty),)*
        }
    };
}

expression_variants!(enumeration);

macro_rules! structs {
    ($(
        $(#[$doc:meta])*
        $node:ident {
            $($(#[$field_doc:meta])* $field:ident $(($name:literal))?: $ty:ty $(as $codec:ident)?,)*
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Debug)]
        pub struct $node {
            $($(#[$field_doc])* pub $field: $ty,)*
        }
    )*};
}

expression_nodes!(structs);

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

/// How an aggregate's transition and final functions are split between plan nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AggSplit {
    #[default]
    Simple,
    InitialSerial,
    FinalDeserial,
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

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BoolOp {
    And,
    Or,
    Not,
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

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RowCompareKind {
    Lt = 1,
    Le = 2,
    Eq = 3,
    Ge = 4,
    Gt = 5,
    Ne = 6,
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
