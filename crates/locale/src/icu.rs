//! Collations of ICU. The library is loaded when it is first needed, because the names of its
//! functions end in its release number, which differs between machines: a program that is linked
//! with one release would not start on a machine with another one. The newest release that is
//! installed is used; PostgreSQL's packages need one, and a machine usually has one.

use crate::LocaleError;
use std::cmp::Ordering;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

/// A locale of ICU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IcuLocale {
    /// BCP 47 language tag; `und` for the root.
    pub tag: String,
    /// The version of its collation.
    pub version: Option<String>,
}

/// Release numbers that are tried, newest first.
const RELEASES: std::ops::RangeInclusive<u32> = 50..=99;
/// Size of the buffer for the name of a locale or version, in bytes.
const NAME_BYTES: usize = 256;
/// `U_BUFFER_OVERFLOW_ERROR`.
const OVERFLOW: c_int = 15;
/// `UCOL_NUMERIC_COLLATION`, an attribute: digits are ordered by the number that they form.
const NUMERIC: c_int = 7;
/// `UCOL_OFF`.
const OFF: c_int = 16;
/// Characters of an item of a set that are looked at.
const ITEM_CHARS: usize = 2;
/// Characters of a display name at most.
const DISPLAY_CHARS: usize = 128;

type MapCase =
    unsafe extern "C" fn(*mut u16, i32, *const u16, i32, *const c_char, *mut c_int) -> i32;
type MapTitle = unsafe extern "C" fn(
    *mut u16,
    i32,
    *const u16,
    i32,
    *mut c_void,
    *const c_char,
    *mut c_int,
) -> i32;
type CompareUtf8 = unsafe extern "C" fn(
    *const c_void,
    *const c_char,
    i32,
    *const c_char,
    i32,
    *mut c_int,
) -> c_int;
type SortKey = unsafe extern "C" fn(*const c_void, *const u16, i32, *mut u8, i32) -> i32;
type DisplayName =
    unsafe extern "C" fn(*const c_char, *const c_char, *mut u16, i32, *mut c_int) -> i32;
type ToTag = unsafe extern "C" fn(*const c_char, *mut c_char, i32, i8, *mut c_int) -> i32;
type SpecialCharacters =
    unsafe extern "C" fn(*const c_void, *mut c_void, *mut c_void, i8, *mut c_int);
type SetItem =
    unsafe extern "C" fn(*const c_void, i32, *mut i32, *mut i32, *mut u16, i32, *mut c_int) -> i32;
/// A class of characters, as a function.
pub(crate) type IsInClass = unsafe extern "C" fn(i32) -> i8;

/// Declares the struct of ICU's functions, and loads them by their names.
macro_rules! functions {
    ($($field:ident $symbol:literal: $ty:ty;)*) => {
        /// The functions of ICU that are used.
        struct Icu {
            $($field: $ty,)*
        }

        impl Icu {
            /// The functions of a loaded release; `None` if one of them is missing.
            ///
            /// # Safety
            /// `handle` is that of ICU's library of this release.
            unsafe fn load(handle: *mut c_void, release: u32) -> Option<Icu> {
                Some(Icu {
                    $($field: {
                        let name = CString::new(format!("{}_{release}", $symbol)).ok()?;
                        // SAFETY: the handle is open and the name is terminated. The signatures
                        // are those of ICU's headers, which its C interface has kept since the
                        // oldest release in the range.
                        unsafe {
                            let at = libc::dlsym(handle, name.as_ptr());
                            if at.is_null() {
                                return None;
                            }
                            std::mem::transmute::<*mut c_void, $ty>(at)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    count_available "uloc_countAvailable": unsafe extern "C" fn() -> i32;
    get_available "uloc_getAvailable": unsafe extern "C" fn(i32) -> *const c_char;
    to_language_tag "uloc_toLanguageTag": ToTag;
    display_name "uloc_getDisplayName": DisplayName;
    open_collator "ucol_open": unsafe extern "C" fn(*const c_char, *mut c_int) -> *mut c_void;
    close_collator "ucol_close": unsafe extern "C" fn(*mut c_void);
    collator_version "ucol_getVersion": unsafe extern "C" fn(*const c_void, *mut [u8; 4]);
    version_to_string "u_versionToString": unsafe extern "C" fn(*const [u8; 4], *mut c_char);
    compare "ucol_strcollUTF8": CompareUtf8;
    sort_key "ucol_getSortKey": SortKey;
    attribute "ucol_getAttribute": unsafe extern "C" fn(*const c_void, c_int, *mut c_int) -> c_int;
    special_characters "ucol_getContractionsAndExpansions": SpecialCharacters;
    open_set "uset_openEmpty": unsafe extern "C" fn() -> *mut c_void;
    close_set "uset_close": unsafe extern "C" fn(*mut c_void);
    set_size "uset_getItemCount": unsafe extern "C" fn(*const c_void) -> i32;
    set_item "uset_getItem": SetItem;
    error_name "u_errorName": unsafe extern "C" fn(c_int) -> *const c_char;
    lower "u_strToLower": MapCase;
    upper "u_strToUpper": MapCase;
    title "u_strToTitle": MapTitle;
    lower_char "u_tolower": unsafe extern "C" fn(i32) -> i32;
    upper_char "u_toupper": unsafe extern "C" fn(i32) -> i32;
    is_alpha "u_isalpha": IsInClass;
    is_alnum "u_isalnum": IsInClass;
    is_digit "u_isdigit": IsInClass;
    is_upper "u_isupper": IsInClass;
    is_lower "u_islower": IsInClass;
    is_graph "u_isgraph": IsInClass;
    is_print "u_isprint": IsInClass;
    is_punct "u_ispunct": IsInClass;
    is_space "u_isspace": IsInClass;
}

/// The library; `None` if it is not installed. It stays loaded, because unloading it is not safe
/// once it has run.
fn icu() -> Option<&'static Icu> {
    static LOADED: OnceLock<Option<Icu>> = OnceLock::new();
    LOADED.get_or_init(|| RELEASES.rev().find_map(load)).as_ref()
}

/// Loads one release, if it is installed.
fn load(release: u32) -> Option<Icu> {
    let library = CString::new(format!("libicui18n.so.{release}")).ok()?;
    // SAFETY: ICU's initializers may run at any time, and the handle is that of this release.
    unsafe {
        let handle = libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if handle.is_null() { None } else { Icu::load(handle, release) }
    }
}

/// The root locale of ICU and all others, in the order of ICU's list. Empty if ICU is not
/// installed.
pub fn locales() -> Vec<IcuLocale> {
    let Some(icu) = icu() else { return Vec::new() };
    // SAFETY: the call has no arguments.
    let count = unsafe { (icu.count_available)() };
    let others = (0..count).filter_map(|i| {
        // SAFETY: the text belongs to ICU and is never freed.
        unsafe {
            let name = (icu.get_available)(i);
            (!name.is_null()).then(|| CStr::from_ptr(name).to_owned())
        }
    });
    std::iter::once(CString::default())
        .chain(others)
        .filter_map(|name| {
            let tag = icu.tag(&name)?.into_string().ok()?;
            let version = version(&tag);
            Some(IcuLocale { tag, version })
        })
        .collect()
}

/// Version of ICU's collation for a locale; `None` without ICU, or if the locale is not valid.
pub fn version(locale: &str) -> Option<String> {
    let collator = Collator::open(locale).ok()?;
    let mut version = [0u8; 4];
    let mut buffer = [0 as c_char; NAME_BYTES];
    // SAFETY: the collator is open; ICU writes four bytes, and a text of at most 20 bytes.
    unsafe {
        (collator.icu.collator_version)(collator.handle, &mut version);
        (collator.icu.version_to_string)(&version, buffer.as_mut_ptr());
        Some(CStr::from_ptr(buffer.as_ptr()).to_string_lossy().into_owned())
    }
}

/// The English name of a locale; `None` if it has other characters than ASCII.
pub fn display_name(locale: &str) -> Option<String> {
    let icu = icu()?;
    let locale = CString::new(locale).ok()?;
    let mut buffer = [0u16; DISPLAY_CHARS];
    let mut status = 0;
    // SAFETY: the names are terminated, and the buffer has the length that is given.
    let len = unsafe {
        (icu.display_name)(
            locale.as_ptr(),
            c"en".as_ptr(),
            buffer.as_mut_ptr(),
            buffer.len() as i32,
            &mut status,
        )
    };
    let name = buffer.get(..usize::try_from(len).ok()?)?;
    let is_ascii = name.iter().all(|&c| c < 0x80);
    (status <= 0 && is_ascii).then(|| name.iter().map(|&c| c as u8 as char).collect())
}

impl Icu {
    fn tag(&self, locale: &CStr) -> Option<CString> {
        let mut buffer = [0 as c_char; NAME_BYTES];
        let mut status: c_int = 0;
        // SAFETY: the buffer has the length that is given, less one byte for the terminator.
        unsafe {
            (self.to_language_tag)(
                locale.as_ptr(),
                buffer.as_mut_ptr(),
                NAME_BYTES as i32 - 1,
                1,
                &mut status,
            );
            // Positive numbers are errors, negative ones warnings.
            (status <= 0).then(|| CStr::from_ptr(buffer.as_ptr()).to_owned())
        }
    }
}

/// How letters are mapped.
#[derive(Clone, Copy)]
pub(crate) enum Mapping {
    Lower,
    Upper,
    Title,
}

/// An open collator with the name of its locale.
pub(crate) struct Collator {
    icu: &'static Icu,
    handle: *mut c_void,
    name: CString,
}

// SAFETY: an open collator is not changed. ICU's comparisons and sort keys are safe for threads
// that share one.
unsafe impl Send for Collator {}
// SAFETY: as above.
unsafe impl Sync for Collator {}

impl std::fmt::Debug for Collator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Collator").field(&self.name).finish()
    }
}

impl Drop for Collator {
    fn drop(&mut self) {
        // SAFETY: the collator is open, and nothing uses it later.
        unsafe { (self.icu.close_collator)(self.handle) }
    }
}

/// A set of characters and texts.
struct Set {
    icu: &'static Icu,
    handle: *mut c_void,
}

impl Drop for Set {
    fn drop(&mut self) {
        // SAFETY: the set is open, and nothing uses it later.
        unsafe { (self.icu.close_set)(self.handle) }
    }
}

impl Set {
    /// An empty set; `None` if memory is short.
    fn new(icu: &'static Icu) -> Option<Set> {
        // SAFETY: the call has no arguments.
        let handle = unsafe { (icu.open_set)() };
        (!handle.is_null()).then_some(Set { icu, handle })
    }

    /// True if `test` holds for the first [`ITEM_CHARS`] characters of a text in the set, for the
    /// first character of a range in it, or if an item cannot be read.
    fn any(&self, test: impl Fn(&[u16]) -> bool) -> bool {
        // SAFETY: the set is open.
        let count = unsafe { (self.icu.set_size)(self.handle) };
        (0..count).any(|n| {
            let (mut start, mut end, mut status): (i32, i32, c_int) = (0, 0, 0);
            let mut text = [0u16; 64];
            // SAFETY: the set is open, the number is below that of its items, and the buffer has
            // the length that is given.
            let len = unsafe {
                (self.icu.set_item)(
                    self.handle,
                    n,
                    &mut start,
                    &mut end,
                    text.as_mut_ptr(),
                    text.len() as i32,
                    &mut status,
                )
            };
            match usize::try_from(len) {
                _ if status > 0 && status != OVERFLOW => true,
                Ok(0) => test(&[start.clamp(0, u16::MAX.into()) as u16]),
                Ok(len) => test(&text[..len.min(ITEM_CHARS)]),
                Err(_) => true,
            }
        })
    }
}

impl Collator {
    pub(crate) fn open(name: &str) -> Result<Collator, LocaleError> {
        let icu = icu().ok_or(LocaleError::NoIcu)?;
        let name = CString::new(name).map_err(|_| LocaleError::Name)?;
        let mut status: c_int = 0;
        // SAFETY: the name is terminated.
        let handle = unsafe { (icu.open_collator)(name.as_ptr(), &mut status) };
        if status > 0 || handle.is_null() {
            // SAFETY: ICU returns a constant text for every number.
            let error = unsafe { CStr::from_ptr((icu.error_name)(status)) };
            return Err(LocaleError::Icu(error.to_string_lossy().into_owned()));
        }
        Ok(Collator { icu, handle, name })
    }

    /// The order of ICU, in which texts of different bytes may be equal.
    pub(crate) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let mut status: c_int = 0;
        // SAFETY: the collator is open, and the lengths are those of the texts, which are shorter
        // than 1 GB.
        let order = unsafe {
            (self.icu.compare)(
                self.handle,
                a.as_ptr().cast(),
                a.len() as i32,
                b.as_ptr().cast(),
                b.len() as i32,
                &mut status,
            )
        };
        order.cmp(&0)
    }

    /// Replaces `key` by the sort key of a text, with the zero byte at its end.
    pub(crate) fn sort_key(&self, text: &[u8], key: &mut Vec<u8>) {
        let wide = utf16(text);
        key.resize(64, 0);
        loop {
            // SAFETY: the collator is open, and the lengths are those of the buffers.
            let n = unsafe {
                (self.icu.sort_key)(
                    self.handle,
                    wide.as_ptr(),
                    wide.len() as i32,
                    key.as_mut_ptr(),
                    key.len() as i32,
                )
            };
            let n = n.max(0) as usize;
            if n <= key.len() {
                key.truncate(n);
                return;
            }
            key.resize(n, 0);
        }
    }

    /// True if every character of ASCII has a weight of its own that does not depend on other
    /// characters of ASCII beside it. ICU promises that sort keys have the order of comparisons, so
    /// the primary weights of single characters then order texts of ASCII.
    pub(crate) fn has_plain_ascii(&self) -> bool {
        let icu = self.icu;
        let mut status: c_int = 0;
        // SAFETY: the collator is open.
        let numeric = unsafe { (icu.attribute)(self.handle, NUMERIC, &mut status) };
        if status > 0 || numeric != OFF {
            return false;
        }
        let (contractions, expansions) = (Set::new(icu), Set::new(icu));
        let (Some(contractions), Some(expansions)) = (contractions, expansions) else {
            return false;
        };
        // SAFETY: the collator and both sets are open.
        unsafe {
            (icu.special_characters)(
                self.handle,
                contractions.handle,
                expansions.handle,
                1,
                &mut status,
            );
        }
        let is_ascii = |item: &[u16]| item.iter().all(|&c| c < 0x80);
        status <= 0 && !contractions.any(is_ascii) && !expansions.any(is_ascii)
    }

    /// The text with its letters mapped by the rules of the locale. Error: the name of ICU's error.
    pub(crate) fn map(&self, text: &[u8], mapping: Mapping) -> Result<Vec<u8>, String> {
        let source = utf16(text);
        let (from, from_len) = (source.as_ptr(), source.len() as i32);
        let mut out = vec![0u16; source.len() + 16];
        loop {
            let mut status: c_int = 0;
            let (to, to_len) = (out.as_mut_ptr(), out.len() as i32);
            let name = self.name.as_ptr();
            // SAFETY: the lengths are those of the buffers, which do not overlap, and the name of
            // the locale is terminated. ICU makes its own iterator of words if there is none.
            let n = unsafe {
                match mapping {
                    Mapping::Lower => {
                        (self.icu.lower)(to, to_len, from, from_len, name, &mut status)
                    }
                    Mapping::Upper => {
                        (self.icu.upper)(to, to_len, from, from_len, name, &mut status)
                    }
                    Mapping::Title => (self.icu.title)(
                        to,
                        to_len,
                        from,
                        from_len,
                        std::ptr::null_mut(),
                        name,
                        &mut status,
                    ),
                }
            };
            let n = n.max(0) as usize;
            if status == OVERFLOW && n > out.len() {
                out.resize(n, 0);
                continue;
            }
            if status > 0 {
                // SAFETY: ICU returns a constant text for every number.
                let error = unsafe { CStr::from_ptr((self.icu.error_name)(status)) };
                return Err(error.to_string_lossy().into_owned());
            }
            let mapped = out.get(..n).unwrap_or_default();
            return Ok(String::from_utf16_lossy(mapped).into_bytes());
        }
    }

    pub(crate) fn lower_char(&self, c: u32) -> u32 {
        // SAFETY: every number is allowed.
        unsafe { (self.icu.lower_char)(c as i32) as u32 }
    }

    pub(crate) fn upper_char(&self, c: u32) -> u32 {
        // SAFETY: every number is allowed.
        unsafe { (self.icu.upper_char)(c as i32) as u32 }
    }

    /// The characters of a class up to `last`, as ranges.
    pub(crate) fn class(&self, class: crate::Class, last: u32) -> Vec<(u32, u32)> {
        use crate::Class;
        let test = match class {
            Class::Alpha => self.icu.is_alpha,
            Class::Alnum => self.icu.is_alnum,
            Class::Digit => self.icu.is_digit,
            Class::Upper => self.icu.is_upper,
            Class::Lower => self.icu.is_lower,
            Class::Graph => self.icu.is_graph,
            Class::Print => self.icu.is_print,
            Class::Punct => self.icu.is_punct,
            Class::Space => self.icu.is_space,
        };
        // SAFETY: every number is allowed.
        crate::letters::ranges(last, |c| unsafe { test(c as i32) != 0 })
    }
}

/// A text in UTF-16, as ICU's functions take it.
fn utf16(text: &[u8]) -> Vec<u16> {
    String::from_utf8_lossy(text).encode_utf16().collect()
}
