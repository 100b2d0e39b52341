-- Identities of objects of all classes, of missing ones too.
CREATE SCHEMA idn
CREATE TABLE idn.t (a int DEFAULT 1 PRIMARY KEY, b text CHECK (b > ''))
CREATE VIEW idn.v AS SELECT * FROM idn.t
CREATE STATISTICS idn.st ON a, b FROM idn.t
CREATE DOMAIN idn.d AS int CHECK (value > 0)
CREATE FUNCTION idn.f(a int, OUT b int) LANGUAGE sql AS 'SELECT 1'
ALTER DEFAULT PRIVILEGES IN SCHEMA idn GRANT SELECT ON TABLES TO PUBLIC
ALTER DEFAULT PRIVILEGES GRANT SELECT ON [[SEQUENCES¦TABLES]] TO PUBLIC
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC
SELECT c.oid::regclass, o.objid, pg_describe_object(c.oid, o.objid, 0), i.*, a.* FROM pg_class c, (VALUES (0::oid), (999999)) AS o (objid), pg_identify_object(c.oid, o.objid, 0) i, pg_identify_object_as_address(c.oid, o.objid, 0) a WHERE c.oid IN ('[[pg_am¦pg_amop¦pg_amproc¦pg_attrdef¦pg_authid¦pg_cast¦pg_class¦pg_collation¦pg_constraint¦pg_conversion¦pg_database¦pg_default_acl¦pg_event_trigger¦pg_extension¦pg_foreign_data_wrapper¦pg_foreign_server¦pg_language¦pg_largeobject¦pg_largeobject_metadata¦pg_namespace¦pg_opclass¦pg_operator¦pg_opfamily¦pg_parameter_acl¦pg_policy¦pg_proc¦pg_publication¦pg_publication_namespace¦pg_publication_rel¦pg_rewrite¦pg_statistic_ext¦pg_subscription¦pg_tablespace¦pg_transform¦pg_trigger¦pg_ts_config¦pg_ts_dict¦pg_ts_parser¦pg_ts_template¦pg_type¦pg_user_mapping¦pg_attribute¦pg_index]]'::regclass) ORDER BY 1, 2
SELECT pg_describe_object('[[pg_amop¦pg_class¦pg_user_mapping]]'::regclass, 0, 1)
SELECT pg_describe_object(c.oid, o.oid, 0), i.*, a.* FROM [[pg_amop¦pg_amproc¦pg_operator¦pg_cast¦pg_opfamily¦pg_opclass¦pg_conversion]] o, pg_class c, pg_identify_object(c.oid, o.oid, 0) i, pg_identify_object_as_address(c.oid, o.oid, 0) a WHERE c.oid = o.tableoid AND o.oid < 16384 ORDER BY o.oid
SELECT pg_describe_object(c.oid, o.oid, 0), i.*, a.* FROM pg_proc o, pg_class c, pg_identify_object(c.oid, o.oid, 0) i, pg_identify_object_as_address(c.oid, o.oid, 0) a WHERE c.oid = o.tableoid AND o.oid < 12000 ORDER BY o.oid
SELECT pg_describe_object(c.oid, o.oid, 0), i.*, a.* FROM [[pg_default_acl¦pg_statistic_ext¦pg_attrdef]] o, pg_class c, pg_identify_object(c.oid, o.oid, 0) i, pg_identify_object_as_address(c.oid, o.oid, 0) a WHERE c.oid = o.tableoid AND o.oid >= 16384 ORDER BY 1
SELECT pg_describe_object(c.oid, o.oid, 0), i.*, a.* FROM pg_constraint o, pg_class c, pg_identify_object(c.oid, o.oid, 0) i, pg_identify_object_as_address(c.oid, o.oid, 0) a WHERE c.oid = o.tableoid AND o.connamespace = 'idn'::regnamespace ORDER BY 1
SELECT pg_describe_object(c.oid, o.oid, 0), i.*, a.* FROM pg_type o, pg_class c, pg_identify_object(c.oid, o.oid, 0) i, pg_identify_object_as_address(c.oid, o.oid, 0) a WHERE c.oid = o.tableoid AND o.typnamespace = 'idn'::regnamespace ORDER BY 1
SELECT pg_get_[[viewdef¦ruledef¦indexdef¦constraintdef¦triggerdef¦functiondef¦function_arguments¦function_identity_arguments¦function_result¦function_sqlbody¦statisticsobjdef¦statisticsobjdef_columns¦statisticsobjdef_expressions¦partkeydef¦partition_constraintdef¦userbyid]]([[0¦999999]])
DROP SCHEMA idn CASCADE
ALTER DEFAULT PRIVILEGES REVOKE SELECT ON [[SEQUENCES¦TABLES]] FROM PUBLIC
ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO PUBLIC
SELECT sub, pg_describe_object(1259, o, sub), i.*, a.* FROM unnest(ARRAY[1259, 2663, 999999]) o, unnest(ARRAY[0, 1, 1000, -1, -100, -2147483648]) sub, pg_identify_object(1259, o, sub) i, pg_identify_object_as_address(1259, o, sub) a ORDER BY o, sub
