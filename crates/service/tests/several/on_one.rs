//! Requests to one server of several.

use lazuli_engine::Engine;
use lazuli_service::download::Download;
use lazuli_service::{Answer, Context, Services};

use crate::support::Bench;
use crate::testing::Servers;

impl Bench {
    /// Over servers that the test keeps alive itself.
    pub fn of(engine: Engine, servers: Vec<Services>, context: Context) -> Self {
        Self { services: Servers::of(engine, servers), context }
    }

    /// The whole blob, from this server.
    pub async fn open_on(&self, server: &Services, name: &str) -> Answer<Download> {
        Self::of(self.services.engine().clone(), vec![server.clone()], self.context.clone())
            .open(name, None, None)
            .await
    }
}
