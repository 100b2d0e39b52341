//! EXPLAIN of statements for which both servers choose the same plan.

use super::Servers;

#[test]
fn explain_output_equals_postgresqls() {
    let servers = Servers::start("explain");
    let setup = servers.differences(include_str!("explain_setup.sql"));
    assert!(setup.is_empty(), "{}", setup.join("\n"));
    let mut script = String::from("\\pset format unaligned\n");
    for (options, statements) in [
        ("COSTS OFF", include_str!("explain.sql")),
        ("COSTS OFF, VERBOSE", include_str!("explain_verbose.sql")),
        ("COSTS OFF, FORMAT JSON", include_str!("explain_verbose.sql")),
        ("COSTS OFF, FORMAT YAML", include_str!("explain_verbose.sql")),
        ("COSTS OFF, FORMAT XML, VERBOSE", include_str!("explain_verbose.sql")),
    ] {
        for line in statements.lines() {
            script.push_str(&format!("EXPLAIN ({options}) {line};\n"));
        }
    }
    script.push_str(include_str!("explain_more.sql"));
    let wrong = servers.differences(&script);
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
