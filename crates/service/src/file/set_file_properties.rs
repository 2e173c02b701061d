//! Set File Properties: what SMB and NFS clients see, the headers for readers, the length.

use lazuli_model::admission::Preconditions;
use lazuli_model::blob::ContentHeaders;
use lazuli_model::operation::policy;
use lazuli_model::smb::{PosixWishes, SmbWishes, Wish};

use super::{Described, FileAddress};
use crate::fault::Answer;
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct SetFileProperties {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub smb: SmbWishes,
    pub posix: PosixWishes,
    /// All of them, in place of what the file has; none to leave them as they are.
    pub headers: Option<ContentHeaders>,
    pub length: Option<u64>,
}

impl SetFileProperties {
    pub async fn execute(mut self, services: &Services, context: &Context) -> Answer<Described> {
        // A length is written, whether it is another one or not (recorded, with the time to be preserved).
        if self.length.is_some() && self.smb.last_write_time == Wish::Preserve {
            self.smb.last_write_time = Wish::Now;
        }
        let input = &self;
        services
            .commit(context, |unit| async move {
                let found = unit.path(&input.at).await?;
                let mut file =
                    found.admit(policy::SetFileProperties, &input.preconditions)?.file_or_link()?;
                file.set_properties(&input.smb, input.posix).await?;
                if let Some(headers) = &input.headers {
                    file.set_headers(headers)?;
                }
                let (id, parent_id) = file.numbers();
                let record = match input.length {
                    Some(length) => file.resize(length).await?,
                    None => file.put().await?,
                };
                Ok(Described { record, id, parent_id })
            })
            .await
    }
}
