//! How the tuples of a full page are divided into pages: by the operator class of the first column;
//! tuples for which its choice is of no importance are divided by the next column.
//!
//! Counterpart: gistsplit.c, `gistSplit` in gist.c.

use crate::schema::{Key, KeyColumn, Schema, with_tid};
use ids::BlockNo;
use page::gist::{ROOM, downlink};
use page::index_tuple::IndexTuple;
use page::item::LINE_POINTER_SIZE;
use pgerror::{PgError, Result, pg_err};
use types::gist::Groups;
use types::{Datum, DatumRef};

/// The contents of one of the pages into which a page is split.
pub(crate) struct Part {
    pub tuples: Vec<Vec<u8>>,
    /// The tuple that its parent gets, without the child's block.
    downlink: Vec<u8>,
}

impl Part {
    /// The downlink to the page at `block`.
    pub(crate) fn downlink_to(&mut self, block: BlockNo) -> Vec<u8> {
        with_tid(std::mem::take(&mut self.downlink), downlink(block))
    }
}

/// Two groups of tuples, by their numbers, and the unions of their keys by column.
#[derive(Default)]
struct Division {
    left: Vec<usize>,
    right: Vec<usize>,
    left_keys: Vec<Datum>,
    right_keys: Vec<Datum>,
}

/// What remains to be done after a column's operator class has divided the tuples.
enum Rest {
    /// Nothing.
    Done,
    /// The division by this column is of no use.
    Again,
    /// These tuples fit either group: they are to be divided by the next column.
    Undecided(Vec<usize>),
}

fn fits(tuples: &[Vec<u8>]) -> bool {
    tuples.iter().map(|t| t.len() + LINE_POINTER_SIZE).sum::<usize>() <= ROOM
}

impl Schema {
    /// Divides tuples into as many pages as they need, at least two. Error: 54000 if one of them
    /// does not fit on a page.
    pub(crate) fn split(&self, tuples: Vec<Vec<u8>>) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        stdx::stack::deep(|| self.split_into(tuples, &mut parts))?;
        Ok(parts)
    }

    fn split_into(&self, tuples: Vec<Vec<u8>>, parts: &mut Vec<Part>) -> Result<()> {
        if let [tuple] = &tuples[..] {
            return Err(pg_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "index row size {} exceeds maximum {ROOM} for index \"{}\"",
                tuple.len(),
                self.name
            ));
        }
        let all: Vec<IndexTuple<'_>> = tuples.iter().map(|t| IndexTuple::new(t)).collect();
        let mut division = Division {
            left_keys: vec![Datum::Null; self.columns.len()],
            right_keys: vec![Datum::Null; self.columns.len()],
            ..Division::default()
        };
        self.divide(&all, &(0..all.len()).collect::<Vec<_>>(), 0, &mut division)?;
        if division.left.is_empty() || division.right.is_empty() {
            return Err(PgError::internal("a split left a page without tuples"));
        }
        for (group, keys) in
            [(division.left, division.left_keys), (division.right, division.right_keys)]
        {
            let own: Vec<Vec<u8>> = group.iter().map(|n| tuples[*n].clone()).collect();
            if fits(&own) {
                let downlink = self.form_inner(&keys, BlockNo(0))?;
                parts.push(Part { tuples: own, downlink });
            } else {
                stdx::stack::deep(|| self.split_into(own, parts))?;
            }
        }
        Ok(())
    }

    /// Divides the tuples with the numbers `own` by a column and those after it. The keys of
    /// `division` are those of tuples that are in their group already. Counterpart:
    /// `gistSplitByKey`.
    fn divide(
        &self,
        all: &[IndexTuple<'_>],
        own: &[usize],
        column: usize,
        division: &mut Division,
    ) -> Result<()> {
        let mut keys = Vec::with_capacity(own.len());
        for n in own {
            keys.push(self.key(all[*n], column)?);
        }
        let is_null = |n: usize| keys[n].value().is_null();
        let nulls = (0..own.len()).filter(|n| is_null(*n)).count();
        let is_last = column + 1 == self.columns.len();
        if nulls == own.len() {
            match is_last {
                true => halve(own, division),
                false => self.divide(all, own, column + 1, division)?,
            }
        } else if nulls > 0 {
            // NULLs are not mixed with other keys.
            division.right = (0..own.len()).filter(|n| is_null(*n)).map(|n| own[n]).collect();
            division.left = (0..own.len()).filter(|n| !is_null(*n)).map(|n| own[n]).collect();
        } else {
            match self.divide_by_class(all, own, column, &keys, division)? {
                Rest::Done => {}
                Rest::Again => {
                    self.divide(all, own, column + 1, division)?;
                }
                Rest::Undecided(rest) => {
                    let (left, right) = (division.left.clone(), division.right.clone());
                    self.divide(all, &rest, column + 1, division)?;
                    division.left.splice(0..0, left);
                    division.right.splice(0..0, right);
                }
            }
            if column > 0 || self.columns.len() == 1 {
                return Ok(());
            }
        }
        // With several columns, and if the operator class has not computed them.
        if column == 0 {
            self.set_unions(all, division)?;
        }
        Ok(())
    }

    /// Computes the keys of both groups.
    fn set_unions(&self, all: &[IndexTuple<'_>], division: &mut Division) -> Result<()> {
        let tuples = |group: &[usize]| group.iter().map(|n| all[*n]).collect::<Vec<_>>();
        division.left_keys = self.unions(&tuples(&division.left))?;
        division.right_keys = self.unions(&tuples(&division.right))?;
        Ok(())
    }

    /// Divides tuples, none of whose keys is NULL, by the operator class of a column. Counterpart:
    /// `gistUserPicksplit`.
    fn divide_by_class(
        &self,
        all: &[IndexTuple<'_>],
        own: &[usize],
        column: usize,
        keys: &[Key<'_>],
        division: &mut Division,
    ) -> Result<Rest> {
        let values: Vec<DatumRef<'_>> = keys.iter().map(Key::value).collect();
        let class = &self.columns[column];
        if own.len() < 2 {
            // One tuple joins the group that it makes least larger.
            (division.left, division.right) = (Vec::new(), Vec::new());
            self.place_one(all, own[0], column, division)?;
            return Ok(Rest::Done);
        }
        let mut groups = (class.pick_split)(&class.column, &values)?;
        if groups.left.is_empty() || groups.right.is_empty() {
            groups = halves(class, &values)?;
        }
        let known =
            (std::mem::take(&mut division.left_keys[column]), division.right_keys[column].clone());
        join_known(class, &mut groups, (known.0.as_ref(), known.1.as_ref()))?;
        let of = |group: &[usize]| group.iter().map(|n| own[*n]).collect::<Vec<_>>();
        (division.left, division.right) = (of(&groups.left), of(&groups.right));
        division.left_keys[column] = groups.left_union.clone();
        division.right_keys[column] = groups.right_union.clone();
        if column + 1 == self.columns.len() {
            return Ok(Rest::Done);
        }
        let (left, right) = (groups.left_union.as_ref(), groups.right_union.as_ref());
        if class.same(left, right)? {
            return Ok(Rest::Again);
        }
        self.undecided(all, (own, &values), column, &groups, division)
    }

    /// Takes the tuples that would fit the other group equally well out of their groups.
    fn undecided(
        &self,
        all: &[IndexTuple<'_>],
        (own, values): (&[usize], &[DatumRef<'_>]),
        column: usize,
        groups: &Groups,
        division: &mut Division,
    ) -> Result<Rest> {
        let class = &self.columns[column];
        let mut free = vec![false; own.len()];
        for (group, other) in
            [(&groups.left, &groups.right_union), (&groups.right, &groups.left_union)]
        {
            for n in group {
                free[*n] = class.penalty(other.as_ref(), values[*n])? == 0.0;
            }
        }
        let rest: Vec<usize> = (0..own.len()).filter(|n| free[*n]).map(|n| own[n]).collect();
        if rest.is_empty() {
            return Ok(Rest::Done);
        }
        division.left.retain(|n| !rest.contains(n));
        division.right.retain(|n| !rest.contains(n));
        if division.left.is_empty() || division.right.is_empty() {
            return Ok(Rest::Again);
        }
        self.set_unions(all, division)?;
        match rest[..] {
            [one] => {
                self.place_one(all, one, column + 1, division)?;
                Ok(Rest::Done)
            }
            _ => Ok(Rest::Undecided(rest)),
        }
    }

    /// Adds a tuple to the group whose keys grow less, from a column on. Counterpart: `placeOne`.
    fn place_one(
        &self,
        all: &[IndexTuple<'_>],
        tuple: usize,
        from: usize,
        division: &mut Division,
    ) -> Result<()> {
        for (n, class) in self.columns.iter().enumerate().skip(from) {
            let key = self.key(all[tuple], n)?;
            let left = class.penalty(division.left_keys[n].as_ref(), key.value())?;
            let right = class.penalty(division.right_keys[n].as_ref(), key.value())?;
            if left != right {
                match left < right {
                    true => division.left.push(tuple),
                    false => division.right.push(tuple),
                }
                return Ok(());
            }
        }
        division.left.push(tuple);
        Ok(())
    }
}

/// Divides tuples whose keys are all NULL.
fn halve(own: &[usize], division: &mut Division) {
    let (left, right) = own.split_at(own.len() / 2);
    (division.left, division.right) = (left.to_vec(), right.to_vec());
}

/// The first and the second half of the keys. Counterpart: `genericPickSplit`.
fn halves(class: &KeyColumn, values: &[DatumRef<'_>]) -> Result<Groups> {
    let middle = values.len() / 2;
    Ok(Groups {
        left: (0..middle).collect(),
        right: (middle..values.len()).collect(),
        left_union: class.union(&values[..middle])?,
        right_union: class.union(&values[middle..])?,
    })
}

/// Joins groups with those of which the keys are known already (NULL: none), so that they grow
/// least: exchanges them if necessary. Counterpart: `supportSecondarySplit`.
fn join_known(
    class: &KeyColumn,
    groups: &mut Groups,
    (left, right): (DatumRef<'_>, DatumRef<'_>),
) -> Result<()> {
    let cost = |known: DatumRef<'_>, group: &Datum| match known {
        DatumRef::Null => Ok(0.0),
        known => class.penalty(known, group.as_ref()),
    };
    if left.is_null() && right.is_null() {
        return Ok(());
    }
    let straight = cost(left, &groups.left_union)? + cost(right, &groups.right_union)?;
    let crossed = cost(left, &groups.right_union)? + cost(right, &groups.left_union)?;
    if straight > crossed {
        std::mem::swap(&mut groups.left, &mut groups.right);
        std::mem::swap(&mut groups.left_union, &mut groups.right_union);
    }
    groups.left_union = class.union_of_two(left, groups.left_union.as_ref())?;
    groups.right_union = class.union_of_two(right, groups.right_union.as_ref())?;
    Ok(())
}
