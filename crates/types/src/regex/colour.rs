//! The colours that divide the characters: classes of characters that no set of a pattern tells
//! apart. Counterpart: regc_color.c.

use super::class::{CharSet, Ctype, Sets, named};
use super::meter::Meter;
use super::syntax::too_complex;
use pgerror::Result;
use std::collections::BTreeMap;
use std::collections::HashMap;

/// As many as PostgreSQL has (`MAX_COLOR`).
const COLOURS_MAX: usize = 32_767;
/// Entries that the lists of all sets may have together.
const MEMBERS_MAX: usize = 8 << 20;

pub(super) struct Colours {
    /// Colours of the codes below 128.
    ascii: [u16; 128],
    /// First code of each run of one colour, ascending; the first is 0.
    runs: Vec<(u32, u16)>,
    /// For each set the colours in it.
    members: Vec<Members>,
    /// What assertions ask about a colour.
    newline: Vec<bool>,
    word: Vec<bool>,
}

/// Some of the colours, ascending: those in a set or those outside, whichever are fewer.
enum Members {
    In(Box<[u16]>),
    Out(Box<[u16]>),
}

impl Members {
    /// `list` has what is in a set, out of `count` colours.
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

    fn contains(&self, colour: u16) -> bool {
        match self {
            Members::In(list) => list.binary_search(&colour).is_ok(),
            Members::Out(list) => list.binary_search(&colour).is_err(),
        }
    }
}

impl Colours {
    /// The colours of a pattern with these sets; `lines` and `words` say whether it asks for ends
    /// of lines and for words.
    pub fn new(
        sets: &Sets,
        lines: bool,
        words: bool,
        ctype: Ctype,
        meter: &Meter<'_>,
    ) -> Result<Colours> {
        let newline = lines.then(|| CharSet::one(b'\n' as u32));
        let word = words.then(|| named("word", ctype, false).unwrap_or_default());
        let mut division = Division::new();
        let all = sets.ordered().iter().map(|set| &**set);
        for set in all.clone().chain(&newline).chain(&word) {
            division.divide(set, meter)?;
        }
        let count = division.runs_of.len();
        let mut members = Vec::with_capacity(sets.ordered().len());
        let mut total = 0;
        for set in all {
            let list = Members::new(division.members(set, meter)?, count);
            total += list.len();
            if total > MEMBERS_MAX {
                return Err(too_complex());
            }
            members.push(list);
        }
        let flags = |set: Option<CharSet>| -> Result<Vec<bool>> {
            let mut flags = vec![false; count];
            for colour in set.map_or(Ok(Vec::new()), |set| division.members(&set, meter))? {
                flags[usize::from(colour)] = true;
            }
            Ok(flags)
        };
        let (newline, word) = (flags(newline)?, flags(word)?);
        let mut runs: Vec<(u32, u16)> = division.runs.into_iter().collect();
        runs.dedup_by_key(|run| run.1);
        let mut colours = Colours { ascii: [0; 128], runs, members, newline, word };
        for c in 0..128 {
            colours.ascii[c as usize] = colours.search(c);
        }
        Ok(colours)
    }

    fn search(&self, code: u32) -> u16 {
        self.runs[self.runs.partition_point(|&(c, _)| c <= code) - 1].1
    }

    pub fn of(&self, code: u32) -> u16 {
        match self.ascii.get(code as usize) {
            Some(&c) => c,
            None => self.search(code),
        }
    }

    /// How many colours there are; this number itself stands for the end of the text.
    pub fn count(&self) -> usize {
        self.newline.len()
    }

    pub fn is_newline(&self, colour: u16) -> bool {
        self.newline.get(colour as usize).copied().unwrap_or(false)
    }

    pub fn is_word(&self, colour: u16) -> bool {
        self.word.get(colour as usize).copied().unwrap_or(false)
    }

    /// Is a colour, not the end of the text, in a set?
    pub fn in_set(&self, set: u32, colour: u16) -> bool {
        self.members[set as usize].contains(colour)
    }
}

/// The characters divided by the sets so far.
struct Division {
    /// First code of each run; neighbours may have the same colour.
    runs: BTreeMap<u32, u16>,
    /// Number of runs of each colour.
    runs_of: Vec<u32>,
}

impl Division {
    fn new() -> Division {
        Division { runs: BTreeMap::from([(0, 0)]), runs_of: vec![1] }
    }

    /// Lets a run begin at a code.
    fn cut(&mut self, code: u32) {
        let Some((&start, &colour)) = self.runs.range(..=code).next_back() else { return };
        if start != code {
            self.runs.insert(code, colour);
            self.runs_of[usize::from(colour)] += 1;
        }
    }

    /// Divides each colour into what is in the set and what is not. Only runs in the set are
    /// visited, so sets of single characters cost little, however many there are.
    fn divide(&mut self, set: &CharSet, meter: &Meter<'_>) -> Result<()> {
        // Runs of each colour within the set.
        let mut within: HashMap<u16, u32> = HashMap::new();
        for &(low, high) in &set.0 {
            self.cut(low);
            self.cut(high + 1);
            for (_, &colour) in self.runs.range(low..=high) {
                meter.spend(8)?;
                *within.entry(colour).or_default() += 1;
            }
        }
        // A colour that lies in the set wholly stays what it is.
        within.retain(|&colour, &mut runs| runs < self.runs_of[usize::from(colour)]);
        if within.is_empty() {
            return Ok(());
        }
        let mut renamed: HashMap<u16, u16> = HashMap::with_capacity(within.len());
        for (&colour, &runs) in &within {
            let next = self.runs_of.len();
            if next > COLOURS_MAX {
                return Err(super::fault("too many colors"));
            }
            self.runs_of[usize::from(colour)] -= runs;
            self.runs_of.push(runs);
            renamed.insert(colour, next as u16);
        }
        for &(low, high) in &set.0 {
            for (_, colour) in self.runs.range_mut(low..=high) {
                meter.spend(8)?;
                if let Some(&new) = renamed.get(colour) {
                    *colour = new;
                }
            }
        }
        Ok(())
    }

    /// The colours in a set that the characters are divided by, ascending.
    fn members(&self, set: &CharSet, meter: &Meter<'_>) -> Result<Vec<u16>> {
        let mut list = Vec::new();
        for &(low, high) in &set.0 {
            for (_, &colour) in self.runs.range(low..=high) {
                meter.spend(4)?;
                if list.last() != Some(&colour) {
                    list.push(colour);
                }
            }
        }
        list.sort_unstable();
        list.dedup();
        Ok(list)
    }
}
