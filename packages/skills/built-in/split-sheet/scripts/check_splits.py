"""Checks the splits of one song, writes a split sheet for signature, and divides an amount by the shares.

Standard input: CSV with one row per party and table. Standard output: JSON, or Markdown.
Shares are exact fractions; nothing is rounded until the two decimals of a split sheet, and then by
largest remainder, so that a rounded table still adds up to its exact total.
"""

import argparse
import csv
import io
import json
import re
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from table import BadInput, decode, run

MAX_ROWS = 5_000
MAX_LISTED = 200
TABLES = {
    "composition": ("composition", "song", "work", "writers", "publishing", "komposition", "werk"),
    "master": ("master", "recording", "sound recording", "masters", "aufnahme"),
}
COLUMNS = {
    "table": ("table", "right", "tabelle"),
    "name": ("name", "legal name", "writer", "party", "full name"),
    "stage_name": ("stage name", "stage_name", "alias", "artist name", "pseudonym"),
    "role": ("role", "contribution", "rolle"),
    "share": ("share", "share %", "split", "split %", "percentage", "percent", "%", "anteil"),
    "pro": ("pro", "society", "cmo"),
    "ipi": ("ipi", "ipi/cae", "cae", "ipi number", "ipi name number"),
    "publisher": ("publisher", "verlag", "label"),
    "publisher_pro": ("publisher pro", "publisher_pro"),
    "publisher_ipi": ("publisher ipi", "publisher_ipi"),
    "contact": ("contact", "email", "e-mail", "kontakt"),
}


def read_rows(data, name):
    """Returns (row number, {column: text}) for each row. Row 1 is the heading."""
    text = decode(data)[0]
    if not text.strip(" \t\r\n,;|"):
        raise BadInput(f"{name} is empty: it needs a heading row and one row per party.")
    delimiter = max((";", "\t", ",", "|"), key=text.lstrip().split("\n", 1)[0].count)
    csv.field_size_limit(1_000_000)
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise BadInput(f"{name} is not a CSV file: {error}.") from None
    start = next(n for n, line in enumerate(lines) if any(cell.strip() for cell in line))
    heading = [re.sub(r"\s+", " ", cell).strip().lower() for cell in lines[start]]
    places = {}
    for column, names in COLUMNS.items():
        found = [place for place, cell in enumerate(heading) if cell in names]
        if len(found) > 1:
            raise BadInput(f'{name} has more than one column for "{column}": keep one.')
        if found:
            places[column] = found[0]
    if missing := [column for column in ("table", "name", "share") if column not in places]:
        raise BadInput(f"{name} has no column {', '.join(missing)}; its heading is: {', '.join(heading)[:300]}.")
    rows = [
        (number, {c: line[p].strip() if p < len(line) else "" for c, p in places.items()})
        for number, line in enumerate(lines[start + 1 :], start=start + 2)
        if any(cell.strip() for cell in line)
    ]
    if not rows:
        raise BadInput(f"{name} has a heading but no rows.")
    if len(rows) > MAX_ROWS:
        raise BadInput(f"{name} has {len(rows)} rows; a split sheet has at most {MAX_ROWS}.")
    return rows


def parse_share(text):
    """Returns the share in percent as an exact fraction, or the problem as text."""
    if text.startswith("="):
        return "the share is a spreadsheet formula; enter the number"
    cleaned = re.sub(r"[\s%]", "", text)
    if cleaned == "":
        return "the share is missing"
    if re.fullmatch(r"\d{1,4}/[1-9]\d{0,3}", cleaned):
        share = 100 * Fraction(cleaned)
    elif re.fullmatch(r"[-+]?\d{1,9}([.,]\d{1,12})?", cleaned):
        share = Fraction(cleaned.replace(",", "."))
    elif re.fullmatch(r"\(\d{1,9}([.,]\d{1,12})?\)", cleaned):
        share = -Fraction(cleaned[1:-1].replace(",", "."))
    else:
        return f'the share "{text[:40]}" is not a number'
    return share if 0 < share <= 100 else f"the share {text[:40]} is not above 0 and at most 100 %"


def allocate(total, weights):
    """Divides the integer total by weights with the largest remainder; a tie goes to the earlier row."""
    whole = sum(weights)
    exact = [total * weight / whole for weight in weights]
    parts = [value.numerator // value.denominator for value in exact]
    order = sorted(range(len(exact)), key=lambda i: (parts[i] - exact[i], i))
    for place in order[: total - sum(parts)]:
        parts[place] += 1
    return parts


def hundredths(value):
    sign = "-" if value < 0 else ""
    return f"{sign}{abs(value) // 100}.{abs(value) % 100:02d}"


def percent(value):
    """Returns two decimals, or six if the value has more than two."""
    return hundredths(int(value * 100)) if (value * 100).denominator == 1 else f"{Decimal(value.numerator) / value.denominator:.6f}"


def check_ipi(text):
    """Returns (the eleven digits or the text, a warning or None). The last two digits are check digits."""
    digits = re.sub(r"[\s.\-]", "", text)
    if digits == "":
        return "", "the IPI name number is missing"
    if not re.fullmatch(r"[0-9]{1,11}", digits):
        return text, f'the IPI "{text[:40]}" is not a number of up to eleven digits'
    full = digits.rjust(11, "0")
    remainder = sum(int(digit) * (10 - place) for place, digit in enumerate(full[:9])) % 101
    expected = (101 - remainder) % 100 if remainder else 0
    if f"{expected:02d}" != full[9:]:
        return full, f"the check digits of the IPI {full} are wrong; ask the writer or the society"
    return full, None if len(digits) == 11 else f"the IPI {digits} was shorter than eleven digits; leading zeros were added: {full}"


def check(rows):
    tables = {name: {"parties": [], "exact": []} for name in TABLES}
    problems, warnings, seen = [], [], set()
    for number, cells in rows:
        wanted = cells["table"].lower()
        table = next((name for name, words in TABLES.items() if wanted in words), None)
        issues = []
        if table is None:
            issues.append(f'the table "{cells["table"][:40]}" is neither composition nor master')
        if cells["name"] == "":
            issues.append("the name is missing")
        issues += [f"the {column} is a spreadsheet formula" for column, cell in cells.items() if column != "share" and cell.startswith("=")]
        share = parse_share(cells["share"])
        if isinstance(share, str):
            issues.append(share)
        key = (table, cells["name"].casefold())
        if table and cells["name"] and key in seen:
            issues.append(f"{cells['name']} is listed twice in the {table} table")
        seen.add(key)
        problems += [{"row": number, "problem": issue} for issue in issues]
        for column, label in (("ipi", cells["name"]), ("publisher_ipi", cells.get("publisher", ""))):
            if table == "composition" and (column == "ipi" or label):
                cells[column], warning = check_ipi(cells.get(column, ""))
                if warning:
                    warnings.append({"row": number, "warning": f"{label}: {warning}"})
        if table == "composition" and not cells.get("pro"):
            warnings.append({"row": number, "warning": f"{cells['name']}: the society (PRO) is missing"})
        if not cells.get("role"):
            warnings.append({"row": number, "warning": f"{cells['name']}: the role is missing"})
        if table is not None:
            tables[table]["parties"].append({"row": number, **{k: v for k, v in cells.items() if k != "table" and v}})
            tables[table]["exact"].append(share if isinstance(share, Fraction) else None)
    for name, table in tables.items():
        finish_table(name, table, problems, warnings)
    return tables, problems, warnings


def finish_table(name, table, problems, warnings):
    """Adds the total and its difference, and the rounded shares if the table is complete."""
    exact = table.pop("exact")
    valid = [share for share in exact if share is not None]
    total = sum(valid, Fraction(0))
    complete = len(valid) == len(exact) and total == 100
    table.update(total=percent(total), difference=percent(total - 100), is_exactly_100=complete)
    if not exact:
        table["difference"] = None
        warnings.append({"row": None, "warning": f"there is no {name} table; agree on both tables before signature"})
        return
    written = allocate(10_000, valid) if complete else [None] * len(exact)
    for party, share, value in zip(table["parties"], exact, written):
        if share is not None:
            party["share"] = percent(share) if value is None else hundredths(value)
        if value is not None and share * 100 != value:
            warnings.append({"row": party["row"], "warning": f"{party.get('name', '')}: the exact share has more than two decimals and is written as {party['share']} %"})
    if not complete and len(valid) == len(exact):
        hint = {200: " It is 200 %: the shares may follow the model in which writers and publishers have 100 % each.", 1: " It is 1: the shares may be fractions of 1; enter percentages."}
        problems.append({"row": None, "problem": f"the {name} table adds up to {table['total']} %, a difference of {table['difference']} to 100.00 %.{hint.get(total, '')}"})


def compare(tables, others):
    """Lists the differences to another version in the tables that the other version has."""
    wanted = [name for name in TABLES if others[name]["parties"]]

    def by_party(found):
        return {(t, p.get("name", "").casefold()): (p.get("name", ""), p.get("share")) for t in wanted for p in found[t]["parties"]}

    ours, theirs = by_party(tables), by_party(others)
    pairs = [(key[0], ours.get(key), theirs.get(key)) for key in sorted(ours.keys() | theirs.keys())]
    return [
        {"table": table, "name": (mine or other)[0], "share": mine and mine[1], "other": other and other[1]}
        for table, mine, other in pairs
        if mine is None or other is None or mine[1] != other[1]
    ]


def pay(table, name, amount, currency):
    if not re.fullmatch(r"-?\d{1,12}(\.\d{1,2})?", amount) or not re.fullmatch(r"[A-Z]{3}", currency or ""):
        raise BadInput("The amount is written as 1234.56, with --currency in three letters, such as EUR.")
    if not table["is_exactly_100"]:
        raise BadInput(f"The {name} table is not exactly 100.00 % or has problems, so the amount is not divided.")
    cents = int(Fraction(amount) * 100)
    weights = [Fraction(party["share"]) for party in table["parties"]]
    parts = [(-1 if cents < 0 else 1) * part for part in allocate(abs(cents), weights)]
    payees = [{"row": p["row"], "name": p.get("name", ""), "share": p["share"], "amount": hundredths(c)} for p, c in zip(table["parties"], parts)]
    return {"table": name, "currency": currency, "amount": hundredths(cents), "payees": payees, "sum": hundredths(sum(parts)),
            "rounding": "shares as written, largest remainder on cents; a tie goes to the earlier row; the sum equals the amount"}


def escape(text):
    """Makes text inert in a Markdown table."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", re.sub(r"\s+", " ", text or ""))


def markdown(args, tables, problems):
    lines = [f"# Split sheet: {escape(args.title)}", ""]
    if problems:
        lines += ["**DRAFT. Do not sign: this sheet has problems.**", ""]
        lines += [f"- {'Row ' + str(p['row']) + ': ' if p['row'] else ''}{escape(p['problem'])}" for p in problems[:MAX_LISTED]] + [""]
    facts = (("Date", args.date), ("Alternate titles", args.alternate_titles), ("ISWC", args.iswc), ("ISRC", args.isrc), ("Samples and interpolations", args.samples))
    lines += [f"- {label}: {escape(value) or 'not stated'}" for label, value in facts]
    for name, title in (("composition", "Composition (melody and lyrics)"), ("master", "Master (sound recording)")):
        parties = tables[name]["parties"]
        lines += ["", f"## {title}", ""]
        if not parties:
            lines.append("Not part of this sheet.")
            continue
        lines += ["| Legal name | Stage name | Role | Share % | PRO | IPI | Publisher or label (PRO, IPI) | Contact |", "|---|---|---|---:|---|---|---|---|"]
        for p in parties:
            publisher = ", ".join(p[k] for k in ("publisher", "publisher_pro", "publisher_ipi") if p.get(k))
            cells = [p.get("name"), p.get("stage_name"), p.get("role"), p.get("share"), p.get("pro"), p.get("ipi"), publisher, p.get("contact")]
            lines.append("| " + " | ".join(escape(cell) for cell in cells) + " |")
        lines.append(f"| **Total** | | | **{tables[name]['total']}** | | | | |")
    lines += ["", "## Signatures", "", "Each party confirms the shares above.", "", "| Name | Signature | Date |", "|---|---|---|"]
    names = dict.fromkeys(p.get("name", "") for t in TABLES for p in tables[t]["parties"])
    return "\n".join(lines + [f"| {escape(name)} | | |" for name in names]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file-name", default="standard input")
    parser.add_argument("--title", default="Untitled")
    for option in ("date", "alternate-titles", "iswc", "isrc", "samples"):
        parser.add_argument(f"--{option}", default="")
    parser.add_argument("--against", help="CSV with another version of the shares, such as the registration")
    parser.add_argument("--amount", help="amount to divide, such as 1234.56")
    parser.add_argument("--currency")
    parser.add_argument("--table", choices=sorted(TABLES), default="composition")
    parser.add_argument("--format", choices=("json", "markdown"), default="json")
    args = parser.parse_args()
    tables, problems, warnings = check(read_rows(sys.stdin.buffer.read(), args.file_name))
    result = {"file": args.file_name, "title": args.title, "ready_to_sign": not problems, "tables": tables,
              "problems": problems[:MAX_LISTED], "warnings": warnings[:MAX_LISTED],
              "omitted": max(0, len(problems) - MAX_LISTED) + max(0, len(warnings) - MAX_LISTED)}
    if args.against:
        try:
            other = Path(args.against).read_bytes()
        except OSError:
            raise BadInput(f"{args.against} cannot be opened.") from None
        differences = compare(tables, check(read_rows(other, args.against))[0])
        result["differences"] = differences[:MAX_LISTED]
        result["omitted"] += max(0, len(differences) - MAX_LISTED)
    if args.amount:
        result["payment"] = pay(tables[args.table], args.table, args.amount, args.currency)
    if args.format == "markdown":
        sys.stdout.write(markdown(args, tables, problems))
        return
    for table in tables.values():
        result["omitted"] += max(0, len(table["parties"]) - MAX_LISTED)
        table["parties"] = table["parties"][:MAX_LISTED]
    print(json.dumps(result, ensure_ascii=False, indent=1))


run(main)
