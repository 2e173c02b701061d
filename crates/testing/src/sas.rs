//! Shared access signatures: fields, signed at the end.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{ACCOUNT, Key};

/// Of a token that names no other.
pub const VERSION: &str = "2026-10-06";

/// Names of the fields that are signed, in order; `resource` stands for the canonical resource, `empty` for nothing.
pub const ACCOUNT_SAS: &str = "account sp ss srt st se sip spr sv ses empty";
pub const BLOB_SAS: &str = "sp st se resource si sip spr sv sr snapshot ses rscc rscd rsce rscl rsct";
pub const BLOB_SAS_2018: &str = "sp st se resource si sip spr sv sr snapshot rscc rscd rsce rscl rsct";
pub const BLOB_SAS_2015: &str = "sp st se resource si sip spr sv rscc rscd rsce rscl rsct";
pub const QUEUE_SAS: &str = "sp st se resource si sip spr sv";
/// In every version.
pub const FILE_SAS: &str = BLOB_SAS_2015;
pub const TABLE_SAS: &str = "sp st se resource si sip spr sv spk srk epk erk";

/// A request that takes the fields of a token.
pub trait WithQuery: Sized {
    fn query(self, name: &str, value: &str) -> Self;
}

/// The fields of a token. Later settings replace earlier ones.
#[derive(Clone, Debug)]
pub struct Token {
    pub fields: Vec<(&'static str, String)>,
}

impl Token {
    pub fn account(services: &str, types: &str, permissions: &str) -> Self {
        Self::service(permissions).with("ss", services).with("srt", types)
    }

    pub fn service(permissions: &str) -> Self {
        let token = Self { fields: Vec::new() };
        token.with("sv", VERSION).with("sp", permissions).with("se", "2030-01-01T00:00:00Z")
    }

    pub fn with(self, name: &'static str, value: &str) -> Self {
        let mut token = self.without(name);
        token.fields.push((name, value.to_owned()));
        token
    }

    pub fn without(mut self, name: &str) -> Self {
        self.fields.retain(|(known, _)| *known != name);
        self
    }

    pub fn get(&self, name: &str) -> &str {
        self.fields.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    fn list(&self, names: &str, resource: &str) -> String {
        let field = |name| match name {
            "account" => ACCOUNT,
            "resource" => resource,
            "empty" => "",
            name => self.get(name),
        };
        names.split_whitespace().map(field).collect::<Vec<_>>().join("\n")
    }

    /// Account SAS of versions from 2020-12-06.
    pub fn sign_account(self, key: &str) -> Self {
        let string = self.list(ACCOUNT_SAS, "");
        self.signed(key, &string)
    }

    /// Service SAS by the names of its fields.
    pub fn sign_service(self, names: &str, resource: &str, key: &str) -> Self {
        let string = self.list(names, resource);
        self.signed(key, &string)
    }

    pub fn signed(self, key: &str, string: &str) -> Self {
        let signature = Key::new(key).sign(string);
        self.with("sig", &signature)
    }

    pub fn on<R: WithQuery>(&self, request: R) -> R {
        self.fields.iter().fold(request, |request, (name, value)| request.query(name, value))
    }

    /// As it stands behind the `?` of an address.
    pub fn encoded(&self) -> String {
        let pair = |(name, value): &(&str, String)| {
            format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
        };
        self.fields.iter().map(pair).collect::<Vec<_>>().join("&")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KEY;

    /// Vectors made by first-party clients (auth.md section 11).
    #[test]
    fn tokens_are_signed_as_clients_sign_them() {
        let token = Token::account("bqf", "sco", "rwdl").with("st", "2024-01-01T00:00:00Z");
        let token = token.with("spr", "https,http").sign_account(KEY);
        assert_eq!(token.get("sig"), "jMeGefiHX8ZwKzaxy6W4z9849hepMmSIvsjXxRED9qk=");
        let token = Token::service("rw").with("sr", "b").with("rsct", "text/x");
        let token = token.with("st", "2024-01-01T00:00:00Z");
        let token = token.sign_service(BLOB_SAS, "/blob/devstoreaccount1/cont/dir/b 1.txt", KEY);
        assert_eq!(token.get("sig"), "LUaDjKqh2gU5QRXCGs6jAtxx+JDWJb3cx9xGdLKWhmE=");
        assert!(token.encoded().ends_with("&sig=LUaDjKqh2gU5QRXCGs6jAtxx%2BJDWJb3cx9xGdLKWhmE%3D"));
    }
}
