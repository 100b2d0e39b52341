-- further sample values
select pg_temp.s('int4[]', '{}', '{1,2,3}', '{NULL,1}', '[2:4]={7,8,9}', '{{1,2},{3,4}}', '{3}', '{1,2,3,4}');
select pg_temp.s('text[]', '{}', '{a,b,NULL}', '{"a b","","\"x\\"}', '{{a},{b}}', '{abc}', '{NULL}');
select pg_temp.s('numeric[]', '{1.5,NULL,2}', '{}');
select pg_temp.s('bool[]', '{t,f}');
select pg_temp.s('date', '2000-01-01', '1999-12-31', '2024-02-29', 'infinity', '-infinity', '4713-01-01 BC', '0044-03-15 BC', '5874897-12-31', '2021-07-04');
select pg_temp.s('time', '00:00', '24:00', '12:34:56.789012', '23:59:59.999999', '04:05');
select pg_temp.s('timetz', '00:00+00', '12:34:56.789-05', '23:59:59+05:30', '12:00-12:00:01');
select pg_temp.s('timestamp', '2000-01-01 00:00', '2024-02-29 12:34:56.789012', '1969-12-31 23:59:59', 'infinity', '-infinity', '4713-01-01 00:00 BC', '294276-12-31 23:59:59.999999', '2021-03-14 02:30', '2021-11-07 01:30', '0001-01-01 BC', '1582-10-15 03:04:05');
select pg_temp.s('timestamptz', '2000-01-01 00:00+00', '2024-02-29 12:34:56.789012+03', '1969-12-31 23:59:59+00', 'infinity', '-infinity', '2021-03-14 07:30+00', '2021-11-07 05:30+00', '2021-11-07 06:30+00', '1883-01-01 00:00+00', '20000-06-01 12:00+00');
select pg_temp.s('interval', '0', '1 day', '-1 day', '1 mon', '1 year 2 mons -3 days 04:05:06.7', '-1 year', '1.5 hours', '36 hours', '45 days', '-2 mons 40 days -30:00', '100 years', '1 us', '178000000 years', '10 secs', '15 minutes');
insert into samples select 'text'::regtype, unnest(array['hour', 'year', 'day', 'week', 'epoch', 'century', 'timezone', 'America/New_York', 'UTC', 'EST', 'Europe/Berlin', 'quarter', 'milliseconds', 'julian', 'dow', 'nonsense', 'decade', 'month', 'minute', 'millennium', 'second', 'isoyear']);
insert into samples select 'text'::regtype, unnest(array['YYYY-MM-DD HH24:MI:SS', 'Day, DD Month YYYY', 'FMDay, FMDD FMMonth, YYYY', 'HH12:MI am', 'IYYY-IW-ID', 'DDDth "of" YYYY', 'Q CC WW W J', 'YYYY-MM-DD"T"HH24:MI:SS.US TZH:TZM', 'Mon DD', 'RM rm', 'SSSS MS FF3', 'Y,YYY YYY YY Y', 'DD/MM/YY', 'YYYYMMDD', '2024-05-17 13:14:15', '17 May 2024', '20240517', '05/17/24', 'May 17, 2024', '2024', '999D99', '99,999.00']);
