//! The next operation of a die, and overlap: priority, suspension, cache register, page types.

use super::*;

fn read_first(starve_ns: u64) -> Schedule {
    Schedule { order: Order::ReadFirst { starve_ns }, ..Schedule::default() }
}

fn interrupted(starve_ns: u64, most: u32) -> Schedule {
    let suspend = Suspend { suspend_ns: 20, resume_ns: 5, most };
    Schedule { suspend: Some(suspend), ..read_first(starve_ns) }
}

fn cached(transfer_ns: u64) -> Drive {
    let schedule = Schedule { cache_register: true, ..Schedule::default() };
    scheduled(SERIAL, Timing { transfer_ns, ..TIMING }, schedule)
}

#[test]
fn reads_of_the_host_go_first_where_they_may() {
    let ends = |schedule: Schedule| {
        let mut drive = scheduled(SERIAL, TIMING, schedule);
        let programs = [0, 1].map(|page| drive.program(page, Cause::Host));
        let gc = drive.read(8, Cause::Gc);
        let read = drive.urgent(20);
        drive.times([programs[0], programs[1], gc, read])
    };
    let in_turn = [PROGRAM, 2 * PROGRAM, 2 * PROGRAM + READ, 2 * PROGRAM + 2 * READ];
    assert_eq!(ends(Schedule::default()), in_turn);
    let [first, second, gc, _] = in_turn.map(|end| end + READ);
    // A read of cleaning waits its turn.
    assert_eq!(ends(read_first(500)), [first, second, gc, READ]);
    // With all reads first, this read and the host's read take turns.
    let all = Schedule { order: Order::AllReadsFirst { starve_ns: 500 }, ..Schedule::default() };
    assert_eq!(ends(all), [first + READ, second + READ, READ, 2 * READ]);
}

#[test]
fn a_starved_operation_goes_before_younger_reads() {
    let ends = |starve_ns: u64| {
        let mut drive = scheduled(SERIAL, TIMING, read_first(starve_ns));
        drive.erase(7, Cause::Gc);
        let program = drive.at(1).program(0, Cause::Host);
        let reads = [50, 60].map(|at| drive.at(at).urgent(20));
        drive.times([program, reads[0], reads[1]])
    };
    // The program has waited for 1500 when the erase ends.
    let at_once = [ERASE + PROGRAM, ERASE + PROGRAM + READ, ERASE + PROGRAM + 2 * READ];
    assert_eq!(ends(1500), at_once);
    // With a limit above that, the program goes after one read; with a limit that it has not
    // reached by then, after both.
    let after_one = [ERASE + READ + PROGRAM, ERASE + READ, ERASE + 2 * READ + PROGRAM];
    assert_eq!(ends(1501), after_one);
    assert_eq!(ends(1500 + READ), after_one);
    let after_both = [ERASE + 2 * READ + PROGRAM, ERASE + READ, ERASE + 2 * READ];
    assert_eq!(ends(1501 + READ), after_both);
    // Older reads go before the program, no matter how long the program has waited.
    let mut drive = scheduled(SERIAL, TIMING, read_first(0));
    drive.erase(7, Cause::Gc);
    let read = drive.at(1).urgent(20);
    let program = drive.at(2).program(0, Cause::Host);
    assert_eq!(drive.times([read, program]), [ERASE + READ, ERASE + READ + PROGRAM]);
}

/// Nothing begins at the time up to which the clock plays, so a read that arrives then may go
/// first.
#[test]
fn arrivals_at_an_instant_are_queued_when_the_die_chooses() {
    let mut drive = scheduled(SERIAL, TIMING, read_first(10_000));
    drive.erase(7, Cause::Gc);
    let program = drive.program(0, Cause::Host);
    let read = drive.at(ERASE).urgent(20);
    assert_eq!(
        drive.end(read),
        reported(ERASE + READ, &[(Component::Bus, 11), (Component::Die, 25)])
    );
    let expected = [
        (Component::Gc, ERASE),
        (Component::Die, READ),
        (Component::Bus, 11),
        (Component::Die, 200),
    ];
    assert_eq!(drive.end(program), reported(ERASE + READ + PROGRAM, &expected));
}

#[test]
fn an_erase_is_interrupted_for_a_read() {
    let mut drive = scheduled(SERIAL, TIMING, interrupted(1000, 2));
    let erase = drive.erase(7, Cause::Gc);
    let read = drive.at(100).urgent(0);
    // The cells are free at 120.
    let expected = [(Component::Gc, 20), (Component::Bus, 11), (Component::Die, 25)];
    assert_eq!(drive.end(read), reported(120 + READ, &expected));
    // The erase resumes at 156, works from 161 on, and has 1401 to go.
    let expected = [(Component::Bus, 1), (Component::Gc, 1500 + 20 + 5), (Component::Die, READ)];
    assert_eq!(drive.end(erase), reported(161 + 1401, &expected));
}

#[test]
fn an_operation_is_interrupted_so_many_times() {
    let mut drive = scheduled(SERIAL, TIMING, interrupted(1000, 2));
    let erase = drive.erase(7, Cause::Gc);
    let reads = [100, 200, 400].map(|at| drive.at(at).urgent(0));
    let end = ERASE + 2 * (20 + READ + 5);
    assert_eq!(drive.times(reads), [120 + READ, 220 + READ, end + READ]);
    assert_eq!(drive.times([erase]), [end]);
    // A program is interrupted, too.
    let mut drive = scheduled(SERIAL, TIMING, interrupted(1000, 1));
    let program = drive.program(4, Cause::Host);
    let reads = [100, 200].map(|at| drive.at(at).urgent(0));
    let end = PROGRAM + 20 + READ + 5;
    assert_eq!(drive.times([program, reads[0], reads[1]]), [end, 120 + READ, end + READ]);
}

#[test]
fn an_operation_that_is_nearly_done_is_not_interrupted() {
    let ends = |at: u64| {
        let mut drive = scheduled(SERIAL, TIMING, interrupted(1000, 2));
        let erase = drive.erase(7, Cause::Gc);
        let read = drive.at(at).urgent(0);
        drive.times([erase, read])
    };
    assert_eq!(ends(1481), [ERASE, ERASE + READ]);
    assert_eq!(ends(1480), [1500 + READ + 5 + 21, 1500 + READ]);
}

#[test]
fn an_interrupted_operation_continues_before_it_starves() {
    let ends = |starve_ns: u64| {
        let mut drive = scheduled(SERIAL, TIMING, interrupted(starve_ns, 1));
        let erase = drive.erase(7, Cause::Gc);
        drive.at(100);
        let reads = [0, 1, 2].map(|page| drive.urgent(page));
        drive.times([erase, reads[0], reads[1], reads[2]])
    };
    // The erase is interrupted at 100; the reads end at 156, 192 and 228.
    let [first, second, third] = [1, 2, 3].map(|reads| 120 + reads * READ);
    assert_eq!(ends(129), [third + 5 + 1401, first, second, third]);
    let goes_on = second + 5 + 1401;
    assert_eq!(ends(92), [goes_on, first, second, goes_on + READ]);
}

/// The erase is not interrupted during its command cycles, but as soon as they are over.
#[test]
fn a_command_is_sent_before_it_is_interrupted() {
    let timing = Timing { command_ns: 50, ..TIMING };
    let mut drive = scheduled(SERIAL, timing, interrupted(1000, 1));
    let erase = drive.erase(7, Cause::Gc);
    let read = drive.at(20).urgent(0);
    let expected = [(Component::Gc, 30 + 20), (Component::Bus, 60), (Component::Die, 25)];
    assert_eq!(drive.end(read), reported(70 + 85, &expected));
    assert_eq!(drive.times([erase]), [155 + 5 + 1500]);
}

#[test]
fn with_a_cache_register_the_cells_read_while_a_page_is_transferred() {
    let mut drive = cached(10);
    let reads = [0, 1, 2].map(|page| drive.read(page, Cause::Host));
    let own = [(Component::Bus, 11), (Component::Die, 25)];
    let after = |wait: u64| reported(wait + READ, &[&[(Component::Die, wait)], &own[..]].concat());
    assert_eq!(drive.ends(reads), [after(0), after(26), after(52)]);
    // The register is occupied until 66: the page that was read by 52 stays in the cells.
    let mut drive = cached(40);
    let reads = [0, 1, 2].map(|page| drive.read(page, Cause::Host));
    let waits = |wait: u64| [(Component::Die, wait + 25), (Component::Bus, 1 + 14 + 40)];
    let first = reported(66, &[(Component::Die, 25), (Component::Bus, 41)]);
    assert_eq!(drive.ends(reads), [first, reported(106, &waits(26)), reported(146, &waits(66))]);
}

#[test]
fn with_a_cache_register_the_next_page_is_loaded_while_the_cells_program() {
    let mut drive = cached(10);
    let programs = [0, 1, 2].map(|page| drive.program(page, Cause::Host));
    let [first, second, third] = drive.ends(programs);
    assert_eq!(first, reported(211, &[(Component::Bus, 11), (Component::Die, 200)]));
    // The second program waits for the die until 11, and in the register from 22 to 211.
    assert_eq!(second, reported(411, &[(Component::Die, 11 + 189 + 200), (Component::Bus, 11)]));
    let expected = [(Component::Die, 211 + 189 + 200), (Component::Bus, 11)];
    assert_eq!(third, reported(611, &expected));
}

#[test]
fn an_operation_in_the_register_goes_before_all_others() {
    let mut drive = cached(10);
    drive.erase(7, Cause::Gc);
    let program = drive.at(100).program(0, Cause::Host);
    let read = drive.at(105).read(20, Cause::Host);
    // The program is in the register from 111 on.
    let expected = [(Component::Bus, 11), (Component::Gc, ERASE - 111), (Component::Die, 200)];
    assert_eq!(drive.end(program), reported(ERASE + 200, &expected));
    let expected = [
        (Component::Gc, ERASE - 105),
        (Component::Die, 200),
        (Component::Bus, 11),
        (Component::Die, 25),
    ];
    assert_eq!(drive.end(read), reported(ERASE + 200 + READ, &expected));
}

/// During the transfer of a page that was read, an erase may begin, but a program may not.
#[test]
fn a_program_needs_the_register() {
    let mut drive = cached(10);
    let (read, erase) = (drive.read(0, Cause::Host), drive.erase(7, Cause::Gc));
    assert_eq!(drive.times([read, erase]), [READ, 26 + ERASE]);
    let mut drive = cached(10);
    let (read, program) = (drive.read(0, Cause::Host), drive.program(4, Cause::Host));
    assert_eq!(drive.times([read, program]), [READ, READ + PROGRAM]);
}

/// While a program is in the register, the erase in the cells must not be interrupted.
#[test]
fn nothing_is_interrupted_while_the_register_is_taken() {
    let schedule = Schedule { cache_register: true, ..interrupted(10_000, 9) };
    let mut drive = scheduled(SERIAL, TIMING, schedule);
    drive.erase(7, Cause::Gc);
    let program = drive.at(100).program(0, Cause::Host);
    let read = drive.at(200).urgent(20);
    // The program itself is then interrupted at once.
    let free = ERASE + 20;
    // The cells resume while the page that was read is transferred.
    let expected = [free + 26 + 5 + 200, free + READ];
    assert_eq!(drive.times([program, read]), expected);
}

#[test]
fn pages_of_a_type_have_their_own_times() {
    let pages = PageTimes { types: 2, read_ns: [10, 40, 0, 0], program_ns: [100, 300, 0, 0] };
    let schedule = Schedule { pages: Some(pages), ..Schedule::default() };
    let mut drive = scheduled(SERIAL, TIMING, schedule);
    let programs = [0, 1, 2].map(|page| drive.program(page, Cause::Host));
    assert_eq!(drive.times(programs), [111, 111 + 311, 111 + 311 + 111]);
    let reads = [4, 5, 6].map(|page| drive.read(page, Cause::Host));
    let erase = drive.erase(7, Cause::Gc);
    assert_eq!(drive.times(reads), [21, 21 + 51, 21 + 51 + 21].map(|ns| 533 + ns));
    assert_eq!(drive.times([erase]), [533 + 93 + ERASE], "erases are all alike");
}
