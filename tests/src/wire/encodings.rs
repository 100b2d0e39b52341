//! The client's encoding: all texts are converted, in both directions.

use super::Both;
use super::client::{Bytes, Client, Message};

cases! {
    texts_are_converted,
    characters_without_equivalent,
    the_startup_packet_sets_the_encoding,
}

/// Names of single-byte encodings, and others that a database in UTF8 accepts or refuses.
const ENCODINGS: &[&str] = &[
    "LATIN1",
    "LATIN2",
    "LATIN3",
    "LATIN4",
    "LATIN5",
    "LATIN6",
    "LATIN7",
    "LATIN8",
    "LATIN9",
    "LATIN10",
    "WIN1250",
    "WIN1251",
    "WIN1252",
    "WIN1253",
    "WIN1254",
    "WIN1255",
    "WIN1256",
    "WIN1257",
    "WIN1258",
    "WIN866",
    "WIN874",
    "KOI8R",
    "KOI8U",
    "ISO_8859_5",
    "ISO_8859_6",
    "ISO_8859_7",
    "ISO_8859_8",
    "SQL_ASCII",
    "UTF8",
    "unicode",
    "iso-8859-1",
];

/// Multibyte encodings.
const MULTIBYTE: &[&str] = &[
    "EUC_JP",
    "EUC_CN",
    "EUC_KR",
    "EUC_TW",
    "EUC_JIS_2004",
    "SJIS",
    "BIG5",
    "GBK",
    "UHC",
    "GB18030",
    "JOHAB",
    "SHIFT_JIS_2004",
];

fn query(bytes: Bytes, text: &[u8]) -> Bytes {
    bytes.raw(b'Q', &[text, b"\0"].concat())
}

/// The messages with all bytes; errors and notices without their places in the source code.
fn shown(messages: &[Message]) -> Vec<String> {
    let line = |m: &Message| match m.kind {
        b'E' | b'N' => m.show(),
        b'A' => format!("A {}", m.body[4..].escape_ascii()),
        // OIDs of tables differ.
        b'T' => format!(
            "T {}",
            m.body[2..].split(|b| *b == 0).next().unwrap_or_default().escape_ascii()
        ),
        kind => format!("{} {}", char::from(kind), m.body.escape_ascii()),
    };
    messages.iter().map(line).collect()
}

/// Compares the answers of both servers to the bytes of a session, up to `ready` ReadyForQuery.
fn check(both: &Both, name: &str, parameters: &[(&str, &str)], bytes: &Bytes, ready: usize) {
    let [ours, theirs] = both.0.sockets().map(|socket| {
        let (mut client, _) = Client::start(&socket, parameters);
        client.send(&bytes.0);
        let mut all = Vec::new();
        for _ in 0..ready {
            all.extend(shown(&client.until_ready()));
        }
        all
    });
    assert_eq!(ours, theirs, "{name}: Norsu's, then PostgreSQL's");
}

const USER: (&str, &str) = ("user", "postgres");
const DATABASE: (&str, &str) = ("database", "postgres");

fn texts_are_converted(both: &Both) {
    // All bytes, each in a statement of its own, because some are invalid in some encodings.
    for encoding in ENCODINGS {
        let mut bytes = Bytes::new().query(&format!("set client_encoding = '{encoding}'"));
        for byte in 128..=255u8 {
            let text =
                [b"select 'a", &[byte][..], b"b' as x, convert_to('", &[byte], b"', 'UTF8')"];
            bytes = query(bytes, &text.concat());
        }
        check(both, encoding, &[USER, DATABASE], &bytes, 129);
    }
    for encoding in MULTIBYTE {
        let mut bytes = Bytes::new().query(&format!("set client_encoding = '{encoding}'"));
        let mut count = 1;
        for lead in [0x80, 0x81, 0x88, 0x8e, 0x8f, 0xa0, 0xa1, 0xa4, 0xb0, 0xc8, 0xdf, 0xe0, 0xfe] {
            for trail in [&b"b"[..], b"0\x810", b"@", b"\\", b"\x7f", b"\x80", b"\xa1", b"\xb5\xa2"]
            {
                let text: &[&[u8]] =
                    &[b"select 'a", &[lead], trail, b"' as x, convert_to('", &[lead], trail];
                bytes = query(bytes, &[&text.concat(), &b"b', 'UTF8')"[..]].concat());
                count += 1;
            }
        }
        check(both, encoding, &[USER, DATABASE], &bytes, count);
    }
    for encoding in ["LATIN1", "WIN1252", "WIN1251", "LATIN9"] {
        let mut bytes = Bytes::new().query(&format!("set client_encoding = '{encoding}'"));
        bytes =
            query(bytes, b"create temp table \"t\xe4\" (\"c\xf6\" text, n name, v varchar(3)[])");
        bytes =
            query(bytes, b"insert into \"t\xe4\" values ('\xe4\xf6\xfc', '\xe9', '{\xe4,\xf6}')");
        bytes = query(bytes, b"select * from \"t\xe4\" order by \"c\xf6\"");
        bytes = query(bytes, b"select \"nosuch\xe4\" from \"t\xe4\"");
        bytes = query(bytes, b"do $$ begin raise notice 'n\xf6te %', '\xdf'; end $$");
        bytes = query(bytes, b"listen \"ch\xe4nnel\"; notify \"ch\xe4nnel\", 'p\xe4yload'");
        bytes = query(bytes, b"copy \"t\xe4\" to stdout");
        bytes = query(bytes, b"copy \"t\xe4\" to stdout (format csv, header)");
        bytes = query(bytes, b"copy \"t\xe4\" to stdout (encoding 'UTF8')");
        bytes = query(bytes, b"copy \"t\xe4\" from stdin")
            .copy_data(b"\xe4\t\xf6\t{\xfc}\n")
            .copy_done();
        bytes = query(bytes, b"copy \"t\xe4\" from stdin (encoding 'UTF8')")
            .copy_data("é\tß\t{ü}\n".as_bytes())
            .copy_done();
        bytes =
            query(bytes, b"select length(\"c\xf6\"), \"c\xf6\"::bytea from \"t\xe4\" order by 2");
        bytes = query(bytes, b"set application_name = '\xe4'; show application_name");
        bytes = query(bytes, b"select 1/0 as \"\xe4\"");
        // The extended protocol, with text and binary formats.
        bytes = bytes
            .raw(b'P', b"s\xe4\0select $1::text || '\xf6', $1 as \"c\xe4\"\0\0\0")
            .raw(b'D', b"Ss\xe4\0")
            .raw(b'B', b"p\xe4\0s\xe4\0\0\0\0\x01\0\0\0\x02\xe4x\0\0")
            .raw(b'E', b"p\xe4\0\0\0\0\0")
            .raw(b'B', b"p2\0s\xe4\0\0\x01\0\x01\0\x01\0\0\0\x02\xe4x\0\x01\0\x01")
            .raw(b'E', b"p2\0\0\0\0\0")
            .raw(b'C', b"Ss\xe4\0")
            .sync();
        // Texts within an array, a row and JSON in binary format.
        let mut array = vec![0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 1, 0, 0, 0, 1];
        array.extend(b"\0\0\0\x02\xe4x");
        let length = (array.len() as u32).to_be_bytes();
        let bind = [&b"p3\0s3\0\0\x01\0\x01\0\x01"[..], &length, &array, b"\0\x01\0\x01"];
        let sql = b"s3\0select $1::text[], $1[1]::bytea, row($1[1], 1), to_jsonb($1)\0\0\0";
        bytes = bytes.raw(b'P', sql).raw(b'B', &bind.concat()).raw(b'E', b"p3\0\0\0\0\0").sync();
        bytes = bytes.query("set client_encoding = 'UTF8'");
        bytes = query(bytes, "select * from \"tä\" order by 1".as_bytes());
        check(both, encoding, &[USER, DATABASE], &bytes, 19);
    }
}

fn characters_without_equivalent(both: &Both) {
    for encoding in ["LATIN1", "WIN1252", "KOI8R", "SJIS", "EUC_KR", "GB18030"] {
        let set = format!("set client_encoding = '{encoding}'");
        let bytes = Bytes::new()
            .query("create temp table t (a text, b int)")
            .query("insert into t values ('ok', 1), ('ł€', 2), ('日本', 3)")
            .query(&set)
            .query("select a from t where b = 1")
            .query("select a from t where b = 2")
            .query("select * from t order by b")
            .query("copy t to stdout")
            .query("declare c cursor with hold for select a from t order by b")
            .query("fetch 1 from c")
            .query("select chr(8364)")
            .query("select e'\\u20ac', U&'\\0142'")
            .query("select 1");
        check(both, encoding, &[USER, DATABASE], &bytes, 12);
    }
    for refused in ["MULE_INTERNAL", "nosuch"] {
        let sql = format!("set client_encoding = '{refused}'");
        both.ask(&[&sql, "show client_encoding"]);
    }
}

fn the_startup_packet_sets_the_encoding(both: &Both) {
    let ask = |bytes| {
        query(query(bytes, b"show client_encoding"), b"select '\xe4' as \"\xe4\", length('\xe4')")
    };
    let parameters = [USER, DATABASE, ("client_encoding", "LATIN1")];
    check(both, "startup", &parameters, &ask(Bytes::new()), 2);
    let parameters = [USER, DATABASE, ("options", "-c client_encoding=WIN1252")];
    check(both, "options", &parameters, &ask(Bytes::new()), 2);
    both.ask(&["alter role postgres set client_encoding = 'LATIN9'"]);
    check(both, "role", &[USER, DATABASE], &ask(Bytes::new()), 2);
    both.ask(&["alter role postgres reset client_encoding"]);
}
