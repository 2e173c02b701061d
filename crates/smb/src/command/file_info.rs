//! What QUERY_INFO tells of a file (MS-FSCC 2.4).

use std::sync::atomic::Ordering;

use bytes::BufMut;
use lazuli_service::open_file::FileInfo;

use crate::server::filetime;
use crate::server::open::File;
use crate::wire::text::to_utf16;

const NORMAL: u32 = 0x80;
const DIRECTORY: u32 = 0x10;
/// Bytes of a cluster: what a client takes allocations to be multiples of.
pub const CLUSTER: u64 = 4096;

/// The classes that are asked for by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileClass {
    Basic,
    Standard,
    Internal,
    Ea,
    Access,
    Name,
    Position,
    FullEa,
    Mode,
    Alignment,
    All,
    AlternateName,
    Stream,
    Compression,
    NetworkOpen,
    AttributeTag,
    NormalizedName,
    Id,
}

impl FileClass {
    pub fn from_wire(code: u8) -> Option<Self> {
        Some(match code {
            4 => Self::Basic,
            5 => Self::Standard,
            6 => Self::Internal,
            7 => Self::Ea,
            8 => Self::Access,
            9 => Self::Name,
            14 => Self::Position,
            15 => Self::FullEa,
            16 => Self::Mode,
            17 => Self::Alignment,
            18 => Self::All,
            21 => Self::AlternateName,
            22 => Self::Stream,
            28 => Self::Compression,
            34 => Self::NetworkOpen,
            35 => Self::AttributeTag,
            48 => Self::NormalizedName,
            59 => Self::Id,
            _ => return None,
        })
    }

    /// Of the part that must fit; a client with less room is told nothing.
    pub fn fixed(self) -> usize {
        match self {
            Self::Basic => 40,
            Self::Standard | Self::Id => 24,
            Self::Stream => 32,
            Self::Internal | Self::Position | Self::AttributeTag => 8,
            Self::Ea | Self::Access | Self::Mode | Self::Alignment | Self::FullEa => 4,
            Self::Name | Self::NormalizedName | Self::AlternateName => 8,
            Self::All => 104,
            Self::Compression => 16,
            Self::NetworkOpen => 56,
        }
    }
}

/// As the protocol has them: no attribute at all is one of its own.
pub fn wire_attributes(info: &FileInfo) -> u32 {
    let bits = info.attributes.bits() | if info.is_directory { DIRECTORY } else { 0 };
    if bits == 0 { NORMAL } else { bits }
}

/// `path` is the whole one, for the classes that tell it.
pub fn encode(class: FileClass, file: &File, info: &FileInfo, path: &str) -> Vec<u8> {
    let mut to = Vec::new();
    match class {
        FileClass::Basic => basic(&mut to, info),
        FileClass::Standard => standard(&mut to, info),
        FileClass::Internal => to.put_u64_le(info.file_id),
        FileClass::Ea => to.put_u32_le(0),
        FileClass::Access => to.put_u32_le(file.file.granted_access().0),
        FileClass::Position => to.put_u64_le(file.position.load(Ordering::Relaxed)),
        FileClass::Mode => to.put_u32_le(file.mode.load(Ordering::Relaxed) as u32),
        FileClass::Alignment => to.put_u32_le(0),
        FileClass::Name => name(&mut to, &format!("\\{path}")),
        FileClass::NormalizedName => name(&mut to, path),
        FileClass::All => {
            basic(&mut to, info);
            standard(&mut to, info);
            to.put_u64_le(info.file_id);
            to.put_u32_le(0);
            to.put_u32_le(file.file.granted_access().0);
            to.put_u64_le(file.position.load(Ordering::Relaxed));
            to.put_u32_le(file.mode.load(Ordering::Relaxed) as u32);
            to.put_u32_le(0);
            name(&mut to, &format!("\\{path}"));
        }
        FileClass::Stream => {
            // The only stream of a file; a directory has none.
            if !info.is_directory {
                let name = to_utf16("::$DATA");
                to.put_u32_le(0);
                to.put_u32_le(name.len() as u32);
                to.put_u64_le(info.length);
                to.put_u64_le(info.allocation);
                to.put_slice(&name);
            }
        }
        FileClass::Compression => {
            to.put_u64_le(info.allocation);
            to.put_bytes(0, 8);
        }
        FileClass::NetworkOpen => {
            times(&mut to, info);
            to.put_u64_le(info.allocation);
            to.put_u64_le(info.length);
            to.put_u32_le(wire_attributes(info));
            to.put_u32_le(0);
        }
        FileClass::AttributeTag => {
            to.put_u32_le(wire_attributes(info));
            to.put_u32_le(0);
        }
        FileClass::Id => {
            to.put_u64_le(0);
            to.put_u64_le(info.file_id);
            to.put_u64_le(0);
        }
        // There are none: answered before this.
        FileClass::FullEa | FileClass::AlternateName => {}
    }
    to
}

fn times(to: &mut Vec<u8>, info: &FileInfo) {
    for time in [info.created, info.last_accessed, info.last_written, info.changed] {
        to.put_u64_le(filetime(time));
    }
}

fn basic(to: &mut Vec<u8>, info: &FileInfo) {
    times(to, info);
    to.put_u32_le(wire_attributes(info));
    to.put_u32_le(0);
}

fn standard(to: &mut Vec<u8>, info: &FileInfo) {
    to.put_u64_le(info.allocation);
    to.put_u64_le(info.length);
    to.put_u32_le(info.links);
    to.put_u8(u8::from(info.delete_pending));
    to.put_u8(u8::from(info.is_directory));
    to.put_u16_le(0);
}

fn name(to: &mut Vec<u8>, text: &str) {
    let name = to_utf16(text);
    to.put_u32_le(name.len() as u32);
    to.put_slice(&name);
}
