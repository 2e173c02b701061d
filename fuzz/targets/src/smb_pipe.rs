//! Remote procedure calls over a pipe: any bytes, in any pieces.

use std::sync::OnceLock;

use lazuli_smb::rpc::pdu;
use lazuli_smb::rpc::pipe::Pipe;
use lazuli_smb::rpc::srvsvc::Directory;
use tokio::runtime::{Builder, Runtime};

struct Shares;

impl Directory for Shares {
    async fn shares(&self) -> Vec<String> {
        // More than one fragment of them.
        (0..100).map(|number| format!("share-number-{number}")).collect()
    }

    fn server_name(&self) -> &str {
        "FUZZ"
    }
}

pub fn run(data: &[u8]) {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Builder::new_current_thread().build().unwrap());
    runtime.block_on(async {
        let (whole, pieces) = (answers(&[data]).await, answers(&data.chunks(7).collect::<Vec<_>>()).await);
        assert!(whole.len() <= 64 * 8 && pieces.len() <= 64 * 8);
        for answer in whole.iter().chain(&pieces) {
            assert!((pdu::HEADER..=pdu::FRAGMENT_MAX).contains(&answer.len()), "{} bytes", answer.len());
            assert_eq!(pdu::length(answer), Ok(Some(answer.len())), "an answer says how long it is");
        }
        // Where all of it could be taken, the pieces do not matter.
        if !whole.is_empty() && whole.len() == pieces.len() {
            assert_eq!(whole, pieces);
        }
    });
}

async fn answers(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut pipe = Pipe::open("srvsvc").unwrap();
    for piece in pieces {
        if pipe.write(piece, &Shares).await.is_err() {
            break;
        }
    }
    let mut answers = Vec::new();
    while let Some((answer, more)) = pipe.read(pdu::FRAGMENT_MAX) {
        assert!(!more, "a fragment fits");
        answers.push(answer.to_vec());
    }
    answers
}
