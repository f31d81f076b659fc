//! Which node waits for which: chains, hazards, servers, joins; and the memory of the graph.

use super::*;
use crate::nand::Server;

impl Drive {
    /// Returns a chain that ends after a delay of `ns`.
    fn delayed(&mut self, ns: u64) -> Chain {
        let mut chain = Chain::START;
        self.clock().delay(&mut chain, ns, Component::Buffer);
        chain
    }
}

#[test]
fn a_page_is_read_after_it_was_programmed() {
    let mut drive = drive(SERIAL);
    drive.erase(7, Cause::Merge);
    drive.program(0, Cause::Gc);
    let [same, other] = [0, 1].map(|page| drive.read(page, Cause::Host));
    // A page that is already programmed only waits for the die.
    let waits = [(Component::Merge, ERASE), (Component::Gc, PROGRAM)];
    let own = [(Component::Bus, 11), (Component::Die, 25)];
    let programmed = ERASE + PROGRAM;
    assert_eq!(drive.end(other), reported(programmed + READ, &[waits, own].concat()));
    // The other page waits for its program, and only then enters the queue of the die.
    let waits = [&waits[..], &[(Component::Die, READ)], &own].concat();
    assert_eq!(drive.end(same), reported(programmed + 2 * READ, &waits));
}

#[test]
fn pages_of_a_unit_are_programmed_in_the_order_in_which_they_were_issued() {
    let mut drive = drive(SERIAL);
    let mut late = drive.delayed(500);
    drive.program_in(0, Cause::Gc, &mut late);
    let late = drive.watch(late);
    let next = drive.program(1, Cause::Host);
    let erased = drive.erase(0, Cause::Gc);
    // A program of another unit does not wait.
    let other = drive.program(4, Cause::Host);
    assert_eq!(drive.times([other, late]), [PROGRAM, 500 + PROGRAM]);
    // Until 500 the page before it blocked the program, so the wait counts as that page's delay. At
    // first the die was busy.
    let waits =
        [(Component::Die, PROGRAM), (Component::Buffer, 500 - PROGRAM), (Component::Gc, PROGRAM)];
    let expected = [&waits[..], &[(Component::Bus, 11), (Component::Die, 200)]].concat();
    assert_eq!(drive.end(next), reported(500 + 2 * PROGRAM, &expected));
    let waits = [(Component::Die, 500), (Component::Gc, PROGRAM), (Component::Die, PROGRAM)];
    let expected = [&waits[..], &[(Component::Bus, 1), (Component::Gc, 1500)]].concat();
    assert_eq!(drive.end(erased), reported(500 + 2 * PROGRAM + ERASE, &expected));
}

/// An erase on any die of the unit must wait for all reads of the unit, whatever die they read.
#[test]
fn a_unit_is_erased_after_earlier_reads() {
    let mut drive = drive(WIDE);
    let mut late = drive.delayed(500);
    drive.read_in(6, Cause::Host, &mut late);
    let late = drive.watch(late);
    let erased = drive.erase(0, Cause::Gc);
    // Later reads of the unit do not delay the erase.
    let mut later = drive.delayed(5000);
    drive.read_in(6, Cause::Host, &mut later);
    let later = drive.watch(later);
    let other = drive.erase(1, Cause::Gc);
    assert_eq!(drive.times([late, other]), [ERASE + READ, ERASE]);
    let expected = [
        (Component::Gc, ERASE),
        (Component::Die, READ),
        (Component::Bus, 1),
        (Component::Gc, 1500),
    ];
    assert_eq!(drive.end(erased), reported(2 * ERASE + READ, &expected));
    assert_eq!(drive.times([later]), [5000 + READ]);
    assert_eq!(drive.nand.counters().occupation.busy_ns, 8 * ERASE + 2 * READ);
}

#[test]
fn operations_of_a_cause_that_is_free_take_no_time() {
    let mut drive = drive(SERIAL);
    drive.nand = drive.nand.with_free(&[Cause::Gc, Cause::Wear]);
    let mut chain = Chain::START;
    drive.copy_in(&[(0, 4)], Cause::Gc, &mut chain);
    drive.erase_in(0, Cause::Wear, &mut chain);
    assert_eq!(chain, Chain::START);
    let program = drive.program(0, Cause::Host);
    assert_eq!(
        drive.end(program),
        reported(PROGRAM, &[(Component::Bus, 11), (Component::Die, 200)])
    );
    let flash = drive.nand.counters().flash;
    assert_eq!((flash.programs[Cause::Gc as usize], flash.erases[Cause::Wear as usize]), (1, 1));
}

#[test]
fn a_delay_is_of_one_part() {
    let mut drive = drive(SERIAL);
    let mut chain = drive.delayed(500);
    drive.program_in(0, Cause::Host, &mut chain);
    drive.clock().delay(&mut chain, 7, Component::Queue);
    let end = drive.watch(chain);
    let expected = [
        (Component::Buffer, 500),
        (Component::Bus, 11),
        (Component::Die, 200),
        (Component::Queue, 7),
    ];
    assert_eq!(drive.end(end), reported(500 + PROGRAM + 7, &expected));
    let mut chain = Chain::START;
    drive.clock().delay(&mut chain, 0, Component::Queue);
    assert_eq!(chain, Chain::START, "no time is no work");
}

#[test]
fn a_server_takes_one_after_the_other() {
    for (server, component) in [
        (Server::Commands, Component::Queue),
        (Server::Cores, Component::Controller),
        (Server::LinkIn, Component::Link),
        (Server::LinkOut, Component::Link),
    ] {
        let mut drive = drive(SERIAL);
        // The second chain comes at 50; the third has nothing to wait for.
        let served = [0, 50, 3000].map(|at| {
            let mut chain = Chain::START;
            drive.at(at).clock().serve(&mut chain, server, 700, 1000);
            drive.watch(chain)
        });
        let expected = [
            reported(700, &[(component, 700)]),
            reported(1700, &[(component, 950 + 700)]),
            reported(3700, &[(component, 700)]),
        ];
        assert_eq!(drive.ends(served), expected, "{server:?}");
    }
}

#[test]
fn a_server_takes_them_in_the_order_in_which_they_come() {
    let mut drive = drive(SERIAL);
    let served = [30, 20, 20].map(|delay| {
        let mut chain = drive.delayed(delay);
        drive.clock().serve(&mut chain, Server::Commands, 100, 100);
        drive.watch(chain)
    });
    assert_eq!(drive.times(served), [320, 120, 220]);
}

#[test]
fn of_chains_that_are_joined_the_last_to_end_counts() {
    for (delays, component) in [
        ([10, 30, 20], Component::Gc),
        ([30, 10, 20], Component::Map),
        ([10, 20, 30], Component::Link),
        // Of equals, the chain that was made last counts.
        ([30, 30, 30], Component::Link),
        ([30, 30, 20], Component::Gc),
    ] {
        let mut drive = drive(SERIAL);
        let mut fork = Fork::new(Chain::START);
        for (ns, component) in
            delays.into_iter().zip([Component::Map, Component::Gc, Component::Link])
        {
            let mut branch = fork.branch();
            drive.clock().delay(&mut branch, ns, component);
            fork.join(branch, drive.clock());
            // A branch without work changes nothing.
            fork.join(fork.branch(), drive.clock());
        }
        let end = drive.watch(fork.end());
        assert_eq!(drive.end(end), reported(30, &[(component, 30)]), "{delays:?}");
    }
    assert_eq!(Fork::new(Chain::START).end(), Chain::START);
}

/// In detail the wait is a merge, a command and cleaning.
#[test]
fn a_wait_for_whole_work_has_one_component() {
    let mut drive = drive(SERIAL);
    drive.erase(1, Cause::Merge);
    let mut chain = drive.delayed(100);
    let mut work = chain.work();
    drive.erase_in(0, Cause::Gc, &mut work);
    drive.clock().wait(&mut chain, work, Component::Gc);
    drive.program_in(0, Cause::Host, &mut chain);
    let end = drive.watch(chain);
    let waits = [(Component::Buffer, 100), (Component::Gc, 2 * ERASE - 100)];
    let own = [(Component::Bus, 11), (Component::Die, 200)];
    assert_eq!(drive.end(end), reported(2 * ERASE + PROGRAM, &[waits, own].concat()));
}

#[test]
fn a_chain_that_starts_after_the_work_does_not_wait() {
    let mut drive = drive(SERIAL);
    let mut work = Chain::START.work();
    drive.erase_in(0, Cause::Gc, &mut work);
    let mut chain = drive.delayed(5000);
    drive.clock().wait(&mut chain, work, Component::Gc);
    let end = drive.watch(chain);
    assert_eq!(drive.end(end), reported(5000, &[(Component::Buffer, 5000)]));
    // Neither work that has ended nor empty work makes the chain wait.
    for work in [work, Chain::START] {
        let mut chain = Chain::START;
        drive.clock().wait(&mut chain, work, Component::Gc);
        assert_eq!(chain, Chain::START);
    }
}

/// The account of the chain begins anew, as for a chain without work.
#[test]
fn a_chain_without_live_work_continues_at_once() {
    let mut drive = drive(SERIAL);
    let mut chain = Chain::START;
    drive.program_in(0, Cause::Host, &mut chain);
    assert!(drive.clock().is_live(chain));
    assert!(!drive.at(PROGRAM).clock().is_live(chain), "what ends then has ended");
    let late = drive.at(300).watch(chain);
    assert_eq!(drive.end(late), reported(300, &[]));
    drive.read_in(0, Cause::Host, &mut chain);
    let read = drive.watch(chain);
    assert_eq!(
        drive.end(read),
        reported(300 + READ, &[(Component::Bus, 11), (Component::Die, 25)])
    );
}

#[test]
fn time_passes_until_a_chain_ends_or_a_given_time() {
    let mut drive = drive(SERIAL);
    let mut chain = Chain::START;
    drive.erase_in(0, Cause::Gc, &mut chain);
    let behind = drive.program(0, Cause::Host);
    let clock = drive.clock();
    assert_eq!((clock.play(700), clock.now()), (false, 700));
    clock.play_chain(chain, 1000);
    assert_eq!(clock.now(), 1000);
    clock.play_chain(chain, 5000);
    assert_eq!(clock.now(), ERASE, "it has ended, though nobody watches");
    assert_eq!((clock.play(5000), clock.now()), (true, ERASE + PROGRAM));
    assert_eq!(
        (clock.play(5000), clock.now()),
        (true, ERASE + PROGRAM),
        "one end is still to be reported"
    );
    let ended = clock.ended().unwrap();
    assert_eq!((ended.ticket, clock.ended()), (behind, None));
    assert_eq!((clock.play(5000), clock.now()), (false, 5000));
    assert_eq!((clock.play(u64::MAX), clock.now()), (false, 5000), "nothing is left");
}

/// The memory holds only outstanding work, and there is none when all chains have ended.
#[test]
fn complete_nodes_are_forgotten() {
    let mut drive = drive(WIDE);
    for _ in 0..1000 {
        let mut fork = Fork::new(Chain::new(true));
        for page in 0..8 {
            let mut branch = fork.branch();
            drive.clock().serve(&mut branch, Server::Commands, 3, 5);
            drive.program_in(page, Cause::Host, &mut branch);
            drive.read_in(page, Cause::Host, &mut branch);
            fork.join(branch, drive.clock());
        }
        let mut chain = fork.end();
        let mut work = chain.work();
        drive.copy_in(&[(0, 32), (1, 33), (5, 37)], Cause::Gc, &mut work);
        drive.erase_in(0, Cause::Gc, &mut work);
        drive.clock().wait(&mut chain, work, Component::Gc);
        // 8 pages with 3 nodes each, the join, 3 reads and 2 programs of the copy with a join each,
        // 4 erases, their join, the node that waits for the reads, and the wait. Two of the pages
        // are programmed together, and read one by one, because they may still be programmed.
        let all = 8 * 3 + 1 + (3 + 1) + (2 + 1) + 4 + 1 + 1 + 1;
        assert_eq!(drive.nand.outstanding(), all);
        let (node, _) = chain.node().unwrap();
        assert!((node as usize) < all, "places are used again");
        let end = drive.watch(chain);
        drive.end(end);
        assert_eq!(drive.nand.outstanding(), 0);
        drive.ended.clear();
    }
}

/// The chains before two programs of a unit end at the same instant, in either order. The younger
/// program then enters the queue of the die, and its chain keeps the core until the program is
/// complete.
#[test]
fn an_operation_blocked_for_no_time_keeps_its_core() {
    let controller = Controller { task_ns: [7, 50, 0, 0], blocking: true, ..Controller::default() };
    let schedule = Schedule { controller, ..Schedule::default() };
    let mut drive = scheduled(SERIAL, TIMING, schedule);
    let mut first = drive.delayed(50);
    drive.program_in(0, Cause::Host, &mut first);
    let mut second = Chain::START;
    let holds = drive.clock().begin_task(&mut second, Task::Translate);
    drive.program_in(1, Cause::Host, &mut second);
    drive.clock().end_task(&mut second, holds);
    let mut third = Chain::START;
    drive.clock().begin_task(&mut third, Task::Command);
    let watched = [first, second, third].map(|chain| drive.watch(chain));
    assert_eq!(drive.times(watched), [50 + PROGRAM, 50 + 2 * PROGRAM, 57 + 2 * PROGRAM]);
}
