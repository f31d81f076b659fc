//! The drive for a host that waits for each request separately.

use alloc::vec::Vec;
use core::convert::Infallible;

use super::Ssd;
use crate::device::{HostData, Paced};
use crate::ftl::Ftl;
use crate::nand::{Clock, Nand};
use crate::request::{Completion, Request};

impl<F, D> Paced for Ssd<F, D>
where
    F: Ftl<Medium: Nand<Error = Infallible>> + Send,
    D: HostData<F::Medium> + Send,
{
    fn begin(&mut self, requests: &[Request], count: usize) -> u64 {
        let first = self.outstanding.next();
        match self.arbiter {
            None => self.run_straight(requests, count, &mut Vec::new()),
            Some(_) => self.run_arbitrated(requests, count),
        }
        first
    }

    fn pass_to_end(&mut self, until: u64, ended: &mut Vec<(u64, Completion)>) {
        if self.outstanding.running() > 0 && self.io.now() < until {
            self.play(until);
        }
        self.outstanding.report_ended(ended);
    }

    fn pass_time(&mut self, until: u64, ended: &mut Vec<(u64, Completion)>) {
        while self.outstanding.running() > 0 && self.io.now() < until {
            self.play(until);
        }
        self.outstanding.report_ended(ended);
    }

    fn time(&self) -> (u64, Option<u64>) {
        let clock = self.io.ftl.nand().clock();
        (clock.now(), clock.next())
    }
}
