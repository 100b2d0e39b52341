use super::*;

fn groups(pattern: &str, text: &str) -> Option<Vec<Option<String>>> {
    let mut p = compile(pattern.as_bytes(), Options::default(), Ctype::Ascii, false).unwrap();
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
fn quantifiers_share_out_as_their_preferences_say() {
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
fn faults_are_named() {
    for (pattern, what) in [
        ("(", "parentheses () not balanced"),
        ("a**", "quantifier operand invalid"),
        ("[a", "brackets [] not balanced"),
        (r"\1(a)", "invalid backreference number"),
        ("a{2,1}", "invalid repetition count(s)"),
        ("[[:x:]]", "invalid character class"),
        (r"x(\w)(?=\1)", "invalid backreference number"),
    ] {
        let e = compile(pattern.as_bytes(), Options::default(), Ctype::Ascii, false).err().unwrap();
        assert_eq!(e.message(), format!("invalid regular expression: {what}"), "{pattern}");
    }
}

/// What has no automaton is refused while it is read, whatever comes behind.
#[test]
fn patterns_of_too_many_parts_are_refused_early() {
    let refused = |pattern: String, options: Options| {
        let e = compile(pattern.as_bytes(), options, Ctype::Ascii, false).err().unwrap();
        assert_eq!(e.message(), "invalid regular expression: regular expression is too complex");
    };
    refused("x".repeat(3_000_000) + "(", Options::default());
    refused("a|".repeat(3_000_000) + "(", Options::default());
    refused("|".repeat(3_000_000) + "(", Options::default());
    refused("$".repeat(3_000_000) + "(", Options::default());
    refused("x".repeat(3_000_000), Options { flavor: Flavor::Literal, ..Options::default() });
}
