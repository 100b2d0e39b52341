//! `pg_snapshot` (and its older name `txid_snapshot`): the transactions that were in progress.
//! Counterpart: xid8funcs.c.
//!
//! ```text
//!  | count u32 | xmin u64 | xmax u64 | running u64 … ascending |
//! ```

use pgerror::pg_err;
use values::datum::{Datum, DatumRef};
use values::function::VecSource;
use values::type_io::{Reader, bad_syntax};

/// Counterpart: `PG_SNAPSHOT_MAX_NXIP`, what fits into a value of 1 GB behind its head of 24 bytes.
const RUNNING_MAX: i32 = (0x3fff_ffff - 24) / 8;

/// Whether the number of the transaction within its epoch is valid. Counterpart:
/// `FullTransactionIdIsValid`.
fn is_valid(xid: u64) -> bool {
    xid as u32 != 0
}

/// A snapshot of 64-bit transaction ids.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct XidSnapshot {
    pub xmin: u64,
    pub xmax: u64,
    /// Transactions in progress, `xmin <= xid < xmax`, ascending.
    pub running: Vec<u64>,
}

impl XidSnapshot {
    /// Reads a datum of type pg_snapshot.
    pub fn of(d: DatumRef<'_>) -> XidSnapshot {
        let word = |i: usize| {
            let b = d.as_bytes().get(4 + i * 8..12 + i * 8).unwrap_or(&[0; 8]);
            u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]])
        };
        let count = d.as_bytes().len().saturating_sub(20) / 8;
        XidSnapshot { xmin: word(0), xmax: word(1), running: (2..2 + count).map(word).collect() }
    }

    /// The snapshot as a datum of type pg_snapshot.
    pub fn datum(&self) -> Datum {
        let mut out = Vec::with_capacity(20 + 8 * self.running.len());
        out.extend_from_slice(&(self.running.len() as u32).to_le_bytes());
        for v in [self.xmin, self.xmax].iter().chain(&self.running) {
            out.extend_from_slice(&v.to_le_bytes());
        }
        Datum::bytes(out)
    }

    /// Whether the transaction had ended when the snapshot was taken. Counterpart:
    /// `is_visible_fxid`.
    pub fn is_finished(&self, xid: u64) -> bool {
        xid < self.xmin || xid < self.xmax && self.running.binary_search(&xid).is_err()
    }

    fn parse(text: &[u8]) -> Option<XidSnapshot> {
        let text = std::str::from_utf8(text).ok()?;
        let number = |s: &str| s.parse::<u64>().ok().filter(|_| !s.starts_with('+'));
        let mut parts = text.splitn(3, ':');
        let (xmin, xmax) = (number(parts.next()?)?, number(parts.next()?)?);
        let list = parts.next()?;
        if !is_valid(xmin) || !is_valid(xmax) || xmin > xmax || xmax > i64::MAX as u64 {
            return None;
        }
        let mut running: Vec<u64> = Vec::new();
        for part in list.split(',').filter(|_| !list.is_empty()) {
            let v = number(part)?;
            let last = running.last().copied().unwrap_or(0);
            if v < xmin || v > xmax || v < last {
                return None;
            }
            if v != last {
                running.push(v);
            }
        }
        Some(XidSnapshot { xmin, xmax, running })
    }
}

scalars! { FNS;
    "pg_snapshot_in" => |_, a| {
        let text = a[0].as_bytes();
        match XidSnapshot::parse(text) {
            Some(s) => Ok(s.datum()),
            None => Err(bad_syntax("pg_snapshot", text)),
        }
    },
    "pg_snapshot_out" => |_, a| {
        let s = XidSnapshot::of(a[0]);
        let running: Vec<String> = s.running.iter().map(u64::to_string).collect();
        Ok(Datum::text(&format!("{}:{}:{}", s.xmin, s.xmax, running.join(","))))
    },
    "pg_snapshot_send" => |_, a| {
        let s = XidSnapshot::of(a[0]);
        let mut out = (s.running.len() as u32).to_be_bytes().to_vec();
        for v in [s.xmin, s.xmax].iter().chain(&s.running) {
            out.extend_from_slice(&v.to_be_bytes());
        }
        Ok(Datum::bytes(out))
    },
    "pg_snapshot_recv" => |_, a| {
        let mut r = Reader::new(a[0].as_bytes());
        let bad = || pg_err!(INVALID_BINARY_REPRESENTATION, "invalid external pg_snapshot data");
        let count = r.i32()?;
        if !(0..=RUNNING_MAX).contains(&count) {
            return Err(bad());
        }
        let (xmin, xmax) = (r.i64()? as u64, r.i64()? as u64);
        if !is_valid(xmin) || !is_valid(xmax) || xmin > xmax {
            return Err(bad());
        }
        let mut running: Vec<u64> = Vec::new();
        for _ in 0..count {
            let v = r.i64()? as u64;
            let last = running.last().copied().unwrap_or(0);
            if v < xmin || v > xmax || v < last {
                return Err(bad());
            }
            if v != last {
                running.push(v);
            }
        }
        r.end()?;
        Ok(XidSnapshot { xmin, xmax, running }.datum())
    },
    "pg_snapshot_xmin" => |_, a| Ok(Datum::int8(XidSnapshot::of(a[0]).xmin as i64)),
    "pg_snapshot_xmax" => |_, a| Ok(Datum::int8(XidSnapshot::of(a[0]).xmax as i64)),
    "pg_visible_in_snapshot" => |_, a| {
        Ok(Datum::bool(XidSnapshot::of(a[1]).is_finished(a[0].as_i64() as u64)))
    },
}

builtins! { SETS;
    "pg_snapshot_xip" => Srf(|_, a| {
        let running = XidSnapshot::of(a[0]).running;
        Ok(VecSource::boxed(running.into_iter().map(|v| Datum::int8(v as i64)).collect()))
    }),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases are those of PostgreSQL's regression tests.
    #[test]
    fn snapshots_are_checked_when_read() {
        let same = ["12:13:", "12:18:14,16", "12:16:14,14"];
        for text in same {
            assert!(XidSnapshot::parse(text.as_bytes()).is_some(), "{text}");
        }
        for text in ["31:12:", "0:1:", "12:13:0", "12:16:14,13", "1:2", "a:b:"] {
            assert_eq!(XidSnapshot::parse(text.as_bytes()), None, "{text}");
        }
        let s = XidSnapshot::parse(b"12:18:14,16").unwrap();
        assert_eq!(XidSnapshot::of(s.datum().as_ref()), s);
        let seen: Vec<u64> = (11..20).filter(|x| s.is_finished(*x)).collect();
        assert_eq!(seen, [11, 12, 13, 15, 17]);
    }
}
