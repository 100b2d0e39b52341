-- Our texts of the SQL standard's information schema. `xtask facts` loads them into a real PostgreSQL 15
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

