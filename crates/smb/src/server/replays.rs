//! CREATEs that a client may send again because it has lost its connection before it had the answer (MS-SMB2 3.3.5.9.10).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lazuli_service::open_file::CreateAction;
use parking_lot::Mutex;

/// A durable open lasts no longer without a connection.
const KEPT_FOR: Duration = Duration::from_secs(300);
/// How many are remembered. A client whose CREATE is forgotten sends a new one; its lost open is closed for that.
const REMEMBERED: usize = 16_384;

/// Whose CREATE: a client's guid is its own, and its create guids are unique.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateName {
    pub account: Arc<str>,
    pub client: [u8; 16],
    pub guid: u128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// By which the service knows the open.
    pub handle: u64,
    pub action: CreateAction,
}

/// Durable opens that have lost their connection, by the CREATE that made them.
#[derive(Default)]
pub struct Replays(Mutex<HashMap<CreateName, (Made, Instant)>>);

impl Replays {
    pub fn remember(&self, name: CreateName, made: Made) {
        let mut all = self.0.lock();
        if all.len() >= REMEMBERED {
            all.retain(|_, (_, since)| since.elapsed() < KEPT_FOR);
        }
        if all.len() < REMEMBERED {
            all.insert(name, (made, Instant::now()));
        }
    }

    pub fn find(&self, name: &CreateName) -> Option<Made> {
        self.0.lock().get(name).map(|(made, _)| *made)
    }

    /// It was taken up again, or is over.
    pub fn forget(&self, name: &CreateName) {
        self.0.lock().remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_client_finds_a_create_and_memory_is_bounded() {
        let replays = Replays::default();
        let name = |client: u8, guid| CreateName { account: "a".into(), client: [client; 16], guid };
        let made = |handle| Made { handle, action: CreateAction::Created };
        replays.remember(name(1, 7), made(9));
        assert_eq!(replays.find(&name(1, 7)), Some(made(9)));
        assert_eq!(replays.find(&name(2, 7)), None);
        for guid in 0..2 * REMEMBERED as u64 {
            replays.remember(name(3, guid.into()), made(guid));
        }
        assert_eq!(replays.0.lock().len(), REMEMBERED);
        replays.forget(&name(1, 7));
        assert_eq!(replays.find(&name(1, 7)), None);
    }
}
