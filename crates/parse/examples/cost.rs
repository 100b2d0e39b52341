//! Measures the time to parse pgbench's SELECT: the raw parser alone, and with the translation.

use std::time::Instant;

fn main() {
    let sql = "SELECT abalance FROM pgbench_accounts WHERE aid = 123456;";
    let rounds: u32 = 200_000;
    for _ in 0..3 {
        let start = Instant::now();
        for _ in 0..rounds {
            std::hint::black_box(parse::parse(std::hint::black_box(sql)).expect("it parses"));
        }
        let each = start.elapsed() / rounds;
        let start = Instant::now();
        for _ in 0..rounds {
            std::hint::black_box(
                pg_raw_parse::parse(std::hint::black_box(sql)).expect("it parses"),
            );
        }
        println!("parse {each:?}, of which the raw parser {:?}", start.elapsed() / rounds);
    }
}
