//! Generic records: changes of pages as differences of bytes, for methods without a resource
//! manager of their own.
//!
//! ```text
//! data of a block:  fragments of: offset (u16) | length (u16) | bytes
//! ```
//! The part of a page between the header's `lower` and `upper` is not logged; it is zeros after the
//! change.
//!
//! Counterpart: generic_xlog.c.

use crate::{Cx, IndexFile};
use bufmgr::ExclusiveGuard;
use bufmgr::redo::{Redo, RedoCx, RedoMode, apply, read_for_redo};
use ids::Lsn;
use page::{PAGE_SIZE, Page, PageBuf, PageMut};
use pgerror::{PgError, Result, Severity};
use std::ops::Range;
use wal::{DecodedRecord, RegFlags, RmgrId};

/// Most pages of one record.
pub const PAGES_MAX: usize = 4;
/// Equal bytes between two fragments that are not worth the head of another fragment.
const GAP_MAX: usize = 4;

/// A latched page and the content that it gets.
pub struct NewContent<'a, 'p> {
    pub guard: &'a mut ExclusiveGuard<'p>,
    pub content: PageBuf,
    /// Log the whole page; otherwise the difference to its present content.
    pub image: bool,
}

impl<'a, 'p> NewContent<'a, 'p> {
    /// The present content, to be changed.
    pub fn of(guard: &'a mut ExclusiveGuard<'p>) -> NewContent<'a, 'p> {
        let content = guard.to_buf();
        NewContent { guard, content, image: false }
    }

    /// A page that is logged as a whole.
    pub fn image(guard: &'a mut ExclusiveGuard<'p>, content: PageBuf) -> NewContent<'a, 'p> {
        NewContent { guard, content, image: true }
    }
}

/// Changes the pages. Returns the end of the record, invalid if the index is not logged.
///
/// WAL: GENERIC.
pub fn change_pages<'p, const N: usize>(
    cx: &mut Cx<'p>,
    file: &IndexFile,
    pages: [NewContent<'_, 'p>; N],
) -> Result<Lsn> {
    const { assert!(N <= PAGES_MAX) };
    let mut deltas: [Vec<u8>; N] = std::array::from_fn(|_| Vec::new());
    if file.is_logged() {
        for (page, delta) in pages.iter().zip(&mut deltas).filter(|(page, _)| !page.image) {
            difference(&*page.guard, &page.content, delta);
        }
    }
    let mut edit = cx.edit(file, RmgrId::Generic);
    for (id, (mut page, delta)) in (0..).zip(pages.into_iter().zip(&deltas)) {
        let (lower, upper) = (page.content.lower(), page.content.upper());
        if let Some(hole) = page.content.bytes_mut().get_mut(lower..upper) {
            hole.fill(0);
        }
        let image = if page.image { RegFlags::FORCE_IMAGE } else { RegFlags::NONE };
        page.content.copy_to(edit.change(page.guard, id, RegFlags::STANDARD | image));
        if !page.image {
            edit.block_data(id, delta);
        }
    }
    edit.log(0)
}

/// Appends the fragments that make `old` equal to `new`, except for the hole.
fn difference(old: &Page, new: &PageBuf, out: &mut Vec<u8>) {
    let old_bytes = old.slice(0, PAGE_SIZE);
    let (lower, upper) = (new.lower().min(PAGE_SIZE), new.upper().min(PAGE_SIZE));
    // The hole of the old page has no defined content.
    region(old_bytes, new.as_bytes(), 0..lower, 0..old.lower().min(lower), out);
    region(old_bytes, new.as_bytes(), upper..PAGE_SIZE, old.upper().max(upper)..PAGE_SIZE, out);
}

/// Appends the fragments of one part of a page; bytes outside of `valid` count as different.
fn region(old: &[u8], new: &[u8], part: Range<usize>, valid: Range<usize>, out: &mut Vec<u8>) {
    const STEP: usize = 32;
    let mut fragment: Option<Range<usize>> = None;
    let mut at = part.start;
    while at < part.end {
        let next = at + STEP;
        if valid.contains(&at) && next <= valid.end && old[at..next] == new[at..next] {
            at = next;
            continue;
        }
        let end = next.min(part.end);
        for n in at..end {
            if valid.contains(&n) && old[n] == new[n] {
                continue;
            }
            match &mut fragment {
                Some(open) if n - open.end <= GAP_MAX => open.end = n + 1,
                _ => {
                    push(new, fragment.replace(n..n + 1), out);
                }
            }
        }
        at = end;
    }
    push(new, fragment, out);
}

fn push(new: &[u8], fragment: Option<Range<usize>>, out: &mut Vec<u8>) {
    let Some(range) = fragment else { return };
    out.extend_from_slice(&(range.start as u16).to_le_bytes());
    out.extend_from_slice(&(range.len() as u16).to_le_bytes());
    out.extend_from_slice(&new[range]);
}

/// Replays a record. Counterpart: `generic_redo`.
pub fn redo(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let ids: Vec<u8> = record.blocks().map(|(id, _)| id).collect();
    let mut held = Vec::with_capacity(ids.len());
    for id in ids {
        let mut redo = read_for_redo(cx, record, id, RedoMode::Normal)?;
        if let Redo::Apply(guard) = &mut redo {
            let delta = record.block_data(id).unwrap_or(&[]);
            apply(guard, record, |page| apply_delta(page, delta))?;
        }
        held.push(redo);
    }
    Ok(())
}

/// Applies fragments, then zeroes the hole of the page. Counterpart: `applyPageRedo`.
fn apply_delta(page: PageMut<'_>, mut delta: &[u8]) -> Result<()> {
    while let [a, b, c, d, rest @ ..] = delta {
        let offset = u16::from_le_bytes([*a, *b]) as usize;
        let len = u16::from_le_bytes([*c, *d]) as usize;
        let (bytes, rest) = rest.split_at_checked(len).ok_or_else(short)?;
        let target = page.bytes_mut().get_mut(offset..offset + len).ok_or_else(short)?;
        target.copy_from_slice(bytes);
        delta = rest;
    }
    let (lower, upper) = (page.lower(), page.upper());
    if let Some(hole) = page.bytes_mut().get_mut(lower..upper) {
        hole.fill(0);
    }
    Ok(())
}

#[cold]
fn short() -> PgError {
    PgError::internal("WAL record too short").severity(Severity::Panic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragments(mut delta: &[u8]) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        while let [a, b, c, d, rest @ ..] = delta {
            let at = usize::from(u16::from_le_bytes([*a, *b]));
            let len = usize::from(u16::from_le_bytes([*c, *d]));
            out.push((at, len));
            delta = &rest[len..];
        }
        out
    }

    fn page() -> PageBuf {
        let mut page = PageBuf::new();
        page.init(8);
        page.set_lower(2000);
        page.set_upper(6000);
        page
    }

    #[test]
    fn near_differences_are_one_fragment() {
        let (old, mut new) = (page(), page());
        for at in [100, 105, 111, 1999, 2500, 8191] {
            new.bytes_mut()[at] = 1;
        }
        let mut delta = Vec::new();
        difference(&old, &new, &mut delta);
        // The byte at 2500 is in the hole.
        assert_eq!(fragments(&delta), [(100, 6), (111, 1), (1999, 1), (8191, 1)]);
    }

    #[test]
    fn bytes_of_the_old_hole_are_logged() {
        let (old, mut new) = (page(), page());
        new.set_lower(2010);
        new.set_upper(5990);
        let mut delta = Vec::new();
        difference(&old, &new, &mut delta);
        assert_eq!(fragments(&delta), [(12, 3), (2000, 10), (5990, 10)]);
        delta.clear();
        difference(&PageBuf::new(), &new, &mut delta);
        assert_eq!(fragments(&delta)[0], (0, 2010), "a new page has no valid lower part");
    }
}
