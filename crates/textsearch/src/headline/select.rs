//! Selection of the words that a headline shows.

use super::cover::next_cover;
use super::{Settings, TAG, Word};
use crate::query::Query;
use pgerror::Result;
use values::fn_context::{InterruptChecker, SessionContext};

/// Marks words `from..=to` as shown.
fn show(words: &mut [Word<'_>], settings: &Settings, from: usize, to: Option<usize>) {
    let Some(to) = to else { return };
    for word in words.iter_mut().take(to + 1).skip(from) {
        if word.item.is_some() {
            word.marked = true;
        }
        if !settings.all && word.kind == TAG {
            word.replaced = true;
        } else if word.is_compound() {
            word.skipped = true;
        }
        word.shown = !word.repeated;
    }
}

impl Settings {
    /// Whether the headline should not end with this word.
    fn is_bad_end(&self, word: &Word<'_>) -> bool {
        let short = word.text.len() as i64 <= i64::from(self.short_word);
        (word.is_no_end() || short) && !word.is_searched()
    }
}

/// Shows the first `min_words` words.
fn show_beginning(words: &mut [Word<'_>], settings: &Settings) {
    let (mut count, mut end) = (0, None);
    for (i, word) in words.iter().enumerate() {
        if count >= settings.min_words {
            break;
        }
        count += i32::from(!word.is_no_word());
        end = Some(i);
    }
    show(words, settings, 0, end);
}

/// Selects the words of the headline.
pub(super) fn select(
    cx: &dyn SessionContext,
    words: &mut [Word<'_>],
    query: Query<'_>,
    settings: &Settings,
) -> Result<()> {
    let interrupts = InterruptChecker::new(cx);
    let mut cover_max = settings.max_words.saturating_mul(10).max(100);
    if settings.max_fragments > 0 {
        cover_max = cover_max.saturating_mul(settings.max_fragments);
        return fragments(&interrupts, words, query, settings, cover_max);
    }
    if settings.all {
        show(words, settings, 0, words.len().checked_sub(1));
        return Ok(());
    }
    one_part(&interrupts, words, query, settings, cover_max)
}

/// A part of the document that can be the headline.
#[derive(Clone, Copy)]
struct Candidate {
    from: usize,
    to: usize,
    /// Words of the query in it.
    searched: i32,
    /// Whether it has a whole cover.
    whole: bool,
}

/// The part of the document around the cover `p..=q`.
fn around(words: &[Word<'_>], settings: &Settings, p: usize, q: usize) -> Candidate {
    let (mut count, mut searched) = (0, 0);
    let tally = |i: usize, count: &mut i32, searched: &mut i32, by: i32| {
        *count += by * i32::from(!words[i].is_no_word());
        *searched += by * i32::from(words[i].is_searched());
    };
    let (mut from, mut to) = (p, p);
    let mut i = p;
    while i <= q && count < settings.max_words {
        tally(i, &mut count, &mut searched, 1);
        to = i;
        i += 1;
    }
    if count < settings.max_words {
        // Forward until it is full or ends well; the last word is looked at again.
        i -= 1;
        while i < words.len() && count < settings.max_words {
            if i > q {
                tally(i, &mut count, &mut searched, 1);
            }
            to = i;
            if !settings.is_bad_end(&words[i]) && count >= settings.min_words {
                break;
            }
            i += 1;
        }
        if count < settings.min_words {
            // Backward at the end of the document.
            let mut begin = 0;
            for i in (0..p).rev() {
                tally(i, &mut count, &mut searched, 1);
                let full = count >= settings.max_words;
                if full || !settings.is_bad_end(&words[i]) && count >= settings.min_words {
                    begin = i;
                    break;
                }
            }
            from = begin;
        }
    } else {
        // Shorter, so that it ends well.
        let mut i = i.min(q);
        while count > settings.min_words && settings.is_bad_end(&words[i]) {
            tally(i, &mut count, &mut searched, -1);
            if i == 0 {
                break;
            }
            to = i - 1;
            i -= 1;
        }
    }
    Candidate { from, to, searched, whole: from <= p && to >= q }
}

/// Selects one part of the document.
fn one_part(
    interrupts: &InterruptChecker<'_>,
    words: &mut [Word<'_>],
    query: Query<'_>,
    settings: &Settings,
    cover_max: i32,
) -> Result<()> {
    let mut best: Option<Candidate> = None;
    let mut next = 0;
    while let Some((p, q)) = next_cover(interrupts, words, query, cover_max, next)? {
        let here = around(words, settings, p, q);
        let bad = |c: &Candidate| settings.is_bad_end(&words[c.to]);
        let better = best.is_none_or(|best| {
            (here.whole, here.searched, !bad(&here)) > (best.whole, best.searched, !bad(&best))
        });
        if better {
            best = Some(here);
        }
        next = p + 1;
    }
    match best {
        Some(best) => show(words, settings, best.from, Some(best.to)),
        None => show_beginning(words, settings),
    }
    Ok(())
}

/// A part of a cover.
struct Fragment {
    from: usize,
    to: usize,
    /// Words of the query in it, and all words.
    searched: i32,
    count: i32,
    /// Chosen, or overlapping one that is.
    used: bool,
}

/// The first part of `from..=to` with at most `max_words` words, which begins and ends with words
/// of the query.
fn fragment(words: &[Word<'_>], settings: &Settings, from: usize, to: usize) -> Fragment {
    let from = (from..=to).find(|i| words[*i].is_searched()).unwrap_or(to);
    let (mut count, mut searched, mut end) = (0, 0, to);
    let mut i = from;
    while i <= to && count < settings.max_words {
        count += i32::from(!words[i].is_no_word());
        searched += i32::from(words[i].is_searched());
        i += 1;
    }
    if to > i {
        end = i;
        while end > from && !words[end].is_searched() {
            count -= i32::from(!words[end].is_no_word());
            end -= 1;
        }
        if end == from && !words[end].is_searched() {
            count -= i32::from(!words[end].is_no_word());
        }
    }
    Fragment { from, to: end, searched, count, used: false }
}

/// Makes the fragment longer on both sides, up to `max_words`.
fn stretch(words: &[Word<'_>], settings: &Settings, f: &mut Fragment) {
    if f.count >= settings.max_words {
        return;
    }
    let more = (settings.max_words - f.count) / 2;
    let (mut stretched, mut begin) = (0, f.from);
    while begin > 0 && stretched < more && !words[begin - 1].shown {
        begin -= 1;
        if !words[begin].is_no_word() {
            f.count += 1;
            stretched += 1;
        }
    }
    while begin < f.from && settings.is_bad_end(&words[begin]) {
        f.count -= i32::from(!words[begin].is_no_word());
        begin += 1;
    }
    f.from = begin;
    let mut end = f.to;
    while end + 1 < words.len() && f.count < settings.max_words && !words[end + 1].shown {
        end += 1;
        f.count += i32::from(!words[end].is_no_word());
    }
    while end > f.to && settings.is_bad_end(&words[end]) {
        f.count -= i32::from(!words[end].is_no_word());
        end -= 1;
    }
    f.to = end;
}

/// Selects up to `max_fragments` parts of the document.
fn fragments(
    interrupts: &InterruptChecker<'_>,
    words: &mut [Word<'_>],
    query: Query<'_>,
    settings: &Settings,
    cover_max: i32,
) -> Result<()> {
    let mut all: Vec<Fragment> = Vec::new();
    let mut next = 0;
    while let Some((p, q)) = next_cover(interrupts, words, query, cover_max, next)? {
        let mut from = p;
        while from <= q {
            let part = fragment(words, settings, from, q);
            from = part.to + 1;
            all.push(part);
        }
        next = p + 1;
    }
    let mut shown = 0;
    while shown < settings.max_fragments {
        let free = all.iter().enumerate().filter(|(_, f)| !f.used);
        // The first of those with most words of the query, and of these with fewest words.
        let Some((i, _)) = free.min_by_key(|(_, f)| (-f.searched, f.count)) else { break };
        let mut chosen = std::mem::replace(
            &mut all[i],
            Fragment { from: 0, to: 0, searched: 0, count: 0, used: true },
        );
        stretch(words, settings, &mut chosen);
        show(words, settings, chosen.from, Some(chosen.to));
        shown += 1;
        for other in &mut all {
            other.used |= other.from <= chosen.to && other.to >= chosen.from;
        }
    }
    if shown == 0 {
        show_beginning(words, settings);
    }
    Ok(())
}
