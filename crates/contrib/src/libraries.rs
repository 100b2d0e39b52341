//! The linked-in libraries, and the look-up of their symbols.
//!
//! Counterpart: dfmgr.c.

use crate::library::Library;
use locale::Locale;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use types::string::case::Letters;
use values::compare::Comparer;
use values::function::Builtin;
use values::gin;
use values::gist;
use values::hash::Hasher;

static LIBRARIES: &[&Library] = &[
    &crate::btree_gin::LIBRARY,
    &crate::citext::LIBRARY,
    &crate::cube::LIBRARY,
    &crate::earthdistance::LIBRARY,
    &crate::fuzzystrmatch::LIBRARY,
    &crate::hstore::LIBRARY,
    &crate::intarray::LIBRARY,
    &crate::ltree::LIBRARY,
    &crate::pg_trgm::LIBRARY,
    &crate::pgcrypto::LIBRARY,
    &crate::seg::LIBRARY,
    &crate::uuid_ossp::LIBRARY,
    &Library { name: "bloom", declared: &["blhandler"], ..Library::EMPTY },
    &Library { name: "lo", declared: &["lo_manage"], ..Library::EMPTY },
    &Library {
        name: "amcheck",
        declared: &["bt_index_check", "bt_index_parent_check", "verify_heapam"],
        ..Library::EMPTY
    },
    &Library { name: "pg_buffercache", declared: &["pg_buffercache_pages"], ..Library::EMPTY },
    &Library { name: "pg_freespacemap", declared: &["pg_freespace"], ..Library::EMPTY },
    &Library {
        name: "pg_visibility",
        declared: &[
            "pg_check_frozen",
            "pg_check_visible",
            "pg_truncate_visibility_map",
            "pg_visibility",
            "pg_visibility_map",
            "pg_visibility_map_rel",
            "pg_visibility_map_summary",
            "pg_visibility_rel",
        ],
        ..Library::EMPTY
    },
    &Library {
        name: "pgstattuple",
        declared: &[
            "pg_relpages_v1_5",
            "pg_relpagesbyid_v1_5",
            "pgstatginindex_v1_5",
            "pgstathashindex",
            "pgstatindex_v1_5",
            "pgstatindexbyid_v1_5",
            "pgstattuple_approx_v1_5",
            "pgstattuple_v1_5",
            "pgstattuplebyid_v1_5",
        ],
        ..Library::EMPTY
    },
    &Library { name: "autoinc", declared: &["autoinc"], ..Library::EMPTY },
    &Library {
        name: "dict_int",
        declared: &["dintdict_init", "dintdict_lexize"],
        ..Library::EMPTY
    },
    &Library { name: "dict_xsyn", declared: &["dxsyn_init", "dxsyn_lexize"], ..Library::EMPTY },
    &Library { name: "insert_username", declared: &["insert_username"], ..Library::EMPTY },
    &Library { name: "moddatetime", declared: &["moddatetime"], ..Library::EMPTY },
    &Library { name: "tcn", declared: &["triggered_change_notification"], ..Library::EMPTY },
    &Library {
        name: "pg_prewarm",
        declared: &["pg_prewarm", "autoprewarm_start_worker", "autoprewarm_dump_now"],
        ..Library::EMPTY
    },
    &Library {
        name: "pg_stat_statements",
        declared: &[
            "pg_stat_statements_1_3",
            "pg_stat_statements_1_8",
            "pg_stat_statements_1_9",
            "pg_stat_statements_1_10",
            "pg_stat_statements_info",
            "pg_stat_statements_reset",
            "pg_stat_statements_reset_1_7",
        ],
        ..Library::EMPTY
    },
    &Library {
        name: "tablefunc",
        declared: &[
            "normal_rand",
            "crosstab",
            "crosstab_hash",
            "connectby_text",
            "connectby_text_serial",
        ],
        ..Library::EMPTY
    },
    &Library {
        name: "unaccent",
        declared: &["unaccent_dict", "unaccent_init", "unaccent_lexize"],
        ..Library::EMPTY
    },
    &Library {
        name: "plpgsql",
        declared: &["plpgsql_call_handler", "plpgsql_inline_handler", "plpgsql_validator"],
        ..Library::EMPTY
    },
];

/// What a symbol of a library is.
pub enum Symbol {
    Function(&'static Builtin),
    /// Implemented elsewhere, or not at all.
    Declared,
}

/// The library that `pg_proc.probin` names: `$libdir/name`, `name`, or the path of a file of that
/// name.
pub fn library(probin: &str) -> Option<&'static Library> {
    let name = match probin.strip_prefix("$libdir/") {
        Some(name) => name,
        None => probin.rsplit('/').next().unwrap_or(probin),
    };
    let name = name.strip_suffix(".so").unwrap_or(name);
    LIBRARIES.iter().find(|l| l.name == name).copied()
}

type Key = (&'static str, &'static str);

static FUNCTIONS: LazyLock<HashMap<Key, &'static Builtin>> = LazyLock::new(|| {
    let all = LIBRARIES.iter().flat_map(|l| l.functions.iter().map(move |t| (l.name, *t)));
    all.flat_map(|(l, table)| table.iter().map(move |b| ((l, b.name), b))).collect()
});

impl Library {
    /// The symbol with this name; `None` if the library has no such symbol.
    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        if let Some(f) = self.function(name) {
            return Some(Symbol::Function(f));
        }
        let declared = self.declared.contains(&name)
            || self.gin.iter().any(|f| f.symbol == name)
            || self.gist.iter().any(|(symbol, _)| *symbol == name);
        declared.then_some(Symbol::Declared)
    }

    /// The function with this symbol.
    pub fn function(&self, name: &str) -> Option<&'static Builtin> {
        let map: &HashMap<(&str, &str), &'static Builtin> = &FUNCTIONS;
        map.get(&(self.name, name)).copied()
    }
}

/// The function that a row of `pg_proc` in language `c` names.
pub fn function(probin: Option<&str>, symbol: &str) -> Option<&'static Builtin> {
    library(probin?)?.function(symbol)
}

/// The comparison function with this symbol. `letters`: those of the database's default collation;
/// `locale`: that of the comparison's collation.
pub fn comparison(
    symbol: &str,
    letters: &Letters,
    locale: Option<&Arc<Locale>>,
) -> Option<Comparer> {
    let found = LIBRARIES.iter().flat_map(|l| l.comparisons).find(|c| c.symbol == symbol)?;
    if let Some(localized) = crate::citext::comparer(symbol, letters, locale) {
        return Some(localized);
    }
    Some(if matches!(letters, Letters::Ascii) { found.ascii } else { found.unicode }.into())
}

/// The hash function with this symbol; see [`comparison`].
pub fn hash(symbol: &str, letters: &Letters) -> Option<Hasher> {
    let found = LIBRARIES.iter().flat_map(|l| l.hashes).find(|c| c.symbol == symbol)?;
    if let Some(localized) = crate::citext::hasher(symbol, letters) {
        return Some(localized);
    }
    let ascii = matches!(letters, Letters::Ascii);
    Some(Hasher::Plain(if ascii { found.ascii } else { found.unicode }))
}

/// The support function of GIN indexes with this symbol; see [`comparison`].
pub fn gin(symbol: &str, ascii: bool) -> Option<gin::Function> {
    let found = LIBRARIES.iter().flat_map(|l| l.gin).find(|f| f.symbol == symbol)?;
    Some(if ascii { found.ascii } else { found.unicode })
}

/// The support function of GiST indexes with this symbol.
pub fn gist(symbol: &str) -> Option<gist::Function> {
    LIBRARIES.iter().flat_map(|l| l.gist).find(|(name, _)| *name == symbol).map(|(_, f)| *f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_by_name_and_by_path() {
        for path in ["$libdir/citext", "citext", "citext.so", "/usr/lib/citext.so"] {
            assert!(library(path).is_some_and(|l| l.name == "citext"), "{path}");
        }
        assert!(library("$libdir/nothing").is_none());
        assert!(library("$libdir/citext/x").is_none());
    }

    /// A script names only symbols that its library has.
    #[test]
    fn scripts_use_known_symbols() {
        for e in crate::EXTENSIONS {
            let parts = e.scripts().flat_map(|script| script.split("CREATE FUNCTION ").skip(1));
            for part in parts {
                let Some((head, rest)) = part.split_once("AS 'MODULE_PATHNAME'") else { continue };
                let name = head.split('(').next().unwrap_or("");
                let symbol = match rest.strip_prefix(", '").and_then(|r| r.split_once('\'')) {
                    Some((symbol, _)) => symbol,
                    None => name,
                };
                if head.contains("LANGUAGE c") {
                    let library = library(e.library).expect("library of the extension");
                    assert!(library.symbol(symbol).is_some(), "{}: {symbol}", e.name);
                }
            }
        }
    }
}
