//! Statistics as the planner uses them, from catalog rows.

use catalog::rows::{CatalogRow, PgStatistic, PgStatisticExt, PgStatisticExtData};
use ids::Oid;
use pgerror::Result;
use planner::{ColumnStats, ExtendedStats};
use std::sync::Arc;
use types::array::ArrayRef;
use types::extstats::{read_dependencies, read_mcv_list, read_ndistinct};
use types::{Datum, DatumRef, TypeInfo};

/// The statistics of a column.
pub fn column(
    row: &PgStatistic,
    type_info: &mut dyn FnMut(Oid) -> Result<TypeInfo>,
) -> Result<ColumnStats> {
    let mut out = ColumnStats {
        null_frac: f64::from(row.stanullfrac),
        width: row.stawidth,
        n_distinct: f64::from(row.stadistinct),
        ..ColumnStats::default()
    };
    let slots = [
        (row.stakind1, &row.stanumbers1, &row.stavalues1),
        (row.stakind2, &row.stanumbers2, &row.stavalues2),
        (row.stakind3, &row.stanumbers3, &row.stavalues3),
        (row.stakind4, &row.stanumbers4, &row.stavalues4),
        (row.stakind5, &row.stanumbers5, &row.stavalues5),
    ];
    let collations = [row.stacoll1, row.stacoll2, row.stacoll3, row.stacoll4, row.stacoll5];
    for ((kind, numbers, values), collation) in slots.into_iter().zip(collations) {
        let numbers: Vec<f64> =
            numbers.iter().flat_map(|n| n.iter()).map(|n| f64::from(*n)).collect();
        // The element type is part of the array.
        let values: Vec<Datum> = match values {
            Some(v) if matches!(kind, 1 | 2 | 4 | 6 | 7) => {
                let array = ArrayRef::new(DatumRef::Bytes(&v.0))?;
                let info = type_info(array.elem_type())?;
                array.iter(&info).map(DatumRef::to_owned).collect()
            }
            _ => Vec::new(),
        };
        match kind {
            1 => {
                out.mcv = values;
                out.mcv_freq = numbers;
            }
            2 => (out.histogram, out.histogram_collation) = (values, collation),
            3 => out.correlation = numbers.first().copied().unwrap_or(0.0),
            4 => (out.elements, out.element_freq) = (values, numbers),
            5 => out.element_counts = numbers,
            6 => {
                let ranges = out.ranges.get_or_insert_default();
                ranges.lengths = values.iter().map(|v| v.as_ref().as_f64()).collect();
                ranges.empty = numbers.first().map_or(0.0, |f| *f as f32);
            }
            7 => out.ranges.get_or_insert_default().bounds = values,
            _ => {}
        }
    }
    Ok(out)
}

/// The data of a statistics object.
pub fn extended<H: eval::Facts + eval::Host>(
    host: &mut H,
    object: &PgStatisticExt,
    data: &PgStatisticExtData,
) -> Result<ExtendedStats> {
    let mut out = ExtendedStats { columns: object.stxkeys.0.to_vec(), ..Default::default() };
    if let Some(text) = &object.stxexprs {
        for e in plan::nodetree::read_exprs(text.as_str())? {
            out.exprs.push(eval::fold(e, host)?);
        }
    }
    if let Some(stored) = &data.stxdndistinct {
        out.ndistinct = read_ndistinct(&stored.0)?;
    }
    if let Some(stored) = &data.stxddependencies {
        out.dependencies = read_dependencies(&stored.0)?;
    }
    if let Some(stored) = &data.stxdmcv {
        out.mcv = Some(read_mcv_list(&stored.0, &mut |ty| eval::Facts::type_info(host, ty))?);
    }
    if let Some(array) = &data.stxdexpr {
        let array = ArrayRef::new(DatumRef::Bytes(&array.0))?;
        let row_type = array.elem_type();
        let info = eval::Facts::type_info(host, row_type)?;
        let desc = host.row_desc(row_type, -1)?;
        let mut types = Vec::with_capacity(desc.columns.len());
        for column in &desc.columns {
            types.push(eval::Facts::type_info(host, column.ty)?);
        }
        for row in array.iter(&info) {
            out.expr_stats.push(match row.is_null() {
                true => None,
                false => {
                    let row = PgStatistic::from_row(&types::record::deform(row, &types))?;
                    Some(Arc::new(column(&row, &mut |ty| eval::Facts::type_info(host, ty))?))
                }
            });
        }
    }
    Ok(out)
}
