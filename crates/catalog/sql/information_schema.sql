-- The information schema of the SQL standard, in Norsu's own text. `xtask facts` loads it into PostgreSQL 15
-- and records the parse trees.

CREATE SCHEMA information_schema;
GRANT USAGE ON SCHEMA information_schema TO PUBLIC;
SET search_path TO information_schema;

CREATE DOMAIN cardinal_number AS integer
  CONSTRAINT cardinal_number_domain_check CHECK (VALUE >= 0);
CREATE DOMAIN character_data AS character varying COLLATE "C";
CREATE DOMAIN sql_identifier AS name;
CREATE DOMAIN time_stamp AS timestamp(2) with time zone DEFAULT current_timestamp(2);
CREATE DOMAIN yes_or_no AS character varying(3) COLLATE "C"
  CONSTRAINT yes_or_no_check CHECK (VALUE IN ('YES', 'NO'));

CREATE TABLE sql_features (
  feature_id character_data, feature_name character_data, sub_feature_id character_data,
  sub_feature_name character_data, is_supported yes_or_no, is_verified_by character_data,
  comments character_data);
CREATE TABLE sql_implementation_info (
  implementation_info_id character_data, implementation_info_name character_data,
  integer_value cardinal_number, character_value character_data, comments character_data);
CREATE TABLE sql_parts (
  feature_id character_data, feature_name character_data, is_supported yes_or_no,
  is_verified_by character_data, comments character_data);
CREATE TABLE sql_sizing (
  sizing_id cardinal_number, sizing_name character_data, supported_value cardinal_number,
  comments character_data);

INSERT INTO sql_implementation_info VALUES
  ('10003', 'CATALOG NAME', NULL, 'Y', NULL),
  ('10004', 'COLLATING SEQUENCE', NULL, 'ucs_basic', NULL),
  ('23', 'CURSOR COMMIT BEHAVIOR', 1, NULL, NULL),
  ('2', 'DATA SOURCE NAME', NULL, '', NULL),
  ('17', 'DBMS NAME', NULL, 'PostgreSQL', NULL),
  ('18', 'DBMS VERSION', NULL, '15', NULL),
  ('26', 'DEFAULT TRANSACTION ISOLATION', 2, NULL, NULL),
  ('28', 'IDENTIFIER CASE', 3, NULL, NULL),
  ('85', 'NULL COLLATION', 0, NULL, NULL),
  ('13', 'SERVER NAME', NULL, '', NULL),
  ('94', 'SPECIAL CHARACTERS', NULL, '', NULL),
  ('46', 'TRANSACTION CAPABLE', 2, NULL, NULL);

INSERT INTO sql_parts VALUES
  ('1', 'Framework (SQL/Framework)', 'NO', NULL, ''),
  ('2', 'Foundation (SQL/Foundation)', 'NO', NULL, ''),
  ('3', 'Call-Level Interface (SQL/CLI)', 'NO', NULL, ''),
  ('4', 'Persistent Stored Modules (SQL/PSM)', 'NO', NULL, ''),
  ('9', 'Management of External Data (SQL/MED)', 'NO', NULL, ''),
  ('10', 'Object Language Bindings (SQL/OLB)', 'NO', NULL, ''),
  ('11', 'Information and Definition Schema (SQL/Schemata)', 'NO', NULL, ''),
  ('13', 'Routines and Types Using the Java Programming Language (SQL/JRT)', 'NO', NULL, ''),
  ('14', 'XML-Related Specifications (SQL/XML)', 'NO', NULL, ''),
  ('15', 'Multi-Dimensional Arrays (SQL/MDA)', 'NO', NULL, '');

INSERT INTO sql_sizing VALUES
  (34, 'MAXIMUM CATALOG NAME LENGTH', 63, NULL), (30, 'MAXIMUM COLUMN NAME LENGTH', 63, NULL),
  (97, 'MAXIMUM COLUMNS IN GROUP BY', 0, NULL), (99, 'MAXIMUM COLUMNS IN ORDER BY', 0, NULL),
  (100, 'MAXIMUM COLUMNS IN SELECT', 1664, NULL), (101, 'MAXIMUM COLUMNS IN TABLE', 1600, NULL),
  (1, 'MAXIMUM CONCURRENT ACTIVITIES', 0, NULL), (31, 'MAXIMUM CURSOR NAME LENGTH', 63, NULL),
  (0, 'MAXIMUM DRIVER CONNECTIONS', NULL, NULL), (10005, 'MAXIMUM IDENTIFIER LENGTH', 63, NULL),
  (32, 'MAXIMUM SCHEMA NAME LENGTH', 63, NULL), (20000, 'MAXIMUM STATEMENT OCTETS', 0, NULL),
  (20001, 'MAXIMUM STATEMENT OCTETS DATA', 0, NULL),
  (20002, 'MAXIMUM STATEMENT OCTETS SCHEMA', 0, NULL),
  (35, 'MAXIMUM TABLE NAME LENGTH', 63, NULL), (106, 'MAXIMUM TABLES IN SELECT', 0, NULL),
  (107, 'MAXIMUM USER NAME LENGTH', 63, NULL),
  (25000, 'MAXIMUM CURRENT DEFAULT TRANSFORM GROUP LENGTH', NULL, NULL),
  (25001, 'MAXIMUM CURRENT TRANSFORM GROUP LENGTH', NULL, NULL),
  (25002, 'MAXIMUM CURRENT PATH LENGTH', 0, NULL),
  (25003, 'MAXIMUM CURRENT ROLE LENGTH', NULL, NULL),
  (25004, 'MAXIMUM SESSION USER LENGTH', 63, NULL),
  (25005, 'MAXIMUM SYSTEM USER LENGTH', 63, NULL);

GRANT SELECT ON sql_features, sql_implementation_info, sql_parts, sql_sizing TO PUBLIC;

-- Lengths and precisions of columns and types, from a type and its modifier; -1 means no modifier.

CREATE FUNCTION _pg_char_max_length(typid oid, typmod int4) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT
  RETURN CASE WHEN typmod = -1 THEN NULL WHEN typid IN (1042, 1043) THEN typmod - 4
              WHEN typid IN (1560, 1562) THEN typmod END;

CREATE FUNCTION _pg_char_octet_length(typid oid, typmod int4) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT
  RETURN CASE WHEN typid NOT IN (25, 1042, 1043) THEN NULL
              WHEN typmod = -1 OR typid = 25 THEN CAST(2^30 AS integer)
              ELSE information_schema._pg_char_max_length(typid, typmod)
                   * pg_encoding_max_length((SELECT encoding FROM pg_catalog.pg_database
                                             WHERE datname = current_database())) END;

CREATE FUNCTION _pg_numeric_precision(typid oid, typmod int4) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT
  RETURN CASE typid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64
                    WHEN 700 THEN 24 WHEN 701 THEN 53
                    WHEN 1700 THEN CASE WHEN typmod <> -1 THEN (typmod - 4) >> 16 & 65535 END END;

CREATE FUNCTION _pg_numeric_precision_radix(typid oid, typmod int4) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT
  RETURN CASE WHEN typid IN (20, 21, 23, 700, 701) THEN 2 WHEN typid = 1700 THEN 10 END;

CREATE FUNCTION _pg_numeric_scale(typid oid, typmod int4) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT
  RETURN CASE WHEN typid IN (20, 21, 23) THEN 0
              WHEN typid = 1700 AND typmod <> -1 THEN (typmod - 4) & 65535 END;

CREATE FUNCTION _pg_datetime_precision(typid oid, typmod int4) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT
  RETURN CASE WHEN typid = 1082 THEN 0
              WHEN typid IN (1083, 1114, 1184, 1266) THEN CASE WHEN typmod < 0 THEN 6 ELSE typmod END
              WHEN typid = 1186 THEN
                CASE WHEN typmod < 0 OR typmod & 65535 = 65535 THEN 6 ELSE typmod & 65535 END END;

CREATE FUNCTION _pg_interval_type(typid oid, mod int4) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT
  RETURN CASE WHEN typid = 1186 THEN
           upper(substring(format_type(typid, mod), 'interval[()0-9]* #"%#"', '#')) END;

-- The type of a column, with a domain replaced by its base type, and the modifier that applies to it.

CREATE FUNCTION _pg_truetypid(pg_attribute, pg_type) RETURNS oid
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT
  RETURN CASE ($2).typtype WHEN 'd' THEN ($2).typbasetype ELSE ($1).atttypid END;

CREATE FUNCTION _pg_truetypmod(pg_attribute, pg_type) RETURNS int4
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT
  RETURN CASE ($2).typtype WHEN 'd' THEN ($2).typtypmod ELSE ($1).atttypmod END;

-- The elements of an array's outer dimension with their positions, from 1. Client drivers call this function.
CREATE FUNCTION _pg_expandarray(IN anyarray, OUT x anyelement, OUT n int) RETURNS SETOF record
  LANGUAGE sql STRICT IMMUTABLE PARALLEL SAFE
  AS 'SELECT $1[i], i - array_lower($1, 1) + 1 FROM generate_subscripts($1, 1) i';

CREATE FUNCTION _pg_index_position(oid, smallint) RETURNS int
  LANGUAGE sql STRICT STABLE
BEGIN ATOMIC
  SELECT k.place::integer
  FROM pg_index i, unnest(i.indkey::smallint[]) WITH ORDINALITY k(number, place)
  WHERE i.indexrelid = $1 AND k.number = $2;
END;

CREATE VIEW information_schema_catalog_name AS
  SELECT current_database()::sql_identifier AS catalog_name;

GRANT SELECT ON information_schema_catalog_name TO PUBLIC;

CREATE VIEW applicable_roles AS
  SELECT m.rolname::sql_identifier AS grantee, r.rolname::sql_identifier AS role_name,
         (CASE WHEN g.admin_option THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_grantable
  FROM (SELECT member, roleid, admin_option FROM pg_auth_members
        UNION SELECT d.datdba, o.oid, false FROM pg_database d, pg_authid o
        WHERE d.datname = current_database() AND o.rolname = 'pg_database_owner') g
       JOIN pg_authid m ON m.oid = g.member JOIN pg_authid r ON r.oid = g.roleid
  WHERE pg_has_role(m.oid, 'USAGE');

GRANT SELECT ON applicable_roles TO PUBLIC;

CREATE VIEW administrable_role_authorizations AS
  SELECT * FROM applicable_roles WHERE is_grantable = 'YES';

GRANT SELECT ON administrable_role_authorizations TO PUBLIC;

CREATE VIEW enabled_roles AS
  SELECT a.rolname::sql_identifier AS role_name FROM pg_authid a WHERE pg_has_role(a.oid, 'USAGE');

GRANT SELECT ON enabled_roles TO PUBLIC;

CREATE VIEW character_sets AS
  SELECT NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
         getdatabaseencoding()::sql_identifier AS character_set_name,
         (CASE getdatabaseencoding() WHEN 'UTF8' THEN 'UCS' ELSE getdatabaseencoding()
          END)::sql_identifier AS character_repertoire,
         getdatabaseencoding()::sql_identifier AS form_of_use,
         current_database()::sql_identifier AS default_collate_catalog,
         n.nspname::sql_identifier AS default_collate_schema,
         c.collname::sql_identifier AS default_collate_name
  FROM pg_database d
       LEFT JOIN (pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace)
         ON c.collcollate = d.datcollate AND c.collctype = d.datctype
  WHERE d.datname = current_database()
  ORDER BY char_length(c.collname::text) DESC, c.collname
  LIMIT 1;

GRANT SELECT ON character_sets TO PUBLIC;

CREATE VIEW check_constraints AS
  SELECT current_database()::sql_identifier AS constraint_catalog,
         n.nspname::sql_identifier AS constraint_schema, k.conname::sql_identifier AS constraint_name,
         substr(pg_get_constraintdef(k.oid), 7)::character_data AS check_clause
  FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace
       LEFT JOIN pg_class c ON c.oid = k.conrelid LEFT JOIN pg_type t ON t.oid = k.contypid
  WHERE k.contype = 'c' AND pg_has_role(coalesce(c.relowner, t.typowner), 'USAGE')
  UNION
  SELECT current_database()::sql_identifier, n.nspname::sql_identifier,
         concat(n.oid, '_', c.oid, '_', a.attnum, '_not_null')::sql_identifier,
         (a.attname || ' IS NOT NULL')::character_data
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull AND c.relkind IN ('r', 'p')
    AND pg_has_role(c.relowner, 'USAGE');

GRANT SELECT ON check_constraints TO PUBLIC;

CREATE VIEW collations AS
  SELECT current_database()::sql_identifier AS collation_catalog,
         n.nspname::sql_identifier AS collation_schema, c.collname::sql_identifier AS collation_name,
         'NO PAD'::character_data AS pad_attribute
  FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace
  WHERE c.collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()));

GRANT SELECT ON collations TO PUBLIC;

CREATE VIEW columns AS
  SELECT current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
         c.relname::sql_identifier AS table_name, a.attname::sql_identifier AS column_name,
         a.attnum::cardinal_number AS ordinal_position,
         (CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid)
          END)::character_data AS column_default,
         (CASE WHEN a.attnotnull OR t.typtype = 'd' AND t.typnotnull THEN 'NO' ELSE 'YES'
          END)::yes_or_no AS is_nullable,
         (CASE WHEN real.typelem <> 0 AND real.typlen = -1 THEN 'ARRAY'
               WHEN real.typnamespace = 'pg_catalog'::regnamespace THEN format_type(real.oid, NULL)
               ELSE 'USER-DEFINED' END)::character_data AS data_type,
         _pg_char_max_length(x.id, x.mod)::cardinal_number AS character_maximum_length,
         _pg_char_octet_length(x.id, x.mod)::cardinal_number AS character_octet_length,
         _pg_numeric_precision(x.id, x.mod)::cardinal_number AS numeric_precision,
         _pg_numeric_precision_radix(x.id, x.mod)::cardinal_number AS numeric_precision_radix,
         _pg_numeric_scale(x.id, x.mod)::cardinal_number AS numeric_scale,
         _pg_datetime_precision(x.id, x.mod)::cardinal_number AS datetime_precision,
         _pg_interval_type(x.id, x.mod)::character_data AS interval_type,
         NULL::cardinal_number AS interval_precision,
         NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
         NULL::sql_identifier AS character_set_name,
         (CASE WHEN o.nspname IS NOT NULL THEN current_database() END)::sql_identifier
           AS collation_catalog,
         o.nspname::sql_identifier AS collation_schema, o.collname::sql_identifier AS collation_name,
         (CASE WHEN t.typtype = 'd' THEN current_database() END)::sql_identifier AS domain_catalog,
         (CASE WHEN t.typtype = 'd' THEN tn.nspname END)::sql_identifier AS domain_schema,
         (CASE WHEN t.typtype = 'd' THEN t.typname END)::sql_identifier AS domain_name,
         current_database()::sql_identifier AS udt_catalog, rn.nspname::sql_identifier AS udt_schema,
         real.typname::sql_identifier AS udt_name,
         NULL::sql_identifier AS scope_catalog, NULL::sql_identifier AS scope_schema,
         NULL::sql_identifier AS scope_name, NULL::cardinal_number AS maximum_cardinality,
         a.attnum::sql_identifier AS dtd_identifier, 'NO'::yes_or_no AS is_self_referencing,
         (CASE WHEN a.attidentity IN ('a', 'd') THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_identity,
         (CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY DEFAULT'
          END)::character_data AS identity_generation,
         s.seqstart::character_data AS identity_start,
         s.seqincrement::character_data AS identity_increment,
         s.seqmax::character_data AS identity_maximum, s.seqmin::character_data AS identity_minimum,
         (CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END)::yes_or_no AS identity_cycle,
         (CASE WHEN a.attgenerated <> '' THEN 'ALWAYS' ELSE 'NEVER' END)::character_data
           AS is_generated,
         (CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid)
          END)::character_data AS generation_expression,
         (CASE WHEN c.relkind IN ('r', 'p')
                 OR c.relkind IN ('v', 'f') AND pg_column_is_updatable(c.oid, a.attnum, false)
               THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_updatable
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace tn ON tn.oid = t.typnamespace
       JOIN pg_type real ON real.oid = CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END
       JOIN pg_namespace rn ON rn.oid = real.typnamespace
       CROSS JOIN LATERAL (SELECT _pg_truetypid(a, t) AS id, _pg_truetypmod(a, t) AS mod) x
       LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
       LEFT JOIN (SELECT k.oid, k.collname, kn.nspname
                  FROM pg_collation k JOIN pg_namespace kn ON kn.oid = k.collnamespace
                  WHERE (kn.nspname, k.collname) <> ('pg_catalog', 'default')) o
         ON o.oid = a.attcollation
       LEFT JOIN (pg_depend p JOIN pg_sequence s ON p.classid = 'pg_class'::regclass
                    AND p.objid = s.seqrelid AND p.deptype = 'i')
         ON p.refclassid = 'pg_class'::regclass AND p.refobjid = c.oid AND p.refobjsubid = a.attnum
  WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p')
    AND NOT pg_is_other_temp_schema(n.oid)
    AND (pg_has_role(c.relowner, 'USAGE')
         OR has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'));

GRANT SELECT ON columns TO PUBLIC;

CREATE VIEW constraint_column_usage AS
  SELECT current_database()::sql_identifier AS table_catalog, u.nspname::sql_identifier AS table_schema,
         u.relname::sql_identifier AS table_name, u.attname::sql_identifier AS column_name,
         current_database()::sql_identifier AS constraint_catalog,
         u.conschema::sql_identifier AS constraint_schema, u.conname::sql_identifier AS constraint_name
  FROM (SELECT DISTINCT n.nspname, c.relname, c.relowner, a.attname, kn.nspname AS conschema, k.conname
        FROM pg_constraint k JOIN pg_namespace kn ON kn.oid = k.connamespace
             JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = k.oid
                             AND d.refclassid = 'pg_class'::regclass
             JOIN pg_class c ON c.oid = d.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
        WHERE k.contype = 'c' AND c.relkind IN ('r', 'p') AND NOT a.attisdropped
        UNION ALL
        SELECT n.nspname, c.relname, c.relowner, a.attname, kn.nspname, k.conname
        FROM pg_constraint k JOIN pg_namespace kn ON kn.oid = k.connamespace
             JOIN pg_class c ON c.oid = CASE k.contype WHEN 'f' THEN k.confrelid ELSE k.conrelid END
             JOIN pg_namespace n ON n.oid = c.relnamespace
             JOIN pg_attribute a ON a.attrelid = c.oid
               AND a.attnum = ANY (CASE k.contype WHEN 'f' THEN k.confkey ELSE k.conkey END)
        WHERE k.contype IN ('p', 'u', 'f') AND c.relkind IN ('r', 'p') AND NOT a.attisdropped) u
  WHERE pg_has_role(u.relowner, 'USAGE');

GRANT SELECT ON constraint_column_usage TO PUBLIC;

CREATE VIEW constraint_table_usage AS
  SELECT current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
         c.relname::sql_identifier AS table_name,
         current_database()::sql_identifier AS constraint_catalog,
         kn.nspname::sql_identifier AS constraint_schema, k.conname::sql_identifier AS constraint_name
  FROM pg_constraint k JOIN pg_namespace kn ON kn.oid = k.connamespace
       JOIN pg_class c ON c.oid = CASE k.contype WHEN 'f' THEN k.confrelid ELSE k.conrelid END
       JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE k.contype IN ('p', 'u', 'f') AND c.relkind IN ('r', 'p') AND pg_has_role(c.relowner, 'USAGE');

GRANT SELECT ON constraint_table_usage TO PUBLIC;

CREATE VIEW domain_constraints AS
  SELECT current_database()::sql_identifier AS constraint_catalog,
         kn.nspname::sql_identifier AS constraint_schema, k.conname::sql_identifier AS constraint_name,
         current_database()::sql_identifier AS domain_catalog,
         n.nspname::sql_identifier AS domain_schema, t.typname::sql_identifier AS domain_name,
         (CASE WHEN k.condeferrable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_deferrable,
         (CASE WHEN k.condeferred THEN 'YES' ELSE 'NO' END)::yes_or_no AS initially_deferred
  FROM pg_constraint k JOIN pg_namespace kn ON kn.oid = k.connamespace
       JOIN pg_type t ON t.oid = k.contypid JOIN pg_namespace n ON n.oid = t.typnamespace
  WHERE pg_has_role(t.typowner, 'USAGE') OR has_type_privilege(t.oid, 'USAGE');

GRANT SELECT ON domain_constraints TO PUBLIC;

CREATE VIEW domains AS
  SELECT current_database()::sql_identifier AS domain_catalog, n.nspname::sql_identifier AS domain_schema,
         t.typname::sql_identifier AS domain_name,
         (CASE WHEN b.typnamespace = 'pg_catalog'::regnamespace THEN format_type(b.oid, NULL)
               ELSE 'USER-DEFINED' END)::character_data AS data_type,
         _pg_char_max_length(t.typbasetype, t.typtypmod)::cardinal_number AS character_maximum_length,
         _pg_char_octet_length(t.typbasetype, t.typtypmod)::cardinal_number AS character_octet_length,
         NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
         NULL::sql_identifier AS character_set_name,
         (CASE WHEN o.nspname IS NOT NULL THEN current_database() END)::sql_identifier
           AS collation_catalog,
         o.nspname::sql_identifier AS collation_schema, o.collname::sql_identifier AS collation_name,
         _pg_numeric_precision(t.typbasetype, t.typtypmod)::cardinal_number AS numeric_precision,
         _pg_numeric_precision_radix(t.typbasetype, t.typtypmod)::cardinal_number
           AS numeric_precision_radix,
         _pg_numeric_scale(t.typbasetype, t.typtypmod)::cardinal_number AS numeric_scale,
         _pg_datetime_precision(t.typbasetype, t.typtypmod)::cardinal_number AS datetime_precision,
         _pg_interval_type(t.typbasetype, t.typtypmod)::character_data AS interval_type,
         NULL::cardinal_number AS interval_precision, t.typdefault::character_data AS domain_default,
         current_database()::sql_identifier AS udt_catalog, bn.nspname::sql_identifier AS udt_schema,
         b.typname::sql_identifier AS udt_name, NULL::sql_identifier AS scope_catalog,
         NULL::sql_identifier AS scope_schema, NULL::sql_identifier AS scope_name,
         NULL::cardinal_number AS maximum_cardinality, 1::sql_identifier AS dtd_identifier
  FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
       JOIN pg_type b ON b.oid = t.typbasetype JOIN pg_namespace bn ON bn.oid = b.typnamespace
       LEFT JOIN (SELECT k.oid, k.collname, kn.nspname
                  FROM pg_collation k JOIN pg_namespace kn ON kn.oid = k.collnamespace
                  WHERE (kn.nspname, k.collname) <> ('pg_catalog', 'default')) o
         ON o.oid = t.typcollation
  WHERE t.typtype = 'd'
    AND (pg_has_role(t.typowner, 'USAGE') OR has_type_privilege(t.oid, 'USAGE'));

GRANT SELECT ON domains TO PUBLIC;

CREATE VIEW key_column_usage AS
  SELECT current_database()::sql_identifier AS constraint_catalog,
         kn.nspname::sql_identifier AS constraint_schema, k.conname::sql_identifier AS constraint_name,
         current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
         c.relname::sql_identifier AS table_name, a.attname::sql_identifier AS column_name,
         x.place::cardinal_number AS ordinal_position,
         (CASE WHEN k.contype = 'f' THEN _pg_index_position(k.conindid, k.confkey[x.place::integer])
          END)::cardinal_number AS position_in_unique_constraint
  FROM pg_constraint k JOIN pg_namespace kn ON kn.oid = k.connamespace
       JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
       CROSS JOIN LATERAL unnest(k.conkey) WITH ORDINALITY x(number, place)
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.number
  WHERE k.contype IN ('p', 'u', 'f') AND c.relkind IN ('r', 'p') AND NOT a.attisdropped
    AND NOT pg_is_other_temp_schema(n.oid)
    AND (pg_has_role(c.relowner, 'USAGE')
         OR has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'));

GRANT SELECT ON key_column_usage TO PUBLIC;

CREATE VIEW referential_constraints AS
  SELECT current_database()::sql_identifier AS constraint_catalog,
         kn.nspname::sql_identifier AS constraint_schema, k.conname::sql_identifier AS constraint_name,
         (CASE WHEN u.oid IS NOT NULL THEN current_database() END)::sql_identifier
           AS unique_constraint_catalog,
         un.nspname::sql_identifier AS unique_constraint_schema,
         u.conname::sql_identifier AS unique_constraint_name,
         (CASE k.confmatchtype WHEN 'f' THEN 'FULL' WHEN 'p' THEN 'PARTIAL' WHEN 's' THEN 'NONE'
          END)::character_data AS match_option,
         (CASE k.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT'
               WHEN 'r' THEN 'RESTRICT' WHEN 'a' THEN 'NO ACTION' END)::character_data AS update_rule,
         (CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT'
               WHEN 'r' THEN 'RESTRICT' WHEN 'a' THEN 'NO ACTION' END)::character_data AS delete_rule
  FROM pg_constraint k JOIN pg_namespace kn ON kn.oid = k.connamespace
       JOIN pg_class c ON c.oid = k.conrelid
       LEFT JOIN pg_constraint u ON u.conindid = k.conindid AND u.conrelid = k.confrelid
                                AND u.contype IN ('p', 'u')
       LEFT JOIN pg_namespace un ON un.oid = u.connamespace
  WHERE k.contype = 'f'
    AND (pg_has_role(c.relowner, 'USAGE')
         OR has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
         OR has_any_column_privilege(c.oid, 'INSERT, UPDATE, REFERENCES'));

GRANT SELECT ON referential_constraints TO PUBLIC;

CREATE VIEW schemata AS
  SELECT current_database()::sql_identifier AS catalog_name, n.nspname::sql_identifier AS schema_name,
         o.rolname::sql_identifier AS schema_owner,
         NULL::sql_identifier AS default_character_set_catalog,
         NULL::sql_identifier AS default_character_set_schema,
         NULL::sql_identifier AS default_character_set_name, NULL::character_data AS sql_path
  FROM pg_namespace n JOIN pg_authid o ON o.oid = n.nspowner
  WHERE pg_has_role(n.nspowner, 'USAGE') OR has_schema_privilege(n.oid, 'CREATE, USAGE');

GRANT SELECT ON schemata TO PUBLIC;

CREATE VIEW sequences AS
  SELECT current_database()::sql_identifier AS sequence_catalog,
         n.nspname::sql_identifier AS sequence_schema, c.relname::sql_identifier AS sequence_name,
         format_type(s.seqtypid, NULL)::character_data AS data_type,
         _pg_numeric_precision(s.seqtypid, -1)::cardinal_number AS numeric_precision,
         2::cardinal_number AS numeric_precision_radix, 0::cardinal_number AS numeric_scale,
         s.seqstart::character_data AS start_value, s.seqmin::character_data AS minimum_value,
         s.seqmax::character_data AS maximum_value, s.seqincrement::character_data AS increment,
         (CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END)::yes_or_no AS cycle_option
  FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'S' AND NOT pg_is_other_temp_schema(n.oid)
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass
                    AND d.objid = c.oid AND d.deptype = 'i')
    AND (pg_has_role(c.relowner, 'USAGE') OR has_sequence_privilege(c.oid, 'SELECT, UPDATE, USAGE'));

GRANT SELECT ON sequences TO PUBLIC;

CREATE VIEW table_constraints AS
  SELECT current_database()::sql_identifier AS constraint_catalog,
         t.conschema::sql_identifier AS constraint_schema, t.conname::sql_identifier AS constraint_name,
         current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
         c.relname::sql_identifier AS table_name, t.kind::character_data AS constraint_type,
         (CASE WHEN t.deferrable THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_deferrable,
         (CASE WHEN t.deferred THEN 'YES' ELSE 'NO' END)::yes_or_no AS initially_deferred,
         'YES'::yes_or_no AS enforced, t.nulls_distinct::yes_or_no AS nulls_distinct
  FROM (SELECT k.conrelid, kn.nspname AS conschema, k.conname::text AS conname,
               CASE k.contype WHEN 'c' THEN 'CHECK' WHEN 'f' THEN 'FOREIGN KEY'
                              WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' END AS kind,
               k.condeferrable AS deferrable, k.condeferred AS deferred,
               CASE WHEN k.contype = 'u' THEN
                 (SELECT CASE WHEN i.indnullsnotdistinct THEN 'NO' ELSE 'YES' END
                  FROM pg_index i WHERE i.indexrelid = k.conindid) END AS nulls_distinct
        FROM pg_constraint k JOIN pg_namespace kn ON kn.oid = k.connamespace
        WHERE k.contype IN ('c', 'f', 'p', 'u')
        UNION ALL
        SELECT a.attrelid, tn.nspname, concat(tn.oid, '_', tc.oid, '_', a.attnum, '_not_null'), 'CHECK',
               false, false, NULL
        FROM pg_attribute a JOIN pg_class tc ON tc.oid = a.attrelid
             JOIN pg_namespace tn ON tn.oid = tc.relnamespace
        WHERE a.attnotnull AND a.attnum > 0 AND NOT a.attisdropped) t
       JOIN pg_class c ON c.oid = t.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND NOT pg_is_other_temp_schema(n.oid)
    AND (pg_has_role(c.relowner, 'USAGE')
         OR has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
         OR has_any_column_privilege(c.oid, 'INSERT, UPDATE, REFERENCES'));

GRANT SELECT ON table_constraints TO PUBLIC;

CREATE VIEW table_privileges AS
  SELECT f.rolname::sql_identifier AS grantor,
         coalesce(t.rolname, 'PUBLIC')::sql_identifier AS grantee,
         current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
         c.relname::sql_identifier AS table_name, x.privilege_type::character_data AS privilege_type,
         (CASE WHEN x.is_grantable OR pg_has_role(x.grantee, c.relowner, 'USAGE') THEN 'YES' ELSE 'NO'
          END)::yes_or_no AS is_grantable,
         (CASE WHEN x.privilege_type = 'SELECT' THEN 'YES' ELSE 'NO' END)::yes_or_no AS with_hierarchy
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) x
       JOIN pg_authid f ON f.oid = x.grantor LEFT JOIN pg_authid t ON t.oid = x.grantee
  WHERE c.relkind IN ('r', 'v', 'f', 'p') AND (t.oid IS NOT NULL OR x.grantee = 0)
    AND x.privilege_type IN ('INSERT', 'SELECT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER')
    AND (pg_has_role(f.oid, 'USAGE') OR pg_has_role(t.oid, 'USAGE') OR x.grantee = 0);

GRANT SELECT ON table_privileges TO PUBLIC;

CREATE VIEW role_table_grants AS
  SELECT * FROM table_privileges
  WHERE grantor IN (SELECT role_name FROM enabled_roles)
     OR grantee IN (SELECT role_name FROM enabled_roles);

GRANT SELECT ON role_table_grants TO PUBLIC;

CREATE VIEW tables AS
  SELECT current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
         c.relname::sql_identifier AS table_name,
         (CASE WHEN n.oid = pg_my_temp_schema() THEN 'LOCAL TEMPORARY'
               WHEN c.relkind IN ('r', 'p') THEN 'BASE TABLE' WHEN c.relkind = 'v' THEN 'VIEW'
               WHEN c.relkind = 'f' THEN 'FOREIGN' END)::character_data AS table_type,
         NULL::sql_identifier AS self_referencing_column_name,
         NULL::character_data AS reference_generation,
         (CASE WHEN t.typname IS NOT NULL THEN current_database() END)::sql_identifier
           AS user_defined_type_catalog,
         tn.nspname::sql_identifier AS user_defined_type_schema,
         t.typname::sql_identifier AS user_defined_type_name,
         (CASE WHEN c.relkind IN ('r', 'p')
                 OR c.relkind IN ('v', 'f') AND pg_relation_is_updatable(c.oid, false) & 8 = 8
               THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_insertable_into,
         (CASE WHEN t.typname IS NOT NULL THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_typed,
         NULL::character_data AS commit_action
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       LEFT JOIN (pg_type t JOIN pg_namespace tn ON tn.oid = t.typnamespace) ON t.oid = c.reloftype
  WHERE c.relkind IN ('r', 'v', 'f', 'p') AND NOT pg_is_other_temp_schema(n.oid)
    AND (pg_has_role(c.relowner, 'USAGE')
         OR has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
         OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'));

GRANT SELECT ON tables TO PUBLIC;

CREATE VIEW views AS
  SELECT current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
         c.relname::sql_identifier AS table_name,
         (CASE WHEN pg_has_role(c.relowner, 'USAGE') THEN pg_get_viewdef(c.oid)
          END)::character_data AS view_definition,
         (CASE WHEN 'check_option=cascaded' = ANY (c.reloptions) THEN 'CASCADED'
               WHEN 'check_option=local' = ANY (c.reloptions) THEN 'LOCAL' ELSE 'NONE'
          END)::character_data AS check_option,
         (CASE WHEN pg_relation_is_updatable(c.oid, false) & 20 = 20 THEN 'YES' ELSE 'NO'
          END)::yes_or_no AS is_updatable,
         (CASE WHEN pg_relation_is_updatable(c.oid, false) & 8 = 8 THEN 'YES' ELSE 'NO'
          END)::yes_or_no AS is_insertable_into,
         (CASE WHEN t.on_update THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_trigger_updatable,
         (CASE WHEN t.on_delete THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_trigger_deletable,
         (CASE WHEN t.on_insert THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_trigger_insertable_into
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       CROSS JOIN LATERAL (
         -- INSTEAD OF row triggers: bits 0 and 6, and the event's own
         SELECT coalesce(bool_or(g.tgtype & 81 = 81), false) AS on_update,
                coalesce(bool_or(g.tgtype & 73 = 73), false) AS on_delete,
                coalesce(bool_or(g.tgtype & 69 = 69), false) AS on_insert
         FROM pg_trigger g WHERE g.tgrelid = c.oid) t
  WHERE c.relkind = 'v' AND NOT pg_is_other_temp_schema(n.oid)
    AND (pg_has_role(c.relowner, 'USAGE')
         OR has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
         OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'));

GRANT SELECT ON views TO PUBLIC;

CREATE VIEW view_table_usage AS
  SELECT DISTINCT current_database()::sql_identifier AS view_catalog,
         vn.nspname::sql_identifier AS view_schema, v.relname::sql_identifier AS view_name,
         current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
         c.relname::sql_identifier AS table_name
  FROM pg_class v JOIN pg_namespace vn ON vn.oid = v.relnamespace
       JOIN pg_rewrite r ON r.ev_class = v.oid AND r.rulename = '_RETURN'
       JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                       AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> v.oid
       JOIN pg_class c ON c.oid = d.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE v.relkind = 'v' AND c.relkind IN ('r', 'v', 'f', 'p') AND pg_has_role(c.relowner, 'USAGE');

GRANT SELECT ON view_table_usage TO PUBLIC;

CREATE VIEW triggers AS
  SELECT current_database()::sql_identifier AS trigger_catalog,
         n.nspname::sql_identifier AS trigger_schema, t.tgname::sql_identifier AS trigger_name,
         e.word::character_data AS event_manipulation,
         current_database()::sql_identifier AS event_object_catalog,
         n.nspname::sql_identifier AS event_object_schema,
         c.relname::sql_identifier AS event_object_table,
         (rank() OVER (PARTITION BY n.oid, c.oid, e.bit, t.tgtype & 1, t.tgtype & 66
                       ORDER BY t.tgname))::cardinal_number AS action_order,
         (CASE WHEN pg_has_role(c.relowner, 'USAGE')
               THEN (regexp_match(pg_get_triggerdef(t.oid), '.{35,} WHEN \((.+)\) EXECUTE FUNCTION'))[1]
          END)::character_data AS action_condition,
         substring(pg_get_triggerdef(t.oid) FROM position('EXECUTE FUNCTION' IN
           substring(pg_get_triggerdef(t.oid) FROM 48)) + 47)::character_data AS action_statement,
         (CASE t.tgtype & 1 WHEN 1 THEN 'ROW' ELSE 'STATEMENT' END)::character_data
           AS action_orientation,
         (CASE t.tgtype & 66 WHEN 2 THEN 'BEFORE' WHEN 64 THEN 'INSTEAD OF' ELSE 'AFTER'
          END)::character_data AS action_timing,
         t.tgoldtable::sql_identifier AS action_reference_old_table,
         t.tgnewtable::sql_identifier AS action_reference_new_table,
         NULL::sql_identifier AS action_reference_old_row,
         NULL::sql_identifier AS action_reference_new_row, NULL::time_stamp AS created
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN (VALUES (4, 'INSERT'), (8, 'DELETE'), (16, 'UPDATE')) e(bit, word) ON t.tgtype & e.bit <> 0
  WHERE NOT t.tgisinternal AND NOT pg_is_other_temp_schema(n.oid)
    AND (pg_has_role(c.relowner, 'USAGE')
         OR has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
         OR has_any_column_privilege(c.oid, 'INSERT, UPDATE, REFERENCES'));

GRANT SELECT ON triggers TO PUBLIC;

-- Routines. A specific name consists of the name and the OID of the routine.

CREATE VIEW parameters AS
  SELECT current_database()::sql_identifier AS specific_catalog,
         n.nspname::sql_identifier AS specific_schema,
         nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name,
         x.place::cardinal_number AS ordinal_position,
         (CASE p.proargmodes[x.place::integer] WHEN 'o' THEN 'OUT' WHEN 'b' THEN 'INOUT' WHEN 't' THEN 'OUT'
               ELSE 'IN' END)::character_data AS parameter_mode,
         'NO'::yes_or_no AS is_result, 'NO'::yes_or_no AS as_locator,
         nullif(p.proargnames[x.place::integer], '')::sql_identifier AS parameter_name,
         (CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY'
               WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN format_type(t.oid, NULL)
               ELSE 'USER-DEFINED' END)::character_data AS data_type,
         NULL::cardinal_number AS character_maximum_length,
         NULL::cardinal_number AS character_octet_length,
         NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
         NULL::sql_identifier AS character_set_name, NULL::sql_identifier AS collation_catalog,
         NULL::sql_identifier AS collation_schema, NULL::sql_identifier AS collation_name,
         NULL::cardinal_number AS numeric_precision, NULL::cardinal_number AS numeric_precision_radix,
         NULL::cardinal_number AS numeric_scale, NULL::cardinal_number AS datetime_precision,
         NULL::character_data AS interval_type, NULL::cardinal_number AS interval_precision,
         current_database()::sql_identifier AS udt_catalog, tn.nspname::sql_identifier AS udt_schema,
         t.typname::sql_identifier AS udt_name, NULL::sql_identifier AS scope_catalog,
         NULL::sql_identifier AS scope_schema, NULL::sql_identifier AS scope_name,
         NULL::cardinal_number AS maximum_cardinality, x.place::sql_identifier AS dtd_identifier,
         (CASE WHEN pg_has_role(p.proowner, 'USAGE')
               THEN pg_get_function_arg_default(p.oid, x.place::integer) END)::character_data
           AS parameter_default
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
       CROSS JOIN LATERAL unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]))
         WITH ORDINALITY x(type, place)
       JOIN pg_type t ON t.oid = x.type JOIN pg_namespace tn ON tn.oid = t.typnamespace
  WHERE pg_has_role(p.proowner, 'USAGE') OR has_function_privilege(p.oid, 'EXECUTE');

GRANT SELECT ON parameters TO PUBLIC;

CREATE VIEW routines AS
  SELECT current_database()::sql_identifier AS specific_catalog,
         n.nspname::sql_identifier AS specific_schema,
         nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name,
         current_database()::sql_identifier AS routine_catalog,
         n.nspname::sql_identifier AS routine_schema, p.proname::sql_identifier AS routine_name,
         (CASE p.prokind WHEN 'f' THEN 'FUNCTION' WHEN 'p' THEN 'PROCEDURE' END)::character_data
           AS routine_type,
         NULL::sql_identifier AS module_catalog, NULL::sql_identifier AS module_schema,
         NULL::sql_identifier AS module_name, NULL::sql_identifier AS udt_catalog,
         NULL::sql_identifier AS udt_schema, NULL::sql_identifier AS udt_name,
         (CASE WHEN p.prokind = 'p' THEN NULL
               WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY'
               WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN format_type(t.oid, NULL)
               ELSE 'USER-DEFINED' END)::character_data AS data_type,
         NULL::cardinal_number AS character_maximum_length,
         NULL::cardinal_number AS character_octet_length,
         NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
         NULL::sql_identifier AS character_set_name, NULL::sql_identifier AS collation_catalog,
         NULL::sql_identifier AS collation_schema, NULL::sql_identifier AS collation_name,
         NULL::cardinal_number AS numeric_precision, NULL::cardinal_number AS numeric_precision_radix,
         NULL::cardinal_number AS numeric_scale, NULL::cardinal_number AS datetime_precision,
         NULL::character_data AS interval_type, NULL::cardinal_number AS interval_precision,
         (CASE WHEN t.oid IS NOT NULL THEN current_database() END)::sql_identifier AS type_udt_catalog,
         tn.nspname::sql_identifier AS type_udt_schema, t.typname::sql_identifier AS type_udt_name,
         NULL::sql_identifier AS scope_catalog, NULL::sql_identifier AS scope_schema,
         NULL::sql_identifier AS scope_name, NULL::cardinal_number AS maximum_cardinality,
         (CASE WHEN p.prokind <> 'p' THEN 0 END)::sql_identifier AS dtd_identifier,
         (CASE l.lanname WHEN 'sql' THEN 'SQL' ELSE 'EXTERNAL' END)::character_data AS routine_body,
         (CASE WHEN pg_has_role(p.proowner, 'USAGE') THEN p.prosrc END)::character_data
           AS routine_definition,
         (CASE l.lanname WHEN 'c' THEN p.prosrc END)::character_data AS external_name,
         upper(l.lanname)::character_data AS external_language,
         'GENERAL'::character_data AS parameter_style,
         (CASE p.provolatile WHEN 'i' THEN 'YES' ELSE 'NO' END)::yes_or_no AS is_deterministic,
         'MODIFIES'::character_data AS sql_data_access,
         (CASE WHEN p.prokind = 'p' THEN NULL WHEN p.proisstrict THEN 'YES' ELSE 'NO' END)::yes_or_no
           AS is_null_call,
         NULL::character_data AS sql_path, 'YES'::yes_or_no AS schema_level_routine,
         0::cardinal_number AS max_dynamic_result_sets, NULL::yes_or_no AS is_user_defined_cast,
         NULL::yes_or_no AS is_implicitly_invocable,
         (CASE WHEN p.prosecdef THEN 'DEFINER' ELSE 'INVOKER' END)::character_data AS security_type,
         NULL::sql_identifier AS to_sql_specific_catalog,
         NULL::sql_identifier AS to_sql_specific_schema, NULL::sql_identifier AS to_sql_specific_name,
         'NO'::yes_or_no AS as_locator, NULL::time_stamp AS created, NULL::time_stamp AS last_altered,
         NULL::yes_or_no AS new_savepoint_level, 'NO'::yes_or_no AS is_udt_dependent,
         NULL::character_data AS result_cast_from_data_type, NULL::yes_or_no AS result_cast_as_locator,
         NULL::cardinal_number AS result_cast_char_max_length,
         NULL::cardinal_number AS result_cast_char_octet_length,
         NULL::sql_identifier AS result_cast_char_set_catalog,
         NULL::sql_identifier AS result_cast_char_set_schema,
         NULL::sql_identifier AS result_cast_char_set_name,
         NULL::sql_identifier AS result_cast_collation_catalog,
         NULL::sql_identifier AS result_cast_collation_schema,
         NULL::sql_identifier AS result_cast_collation_name,
         NULL::cardinal_number AS result_cast_numeric_precision,
         NULL::cardinal_number AS result_cast_numeric_precision_radix,
         NULL::cardinal_number AS result_cast_numeric_scale,
         NULL::cardinal_number AS result_cast_datetime_precision,
         NULL::character_data AS result_cast_interval_type,
         NULL::cardinal_number AS result_cast_interval_precision,
         NULL::sql_identifier AS result_cast_type_udt_catalog,
         NULL::sql_identifier AS result_cast_type_udt_schema,
         NULL::sql_identifier AS result_cast_type_udt_name,
         NULL::sql_identifier AS result_cast_scope_catalog,
         NULL::sql_identifier AS result_cast_scope_schema,
         NULL::sql_identifier AS result_cast_scope_name,
         NULL::cardinal_number AS result_cast_maximum_cardinality,
         NULL::sql_identifier AS result_cast_dtd_identifier
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
       LEFT JOIN (pg_type t JOIN pg_namespace tn ON tn.oid = t.typnamespace)
         ON t.oid = p.prorettype AND p.prokind <> 'p'
  WHERE pg_has_role(p.proowner, 'USAGE') OR has_function_privilege(p.oid, 'EXECUTE');

GRANT SELECT ON routines TO PUBLIC;

-- The objects that constraints, routines and views use, from pg_depend.

CREATE VIEW check_constraint_routine_usage AS
  SELECT current_database()::sql_identifier AS constraint_catalog,
         kn.nspname::sql_identifier AS constraint_schema, k.conname::sql_identifier AS constraint_name,
         current_database()::sql_identifier AS specific_catalog,
         n.nspname::sql_identifier AS specific_schema,
         nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name
  FROM pg_constraint k JOIN pg_namespace kn ON kn.oid = k.connamespace
       JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = k.oid
                       AND d.refclassid = 'pg_proc'::regclass
       JOIN pg_proc p ON p.oid = d.refobjid JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE k.contype = 'c' AND pg_has_role(p.proowner, 'USAGE');

GRANT SELECT ON check_constraint_routine_usage TO PUBLIC;

CREATE VIEW column_column_usage AS
  SELECT DISTINCT current_database()::sql_identifier AS table_catalog,
         n.nspname::sql_identifier AS table_schema, c.relname::sql_identifier AS table_name,
         a.attname::sql_identifier AS column_name, g.attname::sql_identifier AS dependent_column
  FROM pg_attrdef e JOIN pg_attribute g ON g.attrelid = e.adrelid AND g.attnum = e.adnum
       JOIN pg_class c ON c.oid = e.adrelid JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = e.oid
                       AND d.refclassid = 'pg_class'::regclass AND d.refobjid = e.adrelid
       JOIN pg_attribute a ON a.attrelid = e.adrelid AND a.attnum = d.refobjsubid
  WHERE g.attgenerated <> '' AND a.attnum <> g.attnum AND pg_has_role(c.relowner, 'USAGE');

GRANT SELECT ON column_column_usage TO PUBLIC;

CREATE VIEW routine_column_usage AS
  SELECT DISTINCT current_database()::sql_identifier AS specific_catalog,
         pn.nspname::sql_identifier AS specific_schema,
         nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name,
         current_database()::sql_identifier AS routine_catalog,
         pn.nspname::sql_identifier AS routine_schema, p.proname::sql_identifier AS routine_name,
         current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
         c.relname::sql_identifier AS table_name, a.attname::sql_identifier AS column_name
  FROM pg_proc p JOIN pg_namespace pn ON pn.oid = p.pronamespace
       JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                       AND d.refclassid = 'pg_class'::regclass
       JOIN pg_class c ON c.oid = d.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
  WHERE c.relkind IN ('r', 'v', 'f', 'p') AND pg_has_role(c.relowner, 'USAGE');

GRANT SELECT ON routine_column_usage TO PUBLIC;

CREATE VIEW routine_routine_usage AS
  SELECT DISTINCT current_database()::sql_identifier AS specific_catalog,
         n.nspname::sql_identifier AS specific_schema,
         nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name,
         current_database()::sql_identifier AS routine_catalog,
         un.nspname::sql_identifier AS routine_schema,
         nameconcatoid(u.proname, u.oid)::sql_identifier AS routine_name
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
       JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                       AND d.refclassid = 'pg_proc'::regclass
       JOIN pg_proc u ON u.oid = d.refobjid JOIN pg_namespace un ON un.oid = u.pronamespace
  WHERE p.prokind IN ('f', 'p') AND u.prokind IN ('f', 'p') AND pg_has_role(u.proowner, 'USAGE');

GRANT SELECT ON routine_routine_usage TO PUBLIC;

CREATE VIEW routine_sequence_usage AS
  SELECT DISTINCT current_database()::sql_identifier AS specific_catalog,
         pn.nspname::sql_identifier AS specific_schema,
         nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name,
         current_database()::sql_identifier AS routine_catalog,
         pn.nspname::sql_identifier AS routine_schema, p.proname::sql_identifier AS routine_name,
         current_database()::sql_identifier AS sequence_catalog,
         n.nspname::sql_identifier AS sequence_schema, c.relname::sql_identifier AS sequence_name
  FROM pg_proc p JOIN pg_namespace pn ON pn.oid = p.pronamespace
       JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                       AND d.refclassid = 'pg_class'::regclass
       JOIN pg_class c ON c.oid = d.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'S' AND pg_has_role(c.relowner, 'USAGE');

GRANT SELECT ON routine_sequence_usage TO PUBLIC;

CREATE VIEW routine_table_usage AS
  SELECT DISTINCT current_database()::sql_identifier AS specific_catalog,
         pn.nspname::sql_identifier AS specific_schema,
         nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name,
         current_database()::sql_identifier AS routine_catalog,
         pn.nspname::sql_identifier AS routine_schema, p.proname::sql_identifier AS routine_name,
         current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
         c.relname::sql_identifier AS table_name
  FROM pg_proc p JOIN pg_namespace pn ON pn.oid = p.pronamespace
       JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                       AND d.refclassid = 'pg_class'::regclass
       JOIN pg_class c ON c.oid = d.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'v', 'f', 'p') AND pg_has_role(c.relowner, 'USAGE');

GRANT SELECT ON routine_table_usage TO PUBLIC;

CREATE VIEW view_column_usage AS
  SELECT DISTINCT current_database()::sql_identifier AS view_catalog,
         vn.nspname::sql_identifier AS view_schema, v.relname::sql_identifier AS view_name,
         current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
         c.relname::sql_identifier AS table_name, a.attname::sql_identifier AS column_name
  FROM pg_class v JOIN pg_namespace vn ON vn.oid = v.relnamespace
       JOIN pg_rewrite r ON r.ev_class = v.oid AND r.rulename = '_RETURN'
       JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                       AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> v.oid
       JOIN pg_class c ON c.oid = d.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
  WHERE v.relkind = 'v' AND c.relkind IN ('r', 'v', 'f', 'p') AND pg_has_role(c.relowner, 'USAGE');

GRANT SELECT ON view_column_usage TO PUBLIC;

CREATE VIEW view_routine_usage AS
  SELECT DISTINCT current_database()::sql_identifier AS table_catalog,
         vn.nspname::sql_identifier AS table_schema, v.relname::sql_identifier AS table_name,
         current_database()::sql_identifier AS specific_catalog,
         n.nspname::sql_identifier AS specific_schema,
         nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name
  FROM pg_class v JOIN pg_namespace vn ON vn.oid = v.relnamespace
       JOIN pg_rewrite r ON r.ev_class = v.oid AND r.rulename = '_RETURN'
       JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                       AND d.refclassid = 'pg_proc'::regclass
       JOIN pg_proc p ON p.oid = d.refobjid JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE v.relkind = 'v' AND pg_has_role(p.proowner, 'USAGE');

GRANT SELECT ON view_routine_usage TO PUBLIC;

CREATE VIEW triggered_update_columns AS
  SELECT current_database()::sql_identifier AS trigger_catalog,
         n.nspname::sql_identifier AS trigger_schema, t.tgname::sql_identifier AS trigger_name,
         current_database()::sql_identifier AS event_object_catalog,
         n.nspname::sql_identifier AS event_object_schema,
         c.relname::sql_identifier AS event_object_table,
         a.attname::sql_identifier AS event_object_column
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
       CROSS JOIN LATERAL unnest(t.tgattr::smallint[]) x(number)
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.number
  WHERE NOT t.tgisinternal AND NOT pg_is_other_temp_schema(n.oid)
    AND (pg_has_role(c.relowner, 'USAGE')
         OR has_column_privilege(c.oid, a.attnum, 'INSERT, UPDATE, REFERENCES'));

GRANT SELECT ON triggered_update_columns TO PUBLIC;

-- User-defined types.

CREATE VIEW user_defined_types AS
  SELECT current_database()::sql_identifier AS user_defined_type_catalog,
         n.nspname::sql_identifier AS user_defined_type_schema,
         c.relname::sql_identifier AS user_defined_type_name,
         'STRUCTURED'::character_data AS user_defined_type_category,
         'YES'::yes_or_no AS is_instantiable, NULL::yes_or_no AS is_final,
         NULL::character_data AS ordering_form, NULL::character_data AS ordering_category,
         NULL::sql_identifier AS ordering_routine_catalog,
         NULL::sql_identifier AS ordering_routine_schema,
         NULL::sql_identifier AS ordering_routine_name, NULL::character_data AS reference_type,
         NULL::character_data AS data_type, NULL::cardinal_number AS character_maximum_length,
         NULL::cardinal_number AS character_octet_length,
         NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
         NULL::sql_identifier AS character_set_name, NULL::sql_identifier AS collation_catalog,
         NULL::sql_identifier AS collation_schema, NULL::sql_identifier AS collation_name,
         NULL::cardinal_number AS numeric_precision, NULL::cardinal_number AS numeric_precision_radix,
         NULL::cardinal_number AS numeric_scale, NULL::cardinal_number AS datetime_precision,
         NULL::character_data AS interval_type, NULL::cardinal_number AS interval_precision,
         NULL::sql_identifier AS source_dtd_identifier, NULL::sql_identifier AS ref_dtd_identifier
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = c.reltype
  WHERE c.relkind = 'c'
    AND (pg_has_role(t.typowner, 'USAGE') OR has_type_privilege(t.oid, 'USAGE'));

GRANT SELECT ON user_defined_types TO PUBLIC;

CREATE VIEW attributes AS
  SELECT current_database()::sql_identifier AS udt_catalog, n.nspname::sql_identifier AS udt_schema,
         c.relname::sql_identifier AS udt_name, a.attname::sql_identifier AS attribute_name,
         a.attnum::cardinal_number AS ordinal_position,
         pg_get_expr(d.adbin, d.adrelid)::character_data AS attribute_default,
         (CASE WHEN a.attnotnull OR t.typtype = 'd' AND t.typnotnull THEN 'NO' ELSE 'YES'
          END)::yes_or_no AS is_nullable,
         (CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY'
               WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN format_type(t.oid, NULL)
               ELSE 'USER-DEFINED' END)::character_data AS data_type,
         _pg_char_max_length(x.id, x.mod)::cardinal_number AS character_maximum_length,
         _pg_char_octet_length(x.id, x.mod)::cardinal_number AS character_octet_length,
         NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
         NULL::sql_identifier AS character_set_name,
         (CASE WHEN o.nspname IS NOT NULL THEN current_database() END)::sql_identifier
           AS collation_catalog,
         o.nspname::sql_identifier AS collation_schema, o.collname::sql_identifier AS collation_name,
         _pg_numeric_precision(x.id, x.mod)::cardinal_number AS numeric_precision,
         _pg_numeric_precision_radix(x.id, x.mod)::cardinal_number AS numeric_precision_radix,
         _pg_numeric_scale(x.id, x.mod)::cardinal_number AS numeric_scale,
         _pg_datetime_precision(x.id, x.mod)::cardinal_number AS datetime_precision,
         _pg_interval_type(x.id, x.mod)::character_data AS interval_type,
         NULL::cardinal_number AS interval_precision,
         current_database()::sql_identifier AS attribute_udt_catalog,
         tn.nspname::sql_identifier AS attribute_udt_schema,
         t.typname::sql_identifier AS attribute_udt_name, NULL::sql_identifier AS scope_catalog,
         NULL::sql_identifier AS scope_schema, NULL::sql_identifier AS scope_name,
         NULL::cardinal_number AS maximum_cardinality, a.attnum::sql_identifier AS dtd_identifier,
         'NO'::yes_or_no AS is_derived_reference_attribute
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace tn ON tn.oid = t.typnamespace
       CROSS JOIN LATERAL (SELECT _pg_truetypid(a, t) AS id, _pg_truetypmod(a, t) AS mod) x
       LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
       LEFT JOIN (SELECT k.oid, k.collname, kn.nspname
                  FROM pg_collation k JOIN pg_namespace kn ON kn.oid = k.collnamespace
                  WHERE (kn.nspname, k.collname) <> ('pg_catalog', 'default')) o
         ON o.oid = a.attcollation
  WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind = 'c'
    AND (pg_has_role(c.relowner, 'USAGE') OR has_type_privilege(c.reltype, 'USAGE'));

GRANT SELECT ON attributes TO PUBLIC;

CREATE VIEW collation_character_set_applicability AS
  SELECT current_database()::sql_identifier AS collation_catalog,
         n.nspname::sql_identifier AS collation_schema, c.collname::sql_identifier AS collation_name,
         NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
         getdatabaseencoding()::sql_identifier AS character_set_name
  FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace
  WHERE c.collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()));

GRANT SELECT ON collation_character_set_applicability TO PUBLIC;

CREATE VIEW column_domain_usage AS
  SELECT current_database()::sql_identifier AS domain_catalog, tn.nspname::sql_identifier AS domain_schema,
         t.typname::sql_identifier AS domain_name, current_database()::sql_identifier AS table_catalog,
         n.nspname::sql_identifier AS table_schema, c.relname::sql_identifier AS table_name,
         a.attname::sql_identifier AS column_name
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace tn ON tn.oid = t.typnamespace
  WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p')
    AND t.typtype = 'd' AND pg_has_role(t.typowner, 'USAGE');

GRANT SELECT ON column_domain_usage TO PUBLIC;

CREATE VIEW column_udt_usage AS
  SELECT current_database()::sql_identifier AS udt_catalog, rn.nspname::sql_identifier AS udt_schema,
         real.typname::sql_identifier AS udt_name, current_database()::sql_identifier AS table_catalog,
         n.nspname::sql_identifier AS table_schema, c.relname::sql_identifier AS table_name,
         a.attname::sql_identifier AS column_name
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_type t ON t.oid = a.atttypid
       JOIN pg_type real ON real.oid = CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END
       JOIN pg_namespace rn ON rn.oid = real.typnamespace
  WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p')
    AND pg_has_role(real.typowner, 'USAGE');

GRANT SELECT ON column_udt_usage TO PUBLIC;

CREATE VIEW domain_udt_usage AS
  SELECT current_database()::sql_identifier AS udt_catalog, bn.nspname::sql_identifier AS udt_schema,
         b.typname::sql_identifier AS udt_name, current_database()::sql_identifier AS domain_catalog,
         n.nspname::sql_identifier AS domain_schema, t.typname::sql_identifier AS domain_name
  FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
       JOIN pg_type b ON b.oid = t.typbasetype JOIN pg_namespace bn ON bn.oid = b.typnamespace
  WHERE t.typtype = 'd' AND pg_has_role(b.typowner, 'USAGE');

GRANT SELECT ON domain_udt_usage TO PUBLIC;

CREATE VIEW data_type_privileges AS
  SELECT current_database()::sql_identifier AS object_catalog,
         u.schema::sql_identifier AS object_schema, u.name::sql_identifier AS object_name,
         u.type::character_data AS object_type, u.dtd::sql_identifier AS dtd_identifier
  FROM (SELECT udt_schema, udt_name, 'USER-DEFINED TYPE', dtd_identifier FROM attributes
        UNION ALL SELECT table_schema, table_name, 'TABLE', dtd_identifier FROM columns
        UNION ALL SELECT domain_schema, domain_name, 'DOMAIN', dtd_identifier FROM domains
        UNION ALL SELECT specific_schema, specific_name, 'ROUTINE', dtd_identifier FROM parameters
        UNION ALL SELECT specific_schema, specific_name, 'ROUTINE', dtd_identifier FROM routines)
       u(schema, name, type, dtd);

GRANT SELECT ON data_type_privileges TO PUBLIC;

CREATE VIEW element_types AS
  SELECT current_database()::sql_identifier AS object_catalog,
         n.nspname::sql_identifier AS object_schema, x.name::sql_identifier AS object_name,
         x.kind::character_data AS object_type, x.dtd::sql_identifier AS collection_type_identifier,
         (CASE WHEN e.typelem <> 0 AND e.typlen = -1 THEN 'ARRAY'
               WHEN e.typnamespace = 'pg_catalog'::regnamespace THEN format_type(e.oid, NULL)
               ELSE 'USER-DEFINED' END)::character_data AS data_type,
         NULL::cardinal_number AS character_maximum_length,
         NULL::cardinal_number AS character_octet_length,
         NULL::sql_identifier AS character_set_catalog, NULL::sql_identifier AS character_set_schema,
         NULL::sql_identifier AS character_set_name,
         (CASE WHEN o.nspname IS NOT NULL THEN current_database() END)::sql_identifier
           AS collation_catalog,
         o.nspname::sql_identifier AS collation_schema, o.collname::sql_identifier AS collation_name,
         NULL::cardinal_number AS numeric_precision, NULL::cardinal_number AS numeric_precision_radix,
         NULL::cardinal_number AS numeric_scale, NULL::cardinal_number AS datetime_precision,
         NULL::character_data AS interval_type, NULL::cardinal_number AS interval_precision,
         NULL::character_data AS domain_default, current_database()::sql_identifier AS udt_catalog,
         en.nspname::sql_identifier AS udt_schema, e.typname::sql_identifier AS udt_name,
         NULL::sql_identifier AS scope_catalog, NULL::sql_identifier AS scope_schema,
         NULL::sql_identifier AS scope_name, NULL::cardinal_number AS maximum_cardinality,
         ('a' || x.dtd)::sql_identifier AS dtd_identifier
  FROM (SELECT c.relnamespace, c.relname,
               CASE c.relkind WHEN 'c' THEN 'USER-DEFINED TYPE' ELSE 'TABLE' END, a.attnum, a.atttypid,
               a.attcollation
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relkind IN ('r', 'v', 'f', 'c', 'p') AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT typnamespace, typname, 'DOMAIN', 1, typbasetype, typcollation
        FROM pg_type WHERE typtype = 'd'
        UNION ALL
        SELECT p.pronamespace, nameconcatoid(p.proname, p.oid), 'ROUTINE', i.place, i.type, 0
        FROM pg_proc p CROSS JOIN LATERAL unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]))
               WITH ORDINALITY i(type, place)
        UNION ALL
        SELECT pronamespace, nameconcatoid(proname, oid), 'ROUTINE', 0, prorettype, 0
        FROM pg_proc) x(namespace, name, kind, dtd, type, coll)
       JOIN pg_namespace n ON n.oid = x.namespace
       JOIN pg_type t ON t.oid = x.type AND t.typelem <> 0 AND t.typlen = -1
       JOIN pg_type e ON e.oid = t.typelem JOIN pg_namespace en ON en.oid = e.typnamespace
       LEFT JOIN (SELECT k.oid, k.collname, kn.nspname
                  FROM pg_collation k JOIN pg_namespace kn ON kn.oid = k.collnamespace
                  WHERE (kn.nspname, k.collname) <> ('pg_catalog', 'default')) o
         ON o.oid = x.coll
  WHERE (n.nspname, x.name, x.kind, x.dtd::text)
        IN (SELECT object_schema, object_name, object_type, dtd_identifier FROM data_type_privileges);

GRANT SELECT ON element_types TO PUBLIC;

-- Privileges on columns, routines and types, and USAGE privileges.

CREATE VIEW column_privileges AS
  SELECT f.rolname::sql_identifier AS grantor, coalesce(t.rolname, 'PUBLIC')::sql_identifier AS grantee,
         current_database()::sql_identifier AS table_catalog, n.nspname::sql_identifier AS table_schema,
         x.relname::sql_identifier AS table_name, x.attname::sql_identifier AS column_name,
         x.privilege_type::character_data AS privilege_type,
         (CASE WHEN x.is_grantable OR pg_has_role(x.grantee, x.relowner, 'USAGE') THEN 'YES' ELSE 'NO'
          END)::yes_or_no AS is_grantable
  FROM (SELECT c.relnamespace, c.relname, c.relowner, a.attname, g.*
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
             CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) g
        WHERE c.relkind IN ('r', 'v', 'f', 'p') AND a.attnum > 0 AND NOT a.attisdropped
        UNION
        SELECT c.relnamespace, c.relname, c.relowner, a.attname, g.*
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid CROSS JOIN LATERAL aclexplode(a.attacl) g
        WHERE c.relkind IN ('r', 'v', 'f', 'p') AND a.attnum > 0 AND NOT a.attisdropped) x
       JOIN pg_namespace n ON n.oid = x.relnamespace
       JOIN pg_authid f ON f.oid = x.grantor LEFT JOIN pg_authid t ON t.oid = x.grantee
  WHERE (t.oid IS NOT NULL OR x.grantee = 0)
    AND x.privilege_type IN ('INSERT', 'SELECT', 'UPDATE', 'REFERENCES')
    AND (pg_has_role(f.oid, 'USAGE') OR pg_has_role(t.oid, 'USAGE') OR x.grantee = 0);

GRANT SELECT ON column_privileges TO PUBLIC;

CREATE VIEW routine_privileges AS
  SELECT f.rolname::sql_identifier AS grantor, coalesce(t.rolname, 'PUBLIC')::sql_identifier AS grantee,
         current_database()::sql_identifier AS specific_catalog,
         n.nspname::sql_identifier AS specific_schema,
         nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name,
         current_database()::sql_identifier AS routine_catalog,
         n.nspname::sql_identifier AS routine_schema, p.proname::sql_identifier AS routine_name,
         'EXECUTE'::character_data AS privilege_type,
         (CASE WHEN x.is_grantable OR pg_has_role(x.grantee, p.proowner, 'USAGE') THEN 'YES' ELSE 'NO'
          END)::yes_or_no AS is_grantable
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
       CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) x
       JOIN pg_authid f ON f.oid = x.grantor LEFT JOIN pg_authid t ON t.oid = x.grantee
  WHERE (t.oid IS NOT NULL OR x.grantee = 0) AND x.privilege_type = 'EXECUTE'
    AND (pg_has_role(f.oid, 'USAGE') OR pg_has_role(t.oid, 'USAGE') OR x.grantee = 0);

GRANT SELECT ON routine_privileges TO PUBLIC;

CREATE VIEW udt_privileges AS
  SELECT f.rolname::sql_identifier AS grantor, coalesce(t.rolname, 'PUBLIC')::sql_identifier AS grantee,
         current_database()::sql_identifier AS udt_catalog, n.nspname::sql_identifier AS udt_schema,
         u.typname::sql_identifier AS udt_name, 'TYPE USAGE'::character_data AS privilege_type,
         (CASE WHEN x.is_grantable OR pg_has_role(x.grantee, u.typowner, 'USAGE') THEN 'YES' ELSE 'NO'
          END)::yes_or_no AS is_grantable
  FROM pg_type u JOIN pg_namespace n ON n.oid = u.typnamespace
       CROSS JOIN LATERAL aclexplode(coalesce(u.typacl, acldefault('T', u.typowner))) x
       JOIN pg_authid f ON f.oid = x.grantor LEFT JOIN pg_authid t ON t.oid = x.grantee
  WHERE u.typtype = 'c' AND (t.oid IS NOT NULL OR x.grantee = 0) AND x.privilege_type = 'USAGE'
    AND (pg_has_role(f.oid, 'USAGE') OR pg_has_role(t.oid, 'USAGE') OR x.grantee = 0);

GRANT SELECT ON udt_privileges TO PUBLIC;

CREATE VIEW usage_privileges AS
  -- Collations have no privileges: PUBLIC may use all of them.
  SELECT o.rolname::sql_identifier AS grantor, 'PUBLIC'::sql_identifier AS grantee,
         current_database()::sql_identifier AS object_catalog,
         n.nspname::sql_identifier AS object_schema, c.collname::sql_identifier AS object_name,
         'COLLATION'::character_data AS object_type, 'USAGE'::character_data AS privilege_type,
         'NO'::yes_or_no AS is_grantable
  FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace
       JOIN pg_authid o ON o.oid = c.collowner
  WHERE c.collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()))
  UNION ALL
  SELECT f.rolname::sql_identifier, coalesce(t.rolname, 'PUBLIC')::sql_identifier,
         current_database()::sql_identifier, u.schema::sql_identifier, u.name::sql_identifier,
         u.kind::character_data, 'USAGE'::character_data,
         (CASE WHEN x.is_grantable OR pg_has_role(x.grantee, u.owner, 'USAGE') THEN 'YES' ELSE 'NO'
          END)::yes_or_no
  FROM (SELECT n.nspname, d.typname, 'DOMAIN', d.typowner,
               coalesce(d.typacl, acldefault('T', d.typowner))
        FROM pg_type d JOIN pg_namespace n ON n.oid = d.typnamespace WHERE d.typtype = 'd'
        UNION ALL
        SELECT '', fdwname, 'FOREIGN DATA WRAPPER', fdwowner, coalesce(fdwacl, acldefault('F', fdwowner))
        FROM pg_foreign_data_wrapper
        UNION ALL
        SELECT '', srvname, 'FOREIGN SERVER', srvowner, coalesce(srvacl, acldefault('S', srvowner))
        FROM pg_foreign_server
        UNION ALL
        SELECT n.nspname, s.relname, 'SEQUENCE', s.relowner, coalesce(s.relacl, acldefault('r', s.relowner))
        FROM pg_class s JOIN pg_namespace n ON n.oid = s.relnamespace WHERE s.relkind = 'S')
       u(schema, name, kind, owner, acl)
       CROSS JOIN LATERAL aclexplode(u.acl) x
       JOIN pg_authid f ON f.oid = x.grantor LEFT JOIN pg_authid t ON t.oid = x.grantee
  WHERE (t.oid IS NOT NULL OR x.grantee = 0) AND x.privilege_type = 'USAGE'
    AND (pg_has_role(f.oid, 'USAGE') OR pg_has_role(t.oid, 'USAGE') OR x.grantee = 0);

GRANT SELECT ON usage_privileges TO PUBLIC;

CREATE VIEW role_column_grants AS
  SELECT * FROM column_privileges
  WHERE grantor IN (SELECT role_name FROM enabled_roles)
     OR grantee IN (SELECT role_name FROM enabled_roles);

GRANT SELECT ON role_column_grants TO PUBLIC;

CREATE VIEW role_routine_grants AS
  SELECT * FROM routine_privileges
  WHERE grantor IN (SELECT role_name FROM enabled_roles)
     OR grantee IN (SELECT role_name FROM enabled_roles);

GRANT SELECT ON role_routine_grants TO PUBLIC;

CREATE VIEW role_udt_grants AS
  SELECT * FROM udt_privileges
  WHERE grantor IN (SELECT role_name FROM enabled_roles)
     OR grantee IN (SELECT role_name FROM enabled_roles);

GRANT SELECT ON role_udt_grants TO PUBLIC;

CREATE VIEW role_usage_grants AS
  SELECT * FROM usage_privileges
  WHERE grantor IN (SELECT role_name FROM enabled_roles)
     OR grantee IN (SELECT role_name FROM enabled_roles);

GRANT SELECT ON role_usage_grants TO PUBLIC;

-- One row for each direction of a transform. Only superusers may read the view.

CREATE VIEW transforms AS
  SELECT current_database()::sql_identifier AS udt_catalog, tn.nspname::sql_identifier AS udt_schema,
         t.typname::sql_identifier AS udt_name, current_database()::sql_identifier AS specific_catalog,
         n.nspname::sql_identifier AS specific_schema,
         nameconcatoid(p.proname, p.oid)::sql_identifier AS specific_name,
         l.lanname::sql_identifier AS group_name, x.direction::character_data AS transform_type
  FROM pg_transform m JOIN pg_language l ON l.oid = m.trflang
       JOIN pg_type t ON t.oid = m.trftype JOIN pg_namespace tn ON tn.oid = t.typnamespace
       CROSS JOIN LATERAL (VALUES (m.trffromsql, 'FROM SQL'), (m.trftosql, 'TO SQL'))
         x(function, direction)
       JOIN pg_proc p ON p.oid = x.function JOIN pg_namespace n ON n.oid = p.pronamespace;

-- Foreign data.

CREATE VIEW _pg_foreign_data_wrappers AS
  SELECT w.oid, w.fdwowner, w.fdwoptions,
         current_database()::sql_identifier AS foreign_data_wrapper_catalog,
         w.fdwname::sql_identifier AS foreign_data_wrapper_name,
         o.rolname::sql_identifier AS authorization_identifier,
         'c'::character_data AS foreign_data_wrapper_language
  FROM pg_foreign_data_wrapper w JOIN pg_authid o ON o.oid = w.fdwowner
  WHERE pg_has_role(w.fdwowner, 'USAGE') OR has_foreign_data_wrapper_privilege(w.oid, 'USAGE');

CREATE VIEW foreign_data_wrappers AS
  SELECT foreign_data_wrapper_catalog, foreign_data_wrapper_name, authorization_identifier,
         NULL::character_data AS library_name, foreign_data_wrapper_language
  FROM _pg_foreign_data_wrappers;

GRANT SELECT ON foreign_data_wrappers TO PUBLIC;

CREATE VIEW foreign_data_wrapper_options AS
  SELECT w.foreign_data_wrapper_catalog, w.foreign_data_wrapper_name,
         o.option_name::sql_identifier AS option_name, o.option_value::character_data AS option_value
  FROM _pg_foreign_data_wrappers w CROSS JOIN LATERAL pg_options_to_table(w.fdwoptions) o;

GRANT SELECT ON foreign_data_wrapper_options TO PUBLIC;

CREATE VIEW _pg_foreign_servers AS
  SELECT s.oid, s.srvoptions, current_database()::sql_identifier AS foreign_server_catalog,
         s.srvname::sql_identifier AS foreign_server_name,
         current_database()::sql_identifier AS foreign_data_wrapper_catalog,
         w.fdwname::sql_identifier AS foreign_data_wrapper_name,
         s.srvtype::character_data AS foreign_server_type,
         s.srvversion::character_data AS foreign_server_version,
         o.rolname::sql_identifier AS authorization_identifier
  FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
       JOIN pg_authid o ON o.oid = s.srvowner
  WHERE pg_has_role(s.srvowner, 'USAGE') OR has_server_privilege(s.oid, 'USAGE');

CREATE VIEW foreign_servers AS
  SELECT foreign_server_catalog, foreign_server_name, foreign_data_wrapper_catalog,
         foreign_data_wrapper_name, foreign_server_type, foreign_server_version,
         authorization_identifier
  FROM _pg_foreign_servers;

GRANT SELECT ON foreign_servers TO PUBLIC;

CREATE VIEW foreign_server_options AS
  SELECT s.foreign_server_catalog, s.foreign_server_name, o.option_name::sql_identifier AS option_name,
         o.option_value::character_data AS option_value
  FROM _pg_foreign_servers s CROSS JOIN LATERAL pg_options_to_table(s.srvoptions) o;

GRANT SELECT ON foreign_server_options TO PUBLIC;

CREATE VIEW _pg_foreign_tables AS
  SELECT current_database()::sql_identifier AS foreign_table_catalog,
         n.nspname::sql_identifier AS foreign_table_schema,
         c.relname::sql_identifier AS foreign_table_name, f.ftoptions,
         current_database()::sql_identifier AS foreign_server_catalog,
         s.srvname::sql_identifier AS foreign_server_name,
         o.rolname::sql_identifier AS authorization_identifier
  FROM pg_foreign_table f JOIN pg_class c ON c.oid = f.ftrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_foreign_server s ON s.oid = f.ftserver JOIN pg_authid o ON o.oid = c.relowner
  WHERE pg_has_role(c.relowner, 'USAGE')
     OR has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
     OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES');

CREATE VIEW foreign_tables AS
  SELECT foreign_table_catalog, foreign_table_schema, foreign_table_name, foreign_server_catalog,
         foreign_server_name
  FROM _pg_foreign_tables;

GRANT SELECT ON foreign_tables TO PUBLIC;

CREATE VIEW foreign_table_options AS
  SELECT t.foreign_table_catalog, t.foreign_table_schema, t.foreign_table_name,
         o.option_name::sql_identifier AS option_name, o.option_value::character_data AS option_value
  FROM _pg_foreign_tables t CROSS JOIN LATERAL pg_options_to_table(t.ftoptions) o;

GRANT SELECT ON foreign_table_options TO PUBLIC;

CREATE VIEW _pg_foreign_table_columns AS
  SELECT n.nspname, c.relname, a.attname, a.attfdwoptions
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE a.attnum > 0 AND c.relkind = 'f'
    AND (pg_has_role(c.relowner, 'USAGE')
         OR has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'));

CREATE VIEW column_options AS
  SELECT current_database()::sql_identifier AS table_catalog, c.nspname::sql_identifier AS table_schema,
         c.relname::sql_identifier AS table_name, c.attname::sql_identifier AS column_name,
         o.option_name::sql_identifier AS option_name, o.option_value::character_data AS option_value
  FROM _pg_foreign_table_columns c CROSS JOIN LATERAL pg_options_to_table(c.attfdwoptions) o;

GRANT SELECT ON column_options TO PUBLIC;

CREATE VIEW _pg_user_mappings AS
  SELECT m.oid, m.umoptions, m.umuser, coalesce(u.rolname, 'PUBLIC')::sql_identifier AS authorization_identifier,
         s.foreign_server_catalog, s.foreign_server_name, s.authorization_identifier AS srvowner
  FROM pg_user_mapping m JOIN _pg_foreign_servers s ON s.oid = m.umserver
       LEFT JOIN pg_authid u ON u.oid = m.umuser;

CREATE VIEW user_mappings AS
  SELECT authorization_identifier, foreign_server_catalog, foreign_server_name FROM _pg_user_mappings;

GRANT SELECT ON user_mappings TO PUBLIC;

CREATE VIEW user_mapping_options AS
  SELECT m.authorization_identifier, m.foreign_server_catalog, m.foreign_server_name,
         o.option_name::sql_identifier AS option_name,
         -- The value may be a password, so it is shown to its user, to the owner of the server for a mapping of
         -- PUBLIC, and to superusers.
         (CASE WHEN m.umuser <> 0 AND m.authorization_identifier = current_user
                 OR m.umuser = 0 AND pg_has_role(m.srvowner, 'USAGE')
                 OR (SELECT rolsuper FROM pg_authid WHERE rolname = current_user)
               THEN o.option_value END)::character_data AS option_value
  FROM _pg_user_mappings m CROSS JOIN LATERAL pg_options_to_table(m.umoptions) o;

GRANT SELECT ON user_mapping_options TO PUBLIC;
