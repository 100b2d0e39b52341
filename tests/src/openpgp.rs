//! Differential test of OpenPGP messages: random data with random options is encrypted by one
//! server and decrypted by both, and both have the same errors for damaged messages.
//!
//! `NORSU_OPENPGP_SEED=n` runs one seed, `NORSU_TEST_LONG=1` runs many.

use crate::corpus::compared_reply;
use crate::pair::Pair;
use std::fmt::Write;
use testkit::client::{Client, Reply};

/// The statements of the corpus, of which this test needs the keys.
const CORPUS: &str = include_str!("../sql/extension_pgcrypto_openpgp.sql");

/// Damaged forms of each message.
const DAMAGES: usize = 4;

/// The generator SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Names of options, and values of which some are refused.
const OPTIONS: &[(&str, &[&str])] = &[
    ("cipher-algo", &["aes", "aes192", "aes256", "3des", "aes128", "bf", "twofish"]),
    ("compress-algo", &["0", "1", "2", "1", "2", "3"]),
    ("compress-level", &["0", "1", "6", "9"]),
    ("convert-crlf", &["0", "1"]),
    ("disable-mdc", &["0", "1"]),
    ("sess-key", &["0", "1"]),
    ("s2k-mode", &["0", "1", "3"]),
    ("s2k-count", &["1024", "5000", "70000"]),
    ("s2k-digest-algo", &["md5", "sha1", "ripemd160", "sha256", "sha384", "sha512"]),
    ("s2k-cipher-algo", &["aes", "aes192", "aes256", "3des", "cast5"]),
    ("unicode-mode", &["0", "1"]),
];

const EXPECTATIONS: &str = "expect-cipher-algo=aes, expect-s2k-mode=3, expect-sess-key=0, \
     expect-s2k-digest-algo=sha1, expect-s2k-cipher-algo=aes, expect-disable-mdc=0, \
     expect-compress-algo=0, expect-unicode-mode=0";

/// A call that encrypts, and the one that decrypts its message.
struct Case {
    is_text: bool,
    /// The name of a key; a password if there is none.
    key: Option<&'static str>,
    data: String,
    options: String,
    crlf: bool,
}

fn data(random: &mut Random, is_text: bool) -> String {
    let length = match random.below(4) {
        0 => random.below(20),
        1 => 8000 + random.below(400),
        2 => 16_300 + random.below(120),
        _ => random.below(60_000),
    };
    let repetitive = random.below(2) == 0;
    if is_text {
        let letters = ["a", "b", "\n", "\r\n", "\r", "ü", "€", "c"];
        let count = if repetitive { 1 + random.below(2) } else { letters.len() };
        let text: String = (0..length).map(|_| letters[random.below(count)]).collect();
        return format!("'{text}'");
    }
    let mut out = String::from("'\\x");
    for _ in 0..length {
        let byte = if repetitive { 7 } else { random.next() as u8 };
        let _ = write!(out, "{byte:02x}");
    }
    out + "'::bytea"
}

impl Case {
    fn new(random: &mut Random) -> Case {
        let mut options = String::new();
        let mut crlf = false;
        for (name, values) in OPTIONS {
            if random.below(3) == 0 {
                let value = random.pick(values);
                crlf |= *name == "convert-crlf" && value == "1";
                let comma = if options.is_empty() { "" } else { ", " };
                let _ = write!(options, "{comma}{name}={value}");
            }
        }
        let is_text = random.below(2) == 0;
        let key = [None, None, Some("rsa"), Some("elg"), Some("guarded")][random.below(5)];
        Case { is_text, key, data: data(random, is_text), options, crlf }
    }

    fn suffix(&self) -> &'static str {
        if self.is_text { "" } else { "_bytea" }
    }

    fn encrypt(&self) -> String {
        let (suffix, data, options) = (self.suffix(), &self.data, &self.options);
        match self.key {
            None => format!("select pgp_sym_encrypt{suffix}({data}, 'pässword', '{options}')"),
            Some(key) => format!(
                "select pgp_pub_encrypt{suffix}({data}, \
                 (select pub from openpgp_keys where name = '{key}'), '{options}')"
            ),
        }
    }

    fn decrypt(&self, message: &str) -> String {
        let suffix = self.suffix();
        let options = format!("{EXPECTATIONS}, convert-crlf={}", u8::from(self.crlf));
        let call = match self.key {
            None => format!("pgp_sym_decrypt{suffix}(m, 'pässword', '{options}')"),
            Some(key) => format!(
                "pgp_pub_decrypt{suffix}(m, \
                 (select sec from openpgp_keys where name = '{key}'), 'secret', '{options}')"
            ),
        };
        // One row, and no constant: an expression over a table may be evaluated twice when it
        // fails, and one of constants when its value is long. Its notices would be repeated.
        format!("select {call} from (select '{message}'::bytea as m offset 0) m")
    }
}

/// A message with one to three bytes changed, removed or added, or without its end.
fn damaged(random: &mut Random, message: &str) -> String {
    let mut digits = message.as_bytes()[2..].to_vec();
    // The headers are at the start.
    let place = |random: &mut Random, digits: &[u8]| {
        let bytes = (digits.len() / 2).max(1);
        let limit = if random.below(2) == 0 { bytes.min(60) } else { bytes };
        2 * random.below(limit)
    };
    for _ in 0..1 + random.below(3) {
        let at = place(random, &digits);
        match random.below(4) {
            0 => digits.truncate(at),
            1 if at + 2 <= digits.len() => drop(digits.drain(at..at + 2)),
            2 => drop(digits.splice(at..at, *b"c1")),
            _ if at + 2 <= digits.len() => {
                let byte = format!("{:02x}", random.next() as u8);
                digits[at..at + 2].copy_from_slice(byte.as_bytes());
            }
            _ => (),
        }
    }
    format!("\\x{}", String::from_utf8(digits).expect("hexadecimal digits"))
}

/// The start of a statement, for messages.
fn start(sql: &str) -> String {
    sql.chars().take(3000).collect()
}

/// Runs a statement on both servers, whose replies must be equal.
fn on_both(clients: &mut [Client; 2], sql: &str) -> Reply {
    let [ours, real] = clients.each_mut().map(|c| {
        c.query(sql).unwrap_or_else(|e| panic!("the connection has ended: {e}: {}", start(sql)))
    });
    let [a, b] = [ours, real.clone()].map(|reply| compared_reply(sql, reply));
    let shown = |reply| start(&format!("{reply:?}"));
    assert!(a == b, "{}\nours: {}\nreal: {}", start(sql), shown(&a), shown(&b));
    real
}

/// The value of a reply, if it is not an error.
fn value(reply: &Reply) -> Option<String> {
    reply.answers.last()?.rows.first()?.first()?.clone()
}

fn run(clients: &mut [Client; 2], seed: u64) {
    let mut random = Random(seed);
    let case = Case::new(&mut random);
    let sql = case.encrypt();
    for encryptor in 0..2 {
        let reply = clients[encryptor].query(&sql).expect("the connection lives");
        let Some(message) = value(&reply) else {
            on_both(clients, &sql);
            continue;
        };
        let decrypted = on_both(clients, &case.decrypt(&message));
        // With keys of different lengths, the message cannot be decrypted.
        if case.key.is_some() || !case.options.contains("s2k-cipher-algo") {
            let plain = on_both(clients, &format!("select {}", case.data));
            assert!(value(&decrypted) == value(&plain), "seed {seed}: {}", start(&sql));
        }
        for _ in 0..DAMAGES {
            on_both(clients, &case.decrypt(&damaged(&mut random, &message)));
        }
    }
}

#[test]
fn each_server_decrypts_the_messages_of_the_other() {
    let pair = Pair::start("openpgp", "C.UTF-8", &[]);
    let mut clients = [pair.ours.connect("postgres"), pair.real.connect("postgres")];
    let of_keys = |line: &&str| line.contains("openpgp_keys") && !line.starts_with("select");
    let needed = CORPUS.lines().filter(|l| of_keys(l) && !l.starts_with("drop"));
    for sql in ["create extension pgcrypto"].into_iter().chain(needed) {
        clients.iter_mut().for_each(|c| drop(c.must(sql)));
    }
    let long = std::env::var_os("NORSU_TEST_LONG").is_some();
    let seeds = match std::env::var("NORSU_OPENPGP_SEED") {
        Ok(seed) => {
            let seed: u64 = seed.parse().expect("a number");
            seed..seed + 1
        }
        Err(_) => 0..if long { 10_000 } else { 100 },
    };
    for seed in seeds {
        run(&mut clients, seed);
    }
}
