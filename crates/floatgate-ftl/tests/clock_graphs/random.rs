//! Random drives, and the values that must be equal.

use floatgate_ftl::counters::{Counters, DieUse};
use floatgate_ftl::nand::{
    Controller, Order, PAGE_TYPES, PageTimes, Schedule, SlcTimes, Stripe, Suspend, Timing,
};
use floatgate_ftl::parameters::Choice;
use floatgate_ftl::rng::Rng;

pub fn any<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize]
}

/// Short times, so that many events coincide.
pub fn timing(rng: &mut Rng) -> Timing {
    Timing {
        read_ns: rng.below(7),
        program_ns: rng.below(30),
        erase_ns: rng.below(40),
        transfer_ns: rng.below(5),
        command_ns: any(rng, &[0, 0, 1, 2]),
    }
}

pub fn schedule(rng: &mut Rng) -> Schedule {
    let starve_ns = any(rng, &[0, 5, 30, 1 << 40]);
    let first = [Order::ReadFirst { starve_ns }, Order::AllReadsFirst { starve_ns }];
    let order = any(rng, &[Order::Fifo, first[0], first[1]]);
    let (suspend_ns, resume_ns) = (rng.below(4), rng.below(4));
    let suspend = Suspend { suspend_ns, resume_ns, most: 1 + rng.below(3) as u32 };
    let mut times = |most| std::array::from_fn(|_| rng.below(most));
    let (read_ns, program_ns): ([u64; PAGE_TYPES], _) = (times(8), times(25));
    let pages = PageTimes { types: 1 + rng.below(4) as u32, read_ns, program_ns };
    let task_ns = std::array::from_fn(|_| rng.below(4));
    let (cores, blocking) = (1 + rng.below(2) as u32, any(rng, &[false, true]));
    let (in_order, head_of_line) = any(rng, &[(false, false), (true, false), (true, true)]);
    Schedule {
        stripe: Stripe::named(any(rng, Stripe::VARIANTS).name).unwrap(),
        cache_register: any(rng, &[false, true]),
        order,
        suspend: any(rng, &[None, Some(suspend), Some(suspend)]),
        pages: any(rng, &[None, Some(pages)]),
        slc: Some(SlcTimes { read_ns: rng.below(5), program_ns: rng.below(12) }),
        controller: Controller {
            cores,
            task_ns,
            blocking,
            write_pages: any(rng, &[None, Some(1), Some(8), Some(30)]),
            power_protected: any(rng, &[false, false, true]),
            in_order,
            head_of_line,
        },
    }
}

/// Returns the counters that must be equal on two drives. For dies only the busy time counts.
pub fn comparable(counters: &Counters) -> Counters {
    let busy = |die: &DieUse| DieUse { read_ns: die.busy_ns(), ..DieUse::default() };
    Counters { dies: counters.dies.iter().map(busy).collect(), ..counters.clone() }
}
