//! Words that are keywords of the newer grammar, but ordinary names in PostgreSQL 15, where the
//! newer grammar does not accept them as names. Before a text is parsed, the first two letters of
//! such a word are replaced by a character that the text does not contain, so that the lexer reads
//! a name; in the names and messages of the result they are put back. The character has two bytes,
//! so locations stay the same.

use crate::error::position;
use crate::lexical::Scan;
use std::borrow::Cow;

const WORDS: &[&str] = &[
    "json",
    "json_array",
    "json_arrayagg",
    "json_exists",
    "json_object",
    "json_objectagg",
    "json_query",
    "json_scalar",
    "json_serialize",
    "json_table",
    "json_value",
    "merge_action",
    "system_user",
];

/// The beginnings of the words, each of which has a character of its own.
const STARTS: [&str; 3] = ["js", "me", "sy"];

/// The replacements in a text.
pub(super) struct Words {
    /// The text for the parser.
    pub text: String,
    characters: [char; 3],
}

/// Whether the text may contain one of the words: a cheap test that excludes most texts.
fn may_contain(sql: &[u8]) -> bool {
    let begins = |at: usize, word: &[u8]| {
        sql.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word))
    };
    sql.iter().enumerate().any(|(at, b)| match b | 0x20 {
        b'j' => begins(at, b"json"),
        b'm' => begins(at, b"merge_action"),
        b's' => begins(at, b"system_user"),
        _ => false,
    })
}

/// Three successive characters of two bytes that the text does not contain.
fn unused(sql: &str) -> Option<[char; 3]> {
    (0x80..0x7fd_u32).step_by(3).rev().find_map(|code| {
        let mut all = ['\0'; 3];
        for (c, code) in all.iter_mut().zip(code..) {
            *c = char::from_u32(code).filter(|c| !sql.contains(*c))?;
        }
        Some(all)
    })
}

impl Words {
    /// The text with its words replaced; `None` if it has none of them.
    pub(super) fn new(sql: &str, conforming: bool) -> Option<Words> {
        if !may_contain(sql.as_bytes()) {
            return None;
        }
        let characters = unused(sql)?;
        let (mut text, mut copied) = (String::new(), 0);
        let mut scan = Scan::new(sql, 0);
        while let Some((begin, end)) = scan.token(conforming) {
            let word = &sql[begin..end];
            if !WORDS.iter().any(|w| w.eq_ignore_ascii_case(word)) {
                continue;
            }
            let start = STARTS.iter().position(|s| s.eq_ignore_ascii_case(&word[..2]))?;
            text.push_str(&sql[copied..begin]);
            text.push(characters[start]);
            copied = begin + 2;
        }
        if copied == 0 {
            return None;
        }
        text.push_str(&sql[copied..]);
        Some(Words { text, characters })
    }

    /// The name without replacements, in lower case as the lexer folds it.
    pub(super) fn restored<'a>(&self, name: &'a str) -> Cow<'a, str> {
        let Some(at) = name.find(self.characters) else { return Cow::Borrowed(name) };
        let mut out = name[..at].to_string();
        for c in name[at..].chars() {
            match self.characters.iter().position(|r| *r == c) {
                Some(i) => out.push_str(STARTS[i]),
                None => out.push(c),
            }
        }
        Cow::Owned(out)
    }

    /// An error's message and character position (0: unknown) in the original text `sql`.
    pub(super) fn restored_error(&self, message: &str, at: u32, sql: &str) -> (String, u32) {
        let before = (at as usize).checked_sub(1);
        let offset = before.map(|n| self.text.char_indices().nth(n).map_or(sql.len(), |(i, _)| i));
        // The message quotes the word at its position as it is written.
        let quoted = offset.and_then(|o| {
            let c = self.text[o..].chars().next().filter(|c| self.characters.contains(c))?;
            Some((c, sql.get(o..o + 2)?))
        });
        let message = match quoted {
            Some((c, written)) => message.replacen(c, written, 1),
            None => message.to_string(),
        };
        let offset = offset.and_then(|o| i32::try_from(o).ok());
        (self.restored(&message).into_owned(), offset.map_or(0, |o| position(sql, o)))
    }
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn words_are_replaced_and_restored() {
        let sql = "select é, JSON_value(1), 'json', \"json\", xjson -- json";
        let words = Words::new(sql, true).expect("the text has a word");
        assert_eq!(words.text.len(), sql.len());
        assert_eq!(words.text.chars().count(), sql.chars().count() - 1);
        let at = words.text.find("ON_value").expect("the rest of the word");
        let word = &words.text[at - 2..at + 8];
        assert_eq!(words.restored(word), "jsON_value");
        let message = format!("syntax error at or near \"{word}\"");
        let restored = words.restored_error(&message, 11, sql);
        assert_eq!(restored, ("syntax error at or near \"JSON_value\"".to_string(), 11));
        assert!(Words::new("select 'json', xjson, jsonb", true).is_none());
    }
}
