//! Progress on a terminal; nothing where there is none.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Duration;

use calibrant::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Draws on standard error when that is a terminal.
#[derive(Default)]
pub(crate) struct TerminalProgress {
    bar: Mutex<Option<ProgressBar>>,
}

impl TerminalProgress {
    fn with_bar(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        if let Ok(mut bar) = self.bar.lock() {
            act(&mut bar);
        }
    }
}

impl Progress for TerminalProgress {
    fn begin(&self, stage: &str, total: Option<u64>) {
        let target = ProgressDrawTarget::stderr();
        if target.is_hidden() {
            return;
        }
        let bar = ProgressBar::with_draw_target(total, target);
        let bytes = stage == "reading";
        let template = match (total, bytes) {
            (Some(_), true) => "{msg:12} [{bar:40}] {bytes}/{total_bytes}",
            (Some(_), false) => "{msg:12} [{bar:40}] {pos}/{len}",
            (None, true) => "{msg:12} {spinner} {bytes}",
            (None, false) => "{msg:12} {spinner} {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(stage.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        self.with_bar(|current| *current = Some(bar));
    }

    fn advance(&self, amount: u64) -> ControlFlow<()> {
        self.with_bar(|bar| {
            if let Some(bar) = bar {
                bar.inc(amount);
            }
        });
        ControlFlow::Continue(())
    }

    fn end(&self) {
        self.with_bar(|bar| {
            if let Some(bar) = bar.take() {
                bar.finish_and_clear();
            }
        });
    }
}
