//! What the configuration wants to be there when the first client comes.

use lazuli_model::access::PublicAccess;
use lazuli_model::error::ErrorCode;
use lazuli_model::metadata::Metadata;
use lazuli_model::name::{validate_container, validate_queue};
use lazuli_model::operation::Service;
use lazuli_model::version::ApiVersion;
use lazuli_service::blob::CreateContainer;
use lazuli_service::queue::CreateQueue;
use lazuli_service::table::CreateTable;
use lazuli_service::{Context, Fault, Services};

use crate::config::Seed;
use crate::wiring::service_name;

#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    #[error("cannot create {account}/{name}: {reason}")]
    Refused { account: String, name: String, reason: String },
    #[error("cannot create {name}: the {service} service is not built yet")]
    NotBuilt { service: &'static str, name: String },
}

/// What is already there stays as it is.
pub async fn create(services: &Services, seeds: &[Seed]) -> Result<(), SeedError> {
    for seed in seeds {
        match seed.service {
            Service::Blob => container(services, seed).await?,
            Service::Queue => queue(services, seed).await?,
            Service::Table => table(services, seed).await?,
            Service::File | Service::Dfs => {
                return Err(SeedError::NotBuilt {
                    service: service_name(seed.service),
                    name: seed.name.clone(),
                });
            }
        }
    }
    Ok(())
}

fn refused(seed: &Seed, reason: String) -> SeedError {
    SeedError::Refused { account: seed.account.clone(), name: seed.name.clone(), reason }
}

async fn table(services: &Services, seed: &Seed) -> Result<(), SeedError> {
    let context = Context { account: seed.account.clone(), version: ApiVersion::NEWEST };
    match (CreateTable { table: seed.name.clone() }).execute(services, &context).await {
        Ok(()) => Ok(()),
        Err(Fault(failure)) if failure.code == ErrorCode::TableAlreadyExists => Ok(()),
        Err(Fault(failure)) => Err(refused(seed, failure.to_string())),
    }
}

async fn queue(services: &Services, seed: &Seed) -> Result<(), SeedError> {
    validate_queue(&seed.name).map_err(|failure| refused(seed, failure.to_string()))?;
    let context = Context { account: seed.account.clone(), version: ApiVersion::NEWEST };
    let create = CreateQueue { queue: seed.name.clone(), metadata: Metadata::default() };
    match create.execute(services, &context).await {
        Ok(_) => Ok(()),
        Err(Fault(failure)) if failure.code == ErrorCode::QueueAlreadyExists => Ok(()),
        Err(Fault(failure)) => Err(refused(seed, failure.to_string())),
    }
}

async fn container(services: &Services, seed: &Seed) -> Result<(), SeedError> {
    validate_container(&seed.name).map_err(|failure| refused(seed, failure.to_string()))?;
    let context = Context { account: seed.account.clone(), version: ApiVersion::NEWEST };
    let create = CreateContainer {
        container: seed.name.clone(),
        metadata: Metadata::default(),
        public_access: PublicAccess::Private,
        default_encryption_scope: None,
        deny_encryption_scope_override: false,
    };
    match create.execute(services, &context).await {
        Ok(_) => {
            tracing::info!(account = seed.account, container = seed.name, "created");
            Ok(())
        }
        Err(Fault(failure)) if failure.code == ErrorCode::ContainerAlreadyExists => Ok(()),
        Err(Fault(failure)) => Err(refused(seed, failure.to_string())),
    }
}
