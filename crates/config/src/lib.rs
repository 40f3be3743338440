//! Configuration: files and environment, in one documented place.
