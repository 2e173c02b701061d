//! Where objects are kept, as the user wrote it.

use crate::remote::ConnectError;
use object_store::ObjectStore;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ClientConfigKey, RetryConfig};
use std::sync::Arc;
use std::time::Duration;

/// A request that the store refused for the moment is tried again for so long.
const RETRIED: Duration = Duration::from_secs(20);

/// `s3://bucket/prefix`, `az://container/prefix`, `file:///directory`. Behind a question mark: `endpoint`, `region` for S3,
/// `endpoint`, `account` for Azure. Credentials come from the environment (`AWS_*`, `AZURE_*`), or from the machine.
pub(crate) fn open(url: &str) -> Result<Arc<dyn ObjectStore>, ConnectError> {
    let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong("s3://, az:// or file:// is expected"))?;
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    if scheme == "file" {
        return directory(place, query);
    }
    let (root, prefix) = place.split_once('/').unwrap_or((place, ""));
    if root.is_empty() {
        return Err(wrong("no bucket or container is named"));
    }
    let parameters = parameters(query)?;
    match scheme {
        "s3" => Ok(prefixed(s3(root, &parameters)?, prefix)),
        "az" => Ok(prefixed(azure(root, &parameters)?, prefix)),
        _ => Err(wrong("s3://, az:// or file:// is expected")),
    }
}

fn wrong(why: &str) -> ConnectError {
    ConnectError::Bytes(why.into())
}

fn refused(error: &object_store::Error) -> ConnectError {
    ConnectError::Bytes(error.to_string())
}

fn directory(path: &str, query: &str) -> Result<Arc<dyn ObjectStore>, ConnectError> {
    if !path.starts_with('/') || !query.is_empty() {
        return Err(wrong("file:// is followed by an absolute path, and nothing else"));
    }
    std::fs::create_dir_all(path).map_err(|error| ConnectError::Bytes(format!("{path}: {error}")))?;
    let store = LocalFileSystem::new_with_prefix(path).map_err(|error| refused(&error))?;
    Ok(Arc::new(store.with_fsync(true)))
}

fn s3(bucket: &str, parameters: &[(String, String)]) -> Result<impl ObjectStore + use<>, ConnectError> {
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retries());
    for (name, value) in parameters {
        builder = match name.as_str() {
            "endpoint" => builder
                .with_endpoint(value)
                .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp), is_http(value)),
            "region" => builder.with_region(value),
            _ => return Err(wrong("of s3:// only endpoint and region are known behind the question mark")),
        };
    }
    builder.build().map_err(|error| refused(&error))
}

fn azure(container: &str, parameters: &[(String, String)]) -> Result<impl ObjectStore + use<>, ConnectError> {
    let mut builder = MicrosoftAzureBuilder::from_env().with_container_name(container).with_retry(retries());
    for (name, value) in parameters {
        builder = match name.as_str() {
            "endpoint" => builder
                .with_endpoint(value.clone())
                .with_config(AzureConfigKey::Client(ClientConfigKey::AllowHttp), is_http(value)),
            "account" => builder.with_account(value),
            _ => return Err(wrong("of az:// only endpoint and account are known behind the question mark")),
        };
    }
    builder.build().map_err(|error| refused(&error))
}

/// An endpoint that is written with http is spoken to over http.
fn is_http(endpoint: &str) -> &'static str {
    if endpoint.starts_with("http://") { "true" } else { "false" }
}

fn prefixed(store: impl ObjectStore, prefix: &str) -> Arc<dyn ObjectStore> {
    match Path::from(prefix) {
        root if root.as_ref().is_empty() => Arc::new(store),
        prefix => Arc::new(PrefixStore::new(store, prefix)),
    }
}

fn retries() -> RetryConfig {
    let backoff = BackoffConfig { max_backoff: Duration::from_secs(3), ..BackoffConfig::default() };
    // As many as there is time for: a store that refuses quickly is asked ten times a second at the most.
    RetryConfig { backoff, max_retries: 200, retry_timeout: RETRIED }
}

/// Values are taken as they are: an endpoint needs no escape.
fn parameters(query: &str) -> Result<Vec<(String, String)>, ConnectError> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| wrong("name=value is expected behind the question mark"))?;
            Ok((name.to_owned(), value.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_place_is_understood() {
        let directory = tempfile::tempdir().unwrap();
        let file = format!("file://{}/new/one", directory.path().display());
        assert!(open(&file).is_ok() && directory.path().join("new/one").is_dir());
        let s3 = open("s3://bucket/some/prefix?endpoint=http://127.0.0.1:1&region=here").unwrap();
        assert!(s3.to_string().contains("some/prefix"), "{s3}");
        assert!(open("az://container?account=mine&endpoint=http://127.0.0.1:1/mine").is_ok());
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for url in [
            "",
            "bucket",
            "s3:/bucket",
            "s3://",
            "s3:///x",
            "gs://bucket",
            "file://relative",
            "file:///tmp?x=1",
            "s3://bucket?secret=1",
            "s3://bucket?region",
            "az://container?region=1",
        ] {
            assert!(matches!(open(url), Err(ConnectError::Bytes(_))), "{url}");
        }
    }
}
