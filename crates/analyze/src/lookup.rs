//! The catalog lookups that analysis needs, as a trait. A session implements it over its catalog
//! caches; tests implement it over the bootstrap catalog data, without a storage engine.
//!
//! Counterpart: utils/lsyscache.h, utils/syscache.h, catalog/namespace.h.

use catalog::Row;
use catalog::rows::{
    PgAggregate, PgAmop, PgCast, PgCollation, PgOpclass, PgOperator, PgProc, PgRange, PgType,
};
use catalog::unsupported::Change;
use ids::{AttrNo, Oid, StrategyNumber};
use pgerror::Result;
use plan::query::Query;
use std::sync::Arc;
use types::Datum;

pub use catalog::RelDesc as Relation;

/// The SELECT rule of a view.
#[derive(Clone, Debug)]
pub struct ViewRule {
    pub query: Arc<Query>,
    pub security_barrier: bool,
    pub security_invoker: bool,
}

/// Cache of resolved operators by name and operand types. The owner clears it when catalogs or the
/// search path change.
/// Counterpart: `OprCacheHash`.
#[derive(Default)]
pub struct OperatorCache(std::collections::HashMap<(String, Oid, Oid), Row<PgOperator>>);

impl OperatorCache {
    /// When the cache has this many entries, it is cleared.
    const ENTRIES_MAX: usize = 2_000;

    /// The cached operator of this name for these operand types.
    pub fn get(&self, name: &str, left: Oid, right: Oid) -> Option<Row<PgOperator>> {
        self.0.get(&(name.to_string(), left, right)).cloned()
    }

    /// Caches the operator that was resolved for these operand types.
    pub fn put(&mut self, name: String, left: Oid, right: Oid, op: Row<PgOperator>) {
        if self.0.len() >= Self::ENTRIES_MAX {
            self.0.clear();
        }
        self.0.insert((name, left, right), op);
    }

    /// Removes all operators.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The properties of a constraint that analysis needs.
#[derive(Clone, Debug)]
pub struct ConstraintInfo {
    pub oid: Oid,
    pub relation: Oid,
    pub keys: Vec<AttrNo>,
    pub deferrable: bool,
}

/// Look-ups of types and collations, and calls of the types' functions.
pub trait TypeLookup {
    fn type_row(&mut self, oid: Oid) -> Result<Option<Row<PgType>>>;
    fn type_named(&mut self, name: &str, namespace: Oid) -> Result<Option<Row<PgType>>>;
    fn cast(&mut self, source: Oid, target: Oid) -> Result<Option<Row<PgCast>>>;
    /// How values of a type are compared and hashed.
    fn type_ops(&mut self, ty: Oid) -> Result<catalog::lookup::TypeOps>;
    fn range_of(&mut self, range_type: Oid) -> Result<Option<Row<PgRange>>>;
    /// The range type of a multirange type.
    fn range_of_multirange(&mut self, multirange_type: Oid) -> Result<Option<Oid>>;
    fn collation_row(&mut self, oid: Oid) -> Result<Option<Row<PgCollation>>>;
    /// Collation usable with the database's encoding.
    fn collation_named(&mut self, name: &str, namespace: Oid) -> Result<Option<Oid>>;
    /// Runs a type's input function. `ioparam` is the element type of array-like types, as
    /// `getTypeIOParam` has it.
    fn input(&mut self, ty: &PgType, text: &str, typmod: i32) -> Result<Datum>;
    /// Runs a type's `typmodin` function over the modifiers as written.
    fn typmod_in(&mut self, ty: &PgType, modifiers: &[String]) -> Result<i32>;
    /// The modifiers as printed, `(10,2)`.
    fn typmod_out(&mut self, ty: &PgType, typmod: i32) -> Result<String>;
    /// Runs a type's output function.
    fn output(&mut self, ty: &PgType, value: &Datum) -> Result<String>;
}

/// Look-ups of functions, aggregates, operators and their classes and families.
pub trait FunctionLookup {
    fn proc_row(&mut self, oid: Oid) -> Result<Option<Row<PgProc>>>;
    fn procs_named(&mut self, name: &str) -> Result<Vec<Row<PgProc>>>;
    fn aggregate(&mut self, proc: Oid) -> Result<Option<Row<PgAggregate>>>;
    fn operator_row(&mut self, oid: Oid) -> Result<Option<Row<PgOperator>>>;
    fn operators_named(&mut self, name: &str) -> Result<Vec<Row<PgOperator>>>;
    /// The cache of resolved operators, which outlives the statement; `None` if there is none.
    fn operator_cache(&mut self) -> Option<&mut OperatorCache> {
        None
    }
    fn opclass_row(&mut self, oid: Oid) -> Result<Option<Row<PgOpclass>>>;
    fn opclass_named(
        &mut self,
        am: Oid,
        name: &str,
        namespace: Oid,
    ) -> Result<Option<Row<PgOpclass>>>;
    /// All `pg_amop` rows of an operator.
    fn amops_of_operator(&mut self, operator: Oid) -> Result<Vec<PgAmop>>;
    /// The operator of a family by operand types and strategy number.
    fn opfamily_member(
        &mut self,
        family: Oid,
        left: Oid,
        right: Oid,
        strategy: StrategyNumber,
    ) -> Result<Option<Oid>>;
    /// The support function of a family by types and support function number.
    fn opfamily_proc(
        &mut self,
        family: Oid,
        left: Oid,
        right: Oid,
        number: i16,
    ) -> Result<Option<Oid>>;
    fn access_method_name(&mut self, oid: Oid) -> Result<Option<String>>;
    fn tablesample_handler(&mut self, names: &[&str]) -> Result<Option<Oid>>;
}

/// Look-ups of relations and of what belongs to them.
pub trait RelationLookup {
    /// Resolves a relation's name and locks it (lock mode number, 0: no lock).
    fn range_var(&mut self, schema: Option<&str>, name: &str, lock: i32) -> Result<Option<Oid>>;
    /// Locks a relation that a stored query names.
    fn lock_relation(&mut self, oid: Oid, mode: i32) -> Result<()>;
    fn relation(&mut self, oid: Oid) -> Result<Option<Arc<Relation>>>;
    /// Error 42501 if the user lacks one of these privileges on the whole relation.
    fn check_privileges(&mut self, relation: &Relation, required: u32) -> Result<()>;
    /// Error 0A000 if the server cannot insert rows into the table.
    fn check_new_rows(&mut self, relation: &Relation) -> Result<()>;
    /// As `CatCx::check_published`.
    fn check_published(&mut self, relation: &Relation, change: Change) -> Result<()>;
    /// Whether `child` inherits from `parent`, directly or through other tables.
    fn inherits_from(&mut self, child: Oid, parent: Oid) -> Result<bool>;
    fn view_rule(&mut self, relation: Oid) -> Result<Option<Arc<ViewRule>>>;
    /// A column's default expression (`pg_attrdef.adbin`).
    fn column_default(&mut self, relation: Oid, column: AttrNo) -> Result<Option<String>>;
    fn constraint_named(&mut self, relation: Oid, name: &str) -> Result<Option<ConstraintInfo>>;
    fn primary_key(&mut self, relation: Oid) -> Result<Option<ConstraintInfo>>;
    /// The sequence of an identity column.
    fn identity_sequence(&mut self, relation: Oid, column: AttrNo) -> Result<Option<Oid>>;
    /// Whether `restrict_nonsystem_relation_kind` forbids the expansion of user-defined views.
    fn views_are_restricted(&mut self) -> bool {
        false
    }
    /// The transition table of this name.
    fn transition_table(&mut self, _name: &str) -> Option<TransitionTable> {
        None
    }
}

/// A transition table that queries of the running trigger function can name. Counterpart:
/// `EphemeralNamedRelation`.
#[derive(Clone, Copy, Debug)]
pub struct TransitionTable {
    /// The table on which the trigger is defined. The transition table has the same columns.
    pub relid: Oid,
    /// The number of rows.
    pub rows: u64,
}

/// All look-ups, by PostgreSQL's cache keys. `None` and empty lists mean "no such row".
pub trait Lookup: TypeLookup + FunctionLookup + RelationLookup {
    fn namespace_named(&mut self, name: &str) -> Result<Option<Oid>>;
    fn namespace_name(&mut self, oid: Oid) -> Result<Option<String>>;
    /// The effective search path: `pg_temp` (if any), `pg_catalog`, and the user's in order.
    fn search_path(&mut self) -> Result<Arc<[Oid]>>;
    /// This session's temporary schema, invalid without one.
    fn temp_namespace(&mut self) -> Result<Oid>;
    fn database_name(&mut self) -> Result<String>;
    /// An error if the statement is to be cancelled.
    fn check_interrupts(&mut self) -> Result<()>;
    /// Whether `expression = NULL` is a null test: `transform_null_equals`.
    fn transform_null_equals(&mut self) -> bool {
        false
    }
    /// Raises a warning or notice to the client.
    fn notice(&mut self, notice: pgerror::PgError);
}
