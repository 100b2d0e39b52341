-- Deeply nested, long and wide regular expressions that PostgreSQL accepts or refuses.
select repeat('x', 30) ~ (repeat('(', 1000) || 'x' || repeat(')', 1000));
select substring('axa', repeat('(', 1000) || 'x' || repeat(')', 1000));
select 'x' ~ (repeat('(', 5000) || 'x' || repeat(')', 5000));
select 'x' ~ (repeat('(', 20000) || 'x' || repeat(')', 20000));
select 'x' ~ (repeat('(?:', 5000) || 'x' || repeat(')', 5000));
select 'x' ~ (repeat('(?:', 20000) || 'x' || repeat(')', 20000));
select 'xxx' ~ ('^' || repeat('(?:', 2000) || 'x' || repeat(')*', 2000) || '$');
select 'x' ~ (repeat('(?=', 2000) || 'x' || repeat(')', 2000));
select 'x' ~ (repeat('(?=', 20000) || 'x' || repeat(')', 20000));
select 'x' ~ (repeat('(?=x)', 65)), 'x' ~ (repeat('(?=x)', 10000)), 'x' ~ (repeat('(?=x)', 1000000));
select 'x' ~ ('^' || repeat('(?!y)', 1000) || 'x'), 'xy' ~ (repeat('(?<=x)', 1000) || 'y');
select substring(repeat('a', 3000), repeat('a', 3000)) = repeat('a', 3000);
select regexp_match(repeat('a', 200), repeat('(a)', 200)) = array_fill('a'::text, array[200]);
select 'ab' ~ repeat('ab|', 100000), 'ab' ~ repeat('ab|', 400000);
select 'ab' ~ repeat('a|', 100000);
select length(substring(repeat('x', 30), repeat('x?', 500)));
select length(substring(repeat('x', 30), repeat('x*', 500)));
select s ~ s, substring('ab' || s || 'cd', s) = s, ('z' || s) ~ ('^' || s)
  from (select string_agg(chr(g), '') s from generate_series(1000, 9000) g) t;
select 'x' ~ string_agg(chr(g), '|') from generate_series(1000, 41000) g;
select s ~ p, 'x' || s ~ ('^' || p)
  from (select string_agg(chr(g), '') s, string_agg('[' || chr(g - 3) || '-' || chr(g + 9) || ']', '') p
        from generate_series(1000, 1500) g) t;
select s ~* p from (select string_agg(chr(g), '') s,
  string_agg('[' || chr(g - 3) || '-' || chr(g + 9) || ']', '') p from generate_series(900, 1100) g) t;
select 'x' ~ ('[' || repeat('ab-z', 100000) || ']'), 'A' ~* ('[' || repeat('b-za', 100000) || ']');
select 'abab' ~ (repeat('(', 22) || 'x' || (select string_agg(')\' || g, '' order by g desc) from generate_series(1, 22) g));
select regexp_match('xxxxxxxx', '^' || repeat('(', 8) || 'x' || (select string_agg(')\' || g || '?', '' order by g desc) from generate_series(1, 8) g));
select regexp_matches('aaaa', '(?<=a)a(?=a)', 'g');
select regexp_replace('one two  three', '(?<!\w)(\w)', '<\1>', 'g');
select regexp_replace('abcabcabc', '(?<=(?<!b)c)a', '-', 'g');
select regexp_matches('foobarbaz', '(?=b)(?!bar)(?<=r)(.)', 'g');
select regexp_match('aXbXc', '^(.*?)X(.*)$'), regexp_match('aXbXc', '^(.*)X(.*?)$');
select regexp_match(repeat('ab', 40), '^((a|ab)(c|b|bc|))*$');
select regexp_match('xxxxxxxxxxxxxxxxxxxxxxxxxy', '^(x*?)(x*)(x*?)\1\2y');
select regexp_match('abcabcabcabd', '(.+)\1\1?(.*)\w$');
select regexp_match(repeat('a', 60) || 'b', '^(a{1,7}?)(\1)*(a*?)b$');
select regexp_match(repeat('x', 50), '^(x{2,3}){3,9}?(x*)$');
select regexp_match('aaa', '((a)|(aa))*'), regexp_match('', '(a*)*'), regexp_match('b', '(a*)*b');
select regexp_match('abab', '(?:(a)|(b))*'), regexp_match('ababab', '((a)|b){2,4}?(.*)');
select regexp_match('aaaab', '^(a)(\1)*(a*?)b$'), regexp_match('xyxyxyz', '(xy)(\1)+'), regexp_match('xyxyxyxyz', '(xy)(\1){2}(.*)');
select regexp_match('aaaaaa', '^(a)(\1)*?(a*)$'), regexp_match('aab', '(a)(?:\1)*b'), regexp_match('aaab', '^(a)(?:(\1))*b');
select regexp_match('aaaaaa', '^(a)((\1))*(a*?)$'), regexp_match('aaaa', '^(a)(\1|b)*$'), regexp_match('aaaa', '^(a)\1*(\1)?$');
