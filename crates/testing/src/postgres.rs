//! PostgreSQL for tests, from the packages of the system. It does not run as root: then another user is taken.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use crate::Process;
use crate::guard::Guard;

const PATIENCE: Duration = Duration::from_secs(60);
const SOCKET: &str = ".s.PGSQL.5432";

/// Runs the server, and ends it when the file `used` was not touched for a minute, looked at several times: of processes that
/// stood still for some minutes, those that use it need a moment to say so.
const KEEPER: &str = r#"
D=$1; B=$2; shift 2
"$B/postgres" -D "$D/data" "$@" >"$D/log" 2>&1 &
P=$! MISSED=0
while [ $MISSED -lt 8 ] && sleep 3 && kill -0 $P 2>/dev/null; do
    if [ -n "$(find "$D/used" -mmin -1)" ]; then MISSED=0; else MISSED=$((MISSED + 1)); fi
done
kill -INT $P 2>/dev/null; wait $P; rm -rf "$D"
"#;

/// Nothing that a test relies on: a crash of the machine is not among them.
const SHARED: [&str; 9] = [
    "listen_addresses=",
    "fsync=off",
    "full_page_writes=off",
    "max_connections=400",
    "shared_buffers=64MB",
    "max_wal_size=256MB",
    "autovacuum_naptime=10s",
    "logging_collector=off",
    "log_min_messages=warning",
];

/// One that keeps what it acknowledged.
const OWN: [&str; 7] = [
    "listen_addresses=127.0.0.1",
    "max_connections=400",
    "shared_buffers=64MB",
    "max_wal_size=512MB",
    "autovacuum_naptime=10s",
    "logging_collector=off",
    "log_min_messages=warning",
];

/// Where a server listens that all tests of this checkout share.
pub struct Shared {
    pub directory: PathBuf,
}

impl Shared {
    /// Its socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.join(SOCKET)
    }

    pub fn url(&self) -> String {
        let host = self.directory.to_string_lossy().replace('/', "%2F");
        format!("postgres://lazuli@{host}/postgres")
    }
}

/// The first that wants it starts it, below the directory for temporary files; the others, also of other processes, use
/// the same. It ends by itself when no test has used it for a minute. It syncs nothing. `None` where there is no PostgreSQL,
/// which is said.
pub fn shared() -> Option<&'static Shared> {
    static SHARED: OnceLock<Option<Shared>> = OnceLock::new();
    SHARED.get_or_init(start_shared).as_ref()
}

fn start_shared() -> Option<Shared> {
    let (programs, user) = available()?;
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_MANIFEST_DIR"), user).hash(&mut hasher);
    let directory = std::env::temp_dir().join(format!("lazuli-pg-{:012x}", hasher.finish() >> 16));
    let lock = File::create(directory.with_extension("lock")).expect("a file for the lock");
    lock.lock().expect("the lock");
    let answers = || UnixStream::connect(directory.join(SOCKET)).is_ok();
    if !(touch(&directory) && answers()) {
        let _ = fs::remove_dir_all(&directory);
        own_directory(&directory, user);
        File::create(directory.join("used")).expect("a file");
        initialize(&programs, user, &directory);
        let mut keeper = as_user(user, Path::new("/bin/sh"));
        keeper.args(["-c", KEEPER, "keeper"]).arg(&directory).arg(&programs);
        keeper.args(SHARED.iter().flat_map(|setting| ["-c", *setting]));
        keeper.arg("-c").arg(format!("unix_socket_directories={}", directory.display()));
        keeper.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut keeper = keeper.spawn().expect("a server");
        std::thread::spawn(move || keeper.wait());
        wait_for(answers);
    }
    let used = directory.clone();
    std::thread::spawn(move || {
        while touch(&used) {
            std::thread::sleep(Duration::from_secs(10));
        }
    });
    Some(Shared { directory })
}

/// A server of one's own, on a port of loopback, which syncs. Ended and removed when dropped. Its user `guarded`, if it is
/// made, needs a password; the others need none.
pub struct Postgres {
    process: Option<Process>,
    _guard: Guard,
    directory: PathBuf,
    settings: Vec<String>,
    pub port: u16,
}

impl Postgres {
    /// `None` where there is no PostgreSQL, which is said.
    pub fn start(settings: &[&str]) -> Option<Self> {
        let (programs, user) = available()?;
        let name = format!("lazuli-own-pg-{}-{:x}", std::process::id(), nanos());
        let directory = std::env::temp_dir().join(name);
        own_directory(&directory, user);
        initialize(&programs, user, &directory);
        let access = directory.join("data/pg_hba.conf");
        let others = fs::read_to_string(&access).expect("its rules");
        fs::write(&access, format!("host all guarded 127.0.0.1/32 scram-sha-256\n{others}"))
            .expect("written");
        Some(Self::over(directory, OWN.iter().chain(settings).map(|setting| (*setting).to_owned()).collect()))
    }

    /// Another server, which follows this one.
    pub fn standby(&self) -> Self {
        let (programs, user) = available().expect("it was there");
        let name = format!("lazuli-own-pg-{}-{:x}", std::process::id(), nanos());
        let directory = std::env::temp_dir().join(name);
        own_directory(&directory, user);
        let copied = as_user(user, &programs.join("pg_basebackup"))
            .args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync"])
            .args(["-d", &self.url(), "-D"])
            .arg(directory.join("data"))
            .status();
        assert!(copied.expect("pg_basebackup").success(), "pg_basebackup failed");
        Self::over(directory, self.settings.clone())
    }

    fn over(directory: PathBuf, settings: Vec<String>) -> Self {
        let guard = Guard::new("sleep 1; rm -rf \"$1\"", &[&directory.to_string_lossy()]);
        let mut server = Self { process: None, _guard: guard, directory, settings, port: free_port() };
        server.come_back();
        server
    }

    /// kill -9 of the whole server.
    pub fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            // Its children leave when they see that it is gone.
            drop(process);
        }
    }

    pub fn come_back(&mut self) {
        let Some((programs, user)) = available().filter(|_| self.process.is_none()) else { return };
        let began = Instant::now();
        loop {
            let mut command = as_user(user, &programs.join("postgres"));
            command.arg("-D").arg(self.directory.join("data")).arg("-p").arg(self.port.to_string());
            command.args(self.settings.iter().flat_map(|setting| ["-c", setting]));
            command.arg("-c").arg(format!("unix_socket_directories={}", self.directory.display()));
            let log = File::options().create(true).append(true).open(self.directory.join("log"));
            let mut process = Process::spawn(command.stderr(log.expect("a log"))).expect("a server");
            // While children of one that was killed are there, it ends at once.
            while process.ended().is_none() {
                if self.answers(&programs) {
                    self.process = Some(process);
                    return;
                }
                assert!(began.elapsed() < PATIENCE, "the server does not start");
                std::thread::sleep(Duration::from_millis(20));
            }
            assert!(began.elapsed() < PATIENCE, "the server does not start");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// It is past starting up, or recovering.
    fn answers(&self, programs: &Path) -> bool {
        let mut ready = Command::new(programs.join("pg_isready"));
        ready.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
        ready.status().is_ok_and(|status| status.success())
    }

    /// The number of the process that all others are children of; 0 while it is dead.
    pub fn process(&self) -> u32 {
        self.process.as_ref().map_or(0, Process::id)
    }

    pub fn url(&self) -> String {
        self.url_at(self.port)
    }

    /// The same through something else that listens.
    pub fn url_at(&self, port: u16) -> String {
        format!("postgres://lazuli@127.0.0.1:{port}/postgres")
    }

    /// What it answers, as psql shows it without decoration.
    pub fn ask(&self, question: &str) -> String {
        let (programs, user) = available().expect("it was there");
        let asked = as_user(user, &programs.join("psql"))
            .args(["-qAt", "-v", "ON_ERROR_STOP=1", "-c", question, &self.url()])
            .stderr(Stdio::inherit())
            .output()
            .expect("psql");
        assert!(asked.status.success(), "psql failed");
        String::from_utf8_lossy(&asked.stdout).trim_end().to_owned()
    }

    /// Has it do something.
    pub fn psql(&self, statements: &str) {
        let (programs, user) = available().expect("it was there");
        let done = as_user(user, &programs.join("psql"))
            .args(["-q", "-v", "ON_ERROR_STOP=1", "-c", statements, &self.url()])
            .status();
        assert!(done.expect("psql").success(), "psql failed");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // At once, without waiting for its clients.
            let _ = process.signal("QUIT");
            let _ = process.wait(Duration::from_secs(5));
        }
        let _ = fs::remove_dir_all(&self.directory);
    }
}

pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("its number").port()
}

/// Where the programs are and who runs them; `None`, with a word on it, where that is not to be had.
pub fn available() -> Option<(PathBuf, Option<User>)> {
    let user = if is_root() { Some(unprivileged()) } else { None };
    match (programs(), user) {
        (Some(programs), None) => Some((programs, None)),
        (Some(programs), Some(Some(user))) => Some((programs, Some(user))),
        _ => {
            eprintln!("skipped: PostgreSQL is not installed");
            None
        }
    }
}

/// Its number and that of its group.
pub type User = (u32, u32);

fn programs() -> Option<PathBuf> {
    let mut places = Vec::new();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        places.extend(versions.flatten().map(|version| version.path().join("bin")));
        places.sort();
        places.reverse();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    places.extend(std::env::split_paths(&path));
    places.into_iter().find(|place| place.join("initdb").is_file() && place.join("postgres").is_file())
}

fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
    line.split_whitespace().nth(1) == Some("0")
}

fn unprivileged() -> Option<User> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let of = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(|field| field.parse().ok());
        Some((fields.next()??, fields.next()??))
    };
    of("postgres").or_else(|| of("nobody"))
}

/// A program, run by that user.
pub fn as_user(user: Option<User>, program: &Path) -> Command {
    let mut command = match user {
        None => Command::new(program),
        Some((user, group)) => {
            let mut command = Command::new("setpriv");
            command.args([format!("--reuid={user}"), format!("--regid={group}"), "--clear-groups".into()]);
            command.arg(program);
            command
        }
    };
    command.current_dir("/");
    command
}

/// A directory that is that user's alone.
pub fn own_directory(directory: &Path, user: Option<User>) {
    fs::create_dir_all(directory).expect("a directory");
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700)).expect("its own");
    if let Some((user, group)) = user {
        chown(directory, Some(user), Some(group)).expect("given away");
    }
}

/// A file that is that user's alone, as a server demands it of a key.
pub fn own_file(file: &Path, text: &str, user: Option<User>) {
    fs::write(file, text).expect("written");
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).expect("its own");
    if let Some((user, group)) = user {
        chown(file, Some(user), Some(group)).expect("given away");
    }
}

fn initialize(programs: &Path, user: Option<User>, directory: &Path) {
    let made = as_user(user, &programs.join("initdb"))
        .args(["-A", "trust", "-U", "lazuli", "--no-sync", "--wal-segsize=4", "-D"])
        .arg(directory.join("data"))
        .stdout(Stdio::null())
        .status();
    assert!(made.expect("initdb").success(), "initdb failed");
}

fn wait_for(answers: impl Fn() -> bool) {
    let began = Instant::now();
    while !answers() {
        assert!(began.elapsed() < PATIENCE, "the server does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn touch(directory: &Path) -> bool {
    let used = File::options().write(true).open(directory.join("used"));
    used.is_ok_and(|used| used.set_modified(SystemTime::now()).is_ok())
}

fn nanos() -> u32 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos())
}
