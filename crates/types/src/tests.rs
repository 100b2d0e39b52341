//! Calls of built-in functions with the results of a real PostgreSQL 15 (`testdata/calls.sql`).

use crate::{
    BasicContext, Datum, DatumRef, FnContext, builtin, oids, settings::Settings, zone::Zone,
};
use ids::Oid;
use std::collections::BTreeMap;

/// The settings under which the table was made.
pub(crate) fn context() -> BasicContext {
    let time_zone = Zone::named("America/New_York").expect("a zone of the tz database");
    BasicContext::new(Settings { time_zone, ..Settings::default() })
}

/// Undoes COPY's escapes.
fn unescape(field: &str) -> String {
    let mut out = String::new();
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('v') => out.push('\u{b}'),
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

fn split_args(field: &str) -> Vec<String> {
    let unpipe = |s: &str| s.replace("\\\\", "\u{1}").replace("\\p", "|").replace('\u{1}', "\\");
    field.split('|').map(unpipe).collect()
}

fn run(src: &str, types: &[Oid], args: &[String], ret: Oid) -> Option<String> {
    let f = builtin::scalar(src)?;
    let mut cx = context();
    let mut values: Vec<Datum> = Vec::new();
    for (ty, arg) in types.iter().zip(args) {
        let value = if *ty == oids::CSTRING {
            Ok(Datum::text(arg))
        } else {
            cx.type_input(*ty, arg.as_bytes(), -1)
        };
        match value {
            Ok(v) => values.push(v),
            Err(e) => return Some(format!("ERROR in argument {arg}: {e:?}")),
        }
    }
    cx.reset_call(types, ret);
    let refs: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
    let out = f(&mut cx, &refs).and_then(|d| match d {
        Datum::Null => Ok("\\N".to_string()),
        d if ret == oids::CSTRING => {
            Ok(String::from_utf8_lossy(d.as_ref().as_bytes()).into_owned())
        }
        _ if ret == oids::VOID => Ok(String::new()),
        d if ret == oids::BOOL => Ok(if d.as_ref().as_bool() { "true" } else { "false" }.into()),
        d if ret == oids::BPCHAR => {
            let text = crate::compare::bpchar_trimmed(d.as_ref().as_bytes());
            Ok(String::from_utf8_lossy(text).into_owned())
        }
        d => cx.type_output(ret, d.as_ref()).map(|b| String::from_utf8_lossy(&b).into_owned()),
    });
    Some(match out {
        Ok(text) => text,
        Err(e) => format!("ERROR {} {}", e.code(), e.message()),
    })
}

#[test]
fn calls_answer_as_postgresql_does() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/calls.tsv");
    let table = std::fs::read(path).expect("the table is part of the repository");
    let table = String::from_utf8_lossy(&table);
    let only = std::env::var("TYPES_ONLY").unwrap_or_default();
    let mut checked = 0;
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut missing: BTreeMap<String, usize> = BTreeMap::new();
    for line in table.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [src, types, args, ret, expected] = fields[..] else { panic!("bad line {line}") };
        if !only.is_empty() && !src.contains(&only) {
            continue;
        }
        let types: Vec<Oid> = types.split(' ').map(|t| Oid(t.parse().expect("an OID"))).collect();
        let ret = Oid(ret.parse().expect("an OID"));
        let args = split_args(&unescape(args));
        let expected = if expected == "\\N" { "\\N".to_string() } else { unescape(expected) };
        let got = std::panic::catch_unwind(|| run(src, &types, &args, ret))
            .unwrap_or_else(|_| Some("PANIC".into()));
        let Some(got) = got else {
            *missing.entry(src.to_string()).or_default() += 1;
            continue;
        };
        checked += 1;
        // Support functions promise only a sign.
        let sign = |s: &str| s.parse::<i32>().map_or(s.to_string(), |v| v.signum().to_string());
        let same =
            if src.ends_with("cmp") { sign(&got) == sign(&expected) } else { got == expected };
        if !same {
            wrong
                .entry(src.to_string())
                .or_default()
                .push(format!("{src}({}) = {expected}, not {got}", args.join(" | ")));
        }
    }
    if std::env::var("TYPES_MISSING").is_ok() {
        println!("missing {}: {:?}", missing.len(), missing.keys().collect::<Vec<_>>());
    }
    println!("{checked} calls checked");
    let count: usize = wrong.values().map(Vec::len).sum();
    for lines in wrong.values() {
        lines.iter().take(4).for_each(|l| println!("{l}"));
    }
    assert_eq!(count, 0, "wrong results in {} functions", wrong.len());
}
