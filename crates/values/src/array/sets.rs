//! unnest and generate_subscripts. Counterpart: arrayfuncs.c.

use super::payload::ArrayRef;
use crate::datum::{Datum, DatumRef};
use crate::fn_context::InterruptChecker;
use crate::function::VecSource;

builtins! { FNS;
    "array_unnest" => Srf(|cx, a| {
        let array = ArrayRef::new(a[0]);
        let elem = cx.type_info(array.elem_type())?;
        let mut all = crate::memory::with_capacity(array.count())?;
        let interrupts = InterruptChecker::new(cx);
        for e in array.iter(&elem) {
            interrupts.tick()?;
            all.push(e.to_owned());
        }
        Ok(VecSource::boxed(all))
    }),
    "generate_subscripts" => Srf(|_, a| Ok(VecSource::boxed(subscripts(a)))),
    "generate_subscripts_nodir" => Srf(|_, a| Ok(VecSource::boxed(subscripts(a)))),
}

fn subscripts(a: &[DatumRef<'_>]) -> Vec<Datum> {
    let array = ArrayRef::new(a[0]);
    let i = usize::try_from(a[1].as_i32()).ok().and_then(|n| n.checked_sub(1));
    let Some((l, d)) = i.and_then(|i| Some((*array.lower_bounds().get(i)?, array.dims()[i])))
    else {
        return Vec::new();
    };
    let range = (l..l + d).map(Datum::int4);
    if a.get(2).is_some_and(|r| r.as_bool()) { range.rev().collect() } else { range.collect() }
}
