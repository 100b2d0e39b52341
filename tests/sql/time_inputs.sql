-- Texts of dates, times and intervals whose fields come in rare orders or with rare parts.
SET timezone = 'America/New_York'
SELECT '[[20240101 250000¦2024-01-01 1999¦20240101 9999¦epoch 04:05¦epoch am¦2024.001 04:05¦Jan 5 04:05 1999¦Jan 5 040506 1999¦2024 12:00 123¦2024-01-02 t 04¦2024-01-02 t 0405¦2024-01-02 t040506.7]]'::timestamp
SELECT '[[2024-01-02t04:05¦y2024m1d2h4mm5s6¦y2024m1d2h4m5s6¦2024-01-01 04.5¦2024-01-01 040506.5¦2024-01-01 04¦2024-01-01 045¦2024-01-01 .5¦1 .5¦1 2 .5¦2024 .5¦2024 1 .5 04:05]]'::timestamp
SELECT '[[20240101T¦2024 010101¦01:02 240101¦1 240101¦04:05 99999]]'::timestamp
SELECT '[[2024-01-01 019960¦J2451187-8 04:05:06¦J2451187-8¦J2451187.5-8¦DST EST 2024-01-01¦2024-01-01 EST DST¦2024-01-01 DST¦2024-01-01 04:05 DST EST¦2024-01-01 04:05 DST EDT¦2024-01-01 04:05 EDT DST¦2024-01-02 04:05 America/New_York-4¦2024-01-02 04:05 x4]]'::timestamptz
SELECT '[[2024-01-02 04:05 xyz4¦2024-01-02 04:05 x+4¦2024-01-02 04:05 <x>4¦2024-01-02 04:05 foo/bar¦Jan 5 04:05:06 EST 1999¦Jan 5 040506-08 1999¦2024-01-02 04:05 +08 +09]]'::timestamptz
SELECT '[[04:¦4::5¦:5¦h04mm05s06¦h04mm05s06.5¦h04m05s06¦2024-01-01 04:05 America/New_York¦infinity¦allballs¦Mon/Sep¦T04:05¦t 040506]]'::time
SELECT '[[.5¦0.5¦99¦5¦123¦1234¦12345¦123456¦1234567¦123456.7¦12.5¦1234.5]]'::time
SELECT '[[24:00:01¦24:00:00¦23:59:60¦12 allballs¦s5.5¦h25¦h4.5]]'::time
SELECT '[[04:05+123456¦04:05+12345¦04:05+1234¦04:05+123¦04:05+08:¦04:05+08::¦04:05+08:01:02:03¦04:05 MSK¦04:05 EST DST¦04:05 America/New_York¦2024-01-01 04:05 America/New_York¦epoch]]'::timetz
SELECT '[[d 04:05¦04:05 d¦d5 04:05¦nov-5-1990¦T040506-2024-01-02¦T040506-08¦25:00-23:59:60¦20240102 040506¦20240102 040506.366¦pm 12 allballs¦1.2.2024 04:05 -08¦1.2 04:05]]'::timetz
SELECT '[[1.2 1-2-3¦99 04:05 2024-1-1]]'::timetz
SELECT '[[2024-01-01 dow¦2024-01-01 doy¦doy 2024-01-01¦isodow¦2024-01-01 isoyear¦2024-01-01 d¦J2451187-8¦08Jan2024¦8-jan08¦1999-Jan08¦08-Jan¦Jan 08 1999]]'::date
SELECT '[[1999 Jan 08¦Jan-08-1999¦jan08-1999¦12jan-1999¦12-jan5-1999¦epoch epoch¦epoch 20240101¦epoch y2001¦epoch y2001m01d01¦epoch 99¦allballs¦d d 5]]'::date
SELECT '[[y d 2024-01-01¦2024.001¦AD 2024-1-2¦2024-1-2 AD¦0099 Jan 08¦99 Jan 08¦2024 123¦2024-123¦2024.123¦2024 400¦+infinity¦-infinity]]'::date
SELECT '[[2024-01-01 +infinity¦+ infinity¦2024-01-02 y¦2024-01-02 t¦d2m1y2024¦d2 m1¦2024010¦240101¦2024 0101¦99999¦99999 1 1]]'::date
SELECT '[[epoch today¦epoch now¦today epoch¦infinity today¦today infinity]]'::date IN (current_date, 'epoch', 'infinity')
SELECT '[[2024-01-01 infinity¦infinity 04:05¦-infinity pm¦infinity 13:00 pm¦epoch 2024-01-01¦infinity 20240101]]'::[[date¦timestamp¦timestamptz]]
SELECT '[[04:05 2024-01-02¦AD 2024-1-2¦BC 2024-1-2¦America/New_York 2024-01-02¦EST 2024-01-02¦MSK 2024-01-02¦Z 04:05 1/2/2024¦d 2024-01-01¦d 04:05¦m 04:05¦y 04:05¦2024-13-01 1999¦J2451187-2024-1-2]]'::[[date¦timetz¦timestamptz]]
SELECT timestamptz '2024-03-10 02:30:00-08' at time zone '[[<x>4¦x4¦<>4¦4¦x-4:30¦x¦a/b4¦<x>¦<x4]]'
SET timezone TO '[[<x>4¦x4¦<>4]]'; SELECT '2024-03-10 02:30:00+00'::timestamptz; RESET timezone
SELECT interval '[[1 ago¦1 day ago¦ago¦ago 1 day¦1 ago day¦1 day ago ago¦5:06 quarter¦1 day quarter¦1 quarter¦5 day hour¦day¦5:06 day¦day 5:06¦5:06 timezone¦1 2 hour¦1 2¦1 2 3¦1 2:03¦1 2 3:04¦1 -2:03]]'
SELECT interval '[[-1:60¦1:60¦-1:2:3:4¦+1:60¦1 2 day¦1 2 month¦-.5 s¦.5 s¦+.5 s¦-.5¦1-¦-1-¦1-13-3¦1-2-3¦1-13¦1/2¦1-2 3¦1-2 3 4:05¦3 1-2¦3 day 1-2]]'
SELECT interval '[[1.5.5¦1.¦1. day¦-1. day¦1.5 ms 3 s¦1.5s 3ms¦1s 3ms¦1:02:03 4ms¦1:02 4s¦99999999999999999999¦1 mon 2 mons¦1 week 2 days¦1 decade 1 year¦-1 2:03¦04:¦4::5¦1 04:¦:5¦5 weeks 3¦1 y 2]]'
SELECT interval '[[2 1 y¦1 m 5¦1 day 5 hour 3¦3 1 day 5 hour¦3 5 hour¦@ 1 day¦1:2.5¦infinity¦d¦1d2h¦1 d 2 d¦1.5 quarter¦1 timezone¦]]'
SELECT interval '[[1 1sec¦1 2]]' hour
SELECT interval '[[1 2]]' day to hour
SELECT interval '[[-0.5 1.7 ms]]' hour to minute
SELECT interval '[[1:2¦-1:2¦1 +1:2]]' minute to second
SELECT interval '[[1]]' year to month
SELECT interval '[[90:30¦1:75¦1:2:3¦-90:30]]' minute to second
SET intervalstyle = sql_standard
SELECT interval '[[-1 2:03¦-1-2 3 4:05¦-1 day 2 hour¦-1 day +2 hour¦-1:02¦-1 1:60¦- 1 day 2]]'
