//! inet and cidr, as far as session views need them: input, output, and access to the parts.
//! Counterpart: network.c.
//!
//! The payload: family (2 for IPv4, 3 for IPv6), length of the netmask in bits, the address in
//! network byte order.

use pgerror::{Result, pg_err};
use std::net::IpAddr;
use values::datum::Datum;
use values::type_io::{Reader, bad_syntax};

const IPV4: u8 = 2;
const IPV6: u8 = 3;

/// The payload of a single host's address.
pub fn datum(address: IpAddr) -> Datum {
    make(address, if address.is_ipv4() { 32 } else { 128 })
}

fn make(address: IpAddr, bits: u8) -> Datum {
    match address {
        IpAddr::V4(a) => Datum::bytes([&[IPV4, bits][..], &a.octets()].concat()),
        IpAddr::V6(a) => Datum::bytes([&[IPV6, bits][..], &a.octets()].concat()),
    }
}

/// Address and netmask length of a payload.
fn parts(payload: &[u8]) -> (IpAddr, u8) {
    let bits = payload.get(1).copied().unwrap_or(0);
    let rest = payload.get(2..).unwrap_or_default();
    match (rest.first_chunk::<4>(), rest.first_chunk::<16>()) {
        (_, Some(a)) => (IpAddr::from(*a), bits),
        (Some(a), None) => (IpAddr::from(*a), bits),
        _ => (IpAddr::from([0; 4]), bits),
    }
}

fn full(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn host(address: IpAddr) -> String {
    match address {
        // An IPv6 address with 96 leading zero bits is shown with an IPv4 tail.
        IpAddr::V6(a) if a.segments()[..6] == [0; 6] && a.segments()[6] != 0 => {
            let [.., b1, b2, b3, b4] = a.octets();
            format!("::{b1}.{b2}.{b3}.{b4}")
        }
        other => other.to_string(),
    }
}

fn show(payload: &[u8], always: bool) -> String {
    let (address, bits) = parts(payload);
    let text = host(address);
    if bits == full(address) && !always { text } else { format!("{text}/{bits}") }
}

/// Parses an address. In cidr, trailing octets of an IPv4 network may be missing (`10.1`).
fn parse(text: &[u8], cidr: bool) -> Option<(IpAddr, u8)> {
    let text = std::str::from_utf8(text).ok()?;
    let (host, bits) = match text.split_once('/') {
        Some((host, bits)) => (host, Some(bits.parse::<u8>().ok()?)),
        None => (text, None),
    };
    let (address, implied) = match host.parse::<IpAddr>() {
        Ok(address) => (address, full(address)),
        Err(_) => {
            let octets: Vec<u8> = host.split('.').map(|o| o.parse().ok()).collect::<Option<_>>()?;
            if octets.is_empty() || octets.len() > 4 || (!cidr && bits.is_none()) {
                return None;
            }
            let mut all = [0; 4];
            all[..octets.len()].copy_from_slice(&octets);
            let implied = match (octets.len(), all[0]) {
                (1, 224) => 4,
                (n, first) => class_bits(first).max((n * 8) as u8),
            };
            (IpAddr::from(all), implied)
        }
    };
    let bits = bits.unwrap_or(implied);
    (bits <= full(address)).then_some((address, bits))
}

/// The netmask length of a network without one, by the class of its address.
fn class_bits(first: u8) -> u8 {
    match first {
        240.. => 32,
        192..224 => 24,
        128..192 => 16,
        _ => 8,
    }
}

/// Whether a bit to the right of the netmask is set.
fn beyond_mask(address: IpAddr, bits: u8) -> bool {
    match address {
        IpAddr::V4(a) => u32::from(a).checked_shl(u32::from(bits)).unwrap_or(0) != 0,
        IpAddr::V6(a) => u128::from(a).checked_shl(u32::from(bits)).unwrap_or(0) != 0,
    }
}

fn input(text: &[u8], cidr: bool) -> Result<Datum> {
    let kind = if cidr { "cidr" } else { "inet" };
    let (address, bits) = parse(text, cidr).ok_or_else(|| bad_syntax(kind, text))?;
    if cidr && beyond_mask(address, bits) {
        let text = String::from_utf8_lossy(text);
        return Err(pg_err!(INVALID_TEXT_REPRESENTATION, "invalid cidr value: \"{text}\"")
            .detail("Value has bits set to right of mask."));
    }
    Ok(make(address, bits))
}

/// Counterpart: `network_recv`.
fn receive(bytes: &[u8], cidr: bool) -> Result<Datum> {
    let kind = if cidr { "cidr" } else { "inet" };
    let bad = |what: &str| {
        pg_err!(INVALID_BINARY_REPRESENTATION, "invalid {what}external \"{kind}\" value")
    };
    let mut r = Reader::new(bytes);
    let family = r.byte()?;
    let wanted = match family {
        IPV4 => 4,
        IPV6 => 16,
        _ => return Err(bad("address family in ")),
    };
    let bits = r.byte()?;
    if bits > wanted * 8 {
        return Err(bad("bits in "));
    }
    // The receive function, not this byte, determines whether the value is a cidr.
    r.byte()?;
    if r.byte()? != wanted {
        return Err(bad("length in "));
    }
    let mut out = vec![family, bits];
    for _ in 0..wanted {
        out.push(r.byte()?);
    }
    r.end()?;
    let (address, _) = parts(&out);
    if cidr && beyond_mask(address, bits) {
        return Err(bad("").detail("Value has bits set to right of mask."));
    }
    Ok(Datum::bytes(out))
}

fn send(payload: &[u8], cidr: bool) -> Datum {
    let address = payload.get(2..).unwrap_or_default();
    let (family, bits) = (payload[0], payload[1]);
    Datum::bytes([&[family, bits, u8::from(cidr), address.len() as u8][..], address].concat())
}

scalars! { FNS;
    "inet_in" => |_, a| input(a[0].as_bytes(), false),
    "cidr_in" => |_, a| input(a[0].as_bytes(), true),
    "inet_out" => |_, a| Ok(Datum::text(&show(a[0].as_bytes(), false))),
    "cidr_out" => |_, a| Ok(Datum::text(&show(a[0].as_bytes(), true))),
    "inet_recv" => |_, a| receive(a[0].as_bytes(), false),
    "cidr_recv" => |_, a| receive(a[0].as_bytes(), true),
    "inet_send" => |_, a| Ok(send(a[0].as_bytes(), false)),
    "cidr_send" => |_, a| Ok(send(a[0].as_bytes(), true)),
    "network_host" => |_, a| Ok(Datum::text(&host(parts(a[0].as_bytes()).0))),
    "network_show" => |_, a| Ok(Datum::text(&show(a[0].as_bytes(), true))),
    "network_masklen" => |_, a| Ok(Datum::int4(i32::from(parts(a[0].as_bytes()).1))),
    "network_family" => |_, a| {
        Ok(Datum::int4(if parts(a[0].as_bytes()).0.is_ipv4() { 4 } else { 6 }))
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_and_formatted() {
        for (text, cidr, shown) in [
            ("127.0.0.1", false, "127.0.0.1"),
            ("10.1.2.3/8", false, "10.1.2.3/8"),
            ("::1", false, "::1"),
            ("10.1", true, "10.1.0.0/16"),
            ("192.168.1.0/24", true, "192.168.1.0/24"),
            ("127.0.0.1", true, "127.0.0.1/32"),
        ] {
            let Datum::Bytes(b) = input(text.as_bytes(), cidr).unwrap() else { panic!("bytes") };
            assert_eq!(show(&b, cidr), shown);
        }
        assert!(input(b"10.1", false).is_err());
        assert!(input(b"10.1.2.3/8", true).is_err());
        assert!(input(b"1.2.3.4/33", false).is_err());
    }
}
