//! The estimated number of rows of a table.
//!
//! Counterpart: `estimate_rel_size` in plancat.c.

use crate::RelDesc;
use crate::cx::CatCx;
use crate::rows::indexes::PG_STATISTIC_EXT_RELID_INDEX;
use ids::{Oid, RelKind};
use pgerror::Result;

/// Number of pages assumed for a table that was never vacuumed and has fewer.
const NEVER_VACUUMED_PAGES: f64 = 10.0;
/// Bytes of a row besides its values: header and line pointer.
const ROW_OVERHEAD: f64 = 28.0;

/// The size of a table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TableSize {
    pub pages: f64,
    pub rows: f64,
}

impl CatCx<'_> {
    /// The statistics objects on a table, ascending.
    pub fn statistics_objects(&mut self, relation: Oid) -> Result<Vec<Oid>> {
        let rows = self.scan(PG_STATISTIC_EXT_RELID_INDEX, &[relation.into()])?;
        let mut out: Vec<Oid> = rows.iter().map(|row| row.oid).collect();
        out.sort_unstable();
        Ok(out)
    }

    /// Average number of bytes of a value.
    pub fn average_width(&mut self, ty: Oid, typmod: i32) -> Result<i32> {
        let len = self.find_type(ty)?.map_or(-1, |t| t.typlen);
        Ok(types::average_width(len, ty, typmod))
    }

    /// The size of a table with `pages` pages: by the density that VACUUM or ANALYZE found, else by
    /// the widths of the columns.
    pub fn table_size(&mut self, desc: &RelDesc, mut pages: f64) -> Result<TableSize> {
        let class = &desc.class;
        let remembered = f64::from(class.reltuples);
        if pages < NEVER_VACUUMED_PAGES && remembered < 0.0 && class.relkind == RelKind::Table {
            pages = NEVER_VACUUMED_PAGES;
        }
        let density = if remembered >= 0.0 && class.relpages > 0 {
            remembered / f64::from(class.relpages)
        } else {
            let mut width = ROW_OVERHEAD;
            for a in desc.attributes.iter().filter(|a| !a.attisdropped) {
                width += f64::from(self.average_width(a.atttypid, a.atttypmod)?);
            }
            ((8192.0 - 24.0) / width).floor().max(1.0)
        };
        Ok(TableSize { pages, rows: (density * pages).round() })
    }
}
