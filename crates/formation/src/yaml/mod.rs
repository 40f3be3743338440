//! Reads YAML 1.2 (core schema) from the parser's events, without recursion.
//!
//! Anchors, aliases and merge keys are expanded within the limits; tags beyond the core schema,
//! several documents and keys that are no text are refused.

mod place;
mod scalar;

use crate::Limits;
use crate::builder::{Builder, Built, Closed, NUL, Problem, TooLarge};
use crate::report::Report;
use formwork_model::{Diagnostic, DiagnosticCode, Json, Path, Span};
use place::Positions;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};
use scalar::Scalar;
use std::collections::HashMap;

/// The text is beyond repair; why has been reported.
struct Stop;

/// Reads one YAML document. Whether the text was right is in the report.
pub(crate) fn read(text: &str, limits: &Limits, report: &mut Report<'_>) -> Option<Built> {
    let mut reader = Reader {
        positions: Positions::new(text),
        builder: Builder::new(*limits),
        report,
        anchors: HashMap::new(),
        open: Vec::new(),
        anchored_nodes: 0,
        limits: *limits,
        document: None,
        ended: false,
    };
    let mut parser = Parser::new_from_str(text);
    while let Some(next) = parser.next_event() {
        let done = match next {
            Ok((event, span)) => reader.event(event, span),
            Err(error) => Err(reader.scan_error(&error)),
        };
        done.ok()?;
    }
    Some(reader.document.unwrap_or_else(|| Built::scalar(Json::Null, Span::default())))
}

/// The parser's number of an anchor; 0 is none.
type AnchorId = usize;

struct Reader<'t, 'r, 's> {
    positions: Positions<'t>,
    builder: Builder,
    report: &'r mut Report<'s>,
    /// What each anchor names, once it is complete.
    anchors: HashMap<AnchorId, Built>,
    open: Vec<Open>,
    /// Values copied so that an alias can repeat them: bounded like the values themselves.
    anchored_nodes: usize,
    limits: Limits,
    document: Option<Built>,
    ended: bool,
}

struct Open {
    anchor: AnchorId,
    /// Whether it is written with brackets, so that its end has a place.
    flow: bool,
}

impl Reader<'_, '_, '_> {
    fn event(&mut self, event: Event<'_>, span: saphyr_parser::Span) -> Result<(), Stop> {
        let span = self.positions.span(span);
        match event {
            Event::DocumentStart(_) if self.ended => {
                Err(self.unsupported(span, "A template is one YAML document; a second one begins here"))
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => Ok(()),
            Event::DocumentEnd => {
                self.ended = true;
                Ok(())
            }
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style, anchor, tag.as_deref(), span)
            }
            Event::SequenceStart(anchor, tag) => self.begin(false, anchor, tag.as_deref(), span),
            Event::MappingStart(anchor, tag) => self.begin(true, anchor, tag.as_deref(), span),
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
        }
    }

    fn begin(&mut self, mapping: bool, anchor: AnchorId, tag: Option<&Tag>, span: Span) -> Result<(), Stop> {
        if self.builder.expects_key() {
            return Err(self.unsupported(span, "A key must be text, not a list or a mapping"));
        }
        let tagged = span;
        let span = self.positions.after_properties(span);
        if let Some(tag) = tag {
            let wanted = if mapping { "map" } else { "seq" };
            if scalar::core_suffix(tag).is_none_or(|suffix| suffix != wanted) {
                self.unsupported_tag(tag, tagged);
            }
        }
        let opened = if mapping { self.builder.open_object(span) } else { self.builder.open_array(span) };
        self.within(opened, span)?;
        self.open.push(Open { anchor, flow: self.positions.is_bracket(span) });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), Stop> {
        let Some(Open { anchor, flow }) = self.open.pop() else { return Err(Stop) };
        let Some(Closed { built, problems }) = self.builder.close(flow.then_some(span)) else {
            return Err(Stop);
        };
        for problem in problems {
            self.problem(problem);
        }
        self.remember(anchor, &built, span)?;
        self.attach(built);
        Ok(())
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: AnchorId,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<(), Stop> {
        let tagged = span;
        let span = self.positions.scalar(span, style);
        if text.contains('\0') {
            let path = self.builder.path();
            self.report.push(span, Diagnostic::error(DiagnosticCode::SyntaxError, path, NUL));
        }
        if self.builder.expects_key() {
            let merge = text == "<<" && style == ScalarStyle::Plain && tag.is_none();
            self.remember(anchor, &Built::scalar(Json::from(text), span), span)?;
            self.builder.key(text, span, merge);
            return Ok(());
        }
        let counted = self.builder.count(1);
        self.within(counted, span)?;
        let built = Built::scalar(self.scalar_value(text, style, tag, tagged, span), span);
        self.remember(anchor, &built, span)?;
        self.attach(built);
        Ok(())
    }

    fn scalar_value(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        tagged: Span,
        span: Span,
    ) -> Json {
        let path = self.builder.path();
        match scalar::resolve(text, style == ScalarStyle::Plain, tag) {
            Scalar::Value(value) => value,
            Scalar::UnknownTag => {
                if let Some(tag) = tag {
                    self.unsupported_tag(tag, tagged);
                }
                Json::Null
            }
            Scalar::Mismatch { wanted } => {
                let message = format!("`{text}` is no {wanted}, as its tag says");
                self.report.push(span, Diagnostic::error(DiagnosticCode::WrongType, path, message));
                Json::Null
            }
            Scalar::Number(bad) => {
                let diagnostic = Diagnostic::error(DiagnosticCode::WrongType, path, bad.message(text));
                self.report.push(span, diagnostic.hint("quote it to keep it as text"));
                Json::Null
            }
            Scalar::NotFinite => {
                let message = format!("`{text}` is not a number that JSON has");
                let diagnostic = Diagnostic::error(DiagnosticCode::WrongType, path, message);
                self.report.push(span, diagnostic.hint("quote it to keep it as text"));
                Json::Null
            }
        }
    }

    fn alias(&mut self, anchor: AnchorId, span: Span) -> Result<(), Stop> {
        let Some(target) = self.anchors.get(&anchor) else {
            return Err(self.unsupported(span, "This alias stands inside the value that it names"));
        };
        let (nodes, height) = (target.nodes, target.height);
        let room = self.builder.count(nodes).and_then(|()| self.builder.check_height(height));
        self.within(room, span)?;
        let Some(target) = self.anchors.get(&anchor) else { return Err(Stop) };
        if self.builder.expects_key() {
            let Json::String(text) = &target.value else {
                return Err(self.unsupported(span, "A key must be text"));
            };
            self.builder.key(text, span, false);
            return Ok(());
        }
        let mut copy = target.clone();
        copy.node.span = span;
        self.attach(copy);
        Ok(())
    }

    fn attach(&mut self, built: Built) {
        if self.builder.is_root() {
            self.document = Some(built);
        } else {
            self.builder.attach(built);
        }
    }

    /// Reports what is wrong with a member of the mapping that was closed last.
    fn problem(&mut self, problem: Problem) {
        let path = self.builder.path();
        match problem {
            Problem::Duplicate { key, first, second } => {
                self.report.duplicate_key(&path, &key, first, second);
            }
            Problem::NotMergeable(span) => {
                let message = "`<<` takes a mapping or a list of mappings";
                self.report.push(span, Diagnostic::error(DiagnosticCode::WrongType, path.key("<<"), message));
            }
        }
    }

    fn remember(&mut self, anchor: AnchorId, built: &Built, span: Span) -> Result<(), Stop> {
        if anchor == 0 {
            return Ok(());
        }
        self.anchored_nodes = self.anchored_nodes.saturating_add(built.nodes);
        if self.anchored_nodes > self.limits.max_nodes {
            return self.within(Err(TooLarge::Nodes(self.limits.max_nodes)), span);
        }
        self.anchors.insert(anchor, built.clone());
        Ok(())
    }

    fn unsupported(&mut self, span: Span, message: &str) -> Stop {
        let path = self.builder.path();
        self.report.push(span, Diagnostic::error(DiagnosticCode::UnsupportedYaml, path, message));
        Stop
    }

    /// Reports a tag that templates do not have, and reads on. Authors of CloudFormation
    /// templates learn what stands for theirs.
    fn unsupported_tag(&mut self, tag: &Tag, span: Span) {
        let message = format!("Templates have no tag `{}`", scalar::tag_text(tag));
        let mut diagnostic = Diagnostic::error(DiagnosticCode::UnsupportedYaml, self.builder.path(), message);
        diagnostic.hint = match tag.suffix.as_str() {
            "Ref" => Some("write `{ ref: LogicalId }` or `{ param: Name }`".to_owned()),
            "Sub" => Some("write `{ sub: \"… ${Name}\" }`".to_owned()),
            "GetAtt" => Some("write `{ ref_attr: LogicalId.attribute }`, in `outputs`".to_owned()),
            _ => None,
        };
        self.report.push(span, diagnostic);
    }

    fn within(&mut self, outcome: Result<(), TooLarge>, span: Span) -> Result<(), Stop> {
        outcome.map_err(|over| {
            self.report
                .push(span, Diagnostic::error(DiagnosticCode::InputTooLarge, Path::root(), over.message()));
            Stop
        })
    }

    fn scan_error(&mut self, error: &ScanError) -> Stop {
        let span = self.positions.character(error.marker());
        let (code, message) = if error.info().contains("recursion limit") {
            (DiagnosticCode::InputTooLarge, TooLarge::Depth(self.limits.max_depth).message())
        } else {
            (DiagnosticCode::SyntaxError, format!("This is not YAML: {}", error.info()))
        };
        self.report.push(span, Diagnostic::error(code, Path::root(), message));
        Stop
    }
}
