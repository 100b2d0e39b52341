//! Statements of a script, and what a client said after each of them. psql repeats each line of its input (`-a`) before it says
//! what became of it.

/// Lines of a script that belong together: a statement with the comments before it, or a command of psql.
#[derive(Debug, PartialEq)]
pub(super) struct Statement {
    pub lines: std::ops::Range<usize>,
}

/// What a scanner of SQL is within.
#[derive(Clone, PartialEq)]
enum Within {
    Nothing,
    /// A literal or a quoted name; with escapes by backslashes or without.
    Quote {
        mark: u8,
        escapes: bool,
    },
    Dollar(String),
    Comment(u32),
}

/// Scans line by line.
struct Scanner {
    within: Within,
    parens: u32,
    /// Depth of BEGIN ATOMIC … END in the body of a function.
    begins: u32,
    words: Vec<String>,
    /// Something of a statement has been seen that has not ended.
    open: bool,
}

impl Scanner {
    fn new() -> Scanner {
        Scanner { within: Within::Nothing, parens: 0, begins: 0, words: Vec::new(), open: false }
    }

    fn end(&mut self) {
        *self = Scanner::new();
    }

    fn word(&mut self, word: &str) {
        let word = word.to_ascii_lowercase();
        if self.words.len() < 4 {
            self.words.push(word.clone());
        }
        let routine = self.words.first().is_some_and(|w| w == "create")
            && self.words.iter().any(|w| w == "function" || w == "procedure");
        match word.as_str() {
            "begin" if routine => self.begins += 1,
            "case" if self.begins > 0 => self.begins += 1,
            "end" if self.begins > 0 => self.begins -= 1,
            _ => {}
        }
    }

    /// Does a statement end in this line?
    fn line(&mut self, line: &str) -> bool {
        let bytes = line.as_bytes();
        let mut ended = false;
        let mut i = 0;
        while i < bytes.len() {
            i += match self.within.clone() {
                Within::Nothing => self.plain(line, i, &mut ended),
                Within::Quote { mark, escapes } => {
                    if escapes && bytes[i] == b'\\' {
                        2
                    } else {
                        if bytes[i] == mark {
                            self.within = Within::Nothing;
                        }
                        1
                    }
                }
                Within::Dollar(tag) => {
                    if line[i..].starts_with(&tag) {
                        self.within = Within::Nothing;
                        tag.len()
                    } else {
                        width(line, i)
                    }
                }
                Within::Comment(depth) => {
                    let rest = &bytes[i..];
                    if rest.starts_with(b"*/") {
                        self.within =
                            if depth == 1 { Within::Nothing } else { Within::Comment(depth - 1) };
                        2
                    } else if rest.starts_with(b"/*") {
                        self.within = Within::Comment(depth + 1);
                        2
                    } else {
                        1
                    }
                }
            };
        }
        ended
    }

    /// Scans what begins at `i` outside of quotes and comments; its length.
    fn plain(&mut self, line: &str, i: usize, ended: &mut bool) -> usize {
        let bytes = line.as_bytes();
        let rest = &bytes[i..];
        if rest.starts_with(b"--") {
            return rest.len();
        }
        if rest.starts_with(b"/*") {
            self.within = Within::Comment(1);
            return 2;
        }
        let c = bytes[i];
        self.open |= !c.is_ascii_whitespace();
        match c {
            b'\'' | b'"' => {
                let before = i.checked_sub(1).map(|b| bytes[b].to_ascii_lowercase());
                let escapes = c == b'\'' && before == Some(b'e');
                self.within = Within::Quote { mark: c, escapes };
            }
            b'$' => {
                let tag = dollar_tag(&line[i..]);
                let in_word =
                    i > 0 && (bytes[i - 1].is_ascii_alphanumeric() || bytes[i - 1] == b'_');
                if let Some(tag) = tag.filter(|_| !in_word) {
                    let length = tag.len();
                    self.within = Within::Dollar(tag);
                    return length;
                }
            }
            b'(' => self.parens += 1,
            b')' => self.parens = self.parens.saturating_sub(1),
            b';' if self.parens == 0 && self.begins == 0 => {
                self.end();
                *ended = true;
            }
            // A command of psql ends the statement, or stands alone.
            b'\\' => {
                if !matches!(rest.get(1), Some(b';')) {
                    self.end();
                    *ended = true;
                    return rest.len();
                }
                return 2;
            }
            c if c.is_ascii_alphabetic() || c == b'_' => {
                let length =
                    rest.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
                // `e'…'` is a literal, whose quote is looked at next.
                self.word(&line[i..i + length]);
                return length;
            }
            _ => return width(line, i),
        }
        1
    }
}

/// Bytes of the character at `i`.
fn width(line: &str, i: usize) -> usize {
    line[i..].chars().next().map_or(1, char::len_utf8)
}

/// `$tag$` at the beginning of a text.
fn dollar_tag(text: &str) -> Option<String> {
    let end = text[1..].find('$')? + 1;
    let tag = &text[1..end];
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    let name = tag.chars().all(letter) && !tag.starts_with(|c: char| c.is_ascii_digit());
    name.then(|| text[..=end].to_owned())
}

/// The lines of a script as psql repeats them, without empty ones, and its statements.
pub(super) fn statements(script: &str) -> (Vec<&str>, Vec<Statement>) {
    let lines: Vec<&str> = script.lines().filter(|l| !l.trim().is_empty()).collect();
    let mut out = Vec::new();
    let mut scanner = Scanner::new();
    let mut first = 0;
    let mut copying = false;
    for (i, line) in lines.iter().enumerate() {
        if copying {
            // Rows of COPY belong to it.
            if line.trim_end() == "\\." {
                copying = false;
                out.push(Statement { lines: first..i + 1 });
                first = i + 1;
            }
            continue;
        }
        if !scanner.line(line) || scanner.open {
            continue;
        }
        let text = lines[first..=i].join(" ").to_ascii_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        let copy = words.iter().any(|w| *w == "copy" || *w == "\\copy");
        let from =
            words.windows(2).any(|w| w[0] == "from" && w[1].trim_end_matches(';') == "stdin");
        let data = lines[i + 1..].iter().take(5000).any(|l| l.trim_end() == "\\.");
        if copy && from && data {
            copying = true;
            continue;
        }
        out.push(Statement { lines: first..i + 1 });
        first = i + 1;
    }
    if first < lines.len() {
        out.push(Statement { lines: first..lines.len() });
    }
    (lines, out)
}

/// What was said after each statement: the output without the repeated lines, in the statements' order. Empty lines are left
/// out. A line of output that looks like the next line of the script counts as that one, on both servers alike.
pub(super) fn answers(lines: &[&str], statements: &[Statement], output: &str) -> Vec<Vec<String>> {
    let mut out = vec![Vec::new(); statements.len()];
    let (mut next, mut current) = (0, 0);
    for said in output.lines().filter(|l| !l.trim().is_empty()) {
        if lines.get(next) == Some(&said) {
            while statements.get(current).is_some_and(|s| s.lines.end <= next) {
                current += 1;
            }
            next += 1;
            continue;
        }
        if let Some(answer) = out.get_mut(current) {
            answer.push(said.to_owned());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(script: &str) -> Vec<String> {
        let (lines, statements) = statements(script);
        statements.iter().map(|s| lines[s.lines.clone()].join("\n")).collect()
    }

    #[test]
    fn statements_end_where_psql_ends_them() {
        let script = "-- one;\nSELECT 1;\n\nSELECT ';', $$a;\n;$$,\n  \"b;\" /* ; */ -- ;\n;\n\\d t\n\
                      SELECT 1\n\\gset\nCOPY t FROM stdin;\n1;\n\\.\nSELECT 2; SELECT 3;\n\
                      CREATE FUNCTION f() RETURNS int BEGIN ATOMIC\n SELECT CASE 1 WHEN 1 THEN 2 END;\nEND;\n\
                      CREATE RULE r AS ON INSERT TO t DO (SELECT 1;\n SELECT 2);\nSELECT E'a\\';\n' || $1;";
        assert_eq!(
            texts(script),
            [
                "-- one;\nSELECT 1;",
                "SELECT ';', $$a;\n;$$,\n  \"b;\" /* ; */ -- ;\n;",
                "\\d t",
                "SELECT 1\n\\gset",
                "COPY t FROM stdin;\n1;\n\\.",
                "SELECT 2; SELECT 3;",
                "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC\n SELECT CASE 1 WHEN 1 THEN 2 END;\nEND;",
                "CREATE RULE r AS ON INSERT TO t DO (SELECT 1;\n SELECT 2);",
                "SELECT E'a\\';\n' || $1;",
            ]
        );
    }

    #[test]
    fn answers_go_to_their_statements() {
        let (lines, statements) = statements("SELECT 1;\n-- two\nSELECT\n 2;\n\\q");
        let output = "SELECT 1;\n a\n---\n 1\n\n-- two\nSELECT\n 2;\nERROR:  no\n\\q\n";
        let found = answers(&lines, &statements, output);
        assert_eq!(found, [vec![" a", "---", " 1"], vec!["ERROR:  no"], vec![]]);
    }
}
