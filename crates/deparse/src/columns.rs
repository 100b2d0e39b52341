//! Chooses the column names (aliases) of a query's tables and joins for deparsing.
//!
//! A stored query refers to columns by number. Since it was stored, columns may have been added,
//! dropped or renamed, but JOIN … USING and unqualified names in its text must keep their meaning.
//! So names are chosen in two passes:
//!
//! 1. From the top of the join tree downwards, the columns that USING merges: a merged column must
//!    have the same name on both sides. If a join has an alias, the names below it are independent
//!    of those above; otherwise a name that a join above chose is passed down to both sides.
//! 2. For each range table entry in order, the remaining columns. A name is not used twice in one
//!    entry. Below a join that merges columns of some name, only the merged columns have that name.
//!
//! A merged column that is not a plain column of either side (FULL JOIN: a COALESCE) can only be
//! written unqualified. In a query with such a column, merged columns get names that no other
//! column of the query has.
//!
//! Counterpart: ruleutils.c (`set_using_names`, `set_relation_column_names`,
//! `set_join_column_names`).

use crate::names::unused;
use plan::expr::Expr;
use plan::query::{JoinExpr, JoinTreeNode, Query, RangeTblEntry, RteKind};

/// The columns of one range table entry.
#[derive(Clone, Default)]
pub(super) struct Columns {
    /// By column number; `None` for dropped columns, and for columns whose name is not chosen yet.
    pub names: Vec<Option<String>>,
    /// The columns in the order of the alias list; true for a column that was added after the query
    /// was stored.
    pub shown: Vec<(String, bool)>,
    /// The alias needs a column list.
    pub print_aliases: bool,
    /// Merged columns of a join; they come first.
    merged: usize,
    /// Names of the columns that joins above merge.
    above: Vec<String>,
}

impl Columns {
    /// Columns with fixed names.
    pub fn named(names: Vec<Option<String>>) -> Columns {
        Columns { names, ..Columns::default() }
    }

    fn is_free(&self, name: &str, everywhere: &[String]) -> bool {
        let in_entry = self.names.iter().flatten().chain(self.shown.iter().map(|s| &s.0));
        in_entry.chain(everywhere).chain(&self.above).all(|used| used != name)
    }

    /// The name, with a number appended if it is in use.
    fn free_name(&self, name: &str, everywhere: &[String]) -> String {
        unused(name, |name| self.is_free(name, everywhere))
    }

    /// The name of the column at index `at`; `None` for a dropped column.
    pub fn name(&self, at: usize) -> Option<&String> {
        self.names.get(at).and_then(Option::as_ref)
    }

    /// Sets a name that a join above has chosen. Numbers below 1 are system columns, whose names
    /// are fixed.
    fn set(&mut self, number: i32, name: &str) {
        let Some(at) = usize::try_from(number - 1).ok() else { return };
        if self.names.len() <= at {
            self.names.resize(at + 1, None);
        }
        self.names[at] = Some(name.to_owned());
    }
}

/// The source of each join column: its number in the left and in the right side, 0 for none.
fn sources(rte: &RangeTblEntry) -> Vec<(i32, i32)> {
    let RteKind::Join { joinmergedcols, joinleftcols, joinrightcols, .. } = &rte.kind else {
        return Vec::new();
    };
    let mut out: Vec<(i32, i32)> = joinleftcols.iter().map(|n| (*n, 0)).collect();
    let merged = (*joinmergedcols).max(0) as usize;
    for (i, &number) in joinrightcols.iter().enumerate() {
        match out.get_mut(i) {
            Some(both) if i < merged => both.1 = number,
            _ => out.push((0, number)),
        }
    }
    out
}

/// The range table position (from 0) of a join's side.
fn index_of(node: &JoinTreeNode) -> Option<usize> {
    let rti = match node {
        JoinTreeNode::Rtr(rti) => *rti,
        JoinTreeNode::Join(join) => join.rtindex,
        JoinTreeNode::From(_) => return None,
    };
    usize::try_from(rti - 1).ok()
}

fn alias_column(rte: &RangeTblEntry, at: usize) -> Option<&String> {
    rte.alias.as_ref()?.colnames.get(at).filter(|name| !name.is_empty())
}

/// Whether the query has a merged column that is not a plain column of either side.
fn has_computed_merge(node: &JoinTreeNode, query: &Query) -> bool {
    match node {
        JoinTreeNode::Rtr(_) => false,
        JoinTreeNode::From(from) => from.fromlist.iter().any(|n| has_computed_merge(n, query)),
        JoinTreeNode::Join(join) => {
            let here = match &query.rte(join.rtindex).kind {
                RteKind::Join { joinmergedcols, joinaliasvars, .. } if join.alias.is_none() => {
                    let merged = joinaliasvars.iter().take((*joinmergedcols).max(0) as usize);
                    merged.into_iter().any(|e| !matches!(e, Expr::Var(_)))
                }
                _ => false,
            };
            here || has_computed_merge(&join.larg, query) || has_computed_merge(&join.rarg, query)
        }
    }
}

/// The column names of one query while they are chosen.
pub(super) struct Naming<'q> {
    query: &'q Query,
    columns: Vec<Columns>,
    /// Both sides of each join, by the join's position in the range table.
    sides: Vec<Option<[usize; 2]>>,
    /// Names of merged columns, which no other column of the query may have.
    everywhere: Vec<String>,
    unique_merges: bool,
}

impl<'q> Naming<'q> {
    /// Makes the first pass: chooses the names of merged columns.
    pub fn new(query: &'q Query) -> Naming<'q> {
        let from = &query.jointree.fromlist;
        let mut naming = Naming {
            query,
            columns: vec![Columns::default(); query.rtable.len()],
            sides: vec![None; query.rtable.len()],
            everywhere: Vec::new(),
            unique_merges: from.iter().any(|n| has_computed_merge(n, query)),
        };
        for node in from {
            naming.merged_names(node, &[]);
        }
        naming
    }

    /// Chooses the names of merged columns in and below a node. `above` has the names that joins
    /// above it merge.
    fn merged_names(&mut self, node: &JoinTreeNode, above: &[String]) {
        let join: &JoinExpr = match node {
            JoinTreeNode::Rtr(_) => return,
            JoinTreeNode::From(from) => {
                return from.fromlist.iter().for_each(|node| self.merged_names(node, above));
            }
            JoinTreeNode::Join(join) => join,
        };
        let rte = self.query.rte(join.rtindex);
        let (Some(own), Some(left), Some(right)) =
            (usize::try_from(join.rtindex - 1).ok(), index_of(&join.larg), index_of(&join.rarg))
        else {
            return;
        };
        let sources = sources(rte);
        if rte.alias.is_none() {
            // A join without an alias passes the names that a join above chose to its sides.
            for (at, &(from_left, from_right)) in sources.iter().enumerate() {
                let Some(name) = self.columns[own].name(at).cloned() else { continue };
                self.columns[left].set(from_left, &name);
                self.columns[right].set(from_right, &name);
            }
        }
        let mut above = above.to_vec();
        for (at, written) in join.using_clause.iter().enumerate() {
            let name = match self.columns[own].name(at) {
                Some(name) => name.clone(),
                None => {
                    let wanted = alias_column(rte, at).unwrap_or(written);
                    let name = self.columns[own].free_name(wanted, &self.everywhere);
                    if self.unique_merges {
                        self.everywhere.push(name.clone());
                    }
                    self.columns[own].set(at as i32 + 1, &name);
                    name
                }
            };
            if let Some(&(from_left, from_right)) = sources.get(at) {
                self.columns[left].set(from_left, &name);
                self.columns[right].set(from_right, &name);
            }
            above.push(name);
        }
        self.columns[own].merged = join.using_clause.len();
        self.sides[own] = Some([left, right]);
        self.columns[left].above.clone_from(&above);
        self.columns[right].above.clone_from(&above);
        self.merged_names(&join.larg, &above);
        self.merged_names(&join.rarg, &above);
    }

    /// Chooses the names of an entry's columns. Entries must be named in order. `real` has the
    /// present names of the columns, `None` for dropped ones; joins do not use it.
    pub fn name_columns(&mut self, at: usize, real: &[Option<String>]) {
        match self.query.rtable[at].kind {
            RteKind::Join { .. } => self.name_join_columns(at),
            _ => self.name_table_columns(at, real),
        }
    }

    fn name_table_columns(&mut self, at: usize, real: &[Option<String>]) {
        let rte = &self.query.rtable[at];
        // Columns beyond this number were added after the query was stored.
        let known = match rte.kind {
            RteKind::Relation { .. } => rte.eref.colnames.len(),
            _ => usize::MAX,
        };
        let columns = &mut self.columns[at];
        if columns.names.len() < real.len() {
            columns.names.resize(real.len(), None);
        }
        let mut changed = false;
        for (i, real) in real.iter().enumerate() {
            let Some(real) = real else { continue };
            let name = match columns.name(i) {
                Some(name) => name.clone(),
                None => {
                    let wanted = alias_column(rte, i).unwrap_or(real);
                    columns.free_name(wanted, &self.everywhere)
                }
            };
            changed |= name != *real;
            columns.shown.push((name.clone(), i >= known));
            columns.names[i] = Some(name);
        }
        columns.print_aliases = match &rte.kind {
            RteKind::Relation { .. } => changed,
            RteKind::Function { .. } => true,
            // XMLTABLE names its columns in its own COLUMNS list.
            RteKind::TableFunc(_) => false,
            _ => changed || rte.alias.as_ref().is_some_and(|a| !a.colnames.is_empty()),
        };
    }

    fn name_join_columns(&mut self, at: usize) {
        let rte = &self.query.rtable[at];
        let sources = sources(rte);
        let mut columns = std::mem::take(&mut self.columns[at]);
        // A join that is no longer in the join tree has no known sides.
        let below = self.sides[at].map(|sides| sides.map(|side| &self.columns[side]));
        if columns.names.len() < rte.eref.colnames.len() {
            columns.names.resize(rte.eref.colnames.len(), None);
        }
        let mut changed = false;
        for (i, parsed) in rte.eref.colnames.iter().enumerate().skip(columns.merged) {
            let real = match (below, sources.get(i)) {
                (Some([left, _]), Some(&(n, _))) if n > 0 => left.name(n as usize - 1).cloned(),
                (Some([_, right]), Some(&(_, n))) if n > 0 => right.name(n as usize - 1).cloned(),
                _ => Some(parsed.clone()),
            };
            let Some(real) = real.filter(|name| !name.is_empty()) else {
                columns.names[i] = None;
                continue;
            };
            if rte.alias.is_none() {
                columns.names[i] = Some(real);
                continue;
            }
            let name = match columns.name(i) {
                Some(name) => name.clone(),
                None => columns.free_name(alias_column(rte, i).unwrap_or(&real), &self.everywhere),
            };
            changed |= name != real;
            columns.names[i] = Some(name);
        }
        if let Some(below) = below {
            changed |= list_join_columns(&mut columns, &sources, below, &self.everywhere, rte);
        }
        // A join without an alias cannot have a column list.
        columns.print_aliases = rte.alias.is_some() && changed;
        self.columns[at] = columns;
    }

    /// The columns of the range table entry at index `at`.
    pub fn of(&self, at: usize) -> &Columns {
        &self.columns[at]
    }
}

/// Sets the list of the join's columns as a parser would derive it from the deparsed text: the
/// merged columns, then the others of each side, with added columns in the positions that they have
/// in the side. Returns whether an added column got another name than in its side.
fn list_join_columns(
    columns: &mut Columns,
    sources: &[(i32, i32)],
    below: [&Columns; 2],
    everywhere: &[String],
    rte: &RangeTblEntry,
) -> bool {
    let mut changed = false;
    let is_merged = |s: &(i32, i32)| s.0 != 0 && s.1 != 0;
    let merged = sources.iter().take_while(|s| is_merged(s)).count().min(columns.names.len());
    let (both, rest) = columns.names.split_at(merged);
    let mut own = rest.iter().flatten().cloned().collect::<Vec<_>>().into_iter();
    columns.shown = both.iter().flatten().map(|name| (name.clone(), false)).collect();
    for (side, number_of) in below.into_iter().zip([|s: &(i32, i32)| s.0, |s: &(i32, i32)| s.1]) {
        let merged_here: Vec<i32> = sources[..merged].iter().map(number_of).collect();
        let live = (1i32..).zip(&side.names).filter(|(_, name)| name.is_some());
        let mut numbers = live.map(|(number, _)| number);
        for (name, new) in &side.shown {
            if !*new {
                if !numbers.next().is_some_and(|n| merged_here.contains(&n)) {
                    columns.shown.extend(own.next().map(|name| (name, false)));
                }
                continue;
            }
            let chosen = match rte.alias {
                Some(_) => columns.free_name(name, everywhere),
                None => name.clone(),
            };
            changed |= chosen != *name;
            columns.shown.push((chosen, true));
        }
    }
    changed
}
