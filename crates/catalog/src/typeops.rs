//! The comparison and hash support of types, as `lookup` finds it. Counterpart: `TypeCacheEntry`.

use crate::derived::CatalogState;
use hashbrown::HashMap;
use ids::Oid;

/// Operators and support functions that compare values of a type; 0 where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypeOps {
    pub eq: Oid,
    pub lt: Oid,
    pub gt: Oid,
    /// B-tree support function 1.
    pub cmp: Oid,
    /// Hash support function 1.
    pub hash: Oid,
    pub btree_family: Oid,
    pub btree_input: Oid,
    pub hash_family: Oid,
    pub hash_input: Oid,
}

impl TypeOps {
    pub(crate) fn without_hash(&mut self) {
        (self.hash, self.hash_family) = Default::default();
    }
}

/// The support of types that were looked up, for one state of the catalogs.
#[derive(Default)]
pub(crate) struct KnownTypeOps {
    pub(crate) at: CatalogState,
    pub(crate) known: HashMap<Oid, TypeOps>,
}
