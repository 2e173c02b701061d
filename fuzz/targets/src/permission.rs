//! Security descriptors and paths of files: what is read as text or as bytes is written so that it is read the same.

use lazuli_model::name::{FilePath, TrailingDots};
use lazuli_model::sddl::{BadDescriptor, PermissionKey, SecurityDescriptor};
use lazuli_model::smb::{FileAttributes, FileMode};

pub fn run(data: &[u8]) {
    if let Ok(read) = SecurityDescriptor::parse_bytes(data) {
        survives(&read);
    }
    let text = String::from_utf8_lossy(data);
    if let Ok(read) = SecurityDescriptor::parse_text(&text) {
        survives(&read);
        read.to_text().unwrap();
    }
    for dots in [TrailingDots::CutOff, TrailingDots::Kept] {
        let Ok(path) = FilePath::parse(&text, dots) else { continue };
        assert_eq!(FilePath::parse(&path.to_string(), dots).unwrap(), path, "{text}");
    }
    if let Some(attributes) = FileAttributes::parse(&text) {
        assert_eq!(FileAttributes::parse(&attributes.to_string()), Some(attributes));
    }
    if let Some(mode) = FileMode::parse(&text) {
        assert_eq!(FileMode::parse(&mode.to_string()), Some(mode));
    }
    if let Some(key) = PermissionKey::parse(&text) {
        assert_eq!(PermissionKey::parse(&key.to_string()), Some(key));
    }
}

fn survives(read: &SecurityDescriptor) {
    match read.to_bytes() {
        Ok(bytes) => assert_eq!(SecurityDescriptor::parse_bytes(&bytes).as_ref(), Ok(read)),
        Err(bad) => assert_eq!(bad, BadDescriptor::TooLong),
    }
    match read.to_text() {
        // A text may be longer than its bytes.
        Ok(text) if text.len() <= 64 * 1024 => {
            assert_eq!(SecurityDescriptor::parse_text(&text).as_ref(), Ok(read), "{text}")
        }
        Ok(_) => {}
        Err(bad) => assert_eq!(bad, BadDescriptor::NotText),
    }
}
