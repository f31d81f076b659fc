//! The sequence of map entries that the writes of a workload change: without SHRD, and with it.
//!
//! Only the host layer runs, without a drive and a clock. It packs as many consecutive small writes
//! as fit, and remaps a window as soon as the log is low.

use floatgate_ftl::device::{pages, whole_pages};
use floatgate_ftl::host::{Remapping, Shrd};
use floatgate_ftl::request::{Op, Request};
use serde::Serialize;

use crate::config::{Config, ConfigError};
use crate::drive::{Plan, shrd_config};
use crate::workload::Workload;

/// Logical pages whose map entries change, in order.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Pattern {
    /// Pages of the user. The pages after them belong to the log.
    pub user_pages: u32,
    /// Without SHRD: in the order of the writes.
    pub without: Vec<u32>,
    /// With SHRD, if it remapped the pages of a window in the order of their writes.
    pub unsorted: Vec<u32>,
    /// With SHRD, as it is.
    pub with: Vec<u32>,
}

/// Returns the pattern of the first `limit` requests.
///
/// # Errors
/// A config that gives no drive for this workload or has no SHRD, or requests that cannot be read.
pub fn pattern(
    config: &Config,
    workload: &mut dyn Workload,
    span_bytes: u64,
    limit: usize,
) -> Result<Pattern, ConfigError> {
    let plan = Plan::new(config, span_bytes)?;
    if plan.log_pages == 0 {
        return Err(ConfigError::new(
            "host.scheme = \"plain\": expected \"shrd\", for its pattern",
        ));
    }
    let mut requests = Vec::new();
    workload
        .next_batch(&mut requests, limit)
        .map_err(|broken| ConfigError::new(broken.to_string()))?;
    let mut host = Shrd::new(shrd_config(config, &plan));
    let mut found = Pattern { user_pages: plan.user_pages(), ..Pattern::default() };
    let log2_page = plan.geometry.log2_page_bytes();
    let mut rest = requests.as_slice();
    while let Some((first, others)) = rest.split_first() {
        while host.is_low() {
            found.remap(&mut host);
        }
        let packed = if host.is_small(first) && host.begin() {
            rest.iter().take_while(|next| host.is_small(next) && host.add(next)).count()
        } else {
            0
        };
        if packed == 0 {
            match first.op {
                Op::Write => found.write(first, &mut host, log2_page),
                Op::Trim => trim(first, &mut host, log2_page),
                Op::Read | Op::Flush => {}
            }
            rest = others;
            continue;
        }
        let twrite = host.twrite();
        let slots = twrite.first.get()..twrite.first.get() + twrite.entries.len() as u32;
        found.unsorted.extend(slots.clone());
        found.with.extend(slots);
        for request in &rest[..packed] {
            found.without.extend(pages(request, log2_page).map(|page| page as u32));
        }
        rest = &rest[packed..];
    }
    Ok(found)
}

/// Drops trimmed pages from the log: they are not remapped.
fn trim(request: &Request, host: &mut Shrd, log2_page: u32) {
    let pages = whole_pages(request, log2_page);
    if !pages.is_empty() {
        host.drop_pages(pages.start as u32..pages.end as u32, &mut Vec::new());
    }
}

impl Pattern {
    /// Records a write that goes directly to its pages.
    fn write(&mut self, request: &Request, host: &mut Shrd, log2_page: u32) {
        let pages = pages(request, log2_page);
        let pages = pages.start as u32..pages.end as u32;
        host.drop_pages(pages.clone(), &mut Vec::new());
        for list in [&mut self.without, &mut self.unsorted, &mut self.with] {
            list.extend(pages.clone());
        }
    }

    fn remap(&mut self, host: &mut Shrd) {
        let Some(batch) = host.remap() else { return };
        self.with.extend(batch.entries.iter().map(|entry| entry.to.get()));
        let mut as_written: Vec<Remapping> = batch.entries.to_vec();
        as_written.sort_unstable_by_key(|entry| entry.from);
        self.unsorted.extend(as_written.iter().map(|entry| entry.to.get()));
    }
}
