//! Combo command ids: one number for the pair (cmin, cmax) of a tuple that the same transaction
//! inserted and deleted.
//!
//! Counterpart: combocid.c.

use hashbrown::HashMap;
use ids::CommandId;

#[derive(Default)]
pub(crate) struct ComboCids {
    pairs: Vec<(CommandId, CommandId)>,
    numbers: HashMap<(CommandId, CommandId), CommandId, foldhash::fast::FixedState>,
}

impl ComboCids {
    pub(crate) fn combo(&mut self, cmin: CommandId, cmax: CommandId) -> CommandId {
        *self.numbers.entry((cmin, cmax)).or_insert_with(|| {
            self.pairs.push((cmin, cmax));
            CommandId(self.pairs.len() as u32 - 1)
        })
    }

    pub(crate) fn pair(&self, combo: CommandId) -> Option<(CommandId, CommandId)> {
        self.pairs.get(combo.0 as usize).copied()
    }

    pub(crate) fn clear(&mut self) {
        if !self.pairs.is_empty() {
            self.pairs.clear();
            self.numbers.clear();
        }
    }
}
