//! Patterns of `like_regex`: PostgreSQL's regular expressions with the flags of XQuery.

use crate::regex::{self, Ctype, Flavor, Options};
use crate::string::case::Letters;
use jsonpath::PatternFlags;
use pgerror::{Result, pg_err};
use values::fn_context::FnContext;
use values::settings::Encoding;

/// Compiled patterns kept at most.
const PATTERNS_MAX: usize = 16;

/// The compiled patterns of a call site.
#[derive(Default)]
pub(super) struct Patterns(Vec<Compiled>);

struct Compiled {
    source: Vec<u8>,
    flags: PatternFlags,
    ctype: Ctype,
    pattern: regex::Pattern,
}

/// The options that the flags mean; 0A000 for `x`.
fn options(flags: PatternFlags) -> Result<Options> {
    let ignore_case = flags.has(PatternFlags::IGNORE_CASE);
    if flags.has(PatternFlags::QUOTE) {
        // The other flags are ignored.
        return Ok(Options { flavor: Flavor::Literal, ignore_case, ..Options::default() });
    }
    if flags.has(PatternFlags::EXPANDED) {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "XQuery \"x\" flag (expanded regular expressions) is not implemented"
        ));
    }
    Ok(Options {
        ignore_case,
        newline_stop: !flags.has(PatternFlags::DOT_ALL),
        newline_anchor: flags.has(PatternFlags::MULTI_LINE),
        ..Options::default()
    })
}

/// The letters of the default collation.
fn ctype(cx: &dyn FnContext) -> Ctype {
    Ctype::from(Letters::of_database(cx.settings()))
}

fn compiled(cx: &dyn FnContext, source: &[u8], flags: PatternFlags) -> Result<regex::Pattern> {
    let options = options(flags)?;
    let single_byte = cx.settings().encoding != Encoding::Utf8;
    regex::compile(source, options, ctype(cx), single_byte, &|| cx.check_interrupts())
}

/// 2201B if a pattern is not valid.
pub(super) fn check(cx: &dyn FnContext, source: &[u8], flags: PatternFlags) -> Result<()> {
    compiled(cx, source, flags).map(|_| ())
}

impl Patterns {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a pattern matches anywhere in a text.
    pub fn matches(
        &mut self,
        cx: &dyn FnContext,
        source: &[u8],
        flags: PatternFlags,
        text: &[u8],
    ) -> Result<bool> {
        let ctype = ctype(cx);
        let same = |c: &Compiled| c.source == source && c.flags == flags && c.ctype == ctype;
        let at = match self.0.iter().position(same) {
            Some(at) => at,
            None => {
                let pattern = compiled(cx, source, flags)?;
                if self.0.len() == PATTERNS_MAX {
                    self.0.remove(0);
                }
                self.0.push(Compiled { source: source.to_vec(), flags, ctype, pattern });
                self.0.len() - 1
            }
        };
        self.0[at].pattern.on(text, &|| cx.check_interrupts()).is_match()
    }
}
