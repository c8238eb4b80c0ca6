"""Checks a release's metadata (CSV or JSON on standard input) against published style rules, as JSON or Markdown."""

import argparse
import datetime
import json
import re
import unicodedata

from rules import RULES, SOURCES
from table import (
    BadInput, Findings, Table, column_indexes, decode, header_key, normalize_isrc, read_input, run, safe_cell, upc_problem,
)

MAX_TRACKS = 2000
COLUMNS = {
    "release_title": "release title|album|album title|release|product title", "release_artist": "release artist|album artist",
    "upc": "upc|ean|barcode|upc/ean", "release_date": "release date|date",
    "original_release_date": "original release date", "title": "track title|title|song title|track name",
    "version": "version|mix version|track version|title version", "artist": "artist|primary artist|track artist|main artist",
    "featured": "featured artist|featured artists|featuring|featured", "remixer": "remixer|remixers", "isrc": "isrc|isrc code",
    "explicit": "explicit|parental advisory|advisory", "language": "language|metadata language|title language",
    "writers": "writers|writer|composer|composers|songwriter|songwriters", "producers": "producer|producers",
}
VERSION = (r"((?:\w+ ){0,3}(?:remix|radio edit|edit|live|acoustic|instrumental|remaster(?:ed)?|extended(?: mix)?|demo|"
           r"club mix|dub|a cappella|version|deluxe(?: edition)?)(?: at [\w ]{1,40})?)")
PATTERNS = {
    "explicit_in_title": r"(?:[(\[]|\s[–-]\s)\s*(explicit|clean)(\s+version)?\s*[)\]]?\s*$",
    "unneeded_version": r"\b(original mix|album version|original version)\b",
    "promotion_in_title": r"\b(exclusive|limited edition|official (audio|video|music video)|now streaming|out now)\b",
    "producer_in_title": r"\bprod(\.|uced by\b| by\b)",
    "generic_title": r"^(track|song|titel|pista)\s*\d+$",
}
FEATURED = re.compile(r"\b(?:feat|ft|featuring)\b\.?", re.IGNORECASE)
FEATURED_FORM = re.compile(r"[(\[](?:feat\.|with) [^()\[\]]+[)\]]")
COMPOUND = re.compile(r"\s(?:x|feat\.?|ft\.?|featuring|vs\.?)\s|\s&\s|,\s", re.IGNORECASE)
SCRIPTS = {"ru": "CYRILLIC", "uk": "CYRILLIC", "bg": "CYRILLIC", "el": "GREEK", "ja": "HIRAGANA KATAKANA CJK", "zh": "CJK",
           "ko": "HANGUL", "ar": "ARABIC", "fa": "ARABIC", "ur": "ARABIC", "he": "HEBREW", "hi": "DEVANAGARI", "th": "THAI"}
PEOPLE = (("artist", "primary"), ("featured", "featuring"), ("remixer", "remixer"), ("writers", "writer"),
          ("producers", "producer"))
WRITER_ROLES = {"composer", "lyricist", "writer", "songwriter", "author"}


def text_of(value):
    return value.strip() if isinstance(value, str) else "" if value is None else str(value)


def script_of(char):
    return unicodedata.name(char, "?").split()[0] if char.isalpha() else ""


def split_names(text):
    return [name.strip() for name in re.split(r"[;|]", text) if name.strip()]


class Checker:
    def __init__(self):
        self.findings = Findings()

    def report(self, rule, where, value="", note=""):
        severity, source, message = RULES[rule]
        self.findings.add(rule, **where, value=safe_cell(text_of(value)[:90]), **({"note": note} if note else {}),
                          severity=severity, rule_text=message, source=SOURCES[source])

    def title(self, item, where, primary):
        title, version = text_of(item.get("title")), text_of(item.get("version"))
        if not title:
            self.report("title_missing", where)
            return
        for rule, pattern in PATTERNS.items():
            for text in (title, version):
                if re.search(pattern, text, re.IGNORECASE):
                    self.report(rule, where, text)
        plain_explicit = re.search(PATTERNS["explicit_in_title"], title, re.IGNORECASE)
        if not plain_explicit and re.search(rf"(?:[(\[]|\s[–-]\s){VERSION}[)\]]?\s*$", title, re.IGNORECASE):
            self.report("version_in_title", where, title)
        if FEATURED.search(f"{title} {version}"):
            roles = {artist["role"] for artist in item["artists"]}
            self.report("featured_in_title", where, title)
            if not roles & {"featuring", "with"}:
                self.report("featured_role_missing", where, title)
            if not FEATURED_FORM.search(f"{title} {version}"):
                self.report("featured_format", where, title)
        if any(title.casefold().startswith((f"{name} - ".casefold(), f"{name} – ".casefold())) for name in primary):
            self.report("artist_in_title", where, title)
        letters = [char for char in title if char.isalpha()]
        if len(letters) > 3 and (title.isupper() or title.islower()):
            self.report("capitalization", where, title)
        for word in re.findall(r"\w+", title):
            scripts = {script_of(char) for char in word} - {"", "?"}
            if len(scripts & {"LATIN", "CYRILLIC", "GREEK"}) > 1:
                self.report("mixed_scripts", where, title, "letters of " + ", ".join(sorted(scripts)) + " in one word")
        language = text_of(item.get("language"))
        if not language:
            self.report("language_missing", where)
        elif not re.fullmatch(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?", language):
            self.report("language_code", where, language)
        elif (expected := SCRIPTS.get(language[:2])) and letters and "-Latn" not in language:
            if not any(script_of(char) in expected.split() for char in letters):
                self.report("script_differs", where, title, f"language {language}")

    def artists(self, artists, where):
        primary = [artist["name"] for artist in artists if artist["role"] == "primary"]
        if not primary:
            self.report("primary_missing", where)
        featured = {artist["name"].casefold() for artist in artists if artist["role"] in ("featuring", "with")}
        for name in primary:
            if name.casefold() in featured:
                self.report("primary_is_featured", where, name)
            if name.casefold() in ("various artists", "various"):
                self.report("various_artists", where, name)
        for artist in artists:
            if artist["role"] in ("primary", "featuring", "with") and COMPOUND.search(artist["name"]):
                self.report("compound_artist", where, artist["name"])
        return primary

    def date(self, text, where):
        try:
            if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
                return datetime.date.fromisoformat(text)
        except ValueError:
            pass
        self.report("date_format", where, text)
        return None

    def artwork(self, artwork):
        where = {"field": "artwork"}
        width, height = artwork.get("width"), artwork.get("height")
        if not all(isinstance(side, int) and not isinstance(side, bool) for side in (width, height)):
            self.report("artwork_facts_missing", where, "", "width and height must be numbers of pixels")
        else:
            if width != height:
                self.report("artwork_square", where, f"{width} x {height}")
            if min(width, height) < 3000:
                self.report("artwork_size", where, f"{width} x {height}")
        if (kind := text_of(artwork.get("format")).lower()) and kind not in ("jpg", "jpeg", "png"):
            self.report("artwork_format", where, kind)
        if (color := text_of(artwork.get("color")).upper()) and color != "RGB":
            self.report("artwork_color", where, color)
        if re.search(r"https?:|www\.|\.(com|net|org|io|de|co)\b|@\w|\bexclusive\b|\blimited edition\b|[$€£]\s?\d",
                     text_of(artwork.get("text")), re.IGNORECASE):
            self.report("artwork_text", where, artwork["text"])

    def release(self, release, catalog):
        where = {"field": "release"}
        primary = self.artists(release["artists"], where)
        self.title(release, where, primary)
        if problem := upc_problem(text_of(release.get("upc"))) if text_of(release.get("upc")) else None:
            self.report("upc", where, release["upc"], problem[1])
        dates = [self.date(text_of(release.get(field)), {"field": field}) if text_of(release.get(field)) else None
                 for field in ("release_date", "original_release_date")]
        if not text_of(release.get("release_date")):
            self.report("date_missing", {"field": "release_date"})
        if all(dates) and dates[1] > dates[0]:
            self.report("original_date_later", {"field": "original_release_date"}, release["original_release_date"])
        if isinstance(release.get("artwork"), dict):
            self.artwork(release["artwork"])
        tracks, titles, codes = release["tracks"], {}, dict(catalog)
        if len(tracks) == 1:
            album = re.sub(r" - Single$", "", text_of(release.get("title")))
            if album and text_of(tracks[0].get("title")) and album != text_of(tracks[0]["title"]):
                self.report("single_title_differs", where, release["title"], f"track: {tracks[0]['title']}"[:90])
        advisories = [text_of(track.get("explicit")).lower() for track in tracks]
        for number, track in enumerate(tracks, 1):
            where = {"track": number, **({"row": track["row"]} if "row" in track else {})}
            self.title(track, where, self.artists(track["artists"], where))
            if not {artist["role"] for artist in track["artists"]} & WRITER_ROLES:
                self.report("writer_missing", where)
            identity = tuple(text_of(track.get(field)).casefold() for field in ("title", "version"))
            if (first := titles.setdefault(identity, number)) != number:
                self.report("track_title_repeats", where, track.get("title"), f"same as track {first}")
            if advisories[number - 1] not in ("explicit", "clean", "none"):
                self.report("advisory_missing", where, track.get("explicit"))
            elif advisories[number - 1] == "clean" and "explicit" not in advisories:
                self.report("clean_without_explicit", where, track.get("title"))
            code, valid = normalize_isrc(text_of(track.get("isrc")))
            if not code:
                self.report("isrc_missing", where)
            elif not valid:
                self.report("isrc_form", where, code)
            elif (used := codes.setdefault(code, (identity, f"track {number}")))[0] != identity:
                self.report("isrc_reused", where, code, f"also used for {used[1]}")


def person(entry):
    if isinstance(entry, dict):
        return {"name": text_of(entry.get("name")), "role": text_of(entry.get("role")).lower() or "primary"}
    return {"name": text_of(entry), "role": "primary"}


def from_json(text):
    try:
        release = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"The input is not valid JSON: {problem}.") from None
    tracks = release.get("tracks") if isinstance(release, dict) else None
    if not isinstance(tracks, list) or not tracks or not all(isinstance(track, dict) for track in tracks):
        raise BadInput("The input needs a release object with a list of tracks.")
    for item in (release, *tracks):
        people = item.get("artists")
        item["artists"] = [person(entry) for entry in people if entry] if isinstance(people, list) else []
    for track in tracks:
        track["artists"] = track["artists"] or release["artists"]
        track.setdefault("language", release.get("language"))
    return release


def from_csv(data, mapping):
    columns, tracks = None, []
    for number, cells in Table(data).records():
        if columns is None:
            indexes = column_indexes(cells)
            names = {**{field: aliases.split("|") for field, aliases in COLUMNS.items()}, **mapping}
            columns = {field: next((indexes[n] for n in names[field] if n in indexes), None) for field in COLUMNS}
            if columns["title"] is None:
                if number > 40:
                    break
                columns = None
            continue
        row = {field: cells[i].strip() if i is not None and i < len(cells) else "" for field, i in columns.items()}
        artists = [{"name": name, "role": role} for field, role in PEOPLE for name in split_names(row[field])]
        tracks.append({**row, "row": number, "artists": artists})
    if not tracks:
        raise BadInput("No tracks were found: the table needs a header row with a column for the track title, or --map.")
    first = tracks[0]
    owners = split_names(first["release_artist"] or first["artist"])
    return {**first, "title": first["release_title"] or (first["title"] if len(tracks) == 1 else ""), "version": "",
            "artists": [{"name": name, "role": "primary"} for name in owners], "tracks": tracks}


def read_codes(path):
    codes, columns = {}, None
    for _, cells in Table(read_input(path)).records():
        if columns is None:
            columns = column_indexes(cells)
            if not {"isrc", "title"} <= columns.keys():
                raise BadInput(f"{path} needs the columns isrc and title.")
        elif len(cells) > max(columns["isrc"], columns["title"]):
            title, index = cells[columns["title"]].strip(), columns.get("version", len(cells))
            version = cells[index].strip() if index < len(cells) else ""
            identity = title.casefold(), version.casefold()
            codes[normalize_isrc(cells[columns["isrc"]])[0]] = identity, f"{safe_cell(title[:60])} in the catalog"
    return codes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalog", metavar="FILE", help="CSV of released recordings (isrc,title,version)")
    parser.add_argument("--map", action="append", default=[], metavar="COLUMN=FIELD")
    parser.add_argument("--format", choices=("json", "markdown"), default="json")
    options = parser.parse_args()
    pairs = [item.rpartition("=") for item in options.map]
    if any(field not in COLUMNS or not column for column, _, field in pairs):
        raise BadInput(f"--map needs COLUMN=FIELD with one of the fields: {', '.join(COLUMNS)}.")
    data = read_input()
    text = decode(data[:200])[0].lstrip("\ufeff \r\n\t")
    release = from_json(decode(data)[0]) if text[:1] in "{[" and text else from_csv(
        data, {field: [header_key(column)] for column, _, field in pairs})
    if len(release["tracks"]) > MAX_TRACKS:
        raise BadInput(f"The input has {len(release['tracks'])} tracks. Check one release at a time (at most {MAX_TRACKS}).")
    checker = Checker()
    checker.release(release, read_codes(options.catalog) if options.catalog else {})
    findings = checker.findings.report()
    counts = dict.fromkeys(("error", "warning", "hint"), 0)
    for rule, entry in findings.items():
        counts[RULES[rule][0]] += entry["count"]
    if options.format == "json":
        print(json.dumps({"release": safe_cell(text_of(release.get("title"))), "tracks": len(release["tracks"]),
                          "counts": counts, "findings": findings}, ensure_ascii=False, indent=1))
        return
    print("| Severity | Rule | Where | Value | Source |\n| --- | --- | --- | --- | --- |")
    for rule, entry in sorted(findings.items(), key=lambda item: ("error warning hint".index(RULES[item[0]][0]), item[0])):
        for item in entry["listed"]:
            place = f"track {item['track']}" if "track" in item else item["field"]
            print(f"| {item['severity']} | {rule} | {place} | {item['value'].replace('|', chr(92) + '|')} | {item['source']} |")


run(main)
