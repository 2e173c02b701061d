//! Many clients run against a server that is killed now and then, and write down when they asked and what they were
//! told when; then it is judged.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::checker::Model;
use super::event::{Event, Moment};
use super::hint::{self, Hint, Hints};
use super::judge;
use crate::Trial;
use crate::arena::{Arena, Guest, Sent};
use crate::options::Options;
use crate::random::Random;
use crate::server::Doors;
use crate::wire::{Answer, Client, Request};

const CLIENTS: u64 = 32;
/// So many blobs or partitions; each is a subject with a history of its own.
const SUBJECTS: usize = 6;

/// A part of the subject, its version, and the ETag that stands for it.
pub type Identity = (usize, u64, String);

type CallOf<A> = <<A as Actor>::Model as Model>::Call;
type AnswerOf<A> = <<A as Actor>::Model as Model>::Answer;
type EventOf<A> = Event<CallOf<A>, AnswerOf<A>>;

/// What a client wants and remembers.
pub trait Actor: Sized + Send + 'static {
    type Model: Model;
    /// Of the case, and what one subject and all of them are called.
    const NAME: &'static str;
    const SUBJECT: &'static str;
    const SUBJECTS: &'static str;

    /// `versions`: the next one to write, the same for all clients.
    fn new(number: u64, random: Random, versions: Arc<AtomicU64>, subjects: usize) -> Self;

    fn door(doors: &Doors) -> SocketAddr;

    /// What is asked before anything else, and answered with 201.
    fn first() -> Request;

    fn choose(&mut self, subject: usize) -> (CallOf<Self>, Request);

    /// Whether a call can change nothing: unanswered, it says nothing.
    fn reads(call: &CallOf<Self>) -> bool;

    /// What was told; anything that the service never says in such a case is an error.
    fn read(call: CallOf<Self>, answer: &Answer) -> Trial<(AnswerOf<Self>, Vec<Identity>)>;

    /// Of a call that was done: the parts that its answer tells ETags of, and whether it changed them.
    fn etags(call: CallOf<Self>, answer: &Answer, told: &[Identity]) -> (Vec<(usize, String)>, bool);

    fn learn(&mut self, subject: usize, call: CallOf<Self>, answer: AnswerOf<Self>, told: &[Identity]);

    /// How many histories were made impossible of this one; an error when one was accepted.
    fn tamper(events: &[EventOf<Self>]) -> Trial<usize>;
}

pub struct Recorded<A: Actor> {
    subject: usize,
    event: EventOf<A>,
    identities: Vec<Identity>,
}

pub async fn run<A: Actor>(options: &Options) -> Trial<String> {
    let salt = A::NAME.bytes().fold(0, |salt: u64, byte| salt << 5 ^ u64::from(byte));
    let mut random = Random::new(options.seed ^ salt);
    let (mut operations, mut open, mut kills, mut tampered) = (0, 0, 0, 0);
    for round in 1..=options.rounds {
        let failed = |reason| format!("round {round}: {reason}");
        let (recorded, killed) = record::<A>(options, &mut random).await?;
        kills += killed;
        check_etags(&recorded).map_err(failed)?;
        for (subject, events) in by_subject(recorded) {
            operations += events.len();
            open += events.iter().filter(|event| event.answer.is_none()).count();
            let what = format!("{} {subject}", A::SUBJECT);
            judge::<A::Model>(options, &what, &events).map_err(failed)?;
            tampered += A::tamper(&events).map_err(failed)?;
        }
    }
    if kills == 0 && options.fault.is_none() {
        return Err("it was over before a server was killed".to_owned());
    }
    if tampered == 0 {
        return Err("no history could be tampered with: nothing happened in them".to_owned());
    }
    Ok(format!(
        "{CLIENTS} clients, {SUBJECTS} {}, {kills} kills: {operations} operations ({open} unanswered) linearizable; \
         {tampered} tampered histories rejected",
        A::SUBJECTS
    ))
}

async fn record<A: Actor>(options: &Options, random: &mut Random) -> Trial<(Vec<Recorded<A>>, usize)> {
    let mut arena = Arena::open(options, A::NAME)?;
    Client::new(A::door(&arena.doors())).must(&A::first()).await?.expect(201, "the first request")?;
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let versions = Arc::new(AtomicU64::new(1));
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let actor = A::new(number, random.fork(), versions.clone(), SUBJECTS);
        clients.spawn(play(actor, random.fork(), arena.guest(A::door), end));
    }
    arena.kill_until(end, random, (800, 2500)).await?;
    let mut recorded = Vec::new();
    while let Some(done) = clients.join_next().await {
        recorded.extend(done.map_err(|error| error.to_string())??);
    }
    for Recorded { event, .. } in recorded.iter_mut().filter(|recorded| recorded.event.answer.is_none()) {
        event.until = Arena::end_of(&arena.deaths, event.called);
    }
    let kills = arena.deaths.len();
    arena.close().await?;
    Ok((recorded, kills))
}

/// One client, to the end.
async fn play<A: Actor>(
    mut actor: A,
    mut random: Random,
    mut guest: Guest,
    end: Instant,
) -> Trial<Vec<Recorded<A>>> {
    let mut recorded = Vec::new();
    while Instant::now() < end {
        let subject = random.index(SUBJECTS);
        let (call, request) = actor.choose(subject);
        let called = guest.now();
        let outcome = guest.send(&request).await;
        let answered = guest.now();
        let mut hints = Hints::default();
        let (answer, identities) = match outcome {
            Sent::Unsent => continue,
            Sent::Open => (None, Vec::new()),
            Sent::Told(answer) => {
                let (read, identities) = A::read(call, &answer)?;
                actor.learn(subject, call, read, &identities);
                if answer.status < 300 {
                    let (etags, are_new) = A::etags(call, &answer, &identities);
                    let kind = if are_new { Hint::Made } else { Hint::Seen };
                    hints = hint::read(etags, kind, |time| guest.moment_of(time));
                }
                (Some((read, answered)), identities)
            }
        };
        if answer.is_some() || !A::reads(&call) {
            let event = Event { call, called, answer, until: Moment::MAX, hints };
            recorded.push(Recorded { subject, event, identities });
        }
    }
    Ok(recorded)
}

/// An ETag stands for one content, and a content has one ETag.
fn check_etags<A: Actor>(recorded: &[Recorded<A>]) -> Trial {
    let (mut versions, mut etags) = (BTreeMap::new(), BTreeMap::new());
    for Recorded { subject, identities, .. } in recorded {
        for (part, version, etag) in identities {
            let known_version = *versions.entry((subject, part, etag)).or_insert(version);
            let known_etag = *etags.entry((subject, part, version)).or_insert(etag);
            if known_version != version || known_etag != etag {
                return Err(format!(
                    "{} {subject}/{part}: ETag {etag} of version {version} is not unique: {known_etag}, \
                     {known_version}",
                    A::SUBJECT
                ));
            }
        }
    }
    Ok(())
}

fn by_subject<A: Actor>(recorded: Vec<Recorded<A>>) -> BTreeMap<usize, Vec<EventOf<A>>> {
    let mut all: BTreeMap<usize, Vec<EventOf<A>>> = BTreeMap::new();
    for Recorded { subject, event, identities: _ } in recorded {
        all.entry(subject).or_default().push(event);
    }
    all
}
