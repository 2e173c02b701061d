//! The statements, which stand in `sql/`.

/// What is asked of a connection again and again, and is prepared there once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sql {
    Commit,
    Resolve,
    Read,
    ReadAgain,
    ScanUp,
    ScanDown,
    KeysUp,
    KeysDown,
    Count,
    Skip,
    Digest,
    Outcome,
}

impl Sql {
    pub const COUNT: usize = 12;
}

/// Everything that makes the schema, in order. Again is harmless.
const OBJECTS: [&str; 6] = [
    include_str!("sql/tables.sql"),
    include_str!("sql/now_1.sql"),
    include_str!("sql/digest_1.sql"),
    include_str!("sql/commit_2.sql"),
    include_str!("sql/resolve_2.sql"),
    include_str!("sql/skip_1.sql"),
];

const COMMIT: &str = "SELECT now, refused, lost FROM lazuli.commit_2(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26,
    $27)";
const RESOLVE: &str = "SELECT committed, at, refused FROM lazuli.resolve_2($1, $2)";
const SKIP: &str = "SELECT kind, k, ver, v FROM lazuli.skip_1($1, $2, $3, $4, $5, $6)";
const DIGEST: &str = "SELECT lazuli.digest_1($1, $2)";
/// Groups of the last hour; a question that is asked after a crash, if ever.
const OUTCOME: &str =
    "SELECT at, array_position(ids, $1) - 1 = ANY (refused) FROM lazuli.grp WHERE ids @> ARRAY[$1::uuid]";

/// The statements for one schema.
pub(super) struct Texts([String; Sql::COUNT], String);

impl Texts {
    pub fn of(schema: &str) -> Self {
        let own = |text: &str| {
            text.replace("lazuli.", &format!("\"{schema}\".")).replace(
                "CREATE SCHEMA IF NOT EXISTS lazuli;",
                &format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\";"),
            )
        };
        let texts = [
            COMMIT,
            RESOLVE,
            include_str!("sql/read.sql"),
            include_str!("sql/read_again.sql"),
            include_str!("sql/scan_up.sql"),
            include_str!("sql/scan_down.sql"),
            include_str!("sql/keys_up.sql"),
            include_str!("sql/keys_down.sql"),
            include_str!("sql/count.sql"),
            SKIP,
            DIGEST,
            OUTCOME,
        ];
        Self(texts.map(own), OBJECTS.map(own).concat())
    }

    pub fn text(&self, sql: Sql) -> &str {
        self.0.get(sql as usize).map_or("", String::as_str)
    }

    pub fn objects(&self) -> &str {
        &self.1
    }
}
