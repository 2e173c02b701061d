//! Every error that a database may answer, told by one that answers nothing else.

use super::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_postgres::{Client, Config, NoTls};

/// Takes anybody, and answers each question with an error: `SEVERITY CODE TABLE`, as it is asked.
async fn refuser() -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let length = stream.read_i32().await.unwrap();
        let mut startup = vec![0; length as usize - 4];
        stream.read_exact(&mut startup).await.unwrap();
        // AuthenticationOk, ReadyForQuery.
        stream.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").await.unwrap();
        while let Ok(b'Q') = stream.read_u8().await {
            let length = stream.read_i32().await.unwrap();
            let mut asked = vec![0; length as usize - 4];
            stream.read_exact(&mut asked).await.unwrap();
            let asked = String::from_utf8(asked).unwrap();
            let mut words = asked.trim_end_matches('\0').split(' ');
            let mut fields = Vec::new();
            for kind in [b'V', b'C', b't'] {
                if let Some(word) = words.next() {
                    fields.extend([&[kind], word.as_bytes(), b"\0"].concat());
                }
            }
            fields.extend(b"SERROR\0Mwhy\0\0");
            stream.write_u8(b'E').await.unwrap();
            stream.write_i32(fields.len() as i32 + 4).await.unwrap();
            stream.write_all(&fields).await.unwrap();
            stream.write_all(b"Z\0\0\0\x05I").await.unwrap();
        }
    });
    let (client, connection) =
        Config::new().host("127.0.0.1").port(port).user("x").connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The fault, and what a reader is told.
async fn judged(client: &Client, error: &str) -> (&'static str, &'static str) {
    let fault = Fault::from(client.batch_execute(error).await.unwrap_err());
    let name = match &fault {
        Fault::Again => "again",
        Fault::Locks => "locks",
        Fault::NotPrimary => "not primary",
        Fault::Settled => "settled",
        Fault::Crowded => "crowded",
        Fault::NoRoom => "no room",
        Fault::Lost(_) => "lost",
        Fault::Unexpected(_) => "unexpected",
    };
    let told = match EngineError::from(fault) {
        EngineError::Unavailable(_) => "unavailable",
        EngineError::OutOfSpace => "out of space",
        EngineError::Corrupt(_) => "corrupt",
        _ => "something else",
    };
    (name, told)
}

#[tokio::test]
async fn every_error_is_judged_by_its_code_and_severity() {
    let client = refuser().await;
    let table = [
        // Another transaction was in the way.
        ("ERROR 40001", "again", "unavailable"), // serialization_failure
        ("ERROR 40P01", "again", "unavailable"), // deadlock_detected
        ("ERROR 55P03", "again", "unavailable"), // lock_not_available
        ("ERROR 57014", "again", "unavailable"), // query_canceled
        // It is not known what was done.
        ("ERROR 40003", "lost", "unavailable"), // statement_completion_unknown
        ("ERROR 08000", "lost", "unavailable"),
        ("ERROR 08003", "lost", "unavailable"),
        ("ERROR 08006", "lost", "unavailable"), // connection_failure
        ("FATAL 08P01", "lost", "unavailable"), // protocol_violation
        ("FATAL 57P01", "lost", "unavailable"), // admin_shutdown, pg_terminate_backend
        ("ERROR 57P01", "lost", "unavailable"),
        ("FATAL 57P02", "lost", "unavailable"), // crash_shutdown
        ("FATAL 57P04", "lost", "unavailable"), // database_dropped
        ("FATAL 57P05", "lost", "unavailable"), // idle_session_timeout
        ("FATAL 25P03", "lost", "unavailable"), // idle_in_transaction_session_timeout
        ("FATAL 53200", "lost", "unavailable"),
        ("PANIC XX000", "lost", "unavailable"),
        ("PANIC 53100", "lost", "unavailable"), // disk_full, of the log: it may have been committed before
        ("FATAL 53100", "lost", "unavailable"),
        ("PANIC 58030", "lost", "unavailable"), // io_error
        // No session is to be had there.
        ("FATAL 57P03", "not primary", "unavailable"), // cannot_connect_now
        ("ERROR 25006", "not primary", "unavailable"), // read_only_sql_transaction
        ("FATAL 53300", "crowded", "unavailable"),     // too_many_connections
        ("FATAL 28P01", "lost", "unavailable"),        // invalid_password
        ("FATAL 3D000", "lost", "unavailable"),        // invalid_catalog_name
        // There is no room.
        ("ERROR 53100", "no room", "out of space"), // disk_full
        ("ERROR 53200", "locks", "unavailable"),    // out_of_memory, also of locks
        ("ERROR 53000", "again", "unavailable"),    // insufficient_resources
        ("ERROR 53400", "again", "unavailable"),    // configuration_limit_exceeded
        ("ERROR 54000", "again", "unavailable"),    // program_limit_exceeded: no numbers of transactions
        // A group's own row, and no other.
        ("ERROR 23505 grp", "settled", "unavailable"),
        ("ERROR 23505 kv", "unexpected", "corrupt"),
        ("ERROR 23505", "unexpected", "corrupt"),
        // Something is wrong with the database, or with us.
        ("ERROR XX001", "unexpected", "corrupt"), // data_corrupted
        ("ERROR XX002", "unexpected", "corrupt"), // index_corrupted
        ("ERROR 58030", "unexpected", "corrupt"), // io_error
        ("ERROR 42P01", "unexpected", "corrupt"), // undefined_table
        ("ERROR 42883", "unexpected", "corrupt"), // undefined_function
        ("ERROR 42501", "unexpected", "corrupt"), // insufficient_privilege
        ("ERROR 22023", "unexpected", "corrupt"),
    ];
    for (error, fault, told) in table {
        assert_eq!(judged(&client, error).await, (fault, told), "{error}");
    }
}
