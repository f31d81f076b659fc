//! Recording of a window of time: what dies and channels did in it.
//!
//! Only a complete request shows whether it took longest. The recorder therefore always keeps the
//! latest spans, one window of them. When a request completes that took longer than all before it,
//! the recorder continues to the end of the window around that request, and then saves the window.
//!
//! Spans come from the place where the account of a die is brought up to date, so their sum equals
//! the account.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::ops::Range;

use crate::clock::{Around, Recorded, Recording, Served, Span};

/// Interval of time to record.
#[derive(Clone, Copy, Debug)]
struct RecordingWindow {
    from_ns: u64,
    to_ns: u64,
    /// Time that the window is around.
    at_ns: u64,
}

impl RecordingWindow {
    /// Creates a window with `before` of `window_ns` before a time, and the rest after it.
    fn around(at_ns: u64, before: u64, window_ns: u64) -> Self {
        let to_ns = at_ns.saturating_add(window_ns - before);
        Self { from_ns: at_ns.saturating_sub(before), to_ns, at_ns }
    }

    /// Returns the share of `whole` for the time after `at_ns`.
    fn behind(&self, whole: usize) -> usize {
        let (behind, all) = (self.to_ns - self.at_ns, (self.to_ns - self.from_ns).max(1));
        (whole as u128 * u128::from(behind) / u128::from(all)) as usize
    }
}

/// Recorder of the spans of dies and channels.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    asked: Recording,
    /// Spans, about in the order of their ends.
    spans: VecDeque<Span>,
    /// The last span of each lane, which may continue.
    last: Vec<Option<Span>>,
    /// Until this time, spans were dropped because there were too many.
    missing_until: u64,
    /// The window that has not ended, and the number of spans after the time that it is around.
    open: Option<RecordingWindow>,
    behind: usize,
    /// The saved window.
    kept: Option<(RecordingWindow, Recorded)>,
    /// Requests that are not complete, with the dies of their operations.
    dies: BTreeMap<u64, Vec<u32>>,
    /// Requests whose operations are being issued.
    beginning: Range<u64>,
    /// The request of the recording, and the dies of its operations.
    served: Option<Served>,
    served_by: Vec<u32>,
}

impl Recorder {
    /// Creates a recorder for `lanes` lanes, without spans.
    pub(super) fn new(asked: Recording, lanes: usize) -> Self {
        let window = asked.window_ns;
        Self {
            asked,
            spans: VecDeque::new(),
            last: alloc::vec![None; lanes],
            missing_until: 0,
            open: match asked.around {
                Around::Worst => None,
                Around::Time(at_ns) => Some(RecordingWindow::around(at_ns, window / 2, window)),
            },
            behind: 0,
            kept: None,
            dies: BTreeMap::new(),
            beginning: 0..0,
            served: None,
            served_by: Vec::new(),
        }
    }

    pub(super) fn begin_requests(&mut self, numbers: Range<u64>) {
        self.beginning = numbers;
    }

    /// Notes the die of an operation of a request.
    pub(super) fn issue(&mut self, die: u32) {
        for number in self.beginning.clone() {
            let dies = self.dies.entry(number).or_default();
            if let Err(at) = dies.binary_search(&die) {
                dies.insert(at, die);
            }
        }
    }

    /// Notes that a request is complete. Returns whether the recording is now about this request.
    pub(super) fn end_request(&mut self, served: &Served) -> bool {
        let dies = self.dies.remove(&served.number).unwrap_or_default();
        let longest = self.served.as_ref().map(Served::latency_ns);
        if longest.is_some_and(|longest| served.latency_ns() <= longest) {
            return false;
        }
        match self.asked.around {
            Around::Time(at) if !(served.arrival_ns..=served.done_ns).contains(&at) => {
                return false;
            }
            Around::Time(_) => {}
            Around::Worst => {
                let window = self.asked.window_ns;
                self.open =
                    Some(RecordingWindow::around(served.done_ns, window - window / 4, window));
                self.behind = 0;
            }
        }
        (self.served, self.served_by) = (Some(*served), dies);
        true
    }

    /// Adds a span, or extends the lane's last span if that continues. A finished recording gets no
    /// more spans.
    pub(super) fn add(&mut self, span: Span) {
        if self.open.is_none() && self.asked.around != Around::Worst {
            return;
        }
        let last = &mut self.last[span.lane as usize];
        match last {
            Some(before) if before.continues(&span) => before.to_ns = span.to_ns,
            _ => {
                let before = last.replace(span);
                before.into_iter().for_each(|before| self.push(before));
            }
        }
    }

    /// Keeps a span, and drops the spans that are no longer needed.
    fn push(&mut self, span: Span) {
        let begin = self.open.map_or(span.to_ns.saturating_sub(self.asked.window_ns), |window| {
            self.behind += usize::from(span.to_ns > window.at_ns);
            window.from_ns
        });
        while let Some(first) = self.spans.front()
            && (first.to_ns <= begin || self.spans.len() >= self.asked.spans_max)
        {
            if first.to_ns > begin {
                self.missing_until = self.missing_until.max(first.to_ns);
            }
            self.spans.pop_front();
        }
        if span.to_ns > begin {
            self.spans.push_back(span);
        }
    }

    /// Returns whether further spans would push out spans before the time that the window is
    /// around.
    fn is_full(&self, window: &RecordingWindow) -> bool {
        let most = self.asked.spans_max;
        self.spans.len() >= most && self.behind > window.behind(most)
    }

    /// Saves the window if it has ended or is full. `running` has the spans that have not ended.
    pub(super) fn close_if_due(&mut self, running: impl Iterator<Item = Span>, now: u64) {
        if let Some(window) = self.open
            && (now >= window.to_ns || self.is_full(&window))
        {
            self.kept = Some((window, self.cut(&window, running, now)));
            self.open = None;
        }
    }

    /// Returns the spans in a window until now.
    fn cut(
        &self,
        window: &RecordingWindow,
        running: impl Iterator<Item = Span>,
        now: u64,
    ) -> Recorded {
        let to_ns = window.to_ns.min(now);
        let from_ns = window.from_ns.max(self.missing_until).min(to_ns);
        let done = self.spans.iter().chain(self.last.iter().flatten()).copied();
        let all = done.chain(running);
        let mut spans: Vec<_> = all.filter_map(|span| span.within(from_ns, to_ns)).collect();
        spans.sort_unstable_by_key(|span| (span.lane, span.from_ns));
        spans.dedup_by(|next, span| {
            let continues = span.continues(next);
            if continues {
                span.to_ns = next.to_ns;
            }
            continues
        });
        Recorded { from_ns, to_ns, spans, ..Recorded::default() }
    }

    /// Returns the recording, if the window has begun.
    pub(super) fn recorded(
        &self,
        running: impl Iterator<Item = Span>,
        now: u64,
    ) -> Option<Recorded> {
        let (window, cut) = match self.open {
            Some(window) => (window, self.cut(&window, running, now)),
            None => self.kept.clone()?,
        };
        let all = window.to_ns.min(now).saturating_sub(window.from_ns);
        let left_out_ns = all - (cut.to_ns - cut.from_ns);
        let (served, dies) = (self.served, self.served_by.clone());
        (all > 0).then_some(Recorded { left_out_ns, served, dies, ..cut })
    }
}
