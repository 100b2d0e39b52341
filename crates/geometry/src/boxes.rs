//! Boxes: comparisons by place and by area, arithmetic, conversions.

use crate::number::{self, div, mul, sub};
use crate::shape::{Circle, Point, Polygon, Rect, Segment};
use pgerror::Result;
use values::datum::{Datum, DatumRef};

impl Rect {
    fn width(self) -> Result<f64> {
        sub(self.high.x, self.low.x)
    }

    fn height(self) -> Result<f64> {
        sub(self.high.y, self.low.y)
    }

    fn area(self) -> Result<f64> {
        mul(self.width()?, self.height()?)
    }

    fn circle(self) -> Result<Circle> {
        let center = self.center()?;
        Ok(Circle { center, radius: center.distance(self.high)? })
    }

    fn polygon(self) -> Polygon {
        let Rect { high, low } = self;
        let points = vec![low, Point::new(low.x, high.y), high, Point::new(high.x, low.y)];
        Polygon { bounds: Rect::between(high, low), points }
    }
}

fn both(a: &[DatumRef<'_>]) -> (Rect, Rect) {
    (Rect::of(a[0]), Rect::of(a[1]))
}

fn compare(a: &[DatumRef<'_>], test: impl Fn(Rect, Rect) -> bool) -> Result<Datum> {
    let (p, q) = both(a);
    Ok(Datum::bool(test(p, q)))
}

fn compare_areas(a: &[DatumRef<'_>], test: impl Fn(f64, f64) -> bool) -> Result<Datum> {
    let (p, q) = both(a);
    Ok(Datum::bool(test(p.area()?, q.area()?)))
}

/// Changes both corners.
fn moved(
    a: &[DatumRef<'_>],
    f: impl Fn(Point, Point) -> Result<Point>,
    reorder: bool,
) -> Result<Datum> {
    let (rect, by) = (Rect::of(a[0]), Point::of(a[1]));
    let (high, low) = (f(rect.high, by)?, f(rect.low, by)?);
    Ok(if reorder { Rect::between(high, low) } else { Rect { high, low } }.datum())
}

fn corners(high: [f64; 2], low: [f64; 2]) -> Datum {
    Rect { high: Point::from(high), low: Point::from(low) }.datum()
}

fn intersection(a: &[DatumRef<'_>]) -> Datum {
    let (p, q) = both(a);
    if !p.overlaps(q) {
        return Datum::Null;
    }
    corners(
        [number::min(p.high.x, q.high.x), number::min(p.high.y, q.high.y)],
        [number::max(p.low.x, q.low.x), number::max(p.low.y, q.low.y)],
    )
}

fn union(a: &[DatumRef<'_>]) -> Datum {
    let (p, q) = both(a);
    corners(
        [number::max(p.high.x, q.high.x), number::max(p.high.y, q.high.y)],
        [number::min(p.low.x, q.low.x), number::min(p.low.y, q.low.y)],
    )
}

/// The square within a circle.
fn of_circle(circle: Circle) -> Result<Datum> {
    let delta = div(circle.radius, 2.0f64.sqrt())?;
    let by = Point::new(delta, delta);
    Ok(Rect { high: circle.center.plus(by)?, low: circle.center.minus(by)? }.datum())
}

scalars! { FNS;
    "box_same" => |_, a| compare(a, |p, q| p.high.equals(q.high) && p.low.equals(q.low)),
    "box_overlap" => |_, a| compare(a, Rect::overlaps),
    "box_left" => |_, a| compare(a, |p, q| number::lt(p.high.x, q.low.x)),
    "box_overleft" => |_, a| compare(a, |p, q| number::le(p.high.x, q.high.x)),
    "box_right" => |_, a| compare(a, |p, q| number::gt(p.low.x, q.high.x)),
    "box_overright" => |_, a| compare(a, |p, q| number::ge(p.low.x, q.low.x)),
    "box_below" => |_, a| compare(a, |p, q| number::lt(p.high.y, q.low.y)),
    "box_overbelow" => |_, a| compare(a, |p, q| number::le(p.high.y, q.high.y)),
    "box_above" => |_, a| compare(a, |p, q| number::gt(p.low.y, q.high.y)),
    "box_overabove" => |_, a| compare(a, |p, q| number::ge(p.low.y, q.low.y)),
    "box_below_eq" => |_, a| compare(a, |p, q| number::le(p.high.y, q.low.y)),
    "box_above_eq" => |_, a| compare(a, |p, q| number::ge(p.low.y, q.high.y)),
    "box_contain" => |_, a| compare(a, Rect::contains),
    "box_contained" => |_, a| compare(a, |p, q| q.contains(p)),
    "box_lt" => |_, a| compare_areas(a, number::lt),
    "box_gt" => |_, a| compare_areas(a, number::gt),
    "box_eq" => |_, a| compare_areas(a, number::eq),
    "box_le" => |_, a| compare_areas(a, number::le),
    "box_ge" => |_, a| compare_areas(a, number::ge),
    "box_area" => |_, a| Ok(Datum::float8(Rect::of(a[0]).area()?)),
    "box_width" => |_, a| Ok(Datum::float8(Rect::of(a[0]).width()?)),
    "box_height" => |_, a| Ok(Datum::float8(Rect::of(a[0]).height()?)),
    "box_distance" => |_, a| {
        let (p, q) = both(a);
        Ok(Datum::float8(p.center()?.distance(q.center()?)?))
    },
    "box_center" => |_, a| Ok(Rect::of(a[0]).center()?.datum()),
    "box_intersect" => |_, a| Ok(intersection(a)),
    "boxes_bound_box" => |_, a| Ok(union(a)),
    "box_diagonal" => |_, a| {
        let Rect { high, low } = Rect::of(a[0]);
        Ok(Segment(high, low).datum())
    },
    "box_contain_pt" => |_, a| Ok(Datum::bool(Rect::of(a[0]).contains_point(Point::of(a[1])))),
    "on_pb" => |_, a| Ok(Datum::bool(Rect::of(a[1]).contains_point(Point::of(a[0])))),
    "on_sb" => |_, a| {
        let (segment, rect) = (Segment::of(a[0]), Rect::of(a[1]));
        Ok(Datum::bool(rect.contains_point(segment.0) && rect.contains_point(segment.1)))
    },
    "points_box" => |_, a| Ok(Rect::between(Point::of(a[0]), Point::of(a[1])).datum()),
    "point_box" => |_, a| {
        let p = Point::of(a[0]);
        Ok(Rect { high: p, low: p }.datum())
    },
    "box_add" => |_, a| moved(a, Point::plus, false),
    "box_sub" => |_, a| moved(a, Point::minus, false),
    "box_mul" => |_, a| moved(a, Point::times, true),
    "box_div" => |_, a| moved(a, Point::over, true),
    "box_circle" => |_, a| Ok(Rect::of(a[0]).circle()?.datum()),
    "box_poly" => |_, a| Rect::of(a[0]).polygon().datum(),
    "circle_box" => |_, a| of_circle(Circle::of(a[0])),
}
