//! A small drive in memory for tests of the server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::backend::ChangeOptions;
use super::delivery::Entered;
use super::served::Served;
use super::setup::{ImageLocation, Setup};
use crate::config::Config;
use crate::drive::live::Timekeeping;

pub(super) const BYTES: u64 = 8 << 20;
pub(super) const PAGE: usize = 4096;

pub(super) const LATER: ChangeOptions = ChangeOptions { stream: 0, durable: false };

pub(super) const SHRD: &[(&str, &str)] =
    &[("host.scheme", "shrd"), ("host.log", "1MiB"), ("mapping.scheme", "dftl")];

/// Arrival of a request now, before any power cut.
pub(super) fn entered() -> Entered {
    Entered { at: Instant::now(), cuts: 0 }
}

pub(super) fn served(sets: &[(&str, &str)], time: Timekeeping) -> Arc<Served> {
    served_with(sets, time, &[])
}

/// Builds a drive with shadows of these names and the same config.
pub(super) fn served_with(
    sets: &[(&str, &str)],
    time: Timekeeping,
    shadows: &[&str],
) -> Arc<Served> {
    let timing = if time == Timekeeping::None { "none" } else { "scheduled" };
    let all = [&[("flash.pages_per_block", "16"), ("timing", timing)], sets].concat();
    let sets: Vec<_> = all.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    let config = Box::new(Config::load(None, None, &sets).unwrap());
    let also = shadows.iter().map(|&name| (name.to_owned(), (*config).clone())).collect();
    let location = ImageLocation::Memory { config, bytes: BYTES, seed: 3 };
    let (name, transport) = ("live".into(), Duration::ZERO);
    Served::new(Setup { location, name, time, transport, record: None, also }).unwrap()
}
