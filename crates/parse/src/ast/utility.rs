//! Session, transaction and maintenance statements.

use super::enums::{
    DiscardMode, FetchDirection, ReindexObjectType, TransactionStmtKind, VariableSetKind,
};
use super::expr::{DefElem, FuncCall, TypeName};
use super::query::RangeVar;
use super::{Name, Node};

/// BEGIN, COMMIT, SAVEPOINT and other transaction statements.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TransactionStmt {
    pub kind: TransactionStmtKind,
    pub options: Vec<DefElem>,
    pub savepoint_name: Option<Name>,
    pub gid: Option<Name>,
    pub chain: bool,
    pub location: i32,
}

/// SET and RESET.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct VariableSetStmt {
    pub kind: VariableSetKind,
    pub name: Option<Name>,
    pub args: Vec<Node>,
    pub is_local: bool,
    pub location: i32,
}

/// SHOW.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct VariableShowStmt {
    pub name: Name,
}

/// ALTER SYSTEM.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterSystemStmt {
    pub setstmt: VariableSetStmt,
}

/// DISCARD.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DiscardStmt {
    pub target: DiscardMode,
}

/// PREPARE.
#[derive(Clone, PartialEq, Debug)]
pub struct PrepareStmt {
    pub name: Name,
    pub argtypes: Vec<TypeName>,
    pub query: Node,
}

/// EXECUTE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ExecuteStmt {
    pub name: Name,
    pub params: Vec<Node>,
}

/// DEALLOCATE; without a name, all.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DeallocateStmt {
    pub name: Option<Name>,
    pub isall: bool,
    pub location: i32,
}

/// DECLARE CURSOR; `options` is PostgreSQL's bit mask.
#[derive(Clone, PartialEq, Debug)]
pub struct DeclareCursorStmt {
    pub portalname: Name,
    pub options: i32,
    pub query: Node,
}

/// FETCH and MOVE; `how_many` is `i64::MAX` for ALL.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FetchStmt {
    pub direction: FetchDirection,
    pub how_many: i64,
    pub portalname: Name,
    pub ismove: bool,
}

/// CLOSE; without a name, all.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClosePortalStmt {
    pub portalname: Option<Name>,
}

/// EXPLAIN.
#[derive(Clone, PartialEq, Debug)]
pub struct ExplainStmt {
    pub query: Node,
    pub options: Vec<DefElem>,
}

/// COPY.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CopyStmt {
    pub relation: Option<Box<RangeVar>>,
    pub query: Option<Node>,
    pub attlist: Vec<Name>,
    pub is_from: bool,
    pub is_program: bool,
    pub filename: Option<Name>,
    pub options: Vec<DefElem>,
    pub where_clause: Option<Node>,
}

/// VACUUM and ANALYZE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct VacuumStmt {
    pub options: Vec<DefElem>,
    pub rels: Vec<VacuumRelation>,
    pub is_vacuumcmd: bool,
}

/// A table with optional columns for VACUUM and ANALYZE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct VacuumRelation {
    pub relation: Option<Box<RangeVar>>,
    pub va_cols: Vec<Name>,
}

/// CLUSTER.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClusterStmt {
    pub relation: Option<Box<RangeVar>>,
    pub indexname: Option<Name>,
    pub params: Vec<DefElem>,
}

/// REINDEX.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReindexStmt {
    pub kind: ReindexObjectType,
    pub relation: Option<Box<RangeVar>>,
    pub name: Option<Name>,
    pub params: Vec<DefElem>,
}

/// LOCK TABLE; `mode` is the number of the lock mode.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LockStmt {
    pub relations: Vec<RangeVar>,
    pub mode: i32,
    pub nowait: bool,
}

/// SET CONSTRAINTS; without names it applies to ALL.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ConstraintsSetStmt {
    pub constraints: Vec<RangeVar>,
    pub deferred: bool,
}

/// NOTIFY.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NotifyStmt {
    pub conditionname: Name,
    pub payload: Option<Name>,
}

/// LISTEN.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ListenStmt {
    pub conditionname: Name,
}

/// UNLISTEN; without a name, all.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct UnlistenStmt {
    pub conditionname: Option<Name>,
}

/// LOAD.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LoadStmt {
    pub filename: Name,
}

/// DO.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DoStmt {
    pub args: Vec<DefElem>,
}

/// CALL.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CallStmt {
    pub funccall: FuncCall,
}
