//! From tokens to the tree: recursive descent, with precedence climbing for operators.
//!
//! After an error the parser is *panicking*: it reports nothing more and consumes nothing until the loop
//! over the members of a body or module, or an interpolation, finds a place to go on from.

mod cursor;
mod decode;
mod expr;
mod member;
mod module;
mod object;
mod operator;
mod primary;
mod recovery;
mod string;
mod types;

use cursor::Significant;
use rustc_hash::FxHashMap;

use crate::ast::{Ast, Expr, ExprId, ExprKind, Module, Name, Type, TypeId, TypeKind};
use crate::{Diagnostic, DiagnosticCode, Interner, MAX_DEPTH, Parsed, Span, Symbol, TokenKind};

/// Reads a module. Names go into `interner`.
///
/// Never fails: what is wrong is in [`Parsed::diagnostics`], all of it in one run.
pub fn parse_module(source: &str, interner: &Interner) -> Parsed<Module> {
    let mut parser = Parser::new(source, interner);
    let root = parser.module();
    parser.finish(root)
}

/// Reads a single expression, as for `pkl eval -x`.
pub fn parse_expression(source: &str, interner: &Interner) -> Parsed<ExprId> {
    let mut parser = Parser::new(source, interner);
    let root = parser.expr(None);
    parser.expect_end();
    parser.finish(root)
}

/// Reads a single type.
pub fn parse_type(source: &str, interner: &Interner) -> Parsed<TypeId> {
    let mut parser = Parser::new(source, interner);
    let root = parser.ty("a type");
    parser.expect_end();
    parser.finish(root)
}

struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Significant>,
    /// The position in `tokens` of the next token; the last, the end, is never passed.
    index: usize,
    ast: Ast,
    interner: &'s Interner,
    symbols: FxHashMap<&'s str, Symbol>,
    diagnostics: Vec<Diagnostic>,
    /// Where the lexer's errors begin, in order.
    lexer_errors: Vec<u32>,
    panicking: bool,
    depth: u32,
}

impl<'s> Parser<'s> {
    fn new(source: &'s str, interner: &'s Interner) -> Self {
        let (tokens, diagnostics) = cursor::significant_tokens(source);
        Self {
            source,
            index: 0,
            ast: Ast::with_room_for(tokens.len()),
            tokens,
            interner,
            symbols: FxHashMap::default(),
            lexer_errors: diagnostics.iter().map(|diagnostic| diagnostic.span.start).collect(),
            diagnostics,
            panicking: false,
            depth: 0,
        }
    }

    fn finish<Root>(mut self, root: Root) -> Parsed<Root> {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        Parsed { ast: self.ast, root, diagnostics: self.diagnostics }
    }

    // Looking at tokens.

    fn token(&self) -> Significant {
        self.tokens[self.index]
    }

    fn kind(&self) -> TokenKind {
        self.token().kind
    }

    /// The kind of the token `distance` after the next one.
    fn kind_at(&self, distance: usize) -> TokenKind {
        self.tokens.get(self.index + distance).map_or(TokenKind::End, |token| token.kind)
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    /// Whether the next token is of this kind and on the line of the one before.
    fn at_on_line(&self, kind: TokenKind) -> bool {
        let token = self.token();
        token.kind == kind && !token.before.has_newline()
    }

    fn start(&self) -> u32 {
        self.token().span.start
    }

    /// Where the last consumed token ends.
    fn previous_end(&self) -> u32 {
        self.index.checked_sub(1).map_or(0, |index| self.tokens[index].span.end)
    }

    /// From `start` to the last consumed token; empty if none was consumed since.
    fn span_from(&self, start: u32) -> Span {
        Span::new(start, self.previous_end().max(start))
    }

    /// The end of the last consumed token, as an empty span.
    fn here(&self) -> Span {
        Span::empty(self.previous_end())
    }

    // Consuming tokens.

    fn bump(&mut self) -> Significant {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.index += 1;
        }
        token
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = !self.panicking && self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Consumes a token of this kind, or reports that it was expected.
    fn expect(&mut self, kind: TokenKind) -> bool {
        let found = self.eat(kind);
        if !found {
            self.unexpected(&format!("`{}`", kind.text().unwrap_or_default()));
        }
        found
    }

    fn expect_end(&mut self) {
        if !self.at(TokenKind::End) {
            self.unexpected("`EOF`");
        }
    }

    // Reporting.

    /// Reports something that doesn't keep the parser from going on.
    fn report(&mut self, code: DiagnosticCode, span: Span, text: &str) {
        if !self.panicking {
            self.diagnostics.push(Diagnostic::new(code, span, text));
        }
    }

    /// Reports something, and panics.
    fn fail(&mut self, code: DiagnosticCode, span: Span, text: &str) {
        self.report(code, span, text);
        self.panicking = true;
    }

    /// Reports that the next token is not what was expected, and panics.
    ///
    /// What is missing is missing after the last token: that is the place if the next one is on another line.
    fn unexpected(&mut self, expected: &str) {
        let token = self.token();
        let shown = if token.kind == TokenKind::End { "EOF" } else { self.shown() };
        let elsewhere = token.kind == TokenKind::End || token.before.has_newline();
        let place = if elsewhere { self.here() } else { token.span };
        self.fail_at(place, &format!("Unexpected token `{shown}`. Expected {expected}."));
    }

    /// Whether the lexer reported the next token, a number, or characters before it. Then that is why it doesn't
    /// belong where it is.
    fn is_lexed_wrongly(&self) -> bool {
        let token = self.token();
        let first = self.lexer_errors.partition_point(|start| *start < token.span.start);
        let inside = self.lexer_errors.get(first).is_some_and(|start| *start <= token.span.end);
        let is_number = matches!(token.kind, TokenKind::Int | TokenKind::Float);
        token.before.has_unknown() || (inside && is_number)
    }

    /// Reports that the next token doesn't belong here, and panics.
    fn fail_here(&mut self, text: &str) {
        self.fail_at(self.token().span, text);
    }

    fn fail_at(&mut self, place: Span, text: &str) {
        self.panicking |= self.is_lexed_wrongly();
        let at_end = self.at(TokenKind::End);
        let code = if at_end { DiagnosticCode::UnexpectedEnd } else { DiagnosticCode::UnexpectedToken };
        self.fail(code, place, text);
    }

    /// The text of the next token.
    fn shown(&self) -> &'s str {
        self.token().span.text(self.source)
    }

    /// Reports that the text ends too early, and panics.
    fn unexpected_end(&mut self, place: Span) {
        self.fail_at(place, "Unexpected end of file.");
    }

    // Nesting.

    /// Parses something that nests to the right; `None` if the nesting is too deep, in which case nothing
    /// more is read.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth == MAX_DEPTH {
            self.fail(
                DiagnosticCode::TooDeep,
                self.token().span,
                &format!("Nested too deeply: more than {MAX_DEPTH} levels."),
            );
            self.index = self.tokens.len() - 1;
            return None;
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        Some(parsed)
    }

    // Making nodes.

    fn add_expr(&mut self, start: u32, kind: ExprKind) -> ExprId {
        let span = self.span_from(start);
        self.ast.add(Expr { span, kind })
    }

    fn error_expr(&mut self) -> ExprId {
        let span = Span::empty(self.start());
        self.ast.add(Expr { span, kind: ExprKind::Error })
    }

    fn add_type(&mut self, start: u32, kind: TypeKind) -> TypeId {
        let span = self.span_from(start);
        self.ast.add(Type { span, kind })
    }

    fn error_type(&mut self) -> TypeId {
        let span = Span::empty(self.start());
        self.ast.add(Type { span, kind: TypeKind::Error })
    }

    // Names.

    /// A name, or a report that one was expected.
    fn name(&mut self) -> Option<Name> {
        if self.panicking {
            return None;
        }
        if self.at(TokenKind::Identifier) {
            return Some(self.identifier());
        }
        if self.at_keyword() {
            self.keyword_as_name();
        } else {
            let text = format!("Unexpected token `{}`. Expected `identifier`.", self.shown());
            self.fail_here(&text);
        }
        None
    }

    /// The name that comes next; the caller has looked.
    fn identifier(&mut self) -> Name {
        let span = self.bump().span;
        let text = span.text(self.source);
        let text = match text.strip_prefix('`') {
            Some(text) => text.strip_suffix('`').unwrap_or(text),
            None => text,
        };
        let symbol = *self.symbols.entry(text).or_insert_with(|| self.interner.intern(text));
        Name { symbol, span }
    }

    /// Whether a word comes next that can't be a name, with the mark after it if it has one.
    fn at_keyword(&self) -> bool {
        use TokenKind::{ImportGlob, ReadGlob, ReadNullable};
        self.kind().is_keyword() || matches!(self.kind(), ImportGlob | ReadGlob | ReadNullable)
    }

    /// The next token, a keyword, as the language's messages call it.
    fn shown_keyword(&self) -> &'s str {
        match self.kind() {
            TokenKind::TypeAlias => "type_alias",
            TokenKind::ImportGlob => "import_star",
            TokenKind::ReadGlob => "read_star",
            TokenKind::ReadNullable => "read_question",
            _ => self.shown(),
        }
    }

    fn keyword_as_name(&mut self) {
        let text = format!(
            "Keyword `{}` is not allowed here.\n\nIf you must use this name as identifier, enclose it in backticks.",
            self.shown_keyword()
        );
        self.fail(DiagnosticCode::NotAllowedHere, self.token().span, &text);
    }
}
