"""Checks a set list before a claim, and calculates the last day of each society's period.

Standard input: CSV with one row per work played. --event: JSON file about the performance.
Standard output: JSON, a Markdown claim sheet, or CSV with inert cells.
"""

import argparse
import calendar
import csv
import io
import json
import re
import sys
from datetime import date, timedelta
from pathlib import Path

from table import BadInput, decode, run

MAX_ROWS = 2_000
MAX_LISTED = 200
COLUMNS = {
    "title": ("title", "song", "work", "work title", "titel", "werk"),
    "writers": ("writers", "writer", "composer", "composers", "songwriters", "komponist", "urheber"),
    "iswc": ("iswc",),
    "work_number": ("work number", "work_number", "work no", "tunecode", "prs work number", "werknummer"),
    "duration": ("duration", "length", "time", "dauer"),
    "note": ("note", "notes", "remark"),
}
EVENT_KEYS = ("date", "act", "venue", "address", "country", "promoter", "role", "venue_size", "set_minutes")
PRS_HELP = "https://www.prsformusic.com/help/how-long-do-i-have-to-report-a-live-performance"
PRS_NEWS = "https://www.prsformusic.com/members-news/when-do-i-need-to-report-my-setlists-by"
PRS_AGENCY = ("BM", "BS", "CY", "GI", "MT")
NORTH_AMERICA = ("US", "CA", "MX")


def read_works(data, name):
    text = decode(data)[0]
    if not text.strip(" \t\r\n,;") or "\x00" in text:
        raise BadInput(f"{name} is empty or not a CSV file: it needs a heading row and one row per work.")
    text = text.lstrip("\r\n")
    delimiter = max((",", ";", "\t"), key=text.split("\n", 1)[0].count)
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise BadInput(f"{name} is not a CSV file: {error}.") from None
    heading = [cell.strip().lower() for cell in lines[0]]
    places = {column: next((n for n, cell in enumerate(heading) if cell in names), None) for column, names in COLUMNS.items()}
    if places["title"] is None or places["writers"] is None:
        raise BadInput(f"{name} needs the columns title and writers; its heading is: {', '.join(heading)[:300]}.")
    rows = [
        (number, {column: line[place].strip() if place is not None and place < len(line) else "" for column, place in places.items()})
        for number, line in enumerate(lines[1:], start=2)
        if any(cell.strip() for cell in line)
    ]
    if not rows or len(rows) > MAX_ROWS:
        raise BadInput(f"{name} has {len(rows)} works; a set list has 1 to {MAX_ROWS}.")
    return rows


def check_iswc(text):
    """Returns the ISWC as T-123.456.789-C, or the problem. C = (10 - (1 + sum of i * digit i) mod 10) mod 10."""
    digits = re.sub(r"[\s.\-]", "", text).upper()
    if not re.fullmatch(r"T[0-9]{10}", digits):
        return None, f'the ISWC "{text[:30]}" is not T with ten digits'
    total = 1 + sum(place * int(digit) for place, digit in enumerate(digits[1:10], start=1))
    expected = (10 - total % 10) % 10
    if int(digits[10]) != expected:
        return None, f"the check digit of the ISWC {text[:30]} is wrong; look the work up at the society"
    return f"T-{digits[1:4]}.{digits[4:7]}.{digits[7:10]}-{digits[10]}", None


def check_duration(text):
    """Returns the seconds, or the problem."""
    match = re.fullmatch(r"(?:([0-9]{1,2}):)?([0-9]{1,3}):([0-5][0-9])", text)
    if not match or (match[1] and int(match[2]) > 59):
        return None, f'the duration "{text[:30]}" is not written as 3:45 or 1:02:30'
    seconds = int(match[1] or 0) * 3600 + int(match[2]) * 60 + int(match[3])
    return (seconds, None) if 0 < seconds <= 6 * 3600 else (None, f"the duration {text} is not plausible for a work")


def check_works(rows):
    works, problems, warnings, seen = [], [], [], {}
    for number, cells in rows:
        issues = [f"the {column} is a spreadsheet formula" for column, cell in cells.items() if cell.startswith("=")]
        remarks = []
        work = {"row": number, "title": cells["title"], "writers": [w.strip() for w in re.split(r"[;|]| / ", cells["writers"]) if w.strip()]}
        if not work["title"]:
            issues.append("the title is missing")
        if not work["writers"]:
            issues.append("the writers are missing (also for a cover or a traditional)")
        if cells["iswc"]:
            work["iswc"], issue = check_iswc(cells["iswc"])
            issues += [issue] if issue else []
        if cells["work_number"]:
            work["work_number"] = cells["work_number"]
        if not cells["iswc"] and not cells["work_number"]:
            remarks.append("neither ISWC nor work number; search the society's database")
        if cells["duration"]:
            work["seconds"], issue = check_duration(cells["duration"])
            issues += [issue] if issue else []
        else:
            remarks.append("the duration is missing")
        if cells["note"]:
            work["note"] = cells["note"]
        key = cells["title"].casefold()
        if key and key in seen:
            remarks.append(f"the same title as in row {seen[key]}; confirm that it was played twice")
        seen.setdefault(key, number)
        works.append(work)
        problems += [{"row": number, "problem": issue} for issue in issues]
        warnings += [{"row": number, "warning": remark} for remark in remarks]
    return works, problems, warnings


def read_event(path):
    try:
        event = json.loads(decode(Path(path).read_bytes())[0])
    except OSError:
        raise BadInput(f"{path} cannot be opened.") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{path} is not JSON.") from None
    if not isinstance(event, dict):
        raise BadInput(f"{path} must be a JSON object.")
    return {key: event[key] for key in EVENT_KEYS if key in event}


def check_event(event, today):
    """Returns the date of the performance and the problems of the event."""
    problems = []
    for key, label in (("venue", "the venue"), ("address", "the address of the venue"), ("country", "the country"), ("promoter", "the promoter"), ("act", "the act")):
        if not isinstance(event.get(key), str) or not event[key].strip():
            problems.append({"row": None, "problem": f"{label} is missing (\"{key}\")"})
    if event.get("role") not in ("headliner", "support"):
        problems.append({"row": None, "problem": 'the role must be "headliner" or "support"'})
    if event.get("venue_size") not in ("small", "concert"):
        problems.append({"row": None, "problem": 'the venue_size must be "small" (pub, bar, small venue) or "concert"; ask, because the period depends on it'})
    if not re.fullmatch(r"[A-Z]{2}", str(event.get("country", ""))):
        problems.append({"row": None, "problem": "the country must be two letters, such as GB"})
    played = parse_date(str(event.get("date", "")), "the date of the event")
    if played > today:
        problems.append({"row": None, "problem": f"the performance on {played} has not taken place yet"})
    return played, problems


def parse_date(text, what):
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) or not 1990 <= int(text[:4]) <= 2100:
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput(f'{what} is "{text[:40]}"; write a date that exists as 2026-11-25.') from None


def add_months(day, months):
    """Returns the same day of a later month, or the last day of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def quarter_deadline(day):
    """Returns the end of the quarter after the quarter of the performance."""
    start = date(day.year, (day.month - 1) // 3 * 3 + 1, 1)
    return add_months(start, 6) - timedelta(days=1)


def rules_for(society, country, size, played):
    """Returns (rule, last day or None, source) for each public statement."""
    if society == "PRS":
        if country == "US":
            return [("a US society (ASCAP, BMI or SESAC) pays for the US; ask PRS which one represents the member", None, PRS_HELP),
                    ("excludes North America and refers to ASCAP, BMI and SESAC", None, PRS_NEWS)]
        if country == "GB" or country in PRS_AGENCY:
            months, what = (12, "small venue: 12 months") if size == "small" else (36, "larger concert venue: three years")
            news = [(what, add_months(played, months), PRS_NEWS)] if country == "GB" else []
            return [(what + ("" if country == "GB" else ", PRS agency territory"), add_months(played, months), PRS_HELP)] + news
        news = ("excludes North America without another period", None, PRS_NEWS) if country in NORTH_AMERICA else ("international concert: three years", add_months(played, 36), PRS_NEWS)
        return [("overseas except the US and agency territories: two years", add_months(played, 24), PRS_HELP), news]
    if society == "ASCAP":
        rule = "OnStage, by quarter: the end of the following quarter, as a distributor's blog lists it; US venues only"
        return [(rule, quarter_deadline(played) if country == "US" else None, "https://diymusician.cdbaby.com/music-rights/missing-live-performance-royalties/")]
    if society == "BMI":
        return [("BMI Live: concerts of the previous six months; US venues only", add_months(played, 6) if country == "US" else None, "https://bmi.com/bmilive")]
    if society == "GEMA":
        return [("set list at the latest six months after the concert, as a page for organizers states; venues in Germany only", add_months(played, 6) if country == "DE" else None, "https://gema.de/help/users/use-music/branches-more")]
    if society == "SOCAN":
        return [("Notification of Live Music Performance: set lists of the past year; venues in Canada only", add_months(played, 12) if country == "CA" else None, "http://www.socan.com/get-set-get-paid/")]
    return [("no public period is known to this skill", None, None)]


def deadlines(societies, event, played, today):
    listed = []
    for society in societies:
        rules = rules_for(society, str(event.get("country")), event.get("venue_size"), played)
        days = {day for _, day, _ in rules if day}
        first = min(days) if days else None
        listed.append({
            "society": society,
            "statements": [{"rule": rule, "last_day": day.isoformat() if day else None, "source": source} for rule, day, source in rules],
            "sources_agree": len(days) <= 1 and not (days and any(day is None for _, day, _ in rules)),
            "plan_for": first.isoformat() if first else None,
            "days_left": (first - today).days if first else None,
            "status": "unknown" if first is None else "passed" if first < today else "open",
            "ask": f"Ask {society} for the period that applies to this performance; this calculation is no promise.",
        })
    return listed


def inert(cell):
    return "'" + cell if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


def clock(seconds):
    return f"{seconds // 60}:{seconds % 60:02d}" if seconds else ""


def as_csv(works):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("title", "writers", "iswc", "work number", "duration", "note"))
    for w in works:
        cells = (w["title"], "; ".join(w["writers"]), w.get("iswc") or "", w.get("work_number", ""), clock(w.get("seconds")), w.get("note", ""))
        writer.writerow([inert(cell) for cell in cells])
    return out.getvalue()


def as_markdown(result):
    def cell(text):
        return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", re.sub(r"\s+", " ", str(text or "")))

    lines = ["# Set list", ""] + [f"- {key}: {cell(value)}" for key, value in result["event"].items()]
    lines += ["", "| # | Title | Writers | ISWC | Work number | Duration |", "|---:|---|---|---|---|---|"]
    for n, w in enumerate(result["works"], start=1):
        lines.append(f"| {n} | " + " | ".join(cell(c) for c in (w["title"], "; ".join(w["writers"]), w.get("iswc"), w.get("work_number"), clock(w.get("seconds")))) + " |")
    lines += ["", "| Society | Statement | Last day | Source |", "|---|---|---|---|"]
    lines += [f"| {d['society']} | {cell(s['rule'])} | {s['last_day'] or 'ask'} | {s['source'] or 'none'} |" for d in result["deadlines"] for s in d["statements"]]
    findings = [(p["row"], p["problem"]) for p in result["problems"]] + [(w["row"], w["warning"]) for w in result["warnings"]]
    return "\n".join(lines + [""] + [f"- {f'Row {row}: ' if row else ''}{cell(text)}" for row, text in findings]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--event", required=True, help=f"JSON file: {', '.join(EVENT_KEYS)}")
    parser.add_argument("--society", default="", help="societies of the writers, such as PRS,ASCAP")
    parser.add_argument("--today", default=date.today().isoformat())
    parser.add_argument("--file-name", default="standard input")
    parser.add_argument("--format", choices=("json", "markdown", "csv"), default="json")
    args = parser.parse_args()
    today = parse_date(args.today, "--today")
    works, problems, warnings = check_works(read_works(sys.stdin.buffer.read(), args.file_name))
    event = read_event(args.event)
    played, event_problems = check_event(event, today)
    problems = event_problems + problems
    total = sum(work.get("seconds") or 0 for work in works)
    minutes = event.get("set_minutes")
    if not isinstance(minutes, int) or isinstance(minutes, bool) or not 1 <= minutes <= 1440:
        problems.append({"row": None, "problem": "set_minutes must be the duration of the set in whole minutes, 1 to 1440"})
    elif total > minutes * 60:
        problems.append({"row": None, "problem": f"the works last {clock(total)}, longer than the set of {minutes} minutes"})
    societies = [name.strip().upper() for name in args.society.split(",") if name.strip()]
    result = {"file": args.file_name, "event": event, "ready": not problems, "works_count": len(works), "works_seconds": total, "works": works,
              "problems": problems[:MAX_LISTED], "warnings": warnings[:MAX_LISTED], "deadlines": deadlines(societies, event, played, today),
              "counting": "the same day of a later month, or the last day of a shorter month; the societies do not publish how they count, so send it earlier",
              "omitted": max(0, len(problems) - MAX_LISTED) + max(0, len(warnings) - MAX_LISTED)}
    if args.format == "csv":
        sys.stdout.write(as_csv(works))
    elif args.format == "markdown":
        sys.stdout.write(as_markdown(result))
    else:
        result["omitted"] += max(0, len(works) - MAX_LISTED)
        print(json.dumps(result | {"works": works[:MAX_LISTED]}, ensure_ascii=False, indent=1))


run(main)
