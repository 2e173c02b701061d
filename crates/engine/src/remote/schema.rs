//! The tables and functions in the database, and what a server must know of them before it begins.

use super::connection::Connection;
use super::fault::Fault;
use super::options::ConnectError;
use super::settings::Settings;
use crate::host::Random;
use crate::txn::Ticks;

/// The newest format that this program can read, and the one that it makes.
const FORMAT: u32 = 1;
const FUNCTIONS: [&str; 5] = ["now_1", "digest_1", "commit_2", "resolve_2", "skip_1"];
/// The oldest version of PostgreSQL that has what is relied on.
const SERVER: i32 = 140_000;

pub(super) struct Found {
    pub cluster: Vec<u8>,
    /// What the database's clock says.
    pub told: Ticks,
    /// The latest moment that is known to have been handed out.
    pub persisted: Ticks,
}

/// Checks the database, makes what is missing, and reads what is there.
pub(super) async fn prepare(
    connection: &Connection,
    settings: &Settings,
    random: &Random,
) -> Result<Found, ConnectError> {
    check(connection, settings).await?;
    // Another server may be starting at the same time.
    let lock = format!("pg_advisory_lock(hashtextextended('lazuli schema {}', 0))", settings.schema);
    connection.execute(&format!("SET lock_timeout = '30s'; SELECT {lock}")).await?;
    // A transaction that failed ends with its connection, and so does the lock.
    let found = make(connection, settings, random).await?;
    let unlock = lock.replace("_lock(", "_unlock(");
    connection.execute(&format!("SELECT {unlock}; SET lock_timeout = '2s'")).await?;
    Ok(found)
}

async fn make(connection: &Connection, settings: &Settings, random: &Random) -> Result<Found, ConnectError> {
    let schema = &settings.schema;
    let there = connection
        .ask(
            "SELECT to_regclass($1) IS NOT NULL, to_regclass($4) IS NOT NULL, (SELECT count(*) FROM pg_proc AS p JOIN pg_namespace AS n
                ON n.oid = p.pronamespace WHERE n.nspname = $2 AND p.proname = ANY ($3))",
            &[&format!("\"{schema}\".setting"), schema, &&FUNCTIONS[..], &format!("\"{schema}\".clock")],
        )
        .await
        ?;
    let (tables, clock, functions): (bool, bool, i64) = match there.first() {
        Some(row) => {
            (row.try_get(0).unwrap_or(false), row.try_get(1).unwrap_or(false), row.try_get(2).unwrap_or(0))
        }
        None => (false, false, 0),
    };
    if tables
        && let Some(found) = format(connection, schema).await?
        && found > FORMAT
    {
        return Err(ConnectError::Newer { found, known: FORMAT });
    }
    if !tables || !clock || usize::try_from(functions) != Ok(FUNCTIONS.len()) {
        let objects = settings.texts.objects();
        connection.execute(&format!("BEGIN; {objects} COMMIT")).await?;
        tracing::info!(schema, "the schema is made");
    }
    let cluster = random.u128().to_be_bytes();
    connection
        .ask(
            &format!(
                "INSERT INTO \"{schema}\".setting VALUES ('format', $1), ('cluster', $2), ('dialect', $3)
                    ON CONFLICT DO NOTHING"
            ),
            &[&FORMAT.to_string().as_bytes(), &&cluster[..], &settings.dialect.name().as_bytes()],
        )
        .await?;
    same_dialect(connection, settings).await?;
    Ok(read(connection, schema).await?)
}

/// Commits of one dialect take locks that those of the other do not know of: both at once would lose writes.
async fn same_dialect(connection: &Connection, settings: &Settings) -> Result<(), ConnectError> {
    let text = format!("SELECT value FROM \"{}\".setting WHERE name = 'dialect'", settings.schema);
    let rows = connection.ask(&text, &[]).await?;
    let found: &[u8] = rows.first().and_then(|row| row.try_get(0).ok()).unwrap_or_default();
    if found != settings.dialect.name().as_bytes() {
        let found = String::from_utf8_lossy(found).into_owned();
        return Err(ConnectError::OtherDialect { found });
    }
    Ok(())
}

async fn format(connection: &Connection, schema: &str) -> Result<Option<u32>, ConnectError> {
    let text = format!("SELECT value FROM \"{schema}\".setting WHERE name = 'format'");
    let rows = connection.ask(&text, &[]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let value: &[u8] = row.try_get(0).unwrap_or_default();
    let found = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
    found.map(Some).ok_or_else(|| ConnectError::Database("the format is not a number".into()))
}

async fn read(connection: &Connection, schema: &str) -> Result<Found, Fault> {
    let text = format!(
        "SELECT (SELECT value FROM \"{schema}\".setting WHERE name = 'cluster'),
            \"{schema}\".now_1(false, 0, (SELECT base FROM \"{schema}\".clock)),
            (SELECT value FROM \"{schema}\".setting WHERE name = 'clock'),
            (SELECT max(at) FROM (SELECT at FROM \"{schema}\".grp ORDER BY id DESC LIMIT 1000) AS last)"
    );
    let rows = connection.ask(&text, &[]).await?;
    let row = rows.first().ok_or(Fault::lost("no settings"))?;
    let (cluster, told): (&[u8], i64) = (row.try_get(0)?, row.try_get(1)?);
    let (clock, last): (Option<&[u8]>, Option<i64>) = (row.try_get(2)?, row.try_get(3)?);
    let clock = clock.and_then(|clock| clock.try_into().ok()).map_or(0, u64::from_be_bytes);
    let last = last.and_then(|last| u64::try_from(last).ok()).unwrap_or_default();
    Ok(Found {
        cluster: cluster.to_vec(),
        told: Ticks(told.cast_unsigned()),
        persisted: Ticks(clock.max(last)),
    })
}

/// Before a server uses a node: the time that all servers are told there is not behind what this one has seen, nor behind the newest
/// groups, unless a test has moved the times of these. So what one server dates is never in the future of another, though the clock of a
/// new primary may be behind.
pub(super) async fn raise_clock(
    connection: &Connection,
    schema: &str,
    timeline: i32,
    seen: i64,
    is_moved: bool,
) -> Result<(), Fault> {
    let text = format!(
        "INSERT INTO \"{schema}\".clock AS old
            SELECT true, $1, greatest(0, CASE WHEN t.now < t.seen THEN t.seen - t.now / 8 * 7 END)
            FROM (SELECT \"{schema}\".now_1(false, 0, 0) AS now, greatest($2, CASE WHEN NOT $3 THEN
                (SELECT max(at) FROM (SELECT at FROM \"{schema}\".grp ORDER BY id DESC LIMIT 1000) AS newest) END) AS seen) AS t
            ON CONFLICT (one) DO UPDATE SET timeline = EXCLUDED.timeline,
                base = CASE WHEN old.timeline = EXCLUDED.timeline THEN greatest(old.base, EXCLUDED.base)
                    ELSE EXCLUDED.base END
            WHERE old.timeline <> EXCLUDED.timeline OR old.base < EXCLUDED.base"
    );
    connection.ask(&text, &[&timeline, &seen, &is_moved]).await.map(drop)
}

/// Notes the latest moment that was handed out, for those who begin later.
pub(super) async fn note_clock(connection: &Connection, schema: &str, now: Ticks) -> Result<(), Fault> {
    let text = format!(
        "INSERT INTO \"{schema}\".setting AS old VALUES ('clock', $1)
            ON CONFLICT (name) DO UPDATE SET value = greatest(old.value, EXCLUDED.value)"
    );
    connection.ask(&text, &[&&now.0.to_be_bytes()[..]]).await.map(drop)
}

/// A database that may lose what it acknowledged is refused. `synchronous_commit` is not looked at: each session sets it itself.
pub(super) async fn check(connection: &Connection, settings: &Settings) -> Result<(), ConnectError> {
    const ASK: &str = "SELECT current_setting('server_version_num')::int, current_setting('fsync'),
        current_setting('full_page_writes'), current_setting('synchronous_standby_names')";
    let unsafe_to = |why: &str| Err(ConnectError::Unsafe(why.into()));
    let rows = connection.ask(ASK, &[]).await?;
    let Some(row) = rows.first() else { return unsafe_to("its settings cannot be read") };
    if row.try_get(0).unwrap_or(0) < SERVER {
        return Err(ConnectError::Database("PostgreSQL 14 or later is needed".into()));
    }
    if settings.unsafe_database {
        return Ok(());
    }
    let set = |at: usize| row.try_get(at).unwrap_or("");
    if set(1) != "on" || set(2) != "on" {
        return unsafe_to("fsync and full_page_writes must be on");
    }
    if settings.nodes.len() > 1 && set(3).is_empty() {
        return unsafe_to(
            "synchronous_standby_names is empty, so that a standby may lack what was acknowledged",
        );
    }
    Ok(())
}
