//! GRANT, REVOKE, and privilege checks.

use super::Servers;

#[test]
fn privileges_are_checked_as_in_postgresql() {
    let servers = Servers::start("privileges");
    let wrong = servers.differences(include_str!("privileges.sql"));
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
