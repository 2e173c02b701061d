//! What writes share.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use lazuli_engine::Plan;
use lazuli_model::admission::{Kind, Preconditions, admit};
use lazuli_model::blob::{CustomerKey, Tier};
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::Row;
use lazuli_model::time::Timestamp;

use super::{BlobAddress, Place, Stamped};
use crate::fault::{Answer, Fault};
use crate::record::blob::BlobRecord;
use crate::record::container::ContainerRecord;
use crate::upload::Uploaded;
use crate::{Context, Services, store};

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

    fn compare(&self, md5: Option<[u8; 16]>, crc64: u64) -> Result<(), Failure> {
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
            return Err(Failure::new(ErrorCode::Crc64Mismatch)
                .detail("UserSpecifiedCrc", BASE64.encode(sent.to_le_bytes()))
                .detail("ServerCalculatedCrc", BASE64.encode(crc64.to_le_bytes())));
        }
        Ok(())
    }
}

/// A change of a container's own record under its conditions.
pub async fn change_container<F>(
    services: &Services,
    context: &Context,
    row: &'static Row,
    name: &str,
    given: &Preconditions,
    change: F,
) -> Answer<Stamped>
where
    F: Fn(&mut ContainerRecord, Timestamp) + Send + Sync,
{
    let change = &change;
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let now = store::now(&reader);
            let found = store::find_container(&reader, &context.account, name).await?;
            let admitted = admit(&row.policy, given, Kind::Container, found, now, context.version)?;
            let (record, permit) = admitted.into_parts();
            let mut record = record.ok_or(ErrorCode::ContainerNotFound)?;
            change(&mut record, now);
            let mut plan = Plan::new(Stamped { etag: record.etag, last_modified: record.last_modified });
            store::put_container(&mut plan, &context.account, name, record, permit);
            Ok::<_, Fault>(plan)
        })
        .await
}

/// A change of a committed blob's record under its conditions, its content untouched.
pub async fn change_blob<F>(
    services: &Services,
    context: &Context,
    row: &'static Row,
    at: &BlobAddress,
    given: &Preconditions,
    change: F,
) -> Answer<BlobRecord>
where
    F: Fn(&mut BlobRecord, Timestamp) -> Result<(), Failure> + Send + Sync,
{
    let change = &change;
    services
        .engine()
        .run(services.deadline(), |reader| async move {
            let now = store::now(&reader);
            let place = Place::find(&reader, &context.account, at).await?;
            let generation = place.generation();
            let admitted = admit(&row.policy, given, Kind::Blob, place.existing, now, context.version)?;
            let (existing, permit) = admitted.into_parts();
            let mut record = existing.and_then(|existing| existing.blob()).ok_or(ErrorCode::BlobNotFound)?;
            change(&mut record, now)?;
            let mut plan = Plan::new(record.clone());
            store::put_blob(&mut plan, generation, &at.blob, record, permit);
            Ok::<_, Fault>(plan)
        })
        .await
}

/// The courtesy run of admission: refuses before a large body is read what would be refused after it.
pub async fn admit_early(
    services: &Services,
    context: &Context,
    row: &'static Row,
    at: &BlobAddress,
    given: &Preconditions,
) -> Answer<()> {
    let reader = services.engine().reader().await?;
    let now = store::now(&reader);
    let place = Place::find(&reader, &context.account, at).await?;
    admit(&row.policy, given, Kind::Blob, place.existing, now, context.version)?;
    Ok(())
}

/// Bytes of an archived blob can be neither read nor changed.
pub fn refuse_archived(record: &BlobRecord) -> Result<(), Failure> {
    match record.tier {
        Some(explicit) if explicit.tier == Tier::Archive => Err(ErrorCode::BlobArchived.into()),
        _ => Ok(()),
    }
}

/// A blob written with a key of the customer's is touched only with that key, and no other with any.
pub fn check_customer_key(record: &BlobRecord, given: Option<&CustomerKey>) -> Result<(), Failure> {
    match (&record.customer_key, given) {
        (None, None) => Ok(()),
        (Some(_), None) => Err(ErrorCode::BlobUsesCustomerSpecifiedEncryption.into()),
        (None, Some(_)) => Err(ErrorCode::BlobDoesNotUseCustomerSpecifiedEncryption.into()),
        (Some(have), Some(given)) if have == given => Ok(()),
        (Some(_), Some(_)) => Err(ErrorCode::BlobCustomerSpecifiedEncryptionMismatch.into()),
    }
}

/// New blocks may bring a key to a blob that has none: their list replaces it (recorded).
pub fn check_key_of_blocks(record: &BlobRecord, given: Option<&CustomerKey>) -> Result<(), Failure> {
    match (&record.customer_key, given) {
        (None, Some(_)) => Ok(()),
        _ => check_customer_key(record, given),
    }
}
