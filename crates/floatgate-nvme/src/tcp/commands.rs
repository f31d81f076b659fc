//! Commands of a connection: their data, their execution and their replies.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::spec::command::{Command, Completion};
use crate::spec::fabrics::{NO_FLOW_CONTROL, connect};
use crate::spec::opcodes::{fabrics, io};
use crate::spec::status::Status;
use crate::spec::tcp::termination;
use crate::subsystem::{Connected, Link, Outcome, Reply, Transfer};

use super::connection::{Connection, Queue};
use super::inflow::Received;
use super::pdu::{self, Fatal};
use super::plan::{Plan, plan};

/// I/O commands that are short on a drive that answers at once. A flush is not: it waits for the
/// disk of the image.
const SHORT: [u8; 5] =
    [io::WRITE, io::READ, io::WRITE_ZEROES, io::DATASET_MANAGEMENT, io::ZONE_APPEND];

/// A command that is ready to be executed.
pub(super) struct Job {
    command: Command,
    data: Data,
}

/// Data of a command.
enum Data {
    /// From the host, in the capsule.
    FromCapsule(Vec<u8>),
    /// From the host, by R2T: their memory is limited.
    FromHost(Vec<u8>),
    /// Bytes for the host.
    ToHost(u32),
}

impl Connection {
    /// Begins a command.
    ///
    /// # Errors
    /// More commands than the queue has entries.
    pub(super) fn capsule(
        self: &Arc<Self>,
        command: Command,
        data: Vec<u8>,
        is_intact: bool,
    ) -> Result<(), Fatal> {
        self.received.fetch_add(1, Ordering::Relaxed);
        let outstanding = self.outstanding.fetch_add(1, Ordering::Relaxed);
        if outstanding >= self.entries().into() {
            return Err(Fatal::new(termination::SEQUENCE));
        }
        if let Some(queue) = self.queue.get() {
            queue.controller.touch();
        }
        let transfer = match is_intact {
            true => self.transfer(&command),
            false => Err(Status::TRANSPORT),
        };
        match transfer.and_then(|transfer| plan(transfer, command.data(), data.len())) {
            Ok(Plan::None) => self.begin(Job { command, data: Data::FromCapsule(vec![]) }),
            Ok(Plan::InCapsule(range)) => {
                let data = match range.start {
                    0 => {
                        let mut data = data;
                        data.truncate(range.end);
                        data
                    }
                    _ => data[range].to_vec(),
                };
                self.begin(Job { command, data: Data::FromCapsule(data) });
            }
            Ok(Plan::Request(length)) => {
                let mut requests = vec![];
                self.inflows().begin(command, length, &mut requests);
                self.request(&requests);
            }
            Ok(Plan::Return(length)) => self.begin(Job { command, data: Data::ToHost(length) }),
            Err(status) => self.refuse(&command, status),
        }
        Ok(())
    }

    /// Returns direction and length of a command's data. Without a queue, only Connect is expected.
    fn transfer(&self, command: &Command) -> Result<Transfer, Status> {
        let is_connect =
            command.opcode() == fabrics::OPCODE && command.fabrics_type() == fabrics::CONNECT;
        match self.queue.get() {
            Some(queue) => queue.controller.transfer(queue.id, command),
            None if is_connect => Ok(Transfer::FromHost(connect::BYTES as u32)),
            None => Err(Status::SEQUENCE),
        }
    }

    /// Continues a command whose data have arrived by R2T.
    pub(super) fn received(self: &Arc<Self>, received: Received) {
        let Received { command, data, is_damaged } = received;
        if is_damaged {
            self.refuse(&command, Status::TRANSPORT);
            self.release(data.len());
        } else {
            self.begin(Job { command, data: Data::FromHost(data) });
        }
    }

    /// Releases memory of data by R2T.
    fn release(&self, length: usize) {
        let mut requests = vec![];
        self.inflows().release(length, &mut requests);
        self.request(&requests);
    }

    /// Executes a command. Worker threads, if there are any, execute I/O commands that may be long.
    fn begin(self: &Arc<Self>, job: Job) {
        let Some(queue) = self.queue.get() else { return self.connect(job) };
        if queue.id == 0 {
            return self.execute(job, queue, false);
        }
        let in_place = self.pace.as_ref().filter(|_| SHORT.contains(&job.command.opcode()));
        let left = match in_place {
            Some(pace) => pace.execute(job, |job| self.execute(job, queue, false)),
            None => Some(job),
        };
        let Some(job) = left else { return };
        let connection = Arc::clone(self);
        let work = move |job| {
            if let Some(queue) = connection.queue.get() {
                connection.execute(job, queue, true);
            }
        };
        if let Some(job) = self.workers.submit(job, work) {
            self.execute(job, queue, false);
        }
    }

    /// Executes a command and sends its reply, `at_once` or when this thread has nothing more to
    /// do.
    fn execute(&self, job: Job, queue: &Queue, at_once: bool) {
        let Job { command, data } = job;
        let (mut buffer, from, memory) = match data {
            Data::FromCapsule(data) => (data, 0, 0),
            Data::FromHost(data) => {
                let memory = data.len();
                (data, 0, memory)
            }
            // Room for the header, so that the data need not be copied.
            Data::ToHost(length) => {
                (vec![0; self.frame.offset + length as usize], self.frame.offset, 0)
            }
        };
        let outcome = queue.controller.execute(queue.id, &command, &mut buffer[from..]);
        match outcome {
            Outcome::Done(reply) => {
                let returned = (from > 0).then_some(buffer);
                let bytes = self.reply(&command, reply, returned);
                match at_once {
                    true => self.output.send(&bytes),
                    false => self.output.push(&bytes),
                }
            }
            // An event request needs no entry of the queue any more.
            Outcome::Later => {
                self.outstanding.fetch_sub(1, Ordering::Relaxed);
            }
            Outcome::PowerOff => queue.controller.end(),
        }
        if memory > 0 {
            self.release(memory);
            if at_once {
                self.output.flush();
            }
        }
    }

    fn connect(self: &Arc<Self>, job: Job) {
        let Job { command, data: Data::FromCapsule(data) | Data::FromHost(data) } = job else {
            return;
        };
        let link: Arc<dyn Link> = Arc::clone(self) as _;
        let connected = self.subsystem.connect(&command, &data, self.at, Arc::downgrade(&link));
        let reply = match connected {
            Ok(Connected { controller, queue: id, entries, is_uncontrolled }) => {
                let result = controller.id().into();
                let queue = Queue { controller, id, entries, is_uncontrolled };
                // Only this thread connects, and only once.
                let _ = self.queue.set(queue);
                Reply { result, status: Status::SUCCESS }
            }
            Err(reply) => reply,
        };
        let bytes = self.reply(&command, reply, None);
        self.output.send(&bytes);
    }

    /// Completes a command that is not executed.
    fn refuse(&self, command: &Command, status: Status) {
        let reply = match self.queue.get() {
            Some(queue) => queue.controller.fail(queue.id, command, status),
            None => Reply::new(status),
        };
        let bytes = self.reply(command, reply, None);
        self.output.push(&bytes);
    }

    /// Returns the PDUs of a reply: the data, if any, and the response. `data` begins with room for
    /// its header. The response is left out if the success flag of the data is enough.
    fn reply(&self, command: &Command, reply: Reply, data: Option<Vec<u8>>) -> Vec<u8> {
        self.outstanding.fetch_sub(1, Ordering::Relaxed);
        let Some(mut bytes) = data.filter(|_| reply.status.is_success()) else {
            return self.response(command.id(), reply);
        };
        let is_uncontrolled = self.queue.get().is_some_and(|queue| queue.is_uncontrolled);
        let is_enough = is_uncontrolled && reply.result == 0;
        self.frame.close(&mut bytes, command.id(), is_enough);
        if !is_enough {
            bytes.extend(self.response(command.id(), reply));
        }
        bytes
    }

    /// Returns a response capsule.
    pub(super) fn response(&self, id: u16, reply: Reply) -> Vec<u8> {
        let Reply { result, status } = reply;
        let head = match self.queue.get() {
            Some(queue) if queue.is_uncontrolled => NO_FLOW_CONTROL,
            _ => (self.received.load(Ordering::Relaxed) % u32::from(self.entries())) as u16,
        };
        pdu::response(Completion { result, head, id, status }.to_bytes(), self.digests)
    }
}
