//! A catalog without a server: the catalogs of a new cluster, with invented sizes and statistics.
//! The statements of the tests read the tables of these catalogs.

mod show;

use analyze::{Host, SessionLookup};
use catalog::lookup::BTREE_AM;
use catalog::{CatCx, CatSession, Catalog, FactStore};
use eval::{Callee, DomainCheck, Facts, FnFacts, TypeIo};
use ids::code::AmopPurpose;
use ids::strategy::btree;
use ids::{AttrNo, Oid, StrategyNumber};
use pgerror::{PgError, Result};
use plan::expr::{Expr, FuncExpr, OpExpr};
use plan::query::Query;
use planner::{
    AggregateInfo, ColumnInfo, ColumnStats, CostSettings, DefaultOperators, ExpressionHost,
    FunctionLookup, IndexInfo, IndexKey, OperatorInfo, OperatorLookup, OrderingInfo, PlannerHost,
    RelationInfo, RelationLookup,
};
use std::sync::Arc;
use types::compare::{self, Comparer};
use types::fn_context::TypeInfo;
use types::{BasicContext, BuiltinFn, Datum, FnContext};

/// Rows and pages of the tables; others have 100 rows in 2 pages.
const SIZES: [(&str, f64, f64); 4] = [
    ("pg_class", 10_000.0, 300.0),
    ("pg_attribute", 100_000.0, 2_000.0),
    ("pg_index", 8_000.0, 80.0),
    ("pg_depend", 50_000.0, 400.0),
];

/// Number of distinct values of columns, as in `pg_statistic`; those of unique columns are -1,
/// others 1000.
const DISTINCT: [(&str, &str, f64); 6] = [
    ("pg_class", "relkind", 5.0),
    ("pg_class", "relnamespace", 20.0),
    ("pg_class", "relpages", 500.0),
    ("pg_attribute", "attrelid", 10_000.0),
    ("pg_attribute", "attnum", 30.0),
    ("pg_attribute", "atttypid", 60.0),
];

pub struct TestHost {
    store: FactStore,
    session: CatSession,
    functions: BasicContext,
    pub costs: CostSettings,
}

impl TestHost {
    pub fn new() -> TestHost {
        TestHost {
            store: FactStore::new(),
            session: CatSession::new(Catalog::new(Oid(1)), Oid(10)),
            functions: BasicContext::default(),
            costs: CostSettings::default(),
        }
    }

    fn cat(&mut self) -> CatCx<'_> {
        CatCx::over_facts(&self.store, &mut self.session)
    }

    /// The plan of a statement as one line: `Node(child, child)`, scans with the relation or index.
    pub fn plan(&mut self, sql: &str) -> Result<String> {
        let query = self.query(sql)?;
        let planned = planner::plan_query(&query, self)?;
        show::statement(self, &planned)
    }

    /// The statement after analysis.
    pub fn query(&mut self, sql: &str) -> Result<Query> {
        let stmts = parse::parse(sql)?;
        let mut types = Vec::new();
        analyze::analyze_variable(&mut SessionLookup::new(self), &stmts[0], sql, &mut types)
    }

    fn index(&mut self, row: &catalog::rows::PgIndex, tuples: f64) -> Result<Arc<IndexInfo>> {
        let desc = self.cat().relation(row.indexrelid)?;
        let part = desc.index.as_ref().ok_or_else(|| PgError::internal("no index"))?;
        let method = engine::am::by_oid(part.am).and_then(|m| m.am);
        let method = method.ok_or_else(|| PgError::internal("no access method"))?.info();
        let mut keys = Vec::new();
        for (i, &attno) in row.indkey.iter().enumerate() {
            let option = row.indoption.get(i).copied().unwrap_or(0);
            keys.push(IndexKey {
                attno,
                expr: None,
                opfamily: part.opfamilies[i],
                opcintype: part.opcintypes[i],
                collation: row.indcollation.get(i).copied().unwrap_or_default(),
                descending: option & 1 != 0,
                nulls_first: option & 2 != 0,
                returnable: true,
            });
        }
        Ok(Arc::new(IndexInfo {
            oid: row.indexrelid,
            capabilities: &method.capabilities,
            cost: method.cost,
            keys,
            include: Vec::new(),
            unique: row.indisunique,
            primary: row.indisprimary,
            immediate: row.indimmediate,
            predicate: Vec::new(),
            pages: (tuples / 300.0).ceil() + 1.0,
            tuples,
            tree_height: 1,
            pending: None,
        }))
    }
}

impl Host for TestHost {
    fn catalog(&mut self) -> CatCx<'_> {
        self.cat()
    }

    fn functions(&mut self) -> &mut dyn FnContext {
        &mut self.functions
    }

    fn lock_relation(&mut self, _: Oid, _: i32) -> Result<()> {
        Ok(())
    }

    fn database_name(&mut self) -> Result<String> {
        Ok("postgres".into())
    }
}

impl Facts for TestHost {
    fn function(&mut self, oid: Oid) -> Result<Arc<FnFacts>> {
        let row = self.cat().function(oid)?;
        let callee = match types::lookup(row.prosrc.as_str()).map(|b| b.f) {
            Some(BuiltinFn::Scalar(f)) => Callee::Scalar(f),
            Some(BuiltinFn::Srf(f)) => Callee::Srf(f),
            _ => Callee::Missing,
        };
        Ok(Arc::new(FnFacts {
            oid,
            name: row.proname.as_str().to_string(),
            callee,
            kernel: None,
            collated: None,
            words: None,
            strict: row.proisstrict,
            volatility: row.provolatile,
            cost: f64::from(row.procost),
            may_inline: false,
            returns_set: row.proretset,
            result_type: row.prorettype,
            parameters: row.pronargs.max(0) as usize,
            defaults: Arc::new([]),
        }))
    }

    fn operator_function(&mut self, opno: Oid) -> Result<Oid> {
        Ok(self.cat().operator(opno)?.oprcode)
    }

    fn type_info(&mut self, ty: Oid) -> Result<TypeInfo> {
        let known = types::builtin_types::get(ty);
        known.map(|t| t.info).ok_or_else(|| PgError::internal(format!("no type {ty}")))
    }

    fn type_io(&mut self, ty: Oid) -> Result<Arc<TypeIo>> {
        Err(PgError::internal(format!("no functions of type {ty}")))
    }

    fn type_name(&mut self, ty: Oid) -> Result<String> {
        self.cat().format_type(ty)
    }

    fn type_schema_and_name(&mut self, ty: Oid) -> Result<(String, String)> {
        Ok(("pg_catalog".into(), self.cat().format_type(ty)?))
    }

    fn type_compare(&mut self, ty: Oid, _: Oid) -> Result<Comparer> {
        let known = compare::of_type(ty).map(Comparer::from);
        known.ok_or_else(|| PgError::internal(format!("no order of type {ty}")))
    }

    fn family_compare(&mut self, _: Oid, left: Oid, _: Oid, c: Oid) -> Result<Comparer> {
        self.type_compare(left, c)
    }

    fn base_type(&mut self, ty: Oid) -> Result<(Oid, i32)> {
        Ok((ty, -1))
    }

    fn domain_checks(&mut self, _: Oid) -> Result<Arc<[DomainCheck]>> {
        Ok(Arc::default())
    }
}

impl RelationLookup for TestHost {
    fn relation(&mut self, relid: Oid) -> Result<Arc<RelationInfo>> {
        let desc = self.cat().relation(relid)?;
        let name = desc.class.relname.as_str();
        let size = SIZES.iter().find(|(table, ..)| *table == name);
        let (tuples, pages) = size.map_or((100.0, 2.0), |(_, rows, pages)| (*rows, *pages));
        let mut columns = Vec::new();
        for a in &desc.attributes {
            columns.push(ColumnInfo {
                name: a.attname.as_str().to_string(),
                type_oid: a.atttypid,
                typmod: a.atttypmod,
                collation: a.attcollation,
                not_null: a.attnotnull,
                dropped: a.attisdropped,
                avg_width: if a.attlen > 0 { i32::from(a.attlen) } else { 32 },
            });
        }
        let mut indexes = Vec::new();
        for row in desc.indexes.iter().rev() {
            indexes.push(self.index(row, tuples)?);
        }
        Ok(Arc::new(RelationInfo {
            oid: relid,
            kind: desc.class.relkind,
            row_type: desc.class.reltype,
            pages,
            tuples,
            all_visible: 1.0,
            columns,
            indexes,
            statistics: Vec::new(),
        }))
    }

    fn column_stats(&mut self, relid: Oid, attno: AttrNo) -> Result<Option<Arc<ColumnStats>>> {
        let desc = self.cat().relation(relid)?;
        let table = desc.class.relname.as_str();
        let Some(column) = usize::try_from(attno - 1).ok().and_then(|i| desc.attributes.get(i))
        else {
            return Ok(None);
        };
        let unique = desc
            .indexes
            .iter()
            .any(|i| i.indisunique && i.indkey.iter().eq(std::iter::once(&attno)));
        let name = column.attname.as_str();
        let listed = DISTINCT.iter().find(|(t, c, _)| *t == table && *c == name);
        let n_distinct = if unique { -1.0 } else { listed.map_or(1000.0, |(.., n)| *n) };
        let width = if column.attlen > 0 { i32::from(column.attlen) } else { 32 };
        Ok(Some(Arc::new(ColumnStats { width, n_distinct, ..ColumnStats::default() })))
    }

    fn constraint_index(&mut self, constraint: Oid) -> Result<Oid> {
        Err(PgError::internal(format!("no constraint {constraint}")))
    }
}

impl OperatorLookup for TestHost {
    fn operator(&mut self, opno: Oid) -> Result<Arc<OperatorInfo>> {
        let row = self.cat().operator(opno)?;
        let mut name_of = |proc: Oid| -> Result<String> {
            Ok(match proc.valid() {
                Some(p) => self.cat().function(p)?.proname.as_str().to_string(),
                None => String::new(),
            })
        };
        Ok(Arc::new(OperatorInfo {
            restrict: name_of(row.oprrest)?,
            join: name_of(row.oprjoin)?,
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
            strict: true,
            leakproof: true,
        }))
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
        self.cat().family_member(family, left, right, strategy)
    }

    fn ordering(&mut self, sort_op: Oid) -> Result<Option<OrderingInfo>> {
        let families = self.cat().operator_families(sort_op)?;
        let mut rows = families.iter().filter(|r| {
            r.amopmethod == BTREE_AM
                && r.amoppurpose == AmopPurpose::Search
                && matches!(r.amopstrategy, btree::LESS | btree::GREATER)
                && r.amoplefttype == r.amoprighttype
        });
        Ok(rows.next().map(|r| OrderingInfo {
            family: r.amopfamily,
            input_type: r.amoplefttype,
            descending: r.amopstrategy == btree::GREATER,
        }))
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

impl FunctionLookup for TestHost {
    fn function_cost(&mut self, funcid: Oid) -> Result<(f64, f64)> {
        let row = self.cat().function(funcid)?;
        Ok((f64::from(row.procost), f64::from(row.prorows)))
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

    fn inline_set(&mut self, _: &FuncExpr, _: &[(Oid, i32)]) -> Result<Option<Query>> {
        Ok(None)
    }
}

impl ExpressionHost for TestHost {
    fn fold_query(&mut self, expr: Expr, _: &dyn Fn(i32) -> bool) -> Result<Expr> {
        Ok(expr)
    }

    fn try_values(&mut self, _: &OpExpr, values: &[Datum]) -> Result<Vec<bool>> {
        Ok(vec![false; values.len()])
    }

    fn coerce_to_common(&mut self, expr: Expr, target: Oid) -> Result<Expr> {
        let params = analyze::Params::Fixed(Vec::new());
        let mut lookup = SessionLookup::new(self);
        analyze::Analyzer::new(&mut lookup, "", params).coerce_to_common(expr, target, "UNION")
    }

    fn param_value(&mut self, _: i32) -> Option<Datum> {
        None
    }
}

impl PlannerHost for TestHost {
    fn costs(&self) -> &CostSettings {
        &self.costs
    }

    fn check_interrupts(&self) -> Result<()> {
        Ok(())
    }
}
