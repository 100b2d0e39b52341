//! range_agg: the union of ranges or multiranges. Counterpart: `range_agg_transfn`,
//! `multirange_agg_transfn`, `range_agg_finalfn`.

use crate::functions::type_of_value;
use crate::pieces::{self, Pieces};
use crate::stored::empty;
use pgerror::Result;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::function::AggState;

/// The ranges so far. There is one if there was a value that is not NULL.
type Ranges = Vec<Vec<u8>>;

fn gather(cx: &mut dyn FnContext, s: &mut AggState, a: &[DatumRef<'_>]) -> Result<()> {
    let ranges = s.get_or(Ranges::new);
    if a[0].is_null() {
        return Ok(());
    }
    let ty = type_of_value(cx, a[0])?;
    let pieces = Pieces::new(&ty, a[0].as_bytes())?;
    values::memory::reserve(ranges, pieces.len().max(1))?;
    if pieces.is_empty() {
        ranges.push(empty(&ty));
    }
    for i in 0..pieces.len() {
        ranges.push(pieces.range(i)?);
    }
    Ok(())
}

fn finish(cx: &mut dyn FnContext, s: &mut AggState) -> Result<Datum> {
    let Some(ranges) = s.get::<Ranges>() else { return Ok(Datum::Null) };
    let Some(first) = ranges.first() else { return Ok(Datum::Null) };
    let ty = type_of_value(cx, DatumRef::Bytes(first))?;
    // The state may be used again, in a window.
    let mut all = values::memory::with_capacity(ranges.len())?;
    let mut ticker = InterruptTicker::default();
    for range in ranges {
        ticker.tick(cx)?;
        all.push(range.clone());
    }
    pieces::make(cx, &ty, all)
}

builtins! { AGGREGATES;
    "range_agg_transfn" => Trans(gather),
    "multirange_agg_transfn" => Trans(gather),
    "range_agg_finalfn" => Final(|cx, s, _| finish(cx, s)),
}
