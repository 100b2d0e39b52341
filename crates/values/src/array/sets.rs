//! unnest and generate_subscripts. Counterpart: arrayfuncs.c.

use super::payload::ArrayRef;
use crate::datum::{Datum, DatumRef};
use crate::fn_context::InterruptChecker;
use crate::function::VecSource;
use pgerror::Result;

builtins! { FNS;
    "array_unnest" => Srf(|cx, a| {
        let array = ArrayRef::new(a[0])?;
        let result = cx.result_type();
        let elem = array.element_type(cx, result)?;
        let mut all = crate::memory::with_capacity(array.count())?;
        let interrupts = InterruptChecker::new(cx);
        for e in array.iter(&elem) {
            interrupts.tick()?;
            all.push(e.to_owned());
        }
        Ok(VecSource::boxed(all))
    }),
    "generate_subscripts" => Srf(|_, a| Ok(VecSource::boxed(subscripts(a)?))),
    "generate_subscripts_nodir" => Srf(|_, a| Ok(VecSource::boxed(subscripts(a)?))),
}

fn subscripts(a: &[DatumRef<'_>]) -> Result<Vec<Datum>> {
    let array = ArrayRef::new(a[0])?;
    let i = usize::try_from(a[1].as_i32()).ok().and_then(|n| n.checked_sub(1));
    let Some((l, d)) = i.and_then(|i| Some((*array.lower_bounds().get(i)?, array.dims()[i])))
    else {
        return Ok(Vec::new());
    };
    let range = (l..l + d).map(Datum::int4);
    let is_reverse = a.get(2).is_some_and(|r| r.as_bool());
    Ok(if is_reverse { range.rev().collect() } else { range.collect() })
}
