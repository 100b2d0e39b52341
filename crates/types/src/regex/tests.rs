use super::class::Ctype;
use super::compile;
use super::syntax::{Flavor, Options};
use pgerror::pg_err;

fn groups(pattern: &str, text: &str) -> Option<Vec<Option<String>>> {
    let mut p =
        compile(pattern.as_bytes(), Options::default(), Ctype::Ascii, false, &|| Ok(())).unwrap();
    let found = p.on(text.as_bytes(), &|| Ok(())).find(0).unwrap()?;
    Some(found.into_iter().map(|s| s.map(|(b, e)| text[b..e].to_string())).collect())
}

fn check(pattern: &str, text: &str, expect: &[&str]) {
    let found: Vec<String> = groups(pattern, text)
        .unwrap_or_default()
        .into_iter()
        .map(|g| g.unwrap_or("-".into()))
        .collect();
    assert_eq!(found, expect, "{pattern} on {text}");
}

#[test]
fn quantifiers_divide_the_text_by_preference() {
    check("a+|ab", "ab", &["ab"]);
    check("(a|ab)(c|bcd)(d*)", "abcd", &["abcd", "ab", "c", "d"]);
    check(r"X(Y*?[0-9]+)", "XY1234Z", &["XY1", "Y1"]);
    check("^(l*){1,1}?(.*)(f*)$", "llmmmfff", &["llmmmfff", "", "llmmmfff", ""]);
    check("^(l*?){1,1}(.*)(f*)$", "llmmmfff", &["llmmmfff", "ll", "mmmfff", ""]);
    check("((a)|(b))*", "ab", &["ab", "b", "-", "b"]);
}

#[test]
fn constraints_and_back_references() {
    check("a(?=b)b*", "ab", &["ab"]);
    check("(?<=foo)b+", "foobar", &["b"]);
    check("a(?!b)b*", "ab", &[]);
    check(r"(\w).*?\1", "Programmer", &["rogr", "r"]);
    check(r"(.)\1", "foobarr", &["oo", "o"]);
    check(r"\mbar\M", "foobar bar", &["bar"]);
    check(r"^([bc])\1*$", "bbc", &[]);
}

#[test]
fn errors_name_the_fault() {
    for (pattern, what) in [
        ("(", "parentheses () not balanced"),
        ("a**", "quantifier operand invalid"),
        ("[a", "brackets [] not balanced"),
        ("[a-", "brackets [] not balanced"),
        (r"\1(a)", "invalid backreference number"),
        ("a{2,1}", "invalid repetition count(s)"),
        ("[[:x:]]", "invalid character class"),
        (r"x(\w)(?=\1)", "invalid backreference number"),
    ] {
        let e = compile(pattern.as_bytes(), Options::default(), Ctype::Ascii, false, &|| Ok(()))
            .err()
            .unwrap();
        assert_eq!(e.message(), format!("invalid regular expression: {what}"), "{pattern}");
    }
}

/// A pattern that is too large for an automaton is refused during parsing, before the rest is read.
#[test]
fn patterns_of_too_many_parts_are_refused_early() {
    let refused = |pattern: String, options: Options| {
        let e =
            compile(pattern.as_bytes(), options, Ctype::Ascii, false, &|| Ok(())).err().unwrap();
        assert_eq!(e.message(), "invalid regular expression: regular expression is too complex");
    };
    refused("x".repeat(3_000_000) + "(", Options::default());
    refused("a|".repeat(3_000_000) + "(", Options::default());
    refused("|".repeat(3_000_000) + "(", Options::default());
    refused("$".repeat(3_000_000) + "(", Options::default());
    refused("x".repeat(3_000_000), Options { flavor: Flavor::Literal, ..Options::default() });
}

fn nested(open: &str, levels: usize, close: &str) -> String {
    open.repeat(levels) + "x" + &close.repeat(levels)
}

/// PostgreSQL's stack overflows between 8,000 and 10,000 levels.
#[test]
fn patterns_may_be_nested_by_thousands_of_levels() {
    for (open, close) in [
        ("(", ")"),
        ("(?:", ")"),
        ("(?=", ")"),
        ("(?:", ")*"),
        ("(", "a)"),
        ("(a", ")"),
        ("(a|", ")"),
        ("(?:a|", "){1}"),
    ] {
        let pattern = nested(open, 5_000, close);
        let compiled = || {
            let options = Options::default();
            compile(pattern.as_bytes(), options, Ctype::Ascii, false, &|| Ok(()))
        };
        let mut pattern = compiled().unwrap();
        let _ = pattern.on(b"xx", &|| Ok(())).find(0).unwrap();
    }
    check(&nested("(", 8_000, ")"), "ax", &["x"; 8_001]);
    let pattern = nested("(", 20_000, ")");
    let e = compile(pattern.as_bytes(), Options::default(), Ctype::Ascii, false, &|| Ok(()));
    let e = e.err().unwrap();
    assert_eq!(e.message(), "invalid regular expression: regular expression is too complex");
    // An error in deeply nested syntax drops the nodes parsed so far.
    let pattern = "(?:a".repeat(5_000) + "[";
    assert!(
        compile(pattern.as_bytes(), Options::default(), Ctype::Ascii, false, &|| Ok(())).is_err()
    );
}

#[test]
fn many_groups_and_constraints() {
    let text = "a".repeat(300);
    let found = groups(&"(a)".repeat(300), &text).unwrap();
    assert!(found[1..].iter().all(|g| g.as_deref() == Some("a")) && found.len() == 301);
    check(&("(?=a)".repeat(10_000) + "ab"), "aab", &["ab"]);
    check(&("(?!b)".repeat(1_000) + &"(?<!a)".repeat(100) + "a"), "abaa", &["a"]);
    // Every constraint is evaluated, also those beyond the first 64.
    for odd in [0, 63, 64, 65, 99] {
        let mut parts = vec!["(?=a)"; 100];
        parts[odd] = "(?!a)";
        check(&(parts.concat() + "a"), "aa", &[]);
        parts[odd] = "(?<=b)";
        check(&(parts.concat() + "a+"), "aabaa", &["aa"]);
    }
}

#[test]
fn lookbehinds_read_the_text_once_and_may_go_back() {
    check(r"(?<=a.*)b(?<!bb)", "xxbabb", &["b"]);
    check(r"(.)(?<=(?<!b)a)(c*)\1", "baxacca", &["acca", "a", "cc"]);
    check(r"(?<=^.{3})x", "xxxxx", &["x"]);
}

/// All characters of a long pattern may differ, with and without negation.
#[test]
fn thousands_of_sets_divide_the_characters() {
    let letters: Vec<char> = ('\u{1000}'..'\u{3000}').collect();
    let text: String = letters.iter().collect();
    assert_eq!(groups(&text, &format!("x{text}y")), Some(vec![Some(text.clone())]));
    let negated: String = letters[..500].iter().map(|c| format!("[^{c}]")).collect();
    let next: String = letters[1..501].iter().collect();
    assert_eq!(groups(&negated, &next), Some(vec![Some(next.clone())]));
    let same: String = letters[..500].iter().collect();
    assert_eq!(groups(&negated, &same), None);
}

/// Nested repetitions of an empty pattern end for all repetition counts.
#[test]
fn repetitions_of_an_empty_pattern_end() {
    let pattern = "(?:".repeat(12) + "(?:)" + &"){255}".repeat(12);
    check(&pattern, "a", &[""]);
    check(&("(?:".repeat(30) + "(?:)" + &"){0,1}".repeat(30) + "a"), "a", &["a"]);
}

/// Compilation checks for interrupts, and an error from the check ends it.
#[test]
fn compilation_checks_for_interrupts() {
    use std::cell::Cell;
    let negated = |n: u32| -> String {
        let letters = (0x1000..0x1000 + n).filter_map(char::from_u32);
        letters.map(|c| format!("[^{c}]")).collect()
    };
    for pattern in [
        negated(3_000),
        "(?i)[a-\u{ffff}]".into(),
        "(x)".repeat(20_000),
        "ab|".repeat(20_000),
        format!("[{}]", "ab-z".repeat(20_000)),
        "((x{50}){50}){50}".into(),
        "(?=x)".repeat(20_000),
    ] {
        let calls = Cell::new(0);
        let interrupts = || {
            calls.set(calls.get() + 1);
            if calls.get() < 4 {
                return Ok(());
            }
            Err(pg_err!(QUERY_CANCELED, "canceling statement due to user request"))
        };
        let compiled =
            compile(pattern.as_bytes(), Options::default(), Ctype::Unicode, false, &interrupts);
        let e = compiled.err().unwrap();
        assert_eq!(e.message(), "canceling statement due to user request", "{pattern:.40}");
    }
}
