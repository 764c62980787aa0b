//! Sheets of Excel, cell by cell as calamine reads them.
//!
//! Its reader of whole sheets makes room for every cell between the first and the last, which a file of two cells can make
//! billions: the cells are taken one by one.

use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;

use calamine::{Reader, SheetType, SheetVisible, Xlsx};

use super::super::ReadError;
use super::archive::FileName;
use super::cell::of_excel;
use super::{RowCells, Sheet, VisitRow};

pub(super) struct ExcelBook(Xlsx<BufReader<File>>);

impl ExcelBook {
    pub(super) fn open(name: FileName<'_>, file: File) -> Result<Self, ReadError> {
        let book = Xlsx::new(BufReader::new(file)).map_err(|error| name.damaged(error))?;
        Ok(Self(book))
    }

    pub(super) fn sheets(&self) -> Vec<Sheet> {
        let all = self.0.sheets_metadata().iter();
        all.filter(|sheet| sheet.typ == SheetType::WorkSheet)
            .map(|sheet| Sheet {
                name: sheet.name.clone(),
                hidden: sheet.visible != SheetVisible::Visible,
            })
            .collect()
    }

    pub(super) fn each_row(
        &mut self,
        name: FileName<'_>,
        sheet: &str,
        visit: &mut VisitRow<'_>,
    ) -> Result<(), ReadError> {
        let damaged = |error| name.damaged(error);
        let mut cells = self.0.worksheet_cells_reader(sheet).map_err(damaged)?;
        let mut row = RowCells::default();
        let mut number = 0;
        while let Some(cell) = cells.next_cell().map_err(damaged)? {
            let (at, column) = cell.get_position();
            if u64::from(at) != number {
                if row.hand_on(number..number + 1, visit)?.is_break() {
                    return Ok(());
                }
                number = u64::from(at);
            }
            if let Some(value) = of_excel(cell.get_value()) {
                let column = u64::from(column);
                row.push(name, column..column + 1, value)?;
            }
        }
        let _: ControlFlow<()> = row.hand_on(number..number + 1, visit)?;
        Ok(())
    }
}
