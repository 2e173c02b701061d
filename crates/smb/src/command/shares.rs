//! What the pipe `srvsvc` tells of the account's shares.

use lazuli_model::version::ApiVersion;
use lazuli_service::Context;
use lazuli_service::file::ListShares;

use crate::rpc::srvsvc::Directory;
use crate::server::Server;
use crate::server::session::Session;

/// Shares of an account that are listed.
const SHARES_MAX: usize = 5000;
const PAGE: usize = 1000;
const PAGE_BYTES: usize = 1 << 20;

pub struct Shares<'a> {
    pub server: &'a Server,
    pub session: &'a Session,
}

impl Directory for Shares<'_> {
    async fn shares(&self) -> Vec<String> {
        let context = Context::of_owner(&self.session.account, ApiVersion::NEWEST);
        let mut names = Vec::new();
        let mut marker = None;
        while names.len() < SHARES_MAX {
            let list = ListShares {
                prefix: String::new(),
                snapshots: false,
                deleted: false,
                marker,
                max_results: PAGE,
                max_bytes: PAGE_BYTES,
            };
            match list.execute(&self.server.services, &context).await {
                Ok(page) => {
                    names.extend(page.items.into_iter().map(|share| share.name));
                    match page.next {
                        Some(next) => marker = Some(next),
                        None => break,
                    }
                }
                Err(fault) => {
                    tracing::warn!(cause = ?fault.0.cause, "cannot list the shares of an account");
                    break;
                }
            }
        }
        names
    }

    fn server_name(&self) -> &str {
        &self.server.options.name
    }
}
