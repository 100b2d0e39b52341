//! uuid-ossp: UUIDs of versions 1, 3, 4 and 5.
//!
//! Counterpart: contrib/uuid-ossp/uuid-ossp.c.

use crate::library::Library;
use md5::Md5;
use pgerror::Result;
use sha1::{Digest, Sha1};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;

pub static LIBRARY: Library = Library { name: "uuid-ossp", functions: &[FNS], ..Library::EMPTY };

/// Steps of 100 ns from 1582-10-15, the epoch of version 1, to 2000-01-01.
const EPOCH_STEPS: u64 = 0x01D3_BFDE_63B0_0000;

/// The namespaces of RFC 4122 differ in the fourth byte only.
fn namespace(byte: u8) -> Result<Datum> {
    Ok(Datum::bytes([
        0x6b, 0xa7, 0xb8, byte, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30,
        0xc8,
    ]))
}

/// Sets the version, and the variant of RFC 4122.
fn with_version(mut bytes: [u8; 16], version: u8) -> Datum {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Datum::bytes(bytes)
}

fn random(cx: &mut dyn FnContext) -> Result<[u8; 16]> {
    let mut bytes = [0; 16];
    cx.random_bytes(&mut bytes)?;
    Ok(bytes)
}

/// A UUID of the time. The node is a random multicast address, and the clock sequence is random, so
/// that UUIDs of different sessions differ.
fn of_time(cx: &mut dyn FnContext) -> Result<Datum> {
    let mut bytes = random(cx)?;
    let steps = (cx.clock_timestamp() as u64).wrapping_mul(10).wrapping_add(EPOCH_STEPS);
    // The steps within a microsecond distinguish UUIDs of one call.
    let steps = steps + u64::from(bytes[9] % 10);
    bytes[..4].copy_from_slice(&(steps as u32).to_be_bytes());
    bytes[4..6].copy_from_slice(&((steps >> 32) as u16).to_be_bytes());
    bytes[6..8].copy_from_slice(&((steps >> 48) as u16).to_be_bytes());
    bytes[10] |= 0x03;
    Ok(with_version(bytes, 1))
}

fn of_name<D: Digest>(a: &[DatumRef<'_>], version: u8) -> Result<Datum> {
    let mut digest = D::new();
    digest.update(a[0].as_bytes());
    digest.update(a[1].as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.finalize()[..16]);
    Ok(with_version(bytes, version))
}

scalars! { FNS;
    "uuid_nil" => |_, _| Ok(Datum::bytes([0; 16])),
    "uuid_ns_dns" => |_, _| namespace(0x10),
    "uuid_ns_url" => |_, _| namespace(0x11),
    "uuid_ns_oid" => |_, _| namespace(0x12),
    "uuid_ns_x500" => |_, _| namespace(0x14),
    "uuid_generate_v1" => |cx, _| of_time(cx),
    "uuid_generate_v1mc" => |cx, _| of_time(cx),
    "uuid_generate_v3" => |_, a| of_name::<Md5>(a, 3),
    "uuid_generate_v4" => |cx, _| Ok(with_version(random(cx)?, 4)),
    "uuid_generate_v5" => |_, a| of_name::<Sha1>(a, 5),
}
