//! Formats of numbers, amounts of money, and names of days and months, by locales of the C library.
//!
//! Counterpart: pg_locale.c (`PGLC_localeconv`, `cache_locale_time`).

use crate::glibc::Handle;
use std::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

/// Separators of numbers. Empty where the locale has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberFormat {
    pub decimal: String,
    pub thousands: String,
}

/// Where sign and currency symbol are written, by `localeconv`'s numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignLayout {
    pub symbol_precedes: bool,
    /// 0: nowhere, 1: between symbol and value, 2: beside the sign.
    pub space: u8,
    /// 0: parentheses; 1: before all; 2: after all; 3: before the symbol; 4: after the symbol.
    pub position: u8,
}

/// The format of amounts of money. Texts are empty where the locale has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoneyFormat {
    pub decimal: String,
    pub thousands: String,
    pub symbol: String,
    pub positive_sign: String,
    pub negative_sign: String,
    /// Digits after the decimal point, and digits in a group before it; out of range if the locale
    /// does not say.
    pub places: u8,
    pub group: u8,
    pub positive: SignLayout,
    pub negative: SignLayout,
}

/// Names of days, from Sunday on, and of months.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeNames {
    pub days: Vec<String>,
    pub short_days: Vec<String>,
    pub months: Vec<String>,
    pub short_months: Vec<String>,
}

// Items of `nl_langinfo_l` that the crate libc does not name: the category times 65,536, plus the
// field's number in `struct lconv`.
const MONETARY: libc::nl_item = 4 << 16;
const CURRENCY_SYMBOL: libc::nl_item = MONETARY + 1;
const MON_DECIMAL_POINT: libc::nl_item = MONETARY + 2;
const MON_THOUSANDS_SEP: libc::nl_item = MONETARY + 3;
const MON_GROUPING: libc::nl_item = MONETARY + 4;
const POSITIVE_SIGN: libc::nl_item = MONETARY + 5;
const NEGATIVE_SIGN: libc::nl_item = MONETARY + 6;
const FRAC_DIGITS: libc::nl_item = MONETARY + 8;
const P_CS_PRECEDES: libc::nl_item = MONETARY + 9;
const P_SEP_BY_SPACE: libc::nl_item = MONETARY + 10;
const N_CS_PRECEDES: libc::nl_item = MONETARY + 11;
const N_SEP_BY_SPACE: libc::nl_item = MONETARY + 12;
const P_SIGN_POSN: libc::nl_item = MONETARY + 13;
const N_SIGN_POSN: libc::nl_item = MONETARY + 14;

/// A locale with its character set; `None` if it does not exist.
fn open(name: &str) -> Option<(Handle, bool)> {
    let is_latin1 = crate::codeset(name)? == "ISO-8859-1";
    Some((Handle::open(name).ok()?, is_latin1))
}

/// A text of the locale as UTF-8.
fn text((handle, is_latin1): &(Handle, bool), item: libc::nl_item) -> String {
    let bytes = handle.info(item).to_bytes();
    match is_latin1 {
        true => bytes.iter().map(|&b| char::from(b)).collect(),
        false => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Formats by the names of locales: each new session needs those of the server's configuration.
type Known<T> = Mutex<Vec<(String, Option<Arc<T>>)>>;

/// Formats that are kept at most. Beyond that all are forgotten.
const KNOWN_MAX: usize = 64;

/// The format of this name, which is made at its first use.
fn known<T>(known: &Known<T>, name: &str, make: impl FnOnce() -> Option<T>) -> Option<Arc<T>> {
    if matches!(name, "" | "C" | "POSIX") {
        return None;
    }
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, format)) = known.iter().find(|(n, _)| n == name) {
        return format.clone();
    }
    if known.len() >= KNOWN_MAX {
        known.clear();
    }
    let format = make().map(Arc::new);
    known.push((name.to_owned(), format.clone()));
    format
}

/// The separators of `lc_numeric`; `None` for C and POSIX.
pub fn number_format(name: &str) -> Option<Arc<NumberFormat>> {
    static KNOWN: Known<NumberFormat> = Mutex::new(Vec::new());
    known(&KNOWN, name, || {
        let open = open(name)?;
        Some(NumberFormat {
            decimal: text(&open, libc::RADIXCHAR),
            thousands: text(&open, libc::THOUSEP),
        })
    })
}

/// The format of `lc_monetary`; `None` for C and POSIX.
pub fn money_format(name: &str) -> Option<Arc<MoneyFormat>> {
    static KNOWN: Known<MoneyFormat> = Mutex::new(Vec::new());
    known(&KNOWN, name, || read_money(name))
}

fn read_money(name: &str) -> Option<MoneyFormat> {
    let open = open(name)?;
    // These items are numbers: the first byte of the text.
    let number = |item| open.0.info(item).to_bytes_with_nul()[0];
    let layout = |precedes, space, position| SignLayout {
        symbol_precedes: number(precedes) != 0,
        space: number(space),
        position: number(position),
    };
    Some(MoneyFormat {
        decimal: text(&open, MON_DECIMAL_POINT),
        thousands: text(&open, MON_THOUSANDS_SEP),
        symbol: text(&open, CURRENCY_SYMBOL),
        positive_sign: text(&open, POSITIVE_SIGN),
        negative_sign: text(&open, NEGATIVE_SIGN),
        places: number(FRAC_DIGITS),
        group: number(MON_GROUPING),
        positive: layout(P_CS_PRECEDES, P_SEP_BY_SPACE, P_SIGN_POSN),
        negative: layout(N_CS_PRECEDES, N_SEP_BY_SPACE, N_SIGN_POSN),
    })
}

/// The names of `lc_time`; `None` for C and POSIX.
pub fn time_names(name: &str) -> Option<Arc<TimeNames>> {
    static KNOWN: Known<TimeNames> = Mutex::new(Vec::new());
    known(&KNOWN, name, || {
        let open = open(name)?;
        let list =
            |first: libc::nl_item, count| (0..count).map(|i| text(&open, first + i)).collect();
        Some(TimeNames {
            days: list(libc::DAY_1, 7),
            short_days: list(libc::ABDAY_1, 7),
            months: list(libc::MON_1, 12),
            short_months: list(libc::ABMON_1, 12),
        })
    })
}

/// The order of day, month and year in the dates of a locale, as a keyword of DateStyle; `None` if
/// there is no such locale or if its dates are not written with three numbers.
///
/// Counterpart: `locale_date_order`.
pub fn date_order(name: &str) -> Option<&'static str> {
    order_of(&text(&open(name)?, libc::D_FMT))
}

fn order_of(format: &str) -> Option<&'static str> {
    let format = format.replace("%D", "%m/%d/%y").replace("%F", "%Y-%m-%d");
    let mut order = String::new();
    for field in format.split('%').skip(1) {
        // Flags of the C library (`%-d`) come before the field.
        match field.trim_start_matches(['-', '_', '0', 'E', 'O']).chars().next() {
            Some('y' | 'Y') => order.push('y'),
            Some('m') => order.push('m'),
            Some('d' | 'e') => order.push('d'),
            _ => {}
        }
    }
    match order.as_str() {
        "dmy" => Some("dmy"),
        "mdy" => Some("mdy"),
        "ymd" => Some("ymd"),
        _ => None,
    }
}

/// A name whose first letter is in upper case and the others in lower case.
pub fn capitalized(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars.flat_map(char::to_lowercase)).collect()
}

impl Handle {
    fn info(&self, item: libc::nl_item) -> &CStr {
        // SAFETY: the locale is open, and the text lives as long as it. An unknown item is an empty
        // text.
        unsafe { CStr::from_ptr(libc::nl_langinfo_l(item, self.raw())) }
    }
}
