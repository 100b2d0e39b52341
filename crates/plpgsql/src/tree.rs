//! The compiled form of a function: its variables, its statements, and the pieces of SQL in them.
//! It does not change after compilation and is shared by all calls. Counterpart: plpgsql.h.

use analyze::NameConflict;
use ids::Oid;
use pgerror::Severity;
use std::sync::Arc;

/// The number of a variable of a function.
pub type VarNo = usize;

/// The number of a piece of SQL of a function.
pub type SqlNo = usize;

/// The type of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VarType {
    pub oid: Oid,
    /// The type modifier; -1 if it has none.
    pub typmod: i32,
    pub collation: Oid,
    pub kind: TypeKind,
}

/// What a variable of a type contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeKind {
    Scalar,
    /// `record`, a composite type, or a domain over one.
    Row,
    /// A pseudo-type, of which there are no variables.
    Pseudo,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    /// Line of the declaration.
    pub line: u32,
    pub kind: VarKind,
    pub constant: bool,
    pub not_null: bool,
    pub default: Option<SqlNo>,
}

#[derive(Clone, Debug)]
pub enum VarKind {
    Scalar {
        ty: VarType,
        /// The query of a cursor variable.
        cursor: Option<Box<Cursor>>,
    },
    /// A record variable, and its number among these.
    Record { ty: VarType, record: usize },
    /// A list of variables that are assigned together. It has no name.
    Row(Vec<RowField>),
    /// A field of a record variable.
    Field { record: VarNo, name: String },
}

#[derive(Clone, Debug)]
pub struct RowField {
    pub name: String,
    pub var: VarNo,
}

/// The declaration of a bound cursor variable.
#[derive(Clone, Debug)]
pub struct Cursor {
    pub query: SqlNo,
    /// The row of its arguments.
    pub args: Option<VarNo>,
    pub scroll: Option<bool>,
}

/// How a piece of SQL is parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SqlMode {
    Statement,
    Expression,
    /// An assignment with this number of names that may identify the variable.
    Assignment(u8),
}

/// A piece of SQL.
#[derive(Clone, Debug)]
pub struct Sql {
    pub text: Arc<str>,
    pub mode: SqlMode,
    /// The innermost item of the namespace that is visible in it.
    pub scope: Option<usize>,
}

/// An item of the namespace. Items form a chain that ends at the outermost one.
#[derive(Clone, Debug)]
pub struct NameItem {
    pub name: String,
    pub kind: NameKind,
    pub outer: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameKind {
    /// The start of a block or loop; the name is empty if it has no label.
    Label(LabelKind),
    Scalar(VarNo),
    Record(VarNo),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LabelKind {
    Block,
    Loop,
    Other,
}

/// The kind of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeKind {
    Function,
    Procedure,
    Trigger,
    EventTrigger,
    /// The code of DO.
    Inline,
}

/// The result of a function.
#[derive(Clone, Debug)]
pub struct ResultType {
    pub ty: VarType,
    pub is_set: bool,
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Name and argument types, for contexts of errors.
    pub signature: Arc<str>,
    pub kind: CodeKind,
    pub result: ResultType,
    /// The function must not write.
    pub read_only: bool,
    pub vars: Vec<Variable>,
    /// Number of record variables.
    pub records: usize,
    pub sql: Vec<Sql>,
    pub names: Vec<NameItem>,
    /// The variables of the arguments.
    pub args: Vec<VarNo>,
    /// The variable of the output parameter, or the row of several ones.
    pub out: Option<VarNo>,
    pub found: VarNo,
    pub conflict: NameConflict,
    pub print_strict_params: bool,
    /// `plpgsql.extra_warnings` and `plpgsql.extra_errors`.
    pub extra: Extra,
    pub mentions: Mentions,
    pub body: Block,
}

/// Whether the text of a trigger function may refer to variables that describe the event; the
/// others need no values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mentions {
    pub new: bool,
    pub old: bool,
    /// The system columns of the rows.
    pub system: bool,
    /// `TG_NAME` and the like.
    pub event: bool,
}

const SYSTEM_COLUMNS: [&str; 6] = ["ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"];

impl Mentions {
    pub(crate) fn of(text: &str) -> Mentions {
        let has = |word: &str| {
            text.as_bytes().windows(word.len()).any(|w| w.eq_ignore_ascii_case(word.as_bytes()))
        };
        // Names in quotes may have escapes.
        let any = has("u&");
        Mentions {
            new: any || has("new"),
            old: any || has("old"),
            system: any || SYSTEM_COLUMNS.iter().any(|name| has(name)),
            event: any || has("tg_"),
        }
    }
}

impl Function {
    /// True if a variable has a type that is not built in and may change.
    pub fn has_user_types(&self) -> bool {
        self.vars.iter().any(|v| match &v.kind {
            VarKind::Scalar { ty, .. } | VarKind::Record { ty, .. } => ty.oid >= Oid::FIRST_NORMAL,
            _ => false,
        })
    }
}

/// Additional checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checks {
    pub shadowed_variables: bool,
    pub too_many_rows: bool,
    pub strict_multi_assignment: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extra {
    pub warnings: Checks,
    pub errors: Checks,
}

#[derive(Debug)]
pub struct Block {
    pub label: Option<String>,
    pub line: u32,
    pub body: Vec<Stmt>,
    /// Variables that are declared in the block.
    pub vars: Vec<VarNo>,
    pub exceptions: Option<Exceptions>,
}

#[derive(Debug)]
pub struct Exceptions {
    pub sqlstate: VarNo,
    pub sqlerrm: VarNo,
    pub handlers: Vec<Handler>,
}

#[derive(Debug)]
pub struct Handler {
    pub line: u32,
    pub conditions: Vec<Condition>,
    pub body: Vec<Stmt>,
}

/// A condition of an exception handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Any error except 57014 and P0004.
    Others,
    /// This SQLSTATE; if it ends with 000, all of its class.
    Code([u8; 5]),
}

/// A statement and its line.
#[derive(Debug)]
pub struct Stmt {
    pub line: u32,
    /// See [`StmtKind::name`].
    pub name: &'static str,
    pub kind: StmtKind,
}

impl Stmt {
    pub fn new(line: u32, kind: StmtKind) -> Stmt {
        Stmt { line, name: kind.name(), kind }
    }
}

#[derive(Debug)]
pub enum StmtKind {
    Block(Box<Block>),
    Assign {
        target: VarNo,
        value: SqlNo,
    },
    If(Box<If>),
    Case(Box<Case>),
    /// LOOP and WHILE.
    Loop {
        label: Option<String>,
        condition: Option<SqlNo>,
        body: Vec<Stmt>,
    },
    ForInteger(Box<ForInteger>),
    ForQuery(Box<ForQuery>),
    ForEach(Box<ForEach>),
    /// EXIT, or CONTINUE.
    Exit {
        is_exit: bool,
        label: Option<String>,
        condition: Option<SqlNo>,
    },
    Return {
        value: Option<SqlNo>,
        var: Option<VarNo>,
    },
    ReturnNext {
        value: Option<SqlNo>,
        var: Option<VarNo>,
    },
    ReturnQuery(Box<ReturnQuery>),
    Raise(Box<Raise>),
    Assert {
        condition: SqlNo,
        message: Option<SqlNo>,
    },
    /// A statement of SQL, with INTO.
    Sql(Box<SqlStmt>),
    DynamicSql(Box<DynamicSql>),
    Perform(SqlNo),
    /// CALL or DO.
    Call {
        sql: SqlNo,
        is_call: bool,
    },
    GetDiagnostics {
        is_stacked: bool,
        items: Vec<(VarNo, Diagnostic)>,
    },
    Open(Box<Open>),
    Fetch(Box<Fetch>),
    Close(VarNo),
    Commit {
        chain: bool,
    },
    Rollback {
        chain: bool,
    },
    Null,
}

#[derive(Debug)]
pub struct If {
    /// Conditions with their statements: IF and ELSIF.
    pub arms: Vec<(SqlNo, u32, Vec<Stmt>)>,
    pub otherwise: Vec<Stmt>,
}

#[derive(Debug)]
pub struct Case {
    /// The expression after CASE, and the variable that its value is assigned to.
    pub test: Option<(SqlNo, VarNo)>,
    pub arms: Vec<(SqlNo, u32, Vec<Stmt>)>,
    /// `None` without ELSE.
    pub otherwise: Option<Vec<Stmt>>,
}

#[derive(Debug)]
pub struct ForInteger {
    pub label: Option<String>,
    pub var: VarNo,
    pub lower: SqlNo,
    pub upper: SqlNo,
    pub step: Option<SqlNo>,
    pub reverse: bool,
    pub body: Vec<Stmt>,
}

#[derive(Debug)]
pub struct ForQuery {
    pub label: Option<String>,
    pub target: VarNo,
    pub source: RowSource,
    pub body: Vec<Stmt>,
}

/// The rows of a FOR loop or RETURN QUERY.
#[derive(Debug)]
pub enum RowSource {
    Query(SqlNo),
    Dynamic {
        query: SqlNo,
        params: Vec<SqlNo>,
    },
    /// A bound cursor variable with the expressions of its arguments.
    Cursor {
        cursor: VarNo,
        args: Option<SqlNo>,
    },
}

#[derive(Debug)]
pub struct ForEach {
    pub label: Option<String>,
    pub target: VarNo,
    pub slice: i32,
    pub array: SqlNo,
    pub body: Vec<Stmt>,
}

#[derive(Debug)]
pub struct ReturnQuery {
    pub source: RowSource,
}

#[derive(Debug)]
pub struct Raise {
    pub level: Severity,
    pub condition: Option<RaiseCondition>,
    pub message: Option<String>,
    pub params: Vec<SqlNo>,
    pub options: Vec<(RaiseOption, SqlNo)>,
}

#[derive(Debug)]
pub struct RaiseCondition {
    /// The name, or the SQLSTATE itself.
    pub name: String,
    pub code: [u8; 5],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RaiseOption {
    Errcode,
    Message,
    Detail,
    Hint,
    Column,
    Constraint,
    Datatype,
    Table,
    Schema,
}

#[derive(Debug)]
pub struct SqlStmt {
    pub sql: SqlNo,
    /// The variables after INTO.
    pub into: Option<VarNo>,
    pub strict: bool,
}

#[derive(Debug)]
pub struct DynamicSql {
    pub query: SqlNo,
    pub into: Option<VarNo>,
    pub strict: bool,
    pub params: Vec<SqlNo>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Diagnostic {
    RowCount,
    Context,
    ErrorContext,
    ErrorDetail,
    ErrorHint,
    ReturnedSqlstate,
    ColumnName,
    ConstraintName,
    DatatypeName,
    MessageText,
    TableName,
    SchemaName,
}

impl Diagnostic {
    /// The name in GET DIAGNOSTICS. Counterpart: `plpgsql_getdiag_kindname`.
    pub fn name(self) -> &'static str {
        match self {
            Diagnostic::RowCount => "ROW_COUNT",
            Diagnostic::Context => "PG_CONTEXT",
            Diagnostic::ErrorContext => "PG_EXCEPTION_CONTEXT",
            Diagnostic::ErrorDetail => "PG_EXCEPTION_DETAIL",
            Diagnostic::ErrorHint => "PG_EXCEPTION_HINT",
            Diagnostic::ReturnedSqlstate => "RETURNED_SQLSTATE",
            Diagnostic::ColumnName => "COLUMN_NAME",
            Diagnostic::ConstraintName => "CONSTRAINT_NAME",
            Diagnostic::DatatypeName => "PG_DATATYPE_NAME",
            Diagnostic::MessageText => "MESSAGE_TEXT",
            Diagnostic::TableName => "TABLE_NAME",
            Diagnostic::SchemaName => "SCHEMA_NAME",
        }
    }
}

#[derive(Debug)]
pub struct Open {
    pub cursor: VarNo,
    pub scroll: Option<bool>,
    pub source: OpenSource,
}

#[derive(Debug)]
pub enum OpenSource {
    /// The query of a bound cursor with its arguments.
    Bound {
        args: Option<SqlNo>,
    },
    Query(SqlNo),
    Dynamic {
        query: SqlNo,
        params: Vec<SqlNo>,
    },
}

#[derive(Debug)]
pub struct Fetch {
    pub cursor: VarNo,
    pub direction: Direction,
    /// The number of rows; an expression takes precedence.
    pub count: i64,
    pub count_sql: Option<SqlNo>,
    pub is_move: bool,
    pub target: Option<VarNo>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Forward,
    Backward,
    Absolute,
    Relative,
}

impl StmtKind {
    /// The name in contexts of errors. Counterpart: `plpgsql_stmt_typename`.
    pub fn name(&self) -> &'static str {
        match self {
            StmtKind::Block(_) => "statement block",
            StmtKind::Assign { .. } => "assignment",
            StmtKind::If(_) => "IF",
            StmtKind::Case(_) => "CASE",
            StmtKind::Loop { condition: None, .. } => "LOOP",
            StmtKind::Loop { .. } => "WHILE",
            StmtKind::ForInteger(_) => "FOR with integer loop variable",
            StmtKind::ForQuery(f) => match f.source {
                RowSource::Query(_) => "FOR over SELECT rows",
                RowSource::Dynamic { .. } => "FOR over EXECUTE statement",
                RowSource::Cursor { .. } => "FOR over cursor",
            },
            StmtKind::ForEach(_) => "FOREACH over array",
            StmtKind::Exit { is_exit: true, .. } => "EXIT",
            StmtKind::Exit { .. } => "CONTINUE",
            StmtKind::Return { .. } => "RETURN",
            StmtKind::ReturnNext { .. } => "RETURN NEXT",
            StmtKind::ReturnQuery(_) => "RETURN QUERY",
            StmtKind::Raise(_) => "RAISE",
            StmtKind::Assert { .. } => "ASSERT",
            StmtKind::Sql(_) => "SQL statement",
            StmtKind::DynamicSql(_) => "EXECUTE",
            StmtKind::Perform(_) => "PERFORM",
            StmtKind::Call { is_call: true, .. } => "CALL",
            StmtKind::Call { .. } => "DO",
            StmtKind::GetDiagnostics { is_stacked: true, .. } => "GET STACKED DIAGNOSTICS",
            StmtKind::GetDiagnostics { .. } => "GET DIAGNOSTICS",
            StmtKind::Open(_) => "OPEN",
            StmtKind::Fetch(f) if f.is_move => "MOVE",
            StmtKind::Fetch(_) => "FETCH",
            StmtKind::Close(_) => "CLOSE",
            StmtKind::Commit { .. } => "COMMIT",
            StmtKind::Rollback { .. } => "ROLLBACK",
            StmtKind::Null => "NULL",
        }
    }
}
