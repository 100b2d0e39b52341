//! Metaphone: the sounds of an English word. `X` stands for "sh", `0` for "th".
//!
//! Each rule looks at the letters around the present one; letters are compared in upper case, and
//! what is not an ASCII letter ends a group of letters.

/// The word, and the code so far.
struct Encoder<'a> {
    word: &'a [u8],
    at: usize,
    out: Vec<u8>,
    length_max: usize,
}

fn is_vowel(c: u8) -> bool {
    matches!(c, b'A' | b'E' | b'I' | b'O' | b'U')
}

/// Before these letters, C and G are soft.
fn makes_soft(c: u8) -> bool {
    matches!(c, b'E' | b'I' | b'Y')
}

impl Encoder<'_> {
    /// The letter at a distance from the present one, in upper case; 0 outside the word.
    fn letter(&self, distance: isize) -> u8 {
        let at = self.at.checked_add_signed(distance);
        at.and_then(|at| self.word.get(at)).map_or(0, u8::to_ascii_uppercase)
    }

    /// The letter after the next one, if there is a next one.
    fn after_next(&self) -> u8 {
        if self.letter(1) == 0 { 0 } else { self.letter(2) }
    }

    fn push(&mut self, code: u8) {
        if self.out.len() < self.length_max {
            self.out.push(code);
        }
    }

    /// The start of a word has rules of its own.
    fn first(&mut self) {
        let (current, next) = (self.letter(0), self.letter(1));
        let (code, letters) = match current {
            b'A' if next == b'E' => (b'E', 2),
            b'A' | b'E' | b'I' | b'O' | b'U' => (current, 1),
            b'G' | b'K' | b'P' if next == b'N' => (b'N', 2),
            b'W' if matches!(next, b'H' | b'R') => (next, 2),
            b'W' if is_vowel(next) => (b'W', 2),
            b'X' => (b'S', 1),
            _ => return,
        };
        self.push(code);
        self.at += letters;
    }

    /// Encodes the present letter; the number of letters after it that are part of the sound.
    fn next(&mut self) -> usize {
        let (current, previous, next) = (self.letter(0), self.letter(-1), self.letter(1));
        let after = self.after_next();
        let sibilant = next == b'I' && matches!(after, b'A' | b'O');
        let (code, skipped) = match current {
            b'B' if previous == b'M' => return 0,
            b'C' => return self.c(),
            b'D' if next == b'G' && makes_soft(after) => (b'J', 1),
            b'D' => (b'T', 0),
            b'G' => return self.g(),
            b'H' if !is_vowel(next) || matches!(previous, b'C' | b'G' | b'P' | b'S' | b'T') => {
                return 0;
            }
            b'K' if previous == b'C' => return 0,
            b'P' if next == b'H' => (b'F', 0),
            b'Q' => (b'K', 0),
            b'S' | b'T' if sibilant => (b'X', 0),
            b'S' if next == b'H' => (b'X', 1),
            b'S' if next == b'C' && self.letter(2) == b'H' && self.letter(3) == b'W' => (b'X', 2),
            b'T' if next == b'H' => (b'0', 1),
            b'V' => (b'F', 0),
            b'W' | b'Y' if !is_vowel(next) => return 0,
            b'X' => {
                self.push(b'K');
                (b'S', 0)
            }
            b'Z' => (b'S', 0),
            b'A' | b'E' | b'I' | b'O' | b'U' => return 0,
            other => (other, 0),
        };
        self.push(code);
        skipped
    }

    fn c(&mut self) -> usize {
        let (previous, next, after) = (self.letter(-1), self.letter(1), self.after_next());
        let (code, skipped) = match next {
            b'I' if after == b'A' => (b'X', 0),
            next if makes_soft(next) && previous == b'S' => return 0,
            next if makes_soft(next) => (b'S', 0),
            b'H' if after == b'R' || previous == b'S' => (b'K', 1),
            b'H' => (b'X', 1),
            _ => (b'K', 0),
        };
        self.push(code);
        skipped
    }

    fn g(&mut self) -> usize {
        let (previous, next, after) = (self.letter(-1), self.letter(1), self.after_next());
        let (code, skipped) = match next {
            b'H' => {
                let silent = matches!(self.letter(-3), b'B' | b'D' | b'H');
                if silent || self.letter(-4) == b'H' {
                    return 0;
                }
                (b'F', 1)
            }
            b'N' => {
                let ends = !after.is_ascii_alphabetic();
                if ends || after == b'E' && self.letter(3) == b'D' {
                    return 0;
                }
                (b'K', 0)
            }
            next if makes_soft(next) && previous != b'G' => (b'J', 0),
            _ => (b'K', 0),
        };
        self.push(code);
        skipped
    }
}

/// The code of a word, of at most `length_max` bytes.
pub(super) fn encode(word: &[u8], length_max: usize) -> Vec<u8> {
    let Some(at) = word.iter().position(u8::is_ascii_alphabetic) else { return Vec::new() };
    let mut encoder = Encoder { word, at, out: Vec::new(), length_max };
    encoder.first();
    while encoder.at < word.len() && encoder.out.len() < length_max {
        let current = encoder.letter(0);
        let repeated = current == encoder.letter(-1) && current != b'C';
        if current.is_ascii_alphabetic() && !repeated {
            encoder.at += encoder.next();
        }
        encoder.at += 1;
    }
    encoder.out
}
