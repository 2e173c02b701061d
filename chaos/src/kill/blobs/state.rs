//! What a blob may look like.

use bytes::Bytes;

use crate::blob;
use crate::wire::Answer;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub seed: u64,
    pub length: usize,
    /// In the metadata.
    pub mark: u64,
    pub leased: bool,
}

impl Blob {
    pub fn content(&self) -> Bytes {
        blob::content(self.seed, self.length)
    }
}

/// None: there is no such blob.
pub type State = Option<Blob>;

/// What its only writer knows of a blob.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub acknowledged: State,
    /// What the request that was never answered would have made of it.
    pub open: Option<State>,
}

impl Known {
    /// Takes what is there for the truth, if it is one of the two things that may be there.
    pub fn settle(&mut self, answer: &Answer) -> Result<(), String> {
        let open = self.open.take();
        let Some(found) = std::iter::once(&self.acknowledged).chain(&open).find(|state| shows(answer, state))
        else {
            let length = answer.body.len();
            let mark = answer.header("x-ms-meta-mark").unwrap_or("-");
            let lease = answer.header("x-ms-lease-state").unwrap_or("-");
            return Err(format!(
                "LOST: found {}, {length} bytes, mark {mark}, {lease}; acknowledged {:?}, open {open:?}",
                answer.shown(),
                self.acknowledged
            ));
        };
        self.acknowledged = found.clone();
        Ok(())
    }
}

fn shows(answer: &Answer, state: &State) -> bool {
    match state {
        None => answer.status == 404 && answer.code() == "BlobNotFound",
        Some(blob) => {
            let lease = if blob.leased { "leased" } else { "available" };
            answer.status == 200
                && answer.header("x-ms-meta-mark") == Some(&blob.mark.to_string())
                && answer.header("x-ms-lease-state") == Some(lease)
                && answer.body == blob.content()
        }
    }
}
