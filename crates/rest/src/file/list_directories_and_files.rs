//! List Directories and Files.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::smb::FileAttributes;
use lazuli_service::file::{Described, DirectoryPage, ListDirectoriesAndFiles, PathBody, PathRecord};
use lazuli_service::shared::marker::Position;

use super::address::{path, share_snapshot};
use super::tree_document::{Directory, Listed, Told, entry, open, told};
use crate::blob::list::{Entries, LIST_LIMIT, build};
use crate::call::Call;
use crate::decode;
use crate::reply::Reply;
use crate::xml::Writer;

pub async fn list_directories_and_files(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    let told = told(head)?;
    let path = path(head)?.to_string();
    let marker = head.query("marker").map(|text| Position::decode(text).ok_or(ErrorCode::OutOfRangeInput));
    let page = call.services.outgoing().page();
    let input = ListDirectoriesAndFiles {
        at: call.path()?,
        preconditions: call.preconditions()?,
        prefix: head.query("prefix").unwrap_or_default().to_owned(),
        marker: marker.transpose()?,
        max_results: decode::max_results(head, LIST_LIMIT)? as usize,
        max_bytes: page.bytes,
    };
    let max_results = input.max_results;
    let read = move |services, context, max_results| {
        let input = ListDirectoriesAndFiles { max_results, ..input.clone() };
        async move {
            let (directory, page) = input.execute(&services, &context).await?;
            let more = page.next.is_some();
            Ok(((directory, page), more))
        }
    };
    let print = move |call: &Call, (directory, entries): &(Described, DirectoryPage)| {
        document(call, &path, directory, entries, told, page.bytes)
    };
    let row = call.row;
    let text = build(call, max_results, read, print).await?;
    Ok(Reply::of(row).xml(text).within(page.share))
}

fn document(
    call: &Call,
    path: &str,
    directory: &Described,
    page: &DirectoryPage,
    told: Told,
    most: usize,
) -> String {
    let endpoint = call.service_endpoint();
    let directory = Directory {
        endpoint: &endpoint,
        share: &call.head.target.container,
        snapshot: share_snapshot(&call.head),
        path,
        id: directory.id,
    };
    let next = page.next.as_deref().map(DirectoryPage::behind);
    let entries = Entries { element: "Entries", items: &page.entries, next: next.as_ref() };
    let print = |writer: &mut Writer, record: &PathRecord| entry(writer, &call.head, told, &listed(record));
    let position = |record: &PathRecord| DirectoryPage::behind(&record.folded());
    entries.print(open(&call.head, &directory), most, print, position)
}

fn listed(record: &PathRecord) -> Listed {
    Listed {
        name: record.name.clone(),
        id: record.number(),
        length: match &record.body {
            PathBody::Directory | PathBody::Name => None,
            PathBody::File(file) => Some(file.content.length),
            PathBody::SymbolicLink { target } => Some(target.len() as u64),
        },
        creation_time: record.times.created,
        last_access_time: record.times.last_accessed,
        last_write_time: record.times.last_written,
        change_time: record.times.changed,
        last_modified: record.last_modified,
        etag: record.etag,
        attributes: FileAttributes::from_bits(record.attributes),
        permission_key: record.permission_key(),
    }
}
