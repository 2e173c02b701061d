//! Three nodes of PostgreSQL under Patroni, of which one after another is killed, frozen or cut off, while clients run against
//! three servers. Every history is judged: nothing that was acknowledged is lost, and nothing old is read.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lazuli_testing::patroni::Patroni;

use crate::history::{self, blob::Blobs};
use crate::options::{Fault, Options};
use crate::{Outcome, Trial, delivery};

/// Longer than a standby takes to take over, and what is left to see it at work.
const SECONDS: u64 = 45;
/// By so much the clock of a new leader is behind.
const BEHIND: i32 = -30;

type Act = fn(&mut Patroni, usize) -> Trial;

const FAULTS: [(&str, Act); 6] = [
    ("the leader's node killed", |patroni, leader| {
        patroni.kill_node(leader);
        Ok(())
    }),
    ("only the leader's agent killed", |patroni, leader| {
        patroni.kill_agent(leader);
        Ok(())
    }),
    ("the leader's node frozen for 25 s", |patroni, leader| {
        patroni.freeze(leader);
        std::thread::sleep(Duration::from_secs(25));
        patroni.thaw(leader);
        Ok(())
    }),
    ("the leader cut off from etcd", |patroni, leader| {
        patroni.cut_from_etcd(leader);
        Ok(())
    }),
    ("both standbys killed, one comes back after 10 s", |patroni, leader| {
        let others: Vec<usize> = others(leader).collect();
        others.iter().for_each(|node| patroni.kill_node(*node));
        std::thread::sleep(Duration::from_secs(10));
        others.first().into_iter().for_each(|node| patroni.come_back(*node));
        Ok(())
    }),
    ("the leader's node killed, and the clock of the next is 30 s behind", |patroni, leader| {
        others(leader).for_each(|node| patroni.set_skew(node, BEHIND));
        if !patroni.psql_leader(SKEWED) {
            return Err("the clock cannot be skewed".to_owned());
        }
        patroni.kill_node(leader);
        Ok(())
    }),
];

/// In every schema: the clock is off by what is set on the node.
const SKEWED: &str = r#"
DO $do$
DECLARE
    s text;
BEGIN
    FOR s IN SELECT n.nspname FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE p.proname = 'now_1'
    LOOP
        EXECUTE format($f$
            CREATE OR REPLACE FUNCTION %I.now_1(fixed boolean, seen bigint, base bigint) RETURNS bigint
            LANGUAGE sql VOLATILE AS $$
                SELECT CASE WHEN fixed THEN seen ELSE greatest(seen, t.now::bigint, (t.now * 0.875)::bigint + base) END
                FROM (SELECT (extract(epoch FROM clock_timestamp())
                    + coalesce(current_setting('lazuli.skew', true), '0')::int) * 10000000 AS now) AS t
            $$ $f$, s);
    END LOOP;
END
$do$"#;

fn others(leader: usize) -> impl Iterator<Item = usize> {
    (0..3).filter(move |node| *node != leader)
}

pub async fn run(options: &Options) -> Trial<Outcome> {
    let Some(patroni) = tokio::task::block_in_place(Patroni::start) else {
        return Ok(Outcome::Skipped("Patroni or etcd cannot be had"));
    };
    let url = patroni.url();
    let patroni = Arc::new(Mutex::new(patroni));
    let mut remarks = Vec::new();
    let with = |act: Act| {
        let mut options = options.clone();
        (options.seconds, options.rounds) = (SECONDS, 1);
        options.database = Some(url.clone());
        let nodes = patroni.clone();
        options.fault = Some(Fault(Arc::new(move || {
            let mut nodes = nodes.lock().map_err(|_| "a fault failed")?;
            let leader = nodes.leader().ok_or("no leader")?;
            act(&mut nodes, leader)
        })));
        options
    };
    for (what, act) in FAULTS {
        let told = history::run::<Blobs>(&with(act)).await.map_err(|reason| format!("{what}: {reason}"))?;
        remarks.push(format!("{what}: {told}"));
        tokio::task::block_in_place(|| whole_again(&patroni))?;
    }
    let (what, act) = FAULTS[0];
    let told = delivery::run(&with(act)).await.map_err(|reason| format!("{what}, messages: {reason}"))?;
    remarks.push(format!("{what}: {told}"));
    Ok(Outcome::Passed(remarks.join("; ")))
}

/// Agents that are dead come back, and with them their nodes.
fn whole_again(patroni: &Mutex<Patroni>) -> Trial {
    let mut patroni = patroni.lock().map_err(|_| "a fault failed")?;
    for node in 0..3 {
        patroni.mend_etcd(node);
        patroni.kill_agent(node);
        patroni.come_back(node);
    }
    patroni.wait_until_whole();
    Ok(())
}
