use alloc::collections::VecDeque;

use super::*;
use crate::request::Op;

fn request(at_ns: u64, offset: u64) -> Request {
    Request { at_ns, op: Op::Write, offset, length: 1, stream: 0 }
}

/// A drive that takes 100 for each command. It notes the requests that it begins, when they arrived
/// and when they begin, and which requests have entered the queues.
#[derive(Default)]
struct Drive {
    now: u64,
    running: VecDeque<(u64, usize)>,
    begun: Vec<(usize, u64, u64)>,
    entered: Vec<Vec<usize>>,
}

impl Drive {
    fn run(&mut self, arbiter: &mut Arbiter, requests: &[Request], count: usize) -> &mut Self {
        loop {
            match arbiter.next(requests, count, self.now) {
                DriveStep::Done => return self,
                DriveStep::Begin(NextCommand { at, arrival, queue, .. }) => {
                    self.begun.push((at, arrival, self.now));
                    self.entered.push(arbiter.entered().to_vec());
                    self.running.push_back((self.now + 100, queue));
                }
                DriveStep::Wait(until) => {
                    let first = self.running.front().map_or(u64::MAX, |&(end, _)| end);
                    self.now = until.min(first);
                    while let Some(&(_, queue)) = self.running.front().filter(|r| r.0 <= self.now) {
                        self.running.pop_front();
                        arbiter.complete(queue, self.now);
                    }
                }
            }
        }
    }

    fn turns(&self) -> Vec<(usize, u64)> {
        self.begun.iter().map(|&(at, _, begin)| (at, begin)).collect()
    }
}

#[test]
fn one_serial_queue_is_first_come_first_served() {
    let mut arbiter = Arbiter::new(1, 2, Arrivals::Open, Dispatch::Serial, 100);
    let requests: Vec<_> = [10, 20, 30, 500].map(|at| request(at, 0)).to_vec();
    let mut drive = Drive::default();
    drive.run(&mut arbiter, &requests, 4);
    assert_eq!(drive.begun, [(0, 10, 10), (1, 20, 110), (2, 30, 210), (3, 500, 500)]);
    arbiter.pass(4);
    arbiter.reset_counters();
    let mut again = Drive::default();
    assert_eq!(again.run(&mut arbiter, &requests, 4).begun, drive.begun);
}

#[test]
fn queues_take_turns_and_requests_overtake() {
    // Three requests of the first host, then two of the second.
    let mut arbiter = Arbiter::new(2, 4, Arrivals::Open, Dispatch::Serial, 100);
    let requests: Vec<_> = [0, 0, 0, 50, 50].map(|offset| request(5, offset)).to_vec();
    let turns = Drive::default().run(&mut arbiter, &requests, 5).turns();
    assert_eq!(turns, [(0, 5), (3, 105), (1, 205), (4, 305), (2, 405)]);
}

#[test]
fn each_queue_has_its_own_places() {
    // Parallel, with one slot for each host: the second request of the first host waits, the
    // request of the other host does not.
    let mut arbiter = Arbiter::new(2, 1, Arrivals::Open, Dispatch::Parallel, 100);
    let requests = [request(1, 0), request(2, 0), request(3, 60)];
    let mut drive = Drive::default();
    // The window covers two requests: the third is visible once the first has been passed.
    assert_eq!(drive.run(&mut arbiter, &requests, 1).turns(), [(0, 1)]);
    arbiter.pass(1);
    drive.begun.clear();
    assert_eq!(drive.run(&mut arbiter, &requests[1..], 2).turns(), [(1, 3), (0, 101)]);
}

#[test]
fn the_drive_sees_waiting_requests() {
    let mut arbiter = Arbiter::new(1, 3, Arrivals::Open, Dispatch::Serial, 100);
    let requests: Vec<_> = [10, 20, 30, 40, 400].map(|at| request(at, 0)).to_vec();
    let mut drive = Drive::default();
    drive.run(&mut arbiter, &requests, 5);
    // The commands begin at 10, 110, 210, 310 and 410. One of the three slots belongs to the
    // command that has begun.
    assert_eq!(drive.entered, [vec![0], vec![1, 2, 3], vec![], vec![], vec![4]]);
}

/// A host that waits for a slot sends its next command when a command is complete, no matter how
/// long the new command then waits in the queue.
#[test]
fn a_closed_queue_is_always_full() {
    let mut arbiter = Arbiter::new(1, 3, Arrivals::Closed, Dispatch::Serial, 100);
    let requests = [request(0, 0); 6];
    let mut drive = Drive::default();
    drive.run(&mut arbiter, &requests, 6);
    let [first, second, third] = [(0, 0, 0), (1, 0, 100), (2, 0, 200)];
    assert_eq!(drive.begun[..3], [first, second, third]);
    assert_eq!(drive.begun[3..], [(3, 100, 300), (4, 200, 400), (5, 300, 500)]);
}

#[test]
fn a_request_that_overtakes_others_keeps_its_number() {
    let mut arbiter = Arbiter::new(2, 2, Arrivals::Closed, Dispatch::Parallel, 100);
    let requests = [0, 1, 60, 2, 61].map(|offset| request(0, offset));
    let mut begun = Vec::new();
    let mut first = 0;
    for count in [1, 1, 1, 2] {
        loop {
            match arbiter.next(&requests[first..], count, 0) {
                DriveStep::Begin(turn) => {
                    assert_eq!(turn.number, (first + turn.at) as u64);
                    begun.push(turn.number);
                }
                DriveStep::Wait(_) => arbiter.complete(0, 0),
                DriveStep::Done => break,
            }
        }
        arbiter.pass(count);
        first += count;
    }
    assert_eq!(begun, [0, 2, 1, 4, 3], "each host has half of the drive");
}
