//! SHRD for a host that waits for each request separately.

use alloc::vec::Vec;
use core::convert::Infallible;

use super::ShrdDevice;
use crate::device::{HostData, Paced};
use crate::ftl::Remap;
use crate::nand::Nand;
use crate::request::{Completion, Request};

impl<F, D> Paced for ShrdDevice<F, D>
where
    F: Remap<Medium: Nand<Error = Infallible>> + Send,
    D: HostData<F::Medium> + Send,
{
    fn begin(&mut self, requests: &[Request], count: usize) -> u64 {
        let first = self.drive.outstanding().next() - self.ahead as u64;
        self.dispatch_first(requests, count);
        first
    }

    fn pass_to_end(&mut self, until: u64, ended: &mut Vec<(u64, Completion)>) {
        if self.drive.outstanding().running() > 0 && self.drive.io().now() < until {
            self.play(until);
        }
        self.drive.outstanding().report_ended(ended);
    }

    fn pass_time(&mut self, until: u64, ended: &mut Vec<(u64, Completion)>) {
        while self.drive.outstanding().running() > 0 && self.drive.io().now() < until {
            self.play(until);
        }
        self.drive.outstanding().report_ended(ended);
    }

    fn time(&self) -> (u64, Option<u64>) {
        self.drive.time()
    }
}
