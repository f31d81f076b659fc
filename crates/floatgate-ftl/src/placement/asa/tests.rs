use super::*;
use crate::placement::tests::config;
use crate::rng::Rng;

fn asa(pages: u32, change: impl Fn(&mut AsaConfig)) -> Asa {
    let mut config = config(pages);
    change(&mut config.asa);
    Asa::new(&config)
}

fn write(asa: &mut Asa, lpn: u32, clock: u64) -> u8 {
    asa.stream(HostWrite { lpn: Lpn::new(lpn), request_pages: 1, clock, now_ns: 1000 * clock })
}

fn relocation(lpn: u32, stream: u8, clock: u64) -> Relocation {
    Relocation { lpn: Lpn::new(lpn), stream, clock, now_ns: 1000 * clock }
}

#[test]
fn the_age_of_the_papers_example() {
    // Page 8 was updated at 34. Its entry returns to the cache at 50.
    let mut asa = asa(16, |_| ());
    write(&mut asa, 8, 34);
    assert_eq!(asa.age(Lpn::new(8), 50), Some(16));
    assert_eq!(asa.age(Lpn::new(7), 50), None);
}

/// Gives the first pages these ages at time 2000.
fn aged(asa: &mut Asa, ages: &[u64]) -> Vec<Lpn> {
    let pages: Vec<Lpn> = (0..ages.len() as u32).map(Lpn::new).collect();
    for (lpn, age) in pages.iter().zip(ages) {
        asa.updated[lpn.index()] = 2000 - age;
    }
    pages
}

const AGES: [u64; 9] = [1, 2, 3, 100, 101, 102, 1000, 1001, 1002];

#[test]
fn criteria_are_half_way_between_clusters() {
    let mut asa = asa(64, |_| ());
    let pages = aged(&mut asa, &AGES);
    assert_eq!(write(&mut asa, 20, 1999), COLD, "no criteria yet");
    asa.sampled(&pages, 2000, 0);
    asa.check();
    assert_eq!(asa.criteria, Some(Criteria { hot: 51, warm: 551 }));
    for (age, label) in [(0, HOT), (51, HOT), (52, WARM), (551, WARM), (552, COLD)] {
        asa.updated[30] = 5000 - age;
        assert_eq!(asa.classify(relocation(30, COLD, 5000)), label);
        assert_eq!(write(&mut asa, 30, 5000), label, "age {age}");
        assert_eq!(asa.age(Lpn::new(30), 5000), Some(0), "an update makes it young");
    }
    assert_eq!(write(&mut asa, 31, 5000), COLD, "a first write");
}

#[test]
fn criteria_stay_when_a_sample_tells_nothing() {
    let mut asa = asa(64, |_| ());
    let pages = aged(&mut asa, &AGES);
    asa.sampled(&pages, 2000, 0);
    let known = asa.criteria;
    asa.sampled(&[], 2000, 0);
    asa.sampled(&pages[..2], 2000, 0);
    let all_equal = aged(&mut asa, &[70; 9]);
    asa.sampled(&all_equal, 2000, 0);
    asa.sampled(&[Lpn::new(50), Lpn::new(51), Lpn::new(52)], 2000, 0);
    assert_eq!(asa.criteria, known);
    // Three ages are enough.
    let three = aged(&mut asa, &[10, 20, 30]);
    asa.sampled(&three, 2000, 0);
    assert_eq!(asa.criteria, Some(Criteria { hot: 15, warm: 25 }));
}

#[test]
fn samples_are_asked_for_once_a_period() {
    let mut asa = asa(64, |config| {
        (config.update_period, config.samples) = (10, 7);
        config.sample_source = SampleSource::Written;
    });
    for clock in 0..30 {
        assert_eq!(asa.wants_samples().is_some(), clock > 0 && clock % 10 == 0, "{clock}");
        write(&mut asa, 0, clock);
    }
    let expected = Samples { count: 7, source: SampleSource::Written };
    assert_eq!(asa.wants_samples(), Some(expected));
    assert_eq!(asa.wants_samples(), None);
}

#[test]
fn cleaning_demotes_if_asked_to() {
    for relabel_on_gc in [false, true] {
        let mut asa = asa(64, |config| config.relabel_on_gc = relabel_on_gc);
        let pages = aged(&mut asa, &AGES);
        asa.sampled(&pages, 2000, 0);
        let (old, young) = (8, 0);
        let cases = [(old, HOT, COLD), (old, COLD, COLD), (young, HOT, HOT), (young, COLD, COLD)];
        for (lpn, stream, expected) in cases {
            let expected = if relabel_on_gc { expected } else { stream };
            assert_eq!(asa.moved(relocation(lpn, stream, 2000)), expected, "{lpn} {stream}");
        }
        assert_eq!(asa.age(Lpn::new(old), 2000), Some(1002), "cleaning is no update");
    }
}

#[test]
fn time_can_be_the_clock() {
    let mut asa = asa(64, |config| config.clock = AsaClock::Time);
    write(&mut asa, 8, 34);
    assert_eq!(asa.age(Lpn::new(8), 50_000), Some(16_000));
}

#[test]
fn a_trimmed_page_starts_anew() {
    let mut asa = asa(64, |_| ());
    let pages = aged(&mut asa, &AGES);
    asa.sampled(&pages, 2000, 0);
    asa.observe(PlacementEvent::Trimmed(Lpn::new(0)));
    assert_eq!(write(&mut asa, 0, 2001), COLD);
    assert_eq!(write(&mut asa, 0, 2002), HOT);
}

/// A tenth of the pages gets nine tenths of the writes.
struct Skewed {
    asa: Asa,
    rng: Rng,
    clock: u64,
}

impl Skewed {
    const PAGES: u64 = 4000;
    const HOT: u64 = 400;
    const PERIOD: u64 = 10_000;

    fn new(log1p: bool) -> Self {
        let change = |config: &mut AsaConfig| {
            (config.update_period, config.log1p) = (Self::PERIOD as u32, log1p);
        };
        Self { asa: asa(Self::PAGES as u32, change), rng: Rng::new(3), clock: 0 }
    }

    /// Writes for `periods` periods, with the hot range at `first`. Returns the shares of writes
    /// that were labelled hot, in the hot range and outside it.
    fn run(&mut self, first: u64, periods: u64) -> [f64; 2] {
        let mut counts = [[0u32; 2]; 2];
        for _ in 0..periods * Self::PERIOD {
            if self.asa.wants_samples().is_some() {
                let sample: Vec<Lpn> =
                    (0..1000).map(|_| Lpn::new(self.rng.below(Self::PAGES) as u32)).collect();
                self.asa.sampled(&sample, self.clock, 0);
                self.asa.check();
            }
            let is_hot = self.rng.below(10) < 9;
            let place = match is_hot {
                true => self.rng.below(Self::HOT),
                false => Self::HOT + self.rng.below(Self::PAGES - Self::HOT),
            };
            let lpn = (first + place) % Self::PAGES;
            let label = write(&mut self.asa, lpn as u32, self.clock);
            counts[usize::from(!is_hot)][usize::from(label == HOT)] += 1;
            self.clock += 1;
        }
        counts.map(|[other, hot]| f64::from(hot) / f64::from(hot + other))
    }
}

#[test]
fn the_hot_range_moves_and_the_labels_follow() {
    // Clusters of plain ages label many cold pages hot, because two clusters are in the tail of
    // ages.
    for (log1p, cold_max) in [(false, 0.75), (true, 0.2)] {
        let mut skewed = Skewed::new(log1p);
        skewed.run(0, 20);
        let [hot, cold] = skewed.run(0, 1);
        assert!(hot > 0.8 && cold < cold_max, "{log1p}: {hot} {cold}");
        skewed.run(2000, 2);
        let [hot, cold] = skewed.run(2000, 1);
        assert!(hot > 0.8 && cold < cold_max, "{log1p}: {hot} {cold}");
    }
}

#[test]
fn logarithms_are_monotone_and_close() {
    let mut rng = Rng::new(16);
    let mut last = 0;
    for number in 0..100_000 {
        let log = log1p(number);
        assert!(log >= last);
        last = log;
    }
    for _ in 0..10_000 {
        let number = rng.bits() >> rng.below(63);
        let exact = ((number as f64) + 1.0).log2() * 65536.0;
        assert!((log1p(number) as f64 - exact).abs() < 2.0, "{number}");
        let highest = highest_age(|age| log1p(age) <= log1p(number));
        assert!(highest >= number && log1p(highest) == log1p(number));
    }
    assert_eq!((log1p(0), log1p(1), log1p(u64::MAX - 1)), (0, 65536, 64 * 65536 - 1));
}

#[test]
fn with_logarithms_heavy_tails_weigh_less() {
    let mut asa = asa(64, |config| config.log1p = true);
    let pages = aged(&mut asa, &[1, 1, 1, 31, 31, 31, 1023, 1023, 1023]);
    asa.sampled(&pages, 2000, 0);
    // Clusters at 1, 5 and 10. The borders of the age plus one are at 2^3 and 2^7.5.
    assert_eq!(asa.criteria, Some(Criteria { hot: 7, warm: 180 }));
}

#[test]
fn memory_is_samples_and_criteria_and_ages_unless_the_map_has_them() {
    assert_eq!(asa(64, |_| ()).memory_bytes(), 4 * (1000 + 2 + 64));
    let ages_in_map = PlacementConfig { ages_in_map: true, ..config(64) };
    assert_eq!(Asa::new(&ages_in_map).memory_bytes(), 4 * 1002);
}
