//! A tree of another kind: names as they are sent, parents that are made, whole subtrees that go; no snapshots, no places.

use std::borrow::Cow;

use lazuli_engine::{Engine, Host, KeyRange, Plan, Reader, Scan};
use serde::{Deserialize, Serialize};

use super::*;
use crate::fault::{Answer, Fault};
use crate::store::upkeep::Work;
use crate::{ServiceOptions, Services};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Item {
    node: NodeId,
    is_directory: bool,
    name: String,
}

impl Item {
    fn new(name: &str, is_directory: bool) -> Self {
        Self { node: NodeId(rand::random()), is_directory, name: name.to_owned() }
    }
}

impl Entry for Item {
    const SPACE: Space = Space {
        entry: b'1',
        earlier: b'2',
        by_moment: b'3',
        snapshot: b'4',
        place: None,
        earlier_place: None,
        dead: b'5',
        depth: None,
    };
    const LONGEST_PATH: usize = usize::MAX;
    const TOO_DEEP: ErrorCode = ErrorCode::InvalidUri;
    const NOT_EMPTY: ErrorCode = ErrorCode::DirectoryNotEmpty;
    const NO_PARENT: ErrorCode = ErrorCode::RenameDestinationParentPathNotFound;
    const INTO_ITSELF: ErrorCode = ErrorCode::InvalidRenameSourcePath;

    fn to_value(&self) -> Value {
        postcard::to_stdvec(self).expect("written").into()
    }

    fn from_value(value: &[u8]) -> Result<Self, EngineError> {
        postcard::from_bytes(value).map_err(|_| EngineError::Unknown)
    }

    fn fold(name: &str) -> Cow<'_, str> {
        Cow::Borrowed(name)
    }

    fn node(&self) -> NodeId {
        self.node
    }

    fn is_directory(&self) -> bool {
        self.is_directory
    }

    fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    fn since(&self) -> u64 {
        0
    }

    fn set_since(&mut self, _: u64) {}

    fn content(&self) -> Option<&Content> {
        None
    }

    fn set_content(&mut self, _: Content) {}
}

const TREE: Tree = Tree { root: NodeId(1), generation: Generation([7; 12]), moment: 0 };

fn path(text: &str) -> Vec<String> {
    text.split('/').map(str::to_owned).collect()
}

async fn chain(reader: &Reader, text: &str) -> Answer<Chain<Item>> {
    TREE.resolve(reader, &path(text), None).await.map(|chain| chain.expect("no root"))
}

async fn create(engine: &Engine, text: &str) -> Answer<()> {
    let work = |reader: Reader| async move {
        let mut plan = Plan::new(());
        let mut chain = chain(&reader, text).await?;
        if chain.blocked || chain.found.is_some() {
            return Err(ErrorCode::ResourceAlreadyExists.into());
        }
        let slot = chain.make_parents(&TREE, &mut plan, |name| Item::new(name, true));
        TREE.insert(&mut plan, &slot, &mut Item::new(&chain.name, false));
        Ok::<_, Fault>(plan)
    };
    engine.run(None, work).await
}

async fn rename(engine: &Engine, from: &str, to: &str) -> Answer<()> {
    let work = |reader: Reader| async move {
        let mut plan = Plan::new(());
        let (source, target) = (chain(&reader, from).await?, chain(&reader, to).await?);
        let before = source.found.clone().ok_or(ErrorCode::SourcePathNotFound)?;
        let slot = source.slot().ok_or(ErrorCode::SourcePathNotFound)?;
        let (mut entry, now) = (before.clone(), Timestamp(0));
        let was = (&slot, &before, source.ancestors.len() + 1);
        TREE.relink(&reader, &mut plan, was, &target, &mut entry, now).await?;
        Ok::<_, Fault>(plan)
    };
    engine.run(None, work).await
}

async fn delete(engine: &Engine, text: &str, recursive: bool) -> Answer<()> {
    let work = |reader: Reader| async move {
        let mut plan = Plan::new(());
        let chain = chain(&reader, text).await?;
        let found = chain.found.as_ref().ok_or(ErrorCode::ResourceNotFound)?;
        let slot = chain.slot().ok_or(ErrorCode::ResourceNotFound)?;
        match recursive {
            true => TREE.unlink_all(&reader, &mut plan, &slot, found).await?,
            false => TREE.unlink(&reader, &mut plan, &slot, found).await?,
        }
        Ok::<_, Fault>(plan)
    };
    engine.run(None, work).await
}

async fn everything(engine: &Engine) -> Vec<String> {
    let reader = engine.reader().await.expect("a reader");
    let page = TREE.walk::<Item>(&reader, TREE.root, None, None, 1_000).await.expect("walked");
    page.items.into_iter().map(|(path, _)| path.join("/")).collect()
}

#[tokio::test]
async fn parents_are_made_and_subtrees_go() {
    let services = Services::new(Engine::memory(Host::real()), ServiceOptions::default());
    let engine = services.engine();
    for name in ["a/b/c", "a/B/c", "a/b/d", "e"] {
        create(engine, name).await.expect("created");
    }
    assert_eq!(everything(engine).await, ["a", "a/B", "a/B/c", "a/b", "a/b/c", "a/b/d", "e"]);
    let told = |answer: Answer<()>| answer.map_err(|fault| fault.0.code);
    assert_eq!(
        told(create(engine, "e/f").await),
        Err(ErrorCode::ResourceAlreadyExists),
        "a file is in the way"
    );
    assert_eq!(told(rename(engine, "a", "a/b/x").await), Err(ErrorCode::InvalidRenameSourcePath));
    assert_eq!(told(rename(engine, "a", "a/x").await), Err(ErrorCode::InvalidRenameSourcePath));
    assert_eq!(told(rename(engine, "a", "x/y").await), Err(ErrorCode::RenameDestinationParentPathNotFound));
    assert_eq!(told(rename(engine, "a/B", "a/b").await), Err(ErrorCode::DirectoryNotEmpty));
    assert_eq!(told(delete(engine, "a", false).await), Err(ErrorCode::DirectoryNotEmpty));
    rename(engine, "a/b", "z").await.expect("renamed");
    assert_eq!(everything(engine).await, ["a", "a/B", "a/B/c", "e", "z", "z/c", "z/d"]);
    delete(engine, "a", true).await.expect("deleted");
    assert_eq!(everything(engine).await, ["e", "z", "z/c", "z/d"]);
    // The sweeper finds the directories one below the other.
    let work = Work::take(&services).await.expect("read").expect("alone");
    let reader = engine.reader().await.expect("a reader");
    let dead = async |reader: &Reader| {
        let page = reader.scan(Scan::of(key::all_dead(Item::SPACE))).await.expect("listed");
        page.items.iter().filter_map(|(key, _)| key::node_of(key)).collect::<Vec<_>>()
    };
    assert_eq!(dead(&reader).await.len(), 1);
    for _ in 0..2 {
        for node in dead(&engine.reader().await.expect("a reader")).await {
            assert!(!sweep_directory::<Item>(&work, node).await.expect("swept"));
        }
    }
    let reader = engine.reader().await.expect("a reader");
    assert!(dead(&reader).await.is_empty());
    let left = reader.scan(Scan { limit: 100, ..Scan::of(KeyRange::prefix(vec![Item::SPACE.entry])) }).await;
    assert_eq!(left.expect("listed").items.len(), 4);
}

/// However deep and however long the names: the entry fits, and a rename is a few rows.
#[tokio::test]
async fn as_deep_as_a_path_goes() {
    let engine = Engine::memory(Host::real());
    let name = "ä".repeat(255);
    let deep = vec![name.as_str(); 250].join("/");
    create(&engine, &deep).await.expect("created");
    assert_eq!(everything(&engine).await.len(), 250);
    let parent = deep.rsplit_once('/').expect("deep").0;
    rename(&engine, &deep, &format!("{parent}/x")).await.expect("renamed");
    rename(&engine, &name, "top").await.expect("renamed");
    assert_eq!(everything(&engine).await[1], format!("top/{name}"));
}
