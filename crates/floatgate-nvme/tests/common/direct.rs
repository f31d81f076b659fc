//! A host without a transport: it calls the controller.

use std::sync::{Arc, Mutex, Weak};

use floatgate_nvme::drive::{Drive, Health, Shape};
use floatgate_nvme::memory::MemoryDrive;
use floatgate_nvme::subsystem::{Controller, Link, Outcome, Reply, Subsystem, Transfer};

use super::{Build, Done, ENABLED, NQN, connect, io, set_property, subsystem};

/// A connection that notes what its controller does.
#[derive(Default)]
pub struct Notes {
    pub completed: Mutex<Vec<(u16, u64, u16)>>,
    pub has_ended: Mutex<bool>,
}

impl Link for Notes {
    fn complete(&self, id: u16, reply: Reply) {
        let status = Done::new(reply.status.field(), 0, vec![]).status;
        self.completed.lock().unwrap().push((id, reply.result, status));
    }

    fn end(&self) {
        *self.has_ended.lock().unwrap() = true;
    }
}

/// A host with a controller.
pub struct Direct {
    pub drive: Arc<MemoryDrive>,
    pub subsystem: Arc<Subsystem>,
    pub controller: Arc<Controller>,
    pub link: Arc<Notes>,
    /// Connections of the I/O queues.
    pub links: Vec<Arc<Notes>>,
}

/// Tries to connect.
pub fn try_connect(
    subsystem: &Arc<Subsystem>,
    (command, data): (Build, Vec<u8>),
    link: &Arc<Notes>,
) -> Result<Arc<Controller>, Done> {
    let link: Weak<dyn Link> = Arc::downgrade(&(Arc::clone(link) as Arc<dyn Link>));
    let at = "127.0.0.1:4420".parse().unwrap();
    let connected = subsystem.connect(&command.command(), &data, at, link);
    let connected =
        connected.map_err(|reply| Done::new(reply.status.field(), reply.result, vec![]))?;
    Ok(connected.controller)
}

impl Direct {
    /// Connects and enables a controller over a new drive in memory, and one I/O queue.
    pub fn new(shape: Shape) -> Self {
        let (drive, subsystem) = subsystem(shape);
        Self::with(drive, subsystem)
    }

    /// Connects another controller.
    pub fn with(drive: Arc<MemoryDrive>, subsystem: Arc<Subsystem>) -> Self {
        let link = Arc::new(Notes::default());
        let controller = try_connect(&subsystem, connect(0, 0xffff, NQN), &link).unwrap();
        let mut host = Self { drive, subsystem, controller, link, links: vec![] };
        host.admin(set_property(0x14, ENABLED)).ok();
        host.add_queue(1).unwrap();
        host
    }

    /// Connects an I/O queue.
    pub fn add_queue(&mut self, queue: u16) -> Result<(), Done> {
        let link = Arc::new(Notes::default());
        try_connect(&self.subsystem, connect(queue, self.controller.id(), NQN), &link)?;
        self.links.push(link);
        Ok(())
    }

    pub fn admin(&self, command: Build) -> Done {
        self.run(0, command, &[]).unwrap()
    }

    pub fn io(&self, command: Build) -> Done {
        self.run(1, command, &[]).unwrap()
    }

    pub fn admin_with(&self, command: Build, data: &[u8]) -> Done {
        self.run(0, command, data).unwrap()
    }

    pub fn io_with(&self, command: Build, data: &[u8]) -> Done {
        self.run(1, command, data).unwrap()
    }

    /// Writes blocks of 4 KiB that are filled with a byte.
    pub fn write(&self, start: u64, blocks: u32, byte: u8) -> Done {
        self.io_with(io(0x01, start, blocks), &vec![byte; 4096 * blocks as usize])
    }

    pub fn drive_health(&self) -> Health {
        Drive::health(&*self.drive)
    }

    pub fn read(&self, start: u64, blocks: u32) -> Done {
        self.io(io(0x02, start, blocks))
    }

    /// Runs a command, unless it completes later or the power is off.
    pub fn run(&self, queue: u16, command: Build, data: &[u8]) -> Result<Done, Outcome> {
        let command = command.command();
        let mut buffer = match self.controller.transfer(queue, &command) {
            Err(status) => {
                let Reply { result, status } = self.controller.fail(queue, &command, status);
                return Ok(Done::new(status.field(), result, vec![]));
            }
            Ok(Transfer::None) => vec![],
            Ok(Transfer::FromHost(length)) => data[..length as usize].to_vec(),
            Ok(Transfer::ToHost(length)) => vec![0; length as usize],
        };
        match self.controller.execute(queue, &command, &mut buffer) {
            Outcome::Done(Reply { result, status }) => {
                Ok(Done::new(status.field(), result, buffer))
            }
            other => Err(other),
        }
    }
}
