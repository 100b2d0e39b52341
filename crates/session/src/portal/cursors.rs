//! Cursors that functions open and read. Counterpart: `SPI_cursor_open`, `SPI_cursor_fetch` of
//! spi.c.

use super::run::{RowSink, cannot_be_run, no_cursor};
use super::{Fetched, Portal};
use crate::plancache::Statement;
use crate::prepared::Prepared;
use crate::state::State;
use client::rows::RowWriter;
use executor::spi;
use ids::Oid;
use parse::ast::FetchDirection;
use pgerror::{Result, pg_err};
use plpgsql::{CursorOptions, Fields};
use std::sync::Arc;
use types::fn_context::{RowColumn, RowDesc};
use types::{Batch, Datum};
use wire::{FieldDescription, Formats};

/// Keeps the rows of a fetch.
struct Collected {
    /// Indexes of the columns that are not junk.
    columns: Arc<[usize]>,
    rows: Vec<Fields>,
}

impl RowSink for Collected {
    fn row(&mut self, _: &mut State, _: &RowWriter, batch: &Batch, row: usize) -> Result<()> {
        let values = self.columns.iter().map(|column| batch.get(row, *column));
        self.rows.push(Fields::copied(values));
        Ok(())
    }
}

impl State {
    /// A cursor that is not open yet.
    pub(super) fn cursor(&self, prepared: Prepared, params: Arc<[Datum]>) -> Box<Portal> {
        let fields = prepared.fields.clone();
        let level = self.backend.txn.nesting();
        let mut portal = Portal::new(Arc::new(prepared), params, Formats::Text, fields, level);
        portal.cursor = true;
        portal.created = self.transaction.statement_start;
        portal
    }

    /// Opens a cursor for a query; an empty name is replaced by a generated one. Error 42P03 if
    /// there is a cursor of that name.
    pub(crate) fn open_cursor(
        &mut self,
        name: &str,
        statement: Arc<Statement>,
        params: Arc<[Datum]>,
        CursorOptions { scroll, read_only }: CursorOptions,
    ) -> Result<String> {
        let name = if name.is_empty() { self.generated_name() } else { name.to_owned() };
        if self.named.portals.contains_key(&name) {
            return Err(pg_err!(DUPLICATE_CURSOR, "cursor \"{name}\" already exists"));
        }
        let types = statement.param_types.clone();
        let mut portal = self.cursor(Prepared::of(statement, &types), params);
        self.start_portal(&mut portal)?;
        if let Some(run) = &portal.run {
            let plan = run.plan();
            if scroll == Some(true) && !plan.row_marks.is_empty() {
                return Err(pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "DECLARE SCROLL CURSOR ... FOR UPDATE/SHARE is not supported"
                )
                .detail("Scrollable cursors must be READ ONLY."));
            }
            if read_only {
                spi::check_read_only(plan)?;
            }
        }
        portal.make_scrollable(scroll);
        self.named.portals.insert(name.clone(), portal);
        Ok(name)
    }

    fn generated_name(&mut self) -> String {
        loop {
            self.named.generated += 1;
            let name = format!("<unnamed portal {}>", self.named.generated);
            if !self.named.portals.contains_key(&name) {
                return name;
            }
        }
    }

    /// Moves a cursor. With `keep`, returns the rows that it passes; otherwise only their number.
    pub(crate) fn fetch_from_cursor(
        &mut self,
        name: &str,
        moved: (FetchDirection, i64),
        keep: bool,
    ) -> Result<(Vec<Fields>, u64)> {
        let Some((name, mut portal)) = self.named.portals.remove_entry(name) else {
            return Err(no_cursor(name));
        };
        let result = self.fetch_collected(&name, &mut portal, moved, keep);
        if result.is_err() {
            portal.fail();
        }
        self.named.portals.insert(name, portal);
        result
    }

    fn fetch_collected(
        &mut self,
        name: &str,
        portal: &mut Portal,
        moved: (FetchDirection, i64),
        keep: bool,
    ) -> Result<(Vec<Fields>, u64)> {
        if portal.has_failed() || !portal.statement.is_query {
            return Err(cannot_be_run(name));
        }
        self.start_portal(portal)?;
        let columns = portal.fetched().columns;
        let mut sink = Collected { columns, rows: Vec::new() };
        let count = self.fetch_rows(portal, moved, keep.then_some(&mut sink))?;
        Ok((sink.rows, count))
    }

    /// The columns of a cursor's rows. Error 34000 if there is no such cursor.
    pub(crate) fn cursor_row_desc(&mut self, name: &str) -> Result<Arc<RowDesc>> {
        let portal = self.named.portals.get_mut(name).ok_or_else(|| no_cursor(name))?;
        Ok(portal.fetched().desc)
    }

    /// Closes a cursor. Error 34000 if there is none.
    pub(crate) fn close_open_cursor(&mut self, name: &str) -> Result<()> {
        match self.named.portals.remove(name) {
            Some(_) => Ok(()),
            None => Err(no_cursor(name)),
        }
    }
}

/// The type of rows with these columns.
pub(crate) fn row_desc(fields: &[FieldDescription]) -> Arc<RowDesc> {
    let columns = fields.iter().map(|f| RowColumn {
        name: f.name.clone(),
        ty: Oid(f.type_oid),
        typmod: f.typmod,
        collation: Oid::INVALID,
        dropped: None,
    });
    Arc::new(RowDesc::new(columns.collect(), 0))
}

impl Portal {
    /// What functions know about the rows.
    fn fetched(&mut self) -> Fetched {
        if let Some(known) = &self.cursor_rows.fetched {
            return known.clone();
        }
        let desc = row_desc(self.fields.as_deref().unwrap_or_default());
        let columns = match &self.run {
            Some(run) => run.plan().visible_columns(),
            None => (0..desc.columns.len()).collect(),
        };
        let fetched = Fetched { desc, columns: columns.into() };
        if self.run.is_some() {
            // The structure is known when the query has been planned.
            self.cursor_rows.fetched = Some(fetched.clone());
        }
        fetched
    }
}
