//! Configs: which of them load, the errors of the others, and their printed form.

use floatgate_ftl::parameters::{Value as ParameterValue, names};
use floatgate_ftl::rng::Rng;
use floatgate_lab::config::{Config, Fill, WearLeveling, policies, presets, schema};
use floatgate_lab::drive::Plan;
use floatgate_lab::units::{Rate, Size, Time, Times, parse_count};
use serde_json::Value;

fn sets(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn with(pairs: &[(&str, &str)]) -> Config {
    Config::load(None, None, &sets(pairs)).expect("these settings are right")
}

/// Settings, with their errors. Each error begins with its setting.
const WRONG: &str = r#"capacity.spare_factor = 1.2: expected a number above 0 and below 1
capacity.spare_factor = nan: expected a number above 0 and below 1
capacity.over_provisioning = 0: expected a number above 0 and at most 100
flash.page = "4KX": expected a size from 512B to 1MiB, such as "4KiB"
flash.page = -4: expected a size from 512B to 1MiB, such as "4KiB"
flash.read = 25: expected a duration from 0ns to 10s, such as "25us", or a list of 1 to 4
flash.bus = 40: expected a rate such as "40MB/s", or "none"
flash.channels = 0: expected an integer from 1 to 256
flash.channels = 1.5: expected an integer from 1 to 256
flash.superblock = 3: expected a divisor of the drive's 1 planes (channels x dies x planes)
flash.blocks = 2147483646: expected at most 33554431 blocks of 64 pages
flash = 7: expected a table
host.scheme = "shrb": expected one of plain, shrd
queue.arrivals = "later": expected one of open, closed, immediate
queue.depth = 65537: expected an integer from 1 to 65536
dftl.evict_batch = "yes": expected true or false
start.tolerance = 0: expected a number above 0 and at most 1
start.overwrites = -1: expected a number of at least 0 and at most 1000"#;

#[test]
fn wrong_settings_are_named() {
    let check = |key: &str, value: &str, expected: &str| {
        let error = Config::load(None, None, &sets(&[(key, value)])).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    for line in WRONG.lines() {
        let (key, rest) = line.split_once(" = ").unwrap();
        let (value, _) = rest.split_once(": expected ").unwrap();
        check(key, value.trim_matches('"'), line);
    }
    for (key, meant) in [
        ("mapping.cahce", "mapping.cache"),
        ("maping.scheme", "mapping.scheme"),
        ("maping", "mapping"),
        ("cleaning.low_watre", "cleaning.low_water"),
    ] {
        check(key, "3", &format!("unknown key `{key}`; did you mean `{meant}`?"));
    }
    check("preset", "classic", "unknown key `preset`; `floatgate schema` lists all");
    check("flash.page", "3000", "flash.page = \"3KB\": expected a power of two");
    let expected = "flash.page = {...}: expected a size from 512B to 1MiB, such as \"4KiB\"";
    check("flash.page.x", "7", expected);
    let names: Vec<&str> = names(floatgate_ftl::mapping::MAPPINGS).collect();
    let expected =
        format!("mapping.scheme = \"dtfl\": expected one of {}, or python:NAME", names.join(", "));
    check("mapping.scheme", "dtfl", &expected);
}

/// A bound needs the requests in the order in which the host sends them, so settings that reorder
/// requests are refused.
#[test]
fn a_policy_with_foresight_must_see_the_stated_future() {
    for (key, value, other, why) in [
        ("mapping.scheme", "belady", ("buffer.scheme", "lru"), "with a write buffer"),
        ("placement.scheme", "oracle", ("buffer.scheme", "lru"), "with a write buffer"),
        ("mapping.scheme", "belady", ("queue.queues", "2"), "with queue.queues above 1"),
        ("placement.scheme", "oracle", ("queue.queues", "2"), "with queue.queues above 1"),
        ("buffer.scheme", "belady", ("queue.queues", "2"), "with queue.queues above 1"),
    ] {
        let error = Config::load(None, None, &sets(&[(key, value), other])).unwrap_err();
        let expected = format!("{key} = \"{value}\": expected another {why}");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

#[test]
fn wrong_files_are_named() {
    let check = |preset: Option<&str>, text: &str, expected: &str| {
        let error = Config::load(preset, Some(text), &[]).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    let known = "classic, dftl09, agrawal08, flashsim, mqsim18, small-nvme, tlc-enterprise, \
                 tlc-client, qlc-capacity, tlllp17, asa14, eti16, ncq13, shrd17";
    check(
        Some("clasic"),
        "",
        &format!("unknown preset `clasic`; did you mean `classic`? known: {known}"),
    );
    check(Some("x"), "", &format!("unknown preset `x`; known: {known}"));
    check(None, "preset = 3", "preset = 3: expected a preset's name");
    check(
        Some("classic"),
        "preset = \"dftl09\"",
        "the file builds on the preset \"dftl09\", not on \"classic\": name only one",
    );
    check(
        None,
        "[capacity]\nspare_factor = 0.1\nover_provisioning = 0.1",
        "capacity.spare_factor and capacity.over_provisioning are both set: expected one of them",
    );
    check(
        None,
        "[mapping]\nscheme = \"dftl\"\ncache = 4",
        "mapping.cache = \"4B\": expected room for at least one entry of dftl.entry_bytes (8)",
    );
    check(
        Some("small-nvme"),
        "[flash]\nblocks = 100",
        "flash.blocks = 100: expected a multiple of flash.superblock (32)",
    );
    let error = Config::load(None, Some("[flash]\nread =\n"), &[]).unwrap_err().to_string();
    assert!(error.starts_with("line 2: ") && !error.contains('\n'), "{error}");
}

#[test]
fn later_layers_win() {
    let file = "preset = \"dftl09\"\n[mapping]\ncache = \"32KiB\"\n[flash]\nread = \"1us\"";
    let over = sets(&[("flash.read", "2us"), ("mapping.entry_bytes", "8")]);
    let config = Config::load(None, Some(file), &over).unwrap();
    assert_eq!(config.flash.page, Size(2048));
    assert_eq!(config.mapping.cache, Size(32 << 10));
    assert_eq!(config.flash.read, Times::one(2000));
    assert_eq!(config.mapping.entry_bytes, 8);
    assert_eq!(Config::load(Some("dftl09"), Some(file), &over), Ok(config));
}

#[test]
fn settings_are_toml_or_text() {
    let config = with(&[
        ("mapping.cache", "1MiB"),
        ("flash.page", "8192"),
        ("flash.bus", "\"40MB/s\""),
        ("dftl", "{ evict_batch = true, replacement = \"lru\" }"),
        ("dftl.evict_batch", " false "),
        ("start.fill", "none"),
        ("cleaning.wear_leveling", "none"),
        ("start.overwrites", "0.5"),
    ]);
    assert_eq!(config.mapping.cache, Size(1 << 20));
    assert_eq!(config.flash.page, Size(8192));
    assert_eq!(config.flash.bus.transfer_ns(4096), 102_400);
    let dftl = |key: &str| config.policies.value("dftl", key);
    assert_eq!(dftl("replacement"), Some(ParameterValue::Name("lru")));
    assert_eq!(dftl("evict_batch"), Some(ParameterValue::Flag(false)));
    assert_eq!(config.start.fill, Fill::None);
    assert_eq!(config.start.overwrites, 0.5);
    assert_eq!(config.cleaning.wear_leveling, WearLeveling::None);
}

#[test]
fn the_upper_layer_decides_the_spare_space() {
    let over = sets(&[("capacity.over_provisioning", "0.28")]);
    let config = Config::load(Some("classic"), None, &over).unwrap();
    assert_eq!(config.capacity.spare_factor, None);
    assert!((config.capacity.spare() - 0.28 / 1.28).abs() < 1e-15);
    assert_eq!(with(&[]).capacity.spare_factor, Some(0.07));
    let file = "[capacity]\nover_provisioning = 0.28";
    let over = sets(&[("capacity.spare_factor", "0.2")]);
    let config = Config::load(None, Some(file), &over).unwrap();
    assert_eq!((config.capacity.spare(), config.capacity.over_provisioning), (0.2, None));
    let both = sets(&[("capacity.spare_factor", "0.2"), ("capacity.over_provisioning", "0.2")]);
    let error = Config::load(None, None, &both).unwrap_err().to_string();
    assert!(error.ends_with("are both set: expected one of them"), "{error}");
}

#[test]
fn the_low_water_mark_leaves_room_for_the_frontiers() {
    let marks = |pairs: &[(&str, &str)]| {
        let plan = Plan::new(&with(pairs), 64 << 20).unwrap();
        (plan.cleaning.low_water, plan.cleaning.high_water)
    };
    let dftl = ("mapping.scheme", "dftl");
    let levelled = ("cleaning.wear_leveling", "static");
    let ahead = ("cleaning.copies_per_write", "2");
    assert_eq!(marks(&[]), (3, 3));
    assert_eq!(marks(&[("cleaning.low_water", "7")]), (7, 7));
    assert_eq!(marks(&[dftl, levelled]), (4, 4), "data, map, levelling, and one");
    assert_eq!(marks(&[dftl, levelled, ahead]), (7, 14), "each twice, and one");
    assert_eq!(marks(&[ahead, ("cleaning.high_water", "9")]), (3, 9));
    let refused =
        |pairs: &[(&str, &str)]| Plan::new(&with(pairs), 64 << 20).unwrap_err().to_string();
    let error = refused(&[dftl, levelled, ("cleaning.low_water", "3")]);
    let expected = "cleaning.low_water = 3: expected at least 4, as 3 units are open at a time";
    assert_eq!(error, expected);
    let error = refused(&[("cleaning.high_water", "9")]);
    assert!(error.contains("cleaning.copies_per_write or cleaning.idle_after"), "{error}");
    let error = refused(&[ahead, ("cleaning.high_water", "2")]);
    assert!(error.contains("expected at least cleaning.low_water (3)"), "{error}");
    // The open unit, a victim, and two units of 64 pages that the drive owes.
    let paced = [("cleaning.pacing", "proportional"), ("cleaning.debt", "65")];
    assert_eq!(marks(&paced), (3, 3 + 1 + 1 + 2));
    let error = refused(&[&paced[..], &[("cleaning.high_water", "6")]].concat());
    assert!(error.contains("expected at least 7, so that no write waits"), "{error}");
}

#[test]
fn presets_load_and_print_their_values() {
    for preset in presets() {
        let config = Config::load(Some(preset.name), None, &[]).unwrap();
        config.check().unwrap();
        assert!(preset.doc.ends_with('.') && preset.source.len() > 10, "{}", preset.name);
        let printed = toml::to_string(&config).unwrap();
        assert_eq!(Config::load(None, Some(&printed), &[]), Ok(config.clone()), "{printed}");
        let json = serde_json::to_value(&config).unwrap();
        assert_eq!(serde_json::from_value::<Config>(json).unwrap(), config);
        // A preset's own text is a file that loads, including its table [about].
        assert_eq!(Config::load(None, Some(preset.toml), &[]), Ok(config));
    }
}

#[test]
fn a_config_prints_with_units() {
    let config = with(&[("flash.bus", "1200MB/s"), ("flash.blocks", "32768")]);
    let json = serde_json::to_value(config).unwrap();
    let flash = &json["flash"];
    assert_eq!(flash["page"], "4KiB");
    assert_eq!(flash["read"], "25us");
    assert_eq!(flash["erase"], "1500us");
    assert_eq!(flash["bus"], "1200MB/s");
    assert_eq!(flash["blocks"], 32768);
    assert_eq!(json["mapping"]["cache"], "64KiB");
    assert_eq!(json["cleaning"].get("low_water"), None);
}

#[test]
fn a_config_built_in_code_is_checked_too() {
    let mut config = Config::default();
    config.check().unwrap();
    config.placement.scheme = "double".into();
    let error = config.check().unwrap_err().to_string();
    let expected = "placement.scheme = \"double\": expected one of single, ";
    assert!(error.starts_with(expected), "{error}");
}

/// Calls `f` with the dotted name and the schema of every key.
fn each_key(f: impl Fn(&str, &Value)) {
    let schema = schema();
    assert_eq!(schema["additionalProperties"], false);
    for (section, keys) in schema["properties"].as_object().expect("sections") {
        if keys["type"] != "object" {
            f(section, keys);
            continue;
        }
        assert_eq!(keys["additionalProperties"], false, "{section}");
        assert_eq!(keys.get("required"), None, "{section}");
        for (key, leaf) in keys["properties"].as_object().expect("keys") {
            f(&format!("{section}.{key}"), leaf);
        }
    }
}

#[test]
fn every_key_is_described() {
    let unset = "flash.blocks flash.parity capacity.over_provisioning placement.reclaim_unit \
                 placement.streams cleaning.low_water cleaning.high_water \
                 cleaning.foreground_below cleaning.background_below cleaning.lazy cleaning.debt \
                 cleaning.copies_per_write cleaning.idle_after schedule.suspend \
                 controller.write_memory controller.flush_after mapping.unit buffer.block_pages \
                 bast.log_blocks fast.log_blocks page_cache.entries shrd.idle_after dac.young \
                 dac.old perfect.hot_pages faults.spare_units lanes.window start.play \
                 slc.idle_after";
    let unset: Vec<&str> = unset.split(' ').collect();
    each_key(|key, leaf| {
        let doc = leaf["description"].as_str().unwrap_or_default();
        assert!(doc.ends_with('.') && doc.len() > 10 && !doc.contains('\n'), "{key}: {doc}");
        assert_eq!(leaf.get("default").is_none(), unset.contains(&key), "{key}");
        assert!(!leaf.to_string().contains("null"), "{key}");
    });
}

#[test]
fn every_number_has_bounds() {
    each_key(|key, leaf| {
        let has = |bound: &[&str]| bound.iter().any(|name| leaf.get(name).is_some());
        if matches!(leaf["type"].as_str(), Some("integer" | "number")) {
            assert!(has(&["minimum", "exclusiveMinimum"]), "{key}");
            assert!(has(&["maximum", "exclusiveMaximum"]), "{key}");
        }
        if matches!(leaf["format"].as_str(), Some("size" | "duration" | "durations")) {
            assert!(has(&["x-minimum"]) && has(&["x-maximum"]), "{key}");
        }
    });
}

#[test]
fn the_schema_knows_every_key_of_every_preset() {
    let schema = schema();
    for preset in presets() {
        let mut table: toml::Table = preset.toml.parse().unwrap();
        table.remove("about");
        table.remove("class");
        for (section, keys) in &table {
            for (key, value) in keys.as_table().unwrap() {
                let leaf = &schema["properties"][section]["properties"][key];
                let fits = match value {
                    toml::Value::String(text) => {
                        let names = leaf.get("enum").or(leaf.get("oneOf")).map(Value::to_string);
                        names.is_none_or(|names| names.contains(&format!("{text:?}")))
                    }
                    toml::Value::Integer(_) => leaf["type"] == "integer",
                    toml::Value::Float(_) => leaf["type"] == "number",
                    toml::Value::Boolean(_) => leaf["type"] == "boolean",
                    _ => false,
                };
                assert!(fits, "{}: {section}.{key} = {value}: {leaf}", preset.name);
            }
        }
    }
}

#[test]
fn policies_name_their_parameters() {
    let policies = policies();
    let axes: Vec<&String> = policies.as_object().unwrap().keys().collect();
    assert_eq!(axes, ["buffer", "ftl", "host", "mapping", "placement", "victim"]);
    let mapping = policies["mapping"].as_array().unwrap();
    let dftl = mapping.iter().find(|row| row["name"] == "dftl").unwrap();
    let share = dftl["parameters"].as_array().unwrap().iter();
    let share = share.into_iter().find(|row| row["name"] == "dftl.protected_share").unwrap();
    assert_eq!(share["default"], 0.8);
    assert_eq!(share["expected"], "a number above 0 and below 1");
    assert_eq!(policies["victim"][0]["name"], "greedy");
    assert_eq!(policies["victim"][0]["parameters"], Value::Array(Vec::new()));
}

#[test]
fn units_are_read_exactly_or_not_at_all() {
    let size = |text: &str| Size::parse(text).ok().map(|size| size.0);
    assert_eq!(size("4KiB"), Some(4096));
    assert_eq!(size(" 4 KiB "), Some(4096));
    assert_eq!(size("4096"), Some(4096));
    assert_eq!(size("1.5GiB"), Some(3 << 29));
    assert_eq!(size("0.001KB"), Some(1));
    assert_eq!(size("16TiB"), Some(16 << 40));
    assert_eq!(size("18446744073709551615B"), Some(u64::MAX));
    for text in [
        "",
        "KiB",
        "1.KiB",
        ".5KiB",
        "1.2.3KiB",
        "0.3KiB",
        "-1B",
        "+1",
        "1e3",
        "20000000TiB",
        "4kib",
    ] {
        assert_eq!(size(text), None, "{text}");
    }
    assert_eq!(Time::parse("130.9us"), Ok(Time(130_900)));
    assert!(Time::parse("0.5ns").is_err() && Time::parse("7").is_err());
    assert_eq!(Rate::parse("none"), Ok(Rate(None)));
    assert!(Rate::parse("0MB/s").is_err() && Rate::parse("40MB").is_err());
    assert_eq!(parse_count("10M"), Ok(10_000_000));
    assert_eq!(parse_count("64Ki"), Ok(65_536));
    assert_eq!(parse_count("1.5k"), Ok(1500));
    assert!(parse_count("1.5").is_err());
}

#[test]
fn a_transfer_is_not_over_before_its_last_byte() {
    let rate = |text: &str| Rate::parse(text).unwrap();
    assert_eq!(rate("1200MB/s").transfer_ns(4096), 3414);
    assert_eq!(rate("none").transfer_ns(4096), 0);
    assert_eq!(rate("1B/s").transfer_ns(u64::MAX), u64::MAX);
}

#[test]
fn units_read_their_own_output() {
    let mut rng = Rng::new(5);
    for _ in 0..20_000 {
        let odd = rng.bits() >> rng.below(64);
        let base: u64 = [1, 10, 1000, 1024][rng.below(4) as usize];
        let n = odd.saturating_mul(base.pow(rng.below(5) as u32));
        let (size, time) = (Size(n), Time(n));
        let rate = Rate(std::num::NonZeroU64::new(n));
        assert_eq!(Size::parse(&size.to_string()), Ok(size));
        assert_eq!(Time::parse(&time.to_string()), Ok(time));
        assert_eq!(Rate::parse(&rate.to_string()), Ok(rate));
        // Canonical: parsing and printing again changes nothing.
        assert_eq!(Size::parse(&size.to_string()).unwrap().to_string(), size.to_string());
    }
    assert_eq!(Size(0).to_string(), "0B");
    assert_eq!(Size(1000).to_string(), "1KB");
    assert_eq!(Size(1536).to_string(), "1536B");
    assert_eq!(Time(1_500_000).to_string(), "1500us");
}

#[test]
fn a_block_fits_into_the_buffer() {
    let small = [("buffer.capacity", "32KiB"), ("flash.page", "2KiB")];
    let of = |buffer: &[_]| Config::load(None, None, &sets(&[&small, buffer].concat()));
    let block = |pages| [("buffer.scheme", "bplru"), ("buffer.block_pages", pages)];
    of(&block("16")).unwrap();
    let error = of(&block("17")).unwrap_err().to_string();
    assert!(error.ends_with("at most the 16 pages that buffer.capacity holds"), "{error}");
    of(&[block("17").as_slice(), &[("mapping.unit", "1KiB")]].concat()).unwrap();
    of(&[("buffer.block_pages", "17")]).unwrap();
}

#[test]
fn a_cache_holds_an_entry_and_its_node() {
    for (scheme, least) in [("tlllp", 16), ("tpftl", 14)] {
        let load = |cache: u32| {
            let cache = cache.to_string();
            let pairs = [("mapping.scheme", scheme), ("mapping.cache", cache.as_str())];
            Config::load(None, None, &sets(&pairs))
        };
        assert!(load(least).is_ok());
        let error = load(least - 1).unwrap_err().to_string();
        assert!(error.contains(&format!("one entry and its node, of {scheme}.")), "{error}");
    }
}
