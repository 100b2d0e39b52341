//! Paths: their stored forms, texts that are not valid, and corrupt stored forms. What they select
//! is compared with PostgreSQL in the integration tests.

use super::{input, output};
use crate::BasicContext;
use values::datum::DatumRef;

fn cx() -> BasicContext {
    BasicContext::default()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The stored forms are those of PostgreSQL 15.
#[test]
fn stored_forms_are_those_of_postgresql() {
    let cases = [
        ("true", "true", "01000080030000000000000001"),
        (
            "strict $.a[1 to last]",
            "strict $.\"a\"[1 to last]",
            "010000001b00000008000000190000000e0000000100000061001700000000000100000012000000220000\
             00020000000000000020000000008001002800000000000000",
        ),
        (
            "$ ? (@.b == -1.5 && !(@ like_regex \"x\" flag \"i\")).**{2}.datetime(\"y\")",
            "$?(@.\"b\" == -1.5 && !(@ like_regex \"x\" flag \"i\")).**{2}.datetime(\"y\")",
            "010000801b000000080000001d000000780000000c00000004000000000000001000000046000000080000\
             000000000010000000260000001a0000000800000019000000000000000100000062000200000000002800\
             000080a0010088130600000000000a0000002a0000000000000001000000160000000100000078001a0000\
             0000001800000010000000020000000200000025000000000000000c000000010000000000000001000000\
             7900",
        ),
    ];
    for (text, shown, stored) in cases {
        let path = input(&cx(), text.as_bytes()).unwrap();
        assert_eq!(hex(path.as_ref().as_bytes()), stored, "{text}");
        assert_eq!(output(&cx(), path.as_ref()).unwrap(), shown.as_bytes());
    }
}

#[test]
fn errors_are_at_the_first_token_that_does_not_fit() {
    for (text, message) in [
        ("", "invalid input syntax for type jsonpath: \"\""),
        ("$.a b", "syntax error at end of jsonpath input"),
        ("$.a b c", "syntax error at or near \" \" of jsonpath input"),
        ("$[1 2]", "syntax error at or near \"2\" of jsonpath input"),
        ("1 == (2 == 3)", "syntax error at end of jsonpath input"),
        ("$ + @", "@ is not allowed in root expressions"),
        ("last", "LAST is allowed only in array subscripts"),
        ("1.5e3x", "trailing junk after numeric literal at or near \"1.5e3x\" of jsonpath input"),
        ("\"a", "unexpected end of quoted string at end of jsonpath input"),
    ] {
        assert_eq!(input(&cx(), text.as_bytes()).unwrap_err().message(), message, "{text}");
    }
}

#[test]
fn deep_paths_are_refused_or_written() {
    for (open, close) in [("(", ")"), ("-", ""), ("$[", "]"), ("$ ? (exists(", "))")] {
        let path = |n: usize| format!("{}$v{}", open.repeat(n), close.repeat(n));
        let deep = input(&cx(), path(100_000).as_bytes()).unwrap_err();
        assert_eq!(deep.code().as_str(), "54001");
        let shallow = input(&cx(), path(500).as_bytes()).unwrap();
        assert!(output(&cx(), shallow.as_ref()).is_ok());
    }
    let sum = format!("{}1", "1 + ".repeat(100_000));
    assert_eq!(input(&cx(), sum.as_bytes()).unwrap_err().code().as_str(), "54001");
    let chain = format!("${}", "[0]".repeat(100_000));
    let chain = input(&cx(), chain.as_bytes()).unwrap();
    assert_eq!(output(&cx(), chain.as_ref()).unwrap().len(), 300_001);
}

#[test]
fn corrupt_paths_are_errors() {
    // An item that refers to itself, an operator without operands, a truncated item.
    for items in [&[27, 0, 0, 0, 0xfc, 0xff, 0xff, 0xff][..], &[8, 0, 0, 0, 0, 0, 0, 0], &[25]] {
        let payload = [&[1, 0, 0, 0x80][..], items].concat();
        assert!(output(&cx(), DatumRef::Bytes(&payload)).is_err());
    }
    assert!(output(&cx(), DatumRef::Bytes(&[1])).is_err());
}
