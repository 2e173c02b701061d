//! A server whose bytes are kept as blobs, at `az://`, by another `lazuli` over a directory. Where PostgreSQL is not installed, this says
//! so and passes.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use lazuli_testing::postgres::Postgres;

use crate::client::{ACCOUNT, KEY, Request, connect, put_blob, send, send_signed, signed};
use crate::process::{Server, bare, command};

const LENGTH: usize = 9 << 20;

fn large(seed: usize) -> Vec<u8> {
    (0..LENGTH).map(|at| (at * 31 + at / 257 + seed) as u8).collect()
}

/// The names of the blobs that the other server's bytes are.
fn kept(blob: SocketAddr) -> Vec<String> {
    let list = send_signed(blob, "GET", &format!("/{ACCOUNT}/bytes?restype=container&comp=list"));
    assert_eq!(list.status, 200, "{}", list.text());
    let text = list.text();
    let names = text.split("<Name>").skip(1).filter_map(|rest| rest.split("</Name>").next());
    names.map(str::to_owned).collect()
}

#[test]
fn bytes_are_blobs_of_another_lazuli_and_are_given_back() {
    let Some(postgres) = Postgres::start(&[]) else { return };
    let home = tempfile::tempdir().expect("a directory");
    let below = Server::start(&mut command(home.path()));
    let store = below.address("blob");
    assert_eq!(send_signed(store, "PUT", &format!("/{ACCOUNT}/bytes?restype=container")).status, 201);
    let bytes = format!("az://bytes/below/here?account={ACCOUNT}&endpoint=http://{store}/{ACCOUNT}");
    let start = || {
        let mut command = bare();
        command.args(["--database", &postgres.url(), "--bytes", &bytes]);
        Server::start(command.env("AZURE_STORAGE_ACCOUNT_KEY", KEY))
    };
    let server = start();
    let blob = server.address("blob");
    assert_eq!(send_signed(blob, "PUT", &format!("/{ACCOUNT}/con?restype=container")).status, 201);
    // What stays there whatever is stored.
    let nothing = kept(store);
    for (name, seed) in [("one", 1), ("two", 2)] {
        let put = put_blob(blob, &format!("/{ACCOUNT}/con/{name}"), &large(seed));
        assert_eq!(send(connect(blob), &put).status, 201);
    }
    let names = kept(store);
    assert!(names.len() >= nothing.len() + 2 * LENGTH.div_ceil(4 << 20), "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("below/here/")), "{names:?}");
    server.stop();

    // Nothing is remembered but what is there.
    let server = start();
    let blob = server.address("blob");
    let read = |name: &str| send_signed(blob, "GET", &format!("/{ACCOUNT}/con/{name}"));
    assert!(read("one").body == large(1) && read("two").body == large(2));
    let part =
        Request::new("GET", format!("/{ACCOUNT}/con/two")).header("x-ms-range", "bytes=4194300-4194309");
    assert_eq!(send(connect(blob), &signed(blob, part)).body, large(2)[4_194_300..4_194_310]);
    assert_eq!(send_signed(blob, "DELETE", &format!("/{ACCOUNT}/con/one")).status, 202);
    let end = Instant::now() + Duration::from_secs(60);
    let half = |left: usize| left <= nothing.len() + LENGTH.div_ceil(4 << 20);
    while !half(kept(store).len()) {
        assert!(Instant::now() < end, "not given back: {:?}", kept(store));
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(read("two").body == large(2));
    assert_eq!(send_signed(blob, "DELETE", &format!("/{ACCOUNT}/con/two")).status, 202);
    while kept(store).len() > nothing.len() {
        assert!(Instant::now() < end, "not given back: {:?}", kept(store));
        std::thread::sleep(Duration::from_millis(200));
    }
    let log = server.stop();
    assert!(!log.contains("ERROR") && !log.contains(KEY), "{log}");
    below.stop();
}
