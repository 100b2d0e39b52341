//! Locales of the C library. All calls take the locale as an argument; the process has none.

use crate::LocaleError;
use libc::{c_char, c_int, locale_t, size_t};
use std::cmp::Ordering;
use std::ffi::{CStr, CString};

/// Texts of at most this length are copied to the stack for a comparison, in bytes.
const STACK_BYTES: usize = 240;

unsafe extern "C" {
    fn strcoll_l(a: *const c_char, b: *const c_char, locale: locale_t) -> c_int;
    fn strxfrm_l(to: *mut c_char, from: *const c_char, n: size_t, locale: locale_t) -> size_t;
    fn towlower_l(c: u32, locale: locale_t) -> u32;
    fn towupper_l(c: u32, locale: locale_t) -> u32;
    fn wctype_l(name: *const c_char, locale: locale_t) -> libc::c_ulong;
    fn iswctype_l(c: u32, class: libc::c_ulong, locale: locale_t) -> c_int;
    fn tolower_l(c: c_int, locale: locale_t) -> c_int;
    fn toupper_l(c: c_int, locale: locale_t) -> c_int;
    fn isalpha_l(c: c_int, locale: locale_t) -> c_int;
    fn isalnum_l(c: c_int, locale: locale_t) -> c_int;
    fn isdigit_l(c: c_int, locale: locale_t) -> c_int;
    fn isupper_l(c: c_int, locale: locale_t) -> c_int;
    fn islower_l(c: c_int, locale: locale_t) -> c_int;
    fn isgraph_l(c: c_int, locale: locale_t) -> c_int;
    fn isprint_l(c: c_int, locale: locale_t) -> c_int;
    fn ispunct_l(c: c_int, locale: locale_t) -> c_int;
    fn isspace_l(c: c_int, locale: locale_t) -> c_int;
}

/// An open locale, for all its categories.
#[derive(Debug)]
pub(crate) struct Handle(locale_t);

// SAFETY: an open locale is never changed, and the functions that take it are safe for threads.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and nothing uses it later.
        unsafe { libc::freelocale(self.0) }
    }
}

/// A class of characters: the name that `wctype` knows, and the test of a byte.
pub(crate) struct ClassCalls {
    wide: &'static CStr,
    byte: unsafe extern "C" fn(c_int, locale_t) -> c_int,
}

pub(crate) const ALPHA: ClassCalls = ClassCalls { wide: c"alpha", byte: isalpha_l };
pub(crate) const ALNUM: ClassCalls = ClassCalls { wide: c"alnum", byte: isalnum_l };
pub(crate) const DIGIT: ClassCalls = ClassCalls { wide: c"digit", byte: isdigit_l };
pub(crate) const UPPER: ClassCalls = ClassCalls { wide: c"upper", byte: isupper_l };
pub(crate) const LOWER: ClassCalls = ClassCalls { wide: c"lower", byte: islower_l };
pub(crate) const GRAPH: ClassCalls = ClassCalls { wide: c"graph", byte: isgraph_l };
pub(crate) const PRINT: ClassCalls = ClassCalls { wide: c"print", byte: isprint_l };
pub(crate) const PUNCT: ClassCalls = ClassCalls { wide: c"punct", byte: ispunct_l };
pub(crate) const SPACE: ClassCalls = ClassCalls { wide: c"space", byte: isspace_l };

/// Calls `f` with the texts, each followed by a zero byte.
fn terminated<T>(a: &[u8], b: &[u8], f: impl FnOnce(*const c_char, *const c_char) -> T) -> T {
    if a.len() <= STACK_BYTES && b.len() <= STACK_BYTES {
        let (mut x, mut y) = ([0u8; STACK_BYTES + 1], [0u8; STACK_BYTES + 1]);
        x[..a.len()].copy_from_slice(a);
        y[..b.len()].copy_from_slice(b);
        return f(x.as_ptr().cast(), y.as_ptr().cast());
    }
    let long = |text: &[u8]| {
        let mut copy = Vec::with_capacity(text.len() + 1);
        copy.extend_from_slice(text);
        copy.push(0);
        copy
    };
    let (x, y) = (long(a), long(b));
    f(x.as_ptr().cast(), y.as_ptr().cast())
}

impl Handle {
    pub(crate) fn open(name: &str) -> Result<Handle, LocaleError> {
        let name = CString::new(name).map_err(|_| LocaleError::Name)?;
        // SAFETY: the name is terminated; no locale is given as the base.
        let handle =
            unsafe { libc::newlocale(libc::LC_ALL_MASK, name.as_ptr(), std::ptr::null_mut()) };
        if handle.is_null() {
            let error = std::io::Error::last_os_error().raw_os_error();
            return Err(LocaleError::Libc(error.unwrap_or(libc::ENOENT)));
        }
        Ok(Handle(handle))
    }

    pub(crate) fn raw(&self) -> locale_t {
        self.0
    }

    /// The order of the C library, in which texts of different bytes may be equal.
    pub(crate) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        // SAFETY: both texts are terminated, and the locale is open.
        terminated(a, b, |a, b| unsafe { strcoll_l(a, b, self.0) }.cmp(&0))
    }

    /// Replaces `key` by the C library's sort key of a short text.
    pub(crate) fn sort_key(&self, text: &[u8], key: &mut Vec<u8>) {
        terminated(text, &[], |text, _| {
            key.resize(64, 0);
            loop {
                // SAFETY: the text is terminated, the buffer has the length that is given.
                let n = unsafe { strxfrm_l(key.as_mut_ptr().cast(), text, key.len(), self.0) };
                if n < key.len() {
                    key.truncate(n);
                    return;
                }
                key.resize(n + 1, 0);
            }
        });
    }

    pub(crate) fn lower(&self, c: u32, single_byte: bool) -> u32 {
        match single_byte {
            true if c > 0xff => c,
            // SAFETY: the number is that of a byte.
            true => unsafe { tolower_l(c as c_int, self.0) as u32 },
            // SAFETY: every number is allowed.
            false => unsafe { towlower_l(c, self.0) },
        }
    }

    pub(crate) fn upper(&self, c: u32, single_byte: bool) -> u32 {
        match single_byte {
            true if c > 0xff => c,
            // SAFETY: as in `lower`.
            true => unsafe { toupper_l(c as c_int, self.0) as u32 },
            // SAFETY: as in `lower`.
            false => unsafe { towupper_l(c, self.0) },
        }
    }

    /// The characters of a class up to `last`, as ranges.
    pub(crate) fn class(
        &self,
        class: &ClassCalls,
        last: u32,
        single_byte: bool,
    ) -> Vec<(u32, u32)> {
        // SAFETY: the name is terminated.
        let wide = unsafe { wctype_l(class.wide.as_ptr(), self.0) };
        let is_in = |c: u32| match single_byte {
            // SAFETY: as in `lower`; `last` is that of a byte.
            true => unsafe { (class.byte)(c as c_int, self.0) != 0 },
            // SAFETY: as in `lower`.
            false => unsafe { iswctype_l(c, wide, self.0) != 0 },
        };
        crate::letters::ranges(last, is_in)
    }
}

/// The character set of a locale; `None` if there is no such locale.
pub fn codeset(locale: &str) -> Option<String> {
    let handle = Handle::open(locale).ok()?;
    // SAFETY: the text lives as long as the locale, and is copied before that is closed.
    let text = unsafe { CStr::from_ptr(libc::nl_langinfo_l(libc::CODESET, handle.0)) };
    Some(text.to_string_lossy().into_owned())
}

/// Version of the C library, whose locales have no versions of their own.
pub fn library_version() -> Option<String> {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: the call returns a terminated text that lives as long as the process.
        let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
        Some(version.to_string_lossy().into_owned())
    }
    #[cfg(not(target_env = "gnu"))]
    None
}
