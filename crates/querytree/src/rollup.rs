//! Grouping sets as lists of rollups: each rollup is a chain of sets of which each contains the
//! next, so that one sort serves all of them. Counterpart: parse_agg.c (`expand_grouping_sets`),
//! planner.c (`extract_rollup_sets`, `reorder_grouping_sets`), bipartite_match.c.
//!
//! Sets are numbers of grouping clauses (`tle_sort_group_ref`).

use pgerror::{Result, pg_err};
use plan::query::{GroupingSet, GroupingSetKind};
use smallvec::{SmallVec, smallvec};
use std::collections::{BTreeSet, HashMap, VecDeque};
use stdx::quicksort;
use stdx::stack::deep;

/// Largest number of sets after expansion.
const SETS_MAX: usize = 4096;

/// A grouping set: its elements in the order of the sort columns.
pub type SetRefs = Vec<u32>;

/// Expands ROLLUP, CUBE and GROUPING SETS to the list of sets (their Cartesian product), the
/// smallest sets first. `distinct`: GROUP BY DISTINCT.
pub fn expand(sets: &[GroupingSet], distinct: bool) -> Result<Vec<SetRefs>> {
    let mut out: Vec<SetRefs> = vec![Vec::new()];
    for s in sets {
        let parts = expand_one(s);
        let mut product = Vec::with_capacity(out.len() * parts.len());
        for a in &out {
            for b in &parts {
                let mut both = a.clone();
                for r in b {
                    if !both.contains(r) {
                        both.push(*r);
                    }
                }
                product.push(both);
            }
        }
        out = product;
        if out.len() > SETS_MAX {
            return Err(pg_err!(
                STATEMENT_TOO_COMPLEX,
                "too many grouping sets present (maximum {SETS_MAX})"
            ));
        }
    }
    if distinct {
        out.iter_mut().for_each(|set| set.sort_unstable());
        out.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        out.dedup();
        return Ok(out);
    }
    // Sets of equal size have the order in which PostgreSQL's sort leaves them.
    let mut order: Vec<u32> = (0..out.len() as u32).collect();
    quicksort::sort(&mut order, &|a, b| out[a as usize].len().cmp(&out[b as usize].len()));
    Ok(order.into_iter().map(|i| std::mem::take(&mut out[i as usize])).collect())
}

fn expand_one(s: &GroupingSet) -> Vec<SetRefs> {
    fn flat(s: &GroupingSet) -> SetRefs {
        let mut out = s.refs.clone();
        s.content.iter().for_each(|c| out.extend(flat(c)));
        out
    }
    match s.kind {
        GroupingSetKind::Empty => vec![Vec::new()],
        GroupingSetKind::Simple => vec![s.refs.clone()],
        GroupingSetKind::Rollup => (0..=s.content.len())
            .rev()
            .map(|n| s.content[..n].iter().flat_map(flat).collect())
            .collect(),
        GroupingSetKind::Cube => {
            let n = s.content.len().min(12);
            let chosen = |mask: usize| (0..n).filter(move |i| mask >> i & 1 == 1);
            (0..1usize << n)
                .map(|mask| chosen(mask).flat_map(|i| flat(&s.content[i])).collect())
                .collect()
        }
        GroupingSetKind::Sets => s.content.iter().flat_map(expand_one).collect(),
    }
}

/// Divides the sets, the smallest first, into the smallest possible number of rollups. Within a
/// rollup the sets are in ascending order of size.
///
/// The rollups are the paths of a minimum path cover of the graph whose edges lead from each set
/// to its proper subsets; it follows from a maximum bipartite matching.
///
/// # Errors
/// Those of `check_interrupts`, which is called for each set.
pub fn rollups(
    sets: Vec<SetRefs>,
    check_interrupts: &dyn Fn() -> Result<()>,
) -> Result<Vec<Vec<SetRefs>>> {
    let empty = sets.iter().take_while(|s| s.is_empty()).count();
    if empty == sets.len() {
        return Ok(vec![sets]);
    }
    let all: BTreeSet<u32> = sets.iter().flatten().copied().collect();
    let all: Vec<u32> = all.into_iter().collect();
    // Equal sets are one node of the graph. Nodes are numbered from 1; 0 is no node.
    let mut equal: Vec<Vec<SetRefs>> = vec![Vec::new()];
    let mut elements: Vec<Elements> = vec![Elements::of(&[], &all)];
    let mut subsets: Vec<Vec<usize>> = vec![Vec::new()];
    let mut known: HashMap<Elements, usize> = HashMap::new();
    for set in sets.into_iter().skip(empty) {
        check_interrupts()?;
        let own = Elements::of(&set, &all);
        if let Some(&at) = known.get(&own) {
            equal[at].push(set);
            continue;
        }
        // Sets of the same size that are not equal are no subsets.
        subsets.push((1..elements.len()).filter(|&i| elements[i].is_subset(&own)).collect());
        known.insert(own.clone(), elements.len());
        elements.push(own);
        equal.push(vec![set]);
    }
    let nodes = elements.len() - 1;
    let matching = Matching::maximum(subsets, check_interrupts)?;
    let mut chain_of = vec![0; nodes + 1];
    let mut chains = 0;
    for i in 1..=nodes {
        let (superset, subset) = (matching.superset[i], matching.subset[i]);
        chain_of[i] = if superset > 0 && superset < i {
            chain_of[superset]
        } else if subset > 0 && subset < i {
            chain_of[subset]
        } else {
            chains += 1;
            chains
        };
    }
    let mut out: Vec<Vec<SetRefs>> = vec![Vec::new(); chains];
    out[0].resize(empty, Vec::new());
    for i in 1..=nodes {
        out[chain_of[i] - 1].append(&mut equal[i]);
    }
    Ok(out)
}

/// The elements of a set as bits: those of all sets are numbered.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Elements(SmallVec<[u64; 1]>);

impl Elements {
    fn of(set: &[u32], all: &[u32]) -> Elements {
        let mut words: SmallVec<[u64; 1]> = smallvec![0; all.len().div_ceil(64)];
        for at in set.iter().filter_map(|r| all.binary_search(r).ok()) {
            words[at / 64] |= 1 << (at % 64);
        }
        Elements(words)
    }

    fn is_subset(&self, of: &Elements) -> bool {
        self.0.iter().zip(&of.0).all(|(own, other)| own & !other == 0)
    }
}

/// Orders the elements of a rollup's sets so that each set is a prefix of the next larger one, and
/// the largest follows the ORDER BY columns `sort_refs` as far as possible. Returns the sets, the
/// largest first.
pub fn as_prefixes(sets: Vec<SetRefs>, sort_refs: &[u32]) -> Vec<SetRefs> {
    let mut wanted = Some(sort_refs);
    let mut known: SetRefs = Vec::new();
    let mut out = Vec::with_capacity(sets.len());
    for set in sets {
        let mut added: SetRefs = set.into_iter().filter(|r| !known.contains(r)).collect();
        while let (Some(refs), false) = (wanted, added.is_empty()) {
            let Some(next) = refs.get(known.len()) else { break };
            match added.iter().position(|r| r == next) {
                Some(at) => known.push(added.remove(at)),
                None => wanted = None,
            }
        }
        known.append(&mut added);
        out.push(known.clone());
    }
    out.reverse();
    out
}

/// A matching of sets with subsets of them, by the algorithm of Hopcroft and Karp. Node 0 means
/// "unmatched".
struct Matching {
    /// The proper subsets of each node.
    subsets: Vec<Vec<usize>>,
    /// The subset that a node is matched with, and the superset.
    subset: Vec<usize>,
    superset: Vec<usize>,
    /// Length of the shortest alternating path from an unmatched node; `None` if there is none.
    distance: Vec<Option<usize>>,
}

impl Matching {
    fn maximum(
        subsets: Vec<Vec<usize>>,
        check_interrupts: &dyn Fn() -> Result<()>,
    ) -> Result<Matching> {
        let n = subsets.len();
        let mut m =
            Matching { subsets, subset: vec![0; n], superset: vec![0; n], distance: vec![None; n] };
        while m.measure() {
            for node in 1..n {
                check_interrupts()?;
                if m.subset[node] == 0 {
                    m.augment(node);
                }
            }
        }
        Ok(m)
    }

    /// Computes the distances. False if no augmenting path is left.
    fn measure(&mut self) -> bool {
        self.distance.fill(None);
        let mut queue = VecDeque::new();
        for node in 1..self.subsets.len() {
            if self.subset[node] == 0 {
                self.distance[node] = Some(0);
                queue.push_back(node);
            }
        }
        while let Some(node) = queue.pop_front() {
            let Some(distance) = self.distance[node] else { continue };
            // Longer paths than the shortest augmenting one are not needed.
            if self.distance[0].is_some_and(|end| distance >= end) {
                continue;
            }
            for &s in &self.subsets[node] {
                let next = self.superset[s];
                if self.distance[next].is_none() {
                    self.distance[next] = Some(distance + 1);
                    if next != 0 {
                        queue.push_back(next);
                    }
                }
            }
        }
        self.distance[0].is_some()
    }

    /// Changes the matching along a shortest augmenting path from the node, if there is one.
    fn augment(&mut self, node: usize) -> bool {
        if node == 0 {
            return true;
        }
        let Some(distance) = self.distance[node] else { return false };
        for i in 0..self.subsets[node].len() {
            let s = self.subsets[node][i];
            let next = self.superset[s];
            if self.distance[next] == Some(distance + 1) && deep(|| self.augment(next)) {
                self.superset[s] = node;
                self.subset[node] = s;
                return true;
            }
        }
        self.distance[node] = None;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sets: &[&[u32]]) -> Vec<Vec<SetRefs>> {
        let mut sets: Vec<SetRefs> = sets.iter().map(|s| s.to_vec()).collect();
        sets.sort_by_key(Vec::len);
        rollups(sets, &|| Ok(())).expect("no interrupt")
    }

    #[test]
    fn nested_sets_are_one_rollup() {
        let all = vec![vec![], vec![1], vec![1, 2], vec![1, 2, 3]];
        assert_eq!(of(&[&[1, 2, 3], &[1, 2], &[1], &[]]), vec![all]);
        assert_eq!(of(&[&[], &[]]), vec![vec![vec![], vec![]]]);
    }

    #[test]
    fn a_cube_is_divided_into_the_fewest_rollups() {
        assert_eq!(of(&[&[], &[1], &[2], &[1, 2]]).len(), 2);
        let three: Vec<Vec<u32>> =
            (0..8u32).map(|m| (0..3).filter(|i| m >> i & 1 == 1).collect()).collect();
        let refs: Vec<&[u32]> = three.iter().map(Vec::as_slice).collect();
        assert_eq!(of(&refs).len(), 3);
    }

    #[test]
    fn equal_sets_belong_to_one_rollup() {
        assert_eq!(of(&[&[1], &[2], &[1]]), vec![vec![vec![1], vec![1]], vec![vec![2]]]);
    }

    #[test]
    fn sets_become_prefixes_in_the_wanted_order() {
        let sets = vec![vec![], vec![2], vec![1, 2, 3]];
        assert_eq!(as_prefixes(sets.clone(), &[]), [vec![2, 1, 3], vec![2], vec![]]);
        assert_eq!(as_prefixes(sets.clone(), &[2, 3]), [vec![2, 3, 1], vec![2], vec![]]);
        assert_eq!(as_prefixes(sets, &[3]), [vec![2, 1, 3], vec![2], vec![]]);
    }
}
