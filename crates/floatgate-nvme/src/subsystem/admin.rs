//! Admin commands (Base 2.0, section 5).

use crate::spec::command::{ALL_NAMESPACES, Command};
use crate::spec::features::event;
use crate::spec::identify::IDENTIFY_BYTES;
use crate::spec::opcodes::admin;
use crate::spec::placement::directive;
use crate::spec::status::Status;

use super::controller::{Controller, NAMESPACE_CHANGED};
use super::namespace::FORMATS;
use super::reply::{Answer, Transfer};
use super::{NAMESPACE, TRANSFER_MAX};

/// Admin commands, except those of Fabrics.
pub(super) const COMMANDS: [u8; 10] = [
    admin::GET_LOG_PAGE,
    admin::IDENTIFY,
    admin::ABORT,
    admin::SET_FEATURES,
    admin::GET_FEATURES,
    admin::ASYNCHRONOUS_EVENT_REQUEST,
    admin::KEEP_ALIVE,
    admin::DIRECTIVE_SEND,
    admin::DIRECTIVE_RECEIVE,
    admin::FORMAT,
];

/// Admin commands of discovery controllers.
const OF_DISCOVERY: [u8; 6] = [
    admin::GET_LOG_PAGE,
    admin::IDENTIFY,
    admin::SET_FEATURES,
    admin::GET_FEATURES,
    admin::ASYNCHRONOUS_EVENT_REQUEST,
    admin::KEEP_ALIVE,
];

/// Returns the bytes of a number of dwords, which is 0-based.
///
/// # Errors
/// More than a command may transfer.
pub(super) fn dwords(count: u32) -> Result<u32, Status> {
    let bytes = (u64::from(count) + 1) * 4;
    if bytes > TRANSFER_MAX.into() { Err(Status::INVALID_FIELD) } else { Ok(bytes as u32) }
}

impl Controller {
    /// Returns whether the controller has an admin command.
    pub(super) fn has_admin_command(&self, opcode: u8) -> bool {
        let is_directive = [admin::DIRECTIVE_SEND, admin::DIRECTIVE_RECEIVE].contains(&opcode);
        match opcode {
            _ if self.is_discovery() => OF_DISCOVERY.contains(&opcode),
            _ if is_directive => self.subsystem.shape.placement.is_some(),
            _ => COMMANDS.contains(&opcode),
        }
    }

    /// Returns direction and length of an admin command's data.
    pub(super) fn admin_transfer(&self, command: &Command) -> Result<Transfer, Status> {
        if !self.has_admin_command(command.opcode()) {
            return Err(Status::INVALID_OPCODE);
        }
        Ok(match command.opcode() {
            admin::IDENTIFY => Transfer::ToHost(IDENTIFY_BYTES as u32),
            admin::GET_LOG_PAGE => {
                let count = command.dword(11) << 16 | command.dword(10) >> 16;
                Transfer::ToHost(dwords(count)?)
            }
            admin::GET_FEATURES => self.get_features_transfer(command),
            admin::SET_FEATURES => self.set_features_transfer(command),
            admin::DIRECTIVE_RECEIVE => Transfer::ToHost(dwords(command.dword(10))?),
            _ => Transfer::None,
        })
    }

    pub(super) fn admin(&self, command: &Command, data: &mut [u8]) -> Answer {
        match command.opcode() {
            admin::IDENTIFY => self.identify(command, data),
            admin::GET_LOG_PAGE => self.get_log_page(command, data),
            admin::GET_FEATURES => self.get_features(command, data),
            admin::SET_FEATURES => self.set_features(command, data),
            admin::ABORT => self.abort(command),
            admin::ASYNCHRONOUS_EVENT_REQUEST => self.await_event(command.id()),
            admin::KEEP_ALIVE => Ok(0),
            admin::DIRECTIVE_SEND => self.directive_send(command),
            admin::DIRECTIVE_RECEIVE => self.directive_receive(command, data),
            admin::FORMAT => self.format(command),
            _ => Err(Status::INVALID_OPCODE.into()),
        }
    }

    /// Abort (5.1). Only event requests can be aborted; other commands are never cut short. Bit 0
    /// of the result means that nothing was aborted.
    fn abort(&self, command: &Command) -> Answer {
        let (queue, id) = (command.dword(10) as u16, (command.dword(10) >> 16) as u16);
        Ok(u64::from(!(queue == 0 && self.abort_event(id))))
    }

    /// Returns the asynchronous events that the host can enable.
    pub(super) fn event_mask(&self) -> u32 {
        if self.is_discovery() { 0 } else { event::SMART | event::NAMESPACE }
    }

    /// Format NVM (5.14): deallocates all blocks and sets their size. A secure erase of user data
    /// is the same, because deallocated blocks cannot be read any more.
    fn format(&self, command: &Command) -> Answer {
        let dword = command.dword(10);
        let (index, other, erase) = (dword & 0xf, dword >> 4 & 0x1f, dword >> 9 & 7);
        if ![NAMESPACE, ALL_NAMESPACES].contains(&command.namespace()) {
            return Err(Status::INVALID_NAMESPACE.into());
        }
        let shift = FORMATS.get(index as usize).ok_or(Status::INVALID_FORMAT)?;
        if dword >> 12 & 3 != 0 || !self.subsystem.shape.has_blocks_of(1 << shift) {
            return Err(Status::INVALID_FORMAT.into());
        }
        // Metadata, protection information, and cryptographic erase are not supported.
        if other != 0 || erase > 1 {
            return Err(Status::INVALID_FIELD.into());
        }
        let mut format = self.subsystem.namespace.alone();
        match &self.subsystem.zones {
            Some(zones) => {
                let empty = |zone| self.session.reset_zone(zone);
                zones.format(self.zones_epoch, 1 << shift, empty)?;
            }
            None => self.session.deallocate(0, format.blocks() * format.block_bytes())?,
        }
        self.session.flush()?;
        let has_changed = u32::from(format.index) != index;
        format.index = index as u8;
        drop(format);
        if has_changed {
            self.subsystem.notify_others(self.id(), NAMESPACE_CHANGED);
        }
        Ok(0)
    }

    /// Directive Send (5.10): accepts only the enabling of the data placement directive, which is
    /// always enabled.
    fn directive_send(&self, command: &Command) -> Answer {
        let (operation, kind) = (command.dword(11) as u8, (command.dword(11) >> 8) as u8);
        let (enables, which) = (command.dword(12) & 1 == 1, (command.dword(12) >> 8) as u8);
        self.in_namespace(command)?;
        match (kind, operation, enables, which) {
            (directive::IDENTIFY, 1, true, directive::PLACEMENT) => Ok(0),
            _ => Err(Status::INVALID_FIELD.into()),
        }
    }

    /// Directive Receive (5.9): the parameters of the identify directive.
    fn directive_receive(&self, command: &Command, data: &mut [u8]) -> Answer {
        let (operation, kind) = (command.dword(11) as u8, (command.dword(11) >> 8) as u8);
        self.in_namespace(command)?;
        if (kind, operation) != (directive::IDENTIFY, 1) {
            return Err(Status::INVALID_FIELD.into());
        }
        let mut parameters = [0; directive::BYTES];
        let both = 1 << directive::IDENTIFY | 1 << directive::PLACEMENT;
        (parameters[0], parameters[directive::ENABLED]) = (both, both);
        parameters[directive::PERSISTENT] = 1 << directive::PLACEMENT;
        let length = data.len().min(parameters.len());
        data[..length].copy_from_slice(&parameters[..length]);
        Ok(0)
    }
}
