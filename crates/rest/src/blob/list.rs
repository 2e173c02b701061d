//! What the listings have in common.

use lazuli_model::blob::SoftDeletion;
use lazuli_model::error::Failure;
use lazuli_model::metadata::Metadata;
use lazuli_model::time::Timestamp;
use lazuli_service::shared::marker::Position;
use lazuli_service::{Answer, Context, Services};

use crate::call::Call;
use crate::head::Head;
use crate::xml::{Writer, is_legal};

/// The most that one page holds.
pub const LIST_LIMIT: u32 = 5000;
/// A page of so many is built where the request is; a longer one aside, for others share the request's thread.
const FEW: usize = 100;
/// Room for the last entry of a page. Few entries take more.
const ENTRY: usize = 16 * 1024;

/// Builds a page. Most lists end within [`FEW`] entries, so as many are read first; when there are more, the whole page
/// is read and printed aside. `read` gives up to so many entries, and whether more follow.
pub async fn build<L, R>(
    call: Call,
    max_results: usize,
    read: impl Fn(Services, Context, usize) -> R + Send + 'static,
    print: impl Fn(&Call, &L) -> String + Send + 'static,
) -> Result<String, Failure>
where
    L: Send + 'static,
    R: Future<Output = Answer<(L, bool)>> + Send,
{
    let few = read(call.services.clone(), call.context.clone(), max_results.min(FEW));
    let (list, more) = few.await?;
    if !more || max_results <= FEW {
        return Ok(print(&call, &list));
    }
    let services = call.services.clone();
    let building = services.aside(async move {
        let (list, _) = read(call.services.clone(), call.context.clone(), max_results).await?;
        Ok(print(&call, &list))
    });
    Ok(building.await.and_then(|built| built)?)
}

/// The entries of a page, and where the next one begins if all of them find room.
pub struct Entries<'a, T> {
    pub element: &'a str,
    pub items: &'a [T],
    pub next: Option<&'a Position>,
}

impl<T> Entries<'_, T> {
    /// Prints the entries and the end of the document. The page ends where another entry might take more than `most`
    /// bytes, and the next one goes on there.
    pub fn print(
        self,
        mut writer: Writer,
        most: usize,
        entry: impl Fn(&mut Writer, &T),
        position: impl Fn(&T) -> Position,
    ) -> String {
        let mut next = self.next.map(Position::encode).unwrap_or_default();
        if self.items.is_empty() {
            writer.empty(self.element);
        } else {
            writer.open(self.element);
            let last = self.items.len() - 1;
            for (at, item) in self.items.iter().enumerate() {
                entry(&mut writer, item);
                if writer.len() + ENTRY >= most && at < last {
                    next = position(item).encode();
                    break;
                }
            }
            writer.close(self.element);
        }
        writer.element("NextMarker", &next);
        writer.close("EnumerationResults");
        writer.finish()
    }
}

/// Parameters of the request come back, those that were sent.
pub fn asked(writer: &mut Writer, head: &Head, names: &[&str]) {
    for name in names {
        let Some(value) = head.query.get(name) else { continue };
        match *name {
            "prefix" => text(writer, "Prefix", value),
            "marker" => text(writer, "Marker", value),
            "maxresults" => text(writer, "MaxResults", value),
            "delimiter" => text(writer, "Delimiter", value),
            _ => {}
        }
    }
}

/// A name or part of one. What XML cannot hold is percent-encoded as a whole, and said to be so.
pub fn text(writer: &mut Writer, element: &str, value: &str) {
    if is_legal(value) {
        return writer.element(element, value);
    }
    writer.open_with(element, &[("Encoded", "true")]);
    writer.text(&encoded(value));
    writer.close(element);
}

/// Percent-encoded as a whole; unreserved characters stay as they are.
pub fn encoded(value: &str) -> String {
    let encoded =
        percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC).to_string();
    encoded.replace("%2D", "-").replace("%2E", ".").replace("%5F", "_").replace("%7E", "~")
}

/// Names are C# identifiers, which are element names too, except for a few letters that XML lacks.
pub fn metadata(writer: &mut Writer, pairs: &Metadata, encrypted: bool) {
    if pairs.is_empty() && !encrypted {
        return writer.empty("Metadata");
    }
    match encrypted {
        true => writer.open_with("Metadata", &[("Encrypted", "true")]),
        false => writer.open("Metadata"),
    }
    for (name, value) in pairs.iter() {
        match name.is_ascii() {
            true => writer.element(name, value),
            false => writer.element("x-ms-invalid-name", name),
        }
    }
    writer.close("Metadata");
}

/// Since when something is soft deleted, and for how many whole days more it can be brought back.
pub fn retention(writer: &mut Writer, deletion: Option<SoftDeletion>, now: Timestamp) {
    const DAY: u64 = 86_400 * 10_000_000;
    let Some(SoftDeletion { deleted, until }) = deletion else { return };
    writer.element("DeletedTime", &deleted.rfc1123());
    writer.number("RemainingRetentionDays", until.0.saturating_sub(now.0) / DAY);
}
