use super::*;
use limits::{check, lowered};

fn package(files: &[(&str, &str)], manifest: &str) -> Package {
    Package {
        name: "sample".to_owned(),
        manifest: manifest.to_owned(),
        files: files.iter().map(|(f, text)| (f.to_string(), text.to_string())).collect(),
    }
}

fn counts(files: &[(&str, &str)], manifest: &str) -> Counts {
    let mut counts = Counts::default();
    counts.add_crate(&package(files, manifest)).expect("the sources parse");
    counts
}

/// The names and sizes of the items of a measure in a crate of one file.
fn items(measure: Measure, source: &str) -> Vec<(String, usize)> {
    let counts = counts(&[("src/lib.rs", source)], "");
    let items = counts.items.iter().filter(|i| i.measure == measure);
    items.map(|i| (i.name.clone(), i.size)).collect()
}

fn names(measure: Measure, source: &str) -> Vec<String> {
    items(measure, source).into_iter().map(|(name, _)| name).collect()
}

fn edges(files: &[(&str, &str)]) -> Vec<String> {
    let scan = scan::scan(&package(files, "")).expect("the sources parse");
    let edges = imports::edges(&scan);
    edges.iter().map(|e| format!("{}:{} {}", e.from, e.line, e.to)).collect()
}

fn cycle(files: &[(&str, &str)]) -> String {
    let scan = scan::scan(&package(files, "")).expect("the sources parse");
    imports::largest_cycle(&scan).files.join(" ")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn numbers_equal_their_limits() {
    let counts = Counts::of_workspace(&root()).expect("the sources parse");
    let table = fs::read_to_string(root().join(LIMITS_FILE)).expect("the table of limits");
    let faults = check(&counts, &table).expect("the table is well-formed");
    assert!(
        faults.is_empty(),
        "{}\n`cargo run -p xtask -- counts --items` lists what is counted, `--write` lowers limits",
        faults.join("\n")
    );
}

#[test]
fn a_cycle_of_three_files_is_found() {
    let files = [
        ("src/lib.rs", "mod a;\nmod b;\nmod c;\nmod d;"),
        ("src/a.rs", "use crate::b::B;"),
        ("src/b.rs", "fn f() { super::c::f(); }"),
        ("src/c.rs", "fn f() -> Vec<u8> { vec![crate::a::A] }"),
        ("src/d.rs", "use crate::a::A;"),
    ];
    assert_eq!(cycle(&files), "src/a.rs src/b.rs src/c.rs");
    assert_eq!(counts(&files, "").number("sample", Measure::ImportCycle), 3);
}

#[test]
fn files_in_a_line_are_no_cycle() {
    let files = [
        ("src/lib.rs", "mod a; mod b; use a::A;"),
        ("src/a.rs", "use crate::b::B;"),
        ("src/b.rs", "pub struct B;"),
    ];
    assert_eq!(cycle(&files), "");
    assert_eq!(edges(&files), ["src/a.rs:1 src/b.rs", "src/lib.rs:1 src/a.rs"]);
}

#[test]
fn declarations_visibilities_and_tests_are_no_imports() {
    let files = [
        ("src/lib.rs", "mod a;\n#[cfg(test)]\nmod b;"),
        (
            "src/a.rs",
            "pub(super) fn f() {}\npub(in crate::a) struct S;\n\
             #[cfg(all(test, not(loom)))]\nmod tests { use crate::X; }\n\
             #[test]\nfn t() { crate::x(); }",
        ),
        ("src/b.rs", "use crate::a::f;"),
    ];
    assert_eq!(edges(&files), Vec::<String>::new());
}

#[test]
fn imports_lead_to_the_deepest_module() {
    let files = [
        ("src/lib.rs", "mod a;\npub fn f() { a::inner::deep::f() }"),
        ("src/a/mod.rs", "pub mod inner { pub mod deep; use super::super::f; }"),
        ("src/a/inner/deep.rs", "use crate::a::{self, inner::{Unknown, deep}};\nuse std::fmt;"),
    ];
    let expected = [
        "src/a/inner/deep.rs:1 src/a/mod.rs",
        "src/a/mod.rs:1 src/lib.rs",
        "src/lib.rs:2 src/a/inner/deep.rs",
    ];
    assert_eq!(edges(&files), expected);
}

#[test]
fn a_file_without_a_module_is_an_error() {
    let files = [("src/lib.rs", ""), ("src/a.rs", "")];
    let error = scan::scan(&package(&files, "")).err();
    assert_eq!(error.as_deref(), Some("sample/src/a.rs belongs to no module"));
}

#[test]
fn modules_within_a_file_named_by_path_are_beside_it() {
    let files = [
        ("src/lib.rs", "#[cfg(test)]\n#[path = \"../tests/host/mod.rs\"]\nmod test_host;"),
        ("tests/plans.rs", "mod host;"),
        ("tests/host/mod.rs", "mod show;"),
        ("tests/host/show.rs", ""),
    ];
    assert_eq!(scan::scan(&package(&files, "")).err(), None);
}

#[test]
fn traits_with_more_than_15_methods() {
    let source = |n: usize| {
        let methods: String = (0..n).map(|i| format!("fn f{i}(&self);")).collect();
        format!("trait Wide {{ type T; const C: u8; {methods} }}")
    };
    assert_eq!(items(Measure::LargeTraits, &source(15)), []);
    assert_eq!(items(Measure::LargeTraits, &source(16)), [("Wide".to_owned(), 16)]);
}

#[test]
fn structs_with_more_than_25_fields() {
    let source = |n: usize| {
        let fields: String = (0..n).map(|i| format!("f{i}: u8,")).collect();
        format!("mod inner {{ struct Wide {{ {fields} }} }}")
    };
    assert_eq!(items(Measure::LargeStructs, &source(25)), []);
    assert_eq!(items(Measure::LargeStructs, &source(26)), [("Wide".to_owned(), 26)]);
}

#[test]
fn functions_with_bodies_of_more_than_100_lines() {
    let source = |n: usize| {
        let body = "    step();\n".repeat(n);
        format!("impl<T> Type<T> {{\n/// Text.\nfn long(\n&self,\n) {{\n{body}}}\n}}")
    };
    assert_eq!(items(Measure::LongFunctions, &source(100)), []);
    assert_eq!(items(Measure::LongFunctions, &source(101)), [("Type::long".to_owned(), 101)]);
}

#[test]
fn flat_tables_may_be_long() {
    let long = |start: &str, line: &str, end: &str| {
        let source = format!("fn f() {{\n{start}\n{}{end}\n}}", line.repeat(110));
        !names(Measure::LongFunctions, &source).is_empty()
    };
    assert!(!long("match x {", "A |\nB => \"b\",\n", "}"));
    assert!(!long("use Kind::*;\nSome(match x {", "A => b(c),\n", "})"));
    assert!(!long("&[", "(1, 2),\n", "]"));
    assert!(!long("vec![", "(1, 2),\n", "]"));
    assert!(long("match x {", "A => { b }\n", "}"));
    assert!(long("match x {", "A => b(\nc,\n),\n", "}"));
    assert!(long("[", "(1,\n2),\n", "]"));
    assert!(long("let y = 1;\nmatch x {", "A => b,\n", "}"));
    assert!(long("[", "1,\n", "];"));
}

#[test]
fn functions_with_more_than_7_parameters() {
    let source = "trait T { fn seven(&self, a: A, b: A, c: A, d: A, e: A, f: A, g: A);\n\
                  fn eight(&self, a: A, b: A, c: A, d: A, e: A, f: A, g: A, h: A); }";
    assert_eq!(items(Measure::ManyParameters, source), [("T::eight".to_owned(), 8)]);
}

#[test]
fn globs_outside_tests_and_preludes() {
    let source = "use a::b::{c, d::*};\n\
                  fn f() { use Kind::*; }\n\
                  use a::prelude::*;\n\
                  mod prelude { pub use crate::x::*; }\n\
                  #[cfg(test)]\nmod tests { use super::*; }\n\
                  #[test]\nfn t() { use super::*; }";
    assert_eq!(names(Measure::Globs, source), ["a::b::d::*", "f::Kind::*"]);
}

#[test]
fn globs_in_files_of_tests() {
    let files = [
        ("src/lib.rs", "#[cfg(test)]\nmod tests;"),
        ("src/tests.rs", "use super::*;\nmod more;"),
        ("src/tests/more.rs", "use super::*;"),
        ("tests/it.rs", "use sample::*;"),
    ];
    assert_eq!(counts(&files, "").number("sample", Measure::Globs), 0);
}

#[test]
fn dependencies_that_no_file_names() {
    let manifest = "[package]\nname = \"sample\"\n\n[dependencies]\nused.workspace = true\n\
                    # a comment = 1\nin-macro = \"1\"\nmd-5 = \"1\"\nunused = { version = \"1\" }\n\
                    only_tests = \"1\"\nshadowed = \"1\"\n\n[dev-dependencies]\nin_tests = \"1\"\n\
                    unused_tests = \"1\"\n[target.'cfg(loom)'.dependencies]\nloom = \"1\"\n";
    let files = [
        (
            "src/lib.rs",
            "mod shadowed;\nuse used::Thing;\nfn f() { print!(\"{}\", in_macro::x()); md5::f(); }\n\
             fn g() { shadowed::f(); unused(); vec![unused::<u8>()]; }\n\
             #[cfg(test)]\nmod tests { use in_tests::X; fn f() { ::only_tests::f() } }",
        ),
        ("src/shadowed.rs", ""),
    ];
    let counts = counts(&files, manifest);
    let items = counts.items.iter().filter(|i| i.measure == Measure::UnusedDependencies);
    let found: Vec<String> = items.map(|i| format!("{} {}", i.line, i.name)).collect();
    let expected = ["9 unused", "10 only_tests", "11 shadowed", "15 unused_tests", "17 loom"];
    assert_eq!(found, expected);
}

#[test]
fn an_imported_module_is_no_dependency() {
    let files = [
        ("src/lib.rs", "mod a; mod b;"),
        ("src/a.rs", "pub mod page;"),
        ("src/a/page.rs", ""),
        ("src/b.rs", "use crate::a::page; fn f() { page::f(); }"),
    ];
    let counts = counts(&files, "[dependencies]\npage = \"1\"\n");
    assert_eq!(counts.number("sample", Measure::UnusedDependencies), 1);
}

#[test]
fn lines_are_counted_and_wide_ones_are_listed() {
    let wide = |columns: usize| format!("// {}\n", "é".repeat(columns - 3));
    let text = wide(100) + &wide(101) + &wide(150);
    let files = [("src/lib.rs", text.as_str()), ("tests/it.rs", "\n")];
    let counts = counts(&files, "");
    assert_eq!(counts.number("sample", Measure::Lines), 4);
    let wide = counts.items.iter().filter(|i| i.measure == Measure::WideLines);
    let wide: Vec<(usize, usize)> = wide.map(|i| (i.line, i.size)).collect();
    assert_eq!(wide, [(2, 101), (3, 150)]);
}

/// A workspace with one crate of these numbers.
fn numbers(numbers: &[(Measure, usize)]) -> Counts {
    let mut counts = Counts::default();
    for (measure, number) in numbers {
        counts.numbers.insert(("sample".to_owned(), *measure), *number);
    }
    counts
}

#[test]
fn limits_must_be_exact() {
    let table = "crate\tmeasure\tlimit\nsample\tglobs\t3\n";
    let faults = |number: usize| check(&numbers(&[(Measure::Globs, number)]), table).unwrap();
    assert_eq!(faults(4), ["sample: globs is 4, the limit is 3"]);
    assert_eq!(faults(3), Vec::<String>::new());
    assert_eq!(faults(2), ["sample: globs: lower the limit to 2"]);
    assert_eq!(faults(0), ["sample: globs: lower the limit to 0, that is, remove the line"]);
}

#[test]
fn general_limits_hold_without_a_line_in_the_table() {
    let faults = |measure: Measure, number: usize| {
        check(&numbers(&[(measure, number)]), "crate\tmeasure\tlimit\n").unwrap().len()
    };
    assert_eq!(faults(Measure::ImportCycle, 8), 0);
    assert_eq!(faults(Measure::ImportCycle, 9), 1);
    assert_eq!(faults(Measure::Lines, 20_000), 0);
    assert_eq!(faults(Measure::Lines, 20_001), 1);
    assert_eq!(faults(Measure::Globs, 1), 1);
}

#[test]
fn limits_of_lines_are_multiples_of_500() {
    let table = "crate\tmeasure\tlimit\nsample\tlines\t21000\n";
    let faults = |number: usize| check(&numbers(&[(Measure::Lines, number)]), table).unwrap();
    assert_eq!(faults(20_501), Vec::<String>::new());
    assert_eq!(faults(21_000), Vec::<String>::new());
    assert_eq!(faults(21_001), ["sample: lines is 21001, the limit is 21000"]);
    assert_eq!(faults(20_500), ["sample: lines: lower the limit to 20500"]);
}

#[test]
fn limits_are_lowered_but_not_raised() {
    let table = "crate\tmeasure\tlimit\nsample\tglobs\t3\nsample\twide_lines\t2\n";
    let two = numbers(&[(Measure::Globs, 2), (Measure::WideLines, 0)]);
    assert_eq!(lowered(&two, table).unwrap(), "crate\tmeasure\tlimit\nsample\tglobs\t2\n");
    let more = numbers(&[(Measure::Globs, 2), (Measure::WideLines, 3)]);
    let error = "limits are not raised:\nsample: wide_lines is 3, the limit is 2";
    assert_eq!(lowered(&more, table), Err(error.to_owned()));
    let other = numbers(&[(Measure::LargeTraits, 1)]);
    assert!(lowered(&other, table).is_err());
}

#[test]
fn a_faulty_table_is_an_error() {
    for table in [
        "",
        "crate\tmeasure\tlimit\nsample\tglobs\n",
        "crate\tmeasure\tlimit\nsample\tunknown\t1\n",
        "crate\tmeasure\tlimit\nsample\tglobs\t-1\n",
        "crate\tmeasure\tlimit\nsample\tglobs\t2\nsample\tglobs\t1\n",
    ] {
        assert!(check(&Counts::default(), table).is_err(), "{table}");
    }
}
