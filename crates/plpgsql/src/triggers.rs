//! Calls of functions as triggers. Counterpart: `plpgsql_exec_trigger` of pl_exec.c.

use crate::assign::{Row, fields_of};
use crate::call::{entered, run};
use crate::fields::Fields;
use crate::frame::{Frame, SystemColumns};
use crate::host::Host;
use crate::instance::Code;
use crate::structure::check_structure;
use crate::tree::VarNo;
use ids::Oid;
use pgerror::{Result, pg_err};
use std::sync::Arc;
use types::fn_context::{RowDesc, TypeCatalog};
use types::{Datum, array, oids};

/// The variables of a trigger function, which the parser creates first and in this order.
const NEW: VarNo = 0;
const OLD: VarNo = 1;
const FIRST_TEXT: VarNo = 2;
/// `TG_EVENT` in an event trigger; `TG_TAG` follows.
const FIRST_EVENT_TEXT: VarNo = 0;

/// The event for which a trigger is called. Counterpart: `TriggerData`.
pub struct TriggerData<'a> {
    pub name: &'a str,
    /// `TG_WHEN`
    pub when: &'a str,
    /// `TG_LEVEL`
    pub level: &'a str,
    /// `TG_OP`
    pub op: &'a str,
    pub relation: Oid,
    pub table: &'a str,
    pub schema: &'a str,
    pub args: &'a [Box<str>],
    /// The columns of the table, and its row type.
    pub row: (Arc<RowDesc>, Oid),
    /// The rows of a trigger for each row; the new one is made by [`Fields::of_event`].
    pub new: Option<Fields>,
    pub old: Option<Fields>,
    /// Their system columns, if the function may read them.
    pub new_system: Option<Box<SystemColumns>>,
    pub old_system: Option<Box<SystemColumns>>,
}

/// What a trigger function returns.
pub enum TriggerResult {
    /// NULL, or nothing, because it is called for a statement.
    Null,
    /// The new row, unchanged.
    New,
    /// A row, by column number.
    Row(Vec<Datum>),
}

/// Calls a trigger function.
pub fn call_trigger(
    host: &mut dyn Host,
    code: &Code,
    mut data: TriggerData<'_>,
) -> Result<TriggerResult> {
    entered(host, |host| {
        let for_row = data.level == "ROW";
        let (desc, ty) = data.row.clone();
        let enter = |frame: &mut Frame<'_>, host: &mut dyn Host| frame.set_event(host, &mut data);
        run(host, code, (None, true), enter, |frame, host| {
            if !for_row || frame.returned.value.is_null() && frame.returned.record.is_none() {
                return Ok(TriggerResult::Null);
            }
            let row = frame.during("during function exit", |f| f.trigger_row(host, (&desc, ty)))?;
            Ok(match row.is_event() {
                true => TriggerResult::New,
                false => TriggerResult::Row(row.into_values()),
            })
        })
    })
}

/// Calls a function as event trigger. Counterpart: `plpgsql_exec_event_trigger`.
pub fn call_event_trigger(host: &mut dyn Host, code: &Code, event: &str, tag: &str) -> Result<()> {
    entered(host, |host| {
        let enter = |frame: &mut Frame<'_>, _: &mut dyn Host| {
            frame.vals.set(FIRST_EVENT_TEXT, Datum::text(event));
            frame.vals.set(FIRST_EVENT_TEXT + 1, Datum::text(tag));
            Ok(())
        };
        run(host, code, (None, true), enter, |_, _| Ok(()))
    })
}

impl Frame<'_> {
    /// Sets the variables that describe the event.
    fn set_event(&mut self, host: &mut dyn Host, data: &mut TriggerData<'_>) -> Result<()> {
        let (desc, ty) = (&data.row.0, Some(data.row.1));
        let mentions = self.code.function.mentions;
        let rows = [
            (NEW, &mut data.new, &mut data.new_system, mentions.new),
            (OLD, &mut data.old, &mut data.old_system, mentions.old),
        ];
        for (var, fields, system, is_read) in rows {
            if is_read {
                let fields = fields.take();
                let is_null = fields.is_none();
                self.move_row(host, var, Row { desc, fields, ty })?;
                let record = &mut self.records[var];
                (record.is_null, record.system) = (is_null, system.take());
            }
        }
        if !mentions.event {
            return Ok(());
        }
        let args: Vec<Datum> = data.args.iter().map(|arg| Datum::text(arg)).collect();
        let values = [
            Datum::name(data.name),
            Datum::text(data.when),
            Datum::text(data.level),
            Datum::text(data.op),
            Datum::oid(data.relation),
            Datum::name(data.table),
            Datum::name(data.table),
            Datum::name(data.schema),
            Datum::int4(i32::try_from(args.len()).unwrap_or(i32::MAX)),
            match args.is_empty() {
                true => Datum::Null,
                false => of_text_from_zero(&args)?,
            },
        ];
        for (i, value) in values.into_iter().enumerate() {
            self.vals.set(FIRST_TEXT + i, value);
        }
        Ok(())
    }

    /// The returned row as a row of the table.
    fn trigger_row(
        &mut self,
        host: &mut dyn Host,
        (desc, ty): (&Arc<RowDesc>, Oid),
    ) -> Result<Fields> {
        let (from_type, from, fields) = match self.returned.record {
            Some(record) => {
                self.settle(record)?;
                let record = std::mem::take(&mut self.records[record]);
                (record.row_type(), record.desc.unwrap_or_else(|| desc.clone()), record.fields)
            }
            None => self.returned_composite(host)?,
        };
        if from_type == ty {
            return Ok(fields);
        }
        let message = "returned row structure does not match the structure of the triggering table";
        check_structure(host, &from, desc, message)?;
        let live = from.columns.iter().zip(fields.iter()).filter(|(c, _)| !c.is_dropped());
        let mut live = live.map(|(_, value)| value.to_owned());
        let columns = desc.columns.iter().map(|c| match c.is_dropped() {
            true => Datum::Null,
            false => live.next().unwrap_or_default(),
        });
        Ok(columns.collect::<Vec<Datum>>().into())
    }

    /// The returned value as a row: its type, structure and fields.
    fn returned_composite(&mut self, host: &mut dyn Host) -> Result<(Oid, Arc<RowDesc>, Fields)> {
        if !self.is_composite(host, self.returned.ty)? {
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "cannot return non-composite value from function returning composite type"
            ));
        }
        let value = std::mem::take(&mut self.returned.value);
        let (ty, typmod) = types::record::type_of(value.as_ref())?;
        let desc = TypeCatalog::row_desc(host, ty, typmod)?;
        let fields = fields_of(host, &desc, value.as_ref())?;
        Ok((ty, desc, fields))
    }
}

/// An array of text whose index starts at 0.
fn of_text_from_zero(values: &[Datum]) -> Result<Datum> {
    let info = types::builtin_types::get(oids::TEXT).expect("a built-in type").info;
    array::build(&info, &[values.len() as i32], &[0], values.iter().map(Datum::as_ref))
}
