//! One writer of a directory of a share: directories and files are made, replaced, written to, copied, renamed with all that
//! is below them, and deleted. After every restart the whole tree is the one that was acknowledged last, or the one that was being made.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use lazuli_testing::xml::element;

use super::Step;
use crate::Trial;
use crate::random::Random;
use crate::sas::{self, signed};
use crate::wire::{Answer, Client, Lost, Request};

const SHARE: &str = "chaos";
/// Directories and files of one writer.
const MOST: usize = 30;

pub fn create_share() -> Request {
    signed("PUT", SHARE, "restype=share")
}

/// By their paths below the writer's own directory, which is the empty one: what a file is, none of a directory.
type Nodes = BTreeMap<String, Option<File>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct File {
    mark: u64,
    /// Of what was written last, all over the file; 0 before.
    written: u64,
}

/// So long is each file.
const LENGTH: usize = 40_000;

/// What a file holds.
fn bytes(written: u64) -> Vec<u8> {
    match written {
        0 => vec![0; LENGTH],
        written => format!("{written:020} ").into_bytes().into_iter().cycle().take(LENGTH).collect(),
    }
}

pub struct Tree {
    number: u64,
    random: Random,
    known: Nodes,
    /// What was being made of it when the server died.
    changing: Option<Nodes>,
    pub acknowledged: u64,
    pub open: u64,
}

impl Tree {
    pub fn new(number: u64, random: Random) -> Self {
        Self { number, random, known: Nodes::new(), changing: None, acknowledged: 0, open: 0 }
    }

    fn path(&self, below: &str) -> String {
        format!("{SHARE}/w{}/{below}", self.number).trim_end_matches('/').to_owned()
    }

    /// Writes until the server is gone.
    pub async fn write(&mut self, address: SocketAddr) -> Trial {
        let mut client = Client::new(address);
        loop {
            let Some((request, next, status)) = self.choose(address) else { continue };
            let outcome = client.send(&request).await;
            match self.learn(next, status, outcome).map_err(|reason| format!("{request:?}: {reason}"))? {
                Step::Done => {}
                Step::Gone => return Ok(()),
            }
        }
    }

    /// A change that nothing stands against. None when the dice ask for what cannot be done.
    fn choose(&mut self, address: SocketAddr) -> Option<(Request, Nodes, u16)> {
        let mut next = self.known.clone();
        if next.is_empty() {
            next.insert(String::new(), None);
            return Some((signed("PUT", &self.path(""), "restype=directory"), next, 201));
        }
        let mark = self.random.next();
        match self.random.below(14) {
            10..=11 => {
                let at = self.pick(|node| node.is_some())?;
                let request = signed("PUT", &self.path(&at), "comp=range")
                    .header("x-ms-write", "update")
                    .header("x-ms-range", format!("bytes=0-{}", LENGTH - 1))
                    .body(bytes(mark));
                next.get_mut(&at)?.as_mut()?.written = mark;
                Some((request, next, 201))
            }
            12..=13 if next.len() < MOST => {
                let from = self.pick(|node| node.is_some())?;
                let to =
                    if self.random.one_in(3) { self.pick(|node| node.is_some())? } else { self.fresh()? };
                let request = signed("PUT", &self.path(&to), "")
                    .header("x-ms-copy-source", sas::address(address, &self.path(&from)));
                let copied = *next.get(&from)?;
                next.insert(to, copied);
                Some((request, next, 202))
            }
            0..=1 if next.len() < MOST => {
                let at = self.fresh()?;
                let request = signed("PUT", &self.path(&at), "restype=directory");
                next.insert(at, None);
                Some((request, next, 201))
            }
            2..=4 if next.len() < MOST => {
                let at =
                    if self.random.one_in(3) { self.pick(|node| node.is_some())? } else { self.fresh()? };
                let request = signed("PUT", &self.path(&at), "")
                    .header("x-ms-type", "file")
                    .header("x-ms-content-length", LENGTH)
                    .header("x-ms-meta-mark", mark);
                next.insert(at, Some(File { mark, written: 0 }));
                Some((request, next, 201))
            }
            0..=5 => {
                let at = self.pick(|_| true)?;
                let (node, below) = (next.remove(&at)?, format!("{at}/"));
                let query = if node.is_none() { "restype=directory" } else { "" };
                let has_entries = next.keys().any(|other| other.starts_with(&below));
                (!has_entries && !at.is_empty())
                    .then(|| (signed("DELETE", &self.path(&at), query), next, 202))
            }
            _ => {
                let from = self.pick(|_| true).filter(|from| !from.is_empty())?;
                // A file may take the place of another one.
                let over = next[&from].is_some() && self.random.one_in(3);
                let to = if over { self.pick(|node| node.is_some())? } else { self.fresh()? };
                let below = format!("{from}/");
                if to == from || to.starts_with(&below) {
                    return None;
                }
                let query =
                    if next[&from].is_none() { "restype=directory&comp=rename" } else { "comp=rename" };
                let request = signed("PUT", &self.path(&to), query)
                    .header("x-ms-file-rename-source", sas::address(address, &self.path(&from)))
                    .header("x-ms-file-rename-replace-if-exists", over);
                Some((request, renamed(&next, &from, &to), 200))
            }
        }
    }

    fn pick(&mut self, wanted: impl Fn(&Option<File>) -> bool) -> Option<String> {
        let all: Vec<&String> =
            self.known.iter().filter(|(_, node)| wanted(node)).map(|(path, _)| path).collect();
        let which = self.random.index(all.len().max(1));
        all.get(which).map(|path| (*path).clone())
    }

    /// A name that is not in use, in one of the directories.
    fn fresh(&mut self) -> Option<String> {
        let directory = self.pick(Option::is_none)?;
        let name = format!("n{}", self.random.below(1000));
        let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
        let is_deep = path.matches('/').count() > 6;
        (!is_deep && !self.known.contains_key(&path)).then_some(path)
    }

    fn learn(&mut self, next: Nodes, status: u16, outcome: Result<Answer, Lost>) -> Trial<Step> {
        match outcome {
            Ok(answer) if answer.status < 500 => {
                answer.expect(status, "a change that nothing stands against")?;
                self.known = next;
                self.acknowledged += 1;
                Ok(Step::Done)
            }
            Ok(_) | Err(Lost::Open) => {
                self.changing = Some(next);
                self.open += 1;
                Ok(Step::Gone)
            }
            Err(Lost::Unsent) => Ok(Step::Gone),
        }
    }

    /// Compares the whole tree with what must be there.
    pub async fn check(&mut self, address: SocketAddr) -> Trial {
        let mut client = Client::new(address);
        let found = self.walk(&mut client).await?;
        settle(&found, &self.known, self.changing.take().as_ref())
            .map_err(|reason| format!("the tree of w{}: {reason}", self.number))?;
        self.known = found;
        Ok(())
    }

    async fn walk(&self, client: &mut Client) -> Trial<Nodes> {
        let mut found = Nodes::new();
        let own = client.must(&signed("GET", &self.path(""), "restype=directory")).await?;
        if own.status == 404 {
            return Ok(found);
        }
        own.expect(200, "the writer's directory")?;
        let mut left = vec![String::new()];
        while let Some(directory) = left.pop() {
            let request = signed("GET", &self.path(&directory), "restype=directory&comp=list");
            let answer = client.must(&request).await?.expect(200, "List Directories and Files")?;
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            let names = |kind: &str| -> Vec<String> {
                let path = |name: &str| match directory.as_str() {
                    "" => name.to_owned(),
                    parent => format!("{parent}/{name}"),
                };
                text.split(kind).skip(1).map(|entry| path(element(entry, "Name"))).collect()
            };
            for file in names("<File>") {
                let read = client.must(&signed("GET", &self.path(&file), "")).await?;
                let read = read.expect(200, "a file that is listed")?;
                let mark = read.header("x-ms-meta-mark").and_then(|mark| mark.parse().ok());
                let mark = mark.ok_or("a file without its mark")?;
                let begins = read.body.get(..20).and_then(|first| std::str::from_utf8(first).ok());
                let written = begins.and_then(|first| first.parse().ok()).unwrap_or(0);
                if read.body != bytes(written) {
                    return Err(format!("{file} is TORN: it begins with the bytes of {written}"));
                }
                found.insert(file, Some(File { mark, written }));
            }
            left.extend(names("<Directory>"));
            found.insert(directory, None);
        }
        Ok(found)
    }
}

/// What a rename makes of a tree: everything below moves along.
fn renamed(nodes: &Nodes, from: &str, to: &str) -> Nodes {
    let below = format!("{from}/");
    let mut next = nodes.clone();
    for (path, node) in nodes {
        if path == from || path.starts_with(&below) {
            next.remove(path);
        }
        if let Some(rest) = path.strip_prefix(from).filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            next.insert(format!("{to}{rest}"), *node);
        }
    }
    next
}

/// What was acknowledged, or the whole of what was under way; nothing else.
fn settle(found: &Nodes, known: &Nodes, changing: Option<&Nodes>) -> Trial {
    if found == known || Some(found) == changing {
        return Ok(());
    }
    let lacks: Vec<_> = known.iter().filter(|(path, node)| found.get(*path) != Some(node)).collect();
    let more: Vec<_> = found.iter().filter(|(path, node)| known.get(*path) != Some(node)).collect();
    Err(format!("LOST or torn: without {lacks:?}, with {more:?}; under way: {changing:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(paths: &[&str]) -> Nodes {
        let file = File { mark: 1, written: 0 };
        paths.iter().map(|path| ((*path).to_owned(), path.ends_with('f').then_some(file))).collect()
    }

    #[test]
    fn a_rename_takes_along_what_is_below_and_nothing_else() {
        let before = nodes(&["", "a", "a/f", "a/b", "a/b/f", "ab", "abf"]);
        assert_eq!(
            renamed(&before, "a", "ab/c"),
            nodes(&["", "ab", "ab/c", "ab/c/f", "ab/c/b", "ab/c/b/f", "abf"])
        );
        assert_eq!(renamed(&nodes(&["", "af", "bf"]), "af", "bf"), nodes(&["", "bf"]));
    }

    #[test]
    fn only_what_was_acknowledged_or_the_whole_of_what_was_under_way() {
        let (old, new, torn) = (nodes(&["a", "a/f"]), nodes(&["b", "b/f"]), nodes(&["a", "b/f"]));
        assert!(settle(&old, &old, Some(&new)).is_ok());
        assert!(settle(&new, &old, Some(&new)).is_ok());
        assert!(settle(&new, &old, None).is_err());
        assert!(settle(&torn, &old, Some(&new)).is_err());
        assert!(settle(&Nodes::new(), &old, Some(&new)).is_err());
    }
}
