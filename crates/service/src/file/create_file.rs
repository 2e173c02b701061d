//! Create File: one of so many zeros, also in the place of a file that is there, or with its first bytes.

use lazuli_model::admission::Preconditions;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::policy;

use super::put_range::receive;
use super::{Described, FileAddress, NewBody, NewPath};
use crate::blob::Digests;
use crate::fault::Answer;
use crate::store::Filled;
use crate::{Body, Context, Services};

pub struct CreateFile {
    pub at: FileAddress,
    pub preconditions: Preconditions,
    pub new: NewPath,
    /// What the file begins with, if the request brings it.
    pub bytes: Option<(Body, Digests)>,
}

impl CreateFile {
    /// The file, and the MD5 of the bytes that it begins with.
    pub async fn execute(
        self,
        services: &Services,
        context: &Context,
    ) -> Answer<(Described, Option<[u8; 16]>)> {
        let Self { at, preconditions, new, bytes } = self;
        let uploaded = match bytes {
            None => None,
            Some((body, digests)) => {
                let (at, given) = (&at, &preconditions);
                services
                    .look(context, |view| async move {
                        Ok(view.path(at).await?.judge(policy::CreateFile, given)?)
                    })
                    .await?;
                Some(receive(services, body, true, &digests).await?)
            }
        };
        if let (NewBody::File { length, .. }, Some(uploaded)) = (&new.body, &uploaded)
            && uploaded.length > *length
        {
            return Err(Failure::new(ErrorCode::InvalidRange).into());
        }
        let (at, given, new, first) = (&at, &preconditions, &new, uploaded.as_ref());
        let made = services
            .commit(context, |unit| async move {
                let admitted = unit.path(at).await?.admit(policy::CreateFile, given)?;
                admitted.create_with(new, Filled { uploaded: first, ..Filled::default() }).await
            })
            .await?;
        Ok((made, uploaded.and_then(|uploaded| uploaded.md5)))
    }
}
