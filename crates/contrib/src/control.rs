//! The list of extensions.
//!
//! Counterpart: the control files of the extensions.

use pgerror::{Result, pg_err};

/// A script that makes one version of an extension of another one.
pub struct Update {
    pub from: &'static str,
    pub to: &'static str,
    pub script: &'static str,
}

/// An extension: its control data and its scripts.
pub struct Extension {
    pub name: &'static str,
    /// The default version.
    pub version: &'static str,
    pub comment: &'static str,
    /// The library that replaces `MODULE_PATHNAME` in the script; empty if there is none.
    pub library: &'static str,
    /// Its objects can be moved to another schema.
    pub relocatable: bool,
    /// The schema of its objects, if that is fixed.
    pub schema: Option<&'static str>,
    /// Users with the privilege CREATE on the database may create it.
    pub trusted: bool,
    /// The extensions that it needs.
    pub requires: &'static [&'static str],
    /// The statements that create its objects in the default version.
    pub script: &'static str,
    /// Other versions with the statements that create their objects.
    pub bases: &'static [(&'static str, &'static str)],
    pub updates: &'static [Update],
}

impl Extension {
    /// All scripts.
    pub fn scripts(&self) -> impl Iterator<Item = &'static str> {
        let updates = self.updates.iter().map(|update| update.script);
        std::iter::once(self.script).chain(self.bases.iter().map(|base| base.1)).chain(updates)
    }

    /// All versions, each once.
    pub fn versions(&self) -> Vec<&'static str> {
        let mut all = vec![self.version];
        all.extend(self.bases.iter().map(|base| base.0));
        all.extend(self.updates.iter().flat_map(|update| [update.from, update.to]));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The shortest sequence of updates from one version to another; `None` if there is none.
    pub fn path(&self, from: &str, to: &str) -> Option<Vec<&'static Update>> {
        let mut reached: Vec<(&str, Vec<&'static Update>)> = vec![(from, Vec::new())];
        let mut at = 0;
        while let Some((version, path)) = reached.get(at).cloned() {
            if version == to {
                return Some(path);
            }
            for update in self.updates.iter().filter(|update| update.from == version) {
                if reached.iter().all(|(known, _)| *known != update.to) {
                    let mut longer = path.clone();
                    longer.push(update);
                    reached.push((update.to, longer));
                }
            }
            at += 1;
        }
        None
    }

    /// The version that a script creates, the script, and the updates that make `version` of it;
    /// `None` if there is no such version.
    pub fn installation(
        &self,
        version: &str,
    ) -> Option<(&'static str, &'static str, Vec<&'static Update>)> {
        let bases = std::iter::once((self.version, self.script)).chain(self.bases.iter().copied());
        let made =
            bases.filter_map(|(base, script)| Some((base, script, self.path(base, version)?)));
        made.min_by_key(|(_, _, path)| path.len())
    }
}

const fn trusted(name: &'static str, version: &'static str, comment: &'static str) -> Extension {
    Extension {
        name,
        version,
        comment,
        library: "",
        relocatable: true,
        schema: None,
        trusted: true,
        requires: &[],
        script: "",
        bases: &[],
        updates: &[],
    }
}

/// The versions of pg_stat_statements that PostgreSQL 15 still updates. The functions of old
/// versions have fewer columns.
const STATEMENTS_UPDATES: &[Update] = &[
    Update {
        from: "1.4",
        to: "1.5",
        script: include_str!("../extensions/pg_stat_statements--1.4--1.5.sql"),
    },
    Update {
        from: "1.5",
        to: "1.6",
        script: include_str!("../extensions/pg_stat_statements--1.5--1.6.sql"),
    },
    Update {
        from: "1.6",
        to: "1.7",
        script: include_str!("../extensions/pg_stat_statements--1.6--1.7.sql"),
    },
    Update {
        from: "1.7",
        to: "1.8",
        script: include_str!("../extensions/pg_stat_statements--1.7--1.8.sql"),
    },
    Update {
        from: "1.8",
        to: "1.9",
        script: include_str!("../extensions/pg_stat_statements--1.8--1.9.sql"),
    },
    Update {
        from: "1.9",
        to: "1.10",
        script: include_str!("../extensions/pg_stat_statements--1.9--1.10.sql"),
    },
];

/// The extensions that CREATE EXTENSION accepts, by name.
pub static EXTENSIONS: &[Extension] = &[
    Extension {
        library: "$libdir/amcheck",
        trusted: false,
        script: include_str!("../extensions/amcheck--1.3.sql"),
        ..trusted("amcheck", "1.3", "functions for verifying relation integrity")
    },
    Extension {
        library: "$libdir/autoinc",
        trusted: false,
        script: include_str!("../extensions/autoinc--1.0.sql"),
        ..trusted("autoinc", "1.0", "functions for autoincrementing fields")
    },
    Extension {
        library: "$libdir/bloom",
        trusted: false,
        script: include_str!("../extensions/bloom--1.0.sql"),
        ..trusted("bloom", "1.0", "bloom access method - signature file based index")
    },
    Extension {
        library: "$libdir/btree_gin",
        script: include_str!("../extensions/btree_gin--1.3.sql"),
        ..trusted("btree_gin", "1.3", "support for indexing common datatypes in GIN")
    },
    Extension {
        library: "$libdir/citext",
        script: include_str!("../extensions/citext--1.6.sql"),
        ..trusted("citext", "1.6", "data type for case-insensitive character strings")
    },
    Extension {
        library: "$libdir/cube",
        script: include_str!("../extensions/cube--1.5.sql"),
        ..trusted("cube", "1.5", "data type for multidimensional cubes")
    },
    Extension {
        library: "$libdir/dict_int",
        script: include_str!("../extensions/dict_int--1.0.sql"),
        ..trusted("dict_int", "1.0", "text search dictionary template for integers")
    },
    Extension {
        library: "$libdir/dict_xsyn",
        trusted: false,
        script: include_str!("../extensions/dict_xsyn--1.0.sql"),
        ..trusted(
            "dict_xsyn",
            "1.0",
            "text search dictionary template for extended synonym processing",
        )
    },
    Extension {
        library: "$libdir/earthdistance",
        trusted: false,
        requires: &["cube"],
        script: include_str!("../extensions/earthdistance--1.1.sql"),
        ..trusted(
            "earthdistance",
            "1.1",
            "calculate great-circle distances on the surface of the Earth",
        )
    },
    Extension {
        library: "$libdir/fuzzystrmatch",
        script: include_str!("../extensions/fuzzystrmatch--1.1.sql"),
        ..trusted("fuzzystrmatch", "1.1", "determine similarities and distance between strings")
    },
    Extension {
        library: "$libdir/hstore",
        script: include_str!("../extensions/hstore--1.8.sql"),
        ..trusted("hstore", "1.8", "data type for storing sets of (key, value) pairs")
    },
    Extension {
        library: "$libdir/insert_username",
        trusted: false,
        script: include_str!("../extensions/insert_username--1.0.sql"),
        ..trusted("insert_username", "1.0", "functions for tracking who changed a table")
    },
    Extension {
        trusted: false,
        script: include_str!("../extensions/intagg--1.1.sql"),
        ..trusted("intagg", "1.1", "integer aggregator and enumerator (obsolete)")
    },
    Extension {
        library: "$libdir/_int",
        script: include_str!("../extensions/intarray--1.5.sql"),
        ..trusted(
            "intarray",
            "1.5",
            "functions, operators, and index support for 1-D arrays of integers",
        )
    },
    Extension {
        library: "$libdir/lo",
        script: include_str!("../extensions/lo--1.1.sql"),
        ..trusted("lo", "1.1", "Large Object maintenance")
    },
    Extension {
        library: "$libdir/ltree",
        script: include_str!("../extensions/ltree--1.2.sql"),
        ..trusted("ltree", "1.2", "data type for hierarchical tree-like structures")
    },
    Extension {
        library: "$libdir/moddatetime",
        trusted: false,
        script: include_str!("../extensions/moddatetime--1.0.sql"),
        ..trusted("moddatetime", "1.0", "functions for tracking last modification time")
    },
    Extension {
        library: "$libdir/pg_buffercache",
        trusted: false,
        script: include_str!("../extensions/pg_buffercache--1.3.sql"),
        ..trusted("pg_buffercache", "1.3", "examine the shared buffer cache")
    },
    Extension {
        library: "$libdir/pg_freespacemap",
        trusted: false,
        script: include_str!("../extensions/pg_freespacemap--1.2.sql"),
        ..trusted("pg_freespacemap", "1.2", "examine the free space map (FSM)")
    },
    Extension {
        library: "$libdir/pg_prewarm",
        trusted: false,
        script: include_str!("../extensions/pg_prewarm--1.2.sql"),
        ..trusted("pg_prewarm", "1.2", "prewarm relation data")
    },
    Extension {
        library: "$libdir/pg_stat_statements",
        trusted: false,
        script: include_str!("../extensions/pg_stat_statements--1.10.sql"),
        bases: &[("1.4", include_str!("../extensions/pg_stat_statements--1.4.sql"))],
        updates: STATEMENTS_UPDATES,
        ..trusted(
            "pg_stat_statements",
            "1.10",
            "track planning and execution statistics of all SQL statements executed",
        )
    },
    Extension {
        library: "$libdir/pg_trgm",
        script: include_str!("../extensions/pg_trgm--1.6.sql"),
        ..trusted(
            "pg_trgm",
            "1.6",
            "text similarity measurement and index searching based on trigrams",
        )
    },
    Extension {
        library: "$libdir/pg_visibility",
        trusted: false,
        script: include_str!("../extensions/pg_visibility--1.2.sql"),
        ..trusted(
            "pg_visibility",
            "1.2",
            "examine the visibility map (VM) and page-level visibility info",
        )
    },
    Extension {
        library: "$libdir/pgcrypto",
        script: include_str!("../extensions/pgcrypto--1.3.sql"),
        ..trusted("pgcrypto", "1.3", "cryptographic functions")
    },
    Extension {
        library: "$libdir/pgstattuple",
        trusted: false,
        script: include_str!("../extensions/pgstattuple--1.5.sql"),
        ..trusted("pgstattuple", "1.5", "show tuple-level statistics")
    },
    Extension {
        library: "$libdir/plpgsql",
        relocatable: false,
        schema: Some("pg_catalog"),
        script: include_str!("../extensions/plpgsql--1.0.sql"),
        ..trusted("plpgsql", "1.0", "PL/pgSQL procedural language")
    },
    Extension {
        library: "$libdir/seg",
        script: include_str!("../extensions/seg--1.4.sql"),
        ..trusted(
            "seg",
            "1.4",
            "data type for representing line segments or floating-point intervals",
        )
    },
    Extension {
        library: "$libdir/tablefunc",
        script: include_str!("../extensions/tablefunc--1.0.sql"),
        ..trusted("tablefunc", "1.0", "functions that manipulate whole tables, including crosstab")
    },
    Extension {
        library: "$libdir/tcn",
        script: include_str!("../extensions/tcn--1.0.sql"),
        ..trusted("tcn", "1.0", "Triggered change notifications")
    },
    Extension {
        library: "$libdir/unaccent",
        script: include_str!("../extensions/unaccent--1.1.sql"),
        ..trusted("unaccent", "1.1", "text search dictionary that removes accents")
    },
    Extension {
        library: "$libdir/uuid-ossp",
        script: include_str!("../extensions/uuid-ossp--1.1.sql"),
        ..trusted("uuid-ossp", "1.1", "generate universally unique identifiers (UUIDs)")
    },
];

/// The extension with this name.
pub fn find(name: &str) -> Option<&'static Extension> {
    EXTENSIONS.iter().find(|e| e.name == name)
}

/// 22023 for a name that no extension can have.
pub fn check_name(name: &str) -> Result<()> {
    let reason = if name.is_empty() {
        "Extension names must not be empty."
    } else if name.contains("--") {
        "Extension names must not contain \"--\"."
    } else if name.starts_with('-') || name.ends_with('-') {
        "Extension names must not begin or end with \"-\"."
    } else if name.contains('/') {
        "Extension names must not contain directory separator characters."
    } else {
        return Ok(());
    };
    Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid extension name: \"{name}\"").detail(reason))
}

/// The control data of an extension; 0A000 if there is none of this name.
pub fn available(name: &str) -> Result<&'static Extension> {
    find(name).ok_or_else(|| {
        pg_err!(FEATURE_NOT_SUPPORTED, "extension \"{name}\" is not available").hint(
            "The extension must first be installed on the system where PostgreSQL is running.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_made_by_the_shortest_path() {
        let known = find("pg_stat_statements").unwrap();
        let steps = |version| known.installation(version).map(|(base, _, path)| (base, path.len()));
        assert_eq!(steps("1.10"), Some(("1.10", 0)));
        assert_eq!(steps("1.6"), Some(("1.4", 2)));
        assert_eq!(steps("1.3"), None);
        assert_eq!(known.path("1.8", "1.10").map(|path| path.len()), Some(2));
        assert!(known.path("1.10", "1.8").is_none());
    }

    #[test]
    fn the_list_is_sorted_by_name() {
        assert!(EXTENSIONS.is_sorted_by_key(|e| e.name));
    }
}
