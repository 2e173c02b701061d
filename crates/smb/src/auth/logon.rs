//! One attempt to log on, over the several requests that it takes.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use aws_lc_rs::constant_time::verify_slices_are_equal;

use super::ntlm::{self, Authenticate, Challenged, Direction, NtHash, Refused};
use super::spnego::{self, NegState, Token};
use super::throttle::Throttle;
use super::users::Users;

/// What an attempt is judged with.
pub struct Gate {
    pub users: Users,
    pub throttle: Throttle,
    /// How the server calls itself.
    pub name: String,
    /// Of random passwords, for names that are not accounts.
    pub nobody: [NtHash; 2],
}

#[derive(Default)]
pub struct Logon {
    /// The list that the integrity code of SPNEGO is made over; none while NTLM comes bare.
    mechanisms: Option<Vec<u8>>,
    challenged: Option<Challenged>,
}

pub enum Step {
    /// The client has to go on with this.
    Continue(Vec<u8>),
    Done(LoggedOn),
}

pub struct LoggedOn {
    pub account: Arc<str>,
    pub session_key: [u8; 16],
    pub proved: NtHash,
    /// The last token for the client.
    pub token: Vec<u8>,
}

impl Logon {
    /// `time` is told to the client, in ticks since 1601.
    pub async fn step(
        &mut self,
        token: &[u8],
        gate: &Gate,
        from: IpAddr,
        time: u64,
    ) -> Result<Step, Refused> {
        if token.starts_with(&ntlm::SIGNATURE) {
            return match self.challenged.take() {
                None => {
                    let challenged = ntlm::challenge(token, &gate.name, time)?;
                    let answer = challenged.challenge.clone();
                    self.challenged = Some(challenged);
                    Ok(Step::Continue(answer))
                }
                Some(challenged) => judge(&challenged, token, gate, from).await.map(|(account, accepted)| {
                    let ntlm::Accepted { session_key, proved, .. } = accepted;
                    Step::Done(LoggedOn { account, session_key, proved, token: Vec::new() })
                }),
            };
        }
        match spnego::parse(token)? {
            Token::First { mechanisms, ntlm_offered, ntlm_token } => {
                if !ntlm_offered || self.mechanisms.is_some() {
                    return Err(Refused::Logon);
                }
                self.mechanisms = Some(mechanisms);
                match ntlm_token {
                    Some(token) => self.challenge(&token, gate, time),
                    // The client hoped for another mechanism: it is told to begin with NTLM.
                    None => Ok(Step::Continue(spnego::respond(NegState::RequestMic, true, None, None)?)),
                }
            }
            Token::Next { token, mic } => {
                let token = token.ok_or(Refused::Malformed)?;
                if self.mechanisms.is_none() {
                    return Err(Refused::Malformed);
                }
                match self.challenged.take() {
                    None => self.challenge(&token, gate, time),
                    Some(challenged) => self.finish(&challenged, &token, mic.as_deref(), gate, from).await,
                }
            }
        }
    }

    fn challenge(&mut self, token: &[u8], gate: &Gate, time: u64) -> Result<Step, Refused> {
        let challenged = ntlm::challenge(token, &gate.name, time)?;
        let answer = spnego::respond(NegState::AcceptIncomplete, true, Some(&challenged.challenge), None)?;
        self.challenged = Some(challenged);
        Ok(Step::Continue(answer))
    }

    async fn finish(
        &self,
        challenged: &Challenged,
        token: &[u8],
        mic: Option<&[u8]>,
        gate: &Gate,
        from: IpAddr,
    ) -> Result<Step, Refused> {
        let (account, accepted) = judge(challenged, token, gate, from).await?;
        let listed = self.mechanisms.as_deref().unwrap_or_default();
        let own = match mic {
            None => None,
            Some(mic) => {
                let right = accepted.security.mic(Direction::ClientToServer, listed);
                verify_slices_are_equal(&right, mic).map_err(|_| Refused::Logon)?;
                Some(accepted.security.mic(Direction::ServerToClient, listed))
            }
        };
        let token =
            spnego::respond(NegState::AcceptCompleted, false, None, own.as_ref().map(|mic| &mic[..]))?;
        let ntlm::Accepted { session_key, proved, .. } = accepted;
        Ok(Step::Done(LoggedOn { account, session_key, proved, token }))
    }
}

async fn judge(
    challenged: &Challenged,
    token: &[u8],
    gate: &Gate,
    from: IpAddr,
) -> Result<(Arc<str>, ntlm::Accepted), Refused> {
    let told = Authenticate::parse(token)?;
    // Anonymous logons are refused; one is no guess at a password, and does not count as one.
    if told.user.is_empty() {
        return Err(Refused::Logon);
    }
    let turn = gate.throttle.turn(from, &told.user, Instant::now()).ok_or(Refused::TooMany)?;
    tokio::time::sleep(turn).await;
    let found = gate.users.find(&told.user);
    let judged = match &found {
        Some((account, hashes)) => {
            challenged.judge(token, &told, hashes).map(|accepted| (Arc::clone(account), accepted))
        }
        None => challenged.judge(token, &told, &gate.nobody).and(Err(Refused::Logon)),
    };
    match &judged {
        Ok(_) => gate.throttle.succeeded(from),
        Err(_) => gate.throttle.failed(from, &told.user, Instant::now()),
    }
    judged
}
