//! The conditions of a scan, and whether a row satisfies one.
//!
//! Counterpart: ginscan.c, ginlogic.c, `startScanKey`, `keyGetItem` in ginget.c.

use crate::index::GinIndex;
use crate::key::{Category, KeyColumn};
use crate::stream::{Matching, Stream};
use access::{Cx, ScanKey};
use ids::StrategyNumber;
use page::gin::Item;
use pgerror::{PgError, Result};
use std::cmp::Ordering;
use types::gin::{Condition, Query, SearchMode, Ternary};
use types::{Datum, DatumRef};

/// Most unknown keys for which a function without ternary logic is called with all combinations.
const UNKNOWN_MAX: usize = 4;
/// Number of streams up to which equal ones are shared.
const SHARED_MAX: usize = 100;

/// A condition with its streams.
pub(crate) struct Clause {
    pub column: usize,
    strategy: StrategyNumber,
    value: Datum,
    query: Query,
    /// Numbers of the streams: one for each key of the query, then the hidden one, if any.
    streams: Vec<usize>,
    /// Matches everything; it has no query.
    everything: bool,
    /// All rows can satisfy it, and another condition determines which ones are checked.
    pub exclude_only: bool,
    /// Streams of which at least one has each row that satisfies the condition.
    required: Vec<usize>,
    additional: Vec<usize>,
    /// The last item that was checked.
    pub current: Item,
    pub matches: bool,
    pub recheck: bool,
    pub finished: bool,
    present: Vec<Ternary>,
}

/// The conditions of a scan.
pub(crate) struct Clauses {
    pub clauses: Vec<Clause>,
    pub streams: Vec<Stream>,
    /// No row satisfies the conditions.
    pub void: bool,
}

impl Clauses {
    /// Counterpart: `ginNewScanKey`.
    pub(crate) fn new(index: &GinIndex, keys: &[ScanKey]) -> Result<Clauses> {
        let mut all = Clauses { clauses: Vec::new(), streams: Vec::new(), void: false };
        for key in keys {
            let ScanKey::Compare { column, strategy, value, .. } = key else {
                return Err(PgError::internal("a condition that GIN indexes do not support"));
            };
            if !all.add(index, *column, *strategy, value)? {
                all.void = true;
                return Ok(all);
            }
        }
        all.add_hidden(index);
        if all.clauses.is_empty() {
            let mut clause = Clause::new(0, StrategyNumber::INVALID, Datum::Null, Query::default());
            clause.everything = true;
            all.clauses.push(clause);
            all.hide(index, 0, Category::Start, Matching::Everything);
        }
        Ok(all)
    }

    /// Adds a condition; false if no row can satisfy it.
    fn add(
        &mut self,
        index: &GinIndex,
        column: usize,
        strategy: StrategyNumber,
        value: &Datum,
    ) -> Result<bool> {
        if value.is_null() {
            return Ok(false);
        }
        let own = &index.schema.columns[column];
        let mut query = Query::default();
        (own.extract_query)(&own.column, value.as_ref(), strategy, &mut query)?;
        if query.keys.is_empty() && query.mode == SearchMode::Keys {
            return Ok(false);
        }
        let mode = query.mode;
        let mut clause = Clause::new(column, strategy, value.clone(), query);
        for n in 0..clause.query.keys.len() {
            let key = clause.query.keys.get(n);
            let partial = own.compare_partial.is_some()
                && clause.query.partial.get(n).copied().unwrap_or(false);
            let matching = if partial { Matching::Partial(n) } else { Matching::Exact };
            let category = if key.is_null() { Category::NullKey } else { Category::Normal };
            let stream = Stream::new(column, category, key.to_owned(), matching);
            clause.streams.push(self.stream(index, stream));
        }
        clause.exclude_only = mode == SearchMode::All;
        self.clauses.push(clause);
        if mode == SearchMode::KeysOrEmpty {
            let at = self.clauses.len() - 1;
            self.hide(index, at, Category::EmptyItem, Matching::Exact);
        }
        Ok(true)
    }

    /// The number of an equal stream, or of this new one.
    fn stream(&mut self, index: &GinIndex, stream: Stream) -> usize {
        if self.streams.len() < SHARED_MAX && !matches!(stream.matching, Matching::Partial(_)) {
            let equal = |other: &Stream| {
                other.matching == stream.matching
                    && index.schema.compare(&other.key(), &stream.key()).is_eq()
            };
            if let Some(at) = self.streams.iter().position(equal) {
                return at;
            }
        }
        self.streams.push(stream);
        self.streams.len() - 1
    }

    /// Adds the hidden stream of a condition.
    fn hide(&mut self, index: &GinIndex, clause: usize, category: Category, matching: Matching) {
        let column = self.clauses[clause].column;
        let stream = self.stream(index, Stream::new(column, category, Datum::Null, matching));
        self.clauses[clause].streams.push(stream);
    }

    /// A condition that all rows can satisfy needs a stream of all rows, unless another condition
    /// on the column determines the rows. Those without come last.
    fn add_hidden(&mut self, index: &GinIndex) {
        let normal = |c: &&Clause| !c.exclude_only;
        let mut scanned: Vec<usize> =
            self.clauses.iter().filter(normal).map(|c| c.column).collect();
        for at in 0..self.clauses.len() {
            let clause = &self.clauses[at];
            if clause.exclude_only && !scanned.contains(&clause.column) {
                scanned.push(clause.column);
                self.clauses[at].exclude_only = false;
                self.hide(index, at, Category::Start, Matching::NotNull);
            }
        }
        self.clauses.sort_by_key(|clause| clause.exclude_only);
    }

    /// Looks all keys up, and divides the streams of each condition.
    pub(crate) fn start(&mut self, index: &GinIndex, cx: &mut Cx<'_>) -> Result<()> {
        for at in 0..self.streams.len() {
            (cx.check_interrupts)()?;
            let stream = &mut self.streams[at];
            // A stream with partial matches belongs to one condition.
            let clause = self.clauses.iter().find(|clause| clause.streams.contains(&at));
            let own = &index.schema.columns[stream.column];
            let compare = |n: usize, key: DatumRef<'_>| match (clause, own.compare_partial) {
                (Some(clause), Some(compare)) => compare(&clause.condition(own), n, key),
                _ => Ordering::Greater,
            };
            stream.start(index, cx, &compare)?;
        }
        for clause in &mut self.clauses {
            clause.divide(index, &self.streams)?;
        }
        Ok(())
    }

    /// The next item after `past` that satisfies all conditions, and whether the row must be
    /// checked. Counterpart: `scanGetItem`.
    pub(crate) fn next(
        &mut self,
        index: &GinIndex,
        cx: &mut Cx<'_>,
        mut past: Item,
    ) -> Result<Option<(Item, bool)>> {
        loop {
            let mut item = Item::MIN;
            let mut matches = true;
            for (n, clause) in self.clauses.iter_mut().enumerate() {
                if item.is_lossy() && clause.exclude_only {
                    continue;
                }
                clause.advance(index, cx, &mut self.streams, past)?;
                if clause.finished {
                    return Ok(None);
                }
                if !clause.matches {
                    past = clause.current;
                    matches = false;
                    break;
                }
                // Nothing before the item satisfies this condition.
                let before = match clause.current.is_lossy() {
                    true => Item::start_of(clause.current.block()),
                    false => clause.current.before(),
                };
                past = past.max(before);
                if n == 0 {
                    item = clause.current;
                    continue;
                }
                matches = match item.is_lossy() || clause.current.is_lossy() {
                    true => item.block() == clause.current.block(),
                    false => item == clause.current,
                };
                if !matches {
                    break;
                }
            }
            if matches {
                let recheck = self.clauses.iter().any(|clause| clause.recheck);
                return Ok(Some((item, recheck)));
            }
            (cx.check_interrupts)()?;
        }
    }
}

impl Clause {
    fn new(column: usize, strategy: StrategyNumber, value: Datum, query: Query) -> Clause {
        Clause {
            column,
            strategy,
            value,
            query,
            streams: Vec::new(),
            everything: false,
            exclude_only: false,
            required: Vec::new(),
            additional: Vec::new(),
            current: Item::MIN,
            matches: false,
            recheck: false,
            finished: false,
            present: Vec::new(),
        }
    }

    fn condition<'a>(&'a self, own: &'a KeyColumn) -> Condition<'a> {
        Condition {
            column: &own.column,
            strategy: self.strategy,
            value: self.value.as_ref(),
            query: &self.query,
        }
    }

    /// The streams of the keys, then the hidden one.
    pub(crate) fn streams(&self) -> &[usize] {
        &self.streams
    }

    /// How an index key compares with a key of the query that matches partially.
    pub(crate) fn compare_partial(&self, own: &KeyColumn, n: usize, key: DatumRef<'_>) -> Ordering {
        match own.compare_partial {
            Some(compare) => compare(&self.condition(own), n, key),
            None => Ordering::Greater,
        }
    }

    /// Whether a row satisfies the condition, of which it is known which streams have it.
    pub(crate) fn test(&self, own: &KeyColumn, present: &[Ternary]) -> Result<Ternary> {
        if self.everything {
            return Ok(Ternary::True);
        }
        let condition = self.condition(own);
        let users = &present[..self.query.keys.len()];
        if let Some(tri) = own.tri_consistent {
            return tri(&condition, users);
        }
        let Some(consistent) = own.consistent else { return Ok(Ternary::Maybe) };
        let unknown: Vec<usize> =
            (0..users.len()).filter(|n| users[*n] == Ternary::Maybe).collect();
        if unknown.len() > UNKNOWN_MAX {
            return Ok(Ternary::Maybe);
        }
        let mut known: Vec<bool> = users.iter().map(|p| *p == Ternary::True).collect();
        let mut result = None;
        for combination in 0..1u32 << unknown.len() {
            for (bit, n) in unknown.iter().enumerate() {
                known[*n] = combination >> bit & 1 != 0;
            }
            let one = consistent(&condition, &known)?;
            match result {
                None => result = Some(one),
                Some(other) if other == one => {}
                Some(_) => return Ok(Ternary::Maybe),
            }
        }
        Ok(result.unwrap_or(Ternary::Maybe))
    }

    /// As [`Clause::test`], of a row with all of its keys known.
    pub(crate) fn test_known(&self, own: &KeyColumn, present: &[bool]) -> Result<Ternary> {
        let Some(consistent) = own.consistent.filter(|_| !self.everything) else {
            let present: Vec<Ternary> = present.iter().map(|p| Ternary::from(*p)).collect();
            return self.test(own, &present);
        };
        consistent(&self.condition(own), &present[..self.query.keys.len()])
    }

    /// Determines the required streams: the shortest ones, until a row that none of them has cannot
    /// satisfy the condition.
    fn divide(&mut self, index: &GinIndex, streams: &[Stream]) -> Result<()> {
        (self.current, self.matches, self.recheck) = (Item::MIN, false, false);
        self.finished = false;
        self.present = vec![Ternary::False; self.streams.len()];
        if self.exclude_only {
            (self.required, self.additional) = (Vec::new(), self.streams.clone());
            return Ok(());
        }
        let mut order: Vec<usize> = (0..self.streams.len()).collect();
        order.sort_by_key(|n| streams[self.streams[*n]].expected);
        let mut required = 1;
        if order.len() > 1 {
            let own = &index.schema.columns[self.column];
            let mut present = vec![Ternary::Maybe; order.len()];
            while required < order.len() {
                present[order[required - 1]] = Ternary::False;
                if self.test(own, &present)? == Ternary::False {
                    break;
                }
                required += 1;
            }
        }
        let stream = |n: &usize| self.streams[*n];
        let required = required.min(order.len());
        (self.required, self.additional) = (
            order[..required].iter().map(stream).collect(),
            order[required..].iter().map(stream).collect(),
        );
        Ok(())
    }

    /// Moves to the first item after `past` that one of the required streams has, and checks it.
    fn advance(
        &mut self,
        index: &GinIndex,
        cx: &mut Cx<'_>,
        streams: &mut [Stream],
        mut past: Item,
    ) -> Result<()> {
        if self.current > past {
            return Ok(());
        }
        let mut least = Item::MAX;
        for n in &self.required {
            let stream = &mut streams[*n];
            if !stream.finished && stream.current <= past {
                stream.advance(index, cx, past)?;
            }
            if !stream.finished {
                least = least.min(stream.current);
            }
        }
        if self.exclude_only {
            least = past.after();
        } else if least == Item::MAX {
            self.finished = true;
            return Ok(());
        } else {
            let before = match least.is_lossy() {
                true => Item::start_of(least.block()),
                false => least.before(),
            };
            past = past.max(before);
        }
        for n in &self.additional {
            let stream = &mut streams[*n];
            if !stream.finished && stream.current <= past {
                stream.advance(index, cx, past)?;
            }
            if !stream.finished {
                // Less only if `least` stands for its whole block.
                least = least.min(stream.current);
            }
        }
        self.check(index, streams, least)
    }

    /// Determines whether the row of an item, which no stream has passed, satisfies the condition.
    fn check(&mut self, index: &GinIndex, streams: &[Stream], item: Item) -> Result<()> {
        let own = &index.schema.columns[self.column];
        let whole = Item::lossy(item.block());
        let mut present = std::mem::take(&mut self.present);
        self.current = item;
        let users = self.query.keys.len();
        let mut lossy = false;
        for (n, stream) in self.streams.iter().map(|s| &streams[*s]).enumerate() {
            let is_lossy = !stream.finished && stream.current == whole;
            lossy |= is_lossy;
            present[n] = match is_lossy {
                false => Ternary::False,
                true if n < users => Ternary::Maybe,
                true => Ternary::True,
            };
        }
        if lossy && self.test(own, &present)? != Ternary::False {
            // Rows of the block may satisfy the condition by the lossy streams alone.
            (self.current, self.matches, self.recheck) = (whole, true, true);
            self.present = present;
            return Ok(());
        }
        for (n, stream) in self.streams.iter().map(|s| &streams[*s]).enumerate() {
            present[n] = match stream.finished {
                true => Ternary::False,
                false if stream.current == whole => Ternary::Maybe,
                false => Ternary::from(stream.current == item),
            };
        }
        let result = self.test(own, &present)?;
        self.matches = result != Ternary::False;
        self.recheck = result == Ternary::Maybe;
        self.present = present;
        Ok(())
    }
}
