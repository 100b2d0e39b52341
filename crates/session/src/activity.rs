//! Updates of the session's entry in `pg_stat_activity`.

use crate::session::Session;
use crate::state::State;
use crate::xact::Block;
use client::activity::{self, VisibleActivity};
use stats::SessionState;

impl State {
    pub(crate) fn show_activity(&self, change: impl FnOnce(&mut VisibleActivity)) {
        if let Some((_, handle)) = &self.server {
            handle.activity.change(change);
        }
    }
}

impl Session {
    /// Reports that the session starts a statement.
    pub(crate) fn show_running(&mut self, sql: &[u8]) {
        let begun = self.state.transaction.statement_start;
        let tracked = self.state.activity.track_activities;
        if tracked {
            self.state.backend.stats.enter(SessionState::Active, begun);
        }
        let bytes_max = self.state.activity.activity_bytes_max;
        let bytes_max = if tracked { Some(bytes_max) } else { None };
        self.handle.activity.start(sql, bytes_max, begun);
    }

    /// Reports that the session processes a FunctionCall message, which has no query text.
    pub(crate) fn show_calling(&mut self) {
        let begun = self.state.transaction.statement_start;
        if !self.state.activity.track_activities {
            return;
        }
        self.state.backend.stats.enter(SessionState::Active, begun);
        self.handle.activity.change(|shown| {
            shown.state = activity::State::FunctionCall;
            shown.state_since = begun;
            shown.query_start = begun;
            if shown.xact_start == 0 {
                shown.xact_start = begun;
            }
        });
    }

    /// Reports that the session waits for the client since this time.
    pub(crate) fn show_waiting(&mut self, now: i64) {
        if !self.state.activity.track_activities {
            return;
        }
        let state = match self.state.transaction.block {
            Block::None | Block::Single => activity::State::Idle,
            _ if self.xact.failed => activity::State::InFailedTransaction,
            _ => activity::State::InTransaction,
        };
        let counted = match state {
            activity::State::Idle => SessionState::Idle,
            _ => SessionState::IdleInTransaction,
        };
        self.state.backend.stats.enter(counted, now);
        self.handle.activity.change(|shown| {
            shown.state = state;
            shown.state_since = now;
            if state == activity::State::Idle {
                shown.xact_start = 0;
            }
        });
    }
}
