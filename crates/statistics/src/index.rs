//! Statistics of index expressions, which are used to estimate conditions on these expressions.
//!
//! Counterpart: `compute_index_stats` of analyze.c.

use crate::column::{self, Subject};
use crate::rows::evaluate;
use catalog::RelDesc;
use catalog::rows::{PgAttribute, PgIndex, PgStatistic};
use engine::sample::Sample;
use ids::AttrNo;
use pgerror::Result;
use plan::expr::Expr;
use std::sync::Arc;
use utility::host::CommandHost;

/// The `pg_statistic` rows for all expressions of the table's indexes. `columns` are the columns of
/// the sample; `target` is the default statistics target.
pub fn compute(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    columns: &[AttrNo],
    sample: &Sample,
    target: i32,
) -> Result<Vec<PgStatistic>> {
    let mut out = Vec::new();
    let with_expressions = |i: &&PgIndex| i.indexprs.is_some();
    let indexes: Vec<PgIndex> = rel.indexes.iter().filter(with_expressions).cloned().collect();
    for index in &indexes {
        // Index expressions are evaluated with the privileges of the table's owner.
        host.as_owner(rel.class.relowner, &mut |host| {
            out.append(&mut of_index(host, rel, index, columns, sample, target)?);
            Ok(())
        })?;
    }
    Ok(out)
}

fn of_index(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    index: &PgIndex,
    columns: &[AttrNo],
    sample: &Sample,
    target: i32,
) -> Result<Vec<PgStatistic>> {
    let Some(text) = &index.indexprs else { return Ok(Vec::new()) };
    let list = plan::nodetree::read_exprs(text.as_str())?;
    let predicate: Vec<Expr> = match &index.indpred {
        Some(text) => plan::nodetree::read_exprs(text.as_str())?
            .into_iter()
            .flat_map(plan::walk::conjuncts)
            .collect(),
        None => Vec::new(),
    };
    let evaluated = evaluate(host, rel, columns, sample, (&list, &predicate))?;
    let Some(evaluated) = evaluated else { return Ok(Vec::new()) };
    let sample = evaluated.into_sample(sample);
    let desc = host.catalog().relation(index.indexrelid)?;
    let mut out = Vec::new();
    let expressions = (1..).zip(index.indkey.iter()).filter(|(_, n)| **n == 0);
    for (at, (number, _)) in expressions.enumerate() {
        let (Some(a), Some(e)) = (desc.attribute(number), list.get(at)) else { continue };
        // The index may store another type, such as a hash code.
        let a = &PgAttribute { atttypid: e.type_oid(), ..a.clone() };
        let own = if a.attstattarget < 0 { target } else { a.attstattarget };
        if own != 0 {
            let subject = Subject::of(&desc, a);
            out.extend(column::compute(host, &subject, (&sample, at), own as usize)?);
        }
    }
    Ok(out)
}
