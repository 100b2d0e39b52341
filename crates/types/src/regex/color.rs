//! The color map: colors are equivalence classes of characters that no set of a pattern
//! distinguishes. Counterpart: regc_color.c.

use super::class::{CODE_MAX, CharSet, Ctype, Sets, named};
use super::syntax::{pattern_error, too_complex};
use super::work::WorkCounter;
use pgerror::Result;
use std::collections::BTreeMap;
use std::collections::HashMap;

/// The limit is PostgreSQL's (`MAX_COLOR`).
const COLORS_MAX: usize = 32_767;
/// The largest number of entries of the color lists of all sets together.
const MEMBERS_MAX: usize = 8 << 20;

pub(super) struct Colors {
    /// Colors of the code points below 128.
    ascii: [u16; 128],
    /// The first code point of each run of one color, ascending; the first one is 0.
    runs: Vec<(u32, u16)>,
    /// The colors in each set.
    members: Vec<Members>,
    /// Properties of each color that assertions test.
    newline: Vec<bool>,
    word: Vec<bool>,
}

/// A set of colors: the ascending list of its members or of its non-members, whichever is shorter.
enum Members {
    In(Box<[u16]>),
    Out(Box<[u16]>),
}

impl Members {
    /// `list` has the members of a set of colors, out of `count` colors.
    fn new(list: Vec<u16>, count: usize) -> Members {
        if list.len() <= count / 2 {
            return Members::In(list.into());
        }
        let mut within = list.iter().copied().peekable();
        let out = (0..count as u16).filter(|c| within.next_if_eq(c).is_none());
        Members::Out(out.collect())
    }

    fn len(&self) -> usize {
        match self {
            Members::In(list) | Members::Out(list) => list.len(),
        }
    }

    fn contains(&self, color: u16) -> bool {
        match self {
            Members::In(list) => list.binary_search(&color).is_ok(),
            Members::Out(list) => list.binary_search(&color).is_err(),
        }
    }
}

impl Colors {
    /// The color map of a pattern with these sets; `lines` and `words` are true if the pattern has
    /// assertions on line ends and on words.
    pub fn new(
        sets: &Sets,
        lines: bool,
        words: bool,
        ctype: &Ctype,
        work: &WorkCounter<'_>,
    ) -> Result<Colors> {
        let newline = lines.then(|| CharSet::one(b'\n' as u32));
        let word = words.then(|| named("word", ctype, false).unwrap_or_default());
        let mut partition = Partition::new();
        let all = sets.ordered().iter().map(|set| &**set);
        for set in all.clone().chain(&newline).chain(&word) {
            partition.refine(set, work)?;
        }
        let count = partition.runs_of.len();
        let mut members = Vec::with_capacity(sets.ordered().len());
        let mut total = 0;
        for set in all {
            let list = Members::new(partition.members(set, work)?, count);
            total += list.len();
            if total > MEMBERS_MAX {
                return Err(too_complex());
            }
            members.push(list);
        }
        let flags = |set: Option<CharSet>| -> Result<Vec<bool>> {
            let mut flags = vec![false; count];
            for color in set.map_or(Ok(Vec::new()), |set| partition.members(&set, work))? {
                flags[usize::from(color)] = true;
            }
            Ok(flags)
        };
        let (newline, word) = (flags(newline)?, flags(word)?);
        let mut runs: Vec<(u32, u16)> = partition.runs.into_iter().collect();
        runs.dedup_by_key(|run| run.1);
        let mut colors = Colors { ascii: [0; 128], runs, members, newline, word };
        for c in 0..128 {
            colors.ascii[c as usize] = colors.search(c);
        }
        Ok(colors)
    }

    fn search(&self, code: u32) -> u16 {
        self.runs[self.runs.partition_point(|&(c, _)| c <= code) - 1].1
    }

    /// The color of a code point.
    pub fn of(&self, code: u32) -> u16 {
        match self.ascii.get(code as usize) {
            Some(&c) => c,
            None => self.search(code),
        }
    }

    /// The number of colors; this number itself is the pseudo-color of the end of the text.
    pub fn count(&self) -> usize {
        self.newline.len()
    }

    /// Ranges of code points of one color: first, last, color. Together they are all characters.
    pub fn ranges(&self) -> impl Iterator<Item = (u32, u32, u16)> + '_ {
        let ends = self.runs.iter().skip(1).map(|&(next, _)| next - 1);
        let ends = ends.chain(std::iter::once(CODE_MAX));
        let runs = self.runs.iter().zip(ends).map(|(&(first, color), last)| (first, last, color));
        // A set of all characters makes an empty run at its end.
        runs.filter(|(first, last, _)| first <= last)
    }

    /// Whether the characters of the color are newlines.
    pub fn is_newline(&self, color: u16) -> bool {
        self.newline.get(color as usize).copied().unwrap_or(false)
    }

    /// Whether the characters of the color belong to words.
    pub fn is_word(&self, color: u16) -> bool {
        self.word.get(color as usize).copied().unwrap_or(false)
    }

    /// Whether a color (other than the end of the text) is in a set.
    pub fn in_set(&self, set: u32, color: u16) -> bool {
        self.members[set as usize].contains(color)
    }
}

/// The partition of the characters by the sets processed so far.
struct Partition {
    /// First code point of each run; adjacent runs may have the same color.
    runs: BTreeMap<u32, u16>,
    /// Number of runs of each color.
    runs_of: Vec<u32>,
}

impl Partition {
    fn new() -> Partition {
        Partition { runs: BTreeMap::from([(0, 0)]), runs_of: vec![1] }
    }

    /// Splits the run that contains a code point, so that a run begins there.
    fn split_run(&mut self, code: u32) {
        let Some((&start, &color)) = self.runs.range(..=code).next_back() else { return };
        if start != code {
            self.runs.insert(code, color);
            self.runs_of[usize::from(color)] += 1;
        }
    }

    /// Splits each color into the part in the set and the rest. Only runs in the set are visited,
    /// so even many sets of single characters take little time.
    fn refine(&mut self, set: &CharSet, work: &WorkCounter<'_>) -> Result<()> {
        // Number of runs of each color within the set.
        let mut within: HashMap<u16, u32> = HashMap::new();
        for &(low, high) in &set.0 {
            self.split_run(low);
            self.split_run(high + 1);
            for (_, &color) in self.runs.range(low..=high) {
                work.add(8)?;
                *within.entry(color).or_default() += 1;
            }
        }
        // A color that is wholly in the set is not split.
        within.retain(|&color, &mut runs| runs < self.runs_of[usize::from(color)]);
        if within.is_empty() {
            return Ok(());
        }
        let mut renamed: HashMap<u16, u16> = HashMap::with_capacity(within.len());
        for (&color, &runs) in &within {
            let next = self.runs_of.len();
            if next > COLORS_MAX {
                return Err(pattern_error("too many colors"));
            }
            self.runs_of[usize::from(color)] -= runs;
            self.runs_of.push(runs);
            renamed.insert(color, next as u16);
        }
        for &(low, high) in &set.0 {
            for (_, color) in self.runs.range_mut(low..=high) {
                work.add(8)?;
                if let Some(&new) = renamed.get(color) {
                    *color = new;
                }
            }
        }
        Ok(())
    }

    /// The colors in a set by which the partition was refined, ascending.
    fn members(&self, set: &CharSet, work: &WorkCounter<'_>) -> Result<Vec<u16>> {
        let mut list = Vec::new();
        for &(low, high) in &set.0 {
            for (_, &color) in self.runs.range(low..=high) {
                work.add(4)?;
                if list.last() != Some(&color) {
                    list.push(color);
                }
            }
        }
        list.sort_unstable();
        list.dedup();
        Ok(list)
    }
}
