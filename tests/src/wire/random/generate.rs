//! The generator of messages. Most messages are in the sequences of a driver; some are omitted,
//! repeated or truncated.

use super::texts::{self, Texts};
use crate::damaged_values::Random;
use crate::received::damaged;
use crate::wire::client::Bytes;

/// A message, and its textual form.
#[derive(Clone)]
pub(super) struct Step {
    pub what: String,
    pub bytes: Bytes,
}

/// PostgreSQL crashes if the unnamed portal of a simple query that failed in a transaction block is
/// used by the extended protocol. So after a Query, the unnamed portal may be used only if a Bind
/// has created it since the last Sync.
pub(super) fn is_allowed(steps: &[Step]) -> bool {
    let (mut of_query, mut bound) = (false, false);
    steps.iter().all(|step| {
        match step.bytes.0[0] {
            b'Q' => (of_query, bound) = (true, false),
            b'S' => bound = false,
            b'B' => bound |= step.what.starts_with("Bind \"\""),
            _ => {}
        }
        let uses = ["Execute \"\"", "Describe P \"\""];
        !of_query || bound || !uses.iter().any(|u| step.what.starts_with(u))
    })
}

pub(super) struct Generator<'t> {
    texts: &'t Texts,
    state: u64,
    steps: Vec<Step>,
    /// The statement that was parsed last: its name and number of parameters.
    parsed: (&'static str, usize),
    /// The portal that was bound last.
    bound: &'static str,
}

const STATEMENTS: &[&str] = &["", "", "s", "r"];
const PORTALS: &[&str] = &["", "", "p", "q"];
/// Types that a client may declare: 0 is unspecified.
const TYPES: &[u32] = &[0, 0, 23, 25, 20, 21, 16, 1700, 1082, 1007, 705, 2249, 2278, 701];

/// Values in text format and in binary format.
const VALUES: &[&[u8]] = &[
    b"1",
    b"2",
    b"3",
    b"0",
    b"7",
    b"-1",
    b"x",
    b"",
    b"1.5",
    b"t",
    b"{1,2}",
    b"2024-02-29",
    b"sad",
    b"(1,z)",
    b"a\xff",
    b"a\0b",
    &[0, 0, 0, 1],
    &[0, 0, 0, 0, 0, 0, 0, 2],
    &[0, 3],
    &[0, 1, 0, 0, 0, 0, 0, 0, 0, 5],
    &[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 9],
];

/// Rows for COPY FROM, valid and invalid.
const LINES: &[&[u8]] = &[
    b"11\tq\t1\n",
    b"12\t\\N\t2.5\n",
    b"13\n",
    b"x\ty\t1\n",
    b"1\tdouble\t1\n",
    b"14\tcut",
    b"\tshort\t3\n",
    b"15,csv,1\n",
    b"\\.\n",
    b"16\ta\\tb\t-1\n",
    b"\n",
    b"17\t\xff\t1\n",
    b"",
];

/// Header, a row and trailer of the binary COPY format.
const BINARY: &[&[u8]] = &[
    b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0",
    b"\0\x03\0\0\0\x04\0\0\0\x12\0\0\0\x01z\xff\xff\xff\xff",
    b"\xff\xff",
];

impl<'t> Generator<'t> {
    pub(super) fn new(texts: &'t Texts, seed: u64) -> Generator<'t> {
        let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5eed_0f11;
        Generator { texts, state, steps: Vec::new(), parsed: ("", 0), bound: "" }
    }

    /// The generator SplitMix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// True with probability 1/n.
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn push(&mut self, what: String, bytes: Bytes) {
        self.steps.push(Step { what, bytes });
    }

    pub(super) fn sequence(mut self) -> Vec<Step> {
        if self.one_in(3) {
            self.query("begin");
        }
        for _ in 0..2 + self.below(10) {
            match self.below(100) {
                0..40 => self.round(),
                40..50 => self.message(),
                50..55 => self.typed(),
                55..70 => {
                    let sql = self.simple_text();
                    self.query(&sql);
                }
                70..78 => self.sync(),
                78..84 => self.flush(),
                84..91 => self.copy(),
                91..94 => self.copy_message(),
                94..96 => self.function_call(),
                96..98 => self.malformed(),
                _ => self.once_more(),
            }
        }
        match self.below(4) {
            0 => self.flush(),
            1 => {}
            _ => self.sync(),
        }
        self.steps
    }

    fn query(&mut self, sql: &str) {
        self.push(format!("Query {sql}"), Bytes::new().query(sql));
    }

    fn sync(&mut self) {
        self.push("Sync".to_owned(), Bytes::new().sync());
    }

    fn flush(&mut self) {
        self.push("Flush".to_owned(), Bytes::new().flush());
    }

    fn statement_text(&mut self) -> &'t str {
        let texts = self.texts;
        let pool = match self.below(8) {
            0..3 => &texts.with_parameters,
            3..5 => &texts.queries,
            5 => &texts.changes,
            6 => &texts.commands,
            _ => &texts.transactions,
        };
        &pool[self.below(pool.len())]
    }

    /// One statement or several.
    fn simple_text(&mut self) -> String {
        let count = if self.one_in(3) { 2 + self.below(3) } else { 1 };
        let all: Vec<&str> = (0..count).map(|_| self.statement_text()).collect();
        all.join("; ")
    }

    /// All or some of the messages that a driver sends for one statement.
    fn round(&mut self) {
        if !self.one_in(6) {
            self.parse();
        }
        if self.one_in(3) {
            self.describe(b'S');
        }
        if self.one_in(12) {
            self.flush();
        }
        if !self.one_in(10) {
            self.bind();
        }
        if self.one_in(2) {
            self.describe(b'P');
        }
        for _ in 0..self.pick(&[0, 1, 1, 1, 1, 2, 3]) {
            self.execute();
        }
        match self.below(6) {
            0 => self.flush(),
            1..4 => self.sync(),
            _ => {}
        }
    }

    fn message(&mut self) {
        match self.below(8) {
            0 => self.parse(),
            1 | 2 => self.bind(),
            3 => self.describe(b'S'),
            4 => self.describe(b'P'),
            5 => self.execute(),
            6 => self.close(b'S'),
            _ => self.close(b'P'),
        }
    }

    /// The name of a statement, in most cases the one that was used last.
    fn statement(&mut self) -> &'static str {
        if self.one_in(8) { self.pick(STATEMENTS) } else { self.parsed.0 }
    }

    fn portal(&mut self) -> &'static str {
        if self.one_in(8) { self.pick(PORTALS) } else { self.bound }
    }

    fn parse(&mut self) {
        let name = self.pick(STATEMENTS);
        let sql = self.statement_text();
        let parameters = texts::parameters(sql);
        let count = if self.one_in(3) { self.below(parameters + 2) } else { 0 };
        let types: Vec<u32> = (0..count).map(|_| self.pick(TYPES)).collect();
        self.parsed = (name, parameters);
        self.push(format!("Parse {name:?} {sql} {types:?}"), Bytes::new().parse(name, sql, &types));
    }

    fn bind(&mut self) {
        let (portal, statement) = (self.pick(PORTALS), self.statement());
        let mut count = self.parsed.1;
        if self.one_in(15) {
            count = self.below(4);
        }
        let binary = self.one_in(4);
        let formats: &[u16] = match self.below(12) {
            0 => &[1],
            1 => &[0, 1],
            2 => &[7],
            _ if binary => &[1],
            _ => &[],
        };
        let values: Vec<Option<&[u8]>> = (0..count).map(|_| self.value(binary)).collect();
        let results: &[u16] = match self.below(12) {
            0..3 => &[1],
            3 => &[0, 1],
            4 => &[7],
            5 => &[0],
            _ => &[],
        };
        self.bound = portal;
        let shown: Vec<String> = values
            .iter()
            .map(|v| v.map_or("null".to_owned(), |v| v.escape_ascii().to_string()))
            .collect();
        self.push(
            format!("Bind {portal:?} {statement:?} {formats:?} {shown:?} {results:?}"),
            Bytes::new().bind(portal, statement, formats, &values, results),
        );
    }

    /// A statement with parameters in binary format, most of them damaged.
    fn typed(&mut self) {
        const ONE: &[&str] =
            &["select $1", "select $1::text", "select $1 is null", "select array[$1]"];
        let texts = self.texts;
        let count = 1 + self.below(2);
        let forms: Vec<_> =
            (0..count).map(|_| &texts.forms[self.below(texts.forms.len())]).collect();
        let sql = if count == 1 { self.pick(ONE) } else { "select $1, $2" };
        let types: Vec<u32> =
            forms.iter().map(|form| if self.one_in(12) { 0 } else { form.oid }).collect();
        let name = self.pick(STATEMENTS);
        self.parsed = (name, count);
        self.push(format!("Parse {name:?} {sql} {types:?}"), Bytes::new().parse(name, sql, &types));
        let values: Vec<Vec<u8>> = forms
            .iter()
            .map(|form| match self.one_in(4) {
                true => form.bytes.clone(),
                false => damaged(&form.bytes, &mut Random::new(self.next())),
            })
            .collect();
        let portal = self.pick(PORTALS);
        self.bound = portal;
        let results: &[u16] = if self.one_in(2) { &[1] } else { &[] };
        let shown: Vec<String> = values.iter().map(|v| v.escape_ascii().to_string()).collect();
        let types: Vec<&str> = forms.iter().map(|form| form.ty.as_str()).collect();
        let given: Vec<Option<&[u8]>> = values.iter().map(|v| Some(v.as_slice())).collect();
        self.push(
            format!("Bind {portal:?} {name:?} {types:?} {shown:?} {results:?}"),
            Bytes::new().bind(portal, name, &[1], &given, results),
        );
        self.execute();
        if !self.one_in(4) {
            self.sync();
        }
    }

    fn value(&mut self, binary: bool) -> Option<&'static [u8]> {
        match self.below(10) {
            0 => None,
            1 => Some(self.pick(VALUES)),
            _ if binary => Some(self.pick(&VALUES[16..])),
            _ => Some(self.pick(&VALUES[..5])),
        }
    }

    fn describe(&mut self, kind: u8) {
        let name = if kind == b'S' { self.statement() } else { self.portal() };
        let what = format!("Describe {} {name:?}", char::from(kind));
        self.push(what, Bytes::new().describe(kind, name));
    }

    fn execute(&mut self) {
        let name = self.portal();
        let rows = self.pick(&[0, 0, 0, 1, 2, 100, u32::MAX]);
        self.push(format!("Execute {name:?} {rows}"), Bytes::new().execute(name, rows));
    }

    fn close(&mut self, kind: u8) {
        let name = if kind == b'S' { self.statement() } else { self.portal() };
        let what = format!("Close {} {name:?}", char::from(kind));
        self.push(what, Bytes::new().close(kind, name));
    }

    /// COPY with its data, by either query protocol.
    fn copy(&mut self) {
        let copies = &self.texts.copies;
        let sql = &copies[self.below(copies.len())];
        if self.one_in(2) {
            self.query(sql);
        } else {
            self.push(format!("Parse \"\" {sql}"), Bytes::new().parse("", sql, &[]));
            let bind = Bytes::new().bind("", "", &[], &[], &[]);
            self.push("Bind \"\" \"\"".to_owned(), bind);
            self.push("Execute \"\" 0".to_owned(), Bytes::new().execute("", 0));
        }
        let binary = sql.contains("binary") && !self.one_in(5);
        for _ in 0..self.below(4) {
            self.copy_data(if binary { BINARY } else { LINES });
        }
        match self.below(8) {
            0 => self.copy_message(),
            1 => {
                let bytes = Bytes::new().copy_fail("enough");
                self.push("CopyFail".to_owned(), bytes);
            }
            2 => {}
            _ => self.push("CopyDone".to_owned(), Bytes::new().copy_done()),
        }
        if self.one_in(2) {
            self.sync();
        }
    }

    fn copy_data(&mut self, lines: &[&'static [u8]]) {
        let line = self.pick(lines);
        let what = format!("CopyData {}", line.escape_ascii());
        self.push(what, Bytes::new().copy_data(line));
    }

    fn copy_message(&mut self) {
        match self.below(4) {
            0 | 1 => self.copy_data(LINES),
            2 => self.push("CopyDone".to_owned(), Bytes::new().copy_done()),
            _ => self.push("CopyFail".to_owned(), Bytes::new().copy_fail("enough")),
        }
    }

    fn function_call(&mut self) {
        // int4pl, int4div, upper(text), and an OID without a function.
        let function = self.pick(&[177u32, 154, 871, 1]);
        let count = self.below(3);
        let mut body = function.to_be_bytes().to_vec();
        body.extend([0, 0, 0, count as u8]);
        for _ in 0..count {
            let value = self.pick(&VALUES[..6]);
            body.extend((value.len() as u32).to_be_bytes());
            body.extend(value);
        }
        body.extend([0, 0]);
        self.push(format!("FunctionCall {function} {body:?}"), Bytes::new().raw(b'F', &body));
    }

    /// A message with a truncated or overlong body, or of an unknown type.
    fn malformed(&mut self) {
        let kind = self.pick(b"QPBDECFHSfcy");
        // The body is too short for a valid Execute.
        let length = self.below(5);
        let mut body: Vec<u8> = (0..length).map(|_| self.pick(b"\0\0\x01SPx")).collect();
        if kind == b'B' && self.one_in(2) {
            body = [b"\0\0\0\0\0\x01\0\0\0\x09x".as_slice(), &body].concat();
        }
        let what = format!("{} {body:?}", char::from(kind));
        self.push(what, Bytes::new().raw(kind, &body));
    }

    /// Repeats an earlier message.
    fn once_more(&mut self) {
        if self.steps.is_empty() {
            return;
        }
        let i = self.below(self.steps.len());
        self.steps.push(self.steps[i].clone());
    }
}
