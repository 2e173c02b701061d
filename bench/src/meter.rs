//! What a process costs, read from `/proc`.

use std::time::{Duration, Instant};

/// Of `/proc/PID/stat`; fixed at 100 on every Linux there is.
const TICKS_PER_SECOND: f64 = 100.0;

/// A part of a run between [`Meter::start`] and [`Meter::stop`].
pub struct Meter {
    process: u32,
    began: Instant,
    cpu: f64,
    own: f64,
    machine: f64,
    stolen: f64,
}

#[derive(Clone, Debug)]
pub struct Cost {
    pub seconds: f64,
    /// CPU seconds of the server.
    pub cpu: f64,
    /// CPU seconds of the client.
    pub client_cpu: f64,
    /// Cores that others kept busy meanwhile, the kernel's own threads among them.
    pub others: f64,
    /// Cores that the host of a virtual machine took away meanwhile; among the others.
    pub stolen: f64,
    /// Resident memory of the server at the end, in MiB.
    pub resident: f64,
}

impl Cost {
    /// Of both together; the memory is that of the end.
    pub fn and(&self, next: &Self) -> Self {
        let seconds = self.seconds + next.seconds;
        Self {
            seconds,
            cpu: self.cpu + next.cpu,
            client_cpu: self.client_cpu + next.client_cpu,
            others: (self.others * self.seconds + next.others * next.seconds) / seconds,
            stolen: (self.stolen * self.seconds + next.stolen * next.seconds) / seconds,
            resident: next.resident,
        }
    }
}

impl Meter {
    pub fn start(process: u32) -> Self {
        Self {
            process,
            cpu: server_seconds(process),
            own: cpu_seconds(std::process::id()),
            machine: machine_seconds(),
            stolen: stolen_seconds(),
            began: Instant::now(),
        }
    }

    pub fn stop(&self) -> Cost {
        let seconds = self.began.elapsed().as_secs_f64().max(1e-6);
        let cpu = server_seconds(self.process) - self.cpu;
        let client_cpu = cpu_seconds(std::process::id()) - self.own;
        let machine = machine_seconds() - self.machine;
        Cost {
            seconds,
            cpu,
            client_cpu,
            others: ((machine - cpu - client_cpu) / seconds).max(0.0),
            stolen: (stolen_seconds() - self.stolen) / seconds,
            resident: family(self.process).map(resident).sum(),
        }
    }
}

/// Of a process, of its children, and of those that are gone.
pub fn cpu_of(process: u32) -> f64 {
    let gone = stat(process, 13);
    family(process).map(cpu_seconds).sum::<f64>() + gone
}

/// Of a server and the workers that it started.
fn server_seconds(process: u32) -> f64 {
    family(process).map(cpu_seconds).sum()
}

fn family(process: u32) -> impl Iterator<Item = u32> {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.unwrap_or_default();
    let children: Vec<u32> = children.split_whitespace().filter_map(|child| child.parse().ok()).collect();
    std::iter::once(process).chain(children)
}

/// User and system time of all threads. The name, in parentheses, may hold spaces: fields count after it.
fn cpu_seconds(process: u32) -> f64 {
    stat(process, 11)
}

/// Two neighbouring times of a process in seconds, the first at this place behind its name.
fn stat(process: u32, at: usize) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().skip(at).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>()
        / TICKS_PER_SECOND
}

/// Everything but idle and waiting for the disk.
fn machine_seconds() -> f64 {
    machine().enumerate().filter(|(at, _)| !matches!(at, 3 | 4)).map(|(_, seconds)| seconds).sum()
}

fn stolen_seconds() -> f64 {
    machine().nth(7).unwrap_or_default()
}

/// Seconds of all cores: user, nice, system, idle, waiting for the disk, two kinds of interrupts, stolen.
fn machine() -> impl Iterator<Item = f64> {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = stat.lines().next().unwrap_or_default();
    let ticks = line.split_whitespace().skip(1).take(8).map(|ticks| ticks.parse::<f64>().unwrap_or_default());
    ticks.map(|ticks| ticks / TICKS_PER_SECOND).collect::<Vec<_>>().into_iter()
}

fn resident(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<f64>().ok()).unwrap_or_default() / 1024.0
}

/// Waits until the processes have nothing left to do of what came before: the emulator writes its whole
/// database seconds after the last request, and our tables are merged for some time after a million writes.
/// Neither must be counted for what comes next.
pub async fn quiet(processes: &[u32]) {
    const LOOK: Duration = Duration::from_millis(250);
    const IDLE: f64 = 0.02;
    /// Two minutes.
    const LOOKS: usize = 480;
    const LONG: Duration = Duration::from_secs(5);
    let began = Instant::now();
    rustix::fs::sync();
    let all = || processes.iter().map(|process| server_seconds(*process)).sum::<f64>();
    let mut before = all();
    let mut calm = 0;
    for _ in 0..LOOKS {
        tokio::time::sleep(LOOK).await;
        let now = all();
        calm = if now - before <= IDLE { calm + 1 } else { 0 };
        before = now;
        if calm >= 2 {
            break;
        }
    }
    let waited = began.elapsed();
    if waited > LONG {
        eprintln!("{:.0} s until the servers were idle", waited.as_secs_f64());
    }
}
