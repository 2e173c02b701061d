//! Get Block List.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::error::Failure;
use lazuli_service::blob::{BlockListKind, GetBlockList};

use crate::call::Call;
use crate::front::unwrap;
use crate::headers;
use crate::reply::Reply;
use crate::xml::Writer;

pub async fn get_block_list(call: Call) -> Result<Reply, Failure> {
    // Those who come without a credential see what is published, not what is being prepared.
    let kind = match call.head.query("blocklisttype") {
        _ if call.grant.anonymous => BlockListKind::Committed,
        None => BlockListKind::Committed,
        Some(text) => kind(text)?,
    };
    let input = GetBlockList {
        at: call.blob(),
        snapshot: call.snapshot(),
        preconditions: call.preconditions()?,
        kind,
    };
    let lists = input.execute(&call.services, &call.context).await.map_err(unwrap)?;
    let mut writer = Writer::new();
    writer.open("BlockList");
    write(&mut writer, "CommittedBlocks", lists.committed.as_deref());
    write(&mut writer, "UncommittedBlocks", lists.uncommitted.as_deref());
    writer.close("BlockList");
    let mut reply = Reply::xml(200, writer.finish());
    if let Some((stamped, length)) = lists.committed_blob {
        reply =
            reply.etag(stamped.etag, stamped.last_modified).header(headers::X_MS_BLOB_CONTENT_LENGTH, length);
    }
    Ok(reply)
}

fn kind(text: &str) -> Result<BlockListKind, Failure> {
    let known = [
        ("committed", BlockListKind::Committed),
        ("uncommitted", BlockListKind::Uncommitted),
        ("all", BlockListKind::All),
    ];
    let found = known.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
    found.map(|(_, kind)| kind).ok_or_else(|| Failure::invalid_query("blocklisttype", text, ""))
}

fn write(writer: &mut Writer, name: &str, blocks: Option<&[(Vec<u8>, u64)]>) {
    let Some(blocks) = blocks else { return };
    if blocks.is_empty() {
        return writer.empty(name);
    }
    writer.open(name);
    for (id, size) in blocks {
        writer.open("Block");
        writer.element("Name", &BASE64_STANDARD.encode(id));
        writer.number("Size", *size);
        writer.close("Block");
    }
    writer.close(name);
}
