//! The cases, in the order in which they are run.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::options::Options;
use crate::{Outcome, Trial, abuse, cluster, delivery, events, history, kill, lease, several, transfer};

type Running<'a> = Pin<Box<dyn Future<Output = Trial<Outcome>> + Send + 'a>>;

pub struct Case {
    pub name: &'static str,
    title: &'static str,
    pub needs_server: bool,
    /// With one server over a directory, and with several over a database.
    pub alone: bool,
    pub in_cluster: bool,
    start: for<'a> fn(&'a Options) -> Running<'a>,
}

impl Case {
    /// A case that finds no end has failed.
    pub async fn run(&self, options: &Options) -> Trial<Outcome> {
        let wanted = options.cycles * 3 + options.rounds * options.seconds * 5 + options.messages / 300;
        let patience = Duration::from_secs(
            wanted + if options.long { 3600 } else { 120 } + if options.cluster.is_some() { 900 } else { 0 },
        );
        match tokio::time::timeout(patience, (self.start)(options)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(format!("no end after {} s", patience.as_secs())),
        }
    }
}

/// Those that say the same of a cluster.
const ALSO_IN_CLUSTER: &[&str] = &[
    "kill",
    "kill-versions",
    "history",
    "page-history",
    "append-history",
    "table-history",
    "file-history",
    "transfer",
    "delivery",
    "events",
    "several-reads",
    "lease-crash",
];

const fn is_cluster_only(name: &str) -> bool {
    begins(name.as_bytes(), b"cluster-")
}

const fn is_one_of(name: &str, names: &[&str]) -> bool {
    let mut at = 0;
    while at < names.len() {
        let same = names[at].len() == name.len() && begins(names[at].as_bytes(), name.as_bytes());
        if same {
            return true;
        }
        at += 1;
    }
    false
}

const fn begins(text: &[u8], with: &[u8]) -> bool {
    let mut at = 0;
    while at < with.len() {
        if at >= text.len() || text[at] != with[at] {
            return false;
        }
        at += 1;
    }
    true
}

macro_rules! cases {
    ($( $name:literal, $title:literal, $needs_server:literal, $start:path; )*) => {
        pub const CASES: &[Case] = &[ $( Case {
            name: $name,
            title: $title,
            needs_server: $needs_server,
            alone: !is_cluster_only($name),
            in_cluster: is_cluster_only($name) || is_one_of($name, ALSO_IN_CLUSTER),
            start: |options| Box::pin(async move { $start(options).await.map(Outcome::from) }),
        }, )* ];
    };
}

cases! {
    "checker", "the judge of histories rejects bad ones and accepts good ones", false, history::judge_the_judge;
    "kill", "kill -9 under load: every acknowledged write is there", true, kill::run;
    "kill-versions", "kill -9 while blobs with versions and tags are written: every version is there, and found by its tags", true, kill::versions;
    "history", "32 clients, a few blobs, restarts: every answer has its place in one order", true, history::run::<history::blob::Blobs>;
    "page-history", "32 clients, page blobs, sequence numbers, restarts: no write is seen in part, and one order explains all", true, history::run::<history::page::PageBlobs>;
    "append-history", "32 clients, append blobs, restarts: every block has one place", true, history::run::<history::append::AppendBlobs>;
    "table-history", "32 clients, small partitions, groups and queries, restarts: one order explains all", true, history::run::<history::table::Partitions>;
    "file-history", "32 clients, a few files that are written, renamed and copied, restarts: one order explains all", true, history::run::<history::file::Files>;
    "transfer", "32 writers move amounts by groups, restarts: one sum for every reader, no merge lost", true, transfer::run;
    "delivery", "64 consumers, messages abandoned, restarts: each delivered, none twice at once, none again", true, delivery::run;
    "events", "kill -9 while blobs are made and deleted: every acknowledged change is told, and told once", true, events::run;
    "several-history", "the same with three servers over one engine, another one for each request", true, several::run::<history::blob::Blobs>;
    "several-pages", "page-history with three servers", true, several::run::<history::page::PageBlobs>;
    "several-appends", "append-history with three servers", true, several::run::<history::append::AppendBlobs>;
    "several-table", "table-history with three servers", true, several::run::<history::table::Partitions>;
    "several-file", "file-history with three servers", true, several::run::<history::file::Files>;
    "several-transfer", "transfer with three servers", true, several::transfer;
    "several-delivery", "delivery with three servers", true, several::delivery;
    "several-events", "events with three servers", true, events::several;
    "several-reads", "a slow download from one server while others overwrite and sweep", true, several::reads;
    "cluster-cuts", "connections to the database are cut between a commit and its answer", true, cluster::cuts::run;
    "cluster-mid-commit", "servers are killed while the database commits for them: before, during and after it", true, cluster::mid_commit::run;
    "cluster-bytes-down", "the store of bytes is killed for half a minute", true, cluster::bytes_down::run;
    "cluster-failover", "nodes of the database are killed, frozen and left by their agents, under Patroni", true, cluster::failover::run;
    "lease-wall", "the wall clock jumps by hours and days, both ways", false, lease::wall::run;
    "lease-crash", "kill -9 in mid-lease: held for what is left of it", true, lease::crash::run;
    "lease-upload", "the lease is lost in mid-upload: 412, and the old content stays", true, lease::upload::run;
    "slow", "thousands of slow connections while others are served", true, abuse::slow::run;
    "heads", "requests, headers and documents over the limits", true, abuse::heads::run;
    "lengths", "bodies that lie about their length, or never end", true, abuse::lengths::run;
    "descriptors", "160 file descriptors, many files and a crowd", true, abuse::descriptors::run;
    "memory", "200 uploads of 100 MiB at once in 256 MiB of memory", true, abuse::memory::run;
    "reclaim", "discarded uploads, lists and snapshots are given back beside a slow reader", true, abuse::reclaim::run;
    "stalled", "32 uploads whose senders stall, and a large one beside them", true, abuse::stalled::run;
    "unread", "300 answers that are not read: memory stays bounded, others get their lists", true, abuse::unread::run;
    "neighbours", "small reads beside requests that take long to compute", true, abuse::neighbours::run;
    "disk-full", "the disk runs full, and is freed again", true, abuse::disk::run;
}

pub fn list() -> String {
    CASES.iter().map(|case| format!("  {:<18} {}\n", case.name, case.title)).collect()
}
