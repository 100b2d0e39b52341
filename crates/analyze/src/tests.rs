//! Analysis over the bootstrap catalog data of a new cluster. The expected types, messages, codes
//! and positions come from PostgreSQL 15.

use crate::session::{Host, SessionLookup};
use catalog::{CatCx, CatSession, Catalog, FactStore};
use ids::Oid;
use pgerror::Result;
use plan::query::Query;
use types::{BasicContext, FnContext};

mod scope;

struct TestHost {
    store: FactStore,
    session: CatSession,
    functions: BasicContext,
}

impl Host for TestHost {
    fn catalog(&mut self) -> CatCx<'_> {
        CatCx::over_facts(&self.store, &mut self.session)
    }

    fn functions(&mut self) -> &mut dyn FnContext {
        &mut self.functions
    }

    fn lock_relation(&mut self, _: Oid, _: i32) -> Result<()> {
        Ok(())
    }

    fn database_name(&mut self) -> Result<String> {
        Ok("postgres".into())
    }
}

fn host() -> TestHost {
    TestHost {
        store: FactStore::new(),
        session: CatSession::new(Catalog::new(Oid(1)), Oid(10)),
        functions: BasicContext::default(),
    }
}

fn analyze(host: &mut TestHost, sql: &str) -> Result<Query> {
    let stmts = parse::parse(sql)?;
    let mut types = Vec::new();
    crate::analyze_variable(&mut SessionLookup::new(host), &stmts[0], sql, &mut types)
}

/// Result columns as `name:type`.
fn result_columns(host: &mut TestHost, sql: &str) -> Result<String> {
    let query = analyze(host, sql)?;
    let columns: Vec<String> = query
        .result_columns()
        .map(|t| {
            let ty = host
                .catalog()
                .format_type_mod(t.expr.type_oid(), t.expr.typmod())
                .unwrap_or_else(|e| e.to_string());
            format!("{}:{ty}", t.resname.as_deref().unwrap_or(""))
        })
        .collect();
    Ok(columns.join(" "))
}

#[test]
fn result_columns_match_postgresql() {
    let mut host = host();
    let mut wrong = Vec::new();
    for case in include_str!("tests/shapes.tsv").lines() {
        let Some((sql, expected)) = case.split_once('\t') else { continue };
        let got = result_columns(&mut host, sql).unwrap_or_else(|e| format!("{e:?}"));
        // Some input functions of literals need a session, which this test does not have.
        if got != expected && !got.contains("is not supported [0A000]") {
            wrong.push(format!("{sql}\n  expected {expected}\n  got      {got}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn errors_match_postgresql() {
    let mut host = host();
    let mut wrong = Vec::new();
    for case in include_str!("tests/errors.tsv").lines() {
        let mut fields = case.split('\t');
        let (Some(sql), Some(expected)) = (fields.next(), fields.next()) else { continue };
        let got = match analyze(&mut host, sql) {
            Ok(_) => "no error".to_string(),
            Err(e) => format!(
                "{} {} @{}{}",
                e.code(),
                e.message(),
                e.fields().position.unwrap_or(0),
                e.fields().hint.as_ref().map_or(String::new(), |h| format!(" HINT {h}"))
            ),
        };
        // Positions in long lines were not recorded.
        let got = if expected.contains("@?") {
            let (start, rest) = got.split_once('@').unwrap_or((&got, ""));
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{start}@?{rest}")
        } else {
            got
        };
        // Some input functions of literals need a session, which this test does not have.
        if got != expected && !got.contains("_in is not supported") {
            wrong.push(format!("{sql}\n  expected {expected}\n  got      {got}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// All views of a new cluster are replaced by their queries.
#[test]
fn views_are_replaced_by_their_queries() {
    use plan::query::RteKind;
    let mut host = host();
    let rules = catalog::facts::rows::<catalog::rows::PgRewrite>();
    assert!(!rules.is_empty());
    for rule in rules {
        let name = host.catalog().find_class(rule.ev_class).unwrap().unwrap().relname;
        let schema = host.catalog().find_class(rule.ev_class).unwrap().unwrap().relnamespace;
        let schema = host.catalog().namespace_name(schema).unwrap().unwrap();
        let sql = format!("SELECT * FROM {schema}.{name}");
        let query = analyze(&mut host, &sql).unwrap();
        let columns = query.target_list.len();
        let query = crate::rewrite(&mut SessionLookup::new(&mut host), query).expect(&sql);
        let RteKind::Subquery { subquery, relid, .. } = &query.rtable[0].kind else {
            panic!("{sql}: not expanded")
        };
        assert_eq!(*relid, rule.ev_class);
        assert_eq!(subquery.result_columns().count(), columns, "{sql}");
        // The privilege to read the view is checked for the current user, on the rule's entry for
        // OLD.
        assert_eq!(subquery.rtable[0].required_perms & 2, 2, "{sql}");
        assert_eq!(subquery.rtable[0].check_as_user, Oid::INVALID, "{sql}");
        assert_eq!(query.rtable[0].required_perms, 0);
    }
}

#[test]
fn assignments_to_elements_of_one_column_are_merged() {
    let mut host = host();
    let sql = "UPDATE pg_proc SET proconfig[1] = 'a', proconfig[2] = 'b'";
    let query = analyze(&mut host, sql).unwrap();
    assert_eq!(query.target_list.len(), 2);
    let query = crate::rewrite(&mut SessionLookup::new(&mut host), query).unwrap();
    assert_eq!(query.target_list.len(), 1);
    let twice = analyze(&mut host, "UPDATE pg_am SET oid = 1, oid = 2").unwrap();
    let error = crate::rewrite(&mut SessionLookup::new(&mut host), twice).unwrap_err();
    assert_eq!(error.message(), "multiple assignments to same column \"oid\"");
    assert_eq!(error.code().as_str(), "42601");
}

#[test]
fn parameter_types_are_inferred_from_their_use() {
    let mut host = host();
    for (sql, expected) in [
        ("SELECT $1 + 1", &[23][..]),
        ("SELECT relname FROM pg_class WHERE oid = $1 AND relname = $2", &[26, 19]),
        ("INSERT INTO pg_am (oid, amname) VALUES ($1, $2)", &[26, 19]),
        ("SELECT $1::text, $2", &[25, 25]),
        ("SELECT 1 LIMIT $1", &[20]),
        ("UPDATE pg_am SET amname = $1 WHERE oid = $2", &[19, 26]),
    ] {
        let stmts = parse::parse(sql).unwrap();
        let mut types = Vec::new();
        crate::analyze_variable(&mut SessionLookup::new(&mut host), &stmts[0], sql, &mut types)
            .expect(sql);
        let expected: Vec<Oid> = expected.iter().map(|&t| Oid(t)).collect();
        assert_eq!(types, expected, "{sql}");
    }
}
