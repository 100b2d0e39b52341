//! The estimated number of rows of a table.
//!
//! Counterpart: `estimate_rel_size` in plancat.c, `get_typavgwidth` in lsyscache.c,
//! `type_maximum_size` in format_type.c.

use crate::RelDesc;
use crate::cx::CatCx;
use ids::Oid;
use pgerror::Result;
use types::oids;

/// Bytes of a value's header, which type modifiers of most types count.
const HEADER: i32 = 4;
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
    /// Average number of bytes of a value.
    pub fn average_width(&mut self, ty: Oid, typmod: i32) -> Result<i32> {
        let len = self.find_type(ty)?.map_or(-1, |t| t.typlen);
        if len > 0 {
            return Ok(i32::from(len));
        }
        Ok(match self.maximum_width(ty, typmod) {
            // All values have this width.
            Some(most) if ty == oids::BPCHAR => most,
            // A length limit is an upper bound; most strings are shorter.
            Some(most) if most > 32 => 32 + (most.min(1000) - 32) / 2,
            Some(most) => most,
            None => 32,
        })
    }

    /// The largest number of bytes of a value that a type modifier allows, header included.
    /// Counterpart: `type_maximum_size`.
    fn maximum_width(&self, ty: Oid, typmod: i32) -> Option<i32> {
        match ty {
            // Its type modifier has no header.
            oids::BIT | oids::VARBIT if typmod >= 0 => Some((typmod + 7) / 8 + 8),
            _ if typmod < HEADER => None,
            oids::BPCHAR | oids::VARCHAR => {
                let char_max = crate::encoding::bytes_max(self.session.encoding).unwrap_or(1);
                Some((typmod - HEADER).saturating_mul(char_max).saturating_add(HEADER))
            }
            oids::NUMERIC => {
                let precision = (typmod - HEADER) >> 16 & 0xFFFF;
                Some(8 + (precision + 6) / 4 * 2)
            }
            _ => None,
        }
    }

    /// The size of a table with `pages` pages: by the density that VACUUM or ANALYZE found, else by
    /// the widths of the columns.
    pub fn table_size(&mut self, desc: &RelDesc, mut pages: f64) -> Result<TableSize> {
        let class = &desc.class;
        let remembered = f64::from(class.reltuples);
        if pages < NEVER_VACUUMED_PAGES && remembered < 0.0 && class.relkind == b'r' {
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
