use super::*;

fn spc() -> UsualLine {
    let cells = [
        (Cell::Digits, Some(0)),
        (Cell::Offset, None),
        (Cell::Length, None),
        (Cell::Op, None),
        (Cell::Time, None),
    ];
    let ops = [("r".to_owned(), 0), ("write".to_owned(), 1)].to_vec();
    UsualLine { cells: cells.to_vec(), gap: Some(b','), has_rest: true, ops }
}

fn only(line: &UsualLine, data: &[u8]) -> Scanned {
    let mut parts = line.scan(data);
    assert_eq!(parts.len(), 1);
    parts.remove(0)
}

#[test]
fn usual_lines_become_columns_and_others_are_left() {
    let data =
        b"asu,lba,size\n0,16,4096,r,1.5\n7,8,512,WRITE,3,more,cells\r\n\n1,2,3,x,4\n2,3,4,R,5";
    let found = only(&spc(), data);
    assert_eq!(found.numbers, [2, 3, 6]);
    assert_eq!(found.times, [1_500_000_000, 3_000_000_000, 5_000_000_000]);
    assert_eq!((found.ops, found.offsets), (vec![0, 1, 0], vec![16, 8, 3]));
    assert_eq!(found.lengths, [4096, 512, 4]);
    assert_eq!(found.texts[0].iter().collect::<Vec<_>>(), ["0", "7", "2"]);
    assert_eq!(found.left, b"asu,lba,size\n\n1,2,3,x,4\n");
    assert_eq!((found.left_numbers, found.lines), (vec![1, 4, 5], 6));
    assert_eq!(found.decimals, 1);
}

#[test]
fn a_cell_of_another_form_leaves_its_line() {
    for (cell, good, bad) in [
        (Cell::Time, "5.123456789", "5.1234567891"),
        (Cell::Time, "5", "5."),
        (Cell::Time, "999999999999999999", "1999999999999999999"),
        (Cell::Time, "0", "1e3"),
        (Cell::WholeTime, "12", "12.5"),
        (Cell::FractionTime, "12.5", "12"),
        (Cell::Offset, "1125899906842623", "1125899906842624"),
        (Cell::Length, "007", "-7"),
        (Cell::Op, "Write", "writes"),
        (Cell::Rwbs, "RA", "FR"),
        (Cell::Rwbs, "R", "r"),
        (Cell::Digits, "0", ""),
        (Cell::Integer, "-5", "--5"),
        (Cell::Number, "1.5", "-1.5"),
        (Cell::Hex, "09afAF", "0x9"),
        (Cell::Pair, "8,0", "8,"),
        (Cell::Letters, "dQ", "d1"),
        (Cell::Text, "a.b", "a\u{e4}"),
        (Cell::Any, "", "\u{e4}"),
        (Cell::Plus, "+", "-"),
    ] {
        let line = UsualLine { cells: vec![(cell, None)], gap: Some(b'|'), ..spc() };
        assert_eq!(only(&line, format!("{good}\n").as_bytes()).numbers, [1], "{cell:?} {good}");
        assert_eq!(only(&line, format!("{bad}\n").as_bytes()).left_numbers, [1], "{cell:?} {bad}");
    }
}

#[test]
fn blanks_of_any_number_are_one_gap() {
    let line = UsualLine { gap: None, has_rest: false, ..spc() };
    let found = only(&line, b"  0 \t 16  8 r 1 \n0 16 8 r 1 more\n0,16,8,r,1\n");
    assert_eq!((found.numbers, found.left_numbers), (vec![1], vec![2, 3]));
}

#[test]
fn threads_read_what_one_reads() {
    let lines: Vec<_> = (0..200_000).map(|at| format!("{},{at},8,r,{at}.25\n", at % 7)).collect();
    let data = lines.concat();
    let (line, mut whole) = (spc(), Scanned::default());
    for part in line.scan(data.as_bytes()) {
        whole.numbers.extend(part.numbers);
        whole.offsets.extend(part.offsets);
    }
    let one = line.scan_part(data.as_bytes());
    assert_eq!((whole.numbers, whole.offsets), (one.numbers, one.offsets));
    assert_eq!(one.lines, 200_000);
}

#[test]
fn parts_end_behind_line_feeds() {
    for data in ["", "a\nb\nc\n", "abcdef\ng\n", "no line feed"] {
        for count in 0..5 {
            let parts: Vec<_> = split(data.as_bytes(), count).collect();
            assert_eq!(parts.concat(), data.as_bytes());
            assert!(parts.len() <= count.max(1), "{data:?} in {count} parts");
            assert!(parts.iter().rev().skip(1).all(|part| part.ends_with(b"\n")));
        }
    }
}
