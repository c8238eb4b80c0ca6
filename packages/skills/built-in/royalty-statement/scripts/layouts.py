"""Statement layouts by their headers, and the canonical row. Sources: references/layouts.md."""

import re
from functools import lru_cache

from table import BadInput, Table, column_indexes, decimal_mark, header_key

# A layout: right, currency (None: taken from a column), columns that identify it, and the columns of
# each canonical field, best first. `check` lists products: amount = factor × factor.
LAYOUTS = {
    "distrokid": ("master", "USD", "Reporting Date|Sale Month|Song/Album|Earnings (USD)", {
        "reported_at": "Reporting Date", "period": "Sale Month", "store": "Store", "artist": "Artist",
        "title": "Title", "isrc": "ISRC", "upc": "UPC", "quantity": "Quantity", "usage": "Song/Album",
        "share_applied": "Team Percentage", "territory": "Country of Sale",
        "withheld": "Songwriter Royalties Withheld", "net": "Earnings (USD)"}),
    "tunecore": ("master", None, "Sales Period|Posted Date|TC Song ID|Total Earned", {
        "period": "Sales Period", "reported_at": "Posted Date", "store": "Store Name",
        "territory": "Country Of Sale", "artist": "Artist", "title": "Song Title|Release Title",
        "isrc": "Optional ISRC", "upc": "UPC|Optional UPC", "usage": "Sales Type",
        "quantity": "# Units Sold", "rate": "Per Unit Price", "gross": "Net Sales", "fx": "Exchange Rate",
        "net": "Total Earned", "currency": "Currency"}),
    "believe": ("master", None, "Reporting month|Release Catalog nb|Client Payment Currency|Net Revenue", {
        "reported_at": "Reporting month", "period": "Sales Month", "store": "Platform",
        "territory": "Country / Region", "artist": "Artist Name", "title": "Track title|Release title",
        "upc": "UPC", "isrc": "ISRC", "usage": "Sales Type", "quantity": "Quantity", "gross": "Gross Revenue",
        "fee": "Mechanical Fee", "share_applied": "Client share rate", "net": "Net Revenue",
        "currency": "Client Payment Currency"}),
    "orchard": ("master", None, "Activity Period|Label Share Net Receipts", {
        "reported_at": "Period", "period": "Activity Period", "store": "Retailer|DMS", "territory": "Territory",
        "upc": "Manufacturer UPC|Orchard UPC|Product UPC", "artist": "Track Artist|Artist Name",
        "title": "Track Name|Product Name", "isrc": "ISRC", "usage": "Trans Type Description|Trans Type",
        "quantity": "Quantity", "gross": "Total", "share_applied": "Split Rate",
        "net": "Label Share Net Receipts", "currency": "Preferred Currency|Currency"}),
    "symphonic": ("master", "USD", "Reporting Period|Digital Service Provider|Royalty ($US)", {
        "reported_at": "Reporting Period", "period": "Activity Period", "store": "Digital Service Provider",
        "territory": "Territory", "upc": "UPC Code", "isrc": "ISRC Code", "title": "Track Title|Release Name",
        "artist": "Track Artists|Release Artists", "usage": "Content Type", "quantity": "Count",
        "net": "Royalty ($US)"}),
    "fuga": ("master", None, "Asset ISRC|Reported Royalty|Sale net receipts", {
        "period": "Sale Start date", "period_to": "Sale End date", "store": "Sale Store Name|DSP",
        "territory": "Territory", "isrc": "Asset ISRC", "upc": "Product UPC", "artist": "Asset Artist",
        "title": "Asset Title|Product Title", "usage": "Sale Type", "quantity": "Quantity",
        "gross": "Sale net receipts", "share_applied": "Contract deal term", "net": "Reported Royalty",
        "currency": "Currency"}),
    "cdbaby": ("master", "USD", "Report Date|CDBabySku|Subtotal", {
        "reported_at": "Report Date", "period": "Sales Date", "store": "Partner Name",
        "territory": "Delivery Country", "isrc": "Isrc", "upc": "Barcode", "artist": "Artist Name",
        "title": "Track Name|Album Name", "usage": "Transaction Type", "quantity": "Quantity", "rate": "Price",
        "net": "Subtotal"}),
    "bandcamp": ("master", None, "item type|item name|bandcamp transaction id|net amount", {
        "period": "date", "title": "item name", "artist": "artist", "usage": "item type", "upc": "upc",
        "isrc": "isrc", "territory": "country", "quantity": "quantity", "rate": "item price",
        "gross": "sub total", "fee": "transaction fee", "net": "net amount", "currency": "currency"}),
    "mlc": ("mechanical", "USD", "Work Primary Title|Distributed Amount|Number of Usages", {
        "reported_at": "Distribution Date", "period": "Usage Period Start Date",
        "period_to": "Usage Period End Date", "store": "DSP Name", "territory": "Territory",
        "title": "Work Primary Title", "isrc": "ISRC", "artist": "Recording Display Artist Name",
        "usage": "Consumer Offering", "quantity": "Number of Usages", "share_applied": "Work Payable %",
        "net": "Distributed Amount"}),
    "prs": ("performance", "GBP", "CAE Number|Work Title|Amount (performance revenue)", {
        "title": "Work Title", "artist": "IP1", "net": "Amount (performance revenue)"}),
    "gema": ("performance", "EUR", "work_version_titel|booked_amount", {
        "statement_id": "statement_number", "reported_at": "payout_date",
        "period": "date_of_use_from|quarter_from", "period_to": "date_of_use_until|quarter_until",
        "store": "licensee|broadcaster", "territory": "sales_country", "title": "work_version_titel",
        "work_id": "work_version_number|work_number", "iswc": "iswc", "isrc": "isrc", "artist": "composer",
        "usage": "distribution_category|category_code", "quantity": "quantity", "net": "booked_amount"}),
    "gema-v1": ("performance", "EUR", "Betrag gebucht|Rück-/Nachverrechnung", {
        "statement_id": "Abrechnungsnummer", "reported_at": "Abrechnungsdatum",
        "period": "Nutzungsdatum von|Quartal von", "period_to": "Nutzungsdatum bis|Quartal bis",
        "store": "Lizenznehmer|Sender", "territory": "Verkaufsland", "title": "Werkfassungstitel|Werktitel",
        "work_id": "Werkfassungsnummer|Werknummer", "iswc": "ISWC", "isrc": "ISRC", "artist": "Komponist(en)",
        "usage": "Verteilungskategorie|Abrechnungssparte", "quantity": "Menge/Anzahl", "net": "Betrag gebucht"}),
}
FIELDS = [
    "statement_id", "row_no", "period", "period_to", "reported_at", "right", "store", "territory", "isrc",
    "iswc", "upc", "work_id", "title", "artist", "usage", "quantity", "rate", "gross", "fee", "withheld",
    "net", "currency", "fx", "share_applied",
]
NUMERIC = ("quantity", "rate", "gross", "fee", "withheld", "net", "fx", "share_applied")
# amount = product of the others, where a source documents it. A percentage is divided by 100.
CHECKS = {
    "tunecore": (("gross", ("quantity", "rate")), ("net", ("gross", "fx"))),
    "fuga": (("net", ("gross", "share_applied")),),
    "cdbaby": (("net", ("quantity", "rate")),),
    "bandcamp": (("gross", ("quantity", "rate")),),
    "generic": (("net", ("quantity", "rate")),),
}
_MONTHS = {name: f"{number:02}" for number, name in enumerate(
    "jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}


@lru_cache(maxsize=5000)
def month(text, us_dates):
    """Returns a period as YYYY-MM (or YYYY-Qn), or the text itself if it is not understood."""
    text = text.strip()
    if match := re.match(r"(\d{4})[-/.M]?(\d{1,2})(?!\d{3})", text):
        year, number = match.groups()
    elif match := re.match(r"(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})\b", text):
        first, second, year = match.groups()
        if not us_dates and int(first) <= 12 and int(second) <= 12:
            return text
        number = first if us_dates or int(second) > 12 else second
    elif match := re.match(r"\d{1,2}\.(\d{1,2})\.(\d{4})", text):
        number, year = match.groups()
    elif match := re.match(r"([A-Za-z]{3})[a-z]*[ -](\d{4}|\d{2})$", text):
        number, year = _MONTHS.get(match[1].lower(), "0"), match[2]
    elif match := re.match(r"Q([1-4])[ -]?(\d{4})$|(\d{4})[ -]?Q([1-4])$", text, re.IGNORECASE):
        return f"{match[2] or match[3]}-Q{match[1] or match[4]}"
    else:
        return text
    return f"{year.zfill(4) if len(year) == 4 else '20' + year}-{int(number):02}" if 1 <= int(number) <= 12 else text


class Statement:
    """A statement whose header was recognized or mapped; `rows` yields (row number, cells)."""

    def __init__(self, data, mapping=None, currency=None, mark=None):
        self.table = Table(data)
        self.layout, header = None, None
        for number, cells in self.table.records():
            indexes = column_indexes(cells)
            if mapping:
                if all(header_key(column) in indexes for column in mapping.values()):
                    self.layout, fields, header = "generic", mapping, number
                    self.right, self.currency = "", currency
            else:
                found = [
                    (identity.count("|"), name) for name, (_, _, identity, _) in LAYOUTS.items()
                    if all(header_key(column) in indexes for column in identity.split("|"))
                ]
                if found:
                    self.layout, header = max(found)[1], number
                    self.right, fixed, _, fields = LAYOUTS[self.layout]
                    self.currency = fixed or currency
            if self.layout or number > 40:
                break
        if not self.layout:
            if mapping:
                raise BadInput("No row of the first 40 has every mapped column: " + " | ".join(mapping.values()))
            _, first = next(self.table.records())
            raise BadInput(
                f"No known layout has these columns: {' | '.join(first)[:600]}. Map them with --map COLUMN=FIELD for "
                f"each column; net is required. Fields: {', '.join(f for f in FIELDS if f not in ('row_no', 'right'))}.")
        self.header, self.width = header, len(cells)
        columns = {}
        for field, names in fields.items():
            names = [names] if mapping else names.split("|")
            found = [indexes[header_key(name)] for name in names if header_key(name) in indexes]
            if found:
                columns[field] = found
        self.columns = [(field, field in NUMERIC, found) for field, found in columns.items()]
        if "currency" in columns:
            self.currency = None
        elif not self.currency:
            raise BadInput("The statement names no currency: map a column to currency, or give --currency EUR.")
        sample = []
        for number, row in self.rows():
            sample += [row[i] for _, numeric, found in self.columns if numeric for i in found if i < len(row)]
            if number > 2000:
                break
        proof = decimal_mark(sample)
        self.mark = mark or proof or ("comma" if self.table.delimiter == ";" else "point")
        self.mark_reason = "option" if mark else "cells" if proof else "separator of the file"

    def rows(self):
        for number, cells in self.table.records():
            if number > self.header:
                yield number, cells
