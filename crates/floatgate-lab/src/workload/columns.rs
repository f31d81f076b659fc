//! Recorded requests: as input columns, and in the form in which they are played.

use floatgate_ftl::request::{Op, Request};

use crate::config::ConfigError;

/// Appends requests given as columns: arrival in nanoseconds, code of the operation (0 read, 1
/// write, 2 trim, 3 flush), first byte, number of bytes. The last two are ignored for a flush. The
/// requests have no placement handles.
///
/// # Errors
/// Columns of different lengths, or an invalid code; the message counts rows from 0. Nothing is
/// appended then.
pub fn append_requests(
    out: &mut Vec<Request>,
    at_ns: &[u64],
    op: &[u8],
    offset: &[u64],
    length: &[u64],
) -> Result<(), ConfigError> {
    let rows = at_ns.len();
    if [op.len(), offset.len(), length.len()] != [rows; 3] {
        return Err(ConfigError::new(format!(
            "columns of {rows}, {}, {} and {} rows: expected the same number in each",
            op.len(),
            offset.len(),
            length.len()
        )));
    }
    if let Some(row) = op.iter().position(|code| Op::from_code(*code).is_none()) {
        let code = op[row];
        return Err(ConfigError::new(format!(
            "row {row}: operation {code}: expected 0 (read), 1 (write), 2 (trim) or 3 (flush)"
        )));
    }
    let rows = at_ns.iter().zip(op).zip(offset).zip(length);
    let request = |(((&at_ns, &op), &offset), &length)| {
        let op = Op::from_code(op).unwrap_or(Op::Flush);
        Request { at_ns, op, offset, length, stream: 0 }
    };
    out.extend(rows.map(request));
    Ok(())
}

/// Returns the request in `row` in the form in which it is played: with its time scaled, and
/// without an address for a flush.
pub(super) fn played(
    row: usize,
    request: Request,
    time_scale: f64,
) -> Result<Request, ConfigError> {
    let Request { at_ns, op, offset, length, stream } = request;
    let (offset, length) = if op == Op::Flush { (0, 0) } else { (offset, length) };
    if offset.checked_add(length).is_none() {
        return Err(ConfigError::new(format!(
            "row {row}: offset {offset} + length {length}: expected less than 2^64"
        )));
    }
    let Some(scaled) = scaled(at_ns, time_scale) else {
        return Err(ConfigError::new(format!(
            "row {row}: time {at_ns} ns x {time_scale}: expected less than 2^64 ns"
        )));
    };
    Ok(Request { at_ns: scaled, op, offset, length, stream })
}

fn scaled(at_ns: u64, time_scale: f64) -> Option<u64> {
    // A floating-point number has only 53 bits, so it is avoided where possible.
    if time_scale == 1.0 {
        return Some(at_ns);
    }
    let scaled = (at_ns as f64 * time_scale).round();
    (scaled < u64::MAX as f64).then_some(scaled as u64)
}

pub(super) fn check_options(repeat: u64, time_scale: f64) -> Result<(), ConfigError> {
    if repeat == 0 {
        return Err(ConfigError::new("repeat = 0: expected at least 1"));
    }
    if !(time_scale > 0.0 && time_scale.is_finite()) {
        let text = format!("time scale = {time_scale}: expected a number above 0");
        return Err(ConfigError::new(text));
    }
    Ok(())
}

/// Returns the time from the start of one repeat to the start of the next: the duration plus one
/// mean time between requests.
pub(super) fn period(first_ns: u64, last_ns: u64, requests: u64) -> u128 {
    let duration = u128::from(last_ns.saturating_sub(first_ns));
    duration + duration / u128::from(requests.saturating_sub(1).max(1))
}

/// Checks that the times of all repeats fit in 64 bits. A repeat has `requests` requests, from
/// `first_ns` to `last_ns`.
pub(super) fn check_repeats(
    repeat: u64,
    first_ns: u64,
    last_ns: u64,
    requests: u64,
) -> Result<(), ConfigError> {
    let repeats = u128::from(repeat - 1).saturating_mul(period(first_ns, last_ns, requests));
    let end = u128::from(last_ns).saturating_add(repeats);
    if end > u128::from(u64::MAX) || requests.checked_mul(repeat).is_none() {
        return Err(ConfigError::new(format!(
            "repeat = {repeat}: expected less than 2^64 ns, and requests, in all repeats"
        )));
    }
    Ok(())
}
