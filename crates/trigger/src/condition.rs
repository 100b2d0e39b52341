//! WHEN conditions of triggers. A condition is compiled when it is first tested and compiled again
//! after changes of the catalogs. Counterpart: `TriggerEnabled`.

use crate::host::TriggerHost;
use catalog::CatalogState;
use eval::{Compiler, EvalState, Program, Resolve, RowInput, RowRef, Slot, Source};
use executor::{OpenRel, Trigger};
use hashbrown::HashMap;
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::Var;
use std::sync::Arc;
use types::DatumRef;
use types::fn_context::RowDesc;

/// The relation of the old row in a condition; the new row is the next one.
const OLD: i32 = 1;

/// Compiled conditions, by trigger, with the state of the catalogs.
#[derive(Default)]
pub(crate) struct Conditions(HashMap<Oid, (CatalogState, Arc<Program>)>);

struct BothRows<'a>(&'a Arc<RowDesc>);

fn source(var: &Var) -> Source {
    if var.varno == OLD { Source::Outer } else { Source::Inner }
}

impl Resolve for BothRows<'_> {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        match usize::try_from(var.varattno - 1) {
            Ok(column) => Ok(Slot { source: source(var), column }),
            Err(_) => Err(PgError::unsupported("system column in the condition of a trigger")),
        }
    }

    fn whole_row(&mut self, var: &Var) -> Result<(Vec<Slot>, Arc<RowDesc>)> {
        let source = source(var);
        let slots = (0..self.0.columns.len()).map(|column| Slot { source, column });
        Ok((slots.collect(), self.0.clone()))
    }
}

fn compiled(
    host: &mut dyn TriggerHost,
    rel: &OpenRel,
    trigger: &Trigger,
) -> Result<Option<Arc<Program>>> {
    let Some(expr) = &trigger.condition else { return Ok(None) };
    let state = host.catalog().session.catalog_state();
    if let Some((of, program)) = host.triggers().conditions.0.get(&trigger.oid)
        && *of == state
    {
        return Ok(Some(program.clone()));
    }
    let mut rows = BothRows(&rel.columns);
    let program = Arc::new(Compiler::new(host.as_facts(), &mut rows).compile(expr)?);
    host.triggers().conditions.0.insert(trigger.oid, (state, program.clone()));
    Ok(Some(program))
}

/// True if the condition of the trigger holds for these rows, or if it has none.
pub(crate) fn holds(
    host: &mut dyn TriggerHost,
    rel: &OpenRel,
    trigger: &Trigger,
    old: Option<&[DatumRef<'_>]>,
    new: Option<&[DatumRef<'_>]>,
) -> Result<bool> {
    let Some(program) = compiled(host, rel, trigger)? else { return Ok(true) };
    let row = |values| match values {
        Some(values) => RowRef::Refs(values),
        None => RowRef::Nulls,
    };
    let input = RowInput { scan: RowRef::Nulls, outer: row(old), inner: row(new) };
    program.test_row(&mut EvalState::default(), host.expressions(), &input)
}
