//! to_char over numbers and to_number. Counterpart: formatting.c.

use crate::numeric::{Num, parse};
use crate::{Datum, DatumRef};
use pgerror::{PgError, Result, pg_err};

/// A piece of a number's template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Item {
    Nine,
    Zero,
    Point,
    Comma,
    /// L: the currency symbol (blank in the C locale).
    Currency,
    Sign,
    Minus,
    Plus,
    Ordinal(bool),
    Char(char),
}

/// Where an S stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SignPlace {
    None,
    Before,
    After,
}

#[derive(Debug)]
struct Template {
    items: Vec<Item>,
    /// Digits before and after the point.
    pre: usize,
    post: usize,
    /// Digits after V.
    shift: usize,
    has_point: bool,
    fill: bool,
    /// 1-based place of the first 0 among the digits.
    zero_start: Option<usize>,
    /// 1-based place of the last 0 among the digits.
    zero_end: usize,
    sign: SignPlace,
    /// MI or SG: the sign is not before the first digit.
    own_sign: bool,
    bracket: bool,
    roman: Option<bool>,
    scientific: bool,
}

fn syntax(message: &str) -> PgError {
    pg_err!(SYNTAX_ERROR, "{message}")
}

fn template(text: &str) -> Result<Template> {
    let mut t = Template {
        items: Vec::new(),
        pre: 0,
        post: 0,
        shift: 0,
        has_point: false,
        fill: true,
        zero_start: None,
        zero_end: 0,
        sign: SignPlace::None,
        own_sign: false,
        bracket: false,
        roman: None,
        scientific: false,
    };
    let mut in_shift = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let two: String = rest.chars().take(2).collect::<String>().to_ascii_uppercase();
        let four: String = rest.chars().take(4).collect::<String>().to_ascii_uppercase();
        let mut used = c.len_utf8();
        if t.scientific && !two.starts_with("FM") {
            return Err(syntax("\"EEEE\" must be the last pattern used"));
        }
        match c.to_ascii_uppercase() {
            _ if two == "FM" => {
                t.fill = false;
                used = 2;
            }
            _ if four == "EEEE" => {
                if t.sign != SignPlace::None
                    || t.own_sign
                    || t.bracket
                    || t.roman.is_some()
                    || t.shift > 0
                    || in_shift
                {
                    return Err(syntax("\"EEEE\" is incompatible with other formats"));
                }
                t.scientific = true;
                used = 4;
            }
            _ if two == "MI" => {
                t.own_sign = true;
                t.items.push(Item::Minus);
                used = 2;
            }
            _ if two == "PL" => {
                t.items.push(Item::Plus);
                used = 2;
            }
            _ if two == "SG" => {
                t.own_sign = true;
                t.items.push(Item::Sign);
                used = 2;
            }
            _ if two == "PR" => {
                if t.sign != SignPlace::None || t.own_sign {
                    return Err(syntax(
                        "cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together",
                    ));
                }
                t.bracket = true;
                used = 2;
            }
            _ if two == "RN" => {
                t.roman = Some(c == 'R');
                used = 2;
            }
            _ if two == "TH" => {
                t.items.push(Item::Ordinal(c == 'T'));
                used = 2;
            }
            '9' | '0' => {
                if t.bracket {
                    return Err(syntax("\"9\" must be ahead of \"PR\""));
                }
                if in_shift {
                    t.shift += 1;
                    t.items.push(if c == '9' { Item::Nine } else { Item::Zero });
                    rest = &rest[used..];
                    continue;
                }
                if t.has_point {
                    t.post += 1;
                } else {
                    t.pre += 1;
                }
                let place = t.pre + t.post;
                if c == '0' {
                    if !t.has_point || t.zero_start.is_some() {
                        t.zero_start.get_or_insert(place);
                    }
                    t.zero_end = place;
                }
                t.items.push(if c == '9' { Item::Nine } else { Item::Zero });
            }
            '.' | 'D' => {
                if t.has_point {
                    return Err(syntax("multiple decimal points"));
                }
                if in_shift {
                    return Err(syntax("cannot use \"V\" and decimal point together"));
                }
                t.has_point = true;
                t.items.push(Item::Point);
            }
            ',' | 'G' => t.items.push(Item::Comma),
            'L' => t.items.push(Item::Currency),
            // Known, but without effect.
            'B' | 'C' => {}
            'S' => {
                if t.sign != SignPlace::None {
                    return Err(syntax("cannot use \"S\" twice"));
                }
                if t.own_sign || t.bracket {
                    return Err(syntax(
                        "cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together",
                    ));
                }
                let digits = t.pre + t.post + t.shift > 0;
                t.sign = if digits { SignPlace::After } else { SignPlace::Before };
                if digits {
                    t.items.push(Item::Sign);
                }
            }
            'V' => {
                if t.has_point {
                    return Err(syntax("cannot use \"V\" and decimal point together"));
                }
                in_shift = true;
            }
            '"' => {
                let mut chars = rest[1..].chars();
                loop {
                    match chars.next() {
                        None | Some('"') => break,
                        Some('\\') => t.items.extend(chars.next().map(Item::Char)),
                        Some(c) => t.items.push(Item::Char(c)),
                    }
                }
                rest = chars.as_str();
                continue;
            }
            _ => t.items.push(Item::Char(c)),
        }
        rest = &rest[used..];
    }
    Ok(t)
}

const ROMAN: [(i64, &str); 13] = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
];

fn roman(n: i64, upper: bool, fill: bool) -> String {
    let mut out = String::new();
    if !(1..=3999).contains(&n) {
        out.push_str("###############");
    } else {
        let mut rest = n;
        for (value, text) in ROMAN {
            while rest >= value {
                out.push_str(text);
                rest -= value;
            }
        }
    }
    let out = if upper { out } else { out.to_lowercase() };
    if fill { format!("{out:>15}") } else { out }
}

/// Lays out a number by the template. `digits`: its absolute value with exactly `post` decimals.
fn lay_out(t: &Template, negative: bool, digits: &str) -> String {
    let pre = t.pre + t.shift;
    let (whole, frac) = digits.split_once('.').unwrap_or((digits, ""));
    let overflow = whole.len() > pre;
    let (whole, frac) = if overflow {
        ("#".repeat(pre), "#".repeat(t.post))
    } else {
        (whole.to_string(), frac.to_string())
    };
    let blanks = pre - whole.len();
    // In FM the decimals end with the last that is not 0, unless a 0 in the template keeps more.
    let relevant = frac.trim_end_matches('0').len();
    let mut out = String::new();
    let anonymous = t.sign != SignPlace::After && !t.own_sign;
    let mut sign_written = !anonymous;
    let write_sign = |out: &mut String, written: &mut bool| {
        if *written {
            return;
        }
        *written = true;
        if t.bracket {
            if negative {
                out.push('<');
            } else if t.fill {
                out.push(' ');
            }
        } else if t.sign == SignPlace::Before {
            out.push(if negative { '-' } else { '+' });
        } else if negative {
            out.push('-');
        } else if t.fill {
            out.push(' ');
        }
    };
    let (mut place, mut after_point) = (0usize, 0usize);
    let mut point_seen = false;
    let total = pre + t.post;
    let mut started = false;
    for item in &t.items {
        match item {
            Item::Nine | Item::Zero => {
                place += 1;
                if place <= pre {
                    let zero_here = t.zero_start.is_some_and(|z| place >= z);
                    if place <= blanks && !zero_here {
                        if t.fill {
                            out.push(' ');
                        }
                    } else {
                        let lone_zero = whole == "0"
                            && place == pre
                            && t.has_point
                            && t.post > 0
                            && !zero_here
                            && (t.fill || relevant > 0 || t.zero_end > pre);
                        if !lone_zero {
                            write_sign(&mut out, &mut sign_written);
                        }
                        if place <= blanks {
                            out.push('0');
                            started = true;
                        } else if lone_zero {
                            if t.fill {
                                out.push(' ');
                            }
                        } else {
                            out.push(whole.as_bytes()[place - 1 - blanks] as char);
                            started = true;
                        }
                    }
                } else {
                    after_point += 1;
                    let keep = t.fill || after_point <= relevant || place <= t.zero_end || overflow;
                    write_sign(&mut out, &mut sign_written);
                    if keep {
                        out.push(frac.as_bytes().get(after_point - 1).map_or('0', |c| *c as char));
                        started = true;
                    }
                }
                if place == total && t.bracket {
                    if negative {
                        out.push('>');
                    } else if t.fill {
                        out.push(' ');
                    }
                }
            }
            Item::Point => {
                point_seen = true;
                write_sign(&mut out, &mut sign_written);
                out.push('.');
            }
            Item::Comma => {
                let digit_before = started || (place > blanks && place > 0);
                if digit_before && (whole != "0" || started) || point_seen {
                    out.push(',');
                } else if t.fill {
                    out.push(' ');
                }
            }
            Item::Currency => out.push(' '),
            Item::Sign => out.push(if negative { '-' } else { '+' }),
            Item::Minus => {
                if negative {
                    out.push('-');
                } else if t.fill {
                    out.push(' ');
                }
            }
            Item::Plus => {
                if !negative {
                    out.push('+');
                } else if t.fill {
                    out.push(' ');
                }
            }
            Item::Ordinal(upper) => {
                if negative || overflow || t.has_point {
                    continue;
                }
                let teens = whole.len() > 1 && whole.as_bytes()[whole.len() - 2] == b'1';
                let suffix = match whole.as_bytes().last() {
                    Some(b'1') if !teens => "st",
                    Some(b'2') if !teens => "nd",
                    Some(b'3') if !teens => "rd",
                    _ => "th",
                };
                out.push_str(&if *upper { suffix.to_uppercase() } else { suffix.to_string() });
            }
            Item::Char(c) => out.push(*c),
        }
    }
    out
}

fn scientific(n: &Num, post: usize) -> String {
    let value = n.to_f64();
    let text = format!("{value:.post$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let lead = if value < 0.0 { "" } else { " " };
    format!("{lead}{mantissa}e{sign}{:02}", exponent.abs())
}

fn show(n: &Num, pattern: &[u8]) -> Result<Datum> {
    let pattern = String::from_utf8_lossy(pattern);
    if pattern.is_empty() {
        return Ok(Datum::text(""));
    }
    let t = template(&pattern)?;
    if let Some(upper) = t.roman {
        let whole = n.to_i64().filter(|v| i32::try_from(*v).is_ok());
        let whole = whole.ok_or_else(|| crate::form::out_of_range("integer"))?;
        return Ok(Datum::text(&roman(whole, upper, t.fill)));
    }
    if t.scientific {
        if !n.is_finite() {
            // "#" in the place of every digit.
            return Ok(Datum::text(&format!(" {}.{}", "#".repeat(t.pre), "#".repeat(t.post + 4))));
        }
        return Ok(Datum::text(&scientific(n, t.post)));
    }
    let mut value = n.clone();
    let mut digits = if n.is_finite() {
        if t.shift > 0 {
            value = value.times(&parse(format!("1e{}", t.shift).as_bytes())?);
        }
        value.round(t.post as i32);
        value.to_string()
    } else {
        n.to_string()
    };
    let negative = digits.starts_with('-');
    if negative {
        digits.remove(0);
    }
    Ok(Datum::text(&lay_out(&t, negative, &digits)))
}

/// A float: its decimals as C's `%f` rounds them, no more than its significant digits.
fn show_float(v: f64, significant: usize, pattern: &[u8]) -> Result<Datum> {
    let pattern = String::from_utf8_lossy(pattern);
    let t = template(&pattern)?;
    if let (Some(upper), false) = (t.roman, pattern.is_empty()) {
        return Ok(Datum::text(&roman(v.round_ties_even() as i64, upper, t.fill)));
    }
    if pattern.is_empty() || t.scientific || !v.is_finite() {
        return show(&crate::numeric::from_float8(v), pattern.as_bytes());
    }
    let v = v * 10f64.powi(t.shift as i32);
    let whole = format!("{:.0}", v.abs()).len();
    let post = if whole >= significant { 0 } else { t.post.min(significant - whole) };
    let digits = format!("{:.post$}", v.abs());
    Ok(Datum::text(&lay_out(&t, v.is_sign_negative(), &digits)))
}

/// Reads digits, sign and point where the template has them.
fn read(text: &[u8], pattern: &[u8]) -> Result<Datum> {
    let pattern = String::from_utf8_lossy(pattern);
    if pattern.is_empty() {
        return Ok(Datum::Null);
    }
    let t = template(&pattern)?;
    if t.roman.is_some() {
        return Err(PgError::new(
            pgerror::SqlState::FEATURE_NOT_SUPPORTED,
            "\"RN\" not supported for input",
        ));
    }
    if t.scientific {
        return Err(pg_err!(FEATURE_NOT_SUPPORTED, "\"EEEE\" not supported for input"));
    }
    let text = String::from_utf8_lossy(text);
    let negative = text.contains('-') || (t.bracket && text.contains('<'));
    let (mut whole, mut frac, mut point) = (String::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '0'..='9' if point && frac.len() < t.post => frac.push(c),
            '0'..='9' if !point && whole.len() < t.pre + t.shift => whole.push(c),
            '.' if t.has_point && !point => point = true,
            '.' if !t.has_point => break,
            _ => {}
        }
    }
    if whole.is_empty() && frac.is_empty() {
        return Err(crate::form::bad_syntax("numeric", b" "));
    }
    let sign = if negative { "-" } else { "" };
    let mut n = parse(format!("{sign}{whole}.{frac}").as_bytes())?;
    if t.shift > 0 {
        let scale = parse(format!("1e{}", t.shift).as_bytes())?;
        n = n.divided(&scale, crate::numeric::div_scale(&n, &scale), true)?;
    }
    n.datum()
}

fn int(d: DatumRef<'_>) -> Num {
    Num::from(d.as_i64())
}

scalars! { FNS;
    "numeric_to_char" => |_, a| show(&Num::of(a[0]), a[1].as_bytes()),
    "int4_to_char" => |_, a| show(&int(a[0]), a[1].as_bytes()),
    "int8_to_char" => |_, a| show(&int(a[0]), a[1].as_bytes()),
    "float4_to_char" => |_, a| show_float(a[0].as_f32().into(), 6, a[1].as_bytes()),
    "float8_to_char" => |_, a| show_float(a[0].as_f64(), 15, a[1].as_bytes()),
    "numeric_to_number" => |_, a| read(a[0].as_bytes(), a[1].as_bytes()),
}
