//! The list of extensions.
//!
//! Counterpart: the control files of the extensions.

use pgerror::{Result, pg_err};

/// An extension: its control data and its script.
pub struct Extension {
    pub name: &'static str,
    /// The only version.
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
    /// The statements that create its objects.
    pub script: &'static str,
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
    }
}

/// The extensions that CREATE EXTENSION accepts, by name.
pub static EXTENSIONS: &[Extension] = &[
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
        library: "$libdir/pg_prewarm",
        trusted: false,
        script: include_str!("../extensions/pg_prewarm--1.2.sql"),
        ..trusted("pg_prewarm", "1.2", "prewarm relation data")
    },
    Extension {
        library: "$libdir/pg_stat_statements",
        trusted: false,
        script: include_str!("../extensions/pg_stat_statements--1.10.sql"),
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
        library: "$libdir/pgcrypto",
        script: include_str!("../extensions/pgcrypto--1.3.sql"),
        ..trusted("pgcrypto", "1.3", "cryptographic functions")
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
    fn the_list_is_sorted_by_name() {
        assert!(EXTENSIONS.is_sorted_by_key(|e| e.name));
    }
}
