//! Packs that are part of the engine.
