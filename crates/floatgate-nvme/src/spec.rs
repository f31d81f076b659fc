//! Constants and entries of the NVM Express specifications, with section numbers.
//!
//! | name in comments | document |
//! |---|---|
//! | Base 2.0 | NVM Express Base Specification 2.0; the version that controllers report |
//! | Base 2.1 | revision 2.1, which has flexible data placement (FDP, TP4146) |
//! | NVM | NVM Command Set Specification 1.0 |
//! | ZNS | Zoned Namespace Command Set Specification 1.1 |
//! | TCP | NVM Express TCP Transport Specification 1.0 |
//! | OCP | Open Compute Project, Datacenter NVMe SSD Specification 2.0 |
//!
//! A section number without a document refers to the document in the module's first line.

pub mod bytes;
pub mod command;
pub mod fabrics;
pub mod features;
pub mod identify;
pub mod logs;
pub mod opcodes;
pub mod placement;
pub mod registers;
pub mod status;
pub mod tcp;
pub mod zoned;
