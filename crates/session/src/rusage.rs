//! The CPU time of the queries of a session.

use crate::session::Session;
use client::rusage::Times;
use vfs::process;

impl Session {
    /// A message was received: starts the measurement of a query, unless an earlier message of the
    /// query has started it.
    pub(crate) fn begin_metered(&mut self) {
        if self.state.values.resolved.track_rusage && self.metered.is_none() {
            self.metered = Some(process::thread_usage().into());
        }
    }

    /// Ends the measurement of a query, before ReadyForQuery.
    pub(crate) fn end_metered(&mut self) {
        if let Some(before) = self.metered.take() {
            let used = Times::between(before, process::thread_usage().into());
            self.handle.meter.add_query(used);
        }
    }
}
