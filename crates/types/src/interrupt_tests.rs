//! Tests that functions over long values end soon after their statement is cancelled: each checks
//! for interrupts within a few megabytes of work.

use crate::builtin;
use crate::tests::context;
use ids::Oid;
use pgerror::SqlState;
use values::datum::{Datum, DatumRef};
use values::fn_context::TypeFunctions;
use values::oids;
use values::pieces::{PIECE_BYTES, append, append_repeated, copied, each, each_str};

const LONG: usize = 8 << 20;

fn text(s: &str) -> (Oid, Datum) {
    (oids::TEXT, Datum::text(s))
}

fn bytea(s: &str) -> (Oid, Datum) {
    (oids::BYTEA, Datum::text(s))
}

fn int(n: i32) -> (Oid, Datum) {
    (oids::INT4, Datum::int4(n))
}

/// The first check reports a cancelled statement, so the function must return that error.
fn assert_cancelled(name: &str, args: &[(Oid, Datum)]) {
    let f = builtin::scalar(name).unwrap_or_else(|| panic!("{name} is a function"));
    let mut cx = context();
    let types: Vec<Oid> = args.iter().map(|(ty, _)| *ty).collect();
    cx.reset_call(&types, oids::TEXT);
    cx.checks_left.set(Some(0));
    let refs: Vec<DatumRef<'_>> = args.iter().map(|(_, v)| v.as_ref()).collect();
    match f(&mut cx, &refs) {
        Err(e) => assert_eq!(e.fields().code, SqlState::QUERY_CANCELED, "{name}: {e:?}"),
        Ok(_) => panic!("{name} asks for no interrupts"),
    }
}

#[test]
fn long_texts_are_made_with_checks_for_interrupts() {
    let long = "xä".repeat(LONG / 3);
    let n = LONG as i32;
    assert_cancelled("repeat", &[text("ab"), int(n)]);
    assert_cancelled("lpad", &[text("a"), int(n), text("xy")]);
    assert_cancelled("rpad", &[text("a"), int(n), text("x")]);
    assert_cancelled("textcat", &[text(&long), text(&long)]);
    assert_cancelled("textoverlay", &[text(&long), text(&long), int(2), int(1)]);
    assert_cancelled("text_substr_no_len", &[text(&long), int(2)]);
    assert_cancelled("text_left", &[text(&long), int(-2)]);
    assert_cancelled("btrim", &[text(&long), text("x")]);
    assert_cancelled("replace_text", &[text(&long), text("y"), text("z")]);
    assert_cancelled("text_reverse", &[text(&long)]);
    assert_cancelled("lower", &[text(&long)]);
    assert_cancelled("upper", &[text(&long)]);
    assert_cancelled("initcap", &[text(&long)]);
    assert_cancelled("unistr", &[text(&"\\0041".repeat(LONG / 5))]);
    assert_cancelled("md5_text", &[text(&long)]);
    let array =
        (oids::TEXT_ARRAY, values::array::payload::of_builtin(oids::TEXT, &texts(1000)).unwrap());
    assert_cancelled("array_to_json", std::slice::from_ref(&array));
    assert_cancelled("to_jsonb", &[array]);
}

fn texts(n: usize) -> Vec<Datum> {
    (0..n).map(|_| Datum::text("\"long\"")).collect()
}

#[test]
fn long_byte_strings_are_made_with_checks_for_interrupts() {
    let long = "x".repeat(LONG);
    for format in ["hex", "base64", "escape"] {
        assert_cancelled("binary_encode", &[bytea(&long), text(format)]);
    }
    assert_cancelled("binary_decode", &[text(&"ab".repeat(LONG / 2)), text("hex")]);
    assert_cancelled("binary_decode", &[text(&"abcd".repeat(LONG / 4)), text("base64")]);
    assert_cancelled("binary_decode", &[text(&"\\000".repeat(LONG / 4)), text("escape")]);
    assert_cancelled("byteain", &[(oids::CSTRING, Datum::text(&long))]);
    assert_cancelled("byteaout", &[bytea(&long)]);
    assert_cancelled("byteacat", &[bytea(&long), bytea(&long)]);
    assert_cancelled("sha512_bytea", &[bytea(&long)]);
}

#[test]
fn long_arrays_are_filled_with_checks_for_interrupts() {
    let dims = values::array::payload::of_builtin(oids::INT4, &[Datum::int4(LONG as i32)]).unwrap();
    assert_cancelled("array_fill", &[int(1), (oids::INT4_ARRAY, dims)]);
}

#[test]
fn texts_are_split_with_checks_for_interrupts() {
    let list = "a.".repeat(10_000) + "a";
    assert_cancelled("parse_ident", &[text(&list), (oids::BOOL, Datum::bool(true))]);
    assert_cancelled("text_to_array", &[text(&list), text(".")]);
    assert_cancelled("regexp_split_to_array_no_flags", &[text(&list), text("[.]")]);
}

/// An array of texts that is built from parts equals one built from values.
#[test]
fn split_texts_equal_built_arrays() {
    let cx = context();
    for n in [0, 1, 7, 8, 9, 40, 100] {
        for null_every in [1, 3, 8, 50, 1000] {
            let texts: Vec<Option<String>> =
                (1..=n).map(|i| (i % null_every != 0).then(|| "x".repeat(i % 9))).collect();
            let mut have = values::array::TextArray::default();
            texts.iter().for_each(|t| {
                have.push(t.as_deref().map(str::as_bytes), &cx).unwrap();
            });
            let values: Vec<Datum> =
                texts.iter().map(|t| t.as_ref().map_or(Datum::Null, |t| Datum::text(t))).collect();
            let want = values::array::payload::of_builtin(oids::TEXT, &values).unwrap();
            assert!(have.finish().unwrap() == want, "{n} {null_every}");
        }
    }
}

#[test]
fn many_matches_are_counted_with_checks_for_interrupts() {
    let text_of_many = "ab".repeat(4096);
    assert_cancelled("regexp_count_no_start", &[text(&text_of_many), text("ab")]);
    assert_cancelled("regexp_split_to_array_no_flags", &[text(&text_of_many), text("b")]);
}

fn jsonb(text: &str) -> (Oid, Datum) {
    let f = builtin::scalar("jsonb_in").expect("a function");
    let text = Datum::text(text);
    (oids::JSONB, f(&mut context(), &[text.as_ref()]).expect("valid JSON"))
}

/// Each element is compared with every other one.
#[test]
fn elements_are_searched_with_checks_for_interrupts() {
    let many: Vec<String> = (0..2000).map(|n| format!("\"{n}\"")).collect();
    let many = jsonb(&format!("[{}]", many.join(",")));
    assert_cancelled("jsonb_contains", &[many.clone(), many.clone()]);
    assert_cancelled("jsonb_contained", &[many.clone(), many.clone()]);
    assert_cancelled("jsonb_exists", &[many.clone(), text("x")]);
    let names =
        (oids::TEXT_ARRAY, values::array::payload::of_builtin(oids::TEXT, &texts(10)).unwrap());
    assert_cancelled("jsonb_exists_any", &[many, names]);
}

#[test]
fn long_formats_are_processed_with_checks_for_interrupts() {
    let long = "x".repeat(LONG / 4);
    assert_cancelled("text_format", &[text("%1$s%1$L%1$I"), text(&long)]);
    assert_cancelled("text_format", &[text(&"%1$s".repeat(2000)), text("x")]);
    assert_cancelled("text_concat", &[text(&long), text(&long), text(&long)]);
}

/// An array that is filled by doubling equals one to which single elements are appended.
#[test]
fn filled_arrays_equal_appended_ones() {
    for (ty, value) in [text("abc"), int(7), (oids::BOOL, Datum::bool(true))] {
        let mut cx = context();
        let elem = cx.type_info(ty).unwrap();
        for dims in [&[1][..], &[5], &[2, 3], &[3, 1, 70_000]] {
            let lower = vec![1; dims.len()];
            let count = dims.iter().product::<i32>() as usize;
            let single = std::iter::repeat_n(value.as_ref(), count);
            let want = values::array::payload::build(&elem, dims, &lower, single).unwrap();
            let have =
                values::array::payload::build_filled(&cx, &elem, dims, &lower, value.as_ref())
                    .unwrap();
            assert!(want == have, "{ty} {dims:?}");
        }
    }
}

#[test]
fn pieces_cover_the_value() {
    let cx = context();
    let text = "xä".repeat(PIECE_BYTES);
    let (mut bytes, mut chars) = (Vec::new(), String::new());
    append(&cx, &mut bytes, text.as_bytes()).unwrap();
    each_str(&cx, &text, |piece| {
        chars.push_str(piece);
        Ok(())
    })
    .unwrap();
    assert!(bytes == text.as_bytes() && chars == text);
    assert!(copied(&cx, text.as_bytes()).unwrap() == Datum::text(&text));
    let mut calls = 0;
    each(&cx, b"", |_| {
        calls += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(calls, 1);
}

#[test]
fn repetitions_keep_their_period() {
    let cx = context();
    for (period, total) in
        [(1, 5), (3, 3 * PIECE_BYTES), (7, 7 * 300_000), (PIECE_BYTES + 5, 3 * PIECE_BYTES + 15)]
    {
        let one: Vec<u8> = (0..period).map(|i| (i % 251) as u8).collect();
        let mut out = vec![255];
        append_repeated(&cx, &mut out, &one, total).unwrap();
        let out = &out[1..];
        assert!(out.len() == total && out.iter().enumerate().all(|(i, b)| *b == one[i % period]));
    }
}
