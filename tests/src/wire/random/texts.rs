//! The statements of random messages, from `tests/sql/messages.txt`.

use super::forms::{self, Form};
use std::path::Path;
use testkit::client::Client;

pub(super) struct Texts {
    pub with_parameters: Vec<String>,
    pub queries: Vec<String>,
    pub changes: Vec<String>,
    pub commands: Vec<String>,
    pub transactions: Vec<String>,
    pub copies: Vec<String>,
    /// Binary forms of parameters.
    pub forms: Vec<Form>,
}

impl Texts {
    /// Reads the statements, and binary forms of values from PostgreSQL.
    pub(super) fn read(client: &mut Client) -> Texts {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql/messages.txt");
        let all = std::fs::read_to_string(path).expect("the texts are there");
        let section = |name: &str| {
            let head = format!("\n[{name}]\n");
            let (_, rest) = all.split_once(&head).expect("the section is there");
            let body = rest.split("\n[").next().unwrap_or_default();
            let lines = body.lines().filter(|l| !l.is_empty());
            lines.map(text).collect()
        };
        Texts {
            with_parameters: section("with_parameters"),
            queries: section("queries"),
            changes: section("changes"),
            commands: section("commands"),
            transactions: section("transactions"),
            copies: section("copies"),
            forms: forms::read(client),
        }
    }
}

fn text(line: &str) -> String {
    match line {
        "<empty>" => String::new(),
        "<blank>" => " ".to_owned(),
        _ => line.to_owned(),
    }
}

/// The number of parameters in a statement.
pub(super) fn parameters(sql: &str) -> usize {
    (1..10).rev().find(|n| sql.contains(&format!("${n}"))).unwrap_or(0)
}
