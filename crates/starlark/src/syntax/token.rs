//! Tokens and their names in messages.
//!
//! A token has a kind (`Tok`) and positions; only literals and names have a value beside that.
//! Messages show tokens as the reference does: punctuation in quotes, others by name.

use num_bigint::BigInt;
use ytterby_diag::Pos;
use ytterby_text::Str;

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tok {
    Illegal,
    Eof,
    Newline,
    Indent,
    Outdent,
    Ident,
    Int,
    Float,
    Str,
    Bytes,
    Plus,
    Minus,
    Star,
    Slash,
    SlashSlash,
    Percent,
    Amp,
    Pipe,
    Circumflex,
    LtLt,
    GtGt,
    Tilde,
    Dot,
    Comma,
    Eq,
    Semi,
    Colon,
    LParen,
    RParen,
    LBrack,
    RBrack,
    LBrace,
    RBrace,
    Lt,
    Gt,
    Ge,
    Le,
    EqEq,
    Ne,
    PlusEq,
    MinusEq,
    StarEq,
    SlashEq,
    SlashSlashEq,
    PercentEq,
    AmpEq,
    PipeEq,
    CircumflexEq,
    LtLtEq,
    GtGtEq,
    StarStar,
    And,
    Break,
    Continue,
    Def,
    Elif,
    Else,
    For,
    If,
    In,
    Lambda,
    Load,
    Not,
    NotIn,
    Or,
    Pass,
    Return,
    While,
}

impl Tok {
    /// The text or name of the token.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Tok::Illegal => "illegal token",
            Tok::Eof => "end of file",
            Tok::Newline => "newline",
            Tok::Indent => "indent",
            Tok::Outdent => "outdent",
            Tok::Ident => "identifier",
            Tok::Int => "int literal",
            Tok::Float => "float literal",
            Tok::Str => "string literal",
            Tok::Bytes => "bytes literal",
            Tok::Plus => "+",
            Tok::Minus => "-",
            Tok::Star => "*",
            Tok::Slash => "/",
            Tok::SlashSlash => "//",
            Tok::Percent => "%",
            Tok::Amp => "&",
            Tok::Pipe => "|",
            Tok::Circumflex => "^",
            Tok::LtLt => "<<",
            Tok::GtGt => ">>",
            Tok::Tilde => "~",
            Tok::Dot => ".",
            Tok::Comma => ",",
            Tok::Eq => "=",
            Tok::Semi => ";",
            Tok::Colon => ":",
            Tok::LParen => "(",
            Tok::RParen => ")",
            Tok::LBrack => "[",
            Tok::RBrack => "]",
            Tok::LBrace => "{",
            Tok::RBrace => "}",
            Tok::Lt => "<",
            Tok::Gt => ">",
            Tok::Ge => ">=",
            Tok::Le => "<=",
            Tok::EqEq => "==",
            Tok::Ne => "!=",
            Tok::PlusEq => "+=",
            Tok::MinusEq => "-=",
            Tok::StarEq => "*=",
            Tok::SlashEq => "/=",
            Tok::SlashSlashEq => "//=",
            Tok::PercentEq => "%=",
            Tok::AmpEq => "&=",
            Tok::PipeEq => "|=",
            Tok::CircumflexEq => "^=",
            Tok::LtLtEq => "<<=",
            Tok::GtGtEq => ">>=",
            Tok::StarStar => "**",
            Tok::And => "and",
            Tok::Break => "break",
            Tok::Continue => "continue",
            Tok::Def => "def",
            Tok::Elif => "elif",
            Tok::Else => "else",
            Tok::For => "for",
            Tok::If => "if",
            Tok::In => "in",
            Tok::Lambda => "lambda",
            Tok::Load => "load",
            Tok::Not => "not",
            Tok::NotIn => "not in",
            Tok::Or => "or",
            Tok::Pass => "pass",
            Tok::Return => "return",
            Tok::While => "while",
        }
    }

    /// As messages show it: punctuation in quotes.
    pub(crate) fn shown(self) -> String {
        if (Tok::Plus as u8..=Tok::StarStar as u8).contains(&(self as u8)) {
            format!("'{}'", self.text())
        } else {
            self.text().to_owned()
        }
    }

    /// Whether it is a reserved word.
    pub(crate) fn is_reserved(self) -> bool {
        self == Tok::Illegal || (Tok::And as u8..=Tok::While as u8).contains(&(self as u8)) && self != Tok::NotIn
    }

    /// The reserved word with this name.
    pub(crate) fn keyword(name: &[u8]) -> Option<Tok> {
        Some(match name {
            b"and" => Tok::And,
            b"break" => Tok::Break,
            b"continue" => Tok::Continue,
            b"def" => Tok::Def,
            b"elif" => Tok::Elif,
            b"else" => Tok::Else,
            b"for" => Tok::For,
            b"if" => Tok::If,
            b"in" => Tok::In,
            b"lambda" => Tok::Lambda,
            b"load" => Tok::Load,
            b"not" => Tok::Not,
            b"or" => Tok::Or,
            b"pass" => Tok::Pass,
            b"return" => Tok::Return,
            b"while" => Tok::While,
            b"as" | b"class" | b"del" | b"except" | b"finally" | b"from" | b"global" | b"import" | b"is"
            | b"nonlocal" | b"raise" | b"try" | b"with" | b"yield" => Tok::Illegal,
            _ => return None,
        })
    }
}

/// A token with its position.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    pub(crate) start: Pos,
    pub(crate) end: Pos,
    pub(crate) value: TokenValue,
}

impl Token {
    /// A token before the first.
    pub(super) const NONE: Token =
        Token { tok: Tok::Newline, start: Pos::UNKNOWN, end: Pos::UNKNOWN, value: TokenValue::None };
}

/// The value of a token.
#[derive(Clone, Debug)]
pub(crate) enum TokenValue {
    None,
    /// Names and reserved words.
    Name(Str),
    Int(i64),
    BigInt(Box<BigInt>),
    Float(f64),
    Str(Str),
    /// The callee of the host operation in the piece with this index.
    HostOp(u32),
    /// The callee that collects the arguments of such an operation.
    HostArgs,
}
