-- Dates and times: input, output styles, arithmetic, functions.
SELECT '[[2024-02-29¦2023-02-29¦1999-12-31¦20240102¦Jan 5, 2024¦5 January 2024¦01/02/2024¦2024-13-01¦0001-01-01¦0044-03-15 BC¦infinity¦-infinity¦epoch¦today - x¦5874897-12-31¦5874898-01-01¦4714-11-24 BC¦4714-11-23 BC¦J2451187¦2024.045¦99-Jan-08¦¦abc]]'::[[date¦timestamp¦timestamptz]]
SELECT '[[2024-01-02 03:04:05¦2024-01-02 03:04:05.123456¦2024-01-02 03:04:05.1234567¦2024-01-02T03:04:05Z¦2024-01-02 03:04:05+02¦2024-01-02 03:04:05 America/New_York¦2024-01-02 24:00:00¦2024-01-02 25:00:00¦2024-01-02 03:04 PM¦2024-01-02 13:04 PM¦294276-12-31 23:59:59.999999¦294277-01-01¦2024-01-02 03:04:60¦2024-01-02 03:60:00¦2024-01-02 03:04:05 PST¦2024-01-02 03:04:05 foo]]'::[[timestamp¦timestamptz¦date¦time¦timetz]]
SELECT '[[04:05:06.789¦04:05¦040506¦04:05 AM¦24:00:00¦24:00:01¦04:05:06-08:00¦4:5:6¦allballs¦04:05:06.5 PM]]'::[[time¦timetz¦time(1)¦interval]]
SELECT '[[1 year 2 months 3 days 04:05:06¦1-2¦3 4:05:06¦P1Y2M3DT4H5M6S¦P0001-02-03T04:05:06¦1.5 days¦-1 day +02:03:04¦1 mon -1 day¦@ 1 minute ago¦1.5 months¦1 week¦2 decades¦1 millennium¦178000000 years¦200000000 years¦1 foo¦¦1:2:3.456789¦0.1 year¦1 day 25 hours¦-0.5 seconds¦infinity]]'::interval
SELECT '1 year 2 months 3 days 04:05:06.789'::interval [[year¦month¦day¦hour¦minute¦second¦second(1)¦year to month¦day to hour¦day to second(2)¦hour to minute¦minute to second]]
SELECT interval '[[1¦1.5¦1:30]]' [[year¦month¦day¦hour¦minute¦second¦day to minute¦hour to second]]
SELECT timestamp '2024-03-31 12:34:56.789' [[+¦-]] interval '[[1 month¦1 day¦-1 year 2 hours¦0.001 sec¦1000000 years]]', date '2024-01-31' [[+¦-]] interval '1 month', date '2024-01-31' [[+¦-]] 30
SELECT timestamptz '2024-03-31 12:34:56.789+02' [[+¦-]] interval '[[1 month¦1 day¦36 hours]]'
SELECT timestamp '2024-03-31 12:00' - timestamp '[[2023-01-01¦2024-04-01 13:00¦infinity]]', date '2024-03-01' - date '2024-02-01', date '2024-01-01' + time '03:04', time '03:04' - time '05:06', time '23:00' + interval '2 hours', timetz '23:00+01' - interval '1 day'
SELECT interval '1 day 2 hours' [[*¦/]] [[2¦0.5¦-1.5¦3¦0]]::float8, interval '1 month 1 day' [[+¦-]] interval '2 hours', -interval '1 day -1 hour'
SELECT interval '[[1 day¦24 hours¦1 month¦30 days¦-1 day]]' [[<¦=¦>]] interval '[[24 hours¦30 days]]'
SELECT [[date_part¦extract]]([['year', ¦'month', ]]timestamp '2024-02-29 12:34:56.789')
SELECT extract([[century¦day¦decade¦dow¦doy¦epoch¦hour¦isodow¦isoyear¦julian¦microseconds¦millennium¦milliseconds¦minute¦month¦quarter¦second¦week¦year¦timezone¦foo]] from [[timestamp '2024-02-29 12:34:56.789'¦date '1999-12-31'¦time '12:34:56.789'¦interval '1 year 2 months 3 days 04:05:06.789'¦timestamptz '2024-02-29 12:34:56.789+00'¦timestamp '0044-03-15 BC'¦timestamp 'infinity']])
SELECT date_part('[[epoch¦dow¦week¦second¦foo]]', [[timestamp '2024-02-29 12:34:56.789'¦date '1999-12-31'¦interval '-1 day 2 hours']])
SELECT date_trunc('[[microseconds¦second¦minute¦hour¦day¦week¦month¦quarter¦year¦decade¦century¦millennium¦foo]]', [[timestamp '2024-08-15 12:34:56.789'¦timestamptz '2024-08-15 12:34:56.789+00'¦interval '14 months 3 days 04:05:06.7'¦date '2024-08-15'¦timestamp '0044-03-15 BC']])
SELECT date_trunc('day', timestamptz '2024-08-15 23:34:56+00', '[[Asia/Tokyo¦foo¦UTC]]')
SELECT date_bin('[[15 minutes¦1 day¦1 month¦0 days]]', timestamp '2024-02-11 15:44:17', timestamp '[[2001-01-01¦2024-02-11 15:50]]')
SELECT age(timestamp '[[2024-03-01¦2001-04-10¦1999-12-31 23:59:59]]', timestamp '[[1957-06-13¦2024-02-29 12:00]]'), justify_days(interval '[[35 days¦-35 days]]'), justify_hours(interval '[[27 hours¦-27 hours]]'), justify_interval(interval '[[1 mon -1 hour¦-1 mon 45 days 30 hours]]')
SELECT make_date([[2024¦-44¦0]], [[2¦13]], [[29¦30]])
SELECT make_time([[8¦25]], 15, 23.5), make_timestamp(2013, 7, [[15¦32]], 8, 15, 23.5), make_interval(years => 1, days => 10, secs => [[1.5¦-0.25]]), make_timestamptz(2013, 7, 15, 8, 15, 23.5[[¦, 'America/New_York']])
SELECT to_char(timestamp '[[2024-02-29 15:04:05.678901¦0044-03-05 00:00:00 BC¦12345-01-02 23:59:59]]', '[[YYYY-MM-DD HH24:MI:SS.US¦Day, DDth FMMonth YYYY¦HH12:MI AM¦D ID DDD IDDD WW IW W¦Q CC J¦MON Mon mon RM rm¦DY dy FMDay¦YYY YY Y IYYY IY¦SSSS MS FF3 FF6¦"literal" FMDD FXHH¦TZ tz OF¦B.C. BC a.m.¦Y,YYY]]')
SELECT to_char(interval '[[1 year 2 months 15 days 04:05:06¦-1 day]]', '[[YYYY MM DD HH24:MI:SS¦FMDD HH12¦Day]]')
SELECT to_date('[[2024-02-29¦29 Feb 2024¦2024060¦20240230¦24-1-5¦abc]]', '[[YYYY-MM-DD¦DD Mon YYYY¦YYYYDDD¦YYYYMMDD¦YY-MM-DD]]')
SELECT to_timestamp('[[2024-02-29 15:04:05¦29/02/24 3:04 PM¦2024-02-29]]', '[[YYYY-MM-DD HH24:MI:SS¦DD/MM/YY HH:MI PM¦YYYY-MM-DD]]'), to_timestamp([[0¦1709219045.678¦-1.5¦'Infinity']])
SELECT timestamp '2024-07-01 12:00' at time zone '[[UTC¦America/New_York¦+03:00¦-5¦EST¦foo]]', timestamptz '2024-07-01 12:00+00' at time zone '[[Asia/Kolkata¦Europe/Oslo¦PST8PDT]]', timetz '12:00+02' at time zone 'UTC', timestamptz '2024-07-01 12:00+00' at time zone interval '[[02:30¦-1 day]]'
SELECT timestamp '2024-01-01'::[[date¦time¦timestamptz¦timestamp(0)]], timestamptz '2024-01-01 10:00+05'::[[date¦time¦timestamp¦timetz]], date '2024-01-01'::[[timestamp¦timestamptz]], time '10:11:12.6'::[[interval¦time(0)¦timetz]], interval '25:11:12.6'::[[time¦interval(0)]]
SELECT date '[[2024-01-01¦infinity]]' [[<¦=¦>]] [[date '2024-01-02'¦timestamp '2024-01-01 00:00'¦timestamptz '2024-01-01 00:00+00'¦'2024-01-01']]
SELECT isfinite([[date 'infinity'¦timestamp '2024-01-01'¦interval '1 day'¦timestamptz '-infinity']])
SELECT (timestamp '2024-01-01', timestamp '2024-02-01') overlaps ([[timestamp '2024-01-15', interval '1 day'¦timestamp '2024-02-01', timestamp '2024-03-01'¦timestamp '2023-01-01', null]])
SELECT now() = current_timestamp, now() = transaction_timestamp(), clock_timestamp() >= statement_timestamp(), current_date = now()::date, pg_typeof([[now()¦current_date¦current_time¦localtime¦localtimestamp¦timeofday()¦current_timestamp(2)]])
SELECT generate_series(timestamp '2024-01-01', timestamp '2024-01-02', interval '[[12 hours¦-1 hour¦0 hours¦5 hours]]')
SELECT generate_series(timestamptz '2024-01-30', timestamptz '2024-04-02', interval '1 month'), max(d), min(d) FROM (VALUES (date '2024-01-01'), ('2023-01-01')) v(d) GROUP BY 1
SELECT sum(i), avg(i), max(i), min(i) FROM (VALUES (interval '1 day'), ('2 hours'), ('-1 month')) v(i)
SET DateStyle = '[[ISO, MDY¦SQL, DMY¦German¦Postgres, MDY¦Postgres, DMY¦ISO, YMD¦foo]]'
SHOW DateStyle
SELECT date '2024-01-02', timestamp '2024-01-02 03:04:05.6', timestamptz '2024-01-02 03:04:05+00', '01/02/2024'::date, '0044-03-15 BC'::date
SET DateStyle = '[[SQL, MDY¦SQL, DMY]]'; SELECT date '2024-01-02', timestamp '2024-01-02 03:04:05.6', timestamptz '2024-01-02 03:04:05+00', '01/02/2024'::date, 'infinity'::date, timestamp '0044-03-15 01:02:03 BC'
SET DateStyle = '[[German¦Postgres, MDY¦Postgres, DMY¦ISO, YMD]]'; SELECT date '2024-01-02', timestamp '2024-01-02 03:04:05.6', timestamptz '2024-01-02 03:04:05+00', '01/02/03'::date, timestamp 'infinity'
RESET DateStyle; SHOW DateStyle
SET IntervalStyle = '[[postgres_verbose¦sql_standard¦iso_8601¦postgres¦x]]'; SELECT interval '1 year -2 months 3 days -04:05:06.7', interval '0', interval '-1 day 2 hours', interval '1-2', interval '-1 day -02:00'
RESET IntervalStyle
SET TimeZone = '[[America/New_York¦Asia/Kolkata¦Europe/London¦+5¦-03:30¦PST8PDT¦foo¦UTC]]'; SELECT timestamptz '2024-07-01 12:00+00', timestamptz '2024-01-01 12:00+00', timestamptz '2024-03-10 02:30', '2024-11-03 01:30'::timestamptz, timestamptz '1850-01-01 00:00+00', extract(timezone from timestamptz '2024-07-01 12:00+00')
SHOW TimeZone
RESET TimeZone
SET TIME ZONE [['Europe/Oslo'¦-7¦LOCAL¦DEFAULT¦INTERVAL '-08:00' HOUR TO MINUTE]]
SHOW TIME ZONE
RESET TimeZone
SELECT hashtextextended('a', 0) = hashtextextended('a', 0), timestamp_hash(timestamp '2024-01-01'), interval_hash(interval '1 day'), time_hash(time '01:02'), date '2024-01-01' <> date '2024-01-01', interval '1 day' = any(array[interval '24 hours'])
SELECT timezone('UTC', timestamp '2024-01-01'), date_part('epoch', timestamptz '2000-01-01 00:00+00'), timestamp with time zone 'epoch', (date '2024-01-31' + interval '1 month')::date, to_char(date '2024-01-01', 'YYYY'), to_char(time '12:34', 'HH24:MI')
-- AT LOCAL, which PostgreSQL 15 does not have.
SELECT 'at local', now() AT LOCAL
SELECT 1; SELECT 'é', now() /* at local */ AT /* x */ LOCAL
