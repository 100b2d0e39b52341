//! Maps the fields of the C parser's nodes to those of the tree, in a table of entries
//! `TreeNode = CNode(r) { field: r.field, … }`. The types on both sides determine the conversion
//! of a field (see `convert`).

use super::convert::{ConversionState, Convert, level_bytes};
use crate::ast::{self, Node};
use pg_raw_parse::{Node as RNode, nodes};
use pgerror::{PgError, Result};

macro_rules! structs {
    ($($node:ident = $c_node:ident($r:ident) { $($to:ident: $from:expr),* $(,)? }
        $(unless $newer:ident)?;)*) => {
        $(
            impl Convert<ast::$node> for &nodes::$c_node {
                fn convert(self, cx: &mut ConversionState) -> Result<ast::$node> {
                    let $r = self;
                    const BYTES: u32 = level_bytes(stringify!($node));
                    cx.enter(BYTES)?;
                    let node = ast::$node { $($to: $from.convert(cx)?),* };
                    $(cx.newer.$newer(&node);)?
                    cx.leave(BYTES);
                    Ok(node)
                }
            }

            impl Convert<ast::$node> for RNode<'_> {
                fn convert(self, cx: &mut ConversionState) -> Result<ast::$node> {
                    match self {
                        RNode::$c_node(r) => r.convert(cx),
                        _ => Err(unexpected(stringify!($node))),
                    }
                }
            }
        )*

        impl Convert<Node> for RNode<'_> {
            fn convert(self, cx: &mut ConversionState) -> Result<Node> {
                match self {
                    $(RNode::$c_node(r) => Ok(Node::$node(boxed(r, cx)?)),)*
                    other => super::convert::leaf(other, cx),
                }
            }
        }
    };
}

/// Not inlined: otherwise all structs would share the stack frame of the one recursive function.
#[inline(never)]
fn boxed<R: Convert<T>, T>(r: R, cx: &mut ConversionState) -> Result<Box<T>> {
    Ok(Box::new(stdx::stack::deep(|| r.convert(cx))?))
}

#[cold]
pub(super) fn unexpected(wanted: &str) -> PgError {
    PgError::internal(format!("unexpected node in the parse tree where {wanted} belongs"))
}

structs! {
    AConst = A_Const(r) { val: r, location: r.location };
    ColumnRef = ColumnRef(r) { fields: r.fields(), location: r.location };
    ParamRef = ParamRef(r) { number: r.number, location: r.location };
    AExpr = A_Expr(r) { kind: r.kind, name: r.name(), lexpr: r.lexpr(), rexpr: r.rexpr(),
        rexpr_list_start: r.rexpr_list_start, rexpr_list_end: r.rexpr_list_end, location:
        r.location };
    TypeCast = TypeCast(r) { arg: r.arg(), type_name: r.type_name(), location:
        r.location } unless cast;
    CollateClause = CollateClause(r) { arg: r.arg(), collname: r.collname(), location: r.location };
    FuncCall = FuncCall(r) { funcname: r.funcname(), args: r.args(), agg_order: r.agg_order(),
        agg_filter: r.agg_filter(), over: r.over(), agg_within_group: r.agg_within_group,
        agg_star: r.agg_star, agg_distinct: r.agg_distinct, func_variadic: r.func_variadic,
        funcformat: r.funcformat, location: r.location } unless call;
    NamedArgExpr = NamedArgExpr(r) { arg: r.arg(), name: r.name(), location: r.location };
    AIndices = A_Indices(r) { is_slice: r.is_slice, lidx: r.lidx(), uidx: r.uidx() };
    AIndirection = A_Indirection(r) { arg: r.arg(), indirection: r.indirection() };
    AArrayExpr = A_ArrayExpr(r) { elements: r.elements(), list_start: r.list_start, list_end:
        r.list_end, location: r.location };
    BoolExpr = BoolExpr(r) { boolop: r.boolop, args: r.args(), location: r.location };
    SubLink = SubLink(r) { sub_link_type: r.sub_link_type, testexpr: r.testexpr(), oper_name:
        r.oper_name(), subselect: r.subselect(), location: r.location };
    NullTest = NullTest(r) { arg: r.arg(), nulltesttype: r.nulltesttype, location: r.location };
BooleanTest = BooleanTest(r) { arg: r.arg(), booltesttype: r.booltesttype, location: r.location };
    CaseExpr = CaseExpr(r) { arg: r.arg(), args: r.args(), defresult: r.defresult(), location:
        r.location };
    CaseWhen = CaseWhen(r) { expr: r.expr(), result: r.result(), location: r.location };
    RowExpr = RowExpr(r) { args: r.args(), row_format: r.row_format, location: r.location };
    CoalesceExpr = CoalesceExpr(r) { args: r.args(), location: r.location };
    MinMaxExpr = MinMaxExpr(r) { op: r.op, args: r.args(), location: r.location };
    SqlValueFunction = SQLValueFunction(r) { op: r.op, typmod: r.typmod, location: r.location };
    GroupingFunc = GroupingFunc(r) { args: r.args(), location: r.location };
    SetToDefault = SetToDefault(r) { location: r.location };
    CurrentOfExpr = CurrentOfExpr(r) { cursor_name: r.cursor_name(), cursor_param: r.cursor_param };
    MultiAssignRef = MultiAssignRef(r) { source: r.source(), colno: r.colno, ncolumns: r.ncolumns };
    TypeName = TypeName(r) { names: r.names(), setof: r.setof, pct_type: r.pct_type, typmods:
        r.typmods(), array_bounds: r.array_bounds(), location: r.location };
    DefElem = DefElem(r) { defnamespace: r.defnamespace(), defname: r.defname(), arg: r.arg(),
        defaction: r.defaction, location: r.location } unless option;
    RoleSpec = RoleSpec(r) { roletype: r.roletype, rolename: r.rolename(), location: r.location };
    ObjectWithArgs = ObjectWithArgs(r) { objname: r.objname(), objargs: r.objargs(), objfuncargs:
        r.objfuncargs(), args_unspecified: r.args_unspecified };
    FunctionParameter = FunctionParameter(r) { name: r.name(), arg_type: r.arg_type(), mode:
        r.mode, defexpr: r.defexpr(), location: r.location };
    SelectStmt = SelectStmt(r) { distinct_clause: r.distinct_clause(), into_clause:
        r.into_clause(), target_list: r.target_list(), from_clause: r.from_clause(), where_clause:
        r.where_clause(), group_clause: r.group_clause(), group_distinct: r.group_distinct,
        having_clause: r.having_clause(), window_clause: r.window_clause(), values_lists:
        r.values_lists(), sort_clause: r.sort_clause(), limit_offset: r.limit_offset(),
        limit_count: r.limit_count(), limit_option: r.limit_option, locking_clause:
        r.locking_clause(), with_clause: r.with_clause(), op: r.op, all: r.all, larg: r.larg(),
        rarg: r.rarg() };
    InsertStmt = InsertStmt(r) { relation: r.relation(), cols: r.cols(), select_stmt:
        r.select_stmt(), on_conflict_clause: r.on_conflict_clause(), returning_list:
        r.returning_clause(), with_clause: r.with_clause(), overriding: r.override_ };
    UpdateStmt = UpdateStmt(r) { relation: r.relation(), target_list: r.target_list(),
        where_clause: r.where_clause(), from_clause: r.from_clause(), returning_list:
        r.returning_clause(), with_clause: r.with_clause() };
    DeleteStmt = DeleteStmt(r) { relation: r.relation(), using_clause: r.using_clause(),
        where_clause: r.where_clause(), returning_list: r.returning_clause(), with_clause:
        r.with_clause() };
    MergeStmt = MergeStmt(r) { relation: r.relation(), source_relation: r.source_relation(),
        join_condition: r.join_condition(), merge_when_clauses: r.merge_when_clauses(),
        returning_list: r.returning_clause(), with_clause: r.with_clause() } unless merge;
    MergeWhenClause = MergeWhenClause(r) { match_kind: r.match_kind, command_type: r.command_type,
        overriding: r.override_, condition: r.condition(), target_list: r.target_list(), values:
        r.values() };
    ReturnStmt = ReturnStmt(r) { returnval: r.returnval() };
    PlAssignStmt = PLAssignStmt(r) { name: r.name(), indirection: r.indirection(), names: r.nnames,
        val: r.val(), location: r.location };
    ResTarget = ResTarget(r) { name: r.name(), indirection: r.indirection(), val: r.val(),
        location: r.location };
    Alias = Alias(r) { aliasname: r.aliasname(), colnames: r.colnames() };
    RangeVar = RangeVar(r) { catalogname: r.catalogname(), schemaname: r.schemaname(), relname:
        r.relname(), inh: r.inh, relpersistence: r.relpersistence, alias: r.alias(), location:
        r.location };
    JoinExpr = JoinExpr(r) { jointype: r.jointype, is_natural: r.is_natural, larg: r.larg(), rarg:
        r.rarg(), using_clause: r.using_clause(), join_using_alias: r.join_using_alias(), quals:
        r.quals(), alias: r.alias() };
    RangeSubselect = RangeSubselect(r) { lateral: r.lateral, subquery: r.subquery(), alias:
        r.alias() } unless derived;
    RangeFunction = RangeFunction(r) { lateral: r.lateral, ordinality: r.ordinality, is_rowsfrom:
        r.is_rowsfrom, functions: r.functions(), alias: r.alias(), coldeflist: r.coldeflist() };
    RangeTableSample = RangeTableSample(r) { relation: r.relation(), method: r.method(), args:
        r.args(), repeatable: r.repeatable(), location: r.location };
    SortBy = SortBy(r) { node: r.node(), sortby_dir: r.sortby_dir, sortby_nulls: r.sortby_nulls,
        use_op: r.use_op(), location: r.location };
    WindowDef = WindowDef(r) { name: r.name(), refname: r.refname(), partition_clause:
        r.partition_clause(), order_clause: r.order_clause(), frame_options: r.frame_options,
        start_offset: r.start_offset(), end_offset: r.end_offset(), location: r.location };
    GroupingSet = GroupingSet(r) { kind: r.kind, content: r.content(), location: r.location };
    LockingClause = LockingClause(r) { locked_rels: r.locked_rels(), strength: r.strength,
        wait_policy: r.wait_policy };
    WithClause = WithClause(r) { ctes: r.ctes(), recursive: r.recursive, location: r.location };
    CommonTableExpr = CommonTableExpr(r) { ctename: r.ctename(), aliascolnames: r.aliascolnames(),
        ctematerialized: r.ctematerialized, ctequery: r.ctequery(), search_clause:
        r.search_clause(), cycle_clause: r.cycle_clause(), location: r.location };
    CteSearchClause = CTESearchClause(r) { search_col_list: r.search_col_list(),
        search_breadth_first: r.search_breadth_first, search_seq_column: r.search_seq_column(),
        location: r.location };
    CteCycleClause = CTECycleClause(r) { cycle_col_list: r.cycle_col_list(), cycle_mark_column:
        r.cycle_mark_column(), cycle_mark_value: r.cycle_mark_value(), cycle_mark_default:
        r.cycle_mark_default(), cycle_path_column: r.cycle_path_column(), location: r.location };
    OnConflictClause = OnConflictClause(r) { action: r.action, infer: r.infer(), target_list:
        r.target_list(), where_clause: r.where_clause(), location: r.location };
    InferClause = InferClause(r) { index_elems: r.index_elems(), where_clause: r.where_clause(),
        conname: r.conname(), location: r.location };
    IntoClause = IntoClause(r) { rel: r.rel(), col_names: r.col_names(), access_method:
        r.access_method(), options: r.options(), on_commit: r.on_commit, table_space_name:
        r.table_space_name(), skip_data: r.skip_data };
    CreateStmt = CreateStmt(r) { relation: r.relation(), table_elts: r.table_elts(),
        inh_relations: r.inh_relations(), partbound: r.partbound(), partspec: r.partspec(),
        of_typename: r.of_typename(), options: r.options(), oncommit: r.oncommit, tablespacename:
        r.tablespacename(), access_method: r.access_method(), if_not_exists: r.if_not_exists }
        unless table;
    ColumnDef = ColumnDef(r) { colname: r.colname(), type_name: r.type_name(), compression:
        r.compression(), storage: r.storage, storage_name: r.storage_name(), raw_default:
        r.raw_default(), identity: r.identity, identity_sequence: r.identity_sequence(),
        generated: r.generated, coll_clause: r.coll_clause(), constraints: r.constraints(),
        fdwoptions: r.fdwoptions(), location: r.location } unless column;
    Constraint = Constraint(r) { contype: r.contype, conname: r.conname(), deferrable:
        r.deferrable, initdeferred: r.initdeferred, is_enforced: r.is_enforced, skip_validation:
        r.skip_validation, initially_valid: r.initially_valid, is_no_inherit: r.is_no_inherit,
        raw_expr: r.raw_expr(), generated_when: r.generated_when, generated_kind: r.generated_kind,
        nulls_not_distinct:
        r.nulls_not_distinct, keys: r.keys(), without_overlaps: r.without_overlaps, including:
        r.including(), exclusions: r.exclusions(), options: r.options(), indexname: r.indexname(),
        indexspace: r.indexspace(), reset_default_tblspc: r.reset_default_tblspc, access_method:
        r.access_method(), where_clause: r.where_clause(), pktable: r.pktable(), fk_attrs:
        r.fk_attrs(), pk_attrs: r.pk_attrs(), fk_with_period: r.fk_with_period, pk_with_period:
        r.pk_with_period, fk_matchtype: r.fk_matchtype, fk_upd_action: r.fk_upd_action,
        fk_del_action: r.fk_del_action, fk_del_set_cols: r.fk_del_set_cols(), location: r.location
        } unless constraint;
    TableLikeClause = TableLikeClause(r) { relation: r.relation(), options: r.options };
    PartitionSpec = PartitionSpec(r) { strategy: r.strategy, part_params: r.part_params(),
        location: r.location };
    PartitionElem = PartitionElem(r) { name: r.name(), expr: r.expr(), collation: r.collation(),
        opclass: r.opclass(), location: r.location };
    PartitionBoundSpec = PartitionBoundSpec(r) { strategy: r.strategy, is_default: r.is_default,
        modulus: r.modulus, remainder: r.remainder, listdatums: r.listdatums(), lowerdatums:
        r.lowerdatums(), upperdatums: r.upperdatums(), location: r.location };
    PartitionRangeDatum = PartitionRangeDatum(r) { kind: r.kind, value: r.value(), location:
        r.location };
    PartitionCmd = PartitionCmd(r) { name: r.name(), bound: r.bound(), concurrent: r.concurrent };
    IndexStmt = IndexStmt(r) { idxname: r.idxname(), relation: r.relation(), access_method:
        r.access_method(), table_space: r.table_space(), index_params: r.index_params(),
        index_including_params: r.index_including_params(), options: r.options(), where_clause:
        r.where_clause(), exclude_op_names: r.exclude_op_names(), idxcomment: r.idxcomment(),
        unique: r.unique, nulls_not_distinct: r.nulls_not_distinct, primary: r.primary,
        isconstraint: r.isconstraint, deferrable: r.deferrable, initdeferred: r.initdeferred,
        concurrent: r.concurrent, if_not_exists: r.if_not_exists, reset_default_tblspc:
        r.reset_default_tblspc };
    IndexElem = IndexElem(r) { name: r.name(), expr: r.expr(), indexcolname: r.indexcolname(),
        collation: r.collation(), opclass: r.opclass(), opclassopts: r.opclassopts(), ordering:
        r.ordering, nulls_ordering: r.nulls_ordering };
    AlterTableStmt = AlterTableStmt(r) { relation: r.relation(), cmds: r.cmds(), objtype:
        r.objtype, missing_ok: r.missing_ok };
    AlterTableCmd = AlterTableCmd(r) { subtype: r.subtype, name: r.name(), num: r.num, newowner:
        r.newowner(), def: r.def(), behavior: r.behavior, missing_ok: r.missing_ok, recurse:
        r.recurse } unless alter_table;
    AtAlterConstraint = ATAlterConstraint(r) { conname: r.conname(), alter_enforceability:
        r.alter_enforceability, is_enforced: r.is_enforced, alter_deferrability:
        r.alter_deferrability, deferrable: r.deferrable, initdeferred: r.initdeferred,
        alter_inheritability: r.alter_inheritability, noinherit: r.noinherit };
    ReplicaIdentityStmt = ReplicaIdentityStmt(r) { identity_type: r.identity_type, name: r.name() };
    ViewStmt = ViewStmt(r) { view: r.view(), aliases: r.aliases(), query: r.query(), replace:
        r.replace, options: r.options(), with_check_option: r.with_check_option };
    CreateTableAsStmt = CreateTableAsStmt(r) { query: r.query(), into: r.into(), objtype:
        r.objtype, is_select_into: r.is_select_into, if_not_exists: r.if_not_exists };
    RefreshMatViewStmt = RefreshMatViewStmt(r) { concurrent: r.concurrent, skip_data: r.skip_data,
        relation: r.relation() };
    CreateSeqStmt = CreateSeqStmt(r) { sequence: r.sequence(), options: r.options(), for_identity:
        r.for_identity, if_not_exists: r.if_not_exists };
    AlterSeqStmt = AlterSeqStmt(r) { sequence: r.sequence(), options: r.options(), for_identity:
        r.for_identity, missing_ok: r.missing_ok };
    CreateStatsStmt = CreateStatsStmt(r) { defnames: r.defnames(), stat_types: r.stat_types(),
        exprs: r.exprs(), relations: r.relations(), stxcomment: r.stxcomment(), if_not_exists:
        r.if_not_exists } unless statistics;
    StatsElem = StatsElem(r) { name: r.name(), expr: r.expr() };
    AlterStatsStmt = AlterStatsStmt(r) { defnames: r.defnames(), stxstattarget: r.stxstattarget(),
        missing_ok: r.missing_ok };
    TruncateStmt = TruncateStmt(r) { relations: r.relations(), restart_seqs: r.restart_seqs,
        behavior: r.behavior };
    DropStmt = DropStmt(r) { objects: r.objects(), remove_type: r.remove_type, behavior:
        r.behavior, missing_ok: r.missing_ok, concurrent: r.concurrent };
    CreateTrigStmt = CreateTrigStmt(r) { replace: r.replace, isconstraint: r.isconstraint,
        trigname: r.trigname(), relation: r.relation(), funcname: r.funcname(), args: r.args(),
        row: r.row, timing: r.timing, events: r.events, columns: r.columns(), when_clause:
        r.when_clause(), transition_rels: r.transition_rels(), deferrable: r.deferrable,
        initdeferred: r.initdeferred, constrrel: r.constrrel() };
TriggerTransition = TriggerTransition(r) { name: r.name(), is_new: r.is_new, is_table: r.is_table };
    RuleStmt = RuleStmt(r) { relation: r.relation(), rulename: r.rulename(), where_clause:
        r.where_clause(), event: r.event, instead: r.instead, actions: r.actions(), replace:
        r.replace };
    CreatePolicyStmt = CreatePolicyStmt(r) { policy_name: r.policy_name(), table: r.table(),
        cmd_name: r.cmd_name(), permissive: r.permissive, roles: r.roles(), qual: r.qual(),
        with_check: r.with_check() };
    AlterPolicyStmt = AlterPolicyStmt(r) { policy_name: r.policy_name(), table: r.table(), roles:
        r.roles(), qual: r.qual(), with_check: r.with_check() };
    TransactionStmt = TransactionStmt(r) { kind: r.kind, options: r.options(), savepoint_name:
        r.savepoint_name(), gid: r.gid(), chain: r.chain, location: r.location };
    VariableSetStmt = VariableSetStmt(r) { kind: r.kind, name: r.name(), args: r.args(), is_local:
        r.is_local, location: r.location } unless set;
    VariableShowStmt = VariableShowStmt(r) { name: r.name() };
    AlterSystemStmt = AlterSystemStmt(r) { setstmt: r.setstmt() };
    DiscardStmt = DiscardStmt(r) { target: r.target };
    PrepareStmt = PrepareStmt(r) { name: r.name(), argtypes: r.argtypes(), query: r.query() };
    ExecuteStmt = ExecuteStmt(r) { name: r.name(), params: r.params() };
    DeallocateStmt = DeallocateStmt(r) { name: r.name(), isall: r.isall, location: r.location };
    DeclareCursorStmt = DeclareCursorStmt(r) { portalname: r.portalname(), options: r.options,
        query: r.query() };
    FetchStmt = FetchStmt(r) { direction: r.direction, how_many: r.how_many, portalname:
        r.portalname(), ismove: r.ismove };
    ClosePortalStmt = ClosePortalStmt(r) { portalname: r.portalname() };
    ExplainStmt = ExplainStmt(r) { query: r.query(), options: r.options() };
    CopyStmt = CopyStmt(r) { relation: r.relation(), query: r.query(), attlist: r.attlist(),
        is_from: r.is_from, is_program: r.is_program, filename: r.filename(), options:
        r.options(), where_clause: r.where_clause() };
VacuumStmt = VacuumStmt(r) { options: r.options(), rels: r.rels(), is_vacuumcmd: r.is_vacuumcmd };
    VacuumRelation = VacuumRelation(r) { relation: r.relation(), va_cols: r.va_cols() }
        unless vacuum;
    ClusterStmt = ClusterStmt(r) { relation: r.relation(), indexname: r.indexname(), params:
        r.params() };
    ReindexStmt = ReindexStmt(r) { kind: r.kind, relation: r.relation(), name: r.name(), params:
        r.params() } unless reindex;
    LockStmt = LockStmt(r) { relations: r.relations(), mode: r.mode, nowait: r.nowait };
ConstraintsSetStmt = ConstraintsSetStmt(r) { constraints: r.constraints(), deferred: r.deferred };
    NotifyStmt = NotifyStmt(r) { conditionname: r.conditionname(), payload: r.payload() };
    ListenStmt = ListenStmt(r) { conditionname: r.conditionname() };
    UnlistenStmt = UnlistenStmt(r) { conditionname: r.conditionname() };
    LoadStmt = LoadStmt(r) { filename: r.filename() };
    DoStmt = DoStmt(r) { args: r.args() };
    CallStmt = CallStmt(r) { funccall: r.funccall() };
    CreateSchemaStmt = CreateSchemaStmt(r) { schemaname: r.schemaname(), authrole: r.authrole(),
        schema_elts: r.schema_elts(), if_not_exists: r.if_not_exists };
    CreatedbStmt = CreatedbStmt(r) { dbname: r.dbname(), options: r.options() };
DropdbStmt = DropdbStmt(r) { dbname: r.dbname(), missing_ok: r.missing_ok, options: r.options() };
    AlterDatabaseStmt = AlterDatabaseStmt(r) { dbname: r.dbname(), options: r.options() };
    AlterDatabaseSetStmt = AlterDatabaseSetStmt(r) { dbname: r.dbname(), setstmt: r.setstmt() };
    AlterDatabaseRefreshCollStmt = AlterDatabaseRefreshCollStmt(r) { dbname: r.dbname() };
    CreateTableSpaceStmt = CreateTableSpaceStmt(r) { tablespacename: r.tablespacename(), owner:
        r.owner(), location: r.location(), options: r.options() };
    DropTableSpaceStmt = DropTableSpaceStmt(r) { tablespacename: r.tablespacename(), missing_ok:
        r.missing_ok };
    AlterTableSpaceOptionsStmt = AlterTableSpaceOptionsStmt(r) { tablespacename:
        r.tablespacename(), options: r.options(), is_reset: r.is_reset };
    AlterTableMoveAllStmt = AlterTableMoveAllStmt(r) { orig_tablespacename:
        r.orig_tablespacename(), objtype: r.objtype, roles: r.roles(), new_tablespacename:
        r.new_tablespacename(), nowait: r.nowait };
CreateRoleStmt = CreateRoleStmt(r) { stmt_type: r.stmt_type, role: r.role(), options: r.options() };
    AlterRoleStmt = AlterRoleStmt(r) { role: r.role(), options: r.options(), action: r.action };
    AlterRoleSetStmt = AlterRoleSetStmt(r) { role: r.role(), database: r.database(), setstmt:
        r.setstmt() };
    DropRoleStmt = DropRoleStmt(r) { roles: r.roles(), missing_ok: r.missing_ok };
    GrantStmt = GrantStmt(r) { is_grant: r.is_grant, targtype: r.targtype, objtype: r.objtype,
        objects: r.objects(), privileges: r.privileges(), grantees: r.grantees(), grant_option:
        r.grant_option, grantor: r.grantor(), behavior: r.behavior };
    AccessPriv = AccessPriv(r) { priv_name: r.priv_name(), cols: r.cols() };
    GrantRoleStmt = GrantRoleStmt(r) { granted_roles: r.granted_roles(), grantee_roles:
        r.grantee_roles(), is_grant: r.is_grant, opt: r.opt(), grantor: r.grantor(), behavior:
        r.behavior } unless membership;
    AlterDefaultPrivilegesStmt = AlterDefaultPrivilegesStmt(r) { options: r.options(), action:
        r.action() };
    DropOwnedStmt = DropOwnedStmt(r) { roles: r.roles(), behavior: r.behavior };
    ReassignOwnedStmt = ReassignOwnedStmt(r) { roles: r.roles(), newrole: r.newrole() };
    CommentStmt = CommentStmt(r) { objtype: r.objtype, object: r.object(), comment: r.comment() };
    SecLabelStmt = SecLabelStmt(r) { objtype: r.objtype, object: r.object(), provider:
        r.provider(), label: r.label() };
    RenameStmt = RenameStmt(r) { rename_type: r.rename_type, relation_type: r.relation_type,
        relation: r.relation(), object: r.object(), subname: r.subname(), newname: r.newname(),
        behavior: r.behavior, missing_ok: r.missing_ok };
    AlterObjectDependsStmt = AlterObjectDependsStmt(r) { object_type: r.object_type, relation:
        r.relation(), object: r.object(), extname: r.extname(), remove: r.remove };
    AlterObjectSchemaStmt = AlterObjectSchemaStmt(r) { object_type: r.object_type, relation:
        r.relation(), object: r.object(), newschema: r.newschema(), missing_ok: r.missing_ok };
    AlterOwnerStmt = AlterOwnerStmt(r) { object_type: r.object_type, relation: r.relation(),
        object: r.object(), newowner: r.newowner() };
    CreateExtensionStmt = CreateExtensionStmt(r) { extname: r.extname(), if_not_exists:
        r.if_not_exists, options: r.options() };
    AlterExtensionStmt = AlterExtensionStmt(r) { extname: r.extname(), options: r.options() };
    AlterExtensionContentsStmt = AlterExtensionContentsStmt(r) { extname: r.extname(), action:
        r.action, objtype: r.objtype, object: r.object() };
    DefineStmt = DefineStmt(r) { kind: r.kind, oldstyle: r.oldstyle, defnames: r.defnames(), args:
        r.args(), definition: r.definition(), if_not_exists: r.if_not_exists, replace: r.replace
        };
    CompositeTypeStmt = CompositeTypeStmt(r) { typevar: r.typevar(), coldeflist: r.coldeflist() };
    CreateEnumStmt = CreateEnumStmt(r) { type_name: r.type_name(), vals: r.vals() };
    AlterEnumStmt = AlterEnumStmt(r) { type_name: r.type_name(), old_val: r.old_val(), new_val:
        r.new_val(), new_val_neighbor: r.new_val_neighbor(), new_val_is_after: r.new_val_is_after,
        skip_if_new_val_exists: r.skip_if_new_val_exists };
    CreateRangeStmt = CreateRangeStmt(r) { type_name: r.type_name(), params: r.params() };
    CreateDomainStmt = CreateDomainStmt(r) { domainname: r.domainname(), type_name: r.type_name(),
        coll_clause: r.coll_clause(), constraints: r.constraints() };
    AlterDomainStmt = AlterDomainStmt(r) { subtype: r.subtype, type_name: r.type_name(), name:
        r.name(), def: r.def(), behavior: r.behavior, missing_ok: r.missing_ok };
    AlterTypeStmt = AlterTypeStmt(r) { type_name: r.type_name(), options: r.options() };
    AlterTsDictionaryStmt = AlterTSDictionaryStmt(r) { dictname: r.dictname(), options:
        r.options() };
    AlterTsConfigurationStmt = AlterTSConfigurationStmt(r) { cfgname: r.cfgname(), tokentype:
        r.tokentype(), dicts: r.dicts(), replaces: r.override_, replace: r.replace, missing_ok:
        r.missing_ok };
    CreateFunctionStmt = CreateFunctionStmt(r) { is_procedure: r.is_procedure, replace: r.replace,
        funcname: r.funcname(), parameters: r.parameters(), return_type: r.return_type(), options:
        r.options(), sql_body: r.sql_body() };
    AlterFunctionStmt = AlterFunctionStmt(r) { objtype: r.objtype, func: r.func(), actions:
        r.actions() };
    CreateCastStmt = CreateCastStmt(r) { sourcetype: r.sourcetype(), targettype: r.targettype(),
        func: r.func(), context: r.context, inout: r.inout };
    CreateTransformStmt = CreateTransformStmt(r) { replace: r.replace, type_name: r.type_name(),
        lang: r.lang(), fromsql: r.fromsql(), tosql: r.tosql() };
    CreateConversionStmt = CreateConversionStmt(r) { conversion_name: r.conversion_name(),
        for_encoding_name: r.for_encoding_name(), to_encoding_name: r.to_encoding_name(),
        func_name: r.func_name(), def: r.def };
    CreateOpClassStmt = CreateOpClassStmt(r) { opclassname: r.opclassname(), opfamilyname:
        r.opfamilyname(), amname: r.amname(), datatype: r.datatype(), items: r.items(),
        is_default: r.is_default };
    CreateOpClassItem = CreateOpClassItem(r) { itemtype: r.itemtype, name: r.name(), number:
        r.number, order_family: r.order_family(), class_args: r.class_args(), storedtype:
        r.storedtype() };
CreateOpFamilyStmt = CreateOpFamilyStmt(r) { opfamilyname: r.opfamilyname(), amname: r.amname() };
    AlterOpFamilyStmt = AlterOpFamilyStmt(r) { opfamilyname: r.opfamilyname(), amname: r.amname(),
        is_drop: r.is_drop, items: r.items() };
    AlterOperatorStmt = AlterOperatorStmt(r) { opername: r.opername(), options: r.options() };
    CreatePLangStmt = CreatePLangStmt(r) { replace: r.replace, plname: r.plname(), plhandler:
        r.plhandler(), plinline: r.plinline(), plvalidator: r.plvalidator(), pltrusted: r.pltrusted
        };
    CreateAmStmt = CreateAmStmt(r) { amname: r.amname(), handler_name: r.handler_name(), amtype:
        r.amtype };
    AlterCollationStmt = AlterCollationStmt(r) { collname: r.collname() };
    CreateEventTrigStmt = CreateEventTrigStmt(r) { trigname: r.trigname(), eventname:
        r.eventname(), whenclause: r.whenclause(), funcname: r.funcname() };
    AlterEventTrigStmt = AlterEventTrigStmt(r) { trigname: r.trigname(), tgenabled: r.tgenabled };
    PublicationTable = PublicationTable(r) { relation: r.relation(), where_clause:
        r.where_clause(), columns: r.columns() };
    PublicationObjSpec = PublicationObjSpec(r) { pubobjtype: r.pubobjtype, name: r.name(),
        pubtable: r.pubtable(), location: r.location };
    CreatePublicationStmt = CreatePublicationStmt(r) { pubname: r.pubname(), options: r.options(),
        pubobjects: r.pubobjects(), for_all_tables: r.for_all_tables };
    AlterPublicationStmt = AlterPublicationStmt(r) { pubname: r.pubname(), options: r.options(),
        pubobjects: r.pubobjects(), for_all_tables: r.for_all_tables, action: r.action };
    CreateSubscriptionStmt = CreateSubscriptionStmt(r) { subname: r.subname(), conninfo:
        r.conninfo(), publication: r.publication(), options: r.options() };
    AlterSubscriptionStmt = AlterSubscriptionStmt(r) { kind: r.kind, subname: r.subname(),
        conninfo: r.conninfo(), publication: r.publication(), options: r.options() };
    DropSubscriptionStmt = DropSubscriptionStmt(r) { subname: r.subname(), missing_ok:
        r.missing_ok, behavior: r.behavior };
}
