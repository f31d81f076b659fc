//! The power fails, everywhere in a workload: after every operation of the flash, in the middle of
//! it, and again while the drive recovers.
//!
//! After each loss of power the drive is found again. Then what was durable must be there; of what
//! was acknowledged since, each page has an old version or a new one; the drive agrees with itself,
//! and goes on. The workload runs once: the flash is copied at every moment that is explored, and
//! each recovery starts from such a copy.

use floatgate_ftl::addr::{Lpn, Owner, Ppn, Tag};
use floatgate_ftl::journal::Layout;
pub use floatgate_ftl::nand::Watch;
use floatgate_ftl::nand::{Cut, PowerCut, Tagged, Timing, Torn};
use floatgate_ftl::recovery::Mount;
use floatgate_ftl::request::{Op, Request};
use serde::Serialize;

use crate::config::{Acknowledge, Arrivals, Config, ConfigError};
use crate::drive::cut::{Cuttable, Flash, Ledger, Medium, cuttable};
use crate::drive::{Plan, refuse_unrecoverable};
use crate::run::{Control, RunError, start};
use crate::workload::Workload;

/// Requests that are sent at once where the host or the drive looks at several.
const TOGETHER: usize = 8;
/// Requests that a recovered drive goes on with.
const GO_ON: usize = 40;
/// Each so manieth recovered drive goes on.
const GO_ON_EVERY: u64 = 16;

/// Bugs that a drive could have, to see whether the exploration finds them. Each is what the bug
/// would leave on flash, or would have the host believe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// Pages are not told apart by age.
    NoSequence,
    /// What was programmed since the checkpoint is not looked for.
    NoScan,
    /// Of a page that was programmed in part the out-of-band area is believed.
    TornPageBelieved,
    /// The out-of-band area names the page after the one that is there.
    WrongOwner,
    /// Trims are not written down.
    ForgottenTrims,
    /// Writes are said to be durable before they are programmed.
    EarlyAcknowledge,
}

impl Bug {
    /// Every bug.
    pub const ALL: [Self; 6] = [
        Self::NoSequence,
        Self::NoScan,
        Self::TornPageBelieved,
        Self::WrongOwner,
        Self::ForgottenTrims,
        Self::EarlyAcknowledge,
    ];

    /// What it leaves on flash.
    fn spoil(self, plan: &Plan, flash: &mut Flash, torn: Option<Torn>) {
        let layout = Layout::new(plan.geometry);
        let before = layout.find(flash).map_or(0, |checkpoint| checkpoint.stamp.serial);
        let pages = (0..plan.geometry.physical_pages()).map(Ppn::new);
        let tags: Vec<_> = pages.filter_map(|ppn| Some((ppn, flash.tag(ppn)?))).collect();
        let oob = flash.inner_mut();
        match self {
            Self::NoSequence => tags.into_iter().for_each(|(ppn, tag)| {
                oob.set_tag(ppn, Some(Tag { sequence: 1, serial: before + 1, ..tag }));
            }),
            Self::NoScan => {
                let new = tags.into_iter().filter(|(_, tag)| tag.serial > before);
                new.for_each(|(ppn, _)| oob.set_tag(ppn, None));
            }
            Self::TornPageBelieved => {
                if let Some(Torn::Program(to, tag)) = torn {
                    oob.set_tag(to, Some(tag));
                }
            }
            Self::WrongOwner => tags.into_iter().for_each(|(ppn, tag)| {
                if let Owner::Data(lpn) = tag.owner {
                    let next = Lpn::new((lpn.get() + 1) % plan.geometry.logical_pages());
                    oob.set_tag(ppn, Some(Tag { owner: Owner::Data(next), ..tag }));
                }
            }),
            Self::ForgottenTrims => layout.trims().for_each(|ppn| oob.lose_note(ppn)),
            Self::EarlyAcknowledge => {}
        }
    }
}

/// What is explored.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes that the workload spans.
    pub span_bytes: u64,
    /// Seed of what policies draw.
    pub seed: u64,
    /// Which moments.
    pub watch: Watch,
    /// Each so manieth recovery is cut everywhere, too.
    pub again: u64,
    /// A bug that the drive has.
    pub bug: Option<Bug>,
}

/// A page that was not what it may be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Loss {
    /// The moment at which the power failed.
    pub point: u64,
    /// The moment at which it failed again, in the recovery.
    pub second: Option<u64>,
    /// The logical page.
    pub page: u32,
    /// The version found there.
    pub found: Option<u64>,
    /// The versions that may be there.
    pub possible: Vec<Option<u64>>,
}

/// What was explored, and what was found.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct CrashReport {
    /// Moments at which the power failed, those in recoveries among them.
    pub points: u64,
    /// Pages that were not what they may be, all points together.
    pub lost: u64,
    /// Points at which a program or an erase was cut short.
    pub torn_seen: u64,
    /// Drives that were found again.
    pub recoveries: u64,
    /// Of the points, those in recoveries.
    pub second_cuts: u64,
    /// Recovered drives that went on with requests.
    pub went_on: u64,
    /// Requests of the workload.
    pub requests: u64,
    /// Moments that there were.
    pub moments: u64,
    /// Out-of-band areas and pages of the journal that a recovery read, on average and at most.
    pub reads_mean: f64,
    /// The most that one read.
    pub reads_max: u64,
    /// Pages that a recovery programmed, on average.
    pub programs_mean: f64,
    /// Microseconds that a recovery takes on the simulated drive, on average, if its operations are
    /// spread evenly over the dies.
    pub mount_us_mean: f64,
    /// The first of what was lost.
    pub first_loss: Option<Loss>,
}

impl CrashReport {
    /// Both together; of what was lost first, the first that there is.
    pub fn add(&mut self, other: &Self) {
        let all = (self.recoveries + other.recoveries).max(1) as f64;
        let mean =
            |a: f64, b: f64| (a * self.recoveries as f64 + b * other.recoveries as f64) / all;
        self.reads_mean = mean(self.reads_mean, other.reads_mean);
        self.programs_mean = mean(self.programs_mean, other.programs_mean);
        self.mount_us_mean = mean(self.mount_us_mean, other.mount_us_mean);
        self.reads_max = self.reads_max.max(other.reads_max);
        self.points += other.points;
        self.lost += other.lost;
        self.torn_seen += other.torn_seen;
        self.recoveries += other.recoveries;
        self.second_cuts += other.second_cuts;
        self.went_on += other.went_on;
        self.requests += other.requests;
        self.moments += other.moments;
        if self.first_loss.is_none() {
            self.first_loss.clone_from(&other.first_loss);
        }
    }

    fn note(&mut self, mount: Mount, plan: &Plan) {
        self.recoveries += 1;
        let reads = mount.journal_reads + mount.tag_reads;
        let share = 1.0 / self.recoveries as f64;
        self.reads_mean += (reads as f64 - self.reads_mean) * share;
        self.reads_max = self.reads_max.max(reads);
        let programs = (mount.moved + mount.map_programs) as f64;
        self.programs_mean += (programs - self.programs_mean) * share;
        self.mount_us_mean += (mount_us(mount, plan) - self.mount_us_mean) * share;
    }
}

fn mount_us(mount: Mount, plan: &Plan) -> f64 {
    let Timing { read_ns, program_ns, erase_ns, transfer_ns, command_ns } = plan.timing;
    let shape = plan.medium.shape();
    let dies = f64::from(shape.channels) * f64::from(shape.dies);
    let programs = mount.moved + mount.map_programs;
    let of = |count: u64, ns: u64| count as f64 * (ns + command_ns) as f64;
    let reads = of(mount.journal_reads + mount.tag_reads + mount.moved, read_ns + transfer_ns);
    let writes = of(programs, program_ns + transfer_ns) + of(mount.erased, erase_ns);
    (reads + writes) / dies / 1000.0
}

/// Runs a workload on a drive with a journal, and cuts the power.
///
/// # Errors
/// A config that gives no drive for this workload or needs to know the future, or a cancelled run.
pub fn explore(
    config: &Config,
    workload: &mut dyn Workload,
    options: Options,
    control: &Control,
) -> Result<CrashReport, RunError> {
    let mut config = config.clone();
    config.ftl.journal = true;
    config.queue.arrivals = Arrivals::Closed;
    config.check()?;
    refuse_unrecoverable(&config)?;
    let plan = Plan::new(&config, options.span_bytes)?;
    let ledger = Ledger::new(plan.user_pages());
    let (mut drive, _) = cuttable(&config, &plan, options.seed, None, ledger)?;
    start(&config, &plan, drive.device(), options.seed, control)?;
    let flush = Request { op: Op::Flush, offset: 0, length: 0, at_ns: 0 };
    drive.device().run(&[flush], &mut Vec::new());
    drive.ledger().flushed();
    control.begin("crash", workload.requests());
    let explorer = Explorer {
        config: &config,
        plan: &plan,
        options,
        report: CrashReport::default(),
        recent: Vec::new(),
    };
    explorer.run(drive, workload, control)
}

struct Explorer<'a> {
    config: &'a Config,
    plan: &'a Plan,
    options: Options,
    report: CrashReport,
    /// The requests that were sent last.
    recent: Vec<Request>,
}

impl Explorer<'_> {
    fn run(
        mut self,
        mut drive: Box<dyn Cuttable>,
        workload: &mut dyn Workload,
        control: &Control,
    ) -> Result<CrashReport, RunError> {
        drive.medium().watch(self.options.watch);
        let (mut waiting, mut done) = (Vec::new(), Vec::new());
        loop {
            if waiting.is_empty() {
                workload.next_batch(&mut waiting, 1024);
                waiting.reverse();
            }
            let batch = self.batch(&mut waiting);
            if batch.is_empty() {
                break;
            }
            done.clear();
            drive.device().run(&batch, &mut done);
            for cut in drive.medium().cuts() {
                self.recover(cut, drive.ledger())?;
            }
            let is_flush = batch.last().is_some_and(|request| request.op == Op::Flush);
            match is_flush {
                true => drive.ledger().flushed(),
                false if self.is_durable_at_once() => drive.ledger().written(),
                false => {}
            }
            self.report.requests += batch.len() as u64;
            control.advance(batch.len())?;
            self.recent.extend(batch);
            self.recent.drain(..self.recent.len().saturating_sub(GO_ON));
        }
        drive.device().check();
        self.report.moments = drive.medium().moments();
        self.report.lost += drive.ledger().wrong_reads;
        Ok(self.report)
    }

    /// The next requests that are sent at once; a flush is the last of them.
    fn batch(&self, waiting: &mut Vec<Request>) -> Vec<Request> {
        let alone = self.config.host.scheme == "plain" && self.config.queue.queues == 1;
        let most = if alone { 1 } else { TOGETHER };
        let mut batch = Vec::with_capacity(most);
        while batch.len() < most
            && let Some(request) = waiting.pop()
        {
            batch.push(request);
            if request.op == Op::Flush {
                break;
            }
        }
        batch
    }

    /// Whether what is acknowledged has been programmed.
    fn is_durable_at_once(&self) -> bool {
        let buffer = &self.config.buffer;
        let early = self.options.bug == Some(Bug::EarlyAcknowledge);
        buffer.scheme == "none" || buffer.acknowledge == Acknowledge::WriteThrough || early
    }

    fn find(&mut self, flash: Medium, ledger: Ledger) -> Result<Box<dyn Cuttable>, ConfigError> {
        let (drive, mount) =
            cuttable(self.config, self.plan, self.options.seed, Some(flash), ledger)?;
        self.report.note(mount, self.plan);
        Ok(drive)
    }

    /// The power is back.
    fn recover(&mut self, cut: Cut<Flash>, ledger: &Ledger) -> Result<(), ConfigError> {
        let Cut { moment, torn, mut medium } = cut;
        self.report.points += 1;
        self.report.torn_seen += u64::from(torn.is_some());
        if let Some(bug) = self.options.bug {
            bug.spoil(self.plan, &mut medium, torn);
        }
        let mut medium = PowerCut::new(medium);
        if self.report.points.is_multiple_of(self.options.again) {
            medium.watch(Watch::Every(1));
        }
        let mut drive = self.find(medium, ledger.clone())?;
        drive.device().check();
        for Cut { moment: second, torn, medium } in drive.medium().cuts() {
            self.report.points += 1;
            self.report.second_cuts += 1;
            self.report.torn_seen += u64::from(torn.is_some());
            let mut again = self.find(PowerCut::new(medium), ledger.clone())?;
            again.device().check();
            self.read(again.as_mut(), ledger, (moment, Some(second)));
        }
        drive.medium().watch(Watch::No);
        let found = self.read(drive.as_mut(), ledger, (moment, None));
        if self.report.points.is_multiple_of(GO_ON_EVERY) {
            self.go_on(drive, found);
        }
        Ok(())
    }

    /// Every page, held against what it may be.
    fn read(
        &mut self,
        drive: &mut dyn Cuttable,
        ledger: &Ledger,
        (point, second): (u64, Option<u64>),
    ) -> Vec<Option<u64>> {
        let mut pages = Vec::with_capacity(ledger.pages());
        for page in 0..ledger.pages() {
            let found = drive.version(Lpn::new(page as u32));
            if !ledger.possible(page).contains(&found) {
                self.report.lost += 1;
                self.report.first_loss.get_or_insert_with(|| Loss {
                    point,
                    second,
                    page: page as u32,
                    found,
                    possible: ledger.possible(page).to_vec(),
                });
            }
            pages.push(found);
        }
        pages
    }

    /// The recovered drive takes the last requests again.
    fn go_on(&mut self, mut drive: Box<dyn Cuttable>, found: Vec<Option<u64>>) {
        drive.ledger().found(found);
        drive.device().run(&self.recent, &mut Vec::new());
        drive.device().check();
        self.report.lost += drive.ledger().wrong_reads;
        self.report.went_on += 1;
    }
}
