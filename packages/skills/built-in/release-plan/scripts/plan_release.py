"""Calculates the dates of a release from its release date, lead times and holidays.

Standard input: optional CSV with further tasks or changed lead times. Standard output: JSON or Markdown.
A date before the release that falls on a day off moves to the working day before it, one after the
release to the working day after it. The release date itself is never moved.
"""

import argparse
import csv
import io
import json
import re
import sys
from datetime import date, timedelta
from pathlib import Path

from table import BadInput, decode, run

MAX_ROWS = 500
MAX_DAYS = 730
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
KINDS = ("required", "practice")
NO_SOURCE = "common practice, no source"
# id, task, days (negative: before the release), unit, kind, source
DEFAULTS = (
    ("splits", "Split sheets signed, samples cleared, credits and metadata complete", -35, "calendar", "practice", NO_SOURCE),
    ("delivery", "Deliver audio, artwork and metadata to the distributor", -28, "calendar", "practice", "https://help.kudosdistribution.co.uk/kb/lead-times/"),
    ("apple-pitch", "Pitch to Apple Music through the distributor", -28, "calendar", "practice", "https://helpdesk.revelator.com/support/solutions/articles/69000816092-editorial-pitching"),
    ("announcement", "Announce the release, with pre-save or pre-add links", -21, "calendar", "practice", NO_SOURCE),
    ("spotify-visible", "Check that the track is under Upcoming in Spotify for Artists", -21, "calendar", "practice", "https://dynamoi.com/learn/guides/how-to-pitch-to-spotify-editorial-playlists"),
    ("spotify-pitch", "Pitch one unreleased track to Spotify (the recommended date)", -14, "calendar", "practice", "https://dynamoi.com/learn/guides/how-to-pitch-to-spotify-editorial-playlists"),
    ("amazon-pitch", "Pitch to Amazon Music (not confirmed on a page of Amazon)", -14, "calendar", "practice", "https://artistrack.com/universal-music-release-calendar"),
    ("spotify-latest", "Last date to pitch one unreleased track to Spotify", -7, "calendar", "required", "https://artists.spotify.com (at least 7 days before the release)"),
    ("apple-pre-add", "Last date for the pre-order metadata of an Apple Music pre-add", -1, "calendar", "required", "https://itunespartner.apple.com/music/articles/music-pre-releases-3364"),
    ("registration", "Register the works with the society and the recordings with the neighbouring-rights society", 7, "calendar", "practice", NO_SOURCE),
)


def read_csv(data, name, required):
    """Returns (row number, {heading: text}) for each row that is not empty."""
    text = decode(data)[0].strip("\r\n")
    if "\x00" in text:
        raise BadInput(f"{name} is not a CSV file.")
    delimiter = max((",", ";", "\t"), key=text.split("\n", 1)[0].count)
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise BadInput(f"{name} is not a CSV file: {error}.") from None
    heading = [cell.strip().lower() for cell in lines[0]] if lines else []
    if missing := [column for column in required if column not in heading]:
        raise BadInput(f"{name} needs the columns {', '.join(required)}; missing: {', '.join(missing)}.")
    empty = dict.fromkeys(heading, "")
    rows = [(n, empty | dict(zip(heading, (cell.strip() for cell in line)))) for n, line in enumerate(lines[1:], 2) if any(cell.strip() for cell in line)]
    if len(rows) > 20 * MAX_ROWS:
        raise BadInput(f"{name} has {len(rows)} rows, more than {20 * MAX_ROWS}.")
    return rows


def parse_date(text, what):
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            raise ValueError
        day = date.fromisoformat(text)
    except ValueError:
        raise BadInput(f'{what} is "{text[:40]}"; write a date that exists as 2027-03-12.') from None
    if not 2000 <= day.year <= 2100:
        raise BadInput(f"{what} is {day}; the year must be from 2000 to 2100.")
    return day


def read_holidays(path, territories):
    """Returns {date: [names]} of the territories, and the territories without a single holiday."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        raise BadInput(f"{path} cannot be opened.") from None
    holidays, seen = {}, set()
    for number, row in read_csv(data, path, ("date", "territory", "name")):
        territory = row["territory"].upper()
        day = parse_date(row["date"], f"{path}, row {number}: the date")
        seen.add(territory)
        if territory in territories:
            holidays.setdefault(day, []).append(f"{row.get('name', '')} ({territory})")
    return holidays, sorted(territories - seen)


def read_tasks(data, name):
    """Returns the default tasks, changed and completed by the rows of the CSV."""
    fields = ("id", "task", "days", "unit", "kind", "source")
    tasks = {task[0]: dict(zip(fields, task)) | {"row": None} for task in DEFAULTS}
    if not decode(data)[0].strip():
        return list(tasks.values())
    rows = read_csv(data, name, ("id", "days"))
    if len(rows) > MAX_ROWS:
        raise BadInput(f"{name} has {len(rows)} tasks, more than {MAX_ROWS}.")
    seen = set()
    for number, row in rows:
        where = f"{name}, row {number}"
        task_id, days = row["id"], row.get("days", "")
        if any(cell.startswith("=") for cell in row.values()):
            raise BadInput(f"{where} has a spreadsheet formula; enter its value.")
        if not task_id or task_id in seen:
            raise BadInput(f'{where}: the id "{task_id[:40]}" is empty or used twice.')
        seen.add(task_id)
        if days.lower() == "none":
            tasks.pop(task_id, None)
            continue
        if not re.fullmatch(r"[-+]?\d{1,4}", days) or abs(int(days)) > MAX_DAYS:
            raise BadInput(f'{where}: days is "{days[:40]}"; write a whole number from -{MAX_DAYS} to {MAX_DAYS}, negative before the release, or none.')
        task = tasks.get(task_id, {"id": task_id, "task": task_id, "unit": "calendar", "kind": "practice", "source": "given by the user"})
        task |= {key: row[key] for key in ("task", "unit", "kind", "source") if row.get(key)} | {"days": int(days), "row": number}
        if not row.get("source"):
            task["source"] = "given by the user"
        if task["unit"] not in ("calendar", "working") or task["kind"] not in KINDS:
            raise BadInput(f"{where}: unit must be calendar or working, and kind must be required or practice.")
        tasks[task_id] = task
    return list(tasks.values())


class Calendar:
    def __init__(self, weekend, holidays):
        self.weekend = weekend
        self.holidays = holidays

    def day_off(self, day):
        """Returns why a day is off, or an empty text."""
        if WEEKDAYS[day.weekday()] in self.weekend:
            return "weekend"
        return ", ".join(self.holidays.get(day, []))

    def step(self, day, direction):
        """Returns the day or the nearest working day in a direction, and why it moved."""
        reasons = []
        for _ in range(MAX_DAYS):
            reason = self.day_off(day)
            if not reason:
                return day, "; ".join(dict.fromkeys(reasons))
            reasons.append(reason)
            day += timedelta(days=direction)
        raise BadInput("The holidays leave no working day.")

    def due(self, release, task):
        """Returns the date by count, the date as moved, and why it moved."""
        days, direction = task["days"], 1 if task["days"] > 0 else -1
        if task["unit"] == "calendar" or days == 0:
            counted = release + timedelta(days=days)
        else:
            counted = release
            for _ in range(abs(days)):
                counted, _ = self.step(counted + timedelta(days=direction), direction)
        moved, reason = self.step(counted, direction) if days else (counted, "")
        return counted, moved, reason


def earliest(calendar, tasks, today, weekday):
    """Returns the first release date on the weekday whose dates are all still ahead."""
    ahead = [task for task in tasks if task["days"] < 0]
    for offset in range(4 * MAX_DAYS):
        day = today + timedelta(days=offset)
        if day.weekday() == weekday and not calendar.holidays.get(day) and all(calendar.due(day, task)[1] >= today for task in ahead):
            return day
    raise BadInput("No release date was found that keeps all lead times.")


def plan(release, today, tasks, calendar, weekday):
    entries, warnings = [], []
    for task in tasks:
        counted, due, reason = calendar.due(release, task)
        left = (due - today).days
        status = "passed" if left < 0 else "today" if left == 0 else "ahead"
        entry = {"id": task["id"], "date": due.isoformat(), "weekday": WEEKDAYS[due.weekday()], "task": task["task"], "kind": task["kind"],
                 "days": task["days"], "unit": task["unit"], "source": task["source"], "status": status, "days_left": left, "row": task["row"]}
        if due != counted:
            entry["moved_from"], entry["moved_because"] = counted.isoformat(), reason
        entries.append(entry)
        if status == "passed":
            warnings.append(f"{'REQUIRED: ' if task['kind'] == 'required' else ''}{task['task']}: the date {due} has passed {-left} days ago.")
    entries.append({"id": "release", "date": release.isoformat(), "weekday": WEEKDAYS[release.weekday()], "task": "Release", "kind": "given", "days": 0,
                    "unit": "calendar", "source": "given by the user", "status": "passed" if release < today else "today" if release == today else "ahead", "days_left": (release - today).days, "row": None})
    entries.sort(key=lambda entry: (entry["date"], entry["days"], entry["id"]))
    if release < today:
        warnings.append(f"The release date {release} has passed.")
    if release.weekday() != weekday:
        warnings.append(f"The release date is a {WEEKDAYS[release.weekday()]}, not a {WEEKDAYS[weekday]}. Friday is the global release day by practice, not by law.")
    if calendar.holidays.get(release):
        warnings.append(f"The release date is a holiday: {', '.join(calendar.holidays[release])}. It was not moved.")
    return entries, warnings


def markdown(result):
    def cell(text):
        return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", re.sub(r"\s+", " ", str(text)))

    lines = [f"# Release plan for {result['release']} (as of {result['today']})", "", "| Date | Day | Task | Kind | Status | Moved | Source |", "|---|---|---|---|---|---|---|"]
    for e in result["dates"]:
        moved = f"from {e['moved_from']}: {e['moved_because']}" if "moved_from" in e else ""
        lines.append("| " + " | ".join(cell(c) for c in (e["date"], e["weekday"], e["task"], e["kind"], e["status"], moved, e["source"])) + " |")
    return "\n".join(lines + [""] + [f"- Warning: {cell(w)}" for w in result["warnings"]]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", required=True, help="release date, such as 2027-03-12")
    parser.add_argument("--today", default=date.today().isoformat())
    parser.add_argument("--holidays", help="CSV with the columns date, territory, name")
    parser.add_argument("--territories", default="", help="territories whose holidays count, such as DE,GB")
    parser.add_argument("--weekend", default="sat,sun")
    parser.add_argument("--release-weekday", default="fri", choices=WEEKDAYS)
    parser.add_argument("--file-name", default="standard input")
    parser.add_argument("--format", choices=("json", "markdown"), default="json")
    args = parser.parse_args()
    release, today = parse_date(args.release, "--release"), parse_date(args.today, "--today")
    weekend = {day.strip().lower() for day in args.weekend.split(",") if day.strip()}
    if not weekend <= set(WEEKDAYS) or len(weekend) > 6:
        raise BadInput(f"--weekend is a list of {', '.join(WEEKDAYS)}, at most six.")
    territories = {name.strip().upper() for name in args.territories.split(",") if name.strip()}
    if bool(args.holidays) != bool(territories):
        raise BadInput("--holidays and --territories are needed together.")
    holidays, unknown = read_holidays(args.holidays, territories) if args.holidays else ({}, [])
    calendar, weekday = Calendar(weekend, holidays), WEEKDAYS.index(args.release_weekday)
    tasks = read_tasks(sys.stdin.buffer.read(), args.file_name)
    dates, warnings = plan(release, today, tasks, calendar, weekday)
    warnings += [f"No holidays are given for {name}." for name in unknown]
    if not holidays:
        warnings.append("No holidays are given: only weekends count as days off.")
    required = [task for task in tasks if task["kind"] == "required"]
    result = {"release": release.isoformat(), "today": today.isoformat(), "territories": sorted(territories), "weekend": sorted(weekend), "dates": dates, "warnings": warnings,
              "earliest_release": {"keeping_required": earliest(calendar, required, today, weekday).isoformat(), "keeping_all": earliest(calendar, tasks, today, weekday).isoformat()}}
    print(json.dumps(result, ensure_ascii=False, indent=1) if args.format == "json" else markdown(result), end="\n" if args.format == "json" else "")


run(main)
