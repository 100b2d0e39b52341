//! Compiled code with what its calls keep: pieces of SQL that have been analysed, and instances.
//!
//! A call takes an instance from the pool of the session ([`Idle`]), or makes one, and returns it
//! at its end. So a call has its pieces of SQL, with the state of their evaluation, for itself,
//! even in recursion; analysed pieces are shared between instances.

use crate::contexts::Idle;
use crate::dynamic::Dynamic;
use crate::elements::{ArrayChange, ChangeState};
use crate::frame::Record;
use crate::host::{Stamp, Statement};
use crate::leaves::{Fast, States};
use crate::tree::{Extra, Function, SqlNo, VarNo};
use eval::{EvalState, Program, Variables};
use hashbrown::HashMap;
use ids::Oid;
use parse::RawStmt;
use plan::query::CmdType;
use std::sync::Arc;
use sync::Mutex;
use sync::atomic::{AtomicU64, Ordering::Relaxed};
use types::fn_context::RowDesc;

/// The number of the last compiled function.
static LAST_CODE: AtomicU64 = AtomicU64::new(0);

/// A compiled function and what its calls share.
pub struct Code {
    pub function: Function,
    /// No other function of the process has this number.
    number: u64,
    /// For each piece of SQL, in the lower half the transaction in which an evaluation of it as an
    /// expression runs or has failed, 0 for none. If it has failed, the upper half is the number of
    /// errors that will have been handled when that one has.
    entered: Box<[AtomicU64]>,
    /// The pieces of SQL that were analysed.
    prepared: Mutex<Vec<Option<Arc<Prepared>>>>,
}

impl Code {
    pub fn new(function: Function) -> Code {
        let entered = function.sql.iter().map(|_| AtomicU64::new(0)).collect();
        let number = LAST_CODE.fetch_add(1, Relaxed) + 1;
        Code { function, number, entered, prepared: Mutex::default() }
    }

    /// Not 0 if an evaluation of the expression runs or has failed. Until the end of the
    /// transaction it is evaluated as a statement then, which contexts show. Counterpart:
    /// `expr_simple_in_use`, `expr_simple_lxid`.
    #[inline]
    pub(crate) fn entered(&self, sql: SqlNo) -> u64 {
        self.entered[sql].load(Relaxed)
    }

    pub(crate) fn set_entered(&self, sql: SqlNo, entered: u64) {
        self.entered[sql].store(entered, Relaxed);
    }

    /// An instance for a call of the function.
    #[inline]
    pub(crate) fn take_instance(&self, idle: &mut Idle) -> Box<Instance> {
        let kept = idle.take(self.number).and_then(|kept| kept.downcast().ok());
        kept.unwrap_or_else(|| Box::new(Instance::new(&self.function)))
    }

    #[inline]
    pub(crate) fn return_instance(&self, idle: &mut Idle, instance: Box<Instance>) {
        idle.put(self.number, instance);
    }

    /// The piece of SQL as another instance has analysed it.
    pub(crate) fn find(&self, sql: SqlNo, stamp: Stamp) -> Option<Arc<Prepared>> {
        self.prepared.lock().get(sql)?.clone().filter(|p| p.stamp == stamp)
    }

    pub(crate) fn share(&self, sql: SqlNo, prepared: &Arc<Prepared>) {
        let mut known = self.prepared.lock();
        if known.len() <= sql {
            known.resize(sql + 1, None);
        }
        known[sql] = Some(prepared.clone());
    }
}

/// What a call has for itself.
pub(crate) struct Instance {
    pub(crate) sql: Vec<SqlState>,
    pub(crate) casts: HashMap<CastKey, Option<Cast>>,
    /// Types of the variables for the values after CASE.
    pub(crate) case_types: HashMap<VarNo, Oid>,
    /// Memory of the slots and records.
    pub(crate) vals: Variables,
    pub(crate) records: Vec<Record>,
    /// What is known about the types of composite variables, by the number of the record.
    pub(crate) declared: Vec<Option<Declared>>,
    /// The last two structures that were compared for an assignment to a record, by its number, and
    /// whether rows of the first one are rows of the second one.
    pub(crate) compared: Vec<Option<(Arc<RowDesc>, Arc<RowDesc>, bool)>>,
    /// The structure of the rows of variables that were returned, and that of the set; rows of the
    /// first one are rows of the set.
    pub(crate) returned: Option<(Arc<RowDesc>, Arc<RowDesc>)>,
    /// The column numbers at which fields of records were found last, by variable.
    pub(crate) places: Vec<usize>,
    /// The fields of records as they were found last, by variable.
    pub(crate) fields: Vec<Option<KnownField>>,
    /// The additional checks, and the stamp for which they are known.
    pub(crate) extra: (Stamp, Extra),
}

impl Instance {
    fn new(function: &Function) -> Instance {
        let mut sql = Vec::new();
        sql.resize_with(function.sql.len(), SqlState::default);
        Instance {
            sql,
            casts: HashMap::new(),
            case_types: HashMap::new(),
            vals: Variables::default(),
            records: Vec::new(),
            declared: vec![None; function.records],
            compared: vec![None; function.records],
            returned: None,
            places: vec![0; function.vars.len()],
            fields: vec![None; function.vars.len()],
            extra: Default::default(),
        }
    }
}

/// The composite type of a variable, valid for a stamp.
#[derive(Clone)]
pub(crate) struct Declared {
    pub(crate) stamp: Stamp,
    /// The type without domains.
    pub(crate) base: Oid,
    pub(crate) desc: Arc<RowDesc>,
}

/// A field of a record variable, known for one structure of the record.
#[derive(Clone)]
pub(crate) struct KnownField {
    pub(crate) desc: Arc<RowDesc>,
    /// The number of the record, and that of the column.
    pub(crate) record: usize,
    pub(crate) at: usize,
    pub(crate) ty: Oid,
    pub(crate) typmod: i32,
    /// The record has no domain as its type, so that no assignment of a field must be checked.
    pub(crate) is_unchecked: bool,
}

/// Type and type modifier of a value, and those of the value that it becomes.
pub(crate) type CastKey = (Oid, i32, Oid, i32);

/// A compiled conversion of a value.
pub(crate) struct Cast {
    pub(crate) program: Program,
    pub(crate) eval: EvalState,
}

/// A piece of SQL in an instance.
#[derive(Default)]
pub(crate) struct SqlState {
    pub(crate) prepared: Option<Arc<Prepared>>,
    /// It is assigned to a scalar variable of its type, has [`Fast`], and calls no functions of
    /// users.
    pub(crate) is_assigned_fast: bool,
    pub(crate) eval: EvalState,
    /// The states of the parts of [`Fast`].
    pub(crate) parts: States,
    /// The state of a change of an array.
    pub(crate) change: ChangeState,
    /// The dynamic queries whose texts the expression has returned.
    pub(crate) dynamic: Vec<Dynamic>,
    /// The last texts that it has returned.
    pub(crate) seen: Vec<Arc<str>>,
}

/// An analysed piece of SQL.
pub(crate) struct Prepared {
    pub(crate) stamp: Stamp,
    /// Values to copy to slots before an evaluation.
    pub(crate) loads: Box<[Load]>,
    pub(crate) kind: Kind,
    /// The result columns.
    pub(crate) columns: Arc<RowDesc>,
}

pub(crate) enum Kind {
    /// An expression over the slots.
    Simple {
        program: Program,
        /// The same expression in a form that is computed faster, if it has one.
        fast: Option<Arc<Fast>>,
        /// The same assignment, if it is one that changes an array in place.
        change: Option<Box<ArrayChange>>,
        ty: Oid,
        typmod: i32,
        /// It calls functions that are not immutable.
        mutable: bool,
        /// It calls functions that were created by users, which may report notices.
        calls_users: bool,
        /// The record variable that the expression is.
        record: Option<VarNo>,
    },
    Query {
        statement: Statement,
        /// The slots of the parameters.
        params: Box<[VarNo]>,
        command: CmdType,
        /// It only reads, so that its rows may be read one by one.
        streams: bool,
    },
    /// The text of EXECUTE that computes a row and does nothing else, and has not been seen before.
    Row {
        targets: Box<[Program]>,
        /// They call functions that are not immutable.
        mutable: bool,
    },
    Utility(Box<RawStmt>),
    /// CREATE TABLE AS or EXPLAIN with a query that names variables.
    UtilityQuery {
        raw: Box<RawStmt>,
        statement: Statement,
        params: Box<[VarNo]>,
    },
    Call(Box<ProcedureCall>),
}

/// A CALL.
pub(crate) struct ProcedureCall {
    pub(crate) procedure: Oid,
    /// The input parameters with their types.
    pub(crate) inputs: Vec<(Program, Oid)>,
    pub(crate) outputs: Vec<Output>,
}

/// An output parameter of a CALL.
pub(crate) struct Output {
    /// The variable that gets its value; `None` if the argument is something else.
    pub(crate) var: Option<VarNo>,
    pub(crate) ty: Oid,
    /// Its name in quotes, or its number.
    pub(crate) name: String,
}

/// A value that is copied to its slot when it is needed.
pub(crate) enum Load {
    Field {
        slot: VarNo,
        record: VarNo,
        ty: Oid,
        /// The number of the column in the structure that the record had first.
        at: usize,
        /// The value is an array, which is moved to the slot.
        is_array: bool,
    },
    Record {
        slot: VarNo,
    },
}
