//! Points, segments and lines: intersections, distances, nearest points.

use crate::number::{self, add, div, eq, is_zero, less, mul, same, sub};
use crate::shape::{Line, Path, Point, Rect, Segment};
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};

/// The nearest point of a shape, and its distance; NaN if there is none.
pub(crate) struct Nearest {
    pub point: Point,
    pub distance: f64,
}

impl Nearest {
    /// The nearer of two; this one if they are equally near.
    pub(crate) fn or(self, other: Nearest) -> Nearest {
        if less(other.distance, self.distance) { other } else { self }
    }

    fn datum(self) -> Datum {
        if self.distance.is_nan() { Datum::Null } else { self.point.datum() }
    }
}

/// The slope of the line through two points.
pub(crate) fn slope(p: Point, q: Point) -> Result<f64> {
    if eq(p.x, q.x) {
        return Ok(f64::INFINITY);
    }
    if eq(p.y, q.y) {
        return Ok(0.0);
    }
    div(sub(p.y, q.y)?, sub(p.x, q.x)?)
}

/// The slope of a line perpendicular to that through two points.
fn perpendicular_slope(p: Point, q: Point) -> Result<f64> {
    if eq(p.x, q.x) {
        return Ok(0.0);
    }
    if eq(p.y, q.y) {
        return Ok(f64::INFINITY);
    }
    div(sub(p.x, q.x)?, sub(q.y, p.y)?)
}

impl Line {
    /// The line through a point with a slope.
    pub(crate) fn through(p: Point, slope: f64) -> Result<Line> {
        if slope.is_infinite() {
            return Ok(Line { a: -1.0, b: 0.0, c: p.x });
        }
        if slope == 0.0 {
            return Ok(Line { a: 0.0, b: -1.0, c: p.y });
        }
        let c = sub(p.y, mul(slope, p.x)?)?;
        // No negative zero.
        Ok(Line { a: slope, b: -1.0, c: if c == 0.0 { 0.0 } else { c } })
    }

    fn slope(self) -> Result<f64> {
        if is_zero(self.a) {
            return Ok(0.0);
        }
        if is_zero(self.b) {
            return Ok(f64::INFINITY);
        }
        div(self.a, -self.b)
    }

    fn perpendicular_slope(self) -> Result<f64> {
        if is_zero(self.a) {
            return Ok(f64::INFINITY);
        }
        if is_zero(self.b) {
            return Ok(0.0);
        }
        div(self.b, self.a)
    }

    /// The point that two lines share; `None` if they are parallel.
    pub(crate) fn intersection(self, other: Line) -> Result<Option<Point>> {
        // Of the two, `first` is not vertical.
        let (first, second) = match (is_zero(self.b), is_zero(other.b)) {
            (false, _) => (self, other),
            (true, false) => (other, self),
            (true, true) => return Ok(None),
        };
        if eq(second.a, mul(first.a, div(second.b, first.b)?)?) {
            return Ok(None);
        }
        let x = div(
            sub(mul(first.b, second.c)?, mul(second.b, first.c)?)?,
            sub(mul(first.a, second.b)?, mul(second.a, first.b)?)?,
        )?;
        let y = div(-add(mul(first.a, x)?, first.c)?, first.b)?;
        let positive = |n: f64| if n == 0.0 { 0.0 } else { n };
        Ok(Some(Point::new(positive(x), positive(y))))
    }

    fn contains(self, p: Point) -> Result<bool> {
        Ok(is_zero(add(add(mul(self.a, p.x)?, mul(self.b, p.y)?)?, self.c)?))
    }

    pub(crate) fn nearest_to(self, p: Point) -> Result<Nearest> {
        let perpendicular = Line::through(p, self.perpendicular_slope()?)?;
        Ok(match perpendicular.intersection(self)? {
            Some(point) => Nearest { point, distance: point.distance(p)? },
            None => Nearest { point: p, distance: f64::NAN },
        })
    }

    fn distance(self, other: Line) -> Result<f64> {
        if self.intersection(other)?.is_some() {
            return Ok(0.0);
        }
        let usable = |a: f64, b: f64| ![a, b].iter().any(|n| is_zero(*n) || n.is_nan());
        let ratio = if usable(self.a, other.a) {
            div(self.a, other.a)?
        } else if usable(self.b, other.b) {
            div(self.b, other.b)?
        } else {
            1.0
        };
        let gap = sub(self.c, mul(ratio, other.c)?)?.abs();
        div(gap, number::hypot(self.a, self.b)?)
    }

    fn is_perpendicular(self, other: Line) -> Result<bool> {
        if is_zero(self.a) {
            return Ok(is_zero(other.b));
        }
        if is_zero(other.a) {
            return Ok(is_zero(self.b));
        }
        if is_zero(self.b) {
            return Ok(is_zero(other.a));
        }
        if is_zero(other.b) {
            return Ok(is_zero(self.a));
        }
        Ok(eq(div(mul(self.a, other.a)?, mul(self.b, other.b)?)?, -1.0))
    }

    fn equals(self, other: Line) -> Result<bool> {
        let (mine, its) = ([self.a, self.b, self.c], [other.a, other.b, other.c]);
        if mine.iter().chain(&its).any(|n| n.is_nan()) {
            return Ok(mine.iter().zip(&its).all(|(a, b)| same(*a, *b)));
        }
        let ratio = match its.iter().position(|n| !is_zero(*n)) {
            Some(i) => div(mine[i], its[i])?,
            None => 1.0,
        };
        for (a, b) in mine.iter().zip(&its) {
            if !eq(*a, mul(ratio, *b)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Segment {
    pub(crate) fn slope(self) -> Result<f64> {
        slope(self.0, self.1)
    }

    pub(crate) fn line(self) -> Result<Line> {
        Line::through(self.0, self.slope()?)
    }

    pub(crate) fn contains(self, p: Point) -> Result<bool> {
        Ok(eq(p.distance(self.0)? + p.distance(self.1)?, self.length()?))
    }

    pub(crate) fn meets_line(self, line: Line) -> Result<Option<Point>> {
        let Some(p) = self.line()?.intersection(line)? else { return Ok(None) };
        if !self.contains(p)? {
            return Ok(None);
        }
        // An end is returned exactly.
        let end = [self.0, self.1].into_iter().find(|end| end.equals(p));
        Ok(Some(end.unwrap_or(p)))
    }

    pub(crate) fn meets(self, other: Segment) -> Result<Option<Point>> {
        let Some(p) = self.meets_line(other.line()?)? else { return Ok(None) };
        Ok(other.contains(p)?.then_some(p))
    }

    fn nearest_to_line(self, line: Line) -> Result<Nearest> {
        if let Some(point) = self.meets_line(line)? {
            return Ok(Nearest { point, distance: 0.0 });
        }
        let first = line.nearest_to(self.0)?.distance;
        let second = line.nearest_to(self.1)?.distance;
        Ok(match first < second {
            true => Nearest { point: self.0, distance: first },
            false => Nearest { point: self.1, distance: second },
        })
    }

    pub(crate) fn nearest_to(self, p: Point) -> Result<Nearest> {
        let perpendicular = Line::through(p, perpendicular_slope(self.0, self.1)?)?;
        let point = self.nearest_to_line(perpendicular)?.point;
        Ok(Nearest { point, distance: point.distance(p)? })
    }

    /// The point of this segment that is nearest to another.
    pub(crate) fn nearest_to_segment(self, other: Segment) -> Result<Nearest> {
        if let Some(point) = self.meets(other)? {
            return Ok(Nearest { point, distance: 0.0 });
        }
        let mut best = self.nearest_to(other.0)?.or(self.nearest_to(other.1)?);
        for end in [self.0, self.1] {
            let distance = other.nearest_to(end)?.distance;
            best = best.or(Nearest { point: end, distance });
        }
        Ok(best)
    }
}

impl Rect {
    fn nearest_to(self, p: Point) -> Result<Nearest> {
        if self.contains_point(p) {
            return Ok(Nearest { point: p, distance: 0.0 });
        }
        let [first, rest @ ..] = self.sides();
        let mut best = first.nearest_to(p)?;
        for side in rest {
            best = best.or(side.nearest_to(p)?);
        }
        Ok(best)
    }

    fn meets(self, segment: Segment) -> Result<bool> {
        if !Rect::between(segment.0, segment.1).overlaps(self) {
            return Ok(false);
        }
        if self.contains_point(segment.0) || self.contains_point(segment.1) {
            return Ok(true);
        }
        for side in self.sides() {
            if side.meets(segment)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn distance_to_segment(self, segment: Segment) -> Result<f64> {
        if self.meets(segment)? {
            return Ok(0.0);
        }
        self.nearest_side(segment).map(|nearest| nearest.distance)
    }

    fn nearest_side(self, segment: Segment) -> Result<Nearest> {
        let [first, rest @ ..] = self.sides();
        let mut best = first.nearest_to_segment(segment)?;
        for side in rest {
            best = best.or(side.nearest_to_segment(segment)?);
        }
        Ok(best)
    }

    /// The point of this box that is nearest to a segment; of the points that they share, one
    /// near the center of the box.
    fn nearest_to_segment(self, segment: Segment) -> Result<Nearest> {
        if self.meets(segment)? {
            let point = segment.nearest_to(self.center()?)?.point;
            return Ok(Nearest { point, distance: 0.0 });
        }
        self.nearest_side(segment)
    }

    fn meets_line(self, line: Line) -> Result<bool> {
        for side in self.sides() {
            if side.meets_line(line)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The distance of a point from a path.
fn path_distance(p: Point, path: &Path) -> Result<f64> {
    let mut best: Option<f64> = None;
    for segment in path.segments() {
        let distance = segment.nearest_to(p)?.distance;
        if best.is_none_or(|best| less(distance, best)) {
            best = Some(distance);
        }
    }
    Ok(best.unwrap_or(0.0))
}

fn points(a: &[DatumRef<'_>]) -> (Point, Point) {
    (Point::of(a[0]), Point::of(a[1]))
}

fn segments(a: &[DatumRef<'_>]) -> (Segment, Segment) {
    (Segment::of(a[0]), Segment::of(a[1]))
}

fn lines(a: &[DatumRef<'_>]) -> (Line, Line) {
    (Line::of(a[0]), Line::of(a[1]))
}

fn compare_points(a: &[DatumRef<'_>], test: impl Fn(Point, Point) -> bool) -> Result<Datum> {
    let (p, q) = points(a);
    Ok(Datum::bool(test(p, q)))
}

fn combine(a: &[DatumRef<'_>], f: impl Fn(Point, Point) -> Result<Point>) -> Result<Datum> {
    let (p, q) = points(a);
    Ok(f(p, q)?.datum())
}

/// Compares the lengths of two segments.
fn compare_lengths(a: &[DatumRef<'_>], test: impl Fn(f64, f64) -> bool) -> Result<Datum> {
    let (s, t) = segments(a);
    Ok(Datum::bool(test(s.length()?, t.length()?)))
}

fn segments_equal(a: &[DatumRef<'_>]) -> bool {
    let (s, t) = segments(a);
    s.0.equals(t.0) && s.1.equals(t.1)
}

fn optional(point: Option<Point>) -> Datum {
    point.map_or(Datum::Null, Point::datum)
}

fn line_of_points(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (p, q) = points(a);
    if p.equals(q) {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "invalid line specification: must be two distinct points"
        ));
    }
    Ok(Line::through(p, slope(p, q)?)?.datum())
}

fn close_ls(line: Line, segment: Segment) -> Result<Datum> {
    if segment.slope()? == line.slope()? {
        return Ok(Datum::Null);
    }
    Ok(segment.nearest_to_line(line)?.datum())
}

fn close_lseg(s: Segment, t: Segment) -> Result<Datum> {
    if s.slope()? == t.slope()? {
        return Ok(Datum::Null);
    }
    Ok(t.nearest_to_segment(s)?.datum())
}

scalars! { FNS;
    "construct_point" => |_, a| Ok(Point::new(a[0].as_f64(), a[1].as_f64()).datum()),
    "point_left" => |_, a| compare_points(a, |p, q| number::lt(p.x, q.x)),
    "point_right" => |_, a| compare_points(a, |p, q| number::gt(p.x, q.x)),
    "point_above" => |_, a| compare_points(a, |p, q| number::gt(p.y, q.y)),
    "point_below" => |_, a| compare_points(a, |p, q| number::lt(p.y, q.y)),
    "point_vert" => |_, a| compare_points(a, |p, q| eq(p.x, q.x)),
    "point_horiz" => |_, a| compare_points(a, |p, q| eq(p.y, q.y)),
    "point_eq" => |_, a| compare_points(a, Point::equals),
    "point_ne" => |_, a| compare_points(a, |p, q| !p.equals(q)),
    "point_slope" => |_, a| Ok(Datum::float8(slope(Point::of(a[0]), Point::of(a[1]))?)),
    "point_add" => |_, a| combine(a, Point::plus),
    "point_sub" => |_, a| combine(a, Point::minus),
    "point_mul" => |_, a| combine(a, Point::times),
    "point_div" => |_, a| combine(a, Point::over),
    "lseg_construct" => |_, a| Ok(Segment(Point::of(a[0]), Point::of(a[1])).datum()),
    "lseg_length" => |_, a| Ok(Datum::float8(Segment::of(a[0]).length()?)),
    "lseg_center" => |_, a| {
        let Segment(p, q) = Segment::of(a[0]);
        Ok(p.middle(q)?.datum())
    },
    "lseg_intersect" => |_, a| {
        let (s, t) = segments(a);
        Ok(Datum::bool(s.meets(t)?.is_some()))
    },
    "lseg_interpt" => |_, a| {
        let (s, t) = segments(a);
        Ok(optional(s.meets(t)?))
    },
    "lseg_parallel" => |_, a| {
        let (s, t) = segments(a);
        Ok(Datum::bool(eq(s.slope()?, t.slope()?)))
    },
    "lseg_perp" => |_, a| {
        let (s, t) = segments(a);
        Ok(Datum::bool(eq(s.slope()?, perpendicular_slope(t.0, t.1)?)))
    },
    "lseg_vertical" => |_, a| {
        let s = Segment::of(a[0]);
        Ok(Datum::bool(eq(s.0.x, s.1.x)))
    },
    "lseg_horizontal" => |_, a| {
        let s = Segment::of(a[0]);
        Ok(Datum::bool(eq(s.0.y, s.1.y)))
    },
    "lseg_eq" => |_, a| Ok(Datum::bool(segments_equal(a))),
    "lseg_ne" => |_, a| Ok(Datum::bool(!segments_equal(a))),
    "lseg_lt" => |_, a| compare_lengths(a, number::lt),
    "lseg_le" => |_, a| compare_lengths(a, number::le),
    "lseg_gt" => |_, a| compare_lengths(a, number::gt),
    "lseg_ge" => |_, a| compare_lengths(a, number::ge),
    "line_construct_pp" => |_, a| line_of_points(a),
    "line_intersect" => |_, a| {
        let (l, m) = lines(a);
        Ok(Datum::bool(l.intersection(m)?.is_some()))
    },
    "line_interpt" => |_, a| {
        let (l, m) = lines(a);
        Ok(optional(l.intersection(m)?))
    },
    "line_parallel" => |_, a| {
        let (l, m) = lines(a);
        Ok(Datum::bool(l.intersection(m)?.is_none()))
    },
    "line_perp" => |_, a| {
        let (l, m) = lines(a);
        Ok(Datum::bool(l.is_perpendicular(m)?))
    },
    "line_vertical" => |_, a| Ok(Datum::bool(is_zero(Line::of(a[0]).b))),
    "line_horizontal" => |_, a| Ok(Datum::bool(is_zero(Line::of(a[0]).a))),
    "line_eq" => |_, a| {
        let (l, m) = lines(a);
        Ok(Datum::bool(l.equals(m)?))
    },
    "on_pl" => |_, a| Ok(Datum::bool(Line::of(a[1]).contains(Point::of(a[0]))?)),
    "on_ps" => |_, a| Ok(Datum::bool(Segment::of(a[1]).contains(Point::of(a[0]))?)),
    "on_sl" => |_, a| {
        let (s, line) = (Segment::of(a[0]), Line::of(a[1]));
        Ok(Datum::bool(line.contains(s.0)? && line.contains(s.1)?))
    },
    "inter_sl" => |_, a| {
        Ok(Datum::bool(Segment::of(a[0]).meets_line(Line::of(a[1]))?.is_some()))
    },
    "inter_sb" => |_, a| Ok(Datum::bool(Rect::of(a[1]).meets(Segment::of(a[0]))?)),
    "inter_lb" => |_, a| Ok(Datum::bool(Rect::of(a[1]).meets_line(Line::of(a[0]))?)),
}

scalars! { DISTANCES;
    "point_distance" => |_, a| Ok(Datum::float8(Point::of(a[0]).distance(Point::of(a[1]))?)),
    "line_distance" => |_, a| {
        let (l, m) = lines(a);
        Ok(Datum::float8(l.distance(m)?))
    },
    "lseg_distance" => |_, a| {
        let (s, t) = segments(a);
        Ok(Datum::float8(s.nearest_to_segment(t)?.distance))
    },
    "dist_pl" => |_, a| {
        Ok(Datum::float8(Line::of(a[1]).nearest_to(Point::of(a[0]))?.distance))
    },
    "dist_lp" => |_, a| {
        Ok(Datum::float8(Line::of(a[0]).nearest_to(Point::of(a[1]))?.distance))
    },
    "dist_ps" => |_, a| {
        Ok(Datum::float8(Segment::of(a[1]).nearest_to(Point::of(a[0]))?.distance))
    },
    "dist_sp" => |_, a| {
        Ok(Datum::float8(Segment::of(a[0]).nearest_to(Point::of(a[1]))?.distance))
    },
    "dist_sl" => |_, a| {
        Ok(Datum::float8(Segment::of(a[0]).nearest_to_line(Line::of(a[1]))?.distance))
    },
    "dist_ls" => |_, a| {
        Ok(Datum::float8(Segment::of(a[1]).nearest_to_line(Line::of(a[0]))?.distance))
    },
    "dist_pb" => |_, a| {
        Ok(Datum::float8(Rect::of(a[1]).nearest_to(Point::of(a[0]))?.distance))
    },
    "dist_bp" => |_, a| {
        Ok(Datum::float8(Rect::of(a[0]).nearest_to(Point::of(a[1]))?.distance))
    },
    "dist_sb" => |_, a| {
        Ok(Datum::float8(Rect::of(a[1]).distance_to_segment(Segment::of(a[0]))?))
    },
    "dist_bs" => |_, a| {
        Ok(Datum::float8(Rect::of(a[0]).distance_to_segment(Segment::of(a[1]))?))
    },
    "dist_ppath" => |_, a| {
        Ok(Datum::float8(path_distance(Point::of(a[0]), &Path::of(a[1]))?))
    },
    "dist_pathp" => |_, a| {
        Ok(Datum::float8(path_distance(Point::of(a[1]), &Path::of(a[0]))?))
    },
    "close_pl" => |_, a| Ok(Line::of(a[1]).nearest_to(Point::of(a[0]))?.datum()),
    "close_ps" => |_, a| Ok(Segment::of(a[1]).nearest_to(Point::of(a[0]))?.datum()),
    "close_pb" => |_, a| Ok(Rect::of(a[1]).nearest_to(Point::of(a[0]))?.datum()),
    "close_ls" => |_, a| close_ls(Line::of(a[0]), Segment::of(a[1])),
    "close_lseg" => |_, a| close_lseg(Segment::of(a[0]), Segment::of(a[1])),
    "close_sb" => |_, a| Ok(Rect::of(a[1]).nearest_to_segment(Segment::of(a[0]))?.datum()),
}
