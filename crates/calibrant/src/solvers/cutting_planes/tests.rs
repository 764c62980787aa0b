//! The solver against problems whose answers are known another way.
