create extension if not exists pg_prewarm
create extension if not exists pg_prewarm
create extension pg_prewarm
create table warm (a int primary key, b text)
insert into warm select g, repeat('x', 100) from generate_series(1, 5000) g
create view warm_view as select * from warm
create table cold (a int)
vacuum warm
select pg_prewarm('warm'), pg_prewarm('warm', 'read'), pg_prewarm('warm', 'prefetch'), pg_prewarm('warm_pkey')
select pg_prewarm('warm', [['buffer'¦'read'¦'prefetch']], 'main', [[0¦3¦null]], [[5¦null]])
select pg_prewarm('warm', 'buffer', [['fsm'¦'vm'¦'init'¦'main'¦'zz'¦null]])
select pg_prewarm('warm', 'buffer', 'main', [[-1¦1000000¦5]], [[-1¦1000000¦3]])
select pg_prewarm([['warm_view'¦null¦'cold'¦1]])
select pg_prewarm('warm', [['x'¦null]])
create role chilly
set role chilly
select pg_prewarm('warm')
select pg_prewarm('warm_pkey')
reset role
drop role chilly
