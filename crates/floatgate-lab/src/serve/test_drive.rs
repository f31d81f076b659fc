//! A small drive in memory for tests of the server.

use std::sync::Arc;
use std::time::Duration;

use super::{ImageLocation, Served, Setup};
use crate::config::Config;
use crate::drive::live::Timekeeping;

pub(super) const BYTES: u64 = 8 << 20;
pub(super) const PAGE: usize = 4096;

pub(super) const SHRD: &[(&str, &str)] =
    &[("host.scheme", "shrd"), ("host.log", "1MiB"), ("mapping.scheme", "dftl")];

pub(super) fn served(sets: &[(&str, &str)], time: Timekeeping) -> Arc<Served> {
    let timing = if time == Timekeeping::None { "none" } else { "scheduled" };
    let all = [&[("flash.pages_per_block", "16"), ("timing", timing)], sets].concat();
    let sets: Vec<_> = all.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    let config = Box::new(Config::load(None, None, &sets).unwrap());
    let location = ImageLocation::Memory { config, bytes: BYTES, seed: 3 };
    let (name, transport) = ("live".into(), Duration::ZERO);
    let setup = Setup { location, name, time, transport, record: None, also: vec![] };
    Served::new(setup).unwrap()
}
