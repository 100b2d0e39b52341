//! Dependencies of a manifest that no source file names.

use super::scan::{Reference, Scan};
use super::{Item, Measure, Package, imports};

/// Packages whose library has another name.
const LIBRARY_NAMES: &[(&str, &str)] = &[("md-5", "md5")];

/// A line of the manifest that declares a dependency.
struct Dependency<'a> {
    name: &'a str,
    line: usize,
    is_for_tests: bool,
}

pub(super) fn unused(package: &Package, scan: &Scan) -> Vec<Item> {
    let is_named = |dependency: &Dependency<'_>| {
        let library = library_name(dependency.name);
        let names = |r: &&Reference| is_external(scan, r) && r.segments[0] == library;
        scan.references.iter().filter(names).any(|r| dependency.is_for_tests || !r.is_test)
    };
    dependencies(&package.manifest)
        .into_iter()
        .filter(|d| !is_named(d))
        .map(|d| Item {
            measure: Measure::UnusedDependencies,
            package: package.name.clone(),
            file: "Cargo.toml".to_owned(),
            line: d.line,
            name: d.name.to_owned(),
            size: 1,
        })
        .collect()
}

fn library_name(package: &str) -> String {
    match LIBRARY_NAMES.iter().find(|(name, _)| *name == package) {
        Some((_, library)) => library.to_string(),
        None => package.replace('-', "_"),
    }
}

/// Whether a path begins with the name of another crate.
fn is_external(scan: &Scan, reference: &Reference) -> bool {
    if reference.is_absolute {
        return true;
    }
    let is_imported = || scan.modules[reference.module].imported.contains(&reference.segments[0]);
    imports::module_of(scan, reference).is_none() && (reference.is_use || !is_imported())
}

fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut section = "";
    let mut found = Vec::new();
    for (index, line) in manifest.lines().enumerate() {
        let (line, number) = (line.trim(), index + 1);
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            // `[dependencies.name]`
            if let Some((_, name)) = section.rsplit_once("dependencies.") {
                let is_for_tests = section.contains("dev-dependencies.");
                found.push(Dependency { name, line: number, is_for_tests });
            }
        } else if section.ends_with("dependencies")
            && !line.starts_with('#')
            && let Some((name, _)) = line.split_once(['.', ' ', '='])
        {
            let is_for_tests = section.ends_with("dev-dependencies");
            found.push(Dependency { name: name.trim(), line: number, is_for_tests });
        }
    }
    found
}
