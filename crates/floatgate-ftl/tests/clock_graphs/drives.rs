//! The same calls for both: the drive as it is, and as it is specified.

use crate::brute::{Brute, Kind, Place, Step};
use floatgate_ftl::addr::{Lpn, Owner, Ppn, Tag, Unit};
use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::nand::{
    Blame, Cause, Chain, Clock, Counted, Ended, Fork, Move, Nand, Occupation, Part, Schedule,
    Server, Timed, Timing,
};

pub trait Drive {
    type Chain: Copy;
    const START: Self::Chain;
    /// A chain that a read of the host waits for.
    const READ: Self::Chain;
    fn work(chain: Self::Chain) -> Self::Chain;
    fn read(&mut self, from: Ppn, cause: Cause, chain: &mut Self::Chain);
    fn program(&mut self, to: Ppn, cause: Cause, chain: &mut Self::Chain);
    fn copy(&mut self, moves: &[(Ppn, Ppn)], cause: Cause, chain: &mut Self::Chain);
    fn erase(&mut self, unit: u32, cause: Cause, chain: &mut Self::Chain);
    fn fork(&mut self, start: Self::Chain, ends: &[Self::Chain]) -> Self::Chain;
    fn wait(&mut self, chain: &mut Self::Chain, work: Self::Chain, part: Part);
    fn delay(&mut self, chain: &mut Self::Chain, ns: u64, part: Part);
    fn serve(&mut self, chain: &mut Self::Chain, server: Server, pass: u64, hold: u64);
    fn watch(&mut self, chain: Self::Chain, ticket: u64);
    fn play(&mut self, until: u64) -> bool;
    fn play_chain(&mut self, chain: Self::Chain, until: u64);
    fn ended(&mut self) -> Vec<Ended>;
}

/// The drive as it is.
pub struct Scheduled(Timed<Counted>);

const OWNER: Owner = Owner::Data(Lpn::new(0));

impl Scheduled {
    pub fn new(geometry: Geometry, timing: Timing, schedule: Schedule) -> Self {
        Self(Timed::with_schedule(Counted::default(), geometry, timing, schedule))
    }

    pub fn occupation(&self) -> Occupation {
        self.0.counters().occupation
    }

    pub fn outstanding(&self) -> usize {
        self.0.outstanding()
    }
}

impl Drive for Scheduled {
    type Chain = Chain;
    const START: Chain = Chain::START;
    const READ: Chain = Chain::new(true);

    fn work(chain: Chain) -> Chain {
        chain.work()
    }

    fn read(&mut self, from: Ppn, cause: Cause, chain: &mut Chain) {
        self.0.read(from, OWNER, cause, chain).unwrap();
    }

    fn program(&mut self, to: Ppn, cause: Cause, chain: &mut Chain) {
        self.0.program(to, Tag::new(OWNER, 0, 0), cause, chain).unwrap();
    }

    fn copy(&mut self, moves: &[(Ppn, Ppn)], cause: Cause, chain: &mut Chain) {
        let moves = moves.iter().map(|&(from, to)| Move { from, to, owner: OWNER, serial: 0 });
        self.0.copy(&moves.collect::<Vec<_>>(), cause, chain).unwrap();
    }

    fn erase(&mut self, unit: u32, cause: Cause, chain: &mut Chain) {
        self.0.erase(Unit(unit), cause, chain).unwrap();
    }

    fn fork(&mut self, start: Chain, ends: &[Chain]) -> Chain {
        let mut fork = Fork::new(start);
        ends.iter().for_each(|&end| fork.join(end, self.0.clock_mut()));
        fork.end()
    }

    fn wait(&mut self, chain: &mut Chain, work: Chain, part: Part) {
        self.0.clock_mut().wait(chain, work, part);
    }

    fn delay(&mut self, chain: &mut Chain, ns: u64, part: Part) {
        self.0.clock_mut().delay(chain, ns, part);
    }

    fn serve(&mut self, chain: &mut Chain, server: Server, pass: u64, hold: u64) {
        self.0.clock_mut().serve(chain, server, pass, hold);
    }

    fn watch(&mut self, chain: Chain, ticket: u64) {
        self.0.clock_mut().watch(chain, ticket);
    }

    fn play(&mut self, until: u64) -> bool {
        self.0.clock_mut().play(until)
    }

    fn play_chain(&mut self, chain: Chain, until: u64) {
        self.0.clock_mut().play_chain(chain, until);
    }

    fn ended(&mut self) -> Vec<Ended> {
        std::iter::from_fn(|| self.0.clock_mut().ended()).collect()
    }
}

/// The drive as it is specified.
pub struct Specified {
    pub geometry: Geometry,
    pub brute: Brute,
}

/// What a wait for an operation is told as.
fn part(cause: Cause) -> Part {
    match cause {
        Cause::Host => Part::Die,
        Cause::Map | Cause::Journal => Part::Map,
        Cause::Gc | Cause::GcMap | Cause::Wear | Cause::Retire => Part::Gc,
        Cause::Merge => Part::Merge,
        Cause::Remap => Part::Remap,
    }
}

/// The last step of a chain, whether its blame is told, and whether a read of the host waits.
#[derive(Clone, Copy)]
pub struct End(Option<usize>, bool, bool);

impl Specified {
    fn is_live(&self, chain: End) -> Option<usize> {
        chain.0.filter(|&at| self.brute.steps[at].end.is_none())
    }

    fn issue(&mut self, step: Step, chain: &mut End) {
        let follows = self.is_live(*chain).into_iter().collect();
        chain.0 = Some(self.brute.steps.len());
        let (is_told, is_urgent, issued) = (chain.1, chain.2, self.brute.now);
        self.brute.steps.push(Step { follows, is_told, is_urgent, issued, ..step });
    }

    /// Die, unit, row and plane of a page.
    fn place(&self, ppn: Ppn) -> Place {
        let ((plane, row), planes) =
            (self.geometry.plane_and_row(ppn), self.geometry.shape().planes);
        ((plane / planes) as usize, self.geometry.unit(ppn).0, row, plane % planes)
    }

    /// Such steps that are not complete.
    fn outstanding(&self, is: impl Fn(&Step) -> bool) -> Vec<usize> {
        let steps = self.brute.steps.iter().enumerate();
        steps.filter(|(_, step)| step.end.is_none() && is(step)).map(|(at, _)| at).collect()
    }

    /// Programs and erases of a unit on a die stay in order.
    fn change(&mut self, kind: Kind, place: Place, cause: Cause, chain: &mut End) {
        let (timing, pages) = (&self.brute.timing, &self.brute.schedule.pages);
        let ns = match (kind, pages) {
            (Kind::Erase, _) => timing.erase_ns,
            (_, None) => timing.program_ns,
            (_, Some(pages)) => pages.program_ns[(place.2 % pages.types) as usize],
        };
        let is_before = |step: &Step| {
            [Kind::Program, Kind::Erase].contains(&step.kind)
                && (step.place.0, step.place.1) == (place.0, place.1)
        };
        let behind = self.outstanding(is_before).pop();
        let step = Step { place, ns, behind, ..Step::new(kind, part(cause)) };
        let is_read = |step: &Step| step.kind == Kind::Read && step.place.1 == place.1;
        let is_erase = kind == Kind::Erase;
        let hazards = if is_erase { self.outstanding(is_read) } else { vec![] };
        self.issue(Step { hazards, ..step }, chain);
    }

    pub fn occupation(&self) -> Occupation {
        let busy = self.brute.busy();
        let (busy_ns, busiest_ns) = (busy.iter().sum(), *busy.iter().max().unwrap());
        Occupation { end_ns: self.brute.end, busy_ns, busiest_ns }
    }

    /// Everything is complete, and the parts of every blame sum to the time since the chain began.
    pub fn check(&self) {
        let steps = &self.brute.steps;
        let mut began: Vec<u64> = vec![];
        for step in steps {
            let last = step.follows.iter().max_by_key(|&&at| (steps[at].end, at));
            began.push(last.map_or(step.issued, |&at| began[at]));
            let latency = step.end.unwrap() - began[began.len() - 1];
            assert_eq!(step.blame.total(), latency, "{step:?}");
        }
    }
}

impl Drive for Specified {
    type Chain = End;
    const START: End = End(None, true, false);
    const READ: End = End(None, true, true);

    fn work(chain: End) -> End {
        End(chain.0, false, false)
    }

    fn read(&mut self, from: Ppn, cause: Cause, chain: &mut End) {
        let place = self.place(from);
        let ns = match &self.brute.schedule.pages {
            None => self.brute.timing.read_ns,
            Some(pages) => pages.read_ns[(place.2 % pages.types) as usize],
        };
        let is_program = |step: &Step| step.kind == Kind::Program && step.place == place;
        let hazards = self.outstanding(is_program);
        let step = Step { place, ns, hazards, ..Step::new(Kind::Read, part(cause)) };
        self.issue(step, chain);
    }

    fn program(&mut self, to: Ppn, cause: Cause, chain: &mut End) {
        self.change(Kind::Program, self.place(to), cause, chain);
    }

    fn copy(&mut self, moves: &[(Ppn, Ppn)], cause: Cause, chain: &mut End) {
        for is_read in [true, false] {
            let start = *chain;
            let mut ends = vec![start; moves.len()];
            for (end, &(from, to)) in ends.iter_mut().zip(moves) {
                match is_read {
                    true => self.read(from, cause, end),
                    false => self.program(to, cause, end),
                }
            }
            *chain = self.fork(start, &ends);
        }
    }

    fn erase(&mut self, unit: u32, cause: Cause, chain: &mut End) {
        let shape = *self.geometry.shape();
        let first = self.geometry.first_plane(Unit(unit));
        let dies = first / shape.planes..=(first + shape.superblock - 1) / shape.planes;
        let (start, mut ends) = (*chain, vec![]);
        for die in dies {
            let mut end = start;
            self.change(Kind::Erase, (die as usize, unit, 0, 0), cause, &mut end);
            ends.push(end);
        }
        *chain = self.fork(start, &ends);
    }

    fn fork(&mut self, start: End, ends: &[End]) -> End {
        let ends: Vec<usize> = ends.iter().filter_map(|&end| self.is_live(end)).collect();
        let mut chain = start;
        if ends.iter().any(|&end| Some(end) != start.0) {
            self.issue(Step::new(Kind::Nothing, Part::Queue), &mut chain);
            let step = self.brute.steps.last_mut().unwrap();
            step.follows.extend(ends);
        }
        chain
    }

    fn wait(&mut self, chain: &mut End, work: End, part: Part) {
        if let (Some(at), false) = (self.is_live(work), work.0 == chain.0) {
            self.issue(Step { hazards: vec![at], ..Step::new(Kind::Nothing, part) }, chain);
        }
    }

    fn delay(&mut self, chain: &mut End, ns: u64, part: Part) {
        if ns > 0 {
            self.issue(Step { ns, ..Step::new(Kind::Delay, part) }, chain);
        }
    }

    fn serve(&mut self, chain: &mut End, server: Server, pass: u64, hold: u64) {
        let part = match server {
            Server::Commands => Part::Queue,
            Server::Cores => Part::Controller,
            Server::LinkIn | Server::LinkOut => Part::Link,
        };
        let server = server as usize;
        self.issue(Step { ns: pass, hold, server, ..Step::new(Kind::Serve, part) }, chain);
    }

    fn watch(&mut self, chain: End, ticket: u64) {
        match self.is_live(chain) {
            Some(at) => self.brute.steps[at].ticket = Some(ticket),
            None => {
                let (at_ns, blame) = (self.brute.now, Blame::default());
                self.brute.ended.push(Ended { ticket, at_ns, blame });
            }
        }
    }

    fn play(&mut self, until: u64) -> bool {
        self.brute.play(until, |brute| !brute.ended.is_empty());
        !self.brute.ended.is_empty()
    }

    fn play_chain(&mut self, chain: End, until: u64) {
        let is_live = |brute: &Brute| chain.0.is_some_and(|at| brute.steps[at].end.is_none());
        self.brute.play(until, |brute| !is_live(brute));
    }

    fn ended(&mut self) -> Vec<Ended> {
        std::mem::take(&mut self.brute.ended)
    }
}
