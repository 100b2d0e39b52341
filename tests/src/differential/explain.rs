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

#[test]
fn widths_equal_postgresqls() {
    let servers = Servers::start("widths");
    let setup = servers.differences(include_str!("widths_setup.sql"));
    assert!(setup.is_empty(), "{}", setup.join("\n"));
    let script: String =
        include_str!("widths.sql").lines().map(|l| format!("EXPLAIN {l};\n")).collect();
    let wrong = servers.differences_of(&script, &nodes_with_widths);
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The nodes of a plan with their widths, without costs, numbers of rows and details.
fn nodes_with_widths(plan: String) -> String {
    let mut out = String::new();
    for line in plan.lines() {
        match (line.split_once("  (cost="), line.split_once("width=")) {
            (Some((node, _)), Some((_, width))) => {
                out.push_str(&format!("{node} {}\n", width.trim_end_matches(')')));
            }
            _ if line.contains("ERROR") => out.push_str(line),
            _ => {}
        }
    }
    out
}
