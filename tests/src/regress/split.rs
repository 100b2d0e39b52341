//! Splits a script into statements (a statement with the comments before it, or a psql command),
//! and the output of a client into the answers to them. The script is run with a marker after each
//! statement, so that no line of a result can be mistaken for a statement.

use std::ops::Range;

/// The lexical context of the scanner.
#[derive(Clone, PartialEq)]
enum Within {
    Nothing,
    /// A literal or a quoted identifier, with or without backslash escapes.
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
    /// Nesting depth of BEGIN ATOMIC … END in a function body.
    begins: u32,
    words: Vec<String>,
    /// A statement has begun and not ended.
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

    /// Returns true if a statement ends in this line.
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

    /// Scans the token at `i` outside of quotes and comments; returns its length.
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
            // A psql command ends the statement, or is a statement of its own.
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
                // The prefix of `e'…'`; its quote is the next token.
                self.word(&line[i..i + length]);
                return length;
            }
            _ => return width(line, i),
        }
        1
    }
}

/// Length in bytes of the character at `i`.
fn width(line: &str, i: usize) -> usize {
    line[i..].chars().next().map_or(1, char::len_utf8)
}

/// The dollar-quote tag at the start of the text.
fn dollar_tag(text: &str) -> Option<String> {
    let end = text[1..].find('$')? + 1;
    let tag = &text[1..end];
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    let name = tag.chars().all(letter) && !tag.starts_with(|c: char| c.is_ascii_digit());
    name.then(|| text[..=end].to_owned())
}

/// The statements of a script as ranges of lines, which together are the whole script.
fn ranges(lines: &[&str]) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut scanner = Scanner::new();
    let mut first = 0;
    let mut copying = false;
    for (i, line) in lines.iter().enumerate() {
        if copying {
            // Rows of COPY belong to its statement.
            if line.trim_end() == ROWS_END {
                copying = false;
                out.push(first..i + 1);
                first = i + 1;
            }
            continue;
        }
        if !scanner.line(line) || scanner.open {
            continue;
        }
        if takes_rows(&lines[first..=i], &lines[i + 1..]) {
            copying = true;
            continue;
        }
        out.push(first..i + 1);
        first = i + 1;
    }
    if first < lines.len() {
        out.push(first..lines.len());
    }
    out
}

/// True if the statement is a COPY FROM STDIN.
fn is_copy(statement: &str) -> bool {
    let text = statement.to_ascii_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let copy = words.iter().any(|w| *w == "copy" || *w == "\\copy");
    let source = |word: &str| ["stdin", "stdout"].contains(&word.trim_end_matches(';'));
    copy && words.windows(2).any(|w| w[0] == "from" && source(w[1]))
}

/// True if the statement is a COPY with rows in the script. A COPY that is expected to fail may
/// have none: then another COPY follows before the end-of-data line.
fn takes_rows(statement: &[&str], behind: &[&str]) -> bool {
    let end = behind.iter().position(|l| l.trim_end() == ROWS_END);
    let rows = end.map(|end| &behind[..end]);
    is_copy(&statement.join(" ")) && rows.is_some_and(|rows| !rows.iter().any(|l| is_copy(l)))
}

/// The line after the rows of a COPY.
const ROWS_END: &str = r"\.";

/// The prefix of the marker line that psql prints after each statement; the statement's number
/// follows.
const MARK: &str = "#answered ";

/// A script whose statements can be distinguished in a client's output.
pub(super) struct Script {
    pub statements: Vec<String>,
    /// The script with a psql command after each statement that prints the statement's number.
    pub marked: String,
}

impl Script {
    pub(super) fn new(text: &str) -> Script {
        let lines: Vec<&str> = text.lines().collect();
        let (mut statements, mut marked) = (Vec::new(), String::new());
        for (n, range) in ranges(&lines).into_iter().enumerate() {
            let lines = &lines[range];
            for line in lines {
                // Only answers must be printed.
                let quiet = line.trim() == r"\set ECHO all";
                marked.push_str(if quiet { r"\set ECHO none" } else { line });
                marked.push('\n');
            }
            if is_copy(&lines.join(" ")) && lines.last().is_none_or(|l| l.trim_end() != ROWS_END) {
                // Recent minor releases of psql skip lines that may be rows of a failed COPY.
                marked.push_str(&format!("{ROWS_END}\n"));
            }
            marked.push_str(&format!("\\echo '{MARK}{n}'\n"));
            let full: Vec<&str> = lines.iter().filter(|l| !l.trim().is_empty()).copied().collect();
            statements.push(full.join("\n"));
        }
        Script { statements, marked }
    }

    /// The client's output for each statement of the marked script, without empty lines. `None` for
    /// a statement that the client skipped (`\if`, `\quit`) or did not reach.
    pub(super) fn answers(&self, said: &str) -> Vec<Option<Vec<String>>> {
        let mut out = vec![None; self.statements.len()];
        let mut answer = Vec::new();
        let mut last = 0;
        for line in said.lines().filter(|l| !l.trim().is_empty()) {
            // The output of a statement may end without a line break (COPY TO STDOUT of such a
            // row), so that the marker is not at the start of the line.
            let number =
                line.rfind(MARK).and_then(|at| Some((at, line[at + MARK.len()..].parse().ok()?)));
            let Some((at, number)) = number.filter(|(_, n): &(usize, usize)| *n < out.len()) else {
                answer.push(line.to_owned());
                continue;
            };
            if at > 0 {
                answer.push(line[..at].to_owned());
            }
            out[number] = Some(std::mem::take(&mut answer));
            last = number + 1;
        }
        // Output at the end of the client: a lost connection, or the time limit.
        if let (false, Some(next)) = (answer.is_empty(), out.get_mut(last)) {
            *next = Some(answer);
        }
        out
    }

    /// The client's output, with each statement before its answer.
    pub(super) fn transcript(&self, said: &str) -> String {
        let answers = self.statements.iter().zip(self.answers(said));
        let transcript = answers.filter_map(|(s, a)| Some(format!("{s}\n{}\n", a?.join("\n"))));
        transcript.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_where_psql_ends_them() {
        let script = "-- one;\nSELECT 1;\n\nSELECT ';', $$a;\n;$$,\n  \"b;\" /* ; \
                      */ -- ;\n;\n\\d t\n\
                      SELECT 1\n\\gset\nCOPY t FROM stdin;\n1;\n\\.\nSELECT 2; SELECT 3;\n\
                      CREATE FUNCTION f() RETURNS int BEGIN ATOMIC\n SELECT CASE 1 \
                      WHEN 1 THEN 2 END;\nEND;\n\
                      CREATE RULE r AS ON INSERT TO t DO (SELECT 1;\n \
                      SELECT 2);\nSELECT E'a\\';\n' || $1;";
        assert_eq!(
            Script::new(script).statements,
            [
                "-- one;\nSELECT 1;",
                "SELECT ';', $$a;\n;$$,\n  \"b;\" /* ; */ -- ;\n;",
                "\\d t",
                "SELECT 1\n\\gset",
                "COPY t FROM stdin;\n1;\n\\.",
                "SELECT 2; SELECT 3;",
                "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC\n SELECT CASE 1 \
                 WHEN 1 THEN 2 END;\nEND;",
                "CREATE RULE r AS ON INSERT TO t DO (SELECT 1;\n SELECT 2);",
                "SELECT E'a\\';\n' || $1;",
            ]
        );
    }

    #[test]
    fn statements_are_marked_where_they_end() {
        let script =
            Script::new("SELECT 'a\n\nb';\nCOPY t FROM stdin;\nCOPY t FROM stdin;\n\n\\.\n");
        assert_eq!(
            script.marked,
            "SELECT 'a\n\nb';\n\\echo '#answered 0'\nCOPY t \
             FROM stdin;\n\\.\n\\echo '#answered 1'\nCOPY t \
             FROM stdin;\n\n\\.\n\\echo '#answered 2'\n"
        );
    }

    #[test]
    fn answers_are_assigned_to_their_statements() {
        let script =
            Script::new("SELECT 1;\n\\if x\nSELECT 2;\n\\endif\nSELECT 3;\nSELECT 4;\nSELECT 5;");
        let said = " a\n---\n 1\n\n#answered 0\n#answered 3\nSELECT 4;\nERROR:  no\n#answered \
                    4\nx#answered 5\nlost\n";
        let lines = |lines: &[&str]| Some(lines.iter().map(|l| l.to_string()).collect::<Vec<_>>());
        assert_eq!(
            script.answers(said),
            [
                lines(&[" a", "---", " 1"]),
                None,
                None,
                lines(&[]),
                lines(&["SELECT 4;", "ERROR:  no"]),
                lines(&["x"]),
                lines(&["lost"]),
            ]
        );
    }
}
