//! Statements that may answer otherwise only because an earlier one was refused: those that name an
//! object that the refused statement creates or changes, or that list all objects that exist.

use std::collections::BTreeSet;

/// Words after which a statement names an object that it creates, changes or drops.
const BEFORE_NAMES: &[&str] = &[
    "aggregate",
    "class",
    "collation",
    "configuration",
    "conversion",
    "copy",
    "declare",
    "dictionary",
    "domain",
    "family",
    "function",
    "group",
    "index",
    "inherits",
    "into",
    "language",
    "method",
    "parser",
    "policy",
    "prepare",
    "procedure",
    "publication",
    "role",
    "rule",
    "schema",
    "sequence",
    "server",
    "statistics",
    "subscription",
    "table",
    "template",
    "trigger",
    "truncate",
    "type",
    "update",
    "user",
    "view",
    "wrapper",
];

/// Words that precede such a name only in the definition of an object: `CREATE INDEX … ON`,
/// `CREATE RULE … ON INSERT TO`.
const BEFORE_TABLES: &[&str] = &["on", "to"];

/// Words between those words and the name.
const SKIPPED: &[&str] = &["concurrently", "exists", "for", "if", "not", "only", "table"];

/// Words that are never names of objects of the suite.
const NOT_NAMES: &[&str] = &[
    "all",
    "as",
    "conflict",
    "current",
    "data",
    "default",
    "delete",
    "each",
    "false",
    "insert",
    "local",
    "mapping",
    "null",
    "public",
    "row",
    "schema",
    "select",
    "session",
    "statement",
    "true",
    "update",
    "values",
    "when",
    "where",
];

/// The consequences of the refused statements of a file.
#[derive(Clone, Default)]
pub(super) struct Consequences {
    /// Objects that a refused statement, or a consequence, would have created or changed.
    names: BTreeSet<String>,
    /// True if any statement has been refused.
    any: bool,
}

impl Consequences {
    /// Notes a statement that was refused, or that is a consequence of one.
    pub(super) fn note(&mut self, statement: &str) {
        self.any = true;
        self.names.extend(changed_names(&words(statement)));
    }

    /// True if the statement's answer may depend on the refused ones.
    pub(super) fn explain(&self, statement: &str) -> bool {
        if !self.any {
            return false;
        }
        let words = words(statement);
        words.iter().any(|w| self.concerns(w)) || lists_objects(&words)
    }

    /// True if the word is a name, or a pattern such as `name%`.
    fn concerns(&self, word: &str) -> bool {
        match word.strip_suffix('%') {
            Some(prefix) if prefix.len() >= 2 => {
                self.names.range(prefix.to_owned()..).next().is_some_and(|n| n.starts_with(prefix))
            }
            _ => self.names.contains(word),
        }
    }
}

/// True if the statement shows or drops all objects that exist, or runs deferred triggers.
fn lists_objects(words: &[String]) -> bool {
    let first = words.first().map_or("", String::as_str);
    let is = |w: &str| words.iter().any(|word| word == w);
    first.starts_with("\\d")
        || matches!(first, "commit" | "end")
        || first == "drop" && (is("cascade") || is("role") || is("user") || is("tablespace"))
        || words.iter().any(|w| w.starts_with("pg_") || w == "information_schema")
}

/// The objects that the statement creates, changes or drops, and the variables of the client that
/// it sets.
fn changed_names(words: &[String]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let first = words.first().map_or("", String::as_str);
    let defines = matches!(first, "create" | "alter" | "drop" | "comment");
    let sets = words.iter().any(|w| w == "\\gset");
    for (i, word) in words.iter().enumerate() {
        let before = match word.as_str() {
            // A query changes nothing, but may fill a new table or a variable.
            "into" | "\\set" => true,
            "as" => sets,
            "from" => i > 0 && words[i - 1] == "delete",
            _ if first == "select" => false,
            word => BEFORE_NAMES.contains(&word) || defines && BEFORE_TABLES.contains(&word),
        };
        if !before {
            continue;
        }
        let mut rest = words[i + 1..].iter().map(String::as_str);
        let Some(mut name) = rest.find(|w| !SKIPPED.contains(w) && *w != "(") else { continue };
        // The last part of a qualified name.
        while rest.next() == Some(".")
            && let Some(part) = rest.next()
        {
            name = part;
        }
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let is_other = [NOT_NAMES, BEFORE_NAMES, BEFORE_TABLES].iter().any(|l| l.contains(&name));
        if is_name && !is_other && !name.starts_with("pg_") {
            out.insert(name.to_owned());
        }
    }
    out
}

/// The words of a statement in lower case, without comments; a dot and an opening parenthesis are
/// words too. `%` is part of the word before it.
fn words(statement: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut rest = statement;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("--") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
        } else if c.is_alphanumeric() || matches!(c, '_' | '\\') {
            let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '+');
            let end = rest[c.len_utf8()..].find(|c| !inside(c));
            let end = end.map_or(rest.len(), |end| end + c.len_utf8());
            let mut word = rest[..end].trim_end_matches('+').to_lowercase();
            rest = &rest[end..];
            if let Some(behind) = rest.strip_prefix('%') {
                word.push('%');
                rest = behind;
            }
            out.push(word);
        } else {
            if matches!(c, '.' | '(') {
                out.push(c.to_string());
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_changed_objects() {
        let names = |statement: &str| {
            changed_names(&words(statement)).into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("-- Into x;\nCREATE TABLE IF NOT EXISTS s.T1 (a int)"), "t1");
        assert_eq!(names("create trigger a before insert on only b for each row"), "a b");
        assert_eq!(names("INSERT INTO \"Big\" VALUES (1)"), "big");
        assert_eq!(names("SELECT lo_creat(1) AS oid \\gset"), "oid");
        assert_eq!(names("alter table a add foreign key (b) references c"), "a");
        assert_eq!(names("select * into a from b join c on b.d = c.d"), "a");
        assert_eq!(names("create rule a as on insert to b do delete from only c"), "a b c");
    }

    #[test]
    fn consequences_are_found() {
        let mut found = Consequences::default();
        assert!(!found.explain("SELECT * FROM t1"));
        found.note("CREATE TABLE t1 (a int) INHERITS (t0);");
        for statement in [
            "SELECT * FROM public.T1, x",
            "SELECT * FROM t0",
            "\\d x",
            "select 1 from x where y like 't1%'",
            "select 1 from information_schema.tables",
            "DROP SCHEMA x CASCADE",
        ] {
            assert!(found.explain(statement), "{statement}");
        }
        assert!(!found.explain("SELECT * FROM t2 -- t1"));
    }
}
