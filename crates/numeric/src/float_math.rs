//! Roots, powers, logarithms, trigonometry over float8. Counterpart: float.c.

use pgerror::{PgError, Result, pg_err};
use values::datum::Datum;
use values::float::{div8, mul8, overflow, underflow};
use values::type_io::out_of_range;

const RADIANS_PER_DEGREE: f64 = 0.017_453_292_519_943_295;

fn f8(v: f64) -> Result<Datum> {
    Ok(Datum::float8(v))
}

/// `r = f(x)`: an infinite result of a finite argument is an overflow, a zero result an underflow.
fn checked(r: f64, x: f64) -> Result<Datum> {
    if r.is_infinite() && x.is_finite() {
        return Err(overflow());
    }
    if r == 0.0 && x != 0.0 && x.is_finite() {
        return Err(underflow());
    }
    f8(r)
}

#[cold]
fn bad_input() -> PgError {
    out_of_range("input is")
}

fn power_error(message: &str) -> PgError {
    pg_err!(INVALID_ARGUMENT_FOR_POWER_FUNCTION, "{message}")
}

/// `x ^ y` with PostgreSQL's rules for NaN, infinities and zero.
pub fn power(x: f64, y: f64) -> Result<f64> {
    if x.is_nan() {
        return Ok(if y == 0.0 { 1.0 } else { x });
    }
    if y.is_nan() {
        return Ok(if x == 1.0 { 1.0 } else { y });
    }
    if x == 0.0 && y < 0.0 {
        return Err(power_error("zero raised to a negative power is undefined"));
    }
    if x < 0.0 && y.floor() != y {
        return Err(power_error(
            "a negative number raised to a non-integer power yields a complex result",
        ));
    }
    if y.is_infinite() {
        let size = x.abs();
        return Ok(if size == 1.0 {
            1.0
        } else if (size > 1.0) == (y > 0.0) {
            f64::INFINITY
        } else {
            0.0
        });
    }
    if x.is_infinite() {
        let odd = (y / 2.0).floor() != y / 2.0;
        return Ok(if y == 0.0 {
            1.0
        } else if x > 0.0 {
            if y > 0.0 { x } else { 0.0 }
        } else if y > 0.0 {
            if odd { x } else { -x }
        } else if odd {
            -0.0
        } else {
            0.0
        });
    }
    let r = x.powf(y);
    if r.is_infinite() {
        return Err(overflow());
    }
    if r == 0.0 && x != 0.0 {
        return Err(underflow());
    }
    Ok(r)
}

fn logarithm(x: f64, f: fn(f64) -> f64) -> Result<Datum> {
    if x == 0.0 {
        return Err(pg_err!(INVALID_ARGUMENT_FOR_LOG, "cannot take logarithm of zero"));
    }
    if x < 0.0 {
        return Err(pg_err!(
            INVALID_ARGUMENT_FOR_LOG,
            "cannot take logarithm of a negative number"
        ));
    }
    let r = f(x);
    if r.is_infinite() && x.is_finite() {
        return Err(overflow());
    }
    if r == 0.0 && x != 1.0 {
        return Err(underflow());
    }
    f8(r)
}

fn exponential(x: f64) -> Result<Datum> {
    if x.is_nan() {
        return f8(x);
    }
    if x.is_infinite() {
        return f8(if x > 0.0 { x } else { 0.0 });
    }
    let r = x.exp();
    if r == 0.0 {
        return Err(underflow());
    }
    if r.is_infinite() {
        return Err(overflow());
    }
    f8(r)
}

/// A trigonometric function: undefined at infinity.
fn periodic(x: f64, f: fn(f64) -> f64) -> Result<Datum> {
    if x.is_nan() {
        return f8(x);
    }
    if x.is_infinite() {
        return Err(bad_input());
    }
    f8(f(x))
}

/// asin and acos: defined on [-1, 1].
fn unit(x: f64, f: fn(f64) -> f64) -> Result<Datum> {
    if x.is_nan() {
        return f8(x);
    }
    if !(-1.0..=1.0).contains(&x) {
        return Err(bad_input());
    }
    f8(f(x))
}

// Degrees: scaled so that the results at multiples of 30 and 45 degrees are exact.

fn sin_rad(degrees: f64) -> f64 {
    (degrees * RADIANS_PER_DEGREE).sin()
}

fn cos_rad(degrees: f64) -> f64 {
    (degrees * RADIANS_PER_DEGREE).cos()
}

/// sin of 0..=30 degrees; exactly 0.5 at 30.
fn sin_0_30(x: f64) -> f64 {
    sin_rad(x) / sin_rad(30.0) / 2.0
}

/// cos of 0..=60 degrees; exactly 0.5 at 60.
fn cos_0_60(x: f64) -> f64 {
    1.0 - (1.0 - cos_rad(x)) / (1.0 - cos_rad(60.0)) / 2.0
}

/// sin of 0..=90 degrees.
fn sin_q1(x: f64) -> f64 {
    if x <= 30.0 { sin_0_30(x) } else { cos_0_60(90.0 - x) }
}

fn cos_q1(x: f64) -> f64 {
    if x <= 60.0 { cos_0_60(x) } else { sin_0_30(90.0 - x) }
}

/// The angle reduced to the first quadrant, and the signs of sine and cosine in its quadrant.
fn reduce(x: f64) -> (f64, f64, f64) {
    let mut x = x % 360.0;
    let (mut sin_sign, mut cos_sign) = (1.0, 1.0);
    if x < 0.0 {
        x = -x;
        sin_sign = -sin_sign;
    }
    if x > 180.0 {
        x = 360.0 - x;
        sin_sign = -sin_sign;
    }
    if x > 90.0 {
        x = 180.0 - x;
        cos_sign = -cos_sign;
    }
    (x, sin_sign, cos_sign)
}

fn sind(x: f64) -> f64 {
    let (x, sign, _) = reduce(x);
    sign * sin_q1(x)
}

fn cosd(x: f64) -> f64 {
    let (x, _, sign) = reduce(x);
    sign * cos_q1(x)
}

fn tand(x: f64) -> f64 {
    let (x, s, c) = reduce(x);
    let r = s * c * ((sin_q1(x) / cos_q1(x)) / (sin_q1(45.0) / cos_q1(45.0)));
    // Avoid minus zero.
    if r == 0.0 { 0.0 } else { r }
}

fn cotd(x: f64) -> f64 {
    let (x, s, c) = reduce(x);
    let r = s * c * ((cos_q1(x) / sin_q1(x)) / (cos_q1(45.0) / sin_q1(45.0)));
    if r == 0.0 { 0.0 } else { r }
}

fn asind_q1(x: f64) -> f64 {
    if x <= 0.5 { x.asin() / 0.5f64.asin() * 30.0 } else { 90.0 - x.acos() / 0.5f64.acos() * 60.0 }
}

fn acosd_q1(x: f64) -> f64 {
    if x <= 0.5 { 90.0 - x.asin() / 0.5f64.asin() * 30.0 } else { x.acos() / 0.5f64.acos() * 60.0 }
}

fn asind(x: f64) -> f64 {
    if x >= 0.0 { asind_q1(x) } else { -asind_q1(-x) }
}

fn acosd(x: f64) -> f64 {
    if x >= 0.0 { acosd_q1(x) } else { 90.0 + asind_q1(-x) }
}

fn atand(x: f64) -> f64 {
    x.atan() / 1f64.atan() * 45.0
}

/// Above this, adding 1 to the square does not change it.
const LARGE: f64 = 268_435_456.0;

fn asinh(x: f64) -> f64 {
    let a = x.abs();
    let r = if !a.is_finite() || a == 0.0 {
        return x;
    } else if a > LARGE {
        a.ln() + std::f64::consts::LN_2
    } else if a > 2.0 {
        (2.0 * a + 1.0 / ((a * a + 1.0).sqrt() + a)).ln()
    } else {
        let square = a * a;
        (a + square / (1.0 + (1.0 + square).sqrt())).ln_1p()
    };
    r.copysign(x)
}

fn acosh(x: f64) -> f64 {
    if x > LARGE {
        x.ln() + std::f64::consts::LN_2
    } else if x > 2.0 {
        (2.0 * x - 1.0 / (x + (x * x - 1.0).sqrt())).ln()
    } else {
        let t = x - 1.0;
        (t + (2.0 * t + t * t).sqrt()).ln_1p()
    }
}

fn width_bucket(x: f64, low: f64, high: f64, count: i32) -> Result<Datum> {
    let bad = |m: &str| pg_err!(INVALID_ARGUMENT_FOR_WIDTH_BUCKET_FUNCTION, "{m}");
    if count <= 0 {
        return Err(bad("count must be greater than zero"));
    }
    if x.is_nan() || low.is_nan() || high.is_nan() {
        return Err(bad("operand, lower bound, and upper bound cannot be NaN"));
    }
    if low.is_infinite() || high.is_infinite() {
        return Err(bad("lower and upper bounds must be finite"));
    }
    if low == high {
        return Err(bad("lower bound cannot equal upper bound"));
    }
    let past = count.checked_add(1).ok_or_else(|| out_of_range("integer"));
    let bucket = |part: f64, whole: f64| (f64::from(count) * part / whole + 1.0) as i32;
    let out = if low < high {
        if x < low {
            0
        } else if x >= high {
            past?
        } else {
            bucket(x - low, high - low)
        }
    } else if x > low {
        0
    } else if x <= high {
        past?
    } else {
        bucket(low - x, low - high)
    };
    Ok(Datum::int4(out))
}

scalars! { FNS;
    "dround" => |_, a| f8(a[0].as_f64().round_ties_even()),
    "dceil" => |_, a| f8(a[0].as_f64().ceil()),
    "dfloor" => |_, a| f8(a[0].as_f64().floor()),
    "dtrunc" => |_, a| f8(a[0].as_f64().trunc()),
    "dsign" => |_, a| {
        let x = a[0].as_f64();
        f8(if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { 0.0 })
    },
    "dsqrt" => |_, a| {
        let x = a[0].as_f64();
        if x < 0.0 {
            return Err(power_error("cannot take square root of a negative number"));
        }
        checked(x.sqrt(), x)
    },
    "dcbrt" => |_, a| checked(a[0].as_f64().cbrt(), a[0].as_f64()),
    "dpow" => |_, a| f8(power(a[0].as_f64(), a[1].as_f64())?),
    "dexp" => |_, a| exponential(a[0].as_f64()),
    "dlog1" => |_, a| logarithm(a[0].as_f64(), f64::ln),
    "dlog10" => |_, a| logarithm(a[0].as_f64(), f64::log10),
    "dacos" => |_, a| unit(a[0].as_f64(), f64::acos),
    "dasin" => |_, a| unit(a[0].as_f64(), f64::asin),
    "datan" => |_, a| f8(a[0].as_f64().atan()),
    "datan2" => |_, a| f8(a[0].as_f64().atan2(a[1].as_f64())),
    "dcos" => |_, a| periodic(a[0].as_f64(), f64::cos),
    "dsin" => |_, a| periodic(a[0].as_f64(), f64::sin),
    "dtan" => |_, a| periodic(a[0].as_f64(), f64::tan),
    "dcot" => |_, a| periodic(a[0].as_f64(), |x| 1.0 / x.tan()),
    "dacosd" => |_, a| unit(a[0].as_f64(), acosd),
    "dasind" => |_, a| unit(a[0].as_f64(), asind),
    "datand" => |_, a| f8(atand(a[0].as_f64())),
    "datan2d" => |_, a| f8(a[0].as_f64().atan2(a[1].as_f64()) / 1f64.atan() * 45.0),
    "dcosd" => |_, a| periodic(a[0].as_f64(), cosd),
    "dsind" => |_, a| periodic(a[0].as_f64(), sind),
    "dtand" => |_, a| periodic(a[0].as_f64(), tand),
    "dcotd" => |_, a| periodic(a[0].as_f64(), cotd),
    "dsinh" => |_, a| f8(a[0].as_f64().sinh()),
    "dcosh" => |_, a| f8(a[0].as_f64().cosh()),
    "dtanh" => |_, a| f8(a[0].as_f64().tanh()),
    "dasinh" => |_, a| f8(asinh(a[0].as_f64())),
    "dacosh" => |_, a| {
        let x = a[0].as_f64();
        if x < 1.0 { Err(bad_input()) } else { f8(acosh(x)) }
    },
    "datanh" => |_, a| {
        let x = a[0].as_f64();
        match x {
            _ if !(-1.0..=1.0).contains(&x) && !x.is_nan() => Err(bad_input()),
            1.0 => f8(f64::INFINITY),
            -1.0 => f8(f64::NEG_INFINITY),
            _ => f8(x.atanh()),
        }
    },
    "degrees" => |_, a| f8(div8(a[0].as_f64(), RADIANS_PER_DEGREE)?),
    "radians" => |_, a| f8(mul8(a[0].as_f64(), RADIANS_PER_DEGREE)?),
    "dpi" => |_, _| f8(std::f64::consts::PI),
    "drandom" => |cx, _| f8(cx.random()),
    "setseed" => |cx, a| {
        let seed = a[0].as_f64();
        if !(-1.0..=1.0).contains(&seed) {
            let shown = values::float::format_g(seed, 6);
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "setseed parameter {shown} is out of allowed range [-1,1]"
            ));
        }
        cx.set_seed(seed);
        Ok(Datum::Word(0))
    },
    "width_bucket_float8" => |_, a| {
        width_bucket(a[0].as_f64(), a[1].as_f64(), a[2].as_f64(), a[3].as_i32())
    },
}
