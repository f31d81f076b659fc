//! The Connect command (Base 2.0, 6.3): new controllers, and queues of existing ones.

use std::net::SocketAddr;
use std::sync::{Arc, Weak};

use crate::spec::bytes::{text_at, u16_at};
use crate::spec::command::Command;
use crate::spec::fabrics::{ANY_CONTROLLER, DISCOVERY_NQN, NQN_MAX, connect};
use crate::spec::opcodes::fabrics;
use crate::spec::status::Status;

use super::controller::{Controller, Host, Link};
use super::properties::Kind;
use super::reply::Reply;
use super::{QUEUE_ENTRIES, Subsystem, discovery, lock};

/// Highest controller identifier (Base 2.0, 3.1.1).
const CONTROLLER_MAX: u16 = 0xffef;

/// Granularity of the keep-alive time (KAS).
const KEEP_ALIVE_STEP_MS: u32 = 100;

/// A connected queue.
pub struct Connected {
    /// Its controller.
    pub controller: Arc<Controller>,
    /// Queue identifier; 0 is the admin queue.
    pub queue: u16,
    /// Entries of the submission queue.
    pub entries: u16,
    /// Whether the host disabled the flow control of the submission queue.
    pub is_uncontrolled: bool,
}

/// Returns the reply to an invalid parameter at a byte offset of the command.
fn in_command(at: usize) -> Reply {
    Reply { result: at as u64, status: Status::CONNECT_INVALID }
}

/// Returns the reply to an invalid parameter at a byte offset of the data.
fn in_data(at: usize) -> Reply {
    Reply { result: at as u64 | 1 << 16, status: Status::CONNECT_INVALID }
}

/// Returns the name in a field of 256 bytes.
fn name(data: &[u8], at: usize) -> Result<&str, Reply> {
    let name = text_at(data, at, connect::NAME_BYTES);
    let is_name = |name: &&str| name.starts_with("nqn.") && name.len() <= NQN_MAX;
    name.filter(is_name).ok_or(in_data(at))
}

/// Parameters of a Connect command and its data.
struct Request<'a> {
    queue: u16,
    size: u16,
    is_uncontrolled: bool,
    keep_alive_ms: u32,
    controller: u16,
    subsystem: &'a str,
    host: Host,
}

impl<'a> Request<'a> {
    fn parse(command: &Command, data: &'a [u8]) -> Result<Self, Reply> {
        if command.opcode() != fabrics::OPCODE || command.fabrics_type() != fabrics::CONNECT {
            return Err(Reply::new(Status::SEQUENCE));
        }
        if data.len() < connect::BYTES {
            return Err(Reply::new(Status::SGL_LENGTH));
        }
        if u16_at(&command.0, connect::FORMAT) != 0 {
            return Err(Reply::new(Status::CONNECT_FORMAT));
        }
        let size = u16_at(&command.0, connect::SIZE);
        if size == 0 || size >= QUEUE_ENTRIES {
            return Err(in_command(connect::SIZE));
        }
        let mut id = [0; 16];
        id.copy_from_slice(&data[connect::HOST_ID..][..16]);
        let host = Host { id, name: name(data, connect::HOST)?.to_owned() };
        let attributes = command.0[connect::ATTRIBUTES];
        Ok(Self {
            queue: u16_at(&command.0, connect::QUEUE),
            size,
            is_uncontrolled: attributes & connect::NO_FLOW_CONTROL > 0,
            keep_alive_ms: rounded(command.dword(connect::KEEP_ALIVE / 4)),
            controller: u16_at(data, connect::CONTROLLER),
            subsystem: name(data, connect::SUBSYSTEM)?,
            host,
        })
    }
}

/// Rounds a keep-alive time up to its granularity.
pub(super) fn rounded(keep_alive_ms: u32) -> u32 {
    keep_alive_ms.div_ceil(KEEP_ALIVE_STEP_MS).saturating_mul(KEEP_ALIVE_STEP_MS)
}

impl Subsystem {
    /// Connects a queue. `at` is the address at which the host reached the subsystem, and `link`
    /// the connection.
    ///
    /// # Errors
    /// The reply for the host, whose connection remains without a queue.
    pub fn connect(
        self: &Arc<Self>,
        command: &Command,
        data: &[u8],
        at: SocketAddr,
        link: Weak<dyn Link>,
    ) -> Result<Connected, Reply> {
        let request = Request::parse(command, data)?;
        let kind = match request.subsystem {
            DISCOVERY_NQN => Kind::Discovery,
            name if name != self.settings.nqn => return Err(in_data(connect::SUBSYSTEM)),
            _ if self.zones.is_some() => Kind::Zoned,
            _ => Kind::Io,
        };
        let controller = match request.queue {
            0 => self.new_controller(&request, kind, at)?,
            _ => self.find_controller(&request, kind)?,
        };
        controller.attach(request.queue, link).map_err(Reply::new)?;
        Ok(Connected {
            controller,
            queue: request.queue,
            entries: request.size + 1,
            is_uncontrolled: request.is_uncontrolled,
        })
    }

    /// Makes a controller. Its identifier follows the newest one, so that identifiers are not
    /// reused soon.
    fn new_controller(
        self: &Arc<Self>,
        request: &Request<'_>,
        kind: Kind,
        at: SocketAddr,
    ) -> Result<Arc<Controller>, Reply> {
        if request.controller != ANY_CONTROLLER {
            return Err(in_data(connect::CONTROLLER));
        }
        let discovery = match kind {
            Kind::Io | Kind::Zoned => vec![],
            Kind::Discovery => discovery::page(&self.settings.nqn, at),
        };
        let mut controllers = lock(&self.controllers);
        let mut newest = lock(&self.newest);
        let after = (*newest + 1..=CONTROLLER_MAX).chain(1..=*newest);
        let id = after.into_iter().find(|id| !controllers.contains_key(id));
        let id = id.ok_or(Reply::new(Status::INTERNAL))?;
        *newest = id;
        let (host, keep_alive) = (request.host.clone(), request.keep_alive_ms);
        let controller = Controller::new(Arc::clone(self), (id, kind), host, discovery, keep_alive);
        let controller = Arc::new(controller);
        controllers.insert(id, Arc::downgrade(&controller));
        Ok(controller)
    }

    /// Returns the controller to which the host adds an I/O queue.
    fn find_controller(&self, request: &Request<'_>, kind: Kind) -> Result<Arc<Controller>, Reply> {
        let found = lock(&self.controllers).get(&request.controller).and_then(Weak::upgrade);
        let found = found.filter(|one| !one.is_discovery() && kind != Kind::Discovery);
        let controller = found.ok_or(in_data(connect::CONTROLLER))?;
        if controller.host_id != request.host.id || controller.host != request.host.name {
            return Err(in_data(connect::HOST));
        }
        if !controller.is_ready() {
            return Err(Reply::new(Status::SEQUENCE));
        }
        if request.queue > lock(&controller.features).queues(self.settings.queues_max) {
            return Err(in_command(connect::QUEUE));
        }
        Ok(controller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keep_alive_time_is_rounded_up() {
        assert_eq!([0, 1, 100, 101, u32::MAX].map(rounded), [0, 100, 100, 200, u32::MAX]);
    }
}
