//! The error log: one entry for each command that failed.

use std::collections::VecDeque;

use crate::spec::bytes::Record;
use crate::spec::command::Command;
use crate::spec::logs::error;
use crate::spec::status::Status;

/// Entries of the log.
pub(super) const ENTRIES: usize = 64;

/// The error log of a subsystem.
#[derive(Debug, Default)]
pub(super) struct ErrorLog {
    /// Failed commands since the start.
    pub count: u64,
    /// The newest entry comes first.
    entries: VecDeque<Record>,
}

impl ErrorLog {
    pub fn add(&mut self, queue: u16, command: &Command, status: Status) {
        self.count += 1;
        let mut entry = Record::new(error::BYTES);
        entry.u64(error::COUNT, self.count).u16(error::QUEUE, queue);
        entry.u16(error::COMMAND, command.id()).u16(error::STATUS, status.field());
        entry.u16(error::LOCATION, 0xffff);
        if queue > 0 {
            entry.u64(error::LBA, command.start()).u32(error::NAMESPACE, command.namespace());
        }
        entry.u8(error::TRANSPORT, 3).u8(error::OPCODE, command.opcode()).u8(error::VERSION, 1);
        self.entries.push_front(entry);
        self.entries.truncate(ENTRIES);
    }

    pub fn page(&self) -> Record {
        let mut page = Record::new(0);
        for entry in &self.entries {
            page.append(entry);
        }
        page.append(&Record::new((ENTRIES - self.entries.len()) * error::BYTES));
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_entries_remain_and_come_first() {
        let mut log = ErrorLog::default();
        let mut command = Command([0; 64]);
        for id in 0..70 {
            command.0[2] = id;
            log.add(1, &command, Status::LBA_OUT_OF_RANGE);
        }
        let page = log.page().into_bytes();
        assert_eq!((log.count, page.len()), (70, 4096));
        assert_eq!((&page[..9], page[10]), (&b"\x46\0\0\0\0\0\0\0\x01"[..], 69));
        assert_eq!((page[63 * 64], page[63 * 64 + 10]), (7, 6));
        // Status: code 80h in bits 8:1, and do not retry.
        assert_eq!((page[12], page[13]), (0x00, 0x81));
    }
}
