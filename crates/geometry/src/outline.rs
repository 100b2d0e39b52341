//! Paths and polygons.

use crate::number::{self, add, div, eq, is_zero, less, mul, sub};
use crate::shape::{Circle, Path, Point, Polygon, Rect, Segment};
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;

/// How often a step of an outline goes around the origin, in quarters; `None` if the origin is on
/// it. Steps along the positive x axis are counted by halves.
fn crossing(to: Point, from: Point) -> Result<Option<i32>> {
    let (x, y, from_x, from_y) = (to.x, to.y, from.x, from.y);
    if is_zero(y) {
        if is_zero(x) {
            return Ok(None);
        }
        let right = number::gt(x, 0.0);
        if is_zero(from_y) {
            let same_side = match right {
                true => number::gt(from_x, 0.0),
                false => number::lt(from_x, 0.0),
            };
            return Ok(same_side.then_some(0));
        }
        return Ok(Some(match (right, number::lt(from_y, 0.0)) {
            (true, true) => 1,
            (true, false) => -1,
            (false, _) => 0,
        }));
    }
    let sign = if number::gt(y, 0.0) { 1 } else { -1 };
    if is_zero(from_y) {
        return Ok(Some(if number::lt(from_x, 0.0) { 0 } else { sign }));
    }
    let on_side = |n: f64| match sign {
        1 => number::gt(n, 0.0),
        _ => number::lt(n, 0.0),
    };
    if on_side(from_y) {
        return Ok(Some(0));
    }
    if number::ge(x, 0.0) && number::gt(from_x, 0.0) {
        return Ok(Some(2 * sign));
    }
    if number::lt(x, 0.0) && number::le(from_x, 0.0) {
        return Ok(Some(0));
    }
    let z = sub(mul(sub(x, from_x)?, y)?, mul(sub(y, from_y)?, x)?)?;
    if is_zero(z) {
        return Ok(None);
    }
    Ok(Some(if on_side(z) { 0 } else { 2 * sign }))
}

/// Whether a point is inside the outline or on it.
pub(crate) fn encloses(outline: &[Point], p: Point) -> Result<bool> {
    let Some(first) = outline.first() else { return Ok(false) };
    let start = first.minus(p)?;
    let (mut from, mut total) = (start, 0);
    for corner in &outline[1..] {
        let to = corner.minus(p)?;
        let Some(step) = crossing(to, from)? else { return Ok(true) };
        total += step;
        from = to;
    }
    let Some(step) = crossing(start, from)? else { return Ok(true) };
    Ok(total + step != 0)
}

/// The smallest distance between the segments of two outlines; `None` if one has no segment.
fn least_distance(
    cx: &dyn FnContext,
    a: impl Iterator<Item = Segment>,
    b: impl Iterator<Item = Segment> + Clone,
) -> Result<Option<f64>> {
    let mut best = None;
    for s in a {
        cx.check_interrupts()?;
        for t in b.clone() {
            let distance = s.nearest_to_segment(t)?.distance;
            if best.is_none_or(|best| less(distance, best)) {
                best = Some(distance);
            }
        }
    }
    Ok(best)
}

fn any_meet(
    cx: &dyn FnContext,
    a: impl Iterator<Item = Segment>,
    b: impl Iterator<Item = Segment> + Clone,
) -> Result<bool> {
    for s in a {
        cx.check_interrupts()?;
        for t in b.clone() {
            if s.meets(t)?.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

impl Path {
    fn area(&self) -> Result<Datum> {
        if !self.closed {
            return Ok(Datum::Null);
        }
        let mut area = 0.0;
        let next = self.points.iter().cycle().skip(1);
        for (p, q) in self.points.iter().zip(next) {
            area = sub(add(area, mul(p.x, q.y)?)?, mul(p.y, q.x)?)?;
        }
        Ok(Datum::float8(div(area.abs(), 2.0)?))
    }

    fn length(&self) -> Result<f64> {
        self.segments().try_fold(0.0, |sum, s| add(sum, s.length()?))
    }

    /// Whether a point is on the path, or inside if it is closed.
    fn contains(&self, p: Point) -> Result<bool> {
        if self.closed {
            return encloses(&self.points, p);
        }
        for s in self.segments() {
            if eq(add(p.distance(s.0)?, p.distance(s.1)?)?, s.length()?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn paths_meet(cx: &dyn FnContext, a: &Path, b: &Path) -> Result<bool> {
    if !Rect::around(&a.points).overlaps(Rect::around(&b.points)) {
        return Ok(false);
    }
    any_meet(cx, a.segments(), b.segments())
}

fn concatenation(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (mut first, second) = (Path::of(a[0]), Path::of(a[1]));
    if first.closed || second.closed {
        return Ok(Datum::Null);
    }
    first.points.extend(second.points);
    first.datum()
}

/// A path with changed points.
fn moved(a: &[DatumRef<'_>], f: impl Fn(Point, Point) -> Result<Point>) -> Result<Datum> {
    let (mut path, by) = (Path::of(a[0]), Point::of(a[1]));
    for p in &mut path.points {
        *p = f(*p, by)?;
    }
    path.datum()
}

fn compare_counts(a: &[DatumRef<'_>], test: impl Fn(&usize, &usize) -> bool) -> Result<Datum> {
    let (p, q) = (Path::of(a[0]).points.len(), Path::of(a[1]).points.len());
    Ok(Datum::bool(test(&p, &q)))
}

fn with_ends(d: DatumRef<'_>, closed: bool) -> Result<Datum> {
    Path { closed, ..Path::of(d) }.datum()
}

fn path_polygon(d: DatumRef<'_>) -> Result<Datum> {
    let path = Path::of(d);
    if !path.closed {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "open path cannot be converted to polygon"));
    }
    Polygon::new(path.points).datum()
}

impl Polygon {
    /// Equal corners in the same order or the reverse, from any corner on.
    fn same(&self, other: &Polygon) -> bool {
        let (p, q) = (&self.points, &other.points);
        let count = p.len();
        if count != q.len() {
            return false;
        }
        let equal = |start: usize, forward: bool| {
            p.iter().enumerate().all(|(i, corner)| {
                let at = if forward { start + i } else { start + count - i };
                q[at % count].equals(*corner)
            })
        };
        (0..count).any(|start| equal(start, true) || equal(start, false))
    }

    fn overlaps(&self, other: &Polygon, cx: &dyn FnContext) -> Result<bool> {
        if !self.bounds.overlaps(other.bounds) {
            return Ok(false);
        }
        if any_meet(cx, self.sides(), other.sides())? {
            return Ok(true);
        }
        let (Some(p), Some(q)) = (self.points.first(), other.points.first()) else {
            return Ok(false);
        };
        Ok(encloses(&other.points, *p)? || encloses(&self.points, *q)?)
    }

    fn contains(&self, other: &Polygon, cx: &dyn FnContext) -> Result<bool> {
        if !self.bounds.contains(other.bounds) {
            return Ok(false);
        }
        let sides: Vec<Segment> = self.sides().collect();
        let inside = Inside { cx, corners: &self.points, sides: &sides };
        for side in other.sides() {
            if !inside.segment(side.0, side.1, 0)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn distance_to_point(&self, p: Point) -> Result<f64> {
        if encloses(&self.points, p)? {
            return Ok(0.0);
        }
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else {
            return Ok(0.0);
        };
        let mut best = Segment(*first, *last).nearest_to(p)?.distance;
        for side in self.points.windows(2) {
            let distance = Segment(side[0], side[1]).nearest_to(p)?.distance;
            if less(distance, best) {
                best = distance;
            }
        }
        Ok(best)
    }

    fn distance(&self, other: &Polygon, cx: &dyn FnContext) -> Result<Datum> {
        if self.overlaps(other, cx)? {
            return Ok(Datum::float8(0.0));
        }
        let best = least_distance(cx, self.sides(), other.sides())?;
        Ok(best.map_or(Datum::Null, Datum::float8))
    }

    /// The circle around the mean of the corners with their mean distance as radius.
    fn circle(&self) -> Result<Circle> {
        let count = self.points.len() as f64;
        let sum = self.points.iter().try_fold(Point::default(), |sum, p| sum.plus(*p))?;
        let center = Point::new(div(sum.x, count)?, div(sum.y, count)?);
        let distances = |sum, p: &Point| add(sum, p.distance(center)?);
        let radius = div(self.points.iter().try_fold(0.0, distances)?, count)?;
        Ok(Circle { center, radius })
    }
}

/// The test whether segments are within a polygon.
struct Inside<'a> {
    cx: &'a dyn FnContext,
    corners: &'a [Point],
    /// Side `i` ends at corner `i`.
    sides: &'a [Segment],
}

impl Inside<'_> {
    /// Whether the segment between two points is inside, as far as the sides from `start` on say.
    fn segment(&self, a: Point, b: Point, start: usize) -> Result<bool> {
        stdx::stack::deep(|| self.segment_from(a, b, start))
    }

    fn segment_from(&self, a: Point, b: Point, start: usize) -> Result<bool> {
        let t = Segment(a, b);
        let mut crosses = false;
        for (i, side) in self.sides.iter().enumerate().skip(start) {
            self.cx.check_interrupts()?;
            let inside = if side.contains(a)? {
                if side.contains(b)? {
                    return Ok(true);
                }
                self.touched(a, b, *side, i + 1)?
            } else if side.contains(b)? {
                self.touched(b, a, *side, i + 1)?
            } else if let Some(p) = t.meets(*side)? {
                crosses = true;
                self.segment(a, p, i + 1)? && self.segment(b, p, i + 1)?
            } else {
                true
            };
            if !inside {
                return Ok(false);
            }
        }
        if crosses {
            return Ok(true);
        }
        encloses(self.corners, a.middle(b)?)
    }

    /// As [`Self::segment`], if `a` is on the side: the part beyond the side's end, if an end of it
    /// is on the segment.
    fn touched(&self, a: Point, b: Point, side: Segment, start: usize) -> Result<bool> {
        let t = Segment(a, b);
        let end = if a.equals(side.0) {
            t.contains(side.1)?.then_some(side.1)
        } else if a.equals(side.1) {
            t.contains(side.0)?.then_some(side.0)
        } else if t.contains(side.0)? {
            Some(side.0)
        } else {
            t.contains(side.1)?.then_some(side.1)
        };
        match end {
            Some(end) => self.segment(b, end, start),
            None => Ok(true),
        }
    }
}

fn polygons(a: &[DatumRef<'_>]) -> (Polygon, Polygon) {
    (Polygon::of(a[0]), Polygon::of(a[1]))
}

fn compare_bounds(a: &[DatumRef<'_>], test: impl Fn(Rect, Rect) -> bool) -> Result<Datum> {
    let (p, q) = polygons(a);
    Ok(Datum::bool(test(p.bounds, q.bounds)))
}

scalars! { FNS;
    "path_area" => |_, a| Path::of(a[0]).area(),
    "path_length" => |_, a| Ok(Datum::float8(Path::of(a[0]).length()?)),
    "path_npoints" => |_, a| Ok(Datum::int4(Path::of(a[0]).points.len() as i32)),
    "path_isclosed" => |_, a| Ok(Datum::bool(Path::of(a[0]).closed)),
    "path_isopen" => |_, a| Ok(Datum::bool(!Path::of(a[0]).closed)),
    "path_close" => |_, a| with_ends(a[0], true),
    "path_open" => |_, a| with_ends(a[0], false),
    "path_n_lt" => |_, a| compare_counts(a, usize::lt),
    "path_n_gt" => |_, a| compare_counts(a, usize::gt),
    "path_n_eq" => |_, a| compare_counts(a, usize::eq),
    "path_n_le" => |_, a| compare_counts(a, usize::le),
    "path_n_ge" => |_, a| compare_counts(a, usize::ge),
    "path_inter" => |cx, a| {
        Ok(Datum::bool(paths_meet(cx, &Path::of(a[0]), &Path::of(a[1]))?))
    },
    "path_distance" => |cx, a| {
        let (p, q) = (Path::of(a[0]), Path::of(a[1]));
        Ok(least_distance(cx, p.segments(), q.segments())?.map_or(Datum::Null, Datum::float8))
    },
    "path_add" => |_, a| concatenation(a),
    "path_add_pt" => |_, a| moved(a, Point::plus),
    "path_sub_pt" => |_, a| moved(a, Point::minus),
    "path_mul_pt" => |_, a| moved(a, Point::times),
    "path_div_pt" => |_, a| moved(a, Point::over),
    "path_poly" => |_, a| path_polygon(a[0]),
    "on_ppath" => |_, a| Ok(Datum::bool(Path::of(a[1]).contains(Point::of(a[0]))?)),
    "poly_left" => |_, a| compare_bounds(a, |p, q| p.high.x < q.low.x),
    "poly_overleft" => |_, a| compare_bounds(a, |p, q| p.high.x <= q.high.x),
    "poly_right" => |_, a| compare_bounds(a, |p, q| p.low.x > q.high.x),
    "poly_overright" => |_, a| compare_bounds(a, |p, q| p.low.x >= q.low.x),
    "poly_below" => |_, a| compare_bounds(a, |p, q| p.high.y < q.low.y),
    "poly_overbelow" => |_, a| compare_bounds(a, |p, q| p.high.y <= q.high.y),
    "poly_above" => |_, a| compare_bounds(a, |p, q| p.low.y > q.high.y),
    "poly_overabove" => |_, a| compare_bounds(a, |p, q| p.low.y >= q.low.y),
    "poly_same" => |_, a| {
        let (p, q) = polygons(a);
        Ok(Datum::bool(p.same(&q)))
    },
    "poly_overlap" => |cx, a| {
        let (p, q) = polygons(a);
        Ok(Datum::bool(p.overlaps(&q, cx)?))
    },
    "poly_contain" => |cx, a| {
        let (p, q) = polygons(a);
        Ok(Datum::bool(p.contains(&q, cx)?))
    },
    "poly_contained" => |cx, a| {
        let (p, q) = polygons(a);
        Ok(Datum::bool(q.contains(&p, cx)?))
    },
    "poly_contain_pt" => |_, a| {
        Ok(Datum::bool(encloses(&Polygon::of(a[0]).points, Point::of(a[1]))?))
    },
    "pt_contained_poly" => |_, a| {
        Ok(Datum::bool(encloses(&Polygon::of(a[1]).points, Point::of(a[0]))?))
    },
    "poly_distance" => |cx, a| {
        let (p, q) = polygons(a);
        p.distance(&q, cx)
    },
    "dist_ppoly" => |_, a| {
        Ok(Datum::float8(Polygon::of(a[1]).distance_to_point(Point::of(a[0]))?))
    },
    "dist_polyp" => |_, a| {
        Ok(Datum::float8(Polygon::of(a[0]).distance_to_point(Point::of(a[1]))?))
    },
    "poly_npoints" => |_, a| Ok(Datum::int4(Polygon::of(a[0]).points.len() as i32)),
    "poly_center" => |_, a| Ok(Polygon::of(a[0]).circle()?.center.datum()),
    "poly_circle" => |_, a| Ok(Polygon::of(a[0]).circle()?.datum()),
    "poly_box" => |_, a| Ok(Polygon::of(a[0]).bounds.datum()),
    "spg_poly_quad_compress" => |_, a| Ok(Polygon::of(a[0]).bounds.datum()),
    "poly_path" => |_, a| Path { closed: true, points: Polygon::of(a[0]).points }.datum(),
}
