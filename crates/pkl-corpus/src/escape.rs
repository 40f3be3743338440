//! Bytes as the lines of a section, and back.

/// How the bytes of a section are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they are; a line that could be read as a heading has a backslash before it.
    Lines,
    /// As they are, without the last newline, which the bytes don't have.
    Unended,
    /// Two digits a byte, because they are no UTF-8 or have a carriage return.
    Hex,
}

impl Form {
    /// What a heading says of it.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Lines => "",
            Self::Unended => " (no final newline)",
            Self::Hex => " (hex)",
        }
    }
}

/// Writes bytes as whole lines.
pub(crate) fn write(bytes: &[u8], into: &mut String) -> Form {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\r') => {
            for line in text.split_terminator('\n') {
                if line.trim_start_matches('\\').starts_with(['=', '-']) {
                    into.push('\\');
                }
                into.push_str(line);
                into.push('\n');
            }
            if text.is_empty() || text.ends_with('\n') { Form::Lines } else { Form::Unended }
        }
        _ => {
            for chunk in bytes.chunks(40) {
                into.extend(chunk.iter().map(|byte| format!("{byte:02x}")));
                into.push('\n');
            }
            Form::Hex
        }
    }
}

/// The bytes of written lines; nothing if they are not of that form.
pub(crate) fn read(lines: &[&str], form: Form) -> Option<Vec<u8>> {
    if form == Form::Hex {
        let digits: Vec<u8> = lines.concat().into_bytes();
        return digits
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
    }
    let mut bytes = Vec::new();
    for line in lines {
        let escaped = line.starts_with('\\') && line.trim_start_matches('\\').starts_with(['=', '-']);
        bytes.extend_from_slice(if escaped { &line.as_bytes()[1..] } else { line.as_bytes() });
        bytes.push(b'\n');
    }
    if form == Form::Unended {
        bytes.pop();
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive() {
        let samples: [&[u8]; 9] = [
            b"",
            b"a",
            b"a\n",
            b"\n",
            b"\n\na",
            b"=== x\n--- hint\n\\=== y\n\\\\-",
            b"a\r\nb",
            b"\xff\x00",
            b"- a\n\\b\n= c\n",
        ];
        for bytes in samples {
            let mut text = String::new();
            let form = write(bytes, &mut text);
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(read(&lines, form).as_deref(), Some(bytes), "{text:?}");
        }
    }
}
