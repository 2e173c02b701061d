//! Where rows of the result go.

use lazuli_model::query::Problem;

use super::Format;
use super::output::Cells;

/// A row of the result is no longer.
const ROW_MAX: usize = 8 * 1024 * 1024;

const TOO_LARGE: Problem = Problem::of("ResultTooLarge", "A row of the result is longer than 8388608 bytes.");

pub(super) struct Sink {
    format: Format,
    limit: Option<u64>,
    rows: u64,
    /// The names of the columns are to be written first.
    header_due: bool,
    pub out: Vec<u8>,
}

impl Sink {
    pub fn new(format: Format, limit: Option<u64>) -> Self {
        let header_due = format.wants_header();
        Self { format, limit, rows: 0, header_due, out: Vec::new() }
    }

    /// As many rows as the query wants.
    pub fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.rows >= limit)
    }

    /// Takes a row, if the query wants more. One that is too long is not taken in part.
    pub fn take(&mut self, cells: &Cells<'_>) -> Result<(), Problem> {
        if self.is_full() {
            return Ok(());
        }
        if std::mem::take(&mut self.header_due) {
            self.format.write_header(&mut self.out, cells);
        }
        let before = self.out.len();
        if !self.format.write_row(&mut self.out, cells, before + ROW_MAX) {
            self.out.truncate(before);
            return Err(TOO_LARGE);
        }
        self.rows += 1;
        Ok(())
    }

    /// A document that is no object is a row without columns.
    pub fn take_nothing(&mut self) {
        if !self.is_full() {
            self.format.write_nothing(&mut self.out);
            self.rows += 1;
        }
    }
}
