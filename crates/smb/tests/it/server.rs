//! A server in memory, on a free port.

use std::net::SocketAddr;
use std::sync::Arc;

use lazuli_engine::{Engine, Host};
use lazuli_model::version::ApiVersion;
use lazuli_service::file::{CreateShare, NewShare};
use lazuli_service::{Context, ServiceOptions, Services};
use lazuli_smb::{Options, Server, Stats, Users};
use tokio::net::TcpListener;

pub const KEYS: [&str; 2] = ["a2V5IG9uZQ==", "a2V5IHR3bw=="];

pub struct Bench {
    pub address: SocketAddr,
    pub users: Users,
    pub stats: Arc<Stats>,
}

/// Accounts `alpha` and `beta` have a share `files` each.
pub async fn start() -> Bench {
    start_with(false).await
}

pub async fn start_with(require_encryption: bool) -> Bench {
    let services = Services::new(Engine::memory(Host::real()), ServiceOptions::default());
    services.join().await.expect("joins");
    for account in ["alpha", "beta"] {
        let context = Context::of_owner(account, ApiVersion::NEWEST);
        let share = CreateShare { share: "files".to_owned(), new: NewShare::default() };
        share.execute(&services, &context).await.expect("a share");
    }
    let users = Users::new([("alpha", KEYS.to_vec()), ("beta", vec!["YmV0YQ=="])]);
    let options = Options { require_encryption, name: "TESTS".to_owned() };
    let server = Arc::new(Server::new(services, users.clone(), options).expect("random numbers"));
    let stats = server.stats();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        while let Ok((socket, peer)) = listener.accept().await {
            let server = Arc::clone(&server);
            tokio::spawn(async move { server.serve(socket, peer, std::future::pending()).await });
        }
    });
    Bench { address, users, stats }
}
