//! Window functions. Counterpart: nodeWindowAgg.c, windowfuncs.c.

use crate::node::*;
use crate::run::Run;
use pgerror::{PgError, Result};
use plan::node::{Plan, WindowAgg};

pub(crate) struct WindowNode;

impl WindowNode {
    pub(crate) fn boxed(_: &Plan, _: &WindowAgg, _: Node, _: &mut Run<'_>) -> Result<Node> {
        Err(PgError::unsupported("window function"))
    }
}
