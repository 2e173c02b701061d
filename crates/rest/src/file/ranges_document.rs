//! The document of List Ranges.

use crate::xml::Writer;

/// A part of a file that holds bytes, or one that held some before and is clear now. Half open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedRange {
    pub start: u64,
    pub end: u64,
    pub cleared: bool,
}

/// Sorted, both kinds as they lie (recorded). `next` is the marker of the page that follows, for those who ask for pages.
pub fn document(ranges: &[ListedRange], next: Option<&str>) -> String {
    let mut writer = Writer::new();
    if ranges.is_empty() && next.is_none() {
        writer.empty("Ranges");
        return writer.finish();
    }
    writer.open("Ranges");
    for range in ranges.iter().filter(|range| range.start < range.end) {
        let name = if range.cleared { "ClearRange" } else { "Range" };
        writer.open(name);
        writer.number("Start", range.start);
        writer.number("End", range.end - 1);
        writer.close(name);
    }
    writer.maybe("NextMarker", next);
    writer.close("Ranges");
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARATION: &str = "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>";

    /// Recorded: of a file that holds nothing, and between two snapshots.
    #[test]
    fn as_recorded() {
        assert_eq!(document(&[], None), format!("{DECLARATION}<Ranges />"));
        let ranges = [
            ListedRange { start: 0, end: 512, cleared: true },
            ListedRange { start: 3072, end: 4096, cleared: false },
        ];
        let expected = "<Ranges><ClearRange><Start>0</Start><End>511</End></ClearRange>\
            <Range><Start>3072</Start><End>4095</End></Range></Ranges>";
        assert_eq!(document(&ranges, None), format!("{DECLARATION}{expected}"));
    }

    #[test]
    fn a_page_tells_where_the_next_one_begins() {
        let page = document(&[ListedRange { start: 0, end: 1, cleared: false }], Some("512"));
        assert!(page.ends_with("</Range><NextMarker>512</NextMarker></Ranges>"), "{page}");
    }
}
