//! The stored forms of extended statistics: `pg_ndistinct`, `pg_dependencies`, `pg_mcv_list`.
//! Counterpart: mvdistinct.c, dependencies.c, mcv.c.
//!
//! ```text
//! pg_ndistinct: magic u32, kind u32 = 1, number of items u32
//!   for each: estimate f64, number of columns i32, the columns i16
//! pg_dependencies: magic u32, kind u32 = 1, number of items u32
//!   for each: degree f64, number of columns i16, the columns i16, of which the last depends
//! pg_mcv_list: magic u32, kind u32 = 1, number of items u32, number of dimensions i16
//!   type u32 of each dimension
//!   for each dimension, 20 bytes: number of values i32, their bytes i32, their bytes when each is
//!     aligned i32, typlen i32, typbyval u8, 3 bytes of padding
//!   for each dimension: its distinct values; those of variable length have a length u32
//!   for each item: NULL flags u8, frequency f64, base frequency f64, indexes of the values u16
//! ```
//!
//! All numbers are little-endian and not aligned. Columns with negative numbers are expressions.

use ids::{AttrNo, Oid};
use pgerror::{PgError, Result, pg_err};
use values::array::payload::read_fixed;
use values::datum::{Datum, DatumRef};
use values::fn_context::TypeInfo;

const NDISTINCT: u32 = 0xA352_BFA4;
const DEPENDENCIES: u32 = 0xB454_9A2C;
const MCV_LIST: u32 = 0xE1A6_51C2;
const KIND: u32 = 1;

/// Most items of a list.
const ITEMS_MAX: usize = 10_000;
/// Most columns of a statistics object.
const COLUMNS_MAX: usize = 8;

fn damaged() -> PgError {
    pg_err!(DATA_CORRUPTED, "stored extended statistics are damaged")
}

/// A number for a set of columns: of distinct combinations, or the degree of a dependency.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnsValue {
    pub value: f64,
    /// Of a dependency, the last column depends on the others.
    pub columns: Vec<AttrNo>,
}

/// An item of a list of most common combinations of values.
#[derive(Clone, Debug, PartialEq)]
pub struct McvItem {
    /// One for each dimension.
    pub values: Vec<Datum>,
    pub frequency: f64,
    /// The frequency if the columns were independent.
    pub base_frequency: f64,
}

/// The most common combinations of values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McvList {
    /// The types of the dimensions.
    pub types: Vec<Oid>,
    pub items: Vec<McvItem>,
}

/// Reads numbers from a payload.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(n).ok_or_else(damaged)?;
        self.rest = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk().ok_or_else(damaged)?;
        self.rest = rest;
        Ok(*head)
    }

    fn word(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn short(&mut self) -> Result<i16> {
        Ok(i16::from_le_bytes(self.array()?))
    }

    fn double(&mut self) -> Result<f64> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    /// The number of items after the magic number and the kind.
    fn begin(&mut self, magic: u32) -> Result<usize> {
        if self.word()? != magic || self.word()? != KIND {
            return Err(pg_err!(DATA_CORRUPTED, "invalid extended statistics"));
        }
        Ok(self.word()? as usize)
    }
}

fn header(magic: u32, items: usize) -> Vec<u8> {
    [magic, KIND, items as u32].iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn read_items(payload: &[u8], dependencies: bool) -> Result<Vec<ColumnsValue>> {
    let mut r = Reader { rest: payload };
    let magic = if dependencies { DEPENDENCIES } else { NDISTINCT };
    let mut out = Vec::new();
    for _ in 0..r.begin(magic)? {
        let value = r.double()?;
        let count = if dependencies { i32::from(r.short()?) } else { r.word()? as i32 };
        let columns = (0..count).map(|_| r.short()).collect::<Result<Vec<i16>>>()?;
        if columns.len() < 2 {
            return Err(damaged());
        }
        out.push(ColumnsValue { value, columns });
    }
    Ok(out)
}

/// Reads `pg_ndistinct`.
pub fn read_ndistinct(payload: &[u8]) -> Result<Vec<ColumnsValue>> {
    read_items(payload, false)
}

/// Reads `pg_dependencies`.
pub fn read_dependencies(payload: &[u8]) -> Result<Vec<ColumnsValue>> {
    read_items(payload, true)
}

fn write_items(items: &[ColumnsValue], dependencies: bool) -> Vec<u8> {
    let mut out = header(if dependencies { DEPENDENCIES } else { NDISTINCT }, items.len());
    for item in items {
        out.extend(item.value.to_le_bytes());
        match dependencies {
            true => out.extend((item.columns.len() as i16).to_le_bytes()),
            false => out.extend((item.columns.len() as i32).to_le_bytes()),
        }
        item.columns.iter().for_each(|c| out.extend(c.to_le_bytes()));
    }
    out
}

/// The stored form of `pg_ndistinct`.
pub fn write_ndistinct(items: &[ColumnsValue]) -> Vec<u8> {
    write_items(items, false)
}

/// The stored form of `pg_dependencies`.
pub fn write_dependencies(items: &[ColumnsValue]) -> Vec<u8> {
    write_items(items, true)
}

/// The text of `pg_ndistinct`.
pub(crate) fn ndistinct_text(payload: &[u8]) -> Result<String> {
    let items = read_ndistinct(payload)?;
    let item = |i: &ColumnsValue| format!("\"{}\": {}", list(&i.columns), i.value as i32);
    Ok(format!("{{{}}}", items.iter().map(item).collect::<Vec<_>>().join(", ")))
}

/// The text of `pg_dependencies`.
pub(crate) fn dependencies_text(payload: &[u8]) -> Result<String> {
    let items = read_dependencies(payload)?;
    let item = |i: &ColumnsValue| {
        let (last, others) = i.columns.split_last().unwrap_or((&0, &[]));
        format!("\"{} => {last}\": {:.6}", list(others), i.value)
    };
    Ok(format!("{{{}}}", items.iter().map(item).collect::<Vec<_>>().join(", ")))
}

fn list(columns: &[AttrNo]) -> String {
    columns.iter().map(AttrNo::to_string).collect::<Vec<_>>().join(", ")
}

/// The bytes of a value of a type with a fixed length.
fn fixed_bytes(value: &Datum, info: &TypeInfo) -> Vec<u8> {
    let len = usize::from(info.len.unsigned_abs());
    let mut out = match value.as_ref() {
        DatumRef::Word(w) => w.to_le_bytes().to_vec(),
        other => other.as_bytes().to_vec(),
    };
    // Names are held without their padding.
    out.resize(len, 0);
    out
}

/// A dimension of a list that is written: its type, and its distinct values in order.
pub struct McvDimension {
    pub type_oid: Oid,
    pub info: TypeInfo,
    pub values: Vec<Datum>,
}

/// The stored form of `pg_mcv_list`. For each item: the indexes of its values in the dimensions,
/// `None` for NULL, then its frequencies.
pub fn write_mcv_list(
    dimensions: &[McvDimension],
    items: &[(Vec<Option<u16>>, f64, f64)],
) -> Vec<u8> {
    let aligned = |n: usize| n.next_multiple_of(8);
    let mut out = header(MCV_LIST, items.len());
    out.extend((dimensions.len() as i16).to_le_bytes());
    dimensions.iter().for_each(|d| out.extend(d.type_oid.0.to_le_bytes()));
    let mut values = Vec::new();
    for d in dimensions {
        let before = values.len();
        let mut aligned_bytes = 0;
        for value in &d.values {
            if d.info.len > 0 {
                values.extend(fixed_bytes(value, &d.info));
                let len = usize::from(d.info.len.unsigned_abs());
                aligned_bytes += if d.info.by_val { 0 } else { aligned(len) };
                continue;
            }
            let bytes = value.as_ref().as_bytes();
            // The length of a C string includes its end.
            let end = usize::from(d.info.len == -2);
            values.extend(((bytes.len() + end) as u32).to_le_bytes());
            values.extend(bytes);
            values.resize(values.len() + end, 0);
            aligned_bytes += match end {
                0 => aligned(4 + bytes.len()),
                _ => aligned(bytes.len() + end),
            };
        }
        let bytes = values.len() - before;
        let numbers = [d.values.len(), bytes, aligned_bytes];
        numbers.iter().for_each(|n| out.extend((*n as i32).to_le_bytes()));
        out.extend(i32::from(d.info.len).to_le_bytes());
        out.extend([u8::from(d.info.by_val), 0, 0, 0]);
    }
    out.extend(values);
    for (indexes, frequency, base_frequency) in items {
        out.extend(indexes.iter().map(|i| u8::from(i.is_none())));
        out.extend(frequency.to_le_bytes());
        out.extend(base_frequency.to_le_bytes());
        indexes.iter().for_each(|i| out.extend(i.unwrap_or(0).to_le_bytes()));
    }
    out
}

/// Reads `pg_mcv_list`. `type_info` looks up types.
pub fn read_mcv_list(
    payload: &[u8],
    type_info: &mut dyn FnMut(Oid) -> Result<TypeInfo>,
) -> Result<McvList> {
    let mut r = Reader { rest: payload };
    let items = r.begin(MCV_LIST)?;
    let width = usize::try_from(r.short()?).map_err(|_| damaged())?;
    if width > COLUMNS_MAX || items > ITEMS_MAX {
        return Err(damaged());
    }
    let types = (0..width).map(|_| r.word().map(Oid)).collect::<Result<Vec<_>>>()?;
    let mut dimensions = Vec::with_capacity(width);
    for &ty in &types {
        let (count, _, _) = (r.word()? as usize, r.word()?, r.word()?);
        let len = r.word()? as i32;
        let by_val = r.array::<4>()?[0] != 0;
        let info = type_info(ty)?;
        if i32::from(info.len) != len || info.by_val != by_val || count > ITEMS_MAX {
            return Err(damaged());
        }
        dimensions.push((count, info));
    }
    let mut values: Vec<Vec<Datum>> = Vec::with_capacity(width);
    for (count, info) in &dimensions {
        values.push((0..*count).map(|_| read_value(&mut r, info)).collect::<Result<_>>()?);
    }
    let mut list = McvList { types, items: Vec::with_capacity(items) };
    for _ in 0..items {
        let nulls = r.take(width)?;
        let (frequency, base_frequency) = (r.double()?, r.double()?);
        let mut row = Vec::with_capacity(width);
        for (null, values) in nulls.iter().zip(&values) {
            let index = usize::from(r.short()? as u16);
            row.push(match null {
                0 => values.get(index).cloned().ok_or_else(damaged)?,
                _ => Datum::Null,
            });
        }
        list.items.push(McvItem { values: row, frequency, base_frequency });
    }
    Ok(list)
}

fn read_value(r: &mut Reader<'_>, info: &TypeInfo) -> Result<Datum> {
    if let Ok(len) = usize::try_from(info.len) {
        let mut bytes = r.take(len)?;
        if info.oid == ids::builtin::ty::NAME {
            let end = bytes.iter().position(|b| *b == 0).unwrap_or(len);
            bytes = &bytes[..end];
        }
        return Ok(read_fixed(info, bytes).to_owned());
    }
    let len = r.word()? as usize;
    let bytes = r.take(len)?;
    // The length of a C string includes its end.
    let end = usize::from(info.len == -2).min(len);
    Ok(Datum::bytes(&bytes[..len - end]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use values::oids;

    /// As PostgreSQL writes it for a table of (1, 'a') twice and (NULL, 'b') once.
    #[test]
    fn lists_are_read_as_written() {
        let info = |ty| values::builtin_types::get(ty).unwrap().info;
        let read = |stored: &[u8]| read_mcv_list(stored, &mut |ty| Ok(info(ty)));
        let dimensions = [
            McvDimension {
                type_oid: oids::INT4,
                info: info(oids::INT4),
                values: vec![Datum::int4(-1)],
            },
            McvDimension {
                type_oid: oids::TEXT,
                info: info(oids::TEXT),
                values: vec![Datum::text("a"), Datum::text("b")],
            },
        ];
        let items = [(vec![Some(0), Some(0)], 0.75, 0.5), (vec![None, Some(1)], 0.25, 0.125)];
        let stored = write_mcv_list(&dimensions, &items);
        assert_eq!(stored.len(), 14 + 8 + 40 + 4 + 10 + 2 * (2 + 16 + 4));
        let list = read(&stored).unwrap();
        assert_eq!(list.types, [oids::INT4, oids::TEXT]);
        assert_eq!(list.items[0].values, [Datum::int4(-1), Datum::text("a")]);
        assert_eq!(list.items[1].values, [Datum::Null, Datum::text("b")]);
        assert_eq!((list.items[1].frequency, list.items[1].base_frequency), (0.25, 0.125));
        for end in 0..stored.len() {
            assert!(read(&stored[..end]).is_err());
        }
    }

    #[test]
    fn numbers_of_columns_are_read_as_written() {
        let items = vec![
            ColumnsValue { value: 11.0, columns: vec![1, 2] },
            ColumnsValue { value: 0.5, columns: vec![-1, 1, 3] },
        ];
        assert_eq!(read_ndistinct(&write_ndistinct(&items)).unwrap(), items);
        let stored = write_dependencies(&items);
        assert_eq!(read_dependencies(&stored).unwrap(), items);
        let text = "{\"1 => 2\": 11.000000, \"-1, 1 => 3\": 0.500000}";
        assert_eq!(dependencies_text(&stored).unwrap(), text);
        assert!(read_ndistinct(&stored).is_err());
    }
}
