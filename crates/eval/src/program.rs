//! The compiled form of an expression. Counterpart: execExpr.h (`ExprState`, `ExprEvalStep`).

use crate::elements::Elements;
use crate::kernels::{BinaryKernel, WordComparison};
use ids::{AttrNo, Oid};
use plan::expr::{BoolTestKind, RowCompareKind, SqlValueKind, SubPlan};
use smallvec::SmallVec;
use std::any::Any;
use std::sync::Arc;
use types::Datum;
use types::builtin::ScalarFn;
use types::compare::Comparer;
use types::fn_context::TypeInfo;

/// The input row from which a column is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// The scanned row, or the output row of the only child.
    Scan,
    Outer,
    Inner,
}

/// A column of an input row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Slot {
    pub source: Source,
    /// 0-based.
    pub column: usize,
}

/// A compiled expression. Immutable; see [`EvalState`].
pub struct Program {
    pub(crate) root: Node,
    /// Number of call sites; each has its own entry in [`EvalState::extras`].
    pub(crate) sites: usize,
    /// The type of the value.
    pub type_oid: Oid,
    /// Whether that type is passed by value.
    pub by_val: bool,
}

impl Program {
    /// The input column, if the program is nothing but a column of the scanned batch.
    pub fn scan_column(&self) -> Option<usize> {
        match &self.root {
            Node::Slot(Slot { source: Source::Scan, column }) => Some(*column),
            _ => None,
        }
    }
}

/// State of a program's evaluation; one per running plan node.
#[derive(Default)]
pub struct EvalState {
    /// State of each call site that the function keeps between calls. Counterpart: `fn_extra`.
    pub(crate) extras: Vec<Option<Box<dyn Any + Send>>>,
    /// Values for `CaseTest` and `CoerceToDomainValue`, innermost last.
    pub(crate) placeholders: Vec<Datum>,
    pub(crate) depth: u32,
    /// The last error was raised because a column became too large for a batch: the rows must be
    /// evaluated one by one or in smaller batches.
    pub(crate) too_wide: bool,
}

impl EvalState {
    pub(crate) fn prepare(&mut self, program: &Program) {
        if self.extras.len() < program.sites {
            self.extras.resize_with(program.sites, || None);
        }
    }
}

/// A call of a built-in function.
pub(crate) struct Call {
    pub f: ScalarFn,
    /// The function that [`crate::row::invoke`] lets the session run in place of `f`.
    pub hosted: Option<Oid>,
    /// The vectorized form of `f`.
    pub kernel: Option<BinaryKernel>,
    /// `f` as a comparison of two words.
    pub words: Option<WordComparison>,
    pub args: SmallVec<[Node; 2]>,
    pub arg_types: SmallVec<[Oid; 2]>,
    /// Called with VARIADIC: the last argument is an array of arguments.
    pub variadic_array: bool,
    pub strict: bool,
    /// Of an array it reads only dimensions and bounds.
    pub reads_header: bool,
    pub collation: Oid,
    pub result_type: Oid,
    /// Whether the result is passed by value. `None` for a volatile function, which is called in
    /// row order.
    pub result_by_val: Option<bool>,
    pub site: usize,
}

/// An input or output function of a type.
pub(crate) struct IoCall {
    pub f: ScalarFn,
    pub strict: bool,
    pub types: [Oid; 3],
    pub site: usize,
    /// The value and its text have the same bytes, so that no call is needed.
    pub textual: bool,
}

pub(crate) struct CaseArm {
    pub cond: Node,
    pub result: Node,
}

/// Element type of an array.
#[derive(Clone, Copy)]
pub(crate) struct Elem {
    pub ty: Oid,
    pub info: TypeInfo,
}

pub(crate) enum SubscriptUse {
    Fetch,
    Slice,
    Assign(Box<Node>),
    AssignSlice(Box<Node>),
}

/// `container[…][…]` of jsonb, or the container with another value there.
pub(crate) struct JsonbSubscript {
    pub container: Node,
    pub path: Vec<JsonbStep>,
    /// The new value.
    pub assigned: Option<Node>,
}

/// `container[key]` of hstore, or the container with another value of the key.
pub(crate) struct HstoreSubscript {
    pub container: Node,
    pub key: Node,
    /// The new value.
    pub assigned: Option<Node>,
}

/// A subscript of jsonb.
pub(crate) struct JsonbStep {
    pub value: Node,
    /// It is of type integer, else of type text.
    pub is_index: bool,
}

/// The names of a domain in error messages.
pub(crate) struct DomainNames {
    pub shown: String,
    pub schema: String,
    pub name: String,
}

pub(crate) enum DomainTest {
    NotNull,
    Check { name: String, cond: Node },
}

pub(crate) enum Node {
    Const(Datum),
    Slot(Slot),
    /// A whole-row value, formed from input columns.
    WholeRow {
        slots: Vec<Slot>,
        desc: Arc<types::fn_context::RowDesc>,
        type_oid: Oid,
    },
    ExternParam(i32),
    ExecParam(i32),
    Call(Box<Call>),
    /// A call with constant arguments that was not folded because its result is long, or a call
    /// with the result of such a call as an argument. It is evaluated for the first row, and its
    /// value is kept at `site` of [`EvalState::extras`].
    Once {
        node: Arc<Node>,
        site: usize,
    },
    /// A function that the host runs (see [`crate::Callee::Host`]).
    HostCall {
        function: Oid,
        strict: bool,
        collation: Oid,
        result_type: Oid,
        arg_types: Vec<Oid>,
        args: Vec<Node>,
    },
    /// A function that this server does not have; evaluation raises 0A000.
    Missing {
        name: String,
    },
    /// Implicitly ANDed conditions: false if any of them is not true.
    Quals(Vec<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    Case {
        arg: Option<Box<Node>>,
        arms: Vec<CaseArm>,
        default: Option<Box<Node>>,
        /// Whether the value is passed by value. `None` if the rows must be evaluated one after the
        /// other.
        by_val: Option<bool>,
    },
    /// Extends a value of four bytes to a word of eight bytes: with its sign if `signed`, otherwise
    /// with zeros.
    Extend {
        arg: Box<Node>,
        signed: bool,
    },
    /// The innermost placeholder of the enclosing Case, array coercion or domain.
    Placeholder,
    Coalesce {
        args: Vec<Node>,
        by_val: bool,
    },
    MinMax {
        args: Vec<Node>,
        greatest: bool,
        cmp: Comparer,
        collation: Oid,
    },
    NullTest {
        arg: Box<Node>,
        is_not: bool,
        row: bool,
    },
    BoolTest {
        arg: Box<Node>,
        kind: BoolTestKind,
    },
    Distinct(Box<Call>),
    NullIf(Box<Call>),
    ScalarArray {
        call: Box<Call>,
        use_or: bool,
        elem: Elem,
        /// The elements, if the array is a constant.
        elements: Option<Elements>,
    },
    Array {
        elements: Vec<Node>,
        elem: Elem,
        multidims: bool,
    },
    Row {
        args: Vec<Node>,
        desc: Arc<types::fn_context::RowDesc>,
        type_oid: Oid,
    },
    RowCompare {
        kind: RowCompareKind,
        pairs: Vec<RowPair>,
    },
    FieldSelect {
        arg: Box<Node>,
        field: AttrNo,
        result_type: Oid,
    },
    FieldStore {
        arg: Box<Node>,
        fields: Vec<(AttrNo, Node)>,
        row_type: Oid,
    },
    Subscript {
        container: Box<Node>,
        upper: Vec<Option<Node>>,
        lower: Vec<Option<Node>>,
        elem: Elem,
        array_len: i16,
        usage: SubscriptUse,
    },
    JsonbSubscript(Box<JsonbSubscript>),
    HstoreSubscript(Box<HstoreSubscript>),
    CoerceIo {
        arg: Box<Node>,
        output: IoCall,
        input: IoCall,
        /// Whether the value is passed by value. `None` if a conversion is volatile.
        by_val: Option<bool>,
    },
    ArrayCoerce {
        arg: Box<Node>,
        elem_expr: Box<Node>,
        from: Elem,
        to: Elem,
    },
    ConvertRow {
        arg: Box<Node>,
        result_type: Oid,
    },
    Domain {
        arg: Box<Node>,
        named: Box<DomainNames>,
        tests: Vec<DomainTest>,
    },
    SqlValue {
        kind: SqlValueKind,
        type_oid: Oid,
        typmod: i32,
    },
    SubPlan {
        plan: Arc<SubPlan>,
        args: Vec<(i32, Node)>,
        test: Option<Box<Node>>,
        /// Key expressions for a hashed sub-select.
        outer: Vec<Node>,
    },
    NextValue {
        sequence: Oid,
        type_oid: Oid,
    },
}

/// One column of a row comparison.
pub(crate) struct RowPair {
    pub left: Node,
    pub right: Node,
    pub cmp: Comparer,
    pub collation: Oid,
}
