//! One writer of blobs that keep their versions and have tags: every version that was acknowledged can be read by its id with the
//! bytes it was written with, the current one is the last, and the search by tags finds what the tags say and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use bytes::Bytes;
use lazuli_testing::xml::element;

use super::Step;
use crate::Trial;
use crate::blob;
use crate::random::Random;
use crate::wire::{Answer, Client, Lost, Request};

const BLOBS: usize = 4;
/// Of one blob; then the oldest one is deleted.
const MOST_VERSIONS: usize = 10;

#[derive(Clone, Debug, Default)]
struct Known {
    /// Every version that is there, by its id, and the seed of its bytes.
    versions: BTreeMap<String, u64>,
    current: Option<String>,
    /// In the tags of the current version.
    mark: u64,
}

/// What was under way when the server died.
#[derive(Clone, Debug)]
enum Change {
    Put { seed: u64, mark: u64 },
    Tags(u64),
    Delete,
    DeleteVersion(String),
}

pub struct Versions {
    number: u64,
    random: Random,
    blobs: Vec<Known>,
    changing: Option<(usize, Change)>,
    pub acknowledged: u64,
    pub open: u64,
}

impl Versions {
    pub fn new(number: u64, random: Random) -> Self {
        let blobs = vec![Known::default(); BLOBS];
        Self { number, random, blobs, changing: None, acknowledged: 0, open: 0 }
    }

    fn name(&self, index: usize) -> String {
        format!("versions/w{}/{index}", self.number)
    }

    /// Writes until the server is gone.
    pub async fn write(&mut self, address: SocketAddr) -> Trial {
        let mut client = Client::new(address);
        while let Step::Done = self.change(&mut client).await? {}
        Ok(())
    }

    async fn change(&mut self, client: &mut Client) -> Trial<Step> {
        let index = self.random.index(BLOBS);
        let name = self.name(index);
        let Some(known) = self.blobs.get(index).cloned() else { return Ok(Step::Done) };
        let past = known.versions.keys().find(|id| Some(*id) != known.current.as_ref());
        let change = match (self.random.below(10), &known.current, past) {
            (_, _, Some(oldest)) if known.versions.len() > MOST_VERSIONS => {
                Change::DeleteVersion(oldest.clone())
            }
            (0..2, Some(_), _) => Change::Tags(self.random.next()),
            (2, Some(_), _) => Change::Delete,
            (3, _, Some(oldest)) => Change::DeleteVersion(oldest.clone()),
            _ => Change::Put { seed: self.random.next(), mark: self.random.next() },
        };
        let (request, status) = self.request(&name, &change);
        match client.send(&request).await {
            Ok(answer) if answer.status < 500 => {
                let answer = answer.expect(status, &format!("{name}: a write that nobody disputes"))?;
                self.acknowledged += 1;
                if let Some(known) = self.blobs.get_mut(index) {
                    known.take(&change, answer.header("x-ms-version-id"))?;
                }
                Ok(Step::Done)
            }
            Ok(_) | Err(Lost::Open) => {
                self.changing = Some((index, change));
                self.open += 1;
                Ok(Step::Gone)
            }
            Err(Lost::Unsent) => Ok(Step::Gone),
        }
    }

    fn request(&self, name: &str, change: &Change) -> (Request, u16) {
        match change {
            Change::Put { seed, mark } => {
                let tags = format!("w=w{}&mark={mark}", self.number);
                (blob::put(name, content(*seed)).header("x-ms-tags", tags), 201)
            }
            Change::Tags(mark) => {
                let tag = |key, value: String| format!("<Tag><Key>{key}</Key><Value>{value}</Value></Tag>");
                let tags = tag("w", format!("w{}", self.number)) + &tag("mark", mark.to_string());
                let body = format!("<Tags><TagSet>{tags}</TagSet></Tags>");
                (blob::of_blob("PUT", name, "comp=tags").body(body), 204)
            }
            Change::Delete => (blob::delete(name), 202),
            Change::DeleteVersion(id) => (blob::of_blob("DELETE", name, &by_id(id)), 202),
        }
    }

    /// Compares everything with what must be there.
    pub async fn check(&mut self, address: SocketAddr) -> Trial {
        let mut client = Client::new(address);
        let changing = self.changing.take();
        for index in 0..BLOBS {
            let name = self.name(index);
            let Some(known) = self.blobs.get_mut(index) else { continue };
            let changing = changing.as_ref().filter(|(at, _)| *at == index).map(|(_, change)| change);
            known
                .settle(&mut client, &name, changing)
                .await
                .map_err(|reason| format!("{name}: {reason}; known {known:?}, under way {changing:?}"))?;
        }
        self.check_search(&mut client).await
    }

    async fn check_search(&self, client: &mut Client) -> Trial {
        let alive = |known: &&Known| known.current.is_some();
        let wanted: BTreeSet<String> = (0..BLOBS)
            .filter(|at| self.blobs.get(*at).as_ref().is_some_and(alive))
            .map(|at| self.name(at))
            .collect();
        let found = find(client, &format!("w=%27w{}%27", self.number)).await?;
        if found != wanted {
            return Err(format!("w{}: found by tags {found:?}, there are {wanted:?}", self.number));
        }
        for (index, known) in self.blobs.iter().enumerate().filter(|(_, known)| known.current.is_some()) {
            let found = find(client, &format!("mark=%27{}%27", known.mark)).await?;
            if found != BTreeSet::from([self.name(index)]) {
                return Err(format!("{}: its mark finds {found:?}", self.name(index)));
            }
        }
        Ok(())
    }
}

impl Known {
    /// What an acknowledged change has made of it.
    fn take(&mut self, change: &Change, id: Option<&str>) -> Trial {
        match change {
            Change::Put { seed, mark } => {
                let id = id.ok_or("no version id")?.to_owned();
                if self.versions.insert(id.clone(), *seed).is_some() {
                    return Err(format!("the version id {id} was given twice"));
                }
                self.current = Some(id);
                self.mark = *mark;
            }
            Change::Tags(mark) => self.mark = *mark,
            Change::Delete => self.current = None,
            Change::DeleteVersion(id) => drop(self.versions.remove(id)),
        }
        Ok(())
    }

    /// Takes what is there for the truth, if it is what was acknowledged or what was under way.
    async fn settle(&mut self, client: &mut Client, name: &str, changing: Option<&Change>) -> Trial {
        let base = client.must(&blob::get(name)).await?;
        match changing {
            Some(change @ Change::Put { seed, .. }) if base.body == content(*seed) => {
                self.take(change, base.header("x-ms-version-id"))?;
            }
            Some(change @ Change::Delete) if base.status == 404 => self.take(change, None)?,
            _ => {}
        }
        self.check_base(&base)?;
        if self.current.is_some() {
            let tags =
                client.must(&blob::of_blob("GET", name, "comp=tags")).await?.expect(200, "its tags")?;
            let text = String::from_utf8_lossy(&tags.body).into_owned();
            match changing {
                Some(change @ Change::Tags(mark)) if text.contains(&mark.to_string()) => {
                    self.take(change, None)?
                }
                _ if text.contains(&self.mark.to_string()) => {}
                _ => return Err(format!("LOST: its tags are {text}")),
            }
        }
        let mut gone = None;
        for (id, seed) in &self.versions {
            let answer = client.must(&blob::of_blob("GET", name, &by_id(id))).await?;
            match changing {
                Some(Change::DeleteVersion(deleted)) if deleted == id && answer.status == 404 => {
                    gone = Some(id.clone());
                }
                _ if answer.status == 200 && answer.body == content(*seed) => {}
                _ => return Err(format!("LOST: version {id} is answered {}", answer.shown())),
            }
        }
        if let Some(id) = gone {
            self.versions.remove(&id);
        }
        Ok(())
    }

    fn check_base(&self, base: &Answer) -> Trial {
        let right = match &self.current {
            None => base.status == 404,
            Some(id) => {
                base.status == 200
                    && base.header("x-ms-version-id") == Some(id)
                    && self.versions.get(id).is_some_and(|seed| base.body == content(*seed))
            }
        };
        if right { Ok(()) } else { Err(format!("LOST: the blob is answered {}", base.shown())) }
    }
}

async fn find(client: &mut Client, expression: &str) -> Trial<BTreeSet<String>> {
    let query = format!("restype=container&comp=blobs&where={expression}");
    let answer = client.must(&blob::of_container("GET", &query)).await?.expect(200, "Find Blobs by Tags")?;
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    Ok(text.split("<Blob>").skip(1).map(|blob| element(blob, "Name").to_owned()).collect())
}

fn by_id(id: &str) -> String {
    format!("versionid={id}")
}

/// Never empty: two versions must differ.
fn content(seed: u64) -> Bytes {
    blob::content(seed, [20, 300, 30_000, 100_000][(seed % 4) as usize])
}
