//! psql's commands that query the catalogs: their output about the same objects.
//!
//! PostgreSQL first drops the extension plpgsql and its descriptions of built-in objects,
//! which Norsu does not have. Not compared are sizes of databases and catalogs, collations of the
//! machine's locales, and names that contain OIDs.

use super::Servers;

#[test]
fn psql_commands_print_the_same() {
    let servers = Servers::start("psql");
    let setup = servers.differences(include_str!("psql_setup.sql"));
    assert!(setup.is_empty(), "{}", setup.join("\n"));
    let wrong = servers.differences(include_str!("psql.sql"));
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
