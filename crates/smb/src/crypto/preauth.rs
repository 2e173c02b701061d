//! The hash over everything that is said before a session has a key (MS-SMB2 3.3.5.4): a change of a word of the
//! negotiation changes the keys.

use aws_lc_rs::digest::{Context, SHA512};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreauthHash([u8; 64]);

impl Default for PreauthHash {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl PreauthHash {
    pub fn update(&mut self, message: &[u8]) {
        let mut context = Context::new(&SHA512);
        context.update(&self.0);
        context.update(message);
        self.0.copy_from_slice(context.finish().as_ref());
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
