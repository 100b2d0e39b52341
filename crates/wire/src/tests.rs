//! Messages from the protocol documentation, complete and malformed.

use super::*;

fn inbox(bytes: &[u8]) -> Inbox {
    let mut inbox = Inbox::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let n = inbox.fill(|buf| {
            let n = rest.len().min(buf.len()).min(3000);
            buf[..n].copy_from_slice(&rest[..n]);
            Ok::<_, ()>(n)
        });
        rest = &rest[n.unwrap()..];
    }
    inbox
}

#[test]
fn messages_are_split_into_frames() {
    let mut inbox = inbox(b"Q\0\0\0\x0dselect 1\0S\0\0\0\x04Q\0\0\0\x06x");
    let q = inbox.next_frame().unwrap().unwrap();
    assert_eq!(
        FrontendMessage::decode(q.kind, inbox.body(q)).unwrap(),
        FrontendMessage::Query(b"select 1")
    );
    let s = inbox.next_frame().unwrap().unwrap();
    assert_eq!(FrontendMessage::decode(s.kind, inbox.body(s)).unwrap(), FrontendMessage::Sync);
    assert_eq!(inbox.next_frame().unwrap(), None);
}

#[test]
fn long_messages_arrive_in_parts() {
    let text = "x".repeat(100_000);
    let mut bytes = vec![b'Q'];
    bytes.extend_from_slice(&(text.len() as u32 + 5).to_be_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(0);
    let mut inbox = inbox(&bytes);
    let frame = inbox.next_frame().unwrap().unwrap();
    assert_eq!(inbox.body(frame).len(), 100_001);
}

#[test]
fn unknown_types_and_invalid_lengths_end_the_connection() {
    // An unknown type is reported to the client; after an invalid length no response is possible.
    let cases = [
        (&b"z\0\0\0\x04"[..], Severity::Fatal),
        (b"Q\0\0\0\x03", Severity::Log),
        (b"Q\xff\xff\xff\xff", Severity::Log),
        (b"S\0\0\xff\xff", Severity::Log),
    ];
    for (bytes, severity) in cases {
        let error = inbox(bytes).next_frame().unwrap_err();
        assert_eq!(error.code(), SqlState::PROTOCOL_VIOLATION);
        assert_eq!(error.fields().severity, severity);
    }
}

#[test]
fn bind_reads_values_and_formats() {
    let body = b"p\0s\0\0\x01\0\x01\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\x02\0\0\0\x01";
    let FrontendMessage::Bind(bind) = FrontendMessage::decode(b'B', body).unwrap() else {
        panic!("not a Bind")
    };
    assert_eq!((bind.portal, bind.statement), (&b"p"[..], &b"s"[..]));
    let bind = bind.values().unwrap();
    assert_eq!(bind.values, [Some(&b"ab"[..]), None]);
    assert_eq!(bind.formats.get(1), Format::Binary);
    assert_eq!(bind.results().unwrap(), Formats::Each(vec![Format::Text, Format::Binary]));
}

#[test]
fn truncated_bodies_are_errors() {
    let bodies: [(u8, &[u8]); 5] = [
        (b'B', b"p\0s\0\0\x01\0\x01\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\x02\0\0\0\x01"),
        (b'P', b"s\0select $1\0\0\x01\0\0\0\x17"),
        (b'D', b"Sname\0"),
        (b'E', b"name\0\0\0\0\x05"),
        (b'C', b"Pname\0"),
    ];
    for (kind, body) in bodies {
        assert!(FrontendMessage::decode(kind, body).is_ok());
        for cut in 0..body.len() {
            let error = read_whole(kind, &body[..cut]).unwrap_err();
            assert_eq!(error.code(), SqlState::PROTOCOL_VIOLATION);
        }
        let longer = [body, b"x"].concat();
        assert!(read_whole(kind, &longer).is_err());
    }
}

/// A Bind message is decoded step by step.
fn read_whole(kind: u8, body: &[u8]) -> pgerror::Result<()> {
    if let FrontendMessage::Bind(bind) = FrontendMessage::decode(kind, body)? {
        let values = bind.values()?;
        values.check()?;
        values.results()?;
    }
    Ok(())
}

#[test]
fn startup_packets_are_decoded() {
    let packet = b"\0\0\0\x22\0\x03\0\0user\0ann\0database\0db\0a\0b\0\0";
    let (startup, len) = StartupPacket::decode(packet).unwrap().unwrap();
    assert_eq!(len, packet.len());
    let StartupPacket::Startup(p) = startup else { panic!("not a startup packet") };
    assert_eq!((p.user.as_deref(), p.database.as_deref()), (Some("ann"), Some("db")));
    assert_eq!(p.other, [("a".to_owned(), "b".to_owned())]);
    assert_eq!(StartupPacket::decode(&packet[..9]).unwrap(), None);
    let ssl = StartupPacket::decode(b"\0\0\0\x08\x04\xd2\x16\x2f").unwrap().unwrap();
    assert_eq!(ssl.0, StartupPacket::SslRequest);
    let cancel = b"\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\x07\0\0\0\x09";
    let cancel = StartupPacket::decode(cancel).unwrap().unwrap().0;
    assert_eq!(cancel, StartupPacket::Cancel { pid: 7, key: 9 });
    assert!(StartupPacket::decode(b"\xff\xff\xff\xff").is_err());
}

/// The bytes after the version, and whether PostgreSQL 15 accepts them (tested).
#[test]
fn layouts_of_startup_packets() {
    for (body, accepted) in [
        (&b"user\0ann\0\0"[..], true),
        (b"user\0ann\0x", true),
        (b"x", true),
        (b"\0", true),
        (b"user\0ann\0", false),
        (b"user\0ann", false),
        (b"user\0", false),
        (b"user\0a", false),
        (b"user\0ann\0\0\0\0", false),
        (b"user\0ann\0ab", false),
        (b"user\0ann\0ab\0", false),
        (b"user\0ann\0\0zz", false),
        (b"xy", false),
        (b"\0\0", false),
        (b"", false),
    ] {
        let len = (body.len() as u32 + 8).to_be_bytes();
        let packet = [&len[..], b"\0\x03\0\0", body].concat();
        let decoded = StartupPacket::decode(&packet);
        assert_eq!(decoded.is_ok(), accepted, "{body:?}");
        if let Ok(Some((StartupPacket::Startup(p), _))) = decoded {
            let user = body.starts_with(b"user").then_some("ann");
            assert_eq!((p.user.as_deref(), &p.other[..]), (user, &[][..]), "{body:?}");
        }
    }
}

#[test]
fn other_versions_get_errors_in_their_format() {
    let (packet, len) = StartupPacket::decode(b"\0\0\0\x08\0\x02\0\0").unwrap().unwrap();
    assert_eq!((packet, len), (StartupPacket::Unsupported(2 << 16), 8));
    let text = "unsupported frontend protocol 2.0: server supports 3.0 to 3.0";
    let mut out = Vec::new();
    assert_eq!(refuse_version(&mut out, 2 << 16).code(), SqlState::FEATURE_NOT_SUPPORTED);
    assert_eq!(out, format!("EFATAL:  {text}\n\0").as_bytes());
    for version in [0, 4 << 16] {
        out.clear();
        refuse_version(&mut out, version);
        assert_eq!(out[1..5], (out.len() as u32 - 1).to_be_bytes());
        assert!(out[5..].starts_with(b"SFATAL\0VFATAL\0C0A000\0"));
    }
}

#[test]
fn formats_are_checked_when_values_are_converted() {
    let body = b"\0\0\0\x01\0\x07\0\0\0\x02\0\0\xff\xff";
    let FrontendMessage::Bind(bind) = FrontendMessage::decode(b'B', body).unwrap() else {
        panic!("not a Bind")
    };
    let bind = bind.values().unwrap();
    assert_eq!(bind.formats, Formats::All(Format::Unknown(7)));
    let results = bind.results().unwrap();
    assert_eq!((results.get(0), results.get(1).code()), (Format::Text, -1));
}

#[test]
fn one_code_for_text_is_the_same_as_none() {
    for codes in [&b"\0\0"[..], b"\0\x01\0\0"] {
        let body = [b"\0\0\0\0\0\0", codes].concat();
        let FrontendMessage::Bind(bind) = FrontendMessage::decode(b'B', &body).unwrap() else {
            panic!("not a Bind")
        };
        assert_eq!(bind.values().unwrap().results().unwrap(), Formats::Text);
    }
}

#[test]
fn messages_have_correct_lengths() {
    let mut out = Vec::new();
    backend::command_complete(&mut out, "SELECT 1");
    assert_eq!(out, b"C\0\0\0\x0dSELECT 1\0");
    out.clear();
    let mut row = DataRow::begin(&mut out, 2);
    row.value_with(|v| v.extend_from_slice(b"abc"));
    row.null();
    row.finish();
    assert_eq!(out, b"D\0\0\0\x11\0\x02\0\0\0\x03abc\xff\xff\xff\xff");
    out.clear();
    let error = violation("bad\0text").at(3);
    backend::report(&mut out, &error);
    assert_eq!(&out[5..], b"SFATAL\0VFATAL\0C08P01\0Mbadtext\0P3\0\0");
}

/// A skipped message is discarded while it arrives, and the next one is found.
#[test]
fn next_message_is_found_after_a_skipped_one() {
    let mut long = vec![b'Q'];
    long.extend_from_slice(&50_004u32.to_be_bytes());
    long.extend_from_slice(&[b'x'; 20_000]);
    let mut inbox = inbox(&long);
    assert_eq!(inbox.next_frame().unwrap(), None);
    assert_eq!(inbox.incomplete(), Some((b'Q', 50_005)));
    inbox.skip(50_005);
    assert!(inbox.is_skipping() && inbox.pending().is_empty());
    let mut rest = vec![b'x'; 30_000];
    rest.extend_from_slice(b"S\0\0\0\x04");
    let mut rest = &rest[..];
    while !rest.is_empty() {
        let n = inbox.fill(|buf| {
            let n = rest.len().min(buf.len());
            buf[..n].copy_from_slice(&rest[..n]);
            Ok::<_, ()>(n)
        });
        rest = &rest[n.unwrap()..];
    }
    assert!(!inbox.is_skipping());
    assert_eq!(inbox.next_frame().unwrap().map(|f| f.kind), Some(b'S'));
}
