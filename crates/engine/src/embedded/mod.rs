//! placeholder
use crate::error::EngineError;
use crate::key::{KeyRange, Value};
use crate::store::{Group, Row, Step};
use crate::txn::Ticks;

pub(crate) struct Embedded {}
pub(crate) struct EmbeddedSnapshot {}

impl Embedded {
    pub fn apply(&self, _group: Group) -> Result<(), EngineError> {
        Err(EngineError::Unavailable("not built"))
    }
    pub fn snapshot(&self, _seq: u64) -> EmbeddedSnapshot {
        EmbeddedSnapshot {}
    }
    pub fn note(&self, _seq: u64, _now: Ticks, _clean: bool) -> Result<(), EngineError> {
        Ok(())
    }
}

impl EmbeddedSnapshot {
    pub fn seq(&self) -> u64 {
        0
    }
    pub fn get(&self, _key: &[u8]) -> Result<Option<(u64, Value)>, EngineError> {
        Ok(None)
    }
    pub fn walk(
        &self,
        _range: &KeyRange,
        _reverse: bool,
        _visit: &mut dyn FnMut(Row) -> Step,
    ) -> Result<(), EngineError> {
        Ok(())
    }
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub extents: crate::extent::ExtentOptions,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{0}")]
    NotBuilt(&'static str),
}

pub(crate) fn open(
    _dir: &std::path::Path,
    _options: Options,
    _host: crate::host::Host,
) -> Result<crate::core::Core, OpenError> {
    Err(OpenError::NotBuilt("embedded"))
}
