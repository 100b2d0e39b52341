//! Conditions of a scan: which tuples match, when the scan may end, and where it starts.
//!
//! Counterpart: `_bt_preprocess_keys` and `_bt_checkkeys` in nbtutils.c, the first half of
//! `_bt_first` in nbtsearch.c.

use crate::key::{InsertKey, KeyValue};
use crate::schema::KeySchema;
use access::strategy::btree;
use access::{Direction, RowMember, ScanKey, StrategyNumber, SupportFunction};
use page::index_tuple::IndexTuple;
use pgerror::{PgError, Result};
use smallvec::SmallVec;
use std::cmp::Ordering;
use types::compare::Comparer;
use types::{Datum, DatumRef};

/// A B-tree operator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum ScanOp {
    Less,
    LessEqual,
    Equal,
    GreaterEqual,
    Greater,
}

impl ScanOp {
    /// The operator with this strategy number.
    pub(crate) fn of(strategy: StrategyNumber) -> Result<ScanOp> {
        Ok(match strategy {
            btree::LESS => ScanOp::Less,
            btree::LESS_EQUAL => ScanOp::LessEqual,
            btree::EQUAL => ScanOp::Equal,
            btree::GREATER_EQUAL => ScanOp::GreaterEqual,
            btree::GREATER => ScanOp::Greater,
            StrategyNumber(n) => return Err(PgError::internal(format!("B-tree strategy {n}"))),
        })
    }

    fn commute(self) -> ScanOp {
        match self {
            ScanOp::Less => ScanOp::Greater,
            ScanOp::LessEqual => ScanOp::GreaterEqual,
            ScanOp::Equal => ScanOp::Equal,
            ScanOp::GreaterEqual => ScanOp::LessEqual,
            ScanOp::Greater => ScanOp::Less,
        }
    }

    /// True if the operator holds when `ord` is the order of the condition's value relative to the
    /// stored one.
    #[inline]
    fn holds(self, ord: Ordering) -> bool {
        match self {
            ScanOp::Less => ord == Ordering::Greater,
            ScanOp::LessEqual => ord != Ordering::Less,
            ScanOp::Equal => ord == Ordering::Equal,
            ScanOp::GreaterEqual => ord != Ordering::Greater,
            ScanOp::Greater => ord == Ordering::Less,
        }
    }

    fn is_upper(self) -> bool {
        self <= ScanOp::Equal
    }

    fn is_lower(self) -> bool {
        self >= ScanOp::Equal
    }
}

#[derive(Clone, Debug)]
enum Test {
    /// The operator is commuted for a DESC column, so that it refers to the index order.
    Op(ScanOp, Datum, Option<Comparer>),
    Null,
    NotNull,
    /// The current element of array number `usize`.
    Element(usize, Option<Comparer>),
    Row(ScanOp, Vec<RowMember>),
}

#[derive(Clone, Debug)]
struct Qual {
    column: usize,
    /// Index of the condition in the caller's list.
    source: usize,
    test: Test,
    /// A tuple that fails ends a scan in this direction.
    required_forward: bool,
    required_backward: bool,
}

/// The values of one `= ANY`, sorted in index order, and the index of the current one.
#[derive(Clone, Debug)]
struct Array {
    values: Vec<Datum>,
    at: usize,
}

/// The preprocessed conditions.
#[derive(Clone, Debug)]
pub(crate) struct Quals {
    quals: Vec<Qual>,
    arrays: Vec<Array>,
    /// Nothing can match.
    pub contradictory: bool,
    /// The only condition is that the first column equals this number, and the column can be
    /// compared without a function call.
    point: Option<i64>,
}

/// Where a scan starts.
#[expect(clippy::large_enum_variant, reason = "lives on the stack for the length of a descent")]
pub(crate) enum Start<'a> {
    /// At the first (last) item of the index.
    End,
    /// At the key's position, or with `go_back` at the item before it.
    At { key: InsertKey<'a>, go_back: bool },
}

impl Quals {
    pub(crate) fn new(schema: &KeySchema, keys: Vec<ScanKey>) -> Result<Quals> {
        let mut q =
            Quals { quals: Vec::new(), arrays: Vec::new(), contradictory: false, point: None };
        q.replace(schema, keys)?;
        Ok(q)
    }

    /// Replaces the conditions; reuses the memory.
    pub(crate) fn replace(&mut self, schema: &KeySchema, keys: Vec<ScanKey>) -> Result<()> {
        self.quals.clear();
        self.arrays.clear();
        self.contradictory = false;
        self.quals.reserve(keys.len());
        for (source, key) in keys.into_iter().enumerate() {
            self.add(schema, source, key)?;
        }
        self.quals.sort_by_key(|q| q.column);
        self.mark_required(schema);
        self.find_point(schema);
        Ok(())
    }

    fn find_point(&mut self, schema: &KeySchema) {
        self.point = match &self.quals[..] {
            [Qual { column: 0, test: Test::Op(ScanOp::Equal, value, cmp), .. }] => {
                schema.first_number(value.as_ref(), cmp.as_ref())
            }
            _ => None,
        };
    }

    fn add(&mut self, schema: &KeySchema, source: usize, key: ScanKey) -> Result<()> {
        let (column, test) = match key {
            ScanKey::Compare { column, strategy, value, support } => {
                self.contradictory |= value.is_null();
                let op = ScanOp::of(strategy)?;
                let cmp = comparer(support)?;
                let op = if schema.columns[column].desc { op.commute() } else { op };
                (column, Test::Op(op, value, cmp))
            }
            ScanKey::IsNull { column } => (column, Test::Null),
            ScanKey::IsNotNull { column } => (column, Test::NotNull),
            ScanKey::Any { column, mut values, support, order } => {
                let cmp = comparer(support)?;
                values.retain(|v| !v.is_null());
                let col = &schema.columns[column];
                let own = order.as_ref().unwrap_or(&col.cmp);
                let order = |a: &Datum, b: &Datum| {
                    let ord = own.order(a.as_ref(), b.as_ref(), col.collation);
                    if col.desc { ord.reverse() } else { ord }
                };
                values.sort_by(order);
                values.dedup_by(|a, b| order(a, b) == Ordering::Equal);
                self.contradictory |= values.is_empty();
                self.arrays.push(Array { values, at: 0 });
                (column, Test::Element(self.arrays.len() - 1, cmp))
            }
            ScanKey::Row { strategy, members } => {
                let op = ScanOp::of(strategy)?;
                let Some(first) = members.first() else { return Ok(()) };
                self.contradictory |= first.value.is_null();
                (first.column, Test::Row(op, members))
            }
        };
        let q = Qual { column, source, test, required_forward: false, required_backward: false };
        self.quals.push(q);
        Ok(())
    }

    /// Marks conditions as required: those whose failure ends the scan. If all columns before a
    /// condition's own are fixed by equality, that column is ordered within the scan's range, so
    /// once the condition fails at its end no later tuple satisfies it.
    fn mark_required(&mut self, schema: &KeySchema) {
        let mut equal_upto = 0;
        loop {
            let mut advanced = false;
            for q in self.quals.iter_mut().filter(|q| q.column == equal_upto) {
                let (upper, lower) = match &q.test {
                    Test::Op(op, ..) => (op.is_upper(), op.is_lower()),
                    Test::Null | Test::Element(..) => (true, true),
                    Test::NotNull => {
                        let first = schema.columns[q.column].nulls_first;
                        (!first, first)
                    }
                    Test::Row(op, _) => {
                        let desc = schema.columns[q.column].desc;
                        let op = if desc { op.commute() } else { *op };
                        (op.is_upper(), op.is_lower())
                    }
                };
                q.required_forward = upper;
                q.required_backward = lower;
                let equal = match &q.test {
                    Test::Op(op, ..) => *op == ScanOp::Equal,
                    Test::Null | Test::Element(..) => true,
                    _ => false,
                };
                advanced |= equal;
            }
            if !advanced || equal_upto + 1 >= schema.key_count {
                return;
            }
            equal_upto += 1;
        }
    }

    /// Replaces the values of plain comparisons: `values[n]` is for condition number `n`.
    pub(crate) fn set_values(&mut self, schema: &KeySchema, values: &[DatumRef<'_>]) {
        self.contradictory = self.arrays.iter().any(|a| a.values.is_empty());
        for q in &mut self.quals {
            match &mut q.test {
                Test::Op(_, value, _) => {
                    match (values.get(q.source), &mut *value) {
                        (None, _) => {}
                        (Some(DatumRef::Bytes(new)), Datum::Bytes(old))
                            if old.len() == new.len() =>
                        {
                            old.copy_from_slice(new);
                        }
                        (Some(new), _) => *value = DatumRef::to_owned(*new),
                    }
                    self.contradictory |= value.is_null();
                }
                Test::Row(_, members) => self.contradictory |= members[0].value.is_null(),
                Test::Null | Test::NotNull | Test::Element(..) => {}
            }
        }
        self.find_point(schema);
    }

    /// Starts with the first combination of array elements. Counterpart: `_bt_start_array_keys`.
    pub(crate) fn start_arrays(&mut self, dir: Direction) {
        for a in &mut self.arrays {
            a.at = match dir {
                Direction::Forward => 0,
                Direction::Backward => a.values.len().saturating_sub(1),
            };
        }
    }

    pub(crate) fn array_positions(&self) -> SmallVec<[usize; 2]> {
        self.arrays.iter().map(|a| a.at).collect()
    }

    pub(crate) fn set_array_positions(&mut self, at: &[usize]) {
        for (a, &p) in self.arrays.iter_mut().zip(at) {
            a.at = p;
        }
    }

    /// Advances to the next combination in index order; `false` after the last.
    /// Counterpart: `_bt_advance_array_keys`.
    pub(crate) fn advance_arrays(&mut self, dir: Direction) -> bool {
        // The last column varies fastest.
        let order: SmallVec<[usize; 4]> = self
            .quals
            .iter()
            .rev()
            .filter_map(|q| if let Test::Element(a, _) = q.test { Some(a) } else { None })
            .collect();
        for a in order {
            let array = &mut self.arrays[a];
            match dir {
                Direction::Forward if array.at + 1 < array.values.len() => {
                    array.at += 1;
                    return true;
                }
                Direction::Forward => array.at = 0,
                Direction::Backward if array.at > 0 => {
                    array.at -= 1;
                    return true;
                }
                Direction::Backward => array.at = array.values.len().saturating_sub(1),
            }
        }
        false
    }

    fn element(&self, array: usize) -> DatumRef<'_> {
        let a = &self.arrays[array];
        a.values[a.at].as_ref()
    }

    /// True if the tuple satisfies all conditions. It has `natts` columns; conditions on others
    /// count as satisfied. Clears `go_on` if no later tuple in this direction can satisfy them.
    pub(crate) fn check(
        &self,
        schema: &KeySchema,
        tuple: IndexTuple<'_>,
        natts: usize,
        dir: Direction,
        go_on: &mut bool,
    ) -> Result<bool> {
        if let Some(number) = self.point
            && let Some(found) = schema.first_of(tuple)
        {
            *go_on &= found == number;
            return Ok(found == number);
        }
        for q in &self.quals {
            if q.column >= natts {
                continue;
            }
            let required = match dir {
                Direction::Forward => q.required_forward,
                Direction::Backward => q.required_backward,
            };
            let raw = tuple.attr(schema.shape(), q.column);
            let (op, value, cmp) = match &q.test {
                Test::Op(op, value, cmp) => (*op, value.as_ref(), cmp.as_ref()),
                Test::Element(a, cmp) => (ScanOp::Equal, self.element(*a), cmp.as_ref()),
                Test::Null if raw.is_none() => continue,
                Test::NotNull if raw.is_some() => continue,
                Test::Null | Test::NotNull => {
                    *go_on &= !required;
                    return Ok(false);
                }
                Test::Row(op, members) => {
                    let (ok, decisive) = row_check(schema, *op, members, tuple, natts)?;
                    if ok {
                        continue;
                    }
                    *go_on &= !(required && decisive);
                    return Ok(false);
                }
            };
            if raw.is_none() {
                // In this direction NULLs are last, so all later values are NULL too.
                let nulls_first = schema.columns[q.column].nulls_first;
                let at_end = nulls_first == (dir == Direction::Backward);
                if at_end && (q.required_forward || q.required_backward) {
                    *go_on = false;
                }
                return Ok(false);
            }
            if !op.holds(schema.compare_value(q.column, value, raw, cmp)?) {
                *go_on &= !required;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The key where a scan in this direction begins. Counterpart: the choice in `_bt_first`.
    pub(crate) fn start(&self, schema: &KeySchema, dir: Direction) -> Start<'_> {
        let forward = dir == Direction::Forward;
        let mut values: SmallVec<[KeyValue<'_>; 4]> = SmallVec::new();
        let mut cmps = SmallVec::new();
        if self.point.is_some()
            && let Some(Qual { test: Test::Op(_, value, _), .. }) = self.quals.first()
        {
            values.push(KeyValue::Ref(value.as_ref()));
            let key = InsertKey::of_values(schema, values, cmps, !forward);
            return Start::At { key, go_back: !forward };
        }
        let mut total = ScanOp::Equal;
        for column in 0..schema.key_count {
            // The bound on the side where the scan starts; an equality is the tightest one.
            let mut best: Option<(ScanOp, DatumRef<'_>, Option<&Comparer>)> = None;
            let mut implies_not_null = false;
            let mut best_row = None;
            for q in self.quals.iter().filter(|q| q.column == column) {
                let (op, value, cmp) = match &q.test {
                    Test::Op(op, value, cmp) => (*op, value.as_ref(), cmp.as_ref()),
                    Test::Element(a, cmp) => (ScanOp::Equal, self.element(*a), cmp.as_ref()),
                    Test::Null => (ScanOp::Equal, DatumRef::Null, None),
                    Test::NotNull => {
                        implies_not_null = true;
                        continue;
                    }
                    Test::Row(op, members) => {
                        // The first member alone does not bound the start strictly.
                        let desc = schema.columns[column].desc;
                        let op = if desc { op.commute() } else { *op };
                        let op = match op {
                            ScanOp::Less => ScanOp::LessEqual,
                            ScanOp::Greater => ScanOp::GreaterEqual,
                            // Equality of all members implies equality of the first.
                            other => other,
                        };
                        (op, members[0].value.as_ref(), members[0].cmp.as_ref())
                    }
                };
                implies_not_null |= !value.is_null();
                let useful = if forward { op.is_lower() } else { op.is_upper() };
                if !useful {
                    continue;
                }
                let better = match best {
                    None => true,
                    Some((ScanOp::Equal, ..)) => false,
                    Some(_) if op == ScanOp::Equal => true,
                    Some((old, old_value, old_cmp)) => tighter(
                        schema,
                        column,
                        forward,
                        (op, value, cmp),
                        (old, old_value, old_cmp),
                    ),
                };
                if better {
                    best = Some((op, value, cmp));
                    best_row = match &q.test {
                        Test::Row(op, members) => Some((*op, members)),
                        _ => None,
                    };
                }
            }
            if best.is_none() && implies_not_null {
                // Skips the NULLs at the side where the scan starts.
                let first = schema.columns[column].nulls_first;
                if first == forward {
                    let op = if forward { ScanOp::Greater } else { ScanOp::Less };
                    best = Some((op, DatumRef::Null, None));
                }
            }
            let Some((op, value, cmp)) = best else { break };
            values.push(KeyValue::Ref(value));
            cmps.push(cmp.cloned());
            total = op;
            if let Some((op, members)) = best_row {
                let more = following_members(schema, members);
                values.extend(more.iter().map(|m| KeyValue::Ref(m.value.as_ref())));
                cmps.extend(more.iter().map(|m| m.cmp.clone()));
                if more.len() + 1 == members.len() {
                    let desc = schema.columns[column].desc;
                    total = if desc { op.commute() } else { op };
                }
                break;
            }
            if op != ScanOp::Equal {
                break;
            }
        }
        if values.is_empty() {
            return Start::End;
        }
        let (next_key, go_back) = match total {
            ScanOp::Less => (false, true),
            ScanOp::LessEqual => (true, true),
            ScanOp::Equal => (!forward, !forward),
            ScanOp::GreaterEqual => (false, false),
            ScanOp::Greater => (true, false),
        };
        Start::At { key: InsertKey::of_values(schema, values, cmps, next_key), go_back }
    }
}

/// The comparison for a value of another type.
fn comparer(support: Option<SupportFunction>) -> Result<Option<Comparer>> {
    match support {
        None => Ok(None),
        Some(SupportFunction::Compare(cmp)) => Ok(Some(cmp)),
        Some(_) => Err(PgError::internal("a B-tree scan needs a comparison function")),
    }
}

/// The members of a row comparison after the first one that follow the index order: on consecutive
/// columns, of the same direction, and not NULL.
fn following_members<'a>(schema: &KeySchema, members: &'a [RowMember]) -> &'a [RowMember] {
    let Some((first, rest)) = members.split_first() else { return &[] };
    let follows = |(i, m): (usize, &RowMember)| {
        m.column == first.column + i + 1
            && schema.columns[m.column].desc == schema.columns[first.column].desc
            && !m.value.is_null()
    };
    let count = rest.iter().enumerate().take_while(|at| follows(*at)).count();
    &rest[..count]
}

/// True if `new` is the tighter of two bounds on the same side. Values of different types are not
/// compared: then `old` is used, since either one is correct.
fn tighter(
    schema: &KeySchema,
    column: usize,
    forward: bool,
    new: (ScanOp, DatumRef<'_>, Option<&Comparer>),
    old: (ScanOp, DatumRef<'_>, Option<&Comparer>),
) -> bool {
    if new.2.is_some() || old.2.is_some() || new.1.is_null() || old.1.is_null() {
        return false;
    }
    let col = &schema.columns[column];
    let ord = col.cmp.order(new.1, old.1, col.collation);
    let ord = if col.desc { ord.reverse() } else { ord };
    let strict = matches!(new.0, ScanOp::Less | ScanOp::Greater);
    match ord {
        Ordering::Equal => strict,
        Ordering::Greater => forward,
        Ordering::Less => !forward,
    }
}

/// Lexicographic comparison. The second result: if the comparison fails, does it fail for all
/// later tuples too?
fn row_check(
    schema: &KeySchema,
    op: ScanOp,
    members: &[RowMember],
    tuple: IndexTuple<'_>,
    natts: usize,
) -> Result<(bool, bool)> {
    let desc = schema.columns[members[0].column].desc;
    let mut decisive = true;
    for (i, m) in members.iter().enumerate() {
        if m.column >= natts {
            return Ok((true, false));
        }
        // The row order is the index order as long as the columns are consecutive and have the same
        // direction.
        decisive &= m.column == members[0].column + i && schema.columns[m.column].desc == desc;
        let raw = tuple.attr(schema.shape(), m.column);
        if raw.is_none() || m.value.is_null() {
            return Ok((false, false));
        }
        let ord = schema.compare_value(m.column, m.value.as_ref(), raw, m.cmp.as_ref())?;
        if ord != Ordering::Equal {
            let ord = if schema.columns[m.column].desc { ord.reverse() } else { ord };
            return Ok((op.holds(ord), decisive));
        }
    }
    Ok((op.holds(Ordering::Equal), decisive))
}
