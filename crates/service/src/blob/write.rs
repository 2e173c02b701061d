//! What writes share.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use lazuli_model::admission::Preconditions;
use lazuli_model::blob::{CustomerKey, CustomerKeyHash, Tier};
use lazuli_model::encryption::Encryption;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Judged;

use super::BlobAddress;
use crate::body::crc64_mismatch;
use crate::fault::Answer;
use crate::store::BlobRecord;
use crate::upload::Uploaded;
use crate::{Context, Services};

/// What the sender says its bytes hash to.
#[derive(Clone, Debug, Default)]
pub struct Digests {
    pub md5: Option<[u8; 16]>,
    pub crc64: Option<u64>,
}

impl Digests {
    pub fn verify(&self, uploaded: &Uploaded) -> Result<(), Failure> {
        self.compare(uploaded.md5, uploaded.crc64)
    }

    /// Checks a body that is in memory; gives its CRC-64.
    pub fn verify_bytes(&self, bytes: &[u8]) -> Result<u64, Failure> {
        let crc64 = crate::crc64(bytes);
        self.compare(self.md5.map(|_| crate::md5(bytes)), crc64)?;
        Ok(crc64)
    }

    pub(super) fn compare(&self, md5: Option<[u8; 16]>, crc64: u64) -> Result<(), Failure> {
        if let (Some(sent), Some(found)) = (self.md5, md5)
            && sent != found
        {
            return Err(Failure::new(ErrorCode::Md5Mismatch)
                .detail("UserSpecifiedMd5", BASE64.encode(sent))
                .detail("ServerCalculatedMd5", BASE64.encode(found)));
        }
        if let Some(sent) = self.crc64
            && sent != crc64
        {
            return Err(crc64_mismatch(sent, crc64));
        }
        Ok(())
    }
}

impl Services {
    /// Whether an operation on a blob would be let through now, before a large body is read or much is prepared.
    pub(super) async fn judge_early(
        &self,
        context: &Context,
        at: &BlobAddress,
        op: impl Judged,
        given: &Preconditions,
    ) -> Answer<()> {
        self.read(context, |view| async move { Ok(view.blob(at).await?.judge(op, given)?) }).await
    }
}

/// Bytes of an archived blob can be neither read nor changed.
pub fn refuse_archived(record: &BlobRecord) -> Result<(), Failure> {
    match record.tier {
        Some(explicit) if explicit.tier == Tier::Archive => match record.extras().rehydration {
            Some(_) => Err(ErrorCode::BlobBeingRehydrated.into()),
            None => Err(ErrorCode::BlobArchived.into()),
        },
        _ => Ok(()),
    }
}

/// A blob written with a key of the customer's is read only with that key, and no other with any. The scope of a blob is
/// not named to read it.
pub fn check_customer_key(record: &BlobRecord, given: Option<&CustomerKey>) -> Result<(), Failure> {
    let of = |key: Option<CustomerKeyHash>| key.map_or(Encryption::Service, Encryption::Customer);
    of(record.customer_key).admits(&of(given.map(|key| key.hash)))
}

/// New blocks may bring an encryption to a blob that has none: their list replaces it (recorded).
pub fn check_encryption_of_blocks(record: &BlobRecord, given: &Encryption) -> Result<(), Failure> {
    match record.encryption() {
        Encryption::Service => Ok(()),
        have => have.admits(given),
    }
}
