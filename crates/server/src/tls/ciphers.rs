//! Cipher suites under the names that OpenSSL gives them, and the list `ssl_ciphers`.

use rustls::crypto::ring::cipher_suite as suites;
use rustls::{CipherSuite, SupportedCipherSuite};

/// The name of a suite, and the length of its key in bits.
pub(super) fn name_and_bits(suite: CipherSuite) -> (&'static str, u16) {
    match suite {
        CipherSuite::TLS13_AES_256_GCM_SHA384 => ("TLS_AES_256_GCM_SHA384", 256),
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => ("TLS_CHACHA20_POLY1305_SHA256", 256),
        CipherSuite::TLS13_AES_128_GCM_SHA256 => ("TLS_AES_128_GCM_SHA256", 128),
        other => {
            let found = TLS12.iter().find(|known| known.suite.suite() == other);
            found.map_or(("", 0), |known| (known.name, known.bits))
        }
    }
}

/// The suites of TLS 1.3, which no setting changes, in OpenSSL's order.
pub(super) const TLS13: [SupportedCipherSuite; 3] = [
    suites::TLS13_AES_256_GCM_SHA384,
    suites::TLS13_CHACHA20_POLY1305_SHA256,
    suites::TLS13_AES_128_GCM_SHA256,
];

/// A suite of TLS 1.2.
struct Suite {
    suite: SupportedCipherSuite,
    name: &'static str,
    bits: u16,
    /// The words that select it, beside those of [`EVERY`].
    words: &'static [&'static str],
}

/// Words that select all suites of TLS 1.2 here.
const EVERY: [&str; 9] =
    ["ALL", "DEFAULT", "HIGH", "ECDHE", "EECDH", "kECDHE", "kEECDH", "TLSv1.2", "FIPS"];

/// In OpenSSL's order.
const TLS12: [Suite; 6] = [
    Suite {
        suite: suites::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        name: "ECDHE-ECDSA-AES256-GCM-SHA384",
        bits: 256,
        words: &["ECDSA", "aECDSA", "AES", "AES256", "AESGCM", "SHA384"],
    },
    Suite {
        suite: suites::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        name: "ECDHE-RSA-AES256-GCM-SHA384",
        bits: 256,
        words: &["RSA", "aRSA", "AES", "AES256", "AESGCM", "SHA384"],
    },
    Suite {
        suite: suites::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        name: "ECDHE-ECDSA-CHACHA20-POLY1305",
        bits: 256,
        words: &["ECDSA", "aECDSA", "CHACHA20", "SHA256"],
    },
    Suite {
        suite: suites::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        name: "ECDHE-RSA-CHACHA20-POLY1305",
        bits: 256,
        words: &["RSA", "aRSA", "CHACHA20", "SHA256"],
    },
    Suite {
        suite: suites::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        name: "ECDHE-ECDSA-AES128-GCM-SHA256",
        bits: 128,
        words: &["ECDSA", "aECDSA", "AES", "AES128", "AESGCM", "SHA256"],
    },
    Suite {
        suite: suites::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        name: "ECDHE-RSA-AES128-GCM-SHA256",
        bits: 128,
        words: &["RSA", "aRSA", "AES", "AES128", "AESGCM", "SHA256"],
    },
];

impl Suite {
    /// Whether an item of a list selects this suite: its name, or words joined by `+`.
    fn is_selected(&self, item: &str) -> bool {
        item == self.name
            || item.split('+').all(|word| EVERY.contains(&word) || self.words.contains(&word))
    }
}

/// The suites of TLS 1.2 that a list in OpenSSL's syntax allows, in its order. Unknown items are
/// ignored, as OpenSSL ignores them; the result may be empty.
pub(super) fn select(list: &str) -> Vec<SupportedCipherSuite> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut banned: Vec<usize> = Vec::new();
    let items = list.split([':', ',', ' ', ';']).filter(|item| !item.is_empty());
    for item in items.filter(|item| !item.starts_with('@')) {
        let (action, rest) = match item.as_bytes()[0] {
            sign @ (b'!' | b'-' | b'+') => (sign, &item[1..]),
            _ => (b' ', item),
        };
        let matching: Vec<usize> =
            (0..TLS12.len()).filter(|&n| TLS12[n].is_selected(rest)).collect();
        match action {
            b'!' | b'-' => {
                chosen.retain(|n| !matching.contains(n));
                if action == b'!' {
                    banned.extend(matching);
                }
            }
            // Moves the suites to the end.
            b'+' => {
                let moved: Vec<usize> =
                    chosen.iter().copied().filter(|n| matching.contains(n)).collect();
                chosen.retain(|n| !moved.contains(n));
                chosen.extend(moved);
            }
            _ => {
                let new = matching.into_iter().filter(|n| !banned.contains(n));
                let new: Vec<usize> = new.filter(|n| !chosen.contains(n)).collect();
                chosen.extend(new);
            }
        }
    }
    chosen.into_iter().map(|n| TLS12[n].suite).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_select_suites_in_order() {
        let names = |list: &str| -> Vec<&str> {
            select(list).iter().map(|s| name_and_bits(s.suite()).0).collect()
        };
        assert_eq!(names("HIGH:MEDIUM:+3DES:!aNULL").len(), TLS12.len());
        assert_eq!(
            names("ECDHE-RSA-AES128-GCM-SHA256:nothing:ECDHE-RSA-AES256-GCM-SHA384"),
            ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384"]
        );
        assert_eq!(
            names("HIGH:!ECDSA:-CHACHA20:+AES256"),
            ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384"]
        );
        assert_eq!(names("!AES:HIGH:@STRENGTH").len(), 2);
        assert_eq!(names("aRSA+CHACHA20"), ["ECDHE-RSA-CHACHA20-POLY1305"]);
        assert_eq!(names("AES128-SHA"), [""; 0]);
    }
}
