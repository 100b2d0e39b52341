-- The case of each character, by the C library in C.UTF-8 and by ICU.
create collation cm_utf8 (locale = 'C.UTF-8')
create collation cm_tr (provider = icu, locale = 'tr')
create collation cm_und (provider = icu, locale = 'und')
create table cm (c text, n int)
insert into cm select chr(g), g from generate_series(1, 131071) g where g not between 55296 and 57343
insert into cm select chr(g), g from generate_series(917504, 918015) g
select n, lower(c collate [[cm_utf8¦cm_tr¦cm_und¦"C"]]) from cm where lower(c collate [[cm_utf8¦cm_tr¦cm_und¦"C"]]) <> c order by n
select n, upper(c collate [[cm_utf8¦cm_tr¦cm_und]]) from cm where upper(c collate [[cm_utf8¦cm_tr¦cm_und]]) <> c order by n
select n, initcap(c || 'a' || c || 'B' collate cm_utf8) from cm where n > 127 and initcap(c || 'a' || c || 'B' collate cm_utf8) <> c || 'a' || c || 'b' order by n
select md5(string_agg(initcap(c || 'a' || c || 'B' collate [[cm_tr¦cm_und]]), '' order by n)) from cm
select lower('İSTANBUL' collate [[cm_utf8¦cm_tr¦cm_und]]), upper('straße ŉ ǰ ΐ ﬁ' collate [[cm_utf8¦cm_tr¦cm_und]]), initcap('ŉa ǆa ﬁa ᾳa' collate [[cm_utf8¦cm_tr¦cm_und]])
select n from cm where c ilike (upper(c collate cm_utf8) collate cm_utf8) is not true and n < 66000 order by n
