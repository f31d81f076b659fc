//! Every preset can be a live drive.

use floatgate_lab::config::{Config, presets};
use floatgate_lab::drive::live::live_config;

/// The journal keeps one unit free, so a config with the least number of free units gets one more.
#[test]
fn every_preset_makes_a_live_drive() {
    let mut raised = vec![];
    for preset in presets() {
        let config = Config::load(Some(preset.name), None, &[]).unwrap();
        let live = live_config(&config, 1 << 30).unwrap_or_else(|error| panic!("{error}"));
        assert!(live.ftl.journal);
        if live.cleaning.low_water != config.cleaning.low_water {
            assert_eq!(live.cleaning.low_water, config.cleaning.low_water.map(|low| low + 1));
            raised.push(preset.name);
        }
    }
    raised.sort_unstable();
    assert_eq!(raised, ["asa14", "dftl09", "flashsim", "tlllp17"]);
    // A config that enables the journal already counts this unit.
    let sets = [("ftl.journal", "true"), ("cleaning.low_water", "3")];
    let sets = sets.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let config = Config::load(Some("dftl09"), None, &sets).unwrap();
    let error = live_config(&config, 1 << 30).unwrap_err().to_string();
    assert!(error.contains("cleaning.low_water = 3: expected at least 4"), "{error}");
}
