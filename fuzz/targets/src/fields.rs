//! An input as text: lines first, a body behind an empty line.

/// Methods, paths and headers are lines; whatever is missing is empty.
pub struct Fields {
    lines: Vec<String>,
}

impl Fields {
    pub fn of(data: &[u8]) -> Self {
        Self { lines: String::from_utf8_lossy(data).split('\n').map(str::to_owned).collect() }
    }

    pub fn line(&self, number: usize) -> &str {
        self.lines.get(number).map_or("", String::as_str)
    }

    /// `name: value` lines, from this one on.
    pub fn pairs(&self, from: usize) -> impl Iterator<Item = (&str, &str)> {
        self.lines.iter().skip(from).filter_map(|line| line.split_once(':'))
    }
}
