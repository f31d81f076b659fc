//! Latencies at full resolution compared with the list of all latencies.

use floatgate_ftl::nand::Component;
use floatgate_ftl::request::Op;
use serde_json::Value;

use super::case::Case;
use super::check::{assert_close, number};

const OPERATIONS: [(&str, &[Op]); 3] =
    [("all", &[Op::Read, Op::Write]), ("read", &[Op::Read]), ("write", &[Op::Write])];

/// Returns the components of the latency of each request of these operations.
fn components(case: &Case, ops: &[Op]) -> Vec<Vec<u64>> {
    let served = case.requests.iter().zip(&case.played.done);
    let served = served.filter(|(request, _)| ops.contains(&request.op));
    served.map(|(_, done)| done.blame.0.to_vec()).collect()
}

fn whole_numbers(column: &Value) -> Vec<u64> {
    column.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

/// Checks a distribution against a list of times: the number of zeros, the mean, and the buckets.
/// The count of a bucket is the number of times above the previous bucket's time and up to its own.
/// A bucket's time exceeds none of its times by more than 0.1 %.
fn assert_tells(given: &Value, list: &[u64]) {
    let what = format!("{} {}", given["operation"], given["cause"]);
    let count = |from: u64, to: u64| list.iter().filter(|&&ns| from < ns && ns <= to).count();
    assert_eq!(given["requests"], list.len(), "{what}");
    assert_eq!(given["none"], list.iter().filter(|&&ns| ns == 0).count(), "{what}");
    let sum = list.iter().map(|&ns| u128::from(ns)).sum::<u128>();
    assert_close(&given["mean_us"], sum as f64 / list.len() as f64 / 1000.0);
    let (ends, counts) = (whole_numbers(&given["ns"]), whole_numbers(&given["counts"]));
    assert_eq!(ends.len(), counts.len(), "{what}");
    let mut before = 0;
    for (&end, counted) in ends.iter().zip(counts) {
        assert!(before < end && counted > 0, "{what} at {end}");
        assert_eq!(counted, count(before, end) as u64, "{what} at {end}");
        let least = list.iter().filter(|&&ns| before < ns).min().unwrap();
        assert!(end as f64 <= *least as f64 * 1.001, "{what}: {least} is reported as {end}");
        before = end;
    }
    assert_eq!(count(before, u64::MAX), 0, "{what}: longer than {before}");
}

pub(crate) fn full(case: &Case) {
    let mut rows = case.result["distributions"].as_array().unwrap().iter();
    for (operation, ops) in OPERATIONS {
        let components = components(case, ops);
        let latency = &case.result["latency"];
        let response = rows.next().unwrap();
        assert_eq!([&response["operation"], &response["cause"]], [operation, "response"]);
        assert_tells(response, &components.iter().map(|of| of.iter().sum()).collect::<Vec<u64>>());
        assert_eq!(response["requests"], latency[operation]["requests"]);
        assert_eq!(response["mean_us"], latency[operation]["mean_us"]);
        let longest = whole_numbers(&response["ns"]).pop().unwrap();
        assert_eq!(longest as f64 / 1000.0, number(&latency[operation]["max_us"]));
        let mut explained = 0.0;
        for (number_of, cause) in Component::NAMES.into_iter().enumerate() {
            let given = rows.next().unwrap();
            assert_eq!([&given["operation"], &given["cause"]], [operation, cause]);
            assert_tells(given, &components.iter().map(|of| of[number_of]).collect::<Vec<u64>>());
            explained += number(&given["mean_us"]);
            if operation == "all" {
                assert_eq!(given["mean_us"], latency["blame_us"][cause], "{cause}");
            }
        }
        assert_close(&response["mean_us"], explained);
    }
    assert!(rows.next().is_none());
}
