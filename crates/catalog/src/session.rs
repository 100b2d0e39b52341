//! The state of a session that catalog lookups depend on.

use crate::derived::{CatalogState, Derived};
use crate::format_type::Quoting;
use crate::overlay::Overlay;
use crate::shared::Catalog;
use crate::typeops::KnownTypeOps;
use hashbrown::{HashMap, HashSet};
use ids::Oid;
use locale::Locale;
use pgerror::PgError;
use sync::Arc;

/// The schemas searched, in order. The session's temporary schema and `pg_catalog` come first
/// unless the setting lists them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPath {
    pub schemas: Vec<Oid>,
    /// Schema for new objects; 0 where the path contains no existing schema.
    pub creation: Oid,
    /// The path begins with `pg_temp`, and the temporary schema does not exist yet.
    pub temp_creation: bool,
}

impl SearchPath {
    /// The schemas searched for functions, operators and other objects that are not relations or
    /// types: all but the temporary one.
    pub(crate) fn without_temp(&self, temp: Oid) -> impl Iterator<Item = Oid> {
        self.schemas.iter().copied().filter(move |&s| s != temp || !temp.is_valid())
    }
}

/// Owned by the session and borrowed by `CatCx`.
pub struct CatSession {
    pub catalog: Arc<Catalog>,
    /// The role whose privileges apply (`current_user`).
    pub user: Oid,
    /// Expressions of a table's owner are evaluated for a command of another role.
    pub restricted: bool,
    /// The authenticated role, or the one set by SET SESSION AUTHORIZATION.
    pub session_user: Oid,
    /// The schema of the session's temporary objects, and the one of their TOAST tables; 0 until
    /// they are created.
    pub temp_namespace: Oid,
    pub temp_toast_namespace: Oid,
    /// The database's default tablespace.
    pub tablespace: Oid,
    /// `pg_database.encoding` of this database.
    pub encoding: i32,
    /// Only ASCII letters have case in the database's default collation, if that has no locale.
    pub ctype_is_ascii: bool,
    pub(crate) locales: SessionLocales,
    /// The extension that is being created or updated: objects that its script creates become its
    /// members.
    pub creating_extension: Option<Oid>,
    pub overlay: Overlay,
    /// Collects the rows of objects that a command inserts and updates, for event triggers.
    pub changed_objects: Option<Vec<ChangedRow>>,
    /// How SQL texts that are shown quote names and literals.
    pub quoting: Quoting,
    /// Orderings of the session's anonymous record types.
    pub(crate) record_orders: Arc<crate::orders::RecordOrders>,
    /// Range types that were looked up.
    pub(crate) range_types: RangeTypes,
    pub(crate) type_ops: KnownTypeOps,
    /// Values derived from texts in catalog rows.
    pub derived: Derived,
    search_path: String,
    /// The computed search path and the catalog state it was computed from.
    pub(crate) path: Option<(Arc<SearchPath>, CatalogState)>,
}

/// Range types that were looked up, by OID and by that of the multirange type, for one state of the
/// catalogs.
#[derive(Default)]
pub(crate) struct RangeTypes {
    pub(crate) at: CatalogState,
    pub(crate) known: HashMap<Oid, Arc<types::RangeType>>,
}

impl RangeTypes {
    /// None, for this state of the catalogs.
    pub(crate) fn at(state: CatalogState) -> RangeTypes {
        RangeTypes { at: state, known: HashMap::new() }
    }
}

/// A session's locales.
#[derive(Default)]
pub(crate) struct SessionLocales {
    /// Of the default collation, as [`CatSession::default_locale`].
    pub(crate) default: Option<Arc<Locale>>,
    /// Of the collations used so far, for one state of the catalogs.
    pub(crate) known: HashMap<Oid, Option<Arc<Locale>>>,
    pub(crate) known_at: CatalogState,
    /// The collations whose version has been compared with that of the library. The session warns
    /// of a mismatch only once.
    pub(crate) compared: HashSet<Oid>,
    pub(crate) warnings: Vec<PgError>,
}

/// A row that a command has inserted or updated.
#[derive(Clone, Copy, Debug)]
pub struct ChangedRow {
    pub catalog: Oid,
    /// The first column: the OID of an object, in catalogs of objects.
    pub oid: Oid,
    /// It was inserted.
    pub is_new: bool,
}

impl CatSession {
    /// The current catalog state of the session.
    pub fn catalog_state(&self) -> CatalogState {
        CatalogState { generation: self.catalog.generation(), own: self.overlay.version() }
    }

    /// Notes a row that a command inserts or updates, if it collects them.
    pub(crate) fn note_changed(&mut self, catalog: Oid, row: &[types::Datum], is_new: bool) {
        let Some(changed) = &mut self.changed_objects else { return };
        let oid = row.first().map_or(Oid::INVALID, |oid| oid.as_ref().as_oid());
        if !changed.iter().any(|c| c.catalog == catalog && c.oid == oid) {
            changed.push(ChangedRow { catalog, oid, is_new });
        }
    }

    /// The state of a new session of the role `user`, with the default search path.
    pub fn new(catalog: Arc<Catalog>, user: Oid) -> CatSession {
        CatSession {
            catalog,
            user,
            restricted: false,
            session_user: user,
            temp_namespace: Oid::INVALID,
            temp_toast_namespace: Oid::INVALID,
            tablespace: ids::RelFile::DEFAULT_TABLESPACE,
            encoding: crate::encoding::UTF8,
            ctype_is_ascii: false,
            locales: SessionLocales::default(),
            creating_extension: None,
            overlay: Overlay::default(),
            changed_objects: None,
            quoting: Quoting::default(),
            record_orders: Arc::default(),
            range_types: RangeTypes::default(),
            type_ops: KnownTypeOps::default(),
            derived: Derived::default(),
            search_path: "\"$user\", public".to_owned(),
            path: None,
        }
    }

    /// The first two anonymous rows that a sort failed to compare since the last call.
    pub fn take_incomparable_rows(&self) -> Option<(types::Datum, types::Datum)> {
        self.record_orders.take_incomparable()
    }

    /// Sets a new value of the setting `search_path`.
    pub fn set_search_path(&mut self, setting: &str) {
        if self.search_path != setting {
            setting.clone_into(&mut self.search_path);
            self.path = None;
        }
    }

    /// The setting `search_path`.
    pub fn search_path(&self) -> &str {
        &self.search_path
    }

    /// Sets the current role. Privileges are checked for this role.
    pub fn set_user(&mut self, user: Oid) {
        if self.user != user {
            self.user = user;
            self.path = None;
        }
    }

    /// Sets the schema of temporary objects and that of their TOAST tables.
    pub fn set_temp_namespace(&mut self, namespace: Oid, toast: Oid) {
        self.temp_namespace = namespace;
        self.temp_toast_namespace = toast;
        self.path = None;
    }
}
