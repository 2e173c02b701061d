//! Cost must not grow with what is stored: the same work beside few and beside very many.

use std::fmt::{self, Display, Formatter};

use crate::bars::GROWTH_AT_MOST;
use crate::load::Measured;
use crate::report::short;

pub struct Growth {
    /// Of what there are few and many.
    pub of: &'static str,
    pub stored: [usize; 2],
    /// What was done, beside few and beside many.
    pub rows: Vec<(&'static str, Measured, Measured)>,
}

impl Display for Growth {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (of, [few, many]) = (self.of, self.stored);
        let columns = "/s | p50 ms | CPU s/1000";
        writeln!(f, "\n| with | {few} {of} {columns} | {many} {of} {columns} | RSS MiB | time grows |")?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|")?;
        for (name, before, after) in &self.rows {
            let milliseconds = |measured: &Measured| short(measured.percentile(0.5).as_secs_f64() * 1e3);
            let cpu =
                |measured: &Measured| short(measured.cost.cpu * 1e3 / measured.operations.max(1) as f64);
            let growth = after.mean() / before.mean();
            let verdict = if growth <= GROWTH_AT_MOST { "met" } else { "NOT MET" };
            writeln!(
                f,
                "| {name} | {} | {} | {} | {} | {} | {} | {:.0} | {}x, {verdict} |",
                short(before.per_second()),
                milliseconds(before),
                cpu(before),
                short(after.per_second()),
                milliseconds(after),
                cpu(after),
                after.cost.resident,
                short(growth),
            )?;
        }
        Ok(())
    }
}
