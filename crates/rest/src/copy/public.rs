//! The addresses that clients know the services by, where servers stand behind a balancer.

use lazuli_model::operation::Service;

use super::address::port_written;

/// A source at one of these is this server's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicAddresses(Vec<Public>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Public {
    service: Service,
    host: String,
    /// None: the port that belongs to the scheme.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not blob=HOST[:PORT] or file=HOST[:PORT]")]
pub struct BadAddresses(String);

impl PublicAddresses {
    /// Each is `blob=HOST`, `file=HOST`, or the same with a port behind it.
    pub fn parse<'a>(written: impl IntoIterator<Item = &'a str>) -> Result<Self, BadAddresses> {
        let mut all = Vec::new();
        for text in written.into_iter().map(str::trim).filter(|text| !text.is_empty()) {
            let bad = || BadAddresses(text.to_owned());
            let (service, authority) = text.split_once('=').ok_or_else(bad)?;
            let service = match service {
                "blob" => Service::Blob,
                "file" => Service::File,
                _ => return Err(bad()),
            };
            let parsed: http::uri::Authority = authority.parse().map_err(|_| bad())?;
            if authority.contains('@') || parsed.host().is_empty() {
                return Err(bad());
            }
            let port = port_written(&parsed).map_err(|_| bad())?;
            all.push(Public { service, host: parsed.host().to_ascii_lowercase(), port });
        }
        Ok(Self(all))
    }

    pub(super) fn service_of(&self, host: &str, port: u16, secure: bool) -> Option<Service> {
        let usual = if secure { 443 } else { 80 };
        let is_it =
            |public: &&Public| public.host.eq_ignore_ascii_case(host) && public.port.unwrap_or(usual) == port;
        self.0.iter().find(is_it).map(|public| public.service)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_known_by_host_and_port() {
        let public = PublicAddresses::parse(["blob=Storage.example", "file=storage.example:10003", ""]);
        let public = public.expect("addresses");
        assert_eq!(public.service_of("storage.EXAMPLE", 443, true), Some(Service::Blob));
        assert_eq!(public.service_of("storage.example", 80, false), Some(Service::Blob));
        assert_eq!(public.service_of("storage.example", 10003, false), Some(Service::File));
        assert_eq!(public.service_of("storage.example", 10000, false), None);
        assert_eq!(public.service_of("elsewhere.example", 443, true), None);
        for wrong in ["storage.example", "queue=a", "blob=", "blob=a:b", "blob=user@a", "blob=a:0"] {
            assert!(PublicAddresses::parse([wrong]).is_err(), "{wrong}");
        }
    }
}
