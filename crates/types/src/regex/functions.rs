//! The operators `~` and `~*` and the `regexp_*` functions. Counterpart: regexp.c.

use super::class::Ctype;
use super::syntax::{Flavor, Options, no_collation};
use super::tree::Spans;
use super::{Pattern, Search, compile};
use crate::collated;
use crate::string::case::{Letters, letters};
use ids::Oid;
use pgerror::{Result, pg_err};
use values::array::{TextArray, payload};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::function::{Builtin, SetSource, VecSource};
use values::limits::TextBuffer;
use values::settings::Encoding;
use values::{memory, oids};

/// The compiled pattern of the call site's last call.
struct Cached {
    source: Vec<u8>,
    options: Options,
    ctype: Ctype,
    pattern: Pattern,
}

/// Runs `f` with a search of the pattern in the text; the compiled pattern is cached for the call
/// site's next call.
fn search<T>(
    cx: &mut dyn FnContext,
    text: &[u8],
    source: &[u8],
    options: Options,
    f: impl FnOnce(&mut Search<'_>, usize) -> Result<T>,
) -> Result<T> {
    if cx.collation() == Oid::INVALID {
        return Err(no_collation());
    }
    let letters = letters(cx, "regexp")?;
    if matches!(&letters, Letters::Locale(locale) if !locale.is_deterministic()) {
        return Err(collated::nondeterministic("regular expressions"));
    }
    let ctype = Ctype::from(letters);
    let kept = cx.extra().take().and_then(|e| e.downcast::<Cached>().ok());
    let kept = kept.filter(|c| c.source == source && c.options == options && c.ctype == ctype);
    let mut cached = match kept {
        Some(c) => c,
        None => {
            let single_byte = cx.settings().encoding != Encoding::Utf8;
            let interrupts = || cx.check_interrupts();
            let pattern = compile(source, options, ctype.clone(), single_byte, &interrupts)?;
            Box::new(Cached { source: source.to_vec(), options, ctype, pattern })
        }
    };
    let done = {
        let interrupts = || cx.check_interrupts();
        let groups = cached.pattern.groups;
        f(&mut cached.pattern.on(text, &interrupts), groups)
    };
    *cx.extra() = Some(cached);
    done
}

fn flags(text: &[u8]) -> Result<Options> {
    let mut options = Options::default();
    for c in String::from_utf8_lossy(text).chars() {
        if c == 'g' {
            options.global = true;
        } else if c == 'e' {
            // PostgreSQL clears the bit of extended syntax that it has just set.
            options.flavor = Flavor::Basic;
        } else if !options.set(c) {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "invalid regular expression option: \"{c}\""
            ));
        }
    }
    Ok(options)
}

/// Parses the options of a function that does not accept `g`.
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
    options: Options,
    want: bool,
) -> Result<Datum> {
    search(cx, text, pattern, options, |s, _| Ok(Datum::bool(s.is_match()? == want)))
}

const SENSITIVE: Options = Options {
    flavor: Flavor::Advanced,
    ignore_case: false,
    newline_stop: false,
    newline_anchor: false,
    expanded: false,
    global: false,
};
const INSENSITIVE: Options = Options { ignore_case: true, ..SENSITIVE };

/// Calls `f` with each match from byte `from` until it returns false. For splitting, matches that
/// are empty at either end of the text or directly after another match are ignored.
fn each_match(
    s: &mut Search<'_>,
    from: usize,
    split: bool,
    mut f: impl FnMut(Spans) -> bool,
) -> Result<()> {
    let len = s.len();
    let (mut at, mut last_end) = (from, from);
    let mut matches = 0u32;
    while at <= len
        && let Some(spans) = s.find(at)?
    {
        matches = matches.wrapping_add(1);
        if matches.is_multiple_of(1024) {
            s.work.check()?;
        }
        let (start, end) = spans[0].unwrap_or((at, at));
        if (!split || (start < len && end > last_end)) && !f(spans) {
            break;
        }
        last_end = end;
        at = if start != end {
            end
        } else if end >= len {
            break;
        } else {
            s.next(end)
        };
    }
    Ok(())
}

fn all_matches(s: &mut Search<'_>, from: usize, global: bool, split: bool) -> Result<Vec<Spans>> {
    let (mut out, mut room) = (Vec::new(), Ok(()));
    each_match(s, from, split, |m| {
        room = memory::reserve(&mut out, 1);
        if room.is_ok() {
            out.push(m);
            room = memory::check();
        }
        global && room.is_ok()
    })?;
    room.map(|()| out)
}

fn piece(text: &[u8], span: Option<(usize, usize)>) -> Datum {
    span.map_or(Datum::Null, |(s, e)| Datum::bytes(&text[s..e]))
}

/// The groups of a match as text[]; without groups the whole match.
fn match_array(text: &[u8], spans: &Spans) -> Result<Datum> {
    let from = if spans.len() > 1 { 1 } else { 0 };
    let parts: Vec<Datum> = spans[from..].iter().map(|s| piece(text, *s)).collect();
    payload::of_builtin(oids::TEXT, &parts)
}

fn split<'a>(
    text: &'a [u8],
    matches: &[Spans],
    interrupts: &dyn Fn() -> Result<()>,
) -> Result<Vec<&'a [u8]>> {
    let mut out = memory::with_capacity(matches.len() + 1)?;
    let mut at = 0;
    for (i, m) in matches.iter().enumerate() {
        if i % 1024 == 0 {
            interrupts()?;
        }
        let (start, end) = m[0].unwrap_or((at, at));
        out.push(&text[at..start]);
        at = end;
    }
    out.push(&text[at..]);
    Ok(out)
}

/// Appends the replacement with `\1`, `\&` and `\\` substituted.
fn append_replacement(out: &mut TextBuffer, replacement: &[u8], text: &[u8], spans: &Spans) {
    let mut rest = replacement;
    while let Some(at) = rest.iter().position(|&b| b == b'\\') {
        out.extend_from_slice(&rest[..at]);
        let Some(&c) = rest.get(at + 1) else {
            rest = &rest[at..];
            break;
        };
        let group = match c {
            b'&' => Some(0),
            b'1'..=b'9' => Some(usize::from(c - b'0')),
            _ => None,
        };
        match group {
            Some(g) => {
                if let Some((s, e)) = spans.get(g).copied().flatten() {
                    out.extend_from_slice(&text[s..e]);
                }
            }
            None if c == b'\\' => out.push(c),
            None => out.extend_from_slice(&[b'\\', c]),
        }
        rest = &rest[at + 2..];
    }
    out.extend_from_slice(rest);
}

/// Number of result bytes between two checks for interrupts.
const PART_BYTES: usize = 64 << 10;

/// Replaces the `n`th match (0: every match) from byte `from`.
fn replace(
    s: &mut Search<'_>,
    text: &[u8],
    replacement: &[u8],
    from: usize,
    n: i32,
) -> Result<Datum> {
    let mut out = TextBuffer::with_capacity(text.len());
    let (mut copied, mut count) = (0, 0);
    let mut looked_at = 0;
    let mut interrupt = Ok(());
    let interrupts = s.work.interrupts;
    each_match(s, from, false, |spans| {
        // Replacements may be much longer than the replaced text.
        if out.len() - looked_at > PART_BYTES {
            looked_at = out.len();
            interrupt = interrupts();
        }
        let (start, end) = spans[0].unwrap_or((copied, copied));
        count += 1;
        if n == 0 || count == n {
            out.extend_from_slice(&text[copied..start]);
            append_replacement(&mut out, replacement, text, &spans);
            copied = end;
        }
        (n == 0 || count < n) && out.check().is_ok() && interrupt.is_ok()
    })?;
    interrupt?;
    out.extend_from_slice(&text[copied..]);
    out.into_datum()
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

/// Byte offset of the 1-based character `start`; `None` beyond the end.
fn start_at(s: &Search<'_>, start: i32) -> Option<usize> {
    let mut at = 0;
    for _ in 1..start {
        if at >= s.len() {
            return None;
        }
        at = s.next(at);
    }
    Some(at)
}

fn count(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let start = positive(a, 2, "start", 1, 1)?;
    let options = local_flags(a, 3, "regexp_count()")?;
    search(cx, a[0].as_bytes(), a[1].as_bytes(), options, |s, _| {
        let mut n = 0;
        if let Some(at) = start_at(s, start) {
            each_match(s, at, false, |_| {
                n += 1;
                true
            })?;
        }
        Ok(Datum::int4(n))
    })
}

/// The `n`th match from `start` on.
fn nth_match(s: &mut Search<'_>, start: i32, n: i32) -> Result<Option<Spans>> {
    let Some(at) = start_at(s, start) else { return Ok(None) };
    let (mut count, mut found) = (0, None);
    each_match(s, at, false, |m| {
        count += 1;
        if count == n {
            found = Some(m);
        }
        count < n
    })?;
    Ok(found)
}

/// The index of the span for parameter `subexpr`; `None` if the pattern has fewer groups. In a
/// pattern without groups, the whole match counts as its only group.
fn span_of(subexpr: usize, groups: usize) -> Option<usize> {
    match (subexpr, groups) {
        (1, 0) => Some(0),
        _ => (subexpr <= groups).then_some(subexpr),
    }
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
    let group = positive(a, 6, "subexpr", 0, 0)? as usize;
    let options = local_flags(a, 5, "regexp_instr()")?;
    search(cx, a[0].as_bytes(), a[1].as_bytes(), options, |s, groups| {
        let Some(group) = span_of(group, groups) else { return Ok(Datum::int4(0)) };
        let span = nth_match(s, start, n)?.and_then(|m| m[group]);
        let Some((from, to)) = span else { return Ok(Datum::int4(0)) };
        let end = if end_option == 1 { to } else { from };
        let (mut at, mut number) = (0, 1);
        while at < end {
            at = s.next(at);
            number += 1;
        }
        Ok(Datum::int4(number))
    })
}

fn substr(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let start = positive(a, 2, "start", 1, 1)?;
    let n = positive(a, 3, "n", 1, 1)?;
    let group = positive(a, 5, "subexpr", 0, 0)? as usize;
    let options = local_flags(a, 4, "regexp_substr()")?;
    let text = a[0].as_bytes();
    search(cx, text, a[1].as_bytes(), options, |s, groups| {
        let Some(group) = span_of(group, groups) else { return Ok(Datum::Null) };
        Ok(nth_match(s, start, n)?.map_or(Datum::Null, |m| piece(text, m[group])))
    })
}

fn replace_with(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'_>],
    options: Options,
    start: i32,
    n: i32,
) -> Result<Datum> {
    let text = a[0].as_bytes();
    search(cx, text, a[1].as_bytes(), options, |s, _| match start_at(s, start) {
        Some(at) => replace(s, text, a[2].as_bytes(), at, n),
        None => Ok(a[0].to_owned()),
    })
}

fn replace_extended(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let start = positive(a, 3, "start", 1, 1)?;
    let n = positive(a, 4, "n", 1, 0)?;
    let options = a.get(5).map_or(Ok(Options::default()), |f| flags(f.as_bytes()))?;
    let n = if a.len() < 5 && options.global { 0 } else { n };
    replace_with(cx, a, options, start, n)
}

fn split_call<'a>(cx: &mut dyn FnContext, a: &[DatumRef<'a>], name: &str) -> Result<Vec<&'a [u8]>> {
    let options = local_flags(a, 2, name)?;
    let text = a[0].as_bytes();
    search(cx, text, a[1].as_bytes(), options, |s, _| {
        let found = all_matches(s, 0, true, true)?;
        split(text, &found, s.work.interrupts)
    })
}

fn split_to_array(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let mut out = TextArray::default();
    for part in split_call(cx, a, "regexp_split_to_array()")? {
        out.push(Some(part), cx)?;
    }
    out.finish()
}

fn split_to_rows(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Box<dyn SetSource>> {
    let (mut out, mut ticker) = (Vec::new(), InterruptTicker::default());
    for part in split_call(cx, a, "regexp_split_to_table()")? {
        ticker.tick(cx)?;
        out.push(Datum::bytes(part));
    }
    Ok(VecSource::boxed(out))
}

fn matches_set(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Box<dyn SetSource>> {
    let options = a.get(2).map_or(Ok(Options::default()), |f| flags(f.as_bytes()))?;
    let text = a[0].as_bytes();
    search(cx, text, a[1].as_bytes(), options, |s, _| {
        let found = all_matches(s, 0, options.global, false)?;
        let mut rows = memory::with_capacity(found.len())?;
        for (i, m) in found.iter().enumerate() {
            if i % 1024 == 0 {
                (s.work.interrupts)()?;
            }
            rows.push(match_array(text, m)?);
        }
        Ok(VecSource::boxed(rows))
    })
}

fn first_match(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let options = local_flags(a, 2, "regexp_match()")?;
    let text = a[0].as_bytes();
    search(cx, text, a[1].as_bytes(), options, |s, _| {
        s.find(0)?.map_or(Ok(Datum::Null), |m| match_array(text, &m))
    })
}

scalars! { FNS;
    "textregexeq" => |cx, a| matched(cx, a[0].as_bytes(), a[1].as_bytes(), SENSITIVE, true),
    "textregexne" => |cx, a| matched(cx, a[0].as_bytes(), a[1].as_bytes(), SENSITIVE, false),
    "texticregexeq" => |cx, a| matched(cx, a[0].as_bytes(), a[1].as_bytes(), INSENSITIVE, true),
    "texticregexne" => |cx, a| matched(cx, a[0].as_bytes(), a[1].as_bytes(), INSENSITIVE, false),
    "nameregexeq" => |cx, a| matched(cx, a[0].as_name(), a[1].as_bytes(), SENSITIVE, true),
    "nameregexne" => |cx, a| matched(cx, a[0].as_name(), a[1].as_bytes(), SENSITIVE, false),
    "nameicregexeq" => |cx, a| matched(cx, a[0].as_name(), a[1].as_bytes(), INSENSITIVE, true),
    "nameicregexne" => |cx, a| matched(cx, a[0].as_name(), a[1].as_bytes(), INSENSITIVE, false),
    "textregexsubstr" => |cx, a| {
        let text = a[0].as_bytes();
        search(cx, text, a[1].as_bytes(), SENSITIVE, |s, groups| {
            Ok(s.find(0)?.map_or(Datum::Null, |m| piece(text, m[groups.min(1)])))
        })
    },
    "textregexreplace_noopt" => |cx, a| replace_with(cx, a, SENSITIVE, 1, 1),
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
        replace_with(cx, a, options, 1, if options.global { 0 } else { 1 })
    },
    "textregexreplace_extended" => |cx, a| replace_extended(cx, a),
    "textregexreplace_extended_no_n" => |cx, a| replace_extended(cx, a),
    "textregexreplace_extended_no_flags" => |cx, a| replace_extended(cx, a),
    "regexp_like" => |cx, a| {
        let options = local_flags(a, 2, "regexp_like()")?;
        matched(cx, a[0].as_bytes(), a[1].as_bytes(), options, true)
    },
    "regexp_like_no_flags" => |cx, a| {
        matched(cx, a[0].as_bytes(), a[1].as_bytes(), SENSITIVE, true)
    },
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
    "regexp_split_to_array" => |cx, a| split_to_array(cx, a),
    "regexp_split_to_array_no_flags" => |cx, a| split_to_array(cx, a),
}

builtins! { SETS;
    "regexp_matches" => Srf(matches_set),
    "regexp_matches_no_flags" => Srf(matches_set),
    "regexp_split_to_table" => Srf(split_to_rows),
    "regexp_split_to_table_no_flags" => Srf(split_to_rows),
}

/// The function tables of the module.
pub(crate) const TABLES: &[&[Builtin]] = &[FNS, SETS];
