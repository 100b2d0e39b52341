//! The information schema: each of its views must return the same rows as PostgreSQL's to several
//! roles.
//!
//! Rows about built-in objects are not compared if they depend on this project's definitions (the
//! views and functions of the schema, their columns and uses), and neither are collations of the
//! machine's locales. OIDs in names are removed.

use super::Servers;

/// The superuser, an owner, and a member of a group with some privileges.
const ROLES: [&str; 3] = ["postgres", "ann", "bob"];

/// The column with the schema of a row's object. The first one that a view has is used.
const SCHEMAS: [&str; 12] = [
    "view_schema",
    "constraint_schema",
    "table_schema",
    "specific_schema",
    "object_schema",
    "sequence_schema",
    "collation_schema",
    "domain_schema",
    "user_defined_type_schema",
    "event_object_schema",
    "schema_name",
    "udt_schema",
];

#[test]
fn information_schema_views_equal_postgresqls() {
    let servers = Servers::start("information");
    let setup = servers.differences(include_str!("information_setup.sql"));
    assert!(setup.is_empty(), "{}", setup.join("\n"));
    let views = servers.0.real.query(
        "postgres",
        "SELECT relname, string_agg(attname, ' ' ORDER BY attnum) FROM pg_class c \
         JOIN pg_attribute a ON attrelid = c.oid WHERE relkind = 'v' AND attnum > 0 \
         AND relnamespace = 'information_schema'::regnamespace GROUP BY 1 ORDER BY 1",
    );
    let mut script = String::from(
        "\\pset format unaligned\n\\pset tuples_only on\n\
         SELECT relname, relacl, attname, format_type(atttypid, atttypmod), attcollation \
         FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid WHERE relkind = 'v' \
         AND attnum > 0 \
         AND relnamespace = 'information_schema'::regnamespace ORDER BY 1, attnum;\n",
    );
    let mut asked = 0;
    for role in ROLES {
        script += &format!("SET SESSION AUTHORIZATION {role};\n");
        for line in views.lines() {
            let (view, columns) = line.split_once('|').expect("two columns");
            script += &question(view, columns);
            asked += 1;
        }
    }
    assert!(asked > 60 * ROLES.len(), "{asked}");
    let wrong = servers.differences(&script);
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// All rows of a view about user objects, with N in place of OIDs.
fn question(view: &str, columns: &str) -> String {
    let columns: Vec<&str> = columns.split(' ').collect();
    let schema = SCHEMAS.into_iter().find(|s| columns.contains(s));
    let filter = match schema {
        Some("collation_schema") => " WHERE collation_name IN ('default', 'C', 'POSIX')".to_owned(),
        // The names of temporary schemas contain a session number.
        Some("schema_name") => " WHERE schema_name !~ '^pg_.*temp'".to_owned(),
        Some(s) => format!(" WHERE {s} NOT IN ('pg_catalog', 'information_schema')"),
        None => String::new(),
    };
    format!(
        "SELECT regexp_replace(v::text, '_\\d{{5}}(?=[_,)\"])|\\m\\d{{4,5}}(?=_\\d{{5}})', 'N', \
         'g') \
         FROM information_schema.{view} v{filter} ORDER BY 1;\n"
    )
}
