create extension seg
select '[[1¦-1¦1.0¦-1.00¦1e7¦1e+7¦1.0e-7¦1.23456789¦123456789¦0¦0.0¦00.000¦0.0001¦-0.00012¦12345¦1234¦100000¦99999.9¦1.¦.1¦+5¦1e¦1e5x¦12.34e3¦0.1¦0.10¦0.01¦0.0010¦1e4¦1.0e4¦1.00000e4¦-12e-3¦1e40¦1e-50¦1e38¦inf¦NaN¦¦ ¦a¦1a¦- 1¦'']]'::seg
select '[[1..2¦1 .. 2¦1...2¦..2¦2..¦1....2¦..¦...¦1..-2¦2..1¦1..1¦1.0..1¦<1..>2¦~1..~2¦~1..2¦1..~2¦>1..<2¦<1¦>1¦~1¦<..1¦1..<¦<<1¦1 2¦1..2 3¦1..2..3¦0.1 .. 1e7¦1e-7..1e-3¦..<5¦~5..]]'::seg
select '[[1(+-)0.5¦1 ''+-'' 0.5¦100(+-)1¦1(+-)¦(+-)1¦1(+-)<1¦1e5(+-)1¦0(+-)1¦1.5(+-)0.0001¦-1(+-)0.10¦1(+ -)1¦3e38(+-)3e38]]'::seg
create table sg (id int, s seg)
insert into sg select row_number() over (), s::seg from unnest(array['1', '1.0', '<1', '>1', '~1', '1..2', '1..2.0', '<1..2', '~1..~2', '1..>2', '..2', '..~2', '2..', '<2..', '0..10', '-1..0', '-5', '1e7', '1.5(+-)0.5', null]) s
select a.id, b.id, a.s [[<¦<=¦=¦>=¦>¦<>¦<<¦&<¦&&¦&>¦>>¦@>¦<@]] b.s from sg a, sg b
select a.id, b.id, seg_cmp(a.s, b.s), seg_union(a.s, b.s), seg_inter(a.s, b.s) from sg a, sg b
select id, s, seg_lower(s), seg_upper(s), seg_center(s), seg_size(s) from sg
select id, s from sg order by s, id
create index on sg (s)
set enable_seqscan = off
select id from sg where s [[=¦<¦>=]] '1..2' order by id
select count(distinct s) from sg
reset enable_seqscan
drop extension seg cascade
