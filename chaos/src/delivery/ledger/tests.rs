//! Bad histories of one message are rejected, good ones are not.

use super::*;

const MS: Moment = 1_000_000;

/// Called and answered at these milliseconds, hidden for so many from the call on.
fn got(count: u32, called: u64, answered: u64, hidden: u64) -> Got {
    Got { count, called: called * MS, answered: answered * MS, hidden_until: (called + hidden) * MS }
}

fn death(killed: u64) -> Death {
    Death { killed: killed * MS, settled: killed * MS }
}

fn put() -> Ledger {
    let mut ledger = Ledger::default();
    ledger.put(0, Some("id".to_owned())).expect("put");
    ledger
}

fn after(gets: &[Got]) -> Ledger {
    let mut ledger = put();
    gets.iter().for_each(|got| ledger.got(0, "id", *got).expect("got"));
    ledger
}

#[test]
fn what_is_noticed_at_once() {
    assert!(put().put(0, Some("other".to_owned())).is_err(), "two ids");
    assert!(put().got(0, "other", got(1, 1, 2, 1000)).is_err(), "another id");
    assert!(after(&[got(1, 1, 2, 1000)]).got(0, "id", got(1, 5, 6, 1000)).is_err(), "given to two");
    let mut ledger = after(&[got(1, 1, 2, 1000)]);
    ledger.deleted(0, 1, 1, 10 * MS).expect("deleted");
    assert!(ledger.deleted(0, 1, 1, 11 * MS).is_err(), "deleted twice");
    assert!(ledger.got(0, "id", got(2, 11, 12, 1000)).is_err(), "comes back");
    assert!(
        ledger.got(0, "id", got(2, 9, 12, 1000)).is_ok(),
        "the two overlap: judged by their counts later"
    );
    let mut ledger = after(&[got(1, 1, 2, 1000), got(2, 1500, 1501, 1000)]);
    assert!(ledger.deleted(0, 1, 2, 1600 * MS).is_err(), "an old receipt");
    assert!(ledger.accepted(0, 1, 2).is_err(), "an old receipt");
    assert!(ledger.refused(0, 2, 1600 * MS).is_err(), "a valid receipt is refused");
    assert!(ledger.refused(0, 2, 2600 * MS).is_ok(), "its time is over");
}

/// What was got, by which Get it was deleted, Gets without an answer, whether it is possible.
type Life = (&'static str, Vec<Got>, Option<u32>, Vec<(Moment, usize)>, bool);

#[test]
fn whole_lives() {
    let (first, second, third) = (got(1, 1, 2, 1000), got(2, 1500, 1510, 1000), got(3, 3000, 3010, 1000));
    let open = vec![(1600 * MS, 4)];
    let rows: [Life; 9] = [
        ("an ordinary life", vec![first], Some(1), vec![], true),
        ("abandoned twice", vec![first, second, third], Some(3), vec![], true),
        ("never delivered", vec![], None, vec![], false),
        ("gone by itself", vec![first], None, vec![], false),
        ("a Get is missing", vec![first, third], Some(3), vec![], false),
        ("a Get was not answered", vec![first, third], Some(3), open.clone(), true),
        ("a Get of a later server", vec![first, second], Some(2), vec![(9_000 * MS, 4)], true),
        ("deleted by the holder before", vec![first, second], Some(1), vec![], false),
        ("given to another too early", vec![first, got(2, 500, 510, 1000)], Some(2), vec![], false),
    ];
    for (what, gets, deleted, open_gets, possible) in rows {
        let mut ledger = after(&gets);
        if let Some(count) = deleted {
            // As if nobody had been told more when it was sent.
            ledger.deleted(0, count, count, 5000 * MS).expect("deleted");
        }
        ledger.open_gets = open_gets;
        let outcome = ledger.judge(&[death(2000)]);
        assert_eq!(outcome.is_ok(), possible, "{what}: {outcome:?}");
    }
}

#[test]
fn a_count_may_have_a_gap_only_where_a_get_was_not_answered() {
    let mut ledger = after(&[got(1, 1, 2, 100), got(3, 3000, 3010, 1000)]);
    ledger.deleted(0, 3, 3, 5000 * MS).expect("deleted");
    ledger.open_get(9_000 * MS, 4);
    assert!(ledger.judge(&[death(8_000)]).is_err(), "the Get without an answer came when it was over");
    ledger.open_get(500 * MS, 1);
    let summary = ledger.judge(&[death(8_000)]).expect("possible");
    assert_eq!((summary.messages, summary.deliveries, summary.unheard, summary.most), (1, 2, 1, 3));
}

#[test]
fn a_put_or_a_delete_without_an_answer_may_be_either() {
    let mut ledger = Ledger::default();
    ledger.put(0, None).expect("open");
    ledger.put(1, None).expect("open");
    ledger.got(1, "id", got(1, 1, 2, 1000)).expect("it was put");
    ledger.open_delete(1);
    let summary = ledger.judge(&[]).expect("possible");
    assert_eq!((summary.messages, summary.open_puts, summary.open_deletes), (1, 2, 1));
    let mut ledger = Ledger::default();
    ledger.got(0, "id", got(1, 1, 2, 1000)).expect("perhaps the Put is on its way");
    ledger.deleted(0, 1, 1, 3 * MS).expect("deleted");
    assert!(ledger.judge(&[]).is_err(), "nobody put it");
}

#[test]
fn a_message_that_is_handed_back_may_be_got_at_once() {
    let mut ledger = after(&[got(1, 1, 2, 1000)]);
    ledger.visible_from(0, 1, 10 * MS, true);
    ledger.got(0, "id", got(2, 20, 21, 1000)).expect("got");
    ledger.deleted(0, 2, 2, 50 * MS).expect("deleted");
    assert!(ledger.judge(&[]).is_ok());
}

/// In a cluster the database may have what a server had sent before it died.
#[test]
fn a_get_may_be_done_until_the_death_of_its_server_is_settled() {
    let (first, third) = (got(1, 1800, 1810, 1000), got(3, 3000, 3010, 1000));
    let judged = |called: u64, deaths: &[Death]| {
        let mut ledger = after(&[first, third]);
        ledger.deleted(0, 3, 3, 3020 * MS).expect("deleted");
        ledger.open_get(called * MS, 4);
        ledger.judge(deaths).is_ok()
    };
    let settled = |killed: u64, settled: u64| Death { killed: killed * MS, settled: settled * MS };
    // The end of an earlier server's affairs says nothing of it.
    assert!(judged(1600, &[settled(500, 1700), settled(1650, 4000)]));
}
