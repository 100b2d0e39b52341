//! TABLESAMPLE: selects the rows of a sample. Counterpart: bernoulli.c, system.c, nodeSamplescan.c.
//!
//! A row (BERNOULLI) or block (SYSTEM) is selected if the hash of its TID or block number and the
//! seed is below a cutoff. So the same seed selects the same rows while the table does not change.

use crate::node::{NoScanColumns, compile};
use crate::run::Run;
use eval::{EvalState, Program, RowInput};
use ids::builtin::proc;
use pgerror::{PgError, Result, bail};
use plan::query::TableSample;
use types::fn_context::SessionContext;
use types::hash::hash_bytes;
use types::{Batch, Datum, DatumRef, lookup};

pub(crate) struct Sample {
    by_block: bool,
    percent: Program,
    repeatable: Option<Program>,
    /// Seed and cutoff, once they are computed.
    chosen: Option<(u32, u64)>,
}

impl Sample {
    pub(crate) fn new(sample: &TableSample, run: &mut Run<'_>) -> Result<Sample> {
        let by_block = match sample.tsmhandler {
            proc::TSM_BERNOULLI_HANDLER => false,
            proc::TSM_SYSTEM_HANDLER => true,
            _ => return Err(PgError::unsupported("TABLESAMPLE with this method")),
        };
        let [percent] = sample.args.as_slice() else {
            return Err(PgError::internal("TABLESAMPLE without its argument"));
        };
        let repeatable = match &sample.repeatable {
            Some(e) => Some(compile(e, &mut NoScanColumns, run)?),
            None => None,
        };
        let percent = compile(percent, &mut NoScanColumns, run)?;
        Ok(Sample { by_block, percent, repeatable, chosen: None })
    }

    /// For a rescan: the arguments are evaluated again.
    pub(crate) fn restart(&mut self) {
        self.chosen = None;
    }

    fn choose(&mut self, run: &mut Run<'_>) -> Result<(u32, u64)> {
        if let Some(c) = self.chosen {
            return Ok(c);
        }
        let mut st = EvalState::default();
        let percent: Datum = self.percent.eval_row(&mut st, run, &RowInput::EMPTY)?.into_owned();
        if percent.is_null() {
            bail!(INVALID_TABLESAMPLE_ARGUMENT, "TABLESAMPLE parameter cannot be null");
        }
        let percent = f64::from(percent.as_ref().as_f32());
        let seed = match &self.repeatable {
            None => (run.random() * 4_294_967_296.0) as u32,
            Some(p) => {
                let mut st = EvalState::default();
                let v: Datum = p.eval_row(&mut st, run, &RowInput::EMPTY)?.into_owned();
                if v.is_null() {
                    bail!(
                        INVALID_TABLESAMPLE_REPEAT,
                        "TABLESAMPLE REPEATABLE parameter cannot be null"
                    );
                }
                let f = lookup("hashfloat8")
                    .and_then(|f| f.scalar())
                    .ok_or_else(|| PgError::internal("hash of float8"))?;
                f(run, &[v.as_ref()])?.as_ref().as_i32() as u32
            }
        };
        if !(0.0..=100.0).contains(&percent) {
            bail!(INVALID_TABLESAMPLE_ARGUMENT, "sample percentage must be between 0 and 100");
        }
        let cutoff = (4_294_967_296.0 * percent / 100.0).round_ties_even() as u64;
        self.chosen = Some((seed, cutoff));
        Ok((seed, cutoff))
    }

    /// The rows of the batch that belong to the sample. The last column of the batch has their TIDs
    /// and is removed.
    pub(crate) fn take(&mut self, run: &mut Run<'_>, mut batch: Batch) -> Result<Batch> {
        let (seed, cutoff) = self.choose(run)?;
        let Some(tids) = batch.columns.pop() else {
            return Err(PgError::internal("sampled rows without TIDs"));
        };
        let mut rows: Vec<u16> = Vec::new();
        for r in 0..batch.len {
            let DatumRef::Bytes(b) = tids.get(r) else { continue };
            let Ok(bytes) = <[u8; 6]>::try_from(b) else { continue };
            let tid = ids::Tid::from_bytes(bytes);
            let mut key = tid.block.0.to_ne_bytes().to_vec();
            if !self.by_block {
                key.extend(u32::from(tid.offset).to_ne_bytes());
            }
            key.extend(seed.to_ne_bytes());
            if u64::from(hash_bytes(&key)) < cutoff {
                rows.push(r as u16);
            }
        }
        Ok(if rows.len() == batch.len { batch } else { batch.gather(&rows) })
    }
}
