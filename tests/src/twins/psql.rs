//! psql's commands that ask the catalogs: what they print about the same objects.
//!
//! The real server loses the extension plpgsql first, which we do not have, and its descriptions of
//! built-in objects, which are its own words. Not asked for are sizes of what holds our own texts
//! (databases, catalogs), collations of the machine's locales, and names made of numbers that
//! differ.

use super::Twins;

#[test]
fn commands_of_psql_print_what_they_print_about_postgresql() {
    let twins = Twins::start("psql");
    let setup = twins.differences(include_str!("psql_setup.sql"));
    assert!(setup.is_empty(), "{}", setup.join("\n"));
    let wrong = twins.differences(include_str!("psql.sql"));
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
