//! The Queue service: one queue, messages of 1 KiB, as its published target of 2,000 messages a second counts them.

mod growth;
mod messages;

pub use growth::measure as growth;

use super::Scene;
use crate::Outcome;
use crate::load::Measured;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// A message got and deleted is one operation of two requests.
    GetDelete(usize),
    Put,
}

impl Queue {
    pub const ALL: [Self; 3] = [Self::Put, Self::GetDelete(1), Self::GetDelete(16)];

    pub fn name(self) -> &'static str {
        match self {
            Self::GetDelete(1) => "get+delete 1 client",
            Self::GetDelete(_) => "get+delete 16 clients",
            Self::Put => "put message",
        }
    }

    pub async fn run(self, scene: &Scene<'_>) -> Outcome<Measured> {
        match self {
            Self::GetDelete(clients) => messages::get_and_delete(scene, clients).await,
            Self::Put => messages::put(scene).await,
        }
    }
}
