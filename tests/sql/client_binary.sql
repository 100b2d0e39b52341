create type mood as enum ('sád', 'ok')
create table texts (a text, b varchar(5), c char(5), d name, e mood, f json, g jsonb, h text[], j tsvector, k tsquery, l jsonpath)
insert into texts values ('é', 'éa', 'é', 'nomé', 'sád', '{"é":"à"}', '{"é":"à"}', array['é', 'b'], '''é'':1', 'é & b', '$."é"')
set client_encoding = [[latin1¦win1252¦utf8¦latin1]]
select textsend(a), varcharsend(b), bpcharsend(c), namesend(d), enum_send(e), json_send(f), jsonb_send(g), array_send(h), tsvectorsend(j), tsquerysend(k), jsonpath_send(l) from texts
insert into texts (a) values (U&'\20ac')
select textsend(a) from texts order by a
set client_encoding = utf8
select textsend(a) from texts order by a
select '[[4294967296:4294967300:¦4294967297:8589934592:¦4294967297:8589934593:4294967298]]'::pg_snapshot
