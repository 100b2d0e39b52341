//! The crates are in layers: a crate depends only on crates of strictly lower layers. The table is
//! that of `ARCHITECTURE.md`; a dependency on the same or a higher layer fails the test.

use crate::style::workspace_root;
use std::collections::BTreeMap;

const LAYERS: &[&[&str]] = &[
    &["stdx", "ids"],
    &["sync", "pgerror", "locale"],
    &["vfs", "page", "lmgr", "values", "wire", "parse", "settings"],
    &["wal", "smgr", "stats", "numeric", "textsearch", "ranges", "network", "geometry", "openpgp"],
    &["bufmgr", "datetime", "jsonpath"],
    &["txn", "freespace", "types"],
    &["access", "contrib", "plan", "twophase"],
    &["heap", "btree", "hash", "gin", "gist", "bloom", "statements"],
    &["engine"],
    &["catalog"],
    &["eval", "partition", "largeobject"],
    &["querytree", "rowops"],
    &["analyze", "planner", "executor"],
    &["trigger", "deparse", "dictionaries"],
    &["utility"],
    &["copy", "define", "statistics"],
    &["clusterwide"],
    &["commands"],
    &["autovacuum", "client", "explain", "plpgsql", "sysfn"],
    &["parameters"],
    &["session"],
    &["server"],
];

/// Dependencies within a layer that are allowed, with the reason.
const SAME_LAYER: &[(&str, &str, &str)] = &[];

/// Dependencies that are forbidden although the layers would allow them.
const FORBIDDEN: &[(&str, &str)] = &[
    ("wal", "heap"),
    ("wal", "btree"),
    ("wal", "access"),
    ("heap", "access"),
    ("heap", "btree"),
    ("heap", "hash"),
    ("wal", "hash"),
    ("executor", "parse"),
    ("executor", "analyze"),
    ("planner", "parse"),
    ("engine", "parse"),
];

/// The workspace's crates among the dependencies (without dev-dependencies) of a manifest.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut out = Vec::new();
    for line in manifest.lines() {
        let line = line.trim();
        if line.starts_with('[') {
            inside = line == "[dependencies]";
        } else if inside && let Some((name, _)) = line.split_once(['.', ' ', '=']) {
            out.push(name.trim().to_string());
        }
    }
    out
}

#[test]
fn dependencies_go_to_lower_layers() {
    let layer: BTreeMap<&str, usize> = LAYERS
        .iter()
        .enumerate()
        .flat_map(|(n, crates)| crates.iter().map(move |c| (*c, n)))
        .collect();
    let mut faults = Vec::new();
    for (name, own) in &layer {
        let path = workspace_root().join("crates").join(name).join("Cargo.toml");
        let manifest = std::fs::read_to_string(&path).expect("every crate of the table exists");
        for dep in dependencies(&manifest) {
            let Some(below) = layer.get(dep.as_str()) else { continue };
            let listed = SAME_LAYER.iter().any(|(a, b, _)| a == name && *b == dep);
            if below >= own && !listed {
                faults.push(format!("{name} (layer {own}) depends on {dep} (layer {below})"));
            }
            if FORBIDDEN.iter().any(|(a, b)| a == name && *b == dep) {
                faults.push(format!("{name} must not know {dep}"));
            }
        }
    }
    let listed: usize = LAYERS.iter().map(|f| f.len()).sum();
    let there = std::fs::read_dir(workspace_root().join("crates")).expect("crates").count();
    assert_eq!(listed, there, "a crate is missing in the table of layers");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
