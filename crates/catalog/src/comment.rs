//! Comments of objects (`pg_description`, `pg_shdescription`).
//!
//! Counterpart: `CreateComments`, `CreateSharedComments`.

use crate::cx::CatCx;
use crate::depend::ObjectAddress;
use crate::rows::{PgDescription, PgShdescription, Text, indexes};
use crate::write::is_shared_catalog;
use pgerror::Result;

impl CatCx<'_> {
    /// Sets the comment of an object; `None` and the empty text remove it.
    pub fn set_comment(&mut self, object: ObjectAddress, text: Option<&str>) -> Result<()> {
        let text = text.filter(|t| !t.is_empty()).map(Text::from);
        if is_shared_catalog(object.class) {
            return self.set_shared_comment(object, text);
        }
        let keys = [object.object.into(), object.class.into(), object.sub.into()];
        let old = self.scan(indexes::PG_DESCRIPTION_O_C_O_INDEX, &keys)?.pop();
        let new = text.map(|description| PgDescription {
            objoid: object.object,
            classoid: object.class,
            objsubid: object.sub,
            description,
        });
        match (old, new) {
            (Some(old), Some(new)) => self.update(&old, &new).map(|_| ()),
            (Some(old), None) => self.delete(&old),
            (None, Some(new)) => self.insert(&new).map(|_| ()),
            (None, None) => Ok(()),
        }
    }

    fn set_shared_comment(&mut self, object: ObjectAddress, text: Option<Text>) -> Result<()> {
        let keys = [object.object.into(), object.class.into()];
        let old = self.scan(indexes::PG_SHDESCRIPTION_O_C_INDEX, &keys)?.pop();
        let new = text.map(|description| PgShdescription {
            objoid: object.object,
            classoid: object.class,
            description,
        });
        match (old, new) {
            (Some(old), Some(new)) => self.update(&old, &new).map(|_| ()),
            (Some(old), None) => self.delete(&old),
            (None, Some(new)) => self.insert(&new).map(|_| ()),
            (None, None) => Ok(()),
        }
    }
}
