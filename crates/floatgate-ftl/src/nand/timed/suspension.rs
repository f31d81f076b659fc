//! How programs and erases are interrupted for reads, and resumed.

use super::events::Event;
use super::flash::Post;
use super::lanes::URGENT;

impl Post<'_> {
    /// Interrupts the cells for reads.
    pub(super) fn suspend(&mut self) {
        self.account();
        let Some(suspend) = self.core.schedule.suspend else { return };
        let now = self.core.now;
        let Some(batch) = &mut self.die.array else { return };
        batch.suspensions += 1;
        batch.ends -= now;
        let batch = *batch;
        (self.die.is_suspending, self.die.suspended_at) = (true, now);
        self.charge(&batch, batch.part, now - batch.began);
        self.wait_for_die(batch.head);
        self.work_until(now + suspend.suspend_ns);
        self.turn();
    }

    /// Resumes the interrupted operation.
    pub(super) fn resume(&mut self) {
        self.account();
        let Some(mut batch) = self.die.suspended.take() else { return };
        let resume_ns = self.core.schedule.suspend.map_or(0, |suspend| suspend.resume_ns);
        // An operation that resumes although urgent reads wait has starved: it is not interrupted
        // again.
        if !self.die.queues[URGENT].is_empty() {
            batch.suspensions = u32::MAX;
        }
        batch.began = self.core.now + resume_ns;
        batch.ends += batch.began;
        self.waited_for_die(batch.head);
        self.charge(&batch, batch.part, resume_ns);
        self.die.array = Some(batch);
        self.work_until(batch.ends);
        self.work_from(batch.began);
        self.turn();
    }

    /// Wakes the die when the cells begin to program or erase: from then on, waiting reads may
    /// interrupt them.
    #[inline(always)]
    pub(super) fn work_from(&mut self, began: u64) {
        if self.core.schedule.suspend.is_some() && began > self.core.now {
            self.core.events.push(began, Event::Wake(self.die.number));
        }
    }

    /// Sets the time at which the cells are done, or interrupted, if it differs from the usual
    /// time.
    fn work_until(&mut self, time: u64) {
        self.die.due = time;
        self.core.events.push(time, Event::Cells(self.die.number));
    }
}
