//! What the configuration wants to be there when the first client comes. Its names are checked with the other settings.

use lazuli_model::access::PublicAccess;
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::operation::Service;
use lazuli_model::version::ApiVersion;
use lazuli_service::blob::CreateContainer;
use lazuli_service::queue::CreateQueue;
use lazuli_service::table::CreateTable;
use lazuli_service::{Context, Fault, Services};

use crate::assemble::service_name;
use crate::config::CreateAtStart;

#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    #[error("cannot create {account}/{name}: {reason}")]
    Refused { account: String, name: String, reason: String },
    #[error("cannot create {name}: the {service} service is not built yet")]
    NotBuilt { service: &'static str, name: String },
}

/// What is already there stays as it is.
pub async fn create(services: &Services, wanted: &[CreateAtStart]) -> Result<(), CreateError> {
    for one in wanted {
        match one.service {
            Service::Blob => container(services, one).await?,
            Service::Queue => queue(services, one).await?,
            Service::Table => table(services, one).await?,
            Service::File | Service::Dfs => {
                return Err(CreateError::NotBuilt {
                    service: service_name(one.service),
                    name: one.name.clone(),
                });
            }
        }
    }
    Ok(())
}

fn refused(one: &CreateAtStart, reason: String) -> CreateError {
    CreateError::Refused { account: one.account.clone(), name: one.name.clone(), reason }
}

async fn table(services: &Services, one: &CreateAtStart) -> Result<(), CreateError> {
    let context = Context::of_owner(&one.account, ApiVersion::NEWEST);
    match (CreateTable { table: one.name.clone() }).execute(services, &context).await {
        Ok(()) => Ok(()),
        Err(Fault(failure)) if failure.code == ErrorCode::TableAlreadyExists => Ok(()),
        Err(Fault(failure)) => Err(refused(one, failure.to_string())),
    }
}

async fn queue(services: &Services, one: &CreateAtStart) -> Result<(), CreateError> {
    let context = Context::of_owner(&one.account, ApiVersion::NEWEST);
    let create = CreateQueue { queue: one.name.clone(), metadata: Metadata::default() };
    match create.execute(services, &context).await {
        Ok(_) => Ok(()),
        Err(Fault(failure)) if failure.code == ErrorCode::QueueAlreadyExists => Ok(()),
        Err(Fault(failure)) => Err(refused(one, failure.to_string())),
    }
}

async fn container(services: &Services, one: &CreateAtStart) -> Result<(), CreateError> {
    let context = Context::of_owner(&one.account, ApiVersion::NEWEST);
    let create = CreateContainer {
        container: one.name.clone(),
        metadata: Metadata::default(),
        public_access: PublicAccess::Private,
        default_encryption_scope: None,
        deny_encryption_scope_override: false,
    };
    match create.execute(services, &context).await {
        Ok(_) => {
            tracing::info!(account = one.account, container = one.name, "created");
            Ok(())
        }
        Err(Fault(failure)) if failure.code == ErrorCode::ContainerAlreadyExists => Ok(()),
        Err(Fault(failure)) => Err(refused(one, failure.to_string())),
    }
}
