//! Where the data of a command are.

use std::ops::Range;

use crate::spec::command::Sgl;
use crate::spec::status::Status;
use crate::subsystem::Transfer;

/// How the data of a command are transferred.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Plan {
    /// No data.
    None,
    /// They are in the capsule, in this range.
    InCapsule(Range<usize>),
    /// The controller requests this number of bytes.
    Request(u32),
    /// The controller returns this number of bytes.
    Return(u32),
}

/// Returns how data are transferred, for a data pointer and `capsule` bytes of data in the capsule.
/// A data pointer may be longer than the data.
///
/// # Errors
/// A data pointer that NVMe/TCP does not have, that is too short, or beyond the capsule.
pub fn plan(transfer: Transfer, pointer: Sgl, capsule: usize) -> Result<Plan, Status> {
    let (needed, is_from_host) = match transfer {
        Transfer::None | Transfer::FromHost(0) | Transfer::ToHost(0) => return Ok(Plan::None),
        Transfer::FromHost(needed) => (needed, true),
        Transfer::ToHost(needed) => (needed, false),
    };
    match pointer {
        Sgl::InCapsule { length, .. } | Sgl::Transport { length } if length < needed => {
            Err(Status::SGL_LENGTH)
        }
        Sgl::InCapsule { offset, length } if is_from_host => {
            let end = offset.checked_add(length.into()).filter(|end| *end <= capsule as u64);
            end.ok_or(Status::SGL_OFFSET)?;
            let start = offset as usize;
            Ok(Plan::InCapsule(start..start + needed as usize))
        }
        Sgl::Transport { .. } if is_from_host => Ok(Plan::Request(needed)),
        Sgl::Transport { .. } => Ok(Plan::Return(needed)),
        Sgl::InCapsule { .. } | Sgl::Other(_) => Err(Status::SGL_TYPE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_where_the_pointer_says() {
        let from = Transfer::FromHost(512);
        let in_capsule = |offset, length| Sgl::InCapsule { offset, length };
        let transport = |length| Sgl::Transport { length };
        assert_eq!(plan(from, in_capsule(8, 512), 520), Ok(Plan::InCapsule(8..520)));
        assert_eq!(plan(from, in_capsule(0, 600), 600), Ok(Plan::InCapsule(0..512)));
        assert_eq!(plan(from, in_capsule(9, 512), 520), Err(Status::SGL_OFFSET));
        assert_eq!(plan(from, in_capsule(u64::MAX, 512), 520), Err(Status::SGL_OFFSET));
        assert_eq!(plan(from, in_capsule(0, 511), 520), Err(Status::SGL_LENGTH));
        assert_eq!(plan(from, transport(512), 0), Ok(Plan::Request(512)));
        assert_eq!(plan(from, transport(511), 0), Err(Status::SGL_LENGTH));
        assert_eq!(plan(from, Sgl::Other(0x40), 0), Err(Status::SGL_TYPE));
        let to = Transfer::ToHost(512);
        assert_eq!(plan(to, transport(4096), 0), Ok(Plan::Return(512)));
        assert_eq!(plan(to, transport(0), 0), Err(Status::SGL_LENGTH));
        assert_eq!(plan(to, in_capsule(0, 512), 512), Err(Status::SGL_TYPE));
        for none in [Transfer::None, Transfer::FromHost(0), Transfer::ToHost(0)] {
            assert_eq!(plan(none, Sgl::Other(0), 0), Ok(Plan::None));
        }
    }
}
