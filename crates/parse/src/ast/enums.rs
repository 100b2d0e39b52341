//! The enumerations of the raw parse tree.

/// Kind of a query.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum CmdType {
    #[default]
    Unknown,
    Select,
    Update,
    Insert,
    Delete,
    Merge,
    Utility,
    Nothing,
}

/// Kinds of joins of the grammar and of the planner.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum JoinType {
    #[default]
    Inner,
    Left,
    Full,
    Right,
    Semi,
    Anti,
    RightSemi,
    RightAnti,
    UniqueOuter,
    UniqueInner,
}

/// Action of ON CONFLICT.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum OnConflictAction {
    #[default]
    None,
    Nothing,
    Update,
}

/// FETCH FIRST … ONLY or WITH TIES.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum LimitOption {
    #[default]
    Default,
    Count,
    WithTies,
}

/// Row lock strengths, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum LockClauseStrength {
    #[default]
    None,
    ForKeyShare,
    ForShare,
    ForNoKeyUpdate,
    ForUpdate,
}

/// Behaviour of a row lock that cannot be taken at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum LockWaitPolicy {
    #[default]
    Block,
    Skip,
    Error,
}

/// OVERRIDING clause of INSERT.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum OverridingKind {
    #[default]
    NotSet,
    UserValue,
    SystemValue,
}

/// ON COMMIT of a temporary table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum OnCommitAction {
    #[default]
    Noop,
    PreserveRows,
    DeleteRows,
    Drop,
}

/// The context of a type coercion, which determines the allowed casts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum CoercionContext {
    #[default]
    Implicit,
    Assignment,
    Plpgsql,
    Explicit,
}

/// The syntax in which a function call or coercion was written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum CoercionForm {
    #[default]
    ExplicitCall,
    ExplicitCast,
    ImplicitCast,
    SqlSyntax,
}

/// AND, OR, NOT.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum BoolExprType {
    #[default]
    And,
    Or,
    Not,
}

/// Kinds of sub-selects in expressions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SubLinkType {
    #[default]
    Exists,
    All,
    Any,
    RowCompare,
    Expr,
    MultiExpr,
    Array,
    Cte,
}

/// GREATEST or LEAST.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MinMaxOp {
    #[default]
    Greatest,
    Least,
}

/// Functions that are written without parentheses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SqlValueFunctionOp {
    #[default]
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

/// IS [NOT] NULL.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum NullTestType {
    #[default]
    IsNull,
    IsNotNull,
}

/// IS [NOT] TRUE, FALSE, UNKNOWN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum BoolTestType {
    #[default]
    IsTrue,
    IsNotTrue,
    IsFalse,
    IsNotFalse,
    IsUnknown,
    IsNotUnknown,
}

/// The rows that a WHEN clause of MERGE applies to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MergeMatchKind {
    #[default]
    Matched,
    NotMatchedBySource,
    NotMatchedByTarget,
}

/// Direction of a sort key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SortByDir {
    #[default]
    Default,
    Asc,
    Desc,
    Using,
}

/// Where NULLs sort.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SortByNulls {
    #[default]
    Default,
    First,
    Last,
}

/// Kinds of operator expressions before analysis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AExprKind {
    #[default]
    Op,
    OpAny,
    OpAll,
    Distinct,
    NotDistinct,
    Nullif,
    In,
    Like,
    Ilike,
    Similar,
    Between,
    NotBetween,
    BetweenSym,
    NotBetweenSym,
}

/// How a role was named.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RoleSpecType {
    #[default]
    Name,
    CurrentRole,
    CurrentUser,
    SessionUser,
    Public,
}

/// SET, ADD or DROP of an option.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DefElemAction {
    #[default]
    Unspec,
    Set,
    Add,
    Drop,
}

/// PARTITION BY.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PartitionStrategy {
    #[default]
    List,
    Range,
    Hash,
}

/// A bound of a range partition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PartitionRangeDatumKind {
    Minvalue,
    #[default]
    Value,
    Maxvalue,
}

/// Kinds of grouping sets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum GroupingSetKind {
    #[default]
    Empty,
    Simple,
    Rollup,
    Cube,
    Sets,
}

/// [NOT] MATERIALIZED.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum CteMaterialize {
    #[default]
    Default,
    Always,
    Never,
}

/// UNION, INTERSECT, EXCEPT.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SetOperation {
    #[default]
    None,
    Union,
    Intersect,
    Except,
}

/// Kinds of objects that commands name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ObjectType {
    #[default]
    AccessMethod,
    Aggregate,
    Amop,
    Amproc,
    Attribute,
    Cast,
    Column,
    Collation,
    Conversion,
    Database,
    Default,
    Defacl,
    Domain,
    Domconstraint,
    EventTrigger,
    Extension,
    Fdw,
    ForeignServer,
    ForeignTable,
    Function,
    Index,
    Language,
    Largeobject,
    Matview,
    Opclass,
    Operator,
    Opfamily,
    ParameterAcl,
    Policy,
    Procedure,
    Publication,
    PublicationNamespace,
    PublicationRel,
    Role,
    Routine,
    Rule,
    Schema,
    Sequence,
    Subscription,
    StatisticExt,
    Tabconstraint,
    Table,
    Tablespace,
    Transform,
    Trigger,
    Tsconfiguration,
    Tsdictionary,
    Tsparser,
    Tstemplate,
    Type,
    UserMapping,
    View,
}

/// RESTRICT or CASCADE.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DropBehavior {
    #[default]
    Restrict,
    Cascade,
}

/// Subcommands of ALTER TABLE.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AlterTableType {
    #[default]
    AddColumn,
    AddColumnToView,
    ColumnDefault,
    DropNotNull,
    SetNotNull,
    SetExpression,
    DropExpression,
    SetStatistics,
    SetOptions,
    ResetOptions,
    SetStorage,
    SetCompression,
    DropColumn,
    AddIndex,
    AddConstraint,
    AlterConstraint,
    ValidateConstraint,
    DropConstraint,
    AlterColumnType,
    AlterColumnGenericOptions,
    ChangeOwner,
    ClusterOn,
    DropCluster,
    SetLogged,
    SetUnLogged,
    SetAccessMethod,
    SetTableSpace,
    SetRelOptions,
    ResetRelOptions,
    EnableTrig,
    EnableAlwaysTrig,
    EnableReplicaTrig,
    DisableTrig,
    EnableTrigAll,
    DisableTrigAll,
    EnableTrigUser,
    DisableTrigUser,
    EnableRule,
    EnableAlwaysRule,
    EnableReplicaRule,
    DisableRule,
    AddInherit,
    DropInherit,
    AddOf,
    DropOf,
    ReplicaIdentity,
    EnableRowSecurity,
    DisableRowSecurity,
    ForceRowSecurity,
    NoForceRowSecurity,
    GenericOptions,
    AttachPartition,
    DetachPartition,
    DetachPartitionFinalize,
    AddIdentity,
    SetIdentity,
    DropIdentity,
    DropOids,
}

/// The kind of a GRANT's targets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum GrantTargetType {
    #[default]
    Object,
    AllInSchema,
    Defaults,
}

/// Forms of SET and RESET.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum VariableSetKind {
    #[default]
    SetValue,
    SetDefault,
    SetCurrent,
    SetMulti,
    Reset,
    ResetAll,
}

/// Kinds of constraints and constraint attributes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ConstrType {
    #[default]
    Null,
    NotNull,
    Default,
    Identity,
    Generated,
    Check,
    Primary,
    Unique,
    Exclusion,
    Foreign,
    AttrDeferrable,
    AttrNotDeferrable,
    AttrDeferred,
    AttrImmediate,
    AttrEnforced,
    AttrNotEnforced,
}

/// CREATE ROLE, USER or GROUP.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RoleStmtType {
    #[default]
    Role,
    User,
    Group,
}

/// Direction of FETCH and MOVE.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FetchDirection {
    #[default]
    Forward,
    Backward,
    Absolute,
    Relative,
}

/// Mode of a function parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FunctionParameterMode {
    #[default]
    In,
    Out,
    InOut,
    Variadic,
    Table,
    Default,
}

/// Transaction control statements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TransactionStmtKind {
    #[default]
    Begin,
    Start,
    Commit,
    Rollback,
    Savepoint,
    Release,
    RollbackTo,
    Prepare,
    CommitPrepared,
    RollbackPrepared,
}

/// WITH CHECK OPTION.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ViewCheckOption {
    #[default]
    None,
    Local,
    Cascaded,
}

/// Targets of DISCARD.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DiscardMode {
    #[default]
    All,
    Plans,
    Sequences,
    Temp,
}

/// Targets of REINDEX.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ReindexObjectType {
    #[default]
    Index,
    Table,
    Schema,
    System,
    Database,
}

/// Objects of a publication.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PublicationObjSpecType {
    #[default]
    Table,
    TablesInSchema,
    TablesInCurSchema,
    Continuation,
}

/// ADD, DROP or SET objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AlterPublicationAction {
    #[default]
    AddObjects,
    DropObjects,
    SetObjects,
}

/// Forms of ALTER SUBSCRIPTION.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AlterSubscriptionType {
    #[default]
    Options,
    Connection,
    SetPublication,
    AddPublication,
    DropPublication,
    Refresh,
    Enabled,
    Skip,
}
