//! Two-phase commit, if the settings allow prepared transactions.

use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};

#[test]
fn prepare_transaction_fails_and_ends_the_block() {
    let dir = TempDir::new("prepared");
    let data = dir.path().join("data");
    norsu::init_with(&data, &[]);
    let server = Norsu::start(&data, &["-c", "max_prepared_transactions=2"]);
    let mut client = Client::connect(server.sockets(), "postgres").expect("a connection");
    let mut answer = |sql: &str| {
        let reply = client.query(sql).expect("an answer");
        let error = reply.error.map(|e| format!("{} {}", e.code, e.message));
        (error.unwrap_or_default(), reply.status)
    };
    let missing = "42704 prepared transaction with identifier \"x\" does not exist";
    assert_eq!(answer("COMMIT PREPARED 'x'"), (missing.to_owned(), 'I'));
    assert_eq!(answer("ROLLBACK PREPARED 'x'"), (missing.to_owned(), 'I'));
    assert_eq!(answer("BEGIN").1, 'T');
    let refused = "0A000 PREPARE TRANSACTION is not supported";
    assert_eq!(answer("PREPARE TRANSACTION 'x'"), (refused.to_owned(), 'I'));
    assert_eq!(answer("PREPARE TRANSACTION 'x'"), (String::new(), 'I'));
}
