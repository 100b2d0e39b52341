//! earthdistance: the great-circle distance of two points. The functions on cubes are in SQL.
//!
//! Counterpart: contrib/earthdistance/earthdistance.c.

use crate::library::Library;
use std::f64::consts::{PI, TAU};
use values::datum::{Datum, DatumRef};

pub static LIBRARY: Library =
    Library { name: "earthdistance", functions: &[FNS], ..Library::EMPTY };

/// The radius of the Earth in statute miles.
const RADIUS_MILES: f64 = 3958.747716;

/// Longitude and latitude of a point in radians. The value is two numbers of eight bytes.
fn position(point: DatumRef<'_>) -> (f64, f64) {
    let bytes = point.as_bytes();
    let number = |at: usize| {
        let bytes = bytes.get(at..).and_then(|b| b.first_chunk::<8>());
        bytes.map_or(0.0, |b| f64::from_le_bytes(*b)) / 360.0 * TAU
    };
    (number(0), number(8))
}

/// The distance in statute miles.
fn distance(a: DatumRef<'_>, b: DatumRef<'_>) -> f64 {
    let ((long1, lat1), (long2, lat2)) = (position(a), position(b));
    let difference = (long1 - long2).abs();
    let difference = if difference > PI { TAU - difference } else { difference };
    let (x, y) = (((lat1 - lat2).abs() / 2.0).sin(), (difference / 2.0).sin());
    let sine = (x * x + lat1.cos() * lat2.cos() * y * y).sqrt();
    2.0 * RADIUS_MILES * sine.min(1.0).asin()
}

scalars! { FNS;
    "geo_distance" => |_, a| Ok(Datum::float8(distance(a[0], a[1]))),
}
