//! Aggregates over float4 and float8: sums of squared deviations by Youngs and Cramer's method, in
//! float8 arrays (N, Sx, Sxx; for two variables also Sy, Syy, Sxy). Also the moving-aggregate
//! states of bool_and and bool_or. Counterpart: float.c.

use pgerror::{PgError, Result};
use values::array::payload;
use values::datum::{Datum, DatumRef};
use values::float::overflow;
use values::function::AggState;
use values::oids;

fn values<const N: usize>(d: DatumRef<'_>, name: &str) -> Result<[f64; N]> {
    let info = payload::builtin_info(oids::FLOAT8);
    let elements = payload::ArrayRef::new(d)?.elements(&info)?;
    let mut out = [0.0; N];
    if elements.len() != N || elements.iter().any(|e| e.is_null()) {
        return Err(PgError::internal(format!("{name}: expected {N}-element float8 array")));
    }
    for (o, e) in out.iter_mut().zip(elements) {
        *o = e.as_f64();
    }
    Ok(out)
}

/// The transition state as an array of float8.
pub fn state(v: &[f64]) -> Result<Datum> {
    let v: Vec<Datum> = v.iter().map(|&f| Datum::float8(f)).collect();
    payload::of_builtin(oids::FLOAT8, &v)
}

/// Adds a value to (N, Sx, Sxx).
pub fn accumulate([n0, sx0, sxx0]: [f64; 3], v: f64) -> Result<[f64; 3]> {
    let n = n0 + 1.0;
    let sx = sx0 + v;
    let mut sxx = sxx0;
    if n0 > 0.0 {
        let tmp = v * n - sx;
        sxx += tmp * tmp / (n * n0);
        if sx.is_infinite() || sxx.is_infinite() {
            if !sx0.is_infinite() && !v.is_infinite() {
                return Err(overflow());
            }
            sxx = f64::NAN;
        }
    } else if !v.is_finite() {
        sxx = f64::NAN;
    }
    Ok([n, sx, sxx])
}

fn combine(a: [f64; 3], b: [f64; 3]) -> Result<[f64; 3]> {
    let ([n1, sx1, sxx1], [n2, sx2, sxx2]) = (a, b);
    if n1 == 0.0 {
        return Ok(b);
    }
    if n2 == 0.0 {
        return Ok(a);
    }
    let n = n1 + n2;
    let sx = values::float::sum8(sx1 + sx2, sx1, sx2)?;
    let tmp = sx1 / n1 - sx2 / n2;
    let sxx = sxx1 + sxx2 + n1 * n2 * tmp * tmp / n;
    if sxx.is_infinite() && !sxx1.is_infinite() && !sxx2.is_infinite() {
        return Err(overflow());
    }
    Ok([n, sx, sxx])
}

fn accumulate_pair(s: [f64; 6], y: f64, x: f64) -> Result<[f64; 6]> {
    let [n0, sx0, sxx0, sy0, syy0, sxy0] = s;
    let n = n0 + 1.0;
    let (sx, sy) = (sx0 + x, sy0 + y);
    let (mut sxx, mut syy, mut sxy) = (sxx0, syy0, sxy0);
    if n0 > 0.0 {
        let (tx, ty) = (x * n - sx, y * n - sy);
        let scale = 1.0 / (n * n0);
        sxx += tx * tx * scale;
        syy += ty * ty * scale;
        sxy += tx * ty * scale;
        if [sx, sxx, sy, syy, sxy].iter().any(|v| v.is_infinite()) {
            if ((sx.is_infinite() || sxx.is_infinite()) && !sx0.is_infinite() && !x.is_infinite())
                || ((sy.is_infinite() || syy.is_infinite())
                    && !sy0.is_infinite()
                    && !y.is_infinite())
                || (sxy.is_infinite() && ![sx0, x, sy0, y].iter().any(|v| v.is_infinite()))
            {
                return Err(overflow());
            }
            for v in [&mut sxx, &mut syy, &mut sxy] {
                if v.is_infinite() {
                    *v = f64::NAN;
                }
            }
        }
    } else {
        if !x.is_finite() {
            (sxx, sxy) = (f64::NAN, f64::NAN);
        }
        if !y.is_finite() {
            (syy, sxy) = (f64::NAN, f64::NAN);
        }
    }
    Ok([n, sx, sxx, sy, syy, sxy])
}

fn combine_pairs(a: [f64; 6], b: [f64; 6]) -> Result<[f64; 6]> {
    let ([n1, sx1, sxx1, sy1, syy1, sxy1], [n2, sx2, sxx2, sy2, syy2, sxy2]) = (a, b);
    if n1 == 0.0 {
        return Ok(b);
    }
    if n2 == 0.0 {
        return Ok(a);
    }
    let n = n1 + n2;
    let sx = values::float::sum8(sx1 + sx2, sx1, sx2)?;
    let sy = values::float::sum8(sy1 + sy2, sy1, sy2)?;
    let (tx, ty) = (sx1 / n1 - sx2 / n2, sy1 / n1 - sy2 / n2);
    let sxx = sxx1 + sxx2 + n1 * n2 * tx * tx / n;
    let syy = syy1 + syy2 + n1 * n2 * ty * ty / n;
    let sxy = sxy1 + sxy2 + n1 * n2 * tx * ty / n;
    for (v, x, y) in [(sxx, sxx1, sxx2), (syy, syy1, syy2), (sxy, sxy1, sxy2)] {
        if v.is_infinite() && !x.is_infinite() && !y.is_infinite() {
            return Err(overflow());
        }
    }
    Ok([n, sx, sxx, sy, syy, sxy])
}

/// Final function over (N, Sx, Sxx); NULL for fewer than `least` values.
fn single(
    a: &[DatumRef<'_>],
    name: &str,
    least: f64,
    f: impl Fn(f64, f64, f64) -> f64,
) -> Result<Datum> {
    let [n, sx, sxx] = values::<3>(a[0], name)?;
    Ok(if n < least { Datum::Null } else { Datum::float8(f(n, sx, sxx)) })
}

/// Final function over a two-variable state; NULL for fewer than `least` values or if `f` returns
/// `None`.
fn double(
    a: &[DatumRef<'_>],
    name: &str,
    least: f64,
    f: impl Fn([f64; 6]) -> Option<f64>,
) -> Result<Datum> {
    let s = values::<6>(a[0], name)?;
    Ok(if s[0] < least { None } else { f(s) }.map_or(Datum::Null, Datum::float8))
}

scalars! { FNS;
    "float8_accum" => |_, a| {
        state(&accumulate(values(a[0], "float8_accum")?, a[1].as_f64())?)
    },
    "float4_accum" => |_, a| {
        state(&accumulate(values(a[0], "float4_accum")?, a[1].as_f32().into())?)
    },
    "float8_combine" => |_, a| {
        state(&combine(values(a[0], "float8_combine")?, values(a[1], "float8_combine")?)?)
    },
    "float8_avg" => |_, a| single(a, "float8_avg", 1.0, |n, sx, _| sx / n),
    "float8_var_pop" => |_, a| single(a, "float8_var_pop", 1.0, |n, _, sxx| sxx / n),
    "float8_var_samp" => |_, a| single(a, "float8_var_samp", 2.0, |n, _, sxx| sxx / (n - 1.0)),
    "float8_stddev_pop" => |_, a| single(a, "float8_stddev_pop", 1.0, |n, _, sxx| (sxx / n).sqrt()),
    "float8_stddev_samp" =>
        |_, a| single(a, "float8_stddev_samp", 2.0, |n, _, sxx| (sxx / (n - 1.0)).sqrt()),
    "float8_regr_accum" => |_, a| state(&accumulate_pair(
        values(a[0], "float8_regr_accum")?, a[1].as_f64(), a[2].as_f64())?),
    "float8_regr_combine" => |_, a| state(&combine_pairs(
        values(a[0], "float8_regr_combine")?, values(a[1], "float8_regr_combine")?)?),
    "float8_regr_sxx" => |_, a| double(a, "float8_regr_sxx", 1.0, |s| Some(s[2])),
    "float8_regr_syy" => |_, a| double(a, "float8_regr_syy", 1.0, |s| Some(s[4])),
    "float8_regr_sxy" => |_, a| double(a, "float8_regr_sxy", 1.0, |s| Some(s[5])),
    "float8_regr_avgx" => |_, a| double(a, "float8_regr_avgx", 1.0, |s| Some(s[1] / s[0])),
    "float8_regr_avgy" => |_, a| double(a, "float8_regr_avgy", 1.0, |s| Some(s[3] / s[0])),
    "float8_covar_pop" => |_, a| double(a, "float8_covar_pop", 1.0, |s| Some(s[5] / s[0])),
    "float8_covar_samp" =>
        |_, a| double(a, "float8_covar_samp", 2.0, |s| Some(s[5] / (s[0] - 1.0))),
    "float8_corr" => |_, a| double(a, "float8_corr", 1.0, |s| {
        if s[2] == 0.0 || s[4] == 0.0 { None } else { Some(s[5] / (s[2] * s[4]).sqrt()) }
    }),
    "float8_regr_r2" => |_, a| double(a, "float8_regr_r2", 1.0, |s| {
        if s[2] == 0.0 {
            None
        } else if s[4] == 0.0 {
            Some(1.0)
        } else {
            Some(s[5] * s[5] / (s[2] * s[4]))
        }
    }),
    "float8_regr_slope" => |_, a| double(a, "float8_regr_slope", 1.0, |s| {
        if s[2] == 0.0 { None } else { Some(s[5] / s[2]) }
    }),
    "float8_regr_intercept" => |_, a| double(a, "float8_regr_intercept", 1.0, |s| {
        if s[2] == 0.0 { None } else { Some((s[3] - s[1] * s[5] / s[2]) / s[0]) }
    }),
}

/// State of the moving bool_and and bool_or.
#[derive(Default)]
struct Counts {
    all: i64,
    yes: i64,
}

fn count(s: &mut AggState, a: &[DatumRef<'_>], sign: i64) -> Result<()> {
    let c = s.get_or(Counts::default);
    if !a[0].is_null() {
        c.all += sign;
        c.yes += sign * i64::from(a[0].as_bool());
    }
    Ok(())
}

builtins! { AGGREGATES;
    "bool_accum" => Trans(|_, s, a| count(s, a, 1)),
    "bool_accum_inv" => Trans(|_, s, a| count(s, a, -1)),
    "bool_alltrue" => Final(|_, s, _| Ok(match s.get::<Counts>() {
        Some(c) if c.all > 0 => Datum::bool(c.all == c.yes),
        _ => Datum::Null,
    })),
    "bool_anytrue" => Final(|_, s, _| Ok(match s.get::<Counts>() {
        Some(c) if c.all > 0 => Datum::bool(c.yes > 0),
        _ => Datum::Null,
    })),
}
