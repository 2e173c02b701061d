//! The published tables of what operations over REST are told while SMB clients have a file open, over the wire: the opens
//! are rows that the test makes.

use lazuli_model::access::Principal;
use lazuli_model::admission::Preconditions;
use lazuli_model::admission::sharing::{ByteRangeLock, Open, Rights};
use lazuli_model::operation::{Judged, Op, Policy, Resource, Writes, all_rows};
use lazuli_model::time::Timestamp;
use lazuli_model::version::ApiVersion;
use lazuli_rest::is_built;
use lazuli_service::file::FileAddress;
use lazuli_service::store::{NewOpen, Unit};
use lazuli_service::{Context, Fault};

use super::client::{Answer, Client, Request};

const HOST: &str = "host: devstoreaccount1.file.localhost:10003";

/// What an SMB client does: nothing to the file itself.
#[derive(Clone, Copy, Debug)]
struct Attend;

impl Judged for Attend {
    type Mode = Writes;

    fn policy(self) -> &'static Policy {
        static POLICY: Policy = Op::ForceCloseHandles.row().policy;
        &POLICY
    }
}

fn rights(text: &str) -> Rights {
    let has = |letter| text.contains(letter);
    Rights { read: has('R'), write: has('W'), delete: has('D') }
}

pub struct World {
    pub client: Client,
    context: Context,
}

impl World {
    /// A share with a directory, in it a file that is open once.
    pub async fn new() -> Self {
        let context = Context {
            account: "devstoreaccount1".into(),
            version: ApiVersion::NEWEST,
            principal: Principal::Owner,
            encryption_scope: None,
            cause: None,
            patience: None,
        };
        let world = Self { client: Client::new(), context };
        assert_eq!(world.ask("PUT /docs?restype=share").await, "201");
        assert_eq!(world.ask("PUT /docs/dir?restype=directory").await, "201");
        assert_eq!(world.ask(CREATE).await, "201");
        assert_eq!(world.ask("PUT /docs/source\nx-ms-type: file\nx-ms-content-length: 2").await, "201");
        world
    }

    pub async fn send(&self, text: &str) -> Answer {
        let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
        self.client.send(Request::parse(&format!("{line}\n{HOST}\n{rest}"))).await
    }

    /// The status, and the code of a refusal.
    pub async fn ask(&self, text: &str) -> String {
        let answer = self.send(text).await;
        match answer.headers.get("x-ms-error-code") {
            Some(code) => format!("{} {code}", answer.status),
            None => answer.status.to_string(),
        }
    }

    pub async fn open(&self, path: &[&str], access: &str, share: &str) -> u64 {
        let at = &address(path);
        let open = Open { access: rights(access), share: rights(share), ..Open::default() };
        let new = &NewOpen {
            path: path.join("/"),
            session: 1,
            client_address: "127.0.0.1".into(),
            opened: Timestamp(1),
            ..NewOpen::new(open, self.client.gateway.services.incarnation())
        };
        let open = |unit: Unit| async move {
            let found = unit.path(at).await?.admit(Attend, &Preconditions::default())?;
            found.present()?.open(new).await
        };
        self.client.gateway.services.commit(&self.context, open).await.unwrap()
    }

    async fn close(&self, path: &[&str], handle: u64) {
        let at = &address(path);
        let close = |unit: Unit| async move { unit.path(at).await?.attend()?.close(handle).await };
        assert!(self.client.gateway.services.commit(&self.context, close).await.unwrap());
    }

    async fn lock(&self, handle: u64, exclusive: bool) {
        let at = &address(FILE);
        let lock = |unit: Unit| async move {
            let lock = ByteRangeLock { offset: 3, length: 2, exclusive };
            unit.path(at).await?.attend()?.lock(handle, lock).await
        };
        assert!(self.client.gateway.services.commit(&self.context, lock).await.unwrap());
    }

    pub async fn set_pending(&self, pending: bool) {
        let at = &address(FILE);
        let set = |unit: Unit| async move {
            unit.path(at).await?.attend()?.set_delete_pending(pending).await?;
            Ok::<_, Fault>(())
        };
        self.client.gateway.services.commit(&self.context, set).await.unwrap();
    }
}

pub const FILE: &[&str] = &["dir", "file"];
const COPY: &str =
    "PUT /docs/dir/file\nx-ms-copy-source: http://devstoreaccount1.file.localhost:10003/docs/source";
const CREATE: &str = "PUT /docs/dir/file\nx-ms-type: file\nx-ms-content-length: 10";

fn address(path: &[&str]) -> FileAddress {
    let path = path.iter().map(|name| (*name).to_owned()).collect();
    FileAddress { share: "docs".into(), snapshot: None, path }
}

pub fn rename(from: &str, to: &str) -> String {
    format!(
        "PUT /docs/{to}?comp=rename\nx-ms-file-rename-replace-if-exists: true\n\
         x-ms-file-rename-source: http://devstoreaccount1.file.localhost:10003/docs/{from}"
    )
}

/// The operations of the tables, each as a request that would be carried out.
fn operations() -> Vec<(&'static str, &'static str)> {
    let built = all_operations().into_iter().filter(|(op, ..)| is_built(*op));
    built.map(|(_, name, request)| (name, request)).collect()
}

fn all_operations() -> Vec<(Op, &'static str, &'static str)> {
    vec![
        (Op::ListDirectoriesAndFiles, "List", "GET /docs/dir?restype=directory&comp=list"),
        (Op::GetFileProperties, "Properties", "HEAD /docs/dir/file"),
        (Op::GetFileMetadata, "Properties", "GET /docs/dir/file?comp=metadata"),
        (Op::GetFile, "Get", "GET /docs/dir/file"),
        (Op::ListRanges, "ListRanges", "GET /docs/dir/file?comp=rangelist"),
        (
            Op::SetFileProperties,
            "SetProperties",
            "PUT /docs/dir/file?comp=properties\nx-ms-content-type: a/b",
        ),
        (Op::SetFileMetadata, "SetMetadata", "PUT /docs/dir/file?comp=metadata"),
        (
            Op::PutRange,
            "PutRange",
            "PUT /docs/dir/file?comp=range\nx-ms-write: update\nx-ms-range: bytes=0-1\n\nab",
        ),
        (
            Op::ClearRange,
            "PutRange",
            "PUT /docs/dir/file?comp=range\nx-ms-write: clear\nx-ms-range: bytes=0-1",
        ),
        (Op::CreateFile, "Create", CREATE),
        (Op::CopyFile, "Create", COPY),
        (Op::DeleteFile, "Delete", "DELETE /docs/dir/file"),
        (Op::AcquireFileLease, "Lease", "PUT /docs/dir/file?comp=lease\nx-ms-lease-action: acquire"),
    ]
}

/// Share mode of an open, and the operations that are told SharingViolation.
const SHARE_MODES: &str = "
-   Create Get SetProperties SetMetadata Delete PutRange ListRanges Lease
R   Create SetProperties SetMetadata Delete PutRange Lease
W   Create Get Delete ListRanges Lease
D   Create Get SetProperties SetMetadata PutRange ListRanges Delete Lease
RW  Create Delete Lease
RD  Create SetProperties SetMetadata PutRange Delete Lease
WD  Get ListRanges Delete Lease
RWD Delete
";

#[tokio::test]
async fn share_modes() {
    for line in SHARE_MODES.trim().lines() {
        let (mode, failing) = line.split_once(' ').unwrap();
        let failing: Vec<&str> = failing.split_whitespace().collect();
        for (name, request) in operations() {
            let world = World::new().await;
            let handle = world.open(FILE, "R", mode).await;
            let told = world.ask(request).await;
            let refused = told == "409 SharingViolation";
            assert!(refused || told.starts_with('2'), "{request}: {told}");
            assert_eq!(refused, failing.contains(&name), "{name} of a file that shares {mode}: {told}");
            if refused {
                world.close(FILE, handle).await;
                let told = world.ask(request).await;
                assert!(told.starts_with('2'), "{request} once it is closed: {told}");
            }
        }
    }
}

/// What is read-only, locked or to be deleted, and what each operation is told of it.
#[tokio::test]
async fn other_obstacles() {
    for (name, request) in operations() {
        let world = World::new().await;
        let handle = world.open(FILE, "R", "RWD").await;
        world.set_pending(true).await;
        let told = world.ask(request).await;
        let expected = if name == "List" { "200" } else { "409 DeletePending" };
        assert_eq!(told, expected, "{request} of a file that is to be deleted");
        world.set_pending(false).await;
        world.lock(handle, false).await;
        let told = world.ask(request).await;
        let expected = match name {
            "SetProperties" | "SetMetadata" | "PutRange" | "Create" => "409 FileLockConflict",
            "Delete" => "409 SharingViolation",
            _ => "2",
        };
        assert!(told.starts_with(expected), "{request} of a file with a lock: {told}");
    }
}

/// What is locked for one client alone is not read by others; what lies beside it is.
#[tokio::test]
async fn locks_that_exclude_readers() {
    let world = World::new().await;
    let handle = world.open(FILE, "RW", "RWD").await;
    world.lock(handle, true).await;
    for (request, told) in [
        ("GET /docs/dir/file", "409 FileLockConflict"),
        ("GET /docs/dir/file\nx-ms-range: bytes=4-9", "409 FileLockConflict"),
        ("GET /docs/dir/file\nx-ms-range: bytes=0-2", "206"),
        ("GET /docs/dir/file\nx-ms-range: bytes=5-9", "206"),
        ("HEAD /docs/dir/file", "200"),
        (
            "PUT /docs/dir/file?comp=range\nx-ms-write: update\nx-ms-range: bytes=5-6\n\nab",
            "409 FileLockConflict",
        ),
        (
            "PUT /docs/copy\nx-ms-copy-source: http://devstoreaccount1.file.localhost:10003/docs/dir/file",
            "409 FileLockConflict",
        ),
    ] {
        assert_eq!(world.ask(request).await, told, "{request}");
    }
}

/// What is told of a file that is read-only: to whatever would change it, and to nothing else.
const READ_ONLY: &str = "
List                    -
Properties              -
Get                     -
ListRanges              -
SetProperties           409 ReadOnlyAttribute
SetMetadata             409 ReadOnlyAttribute
PutRange                409 ReadOnlyAttribute
Create                  409 ReadOnlyAttribute
Delete                  409 ReadOnlyAttribute
Lease                   -
";

#[tokio::test]
async fn read_only_files() {
    let set =
        |attributes: &str| format!("PUT /docs/dir/file?comp=properties\nx-ms-file-attributes: {attributes}");
    for (name, request) in operations() {
        let world = World::new().await;
        assert_eq!(world.ask(&set("ReadOnly")).await, "200");
        let line = READ_ONLY.lines().find(|line| line.split(' ').next() == Some(name)).unwrap();
        let expected = line.split_once(' ').unwrap().1.trim();
        let told = world.ask(request).await;
        match expected {
            "-" => assert!(told.starts_with('2'), "{request} of a file that is read-only: {told}"),
            expected => assert_eq!(told, expected, "{request} of a file that is read-only"),
        }
        // The attribute can be taken off, and then nothing stands against it.
        if expected != "-" {
            assert_eq!(world.ask(&set("None")).await, "200");
            let told = world.ask(request).await;
            assert!(told.starts_with('2'), "{request} of a file that was read-only: {told}");
        }
    }
    // A rename over it is told so, unless it says that it does not care.
    let world = World::new().await;
    assert_eq!(world.ask(&set("ReadOnly")).await, "200");
    assert_eq!(world.ask("PUT /docs/other\nx-ms-type: file\nx-ms-content-length: 1").await, "201");
    let over = rename("other", "dir/file");
    assert_eq!(world.ask(&over).await, "409 ReadOnlyAttribute");
    assert_eq!(world.ask(&format!("{over}\nx-ms-file-rename-ignore-readonly: true")).await, "200");
}

/// The tables are asked of every operation on a file that is built.
#[test]
fn every_operation_of_a_file_is_here() {
    let elsewhere = [
        // What is done to a lease that is there is no open.
        Op::ChangeFileLease,
        Op::ReleaseFileLease,
        Op::BreakFileLease,
        // `directories_and_renames`.
        Op::RenameFile,
        // Shares for NFS have no opens.
        Op::CreateHardLink,
        Op::CreateSymbolicLink,
        Op::GetSymbolicLink,
        // `sources_of_copies`.
        Op::PutRangeFromUrl,
        // A file that a copy is writing has been judged.
        Op::AbortCopyFile,
        // They are about the opens themselves (`handles.rs`).
        Op::ListHandles,
        Op::ForceCloseHandles,
    ];
    let here: Vec<Op> = all_operations().into_iter().map(|(op, ..)| op).collect();
    for row in all_rows().iter().filter(|row| row.route.resource == Resource::Path && is_built(row.op)) {
        let is_of_directories = row.name().contains("Director");
        let is_known = here.contains(&row.op) || elsewhere.contains(&row.op);
        assert!(is_of_directories || is_known, "{} is in no table", row.name());
    }
}

/// Opens for attributes deny nothing, but keep a file from being deleted. A lease does not begin beside writers.
#[tokio::test]
async fn access_of_opens() {
    for (access, may_lease) in [("-", true), ("R", true), ("W", false), ("D", false), ("RW", false)] {
        let world = World::new().await;
        world.open(FILE, access, "RWD").await;
        let told = world.ask("PUT /docs/dir/file?comp=lease\nx-ms-lease-action: acquire").await;
        assert_eq!(told, if may_lease { "201" } else { "409 SharingViolation" }, "{access}");
    }
    let world = World::new().await;
    world.open(FILE, "-", "-").await;
    for (name, request) in operations() {
        if name == "Delete" {
            assert_eq!(world.ask(request).await, "409 SharingViolation");
        } else {
            assert!(world.ask(request).await.starts_with('2'), "{request}");
        }
        let ended = "PUT /docs/dir/file?comp=lease\nx-ms-lease-action: break";
        if name == "Lease" {
            assert_eq!(world.ask(ended).await, "202");
        }
    }
}

/// The source of a copy is read: its opens are asked too, and what is pending deletion is no source. The target of Put
/// Range From URL is judged as that of Put Range.
#[tokio::test]
async fn sources_of_copies() {
    let copy = "PUT /docs/copy\nx-ms-copy-source: http://devstoreaccount1.file.localhost:10003/docs/dir/file";
    for (mode, told) in [("-", "409 SharingViolation"), ("WD", "409 SharingViolation"), ("R", "202")] {
        let world = World::new().await;
        world.open(FILE, "R", mode).await;
        assert_eq!(world.ask(copy).await, told, "{mode}");
    }
    let world = World::new().await;
    world.open(FILE, "R", "RWD").await;
    world.set_pending(true).await;
    assert_eq!(world.ask(copy).await, "409 DeletePending");
    let world = World::new().await;
    world.open(FILE, "R", "R").await;
    let signed = "sv=2021-06-08&ss=bf&srt=o&sp=r&se=2099-01-01T00:00:00Z&sig=TCzvG9jK3Y5go%2FzSI91uCye3iCmCS%2FRYYW2AAavSQIo%3D";
    let ranged = format!(
        "PUT /docs/dir/file?comp=range\nx-ms-write: update\nx-ms-range: bytes=0-1\nx-ms-source-range: bytes=0-1\n\
         x-ms-copy-source: http://devstoreaccount1.file.localhost:10003/docs/source?{signed}"
    );
    assert_eq!(world.ask(&ranged).await, "409 SharingViolation");
}

/// A directory that is open is not deleted; its file that is to be deleted is not listed; renames ask for the right to
/// delete.
#[tokio::test]
async fn directories_and_renames() {
    let world = World::new().await;
    assert_eq!(world.ask("PUT /docs/other\nx-ms-type: file\nx-ms-content-length: 1").await, "201");
    let handle = world.open(FILE, "R", "RW").await;
    assert_eq!(world.ask(&rename("dir/file", "new")).await, "409 SharingViolation");
    assert_eq!(world.ask(&rename("other", "dir/file")).await, "409 SharingViolation");
    world.close(FILE, handle).await;
    world.open(FILE, "R", "RD").await;
    assert_eq!(world.ask(&rename("other", "dir/file")).await, "409 SharingViolation", "it would be written");
    assert_eq!(world.ask(&rename("dir/file", "new")).await, "200");
    world.open(&["dir"], "R", "RWD").await;
    assert_eq!(world.ask("DELETE /docs/dir?restype=directory").await, "409 CannotDeleteFileOrDirectory");
    let moved = rename("dir", "moved").replace("?comp", "?restype=directory&comp");
    assert_eq!(world.ask(&moved).await, "200");
}
