//! Generator of TPC-H's tables: deterministic, with the distributions of the specification (clause
//! 4.2) and comments of a simpler grammar. Rows are in COPY's text format.

use std::fmt::Write;

/// Receives chunks of rows of a table.
pub type Sink<'a> = dyn FnMut(&str, &[u8]) -> Result<(), String> + 'a;

const CHUNK_BYTES: usize = 8 << 20;

/// Days since 1992-01-01.
type Day = u32;
const LAST_ORDER: Day = 2405;
const CURRENT: Day = 1263;

const COLOURS: &str = "almond antique aquamarine azure beige bisque black blanched blue blush \
                       brown burlywood burnished chartreuse chiffon chocolate coral cornflower \
                       cornsilk cream cyan dark deep dim dodger drab firebrick floral forest \
                       frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory \
                       khaki lace lavender lawn lemon light lime linen magenta maroon medium \
                       metallic midnight mint misty moccasin navajo navy olive orange orchid pale \
                       papaya peach peru pink plum powder puff purple red rose rosy royal saddle \
                       salmon sandy seashell sienna sky slate smoke snow spring steel tan thistle \
                       tomato turquoise violet wheat white yellow";
const TYPES: [&str; 3] = [
    "STANDARD SMALL MEDIUM LARGE ECONOMY PROMO",
    "ANODIZED BURNISHED PLATED POLISHED BRUSHED",
    "TIN NICKEL BRASS STEEL COPPER",
];
const CONTAINERS: [&str; 2] = ["SM LG MED JUMBO WRAP", "CASE BOX BAG JAR PKG PACK CAN DRUM"];
const SEGMENTS: &str = "AUTOMOBILE BUILDING FURNITURE MACHINERY HOUSEHOLD";
const PRIORITIES: [&str; 5] = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"];
const INSTRUCTIONS: [&str; 4] = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"];
const MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];
const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];
const NATIONS: [(&str, u32); 25] = [
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CANADA", 1),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("CHINA", 2),
    ("ROMANIA", 3),
    ("SAUDI ARABIA", 4),
    ("VIETNAM", 2),
    ("RUSSIA", 3),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
];
const ADVERBS: &str =
    "furiously slyly carefully blithely quickly fluffily slowly quietly ruthlessly daringly";
const ADJECTIVES: &str = "special pending unusual express furious sly careful blithe quick fluffy \
                          slow quiet ruthless thin close dogged daring brave stealthy permanent \
                          enticing idle busy regular final ironic even bold silent";
const NOUNS: &str = "requests accounts packages deposits foxes ideas theodolites instructions \
                     dependencies excuses platelets asymptotes courts dolphins multipliers \
                     sauternes warthogs frets dinos attainments somas patterns forges braids frays \
                     warhorses dugouts epitaphs pearls tithes waters orbits gifts sheaves depths \
                     sentiments decoys realms";
const VERBS: &str = "sleep wake are cajole haggle nag use boost affix detect integrate maintain \
                     nod was lose solve thrash promise engage hinder print breach eat grow impress \
                     mold poach serve run dazzle snooze doze unwind kindle";
const PREPOSITIONS: &str = "about above according to across after against along among around at \
                            before behind beneath beside between beyond by despite during except \
                            for from inside instead of into near of on outside over past";

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both inclusive.
    fn within(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.next() as usize % list.len()]
    }
}

struct Words {
    colours: Vec<&'static str>,
    types: [Vec<&'static str>; 3],
    containers: [Vec<&'static str>; 2],
    segments: Vec<&'static str>,
    speech: [Vec<&'static str>; 5],
}

fn split(list: &'static str) -> Vec<&'static str> {
    list.split_whitespace().collect()
}

impl Words {
    fn new() -> Words {
        Words {
            colours: split(COLOURS),
            types: TYPES.map(split),
            containers: CONTAINERS.map(split),
            segments: split(SEGMENTS),
            speech: [ADVERBS, ADJECTIVES, NOUNS, VERBS, PREPOSITIONS].map(split),
        }
    }

    /// Appends a text of `low` to `high` bytes.
    fn comment(&self, r: &mut Random, low: i64, high: i64, out: &mut String) {
        let len = r.within(low, high) as usize;
        let start = out.len();
        // Adverb, adjective, noun, verb, preposition, adjective, noun; some are omitted.
        'full: loop {
            for kind in [0, 1, 2, 3, 4, 1, 2] {
                if kind != 2 && r.next().is_multiple_of(3) {
                    continue;
                }
                if out.len() > start {
                    out.push(' ');
                }
                out.push_str(r.of(&self.speech[kind]));
                if out.len() - start >= len {
                    break 'full;
                }
            }
            out.push('.');
        }
        out.truncate(start + len);
        if out.ends_with(' ') {
            out.pop();
            out.push('.');
        }
    }
}

/// Numbers of rows at a scale factor.
pub struct Counts {
    pub suppliers: i64,
    pub parts: i64,
    pub customers: i64,
    pub orders: i64,
}

impl Counts {
    pub fn at(scale: f64) -> Counts {
        let of = |n: f64| ((n * scale).round() as i64).max(10);
        Counts {
            suppliers: of(10_000.0),
            parts: of(200_000.0),
            customers: of(150_000.0),
            orders: of(1_500_000.0),
        }
    }
}

/// Generates all rows of all tables.
pub fn generate(scale: f64, sink: &mut Sink<'_>) -> Result<(), String> {
    let (counts, words) = (Counts::at(scale), Words::new());
    small_tables(&words, sink)?;
    suppliers(&counts, &words, sink)?;
    parts(&counts, &words, sink)?;
    customers(&counts, &words, sink)?;
    orders(&counts, &words, sink)
}

/// A buffer of rows of a table.
struct Rows {
    table: &'static str,
    text: String,
}

impl Rows {
    fn of(table: &'static str) -> Rows {
        Rows { table, text: String::new() }
    }

    /// Ends a row.
    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), String> {
        self.text.push('\n');
        if self.text.len() >= CHUNK_BYTES { self.flush(sink) } else { Ok(()) }
    }

    fn flush(&mut self, sink: &mut Sink<'_>) -> Result<(), String> {
        sink(self.table, self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }
}

fn cents(v: i64) -> String {
    format!("{}{}.{:02}", if v < 0 { "-" } else { "" }, v.abs() / 100, v.abs() % 100)
}

fn phone(r: &mut Random, nation: i64) -> String {
    let (a, b, c) = (r.within(100, 999), r.within(100, 999), r.within(1000, 9999));
    format!("{}-{a}-{b}-{c}", nation + 10)
}

fn address(r: &mut Random) -> String {
    let letters = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ, ";
    let len = r.within(10, 40);
    let text: String = (0..len).map(|_| char::from(r.of(letters))).collect();
    text.trim().to_string()
}

fn small_tables(words: &Words, sink: &mut Sink<'_>) -> Result<(), String> {
    let mut r = Random(1);
    let mut rows = Rows::of("region");
    for (i, name) in REGIONS.iter().enumerate() {
        let _ = write!(rows.text, "{i}\t{name}\t");
        words.comment(&mut r, 31, 115, &mut rows.text);
        rows.end(sink)?;
    }
    rows.flush(sink)?;
    let mut rows = Rows::of("nation");
    for (i, (name, region)) in NATIONS.iter().enumerate() {
        let _ = write!(rows.text, "{i}\t{name}\t{region}\t");
        words.comment(&mut r, 31, 114, &mut rows.text);
        rows.end(sink)?;
    }
    rows.flush(sink)
}

fn suppliers(counts: &Counts, words: &Words, sink: &mut Sink<'_>) -> Result<(), String> {
    let mut r = Random(2);
    let mut rows = Rows::of("supplier");
    for key in 1..=counts.suppliers {
        let nation = r.within(0, 24);
        let (address, phone) = (address(&mut r), phone(&mut r, nation));
        let balance = cents(r.within(-99_999, 999_999));
        let t = &mut rows.text;
        let _ = write!(t, "{key}\tSupplier#{key:09}\t{address}\t{nation}\t{phone}\t{balance}\t");
        let start = t.len();
        words.comment(&mut r, 25, 100, t);
        // Of 10,000 suppliers, five have complaints and five have recommendations.
        let which = match r.within(0, 1999) {
            0 => Some("Customer slow Complaints"),
            1 => Some("Customer fast Recommends"),
            _ => None,
        };
        if let Some(which) = which {
            t.replace_range(start..start + which.len(), which);
        }
        rows.end(sink)?;
    }
    rows.flush(sink)
}

/// The `i`-th (of four) supplier of a part.
fn supplier_of(part: i64, i: i64, suppliers: i64) -> i64 {
    (part + i * (suppliers / 4 + (part - 1) / suppliers)) % suppliers + 1
}

/// The retail price in cents.
fn retail_price(part: i64) -> i64 {
    90_000 + (part / 10) % 20_001 + 100 * (part % 1000)
}

fn parts(counts: &Counts, words: &Words, sink: &mut Sink<'_>) -> Result<(), String> {
    let mut r = Random(3);
    let (mut rows, mut offers) = (Rows::of("part"), Rows::of("partsupp"));
    for key in 1..=counts.parts {
        let mut name: Vec<&str> = Vec::with_capacity(5);
        while name.len() < 5 {
            let word = r.of(&words.colours);
            if !name.contains(&word) {
                name.push(word);
            }
        }
        let (m, b) = (r.within(1, 5), r.within(1, 5));
        let [t1, t2, t3] = [0, 1, 2].map(|i| r.of(&words.types[i]));
        let [c1, c2] = [0, 1].map(|i| r.of(&words.containers[i]));
        let (size, price) = (r.within(1, 50), cents(retail_price(key)));
        let _ = write!(
            rows.text,
            "{key}\t{}\tManufacturer#{m}\tBrand#{m}{b}\t{t1} {t2} {t3}\t{size}\t{c1} \
             {c2}\t{price}\t",
            name.join(" "),
        );
        words.comment(&mut r, 5, 22, &mut rows.text);
        rows.end(sink)?;
        for i in 0..4 {
            let supplier = supplier_of(key, i, counts.suppliers);
            let (quantity, cost) = (r.within(1, 9999), cents(r.within(100, 100_000)));
            let _ = write!(offers.text, "{key}\t{supplier}\t{quantity}\t{cost}\t");
            words.comment(&mut r, 49, 198, &mut offers.text);
            offers.end(sink)?;
        }
    }
    rows.flush(sink)?;
    offers.flush(sink)
}

fn customers(counts: &Counts, words: &Words, sink: &mut Sink<'_>) -> Result<(), String> {
    let mut r = Random(4);
    let mut rows = Rows::of("customer");
    for key in 1..=counts.customers {
        let nation = r.within(0, 24);
        let (address, phone) = (address(&mut r), phone(&mut r, nation));
        let (balance, segment) = (cents(r.within(-99_999, 999_999)), r.of(&words.segments));
        let _ = write!(
            rows.text,
            "{key}\tCustomer#{key:09}\t{address}\t{nation}\t{phone}\t{balance}\t{segment}\t"
        );
        words.comment(&mut r, 29, 116, &mut rows.text);
        rows.end(sink)?;
    }
    rows.flush(sink)
}

/// Formats a day since 1992-01-01 as `1995-06-17`.
fn date(day: Day) -> String {
    let (mut year, mut rest) = (1992, day);
    let length = |y: u32| if y.is_multiple_of(4) { 366 } else { 365 };
    while rest >= length(year) {
        rest -= length(year);
        year += 1;
    }
    let february = length(year) - 337;
    let mut month = 0;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        month += 1;
        if rest < days {
            break;
        }
        rest -= days;
    }
    format!("{year}-{month:02}-{:02}", rest + 1)
}

/// The columns of an order that are totals of its lines.
#[derive(Default)]
struct Totals {
    price: i64,
    open: i64,
    lines: i64,
}

fn orders(counts: &Counts, words: &Words, sink: &mut Sink<'_>) -> Result<(), String> {
    let mut r = Random(5);
    let (mut rows, mut lines) = (Rows::of("orders"), Rows::of("lineitem"));
    let clerks = (counts.suppliers / 10).max(1);
    for i in 0..counts.orders {
        // Eight of every 32 keys are used; a third of the customers has no orders.
        let key = i / 8 * 32 + i % 8 + 1;
        let mut customer = r.within(1, counts.customers);
        if customer % 3 == 0 {
            customer -= 1;
        }
        let day = r.within(0, i64::from(LAST_ORDER)) as Day;
        let mut totals = Totals { lines: r.within(1, 7), ..Totals::default() };
        for number in 1..=totals.lines {
            line(counts, words, &mut r, (key, number, day), &mut totals, &mut lines.text);
            lines.end(sink)?;
        }
        let status = match totals.open {
            0 => 'F',
            n if n == totals.lines => 'O',
            _ => 'P',
        };
        let (price, priority, clerk) =
            (cents(totals.price), r.of(&PRIORITIES), r.within(1, clerks));
        let _ = write!(
            rows.text,
            "{key}\t{customer}\t{status}\t{price}\t{}\t{priority}\tClerk#{clerk:09}\t0\t",
            date(day)
        );
        words.comment(&mut r, 19, 78, &mut rows.text);
        rows.end(sink)?;
    }
    rows.flush(sink)?;
    lines.flush(sink)
}

fn line(
    counts: &Counts,
    words: &Words,
    r: &mut Random,
    (order, number, day): (i64, i64, Day),
    totals: &mut Totals,
    out: &mut String,
) {
    let part = r.within(1, counts.parts);
    let supplier = supplier_of(part, r.within(0, 3), counts.suppliers);
    let quantity = r.within(1, 50);
    let price = quantity * retail_price(part);
    let (discount, tax) = (r.within(0, 10), r.within(0, 8));
    totals.price += price * (100 - discount) * (100 + tax) / 10_000;
    let shipped = day + r.within(1, 121) as Day;
    let committed = day + r.within(30, 90) as Day;
    let received = shipped + r.within(1, 30) as Day;
    let flag = if received > CURRENT { "N" } else { r.of(&["R", "A"]) };
    let status = if shipped > CURRENT { 'O' } else { 'F' };
    totals.open += i64::from(shipped > CURRENT);
    let _ = write!(
        out,
        "{order}\t{part}\t{supplier}\t{number}\t{quantity}\t{}\t{}\t{}\t{flag}\
         \t{status}\t{}\t{}\t{}\t{}\t{}\t",
        cents(price),
        cents(discount),
        cents(tax),
        date(shipped),
        date(committed),
        date(received),
        r.of(&INSTRUCTIONS),
        r.of(&MODES),
    );
    words.comment(r, 10, 43, out);
}
