-- Rare formats of to_char, to_number, to_timestamp and to_date; limits of dates, time zones and intervals.
SELECT to_char([[1.2345¦0.00001234567¦-98765.4321¦0¦12345e300¦9.995¦'NaN'::numeric¦1.2345::float8¦'infinity'::float4¦1234]], '[[9.99EEEE¦9.999EEEE¦9EEEE¦EEEE]]')
SELECT to_char([[0¦-4.2¦4200000000¦0.000012¦'infinity'¦'nan']]::[[numeric¦float8¦float4]], '[[MI9999999999.99¦FM99.99¦99.99S¦0099.99¦99PR¦FM99.¦9V99¦S9,999.0¦FMRN¦SG09.9¦99th¦9.9PL]]')
SELECT to_char([[100¦-12¦12345678901]]::[[numeric¦int8¦float8]], '[[f\"oo999¦f\\"oo999¦"f\"oo"999¦9S9¦FM9999999999D9999900000000000000000¦L999¦9G999G999¦B99¦rn¦RN¦FM999X¦Mi999]]')
SELECT to_number('[[-34,338,492¦<564646.654564>¦0.00001-¦5.01-¦ . 1 2¦.0¦1st¦12-¦$1,234.56¦1,234.56¦abc]]', '[[99G999G999¦999999.999999PR¦9.999999S¦FM9.999999MI¦ 9 . 9 9¦99.99S¦99th¦L9,999.99¦99PR¦S99.9¦99MI¦9V99¦999.9EEEE]]')
SELECT to_timestamp('[[2000+   JUN¦  2000 +JUN¦2000 + JUN¦2000 -JUN¦2000JUN]]', '[[YYYY/MON¦YYYY//MON¦YYYY MON¦FXYYYY/MON¦YYYY  MON]]')
SELECT to_timestamp('[[19971¦19971)24¦1997-11-Jan-16¦2005527¦10000000000¦2011x 12x 18¦15 "text" 98 54 45¦1,582nd VIII 21]]', '[[YYYYMMDD¦YYYY-MM-Mon-DD¦YYYYIWID¦FMYYYY¦YYYYxMMxDD¦HH24 "\"text\"" YY MI SS¦Y,YYYth FMRM DD]]')
SELECT to_timestamp('2018-11-02 12:34:56.[[1¦1235¦123456¦1234567]]', 'YYYY-MM-DD HH24:MI:SS.[[FF1¦FF3¦FF4¦FF6¦US¦MS]]')
SELECT to_timestamp('2000 [[-10¦+10:30¦10¦-99]]', 'YYYY [[TZH¦TZH:TZM¦-TZH¦TZ¦OF]]')
SELECT to_date('[[2015 366¦2016 366¦2016 367¦-44-02-01 BC¦20-02-29¦2458872¦2024-02-30¦Fri 1-Jan-1999]]', '[[YYYY DDD¦YYYY-MM-DD BC¦YY-MM-DD¦J¦YYYY-MM-DD¦DY DD MON YYYY¦CC-MM]]')
SELECT to_date('[[44 BC¦6 12¦21 05¦0 05]]', '[[CC BC¦CC YY¦YY CC¦YYYY BC¦BC CC]]'), to_timestamp('[[2011-12-18 11:38 PM¦2011-12-18 13:00 AM¦2011-12-18 11:38 +05:20]]', 'YYYY-MM-DD HH12:MI [[AM¦TZH:TZM¦P.M.]]')
SELECT to_char(interval '[[-13 months¦-12 months¦0¦12 months¦-1 day¦100 years -5 hours]]', '[[rm¦FMRM¦YYYY MM DD HH24:MI:SS¦DDD CC Q¦WW J¦IYYY¦Day]]')
SELECT to_char(timestamptz '2011-03-27 00:00:00 UTC', '[[TZ¦tz¦OF¦TZH:TZM¦Dy dy DY¦dAy¦FMMonthth¦Yyyy¦FXYYYY¦"a\"b"\"YY\"¦SSSSS MS US FF3]]')
SELECT '[[2011-03-27 01:59:59¦2011-03-27 02:00:00¦2014-10-26 01:00:00¦1990-07-01 00:00]] [[MSK¦MSD¦VET]]'::timestamptz at time zone 'UTC', timestamp '2014-10-26 00:59:59' at time zone '[[MSK¦FOO8BAR¦Foo-8Bar]]'
SELECT timestamptz '[[2011-03-26 22:59:59¦2011-03-26 23:00:00¦2014-10-25 22:00:00]] UTC' at time zone '[[MSK¦MSK-3¦EST5EDT]]'
SELECT make_timestamptz(2010, 2, 27, 3, 45, 0, '[[+1¦+1:¦+1:0¦+100¦+10:00:1¦2¦+16¦FOO8BAR¦EST¦MSK¦+x¦Nowhere]]') at time zone 'UTC'
SELECT '[[15:36:39 m2¦15:36:39 MSK m2¦15:36:39 MSK 2011-01-01¦15:36:39]]'::[[timetz¦time]]
SELECT 'Sat Mar 12 23:58:48 [[1000¦10000¦100000]] IST'::timestamptz, '100000312 23:58:48 IST'::timestamptz
SELECT date_bin('365000 days', '4400-01-01 BC'::[[timestamp¦timestamptz]], '4000-01-01 BC'), date_bin('7 days', timestamp '[[infinity¦2020-02-11]]', timestamp '2001-01-01')
SELECT interval '[[2147483647 years¦-2147483648 years¦5.5 seconds 3 milliseconds¦5 seconds 3 milliseconds¦1:20:05 5 microseconds¦P10.5e4Y¦P.Y0M3DT4H5M6S¦-9223372036854775808 microseconds¦PT2562047788.0152155019444H¦P1-2147483647-2147483647¦-2147483648 months -2147483648 days -9223372036854775808 us¦-2147483648 months ago]]'
SELECT interval '[[1 2¦1 2:03¦123 11¦1]]' [[day to hour¦day to minute¦day¦hour to second]]
SELECT sqrt([[8015491789940783531003294973900306¦8015491789940783531003294973900307¦2.25¦1e-20]]::numeric)
SELECT to_char([[5¦-5¦4000]], '[[SGRN¦RNSG¦RN.SG¦SRN¦RNS¦PLRN¦RNPL¦MIRN¦RNMI¦xSGRN¦RNxS¦FMRNSG¦RN9SG]]')
SELECT to_number('[[5¦12¦5.5]]', '[[9V¦9V9¦V99¦99V0¦VV9]]')
SELECT to_date('[[DAY4¦2024127¦2024 127¦2024 12]]', '[[IYYYIDDD¦IDDD¦IYYY IDDD¦FMIYYYIDDD]]')
SELECT to_timestamp('[[.6031-- 99¦603 99¦603 12]]', '[[.IDDDHH12¦IDDDHH12]]')
