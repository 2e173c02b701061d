//! What a client asks for when it opens a file, and what it gets.

pub use lazuli_model::admission::open::Disposition;
use lazuli_model::name::{TrailingDots, file_name};
use lazuli_model::sddl::SecurityDescriptor;
use lazuli_model::time::Timestamp;

use super::{
    AccessMask, Caching, DurableGranted, DurableWanted, FileAttributes, FileInfo, OpenFile, OplockLevel,
    Outcome, Refusal, Rights,
};

#[derive(Clone, Debug)]
pub struct Create {
    /// Name by name from the root: see [`parse_path`].
    pub path: Vec<String>,
    /// A previous version: the snapshot of this moment, or the first one of this second.
    pub snapshot: Option<Timestamp>,
    pub desired_access: AccessMask,
    pub share_access: Rights,
    pub disposition: Disposition,
    pub options: CreateOptions,
    /// Of a file that is made or overwritten.
    pub attributes: FileAttributes,
    /// Of a file that is made; without one it inherits.
    pub security: Option<SecurityDescriptor>,
    /// Checked against the quota; files take no room before they are written.
    pub allocation_size: u64,
    pub caching: CachingWanted,
    pub durable: Option<DurableWanted>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreateOptions {
    /// It is, or is to be, a directory.
    pub directory: bool,
    pub non_directory: bool,
    pub delete_on_close: bool,
    /// Kept for the client to ask for; every write is durable here before it is answered.
    pub write_through: bool,
    pub sequential_only: bool,
    pub no_intermediate_buffering: bool,
    pub random_access: bool,
}

impl CreateOptions {
    /// As [MS-SMB2] section 2.2.13 numbers them.
    const BITS: [u32; 7] = [0x01, 0x40, 0x1000, 0x02, 0x04, 0x08, 0x800];

    fn flags(&mut self) -> [&mut bool; 7] {
        let Self {
            directory,
            non_directory,
            delete_on_close,
            write_through,
            sequential_only,
            no_intermediate_buffering,
            random_access,
        } = self;
        [
            directory,
            non_directory,
            delete_on_close,
            write_through,
            sequential_only,
            no_intermediate_buffering,
            random_access,
        ]
    }

    pub fn from_bits(bits: u32) -> Self {
        let mut options = Self::default();
        for (flag, bit) in options.flags().into_iter().zip(Self::BITS) {
            *flag = bits & bit != 0;
        }
        options
    }

    pub fn bits(mut self) -> u32 {
        let set = |(flag, bit): (&mut bool, u32)| if *flag { bit } else { 0 };
        self.flags().into_iter().zip(Self::BITS).map(set).sum()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CachingWanted {
    #[default]
    None,
    Oplock(OplockLevel),
    Lease(LeaseWanted),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseWanted {
    pub key: u128,
    pub state: Caching,
    pub version: LeaseVersion,
    /// Of the directory that the file stands in (version 2).
    pub parent: Option<u128>,
    /// What the client counts from (version 2).
    pub epoch: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeaseVersion {
    One,
    Two,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CachingGranted {
    #[default]
    None,
    Oplock(OplockLevel),
    Lease {
        key: u128,
        state: Caching,
        version: LeaseVersion,
        parent: Option<u128>,
        epoch: u16,
        /// A break of it is under way.
        breaking: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CreateAction {
    Superseded,
    Opened,
    Created,
    Overwritten,
}

pub struct Created {
    pub file: OpenFile,
    pub action: CreateAction,
    pub info: FileInfo,
    /// What the client could have asked for (`MxAc`).
    pub maximal_access: AccessMask,
    pub caching: CachingGranted,
    pub durable: Option<DurableGranted>,
}

/// The names of a path with backslashes between them, in UTF-8; none for the root. The main stream of a file may be named
/// (`::$DATA`), other streams are refused.
pub fn parse_path(text: &str) -> Outcome<Vec<String>> {
    let text = text.strip_suffix("::$DATA").unwrap_or(text);
    if text.is_empty() {
        return Ok(Vec::new());
    }
    if text.starts_with('\\') {
        return Err(Refusal::InvalidParameter);
    }
    let text = text.strip_suffix('\\').unwrap_or(text);
    if text.encode_utf16().count() > 2_048 || text.split('\\').count() > 250 {
        return Err(Refusal::ObjectNameInvalid);
    }
    let name = |name: &str| match name {
        "." | ".." => Err(Refusal::ObjectPathSyntaxBad),
        _ => file_name(name, TrailingDots::Kept).map_err(|_| Refusal::ObjectNameInvalid),
    };
    text.split('\\').map(name).collect()
}
