//! Every operation on blobs x what its address names x every kind of credential, through the gateway and carried out.
//! Afterwards the service is looked at: what was refused changed nothing, and what a credential does not reach stays.

use lazuli_model::blob::BlobType;
use lazuli_model::operation::{Method, Op, Row, Service, rows};
use lazuli_rest::Gateway;
use lazuli_rest::auth::accounts::DEVELOPMENT_KEY;
use lazuli_rest::auth::bearer::Claims;
use lazuli_rest::auth::{Account, Accounts, Auth, Key, KeyInfo, OAuth};

use super::bearer::{Issuer, claims, with};
use super::matrix::{UD_BLOB_SAS, request};
use super::support::{ACCOUNT, BLOB_SAS, OTHER_ACCOUNT, OTHER_KEY, Request, SECRET, Token, VERSION, now};
use super::world::{World, blob, owner, send};

/// The column `opt: snapshot, versionid` of contract/blob.md, typed a second time: of the operations that are built.
const OF_SNAPSHOTS: &[Op] = &[
    Op::SetBlobImmutabilityPolicy,
    Op::DeleteBlobImmutabilityPolicy,
    Op::SetBlobLegalHold,
    Op::SetBlobTier,
    Op::GetBlobTags,
    Op::GetBlob,
    Op::QueryBlobContents,
    Op::GetPageRanges,
    Op::GetBlobProperties,
    Op::GetBlobMetadata,
    Op::DeleteBlob,
    Op::GetBlockList,
];
const OF_VERSIONS: &[Op] = &[
    Op::SetBlobImmutabilityPolicy,
    Op::DeleteBlobImmutabilityPolicy,
    Op::SetBlobLegalHold,
    Op::SetBlobTier,
    Op::GetBlobTags,
    Op::SetBlobTags,
    Op::GetBlob,
    Op::GetBlobProperties,
    Op::GetBlobMetadata,
    Op::DeleteBlob,
];

const LETTERS: &str = "racwdxyltfmeopi";
const A_LEASE: &str = "e0f0f8a0-0000-4000-8000-000000000000";
const A_VERSION: &str = "2026-10-31T01:02:03.0000000Z";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Base,
    Snapshot,
    Version,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    SharedKey,
    AccountSas {
        letters: &'static str,
    },
    /// `sr`
    ServiceSas {
        of: &'static str,
        letters: &'static str,
    },
    UserDelegationSas {
        of: &'static str,
        letters: &'static str,
    },
    Bearer,
    Anonymous,
}

const EVERYBODY: [Who; 15] = [
    Who::SharedKey,
    Who::AccountSas { letters: "rwdxylacuptfi" },
    Who::AccountSas { letters: "x" },
    Who::ServiceSas { of: "c", letters: LETTERS },
    Who::ServiceSas { of: "b", letters: LETTERS },
    Who::ServiceSas { of: "bs", letters: LETTERS },
    Who::ServiceSas { of: "bv", letters: LETTERS },
    Who::ServiceSas { of: "c", letters: "x" },
    Who::ServiceSas { of: "b", letters: "x" },
    Who::UserDelegationSas { of: "c", letters: LETTERS },
    Who::UserDelegationSas { of: "b", letters: LETTERS },
    Who::UserDelegationSas { of: "bs", letters: LETTERS },
    Who::UserDelegationSas { of: "bv", letters: LETTERS },
    Who::Bearer,
    Who::Anonymous,
];

impl Who {
    /// What the token is signed for is the blob itself, or something that holds it.
    fn reaches_base(self) -> bool {
        match self {
            Who::ServiceSas { of, letters } | Who::UserDelegationSas { of, letters } => {
                matches!(of, "c" | "b") && letters != "x"
            }
            Who::AccountSas { letters } => letters != "x",
            Who::SharedKey | Who::Bearer => true,
            Who::Anonymous => false,
        }
    }

    fn sign(self, request: Request, auth: &Auth, bearer: &str) -> Request {
        let resource = |of: &str| match of {
            "c" => format!("/blob/{ACCOUNT}/things"),
            _ => format!("/blob/{ACCOUNT}/things/dir/thing"),
        };
        // The time of the snapshot or version is signed as the request names it.
        let named = |of: &str| {
            let name = match of {
                "bs" => "snapshot",
                "bv" => "versionid",
                _ => return String::new(),
            };
            let found = request.query.iter().find(|(own, _)| own == name);
            found.map_or(String::new(), |(_, value)| value.clone())
        };
        match self {
            Who::SharedKey => owner(request),
            Who::AccountSas { letters } => {
                Token::account("b", "sco", letters).sign_account(DEVELOPMENT_KEY).on(request)
            }
            Who::ServiceSas { of, letters } => {
                let token = Token::service(letters).with("sr", of).with("time", &named(of));
                let fields = BLOB_SAS.replace("snapshot", "time");
                token.sign_service(&fields, &resource(of), DEVELOPMENT_KEY).without("time").on(request)
            }
            Who::UserDelegationSas { of, letters } => {
                let holder =
                    Claims { object_id: Some("o".into()), tenant_id: Some("t".into()), ..Claims::default() };
                let info = KeyInfo {
                    start: Some(now()),
                    expiry: now().plus_seconds(3600),
                    delegated_user_tid: None,
                };
                let key = auth.user_delegation_key(&request.head(), &holder, info, now()).unwrap();
                let token = Token::service(letters).with("sr", of).with("time", &named(of));
                let token = token.with("skoid", "o").with("sktid", "t").with("sks", key.signed_service);
                let token = token.with("skt", "2026-11-01T12:00:00Z").with("ske", "2026-11-01T13:00:00Z");
                let fields = UD_BLOB_SAS.replace("snapshot", "time");
                let token = token.with("skv", VERSION).with("se", "2026-11-01T13:00:00Z");
                token.sign_service(&fields, &resource(of), &key.value).without("time").on(request)
            }
            Who::Bearer => with(request, bearer),
            Who::Anonymous => request,
        }
    }
}

/// What the row's request carries so that it would do something.
pub fn filled(row: &Row, request: Request) -> (Request, &'static str) {
    let (request, body) = match row.op {
        Op::PutBlockBlob => (request, "overwritten"),
        Op::AppendBlock => (request, "more"),
        Op::PutBlock => (request.replace_query("blockid", "bmV3"), "another"),
        Op::PutBlockList => (request, "<BlockList><Latest>b2xk</Latest></BlockList>"),
        Op::SetBlobTags => {
            (request, "<Tags><TagSet><Tag><Key>changed</Key><Value>yes</Value></Tag></TagSet></Tags>")
        }
        Op::QueryBlobContents => {
            let query = "<QueryRequest><QueryType>SQL</QueryType><Expression>SELECT * from BlobStorage</Expression></QueryRequest>";
            (request, query)
        }
        Op::SetContainerAcl => (request, "<SignedIdentifiers></SignedIdentifiers>"),
        Op::SetBlobServiceProperties => {
            (request, "<StorageServiceProperties><Cors></Cors></StorageServiceProperties>")
        }
        Op::SetBlobMetadata | Op::SetContainerMetadata => (request.header("x-ms-meta-changed", "yes"), ""),
        Op::SetBlobImmutabilityPolicy => {
            let until = "Tue, 01 Dec 2026 12:00:00 GMT";
            (request.header("x-ms-immutability-policy-until-date", until), "")
        }
        Op::SetBlobLegalHold => (request.header("x-ms-legal-hold", "true"), ""),
        Op::SetBlobExpiry => {
            let request = request.header("x-ms-expiry-option", "RelativeToNow");
            (request.header("x-ms-expiry-time", "3600000"), "")
        }
        Op::SetBlobTier => (request.header("x-ms-access-tier", "Cool"), ""),
        Op::SetBlobProperties => (request.header("x-ms-blob-content-type", "changed/type"), ""),
        Op::AcquireBlobLease | Op::AcquireContainerLease => (request.header("x-ms-lease-duration", "60"), ""),
        Op::RenewBlobLease | Op::RenewContainerLease | Op::ReleaseBlobLease | Op::ReleaseContainerLease => {
            (request.header("x-ms-lease-id", A_LEASE), "")
        }
        Op::ChangeBlobLease | Op::ChangeContainerLease => {
            let request = request.header("x-ms-lease-id", A_LEASE);
            (request.header("x-ms-proposed-lease-id", A_LEASE), "")
        }
        _ => (request, ""),
    };
    let sends = !matches!(request.method, Method::Get | Method::Head | Method::Options);
    let length = body.len().to_string();
    (if sends { request.header("content-length", &length) } else { request }, body)
}

#[tokio::test]
async fn what_is_refused_changes_nothing_and_no_credential_reaches_further_than_it_says() {
    let issuer = Issuer::new("k");
    let auth = issuer.auth();
    let bearer = issuer.sign(Some("k"), &claims());
    let mut kind = BlobType::Block;
    let mut world = World::of(kind, auth.clone()).await;
    let mut before = world.look().await;
    let (mut changed_by_owner, mut faults) = (Vec::new(), Vec::new());
    for row in rows(Service::Blob) {
        // What works on append blobs alone finds one.
        let wanted = row.policy.blob_type.filter(|kind| *kind == BlobType::Append).unwrap_or(BlobType::Block);
        if wanted != kind {
            kind = wanted;
            world = World::of(kind, auth.clone()).await;
            before = world.look().await;
        }
        for method in row.route.methods {
            for named in [Named::Base, Named::Snapshot, Named::Version, Named::Both] {
                for who in EVERYBODY {
                    let mut asked = request(row, *method, ACCOUNT);
                    if matches!(named, Named::Snapshot | Named::Both) {
                        asked = asked.query("snapshot", &world.snapshot);
                    }
                    if matches!(named, Named::Version | Named::Both) {
                        asked = asked.query("versionid", A_VERSION);
                    }
                    let (asked, body) = filled(row, asked);
                    let asked = who.sign(asked, &auth, &bearer);
                    let answer = world.ask(&asked, body).await;
                    let after = world.look().await;
                    let case = format!("{} {method:?} {named:?} {who:?}: {}", row.name(), answer.said());
                    if answer.is_refusal() && before != after {
                        faults.push(format!("{case}: refused, and carried out"));
                    }
                    let meets_base = who.reaches_base() && named == Named::Base;
                    if !meets_base && before.base() != after.base() {
                        faults.push(format!("{case}: the blob itself was changed"));
                    }
                    if let Some(expected) = refusal(row, named, who).filter(|said| *said != answer.said()) {
                        faults.push(format!("{case}: should be {expected}"));
                    }
                    if before != after {
                        // The snapshot alone has a policy.
                        let acts = match row.op {
                            Op::DeleteBlobImmutabilityPolicy => Named::Snapshot,
                            _ => Named::Base,
                        };
                        if who == Who::SharedKey && named == acts {
                            changed_by_owner.push(row.op);
                        }
                        world = World::of(kind, auth.clone()).await;
                        before = world.look().await;
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // The same requests do act where they may: otherwise nothing above was tried.
    for op in [
        Op::PutBlockBlob,
        Op::PutAppendBlob,
        Op::AppendBlock,
        Op::AppendBlobSeal,
        Op::PutBlock,
        Op::PutBlockList,
        Op::SetBlobProperties,
        Op::SetBlobMetadata,
        Op::SetBlobTags,
        Op::SetBlobTier,
        Op::SetBlobExpiry,
        Op::SetBlobImmutabilityPolicy,
        Op::DeleteBlobImmutabilityPolicy,
        Op::SetBlobLegalHold,
        Op::AcquireBlobLease,
        Op::SnapshotBlob,
        Op::DeleteContainer,
        Op::SetContainerAcl,
        Op::SetContainerMetadata,
        Op::AcquireContainerLease,
    ] {
        assert!(changed_by_owner.contains(&op), "{op:?} never did anything");
    }
}

/// What those are told who may do everything.
fn refusal(row: &Row, named: Named, who: Who) -> Option<&'static str> {
    if who != Who::SharedKey
        || !lazuli_rest::is_built(row.op)
        || !row.access.shared_key
        || row.op == Op::PreflightBlobRequest
    {
        return None;
    }
    match named {
        Named::Base => None,
        Named::Both => Some("400 MutuallyExclusiveQueryParameters"),
        Named::Snapshot if OF_SNAPSHOTS.contains(&row.op) => None,
        Named::Version if OF_VERSIONS.contains(&row.op) => Some("404 BlobNotFound"),
        Named::Snapshot | Named::Version => Some("400 InvalidQueryParameterValue"),
    }
}

/// What was public before its account went away is not public any more: nothing tells the account from one that never
/// was.
#[tokio::test]
async fn an_account_that_is_no_longer_configured_is_unknown() {
    let issuer = Issuer::new("k");
    let world = World::new(issuer.auth()).await;
    let rules = "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>*</AllowedOrigins>\
                 <AllowedMethods>GET,PUT</AllowedMethods><AllowedHeaders>*</AllowedHeaders>\
                 <ExposedHeaders>*</ExposedHeaders><MaxAgeInSeconds>60</MaxAgeInSeconds></CorsRule></Cors>\
                 <DefaultServiceVersion>2020-10-02</DefaultServiceVersion></StorageServiceProperties>";
    let set = blob(Method::Put, "/", &[("restype", "service"), ("comp", "properties")]);
    let set = owner(set.header("content-length", &rules.len().to_string()));
    assert_eq!(world.ask(&set, rules).await.status, 202);
    let read = blob(Method::Get, "/things/dir/thing", &[]);
    assert_eq!(world.ask(&read, "").await.status, 200, "the blob is public");

    let others = Accounts::new([Account::new(OTHER_ACCOUNT, vec![Key::from_base64(OTHER_KEY).unwrap()])]);
    let without = Auth::new(others, OAuth::Off, SECRET);
    let gateway = Gateway::new(world.gateway.services.clone(), without);
    for service in [Service::Blob, Service::Queue, Service::Table, Service::File] {
        for row in rows(service) {
            for method in row.route.methods {
                for versioned in [true, false] {
                    let ask = |account: &str| {
                        let mut request = filled(row, request(row, *method, account)).0;
                        if !versioned {
                            request.headers.retain(|(name, _)| name != "x-ms-version");
                        }
                        request.header("origin", "http://a.b").header("access-control-request-method", "GET")
                    };
                    let gone = send(&gateway, &ask(ACCOUNT), "").await;
                    let never = send(&gateway, &ask("never"), "").await;
                    let case = format!("{} {method:?}", row.name());
                    assert_eq!((gone.said(), gone.headers), (never.said(), never.headers), "{case}");
                    assert!(gone.status >= 400, "{case}");
                }
            }
        }
    }
}
