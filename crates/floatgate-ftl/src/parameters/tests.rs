use super::*;

crate::choice! {
    /// A colour.
    pub enum Colour {
        /// As blood,
        /// or fire.
        Red = "red",
        /// As the sky.
        SkyBlue = "sky_blue",
    }
}

crate::parameters! {
    /// One of each kind.
    pub struct Each {
        /// A whole number.
        whole: u32 = 3, from 1 to 9;
        /// A small one, which
        /// takes two lines.
        small: u8 = 200, from 0 to 255;
        /// A share.
        share: f64 = 0.5, above 0 below 1;
        /// Yes or no.
        flag: bool = true;
        /// A colour.
        colour: Colour = Colour::Red;
        /// A size.
        size: Bytes = Bytes(1 << 20), from 512 to (1 << 30);
        /// A duration that need not be set.
        time: Option<Nanoseconds> = None, from 0 to 1e12;
    }
}

const NOT_A_NUMBER: Value = Value::Number(f64::NAN);

#[test]
fn a_table_lists_the_declared_parameters() {
    let table = Each::table();
    let names: Vec<&str> = table.iter().map(|parameter| parameter.name).collect();
    assert_eq!(names, ["whole", "small", "share", "flag", "colour", "size", "time"]);
    assert_eq!(table[1].doc, "A small one, which takes two lines.");
    let defaults: Vec<Option<Value>> = table.iter().map(|parameter| parameter.default).collect();
    let expected = [
        Some(Value::Integer(3)),
        Some(Value::Integer(200)),
        Some(Value::Number(0.5)),
        Some(Value::Flag(true)),
        Some(Value::Name("red")),
        Some(Value::Bytes(Bytes(1 << 20))),
        None,
    ];
    assert_eq!(defaults, expected);
    assert_eq!(Colour::VARIANTS[0], Variant { name: "red", doc: "As blood, or fire." });
    assert!(<()>::table().is_empty());
}

#[test]
fn ranges_hold_their_ends_if_these_are_in_them() {
    let table = Each::table();
    let holds = |at: usize, value: Value| table[at].range.holds(value);
    for (n, is_in) in [(0, false), (1, true), (9, true), (10, false)] {
        assert_eq!(holds(0, Value::Integer(n)), is_in, "{n}");
    }
    for (x, is_in) in [(0.0, false), (0.001, true), (0.999, true), (1.0, false), (-1.0, false)] {
        assert_eq!(holds(2, Value::Number(x)), is_in, "{x}");
    }
    for (size, is_in) in [(511, false), (512, true), (1 << 30, true), ((1 << 30) + 1, false)] {
        assert_eq!(holds(5, Value::Bytes(Bytes(size))), is_in, "{size}");
    }
    assert!(holds(3, Value::Flag(false)));
    assert!(holds(4, Value::Name("sky_blue")) && !holds(4, Value::Name("green")));
    assert!(holds(6, Value::Nanoseconds(Nanoseconds(0))));
    assert!(!holds(2, NOT_A_NUMBER) && !holds(2, Value::Integer(1)) && !holds(0, NOT_A_NUMBER));
}

#[test]
fn a_missing_parameter_has_its_default() {
    assert_eq!(Each::read(&|_| None), Each::default());
    let given = Each::read(&|name| match name {
        "whole" => Some(Value::Integer(9)),
        "share" => Some(Value::Number(0.25)),
        "flag" => Some(Value::Flag(false)),
        "colour" => Some(Value::Name("sky_blue")),
        "size" => Some(Value::Bytes(Bytes(4096))),
        "time" => Some(Value::Nanoseconds(Nanoseconds(7))),
        _ => None,
    });
    let expected = Each {
        whole: 9,
        small: 200,
        share: 0.25,
        flag: false,
        colour: Colour::SkyBlue,
        size: Bytes(4096),
        time: Some(Nanoseconds(7)),
    };
    assert_eq!(given, expected);
}

#[test]
#[should_panic(expected = "small: Integer(256)")]
fn a_value_out_of_range_is_a_bug() {
    Each::read(&|name| (name == "small").then_some(Value::Integer(256)));
}

#[test]
fn halves_are_rounded_up() {
    for (x, nearest) in [(0.0, 0), (0.499, 0), (0.5, 1), (1.49, 1), (2.5, 3)] {
        assert_eq!(round(x), nearest, "{x}");
    }
    assert_eq!(round(0.499_999_999_999_999_94), 0);
    assert_eq!([0.1, 0.9995, 3.25].map(permille), [100, 1000, 3250]);
}
