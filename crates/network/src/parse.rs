//! The text of inet and cidr values. Counterpart: inet_net_pton.c.

use crate::address::{Address, IPV4, IPV6};

/// A reader of text; the end reads as zero.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// A decimal number of at least one digit, up to `most`.
    fn number(&mut self, most: u32) -> Option<u32> {
        let mut n = None;
        while self.peek().is_ascii_digit() {
            let digit = u32::from(self.peek() - b'0');
            let next = n.unwrap_or(0u32).checked_mul(10)?.checked_add(digit)?;
            n = Some(next).filter(|n| *n <= most);
            n?;
            self.at += 1;
        }
        n
    }

    /// The length of the netmask at the end of the text: `/n`. `None` if there is something else.
    fn mask_length(&mut self) -> Option<u32> {
        if self.peek() != b'/' {
            return None;
        }
        self.at += 1;
        let bits = self.number(32)?;
        self.is_at_end().then_some(bits)
    }
}

/// Reads an address. In cidr, trailing octets of an IPv4 network may be missing (`10.1`).
pub(crate) fn address(text: &[u8], is_cidr: bool) -> Option<Address> {
    if text.contains(&b':') {
        return ipv6(text);
    }
    let (octets, bits) = if is_cidr { ipv4_network(text)? } else { ipv4(text)? };
    Some(Address::new(IPV4, bits, &octets))
}

/// Octets, of which at most four.
fn push(octets: &mut Vec<u8>, octet: u32) -> Option<()> {
    octets.push(octet as u8);
    (octets.len() <= 4).then_some(())
}

/// Counterpart: `inet_net_pton_ipv4`.
fn ipv4(text: &[u8]) -> Option<(Vec<u8>, u8)> {
    let mut s = Scanner { text, at: 0 };
    let mut octets = Vec::new();
    while s.peek().is_ascii_digit() {
        push(&mut octets, s.number(255)?)?;
        match s.peek() {
            b'.' => s.at += 1,
            _ => break,
        }
    }
    let bits = match s.is_at_end() {
        true if octets.len() == 4 => 32,
        true => return None,
        // A dot before the length is not an error.
        false if !octets.is_empty() => s.mask_length()?,
        false => return None,
    };
    // All octets of the network must be given.
    if bits as usize / 8 > octets.len() {
        return None;
    }
    Some((octets, bits as u8))
}

/// Counterpart: `inet_cidr_pton_ipv4`.
fn ipv4_network(text: &[u8]) -> Option<(Vec<u8>, u8)> {
    let mut s = Scanner { text, at: 0 };
    let mut octets = Vec::new();
    let is_hex = matches!(text, [b'0', b'x' | b'X', c, ..] if c.is_ascii_hexdigit());
    if is_hex {
        s.at = 2;
        let mut digits = Vec::new();
        while let Some(digit) = char::from(s.peek()).to_digit(16) {
            digits.push(digit);
            s.at += 1;
        }
        for pair in digits.chunks(2) {
            push(&mut octets, pair[0] << 4 | pair.get(1).copied().unwrap_or(0))?;
        }
    } else {
        loop {
            push(&mut octets, s.number(255)?)?;
            match s.peek() {
                b'.' => s.at += 1,
                _ => break,
            }
        }
    }
    let bits = match s.is_at_end() {
        true => implied_bits(&octets),
        false => s.mask_length()?,
    };
    Some((octets, bits as u8))
}

/// The netmask length of a network without one, by the class of its address.
fn implied_bits(octets: &[u8]) -> u32 {
    let of_class = match octets[0] {
        240.. => 32,
        224.. => 8,
        192.. => 24,
        128.. => 16,
        _ => 8,
    };
    match of_class.max(8 * octets.len() as u32) {
        // A multicast network.
        8 if octets[0] == 224 => 4,
        bits => bits,
    }
}

/// The netmask length after an IPv6 address: without leading zeros, up to 128.
fn ipv6_bits(text: &[u8]) -> Option<u8> {
    match text {
        [b'0', _, ..] => None,
        _ => Scanner { text, at: 0 }.whole(128).map(|n| n as u8),
    }
}

impl Scanner<'_> {
    /// A number that is all of the text.
    fn whole(mut self, most: u32) -> Option<u32> {
        let n = self.number(most)?;
        self.is_at_end().then_some(n)
    }
}

/// The IPv4 address at the end of an IPv6 address, and the netmask length after it.
fn embedded(text: &[u8]) -> Option<([u8; 4], u8)> {
    let (address, bits) = match text.iter().position(|c| *c == b'/') {
        Some(at) => (&text[..at], ipv6_bits(&text[at + 1..])?),
        None => (text, 128),
    };
    let parts: Vec<&[u8]> = address.split(|c| *c == b'.').collect();
    let mut octets = [0; 4];
    // As in PostgreSQL, trailing octets may be missing, and an octet before a dot or a slash.
    if parts.len() > 4 || address.len() == text.len() && address.last() == Some(&b'.') {
        return None;
    }
    for (octet, part) in octets.iter_mut().zip(parts) {
        *octet = match part {
            [] => 0,
            [b'0', _, ..] => return None,
            part => Scanner { text: part, at: 0 }.whole(255)? as u8,
        };
    }
    Some((octets, bits))
}

/// Counterpart: `inet_cidr_pton_ipv6`.
fn ipv6(text: &[u8]) -> Option<Address> {
    let mut words: Vec<u8> = Vec::new();
    // Offset of the zeros that `::` stands for.
    let mut gap = None;
    let (mut at, mut bits) = (0, 128);
    if text.first() == Some(&b':') {
        at = 1;
        if text.get(1) != Some(&b':') {
            return None;
        }
    }
    let mut start = at;
    let (mut value, mut digits) = (0u32, 0);
    while let Some(&c) = text.get(at) {
        at += 1;
        match c {
            _ if c.is_ascii_hexdigit() => {
                digits += 1;
                value = value << 4 | char::from(c).to_digit(16)?;
                if digits > 4 {
                    return None;
                }
            }
            b':' => {
                start = at;
                if digits == 0 {
                    if gap.replace(words.len()).is_some() {
                        return None;
                    }
                    continue;
                }
                if at == text.len() || words.len() + 2 > 16 {
                    return None;
                }
                words.extend((value as u16).to_be_bytes());
                (value, digits) = (0, 0);
            }
            b'.' if words.len() + 4 <= 16 => {
                let (octets, length) = embedded(&text[start..])?;
                words.extend(octets);
                (digits, bits) = (0, length);
                break;
            }
            b'/' => {
                bits = ipv6_bits(&text[at..])?;
                break;
            }
            _ => return None,
        }
    }
    if digits > 0 {
        if words.len() + 2 > 16 {
            return None;
        }
        words.extend((value as u16).to_be_bytes());
    }
    if let Some(gap) = gap {
        if words.len() == 16 {
            return None;
        }
        let missing = 16 - words.len();
        words.splice(gap..gap, std::iter::repeat_n(0, missing));
    }
    (words.len() == 16).then(|| Address::new(IPV6, bits, &words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show;

    fn shown(text: &str, is_cidr: bool) -> Option<String> {
        address(text.as_bytes(), is_cidr).map(|a| show::text(&a, false))
    }

    /// The results are those of PostgreSQL 15.
    #[test]
    fn addresses_are_read() {
        for (given, cidr, expected) in [
            ("127.0.0.1", false, "127.0.0.1"),
            ("10.1.2.3/8", false, "10.1.2.3/8"),
            ("10/8", false, "10.0.0.0/8"),
            ("1.2.3.4.", false, "1.2.3.4"),
            ("::1", false, "::1"),
            ("10.1", true, "10.1.0.0/16"),
            ("224", true, "224.0.0.0/4"),
            ("192.168", true, "192.168.0.0/24"),
            ("0xff01", true, "255.1.0.0"),
            ("::ffff:1.2.3.4/120", false, "::ffff:1.2.3.4/120"),
            ("2001:4F8:3:BA::/64", true, "2001:4f8:3:ba::/64"),
            ("1::", false, "1::"),
        ] {
            assert_eq!(shown(given, cidr).as_deref(), Some(expected), "{given}");
        }
        for (bad, cidr) in [
            ("10.1", false),
            ("1.2.3.4/33", false),
            ("1.2.3.256", false),
            ("1.2.3.4.5", false),
            ("10/16", false),
            ("1:2:3", false),
            ("1::2::3", false),
            (":1", false),
            ("::/129", false),
            ("::/01", false),
            ("1.2.3.", true),
            ("", false),
            ("", true),
            ("12345::", false),
        ] {
            assert_eq!(shown(bad, cidr), None, "{bad}");
        }
    }
}
