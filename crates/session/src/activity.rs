//! Updates of the session's entry in `pg_stat_activity`.

use crate::core::Core;
use crate::session::Session;
use crate::xact::Block;
use client::activity::{State, VisibleActivity};
use stats::SessionState;

impl Core {
    pub(crate) fn show_activity(&self, change: impl FnOnce(&mut VisibleActivity)) {
        if let Some((_, handle)) = &self.server {
            handle.activity.change(change);
        }
    }
}

impl Session {
    /// Reports that the session starts a statement.
    pub(crate) fn show_running(&mut self, sql: &[u8]) {
        let begun = self.core.transaction.statement_start;
        let tracked = self.core.activity.track_activities;
        if tracked {
            self.core.backend.stats.enter(SessionState::Active, begun);
        }
        let bytes_max = self.core.activity.activity_bytes_max;
        let bytes_max = if tracked { Some(bytes_max) } else { None };
        self.handle.activity.start(sql, bytes_max, begun);
    }

    /// Reports that the session processes a FunctionCall message, which has no query text.
    pub(crate) fn show_calling(&mut self) {
        let begun = self.core.transaction.statement_start;
        if !self.core.activity.track_activities {
            return;
        }
        self.core.backend.stats.enter(SessionState::Active, begun);
        self.handle.activity.change(|shown| {
            shown.state = State::FunctionCall;
            shown.state_since = begun;
            shown.query_start = begun;
            if shown.xact_start == 0 {
                shown.xact_start = begun;
            }
        });
    }

    /// Reports that the session waits for the client since this time.
    pub(crate) fn show_waiting(&mut self, now: i64) {
        if !self.core.activity.track_activities {
            return;
        }
        let state = match self.core.transaction.block {
            Block::None | Block::Single => State::Idle,
            _ if self.xact.failed => State::InFailedTransaction,
            _ => State::InTransaction,
        };
        let counted = match state {
            State::Idle => SessionState::Idle,
            _ => SessionState::IdleInTransaction,
        };
        self.core.backend.stats.enter(counted, now);
        self.handle.activity.change(|shown| {
            shown.state = state;
            shown.state_since = now;
            if state == State::Idle {
                shown.xact_start = 0;
            }
        });
    }
}
