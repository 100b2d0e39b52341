//! Functions and operators of inet and cidr. Counterpart: network.c.

use crate::address::{Address, network_cmp};
use crate::show;
use pgerror::{PgError, Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::hash::{h32, h64, hash_bytes, hash_bytes_extended};

fn pair(a: &[DatumRef<'_>]) -> (Address, Address) {
    (Address::of(a[0]), Address::of(a[1]))
}

fn out_of_range() -> PgError {
    pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "result is out of range")
}

/// The netmask length that an argument gives; -1 is the longest.
fn mask_length(address: &Address, bits: i32) -> Result<u8> {
    match u8::try_from(bits) {
        _ if bits == -1 => Ok(address.bits_max()),
        Ok(bits) if bits <= address.bits_max() => Ok(bits),
        _ => Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid mask length: {bits}")),
    }
}

/// Combines the bits of two addresses of the same family.
fn bitwise(a: &[DatumRef<'_>], verb: &str, f: fn(u128, u128) -> u128) -> Result<Datum> {
    let (x, y) = pair(a);
    if x.family != y.family {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "cannot {verb} inet values of different sizes"
        ));
    }
    let bits = x.bits.max(y.bits);
    Ok(Address { bits, ..x.with(f(x.high, y.high)) }.datum())
}

/// Number of bits right of an address in its 128 bits.
fn unused(address: &Address) -> u32 {
    128 - u32::from(address.bits_max())
}

/// The address and a number. Error 22003 if there is no such address.
fn plus(address: &Address, number: i64) -> Result<Datum> {
    let low = address.high >> unused(address);
    let limit = u128::MAX >> unused(address);
    let sum = match number {
        0.. => low.checked_add(number.unsigned_abs().into()),
        _ => low.checked_sub(number.unsigned_abs().into()),
    };
    let sum = sum.filter(|s| *s <= limit).ok_or_else(out_of_range)?;
    Ok(address.with(sum << unused(address)).datum())
}

/// The difference of two addresses of the same family. Error 22003 if it is no bigint.
fn minus(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (x, y) = pair(a);
    if x.family != y.family {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "cannot subtract inet values of different sizes"
        ));
    }
    let (high, low) = (x.high >> unused(&x), y.high >> unused(&y));
    // As in PostgreSQL, differences of IPv6 addresses wrap.
    let difference = i64::try_from(high.wrapping_sub(low) as i128).ok();
    Ok(Datum::int8(difference.ok_or_else(out_of_range)?))
}

fn merge(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (x, y) = pair(a);
    if x.family != y.family {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "cannot merge addresses from different families"
        ));
    }
    let common = x.common_bits(&y, x.bits.min(y.bits));
    Ok(x.network(common).datum())
}

/// A relation of two addresses.
fn related(a: &[DatumRef<'_>], f: impl FnOnce(&Address, &Address) -> bool) -> Result<Datum> {
    let (x, y) = pair(a);
    Ok(Datum::bool(f(&x, &y)))
}

comparisons! { COMPARISONS;
    network_cmp => "network_eq" "network_ne" "network_lt" "network_le" "network_gt" "network_ge";
}

orderings! { ORDERINGS;
    network_cmp => "network_larger" "network_smaller";
}

scalars! { FNS;
    "network_cmp" => |_, a| Ok(Datum::int4(network_cmp_number(a))),
    "hashinet" => |_, a| Ok(h32(hash_bytes(a[0].as_bytes()))),
    "hashinetextended" => |_, a| Ok(h64(hash_bytes_extended(a[0].as_bytes(), a[1].word()))),
    "network_sub" => |_, a| related(a, |x, y| y.includes(x) && x.bits != y.bits),
    "network_subeq" => |_, a| related(a, |x, y| y.includes(x)),
    "network_sup" => |_, a| related(a, |x, y| x.includes(y) && x.bits != y.bits),
    "network_supeq" => |_, a| related(a, |x, y| x.includes(y)),
    "network_overlap" => |_, a| related(a, |x, y| x.includes(y) || y.includes(x)),
    "inet_same_family" => |_, a| related(a, |x, y| x.family == y.family),
    "inet_merge" => |_, a| merge(a),
    "inet_to_cidr" => |_, a| {
        let address = Address::of(a[0]);
        Ok(address.network(address.bits).datum())
    },
    "inet_set_masklen" => |_, a| {
        let address = Address::of(a[0]);
        Ok(Address { bits: mask_length(&address, a[1].as_i32())?, ..address }.datum())
    },
    "cidr_set_masklen" => |_, a| {
        let address = Address::of(a[0]);
        Ok(address.network(mask_length(&address, a[1].as_i32())?).datum())
    },
    "network_host" => |_, a| Ok(Datum::text(&show::host(&Address::of(a[0])))),
    "network_show" => |_, a| Ok(Datum::text(&show::text(&Address::of(a[0]), true))),
    "inet_abbrev" => |_, a| Ok(Datum::text(&show::text(&Address::of(a[0]), false))),
    "cidr_abbrev" => |_, a| Ok(Datum::text(&show::abbreviated(&Address::of(a[0])))),
    "network_masklen" => |_, a| Ok(Datum::int4(Address::of(a[0]).bits.into())),
    "network_family" => |_, a| Ok(Datum::int4(if Address::of(a[0]).is_ipv4() { 4 } else { 6 })),
    "network_broadcast" => |_, a| {
        let address = Address::of(a[0]);
        Ok(address.with(address.high | !address.netmask()).datum())
    },
    "network_network" => |_, a| {
        let address = Address::of(a[0]);
        Ok(address.network(address.bits).datum())
    },
    "network_netmask" => |_, a| {
        let address = Address::of(a[0]);
        Ok(Address { bits: address.bits_max(), ..address.with(address.netmask()) }.datum())
    },
    "network_hostmask" => |_, a| {
        let address = Address::of(a[0]);
        Ok(Address { bits: address.bits_max(), ..address.with(!address.netmask()) }.datum())
    },
    "inetnot" => |_, a| {
        let address = Address::of(a[0]);
        Ok(address.with(!address.high).datum())
    },
    "inetand" => |_, a| bitwise(a, "AND", |x, y| x & y),
    "inetor" => |_, a| bitwise(a, "OR", |x, y| x | y),
    "inetpl" => |_, a| plus(&Address::of(a[0]), a[1].as_i64()),
    // As in PostgreSQL, the least number is its own negation.
    "inetmi_int8" => |_, a| plus(&Address::of(a[0]), a[1].as_i64().wrapping_neg()),
    "inetmi" => |_, a| minus(a),
}

/// The result of `network_cmp`, which is not only -1, 0 or 1: the difference of the families, of
/// the first octets that differ, or of the lengths of the netmasks.
fn network_cmp_number(a: &[DatumRef<'_>]) -> i32 {
    let (x, y) = pair(a);
    let number = |b: u8| i32::from(b);
    if x.family != y.family {
        return number(x.family) - number(y.family);
    }
    let octets = |bits: u8| {
        let (p, q) = (x.octets(), y.octets());
        let differing = p.iter().zip(&q).take(usize::from(bits / 8)).find(|(a, b)| a != b);
        differing.map(|(a, b)| number(*a) - number(*b))
    };
    let common = x.bits.min(y.bits);
    octets(common).unwrap_or_else(|| match x.compare_bits(&y, common) as i32 {
        0 if x.bits != y.bits => number(x.bits) - number(y.bits),
        0 => octets(x.bits_max()).unwrap_or(0),
        order => order,
    })
}
