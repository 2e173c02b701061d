//! Query Tables: all of an account, or one by its name.

use lazuli_model::odata::{Filter, ValueRef};

use crate::fault::Answer;
use crate::{Context, Services};

const TABLE_NAME: &str = "TableName";

#[derive(Clone, Debug)]
pub struct QueryTables {
    pub filter: Option<Filter>,
    pub top: usize,
    /// The first table to look at, as [`TablePage::next`] named it.
    pub from: Option<String>,
}

#[derive(Clone, Debug)]
pub struct TablePage {
    pub tables: Vec<String>,
    pub next: Option<String>,
}

impl QueryTables {
    pub async fn execute(self, services: &Services, context: &Context) -> Answer<TablePage> {
        services.view(context).await?.query_tables(&self).await
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let Some(filter) = &self.filter else { return true };
        let names = filter.names().iter();
        let slots: Vec<_> =
            names.map(|property| (property == TABLE_NAME).then_some(ValueRef::String(name))).collect();
        filter.matches(&slots)
    }
}

/// The table's name as its creator spelled it; none when there is no such table.
pub async fn find_table(services: &Services, context: &Context, name: &str) -> Answer<Option<String>> {
    let found = services.view(context).await?.table(name).await?;
    Ok(found.record().map(|fields| fields.name.clone()))
}
