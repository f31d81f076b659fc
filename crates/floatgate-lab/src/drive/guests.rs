//! Policies that are in no table: who calls the engine has them, and it asks them by virtual calls.

use floatgate_ftl::buffer::{BufferConfig, GuestBuffer};
use floatgate_ftl::device::{Counters, Device};
use floatgate_ftl::future::FutureKnowledge;
use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::mapping::{AnyMapping, MapConfig};
use floatgate_ftl::nand::{Recorded, Recording};
use floatgate_ftl::placement::GuestPlacement;
use floatgate_ftl::request::{Completion, Request};
use floatgate_ftl::unit_table::UnitTable;
use floatgate_ftl::victim::{Victim, VictimConfig};

/// The policies of one run that are in no table, each asked for once, when the drive is built; and
/// what they are told of the requests. A policy that fails answers something all the same, and the
/// run is to be ended by its control.
pub trait Guests: Send {
    /// The placement, if `placement.scheme` is one.
    fn placement(&mut self, _geometry: &Geometry) -> Option<Box<dyn GuestPlacement>> {
        None
    }

    /// The victim policy, if `cleaning.victim` is one.
    fn victim(
        &mut self,
        _geometry: &Geometry,
        _config: &VictimConfig,
    ) -> Option<Box<dyn Victim + Send>> {
        None
    }

    /// The mapping, if `mapping.scheme` is one. Its map is on flash.
    fn mapping(&mut self, _config: &MapConfig) -> Option<AnyMapping> {
        None
    }

    /// The buffer policy, if `buffer.scheme` is one.
    fn buffer(
        &mut self,
        _geometry: &Geometry,
        _config: &BufferConfig,
    ) -> Option<Box<dyn GuestBuffer>> {
        None
    }

    /// The host's next requests, before the first of them is begun, and how many were before it, as
    /// for [`Guests::begin`].
    fn upcoming(&mut self, _before: u64, _requests: &[Request]) {}

    /// A request is given to the drive: how many were before it since the counters were at zero.
    fn begin(&mut self, _number: u64, _request: &Request) {}

    /// The start state is reached; requests are those of the workload from now on.
    fn started(&mut self) {}
}

/// No guests.
impl Guests for () {}

/// A drive with guests: they are told of its requests, which it is given one by one.
pub(super) struct Guided {
    pub(super) device: Box<dyn Device>,
    pub(super) guests: Box<dyn Guests>,
    pub(super) begun: u64,
}

impl Device for Guided {
    fn run_ahead(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>) {
        if requests.is_empty() {
            return self.device.run_ahead(&[], 0, done);
        }
        self.guests.upcoming(self.begun, &requests[..count]);
        let ahead = self.device.sees_ahead();
        for (at, request) in requests[..count].iter().enumerate() {
            self.guests.begin(self.begun, request);
            self.begun += 1;
            let end = requests.len().min(at + 1 + ahead);
            self.device.run_ahead(&requests[at..end], 1, done);
        }
    }

    fn report(&self, counters: &mut Counters) {
        self.device.report(counters);
    }

    fn units(&self) -> &UnitTable {
        self.device.units()
    }

    fn reset_counters(&mut self) {
        self.device.reset_counters();
        self.guests.started();
        self.begun = 0;
    }

    fn check(&self) {
        self.device.check();
    }

    fn sees_ahead(&self) -> usize {
        self.device.sees_ahead()
    }

    fn write_back(&mut self) {
        self.device.write_back();
    }

    fn stand_still(&mut self) {
        self.device.stand_still();
    }

    fn go_on(&mut self) {
        self.device.go_on();
    }

    fn set_future(&mut self, known: FutureKnowledge) {
        self.device.set_future(known);
    }

    fn record(&mut self, recording: Recording) {
        self.device.record(recording);
    }

    fn recorded(&self) -> Option<(Recorded, Option<Request>)> {
        self.device.recorded()
    }

    fn cut_power(&mut self) {
        self.device.cut_power();
    }
}
