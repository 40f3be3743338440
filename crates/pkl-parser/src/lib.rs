//! The grammar of the Pkl language: lossless tokens, a syntax tree in arenas, and every error of a file in one run.
