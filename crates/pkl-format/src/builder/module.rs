//! Modules.

use pkl_parser::TokenKind;
use pkl_parser::ast::{List, Module, ModuleDecl, ModuleMember};

use super::Builder;
use super::block::{Block, Spot};
use crate::layout::Piece;

impl Builder<'_> {
    pub(super) fn module(&mut self, module: &Module) {
        let mut spot = Spot::First;
        if let Some(decl) = module.decl {
            self.block_gap(Block::Module, spot);
            self.module_decl(&decl);
            spot = Spot::Between;
        }
        if !module.imports.is_empty() {
            self.imports(module.imports, spot);
            spot = Spot::Between;
        }
        for member in &self.ast[module.members] {
            self.block_gap(Block::Module, spot);
            self.module_member(*member);
            spot = Spot::Between;
        }
        let is_empty = spot == Spot::First;
        self.block_gap(Block::Module, if is_empty { Spot::Only } else { Spot::Last });
        self.push(Piece::HardLine);
    }

    fn module_decl(&mut self, decl: &ModuleDecl) {
        self.doc_and_annotations(decl.doc, decl.annotations);
        self.modifiers(decl.modifiers);
        if !decl.name.is_empty() {
            self.text();
            self.gap(Piece::Space);
            self.dotted_name(decl.name, Piece::Nothing);
        }
        let Some(base) = decl.base else { return };
        if !decl.name.is_empty() {
            self.gap(if self.comments_follow() { Piece::HardLine } else { Piece::BlankLine });
        }
        self.open();
        self.text();
        self.indent();
        self.gap(Piece::Line);
        self.string(base.uri);
        self.dedent();
        self.close();
    }

    fn module_member(&mut self, member: ModuleMember) {
        match member {
            ModuleMember::Class(class) => self.class(class),
            ModuleMember::TypeAlias(alias) => self.type_alias(alias),
            ModuleMember::Property(property) => self.property(property),
            ModuleMember::Method(method) => self.method(method),
        }
    }

    /// `a.b.c` with a separator before each dot, indented; the gap before it is put out.
    pub(super) fn dotted_name<T>(&mut self, names: List<T>, separator: Piece<'static>) {
        self.text();
        self.indent();
        for _ in 1..names.len() {
            debug_assert_eq!(self.peek(), TokenKind::Dot);
            self.then(separator);
            self.adjacent();
        }
        self.dedent();
    }
}
