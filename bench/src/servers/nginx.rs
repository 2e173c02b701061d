//! nginx with the best settings for files that are in memory: sendfile, open files kept, nothing logged. It takes the
//! files that it shall serve by PUT, as the others do.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;

use super::process::Process;
use crate::Outcome;
use crate::options::Run;

pub fn start(run: &Run, program: &Path) -> Outcome<Process> {
    let directory = run.directory.join(format!("nginx-{}", std::process::id()));
    fs::create_dir_all(directory.join("files"))?;
    let directory = directory.canonicalize()?;
    let address = free_address()?;
    let configuration = directory.join("nginx.conf");
    fs::write(&configuration, settings(&directory, address))?;
    let mut command = Command::new(program);
    command.arg("-p").arg(&directory).arg("-c").arg(&configuration).args(["-e", "stderr"]);
    command.stderr(File::create(run.directory.join("nginx.log"))?);
    Process::spawn("nginx", command, directory, |line| {
        line.contains("start worker process ").then_some(address)
    })
}

/// nginx does not tell which port it was given.
fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

fn settings(directory: &Path, address: SocketAddr) -> String {
    let place = directory.display();
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {place}/{name};"))
        .join(" ");
    // Only root can give the files to another user, and a worker of another user could not write here.
    let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
    format!(
        "daemon off; {user} worker_processes auto; pid {place}/pid; error_log /dev/stdout notice;
        events {{ worker_connections 1024; }}
        http {{
            access_log off; {temporary}
            sendfile on; tcp_nopush on; tcp_nodelay on;
            keepalive_timeout 600s; keepalive_requests 1000000000;
            open_file_cache max=100000 inactive=600s; open_file_cache_valid 600s;
            server {{
                listen {address} reuseport; root {place}/files;
                client_max_body_size 0;
                if ($arg_restype = container) {{ return 201; }}
                location / {{ dav_methods PUT; create_full_put_path on; }}
            }}
        }}
        "
    )
}
