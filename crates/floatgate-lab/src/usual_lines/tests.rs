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
    UsualLine { cells: cells.to_vec(), gap: Gap::Byte(b','), has_rest: true, ops }
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
        (Cell::HexOffset, "0x3ffffffffffff", "0x4000000000000"),
        (Cell::HexLength, "0x00aF", "0X00af"),
        (Cell::HexNumber, "0xffffffffffffffff", "0x10000000000000000"),
        (Cell::FirstTime, "1.5 2.25", "1.5 2"),
        (Cell::FirstTime, "1.5", "1"),
        (Cell::StampedTime, "my app-7 [001] 1.5:", "1.5:"),
        (Cell::StampedTime, "a-7 1: 1.5:", "a-7 1:"),
        (Cell::StampedTime, "a #7 1.5:", "#a 7 1.5:"),
        (Cell::Event, "block_rq_issue:", "block_:"),
        (Cell::Event, "block:block_rq_issue:", "block_rq_issue"),
        (Cell::Sectors, "4096 () 16 + 8", "4096 (28) 16 + 8"),
        (Cell::Sectors, "512 () 16 + 8", "512() 16 + 8"),
        (Cell::Sectors, "() 16 + 8", "() () 16 + 8"),
        (Cell::Sectors, "16 + 8", "-16 + 8"),
        (Cell::Sectors, "512 16 + 8", "5 512 16 + 8"),
        (Cell::Fraction, "1.5", "1.5 2.5"),
        (Cell::Fractions, "1.5 2.5 3.5", "1.5 2.5 3.5 4.5"),
        (Cell::Fractions, "1.5", "1"),
    ] {
        let line = UsualLine { cells: vec![(cell, None)], gap: Gap::Byte(b'|'), ..spc() };
        assert_eq!(only(&line, format!("{good}\n").as_bytes()).numbers, [1], "{cell:?} {good}");
        assert_eq!(only(&line, format!("{bad}\n").as_bytes()).left_numbers, [1], "{cell:?} {bad}");
    }
}

#[test]
fn blanks_of_any_number_are_one_gap() {
    let line = UsualLine { gap: Gap::Blanks, has_rest: false, ..spc() };
    let found = only(&line, b"  0 \t 16  8 r 1 \n0 16 8 r 1 more\n0,16,8,r,1\n");
    assert_eq!((found.numbers, found.left_numbers), (vec![1], vec![2, 3]));
}

#[test]
fn a_gap_is_a_byte_or_several_or_has_blanks_behind_it() {
    for (name, good, bad) in [
        (",", "0,16,8,r,1", "0, 16,8,r,1"),
        (";+", "0;16;;8;r;;;1", "0;16; 8;r;1"),
        (", ", " 0, 16,\t8,r,1", "0 ,16,8,r,1"),
        ("", " 0 16\t8  r 1", "0,16,8,r,1"),
    ] {
        let gap = Gap::named(name).expect("a gap");
        let line = UsualLine { gap, ..spc() };
        assert_eq!(only(&line, format!("{good}\n").as_bytes()).offsets, [16], "{name:?}");
        assert_eq!(only(&line, format!("{bad}\n").as_bytes()).left_numbers, [1], "{name:?}");
    }
    assert_eq!(Gap::named("; "), Some(Gap::ByteAndBlanks(b';')));
    assert_eq!(Gap::named("abc"), None);
}

#[test]
fn an_event_keeps_its_name_alone() {
    let cells = [Cell::StampedTime, Cell::Event, Cell::Pair, Cell::Rwbs, Cell::Sectors];
    let columns = [None, Some(0), Some(1), None, None];
    let ops = [("r".to_owned(), 0), ("w".to_owned(), 1)].to_vec();
    let cells = cells.into_iter().zip(columns).collect();
    let line = UsualLine { cells, gap: Gap::Blanks, has_rest: true, ops };
    let found = only(
        &line,
        b"  fio 1-7 [001] .... 1.5: block:block_rq_issue: 8,0 WS 4096 () 16 + 8 be,0,4 [fio 1]\n\
          a-7 [001] 2.5: block_bio_queue: 8,16 R 24 + 16 [a]\n",
    );
    assert_eq!(found.times, [1_500_000_000, 2_500_000_000]);
    assert_eq!((found.offsets, found.lengths), (vec![16, 24], vec![8, 16]));
    assert_eq!(found.texts[0].iter().collect::<Vec<_>>(), ["block_rq_issue", "block_bio_queue"]);
    assert_eq!(found.texts[1].iter().collect::<Vec<_>>(), ["8,0", "8,16"]);
}

#[test]
fn a_bit_is_an_operation() {
    let ops = [("0".to_owned(), 0), ("1".to_owned(), 1)].to_vec();
    let line = UsualLine { cells: vec![(Cell::OpBit, None)], ops, ..spc() };
    assert_eq!(only(&line, b"4\n5\n13\n-1\n").ops, [0, 1, 1]);
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
