//! Chains of members: `a.b.c(…)?.d`.

use pkl_parser::ast::{ExprId, ExprKind, List};

use super::Builder;
use crate::layout::Piece;

/// `.name` or `.name(args)`
struct Link {
    args: Option<List<ExprId>>,
}

impl Builder<'_> {
    /// A chain on one line, or each link on its own. Properties before the first of several calls stay with
    /// what the chain begins with. The arguments of an only call at the end may break by themselves.
    pub(super) fn chain(&mut self, expr: ExprId) {
        let (base, links) = self.links(expr);
        let base_calls = matches!(
            self.ast[base].kind,
            ExprKind::Call { .. } | ExprKind::SuperMember { args: Some(_), .. }
        );
        let first_call = links.iter().position(|link| link.args.is_some());
        let last = links.len() - 1;
        if !base_calls && first_call == Some(last) {
            self.expr(base);
            self.open();
            self.links_on_lines(&links[..last]);
            self.link_name(Piece::SoftLine);
            self.dedent();
            self.close();
            return self.optional_args(links[last].args);
        }
        let with_base = if base_calls { 0 } else { first_call.unwrap_or(0) };
        // A single link doesn't mind on how many lines stands what it follows.
        if links.len() == 1 {
            self.expr(base);
            self.open();
        } else {
            self.open();
            self.expr(base);
        }
        self.open();
        self.links_on_lines(&links[..with_base]);
        self.dedent();
        self.close();
        if self.takes_two_functions(base, &links) {
            self.push(Piece::Break);
        }
        self.links_on_lines(&links[with_base..]);
        self.dedent();
        self.close();
    }

    /// Links on one line or each on its own, indented; the indentation stays open.
    fn links_on_lines(&mut self, links: &[Link]) {
        self.indent();
        for link in links {
            self.link_name(Piece::SoftLine);
            self.optional_args(link.args);
        }
    }

    fn links(&self, expr: ExprId) -> (ExprId, Vec<Link>) {
        let mut links = Vec::new();
        let mut at = expr;
        while let ExprKind::Member { receiver, args, .. } = self.ast[at].kind {
            links.push(Link { args });
            at = receiver;
        }
        links.reverse();
        (at, links)
    }

    /// `.name` or `?.name`
    fn link_name(&mut self, separator: Piece<'static>) {
        self.gap(separator);
        self.text();
        self.adjacent();
    }

    /// Whether two of the calls take functions.
    fn takes_two_functions(&self, base: ExprId, links: &[Link]) -> bool {
        let base_args = match self.ast[base].kind {
            ExprKind::Call { args, .. } => Some(args),
            ExprKind::SuperMember { args, .. } => args,
            _ => None,
        };
        let calls = links.iter().filter_map(|link| link.args).chain(base_args);
        let is_function = |arg: &ExprId| matches!(self.ast[*arg].kind, ExprKind::Function { .. });
        calls.filter(|args| self.ast[*args].iter().any(is_function)).count() > 1
    }
}
