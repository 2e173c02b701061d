//! Those who put messages, and those who get them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::QUEUE;
use super::ledger::{Got, Ledger, Number};
use crate::Trial;
use crate::arena::{Guest, Moment, Sent};
use crate::queue::{self, Message};
use crate::random::Random;

const SECOND: Moment = 1_000_000_000;
/// Receipts that a consumer keeps until somebody else got the message.
const KEPT: usize = 50;

pub struct Shared {
    pub ledger: Mutex<Ledger>,
    pub next: AtomicU64,
    pub messages: u64,
    /// Everything was put and is gone.
    pub over: AtomicBool,
}

impl Shared {
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub async fn produce(shared: Arc<Shared>, mut guest: Guest, mut random: Random) -> Trial {
    loop {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        if number >= shared.messages {
            return Ok(());
        }
        let text = format!("{number} {}", "x".repeat((number % 97) as usize));
        let hidden = u64::from(random.one_in(50));
        let request = queue::put(QUEUE, &text, hidden, -1);
        loop {
            let id = match guest.send(&request).await {
                Sent::Told(answer) => {
                    let answer = answer.expect(201, "Put Message")?;
                    queue::messages(&answer)?.pop().map(|message| message.id)
                }
                Sent::Open => None,
                Sent::Unsent => continue,
            };
            shared.ledger().put(number, id)?;
            break;
        }
    }
}

pub struct Consumer {
    shared: Arc<Shared>,
    guest: Guest,
    random: Random,
    /// Abandoned; of use until somebody else got them.
    kept: VecDeque<Held>,
}

#[derive(Clone, Debug)]
struct Held {
    number: Number,
    id: String,
    receipt: String,
    count: u32,
}

impl Consumer {
    pub fn new(shared: Arc<Shared>, guest: Guest, random: Random) -> Self {
        Self { shared, guest, random, kept: VecDeque::new() }
    }

    pub async fn run(mut self) -> Trial {
        while !self.shared.over.load(Ordering::Relaxed) {
            let got = self.get().await?;
            if got.is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            for held in got {
                self.use_one(held).await?;
            }
            self.try_old().await?;
        }
        Ok(())
    }

    async fn get(&mut self) -> Trial<Vec<Held>> {
        let most = if self.random.one_in(10) { 32 } else { self.random.between(1, 8) as usize };
        let hidden = self.random.between(1, 3);
        let called = self.guest.now();
        let outcome = self.guest.send(&queue::get(QUEUE, most, hidden)).await;
        let answered = self.guest.now();
        let answer = match outcome {
            Sent::Told(answer) => answer.expect(200, "Get Messages")?,
            Sent::Open => {
                self.shared.ledger().open_get(called, most);
                return Ok(Vec::new());
            }
            Sent::Unsent => return Ok(Vec::new()),
        };
        let messages = queue::messages(&answer)?;
        if messages.len() > most {
            return Err(format!("{} messages where {most} were asked for", messages.len()));
        }
        let mut ledger = self.shared.ledger();
        let mut got = Vec::new();
        for Message { id, receipt, count, text } in messages {
            let number = text.split(' ').next().and_then(|number| number.parse().ok());
            let number: Number = number.ok_or_else(|| format!("a message that nobody put: {text}"))?;
            let hidden_until = called + hidden * SECOND;
            ledger.got(number, &id, Got { count, called, answered, hidden_until })?;
            got.push(Held { number, id, receipt, count });
        }
        Ok(got)
    }

    async fn use_one(&mut self, held: Held) -> Trial {
        match self.random.below(400) {
            // Until its time is over.
            0..20 => self.abandon(held),
            20..25 => {
                self.update(held, 0).await?;
            }
            25..35 => {
                let old = held.clone();
                if let Some(newer) = self.update(held, 3).await? {
                    self.must_be_refused(&old).await?;
                    self.delete(newer).await?;
                }
            }
            35 => {
                tokio::time::sleep(Duration::from_millis(self.random.between(500, 3500))).await;
                self.delete(held).await?;
            }
            _ => self.delete(held).await?,
        }
        Ok(())
    }

    fn abandon(&mut self, held: Held) {
        self.shared.ledger().abandoned += 1;
        self.kept.push_back(held);
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }

    /// The message with its new receipt; None when it was lost, or nobody knows.
    async fn update(&mut self, held: Held, hidden: u64) -> Trial<Option<Held>> {
        let newest = self.shared.ledger().newest(held.number);
        let text = self.random.one_in(2).then(|| format!("{} updated", held.number));
        let request = queue::update(QUEUE, &held.id, &held.receipt, hidden, text.as_deref());
        let called = self.guest.now();
        let outcome = self.guest.send(&request).await;
        let answered = self.guest.now();
        let mut ledger = self.shared.ledger();
        let visible = called + hidden * SECOND;
        match outcome {
            Sent::Told(answer) if queue::is_lost(&answer) => {
                ledger.refused(held.number, held.count, answered)?;
                Ok(None)
            }
            Sent::Told(answer) => {
                let receipt = answer.expect(204, "Update Message")?;
                let receipt = receipt.header("x-ms-popreceipt").unwrap_or_default().to_owned();
                ledger.accepted(held.number, held.count, newest)?;
                ledger.visible_from(held.number, held.count, visible, true);
                ledger.updates += 1;
                Ok(Some(Held { receipt, ..held }))
            }
            Sent::Open => {
                ledger.visible_from(held.number, held.count, visible, false);
                Ok(None)
            }
            Sent::Unsent => Ok(None),
        }
    }

    async fn delete(&mut self, held: Held) -> Trial {
        let newest = self.shared.ledger().newest(held.number);
        let outcome = self.guest.send(&queue::delete(QUEUE, &held.id, &held.receipt)).await;
        let answered = self.guest.now();
        let mut ledger = self.shared.ledger();
        match outcome {
            Sent::Told(answer) if queue::is_lost(&answer) => {
                ledger.refused(held.number, held.count, answered)
            }
            Sent::Told(answer) => {
                answer.expect(204, "Delete Message")?;
                ledger.deleted(held.number, held.count, newest, answered)
            }
            Sent::Open => {
                ledger.open_delete(held.number);
                Ok(())
            }
            Sent::Unsent => Ok(()),
        }
    }

    /// A receipt of one that somebody else got since.
    async fn try_old(&mut self) -> Trial {
        for _ in 0..2 {
            let Some(held) = self.kept.pop_front() else { return Ok(()) };
            if self.shared.ledger().newest(held.number) > held.count {
                self.must_be_refused(&held).await?;
            } else {
                self.kept.push_back(held);
            }
        }
        Ok(())
    }

    async fn must_be_refused(&mut self, old: &Held) -> Trial {
        let request = queue::delete(QUEUE, &old.id, &old.receipt);
        match self.guest.send(&request).await {
            Sent::Told(answer) if queue::is_lost(&answer) => {
                self.shared.ledger().stale_refused += 1;
                Ok(())
            }
            Sent::Told(answer) => Err(format!("an OLD RECEIPT was answered {}: {old:?}", answer.shown())),
            Sent::Open | Sent::Unsent => Ok(()),
        }
    }
}
