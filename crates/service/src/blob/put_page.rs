//! Put Page: a range of pages is written, or cleared.

use std::ops::Range;

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::CustomerKey;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{Judged, Source, Writes, policy};
use lazuli_model::version::Feature;

use super::{BlobAddress, Digests, Stamped};
use crate::fault::Answer;
use crate::store::BlobRecord;
use crate::upload::{Uploaded, upload_pages};
use crate::{Body, Context, Services};

/// The most that one request writes.
const WRITE_LIMIT: u64 = 4 * 1024 * 1024;

pub struct PutPage {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    /// Of whole pages.
    pub range: Range<u64>,
    pub digests: Digests,
    pub body: Body,
    pub customer_key: Option<CustomerKey>,
}

#[derive(Clone, Debug)]
pub struct PageStored {
    pub stamped: Stamped,
    pub sequence_number: u64,
    pub md5: Option<[u8; 16]>,
    pub crc64: u64,
}

impl PutPage {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<PageStored> {
        self.execute_as(services, context, policy::PutPage).await
    }

    /// `op` is Put Page, or Put Page From URL with the bytes of its source.
    pub(super) async fn execute_as(
        self,
        services: &Services,
        context: &Context,
        op: impl Judged<Mode = Writes>,
    ) -> Answer<PageStored> {
        let Self { at, preconditions: given, range, digests, body, customer_key } = self;
        // A large body is not read for nothing; a small one is, and its request judged once.
        let early = !body.is_small();
        if early {
            services.judge_early(context, &at, op, &given).await?;
        }
        // Before there was a CRC-64, the answer was the MD5; of bytes from a source it still is.
        let is_fetched = op.policy().source != Source::None;
        let with_md5 = digests.md5.is_some() || is_fetched || !context.version.has(Feature::Crc64);
        let sealing = services.sealing(context, &at.container, customer_key.as_ref()).await?;
        let uploaded = upload_pages(services, body, WRITE_LIMIT, with_md5, &sealing).await?;
        // Wrong bytes are refused after whatever the conditions refuse.
        let intact = digests.verify(&uploaded).and_then(|()| check_length(&range, &uploaded, is_fetched));
        if early {
            intact.clone()?;
        }
        let (at, given, range, customer_key, new) = (&at, &given, &range, customer_key.as_ref(), &uploaded);
        let intact = &intact;
        let blob = services
            .commit(context, |unit| async move {
                let blob = unit.blob(at).await?.admit(op, given)?.committed()?;
                intact.clone()?;
                blob.check_encryption(customer_key)?;
                check_range(&blob, range)?;
                blob.write_pages(range.clone(), new).await
            })
            .await?;
        Ok(PageStored {
            stamped: blob.stamped(),
            sequence_number: blob.sequence_number,
            md5: uploaded.md5,
            crc64: uploaded.crc64,
        })
    }
}

/// The bytes that came are as many as the range has.
fn check_length(range: &Range<u64>, uploaded: &Uploaded, is_fetched: bool) -> Result<(), Failure> {
    let wanted = range.end - range.start;
    if is_fetched && uploaded.length < wanted {
        let failure = Failure::new(ErrorCode::CannotVerifyCopySource).with_status(416);
        return Err(failure.with_message(ErrorCode::InvalidRange.message()));
    }
    if uploaded.length != wanted {
        return Err(Failure::invalid_header("Content-Length", &uploaded.length.to_string()));
    }
    Ok(())
}

#[derive(Clone, Debug)]
pub struct ClearPages {
    pub at: BlobAddress,
    pub preconditions: Preconditions,
    /// Of whole pages.
    pub range: Range<u64>,
    pub customer_key: Option<CustomerKey>,
}

impl ClearPages {
    /// The blob's new ETag, and its sequence number.
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<(Stamped, u64)> {
        let input = &self;
        let blob = services
            .commit(context, |unit| async move {
                let found = unit.blob(&input.at).await?;
                let blob = found.admit(policy::ClearPages, &input.preconditions)?.committed()?;
                blob.check_encryption(input.customer_key.as_ref())?;
                check_range(&blob, &input.range)?;
                blob.clear_pages(input.range.clone()).await
            })
            .await?;
        Ok((blob.stamped(), blob.sequence_number))
    }
}

fn check_range(blob: &BlobRecord, range: &Range<u64>) -> Result<(), Failure> {
    if range.end > blob.length() { Err(ErrorCode::InvalidPageRange.into()) } else { Ok(()) }
}
