//! Properties of the flow of data by R2T: any host that obeys the rules delivers all data, in any
//! interleaving of commands; and any bytes are parsed without a panic.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;

use common::{Build, le32};
use floatgate_nvme::spec::command::Command;
use floatgate_nvme::tcp::inflow::{Inflows, Limits, Received};
use floatgate_nvme::tcp::pdu::{
    Digests, HostData, Initialize, Kind, ReadyToTransfer, Rules, check_header, layout,
};
use proptest::prelude::*;

/// The byte of a command at an offset.
fn byte(id: u16, at: u32) -> u8 {
    (u32::from(id) * 31 + at * 7 + at / 251) as u8
}

/// A host: the R2Ts that it has received, and the data that it has sent.
struct Host {
    limits: Limits,
    /// R2Ts by command, the oldest first, with the bytes sent of the first one.
    asked: BTreeMap<u16, (Vec<ReadyToTransfer>, u32)>,
    /// Bytes asked for, by command.
    requested: BTreeMap<u16, u32>,
}

impl Host {
    /// Notes R2Ts, and checks them.
    fn take(&mut self, requests: Vec<ReadyToTransfer>) {
        for one in requests {
            let requested = self.requested.entry(one.command).or_default();
            assert_eq!(one.offset, *requested, "in order");
            assert!((1..=self.limits.request).contains(&one.length));
            *requested += one.length;
            let (waiting, _) = self.asked.entry(one.command).or_default();
            waiting.push(one);
            assert!(waiting.len() as u32 <= self.limits.outstanding);
        }
    }

    /// Returns the next PDU of one of the commands, of at most `most` bytes.
    fn send(&mut self, choice: usize, most: u32) -> (HostData, Vec<u8>) {
        let id = *self.asked.keys().nth(choice % self.asked.len()).unwrap();
        let (waiting, sent) = self.asked.get_mut(&id).unwrap();
        let first = waiting[0];
        let length = most.min(first.length - *sent);
        let offset = first.offset + *sent;
        *sent += length;
        let is_last = *sent == first.length;
        if is_last {
            waiting.remove(0);
            *sent = 0;
        }
        if waiting.is_empty() {
            self.asked.remove(&id);
        }
        let data = (offset..offset + length).map(|at| byte(id, at)).collect();
        (HostData { command: id, tag: first.tag, offset, is_last }, data)
    }
}

/// Passes a PDU to the controller. Returns a complete command.
fn deliver(
    inflows: &mut Inflows,
    (pdu, data): &(HostData, Vec<u8>),
    requests: &mut Vec<ReadyToTransfer>,
) -> Option<Received> {
    let mut inflow = inflows.take(pdu).unwrap();
    inflow.room(pdu, data.len()).unwrap().copy_from_slice(data);
    inflows.put(pdu.tag, inflow, (data.len(), true), requests)
}

fn command(id: u16) -> Command {
    Build::new(1).id(id).command()
}

proptest! {
    #[test]
    fn every_host_that_obeys_delivers_all_data(
        lengths in prop::collection::vec(1_u32..5000, 1..20),
        outstanding in 1_u32..5,
        request in 1_u32..1200,
        memory in 1_usize..12_000,
        cuts in prop::collection::vec((0_usize..100, 1_u32..900), 50),
    ) {
        let limits = Limits { outstanding, request, memory };
        let mut inflows = Inflows::new(limits);
        let mut host = Host { limits, asked: BTreeMap::new(), requested: BTreeMap::new() };
        let mut requests = vec![];
        for (id, length) in (0..).zip(&lengths) {
            inflows.begin(command(id), *length, &mut requests);
        }
        let mut complete = vec![];
        let mut cuts = cuts.iter().cycle();
        loop {
            host.take(std::mem::take(&mut requests));
            if host.asked.is_empty() {
                break;
            }
            let in_memory: u32 = host.requested.keys()
                .filter(|id| !complete.contains(*id))
                .map(|id| lengths[usize::from(*id)]).sum();
            let alone = host.requested.len() - complete.len() == 1;
            prop_assert!(in_memory as usize <= memory || alone);
            let (choice, most) = cuts.next().unwrap();
            let pdu = host.send(*choice, *most);
            if let Some(received) = deliver(&mut inflows, &pdu, &mut requests) {
                let Received { command, data, is_damaged } = received;
                let id = command.id();
                prop_assert!(!is_damaged);
                prop_assert_eq!(data.len() as u32, lengths[usize::from(id)]);
                prop_assert!((0..).zip(&data).all(|(at, one)| *one == byte(id, at)));
                complete.push(id);
                inflows.release(data.len(), &mut requests);
            }
        }
        complete.sort_unstable();
        prop_assert!((0..lengths.len() as u16).eq(complete));
    }

    #[test]
    fn a_pdu_that_breaks_the_order_is_refused(
        length in 8_u32..4000,
        request in 4_u32..1000,
        offset in 0_u32..5000,
        size in 1_usize..2000,
        is_last in any::<bool>(),
        tag in 0_u16..3,
        id in 0_u16..2,
    ) {
        let mut inflows = Inflows::new(Limits { outstanding: 1, request, memory: 1 << 20 });
        let mut requests = vec![];
        inflows.begin(command(0), length, &mut requests);
        let end = request.min(length);
        let pdu = HostData { command: id, tag, offset, is_last };
        let until = offset as usize + size;
        let is_due = offset == 0 && until <= end as usize && (!is_last || until == end as usize);
        match inflows.take(&pdu) {
            Ok(mut inflow) => {
                prop_assert_eq!((tag, id), (0, 0));
                prop_assert_eq!(inflow.room(&pdu, size).is_ok(), is_due);
            }
            Err(_) => prop_assert!(tag != 0 || id != 0),
        }
    }

    #[test]
    fn sections_add_up_to_the_length_of_the_pdu(
        common in prop::array::uniform8(any::<u8>()),
        kind in prop::sample::select(vec![0_u8, 2, 4, 6]),
        small in 0_u32..20_000,
        (header, data) in (any::<bool>(), any::<bool>()),
        is_initialized in any::<bool>(),
        good in any::<bool>(),
    ) {
        let mut common = common;
        common[0] = kind;
        common[4..8].copy_from_slice(&small.to_le_bytes());
        if good {
            common[1] = u8::from(header) | u8::from(data) << 1;
            common[2] = [128, 0, 24, 0, 72, 0, 24][usize::from(kind)];
        }
        let digests = Digests { header, data };
        let rules = Rules { is_initialized, digests, capsule_max: 8192, data_max: 16384 };
        if let Ok(one) = layout(&common, &rules) {
            let digests = usize::from(one.has_header_digest) + usize::from(one.has_data_digest);
            let sum = one.header + one.padding + one.data + 4 * digests;
            prop_assert_eq!(sum, le32(&common, 4) as usize);
            let most = if one.kind == Kind::Command { 8192 } else { 16384 };
            prop_assert!(one.data <= most && one.padding < 256);
            prop_assert_eq!(one.kind == Kind::Initialize, !is_initialized);
        }
    }

    #[test]
    fn an_initialization_is_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 128)) {
        if let Ok(Initialize { alignment, outstanding, digests }) = Initialize::parse(&bytes) {
            prop_assert!((4..=128).contains(&alignment) && outstanding > 0);
            prop_assert_eq!(digests.header, bytes[11] & 1 == 1);
            prop_assert_eq!(digests.data, bytes[11] & 2 == 2);
        }
    }

    #[test]
    fn a_header_has_one_digest(
        bytes in prop::collection::vec(any::<u8>(), 72),
        flip in 0_usize..576,
    ) {
        let digest = common::initiator::crc32c(&bytes).to_le_bytes();
        prop_assert_eq!(check_header(&bytes, digest), Ok(()));
        let mut changed = bytes;
        changed[flip / 8] ^= 1 << (flip % 8);
        prop_assert!(check_header(&changed, digest).is_err());
    }
}
