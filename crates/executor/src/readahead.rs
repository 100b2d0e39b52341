//! Read-ahead: the number of rows that a node requests from a child of which it may not need all
//! rows. No counterpart in PostgreSQL, which computes one row at a time.
//!
//! A merge join ends with the shorter of its inputs, and a sort of presorted groups below LIMIT
//! needs only the first groups. Rows that such a node requests beyond those that it uses are wasted
//! work, and their side effects are visible. So the first request is for few rows if a row is
//! costly, and each further one for twice as many: at most about as many rows are wasted as used.
//! Rows with side effects are requested one by one. Errors need no care: a child raises an error
//! only when the rows before the failing one have been read ([`crate::node::DeferredError`]).

use crate::node::Node;
use plan::node::Plan;
use types::BATCH_ROWS_MAX;

/// The size of a first request.
#[derive(Clone, Copy)]
pub(crate) struct FirstRequest {
    /// Estimated cost of its rows.
    cost: f64,
    rows_max: usize,
}

/// For a child of which the node probably does not read all rows. The cost is about that of 100
/// rows of a sequential scan.
pub(crate) const CAUTIOUS: FirstRequest = FirstRequest { cost: 1.0, rows_max: 64 };
/// For a child of which the node rarely leaves rows unread.
pub(crate) const BOLD: FirstRequest = FirstRequest { cost: 50.0, rows_max: BATCH_ROWS_MAX };
/// Factor by which the number of rows grows from one request to the next.
const GROWTH: usize = 2;

/// The sizes of requests to a child.
pub(crate) struct ReadAhead {
    first: usize,
    max: usize,
    next: usize,
}

impl ReadAhead {
    /// Requests to `child`, which runs `plan`, beginning with `first`.
    pub(crate) fn new(plan: &Plan, child: &Node, first: FirstRequest) -> ReadAhead {
        match child.is_volatile() {
            true => ReadAhead { first: 1, max: 1, next: 1 },
            false => ReadAhead::of_costs(plan, first),
        }
    }

    /// As [`Self::new`], for a plan without volatile expressions.
    pub(crate) fn of_costs(plan: &Plan, first: FirstRequest) -> ReadAhead {
        let info = &plan.info;
        let per_row = (info.total_cost - info.startup_cost).max(0.0) / info.plan_rows.max(1.0);
        // The quotient is infinite if a row has no cost; the conversion saturates.
        let first = ((first.cost / per_row) as usize).clamp(1, first.rows_max);
        ReadAhead { first, max: BATCH_ROWS_MAX, next: first }
    }

    /// The number of rows to request now.
    pub(crate) fn rows(&mut self) -> usize {
        let rows = self.next;
        self.next = (rows * GROWTH).min(self.max);
        rows
    }

    /// As [`Self::rows`], if exactly `missing` rows are known to be needed.
    pub(crate) fn rows_of(&self, missing: usize) -> usize {
        missing.clamp(1, self.max)
    }

    /// Starts again with few rows, for another scan.
    pub(crate) fn restart(&mut self) {
        self.next = self.first;
    }
}
