//! Compilation without a session: the statements that texts become, and their errors.

use crate::source::{Argument, Settings, Source, TypeSource};
use crate::tree::{CodeKind, Extra, Function, ResultType, SqlMode, StmtKind, VarType};
use analyze::NameConflict;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use types::oids;

/// The types `int`, `text`, `refcursor` and `record`.
struct FewTypes;

impl TypeSource for FewTypes {
    fn named(&mut self, text: &str) -> Result<VarType> {
        Ok(match text {
            "int" => VarType::scalar(oids::INT4),
            "text" => VarType::text(),
            "refcursor" => VarType::scalar(oids::REFCURSOR),
            "record" => VarType::record(),
            _ => return Err(pg_err!(UNDEFINED_OBJECT, "type \"{text}\" does not exist").at(1)),
        })
    }

    fn of_column(&mut self, _: &[String]) -> Result<Option<VarType>> {
        Ok(None)
    }

    fn of_row(&mut self, names: &[String]) -> Result<VarType> {
        Err(pg_err!(UNDEFINED_TABLE, "relation \"{}\" does not exist", names.join(".")))
    }

    fn collation(&mut self, _: &[String]) -> Result<Oid> {
        Ok(ids::builtin::collation::C)
    }

    fn name_of(&mut self, ty: Oid) -> Result<String> {
        Ok(ty.to_string())
    }

    fn warn(&mut self, _: PgError) {}
}

/// Compiles a function f(a int) returns int.
fn compile(text: &str) -> Result<Function> {
    let ty = VarType::scalar(oids::INT4);
    let source = Source {
        name: "f",
        signature: "f(integer)",
        text,
        kind: CodeKind::Function,
        args: vec![Argument { name: "a", ty: ty.clone(), is_input: true, is_output: false }],
        result: ResultType { ty, is_set: false },
        polymorphic_result: false,
        read_only: false,
        is_new: true,
    };
    let settings = Settings {
        lexer: parse::Options::default(),
        conflict: NameConflict::Error,
        print_strict_params: false,
        extra: Extra::default(),
    };
    crate::compile(&source, &settings, &mut FewTypes)
}

/// The kinds of the statements with their lines.
fn statements(text: &str) -> String {
    let function = compile(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let list = function.body.body.iter().map(|s| format!("{} {}", s.line, s.kind.name()));
    list.collect::<Vec<_>>().join(", ")
}

/// The error of a text and its position, or the line in its context.
fn error(text: &str) -> String {
    let e = compile(text).err().unwrap_or_else(|| panic!("no error: {text}"));
    let fields = e.fields();
    match fields.position {
        Some(position) => format!("{} @{position}", e.message()),
        None => format!("{}; {}", e.message(), fields.context.join("; ")),
    }
}

#[test]
fn statements_have_kinds_and_lines() {
    let text = "declare x int := 1; r record;\nbegin\n  x := x + 1;\n  \
                if x > 2 then null; end if;\n\
                for i in 1..3 loop null; end loop;\nfor r in select 1 loop null; end loop;\n\
                select 1 into x;\nperform f(1); return x; end";
    assert_eq!(
        statements(text),
        "3 assignment, 4 IF, 5 FOR with integer loop variable, 6 FOR over SELECT rows, 7 SQL \
         statement, 8 PERFORM, 8 RETURN"
    );
}

#[test]
fn words_of_the_language_can_be_variables() {
    let text = "declare return int; notice int; begin return := 1; notice = 2; return return; end";
    assert_eq!(statements(text), "1 assignment, 1 assignment, 1 RETURN");
}

#[test]
fn pieces_of_sql_keep_their_texts() {
    let text = "declare x int; begin x := 1 + /* c */ 2 -- d\n; select 1 into x from t; \
                perform g(x, 1); return x; end";
    let function = compile(text).unwrap();
    let texts: Vec<(&str, SqlMode)> = function.sql.iter().map(|s| (&*s.text, s.mode)).collect();
    let wanted = [
        ("x := 1 + /* c */ 2", SqlMode::Assignment(1)),
        ("select 1        from t", SqlMode::Statement),
        ("SELECT g(x, 1)", SqlMode::Statement),
    ];
    assert_eq!(texts, wanted);
}

#[test]
fn a_variable_is_found_in_the_innermost_block() {
    let text = "<<b>> declare x int; begin declare x text; begin x := 'a'; b.x := 1; end; \
                return x; end";
    let function = compile(text).unwrap();
    let StmtKind::Block(block) = &function.body.body[0].kind else { panic!("block expected") };
    let targets: Vec<usize> = block
        .body
        .iter()
        .map(|s| match s.kind {
            StmtKind::Assign { target, .. } => target,
            _ => panic!("assignment expected"),
        })
        .collect();
    let (inner, outer) = (block.vars[0], function.body.vars[0]);
    assert_eq!(targets, [inner, outer]);
}

#[test]
fn errors_have_positions_in_the_text() {
    for (text, wanted) in [
        ("begin x := 1; end", "\"x\" is not a known variable @7"),
        ("begin if a then return 1; end", "syntax error at end of input @30"),
        ("begin if (a then return 1; end if; end", "mismatched parentheses at or near \";\" @26"),
        ("begin return 1 +; end", "syntax error at end of input @17"),
        ("begin foo bar; end", "syntax error at or near \"foo\" @7"),
        ("declare x foo; begin end", "type \"foo\" does not exist @11"),
        ("declare a int; a text; begin end", "duplicate declaration at or near \"a\" @16"),
        ("begin exit; end", "EXIT cannot be used outside a loop, unless it has a label @7"),
        ("begin null; end x", "end label \"x\" specified for unlabeled block @17"),
        (
            "begin raise notice 'a%'; end",
            "too few parameters specified for RAISE; compilation of \
          PL/pgSQL function \"f\" near line 1",
        ),
        (
            "begin\n raise foo; end",
            "unrecognized exception condition \"foo\"; compilation of \
          PL/pgSQL function \"f\" near line 2",
        ),
        (
            "declare c cursor (x int) for select x; begin open c; end",
            "cursor \"c\" has arguments \
          @52",
        ),
        ("begin return next 1; end", "cannot use RETURN NEXT in a non-SETOF function @7"),
        ("begin 'a", "unterminated quoted string at or near \"'a\" @7"),
    ] {
        assert_eq!(error(text), wanted, "{text}");
    }
}
