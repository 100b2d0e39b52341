//! The catalogs' indexes. Written by `cargo run -p xtask -- facts`; do not edit.

use super::Index;
use super::tables::{
    PgAggregate, PgAm, PgAmop, PgAmproc, PgAttrdef, PgAttribute, PgAuthMembers, PgAuthid, PgCast,
    PgClass, PgCollation, PgConstraint, PgConversion, PgDatabase, PgDbRoleSetting, PgDefaultAcl,
    PgDepend, PgDescription, PgEnum, PgEventTrigger, PgExtension, PgForeignDataWrapper,
    PgForeignServer, PgForeignTable, PgIndex, PgInherits, PgInitPrivs, PgLanguage, PgLargeobject,
    PgLargeobjectMetadata, PgNamespace, PgOpclass, PgOperator, PgOpfamily, PgParameterAcl,
    PgPartitionedTable, PgPolicy, PgProc, PgPublication, PgPublicationNamespace, PgPublicationRel,
    PgRange, PgReplicationOrigin, PgRewrite, PgSeclabel, PgSequence, PgShdepend, PgShdescription,
    PgShseclabel, PgStatistic, PgStatisticExt, PgStatisticExtData, PgSubscription,
    PgSubscriptionRel, PgTablespace, PgTransform, PgTrigger, PgTsConfig, PgTsConfigMap, PgTsDict,
    PgTsParser, PgTsTemplate, PgType, PgUserMapping,
};

pub const PG_AGGREGATE_FNOID_INDEX: Index<PgAggregate> = Index::new(2650, &[PgAggregate::aggfnoid]);
pub const PG_AM_NAME_INDEX: Index<PgAm> = Index::new(2651, &[PgAm::amname]);
pub const PG_AM_OID_INDEX: Index<PgAm> = Index::new(2652, &[PgAm::oid]);
pub const PG_AMOP_FAM_STRAT_INDEX: Index<PgAmop> = Index::new(
    2653,
    &[PgAmop::amopfamily, PgAmop::amoplefttype, PgAmop::amoprighttype, PgAmop::amopstrategy],
);
pub const PG_AMOP_OID_INDEX: Index<PgAmop> = Index::new(2756, &[PgAmop::oid]);
pub const PG_AMOP_OPR_FAM_INDEX: Index<PgAmop> =
    Index::new(2654, &[PgAmop::amopopr, PgAmop::amoppurpose, PgAmop::amopfamily]);
pub const PG_AMPROC_FAM_PROC_INDEX: Index<PgAmproc> = Index::new(
    2655,
    &[
        PgAmproc::amprocfamily,
        PgAmproc::amproclefttype,
        PgAmproc::amprocrighttype,
        PgAmproc::amprocnum,
    ],
);
pub const PG_AMPROC_OID_INDEX: Index<PgAmproc> = Index::new(2757, &[PgAmproc::oid]);
pub const PG_ATTRDEF_ADRELID_ADNUM_INDEX: Index<PgAttrdef> =
    Index::new(2656, &[PgAttrdef::adrelid, PgAttrdef::adnum]);
pub const PG_ATTRDEF_OID_INDEX: Index<PgAttrdef> = Index::new(2657, &[PgAttrdef::oid]);
pub const PG_ATTRIBUTE_RELID_ATTNAM_INDEX: Index<PgAttribute> =
    Index::new(2658, &[PgAttribute::attrelid, PgAttribute::attname]);
pub const PG_ATTRIBUTE_RELID_ATTNUM_INDEX: Index<PgAttribute> =
    Index::new(2659, &[PgAttribute::attrelid, PgAttribute::attnum]);
pub const PG_AUTH_MEMBERS_MEMBER_ROLE_INDEX: Index<PgAuthMembers> =
    Index::new(2695, &[PgAuthMembers::member, PgAuthMembers::roleid]);
pub const PG_AUTH_MEMBERS_ROLE_MEMBER_INDEX: Index<PgAuthMembers> =
    Index::new(2694, &[PgAuthMembers::roleid, PgAuthMembers::member]);
pub const PG_AUTHID_OID_INDEX: Index<PgAuthid> = Index::new(2677, &[PgAuthid::oid]);
pub const PG_AUTHID_ROLNAME_INDEX: Index<PgAuthid> = Index::new(2676, &[PgAuthid::rolname]);
pub const PG_CAST_OID_INDEX: Index<PgCast> = Index::new(2660, &[PgCast::oid]);
pub const PG_CAST_SOURCE_TARGET_INDEX: Index<PgCast> =
    Index::new(2661, &[PgCast::castsource, PgCast::casttarget]);
pub const PG_CLASS_OID_INDEX: Index<PgClass> = Index::new(2662, &[PgClass::oid]);
pub const PG_CLASS_RELNAME_NSP_INDEX: Index<PgClass> =
    Index::new(2663, &[PgClass::relname, PgClass::relnamespace]);
pub const PG_CLASS_TBLSPC_RELFILENODE_INDEX: Index<PgClass> =
    Index::new(3455, &[PgClass::reltablespace, PgClass::relfilenode]);
pub const PG_COLLATION_NAME_ENC_NSP_INDEX: Index<PgCollation> = Index::new(
    3164,
    &[PgCollation::collname, PgCollation::collencoding, PgCollation::collnamespace],
);
pub const PG_COLLATION_OID_INDEX: Index<PgCollation> = Index::new(3085, &[PgCollation::oid]);
pub const PG_CONSTRAINT_CONNAME_NSP_INDEX: Index<PgConstraint> =
    Index::new(2664, &[PgConstraint::conname, PgConstraint::connamespace]);
pub const PG_CONSTRAINT_CONPARENTID_INDEX: Index<PgConstraint> =
    Index::new(2579, &[PgConstraint::conparentid]);
pub const PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX: Index<PgConstraint> =
    Index::new(2665, &[PgConstraint::conrelid, PgConstraint::contypid, PgConstraint::conname]);
pub const PG_CONSTRAINT_CONTYPID_INDEX: Index<PgConstraint> =
    Index::new(2666, &[PgConstraint::contypid]);
pub const PG_CONSTRAINT_OID_INDEX: Index<PgConstraint> = Index::new(2667, &[PgConstraint::oid]);
pub const PG_CONVERSION_DEFAULT_INDEX: Index<PgConversion> = Index::new(
    2668,
    &[
        PgConversion::connamespace,
        PgConversion::conforencoding,
        PgConversion::contoencoding,
        PgConversion::oid,
    ],
);
pub const PG_CONVERSION_NAME_NSP_INDEX: Index<PgConversion> =
    Index::new(2669, &[PgConversion::conname, PgConversion::connamespace]);
pub const PG_CONVERSION_OID_INDEX: Index<PgConversion> = Index::new(2670, &[PgConversion::oid]);
pub const PG_DATABASE_DATNAME_INDEX: Index<PgDatabase> = Index::new(2671, &[PgDatabase::datname]);
pub const PG_DATABASE_OID_INDEX: Index<PgDatabase> = Index::new(2672, &[PgDatabase::oid]);
pub const PG_DB_ROLE_SETTING_DATABASEID_ROL_INDEX: Index<PgDbRoleSetting> =
    Index::new(2965, &[PgDbRoleSetting::setdatabase, PgDbRoleSetting::setrole]);
pub const PG_DEFAULT_ACL_OID_INDEX: Index<PgDefaultAcl> = Index::new(828, &[PgDefaultAcl::oid]);
pub const PG_DEFAULT_ACL_ROLE_NSP_OBJ_INDEX: Index<PgDefaultAcl> = Index::new(
    827,
    &[PgDefaultAcl::defaclrole, PgDefaultAcl::defaclnamespace, PgDefaultAcl::defaclobjtype],
);
pub const PG_DEPEND_DEPENDER_INDEX: Index<PgDepend> =
    Index::new(2673, &[PgDepend::classid, PgDepend::objid, PgDepend::objsubid]);
pub const PG_DEPEND_REFERENCE_INDEX: Index<PgDepend> =
    Index::new(2674, &[PgDepend::refclassid, PgDepend::refobjid, PgDepend::refobjsubid]);
pub const PG_DESCRIPTION_O_C_O_INDEX: Index<PgDescription> =
    Index::new(2675, &[PgDescription::objoid, PgDescription::classoid, PgDescription::objsubid]);
pub const PG_ENUM_OID_INDEX: Index<PgEnum> = Index::new(3502, &[PgEnum::oid]);
pub const PG_ENUM_TYPID_LABEL_INDEX: Index<PgEnum> =
    Index::new(3503, &[PgEnum::enumtypid, PgEnum::enumlabel]);
pub const PG_ENUM_TYPID_SORTORDER_INDEX: Index<PgEnum> =
    Index::new(3534, &[PgEnum::enumtypid, PgEnum::enumsortorder]);
pub const PG_EVENT_TRIGGER_EVTNAME_INDEX: Index<PgEventTrigger> =
    Index::new(3467, &[PgEventTrigger::evtname]);
pub const PG_EVENT_TRIGGER_OID_INDEX: Index<PgEventTrigger> =
    Index::new(3468, &[PgEventTrigger::oid]);
pub const PG_EXTENSION_NAME_INDEX: Index<PgExtension> = Index::new(3081, &[PgExtension::extname]);
pub const PG_EXTENSION_OID_INDEX: Index<PgExtension> = Index::new(3080, &[PgExtension::oid]);
pub const PG_FOREIGN_DATA_WRAPPER_NAME_INDEX: Index<PgForeignDataWrapper> =
    Index::new(548, &[PgForeignDataWrapper::fdwname]);
pub const PG_FOREIGN_DATA_WRAPPER_OID_INDEX: Index<PgForeignDataWrapper> =
    Index::new(112, &[PgForeignDataWrapper::oid]);
pub const PG_FOREIGN_SERVER_NAME_INDEX: Index<PgForeignServer> =
    Index::new(549, &[PgForeignServer::srvname]);
pub const PG_FOREIGN_SERVER_OID_INDEX: Index<PgForeignServer> =
    Index::new(113, &[PgForeignServer::oid]);
pub const PG_FOREIGN_TABLE_RELID_INDEX: Index<PgForeignTable> =
    Index::new(3119, &[PgForeignTable::ftrelid]);
pub const PG_INDEX_INDEXRELID_INDEX: Index<PgIndex> = Index::new(2679, &[PgIndex::indexrelid]);
pub const PG_INDEX_INDRELID_INDEX: Index<PgIndex> = Index::new(2678, &[PgIndex::indrelid]);
pub const PG_INHERITS_PARENT_INDEX: Index<PgInherits> = Index::new(2187, &[PgInherits::inhparent]);
pub const PG_INHERITS_RELID_SEQNO_INDEX: Index<PgInherits> =
    Index::new(2680, &[PgInherits::inhrelid, PgInherits::inhseqno]);
pub const PG_INIT_PRIVS_O_C_O_INDEX: Index<PgInitPrivs> =
    Index::new(3395, &[PgInitPrivs::objoid, PgInitPrivs::classoid, PgInitPrivs::objsubid]);
pub const PG_LANGUAGE_NAME_INDEX: Index<PgLanguage> = Index::new(2681, &[PgLanguage::lanname]);
pub const PG_LANGUAGE_OID_INDEX: Index<PgLanguage> = Index::new(2682, &[PgLanguage::oid]);
pub const PG_LARGEOBJECT_LOID_PN_INDEX: Index<PgLargeobject> =
    Index::new(2683, &[PgLargeobject::loid, PgLargeobject::pageno]);
pub const PG_LARGEOBJECT_METADATA_OID_INDEX: Index<PgLargeobjectMetadata> =
    Index::new(2996, &[PgLargeobjectMetadata::oid]);
pub const PG_NAMESPACE_NSPNAME_INDEX: Index<PgNamespace> =
    Index::new(2684, &[PgNamespace::nspname]);
pub const PG_NAMESPACE_OID_INDEX: Index<PgNamespace> = Index::new(2685, &[PgNamespace::oid]);
pub const PG_OPCLASS_AM_NAME_NSP_INDEX: Index<PgOpclass> =
    Index::new(2686, &[PgOpclass::opcmethod, PgOpclass::opcname, PgOpclass::opcnamespace]);
pub const PG_OPCLASS_OID_INDEX: Index<PgOpclass> = Index::new(2687, &[PgOpclass::oid]);
pub const PG_OPERATOR_OID_INDEX: Index<PgOperator> = Index::new(2688, &[PgOperator::oid]);
pub const PG_OPERATOR_OPRNAME_L_R_N_INDEX: Index<PgOperator> = Index::new(
    2689,
    &[PgOperator::oprname, PgOperator::oprleft, PgOperator::oprright, PgOperator::oprnamespace],
);
pub const PG_OPFAMILY_AM_NAME_NSP_INDEX: Index<PgOpfamily> =
    Index::new(2754, &[PgOpfamily::opfmethod, PgOpfamily::opfname, PgOpfamily::opfnamespace]);
pub const PG_OPFAMILY_OID_INDEX: Index<PgOpfamily> = Index::new(2755, &[PgOpfamily::oid]);
pub const PG_PARAMETER_ACL_OID_INDEX: Index<PgParameterAcl> =
    Index::new(6247, &[PgParameterAcl::oid]);
pub const PG_PARAMETER_ACL_PARNAME_INDEX: Index<PgParameterAcl> =
    Index::new(6246, &[PgParameterAcl::parname]);
pub const PG_PARTITIONED_TABLE_PARTRELID_INDEX: Index<PgPartitionedTable> =
    Index::new(3351, &[PgPartitionedTable::partrelid]);
pub const PG_POLICY_OID_INDEX: Index<PgPolicy> = Index::new(3257, &[PgPolicy::oid]);
pub const PG_POLICY_POLRELID_POLNAME_INDEX: Index<PgPolicy> =
    Index::new(3258, &[PgPolicy::polrelid, PgPolicy::polname]);
pub const PG_PROC_OID_INDEX: Index<PgProc> = Index::new(2690, &[PgProc::oid]);
pub const PG_PROC_PRONAME_ARGS_NSP_INDEX: Index<PgProc> =
    Index::new(2691, &[PgProc::proname, PgProc::proargtypes, PgProc::pronamespace]);
pub const PG_PUBLICATION_OID_INDEX: Index<PgPublication> = Index::new(6110, &[PgPublication::oid]);
pub const PG_PUBLICATION_PUBNAME_INDEX: Index<PgPublication> =
    Index::new(6111, &[PgPublication::pubname]);
pub const PG_PUBLICATION_NAMESPACE_OID_INDEX: Index<PgPublicationNamespace> =
    Index::new(6238, &[PgPublicationNamespace::oid]);
pub const PG_PUBLICATION_NAMESPACE_PNNSPID_PNPUBID_INDEX: Index<PgPublicationNamespace> =
    Index::new(6239, &[PgPublicationNamespace::pnnspid, PgPublicationNamespace::pnpubid]);
pub const PG_PUBLICATION_REL_OID_INDEX: Index<PgPublicationRel> =
    Index::new(6112, &[PgPublicationRel::oid]);
pub const PG_PUBLICATION_REL_PRPUBID_INDEX: Index<PgPublicationRel> =
    Index::new(6116, &[PgPublicationRel::prpubid]);
pub const PG_PUBLICATION_REL_PRRELID_PRPUBID_INDEX: Index<PgPublicationRel> =
    Index::new(6113, &[PgPublicationRel::prrelid, PgPublicationRel::prpubid]);
pub const PG_RANGE_RNGMULTITYPID_INDEX: Index<PgRange> =
    Index::new(2228, &[PgRange::rngmultitypid]);
pub const PG_RANGE_RNGTYPID_INDEX: Index<PgRange> = Index::new(3542, &[PgRange::rngtypid]);
pub const PG_REPLICATION_ORIGIN_ROIIDENT_INDEX: Index<PgReplicationOrigin> =
    Index::new(6001, &[PgReplicationOrigin::roident]);
pub const PG_REPLICATION_ORIGIN_RONAME_INDEX: Index<PgReplicationOrigin> =
    Index::new(6002, &[PgReplicationOrigin::roname]);
pub const PG_REWRITE_OID_INDEX: Index<PgRewrite> = Index::new(2692, &[PgRewrite::oid]);
pub const PG_REWRITE_REL_RULENAME_INDEX: Index<PgRewrite> =
    Index::new(2693, &[PgRewrite::ev_class, PgRewrite::rulename]);
pub const PG_SECLABEL_OBJECT_INDEX: Index<PgSeclabel> = Index::new(
    3597,
    &[PgSeclabel::objoid, PgSeclabel::classoid, PgSeclabel::objsubid, PgSeclabel::provider],
);
pub const PG_SEQUENCE_SEQRELID_INDEX: Index<PgSequence> = Index::new(5002, &[PgSequence::seqrelid]);
pub const PG_SHDEPEND_DEPENDER_INDEX: Index<PgShdepend> = Index::new(
    1232,
    &[PgShdepend::dbid, PgShdepend::classid, PgShdepend::objid, PgShdepend::objsubid],
);
pub const PG_SHDEPEND_REFERENCE_INDEX: Index<PgShdepend> =
    Index::new(1233, &[PgShdepend::refclassid, PgShdepend::refobjid]);
pub const PG_SHDESCRIPTION_O_C_INDEX: Index<PgShdescription> =
    Index::new(2397, &[PgShdescription::objoid, PgShdescription::classoid]);
pub const PG_SHSECLABEL_OBJECT_INDEX: Index<PgShseclabel> =
    Index::new(3593, &[PgShseclabel::objoid, PgShseclabel::classoid, PgShseclabel::provider]);
pub const PG_STATISTIC_RELID_ATT_INH_INDEX: Index<PgStatistic> =
    Index::new(2696, &[PgStatistic::starelid, PgStatistic::staattnum, PgStatistic::stainherit]);
pub const PG_STATISTIC_EXT_NAME_INDEX: Index<PgStatisticExt> =
    Index::new(3997, &[PgStatisticExt::stxname, PgStatisticExt::stxnamespace]);
pub const PG_STATISTIC_EXT_OID_INDEX: Index<PgStatisticExt> =
    Index::new(3380, &[PgStatisticExt::oid]);
pub const PG_STATISTIC_EXT_RELID_INDEX: Index<PgStatisticExt> =
    Index::new(3379, &[PgStatisticExt::stxrelid]);
pub const PG_STATISTIC_EXT_DATA_STXOID_INH_INDEX: Index<PgStatisticExtData> =
    Index::new(3433, &[PgStatisticExtData::stxoid, PgStatisticExtData::stxdinherit]);
pub const PG_SUBSCRIPTION_OID_INDEX: Index<PgSubscription> =
    Index::new(6114, &[PgSubscription::oid]);
pub const PG_SUBSCRIPTION_SUBNAME_INDEX: Index<PgSubscription> =
    Index::new(6115, &[PgSubscription::subdbid, PgSubscription::subname]);
pub const PG_SUBSCRIPTION_REL_SRRELID_SRSUBID_INDEX: Index<PgSubscriptionRel> =
    Index::new(6117, &[PgSubscriptionRel::srrelid, PgSubscriptionRel::srsubid]);
pub const PG_TABLESPACE_OID_INDEX: Index<PgTablespace> = Index::new(2697, &[PgTablespace::oid]);
pub const PG_TABLESPACE_SPCNAME_INDEX: Index<PgTablespace> =
    Index::new(2698, &[PgTablespace::spcname]);
pub const PG_TRANSFORM_OID_INDEX: Index<PgTransform> = Index::new(3574, &[PgTransform::oid]);
pub const PG_TRANSFORM_TYPE_LANG_INDEX: Index<PgTransform> =
    Index::new(3575, &[PgTransform::trftype, PgTransform::trflang]);
pub const PG_TRIGGER_OID_INDEX: Index<PgTrigger> = Index::new(2702, &[PgTrigger::oid]);
pub const PG_TRIGGER_TGCONSTRAINT_INDEX: Index<PgTrigger> =
    Index::new(2699, &[PgTrigger::tgconstraint]);
pub const PG_TRIGGER_TGRELID_TGNAME_INDEX: Index<PgTrigger> =
    Index::new(2701, &[PgTrigger::tgrelid, PgTrigger::tgname]);
pub const PG_TS_CONFIG_CFGNAME_INDEX: Index<PgTsConfig> =
    Index::new(3608, &[PgTsConfig::cfgname, PgTsConfig::cfgnamespace]);
pub const PG_TS_CONFIG_OID_INDEX: Index<PgTsConfig> = Index::new(3712, &[PgTsConfig::oid]);
pub const PG_TS_CONFIG_MAP_INDEX: Index<PgTsConfigMap> = Index::new(
    3609,
    &[PgTsConfigMap::mapcfg, PgTsConfigMap::maptokentype, PgTsConfigMap::mapseqno],
);
pub const PG_TS_DICT_DICTNAME_INDEX: Index<PgTsDict> =
    Index::new(3604, &[PgTsDict::dictname, PgTsDict::dictnamespace]);
pub const PG_TS_DICT_OID_INDEX: Index<PgTsDict> = Index::new(3605, &[PgTsDict::oid]);
pub const PG_TS_PARSER_OID_INDEX: Index<PgTsParser> = Index::new(3607, &[PgTsParser::oid]);
pub const PG_TS_PARSER_PRSNAME_INDEX: Index<PgTsParser> =
    Index::new(3606, &[PgTsParser::prsname, PgTsParser::prsnamespace]);
pub const PG_TS_TEMPLATE_OID_INDEX: Index<PgTsTemplate> = Index::new(3767, &[PgTsTemplate::oid]);
pub const PG_TS_TEMPLATE_TMPLNAME_INDEX: Index<PgTsTemplate> =
    Index::new(3766, &[PgTsTemplate::tmplname, PgTsTemplate::tmplnamespace]);
pub const PG_TYPE_OID_INDEX: Index<PgType> = Index::new(2703, &[PgType::oid]);
pub const PG_TYPE_TYPNAME_NSP_INDEX: Index<PgType> =
    Index::new(2704, &[PgType::typname, PgType::typnamespace]);
pub const PG_USER_MAPPING_OID_INDEX: Index<PgUserMapping> = Index::new(174, &[PgUserMapping::oid]);
pub const PG_USER_MAPPING_USER_SERVER_INDEX: Index<PgUserMapping> =
    Index::new(175, &[PgUserMapping::umuser, PgUserMapping::umserver]);
