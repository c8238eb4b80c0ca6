"""Calculates the budget of a tour: fees, withholding tax, commissions and costs per show and in total.

Standard input: CSV with one row per show. --plan: JSON file with currency, rates, costs, taxes and commissions.
Amounts are rounded to cents with ROUND_HALF_EVEN. Currencies are converted only with the rates of the plan.
"""

import argparse
import csv
import io
import json
import re
import sys
from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal, getcontext
from pathlib import Path

from table import BadInput, decode, run

getcontext().prec = 50
CENT = Decimal("0.01")
ZERO = Decimal("0.00")
MAX_ROWS = 2_000
MAX_LISTED = 200
MAX_FACTOR = 100_000
COLUMNS = ("date", "city", "country", "currency", "deal", "guarantee", "percentage", "gross", "sales_tax", "deductions", "costs")
DEALS = {
    "guarantee": ("guarantee",),
    "door": ("percentage", "gross"),
    "versus": ("guarantee", "percentage", "gross"),
    "versus_gross": ("guarantee", "percentage", "gross"),
    "plus": ("guarantee", "percentage", "gross"),
}
FORMULAS = {
    "guarantee": "guarantee",
    "door": "percentage of (gross - sales tax - deductions), at least 0",
    "versus": "the greater of guarantee and percentage of (gross - sales tax - deductions)",
    "versus_gross": "the greater of guarantee and percentage of (gross - sales tax)",
    "plus": "guarantee + percentage of (gross - sales tax - deductions - guarantee), at least the guarantee",
}
BASES = {
    "fees": "the fee of each show",
    "fees_after_tax": "the fee less withholding tax",
    "fees_less_show_costs": "the fee less the show's costs, at least 0",
    "net_result": "the result of the tour before commissions on it, at least 0",
}


def cents(value):
    return value.quantize(CENT, rounding=ROUND_HALF_EVEN)


def parse_money(value, what):
    """Returns an amount of at least 0, or raises. Thousands may be grouped; 5.000 alone is ambiguous."""
    text = re.sub(r"[\s'’]", "", str(value))
    if text.startswith("="):
        raise BadInput(f"{what} is a spreadsheet formula; enter the number")
    if re.fullmatch(r"\d{1,3}\.\d{3}", text):
        raise BadInput(f'{what} "{text}" is ambiguous; write {text.replace(".", "")}.00 or {text[:-1]}')
    if re.fullmatch(r"\d{1,9}([.,]\d{1,2})?", text):
        return cents(Decimal(text.replace(",", ".")))
    if re.fullmatch(r"\d{1,3}(,\d{3}){1,2}(\.\d{1,2})?", text):
        return cents(Decimal(text.replace(",", "")))
    if re.fullmatch(r"\d{1,3}(\.\d{3}){1,2}(,\d{1,2})?", text):
        return cents(Decimal(text.replace(".", "").replace(",", ".")))
    if re.fullmatch(r"-.*|\(.*\)", text):
        raise BadInput(f'{what} "{text[:30]}" is negative')
    raise BadInput(f'{what} "{text[:30]}" is not an amount below one billion without currency sign')


def parse_rate(value, what, most):
    text = str(value).strip().removesuffix("%").strip().replace(",", ".")
    if not re.fullmatch(r"\d{1,6}(\.\d{1,10})?", text) or Decimal(text) > most:
        raise BadInput(f'{what} "{str(value)[:30]}" is not a number from 0 to {most}')
    return Decimal(text)


def reject_constant(name):
    raise ValueError(name)


def read_plan(path):
    try:
        plan = json.loads(decode(Path(path).read_bytes())[0], parse_float=Decimal, parse_constant=reject_constant)
    except OSError:
        raise BadInput(f"{path} cannot be opened.") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{path} is not JSON.") from None
    if not isinstance(plan, dict):
        raise BadInput(f"{path} must be a JSON object.")
    for key, kind in (("rates", dict), ("withholding", dict), ("tour_costs", list), ("commissions", list), ("per_diem", dict)):
        if not isinstance(plan.setdefault(key, kind()), kind) or not all(isinstance(entry, dict) for entry in plan[key] if kind is list):
            raise BadInput(f"{path}: {key} has the wrong form.")
    currency = currency_of(plan.get("currency"), f"{path}: currency")
    rates = {currency_of(code, "rates"): parse_rate(rate, f"the rate of {code}", 999_999) for code, rate in plan["rates"].items()}
    if any(rate == 0 for rate in rates.values()) or rates.get(currency, 1) != 1:
        raise BadInput(f"{path}: a rate is above 0, and that of {currency} is 1.")
    costs = []
    for cost in plan["tour_costs"]:
        name = str(cost.get("name", ""))[:100]
        costs.append((name, currency_of(cost.get("currency"), f"the cost {name}"), parse_money(cost.get("amount", ""), f"the cost {name}")))
    if plan["per_diem"]:
        people, days = (parse_rate(plan["per_diem"].get(key, ""), f"per_diem {key}", 1000) for key in ("people", "days"))
        amount = parse_money(plan["per_diem"].get("amount", ""), "per_diem amount")
        costs.append((f"Per diem ({people} people, {days} days)", currency_of(plan["per_diem"].get("currency"), "per_diem"), cents(amount * people * days)))
    taxes = {}
    for country, tax in plan["withholding"].items():
        if not isinstance(tax, dict) or tax.get("base", "fee") not in ("fee", "fee_less_show_costs"):
            raise BadInput(f'{path}: withholding of {country} needs a rate and the base "fee" or "fee_less_show_costs".')
        exempt = parse_money(tax.get("exempt_up_to", "0"), f"exempt_up_to of {country}")
        taxes[country] = (parse_rate(tax.get("rate", ""), f"the tax rate of {country}", 100), tax.get("base", "fee"), exempt, parse_rate(tax.get("people", 1), f"people of {country}", 1000) or 1)
    return {"currency": currency, "rates": rates | {currency: Decimal(1)}, "costs": costs, "taxes": taxes, "commissions": read_commissions(plan["commissions"])}


def currency_of(value, what):
    if not isinstance(value, str) or not re.fullmatch(r"[A-Z]{3}", value):
        raise BadInput(f'{what}: "{str(value)[:20]}" is not a currency of three letters, such as EUR.')
    return value


def read_commissions(entries):
    listed = []
    for entry in entries:
        name, after = str(entry.get("name", ""))[:100], entry.get("after", [])
        if entry.get("base") not in BASES:
            raise BadInput(f'The commission "{name}" has no base: ask which one the contract defines; possible are {", ".join(BASES)}.')
        known = {other["name"] for other in listed if entry["base"] == "net_result" or other["base"] != "net_result"}
        if not name or name in {other["name"] for other in listed} or not isinstance(after, list) or not known.issuperset(map(str, after)):
            raise BadInput(f'The commission "{name}" needs a name of its own, and "after" may name only commissions before it.')
        listed.append({"name": name, "rate": parse_rate(entry.get("rate", ""), f"the rate of {name}", 100), "base": entry["base"], "after": [str(other) for other in after]})
    return listed


def read_shows(data, name):
    text = decode(data)[0].strip("\r\n")
    if not text.strip(" \t,;") or "\x00" in text:
        raise BadInput(f"{name} is empty or not a CSV file: it needs a heading row and one row per show.")
    delimiter = max((",", ";", "\t"), key=text.split("\n", 1)[0].count)
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise BadInput(f"{name} is not a CSV file: {error}.") from None
    heading = [re.sub(r"[\s-]+", "_", cell.strip().lower()) for cell in lines[0]]
    if missing := [column for column in ("date", "country", "currency", "deal") if column not in heading]:
        raise BadInput(f"{name} has no column {', '.join(missing)}; possible are {', '.join(COLUMNS)}.")
    if unknown := [cell for cell in heading if cell and cell not in COLUMNS]:
        raise BadInput(f"{name} has the unknown columns {', '.join(unknown)[:200]}; possible are {', '.join(COLUMNS)}.")
    empty = dict.fromkeys(COLUMNS, "")
    rows = [(n, empty | dict(zip(heading, (cell.strip() for cell in line)))) for n, line in enumerate(lines[1:], start=2) if any(cell.strip() for cell in line)]
    if not rows or len(rows) > MAX_ROWS:
        raise BadInput(f"{name} has {len(rows)} shows; a tour has 1 to {MAX_ROWS}.")
    return rows


def read_show(number, row, plan):
    """Returns the show with its fee. Raises BadInput with the reason if it cannot be calculated."""
    try:
        date.fromisoformat(row["date"] if re.fullmatch(r"\d{4}-\d{2}-\d{2}", row["date"]) else "")
    except ValueError:
        raise BadInput(f'the date "{row["date"][:20]}" is not written as 2027-05-01') from None
    currency, deal = currency_of(row["currency"], "the show"), row["deal"].lower().replace(" ", "_")
    if deal not in DEALS:
        raise BadInput(f'the deal "{row["deal"][:30]}" is unknown; possible are {", ".join(DEALS)}')
    if missing := [column for column in DEALS[deal] if row[column] == ""]:
        raise BadInput(f"a {deal} deal needs {', '.join(missing)}; ask for it")
    if row["country"] not in plan["taxes"]:
        raise BadInput(f'no withholding tax is given for "{row["country"][:20]}"; ask, and enter the rate 0 if none applies')
    money = {column: parse_money(row[column] or "0", f"the {column}") for column in ("guarantee", "gross", "sales_tax", "deductions", "costs")}
    share = parse_rate(row["percentage"] or "0", "the percentage", 100) / 100
    if money["sales_tax"] > money["gross"]:
        raise BadInput("the sales tax is higher than the gross")
    net = money["gross"] - money["sales_tax"] - money["deductions"]
    part = {"guarantee": ZERO, "door": max(net, 0) * share, "versus": net * share, "versus_gross": (money["gross"] - money["sales_tax"]) * share,
            "plus": money["guarantee"] + max(net - money["guarantee"], 0) * share}[deal]
    show = {"row": number, "date": row["date"], "city": row["city"], "country": row["country"], "currency": currency, "deal": deal,
            "net_receipts": cents(net) if deal != "guarantee" else None, "fee": cents(max(money["guarantee"], part)), "costs": money["costs"]}
    if deal in ("versus", "versus_gross") and share > 0:
        base = cents(money["guarantee"] / share)
        show["percentage_wins_above_gross"] = base + money["sales_tax"] + (money["deductions"] if deal == "versus" else 0)
    return show


def calculate(shows, plan, factor=Decimal(1)):
    """Returns the shows with tax, commissions and result, and the sums by currency and in the plan's currency."""
    sums, done = {}, []

    def add(currency, key, amount):
        entry = sums.setdefault(currency, dict.fromkeys(("fees", "withholding_tax", "commissions", "show_costs", "tour_costs", "result"), ZERO))
        entry[key] += amount
        entry["result"] += amount if key == "fees" else -amount

    for show in shows:
        fee, costs = cents(show["fee"] * factor), show["costs"]
        rate, base, exempt, people = plan["taxes"][show["country"]]
        taxed = fee if base == "fee" else max(fee - costs, ZERO)
        tax = ZERO if exempt and fee / people <= exempt else cents(taxed * rate / 100)
        bases = {"fees": fee, "fees_after_tax": fee - tax, "fees_less_show_costs": max(fee - costs, ZERO)}
        paid = {}
        for entry in plan["commissions"]:
            if entry["base"] in bases:
                paid[entry["name"]] = cents(max(bases[entry["base"]] - sum(paid[name] for name in entry["after"]), ZERO) * entry["rate"] / 100)
        total = sum(paid.values(), ZERO)
        for key, amount in (("fees", fee), ("withholding_tax", tax), ("commissions", total), ("show_costs", costs)):
            add(show["currency"], key, amount)
        done.append({**show, "fee": fee, "withholding_tax": tax, "commissions": paid, "result": fee - tax - total - costs})
    for _, currency, amount in plan["costs"]:
        add(currency, "tour_costs", amount)
    missing = sorted(set(sums) - set(plan["rates"]))
    total, on_result = None, {}
    if not missing:
        total = {key: sum((cents(entry[key] * plan["rates"][currency]) for currency, entry in sums.items()), ZERO) for key in ("fees", "withholding_tax", "commissions", "show_costs", "tour_costs")}
        before = total["fees"] - sum(amount for key, amount in total.items() if key != "fees")
        for entry in plan["commissions"]:
            if entry["base"] == "net_result":
                earlier = sum((on_result.get(name, ZERO) for name in entry["after"]), ZERO)
                on_result[entry["name"]] = cents(max(before - earlier, ZERO) * entry["rate"] / 100)
        total["commissions_on_result"] = sum(on_result.values(), ZERO)
        total["result"] = before - total["commissions_on_result"]
    return done, sums, total, on_result, missing


def break_even(shows, plan):
    """Returns the smallest share of the planned fees, in steps of 0.01 %, at which the result is not negative."""
    def loses(hundredths):
        return calculate(shows, plan, Decimal(hundredths) / 10_000)[2]["result"] < 0

    low, high = 0, MAX_FACTOR
    if not any(show["fee"] for show in shows) or loses(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if loses(middle) else (low, middle)
    total = calculate(shows, plan, Decimal(low) / 10_000)[2]
    return {"percent_of_planned_fees": Decimal(low) / 100, "fees": total["fees"], "result": total["result"]}


def markdown(result):
    def cell(text):
        return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", re.sub(r"\s+", " ", str(text)))

    lines = ["# Tour budget", "", "| Row | Date | City | Country | Deal | Currency | Fee | Tax | Commissions | Costs | Result |", "|---:|---|---|---|---|---|---:|---:|---:|---:|---:|"]
    for s in result["shows"]:
        cells = (s["row"], s["date"], s["city"], s["country"], s["deal"], s["currency"], s["fee"], s["withholding_tax"], sum(s["commissions"].values(), ZERO), s["costs"], s["result"])
        lines.append("| " + " | ".join(cell(c) for c in cells) + " |")
    lines += ["", f"Complete: {'yes' if result['complete'] else 'no'}", ""] + [f"- Row {p['row']}: {cell(p['problem'])}" for p in result["problems"]]
    groups = [*result["by_currency"].items()] + ([(f"Total in {result['currency']}", result["total"])] if result["total"] else [])
    lines += [f"- {name}: " + ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in group.items()) for name, group in groups]
    if result["missing_rates"]:
        lines.append(f"- No total: there is no rate for {', '.join(result['missing_rates'])}.")
    if result["break_even"]:
        lines.append(f"- Break-even at {result['break_even']['percent_of_planned_fees']} % of the planned fees.")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", required=True, help="JSON file: currency, rates, tour_costs, per_diem, withholding, commissions")
    parser.add_argument("--file-name", default="standard input")
    parser.add_argument("--format", choices=("json", "markdown"), default="json")
    args = parser.parse_args()
    rows, plan = read_shows(sys.stdin.buffer.read(), args.file_name), read_plan(args.plan)
    shows, problems = [], []
    for number, row in rows:
        try:
            shows.append(read_show(number, row, plan))
        except BadInput as error:
            problems.append({"row": number, "problem": str(error)})
    done, sums, total, on_result, missing = calculate(shows, plan)
    listed = {"shows": done[:MAX_LISTED], "problems": problems[:MAX_LISTED], "omitted": max(0, len(done) - MAX_LISTED) + max(0, len(problems) - MAX_LISTED)}
    result = {"file": args.file_name, "currency": plan["currency"], "complete": not problems and not missing, "missing_rates": missing, **listed,
              "tour_costs": [{"name": name, "currency": currency, "amount": amount} for name, currency, amount in plan["costs"]],
              "by_currency": sums, "total": total, "commissions_on_result": on_result,
              "rates": {code: rate for code, rate in plan["rates"].items() if code in sums},
              "break_even": break_even(shows, plan) if total and shows else None,
              "formulas": {deal: FORMULAS[deal] for deal in dict.fromkeys(show["deal"] for show in shows)} | {entry["name"]: f"{entry['rate']} % of {BASES[entry['base']]}" + (f", after {', '.join(entry['after'])}" if entry["after"] else "") for entry in plan["commissions"]},
              "rounding": "each amount to cents, half to even; each sum of a currency is converted and rounded on its own"}
    print(json.dumps(result, ensure_ascii=False, indent=1, default=str) if args.format == "json" else markdown(result), end="\n" if args.format == "json" else "")


run(main)
