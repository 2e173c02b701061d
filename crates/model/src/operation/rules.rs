//! The access rules that several rows share (auth.md sections 4 to 8).

use crate::access::{Access, AccountSas, Anonymous, Letters, Rbac, ServiceSas, Variant};
use crate::operation::Mark;
use crate::operation::row::query;
use crate::version::Feature;

/// An account SAS of the level with any of the letters; no service SAS, not anonymous.
const fn account(level: &'static str, any_of: Letters, rbac: Rbac) -> Access {
    Access {
        shared_key: true,
        account_sas: AccountSas::Needs { level, any_of },
        service_sas: ServiceSas::Never,
        rbac,
        anonymous: Anonymous::Never,
        create_only: false,
        variants: &[],
    }
}

/// As [`account`], and a service SAS with the same letters.
const fn both(level: &'static str, any_of: Letters, rbac: Rbac) -> Access {
    Access { service_sas: ServiceSas::AnyOf(any_of), ..account(level, any_of, rbac) }
}

const KEY_ONLY: Access = Access { account_sas: AccountSas::Never, ..account("", &[], Rbac::Never) };

const ANY_CREDENTIAL: Access = Access {
    shared_key: true,
    account_sas: AccountSas::Any,
    service_sas: ServiceSas::Any,
    rbac: Rbac::Any,
    anonymous: Anonymous::Never,
    create_only: false,
    variants: &[],
};

const fn bearer_only(actions: &'static [&'static str]) -> Access {
    Access { shared_key: false, rbac: Rbac::AnyOf(actions), ..KEY_ONLY }
}

const fn acl(actions: &'static [&'static str]) -> Access {
    Access { rbac: Rbac::Since(Feature::AclWithBearer, actions), ..KEY_ONLY }
}

// Every service.
pub(super) const PREFLIGHT: Access = Access { anonymous: Anonymous::Always, ..ANY_CREDENTIAL };
/// The stored access policies of a table are seen and set with the account key only.
pub(super) const TABLE_ACL: Access = KEY_ONLY;
/// Those of containers and queues in newer versions also with a bearer token.
pub(super) const GET_CONTAINER_ACL: Access = acl(&["containers/getAcl/action"]);
pub(super) const SET_CONTAINER_ACL: Access = acl(&["containers/setAcl/action"]);
pub(super) const GET_QUEUE_ACL: Access = acl(&["queues/getAcl/action"]);
pub(super) const SET_QUEUE_ACL: Access = acl(&["queues/setAcl/action"]);
/// Each part of a batch is authorised on its own.
pub(super) const BATCH: Access = ANY_CREDENTIAL;

// Blob service: account and containers.
pub(super) const GET_BLOB_SERVICE: Access = account("s", &["r"], Rbac::AnyOf(&["blobServices/read"]));
pub(super) const SET_BLOB_SERVICE: Access = account("s", &["w"], Rbac::AnyOf(&["blobServices/write"]));
pub(super) const USER_DELEGATION_KEY: Access = bearer_only(&["generateUserDelegationKey/action"]);
pub(super) const ACCOUNT_INFORMATION: Access = ANY_CREDENTIAL;
pub(super) const LIST_CONTAINERS: Access = account("s", &["l"], Rbac::AnyOf(&["containers/read"]));
pub(super) const FIND_BLOBS: Access = account("so", &["f"], Rbac::AnyOf(&["blobs/filter/action"]));
pub(super) const FIND_BLOBS_IN_CONTAINER: Access = both("c", &["f"], Rbac::AnyOf(&["blobs/filter/action"]));
pub(super) const CREATE_CONTAINER: Access = account("c", &["c", "w"], Rbac::AnyOf(&["containers/write"]));
pub(super) const READ_CONTAINER: Access = Access {
    anonymous: Anonymous::ContainerLevel,
    ..account("c", &["r"], Rbac::AnyOf(&["containers/read"]))
};
pub(super) const WRITE_CONTAINER: Access = account("c", &["w"], Rbac::AnyOf(&["containers/write"]));
pub(super) const BREAK_CONTAINER_LEASE: Access =
    account("c", &["w", "d"], Rbac::AnyOf(&["containers/write"]));
pub(super) const DELETE_CONTAINER: Access = account("c", &["d"], Rbac::AnyOf(&["containers/delete"]));
pub(super) const LIST_BLOBS: Access =
    Access { anonymous: Anonymous::ContainerLevel, ..both("c", &["l"], Rbac::AnyOf(&["blobs/read"])) };

// Blob service: blobs.
pub(super) const READ_BLOB: Access =
    Access { anonymous: Anonymous::BlobLevel, ..both("o", &["r"], Rbac::AnyOf(&["blobs/read"])) };
pub(super) const QUERY_BLOB: Access = both("o", &["r"], Rbac::AnyOf(&["blobs/read"]));
pub(super) const WRITE_BLOB: Access = both("o", &["w"], Rbac::AnyOf(&["blobs/write"]));
pub(super) const CREATE_BLOB: Access =
    Access { create_only: true, ..both("o", &["c", "w"], Rbac::AnyOf(&["blobs/write", "blobs/add/action"])) };
pub(super) const APPEND_BLOB: Access =
    both("o", &["a", "w"], Rbac::AnyOf(&["blobs/write", "blobs/add/action"]));
pub(super) const SNAPSHOT_BLOB: Access =
    both("o", &["c", "w"], Rbac::AnyOf(&["blobs/write", "blobs/add/action"]));
pub(super) const BREAK_BLOB_LEASE: Access = both("o", &["w", "d"], Rbac::AnyOf(&["blobs/write"]));
pub(super) const DELETE_BLOB: Access = Access {
    variants: &[
        Variant {
            mark: Mark::Is(query("deletetype"), "permanent"),
            letters: &["y"],
            rbac: Rbac::AnyOf(&["blobs/permanentDelete/action"]),
        },
        Variant {
            mark: Mark::Has(query("versionid")),
            letters: &["x"],
            rbac: Rbac::AnyOf(&["blobs/deleteBlobVersion/action"]),
        },
    ],
    ..both("o", &["d"], Rbac::AnyOf(&["blobs/delete"]))
};
pub(super) const GET_TAGS: Access = both("o", &["t"], Rbac::AnyOf(&["blobs/tags/read"]));
pub(super) const SET_TAGS: Access = both("o", &["t"], Rbac::AnyOf(&["blobs/tags/write"]));
pub(super) const IMMUTABILITY: Access =
    both("o", &["i"], Rbac::AnyOf(&["blobs/immutableStorage/runAsSuperUser/action"]));

// Queue service.
pub(super) const GET_QUEUE_SERVICE: Access = account("s", &["r"], Rbac::AnyOf(&["queueServices/read"]));
pub(super) const SET_QUEUE_SERVICE: Access = account("s", &["w"], Rbac::AnyOf(&["queueServices/write"]));
pub(super) const LIST_QUEUES: Access = account("s", &["l"], Rbac::AnyOf(&["queues/read"]));
pub(super) const CREATE_QUEUE: Access = account("c", &["c", "w"], Rbac::AnyOf(&["queues/write"]));
pub(super) const DELETE_QUEUE: Access = account("c", &["d"], Rbac::AnyOf(&["queues/delete"]));
pub(super) const READ_QUEUE: Access = both("c", &["r"], Rbac::AnyOf(&["queues/read"]));
pub(super) const WRITE_QUEUE: Access = account("c", &["w"], Rbac::AnyOf(&["queues/write"]));
pub(super) const PUT_MESSAGE: Access =
    both("o", &["a"], Rbac::AnyOf(&["queues/messages/add/action", "queues/messages/write"]));
pub(super) const GET_MESSAGES: Access = both("o", &["p"], Rbac::AnyOf(&["queues/messages/process/action"]));
pub(super) const PEEK_MESSAGES: Access = both("o", &["r"], Rbac::AnyOf(&["queues/messages/read"]));
pub(super) const UPDATE_MESSAGE: Access = both("o", &["u"], Rbac::AnyOf(&["queues/messages/write"]));
pub(super) const DELETE_MESSAGE: Access =
    both("o", &["p"], Rbac::AnyOf(&["queues/messages/process/action", "queues/messages/delete"]));
pub(super) const CLEAR_MESSAGES: Access = account("o", &["d"], Rbac::AnyOf(&["queues/messages/delete"]));

// Table service.
pub(super) const GET_TABLE_SERVICE: Access = account("s", &["r"], Rbac::AnyOf(&["tableServices/read"]));
pub(super) const SET_TABLE_SERVICE: Access = account("s", &["w"], Rbac::AnyOf(&["tableServices/write"]));
pub(super) const QUERY_TABLES: Access = account("s", &["l"], Rbac::AnyOf(&["tables/read"]));
pub(super) const CREATE_TABLE: Access = account("c", &["c", "w"], Rbac::AnyOf(&["tables/write"]));
pub(super) const DELETE_TABLE: Access = account("c", &["d"], Rbac::AnyOf(&["tables/delete"]));
pub(super) const QUERY_ENTITIES: Access = both("o", &["r"], Rbac::AnyOf(&["tables/entities/read"]));
pub(super) const INSERT_ENTITY: Access =
    both("o", &["a"], Rbac::AnyOf(&["tables/entities/add/action", "tables/entities/write"]));
pub(super) const UPDATE_ENTITY: Access =
    both("o", &["u"], Rbac::AnyOf(&["tables/entities/update/action", "tables/entities/write"]));
pub(super) const UPSERT_ENTITY: Access = both("o", &["au"], Rbac::AnyOf(&["tables/entities/write"]));
pub(super) const DELETE_ENTITY: Access = both("o", &["d"], Rbac::AnyOf(&["tables/entities/delete"]));

// File service. Bearer tokens came to files first, and to shares and the account two years later.
const fn share(any_of: Letters, actions: &'static [&'static str]) -> Access {
    account("c", any_of, Rbac::Since(Feature::FileBearerTokensEverywhere, actions))
}

const fn file(any_of: Letters, actions: &'static [&'static str]) -> Access {
    both("o", any_of, Rbac::AnyOf(actions))
}

const fn share_acl(actions: &'static [&'static str]) -> Access {
    Access { rbac: Rbac::Since(Feature::FileBearerTokensEverywhere, actions), ..KEY_ONLY }
}

pub(super) const GET_FILE_SERVICE: Access =
    account("s", &["r"], Rbac::Since(Feature::FileBearerTokensEverywhere, &["fileServices/read"]));
pub(super) const SET_FILE_SERVICE: Access =
    account("s", &["w"], Rbac::Since(Feature::FileBearerTokensEverywhere, &["fileServices/write"]));
pub(super) const LIST_SHARES: Access =
    account("s", &["l"], Rbac::Since(Feature::FileBearerTokensEverywhere, &["shares/read"]));
pub(super) const CREATE_SHARE: Access = share(&["c", "w"], &["shares/write"]);
pub(super) const READ_SHARE: Access = share(&["r"], &["shares/read"]);
pub(super) const WRITE_SHARE: Access = share(&["w"], &["shares/write"]);
pub(super) const DELETE_SHARE: Access = share(&["d"], &["shares/delete"]);
pub(super) const BREAK_SHARE_LEASE: Access = share(&["w", "d"], &["shares/write"]);
pub(super) const GET_SHARE_ACL: Access = share_acl(&["shares/read"]);
pub(super) const SET_SHARE_ACL: Access = share_acl(&["shares/write"]);
/// Of files that a token may write: those who write a long one store it first.
pub(super) const CREATE_PERMISSION: Access = both("c", &["c", "w"], Rbac::AnyOf(&["fileshares/files/write"]));
pub(super) const GET_PERMISSION: Access = both("c", &["r"], Rbac::AnyOf(&["fileshares/files/read"]));
pub(super) const LIST_FILES: Access = both("c", &["l"], Rbac::AnyOf(&["fileshares/files/read"]));
pub(super) const READ_FILE: Access = file(&["r"], &["fileshares/files/read"]);
pub(super) const WRITE_FILE: Access = file(&["w"], &["fileshares/files/write"]);
pub(super) const CREATE_FILE: Access =
    Access { create_only: true, ..file(&["c", "w"], &["fileshares/files/write"]) };
pub(super) const CREATE_DIRECTORY: Access = file(&["c", "w"], &["fileshares/files/write"]);
pub(super) const DELETE_FILE: Access = file(&["d"], &["fileshares/files/delete"]);
pub(super) const BREAK_FILE_LEASE: Access = file(&["w", "d"], &["fileshares/files/write"]);
