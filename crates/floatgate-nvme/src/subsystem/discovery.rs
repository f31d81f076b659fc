//! The discovery log page (Base 2.0, 5.16.1.23): the subsystem, at the address where the host found
//! the discovery service.

use std::net::SocketAddr;

use crate::spec::bytes::Record;
use crate::spec::fabrics::{ANY_CONTROLLER, discovery};

/// Size of the admin queue that a host may use.
const ADMIN_ENTRIES: u16 = 32;

/// Returns the log page with its one record. It never changes, so its generation is always 1.
pub(super) fn page(nqn: &str, at: SocketAddr) -> Vec<u8> {
    let mut header = Record::new(discovery::BYTES);
    header.u64(discovery::GENERATION, 1).u64(discovery::RECORDS, 1);
    let mut record = Record::new(discovery::BYTES);
    let family = if at.is_ipv4() { discovery::IPV4 } else { discovery::IPV6 };
    record.u8(discovery::TRANSPORT, discovery::TCP).u8(discovery::FAMILY, family);
    record.u8(discovery::KIND, discovery::NVM);
    record.u8(discovery::REQUIREMENTS, discovery::NO_FLOW_CONTROL).u16(discovery::PORT, 1);
    record.u16(discovery::CONTROLLER, ANY_CONTROLLER).u16(discovery::ADMIN_SIZE, ADMIN_ENTRIES);
    record.text(discovery::SERVICE, 32, &at.port().to_string());
    record.bytes(discovery::SUBSYSTEM, nqn.as_bytes());
    record.text(discovery::ADDRESS, 256, &at.ip().to_string());
    header.append(&record);
    header.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_names_transport_address_and_subsystem() {
        let page = page("nqn.2026-10.org.example:drive", "127.0.0.1:4420".parse().unwrap());
        assert_eq!((page.len(), page[0], page[8], page[16]), (2048, 1, 1, 0));
        let record = &page[1024..];
        assert_eq!(record[..10], [3, 1, 2, 4, 1, 0, 0xff, 0xff, 32, 0]);
        assert_eq!(&record[32..38], b"4420  ");
        assert_eq!(&record[256..286], b"nqn.2026-10.org.example:drive\0");
        assert_eq!(&record[512..522], b"127.0.0.1 ");
        let page = super::page("nqn.a", "[::1]:9".parse().unwrap());
        assert_eq!((page[1025], &page[1024 + 512..1024 + 516]), (2, &b"::1 "[..]));
    }
}
