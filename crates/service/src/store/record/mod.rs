//! What the service keeps. The types here are those that operations read and change; how each of them looks on disk is
//! known to [`stored`] alone.

pub mod blob;
pub mod block;
pub mod container;
pub mod content;
pub mod copy_job;
pub mod dead_snapshots;
pub mod deleted_container;
pub mod deleted_share;
pub mod entity;
pub mod event;
pub mod existing;
pub mod kept_snapshots;
pub mod open;
pub mod path;
pub mod permission;
pub mod place;
pub mod queue;
pub mod server;
mod service_properties;
pub mod settings;
pub mod share;
mod stored;
pub mod table;
pub mod usage;
pub mod watch;

use bytes::Bytes;
use lazuli_engine::{Corrupt, EngineError};
use stored::Shape;

/// A type whose values are stored.
pub trait Record: Sized {
    /// As errors name it.
    const NAME: &'static str;

    /// The shape that is written today. The shapes before it are reached through [`Shape::Before`].
    type Newest: Shape + for<'a> From<&'a Self> + Into<Self>;

    fn encode(&self) -> Bytes {
        stored::write(&Self::Newest::from(self))
    }

    #[inline]
    fn decode(value: &[u8]) -> Result<Self, EngineError> {
        match stored::read::<Self::Newest>(value) {
            Ok(stored) => Ok(stored.into()),
            Err(why) => Err(corrupt(Self::NAME, &why)),
        }
    }

    /// The number of the newest shape; those before it are 1, 2, and so on.
    fn newest_shape() -> u8 {
        Self::Newest::NUMBER
    }
}

pub(crate) fn corrupt(name: &str, why: &str) -> EngineError {
    EngineError::Corrupt(Corrupt(format!("{name}: {why}")))
}
