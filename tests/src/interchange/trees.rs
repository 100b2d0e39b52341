//! Queries and changes of tables with inheritance children and partitions that PostgreSQL has
//! created: both servers give the same results, plans and errors on the same directory.

use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::Norsu;
use testkit::postgres::{self, PostgresServer, chown_to_server_user};

const SCRIPT: &str = include_str!("../../sql/partition_trees.txt");

/// The results of the statements; each line is sent as one query.
fn answers(client: &mut Client, statements: &str) -> Vec<String> {
    let mut out = Vec::new();
    for sql in statements.lines() {
        // These must have an effect on the statements that follow.
        let kept = ["set ", "prepare ", "reset ", "create ", "drop "];
        let keeps = kept.iter().any(|word| sql.starts_with(word));
        if !keeps && !sql.starts_with("begin") {
            client.query("BEGIN").expect("an answer");
        }
        let reply = client.query(sql).expect("an answer");
        let error = reply.error.map(|e| format!("{} {} {}", e.code, e.message, e.detail));
        let rows: Vec<_> = reply.answers.iter().map(|a| (&a.rows, &a.tag)).collect();
        let notices: Vec<_> = reply.notices.iter().map(|n| &n.message).collect();
        out.push(format!("{sql}\n  {rows:?} {notices:?} {error:?}"));
        if !keeps {
            client.query("ROLLBACK").expect("an answer");
        }
    }
    out
}

#[test]
fn trees_of_postgres_give_the_same_results() {
    let (setup, statements) = SCRIPT.split_once("-- Statements").expect("two parts");
    let (_, statements) = statements.split_once('\n').expect("statements");
    let dir = TempDir::new("trees");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    postgres::init_with(&data, &["--locale=C", "-k"]);
    let real = PostgresServer::start(&data, "postgres");
    let mut client = real.connect("postgres");
    client.must(setup);
    let expected = answers(&mut client, statements);
    drop((client, real));
    let ours = Norsu::start(&data, &[]);
    let found = answers(&mut ours.connect("postgres"), statements);
    let wrong: Vec<_> = expected.iter().zip(&found).filter(|(a, b)| a != b).collect();
    assert!(wrong.is_empty(), "{} differ: {wrong:#?}", wrong.len());
    assert!(expected.len() > 100);
}
