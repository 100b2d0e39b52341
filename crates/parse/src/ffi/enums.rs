//! Conversion of the C parser's enumerations.

use super::convert::{ConversionState, Convert};
use crate::ast;
use pg_raw_parse::raw;
use pgerror::{PgError, Result};

/// Several enumerations of the C side are the same integer type, so each has its own constants, but
/// they share a conversion trait per target type.
macro_rules! enums {
    ($($node:ident = $c_node:ident { $($variant:ident = $constant:ident),* $(,)? };)*) => { $(
        impl Convert<ast::$node> for u32 {
            fn convert(self, _: &mut ConversionState) -> Result<ast::$node> {
                Ok(match self {
                    $(raw::$c_node::$constant => ast::$node::$variant,)*
                    other => {
                        return Err(PgError::internal(format!(
                            "unknown {} {other} in the parse tree", stringify!($node)
                        )));
                    }
                })
            }
        }
    )* };
}

enums! {
    CmdType = CmdType {
        Unknown = CMD_UNKNOWN, Select = CMD_SELECT, Update = CMD_UPDATE, Insert = CMD_INSERT,
        Delete = CMD_DELETE, Merge = CMD_MERGE, Utility = CMD_UTILITY, Nothing = CMD_NOTHING,
    };
    JoinType = JoinType {
        Inner = JOIN_INNER, Left = JOIN_LEFT, Full = JOIN_FULL, Right = JOIN_RIGHT, Semi =
        JOIN_SEMI, Anti = JOIN_ANTI, RightSemi = JOIN_RIGHT_SEMI, RightAnti = JOIN_RIGHT_ANTI,
        UniqueOuter = JOIN_UNIQUE_OUTER, UniqueInner = JOIN_UNIQUE_INNER,
    };
    OnConflictAction = OnConflictAction {
        None = ONCONFLICT_NONE, Nothing = ONCONFLICT_NOTHING, Update = ONCONFLICT_UPDATE,
    };
    LimitOption = LimitOption {
        Default = LIMIT_OPTION_DEFAULT, Count = LIMIT_OPTION_COUNT, WithTies =
        LIMIT_OPTION_WITH_TIES,
    };
    LockClauseStrength = LockClauseStrength {
        None = LCS_NONE, ForKeyShare = LCS_FORKEYSHARE, ForShare = LCS_FORSHARE, ForNoKeyUpdate =
        LCS_FORNOKEYUPDATE, ForUpdate = LCS_FORUPDATE,
    };
    LockWaitPolicy = LockWaitPolicy {
        Block = LockWaitBlock, Skip = LockWaitSkip, Error = LockWaitError,
    };
    OverridingKind = OverridingKind {
        NotSet = OVERRIDING_NOT_SET, UserValue = OVERRIDING_USER_VALUE, SystemValue =
        OVERRIDING_SYSTEM_VALUE,
    };
    OnCommitAction = OnCommitAction {
        Noop = ONCOMMIT_NOOP, PreserveRows = ONCOMMIT_PRESERVE_ROWS, DeleteRows =
        ONCOMMIT_DELETE_ROWS, Drop = ONCOMMIT_DROP,
    };
    CoercionContext = CoercionContext {
        Implicit = COERCION_IMPLICIT, Assignment = COERCION_ASSIGNMENT, Plpgsql =
        COERCION_PLPGSQL, Explicit = COERCION_EXPLICIT,
    };
    CoercionForm = CoercionForm {
        ExplicitCall = COERCE_EXPLICIT_CALL, ExplicitCast = COERCE_EXPLICIT_CAST, ImplicitCast =
        COERCE_IMPLICIT_CAST, SqlSyntax = COERCE_SQL_SYNTAX,
    };
    BoolExprType = BoolExprType { And = AND_EXPR, Or = OR_EXPR, Not = NOT_EXPR };
    SubLinkType = SubLinkType {
        Exists = EXISTS_SUBLINK, All = ALL_SUBLINK, Any = ANY_SUBLINK, RowCompare =
        ROWCOMPARE_SUBLINK, Expr = EXPR_SUBLINK, MultiExpr = MULTIEXPR_SUBLINK, Array =
        ARRAY_SUBLINK, Cte = CTE_SUBLINK,
    };
    MinMaxOp = MinMaxOp { Greatest = IS_GREATEST, Least = IS_LEAST };
    SqlValueFunctionOp = SQLValueFunctionOp {
        CurrentDate = SVFOP_CURRENT_DATE, CurrentTime = SVFOP_CURRENT_TIME, CurrentTimeN =
        SVFOP_CURRENT_TIME_N, CurrentTimestamp = SVFOP_CURRENT_TIMESTAMP, CurrentTimestampN =
        SVFOP_CURRENT_TIMESTAMP_N, Localtime = SVFOP_LOCALTIME, LocaltimeN = SVFOP_LOCALTIME_N,
        Localtimestamp = SVFOP_LOCALTIMESTAMP, LocaltimestampN = SVFOP_LOCALTIMESTAMP_N,
        CurrentRole = SVFOP_CURRENT_ROLE, CurrentUser = SVFOP_CURRENT_USER, User = SVFOP_USER,
        SessionUser = SVFOP_SESSION_USER, CurrentCatalog = SVFOP_CURRENT_CATALOG, CurrentSchema =
        SVFOP_CURRENT_SCHEMA,
    };
    NullTestType = NullTestType { IsNull = IS_NULL, IsNotNull = IS_NOT_NULL };
    BoolTestType = BoolTestType {
        IsTrue = IS_TRUE, IsNotTrue = IS_NOT_TRUE, IsFalse = IS_FALSE, IsNotFalse = IS_NOT_FALSE,
        IsUnknown = IS_UNKNOWN, IsNotUnknown = IS_NOT_UNKNOWN,
    };
    MergeMatchKind = MergeMatchKind {
        Matched = MERGE_WHEN_MATCHED, NotMatchedBySource = MERGE_WHEN_NOT_MATCHED_BY_SOURCE,
        NotMatchedByTarget = MERGE_WHEN_NOT_MATCHED_BY_TARGET,
    };
    SortByDir = SortByDir {
        Default = SORTBY_DEFAULT, Asc = SORTBY_ASC, Desc = SORTBY_DESC, Using = SORTBY_USING,
    };
    SortByNulls = SortByNulls {
        Default = SORTBY_NULLS_DEFAULT, First = SORTBY_NULLS_FIRST, Last = SORTBY_NULLS_LAST,
    };
    AExprKind = A_Expr_Kind {
        Op = AEXPR_OP, OpAny = AEXPR_OP_ANY, OpAll = AEXPR_OP_ALL, Distinct = AEXPR_DISTINCT,
        NotDistinct = AEXPR_NOT_DISTINCT, Nullif = AEXPR_NULLIF, In = AEXPR_IN, Like = AEXPR_LIKE,
        Ilike = AEXPR_ILIKE, Similar = AEXPR_SIMILAR, Between = AEXPR_BETWEEN, NotBetween =
        AEXPR_NOT_BETWEEN, BetweenSym = AEXPR_BETWEEN_SYM, NotBetweenSym = AEXPR_NOT_BETWEEN_SYM,
    };
    RoleSpecType = RoleSpecType {
        Name = ROLESPEC_CSTRING, CurrentRole = ROLESPEC_CURRENT_ROLE, CurrentUser =
        ROLESPEC_CURRENT_USER, SessionUser = ROLESPEC_SESSION_USER, Public = ROLESPEC_PUBLIC,
    };
    DefElemAction = DefElemAction {
        Unspec = DEFELEM_UNSPEC, Set = DEFELEM_SET, Add = DEFELEM_ADD, Drop = DEFELEM_DROP,
    };
    PartitionStrategy = PartitionStrategy {
        List = PARTITION_STRATEGY_LIST, Range = PARTITION_STRATEGY_RANGE, Hash =
        PARTITION_STRATEGY_HASH,
    };
    GroupingSetKind = GroupingSetKind {
        Empty = GROUPING_SET_EMPTY, Simple = GROUPING_SET_SIMPLE, Rollup = GROUPING_SET_ROLLUP,
        Cube = GROUPING_SET_CUBE, Sets = GROUPING_SET_SETS,
    };
    CteMaterialize = CTEMaterialize {
        Default = CTEMaterializeDefault, Always = CTEMaterializeAlways, Never =
        CTEMaterializeNever,
    };
    SetOperation = SetOperation {
        None = SETOP_NONE, Union = SETOP_UNION, Intersect = SETOP_INTERSECT, Except = SETOP_EXCEPT,
    };
    ObjectType = ObjectType {
        AccessMethod = OBJECT_ACCESS_METHOD, Aggregate = OBJECT_AGGREGATE, Amop = OBJECT_AMOP,
        Amproc = OBJECT_AMPROC, Attribute = OBJECT_ATTRIBUTE, Cast = OBJECT_CAST, Column =
        OBJECT_COLUMN, Collation = OBJECT_COLLATION, Conversion = OBJECT_CONVERSION, Database =
        OBJECT_DATABASE, Default = OBJECT_DEFAULT, Defacl = OBJECT_DEFACL, Domain = OBJECT_DOMAIN,
        Domconstraint = OBJECT_DOMCONSTRAINT, EventTrigger = OBJECT_EVENT_TRIGGER, Extension =
        OBJECT_EXTENSION, Fdw = OBJECT_FDW, ForeignServer = OBJECT_FOREIGN_SERVER, ForeignTable =
        OBJECT_FOREIGN_TABLE, Function = OBJECT_FUNCTION, Index = OBJECT_INDEX, Language =
        OBJECT_LANGUAGE, Largeobject = OBJECT_LARGEOBJECT, Matview = OBJECT_MATVIEW, Opclass =
        OBJECT_OPCLASS, Operator = OBJECT_OPERATOR, Opfamily = OBJECT_OPFAMILY, ParameterAcl =
        OBJECT_PARAMETER_ACL, Policy = OBJECT_POLICY, Procedure = OBJECT_PROCEDURE, Publication =
        OBJECT_PUBLICATION, PublicationNamespace = OBJECT_PUBLICATION_NAMESPACE, PublicationRel =
        OBJECT_PUBLICATION_REL, Role = OBJECT_ROLE, Routine = OBJECT_ROUTINE, Rule = OBJECT_RULE,
        Schema = OBJECT_SCHEMA, Sequence = OBJECT_SEQUENCE, Subscription = OBJECT_SUBSCRIPTION,
        StatisticExt = OBJECT_STATISTIC_EXT, Tabconstraint = OBJECT_TABCONSTRAINT, Table =
        OBJECT_TABLE, Tablespace = OBJECT_TABLESPACE, Transform = OBJECT_TRANSFORM, Trigger =
        OBJECT_TRIGGER, Tsconfiguration = OBJECT_TSCONFIGURATION, Tsdictionary =
        OBJECT_TSDICTIONARY, Tsparser = OBJECT_TSPARSER, Tstemplate = OBJECT_TSTEMPLATE, Type =
        OBJECT_TYPE, UserMapping = OBJECT_USER_MAPPING, View = OBJECT_VIEW,
    };
    DropBehavior = DropBehavior { Restrict = DROP_RESTRICT, Cascade = DROP_CASCADE };
    AlterTableType = AlterTableType {
        AddColumn = AT_AddColumn, AddColumnToView = AT_AddColumnToView, ColumnDefault =
        AT_ColumnDefault, DropNotNull = AT_DropNotNull, SetNotNull = AT_SetNotNull, SetExpression
        = AT_SetExpression, DropExpression = AT_DropExpression, SetStatistics = AT_SetStatistics,
        SetOptions = AT_SetOptions, ResetOptions = AT_ResetOptions, SetStorage = AT_SetStorage,
        SetCompression = AT_SetCompression, DropColumn = AT_DropColumn, AddIndex = AT_AddIndex,
        AddConstraint = AT_AddConstraint, AlterConstraint = AT_AlterConstraint, ValidateConstraint
        = AT_ValidateConstraint, DropConstraint = AT_DropConstraint, AlterColumnType =
        AT_AlterColumnType, AlterColumnGenericOptions = AT_AlterColumnGenericOptions, ChangeOwner
        = AT_ChangeOwner, ClusterOn = AT_ClusterOn, DropCluster = AT_DropCluster, SetLogged =
        AT_SetLogged, SetUnLogged = AT_SetUnLogged, SetAccessMethod = AT_SetAccessMethod,
        SetTableSpace = AT_SetTableSpace, SetRelOptions = AT_SetRelOptions, ResetRelOptions =
        AT_ResetRelOptions, EnableTrig = AT_EnableTrig, EnableAlwaysTrig = AT_EnableAlwaysTrig,
        EnableReplicaTrig = AT_EnableReplicaTrig, DisableTrig = AT_DisableTrig, EnableTrigAll =
        AT_EnableTrigAll, DisableTrigAll = AT_DisableTrigAll, EnableTrigUser = AT_EnableTrigUser,
        DisableTrigUser = AT_DisableTrigUser, EnableRule = AT_EnableRule, EnableAlwaysRule =
        AT_EnableAlwaysRule, EnableReplicaRule = AT_EnableReplicaRule, DisableRule =
        AT_DisableRule, AddInherit = AT_AddInherit, DropInherit = AT_DropInherit, AddOf =
        AT_AddOf, DropOf = AT_DropOf, ReplicaIdentity = AT_ReplicaIdentity, EnableRowSecurity =
        AT_EnableRowSecurity, DisableRowSecurity = AT_DisableRowSecurity, ForceRowSecurity =
        AT_ForceRowSecurity, NoForceRowSecurity = AT_NoForceRowSecurity, GenericOptions =
        AT_GenericOptions, AttachPartition = AT_AttachPartition, DetachPartition =
        AT_DetachPartition, DetachPartitionFinalize = AT_DetachPartitionFinalize, AddIdentity =
        AT_AddIdentity, SetIdentity = AT_SetIdentity, DropIdentity = AT_DropIdentity, DropOids =
        AT_DropOids,
    };
    GrantTargetType = GrantTargetType {
        Object = ACL_TARGET_OBJECT, AllInSchema = ACL_TARGET_ALL_IN_SCHEMA, Defaults =
        ACL_TARGET_DEFAULTS,
    };
    VariableSetKind = VariableSetKind {
        SetValue = VAR_SET_VALUE, SetDefault = VAR_SET_DEFAULT, SetCurrent = VAR_SET_CURRENT,
        SetMulti = VAR_SET_MULTI, Reset = VAR_RESET, ResetAll = VAR_RESET_ALL,
    };
    ConstrType = ConstrType {
        Null = CONSTR_NULL, NotNull = CONSTR_NOTNULL, Default = CONSTR_DEFAULT, Identity =
        CONSTR_IDENTITY, Generated = CONSTR_GENERATED, Check = CONSTR_CHECK, Primary =
        CONSTR_PRIMARY, Unique = CONSTR_UNIQUE, Exclusion = CONSTR_EXCLUSION, Foreign =
        CONSTR_FOREIGN, AttrDeferrable = CONSTR_ATTR_DEFERRABLE, AttrNotDeferrable =
        CONSTR_ATTR_NOT_DEFERRABLE, AttrDeferred = CONSTR_ATTR_DEFERRED, AttrImmediate =
        CONSTR_ATTR_IMMEDIATE, AttrEnforced = CONSTR_ATTR_ENFORCED, AttrNotEnforced =
        CONSTR_ATTR_NOT_ENFORCED,
    };
    RoleStmtType = RoleStmtType {
        Role = ROLESTMT_ROLE, User = ROLESTMT_USER, Group = ROLESTMT_GROUP,
    };
    FetchDirection = FetchDirection {
        Forward = FETCH_FORWARD, Backward = FETCH_BACKWARD, Absolute = FETCH_ABSOLUTE, Relative =
        FETCH_RELATIVE,
    };
    FunctionParameterMode = FunctionParameterMode {
        In = FUNC_PARAM_IN, Out = FUNC_PARAM_OUT, InOut = FUNC_PARAM_INOUT, Variadic =
        FUNC_PARAM_VARIADIC, Table = FUNC_PARAM_TABLE, Default = FUNC_PARAM_DEFAULT,
    };
    TransactionStmtKind = TransactionStmtKind {
        Begin = TRANS_STMT_BEGIN, Start = TRANS_STMT_START, Commit = TRANS_STMT_COMMIT, Rollback =
        TRANS_STMT_ROLLBACK, Savepoint = TRANS_STMT_SAVEPOINT, Release = TRANS_STMT_RELEASE,
        RollbackTo = TRANS_STMT_ROLLBACK_TO, Prepare = TRANS_STMT_PREPARE, CommitPrepared =
        TRANS_STMT_COMMIT_PREPARED, RollbackPrepared = TRANS_STMT_ROLLBACK_PREPARED,
    };
    ViewCheckOption = ViewCheckOption {
        None = NO_CHECK_OPTION, Local = LOCAL_CHECK_OPTION, Cascaded = CASCADED_CHECK_OPTION,
    };
    DiscardMode = DiscardMode {
        All = DISCARD_ALL, Plans = DISCARD_PLANS, Sequences = DISCARD_SEQUENCES, Temp =
        DISCARD_TEMP,
    };
    ReindexObjectType = ReindexObjectType {
        Index = REINDEX_OBJECT_INDEX, Table = REINDEX_OBJECT_TABLE, Schema =
        REINDEX_OBJECT_SCHEMA, System = REINDEX_OBJECT_SYSTEM, Database = REINDEX_OBJECT_DATABASE,
    };
    PublicationObjSpecType = PublicationObjSpecType {
        Table = PUBLICATIONOBJ_TABLE, TablesInSchema = PUBLICATIONOBJ_TABLES_IN_SCHEMA,
        TablesInCurSchema = PUBLICATIONOBJ_TABLES_IN_CUR_SCHEMA, Continuation =
        PUBLICATIONOBJ_CONTINUATION,
    };
    AlterPublicationAction = AlterPublicationAction {
        AddObjects = AP_AddObjects, DropObjects = AP_DropObjects, SetObjects = AP_SetObjects,
    };
    AlterSubscriptionType = AlterSubscriptionType {
        Options = ALTER_SUBSCRIPTION_OPTIONS, Connection = ALTER_SUBSCRIPTION_CONNECTION,
        SetPublication = ALTER_SUBSCRIPTION_SET_PUBLICATION, AddPublication =
        ALTER_SUBSCRIPTION_ADD_PUBLICATION, DropPublication = ALTER_SUBSCRIPTION_DROP_PUBLICATION,
        Refresh = ALTER_SUBSCRIPTION_REFRESH, Enabled = ALTER_SUBSCRIPTION_ENABLED, Skip =
        ALTER_SUBSCRIPTION_SKIP,
    };
}

impl Convert<ast::PartitionRangeDatumKind> for i32 {
    fn convert(self, _: &mut ConversionState) -> Result<ast::PartitionRangeDatumKind> {
        Ok(match self {
            ..0 => ast::PartitionRangeDatumKind::Minvalue,
            0 => ast::PartitionRangeDatumKind::Value,
            1.. => ast::PartitionRangeDatumKind::Maxvalue,
        })
    }
}
