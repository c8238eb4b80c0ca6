"""Sums by currency, store, territory, track and period, and what they are compared with."""

from decimal import Decimal

from table import CENT, BadInput, Table, column_indexes, normalize_isrc, parse_number, plain, read_input, safe_cell

ZERO = Decimal(0)


class Group:
    __slots__ = ("rows", "net", "quantity", "label")

    def __init__(self, label=""):
        self.rows, self.net, self.quantity, self.label = 0, ZERO, ZERO, label

    def add(self, net, quantity):
        self.rows += 1
        self.net += net
        self.quantity += quantity

    def report(self):
        rate = plain(self.net / self.quantity, 8) if self.quantity > 0 else None
        quantity = plain(self.quantity).removesuffix(".00")
        return {"rows": self.rows, "net": plain(self.net), "quantity": quantity, "net_per_unit": rate}


class Currency:
    def __init__(self):
        self.total, self.negative, self.unmatched, self.credit, self.section = (Group() for _ in range(5))
        self.extra = {"gross": ZERO, "fee": ZERO, "withheld": ZERO}
        self.groups = {"store": {}, "territory": {}, "track": {}, "period": {}}
        self.pairs = {}


def compare(current, previous, top):
    """Compares net amounts, which nets credits against debits first."""
    def change(now, before):
        percent = plain((now - before) / abs(before) * 100, 2) if before else None
        return {"current": plain(now), "previous": plain(before), "change": plain(now - before), "change_percent": percent}

    report = {}
    for name in sorted({*current, *previous}):
        now, before = current.get(name) or Currency(), previous.get(name) or Currency()
        report[name] = {"total": change(now.total.net, before.total.net)}
        for kind in ("store", "territory", "track"):
            ours, theirs = now.groups[kind], before.groups[kind]
            nets = {key: (ours.get(key, Group()).net, theirs.get(key, Group()).net) for key in {*ours, *theirs}}
            ranked = sorted(nets.items(), key=lambda item: (-abs(item[1][0] - item[1][1]), item[0]))
            report[name][f"by_{kind}"] = {
                "listed": [{"key": safe_cell(key[:120]) or "(none)",
                            "status": "new" if key not in theirs else "gone" if key not in ours else "both", **change(*pair)}
                           for key, pair in ranked[:top]], "omitted": max(0, len(ranked) - top)}
    return report


def read_shares(path):
    table, shares, columns = Table(read_input(path)), {}, None
    for number, cells in table.records():
        if columns is None:
            columns = column_indexes(cells)
            if not {"isrc", "share"} <= columns.keys():
                raise BadInput(f"{path} needs the columns isrc and share.")
            continue
        try:
            isrc, valid = normalize_isrc(cells[columns["isrc"]])
            share = parse_number(cells[columns["share"]], "comma" if table.delimiter == ";" else "point")
        except (IndexError, ValueError):
            share = None
        if share is None or not 0 <= share <= 100 or not valid:
            raise BadInput(f"Row {number} of {path} needs a valid ISRC and a share between 0 and 100 percent.")
        if isrc in shares:
            raise BadInput(f"Row {number} of {path} repeats {isrc}.")
        shares[isrc] = share
    if not shares or max(shares.values()) <= 1:
        raise BadInput(f"Every share in {path} is 1 or less: give percentages, 50 and not 0.5.")
    return shares


def apply_shares(currencies, shares, top):
    report = {}
    for name, bucket in sorted(currencies.items()):
        tracks, outside, part = bucket.groups["track"], Group(), ZERO
        lines = []
        for isrc, group in sorted(tracks.items()):
            if isrc in shares:
                amount = group.net * shares[isrc] / 100
                part += amount
                lines.append({"isrc": isrc, "net": plain(group.net), "share": plain(shares[isrc]), "part": plain(amount)})
            else:
                outside.rows, outside.net = outside.rows + group.rows, outside.net + group.net
        report[name] = {"part": plain(part.quantize(CENT)), "part_unrounded": plain(part), "tracks": lines[:top],
                        "tracks_omitted": max(0, len(lines) - top), "rows_without_share": outside.rows,
                        "net_without_share": plain(outside.net)}
    return report
