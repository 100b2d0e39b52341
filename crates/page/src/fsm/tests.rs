use super::*;
use crate::PageBuf;

/// Compares the tree with a plain array of categories.
#[test]
fn tree_agrees_with_an_array() {
    let mut page = PageBuf::new();
    page.init(0);
    let mut model = vec![0u8; SLOTS_PER_PAGE];
    let mut seed = 12345u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    for round in 0..5000 {
        let (slot, value) = (random(SLOTS_PER_PAGE), random(256) as u8);
        set(&mut page, slot, value);
        model[slot] = value;
        if round % 512 == 511 {
            let keep = random(SLOTS_PER_PAGE);
            truncate(&mut page, keep);
            model[keep..].fill(0);
        }
        let min = random(256) as u8;
        match search(&page, min) {
            Search::Found(slot) => {
                assert!(model[slot] >= min);
                set_next_slot(page.hints_mut(), slot + 1);
            }
            Search::NotFound => assert!(model.iter().all(|&v| v < min)),
            Search::Torn => panic!("the page was not damaged"),
        }
        assert_eq!(max(&page), *model.iter().max().unwrap());
    }
    assert!(model.iter().enumerate().all(|(slot, &v)| get(&page, slot) == v));
    assert!(!rebuild(&mut page));
}
