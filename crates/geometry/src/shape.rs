//! The types and their stored form: doubles in little-endian order; before the points of a path
//! its number of points and whether it is closed, before those of a polygon their number and the
//! bounding box.

use crate::number::{self, add, div, eq, less, mul, same, sub};
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::limits;

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// A segment between two points.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Segment(pub Point, pub Point);

/// The points with `a * x + b * y + c = 0`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line {
    pub a: f64,
    pub b: f64,
    pub c: f64,
}

/// A box: its upper right and its lower left corner.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rect {
    pub high: Point,
    pub low: Point,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Circle {
    pub center: Point,
    pub radius: f64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    pub closed: bool,
    pub points: Vec<Point>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Polygon {
    pub bounds: Rect,
    pub points: Vec<Point>,
}

const POINT_BYTES: usize = 16;
const PATH_HEADER: usize = 12;
const POLYGON_HEADER: usize = 4 + 32;

/// The doubles of a stored value from an offset on; what is missing is 0.
fn doubles<const N: usize>(payload: &[u8], at: usize) -> [f64; N] {
    let rest = payload.get(at..).unwrap_or_default().as_chunks::<8>().0;
    std::array::from_fn(|i| rest.get(i).map_or(0.0, |b| f64::from_le_bytes(*b)))
}

fn stored(numbers: &[f64]) -> Datum {
    Datum::bytes(numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>())
}

fn points_of(payload: &[u8], at: usize) -> Vec<Point> {
    let count = payload.first_chunk::<4>().map_or(0, |b| u32::from_le_bytes(*b)) as usize;
    let rest = payload.get(at..).unwrap_or_default().as_chunks::<POINT_BYTES>().0;
    rest.iter().take(count).map(|b| Point::from(doubles(b, 0))).collect()
}

/// A payload with a header and points; 54000 if there are too many of them.
fn with_points(header: &[u8], points: &[Point]) -> Result<Datum> {
    check_count(points.len())?;
    let mut out = limits::allocate_payload(header.len() + POINT_BYTES * points.len())?;
    out.extend_from_slice(header);
    for p in points {
        out.extend_from_slice(&p.x.to_le_bytes());
        out.extend_from_slice(&p.y.to_le_bytes());
    }
    Ok(Datum::bytes(out))
}

/// 54000 for a number of points whose size does not fit 31 bits.
pub fn check_count(points: usize) -> Result<()> {
    const COUNT_MAX: usize = (i32::MAX as usize - 4 - POLYGON_HEADER) / POINT_BYTES;
    match points <= COUNT_MAX {
        true => Ok(()),
        false => Err(pg_err!(PROGRAM_LIMIT_EXCEEDED, "too many points requested")),
    }
}

impl From<[f64; 2]> for Point {
    fn from([x, y]: [f64; 2]) -> Point {
        Point { x, y }
    }
}

impl Point {
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    pub fn of(d: DatumRef<'_>) -> Point {
        Point::from(doubles(d.as_bytes(), 0))
    }

    pub fn datum(self) -> Datum {
        stored(&[self.x, self.y])
    }

    fn has_nan(self) -> bool {
        self.x.is_nan() || self.y.is_nan()
    }

    /// Equal up to the tolerance; exactly if a coordinate is NaN.
    pub fn equals(self, other: Point) -> bool {
        if self.has_nan() || other.has_nan() {
            return same(self.x, other.x) && same(self.y, other.y);
        }
        eq(self.x, other.x) && eq(self.y, other.y)
    }

    pub fn distance(self, other: Point) -> Result<f64> {
        number::hypot(sub(self.x, other.x)?, sub(self.y, other.y)?)
    }

    pub fn plus(self, other: Point) -> Result<Point> {
        Ok(Point::new(add(self.x, other.x)?, add(self.y, other.y)?))
    }

    pub fn minus(self, other: Point) -> Result<Point> {
        Ok(Point::new(sub(self.x, other.x)?, sub(self.y, other.y)?))
    }

    /// The product of complex numbers.
    pub fn times(self, other: Point) -> Result<Point> {
        Ok(Point::new(
            sub(mul(self.x, other.x)?, mul(self.y, other.y)?)?,
            add(mul(self.x, other.y)?, mul(self.y, other.x)?)?,
        ))
    }

    /// The quotient of complex numbers.
    pub fn over(self, other: Point) -> Result<Point> {
        let divisor = add(mul(other.x, other.x)?, mul(other.y, other.y)?)?;
        Ok(Point::new(
            div(add(mul(self.x, other.x)?, mul(self.y, other.y)?)?, divisor)?,
            div(sub(mul(self.y, other.x)?, mul(self.x, other.y)?)?, divisor)?,
        ))
    }

    /// The point in the middle.
    pub fn middle(self, other: Point) -> Result<Point> {
        Ok(Point::new(div(add(self.x, other.x)?, 2.0)?, div(add(self.y, other.y)?, 2.0)?))
    }
}

impl Segment {
    pub fn of(d: DatumRef<'_>) -> Segment {
        let [a, b, c, e] = doubles(d.as_bytes(), 0);
        Segment(Point::new(a, b), Point::new(c, e))
    }

    pub fn datum(self) -> Datum {
        stored(&[self.0.x, self.0.y, self.1.x, self.1.y])
    }

    pub fn length(self) -> Result<f64> {
        self.0.distance(self.1)
    }
}

impl Line {
    pub fn of(d: DatumRef<'_>) -> Line {
        let [a, b, c] = doubles(d.as_bytes(), 0);
        Line { a, b, c }
    }

    pub fn datum(self) -> Datum {
        stored(&[self.a, self.b, self.c])
    }
}

impl Rect {
    pub fn of(d: DatumRef<'_>) -> Rect {
        Rect::read(d.as_bytes(), 0)
    }

    fn read(payload: &[u8], at: usize) -> Rect {
        let [a, b, c, e] = doubles(payload, at);
        Rect { high: Point::new(a, b), low: Point::new(c, e) }
    }

    pub fn datum(self) -> Datum {
        stored(&[self.high.x, self.high.y, self.low.x, self.low.y])
    }

    /// The box with these opposite corners.
    pub fn between(a: Point, b: Point) -> Rect {
        let (low_x, high_x) = if less(b.x, a.x) { (b.x, a.x) } else { (a.x, b.x) };
        let (low_y, high_y) = if less(b.y, a.y) { (b.y, a.y) } else { (a.y, b.y) };
        Rect { high: Point::new(high_x, high_y), low: Point::new(low_x, low_y) }
    }

    /// The smallest box with these points, of which there is at least one.
    pub fn around(points: &[Point]) -> Rect {
        let first = points.first().copied().unwrap_or_default();
        let mut out = Rect { high: first, low: first };
        for p in points {
            out.low = Point::new(number::min(p.x, out.low.x), number::min(p.y, out.low.y));
            out.high = Point::new(number::max(p.x, out.high.x), number::max(p.y, out.high.y));
        }
        out
    }

    pub fn center(self) -> Result<Point> {
        self.high.middle(self.low)
    }

    pub fn overlaps(self, other: Rect) -> bool {
        number::le(self.low.x, other.high.x)
            && number::le(other.low.x, self.high.x)
            && number::le(self.low.y, other.high.y)
            && number::le(other.low.y, self.high.y)
    }

    pub fn contains(self, other: Rect) -> bool {
        number::ge(self.high.x, other.high.x)
            && number::le(self.low.x, other.low.x)
            && number::ge(self.high.y, other.high.y)
            && number::le(self.low.y, other.low.y)
    }

    /// Whether the point is within the box, without tolerance.
    pub fn contains_point(self, p: Point) -> bool {
        self.high.x >= p.x && self.low.x <= p.x && self.high.y >= p.y && self.low.y <= p.y
    }

    /// The sides: left, top, bottom, right.
    pub fn sides(self) -> [Segment; 4] {
        let top_left = Point::new(self.low.x, self.high.y);
        let bottom_right = Point::new(self.high.x, self.low.y);
        [
            Segment(self.low, top_left),
            Segment(self.high, top_left),
            Segment(self.low, bottom_right),
            Segment(self.high, bottom_right),
        ]
    }
}

impl Circle {
    pub fn of(d: DatumRef<'_>) -> Circle {
        let [x, y, radius] = doubles(d.as_bytes(), 0);
        Circle { center: Point::new(x, y), radius }
    }

    pub fn datum(self) -> Datum {
        stored(&[self.center.x, self.center.y, self.radius])
    }
}

impl Path {
    pub fn of(d: DatumRef<'_>) -> Path {
        let payload = d.as_bytes();
        let closed = payload.get(4..8).is_some_and(|b| b.iter().any(|b| *b != 0));
        Path { closed, points: points_of(payload, PATH_HEADER) }
    }

    pub fn datum(&self) -> Result<Datum> {
        let mut header = [0; PATH_HEADER];
        header[..4].copy_from_slice(&(self.points.len() as u32).to_le_bytes());
        header[4] = u8::from(self.closed);
        with_points(&header, &self.points)
    }

    /// The segments; of a closed path first that from the last point to the first.
    pub fn segments(&self) -> impl Iterator<Item = Segment> + Clone {
        segments(&self.points, self.closed)
    }
}

fn segments(points: &[Point], closed: bool) -> impl Iterator<Item = Segment> + Clone {
    let last = points.last().filter(|_| closed).zip(points.first());
    let closing = last.map(|(last, first)| Segment(*last, *first));
    closing.into_iter().chain(points.windows(2).map(|w| Segment(w[0], w[1])))
}

impl Polygon {
    pub fn of(d: DatumRef<'_>) -> Polygon {
        let payload = d.as_bytes();
        Polygon { bounds: Rect::read(payload, 4), points: points_of(payload, POLYGON_HEADER) }
    }

    /// The polygon with these corners.
    pub fn new(points: Vec<Point>) -> Polygon {
        Polygon { bounds: Rect::around(&points), points }
    }

    pub fn datum(&self) -> Result<Datum> {
        let mut header = (self.points.len() as u32).to_le_bytes().to_vec();
        let Rect { high, low } = self.bounds;
        for n in [high.x, high.y, low.x, low.y] {
            header.extend_from_slice(&n.to_le_bytes());
        }
        with_points(&header, &self.points)
    }

    /// The sides, first that from the last corner to the first.
    pub fn sides(&self) -> impl Iterator<Item = Segment> + Clone {
        segments(&self.points, true)
    }
}
