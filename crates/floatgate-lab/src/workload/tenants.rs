//! Tenants that share a drive, each with its own part of the span and its own placement handle.
//!
//! Most tenants write their part in order, from start to end and again, like a log or a cache of
//! large objects. The others write their part at random, like a cache of small objects. Tenants
//! write at different rates, so data written together is not overwritten together. In a drive that
//! mixes tenants, cleaning costs come mainly from these different rates, and not from the order in
//! which a single tenant writes. Our choices: parts of equal size; the tenant of each request is
//! drawn by its share.
//!
//! An overwriter has no part: it writes at random in the part of another tenant, and so invalidates
//! pages that another placement handle wrote (the jumper of the three-stream workload of WARP, Song
//! et al., FAST 2026).

use floatgate_ftl::request::Op;
use floatgate_ftl::rng::Rng;

use super::AddressSource;
use super::keys::{KeyRow, Keys};
use crate::config::ConfigError;

const KEYS: &[KeyRow] = &[
    KeyRow { name: "span", default: "", doc: "Bytes of all tenants together; must be given." },
    KeyRow { name: "size", default: "4KiB", doc: "Size of a request." },
    KeyRow { name: "tenants", default: "4", doc: "Tenants, 1 to 128." },
    KeyRow {
        name: "random",
        default: "0",
        doc: "So many of them, the last, write their part at random; the others in order.",
    },
    KeyRow {
        name: "overwriters",
        default: "0",
        doc: "So many of the random tenants, the last, have no part: the first of them writes at \
              random in the part of tenant 0, the next in that of tenant 1, and so on.",
    },
    KeyRow {
        name: "ratio",
        default: "2",
        doc: "Each tenant writes so many times as much as the one before it, 1 to 16.",
    },
    KeyRow {
        name: "handles",
        default: "",
        doc: "Tenant i has the placement handle i modulo this; without it one each.",
    },
];

#[derive(Clone)]
pub(super) struct Tenants {
    size: u64,
    /// Requests that fill a part.
    places: u64,
    /// Tenants with a part, before the overwriters.
    parts: usize,
    /// Next place of each tenant that writes in order.
    next: Vec<u64>,
    /// Cumulative share of the requests, up to and including each tenant.
    up_to: Vec<f64>,
    handles: usize,
    tenant: usize,
}

impl AddressSource for Tenants {
    const KEYS: &'static [&'static [KeyRow]] = &[KEYS];

    fn new(keys: &mut Keys, _: &mut Rng) -> Result<Self, ConfigError> {
        let span = keys.size("span", None)?;
        let size = keys.size("size", Some(4096))?;
        let tenants = count(keys, "tenants", 4, (1, 128))?;
        let random = count(keys, "random", 0, (0, tenants))?;
        let overwriters = count(keys, "overwriters", 0, (0, random.min(tenants / 2)))?;
        let parts = tenants - overwriters;
        let handles = count(keys, "handles", tenants, (1, tenants))?;
        let ratio = keys.number("ratio", 2.0, (1.0, 16.0))?;
        let places = span / parts / size;
        if places == 0 {
            let text = format!("span={span}: expected at least {parts} requests of {size} bytes");
            return Err(keys.error(&text));
        }
        let weights: Vec<f64> = (0..tenants).map(|tenant| ratio.powi(tenant as i32)).collect();
        let total: f64 = weights.iter().sum();
        let up_to = weights.iter().scan(0.0, |sum, weight| {
            *sum += weight / total;
            Some(*sum)
        });
        Ok(Self {
            size,
            places,
            parts: parts as usize,
            next: vec![0; (tenants - random) as usize],
            up_to: up_to.collect(),
            handles: handles as usize,
            tenant: 0,
        })
    }

    fn span_bytes(&self) -> u64 {
        self.size * self.places * self.parts as u64
    }

    fn next(&mut self, _: Op, rng: &mut Rng) -> (u64, u64) {
        let drawn = rng.unit();
        let last = self.up_to.len() - 1;
        self.tenant = self.up_to.partition_point(|&up_to| up_to <= drawn).min(last);
        let place = match self.next.get_mut(self.tenant) {
            Some(next) => {
                let place = *next;
                *next = (place + 1) % self.places;
                place
            }
            None => rng.below(self.places),
        };
        let part = self.tenant.checked_sub(self.parts).unwrap_or(self.tenant);
        ((part as u64 * self.places + place) * self.size, self.size)
    }

    fn stream(&self) -> Option<u16> {
        Some((self.tenant % self.handles) as u16)
    }
}

fn count(
    keys: &mut Keys,
    key: &'static str,
    default: u64,
    (least, most): (u64, u64),
) -> Result<u64, ConfigError> {
    let count = keys.count(key)?.unwrap_or(default);
    keys.resolve(key, &count);
    if (least..=most).contains(&count) {
        return Ok(count);
    }
    Err(keys.error(&format!("{key}={count}: expected {least} to {most}")))
}
