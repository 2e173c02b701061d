//! Get File.

use http::HeaderValue;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_service::file::{FileRead, GetFile};

use super::file_headers::describe;
use crate::blob::get_blob::gather;
use crate::call::Call;
use crate::headers::{self, name};
use crate::reply::Reply;
use crate::{decode, structured};

/// The longest range whose MD5 is computed on the way.
const HASHED_RANGE: u64 = 4 * 1024 * 1024;

pub async fn get_file(call: Call) -> Result<Reply, Failure> {
    let is_structured = structured::is_asked(&call.head)?;
    let with_md5 = call.head.flag(headers::X_MS_RANGE_GET_CONTENT_MD5)?;
    let range = decode::range(&call.head);
    let input = GetFile { at: call.path()?, preconditions: call.preconditions()?, range };
    let FileRead { file, now, content } =
        input.execute(&call.services, &call.context, call.reading()).await?;
    let length = file.record.length();
    let (at, mut download) = match content {
        Ok(content) => content,
        Err(failure) => {
            return Ok(Reply::refused(failure).header(name::CONTENT_RANGE, format!("bytes */{length}")));
        }
    };
    if with_md5 && range.is_none() {
        return Err(Failure::invalid_header(headers::X_MS_RANGE_GET_CONTENT_MD5, "true"));
    }
    if with_md5 && at.end - at.start > HASHED_RANGE {
        return Err(ErrorCode::OutOfRangeInput.into());
    }
    let mut reply =
        describe(&call, &file, now).header(name::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let md5 = file.record.file().map(|file| &file.headers.content_md5);
    if range.is_some() {
        let told = format!("bytes {}-{}/{length}", at.start, at.end.saturating_sub(1));
        reply = reply.otherwise(call.row).header(name::CONTENT_RANGE, told);
    }
    if let Some(md5) = md5 {
        let whole = if range.is_some() { name::X_MS_CONTENT_MD5 } else { name::CONTENT_MD5 };
        reply = reply.content_md5(whole, md5);
    }
    if is_structured {
        let reply = structured::show(reply, true);
        return Ok(reply
            .header(headers::X_MS_STRUCTURED_CONTENT_LENGTH, download.length())
            .structured(download));
    }
    if !with_md5 {
        return Ok(reply.download(download));
    }
    let hashed = call.services.aside(async move {
        let bytes = gather(&mut download).await?;
        let md5 = lazuli_service::md5(&bytes);
        Ok::<_, Failure>((bytes, md5))
    });
    let (bytes, md5) = hashed.await??;
    Ok(reply.md5(name::CONTENT_MD5, Some(md5)).bytes(bytes.into()))
}
