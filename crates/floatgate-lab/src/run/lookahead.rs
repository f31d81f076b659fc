//! The workload's future, for policies that need to know it.

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::buffer::{Buffer, parts};
use floatgate_ftl::device::{pages, whole_pages};
use floatgate_ftl::future::{FutureKnowledge, NextUseBuilder, NextUses, TooLong};
use floatgate_ftl::mapping;
use floatgate_ftl::placement::AnyPlacement;
use floatgate_ftl::request::{Op, Request};

use super::{BATCH, Control, RunError};
use crate::config::{Config, ConfigError};
use crate::drive::{Plan, block_pages};
use crate::workload::Workload;

/// Whether a policy of a config needs to know future requests.
pub(super) fn needs_future(config: &Config) -> bool {
    config.offline_policies().next().is_some()
}

/// Collects what the policies of a config need to know about future requests.
pub(super) fn future_knowledge(
    config: &Config,
    plan: &Plan,
    workload: &dyn Workload,
    control: &Control,
) -> Result<FutureKnowledge, RunError> {
    let block = block_pages(config, &plan.geometry);
    let tell_parts = |telling: &mut NextUseBuilder, request: &Request, log2: u32| {
        tell_parts(telling, request, log2, block)
    };
    let mut known = FutureKnowledge::default();
    if mapping::needs_future(&config.mapping.scheme) {
        known.accesses = Some(next_uses(plan, workload, tell_accesses, control)?);
    }
    if AnyPlacement::needs_future(&config.placement.scheme) {
        known.writes = Some(next_uses(plan, workload, tell_writes, control)?);
    }
    if Buffer::needs_future(&config.buffer.scheme) {
        known.blocks = Some(next_uses(plan, workload, tell_parts, control)?);
    }
    Ok(known)
}

fn tell_accesses(
    telling: &mut NextUseBuilder,
    request: &Request,
    log2: u32,
) -> Result<(), TooLong> {
    match request.op {
        Op::Read | Op::Write => {
            pages(request, log2).try_for_each(|page| telling.push(Lpn::new(page as u32)))
        }
        Op::Trim | Op::Flush => Ok(()),
    }
}

/// Adds the parts of a request to the future of a buffer of blocks. A part is the range of a
/// request within one block.
fn tell_parts(
    telling: &mut NextUseBuilder,
    request: &Request,
    log2: u32,
    block: u32,
) -> Result<(), TooLong> {
    let pages = pages(request, log2);
    match request.op {
        Op::Read | Op::Write => {
            let (first, count) = (Lpn::new(pages.start as u32), pages.end - pages.start);
            let mut parts = parts(first, count as u32, block);
            parts.try_for_each(|(lpn, _)| telling.push(Lpn::new(lpn.get() / block)))
        }
        Op::Trim | Op::Flush => Ok(()),
    }
}

fn tell_writes(telling: &mut NextUseBuilder, request: &Request, log2: u32) -> Result<(), TooLong> {
    match request.op {
        Op::Write => pages(request, log2).try_for_each(|page| telling.push(Lpn::new(page as u32))),
        Op::Trim => {
            whole_pages(request, log2).for_each(|page| telling.end(Lpn::new(page as u32)));
            Ok(())
        }
        Op::Read | Op::Flush => Ok(()),
    }
}

/// Collects the future uses of pages, in one pass over the workload before the run.
fn next_uses(
    plan: &Plan,
    workload: &dyn Workload,
    tell: impl Fn(&mut NextUseBuilder, &Request, u32) -> Result<(), TooLong>,
    control: &Control,
) -> Result<NextUses, RunError> {
    let geometry = &plan.geometry;
    let (mut requests, mut batch) = (workload.fork(), Vec::with_capacity(BATCH));
    let mut telling = NextUseBuilder::new(geometry.logical_pages());
    control.begin("foretell", workload.requests());
    loop {
        batch.clear();
        requests.next_batch(&mut batch, BATCH)?;
        if batch.is_empty() {
            return Ok(telling.finish());
        }
        for request in &batch {
            tell(&mut telling, request, geometry.log2_page_bytes()).map_err(|TooLong| {
                ConfigError::new(
                    "the workload accesses 2^32 pages or more: a bound that knows the future \
                     (belady, oracle) needs fewer",
                )
            })?;
        }
        control.advance(batch.len())?;
    }
}
