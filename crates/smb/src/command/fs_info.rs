//! What QUERY_INFO tells of the volume that a share is (MS-FSCC 2.5).

use bytes::BufMut;
use lazuli_service::open_file::Volume;

use super::file_info::CLUSTER;
use crate::server::filetime;
use crate::wire::text::to_utf16;

const SECTOR: u32 = 512;
const DISK: u32 = 7;
/// Mounted, and reached over the network.
const CHARACTERISTICS: u32 = 0x20 | 0x10;
/// Names keep their case and may be any of Unicode; security descriptors are kept.
const ATTRIBUTES: u32 = 0x0000_0002 | 0x0000_0004 | 0x0000_0008;
const NAME_MAX: u32 = 255;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FsClass {
    Volume,
    Size,
    Device,
    Attribute,
    Control,
    FullSize,
    ObjectId,
    SectorSize,
}

impl FsClass {
    pub fn from_wire(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Volume,
            3 => Self::Size,
            4 => Self::Device,
            5 => Self::Attribute,
            6 => Self::Control,
            7 => Self::FullSize,
            8 => Self::ObjectId,
            11 => Self::SectorSize,
            _ => return None,
        })
    }

    pub fn fixed(self) -> usize {
        match self {
            Self::Volume | Self::Size => 24,
            Self::Device => 8,
            Self::Attribute => 16,
            Self::Control => 48,
            Self::FullSize => 32,
            Self::ObjectId => 64,
            Self::SectorSize => 28,
        }
    }
}

pub fn encode(class: FsClass, volume: &Volume) -> Vec<u8> {
    let mut to = Vec::new();
    let clusters = |bytes: u64| bytes / CLUSTER;
    match class {
        FsClass::Volume => {
            let label = to_utf16(&volume.label);
            to.put_u64_le(filetime(volume.created));
            to.put_u32_le(volume.serial);
            to.put_u32_le(label.len() as u32);
            to.put_u16_le(0);
            to.put_slice(&label);
        }
        FsClass::Size => {
            to.put_u64_le(clusters(volume.total));
            to.put_u64_le(clusters(volume.free));
            to.put_u32_le(CLUSTER as u32 / SECTOR);
            to.put_u32_le(SECTOR);
        }
        FsClass::FullSize => {
            to.put_u64_le(clusters(volume.total));
            to.put_u64_le(clusters(volume.free));
            to.put_u64_le(clusters(volume.free));
            to.put_u32_le(CLUSTER as u32 / SECTOR);
            to.put_u32_le(SECTOR);
        }
        FsClass::Device => {
            to.put_u32_le(DISK);
            to.put_u32_le(CHARACTERISTICS);
        }
        FsClass::Attribute => {
            let name = to_utf16("NTFS");
            to.put_u32_le(ATTRIBUTES);
            to.put_u32_le(NAME_MAX);
            to.put_u32_le(name.len() as u32);
            to.put_slice(&name);
        }
        // There are no quotas of single users.
        FsClass::Control => {
            to.put_bytes(0, 24);
            to.put_u64_le(u64::MAX);
            to.put_u64_le(u64::MAX);
            to.put_u64_le(0);
        }
        FsClass::ObjectId => {
            to.put_slice(&volume.id.to_le_bytes());
            to.put_bytes(0, 48);
        }
        FsClass::SectorSize => {
            for size in [SECTOR, CLUSTER as u32, CLUSTER as u32, CLUSTER as u32] {
                to.put_u32_le(size);
            }
            // Sectors are aligned, partitions too.
            to.put_u32_le(3);
            to.put_u32_le(0);
            to.put_u32_le(0);
        }
    }
    to
}
