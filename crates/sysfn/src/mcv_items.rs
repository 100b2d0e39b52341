//! The items of a list of most common combinations. Counterpart: mcv.c
//! (`pg_stats_ext_mcvlist_items`).

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use pgerror::Result;
use types::extstats::read_mcv_list;
use types::{Datum, DatumRef, oids};

pub(super) const FNS: &[SysFn] =
    &[SysFn { name: "pg_stats_ext_mcvlist_items", call: SysCall::Set(items) }];

/// Each item: its number, the texts of its values, whether they are NULL, and its frequencies.
fn items(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>> {
    let cx = core.functions();
    let list = read_mcv_list(args[0].as_bytes(), &mut |ty| cx.type_info(ty))?;
    let (text, bool_type) = (cx.type_info(oids::TEXT)?, cx.type_info(oids::BOOL)?);
    let mut out = Vec::with_capacity(list.items.len());
    for (n, item) in (0..).zip(&list.items) {
        let (mut texts, mut nulls) = (Vec::new(), Vec::new());
        for (value, &ty) in item.values.iter().zip(&list.types) {
            nulls.push(Datum::bool(value.is_null()));
            texts.push(match value.is_null() {
                true => Datum::Null,
                false => Datum::bytes(cx.type_output(ty, value.as_ref())?),
            });
        }
        out.push(vec![
            Datum::int4(n),
            eval::array_of(&text, &texts)?,
            eval::array_of(&bool_type, &nulls)?,
            Datum::float8(item.frequency),
            Datum::float8(item.base_frequency),
        ]);
    }
    Ok(out)
}
