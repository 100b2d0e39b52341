//! The object types in SQL statements: the catalog of each, and its command tags.
//!
//! Counterpart: `AlterObjectTypeCommandTag`, the DROP part of `CreateCommandTag`.

use catalog::object::ObjectClass;
use catalog::rows::{
    CatalogRow, PgAm, PgAuthid, PgCast, PgClass, PgCollation, PgConstraint, PgConversion,
    PgDatabase, PgEventTrigger, PgExtension, PgForeignDataWrapper, PgForeignServer, PgLanguage,
    PgLargeobject, PgNamespace, PgOpclass, PgOperator, PgOpfamily, PgPolicy, PgProc, PgPublication,
    PgRewrite, PgStatisticExt, PgSubscription, PgTablespace, PgTransform, PgTrigger, PgTsConfig,
    PgTsDict, PgTsParser, PgTsTemplate, PgType,
};
use ids::Oid;
use parse::ast::ObjectType;
use pgerror::{PgError, Result};

struct Kind {
    object_type: ObjectType,
    catalog: Oid,
    alter: &'static str,
    drop: &'static str,
}

macro_rules! kinds {
    ($($object_type:ident $row:ident $tag:literal;)*) => {
        const KINDS: &[Kind] = &[$(Kind {
            object_type: ObjectType::$object_type,
            catalog: $row::RELATION,
            alter: concat!("ALTER ", $tag),
            drop: concat!("DROP ", $tag),
        }),*];
    };
}

kinds! {
    AccessMethod PgAm "ACCESS METHOD";
    Aggregate PgProc "AGGREGATE";
    Attribute PgClass "TYPE";
    Cast PgCast "CAST";
    Collation PgCollation "COLLATION";
    Column PgClass "TABLE";
    Conversion PgConversion "CONVERSION";
    Database PgDatabase "DATABASE";
    Domain PgType "DOMAIN";
    Domconstraint PgConstraint "DOMAIN";
    EventTrigger PgEventTrigger "EVENT TRIGGER";
    Extension PgExtension "EXTENSION";
    Fdw PgForeignDataWrapper "FOREIGN DATA WRAPPER";
    ForeignServer PgForeignServer "SERVER";
    ForeignTable PgClass "FOREIGN TABLE";
    Function PgProc "FUNCTION";
    Index PgClass "INDEX";
    Language PgLanguage "LANGUAGE";
    Largeobject PgLargeobject "LARGE OBJECT";
    Matview PgClass "MATERIALIZED VIEW";
    Opclass PgOpclass "OPERATOR CLASS";
    Operator PgOperator "OPERATOR";
    Opfamily PgOpfamily "OPERATOR FAMILY";
    Policy PgPolicy "POLICY";
    Procedure PgProc "PROCEDURE";
    Publication PgPublication "PUBLICATION";
    Role PgAuthid "ROLE";
    Routine PgProc "ROUTINE";
    Rule PgRewrite "RULE";
    Schema PgNamespace "SCHEMA";
    Sequence PgClass "SEQUENCE";
    StatisticExt PgStatisticExt "STATISTICS";
    Subscription PgSubscription "SUBSCRIPTION";
    Tabconstraint PgConstraint "TABLE";
    Table PgClass "TABLE";
    Tablespace PgTablespace "TABLESPACE";
    Transform PgTransform "TRANSFORM";
    Trigger PgTrigger "TRIGGER";
    Tsconfiguration PgTsConfig "TEXT SEARCH CONFIGURATION";
    Tsdictionary PgTsDict "TEXT SEARCH DICTIONARY";
    Tsparser PgTsParser "TEXT SEARCH PARSER";
    Tstemplate PgTsTemplate "TEXT SEARCH TEMPLATE";
    Type PgType "TYPE";
    View PgClass "VIEW";
}

fn of(object_type: ObjectType) -> Option<&'static Kind> {
    KINDS.iter().find(|k| k.object_type == object_type)
}

/// The tag of ALTER statements.
pub fn alter_tag(object_type: ObjectType) -> &'static str {
    of(object_type).map_or("ALTER TABLE", |k| k.alter)
}

/// The tag of DROP statements.
pub fn drop_tag(object_type: ObjectType) -> &'static str {
    of(object_type).map_or("DROP", |k| k.drop)
}

/// The class of the objects of this type.
pub fn class_of(object_type: ObjectType) -> Result<&'static ObjectClass> {
    let class = of(object_type).and_then(|k| ObjectClass::of(k.catalog));
    class.ok_or_else(|| PgError::internal(format!("unrecognized object type: {object_type:?}")))
}

/// True if objects of this type are identified by a name alone, possibly with a schema and an
/// access method. Statements for such objects need only the columns of their class.
pub fn is_named(object_type: ObjectType) -> bool {
    matches!(
        object_type,
        ObjectType::AccessMethod
            | ObjectType::Collation
            | ObjectType::Conversion
            | ObjectType::Database
            | ObjectType::EventTrigger
            | ObjectType::Extension
            | ObjectType::Fdw
            | ObjectType::ForeignServer
            | ObjectType::Language
            | ObjectType::Opclass
            | ObjectType::Opfamily
            | ObjectType::Publication
            | ObjectType::Role
            | ObjectType::Schema
            | ObjectType::StatisticExt
            | ObjectType::Tablespace
            | ObjectType::Tsconfiguration
            | ObjectType::Tsdictionary
            | ObjectType::Tsparser
            | ObjectType::Tstemplate
    )
}

/// True if ALTER … RENAME, OWNER TO and SET SCHEMA of this type change only a column of the
/// object's row.
pub fn is_generic(object_type: ObjectType) -> bool {
    matches!(
        object_type,
        ObjectType::Collation
            | ObjectType::Conversion
            | ObjectType::EventTrigger
            | ObjectType::Fdw
            | ObjectType::ForeignServer
            | ObjectType::Language
            | ObjectType::Opclass
            | ObjectType::Operator
            | ObjectType::Opfamily
            | ObjectType::Publication
            | ObjectType::StatisticExt
            | ObjectType::Tsconfiguration
            | ObjectType::Tsdictionary
            | ObjectType::Tsparser
            | ObjectType::Tstemplate
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_those_of_the_statements() {
        assert_eq!(alter_tag(ObjectType::Opfamily), "ALTER OPERATOR FAMILY");
        assert_eq!(drop_tag(ObjectType::Fdw), "DROP FOREIGN DATA WRAPPER");
        assert_eq!(alter_tag(ObjectType::Tabconstraint), "ALTER TABLE");
    }

    #[test]
    fn named_objects_have_a_class() {
        for kind in KINDS.iter().filter(|k| is_named(k.object_type)) {
            assert!(class_of(kind.object_type).is_ok(), "{:?}", kind.object_type);
        }
    }
}
