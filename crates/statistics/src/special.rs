//! Statistics of types with their own estimators: ranges, the elements of arrays, the lexemes of
//! text search vectors.

use crate::slots::{Slot, array, fill};
use catalog::rows::PgStatistic;
use engine::sample::Sample;
use ids::{Oid, builtin};
use pgerror::Result;
use types::array::ElementCounter;
use types::ranges::stats::Collector;
use types::textsearch::lexeme_stats::LexemeCounter;
use types::{Datum, DatumRef};
use utility::host::CommandHost;

/// Most common elements of arrays and text search vectors (`stakind`).
const COMMON_ELEMENTS: i16 = 4;
const ELEMENT_COUNTS: i16 = 5;
const LENGTH_HISTOGRAM: i16 = 6;
const BOUNDS_HISTOGRAM: i16 = 7;

/// The operator `<` of double precision.
const FLOAT8_LESS: Oid = Oid(672);
/// The operator `=` of text.
const TEXT_EQUAL: Oid = Oid(98);

/// Arrays that are larger, decompressed, are left out. Counterpart: `ARRAY_WIDTH_THRESHOLD`.
const ARRAY_BYTES_MAX: usize = 0x10000;

/// Calls `take` with each value of a column that is not NULL and, with the header of a varlena, has
/// at most `width_max` bytes. Wide values are read one by one.
fn each_value(
    host: &mut dyn CommandHost,
    (sample, column): (&Sample, usize),
    width_max: usize,
    take: &mut dyn FnMut(&mut dyn CommandHost, DatumRef<'_>) -> Result<()>,
) -> Result<()> {
    for batch in &sample.batches {
        host.backend().check_interrupts()?;
        let mut packed = batch.packed.iter().filter(|v| v.column == column).peekable();
        for r in 0..batch.rows.len {
            let packed = packed.next_if(|v| v.row == r);
            match packed.and_then(|v| v.omitted.as_deref()) {
                Some(raw) if engine::sample::expanded_size(raw) > width_max => {}
                Some(raw) => {
                    let value = batch.expand(host.backend(), raw)?;
                    take(host, DatumRef::Bytes(&value))?;
                }
                None if batch.rows.get(r, column).is_null() => {}
                None => take(host, batch.rows.get(r, column))?,
            }
        }
    }
    Ok(())
}

/// Adds the distribution of the bounds of ranges or multiranges. Counterpart:
/// `compute_range_stats`.
pub(crate) fn ranges(
    host: &mut dyn CommandHost,
    type_oid: Oid,
    values: (&Sample, usize),
    target: usize,
    row: &mut PgStatistic,
) -> Result<()> {
    let ty = host.catalog().range_type(type_oid)?;
    let mut collector = Collector::default();
    each_value(host, values, usize::MAX, &mut |host, value| {
        collector.add(host.functions(), &ty, value.as_bytes())
    })?;
    let Some(found) = collector.finish(&ty, target)? else { return Ok(()) };
    let none = Oid::INVALID;
    if !found.bounds.is_empty() {
        let range = host.functions().type_info(ty.oid)?;
        let values = array(&range, &found.bounds)?;
        let (operator, collation) = (none, none);
        fill(row, Slot { kind: BOUNDS_HISTOGRAM, operator, collation, numbers: None, values });
    }
    let float8 = host.functions().type_info(types::oids::FLOAT8)?;
    let lengths: Vec<Datum> = found.lengths.iter().map(|l| Datum::float8(*l)).collect();
    let values = match lengths.is_empty() {
        true => None,
        false => array(&float8, &lengths)?,
    };
    let (operator, collation, numbers) = (FLOAT8_LESS, none, Some(vec![found.empty]));
    fill(row, Slot { kind: LENGTH_HISTOGRAM, operator, collation, numbers, values });
    Ok(())
}

/// Adds the statistics of the elements of arrays. Counterpart: `array_typanalyze`.
pub(crate) fn elements(
    host: &mut dyn CommandHost,
    type_oid: Oid,
    collation: Oid,
    values: (&Sample, usize),
    target: usize,
    row: &mut PgStatistic,
) -> Result<()> {
    let mut cat = host.catalog();
    let element = cat.type_row(type_oid)?.typelem;
    if !element.is_valid() {
        return Ok(());
    }
    let ops = cat.type_ops(element)?;
    if !(ops.eq.is_valid() && ops.cmp.is_valid() && ops.hash.is_valid()) {
        return Ok(());
    }
    let info = host.functions().type_info(element)?;
    let Ok(order) = host.facts().type_compare(element, collation) else { return Ok(()) };
    let mut counter = ElementCounter::new(&info, target);
    each_value(host, values, ARRAY_BYTES_MAX, &mut |_, value| {
        counter.add(value);
        Ok(())
    })?;
    let Some(found) = counter.finish((&order, collation)) else { return Ok(()) };
    let operator = ops.eq;
    if !found.elements.is_empty() {
        let (numbers, values) = (Some(found.frequencies), array(&info, &found.elements)?);
        fill(row, Slot { kind: COMMON_ELEMENTS, operator, collation, numbers, values });
    }
    let numbers = Some(found.counts);
    fill(row, Slot { kind: ELEMENT_COUNTS, operator, collation, numbers, values: None });
    Ok(())
}

/// Adds the most common lexemes of text search vectors. Counterpart: `ts_typanalyze`.
pub(crate) fn lexemes(
    host: &mut dyn CommandHost,
    values: (&Sample, usize),
    target: usize,
    row: &mut PgStatistic,
) -> Result<()> {
    let mut counter = LexemeCounter::new(target);
    each_value(host, values, usize::MAX, &mut |_, value| {
        counter.add(value.as_bytes());
        Ok(())
    })?;
    let Some(found) = counter.finish() else { return Ok(()) };
    let text = host.functions().type_info(types::oids::TEXT)?;
    let list: Vec<Datum> = found.lexemes.into_iter().map(Datum::bytes).collect();
    let (numbers, values) = (Some(found.frequencies), array(&text, &list)?);
    let (operator, collation) = (TEXT_EQUAL, builtin::collation::DEFAULT);
    fill(row, Slot { kind: COMMON_ELEMENTS, operator, collation, numbers, values });
    Ok(())
}
