//! A disk that runs full and is freed again. On a small file system of its own, where we may mount one.

mod deletions;
mod rows;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate, statvfs};

use super::{WITNESS, prepare};
use crate::Trial;
use crate::blob;
use crate::options::Options;
use crate::server::{Launch, Server};
use crate::wire::{Answer, Client};

const DISK: &str = "256m";
const LARGE: usize = 2 << 20;
const SMALL: usize = 4 << 10;
/// Too little for anything but deletions.
const LAST: u64 = 24 << 20;
/// In which it must recover, once there is room.
const RECOVERY: Duration = Duration::from_secs(5);

pub async fn run(options: &Options) -> Trial<String> {
    let contents = contents(options).await?;
    let rows = rows::run(options).await.map_err(|reason| format!("rows: {reason}"))?;
    Ok(format!("{contents}; {rows}"))
}

/// Filled mostly by contents, which lie in extents.
async fn contents(options: &Options) -> Trial<String> {
    let place = tempfile::tempdir_in(&options.work).map_err(|error| error.to_string())?;
    let Some(disk) = Disk::mount(place.path()) else {
        // Said aloud, and not a pass of anything: without the right to mount there is no small disk.
        return Ok("NOT TRIED: no file system can be mounted here".to_owned());
    };
    let data = disk.0.join("data");
    let launch = Launch::at(options, "disk-full", &data);
    let mut server = launch.start()?;
    prepare(&server).await?;
    let mut stored = Stored::default();

    // Large blobs, until they are refused: there must be room for the log still.
    let large = stored.fill(&server, "large", LARGE, 400).await?;
    server.must_run()?;
    stored.verify(&server).await?;
    // Small ones, and somebody else's file takes the rest.
    let filler = disk.fill(0)?;
    let small = stored.fill(&server, "small", SMALL, 60_000).await?;
    server.must_run().map_err(|reason| format!("small writes on a full disk: {reason}"))?;
    stored.verify(&server).await?;
    for _ in 0..200 {
        refused(&Client::new(server.blob).must(&blob::put("more", blob::content(1, SMALL))).await?)?;
    }
    server.must_run()?;

    // Not even a deletion can be written down: refused, and the server lives.
    refused(&Client::new(server.blob).must(&blob::delete("large/0")).await?)?;
    server.must_run().map_err(|reason| format!("a deletion on a full disk: {reason}"))?;

    // A crash on a full disk.
    server.kill();
    server = launch.start().map_err(|reason| format!("starting on a full disk: {reason}"))?;
    stored.verify(&server).await?;

    // Freed by somebody else: recovers alone.
    std::fs::remove_file(&filler).map_err(|error| error.to_string())?;
    let waited = recovered(&server, SMALL).await?;
    stored.verify(&server).await?;

    // Freed by deleting blobs.
    let filler = disk.fill(LAST)?;
    tokio::time::sleep(Duration::from_millis(500)).await;
    stored.fill(&server, "again", SMALL, 60_000).await?;
    stored.delete_large(&server).await?;
    recovered(&server, LARGE).await?;
    std::fs::remove_file(&filler).map_err(|error| error.to_string())?;
    stored.verify(&server).await?;
    server.must_run()?;
    server.stop().await?;
    Ok(format!(
        "{large} large and {small} small blobs until full, a kill while full, recovered in {} ms, nothing lost",
        waited.as_millis()
    ))
}

struct Disk(PathBuf);

impl Disk {
    fn mount(place: &Path) -> Option<Self> {
        let size = format!("size={DISK}");
        let mut mount = Command::new("mount");
        let done = mount.args(["-t", "tmpfs", "-o", &size, "lazuli-chaos"]).arg(place).output();
        done.ok().filter(|output| output.status.success()).map(|_| Self(place.to_owned()))
    }

    /// A file that takes everything that is left but so many bytes.
    fn fill(&self, but: u64) -> Trial<PathBuf> {
        let path = self.0.join("filler");
        let file = File::create(&path).map_err(|error| error.to_string())?;
        let room = statvfs(&self.0).map_err(|error| error.to_string())?;
        let mut left = (room.f_bavail * room.f_frsize).saturating_sub(but);
        while left > 0 {
            match fallocate(&file, FallocateFlags::empty(), 0, left) {
                Ok(()) => return Ok(path),
                Err(_) => left = left.saturating_sub(64 << 10),
            }
        }
        Ok(path)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).output();
    }
}

/// Names, seeds and lengths of what was acknowledged.
#[derive(Default)]
struct Stored(Vec<(String, u64, usize)>);

impl Stored {
    /// Writes until it is refused, clearly; how many were taken.
    async fn fill(&mut self, server: &Server, prefix: &str, length: usize, most: u64) -> Trial<u64> {
        let mut client = Client::new(server.blob);
        for number in 0..most {
            let name = format!("{prefix}/{number}");
            let answer = client.must(&blob::put(&name, blob::content(number, length))).await?;
            if answer.status != 201 {
                refused(&answer)?;
                return Ok(number);
            }
            self.0.push((name, number, length));
        }
        Err(format!("{most} blobs of {length} bytes, and the disk is not full"))
    }

    async fn verify(&self, server: &Server) -> Trial {
        let mut client = Client::new(server.blob);
        client.must(&blob::get(WITNESS)).await?.expect(200, "a reading on a full disk")?;
        let step = (self.0.len() / 200).max(1);
        for (name, seed, length) in self.0.iter().step_by(step) {
            let found = client.must(&blob::get(name)).await?.expect(200, name)?;
            if found.body != blob::content(*seed, *length) {
                return Err(format!("{name}: other content"));
            }
        }
        Ok(())
    }

    async fn delete_large(&mut self, server: &Server) -> Trial {
        let mut client = Client::new(server.blob);
        for (name, _, _) in self.0.extract_if(.., |(_, _, length)| *length == LARGE) {
            client.must(&blob::delete(&name)).await?.expect(202, "a deletion on a full disk")?;
        }
        Ok(())
    }
}

/// 507, with its own word.
fn refused(answer: &Answer) -> Trial {
    match (answer.status, answer.code()) {
        (507, "InsufficientStorage") => Ok(()),
        _ => Err(format!("a full disk was answered {}", answer.shown())),
    }
}

async fn recovered(server: &Server, length: usize) -> Trial<Duration> {
    let started = Instant::now();
    let mut last = String::new();
    while started.elapsed() < RECOVERY {
        let request = blob::put("recovered", blob::content(3, length));
        match Client::new(server.blob).must(&request).await {
            Ok(answer) if answer.status == 201 => return Ok(started.elapsed()),
            Ok(answer) => last = answer.shown(),
            Err(reason) => last = reason,
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(format!("freed {} s ago, and still {last}", RECOVERY.as_secs()))
}
