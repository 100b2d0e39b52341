-- Time zones by the files of the machine, POSIX specifications, and their abbreviations in all styles of output.
SET timezone = '[[foo4¦<fo>4¦<fo>4:30¦x4¦est5edt¦Abc5def¦abc5def,M3.2.0,M11.1.0¦gmt¦utc¦europe/berlin¦posix/europe/berlin¦Asia/Kathmandu¦5.5¦-100¦-05¦-5:00¦+02:30¦verylongabbreviation5¦Etc/GMT+12¦Factory¦:UTC]]'; SHOW timezone; SET datestyle = '[[ISO¦SQL¦Postgres¦German¦SQL, DMY]]'; SELECT '2024-07-01 00:00+00'::timestamptz, to_char('2024-01-01 00:00+00'::timestamptz, 'TZ tz OF TZH:TZM'), '[[1900-07-01 00:00+00¦2024-01-01 00:00:01.5+00¦0044-03-15 12:00+00 BC¦9999-12-31 00:00+00]]'::timestamptz
SET datestyle = [['German, YMD'¦'YMD, German'¦'German'¦'German, DEFAULT'¦'DEFAULT, German'¦'DEFAULT, SQL'¦'SQL, DEFAULT, YMD'¦'German, SQL'¦'DMY, YMD'¦german, sql]]; SHOW datestyle; SELECT '2024-02-03'::date
RESET datestyle; RESET timezone
SET timezone = '[[../zoneinfo/UTC¦tzdata.zi¦europe¦interval '''1 hour'''¦168¦1e10¦-167:59¦05:30:15¦+5:0:30¦<+05>+5:0:30¦168:00¦right/Europe/Berlin¦posix/¦/Europe/Berlin¦.¦Europe//Berlin]]'
SET timezone = [['interval ''1 hour'''¦'INTERVAL''-1:30'''¦'interval ''1 month'''¦'interval ''1 day'''¦'interval ''1 hour'¦'interval']]; SHOW timezone
SET time zone interval [['1 day'¦'1 mon'¦'1:30' hour to minute¦'-08:00'¦'3 mons 2 days'¦'200:00'¦'-1'¦'x']]; SHOW timezone
SET intervalstyle = [[iso_8601¦postgres_verbose¦sql_standard¦postgres]]; SELECT now() AT TIME ZONE interval '1 day'
SET time zone interval '-1:30'; SHOW timezone; SET time zone interval '5 days'
RESET intervalstyle; RESET timezone
SELECT '2024-01-01 00:00+00'::timestamptz AT TIME ZONE '[[europe/BERLIN¦posix/Europe/Berlin¦posixrules¦localtime¦-100:00¦05:30:15¦<x>4¦nosuch¦Africa/Casablanca¦MET¦America/Vancouver¦Etc/Unknown]]'
SELECT name, abbrev, utc_offset, is_dst FROM pg_timezone_names ORDER BY 1
