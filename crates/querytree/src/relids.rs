//! Sets of range-table indexes as bit sets, without heap allocation for indexes below 128.
//! Counterpart: bitmapset.c.

use smallvec::SmallVec;

/// Set of range-table indexes of one query level.
///
/// INVARIANT: the last word is not 0, so that equal sets are equal words.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Relids {
    words: SmallVec<[u64; 2]>,
}

impl Relids {
    pub fn new() -> Relids {
        Relids::default()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    pub fn contains(&self, rti: &i32) -> bool {
        let (word, bit) = bit_of(*rti);
        self.words.get(word).is_some_and(|w| w & bit != 0)
    }

    pub fn insert(&mut self, rti: i32) {
        let (word, bit) = bit_of(rti);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= bit;
    }

    pub fn remove(&mut self, rti: &i32) {
        let (word, bit) = bit_of(*rti);
        if let Some(w) = self.words.get_mut(word) {
            *w &= !bit;
        }
        self.trim();
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }

    pub fn is_subset(&self, of: &Relids) -> bool {
        self.words.len() <= of.words.len()
            && self.words.iter().zip(&of.words).all(|(a, b)| a & !b == 0)
    }

    pub fn is_disjoint(&self, other: &Relids) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & b == 0)
    }

    /// Adds all of another set.
    pub fn add(&mut self, other: &Relids) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
    }

    pub fn union(&self, other: &Relids) -> Relids {
        let mut out = self.clone();
        out.add(other);
        out
    }

    /// The elements in both sets.
    pub fn intersection(&self, other: &Relids) -> Relids {
        let words = self.words.iter().zip(&other.words).map(|(a, b)| a & b);
        let mut out = Relids { words: words.collect() };
        out.trim();
        out
    }

    /// The elements of this set that are not in `other`.
    pub fn difference(&self, other: &Relids) -> Relids {
        let mut out = self.clone();
        out.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= !b);
        out.trim();
        out
    }

    /// The smallest element.
    pub fn first(&self) -> Option<i32> {
        self.iter().next()
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = i32> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let bits = std::iter::successors(Some(word), |w| Some(w & w.wrapping_sub(1)));
            bits.take_while(|w| *w != 0).map(move |w| 64 * at as i32 + w.trailing_zeros() as i32)
        })
    }
}

/// Index of the word, and the bit in it. Range-table indexes are positive.
fn bit_of(rti: i32) -> (usize, u64) {
    debug_assert!(rti >= 0, "range-table index {rti}");
    (rti as usize / 64, 1 << (rti as usize % 64))
}

impl IntoIterator for Relids {
    type Item = i32;
    type IntoIter = smallvec::IntoIter<[i32; 8]>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter().collect::<SmallVec<[i32; 8]>>().into_iter()
    }
}

impl<const N: usize> From<[i32; N]> for Relids {
    fn from(all: [i32; N]) -> Relids {
        all.into_iter().collect()
    }
}

impl FromIterator<i32> for Relids {
    fn from_iter<I: IntoIterator<Item = i32>>(all: I) -> Relids {
        let mut out = Relids::new();
        out.extend(all);
        out
    }
}

impl Extend<i32> for Relids {
    fn extend<I: IntoIterator<Item = i32>>(&mut self, all: I) {
        all.into_iter().for_each(|rti| self.insert(rti));
    }
}

impl std::fmt::Debug for Relids {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn operations_agree_with_ordered_sets() {
        let lists: [&[i32]; 7] =
            [&[], &[1], &[63], &[64], &[1, 63, 64, 200], &[2, 200], &[1, 2, 3, 64]];
        for a in lists {
            for b in lists {
                let (x, y): (Relids, Relids) =
                    (a.iter().copied().collect(), b.iter().copied().collect());
                let (s, t): (BTreeSet<i32>, BTreeSet<i32>) =
                    (a.iter().copied().collect(), b.iter().copied().collect());
                let same = |got: &Relids, want: BTreeSet<i32>| {
                    assert!(got.iter().eq(want.iter().copied()), "{got:?} {want:?}");
                    assert_eq!(got, &want.iter().copied().collect::<Relids>());
                    assert_eq!((got.len(), got.is_empty()), (want.len(), want.is_empty()));
                };
                same(&x.union(&y), s.union(&t).copied().collect());
                same(&x.difference(&y), s.difference(&t).copied().collect());
                same(&x.intersection(&y), s.intersection(&t).copied().collect());
                assert_eq!(x.is_subset(&y), s.is_subset(&t), "{a:?} {b:?}");
                assert_eq!(x.is_disjoint(&y), s.is_disjoint(&t), "{a:?} {b:?}");
                assert_eq!(x.first(), s.first().copied());
                let mut less = x.clone();
                b.iter().for_each(|rti| less.remove(rti));
                assert_eq!(less, x.difference(&y));
                assert!(a.iter().all(|rti| x.contains(rti)) && !x.contains(&5));
            }
        }
    }
}
