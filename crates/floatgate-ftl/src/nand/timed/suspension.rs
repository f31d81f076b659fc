//! How programs and erases are interrupted for reads, and resumed.

use super::events::Event;
use super::flash::DieContext;
use super::lanes::URGENT;

impl DieContext<'_> {
    /// Interrupts the cells for reads.
    pub(super) fn suspend(&mut self) {
        self.account();
        let Some(suspend) = self.state.schedule.suspend else { return };
        let now = self.state.now;
        let Some(op) = &mut self.die.array else { return };
        op.suspensions += 1;
        op.ends -= now;
        let op = *op;
        (self.die.is_suspending, self.die.suspended_at) = (true, now);
        self.charge(&op, op.component, now - op.began);
        self.wait_for_die(op.head);
        self.work_until(now + suspend.suspend_ns);
        self.update_activity();
    }

    /// Resumes the interrupted operation.
    pub(super) fn resume(&mut self) {
        self.account();
        let Some(mut op) = self.die.suspended.take() else { return };
        let resume_ns = self.state.schedule.suspend.map_or(0, |suspend| suspend.resume_ns);
        // An operation that resumes although urgent reads wait has starved: it is not interrupted
        // again.
        if !self.die.queues[URGENT].is_empty() {
            op.suspensions = u32::MAX;
        }
        op.began = self.state.now + resume_ns;
        op.ends += op.began;
        self.waited_for_die(op.head);
        self.charge(&op, op.component, resume_ns);
        self.die.array = Some(op);
        self.work_until(op.ends);
        self.work_from(op.began);
        self.update_activity();
    }

    /// Wakes the die when the cells begin to program or erase: from then on, waiting reads may
    /// interrupt them.
    #[inline(always)]
    pub(super) fn work_from(&mut self, began: u64) {
        if self.state.schedule.suspend.is_some() && began > self.state.now {
            self.state.events.push(began, Event::Wake(self.die.number));
        }
    }

    /// Sets the time at which the cells are done, or interrupted, if it differs from the usual
    /// time.
    fn work_until(&mut self, time: u64) {
        self.die.due = time;
        self.state.events.push(time, Event::Cells(self.die.number));
    }
}
