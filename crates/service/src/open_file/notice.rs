//! What an open's client is told without having asked.

use lazuli_model::admission::caching::OplockLevel;
use lazuli_model::admission::sharing::Caching;

/// Sent through the channel that the [`Client`](super::Client) was made with. An open has at most one break that is not acknowledged, so a
/// channel holds no more than its client has opens and leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The open keeps an oplock of this level at the most. From `Exclusive` and `Batch` an acknowledgement is awaited
    /// ([`OpenFile::acknowledge_oplock`](super::OpenFile::acknowledge_oplock)), from `Two` none.
    OplockBreak { handle: u64, to: OplockLevel, acknowledge: bool },
    /// The lease with this key is to be this at the most.
    LeaseBreak { key: u128, from: Caching, to: Caching, epoch: u16, acknowledge: bool },
    /// The open is over without its client's doing: Force Close Handles, or its server was taken for dead. The connection forgets it.
    Closed { handle: u64 },
}
