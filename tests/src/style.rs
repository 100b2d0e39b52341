//! Style rules that no compiler checks: files with `unsafe`, length of files, module headers, and
//! functions that only certain crates may use.

use std::path::{Path, PathBuf};

/// The repository's root.
pub(crate) fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ is in the workspace")
        .to_path_buf()
}

const LINES_MAX: usize = 1000;

/// Files in which `unsafe` is allowed.
const UNSAFE: &[&str] = &[
    "crates/sync/",
    "crates/vfs/",
    "crates/page/src/raw",
    "crates/bufmgr/src/frame",
    "crates/bufmgr/src/guard",
    "crates/parse/src/ffi",
    "crates/locale/",
];

/// Functions that only certain crates may use; all other crates call those crates.
const RESERVED: &[(&str, &[&str])] = &[
    // The server program itself accesses files outside a data directory or before an engine exists:
    // creation of the directory, lock files, sockets, configuration files.
    ("std::fs::", &["crates/vfs/", "crates/server/", "tests/", "testkit/", "xtask/"]),
    ("std::fs;", &["crates/vfs/", "crates/server/", "tests/", "testkit/", "xtask/"]),
    ("SystemTime::now", &["crates/vfs/", "tests/", "testkit/", "xtask/"]),
    ("std::thread::spawn", &["crates/sync/", "tests/", "testkit/", "xtask/"]),
];

struct Source {
    /// Relative to the root, with forward slashes.
    path: String,
    text: String,
}

fn sources() -> Vec<Source> {
    sources_in(&["crates", "tests", "testkit", "xtask"])
}

fn sources_in(folders: &[&str]) -> Vec<Source> {
    let root = workspace_root();
    let mut out = Vec::new();
    let mut stack: Vec<PathBuf> = folders.iter().map(|d| root.join(d)).collect();
    while let Some(dir) = stack.pop() {
        for entry in std::fs::read_dir(dir).expect("a source directory").flatten() {
            let path = entry.path();
            if path.is_dir() {
                stack.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                let path = path.strip_prefix(&root).expect("below the root");
                out.push(Source { path: path.to_string_lossy().replace('\\', "/"), text });
            }
        }
    }
    assert!(out.len() > 100, "only {} source files found", out.len());
    out
}

/// Lines of product code: those before the tests of a file, without comments.
fn code_lines(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let is_test = source.path.ends_with("tests.rs")
        || source.path.contains("/tests/")
        || source.path.contains("/examples/");
    let mut in_tests = is_test;
    source.text.lines().enumerate().filter_map(move |(i, line)| {
        if line.trim() == "#[cfg(test)]" {
            in_tests = true;
        }
        // The part before the first string literal or comment, which is sufficient for these
        // checks.
        let code = line.split("//").next().unwrap_or("").split('"').next().unwrap_or("");
        if in_tests || code.trim().is_empty() { None } else { Some((i + 1, code)) }
    })
}

fn assert_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn unsafe_is_used_in_allowed_files_only() {
    let mut faults = Vec::new();
    for s in sources() {
        if UNSAFE.iter().any(|p| s.path.starts_with(p)) || !s.path.starts_with("crates/") {
            continue;
        }
        for (n, line) in code_lines(&s) {
            let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            if words.clone().any(|w| w == "unsafe") {
                faults.push(format!("{}:{n}: {}", s.path, line.trim()));
            }
        }
    }
    assert_none(faults);
}

/// `test = false` in a manifest spares a second build of a crate that has no unit tests. A crate
/// that gets its first test must lose it, because the test would not be run.
#[test]
fn crates_without_unit_tests_have_no_test_build() {
    let root = workspace_root();
    let mut folders = vec!["bench".to_owned(), "testkit".to_owned(), "xtask".to_owned()];
    let crates = std::fs::read_dir(root.join("crates")).expect("crates").flatten();
    folders.extend(crates.map(|c| format!("crates/{}", c.file_name().to_string_lossy())));
    let sources = sources_in(&["bench", "crates", "testkit", "xtask"]);
    let mut faults = Vec::new();
    for folder in folders {
        let path = root.join(&folder).join("Cargo.toml");
        let manifest = std::fs::read_to_string(path).expect("a manifest");
        // The library, or the program of a crate without one.
        let target = manifest.split("[lib]").nth(1).or(manifest.split("[[bin]]").nth(1));
        let is_off = target
            .and_then(|t| t.split("\n[").next())
            .is_some_and(|t| t.lines().any(|line| line == "test = false"));
        let source = format!("{folder}/src/");
        let has_tests = sources.iter().any(|s| {
            s.path.starts_with(&source) && s.text.lines().any(|line| line.trim() == "#[test]")
        });
        if is_off == has_tests {
            faults.push(format!("{folder}: unit tests {has_tests}, `test = false` {is_off}"));
        }
    }
    assert_none(faults);
}

#[test]
fn files_are_short_and_have_module_docs() {
    let mut faults = Vec::new();
    for s in sources() {
        let lines = s.text.lines().count();
        if lines > LINES_MAX {
            faults.push(format!("{}: {lines} lines", s.path));
        }
        let is_tests = s.path.ends_with("/tests.rs");
        if !is_tests && !s.text.starts_with("//!") {
            faults.push(format!("{}: does not open with //!", s.path));
        }
    }
    assert_none(faults);
}

#[test]
fn files_clocks_and_threads_are_used_through_their_crates() {
    let mut faults = Vec::new();
    for s in sources() {
        for (word, homes) in RESERVED {
            if homes.iter().any(|h| s.path.starts_with(h)) {
                continue;
            }
            for (n, line) in code_lines(&s) {
                if line.contains(word) {
                    faults.push(format!("{}:{n}: {}", s.path, line.trim()));
                }
            }
        }
    }
    assert_none(faults);
}

#[test]
fn no_unfinished_code_is_left() {
    let words =
        ["todo!(", "unimplemented!(", "#[ignore", concat!("FIX", "ME"), concat!("XX", "X:")];
    let mut faults = Vec::new();
    for s in sources() {
        if s.path == "tests/src/style.rs" {
            continue;
        }
        for (i, line) in s.text.lines().enumerate() {
            if words.iter().any(|w| line.contains(w)) {
                faults.push(format!("{}:{}: {}", s.path, i + 1, line.trim()));
            }
        }
    }
    assert_none(faults);
}

/// Prints all code locations that can raise 0A000 (use `--nocapture`). It checks only that there
/// are some.
#[test]
fn places_that_answer_feature_not_supported() {
    let mut places = Vec::new();
    for s in sources() {
        if !s.path.starts_with("crates/") || s.path.starts_with("crates/pgerror/") {
            continue;
        }
        for (n, line) in code_lines(&s) {
            if line.contains("unsupported(") || line.contains("FEATURE_NOT_SUPPORTED") {
                places.push(format!("{}:{n}: {}", s.path, line.trim()));
            }
        }
    }
    println!("{} places can answer 0A000:\n{}", places.len(), places.join("\n"));
    assert!(!places.is_empty(), "the search itself is broken");
}
