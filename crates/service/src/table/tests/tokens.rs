//! The keys that a token reaches, against a judge of its own.

use super::*;

/// Keys as they can be stored.
const STORED: [&str; 9] = ["", " ", "a", "a ", "ab", "b", "\u{E000}", "\u{10000}", "\u{FFFF}"];
/// What a token may say, which is anything.
const SIGNED: [&str; 16] = [
    " ",
    "a",
    "a ",
    "ab",
    "b",
    "\u{E000}",
    "\u{10000}",
    "\u{FFFF}",
    "\u{1}",
    "a\u{0}",
    "a\u{1}b",
    "a\tb",
    "b\u{1F}",
    "\u{FFFF}\n",
    "a\u{7F}",
    "a\u{0}\u{FFFF}",
];

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

/// auth.md and table.md section 7, word for word: with spk alone PK >= spk; with srk too PK > spk, or PK = spk and
/// RK >= srk; the end symmetric.
fn allows(limits: &KeyLimits, partition: &str, row: &str) -> bool {
    let (partition, row) = (units(partition), units(row));
    let starts = match (&limits.start_partition, &limits.start_row) {
        (None, _) => true,
        (Some(start), None) => partition >= units(start),
        (Some(start), Some(first)) => {
            partition > units(start) || partition == units(start) && row >= units(first)
        }
    };
    let ends = match (&limits.end_partition, &limits.end_row) {
        (None, _) => true,
        (Some(end), None) => partition <= units(end),
        (Some(end), Some(last)) => partition < units(end) || partition == units(end) && row <= units(last),
    };
    starts && ends
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    fn bound(&mut self) -> (Option<String>, Option<String>) {
        let mut pick = |sides: usize| SIGNED.get(self.roll(sides)).map(|text| (*text).to_owned());
        match pick(SIGNED.len() + 4) {
            None => (None, None),
            Some(partition) => (Some(partition), pick(SIGNED.len() + 8)),
        }
    }
}

/// Every query sees exactly the keys that its token reaches, and its continuations name no other.
#[tokio::test]
async fn a_token_never_reaches_a_key_outside_of_its_range() {
    let bench = Bench::new().await;
    for partition in STORED {
        let rows = STORED.iter().map(|row| change(Op::InsertEntity, partition, row, &[]));
        bench.commit(rows.collect()).await.expect("inserted");
    }
    let mut stored: Vec<(&str, &str)> =
        STORED.iter().flat_map(|partition| STORED.iter().map(move |row| (*partition, *row))).collect();
    stored.sort_by_key(|(partition, row)| (units(partition), units(row)));
    let filters = ["", "PartitionKey ge 'a'", "PartitionKey eq 'a' or RowKey lt 'b'", "RowKey gt 'a\u{1}'"];
    let (mut dice, mut shown, mut hidden) = (Dice(0x5EED_0019), 0, 0);
    for round in 0..600 {
        let ((start_partition, start_row), (end_partition, end_row)) = (dice.bound(), dice.bound());
        let limits = KeyLimits { start_partition, start_row, end_partition, end_row };
        for (partition, row) in &stored {
            let allowed = allows(&limits, partition, row);
            assert_eq!(limits.contains(partition, row), allowed, "{limits:?} {partition:?} {row:?}");
            *(if allowed { &mut shown } else { &mut hidden }) += 1;
        }
        let text = filters[round % filters.len()];
        let filter = (!text.is_empty()).then(|| Filter::parse(text).expect(text));
        let wanted = |partition: &str, row: &str| match round % filters.len() {
            1 => units(partition) >= units("a"),
            2 => partition == "a" || units(row) < units("b"),
            3 => units(row) > units("a\u{1}"),
            _ => true,
        };
        let expected: Vec<_> =
            stored.iter().filter(|(p, r)| allows(&limits, p, r) && wanted(p, r)).copied().collect();
        let (mut found, mut from) = (Vec::new(), None);
        loop {
            let input = QueryEntities {
                table: "people".to_owned(),
                filter: filter.clone(),
                top: 1 + dice.roll(30),
                from,
                limits: limits.clone(),
                max_bytes: 4 << 20,
            };
            let page = input.execute(&bench.services, &bench.context).await.expect("a page");
            found.extend(page.entities.iter().map(|entity| {
                let (partition, row) = entity.keys().expect("keys");
                (partition.into_owned(), row.into_owned())
            }));
            from = page.next;
            match &from {
                Some((p, r)) => assert!(allows(&limits, p, r), "{limits:?} goes on at {p:?} {r:?}"),
                None => break,
            }
        }
        let found: Vec<_> = found.iter().map(|(p, r)| (p.as_str(), r.as_str())).collect();
        assert_eq!(found, expected, "{limits:?} {text}");
    }
    assert!(shown > 5_000 && hidden > 5_000, "the dice are loaded: {shown} {hidden}");
}

/// A continuation is the client's to invent: it leads nowhere that the token does not.
#[tokio::test]
async fn a_continuation_leads_to_no_key_outside() {
    let bench = Bench::new().await;
    for partition in ["a", "b", "c"] {
        bench.one(change(Op::InsertEntity, partition, "r", &[])).await.expect("inserted");
    }
    let long = "k".repeat(70_000);
    for from in ["", "\u{0}", "a", "a\u{0}", "b", "b\u{0}x", "c", "\u{FFFF}", &long] {
        for row in ["", "r", "\u{0}", "s", &long] {
            let input = QueryEntities {
                table: "people".to_owned(),
                filter: None,
                top: 10,
                from: Some((from.to_owned(), row.to_owned())),
                limits: KeyLimits {
                    start_partition: Some("b".to_owned()),
                    end_partition: Some("b".to_owned()),
                    ..KeyLimits::default()
                },
                max_bytes: 4 << 20,
            };
            let page = input.execute(&bench.services, &bench.context).await.expect("a page");
            assert!(page.entities.iter().all(|entity| entity.keys().expect("keys").0 == "b"), "{from:?}");
        }
    }
}
