//! Evaluation by row and evaluation by batch give the same values and the same errors.
//!
//! The expressions are random, from a fixed seed. For each of them, every row of a batch is
//! evaluated alone; then the batch is evaluated as a whole, without the rows that fail, and with
//! one of those: the batch must return the same values, and must raise exactly the error of the
//! failing row.

mod facts;
mod generate;
mod host;

/// The items of this crate that the catalog of the tests uses.
mod api {
    pub(super) use crate::facts::{Callee, DomainCheck, Facts, FnFacts, TypeIo};
    pub(super) use crate::kernels;
    pub(super) use crate::window::WindowKind;
}

use crate::compile::{Compiler, Resolve};
use crate::program::{EvalState, Program, Slot, Source};
use crate::row::{RowInput, RowRef, Val};
use crate::{select_into, select_true};
use facts::TableFacts;
use generate::Generator;
use host::TestHost;
use ids::Oid;
use pgerror::{PgError, Result};
use plan::Expr;
use plan::expr::Var;
use types::{Batch, Datum, DatumRef, oids};

/// Column `n` of the input has the attribute number `n + 1`.
struct InputColumns;

impl Resolve for InputColumns {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        Ok(Slot { source: Source::Scan, column: var.varattno as usize - 1 })
    }
}

/// Prints an expression if a check of it fails or a function panics.
struct Shown<'a> {
    number: usize,
    exprs: &'a [Expr],
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("expression {}: {:#?}", self.number, self.exprs);
        }
    }
}

/// The parts of an error that a client receives.
fn shown(error: &PgError) -> String {
    let fields = error.fields();
    format!("{}: {} {:?} {:?}", fields.code, fields.message, fields.detail, fields.hint)
}

/// The result; an error is reduced to the parts that a client receives.
fn comparable<T>(result: Result<T>) -> std::result::Result<T, String> {
    result.map_err(|e| shown(&e))
}

type RowResult = std::result::Result<Datum, String>;

struct Check<'a> {
    batch: &'a Batch,
    parameters: (&'a [Datum], &'a [Datum]),
}

impl Check<'_> {
    /// A host in the state at the start of a statement.
    fn host(&self) -> TestHost {
        let (externs, execs) = self.parameters;
        TestHost { externs: externs.to_vec(), execs: execs.to_vec(), ..TestHost::default() }
    }

    /// The value of each row. With `stop`, evaluation ends at the first error, as in a statement.
    fn by_row(&self, program: &Program, stop: bool) -> Vec<RowResult> {
        let (mut host, mut state) = (self.host(), EvalState::default());
        let mut out = Vec::new();
        for row in 0..self.batch.len {
            let input = RowInput::scan(RowRef::Batch(self.batch, row));
            let value = program.eval_row(&mut state, &mut host, &input).map(Val::into_owned);
            out.push(comparable(value));
            if stop && out.last().is_some_and(|r| r.is_err()) {
                break;
            }
        }
        out
    }

    fn by_batch(
        &self,
        program: &Program,
        rows: Option<&[u16]>,
    ) -> std::result::Result<Vec<Datum>, String> {
        let (mut host, mut state) = (self.host(), EvalState::default());
        let column = program.eval_batch(&mut state, &mut host, self.batch, rows);
        let values = column.map(|c| (0..c.len()).map(|i| c.get(i).to_owned()).collect());
        comparable(values)
    }

    fn selected(
        &self,
        program: &Program,
        rows: Option<&[u16]>,
    ) -> std::result::Result<Vec<u16>, String> {
        let (mut host, mut state) = (self.host(), EvalState::default());
        comparable(select_true(program, &mut state, &mut host, self.batch, rows))
    }

    /// Compares values by row and by batch.
    fn values(&self, program: &Program) -> usize {
        let expected = self.by_row(program, false);
        let all = self.by_batch(program, None);
        let good: Vec<u16> =
            (0..self.batch.len as u16).filter(|r| expected[usize::from(*r)].is_ok()).collect();
        let value = |r: &u16| expected[usize::from(*r)].clone().expect("a good row");
        let good_values: Vec<Datum> = good.iter().map(value).collect();
        if good.len() == self.batch.len {
            assert_eq!(all, Ok(good_values.clone()), "all rows");
        } else {
            let error = all.expect_err("a row fails");
            assert!(expected.contains(&Err(error.clone())), "no row raises {error}");
        }
        assert_eq!(self.by_batch(program, Some(&good)), Ok(good_values), "rows without error");
        let failing = (0..self.batch.len as u16).filter(|r| !good.contains(r)).take(3);
        for row in failing {
            let mut rows = good.clone();
            rows.insert(rows.partition_point(|r| *r < row), row);
            let error = expected[usize::from(row)].clone().expect_err("a failing row");
            assert_eq!(self.by_batch(program, Some(&rows)), Err(error.clone()), "row {row}");
            assert_eq!(self.by_batch(program, Some(&[row])), Err(error), "only row {row}");
        }
        self.batch.len - good.len()
    }

    /// Compares the rows that a condition selects.
    fn selection(&self, program: &Program) {
        let expected = self.by_row(program, false);
        let good: Vec<u16> =
            (0..self.batch.len as u16).filter(|r| expected[usize::from(*r)].is_ok()).collect();
        let holds = |r: &u16| expected[usize::from(*r)] == Ok(Datum::bool(true));
        let want: Vec<u16> = good.iter().copied().filter(holds).collect();
        assert_eq!(self.selected(program, Some(&good)), Ok(want.clone()), "rows without error");
        let failing: Vec<u16> = (0..self.batch.len as u16).filter(|r| !good.contains(r)).collect();
        if failing.is_empty() {
            assert_eq!(self.selected(program, None), Ok(want.clone()), "all rows");
            let (mut host, mut state, mut rows) = (self.host(), EvalState::default(), vec![7]);
            select_into(program, &mut state, &mut host, self.batch, &mut rows)
                .expect("a condition without errors");
            assert_eq!(rows, want, "all rows, into a vector");
        }
        for row in failing.into_iter().take(2) {
            let mut rows = good.clone();
            rows.insert(rows.partition_point(|r| *r < row), row);
            let error = expected[usize::from(row)].clone().expect_err("a failing row");
            assert_eq!(self.selected(program, Some(&rows)), Err(error), "row {row}");
        }
    }

    /// Compares values of an expression with side effects: they must occur in the order of rows. If
    /// a row fails, the batch fails too; it may raise the error of another row.
    fn ordered_values(&self, program: &Program) {
        let by_batch = self.by_batch(program, None);
        match self.by_row(program, true).into_iter().collect::<std::result::Result<Vec<_>, _>>() {
            Ok(expected) => assert_eq!(by_batch, Ok(expected)),
            Err(_) => assert!(by_batch.is_err(), "a row fails, but not the batch"),
        }
    }

    /// As [`Self::ordered_values`], for the rows that a condition selects.
    fn ordered_selection(&self, program: &Program) {
        let selected = self.selected(program, None);
        match self.by_row(program, true).into_iter().collect::<std::result::Result<Vec<_>, _>>() {
            Ok(values) => {
                let holds = |(i, v): (usize, &Datum)| (*v == Datum::bool(true)).then_some(i as u16);
                let expected: Vec<u16> = values.iter().enumerate().filter_map(holds).collect();
                assert_eq!(selected, Ok(expected));
            }
            Err(_) => assert!(selected.is_err(), "a row fails, but not the batch"),
        }
    }
}

/// A batch of random rows whose columns have these types.
fn random_batch(generator: &mut Generator, types: &[Oid], rows: usize) -> Batch {
    let by_val = |t: &Oid| facts::type_info(*t).expect("a built-in type").by_val;
    let mut batch = Batch::new(types.iter().map(by_val));
    for _ in 0..rows {
        let values: Vec<Datum> = types.iter().map(|t| generator.value(*t)).collect();
        let refs: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
        batch.push_row(&refs);
    }
    batch
}

fn some_columns(generator: &mut Generator) -> Vec<Oid> {
    let mut types = vec![oids::BOOL, oids::INT4, oids::INT8, oids::TEXT, oids::NUMERIC];
    types.extend([oids::FLOAT8, oids::INT4, oids::INT4_ARRAY, oids::TEXT]);
    types.extend((0..4).map(|_| generator.some_type()));
    types
}

/// Runs `check` for random batches until `expressions` expressions were compiled.
fn each_batch(
    seed: u64,
    expressions: usize,
    mut check: impl FnMut(&mut Generator, &mut TableFacts, &Check<'_>, usize) -> bool,
) {
    const PER_BATCH: usize = 25;
    let mut facts = TableFacts::new();
    let mut generator = Generator::new(&facts, seed);
    let (mut done, mut failures) = (0, Vec::new());
    while done < expressions {
        let types = some_columns(&mut generator);
        // Below and above the number of rows from which CASE is evaluated by column.
        let rows = 1 + generator.rng.below(24);
        let batch = random_batch(&mut generator, &types, rows);
        generator.columns = types;
        let (externs, execs) = (generator.parameters(), generator.parameters());
        let checker = Check { batch: &batch, parameters: (&externs, &execs) };
        for _ in 0..PER_BATCH {
            let run = || check(&mut generator, &mut facts, &checker, done);
            match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
                Ok(compiled) => done += usize::from(compiled),
                Err(_) => {
                    done += 1;
                    failures.push(done);
                }
            }
        }
        if failures.len() > 25 {
            break;
        }
    }
    assert!(failures.is_empty(), "wrong expressions: {failures:?}");
}

fn compiled(facts: &mut TableFacts, expr: &Expr) -> Option<Program> {
    Compiler::new(facts, &mut InputColumns).compile(expr).ok()
}

fn compiled_all(facts: &mut TableFacts, quals: &[Expr]) -> Option<Program> {
    Compiler::new(facts, &mut InputColumns).compile_all(quals).ok()
}

#[test]
fn values_by_row_and_by_batch_are_equal() {
    let (mut failing, mut rows) = (0, 0);
    each_batch(1, 16_000, |generator, facts, check, done| {
        let (ty, depth) = (generator.some_type(), 1 + generator.rng.below(4) as u32);
        let expr = [generator.expr(ty, depth)];
        let Some(program) = compiled(facts, &expr[0]) else { return false };
        let _shown = Shown { number: done, exprs: &expr };
        failing += check.values(&program);
        rows += check.batch.len;
        true
    });
    // Most rows must be evaluated without an error, but not all of them.
    assert!(failing * 2 < rows, "{failing} of {rows} rows fail");
    assert!(failing * 50 > rows, "{failing} of {rows} rows fail");
}

#[test]
fn conditions_select_equal_rows_by_row_and_by_batch() {
    let (mut selected, mut all) = (0, 0);
    each_batch(2, 8_000, |generator, facts, check, done| {
        // One, two or three conditions; fewer are more likely, so that enough rows are selected.
        let quals: Vec<Expr> = (0..1 + generator.rng.below(5) / 2)
            .map(|_| {
                let depth = 1 + generator.rng.below(4) as u32;
                generator.expr(oids::BOOL, depth)
            })
            .collect();
        let Some(program) = compiled_all(facts, &quals) else { return false };
        let _shown = Shown { number: done, exprs: &quals };
        check.selection(&program);
        selected += check.selected(&program, None).map_or(0, |rows| rows.len());
        all += check.batch.len;
        true
    });
    assert!(selected * 10 > all, "{selected} of {all} rows are selected");
}

/// Values of a sequence are drawn row by row.
#[test]
fn side_effects_occur_in_the_order_of_rows() {
    each_batch(3, 1_000, |generator, facts, check, done| {
        generator.volatile = true;
        let depth = 2 + generator.rng.below(3) as u32;
        let ty = *generator.rng.pick(&[oids::INT8, oids::BOOL, oids::TEXT]);
        let exprs = [generator.expr(ty, depth), generator.expr(oids::BOOL, depth)];
        let Some(value) = compiled(facts, &exprs[0]) else { return false };
        let Some(condition) = compiled_all(facts, &exprs[1..]) else { return false };
        let _shown = Shown { number: done, exprs: &exprs };
        if !format!("{exprs:?}").contains("NextValue") {
            return false;
        }
        check.ordered_values(&value);
        check.ordered_selection(&condition);
        true
    });
}
