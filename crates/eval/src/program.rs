//! The compiled form.

use crate::elements::Elements;
use ids::{AttrNo, Oid};
use plan::expr::{BoolTestKind, RowCompareKind, SqlValueKind, SubPlan};
use smallvec::SmallVec;
use std::any::Any;
use std::sync::Arc;
use types::Datum;
use types::builtin::ScalarFn;
use types::compare::Comparer;
use types::fncx::TypeInfo;
use types::kernels::{BinaryKernel, WordComparison};

/// Which of the rows at hand a column is taken from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// The row being scanned, or a child's only output.
    Scan,
    Outer,
    Inner,
}

/// A column of a row at hand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Slot {
    pub source: Source,
    /// 0-based.
    pub column: usize,
}

/// A compiled expression. Immutable; see [`EvalState`].
pub struct Program {
    pub(crate) root: Node,
    /// Number of call sites, each with its own memory.
    pub(crate) sites: usize,
    /// The type of the value.
    pub type_oid: Oid,
    /// Is that type passed by value?
    pub by_val: bool,
}

impl Program {
    /// The column of the scanned batch that the program hands on as it is.
    pub fn scan_column(&self) -> Option<usize> {
        match &self.root {
            Node::Slot(Slot { source: Source::Scan, column }) => Some(*column),
            _ => None,
        }
    }
}

/// What a program needs while it runs; one per running plan node.
#[derive(Default)]
pub struct EvalState {
    pub(crate) extras: Vec<Option<Box<dyn Any + Send>>>,
    /// Values for `CaseTest` and `CoerceToDomainValue`, innermost last.
    pub(crate) placeholders: Vec<Datum>,
    pub(crate) depth: u32,
    /// A column became too large for a batch: the expression is to be evaluated row by row.
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
    /// `f` over columns.
    pub kernel: Option<BinaryKernel>,
    /// The comparison of words that it is.
    pub words: Option<WordComparison>,
    pub args: SmallVec<[Node; 2]>,
    pub arg_types: SmallVec<[Oid; 2]>,
    /// Written with VARIADIC: the last argument is an array of arguments.
    pub variadic_array: bool,
    pub strict: bool,
    pub collation: Oid,
    pub result_type: Oid,
    /// Is the result passed by value? `None` for a volatile function, which is called in row order.
    pub result_by_val: Option<bool>,
    pub site: usize,
}

/// A type's conversions, ready to call.
pub(crate) struct IoCall {
    pub f: ScalarFn,
    pub strict: bool,
    pub types: [Oid; 3],
    pub site: usize,
    /// The text is the value, or the value the text.
    pub textual: bool,
}

pub(crate) struct CaseArm {
    pub cond: Node,
    pub result: Node,
}

/// Element facts of an array under construction or iteration.
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

/// What errors call a domain.
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
    /// A composite value made of columns at hand.
    WholeRow {
        slots: Vec<Slot>,
        desc: Arc<types::fncx::RowDesc>,
        type_oid: Oid,
    },
    ExternParam(i32),
    ExecParam(i32),
    Call(Box<Call>),
    /// A function that the host runs.
    HostCall {
        function: Oid,
        strict: bool,
        arg_types: Vec<Oid>,
        args: Vec<Node>,
    },
    /// A function that is not built.
    Missing {
        name: String,
    },
    /// A condition list: false where any of them is not true.
    Quals(Vec<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    Case {
        arg: Option<Box<Node>>,
        arms: Vec<CaseArm>,
        default: Option<Box<Node>>,
        /// Is the value passed by value? `None` where rows must be evaluated one after the other.
        by_val: Option<bool>,
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
        /// The elements, where the array is a constant.
        elements: Option<Elements>,
    },
    Array {
        elements: Vec<Node>,
        elem: Elem,
        multidims: bool,
    },
    Row {
        args: Vec<Node>,
        desc: Arc<types::fncx::RowDesc>,
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
    CoerceIo {
        arg: Box<Node>,
        output: IoCall,
        input: IoCall,
        /// Is the value passed by value? `None` where a conversion is volatile.
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
        /// What a hashed sub-select is asked for.
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
