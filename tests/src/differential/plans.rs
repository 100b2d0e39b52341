//! Choice of plans for tables of several sizes. Where PostgreSQL chooses the better plan, Norsu
//! must choose the same one.

use super::Servers;

#[test]
fn plan_choices_equal_postgresqls() {
    let servers = Servers::start("plans");
    let setup = servers.differences(include_str!("plans_setup.sql"));
    assert!(setup.is_empty(), "{}", setup.join("\n"));
    let lines = include_str!("plans.sql").lines();
    let script: String = lines.map(|l| format!("EXPLAIN (COSTS OFF) {l};\n")).collect();
    let wrong = servers.differences(&script);
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
