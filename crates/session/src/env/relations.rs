//! Opens relations for the executor.

use crate::state::State;
use catalog::RelDesc;
use catalog::rows::{PgIndex, indexes};
use executor::{ExclusionOperator, OpenRel, RelCalls, RelCheck, RelIndex};
use ids::code::{ColumnGenerated, ConType};
use ids::{Oid, RelKind};
use pgerror::{PgError, Result};
use plan::nodetree;
use std::sync::Arc;
use types::fn_context::{RowColumn, RowDesc};

impl State {
    /// The open table for the executor. It is built again if the descriptor has changed.
    pub(crate) fn open_rel(&mut self, relid: Oid) -> Result<Arc<OpenRel>> {
        let desc = self.cat().relation(relid)?;
        if let Some((of, open)) = self.caches.relations.get(&relid)
            && Arc::ptr_eq(of, &desc)
        {
            return Ok(open.clone());
        }
        let open = Arc::new(self.make_open_rel(&desc)?);
        self.caches.relations.insert(relid, (desc, open.clone()));
        Ok(open)
    }

    /// The operators of the exclusion constraint of an index.
    fn exclusion_operators(
        &mut self,
        row: &PgIndex,
        index: &RelDesc,
    ) -> Result<Vec<ExclusionOperator>> {
        let (true, Some(part)) = (row.indisexclusion, &index.index) else { return Ok(Vec::new()) };
        let by_table = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
        let rows = self.cat().scan(by_table, &[row.indrelid.into()])?;
        let is_own = |c: &&_| -> bool {
            let c: &catalog::rows::PgConstraint = c;
            c.conindid == row.indexrelid && c.contype == ConType::Exclusion
        };
        let found = rows.iter().map(|c| &c.row).find(is_own);
        let list = found.and_then(|c| c.conexclop.clone()).unwrap_or_default();
        let mut out = Vec::new();
        for (&operator, &family) in list.iter().zip(&part.opfamilies) {
            let function = self.cat().operator(operator)?.oprcode;
            let member = self.cat().operator_in_family(operator, family)?.ok_or_else(|| {
                PgError::internal(format!("operator {operator} is not in the index's family"))
            })?;
            out.push(ExclusionOperator { operator, function, strategy: member.amopstrategy });
        }
        Ok(out)
    }

    fn make_open_rel(&mut self, desc: &Arc<RelDesc>) -> Result<OpenRel> {
        let table = match desc.kind() {
            RelKind::View | RelKind::PartitionedTable => Arc::new(self.cat().view_rows(desc)?),
            _ => desc.rows()?.clone(),
        };
        let columns = desc
            .attributes
            .iter()
            .map(|a| RowColumn {
                name: a.attname.as_str().to_string(),
                ty: a.atttypid,
                typmod: a.atttypmod,
                collation: a.attcollation,
                dropped: a.attisdropped.then_some(types::fn_context::Dropped {
                    len: a.attlen,
                    by_val: a.attbyval,
                    align: a.attalign,
                }),
            })
            .collect();
        let mut indexes = Vec::new();
        for row in &desc.indexes {
            if !row.indisready {
                continue;
            }
            let index = self.cat().relation(row.indexrelid)?;
            // An index of an unsupported access method is ignored here;
            // [`catalog::CatCx::check_new_rows`] refuses new rows in its table.
            let Some(btree) = index.engine_index.clone() else { continue };
            let list = match &row.indexprs {
                Some(text) => nodetree::read_exprs(text.as_str())?,
                None => Vec::new(),
            };
            let mut list = list.into_iter();
            let exprs: Vec<Option<plan::Expr>> =
                row.indkey.iter().map(|&k| if k == 0 { list.next() } else { None }).collect();
            let predicate = match &row.indpred {
                Some(text) => nodetree::read_exprs(text.as_str())?
                    .into_iter()
                    .flat_map(plan::walk::conjuncts)
                    .collect(),
                None => Vec::new(),
            };
            let of_column = |k: &i16| desc.attribute(*k).map_or(Oid::INVALID, |a| a.atttypid);
            let key_types = row.indkey.iter().zip(&exprs).map(|(k, e)| match e {
                Some(e) => e.type_oid(),
                None => of_column(k),
            });
            let key_types = if row.indisexclusion { key_types.collect() } else { Vec::new() };
            indexes.push(RelIndex {
                desc: btree,
                exprs,
                predicate,
                unique: row.indisunique,
                deferrable: (row.indisunique || row.indisexclusion) && !row.indimmediate,
                exclusion: self.exclusion_operators(row, &index)?,
                key_types,
            });
        }
        let mut checks = Vec::new();
        for c in &desc.checks {
            if let Some(text) = &c.conbin {
                let mut expr = nodetree::read_expr(text.as_str())?;
                plan::walk::fix_tableoid(&mut expr, desc.oid());
                checks.push(RelCheck { name: c.conname.as_str().to_string(), expr });
            }
        }
        let mut generated = Vec::new();
        for (attno, text) in &desc.defaults {
            if desc.attribute(*attno).is_some_and(|a| a.attgenerated == ColumnGenerated::Stored) {
                let mut expr = nodetree::read_expr(text.as_str())?;
                plan::walk::fix_tableoid(&mut expr, desc.oid());
                generated.push((*attno, expr));
            }
        }
        let partition = match desc.class.relispartition {
            true => partition::partition_qual(&mut self.cat(), desc.oid())?,
            false => Vec::new(),
        };
        let calls = RelCalls::of(&checks, &partition, &generated, &indexes, self)?;
        Ok(OpenRel {
            table,
            kind: desc.kind(),
            populated: desc.class.relispopulated,
            row_type: desc.class.reltype,
            columns: Arc::new(RowDesc::new(columns, 0)),
            indexes,
            checks,
            partition,
            generated,
            triggers: trigger::describe(&mut self.cat(), desc)?,
            calls,
        })
    }
}
