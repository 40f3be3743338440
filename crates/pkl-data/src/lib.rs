//! What Pkl reads and writes, byte for byte: numbers, units, text, data formats.
