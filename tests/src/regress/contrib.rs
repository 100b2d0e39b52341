//! The regression tests of PostgreSQL's extensions (`contrib/*/sql`) and of PL/pgSQL, in the order
//! of `REGRESS` in their makefiles. Each extension has a database of its own.

use super::consequence::Consequences;
use super::table::{self, Table};
use super::{File, Outputs, is_long, is_wanted, sides, sources};
use crate::pair::Pair;
use std::path::Path;

/// Directories of the source package with tests of extensions that are linked into the server.
const FOLDERS: &[&str] = &[
    "contrib/amcheck",
    "contrib/bloom",
    "contrib/btree_gin",
    "contrib/citext",
    "contrib/cube",
    "contrib/dict_int",
    "contrib/dict_xsyn",
    "contrib/earthdistance",
    "contrib/fuzzystrmatch",
    "contrib/hstore",
    "contrib/intarray",
    "contrib/ltree",
    "contrib/pg_freespacemap",
    "contrib/pg_stat_statements",
    "contrib/pg_trgm",
    "contrib/pg_visibility",
    "contrib/pgcrypto",
    "contrib/pgstattuple",
    "contrib/seg",
    "contrib/tablefunc",
    "contrib/unaccent",
    "contrib/uuid-ossp",
    "src/pl/plpgsql/src",
];

/// Settings of the servers that the makefiles start for single extensions.
const SETTINGS: &[&str] = &[
    "autovacuum=off",
    "max_prepared_transactions=2",
    "shared_preload_libraries=pg_stat_statements",
];

/// The words of a variable of a makefile, which may be continued on further lines. A reference to
/// another variable is a word.
fn words(makefile: &str, variable: &str) -> Vec<String> {
    let text = makefile.replace("\\\n", " ");
    let value = text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim_end() == variable).then(|| value.to_owned())
    });
    value.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

/// The names of the files that the makefile of an extension runs, in order.
fn files(folder: &Path) -> Vec<String> {
    let path = folder.join("Makefile");
    let makefile =
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut out = Vec::new();
    for word in words(&makefile, "REGRESS") {
        match word.as_str() {
            // The tests of messages that are compressed with zlib.
            "$(CF_PGP_TESTS)" => out.extend(words(&makefile, "ZLIB_TST")),
            word => out.push(word.to_owned()),
        }
    }
    assert!(!out.is_empty(), "{} names no tests", path.display());
    out
}

#[test]
fn the_contrib_suite_agrees_as_far_as_recorded() {
    if !is_long() {
        return table::check_form();
    }
    let source = sources();
    // A locale in which letters other than those of ASCII have case.
    let pair = Pair::start_both("contrib", "C.UTF-8", SETTINGS);
    let outputs = Outputs::new();
    let mut table = Table::load("contrib");
    for folder in FOLDERS {
        let suite = source.join(folder);
        let extension = folder.split('/').find(|part| !matches!(*part, "contrib" | "src" | "pl"));
        let extension = extension.expect("a folder of an extension");
        if !files(&suite).iter().any(|name| is_wanted(&format!("{extension}_{name}"))) {
            continue;
        }
        let database = format!("contrib_{}", extension.replace('-', "_"));
        let sides = sides(&pair, &suite, &database);
        for name in files(&suite) {
            // Files depend on the first one of their extension, so all are run.
            let row = format!("{extension}_{name}");
            let file = File { row: &row, database: &database, name: &name };
            let mut refused = Consequences::default();
            table.note(&row, &file.run(&suite, &sides, &outputs, &mut refused));
        }
    }
    table.finish();
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_of_variables_are_read() {
        let makefile = "A = 1\nREGRESS = a b \\\n\tc $(D) \\\n e\n\nREGRESS_OPTS = x\n";
        assert_eq!(words(makefile, "REGRESS"), ["a", "b", "c", "$(D)", "e"]);
        assert!(words(makefile, "OTHER").is_empty());
    }
}
