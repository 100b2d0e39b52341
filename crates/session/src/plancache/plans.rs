//! The plans of a statement.

use super::Locks;
use plan::PlannedStmt;
use std::sync::Arc;

/// The setting `plan_cache_mode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Mode {
    #[default]
    Auto,
    Generic,
    Custom,
}

impl Mode {
    pub(crate) fn named(name: &str) -> Mode {
        match name {
            "force_generic_plan" => Mode::Generic,
            "force_custom_plan" => Mode::Custom,
            _ => Mode::Auto,
        }
    }
}

/// The plans of a statement and their statistics.
#[derive(Default)]
pub(crate) struct Plans {
    pub(super) generic: Option<Arc<Generic>>,
    pub(super) custom: CustomPlans,
}

/// Number of custom plans before a generic plan is considered.
const CUSTOM_PLANS_FIRST: u32 = 5;

/// The number of custom plans that were made, and the sum of their costs, planning included.
#[derive(Clone, Copy, Default)]
pub(crate) struct CustomPlans {
    count: u32,
    cost: f64,
}

impl CustomPlans {
    pub(super) fn add(&mut self, cost: f64) {
        self.count = self.count.saturating_add(1);
        self.cost += cost;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// True if there are too few custom plans for an average cost.
    pub(super) fn are_few(&self) -> bool {
        self.count < CUSTOM_PLANS_FIRST
    }

    pub(super) fn average_cost(&self) -> f64 {
        self.cost / f64::from(self.count)
    }

    /// PostgreSQL's choice for a prepared statement: true if this execution gets a custom plan.
    /// `generic` is the generic plan, if it has been made.
    pub(crate) fn is_custom_next(
        &self,
        has_params: bool,
        mode: Mode,
        generic: Option<&Generic>,
    ) -> bool {
        has_params
            && match mode {
                Mode::Generic => false,
                Mode::Custom => true,
                Mode::Auto => {
                    let worse = |g: &Generic| g.cost() >= self.average_cost();
                    self.are_few() || generic.is_some_and(worse)
                }
            }
    }
}

/// A generic plan.
pub(crate) struct Generic {
    pub(crate) plan: Arc<PlannedStmt>,
    /// No parameter values could lead to a better plan.
    pub(super) settled: bool,
    pub(crate) locks: Locks,
    /// Tables on whose sizes the plan depends, and their numbers of blocks at the time of planning.
    pub(super) sizes: Vec<(Arc<engine::TableDesc>, u32)>,
}

impl Generic {
    /// The estimated cost of an execution, without planning.
    pub(super) fn cost(&self) -> f64 {
        self.plan.plan_tree.info.total_cost
    }
}
