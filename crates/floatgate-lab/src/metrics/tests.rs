//! Percentiles compared with ranks, and intervals with sums.

use std::ops::Range;

use floatgate_ftl::counters::CAUSES;
use floatgate_ftl::nand::Blame;

use super::*;

/// Makes latencies that differ by more than the histogram's precision, and a function that gives
/// the latency at each rank from 1. A percentile at a wrong rank makes a test fail.
fn spread(count: u64) -> (Latencies, impl Fn(u64) -> f64) {
    let ns = |rank: u64| (1000.0 * 1.0025f64.powi(rank as i32)) as u64;
    let mut latencies = Latencies::default();
    (1..=count).rev().for_each(|rank| latencies.record(ns(rank)));
    (latencies, move |rank| ns(rank) as f64 / 1000.0)
}

fn is_near(given: f64, exact: f64) -> bool {
    (exact..=exact * 1.001).contains(&given)
}

#[test]
fn a_percentile_is_of_the_nearest_rank() {
    let (latencies, at) = spread(10_001);
    let summary = latencies.summary();
    // With 10,001 requests: the lowest rank that covers p percent of them.
    for (given, rank) in [
        (summary.p50_us, 5001),
        (summary.p95_us, 9501),
        (summary.p99_us, 9901),
        (summary.p999_us, 9991),
        (summary.p9999_us, 10_000),
        (summary.max_us, 10_001),
    ] {
        assert!(is_near(given.unwrap(), at(rank)), "{given:?} at {rank}: {}", at(rank));
    }
    assert_eq!(summary.requests, 10_001);
}

#[test]
fn the_distribution_goes_as_far_as_the_requests() {
    let hundredths = || (1..=99).map(|p| f64::from(p) / 100.0);
    let thousandths = || (991..=999).map(|p| f64::from(p) / 1000.0);
    let points = |count| spread(count).0.summary().cdf;
    for (count, beyond) in [
        (1, vec![]),
        (1111, vec![]),
        (1112, vec![0.9991]),
        (1250, vec![0.9991, 0.9992]),
        (9999, vec![0.9991, 0.9992, 0.9993, 0.9994, 0.9995, 0.9996, 0.9997, 0.9998]),
    ] {
        let fractions: Vec<f64> = points(count).into_iter().map(|(_, q)| q).collect();
        let expected = hundredths().chain(thousandths()).chain(beyond).chain([1.0]);
        assert!(fractions.iter().copied().eq(expected), "{count}: {fractions:?}");
    }
    let fractions = |count| points(count).into_iter().skip(108).map(|(_, q)| q);
    let fine = [0.9991, 0.9992, 0.9993, 0.9994, 0.9995, 0.9996, 0.9997, 0.9998, 0.9999];
    assert!(fractions(11_112).eq(fine.into_iter().chain([0.999_91, 1.0])));
    assert!(fractions(12_500).eq(fine.into_iter().chain([0.999_91, 0.999_92, 1.0])));
}

#[test]
fn every_point_of_the_distribution_is_of_its_rank() {
    let (latencies, at) = spread(12_500);
    for (latency, fraction) in latencies.summary().cdf {
        let rank = (fraction * 12_500.0 - 1e-6).ceil() as u64;
        assert!(is_near(latency, at(rank)), "{latency} at {fraction}: {}", at(rank));
    }
}

#[test]
fn mean_and_deviation_are_exact() {
    let mut latencies = Latencies::default();
    [1000, 2000, 3000, 6000].into_iter().for_each(|ns| latencies.record(ns));
    let summary = latencies.summary();
    assert_eq!(summary.mean_us, Some(3.0));
    assert_eq!(summary.stdev_us, Some(3.5f64.sqrt()));
    assert_eq!(summary.max_us.map(f64::round), Some(6.0));
    assert!(summary.cdf.is_sorted());
}

/// The stated maximum memory of `latency.distribution = "full"` depends on this number.
#[test]
fn a_histogram_of_any_times_has_56320_counts() {
    let mut latencies = Latencies::default();
    latencies.record(u64::MAX);
    assert_eq!(latencies.histogram.distinct_values(), 56_320);
}

#[test]
fn without_requests_metrics_are_empty() {
    let none = Latencies::default().summary();
    let figures = [none.mean_us, none.stdev_us, none.p50_us, none.p95_us, none.p99_us];
    assert_eq!(figures, [None; 5]);
    assert_eq!([none.p999_us, none.p9999_us, none.max_us], [None; 3]);
    assert_eq!((none.requests, none.cdf.len()), (0, 0));
}

/// Makes a request, and its completion after the components of `blame`, in nanoseconds.
fn served(
    op: Op,
    bytes: Range<u64>,
    arrival_ns: u64,
    blame: [u64; COMPONENTS],
) -> (Request, Completion) {
    let length = bytes.end - bytes.start;
    let request = Request { at_ns: arrival_ns, op, offset: bytes.start, length, stream: 0 };
    let done_ns = arrival_ns + blame.iter().sum::<u64>();
    (request, Completion { arrival_ns, done_ns, blame: Blame(blame) })
}

fn record(metrics: &mut Metrics, served: &[(Request, Completion)]) {
    served.iter().for_each(|(request, completion)| metrics.record(request, completion));
}

#[test]
fn requests_are_taken_in_by_kind() {
    let mut metrics = Metrics::new(100, 9, true);
    record(
        &mut metrics,
        &[
            served(Op::Read, 0..512, 700, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
            served(Op::Write, 1000..1100, 500, [1000, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            served(Op::Write, 1024..3072, 800, [0, 10, 0, 10, 0, 10, 0, 10, 0, 10]),
            served(Op::Trim, 9000..20_000, 400, [500, 500, 500, 500, 0, 0, 0, 0, 0, 0]),
            served(Op::Flush, 0..0, 900, [4000, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ],
    );
    // A read of a written page, and a read of a page beyond a whole word of pages.
    record(&mut metrics, &[served(Op::Read, 600..1100, 4850, [0; COMPONENTS])]);
    record(&mut metrics, &[served(Op::Read, 64 * 512..64 * 512 + 1, 4850, [0; COMPONENTS])]);
    metrics.end_interval(Counters::default());
    let counts = [&metrics.all, &metrics.read, &metrics.write].map(Latencies::count);
    assert_eq!(counts, [5, 3, 2]);
    assert_eq!(metrics.blame_ns, [1001, 12, 3, 14, 5, 16, 7, 18, 9, 20]);
    assert_eq!(metrics.span_ns, Some((400, 4900)), "trims and flushes are of the run, too");
    // Touched pages: 0; 1 and 2; 2 to 5; 1 and 2; 64.
    assert_eq!(metrics.footprint_pages(), 7);
    assert_eq!(metrics.read.summary().mean_us, Some(55.0 / 3.0 / 1000.0));
    assert_eq!(metrics.write.summary().mean_us, Some(0.525));
    assert_eq!(metrics.all.summary().mean_us, Some((55.0 + 1000.0 + 50.0) / 5.0 / 1000.0));
}

#[test]
fn a_request_touches_all_its_pages_across_words() {
    for (first, past) in [(0, 64), (63, 64), (63, 65), (64, 128), (10, 200), (127, 300), (5, 5)] {
        let mut metrics = Metrics::new(300, 9, false);
        record(&mut metrics, &[served(Op::Write, first * 512..past * 512, 0, [0; COMPONENTS])]);
        let touched = |page: u64| metrics.touched.bits[(page >> 6) as usize] >> (page & 63) & 1;
        let expected = (0..300).map(|page| u64::from((first..past).contains(&page)));
        assert!((0..300).map(touched).eq(expected), "{first}..{past}");
    }
}

#[test]
#[should_panic(expected = "blame explains the latency")]
fn blame_that_does_not_explain_the_latency_is_a_bug() {
    let (request, completion) = served(Op::Read, 0..512, 0, [5; COMPONENTS]);
    let late = Completion { done_ns: completion.done_ns + 1, ..completion };
    Metrics::new(100, 9, true).record(&request, &late);
}

/// Makes counters of a drive with pages of 512 bytes. The host wrote `host` half pages. Hits,
/// misses, and programs by cause are given.
fn counters(host: u64, [hits, misses]: [u64; 2], programs: [u64; CAUSES]) -> Counters {
    let mut counters = Counters::default();
    (counters.host.write_pages, counters.host.write_bytes) = (host, host * 256);
    (counters.map.hits, counters.map.misses) = (hits, misses);
    counters.flash.programs = programs;
    counters
}

#[test]
fn an_interval_counts_since_the_previous_interval() {
    let mut metrics = Metrics::new(100, 9, true);
    let of =
        |at: u64, latency: u64| served(Op::Read, 0..512, at, [latency, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    record(&mut metrics, &[of(500, 1000), of(0, 3000)]);
    metrics.end_interval(counters(10, [3, 1], [10, 1, 2, 4, 8, 16, 32, 64, 128, 0, 4, 0]));
    record(&mut metrics, &[served(Op::Trim, 0..512, 7000, [2000, 0, 0, 0, 0, 0, 0, 0, 0, 0])]);
    metrics.end_interval(counters(10, [3, 1], [10, 1, 2, 4, 8, 16, 32, 64, 128, 0, 4, 0]));
    record(&mut metrics, &[of(8000, 5000)]);
    let write = served(Op::Write, 0..512, 8000, [7000, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    record(&mut metrics, &[write, of(8000, 6000)]);
    metrics.end_interval(counters(14, [4, 10], [14, 3, 5, 9, 17, 33, 65, 129, 257, 0, 9, 0]));
    let Timeline {
        host_pages,
        host_bytes,
        seconds,
        write_amplification,
        page_write_amplification,
        hit_ratio,
        write_mb_s,
        mean_us,
        p50_us,
        p99_us,
        p999_us,
        max_us,
        gc_programs,
        map_programs,
        merge_programs,
        fold_programs,
    } = &metrics.timeline;
    assert_eq!(host_pages, &[10, 10, 14]);
    assert_eq!(host_bytes, &[2560, 2560, 3584]);
    assert_eq!(seconds, &[3e-6, 9e-6, 15e-6].map(Some));
    let each = [4, 2, 3, 5, 9, 17, 33, 65, 129, 5].iter().sum::<u64>() as f64 / 4.0;
    assert_eq!(page_write_amplification, &[Some(26.9), None, Some(each)]);
    assert_eq!(write_amplification, &[Some(53.8), None, Some(2.0 * each)]);
    assert_eq!(hit_ratio, &[Some(0.75), None, Some(0.1)]);
    assert_eq!(mean_us, &[Some(2.0), None, Some(6.0)]);
    let rounded = |of: &[Option<f64>]| of.iter().map(|us| us.map(f64::round)).collect::<Vec<_>>();
    assert_eq!(rounded(p50_us), [Some(1.0), None, Some(6.0)]);
    for tail in [p99_us, p999_us, max_us] {
        assert_eq!(rounded(tail), [Some(3.0), None, Some(7.0)]);
    }
    assert_eq!(gc_programs, &[2, 0, 3]);
    assert_eq!(map_programs, &[1 + 4 + 32 + 64, 0, 2 + 5 + 33 + 65]);
    assert_eq!(merge_programs, &[8, 0, 9]);
    assert_eq!(fold_programs, &[4, 0, 5]);
    // Half pages of 512-byte pages: ten from 0 to 3 us, none, and four from 9 to 15 us.
    let rates: Vec<_> = write_mb_s.iter().map(|rate| rate.map(f64::round)).collect();
    assert_eq!(
        rates,
        [Some((2560.0_f64 / 3.0).round()), Some(0.0), Some((1024.0_f64 / 6.0).round())]
    );
    let summary = metrics.all.summary();
    assert_eq!((summary.requests, summary.mean_us), (5, Some(22.0 / 5.0)));
    assert_eq!(summary.max_us.map(f64::round), Some(7.0));
}

#[test]
fn percentiles_of_an_interval_are_given_only_where_resolved() {
    let mut metrics = Metrics::new(100, 9, true);
    let ns = |rank: u64| (1000.0 * 1.0025f64.powi(rank as i32)) as u64;
    for rank in 1..=2000 {
        let blame = [ns(rank), 0, 0, 0, 0, 0, 0, 0, 0, 0];
        record(&mut metrics, &[served(Op::Write, 0..512, 0, blame)]);
    }
    metrics.end_interval(Counters::default());
    let Timeline { p50_us, p99_us, p999_us, max_us, .. } = &metrics.timeline;
    for (given, rank) in [(p50_us, 1000), (p99_us, 1980), (p999_us, 1998), (max_us, 2000)] {
        assert!(is_near(given[0].unwrap(), ns(rank) as f64 / 1000.0), "{given:?} at {rank}");
    }
}
