//! Set Blob Expiry.

use lazuli_model::blob::Expiry;
use lazuli_model::error::{ErrorCode, Failure};
use lazuli_model::time::Timestamp;
use lazuli_service::blob::SetBlobExpiry;

use crate::call::Call;
use crate::decode;
use crate::head::Head;
use crate::headers;
use crate::reply::Reply;

const OPTION: &str = headers::X_MS_EXPIRY_OPTION;
const TIME: &str = headers::X_MS_EXPIRY_TIME;

pub async fn set_blob_expiry(call: Call) -> Result<Reply, Failure> {
    let input =
        SetBlobExpiry { at: call.blob(), preconditions: call.preconditions()?, expiry: expiry(&call.head)? };
    let stamped = input.execute(&call.services, &call.context).await.map_err(|fault| {
        let failure = Failure::from(fault);
        match failure.code {
            // A moment that is over.
            ErrorCode::InvalidHeaderValue => {
                Failure::invalid_header(TIME, call.head.header(TIME).unwrap_or_default())
            }
            _ => failure,
        }
    })?;
    Ok(Reply::of(call.row).stamped(stamped))
}

fn expiry(head: &Head) -> Result<Expiry, Failure> {
    let option = decode::required(head, OPTION)?;
    let is = |wanted: &str| option.eq_ignore_ascii_case(wanted);
    if is("NeverExpire") {
        return Ok(Expiry::Never);
    }
    let known = ["RelativeToCreation", "RelativeToNow", "Absolute"].into_iter().find(|known| is(known));
    let known = known.ok_or_else(|| Failure::invalid_header(OPTION, option))?;
    let text = decode::required(head, TIME)?;
    let expiry = match known {
        "Absolute" => Timestamp::parse_http_date(text).map(Expiry::At),
        "RelativeToNow" => text.parse().ok().map(Expiry::FromNow),
        _ => text.parse().ok().map(Expiry::AfterCreation),
    };
    expiry.ok_or_else(|| Failure::invalid_header(TIME, text))
}
