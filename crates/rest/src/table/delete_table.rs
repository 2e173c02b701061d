//! Delete Table.

use lazuli_model::error::Failure;
use lazuli_service::table::DeleteTable;

use super::{data, query_tables};
use crate::call::Call;
use crate::reply::Reply;

pub async fn delete_table(call: Call) -> Result<Reply, Failure> {
    let table = query_tables::name(&call)?;
    DeleteTable { table }.execute(&call.services, &call.context).await?;
    Ok(data(call.row))
}
