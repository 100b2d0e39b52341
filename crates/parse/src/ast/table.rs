//! Tables, indexes, sequences, views: CREATE and ALTER.

use super::enums::{
    AlterTableType, CmdType, ConstrType, DropBehavior, ObjectType, OnCommitAction,
    PartitionRangeDatumKind, PartitionStrategy, SortByDir, SortByNulls, ViewCheckOption,
};
use super::expr::{CollateClause, DefElem, RoleSpec, TypeName};
use super::query::{IntoClause, RangeVar};
use super::{Name, Node};
use ids::code::{ColumnGenerated, ColumnIdentity, FkAction, FkMatch, ReplicaIdentity};

/// CREATE TABLE; elements are column definitions, constraints and LIKE clauses.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateStmt {
    pub relation: RangeVar,
    pub table_elts: Vec<Node>,
    pub inh_relations: Vec<RangeVar>,
    pub partbound: Option<Box<PartitionBoundSpec>>,
    pub partspec: Option<Box<PartitionSpec>>,
    pub of_typename: Option<Box<TypeName>>,
    pub options: Vec<DefElem>,
    pub oncommit: OnCommitAction,
    pub tablespacename: Option<Name>,
    pub access_method: Option<Name>,
    pub if_not_exists: bool,
}

/// A column: in CREATE TABLE, ALTER TABLE and column definition lists.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ColumnDef {
    pub colname: Option<Name>,
    pub type_name: Option<Box<TypeName>>,
    pub compression: Option<Name>,
    pub storage: u8,
    pub storage_name: Option<Name>,
    pub raw_default: Option<Node>,
    pub identity: ColumnIdentity,
    pub identity_sequence: Option<Box<RangeVar>>,
    pub generated: ColumnGenerated,
    pub coll_clause: Option<Box<CollateClause>>,
    pub constraints: Vec<Constraint>,
    pub fdwoptions: Vec<DefElem>,
    pub location: i32,
}

/// A column or table constraint, or an attribute of the preceding constraint.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Constraint {
    pub contype: ConstrType,
    pub conname: Option<Name>,
    pub deferrable: bool,
    pub initdeferred: bool,
    pub is_enforced: bool,
    pub skip_validation: bool,
    pub initially_valid: bool,
    pub is_no_inherit: bool,
    pub raw_expr: Option<Node>,
    pub generated_when: ColumnIdentity,
    pub generated_kind: u8,
    pub nulls_not_distinct: bool,
    pub keys: Vec<Name>,
    pub without_overlaps: bool,
    pub including: Vec<Name>,
    pub exclusions: Vec<Vec<Node>>,
    pub options: Vec<DefElem>,
    pub indexname: Option<Name>,
    pub indexspace: Option<Name>,
    pub reset_default_tblspc: bool,
    pub access_method: Option<Name>,
    pub where_clause: Option<Node>,
    pub pktable: Option<Box<RangeVar>>,
    pub fk_attrs: Vec<Name>,
    pub pk_attrs: Vec<Name>,
    pub fk_with_period: bool,
    pub pk_with_period: bool,
    pub fk_matchtype: FkMatch,
    pub fk_upd_action: FkAction,
    pub fk_del_action: FkAction,
    pub fk_del_set_cols: Vec<Name>,
    pub location: i32,
}

/// LIKE in CREATE TABLE; `options` is PostgreSQL's bit mask.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TableLikeClause {
    pub relation: RangeVar,
    pub options: u32,
}

/// PARTITION BY.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PartitionSpec {
    pub strategy: PartitionStrategy,
    pub part_params: Vec<PartitionElem>,
    pub location: i32,
}

/// A column or expression of a partition key.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PartitionElem {
    pub name: Option<Name>,
    pub expr: Option<Node>,
    pub collation: Vec<Name>,
    pub opclass: Vec<Name>,
    pub location: i32,
}

/// FOR VALUES or DEFAULT.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PartitionBoundSpec {
    pub strategy: u8,
    pub is_default: bool,
    pub modulus: i32,
    pub remainder: i32,
    pub listdatums: Vec<Node>,
    pub lowerdatums: Vec<Node>,
    pub upperdatums: Vec<Node>,
    pub location: i32,
}

/// A bound of a range partition.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PartitionRangeDatum {
    pub kind: PartitionRangeDatumKind,
    pub value: Option<Node>,
    pub location: i32,
}

/// ATTACH and DETACH PARTITION.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PartitionCmd {
    pub name: RangeVar,
    pub bound: Option<Box<PartitionBoundSpec>>,
    pub concurrent: bool,
}

/// CREATE INDEX.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct IndexStmt {
    pub idxname: Option<Name>,
    pub relation: RangeVar,
    pub access_method: Option<Name>,
    pub table_space: Option<Name>,
    pub index_params: Vec<IndexElem>,
    pub index_including_params: Vec<IndexElem>,
    pub options: Vec<DefElem>,
    pub where_clause: Option<Node>,
    pub exclude_op_names: Vec<Vec<Node>>,
    pub idxcomment: Option<Name>,
    pub unique: bool,
    pub nulls_not_distinct: bool,
    pub primary: bool,
    pub isconstraint: bool,
    pub deferrable: bool,
    pub initdeferred: bool,
    pub concurrent: bool,
    pub if_not_exists: bool,
    pub reset_default_tblspc: bool,
}

/// A column or expression of an index or conflict target.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct IndexElem {
    pub name: Option<Name>,
    pub expr: Option<Node>,
    pub indexcolname: Option<Name>,
    pub collation: Vec<Name>,
    pub opclass: Vec<Name>,
    pub opclassopts: Vec<DefElem>,
    pub ordering: SortByDir,
    pub nulls_ordering: SortByNulls,
}

/// ALTER TABLE, and the ALTER statements of other relations.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterTableStmt {
    pub relation: RangeVar,
    pub cmds: Vec<AlterTableCmd>,
    pub objtype: ObjectType,
    pub missing_ok: bool,
}

/// One subcommand of ALTER TABLE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterTableCmd {
    pub subtype: AlterTableType,
    pub name: Option<Name>,
    pub num: i16,
    pub newowner: Option<Box<RoleSpec>>,
    pub def: Option<Node>,
    pub behavior: DropBehavior,
    pub missing_ok: bool,
    pub recurse: bool,
}

/// ALTER CONSTRAINT.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AtAlterConstraint {
    pub conname: Option<Name>,
    pub alter_enforceability: bool,
    pub is_enforced: bool,
    pub alter_deferrability: bool,
    pub deferrable: bool,
    pub initdeferred: bool,
    pub alter_inheritability: bool,
    pub noinherit: bool,
}

/// REPLICA IDENTITY.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplicaIdentityStmt {
    pub identity_type: ReplicaIdentity,
    pub name: Option<Name>,
}

/// CREATE VIEW.
#[derive(Clone, PartialEq, Debug)]
pub struct ViewStmt {
    pub view: RangeVar,
    pub aliases: Vec<Name>,
    pub query: Node,
    pub replace: bool,
    pub options: Vec<DefElem>,
    pub with_check_option: ViewCheckOption,
}

/// CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW.
#[derive(Clone, PartialEq, Debug)]
pub struct CreateTableAsStmt {
    pub query: Node,
    pub into: IntoClause,
    pub objtype: ObjectType,
    pub is_select_into: bool,
    pub if_not_exists: bool,
}

/// REFRESH MATERIALIZED VIEW.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RefreshMatViewStmt {
    pub concurrent: bool,
    pub skip_data: bool,
    pub relation: RangeVar,
}

/// CREATE SEQUENCE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateSeqStmt {
    pub sequence: RangeVar,
    pub options: Vec<DefElem>,
    pub for_identity: bool,
    pub if_not_exists: bool,
}

/// ALTER SEQUENCE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterSeqStmt {
    pub sequence: RangeVar,
    pub options: Vec<DefElem>,
    pub for_identity: bool,
    pub missing_ok: bool,
}

/// CREATE STATISTICS.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateStatsStmt {
    pub defnames: Vec<Name>,
    pub stat_types: Vec<Name>,
    pub exprs: Vec<StatsElem>,
    pub relations: Vec<Node>,
    pub stxcomment: Option<Name>,
    pub if_not_exists: bool,
}

/// A column or expression of extended statistics.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StatsElem {
    pub name: Option<Name>,
    pub expr: Option<Node>,
}

/// ALTER STATISTICS.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterStatsStmt {
    pub defnames: Vec<Name>,
    pub stxstattarget: Option<Node>,
    pub missing_ok: bool,
}

/// TRUNCATE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TruncateStmt {
    pub relations: Vec<RangeVar>,
    pub restart_seqs: bool,
    pub behavior: DropBehavior,
}

/// DROP of most kinds of objects: names as lists, types, or objects with arguments.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DropStmt {
    pub objects: Vec<Node>,
    pub remove_type: ObjectType,
    pub behavior: DropBehavior,
    pub missing_ok: bool,
    pub concurrent: bool,
}

/// CREATE TRIGGER; timing and events are PostgreSQL's bit masks.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateTrigStmt {
    pub replace: bool,
    pub isconstraint: bool,
    pub trigname: Name,
    pub relation: RangeVar,
    pub funcname: Vec<Name>,
    pub args: Vec<Name>,
    pub row: bool,
    pub timing: i16,
    pub events: i16,
    pub columns: Vec<Name>,
    pub when_clause: Option<Node>,
    pub transition_rels: Vec<TriggerTransition>,
    pub deferrable: bool,
    pub initdeferred: bool,
    pub constrrel: Option<Box<RangeVar>>,
}

/// REFERENCING OLD or NEW TABLE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TriggerTransition {
    pub name: Name,
    pub is_new: bool,
    pub is_table: bool,
}

/// CREATE RULE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RuleStmt {
    pub relation: RangeVar,
    pub rulename: Name,
    pub where_clause: Option<Node>,
    pub event: CmdType,
    pub instead: bool,
    pub actions: Vec<Node>,
    pub replace: bool,
}

/// CREATE POLICY.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreatePolicyStmt {
    pub policy_name: Name,
    pub table: RangeVar,
    pub cmd_name: Option<Name>,
    pub permissive: bool,
    pub roles: Vec<RoleSpec>,
    pub qual: Option<Node>,
    pub with_check: Option<Node>,
}

/// ALTER POLICY.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterPolicyStmt {
    pub policy_name: Name,
    pub table: RangeVar,
    pub roles: Vec<RoleSpec>,
    pub qual: Option<Node>,
    pub with_check: Option<Node>,
}
