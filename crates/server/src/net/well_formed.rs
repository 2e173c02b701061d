//! What HTTP asks of every request's head and hyper does not.

use http::{Request, Version, header};
use lazuli_rest::Malformed;

/// None for a head that is as it should be.
pub fn malformed<B>(request: &Request<B>, bare_line_feed: bool) -> Option<Malformed> {
    if bare_line_feed {
        return Some(Malformed::LineEnds);
    }
    match request.headers().get_all(header::HOST).iter().count() {
        1 => None,
        0 if request.version() < Version::HTTP_11 => None,
        0 => Some(Malformed::NoHost),
        _ => Some(Malformed::Hosts),
    }
}
