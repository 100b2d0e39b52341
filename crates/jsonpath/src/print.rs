//! The text of a path. Counterpart: jsonpath.c (`printJsonPathItem`).

use crate::error::{check_depth, damaged};
use crate::format::{Item, Kind, LAST_LEVEL, Path, PatternFlags};
use numeric::num::Num;
use pgerror::Result;
use stdx::stack::deep;
use values::fn_context::InterruptChecker;
use values::limits::TextBuffer;
use values::quoted::json_string;

/// The text of a stored path.
pub fn text_of(path: Path<'_>, interrupts: &InterruptChecker<'_>) -> Result<Vec<u8>> {
    let out = TextBuffer::with_capacity(path.bytes());
    let mut p = Printer { out, interrupts, budget: path.bytes(), depth: 0 };
    if !path.lax {
        p.put("strict ");
    }
    p.chain(path.root()?, true)?;
    p.out.into_bytes()
}

struct Printer<'a> {
    out: TextBuffer,
    interrupts: &'a InterruptChecker<'a>,
    /// Number of items that may still be printed: corrupt items could form a cycle.
    budget: usize,
    depth: u32,
}

/// Where an item is printed.
#[derive(Clone, Copy)]
struct Place {
    /// After the first item of a chain.
    in_chain: bool,
    /// Operators are in parentheses.
    parentheses: bool,
    /// Another item follows.
    followed: bool,
}

/// Operator precedence.
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Or => 0,
        Kind::And => 1,
        Kind::Equal
        | Kind::NotEqual
        | Kind::Less
        | Kind::Greater
        | Kind::LessOrEqual
        | Kind::GreaterOrEqual
        | Kind::StartsWith => 2,
        Kind::Add | Kind::Sub => 3,
        Kind::Mul | Kind::Div | Kind::Mod => 4,
        Kind::Plus | Kind::Minus => 5,
        _ => 6,
    }
}

impl Printer<'_> {
    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Prints an operand, in parentheses if its precedence is not higher than `above`.
    fn operand(&mut self, item: Item<'_>, above: u8) -> Result<()> {
        self.chain(item, rank(item.kind) <= above)
    }

    /// Prints the operand of an item between two texts.
    fn inner(&mut self, item: Item<'_>, before: &str, after: &str) -> Result<()> {
        self.put(before);
        self.chain(item.inner()?, false)?;
        self.put(after);
        Ok(())
    }

    /// Prints an item and those that follow it.
    fn chain(&mut self, first: Item<'_>, parentheses: bool) -> Result<()> {
        self.depth += 1;
        check_depth(self.depth, self.interrupts)?;
        let mut place = Place { in_chain: false, parentheses, followed: false };
        let mut item = first;
        loop {
            self.budget = self.budget.checked_sub(1).ok_or_else(damaged)?;
            self.interrupts.tick()?;
            self.out.check()?;
            let next = item.next()?;
            place.followed = next.is_some();
            deep(|| self.item(item, place))?;
            let Some(next) = next else { break };
            item = next;
            place = Place { in_chain: true, parentheses: true, followed: false };
        }
        self.depth -= 1;
        Ok(())
    }

    fn item(&mut self, item: Item<'_>, place: Place) -> Result<()> {
        let dot = if place.in_chain { "." } else { "" };
        match item.kind {
            Kind::Null | Kind::Current | Kind::Root | Kind::Last | Kind::AnyArray => {
                self.put(item.kind.name());
            }
            Kind::String => json_string(&mut self.out, item.text()?),
            Kind::Key => {
                self.put(dot);
                json_string(&mut self.out, item.text()?);
            }
            Kind::Variable => {
                self.put("$");
                json_string(&mut self.out, item.text()?);
            }
            Kind::Numeric => {
                let text = Num::from_payload(item.number()?).to_string();
                self.put(&if place.followed { format!("({text})") } else { text });
            }
            Kind::Bool => self.put(if item.bool()? { "true" } else { "false" }),
            Kind::Not => self.inner(item, "!(", ")")?,
            Kind::IsUnknown => self.inner(item, "(", ") is unknown")?,
            Kind::Exists => self.inner(item, "exists (", ")")?,
            Kind::Filter => self.inner(item, "?(", ")")?,
            Kind::AnyKey => self.put(&format!("{dot}*")),
            Kind::Any => self.levels(item, dot)?,
            Kind::IndexArray => self.subscripts(item)?,
            Kind::Datetime => {
                self.put(".datetime(");
                if let Some(template) = item.argument()? {
                    self.chain(template, false)?;
                }
                self.put(")");
            }
            Kind::Type
            | Kind::Size
            | Kind::Abs
            | Kind::Floor
            | Kind::Ceiling
            | Kind::Double
            | Kind::KeyValue => self.put(&format!(".{}()", item.kind.name())),
            Kind::Subscript => return Err(damaged()),
            _ if place.parentheses => {
                self.put("(");
                self.operator(item)?;
                self.put(")");
            }
            _ => self.operator(item)?,
        }
        Ok(())
    }

    fn operator(&mut self, item: Item<'_>) -> Result<()> {
        let above = rank(item.kind);
        match item.kind {
            Kind::Plus | Kind::Minus => {
                self.put(item.kind.name());
                self.operand(item.inner()?, above)
            }
            Kind::LikeRegex => {
                let pattern = item.pattern()?;
                self.operand(pattern.operand, above)?;
                self.put(" like_regex ");
                json_string(&mut self.out, pattern.pattern);
                self.flags(pattern.flags);
                Ok(())
            }
            kind => {
                self.operand(item.left()?, above)?;
                self.put(" ");
                self.put(kind.name());
                self.put(" ");
                self.operand(item.right()?, above)
            }
        }
    }

    fn flags(&mut self, flags: PatternFlags) {
        if flags == PatternFlags::default() {
            return;
        }
        self.put(" flag \"");
        for (bit, letter) in PatternFlags::LETTERS.into_iter().enumerate() {
            if flags.has(1 << bit) {
                self.out.push(letter);
            }
        }
        self.put("\"");
    }

    fn levels(&mut self, item: Item<'_>, dot: &str) -> Result<()> {
        let shown = |n: u32| if n == LAST_LEVEL { "last".to_owned() } else { n.to_string() };
        self.put(&match item.levels()? {
            (0, LAST_LEVEL) => format!("{dot}**"),
            (first, last) if first == last => format!("{dot}**{{{}}}", shown(first)),
            (first, last) => format!("{dot}**{{{} to {}}}", shown(first), shown(last)),
        });
        Ok(())
    }

    fn subscripts(&mut self, item: Item<'_>) -> Result<()> {
        self.put("[");
        for i in 0..item.subscripts()? {
            if i > 0 {
                self.put(",");
            }
            let (from, to) = item.subscript(i)?;
            self.chain(from, false)?;
            if let Some(to) = to {
                self.put(" to ");
                self.chain(to, false)?;
            }
        }
        self.put("]");
        Ok(())
    }
}
