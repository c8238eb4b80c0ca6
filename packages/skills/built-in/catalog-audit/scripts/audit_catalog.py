"""Audits a catalog from standard input (CSV): codes, shares, duplicates and missing fields, as JSON or Markdown."""

import argparse
import datetime
import json
import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from itertools import islice

from table import (
    MAX_LISTED, BadInput, Findings, Table, column_indexes, decimal_mark, header_key, normalize_isrc, parse_number, plain,
    read_input, run, safe_cell, upc_problem,
)

NAMES = {
    "title": "title|track title|song title|track|track name|work title",
    "version": "version|mix|mix version|title version|track version",
    "artist": "artist|artist name|track artist|primary artist|main artist|artists",
    "isrc": "isrc|isrc code|track isrc",
    "upc": "upc|ean|upc/ean|barcode|upc code|product upc",
    "iswc": "iswc|iswc code",
    "writers": "writers|writer|composers|composer|songwriters|songwriter|authors",
    "ipi": "ipi|ipi name number|ipi number|ipi/cae|ipis|writer ipi|writers ipi",
    "shares": "shares|share|writer share|writer shares|split|splits|composition shares",
    "master_shares": "master shares|master share|master splits|master split",
    "release_date": "release date|released|original release date|date",
    "duration": "duration|length|track duration",
}
REQUIRED = ("title", "artist", "isrc", "upc", "iswc", "writers", "shares", "release_date")
SEVERITY = {
    "error": ("upc_destroyed", "upc_length", "upc_check_digit", "upc_leading_zero_lost", "iswc_malformed", "iswc_check_digit",
              "isrc_malformed", "isrc_reused", "ipi_length", "ipi_check_digit", "shares_not_100", "share_unreadable",
              "shares_count_differs", "release_date_invalid", "missing_title", "missing_artist", "missing_isrc"),
    "hint": ("recording_with_several_isrcs", "iswc_with_several_titles", "shares_rounded"),
}
TOLERANCE = Decimal("0.5")


@lru_cache(maxsize=50_000)
def same(text):
    """Reduces a name to what two spellings of it share."""
    if text.isascii():
        return re.sub("[^a-z0-9]", "", text.lower())
    return "".join(char for char in unicodedata.normalize("NFKD", text).casefold() if char.isalnum())


@lru_cache(maxsize=50_000)
def iswc_problem(text):
    code = re.sub(r"[-. ]", "", text.strip().upper())
    if not re.fullmatch(r"T[0-9]{10}", code):
        return "iswc_malformed", "an ISWC is T, nine digits and a check digit, such as T-034.524.680-1"
    total = 1 + sum(position * int(digit) for position, digit in enumerate(code[1:10], 1))
    if -total % 10 != int(code[10]):
        return "iswc_check_digit", f"the last digit should be {-total % 10}"
    return None


def ipi_check_digits(nine_digits):
    rest = sum((10 - index) * int(digit) for index, digit in enumerate(nine_digits)) % 101
    return f"{(101 - rest) % 100 if rest else 0:02}"


@lru_cache(maxsize=50_000)
def ipi_problem(text):
    code = text.strip()
    if not re.fullmatch(r"[0-9]{11}", code):
        if re.fullmatch(r"[0-9]{8,10}", code) and ipi_check_digits(code.zfill(11)[:9]) == code[-2:]:
            return "ipi_length", f"an IPI name number has 11 digits, probably {code.zfill(11)}"
        return "ipi_length", "an IPI name number has 11 digits"
    if ipi_check_digits(code[:9]) != code[9:]:
        return "ipi_check_digit", f"the last two digits should be {ipi_check_digits(code[:9])}"
    return None


@lru_cache(maxsize=50_000)
def date_problem(text):
    """Returns what is wrong with a date, which is YYYY-MM-DD, or a year or a month alone."""
    try:
        if re.fullmatch(r"\d{4}(-\d{2}){0,2}", text):
            datetime.date.fromisoformat((text + "-01-01")[:10])
            return None if len(text) == 10 else "the day is missing"
    except ValueError:
        pass
    return "write dates as YYYY-MM-DD"


def split_list(text):
    return [part.strip() for part in text.replace("|", ";").split(";") if part.strip()] if text else []


check_upc = lru_cache(maxsize=50_000)(upc_problem)


class Catalog:
    def __init__(self):
        self.findings, self.rows, self.complete = Findings(), 0, 0
        self.by_isrc, self.by_recording, self.by_iswc, self.shares, self.seen = {}, {}, {}, {}, {}

    def add(self, number, row, columns, mark):
        self.rows += 1
        key = blake2b("\x1f".join(row.values()).encode(), digest_size=12).digest()
        if (first := self.seen.setdefault(key, number)) != number:
            self.findings.add("duplicate_row", row=number, same_as=first)
            return
        missing = [field for field in REQUIRED if field in columns and not row[field]]
        for field in missing:
            self.findings.add(f"missing_{field}", row=number, title=safe_cell(row.get("title", "")[:60]))
        self.complete += not missing and set(REQUIRED) <= columns.keys()
        self.check_codes(number, row)
        title, version, artist = (row.get(field, "") for field in ("title", "version", "artist"))
        recording = same(title), same(version), same(artist)
        label = safe_cell(" - ".join(part for part in (artist, title, version) if part)[:90])
        code, valid = normalize_isrc(isrc) if (isrc := row.get("isrc")) else ("", True)
        if code:
            if not valid:
                self.findings.add("isrc_malformed", row=number, isrc=safe_cell(isrc[:40]))
            self.by_isrc.setdefault(code, {}).setdefault(recording, (number, label))
            if title:
                self.by_recording.setdefault((*recording, row.get("duration", "")), {}).setdefault(code, (number, label))
        if (iswc := row.get("iswc")) and title:
            self.by_iswc.setdefault(re.sub(r"[-. ]", "", iswc.upper()), {}).setdefault(same(title), (number, label))
        self.check_shares(number, row, (recording, code, row.get("upc", "")), label, mark)

    def check_codes(self, number, row):
        checks = [("upc", row.get("upc"), check_upc), ("iswc", row.get("iswc"), iswc_problem)]
        checks += [("ipi", code, ipi_problem) for code in split_list(row.get("ipi", ""))]
        for field, text, check in checks:
            if text and (problem := check(text)):
                self.findings.add(problem[0], row=number, **{field: safe_cell(text[:40])}, note=problem[1])
        if (date := row.get("release_date")) and (problem := date_problem(date)):
            self.findings.add("release_date_invalid", row=number, release_date=safe_cell(date[:40]), note=problem)

    def check_shares(self, number, row, key, label, mark):
        writers = split_list(row.get("writers", ""))
        for kind in ("shares", "master_shares"):
            parts = split_list(row.get(kind, ""))
            try:
                values = [parse_number(part, mark) for part in parts]
            except ValueError:
                self.findings.add("share_unreadable", row=number, field=kind, cell=safe_cell(row[kind][:60]))
                continue
            if kind == "shares" and parts and writers and len(parts) != len(writers):
                self.findings.add("shares_count_differs", row=number, writers=len(writers), shares=len(parts))
            if values:
                entry = self.shares.setdefault((kind, key), [Decimal(0), [], label])
                entry[0] += sum(values)
                entry[1].append(number)

    def close(self):
        for (kind, _), (total, rows, label) in self.shares.items():
            if total != 100:
                near = abs(total - 100) <= TOLERANCE
                self.findings.add("shares_rounded" if near else "shares_not_100", row=rows[0], rows=rows[:MAX_LISTED],
                                  field=kind, total=plain(total), track=label)
        for groups, kind, name in ((self.by_isrc, "isrc_reused", "isrc"), (self.by_iswc, "iswc_with_several_titles", "iswc")):
            for code, uses in groups.items():
                if len(uses) > 1:
                    rows = [number for number, _ in uses.values()]
                    self.findings.add(kind, row=rows[0], rows=rows[:MAX_LISTED], **{name: safe_cell(code[:40])},
                                      used_for=[label for _, label in uses.values()][:MAX_LISTED])
        for codes in self.by_recording.values():
            if len(codes) > 1:
                rows, labels = zip(*codes.values())
                self.findings.add("recording_with_several_isrcs", row=rows[0], rows=list(rows[:MAX_LISTED]),
                                  isrcs=[safe_cell(code[:40]) for code in codes][:MAX_LISTED], track=labels[0])


def severity(kind):
    return next((name for name, kinds in SEVERITY.items() if kind in kinds), "warning")


def find_columns(cells, mapping):
    indexes, found = column_indexes(cells), {}
    for field, aliases in NAMES.items():
        for name in [mapping[field]] if field in mapping else aliases.split("|"):
            if name in indexes:
                found[field] = indexes[name]
                break
    return found


def read_catalog(options):
    table, mapping = Table(read_input()), {}
    for item in options.map:
        column, _, field = item.rpartition("=")
        if field not in NAMES or not column:
            raise BadInput(f"--map {item} must be COLUMN=FIELD with one of the fields: {', '.join(NAMES)}.")
        mapping[field] = header_key(column)
    header, columns = next(((number, found) for number, cells in islice(table.records(), 40)
                            if "title" in (found := find_columns(cells, mapping)) and len(found) > 1), (0, None))
    if columns is None:
        raise BadInput("No header row was found: the table needs a column title and at least one more known column, or --map.")
    shares = [index for field, index in columns.items() if field in ("shares", "master_shares")]
    parts = [part for number, cells in islice(table.records(), 2000) for index in shares
             if number > header and index < len(cells) for part in split_list(cells[index])]
    mark = decimal_mark(parts) or ("comma" if table.delimiter == ";" else "point")
    catalog = Catalog()
    for number, cells in table.records():
        if number > header:
            catalog.add(number, {f: cells[i].strip() if i < len(cells) else "" for f, i in columns.items()}, columns, mark)
    catalog.close()
    return table, header, columns, catalog


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file-name", default="standard input")
    parser.add_argument("--sheet")
    parser.add_argument("--map", action="append", default=[], metavar="COLUMN=FIELD")
    parser.add_argument("--format", choices=("json", "markdown"), default="json")
    options = parser.parse_args()
    table, header, columns, catalog = read_catalog(options)
    findings = {kind: {"severity": severity(kind), **entry} for kind, entry in catalog.findings.report().items()}
    report = {
        "source": {"file": options.file_name, "sheet": options.sheet, "header_row": header, "encoding": table.encoding},
        "rows": catalog.rows, "complete_rows": catalog.complete,
        "recordings": len(catalog.by_isrc), "columns_found": sorted(columns),
        "columns_absent": sorted(set(REQUIRED) - columns.keys()), "findings": findings,
    }
    if options.format == "json":
        print(json.dumps(report, ensure_ascii=False, indent=1))
        return
    print(f"{report['rows']} rows, {report['complete_rows']} complete, {report['recordings']} ISRCs\n")
    print("| Severity | Finding | Count | Rows |\n| --- | --- | --- | --- |")
    for kind, entry in sorted(findings.items(), key=lambda item: ("error warning hint".index(item[1]["severity"]), item[0])):
        print(f"| {entry['severity']} | {kind} | {entry['count']} | {', '.join(str(i['row']) for i in entry['listed'])} |")


run(main)
