//! The server under test: the debug binary that the tests already built, on free ports, with data of its own.

use std::path::PathBuf;
use std::process::Command;

use lazuli_testing::{ACCOUNT, KEY, free_ports};

use crate::paths;
use crate::shell::{Chore, cargo, run};

/// The very artifacts of the tests: another selection of packages would compile the dependencies anew.
pub fn build() -> Chore {
    // The caller has just built it otherwise: what stands there is taken as it is.
    if std::env::var_os("LAZULI_TEST_BUILT").is_some() {
        return Ok(());
    }
    run(cargo().args(["test", "--workspace", "--no-run", "--quiet"]))
}

/// Stopped, and its data removed, when dropped.
pub struct Server {
    process: lazuli_testing::Server,
    data: PathBuf,
}

impl Server {
    pub fn start(purpose: &str) -> Chore<Self> {
        build()?;
        let data = paths::target().join(format!("xtask-{purpose}-{}", std::process::id()));
        let path = paths::target().join(format!("xtask-{purpose}.log"));
        let log = std::fs::File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut command = Command::new(binary());
        free_ports(&mut command).arg("--location").arg(&data).arg("--test-clock").stderr(log);
        match lazuli_testing::Server::start(&mut command) {
            Ok(process) => Ok(Self { process, data }),
            Err(reason) => Err(format!("the server: {reason}; see {}", path.display())),
        }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn address(&self, listener: &str) -> String {
        let listener = self.process.listener(listener);
        listener.map_or_else(String::new, |found| format!("{}://{}", found.scheme, found.address))
    }

    pub fn connection_string(&self) -> String {
        let mut text = format!("DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};");
        for (name, listener) in
            [("Blob", "blob"), ("Queue", "queue"), ("Table", "table"), ("File", "file"), ("Dfs", "dfs")]
        {
            text.push_str(&format!("{name}Endpoint={}/{ACCOUNT};", self.address(listener)));
        }
        text
    }

    pub fn clock_url(&self) -> String {
        format!("{}/clock", self.address("admin"))
    }

    /// What clients' tests find in their environment.
    pub fn environment(&self) -> [(&'static str, String); 5] {
        [
            ("LAZULI_TEST_BINARY", binary().to_string_lossy().into_owned()),
            ("LAZULI_TEST_CONNECTION_STRING", self.connection_string()),
            ("LAZULI_TEST_BLOB_URL", format!("{}/{ACCOUNT}", self.address("blob"))),
            ("LAZULI_TEST_CLOCK_URL", self.clock_url()),
            ("LAZULI_TEST_ADMIN_URL", self.address("admin")),
        ]
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill();
        let _ = std::fs::remove_dir_all(&self.data);
    }
}

pub fn binary() -> PathBuf {
    paths::target().join("debug/lazuli")
}
