-- COMMENT, RENAME, OWNER TO, SET SCHEMA and DROP for objects of all classes. The objects are those of a new cluster; a division by zero rolls changes back.
CREATE ROLE oc_user
CREATE SCHEMA oc; GRANT CREATE ON SCHEMA oc TO oc_user
CREATE VIEW oc_comments AS SELECT classoid::regclass::text AS class, objsubid, description FROM pg_description WHERE description LIKE 'oc %' UNION ALL SELECT classoid::regclass::text, 0, description FROM pg_shdescription WHERE description LIKE 'oc %'
COMMENT ON [[TEXT SEARCH CONFIGURATION¦TEXT SEARCH DICTIONARY¦TEXT SEARCH PARSER¦TEXT SEARCH TEMPLATE¦CONVERSION¦COLLATION¦EXTENSION¦LANGUAGE¦ACCESS METHOD¦FOREIGN DATA WRAPPER¦SERVER¦EVENT TRIGGER¦PUBLICATION¦SUBSCRIPTION¦SCHEMA¦ROLE¦DATABASE¦TABLESPACE¦STATISTICS]] nosuch IS 'oc x'
COMMENT ON [[TEXT SEARCH CONFIGURATION¦TEXT SEARCH DICTIONARY¦TEXT SEARCH PARSER¦TEXT SEARCH TEMPLATE¦CONVERSION¦COLLATION¦STATISTICS]] [[pg_catalog¦nos]].nosuch IS 'oc x'
COMMENT ON OPERATOR [[CLASS¦FAMILY]] [[nosuch¦nos.nosuch¦pg_catalog.nosuch]] USING [[btree¦nosuch]] IS 'oc x'
COMMENT ON [[CAST (int4 AS point)¦CAST (int4 AS nosuch)¦CAST (nosuch AS int4)¦OPERATOR +(int4, point)¦OPERATOR +(int4, nosuch)¦OPERATOR nos.+(int4, int4)¦OPERATOR !(NONE, int4)¦OPERATOR ==(int4, NONE)¦TRANSFORM FOR int4 LANGUAGE sql¦TRANSFORM FOR int4 LANGUAGE nosuch¦TRANSFORM FOR nosuch LANGUAGE sql¦LARGE OBJECT 1¦FOREIGN TABLE nosuch¦TABLE pg_user¦VIEW pg_class¦INDEX pg_class¦SEQUENCE pg_class¦MATERIALIZED VIEW pg_class¦FOREIGN TABLE pg_class¦COLUMN pg_class_oid_index.oid¦COLUMN pg_class.nosuch]] IS 'oc x'
COMMENT ON [[TEXT SEARCH CONFIGURATION english¦TEXT SEARCH DICTIONARY english_stem¦TEXT SEARCH PARSER "default"¦TEXT SEARCH TEMPLATE simple¦CONVERSION windows_1258_to_utf8¦COLLATION "C"¦LANGUAGE c¦ACCESS METHOD btree¦OPERATOR CLASS int4_ops USING btree¦OPERATOR FAMILY integer_ops USING btree¦CAST (int4 AS int8)¦OPERATOR -(int4, int4)¦OPERATOR pg_catalog.-(NONE, int4)¦ROLE oc_user¦TABLESPACE pg_default]] IS 'oc comment'; SELECT * FROM oc_comments ORDER BY 1, 2; SELECT 1/0
COMMENT ON LANGUAGE c IS 'oc first'; COMMENT ON LANGUAGE c IS 'oc second'; SELECT * FROM oc_comments; COMMENT ON LANGUAGE c IS NULL; SELECT * FROM oc_comments; SELECT 1/0
ALTER [[TEXT SEARCH CONFIGURATION english¦TEXT SEARCH DICTIONARY english_stem¦TEXT SEARCH PARSER "default"¦TEXT SEARCH TEMPLATE simple¦CONVERSION windows_1258_to_utf8¦COLLATION "C"¦LANGUAGE sql¦OPERATOR CLASS int4_ops USING btree¦OPERATOR FAMILY integer_ops USING btree]] RENAME TO oc_new; SELECT 'conversion', conname FROM pg_conversion WHERE conname = 'oc_new' UNION ALL SELECT 'config', cfgname FROM pg_ts_config WHERE cfgname = 'oc_new' UNION ALL SELECT 'dict', dictname FROM pg_ts_dict WHERE dictname = 'oc_new' UNION ALL SELECT 'opclass', opcname FROM pg_opclass WHERE opcname = 'oc_new' UNION ALL SELECT 'opfamily', opfname FROM pg_opfamily WHERE opfname = 'oc_new' UNION ALL SELECT 'language', lanname FROM pg_language WHERE lanname = 'oc_new' UNION ALL SELECT 'collation', collname FROM pg_collation WHERE collname = 'oc_new'; SELECT 1/0
ALTER [[TEXT SEARCH CONFIGURATION english RENAME TO french¦TEXT SEARCH DICTIONARY english_stem RENAME TO french_stem¦TEXT SEARCH TEMPLATE simple RENAME TO snowball¦CONVERSION windows_1258_to_utf8 RENAME TO utf8_to_windows_1258¦COLLATION "C" RENAME TO "POSIX"¦LANGUAGE sql RENAME TO c¦OPERATOR CLASS int4_ops USING btree RENAME TO int8_ops¦OPERATOR FAMILY integer_ops USING btree RENAME TO text_ops]]
ALTER [[TEXT SEARCH CONFIGURATION¦CONVERSION¦COLLATION¦LANGUAGE¦FOREIGN DATA WRAPPER¦SERVER¦EVENT TRIGGER¦PUBLICATION¦STATISTICS]] nosuch [[RENAME TO oc_new¦OWNER TO oc_user]]
ALTER [[TEXT SEARCH CONFIGURATION english¦TEXT SEARCH DICTIONARY english_stem¦TEXT SEARCH PARSER "default"¦TEXT SEARCH TEMPLATE simple¦CONVERSION windows_1258_to_utf8¦COLLATION "C"¦OPERATOR CLASS int4_ops USING btree¦OPERATOR FAMILY integer_ops USING btree¦OPERATOR -(int4, int4)]] SET SCHEMA [[oc¦pg_catalog¦nos¦pg_toast]]; SELECT classid::regclass, deptype FROM pg_depend WHERE refclassid = 'pg_namespace'::regclass AND refobjid = 'oc'::regnamespace ORDER BY 1; SELECT 1/0
CREATE TEMP TABLE oc_temp (a int); ALTER COLLATION "C" SET SCHEMA pg_temp
DROP TABLE oc_temp
ALTER [[TEXT SEARCH CONFIGURATION english¦TEXT SEARCH DICTIONARY english_stem¦CONVERSION windows_1258_to_utf8¦COLLATION "C"¦LANGUAGE sql¦OPERATOR CLASS int4_ops USING btree¦OPERATOR FAMILY integer_ops USING btree¦OPERATOR -(int4, int4)]] OWNER TO [[oc_user¦nosuch]]; SELECT classid::regclass, deptype FROM pg_shdepend WHERE refobjid = 'oc_user'::regrole AND deptype = 'o' ORDER BY 1; SELECT 1/0
DROP [[TEXT SEARCH CONFIGURATION¦TEXT SEARCH DICTIONARY¦TEXT SEARCH PARSER¦TEXT SEARCH TEMPLATE¦CONVERSION¦COLLATION¦LANGUAGE¦ACCESS METHOD¦FOREIGN DATA WRAPPER¦SERVER¦EVENT TRIGGER¦PUBLICATION¦EXTENSION¦SCHEMA¦STATISTICS]] [[¦IF EXISTS]] nosuch
DROP [[TEXT SEARCH CONFIGURATION¦TEXT SEARCH DICTIONARY¦TEXT SEARCH PARSER¦TEXT SEARCH TEMPLATE¦CONVERSION¦COLLATION¦STATISTICS]] [[¦IF EXISTS]] nos.nosuch
DROP OPERATOR [[CLASS¦FAMILY]] [[¦IF EXISTS]] [[nosuch¦nos.nosuch]] USING [[btree¦nosuch]]
DROP [[CAST¦CAST IF EXISTS]] [[(int4 AS point)¦(int4 AS nosuch)¦(nosuch AS nosuch2)¦(nos.nosuch AS int4)]]
DROP [[OPERATOR¦OPERATOR IF EXISTS]] [[+(int4, point)¦+(int4, nosuch)¦nos.+(int4, int4)]]
DROP TRANSFORM [[¦IF EXISTS]] FOR [[int4¦nosuch]] LANGUAGE [[c¦nosuch]]
DROP [[TEXT SEARCH CONFIGURATION simple¦TEXT SEARCH CONFIGURATION english¦TEXT SEARCH DICTIONARY english_stem¦TEXT SEARCH DICTIONARY danish_stem¦TEXT SEARCH DICTIONARY danish_stem CASCADE¦TEXT SEARCH PARSER "default"¦TEXT SEARCH TEMPLATE snowball¦TEXT SEARCH TEMPLATE simple¦TEXT SEARCH TEMPLATE IF EXISTS nosuch, simple¦CONVERSION windows_1258_to_utf8¦COLLATION "POSIX"¦COLLATION ucs_basic¦LANGUAGE c¦ACCESS METHOD btree¦OPERATOR CLASS float8_ops USING btree¦OPERATOR FAMILY integer_ops USING btree¦CAST (int4 AS int8)¦OPERATOR -(int4, int4)]]; SELECT cfgname FROM pg_ts_config WHERE cfgname IN ('english', 'danish') ORDER BY 1; SELECT count(*) FROM pg_ts_config_map m WHERE NOT EXISTS (SELECT FROM pg_ts_config c WHERE c.oid = m.mapcfg); SELECT 1/0
SELECT pg_describe_object(c.classid, c.objid, 0) FROM (VALUES ('pg_ts_parser'::regclass, 3722), ('pg_ts_template'::regclass, 3727), ('pg_conversion'::regclass, 4402), ('pg_am'::regclass, 403), ('pg_language'::regclass, 12), ('pg_opfamily'::regclass, 1976), ('pg_opclass'::regclass, 1978), ('pg_collation'::regclass, 950), ('pg_amop'::regclass, (SELECT oid::int FROM pg_amop WHERE amopfamily = 1976 AND amoplefttype = 23 AND amoprighttype = 23 AND amopstrategy = 1)), ('pg_ts_dict'::regclass, 3765), ('pg_ts_config'::regclass, 3748)) AS c (classid, objid) ORDER BY 1
SET ROLE oc_user
COMMENT ON [[TEXT SEARCH CONFIGURATION french¦TEXT SEARCH DICTIONARY french_stem¦TEXT SEARCH PARSER "default"¦TEXT SEARCH TEMPLATE simple¦CONVERSION windows_1258_to_utf8¦COLLATION pg_catalog."C"¦LANGUAGE c¦ACCESS METHOD btree¦OPERATOR CLASS int8_ops USING btree¦OPERATOR FAMILY text_ops USING btree¦CAST (int4 AS int8)¦OPERATOR -(int4, int4)¦OPERATOR pg_catalog.-(int4, int4)¦ROLE oc_user¦TABLESPACE pg_default¦DATABASE template1¦SCHEMA oc¦TABLE pg_class¦COLUMN pg_class.relname¦TYPE int4¦FUNCTION abs(int4)]] IS 'oc x'
ALTER [[TEXT SEARCH CONFIGURATION french¦TEXT SEARCH PARSER "default"¦TEXT SEARCH TEMPLATE simple¦CONVERSION windows_1258_to_utf8¦COLLATION "C"¦OPERATOR CLASS int8_ops USING btree¦OPERATOR FAMILY text_ops USING btree]] [[RENAME TO oc_new¦SET SCHEMA oc¦SET SCHEMA public]]
ALTER [[TEXT SEARCH CONFIGURATION french¦CONVERSION windows_1258_to_utf8¦COLLATION "C"¦LANGUAGE c¦OPERATOR CLASS int8_ops USING btree¦OPERATOR -(int4, int4)]] OWNER TO oc_user
ALTER LANGUAGE c RENAME TO oc_new
DROP [[TEXT SEARCH CONFIGURATION french¦TEXT SEARCH PARSER "default"¦TEXT SEARCH TEMPLATE simple¦TEXT SEARCH DICTIONARY french_stem¦OPERATOR CLASS int8_ops USING btree¦OPERATOR FAMILY text_ops USING btree¦CONVERSION windows_1258_to_utf8¦COLLATION "C"¦CAST (int4 AS int8)¦ACCESS METHOD btree¦LANGUAGE c¦OPERATOR -(int4, int4)¦SCHEMA oc]]
RESET ROLE
CREATE TABLE oc.t (a int, b int); CREATE STATISTICS oc.st ON a, b FROM oc.t
COMMENT ON STATISTICS oc.[[st¦nosuch]] IS 'oc statistics'
ALTER STATISTICS oc.[[st¦nosuch]] [[RENAME TO st2¦SET SCHEMA public¦OWNER TO oc_user]]; SELECT stxname, stxnamespace::regnamespace, stxowner::regrole = 'oc_user'::regrole FROM pg_statistic_ext; SELECT 1/0
SET ROLE oc_user
ALTER STATISTICS oc.st [[RENAME TO st2¦SET SCHEMA public¦OWNER TO oc_user]]
DROP STATISTICS oc.st
RESET ROLE
DROP STATISTICS oc.st, oc.nosuch
DROP STATISTICS IF EXISTS oc.st, oc.nosuch
GRANT USAGE ON [[LANGUAGE sql¦LANGUAGE nosuch¦FOREIGN DATA WRAPPER nosuch¦FOREIGN SERVER nosuch]] TO oc_user; SELECT lanname, lanacl IS NULL FROM pg_language WHERE lanname = 'sql'; SELECT 1/0
GRANT SELECT ON LARGE OBJECT 1 TO oc_user
DROP SCHEMA oc CASCADE
DROP VIEW oc_comments
DROP ROLE oc_user
