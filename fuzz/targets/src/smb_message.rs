//! What arrives over SMB before anybody is known: frames, headers, chains, negotiations, and the contexts of CREATE.

use bytes::Bytes;
use lazuli_smb::command::contexts::CreateContexts;
use lazuli_smb::wire::negotiate::{Dialect, NegotiateRequest};
use lazuli_smb::wire::transform::TransformHeader;
use lazuli_smb::wire::{chain, frame, header, part, smb1};

const LONGEST: usize = 1 << 20;

pub fn run(data: &[u8]) {
    if let Some((prefix, rest)) = data.split_first_chunk() {
        if let Ok(Some(length)) = frame::announced(*prefix, LONGEST) {
            assert!(length <= LONGEST);
            assert_eq!(frame::prefix(length), *prefix);
        }
        message(rest);
    }
    message(data);
}

fn message(data: &[u8]) {
    let _ = smb1::negotiate(data);
    if let Ok(transform) = TransformHeader::parse(data) {
        let mut again = Vec::new();
        transform.write(&mut again);
        assert_eq!(TransformHeader::parse(&again), Ok(transform));
    }
    let whole = Bytes::copy_from_slice(data);
    if let Ok(messages) = chain::split(data) {
        assert!(!messages.is_empty() && messages.len() <= chain::MESSAGES_MAX);
        let mut end = 0;
        for (range, header) in messages {
            assert_eq!(range.start, end, "messages follow one another");
            assert!(range.len() >= header::SIZE);
            end = range.end;
            let one = whole.slice(range);
            let (offset, length) =
                ((header.message_id & 0xFFFF) as usize, (header.session_id & 0xFFFF) as usize);
            if let Ok(part) = part(&one, offset, length) {
                assert_eq!(part.len(), length);
            }
            negotiation(&one);
        }
        assert_eq!(end, data.len(), "nothing is left over");
    }
    if let Ok(contexts) = CreateContexts::parse(&whole) {
        let kept = contexts.security.as_ref().map_or(0, Bytes::len);
        assert!(kept <= data.len());
        assert!(contexts.reconnect.is_none() || contexts.durable.is_none());
    }
}

fn negotiation(message: &Bytes) {
    let Ok(request) = NegotiateRequest::parse(message) else { return };
    assert!(!request.dialects.is_empty() && request.dialects.len() <= 64);
    if let Some(dialect) = Dialect::chosen(&request.dialects) {
        assert!(request.dialects.contains(&(dialect as u16)), "only what was offered is chosen");
    }
    assert_eq!(request.contexts.is_some(), request.dialects.contains(&0x0311));
}
