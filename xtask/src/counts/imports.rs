//! The graph of imports between the files of a crate, and its largest cycle.

use super::scan::{Reference, Scan};
use std::collections::{BTreeMap, BTreeSet};

/// A file that imports from another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Edge {
    pub(super) from: String,
    pub(super) to: String,
    /// The first line of `from` that does.
    pub(super) line: usize,
}

/// The largest strongly connected component.
pub(super) struct Cycle {
    pub(super) files: Vec<String>,
    pub(super) edges: Vec<Edge>,
}

pub(super) fn largest_cycle(scan: &Scan) -> Cycle {
    let edges = edges(scan);
    let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for edge in &edges {
        imports.entry(&edge.from).or_default().insert(&edge.to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|file| (*file, reachable(file, &imports))).collect();
    let mut largest: Vec<&str> = Vec::new();
    for (file, files) in &reached {
        let back = |other: &&str| reached.get(*other).is_some_and(|r| r.contains(file));
        let component: Vec<&str> = files.iter().copied().filter(back).collect();
        if component.len() > largest.len() {
            largest = component;
        }
    }
    let inside = |e: &&Edge| largest.contains(&e.from.as_str()) && largest.contains(&e.to.as_str());
    Cycle {
        files: largest.iter().map(|f| f.to_string()).collect(),
        edges: edges.iter().filter(inside).cloned().collect(),
    }
}

/// The files that `file` imports, directly or through others.
fn reachable<'a>(
    file: &'a str,
    imports: &BTreeMap<&'a str, BTreeSet<&'a str>>,
) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        for next in imports.get(file).into_iter().flatten() {
            if found.insert(*next) {
                open.push(next);
            }
        }
    }
    found
}

/// The imports outside tests, one for each pair of files.
pub(super) fn edges(scan: &Scan) -> Vec<Edge> {
    let mut lines: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for reference in scan.references.iter().filter(|r| !r.is_test) {
        let Some(target) = module_of(scan, reference) else { continue };
        let from = scan.modules[reference.module].file.as_str();
        let to = scan.modules[target].file.as_str();
        if from != to {
            let line = lines.entry((from, to)).or_insert(reference.line);
            *line = reference.line.min(*line);
        }
    }
    let edge = |((from, to), line): ((&str, &str), usize)| Edge {
        from: from.to_owned(),
        to: to.to_owned(),
        line,
    };
    lines.into_iter().map(edge).collect()
}

/// The deepest module of this crate that a path names; `None` if the path leads to another crate or
/// begins with an imported name, whose import is a reference of its own.
pub(super) fn module_of(scan: &Scan, reference: &Reference) -> Option<usize> {
    let mut module = reference.module;
    let mut is_inside = false;
    for segment in &reference.segments {
        match segment.as_str() {
            "crate" => module = scan.root_of(module),
            "self" => {}
            "super" => module = scan.modules[module].parent?,
            name if !reference.is_absolute => match scan.modules[module].children.get(name) {
                Some(child) => module = *child,
                None => break,
            },
            _ => break,
        }
        is_inside = true;
    }
    is_inside.then_some(module)
}
