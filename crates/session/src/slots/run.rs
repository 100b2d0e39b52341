//! Runs statements from their slots.

use super::{
    LiteralRoles, QuerySlot, STRING_TYPES, Slot, VARIANTS_MAX, Variant, statement_text, unquote,
};
use crate::plancache::Statement;
use crate::prepared::{ParkedExecution, Ready};
use crate::session::Session;
use analyze::template::{Class, Literal, Template, integer};
use client::results::write_tag;
use client::rows::RowWriter;
use executor::spi::Query;
use ids::Oid;
use parse::RawStmt;
use parse::ast::Node;
use pgerror::Result;
use plan::query::CmdType;
use std::sync::Arc;
use types::fn_context::TypeFunctions;
use types::{BATCH_ROWS_MAX, Datum, oids};
use wire::{Formats, backend};

impl Session {
    /// Runs a text from its slot. Returns false if there is no slot, or if the text does not fit
    /// the slot.
    pub(crate) fn run_slot(&mut self, text: &[u8]) -> Result<bool> {
        let mut template = std::mem::take(&mut self.slots.template);
        let known =
            self.state.values.resolved.share_texts && !self.xact.failed && template.scan(text);
        let index = if known { self.slots.places.get(&template.key[..]).copied() } else { None };
        let Some(index) = index else {
            if !known {
                template.key.clear();
            }
            self.slots.template = template;
            return Ok(false);
        };
        let Some(mut slot) = self.slots.slots[index].take() else {
            self.slots.template = template;
            return Ok(false);
        };
        let ran = match &mut *slot {
            Slot::Query(slot) => self.run_query_slot(slot, text, &template.literals),
            Slot::Transaction(raw) => self.run_transaction(raw).map(|()| true),
        };
        if let Some(entry) = self.slots.slots.get_mut(index) {
            *entry = Some(slot);
        }
        self.slots.template = template;
        if ran.is_err() {
            self.state.activity.statement = Some(String::from_utf8_lossy(text).into());
        }
        ran
    }

    fn run_transaction(&mut self, raw: &RawStmt) -> Result<()> {
        let Node::TransactionStmt(stmt) = &raw.stmt else { return Ok(()) };
        self.start_command();
        self.state.backend.check_interrupts()?;
        let tag = self.transaction_statement(stmt)?;
        self.end_implicit_block();
        self.finish_command()?;
        self.send_notices();
        backend::command_complete(&mut self.conn.out, tag);
        Ok(())
    }

    fn run_query_slot(
        &mut self,
        slot: &mut QuerySlot,
        text: &[u8],
        literals: &[Literal],
    ) -> Result<bool> {
        let QuerySlot { roles, variants } = slot;
        let found = variants.iter().position(|v| roles.is_fixed(&v.fixed, text, literals));
        let Some(found) = found else { return Ok(false) };
        if std::str::from_utf8(text).is_err() {
            return Ok(false);
        }
        self.start_command();
        let variant = &mut variants[found];
        if variant.ready.current(&mut self.state)?.is_none()
            && !self.renew(&mut variant.ready, &variant.key)
        {
            variants.remove(found);
            return Ok(false);
        }
        let ready = &mut variants[found].ready;
        let Some(params) = self.literal_values(roles, ready, text, literals) else {
            return Ok(false);
        };
        self.run_ready(ready, params)
    }

    /// Looks up or analyses the statement again. Returns false if it can no longer be analysed with
    /// these parameters.
    fn renew(&mut self, ready: &mut Ready, key: &[u8]) -> bool {
        let Some(old) = ready.statement.clone() else { return false };
        if !self.state.catalog.overlay.is_clean() {
            return false;
        }
        let state = &mut self.state;
        let renewed =
            state.statement_key(key, &[]).and_then(|key| match state.find_statement(&key) {
                Some(found) => Ok(found),
                None => state.analyze_and_cache(
                    key,
                    &old.sql,
                    &old.raw,
                    &old.param_types,
                    old.parameterized,
                ),
            });
        match renewed {
            // String literals may now have other types.
            Ok(statement) if statement.param_types == old.param_types => {
                *ready = Ready::new(statement);
                true
            }
            _ => false,
        }
    }

    /// The values of the parameters, converted from the literals; `None` if one is not valid for
    /// its type.
    fn literal_values(
        &mut self,
        roles: &LiteralRoles,
        ready: &Ready,
        text: &[u8],
        literals: &[Literal],
    ) -> Option<Arc<[Datum]>> {
        if roles.parameterized.is_empty() {
            return Some(self.params.none());
        }
        let types = &ready.statement.as_ref()?.param_types;
        let mut values: smallvec::SmallVec<[Datum; 8]> = smallvec::SmallVec::new();
        for (&(place, negated), &ty) in roles.parameterized.iter().zip(types.iter()) {
            let literal = literals[usize::from(place)];
            let digits = literal.of(text);
            let signed = |n: u64| if negated { (n as i64).wrapping_neg() } else { n as i64 };
            values.push(match literal.class {
                Class::Int4 => Datum::int4(signed(integer(digits)?) as i32),
                Class::Int8 => Datum::int8(signed(integer(digits)?)),
                Class::Numeric => {
                    let mut number = Vec::with_capacity(digits.len() + 1);
                    if negated {
                        number.push(b'-');
                    }
                    number.extend_from_slice(digits);
                    self.state.type_input(oids::NUMERIC, &number, -1).ok()?
                }
                Class::Text => {
                    let bytes = unquote(digits);
                    match ty {
                        oids::TEXT | oids::VARCHAR | oids::BPCHAR => Datum::Bytes(bytes.into()),
                        _ => self.state.type_input(ty, &bytes, -1).ok()?,
                    }
                }
                Class::Other => return None,
            });
        }
        Some(self.params.make(values))
    }

    /// Creates a slot for the text that was scanned last, whose only statement has been parsed, and
    /// runs it. Returns false if no slot can be created; then nothing was executed.
    pub(crate) fn run_new_slot(&mut self, sql: &Arc<str>, raw: &RawStmt) -> Result<bool> {
        if self.slots.template.key.is_empty() {
            return Ok(false);
        }
        let template = std::mem::take(&mut self.slots.template);
        let result = self.new_slot(sql, raw, &template);
        self.slots.template = template;
        result
    }

    fn new_slot(&mut self, sql: &Arc<str>, raw: &RawStmt, template: &Template) -> Result<bool> {
        if matches!(raw.stmt, Node::TransactionStmt(_)) {
            // PREPARE TRANSACTION has a literal.
            if template.literals.is_empty() {
                self.slots.insert(&template.key, Slot::Transaction(raw.clone()));
            }
            return Ok(false);
        }
        if !analyze::is_query(&raw.stmt) {
            return Ok(false);
        }
        self.start_command();
        if !self.state.catalog.overlay.is_clean() {
            return Ok(false);
        }
        let text = sql.as_bytes();
        let (roles, fixed, key, statement) =
            self.with_parameterized_literals(sql, raw, template)?;
        let mut ready = Ready::new(statement);
        let Some(params) = self.literal_values(&roles, &ready, text, &template.literals) else {
            return Ok(false);
        };
        self.state.backend.check_interrupts()?;
        if !self.run_ready(&mut ready, params)? {
            return Ok(false);
        }
        if roles.is_time_dependent(text, &template.literals) {
            return Ok(true);
        }
        let variant = Variant { fixed: fixed.into(), key: key.into(), ready };
        let index = self.slots.places.get(&template.key[..]).copied();
        match index.and_then(|index| self.slots.slots[index].as_deref_mut()) {
            Some(Slot::Query(slot)) if slot.roles.fixed == roles.fixed => {
                if slot.variants.len() >= VARIANTS_MAX {
                    slot.variants.remove(0);
                }
                slot.variants.push(variant);
            }
            Some(slot) => *slot = Slot::Query(QuerySlot { roles, variants: vec![variant] }),
            None => {
                let slot = QuerySlot { roles, variants: vec![variant] };
                self.slots.insert(&template.key, Slot::Query(slot));
            }
        }
        Ok(true)
    }

    /// The statement with as many literals as possible as parameters. It tries numbers and strings,
    /// then numbers, then none.
    #[allow(clippy::type_complexity)]
    fn with_parameterized_literals(
        &mut self,
        sql: &Arc<str>,
        raw: &RawStmt,
        template: &Template,
    ) -> Result<(LiteralRoles, Vec<u8>, Vec<u8>, Arc<Statement>)> {
        let text = sql.as_bytes();
        let literals = &template.literals;
        let known = literals.iter().filter(|l| l.class != Class::Other);
        let starts: Vec<u32> = known.map(|l| l.start).collect();
        let state = &mut self.state;
        let mut tries = vec![true, false];
        tries.truncate(if literals.is_empty() { 0 } else { 2 });
        for strings in tries {
            let mut tree = raw.clone();
            let parameterized = analyze::parameterize_literals(&mut tree, sql, &starts, strings);
            if parameterized.is_empty() {
                break;
            }
            let roles = LiteralRoles::new(literals, &parameterized);
            let fixed = roles.fixed(text, literals);
            let key_text = statement_text(template, &roles, &fixed);
            let key = state.statement_key(&key_text, &[])?;
            let key = key.filter(|_| !roles.is_time_dependent(text, literals));
            let found = match state.find_statement(&key) {
                Some(found) => Ok(found),
                None => {
                    let types: Vec<Oid> = roles
                        .parameterized
                        .iter()
                        .map(|(i, _)| match literals[usize::from(*i)].class {
                            Class::Int4 => oids::INT4,
                            Class::Int8 => oids::INT8,
                            Class::Numeric => oids::NUMERIC,
                            Class::Text | Class::Other => oids::UNKNOWN,
                        })
                        .collect();
                    state.analyze_and_cache(key, sql, &Arc::new(tree), &types, true)
                }
            };
            if let Ok(statement) = found {
                let mut pairs = roles.parameterized.iter().zip(statement.param_types.iter());
                let fits = pairs.all(|((i, _), ty)| {
                    literals[usize::from(*i)].class != Class::Text || STRING_TYPES.contains(ty)
                });
                if fits && roles.parameterized.len() == statement.param_types.len() {
                    return Ok((roles, fixed, key_text, statement));
                }
            }
            if !parameterized.iter().any(|l| l.string) {
                break;
            }
        }
        let roles = LiteralRoles::new(literals, &[]);
        let fixed = roles.fixed(text, literals);
        let key_text = statement_text(template, &roles, &fixed);
        let key = state.statement_key(&key_text, &[])?;
        let key = key.filter(|_| !roles.is_time_dependent(text, literals));
        crate::simple::check_parameters(state, raw, sql, &[])?;
        let statement = match state.find_statement(&key) {
            Some(found) => found,
            None => state.analyze_and_cache(key, sql, &Arc::new(raw.clone()), &[], true)?,
        };
        Ok((roles, fixed, key_text, statement))
    }

    /// Runs a current statement to its end and sends its rows; the transaction has been started.
    /// Returns false if the statement cannot be planned with parameters in place of literals; then
    /// nothing was executed.
    fn run_ready(&mut self, ready: &mut Ready, params: Arc<[Datum]>) -> Result<bool> {
        let _timer = self.statement_timer();
        self.state.backend.check_interrupts()?;
        let mode = self.state.values.resolved.plan_mode;
        let custom = ready.is_custom_next(!params.is_empty(), mode);
        if let Some(mut parked) = ready.take_parked(&mut self.state, custom)? {
            self.check_plan(parked.run.plan())?;
            let snapshot = self.state.backend.snapshot();
            parked.run.rerun(params, snapshot.clone())?;
            self.state.backend.push_snapshot(snapshot);
            return self.send_all(ready, parked).map(|()| true);
        }
        let plan = match ready.plan(&mut self.state, &params, mode) {
            // The failed expression might not be evaluated if the parameter were a constant.
            Err(e) if !params.is_empty() && e.code().class() == *b"22" => return Ok(false),
            Err(e) => return Err(e),
            Ok(Some(plan)) => plan,
            Ok(None) => {
                // Catalogs changed during the waits for locks. The locks are now held, so the
                // relations cannot change any more.
                let Some(old) = ready.statement.clone() else { return Ok(false) };
                let state = &mut self.state;
                let types = &old.param_types;
                let new =
                    state.analyze_and_cache(None, &old.sql, &old.raw, types, old.parameterized)?;
                let chosen = new.choose(state, &params, mode)?;
                *ready = Ready::new(new);
                chosen.plan
            }
        };
        self.check_plan(&plan)?;
        let state = &mut self.state;
        let snapshot = state.backend.snapshot();
        state.backend.push_snapshot(snapshot);
        let writer = RowWriter::new(&plan.plan_tree.info.target_list, &Formats::Text);
        let run = Query::new(plan, params).start(state)?;
        self.send_all(ready, ParkedExecution { run, writer, formats: Formats::Text })?;
        Ok(true)
    }

    /// Runs an execution to its end under the active snapshot, pops the snapshot, and ends the
    /// statement.
    fn send_all(&mut self, ready: &mut Ready, mut parked: ParkedExecution) -> Result<()> {
        self.state.transaction.mode.queried = true;
        let ParkedExecution { run, writer, .. } = &mut parked;
        run.check_values(&mut self.state)?;
        let mut sent = 0u64;
        let returns = ready.statement.as_ref().is_some_and(|s| s.fields.is_some());
        // A statement that writes is run to its end, including its triggers, before any of its rows
        // are sent.
        let mut written = Vec::new();
        if returns && crate::portal::writes(run.plan()) {
            self.computing(|session| {
                while let Some(batch) = run.next(&mut session.state, BATCH_ROWS_MAX)? {
                    written.push(batch);
                }
                session.state.after_statement()
            })?;
        }
        let mut written = written.into_iter();
        if let Some(statement) = &ready.statement {
            let top = &run.plan().plan_tree;
            match statement.fields.as_ref().and_then(|f| client::rows::as_planned(f, top)) {
                Some(fields) => backend::row_description(&mut self.conn.out, &fields),
                None => self.conn.out.extend_from_slice(&statement.description),
            }
        }
        while let Some(batch) = match written.next() {
            Some(batch) => Some(batch),
            None => self.computing(|session| run.next(&mut session.state, BATCH_ROWS_MAX))?,
        } {
            if returns {
                for row in 0..batch.len {
                    writer.write(&mut self.state, &batch, row, &mut self.conn.out)?;
                    self.conn.flush_if_large()?;
                }
            }
            sent += batch.len as u64;
            run.recycle(batch);
        }
        let command = run.plan().command_type;
        let rows = if command == CmdType::Select { sent } else { run.processed() };
        if ready.should_park(run.plan()) && run.park(&mut self.state)? {
            ready.parked = Some(parked);
        }
        self.state.backend.pop_snapshot();
        self.computing(Session::finish_command)?;
        self.send_notices();
        write_tag(&mut self.conn.out, command, rows);
        Ok(())
    }
}
