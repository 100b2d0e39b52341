//! The states of the parser and their rules.

use super::{Effect, TokenType};

/// What a rule requires of the text at the present position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Test {
    Byte(u8),
    AsciiLetter,
    Alpha,
    Digit,
    HexDigit,
    Alnum,
    NotAlnum,
    Mark,
    Space,
    UrlChar,
    /// Inside a script or style.
    Ignored,
    /// A host was to be found, and this is its end.
    StopHost,
    /// A host begins here.
    HostHere,
    /// The path of a URL begins here.
    UrlPathHere,
}

/// What a rule does with the stack of positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    /// Moves to the next character.
    Next,
    /// Stores the position and moves on.
    Push,
    /// Returns to the last stored position.
    Pop,
    /// Forgets the last stored position and moves on.
    Clear,
    /// As `Clear`, and continues in the state of that position.
    Merge,
    /// Applies the rules of the new state here.
    Rerun,
    /// The token ends before the present character.
    Found(TokenType),
    /// As `Found` and `Clear`.
    FoundClear(TokenType),
    /// As `Found`; forgets all stored positions.
    FoundClearAll(TokenType),
}

/// A rule of a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub test: Test,
    pub action: Action,
    /// The next state; the present one if `None`.
    pub to: Option<State>,
    pub effect: Effect,
}

/// The rules of a state, tried in this order.
pub(super) struct Entry {
    /// At the end of the text.
    pub end: Option<Rule>,
    pub rules: &'static [Rule],
    /// If no test holds.
    pub otherwise: Rule,
}

/// Makes the states, and the table of their rules from lines
/// `State: (at the end) [rules] (otherwise)`.
macro_rules! states {
    ($($state:ident: ($($end:expr)?) [$($rule:expr),* $(,)?] ($otherwise:expr);)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum State {
            $($state,)*
        }

        /// The rules of a state.
        pub(super) fn of(state: State) -> &'static Entry {
            match state {
                $(State::$state => {
                    const ENTRY: &Entry = &Entry {
                        end: states!(@end $($end)?),
                        rules: &[$($rule),*],
                        otherwise: $otherwise,
                    };
                    ENTRY
                })*
            }
        }
    };
    (@end) => { None };
    (@end $end:expr) => { Some($end) };
}

use Action::{Clear, Found, FoundClear, FoundClearAll, Merge, Next, Pop, Push, Rerun};
use State as S;
use Test as T;
use TokenType as K;

/// Of rules without a test.
const ANY: Test = T::NotAlnum;

const fn rule(test: Test, action: Action, to: Option<State>) -> Rule {
    Rule { test, action, to, effect: Effect::None }
}

/// Moves to the next character and to a state.
const fn to(test: Test, state: State) -> Rule {
    rule(test, Next, Some(state))
}

/// Moves to the next character in the same state.
const fn stay(test: Test) -> Rule {
    rule(test, Next, None)
}

/// Stores the position and moves to a state.
const fn push(test: Test, state: State) -> Rule {
    rule(test, Push, Some(state))
}

/// Forgets a position and moves to a state.
const fn clear(test: Test, state: State) -> Rule {
    rule(test, Clear, Some(state))
}

/// A token ends here; the next begins in a state.
const fn found(test: Test, action: Action, state: State) -> Rule {
    rule(test, action, Some(state))
}

const fn with(rule: Rule, effect: Effect) -> Rule {
    Rule { effect, ..rule }
}

const BACK: Rule = rule(ANY, Pop, None);

const fn ends(kind: TokenType) -> Rule {
    found(ANY, Found(kind), S::Base)
}

const fn ends_all(kind: TokenType) -> Rule {
    found(ANY, FoundClearAll(kind), S::Base)
}

/// A hyphenated word ends; its parts follow.
const fn hyphenated(kind: TokenType) -> Rule {
    with(found(ANY, FoundClearAll(kind), S::Parts), Effect::Hyphen)
}

const fn byte(c: u8) -> Test {
    T::Byte(c)
}

states! {
    Base: (stay(ANY)) [
        push(byte(b'<'), S::TagFirst), to(T::Ignored, S::Space),
        to(T::AsciiLetter, S::AsciiWord), to(T::Alpha, S::Word), to(T::Digit, S::UInt),
        push(byte(b'-'), S::IntFirst), push(byte(b'+'), S::IntFirst),
        push(byte(b'&'), S::EntityFirst), push(byte(b'~'), S::FileTilde),
        push(byte(b'/'), S::FileFirst), push(byte(b'.'), S::PathDot),
    ] (to(ANY, S::Space));

    // Words.
    NumWord: (ends(K::NumWord)) [
        stay(T::Alnum), stay(T::Mark), push(byte(b'@'), S::Email),
        push(byte(b'/'), S::FileFirst), push(byte(b'.'), S::FileNext),
        push(byte(b'-'), S::NumHyphenFirst),
    ] (ends(K::NumWord));
    AsciiWord: (ends(K::AsciiWord)) [
        stay(T::AsciiLetter), push(byte(b'.'), S::DomainFirst), push(byte(b'.'), S::FileNext),
        push(byte(b'-'), S::HostFirst), push(byte(b'-'), S::AsciiHyphenFirst),
        push(byte(b'_'), S::HostFirst), push(byte(b'@'), S::Email),
        push(byte(b':'), S::ProtocolFirst), push(byte(b'/'), S::FileFirst),
        push(T::Digit, S::Host), to(T::Digit, S::NumWord), to(T::Alpha, S::Word),
        to(T::Mark, S::Word),
    ] (ends(K::AsciiWord));
    Word: (ends(K::Word)) [
        stay(T::Alpha), stay(T::Mark), to(T::Digit, S::NumWord),
        push(byte(b'-'), S::HyphenFirst),
    ] (ends(K::Word));

    // Numbers.
    UInt: (ends(K::UInt)) [
        stay(T::Digit), push(byte(b'.'), S::DomainFirst), push(byte(b'.'), S::UFloatFirst),
        push(byte(b'e'), S::ExponentFirst), push(byte(b'E'), S::ExponentFirst),
        push(byte(b'-'), S::HostFirst), push(byte(b'_'), S::HostFirst),
        push(byte(b'@'), S::Email), push(T::AsciiLetter, S::Host), to(T::Alpha, S::NumWord),
        to(T::Mark, S::NumWord), push(byte(b'/'), S::FileFirst),
    ] (ends(K::UInt));
    IntFirst: (BACK) [clear(T::Digit, S::Int)] (BACK);
    Int: (ends(K::Int)) [
        stay(T::Digit), push(byte(b'.'), S::FloatFirst), push(byte(b'e'), S::ExponentFirst),
        push(byte(b'E'), S::ExponentFirst),
    ] (ends(K::Int));
    Space: (ends(K::Blank)) [
        found(byte(b'<'), Found(K::Blank), S::Base), stay(T::Ignored),
        found(byte(b'-'), Found(K::Blank), S::Base),
        found(byte(b'+'), Found(K::Blank), S::Base),
        found(byte(b'&'), Found(K::Blank), S::Base),
        found(byte(b'/'), Found(K::Blank), S::Base), stay(T::NotAlnum),
    ] (ends(K::Blank));
    UFloatFirst: (BACK) [clear(T::Digit, S::UFloat)] (BACK);
    UFloat: (ends(K::Float)) [
        stay(T::Digit), push(byte(b'.'), S::VersionFirst), push(byte(b'e'), S::ExponentFirst),
        push(byte(b'E'), S::ExponentFirst),
    ] (ends(K::Float));
    FloatFirst: (BACK) [clear(T::Digit, S::Float)] (BACK);
    Float: (ends(K::Float)) [
        stay(T::Digit), push(byte(b'.'), S::SignedVersion),
        push(byte(b'e'), S::ExponentFirst), push(byte(b'E'), S::ExponentFirst),
    ] (ends(K::Float));
    // A version after a sign: the sign becomes a token of its own.
    SignedVersion: (BACK) [
        with(rule(T::Digit, Rerun, Some(S::SignOfVersion)), Effect::Version),
    ] (BACK);
    SignOfVersion: (BACK) [
        found(T::Digit, FoundClearAll(K::Blank), S::UInt),
    ] (stay(ANY));
    VersionFirst: (BACK) [clear(T::Digit, S::Version)] (BACK);
    Version: (ends(K::Version)) [
        stay(T::Digit), push(byte(b'.'), S::VersionFirst),
    ] (ends(K::Version));
    ExponentFirst: (BACK) [
        clear(T::Digit, S::Exponent), to(byte(b'+'), S::ExponentSign),
        to(byte(b'-'), S::ExponentSign),
    ] (BACK);
    ExponentSign: (BACK) [clear(T::Digit, S::Exponent)] (BACK);
    Exponent: (ends(K::Scientific)) [stay(T::Digit)] (ends(K::Scientific));

    // Entities.
    EntityFirst: (BACK) [
        to(byte(b'#'), S::EntityNumberFirst), to(T::AsciiLetter, S::Entity),
        to(byte(b':'), S::Entity), to(byte(b'_'), S::Entity),
    ] (BACK);
    Entity: (BACK) [
        stay(T::Alnum), stay(byte(b':')), stay(byte(b'_')), stay(byte(b'.')), stay(byte(b'-')),
        to(byte(b';'), S::EntityEnd),
    ] (BACK);
    EntityNumberFirst: (BACK) [
        to(byte(b'x'), S::EntityHexFirst), to(byte(b'X'), S::EntityHexFirst),
        to(T::Digit, S::EntityNumber),
    ] (BACK);
    EntityHexFirst: (BACK) [to(T::HexDigit, S::EntityHex)] (BACK);
    EntityNumber: (BACK) [stay(T::Digit), to(byte(b';'), S::EntityEnd)] (BACK);
    EntityHex: (BACK) [stay(T::HexDigit), to(byte(b';'), S::EntityEnd)] (BACK);
    EntityEnd: () [] (found(ANY, FoundClear(K::Entity), S::Base));

    // Tags and comments.
    TagFirst: (BACK) [
        push(byte(b'/'), S::TagCloseFirst), push(byte(b'!'), S::CommentFirst),
        push(byte(b'?'), S::Declaration), push(T::AsciiLetter, S::TagName),
        push(byte(b':'), S::TagName), push(byte(b'_'), S::TagName),
    ] (BACK);
    Declaration: (BACK) [to(byte(b'x'), S::Tag)] (BACK);
    TagCloseFirst: (BACK) [to(T::AsciiLetter, S::TagName)] (BACK);
    TagName: (BACK) [
        to(byte(b'/'), S::TagSlash), with(to(byte(b'>'), S::TagEnd), Effect::Tag),
        with(to(T::Space, S::Tag), Effect::Tag), stay(T::Alnum), stay(byte(b':')),
        stay(byte(b'_')), stay(byte(b'.')), stay(byte(b'-')),
    ] (BACK);
    TagSlash: (BACK) [to(byte(b'>'), S::TagEnd)] (BACK);
    Tag: (BACK) [
        with(to(byte(b'>'), S::TagEnd), Effect::Tag), to(byte(b'\''), S::TagQuote),
        to(byte(b'"'), S::TagDoubleQuote), stay(T::AsciiLetter), stay(T::Digit),
        stay(byte(b'=')), stay(byte(b'-')), stay(byte(b'_')), stay(byte(b'#')),
        stay(byte(b'/')), stay(byte(b':')), stay(byte(b'.')), stay(byte(b'&')),
        stay(byte(b'?')), stay(byte(b'%')), stay(byte(b'~')),
        with(stay(T::Space), Effect::Tag),
    ] (BACK);
    TagQuote: (BACK) [
        push(byte(b'\\'), S::TagBackslash), to(byte(b'\''), S::Tag),
    ] (stay(ANY));
    TagDoubleQuote: (BACK) [
        push(byte(b'\\'), S::TagBackslash), to(byte(b'"'), S::Tag),
    ] (stay(ANY));
    TagBackslash: (BACK) [] (rule(ANY, Merge, None));
    TagEnd: () [] (ends_all(K::Tag));
    CommentFirst: (BACK) [
        to(byte(b'-'), S::CommentSecond), to(byte(b'D'), S::Tag), to(byte(b'd'), S::Tag),
    ] (BACK);
    CommentSecond: (BACK) [to(byte(b'-'), S::Comment)] (BACK);
    Comment: (BACK) [to(byte(b'-'), S::CommentDash)] (stay(ANY));
    CommentDash: (BACK) [to(byte(b'-'), S::CommentDashes)] (to(ANY, S::Comment));
    CommentDashes: (BACK) [
        stay(byte(b'-')), to(byte(b'>'), S::CommentEnd),
    ] (to(ANY, S::Comment));
    CommentEnd: () [] (ends_all(K::Tag));

    // Hosts, e-mail addresses, URLs.
    DomainFirst: (BACK) [
        to(T::AsciiLetter, S::DomainSecond), to(T::Digit, S::Host),
    ] (BACK);
    DomainSecond: (BACK) [
        to(T::AsciiLetter, S::Domain), push(T::Digit, S::Host), push(byte(b'-'), S::HostFirst),
        push(byte(b'_'), S::HostFirst), push(byte(b'.'), S::DomainFirst),
        push(byte(b'@'), S::Email),
    ] (BACK);
    Domain: (ends_all(K::Host)) [
        stay(T::AsciiLetter), push(T::Digit, S::Host), push(byte(b':'), S::PortFirst),
        push(byte(b'-'), S::HostFirst), push(byte(b'_'), S::HostFirst),
        push(byte(b'.'), S::DomainFirst), push(byte(b'@'), S::Email), rule(T::Digit, Pop, None),
        found(T::StopHost, FoundClearAll(K::Host), S::UrlPathStart),
        push(byte(b'/'), S::Url),
    ] (ends_all(K::Host));
    PortFirst: (BACK) [to(T::Digit, S::Port)] (BACK);
    Port: (ends_all(K::Host)) [
        stay(T::Digit), found(T::StopHost, FoundClearAll(K::Host), S::UrlPathStart),
        push(byte(b'/'), S::Url),
    ] (ends_all(K::Host));
    HostFirst: (BACK) [to(T::Digit, S::Host), to(T::AsciiLetter, S::Host)] (BACK);
    Host: (BACK) [
        stay(T::Digit), stay(T::AsciiLetter), push(byte(b'@'), S::Email),
        push(byte(b'.'), S::DomainFirst), push(byte(b'-'), S::HostFirst),
        push(byte(b'_'), S::HostFirst),
    ] (BACK);
    Email: () [
        rule(T::StopHost, Pop, None), found(T::HostHere, FoundClearAll(K::Email), S::Base),
    ] (BACK);

    // Files.
    FileFirst: (BACK) [
        to(T::AsciiLetter, S::File), to(T::Digit, S::File), to(byte(b'.'), S::PathFirst),
        to(byte(b'_'), S::File), push(byte(b'~'), S::FileTilde),
    ] (BACK);
    FileTilde: (BACK) [
        to(T::AsciiLetter, S::File), to(T::Digit, S::File), to(byte(b'_'), S::File),
        to(byte(b'/'), S::FileFirst),
    ] (BACK);
    PathFirst: (BACK) [
        to(T::AsciiLetter, S::File), to(T::Digit, S::File), to(byte(b'_'), S::File),
        to(byte(b'.'), S::PathSecond), to(byte(b'/'), S::FileFirst),
    ] (BACK);
    PathDot: (BACK) [to(byte(b'.'), S::PathSecond), to(byte(b'/'), S::FileFirst)] (BACK);
    PathSecond: (found(ANY, FoundClear(K::File), S::Base)) [
        push(byte(b'/'), S::FileFirst), found(byte(b'/'), FoundClear(K::File), S::Base),
        found(T::Space, FoundClear(K::File), S::Base),
    ] (BACK);
    File: (ends(K::File)) [
        stay(T::AsciiLetter), stay(T::Digit), push(byte(b'.'), S::FileNext), stay(byte(b'_')),
        stay(byte(b'-')), push(byte(b'/'), S::FileFirst),
    ] (ends(K::File));
    FileNext: (BACK) [
        clear(T::AsciiLetter, S::File), clear(T::Digit, S::File), clear(byte(b'_'), S::File),
    ] (BACK);

    // Paths of URLs, protocols.
    UrlPathFirst: (BACK) [to(T::UrlChar, S::UrlPath)] (BACK);
    UrlPathStart: () [] (to(ANY, S::UrlPath));
    UrlPath: (ends(K::UrlPath)) [stay(T::UrlChar)] (ends(K::UrlPath));
    Url: (BACK) [
        with(found(T::UrlPathHere, FoundClearAll(K::Url), S::Base), Effect::Url),
    ] (BACK);
    ProtocolFirst: (BACK) [to(byte(b'/'), S::ProtocolSecond)] (BACK);
    ProtocolSecond: (BACK) [to(byte(b'/'), S::ProtocolEnd)] (BACK);
    ProtocolEnd: () [] (ends_all(K::Protocol));

    // Hyphenated words.
    AsciiHyphenFirst: (BACK) [
        to(T::AsciiLetter, S::AsciiHyphen), to(T::Alpha, S::Hyphen),
        to(T::Digit, S::HyphenDigits),
    ] (BACK);
    AsciiHyphen: (hyphenated(K::AsciiHyphenated)) [
        stay(T::AsciiLetter), to(T::Alpha, S::Hyphen), to(T::Mark, S::Hyphen),
        to(T::Digit, S::NumHyphen), push(byte(b'-'), S::AsciiHyphenFirst),
    ] (hyphenated(K::AsciiHyphenated));
    HyphenFirst: (BACK) [to(T::Alpha, S::Hyphen), to(T::Digit, S::HyphenDigits)] (BACK);
    Hyphen: (hyphenated(K::Hyphenated)) [
        stay(T::Alpha), stay(T::Mark), to(T::Digit, S::NumHyphen),
        push(byte(b'-'), S::HyphenFirst),
    ] (hyphenated(K::Hyphenated));
    NumHyphenFirst: (BACK) [
        to(T::Alpha, S::NumHyphen), to(T::Digit, S::HyphenDigits),
    ] (BACK);
    NumHyphen: (hyphenated(K::NumHyphenated)) [
        stay(T::Alnum), stay(T::Mark), push(byte(b'-'), S::NumHyphenFirst),
    ] (hyphenated(K::NumHyphenated));
    HyphenDigits: (BACK) [
        stay(T::Digit), to(T::Alpha, S::NumHyphen), to(T::Mark, S::NumHyphen),
    ] (BACK);

    // Their parts.
    Parts: (rule(ANY, Rerun, Some(S::Base))) [
        to(T::AsciiLetter, S::AsciiPart), to(T::Alpha, S::Part), push(T::Digit, S::PartDigits),
        push(byte(b'-'), S::PartHyphen),
    ] (rule(ANY, Rerun, Some(S::Base)));
    PartHyphen: (BACK) [
        found(T::Alnum, FoundClear(K::Blank), S::Parts),
        found(T::Mark, FoundClear(K::Blank), S::Parts),
    ] (BACK);
    Part: (ends(K::Part)) [
        stay(T::Alpha), stay(T::Mark), to(T::Digit, S::NumPart),
    ] (found(ANY, Found(K::Part), S::Parts));
    AsciiPart: (ends(K::AsciiPart)) [
        stay(T::AsciiLetter), to(T::Alpha, S::Part), to(T::Mark, S::Part),
        to(T::Digit, S::NumPart),
    ] (found(ANY, Found(K::AsciiPart), S::Parts));
    NumPart: (ends(K::NumPart)) [
        stay(T::Alnum), stay(T::Mark),
    ] (found(ANY, Found(K::NumPart), S::Parts));
    PartDigits: (BACK) [
        stay(T::Digit), clear(T::Alpha, S::NumPart), clear(T::Mark, S::NumPart),
    ] (BACK);
}
