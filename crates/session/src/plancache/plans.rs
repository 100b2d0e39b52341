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
    pub(super) custom_count: u32,
    pub(super) custom_cost: f64,
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
