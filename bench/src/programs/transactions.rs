//! Transactions in the manner of TPC-C, each a call of a procedure in PL/pgSQL, run by pgbench.

use crate::cells::{Cell, Script, run_cell};
use crate::options::Options;
use crate::queries::must;
use crate::servers::Server;
use testkit::client::Client;
use testkit::dir::TempDir;

pub const TEXT: &str = "## Procedures\n\nTransactions in the manner of TPC-C (2 warehouses, \
    reduced tables), each a call of a procedure in PL/pgSQL: 45 % orders of 5 to 15 lines, 43 % \
    payments, 8 % queries of the last order, 4 % deliveries of ten districts.\n\n";

const TABLES: &str = "
create table warehouse (w_id int primary key, w_tax numeric(4, 4), w_ytd numeric(12, 2));
create table district (d_w_id int, d_id int, d_tax numeric(4, 4), d_ytd numeric(12, 2),
  d_next_o_id int, primary key (d_w_id, d_id));
create table customer (c_w_id int, c_d_id int, c_id int, c_discount numeric(4, 4),
  c_credit char(2), c_last text, c_balance numeric(12, 2), c_ytd_payment numeric(12, 2),
  c_payment_cnt int, c_data text, primary key (c_w_id, c_d_id, c_id));
create table item (i_id int primary key, i_name text, i_price numeric(5, 2));
create table stock (s_w_id int, s_i_id int, s_quantity int, s_ytd numeric(8), s_order_cnt int,
  s_dist text, primary key (s_w_id, s_i_id));
create table orders (o_w_id int, o_d_id int, o_id int, o_c_id int, o_entry_d timestamptz,
  o_carrier_id int, o_ol_cnt int, primary key (o_w_id, o_d_id, o_id));
create index on orders (o_w_id, o_d_id, o_c_id, o_id);
create table new_orders (no_w_id int, no_d_id int, no_o_id int,
  primary key (no_w_id, no_d_id, no_o_id));
create table order_line (ol_w_id int, ol_d_id int, ol_o_id int, ol_number int, ol_i_id int,
  ol_quantity int, ol_amount numeric(6, 2), ol_dist text, ol_delivery_d timestamptz,
  primary key (ol_w_id, ol_d_id, ol_o_id, ol_number));
create table history (h_c_id int, h_d_id int, h_w_id int, h_date timestamptz,
  h_amount numeric(6, 2), h_data text);
insert into warehouse select w, 0.1, 300000 from generate_series(1, 2) w;
insert into district select w, d, 0.05, 30000, 1
from generate_series(1, 2) w, generate_series(1, 10) d;
insert into customer select w, d, c, 0.1, case when c % 10 = 0 then 'BC' else 'GC' end,
  'NAME' || c % 300, -10, 10, 1, repeat('x', 300)
from generate_series(1, 2) w, generate_series(1, 10) d, generate_series(1, 1000) c;
insert into item select i, 'item ' || i, 1 + i % 100 from generate_series(1, 10000) i;
insert into stock select w, i, 10 + i % 90, 0, 0, repeat('d', 24)
from generate_series(1, 2) w, generate_series(1, 10000) i;
";

const PROCEDURES: &str = "
create procedure new_order(w int, d int, c int, lines int, seed int) language plpgsql as $$
declare
  o int; discount numeric; tax numeric; w_rate numeric; price numeric; dist text;
  amount numeric; total numeric := 0; i int; q int;
begin
  select w_tax into w_rate from warehouse where w_id = w;
  select c_discount into discount from customer where c_w_id = w and c_d_id = d and c_id = c;
  update district set d_next_o_id = d_next_o_id + 1 where d_w_id = w and d_id = d
    returning d_next_o_id - 1, d_tax into o, tax;
  insert into orders values (w, d, o, c, now(), null, lines);
  insert into new_orders values (w, d, o);
  for k in 1..lines loop
    i := (seed + k * 7919) % 10000 + 1;
    q := k % 10 + 1;
    select i_price into price from item where i_id = i;
    if not found then
      raise exception 'item % does not exist', i;
    end if;
    update stock set
      s_quantity = case when s_quantity >= q + 10 then s_quantity - q else s_quantity - q + 91 end,
      s_ytd = s_ytd + q, s_order_cnt = s_order_cnt + 1
    where s_w_id = w and s_i_id = i returning s_dist into dist;
    amount := q * price;
    total := total + amount;
    insert into order_line values (w, d, o, k, i, q, amount, dist, null);
  end loop;
  total := total * (1 - discount) * (1 + w_rate + tax);
end $$;
create procedure payment(w int, d int, c int, amount numeric) language plpgsql as $$
declare credit char(2); data text;
begin
  update warehouse set w_ytd = w_ytd + amount where w_id = w;
  update district set d_ytd = d_ytd + amount where d_w_id = w and d_id = d;
  select c_credit, c_data into credit, data from customer
    where c_w_id = w and c_d_id = d and c_id = c;
  if credit = 'BC' then
    data := left(c || ' ' || d || ' ' || w || ' ' || amount || '|' || data, 300);
  end if;
  update customer set c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount,
    c_payment_cnt = c_payment_cnt + 1, c_data = data
  where c_w_id = w and c_d_id = d and c_id = c;
  insert into history values (c, d, w, now(), amount, 'payment');
end $$;
create function last_order(w int, d int, c int) returns numeric language plpgsql as $$
declare o int; line record; total numeric := 0;
begin
  select o_id into o from orders where o_w_id = w and o_d_id = d and o_c_id = c
    order by o_id desc limit 1;
  for line in select * from order_line where ol_w_id = w and ol_d_id = d and ol_o_id = o loop
    total := total + line.ol_amount;
  end loop;
  return total;
end $$;
create procedure delivery(w int, carrier int) language plpgsql as $$
declare o int; c int; total numeric;
begin
  for d in 1..10 loop
    delete from new_orders where (no_w_id, no_d_id, no_o_id) = (
      select no_w_id, no_d_id, no_o_id from new_orders where no_w_id = w and no_d_id = d
      order by no_o_id limit 1 for update skip locked) returning no_o_id into o;
    continue when o is null;
    update orders set o_carrier_id = carrier where o_w_id = w and o_d_id = d and o_id = o
      returning o_c_id into c;
    update order_line set ol_delivery_d = now()
      where ol_w_id = w and ol_d_id = d and ol_o_id = o;
    select sum(ol_amount) into total from order_line
      where ol_w_id = w and ol_d_id = d and ol_o_id = o;
    update customer set c_balance = c_balance + total
      where c_w_id = w and c_d_id = d and c_id = c;
  end loop;
end $$;
";

/// Scripts of pgbench, with their weights.
const SCRIPTS: &[(&str, u32, &str)] = &[
    (
        "new_order",
        45,
        "\\set w random(1, 2)\n\\set d random(1, 10)\n\\set c random(1, 1000)\n\
         \\set n random(5, 15)\n\\set s random(1, 10000)\n\
         call new_order(:w, :d, :c, :n, :s);\n",
    ),
    (
        "payment",
        43,
        "\\set w random(1, 2)\n\\set d random(1, 10)\n\\set c random(1, 1000)\n\
         \\set a random(1, 5000)\ncall payment(:w, :d, :c, :a);\n",
    ),
    (
        "last_order",
        8,
        "\\set w random(1, 2)\n\\set d random(1, 10)\n\\set c random(1, 1000)\n\
         select last_order(:w, :d, :c);\n",
    ),
    ("delivery", 4, "\\set w random(1, 2)\n\\set k random(1, 10)\ncall delivery(:w, :k);\n"),
];

/// Creates the tables and procedures, and measures with 1 and 8 clients.
pub fn run(
    servers: &[Server; 2],
    clients: &mut [Client],
    options: &Options,
) -> Result<Vec<Cell>, String> {
    for client in clients.iter_mut() {
        must(client, TABLES)?;
        must(client, PROCEDURES)?;
        must(client, "vacuum analyze")?;
        must(client, "checkpoint")?;
    }
    let dir = TempDir::new("bench-scripts");
    let mut files = Vec::new();
    for (name, weight, text) in SCRIPTS {
        let path = dir.path().join(format!("{name}.sql"));
        std::fs::write(&path, text).map_err(|e| e.to_string())?;
        files.push(format!("{}@{weight}", path.display()));
    }
    let script = Script { name: "procedures".to_owned(), files };
    let mut cells = Vec::new();
    for mode in ["simple", "prepared"] {
        for clients in [1, 8] {
            cells.push(run_cell(servers, &script, mode, clients, options)?);
        }
    }
    Ok(cells)
}
