//! Looking into documents of the service.

/// What stands in the first element of that name, or nothing; it is not unescaped. Nothing is allocated: the benchmark
/// looks into every answer.
pub fn element<'a>(text: &'a str, name: &str) -> &'a str {
    let named = |at: usize, before: usize| {
        let rest = text.get(at + before..)?.strip_prefix(name)?;
        rest.starts_with('>').then_some(at + before + name.len() + 1)
    };
    let Some(start) = text.match_indices('<').find_map(|(at, _)| named(at, 1)) else { return "" };
    let inside = text.get(start..).unwrap_or_default();
    let end = inside.match_indices("</").find(|(at, _)| named(start + at, 2).is_some());
    end.and_then(|(end, _)| inside.get(..end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::element;

    #[test]
    fn the_first_element_of_the_very_name_is_found() {
        let text = "<Names/><Blob><Name>a</Name><Etag>0x1</Etag></Blob><Blob><Name>b</Name></Blob><Next />";
        assert_eq!(element(text, "Name"), "a");
        assert_eq!(element(text, "Etag"), "0x1");
        assert_eq!(element(text, "Blob"), "<Name>a</Name><Etag>0x1</Etag>");
        for absent in ["Names", "Next", "Bl", "ame"] {
            assert_eq!(element(text, absent), "", "{absent}");
        }
        assert_eq!(element("<Name>never ends</Nam>", "Name"), "");
        assert_eq!(element("<Na", "Name"), "");
    }
}
