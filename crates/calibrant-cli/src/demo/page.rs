//! page
pub(super) fn render(_c: &super::comparison::Comparison) -> String { String::new() }
