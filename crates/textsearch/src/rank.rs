//! Ranking of documents by the query's words in them. Counterpart: tsrank.c.
//!
//! The arithmetic is in single precision where PostgreSQL's is, so that results are equal.

use crate::execute::{Document, Execution, Match, Options, Places};
use crate::limits::POSITION_LIMIT;
use crate::query::{Item, Operand, Operator, Query};
use crate::vector::{Position, Vector};
use pgerror::{Result, pg_err};
use values::fn_context::InterruptChecker;

/// Weights of the letters D to A.
pub const WEIGHTS: [f32; 4] = [0.1, 0.2, 0.4, 1.0];

/// How a rank is related to the size of the document: bits of the functions' last argument.
mod norm {
    pub const LOG_LENGTH: i32 = 1;
    pub const LENGTH: i32 = 2;
    pub const EXTENT_DISTANCE: i32 = 4;
    pub const UNIQUE: i32 = 8;
    pub const LOG_UNIQUE: i32 = 16;
    pub const SELF: i32 = 32;
}

/// Number of words in the document.
fn length(vector: Vector<'_>) -> usize {
    (0..vector.len()).map(|i| vector.positions(i).len().max(1)).sum()
}

/// How near two words are to each other.
fn nearness(distance: i32) -> f32 {
    if distance > 100 {
        return 1e-30;
    }
    (1.0 / (1.005 + 0.05 * (f64::from(distance as f32) / 1.5 - 2.0).exp())) as f32
}

/// The numbers of the lexemes that an operand matches, without regard to weights.
fn lexemes(vector: Vector<'_>, query: Query<'_>, operand: &Operand) -> std::ops::Range<usize> {
    let word = query.word(operand);
    match vector.find(word) {
        Ok(i) if !operand.prefix => i..i + 1,
        Err(i) if !operand.prefix => i..i,
        Ok(i) | Err(i) => {
            let more = (i..vector.len()).take_while(|n| vector.lexeme(*n).starts_with(word));
            i..i + more.count()
        }
    }
}

/// The operands with different texts, in order of these.
fn unique_operands(query: Query<'_>) -> Vec<Operand> {
    let mut out: Vec<Operand> = query.operands().map(|(_, o)| o).collect();
    out.sort_by(|a, b| query.word(a).cmp(query.word(b)));
    out.dedup_by(|a, b| query.word(a) == query.word(b));
    out
}

/// The positions of a lexeme; one with the given place if there are none.
fn positions_or(vector: Vector<'_>, i: usize, place: u16) -> (Vec<Position>, bool) {
    match vector.has_positions(i) {
        true => (vector.positions(i).collect(), true),
        false => (vec![Position::new(place, 0)], false),
    }
}

fn rank_and(weights: &[f32; 4], vector: Vector<'_>, query: Query<'_>) -> f32 {
    let operands = unique_operands(query);
    if operands.len() < 2 {
        return rank_or(weights, vector, query);
    }
    let weight = |p: Position| weights[usize::from(p.weight())];
    // Of each operand: the positions of its last lexeme, and whether they are known.
    let mut seen: Vec<Option<(Vec<Position>, bool)>> = Vec::new();
    let mut rank = -1.0f32;
    for operand in &operands {
        let mut last = None;
        for i in lexemes(vector, query, operand) {
            let here = positions_or(vector, i, (POSITION_LIMIT - 1) as u16);
            for other in seen.iter().flatten() {
                for (p, q) in here.0.iter().flat_map(|p| other.0.iter().map(move |q| (*p, *q))) {
                    let mut distance = (i32::from(p.place()) - i32::from(q.place())).abs();
                    if distance == 0 && here.1 && other.1 {
                        continue;
                    }
                    if distance == 0 {
                        distance = POSITION_LIMIT as i32;
                    }
                    let both = weight(p) * weight(q) * nearness(distance);
                    let both = f64::from(both).sqrt() as f32;
                    rank = match rank < 0.0 {
                        true => both,
                        false => (1.0 - (1.0 - f64::from(rank)) * (1.0 - f64::from(both))) as f32,
                    };
                }
            }
            last = Some(here);
        }
        seen.push(last);
    }
    rank
}

fn rank_or(weights: &[f32; 4], vector: Vector<'_>, query: Query<'_>) -> f32 {
    // Limit of the sum of the inverse squares.
    const LIMIT: f64 = 1.644_934_066_85;
    let operands = unique_operands(query);
    let mut rank = 0.0f32;
    for operand in &operands {
        for i in lexemes(vector, query, operand) {
            let (mut sum, mut heaviest, mut at) = (0.0f32, -1.0f32, 0i32);
            for (j, p) in positions_or(vector, i, 0).0.into_iter().enumerate() {
                let (weight, j) = (weights[usize::from(p.weight())], j as i32);
                sum += weight / ((j + 1) * (j + 1)) as f32;
                if weight > heaviest {
                    (heaviest, at) = (weight, j);
                }
            }
            let more = heaviest + sum - heaviest / ((at + 1) * (at + 1)) as f32;
            rank = (f64::from(rank) + f64::from(more) / LIMIT) as f32;
        }
    }
    match operands.len() {
        0 => rank,
        count => rank / count as f32,
    }
}

/// The rank of a document by the weights and distances of the query's words (`ts_rank`).
pub fn rank(weights: &[f32; 4], vector: Vector<'_>, query: Query<'_>, norms: i32) -> f32 {
    if vector.is_empty() || query.is_empty() {
        return 0.0;
    }
    let and =
        matches!(query.item(0), Item::Operator { operator: Operator::And | Operator::Phrase, .. });
    let mut rank = match and {
        true => rank_and(weights, vector, query),
        false => rank_or(weights, vector, query),
    };
    if rank < 0.0 {
        rank = 1e-20;
    }
    let log2 = |n: usize| ((n + 1) as f64).ln() / 2f64.ln();
    if norms & norm::LOG_LENGTH != 0 {
        rank = (f64::from(rank) / log2(length(vector))) as f32;
    }
    if norms & norm::LENGTH != 0 {
        rank /= length(vector) as f32;
    }
    if norms & norm::UNIQUE != 0 {
        rank /= vector.len() as f32;
    }
    if norms & norm::LOG_UNIQUE != 0 {
        rank = (f64::from(rank) / log2(vector.len())) as f32;
    }
    if norms & norm::SELF != 0 {
        rank /= rank + 1.0;
    }
    rank
}

/// A position in the document where words of the query are.
struct Spot {
    position: Position,
    /// The query's items.
    items: Vec<usize>,
}

fn spots(vector: Vector<'_>, query: Query<'_>) -> Vec<Spot> {
    let mut all: Vec<(Position, usize, usize)> = Vec::new();
    for (item, operand) in query.operands() {
        for i in lexemes(vector, query, &operand) {
            let allowed =
                (vector.positions(i)).filter(|p| operand.weights == 0 || p.weighs(operand.weights));
            all.extend(allowed.map(|p| (p, i, item)));
        }
    }
    all.sort_by_key(|(p, i, _)| (p.place(), p.weight(), *i));
    let same = all.chunk_by(|a, b| a.0 == b.0 && a.1 == b.1);
    same.map(|s| Spot { position: s[0].0, items: s.iter().map(|x| x.2).collect() }).collect()
}

/// The spots of a part of the document, by item of the query.
struct Part {
    found: Vec<Option<Vec<u16>>>,
    /// The spots are added from right to left.
    reverse: bool,
}

impl Part {
    fn new(items: usize, reverse: bool) -> Part {
        Part { found: vec![None; items], reverse }
    }

    fn add(&mut self, spot: &Spot) {
        for &item in &spot.items {
            let places = self.found[item].get_or_insert_default();
            if places.last() != Some(&spot.position.place()) {
                places.push(spot.position.place());
            }
        }
    }
}

impl Document for Part {
    fn has(&mut self, i: usize, _: &Operand, places: Option<&mut Places>) -> Match {
        let Some(found) = &self.found[i] else { return Match::No };
        if let Some(places) = places {
            places.positions = found.clone();
            if self.reverse {
                places.positions.reverse();
            }
        }
        Match::Yes
    }
}

/// A minimal part of the document that matches the query.
struct Cover {
    begin: usize,
    end: usize,
}

fn matches_part(
    interrupts: &InterruptChecker<'_>,
    query: Query<'_>,
    document: &mut Part,
) -> Result<bool> {
    let options = Options::default();
    Ok(Execution { query, document, options, interrupts: Some(interrupts) }.run()? != Match::No)
}

/// The next cover that begins at or after spot `from`, and where the search for the next begins.
fn next_cover(
    interrupts: &InterruptChecker<'_>,
    query: Query<'_>,
    spots: &[Spot],
    mut from: usize,
) -> Result<Option<(Cover, usize)>> {
    loop {
        let mut part = Part::new(query.len(), false);
        let mut end = None;
        for (i, spot) in spots.iter().enumerate().skip(from) {
            part.add(spot);
            if matches_part(interrupts, query, &mut part)? {
                // A position of 0 ends no cover.
                end = (spot.position.place() > 0).then_some(i);
                break;
            }
        }
        let Some(end) = end else { return Ok(None) };
        let mut part = Part::new(query.len(), true);
        for i in (from..=end).rev() {
            part.add(&spots[i]);
            if matches_part(interrupts, query, &mut part)? {
                if spots[i].position.place() <= spots[end].position.place() {
                    return Ok(Some((Cover { begin: i, end }, i + 1)));
                }
                break;
            }
        }
        from += 1;
    }
}

/// The rank of a document by the density of covers (`ts_rank_cd`).
pub fn rank_cover(
    interrupts: &InterruptChecker<'_>,
    weights: &[f32; 4],
    vector: Vector<'_>,
    query: Query<'_>,
    norms: i32,
) -> Result<f32> {
    let mut inverse = [0.0f64; 4];
    for (i, weight) in weights.iter().enumerate() {
        if *weight > 1.0 {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "weight out of range"));
        }
        inverse[i] = 1.0 / f64::from(*weight);
    }
    let spots = spots(vector, query);
    if spots.is_empty() {
        return Ok(0.0);
    }
    let (mut rank, mut distances, mut last, mut count) = (0.0f64, 0.0f64, 0.0f64, 0u32);
    let mut from = 0;
    while let Some((cover, next)) = next_cover(interrupts, query, &spots, from)? {
        from = next;
        let inside = &spots[cover.begin..=cover.end];
        let sum: f64 = inside.iter().map(|s| inverse[usize::from(s.position.weight())]).sum();
        let place = |i: usize| i32::from(spots[i].position.place());
        let (p, q) = (place(cover.begin), place(cover.end));
        let words = (cover.end - cover.begin) as i32;
        let mut noise = (q - p) - words;
        if noise < 0 {
            noise = words / 2;
        }
        rank += inside.len() as f64 / sum / f64::from(1 + noise);
        let middle = f64::from(p + q) / 2.0;
        if count > 0 && middle > last {
            distances += 1.0 / (middle - last);
        }
        last = middle;
        count += 1;
    }
    if norms & norm::LOG_LENGTH != 0 {
        rank /= ((length(vector) + 1) as f64).ln();
    }
    if norms & norm::LENGTH != 0 {
        rank /= length(vector) as f64;
    }
    if norms & norm::EXTENT_DISTANCE != 0 && count > 0 && distances > 0.0 {
        rank /= f64::from(count) / distances;
    }
    if norms & norm::UNIQUE != 0 {
        rank /= vector.len() as f64;
    }
    if norms & norm::LOG_UNIQUE != 0 {
        rank /= ((vector.len() + 1) as f64).ln() / 2f64.ln();
    }
    if norms & norm::SELF != 0 {
        rank /= rank + 1.0;
    }
    Ok(rank as f32)
}
