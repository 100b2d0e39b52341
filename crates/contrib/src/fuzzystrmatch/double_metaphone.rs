//! Double Metaphone: two codes of the sounds of a word, by its usual and by another pronunciation.
//! `X` stands for "sh", `0` for "th".
//!
//! The rules of a letter are tried in order; the first one that fits gives both codes and the
//! number of letters that it covers. Letters are compared in upper case; blanks follow the word.
//!
//! Counterpart: contrib/fuzzystrmatch/dmetaphone.c. Source of the rules: Lawrence Philips, The
//! Double Metaphone Search Algorithm, 2000.

/// Length of a code.
const CODE_BYTES: usize = 4;

/// Blanks after a word, so that rules can look beyond its end.
const PADDING: usize = 5;

/// What a rule gives: the usual code, the other code, the number of letters.
type Sound = (&'static str, &'static str, usize);

const fn both(code: &'static str, letters: usize) -> Sound {
    (code, code, letters)
}

/// A word with blanks after it, and the present letter.
struct Word {
    letters: Vec<u8>,
    length: usize,
    at: usize,
    /// The word has letters that are usual in Slavic and Germanic names.
    slavo_germanic: bool,
}

impl Word {
    fn new(text: &[u8]) -> Word {
        let mut letters = text.to_ascii_uppercase();
        letters.extend([b' '; PADDING]);
        let slavo_germanic = letters.windows(2).any(|w| matches!(w[0], b'W' | b'K') || w == b"CZ");
        Word { length: text.len(), letters, at: 0, slavo_germanic }
    }

    /// The letter at a distance from the present one; 0 before the word and after the blanks.
    fn letter(&self, distance: isize) -> u8 {
        let at = self.at.checked_add_signed(distance);
        at.and_then(|at| self.letters.get(at)).copied().unwrap_or(0)
    }

    fn is_vowel(&self, distance: isize) -> bool {
        matches!(self.letter(distance), b'A' | b'E' | b'I' | b'O' | b'U' | b'Y')
    }

    /// True if one of the texts is at a distance from the present letter.
    fn is(&self, distance: isize, texts: &[&str]) -> bool {
        let at = self.at.checked_add_signed(distance);
        let rest = at.and_then(|at| self.letters.get(at..));
        rest.is_some_and(|rest| texts.iter().any(|t| rest.starts_with(t.as_bytes())))
    }

    /// True if the letter at a distance is one of these.
    fn any(&self, distance: isize, letters: &[u8]) -> bool {
        letters.contains(&self.letter(distance))
    }

    fn begins(&self, texts: &[&str]) -> bool {
        texts.iter().any(|t| self.letters.starts_with(t.as_bytes()))
    }

    fn is_germanic(&self) -> bool {
        self.begins(&["VAN ", "VON ", "SCH"])
    }

    fn is_first(&self) -> bool {
        self.at == 0
    }

    fn is_last(&self) -> bool {
        self.at + 1 == self.length
    }

    /// A consonant that counts once if it is doubled.
    fn single(&self, code: &'static str) -> Sound {
        both(code, if self.letter(1) == self.letter(0) { 2 } else { 1 })
    }

    fn sound(&self) -> Sound {
        match self.letter(0) {
            b'A' | b'E' | b'I' | b'O' | b'U' | b'Y' if self.is_first() => both("A", 1),
            b'B' => self.single("P"),
            // C with cedilla in LATIN1.
            0xc7 => both("S", 1),
            b'C' => self.c(),
            b'D' => self.d(),
            b'F' => self.single("F"),
            b'G' => self.g(),
            b'H' if (self.is_first() || self.is_vowel(-1)) && self.is_vowel(1) => both("H", 2),
            b'J' => self.j(),
            b'K' => self.single("K"),
            b'L' => self.l(),
            b'M' => self.m(),
            b'N' => self.single("N"),
            // N with tilde in LATIN1.
            0xd1 => both("N", 1),
            b'P' if self.letter(1) == b'H' => both("F", 2),
            b'P' => both("P", if self.any(1, b"PB") { 2 } else { 1 }),
            b'Q' => self.single("K"),
            b'R' => self.r(),
            b'S' => self.s(),
            b'T' => self.t(),
            b'V' => self.single("F"),
            b'W' => self.w(),
            b'X' => self.x(),
            b'Z' => self.z(),
            _ => both("", 1),
        }
    }

    fn c(&self) -> Sound {
        let after = self.letter(2);
        if self.at > 1
            && !self.is_vowel(-2)
            && self.is(-1, &["ACH"])
            && after != b'I'
            && (after != b'E' || self.is(-2, &["BACHER", "MACHER"]))
        {
            return both("K", 2);
        }
        if self.is_first() && self.is(0, &["CAESAR"]) {
            return both("S", 2);
        }
        match self.letter(1) {
            b'H' => return self.ch(),
            b'Z' if !self.is(-2, &["WICZ"]) => return ("S", "X", 2),
            _ => {}
        }
        if self.is(1, &["CIA"]) {
            return both("X", 3);
        }
        if self.letter(1) == b'C' && !(self.at == 1 && self.letter(-1) == b'M') {
            return match self.any(2, b"IEH") && !self.is(2, &["HU"]) {
                true if self.at == 1 && self.letter(-1) == b'A' => both("KS", 3),
                true if self.is(-1, &["UCCEE", "UCCES"]) => both("KS", 3),
                true => both("X", 3),
                false => both("K", 2),
            };
        }
        match self.letter(1) {
            b'K' | b'G' | b'Q' => both("K", 2),
            b'I' | b'E' | b'Y' if self.is(0, &["CIO", "CIE", "CIA"]) => ("S", "X", 2),
            b'I' | b'E' | b'Y' => both("S", 2),
            _ if self.is(1, &[" C", " Q", " G"]) => both("K", 3),
            b'C' if !self.is(1, &["CE", "CI"]) => both("K", 2),
            _ => both("K", 1),
        }
    }

    fn ch(&self) -> Sound {
        if self.is(0, &["CHIA"]) {
            return both("K", 2);
        }
        if !self.is_first() && self.is(0, &["CHAE"]) {
            return ("K", "X", 2);
        }
        let greek = self.is_first()
            && self.is(1, &["HARAC", "HARIS", "HOR", "HYM", "HIA", "HEM"])
            && !self.begins(&["CHORE"]);
        let hard = self.is_germanic()
            || self.is(-2, &["ORCHES", "ARCHIT", "ORCHID"])
            || self.any(2, b"TS")
            || (self.any(-1, b"AOUE") || self.is_first()) && self.any(2, b"LRNMBHFVW ");
        if greek || hard {
            return both("K", 2);
        }
        match self.is_first() {
            true => both("X", 2),
            false if self.begins(&["MC"]) => both("K", 2),
            false => ("X", "K", 2),
        }
    }

    fn d(&self) -> Sound {
        match self.letter(1) {
            b'G' if self.any(2, b"IEY") => both("J", 3),
            b'G' => both("TK", 2),
            b'T' | b'D' => both("T", 2),
            _ => both("T", 1),
        }
    }

    fn g(&self) -> Sound {
        if self.letter(1) == b'H' {
            return self.gh();
        }
        if self.letter(1) == b'N' {
            return match !self.slavo_germanic {
                true if self.at == 1 && self.is_vowel(-1) => ("KN", "N", 2),
                true if !self.is(2, &["EY"]) => ("N", "KN", 2),
                _ => both("KN", 2),
            };
        }
        if self.is(1, &["LI"]) && !self.slavo_germanic {
            return ("KL", "L", 2);
        }
        const SOFT: &[&str] =
            &["Y", "ES", "EP", "EB", "EL", "EY", "IB", "IL", "IN", "IE", "EI", "ER"];
        if self.is_first() && self.is(1, SOFT) {
            return ("K", "J", 2);
        }
        if self.is(1, &["ER", "Y"])
            && !self.begins(&["DANGER", "RANGER", "MANGER"])
            && !self.any(-1, b"EI")
            && !self.is(-1, &["RGY", "OGY"])
        {
            return ("K", "J", 2);
        }
        if self.any(1, b"EIY") || self.is(-1, &["AGGI", "OGGI"]) {
            return match self.is_germanic() || self.is(1, &["ET"]) {
                true => both("K", 2),
                false if self.is(1, &["IER "]) => both("J", 2),
                false => ("J", "K", 2),
            };
        }
        self.single("K")
    }

    fn gh(&self) -> Sound {
        if !self.is_first() && !self.is_vowel(-1) {
            return both("K", 2);
        }
        if self.is_first() {
            return both(if self.letter(2) == b'I' { "J" } else { "K" }, 2);
        }
        if self.any(-2, b"BHD") || self.any(-3, b"BHD") || self.any(-4, b"BH") {
            return both("", 2);
        }
        match self.letter(-1) {
            b'U' if self.any(-3, b"CGLRT") => both("F", 2),
            b'I' => both("", 2),
            _ => both("K", 2),
        }
    }

    fn j(&self) -> Sound {
        let (jose, san) = (self.is(0, &["JOSE"]), self.begins(&["SAN "]));
        if jose || san {
            let spanish = san || self.is_first() && self.letter(4) == b' ';
            return (if spanish { "H" } else { "J" }, "H", 1);
        }
        let letters = if self.letter(1) == b'J' { 2 } else { 1 };
        if self.is_first() {
            return ("J", "A", letters);
        }
        if self.is_vowel(-1) && !self.slavo_germanic && self.any(1, b"AO") {
            return ("J", "H", letters);
        }
        if self.is_last() {
            return ("J", "", letters);
        }
        let silent = self.any(1, b"LTKSNMBZ") || self.any(-1, b"SKL");
        both(if silent { "" } else { "J" }, letters)
    }

    fn l(&self) -> Sound {
        let end = |texts: &[&str]| {
            let word = &self.letters[..self.length];
            texts.iter().any(|t| word.ends_with(t.as_bytes()))
        };
        if self.letter(1) == b'L' {
            let spanish = self.at + 3 == self.length && self.is(-1, &["ILLO", "ILLA", "ALLE"])
                || end(&["AS", "OS", "A", "O"]) && self.is(-1, &["ALLE"]);
            return ("L", if spanish { "" } else { "L" }, 2);
        }
        both("L", 1)
    }

    fn m(&self) -> Sound {
        let silent_b = self.is(-1, &["UMB"]) && (self.at + 2 == self.length || self.is(2, &["ER"]));
        if silent_b { both("M", 2) } else { self.single("M") }
    }

    fn r(&self) -> Sound {
        let french = self.is_last()
            && !self.slavo_germanic
            && self.is(-2, &["IE"])
            && !self.is(-4, &["ME", "MA"]);
        let (_, other, letters) = self.single("R");
        (if french { "" } else { other }, other, letters)
    }

    fn s(&self) -> Sound {
        if self.is(-1, &["ISL", "YSL"]) {
            return both("", 1);
        }
        if self.is_first() && self.is(0, &["SUGAR"]) {
            return ("X", "S", 1);
        }
        if self.letter(1) == b'H' {
            let germanic = self.is(1, &["HEIM", "HOEK", "HOLM", "HOLZ"]);
            return both(if germanic { "S" } else { "X" }, 2);
        }
        if self.is(0, &["SIO", "SIA"]) {
            return ("S", if self.slavo_germanic { "S" } else { "X" }, 3);
        }
        if self.letter(1) == b'Z' {
            return ("S", "X", 2);
        }
        if self.is_first() && self.any(1, b"MNLW") {
            return ("S", "X", 1);
        }
        if self.letter(1) == b'C' {
            return self.sc();
        }
        let french = self.is_last() && self.is(-2, &["AI", "OI"]);
        let letters = if self.any(1, b"SZ") { 2 } else { 1 };
        (if french { "" } else { "S" }, "S", letters)
    }

    fn sc(&self) -> Sound {
        if self.letter(2) != b'H' {
            return both(if self.any(2, b"IEY") { "S" } else { "SK" }, 3);
        }
        if self.is(3, &["ER", "EN"]) {
            return ("X", "SK", 3);
        }
        if self.is(3, &["OO", "UY", "ED", "EM"]) {
            return both("SK", 3);
        }
        let german = self.is_first() && !self.is_vowel(3) && self.letter(3) != b'W';
        ("X", if german { "S" } else { "X" }, 3)
    }

    fn t(&self) -> Sound {
        if self.is(0, &["TION", "TIA", "TCH"]) {
            return both("X", 3);
        }
        if self.is(0, &["TH", "TTH"]) {
            let hard = self.is(2, &["OM", "AM"]) || self.is_germanic();
            return (if hard { "T" } else { "0" }, "T", 2);
        }
        both("T", if self.any(1, b"TD") { 2 } else { 1 })
    }

    fn w(&self) -> Sound {
        if self.letter(1) == b'R' {
            return both("R", 2);
        }
        // The sound of a W at the start precedes that of the rules below.
        let start = match self.is_first() {
            true if self.is_vowel(1) => ("A", "F"),
            true if self.letter(1) == b'H' => ("A", "A"),
            _ => ("", ""),
        };
        let is_silent = self.is_last() && self.is_vowel(-1)
            || self.is(-1, &["EWSKI", "EWSKY", "OWSKI", "OWSKY"])
            || self.begins(&["SCH"]);
        if is_silent {
            return ("", "F", 1);
        }
        if self.is(0, &["WICZ", "WITZ"]) {
            return match start {
                ("", _) => ("TS", "FX", 4),
                _ => ("ATS", "FFX", 4),
            };
        }
        (start.0, start.1, 1)
    }

    fn x(&self) -> Sound {
        let silent = self.is_last() && self.is(-3, &["IAU", "EAU"])
            || self.is_last() && self.is(-2, &["AU", "OU"]);
        both(if silent { "" } else { "KS" }, if self.any(1, b"CX") { 2 } else { 1 })
    }

    fn z(&self) -> Sound {
        if self.letter(1) == b'H' {
            return both("J", 2);
        }
        let slavic = self.slavo_germanic && !self.is_first() && self.letter(-1) != b'T';
        let italian = self.is(1, &["ZO", "ZI", "ZA"]);
        let (code, _, letters) = self.single("S");
        (code, if slavic || italian { "TS" } else { code }, letters)
    }
}

/// The usual code and the other code of a word.
pub(super) fn encode(text: &[u8]) -> [Vec<u8>; 2] {
    let mut word = Word::new(text);
    let mut codes = [Vec::new(), Vec::new()];
    if word.begins(&["GN", "KN", "PN", "WR", "PS"]) {
        word.at = 1;
    } else if word.letter(0) == b'X' {
        codes = [b"S".to_vec(), b"S".to_vec()];
        word.at = 1;
    }
    while codes.iter().any(|code| code.len() < CODE_BYTES) && word.at < word.length {
        let (usual, other, letters) = word.sound();
        codes[0].extend_from_slice(usual.as_bytes());
        codes[1].extend_from_slice(other.as_bytes());
        word.at += letters;
    }
    for code in &mut codes {
        code.truncate(CODE_BYTES);
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn words_have_two_codes() {
        for (word, usual, other) in [
            ("gumbo", "KMP", "KMP"),
            ("Schmidt", "XMT", "SMT"),
            ("Smith", "SM0", "XMT"),
            ("Thomas", "TMS", "TMS"),
            ("Jose", "HS", "HS"),
            ("Xavier", "SF", "SFR"),
            ("cabrillo", "KPRL", "KPR"),
            ("Wicz", "ATS", "FFX"),
            ("", "", ""),
        ] {
            let codes = encode(word.as_bytes()).map(|c| String::from_utf8(c).unwrap());
            assert_eq!(codes, [usual, other], "{word}");
        }
    }
}
