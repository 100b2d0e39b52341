//! Extended statistics (CREATE STATISTICS): numbers of distinct combinations, functional
//! dependencies, most common combinations, statistics of expressions.
//!
//! Counterpart: extended_stats.c, mvdistinct.c, dependencies.c, mcv.c.

use crate::column::{self, Subject};
use crate::rows::{Evaluated, evaluate};
use catalog::RelDesc;
use catalog::rows::indexes::{
    PG_STATISTIC_EXT_DATA_STXOID_INH_INDEX, PG_STATISTIC_EXT_RELID_INDEX,
};
use catalog::rows::{AnyArray, CatalogRow, PgStatistic, PgStatisticExt, PgStatisticExtData, Text};
use engine::sample::Sample;
use ids::{AttrNo, Oid};
use pgerror::{Result, Severity, pg_err};
use plan::Expr;
use std::cmp::Ordering;
use std::sync::Arc;
use types::extstats::{
    ColumnsValue, McvDimension, write_dependencies, write_mcv_list, write_ndistinct,
};
use types::{Comparer, Datum};
use utility::host::CommandHost;

/// The columns of the sample with their own statistics targets, -1 for the default.
pub type Targets<'a> = &'a [(AttrNo, i32)];

/// The statistics target of an object, if all its columns are in the sample. Counterpart:
/// `statext_compute_stattarget`.
fn target_of(object: &PgStatisticExt, columns: Targets<'_>, default: i32) -> Option<i32> {
    let mut target = object.stxstattarget;
    let own = |number: &AttrNo| columns.iter().find(|c| c.0 == *number).map(|c| c.1);
    let targets = object.stxkeys.0.iter().map(own).collect::<Option<Vec<i32>>>()?;
    if target < 0 {
        target = targets.into_iter().max().unwrap_or(-1);
    }
    Some(if target < 0 { default } else { target })
}

fn objects(host: &mut dyn CommandHost, relation: Oid) -> Result<Vec<PgStatisticExt>> {
    let rows = host.catalog().scan(PG_STATISTIC_EXT_RELID_INDEX, &[relation.into()])?;
    Ok(rows.into_iter().map(|row| row.row.clone()).collect())
}

/// The largest statistics target of the objects that can be computed. Counterpart:
/// `ComputeExtStatisticsRows`.
pub fn largest_target(
    host: &mut dyn CommandHost,
    relation: Oid,
    columns: Targets<'_>,
    default: i32,
) -> Result<i32> {
    let objects = objects(host, relation)?;
    Ok(objects.iter().filter_map(|o| target_of(o, columns, default)).max().unwrap_or(0))
}

/// Computes and stores the data of all statistics objects of a table. `inherit`: the sample is that
/// of the table and its children. Counterpart: `BuildRelationExtStatistics`.
pub fn build(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    columns: Targets<'_>,
    sample: &Sample,
    (default, inherit): (i32, bool),
) -> Result<()> {
    if columns.is_empty() {
        return Ok(());
    }
    for object in objects(host, rel.oid())? {
        let Some(target) = target_of(&object, columns, default) else {
            let mut cat = host.catalog();
            let own = cat.namespace_name(object.stxnamespace)?.unwrap_or_default();
            let schema = cat.namespace_name(rel.class.relnamespace)?.unwrap_or_default();
            let e = pg_err!(
                INVALID_OBJECT_DEFINITION,
                "statistics object \"{own}.{}\" could not be computed for relation \"{schema}.{}\"",
                object.stxname,
                rel.name()
            );
            host.notice(e.table(schema.as_str(), rel.name()).severity(Severity::Warning));
            continue;
        };
        if target == 0 {
            continue;
        }
        // Expressions are evaluated with the privileges of the table's owner.
        host.as_owner(rel.class.relowner, &mut |host| {
            let row = of_object(host, rel, &object, columns, sample, (target as usize, inherit))?;
            store(host, &row)
        })?;
    }
    Ok(())
}

/// Replaces the data of a statistics object.
fn store(host: &mut dyn CommandHost, new: &PgStatisticExtData) -> Result<()> {
    let keys = [new.stxoid.into(), new.stxdinherit.into()];
    let mut cat = host.catalog();
    match cat.scan(PG_STATISTIC_EXT_DATA_STXOID_INH_INDEX, &keys)?.pop() {
        Some(old) => cat.update(&old, new).map(drop),
        None => cat.insert(new).map(drop),
    }
}

/// The values of a sample in the columns and expressions of a statistics object.
struct Dimensions {
    /// Numbers of the columns; those of expressions are negative.
    numbers: Vec<AttrNo>,
    subjects: Vec<Subject>,
    orders: Vec<Comparer>,
    /// The values by row.
    rows: Vec<Vec<Datum>>,
    /// The rows without wide values.
    narrow: Vec<usize>,
}

impl Dimensions {
    /// The order of values; NULL is last.
    fn compare_values(&self, dimension: usize, a: &Datum, b: &Datum) -> Ordering {
        match (a.is_null(), b.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ => {
                let collation = self.subjects[dimension].collation;
                self.orders[dimension].order(a.as_ref(), b.as_ref(), collation)
            }
        }
    }

    fn compare(&self, dimensions: &[usize], a: usize, b: usize) -> Ordering {
        let (a, b) = (&self.rows[a], &self.rows[b]);
        let mut each = dimensions.iter().map(|&d| self.compare_values(d, &a[d], &b[d]));
        each.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// Sorts rows by these dimensions.
    fn sorted(&self, mut rows: Vec<usize>, dimensions: &[usize]) -> Vec<usize> {
        rows.sort_by(|a, b| self.compare(dimensions, *a, *b));
        rows
    }

    fn numbers_of(&self, dimensions: &[usize]) -> Vec<AttrNo> {
        dimensions.iter().map(|&d| self.numbers[d]).collect()
    }
}

/// The combinations of `k` of the numbers below `n`, in lexicographic order.
fn combinations(n: usize, k: usize) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new()];
    for _ in 0..k {
        let longer = out.into_iter().flat_map(|c: Vec<usize>| {
            let from = c.last().map_or(0, |last| last + 1);
            (from..n).map(move |next| c.iter().copied().chain([next]).collect())
        });
        out = longer.collect();
    }
    out
}

fn of_object(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    object: &PgStatisticExt,
    columns: Targets<'_>,
    sample: &Sample,
    (target, inherit): (usize, bool),
) -> Result<PgStatisticExtData> {
    let mut exprs: Vec<Expr> = Vec::new();
    if let Some(text) = &object.stxexprs {
        for e in plan::nodetree::read_exprs(text.as_str())? {
            exprs.push(host.planner().fold(e)?);
        }
    }
    let in_sample: Vec<AttrNo> = columns.iter().map(|c| c.0).collect();
    let evaluated = evaluate(host, rel, &in_sample, sample, (&exprs, &[]))?;
    let dimensions = match &evaluated {
        Some(evaluated) => {
            dimensions(host, (rel, object), &exprs, (&in_sample, sample), evaluated)?
        }
        None => None,
    };
    let all = sample.live_rows;
    let mut row = PgStatisticExtData {
        stxoid: object.oid,
        stxdinherit: inherit,
        stxdndistinct: None,
        stxddependencies: None,
        stxdmcv: None,
        stxdexpr: None,
    };
    let text = |bytes: Vec<u8>| Some(Text(bytes.into_boxed_slice()));
    for kind in &object.stxkind {
        let Some(d) = dimensions.as_ref().filter(|d| !d.rows.is_empty() && d.numbers.len() > 1)
        else {
            continue;
        };
        match kind {
            b'd' => row.stxdndistinct = text(ndistinct(host, d, all)?),
            b'f' => row.stxddependencies = dependencies(host, d)?.and_then(text),
            b'm' => row.stxdmcv = mcv(host, d, all, target)?.and_then(text),
            _ => {}
        }
    }
    if let Some(evaluated) = evaluated.filter(|_| object.stxkind.contains(&b'e')) {
        row.stxdexpr = expressions(host, &exprs, &evaluated.into_sample(sample), target)?;
    }
    Ok(row)
}

/// The dimensions of an object; `None` if a type has no order.
fn dimensions(
    host: &mut dyn CommandHost,
    (rel, object): (&RelDesc, &PgStatisticExt),
    exprs: &[Expr],
    (in_sample, sample): (&[AttrNo], &Sample),
    evaluated: &Evaluated,
) -> Result<Option<Dimensions>> {
    let keys = object.stxkeys.0.iter();
    let at: Vec<usize> = keys.filter_map(|k| in_sample.iter().position(|c| c == k)).collect();
    let mut subjects = Vec::new();
    let mut numbers = Vec::new();
    for number in &*object.stxkeys.0 {
        if let Some(a) = rel.attribute(*number) {
            subjects.push(Subject::of(rel, a));
            numbers.push(*number);
        }
    }
    for (n, e) in (1..).zip(exprs) {
        subjects.push(Subject::computed(e));
        numbers.push(-n);
    }
    let mut orders = Vec::new();
    let mut varlena = Vec::new();
    for subject in &subjects {
        let Some(order) = column::comparer(host, subject)? else { return Ok(None) };
        orders.push(order);
        varlena.push(host.functions().type_info(subject.type_oid)?.len == -1);
    }
    let mut rows: Vec<Vec<Datum>> = Vec::new();
    for batch in &sample.batches {
        let first = rows.len();
        for r in 0..batch.rows.len {
            rows.push(at.iter().map(|&column| batch.rows.get(r, column).to_owned()).collect());
        }
        for value in &batch.packed {
            let wanted = at.iter().position(|column| *column == value.column);
            if let (Some(place), Some(raw)) = (wanted, value.omitted.as_deref()) {
                rows[first + value.row][place] = Datum::bytes(batch.expand(host.backend(), raw)?);
            }
        }
    }
    for (row, values) in rows.iter_mut().zip(evaluated.rows()) {
        row.extend(values);
    }
    let is_narrow = |row: &Vec<Datum>| {
        row.iter().zip(&varlena).all(|(value, varlena)| match value {
            Datum::Bytes(b) => !varlena || b.len() + 4 <= column::WIDTH_MAX,
            _ => true,
        })
    };
    let narrow = (0..rows.len()).filter(|&r| is_narrow(&rows[r])).collect();
    Ok(Some(Dimensions { numbers, subjects, orders, rows, narrow }))
}

/// Counterpart: `statext_ndistinct_build`.
fn ndistinct(host: &mut dyn CommandHost, d: &Dimensions, all: f64) -> Result<Vec<u8>> {
    let width = d.numbers.len();
    let mut items = Vec::new();
    for dimensions in (2..=width).flat_map(|k| combinations(width, k)) {
        host.backend().check_interrupts()?;
        let order = d.sorted((0..d.rows.len()).collect(), &dimensions);
        let groups = order.chunk_by(|a, b| d.compare(&dimensions, *a, *b).is_eq());
        let (mut distinct, mut once) = (0.0, 0.0);
        for group in groups {
            distinct += 1.0;
            once += f64::from(u8::from(group.len() == 1));
        }
        // The estimator of Haas and Stokes, as for columns.
        let sampled = d.rows.len() as f64;
        let estimate = sampled * distinct / ((sampled - once) + once * sampled / all);
        let value = (estimate.max(distinct).min(all) + 0.5).floor();
        items.push(ColumnsValue { value, columns: d.numbers_of(&dimensions) });
    }
    Ok(write_ndistinct(&items))
}

/// The degree of each dependency of a column on others: the fraction of the rows whose values of
/// the others occur with one value of the column only. Counterpart: `statext_dependencies_build`.
fn dependencies(host: &mut dyn CommandHost, d: &Dimensions) -> Result<Option<Vec<u8>>> {
    let width = d.numbers.len();
    let mut items = Vec::new();
    for k in 2..=width {
        for others in combinations(width, k - 1) {
            for last in (0..width).filter(|n| !others.contains(n)) {
                host.backend().check_interrupts()?;
                let mut dimensions = others.clone();
                dimensions.push(last);
                let order = d.sorted(d.narrow.clone(), &dimensions);
                let groups = order.chunk_by(|a, b| d.compare(&others, *a, *b).is_eq());
                let is_single = |group: &&[usize]| match **group {
                    [first, .., end] => d.compare(&[last], first, end).is_eq(),
                    _ => true,
                };
                let supporting: usize = groups.filter(is_single).map(<[usize]>::len).sum();
                if supporting > 0 {
                    let value = supporting as f64 / d.rows.len() as f64;
                    items.push(ColumnsValue { value, columns: d.numbers_of(&dimensions) });
                }
            }
        }
    }
    Ok((!items.is_empty()).then(|| write_dependencies(&items)))
}

/// The least count of a combination in a sample of a table that makes it a common one: then the
/// relative standard error is at most 20 %. Counterpart: `get_mincount_for_mcv_list`.
fn least_count(sampled: f64, all: f64) -> f64 {
    let numerator = sampled * (all - sampled);
    let denominator = all - sampled + 0.04 * sampled * (all - 1.0);
    if denominator == 0.0 { 0.0 } else { numerator / denominator }
}

/// The most common combinations of values. Counterpart: `statext_mcv_build`.
fn mcv(
    host: &mut dyn CommandHost,
    d: &Dimensions,
    all: f64,
    target: usize,
) -> Result<Option<Vec<u8>>> {
    host.backend().check_interrupts()?;
    let width = d.numbers.len();
    let every: Vec<usize> = (0..width).collect();
    let order = d.sorted(d.narrow.clone(), &every);
    // A row of each group, and the number of rows.
    let groups = order.chunk_by(|a, b| d.compare(&every, *a, *b).is_eq());
    let mut groups: Vec<(usize, usize)> = groups.map(|g| (g[0], g.len())).collect();
    groups.sort_by_key(|g| std::cmp::Reverse(g.1));
    let sampled = d.rows.len() as f64;
    let least = least_count(sampled, all);
    groups.truncate(target);
    let kept = groups.iter().take_while(|g| g.1 as f64 >= least).count();
    groups.truncate(kept);
    if groups.is_empty() {
        return Ok(None);
    }
    let mut dimensions = Vec::new();
    let mut items: Vec<(Vec<Option<u16>>, f64, f64)> =
        groups.iter().map(|g| (Vec::new(), g.1 as f64 / sampled, 1.0)).collect();
    for n in 0..width {
        let compare = |a: &Datum, b: &Datum| d.compare_values(n, a, b);
        // Rows in the order of this column alone.
        let order = d.sorted(d.narrow.clone(), &[n]);
        let own: Vec<(&Datum, usize)> = order
            .chunk_by(|a, b| d.compare(&[n], *a, *b).is_eq())
            .map(|g| (&d.rows[g[0]][n], g.len()))
            .collect();
        let present = groups.iter().map(|g| &d.rows[g.0][n]).filter(|v| !v.is_null());
        let mut values: Vec<Datum> = present.cloned().collect();
        values.sort_by(compare);
        values.dedup_by(|a, b| compare(a, b).is_eq());
        for (item, (row, _)) in items.iter_mut().zip(&groups) {
            let value = &d.rows[*row][n];
            let index = match value.is_null() {
                true => None,
                false => values.binary_search_by(|v| compare(v, value)).ok().map(|i| i as u16),
            };
            item.0.push(index);
            let found = own.binary_search_by(|v| compare(v.0, value)).map_or(0, |at| own[at].1);
            item.2 *= found as f64 / sampled;
        }
        let type_oid = d.subjects[n].type_oid;
        let info = host.functions().type_info(type_oid)?;
        dimensions.push(McvDimension { type_oid, info, values });
    }
    Ok(Some(write_mcv_list(&dimensions, &items)))
}

/// The statistics of expressions, as an array of rows of `pg_statistic`. Counterpart:
/// `compute_expr_stats`, `serialize_expr_stats`.
fn expressions(
    host: &mut dyn CommandHost,
    exprs: &[Expr],
    sample: &Sample,
    target: usize,
) -> Result<Option<AnyArray>> {
    let row_type = host.catalog().class(PgStatistic::RELATION)?.reltype;
    let mut rows = Vec::new();
    for (at, e) in exprs.iter().enumerate() {
        let subject = Subject::computed(e);
        rows.push(match column::compute(host, &subject, (sample, at), target)? {
            Some(row) => composite(host, row_type, &row)?,
            None => Datum::Null,
        });
    }
    let info = host.functions().type_info(row_type)?;
    crate::slots::array(&info, &rows)
}

/// A row of a catalog as a composite value.
fn composite(host: &mut dyn CommandHost, ty: Oid, row: &PgStatistic) -> Result<Datum> {
    let desc = host.functions().row_desc(ty, -1)?;
    let values = row.to_row();
    let mut columns = Vec::with_capacity(values.len());
    for (column, value) in desc.columns.iter().zip(&values) {
        columns.push((host.functions().type_info(column.ty)?, value.as_ref()));
    }
    types::record::form(ty, -1, desc.version, &columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_in_lexicographic_order() {
        assert_eq!(combinations(4, 3), [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]);
        assert_eq!(combinations(3, 1), [[0], [1], [2]]);
    }
}
