//! Get Account Information.

use lazuli_model::error::Failure;

use crate::call::Call;
use crate::headers;
use crate::reply::Reply;

pub async fn get_account_information(call: Call) -> Result<Reply, Failure> {
    Ok(Reply::of(call.row)
        .header(headers::X_MS_SKU_NAME, "Standard_RAGRS")
        .header(headers::X_MS_ACCOUNT_KIND, "StorageV2")
        .header(headers::X_MS_IS_HNS_ENABLED, false))
}
