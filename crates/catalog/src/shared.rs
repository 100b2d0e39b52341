//! The caches shared by the sessions of a database: rows, lists of rows and relation descriptors.

use crate::builtin::Builtin;
use crate::cache::{Found, Key, Table};
use crate::inval::Message;
use crate::openlocales::OpenLocales;
use crate::orders::EnumOrder;
use crate::reldesc::RelDesc;
use crate::tables::CatalogTable;
use hashbrown::{HashMap, HashSet};
use ids::Oid;
use sync::atomic::{AtomicU64, Ordering};
use sync::{Arc, Mutex, RwLock};

const SHARDS: usize = 64;

/// Cache entries and the number of invalidations applied to them.
#[derive(Default)]
struct Shard {
    entries: Table,
    generation: u64,
}

#[derive(Default)]
struct Relations {
    descs: HashMap<Oid, Arc<RelDesc>, foldhash::fast::RandomState>,
    generation: u64,
}

/// The caches of one database.
pub struct Catalog {
    database: Oid,
    shards: Box<[RwLock<Shard>]>,
    lists: RwLock<Shard>,
    relations: RwLock<Relations>,
    /// Open catalogs, needed to read any of the above.
    opened: RwLock<HashMap<Oid, Arc<CatalogTable>, foldhash::fast::RandomState>>,
    builtin: Arc<Mutex<Option<Arc<Builtin>>>>,
    /// Locales of collations used so far.
    pub(crate) locales: Mutex<OpenLocales>,
    /// Orderings of the enums compared so far.
    enum_orders: Mutex<HashMap<Oid, Arc<EnumOrder>>>,
    /// Incremented by every published invalidation.
    generation: AtomicU64,
}

/// A generation read before a scan. An entry is installed only if it is still current.
#[derive(Clone, Copy)]
pub(crate) struct CacheGeneration(u64);

impl Catalog {
    /// Empty caches of a database.
    pub fn new(database: Oid) -> Arc<Catalog> {
        Catalog::with_builtin(database, Arc::default())
    }

    fn with_builtin(database: Oid, builtin: Arc<Mutex<Option<Arc<Builtin>>>>) -> Arc<Catalog> {
        Arc::new(Catalog {
            database,
            shards: (0..SHARDS).map(|_| RwLock::new(Shard::default())).collect(),
            lists: RwLock::new(Shard::default()),
            relations: RwLock::new(Relations::default()),
            opened: RwLock::default(),
            builtin,
            locales: Mutex::default(),
            enum_orders: Mutex::default(),
            generation: AtomicU64::new(1),
        })
    }

    /// OID of the database.
    pub fn database(&self) -> Oid {
        self.database
    }

    /// The sort order of an enum's labels, if already known.
    pub(crate) fn enum_order(&self, ty: Oid) -> Option<Arc<EnumOrder>> {
        self.enum_orders.lock().get(&ty).cloned()
    }

    /// Adds sort orders of an enum's labels. Labels known from other sessions are kept.
    pub(crate) fn add_enum_sort_orders(
        &self,
        ty: Oid,
        sort_orders: &[(Oid, f32)],
    ) -> Arc<EnumOrder> {
        let order = self.enum_orders.lock().entry(ty).or_default().clone();
        order.add(sort_orders);
        order
    }

    /// Changes whenever anything that a plan may depend on has changed. One acquire load.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The structure of the catalogs, read from the fact tables on first use; shared by all
    /// databases.
    pub(crate) fn builtin(&self) -> Arc<Builtin> {
        self.builtin.lock().get_or_insert_with(|| Arc::new(Builtin::load())).clone()
    }

    pub(crate) fn opened(&self, relation: Oid) -> Option<Arc<CatalogTable>> {
        self.opened.read().get(&relation).cloned()
    }

    /// `generation` was read before the data from which the descriptors are built.
    pub(crate) fn install_opened(&self, relation: Oid, generation: u64, table: &Arc<CatalogTable>) {
        let mut opened = self.opened.write();
        if self.generation() == generation {
            opened.insert(relation, table.clone());
        }
    }

    /// To be called when a catalog, its indexes or TOAST table, or a relation map has changed.
    fn close_catalogs(&self) {
        self.opened.write().clear();
    }

    fn shard(&self, hash: u32) -> &RwLock<Shard> {
        &self.shards[hash as usize % SHARDS]
    }

    pub(crate) fn find(
        &self,
        cache: u8,
        hash: u32,
        keys: &[Key<'_>],
    ) -> Result<Found, CacheGeneration> {
        let shard = self.shard(hash).read();
        shard.entries.get(cache, hash, keys).cloned().ok_or(CacheGeneration(shard.generation))
    }

    pub(crate) fn install(
        &self,
        generation: CacheGeneration,
        cache: u8,
        hash: u32,
        keys: &[Key<'_>],
        value: Found,
    ) {
        let mut shard = self.shard(hash).write();
        if shard.generation == generation.0 {
            shard.entries.insert(cache, hash, keys, value);
        }
    }

    pub(crate) fn find_list(
        &self,
        cache: u8,
        hash: u32,
        keys: &[Key<'_>],
    ) -> Result<Found, CacheGeneration> {
        let lists = self.lists.read();
        lists.entries.get(cache, hash, keys).cloned().ok_or(CacheGeneration(lists.generation))
    }

    pub(crate) fn install_list(
        &self,
        generation: CacheGeneration,
        cache: u8,
        hash: u32,
        keys: &[Key<'_>],
        value: Found,
    ) {
        let mut lists = self.lists.write();
        if lists.generation == generation.0 {
            lists.entries.insert(cache, hash, keys, value);
        }
    }

    pub(crate) fn find_relation(&self, oid: Oid) -> Result<Arc<RelDesc>, CacheGeneration> {
        let relations = self.relations.read();
        relations.descs.get(&oid).cloned().ok_or(CacheGeneration(relations.generation))
    }

    pub(crate) fn install_relation(&self, generation: CacheGeneration, desc: &Arc<RelDesc>) {
        let mut relations = self.relations.write();
        if relations.generation == generation.0 {
            relations.descs.insert(desc.class.oid, desc.clone());
        }
    }

    /// Applies the invalidations of a committed transaction. Must be called after the transaction
    /// has left the proc array and before its locks are released.
    pub fn apply(&self, messages: &[Message]) {
        let concerned = |m: &&Message| m.database() == self.database || !m.database().is_valid();
        if !messages.iter().any(|m| concerned(&m)) {
            return;
        }
        // Incremented first, so that nothing read before this point is installed below.
        self.generation.fetch_add(1, Ordering::AcqRel);
        let mut changed = HashSet::new();
        for message in messages.iter().filter(concerned) {
            match *message {
                Message::CatCache { cache, hash, .. } => {
                    let mut shard = self.shard(hash).write();
                    shard.generation += 1;
                    shard.entries.remove(cache, hash);
                    drop(shard);
                    let mut lists = self.lists.write();
                    lists.generation += 1;
                    lists.entries.remove_cache(cache);
                }
                Message::Catalog { .. } => self.clear_rows(),
                Message::RelCache { relation, .. } => {
                    let mut relations = self.relations.write();
                    relations.generation += 1;
                    if relation.is_valid() {
                        relations.descs.remove(&relation);
                        changed.insert(relation);
                    } else {
                        relations.descs.clear();
                    }
                    drop(relations);
                    if relation < Oid::FIRST_NORMAL {
                        self.close_catalogs();
                    }
                }
                Message::RelMap { .. } => self.close_catalogs(),
                Message::Smgr { .. } | Message::Snapshot { .. } => {}
            }
        }
        if !changed.is_empty() {
            let mut relations = self.relations.write();
            relations.generation += 1;
            relations.descs.retain(|_, d| !d.depends_on(&changed));
        }
        // Incremented again for sessions that read the generation in between and still found stale
        // entries.
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    fn clear_rows(&self) {
        for shard in self.shards.iter().chain(std::iter::once(&self.lists)) {
            let mut shard = shard.write();
            shard.generation += 1;
            shard.entries.clear();
        }
    }

    /// Empties all caches.
    pub fn clear(&self) {
        self.clear_rows();
        self.close_catalogs();
        let mut relations = self.relations.write();
        relations.generation += 1;
        relations.descs.clear();
        self.generation.fetch_add(1, Ordering::AcqRel);
    }
}

/// The caches of all databases of a server instance.
#[derive(Default)]
pub struct Catalogs {
    databases: Mutex<Vec<Arc<Catalog>>>,
    builtin: Arc<Mutex<Option<Arc<Builtin>>>>,
}

impl Catalogs {
    /// Empty caches.
    pub fn new() -> Catalogs {
        Catalogs::default()
    }

    /// The caches of a database, created on first use.
    pub fn database(&self, oid: Oid) -> Arc<Catalog> {
        let mut databases = self.databases.lock();
        if let Some(found) = databases.iter().find(|c| c.database == oid) {
            return found.clone();
        }
        let new = Catalog::with_builtin(oid, self.builtin.clone());
        databases.push(new.clone());
        new
    }

    /// Publishes the invalidations of a committed transaction: see [`Catalog::apply`].
    pub fn publish(&self, messages: &[Message]) {
        if messages.is_empty() {
            return;
        }
        let databases = self.databases.lock().clone();
        for catalog in databases {
            catalog.apply(messages);
        }
    }

    /// Removes the caches of a dropped database.
    pub fn forget(&self, oid: Oid) {
        self.databases.lock().retain(|c| c.database != oid);
    }
}
