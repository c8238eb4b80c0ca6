"""Reads tables written by anyone: encodings, separators, preambles, number formats.

Skills are self-contained: the loader adds this file to each skill whose scripts import it.
"""

import codecs
import csv
import io
import re
import sys
from collections import Counter
from decimal import ROUND_HALF_EVEN, Decimal, getcontext

# Cells have at most 40 characters, so sums and products of two are exact.
getcontext().prec = 120
getcontext().rounding = ROUND_HALF_EVEN

MAX_LISTED = 20
CENT = Decimal("0.01")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(E[+-]?(0?\d|1[0-5]))?")
_NOISE = re.compile(r"[\s\u00a0\u202f'’]|[$€£¥%]|(?<![A-Z0-9])[A-Z]{3}(?![A-Z])")
_COMMA_IS_DECIMAL = re.compile(r"^\D*(0,\d+|\d*,(\d{1,2}|\d{4,})|\d{1,3}(\.\d{3})+,\d+)\D*$")
_POINT_IS_DECIMAL = re.compile(r"^\D*(0\.\d+|\d*\.(\d{1,2}|\d{4,})|\d{1,3}(,\d{3})+\.\d+)\D*$")


class BadInput(Exception):
    """One sentence for the user; scripts print it and exit with code 2."""


def run(main):
    """Runs a script: bad input becomes one sentence on standard error and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8")
    try:
        main()
    except BadInput as problem:
        print(problem, file=sys.stderr)
        sys.exit(2)


def read_input(path=None):
    try:
        if path is None:
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except OSError as problem:
        raise BadInput(f"{path} cannot be read: {problem.strerror}.") from None


def decode(data):
    for mark, encoding in ((codecs.BOM_UTF8, "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace"), encoding
    head = data[:2000]
    if head.count(0) > len(head) // 4:
        encoding = "utf-16-le" if head[1:2] == b"\0" else "utf-16-be"
        return data.decode(encoding, "replace"), encoding
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), "cp1252"


class Table:
    """Records of a CSV file with their row numbers, counted as a spreadsheet counts them."""

    def __init__(self, data):
        text, self.encoding = decode(data)
        if not text.strip():
            raise BadInput("The input is empty.")
        self._file = io.StringIO(text.replace("\0", ""), newline="")
        lines = [line for line in text[:200_000].splitlines() if line.strip()][:30]
        scores = {}
        for delimiter in "\t,;|":
            try:
                width, count = Counter(map(len, csv.reader(lines, delimiter=delimiter))).most_common(1)[0]
            except csv.Error:
                width, count = 0, 0
            scores[delimiter] = (width > 1, count, width)
        self.delimiter = max(scores, key=scores.get)

    def records(self):
        self._file.seek(0)
        reader = csv.reader(self._file, delimiter=self.delimiter)
        try:
            for number, cells in enumerate(reader, 1):
                if any(cells):
                    yield number, cells
        except csv.Error as problem:
            raise BadInput(f"The table cannot be read near line {reader.line_num}: {problem}.") from None


def header_key(name):
    return " ".join(name.split()).casefold()


def column_indexes(header):
    """Maps each column name to its first position."""
    indexes = {}
    for index, name in enumerate(header):
        indexes.setdefault(header_key(name), index)
    return indexes


def decimal_mark(cells):
    """Returns the decimal mark that the cells prove: "comma", "point", "mixed", or None without proof."""
    comma = any("," in cell and _COMMA_IS_DECIMAL.match(cell) for cell in cells)
    point = any("." in cell and _POINT_IS_DECIMAL.match(cell) for cell in cells)
    return "mixed" if comma and point else "comma" if comma else "point" if point else None


def parse_number(cell, mark="point"):
    """Parses a number, or returns None if the cell is empty. Raises ValueError for anything else."""
    if len(cell) <= 40 and (mark != "comma" or "." not in cell) and _NUMBER.fullmatch(cell):
        return Decimal(cell)
    text = _NOISE.sub("", cell.strip().upper()).replace("\u2212", "-")
    if not text:
        if cell.strip():
            raise ValueError(cell)
        return None
    negative = text.startswith("(") and text.endswith(")") or text.endswith("-")
    text = text.strip("()").rstrip("-")
    if "," in text and "." in text:
        thousands = "," if text.rfind(".") > text.rfind(",") else "."
    elif text.count(",") > 1 or text.count(".") > 1:
        thousands = "," if "," in text else "."
    elif mark == "mixed":
        thousands = "," if re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", text) else ""
    elif mark == "comma":
        thousands = "." if re.fullmatch(r"[+-]?[1-9]\d{0,2}\.\d{3}", text) else ""
    else:
        thousands = "," if re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", text) else ""
    text = (text.replace(thousands, "") if thousands else text).replace(",", ".")
    if len(text) > 40 or not _NUMBER.fullmatch(text):
        raise ValueError(cell)
    return -Decimal(text) if negative else Decimal(text)


def plain(number, places=None):
    """Formats a decimal without an exponent, with at least two places."""
    if places is not None:
        number = number.quantize(Decimal(1).scaleb(-places))
    text = format(number, "f")
    whole, _, fraction = text.partition(".")
    result = f"{whole}.{fraction.rstrip('0').ljust(2, '0')}"
    return "0.00" if result == "-0.00" else result


def safe_cell(text):
    """Escapes a cell that a spreadsheet would execute as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


class Findings:
    """Counts findings by kind and keeps the first of each, so that the output stays short."""

    def __init__(self):
        self.kinds = {}

    def add(self, kind, **details):
        entry = self.kinds.setdefault(kind, {"count": 0, "listed": []})
        entry["count"] += 1
        if len(entry["listed"]) < MAX_LISTED:
            entry["listed"].append(details)

    def report(self):
        return {
            kind: {**entry, "omitted": entry["count"] - len(entry["listed"])}
            for kind, entry in sorted(self.kinds.items())
        }


def gs1_check_digit(digits):
    """Returns the GS1 check digit of a number without it (weights 3 and 1 from the right)."""
    total = sum(int(digit) * (3 if index % 2 == 0 else 1) for index, digit in enumerate(reversed(digits)))
    return str(-total % 10)


_ISRC = re.compile(r"[A-Z]{2}[A-Z0-9]{3}\d{7}")


def normalize_isrc(text):
    """Returns the ISRC without separators, and whether its structure is valid."""
    code = text.strip(" '\"").replace("-", "").replace(" ", "").upper()
    return code, bool(_ISRC.fullmatch(code))


def upc_problem(text):
    """Returns what is wrong with a UPC or EAN: (kind, sentence), or None."""
    code = text.strip(" '\"")
    if re.fullmatch(r"\d+([.,]\d+)?E\+?\d+|\d+[.,]0+", code, re.IGNORECASE):
        return "upc_destroyed", "a spreadsheet turned the code into a number; take it from the original file"
    code = code.replace(" ", "").replace("-", "")
    if not code.isdecimal() or not code.isascii() or len(code) not in (8, 12, 13, 14):
        if code.isdecimal() and code.isascii() and len(code) in (10, 11):
            padded = code.zfill(12)
            if gs1_check_digit(padded[:-1]) == padded[-1]:
                return "upc_leading_zero_lost", f"probably {padded}: a spreadsheet removed leading zeros"
        return "upc_length", "a UPC has 12 digits, an EAN 13"
    if gs1_check_digit(code[:-1]) != code[-1]:
        return "upc_check_digit", f"the last digit should be {gs1_check_digit(code[:-1])}"
    return None
