-- Facts of PostgreSQL 15's parameters, one line each: name, type, unit, context, boot value, least,
-- greatest, values of an enumeration, flags. Run on a new cluster:
--   psql -XAt -F '	' -f extract.sql > settings.tsv
select name, vartype, coalesce(unit, ''), context,
       replace(replace(coalesce(boot_val, ''), E'\n', ' '), E'\t', ' '), coalesce(min_val, ''), coalesce(max_val, ''),
       coalesce(array_to_string(enumvals, ','), ''),
       array_to_string(pg_settings_get_flags(name), ','), category
  from pg_settings where name not like 'norsu.%' order by lower(name) collate "C";
