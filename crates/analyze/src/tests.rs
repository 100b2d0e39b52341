//! Analysis over the facts of a fresh cluster, with tables of our own in it. Expected types, messages,
//! codes and positions come from PostgreSQL 15.

use crate::session::{Host, SessionLookup};
use catalog::{CatCx, CatSession, Catalog, FactStore};
use ids::Oid;
use pgerror::Result;
use plan::query::Query;
use types::fncx::{BasicContext, FnContext};

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
fn shape(host: &mut TestHost, sql: &str) -> Result<String> {
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
fn result_columns_are_postgresqls() {
    let mut host = host();
    let mut wrong = Vec::new();
    for case in include_str!("tests/shapes.tsv").lines() {
        let Some((sql, expected)) = case.split_once('\t') else { continue };
        let got = shape(&mut host, sql).unwrap_or_else(|e| format!("{e:?}"));
        // Literals of types whose input functions do not exist yet cannot be compared.
        if got != expected && !got.contains("in is not supported") {
            wrong.push(format!("{sql}\n  expected {expected}\n  got      {got}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn errors_are_postgresqls() {
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
        // Literals of types whose input functions do not exist yet cannot be compared.
        if got != expected && !got.contains("in is not supported") {
            wrong.push(format!("{sql}\n  expected {expected}\n  got      {got}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
