//! inet and cidr values as text. Counterpart: inet_net_ntop.c, inet_cidr_ntop.c.

use crate::address::Address;
use std::fmt::Write;

/// The 16-bit words of an IPv6 address.
fn words(a: &Address) -> [u16; 8] {
    let octets = a.octets();
    std::array::from_fn(|i| u16::from_be_bytes([octets[2 * i], octets[2 * i + 1]]))
}

/// The first of the longest runs of zeros among the words: its start and its length.
fn zeros(words: &[u16]) -> (usize, usize) {
    let (mut best, mut current) = ((0, 0), (0, 0));
    for (i, word) in words.iter().enumerate() {
        if *word != 0 {
            current = (i + 1, 0);
            continue;
        }
        current.1 += 1;
        if current.1 > best.1 {
            best = current;
        }
    }
    best
}

/// The octets of an IPv4 address, joined by dots.
fn dotted(octets: &[u8]) -> String {
    let list: Vec<String> = octets.iter().map(u8::to_string).collect();
    list.join(".")
}

/// The address without its netmask length.
pub(crate) fn host(a: &Address) -> String {
    let octets = a.octets();
    if a.is_ipv4() {
        return dotted(&octets[..4]);
    }
    let words = words(a);
    let (start, len) = match zeros(&words) {
        (start, len) if len >= 2 => (start, len),
        _ => (8, 0),
    };
    let mut out = String::new();
    let mut i = 0;
    while i < 8 {
        if i == start {
            out.push(':');
            i += len;
            if i == 8 {
                out.push(':');
            }
            continue;
        }
        if i != 0 {
            out.push(':');
        }
        let embedded =
            start == 0 && (len == 6 || len == 7 && words[7] != 1 || len == 5 && words[5] == 0xffff);
        if i == 6 && embedded {
            return out + &dotted(&octets[12..]);
        }
        let _ = write!(out, "{:x}", words[i]);
        i += 1;
    }
    out
}

/// The address with its netmask length, which is left out if it is the longest, unless `always`.
pub(crate) fn text(a: &Address, always: bool) -> String {
    match a.bits == a.bits_max() && !always {
        true => host(a),
        false => format!("{}/{}", host(a), a.bits),
    }
}

/// The network without octets or words right of the netmask. Counterpart: `pg_inet_cidr_ntop`.
pub(crate) fn abbreviated(a: &Address) -> String {
    let network = a.network(a.bits);
    let body = match (a.is_ipv4(), a.bits) {
        (true, 0) => "0".to_owned(),
        (true, bits) => dotted(&network.octets()[..usize::from(bits).div_ceil(8)]),
        (false, 0) => "::".to_owned(),
        (false, _) => abbreviated_ipv6(&network),
    };
    format!("{body}/{}", a.bits)
}

/// Counterpart: `inet_cidr_ntop_ipv6`.
fn abbreviated_ipv6(a: &Address) -> String {
    let (words, octets) = (words(a), a.octets());
    let shown = usize::from(a.bits).div_ceil(16).max(2);
    let (start, len) = abbreviated_zeros(&words[..shown]);
    let mapped = len == 5 && octets[10] == 0xff && octets[11] == 0xff;
    let is_ipv4 = len != shown
        && start == 0
        && (len == 6 || mapped || len == 7 && octets[14] != 0 && octets[15] != 1);
    let mut out = String::new();
    for (i, word) in words[..shown].iter().enumerate() {
        if len != 0 && (start..start + len).contains(&i) {
            if i == start {
                out.push(':');
            }
            if i == shown - 1 {
                out.push(':');
            }
        } else if is_ipv4 && i > 5 {
            let _ = write!(out, "{}{}", if i == 6 { ':' } else { '.' }, octets[2 * i]);
            // The last octet may be left out.
            if i != 7 || a.bits > 120 {
                let _ = write!(out, ".{}", octets[2 * i + 1]);
            }
        } else {
            if !out.is_empty() {
                out.push(':');
            }
            let _ = write!(out, "{word:x}");
        }
    }
    out
}

/// The run of zeros that is left out. As in PostgreSQL, a run that is not longer than the longest
/// one so far is counted together with the next one.
fn abbreviated_zeros(words: &[u16]) -> (usize, usize) {
    let (mut best, mut current) = ((0, 0), (0, 0));
    for (i, word) in words.iter().enumerate() {
        if *word == 0 {
            if current.1 == 0 {
                current.0 = i;
            }
            current.1 += 1;
        } else if current.1 > best.1 {
            best = current;
            current.1 = 0;
        }
    }
    if current.1 > best.1 { current } else { best }
}
