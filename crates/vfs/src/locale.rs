//! Locales and collations of this machine: those of the C library, and those of ICU if its library
//! is installed. In this crate because the calls need `unsafe`.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::process::{Command, Stdio};

/// A locale of the C library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibcLocale {
    pub name: String,
    /// Name of its character set in the C library: `UTF-8`, `ISO-8859-15`.
    pub codeset: String,
}

/// A locale of ICU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IcuLocale {
    /// BCP 47 language tag; `und` for the root.
    pub tag: String,
    pub version: Option<String>,
}

/// The locales that `locale -a` lists, in its order, without those that cannot be opened. Empty if
/// the program is missing.
pub fn libc_locales() -> Vec<LibcLocale> {
    let mut command = Command::new("locale");
    let listed = command.arg("-a").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let Ok(listed) = listed else { return Vec::new() };
    let lines = listed.stdout.split(|&b| b == b'\n').filter_map(|l| std::str::from_utf8(l).ok());
    lines
        .filter(|name| !name.is_empty())
        .filter_map(|name| Some(LibcLocale { name: name.to_owned(), codeset: codeset(name)? }))
        .collect()
}

/// The character set of a locale; `None` if there is no such locale.
pub fn codeset(locale: &str) -> Option<String> {
    let name = CString::new(locale).ok()?;
    // SAFETY: the name is terminated; the handle is used only until it is freed, and the text of
    // `nl_langinfo_l` is copied before.
    unsafe {
        let handle = libc::newlocale(libc::LC_CTYPE_MASK, name.as_ptr(), std::ptr::null_mut());
        if handle.is_null() {
            return None;
        }
        let text = CStr::from_ptr(libc::nl_langinfo_l(libc::CODESET, handle));
        let text = text.to_string_lossy().into_owned();
        libc::freelocale(handle);
        Some(text)
    }
}

/// The order of day, month and year in the dates of a locale, as a keyword of DateStyle; `None` if
/// there is no such locale or if its dates are not written with three numbers.
///
/// Counterpart: `locale_date_order`.
pub fn date_order(locale: &str) -> Option<&'static str> {
    let name = CString::new(locale).ok()?;
    // SAFETY: as in `codeset`.
    let format = unsafe {
        let handle = libc::newlocale(libc::LC_TIME_MASK, name.as_ptr(), std::ptr::null_mut());
        if handle.is_null() {
            return None;
        }
        let text = CStr::from_ptr(libc::nl_langinfo_l(libc::D_FMT, handle));
        let text = text.to_string_lossy().into_owned();
        libc::freelocale(handle);
        text
    };
    order_of(&format)
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

/// Version of the C library, whose locales have no versions of their own.
pub fn libc_version() -> Option<String> {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: the call returns a terminated text that lives as long as the process.
        let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
        Some(version.to_string_lossy().into_owned())
    }
    #[cfg(not(target_env = "gnu"))]
    None
}

/// Release numbers of ICU that are tried, newest first; usually a machine has one.
const ICU_RELEASES: std::ops::RangeInclusive<u32> = 50..=99;
/// Size of the buffer for the name of a locale or version, in bytes.
const NAME_BYTES: usize = 256;

/// The root locale of ICU and all others, in the order of ICU's list. Empty if ICU is not
/// installed.
pub fn icu_locales() -> Vec<IcuLocale> {
    let Some(icu) = Icu::open() else { return Vec::new() };
    let others = (0..icu.count()).filter_map(|i| icu.name(i));
    std::iter::once(CString::default())
        .chain(others)
        .filter_map(|name| {
            let tag = icu.tag(&name)?;
            let version = icu.version(&tag);
            Some(IcuLocale { tag: tag.into_string().ok()?, version })
        })
        .collect()
}

/// Version of ICU's collation for a language tag; `None` without ICU.
pub fn icu_version(tag: &str) -> Option<String> {
    Icu::open()?.version(&CString::new(tag).ok()?)
}

type CountAvailable = unsafe extern "C" fn() -> i32;
type GetAvailable = unsafe extern "C" fn(i32) -> *const c_char;
type ToLanguageTag = unsafe extern "C" fn(*const c_char, *mut c_char, i32, i8, *mut c_int) -> i32;
type OpenCollator = unsafe extern "C" fn(*const c_char, *mut c_int) -> *mut c_void;
type CollatorVersion = unsafe extern "C" fn(*const c_void, *mut [u8; 4]);
type CloseCollator = unsafe extern "C" fn(*mut c_void);
type VersionToString = unsafe extern "C" fn(*const [u8; 4], *mut c_char);

/// The functions of ICU that are used. The library stays loaded, since unloading it is not safe
/// once it has run.
struct Icu {
    count_available: CountAvailable,
    get_available: GetAvailable,
    to_language_tag: ToLanguageTag,
    open_collator: OpenCollator,
    collator_version: CollatorVersion,
    close_collator: CloseCollator,
    version_to_string: VersionToString,
}

impl Icu {
    fn open() -> Option<Icu> {
        ICU_RELEASES.rev().find_map(Icu::release)
    }

    /// Loads one release, if it is installed. The names of its functions end in its number.
    fn release(number: u32) -> Option<Icu> {
        let library = CString::new(format!("libicui18n.so.{number}")).ok()?;
        // SAFETY: ICU's initializers may run at any time. The signatures are those of ICU's
        // headers, which its C interface has kept since the oldest release in the range; a symbol
        // that is missing is null and is refused.
        unsafe {
            let handle = libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            if handle.is_null() {
                return None;
            }
            let symbol = |name: &str| {
                let name = CString::new(format!("{name}_{number}")).ok()?;
                let at = libc::dlsym(handle, name.as_ptr());
                (!at.is_null()).then_some(at)
            };
            use std::mem::transmute;
            Some(Icu {
                count_available: transmute::<*mut c_void, CountAvailable>(symbol(
                    "uloc_countAvailable",
                )?),
                get_available: transmute::<*mut c_void, GetAvailable>(symbol("uloc_getAvailable")?),
                to_language_tag: transmute::<*mut c_void, ToLanguageTag>(symbol(
                    "uloc_toLanguageTag",
                )?),
                open_collator: transmute::<*mut c_void, OpenCollator>(symbol("ucol_open")?),
                collator_version: transmute::<*mut c_void, CollatorVersion>(symbol(
                    "ucol_getVersion",
                )?),
                close_collator: transmute::<*mut c_void, CloseCollator>(symbol("ucol_close")?),
                version_to_string: transmute::<*mut c_void, VersionToString>(symbol(
                    "u_versionToString",
                )?),
            })
        }
    }

    fn count(&self) -> i32 {
        // SAFETY: the call has no arguments.
        unsafe { (self.count_available)() }
    }

    fn name(&self, index: i32) -> Option<CString> {
        // SAFETY: the text that is returned belongs to ICU and is never freed.
        unsafe {
            let name = (self.get_available)(index);
            (!name.is_null()).then(|| CStr::from_ptr(name).to_owned())
        }
    }

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

    fn version(&self, tag: &CStr) -> Option<String> {
        let mut status: c_int = 0;
        let mut version = [0u8; 4];
        // ICU writes at most 20 bytes.
        let mut buffer = [0 as c_char; NAME_BYTES];
        // SAFETY: the collator is closed after its last use; the buffers are as large as ICU's
        // headers say.
        unsafe {
            let collator = (self.open_collator)(tag.as_ptr(), &mut status);
            if status > 0 || collator.is_null() {
                return None;
            }
            (self.collator_version)(collator, &mut version);
            (self.close_collator)(collator);
            (self.version_to_string)(&version, buffer.as_mut_ptr());
            Some(CStr::from_ptr(buffer.as_ptr()).to_string_lossy().into_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn character_sets_of_locales_are_found() {
        assert_eq!(codeset("C").as_deref(), Some("ANSI_X3.4-1968"));
        assert_eq!(codeset("no_SUCH.UTF-8"), None);
        assert!(libc_locales().iter().any(|l| l.name == "POSIX"));
    }
}
