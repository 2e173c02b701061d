//! Get Block List.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lazuli_model::error::Failure;
use lazuli_service::Answer;
use lazuli_service::blob::{BlockListKind, BlockLists, GetBlockList};

use crate::call::Call;
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
    let lists = input.execute(&call.services, &call.context).await?;
    let committed_blob = lists.committed_blob;
    let text = match lists.is_long() {
        true => call.services.aside(document(lists)).await.and_then(|built| built),
        false => document(lists).await,
    };
    let mut reply = Reply::of(call.row).xml(text?);
    if let Some((stamped, length)) = committed_blob {
        reply = reply.stamped(stamped).header(headers::X_MS_BLOB_CONTENT_LENGTH, length);
    }
    Ok(reply)
}

async fn document(lists: BlockLists) -> Answer<String> {
    let mut writer = Writer::new();
    writer.open("BlockList");
    if lists.shows_committed() {
        let mut list = BlockWriter::new(&mut writer, "CommittedBlocks");
        lists.committed(|id, size| list.block(id, size)).await?;
        list.close();
    }
    if lists.shows_uncommitted() {
        let mut list = BlockWriter::new(&mut writer, "UncommittedBlocks");
        lists.uncommitted(|id, size| list.block(id, size)).await?;
        list.close();
    }
    writer.close("BlockList");
    Ok(writer.finish())
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

/// Writes a list as its blocks come in; one without blocks is an empty element.
struct BlockWriter<'a> {
    writer: &'a mut Writer,
    name: &'static str,
    is_open: bool,
}

impl<'a> BlockWriter<'a> {
    fn new(writer: &'a mut Writer, name: &'static str) -> Self {
        Self { writer, name, is_open: false }
    }

    fn block(&mut self, id: &[u8], size: u64) {
        if !std::mem::replace(&mut self.is_open, true) {
            self.writer.open(self.name);
        }
        self.writer.open("Block");
        self.writer.element("Name", &BASE64_STANDARD.encode(id));
        self.writer.number("Size", size);
        self.writer.close("Block");
    }

    fn close(self) {
        match self.is_open {
            true => self.writer.close(self.name),
            false => self.writer.empty(self.name),
        }
    }
}
