//! COPY FROM: parses input rows and inserts them.
//!
//! Counterpart: copyfrom.c, copyfromparse.c.

use crate::fields::Fields;
use crate::input::{Input, check_encoding, small_int};
use crate::lines::Lines;
use crate::partitions::Partitions;
use crate::progress::Progress;
use crate::source::Source;
use crate::{Format, Header, check_has_rows, check_privileges, columns_of, data_encoding, forced};
use analyze::{ExprKind, SessionLookup};
use catalog::conversion::Conversion;
use catalog::rows::PgTrigger;
use catalog::{RelDesc, acl};
use engine::table::InsertOptions;
use eval::{EvalState, Facts, Program, RowInput, RowRef, Volatility};
use executor::{
    BeforeRowResult, BulkWriter, Change, ProposedChange, Refs, Timing, trigger, with_computed,
};
use ids::builtin::proc::NEXTVAL_OID;
use ids::code::{ColumnGenerated, TypType};
use ids::{AttrNo, Oid, Persistence, RelKind};
use parse::ast::CopyStmt;
use pgerror::{PgError, Result, bail, pg_err};
use plan::Expr;
use std::sync::Arc;
use types::{Batch, Datum, DatumRef, oids};
use utility::host::{CommandHost, Writing};
use utility::{columns, exprs, names};

/// True if a default calls a volatile function other than nextval, which may read rows that were
/// written before. Counterpart: `contain_volatile_functions_not_nextval`.
fn reads_changes(expr: &Expr, facts: &mut dyn Facts) -> Result<bool> {
    let mut result = Ok(false);
    plan::walk::any(expr, &mut |e| {
        let harmless = matches!(e, Expr::NextValue(_))
            || matches!(e, Expr::FuncExpr(f) if f.funcid == NEXTVAL_OID);
        if !harmless {
            result = eval::own_volatility(e, facts).map(|v| v == Volatility::Volatile);
        }
        !matches!(result, Ok(false))
    });
    result
}

/// Maximum number of rows and input bytes that are buffered before a write.
const ROWS_MAX: usize = 1000;
const BYTES_MAX: usize = 65_535;

/// The value of a column that is not in the data.
enum Default {
    Null,
    Value(Datum),
    Program(Program),
}

struct Column {
    name: String,
    number: AttrNo,
    ty: Oid,
    typmod: i32,
    input: Input,
    /// Coerces NULL to the column's domain.
    null_test: Option<Program>,
    not_null: bool,
    force_not_null: bool,
    force_null: bool,
    /// Its fields are ignored, and its values are NULL.
    ignored: bool,
}

/// An error if WHERE uses generated columns, because it is evaluated before they are computed.
fn not_of_generated(rel: &RelDesc, condition: &Expr) -> Result<()> {
    let mut used = None;
    let mut system = false;
    plan::walk::any(condition, &mut |e| {
        let Expr::Var(v) = e else { return false };
        system |= v.varattno < 0 && v.varattno != engine::table::system::TABLEOID;
        let mut columns = rel
            .attributes
            .iter()
            .filter(|a| a.attgenerated != ColumnGenerated::No && !a.attisdropped);
        used = columns.find(|a| v.varattno == 0 || v.varattno == a.attnum);
        used.is_some()
    });
    match used {
        None if system => {
            bail!(FEATURE_NOT_SUPPORTED, "cannot retrieve a system column in this context")
        }
        None => Ok(()),
        Some(a) => Err(pg_err!(
            INVALID_COLUMN_REFERENCE,
            "generated columns are not supported in COPY FROM WHERE conditions"
        )
        .detail(format!("Column \"{}\" is a generated column.", a.attname))),
    }
}

/// The columns that are copied, and those of them that options name.
struct CopiedColumns<'a> {
    numbers: &'a [AttrNo],
    force_not_null: Vec<AttrNo>,
    force_null: Vec<AttrNo>,
    /// The only columns whose fields are converted to values; `None`: all.
    selected: Option<Vec<AttrNo>>,
}

/// Current position in the input, for error context.
#[derive(Default)]
struct InputPosition {
    column: Option<usize>,
    /// The line that is being parsed; `None` while rows are written.
    line: Option<(usize, usize)>,
}

pub(crate) fn copy_from(host: &mut dyn CommandHost, stmt: &CopyStmt, sql: &str) -> Result<u64> {
    let Some(rv) = &stmt.relation else { bail!(SYNTAX_ERROR, "COPY FROM needs a table") };
    let rel = names::open(host, rv, names::mode::ROW_EXCLUSIVE)?;
    check_has_rows(&rel)?;
    let columns = columns_of(&rel, &stmt.attlist)?;
    check_privileges(host, &rel, &columns, acl::INSERT)?;
    if host.read_only() && rel.class.relpersistence != Persistence::Temporary {
        bail!(READ_ONLY_SQL_TRANSACTION, "cannot execute COPY FROM in a read-only transaction");
    }
    match rel.kind() {
        RelKind::Table | RelKind::PartitionedTable => {
            host.catalog().check_new_rows(&rel)?;
        }
        RelKind::ForeignTable => {
            return Err(PgError::unsupported(format!("foreign table \"{}\"", rel.name())));
        }
        _ => {}
    }
    let mut volatile = false;
    let condition = match &stmt.where_clause {
        None => None,
        Some(node) => {
            let mut cat = SessionLookup::new(host);
            let kind = ExprKind::CopyWhere;
            let e = analyze::ddl::condition(&mut cat, &rel, node, sql, kind)?;
            not_of_generated(&rel, &e)?;
            volatile = eval::volatility(&e, host.facts())? == Volatility::Volatile;
            Some(exprs::compile_quals_over(host, &rel, plan::walk::conjuncts(e))?)
        }
    };
    let format = &crate::format(&stmt.options, true, sql)?;
    let copied = CopiedColumns {
        numbers: &columns,
        force_not_null: forced(&rel, &format.force_not_null, &columns, "FORCE_NOT_NULL")?,
        force_null: forced(&rel, &format.force_null, &columns, "FORCE_NULL")?,
        selected: match &format.convert_selectively {
            Some(list) => Some(forced(&rel, list, &columns, "selected")?),
            None => None,
        },
    };
    let depth = host.backend().snapshot_depth();
    let snapshot = host.backend().snapshot();
    host.backend().push_snapshot(snapshot);
    let conversion = conversion(host, format)?;
    let progress = Progress::begin(host, stmt, rel.oid());
    let shape = (format.binary, columns.len());
    let source = Source::open(host, stmt, shape, conversion, progress)?;
    // These errors are raised after CopyInResponse was sent, as in PostgreSQL.
    check_kind(&rel)?;
    let options = insert_options(host, &rel, format)?;
    let mut reader =
        Reader::new(host, &rel, &copied, format, options, source, condition.is_some())?;
    reader.singly |= volatile;
    let table = reader.writer.rows.rel.clone();
    host.services().statement_event(&table, Change::Insert, Timing::Before, &[])?;
    let result = reader.run(host, condition.as_ref());
    if result.is_ok() {
        host.services().statement_event(&table, Change::Insert, Timing::After, &[])?;
    }
    let result = match result {
        Ok(n) => {
            let written = match reader.partitions {
                Some(partitions) => partitions.finish(host),
                None => reader.writer.finish(&mut Writing(host)),
            };
            written
                .and_then(|()| reader.source.finish(host))
                .and_then(|()| ::trigger::after_statement(host.trigger_host()))
                .map(|()| n)
        }
        Err(e) => Err(reader.with_context(e)),
    };
    host.backend().truncate_snapshots(depth);
    result
}

/// The conversion from the encoding of the data to that of the database.
fn conversion(host: &mut dyn CommandHost, format: &Format) -> Result<Option<Conversion>> {
    let database = host.catalog().session.encoding;
    match format.binary {
        true => Ok(None),
        false => {
            let encoding = data_encoding(host, format);
            host.catalog().conversion(encoding, database)
        }
    }
}

fn is_instead_of_insert(t: &PgTrigger) -> bool {
    let all = trigger::kind::INSTEAD | trigger::kind::ROW | trigger::kind::INSERT;
    t.tgtype & all == all
}

/// Error 42809 unless the relation is a table, or a view with an INSTEAD OF trigger for INSERT.
fn check_kind(rel: &RelDesc) -> Result<()> {
    match rel.kind() {
        RelKind::Table | RelKind::PartitionedTable => Ok(()),
        RelKind::View if rel.triggers.iter().any(is_instead_of_insert) => Ok(()),
        RelKind::View => Err(pg_err!(WRONG_OBJECT_TYPE, "cannot copy to view \"{}\"", rel.name())
            .hint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.")),
        RelKind::MaterializedView => {
            bail!(WRONG_OBJECT_TYPE, "cannot copy to materialized view \"{}\"", rel.name())
        }
        RelKind::Sequence => bail!(WRONG_OBJECT_TYPE, "cannot copy to sequence \"{}\"", rel.name()),
        _ => bail!(WRONG_OBJECT_TYPE, "cannot copy to non-table relation \"{}\"", rel.name()),
    }
}

/// The options of the insertion. FREEZE requires a table whose files were created in the current
/// (sub)transaction.
fn insert_options(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    format: &Format,
) -> Result<InsertOptions> {
    if rel.kind() == RelKind::PartitionedTable && format.freeze {
        bail!(FEATURE_NOT_SUPPORTED, "cannot perform COPY FREEZE on a partitioned table");
    }
    if matches!(rel.kind(), RelKind::View | RelKind::PartitionedTable) {
        return Ok(InsertOptions::default());
    }
    let table = rel.rows()?;
    let is_new = engine::storage::is_new_here(host.backend(), table.file);
    if format.freeze && host.has_ready_portals() {
        bail!(
            INVALID_TRANSACTION_STATE,
            "cannot perform COPY FREEZE because of prior transaction activity"
        );
    }
    if format.freeze && !is_new {
        bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot perform COPY FREEZE because the table was not created or truncated in the \
             current subtransaction"
        );
    }
    Ok(InsertOptions { skip_fsm: is_new, frozen: format.freeze, ..InsertOptions::default() })
}

struct Reader<'a> {
    format: &'a Format,
    table: String,
    columns: Vec<Column>,
    defaults: Vec<(usize, Default)>,
    by_position: Vec<usize>,
    writer: BulkWriter,
    /// Set if the table is partitioned.
    partitions: Option<Partitions>,
    source: Source,
    /// The encoding of the lines: the database's if they are converted.
    encoding: i32,
    lines: Lines,
    fields: Fields,
    batch: Batch,
    /// Rows that must be checked one by one (WHERE, constraints) are built here.
    stage: Option<Batch>,
    /// Each row is written before the next one is read, because expressions may read the table.
    singly: bool,
    numbers: Vec<u64>,
    /// A buffer for blank-padded char(n) values.
    padded: Vec<u8>,
    bytes: usize,
    position: InputPosition,
    shown_number: u64,
    /// Number of rows that WHERE has excluded.
    excluded: u64,
    state: EvalState,
}

impl Input {
    fn of(host: &mut dyn CommandHost, ty: Oid, typmod: i32) -> Result<Input> {
        Ok(match (ty, typmod) {
            (oids::INT2, _) => Input::Int2,
            (oids::INT4, _) => Input::Int4,
            (oids::INT8, _) => Input::Int8,
            (oids::TEXT, _) | (oids::VARCHAR, -1) => Input::Text,
            (oids::VARCHAR | oids::BPCHAR, typmod @ 4..) => {
                Input::Sized { chars: typmod as usize - 4, pad: ty == oids::BPCHAR }
            }
            (ty, typmod) => Input::Function { io: host.facts().type_io(ty)?, typmod, extra: None },
        })
    }
}

impl<'a> Reader<'a> {
    fn new(
        host: &mut dyn CommandHost,
        rel: &Arc<RelDesc>,
        copied: &CopiedColumns<'_>,
        format: &'a Format,
        options: InsertOptions,
        source: Source,
        has_condition: bool,
    ) -> Result<Reader<'a>> {
        let mut singly = false;
        let numbers = copied.numbers;
        let mut columns = Vec::new();
        for &number in numbers {
            let Some(a) = rel.attribute(number) else { continue };
            let input = Input::of(host, a.atttypid, a.atttypmod)?;
            let mut null_test = None;
            if host.catalog().type_row(a.atttypid)?.typtype == TypType::Domain
                && columns::has_constraints(host, a.atttypid)?
            {
                let e = columns::null_in_domain(host, a)?;
                null_test = Some(exprs::compile(host.facts(), &e, &[])?);
            }
            columns.push(Column {
                name: a.attname.to_string(),
                number,
                ty: a.atttypid,
                typmod: a.atttypmod,
                input,
                null_test,
                not_null: a.attnotnull,
                force_not_null: copied.force_not_null.contains(&number),
                force_null: copied.force_null.contains(&number),
                ignored: copied.selected.as_ref().is_some_and(|s| !s.contains(&number)),
            });
        }
        let mut defaults = Vec::new();
        for a in &rel.attributes {
            if numbers.contains(&a.attnum) {
                continue;
            }
            let expr = match a.attgenerated == ColumnGenerated::No && !a.attisdropped {
                true => columns::column_default(host, rel.oid(), a.attnum)?,
                false => None,
            };
            let value = match expr.map(|e| host.planner().fold(e)).transpose()? {
                Some(Expr::Const(c)) => Default::Value(c.value),
                Some(e) => {
                    singly |= reads_changes(&e, host.facts())?;
                    Default::Program(exprs::compile(host.facts(), &e, &[])?)
                }
                None => Default::Null,
            };
            defaults.push((a.attnum as usize - 1, value));
        }
        let by_position = columns.iter().map(|c| c.number as usize - 1).collect();
        let mut writer = BulkWriter::open(&mut Writing(host), rel.oid(), options)?;
        let table = writer.rows.rel.clone();
        writer.rows.set_named(&table);
        writer.rows.written = columns.iter().map(|c| c.number).collect();
        let batch = writer.batch();
        let triggers = &writer.rows.rel.triggers;
        let before =
            triggers.are_before_row(Change::Insert) || writer.rows.rel.kind == RelKind::View;
        singly |= before;
        let partitions = match rel.kind() {
            RelKind::PartitionedTable => Some(Partitions::new(host, &table, options)?),
            _ => None,
        };
        let staged =
            has_condition || before || partitions.is_some() || writer.rows.evaluates_rows();
        let stage = staged.then(|| writer.batch());
        let database = host.catalog().session.encoding;
        let encoding = match source.converts() {
            true => database,
            false => data_encoding(host, format),
        };
        Ok(Reader {
            format,
            table: rel.name().to_string(),
            columns,
            defaults,
            by_position,
            writer,
            partitions,
            lines: Lines::new(
                format.csv.then_some((format.quote, format.escape)),
                source.is_client(),
            ),
            source,
            encoding,
            fields: Fields::default(),
            batch,
            stage,
            singly,
            numbers: Vec::new(),
            padded: Vec::new(),
            bytes: 0,
            position: InputPosition::default(),
            shown_number: 0,
            excluded: 0,
            state: EvalState::default(),
        })
    }

    fn line(&mut self, host: &mut dyn CommandHost) -> Result<Option<(usize, usize)>> {
        let source = &mut self.source;
        self.position = InputPosition::default();
        let line = self.lines.next(&mut |out| source.more(host, out));
        self.shown_number = self.lines.number;
        let line = line?;
        self.position.line = line;
        Ok(line)
    }

    /// Reads rows in binary format.
    fn run_binary(
        &mut self,
        host: &mut dyn CommandHost,
        condition: Option<&Program>,
    ) -> Result<u64> {
        let mut count = 0;
        let mut input = crate::binary::Input::default();
        {
            let source = &mut self.source;
            input.begin(&mut |out| source.more(host, out))?;
        }
        loop {
            self.shown_number += 1;
            self.position = InputPosition::default();
            {
                let source = &mut self.source;
                if !input.row(&mut |out| source.more(host, out), self.columns.len())? {
                    break;
                }
            }
            for i in 0..self.columns.len() {
                self.position.column = Some(i);
                let column = &self.columns[i];
                let source = &mut self.source;
                let field = input.field(&mut |out| source.more(host, out))?;
                self.bytes += field.map_or(0, <[u8]>::len);
                let batch = self.stage.as_mut().unwrap_or(&mut self.batch);
                let out = &mut batch.columns[self.by_position[i]];
                match field {
                    None => {
                        if let Some(p) = &column.null_test {
                            exprs::value(p, &mut self.state, host.expressions(), &[])?;
                        }
                        out.push_null();
                    }
                    Some(bytes) => {
                        let v = host.functions().type_recv(column.ty, bytes, column.typmod)?;
                        out.push(v.as_ref());
                    }
                }
            }
            self.complete_row(host)?;
            if !self.finish_row(host, condition)? {
                continue;
            }
            count += 1;
            self.numbers.push(self.shown_number);
            if self.is_due() {
                let number = self.shown_number;
                self.flush(host)?;
                self.source.progress.set_rows(count);
                self.shown_number = number;
            }
        }
        self.flush(host)?;
        self.source.progress.set_rows(count);
        Ok(count)
    }

    fn run(&mut self, host: &mut dyn CommandHost, condition: Option<&Program>) -> Result<u64> {
        if self.format.binary {
            return self.run_binary(host, condition);
        }
        let mut count = 0;
        if self.format.header != Header::No {
            let line = self.line(host)?;
            if self.format.header == Header::Match {
                // Without input, the header is an empty line.
                let header = line.unwrap_or_default();
                self.position.line = Some(header);
                self.check_header(header)?;
            }
            if line.is_none() {
                return Ok(0);
            }
        }
        while let Some(line) = self.line(host)? {
            check_encoding(self.lines.bytes(line), self.lines.from(line), self.encoding)?;
            let text = self.lines.bytes(line);
            if !self.columns.is_empty() {
                self.fields.split(text, self.format, self.columns.len())?;
            } else if !text.is_empty() {
                // An empty line is a row of a table without columns.
                bail!(BAD_COPY_FILE_FORMAT, "extra data after last expected column");
            }
            self.row(host)?;
            self.bytes += line.1 - line.0;
            if !self.finish_row(host, condition)? {
                continue;
            }
            count += 1;
            self.numbers.push(self.lines.number);
            if self.is_due() {
                self.flush(host)?;
                self.source.progress.set_rows(count);
            }
        }
        self.flush(host)?;
        self.source.progress.set_rows(count);
        Ok(count)
    }

    fn check_header(&mut self, line: (usize, usize)) -> Result<()> {
        self.fields.split(self.lines.bytes(line), self.format, usize::MAX)?;
        let found = self.fields.ranges.len();
        if found != self.columns.len() {
            bail!(
                BAD_COPY_FILE_FORMAT,
                "wrong number of fields in header line: got {found}, expected {}",
                self.columns.len()
            );
        }
        let line = self.lines.bytes(line);
        for (i, c) in self.columns.iter().enumerate() {
            match self.fields.get(i, line) {
                None => bail!(
                    BAD_COPY_FILE_FORMAT,
                    "column name mismatch in header line field {}: got null value (\"{}\"), \
                     expected \"{}\"",
                    i + 1,
                    String::from_utf8_lossy(&self.format.null),
                    c.name
                ),
                Some(b) if b == c.name.as_bytes() => {}
                Some(b) => bail!(
                    BAD_COPY_FILE_FORMAT,
                    "column name mismatch in header line field {}: got \"{}\", expected \"{}\"",
                    i + 1,
                    String::from_utf8_lossy(b),
                    c.name
                ),
            }
        }
        Ok(())
    }

    /// Appends the values of the line to the batch.
    fn row(&mut self, host: &mut dyn CommandHost) -> Result<()> {
        let found = self.fields.ranges.len();
        if found > self.columns.len() {
            bail!(BAD_COPY_FILE_FORMAT, "extra data after last expected column");
        }
        let line = self.position.line.map_or(&[][..], |line| self.lines.bytes(line));
        for i in 0..self.columns.len() {
            if i >= found {
                self.position.column = None;
                bail!(BAD_COPY_FILE_FORMAT, "missing data for column \"{}\"", self.columns[i].name);
            }
            let batch = self.stage.as_mut().unwrap_or(&mut self.batch);
            let column = &mut self.columns[i];
            if column.ignored {
                batch.columns[self.by_position[i]].push_null();
                continue;
            }
            self.position.column = Some(i);
            let mut field = self.fields.get(i, line);
            if self.format.csv {
                if field.is_none() && column.force_not_null {
                    field = Some(&self.format.null);
                } else if column.force_null
                    && self.fields.quoted[i]
                    && field == Some(self.format.null.as_slice())
                {
                    field = None;
                }
            }
            let out = &mut batch.columns[self.by_position[i]];
            let Some(text) = field else {
                // The domain may reject NULL.
                if let Some(p) = &column.null_test {
                    exprs::value(p, &mut self.state, host.expressions(), &[])?;
                }
                out.push_null();
                continue;
            };
            match &mut column.input {
                Input::Text => out.push(DatumRef::Bytes(text)),
                Input::Int4 => match small_int(text) {
                    Some(n) => out.push(Datum::int4(n as i32).as_ref()),
                    None => {
                        let v = host.functions().type_input(column.ty, text, -1)?;
                        out.push(v.as_ref());
                    }
                },
                Input::Int8 => match small_int(text) {
                    Some(n) => out.push(Datum::int8(n).as_ref()),
                    None => {
                        let v = host.functions().type_input(column.ty, text, -1)?;
                        out.push(v.as_ref());
                    }
                },
                Input::Int2 => {
                    let v = host.functions().type_input(column.ty, text, -1)?;
                    out.push(v.as_ref());
                }
                // Counts characters by skipping continuation bytes; the line is already valid
                // UTF-8.
                Input::Sized { chars, pad } => {
                    let has = text.iter().filter(|c| **c & 0xC0 != 0x80).count();
                    if has > *chars {
                        // The value is too long, which is an error unless only blanks are removed.
                        let typmod = *chars as i32 + 4;
                        let v = host.functions().type_input(column.ty, text, typmod)?;
                        out.push(v.as_ref());
                    } else if *pad {
                        self.padded.clear();
                        self.padded.extend_from_slice(text);
                        self.padded.resize(text.len() + *chars - has, b' ');
                        out.push(DatumRef::Bytes(&self.padded));
                    } else {
                        out.push(DatumRef::Bytes(text));
                    }
                }
                function => {
                    let v = function.call(host, column.ty, DatumRef::Bytes(text))?;
                    out.push(v.as_ref());
                }
            }
        }
        self.complete_row(host)
    }

    /// Appends the values of columns that are not in the data.
    fn complete_row(&mut self, host: &mut dyn CommandHost) -> Result<()> {
        self.position.column = None;
        let batch = self.stage.as_mut().unwrap_or(&mut self.batch);
        for (index, default) in &self.defaults {
            let out = &mut batch.columns[*index];
            match default {
                Default::Null => out.push_null(),
                Default::Value(v) => out.push(v.as_ref()),
                Default::Program(p) => {
                    let v = exprs::value(p, &mut self.state, host.expressions(), &[])?;
                    out.push(v.as_ref());
                }
            }
        }
        batch.len += 1;
        Ok(())
    }

    /// Tests the row appended last; false if WHERE excludes it.
    fn finish_row(
        &mut self,
        host: &mut dyn CommandHost,
        condition: Option<&Program>,
    ) -> Result<bool> {
        if let Some(stage) = &mut self.stage {
            if let Some(p) = condition {
                let input = RowInput::scan(RowRef::Batch(stage, 0));
                if !p.test_row(&mut self.state, host.expressions(), &input)? {
                    stage.clear();
                    self.excluded += 1;
                    self.source.progress.set_excluded(self.excluded);
                    return Ok(false);
                }
            }
            let given: Refs<'_> = stage.row(0).collect();
            let rows = &mut self.writer.rows;
            if let Some(partitions) = &mut self.partitions {
                let line = (self.shown_number, &rows.written[..]);
                let is_kept = partitions.add(host, &given, line)?;
                drop(given);
                stage.clear();
                return Ok(is_kept);
            }
            let is_view = rows.rel.kind == RelKind::View;
            let answer = match is_view || rows.rel.triggers.are_before_row(Change::Insert) {
                true => host.services().before_row(ProposedChange {
                    rel: &rows.rel,
                    timing: if is_view { Timing::Instead } else { Timing::Before },
                    old: None,
                    new: Some(&given),
                    updated: &[],
                })?,
                false => BeforeRowResult::Keep,
            };
            let replaced: Refs<'_>;
            let row: Option<&[DatumRef<'_>]> = match &answer {
                BeforeRowResult::Keep => Some(&given),
                BeforeRowResult::Skip => None,
                BeforeRowResult::Replace(row) => {
                    replaced = row.iter().map(Datum::as_ref).collect();
                    Some(&replaced)
                }
            };
            let is_kept = row.is_some();
            if let Some(row) = row.filter(|_| !is_view) {
                let computed = rows.compute(&mut Writing(host), row)?;
                let row = with_computed(row, &computed);
                rows.check(&mut Writing(host), &row)?;
                self.batch.push_row(&row);
            }
            drop(given);
            stage.clear();
            return Ok(is_kept);
        }
        let last = self.batch.len - 1;
        for c in self.columns.iter().filter(|c| c.not_null) {
            let index = c.number as usize - 1;
            if self.batch.columns[index].is_null(last) {
                return Err(self.null_error(host, index)?);
            }
        }
        for (index, _) in &self.defaults {
            let a = &self.writer.rows.rel.table.tupdesc.attrs[*index];
            if a.not_null && !a.dropped && self.batch.columns[*index].is_null(last) {
                return Err(self.null_error(host, *index)?);
            }
        }
        Ok(true)
    }

    /// True if the batch must be written.
    fn is_due(&self) -> bool {
        let waiting = self.partitions.as_ref().map_or(self.batch.len, |p| p.waiting);
        self.singly || waiting >= ROWS_MAX || self.bytes >= BYTES_MAX
    }

    /// Error 23502 for a column of the row that was appended last.
    fn null_error(&self, host: &mut dyn CommandHost, column: usize) -> Result<PgError> {
        let row: Refs<'_> = self.batch.row(self.batch.len - 1).collect();
        self.writer.rows.null_violation(&mut Writing(host), column, &row)
    }

    fn flush(&mut self, host: &mut dyn CommandHost) -> Result<()> {
        host.backend().check_interrupts()?;
        match self.singly {
            true => self.position.column = None,
            false => self.position = InputPosition::default(),
        }
        if let Some(partitions) = &mut self.partitions {
            let mut at_fault = None;
            let result = partitions.flush(host, &mut at_fault);
            self.shown_number = at_fault.unwrap_or(self.shown_number);
            result?;
            self.numbers.clear();
            self.bytes = 0;
            return Ok(());
        }
        let mut at_fault = None;
        let result = self.writer.write(&mut Writing(host), &self.batch, &mut at_fault);
        if let Some(n) = at_fault.and_then(|r| self.numbers.get(r)) {
            self.shown_number = *n;
        }
        result?;
        self.batch.clear();
        self.numbers.clear();
        self.bytes = 0;
        Ok(())
    }

    /// True if the line is not valid in its encoding.
    fn is_invalid(&self, line: (usize, usize)) -> bool {
        let line = self.lines.bytes(line);
        check_encoding(line, line, self.encoding).is_err()
    }

    /// Adds the input position as error context. Counterpart: `CopyFromErrorCallback`.
    fn with_context(&self, e: PgError) -> PgError {
        if self.format.binary && self.shown_number == 0 {
            return e;
        }
        let (table, number) = (&self.table, self.shown_number);
        let clip = |b: &[u8]| {
            let text = String::from_utf8_lossy(b);
            match text.len() > 100 {
                true => format!("{}...", stdx::clip(&text, 100)),
                false => text.into_owned(),
            }
        };
        let line = match (self.position.column, self.position.line) {
            (Some(c), _) if self.format.binary => {
                format!("COPY {table}, line {number}, column {}", self.columns[c].name)
            }
            (Some(c), _) => {
                let name = &self.columns[c].name;
                let line = self.position.line.map_or(&[][..], |line| self.lines.bytes(line));
                match self.fields.get(c, line) {
                    Some(v) => {
                        let v = clip(v);
                        format!("COPY {table}, line {number}, column {name}: \"{v}\"")
                    }
                    None => format!("COPY {table}, line {number}, column {name}: null input"),
                }
            }
            // Bytes that are not valid text are not included in the context.
            (None, Some(line))
                if e.code() == pgerror::SqlState::CHARACTER_NOT_IN_REPERTOIRE
                    && self.is_invalid(line) =>
            {
                format!("COPY {table}, line {number}")
            }
            (None, Some(line)) => {
                format!("COPY {table}, line {number}: \"{}\"", clip(self.lines.bytes(line)))
            }
            (None, None) => format!("COPY {table}, line {number}"),
        };
        e.context(line)
    }
}
