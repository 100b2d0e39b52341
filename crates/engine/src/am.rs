//! The index access methods: PostgreSQL's six and those of extensions, by the handler function
//! that a row of `pg_am` names. An index type is registered by its row here, and by that of its
//! resource manager in `rmgr`.
//!
//! The methods that are not implemented have rows too, because PostgreSQL's checks of commands on
//! them come first, and catalog functions report their properties.
//!
//! Counterpart: the handlers `bthandler`, `hashhandler`, `gisthandler`, `ginhandler`, `spghandler`,
//! `brinhandler`.

use access::{AmState, Capabilities, CostModel, IndexAm, MethodInfo, OptionKind, StorageOption};
use ids::Oid;
use pgerror::{PgError, Result};
use vfs::Random;

/// An access method.
pub struct Method {
    /// `pg_proc.prosrc` of the handler function.
    pub handler: &'static str,
    pub info: &'static MethodInfo,
    /// `None` if the method is not implemented.
    pub am: Option<&'static dyn IndexAm>,
}

/// All methods.
pub static METHODS: &[Method] = &[
    Method { handler: "bthandler", info: &btree::INFO, am: Some(&btree::BTree) },
    Method { handler: "hashhandler", info: &hash::INFO, am: Some(&hash::Hash) },
    Method { handler: "gisthandler", info: &gist::INFO, am: Some(&gist::Gist) },
    Method { handler: "ginhandler", info: &gin::INFO, am: Some(&gin::Gin) },
    Method { handler: "spghandler", info: &SPGIST, am: None },
    Method { handler: "brinhandler", info: &BRIN, am: None },
    Method { handler: "blhandler", info: &bloom::INFO, am: Some(&bloom::Bloom) },
];

/// The built-in method with this `pg_am.oid`.
pub fn by_oid(oid: Oid) -> Option<&'static Method> {
    METHODS.iter().find(|m| m.info.oid == oid && oid.is_valid())
}

/// The method whose handler function has this `pg_proc.prosrc`.
pub fn by_handler(prosrc: &str) -> Option<&'static Method> {
    METHODS.iter().find(|m| m.handler == prosrc)
}

/// The states of the implemented methods in one instance, in the order of [`METHODS`].
pub struct AmStates(Vec<Option<AmState>>);

impl AmStates {
    pub(crate) fn new(random: &dyn Random) -> AmStates {
        let state = |m: &Method| m.am.map(|am| am.new_state(random.u64()));
        AmStates(METHODS.iter().map(state).collect())
    }

    pub(crate) fn of(&self, am: &dyn IndexAm) -> Result<&AmState> {
        let at = METHODS.iter().position(|m| m.info.name == am.info().name);
        let state = at.and_then(|at| self.0[at].as_ref());
        state.ok_or_else(|| PgError::internal("an access method that is not registered"))
    }
}

const fn bool_option(name: &'static str) -> StorageOption {
    StorageOption { name, kind: OptionKind::Bool }
}

const fn int_option(name: &'static str, min: i64, max: i64) -> StorageOption {
    StorageOption { name, kind: OptionKind::Int(min, max) }
}

const FILLFACTOR: StorageOption = int_option("fillfactor", 10, 100);

/// A method without support functions that index operations use.
const fn method(
    oid: u32,
    name: &'static str,
    capabilities: Capabilities,
    options: &'static [StorageOption],
) -> MethodInfo {
    MethodInfo {
        oid: Oid(oid),
        name,
        capabilities,
        key_type: Oid::INVALID,
        options,
        support: &[],
        cost: CostModel::Hash,
        build_phases: &[],
    }
}

static SPGIST: MethodInfo = method(
    4000,
    "spgist",
    Capabilities {
        ordered_by_operator: true,
        optional_key: true,
        search_nulls: true,
        include: true,
        plain_scan: true,
        bitmap_scan: true,
        lossy: true,
        exclude: true,
        ..Capabilities::NONE
    },
    &[FILLFACTOR],
);

static BRIN: MethodInfo = method(
    3580,
    "brin",
    Capabilities {
        multicolumn: true,
        optional_key: true,
        search_nulls: true,
        bitmap_scan: true,
        lossy: true,
        ..Capabilities::NONE
    },
    &[int_option("pages_per_range", 1, 131_072), bool_option("autosummarize")],
);
