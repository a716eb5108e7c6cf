//! Hit files of JVMs: a log of hits, grouped by test. `touchstone-agent-java` writes it, and its `hit_log_writer.rs` describes the
//! format.

use super::hit_file::HitFile;
use std::collections::BTreeMap;

const MAGIC: &[u8; 8] = b"TSLOG001";
const HEADER_BYTES: usize = 4096;
const TEST: u32 = 0x4000_0000;
const OUTSIDE: u32 = 0x5000_0000;
const TOGETHER: u32 = 0x6000_0000;
const BY: u32 = 0x7000_0000;
const UNIT: u32 = 0x8000_0000;
const OWNER: u32 = 0x9000_0000;
const OVER: u32 = 0xa000_0000;
const SKIP: u32 = 0xc000_0000;

/// The suffix of the test name for hits that can't be attributed to one of several concurrent tests.
const UNATTRIBUTED_NAME: &str = "tests at the same time";

/// Returns the test name for the hits of a process that can't be attributed to a test.
pub(crate) fn unattributed_test_name(process: &str) -> String {
    format!("{process}: {UNATTRIBUTED_NAME}")
}

/// Returns true if a file is a hit log.
pub(crate) fn is_log(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The owner of the hits that follow in the log.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum HitOwner {
    Outside,
    Unattributed,
    Test(String),
    /// A test that ran concurrently with others, or a thread that such a test started.
    Thread(u32),
}

/// Parses a log. Returns the hits of each test, and those outside of any test.
pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<HitFile>, &'static str> {
    let process = HitFile::process(bytes)?;
    let words = bytes.get(HEADER_BYTES..).ok_or("it is too short")?;
    let word = |at: usize| Some(u32::from_le_bytes(words.get(at..at + 4)?.try_into().ok()?));
    // For the number of the first probe: the unit, and the number of its probes.
    let mut units: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
    let mut hits: Vec<(HitOwner, Vec<u32>)> = vec![(HitOwner::Outside, Vec::new())];
    let mut places: BTreeMap<HitOwner, usize> = BTreeMap::from([(HitOwner::Outside, 0)]);
    let mut place = 0;
    let mut place_of = |owner: HitOwner, hits: &mut Vec<(HitOwner, Vec<u32>)>| {
        *places.entry(owner.clone()).or_insert_with(|| {
            hits.push((owner, Vec::new()));
            hits.len() - 1
        })
    };
    // The owners that are tests, and for each helper thread that ended in time the test that started it.
    let (mut tests, mut over): (BTreeMap<u32, String>, BTreeMap<u32, u32>) = Default::default();
    let mut at = 0;
    while let Some(found) = word(at) {
        at += 4;
        match found {
            0 => {}
            1..TEST => {
                let known = units.range(..found).next_back();
                if known.is_none_or(|(first, (_, size))| found - 1 - first >= *size) {
                    return Err("it has hits of nothing");
                }
                hits[place].1.push(found - 1);
            }
            TEST..OUTSIDE => {
                let length = (found - TEST) as usize;
                let name = words.get(at..at + length).ok_or("a name in it is cut off")?;
                place = place_of(HitOwner::Test(String::from_utf8_lossy(name).into_owned()), &mut hits);
                at += length.next_multiple_of(4);
            }
            OUTSIDE => place = 0,
            TOGETHER => place = place_of(HitOwner::Unattributed, &mut hits),
            BY..UNIT => place = place_of(HitOwner::Thread(found - BY), &mut hits),
            OWNER..OVER => {
                let length = (found - OWNER) as usize;
                let (Some(owner), Some(name)) = (word(at), words.get(at + 4..at + 4 + length)) else {
                    return Err("a name in it is cut off");
                };
                tests.insert(owner, String::from_utf8_lossy(name).into_owned());
                // A test that hits nothing is a test, too.
                place_of(HitOwner::Thread(owner), &mut hits);
                at += 4 + length.next_multiple_of(4);
            }
            OVER => {
                let (Some(helper), Some(test)) = (word(at), word(at + 4)) else {
                    return Err("an owner in it is cut off");
                };
                over.insert(helper, test);
                at += 8;
            }
            UNIT => {
                let [Some(low), Some(high), Some(first), Some(size)] = [0, 4, 8, 12].map(|more| word(at + more)) else {
                    return Err("a unit in it is cut off");
                };
                units.insert(first, (u64::from(high) << 32 | u64::from(low), size));
                at += 16;
            }
            SKIP.. => at += 4 * (found - SKIP) as usize,
            _ => return Err("it has words of another version"),
        }
    }
    let mut hits = merge_by_test(hits, &tests, &over);
    // A process that only runs tests is no test itself.
    if hits.len() > 1 && hits[0].1.is_empty() {
        hits.remove(0);
    }
    let of = |(owner, mut numbers): (HitOwner, Vec<u32>)| {
        let mut by_unit: BTreeMap<u64, Vec<(u32, u8)>> = BTreeMap::new();
        // A test without hits could have hit all loaded units.
        if numbers.is_empty() {
            by_unit.extend(units.values().map(|(unit, _)| (*unit, Vec::new())));
        }
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            if let Some((first, (unit, _))) = units.range(..=number).next_back() {
                by_unit.entry(*unit).or_default().push((number - first, 1));
            }
        }
        let test = match owner {
            HitOwner::Outside => process.test.clone(),
            HitOwner::Unattributed | HitOwner::Thread(_) => {
                let process = process.test.clone().unwrap_or_else(|| process.process_name());
                Some(unattributed_test_name(&process))
            }
            HitOwner::Test(name) => Some(name),
        };
        HitFile { test, units: by_unit.into_iter().collect(), ..process.clone() }
    };
    Ok(hits.into_iter().map(of).collect())
}

/// Attributes the hits of threads to their tests and merges the hits of each test. Hits of unknown owners stay
/// unattributed.
fn merge_by_test(
    hits: Vec<(HitOwner, Vec<u32>)>,
    tests: &BTreeMap<u32, String>,
    over: &BTreeMap<u32, u32>,
) -> Vec<(HitOwner, Vec<u32>)> {
    let mut named: Vec<(HitOwner, Vec<u32>)> = Vec::new();
    let mut places: BTreeMap<HitOwner, usize> = BTreeMap::new();
    for (owner, numbers) in hits {
        let owner = match owner {
            HitOwner::Thread(owner) => match tests.get(over.get(&owner).unwrap_or(&owner)) {
                Some(name) => HitOwner::Test(name.clone()),
                None => HitOwner::Unattributed,
            },
            other => other,
        };
        let place = *places.entry(owner.clone()).or_insert_with(|| {
            named.push((owner, Vec::new()));
            named.len() - 1
        });
        named[place].1.extend(numbers);
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_base::CorruptedInputs;

    fn log(words: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[528..538].copy_from_slice(b"java\0T\0\0\0\0");
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    /// Returns a log of two units; the second is loaded later, as classes are.
    fn whole() -> Vec<u8> {
        let name = u32::from_le_bytes(*b"A.a\0");
        let units = [UNIT, 5, 0, 0, 20, 7, SKIP + 2, 99, 99];
        let tests = [TEST + 3, name, 1, 7, UNIT, 6, 1, 20, 10, 22, 0, OUTSIDE, 7, TEST + 3, name, 7, TOGETHER, 2];
        log(&[&units[..], &tests[..]].concat())
    }

    #[test]
    fn hits_are_those_of_the_test_that_ran() {
        let files = parse(&whole()).expect("one of ours");
        let shown: Vec<_> = files.iter().map(|file| (file.test.as_deref(), file.units.clone())).collect();
        assert_eq!(
            shown,
            [
                (None, vec![(5, vec![(6, 1)])]),
                (Some("A.a"), vec![(5, vec![(0, 1), (6, 1)]), (1 << 32 | 6, vec![(1, 1)])]),
                (Some("java T: tests at the same time"), vec![(5, vec![(1, 1)])]),
            ]
        );
    }

    #[test]
    fn hits_of_tests_beside_each_other_are_those_of_their_threads_and_of_threads_that_were_over_in_time() {
        let [one, other] = [*b"A.a\0", *b"A.b\0"].map(u32::from_le_bytes);
        let owners = [UNIT, 5, 0, 0, 20, TEST + 3, one, 1, OWNER + 3, 1, one, OWNER + 3, 2, other];
        let helper = 1 << 27;
        let hits = [BY + 1, 2, BY + 2, 3, BY + helper, 4, BY + helper + 1, 5, BY + 1, 6, TOGETHER, 7];
        let files = parse(&log(&[&owners[..], &hits, &[OVER, helper, 2]].concat())).expect("one of ours");
        let shown: Vec<_> = files.iter().map(|file| (file.test.as_deref(), file.units.clone())).collect();
        let of = |probes: &[u32]| vec![(5, probes.iter().map(|probe| (*probe, 1)).collect::<Vec<_>>())];
        let nobody = Some("java T: tests at the same time");
        assert_eq!(shown, [(Some("A.a"), of(&[0, 1, 5])), (Some("A.b"), of(&[2, 3])), (nobody, of(&[4, 6]))]);
    }

    #[test]
    fn a_process_that_only_runs_tests_is_none() {
        let name = u32::from_le_bytes(*b"A.a\0");
        let files = parse(&log(&[UNIT, 5, 0, 0, 20, TEST + 3, name, OUTSIDE])).expect("one of ours");
        let shown: Vec<_> = files.iter().map(|file| (file.test.as_deref(), file.units.as_slice())).collect();
        assert_eq!(shown, [(Some("A.a"), &[(5, Vec::new())][..])]);
    }

    #[test]
    fn a_damaged_log_is_read_or_refused() {
        let whole = whole();
        let (mut read, mut refused) = (0, 0);
        for damaged in CorruptedInputs::of(&whole[HEADER_BYTES..]).take(3000) {
            let bytes = [&whole[..HEADER_BYTES], &damaged].concat();
            match parse(&bytes) {
                Ok(files) => {
                    let all: usize = files.iter().flat_map(|file| &file.units).map(|(_, hit)| hit.len()).sum();
                    assert!(all <= bytes.len());
                    read += 1;
                }
                Err(_) => refused += 1,
            }
        }
        assert!(read > 300 && refused > 300, "{read} read, {refused} refused");
    }
}
