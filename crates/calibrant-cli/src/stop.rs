//! Stopped by Ctrl-C or by the system: nothing half written is left behind.

/// From now on, what is being written is removed when the program is asked to stop (SIGINT, SIGTERM, SIGHUP); it
/// then ends by that signal, which shells show as 128 and the signal's number.
#[cfg(unix)]
pub(crate) fn leave_nothing_behind() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP];
    let wanted = wanted
        .into_iter()
        .filter(|signal| ignored & (1 << (signal - 1)) == 0);
    // Without it the program works as well, but for what a signal leaves behind.
    let Ok(mut signals) = Signals::new(wanted) else {
        return;
    };
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            // A program that dies by the signal tells the shell to stop as well, which an exit code does not.
            calibrant::saved::remove_temporary_files(|| {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
                std::process::exit(128 + signal)
            });
        }
    };
    let _ = std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(wait);
}

#[cfg(not(unix))]
pub(crate) fn leave_nothing_behind() {}

/// The signals that whoever started the program wants it to survive, as `nohup` does: a bit for each. The system says
/// so under Linux; elsewhere none is taken to be ignored.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
