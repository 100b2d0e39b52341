use super::*;

#[test]
fn only_c_locales_order_by_bytes() {
    for name in ["C", "POSIX", "C.UTF-8", "C.utf8", ""] {
        assert!(orders_by_bytes(name), "{name}");
    }
    for name in ["en_US.UTF-8", "de_DE", "C.ISO-8859-1", "CX"] {
        assert!(!orders_by_bytes(name), "{name}");
    }
}

#[test]
fn character_sets_of_locales_are_found() {
    assert_eq!(codeset("C").as_deref(), Some("ANSI_X3.4-1968"));
    assert_eq!(codeset("no_SUCH.UTF-8"), None);
    assert!(matches!(Locale::libc("no_SUCH", "C", false), Err(LocaleError::Libc(_))));
}

#[test]
fn letters_of_the_c_library() {
    let c = Locale::libc("C.utf8", "C.utf8", false).expect("the locale exists");
    assert_eq!(c.upper_char('ä' as u32), 'Ä' as u32);
    assert_eq!(c.lower_char('Q' as u32), 'q' as u32);
    assert!(c.is_alnum('ж' as u32) && !c.is_alnum('-' as u32));
    assert_eq!(c.class(Class::Digit), [('0' as u32, '9' as u32)]);
    assert_eq!(c.compare(b"B", b"a"), Ordering::Less);
}

/// Texts of several scripts, in the order of the root locale.
const ORDERED: [&str; 10] = ["-", "1", "a", "A", "á", "b", "strasse", "straße", "д", "漢"];

#[test]
fn collations_of_icu() {
    let root = Locale::icu("und", true).expect("ICU is installed");
    for pair in ORDERED.windows(2) {
        let order = root.compare(pair[0].as_bytes(), pair[1].as_bytes());
        assert_eq!(order, Ordering::Less, "{pair:?}");
    }
    assert_eq!(root.upper_text("straße".as_bytes()), Some(Ok(b"STRASSE".to_vec())));
    assert_eq!(root.title_text("éa bC".as_bytes()), Some(Ok("Éa Bc".as_bytes().to_vec())));
    let turkish = Locale::icu("tr", true).expect("ICU is installed");
    assert_eq!(turkish.upper_text(b"i"), Some(Ok("İ".as_bytes().to_vec())));
    let blind = Locale::icu("und-u-ks-level1", false).expect("ICU is installed");
    assert!(blind.is_equal("Á".as_bytes(), b"a") && !root.is_equal("Á".as_bytes(), b"a"));
    let (mut x, mut y) = (Vec::new(), Vec::new());
    blind.hash_key("Áb".as_bytes(), &mut x);
    blind.hash_key(b"aB", &mut y);
    assert_eq!(x, y);
    assert!(root.class(Class::Upper).contains(&('A' as u32, 'Z' as u32)));
}

#[test]
fn abbreviations_have_the_order_of_short_texts() {
    let root = Locale::icu("und", true).expect("ICU is installed");
    let numbers = ORDERED.map(|t| root.abbreviation(t.as_bytes()));
    assert!(numbers.is_sorted(), "{numbers:x?}");
    assert_eq!(root.abbreviation(b"abcdefghij"), root.abbreviation(b"ABCDEFGHZZ"));
    assert!(root.abbreviation(b"abcdefg") < root.abbreviation(b"abcdefh"));
    for (a, b) in [("abcdefghij", "ABCDEFGHZZ"), ("abcdefghi", "ABCDEFGHI"), ("abcdefghi", "漢")] {
        let (a, b) = (a.as_bytes(), b.as_bytes());
        assert_eq!((root.guess(a, b), root.guess(b, a)), (Ordering::Less, Ordering::Greater));
        assert_eq!(root.guess(a, a), Ordering::Equal);
    }
    // The ranks end with the first character that has none.
    assert_eq!(root.guess("д1".as_bytes(), "漢0".as_bytes()), Ordering::Less);
}

#[test]
fn the_c_locale_has_no_formats() {
    for name in ["C", "POSIX", "", "no_SUCH"] {
        assert!(number_format(name).is_none() && money_format(name).is_none(), "{name}");
    }
    let names = time_names("C.utf8").expect("the locale exists");
    assert_eq!((names.days[3].as_str(), names.short_months[11].as_str()), ("Wednesday", "Dec"));
    let money = money_format("C.utf8").expect("the locale exists");
    assert_eq!((money.decimal.as_str(), money.places), ("", 255));
    assert_eq!(capitalized("éTÉ"), "Été");
    assert_eq!((date_order("C"), date_order("no_SUCH")), (Some("mdy"), None));
}

/// The order of the library, without the ranks.
fn library_order(locale: &Locale, a: &[u8], b: &[u8]) -> Ordering {
    let Provider::Icu(collator) = &locale.provider else { panic!("a locale of ICU") };
    collator.compare(a, b).then_with(|| a.cmp(b))
}

#[test]
fn ranks_decide_only_what_the_library_decides_alike() {
    const PIECES: [&str; 24] = [
        "a", "A", "b", "c", "h", "l", "j", "z", "aa", "1", "9", "0", "-", " ", "_", "'", "\t",
        "\u{1}", "ä", "\u{301}", "\u{335}", "·", "д", "k",
    ];
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit as u64) as usize
    };
    let names = [
        "und",
        "en-US",
        "cs",
        "da",
        "hr",
        "sv",
        "lt",
        "en-u-kn",
        "en-u-ka-shifted",
        "en-u-kf-upper",
        "fr-CA",
        "de-u-co-phonebk",
        "und-u-ks-identic",
    ];
    for name in names {
        let locale = Locale::icu(name, true).expect("ICU is installed");
        // Contractions, or digits that are ordered by the number that they form.
        let expected = !matches!(name, "cs" | "da" | "hr" | "en-u-kn");
        assert_eq!(locale.has_exact_abbreviation(b"abc -1"), expected, "{name}");
        assert!(!locale.has_exact_abbreviation("ä".as_bytes()));
        assert!(!locale.has_exact_abbreviation(b"a\tb"));
        // Of printable characters only, and of all.
        for pieces in [&PIECES[..16], &PIECES[..]] {
            let texts: Vec<String> = (0..300)
                .map(|_| (0..next(6)).map(|_| pieces[next(pieces.len())]).collect())
                .collect();
            for (a, b) in texts.iter().flat_map(|a| texts.iter().map(move |b| (a, b))) {
                let (x, y) = (a.as_bytes(), b.as_bytes());
                let order = library_order(&locale, x, y);
                assert_eq!(locale.compare(x, y), order, "{name}: {a:?} {b:?}");
                let numbers = locale.abbreviation(x).cmp(&locale.abbreviation(y));
                if locale.has_exact_abbreviation(x) && locale.has_exact_abbreviation(y) {
                    assert_eq!(numbers.then(order), order, "{name}: {a:?} {b:?}");
                }
            }
        }
    }
}
