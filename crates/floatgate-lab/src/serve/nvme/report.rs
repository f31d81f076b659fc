//! Health and traffic of a drive, read at one moment.

use floatgate_ftl::counters::CAUSES;
use floatgate_ftl::nand::Cause;
use floatgate_nvme::drive::{CauseTraffic, HandleTraffic, Health, Traffic};

use crate::drive::live::Opened;
use crate::serve::backend::ServeError;
use crate::serve::smart::{SPARE_PERCENT, SPARE_THRESHOLD_PERCENT, Smart};
use crate::serve::state::State;
use crate::serve::traffic;

/// Name of the traffic before the server started, which is known in total only.
const EARLIER: &str = "earlier";

#[derive(Clone, Debug)]
pub(super) struct Report {
    /// The caller fills in the time with power and the number of unaligned commands.
    pub health: Health,
    pub traffic: Traffic,
}

impl Report {
    /// Reports on a drive.
    ///
    /// # Errors
    /// The reason why the drive does not serve.
    pub fn new(state: &State) -> Result<Self, ServeError> {
        let smart = Smart::new(state)?;
        Ok(Self { health: health(state, &smart)?, traffic: traffic(&state.traffic()?, &smart) })
    }
}

fn health(state: &State, smart: &Smart) -> Result<Health, ServeError> {
    let Opened { drive, plan, .. } = state.opened()?;
    let units = drive.device().units();
    let held = units.valid_pages().map(u64::from).sum::<u64>();
    let held = held.saturating_sub(plan.translation_pages.into());
    let (erases_min, erases_max) = smart.erases();
    let life = &smart.life;
    Ok(Health {
        host_read_bytes: life.read_bytes,
        host_written_bytes: life.written_bytes,
        host_reads: life.reads,
        host_writes: life.writes,
        media_read_bytes: smart.media_bytes_read(),
        media_written_bytes: smart.media_bytes_written(),
        media_erased_bytes: smart.media_bytes_erased(),
        used_bytes: held * smart.page_bytes,
        power_cycles: life.power_cycles,
        unsafe_shutdowns: life.unsafe_shutdowns,
        media_errors: smart.media_errors(),
        erases_min: erases_min.unwrap_or(0),
        erases_max: erases_max.unwrap_or(0),
        endurance_bytes: smart.endurance_bytes(),
        spare_percent: SPARE_PERCENT,
        spare_threshold_percent: SPARE_THRESHOLD_PERCENT,
        used_percent: smart.used_percent() as u8,
        free_percent: (units.free_units() * 100 / plan.geometry.units()) as u8,
        is_degraded: smart.is_degraded(),
        is_read_only: smart.is_read_only,
        ..Health::default()
    })
}

/// Returns the traffic by cause. Its sums are the totals over the drive's life.
fn traffic(since: &traffic::Traffic, smart: &Smart) -> Traffic {
    let (page, unit, life) = (smart.page_bytes, smart.unit_bytes, &smart.life);
    let before = |total: u64, counts: &[u64; CAUSES]| total - counts.iter().sum::<u64>();
    let earlier = CauseTraffic {
        name: EARLIER,
        read: before(life.media_reads, &since.reads) * page,
        written: before(life.programs, &since.programs) * page,
        erased: before(life.erases, &since.erases) * unit,
    };
    let causes = Cause::ALL.into_iter().enumerate().map(|(at, (_, name))| CauseTraffic {
        name,
        read: since.reads[at] * page,
        written: since.programs[at] * page,
        erased: since.erases[at] * unit,
    });
    let handles = since
        .handles
        .iter()
        .map(|(host, media)| HandleTraffic { host: host * page, media: media * page });
    Traffic { causes: [earlier].into_iter().chain(causes).collect(), handles: handles.collect() }
}
