//! The planner's entry point and state: [`Planner`] for the whole statement, [`PlannerInfo`] for
//! one query level. Counterpart: planner.c (`standard_planner`), pathnodes.h (`PlannerGlobal`,
//! `PlannerInfo`).

use ids::Oid;
use partition::PartitionDesc;
use pgerror::{PgError, Result};
use plan::expr::{Aggref, Expr};
use plan::node::{AppendRelation, Plan, PlanRowMark, PlannedStmt, RequiredPrivileges};
use plan::query::{Query, RangeTblEntry, RteKind};
use querytree::host::{CostSettings, DefaultOperators, PlannerHost, RelationInfo};
use querytree::path::{AppendRel, PathKey, PathRef, PathSet};
use querytree::relids::Relids;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use stdx::stack::deep;

/// Deepest nesting of queries.
const LEVELS_MAX: u32 = 5_000;

/// A base relation: one range-table entry in FROM.
#[derive(Clone, Debug)]
pub(crate) struct BaseRel {
    pub rti: i32,
    /// Catalog data, if it is a table.
    pub table: Option<Arc<RelationInfo>>,
    /// Conditions on this relation alone.
    pub quals: Vec<Expr>,
    /// Rows before and after the conditions.
    pub tuples: f64,
    pub rows: f64,
    pub width: i32,
    /// Relations that must be joined first, because this one uses their columns (LATERAL).
    pub lateral: Relids,
}

/// A member with its paths.
pub(crate) struct MemberPaths {
    pub member: Rc<AppendRel>,
    pub paths: PathSet,
    /// The orders of `paths` in the parent's columns, as far as they are useful.
    pub orders: Vec<Vec<PathKey>>,
    /// The join conditions with the parent, over the member's columns.
    pub join_quals: Vec<Expr>,
}

/// Plans a statement. `query` is the result of analysis and rewriting.
pub fn plan_query(query: &Query, host: &mut dyn PlannerHost) -> Result<PlannedStmt> {
    let (privileges, stored_forms) = querytree::privileges::of_query(query, host)?;
    host.check_view_privileges(&privileges.relations)?;
    let mut relation_oids = BTreeSet::new();
    collect_relations(query, &mut relation_oids);
    let mut planner = Planner::new(host, privileges);
    planner.stored_forms = stored_forms;
    let mut planned = planner.plan_level(query.clone(), LevelInput::default())?;
    let plan_tree = planner.plan_of(&mut planned)?;
    let calls_volatile = !planner.param_types.is_empty() && planner.has_volatile(query)?;
    Ok(PlannedStmt {
        command_type: query.command_type,
        has_returning: !query.returning_list.is_empty(),
        has_modifying_cte: query.has_modifying_cte,
        can_set_tag: query.can_set_tag,
        depends_on_role: query.has_row_security,
        transient: false,
        plan_tree,
        rtable: planner.rtable,
        result_relations: planner.result_relations,
        subplans: planner.subplans,
        rewind_plan_ids: Vec::new(),
        row_marks: planner.row_marks,
        append_relations: planner.append_relations,
        relation_oids: relation_oids.into_iter().collect(),
        inval_items: Vec::new(),
        privileges: planner.privileges,
        param_exec_types: planner.param_types,
        calls_volatile,
        bound: planner.bound,
        source: query.source.clone(),
    })
}

/// Adds all relations at any level of the query.
fn collect_relations(query: &Query, out: &mut BTreeSet<Oid>) {
    for rte in &query.rtable {
        let relid = match &rte.kind {
            RteKind::Relation { relid, .. } | RteKind::Subquery { relid, .. } => *relid,
            _ => continue,
        };
        if relid.is_valid() {
            out.insert(relid);
        }
    }
    for cte in &query.cte_list {
        deep(|| collect_relations(&cte.query, out));
    }
    for rte in &query.rtable {
        if let RteKind::Subquery { subquery, .. } = &rte.kind {
            deep(|| collect_relations(subquery, out));
        }
    }
    let mut inner: Vec<&Query> = Vec::new();
    plan::walk::query_exprs(query, &mut |e| plan::walk::sub_selects(e, &mut inner));
    inner.into_iter().for_each(|q| deep(|| collect_relations(q, out)));
}

/// State shared by all query levels. Counterpart: `PlannerGlobal`.
pub(crate) struct Planner<'a> {
    pub host: &'a mut dyn PlannerHost,
    /// By plan id - 1.
    pub subplans: Vec<Plan>,
    /// Types of the exec parameters.
    pub param_types: Vec<Oid>,
    /// The flat range table.
    pub rtable: Vec<RangeTblEntry>,
    pub result_relations: Vec<i32>,
    pub row_marks: Vec<PlanRowMark>,
    /// See [`PlannedStmt::append_relations`].
    pub append_relations: Vec<AppendRelation>,
    /// See [`PlannedStmt::bound`].
    pub bound: Vec<Expr>,
    /// Privileges to check; inlined functions add those of their bodies.
    pub privileges: RequiredPrivileges,
    /// A function that describes how a value is stored is called (`stored`).
    pub stored_forms: bool,
    pub level: u32,
    /// Cache of default operators, which the join search looks up repeatedly.
    pub operators: HashMap<Oid, DefaultOperators>,
    /// The relation whose scan conditions are being estimated; see [`Planner::lookup_selectivity`].
    pub lookup: Option<i32>,
    /// Conditions are estimated as if columns were independent, without extended statistics.
    pub independent: bool,
}

/// A `WITH` query that has been planned.
#[derive(Clone, Debug)]
pub(crate) struct CtePlan {
    pub name: String,
    pub plan_id: u32,
    /// Exec parameter that identifies the shared rows.
    pub param: i32,
    pub rows: f64,
}

/// The working table of a recursive query, under the name of the `WITH` query.
#[derive(Clone, Debug)]
pub(crate) struct WorkTable {
    pub name: String,
    pub param: i32,
    pub rows: f64,
}

/// Input of a level from the level above.
#[derive(Clone, Default, Debug)]
pub(crate) struct LevelInput {
    /// `WITH` queries of the levels above: index 0 is the level directly above.
    pub ctes: Vec<Vec<CtePlan>>,
    /// Working tables of the levels above, likewise.
    pub work_tables: Vec<Option<WorkTable>>,
    /// Rows that will be fetched: 0 is all, a number below 1 is a fraction, others are a count.
    pub tuple_fraction: f64,
    /// The number of distinct rows must be estimated.
    pub count_groups: bool,
    pub from_above: SubqueryInput,
}

/// What the level above knows about a subquery.
#[derive(Clone, Default, Debug)]
pub(crate) struct SubqueryInput {
    /// Run conditions of the subquery's last window, over the subquery's columns.
    pub run_conditions: Vec<Expr>,
    /// Columns by which an order is useful above.
    pub wanted_columns: Vec<i16>,
    /// If the subquery is a UNION ALL in FROM: its inputs that were plain before conditions were
    /// pushed into them.
    pub plain_members: Option<Vec<i32>>,
}

/// A level with its paths, one of which becomes its plan.
pub(crate) struct PlannedLevel {
    pub root: Box<PlannerInfo>,
    pub paths: PathSet,
    /// Number of distinct rows, if it was requested.
    pub groups: f64,
    pub rows: f64,
    /// See [`Planner::column_widths`].
    pub column_widths: Vec<i32>,
}

/// A subquery in FROM, or an input of a set operation.
pub(crate) struct SubqueryPlan {
    /// Its level; absent while its plan is created.
    pub level: Option<Box<PlannerInfo>>,
    pub paths: PathSet,
    pub groups: f64,
    pub rows: f64,
    /// See [`Planner::column_widths`].
    pub column_widths: Vec<i32>,
    /// Exec parameters and the columns of this level that set them (LATERAL).
    pub params: Vec<(i32, Expr)>,
}

impl SubqueryPlan {
    pub(crate) fn level(&self) -> Result<&PlannerInfo> {
        self.level.as_deref().ok_or_else(|| PgError::internal("subquery is being planned twice"))
    }
}

/// An aggregate that is the first row of a sub-select in the aggregate's order.
pub(crate) struct MinMaxAggregate {
    pub aggregate: Aggref,
    pub level: Box<PlannerInfo>,
    pub path: PathRef,
}

/// The members of the append relations of a level.
#[derive(Default)]
pub(crate) struct Members {
    pub append_rels: Vec<Rc<AppendRel>>,
    /// The tables whose members have been added to `append_rels`.
    pub trees: Relids,
    /// The partitioned tables below each partitioned table of the level, by range-table index.
    pub partitioned: HashMap<i32, Vec<PartitionedTable>>,
    /// The number of entries of the range table before members of tables were added.
    pub own_entries: usize,
    /// Indexes in the flat range table of the entries that were added for members.
    pub added_entries: Vec<i32>,
    /// Joins or groupings may be done partition by partition. The following are set only then.
    pub partitionwise: bool,
    /// All members, partitioned ones included, by range-table index.
    pub by_child: HashMap<i32, Rc<AppendRel>>,
    /// The scans of the partitions of each partitioned table.
    pub scans: HashMap<i32, Rc<PartScans>>,
    /// The partitions of partitioned tables that the statement does not name.
    pub of_sub_tables: HashMap<i32, Vec<Rc<AppendRel>>>,
}

/// The scan paths of the partitions of a table.
pub(crate) struct PartScans {
    pub all: Vec<MemberPaths>,
    /// The join conditions that parameterized scans test, over the table's columns.
    pub join_quals: Vec<Expr>,
}

/// A partitioned table whose partitions have been added.
pub(crate) struct PartitionedTable {
    pub relid: Oid,
    pub rti: i32,
    /// Its columns, if it is a partition of the table that the statement names.
    pub below: Option<Rc<AppendRel>>,
    pub desc: Arc<PartitionDesc>,
    /// The partitions that may have matching rows, by their index in `desc`.
    pub partitions: Vec<(usize, Part)>,
}

/// A partition: the range-table index of a leaf, or the position of a partitioned table.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Leaf(i32),
    Table(usize),
}

/// The leaves below the partitioned table at this position.
pub(crate) fn leaves_of(tables: &[PartitionedTable], position: usize, out: &mut Vec<i32>) {
    for (_, part) in tables.get(position).iter().flat_map(|t| &t.partitions) {
        match part {
            Part::Leaf(child) => out.push(*child),
            Part::Table(position) => deep(|| leaves_of(tables, *position, out)),
        }
    }
}

/// State of one query level. Counterpart: `PlannerInfo`.
pub(crate) struct PlannerInfo {
    pub query: Query,
    pub input: LevelInput,
    pub ctes: Vec<CtePlan>,
    pub subqueries: Vec<SubqueryPlan>,
    /// Index into `subqueries` of each planned subquery, by range-table index.
    pub subquery_of: HashMap<i32, usize>,
    pub rels: HashMap<i32, BaseRel>,
    /// OR clauses over several relations, with the restrictions extracted from each.
    pub restrictions: Vec<(Expr, Vec<Expr>)>,
    /// Equalities of columns, written or derived, with the number of their equivalence class
    /// (`equivalence`).
    pub class_equalities: Vec<(Expr, usize)>,
    pub class_count: usize,
    /// The columns of all equivalence classes, with the number of their class.
    pub class_columns: Vec<(Expr, usize)>,
    /// Init plans (`Expr::SubPlan`) to attach to the top plan node of this level.
    pub init_plans: Vec<Expr>,
    /// Offset of this level's range table in the flat one.
    pub rt_offset: i32,
    /// Columns needed from enclosing nested loops, with the parameters that carry them.
    pub nest_params: Vec<(i32, Expr)>,
    /// Multi-assignment sub-selects by number, with the parameters of their columns.
    pub multi_assignments: Vec<(i32, Vec<i32>)>,
    pub tuple_fraction: f64,
    /// `tuple_fraction` for the subqueries in FROM.
    pub subquery_fraction: f64,
    /// The working table, if this level is a recursive query.
    pub work_table: Option<WorkTable>,
    /// Expressions that have one value in all rows of the level; redundant as sort keys.
    pub constants: Vec<Expr>,
    /// Pairs of columns that are equal in all rows of the level.
    pub equal_pairs: Vec<(Expr, Expr)>,
    /// Inputs of subqueries not planned yet, by range-table index.
    pub subquery_inputs: HashMap<i32, SubqueryInput>,
    /// The level is a tree of set operations.
    pub in_set_operation: bool,
    pub members: Members,
    /// Sub-selects that replace min and max (`minmax`).
    pub min_max: Vec<MinMaxAggregate>,
    /// Range-table entries that no outer join of the level can null-extend.
    pub not_null_extended: Relids,
    /// Number of rows of the largest table: estimated number of calls of a sub-select.
    pub calls: f64,
}

impl<'a> Planner<'a> {
    /// `privileges`: those that the statement as written needs.
    pub(crate) fn new(
        host: &'a mut dyn PlannerHost,
        privileges: RequiredPrivileges,
    ) -> Planner<'a> {
        Planner {
            host,
            subplans: Vec::new(),
            param_types: Vec::new(),
            rtable: Vec::new(),
            result_relations: Vec::new(),
            row_marks: Vec::new(),
            append_relations: Vec::new(),
            bound: Vec::new(),
            privileges,
            stored_forms: false,
            level: 0,
            operators: HashMap::new(),
            lookup: None,
            independent: false,
        }
    }

    pub(crate) fn costs(&self) -> CostSettings {
        self.host.costs().clone()
    }

    pub(crate) fn operators_of(&mut self, ty: Oid) -> Result<DefaultOperators> {
        if let Some(known) = self.operators.get(&ty) {
            return Ok(*known);
        }
        let found = self.host.default_operators(ty)?;
        self.operators.insert(ty, found);
        Ok(found)
    }

    /// A new exec parameter.
    pub(crate) fn new_param(&mut self, ty: Oid) -> i32 {
        self.param_types.push(ty);
        self.param_types.len() as i32 - 1
    }

    /// Enters a query level; the caller must call [`Planner::leave`].
    pub(crate) fn enter(&mut self) -> Result<()> {
        self.level += 1;
        if self.level > LEVELS_MAX {
            return Err(eval::too_deep());
        }
        self.host.check_interrupts()
    }

    pub(crate) fn leave(&mut self) {
        self.level -= 1;
    }
}

impl PlannerInfo {
    pub(crate) fn new(query: Query, input: LevelInput) -> PlannerInfo {
        let tuple_fraction = input.tuple_fraction;
        PlannerInfo {
            query,
            input,
            ctes: Vec::new(),
            subqueries: Vec::new(),
            subquery_of: HashMap::new(),
            rels: HashMap::new(),
            restrictions: Vec::new(),
            class_equalities: Vec::new(),
            class_count: 0,
            class_columns: Vec::new(),
            init_plans: Vec::new(),
            rt_offset: 0,
            nest_params: Vec::new(),
            multi_assignments: Vec::new(),
            tuple_fraction,
            subquery_fraction: 0.0,
            work_table: None,
            constants: Vec::new(),
            equal_pairs: Vec::new(),
            subquery_inputs: HashMap::new(),
            in_set_operation: false,
            members: Members::default(),
            min_max: Vec::new(),
            not_null_extended: Relids::new(),
            calls: 1.0,
        }
    }

    /// The entry's index in the flat range table.
    pub(crate) fn flat(&self, rti: i32) -> i32 {
        let added = (rti as usize).checked_sub(self.members.own_entries + 1);
        match added.and_then(|at| self.members.added_entries.get(at)) {
            Some(flat) => *flat,
            None => rti + self.rt_offset,
        }
    }

    /// True if possibly only a part of the rows is fetched: paths with a low startup cost are then
    /// kept.
    pub(crate) fn wants_early_rows(&self) -> bool {
        self.query.limit_count.is_some() || self.tuple_fraction > 0.0
    }

    /// Finds the `WITH` query of a reference `levelsup` levels up.
    pub(crate) fn find_cte(&self, name: &str, levelsup: u32) -> Result<CtePlan> {
        let list = match levelsup {
            0 => Some(&self.ctes),
            n => self.input.ctes.get(n as usize - 1),
        };
        list.and_then(|l| l.iter().find(|c| c.name == name))
            .cloned()
            .ok_or_else(|| PgError::internal(format!("could not find CTE \"{name}\"")))
    }

    /// Finds the working table of a recursive reference.
    pub(crate) fn find_work_table(&self, name: &str) -> Result<WorkTable> {
        self.input
            .work_tables
            .iter()
            .flatten()
            .find(|w| w.name == name)
            .cloned()
            .ok_or_else(|| PgError::internal(format!("could not find work table \"{name}\"")))
    }

    /// Input for a level directly below this one.
    pub(crate) fn child_input(&self, tuple_fraction: f64) -> LevelInput {
        let mut ctes = vec![self.ctes.clone()];
        ctes.extend(self.input.ctes.iter().cloned());
        let mut work_tables = vec![self.work_table.clone()];
        work_tables.extend(self.input.work_tables.iter().cloned());
        LevelInput { ctes, work_tables, tuple_fraction, ..LevelInput::default() }
    }

    pub(crate) fn rel(&self, rti: i32) -> Result<&BaseRel> {
        self.rels
            .get(&rti)
            .ok_or_else(|| PgError::internal(format!("no base relation {rti} in this query")))
    }
}
