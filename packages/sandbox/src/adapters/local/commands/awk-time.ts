/** Arguments of awk that just-bash does not know: functions for times, and assignments among the files. */

/** Passes assignments before the first file of awk as `-v`, which the original treats as files. */
function assignFirst(args: string[]): string[] {
  const at = args.findIndex(
    (arg, index) => !arg.startsWith("-") && !/^-[Fvf]$/.test(args[index - 1] ?? ""),
  );
  const found = args.slice(at + 1).findIndex((arg) => !/^[A-Za-z_]\w*=/.test(arg));
  const end = found === -1 ? args.length : at + 1 + found;
  const assignments = args
    .slice(at + 1, end)
    .flatMap((arg) => (arg.startsWith("FS=") ? ["-F", arg.slice(3)] : ["-v", arg]));
  return at === -1 ? args : [...assignments, ...args.slice(0, at + 1), ...args.slice(end)];
}

/** The functions of gawk for times, in UTC. */
const TIME_FUNCTIONS = `
function _days(y, m, d) { if (m <= 2) { y--; m += 12 } return 365 * y + int(y / 4) - int(y / 100) + int(y / 400) + int((153 * m - 457) / 5) + d - 306 - 719163 + 0 }
function _mktime(s,  t, y, m) { if (split(s, t, " ") < 6) return -1; y = t[1] + int((t[2] - 1) / 12); m = (t[2] - 1) % 12 + 1; return ((_days(y, m, 1) + t[3] - 1) * 24 + t[4]) * 3600 + t[5] * 60 + t[6] }
function _pad(n, w) { return sprintf("%0" w "d", n) }
function _strftime(f, s, u,  z, e, o, y, m, d, q, w, r, c, i, n, day, mon, h) {
  split("Sunday Monday Tuesday Wednesday Thursday Friday Saturday", day, " ")
  split("January February March April May June July August September October November December", mon, " ")
  if (f == "") f = "%a %b %e %H:%M:%S %Z %Y"
  if (s == "") s = _now
  z = int(s / 86400); if (z * 86400 > s) z--
  r = s - z * 86400; w = ((z + 4) % 7 + 7) % 7
  y = 1970 + int(z / 365.2425)
  while (_days(y, 1, 1) > z) y--
  while (_days(y + 1, 1, 1) <= z) y++
  q = z - _days(y, 1, 1) + 1
  for (m = 1; m < 12 && _days(y, m + 1, 1) <= z; m++);
  d = z - _days(y, m, 1) + 1; h = int(r / 3600)
  gsub(/%F/, "%Y-%m-%d", f); gsub(/%T/, "%H:%M:%S", f); gsub(/%R/, "%H:%M", f); gsub(/%D/, "%m/%d/%y", f)
  for (i = 1; i <= length(f); i++) {
    c = substr(f, i, 1)
    if (c != "%") { o = o c; continue }
    c = substr(f, ++i, 1)
    if (c == "Y") o = o y; else if (c == "m") o = o _pad(m, 2); else if (c == "d") o = o _pad(d, 2)
    else if (c == "H") o = o _pad(h, 2); else if (c == "M") o = o _pad(int(r % 3600 / 60), 2); else if (c == "S") o = o _pad(r % 60, 2)
    else if (c == "y") o = o _pad(y % 100, 2); else if (c == "j") o = o _pad(q, 3); else if (c == "s") o = o s
    else if (c == "A") o = o day[w + 1]; else if (c == "a") o = o substr(day[w + 1], 1, 3); else if (c == "B") o = o mon[m]
    else if (c == "b" || c == "h") o = o substr(mon[m], 1, 3); else if (c == "e") o = o sprintf("%2d", d); else if (c == "u") o = o (w == 0 ? 7 : w)
    else if (c == "w") o = o w; else if (c == "I") o = o _pad((h + 11) % 12 + 1, 2); else if (c == "p") o = o (h < 12 ? "AM" : "PM")
    else if (c == "Z") o = o "UTC"; else if (c == "z") o = o "+0000"; else if (c == "n") o = o "\\n"; else if (c == "%") o = o "%"; else o = o "%" c
  }
  return o
}
`;

export function withTimeFunctions(given: string[]): string[] {
  const args = assignFirst(given);
  const at = args.findIndex(
    (arg, index) => !arg.startsWith("-") && !/^-[Fvf]$/.test(args[index - 1] ?? ""),
  );
  const program = args[at];
  if (
    program === undefined ||
    args.includes("-f") ||
    !/\b(strftime|systime|mktime)\s*\(/.test(program)
  )
    return args;
  const now = String(Math.floor(Date.now() / 1000));
  const changed = program.replace(
    /"(?:\\[\s\S]|[^"\\])*"|\b(strftime|systime|mktime)\s*\(\s*(\)?)/g,
    (whole, name?: string, close?: string) => {
      if (!name) return whole;
      return name === "systime" ? `(_now${close}` : `_${name}(${close}`;
    },
  );
  return ["-v", `_now=${now}`, ...args.with(at, changed + TIME_FUNCTIONS)];
}
