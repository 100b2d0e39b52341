//! Calls of built-in functions (`testdata/calls.sql`). The expected results are those of PostgreSQL
//! 15.

use crate::basic_context::BasicContext;
use crate::builtin;
use ids::Oid;
use std::collections::BTreeMap;
use values::datum::{Datum, DatumRef};
use values::fn_context::TypeFunctions;
use values::oids;
use values::settings::Settings;
use values::zone::Zone;

/// The settings under which the expected results were recorded.
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
            let text = values::compare::bpchar_trimmed(d.as_ref().as_bytes());
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
        // Only the sign of a comparison function's result is specified.
        let sign = |s: &str| s.parse::<i32>().map_or(s.to_string(), |v| v.signum().to_string());
        let compares = src.ends_with("cmp") || src == "gin_compare_jsonb";
        let same = if compares { sign(&got) == sign(&expected) } else { got == expected };
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

/// Runs an aggregate over values and returns the text of its result.
fn aggregate(trans: &str, fin: &str, ty: Oid, values: &[&str], ret: Oid) -> String {
    let mut cx = context();
    let mut state = builtin::AggState::default();
    let function = |name: &str| builtin::lookup(name).expect("a built-in function").f;
    for v in values {
        let v = cx.type_input(ty, v.as_bytes(), -1).expect("a value");
        cx.reset_call(&[ty], ret);
        let builtin::BuiltinFn::Trans(f) = function(trans) else { panic!("{trans}") };
        f(&mut cx, &mut state, &[v.as_ref()]).expect("a transition");
    }
    let builtin::BuiltinFn::Final(f) = function(fin) else { panic!("{fin}") };
    let out = f(&mut cx, &mut state, &[]).expect("a result");
    String::from_utf8(cx.type_output(ret, out.as_ref()).expect("its text")).expect("UTF-8")
}

/// Runs an aggregate whose state is an ordinary value.
fn plain_aggregate(
    trans: &str,
    fin: &str,
    start: (Oid, &str),
    ty: Oid,
    values: &[&str],
    ret: Oid,
) -> String {
    let mut cx = context();
    let mut state = cx.type_input(start.0, start.1.as_bytes(), -1).expect("a state");
    for v in values {
        let v = cx.type_input(ty, v.as_bytes(), -1).expect("a value");
        let f = builtin::scalar(trans).expect("a function");
        state = f(&mut cx, &[state.as_ref(), v.as_ref()]).expect("a transition");
    }
    let f = builtin::scalar(fin).expect("a function");
    let out = f(&mut cx, &[state.as_ref()]).expect("a result");
    String::from_utf8(cx.type_output(ret, out.as_ref()).expect("its text")).expect("UTF-8")
}

/// The expected values are results of the same aggregates in PostgreSQL 15.
#[test]
fn aggregates_answer_as_postgresql_does() {
    let numerics = ["1.5", "2.25", "-3.125", "10"];
    let num = |t: &str, f: &str| aggregate(t, f, oids::NUMERIC, &numerics, oids::NUMERIC);
    assert_eq!(num("numeric_avg_accum", "numeric_sum"), "10.625");
    assert_eq!(num("numeric_avg_accum", "numeric_avg"), "2.6562500000000000");
    assert_eq!(num("numeric_accum", "numeric_var_samp"), "29.6184895833333333");
    assert_eq!(num("numeric_accum", "numeric_stddev_pop"), "4.7131589393420630");
    assert_eq!(num("numeric_accum", "numeric_stddev_samp"), "5.4422871647252622");
    let ints = ["1", "2", "4", "9"];
    let int = |t: &str, f: &str| aggregate(t, f, oids::INT4, &ints, oids::NUMERIC);
    assert_eq!(int("int4_accum", "numeric_poly_var_pop"), "9.5000000000000000");
    assert_eq!(int("int4_accum", "numeric_poly_stddev_samp"), "3.5590260840104371");
    let big = ["9223372036854775807", "1", "-5"];
    let int8 = |t: &str, f: &str| aggregate(t, f, oids::INT8, &big, oids::NUMERIC);
    assert_eq!(int8("int8_avg_accum", "numeric_poly_sum"), "9223372036854775803");
    assert_eq!(int8("int8_avg_accum", "numeric_poly_avg"), "3074457345618258601");
    assert_eq!(int8("int8_accum", "numeric_var_samp"), "28356863910078205294763465310550534836");
    let floats = ["1.5", "2.5", "10"];
    let float = |f: &str| {
        let start = (Oid(1022), "{0,0,0}");
        plain_aggregate("float8_accum", f, start, oids::FLOAT8, &floats, oids::FLOAT8)
    };
    assert_eq!(float("float8_avg"), "4.666666666666667");
    assert_eq!(float("float8_stddev_samp"), "4.645786621588784");
    assert_eq!(float("float8_var_pop"), "14.388888888888888");
    let spans = ["1 day", "2 hours", "1 mon"];
    let start = (Oid(1187), "{0 second,0 second}");
    let avg = plain_aggregate(
        "interval_accum",
        "interval_avg",
        start,
        oids::INTERVAL,
        &spans,
        oids::INTERVAL,
    );
    assert_eq!(avg, "10 days 08:40:00");
    let joined =
        aggregate("array_agg_transfn", "array_agg_finalfn", oids::TEXT, &["a", "b c"], Oid(1009));
    assert_eq!(joined, "{a,\"b c\"}");
}

/// The rows of a set-returning function as text.
fn rows(name: &str, args: &[(Oid, &str)], ret: Oid) -> Vec<String> {
    let mut cx = context();
    let types: Vec<Oid> = args.iter().map(|a| a.0).collect();
    let values: Vec<Datum> = args
        .iter()
        .map(|(ty, text)| cx.type_input(*ty, text.as_bytes(), -1).expect("a value"))
        .collect();
    cx.reset_call(&types, ret);
    let refs: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
    let Some(builtin::BuiltinFn::Srf(f)) = builtin::lookup(name).map(|b| b.f) else {
        panic!("{name}")
    };
    let mut source = f(&mut cx, &refs).expect("a set");
    let mut out = Vec::new();
    let mut row = Vec::new();
    while source.next(&mut cx, &mut row).expect("a row") {
        let text = cx.type_output(ret, row[0].as_ref()).expect("its text");
        out.push(String::from_utf8(text).expect("UTF-8"));
        row.clear();
    }
    out
}

#[test]
fn sets_equal_those_of_postgresql() {
    let int = |s| (oids::INT4, s);
    let text = |s| (oids::TEXT, s);
    assert_eq!(
        rows("generate_series_step_int4", &[int("1"), int("10"), int("4")], oids::INT4),
        ["1", "5", "9"]
    );
    assert_eq!(
        rows("generate_series_step_int4", &[int("3"), int("1"), int("-1")], oids::INT4),
        ["3", "2", "1"]
    );
    let num = |s| (oids::NUMERIC, s);
    assert_eq!(
        rows("generate_series_step_numeric", &[num("1.5"), num("3"), num("0.5")], oids::NUMERIC),
        ["1.5", "2.0", "2.5", "3.0"]
    );
    assert_eq!(
        rows("regexp_matches", &[text("foobarbequebaz"), text("ba."), text("g")], Oid(1009)),
        ["{bar}", "{baz}"]
    );
    assert_eq!(
        rows("regexp_split_to_table_no_flags", &[text("a1b22c"), text(r"\d+")], oids::TEXT),
        ["a", "b", "c"]
    );

    let tz = |s| (oids::TIMESTAMPTZ, s);
    assert_eq!(
        rows(
            "generate_series_timestamptz",
            &[tz("2021-03-13 12:00"), tz("2021-03-15 12:00"), (oids::INTERVAL, "1 day")],
            oids::TIMESTAMPTZ
        ),
        ["2021-03-13 12:00:00-05", "2021-03-14 12:00:00-04", "2021-03-15 12:00:00-04"]
    );
}
