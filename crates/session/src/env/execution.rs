//! The implementation of the traits of the executor and of expression evaluation.

use crate::function;
use crate::state::State;
use analyze::{Analyzer, Params, SessionLookup};
use catalog::lookup::BTREE_AM;
use engine::index::{StrategyNumber, SupportFunction, SupportKind};
use engine::{Backend, StoredRows};
use eval::{Callee, Facts, FnFacts, Host, HostCall, Val};
use executor::{
    AggFn, AggInfo, BeforeRowResult, CapturedChange, Change, DescriptorLookup, FinalCall, OpenRel,
    ProposedChange, RowEvent, Services, SessionCalls, SetStream, Timing, TriggerEvents,
};
use ids::Oid;
use ids::builtin::proc;
use ids::code::{AmopPurpose, FinalModify};
use ids::strategy::btree;
use pgerror::{PgError, Result};
use plan::expr::{AggSplit, SqlValueKind, SubPlan};
use statements::Collector;
use std::sync::Arc;
use types::builtin::BuiltinFn;
use types::compare::Comparer;
use types::fn_context::TypeFunctions;
use types::{Batch, Datum, DatumRef, FnContext};

/// A support function of an aggregate.
enum Support {
    /// A built-in function and its `prosrc`.
    Builtin(BuiltinFn, String),
    /// The function manager calls the function.
    Session,
}

impl State {
    /// The support function, and whether it is strict.
    fn support_function(&mut self, proc: Oid) -> Result<(Support, bool)> {
        let row = self.cat().function(proc)?;
        let support = match function::callee(self, &row)? {
            Callee::Host => Support::Session,
            _ => {
                let builtin = function::on_values(&row).ok_or_else(|| {
                    PgError::unsupported(format!("function {}", row.proname.as_str()))
                })?;
                // The executor knows functions of its own by this name.
                let is_own = row.prolang != ids::builtin::language::C;
                let source = if is_own { row.prosrc.as_str() } else { "" };
                Support::Builtin(builtin.f, source.to_string())
            }
        };
        Ok((support, row.proisstrict))
    }

    /// The transition function `proc` of the aggregate `name`, with its `prosrc` if it is built in.
    fn transition(&mut self, name: &str, proc: Oid) -> Result<(AggFn, String)> {
        let (support, strict) = self.support_function(proc)?;
        match support {
            Support::Builtin(BuiltinFn::Scalar(f), source) => {
                Ok((AggFn::Plain { f, strict }, source))
            }
            Support::Builtin(BuiltinFn::Trans(f), source) => {
                Ok((AggFn::Internal { f, strict }, source))
            }
            Support::Builtin(..) => Err(unsupported_aggregate(name)),
            Support::Session => Ok((AggFn::Session { function: proc, strict }, String::new())),
        }
    }

    /// As [`State::transition`], the final function.
    fn final_function(&mut self, name: &str, proc: Oid) -> Result<(FinalCall, String)> {
        let (support, strict) = self.support_function(proc)?;
        match support {
            Support::Builtin(BuiltinFn::Scalar(f), source) => {
                Ok((FinalCall::Plain { f, strict }, source))
            }
            Support::Builtin(BuiltinFn::Final(f), source) => {
                Ok((FinalCall::Internal { f, strict }, source))
            }
            Support::Builtin(..) => Err(unsupported_aggregate(name)),
            Support::Session => Ok((FinalCall::Session { function: proc, strict }, String::new())),
        }
    }
}

fn unsupported_aggregate(name: &str) -> PgError {
    PgError::unsupported(format!("aggregate {name}"))
}

/// The functions of a row of `pg_aggregate`, for plain aggregation or for moving window frames.
struct AggregateFunctions {
    trans: Oid,
    inverse: Oid,
    last: Oid,
    last_extra: bool,
    last_modify: FinalModify,
    combine: Oid,
    trans_type: Oid,
    init: Option<String>,
}

impl State {
    fn aggregate_functions(&mut self, aggfn: Oid) -> Result<AggregateFunctions> {
        let row = self.cat().aggregate(aggfn)?;
        Ok(AggregateFunctions {
            trans: row.aggtransfn,
            inverse: Oid::INVALID,
            last: row.aggfinalfn,
            last_extra: row.aggfinalextra,
            last_modify: row.aggfinalmodify,
            combine: row.aggcombinefn,
            trans_type: row.aggtranstype,
            init: row.agginitval.as_ref().map(|t| t.as_str().to_string()),
        })
    }

    /// The type of the state for arguments of these types. Counterpart:
    /// `resolve_aggregate_transtype`.
    fn state_type(&mut self, aggfn: Oid, arg_types: &[Oid], declared: Oid) -> Result<Oid> {
        if !analyze::ty::is_polymorphic(declared) {
            return Ok(declared);
        }
        let mut args = self.cat().function(aggfn)?.proargtypes.to_vec();
        let mut lookup = SessionLookup::new(self);
        let mut cx = Analyzer::new(&mut lookup, "", Params::Fixed(Vec::new()));
        cx.enforce_generics(arg_types, &mut args, declared, false)
    }

    fn aggregate_info(
        &mut self,
        aggfn: Oid,
        arg_types: &[Oid],
        mut a: AggregateFunctions,
    ) -> Result<AggInfo> {
        a.trans_type = self.state_type(aggfn, arg_types, a.trans_type)?;
        let name = self.cat().function(aggfn)?.proname.as_str().to_string();
        let (trans, trans_name) = self.transition(&name, a.trans)?;
        let inverse = match a.inverse.valid() {
            None => None,
            Some(p) => Some(self.transition(&name, p)?.0),
        };
        let (finalfn, final_name) = match a.last.valid() {
            None => (None, String::new()),
            Some(p) => {
                let (f, source) = self.final_function(&name, p)?;
                (Some(f), source)
            }
        };
        let combine = match a.combine.valid() {
            None => None,
            Some(p) => match self.support_function(p) {
                Ok((Support::Builtin(BuiltinFn::Combine(f), _), _)) => Some(f),
                _ => None,
            },
        };
        let info = self.type_facts(a.trans_type)?;
        let init = match &a.init {
            Some(text) => self.type_input(a.trans_type, text.as_bytes(), -1)?,
            None => Datum::Null,
        };
        Ok(AggInfo {
            name,
            trans_name,
            trans,
            finalfn,
            final_name,
            combine,
            final_extra: a.last_extra,
            trans_type: a.trans_type,
            trans_by_val: info.by_val,
            trans_collation: Oid::INVALID,
            init,
            inverse,
            final_read_only: a.last_modify == FinalModify::ReadOnly,
            is_shareable: a.last_modify != FinalModify::ReadWrite,
            trans_function: a.trans,
        })
    }
}

/// Lock mode of INSERT, UPDATE and DELETE.
const ROW_EXCLUSIVE_LOCK: i32 = 3;

impl State {
    /// A value in the detail of an error, shortened.
    fn shown_value(&mut self, ty: Oid, v: DatumRef<'_>) -> Result<String> {
        const VALUE_MAX: usize = 64;
        let mut text = match v {
            DatumRef::Null => "null".to_string(),
            v => String::from_utf8_lossy(&self.type_output(ty, v)?).into_owned(),
        };
        if text.len() > VALUE_MAX {
            let mut end = VALUE_MAX;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
            text.push_str("...");
        }
        Ok(text)
    }
}

impl DescriptorLookup for State {
    fn aggregate(&mut self, aggfn: Oid, arg_types: &[Oid]) -> Result<Arc<AggInfo>> {
        let functions = self.aggregate_functions(aggfn)?;
        self.aggregate_info(aggfn, arg_types, functions).map(Arc::new)
    }

    fn aggregate_part(
        &mut self,
        aggfn: Oid,
        arg_types: &[Oid],
        split: AggSplit,
    ) -> Result<Arc<AggInfo>> {
        let mut functions = self.aggregate_functions(aggfn)?;
        match split {
            AggSplit::Simple => {}
            AggSplit::InitialSerial => functions.last = Oid::INVALID,
            AggSplit::FinalDeserial => functions.trans = functions.combine,
        }
        let info = self.aggregate_info(aggfn, arg_types, functions)?;
        Ok(Arc::new(AggInfo { is_shareable: false, ..info }))
    }

    fn ordered_set_final(&mut self, aggfn: Oid) -> Result<Option<String>> {
        let row = self.cat().aggregate(aggfn)?;
        let sorts = [proc::ORDERED_SET_TRANSITION, proc::ORDERED_SET_TRANSITION_MULTI];
        let Some(last) = row.aggfinalfn.valid().filter(|_| sorts.contains(&row.aggtransfn)) else {
            return Ok(None);
        };
        Ok(Some(self.cat().function(last)?.prosrc.as_str().to_owned()))
    }

    fn moving_aggregate(&mut self, aggfn: Oid, arg_types: &[Oid]) -> Result<Option<Arc<AggInfo>>> {
        let row = self.cat().aggregate(aggfn)?;
        if !row.aggminvtransfn.is_valid() {
            return Ok(None);
        }
        let functions = AggregateFunctions {
            trans: row.aggmtransfn,
            inverse: row.aggminvtransfn,
            last: row.aggmfinalfn,
            last_extra: row.aggmfinalextra,
            last_modify: row.aggmfinalmodify,
            combine: Oid::INVALID,
            trans_type: row.aggmtranstype,
            init: row.aggminitval.as_ref().map(|t| t.as_str().to_string()),
        };
        self.aggregate_info(aggfn, arg_types, functions).map(|i| Some(Arc::new(i)))
    }

    fn sort_operator(&mut self, op: Oid, ty: Oid, collation: Oid) -> Result<(Comparer, bool)> {
        let rows = self.cat().operator_families(op)?;
        for r in rows.iter() {
            if r.amopmethod == BTREE_AM
                && r.amoppurpose == AmopPurpose::Search
                && matches!(r.amopstrategy, btree::LESS | btree::GREATER)
            {
                let cmp = self.operand_compare(r, ty, collation)?;
                return Ok((cmp, r.amopstrategy == btree::GREATER));
            }
        }
        Err(PgError::internal(format!("operator {op} is not a valid ordering operator")))
    }

    fn equality(&mut self, op: Oid) -> Result<Arc<FnFacts>> {
        let f = self.operator_function(op)?;
        self.function(f)
    }

    fn equality_compare(&mut self, op: Oid, ty: Oid, collation: Oid) -> Result<Option<Comparer>> {
        let rows = self.cat().operator_families(op)?;
        for r in rows.iter() {
            if r.amopmethod == BTREE_AM && r.amopstrategy == btree::EQUAL {
                return self.operand_compare(r, ty, collation).map(Some);
            }
        }
        Ok(None)
    }

    fn out_columns(&mut self, funcid: Oid, arg_types: &[Oid]) -> Result<Option<Vec<Oid>>> {
        let row = self.cat().function(funcid)?;
        let outputs = function::outputs::outputs(self, &row, arg_types)?;
        Ok(outputs.map(|list| list.into_iter().map(|(_, ty)| ty).collect()))
    }

    fn open_relation(&mut self, relid: Oid) -> Result<Arc<OpenRel>> {
        self.open_rel(relid)
    }

    fn index_ancestors(&mut self, index: Oid) -> Result<Vec<Oid>> {
        partition::ancestors(&mut self.cat(), index)
    }

    fn lock_partition(&mut self, relid: Oid) -> Result<()> {
        self.lock_relation(relid, ROW_EXCLUSIVE_LOCK)
    }

    fn partitions(&mut self, relid: Oid) -> Result<Arc<partition::PartitionDesc>> {
        let desc = self.cat().relation(relid)?;
        // With one snapshot for the transaction, rows still go to a partition that is detached.
        let detached = match self.backend.txn.isolation().uses_transaction_snapshot() {
            true => partition::Detached::Include,
            false => partition::Detached::Omit,
        };
        partition::partition_desc(&mut self.cat(), &desc, detached)
    }

    fn open_index(&mut self, indexid: Oid) -> Result<Arc<engine::IndexDesc>> {
        let desc = self.cat().relation(indexid)?;
        desc.engine_index.clone().ok_or_else(|| self.cat().unsupported_index(&desc))
    }

    fn index_operator(
        &mut self,
        op: Oid,
        indexid: Oid,
        column: usize,
    ) -> Result<(StrategyNumber, Option<SupportFunction>)> {
        let desc = self.cat().relation(indexid)?;
        let part = desc.index.as_ref();
        let family = part
            .and_then(|p| p.opfamilies.get(column).copied())
            .ok_or_else(|| PgError::internal("not an index column"))?;
        let row = self.cat().operator_in_family(op, family)?.ok_or_else(|| {
            PgError::internal(format!("operator {op} is not a member of the index's family"))
        })?;
        let strategy = row.amopstrategy;
        if row.amoplefttype == row.amoprighttype {
            return Ok((strategy, None));
        }
        let collation = part.and_then(|p| p.row.indcollation.get(column).copied());
        let collation = collation.unwrap_or_default();
        let method = match part {
            Some(part) => self.cat().access_method(part.am)?,
            None => None,
        };
        let kind = method.and_then(|m| m.info.support.first().copied());
        let support = match kind {
            // The scan calls the comparison function with the value of the condition as first
            // argument.
            Some(SupportKind::Compare) => {
                let compare = {
                    let types = (row.amoprighttype, row.amoplefttype);
                    self.family_compare(family, types.0, types.1, collation)?
                };
                Some(SupportFunction::Compare(compare))
            }
            Some(SupportKind::Hash) => {
                let hasher = self.cat().family_hasher(family, row.amoprighttype, collation)?;
                Some(SupportFunction::Hash(hasher))
            }
            _ => None,
        };
        Ok((strategy, support))
    }

    fn index_keys(&mut self, index: Oid) -> Result<String> {
        deparse::index_keys(self, index)
    }
}

impl TriggerEvents for State {
    fn row_event(&mut self, event: RowEvent<'_>) -> Result<()> {
        trigger::row_event(self, event)
    }

    fn capture(&mut self, change: CapturedChange<'_>) -> Result<()> {
        trigger::capture(self, change)
    }

    fn transition_rows(&mut self, name: &str) -> Option<Arc<StoredRows>> {
        let mut tables = self.calls.transitions.iter();
        tables.find(|table| *table.name == *name).map(|table| table.rows.clone())
    }

    fn before_row(&mut self, change: ProposedChange<'_>) -> Result<BeforeRowResult> {
        trigger::before_row(self, change)
    }

    fn statement_event(
        &mut self,
        rel: &Arc<OpenRel>,
        change: Change,
        timing: Timing,
        updated: &[ids::AttrNo],
    ) -> Result<()> {
        trigger::statement_event(self, rel, change, timing, updated)
    }
}

impl SessionCalls for State {
    fn call_host(&mut self, call: &HostCall<'_>) -> Result<Datum> {
        function::call(self, call)
    }

    fn call_host_set(&mut self, call: &HostCall<'_>, columns: &[(Oid, i32)]) -> Result<SetStream> {
        function::call_set(self, call, columns)
    }

    fn next_of_set(&mut self, set: &mut SetStream, out: &mut Vec<Datum>) -> Result<bool> {
        function::next_of_set(self, set, out)
    }

    fn next_batch_of_set(&mut self, set: &mut SetStream) -> Result<Option<Batch>> {
        function::next_batch_of_set(set)
    }

    fn next_value(&mut self, sequence: Oid) -> Result<i64> {
        sysfn::sequence::nextval(self, sequence, false)
    }

    fn sql_value(&mut self, kind: SqlValueKind) -> Result<Datum> {
        let name = match kind {
            SqlValueKind::CurrentRole | SqlValueKind::CurrentUser | SqlValueKind::User => {
                let user = self.catalog.user;
                self.cat().role_name(user)?
            }
            SqlValueKind::SessionUser => {
                let user = self.catalog.session_user;
                self.cat().role_name(user)?
            }
            SqlValueKind::CurrentCatalog => self.database_name.clone(),
            SqlValueKind::CurrentSchema => match sysfn::info::current_schema(self)? {
                Some(name) => name,
                None => return Ok(Datum::Null),
            },
            _ => return Err(PgError::internal("time value requested from the session")),
        };
        Ok(Datum::name(&name))
    }
}

impl Services for State {
    fn check_privileges(&mut self, plan: &Arc<plan::PlannedStmt>) -> Result<()> {
        crate::privileges::check_plan(self, plan)
    }

    fn check_compared_rows(&mut self) -> Result<()> {
        let Some((a, b)) = self.catalog.take_incomparable_rows() else { return Ok(()) };
        types::record::compare(self, a.as_ref(), b.as_ref())?;
        Err(PgError::internal("rows whose comparison failed during a sort are comparable"))
    }

    fn statements(&mut self) -> Option<&mut Collector> {
        State::statements(self)
    }

    fn backend(&mut self) -> &mut Backend {
        &mut self.backend
    }

    fn cursor_row(&mut self, cursor: &str, relid: Oid) -> Result<Option<ids::Tid>> {
        State::cursor_row(self, cursor, relid)
    }

    fn describe_row(
        &mut self,
        rel: &OpenRel,
        row: &[Datum],
        written: &[ids::AttrNo],
    ) -> Result<Option<String>> {
        let table = rel.table.oid;
        let whole = self.may_show(table, &[])?;
        let mut parts = Vec::new();
        let mut names = Vec::new();
        for (i, (c, v)) in rel.columns.columns.iter().zip(row).enumerate() {
            let number = i as ids::AttrNo + 1;
            if c.is_dropped() {
                continue;
            }
            if !whole {
                if !written.contains(&number) && !self.may_show(table, &[number])? {
                    continue;
                }
                names.push(c.name.clone());
            }
            let text = self.shown_value(c.ty, v.as_ref())?;
            parts.push(text);
        }
        let values = parts.join(", ");
        Ok(match names.as_slice() {
            _ if whole => Some(format!("Failing row contains ({values}).")),
            [] => None,
            names => Some(format!("Failing row contains ({}) = ({values}).", names.join(", "))),
        })
    }

    fn describe_partition_key(&mut self, relid: Oid, key: &[Datum]) -> Result<Option<String>> {
        let desc = self.cat().relation(relid)?;
        let of = partition::partition_key(&mut self.cat(), &desc)?;
        let mut names = Vec::with_capacity(of.columns.len());
        let mut values = Vec::with_capacity(of.columns.len());
        let whole = self.may_show(relid, &[])?;
        for (column, value) in of.columns.iter().zip(key) {
            let readable = whole || column.attno > 0 && self.may_show(relid, &[column.attno])?;
            if !readable {
                return Ok(None);
            }
            names.push(match column.attno {
                0 => {
                    let d = deparse::Deparser::new(self, deparse::Style::PLAIN);
                    d.with_relation(relid)?.expression(&column.expr)?
                }
                attno => desc.attribute(attno).map_or_else(String::new, |a| {
                    let quoting = self.cat().session.quoting;
                    quoting.qualified(None, a.attname.as_str())
                }),
            });
            values.push(self.shown_value(column.ty, value.as_ref())?);
        }
        let (names, values) = (names.join(", "), values.join(", "));
        Ok(Some(format!("Partition key of the failing row contains ({names}) = ({values}).")))
    }

    fn may_show(&mut self, table: Oid, columns: &[ids::AttrNo]) -> Result<bool> {
        let user = self.catalog.user;
        self.cat().may_select(user, table, columns)
    }

    fn work_mem(&self) -> usize {
        within_share(self.values.work_mem_bytes)
    }

    fn hash_mem(&self) -> usize {
        within_share(self.values.costs.hash_mem as usize)
    }

    fn as_fn_context(&mut self) -> &mut dyn FnContext {
        self
    }

    fn as_facts(&mut self) -> &mut dyn Facts {
        self
    }
}

/// The context of expressions outside a plan: they may contain parameters of the statement, but no
/// sub-selects.
impl Host for State {
    fn extern_param(&mut self, id: i32) -> Result<Val<'static>> {
        let value = usize::try_from(id - 1).ok().and_then(|i| Val::param_of(&self.params, i));
        value.ok_or_else(|| pgerror::pg_err!(UNDEFINED_OBJECT, "no value found for parameter {id}"))
    }

    fn exec_param(&mut self, _: i32) -> Result<Val<'static>> {
        Err(PgError::internal("run-time parameter outside a running statement"))
    }

    fn set_exec_param(&mut self, _: i32, _: Datum) {}

    fn subplan(
        &mut self,
        _: &SubPlan,
        _: &[Datum],
        _: &mut dyn FnMut(&mut dyn Host) -> Result<Datum>,
    ) -> Result<Datum> {
        Err(PgError::internal("sub-select outside a running statement"))
    }

    fn call_host(&mut self, call: &HostCall<'_>) -> Result<Datum> {
        function::call(self, call)
    }

    fn next_value(&mut self, sequence: Oid) -> Result<i64> {
        SessionCalls::next_value(self, sequence)
    }

    fn sql_value(&mut self, kind: SqlValueKind) -> Result<Datum> {
        SessionCalls::sql_value(self, kind)
    }
}

/// The memory that a plan node may use before it spills to temporary files: the value of the
/// setting, but at most a quarter of the memory that is available to the session.
fn within_share(bytes: usize) -> usize {
    bytes.min((types::memory::available() / 4).max(64 << 10))
}
