//! Regular expressions in Go's syntax.
//!
//! A pattern is parsed by Go's rules (ASCII classes, `\Q…\E`, at most 1000 repetitions, Go's error
//! texts) and translated to the syntax of the `regex` crate, which then does the matching. Both
//! prefer the leftmost match, and the first alternative among several. Text that is not UTF-8 is
//! matched as in Go: each invalid piece counts as U+FFFD.
//!
//! Group names stay on our side, because Go allows some that the crate does not.
//!
//! ```
//! use ytterby_regexp::Regexp;
//! use ytterby_text::Str;
//!
//! let version = Regexp::new(br"v(?P<major>\d+)\.\d+")?;
//! assert_eq!(version.find_in("app v1.25, v2.0"), Some("v1.25"));
//! assert_eq!(version.replace_all(&Str::from("v1.25 v2.0"), &Str::from("${major}"))?, "1 2");
//! # Ok::<(), String>(())
//! ```

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use regex_automata::meta::{self, Regex};
use regex_automata::nfa::thompson::{NFA, WhichCaptures};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, Span};
use ytterby_text::budget::Exceeded;
use ytterby_text::{Str, budget};

use long::{Caches, LongSearch, Stopped};

mod groups;
mod long;
mod translate;

pub use translate::Dollar;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Regexp {
    /// The pattern in the syntax of the `regex` crate.
    translated: String,
    /// Finds matches, but not their groups: its engines reserve memory for each group that they
    /// know in each state.
    regex: Regex,
    /// The limit that `regex` was compiled with.
    program_bytes: usize,
    /// For long texts; built when the first one is searched.
    long: OnceLock<Option<Arc<LongSearch>>>,
    /// For groups; built when somebody asks for the first one.
    grouping: OnceLock<Option<Arc<Grouping>>>,
    names: Vec<Option<String>>,
    dollars: Vec<Dollar>,
    has_vertical_tab: bool,
}

/// Two ways to find groups.
#[derive(Debug)]
struct Grouping {
    /// The fast one, for small patterns and matches.
    regex: Regex,
    /// The one that can be interrupted.
    nfa: NFA,
}

/// Compiled programs are tried with these size limits, and refused above the last one: `\pL{1000}`
/// still fits.
const PROGRAM_BYTES: [usize; 3] = [1 << 20, 8 << 20, 64 << 20];

/// Memory that compiling takes, in proportion to the size limit: programs for both directions, and
/// copies of them while they are built.
const COMPILATION_PER_PROGRAM: usize = 4;

/// Memory of the syntax trees of a pattern for each of its bytes.
const COMPILATION_PER_BYTE: usize = 256;

/// Memory of the syntax trees for each letter, digit or blank of a pattern: these are literals,
/// whose trees are smaller.
const COMPILATION_PER_LETTER: usize = 96;

/// Shorter patterns are compiled without a charge for their syntax trees.
const SHORT_PATTERN: usize = 4 << 10;

/// Bytes of a match times states of the pattern, and entries of a table of groups, above which
/// groups are found so that a limit can interrupt it.
const SHORT_GROUPING: usize = 1 << 24;
const SMALL_TABLE: usize = 1 << 20;

/// The maximum length of a result.
const MAX_BYTES: usize = 1 << 30;

/// Minimum charge for compiling a pattern, in units of work.
const COMPILATION: usize = 1024;

/// Longer groups are charged before they are copied.
const LONG_GROUP: usize = 64 << 10;

/// Longer texts are searched so that a limit can interrupt it. Patterns that may be large, because
/// they are long or count repetitions, take longer for each byte.
const LONG_TEXT: usize = 64 << 10;
const LONG_TEXT_FOR_LARGE_PATTERN: usize = 2 << 10;
const LARGE_PATTERN: usize = 200;

/// Bytes after a match that count as one unit of work when searching for the next match. The next
/// one may be far away, and the search may scan all of them.
const BYTES_PER_UNIT: usize = 16 << 10;

/// Number of compiled patterns in the cache.
const KEPT: usize = 64;

thread_local! {
    /// Cache of compiled patterns. Templates match the same few patterns in loops, a schema uses
    /// one for many nodes, and compiling takes longer than matching.
    static COMPILED: RefCell<HashMap<Str, Rc<Regexp>>> = RefCell::default();
}

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Number of patterns compiled on this thread; tests use it to show that each is compiled once.
pub fn compiled() -> usize {
    COUNT.get()
}

impl Regexp {
    /// The compiled pattern from the cache. It is shared, because a clone would have to rebuild the
    /// caches of the `regex` crate.
    ///
    /// # Errors
    /// As [`Regexp::new`].
    pub fn shared(pattern: &Str) -> Result<Rc<Regexp>, String> {
        if let Some(regexp) = COMPILED.with_borrow(|kept| kept.get(pattern).cloned()) {
            return Ok(regexp);
        }
        let regexp = Rc::new(Regexp::new(pattern)?);
        COMPILED.with_borrow_mut(|kept| {
            if kept.len() >= KEPT {
                kept.clear();
            }
            kept.insert(pattern.clone(), regexp.clone());
        });
        Ok(regexp)
    }

    /// Compiles a pattern. An error has Go's text, `error parsing regexp: …`.
    ///
    /// # Errors
    /// If Go refuses the pattern, or if the compiled program is too large.
    pub fn new(pattern: &[u8]) -> Result<Regexp, String> {
        COUNT.set(COUNT.get() + 1);
        budget::work(COMPILATION + pattern.len()).map_err(|exceeded| exceeded.to_string())?;
        let Ok(pattern) = std::str::from_utf8(pattern) else {
            return Err(format!("error parsing regexp: invalid UTF-8: `{}`", String::from_utf8_lossy(pattern)));
        };
        if pattern.len() > SHORT_PATTERN {
            let plain = pattern.bytes().filter(|byte| byte.is_ascii_alphanumeric() || *byte == b' ').count();
            budget::memory_of(pattern.len() - plain, COMPILATION_PER_BYTE)
                .and_then(|()| budget::memory_of(plain, COMPILATION_PER_LETTER))
                .map_err(|exceeded| exceeded.to_string())?;
        }
        let translated = translate::translate(pattern).map_err(|error| error.to_string())?;
        let (regex, program_bytes) = compile(&translated.pattern, WhichCaptures::Implicit, PROGRAM_BYTES[0])
            .map_err(|exceeded| exceeded.to_string())?
            .ok_or_else(|| format!("error parsing regexp: expression too large: `{pattern}`"))?;
        let translate::Translated { pattern: translated, names, dollars, has_vertical_tab } = translated;
        let (long, grouping) = (OnceLock::new(), OnceLock::new());
        Ok(Regexp { translated, regex, program_bytes, long, grouping, names, dollars, has_vertical_tab })
    }

    /// Each `$` outside of `(?m)`. In other dialects it also matches before a final line feed.
    pub fn dollars(&self) -> &[Dollar] {
        &self.dollars
    }

    /// Whether the pattern contains `\v`: one character in Go, any vertical space in other
    /// dialects.
    pub fn has_vertical_tab(&self) -> bool {
        self.has_vertical_tab
    }

    /// The pattern in the syntax of the `regex` crate, for callers that parse it with
    /// `regex-syntax`.
    pub fn translated(&self) -> &str {
        &self.translated
    }

    /// Whether the pattern matches somewhere in the text.
    pub fn is_match(&self, text: &Str) -> bool {
        self.is_match_in(&text.to_str())
    }

    /// Whether the pattern matches somewhere in the text. False if a limit of the run is reached.
    pub fn is_match_in(&self, text: &str) -> bool {
        match self.long(text).map(|long| long.is_match(text)) {
            Some(Ok(is_match)) => is_match,
            Some(Err(Stopped::Limit(_))) => false,
            Some(Err(Stopped::Unsupported)) | None => self.regex.is_match(text),
        }
    }

    /// The first match in the text.
    pub fn find_in<'t>(&self, text: &'t str) -> Option<&'t str> {
        let span = MatchIterator::new(self, text).next()?.ok()?;
        Some(&text[span.range()])
    }

    /// All non-overlapping matches in the text, from left to right. They end where a limit of the
    /// run is reached.
    pub fn find_all_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t str> {
        MatchIterator::new(self, text).map_while(|span| span.ok().map(|span| &text[span.range()]))
    }

    /// The search for long texts, if this is one.
    fn long(&self, text: &str) -> Option<&LongSearch> {
        let may_be_large = self.translated.len() > LARGE_PATTERN || self.translated.contains('{');
        if text.len() <= if may_be_large { LONG_TEXT_FOR_LARGE_PATTERN } else { LONG_TEXT } {
            return None;
        }
        let build = || LongSearch::new(&self.translated, syntax_config(), self.program_bytes).map(Arc::new);
        self.long.get_or_init(build).as_deref().filter(|long| long.is_worth_it(text))
    }

    /// Replaces every match by `template`, in which `$1`, `$name` and `${name}` refer to groups.
    ///
    /// # Errors
    /// If the result would be larger than a gigabyte.
    pub fn replace_all(&self, text: &Str, template: &Str) -> Result<Str, String> {
        let template = template.to_str();
        let wanted = self.groups_in(&template).map_err(|exceeded| exceeded.to_string())?;
        self.try_replace_all(text, &wanted, |found, out| self.expand(&template, found, out))
    }

    /// Replaces every match by the result of calling `replacement` with the matched text.
    ///
    /// # Errors
    /// Those of `replacement`, and if the result would be larger than a gigabyte.
    pub fn replace_all_with<E: From<String>>(
        &self,
        text: &Str,
        mut replacement: impl FnMut(&str) -> Result<Str, E>,
    ) -> Result<Str, E> {
        self.try_replace_all(text, &[], |found, out| {
            out.extend_from_slice(&replacement(&found.text[found.span.range()])?);
            Ok(())
        })
    }

    fn try_replace_all<E: From<String>>(
        &self,
        text: &Str,
        wanted: &[usize],
        mut write: impl FnMut(&Match<'_>, &mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Str, E> {
        let haystack = text.to_str();
        let mut out = Vec::new();
        let mut copied = 0;
        let mut matched = false;
        for span in MatchIterator::new(self, &haystack) {
            let span = span?;
            budget::work(1 + (haystack.len() - span.start) / BYTES_PER_UNIT)
                .and_then(|()| budget::memory(span.start - copied + 16))
                .map_err(|exceeded| exceeded.to_string())?;
            out.extend_from_slice(&haystack.as_bytes()[copied..span.start]);
            let before = out.len();
            write(&Match { regexp: self, text: &haystack, span, wanted, groups: OnceCell::new() }, &mut out)?;
            budget::text(out.len() - before).map_err(|exceeded| exceeded.to_string())?;
            if out.len() > MAX_BYTES {
                return Err(format!("excessive text (more than {MAX_BYTES} bytes)").into());
            }
            copied = span.end;
            matched = true;
        }
        if !matched {
            return Ok(text.clone());
        }
        out.extend_from_slice(&haystack.as_bytes()[copied..]);
        Ok(Str::from(out))
    }

    /// Appends `template` with its references expanded. A group that does not exist or did not
    /// match is empty.
    fn expand(&self, template: &str, found: &Match<'_>, out: &mut Vec<u8>) -> Result<(), String> {
        for piece in pieces(template) {
            // The caller checks the length and fails, so the rest is not needed.
            if out.len() > MAX_BYTES {
                return Ok(());
            }
            let units = match piece {
                ReplacementPiece::Text(_) => 1,
                ReplacementPiece::Group(name) => self.lookup(name),
            };
            budget::work(units).map_err(|exceeded| exceeded.to_string())?;
            match piece {
                ReplacementPiece::Text(text) => out.extend_from_slice(text.as_bytes()),
                ReplacementPiece::Group(name) => {
                    let mut group = "";
                    for number in self.numbers(name) {
                        if let Some(text) = found.group(number).map_err(|exceeded| exceeded.to_string())? {
                            group = text;
                            break;
                        }
                    }
                    if group.len() > LONG_GROUP {
                        budget::memory(group.len()).map_err(|exceeded| exceeded.to_string())?;
                    }
                    out.extend_from_slice(group.as_bytes());
                }
            }
        }
        Ok(())
    }

    /// The numbers of the groups that a template refers to, in order, each once.
    fn groups_in(&self, template: &str) -> Result<Vec<usize>, Exceeded> {
        let mut numbers = BTreeSet::new();
        for piece in pieces(template) {
            if let ReplacementPiece::Group(name) = piece {
                budget::work(self.lookup(name))?;
                numbers.extend(self.numbers(name).filter(|&number| number > 0));
            }
        }
        Ok(numbers.into_iter().collect())
    }

    /// Units of work of looking up a group: names are compared with those of all groups.
    fn lookup(&self, name: &str) -> usize {
        match name.starts_with(|first: char| first.is_ascii_digit()) {
            true => 1 + name.len() / 32,
            false => 1 + (name.len() + self.names.len()) / 32,
        }
    }

    /// The groups with a name or number. Go takes the first one that matched.
    fn numbers<'n>(&'n self, name: &'n str) -> impl Iterator<Item = usize> + 'n {
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let number =
            name.parse().ok().filter(|number| is_number && !has_leading_zero(name) && *number < self.names.len());
        let named = self.names.iter().enumerate().filter(move |(_, own)| !is_number && own.as_deref() == Some(name));
        number.into_iter().chain(named.map(|(number, _)| number))
    }

    fn grouping(&self) -> Result<Option<&Grouping>, Exceeded> {
        if self.grouping.get().is_none() {
            let compiled = compile(&self.translated, WhichCaptures::All, self.program_bytes)?;
            let grouping = compiled.and_then(|(regex, bytes)| {
                let config = NFA::config().nfa_size_limit(Some(bytes)).which_captures(WhichCaptures::All);
                let nfa = NFA::compiler().configure(config).syntax(syntax_config()).build(&self.translated).ok()?;
                Some(Arc::new(Grouping { regex, nfa }))
            });
            let _ = self.grouping.set(grouping);
        }
        Ok(self.grouping.get().and_then(Option::as_deref))
    }
}

/// Compiles a pattern in the syntax of `regex`; returns the size limit that was enough, too, and
/// nothing if the program is too large. The translation can express everything that Go accepts, so
/// there are no other errors.
fn compile(pattern: &str, captures: WhichCaptures, at_least: usize) -> Result<Option<(Regex, usize)>, Exceeded> {
    for bytes in PROGRAM_BYTES.into_iter().filter(|&bytes| bytes >= at_least) {
        if bytes > PROGRAM_BYTES[0] {
            budget::memory_of(bytes, COMPILATION_PER_PROGRAM)?;
        }
        let config = Regex::config().nfa_size_limit(Some(bytes)).which_captures(captures);
        match Regex::builder().configure(config).syntax(syntax_config()).build(pattern) {
            Ok(regex) => return Ok(Some((regex, bytes))),
            Err(error) => debug_assert!(is_too_large(&error), "{pattern:?}: {error}"),
        }
    }
    Ok(None)
}

/// A part of a template.
enum ReplacementPiece<'t> {
    Text(&'t str),
    /// The name or number of a group.
    Group(&'t str),
}

/// The parts of a template.
fn pieces(template: &str) -> impl Iterator<Item = ReplacementPiece<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        let Some(after) = rest.strip_prefix('$') else {
            let end = rest.find('$').unwrap_or(rest.len());
            let (text, tail) = rest.split_at(end);
            rest = tail;
            return (!text.is_empty()).then_some(ReplacementPiece::Text(text));
        };
        if let Some(tail) = after.strip_prefix('$') {
            rest = tail;
            return Some(ReplacementPiece::Text("$"));
        }
        match reference(after) {
            Some((name, tail)) => {
                rest = tail;
                Some(ReplacementPiece::Group(name))
            }
            None => {
                rest = after;
                Some(ReplacementPiece::Text("$"))
            }
        }
    })
}

/// One match of a pattern.
struct Match<'t> {
    regexp: &'t Regexp,
    text: &'t str,
    span: Span,
    /// The groups that somebody may ask for, in order.
    wanted: &'t [usize],
    /// Where they are, once they are needed.
    groups: OnceCell<Vec<Option<Span>>>,
}

impl<'t> Match<'t> {
    fn group(&self, number: usize) -> Result<Option<&'t str>, Exceeded> {
        if number == 0 {
            return Ok(Some(&self.text[self.span.range()]));
        }
        let groups = match self.groups.get() {
            Some(groups) => groups,
            None => {
                let groups = self.find_groups()?;
                self.groups.get_or_init(|| groups)
            }
        };
        let index = self.wanted.binary_search(&number).ok();
        Ok(index.and_then(|index| groups[index]).map(|span| &self.text[span.range()]))
    }

    fn find_groups(&self) -> Result<Vec<Option<Span>>, Exceeded> {
        let Some(Grouping { regex, nfa }) = self.regexp.grouping()? else {
            return Ok(vec![None; self.wanted.len()]);
        };
        let states = nfa.states().len();
        let visits = states.saturating_mul(self.span.len());
        if visits > SHORT_GROUPING || states.saturating_mul(self.regexp.names.len()) > SMALL_TABLE {
            return groups::find(nfa, self.text.as_bytes(), self.span, self.wanted);
        }
        budget::work(1 + visits / BYTES_PER_UNIT)?;
        let mut captures = regex.create_captures();
        let input = Input::new(self.text).range(self.span.range()).anchored(Anchored::Yes);
        regex.search_captures(&input, &mut captures);
        Ok(self.wanted.iter().map(|&number| captures.get_group(number)).collect())
    }
}

/// The non-overlapping matches in a text, from left to right; an error if a limit of the run is
/// reached. An empty match right after another match is skipped.
struct MatchIterator<'t> {
    regexp: &'t Regexp,
    input: Input<'t>,
    long: Option<(&'t LongSearch, Caches)>,
    last_end: Option<usize>,
}

impl<'t> MatchIterator<'t> {
    fn new(regexp: &'t Regexp, text: &'t str) -> MatchIterator<'t> {
        let long = regexp.long(text).map(|long| (long, long.caches()));
        MatchIterator { regexp, input: Input::new(text), long, last_end: None }
    }

    fn find(&mut self) -> Result<Option<Span>, String> {
        if let Some((long, caches)) = &mut self.long {
            match long.find(caches, &self.input) {
                Ok(found) => return Ok(found),
                Err(Stopped::Limit(exceeded)) => return Err(exceeded.to_string()),
                Err(Stopped::Unsupported) => self.long = None,
            }
        }
        Ok(self.regexp.regex.search(&self.input).map(|found| found.span()))
    }

    fn advance(&mut self) -> Result<Option<Span>, String> {
        let Some(mut span) = self.find()? else { return Ok(None) };
        if span.is_empty() && self.last_end == Some(span.end) {
            if span.end >= self.input.end() {
                return Ok(None);
            }
            self.input.set_start(span.end + 1);
            match self.find()? {
                Some(next) => span = next,
                None => return Ok(None),
            }
        }
        self.input.set_start(span.end);
        self.last_end = Some(span.end);
        Ok(Some(span))
    }
}

impl Iterator for MatchIterator<'_> {
    type Item = Result<Span, String>;

    fn next(&mut self) -> Option<Result<Span, String>> {
        self.advance().transpose()
    }
}

/// Translated patterns nest deeper than Go's.
fn syntax_config() -> syntax::Config {
    syntax::Config::new().nest_limit(8 * translate::MAX_DEPTH)
}

fn is_too_large(error: &meta::BuildError) -> bool {
    error.size_limit().is_some()
}

fn has_leading_zero(digits: &str) -> bool {
    digits.len() > 1 && digits.starts_with('0')
}

/// The name after a `$` and the text after it. The name is the longest run of letters, digits and
/// `_`, or the text in braces.
fn reference(text: &str) -> Option<(&str, &str)> {
    let (braced, body) = match text.strip_prefix('{') {
        Some(body) => (true, body),
        None => (false, text),
    };
    let end = body.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(body.len());
    let (name, rest) = body.split_at(end);
    let rest = if braced { rest.strip_prefix('}')? } else { rest };
    (!name.is_empty()).then_some((name, rest))
}

/// The pattern that matches exactly `text`, as Go's `QuoteMeta` writes it.
pub fn escape(text: &str) -> Cow<'_, str> {
    const SPECIAL: &[char] = &['\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$'];
    if !text.contains(SPECIAL) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if SPECIAL.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
    out.into()
}

/// Whether a pattern uses only syntax of ECMA-262: no inline flags, no `\A`, `\z`, `\Q`, no `(?P<`,
/// no `[[:alpha:]]`.
pub fn is_ecma(pattern: &str) -> bool {
    let has_class_end = pattern.contains(":]");
    let mut rest = pattern;
    while let Some(at) = rest.find(['\\', '(', '[']) {
        let tail = &rest[at..];
        match tail.as_bytes() {
            [b'\\', b'A' | b'C' | b'E' | b'Q' | b'P' | b'a' | b'p' | b'z' | b'0'..=b'9', ..] => return false,
            [b'\\', b'x', b'{', ..] => return false,
            [b'(', b'?', b':', ..] => {}
            [b'(', b'?', b'<', ..] => {}
            [b'(', b'?', ..] => return false,
            [b'[', b':', ..] if has_class_end => return false,
            _ => {}
        }
        let skipped =
            tail.char_indices().nth(if tail.starts_with('\\') { 2 } else { 1 }).map_or(tail.len(), |(at, _)| at);
        rest = &tail[skipped..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long texts give what short ones give: the same matches and groups, wherever they are.
    #[test]
    fn long_texts_are_searched_alike() {
        let patterns = [
            "a+",
            "^a|b$",
            "(?m)^x",
            "(?m)$",
            "\\b",
            "\\B",
            "x*",
            "",
            "(é|.)(b)?",
            "a.*b",
            "a.*?b",
            "(?s)a.{3}b",
            "[^a]{2,5}",
            "(a|ab)(c|bcd)",
            "((a)|(b)|x)*",
            "(a*)(a*)(b?)",
            "((a+?)(b+)?|(é))+?",
            "(?:(x)|(?:\\b(a)))*(.*)",
            "\\pL+",
            "(?i)é",
            "z|",
            "(a*)*b",
            "\\z",
            "\\A",
        ];
        let texts = ["", "abcd aab éb x\nxé\n", "ééé", "a\nb", "xxx", "日本 a日b", "ab", "b"];
        for pattern in patterns {
            let regexp = Regexp::new(pattern.as_bytes()).unwrap();
            let long = LongSearch::new(&regexp.translated, syntax_config(), regexp.program_bytes).unwrap();
            for text in texts {
                let short: Vec<Span> = regexp.regex.find_iter(text).map(|found| found.span()).collect();
                let all = |long| {
                    let input = Input::new(text);
                    let matches = MatchIterator { regexp: &regexp, input, long, last_end: None };
                    matches.collect::<Result<Vec<Span>, String>>().unwrap()
                };
                assert_eq!(all(None), short, "{pattern:?} in {text:?}");
                assert_eq!(all(Some((&long, long.caches()))), short, "{pattern:?} in {text:?}");
                assert_eq!(long.is_match(text).unwrap(), !short.is_empty(), "{pattern:?} in {text:?}");
                let grouping = regexp.grouping().unwrap().unwrap();
                for captures in grouping.regex.captures_iter(text) {
                    let span = captures.get_match().unwrap().span();
                    let wanted: Vec<usize> = (1..captures.group_len()).collect();
                    let found = Match { regexp: &regexp, text, span, wanted: &wanted, groups: OnceCell::new() };
                    for number in 0..captures.group_len() {
                        let expected = captures.get_group(number).map(|span| &text[span.range()]);
                        assert_eq!(found.group(number).unwrap(), expected, "{pattern:?} in {text:?}");
                    }
                    let slowly = groups::find(&grouping.nfa, text.as_bytes(), span, &wanted).unwrap();
                    assert_eq!(&slowly, found.groups.get().unwrap_or(&Vec::new()), "{pattern:?} in {text:?}");
                }
            }
        }
    }

    /// A search that would take minutes ends soon after a limit is reached.
    #[test]
    fn long_searches_can_be_interrupted() {
        let token = budget::Cancellation::new();
        token.cancel();
        let _running = budget::begin(budget::Limits::default(), Some(token), None);
        let text: String = (0..400_000u32).map(|n| char::from(b'a' + (n.wrapping_mul(n) >> 7) as u8 % 16)).collect();
        let regexp = Regexp { long: OnceLock::new(), ..Regexp::new(b"[a-h][a-p]{900}[q-z]").unwrap() };
        let started = std::time::Instant::now();
        assert!(!regexp.is_match_in(&text));
        assert!(regexp.replace_all(&Str::from(text.as_str()), &Str::from("x")).is_err());
        assert!(started.elapsed().as_secs() < 5, "it took {:?}", started.elapsed());
    }

    /// Finding the groups of one long match would take half a minute, and those of thousands of
    /// groups gigabytes.
    #[test]
    fn groups_can_be_interrupted() {
        let token = budget::Cancellation::new();
        let running = budget::begin(budget::Limits::default(), Some(token.clone()), None);
        let regexp = Regexp::new(b"((\\w{1,300})\\s?)*$").unwrap();
        assert!(regexp.grouping().unwrap().is_some());
        token.cancel();
        let text = "a".repeat(5_000_000);
        let span = Span { start: 0, end: text.len() };
        let found = Match { regexp: &regexp, text: &text, span, wanted: &[1], groups: OnceCell::new() };
        let started = std::time::Instant::now();
        assert!(found.group(1).is_err());
        assert!(started.elapsed().as_secs() < 5, "it took {:?}", started.elapsed());
        drop(running);

        let limits = budget::Limits { memory: Some(64 << 20), ..budget::Limits::default() };
        let _running = budget::begin(limits, None, None);
        let regexp = Regexp::new(("(a|b)".repeat(3000) + "b").as_bytes()).unwrap();
        let text = Str::from("a".repeat(3000) + "bc");
        assert_eq!(regexp.replace_all(&text, &Str::from("$2$3000")).unwrap().to_str(), "aac");
        let all: String = (1..=3000).map(|number| format!("${number} ")).collect();
        assert!(regexp.replace_all(&text, &Str::from(all)).unwrap_err().contains("memory limit exceeded"));
    }

    /// A replacement of many pieces is charged, even if all of them are empty.
    #[test]
    fn replacements_can_be_interrupted() {
        let token = budget::Cancellation::new();
        token.cancel();
        let regexp = Regexp::new(b"(a)").unwrap();
        let text = Str::from("a");
        for piece in ["$2", "$$", "${name}"] {
            let replace = |pieces: usize| {
                let _running = budget::begin(budget::Limits::default(), Some(token.clone()), None);
                regexp.replace_all(&text, &Str::from(piece.repeat(pieces)))
            };
            assert!(replace(100).is_ok());
            assert_eq!(replace(10_000).unwrap_err(), budget::Exceeded::Cancelled.to_string(), "{piece}");
        }
    }

    /// The tree of a pattern of letters is smaller than that of one of operators.
    #[test]
    fn plain_patterns_need_less() {
        let limits = budget::Limits { memory: Some(48 << 20), ..budget::Limits::default() };
        let compiles = |pattern: String| {
            let _running = budget::begin(limits, None, None);
            Regexp::new(pattern.as_bytes()).is_ok()
        };
        assert!(compiles("a".repeat(100_000)));
        assert!(!compiles("a*".repeat(100_000)));
    }

    #[test]
    fn large_patterns_are_charged() {
        let limits = budget::Limits { memory: Some(16 << 20), ..budget::Limits::default() };
        for pattern in ["(a|b)".repeat(100_000), "\\pL{1000}".to_owned()] {
            let _running = budget::begin(limits, None, None);
            assert!(Regexp::new(pattern.as_bytes()).unwrap_err().contains("memory limit exceeded"));
        }
    }

    #[test]
    fn matches_as_go_does() {
        for (pattern, text, expected) in [
            ("^a+$", "aaa", true),
            ("^a$", "a\n", false),
            ("\\d", "٣", false),
            ("\\w", "é", false),
            ("\\s", "\u{b}", false),
            ("[[:space:]]", "\u{b}", true),
            ("\\bfoo\\b", "éfooé", true),
            ("\\B", "aéb", false),
            ("\\Qa.b\\E", "a.b", true),
            ("\\Qa.b\\E", "axb", false),
            ("\\Qa.b+", "a.b+", true),
            ("x\\z", "x", true),
            ("(?i)straSSe", "STRASSE", true),
            ("(?i)[k]", "\u{212a}", true),
            ("a{,2}", "a{,2}", true),
            ("a{2}{", "aa{", true),
            ("[]a]", "]", true),
            ("[^]a]", "]", false),
            ("[a-]", "-", true),
            ("[a\\]b]", "]", true),
            ("[&&~~]", "&", true),
            ("a#b c", "a#b c", true),
            ("\\p{Greek}", "α", true),
            ("\\P{^Lu}", "A", true),
            ("\\pN", "7", true),
            ("[\\p{L}\\d]", "é", true),
            ("\\x41\\x{1F600}\\101\\_", "A😀A_", true),
            ("(?P<1a>x)(?<b>y)(?P<b>z)", "xyz", true),
            ("a(?i)*b", "aaB", true),
            ("(?s:.)(?-s:.)", "\na", true),
            ("(?m)^b$", "a\nb\nc", true),
            ("(?)a", "a", true),
            ("", "", true),
            ("a||b", "", true),
            (".", "\n", false),
        ] {
            let regexp = Regexp::new(pattern.as_bytes()).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            assert_eq!(regexp.is_match(&Str::from(text)), expected, "{pattern} on {text:?}");
        }
    }

    #[test]
    fn refuses_with_the_error_texts_of_go() {
        for (pattern, text) in [
            ("[", "missing closing ]: `[`"),
            ("a[b", "missing closing ]: `[b`"),
            ("(a", "missing closing ): `(a`"),
            ("a)b", "unexpected ): `a)b`"),
            ("*", "missing argument to repetition operator: `*`"),
            ("(|*)", "missing argument to repetition operator: `*`"),
            ("a|+?b", "missing argument to repetition operator: `+?`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("a{2}{3}?x", "invalid nested repetition operator: `{2}{3}?`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("a{3,2}", "invalid repeat count: `{3,2}`"),
            ("(a{100}){11}", "invalid repeat count: `{11}`"),
            ("a\\", "trailing backslash at end of expression: ``"),
            ("\\8", "invalid escape sequence: `\\8`"),
            ("\\1", "invalid escape sequence: `\\1`"),
            ("\\C", "invalid escape sequence: `\\C`"),
            ("\\Z", "invalid escape sequence: `\\Z`"),
            ("\\xag", "invalid escape sequence: `\\xag`"),
            ("[\\b]", "invalid escape sequence: `\\b`"),
            ("[b-a]", "invalid character class range: `b-a`"),
            ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
            ("\\p{Foo}", "invalid character class range: `\\p{Foo}`"),
            ("\\p{Letter}", "invalid character class range: `\\p{Letter}`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?<=a)", "invalid named capture: `(?<=a)`"),
            ("(?P<a-b>x)", "invalid named capture: `(?P<a-b>`"),
            ("(?i-)a", "invalid or unsupported Perl syntax: `(?i-)`"),
            ("(?P=n)", "invalid or unsupported Perl syntax: `(?P`"),
            ("(?P<", "invalid or unsupported Perl syntax: `(?P`"),
            ("(?<a", "invalid named capture: `(?<a`"),
            ("(?i", "invalid or unsupported Perl syntax: `(?i`"),
            ("\\p", "invalid character class range: `\\p`"),
            ("x*?*", "invalid nested repetition operator: `*?*`"),
        ] {
            let error = Regexp::new(pattern.as_bytes()).expect_err(pattern);
            assert_eq!(error, format!("error parsing regexp: {text}"), "{pattern}");
        }
        assert!(Regexp::new(b"\xff").unwrap_err().contains("invalid UTF-8"));
    }

    #[test]
    fn replaces_with_groups() {
        for (pattern, text, template, expected) in [
            ("(a)(b)?", "abxa", "<$2$1>", "<ba>x<a>"),
            ("(?P<n>\\w+)", "hi", "${n}_$n", "hi_hi"),
            ("a", "banana", "$1x$$", "b$n$n$"),
            ("a", "a", "${1", "${1"),
            ("a*", "baac", "-", "-b-c-"),
            ("x", "abc", "y", "abc"),
        ] {
            let regexp = Regexp::new(pattern.as_bytes()).unwrap();
            let replaced = regexp.replace_all(&Str::from(text), &Str::from(template)).unwrap();
            assert_eq!(replaced.to_str(), expected, "{pattern} on {text:?} with {template:?}");
        }
    }

    #[test]
    fn reports_dollars() {
        for (pattern, expected) in [
            ("^a$", &[(2, true)][..]),
            ("a$|b$", &[(1, true), (4, true)]),
            ("(a$)b", &[(2, false)]),
            ("(a|b$)", &[(4, true)]),
            ("(a$|b)", &[(2, false)]),
            ("(?m)a$", &[]),
            ("(?m:a$)b$", &[(8, true)]),
            ("[$]\\$\\Q$\\E", &[]),
        ] {
            let regexp = Regexp::new(pattern.as_bytes()).unwrap();
            let found: Vec<_> = regexp.dollars().iter().map(|dollar| (dollar.at, dollar.is_last)).collect();
            assert_eq!(found, expected, "{pattern}");
        }
    }

    #[test]
    fn reports_vertical_tabs() {
        for (pattern, expected) in
            [("\\v", true), ("[a\\v]", true), ("[\\t-\\v]", true), ("\\\\v", false), ("\\Q\\v", false)]
        {
            assert_eq!(Regexp::new(pattern.as_bytes()).unwrap().has_vertical_tab(), expected, "{pattern}");
        }
    }

    #[test]
    fn deep_and_large_patterns_end_in_an_error() {
        let deep = "(".repeat(50_000) + &")".repeat(50_000);
        assert!(
            Regexp::new(deep.as_bytes()).unwrap_err().starts_with("error parsing regexp: expression nests too deeply")
        );
        assert!(Regexp::new("((\\pL{10}){10}){10}".as_bytes()).is_ok());
    }
}
