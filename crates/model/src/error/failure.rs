use std::borrow::Cow;
use std::fmt;

use super::ErrorCode;

/// A refusal. `message` and `details` are for the client, `cause` only for the log.
#[derive(Debug, Clone)]
pub struct Failure {
    pub code: ErrorCode,
    /// Where the code's own status is not the one to answer, such as 304 for ConditionNotMet.
    pub status: Option<u16>,
    /// Where the text differs from the code's own.
    pub message: Option<Cow<'static, str>>,
    /// Extra elements of the error body, in order.
    pub details: Vec<(&'static str, String)>,
    pub cause: Option<String>,
}

impl Failure {
    pub const fn new(code: ErrorCode) -> Self {
        Failure { code, status: None, message: None, details: Vec::new(), cause: None }
    }

    #[must_use]
    pub fn detail(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.details.push((name, value.into()));
        self
    }

    #[must_use]
    pub fn cause(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    #[must_use]
    pub fn with_message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// The HTTP status to answer.
    pub fn status(&self) -> u16 {
        self.status.unwrap_or(self.code.status())
    }

    pub fn message(&self) -> &str {
        self.message.as_deref().unwrap_or(self.code.message())
    }

    pub fn invalid_header(name: &str, value: &str) -> Self {
        Self::new(ErrorCode::InvalidHeaderValue).detail("HeaderName", name).detail("HeaderValue", value)
    }

    pub fn missing_header(name: &str) -> Self {
        Self::new(ErrorCode::MissingRequiredHeader).detail("HeaderName", name)
    }

    pub fn missing_query(name: &str) -> Self {
        Self::new(ErrorCode::MissingRequiredQueryParameter).detail("QueryParameterName", name)
    }

    pub fn invalid_query(name: &str, value: &str, reason: &str) -> Self {
        Self::new(ErrorCode::InvalidQueryParameterValue)
            .detail("QueryParameterName", name)
            .detail("QueryParameterValue", value)
            .detail("Reason", reason)
    }

    pub fn out_of_range_query(
        name: &str,
        value: &str,
        minimum: impl fmt::Display,
        maximum: impl fmt::Display,
    ) -> Self {
        Self::new(ErrorCode::OutOfRangeQueryParameterValue)
            .detail("QueryParameterName", name)
            .detail("QueryParameterValue", value)
            .detail("MinimumAllowed", minimum.to_string())
            .detail("MaximumAllowed", maximum.to_string())
    }

    /// Rules that have no place in the text are reported at 0, 0.
    pub fn invalid_xml(line: u64, position: u64, reason: &str) -> Self {
        Self::new(ErrorCode::InvalidXmlDocument)
            .detail("LineNumber", line.to_string())
            .detail("LinePosition", position.to_string())
            .detail("Reason", reason)
    }
}

impl From<ErrorCode> for Failure {
    fn from(code: ErrorCode) -> Self {
        Failure::new(code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status(), self.code.name())?;
        match &self.cause {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}
