//! The limits: the same client against a server that does nothing, and against one that does nothing but log.

mod http;
mod log;

use std::io::Write;
use std::net::Ipv4Addr;
use std::path::Path;

use clap::ValueEnum;
use tokio::net::TcpListener;

use crate::Outcome;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Bare {
    /// hyper, answering at once.
    Hyper,
    /// hyper, answering a write when it lies, synced with its whole group, at the end of one file.
    Log,
}

/// Serves until the process is ended, on a free port that is announced in one line.
pub fn serve(kind: Bare, directory: &Path) -> Outcome {
    let log = match kind {
        Bare::Hyper => None,
        Bare::Log => Some(log::Log::create(&directory.join("log"))?),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("bare: listening on http://{}", listener.local_addr()?);
        std::io::stdout().flush()?;
        loop {
            let (socket, _) = listener.accept().await?;
            socket.set_nodelay(true)?;
            tokio::spawn(http::connection(socket, log.clone()));
        }
    })
}
