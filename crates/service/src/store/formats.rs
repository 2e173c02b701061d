//! Which formats of what is stored this program reads, and which one may be written (decision 0052).
//!
//! Servers of two versions work over one engine while one is replaced by the other. What only the newer can read is not
//! written before an operator says that the older will not come back: then the format of the store is raised, in a commit that
//! no server can join beside which cannot read it.

use lazuli_engine::{Plan, Reader};
use lazuli_model::error::{ErrorCode, Failure};

use super::members::{self, Members};
use crate::Services;
use crate::fault::{Answer, Fault};
use crate::store::key;
use crate::store::record::Record;
use crate::store::record::settings::StoreFormat;

/// The formats that a program reads. It writes the one that the store is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formats {
    pub lowest: u32,
    pub highest: u32,
}

/// Of a store that was made before formats were noted.
const FIRST: u32 = 1;

impl Default for Formats {
    /// Those of this program.
    fn default() -> Self {
        Self { lowest: FIRST, highest: 1 }
    }
}

impl Formats {
    fn read(self, format: u32) -> Answer<()> {
        if (self.lowest..=self.highest).contains(&format) {
            return Ok(());
        }
        Err(refused(format!(
            "the store is of format {format}, and this program reads {} to {}",
            self.lowest, self.highest
        )))
    }
}

fn refused(why: String) -> Fault {
    Failure::new(ErrorCode::InternalError).cause(why).into()
}

/// What the store is of. A check of the commit.
async fn found(reader: &Reader) -> Answer<u32> {
    Ok(match reader.get(key::store_format()).await? {
        Some(entry) => StoreFormat::decode(&entry.value)?.0,
        None => FIRST,
    })
}

/// Whether this server can read the store, checked by the commit that writes its row.
pub(super) async fn check(services: &Services, reader: &Reader) -> Answer<()> {
    services.options().formats.read(found(reader).await?)
}

impl Services {
    /// The format that may be written.
    pub async fn store_format(&self) -> Answer<u32> {
        found(&self.engine().reader().await?).await
    }

    /// Refuses a store that this program cannot read. Where no other server can be there, the store becomes of the newest
    /// format that it can write.
    pub async fn open_format(&self) -> Answer<()> {
        match self.members() {
            Members::Alone => self.raise_format().await.map(drop),
            Members::Several => self.options().formats.read(self.store_format().await?),
        }
    }

    /// The store becomes of the newest format that this program and every server that is alive can read. An error says
    /// which cannot. Tells the format before and after.
    pub async fn raise_format(&self) -> Answer<(u32, u32)> {
        let (engine, mine) = (self.engine(), self.options().formats);
        engine
            .run(self.deadline(), |reader| async move {
                let before = found(&reader).await?;
                mine.read(before)?;
                if before == mine.highest {
                    return Ok(Plan::new((before, before)));
                }
                // Each server has the format among the checks of the commit that writes its row.
                reader.check_range(key::servers(), key::store_format()).await?;
                let servers = members::list(&reader).await?;
                let alive = servers.iter().filter(|(_, row)| !members::is_expired(engine, row));
                let older: Vec<String> = alive
                    .filter(|(_, row)| row.formats.highest < mine.highest)
                    .map(|(server, row)| format!("{:032x} reads up to {}", server.0, row.formats.highest))
                    .collect();
                if !older.is_empty() {
                    return Err(refused(format!(
                        "servers of an older version are alive: {}",
                        older.join(", ")
                    )));
                }
                let mut plan = Plan::new((before, mine.highest));
                plan.put(key::store_format(), StoreFormat(mine.highest).encode());
                Ok::<_, Fault>(plan)
            })
            .await
    }
}
