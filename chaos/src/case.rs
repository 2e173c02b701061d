//! The cases, in the order in which they are run.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::options::Options;
use crate::{Trial, abuse, delivery, events, history, kill, lease, several, transfer};

type Running<'a> = Pin<Box<dyn Future<Output = Trial<String>> + Send + 'a>>;

pub struct Case {
    pub name: &'static str,
    title: &'static str,
    pub needs_server: bool,
    start: for<'a> fn(&'a Options) -> Running<'a>,
}

impl Case {
    /// What was found, in a few words. A case that finds no end has failed.
    pub async fn run(&self, options: &Options) -> Trial<String> {
        let wanted = options.cycles * 3 + options.rounds * options.seconds * 5 + options.messages / 300;
        let patience = Duration::from_secs(wanted + if options.long { 3600 } else { 120 });
        match tokio::time::timeout(patience, (self.start)(options)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(format!("no end after {} s", patience.as_secs())),
        }
    }
}

macro_rules! cases {
    ($( $name:literal, $title:literal, $needs_server:literal, $start:path; )*) => {
        pub const CASES: &[Case] = &[ $( Case {
            name: $name, title: $title, needs_server: $needs_server, start: |options| Box::pin($start(options)),
        }, )* ];
    };
}

cases! {
    "checker", "the judge of histories rejects bad ones and accepts good ones", false, history::judge_the_judge;
    "kill", "kill -9 under load: every acknowledged write is there", true, kill::run;
    "history", "32 clients, a few blobs, restarts: every answer has its place in one order", true, history::run::<history::blob::Blobs>;
    "table-history", "32 clients, small partitions, groups and queries, restarts: one order explains all", true, history::run::<history::table::Partitions>;
    "transfer", "32 writers move amounts by groups, restarts: one sum for every reader, no merge lost", true, transfer::run;
    "delivery", "64 consumers, messages abandoned, restarts: each delivered, none twice at once, none again", true, delivery::run;
    "events", "kill -9 while blobs are made and deleted: every acknowledged change is told, and told once", true, events::run;
    "several-history", "the same with three servers over one engine, another one for each request", true, several::run::<history::blob::Blobs>;
    "several-table", "table-history with three servers", true, several::run::<history::table::Partitions>;
    "several-transfer", "transfer with three servers", true, several::transfer;
    "several-delivery", "delivery with three servers", true, several::delivery;
    "several-events", "events with three servers", true, events::several;
    "several-reads", "a slow download from one server while others overwrite and sweep", true, several::reads;
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
    CASES.iter().map(|case| format!("  {:<15} {}\n", case.name, case.title)).collect()
}
