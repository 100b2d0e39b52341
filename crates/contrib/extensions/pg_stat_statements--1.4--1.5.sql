-- Makes pg_stat_statements 1.5 of 1.4.

GRANT EXECUTE ON FUNCTION pg_stat_statements_reset() TO pg_read_all_stats;
