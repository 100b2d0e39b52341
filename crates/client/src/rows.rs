//! Result rows for the client: column descriptions, and values in text or binary format.
//!
//! Values of common types are written directly into the output buffer, others by their output or
//! send functions. Counterpart: access/common/printtup.c.

use eval::Facts;
use ids::Oid;
use pgerror::{Result, pg_err};
use plan::expr::TargetEntry;
use plan::node::Plan;
use std::sync::Arc;
use types::fn_context::FnContext;
use types::settings::TextEncoder;
use types::{Batch, DatumRef, limits, oids};
use wire::backend::{self, decimal};
use wire::{DataRow, FieldDescription, Format, Formats};

/// The encoding of a column's values.
#[derive(Clone, Copy, Debug)]
enum Writer {
    Int2,
    Int4,
    Int8,
    Oid,
    Bool,
    /// The bytes of the value are the text.
    Bytes,
    Name,
    BinaryWord(u8),
    Output,
    Send,
}

#[derive(Clone, Copy, Debug)]
struct OutColumn {
    /// Column index in the batch.
    index: usize,
    ty: Oid,
    writer: Writer,
}

/// Writes batches as DataRow messages.
#[derive(Clone, Debug, Default)]
pub struct RowWriter {
    columns: Vec<OutColumn>,
    /// An invalid format code that the client requested. The error is reported when the first row
    /// is written.
    unsupported: Option<i16>,
}

/// The result columns of a target list, all in text format.
pub fn describe(facts: &mut dyn Facts, list: &[TargetEntry]) -> Result<Vec<FieldDescription>> {
    let mut fields = Vec::new();
    for entry in list.iter().filter(|t| !t.resjunk) {
        let (ty, typmod) = (entry.expr.type_oid(), entry.expr.typmod());
        // Clients get the base type of a domain.
        let (base, base_typmod) = facts.base_type(ty)?;
        let typmod = if base == ty { typmod } else { base_typmod };
        fields.push(FieldDescription {
            name: entry.resname.clone().unwrap_or_else(|| "?column?".to_owned()),
            table: entry.resorigtbl.0,
            column: entry.resorigcol,
            type_oid: base.0,
            type_len: facts.type_info(base)?.len,
            typmod,
            format: Format::Text,
        });
    }
    Ok(fields)
}

/// The columns with the type modifiers of the plan, if they differ from those of the analysis. They
/// differ if an expression was simplified to a part of it, or a set operation was reduced to one
/// input.
pub fn as_planned(
    fields: &Arc<[FieldDescription]>,
    plan: &Plan,
) -> Option<Arc<[FieldDescription]>> {
    let list = &plan.info.target_list;
    let told = || fields.iter().zip(list.iter().filter(|t| !t.resjunk));
    let differs = |(f, t): (&FieldDescription, &TargetEntry)| {
        f.type_oid == t.expr.type_oid().0 && f.typmod != t.expr.typmod()
    };
    if !told().any(differs) {
        return None;
    }
    let typmod = |(f, t)| if differs((f, t)) { t.expr.typmod() } else { f.typmod };
    Some(told().map(|pair| FieldDescription { typmod: typmod(pair), ..pair.0.clone() }).collect())
}

/// The columns in the requested formats. Error 08P01 if their number is wrong.
pub fn with_formats(
    mut fields: Vec<FieldDescription>,
    formats: &Formats,
) -> Result<Vec<FieldDescription>> {
    check_formats(fields.len(), formats)?;
    for (i, field) in fields.iter_mut().enumerate() {
        field.format = formats.get(i);
    }
    Ok(fields)
}

pub fn check_formats(columns: usize, formats: &Formats) -> Result<()> {
    match formats.count() {
        Some(n) if n != columns => Err(pg_err!(
            PROTOCOL_VIOLATION,
            "bind message has {n} result formats but query has {columns} columns"
        )),
        _ => Ok(()),
    }
}

fn writer(ty: Oid, format: Format) -> Writer {
    match (format, ty) {
        // Not used for writing, see `RowWriter::unsupported`.
        (Format::Unknown(_), _) => Writer::Output,
        (Format::Text, oids::INT2) => Writer::Int2,
        (Format::Text, oids::INT4) => Writer::Int4,
        (Format::Text, oids::INT8) => Writer::Int8,
        (Format::Text, oids::OID) => Writer::Oid,
        (Format::Text, oids::BOOL) => Writer::Bool,
        (_, oids::TEXT | oids::VARCHAR | oids::BPCHAR | oids::UNKNOWN | oids::CSTRING) => {
            Writer::Bytes
        }
        (_, oids::NAME) => Writer::Name,
        (Format::Binary, oids::BOOL) => Writer::BinaryWord(1),
        (Format::Binary, oids::INT2) => Writer::BinaryWord(2),
        (Format::Binary, oids::INT4 | oids::OID | oids::FLOAT4) => Writer::BinaryWord(4),
        (Format::Binary, oids::INT8 | oids::FLOAT8) => Writer::BinaryWord(8),
        (Format::Text, _) => Writer::Output,
        (Format::Binary, _) => Writer::Send,
    }
}

impl RowWriter {
    pub fn new(list: &[TargetEntry], formats: &Formats) -> RowWriter {
        let kept = list.iter().enumerate().filter(|(_, t)| !t.resjunk);
        RowWriter::over(kept.map(|(index, entry)| (index, entry.expr.type_oid())), formats)
    }

    /// For rows that the server itself builds.
    pub fn for_types(types: &[Oid], formats: &Formats) -> RowWriter {
        RowWriter::over(types.iter().copied().enumerate(), formats)
    }

    /// The same columns in other formats.
    pub fn in_formats(&self, formats: &Formats) -> RowWriter {
        RowWriter::over(self.columns.iter().map(|c| (c.index, c.ty)), formats)
    }

    /// `columns` has the index in the batch and the type of each column.
    fn over(columns: impl Iterator<Item = (usize, Oid)>, formats: &Formats) -> RowWriter {
        let mut unsupported = None;
        let column = |(i, (index, ty))| {
            let format = formats.get(i);
            if let Format::Unknown(code) = format {
                unsupported.get_or_insert(code);
            }
            OutColumn { index, ty, writer: writer(ty, format) }
        };
        let columns = columns.enumerate().map(column).collect();
        RowWriter { columns, unsupported }
    }

    /// Appends row `row` of the batch. The buffer is unchanged after an error.
    pub fn write<C: FnContext>(
        &self,
        cx: &mut C,
        batch: &Batch,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if let Some(code) = self.unsupported {
            return Err(backend::unsupported_format(code));
        }
        let start = out.len();
        let mut message = DataRow::begin(out, self.columns.len());
        for column in &self.columns {
            let value = batch.get(row, column.index);
            if let Err(e) = write_value(cx, &mut message, column, value) {
                out.truncate(start);
                return Err(e);
            }
        }
        message.finish();
        match &cx.settings().client_encoder {
            None => Ok(()),
            Some(encoder) => self.encode(&**encoder, start, out),
        }
    }

    /// Converts the texts of the row that begins at `start` to the encoding of the client.
    #[cold]
    fn encode(&self, encoder: &dyn TextEncoder, start: usize, out: &mut Vec<u8>) -> Result<()> {
        let row = out.split_off(start);
        let mut message = DataRow::begin(out, self.columns.len());
        for (column, value) in self.columns.iter().zip(backend::data_row_values(&row)) {
            match value {
                None => message.null(),
                Some(value) if value.is_ascii() || !column.is_text() => message.value(value),
                Some(value) => {
                    let mut text = Vec::with_capacity(value.len());
                    if let Err(e) = encoder.encode(value, &mut text) {
                        out.truncate(start);
                        return Err(e);
                    }
                    message.value(&text);
                }
            }
        }
        message.finish();
        Ok(())
    }
}

impl OutColumn {
    /// Whether the values are texts, which are converted. Functions that write binary format
    /// convert the texts in it.
    fn is_text(&self) -> bool {
        matches!(self.writer, Writer::Bytes | Writer::Name | Writer::Output)
    }
}

fn write_value<C: FnContext>(
    cx: &mut C,
    message: &mut DataRow<'_>,
    column: &OutColumn,
    value: DatumRef<'_>,
) -> Result<()> {
    let word = match value {
        DatumRef::Null => {
            message.null();
            return Ok(());
        }
        DatumRef::Word(w) => w,
        DatumRef::Bytes(_) => 0,
    };
    let number = |message: &mut DataRow<'_>, n: i64| {
        message.value_with(|out| {
            if n < 0 {
                out.push(b'-');
            }
            decimal(out, n.unsigned_abs());
        });
    };
    match column.writer {
        Writer::Int2 => number(message, i64::from(word as i16)),
        Writer::Int4 => number(message, i64::from(word as i32)),
        Writer::Int8 => number(message, word as i64),
        Writer::Oid => number(message, i64::from(word as u32)),
        Writer::Bool => message.value(if word != 0 { b"t" } else { b"f" }),
        Writer::Bytes => put_bytes(message, value.as_bytes())?,
        Writer::Name => message.value(value.as_name()),
        Writer::BinaryWord(len) => {
            let bytes = word.to_be_bytes();
            message.value(&bytes[8 - usize::from(len)..]);
        }
        Writer::Output => put_bytes(message, &cx.type_output(column.ty, value)?)?,
        Writer::Send => put_bytes(message, &cx.type_send(column.ty, value)?)?,
    }
    Ok(())
}

/// Appends a value. Memory for a large one is reserved first.
#[inline]
fn put_bytes(message: &mut DataRow<'_>, bytes: &[u8]) -> Result<()> {
    if bytes.len() >= sync::memory::LARGE_BYTES {
        let length = message.length() + 4;
        if bytes.len() >= limits::ALLOCATION_BYTES_MAX.saturating_sub(length) {
            return Err(limits::buffer_full(length, bytes.len()));
        }
        types::memory::reserve(message.buffer(), bytes.len() + 4)?;
    }
    message.value(bytes);
    Ok(())
}
