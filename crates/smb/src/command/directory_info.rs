//! The entries of QUERY_DIRECTORY (MS-FSCC 2.4).

use bytes::BufMut;
use lazuli_service::open_file::FileInfo;

use super::file_info::wire_attributes;
use crate::server::filetime;
use crate::wire::text::to_utf16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryClass {
    Directory,
    FullDirectory,
    BothDirectory,
    Names,
    IdBothDirectory,
    IdFullDirectory,
    IdExtdDirectory,
}

impl DirectoryClass {
    pub fn from_wire(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Directory,
            2 => Self::FullDirectory,
            3 => Self::BothDirectory,
            12 => Self::Names,
            37 => Self::IdBothDirectory,
            38 => Self::IdFullDirectory,
            60 => Self::IdExtdDirectory,
            _ => return None,
        })
    }
}

/// One entry. Its first four bytes, how far the next one is, are left for the caller.
pub fn encode(class: DirectoryClass, info: &FileInfo) -> Vec<u8> {
    let name = to_utf16(&info.name);
    let mut to = Vec::with_capacity(112 + name.len());
    to.put_u32_le(0);
    to.put_u32_le(0);
    if class == DirectoryClass::Names {
        to.put_u32_le(name.len() as u32);
        to.put_slice(&name);
        return to;
    }
    for time in [info.created, info.last_accessed, info.last_written, info.changed] {
        to.put_u64_le(filetime(time));
    }
    to.put_u64_le(info.length);
    to.put_u64_le(info.allocation);
    to.put_u32_le(wire_attributes(info));
    to.put_u32_le(name.len() as u32);
    // Behind the size of extended attributes, of which there are none: a short name, of which there is none either, the file's number.
    match class {
        DirectoryClass::Directory | DirectoryClass::Names => {}
        DirectoryClass::FullDirectory => to.put_u32_le(0),
        DirectoryClass::BothDirectory => {
            to.put_u32_le(0);
            to.put_bytes(0, 26);
        }
        DirectoryClass::IdBothDirectory => {
            to.put_u32_le(0);
            to.put_bytes(0, 26);
            to.put_u16_le(0);
            to.put_u64_le(info.file_id);
        }
        DirectoryClass::IdFullDirectory => {
            to.put_u32_le(0);
            to.put_u32_le(0);
            to.put_u64_le(info.file_id);
        }
        DirectoryClass::IdExtdDirectory => {
            to.put_u32_le(0);
            to.put_u32_le(0);
            to.put_u64_le(info.file_id);
            to.put_u64_le(0);
        }
    }
    to.put_slice(&name);
    to
}
