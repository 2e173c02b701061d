//! A share that a session is connected to.

use lazuli_service::open_file::ShareClient;

pub struct Tree {
    pub id: u32,
    pub share: Share,
}

pub enum Share {
    Disk(ShareClient),
    /// `IPC$`: the pipes of this server.
    Pipes,
}
