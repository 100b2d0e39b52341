//! The statistics of the catalogs of a new cluster (`pg_statistic`), which `initdb` gathers.
//!
//! The values of a slot have the type `anyarray`, whose text does not tell the type of the
//! elements. They are written as `element base {values}`: the OID of the type of the elements, that
//! of its base type if it is a domain (of itself otherwise), and the array with numbers in place of
//! the names of functions and roles.

/// Functions of the session that writes the rows; they precede the query.
pub(super) const FUNCTIONS: &str = r"
CREATE FUNCTION pg_temp.functions(form bytea) RETURNS text LANGUAGE sql AS $$
  -- 20 bytes of the array's head, then the length and the OID of each element.
  SELECT '{' || string_agg((get_byte(form, at) * 16777216::bigint + get_byte(form, at + 1) * 65536
    + get_byte(form, at + 2) * 256 + get_byte(form, at + 3))::text, ',' ORDER BY at) || '}'
  FROM generate_series(24, length(form) - 4, 8) at
$$;
CREATE FUNCTION pg_temp.roles(words text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE role record;
BEGIN
  FOR role IN SELECT rolname, oid FROM pg_authid LOOP
    words := regexp_replace(words, '\m' || role.rolname || '\M', role.oid::text, 'g');
  END LOOP;
  RETURN words;
END $$;
CREATE FUNCTION pg_temp.element(relation oid, number int2, kind int2) RETURNS oid
LANGUAGE sql AS $$
  -- The slots of array columns with the kinds 4 and 5 are about their elements.
  SELECT CASE WHEN kind IN (4, 5) THEN typelem ELSE t.oid END
  FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
  WHERE attrelid = relation AND attnum = number
$$;
CREATE FUNCTION pg_temp.base(element oid) RETURNS oid LANGUAGE plpgsql AS $$
DECLARE under oid;
BEGIN
  SELECT typbasetype INTO under FROM pg_type WHERE oid = element AND typtype = 'd';
  RETURN CASE WHEN FOUND THEN pg_temp.base(under) ELSE element END;
END $$;
";

/// The expression of a column.
pub(super) fn expression(column: &str) -> String {
    let Some(number) = column.strip_prefix("stavalues") else { return format!("{column}::text") };
    let element = format!("pg_temp.element(starelid, staattnum, stakind{number})");
    format!(
        "CASE WHEN {column} IS NOT NULL THEN {element} || ' ' || pg_temp.base({element}) || ' ' || \
         CASE {element} WHEN 'regproc'::regtype THEN pg_temp.functions(anyarray_send({column})) \
         WHEN 'aclitem[]'::regtype THEN pg_temp.roles({column}::text) \
         ELSE {column}::text END END"
    )
}
