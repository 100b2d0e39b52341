//! Functions of text search that need configurations or dictionaries. Counterpart: to_tsany.c,
//! wparser.c, dict.c.

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use dictionaries::Search;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;
use types::json::texts::{TextParts, texts, with_strings};
use types::textsearch::ctype::Ctype;
use types::textsearch::dict::{Dictionary, Options, Phrase, options};
use types::textsearch::document::{self, Syntax};
use types::textsearch::headline;
use types::textsearch::lexize::{Lexemes, Lexer};
use types::textsearch::parser::Parser;
use types::textsearch::query::Operator;
use types::{Datum, DatumRef, RegKind, delegate_fn_context, oids};

/// The session as the source of dictionaries.
struct SessionLexer<'a> {
    core: &'a mut dyn SystemHost,
}

delegate_fn_context! { SessionLexer<'_>, self, self.core }

impl Lexer for SessionLexer<'_> {
    fn dictionary_by_oid(&mut self, oid: Oid) -> Result<Arc<dyn Dictionary>> {
        dictionary(self.core, oid)
    }
}

/// The dictionary with this OID.
pub(crate) fn dictionary(core: &mut dyn SystemHost, oid: Oid) -> Result<Arc<dyn Dictionary>> {
    let state = core.catalog_session().catalog_state();
    let disk = core.backend().storage().env.disk.clone();
    let mut cache = std::mem::take(core.search_cache());
    let found = cache.dictionary(core, &disk, state, oid);
    *core.search_cache() = cache;
    found
}

fn configuration(core: &mut dyn SystemHost, oid: Oid) -> Result<Search> {
    let state = core.catalog_session().catalog_state();
    let mut cache = std::mem::take(core.search_cache());
    let found = cache.configuration(core, state, oid);
    *core.search_cache() = cache;
    found
}

/// The configuration of the setting `default_text_search_config`.
pub(crate) fn current_configuration(core: &mut dyn SystemHost) -> Result<Oid> {
    let name = core.setting("default_text_search_config");
    let found = super::reg::lookup_name(core, RegKind::Config, &name)?;
    found.ok_or_else(|| {
        pg_err!(UNDEFINED_OBJECT, "text search configuration \"{name}\" does not exist")
    })
}

/// The configuration of a call, and its other arguments.
fn called<'a, 'd>(
    core: &mut dyn SystemHost,
    args: &'a [DatumRef<'d>],
    by_id: bool,
) -> Result<(Search, &'a [DatumRef<'d>])> {
    let (oid, rest) = match by_id {
        true => (args[0].as_oid(), &args[1..]),
        false => (current_configuration(core)?, args),
    };
    Ok((configuration(core, oid)?, rest))
}

fn text_vector(core: &mut dyn SystemHost, args: &[DatumRef<'_>], by_id: bool) -> Result<Datum> {
    let (search, rest) = called(core, args, by_id)?;
    vector_of(core, &search, &[rest[0].as_bytes()], false)
}

/// The tsvector of several texts, as if they were one.
pub fn vector_of_texts(core: &mut dyn SystemHost, config: Oid, texts: &[&[u8]]) -> Result<Datum> {
    let search = configuration(core, config)?;
    vector_of(core, &search, texts, false)
}

/// The vector of the lexemes of several texts; with `gaps` phrases do not reach from one text to
/// the next.
fn vector_of(
    core: &mut dyn SystemHost,
    search: &Search,
    texts: &[&[u8]],
    gaps: bool,
) -> Result<Datum> {
    let mut lexemes = Lexemes::default();
    let lexer = &mut SessionLexer { core };
    for text in texts {
        let before = lexemes.words.len();
        lexemes.add(lexer, &search.configuration, text)?;
        if gaps && lexemes.words.len() > before {
            lexemes.position += 1;
        }
    }
    Ok(Datum::bytes(document::vector(lexemes)?))
}

/// Of a json or jsonb, whose strings are used, or the parts in the last argument if `flags`.
fn json_vector(
    core: &mut dyn SystemHost,
    args: &[DatumRef<'_>],
    by_id: bool,
    binary: bool,
    flags: bool,
) -> Result<Datum> {
    let json = args[usize::from(by_id)];
    let parts = match flags {
        true => TextParts::named(args[usize::from(by_id) + 1])?,
        false => TextParts::STRINGS,
    };
    let (search, _) = called(core, args, by_id)?;
    let texts = texts(core.as_fn_context(), json, binary, parts)?;
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    vector_of(core, &search, &texts, true)
}

fn query(
    core: &mut dyn SystemHost,
    args: &[DatumRef<'_>],
    by_id: bool,
    syntax: Syntax,
    operator: Operator,
) -> Result<Datum> {
    let (search, rest) = called(core, args, by_id)?;
    let text = rest[0].as_bytes();
    let lexer = &mut SessionLexer { core };
    let query = document::query(lexer, &search.configuration, text, syntax, operator)?;
    Ok(Datum::bytes(query))
}

/// The options in the last argument.
fn headline_options(args: &[DatumRef<'_>]) -> Result<Options> {
    match args.get(2) {
        Some(given) => options::parse(&text(*given)),
        None => Ok(Options::new()),
    }
}

fn headline_of(
    core: &mut dyn SystemHost,
    search: &Search,
    document: &[u8],
    query: DatumRef<'_>,
    options: &Options,
) -> Result<Vec<u8>> {
    let lexer = &mut SessionLexer { core };
    headline::headline(lexer, &search.configuration, document, query.as_bytes(), options)
}

fn text_headline(core: &mut dyn SystemHost, args: &[DatumRef<'_>], by_id: bool) -> Result<Datum> {
    let (search, rest) = called(core, args, by_id)?;
    if !search.headlines {
        return Err(headline::no_headlines());
    }
    let options = headline_options(rest)?;
    Ok(Datum::bytes(headline_of(core, &search, rest[0].as_bytes(), rest[1], &options)?))
}

fn json_headline(
    core: &mut dyn SystemHost,
    args: &[DatumRef<'_>],
    by_id: bool,
    binary: bool,
) -> Result<Datum> {
    let (search, rest) = called(core, args, by_id)?;
    let options = headline_options(rest)?;
    if !search.headlines {
        return Err(headline::no_headlines());
    }
    let mut strings = texts(core.as_fn_context(), rest[0], binary, TextParts::STRINGS)?;
    for string in &mut strings {
        *string = headline_of(core, &search, string, rest[1], &options)?;
    }
    with_strings(core.as_fn_context(), rest[0], binary, strings)
}

/// `ts_lexize`: the lexemes of a token.
fn lexize(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let dictionary = dictionary(core, args[0].as_oid())?;
    let token = args[1].as_bytes();
    let mut phrase = Phrase::default();
    let mut found = dictionary.lexize(token, &mut phrase)?;
    if phrase.wants_next {
        phrase.at_end = true;
        if let Some(more) = dictionary.lexize(token, &mut phrase)? {
            found = Some(more);
        }
    }
    let Some(lexemes) = found else { return Ok(Datum::Null) };
    let lexemes: Vec<Datum> = lexemes.into_iter().map(|l| Datum::Bytes(l.text)).collect();
    types::array::of_builtin(oids::TEXT, &lexemes)
}

/// Whether a text matches a query, or the words of another text.
fn matches(core: &mut dyn SystemHost, args: &[DatumRef<'_>], texts: bool) -> Result<Datum> {
    let vector = text_vector(core, &args[..1], false)?;
    let words;
    let wanted = match texts {
        true => {
            words = query(core, &args[1..], false, Syntax::Plain, Operator::And)?;
            words.as_ref()
        }
        false => args[1],
    };
    let function = types::builtin::scalar("ts_match_vq")
        .ok_or_else(|| PgError::internal("function ts_match_vq is missing"))?;
    function(core.as_fn_context(), &[vector.as_ref(), wanted])
}

/// The parser with this name.
pub(crate) fn parser_named(core: &mut dyn SystemHost, name: &str) -> Result<Oid> {
    let (schema, plain) = super::reg::split_name(core, name)?;
    let found = core.catalog().find_ts_parser(schema.as_deref(), &plain)?;
    found.ok_or_else(|| {
        let shown = catalog::namespace::qualified(schema.as_deref(), &plain);
        pg_err!(UNDEFINED_OBJECT, "text search parser \"{shown}\" does not exist")
    })
}

/// An error if the parser does not exist, or is not the built-in one.
pub(crate) fn check_parser(core: &mut dyn SystemHost, oid: Oid) -> Result<()> {
    let name = format!("text search parser {oid}");
    let row = core.catalog().get(catalog::cache::TSPARSEROID, &[oid.into()], name)?;
    let function = core.catalog().function(row.prstoken)?;
    match function.prosrc.as_str() {
        "prsd_nexttoken" => Ok(()),
        other => Err(PgError::unsupported(format!("text search parser with the function {other}"))),
    }
}

fn parse(core: &mut dyn SystemHost, parser: Oid, text: &[u8]) -> Result<Vec<Vec<Datum>>> {
    check_parser(core, parser)?;
    let mut parser = Parser::new(text, Ctype::of(core.settings()));
    let mut rows = Vec::new();
    while let Some(token) = parser.next_token() {
        if rows.len() % 1024 == 0 {
            core.check_interrupts()?;
        }
        rows.push(vec![Datum::int4(token.kind as i32), Datum::bytes(token.text)]);
    }
    Ok(rows)
}

macro_rules! functions {
    ($($name:literal => $call:expr,)*) => {
        pub(super) const FNS: &[SysFn] =
            &[$(SysFn { name: $name, call: SysCall::One($call) },)*
            SysFn {
                name: "ts_parse_byid",
                call: SysCall::Set(|c, a| parse(c, a[0].as_oid(), a[1].as_bytes())),
            },
            SysFn {
                name: "ts_parse_byname",
                call: SysCall::Set(|c, a| {
                    let parser = parser_named(c, &text(a[0]))?;
                    parse(c, parser, a[1].as_bytes())
                }),
            }];
    };
}

functions! {
    "get_current_ts_config" => |c, _| Ok(Datum::oid(current_configuration(c)?)),
    "to_tsvector" => |c, a| text_vector(c, a, false),
    "to_tsvector_byid" => |c, a| text_vector(c, a, true),
    "json_string_to_tsvector" => |c, a| json_vector(c, a, false, false, false),
    "json_string_to_tsvector_byid" => |c, a| json_vector(c, a, true, false, false),
    "jsonb_string_to_tsvector" => |c, a| json_vector(c, a, false, true, false),
    "jsonb_string_to_tsvector_byid" => |c, a| json_vector(c, a, true, true, false),
    "json_to_tsvector" => |c, a| json_vector(c, a, false, false, true),
    "json_to_tsvector_byid" => |c, a| json_vector(c, a, true, false, true),
    "jsonb_to_tsvector" => |c, a| json_vector(c, a, false, true, true),
    "jsonb_to_tsvector_byid" => |c, a| json_vector(c, a, true, true, true),
    "to_tsquery" => |c, a| query(c, a, false, Syntax::Standard, Operator::Phrase),
    "to_tsquery_byid" => |c, a| query(c, a, true, Syntax::Standard, Operator::Phrase),
    "plainto_tsquery" => |c, a| query(c, a, false, Syntax::Plain, Operator::And),
    "plainto_tsquery_byid" => |c, a| query(c, a, true, Syntax::Plain, Operator::And),
    "phraseto_tsquery" => |c, a| query(c, a, false, Syntax::Plain, Operator::Phrase),
    "phraseto_tsquery_byid" => |c, a| query(c, a, true, Syntax::Plain, Operator::Phrase),
    "websearch_to_tsquery" => |c, a| query(c, a, false, Syntax::Web, Operator::Phrase),
    "websearch_to_tsquery_byid" => |c, a| query(c, a, true, Syntax::Web, Operator::Phrase),
    "ts_headline" => |c, a| text_headline(c, a, false),
    "ts_headline_opt" => |c, a| text_headline(c, a, false),
    "ts_headline_byid" => |c, a| text_headline(c, a, true),
    "ts_headline_byid_opt" => |c, a| text_headline(c, a, true),
    "ts_headline_json" => |c, a| json_headline(c, a, false, false),
    "ts_headline_json_opt" => |c, a| json_headline(c, a, false, false),
    "ts_headline_json_byid" => |c, a| json_headline(c, a, true, false),
    "ts_headline_json_byid_opt" => |c, a| json_headline(c, a, true, false),
    "ts_headline_jsonb" => |c, a| json_headline(c, a, false, true),
    "ts_headline_jsonb_opt" => |c, a| json_headline(c, a, false, true),
    "ts_headline_jsonb_byid" => |c, a| json_headline(c, a, true, true),
    "ts_headline_jsonb_byid_opt" => |c, a| json_headline(c, a, true, true),
    "ts_lexize" => lexize,
    "ts_match_tq" => |c, a| matches(c, a, false),
    "ts_match_tt" => |c, a| matches(c, a, true),
}
