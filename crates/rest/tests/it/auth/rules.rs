//! What each operation asks of each kind of credential: `spec/access.txt`, typed after the contract. The matrix compares
//! what the server does with it, a test of `model` the operation table.

const RULES: &str = include_str!("../../../../../spec/access.txt");

#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub op: &'static str,
    pub types: &'static str,
    pub account: &'static str,
    pub service: &'static str,
    pub anonymous: &'static str,
    pub bearer: &'static str,
}

pub fn rules() -> Vec<Rule> {
    RULES
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let columns: Vec<&'static str> = line.split_whitespace().collect();
            let [op, types, account, service, anonymous, bearer] = columns[..] else { panic!("{line}") };
            Rule { op, types, account, service, anonymous, bearer }
        })
        .collect()
}

/// Whether letters cover a cell.
pub fn covers(cell: &str, letters: &str) -> bool {
    cell == "*"
        || (cell != "-"
            && cell.split('|').any(|needed| needed.chars().all(|letter| letters.contains(letter))))
}
