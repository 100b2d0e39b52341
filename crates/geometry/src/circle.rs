//! Circles.

use crate::number::{self, add, div, mul, sub};
use crate::shape::{self, Circle, Point, Polygon};
use pgerror::{Result, pg_err};
use std::f64::consts::PI;
use values::datum::{Datum, DatumRef};

impl Circle {
    fn area(self) -> Result<f64> {
        mul(mul(self.radius, self.radius)?, PI)
    }

    fn left(self) -> Result<f64> {
        sub(self.center.x, self.radius)
    }

    fn right(self) -> Result<f64> {
        add(self.center.x, self.radius)
    }

    fn bottom(self) -> Result<f64> {
        sub(self.center.y, self.radius)
    }

    fn top(self) -> Result<f64> {
        add(self.center.y, self.radius)
    }

    fn contains(self, other: Circle) -> Result<bool> {
        let distance = self.center.distance(other.center)?;
        Ok(number::le(distance, sub(self.radius, other.radius)?))
    }

    pub(crate) fn contains_point(self, p: Point) -> Result<bool> {
        Ok(self.center.distance(p)? <= self.radius)
    }

    fn same(self, other: Circle) -> bool {
        let radii = self.radius.is_nan() && other.radius.is_nan();
        (radii || number::eq(self.radius, other.radius)) && self.center.equals(other.center)
    }

    /// The polygon with this number of corners on the circle.
    fn polygon(self, corners: i32) -> Result<Datum> {
        if number::is_zero(self.radius) {
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot convert circle with radius zero to polygon"
            ));
        }
        if corners < 2 {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "must request at least 2 points"));
        }
        shape::check_count(corners as usize)?;
        let mut points = values::memory::with_capacity(corners as usize)?;
        let step = div(2.0 * PI, f64::from(corners))?;
        for i in 0..corners {
            let angle = mul(step, f64::from(i))?;
            points.push(Point::new(
                sub(self.center.x, mul(self.radius, angle.cos())?)?,
                add(self.center.y, mul(self.radius, angle.sin())?)?,
            ));
        }
        Polygon::new(points).datum()
    }
}

fn both(a: &[DatumRef<'_>]) -> (Circle, Circle) {
    (Circle::of(a[0]), Circle::of(a[1]))
}

/// Compares a number of the first circle with one of the second.
fn compare(
    a: &[DatumRef<'_>],
    first: fn(Circle) -> Result<f64>,
    second: fn(Circle) -> Result<f64>,
    test: fn(f64, f64) -> bool,
) -> Result<Datum> {
    let (c, d) = both(a);
    Ok(Datum::bool(test(first(c)?, second(d)?)))
}

fn compare_areas(a: &[DatumRef<'_>], test: fn(f64, f64) -> bool) -> Result<Datum> {
    compare(a, Circle::area, Circle::area, test)
}

fn not_equal(a: f64, b: f64) -> bool {
    a != b && (a - b).abs() > number::EPSILON
}

/// A distance, which is not negative.
fn positive(distance: f64) -> Datum {
    Datum::float8(if distance < 0.0 { 0.0 } else { distance })
}

fn distance_to_point(c: Circle, p: Point) -> Result<Datum> {
    Ok(positive(sub(p.distance(c.center)?, c.radius)?))
}

fn distance_to_polygon(c: Circle, polygon: &Polygon) -> Result<Datum> {
    Ok(positive(sub(polygon.distance_to_point(c.center)?, c.radius)?))
}

fn distance(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (c, d) = both(a);
    Ok(positive(sub(c.center.distance(d.center)?, add(c.radius, d.radius)?)?))
}

/// A circle with a changed center and radius.
fn moved(
    a: &[DatumRef<'_>],
    center: impl Fn(Point, Point) -> Result<Point>,
    radius: impl Fn(f64, Point) -> Result<f64>,
) -> Result<Datum> {
    let (c, by) = (Circle::of(a[0]), Point::of(a[1]));
    Ok(Circle { center: center(c.center, by)?, radius: radius(c.radius, by)? }.datum())
}

scalars! { FNS;
    "cr_circle" => |_, a| {
        Ok(Circle { center: Point::of(a[0]), radius: a[1].as_f64() }.datum())
    },
    "circle_same" => |_, a| Ok(Datum::bool(Circle::of(a[0]).same(Circle::of(a[1])))),
    "circle_overlap" => |_, a| {
        let (c, d) = both(a);
        let distance = c.center.distance(d.center)?;
        Ok(Datum::bool(number::le(distance, add(c.radius, d.radius)?)))
    },
    "circle_overleft" => |_, a| compare(a, Circle::right, Circle::right, number::le),
    "circle_left" => |_, a| compare(a, Circle::right, Circle::left, number::lt),
    "circle_right" => |_, a| compare(a, Circle::left, Circle::right, number::gt),
    "circle_overright" => |_, a| compare(a, Circle::left, Circle::left, number::ge),
    "circle_below" => |_, a| compare(a, Circle::top, Circle::bottom, number::lt),
    "circle_above" => |_, a| compare(a, Circle::bottom, Circle::top, number::gt),
    "circle_overbelow" => |_, a| compare(a, Circle::top, Circle::top, number::le),
    "circle_overabove" => |_, a| compare(a, Circle::bottom, Circle::bottom, number::ge),
    "circle_contain" => |_, a| {
        let (c, d) = both(a);
        Ok(Datum::bool(c.contains(d)?))
    },
    "circle_contained" => |_, a| {
        let (c, d) = both(a);
        Ok(Datum::bool(d.contains(c)?))
    },
    "circle_eq" => |_, a| compare_areas(a, number::eq),
    "circle_ne" => |_, a| compare_areas(a, not_equal),
    "circle_lt" => |_, a| compare_areas(a, number::lt),
    "circle_gt" => |_, a| compare_areas(a, number::gt),
    "circle_le" => |_, a| compare_areas(a, number::le),
    "circle_ge" => |_, a| compare_areas(a, number::ge),
    "circle_add_pt" => |_, a| moved(a, Point::plus, |r, _| Ok(r)),
    "circle_sub_pt" => |_, a| moved(a, Point::minus, |r, _| Ok(r)),
    "circle_mul_pt" => |_, a| {
        moved(a, Point::times, |r, by| mul(r, number::hypot(by.x, by.y)?))
    },
    "circle_div_pt" => |_, a| {
        moved(a, Point::over, |r, by| div(r, number::hypot(by.x, by.y)?))
    },
    "circle_area" => |_, a| Ok(Datum::float8(Circle::of(a[0]).area()?)),
    "circle_diameter" => |_, a| Ok(Datum::float8(mul(Circle::of(a[0]).radius, 2.0)?)),
    "circle_radius" => |_, a| Ok(Datum::float8(Circle::of(a[0]).radius)),
    "circle_center" => |_, a| Ok(Circle::of(a[0]).center.datum()),
    "circle_distance" => |_, a| distance(a),
    "circle_contain_pt" => |_, a| {
        Ok(Datum::bool(Circle::of(a[0]).contains_point(Point::of(a[1]))?))
    },
    "pt_contained_circle" => |_, a| {
        Ok(Datum::bool(Circle::of(a[1]).contains_point(Point::of(a[0]))?))
    },
    "dist_pc" => |_, a| distance_to_point(Circle::of(a[1]), Point::of(a[0])),
    "dist_cpoint" => |_, a| distance_to_point(Circle::of(a[0]), Point::of(a[1])),
    "dist_cpoly" => |_, a| distance_to_polygon(Circle::of(a[0]), &Polygon::of(a[1])),
    "dist_polyc" => |_, a| distance_to_polygon(Circle::of(a[1]), &Polygon::of(a[0])),
    "circle_poly" => |_, a| Circle::of(a[1]).polygon(a[0].as_i32()),
}
