//! Exclusion constraints: no two rows may have keys for all of which the operators hold. The index
//! finds the candidates; the operators are evaluated for each of them, because an index may be
//! lossy.
//!
//! Counterpart: `check_exclusion_or_unique_constraint` in execIndexing.c.

use super::{Refs, RowWriter, WriteHost};
use crate::relation::{ExclusionOperator, OpenRel, RelIndex};
use crate::services::Services;
use engine::index::{self, Conflict, IndexColumn};
use engine::table::{self, RowFetch};
use eval::{RowInput, RowRef};
use ids::builtin::ty;
use ids::{Oid, Tid};
use pgerror::{PgError, Result, pg_err};
use plan::Expr;
use plan::expr::{Location, OpExpr, Var};
use smallvec::SmallVec;
use std::ops::ControlFlow;
use types::{Datum, DatumRef};

/// A row that excludes another one, with its values of the index columns.
pub struct Excluding {
    pub tid: Tid,
    pub values: Vec<Datum>,
}

/// The conditions under which an existing row excludes a new one.
pub(super) fn tests(index: &RelIndex) -> Vec<Expr> {
    let count = index.exclusion.len();
    let columns = index.exclusion.iter().zip(index.desc.def.keys()).enumerate();
    let test = |(n, (operator, column)): (usize, (&ExclusionOperator, &IndexColumn))| {
        let key = |at: usize| {
            Expr::Var(Var {
                varno: 1,
                varattno: at as i16 + 1,
                vartype: index.key_types.get(n).copied().unwrap_or(column.attr.type_oid),
                vartypmod: -1,
                varcollid: column.collation,
                varlevelsup: 0,
                location: Location::UNKNOWN,
            })
        };
        Expr::OpExpr(Box::new(OpExpr {
            opno: operator.operator,
            opfuncid: operator.function,
            opresulttype: ty::BOOL,
            opretset: false,
            opcollid: Oid::INVALID,
            inputcollid: column.collation,
            args: vec![key(n), key(n + count)],
            location: Location::UNKNOWN,
        }))
    };
    columns.map(test).collect()
}

impl RowWriter {
    /// A row that excludes a row with these index values, other than that at `own`. With `waits`,
    /// waits for the end of transactions on whose outcome that depends.
    pub fn find_excluding<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        position: usize,
        values: &[Datum],
        (own, waits): (Option<Tid>, bool),
    ) -> Result<Option<Excluding>> {
        let rel = self.rel.clone();
        let idx = &rel.indexes[position];
        let refs: SmallVec<[DatumRef<'_>; 4]> = values.iter().map(Datum::as_ref).collect();
        let strategies: SmallVec<[_; 4]> = idx.exclusion.iter().map(|o| o.strategy).collect();
        loop {
            host.services().check_interrupts()?;
            let mut found: Vec<Conflict> = Vec::new();
            let be = host.services().backend();
            let each = &mut |conflict| {
                found.push(conflict);
                ControlFlow::Continue(())
            };
            index::for_each_candidate(
                be,
                &idx.desc,
                &rel.table,
                (&refs[..], &strategies[..]),
                each,
            )?;
            let mut again = false;
            for conflict in found.into_iter().filter(|c| Some(c.tid) != own) {
                let Some(excluding) = self.excluding(host, position, conflict.tid, &refs)? else {
                    continue;
                };
                if waits && conflict.wait(host.services().backend(), &rel.table)? {
                    again = true;
                    break;
                }
                return Ok(Some(excluding));
            }
            if !again {
                return Ok(None);
            }
        }
    }

    /// The index values of the row at `tid`; `None` if there is none, or it is not in the index.
    pub fn stored_values<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        position: usize,
        tid: Tid,
    ) -> Result<Option<Vec<Datum>>> {
        let columns = self.entry_columns.clone();
        let mut fetch = RowFetch::new(&self.rel.table, &columns)?;
        let mut batch = table::new_batch(&self.rel.table, &columns);
        if !fetch.version(host.services().backend(), tid, &mut batch)? {
            return Ok(None);
        }
        let mut row: Refs<'_> = SmallVec::from_elem(DatumRef::Null, self.rel.columns.columns.len());
        for (i, column) in columns.iter().enumerate() {
            row[*column as usize - 1] = batch.get(0, i);
        }
        let values = self.index_values(host, position, &row)?;
        Ok(values.map(|values| values.into_iter().map(eval::Val::into_owned).collect()))
    }

    /// The row at `tid`, if it excludes a row with these index values.
    fn excluding<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        position: usize,
        tid: Tid,
        new: &[DatumRef<'_>],
    ) -> Result<Option<Excluding>> {
        let Some(values) = self.stored_values(host, position, tid)? else { return Ok(None) };
        let count = self.rel.indexes[position].exclusion.len();
        let both: Refs<'_> = (values.iter().take(count).map(Datum::as_ref))
            .chain(new.iter().take(count).copied())
            .collect();
        let Some(test) = &self.indexes[position].excludes else { return Ok(None) };
        let input = RowInput::scan(RowRef::Refs(&both));
        let excludes = test.test_row(&mut self.state, host.expressions(), &input)?;
        drop(both);
        Ok(excludes.then_some(Excluding { tid, values }))
    }
}

/// Error 23P01 for a row with the index values `new`, of which the flag tells whether it is in the
/// table since before the index. The keys are part of it if the user may read their columns.
#[cold]
pub fn exclusion_violation(
    services: &mut dyn Services,
    rel: &OpenRel,
    idx: &RelIndex,
    (new, building): (&[Datum], bool),
    other: &Excluding,
) -> Result<PgError> {
    let name = idx.desc.name();
    let error = match building {
        false => pg_err!(
            EXCLUSION_VIOLATION,
            "conflicting key value violates exclusion constraint \"{name}\""
        ),
        true => {
            pg_err!(EXCLUSION_VIOLATION, "could not create exclusion constraint \"{name}\"")
        }
    };
    let error = error.table(&*rel.table.schema, &*rel.table.name).constraint(name);
    let existing = if building { "key" } else { "existing key" };
    let count = idx.desc.key_count();
    if !services.may_show(rel.table.oid, &idx.desc.columns[..count])? {
        let detail =
            if building { "Key conflicts exist." } else { "Key conflicts with existing key." };
        return Ok(error.detail(detail));
    }
    let keys = services.index_keys(idx.desc.oid)?;
    let mut shown = |values: &[Datum]| -> Result<String> {
        let types = idx.key_types.iter().copied();
        let mut text = Vec::new();
        for (value, ty) in values.iter().zip(types).take(count) {
            text.push(match value.as_ref() {
                DatumRef::Null => "null".to_owned(),
                value => String::from_utf8_lossy(&services.type_output(ty, value)?).into_owned(),
            });
        }
        Ok(format!("({keys})=({})", text.join(", ")))
    };
    let (new, other) = (shown(new)?, shown(&other.values)?);
    Ok(error.detail(format!("Key {new} conflicts with {existing} {other}.")))
}
