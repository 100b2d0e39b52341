//! Rows for the transition tables of a statement. Counterpart: `TransitionCaptureState`.

use super::{Refs, RowWriter, WriteHost};
use crate::relation::OpenRel;
use crate::trigger::{CapturedChange, Change, RowVersion};
use pgerror::Result;
use std::sync::Arc;
use types::DatumRef;

/// Where changed rows are captured.
pub(super) struct Capture {
    /// The relation that the statement names, whose triggers have transition tables.
    root: Arc<OpenRel>,
    /// For each column of `root`, its index in the rows that are written, unless it is the same.
    map: Option<Box<[Option<usize>]>>,
}

impl RowWriter {
    /// Captures the rows that are written for the triggers of `root`, the relation that the
    /// statement names: the writer's own or one from which it inherits.
    pub(super) fn capture_for(&mut self, root: &Arc<OpenRel>) {
        if !root.triggers.have_transitions() {
            return;
        }
        let map = (!Arc::ptr_eq(root, &self.rel)).then(|| self.map_of(root));
        self.capture = Some(Box::new(Capture { root: root.clone(), map }));
    }

    /// For each column of `root`, its index in the rows of the relation.
    fn map_of(&self, root: &OpenRel) -> Box<[Option<usize>]> {
        let own = &self.rel.columns.columns;
        let index_of = |name: &str| own.iter().position(|c| !c.is_dropped() && c.name == name);
        let columns = root.columns.columns.iter();
        columns.map(|c| if c.is_dropped() { None } else { index_of(&c.name) }).collect()
    }

    /// A row in the columns of `root`.
    pub(super) fn in_columns_of<'v>(&self, root: &OpenRel, row: &[DatumRef<'v>]) -> Refs<'v> {
        of_map(&self.map_of(root), row)
    }

    /// True if the rows of this change are captured.
    pub fn captures(&self, change: Change) -> bool {
        self.capture.as_ref().is_some_and(|c| {
            let (old, new) = c.root.triggers.transitions(change);
            old || new
        })
    }

    #[cold]
    pub(super) fn capture<H: WriteHost + ?Sized>(
        &self,
        host: &mut H,
        change: Change,
        old: Option<RowVersion<'_>>,
        new: Option<RowVersion<'_>>,
    ) -> Result<()> {
        let Some(capture) = &self.capture else { return Ok(()) };
        let wanted = capture.root.triggers.transitions(change);
        let (mut old_row, mut new_row) = (None, None);
        for (is_wanted, version, row) in
            [(wanted.0, old, &mut old_row), (wanted.1, new, &mut new_row)]
        {
            if let Some(version) = version.filter(|_| is_wanted) {
                *row = Some(capture.of_root(version.values));
            }
        }
        let rel = &capture.root;
        let (old, new) = (old_row.as_deref(), new_row.as_deref());
        host.services().capture(CapturedChange { rel, change, old, new })
    }
}

impl Capture {
    fn of_root<'v>(&self, values: &[DatumRef<'v>]) -> Refs<'v> {
        match &self.map {
            None => values.iter().copied().collect(),
            Some(map) => of_map(map, values),
        }
    }
}

fn of_map<'v>(map: &[Option<usize>], values: &[DatumRef<'v>]) -> Refs<'v> {
    map.iter().map(|at| at.map_or(DatumRef::Null, |at| values[at])).collect()
}
