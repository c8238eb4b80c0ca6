"""Finds candidate passages of a contract for each clause of the checklist, and all figures, with page and line.

Standard input: the text of a contract as the `read` tool returns it, with its page markers.
Standard output: JSON or Markdown. A keyword search finds candidates, it does not interpret them.
"""

import argparse
import json
import re
import sys
from bisect import bisect_right
from datetime import date
from decimal import Decimal

from table import BadInput, decode, run

MAX_CHARS = 3_000_000
CLAUSES = {
    "parties and definitions": r"by and between|hereinafter|\bdefinitions?\b|\bshall mean\b|vertragsparteien|begriffsbestimmung",
    "term": r"\bterm\b|\binitial period\b|contract period|\bduration\b|commenc\w+ on|vertragsdauer|laufzeit|vertragszeit",
    "territory": r"\bterritor\w+|\bworldwide\b|\bthe world\b|\buniverse\b|vertragsgebiet|weltweit|lizenzgebiet",
    "grant of rights": r"\bgrants?\b|\bassigns?\b|\bassignment\b|work[- ]?(?:made[- ])?for[- ]hire|exclusive (?:right|licen[cs]e)|rechteeinräumung|nutzungsrecht|räumt .{0,40}\bein\b|überträgt",
    "exclusivity and re-recording": r"\bexclusiv\w+|re-?record\w*|ausschließlich|exklusiv\w*|wiedereinspiel\w*|titelexklusiv\w*",
    "advance": r"\badvances?\b|recording fund|\bsigning (?:fee|bonus)\b|vorauszahlung\w*|vorschuss|vorschüsse|garantiezahlung",
    "royalty rate and base": r"\broyalt(?:y|ies)\b|net (?:receipts|income|sales|profits?|artist)|\bppd\b|published price|at source|controlled composition|lizenz(?:gebühr|beteiligung|satz)\w*|umsatzbeteiligung|beteiligung|nettoerlös\w*|abrechnungsbasis|händlerabgabepreis|\bhap\b",
    "deductions": r"\bdeduct\w*|packaging|\breserves?\b|distribution fee|\bfree goods\b|abzug|abzüge|abzüglich|retouren\w*|rückstellung\w*",
    "recoupment": r"\brecoup\w*|\bunrecouped\b|verrechen\w*|verrechn\w*",
    "cross-collateralization": r"cross[- ]?collaterali[sz]\w*|any other agreement between|querverrechn\w*|gegenseitig verrechen\w*",
    "options": r"\boptions?\b|option period|optional (?:album|period)|optionsrecht|verlängerungsoption|\boptionen\b",
    "delivery and release commitment": r"delivery commitment|minimum commitment|release commitment|\bdeliver(?:y|ed)?\b|commercially satisfactory|ablieferung|veröffentlichungspflicht|veröffentlichungsgarantie",
    "accounting and payment": r"\baccount(?:ing|ings|s|ed)?\b|statements?\b|semi-?annual\w*|quarterly|abrechnung\w*|halbjährlich|vierteljährlich|quartal\w*",
    "sunset": r"\bsunset\b|post[- ]term|after the (?:term|expiration|termination)|following the (?:term|expiration|termination)|nachvertraglich|nach (?:ende|ablauf|beendigung) (?:des|der|dieses)",
    "audit": r"\baudit\w*|inspect .{0,30}books|books and records|buchprüfung|bücher .{0,20}prüf\w*|einsichtsrecht|wirtschaftsprüfer",
    "reversion and retention": r"\brever(?:t|ts|sion)\b|retention period|licen[cs]e period|rights period|sell[- ]?off|rückfall|rückruf\w*|auswertungszeit\w*|auswertungsdauer|abverkauf\w*",
    "key man": r"key[- ]?(?:man|person|member)|leaving member|schlüsselperson|ausscheid\w+ mitglied\w*",
    "moral rights and approvals": r"moral rights?|droit moral|\bwaives?\b|\bapproval\b|prior written consent|consultation|urheberpersönlichkeitsrecht\w*|zustimmung|mitbestimmung",
    "morals": r"morals?(?! rights?\b)|disrepute|moral turpitude|public (?:scandal|contempt)|\boffensive conduct\b|sittenwidrig\w*|ansehen .{0,30}schäd\w*|rufschäd\w*",
    "name, likeness and 360 income": r"name and likeness|\blikeness\b|\bmerchandis\w+|ancillary|360|touring income|live (?:income|performance)|endorsement|bildnis\w*|namensrecht\w*|künstlername\w*|nebenrechte",
    "warranties and indemnity": r"\bwarrant\w*|represent(?:s|ations?) and|\bindemnif\w*|hold harmless|garantier\w*|gewährleist\w*|freistell\w*|sichert .{0,20}zu",
    "AI use": r"artificial intelligence|machine learning|\bA\.?I\.?\b|generative|digital replica|voice (?:clone|model)|\btraining (?:data|of)\b|text and data mining|künstliche\w* intelligenz|\bKI\b|stimmklon\w*",
    "suspension and termination": r"\bterminat\w+|\bsuspen\w+|\bbreach\b|\bcure\b|insolven\w+|bankrupt\w*|kündig\w*|wichtige\w+ grund",
    "assignment of the contract": r"may assign|right to assign|successors? (?:and|or) assigns|change of control|abtret\w*|rechtsnachfolg\w*",
    "governing law and disputes": r"governing law|governed by|jurisdiction|\bvenue shall|arbitrat\w*|anwendbares recht|gerichtsstand|es gilt .{0,20}recht|schiedsgericht\w*",
    "entire agreement and form": r"entire agreement|amend(?:ed|ment)s? .{0,40}writing|severab\w*|schriftform|salvatorisch\w*|nebenabreden",
}
UNITS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
GERMAN = {"zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "zwölf": 12, "fünfzehn": 15, "achtzehn": 18, "zwanzig": 20, "vierundzwanzig": 24, "dreißig": 30, "sechzig": 60, "neunzig": 90}
MONTHS = {name: number for names in ("january february march april may june july august september october november december", "januar februar märz april mai juni juli august september oktober november dezember") for number, name in enumerate(names.split(), start=1)}
WORD = rf"\b(?:(?:{'|'.join(TENS)})(?:[- ](?:{'|'.join(UNITS[:9])}))?|{'|'.join(reversed(UNITS))}|(?:one )?hundred|{'|'.join(sorted(GERMAN, key=len, reverse=True))})\b"
PERCENT = r"(?:%|per ?cent\b|prozent\b|v\. ?h\.)"
RATE = r"\d{1,3}(?:[.,]\d{1,4})?"
NUMBER = r"\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d{1,12}(?:[.,]\d{1,2})?(?!\d)"
CURRENCY = r"US ?\$|C\$|A\$|USD|EUR|GBP|CHF|CAD|AUD|JPY|SEK|NOK|DKK|[€£$¥]"
SCALE = r"(?: ?(million|thousand|mio\.?|tsd\.?|mn|bn|billion)\b\.?)?"
FIGURES = {
    "percentages": rf"(?P<word>{WORD})(?P<half> and (?:one|a)[- ]half)? ?(?:{PERCENT}(?: ?\( ?(?P<digits>{RATE}) ?{PERCENT}? ?\))?|\( ?(?P<digits2>{RATE}) ?{PERCENT} ?\)|\( ?(?P<digits3>{RATE}) ?\) ?{PERCENT})|(?<![\d.,])(?P<number>{RATE}) ?{PERCENT}",
    "amounts": rf"(?P<before>{CURRENCY}) ?(?P<number>{NUMBER}){SCALE}|(?<![\d.,])(?P<number2>{NUMBER}){SCALE} ?(?P<after>{CURRENCY}|euros?\b|(?:us )?dollars?\b|pounds(?: sterling)?\b)",
    "dates": rf"\b(?P<y>\d{{4}})-(?P<m>\d{{2}})-(?P<d>\d{{2}})\b|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th|\.)? (?:day of )?(?P<mon>{'|'.join(MONTHS)}),? (?P<y2>\d{{4}})\b|\b(?P<mon3>{'|'.join(MONTHS)}) (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y3>\d{{4}})\b|\b(?P<d4>\d{{1,2}})\. ?(?P<m4>\d{{1,2}})\. ?(?P<y4>\d{{4}})\b|\b(?P<a5>\d{{1,2}})/(?P<b5>\d{{1,2}})/(?P<y5>\d{{4}})\b",
    "periods": rf"(?:(?P<word>{WORD})(?: ?\( ?(?P<digits>\d{{1,4}}) ?\))?|(?<![\d.,])(?P<number>\d{{1,4}}))[- ](?:(?:calendar|business|working|contract|accounting|consecutive|full) )?(?P<unit>days?|weeks?|months?|quarters?|years?|periods?|tagen?|wochen?|monaten?|monate|jahren?|jahre)\b",
}


class Contract:
    """The lines of a contract, joined to one searchable text, so that a phrase may cross lines and pages."""

    def __init__(self, text):
        self.lines, self.starts, self.heads, self.pages, self.empty_pages = [], [], [], 0, []
        parts, length, page, line, clause, filled = [], 0, None, 0, None, True
        for raw in text.split("\n"):
            marker = re.fullmatch(r"--- Page (\d{1,5}) ---\s*", raw)
            if marker:
                if not filled:
                    self.empty_pages.append(page)
                page, line, filled = int(marker[1]), 0, False
                self.pages += 1
                continue
            line += 1
            shown = re.sub(r"\s+", " ", raw).strip()
            if not shown:
                continue
            filled = True
            heading = re.match(r"((?:clause|article|section|ziffer|artikel) )?(§ ?\d{1,3}|\d{1,2}(?:\.\d{1,2}){0,3})[.)]? +(?=[^\W\d_(\"“„])", shown, re.IGNORECASE)
            if heading:
                clause = heading[0].strip(" .)")
                self.heads.append(length)
            hyphen = re.search(r"[^\W\d_]-$", shown)
            searched = shown[:-1] if hyphen else shown + " "
            self.starts.append(length)
            self.lines.append((page, line, clause, shown))
            parts.append(searched)
            length += len(searched)
        if page is not None and not filled:
            self.empty_pages.append(page)
        self.text = "".join(parts)

    def evidence(self, start, end):
        """Returns where a match is with the sentence around it, and the start of that sentence."""
        stops = (". ", "; ", "? ")
        first = max([start - 240, 0] + [place + 2 for stop in stops if (place := self.text.rfind(stop, max(0, start - 240), start)) >= 0])
        last = min([end + 240, len(self.text)] + [place + 1 for stop in stops if (place := self.text.find(stop, end, end + 240)) >= 0])
        head = bisect_right(self.heads, start)
        first = max(first, self.heads[head - 1] if head else 0)
        last = min(last, self.heads[head] if head < len(self.heads) and self.heads[head] >= end else last)
        here, a, b = (bisect_right(self.starts, place) - 1 for place in (start, first, last - 1))
        quote = ""
        for number in range(a, b + 1):
            shown, offset = self.lines[number][3], self.starts[number]
            cut = shown[max(0, first - offset) : last - offset if number == b else None]
            quote += cut if not quote or quote.endswith("-") else " " + cut
        page, line, clause, _ = self.lines[here]
        found = {"page": page, "line": line, "clause": clause, "quote": quote.strip()}
        return (found | {"quote_ends_on_page": self.lines[b][0]} if self.lines[b][0] != page else found), first


def number_of(word):
    word = word.lower().replace("-", " ")
    if word in GERMAN:
        return GERMAN[word]
    if "hundred" in word:
        return 100
    tens, _, unit = word.partition(" ")
    if tens in TENS:
        return 20 + 10 * TENS.index(tens) + (UNITS.index(unit) + 1 if unit else 0)
    return UNITS.index(word) + 1


def amount_of(text):
    """Returns the amount as 1234.56. A separator before exactly three digits is one of thousands."""
    whole, _, cents = re.fullmatch(r"(.*?)(?:([.,])(\d{1,2}))?", text).groups()
    return f"{re.sub(r'[^0-9]', '', whole)}.{(cents or '').ljust(2, '0')}"


def date_of(g):
    if g["a5"]:
        a, b = int(g["a5"]), int(g["b5"])
        if a <= 12 and b <= 12 and a != b:
            return None, "day and month are ambiguous"
        day, month, year = (a, b, g["y5"]) if a > 12 or a == b else (b, a, g["y5"])
    else:
        year = g["y"] or g["y2"] or g["y3"] or g["y4"]
        day = g["d"] or g["d2"] or g["d3"] or g["d4"]
        month = g["m"] or g["m4"] or MONTHS[(g["mon"] or g["mon3"]).lower()]
    try:
        return date(int(year), int(month), int(day)).isoformat(), None
    except ValueError:
        return None, "this date does not exist"


def figure(kind, match):
    """Returns the value of a figure, and a remark if words and digits differ or the value is open."""
    g = match.groupdict()
    if kind == "dates":
        value, remark = date_of(g)
        return {"value": value} | ({"remark": remark} if remark else {})
    if kind == "amounts":
        scale = match[3] or match[5]
        found = {"value": amount_of(g["number"] or g["number2"]), "currency": (g["before"] or g["after"]).strip()}
        return found | ({"scale": scale, "remark": f"times {scale}"} if scale else {})
    word = g["word"]
    digits = next((g[key] for key in ("digits", "digits2", "digits3", "number") if g.get(key)), None)
    by_word = str(number_of(word)) + (".5" if g.get("half") else "") if word else None
    value = digits.replace(",", ".") if digits else by_word
    found = {"value": value} | ({"unit": g["unit"].lower()} if kind == "periods" else {})
    if word and digits and Decimal(by_word) != Decimal(value):
        found["remark"] = f'the word "{word}" and the digits {digits} differ'
    return found


def find(contract, limit):
    clauses, figures, differences = {}, {}, []
    for name, pattern in CLAUSES.items():
        hits, seen, omitted = [], set(), 0
        for match in re.finditer(pattern, contract.text, re.IGNORECASE):
            if len(hits) == limit:
                omitted += 1
                continue
            evidence, sentence = contract.evidence(*match.span())
            if sentence not in seen:
                seen.add(sentence)
                hits.append({"found": match[0], **evidence})
        clauses[name] = {"omitted_matches": omitted, "candidates": hits}
    for kind, pattern in FIGURES.items():
        listed, total = [], 0
        for match in re.finditer(pattern, contract.text, re.IGNORECASE):
            total += 1
            entry = None
            value = figure(kind, match)
            if len(listed) < 10 * limit or "differ" in value.get("remark", ""):
                entry = {"text": match[0].strip(), **value, **contract.evidence(*match.span())[0]}
            if entry and "differ" in value.get("remark", "") and len(differences) < 10 * limit:
                differences.append(entry)
            if entry and len(listed) < 10 * limit:
                listed.append(entry)
        figures[kind] = {"count": total, "omitted_matches": total - len(listed), "listed": listed}
    return clauses, figures, differences


def markdown(result):
    def cell(text):
        return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", str(text if text is not None else ""))

    lines = [f"# Passages of {cell(result['file'])}", ""] + [f"- {cell(warning)}" for warning in result["warnings"]]
    lines += [f"- No keyword found, read the contract before calling it absent: {', '.join(result['not_found']) or 'none'}", "", "| Topic | Page | Line | Clause | Quote |", "|---|---:|---:|---|---|"]
    rows = [(name, hit) for name, found in result["clauses"].items() for hit in found["candidates"]]
    rows += [(f"{kind}: {entry['text']}" + (f" ({entry['remark']})" if "remark" in entry else ""), entry) for kind, found in result["figures"].items() for entry in found["listed"]]
    lines += [f"| {cell(name)} | {cell(hit['page'])} | {hit['line']} | {cell(hit['clause'])} | {cell(hit['quote'])} |" for name, hit in rows]
    omitted = sum(found["omitted_matches"] for group in (result["clauses"], result["figures"]) for found in group.values())
    return "\n".join(lines + ["", f"Omitted matches: {omitted}."]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file-name", default="standard input")
    parser.add_argument("--limit", type=int, default=12, help="candidates for each clause; ten times as many figures of a kind")
    parser.add_argument("--format", choices=("json", "markdown"), default="json")
    args = parser.parse_args()
    if not 1 <= args.limit <= 1000:
        raise BadInput("--limit must be from 1 to 1000.")
    text = decode(sys.stdin.buffer.read())[0].replace("\r\n", "\n").replace("\f", "\n")
    if len(text) > MAX_CHARS:
        raise BadInput(f"{args.file_name} has {len(text)} characters, more than {MAX_CHARS}.")
    if "\x00" in text:
        raise BadInput(f"{args.file_name} is not text: read it with the read tool and pass that text.")
    contract = Contract(text)
    if not contract.text.strip():
        raise BadInput(f"{args.file_name} has no text; a scanned contract needs text recognition first.")
    clauses, figures, differences = find(contract, args.limit)
    warnings = []
    if not contract.pages:
        warnings.append("There are no page markers, so page is null: cite the clause and the line.")
    if contract.empty_pages:
        warnings.append(f"Pages without text, perhaps images: {', '.join(map(str, contract.empty_pages[:50]))}. They were not searched.")
    result = {"file": args.file_name, "pages": contract.pages, "warnings": warnings, "not_found": [name for name, found in clauses.items() if not found["candidates"]],
              "differences": differences, "clauses": clauses, "figures": figures,
              "quotes": "original words; line breaks are spaces, and a hyphen at a line end is kept"}
    sys.stdout.write(markdown(result) if args.format == "markdown" else json.dumps(result, ensure_ascii=False, indent=1) + "\n")


run(main)
