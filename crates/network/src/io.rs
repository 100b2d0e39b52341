//! Input, output and binary form of inet and cidr. Counterpart: network.c, first part.

use crate::address::{Address, IPV4, IPV6};
use crate::{parse, show};
use pgerror::{Result, pg_err};
use values::datum::Datum;
use values::type_io::{Reader, bad_syntax, lossy_text};

fn input(text: &[u8], is_cidr: bool) -> Result<Datum> {
    let kind = if is_cidr { "cidr" } else { "inet" };
    let address = parse::address(text, is_cidr).ok_or_else(|| bad_syntax(kind, text))?;
    if is_cidr && address.has_host_bits() {
        let text = lossy_text(text);
        return Err(pg_err!(INVALID_TEXT_REPRESENTATION, "invalid cidr value: \"{text}\"")
            .detail("Value has bits set to right of mask."));
    }
    Ok(address.datum())
}

/// Counterpart: `network_recv`.
fn receive(bytes: &[u8], is_cidr: bool) -> Result<Datum> {
    let kind = if is_cidr { "cidr" } else { "inet" };
    let bad = |what: &str| {
        pg_err!(INVALID_BINARY_REPRESENTATION, "invalid {what}external \"{kind}\" value")
    };
    let mut r = Reader::new(bytes);
    let family = r.byte()?;
    let size = match family {
        IPV4 => 4,
        IPV6 => 16,
        _ => return Err(bad("address family in ")),
    };
    let bits = r.byte()?;
    if bits > size * 8 {
        return Err(bad("bits in "));
    }
    // The receive function, not this byte, determines whether the value is a cidr.
    r.byte()?;
    if r.byte()? != size {
        return Err(bad("length in "));
    }
    let mut octets = Vec::with_capacity(16);
    for _ in 0..size {
        octets.push(r.byte()?);
    }
    let address = Address::new(family, bits, &octets);
    if is_cidr && address.has_host_bits() {
        return Err(bad("").detail("Value has bits set to right of mask."));
    }
    r.end()?;
    Ok(address.datum())
}

fn send(payload: &[u8], is_cidr: bool) -> Datum {
    let [family, bits, octets @ ..] = payload else { return Datum::bytes(payload) };
    let head = [*family, *bits, u8::from(is_cidr), octets.len() as u8];
    Datum::bytes([&head[..], octets].concat())
}

scalars! { FNS;
    "inet_in" => |_, a| input(a[0].as_bytes(), false),
    "cidr_in" => |_, a| input(a[0].as_bytes(), true),
    "inet_out" => |_, a| Ok(Datum::text(&show::text(&Address::of(a[0]), false))),
    "cidr_out" => |_, a| Ok(Datum::text(&show::text(&Address::of(a[0]), true))),
    "inet_recv" => |_, a| receive(a[0].as_bytes(), false),
    "cidr_recv" => |_, a| receive(a[0].as_bytes(), true),
    "inet_send" => |_, a| Ok(send(a[0].as_bytes(), false)),
    "cidr_send" => |_, a| Ok(send(a[0].as_bytes(), true)),
}
