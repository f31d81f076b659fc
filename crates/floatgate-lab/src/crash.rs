//! Exploration of power failures, everywhere in a workload: after every operation of the flash, in
//! the middle of it, and again while the drive recovers.
//!
//! After each loss of power the drive is recovered. The exploration then checks that:
//!
//! - durable data is there,
//! - each page with changes that are not durable yet has an old version or a new one,
//! - the drive is consistent, and
//! - it serves further requests.
//!
//! The workload runs twice: first to count its moments, then to copy the flash at every moment that
//! is explored. Each recovery starts from such a copy.

mod bug;
mod report;

pub use bug::Bug;
pub use report::{CrashReport, Loss, mount_us};

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::device::Acknowledge;
use floatgate_ftl::nand::{Cut, PowerCut, Torn, Watch};
use floatgate_ftl::queue::Arrivals;
use floatgate_ftl::recovery::Mount;
use floatgate_ftl::request::{Op, Request};

use crate::config::{Config, ConfigError};
use crate::drive::cut::{Cuttable, Flash, Ledger, Medium, cuttable};
use crate::drive::{Plan, refuse_unrecoverable};
use crate::run::{Control, RunError, start};
use crate::workload::Workload;

/// Requests sent at once where the host or the drive looks at several requests.
const TOGETHER: usize = 8;
/// Requests that a recovered drive serves again.
const GO_ON: usize = 40;
/// Every n-th recovered drive serves requests again.
const USE_AGAIN_EVERY: u64 = 16;
/// Watch that counts moments and copies the flash at none.
const COUNT: Watch = Watch::Only(u64::MAX);

/// Selection of the moments of the workload to explore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moments {
    /// Every n-th moment, starting with the first.
    Every(u64),
    /// The moment with this number, from 0.
    Only(u64),
    /// At most this many moments, spread evenly.
    AtMost(u64),
}

impl Moments {
    /// Returns the watch for a workload with `moments` moments, and the number of moments that it
    /// selects.
    fn watch(self, moments: u64) -> Result<(Watch, u64), ConfigError> {
        let every = match self {
            Self::Every(every) => every,
            Self::AtMost(most) => moments.div_ceil(most.max(1)).max(1),
            Self::Only(point) if point < moments => return Ok((Watch::Only(point), 1)),
            Self::Only(point) => {
                return Err(ConfigError::new(format!(
                    "point: {point} given; this workload has {moments} moments at which power \
                     can fail, numbered from 0"
                )));
            }
        };
        Ok((Watch::Every(every), moments.div_ceil(every)))
    }
}

/// Options of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes that the workload spans.
    pub span_bytes: u64,
    /// Seed of the random choices of policies.
    pub seed: u64,
    /// Selection of the moments of the workload.
    pub moments: Moments,
    /// Every n-th recovery is cut by a second power failure; at least 1.
    pub again: u64,
    /// Maximum number of explored moments in recoveries, at least 1. They are spread evenly over
    /// the recoveries that are cut, and within each recovery.
    pub again_most: u64,
    /// Bug that the drive has, to test the exploration.
    pub bug: Option<Bug>,
}

/// Runs a workload on a drive with a journal, and cuts the power.
///
/// # Errors
/// A config that gives no drive for this workload or needs to know the future, a single moment that
/// does not exist, or a cancelled run.
pub fn explore(
    config: &Config,
    workload: &mut dyn Workload,
    options: Options,
    control: &Control,
) -> Result<CrashReport, RunError> {
    let mut config = config.clone();
    config.ftl.journal = true;
    config.queue.arrivals.0 = Arrivals::Closed;
    config.check()?;
    refuse_unrecoverable(&config)?;
    let plan = Plan::new(&config, options.span_bytes)?;
    let subject = Subject { config: &config, plan: &plan, options };
    let moments = subject.count(workload.fork().as_mut(), control)?;
    let (watch, firsts) = options.moments.watch(moments)?;
    let every = if let Watch::Every(every) = watch { Some(every) } else { None };
    // With more recoveries than allowed cuts, fewer recoveries are cut.
    let again = options.again.max(firsts.div_ceil(options.again_most));
    let explorer = Explorer {
        subject,
        again,
        share: options.again_most / (firsts / again).max(1),
        report: CrashReport { moments, every, ..CrashReport::default() },
        recent: Vec::new(),
    };
    let mut drive = subject.formatted(control)?;
    drive.medium().watch(watch);
    control.begin("crash", firsts);
    explorer.run(drive, workload, control)
}

/// The drive that is explored.
#[derive(Clone, Copy)]
struct Subject<'a> {
    config: &'a Config,
    plan: &'a Plan,
    options: Options,
}

impl Subject<'_> {
    /// Makes a drive. With `flash`, the drive is recovered from it, and the cost of the mount is
    /// returned.
    fn drive(
        &self,
        flash: Option<Medium>,
        ledger: Ledger,
    ) -> Result<(Box<dyn Cuttable>, Mount), ConfigError> {
        cuttable(self.config, self.plan, self.options.seed, flash, ledger)
    }

    /// Makes a drive in its start state, with all data durable.
    fn formatted(&self, control: &Control) -> Result<Box<dyn Cuttable>, RunError> {
        let (mut drive, _) = self.drive(None, Ledger::new(self.plan.user_pages()))?;
        start(self.config, self.plan, drive.device(), self.options.seed, control)?;
        if !self.is(Bug::IgnoredFlush) {
            let flush = Request { op: Op::Flush, offset: 0, length: 0, at_ns: 0, stream: 0 };
            drive.device().run(&[flush], &mut Vec::new());
        }
        drive.ledger().flushed();
        Ok(drive)
    }

    fn count(&self, workload: &mut dyn Workload, control: &Control) -> Result<u64, RunError> {
        let mut drive = self.formatted(control)?;
        drive.medium().watch(COUNT);
        control.begin("count", workload.requests());
        let count = |_: &mut dyn Cuttable, batch: &[Request]| control.advance(batch.len());
        self.play(drive.as_mut(), workload, count)?;
        Ok(drive.medium().moments())
    }

    /// Sends the requests of a workload, and calls `after` after each batch.
    fn play(
        &self,
        drive: &mut dyn Cuttable,
        workload: &mut dyn Workload,
        mut after: impl FnMut(&mut dyn Cuttable, &[Request]) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let (mut waiting, mut done) = (Vec::new(), Vec::new());
        loop {
            if waiting.is_empty() {
                workload.next_batch(&mut waiting, 1024)?;
                waiting.reverse();
            }
            let batch = self.batch(&mut waiting);
            if batch.is_empty() {
                return Ok(());
            }
            let ignored = usize::from(self.is(Bug::IgnoredFlush) && ends_in_flush(&batch));
            done.clear();
            drive.device().run(&batch[..batch.len() - ignored], &mut done);
            after(drive, &batch)?;
        }
    }

    /// Takes the next requests that are sent at once. A flush ends the batch.
    fn batch(&self, waiting: &mut Vec<Request>) -> Vec<Request> {
        let alone = !self.config.host.keeps_log() && self.config.queue.queues == 1;
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

    /// Returns whether acknowledged data is already programmed, or survives a loss of power until
    /// it is.
    fn is_durable_at_once(&self) -> bool {
        let buffer = &self.config.buffer;
        let passes_buffer = !buffer.exists() || buffer.acknowledge.0 == Acknowledge::WriteThrough;
        (passes_buffer && !self.config.loses_write_memory()) || self.is(Bug::EarlyAcknowledge)
    }

    fn is(&self, bug: Bug) -> bool {
        self.options.bug == Some(bug)
    }
}

fn ends_in_flush(batch: &[Request]) -> bool {
    batch.last().is_some_and(|request| request.op == Op::Flush)
}

struct Explorer<'a> {
    subject: Subject<'a>,
    /// Every n-th recovery is cut, at a maximum of `share` moments.
    again: u64,
    share: u64,
    report: CrashReport,
    /// The last requests sent.
    recent: Vec<Request>,
}

impl Explorer<'_> {
    fn run(
        mut self,
        mut drive: Box<dyn Cuttable>,
        workload: &mut dyn Workload,
        control: &Control,
    ) -> Result<CrashReport, RunError> {
        let subject = self.subject;
        subject.play(drive.as_mut(), workload, |drive, batch| {
            for cut in drive.medium().cuts() {
                self.recover(cut, drive.ledger(), control)?;
            }
            match ends_in_flush(batch) {
                true => drive.ledger().flushed(),
                false if subject.is_durable_at_once() => drive.ledger().written(),
                false => {}
            }
            self.report.requests += batch.len() as u64;
            self.recent.extend_from_slice(batch);
            self.recent.drain(..self.recent.len().saturating_sub(GO_ON));
            Ok(())
        })?;
        drive.device().check();
        self.report.lost += drive.ledger().wrong_reads;
        Ok(self.report)
    }

    /// Counts a power failure.
    fn count_torn(&mut self, torn: Option<Torn>) {
        self.report.points += 1;
        self.report.torn_seen += u64::from(torn.is_some());
    }

    fn find(&mut self, flash: Medium, ledger: &Ledger) -> Result<Box<dyn Cuttable>, ConfigError> {
        let (mut drive, mount) = self.subject.drive(Some(flash), ledger.clone())?;
        self.report.count_mount(mount, self.subject.plan);
        drive.device().check();
        Ok(drive)
    }

    /// Recovers the drive from a copy of the flash, and checks it.
    fn recover(
        &mut self,
        cut: Cut<Flash>,
        ledger: &Ledger,
        control: &Control,
    ) -> Result<(), RunError> {
        let Cut { moment, torn, mut medium } = cut;
        self.count_torn(torn);
        if let Some(bug) = self.subject.options.bug {
            bug.spoil(self.subject.plan, &mut medium, torn);
        }
        let number = self.report.points - self.report.second_cuts;
        let copy = number.is_multiple_of(self.again).then(|| medium.clone());
        let mut medium = PowerCut::new(medium);
        medium.watch(COUNT);
        let mut drive = self.find(medium, ledger)?;
        let moments = drive.medium().moments();
        drive.medium().watch(Watch::No);
        self.report.recovery_moments += moments;
        if let Some(copy) = copy {
            self.cut_again((moment, copy), moments.div_ceil(self.share), ledger, control)?;
        }
        let found = self.read(drive.as_mut(), ledger, (moment, None));
        if number.is_multiple_of(USE_AGAIN_EVERY) {
            self.use_again(drive, found);
        }
        control.advance(1)
    }

    /// Cuts the power in a recovery as well, at every n-th moment of the recovery.
    fn cut_again(
        &mut self,
        (first, medium): (u64, Flash),
        every: u64,
        ledger: &Ledger,
        control: &Control,
    ) -> Result<(), RunError> {
        let mut medium = PowerCut::new(medium);
        medium.watch(Watch::Every(every.max(1)));
        let (mut drive, _) = self.subject.drive(Some(medium), ledger.clone())?;
        for Cut { moment: second, torn, medium } in drive.medium().cuts() {
            self.report.second_cuts += 1;
            self.count_torn(torn);
            let mut again = self.find(PowerCut::new(medium), ledger)?;
            self.read(again.as_mut(), ledger, (first, Some(second)));
            control.advance(0)?;
        }
        Ok(())
    }

    /// Reads every page, and compares its version with the possible ones.
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

    /// Sends the last requests to the recovered drive again.
    fn use_again(&mut self, mut drive: Box<dyn Cuttable>, found: Vec<Option<u64>>) {
        drive.ledger().found(found);
        drive.device().run(&self.recent, &mut Vec::new());
        drive.device().check();
        self.report.lost += drive.ledger().wrong_reads;
        self.report.went_on += 1;
    }
}
