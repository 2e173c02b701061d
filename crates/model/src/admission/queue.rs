//! Pop receipts: who may update or delete a message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use uuid::Uuid;

use crate::error::{ErrorCode, Failure};
use crate::time::Timestamp;

use super::Admitted;

/// What a receipt is on the wire, before base64: 20 bytes, little-endian.
///
/// ```text
/// 0  4  2, always
/// 4  4  3, always
/// 8  4  mark of the message, so that a receipt of another message is told from an old one of this
/// 12 8  when it was issued, 100 ns since 1601
/// ```
const LENGTH: usize = 20;
const HEAD: [u8; 8] = [2, 0, 0, 0, 3, 0, 0, 0];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PopReceipt {
    Issued {
        mark: u32,
        at: Timestamp,
    },
    /// Base64, but nothing that was ever issued.
    Foreign,
}

impl PopReceipt {
    /// `at` must grow with every receipt of one message: it is what makes the earlier ones invalid.
    pub fn issue(message: Uuid, at: Timestamp) -> Self {
        Self::Issued { mark: mark_of(message), at }
    }

    /// From the query parameter `popreceipt`, percent-decoded. Judged before the message is looked up.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let Ok(bytes) = STANDARD.decode(text) else {
            return Err(Failure::invalid_query("popreceipt", text, "Invalid pop receipt format"));
        };
        Ok(Self::from_bytes(&bytes).unwrap_or(Self::Foreign))
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (mark, at) = bytes.strip_prefix(&HEAD)?.split_first_chunk::<4>()?;
        let at = u64::from_le_bytes(at.try_into().ok()?);
        Some(Self::Issued {
            mark: u32::from_le_bytes(*mark),
            at: Timestamp(at.checked_add(Timestamp::YEAR_1601.0)?),
        })
    }

    /// The form in which clients get it. A foreign receipt has none.
    pub fn print(&self) -> String {
        let Self::Issued { mark, at } = self else {
            return String::new();
        };
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.extend_from_slice(&HEAD);
        bytes.extend_from_slice(&mark.to_le_bytes());
        bytes.extend_from_slice(&at.0.saturating_sub(Timestamp::YEAR_1601.0).to_le_bytes());
        STANDARD.encode(bytes)
    }
}

fn mark_of(message: Uuid) -> u32 {
    let (high, low) = message.as_u64_pair();
    let folded = high ^ low;
    // The two halves of the fold, one on the other: the cut is meant.
    (folded ^ (folded >> 32)) as u32
}

pub trait Message {
    fn id(&self) -> Uuid;

    /// When the newest receipt was issued: by Put, Get or Update.
    fn receipt_issued(&self) -> Timestamp;

    /// None for a message that never expires.
    fn expires(&self) -> Option<Timestamp>;
}

/// The same gate as [`admit`](super::admit), for Update Message and Delete Message. A receipt stays good
/// after the message has become visible again, until somebody gets it.
pub fn admit_message<R: Message>(
    given: PopReceipt,
    record: Option<R>,
    now: Timestamp,
) -> Result<Admitted<R>, Failure> {
    let is_alive = |message: &R| message.expires().is_none_or(|expires| now < expires);
    let Some(message) = record.filter(is_alive) else {
        return Err(ErrorCode::MessageNotFound.into());
    };
    match given {
        PopReceipt::Issued { mark, at } if mark == mark_of(message.id()) => {
            // Superseded: another consumer got the message, or its own holder updated it.
            if at != message.receipt_issued() {
                return Err(ErrorCode::MessageNotFound.into());
            }
        }
        PopReceipt::Issued { .. } | PopReceipt::Foreign => return Err(ErrorCode::PopReceiptMismatch.into()),
    }
    Ok(Admitted { record: Some(message), noun: "message", now })
}
