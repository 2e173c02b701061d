//! A client that is logged on and sends nonsense, well signed: every request is answered or the connection cut, nothing
//! panics, and everybody else is served.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lazuli_smb::wire::negotiate::Dialect;
use tokio::time::{Duration, timeout};

use crate::client::{Raw, Seal, close_body, command, create_body};
use crate::server::{KEYS, start};

const ROUNDS: u32 = 1500;

/// A generator that gives the same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below.max(1)
    }
}

/// Requests on a file or directory that a server would carry out as they are.
fn requests(file: [u8; 16]) -> Vec<(u16, Vec<u8>)> {
    let with_id = |head: &[u8], tail: &[u8]| [head, &file, tail].concat();
    let size = |number: u16| number.to_le_bytes().to_vec();
    vec![
        (command::CREATE, create_body("some\\name")),
        (command::CLOSE, close_body(file)),
        (7, with_id(&[24, 0, 0, 0, 0, 0, 0, 0], &[])),
        (8, with_id(&[&size(49)[..], &[0, 0, 0, 16, 0, 0], &[0; 8]].concat(), &[0; 17])),
        (
            9,
            with_id(
                &[&size(49)[..], &[112, 0, 5, 0, 0, 0], &[0; 8]].concat(),
                b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0hello",
            ),
        ),
        (10, with_id(&[48, 0, 1, 0, 0, 0, 0, 0], &[&[0; 16][..], &[0x12, 0, 0, 0, 0, 0, 0, 0]].concat())),
        (
            command::IOCTL,
            with_id(
                &[57, 0, 0, 0, 0x64, 0x40, 0x14, 0],
                &[&[0; 20][..], &[0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]].concat(),
            ),
        ),
        (14, with_id(&[33, 0, 37, 0, 0, 0, 0, 0], &[96, 0, 2, 0, 0, 16, 0, 0, b'*', 0])),
        (16, with_id(&[&size(41)[..], &[1, 18, 0, 1, 0, 0], &[0; 16]].concat(), &[0])),
        (17, with_id(&[&size(33)[..], &[1, 4, 40, 0, 0, 0, 96, 0, 0, 0, 0, 0, 0, 0]].concat(), &[0; 40])),
        (18, with_id(&[24, 0, 0, 0, 0, 0, 0, 0], &[])),
        (command::TREE_CONNECT, b"\x09\0\0\0\x48\0\x0a\0\\\0\\\0a\0\\\0b\0".to_vec()),
        (command::ECHO, vec![4, 0, 0, 0]),
    ]
}

#[tokio::test]
async fn nonsense_of_a_known_client_hurts_nobody() {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let before = Arc::new(std::panic::take_hook());
    let print = Arc::clone(&before);
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        print(panic);
    }));
    let bench = start().await;
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let mut raw = Raw::ready(bench.address, Dialect::Smb311, "alpha", KEYS[0]).await;
    let mut file = raw.create("file").await.expect("made");
    let (mut answered, mut cut) = (0, 0);
    for _ in 0..ROUNDS {
        let all = requests(file);
        let (command, mut body) = all[numbers.next(all.len())].clone();
        for _ in 0..numbers.next(4) {
            let place = numbers.next(body.len());
            body[place] = [0, 1, 0x7F, 0x80, 0xFF][numbers.next(5)];
        }
        if numbers.next(5) == 0 {
            body.truncate(numbers.next(body.len() + 1));
        }
        let message = [raw.header(command), body].concat();
        let message = raw.protect(message, if numbers.next(2) == 0 { Seal::Signed } else { Seal::Encrypted });
        raw.send(&message).await;
        let answer = timeout(Duration::from_secs(20), raw.receive()).await.expect("an answer in time");
        match answer {
            Some(_) => answered += 1,
            None => {
                cut += 1;
                raw = Raw::ready(bench.address, Dialect::Smb311, "alpha", KEYS[0]).await;
            }
        }
        // Whatever happened to the file before, there is one for the next round.
        if numbers.next(20) == 0
            && let Ok(another) = raw.create("file").await
        {
            file = another;
        }
    }
    assert_eq!(PANICS.load(Ordering::Relaxed), 0);
    assert!(answered > ROUNDS / 2, "{answered} answered, {cut} cut");
    let mut other = Raw::ready(bench.address, Dialect::Smb311, "beta", "YmV0YQ==").await;
    other.create("still served").await.expect("made");
}
