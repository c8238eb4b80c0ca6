"""Recoupment of one account from a JSON description on standard input. Fields: references/recoupment.md."""

import argparse
import json
import re
from decimal import Decimal

from table import CENT, BadInput, decode, parse_number, plain, read_input, run, safe_cell

ZERO, HUNDRED = Decimal(0), Decimal(100)
ORDERS = ("date", "costs_first", "advances_first")


def decimal(value, name, low=None, high=None):
    if isinstance(value, float):
        raise BadInput(f'{name} must be a string such as "12.50", because a JSON number would be rounded.')
    try:
        number = parse_number(str(value))
    except ValueError:
        number = None
    if number is None or (low is not None and number < low) or (high is not None and number > high):
        limits = f" from {low} to {high}" if high is not None else f" of at least {low}" if low is not None else ""
        raise BadInput(f"{name} must be a decimal number{limits}, not {str(value)[:40]!r}.")
    return number


def read_entries(project, name):
    entries = []
    for index, entry in enumerate(project.get("entries", []), 1):
        where = f"Entry {index} of {name}"
        if not isinstance(entry, dict) or entry.get("kind") not in ("advance", "cost", "income"):
            raise BadInput(f"{where} needs a kind: advance, cost or income.")
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", str(entry.get("date"))):
            raise BadInput(f"{where} needs a date as YYYY-MM-DD.")
        amount = decimal(entry.get("amount"), f"The amount of {where.lower()}", None if entry["kind"] == "income" else 0)
        percent = decimal(entry.get("recoupable_percent", "100"), f"recoupable_percent of {where.lower()}", 0, 100)
        group = entry.get("group") or {"cost": "costs"}.get(entry["kind"], entry["kind"])
        entries.append({**entry, "amount": amount, "recoupable": amount * percent / HUNDRED, "group": safe_cell(str(group))})
    # On one date, what is owed stands before what is earned.
    return sorted(entries, key=lambda entry: (entry["date"], entry["kind"] == "income"))


def recover(credit, debts):
    """Applies a credit to debts in their order and returns what is left of it, and the lines."""
    lines = []
    for group, kind, owed in debts:
        paid = max(ZERO, min(credit, owed))
        credit -= paid
        lines.append({"group": group, "kind": kind, "owed": plain(owed), "recouped": plain(paid),
                      "unrecouped": plain(owed - paid)})
    return credit, lines


def unrecouped(lines):
    return sum((Decimal(line["unrecouped"]) for line in lines), ZERO)


def collect_debts(entries, kinds, order):
    debts = {}
    for entry in entries:
        if entry["kind"] in kinds:
            key = entry["group"], entry["kind"]
            debts[key] = debts.get(key, ZERO) + entry["recoupable"]
    first = {"costs_first": "cost", "advances_first": "advance"}.get(order)
    lines = [(group, kind, owed) for (group, kind), owed in debts.items()]
    return sorted(lines, key=lambda line: bool(first) and line[1] != first)


def settle(project, deal):
    name = safe_cell(str(project.get("name", "")))
    if not name:
        raise BadInput("Each project needs a name.")
    rate = decimal(project.get("rate", deal.get("rate")), f"rate of {name}", 0, 100) / HUNDRED
    opening = decimal(project.get("opening_balance", "0"), f"opening_balance of {name}")
    entries = read_entries(project, name)
    factor = ONE = Decimal(1)
    for fee in project.get("fees", deal.get("fees", [])):
        factor *= ONE - decimal(fee, f"A fee of {name}", 0, 100) / HUNDRED
    income = sum((entry["amount"] for entry in entries if entry["kind"] == "income"), ZERO)
    after_fees = income * factor
    order = deal.get("order", "date")
    before = [("opening balance", "opening", -opening)] if opening < 0 else []
    balance, ledger = opening, []
    royalty = deal["deal"] == "royalty"
    for entry in entries:
        earning = entry["amount"] * factor * (rate if royalty else ONE)
        movement = earning if entry["kind"] == "income" else -entry["recoupable"]
        balance += movement
        ledger.append({"date": entry["date"], "kind": entry["kind"], "group": entry["group"],
                       "movement": plain(movement), **({"balance": plain(balance)} if royalty else {}),
                       "evidence": entry.get("evidence")})
    extra = {}
    if royalty:
        earned = after_fees * rate
        left, lines = recover(earned + max(opening, ZERO), before + collect_debts(entries, ("advance", "cost"), order))
        owed = unrecouped(lines)
    else:
        # Costs come off the top; the advance is recovered from the payee's part of the profit.
        profit, pool = recover(after_fees + max(opening, ZERO), before + collect_debts(entries, ("cost",), order))
        earned = max(profit, ZERO) * rate
        left, advances = recover(earned, collect_debts(entries, ("advance",), order))
        lines, owed = pool + advances, unrecouped(advances)
        extra = {"profit": plain(profit), "costs_carried_forward": plain(unrecouped(pool) + max(-profit, ZERO))}
    closing = left - owed
    return closing, {
        "project": name, "income": plain(income), "fee_factor": plain(factor), "income_after_fees": plain(after_fees),
        **extra, "rate_percent": plain(rate * HUNDRED),
        "earned": plain(earned), "opening_balance": plain(opening), "recoupment": lines, "ledger": ledger[:200],
        "ledger_omitted": max(0, len(ledger) - 200),
        "closing_balance": plain(closing), "payable": plain(max(closing, ZERO).quantize(CENT)),
    }


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    try:
        deal = json.loads(decode(read_input())[0])
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"The input is not valid JSON: {problem}.") from None
    if not isinstance(deal, dict) or deal.get("deal") not in ("royalty", "profit_share"):
        raise BadInput('The input needs "deal": "royalty" or "profit_share".')
    if not isinstance(deal.get("currency"), str) or not isinstance(deal.get("projects"), list) or not deal["projects"]:
        raise BadInput("The input needs a currency and at least one project; every project is in that currency.")
    if deal.get("order", "date") not in ORDERS:
        raise BadInput(f"order must be one of {', '.join(ORDERS)}.")
    royalty, cross = deal["deal"] == "royalty", deal.get("cross_collateralize", False) is True
    if cross and not royalty:
        raise BadInput("Profit shares are crossed before the split: put the entries of all projects into one project.")
    if not all(isinstance(project, dict) for project in deal["projects"]):
        raise BadInput("Each project must be an object.")
    settled = [settle(project, deal) for project in deal["projects"]]
    crossed = plain(max(sum((closing for closing, _ in settled), ZERO), ZERO).quantize(CENT))
    separate = plain(sum((Decimal(report["payable"]) for _, report in settled), ZERO))
    print(json.dumps({
        "currency": deal["currency"], "deal": deal["deal"], "cross_collateralize": cross,
        "payable": crossed if cross else separate, "payable_if_separate": separate,
        **({"payable_if_cross_collateralized": crossed} if royalty else {}),
        "projects": [report for _, report in settled],
    }, ensure_ascii=False, indent=1))


run(main)
