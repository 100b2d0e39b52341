//! Pages of the free space map: a binary tree in an array. Each leaf holds one byte (the category
//! of free space of a heap block, or of a lower page's root), each inner node the larger of its two
//! children, so that a search descends from the root. Nothing is logged; a search repairs the
//! inconsistencies that it finds.
//!
//! ```text
//! | page header 24 | fp_next_slot i32 | nodes: 4095 inner, then 4069 leaves |
//! ```
//! Counterpart: storage/fsm_internals.h, fsmpage.c.

use crate::raw::{PAGE_SIZE, Page};

const NEXT_SLOT_AT: usize = crate::header::HEADER_SIZE;
const NODES_AT: usize = NEXT_SLOT_AT + 4;
/// Nodes of a page's tree.
pub const NODES_PER_PAGE: usize = PAGE_SIZE - NODES_AT;
const INNER: usize = PAGE_SIZE / 2 - 1;
/// Leaves of a page's tree. Counterpart: `SlotsPerFSMPage`.
pub const SLOTS_PER_PAGE: usize = NODES_PER_PAGE - INNER;

const fn parent(node: usize) -> usize {
    (node - 1) / 2
}

/// The node to the right on the same level, wrapping around to the level's first.
const fn right_neighbor(node: usize) -> usize {
    let next = node + 1;
    if (next + 1) & next == 0 { parent(next) } else { next }
}

fn larger_child(nodes: &[u8], node: usize) -> u8 {
    let left = node * 2 + 1;
    let at = |i: usize| nodes.get(i).copied().unwrap_or(0);
    at(left).max(at(left + 1))
}

/// Result of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    Found(usize),
    NotFound,
    /// The tree is inconsistent: [`rebuild`] it under the exclusive latch and search again.
    Torn,
}

fn nodes(page: &Page) -> &[u8] {
    page.slice(NODES_AT, NODES_PER_PAGE)
}

fn nodes_mut(page: &mut Page) -> &mut [u8] {
    &mut page.bytes_mut()[NODES_AT..]
}

/// Category of slot `slot`.
pub fn get(page: &Page, slot: usize) -> u8 {
    nodes(page).get(INNER + slot).copied().unwrap_or(0)
}

/// The largest category on the page.
pub fn max(page: &Page) -> u8 {
    nodes(page)[0]
}

/// Slot at which the next search starts (a hint that spreads inserters over the pages).
pub fn next_slot(page: &Page) -> usize {
    page.u32_at(NEXT_SLOT_AT) as usize
}

/// Sets the slot at which the next search starts.
pub fn set_next_slot(hints: crate::raw::Hints<'_>, slot: usize) {
    hints.store_u32(NEXT_SLOT_AT, slot as u32);
}

/// Finds a slot with category `min` or more, starting at the next-slot hint. The caller sets the
/// new hint. Counterpart: `fsm_search_avail`.
pub fn search(page: &Page, min: u8) -> Search {
    let nodes = nodes(page);
    if nodes[0] < min {
        return Search::NotFound;
    }
    let hint = next_slot(page);
    let mut node = INNER + if hint < SLOTS_PER_PAGE { hint } else { 0 };
    // Up and to the right until a subtree has enough, then down.
    while node > 0 && nodes.get(node).is_none_or(|&v| v < min) {
        node = parent(right_neighbor(node));
    }
    while node < INNER {
        let left = node * 2 + 1;
        node = match (nodes.get(left), nodes.get(left + 1)) {
            (Some(&v), _) if v >= min => left,
            (_, Some(&v)) if v >= min => left + 1,
            _ => return Search::Torn,
        };
    }
    Search::Found(node - INNER)
}

/// Sets slot `slot`; true if anything changed. Counterpart: `fsm_set_avail`.
pub fn set(page: &mut Page, slot: usize, value: u8) -> bool {
    debug_assert!(slot < SLOTS_PER_PAGE);
    let nodes = nodes_mut(page);
    let mut node = INNER + slot;
    if nodes[node] == value && value <= nodes[0] {
        return false;
    }
    nodes[node] = value;
    while node > 0 {
        node = parent(node);
        let larger = larger_child(nodes, node);
        if nodes[node] == larger {
            break;
        }
        nodes[node] = larger;
    }
    if value > nodes[0] {
        rebuild(page);
    }
    true
}

/// Zeroes the slots from `slots` on; true if anything changed. Counterpart: `fsm_truncate_avail`.
pub fn truncate(page: &mut Page, slots: usize) -> bool {
    let leaves = &mut nodes_mut(page)[INNER + slots..];
    let changed = leaves.iter().any(|&v| v != 0);
    leaves.fill(0);
    if changed {
        rebuild(page);
    }
    changed
}

/// Computes all inner nodes; true if any changed. Counterpart: `fsm_rebuild_page`.
pub fn rebuild(page: &mut Page) -> bool {
    let nodes = nodes_mut(page);
    let mut changed = false;
    for node in (0..INNER).rev() {
        let larger = larger_child(nodes, node);
        changed |= nodes[node] != larger;
        nodes[node] = larger;
    }
    changed
}

#[cfg(test)]
mod tests;
