//! Dynamic statements whose text was executed before at the same place: they are not parsed and
//! analysed again.

use crate::frame::Frame;
use crate::host::Host;
use crate::instance::{Kind, Prepared};
use crate::tree::SqlNo;
use ids::Oid;
use pgerror::Result;
use std::sync::Arc;
use types::Datum;

/// Values of the parameters of a dynamic statement with their types.
pub(crate) type Parameters = Vec<(Datum, Oid)>;

/// Maximum number of texts that are kept for one place, and of bytes of a text.
const KNOWN_MAX: usize = 4;
const TEXT_BYTES_MAX: usize = 4096;

/// An analysed dynamic query.
pub(crate) struct Dynamic {
    text: Arc<str>,
    param_types: Box<[Oid]>,
    prepared: Arc<Prepared>,
}

impl Dynamic {
    fn is(&self, text: &str, params: &Parameters) -> bool {
        let same_types = self.param_types.iter().eq(params.iter().map(|(_, ty)| ty));
        same_types && *self.text == *text
    }
}

impl Frame<'_> {
    /// The analysed query of this text, if it is known at this place and valid for the current
    /// state of the catalogs. Its relations are locked.
    pub(crate) fn known_dynamic(
        &mut self,
        host: &mut dyn Host,
        place: SqlNo,
        text: &str,
        params: &Parameters,
    ) -> Result<Option<Arc<Prepared>>> {
        let stamp = self.stamp;
        let known = &mut self.instance.sql[place].dynamic;
        known.retain(|d| d.prepared.stamp == stamp);
        let Some(found) = known.iter().find(|d| d.is(text, params)) else { return Ok(None) };
        let prepared = found.prepared.clone();
        let Kind::Query { statement, .. } = &prepared.kind else { return Ok(None) };
        if host.lock(statement)? {
            return Ok(Some(prepared));
        }
        self.refresh(host)?;
        Ok(None)
    }

    /// Keeps the analysed query of a text that consists of it.
    pub(crate) fn keep_dynamic(
        &mut self,
        place: SqlNo,
        (text, params): (&Arc<str>, &Parameters),
        prepared: &Arc<Prepared>,
    ) {
        let Kind::Query { statement, .. } = &prepared.kind else { return };
        if text.len() > TEXT_BYTES_MAX || statement.depends_on_time {
            return;
        }
        let known = &mut self.instance.sql[place].dynamic;
        if known.len() >= KNOWN_MAX {
            known.remove(0);
        }
        known.push(Dynamic {
            text: text.clone(),
            param_types: params.iter().map(|(_, ty)| *ty).collect(),
            prepared: prepared.clone(),
        });
    }
}
