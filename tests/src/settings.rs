//! Settings with an effect: `docs/settings.md` must list the settings that the program does not
//! read outside the crate `settings`.

use crate::style::workspace_root;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Files that name settings without reading their values.
const LISTS: [&str; 4] = [
    // Storage parameters of index types that are not implemented.
    "engine/src/am.rs",
    "session/src/plancache/lookup.rs",
    "deparse/src/routine.rs",
    "plan/src/nodes.rs",
];

fn sources(dir: &Path, out: &mut String) {
    for entry in fs::read_dir(dir).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_none_or(|n| n != "tests" && n != "bootstrap") {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs")
            && !LISTS.iter().any(|l| path.ends_with(l))
        {
            out.push_str(&fs::read_to_string(&path).expect("a source file"));
        }
    }
}

#[test]
fn settings_without_effect_are_listed() {
    let root = workspace_root();
    let mut program = String::new();
    for entry in fs::read_dir(root.join("crates")).expect("crates").flatten() {
        if entry.file_name() != "settings" {
            sources(&entry.path().join("src"), &mut program);
        }
    }
    let facts = fs::read_to_string(root.join("crates/settings/facts/settings.tsv")).expect("facts");
    let fields = facts.lines().map(|l| l.split('\t').collect::<Vec<_>>());
    let unused: BTreeSet<String> = fields
        .filter(|f| f[3] != "internal" && !program.contains(&format!("\"{}\"", f[0])))
        .map(|f| f[0].to_owned())
        .collect();
    let path = root.join("docs/settings.md");
    let page = fs::read_to_string(&path).expect("docs/settings.md");
    let (head, list) = page.split_once("\n- ").expect("a list");
    let listed: BTreeSet<String> = format!("- {list}")
        .lines()
        .filter_map(|l| l.strip_prefix("- `")?.strip_suffix('`').map(str::to_owned))
        .collect();
    if std::env::var_os("NORSU_REWRITE").is_some() {
        let lines: Vec<String> = unused.iter().map(|n| format!("- `{n}`")).collect();
        fs::write(&path, format!("{head}\n{}\n", lines.join("\n")))
            .expect("the page can be written");
        return;
    }
    let missing: Vec<_> = unused.difference(&listed).collect();
    let too_many: Vec<_> = listed.difference(&unused).collect();
    assert!(
        missing.is_empty() && too_many.is_empty(),
        "missing: {missing:?}; obeyed: {too_many:?}"
    );
}
