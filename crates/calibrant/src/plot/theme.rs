//! The colours: chosen to stay apart for the colour-blind, in light and dark.

/// The style every figure carries. A variable set by the surrounding page wins; without
/// it the second value is used. Names are kept inside `.calibrant-plot`.
pub(super) const FIGURE_STYLE: &str = "\
.calibrant-plot{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;\
--cp-ink:var(--calibrant-ink,#1c2430);--cp-soft:var(--calibrant-soft,#5b6675);\
--cp-grid:var(--calibrant-grid,#e3e7ec);--cp-surface:var(--calibrant-surface,#fff);\
--cp-1:var(--calibrant-series-1,#0068a8);--cp-2:var(--calibrant-series-2,#cf5200);\
--cp-3:var(--calibrant-series-3,#00805c);--cp-4:var(--calibrant-series-4,#b0508c);\
--cp-5:var(--calibrant-series-5,#946c00);--cp-6:var(--calibrant-series-6,#4f5d73)}\
@media (prefers-color-scheme:dark){.calibrant-plot{\
--cp-ink:var(--calibrant-ink,#e8ecf1);--cp-soft:var(--calibrant-soft,#9aa6b5);\
--cp-grid:var(--calibrant-grid,#2e3743);--cp-surface:var(--calibrant-surface,#161b22);\
--cp-1:var(--calibrant-series-1,#56b4e9);--cp-2:var(--calibrant-series-2,#ff9248);\
--cp-3:var(--calibrant-series-3,#3ecf9f);--cp-4:var(--calibrant-series-4,#e39ac4);\
--cp-5:var(--calibrant-series-5,#e6c04a);--cp-6:var(--calibrant-series-6,#aab6c6)}}\
.calibrant-plot .surface{fill:var(--cp-surface)}\
.calibrant-plot text{fill:var(--cp-ink)}\
.calibrant-plot .heading{font-size:14px;font-weight:600}\
.calibrant-plot .tick{font-size:11px;fill:var(--cp-soft)}\
.calibrant-plot .grid{stroke:var(--cp-grid);fill:none}\
.calibrant-plot .frame{stroke:var(--cp-soft);fill:none}\
.calibrant-plot .ideal{stroke:var(--cp-soft);stroke-dasharray:5 4;fill:none}\
.calibrant-plot .s1{--c:var(--cp-1)}.calibrant-plot .s2{--c:var(--cp-2)}\
.calibrant-plot .s3{--c:var(--cp-3)}.calibrant-plot .s4{--c:var(--cp-4)}\
.calibrant-plot .s5{--c:var(--cp-5)}.calibrant-plot .s6{--c:var(--cp-6)}\
.calibrant-plot .stroke{stroke:var(--c);fill:none;stroke-width:1.8;stroke-linejoin:round}\
.calibrant-plot .whisker{stroke:var(--c);fill:none;stroke-width:1.3;stroke-opacity:.65}\
.calibrant-plot .mark{fill:var(--c);stroke:var(--cp-surface)}\
.calibrant-plot .bar{fill:var(--c);fill-opacity:.8}\
.calibrant-plot .heat{fill:var(--c)}\
.calibrant-plot .band{fill:var(--c);fill-opacity:.2}\
.calibrant-plot .area{fill:var(--c);fill-opacity:.14;stroke:var(--c);stroke-opacity:.55}\
.calibrant-plot .hollow{fill:var(--cp-surface);stroke:var(--c);stroke-width:1.6}\
.calibrant-plot .dashed{stroke-dasharray:7 4}\
.calibrant-plot .dotted{stroke-dasharray:1.8 3.4;stroke-linecap:round}\
.calibrant-plot .mixed{stroke-dasharray:9 3 2 3}\
.calibrant-plot .mean{stroke:var(--cp-ink);fill:none;stroke-width:1.8;stroke-linejoin:round}\
.calibrant-plot .dot{fill:var(--cp-ink);stroke:var(--cp-surface)}";
