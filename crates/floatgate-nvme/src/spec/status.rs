//! Status of a completion (Base 2.0, 3.3.3.2).

/// Status of a completion: type, code, and whether a retry may succeed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    kind: u8,
    code: u8,
    is_final: bool,
    has_more: bool,
}

/// Declares statuses: name, type, code, `final` if a retry cannot succeed (DNR), and doc.
macro_rules! statuses {
    ($($name:ident $kind:literal $code:literal $retry:ident $doc:literal;)*) => {
        impl Status {
            $(
                #[doc = $doc]
                pub const $name: Self = Self {
                    kind: $kind,
                    code: $code,
                    is_final: statuses!($retry),
                    has_more: false,
                };
            )*
        }
    };
    (last) => { true };
    (retry) => { false };
}

statuses! {
    SUCCESS 0 0x00 retry "Successful Completion.";
    INVALID_OPCODE 0 0x01 last "Invalid Command Opcode.";
    INVALID_FIELD 0 0x02 last "Invalid Field in Command.";
    INTERNAL 0 0x06 retry "Internal Error.";
    ABORTED 0 0x07 last "Command Abort Requested.";
    INVALID_NAMESPACE 0 0x0b last "Invalid Namespace or Format.";
    SEQUENCE 0 0x0c last "Command Sequence Error.";
    SGL_LENGTH 0 0x0f last "Data SGL Length Invalid.";
    SGL_TYPE 0 0x11 last "SGL Descriptor Type Invalid.";
    SGL_OFFSET 0 0x16 last "SGL Offset Invalid.";
    TRANSPORT 0 0x22 retry "Transient Transport Error.";
    FDP_DISABLED 0 0x29 last "FDP Disabled (TP4146).";
    LBA_OUT_OF_RANGE 0 0x80 last "LBA Out of Range.";
    CAPACITY_EXCEEDED 0 0x81 last "Capacity Exceeded.";
    FORMAT_IN_PROGRESS 0 0x84 retry "Format in Progress.";
    EVENT_LIMIT 1 0x05 last "Asynchronous Event Request Limit Exceeded.";
    INVALID_LOG_PAGE 1 0x09 last "Invalid Log Page.";
    INVALID_FORMAT 1 0x0a last "Invalid Format.";
    NOT_SAVEABLE 1 0x0d last "Feature Identifier Not Saveable.";
    COMMAND_SET_NOT_ENABLED 1 0x2a last "I/O Command Set Not Enabled.";
    CONNECT_FORMAT 1 0x80 last "Connect Incompatible Format (Fabrics).";
    CONNECT_INVALID 1 0x82 last "Connect Invalid Parameters (Fabrics).";
    READ_ONLY 1 0x82 last "Attempted Write to Read Only Range (NVM).";
    ZONE_BOUNDARY 1 0xb8 last "Zone Boundary Error (ZNS).";
    ZONE_FULL 1 0xb9 last "Zone Is Full (ZNS).";
    ZONE_READ_ONLY 1 0xba last "Zone Is Read Only (ZNS).";
    ZONE_INVALID_WRITE 1 0xbc last "Zone Invalid Write (ZNS).";
    ZONES_ACTIVE 1 0xbd retry "Too Many Active Zones (ZNS).";
    ZONES_OPEN 1 0xbe retry "Too Many Open Zones (ZNS).";
    ZONE_TRANSITION 1 0xbf last "Invalid Zone State Transition (ZNS).";
    WRITE_FAULT 2 0x80 last "Write Fault.";
    UNREADABLE 2 0x81 last "Unrecovered Read Error.";
    COMPARE_FAILURE 2 0x85 last "Compare Failure.";
}

impl Status {
    /// Returns whether the command was successful.
    pub const fn is_success(self) -> bool {
        self.kind == 0 && self.code == 0
    }

    /// Returns the status with the note that the error log has more (M).
    pub const fn with_more(self) -> Self {
        Self { has_more: true, ..self }
    }

    /// Returns the status field: bit 0 is the phase tag, 8:1 the code, 11:9 the type, 14 more, 15
    /// do not retry.
    pub const fn field(self) -> u16 {
        let Self { kind, code, is_final, has_more } = self;
        (is_final as u16) << 15 | (has_more as u16) << 14 | (kind as u16) << 9 | (code as u16) << 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_its_type_code_and_bits() {
        assert_eq!(Status::SUCCESS.field(), 0);
        assert_eq!(Status::INVALID_FIELD.field(), 0x8004);
        assert_eq!(Status::TRANSPORT.field(), 0x0044);
        assert_eq!(Status::CONNECT_INVALID.field(), 0x8304);
        assert_eq!(Status::COMPARE_FAILURE.with_more().field(), 0xc50a);
    }
}
