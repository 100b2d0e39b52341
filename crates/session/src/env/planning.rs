//! The implementation of the traits of the planner.

use super::planner_cache::CachedRelation;
use crate::privileges;
use crate::state::State;
use analyze::SessionLookup;
use catalog::estimate::TableSize;
use catalog::lookup::BTREE_AM;
use catalog::rows::indexes::PG_INHERITS_PARENT_INDEX;
use catalog::{RelDesc, cache};
use engine::index::QuerySize;
use eval::{Compiler, EvalState, Facts, Resolve, RowInput, RowRef, Slot, Source};
use ids::code::AmopPurpose;
use ids::strategy::btree;
use ids::{AttrNo, Oid, RelKind, StrategyNumber};
use partition::{Detached, PartitionDesc};
use pgerror::{PgError, Result};
use plan::expr::{Expr, FuncExpr, OpExpr, Var};
use plan::node::RelationPrivileges;
use plan::query::Query;
use planner::{
    AggregateInfo, ColumnInfo, ColumnStats, CostSettings, DefaultOperators, ExpressionHost,
    ExtendedStats, FunctionLookup, IndexInfo, IndexKey, OperatorInfo, OperatorLookup, OrderingInfo,
    PlannerHost, RelationInfo, RelationLookup,
};
use std::sync::Arc;
use types::Datum;
use types::ranges::estimate::Condition;

impl State {
    fn folded_list(&mut self, text: Option<&catalog::rows::Text>) -> Result<Vec<Expr>> {
        let Some(text) = text else { return Ok(Vec::new()) };
        let mut list = plan::nodetree::read_exprs(text.as_str())?;
        for e in &mut list {
            analyze::stored::expand_calls_in(&mut SessionLookup::new(self), e)?;
        }
        list.into_iter().map(|e| eval::fold(e, self)).collect()
    }

    fn index_facts(
        &mut self,
        row: &catalog::rows::PgIndex,
        table_tuples: f64,
    ) -> Result<Option<Arc<IndexInfo>>> {
        let desc = self.cat().relation(row.indexrelid)?;
        let Some(part) = &desc.index else { return Ok(None) };
        // An index of a partitioned table has no file.
        if desc.engine_index.is_none() && desc.kind() != RelKind::PartitionedIndex {
            return Ok(None);
        }
        if !row.indisvalid || (row.indcheckxmin && !self.sees_whole_index(row.indexrelid)?) {
            return Ok(None);
        }
        // Constants are folded as in the conditions of the statement, with which these expressions
        // are compared.
        let exprs = self.folded_list(row.indexprs.as_ref())?;
        let predicate = self.folded_list(row.indpred.as_ref())?;
        let mut exprs = exprs.into_iter();
        let mut keys = Vec::new();
        let mut include = Vec::new();
        for (i, &attno) in row.indkey.iter().enumerate() {
            let expr = if attno == 0 { exprs.next() } else { None };
            if i >= row.indnkeyatts as usize {
                include.push(attno);
                continue;
            }
            let option = row.indoption.get(i).copied().unwrap_or(0);
            keys.push(IndexKey {
                attno,
                expr,
                opfamily: part.opfamilies.get(i).copied().unwrap_or_default(),
                opcintype: part.opcintypes.get(i).copied().unwrap_or_default(),
                collation: row.indcollation.get(i).copied().unwrap_or_default(),
                descending: option & 1 != 0,
                nulls_first: option & 2 != 0,
                returnable: desc.engine_index.as_ref().is_none_or(|x| x.def.is_returnable(i)),
            });
        }
        let Some(method) = self.cat().access_method(part.am)?.map(|m| m.info) else {
            return Ok(None);
        };
        let (mut pages, mut height, mut pending) = (0.0, None, None);
        if let Some(index) = desc.engine_index.clone() {
            pages = f64::from(engine::index::nblocks(&self.backend, &index)?);
            height = engine::index::height(&mut self.backend, &index)?;
            pending = engine::index::pending_stats(&mut self.backend, &index)?;
        }
        let tuples = if predicate.is_empty() {
            table_tuples
        } else {
            f64::from(desc.class.reltuples.max(0.0)).min(table_tuples)
        };
        Ok(Some(Arc::new(IndexInfo {
            oid: row.indexrelid,
            capabilities: &method.capabilities,
            cost: method.cost,
            keys,
            include,
            unique: row.indisunique,
            primary: row.indisprimary,
            immediate: row.indimmediate,
            predicate: predicate.into_iter().flat_map(plan::walk::conjuncts).collect(),
            pages,
            tuples,
            tree_height: height.map_or(-1, |h| h as i32),
            pending,
        })))
    }

    /// True if no snapshot of this session can need the row versions that an index with
    /// `indcheckxmin` lacks. Plans are transient while some session's snapshot can. Counterpart:
    /// the use of `indcheckxmin` in `get_relation_info`.
    fn sees_whole_index(&mut self, index: Oid) -> Result<bool> {
        let xmin = self.cat().index_xmin(index)?;
        let txns = self.backend.storage().txns.clone();
        let proc = self.backend.txn.proc();
        let horizons = txns.horizons_for(self.backend.database(), proc);
        if xmin.precedes(horizons.data_oldest_nonremovable) {
            return Ok(true);
        }
        self.caches.planning.transient = true;
        let own = match txns.xmin_of_proc(proc) {
            own if own.is_valid() => own,
            _ => self.backend.catalog_snapshot().xmin,
        };
        Ok(xmin.precedes(own))
    }

    /// The cached facts of a relation, if descriptors and sizes are unchanged.
    fn cached_relation(
        &mut self,
        relid: Oid,
        desc: &Arc<RelDesc>,
    ) -> Result<Option<Arc<RelationInfo>>> {
        let Some(cached) = self.caches.planning.relations.get(&relid) else { return Ok(None) };
        if !Arc::ptr_eq(&cached.desc, desc) {
            return Ok(None);
        }
        let (facts, parts) = (cached.facts.clone(), cached.indexes.clone());
        let blocks = cached.blocks;
        if let Some(table) = &desc.table
            && engine::table::nblocks(&self.backend, table)? != blocks
        {
            return Ok(None);
        }
        for (index, part) in facts.indexes.iter().zip(&parts) {
            let same = Arc::ptr_eq(&self.cat().relation(index.oid)?, part)
                && match &part.engine_index {
                    Some(open) => {
                        f64::from(engine::index::nblocks(&self.backend, open)?) == index.pages
                    }
                    None => part.kind() == RelKind::PartitionedIndex,
                };
            if !same {
                return Ok(None);
            }
        }
        Ok(Some(facts))
    }

    fn make_relation(&mut self, relid: Oid, desc: &RelDesc) -> Result<Arc<RelationInfo>> {
        let class = &desc.class;
        let mut columns = Vec::with_capacity(desc.attributes.len());
        for a in &desc.attributes {
            let avg_width = match a.attisdropped {
                true => 0,
                false => self.cat().average_width(a.atttypid, a.atttypmod)?,
            };
            columns.push(ColumnInfo {
                name: a.attname.as_str().to_string(),
                type_oid: a.atttypid,
                typmod: a.atttypmod,
                collation: a.attcollation,
                not_null: a.attnotnull,
                dropped: a.attisdropped,
                avg_width,
            });
        }
        let pages = match &desc.table {
            Some(t) => f64::from(engine::table::nblocks(&self.backend, t)?),
            None => f64::from(class.relpages),
        };
        let TableSize { pages, rows: tuples } = self.cat().table_size(desc, pages)?;
        let all_visible = if class.relpages > 0 && pages > 0.0 {
            (f64::from(class.relallvisible) / pages).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let mut indexes = Vec::new();
        // The newest index is first: among paths with equal cost the first one is kept, as in
        // PostgreSQL.
        for row in desc.indexes.iter().rev() {
            indexes.extend(self.index_facts(row, tuples)?);
        }
        Ok(Arc::new(RelationInfo {
            oid: relid,
            kind: class.relkind,
            row_type: class.reltype,
            pages,
            tuples,
            all_visible,
            columns,
            indexes,
            statistics: self.cat().statistics_objects(relid)?,
        }))
    }

    /// The statistics of a column, of the table alone or with its children (`tree`).
    fn statistics(
        &mut self,
        relid: Oid,
        attno: AttrNo,
        tree: bool,
    ) -> Result<Option<Arc<ColumnStats>>> {
        let keys = [relid.into(), attno.into(), tree.into()];
        let Some(row) = self.cat().search(cache::STATRELATTINH, &keys)? else { return Ok(None) };
        if let Some((of, cached)) = self.caches.planning.stats.get(&(relid, attno, tree))
            && Arc::ptr_eq(of, &row)
        {
            return Ok(Some(cached.clone()));
        }
        let out = statistics::load::column(&row, &mut |ty| self.type_facts(ty))?;
        let out = Arc::new(out);
        self.caches.planning.cache_statistics((relid, attno, tree), (row, out.clone()));
        Ok(Some(out))
    }
}

/// Resolves every column reference to the only column of the input.
struct OneColumn;

impl Resolve for OneColumn {
    fn var(&mut self, _: &Var) -> Result<Slot> {
        Ok(Slot { source: Source::Scan, column: 0 })
    }
}

impl RelationLookup for State {
    fn relation(&mut self, relid: Oid) -> Result<Arc<RelationInfo>> {
        let desc = self.cat().relation(relid)?;
        if let Some(cached) = self.cached_relation(relid, &desc)? {
            return Ok(cached);
        }
        if desc.kind() == RelKind::ForeignTable {
            return Err(PgError::unsupported(format!("foreign table \"{}\"", desc.name())));
        }
        let transient = std::mem::take(&mut self.caches.planning.transient);
        let facts = self.make_relation(relid, &desc)?;
        if self.caches.planning.transient {
            return Ok(facts);
        }
        self.caches.planning.transient = transient;
        let mut parts = Vec::with_capacity(facts.indexes.len());
        for index in &facts.indexes {
            parts.push(self.cat().relation(index.oid)?);
        }
        let blocks = match &desc.table {
            Some(table) => engine::table::nblocks(&self.backend, table)?,
            None => 0,
        };
        let cached = CachedRelation { desc, blocks, indexes: parts, facts: facts.clone() };
        self.caches.planning.cache_relation(relid, cached);
        Ok(facts)
    }

    fn column_stats(&mut self, relid: Oid, attno: AttrNo) -> Result<Option<Arc<ColumnStats>>> {
        self.statistics(relid, attno, false)
    }

    fn tree_column_stats(&mut self, relid: Oid, attno: AttrNo) -> Result<Option<Arc<ColumnStats>>> {
        self.statistics(relid, attno, true)
    }

    fn extended_stats(&mut self, object: Oid, tree: bool) -> Result<Option<Arc<ExtendedStats>>> {
        let keys = [object.into(), tree.into()];
        let Some(data) = self.cat().search(cache::STATEXTDATASTXOID, &keys)? else {
            return Ok(None);
        };
        if let Some((of, cached)) = self.caches.planning.extended.get(&(object, tree))
            && Arc::ptr_eq(of, &data)
        {
            return Ok(Some(cached.clone()));
        }
        let Some(row) = self.cat().search(cache::STATEXTOID, &[object.into()])? else {
            return Ok(None);
        };
        let out = Arc::new(statistics::load::extended(self, &row, &data)?);
        self.caches.planning.extended.insert((object, tree), (data, out.clone()));
        Ok(Some(out))
    }

    fn may_select(&mut self, relid: Oid, columns: &[AttrNo], role: Oid) -> Result<bool> {
        let role = role.valid().unwrap_or(self.catalog.user);
        self.cat().may_select(role, relid, columns)
    }

    fn check_view_privileges(&mut self, needed: &[RelationPrivileges]) -> Result<()> {
        privileges::check_relations(self, needed, true)
    }

    fn may_have_children(&mut self, relid: Oid) -> Result<bool> {
        Ok(self.cat().relation(relid)?.class.relhassubclass)
    }

    fn children(&mut self, relid: Oid, lock: i32) -> Result<Vec<Oid>> {
        let mut found = vec![relid];
        let mut at = 0;
        while let Some(&parent) = found.get(at) {
            at += 1;
            let rows = self.cat().scan(PG_INHERITS_PARENT_INDEX, &[parent.into()])?;
            let mut children: Vec<Oid> =
                rows.iter().map(|r| r.inhrelid).filter(|c| !found.contains(c)).collect();
            children.sort_unstable();
            for child in children {
                // The buffers of other sessions' temporary tables cannot be read.
                if self.cat().try_relation(child)?.is_some_and(|rel| rel.other_temp) {
                    continue;
                }
                self.lock_relation(child, lock)?;
                // The child may have been dropped while this session waited for the lock.
                if self.cat().find_class(child)?.is_some() {
                    found.push(child);
                }
            }
        }
        found.remove(0);
        Ok(found)
    }

    fn partitions(&mut self, relid: Oid) -> Result<Arc<PartitionDesc>> {
        let desc = self.cat().relation(relid)?;
        let one_snapshot = self.backend.txn.isolation().uses_transaction_snapshot();
        if self.caches.planning.of_constraint || !one_snapshot {
            return partition::partition_desc(&mut self.cat(), &desc, Detached::Omit);
        }
        let snapshot = self.backend.snapshot();
        let manager = self.backend.txn.manager_arc().clone();
        let mut sees = |xid| !matches!(snapshot.in_progress(xid, &manager), Ok(true));
        partition::partition_desc(&mut self.cat(), &desc, Detached::OmitSeen(&mut sees))
    }

    fn check_constraints(&mut self, relid: Oid) -> Result<Vec<Expr>> {
        let desc = self.cat().relation(relid)?;
        if desc.checks.is_empty() {
            return Ok(Vec::new());
        }
        let open = self.open_rel(relid)?;
        let is_valid =
            |name: &str| desc.checks.iter().any(|c| c.convalidated && c.conname.as_str() == name);
        let valid = open.checks.iter().filter(|c| is_valid(&c.name));
        Ok(valid.map(|c| c.expr.clone()).collect())
    }

    fn partition_constraint(&mut self, relid: Oid) -> Result<Vec<Expr>> {
        partition::partition_qual(&mut self.cat(), relid)
    }

    fn lock_member(&mut self, relid: Oid, lock: i32) -> Result<()> {
        self.lock_relation(relid, lock)
    }

    fn constraint_index(&mut self, constraint: Oid) -> Result<Oid> {
        let row = self.cat().constraint(constraint)?;
        row.map(|r| r.conindid).and_then(Oid::valid).ok_or_else(|| {
            PgError::internal(format!("cache lookup failed for constraint {constraint}"))
        })
    }

    fn query_size(
        &mut self,
        index: Oid,
        column: usize,
        opno: Oid,
        value: &Datum,
    ) -> Result<Option<QuerySize>> {
        let desc = self.cat().relation(index)?;
        let (Some(part), Some(index)) = (&desc.index, &desc.engine_index) else { return Ok(None) };
        let family = part.opfamilies.get(column).copied().unwrap_or_default();
        let row = self.cat().operator_in_family(opno, family)?;
        let Some(strategy) = row.map(|r| r.amopstrategy) else { return Ok(None) };
        let index = index.clone();
        engine::index::query_size(&mut self.backend, &index, column, strategy, value.as_ref())
    }
}

impl OperatorLookup for State {
    fn operator(&mut self, opno: Oid) -> Result<Arc<OperatorInfo>> {
        if let Some(facts) = self.caches.planning.operators.get(&opno) {
            return Ok(facts.clone());
        }
        let row = self.cat().operator(opno)?;
        let mut name_of = |proc: Oid| -> Result<String> {
            Ok(match proc.valid() {
                Some(p) => self.cat().function(p)?.proname.as_str().to_string(),
                None => String::new(),
            })
        };
        let restrict = name_of(row.oprrest)?;
        let join = name_of(row.oprjoin)?;
        let (strict, leakproof) = match row.oprcode.valid() {
            Some(p) => (Facts::function(self, p)?.strict, self.cat().function(p)?.proleakproof),
            None => (false, false),
        };
        let facts = Arc::new(OperatorInfo {
            oid: opno,
            name: row.oprname.as_str().to_string(),
            left: row.oprleft,
            right: row.oprright,
            result: row.oprresult,
            code: row.oprcode,
            commutator: row.oprcom,
            negator: row.oprnegate,
            can_merge: row.oprcanmerge,
            can_hash: row.oprcanhash,
            restrict,
            join,
            strict,
            leakproof,
        });
        // Built-in operators never change.
        if opno < Oid::FIRST_NORMAL {
            self.caches.planning.operators.insert(opno, facts.clone());
        }
        Ok(facts)
    }

    fn opclass(&mut self, opclass: Oid) -> Result<(Oid, Oid)> {
        let row = self.cat().opclass(opclass)?;
        Ok((row.opcfamily, row.opcintype))
    }

    fn strategy(&mut self, opno: Oid, family: Oid) -> Result<Option<StrategyNumber>> {
        Ok(self.cat().operator_in_family(opno, family)?.map(|r| r.amopstrategy))
    }

    fn family_operator(
        &mut self,
        family: Oid,
        left: Oid,
        right: Oid,
        strategy: StrategyNumber,
    ) -> Result<Option<Oid>> {
        // Binary-coercible types share an operator class, so the input type of the class is tried
        // too.
        let mut cat = self.cat();
        if let Some(op) = cat.family_member(family, left, right, strategy)? {
            return Ok(Some(op));
        }
        if left != right {
            return Ok(None);
        }
        let ops = cat.type_ops(left)?;
        if ops.btree_family == family {
            return cat.family_member(family, ops.btree_input, ops.btree_input, strategy);
        }
        Ok(None)
    }

    fn ordering(&mut self, sort_op: Oid) -> Result<Option<OrderingInfo>> {
        for r in self.cat().operator_families(sort_op)?.iter() {
            if r.amopmethod == BTREE_AM
                && r.amoppurpose == AmopPurpose::Search
                && matches!(r.amopstrategy, btree::LESS | btree::GREATER)
                && r.amoplefttype == r.amoprighttype
            {
                return Ok(Some(OrderingInfo {
                    family: r.amopfamily,
                    input_type: r.amoplefttype,
                    descending: r.amopstrategy == btree::GREATER,
                }));
            }
        }
        Ok(None)
    }

    fn equality_families(&mut self, eq_op: Oid) -> Result<Vec<Oid>> {
        let rows = self.cat().operator_families(eq_op)?;
        let btree =
            rows.iter().filter(|r| r.amopmethod == BTREE_AM && r.amopstrategy == btree::EQUAL);
        Ok(btree.map(|r| r.amopfamily).collect())
    }

    fn default_operators(&mut self, ty: Oid) -> Result<DefaultOperators> {
        let ops = self.cat().type_ops(ty)?;
        Ok(DefaultOperators { eq: ops.eq, lt: ops.lt, gt: ops.gt, hashable: ops.hash.is_valid() })
    }
}

impl FunctionLookup for State {
    fn function_cost(&mut self, funcid: Oid) -> Result<(f64, f64)> {
        let row = self.cat().function(funcid)?;
        Ok((f64::from(row.procost), f64::from(row.prorows)))
    }

    fn function_is_restricted(&mut self, funcid: Oid) -> Result<bool> {
        Ok(self.cat().function(funcid)?.proacl.is_some())
    }

    fn function_is_leakproof(&mut self, funcid: Oid) -> Result<bool> {
        Ok(self.cat().function(funcid)?.proleakproof)
    }

    fn aggregate(&mut self, aggfn: Oid) -> Result<AggregateInfo> {
        let row = self.cat().aggregate(aggfn)?;
        Ok(AggregateInfo {
            sort_op: row.aggsortop,
            trans_type: row.aggtranstype,
            combine: row.aggcombinefn,
            functions: [row.aggtransfn, row.aggfinalfn],
            state_width: row.aggtransspace,
        })
    }

    fn inline_set(&mut self, call: &FuncExpr, columns: &[(Oid, i32)]) -> Result<Option<Query>> {
        crate::function::sql::inline_set(self, call, columns)
    }
}

impl ExpressionHost for State {
    fn range_selectivity(&mut self, condition: &Condition<'_>) -> Result<f64> {
        types::ranges::estimate::selectivity(self, condition)
    }

    fn fold_query(&mut self, expr: Expr, present: &dyn Fn(i32) -> bool) -> Result<Expr> {
        eval::fold_query(expr, self, present)
    }

    fn try_values(&mut self, op: &OpExpr, values: &[Datum]) -> Result<Vec<bool>> {
        let test = Expr::OpExpr(Box::new(op.clone()));
        let program = Compiler::new(self, &mut OneColumn).compile(&test)?;
        let mut memory = EvalState::default();
        let mut out = Vec::with_capacity(values.len());
        for value in values {
            let row = RowInput::scan(RowRef::Owned(std::slice::from_ref(value)));
            let found = program.eval_row(&mut memory, self, &row)?;
            out.push(!found.as_ref().is_null() && found.as_ref().as_bool());
        }
        Ok(out)
    }

    fn estimated(&mut self, expr: &Expr) -> Result<Option<Datum>> {
        if eval::volatility(expr, self)? == eval::Volatility::Volatile {
            return Ok(None);
        }
        let Ok(program) = Compiler::new(self, &mut OneColumn).compile(expr) else {
            return Ok(None);
        };
        let found = program.eval_row(&mut EvalState::default(), self, &RowInput::EMPTY);
        Ok(found.ok().map(|value| value.into_owned()))
    }

    fn coerce_to_common(&mut self, expr: Expr, target: Oid) -> Result<Expr> {
        let mut lookup = analyze::SessionLookup::new(self);
        let params = analyze::Params::Fixed(Vec::new());
        analyze::Analyzer::new(&mut lookup, "", params).coerce_to_common(expr, target, "UNION")
    }

    fn param_value(&mut self, id: i32) -> Option<Datum> {
        usize::try_from(id - 1).ok().and_then(|i| self.params.get(i)).cloned()
    }
}

impl PlannerHost for State {
    fn costs(&self) -> &CostSettings {
        &self.values.costs
    }

    fn check_interrupts(&self) -> Result<()> {
        self.backend.check_interrupts()
    }
}
