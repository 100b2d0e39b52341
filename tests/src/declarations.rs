//! Functions of the languages c and internal with random declarations. PostgreSQL passes the
//! arguments of such functions on unchecked, and may crash; here a call returns some value or an
//! error, and the session goes on.
//!
//! `NORSU_DECLARED=symbol` tests one function and prints its calls, `NORSU_DECLARED_SEED=n` sets
//! the seed, `NORSU_TEST_LONG=1` tries more declarations.

use crate::damaged_values::{Random, arguments};
use crate::functions::is_skipped;
use std::time::Duration;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::chown_to_server_user;

const EXTENSIONS: [&str; 16] = [
    "btree_gin",
    "citext",
    "cube",
    "earthdistance",
    "fuzzystrmatch",
    "hstore",
    "intarray",
    "lo",
    "ltree",
    "pg_prewarm",
    "pg_trgm",
    "pgcrypto",
    "seg",
    "tablefunc",
    "unaccent",
    "\"uuid-ossp\"",
];

/// Types of random parameters and results.
const TYPES: [&str; 30] = [
    "bool",
    "int2",
    "int4",
    "int8",
    "float4",
    "float8",
    "numeric",
    "text",
    "name",
    "\"char\"",
    "bytea",
    "uuid",
    "point",
    "timetz",
    "interval",
    "int4[]",
    "text[]",
    "text[]",
    "hstore",
    "ltree",
    "lquery",
    "seg",
    "cube",
    "tsvector",
    "tsquery",
    "jsonb",
    "int4range",
    "oid",
    "regclass",
    "pair",
];

/// Pseudo-types of random parameters and results.
const PSEUDO_TYPES: [&str; 5] = ["anyelement", "anyarray", "anyrange", "record", "\"any\""];

/// A function, as it is declared.
struct Function {
    language: String,
    library: String,
    symbol: String,
    args: Vec<String>,
    result: String,
}

fn functions(client: &mut Client) -> Vec<Function> {
    let reply = client.must(
        "SELECT lanname, coalesce(probin, ''), prosrc, \
         coalesce((SELECT string_agg(format_type(t, NULL), '|' ORDER BY n) \
         FROM unnest(proargtypes) WITH ORDINALITY a(t, n)), ''), format_type(prorettype, NULL) \
         FROM pg_proc p, pg_language l WHERE l.oid = prolang AND lanname IN ('c', 'internal') \
         AND prokind = 'f' ORDER BY p.oid",
    );
    let rows = reply.answers.into_iter().next().expect("an answer").rows;
    let function = |row: Vec<Option<String>>| {
        let mut cells = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || cells.next().unwrap_or_default();
        let (language, library, symbol, args) = (next(), next(), next(), next());
        let args = args.split('|').filter(|a| !a.is_empty()).map(str::to_owned).collect();
        Function { language, library, symbol, args, result: next() }
    };
    rows.into_iter().map(function).collect()
}

fn random_type(random: &mut Random) -> String {
    match random.below(12) {
        0 => PSEUDO_TYPES[random.below(PSEUDO_TYPES.len())].to_owned(),
        _ => TYPES[random.below(TYPES.len())].to_owned(),
    }
}

/// The statements that declare the function otherwise and call it.
fn statements(f: &Function, random: &mut Random) -> Vec<String> {
    let mut args = f.args.clone();
    match random.below(4) {
        0 => drop(args.pop()),
        1 => args.push(random_type(random)),
        _ => {}
    }
    for arg in &mut args {
        if random.below(3) == 0 {
            *arg = random_type(random);
        }
    }
    let result = if random.below(3) == 0 { random_type(random) } else { f.result.clone() };
    let set = if random.below(4) == 0 { "SETOF " } else { "" };
    let strict = if random.below(2) == 0 { " STRICT" } else { "" };
    let source = match f.language.as_str() {
        "c" => format!("'{}', '{}'", f.library, f.symbol),
        _ => format!("'{}'", f.symbol),
    };
    let mut out = vec![
        "DROP FUNCTION IF EXISTS declared".to_owned(),
        format!(
            "CREATE FUNCTION declared({}) RETURNS {set}{result} LANGUAGE {}{strict} AS {source}",
            args.join(", "),
            f.language
        ),
    ];
    for from in ["SELECT declared", "SELECT * FROM declared", "SELECT DISTINCT declared"] {
        let values = args.iter().map(|ty| {
            let pool = arguments(ty).unwrap_or_else(|| vec!["NULL".to_owned()]);
            pool[random.below(pool.len())].clone()
        });
        out.push(format!("{from}({})", values.collect::<Vec<_>>().join(", ")));
    }
    out
}

#[test]
fn functions_with_other_declarations_do_not_end_sessions() {
    let long = std::env::var_os("NORSU_TEST_LONG").is_some();
    let only = std::env::var("NORSU_DECLARED").ok();
    let seed = std::env::var("NORSU_DECLARED_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let dir = TempDir::new("declared");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "--encoding=UTF8"]);
    let server = Norsu::start(&data, &[]);
    let connect = || {
        let mut client = server.connect("postgres");
        client.must("SET statement_timeout = '20s'; SET client_min_messages = error");
        client
    };
    let mut client = connect();
    for extension in EXTENSIONS {
        client.must(&format!("CREATE EXTENSION {extension}"));
    }
    client.must("CREATE TYPE pair AS (a int, b text, c numeric[], d uuid)");
    let mut random = Random::new(seed);
    let (mut count, mut failures) = (0, Vec::new());
    for f in functions(&mut client) {
        let is_linked = f.language == "c";
        let skipped = !is_linked && (is_skipped(&f.symbol) || f.symbol.starts_with("pg_"));
        if skipped || only.as_ref().is_some_and(|only| *only != f.symbol) {
            continue;
        }
        let tries = if is_linked { 6 } else { 1 } * if long { 20 } else { 1 };
        for _ in 0..tries {
            let mut declared = String::new();
            for sql in statements(&f, &mut random) {
                if sql.starts_with("CREATE") {
                    declared.clone_from(&sql);
                }
                count += 1;
                let sent = client.send(&sql);
                let reply = sent.and_then(|()| client.receive_within(Duration::from_secs(60)));
                if only.is_some() {
                    println!(
                        "{sql}\n    {:?}",
                        reply.as_ref().map(|r| r.as_ref().map(|r| &r.error))
                    );
                }
                if matches!(&reply, Ok(Some(_))) {
                    continue;
                }
                failures.push(format!("{declared}\n{sql}\n    {:?}", reply.err()));
                client = connect();
            }
        }
    }
    drop(client);
    let log = server.stop(&data);
    println!("{count} statements");
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
    assert!(!log.contains("panicked"), "{log}");
    assert!(only.is_some() || count > 10_000, "{count} statements");
}
