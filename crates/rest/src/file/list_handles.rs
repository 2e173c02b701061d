//! List Handles, Force Close Handles.

use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::file::{ForceCloseHandles, Handle, HandlesMeant, ListHandles};
use lazuli_service::shared::marker::Position;

use super::handle_headers::{self, Handles, is_recursive};
use super::handles_document::{AccessRight, ListedHandle, entry, open};
use crate::blob::list::{Entries, LIST_LIMIT, build};
use crate::call::Call;
use crate::decode;
use crate::head::Head;
use crate::headers;
use crate::reply::Reply;
use crate::xml::Writer;

pub async fn list_handles(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    let page = call.services.outgoing().page();
    let input = ListHandles {
        at: call.path()?,
        recursive: is_recursive(head)?,
        marker: marker(head)?,
        max_results: decode::max_results(head, LIST_LIMIT)? as usize,
    };
    let max_results = input.max_results;
    let read = move |services, context, max_results| {
        let input = ListHandles { max_results, ..input.clone() };
        async move {
            let found = input.execute(&services, &context).await?;
            let more = found.1.is_some();
            Ok((found, more))
        }
    };
    let print = move |call: &Call, (handles, next): &(Vec<Handle>, Option<Position>)| {
        let entries = Entries { element: "Entries", items: handles, next: next.as_ref() };
        let print = |writer: &mut Writer, handle: &Handle| entry(writer, &call.head, &listed(handle));
        entries.print(open(&call.head), page.bytes, print, |handle| handle.position.clone())
    };
    let row = call.row;
    let text = build(call, max_results, read, print).await?;
    Ok(Reply::of(row).xml(text).within(page.share))
}

fn marker(head: &Head) -> Result<Option<Position>, Failure> {
    let given = head.query("marker").filter(|text| !text.is_empty());
    Ok(given.map(|text| Position::decode(text).ok_or(ErrorCode::OutOfRangeInput)).transpose()?)
}

fn listed(handle: &Handle) -> ListedHandle {
    let rights = [
        (handle.access.read, AccessRight::Read),
        (handle.access.write, AccessRight::Write),
        (handle.access.delete, AccessRight::Delete),
    ];
    ListedHandle {
        id: handle.id,
        path: handle.path.clone(),
        file_id: handle.file_id,
        parent_id: handle.parent_id,
        session_id: handle.session_id,
        access: rights.into_iter().filter(|(is, _)| *is).map(|(_, right)| right).collect(),
        client_ip: handle.client_address.clone(),
        client_name: handle.client_name.clone().unwrap_or_default(),
        opened: handle.opened,
        reconnected: handle.reconnected,
    }
}

pub async fn force_close_handles(call: Call) -> Result<Reply, Failure> {
    let head = &call.head;
    let input = ForceCloseHandles {
        at: call.path()?,
        meant: match handle_headers::handles(head)? {
            Handles::All => HandlesMeant::All,
            Handles::One(id) => HandlesMeant::One(id),
        },
        recursive: is_recursive(head)?,
        marker: marker(head)?,
    };
    let closed = input.execute(&call.services, &call.context).await?;
    Ok(Reply::of(call.row)
        .maybe(headers::X_MS_MARKER, closed.next)
        .header(headers::X_MS_NUMBER_OF_HANDLES_CLOSED, closed.closed as u64)
        .header(headers::X_MS_NUMBER_OF_HANDLES_FAILED, 0_u64))
}
