//! WHEN conditions of triggers. A condition is compiled when it is first tested and compiled again
//! after changes of the catalogs. Counterpart: `TriggerEnabled`.

use crate::host::TriggerHost;
use crate::rows::{system_columns, system_position};
use catalog::CatalogState;
use eval::{Compiler, EvalState, Program, Resolve, RowInput, RowRef, Slot, Source};
use executor::{OpenRel, Refs, RowVersion, Trigger};
use hashbrown::HashMap;
use ids::Oid;
use pgerror::{Result, pg_err};
use plan::expr::Var;
use std::sync::Arc;
use types::fn_context::RowDesc;
use types::{Datum, DatumRef};

/// The relation of the old row in a condition; the new row is the next one.
const OLD: i32 = 1;

/// Compiled conditions, by trigger, with the state of the catalogs and the user who may call their
/// functions.
#[derive(Default)]
pub(crate) struct Conditions {
    by_trigger: HashMap<Oid, (CatalogState, Oid, Arc<Condition>)>,
    /// Partition constraints, by partition.
    of_partitions: HashMap<Oid, (CatalogState, Arc<Condition>)>,
}

struct Condition {
    program: Program,
    /// It reads system columns, which follow the columns of the table.
    reads_system: bool,
}

struct BothRows<'a> {
    desc: &'a Arc<RowDesc>,
    reads_system: bool,
}

fn source(var: &Var) -> Source {
    if var.varno == OLD { Source::Outer } else { Source::Inner }
}

impl Resolve for BothRows<'_> {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        let column = match usize::try_from(var.varattno - 1) {
            Ok(column) => column,
            Err(_) => {
                self.reads_system = true;
                self.desc.columns.len() + system_position(var.varattno)
            }
        };
        Ok(Slot { source: source(var), column })
    }

    fn whole_row(&mut self, var: &Var) -> Result<(Vec<Slot>, Arc<RowDesc>)> {
        let source = source(var);
        let slots = (0..self.desc.columns.len()).map(|column| Slot { source, column });
        Ok((slots.collect(), self.desc.clone()))
    }
}

fn compiled(
    host: &mut dyn TriggerHost,
    rel: &OpenRel,
    trigger: &Trigger,
) -> Result<Option<Arc<Condition>>> {
    let Some(expr) = &trigger.condition else { return Ok(None) };
    let state = host.catalog().session.catalog_state();
    let user = host.catalog().session.user;
    if let Some((of, by, condition)) = host.triggers().conditions.by_trigger.get(&trigger.oid)
        && (*of, *by) == (state, user)
    {
        return Ok(Some(condition.clone()));
    }
    let calls = eval::called([expr], host.as_facts())?;
    host.as_facts().may_call(&calls)?;
    let mut rows = BothRows { desc: &rel.columns, reads_system: false };
    let program = Compiler::new(host.as_facts(), &mut rows).compile(expr)?;
    let condition = Arc::new(Condition { program, reads_system: rows.reads_system });
    host.triggers().conditions.by_trigger.insert(trigger.oid, (state, user, condition.clone()));
    Ok(Some(condition))
}

/// 0A000 if a trigger, which belongs to the partitioned table, has changed a row that is about to
/// be inserted so that it does not belong to the partition any more.
pub(crate) fn check_partition(
    host: &mut dyn TriggerHost,
    rel: &OpenRel,
    trigger: &Trigger,
    row: &[Datum],
) -> Result<()> {
    let state = host.catalog().session.catalog_state();
    let known = host.triggers().conditions.of_partitions.get(&rel.table.oid);
    let condition = match known.filter(|(of, _)| *of == state) {
        Some((_, condition)) => condition.clone(),
        None => {
            // The table is relation 1, as the old row is.
            let mut rows = BothRows { desc: &rel.columns, reads_system: false };
            let mut compiler = Compiler::new(host.as_facts(), &mut rows);
            let program = compiler.compile_all(&rel.partition)?;
            let condition = Arc::new(Condition { program, reads_system: false });
            let known = &mut host.triggers().conditions.of_partitions;
            known.insert(rel.table.oid, (state, condition.clone()));
            condition
        }
    };
    let row: Refs<'_> = row.iter().map(Datum::as_ref).collect();
    if test(host, &condition, Some(&row), None)? {
        return Ok(());
    }
    let (schema, table) = (&rel.table.schema, &rel.table.name);
    Err(pg_err!(
        FEATURE_NOT_SUPPORTED,
        "moving row to another partition during a BEFORE FOR EACH ROW trigger is not supported"
    )
    .detail(format!(
        "Before executing trigger \"{}\", the row was to be in partition \"{schema}.{table}\".",
        trigger.name
    )))
}

/// True if the condition of the trigger holds for these rows, or if it has none.
pub(crate) fn holds(
    host: &mut dyn TriggerHost,
    rel: &OpenRel,
    trigger: &Trigger,
    old: Option<RowVersion<'_>>,
    new: Option<RowVersion<'_>>,
) -> Result<bool> {
    let Some(condition) = compiled(host, rel, trigger)? else { return Ok(true) };
    if condition.reads_system {
        return holds_with_system(host, rel, &condition, [old, new]);
    }
    test(host, &condition, old.map(|v| v.values), new.map(|v| v.values))
}

/// As [`holds`], for a condition that reads system columns.
#[cold]
fn holds_with_system(
    host: &mut dyn TriggerHost,
    rel: &OpenRel,
    condition: &Condition,
    [old, new]: [Option<RowVersion<'_>>; 2],
) -> Result<bool> {
    let mut system = |version: Option<RowVersion<'_>>| match version {
        Some(version) => system_columns(host.backend(), rel, version.tid).map(Some),
        None => Ok(None),
    };
    let (old_system, new_system) = (system(old)?, system(new)?);
    let (old, new) = (with_system(old, &old_system), with_system(new, &new_system));
    test(host, condition, old.as_deref(), new.as_deref())
}

/// The values of a row and its system columns.
fn with_system<'a>(
    version: Option<RowVersion<'a>>,
    system: &'a Option<[Datum; 6]>,
) -> Option<Refs<'a>> {
    let (version, system) = (version?, system.as_ref()?);
    Some(version.values.iter().copied().chain(system.iter().map(Datum::as_ref)).collect())
}

fn test(
    host: &mut dyn TriggerHost,
    condition: &Condition,
    old: Option<&[DatumRef<'_>]>,
    new: Option<&[DatumRef<'_>]>,
) -> Result<bool> {
    let row = |values| match values {
        Some(values) => RowRef::Refs(values),
        None => RowRef::Nulls,
    };
    let input = RowInput { scan: RowRef::Nulls, outer: row(old), inner: row(new) };
    condition.program.test_row(&mut EvalState::default(), host.expressions(), &input)
}
