//! What was answered.

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    /// The first line as it came, with version and phrase.
    pub line: String,
    /// Names as they came.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The service's word for what went wrong; empty when nothing did.
    pub fn code(&self) -> &str {
        self.header("x-ms-error-code").unwrap_or_default()
    }

    pub fn etag(&self) -> String {
        self.header("etag").unwrap_or_default().to_owned()
    }

    /// The body without its byte order mark.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).trim_start_matches('\u{FEFF}').to_owned()
    }

    pub fn shown(&self) -> String {
        format!("{} {}", self.status, self.code())
    }

    pub fn expect(self, status: u16, what: &str) -> Result<Self, String> {
        match self.status == status {
            true => Ok(self),
            false => Err(format!("{what}: {} instead of {status}", self.shown())),
        }
    }
}
