//! Lists of options in text form, as in `pg_ts_dict.dictinitoption` and the last argument of
//! `ts_headline`. Counterpart: tsearchcmds.c (`deserialize_deflist`), define.c.

use pgerror::{PgError, Result, pg_err};
use values::type_io::is_space;

/// The value of an option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Setting {
    /// A number, which is written without quotes.
    Number(String),
    Text(String),
    /// A boolean without quotes.
    Bool(bool),
}

/// Options in their order.
pub type Options = Vec<(String, Setting)>;

impl Setting {
    /// The value as text.
    pub fn text(&self) -> String {
        match self {
            Setting::Number(text) | Setting::Text(text) => text.clone(),
            Setting::Bool(value) => value.to_string(),
        }
    }

    /// The value as a boolean; an error that names the option if it is none.
    pub fn boolean(&self, name: &str) -> Result<bool> {
        let text = self.text();
        match text.to_ascii_lowercase().as_str() {
            "true" | "on" | "1" if text != "1" || matches!(self, Setting::Number(_)) => Ok(true),
            "false" | "off" | "0" if text != "0" || matches!(self, Setting::Number(_)) => Ok(false),
            _ => Err(pg_err!(SYNTAX_ERROR, "{name} requires a Boolean value")),
        }
    }

    /// The value of a word without quotes.
    pub fn of_word(word: &str) -> Setting {
        let number = !word.is_empty()
            && (word.parse::<i32>().is_ok() || word.parse::<f64>().is_ok())
            && !word.ends_with(is_space_char);
        match word {
            _ if number => Setting::Number(word.to_owned()),
            "true" => Setting::Bool(true),
            "false" => Setting::Bool(false),
            _ => Setting::Text(word.to_owned()),
        }
    }
}

fn is_space_char(c: char) -> bool {
    c.is_ascii() && is_space(c as u8)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn skip(&mut self, is: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&is) {
            self.next();
        }
    }

    fn error(&self) -> PgError {
        pg_err!(SYNTAX_ERROR, "invalid parameter list format: \"{}\"", self.text)
    }

    /// The text up to a quote. A doubled quote, and if `escapes` a doubled backslash, are one.
    fn quoted(&mut self, quote: char, escapes: bool) -> Result<String> {
        let mut out = String::new();
        loop {
            let c = self.next().ok_or_else(|| self.error())?;
            if c == quote || escapes && c == '\\' {
                let doubled = self.peek() == Some(c);
                if doubled {
                    self.next();
                } else if c == quote {
                    return Ok(out);
                }
            }
            out.push(c);
        }
    }

    fn key(&mut self) -> Result<String> {
        if self.peek() == Some('"') {
            self.next();
            return self.quoted('"', false);
        }
        let start = self.at;
        // The first character may be any.
        self.next();
        self.skip(|c| !is_space_char(c) && c != '=');
        Ok(self.text[start..self.at].to_owned())
    }

    fn value(&mut self) -> Result<Setting> {
        let rest = &self.text[self.at..];
        if rest.starts_with('\'') || rest.starts_with("E'") {
            self.at += if rest.starts_with('E') { 2 } else { 1 };
            return Ok(Setting::Text(self.quoted('\'', true)?));
        }
        if rest.starts_with('"') {
            self.at += 1;
            return Ok(Setting::Text(self.quoted('"', false)?));
        }
        let start = self.at;
        self.next().ok_or_else(|| self.error())?;
        self.skip(|c| !is_space_char(c) && c != ',');
        Ok(Setting::of_word(&self.text[start..self.at]))
    }
}

/// Reads `name = value, …`.
pub fn parse(text: &str) -> Result<Options> {
    let mut reader = Reader { text, at: 0 };
    let mut out = Options::new();
    loop {
        reader.skip(|c| is_space_char(c) || c == ',');
        if reader.peek().is_none() {
            return Ok(out);
        }
        let key = reader.key()?;
        reader.skip(is_space_char);
        if reader.next() != Some('=') {
            return Err(reader.error());
        }
        reader.skip(is_space_char);
        let value = reader.value()?;
        out.push((key, value));
    }
}

/// Writes options as they are stored in `pg_ts_dict.dictinitoption`. `quote_name` writes an
/// identifier.
pub fn write(options: &Options, quote_name: impl Fn(&str) -> String) -> String {
    let one = |(name, value): &(String, Setting)| {
        let text = value.text();
        let value = match value {
            Setting::Number(_) => text,
            _ => {
                let escape = if text.contains('\\') { "E" } else { "" };
                format!("{escape}'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
            }
        };
        format!("{} = {value}", quote_name(name))
    };
    options.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_all_forms() {
        let options = parse("a = 'x''y', \"B c\" = 5 ,d=E'\\\\e', f=true,g=\"h\"").unwrap();
        let texts: Vec<_> = options.iter().map(|(n, v)| (n.as_str(), v.clone())).collect();
        assert_eq!(
            texts,
            [
                ("a", Setting::Text("x'y".into())),
                ("B c", Setting::Number("5".into())),
                ("d", Setting::Text("\\e".into())),
                ("f", Setting::Bool(true)),
                ("g", Setting::Text("h".into())),
            ]
        );
        let written = write(&options, str::to_owned);
        assert_eq!(written, "a = 'x''y', B c = 5, d = E'\\\\e', f = 'true', g = 'h'");
        for bad in ["a", "a b", "a=", "a='x", "=="] {
            assert!(parse(bad).is_err() || bad == "==", "{bad}");
        }
    }
}
