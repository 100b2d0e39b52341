create extension pg_trgm
select show_trgm('[[word¦two words¦¦ ¦a¦ab¦aé ü¦日本¦x-y z_9¦Äpfel]]')
select similarity('word', '[[two words¦word¦¦WORD¦wird¦xyz]]'), 'word' <-> 'two words', word_similarity('word', '[[two words¦word¦¦WORD¦wird¦xyz wordy¦words]]'), strict_word_similarity('word', '[[two words¦word¦¦WORD¦wird¦xyz wordy¦words]]'), 'word' <<-> 'two words', 'two words' <->> 'word', 'word' <<<-> 'two words', 'two words' <->>> 'word'
select word_similarity('Kabankala', 'abaloney kabanka la bank'), strict_word_similarity('aba bank', 'abaloney kabanka la bank'), word_similarity('aba bank', 'abaloney kabanka la bank'), similarity('aba bank', 'abaloney kabanka la bank')
select 'word' % 'wordy', 'word' % 'xyz', 'word' <% 'two words', 'two words' %> 'word', 'word' <<% 'two words', 'two words' %>> 'word'
select show_limit(), set_limit(0.9), show_limit(), 'word' % 'wordy'
select set_limit(2)
set pg_trgm.word_similarity_threshold = 0.1
select 'word' <% 'xword'
reset all
create table tg_t (t text)
insert into tg_t values ('apple'), ('applesauce'), ('pineapple'), ('banana'), ('bandana'), (null)
select t, similarity(t, 'aple') s from tg_t where t % 'aple' order by s desc, t
select t from tg_t where 'aple' <% t order by 'aple' <<-> t, t
select t from tg_t order by t <-> 'banan', t limit 3
drop table tg_t
create table tg_r (id int, t text, c text collate "C")
insert into tg_r select i, (array['abc','abd','xyz','ABC','aaa','bcd','abcdef','abc xyz','def abc','äöü','Äpfel','xab','que','qwe','word ','ab c','b c'])[i % 17 + 1] || (array['',' ','e','x','-','1'])[i % 6 + 1] || (i % 37)::text || (array['',' abc','def','ABCABC',' 123-45'])[i % 5 + 1] from generate_series(1, 1500) i
update tg_r set c = t
create index on tg_r using gin (t gin_trgm_ops)
create index on tg_r using gin (c gin_trgm_ops)
analyze tg_r
set enable_seqscan = off
explain (costs off) select * from tg_r where t ~ 'abc'
explain (costs off) select * from tg_r where t ~* '[ab]cd'
select count(*), min(id), max(id) from tg_r where t [[~¦~*]] E'[[abc¦abc|xyz¦a[bc]d¦^abc¦abc$¦abc.*def¦(abc)+¦ABC¦(?i)aBc¦xabc?¦\\mabc¦abc\\M¦\\yabc\\y¦\\wbc¦a.c¦a b¦ab c$¦^(a|b)c¦(abc|abd)e?¦a{3}¦(a|b){2,3}c¦[^a]bc¦¦x*¦äöü¦[äö]ü.¦(.)\\1¦(abc)\\1¦a(?=bc)¦(?!x)abc¦q(u|w)e¦^\\s*abc¦word [0-9]+¦(¦[0-9]{3}-[0-9]{2}]]'
select count(*), min(id), max(id) from tg_r where c ~ E'[[abc¦abc|xyz¦a[bc]d¦^abc¦abc$¦abc.*def¦(abc)+¦ABC¦(?i)aBc¦xabc?¦\\mabc¦abc\\M¦\\yabc\\y¦\\wbc¦a.c¦a b¦ab c$¦^(a|b)c¦(abc|abd)e?¦a{3}]]'
select count(*) from tg_r where t ~ '[[abc¦x]]' and t !~ 'def' and t like '%1%'
reset enable_seqscan
drop table tg_r
drop extension pg_trgm
