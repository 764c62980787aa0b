"""Writes one table of typed cells with openpyxl, pandas and odfpy: the kinds of cells that people have."""

import datetime

import openpyxl
import pandas
from odf import table as odf_table
from odf.opendocument import OpenDocumentSpreadsheet
from odf.text import P
from sparse import answer, question

asked = question()
header, rows = asked["header"], asked["rows"]


def cell(value):
    """JSON has neither dates nor times: they come as {"date": "2026-11-18"} and the like."""
    if isinstance(value, dict):
        (kind, text), = value.items()
        return {
            "date": datetime.date.fromisoformat,
            "moment": datetime.datetime.fromisoformat,
            "time": datetime.time.fromisoformat,
        }[kind](text)
    return value


cells = [[cell(value) for value in row] for row in rows]

book = openpyxl.Workbook()
notes = book.active
notes.title = "Notes"
notes.sheet_state = "hidden"
notes["A1"] = "not the table"
sheet = book.create_sheet("Tickets")
for _ in range(asked["blank"]):
    sheet.append([])
sheet.append(header)
for row in cells:
    sheet.append(row)
# What people leave behind: a format without a value, far below.
sheet["A5000"].font = openpyxl.styles.Font(bold=True)
book.active = 1
book.save(asked["openpyxl"])

frame = pandas.DataFrame(cells, columns=header)
frame.to_excel(asked["pandas"], index=False)

document = OpenDocumentSpreadsheet()
tickets = odf_table.Table(name="Tickets")
for _ in range(asked["blank"]):
    tickets.addElement(odf_table.TableRow())
for row in [header, *cells]:
    line = odf_table.TableRow()
    for value in row:
        if value is None:
            one = odf_table.TableCell()
        elif isinstance(value, bool):
            one = odf_table.TableCell(valuetype="boolean", booleanvalue=str(value).lower())
        elif isinstance(value, (int, float)):
            one = odf_table.TableCell(valuetype="float", value=value)
        elif isinstance(value, (datetime.datetime, datetime.date)):
            one = odf_table.TableCell(valuetype="date", datevalue=value.isoformat())
        elif isinstance(value, datetime.time):
            one = odf_table.TableCell(valuetype="time", timevalue=value.strftime("PT%HH%MM%SS"))
        else:
            one = odf_table.TableCell(valuetype="string")
            for paragraph in value.split("\n"):
                one.addElement(P(text=paragraph))
        line.addElement(one)
    tickets.addElement(line)
tickets.addElement(odf_table.TableRow(numberrowsrepeated=1000))
document.spreadsheet.addElement(tickets)
document.save(asked["odfpy"])
answer({})
