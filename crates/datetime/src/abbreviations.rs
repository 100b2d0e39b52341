//! The time zone abbreviations of PostgreSQL's "Default" set: name, seconds east of Greenwich,
//! daylight saving. Taken from a running PostgreSQL 15 (`pg_timezone_abbrevs`).

use values::zone::Zone;

/// The abbreviation's offset (seconds east) and whether it is daylight saving time; `None` for
/// abbreviations whose offset has changed over time.
pub fn abbreviation(name: &str) -> Option<(i32, bool)> {
    let upper = name.to_ascii_uppercase();
    if DYNAMIC.binary_search_by_key(&upper.as_str(), |a| a.0).is_ok() {
        return None;
    }
    let i = ABBREVIATIONS.binary_search_by_key(&upper.as_str(), |a| a.0).ok()?;
    Some((ABBREVIATIONS[i].1, ABBREVIATIONS[i].2))
}

/// For an abbreviation whose offset has changed over time: the zone that determines its offset.
pub fn dynamic_abbreviation(name: &str) -> Option<Zone> {
    let upper = name.to_ascii_uppercase();
    let i = DYNAMIC.binary_search_by_key(&upper.as_str(), |a| a.0).ok()?;
    Zone::named(DYNAMIC[i].1).map(|z| z.abbreviated(&upper))
}

/// Name, seconds east of Greenwich, daylight saving; sorted by name.
pub fn all() -> &'static [(&'static str, i32, bool)] {
    ABBREVIATIONS
}

#[rustfmt::skip]
const ABBREVIATIONS: &[(&str, i32, bool)] = &[
    ("ACDT", 37800, true), ("ACSST", 37800, true), ("ACST", 34200, false),
    ("ACT", -18000, false), ("ACWST", 31500, false), ("ADT", -10800, true),
    ("AEDT", 39600, true), ("AESST", 39600, true), ("AEST", 36000, false),
    ("AFT", 16200, false), ("AKDT", -28800, true), ("AKST", -32400, false),
    ("ALMST", 25200, true), ("ALMT", 21600, false), ("AMST", 14400, false),
    ("AMT", -14400, false), ("ANAST", 43200, false), ("ANAT", 43200, false),
    ("ARST", -10800, false), ("ART", -10800, false), ("AST", -14400, false),
    ("AWSST", 32400, true), ("AWST", 28800, false), ("AZOST", 0, true),
    ("AZOT", -3600, false), ("AZST", 14400, false), ("AZT", 14400, false),
    ("BDST", 7200, true), ("BDT", 21600, false), ("BNT", 28800, false),
    ("BORT", 28800, false), ("BOT", -14400, false), ("BRA", -10800, false),
    ("BRST", -7200, true), ("BRT", -10800, false), ("BST", 3600, true),
    ("BTT", 21600, false), ("CADT", 37800, true), ("CAST", 34200, false),
    ("CCT", 28800, false), ("CDT", -18000, true), ("CEST", 7200, true),
    ("CET", 3600, false), ("CETDST", 7200, true), ("CHADT", 49500, true),
    ("CHAST", 45900, false), ("CHUT", 36000, false), ("CKT", -36000, false),
    ("CLST", -10800, true), ("CLT", -10800, true), ("COT", -18000, false),
    ("CST", -21600, false), ("CXT", 25200, false), ("DAVT", 25200, false),
    ("DDUT", 36000, false), ("EASST", -18000, true), ("EAST", -18000, true),
    ("EAT", 10800, false), ("EDT", -14400, true), ("EEST", 10800, true),
    ("EET", 7200, false), ("EETDST", 10800, true), ("EGST", 0, true),
    ("EGT", -3600, false), ("EST", -18000, false), ("FET", 10800, false),
    ("FJST", 46800, true), ("FJT", 43200, false), ("FKST", -10800, false),
    ("FKT", -10800, false), ("FNST", -3600, true), ("FNT", -7200, false),
    ("GALT", -21600, false), ("GAMT", -32400, false), ("GEST", 14400, false),
    ("GET", 14400, false), ("GFT", -10800, false), ("GILT", 43200, false),
    ("GMT", 0, false), ("GYT", -14400, false), ("HKT", 28800, false),
    ("HST", -36000, false), ("ICT", 25200, false), ("IDT", 10800, true),
    ("IOT", 21600, false), ("IRKST", 28800, false), ("IRKT", 28800, false),
    ("IRT", 12600, false), ("IST", 7200, false), ("JAYT", 32400, false),
    ("JST", 32400, false), ("KDT", 36000, true), ("KGST", 21600, true),
    ("KGT", 21600, false), ("KOST", 39600, false), ("KRAST", 25200, false),
    ("KRAT", 25200, false), ("KST", 32400, false), ("LHDT", 39600, true),
    ("LHST", 37800, false), ("LIGT", 36000, false), ("LINT", 50400, false),
    ("LKT", 19800, false), ("MAGST", 39600, false), ("MAGT", 39600, false),
    ("MART", -34200, false), ("MAWT", 18000, false), ("MDT", -21600, true),
    ("MEST", 7200, true), ("MESZ", 7200, true), ("MET", 3600, false),
    ("METDST", 7200, true), ("MEZ", 3600, false), ("MHT", 43200, false),
    ("MMT", 23400, false), ("MPT", 36000, false), ("MSD", 14400, true),
    ("MSK", 10800, false), ("MST", -25200, false), ("MUST", 18000, true),
    ("MUT", 14400, false), ("MVT", 18000, false), ("MYT", 28800, false),
    ("NDT", -9000, true), ("NFT", -12600, false), ("NOVST", 25200, false),
    ("NOVT", 25200, false), ("NPT", 20700, false), ("NST", -12600, false),
    ("NUT", -39600, false), ("NZDT", 46800, true), ("NZST", 43200, false),
    ("NZT", 43200, false), ("OMSST", 21600, false), ("OMST", 21600, false),
    ("PDT", -25200, true), ("PET", -18000, false), ("PETST", 43200, false),
    ("PETT", 43200, false), ("PGT", 36000, false), ("PHT", 28800, false),
    ("PKST", 21600, true), ("PKT", 18000, false), ("PMDT", -7200, true),
    ("PMST", -10800, false), ("PONT", 39600, false), ("PST", -28800, false),
    ("PWT", 32400, false), ("PYST", -10800, true), ("PYT", -10800, false),
    ("RET", 14400, false), ("SADT", 37800, true), ("SAST", 7200, false),
    ("SCT", 14400, false), ("SGT", 28800, false), ("TAHT", -36000, false),
    ("TFT", 18000, false), ("TJT", 18000, false), ("TKT", 46800, false),
    ("TMT", 18000, false), ("TOT", 46800, false), ("TRUT", 36000, false),
    ("TVT", 43200, false), ("UCT", 0, false), ("ULAST", 32400, true),
    ("ULAT", 28800, false), ("UT", 0, false), ("UTC", 0, false),
    ("UYST", -7200, true), ("UYT", -10800, false), ("UZST", 21600, true),
    ("UZT", 18000, false), ("VET", -14400, false), ("VLAST", 36000, false),
    ("VLAT", 36000, false), ("VOLT", 10800, false), ("VUT", 39600, false),
    ("WADT", 28800, true), ("WAKT", 43200, false), ("WAST", 25200, false),
    ("WAT", 3600, false), ("WDT", 32400, true), ("WET", 0, false),
    ("WETDST", 3600, true), ("WFT", 43200, false), ("WGST", -7200, true),
    ("WGT", -10800, false), ("XJT", 21600, false), ("YAKST", 32400, false),
    ("YAKT", 32400, false), ("YAPT", 36000, false), ("YEKST", 21600, true),
    ("YEKT", 18000, false), ("Z", 0, false), ("ZULU", 0, false),
];

/// Abbreviations whose offset depends on the date, with their zones; sorted by name.
#[rustfmt::skip]
const DYNAMIC: &[(&str, &str)] = &[
    ("AMST", "Asia/Yerevan"),
    ("ANAST", "Asia/Anadyr"),
    ("ANAT", "Asia/Anadyr"),
    ("ARST", "America/Argentina/Buenos_Aires"),
    ("ART", "America/Argentina/Buenos_Aires"),
    ("AZST", "Asia/Baku"),
    ("AZT", "Asia/Baku"),
    ("CKT", "Pacific/Rarotonga"),
    ("CLT", "America/Santiago"),
    ("DAVT", "Antarctica/Davis"),
    ("EASST", "Pacific/Easter"),
    ("EAST", "Pacific/Easter"),
    ("FKST", "Atlantic/Stanley"),
    ("FKT", "Atlantic/Stanley"),
    ("GEST", "Asia/Tbilisi"),
    ("GET", "Asia/Tbilisi"),
    ("GYT", "America/Guyana"),
    ("IOT", "Indian/Chagos"),
    ("IRKST", "Asia/Irkutsk"),
    ("IRKT", "Asia/Irkutsk"),
    ("KGT", "Asia/Bishkek"),
    ("KOST", "Pacific/Kosrae"),
    ("KRAST", "Asia/Krasnoyarsk"),
    ("KRAT", "Asia/Krasnoyarsk"),
    ("LHDT", "Australia/Lord_Howe"),
    ("LINT", "Pacific/Kiritimati"),
    ("LKT", "Asia/Colombo"),
    ("MAGST", "Asia/Magadan"),
    ("MAGT", "Asia/Magadan"),
    ("MAWT", "Antarctica/Mawson"),
    ("MSK", "Europe/Moscow"),
    ("NOVST", "Asia/Novosibirsk"),
    ("NOVT", "Asia/Novosibirsk"),
    ("NUT", "Pacific/Niue"),
    ("OMSST", "Asia/Omsk"),
    ("OMST", "Asia/Omsk"),
    ("PETST", "Asia/Kamchatka"),
    ("PETT", "Asia/Kamchatka"),
    ("PYT", "America/Asuncion"),
    ("SGT", "Asia/Singapore"),
    ("TKT", "Pacific/Fakaofo"),
    ("TMT", "Asia/Ashgabat"),
    ("ULAT", "Asia/Ulaanbaatar"),
    ("VET", "America/Caracas"),
    ("VLAST", "Asia/Vladivostok"),
    ("VLAT", "Asia/Vladivostok"),
    ("VOLT", "Europe/Volgograd"),
    ("YAKST", "Asia/Yakutsk"),
    ("YAKT", "Asia/Yakutsk"),
    ("YEKT", "Asia/Yekaterinburg"),
];
