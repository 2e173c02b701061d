//! Servers are killed with SIGKILL in the middle of a commit: when it was sent and the database has not got it, when the database has got
//! it, and when the database has done it and its answer is on the way. What clients were told is judged like any history.

use std::sync::Arc;

use super::aim::Aim;
use crate::Trial;
use crate::history::{self, blob::Blobs, table::Partitions};
use crate::options::Options;

/// Each point is met several times.
const SECONDS: u64 = 20;

pub async fn run(options: &Options) -> Trial<String> {
    let aim = Arc::new(Aim::at(options.cluster()?).await?);
    let mut options = options.clone();
    options.seconds = options.seconds.max(SECONDS);
    options.aim = Some(aim.clone());
    let blobs = history::run::<Blobs>(&options).await?;
    let partitions = history::run::<Partitions>(&options).await?;
    let [sent, arrived, answered] = aim.caught();
    let busy = arrived.saturating_sub(aim.overtaken());
    if [sent, busy, answered].contains(&0) {
        return Err(format!(
            "killed {sent}, {arrived} (in time {busy}) and {answered} times: a point was never met"
        ));
    }
    Ok(format!(
        "killed {sent} times before the database had the commit, {busy} times while it was at it, {answered} times when it had done it; \
         {blobs}; {partitions}"
    ))
}
