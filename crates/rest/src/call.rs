//! A request that found its row and may act: what an operation is called with.

use std::pin::Pin;
use std::sync::Arc;

use lazuli_model::account::Features;
use lazuli_model::admission::Preconditions;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::operation::{ReadingOp, Resource, Row, WritingOp};
use lazuli_model::time::Timestamp;
use lazuli_service::blob::{BlobAddress, BlobState};
use lazuli_service::file::{FileAddress, ShareAddress};
use lazuli_service::{Body, Context, Services};

use crate::address;
use crate::auth::Auth;
use crate::authorize::Grant;
use crate::copy::Sources;
use crate::file;
use crate::head::Head;
use crate::preconditions;
use crate::reply::Reply;

/// An operation under way, on the heap: otherwise every request would carry, and every move of it would copy, room
/// for the largest operation of all.
pub(crate) type Operation = Pin<Box<dyn Future<Output = Result<Reply, Failure>> + Send>>;

pub struct Call {
    pub services: Services,
    pub auth: Arc<Auth>,
    /// Where copies may come from.
    pub sources: Arc<Sources>,
    pub head: Box<Head>,
    pub row: &'static Row,
    pub context: Context,
    pub grant: Box<Grant>,
    pub body: Body,
}

impl Call {
    /// The operation, for one that is carried out by code that others share, and only reads.
    pub fn reading(&self) -> ReadingOp {
        ReadingOp(self.row.op)
    }

    /// The same for one that writes.
    pub fn writing(&self) -> Result<WritingOp, Failure> {
        Ok(WritingOp::of(self.row.op).ok_or(ErrorCode::InternalError)?)
    }

    /// What the account can do beyond a plain one.
    pub fn features(&self) -> &Features {
        self.services.options().features.of(&self.context.account)
    }

    /// The container of the address.
    pub fn container(&self) -> String {
        self.head.target.container.clone()
    }

    pub fn blob(&self) -> BlobAddress {
        debug_assert_eq!(self.head.target.resource, Resource::Blob);
        BlobAddress { container: self.head.target.container.clone(), blob: self.head.target.object.clone() }
    }

    /// The directory or file of the address, in the share or in its snapshot.
    pub fn path(&self) -> Result<FileAddress, Failure> {
        let (share, snapshot) = (self.container(), file::address::share_snapshot(&self.head));
        Ok(FileAddress { share, snapshot, path: file::address::path(&self.head)?.names().to_vec() })
    }

    /// The share of the address, or its snapshot.
    pub fn share(&self) -> ShareAddress {
        let (share, snapshot) = (self.container(), file::address::share_snapshot(&self.head));
        ShareAddress { share, snapshot }
    }

    /// The snapshot that the address names, of an operation that can be asked of one and of no version.
    pub fn snapshot(&self) -> Option<Timestamp> {
        self.state().snapshot()
    }

    /// What of the blob the address names.
    pub fn state(&self) -> BlobState {
        address::state(&self.head)
    }

    /// What the request asserts about its target, checked for sense before anything is looked up.
    pub fn preconditions(&self) -> Result<Preconditions, Failure> {
        let given = preconditions::target(&self.head, self.row)?;
        let given = Preconditions { create_only: self.grant.create_only, ..given };
        lazuli_model::admission::check_syntax(&self.row.policy, &given, self.head.version)?;
        Ok(given)
    }

    /// The root of the service as this client addresses it, for the `ServiceEndpoint` of lists.
    pub fn service_endpoint(&self) -> String {
        let scheme = if self.head.secure { "https" } else { "http" };
        let host = self.head.header(crate::headers::HOST).unwrap_or("localhost");
        let target = &self.head.target;
        if target.path_style {
            let secondary = if target.secondary { "-secondary" } else { "" };
            format!("{scheme}://{host}/{}{secondary}/", target.account)
        } else {
            format!("{scheme}://{host}/")
        }
    }
}
