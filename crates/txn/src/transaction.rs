//! One session's transaction. Counterpart: xact.c, combocid.c.

use crate::{GlobalVis, HorizonKind, MultiXactMember, MultiXactStatus, TxnManager};
use ids::{CommandId, MultiXid, SubXactId, Xid};
use pgerror::Result;

/// Owned by the session. Heap and index code reads it (`&`) for visibility and changes it (`&mut`)
/// where an xid, a combo command id or a multixact is made.
pub struct Transaction {
    _private: (),
}

impl Transaction {
    pub fn manager(&self) -> &TxnManager {
        todo!()
    }

    /// Is `xid` this transaction or one of its live or committed subtransactions?
    /// Counterpart: `TransactionIdIsCurrentTransactionId`.
    pub fn is_current(&self, _xid: Xid) -> bool {
        todo!()
    }

    /// Id of the current (sub)transaction, assigned now if it has none.
    /// Counterpart: `GetCurrentTransactionId`.
    pub fn current_xid(&mut self) -> Result<Xid> {
        todo!()
    }

    /// Invalid if none is assigned.
    pub fn current_xid_if_any(&self) -> Xid {
        todo!()
    }

    /// Id of the top-level transaction, invalid if none is assigned.
    pub fn top_xid_if_any(&self) -> Xid {
        todo!()
    }

    pub fn current_subxact(&self) -> SubXactId {
        todo!()
    }

    /// Number of the command that runs; `used` marks it as having written something.
    /// Counterpart: `GetCurrentCommandId`.
    pub fn current_command(&mut self, _used: bool) -> CommandId {
        todo!()
    }

    /// The command id to store in a tuple's `t_cid` for a delete by `cmax`, and whether it is a combo
    /// id, given the tuple's raw command id and whether we inserted it ourselves.
    /// Counterpart: `HeapTupleHeaderAdjustCmax`.
    pub fn combo_cid(&mut self, _cmin: CommandId, _cmax: CommandId) -> Result<CommandId> {
        todo!()
    }

    /// The real cmin behind a combo id of this transaction.
    pub fn combo_cmin(&self, _combo: CommandId) -> CommandId {
        todo!()
    }

    /// The real cmax behind a combo id of this transaction.
    pub fn combo_cmax(&self, _combo: CommandId) -> CommandId {
        todo!()
    }

    /// Promises that no multixact this transaction becomes a member of is older than now; call before
    /// creating or joining one. Counterpart: `MultiXactIdSetOldestMember`.
    pub fn set_oldest_multixact_member(&mut self) {
        todo!()
    }

    /// Counterpart: `MultiXactIdCreate`; duplicates must not be among the members.
    pub fn multixact_create(&mut self, _members: &[MultiXactMember]) -> Result<MultiXid> {
        todo!()
    }

    /// A multixact of `multi`'s living members and `xid`. Counterpart: `MultiXactIdExpand`.
    pub fn multixact_expand(
        &mut self,
        _multi: MultiXid,
        _xid: Xid,
        _status: MultiXactStatus,
    ) -> Result<MultiXid> {
        todo!()
    }

    /// Bounds for pruning relations of that kind. Counterpart: `GlobalVisTestFor`.
    pub fn global_vis(&self, _kind: HorizonKind) -> GlobalVis {
        todo!()
    }
}
