//! Character set encodings and their numbers. Counterpart: mb/pg_wchar.h.

/// Names by number, as `pg_encoding_to_char` gives them; those above 34 are for clients only.
const NAMES: [&str; 42] = [
    "SQL_ASCII",
    "EUC_JP",
    "EUC_CN",
    "EUC_KR",
    "EUC_TW",
    "EUC_JIS_2004",
    "UTF8",
    "MULE_INTERNAL",
    "LATIN1",
    "LATIN2",
    "LATIN3",
    "LATIN4",
    "LATIN5",
    "LATIN6",
    "LATIN7",
    "LATIN8",
    "LATIN9",
    "LATIN10",
    "WIN1256",
    "WIN1258",
    "WIN866",
    "WIN874",
    "KOI8R",
    "WIN1251",
    "WIN1252",
    "ISO_8859_5",
    "ISO_8859_6",
    "ISO_8859_7",
    "ISO_8859_8",
    "WIN1250",
    "WIN1253",
    "WIN1254",
    "WIN1255",
    "WIN1257",
    "KOI8U",
    "SJIS",
    "BIG5",
    "GBK",
    "UHC",
    "GB18030",
    "JOHAB",
    "SHIFT_JIS_2004",
];

pub const UTF8: i32 = 6;

/// Largest number that a database may have.
pub const LAST_SERVER: i32 = 34;

/// Name of an encoding; empty for a number that does not exist.
pub fn name(encoding: i32) -> &'static str {
    usize::try_from(encoding).ok().and_then(|i| NAMES.get(i)).copied().unwrap_or("")
}

/// Number of an encoding; case, spaces, dashes and underscores do not count.
pub fn number(name: &str) -> Option<i32> {
    let clean = |s: &str| -> String {
        s.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let wanted = clean(name);
    if let Some(i) = NAMES.iter().position(|n| clean(n) == wanted) {
        return Some(i as i32);
    }
    let alias = match wanted.as_str() {
        "unicode" => "UTF8",
        "iso88591" => "LATIN1",
        "iso88592" => "LATIN2",
        "iso88593" => "LATIN3",
        "iso88594" => "LATIN4",
        "iso88599" => "LATIN5",
        "iso885910" => "LATIN6",
        "iso885913" => "LATIN7",
        "iso885914" => "LATIN8",
        "iso885915" => "LATIN9",
        "iso885916" => "LATIN10",
        "koi8" => "KOI8R",
        "windows1250" => "WIN1250",
        "windows1251" | "win" => "WIN1251",
        "windows1252" => "WIN1252",
        "windows1253" => "WIN1253",
        "windows1254" => "WIN1254",
        "windows1255" => "WIN1255",
        "windows1256" | "tcvn" | "tcvn5712" | "vscii" => {
            if wanted == "windows1256" {
                "WIN1256"
            } else {
                "WIN1258"
            }
        }
        "windows1257" => "WIN1257",
        "windows1258" | "abc" => "WIN1258",
        "windows866" | "alt" => "WIN866",
        "windows874" => "WIN874",
        "mskanji" | "shiftjis" | "windows932" => "SJIS",
        "windows936" => "GBK",
        "windows949" => "UHC",
        "windows950" => "BIG5",
        _ => return None,
    };
    number(alias)
}
