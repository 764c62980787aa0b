//! A whole page in one file: headings, text, tables, figures.

use super::svg::escape;
use std::fmt::Write;

/// A stretch of a page under one heading.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// What it holds, from top to bottom.
    pub blocks: Vec<Block>,
}

/// One thing on a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Running text.
    Paragraph(String),
    /// A few numbers that matter most, each with what it is: `(name, value)`.
    Numbers(Vec<(String, String)>),
    /// A table.
    Table(Table),
    /// Figures, side by side where there is room.
    Figures(Vec<Figure>),
    /// Small figures, as many side by side as there is room for.
    Panels(Vec<Figure>),
    /// One figure over the whole width.
    WideFigure(Figure),
    /// A text shown as it was written, such as a document.
    Quotation(String),
    /// Commands or code, in letters of equal width.
    Code(String),
}

/// A table. Columns that hold nothing but numbers are aligned to the right.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// A sentence above the table; may be empty.
    pub caption: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// The rows; cells that are missing stay empty, and what has no column is left out.
    pub rows: Vec<Vec<String>>,
}

/// A figure and what it shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    /// SVG as one of this module's functions wrote it. It is put into the page as it
    /// is: never pass text from elsewhere.
    pub svg: String,
    /// A sentence below the figure; may be empty.
    pub caption: String,
}

/// Writes a page that needs nothing but itself: styles inside, light and dark, fit for
/// small screens and for paper, no scripts. Figures become smaller or stand one below the other where
/// there is little room; tables, wide figures and code move sideways within themselves, and show that they do.
///
/// ```
/// use calibrant::plot::{Block, Section, page};
/// let html = page("Report on <inbox>", &[Section {
///     heading: "Summary".into(),
///     blocks: vec![Block::Paragraph("All is well.".into())],
/// }]);
/// assert!(html.contains("<h1>Report on &lt;inbox&gt;</h1>"));
/// ```
pub fn page(title: &str, sections: &[Section]) -> String {
    let title = escape(title);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    for section in sections {
        html.push_str("<section>\n");
        if !section.heading.is_empty() {
            push(
                &mut html,
                format_args!("<h2>{}</h2>\n", escape(&section.heading)),
            );
        }
        for block in &section.blocks {
            write_block(&mut html, block, &section.heading);
        }
        html.push_str("</section>\n");
    }
    html.push_str("</main>\n</body>\n</html>\n");
    html
}

const STYLE: &str = include_str!("page.css");

/// Writing to a string cannot fail.
fn push(html: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = html.write_fmt(text);
}

fn write_block(html: &mut String, block: &Block, heading: &str) {
    match block {
        Block::Paragraph(text) => push(html, format_args!("<p>{}</p>\n", escape(text))),
        Block::Quotation(text) => push(
            html,
            format_args!("<blockquote>{}</blockquote>\n", escape(text)),
        ),
        Block::Code(text) => push(
            html,
            format_args!("<pre tabindex=\"0\">{}</pre>\n", escape(text)),
        ),
        Block::Numbers(numbers) => {
            html.push_str("<dl class=\"numbers\">\n");
            for (name, value) in numbers {
                let (name, value) = (escape(name), escape(value));
                push(
                    html,
                    format_args!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"),
                );
            }
            html.push_str("</dl>\n");
        }
        Block::Table(table) => write_table(html, table, heading),
        Block::Figures(figures) => write_figures(html, figures, "figures"),
        Block::Panels(figures) => write_figures(html, figures, "panels"),
        Block::WideFigure(figure) => {
            html.push_str("<figure class=\"wide\">\n<p class=\"hint\">");
            html.push_str(WIDER);
            let sideways = sideways("figure", heading);
            push(
                html,
                format_args!("</p>\n<div{sideways}>{}</div>", figure.svg),
            );
            close_figure(html, figure);
        }
    }
}

/// Shown above a wide figure where it is wider than the screen. What else moves sideways has a shadow at the edge
/// beyond which it goes on; a figure has a background of its own, which would hide the shadow.
const WIDER: &str = "Wider than the screen: move it sideways.";

/// Attributes of what may move sideways, so that it can be reached by keyboard, and has a name for who cannot see it.
fn sideways(what: &str, name: &str) -> String {
    let name = match name {
        "" => what.to_owned(),
        name => format!("{what}: {}", escape(name)),
    };
    format!(" role=\"region\" tabindex=\"0\" aria-label=\"{name}\"")
}

fn write_figures(html: &mut String, figures: &[Figure], class: &str) {
    push(html, format_args!("<div class=\"{class}\">\n"));
    for figure in figures {
        push(html, format_args!("<figure>\n<div>{}</div>", figure.svg));
        close_figure(html, figure);
    }
    html.push_str("</div>\n");
}

fn close_figure(html: &mut String, figure: &Figure) {
    if !figure.caption.is_empty() {
        push(
            html,
            format_args!("<figcaption>{}</figcaption>\n", escape(&figure.caption)),
        );
    }
    html.push_str("</figure>\n");
}

fn write_table(html: &mut String, table: &Table, heading: &str) {
    let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
    let classes: Vec<&str> = (0..table.header.len())
        .map(|column| {
            let numeric = table.rows.iter().all(|row| is_number(&cell(row, column)));
            if numeric && !table.rows.is_empty() {
                " class=\"number\""
            } else {
                ""
            }
        })
        .collect();
    let name = match table.caption.as_str() {
        "" => heading,
        caption => caption,
    };
    let sideways = sideways("table", name);
    push(
        html,
        format_args!("<div class=\"table\"{sideways}><table>\n"),
    );
    if !table.caption.is_empty() {
        push(
            html,
            format_args!("<caption>{}</caption>\n", escape(&table.caption)),
        );
    }
    html.push_str("<thead><tr>");
    for (name, class) in table.header.iter().zip(&classes) {
        push(
            html,
            format_args!("<th scope=\"col\"{class}>{}</th>", escape(name)),
        );
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        html.push_str("<tr>");
        for (column, class) in classes.iter().enumerate() {
            let text = escape(&cell(row, column));
            // The first cell names its row.
            if column == 0 {
                push(html, format_args!("<th scope=\"row\"{class}>{text}</th>"));
            } else {
                push(html, format_args!("<td{class}>{text}</td>"));
            }
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
}

/// Whether a cell may stand in a column of numbers: a number with perhaps a sign (also of
/// being a bound), a unit of per cent or grouping commas, from one number to another, or nothing.
fn is_number(cell: &str) -> bool {
    if let Some((from, to)) = cell.split_once(" to ") {
        return is_number(from) && is_number(to);
    }
    let bare = cell
        .trim()
        .trim_start_matches(['<', '>'])
        .trim_end_matches('%')
        .trim_end()
        .replace(',', "");
    bare.is_empty() || bare == "–" || bare.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::well_formed::check_markup;
    use crate::plot::{ReliabilityPlot, reliability_diagram};
    use proptest::prelude::*;

    #[test]
    fn number_columns_are_told_from_text() {
        for cell in [
            "1", " 0.5 ", "-3e-4", "85 %", "1,234", ">0.999", "", "–", "-1 to +2",
        ] {
            assert!(is_number(cell), "{cell}");
        }
        for cell in ["class 1", "1 of 2", "%a", "1 to a"] {
            assert!(!is_number(cell), "{cell}");
        }
    }

    #[test]
    fn tables_align_numbers_and_survive_ragged_rows() {
        let table = Table {
            caption: "Classes".into(),
            header: vec!["class".into(), "F1".into()],
            rows: vec![
                vec!["a<b".into(), "0.5".into(), "no column".into()],
                vec!["c".into()],
            ],
        };
        let html = page(
            "x",
            &[Section {
                heading: String::new(),
                blocks: vec![Block::Table(table)],
            }],
        );
        check_markup(&html, &[]);
        assert!(html.contains("<th scope=\"row\">a&lt;b</th><td class=\"number\">0.5</td></tr>"));
        assert!(!html.contains("no column"));
    }

    #[test] // A page as wide as its widest table is cut off on a telephone.
    fn what_may_be_wide_moves_within_itself_and_shows_it() {
        let figure = Figure {
            svg: "<svg></svg>".into(),
            caption: String::new(),
        };
        let html = page(
            "x",
            &[Section {
                heading: "R&D".into(),
                blocks: vec![
                    Block::Table(Table::default()),
                    Block::WideFigure(figure.clone()),
                    Block::Panels(vec![figure.clone(), figure]),
                ],
            }],
        );
        let region =
            |what: &str| format!(" role=\"region\" tabindex=\"0\" aria-label=\"{what}: R&amp;D\"");
        assert!(html.contains(&format!("<div class=\"table\"{}><table>", region("table"))));
        assert!(html.contains(&format!("<div{}><svg>", region("figure"))));
        assert_eq!(html.matches(WIDER).count(), 1);
        assert_eq!(html.matches("<figure>").count(), 2);
        let rule = |selector: &str| {
            let start = STYLE.find(&format!("\n{selector} {{")).unwrap();
            STYLE[start..].split_once('}').unwrap().0
        };
        // Tables and code have shadows at their edges, wide figures words above them.
        for selector in [".table", "pre", "figure.wide > div"] {
            assert!(rule(selector).contains("overflow-x: auto"), "{selector}");
        }
        for selector in [".table", "pre"] {
            assert!(rule(selector).contains("var(--edges)"), "{selector}");
        }
        assert!(rule("figure svg").contains("width: 100%"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_text_gives_a_well_formed_page(text in any::<String>()) {
            let svg = reliability_diagram(&ReliabilityPlot {
                title: text.clone(), description: text.clone(), series: vec![],
            });
            let blocks = vec![
                Block::Paragraph(text.clone()),
                Block::Quotation(text.clone()),
                Block::Code(text.clone()),
                Block::Numbers(vec![(text.clone(), text.clone())]),
                Block::Table(Table {
                    caption: text.clone(), header: vec![text.clone()], rows: vec![vec![text.clone()]],
                }),
                Block::Figures(vec![Figure { svg: svg.clone(), caption: text.clone() }]),
                Block::Panels(vec![Figure { svg: svg.clone(), caption: text.clone() }]),
                Block::WideFigure(Figure { svg, caption: text.clone() }),
            ];
            check_markup(&page(&text, &[Section { heading: text.clone(), blocks }]), &[]);
        }
    }
}
