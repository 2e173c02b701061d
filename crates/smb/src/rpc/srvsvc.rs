//! The interface `srvsvc` (MS-SRVS): which shares there are.

use super::ndr::{Reader, Writer};
use super::pdu::{FAULT_BAD_STUB, FAULT_OPERATION_RANGE};
use crate::status::Malformed;

const INTERFACE: [u8; 16] =
    [0xC8, 0x4F, 0x32, 0x4B, 0x70, 0x16, 0xD3, 0x01, 0x12, 0x78, 0x5A, 0x47, 0xBF, 0x6E, 0xE1, 0x88];

mod operation {
    pub const SHARE_ENUM: u16 = 15;
    pub const SHARE_GET_INFO: u16 = 16;
    pub const SERVER_GET_INFO: u16 = 21;
}

const OK: u32 = 0;
const ERROR_INVALID_LEVEL: u32 = 124;
const NERR_NET_NAME_NOT_FOUND: u32 = 2310;
const TYPE_DISK: u32 = 0;
const TYPE_IPC: u32 = 0x8000_0003;

/// What the interface asks of the server.
pub trait Directory: Sync {
    /// The names of the shares that the client's account has.
    fn shares(&self) -> impl Future<Output = Vec<String>> + Send;

    fn server_name(&self) -> &str;
}

pub fn is_it(interface: &[u8; 16], version: u32) -> bool {
    *interface == INTERFACE && version == 3
}

/// The result's stub, or the code of a fault.
pub async fn call(operation: u16, stub: &[u8], directory: &impl Directory) -> Result<Vec<u8>, u32> {
    let answer = match operation {
        operation::SHARE_ENUM => share_enum(stub, directory).await,
        operation::SHARE_GET_INFO => share_get_info(stub, directory).await,
        operation::SERVER_GET_INFO => server_get_info(stub, directory),
        _ => return Err(FAULT_OPERATION_RANGE),
    };
    answer.map_err(|Malformed| FAULT_BAD_STUB)
}

struct Share {
    name: String,
    kind: u32,
    remark: &'static str,
}

async fn shares(directory: &impl Directory) -> Vec<Share> {
    let disk = |name| Share { name, kind: TYPE_DISK, remark: "" };
    let mut shares: Vec<Share> = directory.shares().await.into_iter().map(disk).collect();
    shares.push(Share { name: "IPC$".to_owned(), kind: TYPE_IPC, remark: "Remote IPC" });
    shares
}

impl Share {
    /// One of the `SHARE_INFO` structures; false for a level that is not known.
    fn write(&self, level: u32, to: &mut Writer) -> bool {
        match level {
            0 => to.text(&self.name),
            1 | 2 | 501 | 502 => {
                to.text(&self.name);
                to.u32(self.kind);
                to.text(self.remark);
                match level {
                    501 => to.u32(0),
                    2 | 502 => {
                        // Permissions, the most uses, the uses now, the path, the password.
                        to.u32(0);
                        to.u32(u32::MAX);
                        to.u32(1);
                        to.text("");
                        to.null();
                        if level == 502 {
                            // No descriptor of who may: its length and itself.
                            to.u32(0);
                            to.null();
                        }
                    }
                    _ => {}
                }
            }
            _ => return false,
        }
        true
    }
}

fn is_level(level: u32) -> bool {
    matches!(level, 0 | 1 | 2 | 501 | 502)
}

async fn share_enum(stub: &[u8], directory: &impl Directory) -> Result<Vec<u8>, Malformed> {
    let mut from = Reader::new(stub);
    let _server = from.unique_string()?;
    let level = from.u32()?;
    let mut to = Writer::default();
    to.u32(level);
    to.u32(level);
    if !is_level(level) {
        to.null();
        to.u32(0);
        to.null();
        to.u32(ERROR_INVALID_LEVEL);
        return Ok(to.finish());
    }
    let shares = shares(directory).await;
    let count = shares.len() as u32;
    to.referent();
    to.u32(count);
    to.referent();
    to.u32(count);
    shares.iter().for_each(|share| {
        share.write(level, &mut to);
    });
    to.flush();
    to.u32(count);
    to.null();
    to.u32(OK);
    Ok(to.finish())
}

async fn share_get_info(stub: &[u8], directory: &impl Directory) -> Result<Vec<u8>, Malformed> {
    let mut from = Reader::new(stub);
    let _server = from.unique_string()?;
    let name = from.string()?;
    let level = from.u32()?;
    let shares = shares(directory).await;
    let found = shares.iter().find(|share| share.name.eq_ignore_ascii_case(&name));
    let mut to = Writer::default();
    to.u32(level);
    let status = match found {
        _ if !is_level(level) => ERROR_INVALID_LEVEL,
        None => NERR_NET_NAME_NOT_FOUND,
        Some(share) => {
            to.referent();
            share.write(level, &mut to);
            to.flush();
            to.u32(OK);
            return Ok(to.finish());
        }
    };
    to.null();
    to.u32(status);
    Ok(to.finish())
}

fn server_get_info(stub: &[u8], directory: &impl Directory) -> Result<Vec<u8>, Malformed> {
    const PLATFORM_NT: u32 = 500;
    const TYPE_SERVER: u32 = 0x0000_9003;
    let mut from = Reader::new(stub);
    let _server = from.unique_string()?;
    let level = from.u32()?;
    let mut to = Writer::default();
    to.u32(level);
    if !matches!(level, 100 | 101) {
        to.null();
        to.u32(ERROR_INVALID_LEVEL);
        return Ok(to.finish());
    }
    to.referent();
    to.u32(PLATFORM_NT);
    to.text(directory.server_name());
    if level == 101 {
        to.u32(6);
        to.u32(1);
        to.u32(TYPE_SERVER);
        to.text("");
    }
    to.flush();
    to.u32(OK);
    Ok(to.finish())
}
