//! The raw parse tree: the statement as written, before any name look-up. Nodes and fields have
//! PostgreSQL's names (parsenodes.h) in Rust spelling.
//!
//! Locations are byte offsets into the statement text, -1 if unknown. The depth of a tree is
//! limited ([`crate::DEPTH_BYTES_MAX`]), so plain recursion over it is safe on a stack of
//! sufficient size.
//!
//! Reading order: this file, `expr`, `query`, `table`, `utility`, `object`, `enums`.

mod enums;
mod expr;
mod object;
mod query;
mod table;
mod utility;

pub use enums::{
    AExprKind, AlterPublicationAction, AlterSubscriptionType, AlterTableType, BoolExprType,
    BoolTestType, CmdType, CoercionContext, CoercionForm, ConstrType, CteMaterialize,
    DefElemAction, DiscardMode, DropBehavior, FetchDirection, FunctionParameterMode,
    GrantTargetType, GroupingSetKind, JoinType, LimitOption, LockClauseStrength, LockWaitPolicy,
    MergeMatchKind, MinMaxOp, NullTestType, ObjectType, OnCommitAction, OnConflictAction,
    OverridingKind, PartitionRangeDatumKind, PartitionStrategy, PublicationObjSpecType,
    ReindexObjectType, RoleSpecType, RoleStmtType, SetOperation, SortByDir, SortByNulls,
    SqlValueFunctionOp, SubLinkType, TransactionStmtKind, VariableSetKind, ViewCheckOption,
};
pub use expr::{
    AArrayExpr, AConst, AExpr, AIndices, AIndirection, BoolExpr, BooleanTest, CaseExpr, CaseWhen,
    CoalesceExpr, CollateClause, ColumnRef, CurrentOfExpr, DefElem, FuncCall, FunctionParameter,
    GroupingFunc, MinMaxExpr, MultiAssignRef, NamedArgExpr, NullTest, ObjectWithArgs, ParamRef,
    RoleSpec, RowExpr, SetToDefault, SqlValueFunction, SubLink, TypeCast, TypeName, Value,
};
pub use object::{
    AccessPriv, AlterCollationStmt, AlterDatabaseRefreshCollStmt, AlterDatabaseSetStmt,
    AlterDatabaseStmt, AlterDefaultPrivilegesStmt, AlterDomainStmt, AlterEnumStmt,
    AlterEventTrigStmt, AlterExtensionContentsStmt, AlterExtensionStmt, AlterFunctionStmt,
    AlterObjectDependsStmt, AlterObjectSchemaStmt, AlterOpFamilyStmt, AlterOperatorStmt,
    AlterOwnerStmt, AlterPublicationStmt, AlterRoleSetStmt, AlterRoleStmt, AlterSubscriptionStmt,
    AlterTableMoveAllStmt, AlterTableSpaceOptionsStmt, AlterTsConfigurationStmt,
    AlterTsDictionaryStmt, AlterTypeStmt, CommentStmt, CompositeTypeStmt, CreateAmStmt,
    CreateCastStmt, CreateConversionStmt, CreateDomainStmt, CreateEnumStmt, CreateEventTrigStmt,
    CreateExtensionStmt, CreateFunctionStmt, CreateOpClassItem, CreateOpClassStmt,
    CreateOpFamilyStmt, CreatePLangStmt, CreatePublicationStmt, CreateRangeStmt, CreateRoleStmt,
    CreateSchemaStmt, CreateSubscriptionStmt, CreateTableSpaceStmt, CreateTransformStmt,
    CreatedbStmt, DefineStmt, DropOwnedStmt, DropRoleStmt, DropSubscriptionStmt,
    DropTableSpaceStmt, DropdbStmt, GrantRoleStmt, GrantStmt, PublicationObjSpec, PublicationTable,
    ReassignOwnedStmt, RenameStmt, SecLabelStmt,
};
pub use query::{
    Alias, CommonTableExpr, CteCycleClause, CteSearchClause, DeleteStmt, DistinctClause,
    GroupingSet, InferClause, InsertStmt, IntoClause, JoinExpr, LockingClause, MergeStmt,
    MergeWhenClause, OnConflictClause, PlAssignStmt, RangeFunction, RangeFunctionItem,
    RangeSubselect, RangeTableSample, RangeVar, ResTarget, ReturnStmt, SelectStmt, SortBy,
    UpdateStmt, WindowDef, WithClause,
};
pub use table::{
    AlterPolicyStmt, AlterSeqStmt, AlterStatsStmt, AlterTableCmd, AlterTableStmt,
    AtAlterConstraint, ColumnDef, Constraint, CreatePolicyStmt, CreateSeqStmt, CreateStatsStmt,
    CreateStmt, CreateTableAsStmt, CreateTrigStmt, DropStmt, IndexElem, IndexStmt,
    PartitionBoundSpec, PartitionCmd, PartitionElem, PartitionRangeDatum, PartitionSpec,
    RefreshMatViewStmt, ReplicaIdentityStmt, RuleStmt, StatsElem, TableLikeClause,
    TriggerTransition, TruncateStmt, ViewStmt,
};
pub use utility::{
    AlterSystemStmt, CallStmt, ClosePortalStmt, ClusterStmt, ConstraintsSetStmt, CopyStmt,
    DeallocateStmt, DeclareCursorStmt, DiscardStmt, DoStmt, ExecuteStmt, ExplainStmt, FetchStmt,
    ListenStmt, LoadStmt, LockStmt, NotifyStmt, PrepareStmt, ReindexStmt, TransactionStmt,
    UnlistenStmt, VacuumRelation, VacuumStmt, VariableSetStmt, VariableShowStmt,
};

/// An identifier or other short text of the tree.
pub type Name = Box<str>;

/// One statement of a query string.
#[derive(Clone, PartialEq, Debug)]
pub struct RawStmt {
    pub stmt: Node,
    /// Byte offset of its first token (or of the byte after the previous semicolon).
    pub location: i32,
    /// Length in bytes; 0 means "to the end of the string".
    pub len: i32,
    /// Nesting depth of the tree.
    pub depth: u32,
}

impl RawStmt {
    /// A statement that is contained in another one; `depth` is the depth of that one.
    pub fn within(stmt: Node, depth: u32) -> RawStmt {
        RawStmt { stmt, location: 0, len: 0, depth }
    }

    /// Whether recursive processing of the statement needs [`stdx::stack::wide`].
    pub fn is_deep(&self) -> bool {
        self.depth > crate::options::DEEP_NODES
    }
}

/// Any node. Variants are boxed, so that a node has three words.
#[derive(Clone, PartialEq, Debug)]
pub enum Node {
    Integer(i32),
    Float(Name),
    Boolean(bool),
    String(Name),
    BitString(Name),
    List(Box<[Node]>),
    /// `*` in a column reference or after an expression.
    AStar,
    CheckPointStmt,
    ColumnRef(Box<ColumnRef>),
    ParamRef(Box<ParamRef>),
    AExpr(Box<AExpr>),
    AConst(Box<AConst>),
    TypeCast(Box<TypeCast>),
    CollateClause(Box<CollateClause>),
    FuncCall(Box<FuncCall>),
    NamedArgExpr(Box<NamedArgExpr>),
    AIndices(Box<AIndices>),
    AIndirection(Box<AIndirection>),
    AArrayExpr(Box<AArrayExpr>),
    BoolExpr(Box<BoolExpr>),
    SubLink(Box<SubLink>),
    NullTest(Box<NullTest>),
    BooleanTest(Box<BooleanTest>),
    CaseExpr(Box<CaseExpr>),
    CaseWhen(Box<CaseWhen>),
    RowExpr(Box<RowExpr>),
    CoalesceExpr(Box<CoalesceExpr>),
    MinMaxExpr(Box<MinMaxExpr>),
    SqlValueFunction(Box<SqlValueFunction>),
    GroupingFunc(Box<GroupingFunc>),
    SetToDefault(Box<SetToDefault>),
    CurrentOfExpr(Box<CurrentOfExpr>),
    MultiAssignRef(Box<MultiAssignRef>),
    TypeName(Box<TypeName>),
    DefElem(Box<DefElem>),
    RoleSpec(Box<RoleSpec>),
    ObjectWithArgs(Box<ObjectWithArgs>),
    FunctionParameter(Box<FunctionParameter>),
    SelectStmt(Box<SelectStmt>),
    InsertStmt(Box<InsertStmt>),
    UpdateStmt(Box<UpdateStmt>),
    DeleteStmt(Box<DeleteStmt>),
    MergeStmt(Box<MergeStmt>),
    MergeWhenClause(Box<MergeWhenClause>),
    ReturnStmt(Box<ReturnStmt>),
    PlAssignStmt(Box<PlAssignStmt>),
    ResTarget(Box<ResTarget>),
    Alias(Box<Alias>),
    RangeVar(Box<RangeVar>),
    JoinExpr(Box<JoinExpr>),
    RangeSubselect(Box<RangeSubselect>),
    RangeFunction(Box<RangeFunction>),
    RangeTableSample(Box<RangeTableSample>),
    SortBy(Box<SortBy>),
    WindowDef(Box<WindowDef>),
    GroupingSet(Box<GroupingSet>),
    LockingClause(Box<LockingClause>),
    WithClause(Box<WithClause>),
    CommonTableExpr(Box<CommonTableExpr>),
    CteSearchClause(Box<CteSearchClause>),
    CteCycleClause(Box<CteCycleClause>),
    OnConflictClause(Box<OnConflictClause>),
    InferClause(Box<InferClause>),
    IntoClause(Box<IntoClause>),
    CreateStmt(Box<CreateStmt>),
    ColumnDef(Box<ColumnDef>),
    Constraint(Box<Constraint>),
    TableLikeClause(Box<TableLikeClause>),
    PartitionSpec(Box<PartitionSpec>),
    PartitionElem(Box<PartitionElem>),
    PartitionBoundSpec(Box<PartitionBoundSpec>),
    PartitionRangeDatum(Box<PartitionRangeDatum>),
    PartitionCmd(Box<PartitionCmd>),
    IndexStmt(Box<IndexStmt>),
    IndexElem(Box<IndexElem>),
    AlterTableStmt(Box<AlterTableStmt>),
    AlterTableCmd(Box<AlterTableCmd>),
    AtAlterConstraint(Box<AtAlterConstraint>),
    ReplicaIdentityStmt(Box<ReplicaIdentityStmt>),
    ViewStmt(Box<ViewStmt>),
    CreateTableAsStmt(Box<CreateTableAsStmt>),
    RefreshMatViewStmt(Box<RefreshMatViewStmt>),
    CreateSeqStmt(Box<CreateSeqStmt>),
    AlterSeqStmt(Box<AlterSeqStmt>),
    CreateStatsStmt(Box<CreateStatsStmt>),
    StatsElem(Box<StatsElem>),
    AlterStatsStmt(Box<AlterStatsStmt>),
    TruncateStmt(Box<TruncateStmt>),
    DropStmt(Box<DropStmt>),
    CreateTrigStmt(Box<CreateTrigStmt>),
    TriggerTransition(Box<TriggerTransition>),
    RuleStmt(Box<RuleStmt>),
    CreatePolicyStmt(Box<CreatePolicyStmt>),
    AlterPolicyStmt(Box<AlterPolicyStmt>),
    TransactionStmt(Box<TransactionStmt>),
    VariableSetStmt(Box<VariableSetStmt>),
    VariableShowStmt(Box<VariableShowStmt>),
    AlterSystemStmt(Box<AlterSystemStmt>),
    DiscardStmt(Box<DiscardStmt>),
    PrepareStmt(Box<PrepareStmt>),
    ExecuteStmt(Box<ExecuteStmt>),
    DeallocateStmt(Box<DeallocateStmt>),
    DeclareCursorStmt(Box<DeclareCursorStmt>),
    FetchStmt(Box<FetchStmt>),
    ClosePortalStmt(Box<ClosePortalStmt>),
    ExplainStmt(Box<ExplainStmt>),
    CopyStmt(Box<CopyStmt>),
    VacuumStmt(Box<VacuumStmt>),
    VacuumRelation(Box<VacuumRelation>),
    ClusterStmt(Box<ClusterStmt>),
    ReindexStmt(Box<ReindexStmt>),
    LockStmt(Box<LockStmt>),
    ConstraintsSetStmt(Box<ConstraintsSetStmt>),
    NotifyStmt(Box<NotifyStmt>),
    ListenStmt(Box<ListenStmt>),
    UnlistenStmt(Box<UnlistenStmt>),
    LoadStmt(Box<LoadStmt>),
    DoStmt(Box<DoStmt>),
    CallStmt(Box<CallStmt>),
    CreateSchemaStmt(Box<CreateSchemaStmt>),
    CreatedbStmt(Box<CreatedbStmt>),
    DropdbStmt(Box<DropdbStmt>),
    AlterDatabaseStmt(Box<AlterDatabaseStmt>),
    AlterDatabaseSetStmt(Box<AlterDatabaseSetStmt>),
    AlterDatabaseRefreshCollStmt(Box<AlterDatabaseRefreshCollStmt>),
    CreateTableSpaceStmt(Box<CreateTableSpaceStmt>),
    DropTableSpaceStmt(Box<DropTableSpaceStmt>),
    AlterTableSpaceOptionsStmt(Box<AlterTableSpaceOptionsStmt>),
    AlterTableMoveAllStmt(Box<AlterTableMoveAllStmt>),
    CreateRoleStmt(Box<CreateRoleStmt>),
    AlterRoleStmt(Box<AlterRoleStmt>),
    AlterRoleSetStmt(Box<AlterRoleSetStmt>),
    DropRoleStmt(Box<DropRoleStmt>),
    GrantStmt(Box<GrantStmt>),
    AccessPriv(Box<AccessPriv>),
    GrantRoleStmt(Box<GrantRoleStmt>),
    AlterDefaultPrivilegesStmt(Box<AlterDefaultPrivilegesStmt>),
    DropOwnedStmt(Box<DropOwnedStmt>),
    ReassignOwnedStmt(Box<ReassignOwnedStmt>),
    CommentStmt(Box<CommentStmt>),
    SecLabelStmt(Box<SecLabelStmt>),
    RenameStmt(Box<RenameStmt>),
    AlterObjectDependsStmt(Box<AlterObjectDependsStmt>),
    AlterObjectSchemaStmt(Box<AlterObjectSchemaStmt>),
    AlterOwnerStmt(Box<AlterOwnerStmt>),
    CreateExtensionStmt(Box<CreateExtensionStmt>),
    AlterExtensionStmt(Box<AlterExtensionStmt>),
    AlterExtensionContentsStmt(Box<AlterExtensionContentsStmt>),
    DefineStmt(Box<DefineStmt>),
    CompositeTypeStmt(Box<CompositeTypeStmt>),
    CreateEnumStmt(Box<CreateEnumStmt>),
    AlterEnumStmt(Box<AlterEnumStmt>),
    CreateRangeStmt(Box<CreateRangeStmt>),
    CreateDomainStmt(Box<CreateDomainStmt>),
    AlterDomainStmt(Box<AlterDomainStmt>),
    AlterTypeStmt(Box<AlterTypeStmt>),
    AlterTsDictionaryStmt(Box<AlterTsDictionaryStmt>),
    AlterTsConfigurationStmt(Box<AlterTsConfigurationStmt>),
    CreateFunctionStmt(Box<CreateFunctionStmt>),
    AlterFunctionStmt(Box<AlterFunctionStmt>),
    CreateCastStmt(Box<CreateCastStmt>),
    CreateTransformStmt(Box<CreateTransformStmt>),
    CreateConversionStmt(Box<CreateConversionStmt>),
    CreateOpClassStmt(Box<CreateOpClassStmt>),
    CreateOpClassItem(Box<CreateOpClassItem>),
    CreateOpFamilyStmt(Box<CreateOpFamilyStmt>),
    AlterOpFamilyStmt(Box<AlterOpFamilyStmt>),
    AlterOperatorStmt(Box<AlterOperatorStmt>),
    CreateAmStmt(Box<CreateAmStmt>),
    CreatePLangStmt(Box<CreatePLangStmt>),
    AlterCollationStmt(Box<AlterCollationStmt>),
    CreateEventTrigStmt(Box<CreateEventTrigStmt>),
    AlterEventTrigStmt(Box<AlterEventTrigStmt>),
    PublicationTable(Box<PublicationTable>),
    PublicationObjSpec(Box<PublicationObjSpec>),
    CreatePublicationStmt(Box<CreatePublicationStmt>),
    AlterPublicationStmt(Box<AlterPublicationStmt>),
    CreateSubscriptionStmt(Box<CreateSubscriptionStmt>),
    AlterSubscriptionStmt(Box<AlterSubscriptionStmt>),
    DropSubscriptionStmt(Box<DropSubscriptionStmt>),
    /// A statement that the grammar accepts and this tree has no node for; the text is its kind.
    Unsupported(&'static str),
}

const _: () = assert!(size_of::<Node>() == 24);

impl Node {
    /// The text of a string node.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Node::String(s) => Some(s),
            _ => None,
        }
    }

    /// The elements of a list node.
    pub fn as_list(&self) -> Option<&[Node]> {
        match self {
            Node::List(l) => Some(l),
            _ => None,
        }
    }
}
