//! Tokens: the text cut into pieces, none left out.

use crate::Span;

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands. Each token begins where the one before ends.
    pub span: Span,
}

macro_rules! token_kinds {
    (
        open { $($(#[$open_doc:meta])* $open:ident),* $(,)? }
        words { $($word_text:literal => $word:ident),* $(,)? }
        signs { $($sign_text:literal => $sign:ident),* $(,)? }
    ) => {
        /// The kinds of tokens.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum TokenKind {
            $($(#[$open_doc])* $open,)*
            $(#[doc = concat!("`", $word_text, "`")] $word,)*
            $(#[doc = concat!("`", $sign_text, "`")] $sign,)*
        }

        impl TokenKind {
            /// The text of a keyword or sign; `None` if tokens of this kind differ.
            pub const fn text(self) -> Option<&'static str> {
                match self {
                    $(Self::$word => Some($word_text),)*
                    $(Self::$sign => Some($sign_text),)*
                    _ => None,
                }
            }

            /// The keyword that `text` is. Neither [`Self::ImportGlob`] and its like, which are more than
            /// a word.
            pub(crate) fn keyword(text: &str) -> Option<Self> {
                match text {
                    $($word_text => Some(Self::$word),)*
                    _ => None,
                }
            }

            /// Whether the token is a word that can't be a name without back-quotes.
            pub const fn is_keyword(self) -> bool {
                matches!(self, $(Self::$word)|*)
            }
        }
    };
}

token_kinds! {
    open {
        /// Spaces, tabs, form feeds, and carriage returns that belong to no line end.
        Whitespace,
        /// One line end: `\n` or `\r\n`.
        Newline,
        /// `// …` without its line end.
        LineComment,
        /// `/* … */`
        BlockComment,
        /// `/// …` without its line end.
        DocComment,
        /// `#! …` before anything but white space and comments, without its line end.
        Shebang,
        /// A name, perhaps in back-quotes.
        Identifier,
        /// An integer literal.
        Int,
        /// A floating-point literal.
        Float,
        /// The opening quotes of a string with the `#` before them.
        StringStart,
        /// Characters of a string that stand for themselves.
        StringText,
        /// A line end in a multi-line string: `\n`, `\r\n` or `\r`.
        StringNewline,
        /// An escape of one character.
        StringEscape,
        /// An escape of the form `\u{…}`.
        UnicodeEscape,
        /// `\(` in a string.
        InterpolationStart,
        /// The `)` that belongs to `\(`.
        InterpolationEnd,
        /// The closing quotes of a string with the `#` after them.
        StringEnd,
        /// Characters that begin nothing.
        Unknown,
        /// The end of the text; empty.
        End,
    }
    words {
        "_" => Underscore,
        "abstract" => Abstract,
        "amends" => Amends,
        "as" => As,
        "case" => Case,
        "class" => Class,
        "const" => Const,
        "delete" => Delete,
        "else" => Else,
        "extends" => Extends,
        "external" => External,
        "false" => False,
        "fixed" => Fixed,
        "for" => For,
        "function" => Function,
        "hidden" => Hidden,
        "if" => If,
        "import" => Import,
        "in" => In,
        "is" => Is,
        "let" => Let,
        "local" => Local,
        "module" => Module,
        "new" => New,
        "nothing" => Nothing,
        "null" => Null,
        "open" => Open,
        "out" => Out,
        "outer" => Outer,
        "override" => Override,
        "protected" => Protected,
        "read" => Read,
        "record" => Record,
        "super" => Super,
        "switch" => Switch,
        "this" => This,
        "throw" => Throw,
        "trace" => Trace,
        "true" => True,
        "typealias" => TypeAlias,
        "unknown" => UnknownType,
        "vararg" => Vararg,
        "when" => When,
    }
    signs {
        "import*" => ImportGlob,
        "read?" => ReadNullable,
        "read*" => ReadGlob,
        ";" => Semicolon,
        "{" => LeftBrace,
        "}" => RightBrace,
        "(" => LeftParen,
        ")" => RightParen,
        "[" => LeftBracket,
        "[[" => LeftBrackets,
        "]" => RightBracket,
        "," => Comma,
        "." => Dot,
        "?." => QuestionDot,
        "..." => Spread,
        "...?" => SpreadNullable,
        ":" => Colon,
        "=" => Assign,
        "->" => Arrow,
        "@" => At,
        "|" => Bar,
        "?" => Question,
        "??" => Coalesce,
        "!" => Bang,
        "!!" => BangBang,
        "**" => Power,
        "*" => Star,
        "/" => Slash,
        "~/" => IntDivide,
        "%" => Percent,
        "+" => Plus,
        "-" => Minus,
        "<" => Less,
        ">" => Greater,
        "<=" => LessOrEqual,
        ">=" => GreaterOrEqual,
        "==" => Equal,
        "!=" => NotEqual,
        "&&" => And,
        "||" => Or,
        "|>" => Pipe,
    }
}

impl TokenKind {
    /// Whether the token only separates others: white space, line ends, semicolons, comments other than
    /// doc comments.
    pub const fn is_trivia(self) -> bool {
        matches!(
            self,
            Self::Whitespace
                | Self::Newline
                | Self::LineComment
                | Self::BlockComment
                | Self::Shebang
                | Self::Semicolon
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_found_by_their_text() {
        assert_eq!(TokenKind::keyword("typealias"), Some(TokenKind::TypeAlias));
        assert_eq!(TokenKind::keyword("import*"), None);
        assert_eq!(TokenKind::keyword("typealia"), None);
        assert_eq!(TokenKind::TypeAlias.text(), Some("typealias"));
        assert!(TokenKind::Underscore.is_keyword());
        assert!(!TokenKind::ReadGlob.is_keyword());
    }
}
