//! One struct per catalog. Written by `cargo run -p xtask -- facts`; do not edit.

use super::values::{AclItem, AnyArray, Int2Vector, Name, OidVector, Text};
use ids::code::{
    AggKind, Align, AmType, AmopPurpose, ArgMode, CastContext, CastMethod, CollProvider,
    ColumnGenerated, ColumnIdentity, ColumnStorage, ConType, DefAclObject, DepType, FinalModify,
    Firing, FkAction, FkMatch, OprKind, ParallelSafety, PartStrategy, Persistence, ProKind,
    RelKind, ReplicaIdentity, SharedDepType, TypCategory, TypType, Volatility,
};
use ids::{Lsn, Oid, StrategyNumber, Xid};

super::row! {
    PgAggregate = "pg_aggregate" 2600 {
        aggfnoid: Oid,
        aggkind: AggKind,
        aggnumdirectargs: i16,
        aggtransfn: Oid,
        aggfinalfn: Oid,
        aggcombinefn: Oid,
        aggserialfn: Oid,
        aggdeserialfn: Oid,
        aggmtransfn: Oid,
        aggminvtransfn: Oid,
        aggmfinalfn: Oid,
        aggfinalextra: bool,
        aggmfinalextra: bool,
        aggfinalmodify: FinalModify,
        aggmfinalmodify: FinalModify,
        aggsortop: Oid,
        aggtranstype: Oid,
        aggtransspace: i32,
        aggmtranstype: Oid,
        aggmtransspace: i32,
        agginitval: Option<Text>,
        aggminitval: Option<Text>,
    }
}

super::row! {
    PgAm = "pg_am" 2601 {
        oid: Oid,
        amname: Name,
        amhandler: Oid,
        amtype: AmType,
    }
}

super::row! {
    PgAmop = "pg_amop" 2602 {
        oid: Oid,
        amopfamily: Oid,
        amoplefttype: Oid,
        amoprighttype: Oid,
        amopstrategy: StrategyNumber,
        amoppurpose: AmopPurpose,
        amopopr: Oid,
        amopmethod: Oid,
        amopsortfamily: Oid,
    }
}

super::row! {
    PgAmproc = "pg_amproc" 2603 {
        oid: Oid,
        amprocfamily: Oid,
        amproclefttype: Oid,
        amprocrighttype: Oid,
        amprocnum: i16,
        amproc: Oid,
    }
}

super::row! {
    PgAttrdef = "pg_attrdef" 2604 {
        oid: Oid,
        adrelid: Oid,
        adnum: i16,
        adbin: Text,
    }
}

super::row! {
    PgAttribute = "pg_attribute" 1249 {
        attrelid: Oid,
        attname: Name,
        atttypid: Oid,
        attstattarget: i32,
        attlen: i16,
        attnum: i16,
        attndims: i32,
        attcacheoff: i32,
        atttypmod: i32,
        attbyval: bool,
        attalign: Align,
        attstorage: ColumnStorage,
        attcompression: u8,
        attnotnull: bool,
        atthasdef: bool,
        atthasmissing: bool,
        attidentity: ColumnIdentity,
        attgenerated: ColumnGenerated,
        attisdropped: bool,
        attislocal: bool,
        attinhcount: i32,
        attcollation: Oid,
        attacl: Option<Vec<AclItem>>,
        attoptions: Option<Vec<Text>>,
        attfdwoptions: Option<Vec<Text>>,
        attmissingval: Option<AnyArray>,
    }
}

super::row! {
    PgAuthMembers = "pg_auth_members" 1261 {
        roleid: Oid,
        member: Oid,
        grantor: Oid,
        admin_option: bool,
    }
}

super::row! {
    PgAuthid = "pg_authid" 1260 {
        oid: Oid,
        rolname: Name,
        rolsuper: bool,
        rolinherit: bool,
        rolcreaterole: bool,
        rolcreatedb: bool,
        rolcanlogin: bool,
        rolreplication: bool,
        rolbypassrls: bool,
        rolconnlimit: i32,
        rolpassword: Option<Text>,
        rolvaliduntil: Option<i64>,
    }
}

super::row! {
    PgCast = "pg_cast" 2605 {
        oid: Oid,
        castsource: Oid,
        casttarget: Oid,
        castfunc: Oid,
        castcontext: CastContext,
        castmethod: CastMethod,
    }
}

super::row! {
    PgClass = "pg_class" 1259 {
        oid: Oid,
        relname: Name,
        relnamespace: Oid,
        reltype: Oid,
        reloftype: Oid,
        relowner: Oid,
        relam: Oid,
        relfilenode: Oid,
        reltablespace: Oid,
        relpages: i32,
        reltuples: f32,
        relallvisible: i32,
        reltoastrelid: Oid,
        relhasindex: bool,
        relisshared: bool,
        relpersistence: Persistence,
        relkind: RelKind,
        relnatts: i16,
        relchecks: i16,
        relhasrules: bool,
        relhastriggers: bool,
        relhassubclass: bool,
        relrowsecurity: bool,
        relforcerowsecurity: bool,
        relispopulated: bool,
        relreplident: ReplicaIdentity,
        relispartition: bool,
        relrewrite: Oid,
        relfrozenxid: Xid,
        relminmxid: Xid,
        relacl: Option<Vec<AclItem>>,
        reloptions: Option<Vec<Text>>,
        relpartbound: Option<Text>,
    }
}

super::row! {
    PgCollation = "pg_collation" 3456 {
        oid: Oid,
        collname: Name,
        collnamespace: Oid,
        collowner: Oid,
        collprovider: CollProvider,
        collisdeterministic: bool,
        collencoding: i32,
        collcollate: Option<Text>,
        collctype: Option<Text>,
        colliculocale: Option<Text>,
        collversion: Option<Text>,
    }
}

super::row! {
    PgConstraint = "pg_constraint" 2606 {
        oid: Oid,
        conname: Name,
        connamespace: Oid,
        contype: ConType,
        condeferrable: bool,
        condeferred: bool,
        convalidated: bool,
        conrelid: Oid,
        contypid: Oid,
        conindid: Oid,
        conparentid: Oid,
        confrelid: Oid,
        confupdtype: FkAction,
        confdeltype: FkAction,
        confmatchtype: FkMatch,
        conislocal: bool,
        coninhcount: i32,
        connoinherit: bool,
        conkey: Option<Vec<i16>>,
        confkey: Option<Vec<i16>>,
        conpfeqop: Option<Vec<Oid>>,
        conppeqop: Option<Vec<Oid>>,
        conffeqop: Option<Vec<Oid>>,
        confdelsetcols: Option<Vec<i16>>,
        conexclop: Option<Vec<Oid>>,
        conbin: Option<Text>,
    }
}

super::row! {
    PgConversion = "pg_conversion" 2607 {
        oid: Oid,
        conname: Name,
        connamespace: Oid,
        conowner: Oid,
        conforencoding: i32,
        contoencoding: i32,
        conproc: Oid,
        condefault: bool,
    }
}

super::row! {
    PgDatabase = "pg_database" 1262 {
        oid: Oid,
        datname: Name,
        datdba: Oid,
        encoding: i32,
        datlocprovider: CollProvider,
        datistemplate: bool,
        datallowconn: bool,
        datconnlimit: i32,
        datfrozenxid: Xid,
        datminmxid: Xid,
        dattablespace: Oid,
        datcollate: Text,
        datctype: Text,
        daticulocale: Option<Text>,
        datcollversion: Option<Text>,
        datacl: Option<Vec<AclItem>>,
    }
}

super::row! {
    PgDbRoleSetting = "pg_db_role_setting" 2964 {
        setdatabase: Oid,
        setrole: Oid,
        setconfig: Option<Vec<Text>>,
    }
}

super::row! {
    PgDefaultAcl = "pg_default_acl" 826 {
        oid: Oid,
        defaclrole: Oid,
        defaclnamespace: Oid,
        defaclobjtype: DefAclObject,
        defaclacl: Vec<AclItem>,
    }
}

super::row! {
    PgDepend = "pg_depend" 2608 {
        classid: Oid,
        objid: Oid,
        objsubid: i32,
        refclassid: Oid,
        refobjid: Oid,
        refobjsubid: i32,
        deptype: DepType,
    }
}

super::row! {
    PgDescription = "pg_description" 2609 {
        objoid: Oid,
        classoid: Oid,
        objsubid: i32,
        description: Text,
    }
}

super::row! {
    PgEnum = "pg_enum" 3501 {
        oid: Oid,
        enumtypid: Oid,
        enumsortorder: f32,
        enumlabel: Name,
    }
}

super::row! {
    PgEventTrigger = "pg_event_trigger" 3466 {
        oid: Oid,
        evtname: Name,
        evtevent: Name,
        evtowner: Oid,
        evtfoid: Oid,
        evtenabled: Firing,
        evttags: Option<Vec<Text>>,
    }
}

super::row! {
    PgExtension = "pg_extension" 3079 {
        oid: Oid,
        extname: Name,
        extowner: Oid,
        extnamespace: Oid,
        extrelocatable: bool,
        extversion: Text,
        extconfig: Option<Vec<Oid>>,
        extcondition: Option<Vec<Text>>,
    }
}

super::row! {
    PgForeignDataWrapper = "pg_foreign_data_wrapper" 2328 {
        oid: Oid,
        fdwname: Name,
        fdwowner: Oid,
        fdwhandler: Oid,
        fdwvalidator: Oid,
        fdwacl: Option<Vec<AclItem>>,
        fdwoptions: Option<Vec<Text>>,
    }
}

super::row! {
    PgForeignServer = "pg_foreign_server" 1417 {
        oid: Oid,
        srvname: Name,
        srvowner: Oid,
        srvfdw: Oid,
        srvtype: Option<Text>,
        srvversion: Option<Text>,
        srvacl: Option<Vec<AclItem>>,
        srvoptions: Option<Vec<Text>>,
    }
}

super::row! {
    PgForeignTable = "pg_foreign_table" 3118 {
        ftrelid: Oid,
        ftserver: Oid,
        ftoptions: Option<Vec<Text>>,
    }
}

super::row! {
    PgIndex = "pg_index" 2610 {
        indexrelid: Oid,
        indrelid: Oid,
        indnatts: i16,
        indnkeyatts: i16,
        indisunique: bool,
        indnullsnotdistinct: bool,
        indisprimary: bool,
        indisexclusion: bool,
        indimmediate: bool,
        indisclustered: bool,
        indisvalid: bool,
        indcheckxmin: bool,
        indisready: bool,
        indislive: bool,
        indisreplident: bool,
        indkey: Int2Vector,
        indcollation: OidVector,
        indclass: OidVector,
        indoption: Int2Vector,
        indexprs: Option<Text>,
        indpred: Option<Text>,
    }
}

super::row! {
    PgInherits = "pg_inherits" 2611 {
        inhrelid: Oid,
        inhparent: Oid,
        inhseqno: i32,
        inhdetachpending: bool,
    }
}

super::row! {
    PgInitPrivs = "pg_init_privs" 3394 {
        objoid: Oid,
        classoid: Oid,
        objsubid: i32,
        privtype: u8,
        initprivs: Vec<AclItem>,
    }
}

super::row! {
    PgLanguage = "pg_language" 2612 {
        oid: Oid,
        lanname: Name,
        lanowner: Oid,
        lanispl: bool,
        lanpltrusted: bool,
        lanplcallfoid: Oid,
        laninline: Oid,
        lanvalidator: Oid,
        lanacl: Option<Vec<AclItem>>,
    }
}

super::row! {
    PgLargeobject = "pg_largeobject" 2613 {
        loid: Oid,
        pageno: i32,
        data: Text,
    }
}

super::row! {
    PgLargeobjectMetadata = "pg_largeobject_metadata" 2995 {
        oid: Oid,
        lomowner: Oid,
        lomacl: Option<Vec<AclItem>>,
    }
}

super::row! {
    PgNamespace = "pg_namespace" 2615 {
        oid: Oid,
        nspname: Name,
        nspowner: Oid,
        nspacl: Option<Vec<AclItem>>,
    }
}

super::row! {
    PgOpclass = "pg_opclass" 2616 {
        oid: Oid,
        opcmethod: Oid,
        opcname: Name,
        opcnamespace: Oid,
        opcowner: Oid,
        opcfamily: Oid,
        opcintype: Oid,
        opcdefault: bool,
        opckeytype: Oid,
    }
}

super::row! {
    PgOperator = "pg_operator" 2617 {
        oid: Oid,
        oprname: Name,
        oprnamespace: Oid,
        oprowner: Oid,
        oprkind: OprKind,
        oprcanmerge: bool,
        oprcanhash: bool,
        oprleft: Oid,
        oprright: Oid,
        oprresult: Oid,
        oprcom: Oid,
        oprnegate: Oid,
        oprcode: Oid,
        oprrest: Oid,
        oprjoin: Oid,
    }
}

super::row! {
    PgOpfamily = "pg_opfamily" 2753 {
        oid: Oid,
        opfmethod: Oid,
        opfname: Name,
        opfnamespace: Oid,
        opfowner: Oid,
    }
}

super::row! {
    PgParameterAcl = "pg_parameter_acl" 6243 {
        oid: Oid,
        parname: Text,
        paracl: Option<Vec<AclItem>>,
    }
}

super::row! {
    PgPartitionedTable = "pg_partitioned_table" 3350 {
        partrelid: Oid,
        partstrat: PartStrategy,
        partnatts: i16,
        partdefid: Oid,
        partattrs: Int2Vector,
        partclass: OidVector,
        partcollation: OidVector,
        partexprs: Option<Text>,
    }
}

super::row! {
    PgPolicy = "pg_policy" 3256 {
        oid: Oid,
        polname: Name,
        polrelid: Oid,
        polcmd: u8,
        polpermissive: bool,
        polroles: Vec<Oid>,
        polqual: Option<Text>,
        polwithcheck: Option<Text>,
    }
}

super::row! {
    PgProc = "pg_proc" 1255 {
        oid: Oid,
        proname: Name,
        pronamespace: Oid,
        proowner: Oid,
        prolang: Oid,
        procost: f32,
        prorows: f32,
        provariadic: Oid,
        prosupport: Oid,
        prokind: ProKind,
        prosecdef: bool,
        proleakproof: bool,
        proisstrict: bool,
        proretset: bool,
        provolatile: Volatility,
        proparallel: ParallelSafety,
        pronargs: i16,
        pronargdefaults: i16,
        prorettype: Oid,
        proargtypes: OidVector,
        proallargtypes: Option<Vec<Oid>>,
        proargmodes: Option<Vec<ArgMode>>,
        proargnames: Option<Vec<Text>>,
        proargdefaults: Option<Text>,
        protrftypes: Option<Vec<Oid>>,
        prosrc: Text,
        probin: Option<Text>,
        prosqlbody: Option<Text>,
        proconfig: Option<Vec<Text>>,
        proacl: Option<Vec<AclItem>>,
    }
}

super::row! {
    PgPublication = "pg_publication" 6104 {
        oid: Oid,
        pubname: Name,
        pubowner: Oid,
        puballtables: bool,
        pubinsert: bool,
        pubupdate: bool,
        pubdelete: bool,
        pubtruncate: bool,
        pubviaroot: bool,
    }
}

super::row! {
    PgPublicationNamespace = "pg_publication_namespace" 6237 {
        oid: Oid,
        pnpubid: Oid,
        pnnspid: Oid,
    }
}

super::row! {
    PgPublicationRel = "pg_publication_rel" 6106 {
        oid: Oid,
        prpubid: Oid,
        prrelid: Oid,
        prqual: Option<Text>,
        prattrs: Option<Int2Vector>,
    }
}

super::row! {
    PgRange = "pg_range" 3541 {
        rngtypid: Oid,
        rngsubtype: Oid,
        rngmultitypid: Oid,
        rngcollation: Oid,
        rngsubopc: Oid,
        rngcanonical: Oid,
        rngsubdiff: Oid,
    }
}

super::row! {
    PgReplicationOrigin = "pg_replication_origin" 6000 {
        roident: Oid,
        roname: Text,
    }
}

super::row! {
    PgRewrite = "pg_rewrite" 2618 {
        oid: Oid,
        rulename: Name,
        ev_class: Oid,
        ev_type: u8,
        ev_enabled: Firing,
        is_instead: bool,
        ev_qual: Text,
        ev_action: Text,
    }
}

super::row! {
    PgSeclabel = "pg_seclabel" 3596 {
        objoid: Oid,
        classoid: Oid,
        objsubid: i32,
        provider: Text,
        label: Text,
    }
}

super::row! {
    PgSequence = "pg_sequence" 2224 {
        seqrelid: Oid,
        seqtypid: Oid,
        seqstart: i64,
        seqincrement: i64,
        seqmax: i64,
        seqmin: i64,
        seqcache: i64,
        seqcycle: bool,
    }
}

super::row! {
    PgShdepend = "pg_shdepend" 1214 {
        dbid: Oid,
        classid: Oid,
        objid: Oid,
        objsubid: i32,
        refclassid: Oid,
        refobjid: Oid,
        deptype: SharedDepType,
    }
}

super::row! {
    PgShdescription = "pg_shdescription" 2396 {
        objoid: Oid,
        classoid: Oid,
        description: Text,
    }
}

super::row! {
    PgShseclabel = "pg_shseclabel" 3592 {
        objoid: Oid,
        classoid: Oid,
        provider: Text,
        label: Text,
    }
}

super::row! {
    PgStatistic = "pg_statistic" 2619 {
        starelid: Oid,
        staattnum: i16,
        stainherit: bool,
        stanullfrac: f32,
        stawidth: i32,
        stadistinct: f32,
        stakind1: i16,
        stakind2: i16,
        stakind3: i16,
        stakind4: i16,
        stakind5: i16,
        staop1: Oid,
        staop2: Oid,
        staop3: Oid,
        staop4: Oid,
        staop5: Oid,
        stacoll1: Oid,
        stacoll2: Oid,
        stacoll3: Oid,
        stacoll4: Oid,
        stacoll5: Oid,
        stanumbers1: Option<Vec<f32>>,
        stanumbers2: Option<Vec<f32>>,
        stanumbers3: Option<Vec<f32>>,
        stanumbers4: Option<Vec<f32>>,
        stanumbers5: Option<Vec<f32>>,
        stavalues1: Option<AnyArray>,
        stavalues2: Option<AnyArray>,
        stavalues3: Option<AnyArray>,
        stavalues4: Option<AnyArray>,
        stavalues5: Option<AnyArray>,
    }
}

super::row! {
    PgStatisticExt = "pg_statistic_ext" 3381 {
        oid: Oid,
        stxrelid: Oid,
        stxname: Name,
        stxnamespace: Oid,
        stxowner: Oid,
        stxstattarget: i32,
        stxkeys: Int2Vector,
        stxkind: Vec<u8>,
        stxexprs: Option<Text>,
    }
}

super::row! {
    PgStatisticExtData = "pg_statistic_ext_data" 3429 {
        stxoid: Oid,
        stxdinherit: bool,
        stxdndistinct: Option<Text>,
        stxddependencies: Option<Text>,
        stxdmcv: Option<Text>,
        stxdexpr: Option<AnyArray>,
    }
}

super::row! {
    PgSubscription = "pg_subscription" 6100 {
        oid: Oid,
        subdbid: Oid,
        subskiplsn: Lsn,
        subname: Name,
        subowner: Oid,
        subenabled: bool,
        subbinary: bool,
        substream: bool,
        subtwophasestate: u8,
        subdisableonerr: bool,
        subconninfo: Text,
        subslotname: Option<Name>,
        subsynccommit: Text,
        subpublications: Vec<Text>,
    }
}

super::row! {
    PgSubscriptionRel = "pg_subscription_rel" 6102 {
        srsubid: Oid,
        srrelid: Oid,
        srsubstate: u8,
        srsublsn: Option<Lsn>,
    }
}

super::row! {
    PgTablespace = "pg_tablespace" 1213 {
        oid: Oid,
        spcname: Name,
        spcowner: Oid,
        spcacl: Option<Vec<AclItem>>,
        spcoptions: Option<Vec<Text>>,
    }
}

super::row! {
    PgTransform = "pg_transform" 3576 {
        oid: Oid,
        trftype: Oid,
        trflang: Oid,
        trffromsql: Oid,
        trftosql: Oid,
    }
}

super::row! {
    PgTrigger = "pg_trigger" 2620 {
        oid: Oid,
        tgrelid: Oid,
        tgparentid: Oid,
        tgname: Name,
        tgfoid: Oid,
        tgtype: i16,
        tgenabled: Firing,
        tgisinternal: bool,
        tgconstrrelid: Oid,
        tgconstrindid: Oid,
        tgconstraint: Oid,
        tgdeferrable: bool,
        tginitdeferred: bool,
        tgnargs: i16,
        tgattr: Int2Vector,
        tgargs: Text,
        tgqual: Option<Text>,
        tgoldtable: Option<Name>,
        tgnewtable: Option<Name>,
    }
}

super::row! {
    PgTsConfig = "pg_ts_config" 3602 {
        oid: Oid,
        cfgname: Name,
        cfgnamespace: Oid,
        cfgowner: Oid,
        cfgparser: Oid,
    }
}

super::row! {
    PgTsConfigMap = "pg_ts_config_map" 3603 {
        mapcfg: Oid,
        maptokentype: i32,
        mapseqno: i32,
        mapdict: Oid,
    }
}

super::row! {
    PgTsDict = "pg_ts_dict" 3600 {
        oid: Oid,
        dictname: Name,
        dictnamespace: Oid,
        dictowner: Oid,
        dicttemplate: Oid,
        dictinitoption: Option<Text>,
    }
}

super::row! {
    PgTsParser = "pg_ts_parser" 3601 {
        oid: Oid,
        prsname: Name,
        prsnamespace: Oid,
        prsstart: Oid,
        prstoken: Oid,
        prsend: Oid,
        prsheadline: Oid,
        prslextype: Oid,
    }
}

super::row! {
    PgTsTemplate = "pg_ts_template" 3764 {
        oid: Oid,
        tmplname: Name,
        tmplnamespace: Oid,
        tmplinit: Oid,
        tmpllexize: Oid,
    }
}

super::row! {
    PgType = "pg_type" 1247 {
        oid: Oid,
        typname: Name,
        typnamespace: Oid,
        typowner: Oid,
        typlen: i16,
        typbyval: bool,
        typtype: TypType,
        typcategory: TypCategory,
        typispreferred: bool,
        typisdefined: bool,
        typdelim: u8,
        typrelid: Oid,
        typsubscript: Oid,
        typelem: Oid,
        typarray: Oid,
        typinput: Oid,
        typoutput: Oid,
        typreceive: Oid,
        typsend: Oid,
        typmodin: Oid,
        typmodout: Oid,
        typanalyze: Oid,
        typalign: Align,
        typstorage: ColumnStorage,
        typnotnull: bool,
        typbasetype: Oid,
        typtypmod: i32,
        typndims: i32,
        typcollation: Oid,
        typdefaultbin: Option<Text>,
        typdefault: Option<Text>,
        typacl: Option<Vec<AclItem>>,
    }
}

super::row! {
    PgUserMapping = "pg_user_mapping" 1418 {
        oid: Oid,
        umuser: Oid,
        umserver: Oid,
        umoptions: Option<Vec<Text>>,
    }
}
