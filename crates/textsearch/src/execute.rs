//! Whether a document matches a query. The document is asked for each operand whether it has the
//! word, and where phrases need it, at which positions. Counterpart: tsvector_op.c (`TS_execute`).

use crate::query::{Item, Operand, Operator, Query};
use crate::vector::Vector;
use pgerror::Result;
use std::cmp::Ordering;
use values::fn_context::InterruptChecker;

/// A result that may be uncertain, because positions are missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Match {
    No,
    Yes,
    Maybe,
}

/// Where an expression matches.
#[derive(Default, Debug)]
pub struct Places {
    /// Positions in ascending order: those of the matches' ends.
    pub positions: Vec<u16>,
    /// The expression matches everywhere except at `positions`.
    pub negated: bool,
    /// Width of a match in positions, less one.
    pub width: i32,
}

/// A document that is asked for words.
pub trait Document {
    /// Whether the document has the word of the query's item `i`. If `places` is given and the
    /// result is `Yes`, sets its positions; `Maybe` if they are not known.
    fn has(&mut self, i: usize, operand: &Operand, places: Option<&mut Places>) -> Match;
}

/// How a query is executed.
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// Negated expressions count as matched.
    pub skip_not: bool,
    /// A phrase whose positions are not known gives `Maybe`, else `No`.
    pub uncertain_phrases: bool,
}

/// An execution of a query.
pub struct Execution<'a, D: Document> {
    pub query: Query<'a>,
    pub document: &'a mut D,
    pub options: Options,
    /// `None` where the query cannot be cancelled.
    pub interrupts: Option<&'a InterruptChecker<'a>>,
}

/// Which positions of two lists are taken.
#[derive(Clone, Copy)]
struct Take {
    left_only: bool,
    right_only: bool,
    both: bool,
}

impl Take {
    const ALL: Take = Take { left_only: true, right_only: true, both: true };
    const BOTH: Take = Take { left_only: false, right_only: false, both: true };
    const LEFT: Take = Take { left_only: true, right_only: false, both: false };
    const RIGHT: Take = Take { left_only: false, right_only: true, both: false };
}

/// Two lists of positions, each moved by an offset.
struct Pair<'a> {
    left: &'a Places,
    right: &'a Places,
    left_offset: i32,
    right_offset: i32,
}

impl Pair<'_> {
    /// The positions that are taken, in ascending order.
    fn merge(&self, take: Take) -> Vec<u16> {
        let mut out = Vec::new();
        let mut left =
            self.left.positions.iter().map(|p| i32::from(p & 0x3fff) + self.left_offset).peekable();
        let mut right = self
            .right
            .positions
            .iter()
            .map(|p| i32::from(p & 0x3fff) + self.right_offset)
            .peekable();
        loop {
            let (position, taken) = match (left.peek().copied(), right.peek().copied()) {
                (None, None) => break,
                (None, Some(_)) if !take.right_only => break,
                (Some(_), None) if !take.left_only => break,
                (l, r) => match l.unwrap_or(i32::MAX).cmp(&r.unwrap_or(i32::MAX)) {
                    Ordering::Less => (left.next(), take.left_only),
                    Ordering::Greater => (right.next(), take.right_only),
                    Ordering::Equal => {
                        left.next();
                        (right.next(), take.both)
                    }
                },
            };
            if let Some(position) = position.filter(|p| taken && *p > 0) {
                out.push(position as u16);
            }
        }
        out
    }

    fn places(&self, take: Take, negated: bool, width: i32) -> (Match, Places) {
        let positions = self.merge(take);
        let found = if positions.is_empty() && !negated { Match::No } else { Match::Yes };
        (found, Places { positions, negated, width })
    }
}

impl<D: Document> Execution<'_, D> {
    /// Whether the document matches the whole query, which is not empty.
    pub fn run(&mut self) -> Result<Match> {
        self.expression(0)
    }

    /// The expression at item `i`, above all phrase operators.
    fn expression(&mut self, i: usize) -> Result<Match> {
        self.interrupts.map_or(Ok(()), InterruptChecker::tick)?;
        let (operator, left) = match self.query.item(i) {
            Item::Operand(operand) => return Ok(self.document.has(i, &operand, None)),
            Item::Operator { operator, left, .. } => (operator, i + left as usize),
            Item::Stop => return Ok(Match::No),
        };
        match operator {
            Operator::Not if self.options.skip_not => Ok(Match::Yes),
            Operator::Not => Ok(match self.below(i + 1)? {
                Match::No => Match::Yes,
                Match::Yes => Match::No,
                Match::Maybe => Match::Maybe,
            }),
            Operator::And => {
                let first = self.below(left)?;
                if first == Match::No {
                    return Ok(first);
                }
                let second = self.below(i + 1)?;
                Ok(if second == Match::Yes { first } else { second })
            }
            Operator::Or => {
                let first = self.below(left)?;
                if first == Match::Yes {
                    return Ok(first);
                }
                let second = self.below(i + 1)?;
                Ok(if second == Match::No { first } else { second })
            }
            Operator::Phrase => Ok(match self.phrase(i)?.0 {
                Match::Maybe if !self.options.uncertain_phrases => Match::No,
                other => other,
            }),
        }
    }

    fn below(&mut self, i: usize) -> Result<Match> {
        stdx::stack::deep(|| self.expression(i))
    }

    /// The expression at item `i` with the places where it matches. They are empty unless the
    /// result is `Yes`.
    fn phrase(&mut self, i: usize) -> Result<(Match, Places)> {
        self.interrupts.map_or(Ok(()), InterruptChecker::tick)?;
        let item = self.query.item(i);
        let (operator, distance, left) = match item {
            Item::Operand(operand) => {
                let mut places = Places::default();
                let found = self.document.has(i, &operand, Some(&mut places));
                return Ok((found, places));
            }
            Item::Operator { operator, distance, left } => {
                (operator, i32::from(distance), i + left as usize)
            }
            Item::Stop => return Ok((Match::No, Places::default())),
        };
        if operator == Operator::Not {
            return self.negated(i);
        }
        let or = operator == Operator::Or;
        let (left_match, mut left) = stdx::stack::deep(|| self.phrase(left))?;
        if left_match == Match::No && !or {
            return Ok((Match::No, Places::default()));
        }
        let (right_match, mut right) = stdx::stack::deep(|| self.phrase(i + 1))?;
        if right_match == Match::No && (!or || left_match == Match::No) {
            return Ok((Match::No, Places::default()));
        }
        if left_match == Match::Maybe || right_match == Match::Maybe {
            return Ok((Match::Maybe, Places::default()));
        }
        for (found, places) in [(left_match, &mut left), (right_match, &mut right)] {
            if found == Match::No {
                places.width = 0;
            }
        }
        let widest = left.width.max(right.width);
        let (left_offset, right_offset, width) = match operator {
            Operator::Phrase => (distance + right.width, 0, distance + left.width + right.width),
            _ => (widest - left.width, widest - right.width, widest),
        };
        let pair = Pair { left: &left, right: &right, left_offset, right_offset };
        Ok(match (left.negated, right.negated, or) {
            (true, true, false) => pair.places(Take::ALL, true, width),
            (true, false, false) => pair.places(Take::RIGHT, false, width),
            (false, true, false) => pair.places(Take::LEFT, false, width),
            (false, false, false) => pair.places(Take::BOTH, false, width),
            (true, true, true) => pair.places(Take::BOTH, true, width),
            (true, false, true) => pair.places(Take::LEFT, true, width),
            (false, true, true) => pair.places(Take::RIGHT, true, width),
            (false, false, true) => pair.places(Take::ALL, false, width),
        })
    }

    /// The places where the operand of the NOT at item `i` does not match.
    fn negated(&mut self, i: usize) -> Result<(Match, Places)> {
        if self.options.skip_not {
            return Ok((Match::Yes, Places { negated: true, ..Places::default() }));
        }
        let (found, mut places) = stdx::stack::deep(|| self.phrase(i + 1))?;
        Ok(match found {
            Match::No => (Match::Yes, Places { positions: Vec::new(), negated: true, ..places }),
            Match::Yes if places.positions.is_empty() && places.negated => {
                (Match::No, Places::default())
            }
            Match::Yes => {
                places.negated = !places.negated;
                (Match::Yes, places)
            }
            Match::Maybe => (Match::Maybe, Places::default()),
        })
    }
}

/// A tsvector as a document of a query.
pub struct VectorDocument<'a> {
    vector: Vector<'a>,
    query: Query<'a>,
}

impl VectorDocument<'_> {
    /// Whether lexeme `n` has a position that the operand allows.
    fn weighs(&self, n: usize, operand: &Operand, places: Option<&mut Places>) -> Match {
        if !self.vector.has_positions(n) {
            // Without positions a lexeme has any weight.
            return if places.is_some() { Match::Maybe } else { Match::Yes };
        }
        let mut allowed = (self.vector.positions(n))
            .filter(|p| operand.weights == 0 || p.weighs(operand.weights))
            .map(|p| p.place());
        let any = match places {
            Some(places) => {
                places.positions.extend(allowed);
                !places.positions.is_empty()
            }
            None => operand.weights == 0 || allowed.next().is_some(),
        };
        if any { Match::Yes } else { Match::No }
    }

    /// All lexemes from number `n` that begin with the operand's word.
    fn prefix(&self, mut n: usize, operand: &Operand, places: Option<&mut Places>) -> Match {
        let word = self.query.word(operand);
        let mut found = Match::No;
        let mut all: Option<Vec<u16>> = places.is_some().then(Vec::new);
        while n < self.vector.len() && self.vector.lexeme(n).starts_with(word) {
            match &mut all {
                None => {
                    if self.weighs(n, operand, None) == Match::Yes {
                        return Match::Yes;
                    }
                }
                Some(all) => {
                    let mut one = Places::default();
                    match self.weighs(n, operand, Some(&mut one)) {
                        Match::Maybe => return Match::Maybe,
                        Match::Yes => all.append(&mut one.positions),
                        Match::No => {}
                    }
                }
            }
            n += 1;
        }
        if let (Some(places), Some(mut all)) = (places, all) {
            all.sort_unstable();
            all.dedup();
            if !all.is_empty() {
                places.positions = all;
                found = Match::Yes;
            }
        }
        found
    }
}

impl Document for VectorDocument<'_> {
    fn has(&mut self, _: usize, operand: &Operand, places: Option<&mut Places>) -> Match {
        match self.vector.find(self.query.word(operand)) {
            Ok(n) if !operand.prefix => self.weighs(n, operand, places),
            Err(_) if !operand.prefix => Match::No,
            Ok(n) | Err(n) => self.prefix(n, operand, places),
        }
    }
}

/// Whether a tsvector matches a tsquery (`@@`).
pub fn matches(interrupts: &InterruptChecker<'_>, vector: &[u8], query: &[u8]) -> Result<bool> {
    let (vector, query) = (Vector::new(vector), Query::new(query));
    if query.is_empty() {
        return Ok(false);
    }
    let mut document = VectorDocument { vector, query };
    let options = Options::default();
    let interrupts = Some(interrupts);
    let mut execution = Execution { query, document: &mut document, options, interrupts };
    Ok(execution.run()? != Match::No)
}

/// Whether every match of the expression at item `i` has at least one of the query's words.
pub fn requires_match(query: Query<'_>, i: usize) -> bool {
    match query.item(i) {
        Item::Operand(_) => true,
        Item::Operator { operator, left, .. } => {
            let mut both = [i + left as usize, i + 1].into_iter();
            let mut below = |i| stdx::stack::deep(|| requires_match(query, i));
            match operator {
                Operator::Not => false,
                Operator::And | Operator::Phrase => both.any(&mut below),
                Operator::Or => both.all(&mut below),
            }
        }
        Item::Stop => false,
    }
}
