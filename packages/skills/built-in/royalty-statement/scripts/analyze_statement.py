"""Totals, rates and discrepancies of a royalty statement from standard input, as JSON or Markdown."""

import argparse
import csv
import hashlib
import json
import re
import sys
from decimal import Decimal, InvalidOperation

from layouts import CHECKS, FIELDS, NUMERIC, Statement, month
from sums import ZERO, Currency, Group, apply_shares, compare, read_shares
from table import BadInput, Findings, normalize_isrc, parse_number, plain, read_input, run, safe_cell, upc_problem

TOTAL = re.compile(
    r"\s*((grand |sub-?)?totals?|(gesamt|zwischen)?summe|gesamt|somme|totale?)"
    r"( (amount|net|due|payable|earnings|royalt(y|ies)|[a-z]{3}))?\s*:?\s*", re.IGNORECASE)
TEXTS = ("store", "territory", "period", "title", "artist", "isrc", "upc")


def normalize(statement, number, cells, findings):
    """Returns the canonical row, or None for a row whose amount cannot be read."""
    row = {"row_no": number, "right": statement.right, "currency": statement.currency or ""}
    for field, numeric, indexes in statement.columns:
        text = cells[indexes[0]].strip() if indexes[0] < len(cells) else ""
        if not text and len(indexes) > 1:
            text = next((cells[i].strip() for i in indexes[1:] if i < len(cells) and cells[i].strip()), "")
        if not numeric:
            row[field] = text
            continue
        try:
            row[field] = parse_number(text, statement.mark)
        except (ValueError, InvalidOperation):
            findings.add("unreadable_number", row=number, field=field, cell=safe_cell(text[:80]))
            if field == "net":
                return None
            row[field] = None
    if row.get("net") is None:
        findings.add("missing_amount", row=number)
        return None
    row["currency"] = row["currency"].upper()
    return row


def verify_total(row, currencies, label, findings, checked):
    names = [row["currency"]] if row["currency"] else list(currencies)
    if len(names) != 1 or names[0] not in currencies:
        findings.add("total_row_unverified", row=row["row_no"], reason="its currency is unknown")
        return
    bucket, stated = currencies[names[0]], row["net"]
    for scope, group in (("all rows above", bucket.total), ("rows since the last total", bucket.section)):
        computed = group.net
        ok = computed == stated or computed.quantize(Decimal(1).scaleb(stated.as_tuple().exponent)) == stated
        if ok:
            break
    if not ok:
        computed, scope = bucket.total.net, "all rows above"
        findings.add("total_differs", row=row["row_no"], stated=plain(stated), computed=plain(computed),
                     difference=plain(stated - computed))
    checked.append({"row": row["row_no"], "label": safe_cell(label), "currency": names[0], "stated": plain(stated),
                    "computed": plain(computed), "of": scope, "ok": ok})
    bucket.section = Group()


def check_row(row, statement, findings, seen_codes):
    """Checks products and codes. `seen_codes` remembers what is wrong with a code."""
    for amount, factors in CHECKS.get(statement.layout, ()):
        values = [row.get(factor) for factor in factors]
        stated = row.get(amount)
        if stated is None or None in values:
            continue
        product = values[0] * (values[1] / 100 if factors[1] == "share_applied" else values[1])
        # A sender may truncate the last digit that it shows.
        unit = Decimal(1).scaleb(min(-2, max(stated.as_tuple().exponent, -12)))
        if abs(product - stated) >= unit:
            findings.add("product_differs", row=row["row_no"], field=amount, factors=" x ".join(factors),
                         stated=plain(stated), computed=plain(product))
    if isrc := row.get("isrc"):
        if isrc not in seen_codes:
            seen_codes[isrc] = normalize_isrc(isrc)
        row["isrc"], valid = seen_codes[isrc]
        if not valid:
            findings.add("isrc_malformed", row=row["row_no"], isrc=safe_cell(isrc[:40]))
    if upc := row.get("upc"):
        key = "upc", upc
        if key not in seen_codes:
            seen_codes[key] = upc_problem(upc)
        if seen_codes[key]:
            findings.add(seen_codes[key][0], row=row["row_no"], upc=safe_cell(upc[:40]), note=seen_codes[key][1])


def analyze(statement, on_row=None):
    findings, currencies, checked, seen, seen_codes = Findings(), {}, [], {}, {}
    us_dates = statement.layout in ("bandcamp", "cdbaby")
    for number, cells in statement.rows():
        row = normalize(statement, number, cells, findings)
        if row is None:
            continue
        if not row.get("isrc") and not row.get("upc"):
            labels = [cell for cell in cells if TOTAL.fullmatch(cell)]
            if labels and sum(bool(row.get(field)) for field in TEXTS) <= 1:
                verify_total(row, currencies, labels[0], findings, checked)
                continue
        if len(cells) != statement.width:
            findings.add("cell_count_differs", row=number, cells=len(cells), header=statement.width)
        if not row["currency"]:
            findings.add("missing_currency", row=number)
        digest = hashlib.blake2b("\x1f".join(cells).encode(), digest_size=12).digest()
        if (first := seen.setdefault(digest, number)) != number:
            findings.add("duplicate_row", row=number, same_as=first, net=plain(row["net"]))
        check_row(row, statement, findings, seen_codes)
        bucket = currencies.get(row["currency"]) or currencies.setdefault(row["currency"], Currency())
        net, quantity = row["net"], row.get("quantity") or ZERO
        bucket.total.add(net, quantity)
        bucket.section.add(net, quantity)
        for field in bucket.extra:
            bucket.extra[field] += row.get(field) or ZERO
        isrc, title = row.get("isrc"), row.get("title", "")
        track = isrc or f"{title} - {row.get('artist', '')}".casefold()
        keys = (("store", row.get("store", "")), ("territory", row.get("territory", "")), ("track", track),
                ("period", month(row.get("period") or row.get("reported_at") or "", us_dates)))
        for kind, key in keys:
            groups = bucket.groups[kind]
            group = groups.get(key)
            if group is None:
                group = groups[key] = Group(title if kind == "track" else "")
            group.add(net, quantity)
        if net < 0:
            bucket.negative.add(net, quantity)
            findings.add("negative_row", row=number, net=plain(net), currency=row["currency"], title=safe_cell(title[:60]))
        if not (isrc or row.get("upc") or row.get("iswc") or row.get("work_id")):
            bucket.unmatched.add(net, quantity)
            findings.add("unmatched_row", row=number, net=plain(net), currency=row["currency"], title=safe_cell(title[:60]))
        if statement.layout.startswith("gema"):
            pair = bucket.pairs.setdefault((row.get("work_id") or track, row.get("usage", "")), [ZERO, ZERO])
            pair[net < 0] += net
        if on_row:
            on_row(row)
    if statement.mark == "mixed":
        findings.add("mixed_decimal_marks", note="some amounts use a decimal comma, some a decimal point")
    return currencies, checked, findings


def largest(groups, top):
    ranked = sorted(groups.items(), key=lambda item: (-abs(item[1].net), item[0]))
    listed = [{"key": safe_cell(key[:120]) or "(none)",
               **({"title": safe_cell(group.label[:120])} if group.label else {}), **group.report()}
              for key, group in ranked[:top]]
    rest = ranked[top:]
    return {"listed": listed, "others": {"groups": len(rest), "net": plain(sum((g.net for _, g in rest), ZERO))}}


def report_currency(bucket, top):
    pairs = [{"work": safe_cell(work[:120]), "category": safe_cell(usage[:120]), "credit": plain(credit), "debit": plain(debit), "net": plain(credit + debit)}
             for (work, usage), (credit, debit) in sorted(bucket.pairs.items()) if credit and debit]
    return {
        **bucket.total.report(), **{field: plain(value) for field, value in bucket.extra.items() if value},
        "negative": bucket.negative.report(), "unmatched": bucket.unmatched.report(),
        **{f"by_{kind}": largest(groups, top) for kind, groups in bucket.groups.items()},
        **({"credit_debit_pairs": pairs[:top], "credit_debit_pairs_omitted": max(0, len(pairs) - top)} if pairs else {}),
    }


def markdown(report):
    def table(columns, rows):
        cells = [[str("" if value is None else value).replace("|", "\\|").replace("\n", " ") for value in row] for row in rows]
        return ["| " + " | ".join(row) + " |" for row in [columns, ["---"] * len(columns), *cells]] + [""]

    lines = [f"Layout: {report['source']['layout']}, file: {report['source']['file']}", ""]
    for name, part in report["currencies"].items():
        lines += [f"## {name or 'No currency'}: {part['net']} from {part['rows']} rows", ""]
        for kind in ("store", "territory", "track", "period"):
            group = part[f"by_{kind}"]
            rows = [[g.get("title") or g["key"], g["rows"], g["quantity"], g["net"], g["net_per_unit"]] for g in group["listed"]]
            if group["others"]["groups"]:
                rows.append([f"{group['others']['groups']} others", "", "", group["others"]["net"], ""])
            lines += table([kind.capitalize(), "Rows", "Quantity", "Net", "Net per unit"], rows)
    lines += ["## Findings", ""] + table(["Finding", "Count", "Rows"], [
        [kind, entry["count"], ", ".join(str(item.get("row", "")) for item in entry["listed"])]
        for kind, entry in report["findings"].items()])
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file-name", default="standard input")
    parser.add_argument("--sheet")
    parser.add_argument("--map", action="append", default=[], metavar="COLUMN=FIELD")
    parser.add_argument("--currency", help="currency of every row, if no column says it")
    parser.add_argument("--decimal", choices=("comma", "point"))
    parser.add_argument("--expected-shares", metavar="FILE", help="CSV of isrc,share in percent")
    parser.add_argument("--previous", metavar="FILE", help="statement of an earlier period")
    parser.add_argument("--top", type=int, default=25)
    parser.add_argument("--format", choices=("json", "markdown", "csv"), default="json",
                        help="csv: the canonical rows instead of the report")
    options = parser.parse_args()
    options.top = max(1, min(options.top, 200))
    mapping = {}
    for item in options.map:
        column, _, field = item.rpartition("=")
        if field not in FIELDS or not column:
            raise BadInput(f"--map {item} must be COLUMN=FIELD with one of the fields: {', '.join(FIELDS)}.")
        mapping[field] = column
    if mapping and "net" not in mapping:
        raise BadInput("--map needs a column for net, the amount paid.")
    arguments = mapping, options.currency, options.decimal
    statement = Statement(read_input(), *arguments)
    if options.format == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(["source", *FIELDS])
        analyze(statement, lambda row: writer.writerow([safe_cell(options.file_name)] + [
            "" if (value := row.get(field)) is None else value if field == "row_no"
            else plain(value) if field in NUMERIC and value != "" else safe_cell(value) for field in FIELDS]))
        return
    currencies, checked, findings = analyze(statement)
    report = {
        "source": {"file": options.file_name, "sheet": options.sheet, "layout": statement.layout, "right": statement.right,
                   "header_row": statement.header, "encoding": statement.table.encoding,
                   "decimal_mark": statement.mark, "decimal_mark_from": statement.mark_reason},
        "currencies": {name: report_currency(bucket, options.top) for name, bucket in sorted(currencies.items())},
        "totals_checked": checked[:options.top], "findings": findings.report(),
    }
    if options.expected_shares:
        report["expected_shares"] = apply_shares(currencies, read_shares(options.expected_shares), options.top)
    if options.previous:
        before = analyze(Statement(read_input(options.previous), *arguments))[0]
        report["comparison"] = compare(currencies, before, options.top)
    print(markdown(report) if options.format == "markdown" else json.dumps(report, ensure_ascii=False, indent=1))


run(main)
