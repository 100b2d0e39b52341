//! Membership in the extension that is being created: each object that its script creates depends
//! on the extension, and the privileges that the script grants are recorded as initial ones.
//!
//! Counterpart: `recordDependencyOnCurrentExtension`, `recordExtensionInitPriv`.

use crate::cx::CatCx;
use crate::depend::ObjectAddress;
use crate::rows::{
    AclItem, CatalogRow, PgAm, PgCast, PgClass, PgCollation, PgConversion, PgEventTrigger,
    PgExtension, PgForeignDataWrapper, PgForeignServer, PgInitPrivs, PgLanguage, PgNamespace,
    PgOpclass, PgOperator, PgOpfamily, PgProc, PgStatisticExt, PgTransform, PgTsConfig, PgTsDict,
    PgTsParser, PgTsTemplate, PgType, PgUserMapping, indexes,
};
use ids::code::{DepType, TypType};
use ids::{Oid, RelKind};
use pgerror::Result;

/// The catalogs of which every row is a member. Not every relation and type is.
const MEMBERS: &[Oid] = &[
    PgAm::RELATION,
    PgCast::RELATION,
    PgCollation::RELATION,
    PgConversion::RELATION,
    PgEventTrigger::RELATION,
    PgForeignDataWrapper::RELATION,
    PgForeignServer::RELATION,
    PgLanguage::RELATION,
    PgNamespace::RELATION,
    PgOpclass::RELATION,
    PgOperator::RELATION,
    PgOpfamily::RELATION,
    PgProc::RELATION,
    PgStatisticExt::RELATION,
    PgTransform::RELATION,
    PgTsConfig::RELATION,
    PgTsDict::RELATION,
    PgTsParser::RELATION,
    PgTsTemplate::RELATION,
    PgUserMapping::RELATION,
];

/// The object that an inserted row defines, if that object becomes a member of the extension.
/// Array types and row types of tables do not, because they are parts of other objects. Of a
/// composite type, the type becomes a member and its relation does not.
fn member<R: CatalogRow>(row: &R) -> Option<ObjectAddress> {
    let columns = row.to_row();
    let oid = |n: ids::AttrNo| match columns.get(n as usize - 1) {
        Some(types::Datum::Word(w)) => Oid(*w as u32),
        _ => Oid::INVALID,
    };
    let code = |n: ids::AttrNo| oid(n).0 as u8;
    match R::RELATION {
        PgClass::RELATION => match code(PgClass::relkind) {
            k if k == RelKind::CompositeType as u8 => {
                Some(ObjectAddress::of::<PgType>(oid(PgClass::reltype)))
            }
            k if [RelKind::Index, RelKind::PartitionedIndex, RelKind::Toast]
                .iter()
                .any(|kind| *kind as u8 == k) =>
            {
                None
            }
            _ => Some(ObjectAddress::relation(oid(PgClass::oid))),
        },
        PgType::RELATION => {
            let composite = code(PgType::typtype) == TypType::Composite as u8;
            let is_array = oid(PgType::typsubscript) == ids::builtin::proc::ARRAY_SUBSCRIPT_HANDLER;
            let whole = !composite && !is_array;
            whole.then(|| ObjectAddress::of::<PgType>(oid(PgType::oid)))
        }
        relation if MEMBERS.contains(&relation) => Some(ObjectAddress::new(relation, oid(1))),
        _ => None,
    }
}

impl CatCx<'_> {
    /// Called for each privilege list that is stored while the script of an extension runs. `None`:
    /// the object has no list.
    pub fn note_privileges(
        &mut self,
        object: ObjectAddress,
        acl: Option<&[AclItem]>,
    ) -> Result<()> {
        match self.session.creating_extension {
            Some(_) => self.set_initial_privileges(object, acl),
            None => Ok(()),
        }
    }

    /// Sets or removes the initial privileges of a member of an extension. Counterpart:
    /// `recordExtensionInitPrivWorker`.
    pub fn set_initial_privileges(
        &mut self,
        object: ObjectAddress,
        acl: Option<&[AclItem]>,
    ) -> Result<()> {
        let keys = [object.object.into(), object.class.into(), object.sub.into()];
        let old = self.scan(indexes::PG_INIT_PRIVS_O_C_O_INDEX, &keys)?.pop();
        let new = acl.map(|acl| PgInitPrivs {
            objoid: object.object,
            classoid: object.class,
            objsubid: object.sub,
            privtype: b'e',
            initprivs: acl.to_vec(),
        });
        match (old, new) {
            (Some(old), Some(new)) => self.update(&old, &new).map(|_| ()),
            (Some(old), None) => self.delete(&old),
            (None, Some(new)) => self.insert(&new).map(|_| ()),
            (None, None) => Ok(()),
        }
    }

    /// Called for each inserted row while the script of an extension runs.
    pub(crate) fn join_extension<R: CatalogRow>(&mut self, row: &R, extension: Oid) -> Result<()> {
        match member(row) {
            Some(object) => {
                let extension = ObjectAddress::of::<PgExtension>(extension);
                self.record_dependency(object, extension, DepType::Extension)
            }
            None => Ok(()),
        }
    }
}
