-- Makes pg_stat_statements 1.6 of 1.5.

REVOKE EXECUTE ON FUNCTION pg_stat_statements_reset() FROM pg_read_all_stats;
