//! Copies that no server works at: their server is dead, or a try has failed and another is due.
//!
//! Whether a server is dead is told by its row (`members.rs`), which no clock of a test touches. What this process works at
//! it knows itself; of everything else the commit that takes a job up is the judge.

use std::collections::HashSet;
use std::sync::Arc;

use lazuli_engine::{Key, Scan};
use lazuli_model::blob::CopyStatus;
use lazuli_model::encryption::Encryption;
use lazuli_model::operation::Mode;
use lazuli_model::version::ApiVersion;
use parking_lot::Mutex;
use uuid::Uuid;

use super::copy_job::{Pending, failed};
use super::members;
use super::unit::{Changes as _, Unit};
use crate::fault::{Answer, Fault};
use crate::store::key;
use crate::store::record::Record;
use crate::store::record::copy_job::CopyJob;
use crate::{Context, Services};

/// So often a copy is begun at the most.
pub(crate) const TRIES: u32 = 6;
/// Between two tries: so long after the first, twice as long after each further one.
const PAUSE_SECONDS: i64 = 2;
/// Looked at at a time.
const JOBS: usize = 100;

/// What the blob of a copy says that cannot be begun again, and of one that was begun too often.
const LOST: &str = "500 InternalError \"The server that copied was stopped.\"";
const TOO_OFTEN: &str = "500 InternalError \"Copy failed when reading the source.\"";

/// The copies that this process works at.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<Mutex<HashSet<Uuid>>>);

/// One of them, while it lasts.
pub(crate) struct AtWork {
    running: Running,
    id: Uuid,
}

impl Running {
    /// To be called before the row says so. None when it is worked at already.
    pub fn begin(&self, id: Uuid) -> Option<AtWork> {
        self.0.lock().insert(id).then(|| AtWork { running: self.clone(), id })
    }

    fn has(&self, id: Uuid) -> bool {
        self.0.lock().contains(&id)
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.running.0.lock().remove(&self.id);
    }
}

impl Pending {
    /// How what the copy writes is encrypted; None when the copy is no longer under way.
    pub(crate) async fn encryption(
        &self,
        services: &Services,
        context: &Context,
    ) -> Answer<Option<Encryption>> {
        let view = services.view(context).await?;
        Ok(view.destination_of(&self.0).await?.map(|to| to.encryption()))
    }
}

impl Services {
    /// Copies that this server might take up.
    pub(crate) async fn lost_copies(&self) -> Answer<Vec<Pending>> {
        let (mut lost, mut after): (_, Option<Key>) = (Vec::new(), None);
        loop {
            let view = self.view(&Context::reading("")).await?;
            let page = view.reader().scan(Scan { after, limit: JOBS, ..Scan::of(key::copy_jobs()) }).await?;
            for (_, entry) in &page.items {
                match CopyJob::decode(&entry.value) {
                    Ok(job) if self.is_lost(&view, &job).await? => lost.push(Pending(job)),
                    Ok(_) => {}
                    Err(error) => self.upkeep().pass_over("a copy under way", &error.into()),
                }
            }
            after = page.items.last().map(|(key, _)| key.clone());
            if !page.more || lost.len() >= JOBS {
                return Ok(lost);
            }
        }
    }

    async fn is_lost<M: Mode>(&self, unit: &Unit<M>, job: &CopyJob) -> Answer<bool> {
        match job.server {
            None => Ok(job.due <= unit.now()),
            Some(server) if server == self.incarnation() => Ok(!self.running_copies().has(job.id)),
            Some(server) => members::is_dead(self, unit.reader(), server).await,
        }
    }

    /// Makes the next try of a job this server's, which has said that it works at it. None where there is nothing to do:
    /// another server was faster, the copy was aborted, or it has ended here because it was tried too often.
    pub(crate) async fn take_up_copy(&self, Pending(seen): &Pending) -> Answer<Option<Pending>> {
        let context = &Context::of_owner(&seen.account, ApiVersion::NEWEST);
        let server = self.incarnation();
        self.commit(context, |mut unit| async move {
            let Some(job) = unit.copy_job(seen.id).await? else { return Ok(None) };
            // What was said of this process before it began is told apart by the try.
            let is_own = job.server == Some(server);
            if !job.is_try(seen) || !(is_own || self.is_lost(&unit, &job).await?) {
                return Ok(None);
            }
            let Some(mut to) = unit.destination_or_end(&job).await? else { return Ok(None) };
            let ends = match &job.plan {
                None => Some(LOST),
                Some(_) if job.tries >= TRIES || unit.is_too_long(&job) => Some(TOO_OFTEN),
                Some(_) => None,
            };
            if let Some(why) = ends {
                unit.end_in_vain(&job, to, failed(why)).await?;
                return Ok(None);
            }
            // It begins anew, and says so.
            if let Some(copy) = to.copy_mut()
                && copy.status == CopyStatus::Pending
                && copy.copied != 0
            {
                copy.copied = 0;
                to.write(&mut unit).await?;
            }
            let job = CopyJob { server: Some(server), tries: job.tries + 1, ..job };
            unit.put(key::copy_job(job.id), job.encode());
            Ok::<_, Fault>(Some(Pending(job)))
        })
        .await
    }

    /// Lets any server take the next try, in a while. False when there is none left, or no way to begin again.
    pub(crate) async fn try_copy_again(&self, context: &Context, Pending(tried): &Pending) -> Answer<bool> {
        if tried.plan.is_none() || tried.tries >= TRIES {
            return Ok(false);
        }
        self.commit(context, |mut unit| async move {
            let Some(job) = unit.copy_job(tried.id).await? else { return Ok(true) };
            if job.is_try(tried) {
                let due = unit.now().plus_seconds(PAUSE_SECONDS << (job.tries - 1).min(10));
                unit.put(key::copy_job(job.id), CopyJob { server: None, due, ..job }.encode());
            }
            Ok::<_, Fault>(true)
        })
        .await
    }
}
