//! Query Blob Contents: the records of a blob that a query wants, as it wants them.

use lazuli_model::error::Failure;
use lazuli_model::operation::policy;
use lazuli_model::query::{Query, Select};

use super::{Found, GetBlob, GetBlobProperties};
use crate::fault::Answer;
use crate::query::{Format, Running, start};
use crate::{Context, Services};

#[derive(Clone, Debug)]
pub struct QueryBlobContents {
    pub properties: GetBlobProperties,
    pub query: Query,
    pub input: Format,
    pub output: Format,
}

impl QueryBlobContents {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<(Found, Running)> {
        let Self { properties, query, input, output } = self;
        check(&query, &input)?;
        let whole = GetBlob { properties, range: None };
        let (found, content) = whole.execute(services, context, policy::QueryBlobContents).await?;
        let (_, download) = content?;
        let running = start(services, download, query, input, output, found.now);
        Ok((found, running))
    }
}

/// Paths are for documents, and batches for records of columns.
fn check(query: &Query, input: &Format) -> Result<(), Failure> {
    use lazuli_model::error::ErrorCode::ParseError;
    let refused = |message: &'static str| Err(Failure::new(ParseError).with_message(message));
    match input {
        Format::Delimited(_) if query.names_path => {
            refused("A path in the FROM clause is for JSON data; the table of delimited data is BlobStorage.")
        }
        Format::Json { .. } if matches!(query.select, Select::Split(_)) => {
            refused("sys.split is for delimited data only.")
        }
        _ => Ok(()),
    }
}
