//! The operator classes `box_ops`, `poly_ops`, `circle_ops` and `point_ops` of GiST indexes. Keys
//! are bounding boxes.
//!
//! Counterpart: gistproc.c.

use crate::number::{self, add, sub};
use crate::shape::{Circle, Point, Polygon, Rect};
use pgerror::{PgError, Result};
use values::datum::{Datum, DatumRef};
use values::gist::{Column, Condition, Function, Groups, Ternary, strategy};

/// Least part of the keys in one group.
const PART_MIN: f64 = 0.3;

/// Strategies of points with another type are those numbers and the number of the type's group.
const GROUP: u16 = 20;

fn circle_box(c: Circle) -> Result<Rect> {
    let (Point { x, y }, r) = (c.center, c.radius);
    Ok(Rect { high: Point::new(add(x, r)?, add(y, r)?), low: Point::new(sub(x, r)?, sub(y, r)?) })
}

/// The smallest box with both.
fn hull(a: Rect, b: Rect) -> Rect {
    Rect {
        high: Point::new(number::max(a.high.x, b.high.x), number::max(a.high.y, b.high.y)),
        low: Point::new(number::min(a.low.x, b.low.x), number::min(a.low.y, b.low.y)),
    }
}

/// Whether a box of a leaf has this relation to the query.
fn leaf_matches(key: Rect, query: Rect, strategy: u16) -> Option<bool> {
    Some(match strategy {
        strategy::LEFT => number::lt(key.high.x, query.low.x),
        strategy::OVER_LEFT => number::le(key.high.x, query.high.x),
        strategy::OVERLAP => key.overlaps(query),
        strategy::OVER_RIGHT => number::ge(key.low.x, query.low.x),
        strategy::RIGHT => number::gt(key.low.x, query.high.x),
        strategy::SAME => key.high.equals(query.high) && key.low.equals(query.low),
        strategy::CONTAINS => key.contains(query),
        strategy::CONTAINED_BY => query.contains(key),
        strategy::OVER_BELOW => number::le(key.high.y, query.high.y),
        strategy::BELOW => number::lt(key.high.y, query.low.y),
        strategy::ABOVE => number::gt(key.low.y, query.high.y),
        strategy::OVER_ABOVE => number::ge(key.low.y, query.low.y),
        _ => return None,
    })
}

/// Whether a box within the key can have this relation to the query: unless the opposite relation
/// holds for the whole key.
fn inner_matches(key: Rect, query: Rect, strategy: u16) -> Option<bool> {
    let not = |strategy| leaf_matches(key, query, strategy).map(|found| !found);
    match strategy {
        strategy::LEFT => not(strategy::OVER_RIGHT),
        strategy::OVER_LEFT => not(strategy::RIGHT),
        strategy::OVER_RIGHT => not(strategy::LEFT),
        strategy::RIGHT => not(strategy::OVER_LEFT),
        strategy::SAME | strategy::CONTAINS => Some(key.contains(query)),
        strategy::OVERLAP | strategy::CONTAINED_BY => Some(key.overlaps(query)),
        strategy::OVER_BELOW => not(strategy::ABOVE),
        strategy::BELOW => not(strategy::OVER_ABOVE),
        strategy::ABOVE => not(strategy::OVER_BELOW),
        strategy::OVER_ABOVE => not(strategy::BELOW),
        _ => None,
    }
}

fn box_consistent(c: &Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<Ternary> {
    let (key, query) = (Rect::of(key), Rect::of(c.value));
    let found = match leaf {
        true => leaf_matches(key, query, c.strategy.0),
        false => inner_matches(key, query, c.strategy.0),
    };
    found.map(Ternary::from).ok_or_else(|| c.unknown())
}

/// For shapes of which only the bounding box is known.
fn bounds_consistent(c: &Condition<'_>, key: DatumRef<'_>, query: Rect) -> Result<Ternary> {
    match inner_matches(Rect::of(key), query, c.strategy.0) {
        Some(true) => Ok(Ternary::Maybe),
        Some(false) => Ok(Ternary::False),
        None => Err(c.unknown()),
    }
}

fn polygon_consistent(c: &Condition<'_>, key: DatumRef<'_>, _leaf: bool) -> Result<Ternary> {
    bounds_consistent(c, key, Polygon::of(c.value).bounds)
}

fn circle_consistent(c: &Condition<'_>, key: DatumRef<'_>, _leaf: bool) -> Result<Ternary> {
    bounds_consistent(c, key, circle_box(Circle::of(c.value))?)
}

fn point_consistent(c: &Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<Ternary> {
    let key = Rect::of(key);
    let strategy = match c.strategy.0 {
        strategy::OLD_BELOW => strategy::BELOW,
        strategy::OLD_ABOVE => strategy::ABOVE,
        other => other,
    };
    let found = match strategy / GROUP {
        0 => point_matches(key, Point::of(c.value), strategy, leaf).ok_or_else(|| c.unknown())?,
        1 => {
            // Without tolerance, as the operator.
            let query = Rect::of(c.value);
            key.high.x >= query.low.x
                && key.low.x <= query.high.x
                && key.high.y >= query.low.y
                && key.low.y <= query.high.y
        }
        2 => {
            let query = Polygon::of(c.value);
            let near = key.overlaps(query.bounds);
            near && (!leaf || crate::outline::encloses(&query.points, key.high)?)
        }
        3 => {
            let query = Circle::of(c.value);
            let near = key.overlaps(circle_box(query)?);
            near && (!leaf || query.contains_point(key.high)?)
        }
        _ => return Err(c.unknown()),
    };
    Ok(found.into())
}

fn point_matches(key: Rect, query: Point, strategy: u16, leaf: bool) -> Option<bool> {
    Some(match strategy {
        strategy::LEFT => number::lt(key.low.x, query.x),
        strategy::RIGHT => number::gt(key.high.x, query.x),
        strategy::ABOVE => number::gt(key.high.y, query.y),
        strategy::BELOW => number::lt(key.low.y, query.y),
        strategy::SAME if leaf => number::eq(key.low.x, query.x) && number::eq(key.low.y, query.y),
        strategy::SAME => {
            number::le(query.x, key.high.x)
                && number::ge(query.x, key.low.x)
                && number::le(query.y, key.high.y)
                && number::ge(query.y, key.low.y)
        }
        _ => return None,
    })
}

fn polygon_compress(_: &Column, value: DatumRef<'_>, leaf: bool) -> Result<Option<Datum>> {
    Ok(leaf.then(|| Polygon::of(value).bounds.datum()))
}

fn circle_compress(_: &Column, value: DatumRef<'_>, leaf: bool) -> Result<Option<Datum>> {
    match leaf {
        true => Ok(Some(circle_box(Circle::of(value))?.datum())),
        false => Ok(None),
    }
}

fn point_compress(_: &Column, value: DatumRef<'_>, leaf: bool) -> Result<Option<Datum>> {
    let point = Point::of(value);
    Ok(leaf.then(|| Rect { high: point, low: point }.datum()))
}

fn point_fetch(_: &Column, key: DatumRef<'_>) -> Result<Datum> {
    Ok(Rect::of(key).high.datum())
}

/// The distance of a point from a box.
fn distance(key: Rect, point: Point) -> Result<f64> {
    let outside = |low: f64, value: f64, high: f64| match value {
        value if number::less(high, value) => sub(value, high),
        value if number::less(value, low) => sub(low, value),
        _ => Ok(0.0),
    };
    let x = outside(key.low.x, point.x, key.high.x)?;
    let y = outside(key.low.y, point.y, key.high.y)?;
    number::hypot(x, y)
}

fn box_distance(c: &Condition<'_>, key: DatumRef<'_>, _leaf: bool) -> Result<(f64, bool)> {
    match c.strategy.0 / GROUP {
        0 => Ok((distance(Rect::of(key), Point::of(c.value))?, false)),
        _ => Err(c.unknown()),
    }
}

fn point_distance(c: &Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<(f64, bool)> {
    if leaf && c.strategy.0 / GROUP == 0 {
        return Ok((Rect::of(key).low.distance(Point::of(c.value))?, false));
    }
    box_distance(c, key, leaf)
}

/// That of the bounding box is a lower bound.
fn bounds_distance(c: &Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<(f64, bool)> {
    Ok((box_distance(c, key, leaf)?.0, true))
}

fn union(_: &Column, keys: &[DatumRef<'_>]) -> Result<Datum> {
    let keys = keys.iter().map(|key| Rect::of(*key));
    let all = keys.reduce(hull).ok_or_else(|| PgError::internal("a union of no keys"))?;
    Ok(all.datum())
}

/// The area; infinite if a side is, unless the other one is 0.
fn size(r: Rect) -> f64 {
    if number::less(r.high.x, r.low.x)
        || number::same(r.high.x, r.low.x)
        || number::less(r.high.y, r.low.y)
        || number::same(r.high.y, r.low.y)
    {
        return 0.0;
    }
    if r.high.x.is_nan() || r.high.y.is_nan() {
        return f64::INFINITY;
    }
    (r.high.x - r.low.x) * (r.high.y - r.low.y)
}

/// How much the box grows.
fn penalty(_: &Column, old: DatumRef<'_>, new: DatumRef<'_>) -> Result<f32> {
    let (old, new) = (Rect::of(old), Rect::of(new));
    Ok((size(hull(old, new)) - size(old)) as f32)
}

fn same(_: &Column, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<bool> {
    let (a, b) = (Rect::of(a), Rect::of(b));
    let pairs =
        [(a.high.x, b.high.x), (a.high.y, b.high.y), (a.low.x, b.low.x), (a.low.y, b.low.y)];
    Ok(pairs.into_iter().all(|(a, b)| number::same(a, b)))
}

/// The extent of a box on an axis.
fn extent(r: Rect, vertical: bool) -> (f64, f64) {
    match vertical {
        false => (r.low.x, r.high.x),
        true => (r.low.y, r.high.y),
    }
}

/// A way to divide boxes: on an axis, the end of the left group and the start of the right one.
struct Cut {
    vertical: bool,
    left_end: f64,
    right_start: f64,
    /// How far the groups overlap, as a part of the extent of all boxes.
    overlap: f64,
    range: f64,
    /// The part of the boxes in the smaller group, if those that fit both are divided evenly.
    balance: f64,
}

impl Cut {
    /// Whether it is better than another one: on one axis by the overlap, then by the balance; of
    /// another axis also by the greater extent if both have no overlap.
    fn beats(&self, other: &Cut) -> bool {
        if self.vertical == other.vertical {
            return self.overlap < other.overlap
                || self.overlap == other.overlap && self.balance > other.balance;
        }
        let (own, known) = (self.overlap.max(0.0), other.overlap.max(0.0));
        own < known || own == known && self.range > other.range
    }
}

/// The best cut on an axis: considers each end of a box as the end of the left group, and the
/// least start of the right group with it, and the other way round.
fn cut(boxes: &[Rect], vertical: bool, best: &mut Option<Cut>) {
    let count = boxes.len();
    let mut by_start: Vec<(f64, f64)> = boxes.iter().map(|r| extent(*r, vertical)).collect();
    let mut by_end = by_start.clone();
    by_start.sort_by(|a, b| a.0.total_cmp(&b.0));
    by_end.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (first, last) = (by_start[0].0, by_end[count - 1].1);
    let range = last - first;
    if range.is_nan() || range <= 0.0 {
        return;
    }
    let mut consider = |left_end: f64, right_start: f64, left_min: usize, left_max: usize| {
        // Boxes that fit both groups make them as even as possible.
        let left = (count / 2).clamp(left_min.min(left_max), left_max.max(left_min));
        let balance = left.min(count - left) as f64 / count as f64;
        if balance <= PART_MIN {
            return;
        }
        let overlap = (left_end - right_start) / range;
        let new = Cut { vertical, left_end, right_start, overlap, range, balance };
        if best.as_ref().is_none_or(|known| new.beats(known)) {
            *best = Some(new);
        }
    };
    // The right group begins with box `i`; the left one ends where the boxes before it end.
    let mut left_end = by_start[0].1;
    let mut i = 0;
    while i < count {
        let right_start = by_start[i].0;
        let before = i;
        while i < count && by_start[i].0 == right_start {
            left_end = left_end.max(by_start[i].1);
            i += 1;
        }
        if before > 0 {
            let end = by_start[..before].iter().fold(f64::NEG_INFINITY, |m, b| m.max(b.1));
            let fits = by_end.partition_point(|b| b.1 <= end);
            consider(end, right_start, before, fits);
        }
    }
    // The left group ends with box `i`; the right one begins where the boxes after it begin.
    let mut right_start = f64::INFINITY;
    let mut i = count;
    while i > 0 {
        let left_end = by_end[i - 1].1;
        let end = i;
        if end < count {
            let starts_after = by_start.partition_point(|b| b.0 < right_start);
            consider(left_end, right_start, starts_after, end);
        }
        while i > 0 && by_end[i - 1].1 == left_end {
            right_start = right_start.min(by_end[i - 1].0);
            i -= 1;
        }
    }
}

/// Divides boxes on the axis, and at the place, where the groups overlap least and none of them is
/// too small (A. Korotkov, "A new double sorting-based node splitting algorithm for R-tree", 2012).
/// Boxes that fit both groups join the one that they make less larger.
fn pick_split(column: &Column, keys: &[DatumRef<'_>]) -> Result<Groups> {
    let boxes: Vec<Rect> = keys.iter().map(|key| Rect::of(*key)).collect();
    let mut best = None;
    cut(&boxes, false, &mut best);
    cut(&boxes, true, &mut best);
    let Some(best) = best else { return halves(column, keys) };
    let (mut left, mut right, mut both) = (Vec::new(), Vec::new(), Vec::new());
    for (n, r) in boxes.iter().enumerate() {
        let (start, end) = extent(*r, best.vertical);
        match (end <= best.left_end, start >= best.right_start) {
            (true, true) => both.push(n),
            (true, false) => left.push(n),
            (false, true) => right.push(n),
            (false, false) => return halves(column, keys),
        }
    }
    let of = |group: &[usize]| group.iter().map(|n| boxes[*n]).reduce(hull);
    let (mut left_box, mut right_box) = (of(&left), of(&right));
    let grows = |key: Option<Rect>, r: Rect| match key {
        Some(key) => size(hull(key, r)) - size(key),
        None => 0.0,
    };
    // Those for which the choice matters most come first.
    both.sort_by(|a, b| {
        let weight = |n: usize| (grows(left_box, boxes[n]) - grows(right_box, boxes[n])).abs();
        weight(*b).total_cmp(&weight(*a))
    });
    let least = (PART_MIN * keys.len() as f64).ceil() as usize;
    for (done, n) in both.iter().enumerate() {
        let remaining = both.len() - done;
        let to_left = if left.len() + remaining <= least {
            true
        } else if right.len() + remaining <= least {
            false
        } else {
            grows(left_box, boxes[*n]) < grows(right_box, boxes[*n])
        };
        let (group, known) =
            if to_left { (&mut left, &mut left_box) } else { (&mut right, &mut right_box) };
        group.push(*n);
        *known = Some(known.map_or(boxes[*n], |known| hull(known, boxes[*n])));
    }
    match (left_box, right_box) {
        (Some(l), Some(r)) => {
            Ok(Groups { left, right, left_union: l.datum(), right_union: r.datum() })
        }
        _ => halves(column, keys),
    }
}

/// The first and the second half, for boxes that cannot be told apart.
fn halves(column: &Column, keys: &[DatumRef<'_>]) -> Result<Groups> {
    let middle = keys.len() / 2;
    Ok(Groups {
        left: (0..middle).collect(),
        right: (middle..keys.len()).collect(),
        left_union: union(column, &keys[..middle])?,
        right_union: union(column, &keys[middle..])?,
    })
}

pub const FNS: &[(&str, Function)] = &[
    ("gist_box_consistent", Function::Consistent(box_consistent)),
    ("gist_box_union", Function::Union(union)),
    ("gist_box_penalty", Function::Penalty(penalty)),
    ("gist_box_picksplit", Function::PickSplit(pick_split)),
    ("gist_box_same", Function::Same(same)),
    ("gist_box_distance", Function::Distance(box_distance)),
    ("gist_poly_compress", Function::Compress(polygon_compress)),
    ("gist_poly_consistent", Function::Consistent(polygon_consistent)),
    ("gist_poly_distance", Function::Distance(bounds_distance)),
    ("gist_circle_compress", Function::Compress(circle_compress)),
    ("gist_circle_consistent", Function::Consistent(circle_consistent)),
    ("gist_circle_distance", Function::Distance(bounds_distance)),
    ("gist_point_compress", Function::Compress(point_compress)),
    ("gist_point_consistent", Function::Consistent(point_consistent)),
    ("gist_point_fetch", Function::Fetch(point_fetch)),
    ("gist_point_distance", Function::Distance(point_distance)),
];
