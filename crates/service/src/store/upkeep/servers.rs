//! Servers that are silent for long are declared dead, and what they left half-written is given up.

use lazuli_engine::{Key, Plan, Scan};

use super::Work;
use super::budget::has_room;
use crate::fault::{Answer, Fault};
use crate::store::key::{self, ContentId, Incarnation};
use crate::store::members::{self, Members};
use crate::store::record::Record;
use crate::store::record::content::DeadContent;
use crate::store::record::server::{Intent, ServerRow};

/// Deletes the rows of servers that have been silent for long, each by a commit that checks that it still is. A server
/// that is alone deletes those of all others.
pub async fn declare_dead(work: &Work) -> Answer<()> {
    let alone = work.members() == Members::Alone;
    let servers = members::list(&work.engine().reader().await?).await?;
    for (server, row) in servers {
        if !alone && !members::is_expired(work.engine(), &row) {
            continue;
        }
        let declared = work
            .run(|reader| async move {
                let at = key::server(server);
                let mut plan = Plan::new(false);
                if let Some(entry) = reader.get(at.clone()).await?
                    && (alone || members::is_expired(work.engine(), &ServerRow::decode(&entry.value)?))
                {
                    plan.output = true;
                    plan.delete(at);
                }
                Ok::<_, Fault>(plan)
            })
            .await?;
        if declared && !alone {
            tracing::warn!(server = format_args!("{:x}", server.0), "a server is silent and taken for dead");
        }
    }
    Ok(())
}

/// Manifests and bodies that dead servers were writing ahead of a commit that has not come. If it still comes, one of
/// the two commits finds the intent gone.
pub async fn give_up_orphans(work: &Work) -> Answer<usize> {
    let (mut given_up, mut after) = (0, None);
    loop {
        let reader = work.engine().reader().await?;
        let page = reader.scan(Scan { after, ..Scan::of(key::intents()) }).await?;
        let mut orphans = Vec::new();
        for (at, entry) in &page.items {
            if let Some(content) = key::content_of(at)
                && is_orphan(work, &reader, &entry.value).await?
            {
                orphans.push(content);
            }
        }
        drop(reader);
        let mut rest = &orphans[..];
        while !rest.is_empty() {
            let done = give_up_some(work, rest).await?;
            given_up += done;
            rest = &rest[done.clamp(1, rest.len())..];
        }
        after = page.items.last().map(|(key, _): &(Key, _)| key.clone());
        if !page.more {
            return Ok(given_up);
        }
    }
}

/// As many as one commit takes.
async fn give_up_some(work: &Work, orphans: &[ContentId]) -> Answer<usize> {
    work.run(|reader| async move {
        let mut plan = Plan::new(0);
        for content in orphans {
            if !has_room(&plan) {
                break;
            }
            plan.output += 1;
            let intent = key::intent(*content);
            if let Some(entry) = reader.get(intent.clone()).await?
                && is_orphan(work, &reader, &entry.value).await?
            {
                plan.delete(intent);
                plan.put(key::dead_content(*content), DeadContent::Segments.encode());
            }
        }
        Ok::<_, Fault>(plan)
    })
    .await
}

/// An intent that cannot be read is left alone.
async fn is_orphan(work: &Work, reader: &lazuli_engine::Reader, value: &[u8]) -> Answer<bool> {
    match owner(value) {
        Some(Ok(owner)) => members::is_dead(work, reader, owner).await,
        Some(Err(error)) => {
            work.upkeep().pass_over("an intent", &error);
            Ok(false)
        }
        None => Ok(true),
    }
}

/// `None` for an intent of a time when they did not say whose they were.
fn owner(value: &[u8]) -> Option<Answer<Incarnation>> {
    (!value.is_empty()).then(|| Ok(Intent::decode(value)?.owner))
}
