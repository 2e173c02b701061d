//! File descriptors: what the process holds besides, what the engine gets, and what is left for connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Standard streams, the listeners, signals, the log, and a file that is read now and then.
const OWN: usize = 16;
/// Of a runtime, of which there is one for each lane and one besides.
const RUNTIME: usize = 3;
const FEWEST_CONNECTIONS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    pub engine: usize,
    pub connections: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found} file descriptors are too few: {needed} are needed. Raise the limit of the process (ulimit -n, LimitNOFILE)"
)]
pub struct TooFew {
    found: usize,
    needed: usize,
}

/// What an engine takes at least and can use at most.
#[derive(Clone, Copy, Debug)]
pub struct EngineWants {
    pub fewest: usize,
    pub most: usize,
}

/// How many there are. The soft limit is raised to the hard one.
pub fn limit() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let current = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    current.map_or(usize::MAX, |current| usize::try_from(current).unwrap_or(usize::MAX))
}

/// As many connections as are wanted, as far as there are descriptors; the engine comes first.
pub fn share(
    limit: usize,
    lanes: usize,
    admin: usize,
    wants: EngineWants,
    wanted: usize,
) -> Result<Share, TooFew> {
    let own = OWN + RUNTIME * (lanes + 1) + admin;
    let needed = own + wants.fewest + FEWEST_CONNECTIONS.min(wanted);
    let Some(spare) = limit.checked_sub(needed) else { return Err(TooFew { found: limit, needed }) };
    // Files are opened again when they are needed; a connection that is not taken waits.
    let engine = (wants.fewest + spare / 4).min(wants.most);
    let connections = (limit - own - engine).min(wanted);
    Ok(Share { engine, connections })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTS: EngineWants = EngineWants { fewest: 90, most: 800 };

    #[test]
    fn all_together_never_exceed_the_limit() {
        let Err(TooFew { needed, .. }) = share(0, 2, 16, WANTS, 8_192) else { panic!("none is enough") };
        assert!(needed <= 160, "{needed}");
        assert_eq!(share(needed - 1, 2, 16, WANTS, 8_192), Err(TooFew { found: needed - 1, needed }));
        for limit in needed..30_000 {
            let Share { engine, connections } = share(limit, 2, 16, WANTS, 8_192).expect("enough");
            assert!(engine >= WANTS.fewest && connections >= FEWEST_CONNECTIONS);
            assert!(OWN + 3 * RUNTIME + 16 + engine + connections <= limit);
        }
        let plenty = share(1 << 20, 2, 16, WANTS, 8_192).expect("enough");
        assert_eq!(plenty, Share { engine: 800, connections: 8_192 });
        assert_eq!(share(usize::MAX, 2, 16, WANTS, 3).map(|share| share.connections), Ok(3));
    }

    #[test]
    fn the_message_says_how_many_are_needed() {
        let message = TooFew { found: 64, needed: 160 }.to_string();
        assert!(message.contains("64") && message.contains("160") && message.contains("ulimit"), "{message}");
    }
}
