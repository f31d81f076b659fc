//! Recorded workloads.

use super::*;

#[test]
fn a_recording_gives_its_requests_back() {
    for batch in [1, 3, 100_000] {
        let requests = make(&specs()[0], 1);
        let mut recorded = Recorded::new("x", 1, 1.0).unwrap();
        for part in requests.chunks(1000) {
            recorded.push(part).unwrap();
        }
        assert_eq!(recorded.requests(), requests.len() as u64);
        assert_eq!(all(&mut recorded, batch), requests);
    }
}

#[test]
fn a_recording_longer_than_a_chunk_stays_in_order() {
    let requests = make("uniform:span=1GiB,writes=200k,interarrival=100us", 1);
    let mut recorded = Recorded::new("x", 2, 1.0).unwrap();
    recorded.push(&requests).unwrap();
    let twice = all(&mut recorded, 70_000);
    assert_eq!(twice.len(), 400_000);
    assert_eq!(&twice[..200_000], &requests);
    let shift = requests.last().unwrap().at_ns + 100_000;
    let shifted = |r: &Request| Request { at_ns: r.at_ns + shift, ..*r };
    assert!(twice[200_000..].iter().copied().eq(requests.iter().map(shifted)));
}

#[test]
fn repeats_follow_after_a_mean_gap() {
    let mut recorded = Recorded::new("x", 3, 2.0).unwrap();
    recorded.push_columns(&[5, 6, 9], &[1, 0, 3], &[0, 512, 7], &[512, 100, 7]).unwrap();
    let summary = recorded.summary();
    assert_eq!((summary.span_bytes, summary.requests), (612, 9));
    let requests = all(&mut recorded, 2);
    // Scaled times: 10, 12, 18. The duration is 8, and the mean gap 4.
    let times: Vec<u64> = requests.iter().map(|r| r.at_ns).collect();
    assert_eq!(times, [10, 12, 18, 22, 24, 30, 34, 36, 42]);
    assert_eq!(requests[2], Request { at_ns: 18, op: Op::Flush, offset: 0, length: 0, stream: 0 });
    assert_eq!(requests[5].op, Op::Flush);
}

#[test]
fn a_recording_s_digest_is_of_its_content() {
    let digest = |repeat, scale, parts: &[&[u64]]| {
        let mut recorded = Recorded::new("x", repeat, scale).unwrap();
        for at in parts {
            let n = at.len();
            recorded.push_columns(at, &vec![1; n], &vec![4096; n], &vec![512; n]).unwrap();
        }
        recorded.summary().digest
    };
    let whole = digest(1, 1.0, &[&[1, 2, 3]]);
    assert_eq!(whole, digest(1, 1.0, &[&[1], &[2, 3]]));
    for other in [
        digest(2, 1.0, &[&[1, 2, 3]]),
        digest(1, 2.0, &[&[1, 2, 3]]),
        digest(1, 1.0, &[&[1, 3, 2]]),
    ] {
        assert_ne!(whole, other);
    }
}

#[test]
fn wrong_records_are_named() {
    let check = |at: &[u64], op: &[u8], offset: &[u64], length: &[u64], expected: &str| {
        let mut recorded = Recorded::new("x", 2, 1.0).unwrap();
        let error = recorded.push_columns(at, op, offset, length).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(recorded.requests(), 0);
        assert!(all(&mut recorded, 10).is_empty());
    };
    check(&[0], &[], &[0], &[0], "columns of 1, 0, 1 and 1 rows: expected the same number in each");
    check(
        &[0, 1],
        &[0, 4],
        &[0, 0],
        &[1, 1],
        "row 1: operation 4: expected 0 (read), 1 (write), 2 (trim) or 3 (flush)",
    );
    let max = u64::MAX;
    let beyond = format!("row 0: offset {max} + length 1: expected less than 2^64");
    check(&[0], &[1], &[max], &[1], &beyond);
    let repeats = "repeat = 2: expected less than 2^64 ns, and requests, in all repeats";
    check(&[0, max], &[1, 1], &[0, 0], &[1, 1], repeats);
    let error = |repeat, scale| Recorded::new("x", repeat, scale).err().unwrap().to_string();
    assert_eq!(error(0, 1.0), "repeat = 0: expected at least 1");
    assert_eq!(error(1, 0.0), "time scale = 0: expected a number above 0");
    let mut scaled = Recorded::new("x", 1, 2.0).unwrap();
    let error = scaled.push_columns(&[max], &[1], &[0], &[1]).unwrap_err().to_string();
    assert!(error.ends_with("ns x 2: expected less than 2^64 ns"), "{error}");
}
