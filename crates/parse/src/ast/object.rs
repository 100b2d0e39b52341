//! Schemas, databases, roles, types, functions and other objects.

use super::enums::{
    AlterPublicationAction, AlterSubscriptionType, CoercionContext, DropBehavior, GrantTargetType,
    ObjectType, PublicationObjSpecType, RoleStmtType,
};
use super::expr::{CollateClause, DefElem, FunctionParameter, ObjectWithArgs, RoleSpec, TypeName};
use super::query::RangeVar;
use super::table::{ColumnDef, Constraint};
use super::utility::VariableSetStmt;
use super::{Name, Node};
use ids::code::Firing;

/// CREATE SCHEMA with the statements in it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateSchemaStmt {
    pub schemaname: Option<Name>,
    pub authrole: Option<Box<RoleSpec>>,
    pub schema_elts: Vec<Node>,
    pub if_not_exists: bool,
}

/// CREATE DATABASE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreatedbStmt {
    pub dbname: Name,
    pub options: Vec<DefElem>,
}

/// DROP DATABASE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DropdbStmt {
    pub dbname: Name,
    pub missing_ok: bool,
    pub options: Vec<DefElem>,
}

/// ALTER DATABASE with options.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterDatabaseStmt {
    pub dbname: Name,
    pub options: Vec<DefElem>,
}

/// ALTER DATABASE SET.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterDatabaseSetStmt {
    pub dbname: Name,
    pub setstmt: VariableSetStmt,
}

/// ALTER DATABASE REFRESH COLLATION VERSION.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterDatabaseRefreshCollStmt {
    pub dbname: Name,
}

/// CREATE TABLESPACE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateTableSpaceStmt {
    pub tablespacename: Name,
    pub owner: Option<Box<RoleSpec>>,
    pub location: Name,
    pub options: Vec<DefElem>,
}

/// DROP TABLESPACE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DropTableSpaceStmt {
    pub tablespacename: Name,
    pub missing_ok: bool,
}

/// ALTER TABLESPACE SET and RESET.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterTableSpaceOptionsStmt {
    pub tablespacename: Name,
    pub options: Vec<DefElem>,
    pub is_reset: bool,
}

/// ALTER TABLE ALL IN TABLESPACE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterTableMoveAllStmt {
    pub orig_tablespacename: Option<Name>,
    pub objtype: ObjectType,
    pub roles: Vec<RoleSpec>,
    pub new_tablespacename: Option<Name>,
    pub nowait: bool,
}

/// CREATE ROLE, USER, GROUP.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateRoleStmt {
    pub stmt_type: RoleStmtType,
    pub role: Name,
    pub options: Vec<DefElem>,
}

/// ALTER ROLE; `action` is 1 to add members, -1 to drop.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterRoleStmt {
    pub role: RoleSpec,
    pub options: Vec<DefElem>,
    pub action: i32,
}

/// ALTER ROLE SET.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterRoleSetStmt {
    pub role: Option<Box<RoleSpec>>,
    pub database: Option<Name>,
    pub setstmt: VariableSetStmt,
}

/// DROP ROLE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DropRoleStmt {
    pub roles: Vec<RoleSpec>,
    pub missing_ok: bool,
}

/// GRANT and REVOKE of privileges; an empty list of privileges means ALL.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GrantStmt {
    pub is_grant: bool,
    pub targtype: GrantTargetType,
    pub objtype: ObjectType,
    pub objects: Vec<Node>,
    pub privileges: Vec<AccessPriv>,
    pub grantees: Vec<RoleSpec>,
    pub grant_option: bool,
    pub grantor: Option<Box<RoleSpec>>,
    pub behavior: DropBehavior,
}

/// A privilege, optionally on columns.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AccessPriv {
    pub priv_name: Option<Name>,
    pub cols: Vec<Name>,
}

/// GRANT and REVOKE of membership.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GrantRoleStmt {
    pub granted_roles: Vec<AccessPriv>,
    pub grantee_roles: Vec<RoleSpec>,
    pub is_grant: bool,
    pub opt: Vec<DefElem>,
    pub grantor: Option<Box<RoleSpec>>,
    pub behavior: DropBehavior,
}

/// ALTER DEFAULT PRIVILEGES.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterDefaultPrivilegesStmt {
    pub options: Vec<DefElem>,
    pub action: GrantStmt,
}

/// DROP OWNED.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DropOwnedStmt {
    pub roles: Vec<RoleSpec>,
    pub behavior: DropBehavior,
}

/// REASSIGN OWNED.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReassignOwnedStmt {
    pub roles: Vec<RoleSpec>,
    pub newrole: RoleSpec,
}

/// COMMENT ON; without a text the comment is removed.
#[derive(Clone, PartialEq, Debug)]
pub struct CommentStmt {
    pub objtype: ObjectType,
    pub object: Node,
    pub comment: Option<Name>,
}

/// SECURITY LABEL.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SecLabelStmt {
    pub objtype: ObjectType,
    pub object: Option<Node>,
    pub provider: Option<Name>,
    pub label: Option<Name>,
}

/// ALTER … RENAME.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RenameStmt {
    pub rename_type: ObjectType,
    pub relation_type: ObjectType,
    pub relation: Option<Box<RangeVar>>,
    pub object: Option<Node>,
    pub subname: Option<Name>,
    pub newname: Option<Name>,
    pub behavior: DropBehavior,
    pub missing_ok: bool,
}

/// ALTER … DEPENDS ON EXTENSION.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterObjectDependsStmt {
    pub object_type: ObjectType,
    pub relation: Option<Box<RangeVar>>,
    pub object: Option<Node>,
    pub extname: Option<Name>,
    pub remove: bool,
}

/// ALTER … SET SCHEMA.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterObjectSchemaStmt {
    pub object_type: ObjectType,
    pub relation: Option<Box<RangeVar>>,
    pub object: Option<Node>,
    pub newschema: Name,
    pub missing_ok: bool,
}

/// ALTER … OWNER TO.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterOwnerStmt {
    pub object_type: ObjectType,
    pub relation: Option<Box<RangeVar>>,
    pub object: Option<Node>,
    pub newowner: RoleSpec,
}

/// CREATE EXTENSION.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateExtensionStmt {
    pub extname: Name,
    pub if_not_exists: bool,
    pub options: Vec<DefElem>,
}

/// ALTER EXTENSION UPDATE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterExtensionStmt {
    pub extname: Name,
    pub options: Vec<DefElem>,
}

/// ALTER EXTENSION ADD (1) and DROP (-1).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterExtensionContentsStmt {
    pub extname: Option<Name>,
    pub action: i32,
    pub objtype: ObjectType,
    pub object: Option<Node>,
}

/// CREATE AGGREGATE, OPERATOR, TYPE, COLLATION, TEXT SEARCH ….
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DefineStmt {
    pub kind: ObjectType,
    pub oldstyle: bool,
    pub defnames: Vec<Name>,
    pub args: Vec<Node>,
    pub definition: Vec<DefElem>,
    pub if_not_exists: bool,
    pub replace: bool,
}

/// CREATE TYPE … AS (…).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CompositeTypeStmt {
    pub typevar: RangeVar,
    pub coldeflist: Vec<ColumnDef>,
}

/// CREATE TYPE … AS ENUM.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateEnumStmt {
    pub type_name: Vec<Name>,
    pub vals: Vec<Name>,
}

/// ALTER TYPE … ADD or RENAME VALUE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterEnumStmt {
    pub type_name: Vec<Name>,
    pub old_val: Option<Name>,
    pub new_val: Option<Name>,
    pub new_val_neighbor: Option<Name>,
    pub new_val_is_after: bool,
    pub skip_if_new_val_exists: bool,
}

/// CREATE TYPE … AS RANGE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateRangeStmt {
    pub type_name: Vec<Name>,
    pub params: Vec<DefElem>,
}

/// CREATE DOMAIN.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateDomainStmt {
    pub domainname: Vec<Name>,
    pub type_name: TypeName,
    pub coll_clause: Option<Box<CollateClause>>,
    pub constraints: Vec<Constraint>,
}

/// ALTER DOMAIN; `subtype` is PostgreSQL's letter.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterDomainStmt {
    pub subtype: u8,
    pub type_name: Vec<Name>,
    pub name: Option<Name>,
    pub def: Option<Node>,
    pub behavior: DropBehavior,
    pub missing_ok: bool,
}

/// ALTER TYPE SET.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterTypeStmt {
    pub type_name: Vec<Name>,
    pub options: Vec<DefElem>,
}

/// ALTER TEXT SEARCH DICTIONARY.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterTsDictionaryStmt {
    pub dictname: Vec<Name>,
    pub options: Vec<DefElem>,
}

/// ALTER TEXT SEARCH CONFIGURATION … MAPPING.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterTsConfigurationStmt {
    pub cfgname: Vec<Name>,
    /// Names of token types.
    pub tokentype: Vec<Name>,
    /// Lists of the parts of names.
    pub dicts: Vec<Node>,
    /// ALTER MAPPING FOR: the present mappings are removed.
    pub replaces: bool,
    /// ALTER MAPPING REPLACE: the second dictionary replaces the first.
    pub replace: bool,
    pub missing_ok: bool,
}

/// CREATE FUNCTION and PROCEDURE.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateFunctionStmt {
    pub is_procedure: bool,
    pub replace: bool,
    pub funcname: Vec<Name>,
    pub parameters: Vec<FunctionParameter>,
    pub return_type: Option<Box<TypeName>>,
    pub options: Vec<DefElem>,
    pub sql_body: Option<Node>,
}

/// ALTER FUNCTION.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterFunctionStmt {
    pub objtype: ObjectType,
    pub func: ObjectWithArgs,
    pub actions: Vec<DefElem>,
}

/// CREATE CAST.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateCastStmt {
    pub sourcetype: TypeName,
    pub targettype: TypeName,
    pub func: Option<Box<ObjectWithArgs>>,
    pub context: CoercionContext,
    pub inout: bool,
}

/// CREATE TRANSFORM.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateTransformStmt {
    pub replace: bool,
    pub type_name: TypeName,
    pub lang: Name,
    pub fromsql: Option<Box<ObjectWithArgs>>,
    pub tosql: Option<Box<ObjectWithArgs>>,
}

/// CREATE CONVERSION.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateConversionStmt {
    pub conversion_name: Vec<Name>,
    pub for_encoding_name: Option<Name>,
    pub to_encoding_name: Option<Name>,
    pub func_name: Vec<Name>,
    pub def: bool,
}

/// CREATE OPERATOR CLASS.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateOpClassStmt {
    pub opclassname: Vec<Name>,
    pub opfamilyname: Vec<Name>,
    pub amname: Option<Name>,
    pub datatype: Option<Box<TypeName>>,
    pub items: Vec<CreateOpClassItem>,
    pub is_default: bool,
}

/// An operator, function or storage type of an operator class.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateOpClassItem {
    pub itemtype: i32,
    pub name: Option<Box<ObjectWithArgs>>,
    pub number: i32,
    pub order_family: Vec<Name>,
    pub class_args: Vec<TypeName>,
    pub storedtype: Option<Box<TypeName>>,
}

/// CREATE OPERATOR FAMILY.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateOpFamilyStmt {
    pub opfamilyname: Vec<Name>,
    pub amname: Option<Name>,
}

/// ALTER OPERATOR FAMILY.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterOpFamilyStmt {
    pub opfamilyname: Vec<Name>,
    pub amname: Option<Name>,
    pub is_drop: bool,
    pub items: Vec<CreateOpClassItem>,
}

/// ALTER OPERATOR SET.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterOperatorStmt {
    pub opername: ObjectWithArgs,
    pub options: Vec<DefElem>,
}

/// CREATE LANGUAGE. The names are empty where the clause is missing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreatePLangStmt {
    pub replace: bool,
    pub plname: Name,
    pub plhandler: Vec<Name>,
    pub plinline: Vec<Name>,
    pub plvalidator: Vec<Name>,
    pub pltrusted: bool,
}

/// CREATE ACCESS METHOD.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateAmStmt {
    pub amname: Name,
    pub handler_name: Vec<Name>,
    /// `i`: of indexes, `t`: of tables.
    pub amtype: u8,
}

/// ALTER COLLATION REFRESH VERSION.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterCollationStmt {
    pub collname: Vec<Name>,
}

/// CREATE EVENT TRIGGER.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateEventTrigStmt {
    pub trigname: Option<Name>,
    pub eventname: Option<Name>,
    pub whenclause: Vec<DefElem>,
    pub funcname: Vec<Name>,
}

/// ALTER EVENT TRIGGER.
#[derive(Clone, PartialEq, Debug)]
pub struct AlterEventTrigStmt {
    pub trigname: Option<Name>,
    pub tgenabled: Firing,
}

/// A table of a publication.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PublicationTable {
    pub relation: RangeVar,
    pub where_clause: Option<Node>,
    pub columns: Vec<Name>,
}

/// A table or schema of a publication.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PublicationObjSpec {
    pub pubobjtype: PublicationObjSpecType,
    pub name: Option<Name>,
    pub pubtable: Option<Box<PublicationTable>>,
    pub location: i32,
}

/// CREATE PUBLICATION.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreatePublicationStmt {
    pub pubname: Option<Name>,
    pub options: Vec<DefElem>,
    pub pubobjects: Vec<PublicationObjSpec>,
    pub for_all_tables: bool,
}

/// ALTER PUBLICATION.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterPublicationStmt {
    pub pubname: Option<Name>,
    pub options: Vec<DefElem>,
    pub pubobjects: Vec<PublicationObjSpec>,
    pub for_all_tables: bool,
    pub action: AlterPublicationAction,
}

/// CREATE SUBSCRIPTION.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CreateSubscriptionStmt {
    pub subname: Option<Name>,
    pub conninfo: Option<Name>,
    pub publication: Vec<Name>,
    pub options: Vec<DefElem>,
}

/// ALTER SUBSCRIPTION.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AlterSubscriptionStmt {
    pub kind: AlterSubscriptionType,
    pub subname: Option<Name>,
    pub conninfo: Option<Name>,
    pub publication: Vec<Name>,
    pub options: Vec<DefElem>,
}

/// DROP SUBSCRIPTION.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DropSubscriptionStmt {
    pub subname: Option<Name>,
    pub missing_ok: bool,
    pub behavior: DropBehavior,
}
