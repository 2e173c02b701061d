//! One writer of a queue: few enough messages that one Peek shows them all once their time-outs have passed.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::{HIDDEN, Step};
use crate::Trial;
use crate::queue;
use crate::random::Random;
use crate::wire::{Answer, Client, Lost, Request};

/// One less than a Peek shows: a Put may be open.
const MOST: usize = 31;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Message {
    text: String,
    count: u32,
    /// The newest, when it is known.
    receipt: Option<String>,
    hidden: bool,
}

/// What was under way when the server died.
#[derive(Clone, Debug)]
enum Open {
    Put(String),
    Get(usize),
    Update { id: String, text: Option<String> },
    Delete(String),
    Clear,
}

pub struct Queue {
    name: String,
    random: Random,
    messages: BTreeMap<String, Message>,
    open: Option<Open>,
    /// Receipts that must not work any more.
    old: Vec<(String, String)>,
    pub acknowledged: u64,
    pub unanswered: u64,
}

impl Queue {
    pub fn new(number: u64, random: Random) -> Self {
        let (messages, old) = (BTreeMap::new(), Vec::new());
        Self {
            name: format!("kill-{number}"),
            random,
            messages,
            open: None,
            old,
            acknowledged: 0,
            unanswered: 0,
        }
    }

    pub async fn prepare(&self, address: SocketAddr) -> Trial {
        Client::new(address).must(&queue::create(&self.name)).await?.expect(201, &self.name).map(drop)
    }

    pub async fn write(&mut self, address: SocketAddr) -> Trial {
        let mut client = Client::new(address);
        loop {
            let (request, open) = self.choose();
            let step = match client.send(&request).await {
                Ok(answer) if answer.status < 500 => {
                    let learnt = self.learn(open.clone(), &answer);
                    learnt.map_err(|reason| format!("{}: {open:?}: {reason}", self.name))?;
                    self.acknowledged += 1;
                    Step::Done
                }
                Ok(_) | Err(Lost::Open) => {
                    self.unanswered += 1;
                    self.open = open;
                    Step::Gone
                }
                Err(Lost::Unsent) => Step::Gone,
            };
            if matches!(step, Step::Gone) {
                return Ok(());
            }
        }
    }

    /// None: a request that must be refused, so there is nothing to wait for.
    fn choose(&mut self) -> (Request, Option<Open>) {
        let name = self.name.clone();
        if self.random.one_in(12)
            && let Some((id, receipt)) = self.old.pop()
        {
            return (queue::delete(&name, &id, &receipt), None);
        }
        let held = self.random_held();
        match (self.random.below(100), held) {
            (0..35, _) if self.messages.len() < MOST => {
                let text = self.text();
                let hidden = if self.random.one_in(4) { HIDDEN.as_secs() } else { 0 };
                // How long it was hidden is known with its text.
                let text = format!("{text} {}", if hidden > 0 { "later" } else { "now" });
                (queue::put(&name, &text, hidden, -1), Some(Open::Put(text)))
            }
            (0..35, _) if self.random.one_in(4) => (queue::clear(&name), Some(Open::Clear)),
            (35..45, Some((id, receipt))) => {
                let text = self.random.one_in(2).then(|| self.text());
                let request = queue::update(&name, &id, &receipt, HIDDEN.as_secs(), text.as_deref());
                (request, Some(Open::Update { id, text }))
            }
            (45..75, Some((id, receipt))) => (queue::delete(&name, &id, &receipt), Some(Open::Delete(id))),
            _ => {
                let most = self.random.between(1, 5) as usize;
                (queue::get(&name, most, HIDDEN.as_secs()), Some(Open::Get(most)))
            }
        }
    }

    fn text(&mut self) -> String {
        // Some are large.
        let length = if self.random.one_in(10) { 20_000 } else { 20 };
        let word = format!("{:016x}", self.random.next());
        word.repeat(length / 16 + 1)
    }

    fn random_held(&mut self) -> Option<(String, String)> {
        let held: Vec<(&String, &String)> =
            self.messages.iter().filter_map(|(id, message)| Some((id, message.receipt.as_ref()?))).collect();
        let (id, receipt) = held.get(self.random.index(held.len()))?;
        Some(((*id).clone(), (*receipt).clone()))
    }

    /// Nobody else is at this queue, so every answer is known.
    fn learn(&mut self, asked: Option<Open>, answer: &Answer) -> Trial {
        let expect = |status| answer.clone().expect(status, "a change that nobody disputes").map(drop);
        match asked {
            None if queue::is_lost(answer) => Ok(()),
            None => Err(format!("an old receipt was answered {}", answer.shown())),
            Some(Open::Put(text)) => {
                expect(201)?;
                let [put] = queue::messages(answer)?.try_into().map_err(|_| "not one message was put")?;
                let hidden = text.ends_with("later");
                self.messages.insert(put.id, Message { text, count: 0, receipt: Some(put.receipt), hidden });
                Ok(())
            }
            Some(Open::Get(most)) => {
                expect(200)?;
                self.learn_got(most, queue::messages(answer)?)
            }
            Some(Open::Update { id, text }) => {
                expect(204)?;
                let receipt = answer.header("x-ms-popreceipt").ok_or("no x-ms-popreceipt")?.to_owned();
                let message = self.messages.get_mut(&id).ok_or("unknown")?;
                if let Some(old) = message.receipt.replace(receipt) {
                    self.old.push((id, old));
                }
                message.text = text.unwrap_or_else(|| message.text.clone());
                message.hidden = true;
                Ok(())
            }
            Some(Open::Delete(id)) => {
                expect(204)?;
                let gone = self.messages.remove(&id).and_then(|message| message.receipt);
                self.old.extend(gone.map(|receipt| (id, receipt)));
                Ok(())
            }
            Some(Open::Clear) => {
                expect(204)?;
                let gone = std::mem::take(&mut self.messages).into_iter();
                self.old.extend(gone.filter_map(|(id, message)| Some((id, message.receipt?))));
                Ok(())
            }
        }
    }

    fn learn_got(&mut self, most: usize, got: Vec<queue::Message>) -> Trial {
        let visible = self.messages.values().filter(|message| !message.hidden).count();
        if got.len() != visible.min(most) {
            return Err(format!("{} of {visible} visible messages were got", got.len()));
        }
        for found in got {
            let message =
                self.messages.get_mut(&found.id).ok_or_else(|| format!("{} COMES BACK", found.id))?;
            if message.hidden || found.text != message.text || found.count != message.count + 1 {
                return Err(format!("got {found:?}, and it was {message:?}"));
            }
            let old = message.receipt.replace(found.receipt);
            (message.count, message.hidden) = (found.count, true);
            self.old.extend(old.map(|old| (found.id, old)));
        }
        Ok(())
    }

    /// After a restart, and when all time-outs have passed.
    pub async fn check(&mut self, address: SocketAddr) -> Trial {
        let mut client = Client::new(address);
        let answer = client.must(&queue::peek(&self.name, 32)).await?.expect(200, &self.name)?;
        let found = queue::messages(&answer)?;
        let answer = client.must(&queue::metadata(&self.name)).await?.expect(200, &self.name)?;
        let count = queue::count(&answer)?;
        if count != found.len() as u64 {
            return Err(format!("{}: {} messages, counted as {count}", self.name, found.len()));
        }
        let open = self.open.take();
        let known = format!("{:?}", self.messages);
        self.settle(&open, found)
            .map_err(|reason| format!("{}: {reason}; acknowledged {known}, open {open:?}", self.name))
    }

    /// Takes what is there for the truth, if it may be there.
    fn settle(&mut self, open: &Option<Open>, found: Vec<queue::Message>) -> Trial {
        let mut before = std::mem::take(&mut self.messages);
        let cleared = matches!(open, Some(Open::Clear)) && found.is_empty();
        let mut taken = 0;
        for found in found {
            let was = before.remove(&found.id).or_else(|| match open {
                Some(Open::Put(text)) if *text == found.text => {
                    Some(Message { text: text.clone(), count: 0, receipt: None, hidden: false })
                }
                _ => None,
            });
            let mut message = was.ok_or_else(|| format!("{found:?} COMES BACK"))?;
            match open {
                Some(Open::Update { id, text }) if *id == found.id => {
                    // Done or not, the old receipt may be one that does not work.
                    message.receipt = None;
                    if text.as_ref() == Some(&found.text) {
                        message.text.clone_from(&found.text);
                    }
                }
                Some(Open::Get(_)) if !message.hidden && found.count == message.count + 1 => {
                    (message.count, message.receipt) = (found.count, None);
                    taken += 1;
                }
                // A delete that was not done.
                _ => {}
            }
            if (&found.text, found.count) != (&message.text, message.count) {
                return Err(format!("LOST: found {found:?} where {message:?} must be"));
            }
            message.hidden = false;
            self.messages.insert(found.id, message);
        }
        if let Some(Open::Get(most)) = open
            && taken > *most
        {
            return Err(format!("a Get of {most} took {taken}"));
        }
        match (before.keys().next(), open) {
            (None, _) => Ok(()),
            (Some(id), Some(Open::Delete(deleted))) if before.len() == 1 && id == deleted => Ok(()),
            (Some(_), Some(Open::Clear)) if cleared => Ok(()),
            (Some(id), _) => Err(format!("LOST: {id}")),
        }
    }
}

#[cfg(test)]
mod tests;
