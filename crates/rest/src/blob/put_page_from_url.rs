//! Put Page From URL.

use std::ops::Range;

use lazuli_model::error::Failure;
use lazuli_service::blob::PutPageFromUrl;

use super::pages;
use super::properties::{customer_key, encryption_of, show_encryption};
use super::put_block_from_url::{source_digests, source_range, told_md5, untold};
use super::put_page::stored_pages;
use crate::call::Call;
use crate::copy;
use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

pub async fn put_page_from_url(call: Call) -> Result<Reply, Failure> {
    pages::refuse_body(&call)?;
    let customer_key = customer_key(&call.head)?;
    let encryption = encryption_of(&call, customer_key.as_ref()).await?;
    let digests = source_digests(&call.head)?;
    let sent_md5 = digests.md5;
    let preconditions = call.preconditions()?;
    let range = pages::range(&call.head)?;
    let source_range = range_as_long_as(&range, &call.head)?;
    let asked = copy::source(&call, false).await?;
    let source = asked.source;
    let input =
        PutPageFromUrl { at: call.blob(), preconditions, range, source, source_range, digests, customer_key };
    let stored = input.execute(&call.services, &call.context).await.map_err(|fault| untold(fault.0))?;
    let sent_md5 = told_md5(&call.head, sent_md5, stored.md5);
    Ok(show_encryption(stored_pages(call.row, call.head.version, &stored, sent_md5), &encryption))
}

/// `x-ms-source-range`, which must name as many bytes as are to be written.
fn range_as_long_as(pages: &Range<u64>, head: &Head) -> Result<Range<u64>, Failure> {
    let text = head.required_header(headers::X_MS_SOURCE_RANGE)?;
    let refused = || Failure::invalid_header(headers::X_MS_SOURCE_RANGE, text);
    let range = source_range(head)?.ok_or_else(refused)?;
    let end = range.end.and_then(|last| last.checked_add(1)).ok_or_else(refused)?;
    match end.checked_sub(range.start) {
        Some(length) if length == pages.end - pages.start => Ok(range.start..end),
        _ => Err(refused()),
    }
}
