//! The list of caches, in PostgreSQL 15's order and with its numbers.
//!
//! Counterpart: `SysCacheIdentifier` of utils/syscache.h.

use super::{CacheInfo, SysCache};
use crate::rows::{
    PgAggregate, PgAm, PgAmop, PgAmproc, PgAttribute, PgAuthMembers, PgAuthid, PgCast, PgClass,
    PgCollation, PgConstraint, PgConversion, PgDatabase, PgDefaultAcl, PgEnum, PgEventTrigger,
    PgExtension, PgForeignDataWrapper, PgForeignServer, PgForeignTable, PgIndex, PgLanguage,
    PgNamespace, PgOpclass, PgOperator, PgOpfamily, PgParameterAcl, PgPartitionedTable, PgProc,
    PgPublication, PgPublicationNamespace, PgPublicationRel, PgRange, PgReplicationOrigin,
    PgRewrite, PgSequence, PgStatistic, PgStatisticExt, PgStatisticExtData, PgSubscription,
    PgSubscriptionRel, PgTablespace, PgTransform, PgTsConfig, PgTsConfigMap, PgTsDict, PgTsParser,
    PgTsTemplate, PgType, PgUserMapping,
};

macro_rules! caches {
    ($($name:ident = $id:literal, $row:ident, $index:literal, [$($key:ident),*];)*) => {
        $(pub const $name: SysCache<$row> =
            SysCache::new($id, $index, &[$($row::$key),*]);)*

        /// Every cache, by number.
        pub const ALL: &[CacheInfo] = &[$($name.info()),*];
    };
}

caches! {
    AGGFNOID = 0, PgAggregate, 2650, [aggfnoid];
    AMNAME = 1, PgAm, 2651, [amname];
    AMOID = 2, PgAm, 2652, [oid];
    AMOPOPID = 3, PgAmop, 2654, [amopopr, amoppurpose, amopfamily];
    AMOPSTRATEGY = 4, PgAmop, 2653, [amopfamily, amoplefttype, amoprighttype, amopstrategy];
    AMPROCNUM = 5, PgAmproc, 2655, [amprocfamily, amproclefttype, amprocrighttype, amprocnum];
    ATTNAME = 6, PgAttribute, 2658, [attrelid, attname];
    ATTNUM = 7, PgAttribute, 2659, [attrelid, attnum];
    AUTHMEMMEMROLE = 8, PgAuthMembers, 2695, [member, roleid];
    AUTHMEMROLEMEM = 9, PgAuthMembers, 2694, [roleid, member];
    AUTHNAME = 10, PgAuthid, 2676, [rolname];
    AUTHOID = 11, PgAuthid, 2677, [oid];
    CASTSOURCETARGET = 12, PgCast, 2661, [castsource, casttarget];
    CLAAMNAMENSP = 13, PgOpclass, 2686, [opcmethod, opcname, opcnamespace];
    CLAOID = 14, PgOpclass, 2687, [oid];
    COLLNAMEENCNSP = 15, PgCollation, 3164, [collname, collencoding, collnamespace];
    COLLOID = 16, PgCollation, 3085, [oid];
    CONDEFAULT = 17, PgConversion, 2668, [connamespace, conforencoding, contoencoding, oid];
    CONNAMENSP = 18, PgConversion, 2669, [conname, connamespace];
    CONSTROID = 19, PgConstraint, 2667, [oid];
    CONVOID = 20, PgConversion, 2670, [oid];
    DATABASEOID = 21, PgDatabase, 2672, [oid];
    DEFACLROLENSPOBJ = 22, PgDefaultAcl, 827, [defaclrole, defaclnamespace, defaclobjtype];
    ENUMOID = 23, PgEnum, 3502, [oid];
    ENUMTYPOIDNAME = 24, PgEnum, 3503, [enumtypid, enumlabel];
    EVENTTRIGGERNAME = 25, PgEventTrigger, 3467, [evtname];
    EVENTTRIGGEROID = 26, PgEventTrigger, 3468, [oid];
    FOREIGNDATAWRAPPERNAME = 27, PgForeignDataWrapper, 548, [fdwname];
    FOREIGNDATAWRAPPEROID = 28, PgForeignDataWrapper, 112, [oid];
    FOREIGNSERVERNAME = 29, PgForeignServer, 549, [srvname];
    FOREIGNSERVEROID = 30, PgForeignServer, 113, [oid];
    FOREIGNTABLEREL = 31, PgForeignTable, 3119, [ftrelid];
    INDEXRELID = 32, PgIndex, 2679, [indexrelid];
    LANGNAME = 33, PgLanguage, 2681, [lanname];
    LANGOID = 34, PgLanguage, 2682, [oid];
    NAMESPACENAME = 35, PgNamespace, 2684, [nspname];
    NAMESPACEOID = 36, PgNamespace, 2685, [oid];
    OPERNAMENSP = 37, PgOperator, 2689, [oprname, oprleft, oprright, oprnamespace];
    OPEROID = 38, PgOperator, 2688, [oid];
    OPFAMILYAMNAMENSP = 39, PgOpfamily, 2754, [opfmethod, opfname, opfnamespace];
    OPFAMILYOID = 40, PgOpfamily, 2755, [oid];
    PARAMETERACLNAME = 41, PgParameterAcl, 6246, [parname];
    PARAMETERACLOID = 42, PgParameterAcl, 6247, [oid];
    PARTRELID = 43, PgPartitionedTable, 3351, [partrelid];
    PROCNAMEARGSNSP = 44, PgProc, 2691, [proname, proargtypes, pronamespace];
    PROCOID = 45, PgProc, 2690, [oid];
    PUBLICATIONNAME = 46, PgPublication, 6111, [pubname];
    PUBLICATIONNAMESPACE = 47, PgPublicationNamespace, 6238, [oid];
    PUBLICATIONNAMESPACEMAP = 48, PgPublicationNamespace, 6239, [pnnspid, pnpubid];
    PUBLICATIONOID = 49, PgPublication, 6110, [oid];
    PUBLICATIONREL = 50, PgPublicationRel, 6112, [oid];
    PUBLICATIONRELMAP = 51, PgPublicationRel, 6113, [prrelid, prpubid];
    RANGEMULTIRANGE = 52, PgRange, 2228, [rngmultitypid];
    RANGETYPE = 53, PgRange, 3542, [rngtypid];
    RELNAMENSP = 54, PgClass, 2663, [relname, relnamespace];
    RELOID = 55, PgClass, 2662, [oid];
    REPLORIGIDENT = 56, PgReplicationOrigin, 6001, [roident];
    REPLORIGNAME = 57, PgReplicationOrigin, 6002, [roname];
    RULERELNAME = 58, PgRewrite, 2693, [ev_class, rulename];
    SEQRELID = 59, PgSequence, 5002, [seqrelid];
    STATEXTDATASTXOID = 60, PgStatisticExtData, 3433, [stxoid, stxdinherit];
    STATEXTNAMENSP = 61, PgStatisticExt, 3997, [stxname, stxnamespace];
    STATEXTOID = 62, PgStatisticExt, 3380, [oid];
    STATRELATTINH = 63, PgStatistic, 2696, [starelid, staattnum, stainherit];
    SUBSCRIPTIONNAME = 64, PgSubscription, 6115, [subdbid, subname];
    SUBSCRIPTIONOID = 65, PgSubscription, 6114, [oid];
    SUBSCRIPTIONRELMAP = 66, PgSubscriptionRel, 6117, [srrelid, srsubid];
    TABLESPACEOID = 67, PgTablespace, 2697, [oid];
    TRFOID = 68, PgTransform, 3574, [oid];
    TRFTYPELANG = 69, PgTransform, 3575, [trftype, trflang];
    TSCONFIGMAP = 70, PgTsConfigMap, 3609, [mapcfg, maptokentype, mapseqno];
    TSCONFIGNAMENSP = 71, PgTsConfig, 3608, [cfgname, cfgnamespace];
    TSCONFIGOID = 72, PgTsConfig, 3712, [oid];
    TSDICTNAMENSP = 73, PgTsDict, 3604, [dictname, dictnamespace];
    TSDICTOID = 74, PgTsDict, 3605, [oid];
    TSPARSERNAMENSP = 75, PgTsParser, 3606, [prsname, prsnamespace];
    TSPARSEROID = 76, PgTsParser, 3607, [oid];
    TSTEMPLATENAMENSP = 77, PgTsTemplate, 3766, [tmplname, tmplnamespace];
    TSTEMPLATEOID = 78, PgTsTemplate, 3767, [oid];
    TYPENAMENSP = 79, PgType, 2704, [typname, typnamespace];
    TYPEOID = 80, PgType, 2703, [oid];
    USERMAPPINGOID = 81, PgUserMapping, 174, [oid];
    USERMAPPINGUSERSERVER = 82, PgUserMapping, 175, [umuser, umserver];
    EXTENSIONOID = 83, PgExtension, 3080, [oid];
}
