//! The whole key space on one screen.
//!
//! ```text
//! p account 0 service              service properties of an account
//! c account 0 name                 container                     -> ContainerRecord
//! b generation name                blob, committed base          -> BlobRecord
//! s generation name 0 ticks        snapshot                      -> BlobRecord
//! S generation name                snapshots between two moments are deleted, their keys to be swept -> DeadSnapshots
//! K generation name                snapshots that were soft deleted together -> KeptSnapshots
//! V generation name 0 ticks        version that is not the current one -> BlobRecord
//! D generation name                soft-deleted base             -> BlobRecord
//! C account 0 name 0 ticks         soft-deleted container        -> DeletedContainer
//! d until key                      what is soft deleted, by the moment at which it is gone for good -> nothing
//! i generation tag 0 value 0 name   blob by one of its tags       -> nothing
//! E end generation name            blob that expires then        -> nothing
//! H generation until key           what is held until then, by the key of its record -> nothing
//! h generation name                staged blob: has uncommitted blocks -> StagedRecord
//! W generation name                append blob whose small blocks are to be packed -> nothing
//! u stage block                    uncommitted block             -> BlockRecord
//! ~ content                        bytes up to the inline limit
//! m content end number             segment of a manifest, by the offset of its end
//! n content                        the parent of a manifest: the older one that it took blocks over from
//! N parent content                 a manifest with this parent
//! x layer end start kind           interval of a layer of a sparse content, by the offset of its end
//! f chunk                          how many intervals share a chunk (absent: one)
//! r content                        further holders of a shared content (absent: one holder)
//! w content                        manifest being written        -> Intent; one of a dead server is an orphan
//! e content                        stage whose blocks this manifest adopted, keys to be swept
//! g content                        dead content, its chunks to be released; or a parent to be absorbed
//! G generation                     dead container, its keys to be swept
//! J copy                           copy under way, by its id     -> CopyJob
//! M account 0 subscription due event   event that is to be delivered from this moment on -> EventRow
//! a account 0 name                 share                         -> ShareRecord
//! R generation                     what the parts of a share's usage are allowed together -> UsageAllowed
//! R generation p part              how much some of its files are together -> UsagePart
//! U account 0 name 0 ticks         soft-deleted share            -> DeletedShare
//! A generation moment              snapshot of a share           -> ShareRecord
//! F parent name                    file or directory, the name in upper case -> PathRecord
//! F node                           file of several names: its record, each name holds only the node -> PathRecord
//! I node                           where a file or directory stands -> PlaceRecord
//! o node moment                    where it stood, up to the snapshot of this moment -> PlaceRecord
//! P parent name 0 moment           what it was, up to the snapshot of this moment -> PathRecord
//! L generation moment parent name  the same by the moment        -> nothing
//! Y generation moment              snapshot of a share that is gone, what it alone showed to be swept -> GoneSnapshot
//! T node                           dead directory, its entries to be swept
//! X generation                     dead share, its keys to be swept
//! O generation node                the opens of a file or directory together -> OpensRecord
//! O generation node handle         one of them                   -> OpenRecord
//! Q generation node                file that goes when it is closed
//! Z generation handle              open that outlives its connection -> the node that it is of
//! lw generation                    servers on which a directory of the share is watched -> Watchers
//! ls incarnation o generation node the opens of a node were changed by another server than this
//! ld node                          how many directories stand below a directory, one in the other
//! lmp                              how far a move into this store came; no server works over it
//! lmc chunk                        what a chunk of the store that is moved is called here
//! ls incarnation c number          a change in a share that this server watches -> Changed
//! B generation number              security descriptor of files, by the digest of its bytes -> PermissionRecord
//! q account 0 name                 queue                         -> QueueRecord
//! k generation id                  message                       -> MessageFields
//! v generation visible receipt id  message by the moment it is visible from -> when it expires
//! t account 0 name                 table, name in lower case     -> TableRecord
//! y generation partition 0 row     entity, keys in UTF-16 order  -> StoredEntity; its segments are under `m`
//! z incarnation                    server that is alive          -> ServerRow
//! j name                           job that one server at a time does -> JobRow
//! o name                           setting that all servers share, of one of the kinds in record/settings.rs
//! ```
//! A generation is a container's identity: deleting a container is one commit on its `c` key. Listings walk
//! `b` alone; snapshots, versions, deleted and uncommitted blobs are merged in only when asked for. Names hold no NUL.

use std::ops::Bound;

use lazuli_engine::{Key, KeyRange};
use lazuli_model::time::Timestamp;

use super::seal::KeyName;
use super::table::utf16_order;

/// The identity of one container (queue, table) between its creation and its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Generation(pub [u8; 12]);

impl Generation {
    /// Creation time makes it ordered, chance makes it unique among containers of one tick.
    pub fn new(ticks: u64, chance: u32) -> Self {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&ticks.to_be_bytes());
        bytes[8..].copy_from_slice(&chance.to_be_bytes());
        Self(bytes)
    }
}

/// Names the bytes of one blob or block; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct ContentId(pub u128);

impl ContentId {
    /// Chance makes it unique, whatever the time; the time only puts it beside its neighbours.
    pub fn fresh(now: Timestamp) -> Self {
        Self(crate::fresh_uuid_of(now).as_u128())
    }
}

/// The identity of a server between its start, or its return from being taken for dead, and its end. Never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Incarnation(pub u128);

impl Incarnation {
    pub fn fresh() -> Self {
        Self(crate::fresh_uuid().as_u128())
    }
}

fn join(parts: &[&[u8]]) -> Key {
    let mut key = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    for part in parts {
        key.extend_from_slice(part);
    }
    key.into()
}

pub(in crate::store) fn service_properties(account: &str, service: u8) -> Key {
    join(&[b"p", account.as_bytes(), &[0, service]])
}

pub(in crate::store) fn container(account: &str, name: &str) -> Key {
    join(&[b"c", account.as_bytes(), &[0], name.as_bytes()])
}

pub(in crate::store) fn containers(account: &str) -> Key {
    join(&[b"c", account.as_bytes(), &[0]])
}

pub(in crate::store) fn blob(generation: Generation, name: &str) -> Key {
    join(&[b"b", &generation.0, name.as_bytes()])
}

/// Every committed blob of a container; what follows in a key is the name.
pub fn blobs(generation: Generation) -> Key {
    join(&[b"b", &generation.0])
}

pub(in crate::store) fn snapshot(generation: Generation, name: &str, ticks: u64) -> Key {
    join(&[b"s", &generation.0, name.as_bytes(), &[0], &ticks.to_be_bytes()])
}

pub fn snapshots_of(generation: Generation, name: &str) -> KeyRange {
    KeyRange::prefix(join(&[b"s", &generation.0, name.as_bytes(), &[0]]))
}

/// The snapshots of a name behind one moment, up to another.
pub fn snapshots_between(generation: Generation, name: &str, from: u64, up_to: u64) -> KeyRange {
    let behind = |ticks: u64| snapshot(generation, name, ticks.saturating_add(1));
    KeyRange::new(behind(from), behind(up_to))
}

/// Every snapshot of a container; what follows is the name, NUL and the ticks.
pub fn snapshots(generation: Generation) -> Key {
    join(&[b"s", &generation.0])
}

/// When the snapshot or version of a key was made, or the container of a key deleted.
pub fn snapshot_ticks(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(key.len().checked_sub(8)?..)?.try_into().ok()?))
}

pub(in crate::store) fn version(generation: Generation, name: &str, ticks: u64) -> Key {
    join(&[b"V", &generation.0, name.as_bytes(), &[0], &ticks.to_be_bytes()])
}

pub fn versions_of(generation: Generation, name: &str) -> KeyRange {
    KeyRange::prefix(join(&[b"V", &generation.0, name.as_bytes(), &[0]]))
}

/// Every version of a container that is not current; what follows is the name, NUL and the ticks.
pub fn versions(generation: Generation) -> Key {
    join(&[b"V", &generation.0])
}

pub(in crate::store) fn deleted_blob(generation: Generation, name: &str) -> Key {
    join(&[b"D", &generation.0, name.as_bytes()])
}

/// Every soft-deleted base of a container; what follows in a key is the name.
pub fn deleted_blobs(generation: Generation) -> Key {
    join(&[b"D", &generation.0])
}

/// What is soft deleted under `target` is gone for good at this moment.
pub fn due(until: Timestamp, target: &[u8]) -> Key {
    join(&[b"d", &until.0.to_be_bytes(), target])
}

/// What is due up to this moment.
pub fn all_due(now: Timestamp) -> KeyRange {
    KeyRange::new(&b"d"[..], join(&[b"d", &now.0.saturating_add(1).to_be_bytes()]))
}

/// The key that a key of [`all_due`] is about.
pub fn due_target(key: &[u8]) -> Option<&[u8]> {
    key.get(9..)
}

pub(in crate::store) fn deleted_container(account: &str, name: &str, ticks: u64) -> Key {
    join(&[b"C", account.as_bytes(), &[0], name.as_bytes(), &[0], &ticks.to_be_bytes()])
}

/// Of one name: what follows is the moment of the deletion.
pub fn deleted_containers_of(account: &str, name: &str) -> KeyRange {
    KeyRange::prefix(join(&[b"C", account.as_bytes(), &[0], name.as_bytes(), &[0]]))
}

/// Of an account: what follows is the name, NUL and the moment of the deletion.
pub fn deleted_containers(account: &str) -> Key {
    join(&[b"C", account.as_bytes(), &[0]])
}

/// What follows in a key is the blob's name.
pub const NAME_AT: usize = 13;

pub fn dead_snapshots(generation: Generation, name: &str) -> Key {
    join(&[b"S", &generation.0, name.as_bytes()])
}

/// An append blob whose small blocks are to be packed.
pub fn to_pack(generation: Generation, name: &str) -> Key {
    join(&[b"W", &generation.0, name.as_bytes()])
}

/// The blob that such a key is about.
pub fn blob_to_pack(to_pack: &[u8]) -> Key {
    join(&[b"b", to_pack.get(1..).unwrap_or_default()])
}

/// Of all containers.
pub fn all_to_pack() -> KeyRange {
    KeyRange::prefix(&b"W"[..])
}

pub fn kept_snapshots(generation: Generation, name: &str) -> Key {
    join(&[b"K", &generation.0, name.as_bytes()])
}

/// Of one container.
pub fn kept_snapshots_in(generation: Generation) -> Key {
    join(&[b"K", &generation.0])
}

/// Of one container.
pub fn dead_snapshots_in(generation: Generation) -> Key {
    join(&[b"S", &generation.0])
}

/// Of all containers.
pub fn all_dead_snapshots() -> KeyRange {
    KeyRange::prefix(&b"S"[..])
}

/// A blob in the index of tags. Neither tags nor values nor names hold a NUL.
pub fn tagged(generation: Generation, tag: &str, value: &str, name: &str) -> Key {
    join(&[b"i", &generation.0, tag.as_bytes(), &[0], value.as_bytes(), &[0], name.as_bytes()])
}

/// Of one container.
pub fn all_tagged(generation: Generation) -> Key {
    join(&[b"i", &generation.0])
}

/// From the first to behind the last key of a tag with values within the bounds. A value is followed by NUL, and
/// no character of a value is lower than a space.
pub fn tagged_between(
    generation: Generation,
    tag: &str,
    lower: Bound<&str>,
    upper: Bound<&str>,
) -> (Key, Key) {
    let at =
        |value: &str, end: &[u8]| join(&[b"i", &generation.0, tag.as_bytes(), &[0], value.as_bytes(), end]);
    let start = match lower {
        Bound::Unbounded => at("", &[]),
        Bound::Included(value) => at(value, &[]),
        Bound::Excluded(value) => at(value, &[1]),
    };
    let end = match upper {
        Bound::Unbounded => join(&[b"i", &generation.0, tag.as_bytes(), &[1]]),
        Bound::Included(value) => at(value, &[1]),
        Bound::Excluded(value) => at(value, &[]),
    };
    (start, end)
}

/// What a key of this tag says beside the tag.
pub fn tagged_value_and_name<'a>(key: &'a [u8], tag: &str) -> Option<(&'a str, &'a str)> {
    let rest = std::str::from_utf8(key.get(NAME_AT + tag.len() + 1..)?).ok()?;
    rest.split_once('\0')
}

/// A blob that expires at a moment, in the order of the moments.
pub fn expiring(end: Timestamp, generation: Generation, name: &str) -> Key {
    join(&[b"E", &end.0.to_be_bytes(), &generation.0, name.as_bytes()])
}

/// Every blob whose time has come.
pub fn all_expired(now: Timestamp) -> KeyRange {
    KeyRange::new(Key::from_static(b"E"), join(&[b"E", &now.0.saturating_add(1).to_be_bytes()]))
}

/// The moment, the container and the name that a key of [`expiring`] says.
pub fn expiring_of(key: &[u8]) -> Option<(Timestamp, Generation, &str)> {
    let (end, rest) = key.get(1..)?.split_first_chunk::<8>()?;
    let (generation, name) = rest.split_first_chunk::<12>()?;
    let name = std::str::from_utf8(name).ok()?;
    Some((Timestamp(u64::from_be_bytes(*end)), Generation(*generation), name))
}

/// A blob, snapshot or version that is held until a moment, by the key of its record.
pub fn held(generation: Generation, until: Timestamp, record: &Key) -> Key {
    join(&[b"H", &generation.0, &until.0.to_be_bytes(), record])
}

/// Of one container.
pub fn all_held(generation: Generation) -> Key {
    join(&[b"H", &generation.0])
}

/// Of one container, what is held longer than up to a moment.
pub fn held_after(generation: Generation, now: Timestamp) -> KeyRange {
    let end = KeyRange::prefix(all_held(generation)).end;
    let start = join(&[b"H", &generation.0, &now.0.saturating_add(1).to_be_bytes()]);
    KeyRange { start, end }
}

/// Until when, of a key of [`held`].
pub fn held_until(key: &[u8]) -> Option<Timestamp> {
    Some(Timestamp(u64::from_be_bytes(key.get(NAME_AT..NAME_AT + 8)?.try_into().ok()?)))
}

/// The containers of all accounts.
pub fn every_container() -> KeyRange {
    KeyRange::prefix(&b"c"[..])
}

pub fn tags_indexed() -> Key {
    Key::from_static(b"otags-indexed")
}

pub(in crate::store) fn staged(generation: Generation, name: &str) -> Key {
    join(&[b"h", &generation.0, name.as_bytes()])
}

pub fn all_staged(generation: Generation) -> Key {
    join(&[b"h", &generation.0])
}

/// The staged blobs of all containers.
pub fn every_staged() -> KeyRange {
    KeyRange::prefix(&b"h"[..])
}

pub fn block(stage: ContentId, id: &[u8]) -> Key {
    join(&[b"u", &stage.0.to_be_bytes(), id])
}

/// Every uncommitted block of a stage; what follows in a key is the block id.
pub fn blocks(stage: ContentId) -> KeyRange {
    KeyRange::prefix(join(&[b"u", &stage.0.to_be_bytes()]))
}

pub const BLOCK_ID_AT: usize = 17;

pub fn inline(content: ContentId) -> Key {
    join(&[b"~", &content.0.to_be_bytes()])
}

pub fn segment(content: ContentId, end: u64, number: u32) -> Key {
    join(&[b"m", &content.0.to_be_bytes(), &end.to_be_bytes(), &number.to_be_bytes()])
}

pub fn segments(content: ContentId) -> KeyRange {
    KeyRange::prefix(join(&[b"m", &content.0.to_be_bytes()]))
}

pub fn parent(content: ContentId) -> Key {
    join(&[b"n", &content.0.to_be_bytes()])
}

pub fn child(parent: ContentId, content: ContentId) -> Key {
    join(&[b"N", &parent.0.to_be_bytes(), &content.0.to_be_bytes()])
}

/// Every manifest with this parent.
pub fn children(parent: ContentId) -> KeyRange {
    KeyRange::prefix(join(&[b"N", &parent.0.to_be_bytes()]))
}

/// The younger one of the two manifests that a key of [`children`] names.
pub fn child_of(key: &[u8]) -> Option<ContentId> {
    content_from(key.get(17..)?)
}

pub fn interval(layer: ContentId, end: u64, start: u64, kind: u8) -> Key {
    join(&[b"x", &layer.0.to_be_bytes(), &end.to_be_bytes(), &start.to_be_bytes(), &[kind]])
}

/// Every interval of a layer.
pub fn intervals(layer: ContentId) -> KeyRange {
    KeyRange::prefix(join(&[b"x", &layer.0.to_be_bytes()]))
}

/// Start, end and kind of the interval that a key names.
pub fn interval_of(key: &[u8]) -> Option<(u64, u64, u8)> {
    let (end, rest) = key.get(17..)?.split_first_chunk::<8>()?;
    let (start, kind) = rest.split_first_chunk::<8>()?;
    match kind {
        [kind] => Some((u64::from_be_bytes(*start), u64::from_be_bytes(*end), *kind)),
        _ => None,
    }
}

pub fn fragments(chunk: u128) -> Key {
    join(&[b"f", &chunk.to_be_bytes()])
}

pub fn adopted(content: ContentId) -> Key {
    join(&[b"e", &content.0.to_be_bytes()])
}

pub fn all_adopted() -> KeyRange {
    KeyRange::prefix(&b"e"[..])
}

pub fn holders(content: ContentId) -> Key {
    join(&[b"r", &content.0.to_be_bytes()])
}

pub fn intent(content: ContentId) -> Key {
    join(&[b"w", &content.0.to_be_bytes()])
}

pub fn intents() -> KeyRange {
    KeyRange::prefix(&b"w"[..])
}

pub fn server(incarnation: Incarnation) -> Key {
    join(&[b"z", &incarnation.0.to_be_bytes()])
}

pub fn servers() -> KeyRange {
    KeyRange::prefix(&b"z"[..])
}

/// The server that a key of [`servers`] names.
pub fn incarnation_of(key: &[u8]) -> Option<Incarnation> {
    content_of(key).map(|ContentId(number)| Incarnation(number))
}

pub fn job(name: &str) -> Key {
    join(&[b"j", name.as_bytes()])
}

pub fn delegation_secret() -> Key {
    Key::from_static(b"odelegation-secret")
}

/// The secret of an encryption scope.
pub fn scope_secret(name: KeyName) -> Key {
    join(&[b"oscope-secret", &name.0.to_be_bytes()])
}

pub fn store_format() -> Key {
    Key::from_static(b"oformat")
}

/// How far a move into this store came.
pub fn move_place() -> Key {
    Key::from_static(b"lmp")
}

/// What a chunk of the store that is moved is called here.
pub fn moved_chunk(id: u128) -> Key {
    join(&[b"lmc", &id.to_be_bytes()])
}

pub fn clock_offset() -> Key {
    Key::from_static(b"oclock-offset")
}

pub fn dead_content(content: ContentId) -> Key {
    join(&[b"g", &content.0.to_be_bytes()])
}

pub fn dead_contents() -> KeyRange {
    KeyRange::prefix(&b"g"[..])
}

pub fn copy_job(id: uuid::Uuid) -> Key {
    join(&[b"J", id.as_bytes()])
}

pub fn copy_jobs() -> KeyRange {
    KeyRange::prefix(&b"J"[..])
}

/// An event that is to be delivered to a subscription.
pub fn event(account: &str, subscription: u64, due: Timestamp, event: u128) -> Key {
    let (due, event) = (due.0.to_be_bytes(), event.to_be_bytes());
    join(&[b"M", account.as_bytes(), &[0], &subscription.to_be_bytes(), &due, &event])
}

/// Those of a subscription that are due.
pub fn events_due(account: &str, subscription: u64, now: Timestamp) -> KeyRange {
    let at = |due: u64| {
        let (subscription, due) = (subscription.to_be_bytes(), due.to_be_bytes());
        join(&[b"M", account.as_bytes(), &[0], &subscription, &due])
    };
    KeyRange::new(at(0), at(now.0.saturating_add(1)))
}

/// Of all subscriptions.
pub fn events() -> KeyRange {
    KeyRange::prefix(&b"M"[..])
}

/// Behind every event of a subscription.
pub fn events_end(account: &str, subscription: u64) -> Key {
    join(&[b"M", account.as_bytes(), &[0], &subscription.to_be_bytes(), &[0xff; 25]])
}

/// The account, subscription and moment that the key of an event names.
pub fn event_place(key: &[u8]) -> Option<(&str, u64, Timestamp)> {
    let (names, rest) = key.get(1..)?.split_at_checked(key.len().checked_sub(33)?)?;
    let account = std::str::from_utf8(names.strip_suffix(&[0])?).ok()?;
    let (subscription, rest) = rest.split_first_chunk::<8>()?;
    let due = rest.first_chunk::<8>()?;
    Some((account, u64::from_be_bytes(*subscription), Timestamp(u64::from_be_bytes(*due))))
}

/// The event that a key names.
pub fn event_of(key: &[u8]) -> Option<u128> {
    Some(u128::from_be_bytes(*key.last_chunk::<16>()?))
}

pub fn queue(account: &str, name: &str) -> Key {
    join(&[b"q", account.as_bytes(), &[0], name.as_bytes()])
}

pub fn queues(account: &str) -> Key {
    join(&[b"q", account.as_bytes(), &[0]])
}

/// The queues of all accounts.
pub fn every_queue() -> KeyRange {
    KeyRange::prefix(&b"q"[..])
}

pub(in crate::store) fn message(generation: Generation, id: u128) -> Key {
    join(&[b"k", &generation.0, &id.to_be_bytes()])
}

pub fn messages(generation: Generation) -> KeyRange {
    KeyRange::prefix(join(&[b"k", &generation.0]))
}

pub(in crate::store) fn visible(generation: Generation, visible: u64, receipt: u64, id: u128) -> Key {
    join(&[b"v", &generation.0, &visible.to_be_bytes(), &receipt.to_be_bytes(), &id.to_be_bytes()])
}

/// What follows in a key is the order of messages: visible from, receipt, id.
pub fn all_visible(generation: Generation) -> KeyRange {
    KeyRange::prefix(join(&[b"v", &generation.0]))
}

pub const VISIBLE_AT: usize = 13;

pub fn dead_generation(generation: Generation) -> Key {
    join(&[b"G", &generation.0])
}

pub fn dead_generations() -> KeyRange {
    KeyRange::prefix(&b"G"[..])
}

/// The content that a key with a one-byte prefix names.
pub fn content_of(key: &[u8]) -> Option<ContentId> {
    content_from(key.get(1..17)?)
}

pub fn content_from(bytes: &[u8]) -> Option<ContentId> {
    Some(ContentId(u128::from_be_bytes(bytes.try_into().ok()?)))
}

pub fn generation_of(key: &[u8]) -> Option<Generation> {
    Some(Generation(key.get(1..13)?.try_into().ok()?))
}

/// Tables are looked up without regard to case.
pub(in crate::store) fn table(account: &str, name: &str) -> Key {
    join(&[b"t", account.as_bytes(), &[0], name.to_ascii_lowercase().as_bytes()])
}

pub fn tables(account: &str) -> Key {
    join(&[b"t", account.as_bytes(), &[0]])
}

/// Every entity of a table; see [`crate::store::table::utf16_order`] for how the keys are written behind it.
pub fn entities(generation: Generation) -> Key {
    join(&[b"y", &generation.0])
}

pub(in crate::store) fn entity(generation: Generation, partition: &str, row: &str) -> Key {
    let (partition, row) = (utf16_order::encode(partition), utf16_order::encode(row));
    join(&[b"y", &generation.0, &partition, &[0], &row])
}

/// Where the partition key begins in the key of an entity.
pub const ENTITY_KEYS_AT: usize = 13;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_an_event_is_read_as_it_was_written() {
        let due = Timestamp(7);
        let key = event("acct", 0, due, 9);
        assert_eq!((event_place(&key), event_of(&key)), (Some(("acct", 0, due)), Some(9)));
        assert!(events_end("acct", 0) > event("acct", 0, Timestamp(u64::MAX), u128::MAX));
        assert!(events_end("acct", 0) < event("acct", 1, Timestamp(0), 0));
        for short in [&b"M"[..], b"Macct", &key[..20]] {
            assert_eq!(event_place(short), None);
        }
    }

    #[test]
    fn contents_lie_in_the_order_in_which_they_were_made() {
        let made: Vec<Key> = (0..50)
            .map(|second| inline(ContentId::fresh(Timestamp::from_unix_ticks(0).plus_seconds(second))))
            .collect();
        assert!(made.is_sorted());
        let now = Timestamp::from_unix_ticks(1);
        assert_ne!(ContentId::fresh(now), ContentId::fresh(now), "chance tells apart what the time does not");
    }
}
