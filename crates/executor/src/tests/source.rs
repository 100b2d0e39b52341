//! Rows in memory as a plan node. Its batches have the sizes of a pattern, which includes empty
//! ones, independently of the requested number of rows.

use super::plans::{Row, V, scan_targets};
use crate::node::{Exec, Node, batch_for};
use crate::run::Run;
use eval::Host;
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::Expr;
use plan::node::{Plan, PlanInfo, PlanNode};
use types::{Batch, DatumRef};

/// A `ValuesScan` with this range-table index, or a larger one, is a source; the excess is the
/// number of its pattern in [`SIZES`].
const SOURCE: i32 = 1_000_000;

/// Sizes of consecutive batches, repeated to the end of the rows.
pub(super) const SIZES: [&[usize]; 5] = [&[1], &[0, 2, 0, 0, 1], &[3, 0, 7], &[1024], &[1, 1024]];

/// A plan that returns these rows. A cell may refer to an exec parameter ([`V::Param`]).
pub(super) fn source(types: &[Oid], rows: &[Row], sizes: usize) -> Plan {
    let cells = |row: &Row| row.iter().zip(types).map(|(v, t)| v.expr(*t)).collect();
    let scanrelid = SOURCE + sizes as i32;
    Plan {
        info: PlanInfo { target_list: scan_targets(scanrelid, types), ..PlanInfo::default() },
        node: PlanNode::ValuesScan { scanrelid, values_lists: rows.iter().map(cells).collect() },
    }
}

struct SourceNode {
    rows: Vec<Vec<Expr>>,
    template: Batch,
    sizes: &'static [usize],
    /// The next row, and the number of batches returned.
    row: usize,
    batches: usize,
}

/// The node of a source; `None` for other plans.
pub(crate) fn source_node(plan: &Plan, run: &mut Run<'_>) -> Result<Option<Node>> {
    let PlanNode::ValuesScan { scanrelid, values_lists } = &plan.node else { return Ok(None) };
    let Some(sizes) = SIZES.get((scanrelid - SOURCE) as usize) else { return Ok(None) };
    let template = batch_for(&plan.info.target_list, run)?;
    let rows = values_lists.clone();
    Ok(Some(Box::new(SourceNode { rows, template, sizes, row: 0, batches: 0 })))
}

impl Exec for SourceNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        assert!(want > 0, "no rows are requested");
        run.interrupts()?;
        if self.row == self.rows.len() {
            return Ok(None);
        }
        let size = self.sizes[self.batches % self.sizes.len()];
        self.batches += 1;
        let mut out = self.template.clone();
        let end = (self.row + size).min(self.rows.len());
        for row in &self.rows[self.row..end] {
            let mut values = Vec::new();
            for cell in row {
                values.push(match cell {
                    Expr::Const(c) => c.value.clone(),
                    Expr::Param(p) => run.exec_param(p.paramid)?.into_owned(),
                    _ => return Err(PgError::internal("cell of a source")),
                });
            }
            let refs: Vec<DatumRef<'_>> = values.iter().map(types::Datum::as_ref).collect();
            out.push_row(&refs);
        }
        self.row = end;
        Ok(Some(out))
    }

    fn rescan(&mut self, _: &mut Run<'_>) -> Result<()> {
        (self.row, self.batches) = (0, 0);
        Ok(())
    }

    fn reset(&mut self, _: &mut Run<'_>) -> Result<bool> {
        (self.row, self.batches) = (0, 0);
        Ok(true)
    }
}

/// The value of a cell as the test's models have it.
pub(super) fn cell(value: DatumRef<'_>, ty: Oid) -> V {
    match (value, ty) {
        (DatumRef::Null, _) => V::Null,
        (v, types::oids::INT4) => V::Int(v.as_i32().into()),
        (v, types::oids::INT8) => V::Int(v.as_i64()),
        (v, types::oids::BOOL) => V::Int(v.as_bool().into()),
        (v, _) => V::Text(String::from_utf8_lossy(v.as_bytes()).into_owned()),
    }
}
