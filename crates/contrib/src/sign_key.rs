//! Keys of GiST indexes that are signatures: flags, then the bits.

use values::datum::{Datum, DatumRef};
use values::gist::{Column, Groups};
use values::signature::{Divided, Signature};

/// Flag: all bits are set, and none is stored.
pub(crate) const ALL: u8 = 4;

/// The form of the signatures of an operator class.
#[derive(Clone, Copy)]
pub(crate) struct SignKeys {
    pub bytes: usize,
    /// Number of bits that are used.
    pub bits: u32,
    /// Bytes of the flags, of which only the first one is used.
    pub header: usize,
}

impl SignKeys {
    /// Those of an index: `bytes` without the parameter `siglen`; `unused`: bits at the end.
    pub(crate) fn of(column: &Column, bytes: usize, unused: u32, header: usize) -> SignKeys {
        let bytes = column.option("siglen", bytes);
        SignKeys { bytes, bits: 8 * bytes as u32 - unused, header }
    }

    pub(crate) fn read(&self, key: DatumRef<'_>) -> Signature {
        let payload = key.as_bytes();
        if payload.first().is_some_and(|flags| flags & ALL != 0) {
            return Signature::All;
        }
        let mut bits = payload.get(self.header..).unwrap_or_default().to_vec();
        bits.resize(self.bytes, 0);
        Signature::Bits(bits)
    }

    pub(crate) fn key(&self, sign: &Signature) -> Datum {
        self.flagged(sign, 0)
    }

    /// A key with further flags.
    pub(crate) fn flagged(&self, sign: &Signature, flags: u8) -> Datum {
        let mut out = vec![0; self.header];
        out[0] = flags;
        match sign {
            Signature::All => out[0] |= ALL,
            Signature::Bits(bits) => out.extend_from_slice(bits),
        }
        Datum::bytes(out)
    }

    /// A key of all bits in its short form.
    pub(crate) fn compressed(&self, key: DatumRef<'_>) -> Option<Datum> {
        self.read(key).is_full().then(|| self.key(&Signature::All))
    }

    pub(crate) fn union(&self, keys: &[DatumRef<'_>]) -> Datum {
        let mut all = Signature::empty(self.bytes);
        keys.iter().for_each(|key| all.join(&self.read(*key)));
        self.key(&all)
    }

    pub(crate) fn groups(&self, divided: Divided) -> Groups {
        Groups {
            left_union: self.key(&divided.left_sign),
            right_union: self.key(&divided.right_sign),
            left: divided.left,
            right: divided.right,
        }
    }
}
