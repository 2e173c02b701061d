//! Nodes that may not be taken for the primary. Where PostgreSQL is not installed, these say so and pass.

use super::super::options::{Bytes, RemoteOptions};
use super::*;
use crate::host::Host;
use lazuli_testing::postgres::{Postgres, shared};

const AT_ONCE: Duration = Duration::ZERO;

fn settings(database: &str, schema: &str) -> Arc<Settings> {
    let mut options = RemoteOptions::new(database, Bytes::memory());
    options.schema = schema.into();
    Arc::new(Settings::new(&options).unwrap())
}

fn over(nodes: &[&Postgres]) -> Primaries {
    let hosts: Vec<String> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
    let url = format!("postgres://lazuli@{}/postgres", hosts.join(","));
    Primaries::new(settings(&url, "lazuli"), Handle::current())
}

async fn chosen(primaries: &Primaries) -> Result<Primary, String> {
    primaries.choose().await.map(|(_, primary)| primary)
}

async fn refused(primaries: &Primaries, because: &str) {
    let why = chosen(primaries).await.unwrap_err();
    assert!(why.contains(because), "{why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_highest_timeline_is_followed_and_never_a_lower_one_again() {
    let Some(old) = Postgres::start(&[]) else { return };
    let mut new = old.standby();
    refused(&over(&[&new]), "not the primary").await;
    let primaries = over(&[&old, &new]);
    let first = chosen(&primaries).await.unwrap();
    assert_eq!(first, Primary { generation: 1, node: 0, timeline: 1 });
    primaries.publish(first);
    assert_eq!(chosen(&primaries).await, Ok(first), "the same node goes on as it was");
    // Both take writes from now on, as when the agent of the old one died.
    assert_eq!(new.ask("SELECT pg_promote()"), "t");
    let second = chosen(&primaries).await.unwrap();
    assert_eq!(second, Primary { generation: 2, node: 1, timeline: 2 });
    assert_eq!(chosen(&over(&[&new, &old])).await.map(|primary| primary.node), Ok(0), "in whichever order");
    primaries.publish(second);
    new.kill();
    refused(&primaries, "its timeline is behind one that was seen").await;
    // By who has seen nothing else it is taken: the higher timeline is all that there is to know.
    assert!(chosen(&over(&[&old, &new])).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_not_the_one_that_was_known_is_not_followed() {
    let Some(shared) = shared() else { return };
    let random = Host::real().random;
    let schema = format!("t_choice_{}_{:x}", std::process::id(), random.u128() >> 96);
    let mut settings = settings(&shared.url(), &schema);
    Arc::get_mut(&mut settings).unwrap().unsafe_database = true;
    let primaries = || Primaries::new(settings.clone(), Handle::current());
    let (connection, _) = primaries().first(Duration::from_secs(10)).await.unwrap();
    let known = primaries();
    known.remember_cluster(vec![7; 16]);
    refused(&known, "does not exist").await;
    let found = schema::prepare(&connection, &settings, &random).await.unwrap();
    refused(&known, "another cluster").await;
    known.remember_cluster(found.cluster);
    assert!(chosen(&known).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_would_lose_what_it_acknowledges_is_refused() {
    let Some(node) = Postgres::start(&[]) else { return };
    let (one, two) = (over(&[&node]), over(&[&node, &node]));
    let (connection, _) = one.first(AT_ONCE).await.unwrap();
    let why = async |primaries: &Primaries| match schema::check(&connection, &primaries.settings).await {
        Err(ConnectError::Unsafe(why)) => why,
        other => format!("not refused: {other:?}"),
    };
    assert!(schema::check(&connection, &one.settings).await.is_ok());
    assert!(why(&two).await.contains("synchronous_standby_names is empty"));
    for setting in ["fsync", "full_page_writes"] {
        set(&node, setting, "off").await;
        let why = why(&one).await;
        assert!(why.contains(setting), "{setting}: {why}");
        set(&node, setting, "on").await;
    }
    // A standby is demanded, and there is none.
    set(&node, "synchronous_standby_names", "nobody").await;
    assert!(schema::check(&connection, &two.settings).await.is_ok());
    refused(&two, "its commits do not return").await;
    let Err(ConnectError::NoPrimary(why)) = one.first(AT_ONCE).await.map(drop) else { panic!("it is taken") };
    assert!(why.contains("its commits do not return"), "{why}");
    set(&node, "synchronous_standby_names", "").await;
    set(&node, "default_transaction_read_only", "on").await;
    refused(&one, "not the primary").await;
}

/// Of all sessions, also those that there are.
async fn set(node: &Postgres, setting: &str, value: &str) {
    node.psql(&format!("ALTER SYSTEM SET {setting} = '{value}'"));
    node.ask("SELECT pg_reload_conf()");
    let until = Instant::now() + Duration::from_secs(20);
    while node.ask(&format!("SHOW {setting}")) != value {
        assert!(Instant::now() < until, "{setting} is not set");
        sleep(Duration::from_millis(20)).await;
    }
    // Each backend looks at it by itself.
    sleep(Duration::from_millis(200)).await;
}
