//! The state of a call: the slots of the variables, the running statement, and the evaluation of
//! expressions. Counterpart: `PLpgSQL_execstate`.

use crate::contexts::Place;
use crate::fields::{Fields, RowBatch};
use crate::host::{Host, Outcome, Run, Stamp};
use crate::instance::{Code, Instance, Kind, KnownField, Load, Prepared};
use crate::prepare::{Wanted, in_sql, no_field, not_assigned};
use crate::tree::{Extra, SqlMode, SqlNo, VarKind, VarNo};
use analyze::system_column;
use engine::StoredRows;
use eval::{RowInput, RowRef, Variables};
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;
use types::fn_context::{RowColumn, RowDesc, SessionContext};
use types::{Datum, oids};

/// The value of a record variable.
#[derive(Default)]
pub(crate) struct Record {
    /// The structure; `None` before the first assignment.
    pub(crate) desc: Option<Arc<RowDesc>>,
    pub(crate) fields: Fields,
    /// The row type, if it is not that of an anonymous row.
    pub(crate) ty: Option<Oid>,
    /// It is NULL, not a row of NULLs.
    pub(crate) is_null: bool,
    /// The system columns of the row of a trigger, in the order of their numbers from -1 on.
    pub(crate) system: Option<Box<SystemColumns>>,
    /// Fields whose values are in the slots of these variables: arrays, which are changed there.
    pub(crate) lent: Vec<(usize, VarNo)>,
}

/// The system columns of a row: ctid, xmin, cmin, xmax, cmax and tableoid.
pub type SystemColumns = [Datum; 6];

/// Where the value of a field of a record is.
pub(crate) enum FieldPlace {
    Column(usize),
    /// Its position among the system columns, and its type.
    System(usize, Oid),
}

impl Record {
    pub(crate) fn row_type(&self) -> Oid {
        self.ty.unwrap_or(oids::RECORD)
    }

    /// Makes the record one without a structure.
    #[inline]
    fn clear(&mut self) {
        if self.desc.is_some() || self.is_null || !self.lent.is_empty() {
            *self = Record::default();
        }
    }

    /// True if the record has this structure.
    #[inline]
    pub(crate) fn is_of(&self, desc: &Arc<RowDesc>) -> bool {
        self.desc.as_ref().is_some_and(|own| Arc::ptr_eq(own, desc))
    }

    /// Makes the record another row of the batch that its row is from, with this structure and
    /// type; false if it has another row now.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        (desc, ty): (&Arc<RowDesc>, Option<Oid>),
        rows: &Arc<RowBatch>,
        row: usize,
    ) -> bool {
        if !self.is_of(desc) || !self.fields.advance(rows, row) {
            return false;
        }
        (self.ty, self.is_null) = (ty, false);
        self.system = None;
        self.lent.clear();
        true
    }

    /// Assigns a field of a record that has a structure.
    #[inline]
    pub(crate) fn set_field(&mut self, at: usize, value: Datum) {
        if !self.lent.is_empty() {
            self.lent.retain(|(column, _)| *column != at);
        }
        self.is_null = false;
        self.fields.set(at, value);
    }

    /// Makes the record a row that is not NULL.
    pub(crate) fn replace(&mut self, desc: &Arc<RowDesc>, fields: Fields, ty: Option<Oid>) {
        match &self.desc {
            Some(known) if Arc::ptr_eq(known, desc) => {}
            _ => self.desc = Some(desc.clone()),
        }
        (self.fields, self.ty, self.is_null) = (fields, ty, false);
        self.system = None;
        self.lent.clear();
    }

    /// The place of the field of this name. `None` if there is no such field, or if the record has
    /// no structure.
    pub(crate) fn place(&self, name: &str, expected: usize) -> Option<FieldPlace> {
        let columns = &self.desc.as_ref()?.columns;
        let is = |c: &RowColumn| !c.is_dropped() && c.name == *name;
        let at = match columns.get(expected) {
            Some(column) if is(column) => Some(expected),
            _ => columns.iter().position(is),
        };
        let system = || {
            let (number, ty) = system_column(name)?;
            Some(FieldPlace::System(usize::try_from(-1 - number).ok()?, ty))
        };
        at.map(FieldPlace::Column).or_else(system)
    }

    /// The value of a system column; NULL if the record is not the row of a trigger.
    pub(crate) fn system_column(&self, at: usize) -> Datum {
        self.system.as_ref().and_then(|all| all.get(at)).cloned().unwrap_or_default()
    }
}

/// The value that a call returns.
pub(crate) struct Returned {
    pub(crate) value: Datum,
    pub(crate) ty: Oid,
    pub(crate) typmod: i32,
    /// A trigger function returns the row of this record, in place of the value.
    pub(crate) record: Option<usize>,
}

/// The rows of a set that a call returns, and their structure.
pub(crate) struct ResultSet {
    pub(crate) desc: Arc<RowDesc>,
    pub(crate) rows: StoredRows,
}

/// The state of a call.
pub(crate) struct Frame<'f> {
    pub(crate) code: &'f Code,
    pub(crate) instance: Box<Instance>,
    /// The values of the variables by number. Slots of records and fields are filled when they are
    /// needed.
    pub(crate) vals: Variables,
    pub(crate) records: Vec<Record>,
    pub(crate) stamp: Stamp,
    /// The additional checks, as of the stamp.
    pub(crate) extra: Extra,
    pub(crate) place: Place,
    /// The context of this call is part of the error that is being handled.
    pub(crate) reported: bool,
    /// The level of the call among the running calls and statements.
    pub(crate) level: usize,
    /// The running statement has used the session, which may have reported notices.
    pub(crate) used_host: bool,
    /// ROW_COUNT.
    pub(crate) processed: u64,
    /// Collects the rows of a set.
    pub(crate) set: Option<Box<ResultSet>>,
    pub(crate) returned: Returned,
    /// The error that the running handler has caught.
    pub(crate) caught: Option<PgError>,
    /// The call must not end the transaction.
    pub(crate) atomic: bool,
}

impl<'f> Frame<'f> {
    // Inlined because the state is large: it is made where the caller keeps it.
    #[inline(always)]
    pub(crate) fn new(code: &'f Code, stamp: Stamp, host: &mut dyn Host) -> Frame<'f> {
        let mut instance = code.take_instance(&mut host.contexts().idle);
        let mut vals = std::mem::take(&mut instance.vals);
        vals.reset(code.function.vars.len());
        let mut records = std::mem::take(&mut instance.records);
        records.resize_with(code.function.records, Record::default);
        if instance.extra.0 != stamp {
            instance.extra = (stamp, host.extra_checks());
        }
        let extra = instance.extra.1;
        let notices = host.notices().len();
        let level = host.contexts().enter(&code.function.signature, notices);
        Frame {
            code,
            instance,
            vals,
            records,
            stamp,
            extra,
            place: Place::default(),
            reported: false,
            level,
            used_host: false,
            processed: 0,
            set: None,
            returned: Returned { value: Datum::Null, ty: oids::VOID, typmod: -1, record: None },
            caught: None,
            atomic: true,
        }
    }

    /// Ends the call; the instance is kept for another one.
    #[inline(always)]
    pub(crate) fn finish(self, host: &mut dyn Host) {
        let Frame { code, mut instance, mut vals, mut records, .. } = self;
        vals.clear();
        for record in &mut records {
            record.clear();
        }
        (instance.vals, instance.records) = (vals, records);
        code.return_instance(&mut host.contexts().idle, instance);
    }

    /// The line of context of this call.
    pub(crate) fn context(&self) -> String {
        self.place.context(&self.code.function.signature)
    }

    /// The lines of context of this call and of those outside it.
    pub(crate) fn full_context(&self, host: &mut dyn Host) -> Vec<String> {
        let mut lines = vec![self.context()];
        lines.extend(host.contexts().outside(self.level));
        lines
    }

    /// Must be called before the session does something that may report notices or call functions.
    pub(crate) fn sync(&mut self, host: &mut dyn Host) {
        self.used_host = true;
        host.contexts().set_place(self.level, self.place);
    }

    /// Runs a piece of SQL, which the contexts of errors and notices show.
    pub(crate) fn in_statement<T>(
        &mut self,
        host: &mut dyn Host,
        (text, mode): (&Arc<str>, SqlMode),
        work: impl FnOnce(&mut dyn Host) -> Result<T>,
    ) -> Result<T> {
        self.sync(host);
        host.contexts().push_sql(text.clone(), mode);
        let result = work(host);
        self.add_contexts(host, Some((text, mode)));
        host.contexts().truncate(self.level + 1);
        result.map_err(|e| in_sql(e, text, mode))
    }

    /// Adds the context of this call to an error, unless it has it.
    #[cold]
    pub(crate) fn report(&mut self, e: PgError) -> PgError {
        if std::mem::replace(&mut self.reported, true) {
            return e;
        }
        e.context(self.context())
    }

    /// Adds contexts to the notices of a statement that has ended.
    #[cold]
    pub(crate) fn note_notices(&mut self, host: &mut dyn Host) {
        self.used_host = false;
        self.add_contexts(host, None);
    }

    /// Adds contexts to the notices that have none, which a piece of SQL or the statement itself
    /// caused, and sends them.
    fn add_contexts(&self, host: &mut dyn Host, sql: Option<(&Arc<str>, SqlMode)>) {
        let count = host.notices().len();
        let noted = host.contexts().note_all(count);
        if noted == count {
            return;
        }
        let lines = self.full_context(host);
        for notice in &mut host.notices()[noted..] {
            if let Some((text, mode)) = sql {
                let placed = in_sql(notice.clone(), text, mode);
                *notice = placed;
            }
            notice.fields_mut().context.extend(lines.iter().cloned());
        }
        let left = host.send_notices();
        host.contexts().note_all(left);
    }

    /// Runs `work` while the contexts of errors show `activity` in place of the statement.
    pub(crate) fn during<T>(
        &mut self,
        activity: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = self.place.activity.replace(activity);
        let result = work(self);
        let result = result.map_err(|e| self.report(e));
        self.place.activity = before;
        result
    }

    /// Makes later evaluations see changes of catalogs and settings.
    pub(crate) fn refresh(&mut self, host: &mut dyn Host) -> Result<()> {
        let stamp = host.stamp()?;
        if stamp != self.stamp {
            self.stamp = stamp;
            self.extra = host.extra_checks();
            self.instance.extra = (stamp, self.extra);
        }
        Ok(())
    }

    /// Copies the values of records and fields to their slots.
    pub(crate) fn load(&mut self, host: &mut dyn Host, prepared: &Prepared) -> Result<()> {
        for load in &prepared.loads {
            if load.is_known(&self.instance.fields, &self.records, &mut self.vals) {
                continue;
            }
            match *load {
                Load::Field { slot, record, ty, at, is_array } => {
                    let (number, place) = self.field_place(host, (slot, record), at, ty)?;
                    if let FieldPlace::Column(at) = place {
                        self.note_field(host, (slot, record), at)?;
                    }
                    let record = &mut self.records[number];
                    let value = match place {
                        FieldPlace::System(at, _) => record.system_column(at),
                        FieldPlace::Column(at) if !is_array => record.fields.get(at).to_owned(),
                        FieldPlace::Column(at) if record.lent.contains(&(at, slot)) => continue,
                        FieldPlace::Column(at) => {
                            record.lent.push((at, slot));
                            record.fields.take(at)
                        }
                    };
                    self.vals.set(slot, value);
                }
                Load::Record { slot } => {
                    let value = self.record_value(host, slot)?;
                    self.vals.set(slot, value);
                }
            }
        }
        Ok(())
    }

    /// Keeps the place of a field for later accesses.
    pub(crate) fn note_field(
        &mut self,
        host: &mut dyn Host,
        (slot, var): (VarNo, VarNo),
        at: usize,
    ) -> Result<()> {
        let VarKind::Record { ty, record } = &self.code.function.vars[var].kind else {
            return Ok(());
        };
        let is_unchecked = !self.is_domain(host, *record, ty)?;
        if let Some(desc) = &self.records[*record].desc {
            let RowColumn { ty, typmod, .. } = desc.columns[at];
            let (desc, record) = (desc.clone(), *record);
            let known = KnownField { desc, record, at, ty, typmod, is_unchecked };
            self.instance.fields[slot] = Some(known);
        }
        Ok(())
    }

    /// Returns the values of fields that are in slots to their record.
    #[inline]
    pub(crate) fn settle(&mut self, record: usize) -> Result<()> {
        if self.records[record].lent.is_empty() { Ok(()) } else { self.settle_fields(record) }
    }

    #[cold]
    fn settle_fields(&mut self, record: usize) -> Result<()> {
        while let Some((at, slot)) = self.records[record].lent.pop() {
            let value = self.vals.take(slot)?;
            self.records[record].fields.set(at, value);
        }
        Ok(())
    }

    /// The number of the record of a field, and the place of the field in it.
    fn field_place(
        &mut self,
        host: &mut dyn Host,
        (slot, record): (VarNo, VarNo),
        expected: usize,
        wanted: Oid,
    ) -> Result<(usize, FieldPlace)> {
        self.instantiate(host, record)?;
        let vars = &self.code.function.vars;
        let VarKind::Field { name, .. } = &vars[slot].kind else {
            return Err(PgError::internal("slot that is no field"));
        };
        let VarKind::Record { record: number, .. } = vars[record].kind else {
            return Err(PgError::internal("field of a variable that is no record"));
        };
        let value = &self.records[number];
        let Some(desc) = &value.desc else { return Err(not_assigned(&vars[record].name)) };
        let Some(place) = value.place(name, expected) else {
            return Err(no_field(&vars[record].name, name));
        };
        let found = match place {
            FieldPlace::Column(at) => desc.columns[at].ty,
            FieldPlace::System(_, ty) => ty,
        };
        if found != wanted {
            let (found, wanted) =
                (eval::Facts::type_name(host, found)?, eval::Facts::type_name(host, wanted)?);
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "type of parameter {} ({found}) does not match that when preparing the plan \
                 ({wanted})",
                slot + 1
            ));
        }
        Ok((number, place))
    }

    /// The value of an expression and its type. With `wanted`, a compiled expression has that type.
    pub(crate) fn value(
        &mut self,
        host: &mut dyn Host,
        sql: SqlNo,
        wanted: Wanted,
    ) -> Result<(Datum, Oid, i32)> {
        let current = match &self.instance.sql[sql].prepared {
            Some(p) => p.stamp == self.stamp,
            None => false,
        };
        if !current {
            self.prepared(host, sql, wanted)?;
        }
        let Instance { sql: states, fields, .. } = &mut *self.instance;
        let state = &mut states[sql];
        let Some(prepared) = &state.prepared else {
            return Err(PgError::internal("expression that is not prepared"));
        };
        if let Kind::Simple { program, fast, ty, typmod, mutable: false, calls_users, .. } =
            &prepared.kind
            && self.code.entered(sql) == 0
            && are_known(&prepared.loads, fields, &self.records, &mut self.vals)
        {
            if *calls_users {
                self.used_host = true;
                host.contexts().set_place(self.level, self.place);
            }
            let value = match fast {
                Some(fast) => fast.value(host, &mut state.parts, &self.vals),
                None => {
                    let input = RowInput::scan(RowRef::Variables(&self.vals));
                    let value = program.eval_row(&mut state.eval, host, &input);
                    value.map(eval::Val::into_owned)
                }
            };
            return match value {
                Ok(value) => Ok((value, *ty, *typmod)),
                Err(e) => Err(self.failed(host, sql, e)),
            };
        }
        let prepared = prepared.clone();
        let as_statement = self.is_entered(host, sql);
        self.value_of(host, sql, &prepared, as_statement)
    }

    /// True if an evaluation of the expression runs, or has failed in this transaction and the
    /// error was handled.
    fn is_entered(&self, host: &mut dyn Host, sql: SqlNo) -> bool {
        let entered = self.code.entered(sql);
        let (handled, transaction) = ((entered >> 32) as u32, entered as u32);
        transaction != 0
            && transaction == host.local_transaction()
            && host.contexts().handled() >= handled
    }

    /// Notes that the evaluation of an expression has failed. It may be repeated without an error
    /// having been handled, because rows are computed together first.
    #[cold]
    pub(crate) fn failed(&self, host: &mut dyn Host, sql: SqlNo, e: PgError) -> PgError {
        let handled = u64::from(host.contexts().handled().saturating_add(1));
        self.code.set_entered(sql, handled << 32 | u64::from(host.local_transaction()));
        e
    }

    /// Makes an assignment that was found to be one of [`SqlState::is_assigned_fast`]; false if it
    /// is another one.
    #[inline]
    pub(crate) fn assigned_fast(
        &mut self,
        host: &mut dyn Host,
        var: VarNo,
        sql: SqlNo,
    ) -> Result<bool> {
        let Instance { sql: states, fields, .. } = &mut *self.instance;
        let state = &mut states[sql];
        let Some(prepared) = &state.prepared else { return Ok(false) };
        if !state.is_assigned_fast
            || prepared.stamp != self.stamp
            || self.code.entered(sql) != 0
            || !are_known(&prepared.loads, fields, &self.records, &mut self.vals)
        {
            return Ok(false);
        }
        let Kind::Simple { fast: Some(fast), .. } = &prepared.kind else { return Ok(false) };
        match fast.assign(host, &mut state.parts, &mut self.vals, var) {
            Ok(()) => Ok(true),
            Err(e) => Err(self.failed(host, sql, e)),
        }
    }

    /// Assigns the value of an expression over the slots that has the type of the variable, without
    /// an execution; false if it is another one.
    pub(crate) fn assigned_directly(
        &mut self,
        host: &mut dyn Host,
        var: VarNo,
        sql: SqlNo,
    ) -> Result<bool> {
        let Instance { sql: states, fields, .. } = &mut *self.instance;
        let state = &mut states[sql];
        let Some(prepared) = &state.prepared else { return Ok(false) };
        if prepared.stamp != self.stamp || self.code.entered(sql) != 0 {
            return Ok(false);
        }
        if let Kind::Simple { record: Some(from), .. } = prepared.kind {
            return self.copied_record(host, var, from);
        }
        let Kind::Simple { program, fast, change, ty, typmod, mutable, calls_users, .. } =
            &prepared.kind
        else {
            return Ok(false);
        };
        if *calls_users {
            self.used_host = true;
            host.contexts().set_place(self.level, self.place);
        }
        let is_plain =
            !*mutable && are_known(&prepared.loads, fields, &self.records, &mut self.vals);
        if let Some(change) = change
            && change.var == var
        {
            if !is_plain {
                let prepared = prepared.clone();
                return self.changed_array(host, (var, sql), &prepared);
            }
            match change.run(host, &mut state.change, &mut self.vals) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(e) => return Err(self.failed(host, sql, e)),
            }
        }
        if !is_plain {
            return Ok(false);
        }
        let variable = &self.code.function.vars[var];
        let (to, field) = match (&variable.kind, &fields[var]) {
            (VarKind::Scalar { ty, .. }, _) if !variable.not_null => ((ty.oid, ty.typmod), None),
            (VarKind::Field { .. }, Some(field))
                if field.is_unchecked && self.records[field.record].is_of(&field.desc) =>
            {
                ((field.ty, field.typmod), Some((field.record, field.at)))
            }
            _ => return Ok(false),
        };
        if to.0 != *ty || to.1 >= 0 && to.1 != *typmod {
            return Ok(false);
        }
        let value = match fast {
            Some(fast) => {
                state.is_assigned_fast = field.is_none() && !calls_users;
                fast.value(host, &mut state.parts, &self.vals)
            }
            None => {
                let input = RowInput::scan(RowRef::Variables(&self.vals));
                program.eval_row(&mut state.eval, host, &input).map(eval::Val::into_owned)
            }
        };
        match (value, field) {
            (Ok(value), None) => self.vals.set(var, value),
            (Ok(value), Some((record, at))) => {
                // The value of an array that could not be formed is not assigned.
                self.vals.check()?;
                self.records[record].set_field(at, value);
            }
            (Err(e), _) => return Err(self.failed(host, sql, e)),
        }
        Ok(true)
    }

    /// Makes an assignment that changes an array and reads records or calls functions that are not
    /// immutable; false if the array must be made anew.
    fn changed_array(
        &mut self,
        host: &mut dyn Host,
        (var, sql): (VarNo, SqlNo),
        prepared: &Prepared,
    ) -> Result<bool> {
        let Kind::Simple { change: Some(change), mutable, .. } = &prepared.kind else {
            return Ok(false);
        };
        let record = match &self.code.function.vars[var].kind {
            VarKind::Scalar { .. } => None,
            VarKind::Field { record, .. } => match &self.code.function.vars[*record].kind {
                VarKind::Record { ty, record } if !self.is_domain(host, *record, ty)? => {
                    Some(*record)
                }
                _ => return Ok(false),
            },
            _ => return Ok(false),
        };
        self.load(host, prepared)?;
        if *mutable {
            self.sync(host);
        }
        let fresh = *mutable && !self.code.function.read_only;
        let snapshots = if fresh { Some(host.push_snapshot()?) } else { None };
        if *mutable {
            self.code.set_entered(sql, host.local_transaction().into());
        }
        let state = &mut self.instance.sql[sql].change;
        let done = change.run(host, state, &mut self.vals);
        if let Some(count) = snapshots {
            host.pop_snapshots(count);
        }
        if *mutable {
            self.refresh(host)?;
        }
        let done = done.map_err(|e| self.failed(host, sql, e))?;
        self.code.set_entered(sql, 0);
        if let (true, Some(record)) = (done, record) {
            self.records[record].is_null = false;
        }
        Ok(done)
    }

    /// As [`Frame::value`], for expressions that read records, call functions that are not
    /// immutable, or need an execution. With `as_statement`, contexts show the expression.
    pub(crate) fn value_of(
        &mut self,
        host: &mut dyn Host,
        sql: SqlNo,
        prepared: &Arc<Prepared>,
        as_statement: bool,
    ) -> Result<(Datum, Oid, i32)> {
        let Kind::Simple { program, ty, typmod, mutable, .. } = &prepared.kind else {
            return self.queried(host, sql, prepared);
        };
        let text = &self.code.function.sql[sql];
        let loaded = self.load(host, prepared);
        if as_statement {
            loaded.map_err(|e| in_sql(e, &text.text, text.mode))?;
            host.contexts().push_sql(text.text.clone(), text.mode);
        } else {
            loaded?;
        }
        if *mutable {
            self.sync(host);
            if !as_statement {
                self.code.set_entered(sql, host.local_transaction().into());
            }
        }
        let fresh = *mutable && !self.code.function.read_only;
        let snapshots = if fresh { Some(host.push_snapshot()?) } else { None };
        let input = RowInput::scan(RowRef::Variables(&self.vals));
        let value = program.eval_row(&mut self.instance.sql[sql].eval, host, &input);
        let value = value.map(eval::Val::into_owned);
        if let Some(count) = snapshots {
            host.pop_snapshots(count);
        }
        let value = match (value, as_statement) {
            (Ok(value), false) => {
                if *mutable {
                    self.code.set_entered(sql, 0);
                }
                Ok(value)
            }
            (value, true) => {
                self.add_contexts(host, Some((&text.text, text.mode)));
                host.contexts().truncate(self.level + 1);
                if value.is_ok() {
                    self.processed = 1;
                }
                value.map_err(|e| in_sql(e, &text.text, text.mode))
            }
            (Err(e), false) => Err(self.failed(host, sql, e)),
        };
        if *mutable {
            self.refresh(host)?;
        }
        Ok((value?, *ty, *typmod))
    }

    /// The value of an expression that is a query: of its only row and column.
    fn queried(
        &mut self,
        host: &mut dyn Host,
        sql: SqlNo,
        prepared: &Arc<Prepared>,
    ) -> Result<(Datum, Oid, i32)> {
        // The relations are locked again.
        let prepared = &match &prepared.kind {
            Kind::Query { .. } => self.prepared(host, sql, None)?,
            _ => prepared.clone(),
        };
        let text = &self.code.function.sql[sql].text;
        let Outcome { mut rows, processed, .. } = self.run_prepared(host, sql, prepared, 2)?;
        self.processed = processed;
        let columns = &prepared.columns.columns;
        let [column] = &columns[..] else {
            let count = columns.len();
            let noun = if count == 1 { "column" } else { "columns" };
            return Err(pg_err!(SYNTAX_ERROR, "query returned {count} {noun}")
                .context(format!("query: {text}")));
        };
        if rows.len() > 1 {
            return Err(pg_err!(CARDINALITY_VIOLATION, "query returned more than one row")
                .context(format!("query: {text}")));
        }
        let value = rows.pop().and_then(|mut row| row.pop()).unwrap_or_default();
        Ok((value, column.ty, column.typmod))
    }

    /// Runs a query with the current values of the variables; reads at most `rows_max` rows.
    pub(crate) fn run_prepared(
        &mut self,
        host: &mut dyn Host,
        sql: SqlNo,
        prepared: &Arc<Prepared>,
        rows_max: usize,
    ) -> Result<Outcome> {
        let Kind::Query { statement, .. } = &prepared.kind else {
            return Err(PgError::internal("execution of an expression"));
        };
        let sql = &self.code.function.sql[sql];
        let loaded = self.load(host, prepared);
        loaded.map_err(|e| in_sql(e, &sql.text, sql.mode))?;
        let mut run = self.run_of(prepared, rows_max)?;
        run.keep_rows = rows_max <= 2;
        let outcome =
            self.in_statement(host, (&sql.text, sql.mode), |host| host.run(statement, &run))?;
        self.refresh(host)?;
        Ok(outcome)
    }

    /// The execution of a query with the current values of the slots.
    pub(crate) fn run_of(&mut self, prepared: &Prepared, rows_max: usize) -> Result<Run> {
        let (Kind::Query { params, .. } | Kind::UtilityQuery { params, .. }) = &prepared.kind
        else {
            return Err(PgError::internal("execution of an expression"));
        };
        let params = params.iter().map(|slot| self.vals[*slot].clone()).collect();
        self.vals.check()?;
        let read_only = self.code.function.read_only;
        Ok(Run { params, rows_max, read_only, keep_rows: true })
    }

    /// The value of a condition; NULL is false.
    pub(crate) fn test(&mut self, host: &mut dyn Host, sql: SqlNo) -> Result<bool> {
        let Instance { sql: states, fields, .. } = &mut *self.instance;
        let state = &mut states[sql];
        if let Some(prepared) = &state.prepared
            && prepared.stamp == self.stamp
            && let Kind::Simple { fast: Some(fast), ty: oids::BOOL, calls_users: false, .. } =
                &prepared.kind
            && fast.words().is_some()
            && self.code.entered(sql) == 0
            && are_known(&prepared.loads, fields, &self.records, &mut self.vals)
        {
            return match fast.holds(host, &mut state.parts, &mut self.vals) {
                Ok(holds) => Ok(holds),
                Err(e) => Err(self.failed(host, sql, e)),
            };
        }
        let value = self.typed(host, sql, oids::BOOL)?;
        Ok(!value.is_null() && value.as_ref().as_bool())
    }

    /// The value of an expression as a value of the type.
    pub(crate) fn typed(&mut self, host: &mut dyn Host, sql: SqlNo, ty: Oid) -> Result<Datum> {
        let (value, from, typmod) = self.value(host, sql, Some((ty, -1)))?;
        if from == ty { Ok(value) } else { self.cast(host, value, (from, typmod), (ty, -1)) }
    }

    /// The value of an expression as text; `None` for NULL.
    pub(crate) fn text(&mut self, host: &mut dyn Host, sql: SqlNo) -> Result<Option<String>> {
        let (value, ty, _) = self.value(host, sql, None)?;
        text_of(host, &value, ty)
    }

    pub(crate) fn check_interrupts(&self, host: &mut dyn Host) -> Result<()> {
        SessionContext::check_interrupts(host)
    }
}

impl Load {
    /// Copies a field whose place is known to its slot; false for other values.
    #[inline]
    fn is_known(
        &self,
        known: &[Option<KnownField>],
        records: &[Record],
        vals: &mut Variables,
    ) -> bool {
        let Load::Field { slot, ty, is_array: false, .. } = self else { return false };
        let Some(field) = &known[*slot] else { return false };
        let record = &records[field.record];
        if field.ty != *ty || !record.is_of(&field.desc) {
            return false;
        }
        vals.set_copy(*slot, record.fields.get(field.at));
        true
    }
}

/// Copies fields to their slots; false if other values must be loaded.
#[inline]
fn are_known(
    loads: &[Load],
    known: &[Option<KnownField>],
    records: &[Record],
    vals: &mut Variables,
) -> bool {
    loads.iter().all(|load| load.is_known(known, records, vals))
}

/// A value as text, by the output function of its type.
pub(crate) fn text_of(host: &mut dyn Host, value: &Datum, ty: Oid) -> Result<Option<String>> {
    if value.is_null() {
        return Ok(None);
    }
    let bytes = types::fn_context::TypeFunctions::type_output(host, ty, value.as_ref())?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
