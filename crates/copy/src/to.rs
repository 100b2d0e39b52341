//! COPY TO: formats rows as text, CSV or binary.
//!
//! Counterpart: copyto.c.

use crate::program::Program;
use crate::progress::Progress;
use crate::{Format, Header, check_has_rows, check_privileges, columns_of, data_encoding, forced};
use analyze::{Params, SessionLookup};
use catalog::acl;
use catalog::conversion::Conversion;
use engine::table::{ScanOptions, TableScan};
use executor::spi::QuerySnapshot;
use ids::{Oid, RelKind};
use parse::ast::{CopyStmt, Node};
use pgerror::{Result, bail, pg_err};
use plan::query::CmdType;
use std::io::Write;
use std::sync::Arc;
use types::limits::TextBuffer;
use types::pieces::PIECE_BYTES;
use types::{BATCH_ROWS_MAX, Batch, DatumRef, oids};
use utility::host::CommandHost;
use utility::{names, query};
use vfs::OpenMode;
use vfs::program::PipeEnd;

enum Target {
    Client,
    File { file: Arc<dyn vfs::File>, at: u64, path: String, pending: Vec<u8> },
    Program { program: Program, pending: Vec<u8> },
}

/// Bytes that are collected before they are written to a file or a pipe.
const FILE_PENDING_BYTES: usize = 65_536;
const PIPE_PENDING_BYTES: usize = 4096;

impl Target {
    fn open(
        host: &mut dyn CommandHost,
        stmt: &CopyStmt,
        (binary, columns): (bool, usize),
    ) -> Result<Target> {
        let Some(path) = &stmt.filename else {
            host.transport()?.begin_out(binary, columns)?;
            return Ok(Target::Client);
        };
        if stmt.is_program {
            let program = Program::start(host, path, PipeEnd::Input)?;
            return Ok(Target::Program { program, pending: Vec::new() });
        }
        if !path.starts_with('/') {
            bail!(INVALID_NAME, "relative path not allowed for COPY to file");
        }
        let disk = host.backend().storage().env.disk.clone();
        let file = disk.open(path, OpenMode::Truncate).map_err(|e| {
            vfs::io_error_with(&format!("could not open file \"{path}\" for writing"), &e).hint(
                "COPY TO instructs the PostgreSQL server process to write a file. You may want a \
                 client-side facility such as psql's \\copy.",
            )
        })?;
        Ok(Target::File { file, at: 0, path: path.to_string(), pending: Vec::new() })
    }

    fn row(&mut self, host: &mut dyn CommandHost, row: &[u8]) -> Result<()> {
        match self {
            Target::Client => host.transport()?.write(row),
            Target::File { pending, .. } => {
                pending.extend_from_slice(row);
                if pending.len() >= FILE_PENDING_BYTES { self.flush(host) } else { Ok(()) }
            }
            Target::Program { pending, .. } => {
                pending.extend_from_slice(row);
                if pending.len() >= PIPE_PENDING_BYTES { self.flush(host) } else { Ok(()) }
            }
        }
    }

    fn flush(&mut self, host: &mut dyn CommandHost) -> Result<()> {
        match self {
            Target::Client => return Ok(()),
            Target::File { file, at, path, pending } => {
                file.write_all_at(pending, *at)
                    .map_err(|e| vfs::io_error("write to COPY file", path, &e))?;
                *at += pending.len() as u64;
                pending.clear();
            }
            Target::Program { program, pending } => {
                program.write(host, pending)?;
                pending.clear();
            }
        }
        Ok(())
    }

    fn end(&mut self, host: &mut dyn CommandHost) -> Result<()> {
        match self {
            Target::Client => host.transport()?.end_out(),
            Target::File { .. } => self.flush(host),
            Target::Program { program, pending } => program.finish_writing(host, pending),
        }
    }
}

pub(crate) fn copy_to(host: &mut dyn CommandHost, stmt: &CopyStmt, sql: &str) -> Result<u64> {
    let format = || crate::format(&stmt.options, false, sql);
    if let Some(node) = &stmt.query {
        let format = &format()?;
        if matches!(node, Node::SelectStmt(s) if query::has_into(s)) {
            bail!(FEATURE_NOT_SUPPORTED, "COPY (SELECT INTO) is not supported");
        }
        if matches!(node, Node::MergeStmt(_)) {
            bail!(FEATURE_NOT_SUPPORTED, "MERGE not supported in COPY");
        }
        let mut cat = SessionLookup::new(host);
        let query = analyze::ddl::inner_query(&mut cat, node, sql, Params::Fixed(Vec::new()))?;
        if query.command_type != CmdType::Select && query.returning_list.is_empty() {
            bail!(FEATURE_NOT_SUPPORTED, "COPY query must have a RETURNING clause");
        }
        let list = if query.returning_list.is_empty() {
            &query.target_list
        } else {
            &query.returning_list
        };
        let shown: Vec<_> = list.iter().filter(|t| !t.resjunk).collect();
        let names: Vec<String> =
            shown.iter().map(|t| t.resname.clone().unwrap_or_default()).collect();
        let types = shown.iter().map(|t| t.expr.type_oid()).collect();
        let missing = format.force_quote.iter().find(|name| !names.contains(name));
        if let Some(name) = missing {
            bail!(UNDEFINED_COLUMN, "column \"{name}\" does not exist");
        }
        // Errors in the query are reported before the client expects rows and before a file is
        // truncated.
        let plan = query::plan(host, &query)?;
        let progress = Progress::begin(host, stmt, Oid::INVALID);
        let rows = query::of_plan(&plan, QuerySnapshot::New).open(host)?;
        let mut out = Writer::begin(host, stmt, format, (names, types), progress)?;
        rows.finish(host, &mut |host, batch, columns| out.batch(host, batch, columns))?;
        return out.end(host);
    }
    let Some(rv) = &stmt.relation else { bail!(SYNTAX_ERROR, "COPY TO needs a table or a query") };
    let rel = names::open(host, rv, names::mode::ACCESS_SHARE)?;
    check_has_rows(&rel)?;
    let columns = columns_of(&rel, &stmt.attlist)?;
    check_privileges(host, &rel, &columns, acl::SELECT)?;
    let (name, variant) = (rel.name(), "Try the COPY (SELECT ...) TO variant.");
    match rel.kind() {
        RelKind::Table => {}
        RelKind::View => {
            return Err(
                pg_err!(WRONG_OBJECT_TYPE, "cannot copy from view \"{name}\"").hint(variant)
            );
        }
        RelKind::MaterializedView => {
            let e = pg_err!(WRONG_OBJECT_TYPE, "cannot copy from materialized view \"{name}\"");
            return Err(e.hint(variant));
        }
        RelKind::ForeignTable => {
            let e = pg_err!(WRONG_OBJECT_TYPE, "cannot copy from foreign table \"{name}\"");
            return Err(e.hint(variant));
        }
        RelKind::PartitionedTable => {
            let e = pg_err!(WRONG_OBJECT_TYPE, "cannot copy from partitioned table \"{name}\"");
            return Err(e.hint(variant));
        }
        RelKind::Sequence => bail!(WRONG_OBJECT_TYPE, "cannot copy from sequence \"{name}\""),
        _ => bail!(WRONG_OBJECT_TYPE, "cannot copy from non-table relation \"{name}\""),
    }
    let format = &format()?;
    forced(&rel, &format.force_quote, &columns, "FORCE_QUOTE")?;
    let attributes: Vec<_> = columns.iter().filter_map(|c| rel.attribute(*c)).collect();
    let names = attributes.iter().map(|a| a.attname.to_string()).collect();
    let types = attributes.iter().map(|a| a.atttypid).collect();
    let table = rel.rows()?.clone();
    let progress = Progress::begin(host, stmt, rel.oid());
    let mut out = Writer::begin(host, stmt, format, (names, types), progress)?;
    let depth = host.backend().snapshot_depth();
    let snapshot = host.backend().snapshot();
    host.backend().push_snapshot(snapshot.clone());
    let scan = || -> Result<()> {
        let options = ScanOptions::default();
        let mut scan = TableScan::new(host.backend(), &table, snapshot, &columns, options)?;
        let mut batch = engine::table::new_batch(&table, &columns);
        let all: Vec<usize> = (0..columns.len()).collect();
        while scan.next_batch(host.backend(), &mut batch, BATCH_ROWS_MAX)? {
            out.batch(host, &batch, &all)?;
            batch.clear();
        }
        Ok(())
    };
    let result = scan();
    host.backend().truncate_snapshots(depth);
    result?;
    out.end(host)
}

struct Writer<'a> {
    format: &'a Format,
    types: Vec<Oid>,
    force: Vec<bool>,
    target: Target,
    progress: Progress,
    /// `None` if the data is in the database's encoding.
    conversion: Option<Conversion>,
    /// Memory for a converted row.
    converted: Vec<u8>,
    row: TextBuffer,
    count: u64,
}

impl<'a> Writer<'a> {
    fn begin(
        host: &mut dyn CommandHost,
        stmt: &CopyStmt,
        format: &'a Format,
        (names, types): (Vec<String>, Vec<Oid>),
        progress: Progress,
    ) -> Result<Writer<'a>> {
        let force = names.iter().map(|n| format.force_quote_all || format.force_quote.contains(n));
        let force = force.collect();
        let database = host.catalog().session.encoding;
        let conversion = match format.binary {
            true => None,
            false => {
                let encoding = data_encoding(host, format);
                host.catalog().conversion(database, encoding)?
            }
        };
        let target = Target::open(host, stmt, (format.binary, types.len()))?;
        let mut out = Writer {
            format,
            types,
            force,
            target,
            progress,
            conversion,
            converted: Vec::new(),
            row: TextBuffer::new(),
            count: 0,
        };
        if format.binary {
            // The header is sent with the first row: clients treat each CopyData message as a row.
            out.row = TextBuffer::from(crate::binary::header().as_slice());
        }
        if format.header == Header::Yes {
            for (i, name) in names.iter().enumerate() {
                out.separator(i);
                out.push_field(host, name.as_bytes(), (false, names.len() == 1))?;
            }
            out.row.push(b'\n');
            out.row.check()?;
            out.send(host)?;
            out.row.clear();
        }
        Ok(out)
    }

    /// Sends the row in the encoding of the data.
    fn send(&mut self, host: &mut dyn CommandHost) -> Result<()> {
        let Some(conversion) = &self.conversion else {
            self.progress.add_bytes(self.row.as_slice().len());
            return self.target.row(host, self.row.as_slice());
        };
        self.converted.clear();
        conversion.append(self.row.as_slice(), &mut self.converted)?;
        self.progress.add_bytes(self.converted.len());
        self.target.row(host, &self.converted)
    }

    fn separator(&mut self, i: usize) {
        if i > 0 {
            self.row.push(self.format.delimiter);
        }
    }

    /// Appends a field, quoted and escaped as the format requires. `single`: it is the only one.
    fn push_field(
        &mut self,
        host: &mut dyn CommandHost,
        field: &[u8],
        (force, single): (bool, bool),
    ) -> Result<()> {
        let f = self.format;
        let quote = f.csv
            && (force
                || field == f.null
                || single && field == b"\\."
                || has_special(host, field, f)?);
        if quote {
            self.row.push(f.quote);
        }
        let mut rest = field;
        loop {
            let (piece, more) = rest.split_at(rest.len().min(PIECE_BYTES));
            match (f.csv, quote) {
                (false, _) => text_field(piece, f.delimiter, &mut self.row),
                (true, true) => quoted_field(piece, f.quote, f.escape, &mut self.row),
                (true, false) => self.row.extend_from_slice(piece),
            }
            if more.is_empty() {
                break;
            }
            self.row.check()?;
            host.backend().check_interrupts()?;
            rest = more;
        }
        if quote {
            self.row.push(f.quote);
        }
        Ok(())
    }

    fn batch(
        &mut self,
        host: &mut dyn CommandHost,
        batch: &Batch,
        columns: &[usize],
    ) -> Result<()> {
        if self.format.binary {
            return self.binary_batch(host, batch, columns);
        }
        let mut digits = [0; INTEGER_DIGITS_MAX];
        for r in 0..batch.len {
            self.row.clear();
            for (i, &c) in columns.iter().enumerate() {
                self.separator(i);
                let quoting = (self.force[i], columns.len() == 1);
                match (batch.get(r, c), self.types[i]) {
                    (DatumRef::Null, _) => {
                        self.row.extend_from_slice(&self.format.null);
                        continue;
                    }
                    (v, oids::TEXT | oids::VARCHAR | oids::BPCHAR) => {
                        self.push_field(host, v.as_bytes(), quoting)?;
                    }
                    (v, oids::INT4) => {
                        let text = decimal(v.as_i32().into(), &mut digits);
                        self.push_field(host, text, quoting)?;
                    }
                    (v, oids::INT8) => {
                        let text = decimal(v.as_i64(), &mut digits);
                        self.push_field(host, text, quoting)?;
                    }
                    (v, ty) => {
                        let text = host.functions().type_output(ty, v)?;
                        self.push_field(host, &text, quoting)?;
                    }
                }
                self.row.check()?;
            }
            self.row.push(b'\n');
            self.row.check()?;
            self.send(host)?;
            self.count += 1;
        }
        self.progress.set_rows(self.count);
        host.backend().check_interrupts()
    }

    fn binary_batch(
        &mut self,
        host: &mut dyn CommandHost,
        batch: &Batch,
        columns: &[usize],
    ) -> Result<()> {
        for r in 0..batch.len {
            self.row.extend_from_slice(&(columns.len() as i16).to_be_bytes());
            for (i, &c) in columns.iter().enumerate() {
                match batch.get(r, c) {
                    DatumRef::Null => self.row.extend_from_slice(&(-1i32).to_be_bytes()),
                    v => {
                        let bytes = host.functions().type_send(self.types[i], v)?;
                        self.row.extend_from_slice(&(bytes.len() as i32).to_be_bytes());
                        self.row.extend_from_slice(&bytes);
                        self.row.check()?;
                    }
                }
            }
            self.progress.add_bytes(self.row.as_slice().len());
            self.target.row(host, self.row.as_slice())?;
            self.row.clear();
            self.count += 1;
        }
        self.progress.set_rows(self.count);
        host.backend().check_interrupts()
    }

    fn end(mut self, host: &mut dyn CommandHost) -> Result<u64> {
        if self.format.binary {
            self.row.extend_from_slice(&(-1i16).to_be_bytes());
            self.target.row(host, self.row.as_slice())?;
        }
        self.target.end(host)?;
        Ok(self.count)
    }
}

/// Length of the longest bigint.
const INTEGER_DIGITS_MAX: usize = 20;

fn decimal(value: i64, buffer: &mut [u8; INTEGER_DIGITS_MAX]) -> &[u8] {
    let mut free = &mut buffer[..];
    write!(free, "{value}").expect("the buffer is long enough");
    let used = INTEGER_DIGITS_MAX - free.len();
    &buffer[..used]
}

/// Counterpart: `CopyAttributeOutText`.
fn text_field(field: &[u8], delimiter: u8, out: &mut TextBuffer) {
    // Bytes from here on are not yet in `out`.
    let mut start = 0;
    for (at, &b) in field.iter().enumerate() {
        let letter = match b {
            8 => b'b',
            12 => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            11 => b'v',
            b'\\' => b,
            b if b == delimiter => b,
            _ => continue,
        };
        out.extend_from_slice(&field[start..at]);
        out.push(b'\\');
        out.push(letter);
        start = at + 1;
    }
    out.extend_from_slice(&field[start..]);
}

/// Whether the field contains a byte for which CSV requires quotes.
fn has_special(host: &mut dyn CommandHost, field: &[u8], format: &Format) -> Result<bool> {
    let special =
        |b: &u8| matches!(*b, b'\n' | b'\r') || [format.delimiter, format.quote].contains(b);
    for (i, piece) in field.chunks(PIECE_BYTES).enumerate() {
        if i > 0 {
            host.backend().check_interrupts()?;
        }
        if piece.iter().any(special) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The bytes of a field between its quotes. Counterpart: `CopyAttributeOutCSV`.
fn quoted_field(field: &[u8], quote: u8, escape: u8, out: &mut TextBuffer) {
    let mut start = 0;
    for (at, &b) in field.iter().enumerate() {
        if b == quote || b == escape {
            out.extend_from_slice(&field[start..at]);
            out.push(escape);
            start = at;
        }
    }
    out.extend_from_slice(&field[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_fields_are_escaped() {
        let mut out = TextBuffer::new();
        text_field(b"a\tb\\c\n|", b'|', &mut out);
        assert_eq!(out.as_slice(), b"a\\tb\\\\c\\n\\|");
    }

    #[test]
    fn quoted_fields_are_escaped() {
        let mut out = TextBuffer::new();
        quoted_field(b"\"a\"\"b#", b'"', b'#', &mut out);
        assert_eq!(out.as_slice(), b"#\"a#\"#\"b##");
    }

    #[test]
    fn integers_of_all_lengths_are_written() {
        for value in [0, -1, i64::MIN, i64::MAX] {
            let mut digits = [0; INTEGER_DIGITS_MAX];
            assert_eq!(decimal(value, &mut digits), value.to_string().as_bytes());
        }
    }
}
