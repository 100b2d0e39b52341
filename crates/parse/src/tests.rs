use super::*;
use crate::ast::*;

/// Statement, and PostgreSQL 15's error: SQLSTATE, message, cursor position (0: not compared),
/// hint.
const ERRORS: &[(&str, &str, &str, u32, Option<&str>)] = &[
    ("SELEC 1", "42601", "syntax error at or near \"SELEC\"", 1, None),
    ("SELECT 1 FROM WHERE", "42601", "syntax error at or near \"WHERE\"", 15, None),
    ("SELECT 'abc", "42601", "unterminated quoted string at or near \"'abc\"", 8, None),
    ("SELECT \"abc", "42601", "unterminated quoted identifier at or near \"\"abc\"", 8, None),
    ("SELECT $$abc", "42601", "unterminated dollar-quoted string at or near \"$$abc\"", 8, None),
    ("SELECT /* x", "42601", "unterminated /* comment at or near \"/* x\"", 8, None),
    ("SELECT 1a", "42601", "trailing junk after numeric literal at or near \"1a\"", 8, None),
    (
        "SELECT 'é', 0x1F",
        "42601",
        "trailing junk after numeric literal at or near \"0x1F\"",
        13,
        None,
    ),
    (
        "SELECT $q$ 1_0 $q$, \"1_0\", E'\\' 1_0' /* /* 1_0 */ */ -- 1_0\n, 1_0",
        "42601",
        "trailing junk after numeric literal at or near \"1_0\"",
        63,
        None,
    ),
    (
        "SELECT a1_0, 1.5, $1é",
        "42601",
        "trailing junk after parameter at or near \"$1é\"",
        19,
        None,
    ),
    ("SELECT FROM FROM, 1_0", "42601", "syntax error at or near \"FROM\"", 13, None),
    ("SELECT ''; SELECT (", "42601", "syntax error at end of input", 20, None),
    ("SELECT b'101", "42601", "unterminated bit string literal at or near \"b'101\"", 8, None),
    ("SELECT x'1", "42601", "unterminated hexadecimal string literal at or near \"x'1\"", 8, None),
    ("SELECT é FROM ü WHERE )", "42601", "syntax error at or near \")\"", 23, None),
    (
        "SELECT E'\\u12'",
        "22025",
        "invalid Unicode escape",
        10,
        Some("Unicode escapes must be \\uXXXX or \\UXXXXXXXX."),
    ),
    (
        "SELECT U&'\\00'",
        "42601",
        "invalid Unicode escape",
        11,
        Some("Unicode escapes must be \\XXXX or \\+XXXXXX."),
    ),
    ("SELECT \"\"", "42601", "zero-length delimited identifier at or near \"\"\"\"", 8, None),
    (
        "SELECT * FROM a.b.c.d",
        "42601",
        "improper qualified name (too many dotted names): a.b.c.d",
        15,
        None,
    ),
    ("CREATE TABLE t (a int,)", "42601", "syntax error at or near \")\"", 23, None),
    (
        "SELECT 1 LIMIT 1,2",
        "42601",
        "LIMIT #,# syntax is not supported",
        10,
        Some("Use separate LIMIT and OFFSET clauses."),
    ),
    ("SELECT 1 ORDER BY 1 ORDER BY 2", "42601", "syntax error at or near \"ORDER\"", 21, None),
    (
        "SELECT sum(x) OVER (ROWS UNBOUNDED FOLLOWING) FROM t",
        "42P20",
        "frame start cannot be UNBOUNDED FOLLOWING",
        26,
        None,
    ),
    (
        "SELECT float(60) '1'",
        "22023",
        "precision for type float must be less than 54 bits",
        14,
        None,
    ),
    ("CREATE ROLE public", "42939", "role name \"public\" is reserved", 13, None),
    ("GRANT public TO none", "42939", "role name \"none\" is reserved", 17, None),
    ("SELECT a b c", "42601", "syntax error at or near \"c\"", 12, None),
    ("INSERT INTO t VALUES (1,", "42601", "syntax error at end of input", 25, None),
    ("SELECT 1 +", "42601", "syntax error at end of input", 11, None),
    ("SELECT U&'\\d800'", "42601", "invalid Unicode surrogate pair", 16, None),
    ("SELECT 1;;; SELECT 2 2 2;", "42601", "syntax error at or near \"2\"", 22, None),
    ("table", "42601", "syntax error at end of input", 6, None),
    ("CREATE OPERATOR CLASS", "42601", "syntax error at end of input", 22, None),
    ("DELETE t", "42601", "syntax error at or near \"t\"", 8, None),
    ("UPDATE t SET", "42601", "syntax error at end of input", 13, None),
    (
        "SELECT * FROM generate_series(1,2) WITH x",
        "42601",
        "syntax error at or near \"WITH\"",
        36,
        None,
    ),
    ("SELECT @@@@ ~", "42601", "syntax error at end of input", 14, None),
    ("SELECT 1 WITH TIES", "42601", "syntax error at or near \"WITH\"", 10, None),
    (
        "SELECT * FROM t FETCH FIRST 1 ROW WITH TIES",
        "42601",
        "WITH TIES cannot be specified without ORDER BY clause",
        0,
        None,
    ),
    ("CREATE TABLE t (a int DEFAULT 1 NOT)", "42601", "syntax error at or near \")\"", 36, None),
];

#[test]
fn syntax_errors_equal_postgresqls() {
    for &(sql, code, message, position, hint) in ERRORS {
        let error = parse(sql).expect_err(sql);
        assert_eq!((error.code().as_str(), error.message()), (code, message), "{sql}");
        if position > 0 {
            assert_eq!(error.fields().position, Some(position), "{sql}");
        }
        assert_eq!(error.fields().hint.as_deref(), hint, "{sql}");
    }
}

fn select(sql: &str) -> SelectStmt {
    match parse(sql).expect(sql).remove(0).stmt {
        Node::SelectStmt(s) => *s,
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn a_point_select_is_translated() {
    let stmt = select("SELECT abalance FROM pgbench_accounts WHERE aid = 42");
    let [target] = &stmt.target_list[..] else { panic!() };
    let Some(Node::ColumnRef(column)) = &target.val else { panic!() };
    assert_eq!(column.fields, [Node::String("abalance".into())]);
    assert_eq!(column.location, 7);
    let [Node::RangeVar(table)] = &stmt.from_clause[..] else { panic!() };
    assert_eq!((&*table.relname, table.inh, table.location), ("pgbench_accounts", true, 21));
    let Some(Node::AExpr(qual)) = &stmt.where_clause else { panic!() };
    assert_eq!((qual.kind, &*qual.name[0], qual.location), (AExprKind::Op, "=", 48));
    let Node::AConst(c) = &qual.rexpr else { panic!() };
    assert_eq!((&c.val, c.location), (&Value::Integer(42), 50));
}

#[test]
fn statements_have_locations() {
    let sql = "SELECT 1; ; UPDATE t SET a = 2 ";
    let all = parse(sql).unwrap();
    let locations: Vec<_> = all.iter().map(|s| (s.location, s.len)).collect();
    assert_eq!(locations, [(0, 8), (12, 0)]);
    assert!(parse("").unwrap().is_empty());
    assert!(parse(" ; -- nothing\n").unwrap().is_empty());
}

#[test]
fn distinct_has_three_forms() {
    assert_eq!(select("SELECT 1").distinct_clause, DistinctClause::None);
    assert_eq!(select("SELECT DISTINCT 1").distinct_clause, DistinctClause::Distinct);
    let DistinctClause::On(list) = select("SELECT DISTINCT ON (a, b) c").distinct_clause else {
        panic!()
    };
    assert_eq!(list.len(), 2);
}

#[test]
fn functions_in_from_have_column_definitions() {
    let stmt = select("SELECT * FROM ROWS FROM (f(1) AS (a int, b text), g()) WITH ORDINALITY x");
    let [Node::RangeFunction(range)] = &stmt.from_clause[..] else { panic!() };
    assert!(range.ordinality && range.is_rowsfrom);
    let counts: Vec<_> = range.functions.iter().map(|f| f.coldeflist.len()).collect();
    assert_eq!(counts, [2, 0]);
}

#[test]
fn type_names_parse_alone() {
    let name = parse_type_name("pg_catalog.numeric(10,2)[]").unwrap();
    assert_eq!(name.names, ["pg_catalog".into(), "numeric".into()] as [Name; 2]);
    assert_eq!((name.typmods.len(), name.array_bounds.as_slice()), (2, &[Node::Integer(-1)][..]));
    assert!(parse_type_name("no type (").is_err());
}

#[test]
fn backslash_escapes_depend_on_settings() {
    let options = Options { standard_conforming_strings: false, ..Options::default() };
    let stmt = parse_with("SELECT 'a\\nb'", options).unwrap().remove(0).stmt;
    let Node::SelectStmt(stmt) = stmt else { panic!() };
    let Some(Node::AConst(c)) = &stmt.target_list[0].val else { panic!() };
    assert_eq!(c.val, Value::String("a\nb".into()));
}

/// With its default stack, PostgreSQL's limit is between 3,000 and 5,000 terms.
#[test]
fn depth_is_bounded() {
    let run = std::thread::Builder::new().stack_size(64 << 20);
    let check = || {
        assert!(parse(&format!("SELECT {}", vec!["1"; 3000].join("+"))).is_ok());
        let deep = parse(&format!("SELECT {}", vec!["1"; 20_000].join("+"))).unwrap_err();
        assert_eq!(deep.code().as_str(), "54001");
        assert_eq!(deep.message(), "stack depth limit exceeded");
        // Conjunctions are flattened.
        assert!(parse(&format!("SELECT {}", vec!["a"; 20_000].join(" AND "))).is_ok());
        let unions = vec!["SELECT 1"; 20_000].join(" UNION ALL ");
        assert_eq!(parse(&unions).unwrap_err().code().as_str(), "54001");
    };
    run.spawn(check).unwrap().join().unwrap();
}

#[test]
fn every_kind_of_statement_is_translated() {
    let all = include_str!("statements.sql");
    for sql in all.split(";\n").map(str::trim).filter(|s| !s.is_empty()) {
        let stmts = parse(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(stmts.len(), 1, "{sql}");
    }
}

/// Statements with bytes removed, doubled and swapped: errors, never a panic.
#[test]
fn mutated_statements_do_not_panic() {
    let all = include_str!("statements.sql");
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below.max(1) as u64) as usize
    };
    let stmts: Vec<&str> = all.split(";\n").collect();
    let mut parsed = 0;
    for _ in 0..20 {
        for sql in &stmts {
            let mut text: Vec<char> = sql.chars().collect();
            for _ in 0..=random(3) {
                let (at, other) = (random(text.len()), random(text.len()));
                match random(5) {
                    0 if !text.is_empty() => drop(text.remove(at)),
                    1 if !text.is_empty() => text.swap(at, other),
                    2 => {
                        text.insert(at, ['\'', '(', ')', '"', 'é', '\\', '$', '1', ' '][random(9)])
                    }
                    3 => text.truncate(at),
                    _ => {
                        let piece: Vec<char> =
                            stmts[random(stmts.len())].chars().take(12).collect();
                        text.splice(at..at, piece);
                    }
                }
            }
            let text: String = text.into_iter().collect();
            parsed += usize::from(parse(&text).is_ok());
        }
    }
    assert!(parsed > 0);
}

#[test]
fn long_identifiers_are_truncated_at_a_character() {
    let stmt = select(&format!("SELECT 1 AS {}", "é".repeat(40)));
    assert_eq!(stmt.target_list[0].name.as_deref(), Some("é".repeat(31).as_str()));
}

#[test]
fn names_are_quoted_as_postgresql_does() {
    for (name, quoted) in [
        ("abc", "abc"),
        ("a1_", "a1_"),
        ("1a", "\"1a\""),
        ("Abc", "\"Abc\""),
        ("select", "\"select\""),
        ("abort", "abort"),
        ("between", "\"between\""),
        ("left", "\"left\""),
        ("a\"b", "\"a\"\"b\""),
        ("", "\"\""),
        ("a$b", "\"a$b\""),
        ("é", "\"é\""),
    ] {
        assert_eq!(quote_identifier(name), quoted);
    }
    assert_eq!(keywords::quote_literal("it's"), "'it''s'");
    assert_eq!(keywords::quote_literal("a\\b"), "E'a\\\\b'");
    assert!(keywords::all().map(|k| k.0).is_sorted());
}

#[test]
fn positions_count_characters() {
    assert_eq!(position("SELECT é, x", 7), 8);
    assert_eq!(position("SELECT é, x", 11), 11);
    assert_eq!(position("x", -1), 0);
}

#[test]
fn threads_parse_concurrently_and_in_sequence() {
    for _ in 0..40 {
        let all: Vec<_> = (0..4)
            .map(|_| {
                std::thread::spawn(|| {
                    for _ in 0..10 {
                        assert!(parse("SELECT a FROM b WHERE c = 'd'").is_ok());
                        assert!(parse("SELECT FROM FROM").is_err());
                    }
                })
            })
            .collect();
        for thread in all {
            thread.join().unwrap();
        }
    }
}

/// The parts of a string that is continued on the next line have the escapes of the first part.
#[test]
fn continued_strings_have_no_trailing_junk() {
    for sql in ["SELECT E'a' \n  'it\\'s 1_0'", "SELECT 'a'\n'1_0'", "SELECT 'a' AS b, '1_0'"] {
        assert_eq!(parse(sql).err().map(|e| e.message().to_owned()), None, "{sql}");
    }
    assert!(parse("SELECT E'a'\n'it\\'s', 1_0").is_err());
}
