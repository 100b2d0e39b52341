//! The session services of a running plan in these tests: the catalog of the fact tables, storage
//! for temporary files, memory limits. There are no tables.

use super::facts::TableFacts;
use catalog::facts::rows;
use catalog::rows::{PgAggregate, PgAmop};
use engine::StoredRows;
use engine::{Backend, ClusterOptions, Engine, EngineConfig, create_cluster};
use eval::{DomainCheck, Facts, FnFacts, HostCall, TypeIo};
use ids::code::FinalModify;
use ids::strategy::btree;
use ids::{AttrNo, Oid, RelFile, StrategyNumber, Tid};
use pgerror::{PgError, Result};
use plan::expr::{FuncExpr, SqlValueKind};
use rowops::relation::OpenRel;
use rowops::services::{
    AggFn, AggInfo, DescriptorLookup, FinalCall, Services, SessionCalls, SetStream, TriggerEvents,
};
use rowops::trigger::{BeforeRowResult, CapturedChange, Change, ProposedChange, RowEvent, Timing};
use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use sync::wait::Waiter;
use types::builtin::{self, BuiltinFn};
use types::compare::{self, Comparer};
use types::fn_context::{TypeFunctions, TypeInfo};
use types::{BasicContext, Batch, Datum, FnContext};
use vfs::Env;

/// The access method `btree`.
const BTREE: Oid = Oid(403);
const DATABASE: Oid = Oid(1);

pub(super) struct TestServices {
    pub cx: Box<BasicContext>,
    /// `work_mem` and the limit of a hash table, in bytes.
    pub memory: usize,
    pub backend: Backend,
    facts: TableFacts,
    aggregates: HashMap<Oid, PgAggregate>,
    /// B-tree strategy and operand type by operator.
    strategies: HashMap<Oid, (StrategyNumber, Oid)>,
    _engine: Arc<Engine>,
}

fn no_tables<T>() -> Result<T> {
    Err(PgError::internal("this test has no tables"))
}

impl TestServices {
    pub(super) fn new() -> TestServices {
        let env = Env::memory(1);
        create_cluster(&env, &ClusterOptions::default()).expect("a new cluster");
        let engine = Engine::open(EngineConfig { shared_buffers: 64, ..EngineConfig::new(env) });
        let engine = engine.expect("a server");
        let (waiter, space) = (Arc::new(Waiter::new()), RelFile::DEFAULT_TABLESPACE);
        let backend = Backend::connect(engine.storage(), 1, DATABASE, space, waiter);
        let btree = |o: &PgAmop| o.amopmethod == BTREE && o.amoplefttype == o.amoprighttype;
        TestServices {
            cx: Box::default(),
            memory: 4 << 20,
            backend: backend.expect("a session"),
            facts: TableFacts::new(),
            aggregates: rows::<PgAggregate>().into_iter().map(|a| (a.aggfnoid, a)).collect(),
            strategies: rows::<PgAmop>()
                .iter()
                .filter(|o| btree(o))
                .map(|o| (o.amopopr, (o.amopstrategy, o.amoplefttype)))
                .collect(),
            _engine: engine,
        }
    }

    fn builtin(&self, proc: Oid) -> Result<(BuiltinFn, bool, String)> {
        let row = self.facts.procs.iter().find(|p| p.oid == proc);
        let row = row.ok_or_else(|| PgError::internal("no such function"))?;
        let name = row.prosrc.as_str();
        let found = builtin::lookup(name).ok_or_else(|| PgError::unsupported(name))?;
        Ok((found.f, row.proisstrict, name.to_string()))
    }

    fn transition(&self, proc: Oid) -> Result<(AggFn, String)> {
        Ok(match self.builtin(proc)? {
            (BuiltinFn::Scalar(f), strict, name) => (AggFn::Plain { f, strict }, name),
            (BuiltinFn::Trans(f), strict, name) => (AggFn::Internal { f, strict }, name),
            (_, _, name) => return Err(PgError::unsupported(name)),
        })
    }

    fn last(&self, proc: Oid) -> Result<(Option<FinalCall>, String)> {
        let Some(proc) = proc.valid() else { return Ok((None, String::new())) };
        Ok(match self.builtin(proc)? {
            (BuiltinFn::Scalar(f), strict, name) => (Some(FinalCall::Plain { f, strict }), name),
            (BuiltinFn::Final(f), strict, name) => (Some(FinalCall::Internal { f, strict }), name),
            (_, _, name) => return Err(PgError::unsupported(name)),
        })
    }

    fn info(&mut self, a: &PgAggregate, moving: bool) -> Result<AggInfo> {
        let (trans, last, ty, init) = match moving {
            false => (a.aggtransfn, a.aggfinalfn, a.aggtranstype, &a.agginitval),
            true => (a.aggmtransfn, a.aggmfinalfn, a.aggmtranstype, &a.aggminitval),
        };
        let (trans, trans_name) = self.transition(trans)?;
        let (finalfn, final_name) = self.last(last)?;
        let inverse = match a.aggminvtransfn.valid().filter(|_| moving) {
            Some(proc) => Some(self.transition(proc)?.0),
            None => None,
        };
        let combine = match self.builtin(a.aggcombinefn) {
            Ok((BuiltinFn::Combine(f), ..)) if !moving => Some(f),
            _ => None,
        };
        Ok(AggInfo {
            name: self.function(a.aggfnoid)?.name.clone(),
            trans_name,
            trans,
            finalfn,
            final_name,
            combine,
            final_extra: if moving { a.aggmfinalextra } else { a.aggfinalextra },
            trans_type: ty,
            trans_by_val: super::facts::type_info(ty)?.by_val,
            trans_collation: Oid::INVALID,
            init: match init {
                Some(text) => self.cx.type_input(ty, text.as_str().as_bytes(), -1)?,
                None => Datum::Null,
            },
            inverse,
            is_shareable: false,
            trans_function: Oid::INVALID,
            final_read_only: match moving {
                false => a.aggfinalmodify == FinalModify::ReadOnly,
                true => a.aggmfinalmodify == FinalModify::ReadOnly,
            },
        })
    }

    fn aggregate_row(&self, aggfn: Oid) -> Result<PgAggregate> {
        let missing = || PgError::internal(format!("no aggregate {aggfn}"));
        self.aggregates.get(&aggfn).cloned().ok_or_else(missing)
    }

    fn comparer(ty: Oid) -> Result<Comparer> {
        let unknown = || PgError::unsupported(format!("comparison of type {ty}"));
        compare::of_type(ty).map(Comparer::from).ok_or_else(unknown)
    }
}

impl DescriptorLookup for TestServices {
    fn aggregate(&mut self, aggfn: Oid, _: &[Oid]) -> Result<Arc<AggInfo>> {
        let row = self.aggregate_row(aggfn)?;
        self.info(&row, false).map(Arc::new)
    }

    fn ordered_set_final(&mut self, aggfn: Oid) -> Result<Option<String>> {
        let row = self.aggregate_row(aggfn)?;
        let source = |proc: Oid| {
            let row = self.facts.procs.iter().find(|p| p.oid == proc);
            row.map(|p| p.prosrc.as_str().to_owned())
        };
        let sorts = source(row.aggtransfn).is_some_and(|s| s.starts_with("ordered_set_transition"));
        Ok(source(row.aggfinalfn).filter(|_| sorts))
    }

    fn moving_aggregate(&mut self, aggfn: Oid, _: &[Oid]) -> Result<Option<Arc<AggInfo>>> {
        let row = self.aggregate_row(aggfn)?;
        if !row.aggminvtransfn.is_valid() {
            return Ok(None);
        }
        self.info(&row, true).map(|i| Some(Arc::new(i)))
    }

    fn sort_operator(&mut self, op: Oid, _: Oid, _: Oid) -> Result<(Comparer, bool)> {
        match self.strategies.get(&op) {
            Some(&(strategy @ (btree::LESS | btree::GREATER), ty)) => {
                Ok((Self::comparer(ty)?, strategy == btree::GREATER))
            }
            _ => Err(PgError::internal(format!("operator {op} is not an ordering operator"))),
        }
    }

    fn equality(&mut self, op: Oid) -> Result<Arc<FnFacts>> {
        let f = self.operator_function(op)?;
        self.function(f)
    }

    fn equality_compare(&mut self, op: Oid, _: Oid, _: Oid) -> Result<Option<Comparer>> {
        match self.strategies.get(&op) {
            Some(&(btree::EQUAL, ty)) => Self::comparer(ty).map(Some),
            _ => Ok(None),
        }
    }

    fn out_columns(&mut self, _: Oid, _: &[Oid]) -> Result<Option<Vec<Oid>>> {
        Ok(None)
    }

    fn open_relation(&mut self, _: Oid) -> Result<Arc<OpenRel>> {
        no_tables()
    }

    fn index_ancestors(&mut self, _: Oid) -> Result<Vec<Oid>> {
        Ok(Vec::new())
    }

    fn lock_partition(&mut self, _: Oid) -> Result<()> {
        Ok(())
    }

    fn partitions(&mut self, _: Oid) -> Result<Arc<partition::PartitionDesc>> {
        Err(PgError::internal("no partitioned tables"))
    }

    fn open_index(&mut self, _: Oid) -> Result<Arc<engine::IndexDesc>> {
        no_tables()
    }

    fn index_operator(
        &mut self,
        _: Oid,
        _: Oid,
        _: usize,
    ) -> Result<(engine::index::StrategyNumber, Option<engine::index::SupportFunction>)> {
        no_tables()
    }

    fn index_keys(&mut self, _: Oid) -> Result<String> {
        no_tables()
    }
}

impl TriggerEvents for TestServices {
    fn row_event(&mut self, _: RowEvent<'_>) -> Result<()> {
        no_tables()
    }

    fn capture(&mut self, _: CapturedChange<'_>) -> Result<()> {
        no_tables()
    }

    fn transition_rows(&mut self, _: &str) -> Option<Arc<StoredRows>> {
        None
    }

    fn before_row(&mut self, _: ProposedChange<'_>) -> Result<BeforeRowResult> {
        no_tables()
    }

    fn statement_event(
        &mut self,
        _: &Arc<OpenRel>,
        _: Change,
        _: Timing,
        _: &[AttrNo],
    ) -> Result<()> {
        no_tables()
    }
}

impl SessionCalls for TestServices {
    fn call_host(&mut self, call: &HostCall<'_>) -> Result<Datum> {
        Err(PgError::unsupported(format!("function {}", call.function)))
    }

    fn call_host_set(&mut self, call: &HostCall<'_>, _: &[(Oid, i32)]) -> Result<SetStream> {
        Err(PgError::unsupported(format!("function {}", call.function)))
    }

    fn next_of_set(&mut self, _: &mut SetStream, _: &mut Vec<Datum>) -> Result<bool> {
        Ok(false)
    }

    fn next_batch_of_set(&mut self, _: &mut SetStream) -> Result<Option<Batch>> {
        Err(PgError::internal("no functions"))
    }

    fn next_value(&mut self, _: Oid) -> Result<i64> {
        no_tables()
    }

    fn sql_value(&mut self, kind: SqlValueKind) -> Result<Datum> {
        Err(PgError::unsupported(format!("{kind:?}")))
    }
}

impl Services for TestServices {
    fn check_privileges(&mut self, _: &Arc<plan::PlannedStmt>) -> Result<()> {
        Ok(())
    }

    fn check_compared_rows(&mut self) -> Result<()> {
        Ok(())
    }

    fn backend(&mut self) -> &mut Backend {
        &mut self.backend
    }

    fn cursor_row(&mut self, _: &str, _: Oid) -> Result<Option<Tid>> {
        no_tables()
    }

    fn describe_row(&mut self, _: &OpenRel, _: &[Datum], _: &[AttrNo]) -> Result<Option<String>> {
        no_tables()
    }

    fn describe_partition_key(&mut self, _: Oid, _: &[Datum]) -> Result<Option<String>> {
        Ok(None)
    }

    fn may_show(&mut self, _: Oid, _: &[AttrNo]) -> Result<bool> {
        Ok(true)
    }

    fn work_mem(&self) -> usize {
        self.memory
    }

    fn hash_mem(&self) -> usize {
        self.memory
    }

    fn as_fn_context(&mut self) -> &mut dyn FnContext {
        self
    }

    fn as_facts(&mut self) -> &mut dyn Facts {
        self
    }
}

impl Facts for TestServices {
    fn function(&mut self, oid: Oid) -> Result<Arc<FnFacts>> {
        self.facts.function(oid)
    }

    fn operator_function(&mut self, opno: Oid) -> Result<Oid> {
        self.facts.operator_function(opno)
    }

    fn type_info(&mut self, ty: Oid) -> Result<TypeInfo> {
        self.facts.type_info(ty)
    }

    fn type_io(&mut self, ty: Oid) -> Result<Arc<TypeIo>> {
        self.facts.type_io(ty)
    }

    fn type_name(&mut self, ty: Oid) -> Result<String> {
        self.facts.type_name(ty)
    }

    fn type_schema_and_name(&mut self, ty: Oid) -> Result<(String, String)> {
        self.facts.type_schema_and_name(ty)
    }

    fn type_compare(&mut self, ty: Oid, collation: Oid) -> Result<Comparer> {
        self.facts.type_compare(ty, collation)
    }

    fn family_compare(
        &mut self,
        family: Oid,
        left: Oid,
        right: Oid,
        collation: Oid,
    ) -> Result<Comparer> {
        self.facts.family_compare(family, left, right, collation)
    }

    fn base_type(&mut self, ty: Oid) -> Result<(Oid, i32)> {
        self.facts.base_type(ty)
    }

    fn inline(&mut self, _: &FuncExpr) -> Result<Option<Arc<eval::Inline>>> {
        Ok(None)
    }

    fn domain_checks(&mut self, ty: Oid) -> Result<Arc<[DomainCheck]>> {
        self.facts.domain_checks(ty)
    }
}

impl FnContext for TestServices {
    fn collation(&self) -> Oid {
        self.cx.collation()
    }

    fn arg_type(&self, i: usize) -> Oid {
        self.cx.arg_type(i)
    }

    fn result_type(&self) -> Oid {
        self.cx.result_type()
    }

    fn extra(&mut self) -> &mut Option<Box<dyn Any + Send>> {
        self.cx.extra()
    }
}

types::delegate_fn_context! { TestServices, self, self.cx }
