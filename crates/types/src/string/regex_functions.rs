//! The operators `~` and the `regexp_*` functions.

use super::regex::{Options, Pattern, Spans, compile};
use crate::builtin::{SetSource, VecSource};
use crate::{Datum, DatumRef, FnContext, array, oids};
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;

/// The compiled pattern of the call site's last call.
struct Cached {
    pattern: Vec<u8>,
    options: Options,
    compiled: Arc<Pattern>,
}

fn utf8(text: &[u8]) -> Result<&str> {
    std::str::from_utf8(text)
        .map_err(|_| PgError::unsupported("regular expression over text that is not UTF-8"))
}

fn compiled(cx: &mut dyn FnContext, pattern: &[u8], options: Options) -> Result<Arc<Pattern>> {
    let cached = cx.extra().as_ref().and_then(|e| e.downcast_ref::<Cached>());
    if let Some(c) = cached.filter(|c| c.pattern == pattern && c.options == options) {
        return Ok(c.compiled.clone());
    }
    let done = Arc::new(compile(utf8(pattern)?, options)?);
    let cached = Cached { pattern: pattern.to_vec(), options, compiled: done.clone() };
    *cx.extra() = Some(Box::new(cached));
    Ok(done)
}

fn flags(text: &[u8]) -> Result<Options> {
    let mut options = Options::default();
    for c in utf8(text)?.chars() {
        if c == 'g' {
            options.global = true;
        } else if !options.set(c) {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "invalid regular expression option: \"{c}\""
            ));
        }
    }
    Ok(options)
}

/// Options of a function that does not take `g`.
fn local_flags(a: &[DatumRef<'_>], i: usize, function: &str) -> Result<Options> {
    let options = a.get(i).map_or(Ok(Options::default()), |f| flags(f.as_bytes()))?;
    if options.global {
        let e =
            pg_err!(INVALID_PARAMETER_VALUE, "{function} does not support the \"global\" option");
        return Err(if function == "regexp_match()" {
            e.hint("Use the regexp_matches function instead.")
        } else {
            e
        });
    }
    Ok(options)
}

fn matched(
    cx: &mut dyn FnContext,
    text: &[u8],
    pattern: &[u8],
    ignore_case: bool,
    want: bool,
) -> Result<Datum> {
    let p = compiled(cx, pattern, Options { ignore_case, ..Options::default() })?;
    Ok(Datum::bool(p.is_match(utf8(text)?) == want))
}

fn next_char(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}

/// All matches from byte `from`; for splitting, those that are empty at either end of the text or right
/// behind another match do not count.
fn all_matches(p: &Pattern, text: &str, from: usize, global: bool, split: bool) -> Vec<Spans> {
    let mut out = Vec::new();
    let (mut at, mut last_end) = (from, from);
    while at <= text.len() {
        let Some(spans) = p.find(text, at) else { break };
        let (start, end) = spans[0].unwrap_or((at, at));
        if !split || (start < text.len() && end > last_end) {
            out.push(spans);
            if !global {
                break;
            }
        }
        last_end = end;
        at = if start == end {
            if end >= text.len() { break } else { next_char(text, end) }
        } else {
            end
        };
    }
    out
}

fn piece(text: &str, span: Option<(usize, usize)>) -> Datum {
    span.map_or(Datum::Null, |(s, e)| Datum::text(&text[s..e]))
}

/// The groups of a match, or the whole where there are none, as text[].
fn match_array(text: &str, spans: &Spans) -> Result<Datum> {
    let from = if spans.len() > 1 { 1 } else { 0 };
    let parts: Vec<Datum> = spans[from..].iter().map(|s| piece(text, *s)).collect();
    array::of_builtin(oids::TEXT, &parts)
}

fn split(text: &str, matches: &[Spans]) -> Vec<Datum> {
    let mut out = Vec::with_capacity(matches.len() + 1);
    let mut at = 0;
    for m in matches {
        let (start, end) = m[0].unwrap_or((at, at));
        out.push(Datum::text(&text[at..start]));
        at = end;
    }
    out.push(Datum::text(&text[at..]));
    out
}

/// Appends the replacement with `\1`, `\&` and `\\` filled in.
fn append_replacement(out: &mut String, replacement: &str, text: &str, spans: &Spans) {
    let mut chars = replacement.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            None => out.push('\\'),
            Some('\\') => out.push('\\'),
            Some(d @ ('&' | '0'..='9')) => {
                let group = if d == '&' { Some(0) } else { d.to_digit(10).filter(|d| *d > 0) };
                match group {
                    Some(g) => {
                        if let Some((s, e)) = spans.get(g as usize).copied().flatten() {
                            out.push_str(&text[s..e]);
                        }
                    }
                    None => out.push_str("\\0"),
                }
            }
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
        }
    }
}

/// Replaces the `n`th match (0: every one) from byte `from`.
fn replace(p: &Pattern, text: &str, replacement: &str, from: usize, n: i32) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut at, mut copied, mut count) = (from, 0, 0);
    while at <= text.len() {
        let Some(spans) = p.find(text, at) else { break };
        let (start, end) = spans[0].unwrap_or((at, at));
        count += 1;
        if n == 0 || count == n {
            out.push_str(&text[copied..start]);
            append_replacement(&mut out, replacement, text, &spans);
            copied = end;
            if n > 0 {
                break;
            }
        }
        at = if start == end {
            if end >= text.len() { break } else { next_char(text, end) }
        } else {
            end
        };
    }
    out.push_str(&text[copied..]);
    out
}

fn positive(a: &[DatumRef<'_>], i: usize, name: &str, default: i32, least: i32) -> Result<i32> {
    let v = a.get(i).map_or(default, |d| d.as_i32());
    if v < least {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "invalid value for parameter \"{name}\": {v}"
        ));
    }
    Ok(v)
}

/// Byte position of the 1-based character `start`; `None` beyond the end.
fn start_at(text: &str, start: i32) -> Option<usize> {
    let skip = start as usize - 1;
    let mut indices = text.char_indices().map(|(i, _)| i).chain([text.len()]);
    indices.nth(skip)
}

fn count(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let start = positive(a, 2, "start", 1, 1)?;
    let options = local_flags(a, 3, "regexp_count()")?;
    let p = compiled(cx, a[1].as_bytes(), options)?;
    let text = utf8(a[0].as_bytes())?;
    let n = start_at(text, start).map_or(0, |at| all_matches(&p, text, at, true, false).len());
    Ok(Datum::int4(n as i32))
}

/// The `n`th match from `start` on.
fn nth_match(p: &Pattern, text: &str, start: i32, n: i32) -> Option<Spans> {
    let at = start_at(text, start)?;
    all_matches(p, text, at, true, false).into_iter().nth(n as usize - 1)
}

fn instr(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let start = positive(a, 2, "start", 1, 1)?;
    let n = positive(a, 3, "n", 1, 1)?;
    let end_option = a.get(4).map_or(0, |d| d.as_i32());
    if !(0..=1).contains(&end_option) {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "invalid value for parameter \"endoption\": {end_option}"
        ));
    }
    let options = local_flags(a, 5, "regexp_instr()")?;
    let group = positive(a, 6, "subexpr", 0, 0)? as usize;
    let p = compiled(cx, a[1].as_bytes(), options)?;
    let text = utf8(a[0].as_bytes())?;
    if group > p.groups {
        return Ok(Datum::int4(0));
    }
    let span = nth_match(&p, text, start, n).and_then(|m| m[group]);
    Ok(Datum::int4(span.map_or(0, |(s, e)| {
        text[..if end_option == 1 { e } else { s }].chars().count() as i32 + 1
    })))
}

fn substr(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let start = positive(a, 2, "start", 1, 1)?;
    let n = positive(a, 3, "n", 1, 1)?;
    let options = local_flags(a, 4, "regexp_substr()")?;
    let group = positive(a, 5, "subexpr", 0, 0)? as usize;
    let p = compiled(cx, a[1].as_bytes(), options)?;
    let text = utf8(a[0].as_bytes())?;
    if group > p.groups {
        return Ok(Datum::Null);
    }
    let m = nth_match(&p, text, start, n);
    Ok(m.map_or(Datum::Null, |m| piece(text, m[group])))
}

fn replace_extended(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let start = positive(a, 3, "start", 1, 1)?;
    let n = positive(a, 4, "n", 1, 0)?;
    let options = a.get(5).map_or(Ok(Options::default()), |f| flags(f.as_bytes()))?;
    let n = if a.len() < 5 && options.global { 0 } else { n };
    let p = compiled(cx, a[1].as_bytes(), options)?;
    let text = utf8(a[0].as_bytes())?;
    let Some(at) = start_at(text, start) else { return Ok(a[0].to_owned()) };
    Ok(Datum::text(&replace(&p, text, utf8(a[2].as_bytes())?, at, n)))
}

fn split_call(cx: &mut dyn FnContext, a: &[DatumRef<'_>], name: &str) -> Result<Vec<Datum>> {
    let options = local_flags(a, 2, name)?;
    let p = compiled(cx, a[1].as_bytes(), options)?;
    let text = utf8(a[0].as_bytes())?;
    Ok(split(text, &all_matches(&p, text, 0, true, true)))
}

fn matches_set(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Box<dyn SetSource>> {
    let options = a.get(2).map_or(Ok(Options::default()), |f| flags(f.as_bytes()))?;
    let p = compiled(cx, a[1].as_bytes(), options)?;
    let text = utf8(a[0].as_bytes())?;
    let found = all_matches(&p, text, 0, options.global, false);
    let rows: Result<Vec<Datum>> = found.iter().map(|m| match_array(text, m)).collect();
    Ok(VecSource::boxed(rows?))
}

fn first_match(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let options = local_flags(a, 2, "regexp_match()")?;
    let p = compiled(cx, a[1].as_bytes(), options)?;
    let text = utf8(a[0].as_bytes())?;
    p.find(text, 0).map_or(Ok(Datum::Null), |m| match_array(text, &m))
}

scalars! { FNS;
    "textregexeq" => |cx, a| matched(cx, a[0].as_bytes(), a[1].as_bytes(), false, true),
    "textregexne" => |cx, a| matched(cx, a[0].as_bytes(), a[1].as_bytes(), false, false),
    "texticregexeq" => |cx, a| matched(cx, a[0].as_bytes(), a[1].as_bytes(), true, true),
    "texticregexne" => |cx, a| matched(cx, a[0].as_bytes(), a[1].as_bytes(), true, false),
    "nameregexeq" => |cx, a| matched(cx, a[0].as_name(), a[1].as_bytes(), false, true),
    "nameregexne" => |cx, a| matched(cx, a[0].as_name(), a[1].as_bytes(), false, false),
    "nameicregexeq" => |cx, a| matched(cx, a[0].as_name(), a[1].as_bytes(), true, true),
    "nameicregexne" => |cx, a| matched(cx, a[0].as_name(), a[1].as_bytes(), true, false),
    "textregexsubstr" => |cx, a| {
        let p = compiled(cx, a[1].as_bytes(), Options::default())?;
        let text = utf8(a[0].as_bytes())?;
        Ok(p.find(text, 0).map_or(Datum::Null, |m| piece(text, m[p.groups.min(1)])))
    },
    "textregexreplace_noopt" => |cx, a| {
        let p = compiled(cx, a[1].as_bytes(), Options::default())?;
        Ok(Datum::text(&replace(&p, utf8(a[0].as_bytes())?, utf8(a[2].as_bytes())?, 0, 1)))
    },
    "textregexreplace" => |cx, a| {
        let text = a[3].as_bytes();
        if text.first().is_some_and(u8::is_ascii_digit) {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "invalid regular expression option: \"{}\"",
                text[0] as char
            ).hint("If you meant to use regexp_replace() with a start parameter, cast the fourth \
                    argument to integer explicitly."));
        }
        let options = flags(text)?;
        let n = if options.global { 0 } else { 1 };
        let p = compiled(cx, a[1].as_bytes(), options)?;
        Ok(Datum::text(&replace(&p, utf8(a[0].as_bytes())?, utf8(a[2].as_bytes())?, 0, n)))
    },
    "textregexreplace_extended" => |cx, a| replace_extended(cx, a),
    "textregexreplace_extended_no_n" => |cx, a| replace_extended(cx, a),
    "textregexreplace_extended_no_flags" => |cx, a| replace_extended(cx, a),
    "regexp_like" => |cx, a| {
        let options = local_flags(a, 2, "regexp_like()")?;
        let p = compiled(cx, a[1].as_bytes(), options)?;
        Ok(Datum::bool(p.is_match(utf8(a[0].as_bytes())?)))
    },
    "regexp_like_no_flags" => |cx, a| matched(cx, a[0].as_bytes(), a[1].as_bytes(), false, true),
    "regexp_count" => |cx, a| count(cx, a),
    "regexp_count_no_start" => |cx, a| count(cx, a),
    "regexp_count_no_flags" => |cx, a| count(cx, a),
    "regexp_instr" => |cx, a| instr(cx, a),
    "regexp_instr_no_start" => |cx, a| instr(cx, a),
    "regexp_instr_no_n" => |cx, a| instr(cx, a),
    "regexp_instr_no_endoption" => |cx, a| instr(cx, a),
    "regexp_instr_no_flags" => |cx, a| instr(cx, a),
    "regexp_instr_no_subexpr" => |cx, a| instr(cx, a),
    "regexp_substr" => |cx, a| substr(cx, a),
    "regexp_substr_no_start" => |cx, a| substr(cx, a),
    "regexp_substr_no_n" => |cx, a| substr(cx, a),
    "regexp_substr_no_flags" => |cx, a| substr(cx, a),
    "regexp_substr_no_subexpr" => |cx, a| substr(cx, a),
    "regexp_match" => |cx, a| first_match(cx, a),
    "regexp_match_no_flags" => |cx, a| first_match(cx, a),
    "regexp_split_to_array" => |cx, a| {
        array::of_builtin(oids::TEXT, &split_call(cx, a, "regexp_split_to_array()")?)
    },
    "regexp_split_to_array_no_flags" => |cx, a| {
        array::of_builtin(oids::TEXT, &split_call(cx, a, "regexp_split_to_array()")?)
    },
}

builtins! { SETS;
    "regexp_matches" => Srf(matches_set),
    "regexp_matches_no_flags" => Srf(matches_set),
    "regexp_split_to_table" => Srf(|cx, a| {
        Ok(VecSource::boxed(split_call(cx, a, "regexp_split_to_table()")?))
    }),
    "regexp_split_to_table_no_flags" => Srf(|cx, a| {
        Ok(VecSource::boxed(split_call(cx, a, "regexp_split_to_table()")?))
    }),
}
