//! Reads affix files: rules for affixes, and flags with a meaning.

use super::condition::Condition;
use super::flags::{BEGIN, COMPOUND, LAST, MIDDLE};
use super::flags::{
    CROSS_PRODUCT, FORBIDDEN, Mode, ONLY_COMPOUND, PERMITTED, Properties, alias, bad_alias,
    number_flag, split,
};
use super::{Affix, Side};
use crate::ctype::Ctype;
use crate::dict::files::File;
use crate::dict::template::Environment;
use pgerror::{PgError, Result, pg_err};
use std::cmp::Ordering;

/// The contents of an affix file.
#[derive(Default)]
pub(super) struct Rules {
    pub affixes: Vec<Affix>,
    pub mode: Mode,
    /// There are compound words.
    pub compounds: bool,
    /// Flags that stand for a property.
    meanings: Vec<(String, u8)>,
    /// Sets of flags that are named by their number; the first is empty.
    pub aliases: Option<Vec<String>>,
}

fn error(message: &str) -> PgError {
    pg_err!(CONFIG_FILE_ERROR, "{message}")
}

/// Reads an affix file in any of the formats.
pub(super) fn read(env: &mut dyn Environment, file: &File) -> Result<Rules> {
    let mut rules = Rules::default();
    let mut old = Old::default();
    for (i, line) in file.lines() {
        match old.line(env, &mut rules, line).map_err(|e| file.at_line(e, i, line))? {
            true => {}
            false if old.seen => {
                let message = "affix file contains both old-style and new-style commands";
                return Err(file.at_line(error(message), i, line));
            }
            false => return read_new(env, file),
        }
    }
    Ok(rules)
}

/// A file in the format of Ispell.
#[derive(Default)]
struct Old {
    seen: bool,
    side: Option<Side>,
    flag: String,
    properties: u8,
}

fn is_space(ctype: Ctype, c: char) -> bool {
    ctype.is_space(c as u32)
}

impl Old {
    /// Reads a line; false if it is in the format of Hunspell.
    fn line(&mut self, env: &mut dyn Environment, rules: &mut Rules, line: &str) -> Result<bool> {
        let ctype = env.ctype();
        let lower = String::from_utf8_lossy(&ctype.lower(line.as_bytes())).into_owned();
        if lower.starts_with(['#', '\n']) {
            return Ok(true);
        }
        if lower.starts_with("compoundwords")
            && let Some(at) = line.find(['l', 'L'])
        {
            let rest = line[at..].trim_start_matches(|c| !is_space(ctype, c));
            let flag = rest.trim_start_matches(|c| is_space(ctype, c));
            if flag.chars().next().is_some_and(|c| c.is_ascii()) {
                rules.add_meaning(ctype, flag, COMPOUND)?;
            }
            self.seen = true;
            return Ok(true);
        }
        for (word, side) in [("suffixes", Side::Suffix), ("prefixes", Side::Prefix)] {
            if lower.starts_with(word) {
                (self.side, self.seen) = (Some(side), true);
                return Ok(true);
            }
        }
        if lower.starts_with("flag") {
            return Ok(self.flag(ctype, &line[4..]));
        }
        if ["COMPOUNDFLAG", "COMPOUNDMIN", "PFX", "SFX"].iter().any(|w| line.starts_with(w)) {
            return Ok(false);
        }
        if let (Some(side), Some((mask, find, text))) =
            (self.side, if self.side.is_some() { entry(ctype, &lower)? } else { None })
        {
            let (flag, properties) = (self.flag.clone(), Properties(self.properties));
            rules.add(env, (flag, properties, side), mask.as_bytes(), find, text)?;
        }
        Ok(true)
    }

    /// Reads the flag of the next rules; false if it is not one of Ispell.
    fn flag(&mut self, ctype: Ctype, rest: &str) -> bool {
        let mut rest = rest.trim_start_matches(|c| is_space(ctype, c));
        self.properties = 0;
        for (mark, property) in [('*', CROSS_PRODUCT), ('~', ONLY_COMPOUND)] {
            if self.properties == 0
                && let Some(after) = rest.strip_prefix(mark)
            {
                (self.properties, rest) = (property, after);
            }
        }
        rest = rest.strip_prefix('\\').unwrap_or(rest);
        let Some(flag) = rest.chars().next().filter(char::is_ascii) else { return false };
        self.flag = flag.to_string();
        let end = rest[1..].chars().next();
        let old = end.is_none_or(|c| matches!(c, '#' | '\n' | ':') || is_space(ctype, c));
        self.seen |= old;
        old
    }
}

/// A rule of Ispell, `mask > [-find,] text`: mask, find and text. `None` if it has no affix.
fn entry(ctype: Ctype, line: &str) -> Result<Option<(String, Vec<u8>, Vec<u8>)>> {
    let line = line.trim_start_matches(|c| is_space(ctype, c));
    if line.starts_with('#') {
        return Ok(None);
    }
    let Some((mask, rest)) = line.split_once('>') else { return Ok(None) };
    let mask: String = mask.chars().filter(|c| !is_space(ctype, *c)).collect();
    let rest: String = rest.chars().filter(|c| !is_space(ctype, *c)).collect();
    let letters = |text: &str| match text.chars().all(|c| ctype.is_alpha(c as u32)) {
        true => Ok(text.to_owned()),
        false => Err(error("syntax error")),
    };
    let (find, rest) = match rest.strip_prefix('-') {
        None => (String::new(), rest.as_str()),
        Some(rest) => {
            let (find, rest) = rest.split_once(',').unwrap_or((rest, ""));
            (letters(find)?, rest)
        }
    };
    let text = match rest {
        // No affix.
        _ if rest.starts_with('-') && !find.is_empty() => String::new(),
        _ if rest.starts_with('#') => return Err(error("syntax error")),
        _ => {
            let text = rest.split('#').next().unwrap_or_default();
            // As in the English 's.
            let quote = if find.is_empty() && text.starts_with('\'') { "'" } else { "" };
            quote.to_owned() + &letters(&text[quote.len()..])?
        }
    };
    let whole = !(mask.is_empty() || find.is_empty() && text.is_empty());
    Ok(whole.then(|| (mask, find.into_bytes(), text.into_bytes())))
}

/// The fields of a line, which end at white space or a comment.
fn fields(ctype: Ctype, line: &str) -> Vec<&str> {
    let all = line.split(|c| is_space(ctype, c)).filter(|f| !f.is_empty());
    all.take(5).take_while(|f| !f.starts_with('#')).collect()
}

/// Reads a file in the format of MySpell or Hunspell.
fn read_new(env: &mut dyn Environment, file: &File) -> Result<Rules> {
    let ctype = env.ctype();
    let mut rules = Rules::default();
    let is_data = |line: &str| line.chars().next().is_some_and(|c| !is_space(ctype, c) && c != '#');
    for (i, line) in file.lines().filter(|(_, line)| is_data(line)) {
        rules.option(ctype, line).map_err(|e| file.at_line(e, i, line))?;
    }
    let mut header = Header::default();
    for (i, line) in file.lines().filter(|(_, line)| is_data(line)) {
        header.line(env, &mut rules, line).map_err(|e| file.at_line(e, i, line))?;
    }
    if let Some(aliases) = &mut rules.aliases {
        aliases.resize(header.aliases, String::new());
    }
    Ok(rules)
}

/// What the last header says about the rules that follow it.
#[derive(Default)]
struct Header {
    suffix: bool,
    properties: u8,
    /// Number of aliases, with the empty one.
    aliases: usize,
}

impl Header {
    fn line(&mut self, env: &mut dyn Environment, rules: &mut Rules, line: &str) -> Result<()> {
        let ctype = env.ctype();
        let fields = fields(ctype, line);
        let lower = |text: &str| ctype.lower(text.as_bytes());
        let kind = lower(fields.first().copied().unwrap_or_default());
        if kind.starts_with(b"af") {
            return self.alias(rules, fields.get(1).copied().unwrap_or_default());
        }
        let suffix = kind.starts_with(b"sfx");
        if fields.len() < 4 || !suffix && !kind.starts_with(b"pfx") {
            return Ok(());
        }
        let flag = fields[1];
        let too_long = match rules.mode {
            Mode::Char => flag.len() > 1,
            Mode::Long => flag.len() > 2,
            Mode::Number => false,
        };
        if too_long {
            return Ok(());
        }
        if fields.len() == 4 {
            self.suffix = suffix;
            let crossed = fields[2].starts_with(['y', 'Y']);
            self.properties = if crossed { CROSS_PRODUCT } else { 0 };
            return Ok(());
        }
        let (find, text, mask) = (fields[2], fields[3], fields[4]);
        let mut properties = self.properties;
        if let Some((_, set)) = text.split_once('/') {
            let set = rules.named_set(set)?;
            properties |= rules.properties(&set)?.0;
        }
        let unless_zero = |text: &str| match text.starts_with('0') {
            true => Vec::new(),
            false => lower(text.split('/').next().unwrap_or_default()),
        };
        let find = if find.starts_with('0') { Vec::new() } else { lower(find) };
        let side = if self.suffix { Side::Suffix } else { Side::Prefix };
        let head = (flag.to_owned(), Properties(properties), side);
        rules.add(env, head, &lower(mask), find, unless_zero(text))
    }

    fn alias(&mut self, rules: &mut Rules, set: &str) -> Result<()> {
        match &mut rules.aliases {
            // The first line has their number.
            None => {
                let digits = set.bytes().take_while(u8::is_ascii_digit).count();
                let count: usize = set[..digits].parse().unwrap_or_default();
                if count == 0 {
                    return Err(error("invalid number of flag vector aliases"));
                }
                self.aliases = count + 1;
                rules.aliases = Some(vec![String::new()]);
            }
            Some(aliases) if aliases.len() < self.aliases => aliases.push(set.to_owned()),
            Some(_) => {
                return Err(pg_err!(
                    CONFIG_FILE_ERROR,
                    "number of aliases exceeds specified number {}",
                    self.aliases - 1
                ));
            }
        }
        Ok(())
    }
}

impl Rules {
    /// Sorts the rules: prefixes first, then by their text, that of suffixes from its end.
    pub fn sort(&mut self) {
        let mut order: Vec<u32> = (0..self.affixes.len() as u32).collect();
        let affixes = &self.affixes;
        let compare = |a: u32, b: u32| -> Ordering {
            let (a, b) = (&affixes[a as usize], &affixes[b as usize]);
            a.side.cmp(&b.side).then_with(|| match a.side {
                Side::Prefix => a.text.cmp(&b.text),
                Side::Suffix => a.text.iter().rev().cmp(b.text.iter().rev()),
            })
        };
        stdx::quicksort::sort(&mut order, &compare);
        let mut old: Vec<Option<Affix>> =
            std::mem::take(&mut self.affixes).into_iter().map(Some).collect();
        self.affixes = order.into_iter().filter_map(|i| old[i as usize].take()).collect();
    }

    fn add(
        &mut self,
        env: &mut dyn Environment,
        (flag, properties, side): (String, Properties, Side),
        mask: &[u8],
        find: Vec<u8>,
        text: Vec<u8>,
    ) -> Result<()> {
        let condition = Condition::read(env, mask, side)?;
        let properties = properties.completed(ONLY_COMPOUND | PERMITTED);
        self.affixes.push(Affix { flag, properties, side, find, text, condition });
        Ok(())
    }

    /// Gives the flag at the beginning of `text` a meaning.
    fn add_meaning(&mut self, ctype: Ctype, text: &str, property: u8) -> Result<()> {
        let flag = text.split(|c| is_space(ctype, c)).find(|f| !f.is_empty());
        let flag = flag.ok_or_else(|| error("syntax error"))?;
        let flag = match self.mode {
            Mode::Number => number_flag(flag)?.0.to_string(),
            _ => flag.to_owned(),
        };
        self.meanings.push((flag, property));
        self.compounds = true;
        Ok(())
    }

    /// Reads a line that sets an option of Hunspell.
    fn option(&mut self, ctype: Ctype, line: &str) -> Result<()> {
        for (name, property) in [
            ("COMPOUNDFLAG", COMPOUND),
            ("COMPOUNDBEGIN", BEGIN.0),
            ("COMPOUNDLAST", LAST.0),
            ("COMPOUNDEND", LAST.0),
            ("COMPOUNDMIDDLE", MIDDLE.0),
            ("ONLYINCOMPOUND", ONLY_COMPOUND),
            ("COMPOUNDPERMITFLAG", PERMITTED),
            ("COMPOUNDFORBIDFLAG", FORBIDDEN),
        ] {
            if let Some(rest) = line.strip_prefix(name) {
                return self.add_meaning(ctype, rest, property);
            }
        }
        let Some(rest) = line.strip_prefix("FLAG") else { return Ok(()) };
        match rest.trim_start_matches(|c| is_space(ctype, c)) {
            rest if rest.starts_with("long") => self.mode = Mode::Long,
            rest if rest.starts_with("num") => self.mode = Mode::Number,
            rest if rest.is_empty() || rest.starts_with("default") => {}
            _ => {
                return Err(error(
                    "Ispell dictionary supports only \"default\", \"long\", and \"num\" flag \
                     values",
                ));
            }
        }
        Ok(())
    }

    /// The set of flags in an affix file, where aliases may be used.
    fn named_set(&self, set: &str) -> Result<String> {
        let Some(aliases) = self.aliases.as_ref().filter(|_| !set.is_empty()) else {
            return Ok(set.to_owned());
        };
        let (number, _) = alias(set)?;
        match usize::try_from(number).ok().and_then(|n| aliases.get(n)) {
            Some(found) => Ok(found.clone()),
            None if number > 0 => Err(bad_alias(set)),
            None => Ok(String::new()),
        }
    }

    /// The properties that the flags of a set stand for.
    pub fn properties(&self, set: &str) -> Result<Properties> {
        if self.meanings.is_empty() {
            return Ok(Properties(0));
        }
        let flags = split(self.mode, set)?;
        let meant = self.meanings.iter().filter(|(flag, _)| flags.contains(flag));
        Ok(Properties(meant.fold(0, |all, (_, property)| all | property)))
    }
}
