//! An SMB client opens or makes a file: one commit for the file's entry, the new open and what others are told to give up.

use std::sync::Arc;

use lazuli_model::admission::caching::{self, Actor, Kept, LeaseOwner, OplockLevel};
use lazuli_model::admission::open::{
    OpenPlace, OpenRequest, OpenTarget, OpenVerdict, judge_open, maximal_access,
};
use lazuli_model::admission::sharing::{Break, Caching, Open};
use lazuli_model::admission::{Needs, Preconditions, lease};
use lazuli_model::blob::{ContentHeaders, CopyStatus};
use lazuli_model::operation::{Judged, LeaseUse, Op, Policy, Writes};
use lazuli_model::smb::{AccessMask, FileAttributes, Permission, PosixWishes, SmbWishes, Wish};
use lazuli_model::time::Timestamp;

use super::key;
use super::opened::{CHANGES, OpenKey};
use super::opens::{self, OPENS, OPENS_OF_ROOT};
use super::path::{PathPlace, Standing};
use super::rows::OpenRows;
use crate::file::{FileAddress, NewBody, NewPath};
use crate::open_file::{
    CachingWanted, Client, Create, CreateAction, DurableWanted, LeaseVersion, Outcome, Refusal,
};
use crate::store::found::{Found, Present};
use crate::store::record::open::{Durable, LeaseDetail, OpenRecord};
use crate::store::record::path::{ExistingPath, PathBody, PathRecord};
use crate::store::unit::{Changes as _, Unit};

/// How long a durable open without a connection is kept, where the client leaves it to the server; and at the most.
const DURABLE: u32 = 60_000;
const LONGEST_DURABLE: u32 = 300_000;

/// A new file or directory: the open that makes it was judged already.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made;

impl Judged for Made {
    type Mode = Writes;

    fn policy(self) -> &'static Policy {
        const ROW: Policy = Op::CreateFile.row().policy;
        static POLICY: Policy = Policy { needs: Needs::Nothing, lease: LeaseUse::None, ..ROW };
        &POLICY
    }
}

pub(crate) enum Opening {
    Done(Box<NewlyOpened>),
    /// Others have been told; it is to be tried again when this node has changed.
    Wait(crate::store::desk::Node),
}

/// What there is after an open.
pub(crate) struct NewlyOpened {
    pub key: OpenKey,
    pub record: PathRecord,
    /// The number of the directory that it stands in.
    pub parent: u64,
    pub action: CreateAction,
    pub granted: AccessMask,
    pub maximal: AccessMask,
    pub row: OpenRecord,
}

/// Who opens.
pub(crate) struct Opener<'a> {
    pub share: &'a Arc<str>,
    pub client: &'a Client,
    /// The number that the open is to have.
    pub handle: u64,
}

impl Unit {
    pub(crate) async fn create_open(&self, opener: &Opener<'_>, request: &Create) -> Outcome<Opening> {
        let snapshot = request.snapshot;
        let address = FileAddress { share: opener.share.to_string(), snapshot, path: request.path.clone() };
        let (mut unit, place, existing) = self.path(&address).await?.into_parts();
        let now = unit.now();
        let generation = place.share.generation;
        let node = existing.as_ref().map(|existing| (generation, existing.record.node));
        let rows = match node.filter(|_| snapshot.is_none()) {
            Some(node) => Some(unit.open_rows(node).await?),
            None => None,
        };
        let owner = match request.caching {
            CachingWanted::Lease(lease) => Some(LeaseOwner { client: opener.client.guid, key: lease.key }),
            CachingWanted::None | CachingWanted::Oplock(_) => None,
        };
        let actor = Actor { handle: None, owner };
        let parent_pending = existing.is_none() && {
            unit.reader().get(key::pending(generation, place.parent())).await?.is_some()
        };
        let standing = OpenPlace { is_snapshot: snapshot.is_some(), parent_pending };
        let opens = rows.as_ref().map(OpenRows::opens).unwrap_or_default();
        let target = existing.as_ref().map(|existing| target(existing, &place, &opens, now));
        let maximal = maximal_access(standing, target.as_ref());
        let asked = OpenRequest {
            desired: request.desired_access,
            share: request.share_access,
            disposition: request.disposition,
            directory: request.options.directory,
            non_directory: request.options.non_directory,
            delete_on_close: request.options.delete_on_close,
            attributes: request.attributes,
            actor,
        };
        let verdict = judge_open(&asked, standing, target.as_ref(), now)?;
        if request.allocation_size > super::usage::most(&place.share) {
            return Err(Refusal::DiskFull);
        }
        let is_root = matches!(place.at, Standing::Root);
        let parent = place.parent_number();
        let (action, granted, record, parent, mut rows) = match (verdict, existing, rows) {
            (OpenVerdict::Wait { breaks }, Some(_), Some(rows)) => {
                return wait(&mut unit, &place, rows, &breaks).await;
            }
            (OpenVerdict::Create { directory, granted }, None, _) => {
                let new = new_path(request, directory);
                let found: Found<ExistingPath> = Found::new(unit.clone(), place, None);
                let admitted = found.admit(Made, &Preconditions::default())?;
                let made = admitted.create(&new).await?;
                let rows = OpenRows::none((generation, made.record.node));
                (CreateAction::Created, granted, made.record, parent, rows)
            }
            (OpenVerdict::Open { granted, breaks }, Some(existing), rows) => {
                let mut rows = rows.unwrap_or_else(|| OpenRows::none((generation, existing.record.node)));
                apply(&mut rows, &breaks, now);
                (CreateAction::Opened, granted, existing.record, parent, rows)
            }
            (OpenVerdict::Overwrite { granted, breaks }, Some(existing), Some(mut rows)) => {
                apply(&mut rows, &breaks, now);
                let record = overwrite(&unit, place, existing, request).await?;
                let action = match request.disposition {
                    crate::open_file::Disposition::Supersede => CreateAction::Superseded,
                    _ => CreateAction::Overwritten,
                };
                (action, granted, record, parent, rows)
            }
            _ => return Err(Refusal::InvalidParameter),
        };
        let (kept, detail) = keep(request, actor, &record, &mut rows, now);
        let durable = durable(request, &kept).filter(|_| snapshot.is_none());
        let row = OpenRecord {
            account: unit.account().to_owned(),
            share: opener.share.to_string(),
            open: Open {
                handle: opener.handle,
                access: granted.rights(),
                share: request.share_access,
                locks: Vec::new(),
                kept,
                is_disconnected: false,
            },
            granted,
            options: request.options.bits(),
            client: opener.client.guid,
            lease: detail,
            durable,
            delete_on_close: request.options.delete_on_close,
            path: request.path.join("/"),
            session: opener.client.session,
            client_address: opener.client.address.clone(),
            client_name: opener.client.name.clone(),
            server: unit.services().incarnation(),
            opened: now,
            reconnected: None,
        };
        if snapshot.is_none() {
            if rows.all.count >= if is_root { OPENS_OF_ROOT } else { OPENS } {
                return Err(Refusal::InsufficientResources);
            }
            rows.insert(opener.handle, row.clone());
            rows.write(&mut unit);
            if durable.is_some() {
                let node = bytes::Bytes::copy_from_slice(&record.node.0.to_be_bytes());
                unit.put(key::durable(generation, opener.handle), node);
            }
        }
        let key = OpenKey {
            share: Arc::clone(opener.share),
            generation,
            node: record.node,
            handle: opener.handle,
            snapshot: snapshot.map(|moment| (moment, request.path.clone().into())),
        };
        Ok(Opening::Done(Box::new(NewlyOpened { key, record, parent, action, granted, maximal, row })))
    }
}

fn target<'a>(
    existing: &ExistingPath,
    place: &PathPlace,
    opens: &'a [Open],
    now: Timestamp,
) -> OpenTarget<'a> {
    let file = existing.record.file();
    let copy = file.and_then(|file| file.copy.as_ref());
    OpenTarget {
        is_directory: existing.record.is_directory(),
        is_root: matches!(place.at, Standing::Root),
        attributes: FileAttributes::from_bits(existing.record.attributes),
        delete_pending: existing.delete_pending,
        opens,
        is_leased: file.is_some_and(|file| lease::state(file.lease.as_ref(), now).is_locked()),
        is_being_copied: copy.is_some_and(|copy| copy.status == CopyStatus::Pending),
    }
}

/// Others are told, in a commit of their own; one of them that cannot be asked is closed.
async fn wait(
    unit: &mut Unit,
    place: &PathPlace,
    mut rows: OpenRows,
    breaks: &[(u64, Break)],
) -> Outcome<Opening> {
    let node = rows.node;
    match rows.apply(breaks, unit.now()).disconnected {
        Some(handle) => drop(opens::close_in(unit, &place.share, node.1, handle).await?),
        None => rows.write(unit),
    }
    Ok(Opening::Wait(node))
}

/// Others are told by the commit of the open itself.
fn apply(rows: &mut OpenRows, breaks: &[(u64, Break)], now: Timestamp) {
    if let Some(handle) = rows.apply(breaks, now).disconnected {
        rows.give_up(handle);
    }
}

fn new_path(request: &Create, directory: bool) -> NewPath {
    let permission = match &request.security {
        Some(descriptor) => Wish::Value(Permission::Descriptor(descriptor.clone())),
        None => Wish::Inherit,
    };
    let smb = SmbWishes { attributes: Wish::Value(request.attributes), permission, ..SmbWishes::NEW };
    let body = match directory {
        true => NewBody::Directory,
        false => NewBody::File { length: 0, headers: ContentHeaders::default() },
    };
    NewPath { smb, restores: false, metadata: Default::default(), posix: PosixWishes::NONE, body }
}

/// The file is emptied and keeps its identity, its name and who may use it.
async fn overwrite(
    unit: &Unit,
    place: PathPlace,
    existing: ExistingPath,
    request: &Create,
) -> Outcome<PathRecord> {
    let mut file = Present { unit: unit.clone(), place, policy: &CHANGES, record: existing };
    let record = &mut file.record.record;
    if !matches!(record.body, PathBody::File(_)) {
        return Err(Refusal::ObjectNameCollision);
    }
    let attributes = request.attributes.without(FileAttributes::DIRECTORY).and(FileAttributes::ARCHIVE);
    record.attributes = attributes.bits();
    record.note_write(unit.now(), false);
    Ok(file.resize(0).await?)
}

/// What the client may keep. A lease that it has already may grow, for all its opens.
fn keep(
    request: &Create,
    actor: Actor,
    record: &PathRecord,
    rows: &mut OpenRows,
    now: Timestamp,
) -> (Kept, Option<LeaseDetail>) {
    let is_file = matches!(record.body, PathBody::File(_)) && request.snapshot.is_none();
    match request.caching {
        CachingWanted::None => (Kept::default(), None),
        CachingWanted::Oplock(level) => {
            let granted = caching::grant(level.caching(), actor, &rows.opens(), now);
            // An oplock that may not write is a Level II.
            let held = if granted.write { granted } else { Caching { handle: false, ..granted } };
            let held = if is_file { OplockLevel::of(held).caching() } else { Caching::NONE };
            (Kept { held, owner: None, breaking: None }, None)
        }
        CachingWanted::Lease(wanted) => {
            let Some(owner) = actor.owner else { return (Kept::default(), None) };
            let own = rows.rows.iter().find(|(_, row)| row.open.kept.owner == Some(owner));
            let own = own.map(|(_, row)| (row.open.kept, row.lease.unwrap_or_default()));
            let state = wanted.state.as_lease();
            let granted =
                if is_file { caching::grant(state, actor, &rows.opens(), now) } else { Caching::NONE };
            let second = wanted.version == LeaseVersion::Two;
            match own {
                None => {
                    let epoch = if second { wanted.epoch.wrapping_add(1) } else { 0 };
                    let detail = LeaseDetail { is_second_version: second, parent: wanted.parent, epoch };
                    (Kept { held: granted, owner: Some(owner), breaking: None }, Some(detail))
                }
                Some((kept, detail)) => {
                    let held = match kept.breaking {
                        Some(_) => kept.held,
                        None => caching::upgrade(kept.held, state, granted),
                    };
                    let mut detail = detail;
                    if held != kept.held {
                        detail.epoch = detail.epoch.wrapping_add(1);
                        rows.change_lease(owner, |row| {
                            row.open.kept.held = held;
                            row.lease = Some(detail);
                        });
                    }
                    (Kept { held, ..kept }, Some(detail))
                }
            }
        }
    }
}

fn durable(request: &Create, kept: &Kept) -> Option<Durable> {
    let wanted = request.durable.filter(|_| kept.held.handle)?;
    Some(match wanted {
        DurableWanted::One => Durable { create_guid: None, milliseconds: DURABLE, disconnected: None },
        DurableWanted::Two { create_guid, timeout } => {
            let milliseconds = match u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX) {
                0 => DURABLE,
                asked => asked.min(LONGEST_DURABLE),
            };
            Durable { create_guid: Some(create_guid), milliseconds, disconnected: None }
        }
    })
}
