//! inet and cidr as they are stored. Counterpart: network.c.
//!
//! ```text
//! payload: family:u8 (2 IPv4, 3 IPv6)  netmask length:u8  address:u8 × 4 or 16
//! ```

use ids::Oid;
use std::cmp::Ordering;
use std::net::IpAddr;
use values::datum::{Datum, DatumRef};

pub(crate) const IPV4: u8 = 2;
pub(crate) const IPV6: u8 = 3;

/// An address with the length of its netmask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    pub(crate) family: u8,
    pub(crate) bits: u8,
    /// The address from the highest bit down; the lower 96 bits of an IPv4 address are zero.
    pub(crate) high: u128,
}

/// The payload of a single host's address.
pub fn datum(address: IpAddr) -> Datum {
    Address::host(address).datum()
}

/// The `n` highest bits.
fn mask(n: u8) -> u128 {
    match n {
        0 => 0,
        n => u128::MAX << (128 - u32::from(n).min(128)),
    }
}

impl Address {
    /// A single host.
    pub fn host(address: IpAddr) -> Address {
        match address {
            IpAddr::V4(a) => Address::new(IPV4, 32, &a.octets()),
            IpAddr::V6(a) => Address::new(IPV6, 128, &a.octets()),
        }
    }

    /// `octets`: up to 16; those that are missing are zero.
    pub(crate) fn new(family: u8, bits: u8, octets: &[u8]) -> Address {
        let mut all = [0; 16];
        let len = octets.len().min(16);
        all[..len].copy_from_slice(&octets[..len]);
        Address { family, bits, high: u128::from_be_bytes(all) }
    }

    /// The address in a value that is not NULL.
    pub fn of(value: DatumRef<'_>) -> Address {
        match value.as_bytes() {
            // A damaged value has no more bits than its family.
            [family, bits, octets @ ..] => {
                let most = if *family == IPV4 { 32 } else { 128 };
                Address::new(*family, (*bits).min(most), octets)
            }
            _ => Address::new(IPV4, 0, &[]),
        }
    }

    /// The address as a value.
    pub fn datum(&self) -> Datum {
        let octets = self.octets();
        let mut out = Vec::with_capacity(18);
        out.extend([self.family, self.bits]);
        out.extend(&octets[..self.size()]);
        Datum::bytes(out)
    }

    /// The octets; those after the first four of an IPv4 address are zero.
    pub(crate) fn octets(&self) -> [u8; 16] {
        self.high.to_be_bytes()
    }

    /// Number of octets of the address.
    pub(crate) fn size(&self) -> usize {
        if self.family == IPV4 { 4 } else { 16 }
    }

    /// Number of bits of the address.
    pub(crate) fn bits_max(&self) -> u8 {
        if self.family == IPV4 { 32 } else { 128 }
    }

    pub(crate) fn is_ipv4(&self) -> bool {
        self.family == IPV4
    }

    /// The address with other bits, those beyond its size cleared.
    pub(crate) fn with(&self, high: u128) -> Address {
        Address { high: high & mask(self.bits_max()), ..*self }
    }

    /// The bits of the netmask.
    pub(crate) fn netmask(&self) -> u128 {
        mask(self.bits)
    }

    /// The same address with a netmask of this length and no bit right of it.
    pub(crate) fn network(&self, bits: u8) -> Address {
        Address { bits, high: self.high & mask(bits), ..*self }
    }

    /// Whether a bit right of the netmask is set.
    pub(crate) fn has_host_bits(&self) -> bool {
        self.high & !self.netmask() != 0
    }

    /// The order of the first `n` bits. Counterpart: `bitncmp`.
    pub(crate) fn compare_bits(&self, other: &Address, n: u8) -> Ordering {
        (self.high & mask(n)).cmp(&(other.high & mask(n)))
    }

    /// Number of equal bits at the start, up to `n`. Counterpart: `bitncommon`.
    pub(crate) fn common_bits(&self, other: &Address, n: u8) -> u8 {
        ((self.high ^ other.high).leading_zeros() as u8).min(n)
    }

    /// The order of addresses: by family, the common bits of the networks, the length of the
    /// netmask, all bits. Counterpart: `network_cmp_internal`.
    pub fn compare(&self, other: &Address) -> Ordering {
        let common = self.bits.min(other.bits);
        (self.family.cmp(&other.family))
            .then_with(|| self.compare_bits(other, common))
            .then_with(|| self.bits.cmp(&other.bits))
            .then_with(|| self.high.cmp(&other.high))
    }

    /// Whether the network contains the other one or equals it.
    pub(crate) fn includes(&self, other: &Address) -> bool {
        self.family == other.family
            && self.bits <= other.bits
            && self.compare_bits(other, self.bits).is_eq()
    }

    /// The value as a number for estimates; of an IPv6 address, only its start. Counterpart:
    /// `convert_network_to_scalar`.
    pub fn scalar(&self) -> f64 {
        let len = if self.is_ipv4() { 4 } else { 5 };
        let octets = self.octets();
        octets[..len].iter().fold(f64::from(self.family), |sum, b| sum * 256.0 + f64::from(*b))
    }

    /// The range of B-tree keys in which the addresses within this network are: its network
    /// address, and its broadcast address with the longest netmask.
    pub fn key_range(&self) -> (Datum, Datum) {
        let last = self.with(self.high | !self.netmask());
        let last = Address { bits: self.bits_max(), ..last };
        (self.network(self.bits).datum(), last.datum())
    }
}

/// The B-tree order of inet and cidr.
pub fn network_cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    Address::of(a).compare(&Address::of(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(octets: [u8; 4], bits: u8) -> Address {
        Address::new(IPV4, bits, &octets)
    }

    #[test]
    fn addresses_are_ordered_by_network_first() {
        let list = [
            v4([10, 0, 0, 0], 8),
            v4([10, 0, 0, 0], 32),
            v4([10, 1, 0, 0], 16),
            v4([10, 1, 2, 3], 32),
            v4([11, 0, 0, 1], 8),
            Address::new(IPV6, 0, &[]),
        ];
        for (i, a) in list.iter().enumerate() {
            for (j, b) in list.iter().enumerate() {
                assert_eq!(a.compare(b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn parts_of_an_address() {
        let a = v4([192, 168, 1, 5], 24);
        assert_eq!(a.network(24), v4([192, 168, 1, 0], 24));
        assert!(a.has_host_bits() && !a.network(24).has_host_bits());
        assert_eq!(a.common_bits(&v4([192, 168, 3, 5], 24), 24), 22);
        assert!(a.includes(&v4([192, 168, 1, 200], 32)) && !a.includes(&v4([192, 168, 0, 0], 16)));
        let (first, last) = a.key_range();
        assert_eq!(Address::of(first.as_ref()), v4([192, 168, 1, 0], 24));
        assert_eq!(Address::of(last.as_ref()), v4([192, 168, 1, 255], 32));
    }
}
