//! The server under test: the debug binary that the tests already built, on free ports, with data of its own.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::paths;
use crate::shell::{Chore, cargo, run};

const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const ACCOUNT: &str = "devstoreaccount1";

/// The very artifacts of the tests: another selection of packages would compile the dependencies anew.
pub fn build() -> Chore {
    run(cargo().args(["test", "--workspace", "--no-run", "--quiet"]))
}

/// Stopped, and its data removed, when dropped.
pub struct Server {
    child: Child,
    data: PathBuf,
    /// Name of the listener to its address, `http://127.0.0.1:PORT`.
    addresses: HashMap<String, String>,
}

impl Server {
    pub fn start(purpose: &str) -> Chore<Self> {
        build()?;
        let data = paths::target().join(format!("xtask-{purpose}-{}", std::process::id()));
        let log = paths::target().join(format!("xtask-{purpose}.log"));
        let log = std::fs::File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let mut command = Command::new(binary());
        for port in ["blob", "queue", "table", "file", "dfs", "admin"] {
            command.args([format!("--{port}Port"), "0".to_owned()]);
        }
        command.arg("--location").arg(&data).arg("--test-clock").stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().map_err(|error| format!("cannot start the server: {error}"))?;
        let addresses = child.stdout.take().map(announced).unwrap_or_default();
        let server = Self { child, data, addresses };
        if server.addresses.is_empty() {
            return Err("the server did not start; see its log in the target directory".to_owned());
        }
        Ok(server)
    }

    pub fn address(&self, listener: &str) -> &str {
        self.addresses.get(listener).map_or("", String::as_str)
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
            ("LAZULI_TEST_ADMIN_URL", self.address("admin").to_owned()),
        ]
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.data);
    }
}

pub fn binary() -> PathBuf {
    paths::target().join("debug/lazuli")
}

fn announced(output: impl std::io::Read) -> HashMap<String, String> {
    let mut addresses = HashMap::new();
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        if line == "lazuli: ready" {
            return addresses;
        }
        let told = line.strip_prefix("lazuli: ").and_then(|line| line.split_once(" listening on "));
        if let Some((name, address)) = told {
            addresses.insert(name.to_owned(), address.to_owned());
        }
    }
    HashMap::new()
}
