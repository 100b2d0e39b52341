//! Reads and writes trees of views, rules, defaults and checks that PostgreSQL 15 wrote.

use super::text::{NodeTree, Tree, parse};
use super::*;

/// The tree without fields that `plan`'s nodes do not contain. Of a column of a join with an alias
/// only the syntactic reference (`varnosyn`, `varattnosyn`) is kept.
fn comparable<'t>(tree: &Tree<'t>) -> Tree<'t> {
    match tree {
        Tree::List(items) => Tree::List(items.iter().map(comparable).collect()),
        Tree::Node(n) => {
            let mut n = n.clone();
            let value = |n: &NodeTree<'t>, name: &str| {
                n.fields.iter().find(|f| f.0 == name).map(|f| f.1.clone())
            };
            if let (Some(no), Some(at)) = (value(&n, "varnosyn"), value(&n, "varattnosyn")) {
                for field in &mut n.fields {
                    match field.0 {
                        "varno" => field.1.clone_from(&no),
                        "varattno" => field.1.clone_from(&at),
                        _ => {}
                    }
                }
            }
            n.fields.retain(|f| {
                !matches!(f.0, "varnosyn" | "varattnosyn" | "extraUpdatedCols" | "cols")
            });
            for field in &mut n.fields {
                for value in &mut field.1 {
                    *value = comparable(value);
                }
            }
            Tree::Node(n)
        }
        other => other.clone(),
    }
}

#[test]
fn stored_trees_round_trip() {
    for (i, line) in include_str!("trees.txt").lines().enumerate() {
        let written = if line.starts_with("({QUERY") {
            write_queries(&read_queries(line).unwrap_or_else(|e| panic!("line {i}: {e}")))
        } else if line.starts_with('(') {
            write_exprs(&read_exprs(line).unwrap())
        } else {
            write_expr(&read_expr(line).unwrap())
        };
        let (expected, got) = (parse(line).unwrap(), parse(&written).unwrap());
        if comparable(&expected) != comparable(&got) {
            let at = line.bytes().zip(written.bytes()).position(|(a, b)| a != b).unwrap_or(0);
            let near =
                |s: &str| s.chars().skip(at.saturating_sub(80)).take(200).collect::<String>();
            panic!("line {i}:\n{}\n{}", near(line), near(&written));
        }
    }
}

/// Byte for byte, for expressions, of which the nodes contain all fields.
#[test]
fn expressions_are_written_as_postgresql_writes_them() {
    for line in include_str!("trees.txt").lines().filter(|l| !l.starts_with('(')) {
        assert_eq!(write_expr(&read_expr(line).unwrap()), line);
    }
}

#[test]
fn damaged_trees_are_errors() {
    for text in ["", "{", "{VAR", "{VAR :varno x}", "(", ")", "{NOSUCH :a 1}", "<>", "{CONST :a 1}"]
    {
        assert!(read_expr(text).is_err(), "{text}");
    }
}

#[test]
fn the_sequence_of_an_identity_column_is_read_back() {
    let text = "{NEXTVALUEEXPR :seqid 16384 :typeId 23}";
    assert_eq!(write_expr(&read_expr(text).unwrap()), text);
}
