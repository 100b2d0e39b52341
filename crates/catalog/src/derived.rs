//! Values that higher layers derive from texts in catalog rows, such as the bounds of partitions.
//! They stay valid when the rows that refer to the object change, so that a table's thousandth
//! partition does not make the bounds of all others be read again. No counterpart in PostgreSQL.

use hashbrown::HashMap;
use ids::Oid;
use std::any::Any;
use sync::Arc;

/// Identifies a catalog state as visible to a session: the generation of the committed catalogs and
/// the version of its transaction's own changes. Data derived at one value may be stale at another.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CatalogState {
    pub(crate) generation: u64,
    pub(crate) own: u64,
}

/// Number of objects after which all values are discarded.
const OBJECTS_MAX: usize = 4096;

type Value = Arc<dyn Any + Send + Sync>;

/// Derived values of a session, at most one for each object.
#[derive(Default)]
pub struct Derived {
    values: HashMap<Oid, (Box<str>, Value)>,
}

impl Derived {
    /// The value for this object, if it was derived from this text and has this type.
    pub fn get<T: Any + Send + Sync>(&self, object: Oid, text: &str) -> Option<Arc<T>> {
        let (known, value) = self.values.get(&object)?;
        if **known != *text {
            return None;
        }
        value.clone().downcast().ok()
    }

    /// Keeps the value that was derived from the text for this object.
    pub fn keep<T: Any + Send + Sync>(&mut self, object: Oid, text: &str, value: Arc<T>) {
        if self.values.len() >= OBJECTS_MAX {
            self.values.clear();
        }
        self.values.insert(object, (text.into(), value));
    }
}

#[cfg(test)]
mod tests {
    use super::Derived;
    use ids::Oid;
    use sync::Arc;

    #[test]
    fn a_value_is_found_only_for_its_text_and_type() {
        let mut derived = Derived::default();
        derived.keep(Oid(7), "a", Arc::new(1_i32));
        assert_eq!(derived.get::<i32>(Oid(7), "a").as_deref(), Some(&1));
        assert!(derived.get::<i32>(Oid(7), "b").is_none());
        assert!(derived.get::<i64>(Oid(7), "a").is_none());
        assert!(derived.get::<i32>(Oid(8), "a").is_none());
        derived.keep(Oid(7), "b", Arc::new(2_i32));
        assert_eq!(derived.get::<i32>(Oid(7), "b").as_deref(), Some(&2));
    }
}
