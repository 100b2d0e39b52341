-- further sample values
select pg_temp.s('int4[]', '{}', '{1,2,3}', '{NULL,1}', '[2:4]={7,8,9}', '{{1,2},{3,4}}', '{3}', '{1,2,3,4}');
select pg_temp.s('text[]', '{}', '{a,b,NULL}', '{"a b","","\"x\\"}', '{{a},{b}}', '{abc}', '{NULL}');
select pg_temp.s('numeric[]', '{1.5,NULL,2}', '{}');
select pg_temp.s('bool[]', '{t,f}');
