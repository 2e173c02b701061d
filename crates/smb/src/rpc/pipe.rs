//! A pipe that is open: requests are written to it, answers are read from it.

use std::collections::VecDeque;

use bytes::Bytes;

use super::pdu::{self, Pdu};
use super::srvsvc::{self, Directory};
use crate::status::{Malformed, NtStatus};

/// Of a request in fragments.
const REQUEST_MAX: usize = 64 * 1024;
/// Answers that the client has not read yet.
const WAITING_MAX: usize = 64;

#[derive(Default)]
pub struct Pipe {
    /// What was written and is no whole fragment yet.
    written: Vec<u8>,
    /// The fragments of a request before its last one.
    stub: Vec<u8>,
    /// Of contexts that were bound to `srvsvc`.
    bound: Vec<u16>,
    answers: VecDeque<Bytes>,
    broken: bool,
}

impl Pipe {
    /// The pipes that there are.
    pub fn open(name: &str) -> Option<Self> {
        let name = name.trim_start_matches('\\');
        name.eq_ignore_ascii_case("srvsvc").then(Self::default)
    }

    /// Bytes of one write or transaction; whatever they complete is carried out.
    pub async fn write(&mut self, bytes: &[u8], directory: &impl Directory) -> Result<(), NtStatus> {
        if self.broken {
            return Err(NtStatus::PIPE_DISCONNECTED);
        }
        if self.written.len() + bytes.len() > REQUEST_MAX || self.answers.len() >= WAITING_MAX {
            return Err(NtStatus::INSUFFICIENT_RESOURCES);
        }
        self.written.extend_from_slice(bytes);
        let taken = self.take(directory).await;
        self.broken = taken.is_err();
        taken.map_err(|Malformed| NtStatus::PIPE_DISCONNECTED)
    }

    async fn take(&mut self, directory: &impl Directory) -> Result<(), Malformed> {
        while let Some(length) = pdu::length(&self.written)? {
            if self.written.len() < length {
                return Ok(());
            }
            if self.answers.len() >= WAITING_MAX {
                return Err(Malformed);
            }
            let fragment: Vec<u8> = self.written.drain(..length).collect();
            self.answer(Pdu::parse(&fragment)?, directory).await?;
        }
        Ok(())
    }

    async fn answer(&mut self, pdu: Pdu, directory: &impl Directory) -> Result<(), Malformed> {
        match pdu {
            Pdu::Bind { call, alter, contexts } => {
                let accepted: Vec<bool> = contexts
                    .iter()
                    .map(|context| context.speaks_ndr && srvsvc::is_it(&context.interface, context.version))
                    .collect();
                let ids = contexts.iter().zip(&accepted).filter(|(_, accepted)| **accepted);
                self.bound.extend(ids.map(|(context, _)| context.id));
                self.bound.dedup();
                self.bound.truncate(WAITING_MAX);
                self.push(pdu::bind_ack(call, alter, "srvsvc", &accepted));
            }
            Pdu::Request { call, first, last, context, operation, stub } => {
                if first {
                    self.stub.clear();
                }
                if self.stub.len() + stub.len() > REQUEST_MAX {
                    return Err(Malformed);
                }
                self.stub.extend_from_slice(&stub);
                if !last {
                    return Ok(());
                }
                let stub = std::mem::take(&mut self.stub);
                if !self.bound.contains(&context) {
                    self.push(pdu::fault(call, context, pdu::FAULT_UNKNOWN_INTERFACE));
                    return Ok(());
                }
                match srvsvc::call(operation, &stub, directory).await {
                    Ok(answer) => {
                        pdu::response(call, context, &answer).into_iter().for_each(|it| self.push(it))
                    }
                    Err(fault) => self.push(pdu::fault(call, context, fault)),
                }
            }
            Pdu::Other { call } => self.push(pdu::bind_nak(call)),
        }
        Ok(())
    }

    fn push(&mut self, fragment: Vec<u8>) {
        self.answers.push_back(fragment.into());
    }

    /// One fragment, or as much of it as there is room for, and whether more of it is left.
    pub fn read(&mut self, room: usize) -> Option<(Bytes, bool)> {
        let fragment = self.answers.front_mut()?;
        let taken = fragment.split_to(room.min(fragment.len()));
        let more = !fragment.is_empty();
        if !more {
            self.answers.pop_front();
        }
        Some((taken, more))
    }
}
