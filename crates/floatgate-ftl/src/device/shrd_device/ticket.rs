//! Tickets with which the clock reports to SHRD which command has ended.

/// A remap, or a command for one or more consecutive requests.
#[derive(Clone, Copy)]
pub(super) enum Ticket {
    Remap,
    Command { first: u64, requests: u64, is_redirected: bool },
}

/// Bits for the number of the first request, and above them bits for the number of requests.
const NUMBER: u32 = 40;
const REQUESTS: u32 = 22;
const REDIRECTED: u64 = 1 << 62;
const REMAP: u64 = 1 << 63;

impl Ticket {
    pub(super) fn pack(self) -> u64 {
        match self {
            Self::Remap => REMAP,
            Self::Command { first, requests, is_redirected } => {
                first | requests << NUMBER | if is_redirected { REDIRECTED } else { 0 }
            }
        }
    }

    pub(super) fn unpack(ticket: u64) -> Self {
        if ticket & REMAP != 0 {
            return Self::Remap;
        }
        let first = ticket & ((1 << NUMBER) - 1);
        let requests = ticket >> NUMBER & ((1 << REQUESTS) - 1);
        Self::Command { first, requests, is_redirected: ticket & REDIRECTED != 0 }
    }
}
