//! Binary forms of values with random damage, as a client could send them. For each of them both
//! servers report the same error, or read the same value.
//!
//! The forms are those that PostgreSQL sends. They are received by COPY; as parameters they are in
//! the random messages of `wire::random`.
//! `NORSU_RECEIVED=type` tests one type and prints its errors, `NORSU_RECEIVED_SEED=n` sets the
//! seed, `NORSU_TEST_LONG=1` tries more forms.

use crate::corpus::new_pair;
use crate::damaged_values::{Random, SETUP, types};
use testkit::client::Client;

/// Types without a damaged form of variable length, which `damaged_values` does not list.
pub(crate) const FIXED: &[(&str, &str)] = &[
    ("int2", "7"),
    ("int4", "7"),
    ("int8", "7"),
    ("float4", "1.5"),
    ("oid", "7"),
    ("xid", "'7'"),
    ("xid8", "'7'"),
    ("cid", "'7'"),
    ("pg_lsn", "'0/16AE7F8'"),
    ("macaddr8", "'08:00:2b:ff:fe:02:03:04'"),
    ("money", "7"),
    ("varchar(5)", "'abc'"),
    ("bpchar(5)", "'abc'"),
    ("bit(9)", "'010111110'"),
    ("bit varying(5)", "'101'"),
    ("numeric(6,2)", "12.34"),
    ("timestamp(0)", "'2024-02-29 12:34:56'"),
    ("time(2)", "'12:34:56.78'"),
    ("interval day to second", "'1 day'"),
    ("interval(2)", "'1.25 seconds'"),
];

/// A binary form of COPY with one row of one column.
fn copy_data(value: &[u8]) -> Vec<u8> {
    let mut data = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x01".to_vec();
    data.extend((value.len() as u32).to_be_bytes());
    data.extend(value);
    data.extend([0xff, 0xff]);
    data
}

/// A damaged form.
pub(crate) fn damaged(form: &[u8], random: &mut Random) -> Vec<u8> {
    const WORDS: [u32; 9] =
        [0, 1, 2, 7, u32::MAX, 0x7fff_ffff, 0x8000_0000, 0x0001_0000, 0xffff_0000];
    let mut out = form.to_vec();
    for _ in 0..1 + random.below(2) {
        let at = random.below(out.len());
        match random.below(9) {
            0 => out.truncate(at),
            1 => out.extend((0..1 + random.below(4)).map(|_| 0)),
            2 => drop(out.drain(at..(at + 1 + random.below(4)).min(out.len()))),
            3 => out.insert(at, random.next() as u8),
            4 | 5 => {
                let at = if random.below(2) == 0 { at & !3 } else { at };
                if let Some(word) = out.get_mut(at..at + 4) {
                    word.copy_from_slice(&WORDS[random.below(WORDS.len())].to_be_bytes());
                }
            }
            6 => {
                if let Some(byte) = out.get_mut(at) {
                    *byte = random.next() as u8;
                }
            }
            _ => {
                if let Some(byte) = out.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
    out
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The bytes that hexadecimal digits stand for.
pub(crate) fn bytes_of(hexadecimal: &str) -> Vec<u8> {
    let digits = hexadecimal.as_bytes().chunks_exact(2);
    digits.map(|d| u8::from_str_radix(std::str::from_utf8(d).unwrap(), 16).unwrap()).collect()
}

/// The error, or the value in its text and binary forms; only as text if the binary form contains
/// the OID of a type that a user created.
fn received(client: &mut Client, send: &str, form: &[u8], as_text: bool) -> String {
    let copy = client.copy_in("COPY received FROM STDIN (FORMAT binary)", &copy_data(form));
    let reply = match copy {
        Ok(reply) => reply,
        Err(e) => return format!("the session ends: {e}"),
    };
    if let Some(e) = reply.error {
        return format!("{} {} {} {}", e.code, e.message, e.detail, e.context);
    }
    let sql = match as_text {
        true => "SELECT v::text FROM received".to_owned(),
        false => format!("SELECT v::text, encode({send}(v), 'hex') FROM received"),
    };
    let answer = match client.query(&sql) {
        Ok(reply) => match reply.error {
            Some(e) => format!("{} {}", e.code, e.message),
            None => reply.text().join(" "),
        },
        Err(e) => return format!("the session ends: {e}"),
    };
    client.must("DELETE FROM received");
    answer
}

#[test]
fn damaged_binary_forms_are_refused_as_by_postgres() {
    let pair = new_pair();
    let only = std::env::var("NORSU_RECEIVED").ok();
    let seed = std::env::var("NORSU_RECEIVED_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let long = std::env::var_os("NORSU_TEST_LONG").is_some();
    let mut random = Random::new(seed);
    let mut clients = [pair.ours.connect("postgres"), pair.real.connect("postgres")];
    for sql in SETUP {
        clients.iter_mut().for_each(|client| drop(client.must(sql)));
    }
    let fixed = FIXED.iter().map(|(ty, v)| ((*ty).to_owned(), vec![format!("({v})::{ty}")]));
    let (mut differ, mut count, mut errors) = (Vec::new(), 0, 0);
    for (ty, samples) in types().into_iter().chain(fixed) {
        // aclitem has no binary form.
        if ty.starts_with("aclitem") || only.as_ref().is_some_and(|only| *only != ty) {
            continue;
        }
        let sql = format!("DROP TABLE IF EXISTS received; CREATE TABLE received (v {ty})");
        clients.iter_mut().for_each(|client| drop(client.must(&sql)));
        let send = clients[1].value(
            "SELECT typsend FROM pg_type, pg_attribute WHERE attrelid = 'received'::regclass \
             AND attname = 'v' AND pg_type.oid = atttypid",
        );
        if send == "-" {
            continue;
        }
        let as_text = matches!(ty.as_str(), "pair[]" | "colour[]");
        let tries = if long { 2000 } else { 100 } / samples.len();
        for sample in &samples {
            let form = clients[1].value(&format!("SELECT encode({send}({sample}), 'hex')"));
            let form = bytes_of(&form);
            for _ in 0..tries {
                let form = damaged(&form, &mut random);
                let [ours, theirs] = clients.each_mut().map(|c| received(c, &send, &form, as_text));
                count += 1;
                errors += usize::from(theirs.contains("COPY received"));
                if only.is_some() {
                    println!("{}\n    {theirs}", hexadecimal(&form));
                }
                if ours != theirs {
                    let form = hexadecimal(&form);
                    differ.push(format!("{ty} {form}\n    want {theirs}\n    have {ours}"));
                }
                for (client, server) in
                    clients.iter_mut().zip([pair.ours.sockets(), pair.real.sockets()])
                {
                    if client.query("SELECT 1").is_err() {
                        *client = Client::connect(server, "postgres").expect("a session");
                    }
                }
            }
        }
    }
    println!("{count} forms, {errors} errors");
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
    assert!(only.is_some() || errors > 2000, "{errors} errors");
}
