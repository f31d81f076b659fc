use super::*;
use crate::nand::Blame;
use crate::request::Op;

fn request(at_ns: u64, offset: u64) -> Request {
    Request { at_ns, op: Op::Write, offset, length: 1 }
}

/// Serves requests that take 100 each, one turn at a time; who, from when on, and what entered.
fn serve(arbiter: &mut Arbiter, requests: &[Request], count: usize) -> Vec<(usize, u64)> {
    let mut turns = vec![];
    while let Some(turn) = arbiter.next(requests, count) {
        let (arrival_ns, done_ns) = (turn.arrival, turn.begin + 100);
        arbiter.complete(&turn, Completion { arrival_ns, done_ns, blame: Blame::default() });
        turns.push((turn.at, turn.begin));
    }
    turns
}

#[test]
fn one_serial_queue_is_first_come_first_served() {
    let mut arbiter = Arbiter::new(1, 2, Arrivals::Open, Dispatch::Serial, 100);
    let requests: Vec<_> = [10, 20, 30, 500].map(|at| request(at, 0)).to_vec();
    assert_eq!(serve(&mut arbiter, &requests, 4), [(0, 10), (1, 110), (2, 210), (3, 500)]);
    let mut done = vec![];
    arbiter.take(4, &mut done);
    assert_eq!(done.iter().map(|c| c.arrival_ns).collect::<Vec<_>>(), [10, 20, 30, 500]);
    assert_eq!(arbiter.drained(), 600);
    arbiter.reset_counters();
    assert_eq!(arbiter.drained(), 0);
}

#[test]
fn queues_take_turns_and_requests_overtake() {
    // Three requests of the first host, then two of the second.
    let mut arbiter = Arbiter::new(2, 4, Arrivals::Open, Dispatch::Serial, 100);
    let requests: Vec<_> = [0, 0, 0, 50, 50].map(|offset| request(5, offset)).to_vec();
    let turns = serve(&mut arbiter, &requests, 5);
    assert_eq!(turns, [(0, 5), (3, 105), (1, 205), (4, 305), (2, 405)]);
    let mut done = vec![];
    arbiter.take(5, &mut done);
    let done: Vec<u64> = done.iter().map(|completion| completion.done_ns).collect();
    assert_eq!(done, [105, 305, 505, 205, 405], "in the order of the requests");
}

#[test]
fn each_queue_has_its_own_places() {
    // Parallel, one place each: the first host's second request waits, the other host's does not.
    let mut arbiter = Arbiter::new(2, 1, Arrivals::Open, Dispatch::Parallel, 100);
    let requests = [request(1, 0), request(2, 0), request(3, 60)];
    // The window is two requests: the third is seen when the first is taken.
    assert_eq!(serve(&mut arbiter, &requests, 1), [(0, 1)]);
    arbiter.take(1, &mut vec![]);
    assert_eq!(serve(&mut arbiter, &requests[1..], 2), [(1, 3), (0, 101)]);
}

#[test]
fn the_drive_sees_what_waits() {
    let mut arbiter = Arbiter::new(1, 3, Arrivals::Open, Dispatch::Serial, 100);
    let requests: Vec<_> = [10, 20, 30, 40, 400].map(|at| request(at, 0)).to_vec();
    let entered: Vec<Vec<usize>> = (0..5)
        .map(|_| {
            let turn = arbiter.next(&requests, 5).expect("not all are done");
            let entered = arbiter.entered().to_vec();
            let done_ns = turn.begin + 100;
            let completion = Completion { arrival_ns: turn.arrival, done_ns, ..Default::default() };
            arbiter.complete(&turn, completion);
            entered
        })
        .collect();
    // Begun at 10, 110, 210, 310 and 410; three places, one of them that of the command begun.
    assert_eq!(entered, [vec![0], vec![1, 2, 3], vec![], vec![], vec![4]]);
}
