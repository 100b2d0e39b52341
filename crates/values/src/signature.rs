//! Signatures: sets of hashed words as bits, for the keys of GiST indexes that cover sets.
//!
//! Counterpart: the `sizebitvec`, `hemdist` and `picksplit` functions of tsgistidx.c, trgm_gist.c,
//! hstore_gist.c, ltree_gist.c.

/// A signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Signature {
    /// All bits are set.
    All,
    Bits(Vec<u8>),
}

impl Signature {
    /// No bit is set.
    pub fn empty(bytes: usize) -> Signature {
        Signature::Bits(vec![0; bytes])
    }

    /// Sets a bit.
    pub fn set(&mut self, bit: usize) {
        if let Signature::Bits(bytes) = self
            && let Some(byte) = bytes.get_mut(bit / 8)
        {
            *byte |= 1 << (bit % 8);
        }
    }

    /// Whether a bit is set.
    pub fn has(&self, bit: usize) -> bool {
        match self {
            Signature::All => true,
            Signature::Bits(bytes) => bytes.get(bit / 8).is_some_and(|b| b >> (bit % 8) & 1 != 0),
        }
    }

    /// Whether all bits are set, although it is not [`Signature::All`].
    pub fn is_full(&self) -> bool {
        match self {
            Signature::All => false,
            Signature::Bits(bytes) => bytes.iter().all(|b| *b == 0xFF),
        }
    }

    /// The number of bits that are set, of `bits`.
    pub fn ones(&self, bits: u32) -> u32 {
        match self {
            Signature::All => bits,
            Signature::Bits(bytes) => bytes.iter().map(|b| b.count_ones()).sum(),
        }
    }

    /// The number of bits in which two signatures of `bits` bits differ.
    pub fn distance(&self, other: &Signature, bits: u32) -> u32 {
        match (self, other) {
            (Signature::All, Signature::All) => 0,
            (Signature::All, some) | (some, Signature::All) => bits.saturating_sub(some.ones(bits)),
            (Signature::Bits(a), Signature::Bits(b)) => {
                a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
            }
        }
    }

    /// Adds the bits of another signature.
    pub fn join(&mut self, other: &Signature) {
        match (&mut *self, other) {
            (Signature::All, _) => {}
            (_, Signature::All) => *self = Signature::All,
            (Signature::Bits(a), Signature::Bits(b)) => {
                a.iter_mut().zip(b).for_each(|(a, b)| *a |= b);
            }
        }
    }

    /// Whether it contains all bits of another signature.
    pub fn contains(&self, other: &Signature) -> bool {
        match (self, other) {
            (Signature::All, _) => true,
            (some, Signature::All) => some.is_full(),
            (Signature::Bits(a), Signature::Bits(b)) => a.iter().zip(b).all(|(a, b)| a & b == *b),
        }
    }
}

/// Two groups of signatures.
pub struct Divided {
    pub left: Vec<usize>,
    pub right: Vec<usize>,
    pub left_sign: Signature,
    pub right_sign: Signature,
}

/// Divides at least two signatures of `bits` bits: the two that differ most begin the groups; each
/// of the others joins the one from which it differs less, those for which that is clearest first.
/// `evenness`: how strongly the smaller group is preferred.
pub fn divide(signs: &[Signature], bits: u32, evenness: f64) -> Divided {
    let (mut seeds, mut most) = ((0, 1), None);
    for a in 0..signs.len() {
        for b in a + 1..signs.len() {
            let distance = signs[a].distance(&signs[b], bits);
            if most.is_none_or(|most| distance > most) {
                (seeds, most) = ((a, b), Some(distance));
            }
        }
    }
    let mut divided = Divided {
        left: vec![seeds.0],
        right: vec![seeds.1],
        left_sign: signs[seeds.0].clone(),
        right_sign: signs[seeds.1].clone(),
    };
    let clearness = |n: &usize| {
        let (a, b) = (&signs[seeds.0], &signs[seeds.1]);
        signs[*n].distance(a, bits).abs_diff(signs[*n].distance(b, bits))
    };
    let mut rest: Vec<usize> =
        (0..signs.len()).filter(|n| *n != seeds.0 && *n != seeds.1).collect();
    rest.sort_by_cached_key(clearness);
    for n in rest {
        let to_left = f64::from(signs[n].distance(&divided.left_sign, bits));
        let to_right = f64::from(signs[n].distance(&divided.right_sign, bits));
        let more = divided.left.len() as f64 - divided.right.len() as f64;
        let (group, sign) = match to_left < to_right - more.powi(3) * evenness {
            true => (&mut divided.left, &mut divided.left_sign),
            false => (&mut divided.right, &mut divided.right_sign),
        };
        group.push(n);
        sign.join(&signs[n]);
    }
    divided
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(bits: &[usize]) -> Signature {
        let mut out = Signature::empty(4);
        bits.iter().for_each(|bit| out.set(*bit));
        out
    }

    #[test]
    fn similar_signatures_are_in_one_group() {
        let signs = [
            sign(&[1, 2, 3]),
            sign(&[20, 21, 22]),
            sign(&[1, 2]),
            sign(&[20, 22]),
            sign(&[2, 3]),
            sign(&[21]),
        ];
        let mut d = divide(&signs, 32, 0.1);
        d.left.sort_unstable();
        d.right.sort_unstable();
        assert_eq!((d.left, d.right), (vec![0, 2, 4], vec![1, 3, 5]));
        assert_eq!(d.left_sign, sign(&[1, 2, 3]));
        assert!(d.right_sign.contains(&signs[3]) && !d.right_sign.contains(&signs[0]));
    }

    #[test]
    fn a_signature_of_all_bits() {
        assert_eq!(Signature::All.distance(&sign(&[0, 9]), 32), 30);
        let mut joined = sign(&[3]);
        joined.join(&Signature::All);
        assert_eq!(joined, Signature::All);
        assert!(Signature::Bits(vec![0xFF; 4]).is_full() && sign(&[9]).has(9));
    }
}
