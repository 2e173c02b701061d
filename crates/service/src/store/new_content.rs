//! Bytes that are on stable storage and that no record points to yet.

use lazuli_model::encryption::Encryption;
use lazuli_model::time::Timestamp;

use super::unit::{Changes as _, Unit};
use crate::Services;
use crate::fault::Answer;
use crate::store::key::{self, ContentId};
use crate::store::manifest::Manifest;
use crate::store::record::content::{Content, PIECES_IN_BLOCK, PIECES_IN_RECORD};
use crate::store::upload::Uploaded;

/// An upload and, if it is in more pieces than its record should name, their manifest.
pub struct NewContent {
    pub(super) content: Content,
    uploaded: Uploaded,
    manifest: Option<Manifest>,
}

impl NewContent {
    /// For a blob that has no other content.
    pub async fn of_blob(services: &Services, uploaded: Uploaded) -> Answer<Self> {
        Self::of_upload(services, uploaded, PIECES_IN_RECORD, services.now()).await
    }

    /// For a page blob, whose pieces become intervals of a layer.
    pub async fn of_pages(services: &Services, uploaded: Uploaded) -> Answer<Self> {
        Self::of_upload(services, uploaded, usize::MAX, services.now()).await
    }

    /// For a block, which many places of a list may name.
    pub async fn of_block(services: &Services, uploaded: Uploaded) -> Answer<Self> {
        Self::of_upload(services, uploaded, PIECES_IN_BLOCK, services.now()).await
    }

    async fn of_upload(
        services: &Services,
        uploaded: Uploaded,
        direct: usize,
        now: Timestamp,
    ) -> Answer<Self> {
        let id = ContentId::fresh(now);
        let mut manifest = Manifest::of_upload(&uploaded, id, direct, now);
        let content = match &mut manifest {
            Some(manifest) => {
                manifest.write_ahead(services).await?;
                manifest.content.clone()
            }
            None => uploaded.content(id),
        };
        Ok(Self { content, uploaded, manifest })
    }

    /// What the bytes are encrypted with.
    pub fn encryption(&self) -> &Encryption {
        &self.uploaded.encryption
    }

    /// A part of it was written ahead, and the commit must find that it still stands.
    pub(super) fn is_written_ahead(&self) -> bool {
        self.manifest.is_some()
    }

    /// The bytes that the commit itself carries.
    pub(super) fn inline_length(&self) -> usize {
        self.uploaded.inline_length()
    }

    pub fn uploaded(&self) -> &Uploaded {
        &self.uploaded
    }

    /// What the commit that points to it carries. After an error the unit is as it was, so that it can go on without it.
    pub(super) async fn publish(&self, unit: &mut Unit) -> Answer<()> {
        if let Some(manifest) = &self.manifest {
            manifest.publish(&unit.reader().clone(), unit).await?;
        }
        if let Some((id, bytes)) = self.uploaded.inline() {
            unit.put_private(key::inline(id), bytes);
        }
        unit.publish(self.uploaded.chunks());
        Ok(())
    }

    /// A commit points to it.
    pub fn settle(&mut self) {
        if let Some(manifest) = &mut self.manifest {
            manifest.settle();
        }
    }
}
