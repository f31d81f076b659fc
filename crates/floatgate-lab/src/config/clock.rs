//! Settings of the flash clock: page types, the order in which a die serves operations, and the
//! controller.

use floatgate_ftl::nand::{self, PageTimes, Suspend};

use super::{
    Config, ConfigError, Flash, Order, Pacing, Resolution, Schedule, Timing, expect, expect_text,
};

impl Config {
    /// Returns the drive's parallelism and the order of its operations.
    pub(crate) fn flash_schedule(&self) -> nand::Schedule {
        let Schedule { order, starve, suspend, resume, suspensions } = self.schedule;
        let controller = &self.controller;
        nand::Schedule {
            stripe: self.flash.stripe.0,
            cache_register: self.flash.cache_register,
            order: match order {
                Order::Fifo => nand::Order::Fifo,
                Order::ReadFirst => nand::Order::ReadFirst { starve_ns: starve.0 },
                Order::AllReadsFirst => nand::Order::AllReadsFirst { starve_ns: starve.0 },
            },
            suspend: suspend.map(|suspend| Suspend {
                suspend_ns: suspend.0,
                resume_ns: resume.0,
                most: suspensions,
            }),
            pages: self.flash.page_times(),
            slc: self.slc_times(),
            controller: nand::Controller {
                cores: controller.cores,
                task_ns: [
                    controller.command.0,
                    controller.translate.0,
                    controller.map_read.0,
                    controller.remap_entry.0,
                ],
                blocking: controller.blocking,
                write_pages: self.write_pages(),
                power_protected: controller.power_protected,
                in_order: self.cleaning.pacing == Pacing::Proportional,
                head_of_line: self.queue.head_of_line,
            },
        }
    }

    pub(super) fn check_schedule(&self) -> Result<(), ConfigError> {
        if self.timing == Timing::None && self.latency.distribution == Resolution::Full {
            let untimed = "timing = \"none\": there are no latencies";
            expect_text("latency.distribution", "full", "summary", untimed)?;
        }
        let Schedule { order, suspend, .. } = &self.schedule;
        if let Some(suspend) = suspend {
            let given = format!("\"{suspend}\"");
            let other = "none with schedule.order = \"fifo\": nothing goes before".to_owned();
            expect(*order != Order::Fifo, "schedule.suspend", &given, other)?;
        }
        let (read, program) = (self.flash.read.0.len(), self.flash.program.0.len());
        let fits = read == 1 || program == 1 || read == program;
        let other = format!("one time, or {read} as of flash.read");
        expect(fits, "flash.program", &format!("a list of {program}"), other)
    }
}

impl Flash {
    /// Returns the times by page type, or None if all pages have the same times.
    fn page_times(&self) -> Option<PageTimes> {
        let types = self.read.0.len().max(self.program.0.len());
        (types > 1).then(|| PageTimes {
            types: types as u32,
            read_ns: self.read.by_type(),
            program_ns: self.program.by_type(),
        })
    }
}
