//! Letters between servers: each reads its own now and then, as long as something is open or watched through it, and takes them away.

use std::time::Duration;

use lazuli_engine::{Key, Plan, Scan};

use super::{Desk, Node};
use crate::fault::{Answer, Fault};
use crate::store::record::Record as _;
use crate::store::record::watch::Changed;
use crate::store::share::key;
use crate::{Members, Services};

/// How often a server looks for letters.
const LOOK: Duration = Duration::from_millis(100);
/// Letters that are read at a time.
const AT_ONCE: usize = 200;
/// After so many looks with nothing open, the server looks no more.
const IDLE_LOOKS: u32 = 50;

impl Desk {
    /// True for the one who is to read the letters from now on.
    fn begin_mail(&self) -> bool {
        !std::mem::replace(&mut self.0.lock().reads_mail, true)
    }

    fn end_mail(&self) {
        self.0.lock().reads_mail = false;
    }
}

impl Services {
    /// Letters of other servers are read from now on.
    pub(crate) fn read_mail(&self) {
        if self.members() == Members::Several && self.opens().begin_mail() {
            let services = self.clone();
            tokio::spawn(async move { services.read_letters_while_open().await });
        }
    }

    async fn read_letters_while_open(self) {
        let (mut idle, mut server) = (0, self.incarnation());
        while self.engine().is_stopped().is_none() {
            tokio::time::sleep(LOOK).await;
            match self.read_letters().await {
                Ok(()) => {}
                Err(fault) => {
                    tracing::warn!(cause = ?fault.0.cause, "letters of other servers were not read")
                }
            }
            // A server that was taken for dead has lost its opens.
            let present = self.incarnation();
            if present != server {
                let nodes = self.opens().all_nodes();
                for node in &nodes {
                    self.look_at_opens(*node).await;
                }
                if nodes.is_empty() {
                    server = present;
                }
            }
            idle = if self.opens().is_idle() { idle + 1 } else { 0 };
            if idle >= IDLE_LOOKS {
                break;
            }
        }
        self.opens().end_mail();
        if !self.opens().is_idle() {
            self.read_mail();
        }
    }

    /// Takes the letters away first: one that is written again meanwhile is read by the next look.
    async fn read_letters(&self) -> Answer<()> {
        let server = self.incarnation();
        loop {
            let page = {
                let reader = self.engine().reader().await?;
                reader.scan(Scan { limit: AT_ONCE, ..Scan::of(key::letters(server)) }).await?
            };
            if page.items.is_empty() {
                return Ok(());
            }
            let keys: Vec<Key> = page.items.iter().map(|(key, _)| key.clone()).collect();
            let keys = &keys;
            self.engine()
                .run(self.deadline(), |reader| async move {
                    let mut plan = Plan::new(());
                    for (key, entry) in keys.iter().zip(reader.get_many(keys.clone()).await?) {
                        if entry.is_some() {
                            plan.delete(key.clone());
                        }
                    }
                    Ok::<_, Fault>(plan)
                })
                .await?;
            for (at, entry) in &page.items {
                match key::letter_node(at) {
                    Some(node) => self.look_and_wake(node).await,
                    None => self.opens().deliver(&Changed::decode(&entry.value)?),
                }
            }
            if !page.more {
                return Ok(());
            }
        }
    }

    async fn look_and_wake(&self, node: Node) {
        self.opens().wake(node);
        self.look_at_opens(node).await;
    }
}
