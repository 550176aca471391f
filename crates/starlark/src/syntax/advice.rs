//! Hints for syntax errors.
//!
//! Most mistakes are words and operators of other languages. They are found in the text around the
//! unexpected token; this runs only for code with an error.

use ytterby_diag::{Edit, Help, Label, Part, Pos, Role, Safety, Text};

use super::error::SyntaxError;
use super::lexer::{piece_of, text_of};
use crate::{Problem, ProgramPiece, token_at};

impl SyntaxError {
    /// Adds the range of the mistake and hints to the error.
    pub(crate) fn advised(mut self, pieces: &[ProgramPiece<'_>]) -> SyntaxError {
        if let Some(open) = self.open.filter(|open| open.is_unclosed && open.pos.is_known()) {
            let text = format!("missing '{}' for '{}'", open.closing(), open.bracket);
            self.label = Label::new(Role::Problem, open.pos, Part::Bytes(1)).text(text.clone());
            self.helps.push(Help::new(text));
            return self;
        }
        let place = self.label.pos;
        let piece = if place == self.pos { self.piece } else { piece_of(pieces, place) };
        let Some(around) = pieces.get(piece).and_then(|piece| Around::of(piece, place)) else { return self };
        if self.label.part == Part::Token {
            self.label.part = Part::Bytes(around.token_len());
        }
        let help = match &self.problem {
            Problem::Unexpected { got, want } => around.unexpected(got, want, self.after),
            Problem::ForeignOperator(operator) => Some(around.foreign_operator(operator)),
            Problem::SurplusEnd => Some(around.surplus_end()),
            Problem::MissingEnd => {
                self.label = around.block();
                Some(missing_end(pieces, self.token))
            }
            Problem::Syntax => around.other(),
            _ => None,
        };
        self.helps.extend(help);
        self.helps.extend(self.open_before(&around));
        self
    }

    /// A hint about a bracket on an earlier line that the grammar expects to be closed.
    fn open_before(&self, around: &Around<'_>) -> Option<Help> {
        let Problem::Unexpected { want: ")" | "]" | "}" | ",", .. } = self.problem else { return None };
        let open = self.open.filter(|open| open.pos.is_known() && !around.is_on_line(open.pos))?;
        let text = format!("missing '{}' for the '{}' at ", open.closing(), open.bracket);
        Some(Help::new(Text::new(text).at(open.pos)))
    }
}

/// The text around a token.
struct Around<'a> {
    /// The whole text of its piece, and its position.
    text: &'a [u8],
    start: Pos,
    before: &'a [u8],
    after: &'a [u8],
    pos: Pos,
}

/// Whether the line contains another `#@`, as in `#@ name: #@ value`.
fn contains_code(after: &[u8]) -> bool {
    after.split(|byte| *byte == b'\n').next().is_some_and(|line| line.windows(2).any(|two| two == b"#@"))
}

impl<'a> Around<'a> {
    fn of(piece: &ProgramPiece<'a>, pos: Pos) -> Option<Around<'a>> {
        let (text, start) = text_of(piece).filter(|(_, start)| start.file == pos.file)?;
        let offset = pos.offset.checked_sub(start.offset)? as usize;
        let (before, after) = text.split_at_checked(offset)?;
        Some(Around { text, start, before, after, pos })
    }

    /// The length of the token; a bracket has one byte, regardless of its contents.
    fn token_len(&self) -> u32 {
        match self.after.first() {
            Some(b'(' | b'[') => 1,
            _ => token_at(self.text, self.before.len() as u32).len() as u32,
        }
    }

    /// Whether a position is on the line of the token.
    fn is_on_line(&self, pos: Pos) -> bool {
        let offset = pos.offset.checked_sub(self.start.offset).map(|offset| offset as usize);
        let between = offset.filter(|_| pos.file == self.start.file).and_then(|offset| self.before.get(offset..));
        between.is_some_and(|between| !between.contains(&b'\n'))
    }

    /// The position this many bytes before the token.
    fn back(&self, bytes: usize) -> Pos {
        Pos::new(self.pos.file, self.pos.offset - bytes as u32)
    }

    /// The last word before the token, and its distance from the token.
    fn word_before(&self) -> (&'a [u8], usize) {
        let trimmed = self.before.trim_ascii_end();
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let len = trimmed.iter().rev().take_while(is_word).count();
        (&trimmed[trimmed.len() - len..], self.before.len() - trimmed.len() + len)
    }

    fn unexpected(&self, got: &str, want: &str, last_end: Pos) -> Option<Help> {
        let (word, distance) = self.word_before();
        match (got, want) {
            ("newline" | "end of file", ":") => {
                let edit = Edit::insert(last_end, ":");
                Some(likely("a block begins with a colon", "Insert the colon", edit))
            }
            ("{", ":") => Some(Help::new("a block begins with `:` and ends with `end`; it has no braces")),
            ("=", ":") => Some(self.replaced("=", "==", "`=` assigns; `==` compares")),
            ("else", _) => Some(self.misplaced_else()),
            ("string literal", _) if distance == word.len() && is_string_prefix(word) => Some(Help::new(
                "strings have no prefixes but r: write \"%s\" % value or \"{}\".format(value) for a formatted string",
            )),
            (":", "newline") if contains_code(self.after) => Some(Help::new(
                "a key cannot be code: write `(@= name @): #@ value`, with `#@yaml/text-templated-strings` on the line above",
            )),
            (":", _) if self.after.starts_with(b":=") => Some(self.replaced(":=", "=", "`=` assigns")),
            ("=", _) if self.before.ends_with(b"==") || self.before.ends_with(b"!=") => {
                let edit = Edit::replace(self.pos, Part::Exactly("=".to_owned()), "");
                Some(likely("`==` and `!=` compare", "Remove the third character", edit))
            }
            ("newline" | "end of file", "primary expression") => self.increment(),
            ("illegal token", _) => self.reserved(),
            (_, "newline") => {
                let fix = |text, title, replacement: &str| {
                    let part = Part::Bytes(distance as u32);
                    likely(text, title, Edit::replace(self.back(distance), part, replacement))
                };
                match word {
                    b"elseif" | b"elsif" => {
                        let text = "the word is `elif`";
                        Some(fix(text, "Change the word to elif", "elif "))
                    }
                    b"var" | b"let" | b"const" => {
                        Some(fix("a variable is assigned without a keyword", "Remove the keyword", ""))
                    }
                    b"print" => Some(Help::new("print is a function: print(value)")),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// `else if`, or `else` without its colon.
    fn misplaced_else(&self) -> Help {
        let rest = self.after.strip_prefix(b"else").unwrap_or_default();
        let behind = rest.trim_ascii_start();
        if behind.starts_with(b"if") && !behind.get(2).is_some_and(u8::is_ascii_alphanumeric) {
            let len = (self.after.len() - behind.len() + 2) as u32;
            let edit = Edit::replace(self.pos, Part::Bytes(len), "elif");
            return likely("use `elif` instead of `else if`", "Change the words to elif", edit);
        }
        let edit = Edit::insert(Pos::new(self.pos.file, self.pos.offset + 4), ":");
        likely("missing colon after 'else'?", "Insert the colon", edit)
    }

    /// `i++` and `i--` as statements.
    fn increment(&self) -> Option<Help> {
        let code = self.before.trim_ascii_end();
        let (operator, meant) =
            [("++", " += 1"), ("--", " -= 1")].into_iter().find(|(operator, _)| code.ends_with(operator.as_bytes()))?;
        let place = self.back(self.before.len() - code.len() + operator.len());
        let edit = Edit::replace(place, Part::Exactly(operator.to_owned()), meant);
        let text = format!("there is no `{operator}`: write `{}`", meant.trim_start());
        Some(Help::new(text).fixed_by("Assign the next number", vec![edit], Safety::Likely))
    }

    /// Reserved words that other languages use.
    fn reserved(&self) -> Option<Help> {
        let len = self.token_len() as usize;
        Some(Help::new(match &self.after[..len] {
            b"import" | b"from" => "other files and modules are loaded with load(\"file.star\", \"name\")",
            b"class" => "there are no classes: use functions, and structs for data",
            b"try" | b"except" | b"finally" | b"raise" => {
                "there are no exceptions: check values first, and end with fail(…)"
            }
            b"is" => "values are compared with `==` and `!=`",
            b"del" => "use pop(key) to remove a key of a dict, or an item of a list",
            b"yield" => "there are no generators: return a list",
            b"global" | b"nonlocal" => "functions cannot assign to variables outside of them: return the value",
            _ => return None,
        }))
    }

    fn foreign_operator(&self, operator: &'static str) -> Help {
        let (distance, meant, hint) = match operator {
            "&&" => (1, "and", "use 'and' instead of '&&' for logical-and"),
            "||" => (1, "or", "use 'or' instead of '||' for logical-or"),
            "!" => (0, "not", "use 'not' instead of '!'"),
            _ => return Help::new("a choice is written `a if condition else b`"),
        };
        let is_blank = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
        let left = &self.before[..self.before.len().saturating_sub(distance)];
        let space_before = if distance == 0 || is_blank(left.last()) { "" } else { " " };
        let space_after = if is_blank(self.after.get(1)) { "" } else { " " };
        let part = Part::Exactly(operator.to_owned());
        let edit = Edit::replace(self.back(distance), part, format!("{space_before}{meant}{space_after}"));
        likely(hint, "Change the operator", edit)
    }

    fn surplus_end(&self) -> Help {
        let help = Help::new(
            "no block is open here; `if/end`, `for/end`, `def/end` and blocks of one line (`def f(): return 1`) \
             have no `end`",
        );
        if self.after.starts_with(b"end") {
            let edit = Edit::replace(self.pos, Part::Exactly("end".to_owned()), "");
            return help.fixed_by("Remove the end", vec![edit], Safety::Likely);
        }
        help
    }

    /// The line that begins the block whose colon is before the token.
    fn block(&self) -> Label {
        let line = self.before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let code = line.trim_ascii_start();
        let label = Label::new(Role::Problem, self.back(code.len()), Part::Bytes(code.trim_ascii_end().len() as u32));
        label.text("this block has no `end`")
    }

    /// Characters that are not part of the language, and keywords.
    fn other(&self) -> Option<Help> {
        let straight = |quote: char| if matches!(quote, '“' | '”' | '„') { "\"" } else { "'" };
        let text = String::from_utf8_lossy(self.after);
        let first = text.chars().next()?;
        match first {
            '“' | '”' | '„' | '‘' | '’' => {
                let line = text.lines().next().unwrap_or_default();
                let quotes = line.char_indices().filter(|(_, c)| matches!(c, '“' | '”' | '„' | '‘' | '’'));
                let edits = quotes.map(|(at, quote)| {
                    let pos = Pos::new(self.pos.file, self.pos.offset + at as u32);
                    Edit::replace(pos, Part::Exactly(quote.to_string()), straight(quote))
                });
                let help = Help::new("strings are written with straight quotes");
                Some(help.fixed_by("Use straight quotes", edits.collect(), Safety::Likely))
            }
            '\u{a0}' => Some(self.replaced("\u{a0}", " ", "this is a non-breaking space")),
            ',' => Some(self.replaced(",", "", "a tuple of one value needs parentheses: (value,)")),
            _ if self.after.starts_with(b"if") => {
                Some(Help::new("a choice needs both values: `a if condition else b`"))
            }
            _ if self.before.ends_with(b"pass") => Some(Help::new("leave out `pass`: a block can be empty")),
            _ => None,
        }
    }

    /// A hint to replace the token.
    fn replaced(&self, token: &str, replacement: &str, text: &'static str) -> Help {
        let edit = Edit::replace(self.pos, Part::Exactly(token.to_owned()), replacement);
        likely(text, "Change the token", edit)
    }
}

/// The last block of a program has no `end`: maybe another word was used instead.
fn missing_end(pieces: &[ProgramPiece<'_>], block: Pos) -> Help {
    const WORDS: [&[u8]; 7] = [b"endif", b"endfor", b"enddef", b"endwhile", b"fi", b"done", b"}"];
    let lines = pieces.iter().filter_map(text_of).flat_map(|(text, start)| {
        let mut offset = start.offset;
        text.split(|byte| *byte == b'\n').map(move |line| {
            let code = line.trim_ascii();
            let at = offset + (line.len() - line.trim_ascii_start().len()) as u32;
            offset += line.len() as u32 + 1;
            (code, Pos::new(start.file, at))
        })
    });
    let is_after = |pos: &Pos| pos.file == block.file && pos.offset > block.offset;
    let mut words = lines.filter(|(code, pos)| is_after(pos) && WORDS.contains(code));
    let help = Help::new("every block of several lines is closed by `end`");
    if let Some((code, pos)) = words.next() {
        let edit = Edit::replace(pos, Part::Bytes(code.len() as u32), "end");
        return help.fixed_by("Change the word to end", vec![edit], Safety::Likely);
    }
    // The form of the line is only known in a file that contains nothing but code.
    match pieces {
        [ProgramPiece::Code { text, at }] => {
            let feed = if text.ends_with(b"\n") { "" } else { "\n" };
            let edit = Edit::insert(Pos::new(at.file, at.offset + text.len() as u32), format!("{feed}end\n"));
            help.fixed_by("Insert the end", vec![edit], Safety::Likely)
        }
        _ => help,
    }
}

fn is_string_prefix(word: &[u8]) -> bool {
    matches!(word, b"f" | b"F" | b"b" | b"B" | b"u" | b"U" | b"rf" | b"fr" | b"rb" | b"br")
}

fn likely(text: &'static str, title: &'static str, edit: Edit) -> Help {
    Help::new(text).fixed_by(title, vec![edit], Safety::Likely)
}
