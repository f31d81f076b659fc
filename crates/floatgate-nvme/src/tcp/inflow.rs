//! Data from the host by Ready to Transfer (TCP Transport 1.0, 3.3.2.2), without sockets.
//!
//! A command's data are requested in order, by R2Ts of at most [`Limits::request`] bytes, of which
//! the host has at most [`Limits::outstanding`] at a time. The data in memory of all commands of a
//! connection are limited, too: further commands wait until earlier ones are complete.

use std::collections::VecDeque;

use crate::spec::command::Command;
use crate::spec::tcp::{data, header, termination};

use super::pdu::{Fatal, HostData, ReadyToTransfer};

/// Limits of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Outstanding R2Ts of a command, at least 1.
    pub outstanding: u32,
    /// Bytes of an R2T.
    pub request: u32,
    /// Bytes of data of all commands; one command may have more.
    pub memory: usize,
}

/// A command whose data arrive.
#[derive(Debug)]
pub struct Inflow {
    command: Command,
    data: Vec<u8>,
    received: u32,
    requested: u32,
    /// Ends of the outstanding R2Ts.
    ends: VecDeque<u32>,
    is_damaged: bool,
}

/// A command with its data.
#[derive(Debug)]
pub struct Received {
    /// The command.
    pub command: Command,
    /// Its data.
    pub data: Vec<u8>,
    /// Whether a digest did not match.
    pub is_damaged: bool,
}

impl Inflow {
    fn new(command: Command, length: u32) -> Self {
        let data = vec![0; length as usize];
        let ends = VecDeque::new();
        Self { command, data, received: 0, requested: 0, ends, is_damaged: false }
    }

    fn length(&self) -> u32 {
        self.data.len() as u32
    }

    /// Requests as much as the limits allow.
    fn request(&mut self, tag: u16, limits: &Limits, requests: &mut Vec<ReadyToTransfer>) {
        while self.requested < self.length() && (self.ends.len() as u32) < limits.outstanding {
            let (offset, left) = (self.requested, self.length() - self.requested);
            let length = left.min(limits.request);
            self.requested += length;
            self.ends.push_back(self.requested);
            requests.push(ReadyToTransfer { command: self.command.id(), tag, offset, length });
        }
    }

    /// Returns the room for the data of a PDU.
    ///
    /// # Errors
    /// Data that no R2T asks for, or not in order.
    pub fn room(&mut self, pdu: &HostData, length: usize) -> Result<&mut [u8], Fatal> {
        let out_of_range = Fatal::new(termination::OUT_OF_RANGE);
        let sequence = Fatal::new(termination::SEQUENCE);
        let end = *self.ends.front().ok_or(sequence)?;
        let until = pdu.offset.checked_add(length as u32).ok_or(out_of_range)?;
        if until > self.requested || pdu.offset > self.requested {
            return Err(out_of_range);
        }
        if pdu.offset != self.received {
            return Err(sequence);
        }
        if until > end {
            return Err(out_of_range);
        }
        // Data that never arrive would leave the command waiting forever.
        if pdu.is_last && until < end {
            return Err(Fatal::field(header::FLAGS));
        }
        Ok(&mut self.data[pdu.offset as usize..until as usize])
    }
}

enum Slot {
    Free,
    Waiting(Inflow),
    /// Its data are being read.
    Receiving,
}

/// Commands of a connection whose data arrive.
pub struct Inflows {
    limits: Limits,
    /// By transfer tag.
    slots: Vec<Slot>,
    /// Commands for which there is no memory now.
    queue: VecDeque<(Command, u32)>,
    /// Bytes of data of commands that are not complete.
    memory: usize,
}

impl Inflows {
    /// No commands.
    pub fn new(limits: Limits) -> Self {
        Self { limits, slots: vec![], queue: VecDeque::new(), memory: 0 }
    }

    /// Adds a command with `length` bytes of data, at least 1. Adds R2Ts to `requests`.
    pub fn begin(&mut self, command: Command, length: u32, requests: &mut Vec<ReadyToTransfer>) {
        self.queue.push_back((command, length));
        self.admit(requests);
    }

    /// Begins commands for which there is memory.
    fn admit(&mut self, requests: &mut Vec<ReadyToTransfer>) {
        while let Some((command, length)) = self.queue.front().copied() {
            let memory = self.memory + length as usize;
            if self.memory > 0 && memory > self.limits.memory {
                return;
            }
            self.memory = memory;
            self.queue.pop_front();
            let free = self.slots.iter().position(|slot| matches!(slot, Slot::Free));
            let tag = free.unwrap_or(self.slots.len());
            let mut inflow = Inflow::new(command, length);
            inflow.request(tag as u16, &self.limits, requests);
            match self.slots.get_mut(tag) {
                Some(slot) => *slot = Slot::Waiting(inflow),
                None => self.slots.push(Slot::Waiting(inflow)),
            }
        }
    }

    /// Takes the command to which a PDU belongs, until [`Inflows::put`].
    ///
    /// # Errors
    /// A tag or a command identifier without an R2T.
    pub fn take(&mut self, pdu: &HostData) -> Result<Inflow, Fatal> {
        let slot = self.slots.get_mut(usize::from(pdu.tag));
        let slot = slot.filter(|slot| matches!(slot, Slot::Waiting(_)));
        let slot = slot.ok_or(Fatal::field(data::TAG))?;
        match std::mem::replace(slot, Slot::Receiving) {
            Slot::Waiting(inflow) if inflow.command.id() == pdu.command => Ok(inflow),
            other => {
                *slot = other;
                Err(Fatal::field(data::COMMAND))
            }
        }
    }

    /// Puts a command back after `length` bytes were read into its room. Returns the command if its
    /// data are complete; else adds further R2Ts.
    pub fn put(
        &mut self,
        tag: u16,
        mut inflow: Inflow,
        (length, is_intact): (usize, bool),
        requests: &mut Vec<ReadyToTransfer>,
    ) -> Option<Received> {
        let slot = &mut self.slots[usize::from(tag)];
        inflow.is_damaged |= !is_intact;
        inflow.received += length as u32;
        if inflow.ends.front() == Some(&inflow.received) {
            inflow.ends.pop_front();
        }
        if inflow.received == inflow.length() {
            *slot = Slot::Free;
            let Inflow { command, data, is_damaged, .. } = inflow;
            return Some(Received { command, data, is_damaged });
        }
        inflow.request(tag, &self.limits, requests);
        *slot = Slot::Waiting(inflow);
        None
    }

    /// Releases the memory of a complete command, and begins commands that wait for it.
    pub fn release(&mut self, length: usize, requests: &mut Vec<ReadyToTransfer>) {
        self.memory -= length;
        self.admit(requests);
    }
}
