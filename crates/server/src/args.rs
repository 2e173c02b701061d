//! The command line. Every setting is one field of [`Settings`]: the flag, its variable and its key in the
//! TOML file carry the same name, so that a user learns each once.

use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use serde::Deserialize;

use crate::config::List;

/// Azure Storage as one program: Blob, Queue, Table and File for the official clients, unchanged.
#[derive(Debug, Parser)]
#[command(name = "lazuli", disable_version_flag = true, args_conflicts_with_subcommands = false)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,

    #[command(flatten)]
    pub serve: ServeArgs,

    /// Print the version.
    #[arg(short = 'V', long = "version", visible_short_alias = 'v', action = ArgAction::SetTrue)]
    pub version: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve (what happens without a command).
    Serve(Box<ServeArgs>),
    /// Print the connection string of a server with these settings, for clients.
    ConnectionString(Box<ConnectionStringArgs>),
    /// Copy a whole store to another place: from a directory to a database with its bytes, or back. No server may work over
    /// either. What is there already of an earlier try is not copied again, and everything is compared at the end.
    Move(MoveArgs),
    /// After all servers were replaced by a newer version.
    Upgrade {
        #[command(subcommand)]
        step: UpgradeStep,
    },
    /// Print the reference of all operations, as Markdown.
    Operations,
    /// Print the completions of the command line for a shell.
    Completions { shell: Shell },
}

#[derive(Debug, Subcommand)]
pub enum UpgradeStep {
    /// From now on what is written is what only this version and later ones can read. Refused while a server of an older version
    /// works over the store.
    Finish(Box<ServeArgs>),
}

#[derive(Clone, Debug, Args)]
pub struct MoveArgs {
    /// What is copied: a directory, as --location takes it, or the TOML file of a server.
    #[arg(long, value_name = "PLACE")]
    pub from: PathBuf,

    /// Where it is copied to, in the same way. Nothing is there but what an earlier try has copied.
    #[arg(long, value_name = "PLACE")]
    pub to: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct ConnectionStringArgs {
    /// Of this account [default: the first].
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,

    #[command(flatten)]
    pub serve: ServeArgs,
}

#[derive(Clone, Debug, Default, Args)]
pub struct ServeArgs {
    /// A TOML file with the settings below; flags and variables go before it.
    #[arg(long, value_name = "FILE", env = "LAZULI_CONFIG")]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    pub settings: Settings,

    /// For our own tests: so many servers over one engine, in one process. Those behind the first listen on free ports
    /// and are announced with their number (`blob-2`).
    #[arg(long = "rehearse-servers", value_name = "COUNT", hide = true, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub rehearse_servers: Option<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OauthMode {
    /// Times, issuer and audience are checked, the signature is not: for development, on loopback only.
    Basic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadsMode {
    /// Nothing is answered that the primary has not confirmed since it was read.
    Strict,
    /// What the primary shows is answered at once.
    Primary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DialectMode {
    /// READ COMMITTED and advisory locks: PostgreSQL.
    Locks,
    /// SERIALIZABLE, for databases that only speak PostgreSQL's language.
    Serializable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}

// A switch may be written bare or with a value: `--silent` and `--silent=true` are one.
macro_rules! settings {
    ($(
        $heading:literal {
            values { $( $(#[$value_meta:meta])* $value:ident : $type:ty, $value_flag:literal, $value_name:literal, $value_env:literal; )* }
            switches { $( $(#[$switch_meta:meta])* $switch:ident, $switch_flag:literal, $switch_env:literal; )* }
        }
    )*) => {
        /// One layer of settings. The command line (with its variables) and the file are two of them.
        #[derive(Clone, Debug, Default, Args, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Settings {
            $(
                $(
                    $(#[$value_meta])*
                    #[arg(
                        long = $value_flag, value_name = $value_name, env = $value_env, hide_env_values = true,
                        help_heading = $heading
                    )]
                    #[serde(rename = $value_flag)]
                    pub $value: Option<$type>,
                )*
                $(
                    $(#[$switch_meta])*
                    #[arg(
                        long = $switch_flag, env = $switch_env, hide_env_values = true, num_args = 0..=1,
                        require_equals = true, default_missing_value = "true", value_name = "BOOL",
                        value_parser = BoolishValueParser::new(), hide_possible_values = true,
                        help_heading = $heading
                    )]
                    #[serde(rename = $switch_flag)]
                    pub $switch: Option<bool>,
                )*
            )*
        }

        impl Settings {
            /// This layer, and `below` where this one is silent.
            pub fn or(self, below: Self) -> Self {
                Self {
                    $(
                        $( $value: self.$value.or(below.$value), )*
                        $( $switch: self.$switch.or(below.$switch), )*
                    )*
                }
            }

            /// Every setting's flag and variable.
            pub const NAMES: &[(&str, &str)] =
                &[ $( $( ($value_flag, $value_env), )* $( ($switch_flag, $switch_env), )* )* ];
        }
    };
}

settings! {
    "Where it listens" {
        values {
            /// Address that every listener uses which is given none of its own [default: 127.0.0.1].
            host: String, "host", "HOST", "LAZULI_HOST";
            /// Services that are served, of blob, queue, table, file, dfs and smb, separated by commas [default: all].
            services: List, "services", "LIST", "LAZULI_SERVICES";
            /// Address the Blob service listens on.
            blob_host: String, "blobHost", "HOST", "LAZULI_BLOB_HOST";
            /// Port of the Blob service, 0 for any free one [default: 10000].
            blob_port: u16, "blobPort", "PORT", "LAZULI_BLOB_PORT";
            /// Address the Queue service listens on.
            queue_host: String, "queueHost", "HOST", "LAZULI_QUEUE_HOST";
            /// Port of the Queue service [default: 10001].
            queue_port: u16, "queuePort", "PORT", "LAZULI_QUEUE_PORT";
            /// Address the Table service listens on.
            table_host: String, "tableHost", "HOST", "LAZULI_TABLE_HOST";
            /// Port of the Table service [default: 10002].
            table_port: u16, "tablePort", "PORT", "LAZULI_TABLE_PORT";
            /// Address the File service listens on.
            file_host: String, "fileHost", "HOST", "LAZULI_FILE_HOST";
            /// Port of the File service [default: 10003].
            file_port: u16, "filePort", "PORT", "LAZULI_FILE_PORT";
            /// Address the Data Lake (dfs) endpoint listens on.
            dfs_host: String, "dfsHost", "HOST", "LAZULI_DFS_HOST";
            /// Port of the Data Lake (dfs) endpoint [default: 10004].
            dfs_port: u16, "dfsPort", "PORT", "LAZULI_DFS_PORT";
            /// Address the static websites of the accounts are served on; turns that port on.
            web_host: String, "webHost", "HOST", "LAZULI_WEB_HOST";
            /// Port of the static websites [default: 10005]; without it and --webHost they are served by host name only.
            web_port: u16, "webPort", "PORT", "LAZULI_WEB_PORT";
            /// Address the File service listens on for SMB.
            smb_host: String, "smbHost", "HOST", "LAZULI_SMB_HOST";
            /// Port of the File service over SMB [default: 10445].
            smb_port: u16, "smbPort", "PORT", "LAZULI_SMB_PORT";
        }
        switches {
            /// Path style only: never take the account from the host name.
            disable_product_style_url, "disableProductStyleUrl", "LAZULI_DISABLE_PRODUCT_STYLE_URL";
        }
    }
    "Data" {
        values {
            /// Where the data lives, in a directory lazuli-data [default: the working directory].
            #[arg(short = 'l')]
            location: PathBuf, "location", "DIR", "LAZULI_LOCATION";
            /// A PostgreSQL database instead of a directory, which several servers may share: postgres://USER@HOST:PORT,HOST:PORT/NAME
            /// with every node that may be or become the primary; needs --bytes (docs/cluster.md).
            database: String, "database", "URL", "LAZULI_DATABASE";
            /// File with the password of the database's user, if it is not in the URL or in LAZULI_DATABASE_PASSWORD.
            database_password_file: PathBuf, "databasePasswordFile", "FILE", "LAZULI_DATABASE_PASSWORD_FILE";
            /// Schema of the database that is used, and made if it is not there [default: lazuli].
            schema: String, "schema", "NAME", "LAZULI_SCHEMA";
            /// How reads are answered [default: strict with several hosts, primary with one].
            reads: ReadsMode, "reads", "MODE", "LAZULI_READS";
            /// How commits are kept apart: by advisory locks, or by the database alone where it has none that can be relied on
            /// [default: locks].
            dialect: DialectMode, "dialect", "MODE", "LAZULI_DIALECT";
            /// Where bytes are kept beside a database: s3://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:///DIR of a file system that all
            /// servers share.
            bytes: String, "bytes", "URL", "LAZULI_BYTES";
            /// MiB of memory for chunks that were fetched from there [default: 128].
            byte_cache: usize, "byteCache", "MIB", "LAZULI_BYTE_CACHE";
            /// Hours for which bytes are kept there after nothing needs them: a database that is restored to a moment in that
            /// time finds them [default: 0].
            byte_retention: u32, "byteRetention", "HOURS", "LAZULI_BYTE_RETENTION";
            /// KiB up to which a blob is kept in the database rather than as bytes, at most 64 [default: 16].
            inline_limit: usize, "inlineLimit", "KIB", "LAZULI_INLINE_LIMIT";
            /// Create these containers at start: [account/]name, separated by commas.
            create_containers: List, "createContainers", "LIST", "LAZULI_CREATE_CONTAINERS";
            /// Create these queues at start: [account/]name, separated by commas.
            create_queues: List, "createQueues", "LIST", "LAZULI_CREATE_QUEUES";
            /// Create these tables at start: [account/]name, separated by commas.
            create_tables: List, "createTables", "LIST", "LAZULI_CREATE_TABLES";
            /// What accounts can do beyond a plain one: [account/]feature, separated by commas; versioning, immutability
            /// (which switches versioning on), lastAccessTime, containerSoftDelete=DAYS, encryptionScope=NAME.
            features: List, "features", "LIST", "LAZULI_FEATURES";
            /// Who is told of blobs that are made and deleted: [account/]queue:NAME or [account/]https://HOST/PATH, each with
            /// options behind it (docs/configuration.md), separated by commas.
            events: List, "events", "LIST", "LAZULI_EVENTS";
        }
        switches {
            /// Keep everything in memory; nothing survives the process.
            in_memory_persistence, "inMemoryPersistence", "LAZULI_IN_MEMORY_PERSISTENCE";
        }
    }
    "Who may" {
        values {
            /// Accounts: name:key1[:key2];name2:key1...
            accounts: List, "accounts", "LIST", "LAZULI_ACCOUNTS";
            /// Accept bearer tokens without verifying signatures (development, loopback only).
            oauth: OauthMode, "oauth", "MODE", "LAZULI_OAUTH";
            /// Issuer of verified bearer tokens; needs --oauthJwks.
            oauth_issuer: String, "oauthIssuer", "URL", "LAZULI_OAUTH_ISSUER";
            /// JWKS file with the keys of the issuer.
            oauth_jwks: PathBuf, "oauthJwks", "FILE", "LAZULI_OAUTH_JWKS";
            /// Audience of verified bearer tokens [default: the storage service's].
            oauth_audience: String, "oauthAudience", "URL", "LAZULI_OAUTH_AUDIENCE";
            /// By which addresses clients reach the Blob and the File service, where that is a balancer's: blob=HOST[:PORT] and
            /// file=HOST[:PORT], separated by commas. What a copy names by them is read here.
            public_addresses: List, "publicAddresses", "LIST", "LAZULI_PUBLIC_ADDRESSES";
            /// Hosts elsewhere that copies may read: HOST[:PORT], separated by commas [default: none].
            copy_sources: List, "copySources", "LIST", "LAZULI_COPY_SOURCES";
        }
        switches {
            /// Take bearer tokens over plain http too.
            bearer_over_http, "bearerOverHttp", "LAZULI_BEARER_OVER_HTTP";
            /// Serve the development account, whose key everybody knows, beyond loopback.
            allow_well_known_key_on_network, "allow-well-known-key-on-network", "LAZULI_ALLOW_WELL_KNOWN_KEY_ON_NETWORK";
        }
    }
    "TLS" {
        values {
            /// Certificate chain (PEM). The ports then speak both https and http.
            cert: PathBuf, "cert", "FILE", "LAZULI_CERT";
            /// Private key (PEM).
            key: PathBuf, "key", "FILE", "LAZULI_KEY";
            /// Password of a PFX file; refused: convert the file to PEM.
            pwd: String, "pwd", "PASSWORD", "LAZULI_PWD";
        }
        switches {}
    }
    "Limits" {
        values {
            /// Most connections served at once [default: 8192, less when file descriptors are few].
            max_connections: usize, "maxConnections", "COUNT", "LAZULI_MAX_CONNECTIONS";
            /// Seconds that a server which is told to stop goes on serving while /readyz is 503, so that balancers leave it
            /// first [default: 3 with a database, else 0].
            shutdown_delay: u32, "shutdownDelay", "SECONDS", "LAZULI_SHUTDOWN_DELAY";
            /// Seconds an idle connection to the Blob service is kept; never less than ten minutes.
            blob_keep_alive_timeout: u64, "blobKeepAliveTimeout", "SECONDS", "LAZULI_BLOB_KEEP_ALIVE_TIMEOUT";
            /// The same for the Queue service.
            queue_keep_alive_timeout: u64, "queueKeepAliveTimeout", "SECONDS", "LAZULI_QUEUE_KEEP_ALIVE_TIMEOUT";
            /// The same for the Table service.
            table_keep_alive_timeout: u64, "tableKeepAliveTimeout", "SECONDS", "LAZULI_TABLE_KEEP_ALIVE_TIMEOUT";
            /// Bytes a second that a client must take of its answers, judged over two minutes of waiting for it; 0 for no
            /// limit [default: 16384].
            least_download_rate: u64, "leastDownloadRate", "BYTES", "LAZULI_LEAST_DOWNLOAD_RATE";
            /// MiB of memory for answers that their clients have not taken yet [default: 64].
            answer_memory: usize, "answerMemory", "MIB", "LAZULI_ANSWER_MEMORY";
            /// Seconds that a blob is on its way out of the archive tier; with high priority a tenth of it [default: 36000].
            rehydration_time: u64, "rehydrationTime", "SECONDS", "LAZULI_REHYDRATION_TIME";
        }
        switches {}
    }
    "Logs" {
        values {
            /// Also write the log, at debug level, to this file.
            #[arg(short = 'd')]
            debug: PathBuf, "debug", "FILE", "LAZULI_DEBUG";
            /// Form of the log [default: text].
            log_format: LogFormat, "logFormat", "FORMAT", "LAZULI_LOG_FORMAT";
        }
        switches {
            /// No line per request in the log, except for requests that failed.
            #[arg(short = 's')]
            silent, "silent", "LAZULI_SILENT";
        }
    }
    "Admin endpoint" {
        values {
            /// Address of the admin endpoint.
            admin_host: String, "adminHost", "HOST", "LAZULI_ADMIN_HOST";
            /// Port of the admin endpoint [default: 10010].
            admin_port: u16, "adminPort", "PORT", "LAZULI_ADMIN_PORT";
            /// Bearer token for /metrics and /clock; required when the admin endpoint is not on loopback.
            admin_token: String, "adminToken", "TOKEN", "LAZULI_ADMIN_TOKEN";
        }
        switches {
            /// POST /clock on the admin port moves the clock forward.
            test_clock, "test-clock", "LAZULI_TEST_CLOCK";
        }
    }
    "Accepted without effect, for users of Azurite" {
        values {
            /// Memory is bounded by what is stored.
            extent_memory_limit: f64, "extentMemoryLimit", "MB", "LAZULI_EXTENT_MEMORY_LIMIT";
        }
        switches {
            /// What is not supported is refused.
            #[arg(short = 'L')]
            loose, "loose", "LAZULI_LOOSE";
            /// Every well-formed version is served.
            skip_api_version_check, "skipApiVersionCheck", "LAZULI_SKIP_API_VERSION_CHECK";
            /// There is no telemetry.
            disable_telemetry, "disableTelemetry", "LAZULI_DISABLE_TELEMETRY";
        }
    }
}
