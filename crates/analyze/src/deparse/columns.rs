//! Names of the columns of a query's tables and joins, as the query's text must write them.
//!
//! A view keeps column numbers. When its text is made, tables may have got and lost columns and
//! columns may have been renamed; JOIN … USING and unqualified names must still mean what they
//! meant. So names are chosen in two passes:
//!
//! 1. From the top of the join tree down, the columns that USING merges: both sides must know a
//!    merged column by one name. Where an alias names the join, the names of the sides are its own
//!    matter; otherwise a name from above goes down to the sides.
//! 2. Range table entry by range table entry, the columns that have no name yet. A name is not used
//!    twice in one entry, nor for anything but the merged column within the sides of a join that
//!    merges by that name.
//!
//! A merged column that is no plain column of either side (FULL JOIN: a COALESCE) can only be
//! written without its table. Where a query has one, merged columns get names that no other column
//! of the query has.
//!
//! Counterpart: `set_using_names`, `set_relation_column_names`, `set_join_column_names`.

use super::names::unused;
use plan::expr::Expr;
use plan::query::{JoinExpr, JoinTreeNode, Query, RangeTblEntry, RteKind};

/// The columns of one range table entry.
#[derive(Clone, Default)]
pub(super) struct Columns {
    /// By column number; None for dropped columns, and until a name is chosen.
    pub names: Vec<Option<String>>,
    /// What the entry's text lists, in order; true: a column that came after the query was made.
    pub shown: Vec<(String, bool)>,
    /// The list must be written behind the alias.
    pub print_aliases: bool,
    /// Merged columns of a join; they come first.
    merged: usize,
    /// Names of columns that joins above merge.
    above: Vec<String>,
}

impl Columns {
    /// With these names as they are.
    pub fn named(names: Vec<Option<String>>) -> Columns {
        Columns { names, ..Columns::default() }
    }

    fn is_free(&self, name: &str, everywhere: &[String]) -> bool {
        let in_entry = self.names.iter().flatten().chain(self.shown.iter().map(|s| &s.0));
        in_entry.chain(everywhere).chain(&self.above).all(|used| used != name)
    }

    /// The name, or one like it that is free.
    fn free_name(&self, name: &str, everywhere: &[String]) -> String {
        unused(name, |name| self.is_free(name, everywhere))
    }

    pub fn name(&self, at: usize) -> Option<&String> {
        self.names.get(at).and_then(Option::as_ref)
    }

    /// A name that a join above has chosen; numbers that are not positive are system columns, whose
    /// names are fixed.
    fn set(&mut self, number: i32, name: &str) {
        let Some(at) = usize::try_from(number - 1).ok() else { return };
        if self.names.len() <= at {
            self.names.resize(at + 1, None);
        }
        self.names[at] = Some(name.to_owned());
    }
}

/// Where a join's columns come from: for each the number in the left and in the right side, 0 for
/// none.
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

/// The range table index of a join's side.
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

/// Has the query a merged column that is no column of one of the sides?
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

/// The choice of names for one query.
pub(super) struct Naming<'q> {
    query: &'q Query,
    columns: Vec<Columns>,
    /// Both sides of each join, by the join's place in the range table.
    sides: Vec<Option<[usize; 2]>>,
    /// Names of merged columns, which no other column of the query may have.
    everywhere: Vec<String>,
    unique_merges: bool,
}

impl<'q> Naming<'q> {
    /// With the names of merged columns chosen.
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

    /// Chooses the names of merged columns in and below a node; `above` are those that joins above
    /// it merge.
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
            // What is asked of this join can only be done by its sides.
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

    /// Chooses the names of an entry's columns, those of the entries before it being chosen.
    /// `real` are the names that they have now, None for dropped columns; not used for joins.
    pub fn name_columns(&mut self, at: usize, real: &[Option<String>]) {
        match self.query.rtable[at].kind {
            RteKind::Join { .. } => self.name_join_columns(at),
            _ => self.name_table_columns(at, real),
        }
    }

    fn name_table_columns(&mut self, at: usize, real: &[Option<String>]) {
        let rte = &self.query.rtable[at];
        // Columns beyond are new since the query was made.
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
            // Its columns are named within it.
            RteKind::TableFunc(_) => false,
            _ => changed || rte.alias.as_ref().is_some_and(|a| !a.colnames.is_empty()),
        };
    }

    fn name_join_columns(&mut self, at: usize) {
        let rte = &self.query.rtable[at];
        let sources = sources(rte);
        let mut columns = std::mem::take(&mut self.columns[at]);
        // A join that the tree does not have any more has no sides to ask.
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
            changed |= show_join(&mut columns, &sources, below, &self.everywhere, rte);
        }
        // A join without an alias has no place for them.
        columns.print_aliases = rte.alias.is_some() && changed;
        self.columns[at] = columns;
    }

    pub fn of(&self, at: usize) -> &Columns {
        &self.columns[at]
    }
}

/// The join's columns as they would be if its text were read: the merged ones, then the others of
/// each side, new ones where the side has them. Returns whether a new one got another name than in
/// its side.
fn show_join(
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
