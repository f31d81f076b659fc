//! External policies: the caller of the engine provides them, and the engine runs them by virtual
//! calls.

use floatgate_ftl::buffer::{BufferConfig, ExternalBuffer};
use floatgate_ftl::device::{Device, DeviceClock, Inspect, Paced};
use floatgate_ftl::forward_device;
use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::mapping::{Boxed, MapConfig};
use floatgate_ftl::placement::ExternalPlacement;
use floatgate_ftl::request::{Completion, Request};
use floatgate_ftl::victim::{Victim, VictimConfig};

/// The external policies of one run. The engine asks for each policy once, when it builds the
/// drive, and reports each request to them. A policy that fails must still return a value, and end
/// the run through the run's control.
pub trait ExternalPolicies: Send {
    /// Returns the placement, if `placement.scheme` is external.
    fn placement(&mut self, _geometry: &Geometry) -> Option<Box<dyn ExternalPlacement>> {
        None
    }

    /// Returns the victim policy, if `cleaning.victim` is external.
    fn victim(
        &mut self,
        _geometry: &Geometry,
        _config: &VictimConfig,
    ) -> Option<Box<dyn Victim + Send>> {
        None
    }

    /// Returns the mapping, if `mapping.scheme` is external. Its map must be on flash.
    fn mapping(&mut self, _config: &MapConfig) -> Option<Boxed> {
        None
    }

    /// Returns the buffer policy, if `buffer.scheme` is external.
    fn buffer(
        &mut self,
        _geometry: &Geometry,
        _config: &BufferConfig,
    ) -> Option<Box<dyn ExternalBuffer>> {
        None
    }

    /// Passes on the host's next requests, before the first of them begins. `_before` counts the
    /// earlier requests, as in [`ExternalPolicies::begin`].
    fn upcoming(&mut self, _before: u64, _requests: &[Request]) {}

    /// Reports that the drive receives a request. `_number` is the number of requests since the
    /// counters were last reset.
    fn begin(&mut self, _number: u64, _request: &Request) {}

    /// Reports that the start state is reached: from now on the requests come from the workload.
    fn started(&mut self) {}
}

/// No external policies.
impl ExternalPolicies for () {}

/// A drive with external policies. It runs requests one by one, and reports each to the policies.
pub(super) struct Guided {
    pub(super) device: Box<dyn Paced>,
    pub(super) policies: Box<dyn ExternalPolicies>,
    pub(super) begun: u64,
}

impl Guided {
    /// Passes on the first `count` requests, and begins each with those behind it that the drive
    /// sees.
    fn one_by_one(
        &mut self,
        requests: &[Request],
        count: usize,
        mut begin: impl FnMut(&mut dyn Paced, &[Request]),
    ) {
        self.policies.upcoming(self.begun, &requests[..count]);
        let ahead = self.device.sees_ahead();
        for (at, request) in requests[..count].iter().enumerate() {
            self.policies.begin(self.begun, request);
            self.begun += 1;
            let end = requests.len().min(at + 1 + ahead);
            begin(self.device.as_mut(), &requests[at..end]);
        }
    }
}

impl Device for Guided {
    forward_device!(device: sees_ahead write_back set_future cut_power);

    fn run_ahead(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>) {
        if requests.is_empty() {
            return self.device.run_ahead(&[], 0, done);
        }
        self.one_by_one(requests, count, |device, next| device.run_ahead(next, 1, done));
    }

    fn reset_counters(&mut self) {
        self.device.reset_counters();
        self.policies.started();
        self.begun = 0;
    }
}

impl Paced for Guided {
    fn begin(&mut self, requests: &[Request], count: usize) -> u64 {
        let first = self.begun;
        self.one_by_one(requests, count, |device, next| {
            device.begin(next, 1);
        });
        first
    }

    fn pass_to_end(&mut self, until: u64, ended: &mut Vec<(u64, Completion)>) {
        self.device.pass_to_end(until, ended);
    }

    fn pass_time(&mut self, until: u64, ended: &mut Vec<(u64, Completion)>) {
        self.device.pass_time(until, ended);
    }

    fn time(&self) -> (u64, Option<u64>) {
        self.device.time()
    }
}

impl Inspect for Guided {
    forward_device!(device: counters units check);
}

impl DeviceClock for Guided {
    forward_device!(device: clock);
}
