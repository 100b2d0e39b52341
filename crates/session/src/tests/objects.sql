create table parent (id int primary key, name text);
create table child (id serial primary key, p int references parent, note varchar(20) default 'x''y',
  amount numeric(10,2) default 1.5 check (amount > 0 and amount < 1000), flag boolean default true,
  made timestamptz default now(), tags text[] default '{}', doubled int generated always as (p * 2) stored,
  constraint c2 check (note is not null or (p in (1, 2, 3) and not flag)));
insert into parent values (1, 'a'), (2, 'b'), (3, 'c');
insert into child(p) values (1), (1), (2);
create table pc (id int primary key);
create table cascades (p int references pc on delete cascade on update cascade);
insert into pc values (1), (2);
insert into cascades values (1), (1), (2);
create table pn (id bigint primary key);
create table nulls (p int references pn on delete set null on update set null);
insert into pn values (1);
insert into nulls values (1);
create table pd (id int primary key);
create table defaults (p int default 2 references pd on delete set default);
insert into pd values (1), (2);
insert into defaults values (1);
create table pl (id int primary key);
create table late (p int references pl deferrable initially deferred, other int);
create table pair (a int, b int, primary key (a, b));
insert into pair values (1, 2);
create table full2 (a int, b int, foreign key (a, b) references pair match full);
create table tree (id int primary key, up int references tree on delete cascade);
insert into tree values (1, null), (2, 1), (3, 2);
create index i1 on child (lower(note), (p + 1) desc nulls last, note text_pattern_ops) include (flag)
  with (fillfactor = 70) where p > 5 and flag;
create unique index i2 on child (note collate "C" desc, id) nulls not distinct;
alter table parent add constraint u1 unique (name) include (id);
alter table parent add constraint nv check (name <> '') not valid;
create domain pos as int check (value > 0);
create function tags_of(n int, variadic rest text[] default '{}') returns text[] language sql stable
  as $$ select tags from child where id = n $$;
create function add_one(a int default 1, out b int, out c text) language sql immutable strict cost 5 parallel safe
  as 'select a + 1, ''x''';
create function rows_of(lo int) returns table (x int, y text) language sql rows 50 set search_path = public, pg_temp
  as $$ select id, name from parent where id >= lo $$;
create function one_of(a int, b int) returns int language sql return a + b * 2;
create procedure proc(a int, inout b int) language plpgsql security definer as $$ begin b := a; end $$;
create function trg() returns trigger language plpgsql as $$ begin return new; end $$;
create table watched (a int, b text);
create trigger t1 before insert or update of a, b on watched for each row when (new.a > 0) execute function trg('x', 'y''z');
create trigger t2 after delete on watched referencing old table as o for each statement execute function trg();
create constraint trigger t3 after insert on watched deferrable initially deferred for each row execute function trg();
create rule r_one as on insert to watched where new.a > 5 do instead nothing;
create rule r_two as on delete to watched do instead insert into parent(id, name) values (old.a, old.b) on conflict (id) do update set name = excluded.name;
create rule r_three as on update to watched where old.a <> new.a do also update parent set name = new.b where parent.id = old.a;
create statistics st1 (ndistinct) on p, flag from child;
create statistics st2 on p, flag, (p + 1) from child;
create view v1 as select id, name as n, upper(name) from parent where id > 1 order by name desc limit 3;
create view v2 as select p.id, c.note, count(*) as k, sum(c.amount) filter (where c.flag) as s
  from parent p left join child c on c.p = p.id group by p.id, c.note having count(*) > 0;
create view v3 as with recursive t(n) as (select 1 union all select n + 1 from t where n < 5) select n from t;
create view v4 as select case when id = 1 then 'one' when id = 2 then null else 'many' end as w,
  case id when 3 then 1 else 0 end as z, coalesce(name, 'q') as q, id::text || '-' as c,
  (select max(x.id) from parent x where x.id <> p.id) as m, exists (select 1 from child) as e,
  id in (select c.p from child c) as i, id = any (array[1, 2]) as a, id between 1 and 2 as b,
  name like 'a%' as l, name is distinct from 'b' as d, extract(year from now()) as y,
  row_number() over (partition by name order by id desc) as rn, current_date as cd,
  -id * (2 + 3) - 4 as ar, not (id > 1 or id < 0) as nn, nullif(id, 1) as ni, greatest(id, 2) as g
  from parent p;
create view v5 as select id from parent union all select id from child except (select 3 intersect select 4) order by 1;
create view v6 as values (1, 'a'), (2, 'b');
create view v7 as select a.id, b.id as bid, s.g from parent a cross join parent b, generate_series(1, 3) s(g)
  where a.id = b.id for update of a;
create view v8 as select id, name, amount from parent join child using (id);
create view v9 as select distinct on (p) p, id from child order by p, id;
create view va as select sum(amount) over w as s, avg(p) over (order by id rows between 1 preceding and current row) as v
  from child window w as (partition by p order by id);
create view vb as select p, flag, count(*) from child group by grouping sets ((p, flag), (p), ());
create view vc as select x.a, x.b from (select id as a, name as b from parent) x, lateral (select x.a + 1 as z) y
  where trim(both 'x' from x.b) <> '' and substring(x.b from 2 for 3) = 'q' and position('a' in x.b) > 0
  and (now() at time zone 'UTC') > '2020-01-01' and x.b::varchar(5) = 'k' and (tags_of(x.a))[1] is null;
