//! Requests as bytes, signed when they are made.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use lazuli_testing::{ACCOUNT, Signable, Signer};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Known to the emulator as well.
const VERSION: &str = "2021-12-02";

/// Ready to be sent, as often as wanted while its date is fresh (15 minutes).
#[derive(Clone)]
pub struct Request {
    pub head: Bytes,
    pub body: Bytes,
    pub answered_without_body: bool,
}

impl Request {
    /// Method and address, for a person.
    pub fn line(&self) -> String {
        let head = String::from_utf8_lossy(&self.head);
        head.lines().next().unwrap_or_default().to_owned()
    }

    /// The same head before another body of the same length.
    pub fn with_body(&self, body: Bytes) -> Self {
        debug_assert_eq!(body.len(), self.body.len());
        Self { body, ..self.clone() }
    }
}

/// A request in the making. Paths are written as they are sent.
pub struct Draft<'a> {
    method: &'static str,
    path: &'a str,
    query: Vec<(&'a str, &'a str)>,
    headers: Vec<(&'a str, &'a str)>,
    if_match: &'a str,
    content_type: &'a str,
    accept: &'a str,
    body: Bytes,
}

impl<'a> Draft<'a> {
    pub fn new(method: &'static str, path: &'a str) -> Self {
        Self {
            method,
            path,
            query: Vec::new(),
            headers: Vec::new(),
            if_match: "",
            content_type: "",
            accept: "",
            body: Bytes::new(),
        }
    }

    pub fn query(mut self, name: &'a str, value: &'a str) -> Self {
        self.query.push((name, value));
        self
    }

    pub fn header(mut self, name: &'a str, value: &'a str) -> Self {
        self.headers.push((name, value));
        self
    }

    pub fn if_match(mut self, etag: &'a str) -> Self {
        self.if_match = etag;
        self
    }

    pub fn body(mut self, body: Bytes) -> Self {
        self.body = body;
        self
    }

    pub fn typed_body(mut self, content_type: &'a str, body: Bytes) -> Self {
        self.content_type = content_type;
        self.body(body)
    }

    /// As the clients of the Table service ask.
    pub fn json(self, body: Bytes) -> Self {
        self.accept_json().typed_body("application/json", body)
    }

    pub fn accept_json(mut self) -> Self {
        self.accept = "application/json;odata=minimalmetadata";
        self
    }

    pub fn sign(self, signer: &Signer) -> Request {
        let (date, length) = (http_date(SystemTime::now()), self.body.len().to_string());
        let mut headers: Vec<(&str, &str)> = self.headers;
        headers.extend([("x-ms-date", date.as_str()), ("x-ms-version", VERSION)]);
        let further =
            [("If-Match", self.if_match), ("Content-Type", self.content_type), ("Accept", self.accept)];
        headers.extend(further.into_iter().filter(|(_, value)| !value.is_empty()));
        if !matches!(self.method, "GET" | "HEAD") {
            headers.push(("Content-Length", &length));
        }
        let mut head = format!("{} /{ACCOUNT}{}", self.method, self.path);
        let authorization = signer.authorization(&Signable {
            method: self.method,
            path: head.get(self.method.len() + 1..).unwrap_or_default(),
            query: &self.query,
            headers: &headers,
        });
        for (at, (name, value)) in self.query.iter().enumerate() {
            head.extend([if at == 0 { "?" } else { "&" }, name, "="]);
            head.extend(utf8_percent_encode(value, NON_ALPHANUMERIC));
        }
        head.push_str(" HTTP/1.1\r\nHost: 127.0.0.1\r\n");
        for (name, value) in headers.iter().chain(&[("Authorization", authorization.as_str())]) {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        Request { head: head.into(), body: self.body, answered_without_body: self.method == "HEAD" }
    }
}

pub fn put_blob(signer: &Signer, path: &str, body: Bytes) -> Request {
    Draft::new("PUT", path).header("x-ms-blob-type", "BlockBlob").body(body).sign(signer)
}

/// RFC 1123, as every `x-ms-date` is written.
fn http_date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let days = seconds / 86_400;
    let (year, month, day) = civil(days);
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days % 7) as usize];
    let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        [(month as usize).saturating_sub(1) % 12];
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{weekday}, {day:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT")
}

/// Year, month and day of a day counted from 1970-01-01; years are counted from March within eras of 400.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // From `date -u -d @N`.
        let written = |seconds| http_date(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(written(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(written(951_827_696), "Tue, 29 Feb 2000 12:34:56 GMT");
        assert_eq!(written(1_794_779_999), "Sun, 15 Nov 2026 21:59:59 GMT");
    }
}
