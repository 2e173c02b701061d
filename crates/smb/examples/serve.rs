//! An SMB server in memory, for smbtorture and other clients that drive it from outside: `serve PORT SHARE..`. The user is the
//! development account. `serve --encrypted PORT SHARE..` refuses what is not encrypted.

use std::sync::Arc;
use std::time::Duration;

use lazuli_engine::{Engine, Host};
use lazuli_model::version::ApiVersion;
use lazuli_service::file::{CreateShare, NewShare};
use lazuli_service::{Context, ServiceOptions, Services, upkeep};
use lazuli_smb::{Options, Server, Users};
use lazuli_testing::{ACCOUNT, KEY};
use tokio::net::TcpListener;

// One thread, as the lane of a connection has it: requests begin in the order in which they came.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let require_encryption = arguments.next_if_eq("--encrypted").is_some();
    let port: u16 = arguments.next().ok_or("no port")?.parse()?;
    let services = Services::new(Engine::memory(Host::real()), ServiceOptions::default());
    services.resume_clock().await.map_err(|fault| format!("{:?}", fault.0))?;
    services.join().await.map_err(|fault| format!("{:?}", fault.0))?;
    let context = Context::of_owner(ACCOUNT, ApiVersion::NEWEST);
    for share in arguments {
        let create = CreateShare { share, new: NewShare::default() };
        create.execute(&services, &context).await.map_err(|fault| format!("{:?}", fault.0))?;
    }
    tokio::spawn(upkeep::sweep_forever(services.clone()));
    tokio::spawn(services.clone().keep_beating());
    let users = Users::new([(ACCOUNT, vec![KEY])]);
    let options = Options { require_encryption, name: "LAZULI".to_owned() };
    let server = Arc::new(Server::new(services, users, options).map_err(|_| "no random numbers")?);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on {}", listener.local_addr()?);
    loop {
        let (socket, peer) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            // Torture tests are long, but none takes a day.
            server.serve(socket, peer, tokio::time::sleep(Duration::from_secs(86_400))).await;
        });
    }
}
