//! The namespace of a function: variables by name at a place in the text. Counterpart: pl_funcs.c.

use crate::tree::{LabelKind, NameItem, NameKind};

/// Finds the variable that the first one or two of the names denote, from the innermost item
/// outwards, and the number of names that identify it. A scalar variable must use all names.
pub(crate) fn find(
    items: &[NameItem],
    innermost: Option<usize>,
    names: &[&str],
    innermost_only: bool,
) -> Option<(NameKind, usize)> {
    let mut level = innermost;
    loop {
        let (mut label, mut at) = (None, level);
        while let Some(item) = at.map(|at| &items[at]) {
            if let NameKind::Label(_) = item.kind {
                label = Some(item);
                break;
            }
            let whole = names.len() == 1 || matches!(item.kind, NameKind::Record(_));
            if item.name == names[0] && whole {
                return Some((item.kind, 1));
            }
            at = item.outer;
        }
        let label = label?;
        if names.len() > 1 && label.name == names[0] {
            let mut at = level;
            while let Some(item) = at.map(|at| &items[at]) {
                if let NameKind::Label(_) = item.kind {
                    break;
                }
                let whole = names.len() == 2 || matches!(item.kind, NameKind::Record(_));
                if item.name == names[1] && whole {
                    return Some((item.kind, 2));
                }
                at = item.outer;
            }
        }
        if innermost_only {
            return None;
        }
        level = label.outer;
    }
}

/// The kind of the innermost label with this name.
pub(crate) fn find_label(
    items: &[NameItem],
    innermost: Option<usize>,
    name: &str,
) -> Option<LabelKind> {
    labels(items, innermost).find(|(label, _)| *label == name).map(|(_, kind)| kind)
}

/// True inside a loop.
pub(crate) fn is_in_loop(items: &[NameItem], innermost: Option<usize>) -> bool {
    labels(items, innermost).any(|(_, kind)| kind == LabelKind::Loop)
}

fn labels(items: &[NameItem], innermost: Option<usize>) -> impl Iterator<Item = (&str, LabelKind)> {
    let mut at = innermost;
    std::iter::from_fn(move || {
        loop {
            let item = &items[at?];
            at = item.outer;
            if let NameKind::Label(kind) = item.kind {
                return Some((item.name.as_str(), kind));
            }
        }
    })
}
