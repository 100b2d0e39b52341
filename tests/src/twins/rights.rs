//! GRANT, REVOKE, and privilege checks.

use super::Twins;

#[test]
fn rights_are_asked_for_as_in_postgresql() {
    let twins = Twins::start("rights");
    let wrong = twins.differences(include_str!("rights.sql"));
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
