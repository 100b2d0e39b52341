//! Analysis of LIKE patterns and regular expressions: the fixed prefix of matching strings, and the
//! selectivity of the rest of the pattern. Counterpart: like_support.c.

/// Kinds of patterns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PatternKind {
    Like,
    ILike,
    Regex,
    IRegex,
    /// The pattern is the prefix itself (operator `^@`).
    Prefix,
}

/// Result of the analysis of a pattern.
#[derive(Clone, PartialEq, Debug)]
pub struct Matches {
    /// The fixed prefix of matching strings; empty if there is none.
    pub prefix: Vec<u8>,
    /// Only the prefix itself matches.
    pub whole: bool,
    /// Fraction of the strings with the prefix that match.
    pub rest: f64,
}

/// Selectivity factors of the parts of a pattern.
const FIXED_CHAR: f64 = 0.20;
const CHAR_RANGE: f64 = 0.25;
const ANY_CHAR: f64 = 0.9;
const FULL_WILDCARD: f64 = 5.0;
const PARTIAL_WILDCARD: f64 = 2.0;

impl PatternKind {
    /// The kind of pattern by the name of the operator's estimator, and whether the operator is a
    /// negated match.
    pub fn of_estimator(name: &str) -> Option<(PatternKind, bool)> {
        Some(match name {
            "likesel" => (PatternKind::Like, false),
            "nlikesel" => (PatternKind::Like, true),
            "iclikesel" => (PatternKind::ILike, false),
            "icnlikesel" => (PatternKind::ILike, true),
            "regexeqsel" => (PatternKind::Regex, false),
            "regexnesel" => (PatternKind::Regex, true),
            "icregexeqsel" => (PatternKind::IRegex, false),
            "icregexnesel" => (PatternKind::IRegex, true),
            "prefixsel" => (PatternKind::Prefix, false),
            _ => return None,
        })
    }

    pub fn matches(self, pattern: &[u8]) -> Matches {
        let ignore_case = matches!(self, PatternKind::ILike | PatternKind::IRegex);
        match self {
            PatternKind::Like | PatternKind::ILike => like_matches(pattern, ignore_case),
            PatternKind::Regex | PatternKind::IRegex => regex_matches(pattern, ignore_case),
            PatternKind::Prefix => Matches { prefix: pattern.to_vec(), whole: false, rest: 1.0 },
        }
    }
}

/// True if the byte may belong to a character with case.
fn has_case(c: u8) -> bool {
    c.is_ascii_alphabetic() || c >= 0x80
}

fn like_matches(pattern: &[u8], ignore_case: bool) -> Matches {
    let mut prefix = Vec::new();
    let mut at = 0;
    while let Some(&c) = pattern.get(at) {
        let literal = match c {
            b'%' | b'_' => break,
            // A backslash at the end is an error when the pattern is matched; here it is ignored.
            b'\\' => match pattern.get(at + 1) {
                Some(&next) => next,
                None => {
                    at += 1;
                    break;
                }
            },
            c => c,
        };
        if ignore_case && has_case(literal) {
            break;
        }
        at += if c == b'\\' { 2 } else { 1 };
        prefix.push(literal);
    }
    let whole = at == pattern.len();
    Matches { prefix, whole, rest: if whole { 1.0 } else { like_selectivity(&pattern[at..]) } }
}

fn like_selectivity(rest: &[u8]) -> f64 {
    let mut selectivity: f64 = 1.0;
    // Leading wildcards are ignored: they are already accounted for.
    let mut chars = rest.iter().skip_while(|c| matches!(c, b'%' | b'_'));
    while let Some(c) = chars.next() {
        selectivity *= match c {
            b'%' => FULL_WILDCARD,
            b'_' => ANY_CHAR,
            b'\\' => {
                chars.next();
                FIXED_CHAR
            }
            _ => FIXED_CHAR,
        };
    }
    selectivity.min(1.0)
}

fn regex_matches(pattern: &[u8], ignore_case: bool) -> Matches {
    let mut walk = PrefixWalk { pattern, at: 1, ignore_case, prefix: Vec::new() };
    let anchored = pattern.first() == Some(&b'^') && !has_branches(&pattern[1..]);
    let end = if anchored { walk.sequence() } else { End::Unknown };
    let (prefix, whole) = (walk.prefix, end == End::Whole);
    if prefix.is_empty() && !whole {
        return Matches { rest: regex_selectivity(pattern, 0), prefix, whole };
    }
    let rest = if whole { 1.0 } else { regex_selectivity(pattern, prefix.len()) };
    Matches { prefix, whole, rest }
}

/// True if the regular expression has alternatives at its top level.
fn has_branches(pattern: &[u8]) -> bool {
    let (mut depth, mut at) = (0i32, 0);
    while let Some(&c) = pattern.get(at) {
        match c {
            b'\\' => at += 1,
            b'[' => at = end_of_class(pattern, at),
            b'(' => depth += 1,
            b')' => depth -= 1,
            b'|' if depth == 0 => return true,
            _ => {}
        }
        at += 1;
    }
    false
}

/// Offset of the bracket that closes the bracket expression at `at`.
fn end_of_class(pattern: &[u8], at: usize) -> usize {
    let mut i = at + 1;
    if pattern.get(i) == Some(&b'^') {
        i += 1;
    }
    // As the first member, `]` is literal.
    if pattern.get(i) == Some(&b']') {
        i += 1;
    }
    while pattern.get(i).is_some_and(|&c| c != b']') {
        i += 1;
    }
    i
}

/// Reason why the search for the fixed prefix ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// End of the sequence, which is fixed; the string may continue.
    Open,
    /// End of the string (`$`).
    Whole,
    /// Something that is not fixed.
    Unknown,
}

/// Finds the fixed prefix of an anchored regular expression.
struct PrefixWalk<'p> {
    pattern: &'p [u8],
    at: usize,
    ignore_case: bool,
    prefix: Vec<u8>,
}

impl PrefixWalk<'_> {
    fn peek(&self) -> Option<u8> {
        self.pattern.get(self.at).copied()
    }

    /// Reads to the end of the pattern, or to the parenthesis that closes the group.
    fn sequence(&mut self) -> End {
        while let Some(c) = self.peek() {
            let start = self.prefix.len();
            match c {
                b')' => return End::Open,
                b'$' if self.at + 1 == self.pattern.len() => return End::Whole,
                b'(' => match self.group(start) {
                    End::Open => {}
                    end => return end,
                },
                b'\\' => match self.pattern.get(self.at + 1) {
                    Some(&next) if !next.is_ascii_alphanumeric() && next < 0x80 => {
                        self.prefix.push(next);
                        self.at += 2;
                    }
                    _ => return End::Unknown,
                },
                b'.' | b'[' | b'*' | b'+' | b'?' | b'{' | b'^' | b'$' | b'|' => {
                    return End::Unknown;
                }
                c if self.ignore_case && has_case(c) => return End::Unknown,
                _ => self.character(),
            }
            if !self.once(start) {
                return End::Unknown;
            }
        }
        End::Open
    }

    /// Reads one character, which may have several bytes.
    fn character(&mut self) {
        loop {
            self.prefix.extend(self.peek());
            self.at += 1;
            if self.peek().is_none_or(|c| c & 0xC0 != 0x80) {
                return;
            }
        }
    }

    /// Reads a group; the prefix has `start` bytes before it.
    fn group(&mut self, start: usize) -> End {
        let Some(close) = self.closing() else { return End::Unknown };
        let mut open = self.at + 1;
        if self.pattern[open..].starts_with(b"?:") {
            open += 2;
        } else if self.pattern.get(open) == Some(&b'?') {
            return End::Unknown;
        }
        if has_branches(&self.pattern[open..close]) {
            return End::Unknown;
        }
        self.at = open;
        let end = self.sequence();
        self.at = close + 1;
        if end == End::Unknown {
            // An optional group adds nothing to the prefix.
            self.once(start);
        }
        end
    }

    /// Offset of the parenthesis that closes the current one.
    fn closing(&self) -> Option<usize> {
        let (mut depth, mut i) = (0, self.at);
        while let Some(&c) = self.pattern.get(i) {
            match c {
                b'\\' => i += 1,
                b'[' => i = end_of_class(self.pattern, i),
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(i);
                    }
                }
                _ => {}
            }
            i += 1;
        }
        None
    }

    /// True if the atom just read occurs exactly once. Otherwise reduces its part of the prefix,
    /// which begins at `start`, to what is certain.
    fn once(&mut self, start: usize) -> bool {
        match self.peek() {
            Some(b'*' | b'?') => {
                self.prefix.truncate(start);
                false
            }
            Some(b'+') => false,
            Some(b'{') => {
                if self.pattern.get(self.at + 1).is_none_or(|&c| c == b'0' || c == b',') {
                    self.prefix.truncate(start);
                }
                false
            }
            _ => true,
        }
    }
}

/// Fraction of the strings with the fixed prefix, of length `prefix`, that match.
fn regex_selectivity(pattern: &[u8], prefix: usize) -> f64 {
    let anchored = pattern.last() == Some(&b'$') && pattern.iter().rev().nth(1) != Some(&b'\\');
    let mut selectivity = if anchored {
        branches_selectivity(&pattern[..pattern.len() - 1])
    } else {
        branches_selectivity(pattern) * FULL_WILDCARD
    };
    if prefix > 0 {
        selectivity /=
            FIXED_CHAR.powi(i32::try_from(prefix).unwrap_or(i32::MAX)).max(f64::MIN_POSITIVE);
    }
    selectivity.clamp(0.0, 1.0)
}

/// Selectivity of a regular expression: the sum over alternatives, the product over a sequence.
fn branches_selectivity(pattern: &[u8]) -> f64 {
    let mut selectivity = 1.0;
    let (mut depth, mut start, mut at) = (0, 0, 0);
    while let Some(&c) = pattern.get(at) {
        match c {
            b'(' => {
                if depth == 0 {
                    start = at + 1;
                }
                depth += 1;
            }
            b')' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    selectivity *= stdx::stack::deep(|| branches_selectivity(&pattern[start..at]));
                }
            }
            b'|' if depth == 0 => {
                return selectivity
                    + stdx::stack::deep(|| branches_selectivity(&pattern[at + 1..]));
            }
            b'[' => {
                let negated = pattern.get(at + 1) == Some(&b'^');
                at = end_of_class(pattern, at);
                if depth == 0 {
                    selectivity *= if negated { 1.0 - CHAR_RANGE } else { CHAR_RANGE };
                }
            }
            b'.' if depth == 0 => selectivity *= ANY_CHAR,
            b'*' | b'?' | b'+' if depth == 0 => selectivity *= PARTIAL_WILDCARD,
            b'{' => {
                at += pattern[at..].iter().position(|&c| c == b'}').unwrap_or(pattern.len() - at);
                if depth == 0 {
                    selectivity *= PARTIAL_WILDCARD;
                }
            }
            b'\\' => {
                at += 1;
                if depth == 0 {
                    selectivity *= FIXED_CHAR;
                }
            }
            _ if depth == 0 => selectivity *= FIXED_CHAR,
            _ => {}
        }
        at += 1;
    }
    if depth > 0 && start <= pattern.len() {
        selectivity *= branches_selectivity(&pattern[start..]);
    }
    selectivity.min(1.0)
}

/// The smallest string, in byte order, that is greater than all strings with the prefix.
/// Counterpart: `make_greater_string`.
pub fn next_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut out = prefix.to_vec();
    while let Some(&last) = out.last() {
        if last < 0x7e {
            *out.last_mut()? += 1;
            return Some(out);
        }
        // Remove a character without a simple successor, and increment the one before it.
        while let Some(c) = out.pop() {
            if c & 0xC0 != 0x80 {
                break;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: PatternKind, pattern: &str) -> (String, bool) {
        let m = kind.matches(pattern.as_bytes());
        (String::from_utf8(m.prefix).unwrap(), m.whole)
    }

    #[test]
    fn prefixes_of_like() {
        let like = |p: &str| found(PatternKind::Like, p);
        assert_eq!(like("abc%"), ("abc".into(), false));
        assert_eq!(like("a\\%b_c"), ("a%b".into(), false));
        assert_eq!(like("abc"), ("abc".into(), true));
        assert_eq!(like("abc\\"), ("abc".into(), true));
        let ilike = |p: &str| found(PatternKind::ILike, p);
        assert_eq!(ilike("12-a%"), ("12-".into(), false));
        assert_eq!(ilike("a1%"), (String::new(), false));
        assert_eq!(ilike("123"), ("123".into(), true));
        assert_eq!(ilike("1\\a2"), ("1".into(), false));
    }

    #[test]
    fn prefixes_of_regular_expressions() {
        let regex = |p: &str| found(PatternKind::Regex, p);
        for (pattern, prefix, whole) in [
            ("^(foo)$", "foo", true),
            ("^foo", "foo", false),
            ("^foo*", "fo", false),
            ("^foo+x", "foo", false),
            ("^foo{2}", "foo", false),
            ("^foo{0,1}", "fo", false),
            ("^foo|bar", "", false),
            ("^(a|b)$", "", false),
            ("^x(a|b)$", "x", false),
            ("^(abc)", "abc", false),
            ("^(abc)d", "abcd", false),
            ("^(abc)?d", "", false),
            ("^a(bc)*d", "a", false),
            ("^a(b(c))d$", "abcd", true),
            ("^(?:ab)c", "abc", false),
            ("^a\\.b", "a.b", false),
            ("^a\\d", "a", false),
            ("^a[bc]", "a", false),
            ("^a(b.)*c", "a", false),
            ("^é?", "", false),
            ("foo", "", false),
            ("^", "", false),
            ("^$", "", true),
        ] {
            assert_eq!(regex(pattern), (prefix.into(), whole), "{pattern}");
        }
        assert_eq!(found(PatternKind::IRegex, "^12a"), ("12".into(), false));
    }

    #[test]
    fn successors() {
        assert_eq!(next_prefix(b"abc").unwrap(), b"abd");
        assert_eq!(next_prefix("ab\u{e9}".as_bytes()).unwrap(), b"ac");
        assert_eq!(next_prefix("\u{e9}".as_bytes()), None);
    }

    #[test]
    fn selectivities() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(like_selectivity(b"%abc%"), 0.2 * 0.2 * 0.2 * 5.0);
        close(like_selectivity(b"%"), 1.0);
        close(regex_selectivity(b"^ab", 2), 1.0);
        close(regex_selectivity(b"a[xy]b", 0), 0.2 * 0.25 * 0.2 * 5.0);
    }
}
