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
drop extension pg_trgm
