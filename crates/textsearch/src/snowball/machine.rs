//! Executes a translated Snowball program on a word in UTF-8.

use super::source::{Command, Id, Number, Program, Relation, Text};
use std::cmp::Ordering;

struct Machine<'a> {
    program: &'a Program,
    text: Vec<u8>,
    cursor: usize,
    /// The end of the text that is visible in forward mode.
    limit: usize,
    /// Its beginning in backward mode.
    start: usize,
    slice: (usize, usize),
    integers: Vec<i64>,
    booleans: Vec<bool>,
    strings: Vec<Vec<u8>>,
    /// Of each among: the entry that its last search found.
    found: Vec<usize>,
}

/// The stem of a word.
pub(super) fn stem(program: &Program, word: &[u8]) -> Vec<u8> {
    let mut machine = Machine {
        program,
        text: word.to_vec(),
        cursor: 0,
        limit: word.len(),
        start: 0,
        slice: (0, word.len()),
        integers: vec![0; program.integers],
        booleans: vec![false; program.booleans],
        strings: vec![Vec::new(); program.strings],
        found: vec![0; program.amongs.len()],
    };
    machine.call(program.main);
    let limit = machine.limit.min(machine.text.len());
    machine.text.truncate(limit);
    machine.text
}

fn is_continuation(b: u8) -> bool {
    b & 0xc0 == 0x80
}

impl<'a> Machine<'a> {
    fn call(&mut self, id: Id) -> bool {
        let program = self.program;
        let routine = &program.routines[id];
        stdx::stack::deep(|| self.run(&routine.body, routine.backward))
    }

    /// The cursor, so that it can be restored although the text changes: in backward mode its
    /// distance from the end.
    fn mark(&self, backward: bool) -> usize {
        if backward { self.limit - self.cursor } else { self.cursor }
    }

    fn restore(&mut self, mark: usize, backward: bool) {
        self.cursor = if backward { self.limit.saturating_sub(mark) } else { mark };
    }

    /// The position `count` characters from the cursor, if it is within the limits.
    fn hop(&self, count: i64, backward: bool) -> Option<usize> {
        let mut at = self.cursor;
        let forward = (count >= 0) != backward;
        for _ in 0..count.unsigned_abs() {
            if forward {
                if at >= self.limit {
                    return None;
                }
                at += 1;
                while at < self.limit && is_continuation(self.text[at]) {
                    at += 1;
                }
            } else {
                if at <= self.start {
                    return None;
                }
                at -= 1;
                while at > self.start && is_continuation(self.text[at]) {
                    at -= 1;
                }
            }
        }
        Some(at)
    }

    fn next(&mut self, backward: bool) -> bool {
        match self.hop(1, backward) {
            Some(at) => {
                self.cursor = at;
                true
            }
            None => false,
        }
    }

    fn at_limit(&self, backward: bool) -> bool {
        if backward { self.cursor <= self.start } else { self.cursor >= self.limit }
    }

    fn grouping(&mut self, id: Id, negated: bool, backward: bool) -> bool {
        let Some(at) = self.hop(1, backward) else { return false };
        let (from, to) = if backward { (at, self.cursor) } else { (self.cursor, at) };
        let set = &self.program.groupings[id];
        let inside = match self.text[from..to] {
            [byte] => set.contains(byte.into()),
            ref bytes => {
                let c = std::str::from_utf8(bytes).ok().and_then(|s| s.chars().next());
                c.is_some_and(|c| set.contains(c))
            }
        };
        if inside == negated {
            return false;
        }
        self.cursor = at;
        true
    }

    fn literal<'t>(&'t self, text: &'t Text) -> &'t [u8] {
        match text {
            Text::Literal(bytes) => bytes,
            Text::Variable(id) => &self.strings[*id],
        }
    }

    fn matches(&mut self, text: &Text, backward: bool) -> bool {
        let wanted = self.literal(text);
        let len = wanted.len();
        match backward {
            true => {
                let found = self.text[self.start..self.cursor].ends_with(wanted);
                if found {
                    self.cursor -= len;
                }
                found
            }
            false => {
                let found = self.text[self.cursor..self.limit].starts_with(wanted);
                if found {
                    self.cursor += len;
                }
                found
            }
        }
    }

    /// Replaces bytes of the text. The cursor and the limit move with the text after them.
    fn replace(&mut self, from: usize, to: usize, by: &[u8]) {
        let end = self.text.len();
        if from > to || to > self.limit || self.limit > end {
            return;
        }
        let (old, new) = (to - from, by.len());
        self.text.splice(from..to, by.iter().copied());
        if old == new {
            return;
        }
        self.limit = self.limit + new - old;
        if self.cursor >= to {
            self.cursor = self.cursor + new - old;
        } else if self.cursor > from {
            self.cursor = from;
        }
    }

    fn insert(&mut self, text: &Text, before: bool, backward: bool) {
        let text = self.literal(text).to_vec();
        let at = self.cursor;
        self.replace(at, at, &text);
        if at <= self.slice.0 {
            self.slice.0 += text.len();
        }
        if at <= self.slice.1 {
            self.slice.1 += text.len();
        }
        if before != backward {
            self.cursor = at;
        }
    }

    fn number(&self, number: &Number, backward: bool) -> i64 {
        let chars = |text: &[u8]| text.iter().filter(|b| !is_continuation(**b)).count() as i64;
        match number {
            Number::Constant(n) => *n,
            Number::Cursor => self.cursor as i64,
            Number::Limit if backward => self.start as i64,
            Number::Limit => self.limit as i64,
            Number::Length => chars(&self.text),
            Number::Size => self.text.len() as i64,
            Number::LengthOf(text) => chars(self.literal(text)),
            Number::SizeOf(text) => self.literal(text).len() as i64,
            Number::Variable(id) => self.integers[*id],
            Number::Negative(inner) => -self.number(inner, backward),
            Number::Binary { operator, left, right } => {
                arithmetic(*operator, self.number(left, backward), self.number(right, backward))
            }
        }
    }

    /// Moves over the longest string of an among that is here.
    fn substring(&mut self, id: Id, backward: bool) -> bool {
        let program = self.program;
        let among = &program.amongs[id];
        let cursor = self.cursor;
        // Conditions change only the cursor.
        let text = match backward {
            true => &self.text[self.start..cursor],
            false => &self.text[cursor..self.limit],
        };
        let first = if backward { text.last() } else { text.first() };
        let below = |key: &[u8]| order(key, text, backward).is_le();
        // No string begins with the byte 0xff, so that only the empty one is left.
        let mut next = among.last_before(first.copied().unwrap_or(u8::MAX), below);
        while let Some(i) = next {
            let entry = &among.entries[i];
            next = entry.shorter;
            let len = entry.key.len();
            let text = match backward {
                true => &self.text[self.start..cursor],
                false => &self.text[cursor..self.limit],
            };
            if order(&entry.key, text, backward).is_ne() {
                continue;
            }
            let end = if backward { cursor - len } else { cursor + len };
            self.cursor = end;
            let holds = entry.condition.is_none_or(|routine| self.call(routine));
            if holds {
                self.cursor = end;
                self.found[id] = i;
                return true;
            }
        }
        self.cursor = cursor;
        false
    }

    fn run(&mut self, command: &'a Command, backward: bool) -> bool {
        match command {
            Command::Sequence(commands) => commands.iter().all(|c| self.run(c, backward)),
            Command::And(commands) => {
                let mark = self.mark(backward);
                commands.iter().enumerate().all(|(i, c)| {
                    if i > 0 {
                        self.restore(mark, backward);
                    }
                    self.run(c, backward)
                })
            }
            Command::Or(commands) => {
                let mark = self.mark(backward);
                commands.iter().enumerate().any(|(i, c)| {
                    if i > 0 {
                        self.restore(mark, backward);
                    }
                    self.run(c, backward)
                })
            }
            Command::Next => self.next(backward),
            Command::AtLimit => self.at_limit(backward),
            Command::ToLimit => {
                self.cursor = if backward { self.start } else { self.limit };
                true
            }
            Command::Constant(value) => *value,
            Command::Call(id) => self.call(*id),
            Command::Grouping { id, negated } => self.grouping(*id, *negated, backward),
            Command::Match(text) => self.matches(text, backward),
            Command::Substring(id) => self.substring(*id, backward),
            Command::Among { id, implicit, starter } => {
                if *implicit && !self.substring(*id, backward) {
                    return false;
                }
                if starter.as_ref().is_some_and(|s| !self.run(s, backward)) {
                    return false;
                }
                let among = &self.program.amongs[*id];
                let action = among.entries.get(self.found[*id]).and_then(|e| e.action);
                action.is_none_or(|a| self.run(&among.actions[a], backward))
            }
            Command::LeftSlice | Command::RightSlice => {
                match matches!(command, Command::LeftSlice) != backward {
                    true => self.slice.0 = self.cursor,
                    false => self.slice.1 = self.cursor,
                }
                true
            }
            Command::Boolean(id) => self.booleans[*id],
            Command::Compare { left, relation, right } => {
                let (l, r) = (self.number(left, backward), self.number(right, backward));
                holds(l, *relation, r)
            }
            _ => self.run_prefixed(command, backward),
        }
    }

    /// Commands that contain another command.
    fn run_prefixed(&mut self, command: &'a Command, backward: bool) -> bool {
        let mark = self.mark(backward);
        match command {
            Command::Not(c) => {
                if self.run(c, backward) {
                    return false;
                }
                self.restore(mark, backward);
                true
            }
            Command::Test(c) => {
                let done = self.run(c, backward);
                if done {
                    self.restore(mark, backward);
                }
                done
            }
            Command::Try(c) => {
                if !self.run(c, backward) {
                    self.restore(mark, backward);
                }
                true
            }
            Command::Do(c) => {
                self.run(c, backward);
                self.restore(mark, backward);
                true
            }
            Command::Fail(c) => {
                self.run(c, backward);
                false
            }
            Command::Repeat(c) => self.repeat(c, backward),
            Command::Goto { command, past } => loop {
                let mark = self.mark(backward);
                let done = self.run(command, backward);
                if done && *past {
                    return true;
                }
                self.restore(mark, backward);
                if done {
                    return true;
                }
                if !self.next(backward) {
                    return false;
                }
            },
            Command::Times { count, command, more } => {
                let count = self.number(count, backward);
                (0..count).all(|_| self.run(command, backward))
                    && (!more || self.repeat(command, backward))
            }
            Command::Backwards(c) => {
                self.start = self.cursor;
                self.cursor = self.limit;
                if !self.run(c, true) {
                    return false;
                }
                self.cursor = self.start;
                true
            }
            Command::SetLimit { limit, command } => self.set_limit(limit, command, backward),
            _ => self.run_change(command, backward),
        }
    }

    fn repeat(&mut self, command: &'a Command, backward: bool) -> bool {
        loop {
            let mark = self.mark(backward);
            if !self.run(command, backward) {
                self.restore(mark, backward);
                return true;
            }
        }
    }

    fn set_limit(&mut self, limit: &'a Command, command: &'a Command, backward: bool) -> bool {
        let mark = self.mark(backward);
        if !self.run(limit, backward) {
            return false;
        }
        if backward {
            let outer = std::mem::replace(&mut self.start, self.cursor);
            self.restore(mark, true);
            let done = self.run(command, true);
            self.start = outer;
            return done;
        }
        let after = self.limit - self.cursor;
        self.limit = self.cursor;
        self.restore(mark, false);
        let done = self.run(command, false);
        self.limit += after;
        done
    }

    /// Commands that change the text, the cursor or a variable.
    fn run_change(&mut self, command: &Command, backward: bool) -> bool {
        match command {
            Command::SliceFrom(text) => {
                let (text, (from, to)) = (self.literal(text).to_vec(), self.slice);
                self.replace(from, to, &text);
            }
            Command::SliceTo(id) => {
                let slice = self.text.get(self.slice.0..self.slice.1).unwrap_or_default();
                self.strings[*id] = slice.to_vec();
            }
            Command::Insert { text, before } => self.insert(text, *before, backward),
            Command::SetBoolean(id, value) => self.booleans[*id] = *value,
            Command::SetMark(id) => self.integers[*id] = self.cursor as i64,
            Command::Assign { variable, operator, value } => {
                let value = self.number(value, backward);
                let old = self.integers[*variable];
                self.integers[*variable] = arithmetic(*operator, old, value);
            }
            Command::Hop(count) => {
                let Some(at) = self.hop(self.number(count, backward), backward) else {
                    return false;
                };
                self.cursor = at;
            }
            Command::ToMark(number) => {
                let (to, at) = (self.number(number, backward), self.cursor as i64);
                if if backward { at < to } else { at > to } {
                    return false;
                }
                self.cursor = usize::try_from(to).unwrap_or_default();
            }
            Command::AtMark(number) => {
                return self.cursor as i64 == self.number(number, backward);
            }
            _ => return false,
        }
        true
    }
}

/// The order of a key and a text, which are read from the end with `backward`; equal if the text
/// begins with the key.
fn order(key: &[u8], text: &[u8], backward: bool) -> Ordering {
    for (i, byte) in key.iter().enumerate() {
        let at = if backward { text.len().checked_sub(i + 1) } else { Some(i) };
        match at.and_then(|at| text.get(at)).map(|found| byte.cmp(found)) {
            Some(Ordering::Equal) => {}
            Some(order) => return order,
            None => return Ordering::Greater,
        }
    }
    Ordering::Equal
}

/// `=` gives the right operand.
fn arithmetic(operator: u8, left: i64, right: i64) -> i64 {
    match operator {
        b'+' => left + right,
        b'-' => left - right,
        b'*' => left * right,
        b'/' => left.checked_div(right).unwrap_or_default(),
        _ => right,
    }
}

fn holds(left: i64, relation: Relation, right: i64) -> bool {
    match relation {
        Relation::Equal => left == right,
        Relation::NotEqual => left != right,
        Relation::Less => left < right,
        Relation::LessOrEqual => left <= right,
        Relation::Greater => left > right,
        Relation::GreaterOrEqual => left >= right,
    }
}
