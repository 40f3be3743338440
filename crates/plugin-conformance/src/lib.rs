//! A conformance suite for plugins, and FakeCloud, a scriptable provider.
