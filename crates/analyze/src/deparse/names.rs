//! Names by which a query's parts refer to each other: of tables, and of their columns as they are
//! now.

use crate::session::Host;
use ids::Oid;
use pgerror::Result;
use plan::expr::{Expr, TargetEntry};
use plan::query::{JoinTreeNode, Query, RteKind, WindowClause};
use std::collections::HashMap;
use std::sync::Arc;

/// One entry of a range table.
#[derive(Clone, Default)]
pub(super) struct Entry {
    /// None for a join without a name.
    pub refname: Option<String>,
    /// None for dropped columns.
    pub columns: Vec<Option<String>>,
    /// The list of column names must be written behind the alias.
    pub print_aliases: bool,
    /// The names in that list; true: of a column that a table got since.
    pub shown: Vec<(String, bool)>,
    /// What the columns of a join without a name stand for.
    pub join_columns: Vec<Expr>,
}

/// The names of one query level.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub entries: Vec<Entry>,
    pub ctes: Vec<String>,
    pub windows: Vec<WindowClause>,
    /// The target list that the windows' clauses refer to.
    pub targets: Vec<TargetEntry>,
    /// The query itself, in which the makers of anonymous rows are searched.
    pub query: Option<Arc<Query>>,
}

impl Scope {
    pub fn of_relations(host: &mut dyn Host, relations: &[(Option<&str>, Oid)]) -> Result<Scope> {
        let mut entries = Vec::new();
        for &(alias, oid) in relations {
            let desc = host.catalog().relation(oid)?;
            let refname = Some(alias.unwrap_or(desc.name()).to_owned());
            entries.push(Entry { refname, columns: real_columns(&desc), ..Entry::default() });
        }
        Ok(Scope { entries, ..Scope::default() })
    }

    pub fn of_names(names: Vec<(Option<String>, Vec<String>)>) -> Scope {
        let entries = names.into_iter().map(|(refname, columns)| Entry {
            refname,
            columns: columns.into_iter().map(Some).collect(),
            ..Entry::default()
        });
        Scope { entries: entries.collect(), ..Scope::default() }
    }

    /// Counterpart: `set_deparse_for_query`.
    pub fn of_query(host: &mut dyn Host, query: &Query, outer: &[Scope]) -> Result<Scope> {
        let mut used: Vec<String> =
            outer.iter().flat_map(|s| s.entries.iter()).filter_map(|e| e.refname.clone()).collect();
        let merged = merged_names(query);
        let mut sides = HashMap::new();
        query.jointree.fromlist.iter().for_each(|node| add_sides(node, &mut sides));
        let mut entries: Vec<Entry> = Vec::with_capacity(query.rtable.len());
        for (rti, rte) in (1..).zip(&query.rtable) {
            let mut entry = Entry::default();
            let mut real: Vec<Option<String>> = rte
                .eref
                .colnames
                .iter()
                .map(|c| if c.is_empty() { None } else { Some(c.clone()) })
                .collect();
            let mut wanted = Some(rte.eref.aliasname.clone());
            match &rte.kind {
                RteKind::Relation { relid, .. } => {
                    let desc = host.catalog().relation(*relid)?;
                    real = real_columns(&desc);
                    wanted = Some(desc.name().to_owned());
                }
                RteKind::Join { joinaliasvars, .. } if rte.alias.is_none() => {
                    wanted = None;
                    entry.join_columns = joinaliasvars.clone();
                }
                // As the columns that it joins are called now.
                RteKind::Join { joinaliasvars, .. } => {
                    for (name, column) in real.iter_mut().zip(joinaliasvars) {
                        let Expr::Var(v) = column else { continue };
                        let below: Option<&Entry> = entries.get(v.varno as usize - 1);
                        let below = below.and_then(|e| e.columns.get(v.varattno as usize - 1));
                        if let Some(Some(now)) = below {
                            *name = Some(now.clone());
                        }
                    }
                }
                _ => {}
            }
            if let Some(alias) = &rte.alias {
                wanted = Some(alias.aliasname.clone());
            }
            entry.refname = wanted.map(|name| unused_name(name, &mut used));
            let given: &[String] = rte.alias.as_ref().map_or(&[], |a| &a.colnames);
            let is_join = matches!(rte.kind, RteKind::Join { .. });
            let mut changed = false;
            let merged_here = |i: usize| merged.get(&(rti, i + 1));
            let mut seen: Vec<String> = (0..real.len()).filter_map(merged_here).cloned().collect();
            for (i, name) in real.iter().enumerate() {
                let Some(name) = name else {
                    entry.columns.push(None);
                    continue;
                };
                let alias = given.get(i).filter(|g| !g.is_empty());
                let chosen = match merged_here(i) {
                    Some(merged) => merged.clone(),
                    None if is_join && rte.alias.is_none() => name.clone(),
                    None => unused_name(alias.unwrap_or(name).clone(), &mut seen),
                };
                changed |= chosen != *name;
                entry.columns.push(Some(chosen));
            }
            entry.print_aliases = match &rte.kind {
                RteKind::Relation { .. } => changed,
                RteKind::Function { .. } => true,
                // Its columns are named within it.
                RteKind::TableFunc(_) => false,
                RteKind::Join { .. } => rte.alias.is_some() && changed,
                _ => changed || !given.is_empty(),
            };
            entry.shown = match (&rte.kind, sides.get(&rti)) {
                (
                    RteKind::Join { joinmergedcols, joinleftcols, joinrightcols, .. },
                    Some(&below),
                ) => {
                    let first = |list: &[i32]| ((*joinmergedcols).max(0) as usize).min(list.len());
                    let merged = [
                        &joinleftcols[..first(joinleftcols)],
                        &joinrightcols[..first(joinrightcols)],
                    ];
                    let (shown, renamed) =
                        shown_of_join(&entry.columns, merged, below, &entries, &mut seen);
                    entry.print_aliases |= rte.alias.is_some() && renamed;
                    shown
                }
                _ => {
                    let known = match rte.kind {
                        RteKind::Relation { .. } => rte.eref.colnames.len(),
                        _ => usize::MAX,
                    };
                    let all = entry.columns.iter().enumerate();
                    all.filter_map(|(i, c)| Some((c.clone()?, i >= known))).collect()
                }
            };
            entries.push(entry);
        }
        Ok(Scope {
            entries,
            ctes: query.cte_list.iter().map(|c| c.ctename.clone()).collect(),
            windows: query.window_clause.clone(),
            targets: match query.window_clause.is_empty() {
                true => Vec::new(),
                false => query.target_list.clone(),
            },
            query: Some(Arc::new(query.clone())),
        })
    }
}

/// The columns of a join with those that its tables got since, each where its side has it; and
/// whether one of the new ones had to be given another name. Counterpart: the end of
/// `set_join_column_names`.
fn shown_of_join(
    columns: &[Option<String>],
    merged: [&[i32]; 2],
    below: (i32, i32),
    entries: &[Entry],
    used: &mut Vec<String>,
) -> (Vec<(String, bool)>, bool) {
    let (both, rest) = columns.split_at(merged[0].len().min(columns.len()));
    let mut own = rest.iter().flatten();
    let mut out: Vec<(String, bool)> = both.iter().flatten().map(|c| (c.clone(), false)).collect();
    let mut changed = false;
    for (merged, side) in merged.into_iter().zip([below.0, below.1]) {
        let Some(side) = entries.get(side.max(1) as usize - 1) else { continue };
        let mut numbers = (1i32..).zip(&side.columns).filter(|(_, c)| c.is_some()).map(|(n, _)| n);
        for (name, new) in &side.shown {
            if *new {
                let chosen = unused_name(name.clone(), used);
                changed |= chosen != *name;
                out.push((chosen, true));
            } else if !numbers.next().is_some_and(|n| merged.contains(&n)) {
                out.extend(own.next().map(|c| (c.clone(), false)));
            }
        }
    }
    (out, changed)
}

/// The two sides of each join.
fn add_sides(node: &JoinTreeNode, sides: &mut HashMap<i32, (i32, i32)>) {
    match node {
        JoinTreeNode::Rtr(_) => {}
        JoinTreeNode::From(from) => from.fromlist.iter().for_each(|node| add_sides(node, sides)),
        JoinTreeNode::Join(join) => {
            sides.insert(join.rtindex, (index_of(&join.larg), index_of(&join.rarg)));
            add_sides(&join.larg, sides);
            add_sides(&join.rarg, sides);
        }
    }
}

fn index_of(node: &JoinTreeNode) -> i32 {
    match node {
        JoinTreeNode::Rtr(rti) => *rti,
        JoinTreeNode::Join(join) => join.rtindex,
        JoinTreeNode::From(_) => 0,
    }
}

fn real_columns(desc: &catalog::RelDesc) -> Vec<Option<String>> {
    let name = |a: &catalog::rows::PgAttribute| a.attname.as_str().to_owned();
    desc.attributes.iter().map(|a| (!a.attisdropped).then(|| name(a))).collect()
}

/// Names that columns must have because JOIN … USING merges them by name, by range-table index and
/// column number: the columns themselves may have been renamed since. Counterpart:
/// `set_using_names`.
fn merged_names(query: &Query) -> HashMap<(i32, usize), String> {
    fn walk(node: &JoinTreeNode, query: &Query, names: &mut HashMap<(i32, usize), String>) {
        let join = match node {
            JoinTreeNode::Rtr(_) => return,
            JoinTreeNode::From(from) => {
                return from.fromlist.iter().for_each(|node| walk(node, query, names));
            }
            JoinTreeNode::Join(join) => join,
        };
        let rte = query.rte(join.rtindex);
        let RteKind::Join { joinmergedcols, joinleftcols, joinrightcols, .. } = &rte.kind else {
            return;
        };
        let merged = (*joinmergedcols).max(0) as usize;
        // The merged columns come first, then the left side's others, then the right side's.
        let lefts = joinleftcols.len();
        for i in 0..(lefts + joinrightcols.len()).saturating_sub(merged) {
            let left = joinleftcols.get(i).copied().unwrap_or(0);
            let from_right = if i < merged { Some(i) } else { (i + merged).checked_sub(lefts) };
            let right = from_right.and_then(|at| joinrightcols.get(at)).copied().unwrap_or(0);
            // From above, or this join's own.
            let place = (join.rtindex, i + 1);
            let given = rte.alias.as_ref().and_then(|a| a.colnames.get(i));
            let own = given.or(join.using_clause.get(i)).filter(|_| i < merged);
            let Some(name) = names.get(&place).or(own).cloned() else { continue };
            names.insert(place, name.clone());
            for (side, column) in [(&join.larg, left), (&join.rarg, right)] {
                if column > 0 {
                    names.entry((index_of(side), column as usize)).or_insert(name.clone());
                }
            }
        }
        walk(&join.larg, query, names);
        walk(&join.rarg, query, names);
    }
    let mut names = HashMap::new();
    query.jointree.fromlist.iter().for_each(|node| walk(node, query, &mut names));
    names
}

/// The name, with a number appended where it is taken.
fn unused_name(name: String, used: &mut Vec<String>) -> String {
    let mut out = name.clone();
    let mut n = 0;
    while used.contains(&out) {
        n += 1;
        out = format!("{name}_{n}");
    }
    used.push(out.clone());
    out
}
