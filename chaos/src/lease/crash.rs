//! kill -9 in mid-lease: whoever holds it still does, for what is left of it and no less.

use std::time::Duration;

use crate::Trial;
use crate::blob::{self, lease_id};
use crate::options::Options;
use crate::server::{Launch, Server};
use crate::wire::Client;

/// Blobs, each with its lease.
const FIXED: &str = "fixed";
const INFINITE: &str = "infinite";
const BREAKING: &str = "breaking";
const BROKEN: &str = "broken";
const RELEASED: &str = "released";

pub async fn run(options: &Options) -> Trial<String> {
    let launch = Launch::new(options, "lease-crash")?.with(&["--test-clock"]);
    let mut server = launch.start()?;
    prepare(&server).await?;
    // Twice, at different moments of the minute that the leases last.
    for passed in [20, 10] {
        server.kill();
        server = launch.start()?;
        held(&server, FIXED, true).await?;
        held(&server, INFINITE, true).await?;
        held(&server, BREAKING, true).await?;
        held(&server, BROKEN, false).await?;
        held(&server, RELEASED, false).await?;
        blob::advance(&server, Duration::from_secs(passed)).await?;
        // Something must be written, or nothing remembers that time has passed.
        write(&server, "time-passes", None).await?.expect(201, "another blob")?;
    }
    held(&server, FIXED, true).await?;
    // Far more than a minute in all, however slow this machine is.
    blob::advance(&server, Duration::from_secs(40)).await?;
    held(&server, FIXED, false).await?;
    held(&server, BREAKING, false).await?;
    held(&server, INFINITE, true).await?;
    write(&server, "time-passes", None).await?.expect(201, "another blob")?;
    server.kill();
    server = launch.start()?;
    held(&server, FIXED, false).await?;
    held(&server, INFINITE, true).await?;
    let old = write(&server, FIXED, Some(&lease_id(1))).await?;
    if (old.status, old.code()) != (412, "LeaseLost") {
        return Err(format!("a write with the id of an expired lease: {}", old.shown()));
    }
    server.stop().await?;
    Ok("fixed, infinite, breaking, broken and released leases over 3 kills".to_owned())
}

async fn prepare(server: &Server) -> Trial {
    let mut client = Client::new(server.blob);
    client.must(&blob::create_container()).await?.expect(201, "Create Container")?;
    for (name, seconds) in [(FIXED, 60), (INFINITE, -1), (BREAKING, -1), (BROKEN, 60), (RELEASED, 60)] {
        client.must(&blob::put(name, "old")).await?.expect(201, name)?;
        client.must(&blob::acquire(name, &lease_id(1), seconds)).await?.expect(201, name)?;
    }
    let breaking = blob::lease(BREAKING, "break").header("x-ms-lease-break-period", 60);
    client.must(&breaking).await?.expect(202, BREAKING)?;
    client.must(&blob::break_now(BROKEN)).await?.expect(202, BROKEN)?;
    let release = blob::lease(RELEASED, "release").header("x-ms-lease-id", lease_id(1));
    client.must(&release).await?.expect(200, RELEASED).map(drop)
}

async fn write(server: &Server, name: &str, id: Option<&str>) -> Trial<crate::wire::Answer> {
    Client::new(server.blob).must(&blob::put(name, "new").maybe("x-ms-lease-id", id)).await
}

/// Judged by what it keeps others from, not by what it says of itself. Changes nothing that a later look sees.
async fn held(server: &Server, name: &str, expected: bool) -> Trial {
    let mut client = Client::new(server.blob);
    // Refused by the condition when the lease does not refuse it first.
    let stranger = blob::put(name, "new").header("If-Match", "\"0x1\"");
    let refused = client.must(&stranger).await?;
    let code = if expected { "LeaseIdMissing" } else { "ConditionNotMet" };
    if (refused.status, refused.code()) != (412, code) {
        return Err(format!("{name}: a stranger's write was answered {}, not {code}", refused.shown()));
    }
    let holder = blob::put(name, "new").header("If-Match", "\"0x1\"").header("x-ms-lease-id", lease_id(1));
    let answer = client.must(&holder).await?;
    let right = match expected {
        true => answer.code() == "ConditionNotMet",
        false => matches!(answer.code(), "LeaseLost" | "LeaseNotPresentWithBlobOperation"),
    };
    if !right {
        return Err(format!("{name}: the holder's write was answered {}", answer.shown()));
    }
    let body = client.must(&blob::get(name)).await?.expect(200, name)?.body;
    if body != b"old" {
        return Err(format!("{name}: the old content is gone"));
    }
    Ok(())
}
